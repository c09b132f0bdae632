//! Directory of a block whose bytes have a copy on each member of a group without common memory:
//! which members have the current contents of which bytes.
//!
//! A write makes the writer the only holder; a transfer adds one. Bytes that nobody wrote have no
//! holder. This is bookkeeping alone: [`super::distributed`] copies.

use rangemap::RangeSet;
use std::ops::Range;

/// Offsets in a block.
pub(super) type Bytes = Range<u64>;

/// Holders of the bytes of one block.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    /// Current bytes of each member.
    current: Vec<RangeSet<u64>>,
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
        }
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

    /// Returns the transfers after which a member has the current contents of bytes. `load` counts
    /// the bytes that each member sends; of several holders the one with the least sends, or `to`'s
    /// neighbor.
    pub(super) fn transfers(&self, to: usize, bytes: Bytes, load: &mut [u64]) -> Vec<Transfer> {
        let mut list = Vec::new();
        if bytes.is_empty() {
            return list;
        }
        let missing: Vec<Bytes> = self.current[to].gaps(&bytes).collect();
        for gap in missing {
            let mut at = gap.start;
            while at < gap.end {
                let Some((from, end)) = self.holder(to, at, load) else {
                    // Nobody has written these bytes.
                    at = self.next_held(at).unwrap_or(gap.end);
                    continue;
                };
                let end = end.min(gap.end);
                load[from] += end - at;
                list.push(Transfer {
                    from,
                    to,
                    bytes: at..end,
                });
                at = end;
            }
        }
        list
    }

    /// Returns the pieces of bytes, each with a member that has them. Bytes that nobody has written
    /// belong to the first member.
    pub(super) fn pieces(&self, bytes: Bytes) -> Vec<(usize, Bytes)> {
        let mut list: Vec<(usize, Bytes)> = Vec::new();
        let mut at = bytes.start;
        while at < bytes.end {
            let held = self.longest(at);
            let (member, end) = held.unwrap_or_else(|| (0, self.next_held(at).unwrap_or(u64::MAX)));
            let end = end.min(bytes.end);
            list.push((member, at..end));
            at = end;
        }
        list
    }

    /// Returns a member other than `to` that holds a byte, and the end of what it holds there.
    fn holder(&self, to: usize, at: u64, load: &[u64]) -> Option<(usize, u64)> {
        let held = self.current.iter().enumerate().filter(|(n, _)| *n != to);
        held.filter_map(|(n, current)| Some((n, current.get(&at)?.end)))
            .min_by_key(|(n, _)| (load[*n], n.abs_diff(to)))
    }

    /// Returns the member that holds most from a byte on, and the end of that.
    fn longest(&self, at: u64) -> Option<(usize, u64)> {
        let held = self.current.iter().enumerate();
        held.filter_map(|(n, current)| Some((n, current.get(&at)?.end)))
            .max_by_key(|(n, end)| (*end, std::cmp::Reverse(*n)))
    }

    /// Returns the first byte behind `at` that a member holds.
    fn next_held(&self, at: u64) -> Option<u64> {
        let starts = self.current.iter().filter_map(|current| {
            let mut behind = current.overlapping(at + 1..u64::MAX);
            behind.next().map(|r| r.start.max(at + 1))
        });
        starts.min()
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
        let mut load = [0; 3];
        let halo = directory.transfers(1, 90..210, &mut load);
        assert_eq!(halo, [transfer(0, 1, 90..100)]);
        assert_eq!(load, [10, 0, 0]);
        directory.add(1, 90..100);
        assert_eq!(directory.transfers(1, 90..210, &mut load), []);
        // Both have the halo; the first one has sent more.
        assert_eq!(
            directory.transfers(2, 90..110, &mut load),
            [transfer(1, 2, 90..110)]
        );
    }

    #[test]
    fn offload_group_directory_pieces_cover_a_range() {
        let mut directory = Directory::new(2);
        directory.write(1, 10..20);
        directory.add(0, 15..20);
        directory.write(0, 30..40);
        assert_eq!(
            directory.pieces(5..50),
            [
                (0, 5..10),
                (1, 10..20),
                (0, 20..30),
                (0, 30..40),
                (0, 40..50)
            ]
        );
        directory.write(1, 0..50);
        assert_eq!(directory.pieces(5..50), [(1, 5..50)]);
    }

    #[test]
    fn offload_group_contested_bytes_are_written_by_several() {
        let set = |ranges: &[Bytes]| ranges.iter().cloned().collect::<RangeSet<u64>>();
        let sets = [set(&[0..10, 20..30]), set(&[8..22]), set(&[40..50, 9..10])];
        let found: Vec<Bytes> = contested(sets.iter()).iter().cloned().collect();
        assert_eq!(found, [8..10, 20..22]);
    }
}
