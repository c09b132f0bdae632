//! A per-thread mark for internal work, as opposed to work of the guest.
//!
//! The guest may interpose functions that shared libraries define, an allocator above all
//! (`tier/interpose.rs`). Internal work, first of all LLVM's, must not reach them: it frees memory
//! that the libraries' own functions allocated, and may be compiling the very functions that it
//! would call. So the libraries' slots check a count of the thread.
//!
//! Does not cover the guest's variables, nor calls of this executable, which are bound to its own
//! functions.

use std::cell::Cell;

thread_local! {
    /// The nesting depth of internal work on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A guard: while it lives, this thread does internal work, which does not call functions that the
/// guest interposed.
#[derive(Debug)]
pub struct InternalWork(());

/// Begins internal work that may call libraries.
pub fn enter() -> InternalWork {
    DEPTH.set(DEPTH.get() + 1);
    InternalWork(())
}

/// Begins internal work to the end of the thread, including the destructors of its thread-local
/// variables.
pub fn enter_for_thread_life() {
    std::mem::forget(enter());
}

impl Drop for InternalWork {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Returns the distance from the thread pointer to the 32-bit count, if it is the same on every
/// thread, as in an executable (TLS ABI, variant II).
#[cfg(target_arch = "x86_64")]
pub fn offset() -> Option<i32> {
    let pointer: usize;
    // SAFETY: the word at the thread pointer holds the thread pointer.
    unsafe {
        std::arch::asm!("mov {}, fs:[0]", out(reg) pointer, options(nostack, readonly));
    }
    let here = DEPTH.with(|c| c.as_ptr() as usize);
    let offset = (here as i64).wrapping_sub(pointer as i64);
    i32::try_from(offset)
        .ok()
        .filter(|o| (-(1 << 20)..0).contains(o))
}
