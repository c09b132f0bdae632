//! Launches of a group: each member runs its share of the teams.
//!
//! A launch waits for all that the members were given before: a kernel of one member may read what
//! another one's writes. The members then run at the same time. Before a launch
//! each member is told its share, in a variable of the image, unless it has the same one already.
//!
//! In a reduction over teams each member combines its own teams through a buffer of its own. Then
//! the member that arrives last combines the members' results, in one on the first member.

use super::image::{ALONE, Entry, Shares, Words, entry};
use super::memory::{Memory, find};
use super::replicas;
use crate::device::{Device, Kernel, Launch, MemoryKind, Queue, Result};
use omp_abi::League;
use ompvm_llvm::nvptx::ParameterUse;
use ompvm_support::log;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Offset of the buffer behind a launch environment ([`omp_abi::LaunchEnvironment`]).
const HEADER_BYTES: u64 = 256;
/// Minimum size of the reductions' buffer.
const BUFFER_BYTES: u64 = 64 << 10;

/// The launches of a group.
#[derive(Debug)]
pub(super) struct Launcher {
    /// Held while a launch is started.
    environments: Mutex<Environments>,
    members: Vec<Progress>,
}

/// Operations of a member: numbers of those begun and of those known to be complete.
#[derive(Debug, Default)]
struct Progress {
    begun: AtomicU64,
    complete: AtomicU64,
}

impl Launcher {
    /// Creates the launcher of a group of that many members.
    pub(super) fn new(members: usize) -> Launcher {
        Launcher {
            environments: Mutex::default(),
            members: (0..members).map(|_| Progress::default()).collect(),
        }
    }

    /// Records that a member was given something to do.
    pub(super) fn begin(&self, member: usize) {
        self.members[member].begun.fetch_add(1, Ordering::AcqRel);
    }

    /// Waits until everything that members were given is complete; `wait` waits for a member.
    fn settle_by(&self, wait: impl Fn(usize) -> Result<()>) -> Result<()> {
        for (n, progress) in self.members.iter().enumerate() {
            let begun = progress.begun.load(Ordering::Acquire);
            if progress.complete.load(Ordering::Acquire) < begun {
                wait(n)?;
                progress.complete.fetch_max(begun, Ordering::AcqRel);
            }
        }
        Ok(())
    }

    /// Waits until everything that members were given is complete.
    pub(super) fn settle(&self, members: &[Arc<dyn Device>]) -> Result<()> {
        self.settle_by(|n| members[n].synchronize(Queue::SYNC))
    }

    /// The same after the launch of a kernel, which an error names.
    pub(super) fn settle_after(&self, members: &[Arc<dyn Device>], kernel: &Kernel) -> Result<()> {
        let entry = entry(kernel);
        self.settle_by(|n| members[n].await_launch(&entry.members[n]))
    }

    /// Starts a kernel.
    pub(super) fn launch(
        &self,
        members: &[Arc<dyn Device>],
        memory: &Memory,
        kernel: &Kernel,
        launch: &Launch<'_>,
    ) -> Result<()> {
        let entry = entry(kernel);
        let given = entry.words(launch);
        let count = launch.args.len();
        let mut environments = self.environments.lock();
        self.settle(members)?;
        let [teams, y, z] = launch.blocks;
        let mut parts = match entry.parts() {
            parts if teams as usize >= parts && y == 1 && z == 1 => parts,
            _ => 1,
        };
        let varies = members[0].predicts_no_speed();
        let mut measured = false;
        let mut borders = Vec::new();
        if parts > 1 {
            let mut balances = entry.balance.lock();
            let balance = balances.of(teams);
            let plan = match varies {
                true => balance.vary(),
                false => balance.begin(),
            };
            measured = plan.measured;
            borders = balance.borders();
            parts = if plan.divided { parts } else { 1 };
        }
        if parts == 1 {
            self.give_share(members, &entry.shares, 0, ALONE)?;
            let words = match entry.division.refused {
                Some(_) => {
                    let mut blocks = memory.blocks();
                    let division = &entry.division;
                    replicas::argument_words(members, &mut blocks, division, &given, 1)?
                }
                // A divisible kernel that runs alone is short. Copies would take longer.
                None => vec![given.values.clone()],
            };
            entry.point(0, &*members[0], &words[0])?;
            let own = Launch {
                args: &words[0][..count],
                ..*launch
            };
            let since = Instant::now();
            let begun = members[0].launch_async(&entry.members[0], &own);
            self.begin(0);
            record_writes(memory, entry, &given);
            begun?;
            if measured {
                self.measure(members, entry, teams, &[since])?;
            }
            return replicas::spread_variables(
                members,
                &mut memory.blocks(),
                &entry.division,
                &given,
                || self.settle_after(members, kernel),
            );
        }
        let (mut lists, stand_ins) = {
            let mut blocks = memory.blocks();
            let (division, words) = (&entry.division, &given);
            let mut lists = replicas::argument_words(members, &mut blocks, division, words, parts)?;
            let made = replicas::stand_ins(members, &mut blocks, division, words, &mut lists)?;
            (lists, made)
        };
        if kernel.reduction_size > 0 && launch.args.first() == Some(&0) {
            let records = u64::from(teams.max(kernel.reduction_length));
            let bytes = u64::from(kernel.reduction_size) * records;
            let addresses = environments.reserve(members, bytes)?;
            for (list, address) in lists.iter_mut().zip(addresses) {
                list[0] = *address;
            }
        }
        let mut begun = Ok(());
        let mut times = Vec::with_capacity(parts);
        for (n, (member, words)) in members.iter().zip(&lists).enumerate() {
            let (first, end) = (share(teams, n, parts), share(teams, n + 1, parts));
            let even = teams.is_multiple_of(parts as u32);
            let league = League {
                part: n as u32,
                parts: parts as u32,
                from: borders[n],
                to: borders[n + 1],
                first: if even { 0 } else { first },
                teams: if even { 0 } else { teams },
            };
            let own = Launch {
                blocks: [end - first, 1, 1],
                args: &words[..count],
                ..*launch
            };
            times.push(Instant::now());
            begun = begun
                .and_then(|()| self.give_share(members, &entry.shares, n, league))
                .and_then(|()| entry.point(n, &**member, words))
                .and_then(|()| member.launch_async(&entry.members[n], &own));
            self.begin(n);
        }
        record_writes(memory, entry, &given);
        if begun.is_err() {
            let settled = self.settle_after(members, kernel);
            return begun.and(settled);
        }
        if measured {
            self.measure(members, entry, teams, &times)?;
        }
        if !stand_ins.is_empty() {
            self.settle_after(members, kernel)?;
            replicas::end_stand_ins(members, stand_ins)?;
        }
        Ok(())
    }

