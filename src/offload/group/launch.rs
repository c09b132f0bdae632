//! Launches of a group: each member runs its share of the teams.
//!
//! A launch is ordered behind all that the members were given before: a kernel of one member may
//! read what another one's writes. The members then run at the same time. Before a launch each
//! member is told its share, in a variable of the image, unless it has the same one already.
//!
//! In a reduction over teams each member combines its own teams through a buffer of its own. Then
//! the member that arrives last combines the members' results, in one on the first member.

use super::balance::Case;
use super::distributed::Records;
use super::image::{Entry, Outcome, Shares, Words, entry};
use super::memory::{Memory, find};
use super::replicas;
use crate::device::{ALONE, Device, Failure, Kernel, Launch, MemoryKind, Queue, Result};
use crate::locals::LOCALS;
use omp_abi::League;
use ompvm_llvm::nvptx::ParameterUse;
use ompvm_support::log;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Offset of the buffer behind a launch environment ([`omp_abi::LaunchEnvironment`]).
pub(super) const HEADER_BYTES: u64 = 256;
/// Minimum size of the reductions' buffer.
const BUFFER_BYTES: u64 = 64 << 10;

/// The launches of a group.
#[derive(Debug)]
pub(super) struct Launcher {
    /// Held while a launch is started.
    environments: Mutex<Environments>,
    members: Vec<Progress>,
    /// Number of times that memory was moved.
    placements: AtomicU64,
    /// Records of reductions of members without common memory; held during a launch.
    pub(super) records: Mutex<Records>,
    /// The latest launch of which processors ran a part.
    unrated: Mutex<Option<Unrated>>,
}

/// Times of a launch that its kernel's balance is not told yet: copies to the host may follow.
#[derive(Debug)]
pub(super) struct Unrated {
    pub entry: &'static Entry,
    pub case: Case,
    /// Time of the launch.
    pub whole: Duration,
    /// Times of the members that ran it.
    pub members: Vec<Duration>,
}

/// A launch that is being started.
#[derive(Debug)]
struct Doing<'a> {
    members: &'a [Arc<dyn Device>],
    memory: &'a Memory,
    kernel: &'a Kernel,
    entry: &'static Entry,
    launch: &'a Launch<'a>,
    given: Words,
    /// Beginning of the launch.
    since: Instant,
    /// Key of similar launches of the kernel.
    case: Case,
    /// True if its time is of interest to the balance.
    measured: bool,
}

/// Operations of a member: numbers of those begun, marked and known to be complete.
#[derive(Debug, Default)]
struct Progress {
    begun: AtomicU64,
    /// Number of those before the latest [`Device::mark`].
    marked: AtomicU64,
    complete: AtomicU64,
}

impl Launcher {
    /// Creates the launcher of a group of that many members.
    pub(super) fn new(members: usize) -> Launcher {
        Launcher {
            environments: Mutex::default(),
            members: (0..members).map(|_| Progress::default()).collect(),
            placements: AtomicU64::new(0),
            records: Mutex::default(),
            unrated: Mutex::default(),
        }
    }

    /// Keeps the times of a launch until the next one begins.
    pub(super) fn await_rating(&self, times: Unrated) {
        *self.unrated.lock() = Some(times);
    }

    /// Adds the time of a copy of results to that of the member which computed them.
    pub(super) fn add_copy(&self, member: usize, time: Duration) {
        if let Some(times) = &mut *self.unrated.lock() {
            times.whole += time;
            if let Some(own) = times.members.get_mut(member) {
                *own += time;
            }
        }
    }

    /// Tells the balance of the latest kernel its times.
    pub(super) fn rate(&self) {
        let Some(times) = self.unrated.lock().take() else {
            return;
        };
        let Unrated {
            entry,
            case,
            whole,
            members,
        } = times;
        let mut balances = entry.balance.lock();
        let balance = balances.of(case);
        tracing::trace!(
            target: log::OFFLOAD,
            kernel = entry.name,
            ?whole,
            took = ?members,
            borders = ?balance.borders().iter().map(|&b| b as f64 / 2f64.powi(64)).collect::<Vec<f64>>(),
            "devices and processors ran a kernel"
        );
        balance.measured(whole, &members);
    }

    /// Records that a member was given something to do.
    pub(super) fn begin(&self, member: usize) {
        self.members[member].begun.fetch_add(1, Ordering::AcqRel);
    }

    /// Waits until everything that members were given is complete; `wait` waits for a member. A
    /// failure is returned once, so that the data of the other members can be read.
    fn settle_by(&self, wait: impl Fn(usize) -> Result<()>) -> Result<()> {
        let mut result = Ok(());
        for (n, progress) in self.members.iter().enumerate() {
            let begun = progress.begun.load(Ordering::Acquire);
            if progress.complete.load(Ordering::Acquire) < begun {
                result = result.and(wait(n));
                progress.complete.fetch_max(begun, Ordering::AcqRel);
            }
        }
        result
    }

