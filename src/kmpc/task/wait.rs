//! Everything that waits for tasks, and executes tasks meanwhile: taskwait, taskyield, the end of a
//! taskgroup, meetings of the team and the end of a region.
//!
//! README.md states the protocol: how waiting members find tasks, how they sleep and are woken, and
//! how the master of a meeting finds that the last task is complete.

use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use super::create::current;
use super::deque::Steal;
use super::interval::{Interval, quiet};
use super::{Group, Task, TeamTasks, flag, run};
use crate::kmpc::ident::Ident;
use crate::kmpc::team::gang::Errand;
use crate::kmpc::team::{Local, Team};
use crate::kmpc::thread::{Thread, by_number};
use crate::support::sync::{self, fence_after_exchange};

impl TeamTasks {
    /// Adds a task to the line, behind those of its priority, and orders that before every later
    /// load of this thread.
    #[cold]
    pub fn queue_up(&self, task: *mut Task) {
        // SAFETY: a task not submitted to anybody else yet.
        let priority = |t: *mut Task| unsafe { (*t).priority.get() };
        let mut line = sync::lock(&self.line);
        let at = line.partition_point(|&t| priority(t) >= priority(task));
        line.insert(at, task);
        // SeqCst: see `offer`.
        self.waiting.swap(line.len() as u32, Ordering::SeqCst);
        fence_after_exchange();
    }

    /// The first task in line that `allowed` accepts; null if there is none.
    #[cold]
    pub fn first_in_line(&self, allowed: impl Fn(*mut Task) -> bool) -> *mut Task {
        let mut line = sync::lock(&self.line);
        let Some(at) = line.iter().position(|&task| allowed(task)) else {
            return null_mut();
        };
        let task = line.remove(at).unwrap_or(null_mut());
        self.waiting.store(line.len() as u32, Ordering::Relaxed);
        task
    }

    #[cold]
    fn any_in_line(&self, allowed: &dyn Fn(*mut Task) -> bool) -> bool {
        sync::lock(&self.line).iter().any(|&task| allowed(task))
    }
}

/// Whether the thread may begin this task now: it descends from the innermost tied task there.
///
/// # Safety
/// Memory that always holds a task.
pub unsafe fn may_begin(thread: &Thread, task: *mut Task) -> bool {
    // SAFETY: null or a task that the thread executes.
    let bound = unsafe { thread.local().tasks.own.bound.get().as_ref() };
    // SAFETY: the caller's contract.
    bound.is_none_or(|bound| unsafe { (*task).descends_from(bound) })
}

/// Steals a task that `allowed` accepts; null if none was found in one round.
///
/// # Safety
/// The thread is a member of its team's region.
pub unsafe fn steal(thread: &Thread, allowed: impl Fn(*mut Task) -> bool) -> *mut Task {
    let team = thread.team();
    let size = team.size();
    if size == 1 {
        return null_mut();
    }
    let own = &thread.local().tasks.own;
    let first = own.victim.get();
    for turn in 0..size {
        let victim = (first + turn) % size;
        if victim == thread.tid() {
            continue;
        }
        // SAFETY: a member of the region.
        let deque = unsafe { &team.slot(victim).local.tasks.deque };
        loop {
            match deque.steal(&allowed) {
                Steal::Taken(task) => {
                    own.victim.set(victim);
                    // Who found more than one task calls the next sleeper.
                    if team.gang.anyone_sleeps() && deque.tempting() {
                        // SAFETY: we take part in the region.
                        unsafe { wake_for(team, task) };
                    }
                    return task;
                }
                Steal::Lost => std::hint::spin_loop(),
                Steal::Empty | Steal::Refused => break,
            }
        }
    }
    own.victim.set((first + 1) % size);
    null_mut()
}

/// Wakes a sleeping member for a task that was just offered: one that may execute anything, else
/// those that wait for a task above this one.
///
/// # Safety
/// The caller takes part in the running region. The task may be over.
#[cold]
pub unsafe fn wake_for(team: &Team, task: *mut Task) {
    // SAFETY: the caller's contract.
    if unsafe { team.tasks.calls.call(&team.gang, team.size(), free) } {
        return;
    }
    // SAFETY: memory that always holds a task.
    let mut at = unsafe { (*task).parent() };
    let mut below = u32::MAX;
    // SAFETY: as above.
    while let Some(t) = unsafe { at.as_ref() } {
        let level = t.level.load(Ordering::Relaxed);
        if level >= below {
            return;
        }
        below = level;
        // Relaxed: after the full fence of who offered.
        let waiter = t.waiter.load(Ordering::Relaxed);
        if waiter != 0 && waiter <= team.size() {
            // SAFETY: the caller's contract.
            unsafe { team.gang.unpark(waiter - 1) };
        }
        at = t.parent();
    }
}

