//! Writes `/tmp/perf-PID.map`, in which perf looks up the names of code that no file holds: a line
//! per function with its start and size in hexadecimal and its name (Linux,
//! tools/perf/Documentation/jit-interface.txt).
//!
//! Lines and code are not included: `perf annotate` needs a jitdump.

use super::{Agent, AgentState, Loaded, NamedFunction};
use ompvm_support::write_signal::NoWriteSignal;
use parking_lot::Mutex;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

/// Path of the file. Each write opens the file, because compile threads do not share descriptors.
pub struct PerfMap {
    path: Mutex<PathBuf>,
}

impl PerfMap {
    /// Creates the file, or appends to one that another agent of this process created.
    pub fn new() -> io::Result<PerfMap> {
        let path = PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()));
        OpenOptions::new().create(true).append(true).open(&path)?;
        Ok(PerfMap {
            path: Mutex::new(path),
        })
    }
}

impl PerfMap {
    fn write(&self, functions: &[NamedFunction<'_>], mark: &str) -> io::Result<()> {
        let line =
            |f: &NamedFunction<'_>| format!("{:x} {:x} {}{mark}\n", f.address, f.size, f.name);
        let text: String = functions.iter().map(line).collect();
        let _no_signal = NoWriteSignal::begin();
        // A single write, so that a reader never sees half a line.
        let path = self.path.lock();
        let mut file = OpenOptions::new().append(true).open(&*path)?;
        file.write_all(text.as_bytes())
    }
}

impl Agent for PerfMap {
    fn loaded(&self, what: &Loaded<'_>) -> io::Result<Option<AgentState>> {
        self.write(what.functions, "")?;
        Ok(None)
    }

    fn placed(&self, functions: &[NamedFunction<'_>]) -> io::Result<()> {
        self.write(functions, " (interpreted)")
    }
}
