//! Conversion of LLVM's error values to Rust results.

use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use std::ffi::CStr;

/// Converts LLVM's error to a result and takes ownership of it.
pub(super) fn take_error(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the caller owns a non-null error; taking its message consumes it, and the message is
    // freed after it is copied.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(text)
    }
}
