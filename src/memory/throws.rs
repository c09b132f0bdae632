//! Where exceptions come from, for the message about one that nobody catches, and with which C++
//! library a program throws.
//!
//! Compiled code calls `__cxa_throw` and `__cxa_rethrow` through shims that note the caller;
//! [`uncaught`] tells from inside an abort whether `std::terminate` ran and with which exception.
//! By then the frame that threw may be gone, for a function that lets nothing through (`noexcept`,
//! the body of a parallel region) is unwound to before it terminates. An embedded program that was
//! stopped leaves no trace in the C++ library ([`in_hand`]).
//!
//! A process may hold several C++ libraries: libstdc++, which LLVM brings along, and the libc++ of
//! a guest, shared or from an archive. Each has its own record of a thread's exceptions and knows
//! only its own type infos, so a program's shims lead to the library that the program was linked
//! with ([`Library`]). Layouts are those of the Itanium C++ ABI in libstdc++ and in libc++abi.
//!
//! Exceptions of interpreted code are noted by the interpreter.

use super::abi;
use super::func::{StubKind, Stubs};
use super::walk::{self, Registers};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes from an `_Unwind_Exception` to the object behind it.
const UNWIND: usize = 32;
/// Bytes from a caught exception's header to its `_Unwind_Exception`, by the library's family.
const HEADERS: [(Family, usize); 2] = [(Family::Gnu, 80), (Family::Clang, 96)];

/// The kind of a C++ library, which decides the form of headers and type infos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// libstdc++.
    Gnu,
    /// libc++ with libc++abi.
    Clang,
}

/// The meaning of an exception's class for C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// The kind of library that threw it.
    pub family: Family,
    /// It refers to another exception, which has the object (`std::rethrow_exception`).
    pub dependent: bool,
}

impl Class {
    /// Reads the first word of an `_Unwind_Exception`; `None` for other languages.
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

/// An exception on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thrown {
    /// The address of its `_Unwind_Exception`.
    pub exception: usize,
    /// The instruction that threw it, in compiled code.
    pub position: usize,
}

thread_local! {
    static LAST: Cell<Option<Thrown>> = const { Cell::new(None) };
}

unsafe extern "C" {
    fn __cxa_throw();
    fn __cxa_rethrow();
    fn __cxa_get_globals() -> *mut Globals;
    fn __cxa_get_globals_fast() -> *mut Globals;
}

/// A C++ library's record of a thread (2.2.2 of the ABI).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Globals {
    /// The innermost caught exception.
    caught: usize,
    /// How many are on their way.
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
    /// The code that notes the caller.
    code: unsafe extern "C-unwind" fn(),
    /// The C++ library's function, to which the code jumps.
    target: unsafe extern "C" fn(),
    /// The C++ library.
    slot: &'static Slot,
}

/// The shims of the process's own C++ library: of `__cxa_throw` and `__cxa_rethrow`.
pub(super) static OWN: [Shim; 2] = [
    Shim {
        code: abi::raw_throw,
        target: __cxa_throw,
        slot: &SLOTS[0],
    },
    Shim {
        code: abi::raw_rethrow,
        target: __cxa_rethrow,
        slot: &SLOTS[0],
    },
];

/// The place of a C++ library among those that are asked about a thread's exceptions.
#[derive(Debug)]
struct Slot {
    used: AtomicBool,
    /// `__cxa_get_globals_fast`; 0 for the process's own.
    globals: AtomicUsize,
    /// The functions that are on the stack when an exception ends the program: `std::terminate`,
    /// and the two that throw, which stay when nothing was found to unwind to.
    ends: [AtomicUsize; 6],
}

/// As many libraries as a process can have at a time.
const LIBRARIES: usize = 16;
static SLOTS: [Slot; LIBRARIES] = {
    let mut slots = [const { Slot::new(false) }; LIBRARIES];
    slots[0] = Slot::new(true);
    slots
};
/// Held by whoever adds a library.
static ADD: Mutex<()> = Mutex::new(());

impl Slot {
    const fn new(used: bool) -> Slot {
        Slot {
            used: AtomicBool::new(used),
            globals: AtomicUsize::new(0),
            ends: [const { AtomicUsize::new(0) }; 6],
        }
    }

    /// This thread's record; null if the library has not made one yet.
    fn globals(&self) -> *mut Globals {
        let function = match self.globals.load(Ordering::Acquire) {
            0 => __cxa_get_globals_fast,
            // SAFETY: `Library::new` stores functions of this type only.
            address => unsafe {
                std::mem::transmute::<usize, unsafe extern "C" fn() -> *mut Globals>(address)
            },
        };
        // SAFETY: the function of a library that stays while its slot is used.
        unsafe { function() }
    }

