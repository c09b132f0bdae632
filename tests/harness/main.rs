//! The integration harness: every guest program under `tests/` becomes a test.
//!
//! It runs
//! - differential tests (`tests/diff`: the virtual machine must print and exit as the native build
//!   of the same bitcode does),
//! - OpenMP programs by construct (`tests/pass`), guest faults (`tests/fail`), and constructs that
//!   must be reported at load (`tests/unsupported`),
//! - errors of the command line, the cache of compiled programs, and `ompvm compare`,
//! - the C library and the Python module,
//! - compilers, sources that are compiled at the start, and cells of `ompvm repl`,
//! - what `ompvm install` writes, and native functions that are denied,
//! - the drop-in library, and native libraries with an OpenMP runtime of their own,
//! - deadlocks that the watchdog reports, dumps of threads, messages as JSON, and bars of
//!   long steps,
//! - single passes on textual IR, and machine code of the baseline tier,
//! - listings of bytecode, device code, damaged device images, and failures of a GPU's driver,
//! - devices of other ranks of MPI, and random programs on memory of host and devices,
//! - programs under limits and under faults of the system, the NAS benchmarks, the examples and the layering rule.
//!
//! It is one binary, since each one that links LLVM costs seconds and 50 MB. Measures no times.
//!
//! Compiled guests are cached under `target/guests`, named by a hash of source, flags and compiler.

mod advice;
mod archives;
mod baseline;
mod book;
mod cache;
mod capi;
mod cli;
mod coherence;
mod compare;
mod compile;
mod compilers;
mod deadlocks;
mod device_failures;
mod diff;
mod directives;
mod driver;
mod dropin;
mod failures;
mod faults;
mod fortran;
#[path = "../diff/generate.rs"]
#[allow(dead_code, unused_imports, reason = "its own unit tests use the rest")]
mod generate;
mod golden;
mod house;
mod images;
mod install;
mod labels;
mod later_runs;
mod limits;
mod log;
mod lto;
mod machine_code;
mod messages;
mod native_policy;
mod neighbours;
mod npb;
mod omp;
mod ompt;
mod passes;
mod plugins;
mod progress;
mod ptx;
mod python;
mod ranks;
mod repl;
mod run;
mod sources;
mod tools;

use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns the repository's root.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the command-line program under test: the one built with the harness, or that of
/// `OMPVM_UNDER_TEST`, such as a build whose handlers return to a loop.
fn ompvm() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let other = std::env::var_os("OMPVM_UNDER_TEST").map(PathBuf::from);
        other.unwrap_or_else(|| env!("CARGO_BIN_EXE_ompvm").into())
    })
}

/// Returns the option for the tier to test, from `OMPVM_TEST_TIER` (`opt`, `auto`, ...); `None` for
/// the command line's default.
fn tier() -> Option<String> {
    let tier = std::env::var("OMPVM_TEST_TIER").ok()?;
    Some(format!("--tier={tier}"))
}

/// Returns the tiers in which guests run, each with its share: `n` means every `n`-th guest.
///
/// With `OMPVM_TEST_TIER` that tier alone runs all of them. Otherwise the interpreter does, and the
/// other tiers run a share, so that an ordinary run covers every tier. `None` is the command line's
/// default.
fn tiers() -> Vec<(Option<String>, usize)> {
    match tier() {
        Some(tier) => vec![(Some(tier), 1)],
        None => {
            let share = |tier: &str, n| (Some(format!("--tier={tier}")), n);
            vec![
                share("interp", 1),
                (None, 4),
                share("baseline", 5),
                share("opt", 9),
            ]
        }
    }
}

/// Returns the title of a trial in a tier. The command line's default has no prefix, nor has a tier
/// that is tested alone.
fn titled(tier: Option<&str>, title: &str) -> String {
    match tier.filter(|_| self::tier().is_none()) {
        Some(option) => format!("{}/{title}", option.trim_start_matches("--tier=")),
        None => title.to_owned(),
    }
}

/// Returns every file below `dir` with one of these extensions, sorted.
fn files(dir: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut stack = vec![dir.to_owned()];
    while let Some(dir) = stack.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for path in entries.filter_map(|e| Some(e.ok()?.path())) {
            if path.is_dir() {
                stack.push(path);
            } else if path
                .extension()
                .is_some_and(|x| extensions.iter().any(|e| x == *e))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn main() {
    let args = Arguments::from_args();
    let cache = root().join(format!("target/guests/cache-{}", std::process::id()));
    // SAFETY: there is no other thread yet. The tests do not depend on the user's cache.
    unsafe { std::env::set_var("OMPVM_CACHE_DIR", &cache) };
    let mut trials: Vec<Trial> = Vec::new();
    trials.extend(house::trials());
    trials.extend(book::trials());
    trials.extend(archives::trials());
    trials.extend(capi::trials());
    trials.extend(compilers::trials());
    trials.extend(plugins::trials());
    trials.extend(install::trials());
    trials.extend(native_policy::trials());
    trials.extend(diff::trials());
    trials.extend(directives::trials());
    trials.extend(fortran::trials());
    trials.extend(golden::trials());
    trials.extend(labels::trials());
    trials.extend(lto::trials());
    trials.extend(machine_code::trials());
    trials.extend(passes::trials());
    trials.extend(neighbours::trials());
    trials.extend(omp::trials());
    trials.extend(npb::trials());
    trials.extend(repl::trials());
    trials.extend(sources::trials());
    if std::env::var_os("OMPVM_CHAOS").is_none() {
        // Chaos mode changes the rules of compilation and caching that these trials check.
        trials.extend(advice::trials());
        trials.extend(baseline::trials());
        trials.extend(cache::trials());
        trials.extend(later_runs::trials());
        trials.extend(cli::trials());
        trials.extend(coherence::trials());
        trials.extend(compare::trials());
        trials.extend(deadlocks::trials());
        trials.extend(device_failures::trials());
        trials.extend(driver::trials());
        trials.extend(dropin::trials());
        trials.extend(failures::trials());
        trials.extend(faults::trials());
        trials.extend(images::trials());
        trials.extend(limits::trials());
        trials.extend(log::trials());
        trials.extend(messages::trials());
        trials.extend(ompt::trials());
        trials.extend(progress::trials());
        trials.extend(ptx::trials());
        trials.extend(python::trials());
        trials.extend(ranks::trials());
        trials.extend(tools::trials());
    }
    let conclusion = libtest_mimic::run(&args, trials);
    dropin::clean();
    conclusion.exit();
}
