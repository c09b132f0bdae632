//! `fork`: a child has the thread that forked, and nobody else.
//!
//! Other threads may be in the midst of anything then. So the locks of the whole runtime are held
//! over it, all in the same order, and what the child forgets is forgotten here: workers,
//! teams with workers, numbers of threads that are not there. Records and blocks of such threads
//! are leaked, for they may be half-written.
//!
//! The locks are std's, whose state is one word: the child frees them without asking who waits.
//! What not: locks of one team, which no thread of the child shares with anybody.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::{Once, RwLockWriteGuard};

use crate::kmpc::affinity::format;
use crate::kmpc::alloc::{self, special};
use crate::kmpc::icv::{self, NestedThreads};
use crate::kmpc::task::{depend, memory};
use crate::kmpc::{thread, threadprivate};
use crate::support::sync::MutexGuard;

/// What is held while the process forks.
#[expect(dead_code, reason = "held, not looked at")]
struct Held {
    turns: MutexGuard<'static, ()>,
    spare: MutexGuard<'static, Vec<&'static memory::Blocks>>,
    variables: MutexGuard<'static, threadprivate::Variables>,
    lists: RwLockWriteGuard<'static, Vec<(u32, NestedThreads)>>,
    allocators: MutexGuard<'static, Vec<usize>>,
    blocks: MutexGuard<'static, special::Table>,
    format: MutexGuard<'static, Option<String>>,
    pool: MutexGuard<'static, thread::Pool>,
}

thread_local! {
    /// Without a destructor, so that one of the thread's may fork.
    static HELD: Cell<Option<ManuallyDrop<Held>>> = const { Cell::new(None) };
}

extern "C" fn prepare() {
    let held = Held {
        turns: depend::hold(),
        spare: memory::hold(),
        variables: threadprivate::hold(),
        lists: icv::hold(),
        allocators: alloc::hold(),
        blocks: special::hold(),
        format: format::hold(),
        pool: thread::hold(),
    };
    HELD.set(Some(ManuallyDrop::new(held)));
}

extern "C" fn parent() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

extern "C" fn child() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
    thread::forget_others();
}

/// Has all this done at every fork from now on.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers are functions of this library without unwinding.
        unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
    });
}
