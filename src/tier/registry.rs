//! The programs of this process, as the C library, signal handlers and reports see them.
//!
//! A program's own state is in its [`super::process::Process`]. Each module defines the entries of
//! its list.

use super::atomics;
use super::chaos::ChaosProgram;
use super::compiler::Compiler;
use super::dlfcn::RegisteredProgram;
use super::loader::FileId;
use super::restart::GuestIdentity;
use super::sample::Sampler;
use super::thread_exit::{Lifetime, PendingDestructor};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Once, OnceLock};

/// The programs of a process.
pub(super) struct Registry {
    /// Compilers of the live programs, for reports and the end of the process.
    pub(super) compilers: parking_lot::Mutex<Vec<Arc<Compiler>>>,
    /// The programs in chaos mode.
    pub(super) chaos: parking_lot::Mutex<Vec<ChaosProgram>>,
    /// The samplers that run until their process ends.
    pub(super) samplers: parking_lot::Mutex<Vec<Sampler>>,
    /// The programs whose destructors may be registered.
    pub(super) lifetimes: parking_lot::Mutex<Vec<Arc<Lifetime>>>,
    /// The programs' symbols.
    pub(super) symbols: std::sync::Mutex<Vec<RegisteredProgram>>,
    /// Native files that are loaded. The loader would take a second opening for the same object
    /// with the same variables, so a second process of a program gets a copy.
    pub(super) native_files: std::sync::Mutex<Vec<FileId>>,
    /// Number of native files that were opened.
    pub(super) opened_files: AtomicUsize,
    /// The program of a native process, which may execute itself.
    pub(super) guest: OnceLock<GuestIdentity>,
    /// The loader's handle of the whole program.
    pub(super) whole_program: OnceLock<usize>,
    /// Done once the fault handlers are installed.
    pub(super) fault_handlers: Once,
    /// Done once regions of embedded programs are contained.
    pub(super) containment: Once,
    /// Done once the hooks are registered.
    pub(super) hooks: Once,
    /// Done once the handlers for the end of the process are registered.
    pub(super) exit_handlers: Once,
    /// Target of `__dso_handle`: its address, in the executable, names the programs to the C
    /// library.
    pub(super) dso: AtomicUsize,
    /// The locks of atomic operations without an instruction.
    pub(super) atomic_locks: atomics::Locks,
}

/// The programs of this process: the C library calls functions and asks for symbols by address or
/// name, without a program.
pub(super) static REGISTRY: Registry = Registry {
    compilers: parking_lot::Mutex::new(Vec::new()),
    chaos: parking_lot::Mutex::new(Vec::new()),
    samplers: parking_lot::Mutex::new(Vec::new()),
    lifetimes: parking_lot::Mutex::new(Vec::new()),
    symbols: std::sync::Mutex::new(Vec::new()),
    native_files: std::sync::Mutex::new(Vec::new()),
    opened_files: AtomicUsize::new(0),
    guest: OnceLock::new(),
    whole_program: OnceLock::new(),
    fault_handlers: Once::new(),
    containment: Once::new(),
    hooks: Once::new(),
    exit_handlers: Once::new(),
    dso: AtomicUsize::new(0),
    atomic_locks: atomics::Locks::new(),
};

/// Variables of a thread without a destructor: Rust would drop them before the guest's own
/// destructors run.
pub(super) struct ThreadLocals {
    /// Destructors of embedded programs for this thread; null if it has none. Rust does not drop
    /// the list, because destructors may register others while the thread ends.
    pub(super) destructors: Cell<*mut Vec<PendingDestructor>>,
}

thread_local! {
    /// The variables of the calling thread.
    pub(super) static LOCALS: ThreadLocals = const {
        ThreadLocals {
            destructors: Cell::new(ptr::null_mut()),
        }
    };
}

const _: () = assert!(!std::mem::needs_drop::<ThreadLocals>());
