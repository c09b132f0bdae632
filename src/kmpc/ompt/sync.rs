//! Traced synchronization: barriers, taskwait, taskgroup, masked, single, reductions, flush,
//! cancellation, `error`.
//!
//! OpenMP 5.2, sections 15.3 to 15.8, 10.5, 11.1, 16, 8.5.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use super::callbacks::{self, BEGIN, END};
use super::record::{current, enter_entry, state};
use crate::ident::Ident;
use crate::reduce::{self, Combine};
use crate::task::wait;
use crate::{barrier, cancel as cancellation, program, routines};
use omp_abi::ident_flag;
use ompvm_support::sync::lock;

/// Kinds of `ompt_sync_region_t`.
mod kind {
    pub const EXPLICIT: i32 = 3;
    pub const IMPLEMENTATION: i32 = 4;
    pub const TASKWAIT: i32 = 5;
    pub const TASKGROUP: i32 = 6;
    pub const REDUCTION: i32 = 7;
    pub const WORKSHARE: i32 = 8;
}

fn barrier_kind(ident: *const Ident) -> (i32, u32) {
    // SAFETY: null or the compiler's constant.
    let flags = unsafe { ident.as_ref() }.map_or(0, |ident| ident.flags);
    if flags & ident_flag::EXPLICIT_BARRIER != 0 {
        (kind::EXPLICIT, state::BARRIER_EXPLICIT)
    } else if flags & ident_flag::IMPLICIT_BARRIERS != 0 {
        (kind::WORKSHARE, state::BARRIER_WORKSHARE)
    } else {
        (kind::IMPLEMENTATION, state::BARRIER_IMPLEMENTATION)
    }
}

/// Reports a synchronization around `run`.
pub(super) fn region<T>(kind: i32, state: u32, run: impl FnOnce() -> T) -> T {
    let at = enter_entry(Some(state));
    let (parallel, task) = at.words();
    callbacks::sync_region(kind, BEGIN, parallel, task, at.code);
    callbacks::sync_region_wait(kind, BEGIN, parallel, task, at.code);
    let result = run();
    // All children are complete, so no sibling names them any more.
    lock(&at.task.kept).clear();
    callbacks::sync_region_wait(kind, END, parallel, task, at.code);
    callbacks::sync_region(kind, END, parallel, task, at.code);
    result
}

/// Implements `__kmpc_barrier`.
pub unsafe extern "C-unwind" fn barrier(ident: *const Ident, gtid: i32) {
    let (kind, state) = barrier_kind(ident);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    region(kind, state, || unsafe { barrier::wait(ident, gtid) });
}

/// Implements `__kmpc_cancel_barrier`.
pub unsafe extern "C-unwind" fn cancel_barrier(ident: *const Ident, gtid: i32) -> i32 {
    let (kind, state) = barrier_kind(ident);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    region(kind, state, || unsafe {
        cancellation::barrier(ident, gtid)
    })
}

/// Implements `__kmpc_omp_taskwait`.
pub unsafe extern "C-unwind" fn taskwait(ident: *const Ident, gtid: i32) -> i32 {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    region(kind::TASKWAIT, state::TASKWAIT, || unsafe {
        wait::taskwait(ident, gtid)
    })
}

/// Implements `__kmpc_omp_taskyield`.
pub unsafe extern "C-unwind" fn taskyield(ident: *const Ident, gtid: i32, part: i32) -> i32 {
    let at = enter_entry(None);
    at.me.yields.set(true);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    let result = unsafe { wait::taskyield(ident, gtid, part) };
    at.me.yields.set(false);
    result
}

/// Implements `__kmpc_taskgroup`.
pub unsafe extern "C-unwind" fn begin_group(ident: *const Ident, gtid: i32) {
    let at = enter_entry(None);
    let (parallel, task) = at.words();
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { wait::begin_group(ident, gtid) };
    callbacks::sync_region(kind::TASKGROUP, BEGIN, parallel, task, at.code);
}

