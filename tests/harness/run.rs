//! Runs a program to its end under a time limit, with its output in files.
//!
//! The program gets a process group, so that processes which a guest leaves behind end with it.
//! Measures nothing.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::time::{Duration, Instant};

/// The end of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// An exit with this status.
    Exit(i32),
    /// A death by this signal.
    Signal(i32),
    /// Killed by the harness at the time limit.
    TimedOut,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The end of the program.
    pub end: End,
}

impl Ran {
    /// Formats the end and the last lines of both outputs for failure messages.
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

/// Runs a command with `stdin`, for at most `limit`, in a separate process group.
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
    let mut hung = String::new();
    let mut pause = Duration::from_micros(500);
    let end = loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            break match status.code() {
                Some(code) => End::Exit(code),
                None => End::Signal(status.signal().unwrap_or(0)),
            };
        }
        if start.elapsed() > limit {
            hung = threads(child.id());
            // SAFETY: signals the process group of this child, which was not waited for yet, so its
            // number still belongs to it.
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
        stderr: text(&mut err)? + &hung,
        end,
    })
}

/// Describes where each thread of a process stands, a line per thread: its name and state, and the
/// system call that it waits in with the arguments (proc(5), `syscall`). A hang that is seen once
/// in ten thousand runs leaves nothing else behind.
fn threads(process: u32) -> String {
    let mut lines =
        String::from("threads at the time limit (number, arguments, stack, counter):\n");
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    for task in tasks.into_iter().flatten().flatten() {
        let read = |name: &str| {
            let text = std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
            text.trim().to_owned()
        };
        let state = read("status");
        let state = state.lines().find(|line| line.starts_with("State:"));
        lines += &format!(
            "  {} {}: {}; {}\n",
            task.file_name().display(),
            read("comm"),
            state.unwrap_or_default(),
            read("syscall")
        );
    }
    lines
}

/// The usual time limit of one guest.
pub const LIMIT: Duration = Duration::from_secs(120);
