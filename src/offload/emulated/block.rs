//! A block of the emulated device: its threads are fibers, which take turns on one thread of ours.
//!
//! A fiber runs until it ends or waits: at a barrier of the block, in an operation of its warp, or
//! because it has taken so many turns of loops that others should have theirs. When all wait and
//! nobody can go on, the program's threads have diverged at a barrier, which is reported. Threads
//! that have ended take part in nothing more.
//!
//! What not: no order among threads that a program could rely on.

use super::arena::{Arena, OFFSET, SHARED, TAG};
use super::check;
use crate::llvm::emulate::Place;
use crate::offload::device::{Failure, Fault};
use corosensei::stack::{Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use parking_lot::Mutex;
use std::cell::Cell;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Threads of a warp.
pub const WARP: u32 = 32;
/// Bytes of a thread's stack, its guard and reserve included.
const STACK: usize = 384 << 10;
/// Bytes at its end that nobody can touch: more than a function's variables usually take.
const GUARD: usize = 64 << 10;
/// Bytes before them that are left to our own functions: in one of them, which may hold the
/// allocator's lock, the end of the stack could not be told.
const RESERVE: usize = 64 << 10;
/// Turns of loops after which a thread lets others go on.
const TURNS: u32 = 20_000;

/// In a barrier's number: all threads come to it together.
pub const ALIGNED: u32 = 1 << 31;

/// What a launch is.
pub struct Grid<'a> {
    /// The kernel: takes its arguments from an array of words.
    pub kernel: usize,
    /// The arguments.
    pub args: &'a [u64],
    /// Blocks in each direction.
    pub blocks: [u32; 3],
    /// Threads of a block in each direction.
    pub threads: [u32; 3],
    /// Bytes of a block's memory.
    pub shared: u64,
    /// Bytes of it that the launch asked for.
    pub dynamic: u32,
    /// The device's memory.
    pub arena: &'a Arena,
    /// What the numbers of places mean.
    pub places: &'a [Place],
    /// Addresses of the device's functions, sorted.
    pub functions: &'a [usize],
    /// When the launch must have ended.
    pub deadline: Option<Instant>,
    /// True if the program requires that devices reach the host's memory.
    pub unified: bool,
    /// Set when one block failed: the others stop.
    pub stop: AtomicBool,
    /// The first failure.
    pub failure: Mutex<Option<Failure>>,
}

impl Grid<'_> {
    /// Notes a failure, of which the first counts, and stops all blocks.
    pub fn fail(&self, failure: Failure) {
        self.failure.lock().get_or_insert(failure);
        self.stop.store(true, Ordering::Release);
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It can go on.
    Ready,
    /// All threads of the block, or so many, at the barrier with that number.
    Barrier {
        /// The barrier.
        number: u32,
        /// Threads that meet there; 0: all.
        count: u32,
    },
    /// The lanes of the mask in the same operation.
    Warp {
        /// Which operation.
        kind: u32,
        /// Which lanes.
        mask: u32,
    },
    /// It has ended.
    Done,
}

/// Why a fiber hands back.
enum Pause {
    Waits,
    Failed,
}

type Fiber = Coroutine<(), Pause, (), Area>;

/// Threads that wait in the same state.
#[derive(Clone, Copy)]
struct Meeting {
    state: State,
    /// Their warp, or [`ANY_WARP`].
    warp: u32,
    there: u32,
}

/// Of a meeting of the whole block.
const ANY_WARP: u32 = u32::MAX;

/// The lanes of each warp of a block with so many threads.
fn lanes(threads: u32) -> Vec<u32> {
    let warps = threads.div_ceil(WARP);
    let of = |w: u32| (threads - w * WARP).min(WARP);
    (0..warps).map(|w| u32::MAX >> (WARP - of(w))).collect()
}

struct Thread {
    state: State,
    fiber: Option<Fiber>,
    yielder: *const Yielder<(), Pause>,
    /// What it brings into an operation of its warp.
    value: u64,
    /// What comes out.
    result: u64,
    stack: (usize, usize),
}

