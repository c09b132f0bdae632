//! Accesses of the system and of drivers to host memory, which page faults do not catch.
//!
//! `ompvm-auto-offload` keeps blocks of host memory on a device and protects their pages meanwhile.
//! A copy by a driver fails there in place of faulting, so the copies of this crate announce the
//! range first.

use ompvm_support::hook;
use ompvm_support::hook::Hook;

/// Makes a range of host memory accessible: its start, its size in bytes, and true if it will be
/// written.
type AccessHook = fn(usize, usize, bool);

/// The function for this process, whose pages any program's copies may access.
static BEFORE_ACCESS: Hook<AccessHook> = hook!(AccessHook);

/// Registers the function that makes ranges accessible, before any page is protected.
pub fn set_hook(hook: AccessHook) {
    BEFORE_ACCESS.set(hook);
}

/// Makes a range of host memory accessible to the system or a device. Costs one load while no
/// program uses auto-offload.
#[inline]
pub(crate) fn announce(start: usize, size: usize, write: bool) {
    if let Some(make_accessible) = BEFORE_ACCESS.get() {
        make_accessible(start, size, write);
    }
}
