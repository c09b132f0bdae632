//! Differential fuzzing: random programs must behave the same natively and on ompvm in every tier.
//!
//! A program is generated from its seed (`tests/diff/generate_wide.rs`), compiled by clang at three
//! levels, and run natively and in every way that this ompvm supports. A difference is reduced and
//! kept in `target/fuzz/findings` with the command that reproduces it. A run can be stopped at any
//! time and resumes where it was; the same seed always tests the same programs. `--pack` prepares a
//! folder for machines without compilers.
//!
//! Programs are generated rather than collected, because generated ones are well defined by
//! construction, so every difference is a defect, and they combine features that people rarely
//! combine.

mod case;
pub mod coherence;
#[path = "../../../tests/diff/generate.rs"]
#[allow(dead_code, unused_imports, reason = "the tests use the rest")]
mod generate;
pub mod inputs;
mod mutate;
mod pack;
mod reduce;

use crate::dist;
use crate::process::{self, root};
use crate::setup;
use crate::timed::{TimedRun, replace, write};
use case::{Case, LEVELS, RunMode, Verdict, present};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Options of `cargo xtask fuzz`.
#[derive(Args)]
pub struct Options {
    /// Duration in hours
    #[arg(long, default_value_t = 1.0)]
    hours: f64,
    /// Seed of the run, which determines all programs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of programs tested in parallel
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Test only the program of this seed
    #[arg(long)]
    only: Option<u64>,
    /// Use only these ways to run (such as `opt`), separated by commas
    #[arg(long, value_delimiter = ',')]
    ways: Vec<String>,
    /// Number of damaged copies of each program's bitcode
    #[arg(long, default_value_t = 4)]
    flips: u64,
    /// The ompvm to test (default: built from this tree)
    #[arg(long)]
    ompvm: Option<PathBuf>,
    /// Seconds that reducing one program may take
    #[arg(long, default_value_t = 240)]
    reduce: u64,
    /// Write a pack for a machine without compilers instead
    #[arg(long, value_name = "DIR")]
    pack: Option<PathBuf>,
    /// Number of programs in the pack
    #[arg(long, default_value_t = 400)]
    count: u64,
    /// Run a pack instead, which needs no compiler
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,
}

/// Counters of a run, kept in its state file.
#[derive(Default)]
struct Progress {
    next: AtomicU64,
    counts: Mutex<BTreeMap<String, u64>>,
}

impl Progress {
    fn add(&self, what: &str, n: u64) {
        let mut counts = self.counts.lock().unwrap_or_else(|e| e.into_inner());
        *counts.entry(what.to_owned()).or_default() += n;
    }

    fn get(&self, what: &str) -> u64 {
        let counts = self.counts.lock().unwrap_or_else(|e| e.into_inner());
        counts.get(what).copied().unwrap_or(0)
    }

    /// Formats all counters.
    fn line(&self) -> String {
        let counts = self.counts.lock().unwrap_or_else(|e| e.into_inner());
        let each: Vec<String> = counts.iter().map(|(k, v)| format!("{k} {v}")).collect();
        each.join(", ")
    }

    fn load(path: &Path) -> Progress {
        let state = Progress::default();
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut counts = BTreeMap::new();
        for line in text.lines() {
            if let Some((name, value)) = line.split_once('\t')
                && let Ok(value) = value.parse::<u64>()
            {
                match name {
                    "next" => state.next.store(value, Ordering::Relaxed),
                    name => {
                        counts.insert(name.to_owned(), value);
                    }
                }
            }
        }
        *state.counts.lock().unwrap_or_else(|e| e.into_inner()) = counts;
        state
    }

    fn save(&self, path: &Path) -> Result<(), String> {
        let mut text = format!("next\t{}\n", self.next.load(Ordering::Relaxed));
        for (name, value) in self.counts.lock().unwrap_or_else(|e| e.into_inner()).iter() {
            text += &format!("{name}\t{value}\n");
        }
        replace(path, text)
    }
}

/// Runs the fuzzer.
pub fn run(options: &Options) -> Result<(), String> {
    if let Some(dir) = &options.replay {
        return pack::replay(dir, options);
    }
    let tools = setup::ensure()?;
    let ompvm = match &options.ompvm {
        Some(path) => path.clone(),
        None => dist::release(&tools)?,
    };
    // A copy keeps a long run independent of later builds.
    let base = root().join("target/fuzz");
    std::fs::create_dir_all(base.join("findings"))
        .map_err(|e| format!("{}: {e}", base.display()))?;
    let copy = base.join(format!("ompvm-{}", std::process::id()));
    std::fs::copy(&ompvm, &copy).map_err(|e| format!("{}: {e}", ompvm.display()))?;
    let done = with_copy(options, &tools, &copy, &base);
    let _ = std::fs::remove_file(&copy);
    done
}

