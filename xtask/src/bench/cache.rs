//! The state of ompvm's code cache during a benchmark: a folder of its own, so that neither the
//! user's cache nor an earlier benchmark has any influence.

use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Contents of the cache at the start of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Cache {
    /// Empty: cleared before every run.
    Empty,
    /// Filled by plain runs, until one adds nothing new.
    Warm,
    /// Filled by `ompvm compile` of the whole program.
    Compiled,
    /// Disabled.
    Off,
}

impl Cache {
    /// Returns its name as typed.
    pub fn name(self) -> &'static str {
        match self {
            Cache::Empty => "empty",
            Cache::Warm => "warm",
            Cache::Compiled => "compiled",
            Cache::Off => "off",
        }
    }
}

/// Maximum number of plain runs that fill a cache.
const MOST_RUNS: usize = 10;

/// A folder for `OMPVM_CACHE_DIR`, removed when dropped.
#[derive(Debug)]
pub struct CacheFolder {
    path: PathBuf,
    state: Cache,
    can_be_off: bool,
}

impl CacheFolder {
    /// Creates the folder; `ompvm` is asked whether it has `--no-cache`.
    pub fn new(state: Cache, ompvm: &Path) -> CacheFolder {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "ompvm-bench-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let help = Command::new(ompvm).args(["run", "--help"]).output();
        let can_be_off =
            help.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("--no-cache"));
        CacheFolder {
            path: std::env::temp_dir().join(name),
            state,
            can_be_off,
        }
    }

    /// Fills the cache by `ompvm compile` if the state requires it.
    pub fn fill(&self, ompvm: &Path, options: &[&str], file: &Path) -> Result<(), String> {
        if self.state != Cache::Compiled {
            return Ok(());
        }
        let mut command = Command::new(ompvm);
        command.arg("compile").args(options);
        self.apply(&mut command)?;
        crate::process::run(command.arg(file))
    }

    /// Fills the cache by plain runs until one adds nothing new, if the state requires it. Returns
    /// their number.
    pub fn warm(&self, run: impl Fn() -> Result<(), String>) -> Result<usize, String> {
        if self.state != Cache::Warm {
            return Ok(0);
        }
        let mut kept = Vec::new();
        for n in 1..=MOST_RUNS {
            run()?;
            let now = content(&self.path);
            if now == kept {
                return Ok(n);
            }
            kept = now;
        }
        Ok(MOST_RUNS)
    }

    /// Prepares the folder and the command for one run.
    pub fn apply(&self, command: &mut Command) -> Result<(), String> {
        if !matches!(self.state, Cache::Warm | Cache::Compiled) {
            let _ = std::fs::remove_dir_all(&self.path);
        }
        std::fs::create_dir_all(&self.path).map_err(|e| format!("{}: {e}", self.path.display()))?;
        command.env("OMPVM_CACHE_DIR", &self.path);
        if self.state == Cache::Off && self.can_be_off {
            command.arg("--no-cache");
        }
        Ok(())
    }
}

/// Returns the files below a folder with their sizes and times.
fn content(folder: &Path) -> Vec<(PathBuf, u64, Option<SystemTime>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => files.extend(content(&entry.path())),
            Ok(meta) => files.push((entry.path(), meta.len(), meta.modified().ok())),
            Err(_) => {}
        }
    }
    files.sort();
    files
}

impl Drop for CacheFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
