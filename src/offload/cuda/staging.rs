//! Staged copies between the device and pageable host memory.
//!
//! The driver copies pageable memory through a single buffer on one thread, which leaves most of
//! the bus bandwidth unused. A large copy is therefore divided into pieces. Several threads copy
//! pieces into or out of pinned buffers, two per thread, while the device transfers the other
//! buffer. Small copies are left to the driver, whose direct path is fastest for them. Memory that
//! was pinned as a whole ([`Staging::pin`]) is copied directly.

use super::driver::{self, Event, Stream};
use super::gpu::Gpu;
use crate::device::{Drain, Failure, Fill, MemoryKind, Result, STAGING_BYTES};
use ompvm_memory::internal_pool;
use ompvm_support::topology;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Copies smaller than this are left to the driver.
const DIRECT_LIMIT: usize = 1 << 20;
/// Size in bytes of a piece and of a pinned buffer.
const PIECE_BYTES: usize = 2 << 20;
/// Maximum number of copying threads.
const MAX_THREADS: usize = 12;

/// A pinned buffer and the event that marks the end of its transfer.
#[derive(Debug)]
struct Buffer {
    memory: *mut u8,
    event: Event,
}

// SAFETY: plain memory and a driver handle; only the owner of the buffer uses them.
unsafe impl Send for Buffer {}

/// A pinned buffer for small results that are copied back behind a kernel.
#[derive(Debug)]
struct SmallBuffer(NonNull<u8>);

// SAFETY: plain memory that only the owner of the buffer uses.
unsafe impl Send for SmallBuffer {}

/// The buffers of a GPU and its pinned host ranges.
#[derive(Debug, Default)]
pub(super) struct Staging {
    /// Idle pairs of buffers.
    buffers: Mutex<Vec<[Buffer; 2]>>,
    /// Idle pinned buffers of [`STAGING_BYTES`] bytes.
    small: Mutex<Vec<SmallBuffer>>,
    /// Start and length of each pinned range.
    pinned: Mutex<BTreeMap<usize, usize>>,
}

/// A raw address that the copying threads share.
#[derive(Clone, Copy)]
struct SharedAddress(usize);

impl Staging {
    /// Copies to the device. Returns true if the source has been read, so that it may change while
    /// the copy is in progress.
    ///
    /// # Safety
    /// `len` bytes at `from` must be readable until the copy is complete.
    pub(super) unsafe fn upload(
        &self,
        gpu: &Gpu,
        stream: Stream,
        to: u64,
        from: *const u8,
        len: usize,
    ) -> Result<bool> {
        if len == 0 {
            return Ok(true);
        }
        let pinned = self.is_pinned(from as usize, len);
        if len < DIRECT_LIMIT || pinned {
            // SAFETY: by this function's contract, `from` is readable; the driver checks the device
            // address.
            let code = unsafe { (gpu.driver.upload)(to, from.cast::<c_void>(), len, stream) };
            gpu.check(code, "copying to the device", len as u64)?;
            // The driver stages pageable memory before it returns.
            return Ok(!pinned);
        }
        let from = SharedAddress(from as usize);
        let fill = |at: usize, piece: &mut [u8]| {
            // SAFETY: the piece lies within the source, which is readable by this function's
            // contract.
            unsafe {
                let source = (from.0 + at) as *const u8;
                std::ptr::copy_nonoverlapping(source, piece.as_mut_ptr(), piece.len());
            }
        };
        self.upload_filled(gpu, stream, to, len, &fill)?;
        Ok(true)
    }

    /// Copies to the device what `fill` writes into pinned buffers; see
    /// [`crate::device::Device::upload_filled`]. Returns false if `len` is too short for that.
    pub(super) fn upload_filled(
        &self,
        gpu: &Gpu,
        stream: Stream,
        to: u64,
        len: usize,
        fill: &Fill<'_>,
    ) -> Result<bool> {
        if len < DIRECT_LIMIT {
            return Ok(false);
        }
        let issue = |buffer: &Buffer, at: usize, size: usize| {
            await_buffer(gpu, buffer)?;
            // SAFETY: the buffer is pinned, idle and at least as long as a piece.
            let code = unsafe {
                fill(at, std::slice::from_raw_parts_mut(buffer.memory, size));
                match (gpu.driver.upload)(to + at as u64, buffer.memory.cast(), size, stream) {
                    0 => (gpu.driver.record)(buffer.event, stream),
                    code => code,
                }
            };
            gpu.check(code, "copying to the device", size as u64)
        };
        // The last transfer still reads the buffer when the loop ends.
        let finish = |buffer: &Buffer, _, _| await_buffer(gpu, buffer);
        self.copy_pieces(gpu, len, issue, finish)?;
        Ok(true)
    }

