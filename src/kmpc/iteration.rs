//! Arithmetic of loop iterations for the worksharing entries, over four integer types.
//!
//! A loop has `trip` iterations numbered from 0. Iteration i has the value `lower + i * step` in
//! the loop's own type, computed modulo 2^64 and then narrowed, which is exact for all signs. Trip
//! counts use unsigned differences, so they cannot overflow, except that a loop of 2^64 iterations
//! counts one less.

/// Type of a loop variable.
pub trait Iteration: Copy + Ord {
    /// Type of steps and strides.
    type Step: Copy + Into<i64>;
    /// Sign- or zero-extends.
    fn widen(self) -> u64;
    /// Truncates.
    fn narrow(wide: u64) -> Self;
    /// Truncates a stride.
    fn step(wide: u64) -> Self::Step;
}

macro_rules! iteration {
    ($($t:ty, $wide:ty, $step:ty;)*) => {$(
        impl Iteration for $t {
            type Step = $step;
            #[inline(always)]
            fn widen(self) -> u64 {
                self as $wide as u64
            }
            #[inline(always)]
            fn narrow(wide: u64) -> Self {
                wide as $t
            }
            #[inline(always)]
            fn step(wide: u64) -> $step {
                wide as $step
            }
        }
    )*};
}
iteration! {
    i32, i64, i32;
    u32, u64, i32;
    i64, i64, i64;
    u64, u64, i64;
}

/// Returns the number of iterations of `for (i = lower; i <= upper; i += step)` (`>=` for negative
/// steps).
#[inline(always)]
pub fn trip_count<T: Iteration>(lower: T, upper: T, step: i64) -> u64 {
    let (distance, empty) = if step >= 0 {
        (upper.widen().wrapping_sub(lower.widen()), lower > upper)
    } else {
        (lower.widen().wrapping_sub(upper.widen()), lower < upper)
    };
    if empty {
        return 0;
    }
    match step {
        1 | -1 => distance.saturating_add(1),
        0 => 1,
        _ => (distance / step.unsigned_abs()).saturating_add(1),
    }
}

/// Returns [`trip_count`], or 0 for a loop over all values of its type: its count wraps in that
/// type, as in libomp.
///
/// flang passes the bounds 0 and -1 for a loop without iterations, and counts what it gets back in
/// the type, so the bounds as they are tell it of none. No compiler passes a full loop.
#[inline(always)]
pub fn wrapping_trip_count<T: Iteration>(lower: T, upper: T, step: i64) -> u64 {
    let next = T::narrow(upper.widen().wrapping_add(step as u64));
    if step.unsigned_abs() == 1 && next == lower {
        return 0;
    }
    trip_count(lower, upper, step)
}

/// Returns the value of iteration `index`.
#[inline(always)]
pub fn value<T: Iteration>(lower: T, index: u64, step: i64) -> T {
    T::narrow(lower.widen().wrapping_add(index.wrapping_mul(step as u64)))
}

/// Returns the balanced share of `part` out of `parts` as (first, count); the first shares are
/// longer.
#[inline(always)]
pub fn balanced(trip: u64, part: u64, parts: u64) -> (u64, u64) {
    let (small, extra) = if trip <= u32::MAX as u64 && parts <= u32::MAX as u64 {
        // 32-bit division is faster.
        (
            (trip as u32 / parts as u32) as u64,
            (trip as u32 % parts as u32) as u64,
        )
    } else {
        (trip / parts, trip % parts)
    };
    (
        part * small + part.min(extra),
        small + u64::from(part < extra),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kmpc_trip_counts_do_not_overflow() {
        assert_eq!(trip_count(i32::MIN, i32::MAX, 1), 1 << 32);
        assert_eq!(trip_count(0u32, u32::MAX, 1), 1 << 32);
        assert_eq!(trip_count(i32::MAX, i32::MIN, -1), 1 << 32);
        assert_eq!(trip_count(i64::MIN, i64::MAX, 1), u64::MAX);
        assert_eq!(trip_count(i64::MIN, i64::MAX, 2), 1 << 63);
        assert_eq!(trip_count(5, 4, 1), 0);
        assert_eq!(trip_count(0, 9, 3), 4);
        assert_eq!(trip_count(10u32, 0u32, -3), 4);
        assert_eq!(value(i32::MAX, 1 << 31, -1), -1);
    }

    #[test]
    fn kmpc_a_count_that_wraps_is_none() {
        assert_eq!(wrapping_trip_count(0u64, u64::MAX, 1), 0);
        assert_eq!(wrapping_trip_count(0u32, u32::MAX, 1), 0);
        assert_eq!(wrapping_trip_count(i32::MIN, i32::MAX, 1), 0);
        assert_eq!(wrapping_trip_count(i64::MAX, i64::MIN, -1), 0);
        assert_eq!(wrapping_trip_count(1u32, u32::MAX, 1), u64::from(u32::MAX));
        assert_eq!(wrapping_trip_count(5, 4, 1), 0);
        assert_eq!(wrapping_trip_count(4, 5, -1), 0);
        assert_eq!(wrapping_trip_count(0u32, 0, 1), 1);
        assert_eq!(wrapping_trip_count(0, 9, 3), 4);
    }

    #[test]
    fn kmpc_balanced_shares_cover_the_loop() {
        for trip in [0u64, 1, 5, 16, 17, 1 << 40] {
            for parts in 1..7 {
                let mut at = 0;
                for part in 0..parts {
                    let (first, count) = balanced(trip, part, parts);
                    assert_eq!(first, at);
                    at += count;
                }
                assert_eq!(at, trip);
            }
        }
    }
}
