//! A device of another rank.
//!
//! Each operation is a request to the rank's server ([`super::serve`]) and one answer. A launch on
//! the synchronous queue is sent at once and without an answer; waiting for it takes the small
//! results along, so a region costs one round trip. Such a thread keeps its channel until it has
//! waited, so all that it asks meanwhile is executed behind its kernels.
//!
//! Device addresses and queues are those of the server's device. Kernels have numbers, and shapes
//! of launches are remembered.

use super::peer::{Peer, Taken};
use super::protocol::{Code, Description, INLINE, KernelLaunch, Reply, Request, Source};
use super::remote_image::RemoteImage;
use crate::device::{
    Device, DeviceCode, Failure, Image, Kernel, Launch, Limits, MemoryKind, Queue, Result,
    STAGING_BYTES, Target,
};
use crate::locals::this_thread;
use hashbrown::HashMap;
use ompvm_llvm::nvptx::DEVICE_NUMBER;
use parking_lot::Mutex;
use serde_bytes::ByteBuf;
use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

/// Kernel, teams, threads and trip count of a launch; see [`Device::shape`].
type ShapeRequest = (u64, u32, u32, u64);

/// Maximum number of remembered shapes.
const SHAPES: usize = 4096;

/// A device of another rank.
#[derive(Debug)]
pub struct Remote {
    peer: Arc<Peer>,
    /// Index in its rank.
    index: u32,
    /// Number in this process.
    number: i32,
    description: Description,
    target: Target,
    /// True if its rank can access this process's memory.
    is_near: bool,
    /// Launches that threads have begun, by thread.
    begun: Mutex<HashMap<usize, Begun>>,
    shapes: Mutex<HashMap<ShapeRequest, (u32, u32)>>,
    staging: Mutex<Vec<Staging>>,
}

/// Launches that a thread has begun, and copies behind them.
#[derive(Debug)]
struct Begun {
    channel: Taken,
    copies: Vec<StagedCopy>,
    /// True if the server was asked to wait for them.
    announced: bool,
}

impl Begun {
    /// Asks the server to wait, unless that was done.
    fn announce(&mut self, device: u32, kernel: &Kernel) {
        if std::mem::replace(&mut self.announced, true) {
            return;
        }
        let ranges = self.copies.iter().map(|c| (c.from, c.len as u64));
        self.channel.put(&Request::Await {
            device,
            kernel: kernel.handle,
            ranges: ranges.collect(),
        });
    }
}

/// A copy to a staging buffer.
#[derive(Debug)]
struct StagedCopy {
    to: *mut u8,
    from: u64,
    len: usize,
}

// SAFETY: the pointer leads to a buffer that the thread of the launch has borrowed.
unsafe impl Send for StagedCopy {}

/// A staging buffer.
#[derive(Debug)]
struct Staging(NonNull<u8>);

// SAFETY: plain memory that only the owner of the buffer uses.
unsafe impl Send for Staging {}

impl Remote {
    /// Creates a device from its description. `None` if it runs code that this version does not
    /// know.
    pub fn new(
        peer: Arc<Peer>,
        index: u32,
        number: i32,
        description: Description,
    ) -> Option<Remote> {
        const TRIPLE: &str = "nvptx64-nvidia-cuda";
        (description.triple == TRIPLE).then(|| Remote {
            peer,
            index,
            number,
            target: Target {
                triple: TRIPLE,
                arch: description.arch.clone(),
            },
            description,
            is_near: false,
            begun: Mutex::default(),
            shapes: Mutex::default(),
            staging: Mutex::default(),
        })
    }

    /// Notes whether the rank can access this process's memory.
    pub fn reached(mut self, is_near: bool) -> Remote {
        self.is_near = is_near;
        self
    }

    /// Uses the channel of the thread's launches, or else any.
    fn with<T>(&self, work: impl FnOnce(&mut Taken) -> Result<T>) -> Result<T> {
        let thread = this_thread();
        let begun = self.begun.lock().remove(&thread);
        let Some(mut begun) = begun else {
            return work(&mut self.peer.take()?);
        };
        let result = work(&mut begun.channel);
        self.begun.lock().insert(thread, begun);
        result
    }

