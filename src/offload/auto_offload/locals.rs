//! This crate's variables of a thread.

use crate::in_use::ListGuard;
use crate::residency::ObjectsGuard;
use std::cell::Cell;
use std::mem::ManuallyDrop;

/// Variables without a destructor, since signal handlers and fork handlers read them.
pub(crate) struct ThreadLocals {
    /// True while the thread holds the lock on resident objects, so that the service thread could
    /// not answer its faults.
    pub(crate) holds_objects: Cell<bool>,
    /// The lock on resident objects while the thread forks.
    pub(crate) fork_guard: Cell<Option<ManuallyDrop<ObjectsGuard>>>,
    /// True while the thread may hold the lock on the ranges in use.
    pub(crate) holds_list: Cell<bool>,
    /// The lock on the ranges in use while the thread forks.
    pub(crate) list_guard: Cell<Option<ManuallyDrop<ListGuard>>>,
}

thread_local! {
    /// The variables of the calling thread.
    pub(crate) static LOCALS: ThreadLocals = const {
        ThreadLocals {
            holds_objects: Cell::new(false),
            fork_guard: Cell::new(None),
            holds_list: Cell::new(false),
            list_guard: Cell::new(None),
        }
    };
}

const _: () = assert!(!std::mem::needs_drop::<ThreadLocals>());
