//! Running other programs and measuring them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::FromRawFd;
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
    /// Largest resident set, in megabytes.
    pub peak: f64,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// Whether it ended with status 0.
    pub success: bool,
}

/// Runs a command once and measures it as a whole process. Its output goes to files in memory, so
/// that no reader competes for the processor.
pub fn measure(command: &mut Command) -> Result<Measured, String> {
    let (mut out, mut err) = (memory_file()?, memory_file()?);
    let share = |f: &File| f.try_clone().map_err(|e| e.to_string());
    command
        .stdin(Stdio::null())
        .stdout(share(&out)?)
        .stderr(share(&err)?);
    let start = Instant::now();
    let child = command.spawn().map_err(|e| describe_start(command, &e))?;
    let pid = i32::try_from(child.id()).map_err(|e| e.to_string())?;
    let mut status = 0;
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: waits for a child that nobody else waits for, into variables of ours.
    while unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } != pid {
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(format!("cannot wait for {}: {error}", show(command)));
        }
    }
    let wall = start.elapsed().as_secs_f64();
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    Ok(Measured {
        wall,
        cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        peak: usage.ru_maxrss as f64 * 1024e-6,
        stdout: text(&mut out)?,
        stderr: text(&mut err)?,
        success: libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
    })
}

/// Like [`measure`]; an unsuccessful end is an error with the output's end.
pub fn measure_ok(command: &mut Command) -> Result<Measured, String> {
    let measured = measure(command)?;
    if measured.success {
        return Ok(measured);
    }
    let all: Vec<&str> = measured
        .stdout
        .lines()
        .chain(measured.stderr.lines())
        .collect();
    Err(format!(
        "{} failed:\n{}",
        show(command),
        all[all.len().saturating_sub(20)..].join("\n")
    ))
}

fn memory_file() -> Result<File, String> {
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::memfd_create(c"output".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(format!(
            "cannot make a file in memory: {}",
            std::io::Error::last_os_error()
        ));
    }
    // SAFETY: just opened, and nobody else has it.
    Ok(unsafe { File::from_raw_fd(fd) })
}

fn text(file: &mut File) -> Result<String, String> {
    let mut bytes = Vec::new();
    file.rewind()
        .and_then(|()| file.read_to_end(&mut bytes))
        .map_err(|e| format!("cannot read back a program's output: {e}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
