//! Runs regions in `auto` mode, on the host or the device.
//!
//! [`super::decision`] decides from measured times. This module takes the times, estimates the data
//! that a run would move, and runs the region. Kernels are made on another thread meanwhile. Device
//! times include all costs: copies to the device and the wait for results that the host reads. Runs
//! of very different length are measured separately.

use super::decision::{Decision, Ledger, MIN_REGION_TIME, RegionTimes, TransferSize};
use super::{AUTO_OFFLOAD, launch_inputs, record_host_run, run_on_device};
use ompvm_kmpc::{fork, hooks};
use ompvm_llvm::kernelize::RegionPlan;
use ompvm_offload::device::{MemoryKind, Queue};
use ompvm_offload::devices::DeviceState;
use ompvm_support::log;
use ompvm_support::topology;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// Measurements of a process, which its programs share as they share processors and the device.
pub(super) struct Measurements {
    /// Time of all regions, including earlier runs of the programs.
    ledger: Mutex<Ledger>,
    /// Time of all regions in this process, in nanoseconds.
    region_time: AtomicU64,
    /// Copy bandwidth in bytes per microsecond; an estimate until the first measurement.
    bandwidth: AtomicU64,
    /// True once the bandwidth was measured.
    measured: AtomicBool,
}

impl Measurements {
    /// Returns the state before the first region.
    pub(super) const fn new() -> Measurements {
        Measurements {
            ledger: Mutex::new(Ledger { host: 0, lost: 0 }),
            region_time: AtomicU64::new(0),
            bandwidth: AtomicU64::new(16_000),
            measured: AtomicBool::new(false),
        }
    }
}

/// Returns the measurements of this process.
fn measurements() -> &'static Measurements {
    &AUTO_OFFLOAD.policy
}

/// Returns the time of all regions, including earlier runs of the program.
pub(super) fn ledger() -> Ledger {
    *measurements().ledger.lock()
}

/// Adds the ledger of earlier runs of a program.
pub(super) fn add_earlier_runs(earlier: Ledger) {
    let mut ledger = measurements().ledger.lock();
    ledger.host += earlier.host;
    ledger.lost += earlier.lost;
}

/// Adds a host run of an unmeasured region. Returns the total time of regions in this process.
pub(super) fn add_host_time(time: u64) -> u64 {
    measurements().ledger.lock().host += time;
    measurements()
        .region_time
        .fetch_add(time, Ordering::Relaxed)
        + time
}

/// Records a loss.
pub(super) fn add_loss(cost: u64) {
    measurements().ledger.lock().lost += cost;
}

/// Number of runs that are not measured after a short one, since even the measurement costs time.
const SKIPPED_RUNS: u32 = 30;
/// Maximum bytes of private memory per iteration on a device. The device allocates private memory
/// for as many threads as it can run at once, and each access has the latency of global memory.
const MAX_PRIVATE: u64 = 16 << 10;
/// Minimum trip count of a region whose launch allocates scratch memory: one warp for each
/// scheduler of a large GPU. With fewer iterations too little work hides the latency of that
/// memory.
const MIN_SCRATCH_TRIPS: u64 = 16384;
/// Bytes copied to measure the bandwidth.
const PROBE_BYTES: usize = 32 << 20;
/// Minimum size of a copy that updates the bandwidth.
const MIN_MEASURED_COPY: u64 = 1 << 20;

/// Updates the bandwidth after a copy.
pub(super) fn update_bandwidth(bytes: u64, nanoseconds: u64) {
    if bytes >= MIN_MEASURED_COPY && nanoseconds > 0 {
        let new = bytes.saturating_mul(1000) / nanoseconds;
        let old = measurements().bandwidth.load(Ordering::Relaxed);
        // Concurrent updates may be lost; the value is an estimate.
        measurements()
            .bandwidth
            .store((3 * old + new) / 4, Ordering::Relaxed);
    }
}

