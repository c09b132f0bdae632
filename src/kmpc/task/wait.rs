//! Waits that execute tasks meanwhile: taskwait, taskyield, the end of a taskgroup, barriers of the
//! team and the end of a region.
//!
//! README.md specifies the protocol: how waiting members find tasks, how they sleep and are woken,
//! and how the master finds at a barrier that the last task is complete.

use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use super::create::current;
use super::deque::Steal;
use super::epoch::{TaskEpoch, quiescent};
use super::{Group, Task, TeamTasks, execution, flag};
use crate::ident::Ident;
use crate::team::team_core::IdleWork;
use crate::team::{MemberState, Team};
use crate::thread::{Thread, by_number};
use crate::waits::Construct;
use ompvm_support::sync::{self, fence_after_exchange};

impl TeamTasks {
    /// Adds a task to the line, behind those of its priority, and orders that before every later
    /// load of this thread.
    #[cold]
    pub fn queue_up(&self, task: *mut Task) {
        // SAFETY: the tasks of the line, and one about to be added, are not complete.
        let priority = |t: *mut Task| unsafe { (*t).priority.get() };
        let mut line = sync::lock(&self.line);
        let at = line.partition_point(|&t| priority(t) >= priority(task));
        line.insert(at, task);
        // SeqCst: see `offer`.
        self.waiting.swap(line.len() as u32, Ordering::SeqCst);
        fence_after_exchange();
    }

