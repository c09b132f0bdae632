//! Tracks the bounds of the program's memory blocks.
//!
//! Blocks are variables and allocations through [`super::wrappers`]; [`find`] returns the block
//! that contains an address. Large blocks have pages of their own, which can be protected while the
//! data is on a device. They still belong to the C library, so any code may free them.
//!
//! Allocations of native libraries are not tracked. A block that a library frees stays registered
//! until another one is registered at its address.

use super::AUTO_OFFLOAD;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

/// Minimum size in bytes of blocks with pages of their own.
pub const LARGE: usize = ompvm_memory::image::LARGE;
/// Page size in bytes.
pub const PAGE: usize = 4096;

/// Minimum size of tracked blocks in `auto` mode. Programs may have many smaller ones, which gain
/// little on a device.
const MIN_TRACKED_AUTO: usize = 4096;

/// Returns the minimum size of tracked blocks in bytes.
pub fn min_tracked() -> usize {
    match AUTO_OFFLOAD.heap.tracks_small.load(Ordering::Relaxed) {
        true => 1,
        false => MIN_TRACKED_AUTO,
    }
}

/// Tracks blocks of any size from now on, for programs whose regions are forced to a device.
pub fn track_small() {
    AUTO_OFFLOAD
        .heap
        .tracks_small
        .store(true, Ordering::Relaxed);
}

/// Kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Variable of the program.
    Variable,
    /// Allocation that shares its pages with others.
    Small,
    /// Allocation with pages of its own.
    Large,
}

/// A block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Address.
    pub start: usize,
    /// Size in bytes.
    pub size: usize,
    /// Kind.
    pub kind: BlockKind,
}

impl Block {
    /// Returns true if the block shares no page with others.
    pub fn owns_pages(&self) -> bool {
        match self.kind {
            BlockKind::Large => true,
            BlockKind::Variable => self.size >= LARGE && self.start.is_multiple_of(PAGE),
            BlockKind::Small => false,
        }
    }
}

/// The tracked blocks of a process. Threads that allocate contend for the lock, so it has a cache
/// line of its own.
#[repr(align(128))]
pub(super) struct Blocks {
    /// Sizes and kinds by address.
    table: RwLock<BTreeMap<usize, (usize, BlockKind)>>,
    /// True once blocks of any size are tracked.
    tracks_small: AtomicBool,
}

impl Blocks {
    /// Returns an empty table.
    pub(super) const fn new() -> Blocks {
        Blocks {
            table: RwLock::new(BTreeMap::new()),
            tracks_small: AtomicBool::new(false),
        }
    }
}

/// Registers a block and removes those that it overlaps.
pub fn add(start: usize, size: usize, kind: BlockKind) {
    if start == 0 || size == 0 {
        return;
    }
    let mut blocks = AUTO_OFFLOAD.heap.table.write();
    while let Some((&other, &(other_size, _))) = blocks.range(..start + size).next_back() {
        if other + other_size <= start {
            break;
        }
        blocks.remove(&other);
    }
    blocks.insert(start, (size, kind));
}

/// Unregisters the block that begins at `start`.
pub fn remove(start: usize) -> Option<Block> {
    let (size, kind) = AUTO_OFFLOAD.heap.table.write().remove(&start)?;
    Some(Block { start, size, kind })
}

/// Returns the block that contains an address.
pub fn find(address: usize) -> Option<Block> {
    let blocks = AUTO_OFFLOAD.heap.table.read();
    let (&start, &(size, kind)) = blocks.range(..=address).next_back()?;
    (address < start + size).then_some(Block { start, size, kind })
}

/// Allocates like `malloc` or `calloc`. Large blocks get pages of their own.
pub fn allocate(size: usize, zeroed: bool) -> *mut c_void {
    if size < LARGE {
        // SAFETY: the functions have no preconditions.
        let p = unsafe {
            match zeroed {
                true => libc::calloc(1, size),
                false => libc::malloc(size),
            }
        };
        if size >= min_tracked() {
            add(p as usize, size, BlockKind::Small);
        }
        return p;
    }
    let Some(whole) = size.checked_next_multiple_of(PAGE) else {
        return std::ptr::null_mut();
    };
    let mut p = std::ptr::null_mut();
    // SAFETY: the result pointer is valid.
    if unsafe { libc::posix_memalign(&raw mut p, PAGE, whole) } != 0 {
        // SAFETY: errno of this thread.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
        return std::ptr::null_mut();
    }
    if zeroed {
        // SAFETY: whole pages of a fresh, private block; `MADV_DONTNEED` makes them read as zeros.
        unsafe {
            if libc::madvise(p, whole, libc::MADV_DONTNEED) != 0 {
                p.cast::<u8>().write_bytes(0, whole);
            }
        }
    }
    add(p as usize, size, BlockKind::Large);
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_offload_blocks_are_found_by_any_inner_address() {
        let base = 1usize << 45;
        add(base, 100, BlockKind::Small);
        add(base + 200, 8, BlockKind::Variable);
        assert_eq!(find(base + 99).map(|b| b.start), Some(base));
        assert_eq!(find(base + 100), None);
        assert_eq!(find(base + 203).map(|b| b.kind), Some(BlockKind::Variable));
        // A new block replaces those that were freed without our knowledge.
        add(base + 50, 200, BlockKind::Large);
        assert_eq!(find(base + 10), None);
        assert_eq!(find(base + 203).map(|b| b.start), Some(base + 50));
        assert!(remove(base + 50).is_some());
        assert_eq!(find(base + 60), None);
    }

    #[test]
    fn auto_offload_large_blocks_own_their_pages() {
        let p = allocate(LARGE + 5, true);
        let block = find(p as usize + LARGE).unwrap();
        assert!(block.owns_pages() && block.start.is_multiple_of(PAGE));
        // SAFETY: a live block of that size.
        let bytes = unsafe { std::slice::from_raw_parts(p.cast::<u8>(), LARGE + 5) };
        assert!(bytes.iter().all(|&b| b == 0));
        remove(p as usize);
        // SAFETY: `allocate` returned the block, and it is freed once.
        unsafe { libc::free(p) };
    }
}
