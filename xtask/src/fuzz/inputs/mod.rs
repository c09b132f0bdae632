//! Hands damaged bytes to everything that reads bytes from outside, many thousands a second.
//!
//! Workers (`tests/inputs`) mutate files of a corpus in memory and call the readers in their own
//! process. This process starts them again when they end, and watches them: a worker that dies, that
//! spends ten seconds on one input, or that has more than 2 GiB of resident memory is a finding.
//! Its input is written to `target/fuzz-inputs/findings`, with the command that repeats it.
//!
//! The corpus is made from programs of this repository: bitcode, textual IR, fat objects, archives,
//! executables, compressed files, and the cache's files of a run. Inputs depend on seed, number and
//! corpus only. Guided fuzzing of the same readers is `tests/fuzz`.

mod corpus;
#[path = "../../../../tests/inputs/progress.rs"]
mod progress;

use crate::process::{self, root};
use crate::setup::{self, Tools};
use crate::timed::write;
use clap::Args;
use progress::{Progress, WorkerCounts, resident};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Options of `cargo xtask fuzz-inputs`.
#[derive(Args)]
pub struct Options {
    /// Surfaces, separated by commas (default: all): bitcode, text, contained, cache, object,
    /// settings, capi
    #[arg(long, value_delimiter = ',')]
    surfaces: Vec<String>,
    /// Seconds for each surface
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Seed of the run, which determines all inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first input
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Number of workers
    #[arg(long, default_value_t = 1)]
    jobs: u64,
    /// Directory with the corpus (default: made from this tree)
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// The worker, which is beside `ompvm` and its libraries (default: built from this tree)
    #[arg(long)]
    worker: Option<PathBuf>,
}

const SURFACES: [&str; 7] = [
    "bitcode",
    "text",
    "contained",
    "cache",
    "object",
    "settings",
    "capi",
];
/// Processor time that one input may take. Other work on the machine may delay a worker for long.
const HANG: Duration = Duration::from_secs(10);
/// Wall time that one input may take.
const STOP: Duration = Duration::from_secs(60);
/// Resident memory that a worker may have, in bytes.
const MEMORY: u64 = 2 << 30;
/// Interval at which a worker is looked at.
const TICK: Duration = Duration::from_millis(20);
/// Distance of the inputs of one job from those of the next.
const JOB: u64 = 1 << 40;
/// Findings of one surface after which it is left.
const MOST_FINDINGS: u64 = 20;

/// Counts of one surface.
#[derive(Clone, Copy, Default)]
struct Counts {
    done: u64,
    accepted: u64,
    contained: u64,
    findings: u64,
    /// Number of the input that follows the last one.
    next: u64,
}

/// Programs and folders of a run.
struct Fuzzer {
    worker: PathBuf,
    corpus: PathBuf,
    dir: PathBuf,
    /// Folder of the workers' files, in memory if possible.
    work: PathBuf,
    seed: u64,
}

/// Runs the workers, prints a line for each surface, and fails if there are findings.
pub fn run(options: &Options) -> Result<(), String> {
    let names = &options.surfaces;
    if let Some(unknown) = names.iter().find(|n| !SURFACES.contains(&&***n)) {
        return Err(format!(
            "no surface {unknown}; there are {}",
            SURFACES.join(", ")
        ));
    }
    let tools = setup::ensure()?;
    let dir = root().join("target/fuzz-inputs");
    let worker = match &options.worker {
        Some(worker) => worker.clone(),
        None => build(&tools)?,
    };
    let corpus = match &options.corpus {
        Some(corpus) => corpus.clone(),
        None => corpus::make(&tools, &dir)?,
    };
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory } else { &dir };
    let work = parent.join(format!("ompvm-fuzz-inputs-{}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    let fuzzer = Fuzzer {
        worker,
        corpus,
        dir,
        work: work.clone(),
        seed: options.seed,
    };
    let mut all = Counts::default();
    println!("surface      executions  accepted  contained  executions/s  findings");
    for surface in SURFACES {
        if !names.is_empty() && !names.iter().any(|n| n == surface) {
            continue;
        }
        let start = Instant::now();
        let counts = fuzzer.surface(surface, options)?;
        let rate = counts.done as f64 / start.elapsed().as_secs_f64();
        println!(
            "{surface:<10} {:>12} {:>9} {:>10} {rate:>13.0} {:>9}",
            counts.done, counts.accepted, counts.contained, counts.findings
        );
        println!(
            "  next: --surfaces {surface} --seed {} --first {}",
            options.seed, counts.next
        );
        all.done += counts.done;
        all.findings += counts.findings;
    }
    // If it stays, it takes a few kilobytes of memory.
    let _ = std::fs::remove_dir_all(&work);
    println!("{} executions, {} findings", all.done, all.findings);
    match all.findings {
        0 => Ok(()),
        n => Err(format!("{n} findings in {}", fuzzer.findings().display())),
    }
}

/// Builds ompvm, the C library and the worker, and returns the worker.
fn build(tools: &Tools) -> Result<PathBuf, String> {
    let cargo = |words: &[&str]| {
        let mut cargo = tools.cargo();
        cargo
            .current_dir(root())
            .args(["build", "--release"])
            .args(words);
        cargo
    };
    process::run(&mut cargo(&["-p", "ompvm", "-p", "ompvm-capi"]))?;
    let test = ["-p", "ompvm", "--test", "inputs", "--message-format=json"];
    let messages = process::capture_ok(&mut cargo(&test))?;
    let executable = |line: &str| -> Option<PathBuf> {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_it = message["target"]["name"] == "inputs";
        is_it.then(|| message["executable"].as_str().map(PathBuf::from))?
    };
    let found = messages.lines().find_map(executable);
    found.ok_or_else(|| "cargo names no worker".into())
}

