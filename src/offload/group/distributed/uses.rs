//! Finds the bytes that the members' shares of a launch may access, and the transfers that they need
//! before.

use super::layout::Part;
use super::{Doing, directory};
use crate::group::directory::{Bytes, Transfer, contested};
use crate::group::image::Words;
use crate::group::memory::{Block, Blocks, Location, find};
use crate::processors::share_of_block;
use omp_abi::League;
use ompvm_llvm::nvptx::ParameterUse;
use ompvm_llvm::nvptx::footprint::{Footprint, LaunchShape};
use ompvm_support::log;
use rangemap::RangeSet;
use std::collections::{BTreeMap, BTreeSet};

/// Number of bytes that several members may always write.
const FEW_CONTESTED: u64 = 64 << 10;

/// Number of blocks with shares of their own up to which a launch is divided: each is looked at.
const MOST_BLOCKS: u32 = 4096;

/// Divisor of the written bytes that gives how many several members may write.
const CONTESTED_DIVISOR: u64 = 8;

/// Sets of bytes of blocks, by the start of the block.
pub(in crate::group) type Sets = BTreeMap<u64, RangeSet<u64>>;

/// Bytes of blocks that a member's share of a launch may access.
#[derive(Clone, Debug, Default)]
pub(in crate::group) struct Uses {
    /// Bytes that it may read or write.
    pub accessed: Sets,
    /// Bytes that it may write.
    pub written: Sets,
}

impl Doing<'_> {
    /// Returns what a member's share may access; `None` if it is unknown.
    pub(super) fn uses(
        &self,
        blocks: &mut Blocks,
        n: usize,
        league: &League,
        part: Part,
    ) -> Option<Uses> {
        let count = part.teams;
        let shape = |count, league| LaunchShape {
            words: &self.given.values,
            blocks: count,
            threads: part.threads,
            league,
            ends: n == 0,
        };
        let footprint = self.entry.footprint(n);
        let mut add = |all: Uses, shape| uses(blocks, footprint, &self.given, &shape, all);
        let none = Uses::default();
        let uses = match self.members[n].has_shares_of_blocks() {
            false => add(none, shape(count, *league)),
            true if count > MOST_BLOCKS => None,
            true => {
                let reduces = self.kernel.reduction_size > 0;
                let mut shares = (0..count).map(|n| share_of_block(league, n, count, reduces));
                shares.try_fold(none, |all, share| add(all, shape(1, share)))
            }
        };
        tracing::trace!(
            target: log::OFFLOAD,
            kernel = self.entry.name,
            member = n,
            ?uses,
            "found out what a member may access"
        );
        uses
    }

    /// Returns all memory, with what the kernel may write by its parameters.
    pub(super) fn everything(&self, blocks: &mut Blocks) -> Uses {
        let mut uses = Uses::default();
        let mut add = |sets: fn(&mut Uses) -> &mut Sets, start: u64, block: &Block| {
            if !block.contents().is_empty() {
                sets(&mut uses)
                    .entry(start)
                    .or_default()
                    .insert(block.contents());
            }
        };
        for (&start, block) in blocks.iter() {
            add(|uses| &mut uses.accessed, start, block);
            if self.entry.division.writes_elsewhere {
                add(|uses| &mut uses.written, start, block);
            }
        }
        let parameters = self.entry.division.parameters.iter();
        for (of, section) in parameters.zip(&self.given.sections) {
            if *of == ParameterUse::Written
                && let Some((start, block)) = find(blocks, section.start)
            {
                add(|uses| &mut uses.written, start, block);
            }
        }
        uses
    }
}

/// Adds what a launch of a kernel with these words may access; `None` if it is unknown.
pub(in crate::group) fn uses(
    blocks: &mut Blocks,
    footprint: &Footprint,
    words: &Words,
    shape: &LaunchShape<'_>,
    mut uses: Uses,
) -> Option<Uses> {
    if footprint.unknown.is_some() {
        return None;
    }
    for range in footprint.ranges(shape) {
        let index = range.parameter as usize;
        let (word, section) = (words.values[index], words.sections[index]);
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
        let all = block.contents();
        let bytes = match range.offsets {
            Some(offsets) => {
                let (first, end) = (all.start.into(), all.end.into());
                let at = |o: i64| (offset + i128::from(o)).clamp(first, end) as u64;
                at(offsets.start)..at(offsets.end)
            }
            None => all,
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

/// Returns the transfers after which each member has what it may access.
pub(in crate::group) fn transfers(blocks: &mut Blocks, uses: &[Uses]) -> Vec<(u64, Transfer)> {
    let mut list = Vec::new();
    for (n, used) in uses.iter().enumerate() {
        for (&start, bytes) in &used.accessed {
            let Some(directory) = directory(blocks, start) else {
                continue;
            };
            for range in bytes.iter() {
                let missing = directory.transfers(n, range.clone());
                list.extend(missing.into_iter().map(|t| (start, t)));
            }
        }
    }
    list
}

/// Returns the bytes that several members may write; `None` if they are too many.
pub(in crate::group) fn contested_bytes(uses: &[Uses]) -> Option<Vec<(u64, Bytes)>> {
    let mut list = Vec::new();
    let starts: BTreeSet<u64> = uses
        .iter()
        .flat_map(|u| u.written.keys().copied())
        .collect();
    for start in starts {
        let sets = uses.iter().filter_map(|u| u.written.get(&start));
        let found = contested(sets);
        list.extend(found.iter().map(|bytes| (start, bytes.clone())));
    }
    let len = |bytes: &Bytes| bytes.end - bytes.start;
    let total: u64 = list.iter().map(|(_, bytes)| len(bytes)).sum();
    let sets = uses.iter().flat_map(|u| u.written.values());
    let written: u64 = sets.flat_map(|set| set.iter()).map(len).sum();
    (total <= FEW_CONTESTED.max(written / CONTESTED_DIVISOR)).then_some(list)
}
