//! OpenMP constructs by the EPCC method, and programs made of tasks.
//!
//! One native executable runs alternately with libomp and with our runtime in its place
//! (`LD_LIBRARY_PATH`). libgomp has an executable of its own, built by gcc. `bench npb --pack`
//! packs all of it for a machine without compilers.

use super::{Options, bench_root::BenchRoot, table::Table};
use crate::process::{self, capture_ok, median, root};
use crate::setup::Tools;
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `bench epcc` and `bench tasks`.
#[derive(Args, Clone)]
pub struct EpccOptions {
    #[command(flatten)]
    common: Options,
    /// Folder with another libomp.so.5 as an additional peer
    #[arg(long, value_name = "DIR")]
    peer: Option<PathBuf>,
    /// Use each program's smallest times instead of its medians, for machines with other load
    #[arg(long)]
    smallest: bool,
    /// Measure the pack of `bench npb --pack` in this folder
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Do not bind threads, as is suitable for more threads than processors
    #[arg(long)]
    unbound: bool,
}

/// Measures OpenMP constructs.
pub fn run(options: &EpccOptions) -> Result<(), String> {
    let title = "EPCC method, microseconds of overhead per construct";
    compare("epcc", title, options)
}

/// Measures programs made of tasks.
pub fn tasks(options: &EpccOptions) -> Result<(), String> {
    if options.smallest {
        return Err("--smallest is for `bench epcc`".into());
    }
    compare("tasks", "Programs made of tasks, microseconds", options)
}

/// Name of the row with the work of a loop schedule but no construct.
const BY_HAND: &str = "loop by hand";

/// A runtime: its name, executable and library folder.
struct Side {
    name: &'static str,
    executable: PathBuf,
    library: Option<PathBuf>,
}

/// Returns all sides, ours first. libgomp is included if there is a gcc, or if it was packed.
fn sides(bench_root: &BenchRoot, name: &str, options: &EpccOptions) -> Result<Vec<Side>, String> {
    let side = |name, executable: &PathBuf, library: Option<PathBuf>| Side {
        name,
        executable: executable.clone(),
        library,
    };
    let (clang, gcc, ours, libomp, libgomp) = match &bench_root.tools {
        Some(tools) => (
            build_clang(tools, name)?,
            build_gcc(name),
            build_libomp(tools)?,
            tools.prefix.join("lib"),
            None,
        ),
        None => {
            let gcc = bench_root.path(&format!("bench/out/{name}.gcc"));
            let packed = gcc.exists().then_some(gcc).ok_or("it was not packed");
            let lib = bench_root.path("lib");
            (
                bench_root.path(&format!("bench/out/{name}")),
                packed.map_err(str::to_owned),
                bench_root.path(OURS),
                lib.clone(),
                Some(lib),
            )
        }
    };
    let mut sides = vec![
        side("ompvm", &clang, Some(ours)),
        side("libomp", &clang, Some(libomp)),
    ];
    if let Some(dir) = &options.peer {
        if !dir.join("libomp.so.5").exists() {
            return Err(format!("{} has no libomp.so.5", dir.display()));
        }
        sides.push(side("peer", &clang, Some(dir.clone())));
    }
    match gcc {
        Ok(gcc) => sides.push(side("libgomp", &gcc, libgomp)),
        Err(why) => println!("without libgomp: {why}"),
    }
    Ok(sides)
}

/// Builds what the sides need. Returns the executables in `bench/out` and our library.
pub fn build_all(tools: &Tools) -> Result<(Vec<PathBuf>, PathBuf), String> {
    let mut executables = Vec::new();
    for name in ["epcc", "tasks"] {
        executables.push(build_clang(tools, name)?);
        match build_gcc(name) {
            Ok(gcc) => executables.push(gcc),
            Err(why) => println!("without libgomp: {why}"),
        }
    }
    Ok((executables, build_libomp(tools)?.join("libomp.so.5")))
}

fn build_clang(tools: &Tools, name: &str) -> Result<PathBuf, String> {
    build(&tools.llvm("clang"), &["-fopenmp-version=51"], name, name)
}

fn build_gcc(name: &str) -> Result<PathBuf, String> {
    build(Path::new("gcc"), &[], name, &format!("{name}.gcc"))
}

