//! The memory of an emulated device: an address space that tracks for each byte whether it is
//! allocated.
//!
//! Its addresses have bit 62 set, unlike any host address, so a device address faults on the host,
//! and a host address is recognized on the device. A shadow table has one byte per eight bytes of
//! memory that gives the accessible part: the first byte in the upper four bits, the end in the
//! lower four. Gaps separate blocks, and freed blocks are quarantined until a quarter of the memory
//! has been freed after them, so out-of-bounds and use-after-free accesses are detected. A block
//! may begin with padding that preserves an alignment; the padding is inaccessible.
//!
//! There is no protection between blocks: an address inside another live block is valid.

use crate::device::{Failure, Fault, Result};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::ptr::null_mut;

/// Tag bit of device addresses.
pub const TAG: u64 = 1 << 62;
/// Additional tag bit of addresses in a block's shared memory.
pub const SHARED_TAG: u64 = 1 << 61;
/// Position of the device number in an address.
const NUMBER_SHIFT: u32 = 48;
/// Count of device numbers that fit into an address below the tag bits.
pub const NUMBERS: u32 = 1 << 13;
/// Mask of the offset within a device.
pub const OFFSET: u64 = (1 << 40) - 1;
/// Offset of the first block.
const FIRST_OFFSET: u64 = 1 << 20;
/// Minimum gap between blocks in bytes.
const GAP: u64 = 64;
/// Bytes that one entry of the table describes.
const GRANULE: u64 = 8;
/// Fill pattern of fresh memory.
const FILL_PATTERN: u8 = 0xcb;

/// The memory of an emulated device.
#[derive(Debug)]
pub struct Arena {
    tag: u64,
    base: *mut u8,
    table: *mut u8,
    capacity: u64,
    blocks: Mutex<Blocks>,
}

// SAFETY: the mappings live as long as the arena. The table changes under the lock; unlocked reads
// race only with accesses of the program that race themselves.
unsafe impl Send for Arena {}
// SAFETY: see `Send`.
unsafe impl Sync for Arena {}

#[derive(Debug, Default)]
struct Blocks {
    /// Live blocks: size, including padding, and padding by start offset.
    live: BTreeMap<u64, (u64, u64)>,
    /// Free ranges: size, including the gap, by start offset.
    free: BTreeMap<u64, u64>,
    /// Quarantined blocks: start offset, size with the gap, size.
    quarantine: VecDeque<(u64, u64, u64)>,
    quarantine_bytes: u64,
    used: u64,
}

/// Information about an address, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressInfo {
    /// In a live block or just beside it: start and size of the block.
    Live(u64, u64),
    /// In a quarantined block: start and size.
    Freed(u64, u64),
    /// In no known block.
    Nothing,
}

impl Arena {
    /// Reserves the memory of the device with the given number.
    ///
    /// # Errors
    /// [`Failure::Lost`] if the system cannot reserve the address range.
    pub fn new(number: u32, capacity: u64) -> Result<Arena> {
        let capacity = capacity.next_multiple_of(1 << 20);
        let span = FIRST_OFFSET + capacity;
        let base = reserve(span)?;
        let table = reserve(span / GRANULE)?;
        let mut blocks = Blocks::default();
        blocks.free.insert(FIRST_OFFSET, capacity);
        Ok(Arena {
            tag: TAG | u64::from(number) << NUMBER_SHIFT,
            base,
            table,
            capacity,
            blocks: Mutex::new(blocks),
        })
    }

    /// Returns the size of the memory in bytes.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns a mask, and the bits under it that all addresses of the device have.
    pub fn address_pattern(&self) -> (u64, u64) {
        (!OFFSET, self.tag)
    }

    /// Returns true if the address belongs to this device.
    pub fn owns(&self, address: u64) -> bool {
        address & !OFFSET == self.tag
    }

    /// Allocates a block.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`].
    pub fn alloc(&self, size: u64, align: u64) -> Result<u64> {
        self.alloc_padded(0, size, align)
    }

