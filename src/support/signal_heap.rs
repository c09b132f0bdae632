//! A heap for work that must not use the C library's allocator: a signal handler's, and work that a
//! signal handler may have to wait for.
//!
//! A signal may interrupt the C library's allocator. The handler must not enter it on the same
//! thread: it would wait for a lock that its own thread holds, or, in a process with one thread,
//! find the lists of free blocks in the middle of a change. While a thread holds a [`Section`], its
//! Rust allocations come from this heap instead. A thread that holds one blocks its signals, so no
//! handler runs while its thread holds the heap's lock.
//!
//! Blocks may be freed anywhere. A block of this heap that is freed outside of a section, and a
//! block of the C library's that is freed in one, waits in a list without a lock: the former until
//! the next allocation in a section, the latter until [`free_deferred`].
//!
//! Only programs whose global allocator is [`FaultAlloc`](super::fault_alloc::FaultAlloc) have this
//! heap; in others a section changes nothing. Allocations of C and C++ code are not affected.
//!
//! Uses dlmalloc on one range of address space, and [`magazine`] for small blocks. If the range is
//! used up, or the system refuses it, sections allocate from the C library.

mod magazine;

use super::fault_alloc::{self, Source};
use super::{fork_lock, limits};
use dlmalloc::Dlmalloc;
use magazine::{Magazine, SizeClass};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Bytes of address space if it is not limited. They count only where they are used.
const RANGE: usize = 512 << 20;
/// The least bytes of the range.
const LEAST: usize = 2 << 20;
/// Address of a range that the system refused.
const REFUSED: usize = 1;

/// The heap and the blocks that wait for it or for the C library.
struct SignalHeap {
    /// Start of the range; 0 before the first use, or [`REFUSED`].
    base: AtomicUsize,
    /// Bytes of the range.
    bytes: AtomicUsize,
    blocks: Mutex<Dlmalloc<Pages>>,
    /// Blocks of this heap that were freed outside of sections.
    returned: AtomicPtr<Waiting>,
    /// Blocks of the C library that were freed in sections.
    deferred: AtomicPtr<Waiting>,
}

/// The heap of this process, which has one global allocator.
static HEAP: SignalHeap = SignalHeap {
    base: AtomicUsize::new(0),
    bytes: AtomicUsize::new(0),
    blocks: Mutex::new(Dlmalloc::new_with_allocator(Pages {
        used: AtomicUsize::new(0),
    })),
    returned: AtomicPtr::new(null_mut()),
    deferred: AtomicPtr::new(null_mut()),
};

/// A freed block that waits in a list.
struct Waiting {
    next: *mut Waiting,
    layout: Layout,
}

/// Adds a freed block to a list.
///
/// # Safety
/// The block has room for a [`Waiting`], and nothing uses it any more.
unsafe fn push(list: &AtomicPtr<Waiting>, block: *mut u8, layout: Layout) {
    let node = block.cast::<Waiting>();
    let mut head = list.load(Ordering::Relaxed);
    loop {
        // SAFETY: the block is unused and large enough by contract; it need not be aligned for the
        // node.
        unsafe { node.write_unaligned(Waiting { next: head, layout }) };
        match list.compare_exchange_weak(head, node, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

/// Takes all blocks of a list and calls `free` with each.
fn take_all(list: &AtomicPtr<Waiting>, mut free: impl FnMut(*mut u8, Layout)) {
    if list.load(Ordering::Relaxed).is_null() {
        return;
    }
    let mut node = list.swap(null_mut(), Ordering::Acquire);
    while !node.is_null() {
        // SAFETY: `push` wrote the node, and the swap made this thread its only owner.
        let Waiting { next, layout } = unsafe { node.read_unaligned() };
        free(node.cast(), layout);
        node = next;
    }
}

/// The pages of the range, which the heap takes in order and never returns.
struct Pages {
    /// Bytes taken.
    used: AtomicUsize,
}

// SAFETY: each call of `alloc` returns a fresh part of the range, which stays mapped.
unsafe impl dlmalloc::Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let refused = (null_mut(), 0, 0);
        let used = self.used.load(Ordering::Relaxed);
        let Some(end) = used.checked_add(size) else {
            return refused;
        };
        let base = HEAP.base.load(Ordering::Acquire);
        if base <= REFUSED || end > HEAP.bytes.load(Ordering::Relaxed) {
            return refused;
        }
        let at = (base + used) as *mut u8;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a part of the heap's own range that nothing uses yet.
        if unsafe { libc::mprotect(at.cast(), size, access) } != 0 {
            return refused;
        }
        self.used.store(end, Ordering::Relaxed);
        (at, size, 0)
    }

    fn remap(&self, _at: *mut u8, _old: usize, _new: usize, _can_move: bool) -> *mut u8 {
        null_mut()
    }

    fn free_part(&self, _at: *mut u8, _old: usize, _new: usize) -> bool {
        false
    }

    fn free(&self, _at: *mut u8, _size: usize) -> bool {
        false
    }

    fn can_release_part(&self, _flags: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        4096
    }
}

/// Reserves the range, once. Calls the system alone.
#[cold]
fn reserve() {
    let bytes = limits::reserve(RANGE, 32, LEAST);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh mapping.
    let fresh = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    let base = match fresh == libc::MAP_FAILED {
        true => REFUSED,
        false => fresh as usize,
    };
    // All threads store the same number: the limit is read once per process.
    HEAP.bytes.store(bytes, Ordering::Relaxed);
    let won = HEAP
        .base
        .compare_exchange(0, base, Ordering::AcqRel, Ordering::Relaxed);
    if won.is_err() && base != REFUSED {
        // SAFETY: the mapping made above, which was not published.
        unsafe { libc::munmap(fresh, bytes) };
    }
}

/// Returns true if a block belongs to this heap.
#[inline]
pub(super) fn owns(block: *mut u8) -> bool {
    let base = HEAP.base.load(Ordering::Relaxed);
    base > REFUSED && (block as usize).wrapping_sub(base) < HEAP.bytes.load(Ordering::Relaxed)
}

/// Locks the heap, for a thread in a section.
fn lock() -> MutexGuard<'static, Dlmalloc<Pages>> {
    let mut blocks = fork_lock::lock(&HEAP.blocks);
    take_all(&HEAP.returned, |block, layout| {
        // SAFETY: a block of this heap with this layout, which its owner has freed.
        unsafe { blocks.free(block, layout.size(), layout.align()) }
    });
    blocks
}

