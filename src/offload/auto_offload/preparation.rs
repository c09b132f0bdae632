//! Decides in `auto` mode when a program's kernels are made.
//!
//! Starting a GPU and compiling kernels take a noticeable part of a second each, and a team that
//! uses every processor is delayed by the thread that does so. Therefore at first only the time of
//! parallel regions is measured ([`run_and_time`]). Preparation starts
//!
//! - at once, if earlier runs of the program won more than it costs;
//! - after [`MIN_IDLE_TIME`] of region time, on a thread of lowest priority, if processors are
//!   idle;
//! - otherwise when a twentieth of the region time pays for it ([`Ledger`]).
//!
//! A long region, possibly the only one of its program, waits for kernels that are being made if
//! that is faster according to earlier runs, or if a twentieth of the region time pays for the
//! trial ([`wait_limit`]).
//!
//! A [`Profile`] of all runs is cached with the program's kernels: region times on either side, the
//! loss budget, and the number of fruitless preparations. It is trusted until new measurements
//! replace it.

use super::decision::{Ledger, RegionTimes, TRIAL_COST};
use super::{AUTO_OFFLOAD, Program, policy};
use hashbrown::HashMap;
use ompvm_kmpc::{fork, hooks};
use ompvm_support::{clock, topology};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Minimum region time before idle processors are used, in nanoseconds.
const MIN_IDLE_TIME: u64 = 500_000_000;
/// Cost of starting a GPU with cached kernels, in nanoseconds of one processor.
const START_COST: u64 = 350_000_000;
/// Additional cost of compiling kernels, in nanoseconds per byte of bitcode.
const COMPILE_COST_PER_BYTE: u64 = 12_000;
/// Maximum number of doublings after fruitless preparations.
const MAX_DOUBLINGS: u32 = 16;
/// Maximum credit from earlier runs, in nanoseconds.
const MAX_CREDIT: u64 = 100_000_000_000;
/// Interval over which processor idleness is measured.
const IDLE_INTERVAL: Duration = Duration::from_millis(50);
/// Regions longer than this, in nanoseconds, may wait for kernels.
const LONG_REGION: u64 = 100_000_000;
/// Polling interval of a region that waits for kernels.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// A region shorter than this is not timed for the next [`SKIPPED_RUNS`] runs.
const SHORT_REGION: Duration = Duration::from_micros(40);
const SKIPPED_RUNS: u32 = 30;
/// Name of the profile in a cache entry.
const PROFILE_ENTRY: &str = "auto-offload-profile";

/// Knowledge from earlier runs of a program; times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Profile {
    /// Host time of regions, and the losses.
    host: u64,
    lost: u64,
    /// True if kernels have been made.
    has_kernels: bool,
    /// Number of fruitless preparations since the device last saved time.
    fruitless: u32,
    /// Time that the device saved in the last run.
    saved: u64,
    /// Host time of long regions by function.
    long_regions: BTreeMap<String, u64>,
    /// Host and device time of a run, by function and length class.
    regions: BTreeMap<String, BTreeMap<u8, (u64, u64)>>,
}

impl Profile {
    /// Returns the expected cost of preparation; doubles after each fruitless preparation.
    fn cost(&self, bytes: usize) -> u64 {
        let making = match self.has_kernels {
            true => 0,
            false => COMPILE_COST_PER_BYTE.saturating_mul(bytes as u64),
        };
        (START_COST + making) << self.fruitless.min(MAX_DOUBLINGS)
    }

    /// Returns the ledger that a run starts with.
    fn ledger(&self) -> Ledger {
        let host = self.host.min(MAX_CREDIT);
        Ledger {
            host,
            lost: self.lost.min(host),
        }
    }

    /// Returns the measurements of a region by length class.
    fn measured(&self, function: &str) -> [RegionTimes; 33] {
        let known = self.regions.get(function);
        let long_regions = self.long_regions.get(function).map(|&host| (host, 0));
        std::array::from_fn(|class| {
            let times = known.and_then(|k| k.get(&(class as u8)).copied());
            times
                .or(long_regions)
                .map_or_else(RegionTimes::default, |(host, device)| {
                    RegionTimes::from_earlier_runs(host, device)
                })
        })
    }

    /// Returns the time of a region's longest runs on the host and on the device (0 if unknown), if
    /// they exceed [`LONG_REGION`].
    fn longest_run(&self, function: &str) -> Option<(u64, u64)> {
        let known = self
            .regions
            .get(function)
            .into_iter()
            .flat_map(|k| k.values());
        // Length classes that ran on the device are preferred.
        let known = known.copied().max_by_key(|t| (t.1 > 0, t.0));
        let long_times = self.long_regions.get(function).map(|&host| (host, 0));
        known.or(long_times).filter(|t| t.0 >= LONG_REGION)
    }
}

