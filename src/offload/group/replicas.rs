//! Copies of blocks that all members of a group read.
//!
//! A kernel whose threads read all of a block, or find their elements through other memory, runs at
//! the speed of the links if the block lies on several members. So each member gets a copy, made by
//! copies between devices when a kernel needs it and the block was written since. Only parameters
//! that a kernel just reads lead to copies; pointers in memory lead to the block itself.

use super::image::Words;
use super::memory::{Blocks, Location, Piece, find, pieces};
use crate::device::{Device, MemoryKind, Queue, Result};
use ompvm_llvm::nvptx::{Division, ParameterUse};
use ompvm_support::log;
use std::sync::Arc;

/// Size in bytes below which a block is copied only if nothing writes it between two launches.
const SMALL: u64 = 16 << 10;
/// Divisor of a member's memory that gives the maximum size.
const MEMORY_DIVISOR: u64 = 8;

/// The copies of a block.
#[derive(Debug)]
pub(super) struct Replicas {
    /// Those of each member.
    list: Vec<Option<Replica>>,
    /// Version of the block that the latest kernel read.
    read: u64,
}

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
        Replicas {
            list: vec![None; members],
            read: u64::MAX,
        }
    }

    /// Returns true if a member has a copy of that version.
    pub(super) fn any_current(&self, version: u64) -> bool {
        self.list.iter().flatten().any(|r| r.version == version)
    }

    /// Frees the copies.
    pub(super) fn free(&self, members: &[Arc<dyn Device>]) -> Result<()> {
        for (member, replica) in members.iter().zip(&self.list) {
            if let Some(replica) = replica {
                member.free(replica.address, MemoryKind::Device)?;
            }
        }
        Ok(())
    }
}

/// Returns the argument words of the first `parts` members, in which parameters that all threads
/// read point to the member's own copy. Copies that are not current are made. A kernel that cannot
/// be divided gets copies of all that it reads and that lies on other members, too, unless it has
/// changed since the first copy. The members must have been ordered behind earlier operations.
///
/// # Errors
/// Failures of the devices, except for a lack of memory: then the block itself serves.
pub(super) fn argument_words(
    members: &[Arc<dyn Device>],
    blocks: &mut Blocks,
    division: &Division,
    words: &Words,
    parts: usize,
) -> Result<Vec<Vec<u64>>> {
    let mut lists = vec![words.values.clone(); parts];
    own_variables(blocks, division, words, &mut lists);
    if division.writes_elsewhere {
        return Ok(lists);
    }
    let parameters = || division.parameters.iter().zip(&words.sections).enumerate();
    let mut written = Vec::new();
    for (_, (_, section)) in parameters().filter(|(_, (u, _))| **u == ParameterUse::Written) {
        written.extend(find(blocks, section.start).map(|(start, _)| start));
    }
    let mut stale: Vec<(u64, usize)> = Vec::new();
    let mut replaced = Vec::new();
    let copied = |of: ParameterUse| match of {
        ParameterUse::ReadAny => true,
        ParameterUse::ReadOwn => division.refused.is_some(),
        ParameterUse::None | ParameterUse::Written => false,
    };
    for (index, (of, section)) in parameters().filter(|(_, (u, _))| copied(**u)) {
        let Some((start, block)) = find(blocks, section.start) else {
            continue;
        };
        let largest = members[0].limits().memory / MEMORY_DIVISOR;
        if written.contains(&start) || block.size > largest {
            continue;
        }
        let unchanged = block.replicas.read == block.version;
        block.replicas.read = block.version;
        if block.size < SMALL && !unchanged {
            continue;
        }
        let own = match block.location {
            Location::First => 1,
            Location::Striped(_) => 0,
            Location::Variable(_) | Location::Distributed { .. } => continue,
        };
        let each = members.iter().zip(&mut block.replicas.list).enumerate();
        for (member, (device, replica)) in each.take(parts).skip(own) {
            let outdated = replica.is_some_and(|r| r.version != block.version);
            if *of == ParameterUse::ReadOwn && outdated {
                continue;
            }
            if replica.is_none() {
                let Ok(address) = device.alloc(block.size, 256, MemoryKind::Device) else {
                    break;
                };
                *replica = Some(Replica {
                    address,
                    version: u64::MAX,
                });
            }
            let current = replica.is_some_and(|r| r.version == block.version);
            if !current && !stale.contains(&(start, member)) {
                stale.push((start, member));
            }
            replaced.push((index, member, start));
        }
    }
    gather(members, blocks, &stale)?;
    for (index, member, start) in replaced {
        if let Some(replica) = blocks.get(&start).and_then(|b| b.replicas.list[member]) {
            let offset = words.values[index].wrapping_sub(start);
            lists[member][index] = replica.address.wrapping_add(offset);
        }
    }
    Ok(lists)
}

