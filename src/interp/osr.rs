//! OSR points of running bytecode: the entry and the loop heads of a function.
//!
//! Word 0 of these instructions is patched while other threads execute them, so a program pays
//! nothing while no point is patched. Counting ([`count_calls`], [`count_back_edges`]) installs a
//! handler that counts an execution and continues with the instruction's own handler. An OSR entry
//! ([`install_entry`]) installs a handler that passes the frame to compiled code and takes its
//! result as the function's own return. Quickly compiled loops exit at the head when better code
//! exists, or to report that the loop still runs ([`OsrPoint::exit_request`]). Each thread changes
//! over by itself when it passes the point. Frames and allocas stay in place, so exceptions and
//! jumps through the compiled code find everything below unchanged.
//!
//! Invariant for other code that changes word 0: the entry and the loop heads
//! ([`super::frame::LoweredFunction::osr_points`]) must be reached through word 0 and changed by
//! [`replace_handler`]. Machine code of the baseline tier that jumps to a point directly first
//! tests [`OsrPoint::patched`], and goes through word 0 if it is set.
//!
//! `tier` decides what is counted and what is compiled.

use super::exec::{self, Handler, HandlerResult, dispatch, suspend};
use super::frame::{self, LoweredFunction, OsrPoint};
use super::process::INTERPRETER;
use super::{entry, lower};
use ompvm_ir::BlockId;
use ompvm_llvm::native::ValueLocation;
use ompvm_memory::signal_safe::SignalsBlocked;
use ompvm_memory::thread::{self, ThreadState};
use ompvm_support::fork_lock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The most result words that a loop's code can return.
const MAX_RESULT: usize = 16;

/// Approximate count at which counting ends.
const MAX_HITS: u32 = 1 << 13;

/// Value of [`OsrPoint::exit_request`]: better code exists.
const BETTER_CODE: u32 = 1;
/// Value of [`OsrPoint::exit_request`]: the tier asks whether the loop still runs.
const PROBED: u32 = 2;

/// Returns word 0 of an OSR point's instruction.
fn word(code: &LoweredFunction, point: &OsrPoint) -> &'static AtomicUsize {
    // SAFETY: the point lies in the code, which is never freed. Word 0 is accessed whole, and
    // dispatch only reads it.
    unsafe {
        let at = code.code.as_ptr().byte_add(point.at as usize);
        AtomicUsize::from_ptr(at.cast_mut().cast())
    }
}

/// Starts or stops counting calls of a function.
pub fn count_calls(code: &LoweredFunction, on: bool) {
    count_executions(code, &code.osr_points[..code.osr_points.len().min(1)], on);
}

/// Starts or stops counting the iterations of a function's loops, and the entries of those with
/// compiled code.
pub fn count_back_edges(code: &LoweredFunction, on: bool) {
    count_executions(code, code.osr_points.get(1..).unwrap_or_default(), on);
}

/// Starts or stops counting. Counts start at 0 and stay when counting ends.
fn count_executions(code: &LoweredFunction, points: &[OsrPoint], on: bool) {
    let _patching = fork_lock::lock(&INTERPRETER.patching);
    for point in points {
        let entered = point.code.load(Ordering::Relaxed) != 0;
        // The count of a delayed entry is in use.
        if entered && point.delay.load(Ordering::Relaxed) != 0 {
            continue;
        }
        let handler = match (on, entered) {
            (true, false) => count_execution as *const () as usize,
            (true, true) => count_entry as *const () as usize,
            (false, false) => point.own_handler.load(Ordering::Relaxed),
            (false, true) => enter_compiled_loop as *const () as usize,
        };
        if on {
            point.hits.store(0, Ordering::Relaxed);
        }
        word(code, point).store(handler, Ordering::Release);
        point
            .patched
            .store(u32::from(on || entered), Ordering::Release);
    }
}

/// Makes each thread that executes the OSR point `index` enter the compiled code at `address`,
/// after `delay` more executions. Threads in code that yields change over, too. Code that itself
/// yields replaces no other code.
pub fn install_entry(
    code: &LoweredFunction,
    index: usize,
    address: usize,
    delay: u32,
    yields: bool,
) {
    let _patching = fork_lock::lock(&INTERPRETER.patching);
    let point = &code.osr_points[index];
    if point.code.load(Ordering::Relaxed) != 0 {
        if !yields {
            point.code.store(address, Ordering::Release);
            point.exit_request.store(BETTER_CODE, Ordering::Release);
        }
        return;
    }
    point.hits.store(0, Ordering::Relaxed);
    point.delay.store(delay, Ordering::Relaxed);
    point.code.store(address, Ordering::Release);
    let handler = match delay {
        0 => enter_compiled_loop as *const () as usize,
        1.. => enter_delayed_loop as *const () as usize,
    };
    word(code, point).store(handler, Ordering::Release);
    point.patched.store(1, Ordering::Release);
}