/// Returns how long a region waits for its kernels, given its times on both sides (device 0:
/// unknown) and the cost of preparation.
fn wait_limit(host: u64, device: u64, cost: u64, ledger: &Ledger) -> u64 {
    if device > 0 {
        let gain = host.saturating_sub(device);
        return if gain > cost { gain } else { 0 };
    }
    match host >= 2 * cost && ledger.can_afford(cost + TRIAL_COST) {
        true => host.min(4 * cost),
        false => 0,
    }
}

/// Decision whether to start preparation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StartTime {
    /// Not yet.
    Later,
    /// At lowest priority, beside a program that leaves processors idle.
    LowPriority,
    /// At once.
    Now,
}

/// Decides whether to prepare a program with `bytes` of bitcode after `here` nanoseconds of region
/// time.
fn when_to_start(
    profile: &Profile,
    bytes: usize,
    ledger: &Ledger,
    here: u64,
    idle: bool,
) -> StartTime {
    let cost = profile.cost(bytes);
    if profile.saved >= cost || ledger.can_afford(cost) {
        StartTime::Now
    } else if idle && here >= MIN_IDLE_TIME << profile.fruitless.min(MAX_DOUBLINGS) {
        StartTime::LowPriority
    } else {
        StartTime::Later
    }
}

/// A program whose kernels are not ready.
#[derive(Debug)]
struct PendingProgram {
    program: Arc<Program>,
    profile: Profile,
    /// `Some` once preparation has started; true if its cost counts as lost.
    started: Option<bool>,
    /// Long regions by function address, with their times on the host and device (0 if unknown).
    long_regions: HashMap<usize, (u64, u64)>,
}

impl PendingProgram {
    fn new(program: &Arc<Program>, profile: Profile) -> PendingProgram {
        let names = profile.long_regions.keys().chain(profile.regions.keys());
        let known = names.filter_map(|name| {
            let &address = program.functions.get(name)?;
            Some((address, profile.longest_run(name)?))
        });
        let long_regions = known.collect();
        PendingProgram {
            program: program.clone(),
            profile,
            started: None,
            long_regions,
        }
    }

    /// Starts preparation. Its cost counts as lost unless processors are idle or earlier runs saved
    /// more.
    fn start(&mut self, start: StartTime, idle: bool) {
        let paid = start == StartTime::Now && !idle;
        let cost = match paid {
            true => self.profile.cost(self.program.bytes()),
            false => 0,
        };
        self.started = Some(paid);
        let low_priority = start == StartTime::LowPriority;
        prepare(
            self.program.clone(),
            self.profile.clone(),
            low_priority,
            cost,
        );
    }
}

/// The preparation of a process's programs.
pub(super) struct Preparation {
    /// Number of programs in `pending`.
    pending_count: AtomicUsize,
    pending: Mutex<Vec<PendingProgram>>,
    /// Times of long regions of waiting programs, by function address.
    long_regions: Mutex<Option<HashMap<usize, u64>>>,
    /// Number of runs that are not timed after a short one. Regions that share a slot are skipped
    /// together.
    skip_counts: [AtomicU32; 64],
    /// Programs whose profile is stored at exit.
    profiled: Mutex<Vec<Arc<Program>>>,
    /// True once the exit handler is registered.
    stores_at_exit: AtomicBool,
    /// The last measurement of idleness: when, the process's time then, the answer.
    idleness: Mutex<Option<(Instant, Duration, bool)>>,
}

impl Preparation {
    /// Returns the state without programs.
    pub(super) const fn new() -> Preparation {
        Preparation {
            pending_count: AtomicUsize::new(0),
            pending: Mutex::new(Vec::new()),
            long_regions: Mutex::new(None),
            skip_counts: [const { AtomicU32::new(0) }; 64],
            profiled: Mutex::new(Vec::new()),
            stores_at_exit: AtomicBool::new(false),
            idleness: Mutex::new(None),
        }
    }
}

/// Returns the preparation of this process's programs.
fn state() -> &'static Preparation {
    &AUTO_OFFLOAD.preparation
}

