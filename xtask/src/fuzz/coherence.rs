//! Differential fuzzing of memory coherence: random programs must print the same on emulated
//! devices, alone, in groups and of another rank of MPI, and on GPUs if there are any, as a native
//! build whose directives are ignored.
//!
//! A source is generated from its seed (`tests/coherence/generate.rs`). One process runs many
//! sequences of steps, each from a seed of its own and each with a checksum. A difference is
//! reduced to the fewest steps and kept in `target/fuzz/findings` with the command that reproduces
//! it. A run can be stopped at any time and resumes where it was. `--pack` builds the sources for
//! machines without compilers, and `--replay` tests them there.
//!
//! The reference is sequential: the programs have no races and their results are exact, so every
//! correct implementation agrees with it.

mod sources;

use super::Progress;
#[path = "../../../tests/coherence/generate.rs"]
mod generate;

use crate::dist;
use crate::process::root;
use crate::setup;
use crate::timed::{TimedRun, run, write};
use clap::Args;
use sources::{FLAGS, LEVELS, bitcode};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Options of `cargo xtask fuzz-coherence`.
#[derive(Args)]
pub struct Options {
    /// Number of programs; one is a source with the seed of one sequence
    #[arg(long, default_value_t = 2000)]
    count: u64,
    /// Sequences per source
    #[arg(long, default_value_t = 50)]
    sequences: u64,
    /// Seed of the run, which determines all sources
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first source, for runs that share the sources of a seed
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Number of sources tested in parallel
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Test only the source of this seed
    #[arg(long)]
    only: Option<u64>,
    /// Use only these ways to run, separated by commas (default: all)
    #[arg(long, value_delimiter = ',')]
    ways: Vec<String>,
    /// Ways per source, which take turns; a way is counted once for each level (default: all)
    #[arg(long)]
    turns: Option<usize>,
    /// Features to leave out, separated by commas, such as `fork,nowait`; a wrong name lists all
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// Minutes after which no source is begun
    #[arg(long)]
    minutes: Option<f64>,
    /// Number of differences to reduce in each way
    #[arg(long, default_value_t = 5)]
    reduce: u64,
    /// The ompvm to test (default: built from this tree)
    #[arg(long)]
    ompvm: Option<PathBuf>,
    /// Build all sources into a pack for a machine without compilers instead
    #[arg(long, value_name = "DIR")]
    pack: Option<PathBuf>,
    /// Test the sources of a pack instead, which needs no compiler
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,
}

impl Options {
    /// Returns the number of sources.
    fn sources(&self) -> u64 {
        self.count.div_ceil(self.sequences.max(1))
    }

    /// Returns the seed of source `n` of this run.
    fn source_seed(&self, n: u64) -> u64 {
        self.seed * 1_000_000 + self.first + n
    }
}

/// A way to run a program.
struct Way {
    name: &'static str,
    options: &'static [&'static str],
    /// True if all `target` regions must run on the device.
    mandatory: bool,
}

const WAYS: [Way; 23] = [
    way("one", &["--device=emulated"], true),
    way("two", &["--device=emulated:2", "--devices=all"], true),
    way("three", &["--device=emulated:3", "--devices=all"], true),
    way("four", &["--device=emulated:4", "--devices=all"], true),
    way("plain", &["--device=emulated", "--offload=force"], false),
    way(
        "plain-two",
        &["--device=emulated:2", "--devices=all", "--offload=force"],
        false,
    ),
    way(
        "plain-three",
        &["--device=emulated:3", "--devices=all", "--offload=force"],
        false,
    ),
    way("host", &["--device=host"], false),
    way("apart", &["--device=emulated:2", "--devices=all"], true),
    way(
        "apart-three",
        &["--device=emulated:3", "--devices=all"],
        true,
    ),
    way(
        "plain-apart",
        &["--device=emulated:3", "--devices=all", "--offload=force"],
        false,
    ),
    way(RANK, &["--device=emulated", "--devices=each"], true),
    way(RANKS, &["--device=emulated", "--devices=all"], true),
    way("processors", &["--device=cpu"], true),
    way("helped", &["--device=emulated", "--devices=all,cpu"], true),
    way(
        "helped-two",
        &["--device=emulated:2", "--devices=all,cpu"],
        true,
    ),
    way(
        "plain-helped",
        &["--device=emulated", "--devices=all,cpu", "--offload=force"],
        false,
    ),
    way(
        "plain-processors",
        &["--device=cpu", "--offload=force"],
        false,
    ),
    way(
        PROCESSORS_OF_RANKS,
        &["--device=cpu", "--devices=all"],
        true,
    ),
    way("gpu", &[], true),
    way("gpu-plain", &["--offload=force"], false),
    way("gpu-all", &["--devices=all"], true),
    way("gpu-helped", &["--devices=all,cpu"], true),
];

