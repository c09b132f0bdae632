//! Doacross loops: iterations that wait for other iterations. OpenMP 5.2, sections 15.9.6 (doacross
//! clause), 15.10 (ordered).
//!
//! The iterations of a nest are numbered in its order, and the team shares one bit for each, which
//! is set once that iteration has posted. A nest takes a [`LoopBuffer`](super::dispatch) of its own
//! beside the one that hands out its iterations, so that a thread may be some loops ahead. The bits
//! come zeroed from the C library, which maps large blocks: pages that no iteration touches cost
//! nothing.
//!
//! A dependence on an iteration outside of the nest is ignored. clang counts every loop from 0 by 1
//! and passes the number of iterations in place of the last one, so that an iteration beyond the
//! end of an inner loop looks like a later one; libomp 22 waits for it forever. Nests in that form
//! are read as clang means them.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::dispatch;
use crate::ident::Ident;
use crate::program;
use crate::thread::{Thread, by_number};
use crate::waits::Construct;
use ompvm_support::sync::fence;

/// One loop of a nest, in the compiler's description. Both bounds are included, except as the file
/// head says.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dim {
    lower: i64,
    upper: i64,
    step: i64,
}

impl Dim {
    /// Returns the number of iterations; `None` if it overflows.
    fn trip(&self) -> Option<u64> {
        let (low, high) = match self.step {
            0.. => (self.lower, self.upper),
            _ => (self.upper, self.lower),
        };
        if low > high {
            return Some(0);
        }
        let distance = high.wrapping_sub(low) as u64;
        (distance / self.step.unsigned_abs().max(1)).checked_add(1)
    }

    /// Returns the number of the iteration with this value, if there is one.
    fn number(&self, value: i64) -> Option<u64> {
        let (from, to, inside) = match self.step {
            0.. => (self.lower, value, value <= self.upper),
            _ => (value, self.lower, value >= self.upper),
        };
        if to < from || !inside {
            return None;
        }
        Some(to.wrapping_sub(from) as u64 / self.step.unsigned_abs().max(1))
    }
}

/// Bits of a nest, shared by the team through its loop buffer; null until the first thread arrives.
#[derive(Debug, Default)]
pub struct PostedIterations(AtomicPtr<AtomicU64>);

impl PostedIterations {
    /// Returns the `count` words, which the first thread to arrive allocates.
    fn words(&self, count: usize) -> Option<*mut AtomicU64> {
        let seen = self.0.load(Ordering::Acquire);
        if !seen.is_null() {
            return Some(seen);
        }
        // SAFETY: allocates plain memory, which `clear` frees.
        let made = unsafe { libc::calloc(count.max(1), size_of::<AtomicU64>()) };
        let made = made.cast::<AtomicU64>();
        if made.is_null() {
            return None;
        }
        let swap = (Ordering::AcqRel, Ordering::Acquire);
        match self.0.compare_exchange(null_mut(), made, swap.0, swap.1) {
            Ok(_) => Some(made),
            Err(theirs) => {
                // SAFETY: no other thread knows this block.
                unsafe { libc::free(made.cast()) };
                Some(theirs)
            }
        }
    }

    /// Frees the words, which no thread uses any more.
    pub fn clear(&self) {
        let words = self.0.swap(null_mut(), Ordering::Relaxed);
        if !words.is_null() {
            // SAFETY: `words` allocated the block, and it is exchanged out once.
            unsafe { libc::free(words.cast::<c_void>()) };
        }
    }
}

/// The nest that a thread executes.
#[derive(Debug)]
pub struct DoacrossNest {
    /// The loops, each with its number of iterations.
    dims: UnsafeCell<Vec<(Dim, u64)>>,
    /// Number of the loop buffer, and the words in it.
    shared: Cell<(u32, *const AtomicU64)>,
}

impl Default for DoacrossNest {
    fn default() -> Self {
        Self {
            dims: UnsafeCell::new(Vec::new()),
            shared: Cell::new((0, null())),
        }
    }
}

impl DoacrossNest {
    /// Returns the word and the bit of the iteration with these values; `None` outside of the nest.
    ///
    /// # Safety
    /// `values` has one value per loop; only the nest's own thread may call it.
    unsafe fn bit(&self, values: *const i64) -> Option<(&AtomicU64, u64)> {
        // SAFETY: only the nest's own thread accesses its loops.
        let dims = unsafe { &*self.dims.get() };
        let mut number = 0;
        for (i, (dim, trip)) in dims.iter().enumerate() {
            // SAFETY: `values` has one value per loop (caller's contract).
            let own = dim.number(unsafe { *values.add(i) })?;
            // The product of all trip counts, which `init` has computed, bounds the number.
            number = number * trip + own;
        }
        let words = self.shared.get().1;
        if words.is_null() {
            return None;
        }
        // SAFETY: there are as many bits as iterations; they live until every thread has left the
        // nest.
        let word = unsafe { &*words.add(number as usize / 64) };
        Some((word, 1 << (number % 64)))
    }
}

fn nest(thread: &Thread) -> &DoacrossNest {
    &thread.local().nest
}

