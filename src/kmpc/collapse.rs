//! Collapsed loop nests, rectangular ones and those whose bounds depend on an outer variable.
//!
//! OpenMP 5.2, sections 4.4.2 (non-rectangular nests), 4.4.3 (collapse clause).
//!
//! A compiler may describe a nest by an array of [`Bounds`] and ask for its number of iterations,
//! for the variables of an iteration, or for the first and last point of the calling thread's
//! share. Shares are counted exactly: a loop on which inner bounds depend is walked iteration by
//! iteration, which costs the square root of the work in a triangle and depends on no other thread.
//! Layout and contract are those of libomp (`openmp/runtime/src/kmp_collapse.h`); clang 22 counts
//! such nests itself and does not call this.
//!
//! Chunks, and shares of a league's teams, are not supported.

use crate::ident::Ident;
use crate::iteration::balanced;
use crate::thread::by_number;

/// One loop of a nest: `for (iv = lb0 + lb1 * outer; iv COMPARISON ub0 + ub1 * outer; iv += step)`.
/// Values of 32-bit loops are in the low halves.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Type of bounds and step, see [`typed`].
    kind: i32,
    /// Type of the variable.
    iv_kind: i32,
    comparison: i32,
    /// Loop whose variable `lb1` and `ub1` multiply; arbitrary if both are 0.
    outer: i32,
    lb0: u64,
    lb1: u64,
    ub0: u64,
    ub1: u64,
    step: i64,
    /// Number of iterations of a rectangular nest's loop.
    trips: u64,
}

/// Comparisons of a variable with its bound.
mod comparison {
    pub const AT_MOST: i32 = 0;
    pub const AT_LEAST: i32 = 1;
    pub const UNEQUAL: i32 = 2;
    pub const BELOW: i32 = 3;
    pub const ABOVE: i32 = 4;
}

/// Returns the bits as a value of a type: 8, 16, 32, 64 bits, each unsigned and signed, numbered
/// from 0.
fn typed(kind: i32, bits: u64) -> i128 {
    match kind {
        0 => (bits as u8).into(),
        1 => (bits as i8).into(),
        2 => (bits as u16).into(),
        3 => (bits as i16).into(),
        4 => (bits as u32).into(),
        5 => (bits as i32).into(),
        6 => bits.into(),
        _ => (bits as i64).into(),
    }
}

impl Bounds {
    fn step(&self) -> i64 {
        if self.kind < 6 {
            self.step as i32 as i64
        } else {
            self.step
        }
    }

    /// Returns the comparison with `!=` resolved by the sign of the step.
    fn direction(&self) -> i32 {
        match self.comparison {
            comparison::UNEQUAL if self.step() > 0 => comparison::BELOW,
            comparison::UNEQUAL => comparison::ABOVE,
            other => other,
        }
    }

    /// Returns the corresponding comparison that includes its bound.
    fn inclusive(&self) -> i32 {
        match self.direction() {
            comparison::ABOVE | comparison::AT_LEAST => comparison::AT_LEAST,
            _ => comparison::AT_MOST,
        }
    }

    /// Rewrites the comparison of a rectangular nest's loop to one that includes the bound, unless
    /// there is no such bound: `i < INT_MIN` has no iterations.
    fn make_canonical(&mut self) {
        let bound = typed(self.kind, self.ub0);
        let moved = match self.direction() {
            comparison::BELOW => bound - 1,
            comparison::ABOVE => bound + 1,
            _ => return,
        };
        if typed(self.kind, moved as u64) != moved {
            self.comparison = self.direction();
            return;
        }
        let changed = if self.kind < 6 {
            u32::MAX.into()
        } else {
            u64::MAX
        };
        self.comparison = self.inclusive();
        self.ub0 = self.ub0 & !changed | moved as u64 & changed;
    }

    /// Returns true if the bounds depend on the variable of loop `level`.
    fn depends_on(&self, level: usize) -> bool {
        let none = typed(self.kind, self.lb1) == 0 && typed(self.kind, self.ub1) == 0;
        !none && self.outer == level as i32
    }

    fn outer(&self, point: &[u64]) -> u64 {
        point.get(self.outer as usize).copied().unwrap_or(0)
    }

