//! Making tasks and submitting them: `__kmpc_omp_task_alloc`, `__kmpc_omp_task`, `_begin_if0`.
//! OpenMP 5.2, section 12.5.

use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use super::{Payload, Routine, Task, children, flag, run, wait};
use crate::kmpc::icv::settings;
use crate::kmpc::ident::Ident;
use crate::kmpc::team::Team;
use crate::kmpc::thread::{self, Thread, by_number};

/// Tasks that wait in a member's deque before it executes new ones at once.
const THROTTLE: u64 = 256;

/// The task that the thread executes.
#[inline(always)]
pub fn current(thread: &Thread) -> *mut Task {
    let task = thread.local().tasks.own.task.get();
    if task.is_null() {
        return implicit(thread);
    }
    task
}

/// Makes the thread's implicit task, which stays with its place in the team.
#[cold]
fn implicit(thread: &Thread) -> *mut Task {
    let task = thread.pool().get(0);
    // SAFETY: a block of ours.
    let t = unsafe { &*task };
    t.begin(null_mut(), flag::TIED | flag::IMPLICIT, thread.team());
    let own = &thread.local().tasks.own;
    own.implicit.set(task);
    own.task.set(task);
    task
}

impl Task {
    /// Makes a block a new task.
    #[inline(always)]
    fn begin(&self, parent: *mut Task, flags: u32, team: *const Team) {
        // SAFETY: null or the task being executed.
        let level = unsafe { parent.as_ref() }.map_or(0, |p| p.level.load(Ordering::Relaxed) + 1);
        // Relaxed, all: published when the task is submitted.
        self.parent.store(parent, Ordering::Relaxed);
        self.level.store(level, Ordering::Relaxed);
        self.flags.set(flags);
        self.group.set(null_mut());
        self.priority.set(0);
        self.spawned.store(0, Ordering::Relaxed);
        self.waiter.store(0, Ordering::Relaxed);
        self.id.set(0);
        self.team.set(team);
        self.children.reset();
        self.event.store(0, Ordering::Relaxed);
        self.tool.set(std::ptr::null());
    }
}

/// Allocates a task with `size` bytes for the compiler's structure and its private variables, and
/// `shareds` bytes for pointers to shared ones.
pub unsafe extern "C-unwind" fn alloc(
    _ident: *const Ident,
    gtid: i32,
    flags: i32,
    size: usize,
    shareds: usize,
    routine: Option<Routine>,
) -> *mut Payload {
    let thread = by_number(gtid);
    let parent = current(thread);
    let offset = size.saturating_add(15) & !15;
    let task = thread.pool().get(offset.saturating_add(shareds));
    // SAFETY: the current task, and a new one of ours.
    let (p, t) = unsafe { (&*parent, &*task) };
    let inherited = p.flags.get() & flag::FINAL;
    t.begin(
        parent,
        flags as u32 & flag::COMPILERS | inherited,
        thread.team(),
    );
    let payload = t.payload.get();
    let at = if shareds > 0 {
        payload.wrapping_byte_add(offset).cast()
    } else {
        null_mut()
    };
    // SAFETY: room for the compiler's structure, which begins with these fields.
    unsafe {
        payload.write(Payload {
            shareds: at,
            routine,
            part: 0,
            destructors: None,
            priority: 0,
        });
    }
    payload
}

/// As [`alloc`] for a task that is to wait for a device.
pub unsafe extern "C-unwind" fn alloc_target(
    ident: *const Ident,
    gtid: i32,
    flags: i32,
    size: usize,
    shareds: usize,
    routine: Option<Routine>,
    _device: i64,
) -> *mut Payload {
    // SAFETY: the same contract.
    unsafe { alloc(ident, gtid, flags, size, shareds, routine) }
}

/// Makes the task a child of the one being executed: from here on that one and its group wait for it.
///
/// # Safety
/// A task of [`alloc`], not submitted yet, by the thread that executes its parent.
#[inline]
pub unsafe fn adopt(thread: &Thread, task: *mut Task) {
    // SAFETY: the caller's contract.
    let t = unsafe { &*task };
    // SAFETY: the parent is being executed by us.
    let parent = unsafe { &*t.parent() };
    // Relaxed: the parent's own word, and ours to publish with the task.
    let spawned = parent.spawned.load(Ordering::Relaxed);
    if spawned >= children::LIMIT {
        // SAFETY: we execute the parent.
        unsafe { wait::settle(thread, parent) };
        // SAFETY: as before; the count is 0 now.
        return unsafe { adopt(thread, task) };
    }
    parent.spawned.store(spawned + 1, Ordering::Relaxed);
    let group = parent.group.get();
    t.group.set(group);
    // SAFETY: a group lives until its end, for which the parent waits.
    if let Some(group) = unsafe { group.as_ref() } {
        // Relaxed: whoever waits has begun the group or comes after us in it.
        group.members.fetch_add(1, Ordering::Relaxed);
    }
    t.icvs.set(thread.icvs.get());
    if t.is(flag::PRIORITY) {
        // SAFETY: the compiler has written it.
        t.priority.set(unsafe { (*t.payload.get()).priority });
    }
}

