//! A device whose latest failure is remembered, so that a message can name the member of a group
//! that failed, and that fails itself if a test asks for that.
//!
//! `OMPVM_FAIL_DEVICE=STEP:DEVICE:N` makes the Nth step of that kind fail on a device. Memory then is
//! exhausted for good; after every other failure the device is lost, and its memory with it. With
//! `:end` behind it the process ends there. A device that is lost executes nothing: before the failure
//! the calling thread's launches end.
//!
//! All other calls go to the device as they are.

use super::device::*;
use super::report::GroupRun;
use ompvm_support::settings::{DeviceFailure, DeviceStep};
use parking_lot::Mutex;
use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A device that is watched.
#[derive(Debug)]
pub(super) struct Watched {
    device: Arc<dyn Device>,
    /// The failure to inject.
    injected: Option<DeviceFailure>,
    /// Number of steps of its kind so far.
    steps: AtomicU64,
    /// True once the injected failure has lost the device.
    lost: AtomicBool,
    /// The latest failure of the device.
    latest: Mutex<Option<Failure>>,
}

impl Watched {
    /// Watches a device that fails as `injected` says, or by itself.
    pub(super) fn new(device: Arc<dyn Device>, injected: Option<DeviceFailure>) -> Watched {
        Watched {
            device,
            injected,
            steps: AtomicU64::new(0),
            lost: AtomicBool::new(false),
            latest: Mutex::new(None),
        }
    }

    /// Fails if the device is lost, or if this is the step that is to fail.
    fn inject(&self, step: DeviceStep) -> Result<()> {
        let Some(injected) = self.injected else {
            return Ok(());
        };
        if self.lost.load(Ordering::Acquire) {
            return Err(self.lose("it failed earlier".into()));
        }
        if step != injected.step || self.steps.fetch_add(1, Ordering::AcqRel) + 1 < injected.count {
            return Ok(());
        }
        if injected.ends {
            // SAFETY: ends the process, as a signal would.
            unsafe { libc::_exit(1) }
        }
        if step == DeviceStep::Alloc {
            return Err(Failure::OutOfMemory { size: 0 });
        }
        self.lost.store(true, Ordering::Release);
        Err(self.lose(format!("a test lets it fail at the step `{}`", step.name())))
    }

    /// Returns the failure of a lost device, after the end of the calling thread's launches.
    fn lose(&self, why: String) -> Failure {
        // A failure of theirs adds nothing to the loss.
        let _ = self.device.synchronize(Queue::SYNC);
        Failure::Lost(why)
    }

    /// Runs a step of the device, and remembers its failure. A device that is lost fails with the
    /// reason for that from then on.
    fn step<T>(&self, step: DeviceStep, work: impl FnOnce(&dyn Device) -> Result<T>) -> Result<T> {
        let done = self.inject(step).and_then(|()| work(&*self.device));
        done.map_err(|failure| {
            let mut latest = self.latest.lock();
            match (&*latest, failure) {
                (Some(first @ Failure::Lost(_)), Failure::Lost(_)) => first.clone(),
                (_, failure) => latest.insert(failure).clone(),
            }
        })
    }
}

impl Device for Watched {
    fn name(&self) -> String {
        self.device.name()
    }

    fn name_of_failed(&self, failure: &Failure) -> Option<String> {
        (self.latest.lock().as_ref() == Some(failure)).then(|| self.device.name())
    }

    fn uid(&self) -> Option<String> {
        self.device.uid()
    }

    fn target(&self) -> Target {
        self.device.target()
    }

    fn open(&self) -> Result<()> {
        self.step(DeviceStep::Open, |device| device.open())
    }

    fn limits(&self) -> Limits {
        self.device.limits()
    }

    fn alloc(&self, size: u64, align: u64, memory: MemoryKind) -> Result<u64> {
        self.step(DeviceStep::Alloc, |device| {
            device.alloc(size, align, memory)
        })
    }

    fn alloc_padded(&self, padding: u64, size: u64, align: u64) -> Result<u64> {
        self.step(DeviceStep::Alloc, |device| {
            device.alloc_padded(padding, size, align)
        })
    }

