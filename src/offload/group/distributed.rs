//! Launches of a group whose members have no common memory, such as devices of several ranks.
//!
//! Each block has a copy on every member that uses it, and a [`Directory`] of who holds which bytes.
//! The footprint of a kernel (`llvm::nvptx::footprint`) says which bytes each member's share may
//! access. Before a launch, a member gets those that it lacks from members that hold them: halos,
//! or all that everybody reads. Bytes that several members may write are compared with what they
//! were before, and what each changed is put together. A kernel whose footprint is unknown, or
//! whose members would write too much of the same, runs on the first member alone.
//!
//! A reduction combines each member's own teams in a record; the records are put together on the
//! first member, where one more launch without iterations finishes it.
//!
//! Everything is synchronous: transfers and launches of different threads follow each other.

use super::directory::{Bytes, Directory, Transfer, contested};
use super::image::{ALONE, Entry, Words, entry};
use super::launch::{HEADER_BYTES, Launcher, share};
use super::memory::{Blocks, Location, Memory, find};
use crate::device::{Device, Kernel, Launch, MemoryKind, Queue, Result};
use omp_abi::League;
use ompvm_llvm::nvptx::ParameterUse;
use ompvm_llvm::nvptx::footprint::LaunchShape;
use ompvm_support::log;
use rangemap::RangeSet;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Number of bytes that several members may always write.
const FEW_CONTESTED: u64 = 64 << 10;
/// Divisor of the written bytes that gives how many several members may write.
const CONTESTED_DIVISOR: u64 = 8;

/// Sets of bytes of blocks, by the start of the block.
type Sets = BTreeMap<u64, RangeSet<u64>>;

/// What a member's share of a launch may access.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    /// Bytes that it may read or write.
    accessed: Sets,
    written: Sets,
}

/// What has to be done for a launch.
#[derive(Debug)]
pub(super) struct Plan {
    /// Transfers before it, each with the start of its block.
    transfers: Vec<(u64, Transfer)>,
    /// Bytes that several members may write.
    contested: Vec<(u64, Bytes)>,
}

/// Records of the members' reductions.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Bytes of each buffer.
    bytes: u64,
    /// Addresses of each member's launch environment, and of its record of the members.
    addresses: Vec<[u64; 2]>,
}

/// A launch.
struct Doing<'a> {
    members: &'a [Arc<dyn Device>],
    kernel: &'a Kernel,
    entry: &'static Entry,
    launch: &'a Launch<'a>,
    given: Words,
}

/// Bytes that several members may write, as they are before the launch.
struct Twin {
    block: u64,
    bytes: Bytes,
    contents: Vec<u8>,
    writers: Vec<usize>,
}

impl Launcher {
    /// Runs a kernel on members without common memory.
    pub(super) fn launch_distributed(
        &self,
        members: &[Arc<dyn Device>],
        memory: &Memory,
        kernel: &Kernel,
        launch: &Launch<'_>,
    ) -> Result<()> {
        let entry = entry(kernel);
        let mut records = self.records.lock();
        let _only = memory.exclude();
        let doing = Doing {
            members,
            kernel,
            entry,
            launch,
            given: entry.words(launch),
        };
        let shares = self.shares(&doing);
        let mut blocks = memory.blocks();
        let planned = shares.and_then(|shares| {
            let uses: Option<Vec<Uses>> = shares
                .iter()
                .enumerate()
                .map(|(n, league)| doing.uses(&mut blocks, n, league))
                .collect();
            let uses = uses?;
            Some((plan(&blocks, &uses)?, uses, shares))
        });
        entry.divided.store(planned.is_some(), Ordering::Relaxed);
        match planned {
            Some((plan, uses, shares)) => {
                self.run_divided(&doing, &mut blocks, &mut records, &plan, &uses, &shares)
            }
            None => self.run_alone(&doing, &mut blocks),
        }
    }

