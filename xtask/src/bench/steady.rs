//! Steady state: each NAS benchmark is called several times in one process (`bench/npb/steady.c`),
//! and the second and later calls are compared with those of the native program.

use super::bench_root::{self, BenchRoot};
use super::cache::{Cache, CacheFolder};
use super::table::{Table, write_json};
use crate::npb::{Class, Form, Name};
use crate::process::{measure_ok, median};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Options of this benchmark.
#[derive(Args, Clone)]
pub struct SteadyOptions {
    /// Number of processes of each side
    #[arg(long, short = 'n', default_value_t = 3)]
    runs: usize,
    /// Number of calls in each process; the first is not counted
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(2..))]
    calls: u32,
    /// Team size
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Problem class
    #[arg(long, value_enum, ignore_case = true, default_value = "W")]
    class: Class,
    /// Tier of ompvm (`--tier`)
    #[arg(long, default_value = "auto")]
    tier: String,
    /// Run only these benchmarks
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Name>,
    /// Write the table as JSON too
    #[arg(long)]
    json: Option<PathBuf>,
    /// Measure the pack of `bench npb --pack` in this folder
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

/// Runs both sides alternately; the last line is the geometric mean.
pub fn run(options: &SteadyOptions) -> Result<(), String> {
    let bench_root = BenchRoot::find(options.from.as_deref())?;
    println!("{}", bench_root::machine());
    let title = format!(
        "NPB class {}, {} threads, {} calls in one process, --tier={}, empty cache: median of the \
         second and later calls, {} processes of each side in turn",
        options.class.letter(),
        options.threads,
        options.calls,
        options.tier,
        options.runs
    );
    let mut table = Table::new(
        &title,
        &[
            "ompvm, s",
            "-O2, s",
            "second call, ompvm, s",
            "first call, ompvm, s",
            "first call, -O2, s",
        ],
    );
    let names = if options.only.is_empty() {
        Name::ALL.to_vec()
    } else {
        options.only.clone()
    };
    for name in names {
        let bitcode = bench_root.form(name, options.class, Form::SteadyBitcode)?;
        let native = bench_root.form(name, options.class, Form::SteadyNative)?;
        let cache = CacheFolder::new(Cache::Empty, bench_root.ompvm_path());
        // For both sides, the times of the calls of each process.
        let mut calls: [Vec<Vec<f64>>; 2] = Default::default();
        for _ in 0..options.runs {
            for (side, calls) in calls.iter_mut().enumerate() {
                let mut command = if side == 0 {
                    bench_root.ompvm(&options.tier, &[], &bitcode, options.threads, &cache)?
                } else {
                    bench_root.command(&native, options.threads)
                };
                let measured = measure_ok(command.arg(options.calls.to_string()))?;
                calls.push(seconds(&measured.stdout));
            }
        }
        let later =
            |side: usize| median(calls[side].iter().flat_map(|c| c.iter().skip(1).copied()));
        let nth =
            |side: usize, n: usize| median(calls[side].iter().filter_map(|c| c.get(n).copied()));
        let (ours, theirs) = (later(0), later(1));
        table.row(
            name.lower(),
            &[ours, theirs, nth(0, 1), nth(0, 0), nth(1, 0)],
            ours / theirs,
        );
    }
    if let Some(file) = &options.json {
        let all = json!({"machine": bench_root::machine(), "tables": [table.json()]});
        write_json(file, &all)?;
    }
    table.finish(false, None)
}

/// Reads the lines `call N SECONDS`.
fn seconds(stdout: &str) -> Vec<f64> {
    stdout
        .lines()
        .filter_map(|l| l.strip_prefix("call ")?.split(' ').nth(1)?.parse().ok())
        .collect()
}
