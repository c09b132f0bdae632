//! Running programs under a time limit, and what came out.
//!
//! Why a limit in time: a program that hangs is a finding, too. What not: no judgement.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a program ended and what it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The exit status, or minus the signal.
    pub status: i32,
    /// Whether we ended it.
    pub timed_out: bool,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl Ran {
    /// Whether two runs agree as far as a user sees.
    pub fn agrees(&self, other: &Ran) -> bool {
        self.status == other.status
            && self.timed_out == other.timed_out
            && self.stdout == other.stdout
    }

    /// How it ended, in words.
    pub fn end(&self) -> String {
        match self.status {
            _ if self.timed_out => "ran too long".into(),
            s if s < 0 => format!("died by signal {}", -s),
            s => format!("exited with {s}"),
        }
    }
}

/// Runs a command to its end or to the limit, in a process group of its own, its output in files
/// under `dir`.
pub fn run(command: &mut Command, dir: &Path, limit: Duration) -> Result<Ran, String> {
    run_watched(command, dir, limit, &mut |_| {})
}

/// [`run`], with `late` called with the process's number before it is ended at the limit.
pub fn run_watched(
    command: &mut Command,
    dir: &Path,
    limit: Duration,
    late: &mut dyn FnMut(u32),
) -> Result<Ran, String> {
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
            // SAFETY: the group was made for this child, which we have not waited for, so its
            // number is still its own.
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
    Ok(Ran {
        status,
        timed_out,
        stdout: read(&mut out)?,
        stderr: read(&mut err)?,
    })
}

/// Writes a file, with its name in the error.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), String> {
    File::create(path)
        .and_then(|mut f| f.write_all(bytes.as_ref()))
        .map_err(|e| format!("{}: {e}", path.display()))
}

/// Replaces a file at once.
pub fn replace(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), String> {
    let part = path.with_extension("part");
    write(&part, bytes)?;
    std::fs::rename(&part, path).map_err(|e| format!("{}: {e}", path.display()))
}
