//! Stress test: random nestings of OpenMP constructs under random settings, in every tier and
//! natively with the runtime as a shared library.
//!
//! `tests/stress/stress.c` is generated anew from each seed; it checks the result of every
//! construct and the memory in use. With `--races`, ThreadSanitizer checks the shared library
//! meanwhile. A wrong result, a fault, a leak or a time-out is a finding: its command is printed,
//! and the stacks of all threads are kept if gdb is installed. The settings are random, because
//! hangs hide in rare ones: more threads than processors, a single processor, waiting without
//! spinning. Other runtimes are not compared; libomp fails assertions of its own in some of these
//! programs.

use crate::bench::epcc::build_libomp;
use crate::dist;
use crate::process::{self, root};
use crate::setup;
use crate::timed::{TimedRun, run_watched, write};
use clap::Args;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Options of `cargo xtask stress`.
#[derive(Args)]
pub struct Options {
    /// Duration in minutes
    #[arg(long, default_value_t = 30.0)]
    minutes: f64,
    /// Seed of the first program
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run only the program of this seed
    #[arg(long)]
    only: Option<u64>,
    /// Check the library and the program for data races with ThreadSanitizer (its runtime is in
    /// Debian's libclang-rt-22-dev)
    #[arg(long)]
    races: bool,
    /// Use only these ways to run, separated by commas: interp, baseline, opt, auto, chaos, library
    #[arg(long, value_delimiter = ',')]
    ways: Vec<String>,
}

/// The ways to run a program.
const WAYS: [&str; 6] = ["interp", "baseline", "opt", "auto", "chaos", "library"];
/// Settings of a run: one value per line is chosen; an empty one leaves the variable unset.
const SETTINGS: [(&str, &[&str]); 10] = [
    ("OMP_NUM_THREADS", &["", "1", "2", "3", "4", "7"]),
    ("OMP_WAIT_POLICY", &["", "", "", "passive", "active"]),
    ("KMP_BLOCKTIME", &["", "", "0", "1"]),
    ("OMP_CANCELLATION", &["true", "true", "false"]),
    ("OMP_PROC_BIND", &["", "", "", "close", "spread"]),
    ("OMP_DYNAMIC", &["", "", "true"]),
    ("OMP_THREAD_LIMIT", &["", "", "", "3", "12"]),
    ("OMP_MAX_ACTIVE_LEVELS", &["", "1", "2", "5"]),
    ("KMP_ENABLE_TASK_THROTTLING", &["", "", "0"]),
    ("KMP_TEAMS_THREAD_LIMIT", &["", "8"]),
];
/// Time limit of a run, which usually takes a second, and up to ten in the most crowded settings.
const LIMIT: Duration = Duration::from_secs(120);
/// Number of rounds in a run.
const ROUNDS: u64 = 40;
/// Bytes that the last three quarters of the rounds may leave in use. Tiers that compile meanwhile
/// keep their code, too.
const MAX_LEFT_BYTES: u64 = 6 << 20;
const MAX_LEFT_BYTES_COMPILING: u64 = 96 << 20;
/// Constructs that ThreadSanitizer cannot follow: the fence in the drop of `Arc`, and
/// initialization in std, which is not instrumented.
const SUPPRESSIONS: &str =
    "race:alloc::sync::Arc\nrace:std::sync::once_lock\nrace:std::sync::lazy_lock\n";
/// Flags that instrument the library only; the program brings the sanitizer's runtime.
const SANITIZER: &str =
    "--cfg tsan -Zsanitizer=thread -Zexternal-clangrt -Cunsafe-allow-abi-mismatch=sanitizer";

/// Returns one number of a seed's stream by SplitMix64 (Steele, Lea, Flood 2014).
fn random_number(seed: u64, index: u64) -> u64 {
    let mut z = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(index.wrapping_mul(0xD1B5_4A32_D192_ED03));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn pick<'a, T: ?Sized>(from: &[&'a T], seed: u64, index: u64) -> &'a T {
    from[(random_number(seed, index) % from.len() as u64) as usize]
}

