//! Execution and completion of tasks.
//!
//! A task's routine is called through its native address, like a region's microtask. So a stolen
//! task's frames lie on the stacks of the thread that executes it, above the frames of the tasks
//! that this thread has suspended. An untied task may resume on any thread, so the thread that
//! executed one part executes the next one, too.

use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use super::children::ChildrenState;
use super::memory::Blocks;
use super::{Group, Task, depend, flag};
use crate::team::Team;
use crate::thread::Thread;
use ompvm_support::sync::fence_after_exchange;

/// Makes `task` the thread's current task.
///
/// # Safety
/// The task was adopted and is executed by this thread alone.
#[inline]
pub unsafe fn enter(thread: &Thread, task: *mut Task) {
    // SAFETY: an adopted task is alive until it is completed (caller's contract).
    let t = unsafe { &*task };
    let own = &thread.local().tasks.own;
    // The link is unused while the task is executed; here it saves the previous `bound`.
    t.next.set(own.bound.get());
    if t.has(flag::TIED) {
        own.bound.set(task);
    }
    t.set(flag::STARTED);
    own.task.set(task);
}

/// Makes `outer` the current task again after `task`.
#[inline]
unsafe fn leave_to(thread: &Thread, task: *mut Task, outer: *mut Task) {
    // SAFETY: callers pass the task that `enter` made the current one.
    let t = unsafe { &*task };
    let own = &thread.local().tasks.own;
    own.bound.set(t.next.get());
    own.task.set(outer);
}

/// Undoes [`enter`] for a task that its parent executes.
///
/// # Safety
/// The same thread has called [`enter`] for `task`.
#[inline]
pub unsafe fn leave(thread: &Thread, task: *mut Task) {
    // SAFETY: the task is alive and the current one of this thread, since `enter` (caller's
    // contract).
    unsafe {
        thread.icvs.set((*task).icvs.get());
        leave_to(thread, task, (*task).parent());
    }
}

/// Calls the remaining parts of an untied task.
///
/// # Safety
/// The same thread has called [`enter`] for `task` and executed its first part.
#[inline]
pub unsafe fn run_remaining_parts(thread: &Thread, task: *mut Task) {
    // SAFETY: the task is alive and executed by this thread (caller's contract).
    let t = unsafe { &*task };
    while t.has(flag::AGAIN) {
        t.flags.set(t.flags.get() & !flag::AGAIN);
        // SAFETY: calls the compiler's routine with its own structure.
        unsafe {
            if let Some(routine) = (*t.payload.get()).routine {
                routine(thread.gtid, t.payload.get());
            }
        }
    }
}

/// Executes a task and completes it.
///
/// # Safety
/// The task was adopted, its dependences are met, and no other thread executes it.
pub unsafe fn execute(thread: &Thread, task: *mut Task) {
    // SAFETY: an adopted task is alive until it is completed (caller's contract).
    let t = unsafe { &*task };
    let own = &thread.local().tasks.own;
    let outer = own.task.get();
    let icvs = thread.icvs.replace(t.icvs.get());
    // SAFETY: this thread alone executes the task (caller's contract); the routine is the
    // compiler's, called with its own structure.
    unsafe {
        enter(thread, task);
        if canceled(thread, t) {
            if crate::ompt::on() {
                crate::ompt::discarded(t);
            }
        } else if let Some(routine) = (*t.payload.get()).routine {
            routine(thread.gtid, t.payload.get());
        }
        run_remaining_parts(thread, task);
        leave_to(thread, task, outer);
        thread.icvs.set(icvs);
        finish(thread, task);
    }
}

/// Returns true if a task that has not begun is to be discarded: its group or region is canceled.
#[inline(always)]
pub(crate) fn canceled(thread: &Thread, task: &Task) -> bool {
    // Relaxed: a request takes effect eventually. None is ever made if cancellation is off.
    // SAFETY: null, or a group whose end waits for the task.
    let group = unsafe { task.group.get().as_ref() };
    group.is_some_and(|group| group.canceled.load(Ordering::Relaxed)) || thread.team().cancel.any()
}

/// Destroys private variables and completes the task, unless its event is to do so.
///
/// # Safety
/// The task's routine has returned on this thread.
#[inline(always)]
pub unsafe fn finish(thread: &Thread, task: *mut Task) {
    // SAFETY: the task is alive until it is completed below.
    let t = unsafe { &*task };
    // SAFETY: the routine has returned, so no private variable is in use and no further child is
    // created.
    unsafe {
        destroy(thread, t);
        t.forget_dependences();
    }
    if !t.completes_later() || t.end_of_routine() {
        // SAFETY: the task was executed; a second completion is ruled out by `end_of_routine`.
        unsafe { complete(Some(thread), thread.team(), task) };
    }
}

/// Destroys a task's private variables.
///
/// # Safety
/// The variables are not used any more.
#[inline]
pub unsafe fn destroy(thread: &Thread, task: &Task) {
    if task.has(flag::DESTRUCTORS) {
        let payload = task.payload.get();
        // SAFETY: calls the compiler's destructors with their own structure.
        unsafe {
            if let Some(destroy) = (*payload).destructors {
                destroy(thread.gtid, payload);
            }
        }
    }
}

