//! Keeps the interpreter usable in a child of `fork`, which has only the thread that forked.
//!
//! The interpreter's locks are held across the fork, so that no other thread holds one in the
//! child, and claims of other threads to lower a function are dropped in the child. The locks are
//! those of std, whose state is one word: `parking_lot` keeps its waiters in a process-wide table
//! and may hand a lock to a thread that the child does not have. Values that are made at their
//! first use are in cells that nobody waits for (`once_cell::race`): a std cell that another thread
//! is initializing would stay locked in the child forever.
//!
//! A signal handler may fork while its own thread holds a lock. A fork therefore waits for each
//! lock for a limited time only, and the child inherits the lock's state as it is then.

#[cfg(all(ompvm_tail_calls, target_arch = "x86_64"))]
use super::baseline::code_memory as code;
use super::process::{INTERPRETER, LOCALS};
use super::{entry, stats, thunk};
use std::mem::ManuallyDrop;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The longest wait for a lock. The longest critical section, the compilation of a rare
/// instruction, is much shorter.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The guards that are held while the process forks.
#[expect(dead_code, reason = "held, not looked at")]
pub(super) struct HeldLocks {
    in_progress: Option<MutexGuard<'static, entry::InProgress>>,
    thunks: Option<MutexGuard<'static, thunk::CompiledThunks>>,
    patching: Option<MutexGuard<'static, ()>>,
    counts: Option<MutexGuard<'static, stats::Counters>>,
    #[cfg(all(ompvm_tail_calls, target_arch = "x86_64"))]
    code: Option<MutexGuard<'static, code::AreaUse>>,
}

/// The held locks in a thread's variables, which have no destructor.
pub(super) type HeldForFork = ManuallyDrop<HeldLocks>;

/// Takes the locks that the calling thread holds.
fn take_held() -> Option<HeldLocks> {
    let held = LOCALS.with(|l| l.held_locks.take());
    held.map(ManuallyDrop::into_inner)
}

/// Locks a mutex. Nothing under these locks panics, so poisoning is ignored.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex; `None` if another thread holds it for longer than [`MAX_WAIT`].
fn try_hold<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    let mut since = None;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(e)) => return Some(e.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        if since.get_or_insert_with(Instant::now).elapsed() > MAX_WAIT {
            return None;
        }
        std::thread::sleep(Duration::from_micros(20));
    }
}

extern "C" fn prepare() {
    let held = HeldLocks {
        in_progress: try_hold(&INTERPRETER.in_progress),
        thunks: try_hold(INTERPRETER.thunks.state()),
        patching: try_hold(&INTERPRETER.patching),
        counts: try_hold(&INTERPRETER.counters),
        #[cfg(all(ompvm_tail_calls, target_arch = "x86_64"))]
        code: code::used().and_then(try_hold),
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
    #[cfg(all(ompvm_tail_calls, target_arch = "x86_64"))]
    if let Some(used) = &mut held.code {
        used.mark_foreign();
    }
}

/// Registers the fork handlers, once per process.
pub fn install() {
    INTERPRETER.fork_handlers.call_once(|| {
        // SAFETY: the handlers are functions of this library that do not unwind.
        unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
    });
}
