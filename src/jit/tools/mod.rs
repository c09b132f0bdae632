//! Reports compiled code to profilers and debuggers.
//!
//! Each tool has an [`Agent`], which receives each object after its code is linked. Agents are
//! separate because perf and gdb need nothing in common. Tools are enabled for the whole process,
//! before anything is compiled, because the processes that inspect it see only one.
//!
//! Interpreted code has no machine code to report. But where addresses stand for places in it
//! ([`ompvm_memory::code_addresses`]), agents that record only names get these.

mod gdb;
mod jitdump;
mod perf_map;

use super::lines::LineTable;
use super::process::CODE;
use ompvm_ir::FuncId;
use ompvm_llvm::native::DebugLevel;
use ompvm_memory::image::Image;
use ompvm_memory::link;
use std::any::Any;
use std::fmt;
use std::io;
use std::sync::atomic::Ordering;

/// A tool that inspects compiled code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// `perf report`, through `/tmp/perf-PID.map`: names.
    PerfMap,
    /// `perf inject --jit`, through `jit-PID.dump`: names, lines, code.
    JitDump,
    /// gdb and lldb, through gdb's JIT interface: everything.
    Gdb,
}

/// A compiled function at its final address.
#[derive(Clone, Copy, Debug)]
pub struct NamedFunction<'a> {
    /// Name in the program.
    pub name: &'a str,
    /// Number in the module.
    pub number: u32,
    /// Start address.
    pub address: usize,
    /// Size in bytes.
    pub size: usize,
}

/// An object whose code is linked.
#[derive(Debug)]
pub struct Loaded<'a> {
    /// The object file.
    pub object: &'a [u8],
    /// The linked sections.
    pub code: &'a link::LinkedCode,
    /// The functions.
    pub functions: &'a [NamedFunction<'a>],
    /// Source lines of the functions.
    pub lines: &'a LineTable,
}

/// State that a tool keeps as long as the code exists.
pub type AgentState = Box<dyn Any + Send + Sync>;

/// The agent of one tool.
pub trait Agent: Send + Sync {
    /// Reports code that is linked and not yet entered.
    ///
    /// # Errors
    /// Returns the system's error.
    fn loaded(&self, what: &Loaded<'_>) -> io::Result<Option<AgentState>>;

    /// Reports addresses that stand for places in interpreted functions; there is no code at them.
    ///
    /// # Errors
    /// Returns the system's error.
    fn placed(&self, _functions: &[NamedFunction<'_>]) -> io::Result<()> {
        Ok(())
    }
}

/// Enables a tool for this process.
///
/// # Errors
/// Returns the system's error.
pub fn enable(tool: Tool) -> io::Result<()> {
    let agent: Box<dyn Agent> = match tool {
        Tool::PerfMap => Box::new(perf_map::PerfMap::new()?),
        Tool::JitDump => Box::new(jitdump::JitDump::new()?),
        Tool::Gdb => {
            CODE.debugger.store(true, Ordering::Relaxed);
            Box::new(gdb::Gdb)
        }
    };
    CODE.agents.write().push(agent);
    Ok(())
}

/// Returns the debug information that the enabled tools need in compiled code.
pub fn debug() -> DebugLevel {
    match CODE.debugger.load(Ordering::Relaxed) {
        true => DebugLevel::Full,
        false => DebugLevel::Lines,
    }
}

/// Returns true if any tool is enabled.
pub fn any_enabled() -> bool {
    !CODE.agents.read().is_empty()
}

/// State that all tools keep for one object.
#[derive(Default)]
pub struct Announced {
    _states: Vec<AgentState>,
}

impl fmt::Debug for Announced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Announced")
    }
}

/// Reports an object to every tool. A tool that fails is skipped, with one message per process.
pub fn announce(what: &Loaded<'_>) -> Announced {
    let mut kept = Vec::new();
    for agent in CODE.agents.read().iter() {
        kept.extend(report_failure(agent.loaded(what)).flatten());
    }
    Announced { _states: kept }
}

/// Reports to every tool which addresses stand for places in interpreted functions.
pub fn announce_code_addresses(image: &Image) {
    let named = |(id, address, size): (FuncId, usize, usize)| NamedFunction {
        name: &image.module.functions[id].name,
        number: id.as_u32(),
        address,
        size,
    };
    for agent in CODE.agents.read().iter() {
        let functions: Vec<NamedFunction<'_>> = image.code_addresses.ranges().map(named).collect();
        report_failure(agent.placed(&functions));
    }
}

/// Prints the first failure of any tool.
fn report_failure<T>(result: io::Result<T>) -> Option<T> {
    result
        .inspect_err(|why| {
            if !CODE.told_failure.swap(true, Ordering::Relaxed) {
                ompvm_support::message!(
                    Note,
                    "cannot describe compiled code to the profiler or debugger: {why}"
                );
            }
        })
        .ok()
}
