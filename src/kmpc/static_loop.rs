//! Static worksharing: `__kmpc_for_static_init_*`, `distribute` included.
//!
//! OpenMP 5.2, sections 11.5.3 (schedule clause), 11.6 (distribute).
//!
//! Each thread computes its share alone; nothing is shared. A chunk's bounds that would leave the
//! loop variable's type are clamped to the loop's end, and a thread without iterations gets an
//! empty range.

use crate::ident::Ident;
use crate::iteration::{Iteration, balanced, value, wrapping_trip_count};
use crate::thread::by_number;
use omp_abi::schedule as kind;

/// A thread's share of a loop.
struct Share<T: Iteration> {
    lower: T,
    upper: T,
    stride: T::Step,
    last: bool,
}

/// Returns an empty range that begins behind the loop's end: compiled loops compare its begin with
/// the loop's end (chunks of one iteration), or its end after a `min` with the loop's. If the type
/// has nothing behind the end, only the latter works, as in libomp.
fn empty<T: Iteration>(upper: T, step: i64) -> (T, T) {
    let behind = T::narrow(upper.widen().wrapping_add(step as u64));
    let (zero, one) = (T::narrow(0), T::narrow(1));
    match step >= 0 {
        true if behind > upper => (behind, upper),
        false if behind < upper => (behind, upper),
        true => (one, zero),
        false => (zero, one),
    }
}

/// Returns the share of `part` out of `parts`.
#[inline(always)]
fn share<T: Iteration>(
    kind: i32,
    lower: T,
    upper: T,
    step: i64,
    chunk: i64,
    trip: u64,
    (part, parts): (u64, u64),
) -> Share<T> {
    let chunk = chunk.max(1) as u64;
    match kind {
        kind::STATIC_CHUNKED | kind::DISTRIBUTE_CHUNKED => {
            let first = part.saturating_mul(chunk);
            let stride = T::step(chunk.wrapping_mul(parts).wrapping_mul(step as u64));
            if first >= trip {
                let (lower, upper) = empty(upper, step);
                return Share {
                    lower,
                    upper,
                    stride,
                    last: false,
                };
            }
            let end = first.saturating_add(chunk - 1).min(trip - 1);
            let last = ((trip - 1) / chunk) % parts == part;
            Share {
                lower: value(lower, first, step),
                upper: value(lower, end, step),
                stride,
                last,
            }
        }
        kind::STATIC_SIMD => {
            let span = trip.div_ceil(parts).div_ceil(chunk).saturating_mul(chunk);
            let first = part.saturating_mul(span);
            let stride = T::step(trip);
            if first >= trip {
                let (lower, upper) = empty(upper, step);
                return Share {
                    lower,
                    upper,
                    stride,
                    last: false,
                };
            }
            let end = first.saturating_add(span - 1);
            let last = end >= trip - 1;
            let upper = if last { upper } else { value(lower, end, step) };
            Share {
                lower: value(lower, first, step),
                upper,
                stride,
                last,
            }
        }
        _ => {
            let (first, count) = balanced(trip, part, parts);
            let stride = T::step(trip);
            if count == 0 {
                let (lower, upper) = empty(upper, step);
                return Share {
                    lower,
                    upper,
                    stride,
                    last: false,
                };
            }
            let end = first + count - 1;
            Share {
                lower: value(lower, first, step),
                upper: value(lower, end, step),
                stride,
                last: end == trip - 1,
            }
        }
    }
}

