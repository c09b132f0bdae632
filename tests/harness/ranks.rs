//! Devices of other ranks of MPI: programs that name many devices run over several processes.
//!
//! `cargo xtask setup` fetches an MPI with its launcher; without it the trials are ignored, with
//! the reason. The programs of `tests/ranks` run on two and three ranks with the devices of each,
//! and those of `tests/offload/group` on devices and processors of three ranks together. Programs of
//! `tests/offload` run on a device of another rank: those with two devices on one device per rank,
//! others, a share of them, on that of rank 1 alone. Further trials check failures of ranks.

use crate::compile::{bitcode, llvm_bin};
use crate::directives::Directives;
use crate::omp::{Outcome, judge, on_emulated_device};
use crate::run::{End, Ran, run};
use crate::{files, ompvm, root};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Share of the programs with one device that run on a device of another rank.
const SHARE: usize = 9;
/// Time limit of a run.
const LIMIT: Duration = Duration::from_secs(120);

/// Returns the launcher: `OMPVM_MPIEXEC`, or the one that setup fetched.
fn launcher() -> Option<PathBuf> {
    let named = std::env::var_os("OMPVM_MPIEXEC").map(PathBuf::from);
    let fetched = root().join("target/mpich/bin/mpiexec");
    named.into_iter().chain([fetched]).find(|p| p.exists())
}

/// Adds a trial that needs the launcher.
pub fn add(
    trials: &mut Vec<Trial>,
    title: String,
    check: impl FnOnce(&Path) -> Result<(), String> + Send + 'static,
) {
    let launcher = launcher();
    let missing = launcher.is_none();
    let title = match missing {
        true => title + " (needs mpiexec: `cargo xtask setup`)",
        false => title,
    };
    let trial = Trial::test(title, move || {
        let launcher = launcher.as_deref().ok_or("there is no mpiexec")?;
        Ok(check(launcher)?)
    });
    trials.push(trial.with_ignored_flag(missing));
}

/// Returns the trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let folder = root().join("tests/ranks");
    for source in files(&folder, &["c", "cpp"]) {
        for (level, ranks) in [("O0", 3), ("O2", 2)] {
            let title = format!("ranks/{}/{level}", name(&source, &folder));
            let source = source.clone();
            add(&mut trials, title, move |launcher| {
                let d = directives(&source, level)?;
                let bitcode = compiled(&source, level, &d)?;
                let mut command = Command::new(launcher);
                command.args(["-n", &ranks.to_string()]);
                add_program(&mut command, &d, &bitcode, None);
                checked(&source, &d, run(&mut command, "", LIMIT)?)
            });
        }
    }
    for source in files(&folder, &["f90"]) {
        let title = format!("ranks/{}/O2", name(&source, &folder));
        if llvm_bin().join("flang").exists() {
            add(&mut trials, title, move |l| fortran(l, &source));
        }
    }
    let folder = root().join("tests/offload");
    let mut number = 0;
    for source in files(&folder, &["c", "cpp"]) {
        let Ok(d) = directives(&source, "O2") else {
            continue;
        };
        let pair = d.options.iter().any(|o| o == "--device=emulated:2");
        let single = d.options.iter().any(|o| o == "--device=emulated");
        // A time limit, or memory that host and device share, is not that of another process.
        let text = std::fs::read_to_string(&source).unwrap_or_default();
        let shared = ["unified_shared_memory", "alloc_host", "alloc_shared"];
        if !pair && !single || shared.iter().any(|word| text.contains(word)) {
            continue;
        }
        number += 1;
        if !pair && number % SHARE != 0 {
            continue;
        }
        let title = format!("ranks/offload/{}", name(&source, &folder));
        add(&mut trials, title, move |launcher| {
            let bitcode = compiled(&source, "O2", &d)?;
            let mut command = Command::new(launcher);
            for rank in 0..2 {
                let device = match (pair, rank) {
                    (true, _) => "--device=emulated",
                    (false, 0) => "--device=host",
                    (false, _) => "--device=emulated",
                };
                command.args([":", "-n", "1"].iter().skip(usize::from(rank == 0)));
                add_program(&mut command, &d, &bitcode, Some(device));
            }
            checked(&source, &d, run(&mut command, "", LIMIT)?)
        });
    }
    groups(&mut trials);
    failures(&mut trials);
    trials
}

