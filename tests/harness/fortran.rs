//! Fortran programs: flang's bitcode, with flang's runtime from a static archive, must behave as
//! the native build does.
//!
//! If flang is missing and cannot be installed, each trial is listed as ignored, with the reason.

use crate::compile::llvm_bin;
use crate::run::{End, LIMIT, run};
use crate::{files, ompvm, root};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns one trial per program and level.
pub fn trials() -> Vec<Trial> {
    let mut trials = each("fortran", &["O0", "O2"], compare);
    let dir = root().join("tests/offload/fortran");
    trials.extend(each_in(&dir, "offload/fortran", &["O0", "O2"], on_device));
    trials
}

/// Returns a group's trials for all programs: `check` gets the source, its name and the level.
pub fn each(
    group: &str,
    levels: &[&'static str],
    check: fn(&Path, &str, &str) -> Result<(), String>,
) -> Vec<Trial> {
    each_in(&root().join("tests/fortran"), group, levels, check)
}

fn each_in(
    folder: &Path,
    group: &str,
    levels: &[&'static str],
    check: fn(&Path, &str, &str) -> Result<(), String>,
) -> Vec<Trial> {
    let flang = llvm_bin().join("flang");
    let missing = !flang.exists();
    let mut trials = Vec::new();
    for path in files(folder, &["f90"]) {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let only = text.lines().find_map(|l| l.strip_prefix("! levels: "));
        for &level in levels {
            if only.is_some_and(|only| !only.split_whitespace().any(|l| l == level)) {
                continue;
            }
            let (path, name) = (path.clone(), name.clone());
            let mut title = format!("{group}/{name}/{level}");
            if missing {
                title += " (needs the package flang-22)";
            }
            let trial = Trial::test(title, move || Ok(check(&path, &name, level)?));
            trials.push(trial.with_ignored_flag(missing));
        }
    }
    trials
}

/// Compiles a program in a separate folder: the module files of concurrently compiled programs must
/// not collide.
pub fn flang(source: &Path, name: &str, level: &str, args: &[&str]) -> Result<PathBuf, String> {
    let dir = root().join(format!("target/guests/fortran/{name}-{level}"));
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let relative = Path::new("../../../..").join(source.strip_prefix(root()).unwrap_or(source));
    let mut command = Command::new(llvm_bin().join("flang"));
    command
        .current_dir(&dir)
        .args([&format!("-{level}"), "-fopenmp", "-g"]);
    let ran = run(command.args(args).arg(&relative), "", LIMIT)?;
    match ran.end {
        End::Exit(0) => Ok(dir),
        _ => Err(ran.summary()),
    }
}

/// Builds the native executable, with libomp.
pub fn native(source: &Path, name: &str, level: &str) -> Result<PathBuf, String> {
    let libraries = format!("-Wl,-rpath,{}", llvm_bin().join("../lib").display());
    let dir = flang(source, name, level, &[&libraries, "-o", "program"])?;
    Ok(dir.join("program"))
}

fn compare(source: &Path, name: &str, level: &str) -> Result<(), String> {
    let dir = flang(
        source,
        name,
        level,
        &["-c", "-emit-llvm", "-o", "program.bc"],
    )?;
    let expected = run(&mut Command::new(native(source, name, level)?), "", LIMIT)?;
    for threads in ["1", "3"] {
        let mut command = Command::new(ompvm());
        command
            .arg("run")
            .args(crate::tier())
            .arg(dir.join("program.bc"));
        let ours = run(command.env("OMP_NUM_THREADS", threads), "", LIMIT)?;
        if ours.end != expected.end || ours.stdout != expected.stdout {
            return Err(format!(
                "native ended with {:?} and printed\n{}ompvm: {}",
                expected.end,
                expected.stdout,
                ours.summary()
            ));
        }
    }
    Ok(())
}

/// Checks a program of `tests/offload/fortran`: it prints `ok` if its regions ran on the emulated
/// device, or does what its head says.
fn on_device(source: &Path, name: &str, level: &str) -> Result<(), String> {
    let device = ["--offload-arch=sm_90", "-nogpulib", "-fopenmp-version=52"];
    let features = ["-Xflang", "-target-feature", "-Xflang", "+ptx83"];
    let output = ["-c", "-emit-llvm", "-o", "program.bc"];
    let args = [&device[..], &features, &output].concat();
    let dir = flang(source, &format!("offload-{name}"), level, &args)?;
    let head = std::fs::read_to_string(source).map_err(|e| e.to_string())?;
    let told: Vec<&str> = head
        .lines()
        .filter_map(|l| l.strip_prefix("! stderr-has: "))
        .collect();
    let fails = head.contains("\n! signal: 6\n");
    for tier in ["interp", "baseline", "opt", "auto"] {
        let mut command = Command::new(ompvm());
        command.args(["run", "--device=emulated", "--offload-report"]);
        command.arg(format!("--tier={tier}"));
        command.arg(dir.join("program.bc"));
        command.env("OMP_NUM_THREADS", "4");
        command.env("OMP_TARGET_OFFLOAD", "mandatory");
        let ran = run(&mut command, "", LIMIT)?;
        let good = match fails {
            true => ran.end == End::Signal(6),
            false => ran.end == End::Exit(0) && ran.stdout.trim() == "ok",
        };
        if !good {
            return Err(ran.summary());
        }
        if let Some(missing) = told.iter().find(|t| !ran.stderr.contains(**t)) {
            return Err(format!(
                "the diagnostics should name `{missing}`\n{}",
                ran.summary()
            ));
        }
    }
    Ok(())
}
