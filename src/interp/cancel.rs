//! Cleanup handlers of C (`pthread_cleanup_push`) when a thread exits or is cancelled.
//!
//! glibc's header compiles a push to `__sigsetjmp` on a buffer and a call that registers the
//! buffer; its own unwinding then jumps to the buffer when it passes that frame (nptl,
//! `unwind_stop`). Our jump buffers mean interpreter frames, so the three functions of that
//! protocol are ours: registered buffers form a chain per thread, and a forced unwind that passes
//! the frame of one lands where its setjmp stood (see [`super::unwind`]).
//!
//! What not: C++ and `-fexceptions` code has landing pads instead and needs nothing of this.

use super::unwind::JumpBuffer;
use crate::memory::activation;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// glibc's `__pthread_unwind_buf_t`: room for registers, a flag, four words for the runtime.
#[repr(C)]
#[derive(Debug)]
pub struct CleanupBuffer {
    jump: [usize; 9],
    outer: *mut CleanupBuffer,
    rest: [usize; 3],
}

thread_local! {
    static TOP: Cell<*mut CleanupBuffer> = const { Cell::new(ptr::null_mut()) };
    static EXCEPTION: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
}

/// Puts a buffer in front of the thread's list.
///
/// # Safety
/// The buffer lives until it is taken off.
unsafe extern "C-unwind" fn register(buffer: *mut CleanupBuffer) {
    // SAFETY: the guest's buffer, live until unregistered or left.
    unsafe { (*buffer).outer = TOP.get() };
    TOP.set(buffer);
}

/// Takes the buffer in front off the thread's list.
///
/// # Safety
/// It was put there by [`register`].
unsafe extern "C-unwind" fn unregister(buffer: *mut CleanupBuffer) {
    // SAFETY: as registered.
    TOP.set(unsafe { (*buffer).outer });
}

/// Goes on unwinding after a handler.
///
/// # Safety
/// An exception is being unwound on this thread.
unsafe extern "C-unwind" fn unwind_next(_buffer: *mut CleanupBuffer) -> ! {
    // SAFETY: the handler ran because this exception landed.
    unsafe { activation::resume_unwind(EXCEPTION.get()) }
}

/// The functions of the protocol by name.
pub fn address(name: &str) -> Option<usize> {
    Some(match name {
        "__pthread_register_cancel" => register as *const () as usize,
        "__pthread_unregister_cancel" => unregister as *const () as usize,
        "__pthread_unwind_next" => unwind_next as *const () as usize,
        _ => return None,
    })
}

/// Takes the innermost buffer off the chain when it belongs to the frame at `regs` and the
/// exception is a thread's forced end.
///
/// # Safety
/// `exception` is live; registered buffers are, too.
pub(super) unsafe fn take(regs: *mut u64, exception: usize) -> Option<*const JumpBuffer> {
    let top = TOP.get();
    if top.is_null() {
        return None;
    }
    // SAFETY: the caller's promise. The third word of an _Unwind_Exception is the stop function
    // of a forced unwind, null otherwise (libgcc, unwind.inc).
    unsafe {
        let jump = top.cast::<JumpBuffer>();
        if *(exception as *const usize).add(2) == 0 || (*jump).regs != regs {
            return None;
        }
        TOP.set((*top).outer);
        EXCEPTION.set(exception as *mut c_void);
        Some(jump)
    }
}

/// Forgets the buffers of frames that a long jump to the frame at `regs` leaves.
pub(super) fn left(regs: *mut u64) {
    loop {
        let top = TOP.get();
        // SAFETY: the guest left it without unregistering, in memory that is still mapped.
        if top.is_null() || unsafe { (*top.cast::<JumpBuffer>()).regs } >= regs {
            return;
        }
        // SAFETY: as above.
        TOP.set(unsafe { (*top).outer });
    }
}
