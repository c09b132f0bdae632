//! Executes a block of the emulated device: its threads are fibers that one host thread schedules.
//!
//! A fiber runs until it ends or yields: at a barrier of the block, in a warp operation, or after a
//! number of loop iterations, for fairness. If every fiber waits and none can proceed, the
//! program's threads have diverged at a barrier, which is reported. Threads that have ended no
//! longer take part in barriers and warp operations.
//!
//! The schedule gives no guarantees beyond those of a GPU.

use super::arena::{Arena, OFFSET, SHARED_TAG, TAG};
use super::check;
use super::stacks::{FiberStack, GUARD_BYTES, STACK_BYTES, StackPool};
use crate::device::{Failure, Fault};
use crate::locals::LOCALS;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use ompvm_llvm::emulate::SourceLocation;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Number of threads in a warp.
pub const WARP_SIZE: u32 = omp_abi::limit::WARP_SIZE;
/// Bytes above the guard that are reserved for built-in functions. A stack overflow in one of those
/// could not be reported, since it may hold the allocator's lock.
const RESERVE_BYTES: usize = 64 << 10;
/// Loop iterations after which a thread yields.
const YIELD_INTERVAL: u32 = 20_000;

/// Flag in a barrier number: all threads execute this barrier together (`.aligned`).
pub const ALIGNED: u32 = 1 << 31;

/// A kernel launch.
pub struct Grid<'a> {
    /// Address of the kernel's wrapper, which takes its arguments from an array of words.
    pub kernel: usize,
    /// Argument words.
    pub args: &'a [u64],
    /// Blocks per dimension.
    pub blocks: [u32; 3],
    /// Threads of a block per dimension.
    pub threads: [u32; 3],
    /// Bytes of shared memory per block.
    pub shared: u64,
    /// Bytes of dynamic shared memory.
    pub dynamic: u32,
    /// Stacks for its threads.
    pub stacks: &'a StackPool,
    /// Memory of the device.
    pub arena: &'a Arena,
    /// Memories of the other devices of its group.
    pub peers: &'a [Arc<Arena>],
    /// Source locations, by the index that device code passes.
    pub places: &'a [SourceLocation],
    /// Sorted addresses of the device functions.
    pub functions: &'a [usize],
    /// Time at which the launch is aborted.
    pub deadline: Option<Instant>,
    /// True if a program requires that devices access all host memory.
    pub unified: bool,
    /// Set when a block fails, which stops the others.
    pub stop: AtomicBool,
    /// First failure.
    pub failure: Mutex<Option<Failure>>,
}

impl Grid<'_> {
    /// Records the first failure and stops all blocks.
    pub fn fail(&self, failure: Failure) {
        self.failure.lock().get_or_insert(failure);
        self.stop.store(true, Ordering::Release);
    }
}

/// Scheduling state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// Runnable.
    Ready,
    /// Waits at a barrier for all threads of the block or for a given number.
    Barrier {
        /// Barrier number, with [`ALIGNED`] if set.
        number: u32,
        /// Number of participating threads; 0 means all.
        count: u32,
    },
    /// Waits in a warp operation for the lanes of the mask.
    Warp {
        /// Operation, an [`WarpOp`](super::warp::WarpOp).
        kind: u32,
        /// Participating lanes.
        mask: u32,
    },
    /// Ended.
    Done,
}

/// Reason why a fiber yields.
enum YieldReason {
    Waits,
    Failed,
}

type Fiber = Coroutine<(), YieldReason, (), FiberStack>;

/// A barrier or warp operation with waiting threads.
#[derive(Clone, Copy)]
struct Rendezvous {
    state: ThreadState,
    /// Warp of the threads, or [`WHOLE_BLOCK`].
    warp: u32,
    arrived: u32,
}

/// Marks a barrier of the whole block.
const WHOLE_BLOCK: u32 = u32::MAX;

/// Returns the lane mask of each warp in a block of `threads` threads.
fn lanes(threads: u32) -> Vec<u32> {
    let warps = threads.div_ceil(WARP_SIZE);
    let of = |w: u32| (threads - w * WARP_SIZE).min(WARP_SIZE);
    (0..warps)
        .map(|w| u32::MAX >> (WARP_SIZE - of(w)))
        .collect()
}

struct Thread {
    state: ThreadState,
    fiber: Option<Fiber>,
    yielder: *const Yielder<(), YieldReason>,
    /// Operand of a warp operation.
    value: u64,
    /// Result of a warp operation.
    result: u64,
    stack: (usize, usize),
}

