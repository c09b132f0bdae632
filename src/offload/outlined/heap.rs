//! Where the program's blocks of memory begin and end.
//!
//! What: variables, and what the program allocates through [`super::library`]; [`find`] tells the
//! block around an address. Large blocks have pages of their own, so that these can be taken away
//! while the data is on a device. They are the C library's all the same: whoever frees one may.
//!
//! What not: memory that libraries allocate. A block that a library frees stays here until another
//! is found to lie there.

use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::ffi::c_void;

/// Bytes of blocks that get pages of their own.
pub const LARGE: usize = crate::memory::image::LARGE;
/// Bytes of a page.
pub const PAGE: usize = 4096;

/// Bytes of the smallest blocks that are noted when it is left to us where regions run: those with
/// less are not worth it, and programs may have many.
const WORTH: usize = 4096;

/// Bytes of the smallest blocks that are noted.
pub fn least() -> usize {
    match super::mode() {
        super::Mode::Force => 1,
        _ => WORTH,
    }
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A variable of the program.
    Variable,
    /// Allocated, somewhere among others.
    Small,
    /// Allocated, alone on its pages.
    Large,
}

/// A block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its address.
    pub start: usize,
    /// Its size.
    pub size: usize,
    /// What it is.
    pub kind: Kind,
}

impl Block {
    /// Whether all of its pages are its own.
    pub fn alone(&self) -> bool {
        match self.kind {
            Kind::Large => true,
            Kind::Variable => self.size >= LARGE && self.start.is_multiple_of(PAGE),
            Kind::Small => false,
        }
    }
}

static BLOCKS: RwLock<BTreeMap<usize, (usize, Kind)>> = RwLock::new(BTreeMap::new());

/// Notes a block, in the place of any that is noted there.
pub fn add(start: usize, size: usize, kind: Kind) {
    if start == 0 || size == 0 {
        return;
    }
    let mut blocks = BLOCKS.write();
    while let Some((&other, &(other_size, _))) = blocks.range(..start + size).next_back() {
        if other + other_size <= start {
            break;
        }
        blocks.remove(&other);
    }
    blocks.insert(start, (size, kind));
}

/// Forgets the block that begins there.
pub fn remove(start: usize) -> Option<Block> {
    let (size, kind) = BLOCKS.write().remove(&start)?;
    Some(Block { start, size, kind })
}

/// The block around an address.
pub fn find(address: usize) -> Option<Block> {
    let blocks = BLOCKS.read();
    let (&start, &(size, kind)) = blocks.range(..=address).next_back()?;
    (address < start + size).then_some(Block { start, size, kind })
}

/// Allocates as `malloc`, with pages of its own where it is large.
pub fn allocate(size: usize, zeroed: bool) -> *mut c_void {
    if size < LARGE {
        // SAFETY: plain allocation.
        let p = unsafe {
            match zeroed {
                true => libc::calloc(1, size),
                false => libc::malloc(size),
            }
        };
        if size >= least() {
            add(p as usize, size, Kind::Small);
        }
        return p;
    }
    let Some(whole) = size.checked_next_multiple_of(PAGE) else {
        return std::ptr::null_mut();
    };
    let mut p = std::ptr::null_mut();
    // SAFETY: writes the address of a fresh block.
    if unsafe { libc::posix_memalign(&raw mut p, PAGE, whole) } != 0 {
        // SAFETY: as `malloc` leaves it.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
        return std::ptr::null_mut();
    }
    if zeroed {
        // SAFETY: whole pages of a fresh block, private to the process: they come back as zeros.
        unsafe {
            if libc::madvise(p, whole, libc::MADV_DONTNEED) != 0 {
                p.cast::<u8>().write_bytes(0, whole);
            }
        }
    }
    add(p as usize, size, Kind::Large);
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlined_blocks_are_found_from_any_address_in_them() {
        let base = 1usize << 45;
        add(base, 100, Kind::Small);
        add(base + 200, 8, Kind::Variable);
        assert_eq!(find(base + 99).map(|b| b.start), Some(base));
        assert_eq!(find(base + 100), None);
        assert_eq!(find(base + 203).map(|b| b.kind), Some(Kind::Variable));
        // A newer block takes the place of those that were freed behind our back.
        add(base + 50, 200, Kind::Large);
        assert_eq!(find(base + 10), None);
        assert_eq!(find(base + 203).map(|b| b.start), Some(base + 50));
        assert!(remove(base + 50).is_some());
        assert_eq!(find(base + 60), None);
    }

    #[test]
    fn outlined_large_blocks_have_pages_of_their_own() {
        let p = allocate(LARGE + 5, true);
        let block = find(p as usize + LARGE).unwrap();
        assert!(block.alone() && block.start.is_multiple_of(PAGE));
        // SAFETY: a live block of that size.
        let bytes = unsafe { std::slice::from_raw_parts(p.cast::<u8>(), LARGE + 5) };
        assert!(bytes.iter().all(|&b| b == 0));
        remove(p as usize);
        // SAFETY: allocated above.
        unsafe { libc::free(p) };
    }
}
