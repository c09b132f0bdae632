//! Where a region runs when it is left to us.
//!
//! How: a region runs on the host until its time there has come to [`SHARE`] times what a trial on the
//! device is expected to take; so a trial that fails costs no more than a twentieth. Kernels are made
//! meanwhile, on another thread. From then on it runs where it was faster, with all that belongs to it:
//! copies to the device, and what the host waits for when it looks at the results. A region that was slower there is
//! tried again, each time later. Runs of very different length are kept apart.

use super::{attempt, launch, note_host};
use crate::kmpc::{fork, hooks};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// What is known of a region.
#[derive(Debug)]
pub(super) struct Region {
    /// Its kernel has ended well before.
    proved: AtomicBool,
    /// Nanoseconds that the host took to get back what it wrote.
    returns: &'static AtomicU64,
    /// By the length of runs: each has up to four times as many iterations as the one before.
    measured: Mutex<[Measured; 33]>,
    /// Runs that are not looked at, after a short one.
    skip: AtomicU32,
}

impl Default for Region {
    fn default() -> Region {
        Region {
            proved: AtomicBool::new(false),
            // As long as the process: objects name it that outlive the program.
            returns: Box::leak(Box::default()),
            measured: Mutex::new([Measured::default(); 33]),
            skip: AtomicU32::new(0),
        }
    }
}

/// Times of a region, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Runs on the host, and their time; of late.
    host: (u64, u64),
    /// The host's time since the device was tried last.
    since: u64,
    /// Whether the region runs on the device now.
    there: bool,
    /// Runs there, and their time; of late.
    device: (u64, u64),
    /// What they may take longer than on the host.
    budget: u64,
    /// How often the device was found slower.
    lost: u32,
}

/// Runs on the host before anything else is thought of.
const FIRST: u64 = 2;
/// A region that is shorter, in nanoseconds, stays on the host.
const SHORT: u64 = 40_000;
/// Runs after a short one that are not looked at: looking takes a part of a microsecond.
const SKIPPED: u32 = 30;
/// A trial may take this part of the time that the host took since the last one.
const SHARE: u64 = 20;
/// What a trial is expected to take beside copies, in nanoseconds.
const TRIAL: u64 = 1_000_000;
/// Bytes that are copied in a nanosecond, as a guess.
const SPEED: u64 = 16;
/// Runs after which older ones are forgotten.
const WINDOW: u64 = 64;

impl Region {
    /// Whether the next run is so likely a short one that it is not looked at.
    pub fn skips(&self) -> bool {
        let left = self.skip.load(Ordering::Relaxed);
        // Threads that do this at once skip one less or more.
        self.skip.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// Whether its kernel has ended well before.
    pub fn proved(&self) -> bool {
        self.proved.load(Ordering::Relaxed)
    }

    /// It has.
    pub fn prove(&self) {
        self.proved.store(true, Ordering::Relaxed);
    }

    /// Where the time is put down that bringing its results back takes.
    pub fn returns(&self) -> &'static AtomicU64 {
        self.returns
    }
}

impl Measured {
    fn mean((runs, time): (u64, u64)) -> u64 {
        time / runs.max(1)
    }

    /// Whether a trial that takes so long may be made.
    fn affords(&self, trial: u64) -> bool {
        let enough = self.host.0 >= FIRST && Self::mean(self.host) >= SHORT;
        // Each time that the device was slower it waits longer.
        enough && self.since >= (trial * SHARE) << self.lost.min(10)
    }