    /// Returns the number of iterations while the outer loops are at `point`.
    fn trips(&self, point: &[u64]) -> u64 {
        let at = |constant: u64, factor: u64| {
            let bits = constant.wrapping_add(factor.wrapping_mul(self.outer(point)));
            typed(self.kind, bits)
        };
        let (lower, upper) = (at(self.lb0, self.lb1), at(self.ub0, self.ub1));
        let distance = match self.direction() {
            comparison::AT_LEAST => lower - upper,
            comparison::ABOVE => lower - upper - 1,
            comparison::BELOW => upper - lower - 1,
            _ => upper - lower,
        };
        if distance < 0 {
            return 0;
        }
        let step = i128::from(self.step().unsigned_abs().max(1));
        u64::try_from(distance / step + 1).unwrap_or(u64::MAX)
    }

    /// Returns the variable of an iteration, extended to 64 bits.
    fn variable(&self, point: &[u64], iteration: u64) -> u64 {
        let bits = self
            .lb0
            .wrapping_add(self.lb1.wrapping_mul(self.outer(point)))
            .wrapping_add(iteration.wrapping_mul(self.step() as u64));
        typed(self.iv_kind, bits) as u64
    }
}

/// A nest, with its outer loops at a point.
struct Walk<'n> {
    nest: &'n [Bounds],
    point: Vec<u64>,
}

impl Walk<'_> {
    /// Returns the number of iterations of the loops from `level` on.
    fn count(&mut self, level: usize) -> u64 {
        let Some(bounds) = self.nest.get(level) else {
            return 1;
        };
        let trips = bounds.trips(&self.point);
        if !self.inner_depend(level) {
            return trips.saturating_mul(self.count(level + 1));
        }
        let mut sum = 0u64;
        for iteration in 0..trips {
            self.point[level] = bounds.variable(&self.point, iteration);
            sum = sum.saturating_add(self.count(level + 1));
        }
        sum
    }

    /// Returns true if loops inside of `level` depend on it.
    fn inner_depend(&self, level: usize) -> bool {
        let inner = &self.nest[level + 1..];
        inner.iter().any(|bounds| bounds.depends_on(level))
    }

    /// Moves to iteration `number` of the nest, which must exist.
    fn go(mut self, mut number: u64) -> Vec<u64> {
        for (level, bounds) in self.nest.iter().enumerate() {
            let mut iteration = 0;
            if self.inner_depend(level) {
                loop {
                    self.point[level] = bounds.variable(&self.point, iteration);
                    let inner = self.count(level + 1);
                    if number < inner {
                        break;
                    }
                    number -= inner;
                    iteration += 1;
                }
            } else {
                let inner = self.count(level + 1).max(1);
                iteration = number / inner;
                number %= inner;
            }
            // Counting has moved the inner loops.
            self.point[level] = bounds.variable(&self.point, iteration);
        }
        self.point
    }
}

/// Returns the nest at an address.
///
/// # Safety
/// `nest` has `loops` elements that nothing else references.
unsafe fn nest_at<'n>(nest: *mut Bounds, loops: i32) -> &'n mut [Bounds] {
    // SAFETY: `loops` elements without another reference (caller's contract).
    unsafe { std::slice::from_raw_parts_mut(nest, loops.max(0) as usize) }
}

/// Makes a rectangular nest's comparisons canonical, stores each loop's number of iterations, and
/// returns their product.
///
/// # Safety
/// `nest` has `loops` elements, which only the calling thread uses.
pub unsafe extern "C-unwind" fn process_rectangular(
    _ident: *const Ident,
    _gtid: i32,
    nest: *mut Bounds,
    loops: i32,
) -> u64 {
    // SAFETY: `loops` elements of the calling thread's own (caller's contract).
    let nest = unsafe { nest_at(nest, loops) };
    nest.iter_mut().fold(1, |product, bounds| {
        bounds.make_canonical();
        bounds.trips = bounds.trips(&[]);
        product.wrapping_mul(bounds.trips)
    })
}

/// Computes the variables of iteration `number` of a nest that [`process_rectangular`] has
/// processed.
///
/// # Safety
/// `nest` and `variables` have `loops` elements.
pub unsafe extern "C-unwind" fn rectangular_variables(
    _ident: *const Ident,
    mut number: u64,
    nest: *const Bounds,
    variables: *mut u64,
    loops: i32,
) {
    // SAFETY: `nest` has `loops` elements (caller's contract), which are only read.
    let nest = unsafe { std::slice::from_raw_parts(nest, loops.max(0) as usize) };
    for (level, bounds) in nest.iter().enumerate().rev() {
        let trips = bounds.trips.max(1);
        // SAFETY: `variables` has `loops` elements (caller's contract).
        unsafe { *variables.add(level) = bounds.variable(&[], number % trips) };
        number /= trips;
    }
}

