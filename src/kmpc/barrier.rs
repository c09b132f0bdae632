//! Barriers, flush, master and masked, single and copyprivate, scope.
//!
//! OpenMP 5.2, sections 15.3 (barrier), 15.8.5 (flush), 10.5 (masked), 11.1 (single), 11.2 (scope).
//!
//! These are thin entries: [`team`](super::team) implements barriers, and a flush is a fence.

use std::ffi::c_void;
use std::sync::atomic::{Ordering, fence};

use crate::ident::Ident;
use crate::thread::by_number;

/// Waits for all threads of the team.
pub unsafe extern "C-unwind" fn wait(_ident: *const Ident, gtid: i32) {
    let thread = by_number(gtid);
    // SAFETY: the thread takes part in its team's region with this number.
    unsafe { thread.team().barrier(thread) };
}

/// Waits for all threads of the team. Returns 1 to the master, which continues alone: the others
/// wait for [`end_barrier_master`].
pub unsafe extern "C-unwind" fn barrier_master(_ident: *const Ident, gtid: i32) -> i32 {
    let thread = by_number(gtid);
    let team = thread.team();
    if team.size() > 1 {
        // SAFETY: the thread takes part with this number; all others release here, the master in
        // `end_barrier_master`.
        unsafe {
            team.gather(thread, |_| {});
            if thread.tid() != 0 {
                team.release(thread);
            }
        }
    }
    (thread.tid() == 0) as i32
}

/// Ends the master's part of [`barrier_master`].
pub unsafe extern "C-unwind" fn end_barrier_master(_ident: *const Ident, gtid: i32) {
    let thread = by_number(gtid);
    let team = thread.team();
    if team.size() > 1 {
        // SAFETY: the master, which has gathered in `barrier_master`.
        unsafe { team.release(thread) };
    }
}

/// Waits for all threads of the team; returns 1 to the master, 0 to others.
pub unsafe extern "C-unwind" fn barrier_master_nowait(ident: *const Ident, gtid: i32) -> i32 {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { wait(ident, gtid) };
    (by_number(gtid).tid() == 0) as i32
}

/// Flushes all memory: a sequentially consistent fence.
pub unsafe extern "C-unwind" fn flush(_ident: *const Ident) {
    fence(Ordering::SeqCst);
}

/// Returns 1 to the master, 0 to others.
pub unsafe extern "C-unwind" fn master(_ident: *const Ident, gtid: i32) -> i32 {
    (by_number(gtid).tid() == 0) as i32
}

/// Ends `master`; does nothing.
pub unsafe extern "C-unwind" fn end_master(_ident: *const Ident, _gtid: i32) {}

/// Returns 1 to the thread that the `filter` clause names, 0 to others.
pub unsafe extern "C-unwind" fn masked(_ident: *const Ident, gtid: i32, filter: i32) -> i32 {
    (by_number(gtid).tid() as i32 == filter) as i32
}

/// Ends `masked`; does nothing.
pub unsafe extern "C-unwind" fn end_masked(_ident: *const Ident, _gtid: i32) {}

/// Returns 1 to the first thread that arrives at this `single`, 0 to others.
pub unsafe extern "C-unwind" fn single(_ident: *const Ident, gtid: i32) -> i32 {
    let thread = by_number(gtid);
    let team = thread.team();
    if team.size() == 1 {
        return 1;
    }
    let local = thread.local();
    let mine = local.singles.get();
    local.singles.set(mine + 1);
    // Relaxed: the construct's own barrier orders the block with subsequent code.
    let taken = team.singles.load(Ordering::Relaxed);
    (taken == mine
        && team
            .singles
            .compare_exchange(mine, mine + 1, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()) as i32
}

/// Ends `single`; does nothing.
pub unsafe extern "C-unwind" fn end_single(_ident: *const Ident, _gtid: i32) {}

/// Copies the list of the thread that executed the `single` (`did_it`) to the other threads' lists.
///
/// # Safety
/// `copy(dst, src)` copies between lists of the form of `data`.
pub unsafe extern "C-unwind" fn copyprivate(
    _ident: *const Ident,
    gtid: i32,
    _size: usize,
    data: *mut c_void,
    copy: Option<unsafe extern "C-unwind" fn(*mut c_void, *mut c_void)>,
    did_it: i32,
) {
    let thread = by_number(gtid);
    let team = thread.team();
    if team.size() == 1 {
        return;
    }
    if did_it != 0 {
        team.copyprivate.store(data, Ordering::Release);
    }
    // SAFETY: the thread takes part with this number.
    unsafe { team.barrier(thread) };
    if did_it == 0
        && let Some(copy) = copy
    {
        // SAFETY: the other thread's list lives until the second barrier, since its owner waits
        // there.
        unsafe { copy(data, team.copyprivate.load(Ordering::Acquire)) };
    }
    // SAFETY: the thread takes part with this number.
    unsafe { team.barrier(thread) };
}

/// Returns the list of the thread that passed one. The compiler emits the copies and a barrier.
pub unsafe extern "C-unwind" fn copyprivate_light(
    _ident: *const Ident,
    gtid: i32,
    data: *mut c_void,
) -> *mut c_void {
    let thread = by_number(gtid);
    let team = thread.team();
    if team.size() == 1 {
        return data;
    }
    if !data.is_null() {
        team.copyprivate.store(data, Ordering::Release);
    }
    // SAFETY: the thread takes part with this number.
    unsafe { team.barrier(thread) };
    team.copyprivate.load(Ordering::Acquire)
}

/// Begins or ends `scope`; does nothing: its barrier is a call of its own.
pub unsafe extern "C-unwind" fn scope(_ident: *const Ident, _gtid: i32, _reserved: *mut c_void) {}
