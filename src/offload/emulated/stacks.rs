//! Stacks for the fibers of emulated threads.
//!
//! A block has a stack for each of its threads, and host threads come and go. So ended fibers leave
//! their stacks to the device, whatever host thread ran them: to map and unmap hundreds of
//! them in each launch took most of its time, above all on many processors, which all have to hear
//! of every unmapping.

use corosensei::stack::{Stack, StackPointer};
use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::ptr::null_mut;

/// Size in bytes of a thread's stack, with its guard and reserve.
pub const STACK_BYTES: usize = 384 << 10;
/// Bytes of inaccessible guard pages, more than the variables of most functions.
pub const GUARD_BYTES: usize = 64 << 10;
/// Most idle stacks of a device. Each keeps the few pages that its threads have used.
const MOST_IDLE: usize = 2048;

/// Memory of a fiber's stack. It is reused after the fiber ends.
#[derive(Debug)]
pub struct FiberStack {
    low: usize,
}

impl FiberStack {
    fn new() -> Option<FiberStack> {
        // SAFETY: a fresh mapping of `STACK_BYTES` bytes; the guard is its lowest part.
        unsafe {
            let at = libc::mmap(
                null_mut(),
                STACK_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
                -1,
                0,
            );
            if at == libc::MAP_FAILED {
                return None;
            }
            libc::mprotect(at, GUARD_BYTES, libc::PROT_NONE);
            Some(FiberStack { low: at as usize })
        }
    }

    /// Returns the range above the guard.
    pub fn usable(&self) -> (usize, usize) {
        (self.low + GUARD_BYTES, self.low + STACK_BYTES)
    }
}

impl Drop for FiberStack {
    fn drop(&mut self) {
        // SAFETY: `low` is the start of a mapping of `STACK_BYTES` bytes; its fiber has ended.
        unsafe { libc::munmap(self.low as *mut libc::c_void, STACK_BYTES) };
    }
}

// SAFETY: the area has `STACK_BYTES` bytes with guard pages at its lower end, and lives as long as
// it is owned.
unsafe impl Stack for FiberStack {
    fn base(&self) -> StackPointer {
        NonZeroUsize::new(self.low + STACK_BYTES).unwrap_or(NonZeroUsize::MAX)
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.low).unwrap_or(NonZeroUsize::MAX)
    }
}

/// The idle stacks of a device.
#[derive(Debug, Default)]
pub struct StackPool(Mutex<Vec<FiberStack>>);

impl StackPool {
    /// Returns a stack; `None` if the system has no memory for one.
    pub fn take(&self) -> Option<FiberStack> {
        let idle = self.0.lock().pop();
        idle.or_else(FiberStack::new)
    }

    /// Keeps the stack of a fiber that has ended.
    pub fn put(&self, stack: FiberStack) {
        let mut idle = self.0.lock();
        if idle.len() < MOST_IDLE {
            idle.push(stack);
        }
    }
}
