//! The processors of this machine as a device: kernels run on threads of the process, and device
//! memory is memory of the process.
//!
//! One bitcode then runs on every machine with what it has: a rank without a GPU serves with its
//! processors. The code is that of the regions' kernels, compiled for the processor
//! (`llvm::processors`). A block has one thread and a contiguous share of the iterations, so that a
//! thread's accesses are adjacent, and a launch has as many blocks as there are threads ([`workers`])
//! unless the program asks for another number.
//!
//! Accesses are not checked. One that faults ends the process like one of the host's code, with the
//! name of the kernel.
//! Kernels that need several threads in a block (`ompx_bare`) are refused.

mod functions;
mod image;
mod workers;

use super::device::*;
use super::locals::{LOCALS, this_thread};
use hashbrown::HashMap;
use image::entry;
use omp_abi::{LaunchEnvironment, League};
use ompvm_kmpc::icv;
use ompvm_memory::internal_pool;
use ompvm_support::message::{Kind, Message};
use ompvm_support::topology;
use parking_lot::Mutex;
use std::alloc::Layout;
use std::any::Any;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use workers::{Job, Workers};

/// The processors of this process.
#[derive(Debug)]
pub struct Device {
    number: u32,
    workers: Workers,
    /// Bytes of memory.
    memory: u64,
    /// The allocations, by address.
    allocations: Mutex<BTreeMap<u64, Layout>>,
    /// Launches that a thread has begun and not yet awaited.
    begun: Mutex<HashMap<usize, Vec<Arc<Job>>>>,
}

/// Maximum number of threads that copy memory.
const MOST_COPYING: usize = 12;

/// Bytes that a thread copies at once.
const COPIED_AT_ONCE: usize = 1 << 20;

/// Architecture of the device, which is none of a GPU.
pub const ARCHITECTURE: &str = "cpu";

impl Device {
    /// Creates the device. It has as many threads as the outermost parallel region of a program has
    /// by default.
    pub fn new(number: u32) -> Device {
        ompvm_memory::signals::set_device_hook(report_fault);
        let threads = icv::settings().team(topology::usable_cpus() as u32);
        // SAFETY: `sysconf` has no preconditions.
        let memory =
            unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) * libc::sysconf(libc::_SC_PAGESIZE) };
        Device {
            number,
            workers: Workers::new(threads),
            memory: u64::try_from(memory).unwrap_or(u64::MAX),
            allocations: Mutex::default(),
            begun: Mutex::default(),
        }
    }

    /// Waits for the launches that the calling thread began.
    fn settle(&self) {
        let begun = self.begun.lock().remove(&this_thread());
        for job in begun.iter().flatten() {
            self.workers.wait(job);
            LOCALS.with(|locals| locals.processor_time.set(job.time()));
        }
    }

    /// Prepares a launch.
    fn job(&self, kernel: &Kernel, launch: &Launch<'_>) -> Result<Arc<Job>> {
        let entry = entry(kernel);
        if let Some(failure) = &entry.refused {
            return Err(failure.clone());
        }
        let (Some(kernel_code), Some(image)) = (entry.kernel, entry.code.upgrade()) else {
            return Err(Failure::Image("the kernel is not loaded".into()));
        };
        let [blocks, blocks_y, blocks_z] = launch.blocks;
        let flat = [blocks_y, blocks_z, launch.threads[1], launch.threads[2]] == [1; 4];
        if !flat || blocks == 0 || kernel.mode == ExecutionMode::Bare && launch.threads[0] > 1 {
            return Err(Failure::Unsupported {
                reason: format!(
                    "on processors, a launch of {:?} blocks of {:?} threads",
                    launch.blocks, launch.threads
                ),
                place: None,
            });
        }
        self.workers.start().map_err(Failure::Lost)?;
        let mut args = launch.args.to_vec();
        args.resize(kernel.argument_words as usize, 0);
        let reduces = kernel.reduction_size > 0;
        let own = entry.share.get();
        let shares = (0..blocks).map(|n| share_of_block(&own, n, blocks, reduces));
        let bytes = entry.block_bytes as usize + launch.shared as usize;
        let mut job = Job::new(
            &entry.name,
            kernel_code,
            image,
            args,
            shares.collect(),
            bytes,
        );
        if reduces && job.args.first() == Some(&0) {
            let records = kernel.reduction_size as usize * blocks as usize;
            let buffer = vec![0u64; records.div_ceil(8)];
            let league = environment(buffer.as_ptr() as u64, 0);
            let environment = environment(0, league.as_ptr() as u64);
            job.args[0] = environment.as_ptr() as u64;
            job.owned = vec![buffer, league, environment];
        }
        Ok(Arc::new(job))
    }
}

