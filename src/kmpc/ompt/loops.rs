//! Traced worksharing loops, `distribute` and `sections`. OpenMP 5.2, sections 11.3, 11.5, 11.6.
//!
//! All chunks of a thread in a statically scheduled loop are reported when the loop begins, since
//! the thread requests no others; in a dispatched loop each chunk is reported when the thread gets
//! it.

use super::callbacks::{self, BEGIN, END};
use super::record::{EntryScope, enter_entry};
use crate::ident::Ident;
use crate::iteration::{Iteration, trip_count, value, wrapping_trip_count};
use crate::static_loop;
use crate::thread::by_number;
use crate::{dispatch, doacross};
use omp_abi::{ident_flag, schedule as kind};

/// Kinds of `ompt_work_t`.
mod work {
    pub const SECTIONS: i32 = 2;
    pub const DISTRIBUTE: i32 = 6;
    pub const STATIC: i32 = 10;
}

/// Kinds of `ompt_dispatch_t`.
mod chunk {
    pub const SECTION: i32 = 2;
    pub const LOOP: i32 = 3;
    pub const DISTRIBUTE: i32 = 5;
}

fn static_kind(ident: *const Ident) -> i32 {
    // SAFETY: null or the compiler's constant.
    match unsafe { ident.as_ref() }.map_or(0, |ident| ident.flags) {
        flags if flags & ident_flag::SECTIONS != 0 => work::SECTIONS,
        flags if flags & ident_flag::DISTRIBUTE != 0 => work::DISTRIBUTE,
        _ => work::STATIC,
    }
}

/// Reports a chunk of a loop, or a section.
fn report_chunk(at: &EntryScope, kind: i32, start: u64, iterations: u64) {
    let (parallel, task) = at.words();
    let given = callbacks::Chunk { start, iterations };
    let (kind, instance) = match kind {
        work::SECTIONS => (chunk::SECTION, at.code as u64),
        work::DISTRIBUTE => (chunk::DISTRIBUTE, (&raw const given).addr() as u64),
        _ => (chunk::LOOP, (&raw const given).addr() as u64),
    };
    callbacks::dispatch(parallel, task, kind, instance);
}

/// Reports the beginning of a loop, and this thread's share of it, which `share` computes.
///
/// # Safety
/// `lower` and `upper` are valid.
unsafe fn begin<T: Iteration>(
    work: i32,
    lower: *mut T,
    upper: *mut T,
    step: i64,
    share: impl FnOnce() -> i64,
) {
    let at = enter_entry(None);
    let (parallel, task) = at.words();
    // SAFETY: the bounds are valid (caller's contract).
    let (all, trip) = unsafe { (*lower, wrapping_trip_count(*lower, *upper, step)) };
    callbacks::work(work, BEGIN, parallel, task, trip, at.code);
    // The stride, in values of the loop's variable.
    let stride = share();
    // SAFETY: the bounds are valid (caller's contract).
    let (first, each) = unsafe { (*lower, wrapping_trip_count(*lower, *upper, step)) };
    if trip == 0 || each == 0 {
        return;
    }
    // The loop may use the whole range of its type, but the number of its iterations does not
    // overflow.
    let before = trip_count(all, first, step) - 1;
    let stride = match step {
        0 => 0,
        _ => stride.unsigned_abs() / step.unsigned_abs(),
    };
    let mut number = before;
    while number < trip {
        let start = value(all, number, step).widen();
        report_chunk(&at, work, start, each.min(trip - number));
        if stride == 0 || !callbacks::dispatches() {
            return;
        }
        match number.checked_add(stride) {
            Some(next) => number = next,
            None => return,
        }
    }
}

/// Implements `__kmpc_for_static_fini`.
pub unsafe extern "C-unwind" fn fini(ident: *const Ident, _gtid: i32) {
    let at = enter_entry(None);
    let (parallel, task) = at.words();
    callbacks::work(static_kind(ident), END, parallel, task, 0, at.code);
}