    /// Returns the members' shares, if the launch may be divided.
    fn shares(&self, doing: &Doing<'_>) -> Option<Vec<League>> {
        let Doing { entry, launch, .. } = doing;
        let parts = entry.parts();
        let [teams, y, z] = launch.blocks;
        let [_, threads_y, threads_z] = launch.threads;
        let flat = [y, z, threads_y, threads_z] == [1; 4];
        let reduces = doing.kernel.reduction_size > 0;
        let provided = reduces && launch.args.first() != Some(&0);
        if parts == 1 || (teams as usize) < parts || !flat || provided {
            return None;
        }
        let borders = {
            let mut balances = entry.balance.lock();
            let balance = balances.of((teams, 0));
            let varies = doing.members[0].predicts_no_speed();
            if varies && !balance.vary().divided {
                return None;
            }
            balance.borders()
        };
        let shares = (0..parts).map(|n| League {
            part: n as u32,
            // One more finishes a reduction.
            parts: parts as u32 + u32::from(reduces),
            from: borders[n],
            to: borders[n + 1],
            first: share(teams, n, parts),
            teams,
        });
        Some(shares.collect())
    }

    fn run_divided(
        &self,
        doing: &Doing<'_>,
        blocks: &mut Blocks,
        records: &mut Records,
        plan: &Plan,
        uses: &[Uses],
        shares: &[League],
    ) -> Result<()> {
        let Doing {
            members,
            entry,
            launch,
            kernel,
            ..
        } = doing;
        for (n, used) in uses.iter().enumerate() {
            for &start in used.accessed.keys() {
                allocate(members, blocks, start, n)?;
            }
        }
        transfer(members, blocks, &plan.transfers)?;
        let twins = doing.twins(blocks, plan, uses)?;
        let mut lists: Vec<Vec<u64>> = (0..uses.len()).map(|n| doing.words(blocks, n)).collect();
        let reduces = kernel.reduction_size > 0;
        if reduces {
            let length = launch.blocks[0].max(kernel.reduction_length);
            let length = length.max(members.len() as u32 + 1);
            records.prepare(
                members,
                u64::from(kernel.reduction_size) * u64::from(length),
            )?;
            for (list, addresses) in lists.iter_mut().zip(&records.addresses) {
                list[0] = addresses[0];
            }
        }
        let mut result = Ok(());
        // The first member may be one that runs a launch at once.
        for n in (0..members.len()).rev() {
            let count = share(shares[n].teams, n + 1, members.len()) - shares[n].first;
            let started = result.and_then(|()| self.start(doing, n, shares[n], count, &lists[n]));
            result = started;
        }
        for (member, kernel) in members.iter().zip(&entry.members) {
            result = result.and(member.await_launch(kernel));
        }
        result?;
        if reduces {
            records.gather(members)?;
            let last = League {
                part: members.len() as u32,
                from: 1 << 63,
                to: 1 << 63,
                first: 0,
                ..shares[0]
            };
            self.start(doing, 0, last, 1, &lists[0])?;
            members[0].await_launch(&entry.members[0])?;
        }
        for (n, used) in uses.iter().enumerate() {
            for (start, written) in &used.written {
                let several = plan.contested.iter().filter(|(block, _)| block == start);
                let mut own = written.clone();
                several.for_each(|(_, bytes)| own.remove(bytes.clone()));
                if let Some(directory) = directory(blocks, *start) {
                    own.iter()
                        .for_each(|bytes| directory.write(n, bytes.clone()));
                }
            }
        }
        doing.merge(blocks, twins)
    }

    /// Starts a share of a launch on a member.
    fn start(
        &self,
        doing: &Doing<'_>,
        n: usize,
        league: League,
        blocks: u32,
        words: &[u64],
    ) -> Result<()> {
        let member = &doing.members[n];
        let own = Launch {
            blocks: [blocks, 1, 1],
            args: &words[..doing.launch.args.len()],
            ..*doing.launch
        };
        self.give_share(doing.members, &doing.entry.shares, n, league)?;
        member.launch_async(&doing.entry.members[n], &own)
    }

