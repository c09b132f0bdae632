//! Decides in `auto` mode when a program's kernels are made.
//!
//! Starting a GPU and compiling kernels take a noticeable part of a second each, and a team that
//! uses every processor is delayed by the thread that does so. Therefore at first only the time of
//! parallel regions is measured ([`observe`]). Preparation starts
//!
//! - at once, if earlier runs of the program won more than it costs;
//! - after [`WORTH`] of region time, on a thread of lowest priority, if processors are idle;
//! - otherwise when a twentieth of the region time pays for it ([`Ledger`]).
//!
//! A long region, possibly the only one of its program, waits for kernels that are being made if
//! that is faster according to earlier runs, or if a twentieth of the region time pays for the
//! trial ([`patience`]).
//!
//! A [`Profile`] of all runs is cached with the program's kernels: region times on either side, the
//! loss budget, and the number of fruitless preparations. It is trusted until new measurements
//! replace it.

use super::decision::{Ledger, RegionTimes, TRIAL_COST};
use super::{Program, policy};
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
const WORTH: u64 = 500_000_000;
/// Cost of starting a GPU with cached kernels, in nanoseconds of one processor.
const STARTING: u64 = 350_000_000;
/// Additional cost of compiling kernels, in nanoseconds per byte of bitcode.
const MAKING: u64 = 12_000;
/// Maximum number of doublings after fruitless preparations.
const MOST_VAIN: u32 = 16;
/// Maximum credit from earlier runs, in nanoseconds.
const CREDIT: u64 = 100_000_000_000;
/// Interval over which processor idleness is measured.
const SPAN: Duration = Duration::from_millis(50);
/// Regions longer than this, in nanoseconds, may wait for kernels.
const LONG: u64 = 100_000_000;
/// Polling interval of a region that waits for kernels.
const LOOKS: Duration = Duration::from_millis(1);
/// A region shorter than this is not timed for the next [`SKIPPED`] runs.
const SHORT: Duration = Duration::from_micros(40);
const SKIPPED: u32 = 30;
/// Name of the profile in a cache entry.
const NAME: &str = "outlined-profile";

/// Knowledge from earlier runs of a program; times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Profile {
    /// Host time of regions, and the losses.
    host: u64,
    lost: u64,
    /// True if kernels have been made.
    made: bool,
    /// Number of fruitless preparations since the device last saved time.
    vain: u32,
    /// Time that the device saved in the last run.
    won: u64,
    /// Host time of long regions by function.
    long: BTreeMap<String, u64>,
    /// Host and device time of a run, by function and length class.
    regions: BTreeMap<String, BTreeMap<u8, (u64, u64)>>,
}

impl Profile {
    /// Returns the expected cost of preparation; doubles after each fruitless preparation.
    fn cost(&self, bytes: usize) -> u64 {
        let making = match self.made {
            true => 0,
            false => MAKING.saturating_mul(bytes as u64),
        };
        (STARTING + making) << self.vain.min(MOST_VAIN)
    }

    /// Returns the ledger that a run starts with.
    fn ledger(&self) -> Ledger {
        let host = self.host.min(CREDIT);
        Ledger {
            host,
            lost: self.lost.min(host),
        }
    }

    /// Returns the measurements of a region by length class.
    fn measured(&self, function: &str) -> [RegionTimes; 33] {
        let known = self.regions.get(function);
        let long = self.long.get(function).map(|&host| (host, 0));
        std::array::from_fn(|class| {
            let times = known.and_then(|k| k.get(&(class as u8)).copied());
            times
                .or(long)
                .map_or_else(RegionTimes::default, |(host, device)| {
                    RegionTimes::from_earlier_runs(host, device)
                })
        })
    }

    /// Returns the time of a region's longest runs on the host and on the device (0 if unknown), if
    /// they exceed [`LONG`].
    fn long(&self, function: &str) -> Option<(u64, u64)> {
        let known = self
            .regions
            .get(function)
            .into_iter()
            .flat_map(|k| k.values());
        // Length classes that ran on the device are preferred.
        let known = known.copied().max_by_key(|t| (t.1 > 0, t.0));
        let timed = self.long.get(function).map(|&host| (host, 0));
        known.or(timed).filter(|t| t.0 >= LONG)
    }
}

