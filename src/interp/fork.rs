//! Keeps the interpreter usable in a child of `fork`, which has only the thread that forked.
//!
//! The interpreter's locks are held across the fork ([`ompvm_support::fork_lock`]), so that no
//! other thread holds one in the child, and claims of other threads to lower a function are dropped
//! in the child. Values that are made at their first use are in cells that nobody waits for
//! (`once_cell::race`): a std cell that another thread is initializing would stay locked in the
//! child forever.
//!
//! The baseline compiler has handlers of its own for its code area.
//!
//! Signals are blocked while the locks are held: a handler may call a function for the first time,
//! which takes them.

use super::process::{INTERPRETER, LOCALS};
use super::{entry, stats, thunk};
use ompvm_memory::signal_safe::SignalsBlocked;
use ompvm_support::fork_lock::lock_before_fork;
use ompvm_support::signal_heap;
use std::mem::ManuallyDrop;
use std::sync::MutexGuard;

/// The guards that are held while the process forks.
#[expect(dead_code, reason = "held, not looked at")]
pub(super) struct HeldLocks {
    /// Released first: owners of the other locks allocate.
    heap: Option<signal_heap::Held>,
    in_progress: Option<MutexGuard<'static, entry::InProgress>>,
    thunks: Option<MutexGuard<'static, thunk::CompiledThunks>>,
    patching: Option<MutexGuard<'static, ()>>,
    code_index: Option<MutexGuard<'static, usize>>,
    counts: Option<MutexGuard<'static, stats::Counters>>,
    /// Dropped last.
    signals: SignalsBlocked,
}

/// The held locks in a thread's variables, which have no destructor.
pub(super) type HeldForFork = ManuallyDrop<HeldLocks>;

/// Takes the locks that the calling thread holds.
fn take_held() -> Option<HeldLocks> {
    let held = LOCALS.with(|l| l.held_locks.take());
    held.map(ManuallyDrop::into_inner)
}

extern "C" fn prepare() {
    let signals = SignalsBlocked::new();
    let held = HeldLocks {
        signals,
        in_progress: lock_before_fork(&INTERPRETER.in_progress),
        thunks: lock_before_fork(INTERPRETER.thunks.state()),
        patching: lock_before_fork(&INTERPRETER.patching),
        code_index: INTERPRETER.code_index.lock_before_fork(),
        counts: lock_before_fork(&INTERPRETER.counters),
        // Last, because owners of the other locks allocate.
        heap: signal_heap::lock_before_fork(),
    };
    LOCALS.with(|l| l.held_locks.set(Some(ManuallyDrop::new(held))));
}

extern "C" fn parent() {
    drop(take_held());
}

extern "C" fn child() {
    let Some(mut held) = take_held() else {
        return;
    };
    if let Some(list) = &mut held.in_progress {
        list.drop_other_threads();
    }
}

/// Registers the fork handlers, once per process.
pub fn install() {
    INTERPRETER.fork_handlers.call_once(|| {
        // SAFETY: the handlers are functions of this library that do not unwind.
        unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
    });
}