/// Adds the programs for several devices as one, whose members are devices of three ranks.
fn groups(trials: &mut Vec<Trial>) {
    let folder = root().join("tests/offload/group");
    for source in files(&folder, &["c", "cpp"]) {
        // The report names devices; memory of a group is not that of its single members.
        let left_out = ["report.c", "single.c"];
        let name = name(&source, &folder);
        if left_out.contains(&&*name) {
            continue;
        }
        for (kind, device) in [("group", "emulated"), ("processors", "cpu")] {
            let source = source.clone();
            add(trials, format!("ranks/{kind}/{name}"), move |launcher| {
                let mut d = directives(&source, "O2")?;
                // Placement is another one.
                d.stderr_has.clear();
                let bitcode = compiled(&source, "O2", &d)?;
                let mut command = Command::new(launcher);
                command.args(["-n", "3"]).arg(ompvm());
                command.args(["run", &format!("--device={device}"), "--devices=all"]);
                command.arg(&bitcode).args(&d.args);
                command.envs(d.env.iter().map(|(k, v)| (k, v)));
                checked(&source, &d, run(&mut command, "", LIMIT)?)
            });
        }
    }
}

fn name(source: &Path, folder: &Path) -> String {
    let name = source.strip_prefix(folder).unwrap_or(source);
    name.display().to_string()
}

fn directives(source: &Path, level: &str) -> Result<Directives, String> {
    let mut d = Directives::read(source, &[level])?;
    on_emulated_device(&mut d);
    Ok(d)
}

fn compiled(source: &Path, level: &str, d: &Directives) -> Result<PathBuf, String> {
    let mut flags = vec![format!("-{level}"), "-fopenmp".to_owned()];
    flags.extend(d.flags.iter().cloned());
    bitcode(source, &flags)
}

/// Adds the command line of a rank. `device` replaces the option for devices.
fn add_program(command: &mut Command, d: &Directives, bitcode: &Path, device: Option<&str>) {
    command.arg(ompvm()).args(["run", "--devices=each"]);
    let options = d.options.iter();
    let kept = options.filter(|o| device.is_none() || !o.starts_with("--device="));
    command.args(kept).args(device).arg(bitcode).args(&d.args);
    command.envs(d.env.iter().map(|(k, v)| (k, v)));
}

/// Compares a run with the head of the program. A launcher turns signals into statuses of its own.
fn checked(source: &Path, d: &Directives, mut ran: Ran) -> Result<(), String> {
    let mut d = d.clone();
    let faults = d.signal.take().is_some();
    let outcome = if faults { Outcome::Fail } else { Outcome::Pass };
    if faults && !matches!(ran.end, End::Exit(0) | End::TimedOut) {
        ran.end = End::Exit(d.exit.unwrap_or(0));
        // The launcher reports the end, too.
        d.stdout.clear();
    }
    judge(source, &d, outcome, &ran).map_err(|why| format!("{why}\n{}", ran.summary()))
}

/// Runs a Fortran program, which prints `ok`.
fn fortran(launcher: &Path, source: &Path) -> Result<(), String> {
    let folder = root().join("target/guests/fortran/ranks");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let bitcode = folder.join("sum.bc");
    let mut command = Command::new(llvm_bin().join("flang"));
    let device = ["--offload-arch=sm_90", "-nogpulib", "-fopenmp-version=52"];
    let features = ["-Xflang", "-target-feature", "-Xflang", "+ptx83"];
    command.args(["-O2", "-g", "-fopenmp", "-c", "-emit-llvm"]);
    command.args(device).args(features).arg("-o").arg(&bitcode);
    let made = run(command.arg(source), "", LIMIT)?;
    if made.end != End::Exit(0) {
        return Err(made.summary());
    }
    let mut command = Command::new(launcher);
    command.args(["-n", "2"]).arg(ompvm());
    command.args(["run", "--device=emulated", "--devices=each"]);
    let ran = run(command.arg(&bitcode), "", LIMIT)?;
    match ran.end == End::Exit(0) && ran.stdout.trim() == "ok" {
        true => Ok(()),
        false => Err(ran.summary()),
    }
}

