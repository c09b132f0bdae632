//! `fork`: a child has the thread that forked, and may need whatever the interpreter locks.
//!
//! What: the interpreter's locks are held over it, so that none is another thread's in the child;
//! functions that other threads were lowering are nobody's there. They are std's, whose state is
//! one word: `parking_lot` keeps who waits in a table of the process, and may give a lock to a
//! thread that the child does not have. What is made at its first use is in cells that nobody
//! waits for (`once_cell::race`): std's are one thread's while it makes it, in the child for ever.
//! What not: a handler of signals may fork while its own thread holds a lock; so a fork waits for
//! each only for a while, and the child has it as it is then.

#[cfg(all(ompvm_tail_calls, target_arch = "x86_64"))]
use super::baseline::memory as code;
use super::{entry, stats, thunk, watch};
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::{Mutex, MutexGuard, Once, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Longest wait for a lock; a rare instruction's compilation, the longest of them, takes a few
/// milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is held while the process forks.
#[expect(dead_code, reason = "held, not looked at")]
struct Held {
    under_way: Option<MutexGuard<'static, entry::UnderWay>>,
    thunks: Option<MutexGuard<'static, thunk::State>>,
    changes: Option<MutexGuard<'static, ()>>,
    counts: Option<MutexGuard<'static, stats::State>>,
    #[cfg(all(ompvm_tail_calls, target_arch = "x86_64"))]
    code: Option<MutexGuard<'static, code::Used>>,
}

thread_local! {
    /// Without a destructor, so that one of the thread's may fork.
    static HELD: Cell<Option<ManuallyDrop<Held>>> = const { Cell::new(None) };
}

/// The mutex, held. Nothing under these locks panics.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mutex, held, unless it stays another's.
fn hold<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    let mut since = None;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(e)) => return Some(e.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return None;
        }
        std::thread::sleep(Duration::from_micros(20));
    }
}

extern "C" fn prepare() {
    let held = Held {
        under_way: hold(&entry::UNDER_WAY),
        thunks: hold(entry::THUNKS.state()),
        changes: hold(&watch::CHANGES),
        counts: hold(&stats::STATE),
        #[cfg(all(ompvm_tail_calls, target_arch = "x86_64"))]
        code: code::used().and_then(hold),
    };
    HELD.set(Some(ManuallyDrop::new(held)));
}

extern "C" fn parent() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

extern "C" fn child() {
    let Some(mut held) = HELD.take().map(ManuallyDrop::into_inner) else {
        return;
    };
    if let Some(list) = &mut held.under_way {
        list.forget_others();
    }
    #[cfg(all(ompvm_tail_calls, target_arch = "x86_64"))]
    if let Some(used) = &mut held.code {
        used.now_foreign();
    }
}

/// Has all this done at every fork from now on.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers are functions of this library without unwinding.
        unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
    });
}