/// Whether a member may execute any task where it waits.
fn free(local: &Local) -> bool {
    local.tasks.busy.load(Ordering::Relaxed) == 0
}

/// A member was woken, perhaps for a task, and goes on without looking for one: another is called.
///
/// # Safety
/// The thread takes part in the team's running region.
#[inline]
pub unsafe fn decline(team: &Team) {
    if team.tasks.calls.answer() {
        // SAFETY: the caller's contract.
        unsafe { pass_on(team) };
    }
}

/// Calls another in place of the calling member.
///
/// # Safety
/// As for [`decline`].
#[cold]
unsafe fn pass_on(team: &Team) {
    let size = team.size();
    let any = || {
        team.tasks.waiting.load(Ordering::Relaxed) > 0
            || (0..size).any(|tid| {
                // SAFETY: a member of the region.
                unsafe { team.slot(tid) }.local.tasks.deque.tempting()
            })
    };
    // SAFETY: the caller's contract.
    unsafe {
        if !team.tasks.calls.decline(&team.gang, size, free, any) {
            // Whoever waits in a task above one of those looks for it.
            team.gang.wake_all(size);
        }
    }
}

/// Waits until `done`, or until there may be a task for this thread. False if `done`, and then
/// nobody relies on this thread to look for tasks.
///
/// # Safety
/// The thread is a member of its team's region.
unsafe fn pause(thread: &Thread, done: &dyn Fn() -> bool) -> bool {
    let team = thread.team();
    let shape = team.shape();
    let member = &thread.local().tasks;
    let own = &member.own;
    let bound = own.bound.get();
    // SAFETY: memory that always holds a task.
    let allowed = |task: *mut Task| bound.is_null() || unsafe { (*task).descends_from(&*bound) };
    let offers = |tid: u32| {
        // SAFETY: a member of the region.
        let deque = unsafe { &team.slot(tid).local.tasks.deque };
        deque.tempting() && (bound.is_null() || deque.offers(allowed))
    };
    // While it spins, a member looks at one other deque in so many turns: those who work feel it.
    let glance = || {
        let looks = own.looks.get().wrapping_add(1);
        own.looks.set(looks);
        if looks & 3 != 0 {
            return false;
        }
        let tid = (looks >> 2) % shape.size;
        (tid != thread.tid() && offers(tid))
            || team.tasks.waiting.load(Ordering::Relaxed) > 0 && team.tasks.any_in_line(&allowed)
    };
    let any = || {
        (0..shape.size).any(|tid| tid != thread.tid() && offers(tid))
            || team.tasks.waiting.load(Ordering::Relaxed) > 0 && team.tasks.any_in_line(&allowed)
    };
    // SAFETY: null, or a tied task that we execute, perhaps below an untied one that waits.
    let tied = unsafe { bound.as_ref() };
    // Relaxed, both: ordered by the full fence before the sleep.
    if let Some(tied) = tied {
        member.busy.store(1, Ordering::Relaxed);
        tied.waiter.store(thread.tid() + 1, Ordering::Relaxed);
    }
    let answered = Cell::new(false);
    // SAFETY: our own number.
    unsafe {
        team.gang.wait_or(
            thread.tid(),
            shape.patience,
            || done() || glance(),
            || done() || any(),
            || answered.set(answered.get() | team.tasks.calls.answer()),
        );
    }
    if let Some(tied) = tied {
        tied.waiter.store(0, Ordering::Relaxed);
        member.busy.store(0, Ordering::Relaxed);
    }
    if !done() {
        return true;
    }
    if answered.get() {
        // SAFETY: the caller's contract.
        unsafe { pass_on(team) };
    }
    false
}

