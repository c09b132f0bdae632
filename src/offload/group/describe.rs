//! Description of a launch for the report: whether it was divided, where its arrays lie, and why.
//!
//! Small blocks are left out. Bytes that kernels read over links are unknown: the devices do not
//! count them for each array.

use super::image::{Entry, Outcome, entry};
use super::memory::{Location, Memory, find};
use crate::device::{Kernel, Launch};
use crate::report::{ArrayUse, GroupRun};
use ompvm_llvm::nvptx::ParameterUse;

/// Minimum size of an array that is described, in bytes.
const SMALLEST: u64 = 4 << 10;

/// Describes the latest launch of a kernel. If several threads launch it at once, the description
/// may be that of another one.
pub(super) fn describe(
    members: usize,
    memory: &Memory,
    kernel: &Kernel,
    launch: &Launch<'_>,
) -> GroupRun {
    let entry = entry(kernel);
    let refusal = refusal(entry, launch, memory.is_common());
    let mut arrays = Vec::new();
    let mut blocks = memory.blocks();
    let words = entry.words(launch);
    let parameters = || entry.division.parameters.iter().zip(&words.sections);
    let written: Vec<u64> = parameters()
        .filter(|(used, _)| **used == ParameterUse::Written)
        .filter_map(|(_, section)| Some(find(&mut blocks, section.start)?.0))
        .collect();
    let passed = parameters().enumerate().take(launch.args.len());
    for (argument, (used, section)) in passed {
        let Some((start, block)) = find(&mut blocks, section.start) else {
            continue;
        };
        let size = match section.size {
            0 => block.size,
            size => size,
        };
        if size < SMALLEST || *used == ParameterUse::None {
            continue;
        }
        let case = Case {
            used: *used,
            alone: refusal.is_some(),
            written: written.contains(&start),
            copied: block.replicas.any_current(block.version),
        };
        arrays.push(ArrayUse {
            argument,
            name: None,
            size,
            placement: placement(&block.location, case),
            copied: std::mem::take(&mut block.copied),
        });
    }
    GroupRun {
        devices: refusal.map_or(Ok(members), Err),
        arrays,
    }
}

/// Use of an array by a launch.
#[derive(Clone, Copy)]
struct Case {
    used: ParameterUse,
    /// True if one member runs the launch.
    alone: bool,
    /// True if the launch writes the block.
    written: bool,
    /// True if a member has a current copy.
    copied: bool,
}

/// Returns the reason why one member ran the launch.
fn refusal(entry: &Entry, launch: &Launch<'_>, common: bool) -> Option<String> {
    if let Some(why) = &entry.division.refused {
        return Some(why.clone());
    }
    if let (false, Some(why)) = (common, &entry.division.footprint.unknown) {
        return Some(format!("{why}, and the devices have no common memory"));
    }
    let [teams, y, z] = launch.blocks;
    if y != 1 || z != 1 {
        return Some("its teams have several dimensions".into());
    }
    if (teams as usize) < entry.parts() {
        return Some(match teams {
            1 => "it has one team".into(),
            teams => format!("it has {teams} teams"),
        });
    }
    match *entry.latest.lock() {
        Outcome::Divided => None,
        Outcome::Alone => Some("it is so short that one is as fast".into()),
        Outcome::Contested => Some("several would write the same memory".into()),
        Outcome::Elsewhere => Some("it uses memory that only one device has".into()),
    }
}

/// Returns where an array lies for a launch, and why.
fn placement(location: &Location, case: Case) -> &'static str {
    let read = !case.written && case.copied;
    match (location, case.used) {
        (Location::Variable(_), _) => "a variable that each device has",
        (Location::Distributed { .. }, _) if case.alone => "on the first device",
        (Location::Distributed { .. }, _) => "on each device what it uses",
        (Location::First, _) if case.alone => "on the first device",
        (_, ParameterUse::ReadAny) if read && !case.alone => {
            "a copy on each device, since all threads read it"
        }
        (Location::First, _) => "on the first device, as it is too small to divide",
        (Location::Striped(_), _) if case.alone && read => "striped, with a copy on this device",
        (Location::Striped(_), _) if case.alone => "striped, so the rest is used over the links",
        (Location::Striped(_), ParameterUse::Written) => "striped, since the region writes it",
        (Location::Striped(_), ParameterUse::ReadAny) if case.written => {
            "striped, since the region writes it, and read over the links"
        }
        (Location::Striped(_), ParameterUse::ReadAny) => {
            "striped and read over the links, as it is too large for copies"
        }
        (Location::Striped(_), _) => "striped, since threads read parts of their own",
    }
}