    fn alloc_mapped(&self, host: HostSection, padding: u64, size: u64, align: u64) -> Result<u64> {
        self.step(DeviceStep::Alloc, |device| {
            device.alloc_mapped(host, padding, size, align)
        })
    }

    fn free(&self, address: u64, memory: MemoryKind) -> Result<()> {
        self.step(DeviceStep::Free, |device| device.free(address, memory))
    }

    unsafe fn upload(&self, queue: Queue, to: u64, from: *const u8, len: usize) -> Result<()> {
        self.step(DeviceStep::Upload, |device| {
            // SAFETY: by this function's contract.
            unsafe { device.upload(queue, to, from, len) }
        })
    }

    fn upload_filled(&self, to: u64, len: usize, fill: &Fill<'_>) -> Result<bool> {
        self.step(DeviceStep::Upload, |device| {
            device.upload_filled(to, len, fill)
        })
    }

    fn download_drained(&self, from: u64, len: usize, drain: &Drain<'_>) -> Result<bool> {
        self.step(DeviceStep::Download, |device| {
            device.download_drained(from, len, drain)
        })
    }

    unsafe fn download(&self, queue: Queue, to: *mut u8, from: u64, len: usize) -> Result<()> {
        self.step(DeviceStep::Download, |device| {
            // SAFETY: by this function's contract.
            unsafe { device.download(queue, to, from, len) }
        })
    }

    fn copy(&self, queue: Queue, to: u64, from: u64, len: u64) -> Result<()> {
        self.step(DeviceStep::Upload, |device| {
            device.copy(queue, to, from, len)
        })
    }

    fn start_copies(&self, ranges: &[(u64, u64, u64)]) -> Result<()> {
        self.step(DeviceStep::Upload, |device| device.start_copies(ranges))
    }

    fn await_copies(&self) -> Result<()> {
        self.step(DeviceStep::Wait, |device| device.await_copies())
    }

    fn export(&self, address: u64) -> Option<Vec<u8>> {
        self.device.export(address)
    }

    fn import(&self, handle: &[u8]) -> Option<u64> {
        self.device.import(handle)
    }

    fn close_import(&self, address: u64) {
        self.device.close_import(address);
    }

    fn copy_from(
        &self,
        queue: Queue,
        to: u64,
        other: &dyn Device,
        from: u64,
        len: u64,
    ) -> Result<bool> {
        self.step(DeviceStep::Upload, |device| {
            device.copy_from(queue, to, other, from, len)
        })
    }

    fn fill(&self, queue: Queue, to: u64, value: u8, len: u64) -> Result<()> {
        self.step(DeviceStep::Upload, |device| {
            device.fill(queue, to, value, len)
        })
    }

    fn load(&self, code: &DeviceCode) -> Result<Box<dyn Image>> {
        self.step(DeviceStep::Load, |device| device.load(code))
    }

    fn launch(&self, queue: Queue, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        self.step(DeviceStep::Launch, |device| {
            device.launch(queue, kernel, launch)
        })
    }

    fn launch_async(&self, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        self.step(DeviceStep::Launch, |device| {
            device.launch_async(kernel, launch)
        })
    }

    fn upload_ahead(&self, to: u64, bytes: &[u8]) -> Result<()> {
        self.step(DeviceStep::Upload, |device| device.upload_ahead(to, bytes))
    }

    fn announce_await(&self, kernel: &Kernel) {
        self.device.announce_await(kernel);
    }

    fn await_launch(&self, kernel: &Kernel) -> Result<()> {
        self.step(DeviceStep::Wait, |device| device.await_launch(kernel))
    }

    fn launch_time(&self) -> Option<Duration> {
        self.device.launch_time()
    }

    fn describe(&self, kernel: &Kernel, launch: &Launch<'_>) -> Option<GroupRun> {
        self.device.describe(kernel, launch)
    }

    fn lend_staging(&self) -> Option<NonNull<u8>> {
        self.device.lend_staging()
    }

    fn return_staging(&self, buffer: NonNull<u8>) {
        self.device.return_staging(buffer);
    }

