//! `ompvm compare`: runs the same bitcode here and as a native executable, in pairs.
//!
//! It builds the native executable (or takes one), runs both sides alternately, checks that they
//! print the same and exit alike, and reports wall clock, processor time, peak memory and their
//! ratios. Runs alternate in pairs, so that other load on the machine affects both sides alike; the
//! spread of the pairs' ratios shows how far to trust the median. A guest never runs in this
//! process: our side is this executable, started afresh each time.

mod native;
mod outputs;
mod plot;
mod report;
mod timeline;

use super::FAILED;
use super::args::{FpContract, Tier};
use super::progress::Bar;
use clap::{Args, ValueEnum};
use native::Native;
use ompvm_measure::{End, Run};
use ompvm_support::settings::Settings;
use outputs::{Difference, Rules, Verdict};
use regex_lite::Regex;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const EXAMPLES: &str = "\
Examples:
  ompvm compare solver.bc input.dat
  ompvm compare --threads 1,2,4 --runs 11 --plot speedup.svg solver.bc
  ompvm compare --native ./solver --ignore '^build ' solver.bc

Both sides get the same environment; set OMP_PROC_BIND=close OMP_PLACES=cores for steady figures.
Exit status: 0 when outputs agree, 1 when they differ, 125 when nothing could be compared.";

/// Options of `compare`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompareOptions {
    /// Compare with this executable instead of building one
    #[arg(long, value_name = "EXE")]
    pub native: Option<PathBuf>,
    /// The compiler that builds it (default: clang-22 or clang in PATH)
    #[arg(long, value_name = "PATH", conflicts_with = "native")]
    pub clang: Option<PathBuf>,
    /// The level it builds at: 0 to 3
    #[arg(
        short = 'O',
        value_name = "LEVEL",
        default_value = "2",
        conflicts_with = "native"
    )]
    pub level: String,
    /// Tier that executes our side
    #[arg(long, value_enum, default_value_t = Tier::Auto)]
    pub tier: Tier,
    /// Counted pairs of runs
    #[arg(long, short = 'n', default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Pairs before them that are not counted
    #[arg(long, default_value_t = 1)]
    pub warmup: u32,
    /// Team sizes, one series each (default: as the environment says)
    #[arg(long, value_name = "N,N...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Vec<u32>,
    /// Let our side round `a * b + c` once where the source allows it, as for `run`
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub fp_contract: FpContract,
    /// The code cache of our side: filled by the warm-up or by `ompvm compile`, empty before every
    /// run, or none
    #[arg(long, value_enum, default_value_t = Cache::Warm)]
    pub cache: Cache,
    /// Leave lines of standard output that match this regular expression out of the comparison
    #[arg(long, value_name = "REGEX")]
    pub ignore: Vec<String>,
    /// Largest relative difference of numbers with a fraction
    #[arg(long, value_name = "R", default_value_t = 1e-9)]
    pub tolerance: f64,
    /// Compare standard output byte by byte: times and numbers that vary count, too
    #[arg(long)]
    pub exact: bool,
    /// Write every run as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write settings, every run and the summary as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw speed-up against threads and, from one more run of our side, what was compiled when
    /// and which tier the time went to; `.svg` or `.html`
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Link this file in, too: bitcode, textual IR, an archive, a native object or shared library
    #[arg(long = "with", value_name = "FILE")]
    pub with: Vec<PathBuf>,
    /// Link this native library on both sides
    #[arg(short = 'l', value_name = "NAME")]
    pub libraries: Vec<String>,
    /// Search this folder for libraries first
    #[arg(short = 'L', value_name = "DIR")]
    pub library_paths: Vec<PathBuf>,
    /// The bitcode or textual IR, and the program's arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = false,
        value_names = ["FILE", "ARGUMENTS"]
    )]
    pub program: Vec<OsString>,
}