/// Returns the size of the heap's block for a layout, and its class if it has one. A freed block
/// holds a [`Waiting`].
#[inline]
fn block_size(bytes: usize, align: usize) -> (usize, Option<SizeClass>) {
    let bytes = bytes.max(size_of::<Waiting>());
    let class = magazine::size_class(bytes, align);
    (class.map_or(bytes, |class| class.bytes), class)
}

/// Returns a block, or null if the heap is full. The caller is in a section.
pub(super) fn alloc(layout: Layout, zeroed: bool) -> *mut u8 {
    let (bytes, class) = block_size(layout.size(), layout.align());
    if let Some(class) = class {
        let block = magazine::take(class);
        if !block.is_null() {
            if zeroed {
                // SAFETY: a block of its class's size, which nothing uses.
                unsafe { block.write_bytes(0, layout.size()) };
            }
            return block;
        }
    }
    if HEAP.base.load(Ordering::Relaxed) == 0 {
        reserve();
    }
    let mut blocks = lock();
    // SAFETY: the layout is valid by the contract of `GlobalAlloc`.
    unsafe {
        match zeroed {
            true => blocks.calloc(bytes, layout.align()),
            false => blocks.malloc(bytes, layout.align()),
        }
    }
}

/// Changes the size of a block of this heap; returns null if the heap is full or the block has to
/// move to another size class. The caller is in a section.
///
/// # Safety
/// As for [`GlobalAlloc::realloc`].
pub(super) unsafe fn realloc(block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    let (old, old_class) = block_size(layout.size(), layout.align());
    let (new, new_class) = block_size(size, layout.align());
    if old == new {
        return block;
    }
    if old_class.is_some() || new_class.is_some() {
        return null_mut();
    }
    // SAFETY: a block of this heap with this layout, by the caller's contract.
    unsafe { lock().realloc(block, old, layout.align(), new) }
}

/// Frees a block of this heap. `in_section` tells if the calling thread is in a section.
///
/// # Safety
/// As for [`GlobalAlloc::dealloc`].
pub(super) unsafe fn dealloc(block: *mut u8, layout: Layout, in_section: bool) {
    let (bytes, class) = block_size(layout.size(), layout.align());
    // SAFETY: a block of this heap with this layout, by the caller's contract; `alloc` made it of
    // this size, which was valid.
    unsafe {
        if !in_section {
            let layout = Layout::from_size_align_unchecked(bytes, layout.align());
            return push(&HEAP.returned, block, layout);
        }
        let make = || alloc(Layout::new::<Magazine>(), false);
        if !class.is_some_and(|class| magazine::put(class, block, make)) {
            lock().free(block, bytes, layout.align());
        }
    }
}

/// Keeps a block of the C library that a thread in a section frees, until [`free_deferred`]. Leaks
/// a block that is too small for the list.
///
/// # Safety
/// As for [`GlobalAlloc::dealloc`].
pub(super) unsafe fn defer(block: *mut u8, layout: Layout) {
    if layout.size() >= size_of::<Waiting>() {
        // SAFETY: the block is as large as its layout, and its owner has freed it.
        unsafe { push(&HEAP.deferred, block, layout) };
    }
}

/// Frees the blocks of the C library that were freed in sections. Must not be called in a section
/// or by a thread that runs signal handlers of the guest.
pub fn free_deferred() {
    take_all(&HEAP.deferred, |block, layout| {
        // SAFETY: a block of the system's allocator with this layout, which its owner has freed.
        unsafe { System.dealloc(block, layout) }
    });
}