    /// Waits for the members and tells the kernel's balance how long each took since its start.
    fn measure(
        &self,
        members: &[Arc<dyn Device>],
        entry: &Entry,
        teams: u32,
        starts: &[Instant],
    ) -> Result<()> {
        let mut times: Vec<Option<Duration>> = vec![None; starts.len()];
        while times.iter().any(Option::is_none) {
            for (n, member) in members.iter().take(starts.len()).enumerate() {
                if times[n].is_none() && member.idle(Queue::SYNC)? {
                    times[n] = Some(starts[n].elapsed());
                }
            }
        }
        let times: Vec<Duration> = times.into_iter().flatten().collect();
        tracing::trace!(target: log::OFFLOAD, doing = ?times, "measured the members of a group");
        entry.balance.lock().of(teams).measured(&times);
        Ok(())
    }

    /// Tells a member its share, unless it knows.
    fn give_share(
        &self,
        members: &[Arc<dyn Device>],
        shares: &Shares,
        member: usize,
        share: League,
    ) -> Result<()> {
        let Some(&address) = shares.addresses.get(member) else {
            return Ok(());
        };
        let mut current = shares.current.lock();
        if current[member] == share {
            return Ok(());
        }
        // SAFETY: `share` has that many bytes, which are read before the call returns: a copy to a
        // device on the synchronous queue is.
        unsafe {
            members[member].upload(
                Queue::SYNC,
                address,
                (&raw const share).cast(),
                size_of_val(&share),
            )?;
        }
        current[member] = share;
        Ok(())
    }
}

/// The launch environments of reductions.
#[derive(Debug, Default)]
struct Environments {
    /// Addresses on the members.
    addresses: Vec<u64>,
    /// All allocations.
    allocations: Vec<(usize, u64)>,
    /// Bytes of each buffer.
    bytes: u64,
}

impl Environments {
    /// Returns the members' launch environments, with buffers of at least `bytes` bytes each.
    fn reserve(&mut self, members: &[Arc<dyn Device>], bytes: u64) -> Result<&[u64]> {
        if self.bytes >= bytes && !self.addresses.is_empty() {
            return Ok(&self.addresses);
        }
        self.addresses.clear();
        for (member, address) in self.allocations.drain(..) {
            members[member].free(address, MemoryKind::Device)?;
        }
        self.bytes = bytes.next_power_of_two().max(BUFFER_BYTES);
        let league = self.environment(members, 0, 0)?;
        for member in 0..members.len() {
            let address = self.environment(members, member, league)?;
            self.addresses.push(address);
        }
        Ok(&self.addresses)
    }

    fn environment(&mut self, members: &[Arc<dyn Device>], n: usize, league: u64) -> Result<u64> {
        let member = &members[n];
        let address = member.alloc(HEADER_BYTES + self.bytes, 256, MemoryKind::Device)?;
        self.allocations.push((n, address));
        let head = [0, address + HEADER_BYTES, league];
        // SAFETY: `head` has that many bytes, which are read before the call returns.
        unsafe {
            let from = head.as_ptr().cast();
            member.upload(Queue::SYNC, address, from, size_of_val(&head))?;
        }
        member.synchronize(Queue::SYNC)?;
        Ok(address)
    }
}

/// Returns the number of the first of `teams` teams of part `n`.
fn share(teams: u32, n: usize, parts: usize) -> u32 {
    (u64::from(teams) * n as u64 / parts as u64) as u32
}

/// Records the blocks that a kernel may have written, so that copies of them are made anew.
fn record_writes(memory: &Memory, entry: &Entry, words: &Words) {
    let mut blocks = memory.blocks();
    if entry.division.writes_elsewhere {
        blocks.values_mut().for_each(|block| block.version += 1);
        return;
    }
    for (of, &target) in entry.division.parameters.iter().zip(&words.targets) {
        if *of == ParameterUse::Written
            && let Some((_, block)) = find(&mut blocks, target)
        {
            block.version += 1;
        }
    }
}
