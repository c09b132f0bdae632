//! Runs programs under a time limit and captures their results.
//!
//! A program that hangs counts as a finding, too. Judging the results is left to the callers.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Status and output of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedRun {
    /// Exit status, or the negated signal number.
    pub status: i32,
    /// True if the program was killed at the time limit.
    pub timed_out: bool,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl TimedRun {
    /// Returns true if two runs have the same observable behavior.
    pub fn agrees(&self, other: &TimedRun) -> bool {
        self.status == other.status
            && self.timed_out == other.timed_out
            && self.stdout == other.stdout
    }

    /// Describes how the program ended.
    pub fn end(&self) -> String {
        match self.status {
            _ if self.timed_out => "ran too long".into(),
            s if s < 0 => format!("died by signal {}", -s),
            s => format!("exited with {s}"),
        }
    }
}

/// Runs a command to completion or to the time limit, in its own process group, with its output in
/// files under `dir`.
pub fn run(command: &mut Command, dir: &Path, limit: Duration) -> Result<TimedRun, String> {
    run_watched(command, dir, limit, &mut |_| {})
}

/// Like [`run`], but calls `late` with the process id before the process is killed at the limit.
pub fn run_watched(
    command: &mut Command,
    dir: &Path,
    limit: Duration,
    late: &mut dyn FnMut(u32),
) -> Result<TimedRun, String> {
    let text = |e: std::io::Error| e.to_string();
    let file = |kind: &str| -> Result<File, String> {
        let path: PathBuf = dir.join(format!("{kind}{:?}", std::thread::current().id()));
        let open = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path);
        open.map_err(|e| format!("{}: {e}", path.display()))
    };
    let (mut out, mut err) = (file("out")?, file("err")?);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.try_clone().map_err(text)?)
        .stderr(err.try_clone().map_err(text)?)
        .process_group(0)
        .spawn()
        .map_err(|e| format!("{command:?}: {e}"))?;
    let start = Instant::now();
    let mut pause = Duration::from_micros(500);
    let mut timed_out = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(text)? {
            break status
                .code()
                .unwrap_or_else(|| -status.signal().unwrap_or(0));
        }
        if start.elapsed() > limit {
            late(child.id());
            // SAFETY: the child leads its process group and has not been waited for, so its id is
            // still valid.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
            let _ = child.wait();
            timed_out = true;
            break -libc::SIGKILL;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    let read = |file: &mut File| {
        let mut bytes = Vec::new();
        file.rewind().map_err(text)?;
        file.take(4 << 20).read_to_end(&mut bytes).map_err(text)?;
        Ok::<_, String>(bytes)
    };
    Ok(TimedRun {
        status,
        timed_out,
        stdout: read(&mut out)?,
        stderr: read(&mut err)?,
    })
}

/// Writes a file. Errors contain its name.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), String> {
    File::create(path)
        .and_then(|mut f| f.write_all(bytes.as_ref()))
        .map_err(|e| format!("{}: {e}", path.display()))
}

/// Replaces a file atomically.
pub fn replace(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), String> {
    let part = path.with_extension("part");
    write(&part, bytes)?;
    std::fs::rename(&part, path).map_err(|e| format!("{}: {e}", path.display()))
}
