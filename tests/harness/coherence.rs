//! Coherence of memory between host and devices: a few random programs, always the same, on one
//! device and on groups, with and without common memory, with `target` and without, and on devices
//! of other ranks of MPI.
//!
//! `cargo xtask fuzz-coherence` tests many more, and reduces differences. Programs come from
//! `tests/coherence/generate.rs`; a native build that ignores the directives is the reference.

use crate::compile::{self, bitcode, llvm_bin};
use crate::run::{End, Ran, run};
use crate::{ompvm, ranks};
use libtest_mimic::Trial;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[path = "../coherence/generate.rs"]
#[allow(dead_code, reason = "the fuzzer uses the rest")]
mod generate;

/// Ways to run a program: a name, and options. Each has a source of its own.
const WAYS: [(&str, &[&str]); 13] = [
    ("one", &["--device=emulated"]),
    ("two", &["--device=emulated:2", "--devices=all"]),
    ("three", &["--device=emulated:3", "--devices=all"]),
    ("four", &["--device=emulated:4", "--devices=all"]),
    ("plain", &["--device=emulated", "--offload=force"]),
    (
        "plain-two",
        &["--device=emulated:2", "--devices=all", "--offload=force"],
    ),
    (
        "plain-three",
        &["--device=emulated:3", "--devices=all", "--offload=force"],
    ),
    (RANK, &["--device=emulated", "--devices=each"]),
    ("apart", &["--device=emulated:3", "--devices=all"]),
    (
        "plain-apart",
        &["--device=emulated:2", "--devices=all", "--offload=force"],
    ),
    (RANKS, &["--device=emulated", "--devices=all"]),
    ("helped", &["--device=emulated:2", "--devices=all,cpu"]),
    (
        "plain-helped",
        &["--device=emulated", "--devices=all,cpu", "--offload=force"],
    ),
];
/// The way in which regions run on a device of another rank.
const RANK: &str = "rank";
/// The way in which devices of two ranks run regions together.
const RANKS: &str = "ranks";
/// First seed of the sources. Those of the fuzzer's first runs begin at 1,000,000.
const FIRST_SEED: u64 = 500;
/// Random sequences of steps for each source.
const SEQUENCES: &str = "6";
/// Time limit of a run.
const LIMIT: Duration = Duration::from_secs(120);

/// Returns the trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for ((name, options), seed) in WAYS.into_iter().zip(FIRST_SEED..) {
        for level in ["O0", "O2"] {
            let title = format!("coherence/{name}/{level}");
            match name {
                RANK | RANKS => ranks::add(&mut trials, title, move |launcher| {
                    compare(seed, level, Some(launcher), name, options)
                }),
                _ => trials.push(Trial::test(title, move || {
                    Ok(compare(seed, level, None, name, options)?)
                })),
            }
        }
    }
    trials
}

/// Compares a program with its reference.
fn compare(
    seed: u64,
    level: &str,
    launcher: Option<&Path>,
    way: &str,
    options: &[&str],
) -> Result<(), String> {
    let text = generate::program(seed, &[]);
    let source = compile::source("coherence", &format!("program{seed}.c"), &text)?;
    let expected = reference(&source)?;
    let flags = ["-fopenmp", "--offload-arch=sm_90", "-nogpulib"];
    let mut flags: Vec<String> = flags.map(str::to_owned).into();
    flags.extend([format!("-{level}"), "--cuda-feature=+ptx83".to_owned()]);
    let bitcode = bitcode(&source, &flags)?;
    let mut command = match launcher {
        Some(launcher) => {
            let mut command = Command::new(launcher);
            command.args(["-n", "2"]).arg(ompvm());
            command
        }
        None => Command::new(ompvm()),
    };
    command.arg("run").args(options).arg(bitcode);
    command.args(["1", SEQUENCES]);
    command.env("OMP_NUM_THREADS", (1 + seed % 4).to_string());
    if way == RANK {
        command.env("OMP_DEFAULT_DEVICE", "1");
    }
    if way.contains("apart") {
        command.env("OMPVM_EMULATED_LINKS", "off");
    }
    if !options.contains(&"--offload=force") {
        command.env("OMP_TARGET_OFFLOAD", "mandatory");
    }
    let got = run(&mut command, "", LIMIT)?;
    match got.end == End::Exit(0) && got.stdout == expected.stdout {
        true => Ok(()),
        false => Err(format!(
            "{}: should print\n{}\n{}",
            source.display(),
            expected.stdout,
            got.summary()
        )),
    }
}

/// Runs a native build in which one thread does everything.
fn reference(source: &Path) -> Result<Ran, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let program = folder.path().join("reference");
    let mut clang = Command::new(llvm_bin().join("clang"));
    clang.args(["-O1", "-w", "-pthread", "-o"]).arg(&program);
    let made = run(clang.arg(source), "", LIMIT)?;
    if made.end != End::Exit(0) {
        return Err(made.summary());
    }
    let ran = run(Command::new(program).args(["1", SEQUENCES]), "", LIMIT)?;
    match ran.end == End::Exit(0) && !ran.stdout.is_empty() {
        true => Ok(ran),
        false => Err(ran.summary()),
    }
}