/// The executables and files of a stress test.
struct Programs {
    ompvm: PathBuf,
    bitcode: PathBuf,
    native: PathBuf,
    library: PathBuf,
    dir: PathBuf,
    races: bool,
}

impl Programs {
    fn build(races: bool) -> Result<Programs, String> {
        let tools = setup::ensure()?;
        let dir = root().join(if races {
            "target/stress/races"
        } else {
            "target/stress"
        });
        let kept = dir.join("libomp");
        std::fs::create_dir_all(&kept).map_err(|e| format!("{}: {e}", kept.display()))?;
        let copy = |from: &Path, to: &Path| {
            std::fs::copy(from, to)
                .map(drop)
                .map_err(|e| format!("{}: {e}", from.display()))
        };
        // Copies keep a long run independent of later builds.
        let ompvm = dir.join("ompvm");
        let library = if races {
            // An explicit triple keeps the flags away from build scripts.
            let triple = "x86_64-unknown-linux-gnu";
            let target = root().join("target/tsan");
            process::run(
                tools
                    .cargo()
                    .current_dir(root())
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env("RUSTFLAGS", SANITIZER)
                    .env("CARGO_TARGET_DIR", &target)
                    .args(["build", "--release", "--package", "ompvm-libomp"])
                    .args(["--target", triple]),
            )?;
            target.join(triple).join("release/libomp.so")
        } else {
            copy(&dist::release(&tools)?, &ompvm)?;
            build_libomp(&tools)?.join("libomp.so.5")
        };
        copy(&library, &kept.join("libomp.so.5"))?;
        let (bitcode, native) = (dir.join("stress.bc"), dir.join("stress"));
        let source = root().join("tests/stress/stress.c");
        let clang = |output: &Path, more: &[&str]| {
            process::run(
                Command::new(tools.llvm("clang"))
                    .args(["-O1", "-g", "-fopenmp"])
                    .args(more)
                    .arg(&source)
                    .arg("-o")
                    .arg(output),
            )
        };
        if races {
            clang(&native, &["-pthread", "-fsanitize=thread"])?;
            write(&dir.join("suppressions"), SUPPRESSIONS)?;
        } else {
            clang(&bitcode, &["-c", "-emit-llvm"])?;
            clang(&native, &["-pthread"])?;
        }
        Ok(Programs {
            ompvm,
            bitcode,
            native,
            library: kept,
            dir,
            races,
        })
    }

    fn command(&self, way: &str, seed: u64) -> Command {
        let mut command;
        if way == "library" {
            command = Command::new(&self.native);
            command.env("LD_LIBRARY_PATH", &self.library);
            if self.races {
                let file = self.dir.join("suppressions");
                let options = format!("suppressions={} history_size=4", file.display());
                command.env("TSAN_OPTIONS", options);
            }
        } else {
            command = Command::new(&self.ompvm);
            let tier = if way == "chaos" { "auto" } else { way };
            command.args(["run", "--no-cache", &format!("--tier={tier}")]);
            command.arg(&self.bitcode);
            if way == "chaos" {
                command.env("OMPVM_CHAOS", (seed % 1000).to_string());
            }
        }
        for (index, (name, values)) in SETTINGS.iter().enumerate() {
            match pick(values, seed, index as u64) {
                "" => command.env_remove(name),
                value => command.env(name, value),
            };
        }
        let unthrottled = command
            .get_envs()
            .any(|(name, value)| name == "KMP_ENABLE_TASK_THROTTLING" && value.is_some());
        let kept = match way {
            "auto" | "chaos" => MAX_LEFT_BYTES_COMPILING,
            // The runtime keeps the memory of tasks, and without throttling many exist at a time.
            _ if unthrottled => 3 * MAX_LEFT_BYTES,
            _ => MAX_LEFT_BYTES,
        };
        // Memory grows under the sanitizer, and the program is slow.
        let (rounds, kept) = if self.races {
            (2, u64::MAX >> 1)
        } else {
            (ROUNDS, kept)
        };
        command.args([seed, rounds, kept].map(|n| n.to_string()));
        // Active waiting with more threads than processors would be slow by design.
        if random_number(seed, 100).is_multiple_of(4) {
            command.env_remove("OMP_WAIT_POLICY");
            // SAFETY: between fork and exec this makes two system calls on a local.
            unsafe {
                command.pre_exec(|| {
                    let mut one: libc::cpu_set_t = std::mem::zeroed();
                    libc::sched_getaffinity(0, size_of_val(&one), &mut one);
                    let first = (0..libc::CPU_SETSIZE as usize).find(|&c| libc::CPU_ISSET(c, &one));
                    one = std::mem::zeroed();
                    libc::CPU_SET(first.unwrap_or(0), &mut one);
                    libc::sched_setaffinity(0, size_of_val(&one), &one);
                    Ok(())
                });
            }
        }
        command
    }
}

