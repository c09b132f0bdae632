//! Whether several devices pay for a program, by its earlier runs.
//!
//! Contexts of several GPUs take some tenths of a second longer to open than one, which a short
//! program does not regain. So a run records in the cache how long the program waited for its
//! devices, and how long their kernels took. If the kernels of the first run, which uses all
//! devices, cannot save what the others cost, the next run uses one; then the better choice
//! follows from both. The records are of a program's device code, whatever its input is, and each
//! run replaces the one of its kind.
//!
//! Programs without `target` regions have no record: they use all devices.

use super::program::Program;
use ompvm_cache::CacheEntry;
use serde::{Deserialize, Serialize};

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
    /// Reads the record of a program.
    pub(super) fn of(program: &Program) -> EarlierRuns {
        let bytes = entry(program).and_then(|entry| entry.bytes(ENTRY));
        let read = bytes.and_then(|bytes| postcard::from_bytes(&bytes).ok());
        read.unwrap_or_default()
    }

    /// Writes the record of a program.
    pub(super) fn store(&self, program: &Program) {
        if let (Some(entry), Ok(bytes)) = (entry(program), postcard::to_allocvec(self)) {
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

/// Returns the cache entry of a program's device code.
fn entry(program: &Program) -> Option<CacheEntry> {
    let images = program.images.iter().map(|image| &image.bytes[..]);
    program.options.cache_entry(images)
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
