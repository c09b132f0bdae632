//! A global allocator with memory for describing a fault.
//!
//! A guest may fault inside the C library's allocator while it holds the lock (a double free ends
//! so), and the names in the message may have to be decoded. While a thread is [`describing`], its
//! memory comes from a separate area, without a lock.
//!
//! A reserve serves internal threads to which the system refuses memory: the program may exhaust
//! its limit and go on while they compile.
//!
//! Memory of these areas is never freed. Threads in a section of [`signal_heap`] allocate from that
//! heap. Only programs that make [`FaultAlloc`] their global allocator have this; the command line
//! does.

use super::{limits, signal_heap};
use crate::message::{Kind, Message};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, except for threads that describe a fault or are in a section of
/// [`signal_heap`].
#[derive(Debug)]
pub struct FaultAlloc;

/// The memory that a thread allocates from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// The system's allocator.
    System,
    /// The heap for signal handlers.
    SignalHeap,
    /// The area for descriptions of faults.
    Descriptions,
}

thread_local! {
    /// The memory that this thread allocates from.
    static SOURCE: Cell<Source> = const { Cell::new(Source::System) };
}

/// Returns the memory that this thread allocates from.
pub(super) fn source() -> Source {
    SOURCE.get()
}

/// Makes this thread allocate from other memory.
pub(super) fn set_source(source: Source) {
    SOURCE.set(source);
}

/// Bytes of address space for descriptions, if address space is not limited; pages are committed
/// when touched.
const AREA: usize = 1 << 30;
/// The least bytes of the reserve: a program may limit its address space itself.
const LEAST: usize = 4 << 20;

/// A bump-allocated range whose blocks are never freed.
struct Area {
    base: AtomicUsize,
    next: AtomicUsize,
    bytes: AtomicUsize,
}

/// Memory beside the system's allocator, and the end of a process that has none left.
struct FaultMemory {
    descriptions: Area,
    reserve: Area,
    /// Called when all memory is exhausted.
    when_refused: OnceLock<extern "C" fn()>,
}

/// The memory of this process, which has one global allocator.
static MEMORY: FaultMemory = FaultMemory {
    descriptions: Area::new(),
    reserve: Area::new(),
    when_refused: OnceLock::new(),
};

