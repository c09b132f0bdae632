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
mod record;
mod region;
mod start;
mod sync;
mod tasks;

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

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

/// State of the search for a tool; every path reads it at most once. Not 0 if the entries of the
/// shared library have to go through [`gate`].
pub static TOOL_STATE: AtomicU32 = AtomicU32::new(UNDECIDED);

/// Returns true if a tool is active.
#[inline(always)]
pub fn on() -> bool {
    // Relaxed: the tool's setup is published by the lock of the decision, which every thread that
    // goes through a gate has taken or comes after.
    TOOL_STATE.load(Ordering::Relaxed) == ACTIVE
}

/// Address of the guest's own `ompt_start_tool`; 0 if it has none.
static GUEST_TOOL: AtomicUsize = AtomicUsize::new(0);

/// Registers the address of the guest's `ompt_start_tool`, which is called before all others.
pub fn set_guest_tool(address: usize) {
    GUEST_TOOL.store(address, Ordering::Release);
}
