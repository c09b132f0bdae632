//! Dispatched loops: dynamic, guided, auto, runtime and ordered schedules.
//!
//! OpenMP 5.2, sections 11.5.3 (schedule clause), 15.10 (ordered).
//!
//! The threads of a team share one [`LoopBuffer`] per loop, from a ring in the team: a thread that
//! finds no iterations left may proceed to the next loop while others still work on this one. The
//! last thread to leave a loop resets its buffer for the loop one round later.
//!
//! Dynamic schedules that need not be monotonic use no shared counter: each thread starts with an
//! even range of the chunks, and steals half of another thread's rest when its own is empty. A
//! range is one word, `(next + 1) << 32 | (end + 1)`; 0 stands for the range that a thread starts
//! with, so that a late thread's chunks can be stolen before it arrives.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crossbeam::utils::CachePadded;

use crate::doacross::PostedIterations;
use crate::icv::{SCHEDULE_MONOTONIC, TRAPEZOIDAL};
use crate::ident::Ident;
use crate::iteration::{Iteration, balanced, trip_count, value};
use crate::ordered_tickets::{OrderedTickets, TicketView};
use crate::task;
use crate::team::{LOOP_BUFFERS, Team};
use crate::thread::{Thread, by_number};
use crate::waits::Construct;
use omp_abi::schedule as kind;
use ompvm_support::fp_env::isolated;

/// State of one loop that the threads of a team share.
#[derive(Debug)]
pub struct LoopBuffer {
    /// Number (within the region) of the loop that may use the buffer now. Release when the last
    /// thread leaves, Acquire when a thread arrives.
    turn: AtomicU64,
    /// Number of threads that have left the loop.
    left: AtomicU32,
    /// The first chunk (or iteration) not handed out. Relaxed: it only numbers work.
    next: CachePadded<AtomicU64>,
    /// Ordered tickets of the loop.
    tickets: OrderedTickets,
    /// Posted iterations of a doacross nest, which has a buffer for this alone.
    posted: PostedIterations,
}

impl LoopBuffer {
    /// Creates a buffer for loop number `turn`.
    pub fn new(turn: u32) -> Self {
        Self {
            turn: AtomicU64::new(turn as u64),
            left: AtomicU32::new(0),
            next: CachePadded::new(AtomicU64::new(0)),
            tickets: OrderedTickets::default(),
            posted: PostedIterations::default(),
        }
    }

    /// Resets the buffer for loop number `turn`.
    pub fn reset(&self, turn: u32) {
        self.turn.store(turn as u64, Ordering::Relaxed);
        self.left.store(0, Ordering::Relaxed);
        self.next.store(0, Ordering::Relaxed);
        self.posted.clear();
    }

    /// Resets the tickets of a loop that was left before its end.
    pub fn reset_tickets(&self) {
        self.tickets.reset();
    }
}

/// Division of a loop into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkPlan {
    /// One share per thread.
    Balanced,
    /// Chunks assigned round robin.
    RoundRobin,
    /// Chunks taken in turn.
    Dynamic,
    /// Chunks from the thread's own range, then from other threads'.
    Stealing,
    /// Chunks that shrink with the remaining iterations.
    Guided,
    /// Chunks that shrink linearly.
    Trapezoid,
}

/// Guided chunks in closed form, so that a chunk costs one addition on the shared counter: while
/// they shrink, chunk k starts where `1 - (1 - 1 / 2n)^k` of the loop is handed out.
///
/// All threads must compute the same starts, although the guest may have set a different rounding
/// mode on each. So the computation is isolated from the guest's floating-point environment.
#[derive(Clone, Copy, Debug, Default)]
struct Guided {
    /// Fraction of the rest that each chunk leaves: `1 - 1 / 2n`.
    keep: f64,
    /// Number of shrinking chunks; later ones have the schedule's chunk size.
    shrinking: u64,
    /// Start of the first chunk that does not shrink.
    tail: u64,
}

