//! Running a program to its end under a time limit, with its output in files.
//!
//! Why a process group: what a guest leaves behind is ended with it. What not: nothing is
//! measured.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::time::{Duration, Instant};

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// Killed by us: it ran past the limit.
    TimedOut,
}

/// What a run left behind.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// How it ended.
    pub end: End,
}

impl Ran {
    /// For failure messages: the end and the last lines of both outputs.
    pub fn summary(&self) -> String {
        let tail = |text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(15)..].join("\n")
        };
        format!(
            "{:?}\nstdout:\n{}\nstderr:\n{}",
            self.end,
            tail(&self.stdout),
            tail(&self.stderr)
        )
    }
}

/// Runs a command with `stdin`, at most `limit`, in a process group of its own.
pub fn run(command: &mut Command, stdin: &str, limit: Duration) -> Result<Ran, String> {
    let file = || tempfile::tempfile().map_err(|e| format!("a temporary file: {e}"));
    let copy = |f: &File| f.try_clone().map_err(|e| e.to_string());
    let (mut input, mut out, mut err) = (file()?, file()?, file()?);
    input
        .write_all(stdin.as_bytes())
        .map_err(|e| e.to_string())?;
    input.rewind().map_err(|e| e.to_string())?;
    let mut child = command
        .stdin(input)
        .stdout(copy(&out)?)
        .stderr(copy(&err)?)
        .process_group(0)
        .spawn()
        .map_err(|e| format!("{command:?}: {e}"))?;
    let start = Instant::now();
    let mut pause = Duration::from_micros(500);
    let end = loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            break match status.code() {
                Some(code) => End::Exit(code),
                None => End::Signal(status.signal().unwrap_or(0)),
            };
        }
        if start.elapsed() > limit {
            // SAFETY: signals the process group that was made for this child, which we have not
            // waited for yet, so its number is still its own.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
            let _ = child.wait();
            break End::TimedOut;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let text = |file: &mut File| {
        let mut bytes = Vec::new();
        file.rewind()
            .and_then(|()| file.read_to_end(&mut bytes))
            .map_err(|e| e.to_string())?;
        Ok::<_, String>(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Ran {
        stdout: text(&mut out)?,
        stderr: text(&mut err)?,
        end,
    })
}

/// The usual limit for one guest.
pub const LIMIT: Duration = Duration::from_secs(120);
