//! Bytes that several members may write: what each changed is found by comparison.

use super::uses::Uses;
use super::{Doing, Plan, copy_in, copy_out, directory};
use crate::device::{Failure, Result};
use crate::group::directory::Bytes;
use crate::group::memory::Blocks;

/// Bytes that several members may write, as they are before the launch.
pub(super) struct Twin {
    block: u64,
    bytes: Bytes,
    contents: Vec<u8>,
    writers: Vec<usize>,
}

impl Doing<'_> {
    /// Saves the bytes that several members may write, and gives all of these members the same.
    pub(super) fn twins(&self, blocks: &mut Blocks, plan: &Plan) -> Result<Vec<Twin>> {
        let uses = &plan.uses;
        let mut twins = Vec::new();
        for (start, bytes) in &plan.contested {
            let writes = |used: &Uses| {
                let written = used.written.get(start);
                written.is_some_and(|set| set.overlaps(bytes))
            };
            let writers: Vec<usize> = (0..uses.len()).filter(|&n| writes(&uses[n])).collect();
            let mut contents = vec![0; (bytes.end - bytes.start) as usize];
            // A writer may write, and hold, a part of them only.
            let pieces = directory(blocks, *start).map(|d| d.pieces(bytes.clone()));
            for (n, piece) in pieces.unwrap_or_default() {
                let at = |offset: u64| (offset - bytes.start) as usize;
                let part = &mut contents[at(piece.start)..at(piece.end)];
                let from = address(blocks, *start, &piece, n)?;
                copy_out(&*self.members[n], from, part)?;
            }
            for &n in &writers {
                let Some(directory) = directory(blocks, *start) else {
                    continue;
                };
                // Bytes that nobody wrote differ.
                if !directory.holds(n, bytes) {
                    let to = address(blocks, *start, bytes, n)?;
                    copy_in(&*self.members[n], to, &contents)?;
                }
            }
            twins.push(Twin {
                block: *start,
                bytes: bytes.clone(),
                contents,
                writers,
            });
        }
        Ok(twins)
    }

    /// Puts together what members changed.
    pub(super) fn merge(&self, blocks: &mut Blocks, twins: Vec<Twin>) -> Result<()> {
        for twin in twins {
            let mut merged = twin.contents.clone();
            let mut now = vec![0; twin.contents.len()];
            let first = twin.writers[0];
            let mut of_first = Vec::new();
            for &n in &twin.writers {
                let from = address(blocks, twin.block, &twin.bytes, n)?;
                copy_out(&*self.members[n], from, &mut now)?;
                let changed = merged.iter_mut().zip(&now).zip(&twin.contents);
                for ((merged, &now), &before) in changed {
                    if now != before {
                        *merged = now;
                    }
                }
                if n == first {
                    of_first.clone_from(&now);
                }
            }
            if merged != of_first {
                let to = address(blocks, twin.block, &twin.bytes, first)?;
                copy_in(&*self.members[first], to, &merged)?;
            }
            if let Some(directory) = directory(blocks, twin.block) {
                directory.write(first, twin.bytes);
            }
        }
        Ok(())
    }
}

/// Returns the address of bytes in a member's copy of a block, which exists.
fn address(blocks: &Blocks, start: u64, bytes: &Bytes, n: usize) -> Result<u64> {
    let block = blocks.get(&start);
    match block.and_then(|block| block.location.copy_on(n, start)) {
        Some(copy) => Ok(copy + bytes.start),
        None => Err(Failure::Lost("a device has no copy of a block".into())),
    }
}