    /// Allocates a block after `padding` bytes that preserve its alignment, and returns the start
    /// of the padding.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`].
    pub fn alloc_padded(&self, padding: u64, size: u64, align: u64) -> Result<u64> {
        let align = align.max(16);
        let size = size.saturating_add(padding);
        let full = Failure::OutOfMemory { size };
        let Some(wanted) = size
            .max(1)
            .checked_add(GAP)
            .and_then(|n| n.checked_next_multiple_of(16))
        else {
            return Err(full);
        };
        if wanted > self.capacity {
            return Err(full);
        }
        let mut blocks = self.blocks.lock();
        let found = loop {
            let fits = |(&start, &len): (&u64, &u64)| {
                let at = start.next_multiple_of(align);
                (at + wanted <= start + len).then_some((start, len, at))
            };
            if let Some(found) = blocks.free.iter().find_map(fits) {
                break found;
            }
            if !blocks.release_oldest() {
                return Err(full);
            }
        };
        let (start, len, at) = found;
        blocks.free.remove(&start);
        if at > start {
            blocks.free.insert(start, at - start);
        }
        let rest = start + len - (at + wanted);
        if rest > 0 {
            blocks.free.insert(at + wanted, rest);
        }
        blocks.used += wanted;
        blocks.live.insert(at, (size, padding));
        // SAFETY: the block lies in the mapping and is not used by anyone yet.
        unsafe {
            self.base
                .add(at as usize)
                .write_bytes(FILL_PATTERN, size as usize)
        };
        self.mark(at, size, true);
        self.mark_padding(at, padding);
        Ok(self.tag | at)
    }

    /// Frees a block and quarantines it.
    ///
    /// # Errors
    /// [`Failure::Fault`] if the address is not the start of a live block.
    pub fn free(&self, address: u64) -> Result<()> {
        let at = address & OFFSET;
        let mut blocks = self.blocks.lock();
        let size = if self.owns(address) {
            blocks.live.remove(&at)
        } else {
            None
        };
        let Some((size, _)) = size else {
            let what = match self.describe_in(&blocks, address) {
                AddressInfo::Freed(..) => "double free of device memory",
                _ => "free of an address that is no block of device memory",
            };
            return Err(Failure::Fault(Box::new(Fault {
                what: format!("{what}: {address:#x}"),
                place: None,
                thread: None,
                help: None,
            })));
        };
        self.mark(at, size, false);
        let wanted = (size.max(1) + GAP).next_multiple_of(16);
        blocks.used -= wanted;
        blocks.quarantine.push_back((at, wanted, size));
        blocks.quarantine_bytes += wanted;
        while blocks.quarantine_bytes > self.capacity / 4 {
            if !blocks.release_oldest() {
                break;
            }
        }
        Ok(())
    }

    /// Marks the bytes of a block as accessible or not.
    fn mark(&self, at: u64, size: u64, live: bool) {
        let first = (at / GRANULE) as usize;
        let whole = (size / GRANULE) as usize;
        let rest = (size % GRANULE) as u8;
        // SAFETY: the table has an entry for each eight bytes of the mapping.
        unsafe {
            self.table
                .add(first)
                .write_bytes(if live { GRANULE as u8 } else { 0 }, whole);
            if rest > 0 {
                *self.table.add(first + whole) = if live { rest } else { 0 };
            }
        }
    }

    /// Marks the first bytes of a block as inaccessible.
    fn mark_padding(&self, at: u64, padding: u64) {
        let first = (at / GRANULE) as usize;
        let whole = (padding / GRANULE) as usize;
        let rest = (padding % GRANULE) as u8;
        // SAFETY: the entries belong to a block, so they lie in the table.
        unsafe {
            self.table.add(first).write_bytes(0, whole);
            if rest > 0 {
                *self.table.add(first + whole) |= rest << 4;
            }
        }
    }

    /// Returns the host address of `size` bytes at a device address, if all of them are accessible.
    #[inline]
    pub fn translate(&self, address: u64, size: u64) -> Option<*mut u8> {
        if address & !OFFSET != self.tag {
            return None;
        }
        let at = address & OFFSET;
        if at >= FIRST_OFFSET + self.capacity || size > self.capacity {
            return None;
        }
        let mut grain = at / GRANULE;
        let mut within = at % GRANULE;
        let mut left = size;
        loop {
            let here = left.min(GRANULE - within);
            // SAFETY: `at` lies in the memory, so its entry is in the table; the inaccessible gap
            // after the last block ends the loop in time.
            let allowed = u64::from(unsafe { *self.table.add(grain as usize) });
            if within + here > allowed & 15 || within < allowed >> 4 {
                return None;
            }
            left -= here;
            if left == 0 {
                // SAFETY: `at` lies in the mapping.
                return Some(unsafe { self.base.add(at as usize) });
            }
            grain += 1;
            within = 0;
        }
    }

    /// Describes an address for messages.
    pub fn describe(&self, address: u64) -> AddressInfo {
        self.describe_in(&self.blocks.lock(), address)
    }

