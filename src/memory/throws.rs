//! The origin of C++ exceptions, for messages about uncaught ones, and the C++ library that a
//! program throws with.
//!
//! Compiled code calls `__cxa_throw` and `__cxa_rethrow` through shims that record the caller.
//! [`uncaught`] determines inside an abort whether `std::terminate` ran, and for which exception.
//! By then the throwing frame may be gone: a function that lets no exception through (`noexcept`,
//! the body of a parallel region) is unwound to before it terminates. [`exception_snapshot`]
//! restores the C++ library's state after an embedded program was stopped.
//!
//! A process may hold several C++ libraries: libstdc++, which LLVM depends on, and the libc++ of a
//! guest, shared or from an archive. Each has its own record of a thread's exceptions and knows
//! only its own type infos, so a program's shims lead to the library that the program was linked
//! with ([`Library`]). Layouts are those of the Itanium C++ ABI in libstdc++ and in libc++abi.
//!
//! The interpreter records the exceptions of interpreted code.

use super::abi;
use super::func::{StubKind, Stubs};
use super::thread::{LOCALS, ThreadState};
use super::walk::{self, Registers};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes from an `_Unwind_Exception` to the object behind it.
const UNWIND: usize = 32;
/// Bytes from a caught exception's header to its `_Unwind_Exception`, by the library's family.
const HEADERS: [(Family, usize); 2] = [(Family::Gnu, 80), (Family::Clang, 96)];

/// The family of a C++ library, which decides the layouts of headers and type infos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// libstdc++.
    Gnu,
    /// libc++ with libc++abi.
    Clang,
}

/// The C++ meaning of an exception's class word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// The family of the library that threw the exception.
    pub family: Family,
    /// True if it refers to another exception, which has the object (`std::rethrow_exception`).
    pub dependent: bool,
}

impl Class {
    /// Parses the first word of an `_Unwind_Exception`; `None` for other languages.
    pub fn parse(word: u64) -> Option<Class> {
        let family = match &(word & !1).to_be_bytes() {
            b"GNUCC++\0" => Family::Gnu,
            b"CLNGC++\0" => Family::Clang,
            _ => return None,
        };
        Some(Class {
            family,
            dependent: word & 1 != 0,
        })
    }
}

/// An exception in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thrown {
    /// The address of its `_Unwind_Exception`.
    pub exception: usize,
    /// The instruction that threw it, in compiled code.
    pub position: usize,
}

// Named here, though LLVM needs this library too: the unit tests of some crates have no LLVM.
#[link(name = "stdc++")]
unsafe extern "C" {
    fn __cxa_throw();
    fn __cxa_rethrow();
    fn __cxa_get_globals() -> *mut Globals;
    fn __cxa_get_globals_fast() -> *mut Globals;
}

/// A C++ library's per-thread record (2.2.2 of the ABI).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Globals {
    /// The innermost caught exception.
    caught: usize,
    /// Number of uncaught exceptions in flight.
    uncaught: u32,
}

impl Globals {
    const EMPTY: Globals = Globals {
        caught: 0,
        uncaught: 0,
    };
}

/// Data of a shim; its machine code gets the address in r11.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Shim {
    /// The code that records the caller.
    code: unsafe extern "C-unwind" fn(),
    /// The C++ library's function that the code jumps to.
    target: unsafe extern "C" fn(),
    /// The C++ library.
    slot: &'static Slot,
}

/// A C++ library in the table of those that are searched for a thread's exceptions.
#[derive(Debug)]
struct Slot {
    used: AtomicBool,
    /// `__cxa_get_globals_fast`; 0 for the process's own.
    globals: AtomicUsize,
    /// The functions that are on the stack when an exception ends the program: `std::terminate`,
    /// and the two that throw, which remain if no handler was found.
    ends: [AtomicUsize; 6],
}

/// The most libraries of a process at a time.
const LIBRARIES: usize = 16;

/// The C++ libraries of a process.
#[repr(C)]
pub(super) struct CppLibraries {
    /// The shims of the process's own library: of `__cxa_throw` and `__cxa_rethrow`. Machine code
    /// relies on their place at the start.
    own: [Shim; 2],
    /// The table; the process's own library comes first.
    slots: [Slot; LIBRARIES],
    /// Held while a library is added.
    adding: Mutex<()>,
}

/// The C++ libraries of this process, in which programs that were linked with one library share
/// its record of exceptions.
pub(super) static CPP_LIBRARIES: CppLibraries = CppLibraries {
    own: [
        Shim {
            code: abi::raw_throw,
            target: __cxa_throw,
            slot: &CPP_LIBRARIES.slots[0],
        },
        Shim {
            code: abi::raw_rethrow,
            target: __cxa_rethrow,
            slot: &CPP_LIBRARIES.slots[0],
        },
    ],
    slots: {
        let mut slots = [const { Slot::new(false) }; LIBRARIES];
        slots[0] = Slot::new(true);
        slots
    },
    adding: Mutex::new(()),
};