/// A failure of a rank: its name, the environment, and the command lines of the ranks, in which
/// `OMPVM` is the program under test, `OTHER` another build of it, and `BITCODE` a program.
struct RankFailure {
    name: &'static str,
    environment: &'static [(&'static str, &'static str)],
    ranks: [&'static str; 2],
    /// Parts of the only message.
    message: &'static [&'static str],
}

const FAILURES: [RankFailure; 4] = [
    RankFailure {
        name: "other_version",
        environment: &[],
        ranks: ["OMPVM run BITCODE", "OTHER run BITCODE"],
        message: &["rank 1 on ", " runs ompvm ", "install the same"],
    },
    RankFailure {
        name: "missing_file",
        environment: &[],
        ranks: ["OMPVM run BITCODE", "OMPVM run /nowhere/x.bc"],
        message: &["rank 1 on ", "/nowhere/x.bc: no such file", "same path"],
    },
    RankFailure {
        name: "missing_everywhere",
        environment: &[],
        ranks: ["OMPVM run /nowhere/x.bc", "OMPVM run /nowhere/x.bc"],
        message: &["/nowhere/x.bc: no such file"],
    },
    RankFailure {
        name: "no_mpi",
        environment: &[("OMPVM_MPI", "/nowhere/libmpi.so")],
        ranks: ["OMPVM run BITCODE", "OMPVM run BITCODE"],
        message: &["rank 0 on ", "cannot use MPI", "/nowhere/libmpi.so"],
    },
];

/// Adds trials of ranks that fail: one message, status 125 and no hang.
fn failures(trials: &mut Vec<Trial>) {
    for failure in FAILURES {
        add(trials, format!("ranks/failure/{}", failure.name), |l| {
            fails(l, failure)
        });
    }
    add(trials, "ranks/failure/dead_rank".into(), dead_rank);
    add(trials, "ranks/separate".into(), separate);
    add(trials, "ranks/hybrid".into(), hybrid);
}

fn print_program() -> Result<PathBuf, String> {
    let source = root().join("tests/ranks/print.c");
    compiled(&source, "O2", &directives(&source, "O2")?)
}

fn fails(launcher: &Path, failure: RankFailure) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let other = folder.path().join("ompvm");
    std::fs::copy(ompvm(), &other).map_err(|e| e.to_string())?;
    let file = std::fs::OpenOptions::new().append(true).open(&other);
    let longer = file.and_then(|mut f| std::io::Write::write_all(&mut f, b"longer"));
    longer.map_err(|e| e.to_string())?;
    let bitcode = print_program()?;
    let mut command = Command::new(launcher);
    command.envs(failure.environment.iter().copied());
    for (rank, line) in failure.ranks.iter().enumerate() {
        command.args([":", "-n", "1"].iter().skip(usize::from(rank == 0)));
        for word in line.split(' ') {
            match word {
                "OMPVM" => command.arg(ompvm()),
                "OTHER" => command.arg(&other),
                "BITCODE" => command.arg(&bitcode),
                word => command.arg(word),
            };
        }
    }
    let ran = run(&mut command, "", LIMIT)?;
    let messages: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|l| l.contains("ompvm: "))
        .collect();
    let [message] = messages[..] else {
        return Err(format!("should print one message\n{}", ran.summary()));
    };
    if ran.end != End::Exit(125) || failure.message.iter().any(|part| !message.contains(part)) {
        return Err(format!(
            "should end with 125 and say {:?}\n{}",
            failure.message,
            ran.summary()
        ));
    }
    Ok(())
}