/// Completes a task: wakes those that wait for it, and frees its memory as soon as that of its
/// children is free. `thread` is `None` if the caller is no member of `team`.
///
/// # Safety
/// The task was executed; called once.
pub unsafe fn complete(thread: Option<&Thread>, team: &Team, task: *mut Task) {
    // SAFETY: the task is alive until its parent is notified.
    let t = unsafe { &*task };
    let counted = t.has(flag::COUNTED);
    if !t.node.get().is_null() {
        // SAFETY: the task was executed, is completed once, and has a node.
        unsafe { depend::complete(thread, team, t) };
    }
    // SAFETY: the group's end waits for this task.
    unsafe { leave_group(team, t.group.get()) };
    let parent = t.parent();
    // Relaxed: written only by the task, which is over.
    let free = t.children.retire(t.spawned.load(Ordering::Relaxed));
    // SAFETY: the memory of tasks always holds tasks; the parent stays until its children's memory
    // is free.
    let p = unsafe { &*parent };
    let state = p.children.one_done(free);
    fence_after_exchange();
    if team.core.anyone_sleeps() {
        // SAFETY: the team is alive, as it waits for the task's count or the caller is its visitor.
        unsafe { wake_parent(team, p, state) };
    }
    if free {
        // SAFETY: the task is complete, and no child refers to it.
        unsafe {
            put(thread, task);
            if state.all_freed() {
                free_ancestors(thread, parent);
            }
        }
    }
    if counted {
        match thread {
            Some(thread) => thread.local().tasks.counts.finish(),
            None => {
                // Release: as in `Counts::finish`.
                team.tasks.finished.fetch_add(1, Ordering::Release);
            }
        }
    }
}

#[cold]
unsafe fn wake_parent(team: &Team, parent: &Task, state: ChildrenState) {
    // Relaxed: after a full fence; a sleeping parent has set both before its own. If the parent is
    // complete, the values have no meaning and a member may be woken in vain.
    let waiter = parent.waiter.load(Ordering::Relaxed);
    let spawned = parent.spawned.load(Ordering::Relaxed);
    if waiter != 0 && state.all_done(spawned) {
        // SAFETY: `complete` keeps the team's region from ending.
        unsafe { team.core.unpark(waiter - 1) };
    }
}

/// Frees complete tasks whose last child's memory became free.
#[cold]
unsafe fn free_ancestors(thread: Option<&Thread>, mut task: *mut Task) {
    loop {
        // SAFETY: the task is complete, and this thread freed its last child.
        let parent = unsafe { (*task).parent() };
        // SAFETY: the task is complete, and this thread freed its last child.
        unsafe { put(thread, task) };
        // SAFETY: the memory of tasks always holds tasks.
        if !unsafe { &*parent }.children.one_freed().all_freed() {
            return;
        }
        task = parent;
    }
}

#[inline(always)]
unsafe fn put(thread: Option<&Thread>, task: *mut Task) {
    // SAFETY: callers pass a complete task that nothing refers to.
    unsafe {
        match thread {
            Some(thread) => thread.pool().put(task),
            None => Blocks::put_from_outside(task),
        }
    }
}

/// Removes a completed task from `group`.
#[inline(always)]
unsafe fn leave_group(team: &Team, group: *mut Group) {
    if group.is_null() {
        return;
    }
    // SAFETY: a group lives until its last member has left.
    let g = unsafe { &*group };
    let owner = g.owner;
    // Release for the waiter; SeqCst before the check for sleepers.
    if g.members.fetch_sub(1, Ordering::SeqCst) == 1 {
        fence_after_exchange();
        if team.core.anyone_sleeps() {
            // SAFETY: the memory of tasks always holds tasks.
            let waiter = unsafe { (*owner).waiter.load(Ordering::Relaxed) };
            if waiter != 0 {
                // SAFETY: the team is alive, as it waits for the task's count or the caller is its
                // visitor.
                unsafe { team.core.unpark(waiter - 1) };
            }
        }
    }
}

/// Executes one task that the thread may execute now. Returns false if it found none.
///
/// # Safety
/// The thread is a member of its team's region, at a task scheduling point.
pub unsafe fn execute_one(thread: &Thread) -> bool {
    let team = thread.team();
    let member = &thread.local().tasks;
    let bound = member.own.bound.get();
    // SAFETY: both are pointers to memory that always holds a task.
    let allowed = |task: *mut Task| bound.is_null() || unsafe { (*task).descends_from(&*bound) };
    let mut task = null_mut();
    // Relaxed: a hint; the lock orders.
    if team.tasks.waiting.load(Ordering::Relaxed) > 0 {
        task = team.tasks.first_in_line(allowed);
        // A member that leaves some behind wakes the next one.
        if !task.is_null()
            && team.tasks.waiting.load(Ordering::Relaxed) > 0
            && team.core.anyone_sleeps()
        {
            // SAFETY: the thread takes part in the region.
            unsafe { super::wait::wake_for(team, task) };
        }
    }
    if task.is_null() {
        // SAFETY: the thread owns this deque.
        if let Some(own) = unsafe { member.deque.pop(allowed) } {
            task = own;
        } else {
            // SAFETY: the thread is a member of its team's region (caller's contract).
            task = unsafe { super::wait::steal(thread, allowed) };
        }
    }
    if task.is_null() {
        return false;
    }
    // SAFETY: the task was taken by this thread alone; queued tasks were adopted and are ready.
    unsafe { execute(thread, task) };
    true
}
