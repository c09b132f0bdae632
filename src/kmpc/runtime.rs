//! The runtime's state: [`RUNTIME`] for the process, [`LOCALS`] for a thread.
//!
//! Each module defines the part that it owns. Two tables are statics of their own, since they are
//! megabytes of zeros that the executable should not contain: the threads by number
//! ([`crate::thread`]) and the waiters for locks ([`crate::lock`]). A tool's state is in
//! [`crate::ompt`], whose first word the shared library reads.

use std::cell::Cell;
use std::ptr::null;
use std::sync::Once;
use std::sync::atomic::AtomicU32;

use crossbeam::utils::CachePadded;

use crate::affinity::ProcessAffinity;
use crate::alloc::Allocators;
use crate::fork_handlers::HeldForFork;
use crate::hooks::Registered;
use crate::icv::DeviceIcvs;
use crate::ompt::record::ThreadRecord;
use crate::task::ProcessTasks;
use crate::thread::{Thread, Workforce};
use crate::threadprivate::Variables;
use ompvm_support::sync::Mutex;

/// The OpenMP runtime of a process. Parts that threads contend for have cache lines of their own.
pub(crate) struct Runtime {
    /// Functions and values that the virtual machine registered.
    pub(crate) hooks: Registered,
    /// Control variables of the device scope.
    pub(crate) icv: DeviceIcvs,
    /// Places and their display.
    pub(crate) affinity: ProcessAffinity,
    /// Memory allocators and their blocks.
    pub(crate) allocators: Allocators,
    /// Idle workers and free thread numbers.
    pub(crate) workforce: Workforce,
    /// Parts of tasks that teams share.
    pub(crate) tasks: ProcessTasks,
    /// Threadprivate variables, by the address of the original.
    pub(crate) threadprivate: CachePadded<Mutex<Variables>>,
    /// The lock of atomic updates that the processor does not have ([`crate::atomic`]).
    pub(crate) atomic_lock: CachePadded<AtomicU32>,
    /// Done once the handlers of [`crate::fork_handlers`] are registered.
    pub(crate) fork_handlers: Once,
    /// Done once a region was told to have fewer threads than requested.
    pub(crate) warned_fewer: Once,
    /// Warned of a reduction's item without an address.
    pub(crate) warned_no_address: Once,
}

/// The runtime of this process. OpenMP has one host device, one pool of threads and one set of
/// global locks per process, which the process's programs share as libraries of a native one do.
pub(crate) static RUNTIME: Runtime = Runtime {
    hooks: Registered::new(),
    icv: DeviceIcvs::new(),
    affinity: ProcessAffinity::new(),
    allocators: Allocators::new(),
    workforce: Workforce::new(),
    tasks: ProcessTasks::new(),
    threadprivate: CachePadded::new(Mutex::new(None)),
    atomic_lock: CachePadded::new(AtomicU32::new(0)),
    fork_handlers: Once::new(),
    warned_fewer: Once::new(),
    warned_no_address: Once::new(),
};

/// The runtime's variables of a thread. Without a destructor, so that each access is one load, and
/// destructors of other variables may call the runtime or fork.
pub(crate) struct ThreadLocals {
    /// The thread, once it is registered.
    pub(crate) thread: Cell<*const Thread>,
    /// The record of the thread for a tool; null if the tool does not know the thread.
    pub(crate) record: Cell<*const ThreadRecord>,
    /// True while the thread is in the tool's own start or end, in which nothing is reported.
    pub(crate) silent: Cell<bool>,
    /// The last identifier that the thread gave a tool; 0 for none.
    pub(crate) last_unique_id: Cell<u64>,
    /// Locks held while the thread forks.
    pub(crate) held_locks: Cell<Option<HeldForFork>>,
}

thread_local! {
    /// The variables of the calling thread.
    pub(crate) static LOCALS: ThreadLocals = const {
        ThreadLocals {
            thread: Cell::new(null()),
            record: Cell::new(null()),
            silent: Cell::new(false),
            last_unique_id: Cell::new(0),
            held_locks: Cell::new(None),
        }
    };
}

const _: () = assert!(!std::mem::needs_drop::<ThreadLocals>());
