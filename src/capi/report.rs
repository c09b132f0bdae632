//! Reports as text, and the log.

use super::{Callback, OmpvmError, owned, store, text};
use engine::api::{self, Error};
use std::ffi::{c_char, c_void};

/// `ompvm_compile_report`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_compile_report(function: *const c_char) -> *mut c_char {
    // SAFETY: the caller passes null or a C string.
    let function = (!function.is_null()).then(|| unsafe { text(function) });
    owned(api::compile_report(function.and_then(Result::ok)))
}

/// `ompvm_offload_report`.
#[unsafe(no_mangle)]
pub extern "C" fn ompvm_offload_report() -> *mut c_char {
    owned(api::offload_report())
}

/// `ompvm_log_callback`.
type LogCallback = unsafe extern "C-unwind" fn(*mut c_void, *const c_char, usize);

impl Callback<LogCallback> {
    fn receive(&self, line: &[u8]) {
        // SAFETY: the header asks for a function that may be called with any line.
        unsafe { (self.run)(self.data, line.as_ptr().cast(), line.len()) };
    }
}

/// `ompvm_set_log`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_set_log(
    filter: *const c_char,
    callback: LogCallback,
    data: *mut c_void,
) -> *mut OmpvmError {
    let receiver = Callback {
        run: callback,
        data,
    };
    // SAFETY: the caller passes a C string.
    unsafe {
        store(&mut (), || {
            let filter = text(filter)?.parse().map_err(Error::Host)?;
            match engine::support::log::send(filter, move |line| receiver.receive(line)) {
                true => Ok(()),
                false => Err(Error::Host("the log goes elsewhere already".into())),
            }
        })
    }
}
