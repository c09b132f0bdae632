//! Communication of regions that several ranks share, by simulation (`bench/ranks/`).

use super::bench_root::BenchRoot;
use crate::npb::OFFLOAD;
use crate::process::run;
use std::process::Command;

/// Compiles the kernels and prints the table.
pub fn simulate() -> Result<(), String> {
    let bench_root = BenchRoot::find(None)?;
    let Some(tools) = &bench_root.tools else {
        return Err("this benchmark needs the source tree".into());
    };
    let kernels = bench_root.path("target/ranks-kernels.bc");
    run(Command::new(tools.llvm("clang"))
        .args([
            "-O2",
            "-fopenmp",
            "--offload-device-only",
            "-c",
            "-emit-llvm",
        ])
        .args(OFFLOAD)
        .arg("-o")
        .arg(&kernels)
        .arg(bench_root.path("bench/ranks/kernels.c")))?;
    run(Command::new("cargo")
        .args(["bench", "-p", "ompvm-offload", "--bench", "volume", "--"])
        .arg(&kernels))
}