    /// Runs a kernel on the first member.
    fn run_alone(&self, doing: &Doing<'_>, blocks: &mut Blocks) -> Result<()> {
        let Doing {
            members,
            entry,
            launch,
            ..
        } = doing;
        let uses = match doing.uses(blocks, 0, &ALONE) {
            Some(uses) => uses,
            None => doing.everything(blocks),
        };
        let mut load = vec![0; members.len()];
        let mut transfers = Vec::new();
        for (start, bytes) in &uses.accessed {
            let Some(directory) = directory(blocks, *start) else {
                continue;
            };
            for range in bytes.iter() {
                let missing = directory.transfers(0, range.clone(), &mut load);
                transfers.extend(missing.into_iter().map(|t| (*start, t)));
            }
        }
        transfer(members, blocks, &transfers)?;
        self.give_share(members, &entry.shares, 0, ALONE)?;
        entry.point(0, &*members[0], &doing.given.values)?;
        let words = &doing.given.values[..launch.args.len()];
        let own = Launch {
            args: words,
            ..**launch
        };
        members[0].launch_async(&entry.members[0], &own)?;
        members[0].await_launch(&entry.members[0])?;
        for (start, bytes) in &uses.written {
            if let Some(directory) = directory(blocks, *start) {
                bytes
                    .iter()
                    .for_each(|range| directory.write(0, range.clone()));
            }
        }
        doing.spread_variables(blocks)
    }
}