impl Slot {
    const fn new(used: bool) -> Slot {
        Slot {
            used: AtomicBool::new(used),
            globals: AtomicUsize::new(0),
            ends: [const { AtomicUsize::new(0) }; 6],
        }
    }

    /// Returns this thread's record; null if the library has not made one yet.
    fn globals(&self) -> *mut Globals {
        let function = match self.globals.load(Ordering::Acquire) {
            0 => __cxa_get_globals_fast,
            // SAFETY: `Library::new` stores functions of this type only.
            address => unsafe {
                std::mem::transmute::<usize, unsafe extern "C" fn() -> *mut Globals>(address)
            },
        };
        // SAFETY: the library stays loaded while its slot is used.
        unsafe { function() }
    }

    /// Returns the innermost exception that this thread has caught.
    fn caught(&self) -> Option<usize> {
        // SAFETY: the library's per-thread record.
        let header = unsafe { self.globals().as_ref() }?.caught;
        if header == 0 {
            return None;
        }
        let at = HEADERS.into_iter().find_map(|(family, bytes)| {
            // SAFETY: in both layouts the header and the `_Unwind_Exception` have 112 bytes.
            let word = unsafe { *((header + bytes) as *const u64) };
            (Class::parse(word)?.family == family).then_some(header + bytes)
        });
        // Of other languages' exceptions, only those caught by libstdc++ are reported.
        Some(at.unwrap_or(header + HEADERS[0].1))
    }

    fn ends_a_program(&self, function: usize) -> bool {
        let at = |end: &AtomicUsize| end.load(Ordering::Acquire) == function;
        function != 0 && self.ends.iter().any(at)
    }
}

fn slots() -> impl Iterator<Item = &'static Slot> {
    let slots = CPP_LIBRARIES.slots.iter();
    slots.filter(|s| s.used.load(Ordering::Acquire))
}

/// Looks up the functions of the process's own library, since [`uncaught`] must not. Searches the
/// libraries, and the executable, which may contain the library itself: an executable at a fixed
/// address may have a jump of its own as a library function's address.
pub fn init() {
    let names = [c"_ZSt9terminatev", c"__cxa_throw", c"__cxa_rethrow"];
    let places = [libc::RTLD_NEXT, libc::RTLD_DEFAULT];
    for (i, end) in CPP_LIBRARIES.slots[0].ends.iter().enumerate() {
        // SAFETY: the name is a C string.
        let address = unsafe { libc::dlsym(places[i / 3], names[i % 3].as_ptr()) };
        end.store(address as usize, Ordering::Release);
    }
}

/// The name of the function that returns a thread's record.
pub const GLOBALS: &str = "__cxa_get_globals_fast";

/// Returns the address of [`GLOBALS`] in the process's own C++ library, as a lookup by name finds
/// it.
pub fn own_globals() -> usize {
    // SAFETY: the name is a C string.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_get_globals_fast".as_ptr()) as usize }
}

/// Functions of a C++ library, to which a program's symbols resolve.
#[derive(Clone, Copy, Debug)]
pub struct Functions {
    /// `__cxa_throw`.
    pub throw: usize,
    /// `__cxa_rethrow`.
    pub rethrow: usize,
    /// `__cxa_get_globals_fast`.
    pub globals: usize,
    /// `std::terminate`.
    pub terminate: usize,
    /// The family of the library.
    pub family: Family,
}

/// The C++ library of a program that was not linked with the process's own.
#[derive(Debug)]
pub struct Library {
    /// The family of the library.
    pub family: Family,
    stubs: Stubs,
    slot: &'static Slot,
    _shims: Box<[Shim; 2]>,
}

impl Library {
    /// Makes the shims of a library, which must stay loaded as long as this value lives.
    ///
    /// # Errors
    /// The system has no memory for machine code, or the process holds too many libraries.
    pub fn new(functions: Functions) -> Result<Library, String> {
        let slot = {
            let _add = CPP_LIBRARIES
                .adding
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let slots = CPP_LIBRARIES.slots.iter();
            let mut free = slots.filter(|s| !s.used.load(Ordering::Acquire));
            let slot = free.next().ok_or_else(|| {
                format!(
                    "the process already runs {LIBRARIES} programs with their own C++ library; \
                     drop one first"
                )
            })?;
            let ends = [functions.terminate, functions.throw, functions.rethrow];
            for (end, address) in slot.ends.iter().zip(ends) {
                end.store(address, Ordering::Release);
            }
            slot.globals.store(functions.globals, Ordering::Release);
            slot.used.store(true, Ordering::Release);
            slot
        };
        let shim = |code, target: usize| Shim {
            code,
            // SAFETY: the address of a function, which is only jumped to with its arguments in
            // place.
            target: unsafe { std::mem::transmute::<usize, unsafe extern "C" fn()>(target) },
            slot,
        };
        let shims = Box::new([
            shim(abi::raw_throw, functions.throw),
            shim(abi::raw_rethrow, functions.rethrow),
        ]);
        let made = Stubs::new(shims.len()).and_then(|stubs| {
            let jump = |shim: &Shim| StubKind::Jump(ptr::from_ref::<Shim>(shim).cast());
            stubs.write(&shims.each_ref().map(jump)).map(|()| stubs)
        });
        match made {
            Ok(stubs) => Ok(Library {
                family: functions.family,
                stubs,
                slot,
                _shims: shims,
            }),
            Err(cause) => {
                slot.used.store(false, Ordering::Release);
                Err(cause)
            }
        }
    }

