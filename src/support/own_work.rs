//! Which threads work for us at the moment, and not for the guest.
//!
//! The guest may put functions of its own in the place of those that shared libraries define, an allocator above all
//! (`tier/interpose.rs`). What we ourselves do, LLVM's work first of all, shall not come to them: it gives back what the
//! libraries' own functions made, and may be compiling the very functions that it would call. So the libraries' slots
//! look at a count of the thread.
//!
//! What not: the guest's variables; what our own program calls, which is bound to its own.

use std::cell::Cell;

thread_local! {
    /// How many calls deep this thread is in work of our own.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, this thread works for us, not for the guest: what the guest put in the place
/// of library functions is not called.
#[derive(Debug)]
pub struct OwnWork(());

/// Begins work of our own that may call libraries.
pub fn begin() -> OwnWork {
    DEPTH.set(DEPTH.get() + 1);
    OwnWork(())
}

/// As [`begin`], for a thread that works for us to its end, the destructors of its variables included.
pub fn to_the_end() {
    std::mem::forget(begin());
}

impl Drop for OwnWork {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Where the 32-bit count lies from the thread pointer, when that is the same
/// on every thread: in an executable (TLS ABI, variant II).
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