/// Contents of our side's code cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Cache {
    /// The code of the runs before, in a cache of the comparison's own.
    Warm,
    /// The code of the whole program, compiled by `ompvm compile` before the runs.
    Compiled,
    /// No code: every run has a new cache.
    Empty,
    /// No cache.
    Off,
}

/// All runs with one team size.
#[derive(Debug)]
pub struct Series {
    /// Requested team size; `None` leaves it to the environment.
    pub threads: Option<u32>,
    /// Counted pairs, ours first.
    pub pairs: Vec<(Run, Run)>,
    /// Verdict on the outputs.
    pub verdict: Verdict,
}

/// Compares the two sides and prints a report.
pub fn run(options: &CompareOptions, settings: &Settings) -> ExitCode {
    match compare(options, settings) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            ompvm_support::message!(Input, "{message}");
            ExitCode::from(FAILED)
        }
    }
}

fn compare(options: &CompareOptions, settings: &Settings) -> Result<bool, String> {
    let mut program = options.program.clone();
    if program.get(1).is_some_and(|a| a == "--") {
        program.remove(1);
    }
    let file = PathBuf::from(program.remove(0));
    if file.as_os_str() == "-" {
        return Err("both sides read the program, so it must be a file, not `-`".into());
    }
    if !file.is_file() {
        return Err(format!("{}: there is no such file", file.display()));
    }
    if let Some(plot) = &options.plot {
        plot::check_name(plot)?;
    }
    let rules = Rules {
        ignore: options
            .ignore
            .iter()
            .map(|r| Regex::new(r).map_err(|e| format!("--ignore {r}: {e}")))
            .collect::<Result<_, _>>()?,
        exact: options.exact,
        tolerance: options.tolerance,
    };
    let dir = tempfile::Builder::new()
        .prefix("ompvm-compare-")
        .tempdir()
        .map_err(|e| format!("cannot create a temporary folder: {e}"))?;
    let native = native::prepare(options, &file, dir.path())?;
    let mut bench = Comparison {
        options,
        file: &file,
        arguments: &program,
        native: &native,
        rules: &rules,
        dir: dir.path(),
        bar: Bar::default(),
    };
    let sizes: Vec<Option<u32>> = match &options.threads[..] {
        [] => vec![None],
        sizes => sizes.iter().copied().map(Some).collect(),
    };
    println!("{}", report::heading(options, &file, &native));
    let pairs = sizes.len() * (options.warmup + options.runs) as usize;
    bench.bar = Bar::start(settings, "comparing".into(), "runs", 2 * pairs, None);
    let mut all = Vec::new();
    for threads in sizes {
        all.push(bench.series(threads)?);
        if matches!(
            all.last(),
            Some(Series {
                verdict: Verdict::Differ(_),
                ..
            })
        ) {
            break;
        }
    }
    bench.bar = Bar::default();
    print!("{}", report::table(&all));
    let mut agree = true;
    for series in &all {
        let (good, text) = report::verdict(series);
        agree &= good;
        if good {
            println!("{text}");
        } else {
            ompvm_support::message!(Note, "{text}");
        }
    }
    let write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| match path {
        Some(path) => std::fs::write(path, text()).map_err(|e| format!("{}: {e}", path.display())),
        None => Ok(()),
    };
    write(&options.csv, &|| report::csv(&all))?;
    write(&options.json, &|| {
        report::json(options, &file, &native, &all)
    })?;
    if let Some(path) = &options.plot {
        let title = file.file_name().unwrap_or_default().to_string_lossy();
        let mut picture = plot::speedup(&title, &native.described, &all);
        let threads = all.last().and_then(|s| s.threads);
        match bench.timeline(threads, &title)? {
            Some(timeline) => picture = plot::below(&picture, &timeline),
            None => ompvm_support::message!(
                Note,
                "the picture has no timeline, because our side wrote none (did a signal end \
                 it?)"
            ),
        }
        let picture = if path.extension().is_some_and(|x| x == "html") {
            plot::page(&title, &picture, &report::table(&all))
        } else {
            picture
        };
        std::fs::write(path, picture).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(agree)
}

/// Inputs that every run has in common.
struct Comparison<'a> {
    options: &'a CompareOptions,
    file: &'a Path,
    arguments: &'a [OsString],
    native: &'a Native,
    rules: &'a Rules,
    dir: &'a Path,
    bar: Bar,
}

