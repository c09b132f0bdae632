//! Several devices, and several ranks, compared by the cases of `bench/devices/`.
//!
//! A machine with several GPUs often has no LLVM, so the cases are compiled here: `--pack DIR` packs
//! ompvm, the cases as bitcode, a launcher of MPI, and `run.sh`, which runs them in turn and prints the
//! table. Without `--pack` the pack is made in `target/` and its script runs on this machine.

use super::bench_root::BenchRoot;
use super::pack::copy;
use crate::npb::OFFLOAD;
use crate::process::run;
use clap::Args;
use std::path::PathBuf;
use std::process::Command;

/// Options of this benchmark.
#[derive(Args, Clone)]
pub struct DevicesOptions {
    /// Write a pack for a machine with several devices to this folder
    #[arg(long)]
    pack: Option<PathBuf>,
    /// Sides, compared with the first: N devices, `Nr` ranks with a GPU each, `host:T` threads
    /// without a device, `cpu:RxT` ranks whose devices are T threads each
    #[arg(long, default_value = "1,2", value_delimiter = ',')]
    sides: Vec<String>,
    /// Number of runs of each side
    #[arg(long, short = 'n', default_value_t = 3)]
    runs: usize,
    /// Further options of ompvm, such as `--device=emulated:2`
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    options: String,
    /// Run these cases only; `small` makes them small, `large` four times as large
    cases: Vec<String>,
}

/// Packs the benchmark, and runs the pack unless `--pack` was given.
pub fn pack_and_run(options: &DevicesOptions) -> Result<(), String> {
    let bench_root = BenchRoot::find(None)?;
    let Some(tools) = &bench_root.tools else {
        return Err("a folder that was packed cannot be packed again".into());
    };
    let folder = match &options.pack {
        Some(folder) => folder.clone(),
        None => bench_root.path("target/devices-pack"),
    };
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let source = bench_root.path("bench/devices/cases.cpp");
    for (form, flags) in [("plain", &[][..]), ("target", &["-DTARGET"][..])] {
        run(Command::new(tools.llvm("clang++"))
            .args(["-O2", "-fopenmp", "-g1", "-c", "-emit-llvm"])
            .args(OFFLOAD)
            .args(flags)
            .arg("-o")
            .arg(folder.join(format!("{form}.bc")))
            .arg(&source))?;
    }
    copy(
        &bench_root.path("bench/devices/run.sh"),
        &folder.join("run.sh"),
    )?;
    let program = folder.join("ompvm");
    copy(bench_root.ompvm_path(), &program)?;
    run(Command::new(tools.llvm("llvm-strip")).arg(&program))?;
    let launcher = bench_root.path("target/mpich");
    if launcher.exists() {
        let copied = folder.join("mpi");
        std::fs::create_dir_all(&copied).map_err(|e| format!("{}: {e}", copied.display()))?;
        run(Command::new("cp")
            .args(["-a", "-t"])
            .arg(&copied)
            .args(["bin", "lib"].map(|part| launcher.join(part))))?;
    }
    if options.pack.is_some() {
        println!("start {}/run.sh there", folder.display());
        return Ok(());
    }
    run(Command::new(folder.join("run.sh"))
        .arg(options.runs.to_string())
        .args(&options.sides)
        .env("OMPVM_BENCH_OPTIONS", &options.options)
        .env("CASES", options.cases.join(" ")))
}