/// Computes the calling thread's share of a statically scheduled loop.
///
/// # Safety
/// All pointers are valid; `last` and `stride` may be null.
#[inline(always)]
unsafe fn init<T: Iteration>(
    gtid: i32,
    schedule: i32,
    last: *mut i32,
    lower: *mut T,
    upper: *mut T,
    stride: *mut T::Step,
    step: T::Step,
    chunk: T::Step,
) {
    let (step, chunk): (i64, i64) = (step.into(), chunk.into());
    let schedule = schedule & !(kind::MONOTONIC | kind::NONMONOTONIC);
    let thread = by_number(gtid);
    let shape = thread.team().shape();
    // SAFETY: the pointers are valid, `last` and `stride` if not null (caller's contract).
    unsafe {
        let (lo, hi) = (*lower, *upper);
        let trip = wrapping_trip_count(lo, hi, step);
        let (part, parts) = match schedule {
            kind::DISTRIBUTE | kind::DISTRIBUTE_CHUNKED => {
                (shape.league.1 as u64, shape.league.0 as u64)
            }
            _ => (thread.tid() as u64, shape.size as u64),
        };
        if trip == 0 {
            if !last.is_null() {
                *last = 0;
            }
            if !stride.is_null() {
                *stride = T::step(step as u64);
            }
            return;
        }
        let s = share(schedule, lo, hi, step, chunk, trip, (part, parts));
        *lower = s.lower;
        *upper = s.upper;
        if !stride.is_null() {
            *stride = s.stride;
        }
        if !last.is_null() {
            *last = s.last as i32;
        }
    }
}

/// Computes the shares of `distribute parallel for` in one call: first the team's (its end goes to
/// `upper_dist`), then the thread's share of that.
///
/// # Safety
/// All pointers are valid; `last` may be null.
#[inline(always)]
unsafe fn init_dist<T: Iteration>(
    gtid: i32,
    schedule: i32,
    last: *mut i32,
    lower: *mut T,
    upper: *mut T,
    upper_dist: *mut T,
    stride: *mut T::Step,
    step: T::Step,
    chunk: T::Step,
) {
    let (wide_step, chunk): (i64, i64) = (step.into(), chunk.into());
    let thread = by_number(gtid);
    let shape = thread.team().shape();
    let (teams, team) = (shape.league.0 as u64, shape.league.1 as u64);
    // SAFETY: the pointers are valid, `last` if not null (caller's contract).
    unsafe {
        let (lo, hi) = (*lower, *upper);
        let trip = wrapping_trip_count(lo, hi, wide_step);
        if trip == 0 {
            *upper_dist = hi;
            if !last.is_null() {
                *last = 0;
            }
            *stride = step;
            return;
        }
        let outer = share(kind::STATIC, lo, hi, wide_step, 0, trip, (team, teams));
        *upper_dist = outer.upper;
        let inner_trip = wrapping_trip_count(outer.lower, outer.upper, wide_step);
        let schedule = schedule & !(kind::MONOTONIC | kind::NONMONOTONIC);
        if inner_trip == 0 {
            (*lower, *upper) = (outer.lower, outer.upper);
            *stride = step;
            if !last.is_null() {
                *last = 0;
            }
            return;
        }
        let part = (thread.tid() as u64, shape.size as u64);
        let s = share(
            schedule,
            outer.lower,
            outer.upper,
            wide_step,
            chunk,
            inner_trip,
            part,
        );
        (*lower, *upper, *stride) = (s.lower, s.upper, s.stride);
        if !last.is_null() {
            *last = (s.last && outer.last) as i32;
        }
    }
}

