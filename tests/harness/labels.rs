//! Functions that jump to labels' addresses: the programs of `pass/labels` give their result in
//! every tier, and LLVM compiles these functions.

use crate::compile;
use crate::run::{End, LIMIT, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::path::Path;
use std::process::Command;

/// Programs, each with its functions that jump to labels.
const PROGRAMS: [(&str, &[&str]); 3] = [
    ("tables.c", &["by_address", "by_distance", "by_variable"]),
    ("stored.c", &["step", "threaded", "label"]),
    ("opcodes.cpp", &["run"]),
];

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let trial = |(program, functions): (&'static str, &'static [&str])| {
        Trial::test(format!("labels/{program}"), move || {
            Ok(["-O0", "-O2"]
                .iter()
                .try_for_each(|level| check(program, functions, level))?)
        })
    };
    PROGRAMS.into_iter().map(trial).collect()
}

fn check(program: &str, functions: &[&str], level: &str) -> Result<(), String> {
    let source = root().join("tests/pass/labels").join(program);
    let flags = [level, "-fopenmp", "-Wno-return-stack-address"];
    let bitcode = compile::bitcode(&source, &flags.map(str::to_owned))?;
    for tier in ["interp", "baseline", "auto"] {
        said(&bitcode, &[&format!("--tier={tier}")])?;
    }
    for function in functions {
        let said = said(&bitcode, &["--tier=opt", "--explain", function])?;
        if !said.contains("compiled for its callers") {
            return Err(format!("`{function}` is not compiled at {level}: {said}"));
        }
    }
    // Jumpers above and below, so that labels pass between the tiers.
    for function in functions {
        let mut command = Command::new(ompvm());
        command.env("OMPVM_INTERPRET", function);
        checked(command, &bitcode, &["--tier=opt"])?;
    }
    Ok(())
}

/// Runs a program that prints `ok`, and returns what ompvm says.
fn said(bitcode: &Path, options: &[&str]) -> Result<String, String> {
    checked(Command::new(ompvm()), bitcode, options)
}

fn checked(mut command: Command, bitcode: &Path, options: &[&str]) -> Result<String, String> {
    command
        .args(["run", "--no-cache"])
        .args(options)
        .arg(bitcode);
    let ran = run(&mut command, "", LIMIT)?;
    match ran.end == End::Exit(0) && ran.stdout == "ok\n" {
        true => Ok(ran.stderr),
        false => Err(ran.summary()),
    }
}
