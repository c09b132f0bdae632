//! Contents of mapped ranges after a failure of their device.
//!
//! The host executes what the device could not. That is right for a range if the host has its
//! contents from before the failed region: they were copied and no kernel has changed them since, or
//! the device still has them and the failed region does not use them. Otherwise they are lost, and the
//! program ends instead of computing with others.
//!
//! A kernel may change every range that its region names, and those to which attached pointers in them
//! lead.

use super::table::{Lifetime, MappingTable};
use std::collections::BTreeSet;

impl MappingTable {
    /// Returns the ranges to which attached pointers lead from others, with those.
    fn reachable(&self, from: impl Iterator<Item = usize>) -> BTreeSet<usize> {
        let mut open: Vec<usize> = from.collect();
        let mut found = BTreeSet::new();
        while let Some(start) = open.pop() {
            let Some(range) = self.range(start) else {
                continue;
            };
            if !found.insert(start) {
                continue;
            }
            let pointers = range.attached.iter().map(|pointer| pointer.host as usize);
            open.extend(pointers.filter_map(|address| self.start_of(address)));
        }
        found
    }

    /// Returns the ranges that kernels may have changed since the host had their contents.
    pub fn changed(&self) -> BTreeSet<usize> {
        let launches = self.launches;
        let changed = self.iter().filter(|(_, range)| match range.life {
            Lifetime::Program => range.is_data && launches > range.launches,
            _ => range.changed,
        });
        self.reachable(changed.map(|(start, _)| start))
    }

    /// Notes that a kernel may have been interrupted that uses the ranges `used`, of which no earlier
    /// one has changed those of `first`.
    pub fn interrupt(&mut self, used: impl Iterator<Item = usize>, first: &[usize]) {
        self.forget(first);
        let before = self.changed();
        for start in self.reachable(used) {
            if let Some(range) = self.get(start)
                && range.life != Lifetime::Program
            {
                match before.contains(&start) {
                    true => range.torn = true,
                    false => range.on_host = true,
                }
            }
        }
    }

    /// Notes that no kernel has changed these ranges.
    pub fn forget(&mut self, first: &[usize]) {
        for &start in first {
            if let Some(range) = self.get(start) {
                range.changed = false;
            }
        }
    }

    /// Counts a launch. Kernels may change all variables of the program.
    pub fn count_launch(&mut self) {
        self.launches += 1;
    }

    /// Notes that a range was copied as a whole between the device and the host.
    pub fn copied(&mut self, start: usize) {
        let launches = self.launches;
        if let Some(range) = self.get(start) {
            (range.changed, range.launches) = (false, launches);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::AttachedPointer;
    use super::super::table::tests::range;
    use super::*;

    /// Makes a table with ranges at 100 and 200; a pointer in the first leads to the second.
    fn table() -> MappingTable {
        let mut table = MappingTable::default();
        let mut first = range(16, 0x1000);
        first.attached.push(AttachedPointer {
            slot: 100,
            host: 208,
            device: 0x2008,
        });
        table.insert(100, first);
        table.insert(200, range(16, 0x2000));
        table.insert(300, range(16, 0x3000));
        table
    }

    #[test]
    fn offload_kernels_change_what_pointers_lead_to() {
        let mut table = table();
        assert!(table.changed().is_empty());
        table.get(100).unwrap().changed = true;
        assert_eq!(Vec::from_iter(table.changed()), [100, 200]);
        table.copied(100);
        assert!(table.changed().is_empty());
    }

    #[test]
    fn offload_an_interrupted_kernel_tears_what_earlier_ones_changed() {
        let mut table = table();
        for start in [200, 300] {
            table.get(start).unwrap().changed = true;
        }
        table.get(100).unwrap().changed = true;
        // The region is the first one to use the range at 100, and leads to that at 200.
        table.interrupt([100].into_iter(), &[100]);
        let state = |start| {
            let range = table.iter().find(|(at, _)| *at == start).unwrap().1;
            (range.on_host, range.torn)
        };
        assert_eq!(
            [100, 200, 300].map(state),
            [(true, false), (false, true), (false, false)]
        );
    }

    #[test]
    fn offload_kernels_change_variables_unless_they_are_copied() {
        let mut table = table();
        let mut variable = range(4, 0x4000);
        variable.life = Lifetime::Program;
        variable.is_data = true;
        table.insert(400, variable);
        table.count_launch();
        assert_eq!(Vec::from_iter(table.changed()), [400]);
        table.copied(400);
        assert!(table.changed().is_empty());
    }
}