/// The way in which regions run on the device of another rank.
const RANK: &str = "rank";
/// The way in which devices of two ranks run regions together.
const RANKS: &str = "ranks";
/// The same with the ranks' processors as devices.
const PROCESSORS_OF_RANKS: &str = "processors-of-ranks";

impl Way {
    /// Returns true if the way needs a launcher of MPI.
    fn has_ranks(&self) -> bool {
        [RANK, RANKS, PROCESSORS_OF_RANKS].contains(&self.name)
    }

    /// Returns true if the way needs a GPU.
    fn has_gpu(&self) -> bool {
        self.name.starts_with("gpu")
    }

    /// Returns the variables of the environment that the way sets.
    fn variables(&self) -> Vec<(&'static str, &'static str)> {
        let mut list = Vec::new();
        if self.name.contains("apart") {
            list.push(("OMPVM_EMULATED_LINKS", "off"));
        }
        if self.name == RANK {
            list.push(("OMP_DEFAULT_DEVICE", "1"));
        }
        if self.mandatory {
            list.push(("OMP_TARGET_OFFLOAD", "mandatory"));
        }
        list
    }
}

const fn way(name: &'static str, options: &'static [&'static str], mandatory: bool) -> Way {
    Way {
        name,
        options,
        mandatory,
    }
}

/// Time limit of a run, beside one second for each sequence.
const LIMIT: u64 = 60;
/// Number of differences after which a run is not continued behind the failed sequence.
const MOST: u64 = 3;

/// Runs the fuzzer.
pub fn start(options: &Options) -> Result<(), String> {
    let known = generate::features();
    if let Some(wrong) = options
        .without
        .iter()
        .find(|w| !known.contains(&w.as_str()))
    {
        return Err(format!(
            "no feature `{wrong}`; there are {}",
            known.join(", ")
        ));
    }
    let replay = options.replay.as_deref();
    let launcher = launcher(replay);
    let needs = |w: &Way| w.has_ranks() && options.ways.iter().any(|o| o == w.name);
    if let Some(way) = WAYS.iter().find(|w| needs(w) && !launcher.exists()) {
        return Err(format!(
            "the way `{}` needs a launcher of MPI: `cargo xtask setup`",
            way.name
        ));
    }
    let tools = match replay {
        Some(_) => None,
        None => Some(setup::ensure()?),
    };
    let ompvm = match (&options.ompvm, replay, &tools) {
        (Some(path), ..) => path.clone(),
        (None, Some(pack), _) => pack.join("ompvm"),
        (None, None, Some(tools)) => dist::release(tools)?,
        (None, None, None) => unreachable!("only packs go without tools"),
    };
    if let (Some(pack), Some(tools)) = (&options.pack, &tools) {
        return sources::write_pack(pack, tools, &ompvm, options);
    }
    // A copy keeps a long run independent of later builds.
    let base = replay.map_or_else(|| root().join("target/fuzz"), Path::to_owned);
    let text = |e: std::io::Error| format!("{}: {e}", base.display());
    std::fs::create_dir_all(base.join("findings")).map_err(text)?;
    let base = std::fs::canonicalize(&base).map_err(text)?;
    let copy = base.join(format!("ompvm-{}", std::process::id()));
    std::fs::copy(&ompvm, &copy).map_err(|e| format!("{}: {e}", ompvm.display()))?;
    let part = match options.first {
        0 => String::new(),
        n => format!("-from-{n}"),
    };
    let state = base.join(format!("coherence-{}{part}.tsv", options.seed));
    let fuzz = Fuzz {
        tools,
        ompvm: &copy,
        launcher,
        base: &base,
        options,
        progress: Progress::load(&state),
        state,
        started: Instant::now(),
    };
    let done = match options.only {
        Some(seed) => fuzz.work_dir(0).and_then(|dir| fuzz.source(seed, &dir)),
        None => fuzz.all(),
    };
    fuzz.print();
    let _ = std::fs::remove_file(&copy);
    done?;
    match fuzz.progress.get("differences") {
        0 => Ok(()),
        n => Err(format!("{n} differences, in {}/findings", base.display())),
    }
}

struct Fuzz<'a> {
    /// Compilers; none if a pack is tested.
    tools: Option<setup::Tools>,
    ompvm: &'a Path,
    /// Launcher of MPI, which may be missing.
    launcher: PathBuf,
    base: &'a Path,
    options: &'a Options,
    progress: Progress,
    state: PathBuf,
    started: Instant,
}