impl Guided {
    fn new(trip: u64, chunk: u64, threads: u64) -> Self {
        isolated(&(trip, chunk, threads), |&(trip, chunk, threads)| {
            Self::computed(trip, chunk, threads)
        })
    }

    fn computed(trip: u64, chunk: u64, threads: u64) -> Self {
        let keep = 1.0 - 0.5 / threads as f64;
        // From 2^40 iterations on rounding could disturb the order of starts, so the caller makes
        // all chunks equal.
        let smallest = (chunk + 1) as f64 * 2.0 * threads as f64;
        let shrinking = if trip < 1 << 40 && (trip as f64) > smallest {
            ((smallest / trip as f64).ln() / keep.ln()) as u64
        } else {
            0
        };
        let mut guided = Self {
            keep,
            shrinking,
            tail: 0,
        };
        guided.tail = guided.shrunk_here(trip, shrinking);
        guided
    }

    fn shrunk(&self, trip: u64, index: u64) -> u64 {
        isolated(&(*self, trip, index), |(guided, trip, index)| {
            guided.shrunk_here(*trip, *index)
        })
    }

    fn shrunk_here(&self, trip: u64, index: u64) -> u64 {
        trip - (trip as f64 * self.keep.powi(index as i32)) as u64
    }

    /// Returns the first iteration of chunk `index`; `trip` or more is the end.
    fn start(&self, trip: u64, chunk: u64, index: u64) -> u64 {
        if index < self.shrinking {
            return self.shrunk(trip, index);
        }
        (index - self.shrinking)
            .saturating_mul(chunk)
            .saturating_add(self.tail)
            .min(trip)
    }
}

/// A thread's view of the dispatched loop that it executes.
#[derive(Clone, Copy, Debug)]
pub struct LoopState {
    plan: ChunkPlan,
    lower: u64,
    step: i64,
    /// Number of units to share out.
    trip: u64,
    /// Iterations per unit: 1, or the width of a vector under `schedule(simd: ..)`.
    unit: u64,
    /// Number of iterations.
    total: u64,
    /// Units per chunk.
    chunk: u64,
    /// Number of chunks that this thread has taken (static plans), or 1 after the end.
    taken: u64,
    /// Number of the loop in the region.
    number: u32,
    ordered: bool,
    finished: bool,
    /// True if this thread has executed the last chunk of a stealing loop.
    had_last: bool,
    /// First iteration of the current chunk.
    first: u64,
    /// The iteration after the current chunk.
    end: u64,
    /// The iteration whose ordered part is next, of an ordered loop.
    turn: u64,
    tickets: TicketView,
    /// True if the current iteration has executed its ordered region.
    bumped: bool,
    /// Stealing: number of chunks in the threads' ranges, all but the last (see `take_last`).
    ranged_chunks: u64,
    guided: Guided,
    /// Trapezoid: length of the first chunk, and the difference between consecutive lengths.
    slope: (u64, u64),
}

impl Default for LoopState {
    fn default() -> Self {
        Self {
            plan: ChunkPlan::Balanced,
            lower: 0,
            step: 1,
            unit: 1,
            total: 0,
            trip: 0,
            chunk: 1,
            taken: 0,
            number: 0,
            ordered: false,
            finished: true,
            had_last: false,
            first: 0,
            end: 0,
            turn: 0,
            tickets: TicketView::default(),
            bumped: false,
            ranged_chunks: 0,
            guided: Guided::default(),
            slope: (0, 0),
        }
    }
}

#[expect(clippy::mut_from_ref, reason = "a cell of the calling thread's own")]
fn state(thread: &Thread) -> &mut LoopState {
    // SAFETY: only the thread itself accesses its loop state, in one call at a time.
    unsafe { &mut *thread.local().current_loop.get() }
}

fn buffer(team: &Team, number: u32) -> &LoopBuffer {
    &team.buffers[number as usize % LOOP_BUFFERS]
}