/// Returns the number of loops of the nest that the thread executes; 0 if `values` is no iteration
/// of it, and in a team of one, in which no thread waits.
///
/// # Safety
/// `values` has a value for each loop.
pub unsafe fn dims(thread: &Thread, values: *const i64) -> usize {
    // SAFETY: `values` has one value per loop (caller's contract).
    if thread.team().size() == 1 || unsafe { nest(thread).bit(values) }.is_none() {
        return 0;
    }
    // SAFETY: the thread's own nest, to which no reference is held here.
    unsafe { (*nest(thread).dims.get()).len() }
}

/// Begins a nest of `count` loops.
///
/// # Safety
/// `dims` has `count` elements.
pub unsafe extern "C-unwind" fn init(ident: *const Ident, gtid: i32, count: i32, dims: *const Dim) {
    let thread = by_number(gtid);
    if thread.team().size() == 1 {
        // Iterations run in their order, so none waits.
        return;
    }
    // SAFETY: `dims` has `count` elements (caller's contract).
    let given = unsafe { std::slice::from_raw_parts(dims, count.max(0) as usize) };
    let nest = nest(thread);
    // SAFETY: only the nest's own thread accesses its loops.
    let dims = unsafe { &mut *nest.dims.get() };
    dims.clear();
    let counted = given.iter().all(|dim| (dim.lower, dim.step) == (0, 1));
    let iterations = given.iter().try_fold(1u64, |product, &dim| {
        let upper = dim.upper.saturating_sub(i64::from(counted));
        let dim = Dim { upper, ..dim };
        let trip = dim.trip()?;
        dims.push((dim, trip));
        product.checked_mul(trip)
    });
    let Some((number, posted)) = dispatch::take_buffer(thread) else {
        return;
    };
    let words = iterations
        .and_then(|n| usize::try_from(n.div_ceil(64)).ok())
        .and_then(|n| posted.words(n));
    let Some(words) = words else {
        let text = c"a doacross loop nest has more iterations than fit into memory";
        // SAFETY: a null-terminated string; the call ends the process.
        return unsafe { program::error(ident, 2, text.as_ptr()) };
    };
    nest.shared.set((number, words));
}

/// Waits until the iteration with these values has posted.
///
/// # Safety
/// `values` has one value for each loop of the nest.
pub unsafe extern "C-unwind" fn wait(_ident: *const Ident, gtid: i32, values: *const i64) {
    let thread = by_number(gtid);
    if thread.team().size() == 1 {
        return;
    }
    // SAFETY: `values` has one value per loop (caller's contract).
    if let Some((word, bit)) = unsafe { nest(thread).bit(values) }
        && word.load(Ordering::Acquire) & bit == 0
    {
        dispatch::wait(thread, thread.team(), Construct::DOACROSS, || {
            word.load(Ordering::Acquire) & bit != 0
        });
    }
}

/// Posts the iteration with these values: those that depend on it may continue.
///
/// # Safety
/// As for [`wait`].
pub unsafe extern "C-unwind" fn post(_ident: *const Ident, gtid: i32, values: *const i64) {
    let thread = by_number(gtid);
    let team = thread.team();
    let size = team.size();
    if size == 1 {
        return;
    }
    // SAFETY: `values` has one value per loop (caller's contract).
    if let Some((word, bit)) = unsafe { nest(thread).bit(values) } {
        word.fetch_or(bit, Ordering::Release);
        // Precedes the check for sleepers.
        fence(Ordering::SeqCst);
        // SAFETY: the thread takes part in the region of this size.
        unsafe { team.core.wake_all(size) };
    }
}

/// Ends a nest.
pub unsafe extern "C-unwind" fn fini(_ident: *const Ident, gtid: i32) {
    let thread = by_number(gtid);
    if thread.team().size() == 1 {
        return;
    }
    let (number, words) = nest(thread).shared.replace((0, null()));
    if !words.is_null() {
        dispatch::leave_buffer(thread.team(), number);
    }
}

#[cfg(test)]
mod tests {
    use super::Dim;

    #[test]
    fn kmpc_doacross_numbers_iterations_in_both_directions() {
        let up = Dim {
            lower: -4,
            upper: 8,
            step: 3,
        };
        assert_eq!(up.trip(), Some(5));
        assert_eq!(up.number(-4), Some(0));
        assert_eq!(up.number(8), Some(4));
        assert_eq!((up.number(-7), up.number(11)), (None, None));
        let down = Dim {
            lower: 10,
            upper: 1,
            step: -2,
        };
        assert_eq!(down.trip(), Some(5));
        assert_eq!((down.number(10), down.number(2)), (Some(0), Some(4)));
        assert_eq!((down.number(12), down.number(0)), (None, None));
        let wide = Dim {
            lower: i64::MIN,
            upper: i64::MAX,
            step: 1,
        };
        assert_eq!(wide.trip(), None);
        let none = Dim {
            lower: 1,
            upper: 0,
            step: 1,
        };
        assert_eq!((none.trip(), none.number(1)), (Some(0), None));
    }
}