/// Implements `__kmpc_end_taskgroup`.
pub unsafe extern "C-unwind" fn end_group(ident: *const Ident, gtid: i32) {
    let at = enter_entry(Some(state::TASKGROUP));
    let (parallel, task) = at.words();
    callbacks::sync_region_wait(kind::TASKGROUP, BEGIN, parallel, task, at.code);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { wait::end_group(ident, gtid) };
    callbacks::sync_region_wait(kind::TASKGROUP, END, parallel, task, at.code);
    callbacks::sync_region(kind::TASKGROUP, END, parallel, task, at.code);
}

/// Reports one end of `masked`.
fn masked_at(endpoint: i32) {
    let at = enter_entry(None);
    let (parallel, task) = at.words();
    callbacks::masked(endpoint, parallel, task, at.code);
}

/// Implements `__kmpc_master`.
pub unsafe extern "C-unwind" fn master(ident: *const Ident, gtid: i32) -> i32 {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    let mine = unsafe { barrier::master(ident, gtid) };
    if mine != 0 {
        masked_at(BEGIN);
    }
    mine
}

/// Implements `__kmpc_masked`.
pub unsafe extern "C-unwind" fn masked(ident: *const Ident, gtid: i32, filter: i32) -> i32 {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    let mine = unsafe { barrier::masked(ident, gtid, filter) };
    if mine != 0 {
        masked_at(BEGIN);
    }
    mine
}

/// Implements `__kmpc_end_master` and `__kmpc_end_masked`.
pub unsafe extern "C-unwind" fn end_masked(_ident: *const Ident, _gtid: i32) {
    masked_at(END);
}

/// Kinds of `ompt_work_t`.
mod work {
    pub const EXECUTOR: i32 = 3;
    pub const OTHER: i32 = 4;
    pub const SCOPE: i32 = 8;
}

/// Reports one end of a worksharing construct without iterations.
fn work_at(kind: i32, endpoint: i32) {
    let at = enter_entry(None);
    let (parallel, task) = at.words();
    callbacks::work(kind, endpoint, parallel, task, 1, at.code);
}

/// Implements `__kmpc_single`.
pub unsafe extern "C-unwind" fn single(ident: *const Ident, gtid: i32) -> i32 {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    let mine = unsafe { barrier::single(ident, gtid) };
    if mine != 0 {
        work_at(work::EXECUTOR, BEGIN);
    } else {
        work_at(work::OTHER, BEGIN);
        work_at(work::OTHER, END);
    }
    mine
}

/// Implements `__kmpc_end_single`.
pub unsafe extern "C-unwind" fn end_single(_ident: *const Ident, _gtid: i32) {
    work_at(work::EXECUTOR, END);
}

/// Implements `__kmpc_copyprivate`: two barriers of the implementation, reported as one.
///
/// # Safety
/// As for [`barrier::copyprivate`].
pub unsafe extern "C-unwind" fn copyprivate(
    ident: *const Ident,
    gtid: i32,
    size: usize,
    data: *mut c_void,
    copy: Option<unsafe extern "C-unwind" fn(*mut c_void, *mut c_void)>,
    did_it: i32,
) {
    region(kind::WORKSHARE, state::BARRIER_WORKSHARE, || {
        // SAFETY: the arguments are those of this entry, whose contract is the same.
        unsafe { barrier::copyprivate(ident, gtid, size, data, copy, did_it) }
    });
}

/// Implements `__kmpc_scope`.
pub unsafe extern "C-unwind" fn scope(ident: *const Ident, gtid: i32, reserved: *mut c_void) {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { barrier::scope(ident, gtid, reserved) };
    work_at(work::SCOPE, BEGIN);
}

/// Implements `__kmpc_end_scope`.
pub unsafe extern "C-unwind" fn end_scope(_: *const Ident, _gtid: i32, _reserved: *mut c_void) {
    work_at(work::SCOPE, END);
}

/// Reports one end of a reduction.
fn reduction_at(endpoint: i32) {
    let at = enter_entry(Some(state::REDUCTION));
    let (parallel, task) = at.words();
    callbacks::reduction(kind::REDUCTION, endpoint, parallel, task, at.code);
}