/// A stack, kept for the next thread when its own has ended.
struct Area {
    low: usize,
}

impl Area {
    fn new() -> Option<Area> {
        // SAFETY: a new mapping, whose lowest pages are then made inaccessible.
        unsafe {
            let at = libc::mmap(
                null_mut(),
                STACK,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
                -1,
                0,
            );
            if at == libc::MAP_FAILED {
                return None;
            }
            libc::mprotect(at, GUARD, libc::PROT_NONE);
            Some(Area { low: at as usize })
        }
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`; nobody runs on it.
        unsafe { libc::munmap(self.low as *mut libc::c_void, STACK) };
    }
}

// SAFETY: the area is this large, with pages without access at its lower end.
unsafe impl Stack for Area {
    fn base(&self) -> StackPointer {
        NonZeroUsize::new(self.low + STACK).unwrap_or(NonZeroUsize::MAX)
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.low).unwrap_or(NonZeroUsize::MAX)
    }
}

thread_local! {
    static CURRENT: Cell<*mut Block<'static>> = const { Cell::new(null_mut()) };
    static STACKS: std::cell::RefCell<Vec<Area>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// A block that is being executed on this thread.
pub struct Block<'a> {
    /// The launch it belongs to.
    pub grid: &'a Grid<'a>,
    /// Which block.
    pub index: [u32; 3],
    /// Its own memory.
    pub shared: Vec<u128>,
    threads: Vec<Thread>,
    ready: VecDeque<u32>,
    /// Where threads wait for others.
    meetings: Vec<Meeting>,
    /// Room for those whose meeting is over.
    waiting: Vec<u32>,
    current: u32,
    live: u32,
    /// The lanes of each warp that have not ended.
    alive: Vec<u32>,
    turns: u32,
    failed: bool,
}

/// The block that device code called from.
///
/// # Safety
/// Only from functions that device code calls; the reference ends before the fiber waits.
pub unsafe fn current<'a>() -> &'a mut Block<'static> {
    // SAFETY: set while a block runs on this thread, which alone uses it.
    unsafe { &mut *CURRENT.get() }
}

/// Runs one block.
pub fn run(grid: &Grid<'_>, index: [u32; 3]) {
    let count = grid.threads.iter().product::<u32>();
    let mut block = Block {
        grid,
        index,
        shared: vec![0; (grid.shared as usize).div_ceil(16)],
        threads: Vec::with_capacity(count as usize),
        ready: (0..count).collect(),
        meetings: Vec::new(),
        waiting: Vec::new(),
        current: 0,
        live: count,
        alive: lanes(count),
        turns: TURNS,
        failed: false,
    };
    for _ in 0..count {
        block.threads.push(Thread {
            state: State::Ready,
            fiber: None,
            yielder: std::ptr::null(),
            value: 0,
            result: 0,
            stack: (0, 0),
        });
    }
    let this = &raw mut block;
    let outer = CURRENT.replace(this.cast());
    // SAFETY: device code reaches the block by the same pointer, on this thread alone; no
    // reference to it lasts while a fiber runs.
    unsafe { go(this) };
    CURRENT.set(outer);
}

/// Runs a block's threads until all have ended.
///
/// # Safety
/// The block is this thread's current one; nobody holds a reference to it.
unsafe fn go(this: *mut Block<'_>) {
    // SAFETY: the caller's contract; references end before a fiber is resumed.
    unsafe {
        while let Some(n) = (*this).next() {
            (*this).current = n;
            resume(this, n);
        }
        (*this).finish();
    }
}

/// Lets a thread go on.
///
/// # Safety
/// As for [`go`].
unsafe fn resume(this: *mut Block<'_>, n: u32) {
    // SAFETY: as in `go`: each reference is made anew and ends at once.
    unsafe {
        let Some(mut fiber) = (*this).fiber(n) else {
            return;
        };
        let end = fiber.resume(());
        (*this).paused(n, fiber, end);
    }
}

impl Block<'_> {
    /// The next thread that can go on.
    fn next(&mut self) -> Option<u32> {
        if self.grid.stop.load(Ordering::Acquire) {
            self.failed = true;
        }
        if self.failed {
            return None;
        }
        self.ready.pop_front()
    }

    /// Takes the stacks back, and looks whether all threads have ended.
    fn finish(&mut self) {
        if !self.failed && self.live > 0 {
            let fault = self.diverged();
            self.grid.fail(Failure::Fault(Box::new(fault)));
            self.failed = true;
        }
        for thread in &mut self.threads {
            if let Some(mut fiber) = thread.fiber.take() {
                // SAFETY: what runs on it is device code and our functions under it, which hold
                // nothing to be dropped while they wait.
                unsafe { fiber.force_reset() };
                STACKS.with_borrow_mut(|s| s.push(fiber.into_stack()));
            }
        }
    }

    /// The fiber of a thread, made when it first runs.
    fn fiber(&mut self, n: u32) -> Option<Fiber> {
        let thread = &mut self.threads[n as usize];
        if let Some(fiber) = thread.fiber.take() {
            return Some(fiber);
        }
        let kept = STACKS.with_borrow_mut(Vec::pop);
        let Some(area) = kept.or_else(Area::new) else {
            self.grid
                .fail(Failure::Lost("no memory for the threads' stacks".into()));
            self.failed = true;
            return None;
        };
        thread.stack = (area.low + GUARD, area.low + STACK);
        let (kernel, args) = (self.grid.kernel, self.grid.args.as_ptr() as usize);
        let run = move |yielder: &Yielder<(), Pause>, ()| {
            // SAFETY: the wrapper that was made for the kernel, with its words.
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

    fn paused(&mut self, n: u32, fiber: Fiber, end: CoroutineResult<Pause, ()>) {
        match end {
            CoroutineResult::Yield(why) => {
                self.threads[n as usize].fiber = Some(fiber);
                self.failed |= matches!(why, Pause::Failed);
            }
            CoroutineResult::Return(()) => {
                STACKS.with_borrow_mut(|s| s.push(fiber.into_stack()));
                self.ended(n);
            }
        }
    }

    /// What the threads do that cannot go on.
    fn diverged(&self) -> Fault {
        let mut parts: Vec<String> = Vec::new();
        let mut from = 0;
        while from < self.threads.len() {
            let state = self.threads[from].state;
            let mut to = from;
            while to + 1 < self.threads.len() && self.threads[to + 1].state == state {
                to += 1;
            }
            let what = match state {
                State::Ready => "can go on".to_owned(),
                State::Barrier { number, count: 0 } if number & ALIGNED != 0 => {
                    "wait at the end of the region, or at a barrier of all".to_owned()
                }
                State::Barrier { count: 0, .. } => "wait at a barrier".to_owned(),
                State::Barrier { count, .. } => format!("wait at a barrier for {count} threads"),
                State::Warp { mask, .. } => format!("wait for the lanes {mask:#010x} of the warp"),
                State::Done => "have ended".to_owned(),
            };
            parts.push(format!("threads {from} to {to} {what}"));
            from = to + 1;
        }
        parts.truncate(6);
        Fault {
            what: format!(
                "the threads of a block wait for each other in different places: {}",
                parts.join(", ")
            ),
            place: None,
            thread: Some((self.number(), 0)),
            help: Some("a barrier that not all threads of the team reach?".into()),
        }
    }

    /// The block's number in its grid.
    pub fn number(&self) -> u32 {
        let [x, y, z] = self.index;
        let [w, h, _] = self.grid.blocks;
        x + w * (y + h * z)
    }

    /// The calling thread's number in its block.
    pub fn thread(&self) -> u32 {
        self.current
    }

    /// Lowest and highest address of the calling thread's stack.
    pub fn stack(&self) -> (usize, usize) {
        self.threads[self.current as usize].stack
    }

    /// Where an address in the block's own memory lies.
    pub fn shared_at(&mut self, address: u64, size: u64) -> Option<*mut u8> {
        if address & !OFFSET != TAG | SHARED {
            return None;
        }
        let at = address & OFFSET;
        if at.checked_add(size)? > self.grid.shared {
            return None;
        }
        // SAFETY: within the vector.
        Some(unsafe { self.shared.as_mut_ptr().cast::<u8>().add(at as usize) })
    }

    /// Another thread waits in `state`; when everybody is there, all of them can go on.
    fn arrive(&mut self, n: u32, state: State) {
        let warp = match state {
            State::Warp { .. } => n / WARP,
            _ => ANY_WARP,
        };
        let known = self
            .meetings
            .iter()
            .position(|m| (m.state, m.warp) == (state, warp));
        let at = known.unwrap_or_else(|| {
            let (state, there) = (state, 0);
            self.meetings.push(Meeting { state, warp, there });
            self.meetings.len() - 1
        });
        self.meetings[at].there += 1;
        self.meet(at);
    }

    /// Whether everybody is there; then the meeting is over.
    fn meet(&mut self, at: usize) -> bool {
        let Meeting { state, warp, there } = self.meetings[at];
        let wanted = match state {
            State::Barrier { count: 0, .. } => self.live,
            State::Barrier { count, .. } => count,
            State::Warp { mask, .. } => (mask & self.alive[warp as usize]).count_ones(),
            _ => return false,
        };
        if there < wanted {
            return false;
        }
        self.meetings.swap_remove(at);
        let all = self.threads.len() as u32;
        let range = match state {
            State::Warp { .. } => warp * WARP..(warp * WARP + WARP).min(all),
            _ => 0..all,
        };
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.extend(range.filter(|&n| self.threads[n as usize].state == state));
        if let State::Warp { kind, mask } = state {
            self.compute(&waiting, kind, mask);
        }
        for n in waiting.drain(..) {
            self.threads[n as usize].state = State::Ready;
            self.ready.push_back(n);
        }
        self.waiting = waiting;
        true
    }

    /// A thread has ended: those that waited for it too may go on.
    fn ended(&mut self, n: u32) {
        self.threads[n as usize].state = State::Done;
        self.live -= 1;
        self.alive[(n / WARP) as usize] &= !(1 << (n % WARP));
        let mut at = 0;
        while at < self.meetings.len() {
            let warp = self.meetings[at].warp;
            let concerned = warp == ANY_WARP || warp == n / WARP;
            if !(concerned && self.meet(at)) {
                at += 1;
            }
        }
    }

    /// What an operation of a warp gives each of its lanes.
    fn compute(&mut self, lanes: &[u32], kind: u32, mask: u32) {
        let values: Vec<(u32, u64)> = lanes
            .iter()
            .map(|&n| (n % WARP, self.threads[n as usize].value))
            .collect();
        for &n in lanes {
            let own = self.threads[n as usize].value;
            self.threads[n as usize].result =
                super::warp::result(kind, mask, n % WARP, own, &values);
        }
    }
}

/// The calling thread waits in `state`; what comes out for it.
///
/// # Safety
/// Called by device code.
pub unsafe fn wait(state: State, value: u64) -> u64 {
    // SAFETY: the caller's contract; the references end before the fiber is left.
    unsafe {
        let block = current();
        let n = block.current;
        let thread = &mut block.threads[n as usize];
        thread.state = state;
        thread.value = value;
        let yielder = thread.yielder;
        block.arrive(n, state);
        pause(yielder, Pause::Waits);
        let block = current();
        block.threads[n as usize].result
    }
}

/// # Safety
/// As for [`wait`]; the yielder is the calling fiber's.
unsafe fn pause(yielder: *const Yielder<(), Pause>, why: Pause) {
    // SAFETY: it lives in a frame of the fiber that calls.
    unsafe { (*yielder).suspend(why) };
}

/// The calling thread cannot go on: the launch has failed. It does not return.
///
/// # Safety
/// Called by device code.
pub unsafe fn fail(failure: Failure) {
    // SAFETY: as in `wait`.
    unsafe {
        let block = current();
        block.grid.fail(failure);
        let yielder = block.threads[block.current as usize].yielder;
        loop {
            pause(yielder, Pause::Failed);
        }
    }
}

/// Where signals are handled on a thread that executes blocks, whose own stacks may be used up.
pub struct SignalStack(*mut libc::c_void);

impl SignalStack {
    const SIZE: usize = 64 << 10;

    /// For the calling thread; without memory there is none.
    pub fn new() -> SignalStack {
        // SAFETY: a new mapping that becomes this thread's.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let at = libc::mmap(null_mut(), Self::SIZE, access, flags, -1, 0);
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
        // SAFETY: the mapping of `new`, of which no handler runs; the thread goes without from here.
        unsafe {
            let mut stack: libc::stack_t = std::mem::zeroed();
            stack.ss_flags = libc::SS_DISABLE;
            libc::sigaltstack(&stack, null_mut());
            libc::munmap(self.0, Self::SIZE);
        }
    }
}

/// A signal handler's question: a fault at that address while a block is executed here. Accesses are
/// checked before they are made, so it is the end of the stack of a thread of the block, in a function
/// with variables so large that [`enter`] was not reached.
pub fn fault(signal: i32, address: usize) {
    if CURRENT.get().is_null() || signal != libc::SIGSEGV {
        return;
    }
    // SAFETY: a block runs here; the fiber that runs has faulted and holds no reference to it.
    unsafe {
        let (low, _) = current().stack();
        if !(low.saturating_sub(GUARD)..low).contains(&address) {
            return;
        }
        // The handler is left by the fiber's last switch.
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, null_mut());
        fail(used_up(0));
    }
}

fn used_up(place: u64) -> Failure {
    let help = "a function that calls itself without end, or large variables?";
    let bytes = STACK - GUARD - RESERVE;
    let what = format!("the stack of a thread, {bytes} bytes, is used up");
    check::fault(place, what, Some(help.into()))
}

/// Called where a function of the device begins.
pub extern "C" fn enter(place: u64) {
    let here = 0u8;
    let at = &raw const here as usize;
    // SAFETY: called by device code.
    unsafe {
        let (low, _) = current().stack();
        if at < low + RESERVE {
            fail(used_up(place));
        }
    }
}

/// The calling thread has ended before its kernel returned.
///
/// # Safety
/// Called by device code.
pub unsafe fn exit() {
    // SAFETY: as in `wait`.
    unsafe {
        let block = current();
        let n = block.current;
        block.ended(n);
        let yielder = block.threads[n as usize].yielder;
        loop {
            pause(yielder, Pause::Waits);
        }
    }
}

/// Counts a turn of a loop.
pub extern "C" fn tick() {
    // SAFETY: called by device code.
    let block = unsafe { current() };
    if block.turns > 0 {
        block.turns -= 1;
        return;
    }
    block.turns = TURNS;
    let late = block.grid.deadline.is_some_and(|d| Instant::now() > d);
    // SAFETY: called by device code.
    unsafe {
        if late {
            let fault = check::fault(
                0,
                "the region did not end in the time that OMPVM_TARGET_TIMEOUT gives".into(),
                None,
            );
            fail(fault);
        }
        yield_now();
    }
}

/// Lets other threads of the block go on.
///
/// # Safety
/// Called by device code.
pub unsafe fn yield_now() {
    // SAFETY: as in `wait`.
    unsafe {
        let block = current();
        if block.ready.is_empty() && !block.grid.stop.load(Ordering::Acquire) {
            return;
        }
        let n = block.current;
        block.ready.push_back(n);
        let yielder = block.threads[n as usize].yielder;
        pause(yielder, Pause::Waits);
    }
}
