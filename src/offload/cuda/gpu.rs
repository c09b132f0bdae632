//! An NVIDIA GPU as an offload device.
//!
//! [`Gpu`] retains the device's primary context at its first use, shares it with CUDA code of the
//! program, and makes it current on each thread that calls. A fault makes every later call of the
//! driver fail, so the device counts as dead from then on. Memory, streams, copies and images are
//! in the sibling files.

use super::driver::{self, Address, Context, CuResult, Driver, Function, attribute};
use super::image::{self, Entry};
use super::imports::{self, Imports};
use super::memory::Pool;
use super::paged;
use super::queue::{Environment, Queues};
use super::staging::Staging;
use super::striped::StripedMemory;
use crate::device::{
    Device, DeviceCode, Drain, ExecutionMode, Failure, Fill, Foreign, Image, Kernel, Launch,
    Limits, MemoryKind, Queue, Result, StripedPart, Stripes, Target, default_shape,
};
use crate::locals::LOCALS;
use ompvm_support::log;
use std::any::Any;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Default threads of a block, which compilers assume, too.
const DEFAULT_THREADS: u32 = 128;
/// Maximum grid size as a multiple of the blocks that run at once. Larger trip counts give each
/// thread several iterations.
const WAVES: u32 = 32;

/// Identifiers of the runtime and its vendor in the OpenMP additional definitions.
const CUDA: isize = 1;
const NVIDIA: isize = 11;

/// An NVIDIA GPU.
#[derive(Debug)]
pub struct Gpu {
    pub(super) driver: Arc<Driver>,
    /// Retained when the device is first used: with several GPUs that takes a while for each.
    context: OnceLock<Context>,
    name: String,
    /// UUID in the form of NVIDIA's tools: `GPU-...`.
    uid: String,
    architecture: u32,
    limits: Limits,
    multiprocessors: u32,
    multiprocessor_threads: u32,
    multiprocessor_registers: u32,
    /// Ordinal of the device in the driver.
    pub(super) device: i32,
    /// True if kernels can access pageable host memory.
    accesses_host_memory: bool,
    /// True if the driver moves pages of managed memory between host and GPU while kernels run, so
    /// that more of it may be allocated than the GPU has.
    pub(super) pages_managed_memory: bool,
    pub(super) pool: Pool,
    queues: Queues,
    staging: Staging,
    striped: StripedMemory,
    imports: Imports,
    /// Set after a fault, when every call of the driver fails.
    dead: AtomicBool,
}

impl Gpu {
    /// Queries the device's attributes.
    pub(super) fn open(driver: &Arc<Driver>, number: i32) -> std::result::Result<Gpu, String> {
        let failed = |code: CuResult| format!("GPU {number}: {}", driver.text(code));
        let check = |code: CuResult| if code == 0 { Ok(()) } else { Err(failed(code)) };
        let mut device = 0;
        let mut name = [0; 256];
        let mut total = 0;
        let mut uuid = [0; 16];
        // SAFETY: all result pointers are valid; `name` is zero-initialized and longer than the
        // limit passed, so it is zero-terminated.
        let name = unsafe {
            check((driver.device)(&mut device, number))?;
            check((driver.name)(
                name.as_mut_ptr(),
                name.len() as i32 - 1,
                device,
            ))?;
            check((driver.uuid)(&mut uuid, device))?;
            check((driver.memory)(&mut total, device))?;
            std::ffi::CStr::from_ptr(name.as_ptr())
                .to_string_lossy()
                .into_owned()
        };
        let attribute_value = |what: i32| {
            let mut value = 0;
            // SAFETY: the result pointer is valid.
            check(unsafe { (driver.attribute)(&mut value, what, device) })?;
            Ok::<u32, String>(u32::try_from(value).unwrap_or(0))
        };
        let multiprocessors = attribute_value(attribute::MULTIPROCESSORS)?;
        let multiprocessor_threads = attribute_value(attribute::MULTIPROCESSOR_THREADS)?;
        let limits = Limits {
            memory: total as u64,
            max_block_threads: attribute_value(attribute::BLOCK_THREADS)?,
            default_blocks: multiprocessors * (multiprocessor_threads / DEFAULT_THREADS),
            default_threads: DEFAULT_THREADS,
            blocks: attribute_value(attribute::GRID_BLOCKS)?,
            warp: attribute_value(attribute::WARP)?,
            dynamic_shared: attribute_value(attribute::DYNAMIC_SHARED)?,
        };
        Ok(Gpu {
            driver: Arc::clone(driver),
            context: OnceLock::new(),
            name,
            uid: uid(&uuid),
            architecture: attribute_value(attribute::MAJOR)? * 10
                + attribute_value(attribute::MINOR)?,
            limits,
            multiprocessors,
            multiprocessor_threads,
            multiprocessor_registers: attribute_value(attribute::MULTIPROCESSOR_REGISTERS)?,
            device,
            accesses_host_memory: attribute_value(attribute::PAGEABLE_MEMORY)? != 0,
            pages_managed_memory: attribute_value(attribute::PAGED_MANAGED_MEMORY)? != 0,
            pool: Pool::default(),
            queues: Queues::default(),
            staging: Staging::default(),
            striped: StripedMemory::default(),
            imports: Imports::default(),
            dead: AtomicBool::new(false),
        })
    }

