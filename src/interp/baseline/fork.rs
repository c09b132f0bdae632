//! Keeps the code area usable in a child of `fork`: its lock is held across the fork, so no other
//! thread holds it in the child. Signals are blocked meanwhile: a handler may call a function for the
//! first time, whose code is appended to the area.

use super::code_memory::{self, AreaUse};
use ompvm_memory::signal_safe::SignalsBlocked;
use ompvm_support::fork_lock::lock_before_fork;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::MutexGuard;

/// The guard of the code area's lock, dropped before signals are unblocked.
#[expect(dead_code, reason = "held, not looked at")]
struct Held {
    area: Option<MutexGuard<'static, AreaUse>>,
    _signals: SignalsBlocked,
}

type HeldArea = ManuallyDrop<Held>;

thread_local! {
    /// The lock while the calling thread forks. Without a destructor, since destructors of other
    /// variables may fork.
    static HELD: Cell<Option<HeldArea>> = const { Cell::new(None) };
}

const _: () = assert!(!std::mem::needs_drop::<Cell<Option<HeldArea>>>());

extern "C" fn prepare() {
    let signals = SignalsBlocked::new();
    let held = Held {
        area: code_memory::used().and_then(lock_before_fork),
        _signals: signals,
    };
    HELD.set(Some(ManuallyDrop::new(held)));
}

/// Releases the lock, in the parent and in the child.
extern "C" fn release() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

/// Registers the handlers. Called once, where the area is made.
pub fn install() {
    // SAFETY: the handlers are functions of this crate that do not unwind.
    unsafe { libc::pthread_atfork(Some(prepare), Some(release), Some(release)) };
}
