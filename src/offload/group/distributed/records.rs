//! Reductions: each member combines its own teams in a record, and one of them all records.

use super::copy_out;
use crate::device::{Device, Kernel, MemoryKind, Result, STAGING_BYTES};
use crate::group::launch::HEADER_BYTES;
use std::ptr::NonNull;
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
    /// Clears the members' records of `used` bytes, in buffers of at least `bytes` bytes each, for
    /// the launches that follow.
    pub(super) fn prepare(
        &mut self,
        members: &[Arc<dyn Device>],
        used: u64,
        bytes: u64,
    ) -> Result<()> {
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
                member.upload_ahead(own, &words([0, own + HEADER_BYTES, league]))?;
                self.addresses.push([own, league]);
            }
        }
        let zeros = vec![0; used as usize];
        for (member, [_, league]) in members.iter().zip(&self.addresses) {
            member.upload_ahead(*league, &contents(*league, 0, &zeros))?;
        }
        Ok(())
    }

    /// Waits for the launch on each member, and returns the `used` bytes of records put together:
    /// each member wrote its own, and the rest is zero.
    pub(super) fn gather(
        &self,
        members: &[Arc<dyn Device>],
        kernels: &[Kernel],
        used: u64,
    ) -> Result<Vec<u8>> {
        let mut all = vec![0; used as usize];
        let mut own = all.clone();
        let staging: Vec<Option<NonNull<u8>>> = members
            .iter()
            .map(|m| (used as usize <= STAGING_BYTES).then(|| m.lend_staging())?)
            .collect();
        let mut result = Ok(());
        let each = || members.iter().zip(&self.addresses).zip(&staging);
        for ((member, [_, league]), buffer) in each() {
            if let Some(buffer) = buffer {
                // SAFETY: the buffer is lent, large enough, and returned after the wait below.
                let fetched = unsafe {
                    member.fetch_staged(buffer.as_ptr(), league + HEADER_BYTES, used as usize)
                };
                result = result.and(fetched);
            }
        }
        each()
            .zip(kernels)
            .for_each(|(((member, _), _), kernel)| member.announce_await(kernel));
        for (((member, [_, league]), buffer), kernel) in each().zip(kernels) {
            result = result.and(member.await_launch(kernel));
            match buffer {
                Some(buffer) => {
                    if result.is_ok() {
                        // SAFETY: the member has written that many bytes.
                        let bytes =
                            unsafe { std::slice::from_raw_parts(buffer.as_ptr(), used as usize) };
                        own.copy_from_slice(bytes);
                    }
                    member.return_staging(*buffer);
                }
                None if result.is_ok() => {
                    result = copy_out(&**member, league + HEADER_BYTES, &mut own);
                }
                None => {}
            }
            all.iter_mut().zip(&own).for_each(|(all, own)| *all |= own);
        }
        result.map(|()| all)
    }

    /// Gives the first member the `count` records, where all but one part has arrived, for the
    /// launch that follows.
    pub(super) fn put(&self, members: &[Arc<dyn Device>], count: u32, all: &[u8]) -> Result<()> {
        let league = self.addresses[0][1];
        members[0].upload_ahead(league, &contents(league, count.into(), all))
    }
}

/// Returns the contents of a record of the members: how many parts have arrived, and the records.
fn contents(league: u64, arrived: u64, records: &[u8]) -> Vec<u8> {
    let mut bytes = words([arrived, league + HEADER_BYTES, 0]);
    bytes.resize(HEADER_BYTES as usize, 0);
    bytes.extend_from_slice(records);
    bytes
}

fn words<const N: usize>(words: [u64; N]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}
