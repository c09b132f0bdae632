//! The OpenMP runtime.
//!
//! The runtime depends on no tier: it calls microtasks through native-callable addresses, so the
//! virtual machine and the drop-in shared library (`libomp/`) share this code. [`table`] lists
//! every entry of the ABI once; everything else is named by meaning. [`team`] and its README.md
//! specify the protocol of fork, barrier and join.
//!
//! This layer implements parallel regions (nested ones included), worksharing, explicit tasks
//! ([`task`] and its README.md), synchronization, cancellation, reductions, threadprivate
//! variables, locks, places ([`affinity`]), memory allocators ([`alloc`]), the `omp_*` routines,
//! environment variables, `teams` on the host and tools ([`ompt`]). It does not implement devices;
//! [`table`] marks their entries as such.

// Entries implement a published ABI, whose contract is the specification's: "called as the compiler
// calls it". A `# Safety` section stands where a function requires more.
#![expect(
    clippy::missing_safety_doc,
    reason = "the contract of ABI entries is the ABI's"
)]
#![expect(clippy::too_many_arguments, reason = "the ABI's signatures")]

pub mod abi;
pub mod affinity;
pub mod alloc;
pub mod atomic;
pub mod barrier;
pub mod cancel;
pub mod collapse;
pub mod containment;
pub mod dispatch;
pub mod doacross;
pub mod env;
pub mod fork;
pub mod fork_handlers;
pub mod fortran;
pub mod hooks;
pub mod icv;
pub mod ident;
pub mod interop;
pub mod iteration;
pub mod lock;
pub mod lock_queue;
pub mod ompt;
pub mod ordered_tickets;
pub mod program;
pub mod queries;
pub mod reduce;
pub mod routines;
mod runtime;
pub mod static_loop;
pub mod table;
pub mod task;
pub mod team;
pub mod teams;
pub mod thread;
pub mod threadprivate;
pub mod waits;

use ident::Ident;

/// Origin of a team, for messages.
#[derive(Clone, Copy, Debug)]
pub struct ForkOrigin {
    /// Arguments of the region, in the frame of the entry that forked it.
    pub arguments: *const *mut std::ffi::c_void,
    /// Number of arguments.
    pub count: u32,
    /// The enclosing team, and the forking thread's number in it.
    pub outer: (*const team::Team, u32),
    /// True if the queried member forked the team.
    pub own: bool,
}

/// Returns how a team was forked, as seen by its member `number`. Null stands for the calling
/// thread's team and number. Returns `None` outside of regions. Neither allocates nor locks.
///
/// # Safety
/// `team` is null or a team around a region that the calling thread is in.
pub unsafe fn fork_origin(team: *const team::Team, number: u32) -> Option<ForkOrigin> {
    // SAFETY: `team` is null or a live team: a region that the calling thread is in keeps it alive.
    let (team, number) = match unsafe { team.as_ref() } {
        Some(team) => (team, number),
        None => {
            let thread = thread::current_if_known()?;
            (thread.team(), thread.tid())
        }
    };
    let (shape, work) = (team.shape(), team.work());
    (!shape.parent.is_null()).then_some(ForkOrigin {
        arguments: work.argv,
        count: work.argc,
        outer: (shape.parent, shape.parent_tid),
        own: number == 0 || shape.size == 1,
    })
}

/// The calling thread's position in its team, for messages and statistics.
#[derive(Clone, Copy, Debug)]
pub struct RegionPosition {
    /// Global thread number.
    pub gtid: i32,
    /// Number in the team.
    pub thread_num: u32,
    /// Threads in the team.
    pub team_size: u32,
    /// Nesting depth of regions.
    pub level: u32,
    /// The enclosing `parallel` directive; null outside of regions.
    pub region: *const Ident,
}

/// Returns the calling thread's position; `None` if it has not called the runtime yet.
pub fn region_position() -> Option<RegionPosition> {
    let thread = thread::current_if_known()?;
    let shape = thread.team().shape();
    Some(RegionPosition {
        gtid: thread.gtid,
        thread_num: thread.tid(),
        team_size: shape.size,
        level: shape.level,
        region: shape.ident,
    })
}
