//! Traced critical and ordered sections, locks and nestable locks.
//!
//! OpenMP 5.2, sections 15.2, 15.10, 18.9.
//!
//! A lock is identified to a tool by its address (`ompt_wait_id_t`), an ordered section by its
//! team's.

use std::ffi::c_void;

use super::callbacks::{self, BEGIN, END};
use super::record::{enter_entry, state};
use crate::ident::Ident;
use crate::lock;
use crate::thread::by_number;
use crate::{dispatch, fortran};

/// Kinds of `ompt_mutex_t`.
mod kind {
    pub const LOCK: i32 = 1;
    pub const TEST_LOCK: i32 = 2;
    pub const NEST_LOCK: i32 = 3;
    pub const TEST_NEST_LOCK: i32 = 4;
    pub const CRITICAL: i32 = 5;
    pub const ORDERED: i32 = 7;
}

/// Implementation reported for all mutexes: waiters get them first come, first served
/// (`kmp_mutex_impl_queuing` of LLVM's runtime).
const QUEUING: u32 = 2;

fn wait_id(object: *mut c_void) -> u64 {
    object.addr() as u64
}

/// Reports the wait for a mutex around `take`.
fn acquire<T>(kind: i32, state: u32, wait: u64, hint: u32, take: impl FnOnce() -> T) -> T {
    let at = enter_entry(Some(state));
    callbacks::mutex_acquire(kind, hint, QUEUING, wait, at.code);
    at.me.wait.set(wait);
    let result = take();
    at.me.wait.set(0);
    callbacks::mutex_acquired(kind, wait, at.code);
    result
}

/// Implements `__kmpc_critical`.
///
/// # Safety
/// As for [`lock::critical`].
pub unsafe extern "C-unwind" fn critical(ident: *const Ident, gtid: i32, cell: *mut c_void) {
    let wait = wait_id(cell);
    acquire(kind::CRITICAL, state::CRITICAL, wait, 0, || {
        // SAFETY: a live lock object (callers' contract).
        unsafe { lock::critical(ident, gtid, cell) }
    });
}

/// Implements `__kmpc_critical_with_hint`.
///
/// # Safety
/// As for [`lock::critical_with_hint`].
pub unsafe extern "C-unwind" fn critical_with_hint(
    ident: *const Ident,
    gtid: i32,
    cell: *mut c_void,
    hint: u32,
) {
    let wait = wait_id(cell);
    acquire(kind::CRITICAL, state::CRITICAL, wait, hint, || {
        // SAFETY: a live lock object (callers' contract).
        unsafe { lock::critical_with_hint(ident, gtid, cell, hint) }
    });
}

/// Implements `__kmpc_end_critical`.
///
/// # Safety
/// As for [`lock::end_critical`].
pub unsafe extern "C-unwind" fn end_critical(ident: *const Ident, gtid: i32, cell: *mut c_void) {
    let at = enter_entry(None);
    // SAFETY: a live lock object (callers' contract).
    unsafe { lock::end_critical(ident, gtid, cell) };
    callbacks::mutex_released(kind::CRITICAL, wait_id(cell), at.code);
}

/// Implements `__kmpc_ordered`.
pub unsafe extern "C-unwind" fn ordered(ident: *const Ident, gtid: i32) {
    let wait = std::ptr::from_ref(by_number(gtid).team()).addr() as u64;
    acquire(kind::ORDERED, state::ORDERED, wait, 0, || {
        // SAFETY: a live lock object (callers' contract).
        unsafe { dispatch::ordered_begin(ident, gtid) }
    });
}

/// Implements `__kmpc_end_ordered`.
pub unsafe extern "C-unwind" fn end_ordered(ident: *const Ident, gtid: i32) {
    let at = enter_entry(None);
    let wait = std::ptr::from_ref(by_number(gtid).team()).addr() as u64;
    // SAFETY: a live lock object (callers' contract).
    unsafe { dispatch::ordered_end(ident, gtid) };
    callbacks::mutex_released(kind::ORDERED, wait, at.code);
}

fn report_init(kind: i32, hint: u32, object: *mut c_void) {
    let at = enter_entry(None);
    callbacks::lock_init(kind, hint, QUEUING, wait_id(object), at.code);
}

fn report_destroy(kind: i32, object: *mut c_void) {
    let at = enter_entry(None);
    callbacks::lock_destroy(kind, wait_id(object), at.code);
}

unsafe fn set_lock(object: *mut c_void) {
    acquire(kind::LOCK, state::LOCK, wait_id(object), 0, || {
        // SAFETY: a live lock object (callers' contract).
        unsafe { lock::set(object) }
    });
}

unsafe fn unset_lock(object: *mut c_void) {
    let at = enter_entry(None);
    // SAFETY: a live lock object (callers' contract).
    unsafe { lock::unset(object) };
    callbacks::mutex_released(kind::LOCK, wait_id(object), at.code);
}

unsafe fn try_lock(object: *mut c_void) -> i32 {
    let (at, wait) = (enter_entry(None), wait_id(object));
    callbacks::mutex_acquire(kind::TEST_LOCK, 0, QUEUING, wait, at.code);
    // SAFETY: a live lock object (callers' contract).
    let taken = unsafe { lock::test(object) };
    if taken != 0 {
        callbacks::mutex_acquired(kind::TEST_LOCK, wait, at.code);
    }
    taken
}