/// Reports the beginning of a dispatched loop.
fn begin_dispatched(gtid: i32, schedule: i32, chunk: i64, trip: u64) {
    let at = enter_entry(None);
    let (parallel, task) = at.words();
    let kind = dispatch::work_kind(by_number(gtid), schedule, chunk);
    at.task.work.set(kind);
    callbacks::work(kind, BEGIN, parallel, task, trip, at.code);
}

/// Reports the result of [`dispatch`]: a chunk, or the loop's end.
fn next(more: bool, start: u64, iterations: u64) {
    let at = enter_entry(None);
    let (parallel, task) = at.words();
    let kind = at.task.work.get();
    if more {
        report_chunk(&at, kind, start, iterations);
    } else {
        callbacks::work(kind, END, parallel, task, 0, at.code);
    }
}

macro_rules! entries {
    ($($init:ident, $dist:ident, $dinit:ident, $ddist:ident, $next:ident: $t:ty, $s:ty;)*) => {$(
        /// Implements `__kmpc_for_static_init_*`.
        ///
        /// # Safety
        /// As for the entry of this name in [`static_loop`].
        pub unsafe extern "C-unwind" fn $init(
            ident: *const Ident,
            gtid: i32,
            schedule: i32,
            last: *mut i32,
            lower: *mut $t,
            upper: *mut $t,
            stride: *mut $s,
            step: $s,
            chunk: $s,
        ) {
            let distributed = matches!(schedule, kind::DISTRIBUTE | kind::DISTRIBUTE_CHUNKED);
            let work = if distributed { work::DISTRIBUTE } else { static_kind(ident) };
            // SAFETY: the arguments are those of this entry, whose contract is the same.
            unsafe {
                begin(work, lower, upper, step.into(), || {
                    static_loop::$init(
                        ident, gtid, schedule, last, lower, upper, stride, step, chunk,
                    );
                    stride.as_ref().map_or(0, |&stride| stride.into())
                });
            }
        }

        /// Implements `__kmpc_dist_for_static_init_*`.
        ///
        /// # Safety
        /// As for the entry of this name in [`static_loop`].
        pub unsafe extern "C-unwind" fn $dist(
            ident: *const Ident,
            gtid: i32,
            schedule: i32,
            last: *mut i32,
            lower: *mut $t,
            upper: *mut $t,
            upper_dist: *mut $t,
            stride: *mut $s,
            step: $s,
            chunk: $s,
        ) {
            // SAFETY: the arguments are those of this entry, whose contract is the same.
            unsafe {
                begin(static_kind(ident), lower, upper, step.into(), || {
                    static_loop::$dist(
                        ident, gtid, schedule, last, lower, upper, upper_dist, stride, step, chunk,
                    );
                    stride.as_ref().map_or(0, |&stride| stride.into())
                });
            }
        }

        /// Implements `__kmpc_dispatch_init_*`.
        pub unsafe extern "C-unwind" fn $dinit(
            ident: *const Ident,
            gtid: i32,
            schedule: i32,
            lower: $t,
            upper: $t,
            step: $s,
            chunk: $s,
        ) {
            begin_dispatched(gtid, schedule, chunk.into(), trip_count(lower, upper, step.into()));
            // SAFETY: the arguments are those of this entry, whose contract is the same.
            unsafe { dispatch::$init(ident, gtid, schedule, lower, upper, step, chunk) };
        }

        /// Implements `__kmpc_dist_dispatch_init_*`.
        ///
        /// # Safety
        /// As for the entry of this name in [`dispatch`].
        pub unsafe extern "C-unwind" fn $ddist(
            ident: *const Ident,
            gtid: i32,
            schedule: i32,
            last: *mut i32,
            lower: $t,
            upper: $t,
            step: $s,
            chunk: $s,
        ) {
            begin_dispatched(gtid, schedule, chunk.into(), trip_count(lower, upper, step.into()));
            // SAFETY: the arguments are those of this entry, whose contract is the same.
            unsafe { dispatch::$dist(ident, gtid, schedule, last, lower, upper, step, chunk) };
        }

        /// Implements `__kmpc_dispatch_next_*`.
        ///
        /// # Safety
        /// As for the entry of this name in [`dispatch`].
        pub unsafe extern "C-unwind" fn $next(
            ident: *const Ident,
            gtid: i32,
            last: *mut i32,
            lower: *mut $t,
            upper: *mut $t,
            stride: *mut $s,
        ) -> i32 {
            let mut step: $s = 1;
            let to = if stride.is_null() { &raw mut step } else { stride };
            // SAFETY: the arguments are those of this entry, whose contract is the same.
            unsafe {
                let more = dispatch::$next(ident, gtid, last, lower, upper, to);
                if more != 0 {
                    next(true, (*lower).widen(), trip_count(*lower, *upper, (*to).into()));
                } else {
                    next(false, 0, 0);
                }
                more
            }
        }
    )*};
}
entries! {
    init_i32, init_dist_i32, dinit_i32, ddist_i32, next_i32: i32, i32;
    init_u32, init_dist_u32, dinit_u32, ddist_u32, next_u32: u32, i32;
    init_i64, init_dist_i64, dinit_i64, ddist_i64, next_i64: i64, i64;
    init_u64, init_dist_u64, dinit_u64, ddist_u64, next_u64: u64, i64;
}

