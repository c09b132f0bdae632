//! The mapping table of one device: ranges of host memory with their device addresses.
//!
//! Ranges never overlap. Each has two reference counts, for ordinary constructs and for
//! `ompx_hold`, and is unmapped when both are zero. Variables of `declare target` and explicitly
//! associated ranges stay. A range records the attached pointers in it, so that copies in either
//! direction keep both sides' pointers valid.

use crate::device::MemoryKind;
use std::collections::BTreeMap;

/// An attached pointer: it lies in a mapped range and points to mapped data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachedPointer {
    /// Host address of the pointer.
    pub slot: usize,
    /// Value on the host when it was attached.
    pub host: u64,
    /// Value on the device.
    pub device: u64,
}

/// Lifetime of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Mapped while a reference count is not zero.
    Counted,
    /// Mapped for the whole run: a variable of `declare target`.
    Program,
    /// Mapped until `omp_target_disassociate_ptr`.
    Associated,
}

/// A mapped range.
#[derive(Clone, Debug)]
pub struct MappedRange {
    /// Size in bytes.
    pub size: usize,
    /// Device address of the first byte.
    pub device: u64,
    /// Device allocation to free with the range.
    pub allocation: Option<u64>,
    /// Kind of memory of the device's copy: [`MemoryKind::Device`], or [`MemoryKind::Host`].
    pub memory: MemoryKind,
    /// Lifetime.
    pub life: Lifetime,
    /// Reference count of ordinary constructs.
    pub count: u64,
    /// Reference count of constructs with `ompx_hold`.
    pub held: u64,
    /// Attached pointers in the range.
    pub attached: Vec<AttachedPointer>,
    /// True while the host has the current contents, since it ran a region in place of the device.
    pub on_host: bool,
    /// True if a kernel may have changed it since the host had its contents. Of a variable of the
    /// program, `launches` tells that.
    pub changed: bool,
    /// True if an interrupted kernel may have changed it after others did.
    pub torn: bool,
    /// True unless the range stands for a function of the program.
    pub is_data: bool,
    /// Number of launches on the device before the range was copied last.
    pub launches: u64,
}

impl MappedRange {
    /// Creates a range of `size` bytes at that device address, with one reference, whose contents the
    /// host has.
    pub fn new(size: usize, device: u64, life: Lifetime) -> MappedRange {
        MappedRange {
            size,
            device,
            allocation: None,
            memory: MemoryKind::Device,
            life,
            count: 1,
            held: 0,
            attached: Vec::new(),
            on_host: false,
            changed: false,
            torn: false,
            is_data: true,
            launches: 0,
        }
    }

    /// Returns true if the next [`leave`](MappedRange::leave) with these arguments ends the
    /// mapping.
    pub fn ends_mapping(&self, held: bool, delete: bool) -> bool {
        let (own, other) = if held {
            (self.held, self.count)
        } else {
            (self.count, self.held)
        };
        self.life == Lifetime::Counted && other == 0 && (delete || own <= 1)
    }

    /// Increments the reference count.
    pub fn enter(&mut self, held: bool) {
        if self.life == Lifetime::Counted {
            *(if held {
                &mut self.held
            } else {
                &mut self.count
            }) += 1;
        }
    }

    /// Decrements the reference count; `delete` sets it to zero.
    pub fn leave(&mut self, held: bool, delete: bool) {
        if self.life == Lifetime::Counted {
            let count = if held {
                &mut self.held
            } else {
                &mut self.count
            };
            *count = if delete { 0 } else { count.saturating_sub(1) };
        }
    }
}

/// Result of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Start of a range that contains all bytes.
    Contained(usize),
    /// Start of a range that contains some of the bytes.
    Partial(usize),
    /// No overlap.
    Unmapped,
}

/// The mapped ranges of a device, by host address.
#[derive(Debug, Default)]
pub struct MappingTable {
    ranges: BTreeMap<usize, MappedRange>,
    /// Number of launches on the device.
    pub(super) launches: u64,
}