/// Resolves a schedule kind to (plan, units per chunk, iterations per unit, ordered).
fn resolve(schedule: i32, chunk: i64, thread: &Thread) -> (ChunkPlan, u64, u64, bool) {
    let mut kind = schedule & !(kind::MONOTONIC | kind::NONMONOTONIC);
    if kind > kind::NO_MERGE {
        kind -= kind::NO_MERGE;
    }
    let ordered = (kind::ORDERED_LOWER + 1..kind::ORDERED_UPPER).contains(&kind);
    if ordered {
        kind -= kind::ORDERED;
    }
    let mut chunk = chunk.max(1) as u64;
    // `schedule(simd: ..)` hands out whole vectors: the chunk is their width.
    let mut unit = 1;
    if kind == kind::STATIC_SIMD || kind == kind::GUIDED_SIMD {
        unit = chunk;
        chunk = 1;
    }
    let icv_kind = kind == kind::RUNTIME || kind == kind::RUNTIME_SIMD;
    let mut icv_monotonic = false;
    if icv_kind {
        let icv = thread.icvs.get().schedule;
        let own = icv.chunk.max(0) as u64;
        if kind == kind::RUNTIME_SIMD {
            unit = chunk;
        }
        chunk = own.max(1);
        if kind == kind::RUNTIME_SIMD && icv.kind & !SCHEDULE_MONOTONIC == 3 {
            // Shrinking chunks are multiples of the smallest.
            unit = unit.saturating_mul(chunk);
            chunk = 1;
        }
        icv_monotonic = icv.kind & SCHEDULE_MONOTONIC != 0;
        kind = match icv.kind & !SCHEDULE_MONOTONIC {
            1 if own > 0 => kind::STATIC_CHUNKED,
            1 => kind::STATIC,
            3 => kind::GUIDED,
            4 => kind::AUTO,
            TRAPEZOIDAL => kind::TRAPEZOIDAL,
            _ => kind::DYNAMIC,
        };
    }
    let monotonic = ordered || schedule & kind::MONOTONIC != 0 || icv_monotonic;
    let plan = match kind {
        kind::DYNAMIC | kind::STATIC_STEAL
            if !monotonic && (icv_kind || schedule & kind::NONMONOTONIC != 0) =>
        {
            ChunkPlan::Stealing
        }
        kind::STATIC_CHUNKED => ChunkPlan::RoundRobin,
        kind::STATIC_SIMD | kind::STATIC | kind::STATIC_GREEDY | kind::STATIC_BALANCED => {
            ChunkPlan::Balanced
        }
        kind::GUIDED
        | kind::GUIDED_SIMD
        | kind::GUIDED_ITERATIVE
        | kind::GUIDED_ANALYTICAL
        | kind::AUTO => ChunkPlan::Guided,
        kind::TRAPEZOIDAL => ChunkPlan::Trapezoid,
        _ => ChunkPlan::Dynamic,
    };
    (plan, chunk, unit, ordered)
}

#[inline(always)]
fn init<T: Iteration>(gtid: i32, schedule: i32, lower: T, upper: T, step: i64, chunk: i64) {
    let thread = by_number(gtid);
    let team = thread.team();
    let size = team.size() as u64;
    let (mut plan, chunk, unit, ordered) = resolve(schedule, chunk, thread);
    let total = trip_count(lower, upper, step);
    let trip = total.div_ceil(unit);
    if size == 1 {
        plan = ChunkPlan::Balanced;
    }
    let mut ranged_chunks = 0;
    if plan == ChunkPlan::Stealing {
        ranged_chunks = trip.div_ceil(chunk).saturating_sub(1);
        if trip == 0 || ranged_chunks >= u32::MAX as u64 - 1 {
            plan = ChunkPlan::Dynamic;
        }
    }
    let number = next_number(thread);
    let mut chunk = chunk;
    let guided = if plan == ChunkPlan::Guided {
        if trip >= 1 << 40 {
            chunk = chunk.max(trip / (64 * size));
        }
        Guided::new(trip, chunk, size)
    } else {
        Guided::default()
    };
    let slope = if plan == ChunkPlan::Trapezoid {
        let first = (trip / (2 * size)).max(chunk);
        let chunks = (2 * trip).div_ceil(first + chunk).max(2);
        (first, (first - chunk) / (chunks - 1))
    } else {
        (0, 0)
    };
    *state(thread) = LoopState {
        plan,
        lower: lower.widen(),
        step,
        trip,
        unit,
        total,
        chunk,
        taken: 0,
        number,
        ordered,
        finished: false,
        had_last: false,
        first: 0,
        end: 0,
        turn: 0,
        tickets: TicketView::default(),
        bumped: false,
        ranged_chunks,
        guided,
        slope,
    };
    if size > 1 {
        match await_turn(thread, team, number) {
            Some(buffer) if ordered => {
                let length = match plan {
                    ChunkPlan::Balanced => total / size,
                    ChunkPlan::RoundRobin | ChunkPlan::Dynamic => chunk.saturating_mul(unit),
                    _ => 1,
                };
                state(thread).tickets = buffer.tickets.begin(team.size(), length);
            }
            Some(_) => {}
            None => state(thread).finished = true,
        }
    }
}