/// Computes the calling thread's share of a nest of any shape, as its first and last point in the
/// lower and upper bounds of `share`. Returns 0 if the share is empty. Sets `last` if the share has
/// the nest's last iteration.
///
/// # Safety
/// `nest` and `share` have `loops` elements, which only the calling thread uses; `last` is null or
/// valid.
pub unsafe extern "C-unwind" fn init(
    _ident: *const Ident,
    gtid: i32,
    nest: *mut Bounds,
    share: *mut Bounds,
    loops: i32,
    last: *mut i32,
) -> i32 {
    // SAFETY: both have `loops` elements of the calling thread's own (caller's contract).
    let (nest, given) = unsafe { (nest_at(nest, loops), nest_at(share, loops)) };
    let thread = by_number(gtid);
    let mine = share_of(nest, thread.tid(), thread.team().size());
    if !last.is_null() {
        // SAFETY: `last` is valid if not null (caller's contract).
        unsafe { *last = i32::from(mine.as_ref().is_some_and(|mine| mine.last)) };
    }
    let Some(mine) = mine else { return 0 };
    for (level, bounds) in nest.iter().enumerate() {
        given[level] = Bounds {
            comparison: bounds.inclusive(),
            lb0: mine.from[level],
            lb1: 0,
            ub0: mine.to[level],
            ub1: 0,
            ..*bounds
        };
    }
    1
}

/// A thread's share of a nest.
struct Share {
    /// First point.
    from: Vec<u64>,
    /// Last point.
    to: Vec<u64>,
    /// True if `to` is the nest's last point.
    last: bool,
}

