//! Where exceptions come from, for the message about one that nobody catches.
//!
//! What: compiled code calls `__cxa_throw` and `__cxa_rethrow` through [`functions`], which note
//! the caller; [`uncaught`] tells from inside an abort whether `std::terminate` ran and with which
//! exception. Why: by then the frame that threw may be gone, for a function that lets nothing
//! through (`noexcept`, the body of a parallel region) is unwound to before it terminates. An
//! embedded program that was stopped leaves no trace in the C++ library ([`in_hand`]).
//! Layouts are those of the Itanium C++ ABI in libstdc++.
//!
//! What not: exceptions of interpreted code are noted by the interpreter.

use super::abi;
use super::walk::{self, Registers};
use std::cell::Cell;
use std::sync::OnceLock;

/// Bytes from a caught exception's header to its `_Unwind_Exception`, and from there to the
/// object.
const HEADER: usize = 80;
const UNWIND: usize = 32;

/// An exception on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thrown {
    /// The address of its `_Unwind_Exception`.
    pub exception: usize,
    /// The instruction that threw it, in compiled code.
    pub position: usize,
}

/// The C++ library's functions that are on the stack when an exception ends the program:
/// `std::terminate`, and the two that throw, which stay when nothing was found to unwind to.
static ENDS: OnceLock<[usize; 6]> = OnceLock::new();

/// Looks the functions up, for [`uncaught`] must not. By name in the libraries, and in the
/// executable, which may hold them itself: the address that
/// an executable at a fixed place has for a library's function may be a jump of its own.
pub fn init() {
    ENDS.get_or_init(|| {
        let names = [c"_ZSt9terminatev", c"__cxa_throw", c"__cxa_rethrow"];
        let places = [libc::RTLD_NEXT, libc::RTLD_DEFAULT];
        std::array::from_fn(|i| {
            // SAFETY: the name is a C string.
            unsafe { libc::dlsym(places[i / 3], names[i % 3].as_ptr()) as usize }
        })
    });
}

thread_local! {
    static LAST: Cell<Option<Thrown>> = const { Cell::new(None) };
}

unsafe extern "C" {
    fn __cxa_get_globals() -> *mut Globals;
}

/// The C++ library's record of a thread (2.2.2 of the ABI).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Globals {
    /// The innermost caught exception.
    caught: usize,
    /// How many are on their way.
    uncaught: u32,
}

/// The exceptions that a thread had caught or on their way at some time.
#[derive(Clone, Copy, Debug)]
pub struct InHand(Globals);

/// What this thread has in hand now.
#[inline]
pub fn in_hand() -> InHand {
    // SAFETY: the library's per-thread record.
    InHand(unsafe { *globals() })
}

/// The library's record of this thread, which stays where it is for the thread's life. Asked for once:
/// each call from Rust comes here.
#[inline]
fn globals() -> *mut Globals {
    thread_local! {
        static RECORD: Cell<*mut Globals> = const { Cell::new(std::ptr::null_mut()) };
    }
    let known = RECORD.get();
    if !known.is_null() {
        return known;
    }
    // SAFETY: the library makes the record at the first use.
    let record = unsafe { __cxa_get_globals() };
    RECORD.set(record);
    record
}

impl InHand {
    /// Forgets what was thrown since, after everything that ran since was left by a jump. The
    /// exceptions leak, as whatever else its frames owned.
    pub fn restore(self) {
        // SAFETY: as in `in_hand`, on the same thread.
        unsafe { *globals() = self.0 };
    }
}

pub(super) extern "C" fn thrown(object: usize, after: usize) {
    LAST.set(Some(Thrown {
        exception: object - UNWIND,
        position: after - 1,
    }));
}

pub(super) extern "C" fn rethrown(after: usize) {
    LAST.set(caught().map(|exception| Thrown {
        exception,
        position: after - 1,
    }));
}

/// The innermost exception that this thread has caught.
fn caught() -> Option<usize> {
    // SAFETY: the library's per-thread record, which it makes at the first use.
    let header = unsafe { (*__cxa_get_globals()).caught };
    (header != 0).then(|| header + HEADER)
}

/// What compiled code threw last on this thread, if it is this exception.
pub fn last(exception: usize) -> Option<Thrown> {
    LAST.get().filter(|t| t.exception == exception)
}

/// Inside an abort: the exception that nobody caught, if that is what ends the program.
pub fn uncaught() -> Option<usize> {
    let exception = caught()?;
    let ends = ENDS.get()?;
    let mut found = false;
    walk::walk(Registers::here(), |_, start| {
        found = start != 0 && ends.contains(&start);
        found
    });
    found.then_some(exception)
}

/// The functions by the names of the C++ library.
pub fn functions() -> [(&'static str, usize); 2] {
    let [throw, rethrow] = abi::throw_addresses();
    [("__cxa_throw", throw), ("__cxa_rethrow", rethrow)]
}
