//! The threads that execute blocks of launches.
//!
//! A launch is a list of blocks, of which idle threads take one after the other. Launches are
//! executed in the order in which they began, and threads that find no block of the first take
//! those of the next. A thread waits a while for the next launch before it sleeps, since regions
//! often follow each other.
//!
//! Blocks never run on the guest's threads, whose stacks and signals belong to the guest.

use crate::emulated::block::SignalStack;
use crate::locals::LOCALS;
use omp_abi::League;
use ompvm_llvm::processors::LoadedCode;
use ompvm_memory::internal_thread;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Niceness of threads that yield to others.
const LOWEST_PRIORITY: libc::c_int = 19;

/// Time that a thread looks for work before it sleeps.
const LOOKING: Duration = Duration::from_micros(50);

/// Bytes of a cache line.
const LINE: usize = 64;

/// Returns the memory of the calling thread's block; device code calls it.
pub(super) extern "C" fn current_block() -> *mut u8 {
    LOCALS.with(|locals| locals.processor_block.get())
}

/// A launch of a kernel.
#[derive(Debug)]
pub(super) struct Job {
    /// Name of the kernel.
    pub name: &'static str,
    /// Code of the kernel.
    pub kernel: extern "C" fn(*const u64),
    /// Memory that has the code.
    _image: Arc<LoadedCode>,
    /// Argument words.
    pub args: Vec<u64>,
    /// Memory to which the words lead, which lives as long as the launch.
    pub owned: Vec<Vec<u64>>,
    /// The shares of the blocks.
    pub shares: Vec<League>,
    /// Bytes of the memory of each block.
    pub block_bytes: usize,
    /// Number of blocks that threads have taken.
    taken: AtomicU32,
    /// Number of blocks that are complete.
    complete: AtomicU32,
    /// When it began, and how many nanoseconds after that it was complete.
    begun: Instant,
    nanoseconds: AtomicU64,
}

impl Job {
    /// Creates a launch without memory of its own.
    pub(super) fn new(
        name: &'static str,
        kernel: extern "C" fn(*const u64),
        image: Arc<LoadedCode>,
        args: Vec<u64>,
        shares: Vec<League>,
        block_bytes: usize,
    ) -> Job {
        Job {
            name,
            kernel,
            _image: image,
            args,
            owned: Vec::new(),
            shares,
            block_bytes,
            taken: AtomicU32::new(0),
            complete: AtomicU32::new(0),
            begun: Instant::now(),
            nanoseconds: AtomicU64::new(0),
        }
    }

    /// Returns the time that a complete launch took.
    pub(super) fn time(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Acquire))
    }

    fn blocks(&self) -> u32 {
        self.shares.len() as u32
    }

    /// Takes the next block.
    fn take(&self) -> Option<u32> {
        let block = self.taken.fetch_add(1, Ordering::Relaxed);
        (block < self.blocks()).then_some(block)
    }

    /// Returns true if all blocks were executed.
    pub(super) fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire) == self.blocks()
    }
}

/// State that the threads share.
#[derive(Debug, Default)]
struct Shared {
    /// Launches that may have blocks which nobody has taken.
    open: Mutex<VecDeque<Arc<Job>>>,
    /// Number of launches that began.
    begun: AtomicU64,
    /// True if other work of the process comes first.
    yields: AtomicBool,
    /// Signaled at a launch, and when the threads end.
    work: Condvar,
    /// Held by those who wait for the end of a launch, which signals `done`.
    waiting: Mutex<()>,
    done: Condvar,
    end: AtomicBool,
}

/// A team of threads, which start at the first launch.
#[derive(Debug)]
pub(super) struct Workers {
    count: u32,
    shared: Arc<Shared>,
    /// The process whose threads they are, once they are started; 0 before.
    process: Mutex<u32>,
}

impl Workers {
    /// Creates a team of `count` threads.
    pub(super) fn new(count: u32) -> Workers {
        Workers {
            count,
            shared: Arc::default(),
            process: Mutex::new(0),
        }
    }

    /// Returns the number of threads.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Gives the threads a low priority. Has an effect before they start.
    pub(super) fn yield_to_others(&self) {
        self.shared.yields.store(true, Ordering::Release);
    }