/// Returns the share of member `tid` of `size`; `None` if it is empty.
fn share_of(nest: &[Bounds], tid: u32, size: u32) -> Option<Share> {
    let walk = || Walk {
        nest,
        point: vec![0; nest.len()],
    };
    let total = walk().count(0);
    let (first, count) = balanced(total, tid.into(), size.into());
    (count > 0).then(|| Share {
        from: walk().go(first),
        to: walk().go(first + count - 1),
        last: first + count == total,
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the least and the greatest value of a type.
    fn limits(kind: i32) -> (i128, i128) {
        let bits = 8 << (kind / 2);
        if kind % 2 == 0 {
            (0, (1 << bits) - 1)
        } else {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        }
    }

    /// Collects the points of a nest, with loops over unlimited integers. Returns `None` if a bound
    /// does not fit its type, or if there are too many points, or too many iterations without one.
    fn points(nest: &[Bounds], before: &[i128], found: &mut Vec<Vec<i128>>) -> Option<()> {
        let Some(bounds) = nest.get(before.len()) else {
            found.push(before.to_vec());
            return (found.len() < 3000).then_some(());
        };
        let at = |constant: u64, factor: u64| {
            let outer = before.get(bounds.outer as usize).copied().unwrap_or(0);
            let value = typed(bounds.kind, constant) + typed(bounds.kind | 1, factor) * outer;
            let (least, most) = limits(bounds.kind);
            (least..=most).contains(&value).then_some(value)
        };
        let (mut value, upper) = (at(bounds.lb0, bounds.lb1)?, at(bounds.ub0, bounds.ub1)?);
        let step = i128::from(bounds.step());
        for _ in 0..1000 {
            let goes_on = match bounds.comparison {
                comparison::AT_MOST => value <= upper,
                comparison::AT_LEAST => value >= upper,
                comparison::BELOW => value < upper,
                comparison::ABOVE => value > upper,
                _ if step > 0 => value < upper,
                _ => value > upper,
            };
            if !goes_on {
                return Some(());
            }
            let mut inner = before.to_vec();
            inner.push(value);
            points(nest, &inner, found)?;
            value += step;
        }
        None
    }

    /// Returns a value of a type near 0, its least or its greatest.
    fn near(kind: i32, place: u8, offset: i8) -> i128 {
        let (least, most) = limits(kind);
        let value = match place % 3 {
            0 => i128::from(offset),
            1 => least + i128::from(offset.unsigned_abs()),
            _ => most - i128::from(offset.unsigned_abs()),
        };
        value.clamp(least, most)
    }

    prop_compose! {
        fn a_loop(level: i32)(
            kind in 4..8, comparison in 0..5, place in 0u8..3,
            lower in -12i8..12, length in -2i128..14, step in 1i64..5, size in 1i64..5,
            factors in (-2i64..3, -2i64..3), dependent in any::<bool>(), outer in 0..level.max(1),
        ) -> Bounds {
            let down = matches!(comparison, comparison::AT_LEAST | comparison::ABOVE)
                || comparison == comparison::UNEQUAL && size > 2;
            let step = if comparison == comparison::UNEQUAL { 1 } else { step };
            let first = near(kind, place, lower);
            let (least, most) = limits(kind);
            let length = if comparison == comparison::UNEQUAL { length.abs() } else { length };
            let last = if down { first - length } else { first + length };
            let factor = |f: i64| if dependent && level > 0 { f as u64 } else { 0 };
            Bounds {
                kind,
                iv_kind: kind,
                comparison,
                outer,
                lb0: first as u64,
                lb1: factor(factors.0),
                ub0: last.clamp(least, most) as u64,
                ub1: factor(factors.1),
                step: if down { -step } else { step },
                trips: 0,
            }
        }
    }

    fn a_nest() -> impl Strategy<Value = Vec<Bounds>> {
        prop_oneof![
            (a_loop(0), a_loop(1)).prop_map(|(a, b)| vec![a, b]),
            (a_loop(0), a_loop(1), a_loop(2)).prop_map(|(a, b, c)| vec![a, b, c]),
            a_loop(0).prop_map(|a| vec![a]),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2000,
            max_global_rejects: 20_000,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Shares follow each other and have every point of the loops.
        #[test]
        fn kmpc_collapse_shares_are_the_loops_points(mut nest in a_nest(), size in 1u32..6) {
            // Nests whose loops depend on each other have variables of one type.
            if nest.iter().any(|l| l.lb1 != 0 || l.ub1 != 0) {
                let kind = nest[0].kind;
                prop_assume!(nest.iter().all(|l| l.kind == kind));
            }
            let mut expected = Vec::new();
            prop_assume!(points(&nest, &[], &mut expected).is_some());
            let numbers = |point: &[u64]| -> Vec<i128> {
                let typed = |(v, l): (&u64, &Bounds)| typed(l.kind, *v);
                point.iter().zip(&nest).map(typed).collect()
            };
            let mut at = 0;
            for tid in 0..size {
                let (first, count) = balanced(expected.len() as u64, tid.into(), size.into());
                let share = share_of(&nest, tid, size);
                prop_assert_eq!(share.is_some(), count > 0);
                prop_assert_eq!(first, at);
                at += count;
                if let Some(share) = share {
                    prop_assert_eq!(&numbers(&share.from), &expected[first as usize]);
                    prop_assert_eq!(&numbers(&share.to), &expected[at as usize - 1]);
                    prop_assert_eq!(share.last, at == expected.len() as u64);
                }
            }
            prop_assert_eq!(at, expected.len() as u64);
            if nest.iter().all(|l| l.lb1 == 0 && l.ub1 == 0) {
                let loops = nest.len() as i32;
                let null = std::ptr::null();
                // SAFETY: a nest of this test.
                let trips = unsafe { process_rectangular(null, 0, nest.as_mut_ptr(), loops) };
                prop_assert_eq!(trips, expected.len() as u64);
                let again = nest.iter().map(|l| l.trips(&[])).product::<u64>();
                prop_assert_eq!(again, trips);
                for (number, point) in expected.iter().enumerate() {
                    let mut got = vec![0u64; nest.len()];
                    let (number, to) = (number as u64, got.as_mut_ptr());
                    // SAFETY: a nest of this test, with as many variables as loops.
                    unsafe { rectangular_variables(null, number, nest.as_ptr(), to, loops) };
                    let got = got.iter().zip(&nest);
                    let got: Vec<_> = got.map(|(v, l)| typed(l.kind, *v)).collect();
                    prop_assert_eq!(&got, point);
                }
            }
        }
    }
}
