//! Packs for testing on machines without compilers: a folder with bitcode, the results of native
//! runs, the ompvm under test and this program.
//!
//! `cases.tsv` has a line per program and level: file, number of rounds, status, hash of the
//! output. The highest level requires AVX2 and FMA instead of the local processor's features.

use super::case::{Case, Environment, LIMIT, PORTABLE, RunMode};
use super::{Options, lower_priority, version};
use crate::process;
use crate::setup::Tools;
use crate::timed::{TimedRun, run, write};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Numbers of rounds with recorded native results.
const ROUNDS: [u32; 3] = [1, 2, 8];

/// Returns the 64-bit FNV-1a hash (Fowler, Noll, Vo) of a program's output.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Writes a pack of `options.count` programs.
pub fn write_pack(
    dir: &Path,
    tools: &Tools,
    ompvm: &Path,
    options: &Options,
) -> Result<(), String> {
    lower_priority();
    let cases = dir.join("cases");
    let work = dir.join("work");
    for d in [&cases, &work] {
        std::fs::create_dir_all(d).map_err(|e| format!("{}: {e}", d.display()))?;
    }
    let next = AtomicUsize::new(0);
    let table = Mutex::new(BTreeMap::new());
    let failed = Mutex::new(None);
    std::thread::scope(|scope| {
        for job in 0..options.jobs.max(1) {
            let (next, table, failed) = (&next, &table, &failed);
            let (cases, work) = (&cases, work.join(job.to_string()));
            scope.spawn(move || {
                let result = std::fs::create_dir_all(&work)
                    .map_err(|e| e.to_string())
                    .and_then(|()| {
                        loop {
                            let n = next.fetch_add(1, Ordering::Relaxed) as u64;
                            if n >= options.count {
                                return Ok(());
                            }
                            let seed = options.seed * 1_000_000 + n;
                            let lines =
                                build_case(&Case::from_seed(tools, ompvm, &work, seed), cases)?;
                            table
                                .lock()
                                .unwrap_or_else(|e| e.into_inner())
                                .insert(seed, lines);
                        }
                    });
                if let Err(e) = result {
                    *failed.lock().unwrap_or_else(|e| e.into_inner()) = Some::<String>(e);
                }
            });
        }
    });
    if let Some(e) = failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
        return Err(e);
    }
    let table = table.into_inner().unwrap_or_else(|e| e.into_inner());
    write(
        &cases.join("cases.tsv"),
        table.values().map(String::as_str).collect::<String>(),
    )?;
    let _ = std::fs::remove_dir_all(&work);
    process::run(
        Command::new("tar")
            .current_dir(dir)
            .args(["-cJf", "cases.tar.xz", "cases"]),
    )?;
    copy_executables(dir, ompvm)?;
    let used = table.values().filter(|l| !l.is_empty()).count();
    println!(
        "{used} programs of {}; run {}/run.sh",
        options.count,
        dir.display()
    );
    Ok(())
}

/// Copies the executables into the pack.
fn copy_executables(dir: &Path, ompvm: &Path) -> Result<(), String> {
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    for (from, name) in [(ompvm, "ompvm"), (&this, "runner")] {
        let to = dir.join(name);
        std::fs::copy(from, &to).map_err(|e| format!("{}: {e}", to.display()))?;
        process::run(Command::new("strip").arg(&to))?;
    }
    let script = "#!/bin/sh\n# usage: run.sh [HOURS [JOBS [WAYS]]]\ncd \"$(dirname \"$0\")\" || exit 1\n\
        [ -d cases ] || tar -xJf cases.tar.xz || exit 1\n\
        exec ./runner fuzz --replay . --hours \"${1:-0.15}\" --jobs \"${2:-$(nproc)}\" ${3:+--ways \"$3\"}\n";
    let path = dir.join("run.sh");
    write(&path, script)?;
    process::run(Command::new("chmod").arg("+x").arg(&path))
}

/// Builds one program. Returns its lines of the table; empty if the program is unusable.
fn build_case(case: &Case, cases: &Path) -> Result<String, String> {
    let seed = case.setting.seed;
    let mut lines = String::new();
    let mut files = Vec::new();
    let mut first: Option<Vec<TimedRun>> = None;
    for (level, flags) in PORTABLE {
        let Ok((bitcode, native)) = case.build(level, flags) else {
            return Ok(String::new());
        };
        let mut rans = Vec::new();
        for rounds in ROUNDS {
            let ran = case.native(&native, rounds)?;
            if ran.timed_out || ran.status < 0 {
                return Ok(String::new());
            }
            let _ = writeln!(
                lines,
                "{seed}-{level}.bc\t{rounds}\t{}\t{:016x}",
                ran.status,
                hash(&ran.stdout)
            );
            rans.push(ran);
        }
        // If levels differ, the program is not well defined.
        let first = first.get_or_insert_with(|| rans.clone());
        if first.iter().zip(&rans).any(|(a, b)| !a.agrees(b)) {
            return Ok(String::new());
        }
        files.push((format!("{seed}-{level}.bc"), bitcode));
    }
    for (name, bitcode) in files {
        std::fs::copy(bitcode, cases.join(name)).map_err(|e| e.to_string())?;
    }
    Ok(lines)
}