/// Reports a fault in a signal handler, if the thread executes a kernel. The process ends afterwards,
/// as at a fault of the host's code.
fn report_fault(signal: i32, address: usize) {
    let kernel = LOCALS.with(|locals| locals.processor_kernel.get());
    if kernel.is_empty() {
        return;
    }
    let text = format_args!(
        "the guest program failed: a fault on the processors at address {address:#x}, in the kernel \
         `{kernel}`\n  (`--device=emulated` finds the access)"
    );
    Message::new(Kind::DeviceFault, &text)
        .region(kernel)
        .signal(signal)
        .print();
}

/// Copies memory; several threads copy parts of much. The ranges may overlap only if they are short.
///
/// # Safety
/// `len` bytes must be readable at `from` and writable at `to`.
unsafe fn copy_by_threads(from: *const u8, to: *mut u8, len: usize) {
    let threads = topology::usable_cpus()
        .min(MOST_COPYING)
        .min(len / COPIED_AT_ONCE);
    if threads < 2 {
        // SAFETY: by this function's contract.
        unsafe { std::ptr::copy(from, to, len) };
        return;
    }
    let (from, to) = (from as usize, to as usize);
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(COPIED_AT_ONCE, Ordering::Relaxed);
            if at >= len {
                return;
            }
            let size = COPIED_AT_ONCE.min(len - at);
            // SAFETY: by this function's contract; each thread copies other bytes.
            unsafe {
                std::ptr::copy_nonoverlapping((from + at) as *const u8, (to + at) as *mut u8, size);
            }
        }
    };
    internal_pool::run(threads, &work);
}

/// Returns a launch environment as words.
fn environment(buffer: u64, league: u64) -> Vec<u64> {
    const _: () = assert!(size_of::<LaunchEnvironment>() == 24);
    vec![0, buffer, league]
}

/// Returns the share of block `n` of `blocks` in the device's share. For a reduction each block is a
/// part of the league, which combines the parts' records.
pub fn share_of_block(own: &League, n: u32, blocks: u32, reduces: bool) -> League {
    let whole = own.parts <= 1;
    let width = match own.to {
        0 => (1u128 << 64) - u128::from(own.from),
        to => u128::from(to - own.from),
    };
    let edge = |n: u32| own.from + (width * u128::from(n) / u128::from(blocks)) as u64;
    let (part, parts) = match (whole, reduces) {
        (true, _) => (n, blocks),
        // The last part finishes the reduction.
        (false, true) => (own.part + n, own.parts),
        (false, false) => (own.part, own.parts),
    };
    League {
        part,
        parts,
        from: edge(n),
        to: if n + 1 == blocks { own.to } else { edge(n + 1) },
        first: if whole { n } else { own.first + n },
        teams: if whole { blocks } else { own.teams },
    }
}

impl super::device::Device for Device {
    fn name(&self) -> String {
        format!("{} threads of the processors", self.workers.count())
    }

    fn target(&self) -> Target {
        Target {
            triple: "nvptx64-nvidia-cuda",
            arch: ARCHITECTURE.into(),
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            memory: self.memory,
            max_block_threads: 1,
            default_blocks: self.workers.count(),
            default_threads: 1,
            blocks: 1 << 20,
            warp: 1,
            dynamic_shared: 48 << 10,
        }
    }

    fn alloc(&self, size: u64, align: u64, _: MemoryKind) -> Result<u64> {
        let failure = Failure::OutOfMemory { size };
        let bytes = usize::try_from(size).ok().filter(|_| size <= self.memory);
        let bytes = bytes.ok_or(failure.clone())?.max(1);
        let align = (align as usize).max(64);
        let layout = Layout::from_size_align(bytes, align).map_err(|_| failure.clone())?;
        // Arrays in large pages, which begin at multiples of their size, have the same offset in the
        // memory's banks: a stencil on eight threads takes 2.3 times as long.
        // SAFETY: the layout has a size.
        let at = unsafe { std::alloc::alloc(layout) };
        if at.is_null() {
            return Err(failure);
        }
        self.allocations.lock().insert(at as u64, layout);
        Ok(at as u64)
    }

