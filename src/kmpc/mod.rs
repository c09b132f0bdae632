//! The OpenMP runtime.
//!
//! It knows no tier: it calls microtasks through native-callable addresses, so the virtual machine
//! and the drop-in shared library (`libomp/`) use the same code. [`table`] lists every entry of the
//! ABI once; everything else is named by meaning. [`team`] and its README.md hold the protocol of
//! fork, barrier and join.
//!
//! Here: parallel regions (nested too), worksharing, explicit tasks ([`task`] and its README.md),
//! synchronisation, cancellation, reductions, threadprivate, locks, places ([`affinity`]),
//! memory allocators ([`alloc`]), the `omp_*` routines, environment variables, `teams` on the host,
//! tools ([`ompt`]). Not here yet, and marked so in the table: devices.

// Entries implement a published ABI, whose contract is the specification's: "called as the compiler
// calls it". Sections naming more stand where a function asks for more.
#![expect(
    clippy::missing_safety_doc,
    reason = "the contract of ABI entries is the ABI's"
)]
#![expect(clippy::too_many_arguments, reason = "the ABI's signatures")]

pub mod abi;
pub mod affinity;
pub mod alloc;
pub mod api;
pub mod atomic;
pub mod barrier;
pub mod cancel;
pub mod child;
pub mod collapse;
pub mod dispatch;
pub mod doacross;
pub mod env;
pub mod fork;
pub mod fortran;
pub mod hooks;
pub mod icv;
pub mod ident;
pub mod interop;
pub mod iteration;
pub mod lock;
pub mod lock_queue;
pub mod misc;
pub mod ompt;
pub mod reduce;
pub mod static_loop;
pub mod table;
pub mod task;
pub mod team;
pub mod teams;
pub mod thread;
pub mod threadprivate;
pub mod turns;

use ident::Ident;

/// How a team was forked, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Forked {
    /// The region's arguments, in the frame of the entry that forked it.
    pub arguments: *const *mut std::ffi::c_void,
    /// Their number.
    pub count: u32,
    /// The team around it, and the number that the thread that forked has there.
    pub outer: (*const team::Team, u32),
    /// True if the member that was asked about forked it.
    pub own: bool,
}

/// Returns how a team was forked, as the member of a number sees it; for null the team of the
/// calling thread. `None` outside of regions. Neither allocates nor locks.
///
/// # Safety
/// `team` is null or a team around a region that the calling thread is in.
pub unsafe fn forked(team: *const team::Team, number: u32) -> Option<Forked> {
    // SAFETY: the caller's contract.
    let (team, number) = match unsafe { team.as_ref() } {
        Some(team) => (team, number),
        None => {
            let thread = thread::current_if_known()?;
            (thread.team(), thread.tid())
        }
    };
    let (shape, work) = (team.shape(), team.work());
    (!shape.parent.is_null()).then_some(Forked {
        arguments: work.argv,
        count: work.argc,
        outer: (shape.parent, shape.parent_tid),
        own: number == 0 || shape.size == 1,
    })
}

/// Where the calling thread is, for messages and statistics.
#[derive(Clone, Copy, Debug)]
pub struct Current {
    /// Global thread number.
    pub gtid: i32,
    /// Number in the team.
    pub thread_num: u32,
    /// Threads in the team.
    pub team_size: u32,
    /// Nesting depth of regions.
    pub level: u32,
    /// The surrounding `parallel` directive; null outside.
    pub region: *const Ident,
}

/// Where the calling thread is; `None` if it has not called the runtime yet.
pub fn current() -> Option<Current> {
    let thread = thread::current_if_known()?;
    let shape = thread.team().shape();
    Some(Current {
        gtid: thread.gtid,
        thread_num: thread.tid(),
        team_size: shape.size,
        level: shape.level,
        region: shape.ident,
    })
}