macro_rules! reductions {
    ($($begin:ident $end:ident = $real_begin:path, $real_end:path;)*) => {$(
        /// Begins a reduction.
        ///
        /// # Safety
        /// As for [`reduce::begin_nowait`].
        pub unsafe extern "C-unwind" fn $begin(
            ident: *const Ident,
            gtid: i32,
            count: i32,
            size: usize,
            data: *mut c_void,
            combine: Combine,
            cell: *mut c_void,
        ) -> i32 {
            reduction_at(BEGIN);
            // SAFETY: the arguments are those of this entry, whose contract is the same.
            let answer = unsafe { $real_begin(ident, gtid, count, size, data, combine, cell) };
            if answer == 0 {
                reduction_at(END);
            }
            answer
        }

        /// Ends a reduction.
        ///
        /// # Safety
        /// As for [`reduce::end_nowait`].
        pub unsafe extern "C-unwind" fn $end(ident: *const Ident, gtid: i32, cell: *mut c_void) {
            reduction_at(END);
            // SAFETY: the arguments are those of this entry, whose contract is the same.
            unsafe { $real_end(ident, gtid, cell) };
        }
    )*};
}
reductions! {
    reduce end_reduce = reduce::begin, reduce::end;
    reduce_nowait end_reduce_nowait = reduce::begin_nowait, reduce::end_nowait;
}

/// Implements `__kmpc_flush`.
pub unsafe extern "C-unwind" fn flush(ident: *const Ident) {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { barrier::flush(ident) };
    let me = current();
    callbacks::flush(me.data(), me.code.get());
}

/// Returns the part of `ompt_cancel_flag_t` for the construct of a request or a cancellation point.
fn canceled(construct: i32) -> u32 {
    match construct {
        1 => 0x01,
        2 => 0x04,
        3 => 0x02,
        _ => 0x08,
    }
}

/// `ompt_cancel_activated`.
const ACTIVATED: u32 = 0x10;
/// `ompt_cancel_detected`.
const DETECTED: u32 = 0x20;

/// Implements `__kmpc_cancel`.
pub unsafe extern "C-unwind" fn cancel(ident: *const Ident, gtid: i32, construct: i32) -> i32 {
    let at = enter_entry(None);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    let leave = unsafe { cancellation::request(ident, gtid, construct) };
    if leave != 0 {
        let flags = canceled(construct) | ACTIVATED;
        callbacks::cancel(at.task.data(), flags, at.code);
    }
    leave
}

/// Implements `__kmpc_cancellationpoint`.
pub unsafe extern "C-unwind" fn cancellation_point(
    ident: *const Ident,
    gtid: i32,
    construct: i32,
) -> i32 {
    let at = enter_entry(None);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    let leave = unsafe { cancellation::point(ident, gtid, construct) };
    if leave != 0 {
        let flags = canceled(construct) | DETECTED;
        callbacks::cancel(at.task.data(), flags, at.code);
    }
    leave
}

/// Implements `__kmpc_error`.
///
/// # Safety
/// As for [`program::error`].
pub unsafe extern "C-unwind" fn error(ident: *const Ident, severity: i32, message: *const c_char) {
    let at = enter_entry(None);
    let length = if message.is_null() {
        0
    } else {
        // SAFETY: the arguments are those of this entry, whose contract is the same.
        unsafe { CStr::from_ptr(message) }.to_bytes().len()
    };
    callbacks::error(severity, message, length, at.code);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { program::error(ident, severity, message) };
}

/// Implements `omp_control_tool`: returns the tool's result; -1 if it has no such callback.
pub unsafe extern "C-unwind" fn control_tool(
    command: i32,
    modifier: i32,
    argument: *mut c_void,
) -> i32 {
    if !super::on() {
        // SAFETY: the routine ignores its arguments.
        return unsafe { routines::control_tool(command, modifier, null_mut()) };
    }
    let at = enter_entry(None);
    callbacks::control_tool(command as u64, modifier as u64, argument, at.code).unwrap_or(-1)
}
