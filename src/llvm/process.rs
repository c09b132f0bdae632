//! LLVM's state in this process and on its threads.
//!
//! LLVM keeps its targets, options and handlers in variables of its own, so each is set once per
//! process, at the first use. [`LLVM`] records which are set, and [`LOCALS`] and [`OWNED`] hold the
//! variables of a thread that works with LLVM. The modules that use a field define its type.

use super::contain::{Contained, CoroutineStack};
use super::guard::{Shared, SignalHandlers, SignalStack};
use super::libc_locks::LibcCode;
use super::native::pipeline::{CodeGenerator, Host};
use std::cell::{Cell, OnceCell, RefCell};
use std::ptr::null;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::{Once, OnceLock};

/// The parts of LLVM that are set up once, and the handlers around it.
pub(crate) struct LlvmState {
    /// LLVM's constructors ([`super::deferred_init`]).
    pub(crate) constructors: Once,
    /// The code generator for this processor.
    pub(crate) host_target: Once,
    /// The code generator for NVIDIA GPUs.
    pub(crate) nvptx_target: Once,
    /// The options of the reader.
    pub(crate) reader_options: Once,
    /// The handler of LLVM's fatal errors.
    pub(crate) fatal_handler: Once,
    /// The handlers for a shortage of memory ([`super::contain`]).
    pub(crate) memory_handlers: Once,
    /// The handler of the timer's signal ([`super::contain`]).
    pub(crate) timer_handler: Once,
    /// The C library's code ([`super::libc_locks`]).
    pub(crate) libc_code: OnceLock<LibcCode>,
    /// The handlers in front of the program's ([`super::guard`]).
    pub(crate) signal_handlers: SignalHandlers,
    /// The properties of this processor: under virtualization every CPUID query traps to the
    /// hypervisor.
    pub(crate) host: OnceLock<Result<Host, String>>,
    /// True once a tool is to see every call of the runtime.
    pub(crate) no_fast_paths: AtomicBool,
}

/// LLVM's state: the process has one copy of LLVM, one action per signal and one processor.
pub(crate) static LLVM: LlvmState = LlvmState {
    constructors: Once::new(),
    host_target: Once::new(),
    nvptx_target: Once::new(),
    reader_options: Once::new(),
    fatal_handler: Once::new(),
    memory_handlers: Once::new(),
    timer_handler: Once::new(),
    libc_code: OnceLock::new(),
    signal_handlers: SignalHandlers::new(),
    host: OnceLock::new(),
    no_fast_paths: AtomicBool::new(false),
};

/// Variables of a thread without a destructor, since signal handlers and destructors of other
/// variables read them.
pub(crate) struct ThreadLocals {
    /// The contained run on this thread, while LLVM may be left.
    pub(crate) contained: Cell<*const Contained>,
    /// True while the running passes of an abandoned run are described.
    pub(crate) describing: Cell<bool>,
    /// The state that a worker of [`super::guard`] reports to.
    pub(crate) worker: Cell<*const Shared>,
    /// True while LLVM's constructors run.
    pub(crate) constructing: Cell<bool>,
    /// True once the thread's heap was extended.
    pub(crate) heap_extended: Cell<bool>,
}

/// Variables of a thread that are freed at its end.
pub(crate) struct ThreadOwned {
    /// The coroutine stack of this thread's last contained run.
    pub(crate) spare_stack: RefCell<Option<CoroutineStack>>,
    /// The signal stack for faults after a stack overflow.
    pub(crate) signal_stack: OnceCell<SignalStack>,
    /// The code generators, for position-dependent and position-independent code. Creating one and
    /// its tables takes longer than compiling a small unit.
    pub(crate) generators: RefCell<[Option<Rc<CodeGenerator>>; 2]>,
}

thread_local! {
    /// The calling thread's variables without a destructor.
    pub(crate) static LOCALS: ThreadLocals = const {
        ThreadLocals {
            contained: Cell::new(null()),
            describing: Cell::new(false),
            worker: Cell::new(null()),
            constructing: Cell::new(false),
            heap_extended: Cell::new(false),
        }
    };
    /// The calling thread's variables with a destructor.
    pub(crate) static OWNED: ThreadOwned = const {
        ThreadOwned {
            spare_stack: RefCell::new(None),
            signal_stack: OnceCell::new(),
            generators: RefCell::new([None, None]),
        }
    };
}

const _: () = assert!(!std::mem::needs_drop::<ThreadLocals>());