    fn free(&self, address: u64, _: MemoryKind) -> Result<()> {
        self.settle();
        let Some(layout) = self.allocations.lock().remove(&address) else {
            return Err(Failure::Fault(Box::new(Fault {
                what: format!("free of an address that is no allocation: {address:#x}"),
                place: None,
                thread: None,
                help: None,
            })));
        };
        // SAFETY: the allocation has that layout, and removing it makes this the only free.
        unsafe { std::alloc::dealloc(address as *mut u8, layout) };
        Ok(())
    }

    unsafe fn upload(&self, _: Queue, to: u64, from: *const u8, len: usize) -> Result<()> {
        self.settle();
        // SAFETY: by this function's contract; device addresses are the process's own.
        unsafe { copy_by_threads(from, to as *mut u8, len) };
        Ok(())
    }

    unsafe fn download(&self, _: Queue, to: *mut u8, from: u64, len: usize) -> Result<()> {
        self.settle();
        // SAFETY: by this function's contract; device addresses are the process's own.
        unsafe { copy_by_threads(from as *const u8, to, len) };
        Ok(())
    }

    fn copy(&self, _: Queue, to: u64, from: u64, len: u64) -> Result<()> {
        self.settle();
        // SAFETY: callers pass ranges of allocated device memory.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, len as usize) };
        Ok(())
    }

    fn fill(&self, _: Queue, to: u64, value: u8, len: u64) -> Result<()> {
        self.settle();
        // SAFETY: callers pass a range of allocated device memory.
        unsafe { (to as *mut u8).write_bytes(value, len as usize) };
        Ok(())
    }

    fn load(&self, code: &DeviceCode) -> Result<Box<dyn Image>> {
        image::load_code(self, code, self.number)
    }

    fn launch(&self, _: Queue, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        let job = self.job(kernel, launch)?;
        self.settle();
        self.workers.begin(&job);
        self.workers.wait(&job);
        Ok(())
    }

    fn launch_async(&self, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        let job = self.job(kernel, launch)?;
        self.settle();
        self.workers.begin(&job);
        let mut begun = self.begun.lock();
        begun.entry(this_thread()).or_default().push(job);
        Ok(())
    }

    fn await_launch(&self, _: &Kernel) -> Result<()> {
        self.settle();
        Ok(())
    }

    fn launch_time(&self) -> Option<Duration> {
        self.settle();
        Some(LOCALS.with(|locals| locals.processor_time.get()))
    }

    fn queue(&self) -> Result<Queue> {
        // Operations of queues complete at once, so queues need no state.
        Ok(Queue(1))
    }

    fn release(&self, _: Queue) {}

    fn synchronize(&self, _: Queue) -> Result<()> {
        self.settle();
        Ok(())
    }

    fn idle(&self, _: Queue) -> Result<bool> {
        let begun = self.begun.lock();
        let own = begun.get(&this_thread());
        Ok(own.is_none_or(|jobs| jobs.iter().all(|job| job.is_complete())))
    }

    fn shape(&self, kernel: &Kernel, teams: u32, threads: u32, trip: u64) -> (u32, u32) {
        let (usual, _) = default_shape(&self.limits(), kernel, teams, threads, trip);
        if !kernel.any_grid || trip == 0 {
            return (usual, 1);
        }
        let most = u32::try_from(trip).unwrap_or(u32::MAX);
        (self.workers.count().min(most), 1)
    }

    fn accesses_host_memory(&self) -> bool {
        true
    }

    fn survives_faults(&self) -> bool {
        false
    }

    fn has_shares_of_blocks(&self) -> bool {
        true
    }

    fn help(&self) {
        self.workers.yield_to_others();
    }

    fn host_view(&self, address: u64, _: u64) -> Option<NonNull<u8>> {
        NonNull::new(address as *mut u8)
    }

    fn owns(&self, address: u64) -> bool {
        let allocations = self.allocations.lock();
        let found = allocations.range(..=address).next_back();
        found.is_some_and(|(start, layout)| address - start < layout.size() as u64)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests;