    /// Returns the functions that compiled code calls, by their names in the C++ library.
    pub fn functions(&self) -> [(&'static str, usize); 2] {
        [
            ("__cxa_throw", self.stubs.address(0)),
            ("__cxa_rethrow", self.stubs.address(1)),
        ]
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        self.slot.used.store(false, Ordering::Release);
    }
}

/// A snapshot of the exceptions that a thread had caught or in flight.
#[derive(Clone, Copy, Debug)]
pub struct ExceptionSnapshot {
    own: Globals,
    /// The record of the program's own library.
    other: Option<(&'static Slot, Globals)>,
}

/// Returns a snapshot of this thread's exceptions in the process's library and in a program's own.
///
/// # Safety
/// `state` is this thread's state.
#[inline]
pub unsafe fn exception_snapshot(
    state: *mut ThreadState,
    library: Option<&Library>,
) -> ExceptionSnapshot {
    ExceptionSnapshot {
        // SAFETY: the library's record of this thread, which lives as long as the thread.
        own: unsafe { *own_record(state) },
        other: library.map(|library| {
            // SAFETY: the library's record of this thread, or null.
            let globals = unsafe { library.slot.globals().as_ref() };
            (library.slot, globals.map_or(Globals::EMPTY, |g| *g))
        }),
    }
}

/// Returns the process's library's record of this thread, whose address is fixed for the thread's
/// life. Cached, since each call from Rust comes here.
///
/// # Safety
/// `state` is this thread's state.
#[inline]
unsafe fn own_record(state: *mut ThreadState) -> *mut Globals {
    // SAFETY: the state is this thread's by contract, and alive. The library makes the record at
    // the first use.
    unsafe {
        if (*state).cpp_record.is_null() {
            (*state).cpp_record = __cxa_get_globals();
        }
        (*state).cpp_record
    }
}

impl ExceptionSnapshot {
    /// Restores the record after a jump left everything that ran since the snapshot. Exceptions
    /// thrown since leak, as everything else that the dropped frames owned.
    ///
    /// # Safety
    /// `state` is the state of the thread on which [`exception_snapshot`] took the snapshot, which
    /// is this one.
    pub unsafe fn restore(self, state: *mut ThreadState) {
        // SAFETY: the record of this thread, on which `exception_snapshot` took the snapshot.
        unsafe { *own_record(state) = self.own };
        if let Some((slot, before)) = self.other {
            // SAFETY: the library's record of this thread, on which `exception_snapshot` took the
            // snapshot.
            if let Some(globals) = unsafe { slot.globals().as_mut() } {
                *globals = before;
            }
        }
    }
}

pub(super) extern "C" fn thrown(object: usize, after: usize) {
    let thrown = Thrown {
        exception: object - UNWIND,
        position: after - 1,
    };
    LOCALS.with(|l| l.last_thrown.set(Some(thrown)));
}

pub(super) extern "C" fn rethrown(after: usize, shim: &Shim) {
    let thrown = shim.slot.caught().map(|exception| Thrown {
        exception,
        position: after - 1,
    });
    LOCALS.with(|l| l.last_thrown.set(thrown));
}

/// Returns the last exception that compiled code threw on this thread, if it is this one.
pub fn last_thrown(exception: usize) -> Option<Thrown> {
    let last = LOCALS.with(|l| l.last_thrown.get());
    last.filter(|t| t.exception == exception)
}

/// Returns the uncaught exception that ends the program, if there is one. Called inside an abort.
pub fn uncaught() -> Option<usize> {
    slots().find_map(|slot| {
        let exception = slot.caught()?;
        let mut found = false;
        walk::walk(Registers::here(), |_, start| {
            found = slot.ends_a_program(start);
            found
        });
        found.then_some(exception)
    })
}

/// Returns the functions that compiled code calls in a program with the process's own C++ library.
pub fn functions() -> [(&'static str, usize); 2] {
    let [throw, rethrow] = abi::throw_addresses();
    [("__cxa_throw", throw), ("__cxa_rethrow", rethrow)]
}
