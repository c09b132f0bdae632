//! Measures one run of a program as a process: wall clock, processor time, peak memory, output.
//!
//! `ompvm compare` and the repository's benchmarks share this crate, and the latter must not link
//! LLVM. `wait4` reports the resource usage of exactly one child. Comparisons and statistics beyond
//! [`Spread`] are left to the callers.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Seek};
use std::os::fd::FromRawFd;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Exit status of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Exited with this status.
    Exit(i32),
    /// Killed by this signal.
    Signal(i32),
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Exit(status) => write!(f, "exit status {status}"),
            End::Signal(number) => write!(f, "signal {number}"),
        }
    }
}

/// Measurements of one run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Wall-clock time in seconds, from before the start to after the end.
    pub wall: f64,
    /// User plus system time of all threads in seconds.
    pub cpu: f64,
    /// Peak resident set size in bytes.
    pub peak: u64,
    /// Exit status.
    pub end: End,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Run {
    /// Returns true if it exited with status 0.
    pub fn success(&self) -> bool {
        self.end == End::Exit(0)
    }

    /// Returns the peak resident set size in megabytes (10^6 bytes).
    pub fn megabytes(&self) -> f64 {
        self.peak as f64 * 1e-6
    }
}

/// Runs a command once, without input. Its output goes to files in memory, so that no reading
/// process competes for processor time.
///
/// # Errors
/// The reason why the command could not be started or waited for.
pub fn run(command: &mut Command) -> Result<Run, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let share = |f: &File| f.try_clone().map_err(|e| e.to_string());
    let (mut out, mut err) = (memory_file()?, memory_file()?);
    command.stdout(share(&out)?).stderr(share(&err)?);
    command.stdin(Stdio::null());
    let start = Instant::now();
    let child = command
        .spawn()
        .map_err(|e| format!("cannot start {program}: {e}"))?;
    let pid = i32::try_from(child.id()).map_err(|e| e.to_string())?;
    let mut status = 0;
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `pid` is a child that is not waited for elsewhere; both result pointers are valid.
    while unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } != pid {
        let error = Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(format!("cannot wait for {program}: {error}"));
        }
    }
    let wall = start.elapsed().as_secs_f64();
    let end = if libc::WIFSIGNALED(status) {
        End::Signal(libc::WTERMSIG(status))
    } else {
        End::Exit(libc::WEXITSTATUS(status))
    };
    Ok(Run {
        wall,
        cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        peak: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
        end,
        stdout: text(&mut out)?,
        stderr: text(&mut err)?,
    })
}

fn memory_file() -> Result<File, String> {
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::memfd_create(c"output".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        let error = Error::last_os_error();
        return Err(format!("cannot make a file in memory: {error}"));
    }
    // SAFETY: the descriptor was just opened and has no other owner.
    Ok(unsafe { File::from_raw_fd(fd) })
}

fn seconds(t: libc::timeval) -> f64 {
    t.tv_sec as f64 + t.tv_usec as f64 * 1e-6
}

fn text(file: &mut File) -> Result<String, String> {
    let mut bytes = Vec::new();
    file.rewind()
        .and_then(|()| file.read_to_end(&mut bytes))
        .map_err(|e| format!("cannot read back a program's output: {e}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Median, minimum and maximum of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
}

impl Spread {
    /// Computes the spread of at least one value; without values all fields are NaN.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Spread {
        let mut v: Vec<f64> = values.into_iter().collect();
        v.sort_by(f64::total_cmp);
        let n = v.len();
        if n == 0 {
            return Spread {
                median: f64::NAN,
                min: f64::NAN,
                max: f64::NAN,
            };
        }
        Spread {
            median: (v[(n - 1) / 2] + v[n / 2]) / 2.0,
            min: v[0],
            max: v[n - 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        let s = Spread::of([3.0, 1.0, 2.0]);
        assert_eq!((s.min, s.median, s.max), (1.0, 2.0, 3.0));
        assert_eq!(Spread::of([1.0, 2.0]).median, 1.5);
        assert!(Spread::of([]).median.is_nan());
    }

    #[test]
    fn a_run_is_measured() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let run = run(&mut command).unwrap();
        assert_eq!(run.end, End::Exit(3));
        assert!(!run.success());
        assert_eq!((&*run.stdout, &*run.stderr), ("out\n", "err\n"));
        assert!(run.wall > 0.0 && run.peak > 0);
        let mut killed = Command::new("/bin/sh");
        killed.args(["-c", "kill -9 $$"]);
        assert_eq!(super::run(&mut killed).unwrap().end, End::Signal(9));
    }
}
