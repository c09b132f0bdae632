//! `fork` handlers: the child has only the thread that forked.
//!
//! At `fork` the other threads may be in the middle of any operation. So the handlers hold all
//! locks of the runtime over the fork, acquired in one fixed order. In the child they discard
//! workers, teams with workers, and numbers of threads that do not exist. Records and blocks of
//! such threads are leaked, because they may be half-written.
//!
//! The locks are std's, whose state is one word: the child unlocks them without looking for
//! waiters. Locks of one team are not held, since a thread of the child shares none of them.

use std::mem::ManuallyDrop;
use std::sync::RwLockWriteGuard;

use crate::affinity::format;
use crate::alloc::{self, registered};
use crate::icv::{self, NestedThreads};
use crate::runtime::{LOCALS, RUNTIME};
use crate::task::{depend, memory};
use crate::{thread, threadprivate};
use ompvm_support::sync::MutexGuard;

/// Locks held while the process forks.
#[expect(dead_code, reason = "held, not looked at")]
pub(crate) struct HeldLocks {
    exclusions: MutexGuard<'static, ()>,
    spare: MutexGuard<'static, Vec<&'static memory::Blocks>>,
    variables: MutexGuard<'static, threadprivate::Variables>,
    lists: RwLockWriteGuard<'static, Vec<(u32, NestedThreads)>>,
    allocators: MutexGuard<'static, Vec<usize>>,
    blocks: MutexGuard<'static, registered::Table>,
    format: MutexGuard<'static, Option<String>>,
    pool: MutexGuard<'static, thread::Pool>,
}

/// The held locks in a thread's variables, which have no destructor.
pub(crate) type HeldForFork = ManuallyDrop<HeldLocks>;

/// Releases the locks that the calling thread holds.
fn release() {
    let held = LOCALS.with(|l| l.held_locks.take());
    drop(held.map(ManuallyDrop::into_inner));
}

extern "C" fn prepare() {
    let held = HeldLocks {
        exclusions: depend::lock_exclusions(),
        spare: memory::lock_spare_pools(),
        variables: threadprivate::lock_variables(),
        lists: icv::lock_lists(),
        allocators: alloc::lock_defaults(),
        blocks: registered::lock_blocks(),
        format: format::lock_format(),
        pool: thread::lock_pool(),
    };
    LOCALS.with(|l| l.held_locks.set(Some(ManuallyDrop::new(held))));
}

extern "C" fn parent() {
    release();
}

extern "C" fn child() {
    release();
    thread::forget_others();
}

/// Registers the handlers, once.
pub fn install() {
    RUNTIME.fork_handlers.call_once(|| {
        // SAFETY: the handlers are functions of this library that do not unwind.
        unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
    });
}