impl Fuzzer {
    fn findings(&self) -> PathBuf {
        self.dir.join("findings")
    }

    /// Runs the workers of one surface.
    fn surface(&self, surface: &str, options: &Options) -> Result<Counts, String> {
        let jobs: Vec<Result<Counts, String>> = std::thread::scope(|scope| {
            let job = |job| scope.spawn(move || self.job(surface, job, options));
            let jobs: Vec<_> = (0..options.jobs.max(1)).map(job).collect();
            let failed = |_| Err("a job panicked".to_owned());
            jobs.into_iter()
                .map(|j| j.join().unwrap_or_else(failed))
                .collect()
        });
        let mut sum = Counts::default();
        for counts in jobs {
            let counts = counts?;
            sum.done += counts.done;
            sum.accepted += counts.accepted;
            sum.contained += counts.contained;
            sum.findings += counts.findings;
            sum.next = sum.next.max(counts.next % JOB);
        }
        Ok(sum)
    }

    /// Runs one worker after another until the time is over.
    fn job(&self, surface: &str, job: u64, options: &Options) -> Result<Counts, String> {
        let end = Instant::now() + Duration::from_secs_f64(options.seconds);
        let path = self.work.join(format!("progress-{surface}-{job}"));
        let mut counts = Counts {
            next: options.first + job * JOB,
            ..Counts::default()
        };
        while Instant::now() < end && counts.findings < MOST_FINDINGS {
            write(&path, [0; size_of::<WorkerCounts>()])?;
            let progress = Progress::map(&path)?;
            progress.at.store(counts.next, Ordering::Relaxed);
            let left = end.saturating_duration_since(Instant::now());
            let errors = self.work.join(format!("errors-{surface}-{job}"));
            let log = File::create(&errors).map_err(|e| format!("{}: {e}", errors.display()))?;
            let mut child = Command::new(&self.worker)
                .args([
                    "run",
                    surface,
                    &self.seed.to_string(),
                    &counts.next.to_string(),
                ])
                .arg(&self.corpus)
                .arg(&path)
                .arg(left.as_secs_f64().to_string())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log)
                .spawn()
                .map_err(|e| format!("{}: {e}", self.worker.display()))?;
            let failure = watch(&mut child, &progress)?;
            let at = progress.at.load(Ordering::Relaxed);
            counts.next = at + u64::from(failure.is_some());
            counts.done += progress.done.load(Ordering::Relaxed);
            counts.accepted += progress.accepted.load(Ordering::Relaxed);
            counts.contained += progress.contained.load(Ordering::Relaxed);
            if let Some(what) = failure {
                counts.findings += 1;
                self.report(surface, at, &what, &errors)?;
            }
        }
        Ok(counts)
    }

    /// Writes the input of a finding, and prints how to repeat it.
    fn report(&self, surface: &str, n: u64, what: &str, errors: &Path) -> Result<(), String> {
        let findings = self.findings();
        std::fs::create_dir_all(&findings).map_err(|e| format!("{}: {e}", findings.display()))?;
        let file = findings.join(format!("{surface}-{}-{n}", self.seed));
        let seed = self.seed.to_string();
        let mut show = Command::new(&self.worker);
        show.args(["show", surface, &seed, &n.to_string()])
            .arg(&self.corpus)
            .arg(&file);
        process::run(&mut show)?;
        let text = std::fs::read_to_string(errors).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        println!("{surface}: {what}: {}", file.display());
        println!("  --surfaces {surface} --seed {seed} --first {n}");
        for line in &lines[lines.len().saturating_sub(6)..] {
            println!("  {line}");
        }
        Ok(())
    }
}

/// Waits for a worker. Returns the reason if it failed.
fn watch(child: &mut Child, progress: &WorkerCounts) -> Result<Option<String>, String> {
    let (mut last, mut since, mut before) = (u64::MAX, Instant::now(), Duration::ZERO);
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(match (status.code(), status.signal()) {
                (Some(0), _) => None,
                (Some(code), _) => Some(format!("the worker exited with {code}")),
                (None, signal) => Some(format!("the worker died by signal {signal:?}")),
            });
        }
        let at = progress.at.load(Ordering::Relaxed);
        if at != last {
            (last, since, before) = (at, Instant::now(), processor_time(child.id()));
        }
        let resident = resident(child.id());
        let failure = match resident > MEMORY {
            true => Some(format!("the worker has {} MiB", resident >> 20)),
            false if since.elapsed() < HANG => None,
            false if since.elapsed() > STOP => Some("the worker waits for ever".into()),
            false if processor_time(child.id()) > before + HANG => Some("the worker hangs".into()),
            false => None,
        };
        if failure.is_some() {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(failure);
        }
        std::thread::sleep(TICK);
    }
}

/// Returns the processor time of a process (proc(5), `stat`, fields 14 and 15).
fn processor_time(process: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let (_, fields) = text.rsplit_once(')').unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|t| t.parse::<u64>().ok()).sum();
    // Linux shows ticks of 10 ms to all programs.
    Duration::from_millis(ticks * 10)
}
