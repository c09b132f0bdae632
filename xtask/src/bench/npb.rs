//! The NAS benchmarks as whole processes: ompvm against clang -O2 with libomp on the same sources,
//! and against -O3 -march=native as a control; all sides alternate.
//!
//! `--sequential` compares a team of one with the program built without OpenMP. The benchmarks' own
//! timers exclude set-up, so tables show them beside the whole process. `--pack DIR` packs the
//! benchmark for a machine without compilers, and `--from DIR` runs a pack.

use super::bench_root::{self, BINDING, BenchRoot};
use super::cache::{Cache, CacheFolder};
use super::pack;
use super::table::{Table, write_json};
use crate::npb::{Class, Form, Name};
use crate::process::{geomean, measure_ok, median};
use clap::Args;
use ompvm_measure::Run;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Options of this benchmark.
#[derive(Args, Clone)]
pub struct NpbOptions {
    /// Number of counted runs of each side
    #[arg(long, short = 'n', default_value_t = 7)]
    runs: usize,
    /// Number of warm-up runs, which are not counted
    #[arg(long, default_value_t = 1)]
    warmup: usize,
    /// Stop repeating a row after this time; every side runs at least once
    #[arg(long, value_name = "SECONDS")]
    row_limit: Option<f64>,
    /// Team sizes, one table each
    #[arg(long, default_value = "2", value_delimiter = ',')]
    threads: Vec<usize>,
    /// Problem classes, one table each
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        default_value = "W",
        value_delimiter = ','
    )]
    pub class: Vec<Class>,
    /// Tier of ompvm (`--tier`)
    #[arg(long, default_value = "auto")]
    tier: String,
    /// State of ompvm's code cache when a run starts
    #[arg(long, value_enum, default_value_t = Cache::Empty)]
    cache: Cache,
    /// Compare one thread with the program built without OpenMP
    #[arg(long)]
    sequential: bool,
    /// Let ompvm contract floating-point operations, as the control does (--fp-contract=on)
    #[arg(long)]
    contract: bool,
    /// Omit the control (-O3 -march=native)
    #[arg(long)]
    no_control: bool,
    /// Run only these benchmarks
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Name>,
    /// Write the tables and every run as JSON, row by row
    #[arg(long)]
    json: Option<PathBuf>,
    /// Measure nothing; write a pack with programs and libraries to this folder, and as .tar.gz
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    pack: Option<PathBuf>,
    /// Measure the pack in this folder
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

impl NpbOptions {
    /// Returns the selected benchmarks.
    pub fn names(&self) -> Vec<Name> {
        if self.only.is_empty() {
            Name::ALL.to_vec()
        } else {
            self.only.clone()
        }
    }
}

/// Prints a table for each class and team size; the last line is the geometric mean of all their
/// ratios.
pub fn run(options: &NpbOptions) -> Result<(), String> {
    let bench_root = BenchRoot::find(options.from.as_deref())?;
    if let Some(dir) = &options.pack {
        return pack::gather(&bench_root, options, dir);
    }
    println!("{}", bench_root::machine());
    let mut tables = Vec::new();
    let mut summary = Vec::new();
    let threads = if options.sequential {
        &[1][..]
    } else {
        &options.threads
    };
    for &class in &options.class {
        for &threads in threads {
            let mut bench = Bench {
                bench_root: &bench_root,
                options,
                class,
                threads,
                table: new_table(options, class, threads),
                control: Vec::new(),
                runs: Vec::new(),
            };
            tables.push(Value::Null);
            for name in options.names() {
                bench.row(name)?;
                let last = tables.len() - 1;
                tables[last] = bench.json();
                if let Some(file) = &options.json {
                    let all = json!({"machine": bench_root::machine(), "tables": &tables});
                    write_json(file, &all)?;
                }
            }
            bench.table.print();
            let line = bench.closing();
            println!("\n{line}");
            summary.push((line, bench.table.geomean()));
        }
    }
    if summary.len() > 1 {
        println!();
        for (line, _) in &summary {
            println!("{line}");
        }
    }
    println!("geomean {:.3}", geomean(summary.iter().map(|s| s.1)));
    Ok(())
}

fn new_table(options: &NpbOptions, class: Class, threads: usize) -> Table {
    let peer = peer(options);
    let binding: Vec<String> = BINDING.map(|(n, v)| format!("{n}={v}")).to_vec();
    let title = format!(
        "NPB class {}, {threads} thread{}, whole process against {peer}, --tier={}{}, {} cache, \
         median of {}, {} for both sides",
        class.letter(),
        if threads == 1 { "" } else { "s" },
        options.tier,
        match options.contract {
            true => " --fp-contract=on",
            false => "",
        },
        options.cache.name(),
        options.runs,
        binding.join(" ")
    );
    Table::new(
        &title,
        &[
            "ompvm, s",
            &format!("{peer}, s"),
            "lowest of pairs",
            "highest of pairs",
            "-O3 -march=native, s",
            "against -O3",
            "ompvm timed, s",
            "native timed, s",
            "timed ratio",
            "cpu ratio",
            "ompvm peak, MB",
            "native peak, MB",
            "plain runs before",
        ],
    )
}

fn peer(options: &NpbOptions) -> &'static str {
    if options.sequential {
        "-O2 sequential"
    } else {
        "-O2"
    }
}