    /// Removes and returns the first task in line that `allowed` accepts; null if there is none.
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

/// Returns true if the thread may begin this task now, because it descends from the thread's
/// innermost tied task.
///
/// # Safety
/// `task` points to memory that always holds a task.
pub unsafe fn may_begin(thread: &Thread, task: *mut Task) -> bool {
    // SAFETY: null, or a task that the thread executes.
    let bound = unsafe { thread.local().tasks.own.bound.get().as_ref() };
    // SAFETY: memory that always holds a task (caller's contract).
    bound.is_none_or(|bound| unsafe { (*task).descends_from(bound) })
}

/// Steals a task that `allowed` accepts; null if one round over the members found none.
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
        // SAFETY: `victim` is the number of a member of the region.
        let deque = unsafe { &team.slot(victim).local.tasks.deque };
        loop {
            match deque.steal(&allowed) {
                Steal::Taken(task) => {
                    own.victim.set(victim);
                    // A thief that found more than one task wakes the next sleeper.
                    if team.core.anyone_sleeps() && deque.seems_nonempty() {
                        // SAFETY: the thread takes part in the region; the task's memory always
                        // holds a task.
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

/// Wakes a sleeping member for a task that was just offered: one that may execute any task, or else
/// those that wait in ancestors of this task.
///
/// # Safety
/// The caller takes part in the running region. The task may be complete.
#[cold]
pub unsafe fn wake_for(team: &Team, task: *mut Task) {
    // SAFETY: the caller takes part in the region, of which this is the size.
    if unsafe {
        team.tasks
            .wakeups
            .wake_one(&team.core, team.size(), may_execute_any)
    } {
        return;
    }
    // SAFETY: memory that always holds a task.
    let mut at = unsafe { (*task).parent() };
    let mut below = u32::MAX;
    // SAFETY: null, or memory that always holds a task.
    while let Some(t) = unsafe { at.as_ref() } {
        let level = t.level.load(Ordering::Relaxed);
        if level >= below {
            return;
        }
        below = level;
        // Relaxed: after the offering thread's full fence.
        let waiter = t.waiter.load(Ordering::Relaxed);
        if waiter != 0 && waiter <= team.size() {
            // SAFETY: the caller takes part in the region, and the number is below its size.
            unsafe { team.core.unpark(waiter - 1) };
        }
        at = t.parent();
    }
}

/// Returns true if a member may execute any task where it waits.
fn may_execute_any(local: &MemberState) -> bool {
    local.tasks.busy.load(Ordering::Relaxed) == 0
}

/// Wakes another member in place of the calling one, which was woken, possibly for a task, and
/// continues without looking for one.
///
/// # Safety
/// The thread takes part in the team's running region.
#[inline]
pub unsafe fn decline(team: &Team) {
    if team.tasks.wakeups.acknowledge() {
        // SAFETY: the thread takes part in the team's region (caller's contract).
        unsafe { pass_on(team) };
    }
}

/// Wakes another member in place of the calling one, if there are tasks.
///
/// # Safety
/// As for [`decline`].
#[cold]
unsafe fn pass_on(team: &Team) {
    let size = team.size();
    let any = || {
        team.tasks.waiting.load(Ordering::Relaxed) > 0
            || (0..size).any(|tid| {
                // SAFETY: `tid` is the number of a member of the region.
                unsafe { team.slot(tid) }.local.tasks.deque.seems_nonempty()
            })
    };
    // SAFETY: the thread takes part in the team's region, of which `size` is the size.
    unsafe {
        if !team
            .tasks
            .wakeups
            .decline(&team.core, size, may_execute_any, any)
        {
            // A member that waits in an ancestor of one of the tasks looks for it.
            team.core.wake_all(size);
        }
    }
}

/// Waits in `construct` until `done`, or until there may be a task for this thread. Returns false if
/// `done`, in which case no other thread relies on this one to look for tasks.
///
/// # Safety
/// The thread is a member of its team's region.
unsafe fn wait_for_task(thread: &Thread, construct: Construct, done: &dyn Fn() -> bool) -> bool {
    let team = thread.team();
    let shape = team.shape();
    let member = &thread.local().tasks;
    let own = &member.own;
    let bound = own.bound.get();
    // SAFETY: both are pointers to memory that always holds a task.
    let allowed = |task: *mut Task| bound.is_null() || unsafe { (*task).descends_from(&*bound) };
    let offers = |tid: u32| {
        // SAFETY: `tid` is the number of a member of the region.
        let deque = unsafe { &team.slot(tid).local.tasks.deque };
        deque.seems_nonempty() && (bound.is_null() || deque.offers(allowed))
    };
    // A spinning member checks one other deque in every fourth round, since each check slows down
    // the working member.
    let glance = || {
        let checks = own.checks.get().wrapping_add(1);
        own.checks.set(checks);
        if checks & 3 != 0 {
            return false;
        }
        let tid = (checks >> 2) % shape.size;
        (tid != thread.tid() && offers(tid))
            || team.tasks.waiting.load(Ordering::Relaxed) > 0 && team.tasks.any_in_line(&allowed)
    };
    let any = || {
        (0..shape.size).any(|tid| tid != thread.tid() && offers(tid))
            || team.tasks.waiting.load(Ordering::Relaxed) > 0 && team.tasks.any_in_line(&allowed)
    };
    // SAFETY: null, or a tied task that the thread executes, perhaps below an untied one that
    // waits.
    let tied = unsafe { bound.as_ref() };
    // Relaxed, both: ordered by the full fence before the sleep.
    if let Some(tied) = tied {
        member.busy.store(1, Ordering::Relaxed);
        tied.waiter.store(thread.tid() + 1, Ordering::Relaxed);
    }
    let acknowledged = Cell::new(false);
    // SAFETY: the thread's own number in its region.
    unsafe {
        team.core.wait_or(
            thread.tid(),
            shape.spin_policy,
            construct,
            || done() || glance(),
            || done() || any(),
            || acknowledged.set(acknowledged.get() | team.tasks.wakeups.acknowledge()),
        );
    }
    if let Some(tied) = tied {
        tied.waiter.store(0, Ordering::Relaxed);
        member.busy.store(0, Ordering::Relaxed);
    }
    if !done() {
        return true;
    }
    if acknowledged.get() {
        // SAFETY: the thread takes part in the team's region.
        unsafe { pass_on(team) };
    }
    false
}

/// Executes tasks until `done`, for which the thread waits in `construct`. Whoever makes it true wakes
/// the waiter of `task`, the current one.
///
/// # Safety
/// The thread executes `task`.
#[inline]
pub unsafe fn execute_until(
    thread: &Thread,
    task: &Task,
    construct: Construct,
    done: impl Fn() -> bool,
) {
    let mut look = false;
    while look || !done() {
        look = false;
        // SAFETY: the thread executes a task of its region, and every wait is a scheduling point.
        if !unsafe { execution::execute_one(thread) } && !done() {
            // Relaxed: ordered by the full fence before the sleep.
            task.waiter.store(thread.tid() + 1, Ordering::Relaxed);
            // SAFETY: the thread is a member of its team's region.
            look = unsafe { wait_for_task(thread, construct, &done) };
            task.waiter.store(0, Ordering::Relaxed);
        }
    }
}

/// Waits until no child's memory is in use, and resets the count of children.
///
/// # Safety
/// The thread executes `task`.
#[cold]
pub unsafe fn reset_children(thread: &Thread, task: &Task) {
    loop {
        // SAFETY: the thread executes `task` (caller's contract).
        unsafe {
            execute_until(thread, task, Construct::TASKWAIT, || task.children_done());
        }
        let spawned = task.spawned.load(Ordering::Relaxed);
        if task.children.all_freed(spawned) {
            break;
        }
        // Grandchildren are alive, whose end is not announced to this thread.
        // SAFETY: the thread is a member of its region, at a scheduling point.
        if !unsafe { execution::execute_one(thread) } {
            std::thread::yield_now();
        }
    }
    // Relaxed: no other thread uses either until the next child is submitted.
    task.children.reset();
    task.spawned.store(0, Ordering::Relaxed);
}

/// Waits for the children of the current task (`taskwait`).
pub unsafe extern "C-unwind" fn taskwait(_ident: *const Ident, gtid: i32) -> i32 {
    let thread = by_number(gtid);
    let task = thread.local().tasks.own.task.get();
    // SAFETY: null or the task that the thread executes; without one there are no children.
    if let Some(task) = unsafe { task.as_ref() }
        && !task.children_done()
    {
        // SAFETY: the thread executes `task`.
        unsafe {
            execute_until(thread, task, Construct::TASKWAIT, || task.children_done());
            task.forget_dependences();
        }
    }
    0
}

/// Executes another task, if there is one (`taskyield`).
pub unsafe extern "C-unwind" fn taskyield(_ident: *const Ident, gtid: i32, _part: i32) -> i32 {
    let thread = by_number(gtid);
    if thread.team().tasks.epoch.number() != 0 {
        current(thread);
        // SAFETY: the thread is a member of its region, at a scheduling point.
        unsafe { execution::execute_one(thread) };
    }
    0
}

/// Begins a taskgroup.
pub unsafe extern "C-unwind" fn begin_group(_ident: *const Ident, gtid: i32) {
    let task = current(by_number(gtid));
    // SAFETY: the task that the thread executes.
    let t = unsafe { &*task };
    let group = Box::new(Group::new(t.group.get(), task));
    t.group.set(Box::into_raw(group));
}

/// Ends a taskgroup: waits for its tasks.
pub unsafe extern "C-unwind" fn end_group(_ident: *const Ident, gtid: i32) {
    let thread = by_number(gtid);
    let task = current(thread);
    // SAFETY: the task that the thread executes.
    let t = unsafe { &*task };
    let group = t.group.get();
    if group.is_null() {
        return;
    }
    // SAFETY: `begin_group` created the group, which is freed below.
    let g = unsafe { &*group };
    // Acquire: the effects of its tasks are visible.
    let over = || g.members.load(Ordering::Acquire) == 0;
    // SAFETY: the thread executes the task.
    unsafe { execute_until(thread, t, Construct::TASKGROUP, over) };
    t.group.set(g.outer);
    // SAFETY: `begin_group` boxed the group; all its tasks have left it.
    let mut group = unsafe { Box::from_raw(group) };
    // SAFETY: all tasks of the group are complete.
    unsafe { group.end_reductions() };
}

/// Idle work of a member that waits at a barrier: the tasks of the epoch.
pub struct EpochWork<'a> {
    thread: &'a Thread,
    task_epoch: &'a TaskEpoch,
}

impl<'a> EpochWork<'a> {
    /// Returns the idle work of this thread in its team.
    #[inline(always)]
    pub fn new(thread: &'a Thread) -> Self {
        let task_epoch = &thread.team().tasks.epoch;
        Self { thread, task_epoch }
    }
}

impl IdleWork for EpochWork<'_> {
    #[inline(always)]
    fn is_available(&self) -> bool {
        self.task_epoch.number() != 0
    }

    #[cold]
    fn execute(&self, done: &dyn Fn() -> bool) {
        let over = || done() || !self.is_available();
        self.thread.team().tasks.wakeups.acknowledge();
        let mut look = true;
        while look || !over() {
            look = false;
            // SAFETY: the thread is a member of its region, and a barrier is a scheduling point.
            if !unsafe { execution::execute_one(self.thread) } && !over() {
                // SAFETY: the thread is a member of its region.
                look = unsafe { wait_for_task(self.thread, Construct::BARRIER, &over) };
            }
        }
    }

    #[inline]
    fn decline(&self) {
        // SAFETY: the thread is a member of its region, at a barrier.
        unsafe { decline(self.thread.team()) };
    }
}

/// Completes the tasks of an epoch after all members have arrived at its barrier: the master waits
/// until all tasks are complete, the others execute tasks until it ends the epoch.
///
/// # Safety
/// The thread takes part in the region, all members have arrived at the barrier with number
/// `epoch`, and `open` was `epoch`.
#[cold]
pub unsafe fn drain(thread: &Thread, epoch: u64) {
    let team = thread.team();
    // SAFETY: the implicit task, which the thread executes.
    unsafe { (*current(thread)).forget_dependences() };
    if thread.tid() != 0 {
        // SAFETY: the thread takes part in the region, whose epoch is open (caller's contract).
        return unsafe { execute_until_end(thread, epoch) };
    }
    let task_epoch = &team.tasks.epoch;
    // Counts all members that ever were: one of a larger region may have submitted a task that
    // another completed.
    // SAFETY: the master, in its region.
    let members = unsafe { team.core.capacity() } as u32;
    // SAFETY: `tid` is below the capacity.
    let counts = (0..members).map(|tid| unsafe { &team.slot(tid).local.tasks.counts });
    team.tasks.wakeups.acknowledge();
    loop {
        // SAFETY: the thread is a member of its region, at a barrier.
        while unsafe { execution::execute_one(thread) } {}
        // Before the counts are read: a member that completes a task counts first, then notifies.
        let seen = task_epoch.notifications();
        if quiescent(counts.clone(), &team.tasks.finished) {
            break;
        }
        let moved = || task_epoch.notifications() != seen;
        // SAFETY: the thread is a member of its region, at a barrier.
        unsafe { wait_for_task(thread, Construct::BARRIER_TASKS, &moved) };
    }
    team.tasks.wakeups.reset();
    task_epoch.end();
    thread.expect_tasks(false);
    // SAFETY: the master, in its region of this size.
    unsafe { team.core.wake_all(team.size()) };
    // Visitors are not awaited here: after a barrier the others may already be visitors at the end
    // of the region.
    thread.local().visited.set(true);
}

/// Completes the tasks of a root thread that ends, outside of all regions. Returns false if it ends
/// within a task, by `exit`: that task will never be complete, and its team must stay.
pub fn complete_root(thread: &Thread) -> bool {
    let tasks = &thread.team().tasks;
    let open = tasks.epoch.number();
    if open == 0 {
        return true;
    }
    // SAFETY: null or the task that the thread executes.
    let task = unsafe { thread.local().tasks.own.task.get().as_ref() };
    if task.is_some_and(|task| !task.has(flag::IMPLICIT)) {
        return false;
    }
    // SAFETY: the thread is the only member, at the end of its region.
    unsafe { drain(thread, open) };
    true
}

/// Waits until no visitor uses the team. Called by the master at the end of its region.
#[inline(always)]
pub fn await_visitors(local: &MemberState, team: &Team) {
    if local.visited.get() {
        local.visited.set(false);
        team.tasks.epoch.await_visitors();
    }
}

/// Executes tasks until the master ends the epoch.
///
/// # Safety
/// The thread is a member of its region that has arrived at the barrier `epoch`, or a visitor.
unsafe fn execute_until_end(thread: &Thread, epoch: u64) {
    let team = thread.team();
    let over = || team.tasks.epoch.ended(epoch);
    team.tasks.wakeups.acknowledge();
    // A task that was executed before the barrier may have been the last.
    let mut worked = true;
    while !over() {
        // SAFETY: the thread is a member of its region, at a barrier, or a visitor that keeps it
        // from ending.
        if unsafe { execution::execute_one(thread) } {
            worked = true;
            continue;
        }
        if worked {
            worked = false;
            notify_master(team);
        }
        // SAFETY: the thread is a member of its region or a visitor that keeps it from ending.
        unsafe { wait_for_task(thread, Construct::BARRIER_TASKS, &over) };
    }
}

/// Notifies the master to check if the last task is complete.
pub fn notify_master(team: &Team) {
    team.tasks.epoch.notify();
    fence_after_exchange();
    if team.core.anyone_sleeps() {
        // SAFETY: slot 0 always exists; callers are members or visitors.
        unsafe { team.core.unpark(0) };
    }
}

/// Executes tasks of the region that the worker has joined, as long as the epoch is open.
///
/// # Safety
/// The worker joined the region at the barrier with number `epoch` and has taken part in no other
/// since.
#[cold]
pub unsafe fn help_after_join(thread: &Thread, team: &Team, epoch: u64) {
    if team.tasks.epoch.try_visit(epoch) {
        current(thread);
        // SAFETY: the region cannot end while this thread is counted as a visitor.
        unsafe { execute_until_end(thread, epoch) };
    }
    team.tasks.epoch.end_visit();
}
