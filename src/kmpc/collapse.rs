//! Collapsed loop nests, rectangular ones and those whose bounds depend on an outer variable.
//! OpenMP 5.2, sections 4.4.2 (non-rectangular nests), 4.4.3 (collapse clause).
//!
//! A compiler may describe a nest by an array of [`Bounds`] and ask for a nest's iterations, for the
//! variables of an iteration, or for the calling thread's share as its first and its last point. Shares are
//! counted exactly: where inner bounds depend on a loop, its iterations are walked, which costs
//! the square root of the work in a triangle, and nothing depends on the schedule of others.
//! Layout and contract are those of libomp (`openmp/runtime/src/kmp_collapse.h`); clang 22 counts
//! such nests itself and does not call this.
//!
//! What not: chunks, and shares of a league's teams.

use crate::kmpc::ident::Ident;
use crate::kmpc::iteration::balanced;
use crate::kmpc::thread::by_number;

/// One loop of a nest: `for (iv = lb0 + lb1 * outer; iv COMPARISON ub0 + ub1 * outer; iv += step)`.
/// Values of 32-bit loops are in the low halves.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The type of bounds and step, see [`typed`].
    kind: i32,
    /// The type of the variable.
    iv_kind: i32,
    comparison: i32,
    /// The loop whose variable `lb1` and `ub1` multiply; any where they are 0.
    outer: i32,
    lb0: u64,
    lb1: u64,
    ub0: u64,
    ub1: u64,
    step: i64,
    /// Iterations of a rectangular nest's loop.
    trips: u64,
}

/// How a variable is compared with its bound.
mod comparison {
    pub const AT_MOST: i32 = 0;
    pub const AT_LEAST: i32 = 1;
    pub const UNEQUAL: i32 = 2;
    pub const BELOW: i32 = 3;
    pub const ABOVE: i32 = 4;
}

/// The bits as a value of a type: 8, 16, 32, 64 bits, each unsigned and signed, numbered from 0.
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

    /// Rewrites the comparison to one that includes the bound.
    fn make_canonical(&mut self) {
        if self.comparison == comparison::UNEQUAL {
            self.comparison = if self.step() > 0 {
                comparison::BELOW
            } else {
                comparison::ABOVE
            };
        }
        let (comparison, bound) = match self.comparison {
            comparison::BELOW => (comparison::AT_MOST, self.ub0.wrapping_sub(1)),
            comparison::ABOVE => (comparison::AT_LEAST, self.ub0.wrapping_add(1)),
            _ => return,
        };
        let changed = if self.kind < 6 {
            u32::MAX.into()
        } else {
            u64::MAX
        };
        self.comparison = comparison;
        self.ub0 = self.ub0 & !changed | bound & changed;
    }

    /// Whether its bounds depend on the variable of loop `level`.
    fn depends_on(&self, level: usize) -> bool {
        let none = typed(self.kind, self.lb1) == 0 && typed(self.kind, self.ub1) == 0;
        !none && self.outer == level as i32
    }

    fn outer(&self, point: &[u64]) -> u64 {
        point.get(self.outer as usize).copied().unwrap_or(0)
    }

    /// Iterations where the outer loops are at `point`. The comparison is canonical.
    fn trips(&self, point: &[u64]) -> u64 {
        let at = |constant: u64, factor: u64| {
            let bits = constant.wrapping_add(factor.wrapping_mul(self.outer(point)));
            typed(self.kind, bits)
        };
        let (lower, upper) = (at(self.lb0, self.lb1), at(self.ub0, self.ub1));
        let distance = match self.comparison {
            comparison::AT_LEAST => lower - upper,
            _ => upper - lower,
        };
        if distance < 0 {
            return 0;
        }
        let step = i128::from(self.step().unsigned_abs().max(1));
        u64::try_from(distance / step + 1).unwrap_or(u64::MAX)
    }

    /// The variable of an iteration, extended to 64 bits.
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
    /// Iterations of the loops from `level` on.
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

    /// Whether loops inside of `level` depend on it.
    fn inner_depend(&self, level: usize) -> bool {
        let inner = &self.nest[level + 1..];
        inner.iter().any(|bounds| bounds.depends_on(level))
    }

    /// Moves to iteration `number` of the nest, which has more.
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
            // Counting moved the inner loops.
            self.point[level] = bounds.variable(&self.point, iteration);
        }
        self.point
    }
}

/// The nest at an address.
///
/// # Safety
/// `nest` has `loops` elements that nobody else uses.
unsafe fn nest_at<'n>(nest: *mut Bounds, loops: i32) -> &'n mut [Bounds] {
    // SAFETY: the caller's contract.
    unsafe { std::slice::from_raw_parts_mut(nest, loops.max(0) as usize) }
}

/// Makes a rectangular nest's comparisons canonical, notes each loop's iterations, and returns
/// their product.
///
/// # Safety
/// `nest` has `loops` elements of the calling thread's own.
pub unsafe extern "C-unwind" fn process_rectangular(
    _ident: *const Ident,
    _gtid: i32,
    nest: *mut Bounds,
    loops: i32,
) -> u64 {
    // SAFETY: the caller's contract.
    let nest = unsafe { nest_at(nest, loops) };
    nest.iter_mut().fold(1, |product, bounds| {
        bounds.make_canonical();
        bounds.trips = bounds.trips(&[]);
        product.wrapping_mul(bounds.trips)
    })
}

/// The variables of iteration `number` of a nest that [`process_rectangular`] has seen.
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
    // SAFETY: the caller's contract; only read.
    let nest = unsafe { std::slice::from_raw_parts(nest, loops.max(0) as usize) };
    for (level, bounds) in nest.iter().enumerate().rev() {
        let trips = bounds.trips.max(1);
        // SAFETY: the caller's contract.
        unsafe { *variables.add(level) = bounds.variable(&[], number % trips) };
        number /= trips;
    }
}

/// The calling thread's share of a nest of any shape, as its first and last point in `share`'s
/// lower and upper bounds; 0 where it has none. `last` says whether it has the nest's last iteration.
///
/// # Safety
/// `nest` and `share` have `loops` elements of the calling thread's own; `last` is null or valid.
pub unsafe extern "C-unwind" fn init(
    _ident: *const Ident,
    gtid: i32,
    nest: *mut Bounds,
    share: *mut Bounds,
    loops: i32,
    last: *mut i32,
) -> i32 {
    // SAFETY: the caller's contract.
    let (nest, share) = unsafe { (nest_at(nest, loops), nest_at(share, loops)) };
    nest.iter_mut().for_each(Bounds::make_canonical);
    let nest = &*nest;
    let walk = || Walk {
        nest,
        point: vec![0; nest.len()],
    };
    let total = walk().count(0);
    let thread = by_number(gtid);
    let (first, count) = balanced(total, thread.tid().into(), thread.team().size().into());
    if !last.is_null() {
        // SAFETY: the caller's contract.
        unsafe { *last = i32::from(count > 0 && first + count == total) };
    }
    if count == 0 {
        return 0;
    }
    let (from, to) = (walk().go(first), walk().go(first + count - 1));
    for (level, bounds) in nest.iter().enumerate() {
        share[level] = Bounds {
            lb0: from[level],
            lb1: 0,
            ub0: to[level],
            ub1: 0,
            ..*bounds
        };
    }
    1
}
