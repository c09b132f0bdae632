//! Computes how much shorter a run would have been with its program compiled beforehand.
//!
//! [`CompileTime`] adds up the processor time of compilations that delayed the program: those that
//! ran while its team had a thread for every processor, and those that it waited for. Compilations
//! on idle processors cost the program nothing and do not count. `saving` divides the sum by the
//! number of processors, because compilations run in parallel and the members of a team wait for
//! each other. The result is a lower bound of the loss.
//!
//! `cli::run` decides whether to print it.

use ompvm_support::clock::process_time;
use ompvm_support::topology;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Name of the marker in the program's cache entry that says that the user was told.
pub const MARKER: &str = "advised";
/// Divisor: compilations that took less than this part of the processor time are not reported.
const REPORTED_PART: u32 = 5;
/// Smallest saving that is reported.
const MIN_SAVING: Duration = Duration::from_millis(100);

/// The processor time that compilations took from the program, in nanoseconds.
#[derive(Debug, Default)]
pub struct CompileTime(AtomicU64);

impl CompileTime {
    /// Adds the processor time of a compilation.
    pub fn add(&self, time: Duration) {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(time, Ordering::Relaxed);
    }

    /// Returns how much shorter the run would have been without these compilations, or `None` if
    /// that is not worth a line.
    pub fn saving(&self) -> Option<Duration> {
        let taken = Duration::from_nanos(self.0.load(Ordering::Relaxed));
        saving(taken, process_time(), topology::usable_cpus())
    }
}

/// Returns the saving of a run that took `all` of processor time, of which `taken` went into
/// compilations that delayed the program.
fn saving(taken: Duration, all: Duration, processors: usize) -> Option<Duration> {
    let saved = taken / processors.max(1) as u32;
    (taken * REPORTED_PART > all && saved >= MIN_SAVING).then_some(saved)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_fifth_of_the_processor_time_is_worth_a_line() {
        assert_eq!(saving(MS * 500, MS * 2000, 2), Some(MS * 250));
        assert_eq!(saving(MS * 500, MS * 2500, 2), None);
        assert_eq!(saving(MS * 500, MS * 2499, 1), Some(MS * 500));
        // Sixteen processors compile side by side.
        assert_eq!(saving(MS * 500, MS * 600, 16), None);
        assert_eq!(saving(MS * 1600, MS * 2000, 16), Some(MS * 100));
        assert_eq!(saving(Duration::ZERO, Duration::ZERO, 1), None);
    }

    #[test]
    fn compilations_add_up() {
        let taken = CompileTime::default();
        assert_eq!(taken.saving(), None);
        for _ in 0..4 {
            taken.add(Duration::from_secs(1_000_000_000));
        }
        let saved = Duration::from_secs(4_000_000_000) / topology::usable_cpus() as u32;
        assert_eq!(taken.saving(), Some(saved));
    }
}
