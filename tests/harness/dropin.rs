//! The drop-in library (`libomp/`): programs that clang and flang linked with libomp run on it.
//!
//! The expectations of `tests/pass` and `tests/fortran` must hold natively too, with this library
//! in libomp's place. It is built here if it is missing or older than its sources. The executables
//! are linked with libomp, because users' programs are, with libomp's symbol versions; only
//! programs that libomp does not pass are linked with the drop-in library. Does not cover programs
//! compiled by gcc (`GOMP_*`).

use crate::compile::{self, llvm_bin};
use crate::directives::Directives;
use crate::omp::{Outcome, judge};
use crate::run::{End, LIMIT, Ran, run};
use crate::{files, fortran, root};
use libtest_mimic::{Failed, Trial};
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// An ordinary run takes one program of this many; `OMPVM_TEST_DROPIN=all` takes all.
const ONE_IN: usize = 2;

/// Names that libomp 19 exports and the library does not, by prefix, with the reason.
const LEFT_OUT: [(&str, &str); 9] = [
    ("GOMP_", "called by programs that gcc compiled"),
    (
        "OMP_",
        "versions of symbols, for programs that gcc compiled",
    ),
    ("VERSION", "the version itself, which is not a symbol here"),
    (
        "__kmp_",
        "libomp's own functions, for its debugger and profiler",
    ),
    ("___kmp_", "libomp's own functions of allocation"),
    (
        "kmp_threadprivate_insert",
        "libomp's own functions, in no header",
    ),
    ("kmp_mutex_impl_info", "libomp's own table"),
    (
        "ompt_",
        "defined by tools; libomp's own link to libomptarget",
    ),
    // `kmp_a_debug` to `kmp_f_debug`, `kmp_diag`.
    ("kmp_", "libomp's switches for debugging its own code"),
];

/// The only names that the last row above covers.
const DEBUGGING: [&str; 7] = [
    "kmp_a_debug",
    "kmp_b_debug",
    "kmp_c_debug",
    "kmp_d_debug",
    "kmp_e_debug",
    "kmp_f_debug",
    "kmp_diag",
];

/// Returns true for a program about the virtual machine: it uses options of ompvm.
fn of_the_machine(d: &Directives) -> bool {
    d.options.iter().any(|o| !o.starts_with("-l"))
        || d.env.iter().any(|(name, _)| name.starts_with("OMPVM_"))
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("dropin/symbols", || Ok(symbols()?)),
        Trial::test("dropin/versions", || Ok(versions()?)),
        Trial::test("dropin/preloaded", || Ok(preloaded()?)),
        Trial::test("dropin/closed", || Ok(closed()?)),
        Trial::test("dropin/tool", || Ok(tool()?)),
    ];
    let one_in = match std::env::var("OMPVM_TEST_DROPIN").as_deref() {
        Ok("all") => 1,
        _ => ONE_IN,
    };
    let dir = root().join("tests/pass");
    for (number, path) in files(&dir, &["c", "cpp"]).into_iter().enumerate() {
        let name = path.strip_prefix(&dir).unwrap_or(&path).display();
        let title = format!("dropin/pass/{name}");
        match Directives::read(&path, &["O2"]) {
            Ok(d) if of_the_machine(&d) || number % one_in != 0 => {}
            Ok(d) => trials.push(Trial::test(title, move || Ok(passes(&path, &d)?))),
            Err(e) => trials.push(Trial::test(title, || Err(Failed::from(e)))),
        }
    }
    trials.extend(fortran::each("dropin/fortran", &["O2"], fortran_passes));
    trials
}

