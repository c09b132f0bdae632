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
//! Where processors help GPUs, they begin first, since they use what lies in host memory in place,
//! and the GPUs get their bytes meanwhile. Shares then follow the measured times, to which copies
//! belong.
//!
//! Launches of different threads follow each other. What a member of another rank gets before its
//! share goes ahead of it without an answer, so a launch waits for one message of it if it needs
//! nothing from it.

pub(super) mod layout;
mod records;
mod twins;
pub(super) mod uses;
mod views;

use super::balance::Case;
use super::directory::{Bytes, Directory, Transfer};
use super::image::{Entry, Outcome, Settled, Words, entry};
use super::in_place::separate;
use super::launch::{Launcher, Unrated, blocks_alone, interrupted};
use super::memory::{Block, Blocks, Location, Memory, find};
use crate::device::{ALONE, Device, Kernel, Launch, Queue, Result};
use layout::{Layout, Part};
use omp_abi::League;
use ompvm_llvm::nvptx::ParameterUse;
use ompvm_support::log;
pub(super) use records::Records;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};
use uses::{Uses, contested_bytes, transfers};
pub(super) use views::Views;

/// Number of bytes that a trial of the first member alone may move to it.
const MOST_TRIED: u64 = 4 << 20;

/// Transfers, each with the start of its block.
type Transfers = Vec<(u64, Transfer)>;

/// Plan of a divided launch.
#[derive(Debug)]
struct Plan {
    /// The members' teams and shares, and what they may access.
    layout: Layout,
    shares: Vec<League>,
    uses: Vec<Uses>,
    /// Transfers before it.
    transfers: Transfers,
    /// Bytes that several members may write.
    contested: Vec<(u64, Bytes)>,
}

/// A launch.
struct Doing<'a> {
    members: &'a [Arc<dyn Device>],
    kernel: &'a Kernel,
    entry: &'static Entry,
    launch: &'a Launch<'a>,
    given: Words,
    /// The processors among GPUs.
    helper: Option<usize>,
    /// Key of similar launches of the kernel.
    case: Case,
}

/// Way in which a launch that may be divided runs.
#[derive(Debug)]
struct Way {
    /// Borders of the members' shares; `None` if the first one runs it alone.
    borders: Option<Vec<u64>>,
    /// True if its time is of interest to the balance.
    measured: bool,
}

