//! A group of devices that run the regions of one device together.
//!
//! A [`Group`] is a device itself, so mapping, regions and auto-offload need not know of it. Its
//! members have one address space: memory of one is accessible to all, at the same addresses. A
//! launch gives each member a share of the league's teams and of the divided loop's iterations
//! (`runtime-c/device/device.h`). So every region that may be divided at all computes the same,
//! wherever its data lies; [`memory`] decides where that is, and [`replicas`] makes copies of what
//! all members read. [`launch`] starts kernels.
//!
//! Variables of the image that kernels write lie in the group's memory, too ([`image`]). A kernel
//! runs on the first member alone if it has one team, or if it observes its block other than
//! through OpenMP (`llvm::nvptx::division`).
//!
//! Operations complete before the next one begins, except for those that [`launch`] starts
//! together.
//! Devices whose memory the others cannot access do not form a group.

mod balance;
mod describe;
mod directory;
mod distributed;
mod image;
mod in_place;
mod launch;
mod memory;
mod placement;
mod replicas;
mod transfer;
pub mod volume;

use super::device::{
    Device, DeviceCode, Failure, Foreign, HostSection, Image, Kernel, Launch, Limits, MemoryKind,
    Queue, Result, Target,
};
use super::report::GroupRun;
use distributed::layout::helping_teams;
use launch::Launcher;
use memory::Memory;
use ompvm_support::log;
use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

/// Devices that run regions together.
#[derive(Debug)]
pub struct Group {
    members: Vec<Arc<dyn Device>>,
    memory: Arc<Memory>,
    launcher: Launcher,
    /// Number of the group, which its regions see.
    number: i32,
}

impl Group {
    /// Joins devices that are open to a group of the given number: GPUs of one architecture, and
    /// perhaps the processors behind them. `separate` says whether devices that cannot access each other's
    /// memory may form one.
    ///
    /// # Errors
    /// The reason why they cannot work together.
    pub fn new(
        number: i32,
        members: Vec<Arc<dyn Device>>,
        separate: bool,
    ) -> std::result::Result<Group, String> {
        let Some(first) = members.first() else {
            return Err("there is no device".into());
        };
        let helper = distributed::layout::helper(&members);
        let mut devices = members
            .iter()
            .filter(|m| helper.is_none() || !m.has_shares_of_blocks());
        if let Some(other) = devices.find(|m| m.target() != first.target()) {
            return Err(format!(
                "{} and {} run different code",
                first.name(),
                other.name()
            ));
        }
        if let Some(helper) = helper {
            members[helper].help();
        }
        let reached = match helper {
            None => reach_all(&members),
            Some(_) => Err("the processors have memory of their own".into()),
        };
        let common = match reached {
            Ok(()) => true,
            Err(why) if !separate => return Err(why),
            Err(why) => {
                tracing::info!(target: log::OFFLOAD, why, "a group has no common memory");
                false
            }
        };
        Ok(Group {
            memory: Arc::new(Memory::new(members.len(), common, helper)),
            launcher: Launcher::new(members.len()),
            number,
            members,
        })
    }

    /// Returns the processors among GPUs.
    fn helper(&self) -> Option<usize> {
        self.memory.helper()
    }

    fn first(&self) -> &dyn Device {
        &*self.members[0]
    }

    /// Waits until all members have completed what was started.
    fn settle(&self) -> Result<()> {
        self.launcher.settle(&self.members)
    }
}

/// Opens devices at the same time, since each takes a while. Returns those that work, and a message
/// for each other one.
pub fn open(members: Vec<Arc<dyn Device>>) -> (Vec<Arc<dyn Device>>, Vec<String>) {
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let opening = members.iter().map(|member| scope.spawn(|| member.open()));
        let opening: Vec<_> = opening.collect();
        let panicked = |_| Err(Failure::Lost("its start panicked".into()));
        let ends = opening.into_iter().map(|thread| thread.join());
        ends.map(|end| end.unwrap_or_else(panicked)).collect()
    });
    let (mut open, mut failed) = (Vec::new(), Vec::new());
    for (member, result) in members.into_iter().zip(results) {
        match result {
            Ok(()) => open.push(member),
            Err(why) => failed.push(format!("{}: {why}", member.name())),
        }
    }
    (open, failed)
}