/// Returns the block that this host thread executes; null if there is none.
fn current_or_null() -> *mut Block<'static> {
    LOCALS.with(|l| l.emulated_block.get())
}

/// A block that this host thread executes.
pub struct Block<'a> {
    /// Launch that the block belongs to.
    pub grid: &'a Grid<'a>,
    /// Index of the block.
    pub index: [u32; 3],
    /// Shared memory.
    pub shared: Vec<u128>,
    threads: Vec<Thread>,
    ready: VecDeque<u32>,
    /// Barriers and warp operations with waiting threads.
    rendezvous: Vec<Rendezvous>,
    /// Scratch buffer for threads that are released.
    waiting: Vec<u32>,
    current: u32,
    live: u32,
    /// Mask of the lanes in each warp that have not ended.
    alive: Vec<u32>,
    iterations_left: u32,
    failed: bool,
}

/// Returns the block whose device code calls.
///
/// # Safety
/// Must be called by functions that device code calls. The reference must not be used after the
/// fiber yields.
pub unsafe fn current<'a>() -> &'a mut Block<'static> {
    // SAFETY: the pointer leads to the block that this host thread runs; no other thread uses it.
    unsafe { &mut *current_or_null() }
}

/// Executes one block.
pub fn run(grid: &Grid<'_>, index: [u32; 3]) {
    let count = grid.threads.iter().product::<u32>();
    let mut block = Block {
        grid,
        index,
        shared: vec![0; (grid.shared as usize).div_ceil(16)],
        threads: Vec::with_capacity(count as usize),
        ready: (0..count).collect(),
        rendezvous: Vec::new(),
        waiting: Vec::new(),
        current: 0,
        live: count,
        alive: lanes(count),
        iterations_left: YIELD_INTERVAL,
        failed: false,
    };
    for _ in 0..count {
        block.threads.push(Thread {
            state: ThreadState::Ready,
            fiber: None,
            yielder: std::ptr::null(),
            value: 0,
            result: 0,
            stack: (0, 0),
        });
    }
    let this = &raw mut block;
    let outer = LOCALS.with(|l| l.emulated_block.replace(this.cast()));
    // SAFETY: device code reaches the block through the same pointer, on this host thread only; no
    // reference to the block exists while a fiber runs.
    unsafe { schedule(this) };
    LOCALS.with(|l| l.emulated_block.set(outer));
}

/// Schedules the threads of a block until all have ended.
///
/// # Safety
/// The block must be the current one of this host thread, and no reference to it may exist.
unsafe fn schedule(this: *mut Block<'_>) {
    // SAFETY: by this function's contract; every reference ends before a fiber is resumed.
    unsafe {
        while let Some(n) = (*this).next() {
            (*this).current = n;
            resume(this, n);
        }
        (*this).finish();
    }
}

/// Resumes a thread.
///
/// # Safety
/// As for [`schedule`].
unsafe fn resume(this: *mut Block<'_>, n: u32) {
    // SAFETY: by this function's contract; each reference is created anew and ends at once.
    unsafe {
        let Some(mut fiber) = (*this).fiber(n) else {
            return;
        };
        let end = fiber.resume(());
        (*this).handle_yield(n, fiber, end);
    }
}

