//! Writing back what a region changed in small memory.
//!
//! Small blocks and variables are copied to the device before a region and back behind it, as
//! pieces of the frame. Another thread of the program may write other elements of such memory
//! meanwhile, bytes beside those of the region. So only bytes that differ from what was sent are
//! written. A byte that the region wrote and that did not change need not be: nobody else may have
//! written it.

/// Bytes that are compared at once.
const WORD: usize = 8;

/// Writes the bytes of `now` that differ from `sent` to `to`.
///
/// # Safety
/// `now.len()` bytes at `to` must be writable memory of the program, in which other threads write
/// at most bytes that do not differ.
pub(super) unsafe fn write_changes(to: *mut u8, sent: &[u8], now: &[u8]) {
    debug_assert_eq!(sent.len(), now.len());
    let words = sent.chunks(WORD).zip(now.chunks(WORD));
    for (n, (before, after)) in words.enumerate() {
        // SAFETY: by this function's contract; the chunk lies in the range.
        unsafe { write_word(to.add(n * WORD), before, after) };
    }
}

/// Writes the bytes that differ in a word, or in a shorter rest.
///
/// # Safety
/// As for [`write_changes`].
#[inline]
unsafe fn write_word(to: *mut u8, before: &[u8], after: &[u8]) {
    if let (Ok(before), Ok(after)) = (before.try_into(), after.try_into()) {
        let differing = u64::from_ne_bytes(before) ^ u64::from_ne_bytes(after);
        if differing == 0 {
            return;
        }
        if !has_zero_byte(differing) {
            // SAFETY: by this function's contract; all eight bytes differ.
            unsafe { to.cast::<u64>().write_unaligned(u64::from_ne_bytes(after)) };
            return;
        }
    }
    for (n, (before, after)) in before.iter().zip(after).enumerate() {
        if before != after {
            // SAFETY: by this function's contract; the byte differs.
            unsafe { to.add(n).write(*after) };
        }
    }
}

/// Returns true if one of a word's bytes is 0.
fn has_zero_byte(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    word.wrapping_sub(ONES) & !word & HIGH != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn auto_offload_only_changed_bytes_are_written(
            bytes in proptest::collection::vec((any::<u8>(), any::<u8>(), 0..4u8), 0..70),
        ) {
            let sent: Vec<u8> = bytes.iter().map(|b| b.0).collect();
            let changes = |b: &(u8, u8, u8)| b.2 != 0 && b.0 != b.1;
            let now: Vec<u8> = bytes.iter().map(|b| if changes(b) { b.1 } else { b.0 }).collect();
            // Other threads wrote all that the region did not change.
            let mut memory: Vec<u8> = sent.iter().map(|b| !b).collect();
            // SAFETY: `memory` has as many bytes.
            unsafe { write_changes(memory.as_mut_ptr(), &sent, &now) };
            for (n, b) in bytes.iter().enumerate() {
                prop_assert_eq!(memory[n], if changes(b) { b.1 } else { !b.0 });
            }
        }
    }
}