/// Measures the bandwidth before a region's first copies.
pub(super) fn measure_bandwidth(state: &DeviceState) {
    if measurements().measured.swap(true, Ordering::Relaxed) {
        return;
    }
    let Ok(there) = state
        .device
        .alloc(PROBE_BYTES as u64, 256, MemoryKind::Device)
    else {
        return;
    };
    let bytes = vec![1; PROBE_BYTES];
    // The first copy may include set-up costs.
    for _ in 0..2 {
        let began = Instant::now();
        // SAFETY: `bytes` lives until the synchronous copy returns.
        let done = unsafe {
            state
                .device
                .upload(Queue::SYNC, there, bytes.as_ptr(), PROBE_BYTES)
        };
        let time = began.elapsed().as_nanos() as u64;
        if done.is_ok() {
            measurements()
                .bandwidth
                .store(PROBE_BYTES as u64 * 1000 / time.max(1), Ordering::Relaxed);
        }
    }
    // A failure only leaks the memory.
    let _ = state.device.free(there, MemoryKind::Device);
}

/// Returns the number of processors that the host's side of a region may use.
fn threads() -> u64 {
    topology::usable_cpus() as u64
}

/// Measured times of a region, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Length class of the runs.
    pub class: u8,
    /// Time of a run on the host.
    pub host: u64,
    /// Time of a run on the device; 0 if unknown.
    pub device: u64,
    /// Time that the device saves over all runs of this process.
    pub won: u64,
}

/// Policy state of a region.
#[derive(Debug)]
pub(super) struct PolicyState {
    /// True if its kernel has completed before.
    has_completed: AtomicBool,
    /// Time for copying its results back to the host, in nanoseconds.
    copy_back_time: &'static AtomicU64,
    /// Measurements by length class: each class covers up to four times the iterations of the
    /// previous one.
    measured: Mutex<[RegionTimes; 33]>,
    /// Number of runs to skip after a short one.
    skip: AtomicU32,
    /// True if a run has been considered for the device.
    was_considered: AtomicBool,
}

impl Default for PolicyState {
    fn default() -> PolicyState {
        PolicyState {
            has_completed: AtomicBool::new(false),
            // Leaked, since mapped objects refer to it and may outlive the program.
            copy_back_time: Box::leak(Box::default()),
            measured: Mutex::new([RegionTimes::default(); 33]),
            skip: AtomicU32::new(0),
            was_considered: AtomicBool::new(false),
        }
    }
}

impl PolicyState {
    /// Creates the state from measurements of earlier runs of the program.
    pub fn from_earlier_runs(measured: [RegionTimes; 33]) -> PolicyState {
        PolicyState {
            measured: Mutex::new(measured),
            ..PolicyState::default()
        }
    }

    /// Returns the measurements by length class.
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

    /// Returns true if the next run is skipped because it is probably short.
    pub fn skips_run(&self) -> bool {
        let left = self.skip.load(Ordering::Relaxed);
        // Concurrent updates may be lost, which skips one run more or less.
        self.skip.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// Returns true if a run has been considered for the device.
    pub fn was_considered(&self) -> bool {
        self.was_considered.load(Ordering::Relaxed)
    }

    /// Returns true if its kernel has completed before.
    pub fn has_completed(&self) -> bool {
        self.has_completed.load(Ordering::Relaxed)
    }

    /// Records that its kernel has completed.
    pub fn mark_completed(&self) {
        self.has_completed.store(true, Ordering::Relaxed);
    }

    /// Returns the counter for the time of copying its results back.
    pub fn copy_back_time(&self) -> &'static AtomicU64 {
        self.copy_back_time
    }
}

/// Returns the region's plan and number of iterations if it can run on a device; otherwise records
/// that it runs on the host, and why.
///
/// # Safety
/// As for [`run_region`].
unsafe fn possible<'r>(
    region: &'r super::Region,
    start: &hooks::RegionStart,
) -> Option<(&'r RegionPlan, Option<u64>)> {
    let refuse = |why: &str| {
        record_host_run(start, why);
        None
    };
    let plan = match &region.plan {
        Ok(plan) => plan,
        Err(why) => return refuse(why),
    };
    if let Some(why) = &*region.refused.lock() {
        return refuse(why);
    }
    if plan.phases.iter().any(|p| p.private >= MAX_PRIVATE) {
        return refuse("its iterations need too much private memory");
    }
    // SAFETY: by this function's contract.
    let trips = unsafe { launch_inputs::trips(region, plan, start) };
    if plan.phases.iter().any(|p| p.scratch > 0) && trips.is_none_or(|n| n < MIN_SCRATCH_TRIPS) {
        return refuse("its iterations are few and need too much private memory");
    }
    Some((plan, trips))
}