/// Returns a folder with the library under both of its names, after building it if necessary.
pub fn library() -> Result<&'static Path, String> {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let advice = "`cargo build --release --package ompvm-libomp` builds the drop-in library";
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut cargo = Command::new(cargo);
        cargo
            .current_dir(root())
            .args(["build", "--release", "--package", "ompvm-libomp"]);
        let output = cargo.output().map_err(|e| format!("{advice}: {e}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{advice}, which fails:\n{said}"));
        }
        // A copy, so that a concurrent build does not change the library under test.
        let dir = root().join(format!("target/guests/dropin-{}", std::process::id()));
        let io = |e: std::io::Error| format!("{}: {e}", dir.display());
        std::fs::create_dir_all(&dir).map_err(io)?;
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        let built = root().join(target).join("release/libomp.so");
        std::fs::copy(&built, dir.join("libomp.so.5")).map_err(io)?;
        std::os::unix::fs::symlink("libomp.so.5", dir.join("libomp.so")).map_err(io)?;
        Ok(dir)
    });
    folder.as_deref().map_err(Clone::clone)
}

/// Removes the copy that [`library`] made.
pub fn clean() {
    let dir = root().join(format!("target/guests/dropin-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(dir);
}

/// Checks a program with a tool in it that is linked with the library itself, not with libomp.
fn tool() -> Result<(), String> {
    let source = root().join("tests/pass/ompt/inquiry.c");
    let mut d = Directives::read(&source, &["O2"])?;
    d.flags.push(format!("-L{}", library()?.display()));
    passes(&source, &d)
}

/// Makes a command that runs a native program on the library.
fn on_it(program: &Path) -> Result<Command, String> {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", library()?);
    Ok(command)
}

fn passes(source: &Path, d: &Directives) -> Result<(), String> {
    let level = d.levels.last().map_or("O2", String::as_str);
    let mut flags = vec![format!("-{level}"), "-fopenmp".to_owned()];
    flags.extend(d.flags.iter().cloned());
    let bitcode = compile::bitcode(source, &flags)?;
    if d.native.is_some() {
        // libomp may lack functions of such a program.
        flags.push(format!("-L{}", library()?.display()));
    }
    let program = compile::native(&bitcode, &flags)?;
    let fixed = d.env.iter().any(|(k, _)| k == "OMP_NUM_THREADS");
    let counts: &[Option<&str>] = if fixed {
        &[None]
    } else {
        &[Some("1"), Some("4")]
    };
    for threads in counts {
        let mut command = on_it(&program)?;
        command.args(&d.args);
        command.envs(threads.map(|t| ("OMP_NUM_THREADS", t)));
        command.envs(d.env.iter().map(|(k, v)| (k, v)));
        let ran = run(&mut command, &d.stdin, LIMIT)?;
        judge(source, d, Outcome::Pass, &ran).map_err(|e| {
            format!(
                "{}, OMP_NUM_THREADS {threads:?}: {e}\n{}",
                program.display(),
                ran.summary()
            )
        })?;
    }
    Ok(())
}

fn fortran_passes(source: &Path, name: &str, level: &str) -> Result<(), String> {
    let program = fortran::native(source, &format!("dropin-{name}"), level)?;
    let expected = run(&mut Command::new(&program), "", LIMIT)?;
    for threads in ["1", "3"] {
        let mut command = on_it(&program)?;
        let ours = run(command.env("OMP_NUM_THREADS", threads), "", LIMIT)?;
        if ours.end != expected.end || ours.stdout != expected.stdout {
            return Err(format!(
                "with libomp it ends with {:?} and prints\n{}with ours: {}",
                expected.end,
                expected.stdout,
                ours.summary()
            ));
        }
    }
    Ok(())
}

/// Returns the dynamic symbols that a shared library or executable defines, or those it needs.
fn dynamic(file: &Path, defined: bool) -> Result<BTreeSet<String>, String> {
    let bytes = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let file = object::File::parse(&*bytes).map_err(|e| e.to_string())?;
    let chosen = file
        .dynamic_symbols()
        .filter(|s| s.is_undefined() != defined);
    Ok(chosen
        .filter_map(|s| Some(s.name().ok()?.to_owned()))
        .filter(|name| !name.is_empty())
        .collect())
}

/// Checks that every missing name of libomp is in the table, and every row of the table is used.
fn symbols() -> Result<(), String> {
    let theirs = llvm_bin().join("../lib/libomp.so.5");
    let (theirs, ours) = (
        dynamic(&theirs, true)?,
        dynamic(&library()?.join("libomp.so.5"), true)?,
    );
    let lacking: Vec<&String> = theirs.difference(&ours).collect();
    let row = |name: &str| {
        LEFT_OUT
            .iter()
            .position(|(start, _)| name.starts_with(start))
    };
    let known = |name: &&&String| {
        row(name).is_some_and(|at| at + 1 < LEFT_OUT.len() || DEBUGGING.contains(&name.as_str()))
    };
    let new: Vec<_> = lacking.iter().filter(|name| !known(name)).collect();
    if !new.is_empty() {
        return Err(format!("libomp has these, the library has not: {new:?}"));
    }
    let stale = (0..LEFT_OUT.len()).find(|&at| !lacking.iter().any(|name| row(name) == Some(at)));
    match stale {
        Some(at) => Err(format!("nothing lacks of `{}...` any more", LEFT_OUT[at].0)),
        None => Ok(()),
    }
}

const WHERE: &str = "\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
int main(void) {
  int threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : threads)
  threads++;
  Dl_info info;
  dladdr((void *)omp_get_thread_num, &info);
  printf(\"%d %s\\n\", threads, info.dli_fname);
  return 0;
}
";

/// Builds a native program that prints the path of its OpenMP library.
fn asking() -> Result<PathBuf, String> {
    let source = compile::source("dropin", "where.c", WHERE)?;
    let flags = ["-O1".to_owned(), "-fopenmp".to_owned()];
    compile::native(&compile::bitcode(&source, &flags)?, &flags)
}

fn says(ran: &Ran) -> Result<(), String> {
    let expected = format!("3 {}\n", library()?.join("libomp.so.5").display());
    if ran.end == End::Exit(0) && ran.stdout == expected && ran.stderr.is_empty() {
        return Ok(());
    }
    Err(format!("should print {expected}{}", ran.summary()))
}

/// Checks that the library has the symbol version that programs need: the loader prints no warning.
fn versions() -> Result<(), String> {
    let program = asking()?;
    let mut readelf = Command::new(llvm_bin().join("llvm-readelf"));
    let asks = run(readelf.arg("-V").arg(&program), "", LIMIT)?;
    if !asks.stdout.contains("Name: VERSION") {
        return Err(format!(
            "the program asks for no version, so nothing is tested:\n{}",
            asks.stdout
        ));
    }
    says(&run(on_it(&program)?.env("LD_BIND_NOW", "1"), "", LIMIT)?)
}

/// Checks that `LD_PRELOAD` makes it override an installed libomp.
fn preloaded() -> Result<(), String> {
    let mut command = Command::new(asking()?);
    command.env("LD_PRELOAD", library()?.join("libomp.so.5"));
    says(&run(&mut command, "", LIMIT)?)
}

const OPENS: &str = "\
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  for (int i = 0; i < 3; i++) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library)
      return puts(dlerror());
    long (*sum)(int, long) = (long (*)(int, long))dlsym(library, \"native_sum\");
    printf(\"%ld\\n\", sum(3, 100));
    dlclose(library);
    usleep(20000);
  }
  return 0;
}
";

/// Checks that a library that depends on it can be closed while the threads of its regions wait.
fn closed() -> Result<(), String> {
    let source = compile::source("dropin", "opens.c", OPENS)?;
    let program = compile::native(&compile::bitcode(&source, &["-O1".to_owned()])?, &[])?;
    let brings = crate::neighbours::native(&llvm_bin().join("clang"), "closed", &["-DALONE"])?;
    let mut command = on_it(&program)?;
    let ran = run(command.arg(brings), "", LIMIT)?;
    if ran.end == End::Exit(0) && ran.stdout == "5050\n".repeat(3) {
        return Ok(());
    }
    Err(ran.summary())
}