impl Area {
    const fn new() -> Area {
        Area {
            base: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Maps the range, once, always with the same size; returns false if the system refuses it.
    fn open(&self, bytes: usize) -> bool {
        if self.base.load(Ordering::Acquire) != 0 {
            return true;
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let prot = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping.
        let fresh = unsafe { libc::mmap(null_mut(), bytes, prot, flags, -1, 0) };
        if fresh == libc::MAP_FAILED {
            return false;
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        let (to, from) = (Ordering::AcqRel, Ordering::Acquire);
        if self
            .base
            .compare_exchange(0, fresh as usize, to, from)
            .is_err()
        {
            // SAFETY: the mapping made above, which was not published.
            unsafe { libc::munmap(fresh, bytes) };
        }
        true
    }

    fn take(&self, layout: Layout) -> *mut u8 {
        let base = self.base.load(Ordering::Acquire);
        let room = layout.size() + layout.align();
        let offset = self.next.fetch_add(room, Ordering::Relaxed);
        if base == 0 || offset.saturating_add(room) > self.bytes.load(Ordering::Relaxed) {
            return null_mut();
        }
        (base + offset).next_multiple_of(layout.align()) as *mut u8
    }

    fn has(&self, p: *mut u8) -> bool {
        let base = self.base.load(Ordering::Relaxed);
        base != 0 && (p as usize).wrapping_sub(base) < self.bytes.load(Ordering::Relaxed)
    }
}

/// Makes this thread allocate from the area until the guard is dropped.
pub fn describing() -> Describing {
    Describing(SOURCE.replace(Source::Descriptions))
}

/// The guard of [`describing`].
#[derive(Debug)]
pub struct Describing(Source);

impl Drop for Describing {
    fn drop(&mut self) {
        SOURCE.set(self.0);
    }
}

/// Returns a block for a description; from the reserve if the system refuses the area.
fn take(layout: Layout) -> *mut u8 {
    let bytes = limits::reserve(AREA, 16, LEAST);
    let area = match MEMORY.descriptions.open(bytes) {
        true => &MEMORY.descriptions,
        false => &MEMORY.reserve,
    };
    area.take(layout)
}

/// Maps the reserve now, since address space may be exhausted later. If address space is limited,
/// maps the larger area for descriptions instead.
pub fn map_reserve() {
    match limits::address_space() {
        Some(_) => MEMORY.descriptions.open(limits::reserve(AREA, 16, LEAST)),
        None => MEMORY.reserve.open(LEAST),
    };
}

/// Returns a block of the reserve.
fn take_reserve(layout: Layout) -> *mut u8 {
    let block = MEMORY.reserve.take(layout);
    if block.is_null() { take(layout) } else { block }
}

/// Registers a function to call when all memory is exhausted, before the process ends. It need not
/// return.
pub fn on_out_of_memory(call: extern "C" fn()) {
    let _ = MEMORY.when_refused.set(call);
}

/// Returns the system's block, or else one of the reserve.
#[inline]
fn block_or_reserve(block: *mut u8, layout: Layout) -> *mut u8 {
    if block.is_null() {
        return reserve_or_die(layout);
    }
    block
}

/// Returns a block of the reserve. If that is exhausted too, ends the process with a message:
/// internal work cannot continue without its memory.
#[cold]
fn reserve_or_die(layout: Layout) -> *mut u8 {
    let block = take_reserve(layout);
    if !block.is_null() {
        return block;
    }
    if let Some(call) = MEMORY.when_refused.get() {
        call();
    }
    die_out_of_memory(layout.size())
}

fn die_out_of_memory(bytes: usize) -> ! {
    let text = format_args!(
        "the system refuses ompvm memory ({bytes} bytes): raise the limit of the shell (`ulimit -v`, \
         `ulimit -d`) or of the container, or run fewer threads"
    );
    Message::new(Kind::Resources, &text).print();
    // SAFETY: ends the process without its exit handlers, which would allocate. The status is that of
    // ompvm's own failures.
    unsafe { libc::_exit(125) }
}

fn is_owned(p: *mut u8) -> bool {
    MEMORY.descriptions.has(p) || MEMORY.reserve.has(p)
}

/// Returns a block for a thread that does not allocate from the system, or else the system's.
#[cold]
fn alloc_elsewhere(layout: Layout, zeroed: bool) -> *mut u8 {
    if SOURCE.get() == Source::Descriptions {
        return take(layout);
    }
    let block = signal_heap::alloc(layout, zeroed);
    if !block.is_null() {
        return block;
    }
    // SAFETY: the layout is valid by the contract of `GlobalAlloc`.
    let block = unsafe {
        match zeroed {
            true => System.alloc_zeroed(layout),
            false => System.alloc(layout),
        }
    };
    block_or_reserve(block, layout)
}

/// Frees a block that is not the system's, or frees for a thread that does not allocate from the
/// system.
///
/// # Safety
/// As for [`GlobalAlloc::dealloc`].
#[cold]
unsafe fn dealloc_elsewhere(p: *mut u8, layout: Layout) {
    let source = SOURCE.get();
    // SAFETY: a block with this layout, by the caller's contract.
    unsafe {
        if signal_heap::owns(p) {
            signal_heap::dealloc(p, layout, source == Source::SignalHeap);
        } else if !is_owned(p) && source == Source::SignalHeap {
            signal_heap::defer(p, layout);
        }
    }
    // Otherwise leaked. A describing thread leaks the system's blocks, too: the allocator's lock
    // may be held.
}

// SAFETY: blocks of the areas are disjoint, aligned, zero when new and never reused; all others are
// those of the heap for signal handlers or the system's, and are freed where they came from.
unsafe impl GlobalAlloc for FaultAlloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if SOURCE.get() != Source::System {
            return alloc_elsewhere(layout, false);
        }
        // SAFETY: the layout is valid by `alloc`'s contract.
        block_or_reserve(unsafe { System.alloc(layout) }, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if SOURCE.get() != Source::System {
            return alloc_elsewhere(layout, true);
        }
        // SAFETY: the layout is valid by `alloc_zeroed`'s contract.
        block_or_reserve(unsafe { System.alloc_zeroed(layout) }, layout)
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: a block with this layout, by `dealloc`'s contract: the system's unless one of the
        // areas or the heap owns it.
        unsafe {
            if SOURCE.get() != Source::System || is_owned(p) || signal_heap::owns(p) {
                return dealloc_elsewhere(p, layout);
            }
            System.dealloc(p, layout)
        }
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: a block with this layout, by `realloc`'s contract.
        unsafe {
            let block = match (SOURCE.get(), signal_heap::owns(p)) {
                (Source::System, false) if !is_owned(p) => System.realloc(p, layout, size),
                (Source::SignalHeap, true) => signal_heap::realloc(p, layout, size),
                _ => null_mut(),
            };
            if !block.is_null() {
                return block;
            }
        }
        // SAFETY: the old block has this layout and `size` is valid by `realloc`'s contract; the
        // new block is a different one.
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
            assert!(is_owned(a) && is_owned(b));
            assert!((a as usize).is_multiple_of(64) && (b as usize).abs_diff(a as usize) >= 100);
            a.write_bytes(7, 100);
            let grown = FaultAlloc.realloc(a, layout, 1000);
            assert!(grown != a && *grown.add(99) == 7);
            FaultAlloc.dealloc(grown, layout);
            assert_eq!(*grown.add(99), 7);
        }
    }
}
