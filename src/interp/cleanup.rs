//! Cleanup handlers of C (`pthread_cleanup_push`) when a thread exits or is canceled.
//!
//! glibc's header compiles a push to `__sigsetjmp` on a buffer and a call that registers the
//! buffer; glibc's unwinding then jumps to the buffer when it passes that frame (nptl,
//! `unwind_stop`). Jump buffers of the interpreter name interpreter frames, so the three functions
//! of that protocol are implemented here: registered buffers form a chain per thread, and a forced
//! unwind that passes the frame of one lands at its setjmp (see [`super::unwind`]).
//!
//! C++ and `-fexceptions` code uses landing pads instead.

use super::process::LOCALS;
use super::unwind::JumpBuffer;
use ompvm_memory::activation;
use std::ffi::c_void;

/// glibc's `__pthread_unwind_buf_t`: registers, a flag, and four words for the runtime.
#[repr(C)]
#[derive(Debug)]
pub struct CleanupBuffer {
    jump: [usize; 9],
    outer: *mut CleanupBuffer,
    rest: [usize; 3],
}

/// Returns the innermost buffer of the thread's chain; null if it is empty.
fn top() -> *mut CleanupBuffer {
    LOCALS.with(|l| l.cleanup_top.get())
}

fn set_top(buffer: *mut CleanupBuffer) {
    LOCALS.with(|l| l.cleanup_top.set(buffer));
}

/// Pushes a buffer onto the thread's chain.
///
/// # Safety
/// The buffer lives until it is unregistered.
unsafe extern "C-unwind" fn register(buffer: *mut CleanupBuffer) {
    // SAFETY: the guest's buffer is live (the caller's contract).
    unsafe { (*buffer).outer = top() };
    set_top(buffer);
}

/// Pops the innermost buffer from the thread's chain.
///
/// # Safety
/// The buffer was pushed by [`register`].
unsafe extern "C-unwind" fn unregister(buffer: *mut CleanupBuffer) {
    // SAFETY: the buffer was registered and is still live (the caller's contract).
    set_top(unsafe { (*buffer).outer });
}

/// Continues unwinding after a handler.
///
/// # Safety
/// An exception is being unwound on this thread.
unsafe extern "C-unwind" fn unwind_next(_buffer: *mut CleanupBuffer) -> ! {
    // SAFETY: the thread's variable is the exception whose landing ran the handler, which is still
    // being unwound.
    unsafe { activation::resume_unwind(LOCALS.with(|l| l.cleanup_exception.get())) }
}

/// Returns the address of a function of the protocol by name.
pub fn cleanup_address(name: &str) -> Option<usize> {
    Some(match name {
        "__pthread_register_cancel" => register as *const () as usize,
        "__pthread_unregister_cancel" => unregister as *const () as usize,
        "__pthread_unwind_next" => unwind_next as *const () as usize,
        _ => return None,
    })
}

/// Pops the innermost buffer if it belongs to the frame at `regs` and the exception is a thread's
/// forced end.
///
/// # Safety
/// `exception` and the registered buffers are live.
pub(super) unsafe fn take_buffer(regs: *mut u64, exception: usize) -> Option<*const JumpBuffer> {
    let top = top();
    if top.is_null() {
        return None;
    }
    // SAFETY: exception and buffers are live (the caller's contract). The third word of an
    // `_Unwind_Exception` is the stop function of a forced unwind, null otherwise (libgcc,
    // unwind.inc).
    unsafe {
        let jump = top.cast::<JumpBuffer>();
        if *(exception as *const usize).add(2) == 0 || (*jump).regs != regs {
            return None;
        }
        set_top((*top).outer);
        LOCALS.with(|l| l.cleanup_exception.set(exception as *mut c_void));
        Some(jump)
    }
}

/// Drops the buffers of frames that a long jump to the frame at `regs` leaves.
pub(super) fn drop_buffers_below(regs: *mut u64) {
    loop {
        let top = top();
        // SAFETY: the guest left the buffer without unregistering it, in stack memory that is still
        // mapped.
        if top.is_null() || unsafe { (*top.cast::<JumpBuffer>()).regs } >= regs {
            return;
        }
        // SAFETY: `top` is the buffer that was just read.
        set_top(unsafe { (*top).outer });
    }
}
