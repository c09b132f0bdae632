//! What is mapped on one device: ranges of the host's memory, each with its place there.
//!
//! Ranges never overlap. Each has two counts, that of ordinary constructs and that of `ompx_hold`;
//! it goes when both are zero. Variables of `declare target` and what the program associated by
//! hand stay. Pointers of the device that were made to point to mapped data are kept with the range
//! they lie in, so that copies in either direction leave both sides' pointers right.

use std::collections::BTreeMap;

/// A pointer in a mapped range that points to mapped data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attached {
    /// The pointer on the host.
    pub slot: usize,
    /// What it held there when it was attached.
    pub host: u64,
    /// What it holds on the device.
    pub device: u64,
}

/// How long a range stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// As long as a count is not zero.
    Counted,
    /// As long as the program: a variable of `declare target`.
    Program,
    /// Until the program takes it away: `omp_target_associate_ptr`.
    Associated,
}

/// A mapped range.
#[derive(Clone, Debug)]
pub struct Range {
    /// Bytes.
    pub size: usize,
    /// Where its first byte is on the device.
    pub device: u64,
    /// What is to be freed there with it.
    pub allocation: Option<u64>,
    /// How long it stays.
    pub life: Life,
    /// The count of ordinary constructs.
    pub count: u64,
    /// The count of those with `ompx_hold`.
    pub held: u64,
    /// Pointers in it.
    pub attached: Vec<Attached>,
}

impl Range {
    /// Whether leaving once more ends it.
    pub fn is_last(&self, held: bool, delete: bool) -> bool {
        let (own, other) = if held {
            (self.held, self.count)
        } else {
            (self.count, self.held)
        };
        self.life == Life::Counted && other == 0 && (delete || own <= 1)
    }

    /// Enters once more.
    pub fn enter(&mut self, held: bool) {
        if self.life == Life::Counted {
            *(if held {
                &mut self.held
            } else {
                &mut self.count
            }) += 1;
        }
    }

    /// Leaves once; with `delete` for good.
    pub fn leave(&mut self, held: bool, delete: bool) {
        if self.life == Life::Counted {
            let count = if held {
                &mut self.held
            } else {
                &mut self.count
            };
            *count = if delete { 0 } else { count.saturating_sub(1) };
        }
    }
}

/// What a look-up finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A range with all of it; where that begins.
    Within(usize),
    /// A range with a part of it.
    Across(usize),
    /// None.
    Nothing,
}

/// All ranges of a device.
#[derive(Debug, Default)]
pub struct Table {
    ranges: BTreeMap<usize, Range>,
}

impl Table {
    /// Looks for the range of `size` bytes at `begin`; for none of them, the range with that byte.
    pub fn find(&self, begin: usize, size: usize) -> Found {
        let before = self.ranges.range(..=begin).next_back();
        if let Some((&start, range)) = before {
            let end = start + range.size;
            if begin < end && begin + size <= end || begin == start && size == range.size {
                return Found::Within(start);
            }
            if begin < end {
                return Found::Across(start);
            }
        }
        match self.ranges.range(begin..begin + size).next() {
            Some((&start, _)) if size > 0 => Found::Across(start),
            _ => Found::Nothing,
        }
    }

    /// The range that begins at `start`.
    pub fn get(&mut self, start: usize) -> Option<&mut Range> {
        self.ranges.get_mut(&start)
    }

    /// Adds a range that overlaps no other.
    pub fn insert(&mut self, start: usize, range: Range) {
        self.ranges.insert(start, range);
    }

    /// Takes a range away.
    pub fn remove(&mut self, start: usize) -> Option<Range> {
        self.ranges.remove(&start)
    }

    /// Where a byte of the host is on the device.
    pub fn translate(&self, address: usize, size: usize) -> Option<u64> {
        match self.find(address, size) {
            Found::Within(start) => {
                let range = self.ranges.get(&start)?;
                Some(range.device + (address - start) as u64)
            }
            _ => None,
        }
    }

    /// All ranges, by their place on the host.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Range)> {
        self.ranges.iter().map(|(&start, range)| (start, range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(size: usize, device: u64) -> Range {
        Range {
            size,
            device,
            allocation: None,
            life: Life::Counted,
            count: 1,
            held: 0,
            attached: Vec::new(),
        }
    }

    #[test]
    fn offload_table_finds_what_overlaps() {
        let mut table = Table::default();
        table.insert(100, range(10, 0x1000));
        assert_eq!(table.find(100, 10), Found::Within(100));
        assert_eq!(table.find(105, 5), Found::Within(100));
        assert_eq!(table.find(105, 6), Found::Across(100));
        assert_eq!(table.find(90, 11), Found::Across(100));
        assert_eq!(table.find(90, 10), Found::Nothing);
        assert_eq!(table.find(110, 1), Found::Nothing);
        assert_eq!(table.find(104, 0), Found::Within(100));
        assert_eq!(table.find(110, 0), Found::Nothing);
        assert_eq!(table.translate(103, 4), Some(0x1003));
    }

    #[test]
    fn offload_counts_end_a_range() {
        let mut r = range(4, 0);
        assert!(r.is_last(false, false));
        r.enter(false);
        assert!(!r.is_last(false, false) && r.is_last(false, true));
        r.enter(true);
        assert!(!r.is_last(false, true));
        r.leave(true, false);
        r.leave(false, true);
        assert_eq!((r.count, r.held), (0, 0));
        r.life = Life::Program;
        assert!(!r.is_last(false, true));
    }
}
