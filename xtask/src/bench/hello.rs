//! Measures a program with one parallel region and a line of output: natively, with ompvm and an
//! empty or warm cache, and under lli with libomp.

use super::bench_root::{self, BenchRoot};
use super::cache::{Cache, CacheFolder};
use super::table::write_json;
use crate::process::{capture_ok, geomean, measure_ok, median};
use clap::Args;
use ompvm_measure::Run;
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;

const SOURCE: &str = "\
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
    printf(\"hello from a team of %d, sum %d\\n\", omp_get_max_threads(), sum);
    return 0;
}
";

/// Options of this benchmark.
#[derive(Args, Clone)]
pub struct HelloOptions {
    /// Number of counted runs of each side, after three that are not counted
    #[arg(long, short = 'n', default_value_t = 30)]
    runs: usize,
    /// Team size
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Tier of ompvm (`--tier`)
    #[arg(long, default_value = "auto")]
    tier: String,
    /// Write every run as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// Measure the pack of `bench npb --pack` in this folder
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

/// Compiles the program to bitcode and to a native executable.
pub fn build(bench_root: &BenchRoot) -> Result<[PathBuf; 2], String> {
    let dir = bench_root.path("bench/out");
    let (bitcode, native) = (dir.join("hello.bc"), dir.join("hello"));
    let Some(tools) = &bench_root.tools else {
        return Ok([bitcode, native]);
    };
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let source = dir.join("hello.c");
    std::fs::write(&source, SOURCE).map_err(|e| format!("{}: {e}", source.display()))?;
    let clang = |out: &PathBuf| {
        let mut clang = Command::new(tools.llvm("clang"));
        clang.args(["-O2", "-fopenmp", "-o"]).arg(out).arg(&source);
        clang
    };
    capture_ok(clang(&bitcode).args(["-c", "-emit-llvm"]))?;
    let libraries = tools.prefix.join("lib");
    capture_ok(clang(&native).arg(format!("-Wl,-rpath,{}", libraries.display())))?;
    Ok([bitcode, native])
}

/// A side: its name and a function that returns its command.
type Side<'a> = (&'a str, Box<dyn Fn() -> Result<Command, String> + 'a>);

/// Runs the sides alternately and prints the statistics.
pub fn run(options: &HelloOptions) -> Result<(), String> {
    let bench_root = BenchRoot::find(options.from.as_deref())?;
    let [bitcode, native] = build(&bench_root)?;
    let cold = CacheFolder::new(Cache::Empty, bench_root.ompvm_path());
    let warm = CacheFolder::new(Cache::Warm, bench_root.ompvm_path());
    let ours = |cache| bench_root.ompvm(&options.tier, &[], &bitcode, options.threads, cache);
    let mut sides: Vec<Side> = vec![
        (
            "native",
            Box::new(|| Ok(bench_root.command(&native, options.threads))),
        ),
        ("ompvm, empty cache", Box::new(|| ours(&cold))),
        ("ompvm, warm cache", Box::new(|| ours(&warm))),
    ];
    let lli = bench_root.tools.as_ref().map(|t| t.llvm("lli"));
    if let (Some(lli), Some(tools)) = (lli.filter(|l| l.exists()), &bench_root.tools) {
        let libomp = tools.prefix.join("lib/libomp.so");
        let (bench_root, bitcode) = (&bench_root, &bitcode);
        sides.push((
            "lli with libomp",
            Box::new(move || {
                let mut command = bench_root.command(&lli, options.threads);
                command
                    .arg(format!("-load={}", libomp.display()))
                    .arg(bitcode);
                Ok(command)
            }),
        ));
    }
    const WARMUP: usize = 3;
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); sides.len()];
    for run in 0..WARMUP + options.runs {
        for turn in 0..sides.len() {
            let side = (turn + run) % sides.len();
            let measured = measure_ok(&mut sides[side].1()?)?;
            if run >= WARMUP {
                runs[side].push(measured);
            }
        }
    }
    println!(
        "{}\n\nHello from one parallel region, {} threads, whole process, --tier={}, {} runs in turn\n",
        bench_root::machine(),
        options.threads,
        options.tier,
        options.runs
    );
    println!(
        "| | median, ms | mean, ms | deviation, ms | lowest, ms | highest, ms | cpu, ms | peak, MB | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let base = median(runs[0].iter().map(|m| m.wall));
    let mut rows = Vec::new();
    for ((name, _), runs) in sides.iter().zip(&runs) {
        let walls: Vec<f64> = runs.iter().map(|m| m.wall * 1e3).collect();
        let n = walls.len() as f64;
        let mean = walls.iter().sum::<f64>() / n;
        let deviation = (walls.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / n).sqrt();
        let ratio = median(runs.iter().map(|m| m.wall)) / base;
        println!(
            "| {name} | {:.2} | {mean:.2} | {deviation:.2} | {:.2} | {:.2} | {:.2} | {:.1} | {ratio:.3} |",
            median(walls.iter().copied()),
            walls.iter().copied().fold(f64::INFINITY, f64::min),
            walls.iter().copied().fold(0.0, f64::max),
            median(runs.iter().map(|m| m.cpu)) * 1e3,
            median(runs.iter().map(|m| m.megabytes())),
        );
        rows.push((*name, ratio, walls));
    }
    if let Some(file) = &options.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, ratio, walls)| json!({"name": name, "ratio": ratio, "wall_ms": walls}))
            .collect();
        write_json(
            file,
            &json!({"machine": bench_root::machine(), "rows": rows}),
        )?;
    }
    let ours = rows.iter().filter(|r| r.0.starts_with("ompvm"));
    println!("\ngeomean {:.3}", geomean(ours.map(|r| r.1)));
    Ok(())
}