/// Returns the number of the next loop with a shared buffer.
fn next_number(thread: &Thread) -> u32 {
    let loops = &thread.local().loops;
    loops.replace(loops.get().wrapping_add(1))
}

/// Waits until the loop of the previous round has released the buffer for loop `number`. Returns
/// `None` if the region is canceled, so that this may never happen.
fn await_turn<'t>(thread: &Thread, team: &'t Team, number: u32) -> Option<&'t LoopBuffer> {
    let buffer = buffer(team, number);
    let mine = || buffer.turn.load(Ordering::Acquire) == number as u64;
    if !mine() {
        wait(thread, team, Construct::LOOP, mine);
    }
    mine().then_some(buffer)
}

/// Takes a buffer for a doacross nest in a team of several; its number is for [`leave_buffer`].
/// Returns `None` in a canceled region.
pub(super) fn take_buffer(thread: &Thread) -> Option<(u32, &PostedIterations)> {
    let number = next_number(thread);
    let buffer = await_turn(thread, thread.team(), number)?;
    Some((number, &buffer.posted))
}

/// Leaves the buffer that [`take_buffer`] took.
pub(super) fn leave_buffer(team: &Team, number: u32) {
    release(team, number, || {});
}

/// Waits in `construct` for `done`, sleeping as at a barrier. Returns at once in a canceled region,
/// where the thread that would make it true may have left.
pub(super) fn wait(thread: &Thread, team: &Team, construct: Construct, done: impl Fn() -> bool) {
    let done = || done() || team.cancel.any();
    // No task is executed here, so the member is marked as busy: a thread that looks for a sleeper
    // to execute a task skips it. Relaxed: if the mark is seen late, the wrong member is woken, and
    // wakes another one.
    let busy = &thread.local().tasks.busy;
    busy.store(1, Ordering::Relaxed);
    // SAFETY: the thread takes part in its team's region with this number.
    let woken = unsafe {
        let spin_policy = team.shape().spin_policy;
        team.core.wait(thread.tid(), spin_policy, construct, done)
    };
    busy.store(0, Ordering::Relaxed);
    if woken {
        // SAFETY: the thread takes part in its team's region.
        unsafe { task::wait::decline(team) };
    }
}

/// Leaves the dispatched loop that the thread executes, if any, with iterations not handed out.
pub(super) fn abandon(thread: &Thread) {
    let s = state(thread);
    if !s.finished {
        leave(thread.team(), s);
    }
}

