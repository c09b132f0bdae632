//! Host memory that a member of a group uses as its copy of a block.
//!
//! The processors can use what a region maps where it is, while the program waits for the region: so
//! the host's bytes are theirs at once, and what they fill needs no copy back. Other members get the
//! bytes of their shares from there. Memory whose contents the host needs must keep them: if it is
//! not copied back, or if the host has to execute the region after all, since a device fails. A
//! member that may write such memory gets a copy of its own first ([`separate`]).
//!
//! Memory that stays mapped beyond a region is not used in place: the program may change it
//! meanwhile, and then expects the device's copy to differ.

use super::directory::Bytes;
use super::distributed::directory;
use super::memory::{Blocks, Location, Memory, Piece, find};
use crate::device::{Device, Result};
use std::sync::Arc;

impl Memory {
    /// Takes over `len` bytes at `from` as the contents of a block, if they are a member's copy.
    /// Returns false if they have to be copied.
    pub(super) fn take_in_place(&self, address: u64, from: u64, len: u64) -> bool {
        let mut blocks = self.blocks();
        let Some((start, bytes, member)) = lies_in_place(&mut blocks, address, from, len) else {
            return false;
        };
        if let Some(directory) = directory(&mut blocks, start) {
            directory.write(member, bytes);
        }
        self.note_change();
        true
    }

    /// Returns the pieces of a block that have to be copied to the host, if `to` is a member's copy:
    /// those that the member lacks, which then has them. `None` if `to` is other memory.
    pub(super) fn give_in_place(&self, address: u64, to: u64, len: u64) -> Option<Vec<Piece>> {
        let mut blocks = self.blocks();
        let (start, bytes, member) = lies_in_place(&mut blocks, address, to, len)?;
        let Location::Distributed {
            copies, directory, ..
        } = &mut blocks.get_mut(&start)?.location
        else {
            return None;
        };
        let missing = directory.transfers(member, bytes.clone());
        let pieces = missing.iter().filter_map(|transfer| {
            Some(Piece {
                member: transfer.from,
                address: copies[transfer.from]? + transfer.bytes.start,
                offset: (transfer.bytes.start - bytes.start) as usize,
                len: (transfer.bytes.end - transfer.bytes.start) as usize,
            })
        });
        let pieces = pieces.collect();
        directory.add(member, bytes);
        self.note_change();
        Some(pieces)
    }
}

/// Gives a member a copy of its own of a block that it uses in place and must not write.
pub(super) fn separate(
    members: &[Arc<dyn Device>],
    blocks: &mut Blocks,
    start: u64,
    n: usize,
) -> Result<()> {
    let Some(block) = blocks.get_mut(&start) else {
        return Ok(());
    };
    let Location::Distributed {
        copies,
        padding,
        align,
        directory,
        in_place,
        ..
    } = &mut block.location
    else {
        return Ok(());
    };
    let (Some(host), Some(old)) = (*in_place, copies[n]) else {
        return Ok(());
    };
    if host.member != n || host.writable {
        return Ok(());
    }
    let copy = members[n].alloc_padded(*padding, block.size - *padding, *align)?;
    for bytes in directory.held(n) {
        let from = (old + bytes.start) as *const u8;
        let len = (bytes.end - bytes.start) as usize;
        // SAFETY: the host's memory is mapped, and the program waits for the region.
        unsafe { members[n].upload(crate::device::Queue::SYNC, copy + bytes.start, from, len)? };
    }
    copies[n] = Some(copy);
    *in_place = None;
    Ok(())
}

/// Returns the block, the bytes of it and the member, if `len` bytes at the host's address `host`
/// are that member's copy of those at `address`.
fn lies_in_place(
    blocks: &mut Blocks,
    address: u64,
    host: u64,
    len: u64,
) -> Option<(u64, Bytes, usize)> {
    let (start, block) = find(blocks, address)?;
    let Location::Distributed {
        copies, in_place, ..
    } = &block.location
    else {
        return None;
    };
    let member = (*in_place)?.member;
    let offset = address - start;
    (copies[member]? + offset == host).then_some((start, offset..offset + len, member))
}