    /// Orders what the first `running` members are given next behind all that the others were
    /// given.
    pub(super) fn order(&self, members: &[Arc<dyn Device>], running: usize) -> Result<()> {
        for (n, progress) in self.members.iter().enumerate() {
            let begun = progress.begun.load(Ordering::Acquire);
            if progress.complete.load(Ordering::Acquire) == begun {
                continue;
            }
            let others = || (0..running).filter(|&m| m != n);
            if others().next().is_some() && progress.marked.load(Ordering::Acquire) < begun {
                members[n].mark()?;
                progress.marked.fetch_max(begun, Ordering::AcqRel);
            }
            others().try_for_each(|m| members[m].follow(&*members[n]))?;
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
        let mut environments = self.environments.lock();
        let since = Instant::now();
        let mut doing = Doing {
            members,
            memory,
            kernel,
            entry,
            launch,
            given: entry.words(launch),
            since,
            case: (0, 0),
            measured: false,
        };
        let [teams, y, z] = launch.blocks;
        let parts = entry.parts();
        if parts == 1 || (teams as usize) < parts || y != 1 || z != 1 {
            return self.launch_alone(&doing);
        }
        let sections = entry.division.parameters.iter().zip(&doing.given.sections);
        let in_place =
            sections.filter(|(of, _)| matches!(of, ParameterUse::ReadOwn | ParameterUse::Written));
        let sections = in_place.map(|(_, &section)| section);
        let used = memory.use_sections(members, sections, || self.settle(members))?;
        if used.moved {
            self.placements.fetch_add(1, Ordering::Relaxed);
        }
        doing.case = (teams, used.blocks);
        let placements = self.placements.load(Ordering::Relaxed);
        let (plan, borders) = {
            let mut balances = entry.balance.lock();
            balances.follow(placements);
            let balance = balances.of(doing.case);
            let plan = balance.begin();
            (plan, plan.divided.then(|| balance.borders()))
        };
        doing.measured = plan.measured;
        *entry.latest.lock() = match plan.divided {
            true => Outcome::Divided,
            false => Outcome::Alone,
        };
        match borders {
            Some(borders) => self.launch_divided(&doing, &mut environments, &borders),
            None => self.launch_alone(&doing),
        }
    }

    /// Starts a kernel on the first member.
    fn launch_alone(&self, doing: &Doing<'_>) -> Result<()> {
        let Doing {
            members,
            memory,
            entry,
            given,
            ..
        } = doing;
        self.order(members, 1)?;
        self.give_share(members, &entry.shares, 0, ALONE)?;
        let words = match entry.division.refused {
            Some(_) => {
                let mut blocks = memory.blocks();
                replicas::argument_words(members, &mut blocks, &entry.division, given, 1)?
            }
            // A divisible kernel that runs alone is short. Copies would take longer.
            None => vec![given.values.clone()],
        };
        entry.point(0, &*members[0], &words[0])?;
        let own = Launch {
            blocks: blocks_alone(members, doing.kernel, entry, doing.launch.blocks),
            args: &words[0][..doing.launch.args.len()],
            ..*doing.launch
        };
        let start = Instant::now();
        let begun = members[0].launch_async(&entry.members[0], &own);
        self.begin(0);
        record_writes(memory, entry, given);
        begun?;
        self.measure(doing, &[start], &[])?;
        if !memory.has_variables() {
            return Ok(());
        }
        replicas::spread_variables(
            members,
            &mut memory.blocks(),
            &entry.division,
            given,
            || self.settle_after(members, doing.kernel),
        )
    }

    /// Starts a kernel on all members, whose shares begin at `borders`.
    fn launch_divided(
        &self,
        doing: &Doing<'_>,
        environments: &mut Environments,
        borders: &[u64],
    ) -> Result<()> {
        let Doing {
            members,
            memory,
            kernel,
            entry,
            launch,
            given,
            ..
        } = doing;
        let parts = members.len();
        let teams = launch.blocks[0];
        self.order(members, parts)?;
        let (mut lists, stand_ins) = {
            let mut blocks = memory.blocks();
            let (division, words) = (&entry.division, given);
            let mut lists = replicas::argument_words(members, &mut blocks, division, words, parts)?;
            let made = replicas::stand_ins(members, &mut blocks, division, words, &mut lists)?;
            (lists, made)
        };
        if kernel.reduction_size > 0 && launch.args.first() == Some(&0) {
            let records = u64::from(teams.max(kernel.reduction_length));
            let bytes = u64::from(kernel.reduction_size) * records;
            let addresses = environments.reserve(members, bytes, || self.settle(members))?;
            for (list, address) in lists.iter_mut().zip(addresses) {
                list[0] = *address;
            }
        }
        let mut begun = Ok(());
        let mut starts = Vec::with_capacity(parts);
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
                args: &words[..launch.args.len()],
                ..**launch
            };
            starts.push(Instant::now());
            begun = begun
                .and_then(|()| self.give_share(members, &entry.shares, n, league))
                .and_then(|()| entry.point(n, &**member, words))
                .and_then(|()| member.launch_async(&entry.members[n], &own));
            self.begin(n);
        }
        record_writes(memory, entry, given);
        if begun.is_err() {
            let settled = self.settle_after(members, kernel);
            return begun
                .map_err(|failure| interrupted(members, failure))
                .and(settled);
        }
        self.measure(doing, &starts, borders)?;
        if !stand_ins.is_empty() {
            self.settle_after(members, kernel)?;
            replicas::end_stand_ins(members, stand_ins)?;
        }
        Ok(())
    }

    /// Waits for the members and tells the kernel's balance how long each took since its start, if
    /// the launch is measured. A log of launches has these times of all launches.
    fn measure(&self, doing: &Doing<'_>, starts: &[Instant], borders: &[u64]) -> Result<()> {
        let logged = tracing::event_enabled!(target: log::OFFLOAD, tracing::Level::TRACE);
        if !doing.measured && !logged {
            return Ok(());
        }
        let started = Instant::now();
        let mut times: Vec<Option<Duration>> = vec![None; starts.len()];
        while times.iter().any(Option::is_none) {
            for (n, member) in doing.members.iter().take(starts.len()).enumerate() {
                if times[n].is_none() && member.idle(Queue::SYNC)? {
                    times[n] = Some(starts[n].elapsed());
                }
            }
        }
        let whole = doing.since.elapsed();
        let times: Vec<Duration> = times.into_iter().flatten().collect();
        let fractions = borders.iter().map(|&b| b as f64 / 2f64.powi(64));
        tracing::trace!(
            target: log::OFFLOAD,
            kernel = doing.entry.name,
            teams = doing.launch.blocks[0],
            starting = ?started - doing.since,
            took = ?times,
            borders = ?fractions.collect::<Vec<f64>>(),
            "a group of devices runs a kernel"
        );
        if doing.measured {
            doing
                .entry
                .balance
                .lock()
                .of(doing.case)
                .measured(whole, &times);
        }
        Ok(())
    }

    /// Tells a member its share, unless it knows.
    pub(super) fn give_share(
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
        // SAFETY: a league consists of integers without padding.
        let bytes = unsafe {
            std::slice::from_raw_parts((&raw const share).cast::<u8>(), size_of_val(&share))
        };
        members[member].upload_ahead(address, bytes)?;
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
    /// `settle` waits for those that use the buffers.
    fn reserve(
        &mut self,
        members: &[Arc<dyn Device>],
        bytes: u64,
        settle: impl FnOnce() -> Result<()>,
    ) -> Result<&[u64]> {
        if self.bytes >= bytes && !self.addresses.is_empty() {
            return Ok(&self.addresses);
        }
        settle()?;
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

/// Notes in the thread the blocks that [`Device::shape`] returns for a kernel on all members, and those
/// that it would return for the first one.
pub(super) fn note_shape(kernel: &Kernel, all: u32, alone: u32) {
    LOCALS.with(|locals| locals.group_shape.set((kernel.handle, all, alone)));
}

/// Returns the blocks with which the first member runs a launch alone: not those of all members, if
/// their number is free.
pub(super) fn blocks_alone(
    members: &[Arc<dyn Device>],
    kernel: &Kernel,
    entry: &Entry,
    blocks: [u32; 3],
) -> [u32; 3] {
    if entry.parts() == 1 {
        return blocks;
    }
    let (known, all, alone) = LOCALS.with(|locals| locals.group_shape.get());
    if (known, all) == (kernel.handle, blocks[0]) {
        return [alone.min(all), blocks[1], blocks[2]];
    }
    if !kernel.any_grid || kernel.teams.1 > 0 {
        return blocks;
    }
    let usual = members[0].limits().default_blocks;
    let own = blocks[0].div_ceil(entry.parts() as u32);
    [blocks[0].min(own.max(usual)), blocks[1], blocks[2]]
}

/// Returns the failure of a launch of which other members have executed parts: the arrays that it
/// changes have lost their contents.
pub(super) fn interrupted(members: &[Arc<dyn Device>], failure: Failure) -> Failure {
    let Failure::OutOfMemory { size } = failure else {
        return failure;
    };
    let mut named = members.iter();
    let name = named.find_map(|member| member.name_of_failed(&failure));
    let name = name.unwrap_or_else(|| "one of them".into());
    Failure::Lost(format!(
        "{name}: no {size} bytes were left in the middle of a launch"
    ))
}

/// Returns the number of the first of `teams` teams of part `n`.
pub(super) fn share(teams: u32, n: usize, parts: usize) -> u32 {
    (u64::from(teams) * n as u64 / parts as u64) as u32
}

/// Records the blocks that a kernel may have written, so that copies of them are made anew.
fn record_writes(memory: &Memory, entry: &Entry, words: &Words) {
    let mut blocks = memory.blocks();
    if entry.division.writes_elsewhere {
        blocks.values_mut().for_each(|block| block.version += 1);
        return;
    }
    for (of, section) in entry.division.parameters.iter().zip(&words.sections) {
        if *of == ParameterUse::Written
            && let Some((_, block)) = find(&mut blocks, section.start)
        {
            block.version += 1;
        }
    }
}