/// Takes the next chunk as (first, count).
#[inline(always)]
fn take(thread: &Thread, team: &Team, s: &mut LoopState) -> Option<(u64, u64)> {
    let size = team.size() as u64;
    match s.plan {
        ChunkPlan::Balanced => {
            if s.taken > 0 {
                return None;
            }
            s.taken = 1;
            let (first, count) = balanced(s.trip, thread.tid() as u64, size);
            (count > 0).then_some((first, count))
        }
        ChunkPlan::RoundRobin => {
            let index = s
                .taken
                .checked_mul(size)?
                .checked_add(thread.tid() as u64)?;
            let first = index.checked_mul(s.chunk).filter(|&f| f < s.trip)?;
            s.taken += 1;
            Some((first, s.chunk.min(s.trip - first)))
        }
        ChunkPlan::Dynamic => {
            let next = &buffer(team, s.number).next;
            let index = next.fetch_add(1, Ordering::Relaxed);
            let first = index.checked_mul(s.chunk).filter(|&f| f < s.trip)?;
            Some((first, s.chunk.min(s.trip - first)))
        }
        ChunkPlan::Stealing => {
            let chunks = s.ranged_chunks;
            let first = take_own(thread, s, chunks, size)
                .or_else(|| steal(thread, team, s, chunks, size))
                .or_else(|| take_last(team, s, chunks))?
                * s.chunk;
            Some((first, s.chunk.min(s.trip - first)))
        }
        ChunkPlan::Guided => {
            let next = &buffer(team, s.number).next;
            let index = next.fetch_add(1, Ordering::Relaxed);
            let first = s.guided.start(s.trip, s.chunk, index);
            let end = s.guided.start(s.trip, s.chunk, index.saturating_add(1));
            (first < end).then(|| (first, end - first))
        }
        ChunkPlan::Trapezoid => {
            let next = &buffer(team, s.number).next;
            let mut first = next.load(Ordering::Relaxed);
            loop {
                let rest = s.trip.checked_sub(first).filter(|&r| r > 0)?;
                // Length of the chunk that starts here, from the iterations already handed out.
                let shorter = first.checked_div(s.slope.0).unwrap_or(0) * s.slope.1;
                let count = s.slope.0.saturating_sub(shorter).max(s.chunk).min(rest);
                let end = first + count;
                match next.compare_exchange_weak(first, end, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return Some((first, count)),
                    Err(now) => first = now,
                }
            }
        }
    }
}

/// Packs a range of chunks into one word.
#[inline(always)]
fn pack(next: u64, end: u64) -> u64 {
    (next + 1) << 32 | (end + 1)
}

/// Unpacks a range of chunks to (next, end). The owner's attempts may have moved `next` beyond
/// `end`.
#[inline(always)]
fn unpack(word: u64) -> (u64, u64) {
    ((word >> 32) - 1, (word as u32 as u64) - 1)
}

/// Returns the range that thread `tid` starts with.
fn own_range(tid: u64, chunks: u64, size: u64) -> u64 {
    let (first, count) = balanced(chunks, tid, size);
    pack(first, first + count)
}

/// Takes the next chunk of the thread's own range. Relaxed: ranges only number work.
#[inline(always)]
fn take_own(thread: &Thread, s: &mut LoopState, chunks: u64, size: u64) -> Option<u64> {
    let range = &thread.local().ranges[s.number as usize % LOOP_BUFFERS];
    if s.taken == 0 {
        s.taken = 1;
        let mine = own_range(thread.tid() as u64, chunks, size);
        // A thief may have replaced the 0 already.
        let _ = range.compare_exchange(0, mine, Ordering::Relaxed, Ordering::Relaxed);
    }
    let (next, end) = unpack(range.fetch_add(1 << 32, Ordering::Relaxed));
    if next < end {
        return Some(next);
    }
    // Restored, so that repeated attempts cannot overflow. Only its owner changes an empty range.
    range.fetch_sub(1 << 32, Ordering::Relaxed);
    None
}

/// Takes the loop's last chunk, once no other is left. Its thread executes nothing after it: the
/// compiler takes the thread's private copies for the `lastprivate` values as they are when the
/// thread has left the loop.
#[cold]
fn take_last(team: &Team, s: &mut LoopState, last: u64) -> Option<u64> {
    let claimed = &buffer(team, s.number).next;
    if claimed.load(Ordering::Relaxed) == 0 && claimed.fetch_add(1, Ordering::Relaxed) == 0 {
        s.had_last = true;
        return Some(last);
    }
    None
}