/// Implements `__kmpc_sections_init`.
pub unsafe extern "C-unwind" fn sections_init(ident: *const Ident, gtid: i32) {
    let at = enter_entry(None);
    let (parallel, task) = at.words();
    callbacks::work(work::SECTIONS, BEGIN, parallel, task, 0, at.code);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { dispatch::sections_init(ident, gtid) };
}

/// Implements `__kmpc_next_section`.
pub unsafe extern "C-unwind" fn next_section(ident: *const Ident, gtid: i32, sections: i32) -> i32 {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    let section = unsafe { dispatch::next_section(ident, gtid, sections) };
    if section < sections {
        let at = enter_entry(None);
        report_chunk(&at, work::SECTIONS, 0, 1);
    }
    section
}

/// Implements `__kmpc_end_sections`.
pub unsafe extern "C-unwind" fn sections_end(ident: *const Ident, gtid: i32) {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { dispatch::sections_end(ident, gtid) };
    let at = enter_entry(None);
    let (parallel, task) = at.words();
    callbacks::work(work::SECTIONS, END, parallel, task, 0, at.code);
}

/// A dependence source (`ompt_dependence_type_t`).
const SOURCE: i32 = 5;
/// A dependence sink.
const SINK: i32 = 6;

/// Reports the iteration that a doacross loop posts or waits for.
///
/// # Safety
/// `values` has a value for each loop of the nest.
unsafe fn doacross_at(gtid: i32, kind: i32, values: *const i64) {
    let at = enter_entry(None);
    // SAFETY: `values` has a value for each loop of the nest (caller's contract).
    let dims = unsafe { doacross::dims(by_number(gtid), values) };
    if dims == 0 {
        return;
    }
    let list: Vec<_> = (0..dims)
        .map(|i| callbacks::Dependence {
            // SAFETY: `values` has a value for each loop of the nest (caller's contract).
            variable: unsafe { *values.add(i) } as u64,
            kind,
        })
        .collect();
    callbacks::dependences(at.task.data(), list.as_ptr(), list.len() as i32);
}

/// Implements `__kmpc_doacross_wait`.
///
/// # Safety
/// As for [`doacross::wait`].
pub unsafe extern "C-unwind" fn doacross_wait(ident: *const Ident, gtid: i32, values: *const i64) {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe {
        doacross::wait(ident, gtid, values);
        doacross_at(gtid, SINK, values);
    }
}

/// Implements `__kmpc_doacross_post`.
///
/// # Safety
/// As for [`doacross::post`].
pub unsafe extern "C-unwind" fn doacross_post(ident: *const Ident, gtid: i32, values: *const i64) {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe {
        doacross::post(ident, gtid, values);
        doacross_at(gtid, SOURCE, values);
    }
}
