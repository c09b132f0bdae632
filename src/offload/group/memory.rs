//! The memory of a group: where each block lies, and which copies of it exist.
//!
//! A large block is striped over the members in contiguous parts, in their order, as the shares of
//! a divided loop are. A small one lies on the first member. A variable of an image exists once per
//! member: the first one's is the original, and writes go to all.
//!
//! Each block has a version, which every write increments. Copies ([`super::replicas`]) remember
//! the version that they were made of.

use super::replicas::Replicas;
use crate::device::{Device, Failure, Fault, MemoryKind, Result, Stripes};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Alignment of striped ranges: that of memory pages of devices.
const STRIPE_ALIGN: u64 = 2 << 20;

/// A part of a range that lies on one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Index of the member.
    pub member: usize,
    /// Address.
    pub address: u64,
    /// Offset in the range.
    pub offset: usize,
    /// Size in bytes.
    pub len: usize,
}

/// Location of a block.
#[derive(Clone, Debug)]
pub(super) enum Location {
    /// In memory of the first member.
    First,
    /// In parts on all members.
    Striped(Stripes),
    /// A variable, at these addresses on the members.
    Variable(Vec<u64>),
}

/// A block of memory.
#[derive(Debug)]
pub(super) struct Block {
    /// Size in bytes.
    pub size: u64,
    pub location: Location,
    /// Number of writes so far.
    pub version: u64,
    pub replicas: Replicas,
}

/// The memory of a group.
#[derive(Debug)]
pub(super) struct Memory {
    blocks: Mutex<Blocks>,
    members: usize,
}

/// Blocks by address.
pub(super) type Blocks = BTreeMap<u64, Block>;

/// Returns the block that contains an address, and its start.
pub(super) fn find(blocks: &mut Blocks, address: u64) -> Option<(u64, &mut Block)> {
    let (&start, block) = blocks.range_mut(..=address).next_back()?;
    (address - start < block.size.max(1)).then_some((start, block))
}

impl Memory {
    /// Creates the memory of a group of that many members.
    pub(super) fn new(members: usize) -> Memory {
        Memory {
            blocks: Mutex::default(),
            members,
        }
    }

    /// Locks the table of blocks.
    pub(super) fn blocks(&self) -> parking_lot::MutexGuard<'_, Blocks> {
        self.blocks.lock()
    }

    /// Allocates a block after `padding` bytes, and returns the start of the padding; see
    /// [`Device::alloc_padded`].
    pub(super) fn alloc(
        &self,
        members: &[Arc<dyn Device>],
        padding: u64,
        size: u64,
        align: u64,
    ) -> Result<u64> {
        let devices: Vec<&dyn Device> = members.iter().map(|m| &**m).collect();
        let stripes = match align <= STRIPE_ALIGN {
            true => members[0].alloc_striped(&devices, padding + size)?,
            false => None,
        };
        let (start, location) = match stripes {
            Some(stripes) => (stripes.start, Location::Striped(stripes)),
            None => (
                members[0].alloc_padded(padding, size, align)?,
                Location::First,
            ),
        };
        self.insert(start, padding + size, location);
        Ok(start)
    }

    fn insert(&self, start: u64, size: u64, location: Location) {
        let block = Block {
            size,
            location,
            version: 0,
            replicas: Replicas::new(self.members),
        };
        self.blocks.lock().insert(start, block);
    }

    /// Records a variable of an image.
    pub(super) fn add_variable(&self, addresses: Vec<u64>, size: u64) {
        let start = addresses[0];
        self.insert(start, size, Location::Variable(addresses));
    }

    pub(super) fn free(&self, members: &[Arc<dyn Device>], address: u64) -> Result<()> {
        let Some(block) = self.blocks.lock().remove(&address) else {
            return Err(Failure::Fault(Box::new(Fault {
                what: format!("the freed address {address:#x} is not allocated"),
                place: None,
                thread: None,
                help: None,
            })));
        };
        block.replicas.free(members)?;
        match block.location {
            Location::First => members[0].free(address, MemoryKind::Device),
            Location::Striped(stripes) => members[0].free_striped(&stripes),
            Location::Variable(_) => Ok(()),
        }
    }

    /// Returns true if an address belongs to a block.
    pub(super) fn owns(&self, address: u64) -> bool {
        find(&mut self.blocks.lock(), address).is_some()
    }

    /// Returns the pieces of a range that is about to be read.
    pub(super) fn read(&self, address: u64, len: u64) -> Vec<Piece> {
        let mut blocks = self.blocks.lock();
        let Some((start, block)) = find(&mut blocks, address) else {
            return vec![whole(address, len)];
        };
        pieces(&block.location, start, address, len)
    }

    /// Returns the pieces of a range that is about to be written, on each member that has a copy
    /// which must not differ.
    pub(super) fn written(&self, address: u64, len: u64) -> Vec<Piece> {
        let mut blocks = self.blocks.lock();
        let Some((start, block)) = find(&mut blocks, address) else {
            return vec![whole(address, len)];
        };
        block.version += 1;
        let Location::Variable(addresses) = &block.location else {
            return pieces(&block.location, start, address, len);
        };
        let copies = addresses.iter().enumerate();
        copies
            .map(|(member, &at)| Piece {
                member,
                address: at + (address - start),
                offset: 0,
                len: len as usize,
            })
            .collect()
    }
}

/// Returns a range that lies on the first member.
fn whole(address: u64, len: u64) -> Piece {
    Piece {
        member: 0,
        address,
        offset: 0,
        len: len as usize,
    }
}

/// Returns the pieces of a range in the block at `start`.
pub(super) fn pieces(location: &Location, start: u64, address: u64, len: u64) -> Vec<Piece> {
    let Location::Striped(stripes) = location else {
        return vec![whole(address, len)];
    };
    let (from, to) = (address - start, address - start + len);
    let mut begin = 0;
    let mut list = Vec::new();
    for (member, &end) in stripes.ends.iter().enumerate() {
        let (first, last) = (from.max(begin), to.min(end));
        if first < last {
            list.push(Piece {
                member,
                address: start + first,
                offset: (first - from) as usize,
                len: (last - first) as usize,
            });
        }
        begin = end;
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offload_group_ranges_are_cut_at_the_ends_of_parts() {
        let stripes = Location::Striped(Stripes {
            start: 1000,
            ends: vec![100, 200, 300],
        });
        let cut = |address, len| -> Vec<(usize, u64, usize, usize)> {
            pieces(&stripes, 1000, address, len)
                .into_iter()
                .map(|p| (p.member, p.address, p.offset, p.len))
                .collect()
        };
        assert_eq!(cut(1000, 100), [(0, 1000, 0, 100)]);
        assert_eq!(cut(1050, 100), [(0, 1050, 0, 50), (1, 1100, 50, 50)]);
        assert_eq!(
            cut(1099, 202),
            [(0, 1099, 0, 1), (1, 1100, 1, 100), (2, 1200, 101, 100)]
        );
        assert_eq!(cut(1250, 0), []);
    }
}
