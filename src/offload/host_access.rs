//! Accesses of drivers to host memory, which page faults do not catch.
//!
//! `ompvm-auto-offload` keeps blocks of host memory on a device and protects their pages meanwhile.
//! A driver that copies there fails, or waits for ever for its own lock if the fault handler uses
//! the driver. So the copies of this crate run in [`during`], which makes the range accessible and
//! keeps it so.

use ompvm_support::hook;
use ompvm_support::hook::Hook;

/// Makes a range of host memory accessible: its start, its size in bytes, and true if it will be
/// written. Returns what the end of the access is told.
type BeginHook = fn(usize, usize, bool) -> Option<u64>;
/// Ends an access.
type EndHook = fn(Option<u64>);

/// The functions for this process, whose pages any program's copies may access.
static BEGIN: Hook<BeginHook> = hook!(BeginHook);
static END: Hook<EndHook> = hook!(EndHook);

/// Registers the functions that make ranges accessible, before any page is protected.
pub fn set_hooks(begin: BeginHook, end: EndHook) {
    END.set(end);
    BEGIN.set(begin);
}

/// Ends an access, also if the copy panics.
struct Access(Option<u64>);

impl Drop for Access {
    fn drop(&mut self) {
        if let (Some(id), Some(end)) = (self.0, END.get()) {
            end(Some(id));
        }
    }
}

/// Runs a copy, while a range of host memory is accessible to the system or a device. Costs one
/// load while no program uses auto-offload.
#[inline]
pub(crate) fn during<R>(start: usize, size: usize, write: bool, copy: impl FnOnce() -> R) -> R {
    let _access = Access(BEGIN.get().and_then(|begin| begin(start, size, write)));
    copy()
}
