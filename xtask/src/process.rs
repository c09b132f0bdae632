//! Running other programs and measuring them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

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

/// One whole-process measurement.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Wall-clock seconds.
    pub wall: f64,
    /// User plus system seconds.
    pub cpu: f64,
    /// What it wrote to standard output.
    pub stdout: String,
    /// Whether it ended with status 0.
    pub success: bool,
}

/// Runs a command once and measures it as a whole process.
pub fn measure(command: &mut Command) -> Result<Measured, String> {
    let before = children_cpu();
    let start = Instant::now();
    let output = capture(command)?;
    let wall = start.elapsed().as_secs_f64();
    Ok(Measured {
        wall,
        cpu: children_cpu() - before,
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        success: output.status.success(),
    })
}

fn children_cpu() -> f64 {
    // SAFETY: getrusage fills the structure it is given; all-zero is a valid value of it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// The median.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut v: Vec<f64> = values.into_iter().collect();
    v.sort_by(f64::total_cmp);
    match v.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => v[n / 2],
        n => (v[n / 2 - 1] + v[n / 2]) / 2.0,
    }
}

/// The geometric mean.
pub fn geomean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, n) = values
        .into_iter()
        .fold((0.0, 0), |(s, n), v| (s + v.ln(), n + 1));
    (sum / f64::from(n)).exp()
}
