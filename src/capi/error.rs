//! Errors as handles: kind, message, and the parts of a fault.

use engine::api::{Error, Trap, TrapKind};
use std::any::Any;
use std::ffi::{CString, c_char, c_int};
use std::ptr;

/// `ompvm_error`.
#[derive(Debug)]
pub struct OmpvmError {
    kind: c_int,
    message: CString,
    trap: Option<TrapTexts>,
}

/// A fault, with its texts as C strings.
#[derive(Debug)]
struct TrapTexts {
    trap: Trap,
    place: Option<CString>,
    function: Option<CString>,
    detail: Option<CString>,
    region: Option<CString>,
}

/// `ompvm_trap`.
#[derive(Debug)]
#[repr(C)]
pub struct OmpvmTrap {
    kind: c_int,
    signal: i32,
    thread: i32,
    address: usize,
    place: *const c_char,
    function: *const c_char,
    detail: *const c_char,
}

/// `OMPVM_ERROR_DEFECT`.
const DEFECT: c_int = 6;

/// Returns the `ompvm_error_kind`.
fn kind_of(error: &Error) -> c_int {
    match error {
        Error::Input { .. } => 1,
        Error::Unsupported(_) | Error::NotAllowed(_) => 2,
        Error::Unresolved(_) => 3,
        Error::Trap(_) => 4,
        // The enumeration may grow; a kind without a number is one of the host.
        _ => 5,
    }
}

/// Returns the `ompvm_trap_kind`, and the address that it is about.
fn trap_kind(kind: TrapKind) -> (c_int, usize) {
    match kind {
        TrapKind::BadAddress(address) => (1, address),
        TrapKind::RefusedAccess => (2, 0),
        TrapKind::IntegerDivision => (3, 0),
        TrapKind::FloatingPoint(_) => (4, 0),
        TrapKind::StackOverflow => (5, 0),
        TrapKind::Unreachable => (6, 0),
        TrapKind::BuiltinTrap => (7, 0),
        TrapKind::BadCall(address) => (8, address),
        TrapKind::BadJump => (9, 0),
        TrapKind::Abort => (10, 0),
        TrapKind::Device => (11, 0),
        TrapKind::UncaughtException => (12, 0),
        TrapKind::Cancelled => (13, 0),
        TrapKind::OutOfTime => (14, 0),
        TrapKind::OutOfFuel => (15, 0),
    }
}

/// Returns a text as a C string, in which zero bytes are replaced.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

impl OmpvmError {
    fn new(kind: c_int, message: &str, trap: Option<TrapTexts>) -> *mut OmpvmError {
        let message = c_string(message);
        Box::into_raw(Box::new(OmpvmError {
            kind,
            message,
            trap,
        }))
    }

    /// Returns a handle for an error.
    pub(crate) fn of(error: Error) -> *mut OmpvmError {
        let (kind, message) = (kind_of(&error), error.to_string());
        let part = |text: &Option<String>| text.as_deref().map(c_string);
        let trap = match error {
            Error::Trap(trap) => Some(TrapTexts {
                place: part(&trap.place),
                function: part(&trap.function),
                detail: part(&trap.detail),
                region: part(&trap.region),
                trap,
            }),
            _ => None,
        };
        OmpvmError::new(kind, &message, trap)
    }

    /// Returns a handle for a panic, which is a defect of ompvm.
    pub(crate) fn of_panic(panic: Box<dyn Any + Send>) -> *mut OmpvmError {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        OmpvmError::new(DEFECT, text.unwrap_or("a panic without a text"), None)
    }
}

/// `ompvm_error_get_kind`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_error_get_kind(error: *const OmpvmError) -> c_int {
    // SAFETY: the caller passes a live error.
    unsafe { (*error).kind }
}

/// `ompvm_error_message`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_error_message(error: *const OmpvmError) -> *const c_char {
    // SAFETY: the caller passes a live error.
    unsafe { (*error).message.as_ptr() }
}

/// `ompvm_error_trap`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_error_trap(error: *const OmpvmError, out: *mut OmpvmTrap) -> c_int {
    // SAFETY: the caller passes a live error.
    let Some(texts) = (unsafe { &(*error).trap }) else {
        return 0;
    };
    let pointer = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |t| t.as_ptr());
    let (kind, address) = trap_kind(texts.trap.kind);
    let thread = texts.trap.thread.and_then(|t| i32::try_from(t).ok());
    let trap = OmpvmTrap {
        kind,
        signal: texts.trap.kind.signal(),
        thread: thread.unwrap_or(-1),
        address,
        place: pointer(&texts.place),
        function: pointer(&texts.function),
        detail: pointer(&texts.detail),
    };
    // SAFETY: the caller passes room for the result.
    unsafe { out.write(trap) };
    1
}

/// `ompvm_error_trap_region`. A function and not a field, since `ompvm_trap` is part of the binary
/// interface.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_error_trap_region(error: *const OmpvmError) -> *const c_char {
    // SAFETY: the caller passes a live error.
    let texts = unsafe { (*error).trap.as_ref() };
    let region = texts.and_then(|texts| texts.region.as_ref());
    region.map_or(ptr::null(), |region| region.as_ptr())
}

/// `ompvm_check`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_check(error: *const OmpvmError) {
    // SAFETY: the caller passes null or a live error.
    if let Some(error) = unsafe { error.as_ref() } {
        engine::support::eprintln!("ompvm: {}", error.message.to_string_lossy());
        std::process::exit(125);
    }
}

/// `ompvm_error_free`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_error_free(error: *mut OmpvmError) {
    // SAFETY: the caller passes null or an error that it uses no more.
    unsafe { super::free(error) }
}
