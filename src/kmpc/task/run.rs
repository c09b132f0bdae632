//! Executing tasks and completing them.
//!
//! A task's routine is called through its native address, like a region's microtask, so a stolen
//! task's frames lie on the stacks of the thread that executes it, above the frames of what that
//! thread has suspended. An untied task is called part after part by one thread: it may go on
//! anywhere, so it may go on here.

use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use super::children::Said;
use super::memory::Blocks;
use super::{Group, Task, depend, flag};
use crate::kmpc::team::Team;
use crate::kmpc::thread::Thread;
use crate::support::sync::fence_after_exchange;

/// Makes `task` the one that the thread executes.
///
/// # Safety
/// The task was adopted and is executed by this thread alone.
#[inline]
pub unsafe fn enter(thread: &Thread, task: *mut Task) {
    // SAFETY: the caller's contract.
    let t = unsafe { &*task };
    let own = &thread.local().tasks.own;
    // The link is free while the task is executed: it keeps what the next tasks were bound to.
    t.next.set(own.bound.get());
    if t.is(flag::TIED) {
        own.bound.set(task);
    }
    t.set(flag::STARTED);
    own.task.set(task);
}

/// Makes `outer` the current task again after `task`.
#[inline]
unsafe fn leave_to(thread: &Thread, task: *mut Task, outer: *mut Task) {
    // SAFETY: the task that `enter` made the current one.
    let t = unsafe { &*task };
    let own = &thread.local().tasks.own;
    own.bound.set(t.next.get());
    own.task.set(outer);
}

/// Undoes [`enter`] for a task that its parent executes.
///
/// # Safety
/// After [`enter`], by the same thread.
#[inline]
pub unsafe fn leave(thread: &Thread, task: *mut Task) {
    // SAFETY: the caller's contract.
    unsafe {
        thread.icvs.set((*task).icvs.get());
        leave_to(thread, task, (*task).parent());
    }
}

