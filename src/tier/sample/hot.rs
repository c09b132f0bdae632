//! The samples of one function, and what has been decided about it.
//!
//! Calls and back edges are counted by the interpreter and the baseline tier ([`osr`]) while this
//! asks for it. [`super::decide`] acts on the counts.

use ompvm_interp::frame::LoweredFunction;
use ompvm_interp::osr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Shortest time after its last call for which a function counts as called. It counts as called for
/// max(8 ms, its compile cost, 2 × its call period).
pub(super) const MIN_CALLED: Duration = Duration::from_millis(8);

/// The samples and state of one function.
#[derive(Debug)]
pub(crate) struct HotSample {
    /// The function.
    pub code: &'static LoweredFunction,
    /// Time of the first sample.
    pub since: Instant,
    /// Sum of the samples since the last decision.
    pub score: Duration,
    /// Sum of all samples.
    pub all: Duration,
    /// Time at which a call was last noticed.
    pub called: Option<Instant>,
    /// Time between the last two noticed calls.
    pub period: Duration,
    /// True if calls are being counted and none has come yet.
    pub awaited: bool,
    /// Start of the counting of back edges, and the value of `all` at that time.
    pub counting: Option<(Instant, Duration)>,
    /// Number of decisions that found the function waiting instead of executing.
    pub waits: u32,
    /// True if the function was queued as a whole.
    pub compiled: bool,
    /// True if a speculative recompilation is queued, and the function was not called since.
    pub speculative: bool,
    /// Places of the loops that were queued.
    pub loops: Vec<u32>,
    /// Expected cost of these loops.
    pub loop_costs: Duration,
    /// True if the function was queued at the quick level after loops of it.
    pub whole: bool,
    /// True if the function cannot be compiled.
    pub refused: bool,
}

impl HotSample {
    /// Creates the samples of a function that was never sampled.
    pub fn new(code: &'static LoweredFunction, now: Instant) -> HotSample {
        HotSample {
            code,
            since: now,
            score: Duration::ZERO,
            all: Duration::ZERO,
            called: None,
            period: Duration::ZERO,
            awaited: false,
            counting: None,
            waits: 0,
            compiled: false,
            speculative: false,
            loops: Vec::new(),
            loop_costs: Duration::ZERO,
            whole: false,
            refused: false,
        }
    }

    /// Returns the part of the time since the first sample in which the function executed.
    pub fn share(&self, now: Instant) -> f64 {
        self.all.as_secs_f64() / (now - self.since).as_secs_f64().max(1e-6)
    }

    /// Returns the sum of the back-edge counts since counting began.
    pub fn hits(&self) -> u64 {
        let loops = self.code.osr_points.iter().skip(1);
        loops
            .map(|h| u64::from(h.hits.load(Ordering::Relaxed)))
            .sum()
    }

    /// Returns the number of calls since counting began.
    pub fn calls(&self) -> u64 {
        u64::from(self.code.osr_points[0].hits.load(Ordering::Relaxed))
    }

    /// Starts counting back edges and calls.
    pub fn start_counting(&mut self, now: Instant) {
        osr::count_back_edges(self.code, true);
        osr::count_calls(self.code, true);
        self.awaited = true;
        self.counting = Some((now, self.all));
    }

    /// Stops counting back edges, and calls unless none has come yet. The counts stay.
    pub fn stop_counting(&mut self) {
        osr::count_back_edges(self.code, false);
        if !self.awaited {
            osr::count_calls(self.code, false);
        }
        self.counting = None;
    }

    /// Checks for calls, now and then. The first tick does not count: the other threads of a team
    /// may still be on their way into its region.
    pub fn look_for_calls(&mut self, now: Instant) {
        if self.awaited {
            if self.calls() > 0 {
                if self.counting.is_none() {
                    osr::count_calls(self.code, false);
                }
                self.awaited = false;
                self.period = self.called.map_or(Duration::ZERO, |at| now - at);
                self.called = Some(now);
            }
        } else if self.counting.is_some() {
            // Calls are counted anyway.
        } else if now > self.since && self.called.is_none_or(|at| now - at >= MIN_CALLED / 2) {
            osr::count_calls(self.code, true);
            self.awaited = true;
        }
    }
}
