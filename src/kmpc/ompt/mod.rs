//! The tool interface OMPT. OpenMP 5.2, chapter 19.
//!
//! This layer finds and starts a tool, invokes its callbacks and answers its inquiries. README.md
//! beside this file specifies the protocol. If there is a tool, the program calls traced entries
//! ([`entries`]) instead of the runtime's: these notify the tool and call the runtime's own. They
//! are reached through [`gate`], which records the caller. The runtime itself notifies the tool
//! only of events that no entry observes: the life of a worker, the end of its part of a region,
//! copies of a taskloop's task.
//!
//! So without a tool no path contains any of this, except for one load per region of a worker.
//!
//! Devices and OMPD are not supported. A process has at most one tool.

mod callbacks;
pub mod entries;
pub mod gate;
pub mod gates;
mod inquiry;
mod loops;
mod mutex;
pub(crate) mod record;
mod region;
mod start;
mod sync;
mod tasks;

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use ompvm_support::hook;
use ompvm_support::hook::Hook;
use parking_lot::{Mutex, ReentrantMutex};

pub use record::{close_region, worker_begins, worker_ends};
pub use region::{fork, fork_teams};
pub use start::{decide, finish, wanted};
pub use tasks::{depends, discarded, duplicated};

/// No tool: nothing is reported.
const NONE: u32 = 0;
/// No thread has looked for a tool yet.
const UNDECIDED: u32 = 1;
/// A tool is active.
const ACTIVE: u32 = 2;

/// The tool of a process, and the search for it.
#[repr(C)]
pub struct ProcessTool {
    /// State of the search; every path reads it at most once. Not 0 if the entries of the shared
    /// library, which read it at the start of this record, have to go through [`gate`].
    state: AtomicU32,
    /// The registered callbacks, by number; 0 for none.
    callbacks: [AtomicUsize; callbacks::NUMBERS],
    /// Maps the return addresses of an interpreted guest's calls.
    callers: Hook<gate::Callers>,
    /// The traced forms of entries, by name.
    traced: OnceLock<HashMap<&'static str, &'static entries::Traced>>,
    /// Address of the guest's own `ompt_start_tool`; 0 if it has none.
    guest_tool: AtomicUsize,
    /// Address of the tool, between its start and its end.
    tool: Mutex<usize>,
    /// Held by the thread that searches.
    deciding: ReentrantMutex<()>,
    /// True once the tool ends.
    finished: AtomicBool,
    /// Number of workers that the tool knows.
    workers: AtomicU32,
    /// The number of the next thread that asks for unique identifiers.
    next_thread: AtomicU64,
}

/// The tool of this process: OpenMP has one per process, which sees the threads of all programs.
pub static TOOL: ProcessTool = ProcessTool {
    state: AtomicU32::new(UNDECIDED),
    callbacks: [const { AtomicUsize::new(0) }; callbacks::NUMBERS],
    callers: hook!(gate::Callers),
    traced: OnceLock::new(),
    guest_tool: AtomicUsize::new(0),
    tool: Mutex::new(0),
    deciding: ReentrantMutex::new(()),
    finished: AtomicBool::new(false),
    workers: AtomicU32::new(0),
    next_thread: AtomicU64::new(1),
};

const _: () = assert!(std::mem::offset_of!(ProcessTool, state) == 0);

/// Returns true if a tool is active.
#[inline(always)]
pub fn on() -> bool {
    // Relaxed: the tool's setup is published by the lock of the decision, which every thread that
    // goes through a gate has taken or comes after.
    TOOL.state.load(Ordering::Relaxed) == ACTIVE
}

/// Registers the address of the guest's `ompt_start_tool`, which is called before all others.
pub fn set_guest_tool(address: usize) {
    TOOL.guest_tool.store(address, Ordering::Release);
}
