//! This layer's variables of a thread.

use crate::auto_offload::ObjectsGuard;
use crate::emulated::block::Block;
use std::cell::Cell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::null_mut;

/// Variables without a destructor, since signal handlers and fork handlers read them.
pub(crate) struct ThreadLocals {
    /// CUDA's current context, as far as it was set here.
    pub(crate) cuda_context: Cell<*mut c_void>,
    /// The block of an emulated device that the thread executes.
    pub(crate) emulated_block: Cell<*mut Block<'static>>,
    /// True while the thread holds the lock on resident objects, so that the service thread could
    /// not answer its faults.
    pub(crate) holds_objects: Cell<bool>,
    /// The lock on resident objects while the thread forks.
    pub(crate) fork_guard: Cell<Option<ManuallyDrop<ObjectsGuard>>>,
}

thread_local! {
    /// The variables of the calling thread.
    pub(crate) static LOCALS: ThreadLocals = const {
        ThreadLocals {
            cuda_context: Cell::new(null_mut()),
            emulated_block: Cell::new(null_mut()),
            holds_objects: Cell::new(false),
            fork_guard: Cell::new(None),
        }
    };
}

const _: () = assert!(!std::mem::needs_drop::<ThreadLocals>());