/// Chooses where a region of a class of sizes runs, and records a trial or a new timing that
/// begins. `moves` estimates what a run transfers.
fn decide(
    region: &super::Region,
    class: usize,
    trips: Option<u64>,
    moves: impl Fn() -> Option<TransferSize>,
) -> Decision {
    let state = &region.policy;
    let known = state.measured.lock()[class];
    let ledger = *measurements().ledger.lock();
    let speed = measurements().bandwidth.load(Ordering::Relaxed);
    match known.choose(&ledger) {
        // The data cannot be estimated before the kernels exist.
        Decision::Trial if !region.program.is_prepared() => known.reason_to_stay(),
        Decision::Trial => {
            let cost = moves().map(|m| known.trial_cost(m, speed, trips, threads()));
            let mut measured = state.measured.lock();
            match cost {
                Some(cost) if known.can_afford_trial(&ledger, cost) => {
                    measured[class].begin_trial(cost);
                    Decision::Device
                }
                cost => {
                    // A region that cannot run on the device now is not examined again for a while.
                    measured[class].refuse(cost.unwrap_or(2 * known.time_since_switch()));
                    known.reason_to_stay()
                }
            }
        }
        Decision::Retime => {
            let cost = moves().map(|m| known.retiming_cost(m, speed));
            let mut measured = state.measured.lock();
            match cost {
                Some(cost) if known.can_afford_retiming(cost) => {
                    measured[class].begin_retiming();
                    Decision::Host("the host is re-timed")
                }
                cost => {
                    measured[class].refuse(cost.unwrap_or(2 * known.time_since_switch()));
                    Decision::Device
                }
            }
        }
        other => other,
    }
}

/// Runs a region where it is faster. Returns false if the host must run it unmeasured.
///
/// # Safety
/// The region must be one that the runtime starts.
pub(super) unsafe fn run_region(region: &super::Region, start: &hooks::RegionStart) -> bool {
    // SAFETY: by this function's contract.
    let Some((plan, trips)) = (unsafe { possible(region, start) }) else {
        return false;
    };
    let class = trips.map_or(32, |n| (64 - n.leading_zeros()) as usize / 2);
    let state = &region.policy;
    if region.program.is_prepared() {
        state.was_considered.store(true, Ordering::Relaxed);
    }
    // SAFETY: by this function's contract.
    let choice = decide(region, class, trips, || unsafe {
        launch_inputs::transfer_size(region, plan, start)
    });
    tracing::trace!(
        target: log::OFFLOAD,
        function = region.name,
        trips,
        ?choice,
        "decided about a loop",
    );
    if let Decision::Host(why) = choice {
        record_host_run(start, why);
    } else {
        let began = Instant::now();
        // SAFETY: by this function's contract.
        match unsafe { run_on_device(region, start) } {
            Ok(done) => {
                let returned = state.copy_back_time.swap(0, Ordering::Relaxed);
                let time = began.elapsed().as_nanos() as u64 + returned;
                update_bandwidth(done.to + done.from, done.transfer);
                state.measured.lock()[class].on_device(
                    time,
                    done.kernel,
                    &mut measurements().ledger.lock(),
                );
                return true;
            }
            Err(why) => {
                record_host_run(start, &why);
                state.measured.lock()[class].return_to_host();
            }
        }
    }
    let began = Instant::now();
    // SAFETY: by this function's contract, the arguments are those of the runtime's fork call.
    unsafe { fork::fork_team(start.ident, start.argc, start.microtask, start.argv) };
    let time = began.elapsed().as_nanos() as u64;
    let mut measured = state.measured.lock();
    measured[class].on_host(time, &mut measurements().ledger.lock());
    if time < MIN_REGION_TIME && !measured[class].uses_device {
        state.skip.store(SKIPPED_RUNS, Ordering::Relaxed);
    }
    true
}
