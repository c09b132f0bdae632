//! Where the programs to measure are: in this repository, or in a folder that `--pack` gathered
//! for a machine without compilers (the same paths under another root, libraries beside them).
//!
//! Both sides are bound to cores, each by its own runtime: unbound, two threads may share a core
//! for tens of milliseconds.

use super::cache::CacheFolder;
use crate::dist;
use crate::npb::{self, Class, Form, Name};
use crate::process::root;
use crate::setup::{self, Tools};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What every measured program finds in its environment, printed with the tables.
pub const BINDING: [(&str, &str); 2] = [("OMP_PROC_BIND", "close"), ("OMP_PLACES", "cores")];

/// Where ompvm is in a folder that was packed.
pub const PACKED: &str = "bin/ompvm";

/// A root to measure in.
#[derive(Debug)]
pub struct Place {
    root: PathBuf,
    ompvm: PathBuf,
    /// None in a folder that was packed elsewhere.
    pub tools: Option<Tools>,
}

impl Place {
    /// The folder `from`, or this repository (with what is newest built).
    pub fn find(from: Option<&Path>) -> Result<Place, String> {
        if let Some(from) = from {
            let root = from
                .canonicalize()
                .map_err(|e| format!("{}: {e}", from.display()))?;
            return Ok(Place {
                ompvm: root.join(PACKED),
                root,
                tools: None,
            });
        }
        let tools = setup::ensure()?;
        Ok(Place {
            root: root(),
            ompvm: dist::best(&tools)?,
            tools: Some(tools),
        })
    }

    /// The program under measurement.
    pub fn ompvm_path(&self) -> &Path {
        &self.ompvm
    }

    /// A file of this place.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// One form of a benchmark, built if this is a place where that can be done.
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

    /// Any program, with the environment that both sides share.
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

    /// ompvm on a file.
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

/// Processor, cores and system, for the title of a table.
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