impl MappingTable {
    /// Looks up the range that contains `size` bytes at `begin`, or for `size` 0 the byte at
    /// `begin`.
    pub fn find(&self, begin: usize, size: usize) -> Lookup {
        let before = self.ranges.range(..=begin).next_back();
        if let Some((&start, range)) = before {
            let end = start + range.size;
            if begin < end && size <= end - begin || begin == start && size == range.size {
                return Lookup::Contained(start);
            }
            if begin < end {
                return Lookup::Partial(start);
            }
        }
        match self.ranges.range(begin..begin.saturating_add(size)).next() {
            Some((&start, _)) if size > 0 => Lookup::Partial(start),
            _ => Lookup::Unmapped,
        }
    }

    /// Returns the start of the range that contains an address.
    pub(super) fn start_of(&self, address: usize) -> Option<usize> {
        match self.find(address, 0) {
            Lookup::Contained(start) => Some(start),
            _ => None,
        }
    }

    /// Returns the range that begins at `start`.
    pub(super) fn range(&self, start: usize) -> Option<&MappedRange> {
        self.ranges.get(&start)
    }

    /// Returns the range that begins at `start`, to change it.
    pub fn get(&mut self, start: usize) -> Option<&mut MappedRange> {
        self.ranges.get_mut(&start)
    }

    /// Inserts a range, which must not overlap others.
    pub fn insert(&mut self, start: usize, range: MappedRange) {
        self.ranges.insert(start, range);
    }

    /// Removes a range.
    pub fn remove(&mut self, start: usize) -> Option<MappedRange> {
        self.ranges.remove(&start)
    }

    /// Returns the device address of `size` bytes at a host address, if one range contains them
    /// all.
    pub fn translate(&self, address: usize, size: usize) -> Option<u64> {
        match self.find(address, size) {
            Lookup::Contained(start) => {
                let range = self.ranges.get(&start)?;
                Some(range.device + (address - start) as u64)
            }
            _ => None,
        }
    }

    /// Returns the device address of `size` bytes at a host address, as if a range that contains
    /// some of them contained them all. The device may access those that the range contains.
    pub fn extrapolate(&self, address: usize, size: usize) -> Option<u64> {
        let (Lookup::Contained(start) | Lookup::Partial(start)) = self.find(address, size) else {
            return None;
        };
        let offset = (address as u64).wrapping_sub(start as u64);
        Some(self.ranges.get(&start)?.device.wrapping_add(offset))
    }

    /// Iterates over all ranges by host address.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &MappedRange)> {
        self.ranges.iter().map(|(&start, range)| (start, range))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Creates a mapped range for a test.
    pub fn range(size: usize, device: u64) -> MappedRange {
        MappedRange::new(size, device, Lifetime::Counted)
    }

    #[test]
    fn offload_table_finds_overlaps() {
        let mut table = MappingTable::default();
        table.insert(100, range(10, 0x1000));
        assert_eq!(table.find(100, 10), Lookup::Contained(100));
        assert_eq!(table.find(105, 5), Lookup::Contained(100));
        assert_eq!(table.find(105, 6), Lookup::Partial(100));
        assert_eq!(table.find(90, 11), Lookup::Partial(100));
        assert_eq!(table.find(90, 10), Lookup::Unmapped);
        assert_eq!(table.find(110, 1), Lookup::Unmapped);
        assert_eq!(table.find(104, 0), Lookup::Contained(100));
        assert_eq!(table.find(110, 0), Lookup::Unmapped);
        assert_eq!(table.find(105, usize::MAX), Lookup::Partial(100));
        assert_eq!(table.find(90, usize::MAX), Lookup::Partial(100));
        assert_eq!(table.find(usize::MAX - 2, 8), Lookup::Unmapped);
        assert_eq!(table.translate(103, 4), Some(0x1003));
        assert_eq!(table.extrapolate(103, 4), Some(0x1003));
        assert_eq!(table.extrapolate(96, 8), Some(0xffc));
        assert_eq!(table.extrapolate(96, 4), None);
    }

    #[test]
    fn offload_reference_counts_end_a_mapping() {
        let mut r = range(4, 0);
        assert!(r.ends_mapping(false, false));
        r.enter(false);
        assert!(!r.ends_mapping(false, false) && r.ends_mapping(false, true));
        r.enter(true);
        assert!(!r.ends_mapping(false, true));
        r.leave(true, false);
        r.leave(false, true);
        assert_eq!((r.count, r.held), (0, 0));
        r.life = Lifetime::Program;
        assert!(!r.ends_mapping(false, true));
    }
}