impl Doing<'_> {
    /// Returns what a member's share may access; `None` if it is unknown.
    fn uses(&self, blocks: &mut Blocks, n: usize, league: &League) -> Option<Uses> {
        let footprint = &self.entry.division.footprint;
        if footprint.unknown.is_some() {
            return None;
        }
        let teams = self.launch.blocks[0];
        let count = match league.teams {
            0 => teams,
            _ => share(teams, n + 1, self.members.len()) - league.first,
        };
        let shape = LaunchShape {
            words: &self.given.values,
            blocks: count,
            threads: self.launch.threads[0],
            league: *league,
        };
        let mut uses = Uses::default();
        let ranges = footprint.ranges(&shape);
        tracing::trace!(
            target: log::OFFLOAD,
            kernel = self.entry.name,
            member = n,
            ?ranges,
            "found out what a member may access"
        );
        for range in ranges {
            let index = range.parameter as usize;
            let (word, section) = (self.given.values[index], self.given.sections[index]);
            let Some((start, block)) = find(blocks, section.start) else {
                // Without a block, the address leads to memory that only one device has.
                if word == 0 {
                    continue;
                }
                return None;
            };
            if let Location::Variable(_) = block.location {
                if range.written {
                    return None;
                }
                continue;
            }
            let offset = i128::from(word.wrapping_sub(start) as i64);
            let bytes = match range.offsets {
                Some(offsets) => {
                    let at = |o: i64| (offset + i128::from(o)).clamp(0, block.size.into()) as u64;
                    at(offsets.start)..at(offsets.end)
                }
                None => 0..block.size,
            };
            if bytes.is_empty() {
                continue;
            }
            uses.accessed
                .entry(start)
                .or_default()
                .insert(bytes.clone());
            if range.written {
                uses.written.entry(start).or_default().insert(bytes);
            }
        }
        Some(uses)
    }

    /// Returns all memory, with what the kernel may write by its parameters.
    fn everything(&self, blocks: &mut Blocks) -> Uses {
        let whole = |size: u64| RangeSet::from_iter([0..size.max(1)]);
        let mut uses = Uses::default();
        for (&start, block) in blocks.iter() {
            uses.accessed.insert(start, whole(block.size));
            if self.entry.division.writes_elsewhere {
                uses.written.insert(start, whole(block.size));
            }
        }
        let parameters = self.entry.division.parameters.iter();
        for (of, section) in parameters.zip(&self.given.sections) {
            if *of == ParameterUse::Written
                && let Some((start, block)) = find(blocks, section.start)
            {
                uses.written.insert(start, whole(block.size));
            }
        }
        uses
    }

    /// Returns the words for a member: addresses of its own copies.
    fn words(&self, blocks: &mut Blocks, n: usize) -> Vec<u64> {
        let mut words = self.given.values.clone();
        for access in &self.entry.division.footprint.accesses {
            let index = access.parameter as usize;
            let Some((start, block)) = find(blocks, self.given.sections[index].start) else {
                continue;
            };
            if let Some(own) = block.location.copy_on(n, start) {
                words[index] = self.given.values[index]
                    .wrapping_sub(start)
                    .wrapping_add(own);
            }
        }
        words
    }

    /// Saves the bytes that several members may write, and gives all of these members the same.
    fn twins(&self, blocks: &mut Blocks, plan: &Plan, uses: &[Uses]) -> Result<Vec<Twin>> {
        let mut twins = Vec::new();
        for (start, bytes) in &plan.contested {
            let writes = |used: &Uses| {
                let written = used.written.get(start);
                written.is_some_and(|set| set.overlaps(bytes))
            };
            let writers: Vec<usize> = (0..uses.len()).filter(|&n| writes(&uses[n])).collect();
            let mut contents = vec![0; (bytes.end - bytes.start) as usize];
            read(
                self.members,
                blocks,
                *start,
                bytes,
                writers[0],
                &mut contents,
            )?;
            for &n in &writers[1..] {
                let Some(directory) = directory(blocks, *start) else {
                    continue;
                };
                // Bytes that nobody wrote differ.
                if !directory.holds(n, bytes) {
                    write(self.members, blocks, *start, bytes, n, &contents)?;
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
    fn merge(&self, blocks: &mut Blocks, twins: Vec<Twin>) -> Result<()> {
        for twin in twins {
            let mut merged = twin.contents.clone();
            let mut now = vec![0; twin.contents.len()];
            let first = twin.writers[0];
            let mut of_first = Vec::new();
            for &n in &twin.writers {
                read(self.members, blocks, twin.block, &twin.bytes, n, &mut now)?;
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
                write(
                    self.members,
                    blocks,
                    twin.block,
                    &twin.bytes,
                    first,
                    &merged,
                )?;
            }
            if let Some(directory) = directory(blocks, twin.block) {
                directory.write(first, twin.bytes);
            }
        }
        Ok(())
    }

    /// Gives all members what the kernel on the first one wrote to variables through parameters.
    fn spread_variables(&self, blocks: &mut Blocks) -> Result<()> {
        let parameters = self.entry.division.parameters.iter();
        for (of, section) in parameters.zip(&self.given.sections) {
            let Some((_, block)) = find(blocks, section.start) else {
                continue;
            };
            let Location::Variable(addresses) = &block.location else {
                continue;
            };
            if *of != ParameterUse::Written {
                continue;
            }
            let mut contents = vec![0; block.size as usize];
            copy_out(&*self.members[0], addresses[0], &mut contents)?;
            for (member, &to) in self.members.iter().zip(addresses).skip(1) {
                copy_in(&**member, to, &contents)?;
            }
        }
        Ok(())
    }
}

/// Plans a launch; `None` if members would write too much of the same.
pub(super) fn plan(blocks: &Blocks, uses: &[Uses]) -> Option<Plan> {
    let mut load = vec![0; uses.len()];
    let mut transfers = Vec::new();
    for (n, used) in uses.iter().enumerate() {
        for (start, bytes) in &used.accessed {
            let Some(Location::Distributed { directory, .. }) =
                blocks.get(start).map(|b| &b.location)
            else {
                continue;
            };
            for range in bytes.iter() {
                let missing = directory.transfers(n, range.clone(), &mut load);
                transfers.extend(missing.into_iter().map(|t| (*start, t)));
            }
        }
    }
    let mut several = Vec::new();
    let mut starts: Vec<u64> = uses
        .iter()
        .flat_map(|u| u.written.keys().copied())
        .collect();
    starts.sort_unstable();
    starts.dedup();
    for start in starts {
        let sets = uses.iter().filter_map(|u| u.written.get(&start));
        let found = contested(sets);
        several.extend(found.iter().map(|bytes| (start, bytes.clone())));
    }
    let len = |bytes: &Bytes| bytes.end - bytes.start;
    let total: u64 = several.iter().map(|(_, bytes)| len(bytes)).sum();
    let sets = uses.iter().flat_map(|u| u.written.values());
    let written: u64 = sets.flat_map(|set| set.iter()).map(len).sum();
    (total <= FEW_CONTESTED.max(written / CONTESTED_DIVISOR)).then_some(Plan {
        transfers,
        contested: several,
    })
}

impl Records {
    /// Clears the members' records, which have at least `bytes` bytes each.
    fn prepare(&mut self, members: &[Arc<dyn Device>], bytes: u64) -> Result<()> {
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

    /// Puts the members' records together on the first one, where all but one part has arrived.
    /// Each member wrote its own, and the rest is zero.
    fn gather(&self, members: &[Arc<dyn Device>]) -> Result<()> {
        let mut all = vec![0; self.bytes as usize];
        let mut own = all.clone();
        for (member, [_, league]) in members.iter().zip(&self.addresses) {
            copy_out(&**member, league + HEADER_BYTES, &mut own)?;
            all.iter_mut().zip(&own).for_each(|(all, own)| *all |= own);
        }
        let league = self.addresses[0][1];
        copy_in(&*members[0], league + HEADER_BYTES, &all)?;
        copy_in(&*members[0], league, &words([members.len() as u64]))
    }
}

fn words<const N: usize>(words: [u64; N]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Returns the directory of a block.
fn directory(blocks: &mut Blocks, start: u64) -> Option<&mut Directory> {
    match &mut blocks.get_mut(&start)?.location {
        Location::Distributed { directory, .. } => Some(directory),
        _ => None,
    }
}

/// Provides a member's copy of a block, with undefined contents.
pub(super) fn allocate(
    members: &[Arc<dyn Device>],
    blocks: &mut Blocks,
    start: u64,
    n: usize,
) -> Result<()> {
    let Some(block) = blocks.get_mut(&start) else {
        return Ok(());
    };
    if let Location::Distributed {
        copies,
        padding,
        align,
        ..
    } = &mut block.location
        && copies[n].is_none()
    {
        let size = block.size - *padding;
        copies[n] = Some(members[n].alloc_padded(*padding, size, *align)?);
    }
    Ok(())
}

/// Copies bytes between members.
fn transfer(
    members: &[Arc<dyn Device>],
    blocks: &mut Blocks,
    transfers: &[(u64, Transfer)],
) -> Result<()> {
    let mut buffer = Vec::new();
    for (start, Transfer { from, to, bytes }) in transfers {
        allocate(members, blocks, *start, *to)?;
        let Some(block) = blocks.get_mut(start) else {
            continue;
        };
        let len = bytes.end - bytes.start;
        let copy = |n| block.location.copy_on(n, *start);
        let (Some(source), Some(target)) = (copy(*from), copy(*to)) else {
            continue;
        };
        let (source, target) = (source + bytes.start, target + bytes.start);
        let direct = members[*to].copy_from(Queue::SYNC, target, &*members[*from], source, len)?;
        if !direct {
            buffer.resize(len as usize, 0);
            copy_out(&*members[*from], source, &mut buffer)?;
            copy_in(&*members[*to], target, &buffer)?;
        }
        block.copied += len;
        tracing::trace!(target: log::OFFLOAD, from, to, bytes = len, "copied between devices");
        if let Some(directory) = directory(blocks, *start) {
            directory.add(*to, bytes.clone());
        }
    }
    Ok(())
}

/// Reads bytes of a member's copy of a block.
fn read(
    members: &[Arc<dyn Device>],
    blocks: &Blocks,
    start: u64,
    bytes: &Bytes,
    n: usize,
    to: &mut [u8],
) -> Result<()> {
    match blocks
        .get(&start)
        .and_then(|b| b.location.copy_on(n, start))
    {
        Some(copy) => copy_out(&*members[n], copy + bytes.start, to),
        None => Ok(()),
    }
}

/// Writes bytes to a member's copy of a block.
fn write(
    members: &[Arc<dyn Device>],
    blocks: &Blocks,
    start: u64,
    bytes: &Bytes,
    n: usize,
    from: &[u8],
) -> Result<()> {
    match blocks
        .get(&start)
        .and_then(|b| b.location.copy_on(n, start))
    {
        Some(copy) => copy_in(&*members[n], copy + bytes.start, from),
        None => Ok(()),
    }
}

fn copy_out(member: &dyn Device, from: u64, to: &mut [u8]) -> Result<()> {
    // SAFETY: `to` is writable and not used meanwhile: copies on the synchronous queue are complete
    // at the return.
    unsafe { member.download(Queue::SYNC, to.as_mut_ptr(), from, to.len()) }
}

fn copy_in(member: &dyn Device, to: u64, from: &[u8]) -> Result<()> {
    // SAFETY: `from` is readable until the return, when copies on the synchronous queue are
    // complete.
    unsafe { member.upload(Queue::SYNC, to, from.as_ptr(), from.len()) }
}