/// Makes the memory of each device accessible to all others.
fn reach_all(members: &[Arc<dyn Device>]) -> std::result::Result<(), String> {
    for (n, member) in members.iter().enumerate() {
        for (m, other) in members.iter().enumerate().filter(|(m, _)| *m != n) {
            member
                .reach(&**other)
                .map_err(|why| format!("device {n} cannot access memory of device {m}: {why}"))?;
        }
    }
    Ok(())
}

impl Device for Group {
    fn name(&self) -> String {
        let first = self.first().name();
        match self.helper() {
            Some(n) if self.members.len() == 2 => {
                format!("{first} with {}", self.members[n].name())
            }
            Some(n) => {
                let (count, helper) = (self.members.len() - 1, self.members[n].name());
                format!("{count} devices: {first} with {helper}")
            }
            None => format!("{} devices: {first}", self.members.len()),
        }
    }

    fn name_of_failed(&self, failure: &Failure) -> Option<String> {
        let mut members = self.members.iter();
        members.find_map(|member| member.name_of_failed(failure))
    }

    fn uid(&self) -> Option<String> {
        self.first().uid()
    }

    fn target(&self) -> Target {
        self.first().target()
    }

    fn limits(&self) -> Limits {
        let each = self.members.iter().map(|m| m.limits().memory);
        let memory = match self.memory.is_common() {
            true => each.sum(),
            // Each member has a copy of what it uses.
            false => each.min().unwrap_or(0),
        };
        Limits {
            memory,
            ..self.first().limits()
        }
    }

    fn alloc(&self, size: u64, align: u64, memory: MemoryKind) -> Result<u64> {
        if memory != MemoryKind::Device {
            return self.first().alloc(size, align, memory);
        }
        self.memory.alloc(&self.members, None, 0, size, align)
    }

    fn alloc_padded(&self, padding: u64, size: u64, align: u64) -> Result<u64> {
        self.memory.alloc(&self.members, None, padding, size, align)
    }

    fn alloc_mapped(&self, host: HostSection, padding: u64, size: u64, align: u64) -> Result<u64> {
        let host = Some(host);
        self.memory.alloc(&self.members, host, padding, size, align)
    }

    fn free(&self, address: u64, memory: MemoryKind) -> Result<()> {
        if memory != MemoryKind::Device {
            return self.first().free(address, memory);
        }
        self.settle()?;
        self.memory.free(&self.members, address)
    }

    unsafe fn upload(&self, _: Queue, to: u64, from: *const u8, len: usize) -> Result<()> {
        self.settle()?;
        let _here = self.copying();
        // SAFETY: by this function's contract.
        unsafe { self.write(to, from, len) }
    }

    unsafe fn download(&self, _: Queue, to: *mut u8, from: u64, len: usize) -> Result<()> {
        self.settle()?;
        let _here = self.copying();
        // SAFETY: by this function's contract.
        unsafe { self.read(to, from, len) }
    }

    fn copy(&self, _: Queue, to: u64, from: u64, len: u64) -> Result<()> {
        self.settle()?;
        let _here = self.copying();
        if !self.memory.is_common() {
            let mut between = vec![0; len as usize];
            // SAFETY: the buffer has that many bytes, and the copies are synchronous.
            return unsafe {
                self.read(between.as_mut_ptr(), from, between.len())?;
                self.write(to, between.as_ptr(), between.len())
            };
        }
        for piece in self.memory.written(&self.members, to, len)? {
            let from = from + piece.offset as u64;
            let member = &self.members[piece.member];
            member.copy(Queue::SYNC, piece.address, from, piece.len as u64)?;
        }
        Ok(())
    }

    fn fill(&self, _: Queue, to: u64, value: u8, len: u64) -> Result<()> {
        self.settle()?;
        let _here = self.copying();
        for piece in self.memory.written(&self.members, to, len)? {
            let member = &self.members[piece.member];
            member.fill(Queue::SYNC, piece.address, value, piece.len as u64)?;
        }
        Ok(())
    }

