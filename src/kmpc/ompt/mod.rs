//! The tool interface OMPT. OpenMP 5.2, chapter 19.
//!
//! What: finding and starting a tool, its callbacks, its inquiries. README.md beside this file is
//! the protocol. Where a tool is, what a program calls are not the runtime's entries but the traced
//! ones here ([`entries`]), which tell the tool and call the runtime's own; they are reached
//! through [`gate`], which notes the caller. Only what no entry sees is told from inside the runtime:
//! the life of a worker, the end of its part of a region, copies of a taskloop's task.
//!
//! Why so: without a tool nothing of this is on any path, but for one load per region of a worker.
//!
//! What not: devices, OMPD. One tool per process.

mod calls;
pub mod entries;
pub mod gate;
#[cfg(feature = "vm")]
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

/// No tool: nothing is told.
const NONE: u32 = 0;
/// Nobody has looked for a tool yet.
const UNDECIDED: u32 = 1;
/// A tool is active.
const ACTIVE: u32 = 2;

/// Whether there is a tool: the word that every path looks at, at most once. Not 0 where the
/// entries of the shared library have to go through [`gate`].
pub static STATE: AtomicU32 = AtomicU32::new(UNDECIDED);

/// Whether a tool is active.
#[inline(always)]
pub fn on() -> bool {
    // Relaxed: what a tool set up is published by the lock of the decision, which every thread
    // that goes through a gate has taken or comes after.
    STATE.load(Ordering::Relaxed) == ACTIVE
}

/// The guest's own `ompt_start_tool`; 0 where it has none.
static GUEST_TOOL: AtomicUsize = AtomicUsize::new(0);

/// Registers the address of the guest's `ompt_start_tool`, which is asked before all others.
pub fn set_guest_tool(address: usize) {
    GUEST_TOOL.store(address, Ordering::Release);
}