/// Starts observing a program.
pub(super) fn start_observing(program: &Arc<Program>) {
    let cache_entry = program.cache_entry();
    let profile: Profile = cache_entry
        .and_then(|s| s.bytes(PROFILE_ENTRY))
        .and_then(|bytes| postcard::from_bytes(&bytes).ok())
        .unwrap_or_default();
    policy::add_earlier_runs(profile.ledger());
    store_at_exit(program);
    let nothing = Ledger::default();
    let mut waiting = PendingProgram::new(program, profile);
    if when_to_start(&waiting.profile, program.bytes(), &nothing, 0, false) == StartTime::Now {
        // Earlier runs saved more than preparation costs.
        waiting.start(StartTime::Now, true);
    }
    state().pending.lock().push(waiting);
    state().pending_count.fetch_add(1, Ordering::Release);
}

/// Removes a program whose preparation is complete from the waiting ones.
fn remove_pending(program: &Arc<Program>) {
    state().pending.lock().retain(|w| {
        let goes = Arc::ptr_eq(&w.program, program);
        if goes {
            state().pending_count.fetch_sub(1, Ordering::Relaxed);
        }
        !goes
    });
}

/// Stops observing a program and stores its profile.
pub(super) fn stop_observing(program: &Arc<Program>) {
    remove_pending(program);
    state().profiled.lock().retain(|p| !Arc::ptr_eq(p, program));
    store_profile(program);
}

/// Registers a program's profile to be stored at process exit.
fn store_at_exit(program: &Arc<Program>) {
    extern "C" fn at_exit() {
        // A thread that was terminated inside the lock may hold it forever.
        let running = state().profiled.try_lock().map(|r| r.clone());
        running.iter().flatten().for_each(store_profile);
    }
    state().profiled.lock().push(program.clone());
    if !state().stores_at_exit.swap(true, Ordering::Relaxed) {
        // SAFETY: `at_exit` does not unwind.
        unsafe { libc::atexit(at_exit) };
    }
}

fn store_profile(program: &Arc<Program>) {
    let Some(cache_entry) = program.cache_entry() else {
        return;
    };
    let ledger = policy::ledger();
    let old: Profile = cache_entry
        .bytes(PROFILE_ENTRY)
        .and_then(|bytes| postcard::from_bytes(&bytes).ok())
        .unwrap_or_default();
    let mut new = Profile {
        host: ledger.host,
        lost: ledger.lost,
        has_kernels: old.has_kernels || program.is_prepared(),
        fruitless: old.fruitless,
        saved: old.saved,
        long_regions: old.long_regions,
        regions: old.regions,
    };
    let long_times = state().long_regions.lock();
    for (name, address) in &program.functions {
        if let Some(&time) = long_times.as_ref().and_then(|t| t.get(address)) {
            new.long_regions.insert(name.clone(), time);
        }
    }
    drop(long_times);
    if program.is_prepared() {
        new.saved = 0;
        let mut seen = false;
        for (function, region) in super::regions_of(program) {
            seen |= region.policy.was_considered();
            let known = region.policy.outcome();
            new.saved += known.iter().map(|k| k.won).sum::<u64>();
            let times = new.regions.entry(function).or_default();
            times.extend(known.iter().map(|k| (k.class, (k.host, k.device))));
        }
        // Kernels that came too late were of no use, but a region may wait for them in the next
        // run.
        let late = !new.long_regions.is_empty() && !seen;
        new.fruitless = match new.saved {
            0 if late => old.fruitless,
            0 => old.fruitless + 1,
            _ => 0,
        };
    }
    if let Ok(bytes) = postcard::to_allocvec(&new) {
        cache_entry.put_bytes(PROFILE_ENTRY, &bytes);
    }
}

fn skip_count(start: &hooks::RegionStart) -> &'static AtomicU32 {
    let counts = &state().skip_counts;
    &counts[(start.microtask as usize >> 4) % counts.len()]
}

/// Returns true if this run of a region is to be timed for programs that wait for kernels.
pub(super) fn should_time(start: &hooks::RegionStart) -> bool {
    if state().pending_count.load(Ordering::Acquire) == 0 {
        return false;
    }
    let skip = skip_count(start);
    let left = skip.load(Ordering::Relaxed);
    // Concurrent updates may be lost, which skips one run more or less.
    skip.store(left.saturating_sub(1), Ordering::Relaxed);
    left == 0
}

