//! When a program's kernels are made, where it is left to us whether there shall be any.
//!
//! What: starting a GPU takes a quarter of a second, kernels as long again or more, and where a team has every
//! processor it waits for the one that does this. So nothing is done at first but to add up what parallel regions
//! take ([`observe`]). Preparation begins
//!
//! - at once, where earlier runs tell that more is won than it takes;
//! - as soon as regions took [`WORTH`], on a thread of lowest priority, while processors are idle;
//! - else when a twentieth of what regions took pays for it ([`Ledger`]).
//!
//! Of all runs of a program a [`Profile`] is kept with its kernels: what regions took on either side, what may be
//! lost, and how often preparation was in vain. So what one run finds out the next one knows.
//!
//! What not: what was kept is believed until it is measured otherwise.

use super::choice::{Ledger, Measured};
use super::{Program, policy};
use crate::kmpc::{fork, hooks};
use crate::support::{clock, topology};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What regions take, in nanoseconds, before idle processors are used.
const WORTH: u64 = 500_000_000;
/// What starting a GPU with kernels of the cache takes of a processor, in nanoseconds.
const STARTING: u64 = 350_000_000;
/// What kernels take besides where there are none yet, for each byte of bitcode (NAS SP and BT: 150 KB, 2 s
/// in LLVM and the driver's compiler; FT: 54 KB, .5 s).
const MAKING: u64 = 12_000;
/// After so many times in vain it is no longer waited twice as long.
const MOST_VAIN: u32 = 16;
/// Nanoseconds of earlier runs that count.
const CREDIT: u64 = 100_000_000_000;
/// Over so long is measured whether processors are idle.
const SPAN: Duration = Duration::from_millis(50);
/// A region that is shorter is not timed the next [`SKIPPED`] times.
const SHORT: Duration = Duration::from_micros(40);
const SKIPPED: u32 = 30;
/// The name of the profile in a program's folder of the cache.
const NAME: &str = "outlined-profile";

/// What is known of a program from its earlier runs; nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Profile {
    /// What regions took on the host, and what of that was lost.
    host: u64,
    lost: u64,
    /// Whether kernels were made.
    made: bool,
    /// How often preparation has been in vain since the device last won anything.
    vain: u32,
    /// What the device won in the last run.
    won: u64,
    /// By function and length of runs: what one takes on the host and on the device.
    regions: BTreeMap<String, BTreeMap<u8, (u64, u64)>>,
}

impl Profile {
    /// What preparation is expected to take of a processor, for so many bytes of bitcode; more, where it was in
    /// vain before.
    fn cost(&self, bytes: usize) -> u64 {
        let making = match self.made {
            true => 0,
            false => MAKING.saturating_mul(bytes as u64),
        };
        (STARTING + making) << self.vain.min(MOST_VAIN)
    }

    /// The ledger that a run begins with.
    fn ledger(&self) -> Ledger {
        let host = self.host.min(CREDIT);
        Ledger {
            host,
            lost: self.lost.min(host),
        }
    }

    /// What earlier runs measured of a region, by the length of its runs.
    fn measured(&self, function: &str) -> [Measured; 33] {
        let known = self.regions.get(function);
        std::array::from_fn(|class| {
            let times = known.and_then(|k| k.get(&(class as u8)));
            times.map_or_else(Measured::default, |&(host, device)| {
                Measured::known(host, device)
            })
        })
    }
}

/// How preparation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// Not yet.
    Later,
    /// Beside a program that leaves processors idle.
    Nice,
    /// Now: it is worth so much.
    Now,
}

/// Whether to begin with a program of so many bytes, when its regions took so long `here`.
fn due(profile: &Profile, bytes: usize, ledger: &Ledger, here: u64, idle: bool) -> Start {
    let cost = profile.cost(bytes);
    if profile.won >= cost || ledger.affords(cost) {
        Start::Now
    } else if idle && here >= WORTH << profile.vain.min(MOST_VAIN) {
        Start::Nice
    } else {
        Start::Later
    }
}

/// A program that waits for its kernels.
#[derive(Debug)]
struct Waiting {
    program: Arc<Program>,
    profile: Profile,
}

static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());
/// How many they are.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// How often a region is not timed, after it was short; regions that share a place are skipped together.
static SKIP: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];
/// Programs whose profile is stored in the end.
static RUNNING: Mutex<Vec<Arc<Program>>> = Mutex::new(Vec::new());

/// A program begins.
pub(super) fn begin(program: &Arc<Program>) {
    let shelf = program.shelf();
    let profile: Profile = shelf
        .and_then(|s| s.bytes(NAME))
        .and_then(|bytes| postcard::from_bytes(&bytes).ok())
        .unwrap_or_default();
    policy::credit(profile.ledger());
    keep(program);
    let nothing = Ledger::default();
    if due(&profile, program.bytes(), &nothing, 0, false) == Start::Now {
        prepare(program.clone(), profile, false);
        return;
    }
    WAITING.lock().push(Waiting {
        program: program.clone(),
        profile,
    });
    COUNT.fetch_add(1, Ordering::Release);
}

/// A program ends: what was found out is stored.
pub(super) fn end(program: &Arc<Program>) {
    WAITING.lock().retain(|w| {
        let goes = Arc::ptr_eq(&w.program, program);
        if goes {
            COUNT.fetch_sub(1, Ordering::Relaxed);
        }
        !goes
    });
    RUNNING.lock().retain(|p| !Arc::ptr_eq(p, program));
    store(program);
}