    /// Starts the threads, of which the system may grant fewer.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(super) fn start(&self) -> Result<(), String> {
        let mut process = self.process.lock();
        let own = std::process::id();
        match *process {
            0 => {}
            known if known == own => return Ok(()),
            _ => return Err("a child process has no threads of the device".into()),
        }
        let mut started = 0;
        for _ in 0..self.count {
            let shared = Arc::clone(&self.shared);
            let thread = internal_thread::spawn(c"ompvm blocks", move || shared.work());
            started += u32::from(thread.is_some());
        }
        if started == 0 {
            return Err("the system has no more threads".into());
        }
        *process = own;
        Ok(())
    }

    /// Begins a launch.
    pub(super) fn begin(&self, job: &Arc<Job>) {
        self.shared.open.lock().push_back(Arc::clone(job));
        self.shared.begun.fetch_add(1, Ordering::Release);
        self.shared.work.notify_all();
    }

    /// Waits for the end of a launch.
    pub(super) fn wait(&self, job: &Job) {
        let since = Instant::now();
        while !job.is_complete() {
            if since.elapsed() < LOOKING {
                // The caller has a processor beside the threads only if there are enough.
                std::thread::yield_now();
                continue;
            }
            let mut waiting = self.shared.waiting.lock();
            if !job.is_complete() {
                self.shared.done.wait(&mut waiting);
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let _open = self.shared.open.lock();
        self.shared.end.store(true, Ordering::Release);
        self.shared.work.notify_all();
    }
}

impl Shared {
    /// Executes blocks until the end.
    fn work(&self) {
        let _signals = SignalStack::new();
        if self.yields.load(Ordering::Acquire) {
            // SAFETY: `setpriority` takes plain values and changes only this thread's priority; a
            // failure leaves it as it is.
            unsafe {
                libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as u32, LOWEST_PRIORITY)
            };
        }
        let mut memory = BlockMemory::default();
        loop {
            match self.job() {
                Some(job) => self.execute(&job, &mut memory),
                None => return,
            }
        }
    }

    /// Waits for a launch with blocks that nobody has taken; `None` at the end.
    fn job(&self) -> Option<Arc<Job>> {
        let mut idle: Option<Instant> = None;
        loop {
            let known = self.begun.load(Ordering::Acquire);
            let mut open = self.open.lock();
            while let Some(first) = open.front() {
                if first.taken.load(Ordering::Relaxed) < first.blocks() {
                    return Some(Arc::clone(first));
                }
                open.pop_front();
            }
            if self.end.load(Ordering::Acquire) {
                return None;
            }
            let since = *idle.get_or_insert_with(Instant::now);
            if since.elapsed() >= LOOKING {
                self.work.wait(&mut open);
                idle = None;
                continue;
            }
            drop(open);
            while self.begun.load(Ordering::Acquire) == known && since.elapsed() < LOOKING {
                std::thread::yield_now();
            }
        }
    }

    fn execute(&self, job: &Job, memory: &mut BlockMemory) {
        while let Some(block) = job.take() {
            let at = memory.of(job.block_bytes);
            // SAFETY: the memory has room for the share, with which it begins.
            unsafe { at.cast::<League>().write(job.shares[block as usize]) };
            LOCALS.with(|locals| {
                locals.processor_block.set(at);
                locals.processor_kernel.set(job.name);
            });
            (job.kernel)(job.args.as_ptr());
            LOCALS.with(|locals| locals.processor_kernel.set(""));
            let time = job.begun.elapsed().as_nanos() as u64;
            job.nanoseconds.fetch_max(time, Ordering::Release);
            if job.complete.fetch_add(1, Ordering::AcqRel) + 1 == job.blocks() {
                let _waiting = self.waiting.lock();
                self.done.notify_all();
            }
        }
    }
}

/// A thread's memory for its blocks.
#[derive(Debug, Default)]
struct BlockMemory(Vec<u8>);

impl BlockMemory {
    /// Returns memory of at least that size, which begins with a cache line.
    fn of(&mut self, bytes: usize) -> *mut u8 {
        let bytes = bytes.max(size_of::<League>()) + LINE;
        if self.0.len() < bytes {
            self.0.resize(bytes, 0);
        }
        let at = self.0.as_mut_ptr();
        // SAFETY: the memory has a line more than was asked for.
        unsafe { at.add(at.align_offset(LINE)) }
    }
}