/// Describes the failure of a run, if any.
fn describe_failure(ran: &TimedRun) -> Option<String> {
    let out = String::from_utf8_lossy(&ran.stdout);
    if ran.status == 0 && out.starts_with("ok ") && out.lines().count() == 1 {
        return None;
    }
    let err = String::from_utf8_lossy(&ran.stderr);
    Some(format!("{}\n{}{}", ran.end(), out, err))
}

/// Formats a run as typed in a shell.
fn describe(command: &Command, seed: u64) -> String {
    let mut text = String::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            text += &format!("{}={} ", name.display(), value.display());
        }
    }
    if random_number(seed, 100).is_multiple_of(4) {
        text += "taskset -c 0 ";
    }
    text + &process::show(command)
}

/// Runs programs until the time is over.
pub fn run(options: &Options) -> Result<(), String> {
    let programs = Programs::build(options.races)?;
    let end = Instant::now() + Duration::from_secs_f64(options.minutes * 60.0);
    let ways: Vec<&str> = WAYS
        .into_iter()
        .filter(|w| options.ways.is_empty() || options.ways.iter().any(|o| o == w))
        .filter(|w| *w == "library" || !options.races)
        .collect();
    if ways.is_empty() {
        return Err(format!("no such way; there are {}", WAYS.join(", ")));
    }
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut findings = 0;
    let mut seed = options.only.unwrap_or(options.seed);
    loop {
        for way in &ways {
            if Instant::now() > end && options.only.is_none() {
                break;
            }
            let mut command = programs.command(way, seed);
            let stacks = programs.dir.join(format!("{way}-{seed}.stacks"));
            let ran = run_watched(&mut command, &programs.dir, LIMIT, &mut |pid| {
                save_stacks(pid, &stacks);
            })?;
            let count = counts.entry(way).or_default();
            count.0 += 1;
            match describe_failure(&ran) {
                None => {
                    let out = String::from_utf8_lossy(&ran.stdout);
                    count.1 += out[3..].trim().parse::<u64>().unwrap_or(0);
                }
                Some(what) => {
                    findings += 1;
                    println!("{way}, seed {seed}: {what}\n  {}", describe(&command, seed));
                }
            }
        }
        if options.only.is_some() || Instant::now() > end {
            break;
        }
        seed += 1;
    }
    for (way, (runs, constructs)) in &counts {
        println!("{way:<9} {runs:>6} runs {constructs:>9} constructs");
    }
    println!("next seed {}; {findings} findings", seed + 1);
    if findings > 0 {
        return Err(format!("{findings} findings"));
    }
    Ok(())
}

/// Saves the stacks of all threads of a process, if gdb is installed.
fn save_stacks(pid: u32, path: &Path) {
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-batch", "-ex", "thread apply all backtrace 30", "-p"]);
    gdb.arg(pid.to_string());
    if let Ok(output) = process::capture(&mut gdb)
        && write(path, &output.stdout).is_ok()
    {
        println!("what its threads were doing: {}", path.display());
    }
}
