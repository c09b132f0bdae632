//! Tells profilers and debuggers of compiled code.
//!
//! What: an [`Agent`] per tool, told of each object when its code is at its place. Tools are
//! switched on for the whole process, before anything is compiled, as the processes that look at
//! it see only one. Why agents: what perf and gdb want to know has nothing in common.
//!
//! What not: interpreted code, of which there is no machine code; but where addresses stand for places
//! in it ([`crate::memory::places`]), whoever keeps names only is told whose they are.

mod gdb;
mod jitdump;
mod perf_map;

use super::lines::Lines;
use crate::ir::FuncId;
use crate::llvm::native::Debug;
use crate::memory::image::Image;
use crate::memory::link;
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

    /// Addresses stand for places in functions that are interpreted; there is no code at them.
    ///
    /// # Errors
    /// What the system refused.
    fn placed(&self, _functions: &[Named<'_>]) -> io::Result<()> {
        Ok(())
    }
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
    let mut kept = Vec::new();
    for agent in AGENTS.read().iter() {
        kept.extend(complaining(agent.loaded(what)).flatten());
    }
    Announced { _kept: kept }
}

/// Tells every tool which addresses stand for places in interpreted functions.
pub fn announce_places(image: &Image) {
    let named = |(id, address, size): (FuncId, usize, usize)| Named {
        name: &image.module.functions[id].name,
        number: id.as_u32(),
        address,
        size,
    };
    for agent in AGENTS.read().iter() {
        let functions: Vec<Named<'_>> = image.places.stretches().map(named).collect();
        complaining(agent.placed(&functions));
    }
}

/// Says once that a tool could not be told.
fn complaining<T>(result: io::Result<T>) -> Option<T> {
    static FAILED: AtomicBool = AtomicBool::new(false);
    result
        .inspect_err(|why| {
            if !FAILED.swap(true, Ordering::Relaxed) {
                eprintln!("ompvm: a tool cannot be told of the program's functions: {why}");
            }
        })
        .ok()
}
