//! Streams, and the launch environment of each stream.
//!
//! A kernel with a reduction over teams counts the teams in its launch environment and collects
//! their values in its buffer. Kernels of one stream run in order, so each stream has one
//! environment and one buffer.

use super::driver::{self, Event, Stream};
use super::gpu::Gpu;
use crate::device::{MemoryKind, Queue, Result};
use parking_lot::{Mutex, RwLock};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// Device address of a launch environment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Environment(pub u64);

/// Offset of the buffer; the device runtime's `LaunchEnvironment` precedes it and has two words.
const HEADER_BYTES: u64 = 256;

#[derive(Debug)]
struct StreamState {
    stream: Stream,
    /// Device address and buffer size of the launch environment, if it is allocated.
    environment: Mutex<Option<(u64, u64)>>,
}

/// The queues of one GPU. Queue 0 is [`Queue::SYNC`].
#[derive(Debug, Default)]
pub(super) struct Queues {
    streams: RwLock<Vec<StreamState>>,
    idle: Mutex<Vec<Queue>>,
    /// True if copies on [`Queue::SYNC`] may be in progress.
    sync_pending: AtomicBool,
    /// Event that other GPUs wait for.
    event: Mutex<Option<Event>>,
}

impl Queues {
    /// Returns the driver's stream of a queue.
    pub(super) fn stream(&self, gpu: &Gpu, queue: Queue) -> Result<Stream> {
        let streams = self.streams.read();
        if let Some(stream_state) = streams.get(queue.0 as usize) {
            if queue != Queue::SYNC && self.sync_pending.swap(false, Ordering::AcqRel) {
                // SAFETY: the stream belongs to this device and is never destroyed.
                let code = unsafe { (gpu.driver.await_stream)(streams[0].stream) };
                gpu.check(code, "waiting for copies", 0)?;
            }
            return Ok(stream_state.stream);
        }
        drop(streams);
        // Reached only by the first use of queue 0.
        let mut streams = self.streams.write();
        if streams.is_empty() {
            streams.push(StreamState::new(gpu)?);
        }
        Ok(streams[0].stream)
    }

    /// Records that copies on [`Queue::SYNC`] are in progress.
    pub(super) fn mark_pending(&self) {
        self.sync_pending.store(true, Ordering::Release);
    }

    /// Records the event that occurs when all operations on [`Queue::SYNC`] so far are complete. The
    /// next call reuses it, which those that already wait for it do not notice.
    pub(super) fn mark(&self, gpu: &Gpu) -> Result<()> {
        let stream = self.stream(gpu, Queue::SYNC)?;
        let mut event = self.event.lock();
        let event = match &mut *event {
            Some(event) => *event,
            none => {
                let mut made = Event(null_mut());
                // SAFETY: the result pointer is valid.
                let code = unsafe { (gpu.driver.event)(&mut made, driver::NO_TIMING) };
                gpu.check(code, "creating an event", 0)?;
                *none.insert(made)
            }
        };
        // SAFETY: stream and event belong to this device and are never destroyed.
        let code = unsafe { (gpu.driver.record)(event, stream) };
        gpu.check(code, "recording an event", 0)
    }

    /// Returns the event of the latest [`Queues::mark`].
    pub(super) fn marked(&self) -> Option<Event> {
        *self.event.lock()
    }

    pub(super) fn take(&self, gpu: &Gpu) -> Result<Queue> {
        if let Some(queue) = self.idle.lock().pop() {
            return Ok(queue);
        }
        let mut streams = self.streams.write();
        if streams.is_empty() {
            streams.push(StreamState::new(gpu)?);
        }
        streams.push(StreamState::new(gpu)?);
        Ok(Queue(streams.len() as u64 - 1))
    }

    pub(super) fn give_back(&self, queue: Queue) {
        if queue != Queue::SYNC {
            self.idle.lock().push(queue);
        }
    }

    /// Returns the launch environment of a queue, with a buffer of at least `size` bytes.
    pub(super) fn environment(&self, gpu: &Gpu, queue: Queue, size: u64) -> Result<Environment> {
        let streams = self.streams.read();
        let stream_state = &streams[queue.0 as usize];
        let mut environment = stream_state.environment.lock();
        if let Some((address, has)) = *environment
            && has >= size
        {
            return Ok(Environment(address));
        }
        // SAFETY: the stream belongs to this device and is never destroyed.
        let code = unsafe { (gpu.driver.await_stream)(stream_state.stream) };
        gpu.check(code, "waiting for the device", 0)?;
        if let Some((old, _)) = environment.take() {
            gpu.raw_free(old, MemoryKind::Device)?;
        }
        let size = size.next_power_of_two().max(1 << 16);
        let address = gpu.raw_alloc(HEADER_BYTES + size, MemoryKind::Device)?;
        let head = [0_u64, address + HEADER_BYTES, 0];
        // SAFETY: the allocation is large enough; `head` lives until the stream is synchronized.
        let code = unsafe {
            let code = (gpu.driver.upload)(
                address,
                head.as_ptr().cast::<c_void>(),
                size_of_val(&head),
                stream_state.stream,
            );
            if code == 0 {
                (gpu.driver.await_stream)(stream_state.stream)
            } else {
                code
            }
        };
        gpu.check(code, "preparing a reduction", size)?;
        *environment = Some((address, size));
        Ok(Environment(address))
    }
}

impl StreamState {
    fn new(gpu: &Gpu) -> Result<StreamState> {
        let mut stream = Stream(null_mut());
        // SAFETY: the result pointer is valid.
        let code = unsafe { (gpu.driver.stream)(&mut stream, driver::NON_BLOCKING) };
        gpu.check(code, "creating a stream", 0)?;
        Ok(StreamState {
            stream,
            environment: Mutex::new(None),
        })
    }
}