impl Comparison<'_> {
    fn series(&self, threads: Option<u32>) -> Result<Series, String> {
        if self.options.cache == Cache::Compiled {
            self.fill()?;
        }
        let mut pairs = Vec::new();
        let mut outputs: [Vec<String>; 2] = Default::default();
        let (warmup, counted) = (self.options.warmup, self.options.runs);
        for round in 0..warmup + counted {
            // The first side alternates, so that neither always follows the other.
            let (ours, theirs) = if round % 2 == 0 {
                let ours = self.run_ours(threads)?;
                (ours, self.run_native(threads)?)
            } else {
                let theirs = self.run_native(threads)?;
                (self.run_ours(threads)?, theirs)
            };
            ends_agree(&ours, &theirs)?;
            outputs[0].push(ours.stdout.clone());
            outputs[1].push(theirs.stdout.clone());
            if round >= warmup {
                pairs.push((ours, theirs));
            }
            // A difference in words is rarely due to chance, so further runs would waste time.
            let verdict = self.judge(&outputs);
            if round >= 2 && matches!(&verdict, Verdict::Differ(Difference { number: false, .. })) {
                break;
            }
        }
        Ok(Series {
            threads,
            verdict: self.judge(&outputs),
            pairs,
        })
    }

    fn judge(&self, outputs: &[Vec<String>; 2]) -> Verdict {
        let [ours, theirs] = outputs
            .each_ref()
            .map(|side| side.iter().map(String::as_str).collect::<Vec<_>>());
        outputs::judge(&theirs, &ours, self.rules)
    }

    /// Runs our side once more with a timeline. Returns the picture of it.
    fn timeline(&self, threads: Option<u32>, title: &str) -> Result<Option<String>, String> {
        let told = self.dir.join("timeline");
        let mut command = self.our_command()?;
        command.arg(format!("--timeline={}", told.display()));
        let run = self.start(self.with_program(command), threads)?;
        // A process that a signal ends writes no timeline.
        let text = match run.end {
            End::Exit(_) => std::fs::read_to_string(&told).unwrap_or_default(),
            End::Signal(_) => String::new(),
        };
        let title = match threads {
            Some(n) => format!(
                "{title}, one run with {n} thread{}",
                if n == 1 { "" } else { "s" }
            ),
            None => format!("{title}, one run"),
        };
        Ok(timeline::Timeline::read(&text).draw(&title))
    }

    fn run_ours(&self, threads: Option<u32>) -> Result<Run, String> {
        self.bar.name(|| describe("ompvm", threads));
        let command = self.our_command()?;
        let run = self.start(self.with_program(command), threads);
        self.bar.advance();
        run
    }

    /// Compiles the program into the comparison's cache.
    fn fill(&self) -> Result<(), String> {
        let mut command = self.ompvm_command("compile")?;
        command.arg(self.file).args(&self.options.with);
        self.with_cache(&mut command)?;
        let run = ompvm_measure::run(&mut command)?;
        match run.success() {
            true => Ok(()),
            false => Err(format!(
                "`ompvm compile` failed:\n{}",
                native::tail(&run.stderr, 8)
            )),
        }
    }

    /// Returns a command of ours with the options that all commands which link the program have in
    /// common.
    fn ompvm_command(&self, name: &str) -> Result<Command, String> {
        let own = std::env::current_exe().map_err(|e| format!("cannot find ompvm itself: {e}"))?;
        let mut command = Command::new(own);
        command.arg(name);
        let contract = self.options.fp_contract.to_possible_value();
        let contract = contract.as_ref().map_or("off", |c| c.get_name());
        command.arg(format!("--fp-contract={contract}"));
        for dir in &self.options.library_paths {
            command.arg("-L").arg(dir);
        }
        for name in &self.options.libraries {
            command.arg("-l").arg(name);
        }
        Ok(command)
    }

    /// Sets the cache folder of our side. The variable affects only ompvm; the program finds its
    /// own caches in their usual places.
    fn with_cache(&self, command: &mut Command) -> Result<(), String> {
        let cache = self.dir.join("cache");
        if !matches!(self.options.cache, Cache::Warm | Cache::Compiled) {
            let _ = std::fs::remove_dir_all(&cache);
        }
        std::fs::create_dir_all(&cache).map_err(|e| format!("{}: {e}", cache.display()))?;
        command.env("OMPVM_CACHE_DIR", &cache);
        Ok(())
    }

    /// Returns our side's command up to its program.
    fn our_command(&self) -> Result<Command, String> {
        let mut command = self.ompvm_command("run")?;
        let tier = self.options.tier.to_possible_value();
        let tier = tier.as_ref().map_or("auto", |t| t.get_name());
        command.arg(format!("--tier={tier}"));
        if self.options.cache == Cache::Off {
            command.arg("--no-cache");
        }
        for file in &self.options.with {
            command.arg("--with").arg(file);
        }
        Ok(command)
    }

    fn with_program(&self, mut command: Command) -> Command {
        command.arg(self.file).arg("--").args(self.arguments);
        command
    }

    fn run_native(&self, threads: Option<u32>) -> Result<Run, String> {
        self.bar.name(|| describe("native", threads));
        let mut command = Command::new(&self.native.executable);
        command.args(self.arguments);
        let run = self.start(command, threads);
        self.bar.advance();
        run
    }

    fn start(&self, mut command: Command, threads: Option<u32>) -> Result<Run, String> {
        self.with_cache(&mut command)?;
        if let Some(threads) = threads {
            command.env("OMP_NUM_THREADS", threads.to_string());
        }
        // A child of `vfork` would start with our own peak memory (LLVM is linked in). The standard
        // library uses `fork` if a closure runs before `exec`. The closure makes the kernel end the
        // measured program when the comparison is stopped.
        let end_with_us = || {
            // SAFETY: `prctl` is async-signal-safe and only sets a flag of the child.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            Ok(())
        };
        // SAFETY: the closure neither allocates nor locks, so it may run between fork and exec.
        unsafe { command.pre_exec(end_with_us) };
        ompvm_measure::run(&mut command)
    }
}

/// Describes a run for the bar.
fn describe(side: &str, threads: Option<u32>) -> String {
    match threads {
        Some(1) => format!("running {side}, 1 thread"),
        Some(n) => format!("running {side}, {n} threads"),
        None => format!("running {side}"),
    }
}

/// Fails if the two sides end differently, because such runs cannot be compared.
fn ends_agree(ours: &Run, theirs: &Run) -> Result<(), String> {
    if ours.end == theirs.end {
        return Ok(());
    }
    let told = |name: &str, run: &Run| {
        let mut text = format!("{name} ended with {}", run.end);
        let errors = native::tail(&run.stderr, 8);
        if !errors.is_empty() {
            text.push_str(&format!(", after writing:\n{errors}"));
        }
        text
    };
    let blame = if ours.end == End::Exit(i32::from(FAILED)) {
        "ompvm could not run the program"
    } else if matches!(theirs.end, End::Signal(_)) {
        "the native program failed"
    } else {
        "the two runs end differently"
    };
    Err(format!(
        "{blame}, so there is nothing to compare\n{}\n{}",
        told("ompvm", ours),
        told("native", theirs)
    ))
}
