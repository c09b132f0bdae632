//! Where a region runs when it is left to us.
//!
//! How: [`super::choice`] decides from times; here they are taken, the data is looked at that a run would move, and
//! the run is made. Kernels are made on another thread meanwhile. Times on the device have all that belongs
//! to them: copies to it, and what the host waits for when it looks at the results. Runs of very different
//! length are kept apart.

use super::choice::{Choice, Ledger, Measured, SHORT};
use super::{attempt, launch, note_host};
use crate::kmpc::{fork, hooks};
use crate::offload::device::{Memory, Queue};
use crate::offload::devices::State;
use parking_lot::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// What all regions took.
static LEDGER: Mutex<Ledger> = Mutex::new(Ledger { host: 0, lost: 0 });

/// What regions took in this process, in nanoseconds.
static HERE: AtomicU64 = AtomicU64::new(0);

/// What all regions took, with what earlier runs left.
pub(super) fn ledger() -> Ledger {
    *LEDGER.lock()
}

/// Adds what earlier runs of a program left.
pub(super) fn credit(earlier: Ledger) {
    let mut ledger = LEDGER.lock();
    ledger.host += earlier.host;
    ledger.lost += earlier.lost;
}

/// Adds a run on the host of a region of which no more is known; what all of this process took.
pub(super) fn add(time: u64) -> u64 {
    LEDGER.lock().host += time;
    HERE.fetch_add(time, Ordering::Relaxed) + time
}

/// Puts down a loss.
pub(super) fn charge(cost: u64) {
    LEDGER.lock().lost += cost;
}

/// Bytes that are copied in a microsecond; a guess until some were.
static SPEED: AtomicU64 = AtomicU64::new(16_000);

/// Runs after a short one that are not looked at: looking takes a part of a microsecond.
const SKIPPED: u32 = 30;
/// Bytes of a thread's memory for an iteration from which on the host keeps it: on a device they are in its memory,
/// for as many threads as it could run at once, and each access waits for that.
const PRIVATE: u64 = 16 << 10;
/// Iterations from which on they may have memory that the launch brings along: a warp of them for each of a large
/// GPU's schedulers. With fewer it has too little to do while they wait for that memory.
const MANY: u64 = 16384;
/// Bytes that are copied to find out how fast copies are.
const PROBE: usize = 32 << 20;
/// Bytes whose copy tells the speed.
const TELLING: u64 = 1 << 20;

/// Notes how long a copy took.
pub(super) fn copied(bytes: u64, nanoseconds: u64) {
    if bytes >= TELLING && nanoseconds > 0 {
        let new = bytes.saturating_mul(1000) / nanoseconds;
        let old = SPEED.load(Ordering::Relaxed);
        // Threads that do this at once lose one another's.
        SPEED.store((3 * old + new) / 4, Ordering::Relaxed);
    }
}

/// Finds out how fast copies are, before the first of a region's data; takes about a millisecond.
pub(super) fn probe(state: &State) {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    let Ok(there) = state.device.alloc(PROBE as u64, 256, Memory::Device) else {
        return;
    };
    let bytes = vec![1; PROBE];
    // The first copy may have to make its way.
    for _ in 0..2 {
        let began = Instant::now();
        // SAFETY: the bytes live until the call returns.
        let done = unsafe {
            state
                .device
                .upload(Queue::SYNC, there, bytes.as_ptr(), PROBE)
        };
        let time = began.elapsed().as_nanos() as u64;
        if done.is_ok() {
            SPEED.store(PROBE as u64 * 1000 / time.max(1), Ordering::Relaxed);
        }
    }
    // It is as well to lose it.
    let _ = state.device.free(there, Memory::Device);
}

/// Threads of the host.
fn threads() -> u64 {
    static THREADS: OnceLock<u64> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get() as u64))
}

/// What was found out of a region: nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The length of its runs.
    pub class: u8,
    /// What one takes on the host.
    pub host: u64,
    /// What one takes on the device, where that is known.
    pub device: u64,
    /// What all runs of this process take less on the device.
    pub won: u64,
}

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
    /// It has been decided about.
    seen: AtomicBool,
}

