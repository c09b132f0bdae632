//! Reductions at the end of worksharing and parallel constructs: `__kmpc_reduce*`.
//!
//! OpenMP 5.2, section 5.5 (reduction clauses).
//!
//! The compiler offers up to three methods, and the runtime returns its choice: 1, combine here
//! (under a lock, or alone after a tree has combined the other threads' lists); 2, combine with
//! atomics; 0, nothing left to do. Small teams use atomics if offered and otherwise the lock.
//! Larger ones use the tree, in which no two threads access the same list.

use omp_abi::ident_flag;
use std::ffi::c_void;
use std::sync::atomic::Ordering;

use crate::icv::settings;
use crate::ident::Ident;
use crate::lock;
use crate::thread::{Thread, by_number};

/// Method by which a reduction combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// For a team of one that is the only team of its league.
    Alone,
    /// Each thread combines under a lock.
    Critical,
    /// Each thread combines with atomics.
    Atomic,
    /// Threads combine along the barrier's tree; the master finishes.
    Tree,
}

/// Combines list `rhs` into list `lhs`.
pub type Combine = Option<unsafe extern "C-unwind" fn(lhs: *mut c_void, rhs: *mut c_void)>;

/// Maximum size of teams that combine under a lock or with atomics.
const SMALL_TEAM: u32 = 4;

fn choose(thread: &Thread, ident: *const Ident, data: *mut c_void, combine: Combine) -> Method {
    // SAFETY: an ident of the compiler, or null.
    let atomic =
        unsafe { ident.as_ref() }.is_some_and(|i| i.flags & ident_flag::ATOMIC_REDUCE != 0);
    let tree = !data.is_null() && combine.is_some();
    let shape = thread.team().shape();
    let size = shape.size;
    match () {
        () if size == 1 && shape.league.0 == 1 => Method::Alone,
        // The initial threads of a league reduce into the same variables.
        () if size == 1 => Method::Critical,
        // Threads that leave a canceled region wait for the others at plain barriers, which combine
        // nothing.
        () if size > SMALL_TEAM && tree && !settings().cancellation => Method::Tree,
        () if atomic => Method::Atomic,
        () => Method::Critical,
    }
}

/// Combines the lists of the team into the master's: each thread absorbs those that arrive at it.
/// The master returns when all are combined, the others when they have announced theirs.
///
/// # Safety
/// `thread` is the calling one, and `data` a list that `combine` understands and that lives until
/// [`release`].
unsafe fn gather(thread: &Thread, data: *mut c_void, combine: Combine) {
    let team = thread.team();
    thread.local().reduce_data.store(data, Ordering::Relaxed);
    // SAFETY: the thread takes part with its number; a child's list lives until the release, and
    // its pointer was stored before the arrival that the gather acquired.
    unsafe {
        team.gather(thread, |child| {
            let theirs = team.slot(child).local.reduce_data.load(Ordering::Relaxed);
            if let Some(combine) = combine {
                combine(data, theirs);
            }
        });
    }
}

unsafe fn release(thread: &Thread) {
    // SAFETY: callers have called `gather` on this thread.
    unsafe { thread.team().release(thread) };
}

/// Chooses and records the method. Returns the value for the compiler (1: combine alone or in the
/// critical section that is now held, 2: combine with atomics), or `None` for the tree.
///
/// # Safety
/// As for [`begin_nowait`]; `thread` is number `gtid`.
#[inline(always)]
unsafe fn enter(
    thread: &Thread,
    ident: *const Ident,
    gtid: i32,
    data: *mut c_void,
    combine: Combine,
    cell: *mut c_void,
) -> Option<i32> {
    let method = choose(thread, ident, data, combine);
    thread.local().reduce_method.set(method);
    match method {
        Method::Alone => Some(1),
        Method::Critical => {
            // SAFETY: `cell` is the cell of a critical section (caller's contract).
            unsafe { lock::critical(ident, gtid, cell) };
            Some(1)
        }
        Method::Atomic => Some(2),
        Method::Tree => None,
    }
}

/// Begins a reduction without a barrier at its end.
///
/// # Safety
/// `data` is a list of `count` pointers that `combine` understands; `cell` a critical section's.
pub unsafe extern "C-unwind" fn begin_nowait(
    ident: *const Ident,
    gtid: i32,
    _count: i32,
    _size: usize,
    data: *mut c_void,
    combine: Combine,
    cell: *mut c_void,
) -> i32 {
    let thread = by_number(gtid);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    match unsafe { enter(thread, ident, gtid, data, combine, cell) } {
        Some(answer) => answer,
        None => {
            // SAFETY: `data` is a list that `combine` understands (caller's contract); `release`
            // follows.
            unsafe {
                gather(thread, data, combine);
                release(thread);
            }
            (thread.tid() == 0) as i32
        }
    }
}

/// Ends a reduction begun with [`begin_nowait`].
///
/// # Safety
/// As for [`begin_nowait`].
pub unsafe extern "C-unwind" fn end_nowait(ident: *const Ident, gtid: i32, cell: *mut c_void) {
    if by_number(gtid).local().reduce_method.get() == Method::Critical {
        // SAFETY: `cell` is the cell of the critical section that `begin_nowait` entered.
        unsafe { lock::end_critical(ident, gtid, cell) };
    }
}

/// Begins a reduction with a barrier at its end, after which all threads see the result.
///
/// # Safety
/// As for [`begin_nowait`].
pub unsafe extern "C-unwind" fn begin(
    ident: *const Ident,
    gtid: i32,
    _count: i32,
    _size: usize,
    data: *mut c_void,
    combine: Combine,
    cell: *mut c_void,
) -> i32 {
    let thread = by_number(gtid);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    match unsafe { enter(thread, ident, gtid, data, combine, cell) } {
        Some(answer) => answer,
        None => {
            // SAFETY: `data` is a list that `combine` understands (caller's contract). The master
            // calls `release` in `end`.
            unsafe {
                gather(thread, data, combine);
                if thread.tid() == 0 {
                    return 1;
                }
                release(thread);
            }
            0
        }
    }
}

/// Ends a reduction begun with [`begin`].
///
/// # Safety
/// As for [`begin`].
pub unsafe extern "C-unwind" fn end(ident: *const Ident, gtid: i32, cell: *mut c_void) {
    let thread = by_number(gtid);
    match thread.local().reduce_method.get() {
        Method::Alone => {}
        Method::Critical => {
            // SAFETY: `cell` is the cell that `begin` entered; the thread takes part with its
            // number.
            unsafe {
                lock::end_critical(ident, gtid, cell);
                thread.team().barrier(thread);
            }
        }
        // SAFETY: the thread takes part with its number.
        Method::Atomic => unsafe { thread.team().barrier(thread) },
        // SAFETY: the master, which has gathered in `begin`.
        Method::Tree => unsafe { release(thread) },
    }
}