/// Submits a task; called again by an untied task that is to go on with its next part.
///
/// # Safety
/// A payload of [`alloc`].
pub unsafe extern "C-unwind" fn submit(
    _ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) -> i32 {
    // SAFETY: the caller's contract.
    let task = unsafe { Task::of(payload) };
    // SAFETY: as above.
    let t = unsafe { &*task };
    if t.is(flag::STARTED) {
        // An untied task ends a part: the thread that executes it goes on with the next.
        t.set(flag::AGAIN);
        return 0;
    }
    let thread = by_number(gtid);
    // SAFETY: the caller's contract.
    unsafe {
        adopt(thread, task);
        go(thread, task);
    }
    0
}

/// Executes an adopted task whose dependences are met, or leaves it to whoever is free.
///
/// # Safety
/// As for [`adopt`], after it.
#[inline]
pub unsafe fn go(thread: &Thread, task: *mut Task) {
    // SAFETY: the caller's contract.
    let (t, parent) = unsafe { (&*task, &*(*task).parent()) };
    let team = thread.team();
    let member = &thread.local().tasks;
    // SAFETY: our own deque.
    let many = || unsafe { member.deque.len(THROTTLE) } >= THROTTLE;
    let now = team.size() == 1
        || parent.is(flag::FINAL)
        || t.priority.get() == 0 && many() && settings().task_throttling;
    // SAFETY: the caller's contract.
    unsafe {
        if (!now || t.completes_later()) && !t.is(flag::COUNTED) {
            count(thread, t);
        }
        if now {
            run::execute(thread, task);
        } else {
            offer(thread, task);
        }
    }
}

/// Counts a task that is not complete when its submission returns: the next meeting waits for it.
///
/// # Safety
/// By the thread that executes the parent.
#[inline]
pub unsafe fn count(thread: &Thread, task: &Task) {
    task.set(flag::COUNTED);
    let team = thread.team();
    thread.local().tasks.counts.create();
    // Outside of meetings the number is 0 or that of the coming one, in which all members agree.
    if team.tasks.interval.number() == 0 {
        // SAFETY: our own number.
        let epoch = unsafe { team.gang.epoch(thread.tid()) };
        team.tasks.interval.begin(epoch + 1);
        thread.expect_tasks(true);
    }
}

/// Puts a counted task that may be executed where members find it, and wakes one if need be.
///
/// # Safety
/// By a member of the team, once.
#[inline]
pub unsafe fn offer(thread: &Thread, task: *mut Task) {
    let team = thread.team();
    // SAFETY: the caller's contract.
    if unsafe { (*task).priority.get() } > 0 {
        team.tasks.queue_up(task);
    } else {
        // SAFETY: our own deque.
        unsafe { thread.local().tasks.deque.push(task) };
    }
    // A full fence lies behind us.
    if team.gang.anyone_sleeps() {
        // SAFETY: a member of the running region; the task may be gone, its memory is not.
        unsafe { wait::wake_for(team, task) };
    }
}

/// Begins an undeferred task, which the caller executes itself.
///
/// # Safety
/// A payload of [`alloc`].
pub unsafe extern "C-unwind" fn begin_undeferred(
    _ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) {
    let thread = by_number(gtid);
    // SAFETY: the caller's contract.
    unsafe {
        let task = Task::of(payload);
        adopt(thread, task);
        // The construct ends with its block; the event may be fulfilled after it.
        if (*task).completes_later() {
            count(thread, &*task);
        }
        run::enter(thread, task);
    }
}

/// Ends an undeferred task.
///
/// # Safety
/// A payload of [`alloc`], begun by [`begin_undeferred`].
pub unsafe extern "C-unwind" fn end_undeferred(
    _ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) {
    let thread = by_number(gtid);
    // SAFETY: the caller's contract.
    unsafe {
        let task = Task::of(payload);
        run::go_on(thread, task);
        run::leave(thread, task);
        run::finish(thread, task);
    }
}

/// Whether the current task is final.
pub unsafe extern "C-unwind" fn in_final() -> i32 {
    with_current(|task| task.is(flag::FINAL)).into()
}

/// Whether the current task is an explicit one.
pub unsafe extern "C-unwind" fn in_explicit_task() -> i32 {
    with_current(|task| !task.is(flag::IMPLICIT)).into()
}

/// The current task's number for tools.
pub unsafe extern "C-unwind" fn number() -> u64 {
    // SAFETY: the task that we execute.
    unsafe { &*current(thread::current()) }.number()
}

/// The number of the task that created the current one; 0 where none did.
pub unsafe extern "C-unwind" fn parent_number() -> u64 {
    // SAFETY: the task that we execute, and its parent.
    unsafe { (*current(thread::current())).parent().as_ref() }.map_or(0, Task::number)
}

/// Asks the current task; no where there is none yet.
fn with_current(ask: impl FnOnce(&Task) -> bool) -> bool {
    let task = thread::current().local().tasks.own.task.get();
    // SAFETY: null or the task that we execute.
    unsafe { task.as_ref() }.is_some_and(ask)
}
