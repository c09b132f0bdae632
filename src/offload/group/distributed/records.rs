//! Reductions: each member combines its own teams in a record, and one of them all records.

use super::{copy_in, copy_out};
use crate::device::{Device, MemoryKind, Queue, Result};
use crate::group::launch::HEADER_BYTES;
use std::sync::Arc;

/// Records of the members' reductions.
#[derive(Debug, Default)]
pub(in crate::group) struct Records {
    /// Bytes of each buffer.
    bytes: u64,
    /// Addresses of each member's launch environment, and of its record of the members.
    pub(super) addresses: Vec<[u64; 2]>,
}

impl Records {
    /// Clears the members' records, which have at least `bytes` bytes each.
    pub(super) fn prepare(&mut self, members: &[Arc<dyn Device>], bytes: u64) -> Result<()> {
        if self.bytes < bytes || self.addresses.is_empty() {
            for (member, addresses) in members.iter().zip(self.addresses.drain(..)) {
                for address in addresses {
                    member.free(address, MemoryKind::Device)?;
                }
            }
            self.bytes = bytes.next_power_of_two();
            for member in members {
                let size = HEADER_BYTES + self.bytes;
                let league = member.alloc(size, 256, MemoryKind::Device)?;
                let own = member.alloc(size, 256, MemoryKind::Device)?;
                for (at, next) in [(league, 0), (own, league)] {
                    copy_in(&**member, at, &words([0, at + HEADER_BYTES, next]))?;
                }
                self.addresses.push([own, league]);
            }
        }
        for (member, [_, league]) in members.iter().zip(&self.addresses) {
            copy_in(&**member, *league, &words([0]))?;
            member.fill(Queue::SYNC, league + HEADER_BYTES, 0, self.bytes)?;
            member.synchronize(Queue::SYNC)?;
        }
        Ok(())
    }

    /// Puts the `count` records together on the first member, where all but one part has arrived.
    /// Each member wrote its own, and the rest is zero.
    pub(super) fn gather(&self, members: &[Arc<dyn Device>], count: u32) -> Result<()> {
        let mut all = vec![0; self.bytes as usize];
        let mut own = all.clone();
        for (member, [_, league]) in members.iter().zip(&self.addresses) {
            copy_out(&**member, league + HEADER_BYTES, &mut own)?;
            all.iter_mut().zip(&own).for_each(|(all, own)| *all |= own);
        }
        let league = self.addresses[0][1];
        copy_in(&*members[0], league + HEADER_BYTES, &all)?;
        copy_in(&*members[0], league, &words([u64::from(count)]))
    }
}

fn words<const N: usize>(words: [u64; N]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}