    /// Why a run is on the host.
    fn reason(&self) -> &'static str {
        if self.lost > 0 {
            "the device was slower"
        } else if self.host.0 >= FIRST && Self::mean(self.host) < SHORT {
            "it is too short for a device"
        } else {
            "it has not taken long enough for a trial on the device"
        }
    }

    fn on_host(&mut self, time: u64) {
        if self.host.0 >= WINDOW {
            self.host = (WINDOW / 2, Self::mean(self.host) * WINDOW / 2);
        }
        self.host = (self.host.0 + 1, self.host.1 + time);
        self.since += time;
    }

    fn on_device(&mut self, time: u64) {
        if !self.there {
            self.there = true;
            self.device = (0, 0);
            self.budget = self.since / SHARE;
        }
        self.device = (self.device.0 + 1, self.device.1 + time);
        let expected = Self::mean(self.host) * self.device.0;
        if self.device.1 > expected + self.budget {
            self.back();
        } else if self.device.0 >= WINDOW {
            self.budget = expected / SHARE;
            self.device = (0, 0);
        }
    }

    /// To the host again.
    fn back(&mut self) {
        self.there = false;
        self.lost += 1;
        self.since = 0;
    }
}

/// Runs a region where it is faster; false when the host is to run it, unmeasured.
///
/// # Safety
/// A region of the runtime's.
pub(super) unsafe fn run(region: &super::Region, start: &hooks::Region) -> bool {
    let plan = match &region.plan {
        Ok(plan) => plan,
        Err(why) => {
            note_host(start, why);
            return false;
        }
    };
    if let Some(why) = &*region.refused.lock() {
        note_host(start, why);
        return false;
    }
    // SAFETY: the caller's contract.
    let trips = unsafe { launch::trips(region, plan, start) };
    let class = trips.map_or(32, |n| (64 - n.leading_zeros()) as usize / 2);
    let state = &region.policy;
    let known = state.measured.lock()[class];
    let there = known.there
        || known.affords(TRIAL)
            && region.program.ready()
            // SAFETY: the caller's contract.
            && unsafe { launch::missing(region, plan, start) }
                .is_some_and(|bytes| known.affords(TRIAL + 2 * bytes / SPEED));
    if there {
        let began = Instant::now();
        // SAFETY: the caller's contract.
        match unsafe { attempt(region, start) } {
            Ok(_) => {
                let returned = state.returns.swap(0, Ordering::Relaxed);
                let time = began.elapsed().as_nanos() as u64 + returned;
                state.measured.lock()[class].on_device(time);
                return true;
            }
            Err(why) => {
                note_host(start, &why);
                state.measured.lock()[class].back();
            }
        }
    } else {
        note_host(start, known.reason());
    }
    let began = Instant::now();
    // SAFETY: the caller's contract.
    unsafe { fork::on_team(start.ident, start.argc, start.microtask, start.argv) };
    let time = began.elapsed().as_nanos() as u64;
    state.measured.lock()[class].on_host(time);
    if time < SHORT {
        state.skip.store(SKIPPED, Ordering::Relaxed);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: u64 = 1_000_000;

    #[test]
    fn outlined_short_regions_stay_on_the_host() {
        let mut m = Measured::default();
        for _ in 0..100_000 {
            m.on_host(SHORT / 2);
        }
        assert!(!m.affords(1));
    }

    #[test]
    fn outlined_a_slower_device_costs_a_twentieth() {
        let mut m = Measured::default();
        let (mut host, mut lost) = (0, 0);
        while host < 2_000_000 * EACH / 1000 {
            if m.there || m.affords(TRIAL) {
                m.on_device(3 * EACH);
                lost += 2 * EACH;
                host += EACH;
            } else {
                m.on_host(EACH);
                host += EACH;
            }
        }
        // One run more than the budget is known to be too many.
        assert!(lost * SHARE <= host * 5 / 4, "{lost} of {host}");
    }

    #[test]
    fn outlined_a_faster_device_is_kept() {
        let mut m = Measured::default();
        let mut runs = 0;
        while !m.affords(5 * EACH) {
            m.on_host(EACH);
            runs += 1;
        }
        assert_eq!(runs, 5 * SHARE);
        // The first one brings the data there.
        m.on_device(5 * EACH);
        for _ in 0..1000 {
            m.on_device(EACH / 100);
            assert!(m.there);
        }
        for _ in 0..2 * WINDOW {
            m.on_device(2 * EACH);
        }
        assert!(!m.there);
    }
}