/// Steals the last half of another thread's range: keeps all but the first chunk as its own range,
/// and returns that first one.
#[cold]
fn steal(thread: &Thread, team: &Team, s: &LoopState, chunks: u64, size: u64) -> Option<u64> {
    let index = s.number as usize % LOOP_BUFFERS;
    let me = thread.tid() as u64;
    for victim in (me + 1..size).chain(0..me) {
        // SAFETY: the victim is in the team, and its ranges are atomic.
        let range = unsafe { &team.slot(victim as u32).local.ranges[index] };
        let mut seen = range.load(Ordering::Relaxed);
        loop {
            let full = if seen == 0 {
                own_range(victim, chunks, size)
            } else {
                seen
            };
            let (next, end) = unpack(full);
            if next >= end {
                break;
            }
            let first = end - (end - next).div_ceil(2);
            match range.compare_exchange_weak(
                seen,
                pack(next, first),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    thread.local().ranges[index].store(pack(first + 1, end), Ordering::Relaxed);
                    return Some(first);
                }
                Err(now) => seen = now,
            }
        }
    }
    None
}

#[inline(always)]
unsafe fn next<T: Iteration>(
    gtid: i32,
    last: *mut i32,
    lower: *mut T,
    upper: *mut T,
    stride: *mut T::Step,
) -> i32 {
    let thread = by_number(gtid);
    let team = thread.team();
    let s = state(thread);
    if s.finished {
        return 0;
    }
    let taken = if s.had_last {
        None
    } else {
        take(thread, team, s)
    };
    let Some((first, count)) = taken else {
        leave(team, s);
        return 0;
    };
    let first = first * s.unit;
    let count = (count * s.unit).min(s.total - first);
    s.first = first;
    s.end = first + count;
    s.turn = first;
    let base = T::narrow(s.lower);
    // SAFETY: the pointers are valid, `last` and `stride` if not null (callers' contract).
    unsafe {
        *lower = value(base, first, s.step);
        *upper = value(base, first + count - 1, s.step);
        if !stride.is_null() {
            *stride = T::step(s.step as u64);
        }
        if !last.is_null() {
            *last = (first + count == s.total) as i32;
        }
    }
    1
}

/// Leaves a loop that has no iterations left for this thread.
#[inline]
fn leave(team: &Team, s: &mut LoopState) {
    s.finished = true;
    if team.size() == 1 {
        return;
    }
    release(team, s.number, || {
        if s.ordered {
            buffer(team, s.number).tickets.end(s.total);
        }
        if s.plan == ChunkPlan::Stealing {
            for tid in 0..team.size() {
                // SAFETY: `tid` is in the team; no thread uses the ranges of this loop any more.
                let local = unsafe { &team.slot(tid).local };
                local.ranges[s.number as usize % LOOP_BUFFERS].store(0, Ordering::Relaxed);
            }
        }
    });
}

/// Returns the `turn` of the next loop with the buffer of loop `number`. Numbers wrap around after
/// 2^32 loops of a region.
fn a_round_later(number: u32) -> u64 {
    number.wrapping_add(LOOP_BUFFERS as u32).into()
}

/// Leaves a loop's buffer. The last thread of the team calls `last` and resets the buffer for the
/// loop one round later.
#[inline]
fn release(team: &Team, number: u32, last: impl FnOnce()) {
    let size = team.size();
    let buffer = buffer(team, number);
    if buffer.left.fetch_add(1, Ordering::AcqRel) + 1 == size {
        last();
        buffer.left.store(0, Ordering::Relaxed);
        buffer.next.store(0, Ordering::Relaxed);
        buffer.posted.clear();
        buffer.turn.store(a_round_later(number), Ordering::Release);
        ompvm_support::sync::fence(Ordering::SeqCst);
        // SAFETY: the thread takes part in the region of this size.
        unsafe { team.core.wake_all(size) };
    }
}

