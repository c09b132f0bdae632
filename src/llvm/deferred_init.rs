//! Deferred execution of LLVM's constructors until LLVM is first needed.
//!
//! LLVM registers some thousand command-line options and tables before `main`. A program that only
//! loads cached code, or prints its help, would pay a millisecond and twenty megabytes for them.
//! The executable's linker script (`llvm-late.ld`, see `build.rs`) puts pointers to these
//! constructors into a section of their own instead of the one that the C library walks. Without
//! that script (tests, libraries) the section is empty and the constructors have run already.
//!
//! Destructors of objects constructed late are not registered: nobody needs them, and they would
//! run before exit handlers that the guest registered earlier and that may still need LLVM.

use super::process::{LLVM, LOCALS};
use std::ffi::{c_char, c_int, c_void};

type Constructor = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char);

/// Makes the section exist, without contents: the executable has one.
#[used]
#[unsafe(link_section = "llvm_constructors")]
static NOTHING: Option<Constructor> = None;

unsafe extern "C" {
    #[link_name = "__start_llvm_constructors"]
    static START: [Option<Constructor>; 0];
    #[link_name = "__stop_llvm_constructors"]
    static STOP: [Option<Constructor>; 0];
}

/// Returns true if this process has used LLVM.
pub fn started() -> bool {
    LLVM.constructors.is_completed()
}

/// Runs LLVM's constructors once. Must be called before anything else of LLVM.
pub(super) fn start() {
    LLVM.constructors.call_once(|| {
        std::hint::black_box(&NOTHING);
        let start = (&raw const START).cast::<Option<Constructor>>();
        let stop = (&raw const STOP).cast::<Option<Constructor>>();
        // SAFETY: the linker's symbols bound a section of pointers to constructors and nulls; each
        // constructor is called once, as the C library would call it.
        unsafe {
            LOCALS.with(|l| l.constructing.set(true));
            let mut at = start;
            while at < stop {
                if let Some(constructor) = at.read() {
                    constructor(0, std::ptr::null(), std::ptr::null());
                }
                at = at.add(1);
            }
            LOCALS.with(|l| l.constructing.set(false));
        }
    });
}

type Destructor = unsafe extern "C" fn(*mut c_void);
type Register = unsafe extern "C" fn(Destructor, *mut c_void, *mut c_void) -> c_int;

/// Replaces the C library's `__cxa_atexit` in the executable (`--wrap`, see `build.rs`).
///
/// # Safety
/// As for the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap___cxa_atexit(
    destructor: Destructor,
    argument: *mut c_void,
    library: *mut c_void,
) -> c_int {
    // Destructors with a library handle are LLVM's, also when an object is constructed on first
    // use: a compilation that is under way at exit needs the object until the end. The guest's have
    // no handle.
    if LOCALS.with(|l| l.constructing.get()) || !library.is_null() {
        return 0;
    }
    // SAFETY: the C library's function has this type, and the arguments are passed on under the
    // caller's contract (`# Safety` above).
    unsafe {
        let real = libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_atexit".as_ptr());
        std::mem::transmute::<*mut c_void, Register>(real)(destructor, argument, library)
    }
}