impl Default for Region {
    fn default() -> Region {
        Region {
            proved: AtomicBool::new(false),
            // As long as the process: objects name it that outlive the program.
            returns: Box::leak(Box::default()),
            measured: Mutex::new([Measured::default(); 33]),
            skip: AtomicU32::new(0),
            seen: AtomicBool::new(false),
        }
    }
}

impl Region {
    /// With what earlier runs of the program measured.
    pub fn known(measured: [Measured; 33]) -> Region {
        Region {
            measured: Mutex::new(measured),
            ..Region::default()
        }
    }

    /// What was found out, by the length of runs.
    pub fn outcome(&self) -> Vec<Outcome> {
        let measured = self.measured.lock();
        let known = measured.iter().enumerate();
        known
            .filter_map(|(class, m)| {
                let (host, device, won) = m.outcome()?;
                Some(Outcome {
                    class: class as u8,
                    host,
                    device,
                    won,
                })
            })
            .collect()
    }

    /// Whether the next run is so likely a short one that it is not looked at.
    pub fn skips(&self) -> bool {
        let left = self.skip.load(Ordering::Relaxed);
        // Threads that do this at once skip one less or more.
        self.skip.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// Whether a run of it could be on the device.
    pub fn seen(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
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
    if plan.phases.iter().any(|p| p.private >= PRIVATE) {
        note_host(start, "its iterations need much memory of their own");
        return false;
    }
    // SAFETY: the caller's contract.
    let trips = unsafe { launch::trips(region, plan, start) };
    if plan.phases.iter().any(|p| p.scratch > 0) && trips.is_none_or(|n| n < MANY) {
        note_host(
            start,
            "its iterations need much memory of their own, and are few",
        );
        return false;
    }
    let class = trips.map_or(32, |n| (64 - n.leading_zeros()) as usize / 2);
    let state = &region.policy;
    if region.program.is_prepared() {
        state.seen.store(true, Ordering::Relaxed);
    }
    let known = state.measured.lock()[class];
    let ledger = *LEDGER.lock();
    let speed = SPEED.load(Ordering::Relaxed);
    // SAFETY: the caller's contract.
    let moves = || unsafe { launch::moves(region, plan, start) };
    let choice = match known.choose(&ledger) {
        // Nothing is known of the data before there are kernels.
        Choice::Trial if !region.program.is_prepared() => known.waits(),
        Choice::Trial => {
            let cost = moves().map(|m| known.trial(m, speed, trips, threads()));
            let mut measured = state.measured.lock();
            match cost {
                Some(cost) if known.may_try(&ledger, cost) => {
                    measured[class].begin(cost);
                    Choice::Device
                }
                cost => {
                    // What cannot run there now is not looked at for a while.
                    measured[class].refuse(cost.unwrap_or(2 * known.time()));
                    known.waits()
                }
            }
        }
        Choice::Again => {
            let cost = moves().map(|m| known.measuring(m, speed));
            let mut measured = state.measured.lock();
            match cost {
                Some(cost) if known.may_measure(cost) => {
                    measured[class].measure();
                    Choice::Host("the host is measured again")
                }
                cost => {
                    measured[class].refuse(cost.unwrap_or(2 * known.time()));
                    Choice::Device
                }
            }
        }
        other => other,
    };
    if let Choice::Host(why) = choice {
        note_host(start, why);
    } else {
        let began = Instant::now();
        // SAFETY: the caller's contract.
        match unsafe { attempt(region, start) } {
            Ok(done) => {
                let returned = state.returns.swap(0, Ordering::Relaxed);
                let time = began.elapsed().as_nanos() as u64 + returned;
                copied(done.to + done.from, done.transfer);
                state.measured.lock()[class].on_device(time, done.kernel, &mut LEDGER.lock());
                return true;
            }
            Err(why) => {
                note_host(start, &why);
                state.measured.lock()[class].back();
            }
        }
    }
    let began = Instant::now();
    // SAFETY: the caller's contract.
    unsafe { fork::on_team(start.ident, start.argc, start.microtask, start.argv) };
    let time = began.elapsed().as_nanos() as u64;
    let mut measured = state.measured.lock();
    measured[class].on_host(time, &mut LEDGER.lock());
    if time < SHORT && !measured[class].there {
        state.skip.store(SKIPPED, Ordering::Relaxed);
    }
    true
}
