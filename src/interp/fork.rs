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
use super::{entry, osr, stats, thunk};
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::{Mutex, MutexGuard, Once, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The longest wait for a lock. The longest critical section, the compilation of a rare
/// instruction, is much shorter.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The guards that are held while the process forks.
#[expect(dead_code, reason = "held, not looked at")]
struct HeldLocks {
    in_progress: Option<MutexGuard<'static, entry::InProgress>>,
    thunks: Option<MutexGuard<'static, thunk::CompiledThunks>>,
    patching: Option<MutexGuard<'static, ()>>,
    counts: Option<MutexGuard<'static, stats::Counters>>,
    #[cfg(all(ompvm_tail_calls, target_arch = "x86_64"))]
    code: Option<MutexGuard<'static, code::AreaUse>>,
}

thread_local! {
    /// Has no destructor, since a destructor of the thread may fork.
    static HELD_LOCKS: Cell<Option<ManuallyDrop<HeldLocks>>> = const { Cell::new(None) };
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
        in_progress: try_hold(&entry::IN_PROGRESS),
        thunks: try_hold(entry::THUNKS.state()),
        patching: try_hold(&osr::PATCH_LOCK),
        counts: try_hold(&stats::COUNTERS),
        #[cfg(all(ompvm_tail_calls, target_arch = "x86_64"))]
        code: code::used().and_then(try_hold),
    };
    HELD_LOCKS.set(Some(ManuallyDrop::new(held)));
}

extern "C" fn parent() {
    drop(HELD_LOCKS.take().map(ManuallyDrop::into_inner));
}

extern "C" fn child() {
    let Some(mut held) = HELD_LOCKS.take().map(ManuallyDrop::into_inner) else {
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
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers are functions of this library that do not unwind.
        unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
    });
}