/// Makes a long region wait for its kernels if that is expected to be faster.
pub(super) fn wait_for_kernels(start: &hooks::RegionStart) {
    if state().pending_count.load(Ordering::Acquire) == 0 {
        return;
    }
    let function = start.microtask as usize;
    let Some(mut waiting) = state().pending.try_lock() else {
        return;
    };
    let Some(it) = waiting
        .iter_mut()
        .find(|w| w.long_regions.contains_key(&function))
    else {
        return;
    };
    let bytes = it.program.bytes();
    let cost = it.profile.cost(bytes);
    if it.started.is_none() {
        let cpus = topology::usable_cpus();
        let idle = fork::default_team_size() < cpus && topology::running_threads() <= cpus;
        match when_to_start(&it.profile, bytes, &policy::ledger(), 0, false) {
            StartTime::Later if idle => it.start(StartTime::LowPriority, true),
            StartTime::Later => return,
            start => it.start(start, idle),
        }
    }
    let (host, device) = it.long_regions.get(&function).copied().unwrap_or_default();
    let paid = it.started == Some(true);
    let wait_limit = wait_limit(host, device, cost, &policy::ledger());
    let program = it.program.clone();
    drop(waiting);
    let began = Instant::now();
    let waits = || {
        state()
            .pending
            .lock()
            .iter()
            .any(|w| Arc::ptr_eq(&w.program, &program))
    };
    while (began.elapsed().as_nanos() as u64) < wait_limit && waits() {
        std::thread::sleep(POLL_INTERVAL);
    }
    // Each region waits only once.
    for it in state().pending.lock().iter_mut() {
        it.long_regions.remove(&function);
    }
    if wait_limit > 0 && device == 0 && !paid {
        policy::add_loss(began.elapsed().as_nanos() as u64);
    }
}

/// Runs a region on the host and records its time.
///
/// # Safety
/// The region must be one that the runtime starts.
pub(super) unsafe fn run_and_time(start: &hooks::RegionStart) {
    let began = Instant::now();
    // SAFETY: by this function's contract, the arguments are those of the runtime's fork call.
    unsafe { fork::fork_team(start.ident, start.argc, start.microtask, start.argv) };
    let time = began.elapsed();
    if time < SHORT_REGION {
        skip_count(start).store(SKIPPED_RUNS, Ordering::Relaxed);
    }
    let here = policy::add_host_time(time.as_nanos() as u64);
    // A team that uses every processor is delayed even by a thread of lowest priority.
    let idle = fork::default_team_size() < topology::usable_cpus() && has_idle_processor();
    if time.as_nanos() as u64 >= LONG_REGION {
        let mut long_times = state().long_regions.lock();
        let long_times = long_times.get_or_insert_default();
        long_times.insert(start.microtask as usize, time.as_nanos() as u64);
    }
    let Some(mut waiting) = state().pending.try_lock() else {
        return;
    };
    let ledger = policy::ledger();
    for it in waiting.iter_mut().filter(|w| w.started.is_none()) {
        let start = when_to_start(&it.profile, it.program.bytes(), &ledger, here, idle);
        if start != StartTime::Later {
            it.start(start, idle);
        }
    }
}

/// Returns true if a processor was idle recently, as far as this process can tell.
fn has_idle_processor() -> bool {
    let Some(mut last) = state().idleness.try_lock() else {
        return false;
    };
    let now = Instant::now();
    let (since, used, idle) = last.unwrap_or((now, clock::process_time(), false));
    if now - since < IDLE_INTERVAL && last.is_some() {
        return idle;
    }
    let time = clock::process_time();
    let busy = (time.saturating_sub(used)).as_secs_f64() / (now - since).as_secs_f64().max(1e-9);
    let cpus = topology::usable_cpus();
    let idle = busy < cpus as f64 - 0.75 && topology::running_threads() <= cpus;
    *last = Some((now, time, idle));
    idle
}