/// Rank 1 ends while its device is in use. The launcher would end rank 0 at once, so it sees a
/// shell that stays. It may lose output, so a file has it.
fn dead_rank(launcher: &Path) -> Result<(), String> {
    let bitcode = included("endless")?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let [sign, messages] = ["sign", "messages"].map(|name| folder.path().join(name));
    let told = "messages=$1; shift; exec \"$@\" 2> \"$messages\"";
    let killed = "sign=$1; shift; \"$@\" & until [ -e \"$sign\" ]; do sleep .1; done; sleep 1; \
                  kill -9 $!; sleep 60";
    let mut command = Command::new(launcher);
    command
        .args(["-n", "1", "sh", "-c", told, "sh"])
        .arg(&messages);
    command.arg(ompvm()).args(["run", "--device=host"]);
    command.args(["--devices=each"]).arg(&bitcode).arg(&sign);
    command
        .args([":", "-n", "1", "sh", "-c", killed, "sh"])
        .arg(&sign);
    command.arg(ompvm()).args(["run", "--device=emulated"]);
    command.args(["--devices=each"]).arg(&bitcode).arg(&sign);
    loses_rank_1(&mut command, &messages, LIMIT)
}

/// Runs a launcher whose rank 1 ends, and expects one message of rank 0, in the file `messages`.
pub fn loses_rank_1(command: &mut Command, messages: &Path, limit: Duration) -> Result<(), String> {
    let ran = run(command, "", limit)?;
    let messages = std::fs::read_to_string(messages).unwrap_or_default();
    let says = messages.contains("ompvm: rank 1 on ") && messages.contains(" is lost: ");
    // The launcher returns the status of rank 0, or of what it killed when it saw that rank end.
    let ended = matches!(ran.end, End::Exit(125 | 9));
    match says && messages.lines().count() == 1 && ended {
        true => Ok(()),
        false => Err(format!("says {messages}\n{}", ran.summary())),
    }
}

/// A program that uses MPI runs on every rank.
fn hybrid(launcher: &Path) -> Result<(), String> {
    let library = launcher.with_file_name("../lib/libmpi.so.12");
    if !library.exists() {
        return Err("the launcher's library is not MPICH's".into());
    }
    let bitcode = included("hybrid")?;
    let mut command = Command::new(launcher);
    command.args(["-n", "2"]).arg(ompvm());
    command.args(["run", "--devices=each", "--with"]);
    let ran = run(command.arg(library).arg(bitcode), "", LIMIT)?;
    let mut lines: Vec<&str> = ran.stdout.lines().collect();
    lines.sort_unstable();
    match ran.end == End::Exit(0) && lines == ["0 of 2", "1 of 2"] {
        true => Ok(()),
        false => Err(ran.summary()),
    }
}

/// Compiles a program of `tests/ranks` that no other trial runs.
fn included(name: &str) -> Result<PathBuf, String> {
    let source = root().join(format!("tests/ranks/{name}.inc"));
    let program = root().join(format!("target/guests/ranks/{name}.c"));
    let folder = program.parent().unwrap_or(&program);
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    std::fs::copy(source, &program).map_err(|e| e.to_string())?;
    compiled(&program, "O2", &directives(&program, "O2")?)
}

/// With `OMPVM_MPI=off` each rank runs the program, and without `each` rank 0 has its own devices.
fn separate(launcher: &Path) -> Result<(), String> {
    let bitcode = included("count")?;
    for (mpi, options, expected) in [
        ("off", &["--devices=each"][..], "1\n1\n"),
        ("auto", &[], "1\n"),
        ("auto", &["--devices=each"], "2\n"),
    ] {
        let mut command = Command::new(launcher);
        command
            .args(["-n", "2"])
            .arg(ompvm())
            .args(["run", "--device=emulated"]);
        command.args(options).arg(&bitcode).env("OMPVM_MPI", mpi);
        let ran = run(&mut command, "", LIMIT)?;
        if ran.end != End::Exit(0) || ran.stdout != expected {
            return Err(format!("{mpi} {options:?}: {}", ran.summary()));
        }
    }
    Ok(())
}