    /// Makes this device's context current on this thread.
    pub(super) fn enter(&self) -> Result<()> {
        if self.dead.load(Ordering::Relaxed) {
            return Err(Failure::Lost("it failed earlier".into()));
        }
        let context = self.context()?;
        if LOCALS.with(|l| l.cuda_context.get()) == context.0 {
            return Ok(());
        }
        // SAFETY: the context is valid, because it is never released.
        let code = unsafe { (self.driver.set_context)(context) };
        self.check(code, "making its context current", 0)?;
        LOCALS.with(|l| l.cuda_context.set(context.0));
        Ok(())
    }

    /// Returns the device's primary context. The first call retains it; a second thread that calls
    /// meanwhile retains it, too, which only counts.
    fn context(&self) -> Result<Context> {
        if let Some(context) = self.context.get() {
            return Ok(*context);
        }
        let since = Instant::now();
        let mut context = Context(null_mut());
        // SAFETY: the result pointer is valid.
        let code = unsafe { (self.driver.retain_context)(&mut context, self.device) };
        self.check(code, "opening its context", 0)?;
        tracing::debug!(
            target: log::OFFLOAD,
            number = self.device,
            name = self.name,
            ms = %log::ms(since.elapsed()),
            "opened a GPU's context"
        );
        Ok(*self.context.get_or_init(|| context))
    }

    /// Converts a result code of the driver.
    pub(super) fn check(&self, code: CuResult, doing: &str, size: u64) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        if driver::is_sticky(code) {
            self.dead.store(true, Ordering::Relaxed);
        }
        Err(self.driver.failure(code, doing, size))
    }

    /// Returns its ordinal in the driver.
    pub(super) fn ordinal(&self) -> i32 {
        self.device
    }

    /// Returns the architecture: 90 for `sm_90`.
    pub(super) fn architecture(&self) -> u32 {
        self.architecture
    }

    /// Waits for the queue if it is [`Queue::SYNC`].
    fn await_sync(&self, queue: Queue, doing: &str) -> Result<()> {
        if queue != Queue::SYNC {
            return Ok(());
        }
        let stream = self.queues.stream(self, queue)?;
        // SAFETY: the stream belongs to this device and is never destroyed.
        self.check(unsafe { (self.driver.await_stream)(stream) }, doing, 0)
    }

    /// Returns the maximum number of registers per thread at which enough threads run at once.
    pub(super) fn register_limit(&self) -> u32 {
        super::registers::limit(self.multiprocessor_registers, self.multiprocessor_threads)
    }

    /// Returns the number of blocks of a kernel that a multiprocessor runs at once.
    fn occupancy(&self, entry: &Entry, threads: u32) -> u32 {
        let known = entry.occupancy.load(Ordering::Relaxed);
        if known >> 32 == u64::from(threads) && known != 0 {
            return known as u32;
        }
        let mut blocks = 0;
        // SAFETY: the function belongs to this device; the result pointer is valid.
        let code =
            unsafe { (self.driver.occupancy)(&mut blocks, entry.function, threads as i32, 0) };
        let blocks = match u32::try_from(blocks) {
            Ok(blocks) if code == 0 && blocks > 0 => blocks,
            _ => (self.multiprocessor_threads / threads.max(1)).max(1),
        };
        let known = u64::from(threads) << 32 | u64::from(blocks);
        entry.occupancy.store(known, Ordering::Relaxed);
        blocks
    }
}

