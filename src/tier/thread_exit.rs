//! Destructors of `thread_local` objects of embedded programs.
//!
//! A thread of the host may outlive the program that it called, and the program's code is unloaded
//! with the program. So these destructors are not registered with the C library one by one. Each
//! thread has a list of its own, which is walked when the thread ends ([`register`]). A destructor
//! runs only while its program is alive ([`Lifetime`]). A program that ends runs those of the
//! ending thread ([`run_own`]) and drops the others. The order is that of the C++ ABI: last one
//! first.
//!
//! Programs in the native mode are never unloaded, and use the C library's list.

use super::registry::{LOCALS, REGISTRY};
use parking_lot::{Condvar, Mutex};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// Type of a destructor.
pub type Destructor = extern "C-unwind" fn(*mut c_void);

unsafe extern "C" {
    fn __cxa_thread_atexit_impl(f: Destructor, arg: *mut c_void, dso: *mut c_void) -> c_int;
}

/// State that tells threads whether a program's code is still loaded.
#[derive(Debug)]
pub struct Lifetime {
    serial: u64,
    state: Mutex<LifetimeState>,
    idle: Condvar,
}

#[derive(Debug, Default)]
struct LifetimeState {
    ended: bool,
    /// Number of threads that run destructors of the program as they end.
    running: usize,
}

impl Lifetime {
    /// Registers the program whose image has this serial number.
    pub fn begin(serial: u64) -> Arc<Lifetime> {
        let lifetime = Arc::new(Lifetime {
            serial,
            state: Mutex::default(),
            idle: Condvar::new(),
        });
        REGISTRY.lifetimes.lock().push(lifetime.clone());
        lifetime
    }

    /// Waits for destructors of the program that run on other threads, and prevents further ones.
    pub fn end(&self) {
        REGISTRY
            .lifetimes
            .lock()
            .retain(|l| l.serial != self.serial);
        let mut state = self.state.lock();
        state.ended = true;
        while state.running > 0 {
            self.idle.wait(&mut state);
        }
    }

    /// Keeps the program from ending until `release`. Returns false if it has ended.
    fn hold(&self) -> bool {
        let mut state = self.state.lock();
        state.running += usize::from(!state.ended);
        !state.ended
    }

    fn release(&self) {
        self.state.lock().running -= 1;
        self.idle.notify_all();
    }
}

/// A destructor to run when its thread ends.
pub(super) struct PendingDestructor {
    lifetime: Arc<Lifetime>,
    run: Destructor,
    arg: usize,
}

/// Returns this thread's list; null if it has none.
fn own_list() -> *mut Vec<PendingDestructor> {
    LOCALS.with(|l| l.destructors.get())
}

/// Registers a destructor of a program for this thread. Returns `None` if no embedded program has
/// an image of that serial number.
pub fn register(serial: u64, run: Destructor, arg: *mut c_void) -> Option<c_int> {
    let lifetimes = REGISTRY.lifetimes.lock();
    let lifetime = lifetimes.iter().find(|l| l.serial == serial)?.clone();
    drop(lifetimes);
    let mut list = own_list();
    if list.is_null() {
        let handle = (&raw const REGISTRY.dso).cast_mut().cast();
        // SAFETY: `thread_ends` is part of the executable, which the handle identifies and which is
        // never unloaded.
        let rc = unsafe { __cxa_thread_atexit_impl(thread_ends, ptr::null_mut(), handle) };
        if rc != 0 {
            return Some(rc);
        }
        list = Box::into_raw(Box::default());
        LOCALS.with(|l| l.destructors.set(list));
    }
    let entry = PendingDestructor {
        lifetime,
        run,
        arg: arg.expose_provenance(),
    };
    // SAFETY: the pointer is this thread's live list. No reference to it is held while a destructor
    // runs.
    unsafe { (*list).push(entry) };
    Some(0)
}

/// Runs this thread's destructors of one program, last one first.
pub fn run_own(serial: u64) {
    let next = || {
        // SAFETY: null or this thread's live list. The reference ends before a destructor runs.
        let list = unsafe { own_list().as_mut() }?;
        let last = list.iter().rposition(|e| e.lifetime.serial == serial)?;
        Some(list.remove(last))
    };
    while let Some(entry) = next() {
        (entry.run)(ptr::with_exposed_provenance_mut(entry.arg));
    }
}

extern "C-unwind" fn thread_ends(_: *mut c_void) {
    // SAFETY: null or this thread's live list. The reference ends before a destructor runs.
    while let Some(entry) = unsafe { own_list().as_mut() }.and_then(Vec::pop) {
        if entry.lifetime.hold() {
            (entry.run)(ptr::with_exposed_provenance_mut(entry.arg));
            entry.lifetime.release();
        }
    }
    let list = LOCALS.with(|l| l.destructors.replace(ptr::null_mut()));
    if !list.is_null() {
        // SAFETY: `register` created the list on this thread with `Box::into_raw`.
        drop(unsafe { Box::from_raw(list) });
    }
}
