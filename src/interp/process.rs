//! The interpreter's state: [`INTERPRETER`] for the process, [`LOCALS`] for a thread.
//!
//! The modules that use a field define its type.

use super::cleanup::CleanupBuffer;
use super::code_index::CodeIndex;
use super::entry::{BytecodeHook, CodeNode, CompileHook, InProgress, LoweredHook};
use super::exec;
use super::fork::HeldForFork;
use super::frame::LoweredFunction;
use super::isa::{Enc, INSTRUCTIONS, Nil};
use super::stats::Counters;
use super::thunk::Thunks;
use super::unwind::LastSearch;
use ompvm_support::hook;
use ompvm_support::hook::Hook;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use std::sync::{Condvar, LazyLock, Mutex, Once};

/// The interpreter of a process.
pub(super) struct Interpreter {
    /// The instruction that the callee of an activation's base frame returns to.
    pub(super) exit: Enc<Nil>,
    /// True if functions of any image count their instructions.
    pub(super) counting: AtomicBool,
    /// All lowered code, newest first.
    pub(super) lowered: AtomicPtr<CodeNode>,
    /// The same code by address.
    pub(super) code_index: CodeIndex<LoweredFunction>,
    /// Called with each newly lowered function before it runs.
    pub(super) lowered_hook: Hook<LoweredHook>,
    /// Compiles functions of images that ask for it.
    pub(super) compile_hook: Hook<CompileHook>,
    /// Finds the bytecode instruction of an address in machine code.
    pub(super) bytecode_hook: Hook<BytecodeHook>,
    /// The functions that are being lowered, each with the thread that lowers it.
    pub(super) in_progress: Mutex<InProgress>,
    /// Notified when a function is lowered.
    pub(super) lowering_done: Condvar,
    /// The sorted addresses of the handlers, for interrupts.
    pub(super) handlers: LazyLock<Vec<usize>>,
    /// Start of the baseline tier's machine code; 0 if there is none.
    pub(super) machine_code: AtomicUsize,
    /// The compiled rare instructions.
    pub(super) thunks: LazyLock<Thunks>,
    /// Held while word 0 of an instruction is changed.
    pub(super) patching: Mutex<()>,
    /// Counters of `--stats`.
    pub(super) counters: Mutex<Counters>,
    /// Done once the fork handlers are registered.
    pub(super) fork_handlers: Once,
    /// Done once the histogram is printed at exit.
    #[cfg(ompvm_histogram)]
    pub(super) histogram: Once,
}

/// The interpreter of this process: signal handlers and profilers find the code of any program in
/// one list, and programs share compiled rare instructions.
pub(super) static INTERPRETER: Interpreter = Interpreter {
    exit: Enc {
        handler: exec::exit,
        ops: Nil,
    },
    counting: AtomicBool::new(false),
    lowered: AtomicPtr::new(ptr::null_mut()),
    code_index: CodeIndex::new(),
    lowered_hook: hook!(LoweredHook),
    compile_hook: hook!(CompileHook),
    bytecode_hook: hook!(BytecodeHook),
    in_progress: Mutex::new(InProgress::new()),
    lowering_done: Condvar::new(),
    handlers: LazyLock::new(|| {
        let handlers = INSTRUCTIONS.handlers.iter();
        let mut addresses: Vec<usize> = handlers.map(|&h| h as *const () as usize).collect();
        addresses.sort_unstable();
        addresses
    }),
    machine_code: AtomicUsize::new(0),
    thunks: LazyLock::new(Thunks::default),
    patching: Mutex::new(()),
    counters: Mutex::new(Counters::new()),
    fork_handlers: Once::new(),
    #[cfg(ompvm_histogram)]
    histogram: Once::new(),
};

/// The interpreter's variables of a thread that outlive its state. Without a destructor, since
/// destructors of other variables may fork or run guest code.
pub(super) struct ThreadLocals {
    /// The exception for which the thread last searched a handler.
    pub(super) last_search: Cell<LastSearch>,
    /// The bytecode position at which a signal interrupted the innermost frame of an
    /// activation when its handler last threw; 0 if none did.
    pub(super) interrupted: Cell<usize>,
    /// The innermost registered buffer of [`super::cleanup`].
    pub(super) cleanup_top: Cell<*mut CleanupBuffer>,
    /// The exception whose landing runs a handler of [`super::cleanup`].
    pub(super) cleanup_exception: Cell<*mut c_void>,
    /// The locks that are held while the thread forks.
    pub(super) held_locks: Cell<Option<HeldForFork>>,
}

thread_local! {
    /// The variables of the calling thread.
    pub(super) static LOCALS: ThreadLocals = const {
        ThreadLocals {
            last_search: Cell::new(LastSearch::NONE),
            interrupted: Cell::new(0),
            cleanup_top: Cell::new(ptr::null_mut()),
            cleanup_exception: Cell::new(ptr::null_mut()),
            held_locks: Cell::new(None),
        }
    };
}

const _: () = assert!(!std::mem::needs_drop::<ThreadLocals>());
