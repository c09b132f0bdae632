//! Ordered tickets: the order of the chunks of an ordered loop. OpenMP 5.2, section 15.10.
//!
//! The ordered parts of a chunk's iterations follow each other on its thread. With the last one the
//! thread hands over to the next chunk. It writes that chunk's cache line, one of many, so that at
//! best one thread waits at each line: a hand-over moves the line to the writer and back to the
//! waiter, no matter how many others wait for later tickets. (With a single line, as in libomp,
//! each hand-over is a transfer for every thread. libgomp has a semaphore per thread.)
//!
//! A line holds the number of the current iteration, counted from the loop's base. A loop's base
//! lies after all numbers that were written for earlier loops in the same buffer, so lines are
//! reset only after a region that was left in the middle of loops. A line is compared for equality
//! alone: no other number can be written there before its waiter has seen it, since the waiter
//! holds the ticket.
//!
//! The division into chunks and the waiting are left to [`dispatch`](super::dispatch).

use std::sync::OnceLock;

use crossbeam::utils::CachePadded;

use ompvm_support::sync::{AtomicU64 as SyncU64, Ordering, publish};

/// Minimum number of lines, for a small team.
const MIN_LINES: usize = 8;
/// Maximum number of lines.
const MAX_LINES: usize = 64;

/// The tickets of the loops that use one buffer, one after the other.
#[derive(Debug, Default)]
pub struct OrderedTickets {
    /// Created for the first ordered loop.
    lines: OnceLock<Box<[CachePadded<SyncU64>]>>,
    /// Base of the current loop. Relaxed: published with the buffer's own turn.
    base: std::sync::atomic::AtomicU64,
}

/// A thread's view of the tickets of the loop that it executes.
#[derive(Clone, Copy, Debug, Default)]
pub struct TicketView {
    base: u64,
    /// Binary logarithm of a power of two of which the starts of chunks are multiples.
    shift: u32,
    mask: u64,
}

impl TicketView {
    /// Returns the line of the chunk that begins with iteration `first`. If chunks have equal
    /// lengths, as many consecutive ones as there are lines have one each: the indices are the
    /// length's odd factor times consecutive numbers.
    fn line(self, first: u64) -> usize {
        (first >> self.shift & self.mask) as usize
    }
}

impl OrderedTickets {
    /// Returns the view of a thread, in a team of `size`, of the loop that begins, with chunks of
    /// `length` iterations (1 if the lengths differ).
    pub fn begin(&self, size: u32, length: u64) -> TicketView {
        self.lines.get_or_init(|| {
            (0..MAX_LINES)
                .map(|_| CachePadded::new(SyncU64::new(0)))
                .collect()
        });
        let lines = (size as usize)
            .next_power_of_two()
            .clamp(MIN_LINES, MAX_LINES);
        TicketView {
            base: self.base.load(Ordering::Relaxed),
            shift: length.max(1).trailing_zeros(),
            mask: lines as u64 - 1,
        }
    }

    /// Returns true if the chunk that begins with iteration `first` has its turn. Acquire: the
    /// effects of the preceding ordered parts are visible.
    #[inline]
    pub fn is_current(&self, view: TicketView, first: u64) -> bool {
        let Some(lines) = self.lines.get() else {
            return true;
        };
        first == 0
            || lines[view.line(first)].load(Ordering::Acquire) == view.base.wrapping_add(first)
    }

    /// Hands over to the chunk that begins with iteration `first`; orders that before a check for
    /// sleepers.
    #[inline]
    pub fn hand_over(&self, view: TicketView, first: u64) {
        if let Some(lines) = self.lines.get() {
            publish(&lines[view.line(first)], view.base.wrapping_add(first));
        }
    }

    /// Ends a loop of `total` iterations; called by the last thread that leaves it.
    pub fn end(&self, total: u64) {
        // Relaxed: no other thread is in the loop; see `base`.
        let next = self.base.load(Ordering::Relaxed).wrapping_add(total);
        self.base.store(next.wrapping_add(1), Ordering::Relaxed);
    }

    /// Resets all lines after a region that was left in the middle of loops. No thread is in a
    /// loop.
    pub fn reset(&self) {
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
    fn kmpc_tickets_of_consecutive_chunks_have_separate_lines() {
        for (size, lines) in [(2, 8), (16, 16), (48, 64), (64, 64), (300, 64)] {
            for length in [1u64, 2, 3, 8, 12, 64, 1000, 1 << 40, u64::MAX / 2] {
                let view = OrderedTickets::default().begin(size, length);
                let chunks = lines.min(u64::MAX / length);
                let mut seen: Vec<usize> = (0..chunks).map(|c| view.line(c * length)).collect();
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len() as u64, chunks, "{size} {length}");
            }
        }
    }

    #[test]
    fn kmpc_tickets_differ_between_loops() {
        let tickets = OrderedTickets::default();
        for total in [3, 10, 1, 17] {
            let view = tickets.begin(2, 1);
            assert!(tickets.is_current(view, 0));
            for first in 1..total {
                assert!((first..total).all(|f| !tickets.is_current(view, f)));
                tickets.hand_over(view, first);
                assert!(tickets.is_current(view, first));
            }
            tickets.hand_over(view, total);
            tickets.end(total);
        }
        let view = tickets.begin(2, 1);
        tickets.hand_over(view, 1);
        tickets.reset();
        assert!(!tickets.is_current(tickets.begin(2, 1), 1));
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::sync::Arc;

    /// Two threads hand over to each other; each sees the other's earlier effects.
    #[test]
    fn loom_tickets_order_effects() {
        loom::model(|| {
            let tickets = Arc::new(OrderedTickets::default());
            let data = Arc::new(loom::cell::UnsafeCell::new(0));
            let view = tickets.begin(2, 1);
            let other = {
                let (tickets, data) = (tickets.clone(), data.clone());
                loom::thread::spawn(move || {
                    while !tickets.is_current(view, 1) {
                        loom::thread::yield_now();
                    }
                    // SAFETY: this thread holds the ticket.
                    data.with_mut(|d| unsafe { *d += 1 });
                    tickets.hand_over(view, 2);
                })
            };
            // SAFETY: this thread holds the first ticket.
            data.with_mut(|d| unsafe { *d += 1 });
            tickets.hand_over(view, 1);
            while !tickets.is_current(view, 2) {
                loom::thread::yield_now();
            }
            // SAFETY: the ticket has come back to this thread.
            assert_eq!(data.with(|d| unsafe { *d }), 2);
            other.join().unwrap();
        });
    }
}