/// Points parameters that lead to variables of an image to each member's own copy, if the kernel
/// only reads it: a variable is not accessible to the other members.
fn own_variables(blocks: &mut Blocks, division: &Division, words: &Words, lists: &mut [Vec<u64>]) {
    for (index, (of, section)) in division.parameters.iter().zip(&words.sections).enumerate() {
        if matches!(of, ParameterUse::None | ParameterUse::Written) {
            continue;
        }
        if let Some((start, block)) = find(blocks, section.start)
            && let Location::Variable(addresses) = &block.location
        {
            for (list, address) in lists.iter_mut().zip(addresses) {
                list[index] = address.wrapping_add(words.values[index].wrapping_sub(start));
            }
        }
    }
}

/// A variable of an image that a divided kernel writes, and accessible memory in its place.
#[derive(Debug)]
pub(super) struct StandIn {
    /// Address and size of the memory.
    address: u64,
    size: u64,
    /// Addresses of the variable on the members.
    variable: Vec<u64>,
}

/// Returns memory in place of the variables that a kernel writes through parameters, with their
/// contents, and points the parameters there.
///
/// # Errors
/// Failures of the devices.
pub(super) fn stand_ins(
    members: &[Arc<dyn Device>],
    blocks: &mut Blocks,
    division: &Division,
    words: &Words,
    lists: &mut [Vec<u64>],
) -> Result<Vec<StandIn>> {
    let mut made: Vec<StandIn> = Vec::new();
    for (index, (of, section)) in division.parameters.iter().zip(&words.sections).enumerate() {
        if *of != ParameterUse::Written {
            continue;
        }
        let Some((start, block)) = find(blocks, section.start) else {
            continue;
        };
        let Location::Variable(variable) = &block.location else {
            continue;
        };
        let known = made.iter().find(|s| s.variable == *variable);
        let address = match known {
            Some(known) => known.address,
            None => {
                let address = members[0].alloc(block.size, 256, MemoryKind::Device)?;
                members[0].copy(Queue::SYNC, address, variable[0], block.size)?;
                made.push(StandIn {
                    address,
                    size: block.size,
                    variable: variable.clone(),
                });
                address
            }
        };
        for list in lists.iter_mut() {
            list[index] = address.wrapping_add(words.values[index].wrapping_sub(start));
        }
    }
    Ok(made)
}

/// Gives all members what a kernel on the first one wrote to variables through parameters; `settle`
/// waits for the kernel.
///
/// # Errors
/// Failures of the devices.
pub(super) fn spread_variables(
    members: &[Arc<dyn Device>],
    blocks: &mut Blocks,
    division: &Division,
    words: &Words,
    settle: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let written = division.parameters.iter().zip(&words.sections);
    let mut changed: Vec<(Vec<u64>, u64)> = Vec::new();
    for (_, section) in written.filter(|(of, _)| **of == ParameterUse::Written) {
        if let Some((_, block)) = find(blocks, section.start)
            && let Location::Variable(variable) = &block.location
        {
            changed.push((variable.clone(), block.size));
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    settle()?;
    for (variable, size) in changed {
        let between = members[0].alloc(size, 256, MemoryKind::Device)?;
        members[0].copy(Queue::SYNC, between, variable[0], size)?;
        for (member, &to) in members.iter().zip(&variable).skip(1) {
            member.copy(Queue::SYNC, to, between, size)?;
        }
        members[0].free(between, MemoryKind::Device)?;
    }
    Ok(())
}

/// Copies what a kernel wrote to the variables, and frees the memory in their place.
///
/// # Errors
/// Failures of the devices.
pub(super) fn end_stand_ins(members: &[Arc<dyn Device>], made: Vec<StandIn>) -> Result<()> {
    for stand_in in made {
        tracing::trace!(
            target: log::OFFLOAD,
            bytes = stand_in.size,
            "copied a variable to the members of a group"
        );
        for (member, &to) in members.iter().zip(&stand_in.variable) {
            member.copy(Queue::SYNC, to, stand_in.address, stand_in.size)?;
        }
        members[0].free(stand_in.address, MemoryKind::Device)?;
    }
    Ok(())
}

/// Begins to make copies current. What a member is given next runs behind its copies, and these run
/// behind what the members were given before.
fn gather(members: &[Arc<dyn Device>], blocks: &mut Blocks, stale: &[(u64, usize)]) -> Result<()> {
    for (start, member) in stale {
        let Some(block) = blocks.get_mut(start) else {
            continue;
        };
        let Some(replica) = &mut block.replicas.list[*member] else {
            continue;
        };
        let pieces = pieces(&block.location, *start, *start, block.size);
        let range = |p: &Piece| (replica.address + p.offset as u64, p.address, p.len as u64);
        let ranges: Vec<_> = pieces.iter().map(range).collect();
        members[*member].start_copies(&ranges)?;
        let elsewhere = pieces.iter().filter(|p| p.member != *member);
        block.copied += elsewhere.map(|p| p.len as u64).sum::<u64>();
        replica.version = block.version;
    }
    Ok(())
}