fn with_copy(
    options: &Options,
    tools: &setup::Tools,
    ompvm: &Path,
    base: &Path,
) -> Result<(), String> {
    if let Some(dir) = &options.pack {
        return pack::write_pack(dir, tools, ompvm, options);
    }
    let mut ways = present(tools, ompvm, base)?;
    if !options.ways.is_empty() {
        ways.retain(|w| options.ways.contains(&w.name));
    }
    let names: Vec<&str> = ways.iter().map(|w| &*w.name).collect();
    println!("ways: {}", names.join(", "));
    let fuzz = Fuzz {
        tools,
        ompvm,
        base,
        options,
        ways,
        state: Progress::load(&state_path(base, options.seed)),
        started: Instant::now(),
    };
    if let Some(seed) = options.only {
        return fuzz.program(seed, &fuzz.work_dir(0)?);
    }
    fuzz.all()
}

fn state_path(base: &Path, seed: u64) -> PathBuf {
    base.join(format!("state-{seed}.tsv"))
}

struct Fuzz<'a> {
    tools: &'a setup::Tools,
    ompvm: &'a Path,
    base: &'a Path,
    options: &'a Options,
    ways: Vec<RunMode>,
    state: Progress,
    started: Instant,
}

impl Fuzz<'_> {
    fn work_dir(&self, job: usize) -> Result<PathBuf, String> {
        let dir = self.base.join(format!("work-{}-{job}", std::process::id()));
        std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        Ok(dir)
    }

    fn all(&self) -> Result<(), String> {
        let limit = Duration::from_secs_f64(self.options.hours * 3600.0);
        let failed = Mutex::new(None);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for job in 0..self.options.jobs.max(1) {
                let (failed, stop) = (&failed, &stop);
                scope.spawn(move || {
                    let result = self.work_dir(job).and_then(|dir| {
                        let mut last = Instant::now();
                        while self.started.elapsed() < limit && !stop.load(Ordering::Relaxed) {
                            let n = self.state.next.fetch_add(1, Ordering::Relaxed);
                            self.program(self.options.seed * 1_000_000 + n, &dir)?;
                            self.state.add("seconds", last.elapsed().as_secs());
                            if last.elapsed().as_secs() > 0 {
                                last = Instant::now();
                            }
                            self.state.save(&state_path(self.base, self.options.seed))?;
                        }
                        let _ = std::fs::remove_dir_all(&dir);
                        Ok(())
                    });
                    if let Err(e) = result {
                        stop.store(true, Ordering::Relaxed);
                        *failed.lock().unwrap_or_else(|e| e.into_inner()) = Some(e);
                    }
                });
            }
        });
        self.print();
        match failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
            Some(e) => Err(e),
            None => Ok(()),
        }
    }

    fn print(&self) {
        let line = self.state.line();
        println!("[{:.0} s] {line}", self.started.elapsed().as_secs_f64());
    }

    /// Tests one program in every way.
    fn program(&self, seed: u64, dir: &Path) -> Result<(), String> {
        let case = Case::from_seed(self.tools, self.ompvm, dir, seed);
        self.state.add("programs", 1);
        for (level, flags) in LEVELS {
            let (bitcode, native) = match case.build(level, flags) {
                Ok(built) => built,
                Err(e) => {
                    self.state.add("useless", 1);
                    println!("{seed}: not usable: {e}");
                    return Ok(());
                }
            };
            let mut expected: BTreeMap<u32, TimedRun> = BTreeMap::new();
            for mode in &self.ways {
                let rounds = mode.rounds;
                if let std::collections::btree_map::Entry::Vacant(e) = expected.entry(rounds) {
                    e.insert(case.native(&native, rounds)?);
                }
                let natively = &expected[&rounds];
                if natively.timed_out || natively.status < 0 {
                    self.state.add("useless", 1);
                    println!("{seed}: natively it {}", natively.end());
                    return Ok(());
                }
                self.state.add("runs", 1);
                if let Verdict::Differs { expected, got } =
                    case.compare(mode, &bitcode, natively)?
                {
                    self.finding(&case, level, flags, mode, &expected, &got)?;
                }
            }
            if level == "O2" && self.options.flips > 0 {
                let bytes = std::fs::read(&bitcode).map_err(|e| e.to_string())?;
                self.state.add("damaged", self.options.flips);
                for (flip, bytes, ran) in mutate::find_crashes(&case, &bytes, self.options.flips)? {
                    let dir = self.base.join(format!("findings/damaged-{flip}"));
                    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
                    write(&dir.join("damaged.bc"), bytes)?;
                    write(&dir.join("stderr"), &ran.stderr)?;
                    println!("{seed}: damaged bitcode {flip}: inspect {}", ran.end());
                    self.state.add("crashes on damaged bitcode", 1);
                }
            }
        }
        if self.state.get("programs").is_multiple_of(20) {
            self.print();
        }
        Ok(())
    }

    /// Saves a difference and reduces it.
    fn finding(
        &self,
        case: &Case,
        level: &str,
        flags: &[&str],
        mode: &RunMode,
        expected: &TimedRun,
        got: &TimedRun,
    ) -> Result<(), String> {
        let seed = case.setting.seed;
        if !case.is_sound(expected, mode.rounds)? {
            println!("{seed}/{level}: native runs differ among themselves");
            self.state.add("useless", 1);
            return Ok(());
        }
        let folder = format!("{seed}-{level}-{}", mode.name);
        println!("{folder}: native {}, ompvm {}", expected.end(), got.end());
        self.state.add("differences", 1);
        self.state.add(&format!("differences in {}", mode.name), 1);
        let out = self.base.join("findings").join(&folder);
        std::fs::create_dir_all(&out).map_err(|e| e.to_string())?;
        write(&out.join(case.file()), &case.source.text)?;
        write(&out.join("expected"), &expected.stdout)?;
        write(&out.join("got"), &got.stdout)?;
        write(&out.join("stderr"), &got.stderr)?;
        let env: Vec<String> = mode
            .env
            .iter()
            .map(|(k, v)| format!("{k}={}", v.replace("SEED", &seed.to_string())))
            .collect();
        let command = format!(
            "cargo xtask fuzz --only {seed} --ways {}\n{} {} {} -c -emit-llvm {}\nOMP_NUM_THREADS={} OMP_SCHEDULE={} {} ompvm run {} {} {}\n",
            mode.name,
            if case.source.cpp {
                "clang++-22"
            } else {
                "clang-22"
            },
            case.flags().join(" "),
            flags.join(" "),
            case.file(),
            case.setting.threads,
            case.setting.schedule,
            env.join(" "),
            mode.options.join(" "),
            case.file().replace(".cpp", ".bc").replace(".c", ".bc"),
            mode.rounds,
        );
        write(&out.join("command"), command)?;
        // The failure rate determines how many runs a reduced candidate gets.
        let bitcode = case.dir.join(format!("{level}.bc"));
        let mut again = 0;
        for _ in 0..4 {
            if let Verdict::Differs { .. } = case.compare(mode, &bitcode, expected)? {
                again += 1;
            }
        }
        println!("{folder}: {again} of 4 runs differ again");
        let known = self.state.get(&format!("reduced in {}", mode.name));
        if again == 0 || self.options.reduce == 0 || known >= 12 {
            return Ok(());
        }
        self.state.add(&format!("reduced in {}", mode.name), 1);
        let tries = if again == 4 { 1 } else { 6 };
        let dir = case.dir.join("reduce");
        std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
        let limit = Duration::from_secs(self.options.reduce);
        let kind = (got.status, got.timed_out);
        let (small, tried) = reduce::reduce(&case.source.text, limit, |text| {
            let smaller = case.with(&dir, text.to_owned());
            still_fails(&smaller, level, flags, mode, tries, kind).unwrap_or(false)
        });
        println!(
            "{folder}: reduced from {} to {} lines in {tried} attempts",
            case.source.text.lines().count(),
            small.lines().count()
        );
        write(&out.join(format!("reduced-{}", case.file())), small)
    }
}

