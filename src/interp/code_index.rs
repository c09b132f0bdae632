//! The addresses of all lowered code, for the sampler and backtraces: they read a word of a frame
//! and must know whether it names code before they use it.
//!
//! A hash table with open addressing. Readers take no lock, since a reader may be a signal handler
//! or look at a stopped thread. A table that is half full is replaced by one of twice the size;
//! the old one is leaked, as a reader may still use it.

use ompvm_support::fork_lock;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Slots of the first table.
const FIRST_SLOTS: usize = 256;

/// The table of one process, for code of type `T`.
pub(super) struct CodeIndex<T: 'static> {
    table: AtomicPtr<Table<T>>,
    /// Number of addresses; held by writers.
    len: Mutex<usize>,
}

/// The slots, a power of two of them, null where free.
struct Table<T>(Box<[AtomicPtr<T>]>);

impl<T> Table<T> {
    fn with_slots(slots: usize) -> Table<T> {
        Table((0..slots).map(|_| AtomicPtr::new(null_mut())).collect())
    }

    /// Returns the slot that has the address, or the free one where it belongs. At least half of
    /// the slots are free.
    fn slot(&self, code: *const T) -> &AtomicPtr<T> {
        // Fibonacci hashing (Knuth, "The Art of Computer Programming", volume 3, section 6.4).
        let hash = (code as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mask = self.0.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let known = self.0[at].load(Ordering::Acquire);
            if known.is_null() || known.cast_const() == code {
                return &self.0[at];
            }
            at = (at + 1) & mask;
        }
    }
}

impl<T> CodeIndex<T> {
    /// Returns an index without addresses.
    pub(super) const fn new() -> CodeIndex<T> {
        CodeIndex {
            table: AtomicPtr::new(null_mut()),
            len: Mutex::new(0),
        }
    }

    fn table(&self) -> Option<&'static Table<T>> {
        // SAFETY: tables are leaked, so the pointer stays valid.
        unsafe { self.table.load(Ordering::Acquire).as_ref() }
    }

    /// Adds code.
    pub(super) fn insert(&self, code: &'static T) {
        let mut len = fork_lock::lock(&self.len);
        *len += 1;
        let mut table = self.table();
        let slots = table.map_or(0, |t| t.0.len());
        if *len * 2 > slots {
            let larger = Table::with_slots((slots * 2).max(FIRST_SLOTS));
            for known in table.iter().flat_map(|t| &t.0) {
                let known = known.load(Ordering::Relaxed);
                if !known.is_null() {
                    larger.slot(known).store(known, Ordering::Relaxed);
                }
            }
            let larger = Box::into_raw(Box::new(larger));
            self.table.store(larger, Ordering::Release);
            table = self.table();
        }
        if let Some(table) = table {
            let code = std::ptr::from_ref(code);
            table.slot(code).store(code.cast_mut(), Ordering::Release);
        }
    }

    /// Returns the code at an address, which may be any number.
    pub(super) fn get(&self, code: *const T) -> Option<&'static T> {
        let known = self.table()?.slot(code).load(Ordering::Acquire);
        // SAFETY: the slots have leaked code only; another thread may have filled the slot since.
        unsafe { known.as_ref() }.filter(|&known| std::ptr::eq(known, code))
    }

    /// Locks the index before a fork; `None` if another thread holds it for longer than a second.
    pub(super) fn lock_before_fork(&self) -> Option<MutexGuard<'_, usize>> {
        fork_lock::lock_before_fork(&self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    #[test]
    fn code_is_found_while_the_table_grows() {
        let index = CodeIndex::new();
        let all: Vec<&'static [u64; 4]> =
            (0..5000).map(|i| &*Box::leak(Box::new([i; 4]))).collect();
        assert!(index.get(all[0]).is_none());
        std::thread::scope(|s| {
            for part in all.chunks(1250) {
                let index = &index;
                s.spawn(move || {
                    for (n, code) in part.iter().enumerate() {
                        index.insert(code);
                        assert!(
                            index
                                .get(part[n / 2])
                                .is_some_and(|c| ptr::eq(c, part[n / 2]))
                        );
                    }
                });
            }
        });
        for &code in &all {
            assert!(index.get(code).is_some_and(|c| ptr::eq(c, code)));
            assert!(
                index
                    .get(ptr::from_ref(code).wrapping_byte_add(8))
                    .is_none()
            );
        }
        assert!(index.get(ptr::null()).is_none());
    }
}
