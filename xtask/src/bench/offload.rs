//! Offload compared with CUDA: the programs of `bench/offload/`, the NAS benchmarks that have a
//! device version (beside the host's), and every test of `tests/offload/`.
//!
//! A machine with a GPU often has nvcc but no LLVM, so everything is prepared here: `--pack DIR`
//! packs ompvm, the programs as bitcode, the CUDA sources, and `run.sh`, which does the rest there.
//! Without `--pack` the pack is made in `target/` and its script runs on this machine.

use super::bench_root::BenchRoot;
use super::pack::{copy, needed};
use crate::npb::{Class, Form, Name, OFFLOAD};
use crate::process::run;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of this benchmark.
#[derive(Args, Clone)]
pub struct OffloadOptions {
    /// Write a pack for a machine with a GPU to this folder
    #[arg(long)]
    pack: Option<PathBuf>,
    /// Device of the programs, if they run on this machine
    #[arg(long, default_value = "0")]
    device: String,
    /// Classes of the NAS benchmarks in the pack
    #[arg(long, default_value = "A,B,C", value_delimiter = ',')]
    class: Vec<Class>,
    /// Folder for results, if the programs run on this machine
    #[arg(long, default_value = "target/offload-results")]
    out: PathBuf,
}

/// Compiler flags of the programs of `bench/offload/` and of the tests.
const FLAGS: [&str; 4] = ["-fopenmp", "-g1", "-c", "-emit-llvm"];

/// Packs the benchmark, and runs the pack unless `--pack` was given.
pub fn pack_and_run(options: &OffloadOptions) -> Result<(), String> {
    let bench_root = BenchRoot::find(None)?;
    let folder = match &options.pack {
        Some(folder) => folder.clone(),
        None => bench_root.path("target/offload-pack"),
    };
    gather(&bench_root, &folder)?;
    gather_npb(&bench_root, &options.class, &folder.join("npb"))?;
    if options.pack.is_some() {
        println!(
            "start {0}/run.sh OUT and {0}/npb.sh OUT there",
            folder.display()
        );
        return Ok(());
    }
    run(Command::new(folder.join("run.sh"))
        .arg(&options.out)
        .arg(&options.device))
}

fn gather(bench_root: &BenchRoot, folder: &Path) -> Result<(), String> {
    let Some(tools) = &bench_root.tools else {
        return Err("a folder that was packed cannot be packed again".into());
    };
    let compile = |source: &Path, level: &str, to: &Path| {
        let cxx = source.extension().is_some_and(|e| e == "cpp");
        let tests = bench_root.path("tests");
        run(
            Command::new(tools.llvm(if cxx { "clang++" } else { "clang" }))
                .arg(level)
                .args(FLAGS)
                .args(OFFLOAD)
                .args(directive_words(source, "// flags:"))
                .arg("-I")
                .arg(tests)
                .arg("-o")
                .arg(to)
                .arg(source),
        )
    };
    let bench = bench_root.path("bench/offload");
    for file in ["cuda.cu", "common.h", "run.sh", "npb.sh"] {
        copy(&bench.join(file), &folder.join(file))?;
    }
    compile(&bench.join("omp.c"), "-O3", &folder.join("omp.bc"))?;
    // Without device options, as programs that do not use `target` are compiled.
    let plain = |source: &Path, level: &str, to: &Path| {
        run(Command::new(tools.llvm("clang"))
            .arg(level)
            .args(FLAGS)
            .arg("-o")
            .arg(to)
            .arg(source))
    };
    plain(
        &bench.join("auto_offload.c"),
        "-O2",
        &folder.join("auto_offload.bc"),
    )?;
    let programs = folder.join("tests");
    std::fs::create_dir_all(&programs).map_err(|e| format!("{}: {e}", programs.display()))?;
    for source in entries(&bench_root.path("tests/auto_offload"))? {
        let known = source.extension().is_some_and(|e| e == "c");
        let Some(stem) = source.file_stem().filter(|_| known) else {
            continue;
        };
        for level in ["-O0", "-O2"] {
            let name = format!("auto_offload_{}{level}.bc", stem.to_string_lossy());
            plain(&source, level, &programs.join(name))?;
        }
    }
    let tests = bench_root.path("tests/offload");
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
                    compile(&source, level, &programs.join(&name))?;
                    let settings = directive_words(&source, "// env:");
                    if !settings.is_empty() {
                        let file = programs.join(name).with_extension("env");
                        let text = settings.join("\n") + "\n";
                        std::fs::write(&file, text)
                            .map_err(|e| format!("{}: {e}", file.display()))?;
                    }
                }
            }
        }
    }
    let program = folder.join("ompvm");
    copy(bench_root.ompvm_path(), &program)?;
    run(Command::new(tools.llvm("llvm-strip")).arg(&program))?;
    run(Command::new("xz").args(["-f", "-T0", "-3"]).arg(&program))
}

/// Packs the NAS benchmarks in three forms: for devices, for the host, and native with libomp.
fn gather_npb(bench_root: &BenchRoot, classes: &[Class], folder: &Path) -> Result<(), String> {
    let Some(tools) = &bench_root.tools else {
        return Err("a folder that was packed cannot be packed again".into());
    };
    for &class in classes {
        for name in Name::TARGET {
            for form in [Form::Target, Form::Bitcode, Form::Native] {
                let from = bench_root.form(name, class, form)?;
                let file = from.file_name().expect("a file");
                copy(&from, &folder.join(file))?;
                if form == Form::Native {
                    run(Command::new(tools.llvm("llvm-strip")).arg(folder.join(file)))?;
                    for library in needed(&from)? {
                        let name = library.file_name().expect("a library");
                        copy(&library, &folder.join("lib").join(name))?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Returns the words after a key in the head comments of a test's source.
fn directive_words(source: &Path, key: &str) -> Vec<String> {
    let text = std::fs::read_to_string(source).unwrap_or_default();
    let head = text.lines().take_while(|l| l.starts_with("//"));
    head.filter_map(|l| l.strip_prefix(key))
        .flat_map(|words| words.split_whitespace().map(str::to_owned))
        .collect()
}

/// Returns the sorted entries of a folder; none if it is not a folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let list = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut found: Vec<PathBuf> = list.flatten().map(|e| e.path()).collect();
    found.sort();
    Ok(found)
}