impl Block<'_> {
    /// Returns the next runnable thread.
    fn next(&mut self) -> Option<u32> {
        if self.grid.stop.load(Ordering::Acquire) {
            self.failed = true;
        }
        if self.failed {
            return None;
        }
        self.ready.pop_front()
    }

    /// Reports diverged threads and recycles the stacks.
    fn finish(&mut self) {
        if !self.failed && self.live > 0 {
            let fault = self.describe_divergence();
            self.grid.fail(Failure::Fault(Box::new(fault)));
            self.failed = true;
        }
        for thread in &mut self.threads {
            if let Some(mut fiber) = thread.fiber.take() {
                // SAFETY: the fiber's frames belong to device code and to built-in functions, which
                // own nothing that needs dropping when they yield.
                unsafe { fiber.force_reset() };
                self.grid.stacks.put(fiber.into_stack());
            }
        }
    }

    /// Returns the fiber of a thread, creating it at the first call.
    fn fiber(&mut self, n: u32) -> Option<Fiber> {
        let thread = &mut self.threads[n as usize];
        if let Some(fiber) = thread.fiber.take() {
            return Some(fiber);
        }
        let Some(area) = self.grid.stacks.take() else {
            self.grid
                .fail(Failure::Lost("no memory for the threads' stacks".into()));
            self.failed = true;
            return None;
        };
        thread.stack = area.usable();
        let (kernel, args) = (self.grid.kernel, self.grid.args.as_ptr() as usize);
        let run = move |yielder: &Yielder<(), YieldReason>, ()| {
            // SAFETY: `kernel` is the wrapper that was compiled for these argument words; device
            // code runs on the current block.
            unsafe {
                let block = current();
                let n = block.current as usize;
                block.threads[n].yielder = yielder;
                let kernel = std::mem::transmute::<usize, extern "C" fn(*const u64)>(kernel);
                kernel(args as *const u64);
            }
        };
        Some(Coroutine::with_stack(area, run))
    }

    fn handle_yield(&mut self, n: u32, fiber: Fiber, end: CoroutineResult<YieldReason, ()>) {
        match end {
            CoroutineResult::Yield(why) => {
                self.threads[n as usize].fiber = Some(fiber);
                self.failed |= matches!(why, YieldReason::Failed);
            }
            CoroutineResult::Return(()) => {
                self.grid.stacks.put(fiber.into_stack());
                self.end_thread(n);
            }
        }
    }

    /// Describes the threads that wait for each other.
    fn describe_divergence(&self) -> Fault {
        let mut parts: Vec<String> = Vec::new();
        let mut from = 0;
        while from < self.threads.len() {
            let state = self.threads[from].state;
            let mut to = from;
            while to + 1 < self.threads.len() && self.threads[to + 1].state == state {
                to += 1;
            }
            let what = match state {
                ThreadState::Ready => "can run".to_owned(),
                ThreadState::Barrier { number, count: 0 } if number & ALIGNED != 0 => {
                    "wait at the end of the region, or at a barrier of all".to_owned()
                }
                ThreadState::Barrier { count: 0, .. } => "wait at a barrier".to_owned(),
                ThreadState::Barrier { count, .. } => {
                    format!("wait at a barrier for {count} threads")
                }
                ThreadState::Warp { mask, .. } => {
                    format!("wait for the lanes {mask:#010x} of the warp")
                }
                ThreadState::Done => "have ended".to_owned(),
            };
            parts.push(format!("threads {from} to {to} {what}"));
            from = to + 1;
        }
        parts.truncate(6);
        Fault {
            what: format!("the threads of a block have diverged: {}", parts.join(", ")),
            place: None,
            thread: Some((self.number(), 0)),
            help: Some("a barrier that not all threads of the team reach?".into()),
        }
    }

    /// Returns the linear index of the block in its grid.
    pub fn number(&self) -> u32 {
        let [x, y, z] = self.index;
        let [w, h, _] = self.grid.blocks;
        x + w * (y + h * z)
    }

    /// Returns the linear index of the calling thread in its block.
    pub fn thread(&self) -> u32 {
        self.current
    }

    /// Returns the bounds of the calling thread's stack.
    pub fn stack(&self) -> (usize, usize) {
        self.threads[self.current as usize].stack
    }

    /// Returns the host address of a range in shared memory.
    pub fn shared_at(&mut self, address: u64, size: u64) -> Option<*mut u8> {
        if address & !OFFSET != TAG | SHARED_TAG {
            return None;
        }
        let at = address & OFFSET;
        if at.checked_add(size)? > self.grid.shared {
            return None;
        }
        // SAFETY: the range lies within the vector, which has at least `grid.shared` bytes.
        Some(unsafe { self.shared.as_mut_ptr().cast::<u8>().add(at as usize) })
    }

    /// Makes a thread wait in `state`, and releases all waiting threads if it was the last.
    fn arrive(&mut self, n: u32, state: ThreadState) {
        let warp = match state {
            ThreadState::Warp { .. } => n / WARP_SIZE,
            _ => WHOLE_BLOCK,
        };
        let known = self
            .rendezvous
            .iter()
            .position(|m| (m.state, m.warp) == (state, warp));
        let at = known.unwrap_or_else(|| {
            let (state, arrived) = (state, 0);
            self.rendezvous.push(Rendezvous {
                state,
                warp,
                arrived,
            });
            self.rendezvous.len() - 1
        });
        self.rendezvous[at].arrived += 1;
        self.release_if_complete(at);
    }

    /// Releases the waiting threads if all participants have arrived. Returns true if so.
    fn release_if_complete(&mut self, at: usize) -> bool {
        let Rendezvous {
            state,
            warp,
            arrived,
        } = self.rendezvous[at];
        let expected = match state {
            ThreadState::Barrier { count: 0, .. } => self.live,
            ThreadState::Barrier { count, .. } => count,
            ThreadState::Warp { mask, .. } => (mask & self.alive[warp as usize]).count_ones(),
            _ => return false,
        };
        if arrived < expected {
            return false;
        }
        self.rendezvous.swap_remove(at);
        let all = self.threads.len() as u32;
        let range = match state {
            ThreadState::Warp { .. } => warp * WARP_SIZE..(warp * WARP_SIZE + WARP_SIZE).min(all),
            _ => 0..all,
        };
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.extend(range.filter(|&n| self.threads[n as usize].state == state));
        if let ThreadState::Warp { kind, mask } = state {
            self.compute_warp_results(&waiting, kind, mask);
        }
        for n in waiting.drain(..) {
            self.threads[n as usize].state = ThreadState::Ready;
            self.ready.push_back(n);
        }
        self.waiting = waiting;
        true
    }

    /// Ends a thread, which may complete barriers and warp operations of others.
    fn end_thread(&mut self, n: u32) {
        self.threads[n as usize].state = ThreadState::Done;
        self.live -= 1;
        self.alive[(n / WARP_SIZE) as usize] &= !(1 << (n % WARP_SIZE));
        let mut at = 0;
        while at < self.rendezvous.len() {
            let warp = self.rendezvous[at].warp;
            let concerned = warp == WHOLE_BLOCK || warp == n / WARP_SIZE;
            if !(concerned && self.release_if_complete(at)) {
                at += 1;
            }
        }
    }

    /// Computes the result of a warp operation for each lane.
    fn compute_warp_results(&mut self, lanes: &[u32], kind: u32, mask: u32) {
        let values: Vec<(u32, u64)> = lanes
            .iter()
            .map(|&n| (n % WARP_SIZE, self.threads[n as usize].value))
            .collect();
        for &n in lanes {
            let own = self.threads[n as usize].value;
            self.threads[n as usize].result =
                super::warp::result(kind, mask, n % WARP_SIZE, own, &values);
        }
    }
}