/// Runs all sides alternately and prints the table; the ratio is to the best of the others.
fn compare(name: &str, title: &str, options: &EpccOptions) -> Result<(), String> {
    let bench_root = BenchRoot::find(options.from.as_deref())?;
    let sides = sides(&bench_root, name, options)?;
    let (threads, runs) = (options.common.threads, options.common.runs);
    let mut figures: Vec<BTreeMap<String, Vec<f64>>> = vec![BTreeMap::new(); sides.len()];
    // Loop lengths by executable, so that all runs of one do the same work.
    let mut lengths: BTreeMap<&Path, String> = BTreeMap::new();
    for run in 0..=runs {
        for (side, figures) in sides.iter().zip(&mut figures) {
            let mut command = Command::new(&side.executable);
            command.env("OMP_NUM_THREADS", threads.to_string());
            match &side.library {
                Some(folder) => command.env("LD_LIBRARY_PATH", folder),
                None => command.env_remove("LD_LIBRARY_PATH"),
            };
            if !options.unbound {
                command.env("OMP_PROC_BIND", "close");
                command.env("OMP_PLACES", "cores");
            }
            if let Some(length) = lengths.get(&*side.executable) {
                command.args(["--length", length]);
            }
            if options.smallest {
                command.arg("--min");
            }
            let text = capture_ok(&mut command)?;
            for line in text.lines() {
                if let Some((name, value)) = line.split_once('\t')
                    && let Ok(number) = value.trim().parse()
                {
                    if name == "length" {
                        lengths.insert(&side.executable, value.trim().to_owned());
                        continue;
                    }
                    if run == 0 {
                        continue;
                    }
                    figures.entry(name.to_owned()).or_default().push(number);
                }
            }
        }
    }
    let bound = if options.unbound { ", unbound" } else { "" };
    let title = format!("{title}, {threads} threads{bound}, median of {runs}");
    let names: Vec<&str> = sides.iter().map(|side| side.name).collect();
    let mut table = Table::new(&title, &names);
    let of = |name: &str| -> Option<Vec<f64>> {
        let all = figures.iter().map(|side| side.get(name).cloned());
        all.map(|v| v.map(median)).collect()
    };
    // Loops without a construct show the unevenness of the processors. Differences between
    // schedules below that are noise.
    let uneven = of(BY_HAND).map_or(0.0, |v| v.into_iter().map(f64::abs).fold(0.0, f64::max));
    for name in figures[0].keys() {
        let Some(medians) = of(name) else {
            continue;
        };
        let best = medians[1..].iter().copied().fold(f64::INFINITY, f64::min);
        // Below a nanosecond both are free, and the ratio would be meaningless.
        let floor = match name.split(',').next() {
            Some("static" | "dynamic" | "guided" | BY_HAND) => uneven.max(0.001),
            _ => 0.001,
        };
        table.row(name, &medians, medians[0].max(floor) / best.max(floor));
    }
    table.finish(true, options.common.json.as_deref())
}

/// Compiles the sources in `bench/NAME` natively, to `bench/out/TO`.
fn build(compiler: &Path, flags: &[&str], name: &str, to: &str) -> Result<PathBuf, String> {
    let dir = root().join("bench/out");
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let executable = dir.join(to);
    let mut sources: Vec<PathBuf> = std::fs::read_dir(root().join("bench").join(name))
        .map_err(|e| format!("bench/{name}: {e}"))?
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|x| x == "c"))
        .collect();
    sources.sort();
    process::run(
        Command::new(compiler)
            .args(["-std=gnu11", "-O2", "-fopenmp", "-o"])
            .arg(&executable)
            .args(flags)
            .args(&sources)
            .arg("-lm"),
    )?;
    Ok(executable)
}

/// Folder of our library under libomp's names.
pub const OURS: &str = "target/release/libomp";

/// Builds our runtime as a shared library under libomp's names and returns its folder.
pub fn build_libomp(tools: &Tools) -> Result<PathBuf, String> {
    process::run(tools.cargo().current_dir(root()).args([
        "build",
        "--release",
        "--package",
        "ompvm-libomp",
    ]))?;
    let dir = root().join(OURS);
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for name in ["libomp.so", "libomp.so.5"] {
        let link: &Path = &dir.join(name);
        let _ = std::fs::remove_file(link);
        std::os::unix::fs::symlink("../libomp.so", link)
            .map_err(|e| format!("{}: {e}", link.display()))?;
    }
    Ok(dir)
}