    fn load(&self, code: &DeviceCode) -> Result<Box<dyn Image>> {
        image::load(&self.members, &self.memory, code, self.number)
    }

    fn launch(&self, _: Queue, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        self.launch_async(kernel, launch)?;
        self.await_launch(kernel)
    }

    fn launch_async(&self, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        if !self.memory.is_common() {
            return self
                .launcher
                .launch_distributed(&self.members, &self.memory, kernel, launch);
        }
        self.launcher
            .launch(&self.members, &self.memory, kernel, launch)
    }

    fn await_launch(&self, kernel: &Kernel) -> Result<()> {
        self.launcher.settle_after(&self.members, kernel)
    }

    fn describe(&self, kernel: &Kernel, launch: &Launch<'_>) -> Option<GroupRun> {
        let members = self.members.len();
        Some(describe::describe(members, &self.memory, kernel, launch))
    }

    fn lend_staging(&self) -> Option<NonNull<u8>> {
        self.first().lend_staging()
    }

    fn return_staging(&self, buffer: NonNull<u8>) {
        self.first().return_staging(buffer);
    }

    unsafe fn fetch_staged(&self, to: *mut u8, from: u64, len: usize) -> Result<()> {
        if !self.memory.is_common() {
            let _here = self.copying();
            // SAFETY: by this function's contract, `len` bytes at `to` lie in a lent buffer.
            return unsafe { self.read(to, from, len) };
        }
        self.launcher.order(&self.members, 1)?;
        let _here = self.memory.stay();
        // SAFETY: by this function's contract, `to` lies in a lent buffer. All memory of the group
        // is accessible to its first member.
        unsafe { self.first().fetch_staged(to, from, len)? };
        self.launcher.begin(0);
        Ok(())
    }

    fn queue(&self) -> Result<Queue> {
        // Operations complete at once, so queues need no state.
        Ok(Queue(1))
    }

    fn release(&self, _: Queue) {}

    fn synchronize(&self, _: Queue) -> Result<()> {
        self.settle()
    }

    fn idle(&self, _: Queue) -> Result<bool> {
        self.settle().map(|()| true)
    }

    fn pin(&self, start: *mut u8, len: usize) {
        self.first().pin(start, len);
    }

    fn unpin(&self, start: *mut u8) {
        self.first().unpin(start);
    }

    fn shape(&self, kernel: &Kernel, teams: u32, threads: u32, trip: u64) -> (u32, u32) {
        let entry = image::entry(kernel);
        let parts = entry.parts() as u32;
        let member = entry.members[0];
        let helper = self.helper().filter(|_| parts > 1);
        let others = parts - u32::from(helper.is_some());
        let share = trip.div_ceil(u64::from(others));
        let (blocks, threads) = self.first().shape(&member, teams, threads, share);
        let asked = teams != 0 && !kernel.any_grid || kernel.teams.1 > 0;
        if asked || parts == 1 {
            launch::note_shape(kernel, 0, 0);
            return (blocks, threads);
        }
        let helping = helper.map_or(0, |n| helping_teams(&*self.members[n]));
        let all = blocks.saturating_mul(others).saturating_add(helping);
        let (alone, _) = self.first().shape(&member, teams, threads, trip);
        launch::note_shape(kernel, all, alone);
        (all, threads)
    }

    fn accesses_host_blocks(&self) -> bool {
        self.memory.is_common() && self.members.iter().all(|m| m.accesses_host_blocks())
    }

    fn accesses_host_memory(&self) -> bool {
        self.members.iter().all(|m| m.accesses_host_memory())
    }

    fn foreign_handles(&self, queue: Queue) -> Option<Foreign> {
        let _ = queue;
        if !self.memory.is_common() {
            // Foreign code would change the first member's copies alone.
            return None;
        }
        self.memory.fix();
        self.first().foreign_handles(Queue::SYNC)
    }

    fn survives_faults(&self) -> bool {
        self.members.iter().all(|m| m.survives_faults())
    }

    fn owns(&self, address: u64) -> bool {
        self.memory.owns(address) || self.members.iter().any(|m| m.owns(address))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