/// Has a program's profile stored when the process ends.
fn keep(program: &Arc<Program>) {
    static ONCE: AtomicBool = AtomicBool::new(false);
    extern "C" fn at_exit() {
        // A thread that has ended inside may have it.
        let running = RUNNING.try_lock().map(|r| r.clone());
        running.iter().flatten().for_each(store);
    }
    RUNNING.lock().push(program.clone());
    if !ONCE.swap(true, Ordering::Relaxed) {
        // SAFETY: a function without unwinding.
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
        regions: old.regions,
    };
    if program.is_prepared() {
        new.won = 0;
        for (function, region) in super::regions_of(program) {
            let known = region.policy.outcome();
            new.won += known.iter().map(|k| k.won).sum::<u64>();
            let times = new.regions.entry(function).or_default();
            times.extend(known.iter().map(|k| (k.class, (k.host, k.device))));
        }
        new.vain = if new.won > 0 { 0 } else { old.vain + 1 };
    }
    if let Ok(bytes) = postcard::to_allocvec(&new) {
        shelf.put_bytes(NAME, &bytes);
    }
}

fn skip(start: &hooks::Region) -> &'static AtomicU32 {
    &SKIP[(start.microtask as usize >> 4) % SKIP.len()]
}

/// Whether programs wait for their kernels, and this run of a region is timed for that.
pub(super) fn watches(start: &hooks::Region) -> bool {
    if COUNT.load(Ordering::Acquire) == 0 {
        return false;
    }
    let skip = skip(start);
    let left = skip.load(Ordering::Relaxed);
    // Threads that do this at once skip one less or more.
    skip.store(left.saturating_sub(1), Ordering::Relaxed);
    left == 0
}

/// Runs a region of a program that waits for its kernels, on the host.
///
/// # Safety
/// A region of the runtime's.
pub(super) unsafe fn observe(start: &hooks::Region) {
    let began = Instant::now();
    // SAFETY: the caller's contract.
    unsafe { fork::on_team(start.ident, start.argc, start.microtask, start.argv) };
    let time = began.elapsed();
    if time < SHORT {
        skip(start).store(SKIPPED, Ordering::Relaxed);
    }
    let here = policy::add(time.as_nanos() as u64);
    // A team that has all of them waits for the one that is taken away, whatever the system thinks of niceness.
    let idle = fork::usual_team() < topology::usable_cpus() && idle();
    let Some(mut waiting) = WAITING.try_lock() else {
        return;
    };
    let ledger = policy::ledger();
    waiting.retain(|w| {
        let bytes = w.program.bytes();
        let start = due(&w.profile, bytes, &ledger, here, idle);
        if start != Start::Later {
            if start == Start::Now && !idle {
                policy::charge(w.profile.cost(bytes));
            }
            COUNT.fetch_sub(1, Ordering::Relaxed);
            prepare(w.program.clone(), w.profile.clone(), start == Start::Nice);
        }
        start == Start::Later
    });
}

/// Whether of late a processor had nothing to do, as far as this process can tell.
fn idle() -> bool {
    static LAST: Mutex<Option<(Instant, Duration, bool)>> = Mutex::new(None);
    let Some(mut last) = LAST.try_lock() else {
        return false;
    };
    let now = Instant::now();
    let (since, used, idle) = last.unwrap_or((now, clock::all_time(), false));
    if now - since < SPAN && last.is_some() {
        return idle;
    }
    let time = clock::all_time();
    let busy = (time.saturating_sub(used)).as_secs_f64() / (now - since).as_secs_f64().max(1e-9);
    let cpus = topology::usable_cpus();
    let idle = busy < cpus as f64 - 0.75 && topology::running_threads() <= cpus;
    *last = Some((now, time, idle));
    idle
}

/// Makes a program's kernels on a thread of its own.
fn prepare(program: Arc<Program>, profile: Profile, nice: bool) {
    // Without a thread the regions stay on the host.
    drop(crate::memory::own_thread::spawn(
        c"ompvm offload",
        move || {
            if nice {
                // SAFETY: of this thread; where it is refused it is as before.
                unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
            }
            // Nothing is to be made where nothing can run it.
            let Ok(state) = crate::offload::region::device_for(-1) else {
                return;
            };
            let known = |function: &str| policy::Region::known(profile.measured(function));
            program.prepare(&known);
            if program.load(state).is_ok() {
                policy::probe(state);
                program.prepared.store(true, Ordering::Release);
            }
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
        // Short programs never pay for a GPU's start.
        assert_eq!(start(&new, S / 4, 0, S / 4, true), Start::Later);
        // Idle processors cost nothing.
        assert_eq!(start(&new, S, 0, S, true), Start::Nice);
        assert_eq!(start(&new, S, 0, S, false), Start::Later);
        let paid = cost * 20;
        assert_eq!(start(&new, paid - 1, 0, paid - 1, false), Start::Later);
        assert_eq!(start(&new, paid, 0, paid, false), Start::Now);
        assert_eq!(start(&new, paid, 1, paid, false), Start::Later);
        // What earlier runs took counts, and what they won.
        assert_eq!(start(&new, paid, 0, 0, false), Start::Now);
        assert_eq!(start(&made(cost, 0), 0, 0, 0, false), Start::Now);
        // What was in vain waits.
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
        assert!(measured[10].hopes() && !measured[9].hopes());
    }
}
