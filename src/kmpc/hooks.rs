//! What the virtual machine may hang into the runtime.
//!
//! The runtime knows no tier; a tier that needs something per worker thread (a guest stack, a
//! name for messages) registers functions here before the first region.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// Functions called on worker threads.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Called on each worker once, before its first region, with its global thread number; the
    /// result is kept for the thread.
    pub worker_start: fn(gtid: i32) -> *mut c_void,
}

static HOOKS: OnceLock<Hooks> = OnceLock::new();

/// Registers the hooks; false if some are registered already.
pub fn install(hooks: Hooks) -> bool {
    HOOKS.set(hooks).is_ok()
}

pub(crate) fn worker_start(gtid: i32) -> *mut c_void {
    HOOKS
        .get()
        .map_or(null_mut(), |hooks| (hooks.worker_start)(gtid))
}

/// What the start hook returned for the calling worker; null on other threads.
pub fn thread_data() -> *mut c_void {
    crate::kmpc::thread::current_if_known().map_or(null_mut(), |thread| thread.hook_data())
}
