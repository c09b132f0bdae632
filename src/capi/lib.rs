//! The C library `libompvm`: the functions of `include/ompvm.h` over [`engine::api`].
//!
//! Each handle of the header is a box. A function that can fail returns an [`OmpvmError`], and a
//! panic becomes one, since it may not pass into C. [`call::ompvm_call`] is the exception: the
//! guest's frames may be left through it, so it contains nothing.
//!
//! The header says what callers must observe, so the safety sections here only name it. The layouts
//! are checked against the header by the tests in `tests/capi`.

mod call;
mod error;
mod module;
mod report;
mod session;
mod start;

pub use error::OmpvmError;

use engine::api::Error;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// `OMPVM_ABI`: version of the binary interface.
const ABI: u32 = 1;

/// `ompvm_abi`.
#[unsafe(no_mangle)]
pub extern "C" fn ompvm_abi() -> u32 {
    ABI
}

/// `ompvm_version`.
#[unsafe(no_mangle)]
pub extern "C" fn ompvm_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// A function of the host with its first argument.
struct Callback<F> {
    run: F,
    data: *mut c_void,
}

// SAFETY: the header asks for functions that any thread may call with their pointer.
unsafe impl<F: Send> Send for Callback<F> {}
// SAFETY: as above.
unsafe impl<F: Sync> Sync for Callback<F> {}

/// Runs `f`, stores its value and returns null, or returns its error.
///
/// # Safety
/// `out` must be writable.
unsafe fn store<T>(out: *mut T, f: impl FnOnce() -> Result<T, Error>) -> *mut OmpvmError {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(value)) => {
            // SAFETY: `out` is writable by contract.
            unsafe { out.write(value) };
            ptr::null_mut()
        }
        Ok(Err(error)) => OmpvmError::of(error),
        Err(panic) => OmpvmError::of_panic(panic),
    }
}

/// Like [`store`], for a value that goes to a handle.
///
/// # Safety
/// `out` must be writable.
unsafe fn store_handle<T>(
    out: *mut *mut T,
    f: impl FnOnce() -> Result<T, Error>,
) -> *mut OmpvmError {
    // SAFETY: the caller's contract.
    unsafe { store(out, || Ok(Box::into_raw(Box::new(f()?)))) }
}

/// Frees a handle.
///
/// # Safety
/// `handle` must be null, or a handle that [`store_handle`] made and nothing uses any more.
unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // A destructor that panics leaks the rest.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the handle is a box by contract.
            drop(unsafe { Box::from_raw(handle) });
        }));
    }
}

/// Returns a C string as text.
///
/// # Safety
/// `text` must be null or a C string that lives during `'a`.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Error> {
    // SAFETY: a C string by contract.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) });
    let text = text.ok_or_else(|| Error::Host("a text is NULL".into()))?;
    text.to_str()
        .map_err(|_| Error::Host(format!("{text:?} is not UTF-8")))
}

/// Returns a text for a caller to free.
fn owned(text: String) -> *mut c_char {
    let text = text.replace('\0', "\u{fffd}");
    CString::new(text).map_or(ptr::null_mut(), CString::into_raw)
}

/// `ompvm_text_free`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: `owned` made the text, and the caller frees it once.
        drop(unsafe { CString::from_raw(text) });
    }
}