/// Returns a kernel's entry from its handle.
fn entry(kernel: &Kernel) -> &'static Entry {
    // SAFETY: handles are addresses of entries that `image::load` leaked.
    unsafe { &*(kernel.handle as *const Entry) }
}

/// Formats a UUID as NVIDIA's tools do.
fn uid(bytes: &[u8; 16]) -> String {
    let mut text = String::from("GPU");
    for (n, byte) in bytes.iter().enumerate() {
        if matches!(n, 0 | 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

impl Device for Gpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn uid(&self) -> Option<String> {
        Some(self.uid.clone())
    }

    fn target(&self) -> Target {
        Target {
            triple: "nvptx64-nvidia-cuda",
            arch: format!("sm_{}", self.architecture),
        }
    }

    fn open(&self) -> Result<()> {
        self.enter()
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn alloc(&self, size: u64, align: u64, memory: MemoryKind) -> Result<u64> {
        self.enter()?;
        self.pool.alloc(self, size, align, memory)
    }

    fn alloc_padded(&self, padding: u64, size: u64, align: u64) -> Result<u64> {
        self.enter()?;
        self.pool.alloc_paged(self, padding + size, align)
    }

    fn free(&self, address: u64, memory: MemoryKind) -> Result<()> {
        self.enter()?;
        self.pool.free(self, address, memory)
    }

    unsafe fn upload(&self, queue: Queue, to: u64, from: *const u8, len: usize) -> Result<()> {
        self.enter()?;
        let here = self.pool.bytes_here(to, len);
        if here < len {
            self.synchronize(queue)?;
            // SAFETY: `len` bytes are readable by contract, and the block has room for them.
            return unsafe {
                paged::copy(to as usize + here, from as usize + here, len - here);
                match here {
                    0 => Ok(()),
                    _ => self.upload(queue, to, from, here),
                }
            };
        }
        let stream = self.queues.stream(self, queue)?;
        // SAFETY: by `Device::upload`'s contract, `len` bytes at `from` are readable.
        let read = unsafe { self.staging.upload(self, stream, to, from, len) }?;
        // Later operations in the queue run after the copy; other queues wait for it.
        if read && queue == Queue::SYNC {
            self.queues.mark_pending();
            return Ok(());
        }
        self.await_sync(queue, "copying to the device")
    }

    unsafe fn download(&self, queue: Queue, to: *mut u8, from: u64, len: usize) -> Result<()> {
        self.enter()?;
        let here = self.pool.bytes_here(from, len);
        if here < len {
            self.synchronize(queue)?;
            // SAFETY: `len` bytes are writable by contract, and the block has them.
            return unsafe {
                paged::copy(to as usize + here, from as usize + here, len - here);
                match here {
                    0 => Ok(()),
                    _ => self.download(queue, to, from, here),
                }
            };
        }
        let stream = self.queues.stream(self, queue)?;
        // SAFETY: by `Device::download`'s contract, `len` bytes at `to` are writable.
        unsafe { self.staging.download(self, stream, to, from, len) }?;
        self.await_sync(queue, "copying from the device")
    }

    fn upload_filled(&self, to: u64, len: usize, fill: &Fill<'_>) -> Result<bool> {
        self.enter()?;
        let stream = self.queues.stream(self, Queue::SYNC)?;
        let copied = self.staging.upload_filled(self, stream, to, len, fill)?;
        if copied {
            self.queues.mark_pending();
        }
        Ok(copied)
    }

    fn download_drained(&self, from: u64, len: usize, drain: &Drain<'_>) -> Result<bool> {
        self.enter()?;
        let stream = self.queues.stream(self, Queue::SYNC)?;
        self.staging
            .download_drained(self, stream, from, len, drain)
    }

    fn copy(&self, queue: Queue, to: u64, from: u64, len: u64) -> Result<()> {
        self.enter()?;
        let stream = self.queues.stream(self, queue)?;
        // SAFETY: the driver checks device addresses.
        let code = unsafe { (self.driver.copy)(to, from, len as usize, stream) };
        self.check(code, "copying on the device", len)?;
        self.await_sync(queue, "copying on the device")
    }

    fn start_copies(&self, ranges: &[(u64, u64, u64)]) -> Result<()> {
        self.enter()?;
        let stream = self.queues.stream(self, Queue::SYNC)?;
        for &(to, from, len) in ranges {
            // SAFETY: the driver checks device addresses.
            let code = unsafe { (self.driver.copy)(to, from, len as usize, stream) };
            self.check(code, "copying between devices", len)?;
        }
        Ok(())
    }

    fn await_copies(&self) -> Result<()> {
        self.enter()?;
        self.await_sync(Queue::SYNC, "copying between devices")
    }

    fn export(&self, address: u64) -> Option<Vec<u8>> {
        self.enter().ok()?;
        imports::export(self, address)
    }

    fn import(&self, handle: &[u8]) -> Option<u64> {
        self.enter().ok()?;
        self.imports.open(self, handle)
    }

    fn close_import(&self, address: u64) {
        if self.enter().is_ok() {
            self.imports.close(self, address);
        }
    }

    fn fill(&self, queue: Queue, to: u64, value: u8, len: u64) -> Result<()> {
        self.enter()?;
        let stream = self.queues.stream(self, queue)?;
        // SAFETY: the driver checks device addresses.
        let code = unsafe { (self.driver.fill)(to, value, len as usize, stream) };
        self.check(code, "filling device memory", len)?;
        self.await_sync(queue, "filling device memory")
    }

    fn load(&self, code: &DeviceCode) -> Result<Box<dyn Image>> {
        self.enter()?;
        image::load(self, code)
    }

    fn launch(&self, queue: Queue, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        self.enqueue(queue, kernel, launch)?;
        self.await_sync(queue, &entry(kernel).doing)
    }

    fn launch_async(&self, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        self.enqueue(Queue::SYNC, kernel, launch)
    }

    fn await_launch(&self, kernel: &Kernel) -> Result<()> {
        self.await_sync(Queue::SYNC, &entry(kernel).doing)
    }

    fn lend_staging(&self) -> Option<NonNull<u8>> {
        self.enter().ok()?;
        self.staging.lend(self)
    }

    fn return_staging(&self, buffer: NonNull<u8>) {
        self.staging.take_back(buffer);
    }

    unsafe fn fetch_staged(&self, to: *mut u8, from: u64, len: usize) -> Result<()> {
        self.enter()?;
        let stream = self.queues.stream(self, Queue::SYNC)?;
        // SAFETY: by `Device::fetch_staged`'s contract, `to` lies in a lent buffer; the driver
        // checks the device address.
        let code = unsafe { (self.driver.download)(to.cast(), from, len, stream) };
        self.check(code, "copying from the device", len as u64)
    }

    fn queue(&self) -> Result<Queue> {
        self.enter()?;
        self.queues.take(self)
    }

    fn release(&self, queue: Queue) {
        self.queues.give_back(queue);
    }

    fn synchronize(&self, queue: Queue) -> Result<()> {
        self.enter()?;
        let code = if queue == Queue::SYNC {
            // SAFETY: `enter` made the context current.
            unsafe { (self.driver.synchronize)() }
        } else {
            let stream = self.queues.stream(self, queue)?;
            // SAFETY: the stream belongs to this device and is never destroyed.
            unsafe { (self.driver.await_stream)(stream) }
        };
        self.check(code, "waiting for the device", 0)
    }

    fn idle(&self, queue: Queue) -> Result<bool> {
        self.enter()?;
        let stream = self.queues.stream(self, queue)?;
        // SAFETY: the stream belongs to this device and is never destroyed.
        match unsafe { (self.driver.stream_idle)(stream) } {
            driver::code::NOT_READY => Ok(false),
            code => self.check(code, "asking the device", 0).map(|()| true),
        }
    }

    fn pin(&self, start: *mut u8, len: usize) {
        if self.enter().is_ok() {
            self.staging.pin(self, start, len);
        }
    }

    fn unpin(&self, start: *mut u8) {
        if self.enter().is_ok() {
            self.staging.unpin(self, start);
        }
    }

    fn shape(&self, kernel: &Kernel, teams: u32, threads: u32, trip: u64) -> (u32, u32) {
        let (usual, block) = default_shape(&self.limits, kernel, teams, threads, trip);
        let entry = entry(kernel);
        let block = match kernel.mode {
            // The compiler's bounds exclude the extra warp, and the device runtime uses all other
            // threads of the block for parallel regions.
            ExecutionMode::Generic => {
                let most = u32::try_from(kernel.threads.1).ok().filter(|&n| n > 0);
                let asked = if threads == 0 {
                    DEFAULT_THREADS
                } else {
                    threads
                };
                let workers = most.map_or(asked, |most| asked.min(most)).max(1);
                (workers + self.limits.warp)
                    .min(entry.threads)
                    .min(self.limits.max_block_threads)
            }
            _ => block.min(entry.threads),
        };
        let asked = teams != 0 || kernel.teams.1 > 0;
        if kernel.mode != ExecutionMode::Spmd || entry.refused.is_some() || trip == 0 {
            return (usual, block);
        }
        if asked && !kernel.any_grid {
            return (usual, block);
        }
        let full = self.multiprocessors * self.occupancy(entry, block);
        // Each block adds the cost of a reduction step; without a reduction, blocks are free.
        let most = if kernel.reduction_size > 0 {
            full
        } else {
            full.saturating_mul(WAVES)
        };
        let wanted = trip.div_ceil(u64::from(block));
        let blocks = u32::try_from(wanted)
            .unwrap_or(u32::MAX)
            .min(most)
            .min(if asked { usual } else { self.limits.blocks });
        (blocks.max(1), block)
    }

    fn accesses_host_blocks(&self) -> bool {
        true
    }

    fn accesses_host_memory(&self) -> bool {
        self.accesses_host_memory
    }

    fn foreign_handles(&self, queue: Queue) -> Option<Foreign> {
        self.enter().ok()?;
        Some(Foreign {
            runtime: CUDA,
            name: c"cuda",
            vendor: NVIDIA,
            vendor_name: c"nvidia",
            device: self.device as isize,
            context: self.context().ok()?.0 as usize,
            stream: self.queues.stream(self, queue).ok()?.0 as usize,
        })
    }

    fn owns(&self, address: u64) -> bool {
        self.pool.owns(address)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn reach(&self, other: &dyn Device) -> std::result::Result<(), String> {
        let Some(other) = other.as_any().downcast_ref::<Gpu>() else {
            return Err("the other device is no GPU of NVIDIA".into());
        };
        let Some(peers) = &self.driver.peers else {
            return Err("the driver lacks the functions for that".into());
        };
        let failed = |code: CuResult| Err(self.driver.text(code));
        let mut possible = 0;
        // SAFETY: the result pointer is valid.
        let code = unsafe { (peers.can_reach)(&mut possible, self.device, other.device) };
        match code {
            0 if possible != 0 => {}
            0 => return Err("they have no link that allows it".into()),
            code => return failed(code),
        }
        let entered = self.enter().and_then(|()| other.context());
        let context = entered.map_err(|why| why.to_string())?;
        // SAFETY: the other context is never released; flags must be 0.
        match unsafe { (peers.reach)(context, 0) } {
            0 | driver::code::ALREADY_REACHABLE => Ok(()),
            code => failed(code),
        }
    }

    fn alloc_striped(&self, devices: &[&dyn Device], size: u64) -> Result<Option<Stripes>> {
        self.enter()?;
        self.striped.alloc(self, devices, size)
    }

    fn move_striped(
        &self,
        devices: &[&dyn Device],
        stripes: &Stripes,
        parts: &[StripedPart],
    ) -> Result<bool> {
        self.enter()?;
        self.striped.shift(self, devices, stripes, parts)
    }

    fn free_striped(&self, stripes: &Stripes) -> Result<()> {
        self.enter()?;
        self.striped.free(self, stripes);
        Ok(())
    }

    fn mark(&self) -> Result<()> {
        self.enter()?;
        self.queues.mark(self)
    }

    fn follow(&self, other: &dyn Device) -> Result<()> {
        let mark = other.as_any().downcast_ref::<Gpu>();
        let Some(event) = mark.and_then(|other| other.queues.marked()) else {
            return other.synchronize(Queue::SYNC);
        };
        self.enter()?;
        let stream = self.queues.stream(self, Queue::SYNC)?;
        // SAFETY: stream and event are never destroyed; flags must be 0.
        let code = unsafe { (self.driver.follow_event)(stream, event, 0) };
        self.check(code, "waiting for another device", 0)
    }
}

impl Gpu {
    /// Launches a kernel on a queue's stream.
    fn enqueue(&self, queue: Queue, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        self.enter()?;
        let entry = entry(kernel);
        if let Some(refusal) = &entry.refused {
            return Err(refusal.clone());
        }
        let stream = self.queues.stream(self, queue)?;
        let mut environment = None;
        if kernel.reduction_size > 0 && launch.args.first() == Some(&0) {
            let blocks = launch.blocks.iter().map(|&b| u64::from(b)).product::<u64>();
            let size =
                u64::from(kernel.reduction_size) * blocks.max(u64::from(kernel.reduction_length));
            environment = Some(self.queues.environment(self, queue, size)?);
        }
        if launch.shared > 0 {
            self.raise_shared_limit(entry.function, launch.shared)?;
        }
        self.launch_on_stream(stream, entry, launch, environment)
    }

    /// Calls the driver with the arguments as an array of words, the layout that kernels expect.
    fn launch_on_stream(
        &self,
        stream: driver::Stream,
        entry: &Entry,
        launch: &Launch<'_>,
        environment: Option<Environment>,
    ) -> Result<()> {
        const POINTER: *mut c_void = std::ptr::without_provenance_mut(1);
        const SIZE: *mut c_void = std::ptr::without_provenance_mut(2);
        let mut patched = [0_u64; 96];
        let args: &[u64] = match environment {
            Some(Environment(address)) if launch.args.len() <= patched.len() => {
                patched[..launch.args.len()].copy_from_slice(launch.args);
                patched[0] = address;
                &patched[..launch.args.len()]
            }
            Some(_) => {
                return Err(Failure::Unsupported {
                    reason: "a kernel with a reduction and more than 95 arguments".into(),
                    place: None,
                });
            }
            None => launch.args,
        };
        let mut size = size_of_val(args);
        let mut extra = [
            POINTER,
            args.as_ptr().cast_mut().cast(),
            SIZE,
            (&raw mut size).cast(),
            null_mut(),
        ];
        let [bx, by, bz] = launch.blocks;
        let [tx, ty, tz] = launch.threads;
        // SAFETY: the function belongs to this device; the driver copies the arguments before it
        // returns.
        let code = unsafe {
            (self.driver.launch)(
                entry.function,
                bx,
                by,
                bz,
                tx,
                ty,
                tz,
                launch.shared,
                stream,
                null_mut(),
                extra.as_mut_ptr(),
            )
        };
        self.check(code, &entry.doing, 0)
    }

    /// Raises the limit of dynamic shared memory that a function has by default.
    fn raise_shared_limit(&self, function: Function, bytes: u32) -> Result<()> {
        const WITHOUT_ASKING: u32 = 48 << 10;
        if bytes <= WITHOUT_ASKING {
            return Ok(());
        }
        let attribute = driver::FUNCTION_DYNAMIC_SHARED;
        // SAFETY: the function belongs to this device.
        let code = unsafe { (self.driver.set_function)(function, attribute, bytes as i32) };
        self.check(code, "requesting shared memory", u64::from(bytes))
    }

    /// Allocates memory from the driver.
    pub(super) fn raw_alloc(&self, size: u64, memory: MemoryKind) -> Result<Address> {
        let mut address = 0;
        let mut host = null_mut();
        // SAFETY: the result pointers are valid.
        let code = unsafe {
            match memory {
                MemoryKind::Device => (self.driver.alloc)(&mut address, size as usize),
                MemoryKind::Host => {
                    let flags = driver::PORTABLE | driver::MAPPED;
                    (self.driver.alloc_host)(&mut host, size as usize, flags)
                }
                MemoryKind::Shared => {
                    (self.driver.alloc_managed)(&mut address, size as usize, driver::GLOBAL)
                }
            }
        };
        self.check(code, "allocating device memory", size)?;
        Ok(if host.is_null() { address } else { host as u64 })
    }

    /// Frees memory of [`Gpu::raw_alloc`] in the driver.
    pub(super) fn raw_free(&self, address: Address, memory: MemoryKind) -> Result<()> {
        // SAFETY: the pool passes addresses of `raw_alloc` with the same kind of memory.
        let code = unsafe {
            match memory {
                MemoryKind::Host => (self.driver.free_host)(address as *mut c_void),
                MemoryKind::Device | MemoryKind::Shared => (self.driver.free)(address),
            }
        };
        self.check(code, "freeing device memory", 0)
    }
}
