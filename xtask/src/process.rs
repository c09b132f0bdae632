//! Runs other programs and reports their errors.
//!
//! Measurements are left to the crate `ompvm-measure`, which `ompvm compare` also uses.

use ompvm_measure::{Run, Spread};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask has a parent")
        .to_owned()
}

/// Runs a command to completion with inherited output.
pub fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|e| describe_start(command, &e))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", show(command)))
    }
}

/// Runs a command and returns its output.
pub fn capture(command: &mut Command) -> Result<Output, String> {
    command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| describe_start(command, &e))
}

/// Like [`capture`], but failure is an error that contains the end of the output.
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

/// Formats a command as typed in a shell.
pub fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a command once and measures it. Failure is an error that contains the end of the output.
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

/// Returns the median.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    Spread::of(values).median
}

/// Returns the geometric mean.
pub fn geomean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, n) = values
        .into_iter()
        .fold((0.0, 0), |(s, n), v| (s + v.ln(), n + 1));
    (sum / f64::from(n)).exp()
}