/// Returns true if a thread entered the loop's code, or iterated in code that yields, since the
/// last question; true at the first question. The first such thread exits the code, clears the
/// question, and enters the code again.
pub fn probe_loop(code: &LoweredFunction, index: usize) -> bool {
    let exit_request = &code.osr_points[index].exit_request;
    exit_request
        .compare_exchange(0, PROBED, Ordering::AcqRel, Ordering::Relaxed)
        .is_ok()
}

/// Clears the question of [`probe_loop`]; a notice of better code stays.
fn answer_probe(point: &OsrPoint) {
    if point.exit_request.load(Ordering::Relaxed) == PROBED {
        let exit_request = &point.exit_request;
        let _ = exit_request.compare_exchange(PROBED, 0, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// Makes code that yields exit at the head in every iteration, to be entered again; for tests of
/// OSR exits.
pub fn always_exit(code: &LoweredFunction, index: usize) {
    code.osr_points[index]
        .exit_request
        .store(BETTER_CODE, Ordering::Release);
}

/// Gives a point's instruction another handler of its own.
pub fn replace_handler(code: &LoweredFunction, point: &OsrPoint, handler: usize) {
    let _patching = fork_lock::lock(&INTERPRETER.patching);
    let old = point.own_handler.swap(handler, Ordering::AcqRel);
    let _ = word(code, point).compare_exchange(old, handler, Ordering::AcqRel, Ordering::Relaxed);
}

/// Returns the frame locations of a function's parameters and instructions, and the number of its
/// result words; `None` if its loops cannot be entered.
pub fn value_locations(code: &LoweredFunction) -> Option<(Arc<[ValueLocation]>, u32)> {
    let fits = usize::from(code.ret_words) <= MAX_RESULT && !code.osr_points.is_empty();
    fits.then(|| (lower::value_locations(code), u32::from(code.ret_words)))
}

/// Returns the code that a word of a frame's header names; the word may hold anything.
pub fn code_from_header(word: usize) -> Option<&'static LoweredFunction> {
    entry::code_at(word as *const LoweredFunction)
}

impl OsrPoint {
    /// Creates the point for the instruction at byte `at`: the first of a block, or (`None`) the
    /// function's entry.
    pub(super) fn new(at: u32, block: Option<BlockId>, own_handler: usize) -> OsrPoint {
        OsrPoint {
            at,
            block,
            own_handler: AtomicUsize::new(own_handler),
            patched: 0.into(),
            hits: 0.into(),
            delay: 0.into(),
            code: AtomicUsize::new(0),
            exit_request: 0.into(),
        }
    }
}

/// Returns the OSR point at a byte offset of the code.
pub fn point_at(code: &LoweredFunction, at: u32) -> Option<&OsrPoint> {
    let i = code.osr_points.binary_search_by_key(&at, |h| h.at).ok()?;
    Some(&code.osr_points[i])
}

pub(super) fn expect_point(code: &LoweredFunction, ip: *const u64) -> &OsrPoint {
    let at = (ip as usize).wrapping_sub(code.code.as_ptr() as usize) as u32;
    match code.osr_points.binary_search_by_key(&at, |h| h.at) {
        Ok(i) => &code.osr_points[i],
        Err(_) => ompvm_support::bug!("no OSR point at this instruction"),
    }
}

/// Counts an execution, then runs the instruction's own handler.
///
/// # Safety
/// As for any [`Handler`]; `ip` is an OSR point's instruction.
unsafe extern "sysv64-unwind" fn count_execution(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> HandlerResult {
    // SAFETY: the frame's code contains the instruction (the handler's contract).
    unsafe {
        let own_handler = record_execution(ip, regs);
        own_handler(ip, regs, cx)
    }
}

/// Counts an execution of the point at `ip`; returns the instruction's own handler.
///
/// # Safety
/// As for [`count_execution`].
#[inline(never)]
unsafe extern "sysv64-unwind" fn record_execution(ip: *const u64, regs: *mut u64) -> Handler {
    // SAFETY: the frame's code contains the point, and `own_handler` only holds handlers.
    unsafe {
        let point = expect_point(&*frame::code(regs), ip);
        // Higher counts are never read, and the counter would be contended by a team.
        if point.hits.load(Ordering::Relaxed) < MAX_HITS {
            point.hits.fetch_add(1, Ordering::Relaxed);
        } else {
            stop_counting(&*frame::code(regs), point);
        }
        std::mem::transmute::<usize, Handler>(point.own_handler.load(Ordering::Acquire))
    }
}

/// Stops counting at one point. If another thread is patching now, the next execution retries.
fn stop_counting(code: &LoweredFunction, point: &OsrPoint) {
    // A handler may compile a function, which takes the lock.
    let _signals = SignalsBlocked::new();
    let Ok(_patching) = INTERPRETER.patching.try_lock() else {
        return;
    };
    if point.code.load(Ordering::Relaxed) == 0 {
        word(code, point).store(point.own_handler.load(Ordering::Relaxed), Ordering::Release);
        point.patched.store(0, Ordering::Release);
    } else {
        word(code, point).store(enter_compiled_loop as *const () as usize, Ordering::Release);
    }
}

/// Counts an entry of a loop, then enters its compiled code.
///
/// # Safety
/// As for [`count_execution`]; the point has compiled code.
unsafe extern "sysv64-unwind" fn count_entry(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> HandlerResult {
    // SAFETY: the handler's contract.
    unsafe {
        record_execution(ip, regs);
        enter_compiled_loop(ip, regs, cx)
    }
}

/// Enters the compiled code of a loop at its head after the point's delay.
///
/// # Safety
/// As for [`count_execution`]; the point has compiled code.
unsafe extern "sysv64-unwind" fn enter_delayed_loop(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> HandlerResult {
    // SAFETY: the handler's contract.
    unsafe {
        match delayed_handler(ip, regs) {
            Some(own_handler) => own_handler(ip, regs, cx),
            None => enter_compiled_loop(ip, regs, cx),
        }
    }
}

/// Enters the compiled code of a loop at its head.
///
/// # Safety
/// As for [`count_execution`].
unsafe extern "sysv64-unwind" fn enter_compiled_loop(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> HandlerResult {
    // SAFETY: the handler's contract; `run_compiled_loop` returns an instruction and its frame.
    unsafe {
        // Records the entry as the position: no call there has a landing pad that could be mistaken
        // for one.
        let held = suspend((*frame::code(regs)).entry, regs, cx);
        let to = run_compiled_loop(ip, regs, cx);
        let cx = held.resume();
        if to.returned {
            (*cx).sp = frame::saved_sp(regs);
        }
        dispatch(to.ip, to.regs, cx)
    }
}

/// The position at which the interpreter continues.
#[repr(C)]
struct Continuation {
    ip: *const u64,
    regs: *mut u64,
    /// True if the compiled code ran to the function's return.
    returned: bool,
}

/// Counts an execution; returns the instruction's own handler while the point is not to be entered
/// yet.
///
/// # Safety
/// As for [`count_execution`].
#[inline(never)]
unsafe extern "sysv64-unwind" fn delayed_handler(
    ip: *const u64,
    regs: *mut u64,
) -> Option<Handler> {
    // SAFETY: the frame's code contains the point, and `own_handler` only holds handlers.
    unsafe {
        let point = expect_point(&*frame::code(regs), ip);
        let delay = point.delay.load(Ordering::Relaxed);
        if point.hits.fetch_add(1, Ordering::Relaxed) >= delay {
            return None;
        }
        Some(std::mem::transmute::<usize, Handler>(
            point.own_handler.load(Ordering::Acquire),
        ))
    }
}

/// Returned instead of a block number by code that has run to the function's return.
const RETURNED: u32 = u32::MAX;

/// Runs the compiled loop and, if it has no exit to the interpreter, the rest of the function,
/// which then returns from its frame.
///
/// # Safety
/// As for [`count_execution`]; the point's code was compiled for frames of this function.
#[inline(never)]
unsafe extern "sysv64-unwind" fn run_compiled_loop(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> Continuation {
    // SAFETY: the point's code was compiled for frames of this function (the caller's contract).
    unsafe {
        let code = &*frame::code(regs);
        let point = expect_point(code, ip);
        answer_probe(point);
        let target = point.code.load(Ordering::Acquire);
        let mut out = [0u64; MAX_RESULT];
        let run: unsafe extern "C-unwind" fn(*mut u64, *mut u64, *const AtomicU32) -> u32 =
            std::mem::transmute(target);
        let outer = std::mem::replace(&mut (*cx).native_call_frame, regs);
        let block = run(regs, out.as_mut_ptr(), &raw const point.exit_request);
        (*thread::current_or_null()).native_call_frame = outer;
        if block != RETURNED {
            let ip = code.block(BlockId::from_u32(block));
            return Continuation {
                ip,
                regs,
                returned: false,
            };
        }
        if let Some((off, fail)) = code.guard {
            exec::check_guards(regs.byte_add(off as usize), usize::MAX, fail);
        }
        let dst = frame::dst(regs);
        let n = code.ret_words.min((dst >> 16) as u16);
        let to = frame::caller(regs).add(usize::from(dst as u16));
        std::ptr::copy_nonoverlapping(out.as_ptr(), to, usize::from(n));
        let (ip, caller) = (frame::return_ip(regs), frame::caller(regs));
        Continuation {
            ip,
            regs: caller,
            returned: true,
        }
    }
}