    fn describe_in(&self, blocks: &Blocks, address: u64) -> AddressInfo {
        let at = address & OFFSET;
        let section = |start: u64, (size, padding): (u64, u64)| {
            AddressInfo::Live(self.tag | (start + padding), size - padding)
        };
        if let Some((&start, &sizes)) = blocks.live.range(..=at).next_back()
            && at < start + sizes.0 + GAP
        {
            return section(start, sizes);
        }
        for &(start, wanted, size) in blocks.quarantine.iter().rev() {
            if at >= start && at < start + wanted {
                return AddressInfo::Freed(self.tag | start, size);
            }
        }
        match blocks.live.range(at..).next() {
            Some((&start, &sizes)) if start - at <= GAP => section(start, sizes),
            _ => AddressInfo::Nothing,
        }
    }
}

impl Blocks {
    /// Releases the oldest block from quarantine. Returns false if there is none.
    fn release_oldest(&mut self) -> bool {
        let Some((mut start, mut len, _)) = self.quarantine.pop_front() else {
            return false;
        };
        self.quarantine_bytes -= len;
        if let Some((&before, &n)) = self.free.range(..start).next_back()
            && before + n == start
        {
            self.free.remove(&before);
            start = before;
            len += n;
        }
        if let Some(n) = self.free.remove(&(start + len)) {
            len += n;
        }
        self.free.insert(start, len);
        true
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let span = (FIRST_OFFSET + self.capacity) as usize;
        // SAFETY: the mappings are those of `new`, and the arena is no longer used.
        unsafe {
            libc::munmap(self.base.cast(), span);
            libc::munmap(self.table.cast(), span / GRANULE as usize);
        }
    }
}

/// Reserves an address range whose pages are allocated on first access.
pub fn reserve(bytes: u64) -> Result<*mut u8> {
    // SAFETY: an anonymous mapping at an address that the system chooses.
    let at = unsafe {
        libc::mmap(
            null_mut(),
            bytes as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if at == libc::MAP_FAILED {
        return Err(Failure::Lost(
            "the system cannot reserve the address range of the emulated device; is `ulimit -v` \
             set?"
                .into(),
        ));
    }
    Ok(at.cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offload_arena_tracks_every_byte() {
        let arena = Arena::new(0, 1 << 20).unwrap();
        let a = arena.alloc(13, 16).unwrap();
        assert!(a & TAG != 0 && arena.owns(a));
        assert!(arena.translate(a, 13).is_some());
        assert!(arena.translate(a + 8, 5).is_some());
        assert!(arena.translate(a + 8, 6).is_none());
        assert!(arena.translate(a + 13, 1).is_none());
        assert!(arena.translate(a - 1, 1).is_none());
        assert_eq!(arena.describe(a + 13), AddressInfo::Live(a, 13));
        arena.free(a).unwrap();
        assert!(arena.translate(a, 1).is_none());
        assert_eq!(arena.describe(a), AddressInfo::Freed(a, 13));
        assert!(arena.free(a).is_err());
    }

    #[test]
    fn offload_arena_padding_is_inaccessible() {
        let arena = Arena::new(0, 1 << 20).unwrap();
        for padding in [0, 1, 4, 7, 8, 12, 16, 61] {
            for size in [1, 3, 8, 20] {
                let a = arena.alloc_padded(padding, size, 64).unwrap();
                assert_eq!(a % 64, 0);
                let section = a + padding;
                assert!(arena.translate(section, size).is_some());
                for before in 0..padding {
                    assert!(
                        arena.translate(a + before, 1).is_none(),
                        "{padding} {before}"
                    );
                }
                assert!(arena.translate(section - 1, 2).is_none());
                assert!(arena.translate(section, size + 1).is_none());
                assert_eq!(arena.describe(a), AddressInfo::Live(section, size));
                arena.free(a).unwrap();
                assert!(arena.translate(section, 1).is_none());
            }
        }
    }

    #[test]
    fn offload_arena_reuses_memory() {
        let arena = Arena::new(1, 1 << 20).unwrap();
        assert!(matches!(
            arena.alloc(1 << 21, 16),
            Err(Failure::OutOfMemory { .. })
        ));
        for _ in 0..100 {
            let a = arena.alloc(600 << 10, 256).unwrap();
            assert_eq!(a & 255, 0);
            arena.free(a).unwrap();
        }
        let a = arena.alloc(0, 16).unwrap();
        let b = arena.alloc(0, 16).unwrap();
        assert_ne!(a, b);
    }
}