/// Executes tasks until `done`; whoever makes it true wakes the waiter of `task`, the current one.
///
/// # Safety
/// The thread executes `task`.
#[inline]
pub unsafe fn until(thread: &Thread, task: &Task, done: impl Fn() -> bool) {
    let mut look = false;
    while look || !done() {
        look = false;
        // SAFETY: the caller's contract.
        if !unsafe { run::one(thread) } && !done() {
            // Relaxed: ordered by the full fence before the sleep.
            task.waiter.store(thread.tid() + 1, Ordering::Relaxed);
            // SAFETY: as above.
            look = unsafe { pause(thread, &done) };
            task.waiter.store(0, Ordering::Relaxed);
        }
    }
}

/// Waits until no memory of a child is in use, and begins to count children anew.
///
/// # Safety
/// The thread executes `task`.
#[cold]
pub unsafe fn settle(thread: &Thread, task: &Task) {
    loop {
        // SAFETY: the caller's contract.
        unsafe { until(thread, task, || task.childless()) };
        let spawned = task.spawned.load(Ordering::Relaxed);
        if task.children.all_freed(spawned) {
            break;
        }
        // Grandchildren are alive, and nobody tells us when they end.
        // SAFETY: as above.
        if !unsafe { run::one(thread) } {
            std::thread::yield_now();
        }
    }
    // Relaxed: nobody else uses either until the next child.
    task.children.reset();
    task.spawned.store(0, Ordering::Relaxed);
}

/// `taskwait`: waits for the children of the current task.
pub unsafe extern "C-unwind" fn taskwait(_ident: *const Ident, gtid: i32) -> i32 {
    let thread = by_number(gtid);
    let task = thread.local().tasks.own.task.get();
    // SAFETY: null or the task that we execute; without one there are no children.
    if let Some(task) = unsafe { task.as_ref() }
        && !task.childless()
    {
        // SAFETY: as above.
        unsafe {
            until(thread, task, || task.childless());
            task.forget_dependences();
        }
    }
    0
}

/// `taskyield`: executes another task, if there is one.
pub unsafe extern "C-unwind" fn taskyield(_ident: *const Ident, gtid: i32, _part: i32) -> i32 {
    let thread = by_number(gtid);
    if thread.team().tasks.interval.number() != 0 {
        current(thread);
        // SAFETY: a scheduling point of the member.
        unsafe { run::one(thread) };
    }
    0
}

/// Begins a taskgroup.
pub unsafe extern "C-unwind" fn begin_group(_ident: *const Ident, gtid: i32) {
    let task = current(by_number(gtid));
    // SAFETY: the task that we execute.
    let t = unsafe { &*task };
    let group = Box::new(Group::new(t.group.get(), task));
    t.group.set(Box::into_raw(group));
}

/// Ends a taskgroup: waits for its tasks.
pub unsafe extern "C-unwind" fn end_group(_ident: *const Ident, gtid: i32) {
    let thread = by_number(gtid);
    let task = current(thread);
    // SAFETY: the task that we execute.
    let t = unsafe { &*task };
    let group = t.group.get();
    if group.is_null() {
        return;
    }
    // SAFETY: begun by `begin_group`, ended here.
    let g = unsafe { &*group };
    // Acquire: what the members did is visible.
    let over = || g.members.load(Ordering::Acquire) == 0;
    // SAFETY: we execute the task.
    unsafe { until(thread, t, over) };
    t.group.set(g.outer);
    // SAFETY: made by `begin_group`; all members have left.
    let mut group = unsafe { Box::from_raw(group) };
    // SAFETY: as above.
    unsafe { group.end_reductions() };
}

/// What a member does while it waits for others in a meeting.
pub struct Help<'a> {
    thread: &'a Thread,
    interval: &'a Interval,
}

impl<'a> Help<'a> {
    /// Help by this thread in its team.
    #[inline(always)]
    pub fn by(thread: &'a Thread) -> Self {
        let interval = &thread.team().tasks.interval;
        Self { thread, interval }
    }
}

impl Errand for Help<'_> {
    #[inline(always)]
    fn called(&self) -> bool {
        self.interval.number() != 0
    }

    #[cold]
    fn attend(&self, done: &dyn Fn() -> bool) {
        let over = || done() || !self.called();
        self.thread.team().tasks.calls.answer();
        let mut look = true;
        while look || !over() {
            look = false;
            // SAFETY: a member in a meeting, which is a scheduling point.
            if !unsafe { run::one(self.thread) } && !over() {
                // SAFETY: as above.
                look = unsafe { pause(self.thread, &over) };
            }
        }
    }

    #[inline]
    fn decline(&self) {
        // SAFETY: a member in a meeting.
        unsafe { decline(self.thread.team()) };
    }
}

