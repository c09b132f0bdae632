//! Keeps the code area usable in a child of `fork`: its lock is held across the fork, and the child
//! takes note that the area's file is its parent's.

use super::code_memory::{self, AreaUse};
use ompvm_support::fork_lock::lock_before_fork;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::MutexGuard;

/// The guard of the code area's lock.
type HeldArea = ManuallyDrop<MutexGuard<'static, AreaUse>>;

thread_local! {
    /// The lock while the calling thread forks. Without a destructor, since destructors of other
    /// variables may fork.
    static HELD: Cell<Option<HeldArea>> = const { Cell::new(None) };
}

const _: () = assert!(!std::mem::needs_drop::<Cell<Option<HeldArea>>>());

/// Takes the lock that the calling thread holds.
fn take_held() -> Option<MutexGuard<'static, AreaUse>> {
    HELD.take().map(ManuallyDrop::into_inner)
}

extern "C" fn prepare() {
    let held = code_memory::used().and_then(lock_before_fork);
    HELD.set(held.map(ManuallyDrop::new));
}

extern "C" fn parent() {
    drop(take_held());
}

extern "C" fn child() {
    if let Some(mut used) = take_held() {
        used.mark_foreign();
    }
}

/// Registers the handlers. Called once, where the area is made.
pub fn install() {
    // SAFETY: the handlers are functions of this crate that do not unwind.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}
