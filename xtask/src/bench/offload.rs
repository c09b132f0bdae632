//! Offload beside CUDA: the programs of `bench/offload/` and every test of `tests/offload/`.
//!
//! A machine with a GPU often has nvcc and no LLVM, so all is prepared here: `--pack DIR` gathers our
//! program, the programs as bitcode, the CUDA sources and `run.sh`, which does the rest there. Without
//! `--pack` the pack is made in `target/` and its script started on this machine.

use super::pack::copy;
use super::place::Place;
use crate::process::run;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of this bench.
#[derive(Args, Clone)]
pub struct OffloadOptions {
    /// Gather what a machine with a GPU needs in this folder
    #[arg(long)]
    pack: Option<PathBuf>,
    /// The device that the programs run on, when they run here
    #[arg(long, default_value = "0")]
    device: String,
    /// The folder for results, when they run here
    #[arg(long, default_value = "target/offload-results")]
    out: PathBuf,
}

/// Images as bitcode, without a CUDA installation.
const FLAGS: [&str; 7] = [
    "-fopenmp",
    "--offload-arch=sm_90",
    "-nogpulib",
    "--cuda-feature=+ptx83",
    "-g1",
    "-c",
    "-emit-llvm",
];

/// Packs, or packs and runs.
pub fn start(options: &OffloadOptions) -> Result<(), String> {
    let place = Place::find(None)?;
    let folder = match &options.pack {
        Some(folder) => folder.clone(),
        None => place.path("target/offload-pack"),
    };
    gather(&place, &folder)?;
    if options.pack.is_some() {
        println!("start {}/run.sh OUT there", folder.display());
        return Ok(());
    }
    run(Command::new(folder.join("run.sh"))
        .arg(&options.out)
        .arg(&options.device))
}

fn gather(place: &Place, folder: &Path) -> Result<(), String> {
    let Some(tools) = &place.tools else {
        return Err("a folder that was packed cannot be packed again".into());
    };
    let compile = |source: &Path, level: &str, to: &Path| {
        let cxx = source.extension().is_some_and(|e| e == "cpp");
        let tests = place.path("tests");
        run(
            Command::new(tools.llvm(if cxx { "clang++" } else { "clang" }))
                .arg(level)
                .args(FLAGS)
                .arg("-I")
                .arg(tests)
                .arg("-o")
                .arg(to)
                .arg(source),
        )
    };
    let bench = place.path("bench/offload");
    for file in ["cuda.cu", "common.h", "run.sh"] {
        copy(&bench.join(file), &folder.join(file))?;
    }
    compile(&bench.join("omp.c"), "-O3", &folder.join("omp.bc"))?;
    let programs = folder.join("tests");
    std::fs::create_dir_all(&programs).map_err(|e| format!("{}: {e}", programs.display()))?;
    let tests = place.path("tests/offload");
    for topic in entries(&tests)? {
        for source in entries(&topic)? {
            let known = source.extension().is_some_and(|e| e == "c" || e == "cpp");
            let (Some(topic), Some(stem)) = (topic.file_name(), source.file_stem()) else {
                continue;
            };
            for level in ["-O0", "-O2"] {
                if known {
                    let name = format!(
                        "{}_{}{level}.bc",
                        topic.to_string_lossy(),
                        stem.to_string_lossy()
                    );
                    compile(&source, level, &programs.join(name))?;
                }
            }
        }
    }
    let program = folder.join("ompvm");
    copy(&place.ompvm_path(), &program)?;
    run(Command::new(tools.llvm("llvm-strip")).arg(&program))?;
    run(Command::new("xz").args(["-f", "-T0", "-3"]).arg(&program))
}

/// What lies in a folder; nothing where there is none. Files give nothing either.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let list = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut found: Vec<PathBuf> = list.flatten().map(|e| e.path()).collect();
    found.sort();
    Ok(found)
}
