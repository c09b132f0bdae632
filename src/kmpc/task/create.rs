//! Creation and submission of tasks: `__kmpc_omp_task_alloc`, `__kmpc_omp_task`, `_begin_if0`.
//!
//! OpenMP 5.2, section 12.5.

use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use super::{Payload, Routine, Task, children, execution, flag, wait};
use crate::icv::settings;
use crate::ident::Ident;
use crate::team::Team;
use crate::thread::{self, Thread, by_number};

/// Number of waiting tasks in a member's deque from which on it executes new ones at once.
const THROTTLE: u64 = 256;

/// Returns the task that the thread executes.
#[inline(always)]
pub fn current(thread: &Thread) -> *mut Task {
    let task = thread.local().tasks.own.task.get();
    if task.is_null() {
        return implicit(thread);
    }
    task
}

/// Creates the thread's implicit task, which stays in its slot of the team.
#[cold]
fn implicit(thread: &Thread) -> *mut Task {
    let task = thread.pool().get(0);
    // SAFETY: a block that this thread just got.
    let t = unsafe { &*task };
    t.begin(null_mut(), flag::TIED | flag::IMPLICIT, thread.team());
    let own = &thread.local().tasks.own;
    own.implicit.set(task);
    own.task.set(task);
    task
}

impl Task {
    /// Initializes a block as a new task.
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
    // flang's `omp_taskloop_dup` expects the shared ones right behind the structure, as libomp
    // places them: at the next multiple of a pointer's size.
    let offset = size.saturating_add(7) & !7;
    let task = thread.pool().get(offset.saturating_add(shareds));
    // SAFETY: the current task, and a block that this thread just got.
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
    // SAFETY: there is room for the compiler's structure, which begins with these fields.
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

/// Like [`alloc`], for a task that is to wait for a device.
pub unsafe extern "C-unwind" fn alloc_target(
    ident: *const Ident,
    gtid: i32,
    flags: i32,
    size: usize,
    shareds: usize,
    routine: Option<Routine>,
    _device: i64,
) -> *mut Payload {
    // SAFETY: the contract is that of `alloc`.
    unsafe { alloc(ident, gtid, flags, size, shareds, routine) }
}

/// Makes the task a child of the one being executed: from here on that one and its group wait for
/// it.
///
/// # Safety
/// [`alloc`] created the task, it is not submitted yet, and the calling thread executes its parent.
#[inline]
pub unsafe fn adopt(thread: &Thread, task: *mut Task) {
    // SAFETY: a task that is not submitted is alive (caller's contract).
    let t = unsafe { &*task };
    // SAFETY: the calling thread executes the parent.
    let parent = unsafe { &*t.parent() };
    // Relaxed: written only by the parent, and published with the task.
    let spawned = parent.spawned.load(Ordering::Relaxed);
    if spawned >= children::LIMIT {
        // SAFETY: the calling thread executes the parent.
        unsafe { wait::reset_children(thread, parent) };
        // SAFETY: the same contract; the count is 0 now.
        return unsafe { adopt(thread, task) };
    }
    parent.spawned.store(spawned + 1, Ordering::Relaxed);
    let group = parent.group.get();
    t.group.set(group);
    // SAFETY: null, or a group, which lives until its end, for which the parent waits.
    if let Some(group) = unsafe { group.as_ref() } {
        // Relaxed: a waiter has begun the group or enters it after this thread.
        group.members.fetch_add(1, Ordering::Relaxed);
    }
    t.icvs.set(thread.icvs.get());
    if t.has(flag::PRIORITY) {
        // SAFETY: the compiler has written the priority that the flag announces.
        t.priority.set(unsafe { (*t.payload.get()).priority });
    }
}

/// Submits a task. An untied task calls this again to continue with its next part.
///
/// # Safety
/// [`alloc`] returned the payload.
pub unsafe extern "C-unwind" fn submit(
    _ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) -> i32 {
    // SAFETY: `alloc` returned the payload (caller's contract).
    let task = unsafe { Task::from_payload(payload) };
    // SAFETY: the task is not complete, since it is only now submitted or being executed.
    let t = unsafe { &*task };
    if t.has(flag::STARTED) {
        // An untied task ends a part: the thread that executes it continues with the next.
        t.set(flag::AGAIN);
        return 0;
    }
    let thread = by_number(gtid);
    // SAFETY: the task is not submitted yet, and the compiler submits it in its parent.
    unsafe {
        adopt(thread, task);
        execute_or_offer(thread, task);
    }
    0
}

/// Executes an adopted task whose dependences are met, or offers it to other members.
///
/// # Safety
/// As for [`adopt`], after it.
#[inline]
pub unsafe fn execute_or_offer(thread: &Thread, task: *mut Task) {
    // SAFETY: the task is not complete, and its parent is being executed by this thread.
    let (t, parent) = unsafe { (&*task, &*(*task).parent()) };
    let team = thread.team();
    let member = &thread.local().tasks;
    // SAFETY: this thread owns the deque.
    let many = || unsafe { member.deque.len(THROTTLE) } >= THROTTLE;
    let now = team.size() == 1
        || parent.has(flag::FINAL)
        || t.priority.get() == 0 && many() && settings().task_throttling;
    // SAFETY: the task is adopted and ready, and no other thread knows it yet.
    unsafe {
        if (!now || t.completes_later()) && !t.has(flag::COUNTED) {
            count(thread, t);
        }
        if now {
            execution::execute(thread, task);
        } else {
            offer(thread, task);
        }
    }
}

/// Counts a task that is not complete when its submission returns: the next barrier waits for it.
///
/// # Safety
/// The calling thread executes the task's parent.
#[inline]
pub unsafe fn count(thread: &Thread, task: &Task) {
    task.set(flag::COUNTED);
    let team = thread.team();
    thread.local().tasks.counts.create();
    // Outside of barriers the number is 0 or that of the next one, on which all members agree.
    if team.tasks.epoch.number() == 0 {
        // SAFETY: the thread's own number.
        let epoch = unsafe { team.core.epoch(thread.tid()) };
        team.tasks.epoch.begin(epoch + 1);
        thread.expect_tasks(true);
    }
}

/// Queues a counted, ready task where members find it, and wakes one if need be.
///
/// # Safety
/// A member of the team calls it, once per task.
#[inline]
pub unsafe fn offer(thread: &Thread, task: *mut Task) {
    let team = thread.team();
    // SAFETY: the task is not complete before it is offered.
    if unsafe { (*task).priority.get() } > 0 {
        team.tasks.queue_up(task);
    } else {
        // SAFETY: this thread owns the deque.
        unsafe { thread.local().tasks.deque.push(task) };
    }
    // Both branches contain a full fence.
    if team.core.anyone_sleeps() {
        // SAFETY: this thread is a member of the running region; the task's memory always holds a
        // task.
        unsafe { wait::wake_for(team, task) };
    }
}

/// Begins an undeferred task, which the caller executes itself.
///
/// # Safety
/// [`alloc`] returned the payload.
pub unsafe extern "C-unwind" fn begin_undeferred(
    _ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) {
    let thread = by_number(gtid);
    // SAFETY: the task is not submitted yet (caller's contract), and the compiler begins it in its
    // parent.
    unsafe {
        let task = Task::from_payload(payload);
        adopt(thread, task);
        // The construct ends with its block; the event may be fulfilled after it.
        if (*task).completes_later() {
            count(thread, &*task);
        }
        execution::enter(thread, task);
    }
}

/// Ends an undeferred task.
///
/// # Safety
/// [`alloc`] returned the payload, and [`begin_undeferred`] began its task.
pub unsafe extern "C-unwind" fn end_undeferred(
    _ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) {
    let thread = by_number(gtid);
    // SAFETY: this thread began the task and has executed its first part (caller's contract).
    unsafe {
        let task = Task::from_payload(payload);
        execution::run_remaining_parts(thread, task);
        execution::leave(thread, task);
        execution::finish(thread, task);
    }
}

/// Returns 1 if the current task is final.
pub unsafe extern "C-unwind" fn in_final() -> i32 {
    with_current(|task| task.has(flag::FINAL)).into()
}

/// Returns 1 if the current task is an explicit one.
pub unsafe extern "C-unwind" fn in_explicit_task() -> i32 {
    with_current(|task| !task.has(flag::IMPLICIT)).into()
}

/// Returns the current task's number for tools.
pub unsafe extern "C-unwind" fn number() -> u64 {
    // SAFETY: the task that the thread executes.
    unsafe { &*current(thread::current()) }.number()
}

/// Returns the number of the current task's parent; 0 if it has none.
pub unsafe extern "C-unwind" fn parent_number() -> u64 {
    // SAFETY: the task that the thread executes, and its parent.
    unsafe { (*current(thread::current())).parent().as_ref() }.map_or(0, Task::number)
}

/// Applies `ask` to the current task; returns false if there is none yet.
fn with_current(ask: impl FnOnce(&Task) -> bool) -> bool {
    let task = thread::current().local().tasks.own.task.get();
    // SAFETY: null or the task that the thread executes.
    unsafe { task.as_ref() }.is_some_and(ask)
}