/// Waits until the ordered region of the current iteration may begin.
pub unsafe extern "C-unwind" fn ordered_begin(_ident: *const Ident, gtid: i32) {
    let thread = by_number(gtid);
    let team = thread.team();
    let s = state(thread);
    if team.size() > 1 && s.ordered {
        await_first(thread, team, s);
    }
}

/// Waits until the ordered part of the current chunk's first iteration may begin; those of the
/// other iterations follow on the same thread.
#[inline]
fn await_first(thread: &Thread, team: &Team, s: &LoopState) {
    if s.turn != s.first {
        return;
    }
    let (tickets, view, first) = (&buffer(team, s.number).tickets, s.tickets, s.first);
    let mine = || tickets.is_current(view, first);
    if !mine() {
        wait(thread, team, Construct::ORDERED, mine);
    }
}

/// Ends an ordered region: that of the next iteration may begin.
pub unsafe extern "C-unwind" fn ordered_end(_ident: *const Ident, gtid: i32) {
    let thread = by_number(gtid);
    let team = thread.team();
    let s = state(thread);
    if team.size() > 1 && s.ordered {
        s.bumped = true;
        bump(team, s);
    }
}

/// Ends an iteration's ordered part; after the last one of the chunk the next chunk's may begin.
fn bump(team: &Team, s: &mut LoopState) {
    s.turn += 1;
    if s.turn == s.end {
        buffer(team, s.number).tickets.hand_over(s.tickets, s.turn);
        // SAFETY: the thread takes part in the region of this size.
        unsafe { team.core.wake_all(team.size()) };
    }
}

/// Ends one iteration of an ordered loop: hands over if its body did not.
pub unsafe extern "C-unwind" fn fini(_ident: *const Ident, gtid: i32) {
    let thread = by_number(gtid);
    let team = thread.team();
    let s = state(thread);
    if team.size() == 1 || !s.ordered {
        return;
    }
    if s.bumped {
        s.bumped = false;
    } else {
        await_first(thread, team, s);
        bump(team, s);
    }
}

/// Returns the kind of a loop for tools (`ompt_work_t`), from the schedule in use.
pub fn work_kind(thread: &Thread, schedule: i32, chunk: i64) -> i32 {
    match resolve(schedule, chunk, thread).0 {
        ChunkPlan::Balanced | ChunkPlan::RoundRobin => 10,
        ChunkPlan::Guided if thread.team().size() == 1 => 10,
        ChunkPlan::Dynamic | ChunkPlan::Stealing => 11,
        ChunkPlan::Guided => 12,
        ChunkPlan::Trapezoid => 13,
    }
}

/// Ends a dispatched loop; does nothing.
pub unsafe extern "C-unwind" fn deinit(_ident: *const Ident, _gtid: i32) {}

