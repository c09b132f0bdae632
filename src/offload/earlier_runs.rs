//! Chooses between one device and several for a program, by the times of its earlier runs.
//!
//! Contexts of several GPUs take some tenths of a second longer to open than one, which a short
//! program does not regain. So a run records in the cache how long the program waited for its
//! devices, and how long their kernels took. If the kernels of the first run, which uses all
//! devices, cannot save what the others cost, the next run uses one; then the better choice
//! follows from both. The records are of a program's device code, whatever its input is, and each
//! run replaces the one of its kind. Kernels are those of `target` regions and of plain loops.

use ompvm_cache::CacheEntry;
use ompvm_support::log;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Name of the records in the cache.
const ENTRY: &str = "devices";

/// Times of a run in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run {
    /// Time that the program waited for its devices to be opened.
    pub waited: u64,
    /// Time of kernels.
    pub kernels: u64,
}

/// The latest runs of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EarlierRuns {
    /// With one device.
    pub alone: Option<Run>,
    /// With several devices.
    pub group: Option<Run>,
}

impl EarlierRuns {
    /// Reads the record in a program's cache entry.
    fn of(entry: &CacheEntry) -> EarlierRuns {
        let bytes = entry.bytes(ENTRY);
        let read = bytes.and_then(|bytes| postcard::from_bytes(&bytes).ok());
        read.unwrap_or_default()
    }

    fn store(&self, entry: &CacheEntry) {
        if let Ok(bytes) = postcard::to_allocvec(self) {
            entry.put_bytes(ENTRY, &bytes);
        }
    }

    /// Returns true if the program has run kernels before.
    pub(super) fn any(&self) -> bool {
        self.alone.is_some() || self.group.is_some()
    }

    /// Returns true if one device is expected to take less time than that many.
    pub(super) fn prefer_one(&self, devices: usize) -> bool {
        let devices = devices.max(1) as f64;
        let Some(group) = self.group else {
            return false;
        };
        let Some(alone) = self.alone else {
            // Several devices save at most the time that one would take beyond theirs. What they
            // cost is unknown; a half of the wait is likely.
            return group.kernels as f64 * (devices - 1.0) < group.waited as f64 / 2.0;
        };
        // The runs may have had different input, so the ratio has a limit.
        let ratio = group.kernels as f64 / (alone.kernels as f64).max(1.0);
        let saved = alone.kernels as f64 * (1.0 - ratio.max(1.0 / devices));
        saved < group.waited as f64 - alone.waited as f64
    }
}

/// Use of several devices that are selected to work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Formation {
    /// They do.
    Group,
    /// The first one, of this number, works alone, since that took less time in earlier runs.
    Alone(usize),
}

/// The run of this process, whose times the cache keeps.
#[derive(Debug)]
pub(super) struct ThisRun {
    /// Set once several devices are found.
    formation: OnceLock<Formation>,
    /// Times in nanoseconds, as in [`Run`].
    waited: AtomicU64,
    kernels: AtomicU64,
    place: OnceLock<Place>,
    recorded: AtomicBool,
}

/// The place of the record.
#[derive(Debug)]
struct Place {
    /// Number of the process; children of `fork` record nothing.
    process: u32,
    /// The cache entry of the first program with code for devices.
    entry: CacheEntry,
}

impl ThisRun {
    /// Returns a run that has not begun.
    pub(super) const fn new() -> ThisRun {
        ThisRun {
            formation: OnceLock::new(),
            waited: AtomicU64::new(0),
            kernels: AtomicU64::new(0),
            place: OnceLock::new(),
            recorded: AtomicBool::new(false),
        }
    }

    /// Expects this process to be recorded in the cache entry. Returns true at the first call.
    pub(super) fn expect(&self, entry: CacheEntry) -> bool {
        let process = std::process::id();
        self.place.set(Place { process, entry }).is_ok()
    }

    /// Reads the record of earlier runs.
    pub(super) fn earlier(&self) -> EarlierRuns {
        let place = self.place.get();
        place.map_or_else(EarlierRuns::default, |place| EarlierRuns::of(&place.entry))
    }

    /// Sets the use of several devices.
    pub(super) fn set_formation(&self, formation: Formation) {
        self.formation.get_or_init(|| formation);
    }

    /// Returns the number of the device that works alone, if earlier runs have decided so.
    pub(super) fn device_alone(&self) -> Option<usize> {
        match self.formation.get() {
            Some(Formation::Alone(number)) => Some(*number),
            Some(Formation::Group) | None => None,
        }
    }

    /// Adds to the time that the program waited for devices.
    pub(super) fn add_wait(&self, time: Duration) {
        self.waited
            .fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Adds to the time of kernels.
    pub(super) fn add_kernel(&self, time: Duration) {
        self.kernels
            .fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Writes the record, once.
    pub(super) fn record(&self) {
        let (Some(place), Some(formation)) = (self.place.get(), self.formation.get()) else {
            return;
        };
        if place.process != std::process::id() || self.recorded.swap(true, Ordering::Relaxed) {
            return;
        }
        let run = Run {
            waited: self.waited.load(Ordering::Relaxed),
            kernels: self.kernels.load(Ordering::Relaxed),
        };
        let mut runs = EarlierRuns::of(&place.entry);
        match formation {
            // Without a kernel the devices were of no use, so the next run does not expect them.
            _ if run.kernels == 0 => runs = EarlierRuns::default(),
            Formation::Group => runs.group = Some(run),
            Formation::Alone(_) => runs.alone = Some(run),
        }
        tracing::debug!(target: log::OFFLOAD, ?runs, "records the run");
        runs.store(&place.entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(waited: u64, kernels: u64) -> Option<Run> {
        Some(Run { waited, kernels })
    }

    #[test]
    fn offload_earlier_runs_decide_on_the_devices() {
        let prefer = |group, alone| EarlierRuns { alone, group }.prefer_one(2);
        // The first run uses all, and so does one that knows only of one device.
        assert!(!prefer(None, None));
        assert!(!prefer(None, run(300, 50)));
        // Short kernels try one device, long ones do not.
        assert!(prefer(run(500, 90), None));
        assert!(!prefer(run(500, 300), None));
        // Then both are known.
        assert!(prefer(run(500, 90), run(300, 140)));
        assert!(!prefer(run(500, 300), run(300, 600)));
        // If the kernels of one device took longer this time, several may pay.
        assert!(!prefer(run(500, 90), run(300, 1000)));
        // Devices that do not speed the program up never pay.
        assert!(prefer(run(500, 400), run(300, 410)));
    }
}