/// Returns true if a reduced program is sound and still differs in the same manner.
fn still_fails(
    case: &Case,
    level: &str,
    flags: &[&str],
    mode: &RunMode,
    tries: usize,
    kind: (i32, bool),
) -> Result<bool, String> {
    let (bitcode, native) = case.build(level, flags)?;
    let expected = case.native(&native, mode.rounds)?;
    if expected.timed_out || expected.status < 0 {
        return Ok(false);
    }
    let mut differs = false;
    for _ in 0..tries {
        if let Verdict::Differs { got, .. } = case.compare(mode, &bitcode, &expected)? {
            let signal = |s: i32| if s < 0 || s == 125 { s } else { 0 };
            if (signal(got.status), got.timed_out) == (signal(kind.0), kind.1) {
                differs = true;
                break;
            }
        }
    }
    // The expensive check that the program is still well defined comes last.
    Ok(differs && case.is_sound(&expected, mode.rounds)?)
}

/// Lowers the priority of this process and its children, so that other measurements are not
/// disturbed.
pub fn lower_priority() {
    // SAFETY: affects the priority of this process only.
    unsafe { libc::nice(19) };
}

/// Returns the output of `ompvm --version`, for reports.
fn version(ompvm: &Path) -> String {
    process::capture_ok(Command::new(ompvm).arg("--version")).unwrap_or_default()
}