    /// Sends something without an answer in the channel of the thread's launches, which the thread
    /// keeps until it waits for them.
    fn begin(&self, send: impl FnOnce(&mut Taken)) -> Result<()> {
        let thread = this_thread();
        let begun = self.begun.lock().remove(&thread);
        let mut begun = match begun {
            Some(begun) => begun,
            None => Begun {
                channel: self.peer.take()?,
                copies: Vec::new(),
                announced: false,
            },
        };
        send(&mut begun.channel);
        self.begun.lock().insert(thread, begun);
        Ok(())
    }

    fn call(&self, request: &Request<'_>) -> Result<Reply> {
        self.with(|channel| channel.call(request))
    }

    fn number_of(&self, request: &Request<'_>) -> Result<u64> {
        match self.call(request)? {
            Reply::Number(number) => Ok(number),
            other => odd(&other),
        }
    }
}

/// Returns the failure of a rank that answers something else than was asked.
fn odd<T>(reply: &Reply) -> Result<T> {
    Err(Failure::Lost(format!(
        "its rank gave an answer that makes no sense: {reply:?}"
    )))
}

fn message(kernel: &Kernel, launch: &Launch<'_>) -> KernelLaunch {
    KernelLaunch {
        kernel: kernel.handle,
        blocks: launch.blocks,
        threads: launch.threads,
        shared: launch.shared,
        args: launch.args.to_vec(),
        sections: launch.sections.to_vec(),
    }
}

impl Device for Remote {
    fn name(&self) -> String {
        let (rank, host) = (self.peer.link.peer, &self.peer.host);
        format!("rank {rank} on {host}: {}", self.description.name)
    }

    fn uid(&self) -> Option<String> {
        self.description.uid.clone()
    }

    fn target(&self) -> Target {
        self.target.clone()
    }

    fn open(&self) -> Result<()> {
        let device = self.index;
        self.call(&Request::Open { device }).map(drop)
    }

    fn limits(&self) -> Limits {
        self.description.limits
    }

    fn alloc(&self, size: u64, align: u64, memory: MemoryKind) -> Result<u64> {
        if memory != MemoryKind::Device {
            return Err(Failure::Unsupported {
                reason: "memory that the host and a device of another rank access".into(),
                place: None,
            });
        }
        self.number_of(&Request::Alloc {
            device: self.index,
            padding: None,
            size,
            align,
        })
    }

    fn alloc_padded(&self, padding: u64, size: u64, align: u64) -> Result<u64> {
        self.number_of(&Request::Alloc {
            device: self.index,
            padding: Some(padding),
            size,
            align,
        })
    }

    fn free(&self, address: u64, _memory: MemoryKind) -> Result<()> {
        let device = self.index;
        self.call(&Request::Free { device, address }).map(drop)
    }

    unsafe fn upload(&self, queue: Queue, to: u64, from: *const u8, len: usize) -> Result<()> {
        let (device, queue) = (self.index, queue.0);
        let request = |source| Request::Upload {
            device,
            queue,
            to,
            len: len as u64,
            ahead: false,
            source,
        };
        if len <= INLINE {
            let bytes = match len {
                0 => &[],
                // SAFETY: by `Device::upload`'s contract, `from` is readable.
                _ => unsafe { std::slice::from_raw_parts(from, len) },
            };
            return self.call(&request(Source::Frame(bytes))).map(drop);
        }
        if self.is_near {
            match self.call(&request(Source::Address(from as u64)))? {
                Reply::Unreachable => {}
                _ => return Ok(()),
            }
        }
        self.with(|channel| {
            channel.put(&request(Source::Pieces));
            // SAFETY: by `Device::upload`'s contract, `from` is readable.
            unsafe { channel.put_memory(from, len) };
            channel.get().map(drop)
        })
    }

