//! OpenMP constructs by the EPCC method, and programs made of tasks: one native executable, run in
//! turn with libomp and with our runtime in its place (`LD_LIBRARY_PATH`).

use super::{Options, table::Table};
use crate::process::{self, capture_ok, median, root};
use crate::setup::{self, Tools};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The constructs.
pub fn run(options: &Options) -> Result<(), String> {
    let title = "EPCC method, microseconds of overhead per construct";
    compare("epcc", title, options)
}

/// Programs made of tasks.
pub fn tasks(options: &Options) -> Result<(), String> {
    compare("tasks", "Programs made of tasks, microseconds", options)
}

/// Builds both sides, runs them in turn, prints the table.
fn compare(name: &str, title: &str, options: &Options) -> Result<(), String> {
    let tools = setup::ensure()?;
    let executable = build(&tools, name)?;
    let ours = libomp_ours(&tools)?;
    let theirs = tools.prefix.join("lib");
    let mut figures: [BTreeMap<String, Vec<f64>>; 2] = Default::default();
    for run in 0..=options.runs {
        for (side, library) in [&ours, &theirs].into_iter().enumerate() {
            let text = capture_ok(
                Command::new(&executable)
                    .env("LD_LIBRARY_PATH", library)
                    .env("OMP_NUM_THREADS", options.threads.to_string())
                    .env("OMP_PROC_BIND", "close")
                    .env("OMP_PLACES", "cores"),
            )?;
            if run == 0 {
                continue;
            }
            for line in text.lines() {
                if let Some((name, value)) = line.split_once('\t')
                    && let Ok(value) = value.trim().parse()
                {
                    figures[side]
                        .entry(name.to_owned())
                        .or_default()
                        .push(value);
                }
            }
        }
    }
    let title = format!(
        "{title}, {} threads, median of {}",
        options.threads, options.runs
    );
    let mut table = Table::new(&title, &["ompvm", "libomp"]);
    for (name, ours) in &figures[0] {
        let Some(theirs) = figures[1].get(name) else {
            continue;
        };
        let (ours, theirs) = (median(ours.clone()), median(theirs.clone()));
        // Below a nanosecond both are free, and the ratio of two zeros says nothing.
        let ratio = ours.max(0.001) / theirs.max(0.001);
        table.row(name, &[ours, theirs], ratio);
    }
    table.finish(true, options.json.as_deref())
}

/// Compiles the sources in `bench/NAME` natively.
fn build(tools: &Tools, name: &str) -> Result<PathBuf, String> {
    let dir = root().join("bench/out");
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let executable = dir.join(name);
    let mut sources: Vec<PathBuf> = std::fs::read_dir(root().join("bench").join(name))
        .map_err(|e| format!("bench/{name}: {e}"))?
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|x| x == "c"))
        .collect();
    sources.sort();
    process::run(
        Command::new(tools.llvm("clang"))
            .args(["-std=gnu11", "-O2", "-fopenmp", "-fopenmp-version=51", "-o"])
            .arg(&executable)
            .args(&sources)
            .arg("-lm"),
    )?;
    Ok(executable)
}

/// Builds our runtime as a shared library under libomp's names; returns its folder.
pub fn libomp_ours(tools: &Tools) -> Result<PathBuf, String> {
    process::run(tools.cargo().current_dir(root()).args([
        "build",
        "--release",
        "--package",
        "ompvm-libomp",
    ]))?;
    let dir = root().join("target/release/libomp");
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for name in ["libomp.so", "libomp.so.5"] {
        let link: &Path = &dir.join(name);
        let _ = std::fs::remove_file(link);
        std::os::unix::fs::symlink("../libomp.so", link)
            .map_err(|e| format!("{}: {e}", link.display()))?;
    }
    Ok(dir)
}
