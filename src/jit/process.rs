//! Compiled code in this process, and the tools that are told about it.

use super::map::LinkedCode;
use super::tools::Agent;
use ompvm_support::registry::Registry;
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::AtomicBool;

/// Compiled code of a process.
pub(super) struct CompiledCode {
    /// All linked code.
    pub(super) linked: Registry<LinkedCode>,
    /// The agents of the enabled tools.
    pub(super) agents: RwLock<Vec<Box<dyn Agent>>>,
    /// True if a debugger is among the tools.
    pub(super) debugger: AtomicBool,
    /// True once a tool's failure was told.
    pub(super) told_failure: AtomicBool,
    /// Guards gdb's list of objects (`__jit_debug_descriptor`).
    pub(super) gdb_list: Mutex<()>,
}

/// Compiled code of this process: signal handlers look positions of any program up in one list, and
/// profilers and debuggers attach to processes.
pub(super) static CODE: CompiledCode = CompiledCode {
    linked: Registry::new(),
    agents: RwLock::new(Vec::new()),
    debugger: AtomicBool::new(false),
    told_failure: AtomicBool::new(false),
    gdb_list: Mutex::new(()),
};