/// Makes the calling thread wait in `state`. Returns its result of a warp operation.
///
/// # Safety
/// Must be called by device code.
pub unsafe fn wait(state: ThreadState, value: u64) -> u64 {
    // SAFETY: by this function's contract; the references end before the fiber yields.
    unsafe {
        let block = current();
        let n = block.current;
        let thread = &mut block.threads[n as usize];
        thread.state = state;
        thread.value = value;
        let yielder = thread.yielder;
        block.arrive(n, state);
        pause(yielder, YieldReason::Waits);
        let block = current();
        block.threads[n as usize].result
    }
}

/// Yields to the scheduler.
///
/// # Safety
/// As for [`wait`]; `yielder` must be that of the calling fiber.
unsafe fn pause(yielder: *const Yielder<(), YieldReason>, why: YieldReason) {
    // SAFETY: the yielder lives in a frame of the calling fiber.
    unsafe { (*yielder).suspend(why) };
}

/// Fails the launch. The calling thread does not continue.
///
/// # Safety
/// Must be called by device code.
pub unsafe fn fail(failure: Failure) {
    // SAFETY: by this function's contract; the reference ends before the fiber yields.
    unsafe {
        let block = current();
        block.grid.fail(failure);
        let yielder = block.threads[block.current as usize].yielder;
        loop {
            pause(yielder, YieldReason::Failed);
        }
    }
}

/// Addresses of mappings that no thread uses as its signal stack. They are kept, since to unmap one
/// interrupts all processors that run the process.
static IDLE_SIGNAL_STACKS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// The alternate signal stack of a host thread that executes blocks, since fiber stacks may
/// overflow.
pub struct SignalStack(*mut libc::c_void);

impl SignalStack {
    const SIZE: usize = 64 << 10;

