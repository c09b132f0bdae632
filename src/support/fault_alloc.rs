//! Memory for describing a fault.
//!
//! Why: a guest may fault inside the C library's allocator and hold its lock (a double free ends
//! so), and what names the place may have to be decoded first. While a thread is
//! [`describing`], its memory comes from an area of its own and no lock is taken.
//!
//! What not: the area is never given back. Only programs that make [`FaultAlloc`] their global
//! allocator have this; the command line does.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, but for threads that describe a fault.
#[derive(Debug)]
pub struct FaultAlloc;

thread_local! {
    static DESCRIBING: Cell<bool> = const { Cell::new(false) };
}

/// Address space of the area; pages are taken when touched.
const AREA: usize = 1 << 30;

static BASE: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// From now on this thread's memory comes from the area, until the guard is dropped.
pub fn describing() -> Describing {
    Describing(DESCRIBING.replace(true))
}

/// See [`describing`].
#[derive(Debug)]
pub struct Describing(bool);

impl Drop for Describing {
    fn drop(&mut self) {
        DESCRIBING.set(self.0);
    }
}

fn base() -> usize {
    let known = BASE.load(Ordering::Acquire);
    if known != 0 {
        return known;
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh mapping.
    let fresh = unsafe { libc::mmap(null_mut(), AREA, prot, flags, -1, 0) };
    if fresh == libc::MAP_FAILED {
        return 0;
    }
    let fresh = fresh as usize;
    match BASE.compare_exchange(0, fresh, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => fresh,
        Err(other) => {
            // SAFETY: the mapping made above, which nobody knows.
            unsafe { libc::munmap(fresh as *mut _, AREA) };
            other
        }
    }
}

fn take(layout: Layout) -> *mut u8 {
    let base = base();
    let room = layout.size() + layout.align();
    let offset = NEXT.fetch_add(room, Ordering::Relaxed);
    if base == 0 || offset.saturating_add(room) > AREA {
        return null_mut();
    }
    (base + offset).next_multiple_of(layout.align()) as *mut u8
}

fn is_ours(p: *mut u8) -> bool {
    let base = BASE.load(Ordering::Relaxed);
    base != 0 && (p as usize).wrapping_sub(base) < AREA
}

// SAFETY: blocks of the area are disjoint, aligned, zero when new and never reused; all others
// are the system's.
unsafe impl GlobalAlloc for FaultAlloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if DESCRIBING.get() {
            return take(layout);
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if DESCRIBING.get() {
            return take(layout);
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // A block of the system's that is given back meanwhile is left: its lock may be held.
        if is_ours(p) || DESCRIBING.get() {
            return;
        }
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(p, layout) }
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_ours(p) && !DESCRIBING.get() {
            // SAFETY: as the caller promises.
            return unsafe { System.realloc(p, layout, size) };
        }
        // SAFETY: the new block is another one; as the caller promises.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(p, layout.size().min(size));
                self.dealloc(p, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_the_area_is_disjoint_aligned_and_stays() {
        let layout = Layout::from_size_align(100, 64).unwrap_or(Layout::new::<u64>());
        let _guard = describing();
        // SAFETY: a layout with a size; the blocks are written within it.
        unsafe {
            let (a, b) = (FaultAlloc.alloc(layout), FaultAlloc.alloc(layout));
            assert!(is_ours(a) && is_ours(b));
            assert!((a as usize).is_multiple_of(64) && (b as usize).abs_diff(a as usize) >= 100);
            a.write_bytes(7, 100);
            let grown = FaultAlloc.realloc(a, layout, 1000);
            assert!(grown != a && *grown.add(99) == 7);
            FaultAlloc.dealloc(grown, layout);
            assert_eq!(*grown.add(99), 7);
        }
    }
}