/// Result of a native run.
#[derive(Clone, Copy)]
struct Expected {
    status: i32,
    hash: u64,
}

/// Runs every case in every way until the time is over, in later passes with other settings.
pub fn replay(dir: &Path, options: &Options) -> Result<(), String> {
    let dir = std::fs::canonicalize(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let ompvm = options.ompvm.clone().unwrap_or_else(|| dir.join("ompvm"));
    let cases = dir.join("cases");
    let text =
        std::fs::read_to_string(cases.join("cases.tsv")).map_err(|e| format!("cases.tsv: {e}"))?;
    let mut table: BTreeMap<(String, u32), Expected> = BTreeMap::new();
    for line in text.lines() {
        let f: Vec<&str> = line.split('\t').collect();
        if let [file, rounds, status, hash] = f[..]
            && let (Ok(rounds), Ok(status), Ok(hash)) = (
                rounds.parse(),
                status.parse(),
                u64::from_str_radix(hash, 16),
            )
        {
            table.insert((file.to_owned(), rounds), Expected { status, hash });
        }
    }
    let files: Vec<String> = table
        .keys()
        .filter(|k| k.1 == 1)
        .map(|k| k.0.clone())
        .collect();
    if files.is_empty() {
        return Err("the pack has no cases".into());
    }
    let findings = dir.join("findings");
    std::fs::create_dir_all(&findings).map_err(|e| e.to_string())?;
    let mut ways: Vec<RunMode> = RunMode::all();
    if !options.ways.is_empty() {
        ways.retain(|w| options.ways.contains(&w.name));
    }
    let first = cases.join(&files[0]);
    ways.retain(|w| {
        let ran = run(
            &mut w.command(&ompvm, &first, &Environment::from_seed(0)),
            &findings,
            LIMIT,
        );
        ran.is_ok_and(|r| r.status != 2)
    });
    let names: Vec<&str> = ways.iter().map(|w| &*w.name).collect();
    print!("{}", version(&ompvm));
    println!(
        "{} cases; ways: {}; jobs: {}",
        files.len(),
        names.join(", "),
        options.jobs
    );
    let counts: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let add = |what: &str| {
        *counts
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .entry(what.to_owned())
            .or_default() += 1
    };
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let limit = Duration::from_secs_f64(options.hours * 3600.0);
    std::thread::scope(|scope| {
        for job in 0..options.jobs.max(1) {
            let work: PathBuf =
                std::env::temp_dir().join(format!("fuzz-{}-{job}", std::process::id()));
            let (next, table, files, ways, cases, findings, ompvm, add) = (
                &next, &table, &files, &ways, &cases, &findings, &ompvm, &add,
            );
            scope.spawn(move || {
                if std::fs::create_dir_all(&work).is_err() {
                    return;
                }
                while started.elapsed() < limit {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let (mode, turn) = (&ways[n % ways.len()], n / ways.len());
                    let (file, pass) = (&files[turn % files.len()], turn / files.len());
                    let Some(expected) = table.get(&(file.clone(), mode.rounds)) else {
                        continue;
                    };
                    let seed: u64 = file
                        .split('-')
                        .next()
                        .and_then(|s| s.parse().ok())
                        .unwrap_or(0);
                    let setting = Environment::from_seed(seed.wrapping_add(pass as u64 * 7919));
                    let mut command = mode.command(ompvm, &cases.join(file), &setting);
                    let Ok(ran) = run(&mut command, &work, LIMIT) else {
                        continue;
                    };
                    add("runs");
                    add(&format!("runs in {}", mode.name));
                    if ran.status == expected.status && hash(&ran.stdout) == expected.hash {
                        continue;
                    }
                    add(&format!("differences in {}", mode.name));
                    let name = format!("{}-{}-{pass}", file.trim_end_matches(".bc"), mode.name);
                    println!(
                        "{name}: ompvm {}, native exited with {}; {}",
                        ran.end(),
                        expected.status,
                        process::show(&command)
                    );
                    let _ = write(&findings.join(format!("{name}.out")), &ran.stdout);
                    let _ = write(&findings.join(format!("{name}.err")), &ran.stderr);
                }
                let _ = std::fs::remove_dir_all(&work);
            });
        }
    });
    let counts = counts.into_inner().unwrap_or_else(|e| e.into_inner());
    let hours = started.elapsed().as_secs_f64() * options.jobs.max(1) as f64 / 3600.0;
    println!("{hours:.2} hours of all jobs together");
    for (what, n) in counts {
        println!("{what}: {n}");
    }
    Ok(())
}
