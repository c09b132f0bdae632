//! Whose turn it is in an ordered loop. OpenMP 5.2, section 15.10.
//!
//! The ordered parts of a chunk's iterations follow each other on its thread; with the last one the thread
//! hands over to the chunk behind. It says so in a cache line that this chunk has among many, so that at
//! best one thread waits at each: what a hand-over costs is that the line goes to the writer and back
//! to the one that waits, however many others wait for later turns. (All at one line, each hand-over is a
//! transfer for every thread; so libomp's. libgomp has a semaphore per thread.)
//!
//! A line holds the number of the iteration that the turn is at, counted from the loop's base; a loop's
//! base lies behind all that was written for the loops before it in the same buffer, so lines are never made
//! as new, but after a region that was left in the midst of loops. A line is compared for equality alone:
//! nothing else can be written there before who waits for it has seen it, since it has the turn.
//!
//! What not: which chunks there are, and waiting, which are `dispatch`'s.

use std::sync::OnceLock;

use crossbeam::utils::CachePadded;

use crate::support::sync::{AtomicU64 as SyncU64, Ordering, publish};

/// Lines of a small team, and the most there are.
const FEW: usize = 8;
const MOST: usize = 64;

/// The turns of the loops that use one buffer, one after the other.
#[derive(Debug, Default)]
pub struct Turns {
    /// Made for the first ordered loop.
    lines: OnceLock<Box<[CachePadded<SyncU64>]>>,
    /// Relaxed: published with the turn of the buffer.
    base: std::sync::atomic::AtomicU64,
}

/// A thread's view of the turns of the loop that it executes.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    base: u64,
    /// Chunks begin at multiples of two to this power.
    shift: u32,
    mask: u64,
}

impl View {
    /// The line of the chunk that begins with iteration `first`. Where chunks are of one length, as many
    /// that follow each other as there are lines have one each: their numbers are the lengths' odd factor
    /// times consecutive ones.
    fn line(self, first: u64) -> usize {
        (first >> self.shift & self.mask) as usize
    }
}

impl Turns {
    /// How a thread of a team of `size` sees the loop that begins, with chunks of `length` iterations,
    /// or all of different ones.
    pub fn begin(&self, size: u32, length: u64) -> View {
        self.lines.get_or_init(|| {
            (0..MOST)
                .map(|_| CachePadded::new(SyncU64::new(0)))
                .collect()
        });
        let lines = (size as usize).next_power_of_two().clamp(FEW, MOST);
        View {
            base: self.base.load(Ordering::Relaxed),
            shift: length.max(1).trailing_zeros(),
            mask: lines as u64 - 1,
        }
    }

    /// Whether the chunk that begins with iteration `first` has the turn. Acquire: what the ordered parts
    /// before did.
    #[inline]
    pub fn is_at(&self, view: View, first: u64) -> bool {
        let Some(lines) = self.lines.get() else {
            return true;
        };
        first == 0
            || lines[view.line(first)].load(Ordering::Acquire) == view.base.wrapping_add(first)
    }

    /// The turn is the chunk's that begins with iteration `first`; orders that before a look for
    /// sleepers.
    #[inline]
    pub fn pass(&self, view: View, first: u64) {
        if let Some(lines) = self.lines.get() {
            publish(&lines[view.line(first)], view.base.wrapping_add(first));
        }
    }

    /// The last thread leaves a loop of `total` iterations.
    pub fn end(&self, total: u64) {
        // Relaxed: nobody else is here; see `base`.
        let next = self.base.load(Ordering::Relaxed).wrapping_add(total);
        self.base.store(next.wrapping_add(1), Ordering::Relaxed);
    }

    /// Makes all as new after a region that was left in the midst of loops. Nobody is here.
    pub fn forget(&self) {
        for line in self.lines.get().into_iter().flatten() {
            line.store(0, Ordering::Relaxed);
        }
        self.base.store(0, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn kmpc_turns_chunks_that_follow_each_other_have_lines_of_their_own() {
        for (size, lines) in [(2, 8), (16, 16), (48, 64), (64, 64), (300, 64)] {
            for length in [1u64, 2, 3, 8, 12, 64, 1000, 1 << 40, u64::MAX / 2] {
                let view = Turns::default().begin(size, length);
                let chunks = lines.min(u64::MAX / length);
                let mut seen: Vec<usize> = (0..chunks).map(|c| view.line(c * length)).collect();
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len() as u64, chunks, "{size} {length}");
            }
        }
    }

    #[test]
    fn kmpc_turns_of_a_loop_are_not_those_of_the_one_before() {
        let turns = Turns::default();
        for total in [3, 10, 1, 17] {
            let view = turns.begin(2, 1);
            assert!(turns.is_at(view, 0));
            for first in 1..total {
                assert!((first..total).all(|f| !turns.is_at(view, f)));
                turns.pass(view, first);
                assert!(turns.is_at(view, first));
            }
            turns.pass(view, total);
            turns.end(total);
        }
        let view = turns.begin(2, 1);
        turns.pass(view, 1);
        turns.forget();
        assert!(!turns.is_at(turns.begin(2, 1), 1));
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::sync::Arc;

    /// Two threads hand over; what one did before is seen by the other after.
    #[test]
    fn loom_turns_order_what_was_done() {
        loom::model(|| {
            let turns = Arc::new(Turns::default());
            let data = Arc::new(loom::cell::UnsafeCell::new(0));
            let view = turns.begin(2, 1);
            let other = {
                let (turns, data) = (turns.clone(), data.clone());
                loom::thread::spawn(move || {
                    while !turns.is_at(view, 1) {
                        loom::thread::yield_now();
                    }
                    // SAFETY: the turn is here.
                    data.with_mut(|d| unsafe { *d += 1 });
                    turns.pass(view, 2);
                })
            };
            // SAFETY: the first turn is ours.
            data.with_mut(|d| unsafe { *d += 1 });
            turns.pass(view, 1);
            while !turns.is_at(view, 2) {
                loom::thread::yield_now();
            }
            // SAFETY: the turn came back.
            assert_eq!(data.with(|d| unsafe { *d }), 2);
            other.join().unwrap();
        });
    }
}