/// Reports that a nestable lock is now held `depth` times.
fn report_nested(kind: i32, wait: u64, depth: u32, code: usize) {
    match depth {
        0 => {}
        1 => callbacks::mutex_acquired(kind, wait, code),
        _ => callbacks::nest_lock(BEGIN, wait, code),
    }
}

unsafe fn set_nest(object: *mut c_void) {
    let (at, wait) = (enter_entry(Some(state::LOCK)), wait_id(object));
    callbacks::mutex_acquire(kind::NEST_LOCK, 0, QUEUING, wait, at.code);
    at.me.wait.set(wait);
    // SAFETY: callers pass a live nestable lock, which this thread holds afterwards.
    let depth = unsafe {
        lock::nest_set(object);
        lock::depth(object)
    };
    at.me.wait.set(0);
    report_nested(kind::NEST_LOCK, wait, depth, at.code);
}

unsafe fn unset_nest(object: *mut c_void) {
    let (at, wait) = (enter_entry(None), wait_id(object));
    // SAFETY: callers pass a live nestable lock that this thread holds.
    let depth = unsafe { lock::depth(object) };
    // SAFETY: callers pass a live nestable lock that this thread holds.
    unsafe { lock::nest_unset(object) };
    if depth > 1 {
        callbacks::nest_lock(END, wait, at.code);
    } else {
        callbacks::mutex_released(kind::NEST_LOCK, wait, at.code);
    }
}

unsafe fn try_nest(object: *mut c_void) -> i32 {
    let (at, wait) = (enter_entry(None), wait_id(object));
    callbacks::mutex_acquire(kind::TEST_NEST_LOCK, 0, QUEUING, wait, at.code);
    // SAFETY: a live lock object (callers' contract).
    let depth = unsafe { lock::nest_test(object) };
    report_nested(kind::TEST_NEST_LOCK, wait, depth as u32, at.code);
    depth
}

macro_rules! entries {
    ($($name:ident $located:ident ($object:ident $(, $hint:ident)?) $(-> $ret:ty)? $body:block)*) => {$(
        /// Implements the routine of this name.
        ///
        /// # Safety
        /// The argument points to a live lock object of the guest.
        pub unsafe extern "C-unwind" fn $name($object: *mut c_void $(, $hint: u32)?) $(-> $ret)? $body

        /// Implements the same routine as compilers call it.
        ///
        /// # Safety
        /// The argument points to a live lock object of the guest.
        pub unsafe extern "C-unwind" fn $located(
            _ident: *const Ident,
            _gtid: i32,
            $object: *mut c_void
            $(, $hint: u32)?
        ) $(-> $ret)? $body
    )*};
}
entries! {
    init init_at (object) {
        // SAFETY: a live lock object (callers' contract).
        unsafe { lock::init(object) };
        report_init(kind::LOCK, 0, object);
    }
    init_hint init_hint_at (object, hint) {
        // SAFETY: a live lock object (callers' contract).
        unsafe { lock::init(object) };
        report_init(kind::LOCK, hint, object);
    }
    nest_init nest_init_at (object) {
        // SAFETY: a live lock object (callers' contract).
        unsafe { lock::nest_init(object) };
        report_init(kind::NEST_LOCK, 0, object);
    }
    nest_init_hint nest_init_hint_at (object, hint) {
        // SAFETY: a live lock object (callers' contract).
        unsafe { lock::nest_init(object) };
        report_init(kind::NEST_LOCK, hint, object);
    }
    destroy destroy_at (object) {
        report_destroy(kind::LOCK, object);
        // SAFETY: a live lock object (callers' contract).
        unsafe { lock::destroy(object) };
    }
    nest_destroy nest_destroy_at (object) {
        report_destroy(kind::NEST_LOCK, object);
        // SAFETY: a live lock object (callers' contract).
        unsafe { lock::nest_destroy(object) };
    }
    set set_at (object) {
        // SAFETY: a live lock object (callers' contract).
        unsafe { set_lock(object) }
    }
    unset unset_at (object) {
        // SAFETY: a live lock object (callers' contract).
        unsafe { unset_lock(object) }
    }
    test test_at (object) -> i32 {
        // SAFETY: a live lock object (callers' contract).
        unsafe { try_lock(object) }
    }
    nest_set nest_set_at (object) {
        // SAFETY: a live lock object (callers' contract).
        unsafe { set_nest(object) }
    }
    nest_unset nest_unset_at (object) {
        // SAFETY: a live lock object (callers' contract).
        unsafe { unset_nest(object) }
    }
    nest_test nest_test_at (object) -> i32 {
        // SAFETY: a live lock object (callers' contract).
        unsafe { try_nest(object) }
    }
}

/// Implements `omp_init_lock_with_hint` for Fortran.
///
/// # Safety
/// The pointers are valid.
pub unsafe extern "C-unwind" fn init_hint_fortran(object: *mut c_void, hint: *const i32) {
    // SAFETY: the pointers are valid (caller's contract).
    unsafe {
        fortran::init_lock_hint(object, hint);
        report_init(kind::LOCK, *hint as u32, object);
    }
}

/// Implements `omp_init_nest_lock_with_hint` for Fortran.
///
/// # Safety
/// The pointers are valid.
pub unsafe extern "C-unwind" fn nest_init_hint_fortran(object: *mut c_void, hint: *const i32) {
    // SAFETY: the pointers are valid (caller's contract).
    unsafe {
        fortran::init_lock_hint(object, hint);
        report_init(kind::NEST_LOCK, *hint as u32, object);
    }
}
