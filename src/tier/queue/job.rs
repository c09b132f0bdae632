//! One compile job: its rank, and the threads that may take it.
//!
//! The order among waiting jobs is the queue's.

use crate::recompile::Recompilation;
use ompvm_interp::frame::LoweredFunction;
use ompvm_ir::{BlockId, FuncId};
use ompvm_jit::Level;
use std::time::{Duration, Instant};

/// Most threads of normal priority.
pub(super) const MAX_THREADS: usize = 6;

/// Most low-priority threads.
const MAX_LOW_PRIORITY: usize = 4;

/// A compilation to be done.
#[derive(Clone, Debug)]
pub struct Job {
    /// Time for which samples found the function hot; orders the jobs.
    pub score: Duration,
    /// The function to compile.
    pub function: FuncId,
    /// The OSR point to enter: code and index of its head. `None` compiles the function itself.
    pub head: Option<(&'static LoweredFunction, usize)>,
    /// The level to compile at.
    pub level: Level,
    /// The cost and deadline of a recompilation; `None` for first code.
    pub recompilation: Option<Recompilation>,
    /// Most threads that may work on eager jobs, which no sample has shown to be hot; 0 for other
    /// jobs.
    pub eager_threads: usize,
    /// True if the program waits for this job ([`Queue::wait`](super::Queue::wait)).
    pub awaited: bool,
}

impl Job {
    /// Returns the first block of the loop to enter.
    pub(super) fn osr_block(&self) -> Option<BlockId> {
        self.head
            .and_then(|(code, head)| code.osr_points[head].block)
    }

    /// Returns the function and loop that the job makes code for.
    pub(super) fn target(&self) -> (FuncId, Option<BlockId>) {
        (self.function, self.osr_block())
    }

    /// Returns how many threads of the class that takes this job may exist, given the number of
    /// processors that the program leaves and of threads at work on eager jobs.
    pub(super) fn most_threads(&self, left_over: usize, eager_at_work: usize) -> usize {
        // More threads than free processors would take time from the program or from each other.
        match (self.eager_threads, self.recompilation.is_some(), left_over) {
            (eager @ 1.., ..) => eager,
            (0, true, free) => free.clamp(1, MAX_LOW_PRIORITY),
            // Hot functions do not wait for eager jobs.
            (0, false, 0) => MAX_THREADS + eager_at_work,
            (0, false, free) => free.min(MAX_THREADS) + eager_at_work,
        }
    }

    /// Returns the rank of the job: awaited jobs first, then functions without compiled code, then
    /// functions that samples have shown to be hot.
    pub(super) fn priority(&self) -> impl Ord + use<> {
        (
            self.awaited,
            self.recompilation.is_none(),
            self.eager_threads == 0,
            self.score,
        )
    }

    /// Returns true if a thread takes this job. `low_priority` tells the class of the thread,
    /// `idle` for how long a processor is expected to stay idle, and `due` that this thread takes
    /// jobs that cannot wait.
    pub(super) fn is_eligible(
        &self,
        low_priority: bool,
        idle: Duration,
        due: bool,
        now: Instant,
    ) -> bool {
        match self.recompilation {
            Some(recompilation) if !recompilation.is_due() => {
                low_priority && recompilation.fits(idle) && recompilation.is_worth_idle_time(now)
            }
            _ => due,
        }
    }
}
