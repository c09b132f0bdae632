//! The few lines every use of LLVM's C interface needs: the call macro and text conversion.
//!
//! Why a macro: the reader makes some hundred different calls and all of them are sound for the
//! same reason, stated once at [`llvm`]. What not: no wrapper types; the handles never leave
//! `src/llvm`, and the reader's output owns everything it holds.

use inkwell::llvm_sys::prelude::LLVMMemoryBufferRef;
use std::ffi::{CStr, c_char};

/// Calls a function of LLVM's C interface.
///
/// Every handle passed must come from the module being read (or from a call on one of its
/// handles), must be of the kind that the function asks for, and is used only while the context
/// lives: the callers test the kind first, and `parse::Parsed` outlives the reader.
macro_rules! llvm {
    ($($path:ident)::+ ($($arg:expr),* $(,)?)) => {{
        // SAFETY: the handles are live and of the right kind, see above; one context is used by
        // one thread only.
        unsafe { inkwell::llvm_sys::$($path)::+($($arg),*) }
    }};
}
pub(super) use llvm;

/// Copies `len` bytes of text that LLVM owns; invalid UTF-8 is replaced.
pub(super) fn copy_text(ptr: *const c_char, len: usize) -> Box<str> {
    if ptr.is_null() || len == 0 {
        return Box::default();
    }
    // SAFETY: LLVM returned the pointer together with the length, and owns it for the context's
    // life; the bytes are copied before anything else is called.
    let bytes = unsafe { std::slice::from_raw_parts(ptr.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into()
}

/// Copies a zero-terminated text that LLVM owns.
pub(super) fn copy_cstr(ptr: *const c_char) -> Box<str> {
    if ptr.is_null() {
        return Box::default();
    }
    // SAFETY: LLVM's `const char *` results end with a zero byte and live as long as their value.
    let text = unsafe { CStr::from_ptr(ptr) };
    text.to_string_lossy().into()
}

/// Takes over a message that the caller of LLVM must dispose of.
pub(super) fn take_message(ptr: *mut c_char) -> String {
    let text = copy_cstr(ptr);
    if !ptr.is_null() {
        llvm!(core::LLVMDisposeMessage(ptr));
    }
    text.into()
}

/// Takes over the bytes of a buffer.
pub(super) fn take_buffer(buffer: LLVMMemoryBufferRef) -> Vec<u8> {
    let (start, len) = (
        llvm!(core::LLVMGetBufferStart(buffer)),
        llvm!(core::LLVMGetBufferSize(buffer)),
    );
    // SAFETY: the buffer is live and this long.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) }.to_vec();
    llvm!(core::LLVMDisposeMemoryBuffer(buffer));
    bytes
}
