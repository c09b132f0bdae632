//! Builds the executable to install and to measure: `target/dist/ompvm`, laid out by a profile.
//!
//! LLVM is linked into ompvm, and compilation is bound by instruction fetch more than by data.
//! llvm-bolt places executed blocks and functions next to each other (Panchenko et al., CGO 2019).
//! The profile is recorded here, for the installed LLVM, on test programs that are never measured.
//! Functions that were not executed stay where they were. Nothing is recompiled, and the profile
//! selects no code of ours.

use crate::process::{capture_ok, root, run};
use crate::setup::{self, Tools};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// Training programs in `tests/`: loops, vectors, calls, templates, constructs.
const TRAINING: [&str; 16] = [
    "diff/c/crc_sha_md5.c",
    "diff/c/fft_complex.c",
    "diff/c/linked_structures.c",
    "diff/c/loop_exits.c",
    "diff/c/loops_of_one.c",
    "diff/c/unrolled_loops.c",
    "diff/c/vector_pairs.c",
    "diff/cpp/complex_lines.cpp",
    "diff/cpp/std_sort_algorithms.cpp",
    "diff/cpp/std_vector.cpp",
    "pass/cxx/containers.cpp",
    "pass/for/collapsed_entries.c",
    "pass/loop/heap_arrays.c",
    "pass/reduction/many_at_once.c",
    "pass/task/depend.c",
    "pass/teams/at_once.c",
];

/// Layout options of llvm-bolt.
const LAYOUT: [&str; 6] = [
    "-reorder-blocks=ext-tsp",
    "-reorder-functions=cdsort",
    "-split-functions",
    "-split-all-cold",
    "-split-eh",
    "-use-gnu-stack",
];

/// Builds the release executable and returns its path.
pub fn release(tools: &Tools) -> Result<PathBuf, String> {
    let mut cargo = tools.cargo();
    cargo.current_dir(root()).args(["build", "--release"]);
    run(cargo.args(["--package", "ompvm"]))?;
    Ok(root().join("target/release/ompvm"))
}

/// Builds `target/dist/ompvm` and prints its path, after installing llvm-bolt if it is missing.
pub fn build_and_print() -> Result<(), String> {
    let tools = setup::ensure()?;
    setup::ensure_bolt(&tools)?;
    let made = with_layout(&tools)?;
    println!("{}", made.display());
    Ok(())
}

/// Returns the executable to install and to measure: laid out by a profile if llvm-bolt is
/// installed, else the release build.
pub fn for_measurement(tools: &Tools) -> Result<PathBuf, String> {
    if setup::has_bolt(tools) {
        return with_layout(tools);
    }
    eprintln!("no llvm-bolt: not laid out by a profile (`cargo xtask dist` installs it)");
    release(tools)
}

/// Returns `target/dist/ompvm`, which is rebuilt if the release build is newer.
pub fn with_layout(tools: &Tools) -> Result<PathBuf, String> {
    let plain = release(tools)?;
    let folder = root().join("target/dist");
    let made = folder.join("ompvm");
    if modified(&made).is_some_and(|m| Some(m) >= modified(&plain)) {
        return Ok(made);
    }
    let work = folder.join("work");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    eprintln!("laying out {} by a profile", plain.display());
    let profile = profile(tools, &plain, &work)?;
    let new = work.join("ompvm");
    let mut bolt = Command::new(tools.llvm("llvm-bolt"));
    bolt.arg(&plain).arg("-o").arg(&new).args(LAYOUT);
    capture_ok(bolt.arg(format!("-data={}", profile.display())))?;
    // The debug information still describes the old layout; the remaining symbols are correct.
    capture_ok(
        Command::new(tools.llvm("llvm-strip"))
            .arg("--strip-debug")
            .arg(&new),
    )?;
    std::fs::rename(&new, &made).map_err(|e| format!("{}: {e}", made.display()))?;
    let _ = std::fs::remove_dir_all(&work);
    Ok(made)
}

/// Records a profile: counts the blocks executed while ompvm compiles and runs the training
/// programs.
fn profile(tools: &Tools, plain: &Path, work: &Path) -> Result<PathBuf, String> {
    let counting = work.join("counting");
    let counts = work.join("counts");
    let mut bolt = Command::new(tools.llvm("llvm-bolt"));
    bolt.arg(plain).arg("-instrument").arg("-o").arg(&counting);
    bolt.arg("-instrumentation-file-append-pid");
    capture_ok(bolt.arg(format!("-instrumentation-file={}", counts.display())))?;
    for source in TRAINING {
        let bitcode = work.join("program.bc");
        let source = root().join("tests").join(source);
        let cpp = source.extension().is_some_and(|x| x == "cpp");
        let mut clang = Command::new(tools.llvm(if cpp { "clang++" } else { "clang" }));
        clang.args(["-O2", "-g", "-fopenmp", "-c", "-emit-llvm", "-o"]);
        capture_ok(clang.arg(&bitcode).arg(&source))?;
        let mut ompvm = Command::new(&counting);
        ompvm.arg("compile").arg(&bitcode);
        ompvm.env("OMPVM_CACHE_DIR", work.join("cache"));
        capture_ok(&mut ompvm)?;
        // The exit status of a training program does not matter.
        let mut ompvm = Command::new(&counting);
        ompvm.args(["run", "--no-cache"]).arg(&bitcode);
        ompvm.stdin(Stdio::null()).stdout(Stdio::null());
        let ended = ompvm.stderr(Stdio::null()).status();
        ended.map_err(|e| format!("{}: {e}", counting.display()))?;
    }
    let entries = std::fs::read_dir(work).map_err(|e| format!("{}: {e}", work.display()))?;
    let files = entries.flatten().map(|e| e.path());
    let counted = files.filter(|f| f.to_string_lossy().ends_with(".fdata"));
    let profile = work.join("profile");
    let mut merge = Command::new(tools.llvm("merge-fdata"));
    capture_ok(merge.arg("-o").arg(&profile).args(counted))?;
    Ok(profile)
}

fn modified(file: &Path) -> Option<SystemTime> {
    file.metadata().ok()?.modified().ok()
}