/// A source and what it must print.
struct Case<'a> {
    seed: u64,
    /// Folder of the source and of what was built from it.
    files: &'a Path,
    /// Folder for output and the cache.
    dir: &'a Path,
}

/// A difference: the sequences that were run, and the first one that differs.
struct Difference {
    first: u64,
    sequence: u64,
    mask: u64,
}

impl Fuzz<'_> {
    fn work_dir(&self, job: usize) -> Result<PathBuf, String> {
        let dir = self
            .base
            .join(format!("coherence-{}-{job}", std::process::id()));
        std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        Ok(dir)
    }

    fn over(&self) -> bool {
        let late = |m: f64| self.started.elapsed().as_secs_f64() > m * 60.0;
        self.options.minutes.is_some_and(late)
    }

    fn all(&self) -> Result<(), String> {
        let failed = Mutex::new(None);
        let stop = AtomicBool::new(false);
        let sources = self.options.sources();
        std::thread::scope(|scope| {
            for job in 0..self.options.jobs.max(1) {
                let (failed, stop) = (&failed, &stop);
                scope.spawn(move || {
                    let result = self.work_dir(job).and_then(|dir| {
                        while !stop.load(Ordering::Relaxed) && !self.over() {
                            let n = self.progress.next.fetch_add(1, Ordering::Relaxed);
                            if n >= sources {
                                break;
                            }
                            self.source(self.options.source_seed(n), &dir)?;
                            self.progress.save(&self.state)?;
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
        match failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
            Some(e) => Err(e),
            None => Ok(()),
        }
    }

    fn print(&self) {
        let line = self.progress.line();
        println!("[{:.0} s] {line}", self.started.elapsed().as_secs_f64());
    }

    /// Returns the ways and levels of a source.
    fn plan(&self, seed: u64) -> Vec<(&'static Way, &'static str)> {
        let wanted = |w: &&Way| {
            let ways = &self.options.ways;
            let chosen = ways.is_empty() || ways.iter().any(|o| o == w.name);
            let gpu = Path::new("/dev/nvidia0");
            chosen && (!w.has_ranks() || self.launcher.exists()) && (!w.has_gpu() || gpu.exists())
        };
        let mut all = Vec::new();
        for way in WAYS.iter().filter(wanted) {
            all.extend(LEVELS.map(|level| (way, level)));
        }
        let turns = self.options.turns.unwrap_or(all.len()).min(all.len());
        let first = match all.len() {
            0 => 0,
            n => seed as usize * turns % n,
        };
        all.rotate_left(first);
        all.truncate(turns);
        all
    }

    /// Tests one source.
    fn source(&self, seed: u64, dir: &Path) -> Result<(), String> {
        let packed = self.tools.is_none();
        let packed = packed.then(|| sources::packed(self.base, seed));
        if let Some(tools) = &self.tools {
            sources::build_reference(tools, seed, &self.options.without, dir)?;
        }
        let files = packed.as_deref().unwrap_or(dir);
        let case = Case { seed, files, dir };
        let count = self.options.sequences;
        let expected = self.reference(&case, 1, count, u64::MAX)?;
        if expected.status != 0 {
            println!("{seed}: natively it {}", expected.end());
            self.progress.add("useless", 1);
            return Ok(());
        }
        let mut built = Vec::new();
        for (way, level) in self.plan(seed) {
            if let Some(tools) = &self.tools
                && !built.contains(&level)
            {
                sources::build_level(tools, level, dir)?;
                built.push(level);
            }
            self.sequences(&case, way, level, &expected)?;
            self.progress.add(&format!("sequences {}", way.name), count);
        }
        let _ = std::fs::remove_dir_all(dir.join("cache"));
        self.progress.add("programs", count);
        if self.progress.get("programs").is_multiple_of(10 * count) {
            self.print();
        }
        Ok(())
    }

    /// Runs all sequences of a source in one way. After a difference it goes on behind it.
    fn sequences(&self, case: &Case, way: &Way, level: &str, all: &TimedRun) -> Result<(), String> {
        let (mut first, end) = (1, self.options.sequences + 1);
        for _ in 0..MOST {
            let got = self.ompvm(case, way, level, (first, end - first), u64::MAX)?;
            let lines: Vec<&[u8]> = all.stdout.split(|&b| b == b'\n').collect();
            let expected = &lines[(first - 1) as usize..];
            let mut given = got.stdout.split(|&b| b == b'\n');
            let same = expected.iter().take_while(|e| given.next() == Some(**e));
            let same = same.count().min((end - first) as usize) as u64;
            if first + same == end && got.status == 0 {
                return Ok(());
            }
            let sequence = (first + same).min(end - 1);
            let difference = Difference {
                first,
                sequence,
                mask: u64::MAX,
            };
            self.finding(case, way, level, difference, &got)?;
            first = sequence + 1;
            if first >= end {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reduces a difference to the fewest steps, and saves it with the run `seen` that showed it
    /// first: a rare one may not appear again.
    fn finding(
        &self,
        case: &Case,
        way: &Way,
        level: &str,
        at: Difference,
        seen: &TimedRun,
    ) -> Result<(), String> {
        let folder = format!(
            "coherence-{}-{}{level}-{}",
            case.seed, at.sequence, way.name
        );
        self.progress.add("differences", 1);
        self.progress.add(&format!("differences {}", way.name), 1);
        let alone = Difference {
            first: at.sequence,
            ..at
        };
        // A rare one gets more attempts, and is not reduced.
        let again = (0..4).map(|_| self.differs(case, way, level, &alone));
        let again = again.collect::<Result<Vec<_>, _>>()?;
        let again = again.into_iter().filter(|d| *d).count();
        let reduced = format!("reduced {}", way.name);
        let mut kept = if again > 0 { alone } else { at };
        if again == 4 && self.progress.get(&reduced) < self.options.reduce {
            self.progress.add(&reduced, 1);
            kept.mask = self.fewest_steps(case, way, level, &kept)?;
        }
        let range = (kept.first, kept.sequence - kept.first + 1);
        let expected = self.reference(case, range.0, range.1, kept.mask)?;
        let got = self.ompvm(case, way, level, range, kept.mask)?;
        let said = String::from_utf8_lossy(&got.stderr);
        println!(
            "{folder}: {} at first; alone {again} of 4; mask {:x}; {}: {}",
            seen.end(),
            kept.mask,
            got.end(),
            said.lines().next().unwrap_or_default()
        );
        let out = self.base.join("findings").join(folder);
        std::fs::create_dir_all(&out).map_err(|e| e.to_string())?;
        std::fs::copy(case.files.join("program.c"), out.join("program.c"))
            .map_err(|e| e.to_string())?;
        write(&out.join("expected"), &expected.stdout)?;
        write(&out.join("steps"), &expected.stderr)?;
        write(&out.join("got"), &got.stdout)?;
        write(&out.join("stderr"), &got.stderr)?;
        write(&out.join("first-got"), &seen.stdout)?;
        write(&out.join("first-stderr"), &seen.stderr)?;
        let without = match self.options.without.as_slice() {
            [] => String::new(),
            list => format!(" --without {}", list.join(",")),
        };
        let variables = way.variables();
        let variables: String = variables.iter().map(|(k, v)| format!("{k}={v} ")).collect();
        let launcher = if way.has_ranks() { "mpiexec -n 2 " } else { "" };
        let command = format!(
            "cargo xtask fuzz-coherence --only {} --ways {}{without}\n\
             clang-22 {level} {} -c -emit-llvm program.c\n\
             {variables}OMP_NUM_THREADS={} {launcher}ompvm run {} program.bc {} {} {:x}\n",
            case.seed,
            way.name,
            FLAGS.join(" "),
            threads(case.seed),
            way.options.join(" "),
            range.0,
            range.1,
            kept.mask
        );
        write(&out.join("command"), command)
    }

    /// Returns the smallest mask of steps found that still differs.
    fn fewest_steps(
        &self,
        case: &Case,
        way: &Way,
        level: &str,
        at: &Difference,
    ) -> Result<u64, String> {
        let mut mask = (1u64 << generate::LENGTH) - 1;
        // Halves, quarters and so on down to single steps; the last ones first.
        let mut width = generate::LENGTH / 2;
        while width > 0 {
            for from in (0..generate::LENGTH).step_by(width as usize).rev() {
                let less = mask & !(((1u64 << width) - 1) << from);
                let candidate = Difference { mask: less, ..*at };
                if less != mask && self.differs(case, way, level, &candidate)? {
                    mask = less;
                }
            }
            width /= 2;
        }
        Ok(mask)
    }

    /// Returns true if a run differs from the reference.
    fn differs(
        &self,
        case: &Case,
        way: &Way,
        level: &str,
        at: &Difference,
    ) -> Result<bool, String> {
        let range = (at.first, at.sequence - at.first + 1);
        let expected = self.reference(case, range.0, range.1, at.mask)?;
        let got = self.ompvm(case, way, level, range, at.mask)?;
        Ok(!got.agrees(&expected))
    }

    /// Runs the native program, which prints its steps if it runs one sequence.
    fn reference(
        &self,
        case: &Case,
        first: u64,
        count: u64,
        mask: u64,
    ) -> Result<TimedRun, String> {
        let mut command = Command::new(case.files.join("reference"));
        command.args([first.to_string(), count.to_string(), format!("{mask:x}")]);
        if count == 1 {
            command.env("TRACE", "1");
        }
        run(&mut command, case.dir, Duration::from_secs(LIMIT))
    }

    fn ompvm(
        &self,
        case: &Case,
        way: &Way,
        level: &str,
        (first, count): (u64, u64),
        mask: u64,
    ) -> Result<TimedRun, String> {
        let mut command = match way.has_ranks() {
            true => {
                let mut command = Command::new(&self.launcher);
                command.args(["-n", "2"]).arg(self.ompvm);
                command
            }
            false => Command::new(self.ompvm),
        };
        command.arg("run").args(way.options);
        command.arg(case.files.join(bitcode(level)));
        command.args([first.to_string(), count.to_string(), format!("{mask:x}")]);
        command.env("OMPVM_CACHE_DIR", case.dir.join("cache"));
        command.env("OMP_NUM_THREADS", threads(case.seed).to_string());
        command.envs(way.variables());
        run(&mut command, case.dir, Duration::from_secs(LIMIT + count))
    }
}

/// Returns the launcher of MPI: the pack's, or the one that `cargo xtask setup` fetches.
fn launcher(pack: Option<&Path>) -> PathBuf {
    let base = pack.map_or_else(|| root().join("target"), Path::to_owned);
    base.join("mpich/bin/mpiexec")
}

/// Returns the number of threads of a source.
fn threads(seed: u64) -> u64 {
    1 + seed % 4
}