macro_rules! entries {
    ($($init:ident, $dist:ident, $team:ident: $t:ty, $s:ty;)*) => {$(
        /// Computes the calling thread's share of a statically scheduled loop.
        ///
        /// # Safety
        /// The pointers are valid; `last` and `stride` may be null.
        pub unsafe extern "C-unwind" fn $init(
            _ident: *const Ident,
            gtid: i32,
            schedule: i32,
            last: *mut i32,
            lower: *mut $t,
            upper: *mut $t,
            stride: *mut $s,
            step: $s,
            chunk: $s,
        ) {
            // SAFETY: the pointers are valid, `last` and `stride` if not null (caller's contract).
            unsafe { init(gtid, schedule, last, lower, upper, stride, step, chunk) }
        }

        /// Computes the calling thread's share of a loop distributed over teams and threads.
        ///
        /// # Safety
        /// The pointers are valid; `last` may be null.
        pub unsafe extern "C-unwind" fn $dist(
            _ident: *const Ident,
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
            // SAFETY: the pointers are valid, `last` if not null (caller's contract).
            unsafe {
                init_dist(gtid, schedule, last, lower, upper, upper_dist, stride, step, chunk)
            }
        }

        /// Computes the calling team's chunks of a distributed loop.
        ///
        /// # Safety
        /// The pointers are valid.
        pub unsafe extern "C-unwind" fn $team(
            _ident: *const Ident,
            gtid: i32,
            last: *mut i32,
            lower: *mut $t,
            upper: *mut $t,
            stride: *mut $s,
            step: $s,
            chunk: $s,
        ) {
            let schedule = kind::DISTRIBUTE_CHUNKED;
            // SAFETY: the pointers are valid (caller's contract).
            unsafe { init(gtid, schedule, last, lower, upper, stride, step, chunk) }
        }
    )*};
}
entries! {
    init_i32, init_dist_i32, init_team_i32: i32, i32;
    init_u32, init_dist_u32, init_team_u32: u32, i32;
    init_i64, init_dist_i64, init_team_i64: i64, i64;
    init_u64, init_dist_u64, init_team_u64: u64, i64;
}

/// Ends a statically scheduled loop; does nothing.
pub unsafe extern "C-unwind" fn fini(_ident: *const Ident, _gtid: i32) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iteration::trip_count;

    fn covered(kind: i32, lower: i32, upper: i32, step: i64, chunk: i64, parts: u64) -> Vec<i32> {
        let trip = trip_count(lower, upper, step);
        let mut all = Vec::new();
        let mut lasts = 0;
        for part in 0..parts {
            let s = share(kind, lower, upper, step, chunk, trip, (part, parts));
            lasts += s.last as u32;
            let (mut lo, mut hi) = (s.lower as i64, s.upper as i64);
            loop {
                let bounded = if step > 0 {
                    hi.min(upper as i64)
                } else {
                    hi.max(upper as i64)
                };
                let mut i = lo;
                if if step > 0 { lo > bounded } else { lo < bounded } {
                    break;
                }
                while if step > 0 { i <= bounded } else { i >= bounded } {
                    all.push(i as i32);
                    i += step;
                }
                if kind != kind::STATIC_CHUNKED {
                    break;
                }
                lo += s.stride as i64;
                hi = lo + (chunk - 1) * step;
            }
        }
        assert_eq!(lasts, 1, "one thread has the last iteration");
        all.sort_unstable();
        all
    }

    #[test]
    fn shares_without_iterations_begin_behind_the_loop() {
        for kind in [kind::STATIC, kind::STATIC_CHUNKED, kind::STATIC_SIMD] {
            for (lower, upper, step) in [(0, 1, 1), (180, 180, 1), (5, 1, -2), (-7, -6, 1)] {
                let trip = trip_count(lower, upper, step);
                let s = share::<i32>(kind, lower, upper, step, 1, trip, (3, 4));
                let behind = if step > 0 {
                    s.lower > upper
                } else {
                    s.lower < upper
                };
                assert!(behind, "{kind} {lower}..{upper}");
            }
            let top = share::<i32>(kind, i32::MAX, i32::MAX, 1, 1, 1, (3, 4));
            assert!(top.lower > top.upper);
        }
    }

    #[test]
    fn kmpc_static_shares_cover_each_iteration_once() {
        for kind in [kind::STATIC, kind::STATIC_CHUNKED, kind::STATIC_SIMD] {
            for (lower, upper, step) in [(0, 99, 1), (3, 50, 7), (10, -20, -3), (0, 0, 1)] {
                for chunk in [1, 4, 64] {
                    for parts in [1, 2, 3, 8, 200] {
                        let mut want = Vec::new();
                        let mut i = lower;
                        while if step > 0 { i <= upper } else { i >= upper } {
                            want.push(i);
                            i += step;
                        }
                        want.sort_unstable();
                        let got = covered(kind, lower, upper, step as i64, chunk, parts);
                        assert_eq!(got, want, "{kind} {lower}..{upper} {step} {chunk} {parts}");
                    }
                }
            }
        }
    }
}
