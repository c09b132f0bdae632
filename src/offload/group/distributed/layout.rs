//! Distributes the teams of a launch over the members.
//!
//! GPUs get equal numbers of teams. Processors among GPUs get a few for each of their threads: teams
//! of one thread, however many threads the program asks for. The iterations are divided apart from
//! that, by [`super::super::balance`].
//!
//! In a reduction each team of the processors stores a record of its own, and all teams of a GPU
//! store one.

use crate::device::Device;
use std::sync::Arc;

/// Teams of processors for each of their threads. Threads that have other work take fewer.
const TEAMS_PER_THREAD: u32 = 4;

/// Teams and records of each member.
#[derive(Clone, Debug, Default)]
pub(in crate::group) struct Layout {
    parts: Vec<Part>,
}

/// Teams and records of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Number of its first team.
    pub first: u32,
    /// Number of its teams.
    pub teams: u32,
    /// Threads of a team.
    pub threads: u32,
    /// Number of its first record.
    pub record: u32,
    /// Number of its records.
    pub records: u32,
}

impl Part {
    /// Returns the part of a member that runs a launch alone.
    pub(super) fn whole(member: &dyn Device, teams: u32, threads: u32) -> Part {
        Part {
            first: 0,
            teams,
            threads,
            record: 0,
            records: if member.has_shares_of_blocks() {
                teams
            } else {
                1
            },
        }
    }
}

impl Layout {
    /// Distributes `teams` teams of `threads` threads, at least one for each member.
    pub(super) fn new(members: &[Arc<dyn Device>], teams: u32, threads: u32) -> Layout {
        let count = members.len() as u32;
        let helper = helper(members);
        let taken = helper.map_or(0, |n| helping_teams(&*members[n]).min(teams / count));
        let others = u64::from(count) - u64::from(helper.is_some());
        let border = |n: u64| (u64::from(teams - taken) * n / others) as u32;
        let (mut seen, mut first, mut record) = (0, 0, 0);
        let parts = members.iter().enumerate().map(|(n, member)| {
            let helps = helper == Some(n);
            let own = match helps {
                true => taken,
                false => border(seen + 1) - border(seen),
            };
            seen += u64::from(!helps);
            let part = Part {
                first,
                teams: own,
                threads: if helps { 1 } else { threads },
                record,
                records: if member.has_shares_of_blocks() {
                    own
                } else {
                    1
                },
            };
            first += own;
            record += part.records;
            part
        });
        Layout {
            parts: parts.collect(),
        }
    }

    /// Returns the part of a member.
    pub(super) fn of(&self, member: usize) -> Part {
        self.parts[member]
    }

    /// Returns the number of records of a reduction.
    pub(super) fn records(&self) -> u32 {
        self.parts.iter().map(|part| part.records).sum()
    }
}

/// Returns the processors among members of other kinds.
pub(in crate::group) fn helper(members: &[Arc<dyn Device>]) -> Option<usize> {
    let mixed = members.iter().any(|m| !m.has_shares_of_blocks());
    let mut all = members.iter();
    all.position(|m| mixed && m.has_shares_of_blocks())
}

/// Returns the number of teams that processors take if the program leaves it open.
pub(in crate::group) fn helping_teams(member: &dyn Device) -> u32 {
    member
        .limits()
        .default_blocks
        .saturating_mul(TEAMS_PER_THREAD)
}