/// Returns how long a region waits for its kernels, given its times on both sides (device 0:
/// unknown) and the cost of preparation.
fn patience(host: u64, device: u64, cost: u64, ledger: &Ledger) -> u64 {
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
enum Start {
    /// Not yet.
    Later,
    /// At lowest priority, beside a program that leaves processors idle.
    Nice,
    /// At once.
    Now,
}

/// Decides whether to prepare a program with `bytes` of bitcode after `here` nanoseconds of region
/// time.
fn due(profile: &Profile, bytes: usize, ledger: &Ledger, here: u64, idle: bool) -> Start {
    let cost = profile.cost(bytes);
    if profile.won >= cost || ledger.can_afford(cost) {
        Start::Now
    } else if idle && here >= WORTH << profile.vain.min(MOST_VAIN) {
        Start::Nice
    } else {
        Start::Later
    }
}

/// A program whose kernels are not ready.
#[derive(Debug)]
struct Waiting {
    program: Arc<Program>,
    profile: Profile,
    /// `Some` once preparation has started; true if its cost counts as lost.
    begun: Option<bool>,
    /// Long regions by function address, with their times on the host and device (0 if unknown).
    long: HashMap<usize, (u64, u64)>,
}

impl Waiting {
    fn new(program: &Arc<Program>, profile: Profile) -> Waiting {
        let names = profile.long.keys().chain(profile.regions.keys());
        let known = names.filter_map(|name| {
            let &address = program.functions.get(name)?;
            Some((address, profile.long(name)?))
        });
        let long = known.collect();
        Waiting {
            program: program.clone(),
            profile,
            begun: None,
            long,
        }
    }

    /// Starts preparation. Its cost counts as lost unless processors are idle or earlier runs saved
    /// more.
    fn start(&mut self, start: Start, idle: bool) {
        let paid = start == Start::Now && !idle;
        let cost = match paid {
            true => self.profile.cost(self.program.bytes()),
            false => 0,
        };
        self.begun = Some(paid);
        let nice = start == Start::Nice;
        prepare(self.program.clone(), self.profile.clone(), nice, cost);
    }
}

/// Times of long regions of waiting programs, by function address.
static TIMED: Mutex<Option<HashMap<usize, u64>>> = Mutex::new(None);

static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());
/// Number of programs in `WAITING`.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Number of runs that are not timed after a short one. Regions that share a slot are skipped
/// together.
static SKIP: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];
/// Programs whose profile is stored at exit.
static RUNNING: Mutex<Vec<Arc<Program>>> = Mutex::new(Vec::new());

/// Starts observing a program.
pub(super) fn begin(program: &Arc<Program>) {
    let shelf = program.shelf();
    let profile: Profile = shelf
        .and_then(|s| s.bytes(NAME))
        .and_then(|bytes| postcard::from_bytes(&bytes).ok())
        .unwrap_or_default();
    policy::add_earlier_runs(profile.ledger());
    keep(program);
    let nothing = Ledger::default();
    let mut waiting = Waiting::new(program, profile);
    if due(&waiting.profile, program.bytes(), &nothing, 0, false) == Start::Now {
        // Earlier runs saved more than preparation costs.
        waiting.start(Start::Now, true);
    }
    WAITING.lock().push(waiting);
    COUNT.fetch_add(1, Ordering::Release);
}

/// Removes a program whose preparation is complete from the waiting ones.
fn done(program: &Arc<Program>) {
    WAITING.lock().retain(|w| {
        let goes = Arc::ptr_eq(&w.program, program);
        if goes {
            COUNT.fetch_sub(1, Ordering::Relaxed);
        }
        !goes
    });
}

/// Stops observing a program and stores its profile.
pub(super) fn end(program: &Arc<Program>) {
    done(program);
    RUNNING.lock().retain(|p| !Arc::ptr_eq(p, program));
    store(program);
}

/// Registers a program's profile to be stored at process exit.
fn keep(program: &Arc<Program>) {
    static ONCE: AtomicBool = AtomicBool::new(false);
    extern "C" fn at_exit() {
        // A thread that was terminated inside the lock may hold it forever.
        let running = RUNNING.try_lock().map(|r| r.clone());
        running.iter().flatten().for_each(store);
    }
    RUNNING.lock().push(program.clone());
    if !ONCE.swap(true, Ordering::Relaxed) {
        // SAFETY: `at_exit` does not unwind.
        unsafe { libc::atexit(at_exit) };
    }
}

fn store(program: &Arc<Program>) {
    let Some(shelf) = program.shelf() else { return };
    let ledger = policy::ledger();
    let old: Profile = shelf
        .bytes(NAME)
        .and_then(|bytes| postcard::from_bytes(&bytes).ok())
        .unwrap_or_default();
    let mut new = Profile {
        host: ledger.host,
        lost: ledger.lost,
        made: old.made || program.is_prepared(),
        vain: old.vain,
        won: old.won,
        long: old.long,
        regions: old.regions,
    };
    let timed = TIMED.lock();
    for (name, address) in &program.functions {
        if let Some(&time) = timed.as_ref().and_then(|t| t.get(address)) {
            new.long.insert(name.clone(), time);
        }
    }
    drop(timed);
    if program.is_prepared() {
        new.won = 0;
        let mut seen = false;
        for (function, region) in super::regions_of(program) {
            seen |= region.policy.was_considered();
            let known = region.policy.outcome();
            new.won += known.iter().map(|k| k.won).sum::<u64>();
            let times = new.regions.entry(function).or_default();
            times.extend(known.iter().map(|k| (k.class, (k.host, k.device))));
        }
        // Kernels that came too late were of no use, but a region may wait for them in the next
        // run.
        let late = !new.long.is_empty() && !seen;
        new.vain = match new.won {
            0 if late => old.vain,
            0 => old.vain + 1,
            _ => 0,
        };
    }
    if let Ok(bytes) = postcard::to_allocvec(&new) {
        shelf.put_bytes(NAME, &bytes);
    }
}