    /// Installs a signal stack for the calling thread, unless memory is exhausted.
    pub fn new() -> SignalStack {
        let idle = IDLE_SIGNAL_STACKS.lock().pop();
        // SAFETY: a mapping that no other thread uses becomes the signal stack of this thread.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let at = match idle {
                Some(address) => address as *mut libc::c_void,
                None => libc::mmap(null_mut(), Self::SIZE, access, flags, -1, 0),
            };
            if at == libc::MAP_FAILED {
                return SignalStack(null_mut());
            }
            let mut stack: libc::stack_t = std::mem::zeroed();
            stack.ss_sp = at;
            stack.ss_size = Self::SIZE;
            libc::sigaltstack(&stack, null_mut());
            SignalStack(at)
        }
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        if self.0.is_null() {
            return;
        }
        // SAFETY: no handler runs on the mapping of `new`; the signal stack is disabled first.
        unsafe {
            let mut stack: libc::stack_t = std::mem::zeroed();
            stack.ss_flags = libc::SS_DISABLE;
            libc::sigaltstack(&stack, null_mut());
        }
        IDLE_SIGNAL_STACKS.lock().push(self.0 as usize);
    }
}

/// Handles a fault at `address` in a signal handler. Device code checks its accesses beforehand, so
/// a bad access is a stack overflow in a function whose variables are so large that [`check_stack`]
/// was not reached; other signals come from instructions that fail by themselves.
pub fn handle_fault(signal: i32, address: usize) {
    if current_or_null().is_null() {
        return;
    }
    let failed = match signal {
        libc::SIGSEGV => None,
        libc::SIGILL => Some("the device code called `abort` or `exit`, or reached a trap"),
        libc::SIGFPE => Some("an integer division whose result does not fit"),
        _ => return,
    };
    // SAFETY: a block runs on this thread; its fiber has faulted and holds no reference to it.
    unsafe {
        let (low, _) = current().stack();
        if failed.is_none() && !(low.saturating_sub(GUARD_BYTES)..low).contains(&address) {
            return;
        }
        // The scheduler switch leaves the handler, so the signal must be unblocked here.
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, null_mut());
        fail(match failed {
            Some(what) => check::fault(0, what.to_owned(), None),
            None => stack_overflow(0),
        });
    }
}

fn stack_overflow(place: u64) -> Failure {
    let help = "unbounded recursion, or large local variables?";
    let bytes = STACK_BYTES - GUARD_BYTES - RESERVE_BYTES;
    let what = format!("stack overflow: a thread has {bytes} bytes of stack");
    check::fault(place, what, Some(help.into()))
}

/// Checks for stack overflow. Device code calls this at function entry.
pub extern "C" fn check_stack(place: u64) {
    let here = 0u8;
    let at = &raw const here as usize;
    // SAFETY: only device code calls this.
    unsafe {
        let (low, _) = current().stack();
        if at < low + RESERVE_BYTES {
            fail(stack_overflow(place));
        }
    }
}

/// Ends the calling thread before its kernel returns.
///
/// # Safety
/// Must be called by device code.
pub unsafe fn exit() {
    // SAFETY: by this function's contract; the reference ends before the fiber yields.
    unsafe {
        let block = current();
        let n = block.current;
        block.end_thread(n);
        let yielder = block.threads[n as usize].yielder;
        loop {
            pause(yielder, YieldReason::Waits);
        }
    }
}

/// Counts a loop iteration. Yields or aborts the launch from time to time.
pub extern "C" fn count_iteration() {
    // SAFETY: only device code calls this; the reference is not used after a yield.
    let block = unsafe { current() };
    if block.iterations_left > 0 {
        block.iterations_left -= 1;
        return;
    }
    block.iterations_left = YIELD_INTERVAL;
    let late = block.grid.deadline.is_some_and(|d| Instant::now() > d);
    // SAFETY: only device code calls this.
    unsafe {
        if late {
            let fault = check::fault(
                0,
                "the region exceeded the time limit of OMPVM_TARGET_TIMEOUT".into(),
                None,
            );
            fail(fault);
        }
        yield_now();
    }
}

/// Yields to other threads of the block.
///
/// # Safety
/// Must be called by device code.
pub unsafe fn yield_now() {
    // SAFETY: by this function's contract; the reference ends before the fiber yields.
    unsafe {
        let block = current();
        if block.ready.is_empty() && !block.grid.stop.load(Ordering::Acquire) {
            return;
        }
        let n = block.current;
        block.ready.push_back(n);
        let yielder = block.threads[n as usize].yielder;
        pause(yielder, YieldReason::Waits);
    }
}
