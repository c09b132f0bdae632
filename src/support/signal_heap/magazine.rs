//! Free blocks at hand: lists by size that one thread uses without a lock.
//!
//! Most blocks of a section are small and soon free again, and two threads often prepare functions
//! at the same time. A section therefore takes a [`Magazine`] (Bonwick and Adams, "Magazines and
//! vmem", USENIX 2001), which keeps what the section frees for its next allocations. Between
//! sections magazines wait in [`SPARE`]; a thread that ends leaves nothing behind.
//!
//! Sizes are rounded up to those of [`size_class`], whether the block comes from a magazine or not.

use std::alloc::Layout;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Size up to which classes are [`SMALL_STEP`] bytes apart.
const SMALL: usize = 512;
const SMALL_STEP: usize = 32;
/// Size up to which classes are [`LARGE_STEP`] bytes apart. Larger blocks are not kept.
const LARGE: usize = 4096;
const LARGE_STEP: usize = 256;
const SMALL_CLASSES: usize = SMALL / SMALL_STEP;
const CLASSES: usize = SMALL_CLASSES + (LARGE - SMALL) / LARGE_STEP;
/// Greatest alignment of blocks that are kept; the heap aligns each block so.
const MAX_ALIGN: usize = 16;
/// Most bytes that a magazine keeps.
const MAX_BYTES: usize = 256 << 10;

/// Magazines between sections.
static SPARE: [AtomicPtr<Magazine>; 4] = [const { AtomicPtr::new(null_mut()) }; 4];

thread_local! {
    /// The magazine of this thread's section, or null.
    static HELD: Cell<*mut Magazine> = const { Cell::new(null_mut()) };
}

/// A free block in a list.
struct Free {
    next: *mut Free,
}

/// Lists of free blocks, one for each size class.
pub(super) struct Magazine {
    lists: [*mut Free; CLASSES],
    /// Bytes of all blocks in the lists.
    bytes: usize,
}

/// A size class.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct SizeClass {
    number: usize,
    /// Bytes of each block.
    pub(super) bytes: usize,
}

/// Returns the class of blocks with this size and alignment; `None` for those that no magazine
/// keeps.
#[inline]
pub(super) fn size_class(bytes: usize, align: usize) -> Option<SizeClass> {
    if bytes > LARGE || align > MAX_ALIGN {
        return None;
    }
    let number = match bytes {
        0..=SMALL => bytes.max(1).div_ceil(SMALL_STEP) - 1,
        _ => SMALL_CLASSES + (bytes - SMALL).div_ceil(LARGE_STEP) - 1,
    };
    Some(SizeClass {
        number,
        bytes: class_bytes(number),
    })
}

/// Returns the size of a class's blocks.
#[inline]
fn class_bytes(number: usize) -> usize {
    match (number + 1).checked_sub(SMALL_CLASSES) {
        None | Some(0) => (number + 1) * SMALL_STEP,
        Some(steps) => SMALL + steps * LARGE_STEP,
    }
}

/// Takes a spare magazine for this thread's section, if there is one.
pub(super) fn begin() {
    let take = |m: &AtomicPtr<Magazine>| match m.load(Ordering::Relaxed).is_null() {
        true => null_mut(),
        false => m.swap(null_mut(), Ordering::Acquire),
    };
    let mut spare = SPARE.iter().map(take);
    HELD.set(spare.find(|m| !m.is_null()).unwrap_or(null_mut()));
}

/// Gives the magazine of this thread's section back. If there are enough of them, calls `free` with
/// each of its blocks, and with the magazine as the last.
pub(super) fn end(mut free: impl FnMut(*mut u8, Layout)) {
    let magazine = HELD.replace(null_mut());
    let kept = |m: &AtomicPtr<Magazine>| {
        m.compare_exchange(null_mut(), magazine, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    };
    if magazine.is_null() || SPARE.iter().any(kept) {
        return;
    }
    // SAFETY: this thread took the magazine in `begin`, and no other knows it or its blocks, whose
    // first words `put` has written.
    unsafe {
        for (number, mut block) in (*magazine).lists.into_iter().enumerate() {
            let layout = Layout::from_size_align_unchecked(class_bytes(number), MAX_ALIGN);
            while !block.is_null() {
                let next = (*block).next;
                free(block.cast(), layout);
                block = next;
            }
        }
    }
    free(magazine.cast(), Layout::new::<Magazine>());
}

/// Takes a block of a class from the magazine of this thread's section; null if it has none.
#[inline]
pub(super) fn take(class: SizeClass) -> *mut u8 {
    let magazine = HELD.get();
    if magazine.is_null() {
        return null_mut();
    }
    // SAFETY: the magazine is this thread's alone until `end`; `put` wrote the block's first word.
    unsafe {
        let block = (*magazine).lists[class.number];
        if !block.is_null() {
            (*magazine).lists[class.number] = (*block).next;
            (*magazine).bytes -= class.bytes;
        }
        block.cast()
    }
}

/// Puts a freed block of a class into the magazine of this thread's section. `make` returns memory
/// for a first one, or null. Returns false if there is none or it is full.
///
/// # Safety
/// The calling thread is in a section. The block belongs to the heap, has the size of its class, and
/// nothing uses it any more.
#[inline]
pub(super) unsafe fn put(class: SizeClass, block: *mut u8, make: fn() -> *mut u8) -> bool {
    let mut magazine = HELD.get();
    if magazine.is_null() {
        magazine = fresh(make);
    }
    let block = block.cast::<Free>();
    // SAFETY: the magazine is this thread's alone until `end`; the block is free by contract.
    unsafe {
        if magazine.is_null() || (*magazine).bytes + class.bytes > MAX_BYTES {
            return false;
        }
        (*block).next = (*magazine).lists[class.number];
        (*magazine).lists[class.number] = block;
        (*magazine).bytes += class.bytes;
    }
    true
}

/// Makes a magazine for this thread's section; returns null without memory.
#[cold]
fn fresh(make: fn() -> *mut u8) -> *mut Magazine {
    let magazine = make().cast::<Magazine>();
    if !magazine.is_null() {
        let empty = Magazine {
            lists: [null_mut(); CLASSES],
            bytes: 0,
        };
        // SAFETY: `make` returned memory for a magazine, which nothing else uses.
        unsafe { magazine.write(empty) };
    }
    HELD.set(magazine);
    magazine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_cover_each_size_once() {
        let mut last = (0, 0);
        for bytes in 1..=LARGE {
            let class = size_class(bytes, 8).unwrap();
            assert!(class.bytes >= bytes && class.number < CLASSES, "{bytes}");
            let next = (class.number, class.bytes);
            assert!(next == last || next.1 > last.1 && bytes > last.1, "{bytes}");
            assert!(size_class(class.bytes, 16) == Some(class), "{bytes}");
            last = next;
        }
        assert_eq!(last, (CLASSES - 1, LARGE));
        assert!(size_class(LARGE + 1, 8).is_none() && size_class(8, 32).is_none());
    }
}