fn skip(start: &hooks::Region) -> &'static AtomicU32 {
    &SKIP[(start.microtask as usize >> 4) % SKIP.len()]
}

/// Returns true if this run of a region is to be timed for programs that wait for kernels.
pub(super) fn watches(start: &hooks::Region) -> bool {
    if COUNT.load(Ordering::Acquire) == 0 {
        return false;
    }
    let skip = skip(start);
    let left = skip.load(Ordering::Relaxed);
    // Concurrent updates may be lost, which skips one run more or less.
    skip.store(left.saturating_sub(1), Ordering::Relaxed);
    left == 0
}

/// Makes a long region wait for its kernels if that is expected to be faster.
pub(super) fn wait(start: &hooks::Region) {
    if COUNT.load(Ordering::Acquire) == 0 {
        return;
    }
    let function = start.microtask as usize;
    let Some(mut waiting) = WAITING.try_lock() else {
        return;
    };
    let Some(it) = waiting.iter_mut().find(|w| w.long.contains_key(&function)) else {
        return;
    };
    let bytes = it.program.bytes();
    let cost = it.profile.cost(bytes);
    if it.begun.is_none() {
        let cpus = topology::usable_cpus();
        let idle = fork::usual_team() < cpus && topology::running_threads() <= cpus;
        match due(&it.profile, bytes, &policy::ledger(), 0, false) {
            Start::Later if idle => it.start(Start::Nice, true),
            Start::Later => return,
            start => it.start(start, idle),
        }
    }
    let (host, device) = it.long.get(&function).copied().unwrap_or_default();
    let paid = it.begun == Some(true);
    let patience = patience(host, device, cost, &policy::ledger());
    let program = it.program.clone();
    drop(waiting);
    let began = Instant::now();
    let waits = || {
        WAITING
            .lock()
            .iter()
            .any(|w| Arc::ptr_eq(&w.program, &program))
    };
    while (began.elapsed().as_nanos() as u64) < patience && waits() {
        std::thread::sleep(LOOKS);
    }
    // Each region waits only once.
    for it in WAITING.lock().iter_mut() {
        it.long.remove(&function);
    }
    if patience > 0 && device == 0 && !paid {
        policy::add_loss(began.elapsed().as_nanos() as u64);
    }
}

/// Runs a region on the host and records its time.
///
/// # Safety
/// The region must be one that the runtime starts.
pub(super) unsafe fn observe(start: &hooks::Region) {
    let began = Instant::now();
    // SAFETY: by this function's contract, the arguments are those of the runtime's fork call.
    unsafe { fork::on_team(start.ident, start.argc, start.microtask, start.argv) };
    let time = began.elapsed();
    if time < SHORT {
        skip(start).store(SKIPPED, Ordering::Relaxed);
    }
    let here = policy::add_host_time(time.as_nanos() as u64);
    // A team that uses every processor is delayed even by a thread of lowest priority.
    let idle = fork::usual_team() < topology::usable_cpus() && idle();
    if time.as_nanos() as u64 >= LONG {
        let mut timed = TIMED.lock();
        let timed = timed.get_or_insert_default();
        timed.insert(start.microtask as usize, time.as_nanos() as u64);
    }
    let Some(mut waiting) = WAITING.try_lock() else {
        return;
    };
    let ledger = policy::ledger();
    for it in waiting.iter_mut().filter(|w| w.begun.is_none()) {
        let start = due(&it.profile, it.program.bytes(), &ledger, here, idle);
        if start != Start::Later {
            it.start(start, idle);
        }
    }
}

