//! The location of the measured programs: this repository, or a folder that `--pack` prepared for a
//! machine without compilers. A pack has the same paths under another root, and the libraries.
//!
//! Both sides are bound to cores by their own runtimes; unbound threads may share a core for a
//! while.

use super::cache::CacheFolder;
use crate::dist;
use crate::npb::{self, Class, Form, Name};
use crate::process::root;
use crate::setup::{self, Tools};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment of every measured program, printed with the tables.
pub const BINDING: [(&str, &str); 2] = [("OMP_PROC_BIND", "close"), ("OMP_PLACES", "cores")];

/// Path of ompvm in a pack.
pub const PACKED: &str = "bin/ompvm";

/// A root folder of programs to measure.
#[derive(Debug)]
pub struct BenchRoot {
    root: PathBuf,
    ompvm: PathBuf,
    /// `None` in a pack.
    pub tools: Option<Tools>,
}

impl BenchRoot {
    /// Opens the pack `from`, or builds ompvm in this repository.
    pub fn find(from: Option<&Path>) -> Result<BenchRoot, String> {
        if let Some(from) = from {
            let root = from
                .canonicalize()
                .map_err(|e| format!("{}: {e}", from.display()))?;
            return Ok(BenchRoot {
                ompvm: root.join(PACKED),
                root,
                tools: None,
            });
        }
        let tools = setup::ensure()?;
        Ok(BenchRoot {
            root: root(),
            ompvm: dist::for_measurement(&tools)?,
            tools: Some(tools),
        })
    }

    /// Returns the path of the measured ompvm.
    pub fn ompvm_path(&self) -> &Path {
        &self.ompvm
    }

    /// Returns the path of a file under this root.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Returns one form of a benchmark; builds it if this is the repository.
    pub fn form(&self, name: Name, class: Class, form: Form) -> Result<PathBuf, String> {
        if let Some(tools) = &self.tools {
            return npb::build_form(tools, name, class, form);
        }
        let path = self.root.join(form.path(name, class));
        if path.exists() {
            Ok(path)
        } else {
            Err(format!(
                "{} was not packed (pack with --class {})",
                path.display(),
                class.letter()
            ))
        }
    }

    /// Returns a command with the environment that both sides share.
    pub fn command(&self, program: &Path, threads: usize) -> Command {
        let mut command = Command::new(program);
        command
            .env("OMP_NUM_THREADS", threads.to_string())
            .envs(BINDING);
        if self.tools.is_none() {
            command.env("LD_LIBRARY_PATH", self.root.join("lib"));
        }
        command
    }

    /// Returns a command that runs a file with ompvm.
    pub fn ompvm(
        &self,
        tier: &str,
        options: &[&str],
        file: &Path,
        threads: usize,
        cache: &CacheFolder,
    ) -> Result<Command, String> {
        let mut command = self.command(&self.ompvm, threads);
        command.arg("run").arg(format!("--tier={tier}"));
        command.args(options);
        cache.apply(&mut command)?;
        command.arg(file);
        Ok(command)
    }
}

/// Describes the processor, its cores and the system, for titles of tables.
pub fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo
        .lines()
        .find_map(|l| l.strip_prefix("model name")?.split(": ").nth(1))
        .unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let release = read("/proc/sys/kernel/osrelease");
    format!("{model}, {cores} cores, Linux {}", release.trim())
}