    /// The innermost exception that this thread has caught.
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
        // Of other languages' exceptions only libstdc++'s are told of.
        Some(at.unwrap_or(header + HEADERS[0].1))
    }

    fn ends_a_program(&self, function: usize) -> bool {
        let at = |end: &AtomicUsize| end.load(Ordering::Acquire) == function;
        function != 0 && self.ends.iter().any(at)
    }
}

fn slots() -> impl Iterator<Item = &'static Slot> {
    SLOTS.iter().filter(|s| s.used.load(Ordering::Acquire))
}

/// Looks up the functions of the process's own library, for [`uncaught`] must not. By name in the
/// libraries, and in the executable, which may hold them itself: the address that an executable at
/// a fixed place has for a library's function may be a jump of its own.
pub fn init() {
    let names = [c"_ZSt9terminatev", c"__cxa_throw", c"__cxa_rethrow"];
    let places = [libc::RTLD_NEXT, libc::RTLD_DEFAULT];
    for (i, end) in SLOTS[0].ends.iter().enumerate() {
        // SAFETY: the name is a C string.
        let address = unsafe { libc::dlsym(places[i / 3], names[i % 3].as_ptr()) };
        end.store(address as usize, Ordering::Release);
    }
}

/// The name of the function that gives a thread's record.
pub const GLOBALS: &str = "__cxa_get_globals_fast";

/// Where the process's own C++ library has [`GLOBALS`], as a look-up by name finds it.
pub fn own_globals() -> usize {
    // SAFETY: the name is a C string.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_get_globals_fast".as_ptr()) as usize }
}

/// Functions of a C++ library, as a program's symbols resolve.
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
    /// The kind of library they belong to.
    pub family: Family,
}

/// The C++ library of a program that was not linked with the process's own.
#[derive(Debug)]
pub struct Library {
    /// Its kind.
    pub family: Family,
    stubs: Stubs,
    slot: &'static Slot,
    _shims: Box<[Shim; 2]>,
}

impl Library {
    /// Makes the shims of a library, which must stay loaded for as long as this value lives.
    ///
    /// # Errors
    /// When the system has no memory for machine code, or a process holds too many libraries.
    pub fn new(functions: Functions) -> Result<Library, String> {
        let slot = {
            let _add = ADD.lock().unwrap_or_else(PoisonError::into_inner);
            let mut free = SLOTS.iter().filter(|s| !s.used.load(Ordering::Acquire));
            let slot = free.next().ok_or_else(|| {
                format!("more than {LIBRARIES} programs with a C++ library of their own at a time")
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
            // SAFETY: the address of a function, which is only jumped to with its arguments in place.
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

    /// The functions that compiled code calls, by the names of the C++ library.
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

/// The exceptions that a thread had caught or on their way at some time.
#[derive(Clone, Copy, Debug)]
pub struct InHand {
    own: Globals,
    /// The same in the program's own library.
    other: Option<(&'static Slot, Globals)>,
}

/// Returns what this thread has in hand now, in the process's library and in that of a program.
#[inline]
pub fn in_hand(library: Option<&Library>) -> InHand {
    InHand {
        // SAFETY: the library's per-thread record.
        own: unsafe { *own_record() },
        other: library.map(|library| {
            // SAFETY: the library's per-thread record.
            let globals = unsafe { library.slot.globals().as_ref() };
            (library.slot, globals.map_or(Globals::EMPTY, |g| *g))
        }),
    }
}

/// Returns the record that the process's library has of this thread, which stays where it is for the
/// thread's life. Asks for it once: each call from Rust comes here.
#[inline]
fn own_record() -> *mut Globals {
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
        unsafe { *own_record() = self.own };
        if let Some((slot, before)) = self.other {
            // SAFETY: the library's per-thread record, on the thread that `in_hand` saw.
            if let Some(globals) = unsafe { slot.globals().as_mut() } {
                *globals = before;
            }
        }
    }
}

pub(super) extern "C" fn thrown(object: usize, after: usize) {
    LAST.set(Some(Thrown {
        exception: object - UNWIND,
        position: after - 1,
    }));
}

pub(super) extern "C" fn rethrown(after: usize, shim: &Shim) {
    LAST.set(shim.slot.caught().map(|exception| Thrown {
        exception,
        position: after - 1,
    }));
}

/// What compiled code threw last on this thread, if it is this exception.
pub fn last(exception: usize) -> Option<Thrown> {
    LAST.get().filter(|t| t.exception == exception)
}

/// Inside an abort: the exception that nobody caught, if that is what ends the program.
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

/// The functions that compiled code calls in a program with the process's own C++ library.
pub fn functions() -> [(&'static str, usize); 2] {
    let [throw, rethrow] = abi::throw_addresses();
    [("__cxa_throw", throw), ("__cxa_rethrow", rethrow)]
}