/// Ends the interval in which tasks were submitted, after all members have come to the meeting: the
/// master waits until all tasks are complete, the others execute them until it says so.
///
/// # Safety
/// The thread takes part in the region; all have arrived at the meeting with number `epoch`, and
/// `open` was `epoch`.
#[cold]
pub unsafe fn drain(thread: &Thread, epoch: u64) {
    let team = thread.team();
    // SAFETY: the implicit task, which we execute.
    unsafe { (*current(thread)).forget_dependences() };
    if thread.tid() != 0 {
        // SAFETY: the caller's contract.
        return unsafe { assist(thread, epoch) };
    }
    let interval = &team.tasks.interval;
    // All members there ever were: what one of a larger region submitted another may have completed.
    // SAFETY: the master in its region.
    let members = unsafe { team.gang.capacity() } as u32;
    // SAFETY: below the capacity.
    let counts = (0..members).map(|tid| unsafe { &team.slot(tid).local.tasks.counts });
    team.tasks.calls.answer();
    loop {
        // SAFETY: a member in a meeting.
        while unsafe { run::one(thread) } {}
        // Before the look at the counts: who finishes counts first, then beats.
        let seen = interval.beats();
        if quiet(counts.clone(), &team.tasks.finished) {
            break;
        }
        let moved = || interval.beats() != seen;
        // SAFETY: a member in a meeting.
        unsafe { pause(thread, &moved) };
    }
    team.tasks.calls.reset();
    interval.end();
    thread.expect_tasks(false);
    // SAFETY: the master in its region.
    unsafe { team.gang.wake_all(team.size()) };
    // Not now: after a barrier the others may already be visitors at the region's end.
    thread.local().visited.set(true);
}

/// Completes the tasks of a root thread that ends, outside of all regions. False if it ends within a
/// task, by `exit`: that one will never be complete, and what refers to its team has to stay.
pub fn complete_root(thread: &Thread) -> bool {
    let tasks = &thread.team().tasks;
    let open = tasks.interval.number();
    if open == 0 {
        return true;
    }
    // SAFETY: null or the task that the thread executes.
    let task = unsafe { thread.local().tasks.own.task.get().as_ref() };
    if task.is_some_and(|task| !task.is(flag::IMPLICIT)) {
        return false;
    }
    // SAFETY: the only member, at the end of its region.
    unsafe { drain(thread, open) };
    true
}

/// The master, at the end of its region: waits until nobody uses the team any more.
#[inline(always)]
pub fn settle_visitors(local: &Local, team: &Team) {
    if local.visited.get() {
        local.visited.set(false);
        team.tasks.interval.await_visitors();
    }
}

/// Executes tasks until the master ends the interval.
unsafe fn assist(thread: &Thread, epoch: u64) {
    let team = thread.team();
    let over = || team.tasks.interval.over(epoch);
    team.tasks.calls.answer();
    // A task executed before we came here may have been the last.
    let mut worked = true;
    while !over() {
        // SAFETY: a member in a meeting.
        if unsafe { run::one(thread) } {
            worked = true;
            continue;
        }
        if worked {
            worked = false;
            pulse(team);
        }
        // SAFETY: as above.
        unsafe { pause(thread, &over) };
    }
}

/// Tells the master to look whether the last task is complete.
pub fn pulse(team: &Team) {
    team.tasks.interval.beat();
    fence_after_exchange();
    if team.gang.anyone_sleeps() {
        // SAFETY: slot 0 is always there; callers are members or visitors.
        unsafe { team.gang.unpark(0) };
    }
}

/// A worker that has joined helps the region it was in, as long as it has tasks.
///
/// # Safety
/// The thread is a worker that joined the region at the meeting with number `epoch` and took part
/// in no other since.
#[cold]
pub unsafe fn help(thread: &Thread, team: &Team, epoch: u64) {
    if team.tasks.interval.visit(epoch) {
        current(thread);
        // SAFETY: the region cannot end while we are counted.
        unsafe { assist(thread, epoch) };
    }
    team.tasks.interval.go();
}
