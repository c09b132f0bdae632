//! Directory of a block whose bytes have a copy on each member of a group without common memory:
//! which members have the current contents of which bytes.
//!
//! A write makes the writer the only holder; a transfer adds one. Bytes that nobody wrote have no
//! holder. This is bookkeeping alone: [`super::distributed`] copies.

use rangemap::{RangeMap, RangeSet};
use std::ops::Range;

/// Offsets in a block.
pub(super) type Bytes = Range<u64>;

/// Holders of the bytes of one block.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    /// Current bytes of each member.
    current: Vec<RangeSet<u64>>,
    /// The member that has written bytes last.
    writers: RangeMap<u64, usize>,
}

/// Bytes that one member needs from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    pub from: usize,
    pub to: usize,
    pub bytes: Bytes,
}

impl Directory {
    /// Creates the directory of a block that no member has written.
    pub(super) fn new(members: usize) -> Directory {
        Directory {
            current: vec![RangeSet::new(); members],
            writers: RangeMap::new(),
        }
    }

    /// Returns true if a member is the only holder of bytes.
    pub(super) fn belongs_to(&self, member: usize, bytes: &Bytes) -> bool {
        let others = self
            .current
            .iter()
            .enumerate()
            .filter(|(n, _)| *n != member);
        let mut others = others.map(|(_, current)| current);
        self.holds(member, bytes) && !others.any(|current| current.overlaps(bytes))
    }

    /// Records that a member has written bytes.
    pub(super) fn write(&mut self, member: usize, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        for (n, current) in self.current.iter_mut().enumerate() {
            match n == member {
                true => current.insert(bytes.clone()),
                false => current.remove(bytes.clone()),
            }
        }
        self.writers.insert(bytes, member);
    }

    /// Records that a member has got the current contents of bytes.
    pub(super) fn add(&mut self, member: usize, bytes: Bytes) {
        if !bytes.is_empty() {
            self.current[member].insert(bytes);
        }
    }

    /// Returns true if a member has the current contents of bytes.
    pub(super) fn holds(&self, member: usize, bytes: &Bytes) -> bool {
        self.current[member].gaps(bytes).next().is_none()
    }

    /// Returns the bytes of which a member has the current contents.
    pub(super) fn held(&self, member: usize) -> impl Iterator<Item = &Bytes> {
        self.current[member].iter()
    }

    /// Returns the transfers after which a member has the current contents of bytes, each from
    /// their writer.
    pub(super) fn transfers(&self, to: usize, bytes: Bytes) -> Vec<Transfer> {
        let mut list = Vec::new();
        if bytes.is_empty() {
            return list;
        }
        for gap in self.current[to].gaps(&bytes) {
            let written = self.writers.overlapping(&gap);
            list.extend(written.map(|(range, &from)| Transfer {
                from,
                to,
                bytes: range.start.max(gap.start)..range.end.min(gap.end),
            }));
        }
        list
    }

    /// Returns the pieces of bytes, each with a member that has them: the first one, which is this
    /// process's own, or their writer. Bytes that nobody has written belong to the first member.
    pub(super) fn pieces(&self, bytes: Bytes) -> Vec<(usize, Bytes)> {
        let mut list: Vec<(usize, Bytes)> = Vec::new();
        if bytes.is_empty() {
            return list;
        }
        let mut at = bytes.start;
        for gap in self.current[0].gaps(&bytes) {
            for (range, &writer) in self.writers.overlapping(&gap) {
                let piece = range.start.max(gap.start)..range.end.min(gap.end);
                if at < piece.start {
                    list.push((0, at..piece.start));
                }
                at = piece.end;
                list.push((writer, piece));
            }
        }
        if at < bytes.end {
            list.push((0, at..bytes.end));
        }
        list
    }
}

/// Returns the bytes that are in more than one of the sets.
pub(super) fn contested<'a>(sets: impl Iterator<Item = &'a RangeSet<u64>>) -> RangeSet<u64> {
    let mut once = RangeSet::new();
    let mut several = RangeSet::new();
    for set in sets {
        for range in set.iter() {
            for known in once.overlapping(range) {
                several.insert(known.start.max(range.start)..known.end.min(range.end));
            }
        }
        for range in set.iter() {
            once.insert(range.clone());
        }
    }
    several
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(from: usize, to: usize, bytes: Bytes) -> Transfer {
        Transfer { from, to, bytes }
    }

    #[test]
    fn offload_group_directory_sends_what_is_missing() {
        let mut directory = Directory::new(3);
        directory.write(0, 0..100);
        directory.write(1, 100..200);
        let halo = directory.transfers(1, 90..210);
        assert_eq!(halo, [transfer(0, 1, 90..100)]);
        directory.add(1, 90..100);
        assert_eq!(directory.transfers(1, 90..210), []);
        assert_eq!(
            directory.transfers(2, 90..110),
            [transfer(0, 2, 90..100), transfer(1, 2, 100..110)]
        );
        // A write makes the copies of others stale.
        directory.write(2, 0..110);
        assert_eq!(directory.transfers(1, 90..120), [transfer(2, 1, 90..110)]);
    }

    #[test]
    fn offload_group_directory_pieces_cover_a_range() {
        let mut directory = Directory::new(2);
        directory.write(1, 10..20);
        directory.add(0, 15..20);
        directory.write(0, 30..40);
        let found = directory.pieces(5..50);
        assert_eq!(found, [(0, 5..10), (1, 10..15), (0, 15..50)]);
        directory.write(1, 0..50);
        assert_eq!(directory.pieces(5..50), [(1, 5..50)]);
        assert_eq!(directory.pieces(7..7), []);
    }

    #[test]
    fn offload_group_contested_bytes_are_written_by_several() {
        let set = |ranges: &[Bytes]| ranges.iter().cloned().collect::<RangeSet<u64>>();
        let sets = [
            set(&[0..10, 20..30]),
            set(&[8..15, 15..22]),
            set(&[40..50, 9..10]),
        ];
        let found: Vec<Bytes> = contested(sets.iter()).iter().cloned().collect();
        assert_eq!(found, [8..10, 20..22]);
    }
}