/// Makes a program's kernels on a separate thread and records the cost as lost.
fn prepare(program: Arc<Program>, profile: Profile, low_priority: bool, cost: u64) {
    // If no thread can be created, the regions stay on the host; long ones wait once.
    drop(ompvm_memory::internal_thread::spawn(
        c"ompvm offload",
        move || {
            if low_priority {
                // SAFETY: affects this thread only; a refusal leaves its priority unchanged.
                unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
            }
            // Without a device no kernels are made.
            let Ok(state) = ompvm_offload::fallback::device_for(-1) else {
                remove_pending(&program);
                return;
            };
            let known =
                |function: &str| policy::PolicyState::from_earlier_runs(profile.measured(function));
            program.prepare(&known);
            if program.load(state).is_ok() {
                policy::measure_bandwidth(state);
                program.prepared.store(true, Ordering::Release);
            }
            // The cost is not charged to a program that has ended by now.
            policy::add_loss(cost);
            remove_pending(&program);
        },
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn auto_offload_preparation_starts_when_affordable() {
        let has_kernels = |saved, fruitless| Profile {
            has_kernels: true,
            saved,
            fruitless,
            ..Profile::default()
        };
        let cost = START_COST;
        let start = |profile: &Profile, host, lost, here, idle| {
            when_to_start(profile, 0, &Ledger { host, lost }, here, idle)
        };
        let new = has_kernels(0, 0);
        // Short programs never pay for the start of a GPU.
        assert_eq!(start(&new, S / 4, 0, S / 4, true), StartTime::Later);
        // Idle processors are free.
        assert_eq!(start(&new, S, 0, S, true), StartTime::LowPriority);
        assert_eq!(start(&new, S, 0, S, false), StartTime::Later);
        let paid = cost * 20;
        assert_eq!(start(&new, paid - 1, 0, paid - 1, false), StartTime::Later);
        assert_eq!(start(&new, paid, 0, paid, false), StartTime::Now);
        assert_eq!(start(&new, paid, 1, paid, false), StartTime::Later);
        // Time and savings of earlier runs count.
        assert_eq!(start(&new, paid, 0, 0, false), StartTime::Now);
        assert_eq!(start(&has_kernels(cost, 0), 0, 0, 0, false), StartTime::Now);
        // Fruitless preparations delay the next one.
        assert_eq!(start(&has_kernels(0, 2), S, 0, S, true), StartTime::Later);
        assert_eq!(
            start(&has_kernels(0, 2), paid, 0, 2 * S, true),
            StartTime::LowPriority
        );
    }

    #[test]
    fn auto_offload_cached_kernels_lower_the_preparation_cost() {
        let mut profile = Profile::default();
        assert_eq!(
            profile.cost(150_000),
            START_COST + 150_000 * COMPILE_COST_PER_BYTE
        );
        profile.has_kernels = true;
        assert_eq!(profile.cost(150_000), START_COST);
        profile.fruitless = 3;
        assert_eq!(profile.cost(150_000), 8 * START_COST);
    }

    #[test]
    fn auto_offload_longest_run_prefers_device_measurements() {
        let mut profile = Profile::default();
        let times = BTreeMap::from([(6, (5 * S, 0)), (7, (5 * S, S / 3)), (32, (5 * S, 0))]);
        profile.regions.insert("main.omp_outlined".into(), times);
        profile
            .long_regions
            .insert("main.omp_outlined".into(), 5 * S);
        assert_eq!(
            profile.longest_run("main.omp_outlined"),
            Some((5 * S, S / 3))
        );
    }

    #[test]
    fn auto_offload_long_region_waits_if_it_pays() {
        let rich = Ledger {
            host: 100 * S,
            lost: 0,
        };
        let poor = Ledger { host: S, lost: S };
        // Known to be faster on the device.
        assert_eq!(wait_limit(3 * S, S / 10, S / 3, &poor), 3 * S - S / 10);
        assert_eq!(wait_limit(S / 4, S / 10, S / 3, &rich), 0);
        assert_eq!(wait_limit(S, 2 * S, S / 3, &rich), 0);
        // Unknown: waits if affordable, unless preparation takes longer than the region.
        assert_eq!(wait_limit(3 * S, 0, S / 3, &rich), 4 * (S / 3));
        assert_eq!(wait_limit(3 * S, 0, S / 3, &poor), 0);
        assert_eq!(wait_limit(S / 2, 0, S / 3, &rich), 0);
        // A region of 2.7 s, the only long one, on 16 of 16 processors: finds the run that tries
        // it.
        let mut profile = Profile::default();
        let (mut lost, bytes, region) = (0, 30_000, 2_700_000_000);
        let mut tried = 0;
        for run in 1..20 {
            let ledger = Ledger {
                host: (run - 1) * region,
                lost,
            };
            let cost = profile.cost(bytes);
            if when_to_start(&profile, bytes, &ledger, 0, false) != StartTime::Now {
                continue;
            }
            // Otherwise the kernels are ready too late.
            if wait_limit(region, 0, cost, &ledger) > cost {
                tried = run;
                break;
            }
            profile.has_kernels = true;
            lost += cost;
        }
        assert!((5..12).contains(&tried), "{tried}");
    }

    #[test]
    fn auto_offload_profiles_round_trip_with_bounded_credit() {
        let mut profile = Profile {
            host: 1000 * S,
            lost: 200 * S,
            has_kernels: true,
            fruitless: 1,
            saved: 3,
            ..Profile::default()
        };
        let times = BTreeMap::from([(10, (5 * S, S))]);
        profile.regions.insert("main.omp_outlined".into(), times);
        let bytes = postcard::to_allocvec(&profile).unwrap();
        let again: Profile = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(again, profile);
        let ledger = again.ledger();
        assert_eq!((ledger.host, ledger.lost), (MAX_CREDIT, MAX_CREDIT));
        let measured = again.measured("main.omp_outlined");
        assert!(measured[10].expects_gain() && !measured[9].expects_gain());
    }
}
