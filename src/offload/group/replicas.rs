//! Copies of blocks that all members of a group read.
//!
//! A kernel whose threads read all of a block, or find their elements through other memory, runs at
//! the speed of the links if the block lies on several members. So each member gets a copy, made by
//! copies between devices when a kernel needs it and the block was written since. Only parameters
//! that a kernel just reads lead to copies; pointers in memory lead to the block itself.

use super::memory::{Blocks, Location, find, pieces};
use crate::device::{Device, MemoryKind, Result};
use ompvm_llvm::nvptx::{Division, ParameterUse};
use std::sync::Arc;

/// Minimum size of a block that is copied, in bytes: caches hold smaller ones.
const SMALLEST: u64 = 16 << 10;
/// Divisor of a member's memory that gives the maximum size.
const MEMORY_DIVISOR: u64 = 8;

/// The copies of a block.
#[derive(Debug)]
pub(super) struct Replicas(Vec<Option<Replica>>);

/// A member's copy of a block.
#[derive(Clone, Copy, Debug)]
struct Replica {
    address: u64,
    /// Version of the block that it was made of.
    version: u64,
}

impl Replicas {
    /// Returns no copies for that many members.
    pub(super) fn new(members: usize) -> Replicas {
        Replicas(vec![None; members])
    }

    /// Frees the copies.
    pub(super) fn free(&self, members: &[Arc<dyn Device>]) -> Result<()> {
        for (member, replica) in members.iter().zip(&self.0) {
            if let Some(replica) = replica {
                member.free(replica.address, MemoryKind::Device)?;
            }
        }
        Ok(())
    }
}

/// Returns the argument words of each member, in which parameters that all threads read point to
/// the member's own copy. Copies that are not current are made.
///
/// # Errors
/// Failures of the devices, except for a lack of memory: then the block itself serves.
pub(super) fn argument_words(
    members: &[Arc<dyn Device>],
    blocks: &mut Blocks,
    division: &Division,
    words: &[u64],
) -> Result<Vec<Vec<u64>>> {
    let mut lists = vec![words.to_vec(); members.len()];
    if division.writes_elsewhere {
        return Ok(lists);
    }
    let parameters = || division.parameters.iter().zip(words).enumerate();
    let mut written = Vec::new();
    for (_, (_, &word)) in parameters().filter(|(_, (u, _))| **u == ParameterUse::Written) {
        written.extend(find(blocks, word).map(|(start, _)| start));
    }
    let mut stale: Vec<(u64, usize)> = Vec::new();
    let mut replaced = Vec::new();
    for (index, (_, &word)) in parameters().filter(|(_, (u, _))| **u == ParameterUse::ReadAny) {
        let Some((start, block)) = find(blocks, word) else {
            continue;
        };
        let largest = members[0].limits().memory / MEMORY_DIVISOR;
        if written.contains(&start) || !(SMALLEST..=largest).contains(&block.size) {
            continue;
        }
        let own = match block.location {
            Location::First => 1,
            Location::Striped(_) => 0,
            Location::Variable(_) => continue,
        };
        for member in own..members.len() {
            if block.replicas.0[member].is_none() {
                let Ok(address) = members[member].alloc(block.size, 256, MemoryKind::Device) else {
                    break;
                };
                block.replicas.0[member] = Some(Replica {
                    address,
                    version: u64::MAX,
                });
            }
            let current = block.replicas.0[member].is_some_and(|r| r.version == block.version);
            if !current && !stale.contains(&(start, member)) {
                stale.push((start, member));
            }
            replaced.push((index, member, start));
        }
    }
    gather(members, blocks, &stale)?;
    for (index, member, start) in replaced {
        if let Some(replica) = blocks.get(&start).and_then(|b| b.replicas.0[member]) {
            lists[member][index] = replica.address + (words[index] - start);
        }
    }
    Ok(lists)
}

/// Makes copies current, all members at the same time.
fn gather(members: &[Arc<dyn Device>], blocks: &mut Blocks, stale: &[(u64, usize)]) -> Result<()> {
    let mut queues = Vec::new();
    for (start, member) in stale {
        let Some(block) = blocks.get_mut(start) else {
            continue;
        };
        let Some(replica) = &mut block.replicas.0[*member] else {
            continue;
        };
        let device = &members[*member];
        let queue = device.queue()?;
        queues.push((device, queue));
        for piece in pieces(&block.location, *start, *start, block.size) {
            let to = replica.address + piece.offset as u64;
            device.copy(queue, to, piece.address, piece.len as u64)?;
        }
        replica.version = block.version;
    }
    for (device, queue) in queues {
        device.synchronize(queue)?;
        device.release(queue);
    }
    Ok(())
}
