//! Tells profilers and debuggers of compiled code.
//!
//! What: an [`Agent`] per tool, told of each object when its code is at its place. Tools are
//! switched on for the whole process, before anything is compiled, as the processes that look at
//! it see only one. Why agents: what perf and gdb want to know has nothing in common.
//!
//! What not: interpreted code; there is no machine code that could stand for it.

mod gdb;
mod jitdump;
mod perf_map;

use super::lines::Lines;
use super::link;
use crate::llvm::native::Debug;
use parking_lot::RwLock;
use std::any::Any;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// A tool that looks at compiled code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// `perf report`, by `/tmp/perf-PID.map`: names.
    PerfMap,
    /// `perf inject --jit`, by `jit-PID.dump`: names, lines, code.
    JitDump,
    /// gdb and lldb, by gdb's JIT interface: everything.
    Gdb,
}

/// A compiled function at its place.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// Its name in the program.
    pub name: &'a str,
    /// Its number in the module.
    pub number: u32,
    /// Where it starts.
    pub address: usize,
    /// Bytes.
    pub size: usize,
}

/// An object whose code is at its place.
#[derive(Debug)]
pub struct Loaded<'a> {
    /// The object file.
    pub object: &'a [u8],
    /// Where its sections are.
    pub code: &'a link::Code,
    /// Its functions.
    pub functions: &'a [Named<'a>],
    /// Their lines.
    pub lines: &'a Lines,
}

/// What a tool keeps as long as the code is there.
pub type Kept = Box<dyn Any + Send + Sync>;

/// Tells one tool.
pub trait Agent: Send + Sync {
    /// Code is there and not yet entered.
    ///
    /// # Errors
    /// What the system refused.
    fn loaded(&self, what: &Loaded<'_>) -> io::Result<Option<Kept>>;
}

static AGENTS: RwLock<Vec<Box<dyn Agent>>> = RwLock::new(Vec::new());
static DEBUGGER: AtomicBool = AtomicBool::new(false);

/// Switches a tool on for this process.
///
/// # Errors
/// What the system refused.
pub fn enable(tool: Tool) -> io::Result<()> {
    let agent: Box<dyn Agent> = match tool {
        Tool::PerfMap => Box::new(perf_map::PerfMap::new()?),
        Tool::JitDump => Box::new(jitdump::JitDump::new()?),
        Tool::Gdb => {
            DEBUGGER.store(true, Ordering::Relaxed);
            Box::new(gdb::Gdb)
        }
    };
    AGENTS.write().push(agent);
    Ok(())
}

/// What the tools that are on need in compiled code.
pub fn debug() -> Debug {
    match DEBUGGER.load(Ordering::Relaxed) {
        true => Debug::Full,
        false => Debug::Lines,
    }
}

/// Whether any tool wants to know.
pub fn listening() -> bool {
    !AGENTS.read().is_empty()
}

/// What all tools keep for one object.
#[derive(Default)]
pub struct Announced {
    _kept: Vec<Kept>,
}

impl fmt::Debug for Announced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Announced")
    }
}

/// Tells every tool of an object; one that fails is left out, and says so once.
pub fn announce(what: &Loaded<'_>) -> Announced {
    static FAILED: AtomicBool = AtomicBool::new(false);
    let mut kept = Vec::new();
    for agent in AGENTS.read().iter() {
        match agent.loaded(what) {
            Ok(one) => kept.extend(one),
            Err(why) if !FAILED.swap(true, Ordering::Relaxed) => {
                eprintln!("ompvm: a tool cannot be told of compiled code: {why}");
            }
            Err(_) => {}
        }
    }
    Announced { _kept: kept }
}