/// Measured times of a launch.
#[derive(Debug)]
struct Times {
    since: Instant,
    /// Time of each member.
    members: Vec<Duration>,
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
        self.rate();
        let mut doing = Doing {
            members,
            kernel,
            entry,
            launch,
            given: entry.words(launch),
            helper: memory.helper(),
            case: (0, 0),
        };
        let mut way = doing.way();
        let mut times = Times {
            since: Instant::now(),
            members: vec![Duration::ZERO; members.len()],
        };
        let mut blocks = memory.blocks();
        doing.check_trial(&mut way, &mut blocks);
        let planned = self.plan(&doing, &way, &mut blocks);
        memory.note_launch(
            planned.is_ok(),
            way.as_ref().is_some_and(|way| way.measured),
        );
        *entry.latest.lock() = match &planned {
            Ok(_) => Outcome::Divided,
            Err(outcome) => *outcome,
        };
        let done = match planned {
            Ok(plan) => {
                let mut run = (&mut *records, &mut times);
                let done = self.run_divided(&doing, &mut blocks, &mut run, &plan);
                if done.is_err() {
                    // Ends what was begun, so that no later launch gets its failure.
                    let started = members.iter().zip(&entry.members);
                    started.for_each(|(member, kernel)| drop(member.await_launch(kernel)));
                }
                done
            }
            Err(_) => {
                times.members.truncate(1);
                self.run_alone(&doing, memory, &mut blocks)
            }
        };
        if way.as_ref().is_some_and(|way| way.measured) && done.is_ok() {
            self.await_rating(Unrated {
                entry,
                case: doing.case,
                whole: times.since.elapsed(),
                members: times.members,
            });
        }
        done
    }

    /// Plans a launch. The error says how it runs on the first member.
    fn plan(
        &self,
        doing: &Doing<'_>,
        way: &Option<Way>,
        blocks: &mut Blocks,
    ) -> std::result::Result<Plan, Outcome> {
        let borders = way.as_ref().and_then(|way| way.borders.as_ref());
        let borders = borders.ok_or(Outcome::Alone)?;
        let [teams, ..] = doing.launch.blocks;
        let layout = Layout::new(doing.members, teams, doing.launch.threads[0]);
        let shares = doing.shares(&layout, borders);
        for section in &doing.given.sections {
            if let Some((start, block)) = find(blocks, section.start) {
                block.spread(start, doing.members.len());
            }
        }
        let uses: Option<Vec<Uses>> = shares
            .iter()
            .enumerate()
            .map(|(n, league)| doing.uses(blocks, n, league, layout.of(n)))
            .collect();
        let uses = uses.ok_or(Outcome::Elsewhere)?;
        let contested = contested_bytes(&uses).ok_or(Outcome::Contested)?;
        Ok(Plan {
            transfers: transfers(blocks, &uses),
            contested,
            uses,
            layout,
            shares,
        })
    }

    fn run_divided(
        &self,
        doing: &Doing<'_>,
        blocks: &mut Blocks,
        (records, times): &mut (&mut Records, &mut Times),
        plan: &Plan,
    ) -> Result<()> {
        let Plan {
            layout,
            shares,
            uses,
            ..
        } = plan;
        let Doing { members, entry, .. } = doing;
        for (n, used) in uses.iter().enumerate() {
            for &start in used.accessed.keys() {
                allocate(members, blocks, start, n)?;
            }
            for &start in used.written.keys() {
                separate(members, blocks, start, n)?;
            }
        }
        let (early, late) = doing.early_and_late(plan);
        transfer(members, blocks, &early)?;
        let twins = doing.twins(blocks, plan)?;
        let lists = (0..uses.len()).map(|n| doing.words(blocks, n)).collect();
        let reduces = doing.reduces();
        let record_bytes = u64::from(doing.kernel.reduction_size) * u64::from(layout.records());
        let begun = Instant::now();
        let mut run = (&mut **records, lists);
        let started = self.start_all(doing, (blocks, &late), &mut run, (plan, record_bytes));
        let started = started.map_err(|failure| interrupted(members, failure));
        let (_, lists) = run;
        if reduces && started.is_ok() {
            let all = records.gather(members, &entry.members, record_bytes)?;
            times.finish(doing, begun);
            records.put(members, layout.records(), &all)?;
            let last = League {
                part: layout.records(),
                from: 1 << 63,
                to: 1 << 63,
                first: layout.records(),
                ..shares[0]
            };
            let threads = doing.launch.threads[0];
            self.start(doing, 0, last, (1, threads), &lists[0])?;
            members[0].await_launch(&entry.members[0])?;
        } else {
            started?;
            let each = || members.iter().zip(&entry.members);
            each().for_each(|(member, kernel)| member.announce_await(kernel));
            each().try_for_each(|(member, kernel)| member.await_launch(kernel))?;
            times.finish(doing, begun);
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

    /// Starts all shares of a launch. `late` are the transfers that its GPUs still need.
    fn start_all(
        &self,
        doing: &Doing<'_>,
        (blocks, late): (&mut Blocks, &[(u64, Transfer)]),
        (records, lists): &mut (&mut Records, Vec<Vec<u64>>),
        (plan, record_bytes): (&Plan, u64),
    ) -> Result<()> {
        let Doing {
            members,
            kernel,
            launch,
            ..
        } = doing;
        let layout = &plan.layout;
        if kernel.reduction_size > 0 {
            let length = launch.blocks[0].max(kernel.reduction_length);
            let length = length.max(layout.records()) + 1;
            let bytes = u64::from(kernel.reduction_size) * u64::from(length);
            records.prepare(members, record_bytes, bytes)?;
            for (list, addresses) in lists.iter_mut().zip(&records.addresses) {
                list[0] = addresses[0];
            }
        }
        let start = |n: usize| {
            let part = layout.of(n);
            let shape = (part.teams, part.threads);
            self.start(doing, n, plan.shares[n], shape, &lists[n])
        };
        if let Some(helper) = doing.helper {
            start(helper)?;
            transfer(members, blocks, late)?;
        }
        // The first member may be one that runs a launch at once.
        let others = (0..members.len()).rev();
        others
            .filter(|&n| doing.helper != Some(n))
            .try_for_each(start)
    }

    /// Starts a share of a launch on a member, of so many teams of so many threads.
    fn start(
        &self,
        doing: &Doing<'_>,
        n: usize,
        league: League,
        (teams, threads): (u32, u32),
        words: &[u64],
    ) -> Result<()> {
        let member = &doing.members[n];
        let own = Launch {
            blocks: [teams, 1, 1],
            threads: [threads, 1, 1],
            args: &words[..doing.launch.args.len()],
            ..*doing.launch
        };
        self.give_share(doing.members, &doing.entry.shares, n, league)?;
        member.launch_async(&doing.entry.members[n], &own)
    }

    /// Runs a kernel on the first member.
    fn run_alone(&self, doing: &Doing<'_>, memory: &Memory, blocks: &mut Blocks) -> Result<()> {
        let Doing {
            members,
            entry,
            launch,
            ..
        } = doing;
        let grid = blocks_alone(members, doing.kernel, entry, launch.blocks);
        let mut settled = entry.settled.lock();
        let is_settled = settled.as_ref().is_some_and(|known| {
            known.changes == memory.changes()
                && known.grid == (grid[0], launch.threads[0])
                && known.words == doing.given.values
        });
        let uses = match is_settled || doing.lies_on_first(blocks) {
            true => Uses::default(),
            false => {
                *settled = None;
                let whole = Part::whole(&*members[0], grid[0], launch.threads[0]);
                let uses = doing.uses(blocks, 0, &ALONE, whole);
                uses.unwrap_or_else(|| doing.everything(blocks))
            }
        };
        let uses = [uses];
        let needed = transfers(blocks, &uses);
        if !needed.is_empty() {
            memory.note_change();
            transfer(members, blocks, &needed)?;
        }
        self.give_share(members, &entry.shares, 0, ALONE)?;
        entry.point(0, &*members[0], &doing.given.values)?;
        let own = Launch {
            blocks: grid,
            args: &doing.given.values[..launch.args.len()],
            ..**launch
        };
        members[0].launch_async(&entry.members[0], &own)?;
        members[0].await_launch(&entry.members[0])?;
        for (start, bytes) in &uses[0].written {
            let Some(directory) = directory(blocks, *start) else {
                continue;
            };
            for range in bytes.iter() {
                if !directory.belongs_to(0, range) {
                    directory.write(0, range.clone());
                    memory.note_change();
                }
            }
        }
        if !is_settled && settled.is_none() {
            *settled = Some(Settled {
                changes: memory.changes(),
                grid: (grid[0], launch.threads[0]),
                words: doing.given.values.clone(),
            });
        }
        match memory.has_variables() {
            true => doing.spread_variables(blocks),
            false => Ok(()),
        }
    }
}

impl Doing<'_> {
    /// Returns true if no other member has a copy of memory that the kernel may access.
    fn lies_on_first(&self, blocks: &mut Blocks) -> bool {
        let is_spread = |block: &Block| matches!(block.location, Location::Distributed { .. });
        if self.entry.footprint(0).unknown.is_some() {
            return !blocks.values().any(is_spread);
        }
        let mut sections = self.given.sections.iter();
        !sections
            .any(|section| find(blocks, section.start).is_some_and(|(_, block)| is_spread(block)))
    }

    /// Plans how the launch is divided; `None` if it cannot be.
    fn way(&mut self) -> Option<Way> {
        let Doing { entry, launch, .. } = *self;
        let parts = entry.parts();
        let [teams, y, z] = launch.blocks;
        let [_, threads_y, threads_z] = launch.threads;
        let flat = [y, z, threads_y, threads_z] == [1; 4];
        let provided = self.reduces() && launch.args.first() != Some(&0);
        if parts == 1 || (teams as usize) < parts || !flat || provided {
            return None;
        }
        self.case = (teams, sizes(launch));
        let mut balances = entry.balance.lock();
        let balance = balances.of(self.case);
        let plan = balance.begin();
        Some(Way {
            borders: plan.divided.then(|| balance.borders()),
            measured: plan.measured,
        })
    }

    /// Divides a launch that was to try the first member alone, if that would need much of what others
    /// hold.
    fn check_trial(&self, way: &mut Option<Way>, blocks: &mut Blocks) {
        let Some(way) = way else {
            return;
        };
        if way.borders.is_some() || !way.measured || self.helper.is_some() {
            return;
        }
        let [teams, ..] = self.launch.blocks;
        let whole = Part::whole(&*self.members[0], teams, self.launch.threads[0]);
        let uses = self.uses(blocks, 0, &ALONE, whole);
        let needed = uses.map(|uses| transfers(blocks, &[uses]));
        let bytes = needed
            .iter()
            .flatten()
            .map(|(_, t)| t.bytes.end - t.bytes.start);
        if bytes.sum::<u64>() > MOST_TRIED {
            let mut balances = self.entry.balance.lock();
            let balance = balances.of(self.case);
            let plan = balance.refuse_alone();
            *way = Way {
                borders: plan.divided.then(|| balance.borders()),
                measured: plan.measured,
            };
        }
    }

    /// Returns the members' shares between the borders.
    fn shares(&self, layout: &Layout, borders: &[u64]) -> Vec<League> {
        let shares = (0..self.members.len()).map(|n| League {
            part: layout.of(n).record,
            // One more finishes a reduction.
            parts: layout.records() + u32::from(self.reduces()),
            from: borders[n],
            to: borders[n + 1],
            first: layout.of(n).first,
            teams: self.launch.blocks[0],
        });
        shares.collect()
    }

    fn reduces(&self) -> bool {
        self.kernel.reduction_size > 0
    }

    /// Returns the transfers before a launch: those before all members start, and those while the
    /// helper runs. A GPU may get bytes meanwhile that the helper writes, if it does not use them:
    /// footprints are bounds.
    fn early_and_late(&self, plan: &Plan) -> (Transfers, Transfers) {
        let transfers = plan.transfers.iter().cloned();
        let helps = |to: usize| self.helper == Some(to);
        match self.helper.is_some() && plan.contested.is_empty() {
            true => transfers.partition(|(_, transfer)| helps(transfer.to)),
            false => (transfers.collect(), Vec::new()),
        }
    }

    /// Returns the words for a member: addresses of its own copies.
    fn words(&self, blocks: &mut Blocks, n: usize) -> Vec<u64> {
        let mut words = self.given.values.clone();
        for access in &self.entry.footprint(n).accesses {
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

impl Times {
    /// Records the times of a launch that began at `begun`. GPUs have the copies before their shares
    /// in theirs.
    fn finish(&mut self, doing: &Doing<'_>, begun: Instant) {
        let since = begun.elapsed();
        for (own, member) in self.members.iter_mut().zip(doing.members) {
            *own = member.launch_time().unwrap_or(since);
        }
    }
}

/// Returns a hash of the sizes of the sections that a launch uses.
fn sizes(launch: &Launch<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for section in launch.sections {
        hasher.write_u64(section.size);
    }
    hasher.finish()
}

/// Returns the directory of a block.
pub(super) fn directory(blocks: &mut Blocks, start: u64) -> Option<&mut Directory> {
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

/// Copies bytes between members, for the launches that follow.
fn transfer(
    members: &[Arc<dyn Device>],
    blocks: &mut Blocks,
    transfers: &[(u64, Transfer)],
) -> Result<()> {
    let mut buffer = Vec::new();
    let mut direct: Vec<Vec<(u64, u64, u64)>> = vec![Vec::new(); members.len()];
    for (start, Transfer { from, to, bytes }) in transfers {
        let Some(block) = blocks.get_mut(start) else {
            continue;
        };
        let Location::Distributed {
            copies,
            views,
            directory,
            ..
        } = &mut block.location
        else {
            continue;
        };
        let (Some(source), Some(target)) = (copies[*from], copies[*to]) else {
            continue;
        };
        let len = bytes.end - bytes.start;
        let (source, target) = (source + bytes.start, target + bytes.start);
        let found = views.direct(members, copies, (*from, *to), (bytes.start, len));
        let view = |member: usize, at| members[member].host_view(at, len);
        if let Some(copy) = found {
            direct[copy.on].push((copy.to, copy.from, copy.len));
        } else if let Some(source) = view(*from, source) {
            // SAFETY: the member's copy has these bytes, and nobody frees it during a launch. Of
            // bytes that a helper writes meanwhile the other member uses none.
            let bytes = unsafe { std::slice::from_raw_parts(source.as_ptr(), len as usize) };
            members[*to].upload_ahead(target, bytes)?;
        } else if let Some(target) = view(*to, target) {
            // SAFETY: as above.
            unsafe { members[*from].download(Queue::SYNC, target.as_ptr(), source, len as usize)? };
        } else if !members[*to].copy_from(Queue::SYNC, target, &*members[*from], source, len)? {
            buffer.resize(len as usize, 0);
            copy_out(&*members[*from], source, &mut buffer)?;
            members[*to].upload_ahead(target, &buffer)?;
        }
        block.copied += len;
        tracing::trace!(
            target: log::OFFLOAD,
            from,
            to,
            bytes = len,
            direct = found.is_some(),
            "copied between devices"
        );
        directory.add(*to, bytes.clone());
    }
    let each = || {
        let each = members.iter().zip(&direct);
        each.filter(|(_, ranges)| !ranges.is_empty())
    };
    let mut result = Ok(());
    for (member, ranges) in each() {
        result = result.and(member.start_copies(ranges));
    }
    for (member, _) in each() {
        result = result.and(member.await_copies());
    }
    result
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
