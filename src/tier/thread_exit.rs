//! Destructors of `thread_local` objects of embedded programs.
//!
//! A thread of the host may outlive the program that it called, and the program's code goes with
//! the program. So these destructors are not given to the C library one by one: each thread has a
//! list of its own, walked when the thread ends ([`register`]). A destructor runs only while its
//! program is alive ([`Lifetime`]); a program that ends runs those of the thread that ends it
//! ([`run_own`]) and drops the others. They are kept in the order of the C++ ABI: last one first.
//!
//! Left out: programs in the native manner never go, and use the C library's list.

use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// The type of a destructor.
pub type Destructor = extern "C-unwind" fn(*mut c_void);

unsafe extern "C" {
    fn __cxa_thread_atexit_impl(f: Destructor, arg: *mut c_void, dso: *mut c_void) -> c_int;
}

/// The handle that names this executable to the C library.
static DSO: u8 = 0;

/// Tells threads whether a program's code is still there.
#[derive(Debug)]
pub struct Lifetime {
    serial: u64,
    state: Mutex<State>,
    idle: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ended: bool,
    /// Threads that run destructors of the program as they end.
    running: usize,
}

/// The programs whose destructors may be registered.
static LIFETIMES: Mutex<Vec<Arc<Lifetime>>> = Mutex::new(Vec::new());

impl Lifetime {
    /// Announces the program whose image has this serial number.
    pub fn begin(serial: u64) -> Arc<Lifetime> {
        let lifetime = Arc::new(Lifetime {
            serial,
            state: Mutex::default(),
            idle: Condvar::new(),
        });
        LIFETIMES.lock().push(lifetime.clone());
        lifetime
    }

    /// Waits for destructors of the program that run on other threads; none begins afterwards.
    pub fn end(&self) {
        LIFETIMES.lock().retain(|l| l.serial != self.serial);
        let mut state = self.state.lock();
        state.ended = true;
        while state.running > 0 {
            self.idle.wait(&mut state);
        }
    }

    /// Keeps the program from ending until [`Lifetime::release`]; false if it has ended.
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

struct Entry {
    lifetime: Arc<Lifetime>,
    run: Destructor,
    arg: usize,
}

thread_local! {
    /// This thread's entries; null without any. Not dropped by Rust: destructors may register
    /// others until the very end.
    static LIST: Cell<*mut Vec<Entry>> = const { Cell::new(ptr::null_mut()) };
}

/// Registers a destructor of a program for this thread; `None` when no embedded program has an image
/// of that serial number.
pub fn register(serial: u64, run: Destructor, arg: *mut c_void) -> Option<c_int> {
    let lifetimes = LIFETIMES.lock();
    let lifetime = lifetimes.iter().find(|l| l.serial == serial)?.clone();
    drop(lifetimes);
    let mut list = LIST.get();
    if list.is_null() {
        let handle = (&raw const DSO).cast_mut().cast();
        // SAFETY: the function stays in the executable; the handle names it.
        let rc = unsafe { __cxa_thread_atexit_impl(thread_ends, ptr::null_mut(), handle) };
        if rc != 0 {
            return Some(rc);
        }
        list = Box::into_raw(Box::default());
        LIST.set(list);
    }
    let entry = Entry {
        lifetime,
        run,
        arg: arg.expose_provenance(),
    };
    // SAFETY: this thread's list, to which no reference is held while a destructor runs.
    unsafe { (*list).push(entry) };
    Some(0)
}

/// Runs this thread's destructors of one program, last one first.
pub fn run_own(serial: u64) {
    let next = || {
        // SAFETY: as in `register`.
        let list = unsafe { LIST.get().as_mut() }?;
        let last = list.iter().rposition(|e| e.lifetime.serial == serial)?;
        Some(list.remove(last))
    };
    while let Some(entry) = next() {
        (entry.run)(ptr::with_exposed_provenance_mut(entry.arg));
    }
}

extern "C-unwind" fn thread_ends(_: *mut c_void) {
    // SAFETY: as in `register`.
    while let Some(entry) = unsafe { LIST.get().as_mut() }.and_then(Vec::pop) {
        if entry.lifetime.hold() {
            (entry.run)(ptr::with_exposed_provenance_mut(entry.arg));
            entry.lifetime.release();
        }
    }
    let list = LIST.replace(ptr::null_mut());
    if !list.is_null() {
        // SAFETY: made by `register` on this thread, and empty.
        drop(unsafe { Box::from_raw(list) });
    }
}