    /// Copies from the device. Complete on return, except into pinned memory.
    ///
    /// # Safety
    /// `len` bytes at `to` must be writable until the copy is complete.
    pub(super) unsafe fn download(
        &self,
        gpu: &Gpu,
        stream: Stream,
        to: *mut u8,
        from: u64,
        len: usize,
    ) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        if len < DIRECT_LIMIT || self.is_pinned(to as usize, len) {
            // SAFETY: by this function's contract, `to` is writable; the driver checks the device
            // address.
            let code = unsafe { (gpu.driver.download)(to.cast::<c_void>(), from, len, stream) };
            return gpu.check(code, "copying from the device", len as u64);
        }
        let to = SharedAddress(to as usize);
        let drain = |at: usize, piece: &[u8]| {
            // SAFETY: the piece lies within the destination, which is writable by this function's
            // contract.
            unsafe {
                let target = (to.0 + at) as *mut u8;
                std::ptr::copy_nonoverlapping(piece.as_ptr(), target, piece.len());
            }
        };
        self.download_drained(gpu, stream, from, len, &drain)
            .map(drop)
    }

    /// Copies from the device into pinned buffers that `drain` reads; see
    /// [`crate::device::Device::download_drained`]. Returns false if `len` is too short for that.
    pub(super) fn download_drained(
        &self,
        gpu: &Gpu,
        stream: Stream,
        from: u64,
        len: usize,
        drain: &Drain<'_>,
    ) -> Result<bool> {
        if len < DIRECT_LIMIT {
            return Ok(false);
        }
        let issue = |buffer: &Buffer, at: usize, size: usize| {
            // SAFETY: the buffer is pinned, idle and at least as long as a piece.
            let code = unsafe {
                let memory = buffer.memory.cast::<c_void>();
                match (gpu.driver.download)(memory, from + at as u64, size, stream) {
                    0 => (gpu.driver.record)(buffer.event, stream),
                    code => code,
                }
            };
            gpu.check(code, "copying from the device", size as u64)
        };
        let finish = |buffer: &Buffer, at: usize, size: usize| {
            await_buffer(gpu, buffer)?;
            // SAFETY: the transfer to the buffer is complete.
            drain(at, unsafe {
                std::slice::from_raw_parts(buffer.memory, size)
            });
            Ok(())
        };
        self.copy_pieces(gpu, len, issue, finish)?;
        Ok(true)
    }

    /// Lends a pinned buffer of [`STAGING_BYTES`] bytes. Returns `None` if the driver has no pinned
    /// memory left.
    pub(super) fn lend(&self, gpu: &Gpu) -> Option<NonNull<u8>> {
        if let Some(SmallBuffer(buffer)) = self.small.lock().pop() {
            return Some(buffer);
        }
        let memory = gpu.raw_alloc(STAGING_BYTES as u64, MemoryKind::Host).ok()?;
        NonNull::new(memory as *mut u8)
    }

    /// Takes a lent buffer back.
    pub(super) fn take_back(&self, buffer: NonNull<u8>) {
        self.small.lock().push(SmallBuffer(buffer));
    }

    /// Copies in pieces on several threads. Each thread has two buffers: it issues a piece with
    /// one, then finishes the previous piece in the other.
    fn copy_pieces(
        &self,
        gpu: &Gpu,
        len: usize,
        issue: impl Fn(&Buffer, usize, usize) -> Result<()> + Sync,
        finish: impl Fn(&Buffer, usize, usize) -> Result<()> + Sync,
    ) -> Result<()> {
        let count = len.div_ceil(PIECE_BYTES);
        let threads = topology::usable_cpus()
            .min(MAX_THREADS)
            .min(count.div_ceil(2))
            .max(1);
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<Failure>> = Mutex::new(None);
        let work = || {
            let done = (|| {
                gpu.enter()?;
                let buffers = self.take(gpu)?;
                let mut before = None;
                for turn in [0, 1].into_iter().cycle() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let now =
                        (index < count && failed.lock().is_none()).then_some(index * PIECE_BYTES);
                    let size = |at: usize| PIECE_BYTES.min(len - at);
                    if let Some(at) = now {
                        issue(&buffers[turn], at, size(at))?;
                    }
                    if let Some(at) = before {
                        finish(&buffers[1 - turn], at, size(at))?;
                    }
                    before = now;
                    if now.is_none() {
                        break;
                    }
                }
                self.buffers.lock().push(buffers);
                Ok(())
            })();
            if let Err(failure) = done {
                *failed.lock() = Some(failure);
            }
        };
        internal_pool::run(threads, &work);
        failed.into_inner().map_or(Ok(()), Err)
    }

    fn take(&self, gpu: &Gpu) -> Result<[Buffer; 2]> {
        if let Some(buffers) = self.buffers.lock().pop() {
            return Ok(buffers);
        }
        let fresh = || {
            let memory = gpu.raw_alloc(PIECE_BYTES as u64, MemoryKind::Host)? as *mut u8;
            let mut event = Event(null_mut());
            // SAFETY: the result pointer is valid.
            let code = unsafe { (gpu.driver.event)(&mut event, driver::NO_TIMING) };
            gpu.check(code, "preparing copies", 0)?;
            Ok(Buffer { memory, event })
        };
        Ok([fresh()?, fresh()?])
    }

    fn is_pinned(&self, start: usize, len: usize) -> bool {
        let pinned = self.pinned.lock();
        let before = pinned.range(..=start).next_back();
        before.is_some_and(|(&from, &size)| start + len <= from + size)
    }

    /// Pins host memory. If the driver refuses, it stays pageable.
    pub(super) fn pin(&self, gpu: &Gpu, start: *mut u8, len: usize) {
        // SAFETY: the driver locks the pages and checks that they exist.
        let code = unsafe { (gpu.driver.register)(start.cast(), len, driver::PORTABLE) };
        if code == 0 || code == driver::code::ALREADY_REGISTERED {
            self.pinned.lock().insert(start as usize, len);
        }
    }

    /// Unpins host memory.
    pub(super) fn unpin(&self, gpu: &Gpu, start: *mut u8) {
        if self.pinned.lock().remove(&(start as usize)).is_some() {
            // SAFETY: the range was pinned; if the driver refuses, it stays pinned, which is
            // harmless.
            unsafe { (gpu.driver.unregister)(start.cast()) };
        }
    }
}

/// Waits until the device has finished the transfer of a buffer.
fn await_buffer(gpu: &Gpu, buffer: &Buffer) -> Result<()> {
    // SAFETY: the event belongs to this device; one that was never recorded counts as complete.
    let code = unsafe { (gpu.driver.await_event)(buffer.event) };
    gpu.check(code, "copying", 0)
}
