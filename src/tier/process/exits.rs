//! Ends of a program: the C library's functions that a guest ends with.
//!
//! An embedded guest that calls `exit` runs its handlers and jumps back to the start of the run
//! ([`EmbeddedRun`]), which returns the status. A native guest uses the C library's functions, but an
//! end without handlers is also the end of sampling.
//!
//! Handlers that run after main are started by [`Process`](super::Process). Destructors of
//! `thread_local` objects are in [`thread_exit`].

use crate::{builtins, restart, sample, single_thread, thread_exit};
use ompvm_memory::activation::{self, Activation};
use ompvm_memory::walk::Registers;
use ompvm_memory::{func, handler_mask, thread};
use parking_lot::Mutex;
use std::ffi::{c_int, c_void};
use std::ptr;

/// A handler of `atexit` or `__cxa_atexit`.
pub(super) struct Handler {
    pub run: unsafe extern "C-unwind" fn(*mut c_void),
    pub arg: usize,
}

/// Handlers of an embedded guest; the last one runs first.
#[derive(Default)]
pub(super) struct Handlers(pub Mutex<Vec<Handler>>);

impl std::fmt::Debug for Handlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} handlers", self.0.lock().len())
    }
}

/// State that takes an embedded run on this thread back to its start.
pub(super) struct EmbeddedRun {
    pub act: Activation,
    /// Handlers of the process, which outlives the run.
    pub handlers: *const Handlers,
    /// Serial number of the process's image.
    pub serial: u64,
}

/// Returns the innermost run of an embedded program on this thread; null if there is none.
fn embedded_run() -> *mut EmbeddedRun {
    // SAFETY: null, or this thread's state.
    let state = unsafe { thread::current_or_null().as_ref() };
    state.map_or(ptr::null_mut(), |state| state.embedded_run.cast())
}

/// Runs the handlers of an embedded guest, and those that these register.
pub(super) fn run_exit_handlers(handlers: &Handlers) {
    loop {
        // A handler may register further handlers.
        let Some(h) = handlers.0.lock().pop() else {
            return;
        };
        // SAFETY: the guest registered the handler with this argument.
        unsafe { (h.run)(ptr::with_exposed_provenance_mut(h.arg)) };
    }
}

extern "C-unwind" fn embedded_exit(status: c_int) -> ! {
    let run = embedded_run();
    if run.is_null() {
        // SAFETY: `exit` has no preconditions. The guest created this thread, so the process ends.
        unsafe { libc::exit(status) }
    }
    // SAFETY: the pointer leads to the run of an outer frame on this thread, which is live and
    // whose activation is pushed.
    unsafe {
        thread_exit::run_own((*run).serial);
        run_exit_handlers(&*(*run).handlers);
        libc::fflush(ptr::null_mut());
        leave(run, status)
    }
}

extern "C-unwind" fn embedded_quick_exit(status: c_int) -> ! {
    let run = embedded_run();
    if run.is_null() {
        // SAFETY: `_exit` has no preconditions.
        unsafe { libc::_exit(status) }
    }
    // SAFETY: the pointer leads to the run of an outer frame on this thread, which is live and
    // whose activation is pushed.
    unsafe { leave(run, status) }
}

/// Ends a run with a status, maybe out of a signal handler.
///
/// # Safety
/// The run is of an outer frame on this thread, and its activation is pushed.
unsafe fn leave(run: *const EmbeddedRun, status: c_int) -> ! {
    // SAFETY: the activation is live by contract, and the guest's frames inside it are dropped as
    // by `exit`.
    unsafe {
        let act = &raw const (*run).act;
        handler_mask::restore(Registers::here(), None, act);
        activation::jump(act, status as usize)
    }
}

extern "C-unwind" fn embedded_cxa_atexit(
    run: extern "C-unwind" fn(*mut c_void),
    arg: *mut c_void,
    _dso: *mut c_void,
) -> c_int {
    let current = embedded_run();
    if current.is_null() {
        return -1;
    }
    // SAFETY: the pointer leads to the run of an outer frame on this thread; its process
    // outlives it.
    let handlers = unsafe { &*(*current).handlers };
    handlers.0.lock().push(Handler {
        run,
        arg: arg.expose_provenance(),
    });
    0
}

extern "C-unwind" fn embedded_atexit(run: extern "C-unwind" fn(*mut c_void)) -> c_int {
    embedded_cxa_atexit(run, ptr::null_mut(), ptr::null_mut())
}

/// Implements `__cxa_thread_atexit` (Itanium C++ ABI, 3.3.5).
extern "C-unwind" fn embedded_thread_atexit(
    run: thread_exit::Destructor,
    arg: *mut c_void,
    _dso: *mut c_void,
) -> c_int {
    let program = func::from_address(run as usize).map(|f| f.image().serial());
    let registered = program.and_then(|serial| thread_exit::register(serial, run, arg));
    // A destructor in a library remains valid as long as the library, so the C library keeps it.
    registered.unwrap_or_else(|| builtins::thread_atexit(run, arg))
}

extern "C-unwind" fn native_quick_exit(status: c_int) -> ! {
    sample::end_sampling();
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(status) }
}

/// Returns the names that are replaced for a native guest. An end without exit handlers is an end
/// of the run, too, and executing the program's own file runs it again.
pub fn native_overrides() -> hashbrown::HashMap<&'static str, usize> {
    let address = native_quick_exit as *const () as usize;
    let ends = ["_exit", "_Exit"].map(|name| (name, address));
    let single = single_thread::overrides();
    ends.into_iter()
        .chain(restart::overrides())
        .chain(single)
        .collect()
}

/// Returns the names that are replaced for an embedded guest.
pub fn embedded_overrides() -> hashbrown::HashMap<&'static str, usize> {
    [
        ("exit", embedded_exit as *const () as usize),
        ("_exit", embedded_quick_exit as *const () as usize),
        ("_Exit", embedded_quick_exit as *const () as usize),
        ("quick_exit", embedded_quick_exit as *const () as usize),
        ("__cxa_atexit", embedded_cxa_atexit as *const () as usize),
        ("atexit", embedded_atexit as *const () as usize),
        (
            "__cxa_thread_atexit",
            embedded_thread_atexit as *const () as usize,
        ),
        (
            "__cxa_thread_atexit_impl",
            embedded_thread_atexit as *const () as usize,
        ),
    ]
    .into_iter()
    .collect()
}
