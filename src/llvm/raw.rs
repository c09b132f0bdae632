//! The call macro for LLVM's C interface, and text conversion.
//!
//! Only [`handles`](super::handles) calls the C interface; its types state which value is of which
//! kind, so that a call is sound for the one reason that [`llvm`] states.

use inkwell::llvm_sys::prelude::LLVMMemoryBufferRef;
use std::ffi::{CStr, c_char};

/// Calls a function of LLVM's C interface.
///
/// Every pointer passed must come from a handle of the kind that the function expects, which lives
/// as long as its context.
macro_rules! llvm {
    ($($path:ident)::+ ($($arg:expr),* $(,)?)) => {{
        // SAFETY: the macro's contract above: what the pointers lead to is live and of the expected
        // kind, and only one thread uses the context.
        unsafe { inkwell::llvm_sys::$($path)::+($($arg),*) }
    }};
}
pub(super) use llvm;

/// Copies `len` bytes of text that LLVM owns, replacing invalid UTF-8.
pub(super) fn copy_text(ptr: *const c_char, len: usize) -> Box<str> {
    if ptr.is_null() || len == 0 {
        return Box::default();
    }
    // SAFETY: LLVM returned the pointer together with the length and owns the text for the
    // context's life; the bytes are copied before LLVM is called again.
    let bytes = unsafe { std::slice::from_raw_parts(ptr.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into()
}

/// Copies a zero-terminated string that LLVM owns.
pub(super) fn copy_cstr(ptr: *const c_char) -> Box<str> {
    if ptr.is_null() {
        return Box::default();
    }
    // SAFETY: LLVM's `const char *` results end with a zero byte and live as long as their value.
    let text = unsafe { CStr::from_ptr(ptr) };
    text.to_string_lossy().into()
}

/// Copies a message and disposes of it; for messages that LLVM's caller owns.
pub(super) fn take_message(ptr: *mut c_char) -> String {
    let text = copy_cstr(ptr);
    if !ptr.is_null() {
        llvm!(core::LLVMDisposeMessage(ptr));
    }
    text.into()
}

/// Copies the bytes of a buffer and disposes of the buffer.
pub(super) fn take_buffer(buffer: LLVMMemoryBufferRef) -> Vec<u8> {
    let (start, len) = (
        llvm!(core::LLVMGetBufferStart(buffer)),
        llvm!(core::LLVMGetBufferSize(buffer)),
    );
    // SAFETY: the buffer is live, and LLVM gives its start and length.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) }.to_vec();
    llvm!(core::LLVMDisposeMemoryBuffer(buffer));
    bytes
}