/// Calls the remaining parts of an untied task.
///
/// # Safety
/// After [`enter`], by the same thread, and after the first part.
#[inline]
pub unsafe fn go_on(thread: &Thread, task: *mut Task) {
    // SAFETY: the caller's contract.
    let t = unsafe { &*task };
    while t.is(flag::AGAIN) {
        t.flags.set(t.flags.get() & !flag::AGAIN);
        // SAFETY: the compiler's routine with its own structure.
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
    // SAFETY: the caller's contract.
    let t = unsafe { &*task };
    let own = &thread.local().tasks.own;
    let outer = own.task.get();
    let icvs = thread.icvs.replace(t.icvs.get());
    // SAFETY: the caller's contract; the routine is the compiler's, with its own structure.
    unsafe {
        enter(thread, task);
        if cancelled(thread, t) {
            if crate::kmpc::ompt::on() {
                crate::kmpc::ompt::discarded(t);
            }
        } else if let Some(routine) = (*t.payload.get()).routine {
            routine(thread.gtid, t.payload.get());
        }
        go_on(thread, task);
        leave_to(thread, task, outer);
        thread.icvs.set(icvs);
        finish(thread, task);
    }
}

/// Whether a task that has not begun is not to: its group or its region is cancelled.
#[inline(always)]
pub(in crate::kmpc) fn cancelled(thread: &Thread, task: &Task) -> bool {
    // Relaxed: a request is obeyed at some time. Neither is ever made where cancellation is off.
    // SAFETY: the group's end waits for the task.
    let group = unsafe { task.group.get().as_ref() };
    group.is_some_and(|group| group.cancelled.load(Ordering::Relaxed)) || thread.team().cancel.any()
}

/// What follows a task's routine.
///
/// # Safety
/// The routine returned on this thread.
#[inline]
pub unsafe fn finish(thread: &Thread, task: *mut Task) {
    // SAFETY: the caller's contract.
    let t = unsafe { &*task };
    // SAFETY: as above; nobody creates children any more.
    unsafe {
        destroy(thread, t);
        t.forget_dependences();
    }
    if !t.completes_later() || t.end_of_routine() {
        // SAFETY: the caller's contract.
        unsafe { complete(Some(thread), thread.team(), task) };
    }
}

/// Destroys a task's private variables.
///
/// # Safety
/// They are not used any more.
#[inline]
pub unsafe fn destroy(thread: &Thread, task: &Task) {
    if task.is(flag::DESTRUCTORS) {
        let payload = task.payload.get();
        // SAFETY: the compiler's destructors with its own structure.
        unsafe {
            if let Some(destroy) = (*payload).destructors {
                destroy(thread.gtid, payload);
            }
        }
    }
}

/// Completes a task: whoever waits for it may go on, and its memory is free once its children's is.
/// `thread` is none where the caller is no member of `team`.
///
/// # Safety
/// The task was executed; called once.
pub unsafe fn complete(thread: Option<&Thread>, team: &Team, task: *mut Task) {
    // SAFETY: ours until the parent knows.
    let t = unsafe { &*task };
    let counted = t.is(flag::COUNTED);
    if !t.node.get().is_null() {
        // SAFETY: the caller's contract.
        unsafe { depend::complete(thread, team, t) };
    }
    // SAFETY: the group's end waits for us.
    unsafe { leave_group(team, t.group.get()) };
    let parent = t.parent();
    // Relaxed: the task's own word; no more is added to it.
    let free = t.children.retire(t.spawned.load(Ordering::Relaxed));
    // SAFETY: the memory of tasks stays; the task itself stays until its children's is free.
    let p = unsafe { &*parent };
    let said = p.children.one_done(free);
    fence_after_exchange();
    if team.gang.anyone_sleeps() {
        // SAFETY: `team` is alive: we are counted in it, or its visitor.
        unsafe { wake_parent(team, p, said) };
    }
    if free {
        // SAFETY: complete, and no child refers to it.
        unsafe {
            put(thread, task);
            if said.all_freed() {
                free_ancestors(thread, parent);
            }
        }
    }
    if counted {
        match thread {
            Some(thread) => thread.local().tasks.counts.finish(),
            None => {
                // Release: as `Counts::finish`.
                team.tasks.finished.fetch_add(1, Ordering::Release);
            }
        }
    }
}

#[cold]
unsafe fn wake_parent(team: &Team, parent: &Task, said: Said) {
    // Relaxed: after a full fence; a parent that sleeps has set both before its own. If it is over,
    // the numbers mean nothing and somebody is woken in vain.
    let waiter = parent.waiter.load(Ordering::Relaxed);
    let spawned = parent.spawned.load(Ordering::Relaxed);
    if waiter != 0 && said.all_done(spawned) {
        // SAFETY: the caller's contract.
        unsafe { team.gang.unpark(waiter - 1) };
    }
}

/// Frees complete tasks whose last child's memory became free.
#[cold]
unsafe fn free_ancestors(thread: Option<&Thread>, mut task: *mut Task) {
    loop {
        // SAFETY: complete, and the last child was freed by us.
        let parent = unsafe { (*task).parent() };
        // SAFETY: as above.
        unsafe { put(thread, task) };
        // SAFETY: the memory of tasks stays.
        if !unsafe { &*parent }.children.one_freed().all_freed() {
            return;
        }
        task = parent;
    }
}

#[inline(always)]
unsafe fn put(thread: Option<&Thread>, task: *mut Task) {
    // SAFETY: the caller's contract.
    unsafe {
        match thread {
            Some(thread) => thread.pool().put(task),
            None => Blocks::put_from_outside(task),
        }
    }
}

/// One member of `group` is complete.
#[inline(always)]
unsafe fn leave_group(team: &Team, group: *mut Group) {
    if group.is_null() {
        return;
    }
    // SAFETY: it lives until its last member has left.
    let g = unsafe { &*group };
    let owner = g.owner;
    // Release for the waiter; SeqCst before the look at the sleepers.
    if g.members.fetch_sub(1, Ordering::SeqCst) == 1 {
        fence_after_exchange();
        if team.gang.anyone_sleeps() {
            // SAFETY: the memory of tasks stays.
            let waiter = unsafe { (*owner).waiter.load(Ordering::Relaxed) };
            if waiter != 0 {
                // SAFETY: `team` is alive: we are counted in it, or its visitor.
                unsafe { team.gang.unpark(waiter - 1) };
            }
        }
    }
}

/// Executes one task that the thread may execute now; false if it found none.
///
/// # Safety
/// The thread is a member of its team's region, at a task scheduling point.
pub unsafe fn one(thread: &Thread) -> bool {
    let team = thread.team();
    let member = &thread.local().tasks;
    let bound = member.own.bound.get();
    // SAFETY: memory that always holds a task.
    let allowed = |task: *mut Task| bound.is_null() || unsafe { (*task).descends_from(&*bound) };
    let mut task = null_mut();
    // Relaxed: a hint; the lock orders.
    if team.tasks.waiting.load(Ordering::Relaxed) > 0 {
        task = team.tasks.first_in_line(allowed);
        // Who leaves some behind calls the next.
        if !task.is_null()
            && team.tasks.waiting.load(Ordering::Relaxed) > 0
            && team.gang.anyone_sleeps()
        {
            // SAFETY: we take part in the region.
            unsafe { super::wait::wake_for(team, task) };
        }
    }
    if task.is_null() {
        // SAFETY: our own deque.
        if let Some(own) = unsafe { member.deque.pop(allowed) } {
            task = own;
        } else {
            // SAFETY: the caller's contract.
            task = unsafe { super::wait::steal(thread, allowed) };
        }
    }
    if task.is_null() {
        return false;
    }
    // SAFETY: just taken, by us alone.
    unsafe { execute(thread, task) };
    true
}