/// A table in progress.
struct Bench<'a> {
    bench_root: &'a BenchRoot,
    options: &'a NpbOptions,
    class: Class,
    threads: usize,
    table: Table,
    control: Vec<f64>,
    runs: Vec<Value>,
}

impl Bench<'_> {
    fn row(&mut self, name: Name) -> Result<(), String> {
        let (class, threads) = (self.class, self.threads);
        let form = |form: Form| self.bench_root.form(name, class, form);
        let bitcode = form(Form::Bitcode)?;
        let more: &[&str] = match self.options.contract {
            true => &["--fp-contract=on"],
            false => &[],
        };
        let native = form(if self.options.sequential {
            Form::Sequential
        } else {
            Form::Native
        })?;
        let tuned = if self.options.no_control {
            None
        } else {
            Some(form(Form::Tuned)?)
        };
        let cache = CacheFolder::new(self.options.cache, self.bench_root.ompvm_path());
        cache.fill(self.bench_root.ompvm_path(), more, &bitcode)?;
        let run_side = |side: usize| -> Result<Option<Run>, String> {
            match side {
                0 => {
                    let tier = &self.options.tier;
                    let mut command = self
                        .bench_root
                        .ompvm(tier, more, &bitcode, threads, &cache)?;
                    measure_ok(&mut command).map(Some)
                }
                1 => measure_ok(&mut self.bench_root.command(&native, threads)).map(Some),
                _ => match &tuned {
                    // On another processor the control may die of an illegal instruction.
                    Some(tuned) => ompvm_measure::run(&mut self.bench_root.command(tuned, threads))
                        .map(|m| m.success().then_some(m)),
                    None => Ok(None),
                },
            }
        };
        let filled = cache.warm(|| run_side(0).map(drop))?;
        let mut sides: [Vec<Run>; 3] = Default::default();
        let limit = self.options.row_limit.map(Duration::from_secs_f64);
        let start = Instant::now();
        for run in 0..self.options.warmup + self.options.runs {
            for turn in 0..3 {
                // The order rotates, so that no side always follows the same peer.
                let side = (turn + run) % 3;
                let measured = run_side(side)?;
                if run >= self.options.warmup {
                    sides[side].extend(measured);
                }
            }
            if run >= self.options.warmup && limit.is_some_and(|l| start.elapsed() > l) {
                break;
            }
        }
        self.add(name, filled, &sides);
        Ok(())
    }

    fn add(&mut self, name: Name, filled: usize, sides: &[Vec<Run>; 3]) {
        let [ours, native, tuned] = sides;
        let of = |side: &[Run], figure: fn(&Run) -> f64| median(side.iter().map(figure));
        let wall: fn(&Run) -> f64 = |m| m.wall;
        let pairs: Vec<f64> = ours
            .iter()
            .zip(native)
            .map(|(a, b)| a.wall / b.wall)
            .collect();
        let ratio = of(ours, wall) / of(native, wall);
        let control = of(ours, wall) / of(tuned, wall);
        if !control.is_nan() {
            self.control.push(control);
        }
        self.table.row(
            name.lower(),
            &[
                of(ours, wall),
                of(native, wall),
                pairs.iter().copied().fold(f64::INFINITY, f64::min),
                pairs.iter().copied().fold(0.0, f64::max),
                of(tuned, wall),
                control,
                of(ours, timed),
                of(native, timed),
                of(ours, timed) / of(native, timed),
                of(ours, |m| m.cpu) / of(native, |m| m.cpu),
                of(ours, |m| m.megabytes()),
                of(native, |m| m.megabytes()),
                filled as f64,
            ],
            ratio,
        );
        let run = |m: &Run| json!({"wall_s": m.wall, "cpu_s": m.cpu, "peak_mb": m.megabytes(), "timed_s": timed(m)});
        let side = |side: &[Run]| side.iter().map(run).collect::<Vec<_>>();
        self.runs.push(json!({
            "name": name.lower(), "plain_runs_before": filled,
            "ompvm": side(ours), "native": side(native), "tuned": side(tuned),
        }));
    }

    fn closing(&self) -> String {
        let mut line = format!(
            "class {}, {} thread{}: {:.3} against {}",
            self.class.letter(),
            self.threads,
            if self.threads == 1 { "" } else { "s" },
            self.table.geomean(),
            peer(self.options)
        );
        if !self.control.is_empty() {
            line.push_str(&format!(
                ", {:.3} against -O3 -march=native (geomeans)",
                geomean(self.control.iter().copied())
            ));
        }
        line
    }

    fn json(&self) -> Value {
        let mut value = self.table.json();
        value["class"] = json!(self.class.letter().to_string());
        value["threads"] = json!(self.threads);
        value["against_o3_geomean"] = json!(geomean(self.control.iter().copied()));
        value["runs"] = json!(self.runs);
        value
    }
}

/// Returns the time that the benchmark itself reports, in seconds.
fn timed(measured: &Run) -> f64 {
    measured
        .stdout
        .lines()
        .find_map(|l| {
            l.trim_start()
                .strip_prefix("Time in seconds")?
                .split('=')
                .nth(1)
        })
        .and_then(|v| v.trim().parse().ok())
        .unwrap_or(f64::NAN)
}
