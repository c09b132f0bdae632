//! Bars of long steps: a terminal shows one and nothing of it stays; a pipe, a dumb terminal and
//! messages as JSON see none.
//!
//! The guests make the steps long: one has many functions to compile, one sleeps. No time is checked.

use crate::compile::{self, llvm_bin};
use crate::ompvm;
use crate::run::{End, LIMIT, Ran, run};
use libtest_mimic::Trial;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

/// Number of functions whose compilation takes seconds.
const FUNCTIONS: usize = 800;

/// Erases the line that the cursor is on.
const ERASE: &str = "\r\x1b[2K";

const SLEEPS: &str = "#include <stdio.h>\n#include <unistd.h>\n\
    int main(void) { usleep(400000); puts(\"slept\"); return 0; }\n";

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("progress/run", || Ok(first_run()?)),
        Trial::test("progress/compile", || Ok(compile_command()?)),
        Trial::test("progress/compare", || Ok(compare()?)),
        Trial::test("progress/short", || Ok(short()?)),
    ]
}

/// Builds a program of many functions, which it only calls with arguments.
fn large() -> Result<PathBuf, String> {
    let mut text = String::from(
        "#include <stdio.h>\n#define N 64\nstatic double a[N][N], b[N][N], c[N][N];\n",
    );
    let mut calls = String::new();
    for i in 0..FUNCTIONS {
        let _ = writeln!(
            text,
            "__attribute__((noinline)) void f{i}(int n) {{\n\
             for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ double s = {i};\n\
             for (int k = 0; k < n; k++) s += a[i][k] * b[k][j] + c[j][k] / (s + {i}.5);\n\
             if (s > {i}.25) c[i][j] = s; else b[j][i] -= s * a[i][j]; }} }}"
        );
        let _ = write!(calls, "f{i}(argc);");
    }
    let _ = writeln!(
        text,
        "int main(int argc, char **argv) {{\n\
         puts(\"the guest prints\"); fprintf(stderr, \"and to the terminal\\n\");\n\
         if (argc > 1) {{ {calls} }}\nreturn 7; }}"
    );
    let source = compile::source("progress", "large.c", &text)?;
    compile::bitcode(&source, &["-O1".to_owned(), "-fopenmp".to_owned()])
}

/// Runs ompvm with a cache of its own: on a terminal, or with both outputs in files.
fn start(words: &str, terminal: bool, variables: &[(&str, &str)]) -> Result<Ran, String> {
    let cache = tempfile::tempdir().map_err(|e| e.to_string())?;
    let line = format!("{} {words}", ompvm().display());
    let mut command = match terminal {
        true => Command::new("script"),
        false => Command::new("sh"),
    };
    match terminal {
        true => command.args(["-qec", &line, "/dev/null"]),
        false => command.args(["-c", &line]),
    };
    command
        .env("OMPVM_CACHE_DIR", cache.path())
        .env("TERM", "xterm")
        .envs(variables.iter().copied());
    run(&mut command, "", LIMIT)
}

/// Checks that a terminal saw a bar with these words, and that after the last of it comes an erased
/// line with `rest`.
fn shows(ran: &Ran, words: &[&str], rest: &str) -> Result<(), String> {
    let text = &ran.stdout;
    if let Some(word) = words.iter().find(|word| !text.contains(**word)) {
        return Err(format!("should show `{word}`: {text:?}"));
    }
    let last = text.rfind(ERASE).map(|at| &text[at + ERASE.len()..]);
    match last {
        Some(last) if last == rest => Ok(()),
        _ => Err(format!("should end with {rest:?}: {text:?}")),
    }
}

/// Checks that nothing of a bar was written.
fn shows_none(ran: &Ran) -> Result<(), String> {
    let text = format!("{}{}", ran.stdout, ran.stderr);
    match text.contains('\x1b') || text.contains("steps") || text.contains("runs [") {
        true => Err(format!("should show no bar: {}", ran.summary())),
        false => Ok(()),
    }
}

fn first_run() -> Result<(), String> {
    let words = format!("run --tier=opt {}", large()?.display());
    let guest = "the guest prints\r\nand to the terminal\r\n";
    let ran = start(&words, true, &[])?;
    shows(&ran, &["compiling 801 functions [", "/"], guest)?;
    let before = ran.stdout.split("the guest").next().unwrap_or("");
    if !before.contains("steps") || ran.end != End::Exit(7) {
        return Err(ran.summary());
    }
    for variables in [("TERM", "dumb"), ("OMPVM_MESSAGE_FORMAT", "json")] {
        let ran = start(&words, true, &[variables])?;
        shows_none(&ran)?;
        if ran.stdout != guest {
            return Err(ran.summary());
        }
    }
    let ran = start(&words, false, &[])?;
    shows_none(&ran)?;
    match ran.stderr == "and to the terminal\n" {
        true => Ok(()),
        false => Err(ran.summary()),
    }
}

fn compile_command() -> Result<(), String> {
    let words = format!("compile {}", large()?.display());
    let ran = start(&words, true, &[])?;
    shows(&ran, &["compiling 801 functions [", "/"], "")?;
    // Put text after the bar on a line of its own.
    let words = format!("compile --stats {}", large()?.display());
    let ran = start(&words, true, &[])?;
    let after = ran.stdout.rsplit(ERASE).next().unwrap_or("");
    if !ran.stdout.contains("steps") || after.trim().is_empty() || after.contains("[=") {
        return Err(ran.summary());
    }
    let ran = start(&words, false, &[])?;
    shows_none(&ran)
}

fn compare() -> Result<(), String> {
    let source = compile::source("progress", "sleeps.c", SLEEPS)?;
    let bitcode = compile::bitcode(&source, &["-O1".to_owned(), "-fopenmp".to_owned()])?;
    let words = format!(
        "compare --clang {} --runs=2 --warmup=1 {}",
        llvm_bin().join("clang").display(),
        bitcode.display()
    );
    let ran = start(&words, true, &[])?;
    if ran.end != End::Exit(0) {
        return Err(ran.summary());
    }
    for word in ["running ompvm [", "running native [", "/6 runs"] {
        if !ran.stdout.contains(word) {
            return Err(format!("should show `{word}`: {:?}", ran.stdout));
        }
    }
    let after = ran.stdout.rsplit(ERASE).next().unwrap_or("");
    if after.contains("runs [") || !after.contains("ompvm") {
        return Err(format!("{:?}", ran.stdout));
    }
    shows_none(&start(&words, false, &[])?)
}

/// A step that ends at once shows no bar on a terminal either.
fn short() -> Result<(), String> {
    let text = "#include <stdio.h>\nint main(void) { puts(\"short\"); return 0; }\n";
    let source = compile::source("progress", "short.c", text)?;
    let bitcode = compile::bitcode(&source, &["-O1".to_owned(), "-fopenmp".to_owned()])?;
    let words = format!("run --tier=opt {}", bitcode.display());
    let ran = start(&words, true, &[])?;
    match ran.stdout == "short\r\n" {
        true => Ok(()),
        false => Err(ran.summary()),
    }
}
