//! Running other programs, and what errors of theirs look like.
//!
//! What not: how a run is measured (the crate `ompvm-measure`, which `ompvm compare` uses, too).

use ompvm_measure::{Run, Spread};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask has a parent")
        .to_owned()
}

/// Runs a command to its end with our own output.
pub fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|e| describe_start(command, &e))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", show(command)))
    }
}

/// Runs a command and returns what it printed.
pub fn capture(command: &mut Command) -> Result<Output, String> {
    command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| describe_start(command, &e))
}

/// Like [`capture`], but an unsuccessful end is an error with the output's end.
pub fn capture_ok(command: &mut Command) -> Result<String, String> {
    let output = capture(command)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let tail: Vec<&str> = text.lines().rev().take(12).collect();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
    Err(format!(
        "{} ended with {}\n{}",
        show(command),
        output.status,
        tail.join("\n")
    ))
}

fn describe_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start {}: {error}", show(command))
}

/// The command as one would type it.
pub fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a command once and measures it; an unsuccessful end is an error with the output's end.
pub fn measure_ok(command: &mut Command) -> Result<Run, String> {
    let run = ompvm_measure::run(command)?;
    if run.success() {
        return Ok(run);
    }
    let all: Vec<&str> = run.stdout.lines().chain(run.stderr.lines()).collect();
    Err(format!(
        "{} failed:\n{}",
        show(command),
        all[all.len().saturating_sub(20)..].join("\n")
    ))
}

/// The median.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    Spread::of(values).median
}

/// The geometric mean.
pub fn geomean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, n) = values
        .into_iter()
        .fold((0.0, 0), |(s, n), v| (s + v.ln(), n + 1));
    (sum / f64::from(n)).exp()
}