/// Returns true if a processor was idle recently, as far as this process can tell.
fn idle() -> bool {
    static LAST: Mutex<Option<(Instant, Duration, bool)>> = Mutex::new(None);
    let Some(mut last) = LAST.try_lock() else {
        return false;
    };
    let now = Instant::now();
    let (since, used, idle) = last.unwrap_or((now, clock::process_time(), false));
    if now - since < SPAN && last.is_some() {
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
fn prepare(program: Arc<Program>, profile: Profile, nice: bool, cost: u64) {
    // If no thread can be created, the regions stay on the host; long ones wait once.
    drop(ompvm_memory::internal_thread::spawn(
        c"ompvm offload",
        move || {
            if nice {
                // SAFETY: affects this thread only; a refusal leaves its priority unchanged.
                unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
            }
            // Without a device no kernels are made.
            let Ok(state) = crate::region::device_for(-1) else {
                done(&program);
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
            done(&program);
        },
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn outlined_preparation_waits_until_it_is_paid_for() {
        let made = |won, vain| Profile {
            made: true,
            won,
            vain,
            ..Profile::default()
        };
        let cost = STARTING;
        let start = |profile: &Profile, host, lost, here, idle| {
            due(profile, 0, &Ledger { host, lost }, here, idle)
        };
        let new = made(0, 0);
        // Short programs never pay for the start of a GPU.
        assert_eq!(start(&new, S / 4, 0, S / 4, true), Start::Later);
        // Idle processors are free.
        assert_eq!(start(&new, S, 0, S, true), Start::Nice);
        assert_eq!(start(&new, S, 0, S, false), Start::Later);
        let paid = cost * 20;
        assert_eq!(start(&new, paid - 1, 0, paid - 1, false), Start::Later);
        assert_eq!(start(&new, paid, 0, paid, false), Start::Now);
        assert_eq!(start(&new, paid, 1, paid, false), Start::Later);
        // Time and savings of earlier runs count.
        assert_eq!(start(&new, paid, 0, 0, false), Start::Now);
        assert_eq!(start(&made(cost, 0), 0, 0, 0, false), Start::Now);
        // Fruitless preparations delay the next one.
        assert_eq!(start(&made(0, 2), S, 0, S, true), Start::Later);
        assert_eq!(start(&made(0, 2), paid, 0, 2 * S, true), Start::Nice);
    }

    #[test]
    fn outlined_preparation_is_expected_to_cost_less_when_kernels_are_there() {
        let mut profile = Profile::default();
        assert_eq!(profile.cost(150_000), STARTING + 150_000 * MAKING);
        profile.made = true;
        assert_eq!(profile.cost(150_000), STARTING);
        profile.vain = 3;
        assert_eq!(profile.cost(150_000), 8 * STARTING);
    }

    #[test]
    fn outlined_lengths_that_never_ran_on_a_device_hide_none_that_did() {
        let mut profile = Profile::default();
        let times = BTreeMap::from([(6, (5 * S, 0)), (7, (5 * S, S / 3)), (32, (5 * S, 0))]);
        profile.regions.insert("main.omp_outlined".into(), times);
        profile.long.insert("main.omp_outlined".into(), 5 * S);
        assert_eq!(profile.long("main.omp_outlined"), Some((5 * S, S / 3)));
    }

    #[test]
    fn outlined_a_long_region_waits_for_kernels_where_that_pays() {
        let rich = Ledger {
            host: 100 * S,
            lost: 0,
        };
        let poor = Ledger { host: S, lost: S };
        // Known to be faster on the device.
        assert_eq!(patience(3 * S, S / 10, S / 3, &poor), 3 * S - S / 10);
        assert_eq!(patience(S / 4, S / 10, S / 3, &rich), 0);
        assert_eq!(patience(S, 2 * S, S / 3, &rich), 0);
        // Unknown: waits if affordable, unless preparation takes longer than the region.
        assert_eq!(patience(3 * S, 0, S / 3, &rich), 4 * (S / 3));
        assert_eq!(patience(3 * S, 0, S / 3, &poor), 0);
        assert_eq!(patience(S / 2, 0, S / 3, &rich), 0);
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
            if due(&profile, bytes, &ledger, 0, false) != Start::Now {
                continue;
            }
            // Otherwise the kernels are ready too late.
            if patience(region, 0, cost, &ledger) > cost {
                tried = run;
                break;
            }
            profile.made = true;
            lost += cost;
        }
        assert!((5..12).contains(&tried), "{tried}");
    }

    #[test]
    fn outlined_profiles_survive_and_are_bounded() {
        let mut profile = Profile {
            host: 1000 * S,
            lost: 200 * S,
            made: true,
            vain: 1,
            won: 3,
            ..Profile::default()
        };
        let times = BTreeMap::from([(10, (5 * S, S))]);
        profile.regions.insert("main.omp_outlined".into(), times);
        let bytes = postcard::to_allocvec(&profile).unwrap();
        let again: Profile = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(again, profile);
        let ledger = again.ledger();
        assert_eq!((ledger.host, ledger.lost), (CREDIT, CREDIT));
        let measured = again.measured("main.omp_outlined");
        assert!(measured[10].expects_gain() && !measured[9].expects_gain());
    }
}