macro_rules! entries {
    ($($init:ident, $dist:ident, $next:ident: $t:ty, $s:ty;)*) => {$(
        /// Begins a dispatched loop.
        pub unsafe extern "C-unwind" fn $init(
            _ident: *const Ident,
            gtid: i32,
            schedule: i32,
            lower: $t,
            upper: $t,
            step: $s,
            chunk: $s,
        ) {
            init(gtid, schedule, lower, upper, step as i64, chunk as i64)
        }

        /// Begins a dispatched loop over the calling team's share of a distributed loop.
        ///
        /// # Safety
        /// `last` is null or valid.
        pub unsafe extern "C-unwind" fn $dist(
            _ident: *const Ident,
            gtid: i32,
            schedule: i32,
            last: *mut i32,
            lower: $t,
            upper: $t,
            step: $s,
            chunk: $s,
        ) {
            let league = by_number(gtid).team().shape().league;
            let trip = trip_count(lower, upper, step as i64);
            let (first, count) = balanced(trip, league.1 as u64, league.0 as u64);
            if !last.is_null() {
                // SAFETY: `last` is valid if not null (caller's contract).
                unsafe { *last = (count > 0 && first + count == trip) as i32 };
            }
            let (lower, upper): ($t, $t) = if count == 0 {
                if step >= 0 { (1, 0) } else { (0, 1) }
            } else {
                (value(lower, first, step as i64), value(lower, first + count - 1, step as i64))
            };
            init(gtid, schedule, lower, upper, step as i64, chunk as i64)
        }

        /// Takes the next chunk: returns 1 and its bounds, or 0 if there is none.
        ///
        /// # Safety
        /// The pointers are valid; `last` and `stride` may be null.
        pub unsafe extern "C-unwind" fn $next(
            _ident: *const Ident,
            gtid: i32,
            last: *mut i32,
            lower: *mut $t,
            upper: *mut $t,
            stride: *mut $s,
        ) -> i32 {
            // SAFETY: the pointers are valid, `last` and `stride` if not null (caller's contract).
            unsafe { next(gtid, last, lower, upper, stride) }
        }
    )*};
}
entries! {
    init_i32, init_dist_i32, next_i32: i32, i32;
    init_u32, init_dist_u32, next_u32: u32, i32;
    init_i64, init_dist_i64, next_i64: i64, i64;
    init_u64, init_dist_u64, next_u64: u64, i64;
}

/// Begins `sections`, whose number is passed to [`next_section`].
pub unsafe extern "C-unwind" fn sections_init(_ident: *const Ident, gtid: i32) {
    init::<u64>(gtid, kind::DYNAMIC, 0, u64::MAX - 1, 1, 1);
    let s = state(by_number(gtid));
    s.plan = ChunkPlan::Dynamic;
}

/// Returns the next section to execute, counted from 0; `sections` or more if there is none.
pub unsafe extern "C-unwind" fn next_section(
    _ident: *const Ident,
    gtid: i32,
    sections: i32,
) -> i32 {
    let thread = by_number(gtid);
    let team = thread.team();
    let s = state(thread);
    if s.finished {
        return sections;
    }
    s.trip = sections.max(0) as u64;
    match take(thread, team, s) {
        Some((first, _)) => first as i32,
        None => {
            leave(team, s);
            if team.size() == 1 {
                buffer(team, s.number).next.store(0, Ordering::Relaxed);
            }
            sections
        }
    }
}

/// Ends `sections`; does nothing.
pub unsafe extern "C-unwind" fn sections_end(_ident: *const Ident, _gtid: i32) {}

#[cfg(test)]
mod tests {
    use super::{Guided, a_round_later};
    use crate::team::LOOP_BUFFERS;

    #[test]
    fn kmpc_dispatch_hands_buffers_on_when_loops_are_counted_anew() {
        let mut number = u32::MAX - 3;
        let before = number;
        for _ in 0..LOOP_BUFFERS {
            // Counts like `next_number`.
            number = number.wrapping_add(1);
        }
        assert_eq!(a_round_later(before), u64::from(number));
        assert_eq!(
            before as usize % LOOP_BUFFERS,
            number as usize % LOOP_BUFFERS
        );
    }

    #[test]
    fn kmpc_guided_chunks_shrink_and_cover_the_loop() {
        for trip in [0u64, 1, 7, 57, 1000, 123_457, (1 << 40) - 1] {
            for chunk in [1, 3, 64] {
                for threads in [2, 3, 16, 200] {
                    let guided = Guided::new(trip, chunk, threads);
                    let (mut at, mut before) = (0, u64::MAX);
                    for index in 0.. {
                        let (first, end) = (
                            guided.start(trip, chunk, index),
                            guided.start(trip, chunk, index + 1),
                        );
                        assert_eq!(first, at);
                        if first >= end {
                            break;
                        }
                        let count = end - first;
                        assert!(
                            count >= chunk || end == trip,
                            "{trip} {chunk} {threads} {index}"
                        );
                        assert!(count <= before.saturating_add(1));
                        (at, before) = (end, count);
                    }
                    assert_eq!(at, trip);
                }
            }
        }
    }
}