/// While it lives, the calling thread allocates from this heap.
#[derive(Debug)]
pub struct Section {
    before: Source,
}

impl Section {
    /// Begins a section. The calling thread must block its signals until the section ends;
    /// otherwise a handler may wait for its own thread forever.
    #[must_use]
    pub fn begin() -> Section {
        let before = fault_alloc::source();
        // The description of a fault in a section stays with its own memory.
        if before == Source::System {
            fault_alloc::set_source(Source::SignalHeap);
            magazine::begin();
        }
        Section { before }
    }
}

impl Drop for Section {
    fn drop(&mut self) {
        if self.before == Source::System {
            magazine::end(|block, layout| {
                let (bytes, _) = block_size(layout.size(), layout.align());
                // SAFETY: a free block of this heap with this layout.
                unsafe { lock().free(block, bytes, layout.align()) }
            });
        }
        fault_alloc::set_source(self.before);
    }
}

/// The heap's lock, held over a fork so that the child finds the heap in order.
pub struct Held {
    _blocks: MutexGuard<'static, Dlmalloc<Pages>>,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Held")
    }
}

/// Locks the heap before a fork; `None` if another thread holds it for longer than a second. The
/// caller blocks its signals, and must be in no section while it holds the lock.
pub fn lock_before_fork() -> Option<Held> {
    fork_lock::lock_before_fork(&HEAP.blocks).map(|blocks| Held { _blocks: blocks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault_alloc::FaultAlloc;

    fn layout(bytes: usize, align: usize) -> Layout {
        Layout::from_size_align(bytes, align).unwrap()
    }

    #[test]
    fn blocks_of_a_section_belong_to_the_heap_and_are_used_again() {
        let wanted = layout(200, 64);
        let section = Section::begin();
        // SAFETY: layouts with a size; the blocks are written within them and freed once.
        unsafe {
            let a = FaultAlloc.alloc(wanted);
            let b = FaultAlloc.alloc_zeroed(layout(1, 1));
            assert!(owns(a) && owns(b) && *b == 0);
            assert!((a as usize).is_multiple_of(64));
            a.write_bytes(7, 200);
            let grown = FaultAlloc.realloc(a, wanted, 5000);
            assert!(owns(grown) && *grown.add(199) == 7);
            assert!((grown as usize).is_multiple_of(64));
            FaultAlloc.dealloc(b, layout(1, 1));
            drop(section);
            // Freed outside, the block waits until the next allocation in a section.
            FaultAlloc.dealloc(grown, layout(5000, 64));
            let _section = Section::begin();
            let again = FaultAlloc.alloc(layout(5000, 64));
            assert!(owns(again));
            FaultAlloc.dealloc(again, layout(5000, 64));
        }
    }

    #[test]
    fn blocks_of_the_system_survive_a_section_that_frees_them() {
        let wanted = layout(64, 8);
        // SAFETY: layouts with a size; the blocks are written within them and freed once.
        unsafe {
            let block = FaultAlloc.alloc(wanted);
            let other = FaultAlloc.alloc(wanted);
            block.write_bytes(3, 64);
            assert!(!owns(block));
            {
                let _section = Section::begin();
                let grown = FaultAlloc.realloc(block, wanted, 128);
                assert!(owns(grown) && *grown.add(63) == 3);
                FaultAlloc.dealloc(grown, layout(128, 8));
                FaultAlloc.dealloc(other, wanted);
            }
            free_deferred();
            assert!(HEAP.deferred.load(Ordering::Relaxed).is_null());
        }
    }

    #[test]
    fn threads_share_the_heap() {
        let work = |seed: usize| {
            let mut live: Vec<(*mut u8, Layout, u8)> = Vec::new();
            for i in 0..2000usize {
                let wanted = layout(1 + (i * 37 + seed * 11) % 700, 1 << (i % 7));
                let mark = (i ^ seed) as u8;
                // SAFETY: a layout with a size; the block is written within it.
                unsafe {
                    let section = (i % 3 != 0).then(Section::begin);
                    let block = FaultAlloc.alloc(wanted);
                    block.write_bytes(mark, wanted.size());
                    drop(section);
                    live.push((block, wanted, mark));
                }
                if i % 2 == 1 {
                    let (block, wanted, mark) = live.swap_remove(i % live.len());
                    // SAFETY: the block is live, and freed once.
                    unsafe {
                        assert_eq!((*block, *block.add(wanted.size() - 1)), (mark, mark));
                        let _section = (i % 5 != 0).then(Section::begin);
                        FaultAlloc.dealloc(block, wanted);
                    }
                }
            }
        };
        std::thread::scope(|s| {
            for seed in 0..4 {
                s.spawn(move || work(seed));
            }
        });
        free_deferred();
    }
}