    unsafe fn fetch_staged(&self, to: *mut u8, from: u64, len: usize) -> Result<()> {
        self.step(DeviceStep::Download, |device| {
            // SAFETY: by this function's contract.
            unsafe { device.fetch_staged(to, from, len) }
        })
    }

    fn queue(&self) -> Result<Queue> {
        self.device.queue()
    }

    fn release(&self, queue: Queue) {
        self.device.release(queue);
    }

    fn synchronize(&self, queue: Queue) -> Result<()> {
        self.step(DeviceStep::Wait, |device| device.synchronize(queue))
    }

    fn idle(&self, queue: Queue) -> Result<bool> {
        self.step(DeviceStep::Wait, |device| device.idle(queue))
    }

    fn pin(&self, start: *mut u8, len: usize) {
        self.device.pin(start, len);
    }

    fn unpin(&self, start: *mut u8) {
        self.device.unpin(start);
    }

    fn shape(&self, kernel: &Kernel, teams: u32, threads: u32, trip: u64) -> (u32, u32) {
        self.device.shape(kernel, teams, threads, trip)
    }

    fn accesses_host_memory(&self) -> bool {
        self.device.accesses_host_memory()
    }

    fn accesses_host_blocks(&self) -> bool {
        self.device.accesses_host_blocks()
    }

    fn foreign_handles(&self, queue: Queue) -> Option<Foreign> {
        self.device.foreign_handles(queue)
    }

    fn survives_faults(&self) -> bool {
        self.device.survives_faults()
    }

    fn predicts_no_speed(&self) -> bool {
        self.device.predicts_no_speed()
    }

    fn has_shares_of_blocks(&self) -> bool {
        self.device.has_shares_of_blocks()
    }

    fn help(&self) {
        self.device.help();
    }

    fn host_view(&self, address: u64, len: u64) -> Option<NonNull<u8>> {
        // Copies of a device that is to fail go through its steps.
        match self.injected {
            Some(_) => None,
            None => self.device.host_view(address, len),
        }
    }

    fn owns(&self, address: u64) -> bool {
        self.device.owns(address)
    }

    fn as_any(&self) -> &dyn Any {
        self.device.as_any()
    }

    fn reach(&self, other: &dyn Device) -> std::result::Result<(), String> {
        self.device.reach(other)
    }

    fn alloc_striped(&self, devices: &[&dyn Device], size: u64) -> Result<Option<Stripes>> {
        self.step(DeviceStep::Alloc, |device| {
            device.alloc_striped(devices, size)
        })
    }

    fn move_striped(
        &self,
        devices: &[&dyn Device],
        stripes: &Stripes,
        parts: &[StripedPart],
    ) -> Result<bool> {
        self.step(DeviceStep::Upload, |device| {
            device.move_striped(devices, stripes, parts)
        })
    }

    fn free_striped(&self, stripes: &Stripes) -> Result<()> {
        self.step(DeviceStep::Free, |device| device.free_striped(stripes))
    }

    fn mark(&self) -> Result<()> {
        self.device.mark()
    }

    fn follow(&self, other: &dyn Device) -> Result<()> {
        self.device.follow(other)
    }
}

#[cfg(test)]
mod tests {
    /// Returns the names of the functions that a source declares at the first level of indentation.
    fn functions(source: &str) -> Vec<&str> {
        let lines = source.lines().filter_map(|line| {
            let line = line.strip_prefix("    ")?;
            let line = line.strip_prefix("unsafe ").unwrap_or(line);
            line.strip_prefix("fn ")?.split(['(', '<']).next()
        });
        lines.collect()
    }

    #[test]
    fn offload_watched_devices_pass_every_call_on() {
        let (_, interface) = include_str!("device.rs")
            .split_once("pub trait Device")
            .unwrap();
        let (interface, _) = interface.split_once("\n}\n").unwrap();
        let (_, own) = include_str!("watched.rs")
            .split_once("impl Device for Watched")
            .unwrap();
        let own = functions(own);
        let missing: Vec<&str> = functions(interface)
            .into_iter()
            .filter(|name| !own.contains(name))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