    unsafe fn download(&self, queue: Queue, to: *mut u8, from: u64, len: usize) -> Result<()> {
        let request = |to| Request::Download {
            device: self.index,
            queue: queue.0,
            from,
            len: len as u64,
            to,
        };
        if self.is_near && len > INLINE {
            match self.call(&request(Some(to as u64)))? {
                Reply::Unreachable => {}
                _ => return Ok(()),
            }
        }
        self.with(|channel| match channel.call(&request(None))? {
            Reply::Bytes(bytes) if bytes.len() == len => {
                // SAFETY: by `Device::download`'s contract, `to` is writable.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, len) };
                Ok(())
            }
            // SAFETY: by `Device::download`'s contract, `to` is writable.
            Reply::Pieces => match unsafe { channel.get_memory(to, len) } {
                true => Ok(()),
                false => channel.get().map(drop),
            },
            other => odd(&other),
        })
    }

    fn copy(&self, queue: Queue, to: u64, from: u64, len: u64) -> Result<()> {
        let (device, queue) = (self.index, queue.0);
        let request = Request::Copy {
            device,
            queue,
            to,
            from,
            len,
        };
        self.call(&request).map(drop)
    }

    fn export(&self, address: u64) -> Option<Vec<u8>> {
        // Handles are for processes of one host.
        self.peer.link.process?;
        let device = self.index;
        match self.call(&Request::Export { device, address }) {
            Ok(Reply::Handle(handle)) => handle,
            _ => None,
        }
    }

    fn import(&self, handle: &[u8]) -> Option<u64> {
        self.peer.link.process?;
        let device = self.index;
        let found = self.number_of(&Request::Import { device, handle }).ok()?;
        (found != 0).then_some(found)
    }

    fn close_import(&self, address: u64) {
        let device = self.index;
        // Memory that cannot be closed stays open until its rank ends.
        let _ = self.call(&Request::CloseImport { device, address });
    }

    fn start_copies(&self, ranges: &[(u64, u64, u64)]) -> Result<()> {
        let request = Request::CopyRanges {
            device: self.index,
            ranges: ranges.to_vec(),
        };
        self.begin(|channel| channel.put(&request))
    }

    fn await_copies(&self) -> Result<()> {
        self.with(|channel| channel.get().map(drop))
    }

    fn fill(&self, queue: Queue, to: u64, value: u8, len: u64) -> Result<()> {
        let (device, queue) = (self.index, queue.0);
        let request = Request::Fill {
            device,
            queue,
            to,
            value,
            len,
        };
        self.call(&request).map(drop)
    }

    fn load(&self, code: &DeviceCode) -> Result<Box<dyn Image>> {
        let device = self.index;
        let sent = Code {
            units: code.units.iter().cloned().map(ByteBuf::from).collect(),
            arch: code.arch.clone(),
            name: code.name.clone(),
            teams: code.teams,
            divided: code.divided,
        };
        let request = Request::Load { device, code: sent };
        let image = match self.call(&request)? {
            Reply::Image { image, shared } => {
                RemoteImage::new(self.peer.clone(), device, image, shared)
            }
            other => return odd(&other),
        };
        if !code.divided
            && let Some(symbol) = image.symbol(DEVICE_NUMBER)
        {
            let from = (&raw const self.number).cast();
            // SAFETY: the number has four bytes, which are read before the call returns.
            unsafe { self.upload(Queue::SYNC, symbol.address, from, 4)? };
        }
        Ok(Box::new(image))
    }

    fn launch(&self, queue: Queue, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        let request = Request::Launch {
            device: self.index,
            queue: queue.0,
            launch: message(kernel, launch),
        };
        self.call(&request).map(drop)
    }

    fn launch_async(&self, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        self.begin(|channel| {
            channel.put(&Request::Begin {
                device: self.index,
                launch: message(kernel, launch),
            });
        })
    }

    fn upload_ahead(&self, to: u64, bytes: &[u8]) -> Result<()> {
        let request = |source| Request::Upload {
            device: self.index,
            queue: Queue::SYNC.0,
            to,
            len: bytes.len() as u64,
            ahead: true,
            source,
        };
        self.begin(|channel| match bytes.len() <= INLINE {
            true => channel.put(&request(Source::Frame(bytes))),
            false => {
                channel.put(&request(Source::Pieces));
                // SAFETY: the bytes are borrowed until the call returns.
                unsafe { channel.put_memory(bytes.as_ptr(), bytes.len()) };
            }
        })
    }

