//! Several engines and programs in one host process: none changes the settings of another.
//!
//! The tests share the process's devices and its report, so they run one after the other.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "test code: each function has the type that the guest defines"
)]

mod contained;
mod fp_modes;
mod limits;
mod memory;
mod signal_masks;

use ompvm::api::{Cache, Config, Devices, Engine, Linker, Module, Offload, Process, Tier};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

const REGION: &str = include_str!("region.ll");
/// Elements of the guest's array.
const COUNT: i64 = 1024;

fn one_at_a_time() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn module(engine: &Engine) -> Module {
    Module::from_bytes(engine, "region.ll", REGION.as_bytes()).unwrap()
}

fn engine(cache: Option<&Path>) -> Engine {
    Engine::new().cache(cache.map(Cache::new))
}

/// Starts the guest with devices, though it may not use them.
fn start(engine: &Engine, tier: Tier, offload: Offload) -> Process {
    let config = Config::new()
        .tier(tier)
        .num_threads(2)
        .devices(Devices::Emulated(1))
        .offload(offload)
        .offload_report(true);
    let program = Linker::new(engine).link(&module(engine)).unwrap();
    program.start(config).unwrap()
}

/// Runs the region, and checks that each element was visited for the `time`th time.
fn fill(process: &Process, time: u32) {
    // SAFETY: the guest defines `fill` with this type.
    let run = unsafe { process.typed_func::<(i64,), ()>("fill").unwrap() };
    // SAFETY: the guest defines `element` with this type.
    let element = unsafe { process.typed_func::<(i64,), f64>("element").unwrap() };
    run.call((COUNT,)).unwrap();
    for i in [0, 1, COUNT / 2, COUNT - 1] {
        assert_eq!(element.call((i,)).unwrap(), f64::from(time));
    }
}

/// Returns the names of all files below a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    for entry in entries.map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => names.extend(files(&entry.path())),
            false => names.push(entry.file_name().into_string().unwrap()),
        }
    }
    names
}

fn has_device_code(folder: &Path) -> bool {
    files(folder).iter().any(|name| name.starts_with("device-"))
}

/// Returns how often the report says that a region ran on the emulated device, and on the host.
fn runs() -> (u64, u64) {
    let (mut device, mut host) = (0, 0);
    for line in ompvm::api::offload_report().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let before = |word: &str| words.iter().position(|w| w.trim_end_matches(',') == word);
        let count = match before("times") {
            Some(at) => words[at - 1].parse().unwrap(),
            None if before("once").is_some() => 1,
            None => continue,
        };
        match line.contains("on the host") {
            true => host += count,
            false => device += count,
        }
    }
    (device, host)
}

#[test]
fn device_code_is_stored_in_the_cache_of_its_engine() {
    let _turn = one_at_a_time();
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let first = engine(Some(folders[0].path()));
    let of_first = module(&first);
    // Each of these was the cache of all engines once, being that of the last one.
    let second = engine(Some(folders[1].path()));
    let none = engine(None);
    let stored = || folders.each_ref().map(|f| has_device_code(f.path()));
    assert!(of_first.region_code(80).unwrap().is_some());
    assert_eq!(stored(), [true, false]);
    assert!(module(&none).region_code(80).unwrap().is_some());
    assert_eq!(stored(), [true, false]);
    assert!(module(&second).region_code(80).unwrap().is_some());
    assert_eq!(stored(), [true, true]);
    // An engine that is cloned and given another cache leaves the original's alone.
    let third = tempfile::tempdir().unwrap();
    let clone = first.clone().cache(Some(Cache::new(third.path())));
    let before = files(third.path()).len();
    assert!(of_first.region_code(90).unwrap().is_some());
    assert_eq!(files(third.path()).len(), before);
    assert!(module(&clone).region_code(90).unwrap().is_some());
    assert!(has_device_code(third.path()));
}

#[test]
fn kernels_are_stored_in_the_cache_of_the_programs_engine() {
    let _turn = one_at_a_time();
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [first, second] = folders.each_ref().map(|f| engine(Some(f.path())));
    let kernels = |folder: usize| {
        let names = files(folders[folder].path());
        names.iter().filter(|n| *n == "auto-offload").count()
    };
    let process = start(&first, Tier::Interp, Offload::Force);
    assert_eq!([kernels(0), kernels(1)], [1, 0]);
    let other = start(&second, Tier::Interp, Offload::Force);
    assert_eq!([kernels(0), kernels(1)], [1, 1]);
    fill(&process, 1);
    fill(&other, 1);
}

#[test]
fn programs_keep_their_modes_of_auto_offload() {
    let _turn = one_at_a_time();
    let engine = Engine::new();
    for tier in [Tier::Interp, Tier::Baseline, Tier::Opt, Tier::Auto] {
        let forced = start(&engine, tier, Offload::Force);
        let off = start(&engine, tier, Offload::Off);
        let chosen = start(&engine, tier, Offload::Auto);
        let before = runs();
        fill(&forced, 1);
        fill(&forced, 2);
        let after = runs();
        assert_eq!(after, (before.0 + 2, before.1), "{tier:?}: forced");
        // A region of this size is never worth a device.
        fill(&chosen, 1);
        fill(&off, 1);
        fill(&off, 2);
        assert_eq!(runs(), after, "{tier:?}: on the host, unreported");
        drop((chosen, off));
        fill(&forced, 3);
        assert_eq!(runs().0, after.0 + 1, "{tier:?}: after the others ended");
    }
}

#[test]
fn only_programs_with_statistics_are_counted() {
    let _turn = one_at_a_time();
    let engine = Engine::new();
    let start = |stats: bool| {
        let program = Linker::new(&engine).link(&module(&engine)).unwrap();
        let config = Config::new().num_threads(2).stats(stats);
        program.start(config).unwrap()
    };
    let (counted, plain) = (start(true), start(false));
    let count = || counted.stats().instructions;
    fill(&counted, 1);
    let first = count();
    assert!(first > COUNT as u64, "{first}");
    fill(&plain, 1);
    assert_eq!(count(), first);
    let later = start(false);
    fill(&later, 1);
    assert_eq!(count(), first);
    fill(&counted, 2);
    assert_eq!(count(), 2 * first);
}

#[test]
fn programs_keep_their_tiers() {
    let _turn = one_at_a_time();
    let engine = Engine::new();
    let mut started = Vec::new();
    for tier in [
        Tier::Baseline,
        Tier::Interp,
        Tier::Opt,
        Tier::Auto,
        Tier::Interp,
    ] {
        started.push((tier, start(&engine, tier, Offload::Off)));
    }
    for time in 1..4 {
        for (_, process) in &started {
            fill(process, time);
        }
        started.swap(0, 1);
    }
}