    fn announce_await(&self, kernel: &Kernel) {
        if let Some(begun) = self.begun.lock().get_mut(&this_thread()) {
            begun.announce(self.index, kernel);
        }
    }

    fn await_launch(&self, kernel: &Kernel) -> Result<()> {
        let Some(mut begun) = self.begun.lock().remove(&this_thread()) else {
            return Ok(());
        };
        begun.announce(self.index, kernel);
        let bytes = match begun.channel.get()? {
            Reply::Bytes(bytes) => bytes,
            other => return odd(&other),
        };
        let mut rest = &bytes[..];
        for copy in &begun.copies {
            let Some((part, others)) = rest.split_at_checked(copy.len) else {
                return odd(&Reply::Bytes(bytes));
            };
            // SAFETY: by `Device::fetch_staged`'s contract, the buffer has room for it.
            unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), copy.to, copy.len) };
            rest = others;
        }
        Ok(())
    }

    fn lend_staging(&self) -> Option<NonNull<u8>> {
        let idle = self.staging.lock().pop();
        idle.map(|buffer| buffer.0).or_else(|| {
            NonNull::new(Box::into_raw(vec![0; STAGING_BYTES].into_boxed_slice()).cast())
        })
    }

    fn return_staging(&self, buffer: NonNull<u8>) {
        self.staging.lock().push(Staging(buffer));
    }

    unsafe fn fetch_staged(&self, to: *mut u8, from: u64, len: usize) -> Result<()> {
        if let Some(begun) = self.begun.lock().get_mut(&this_thread()) {
            begun.copies.push(StagedCopy { to, from, len });
            return Ok(());
        }
        // SAFETY: by this function's contract, `len` bytes at `to` lie within a lent buffer.
        unsafe { self.download(Queue::SYNC, to, from, len) }
    }

    fn queue(&self) -> Result<Queue> {
        let device = self.index;
        self.number_of(&Request::Queue { device }).map(Queue)
    }

    fn release(&self, queue: Queue) {
        let (device, queue) = (self.index, queue.0);
        // A queue that cannot be released stays with its server.
        let _ = self.call(&Request::Release { device, queue });
    }

    fn synchronize(&self, queue: Queue) -> Result<()> {
        let (device, queue) = (self.index, queue.0);
        self.call(&Request::Synchronize { device, queue }).map(drop)
    }

    fn idle(&self, queue: Queue) -> Result<bool> {
        let (device, queue) = (self.index, queue.0);
        self.number_of(&Request::Idle { device, queue })
            .map(|idle| idle != 0)
    }

    fn shape(&self, kernel: &Kernel, teams: u32, threads: u32, trip: u64) -> (u32, u32) {
        let key = (kernel.handle, teams, threads, trip);
        if let Some(shape) = self.shapes.lock().get(&key) {
            return *shape;
        }
        let request = Request::Shape {
            device: self.index,
            kernel: kernel.handle,
            teams,
            threads,
            trip,
        };
        let shape = match self.call(&request) {
            Ok(Reply::Shape(blocks, threads)) => (blocks, threads),
            // The launch that follows fails with the reason.
            _ => return (1, 1),
        };
        let mut shapes = self.shapes.lock();
        if shapes.len() >= SHAPES {
            shapes.clear();
        }
        shapes.insert(key, shape);
        shape
    }

    fn survives_faults(&self) -> bool {
        self.description.survives_faults
    }

    fn predicts_no_speed(&self) -> bool {
        self.description.predicts_no_speed
    }

    fn has_shares_of_blocks(&self) -> bool {
        self.description.has_shares_of_blocks
    }

    fn owns(&self, address: u64) -> bool {
        let pattern = self.description.addresses;
        pattern.is_some_and(|(mask, value)| address & mask == value)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        for Staging(buffer) in self.staging.get_mut().drain(..) {
            let slice = std::ptr::slice_from_raw_parts_mut(buffer.as_ptr(), STAGING_BYTES);
            // SAFETY: `lend_staging` made the buffer as such a box.
            drop(unsafe { Box::from_raw(slice) });
        }
    }
}
