//! OSR points of running bytecode: the entry and the loop heads of a function.
//!
//! Word 0 of these instructions is patched while other threads execute them, so a program pays
//! nothing while no point is patched. Counting ([`watch_entry`], [`watch_loops`]) installs a
//! handler that counts an execution and continues with the instruction's own handler. An OSR entry
//! ([`enter_loop`]) installs a handler that passes the frame to compiled code and takes its result
//! as the function's own return. Quickly compiled loops exit at the head when better code exists,
//! or to report that the loop still runs ([`Head::better`]). Each thread changes over by itself
//! when it passes the point. Frames and allocas stay in place, so exceptions and jumps through the
//! compiled code find everything below unchanged.
//!
//! Invariant for other code that changes word 0: the entry and the loop heads
//! ([`super::frame::Lowered::heads`]) must be reached through word 0 and changed by [`replace`].
//! Machine code of the baseline tier that jumps to a point directly first tests [`Head::turned`],
//! and goes through word 0 if it is set.
//!
//! `tier` decides what is counted and what is compiled.

use super::exec::{self, Done, Handler, depart, next};
use super::frame::{self, Head, Lowered};
use super::{child, entry, lower};
use ompvm_ir::BlockId;
use ompvm_llvm::native::Place;
use ompvm_memory::thread::{self, ThreadState};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The most result words that a loop's code can return.
const MAX_RESULT: usize = 16;

/// Approximate count at which counting ends.
const MOST_HITS: u32 = 1 << 13;

/// Value of [`Head::better`]: better code exists.
const BETTER: u32 = 1;
/// Value of [`Head::better`]: the tier asks whether the loop still runs.
const ASKED: u32 = 2;

/// Held while word 0 of an instruction is changed.
pub(super) static CHANGES: Mutex<()> = Mutex::new(());

/// Returns word 0 of a head's instruction.
fn word(code: &Lowered, head: &Head) -> &'static AtomicUsize {
    // SAFETY: the head lies in the code, which is never freed. Word 0 is accessed whole, and
    // dispatch only reads it.
    unsafe {
        let at = code.code.as_ptr().byte_add(head.at as usize);
        AtomicUsize::from_ptr(at.cast_mut().cast())
    }
}

/// Starts or stops counting calls of a function.
pub fn watch_entry(code: &Lowered, on: bool) {
    watch_heads(code, &code.heads[..code.heads.len().min(1)], on);
}

/// Starts or stops counting the iterations of a function's loops.
pub fn watch_loops(code: &Lowered, on: bool) {
    watch_heads(code, code.heads.get(1..).unwrap_or_default(), on);
}

/// Starts or stops counting. Counts start at 0 and stay when counting ends.
fn watch_heads(code: &Lowered, heads: &[Head], on: bool) {
    let _changes = child::lock(&CHANGES);
    for head in heads {
        if head.code.load(Ordering::Relaxed) != 0 {
            continue;
        }
        let handler = if on {
            head.hits.store(0, Ordering::Relaxed);
            count as *const () as usize
        } else {
            head.plain.load(Ordering::Relaxed)
        };
        word(code, head).store(handler, Ordering::Release);
        head.turned.store(u32::from(on), Ordering::Release);
    }
}

/// Makes each thread that executes the head `index` enter the compiled code at `address`, after
/// `after` more executions. Threads in code that yields change over, too. Code that itself yields
/// replaces no other code.
pub fn enter_loop(code: &Lowered, index: usize, address: usize, after: u32, yields: bool) {
    let _changes = child::lock(&CHANGES);
    let head = &code.heads[index];
    if head.code.load(Ordering::Relaxed) != 0 {
        if !yields {
            head.code.store(address, Ordering::Release);
            head.better.store(BETTER, Ordering::Release);
        }
        return;
    }
    head.hits.store(0, Ordering::Relaxed);
    head.after.store(after, Ordering::Relaxed);
    head.code.store(address, Ordering::Release);
    word(code, head).store(leave as *const () as usize, Ordering::Release);
    head.turned.store(1, Ordering::Release);
}

/// Returns true if a thread entered the loop's code, or iterated in code that yields, since the
/// last question; true at the first question. The first such thread exits the code, clears the
/// question, and enters the code again.
pub fn goes_round(code: &Lowered, index: usize) -> bool {
    let better = &code.heads[index].better;
    better
        .compare_exchange(0, ASKED, Ordering::AcqRel, Ordering::Relaxed)
        .is_ok()
}

/// Clears the question of [`goes_round`]; a notice of better code stays.
fn answer(head: &Head) {
    if head.better.load(Ordering::Relaxed) == ASKED {
        let better = &head.better;
        let _ = better.compare_exchange(ASKED, 0, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// Makes code that yields exit at the head in every iteration, to be entered again; for tests of
/// OSR exits.
pub fn yield_always(code: &Lowered, index: usize) {
    code.heads[index].better.store(BETTER, Ordering::Release);
}

/// Gives a head's instruction another handler of its own.
pub fn replace(code: &Lowered, head: &Head, handler: usize) {
    let _changes = child::lock(&CHANGES);
    let old = head.plain.swap(handler, Ordering::AcqRel);
    let _ = word(code, head).compare_exchange(old, handler, Ordering::AcqRel, Ordering::Relaxed);
}

/// Returns the frame locations of a function's parameters and instructions, and the number of its
/// result words; `None` if its loops cannot be entered.
pub fn places(code: &Lowered) -> Option<(Arc<[Place]>, u32)> {
    let fits = usize::from(code.ret_words) <= MAX_RESULT && !code.heads.is_empty();
    fits.then(|| (lower::places(code), u32::from(code.ret_words)))
}

/// Returns the code that a word of a frame's header names; the word may hold anything.
pub fn code_named(word: usize) -> Option<&'static Lowered> {
    entry::known(word as *const Lowered)
}

impl Head {
    /// Creates the head for the instruction at byte `at`: the first of a block, or (`None`) the
    /// function's entry.
    pub(super) fn new(at: u32, block: Option<BlockId>, plain: usize) -> Head {
        Head {
            at,
            block,
            plain: AtomicUsize::new(plain),
            turned: 0.into(),
            hits: 0.into(),
            after: 0.into(),
            code: AtomicUsize::new(0),
            better: 0.into(),
        }
    }
}

/// Returns the head at a byte offset of the code.
pub fn head(code: &Lowered, at: u32) -> Option<&Head> {
    let i = code.heads.binary_search_by_key(&at, |h| h.at).ok()?;
    Some(&code.heads[i])
}

fn head_at(code: &Lowered, ip: *const u64) -> &Head {
    let at = (ip as usize).wrapping_sub(code.code.as_ptr() as usize) as u32;
    match code.heads.binary_search_by_key(&at, |h| h.at) {
        Ok(i) => &code.heads[i],
        Err(_) => ompvm_support::bug!("no loop head is there"),
    }
}

/// Counts an execution, then runs the instruction's own handler.
///
/// # Safety
/// As for any [`Handler`]; `ip` is a head's instruction.
unsafe extern "sysv64-unwind" fn count(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> Done {
    // SAFETY: the frame's code contains the instruction (the handler's contract).
    unsafe {
        let plain = seen(ip, regs);
        plain(ip, regs, cx)
    }
}

/// Counts an execution of the head at `ip`; returns the instruction's own handler.
///
/// # Safety
/// As for [`count`].
#[inline(never)]
unsafe extern "sysv64-unwind" fn seen(ip: *const u64, regs: *mut u64) -> Handler {
    // SAFETY: the frame's code contains the head, and `plain` only holds handlers.
    unsafe {
        let head = head_at(&*frame::lowered(regs), ip);
        // Higher counts are never read, and the counter would be contended by a team.
        if head.hits.load(Ordering::Relaxed) < MOST_HITS {
            head.hits.fetch_add(1, Ordering::Relaxed);
        } else {
            stop_counting(&*frame::lowered(regs), head);
        }
        std::mem::transmute::<usize, Handler>(head.plain.load(Ordering::Acquire))
    }
}

/// Stops counting at one head. If another thread is changing heads now, the next execution retries.
fn stop_counting(code: &Lowered, head: &Head) {
    let Ok(_changes) = CHANGES.try_lock() else {
        return;
    };
    if head.code.load(Ordering::Relaxed) == 0 {
        word(code, head).store(head.plain.load(Ordering::Relaxed), Ordering::Release);
        head.turned.store(0, Ordering::Release);
    }
}

/// Enters the compiled code of a loop at its head.
///
/// # Safety
/// As for [`count`].
unsafe extern "sysv64-unwind" fn leave(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> Done {
    // SAFETY: the handler's contract; `go_on` returns an instruction and its frame.
    unsafe {
        if let Some(plain) = not_yet(ip, regs) {
            return plain(ip, regs, cx);
        }
        // Records the entry as the position: no call there has a landing pad that could be mistaken
        // for one.
        let held = depart((*frame::lowered(regs)).entry, regs, cx);
        let to = go_on(ip, regs, cx);
        let cx = held.back();
        if to.returned {
            (*cx).sp = frame::saved_sp(regs);
        }
        next(to.ip, to.regs, cx)
    }
}

/// The position at which the interpreter continues.
#[repr(C)]
struct Onward {
    ip: *const u64,
    regs: *mut u64,
    /// True if the compiled code ran to the function's return.
    returned: bool,
}

/// Counts an execution; returns the instruction's own handler while the head is not to be entered
/// yet.
///
/// # Safety
/// As for [`count`].
#[inline(never)]
unsafe extern "sysv64-unwind" fn not_yet(ip: *const u64, regs: *mut u64) -> Option<Handler> {
    // SAFETY: the frame's code contains the head, and `plain` only holds handlers.
    unsafe {
        let head = head_at(&*frame::lowered(regs), ip);
        let after = head.after.load(Ordering::Relaxed);
        if after == 0 || head.hits.fetch_add(1, Ordering::Relaxed) >= after {
            return None;
        }
        Some(std::mem::transmute::<usize, Handler>(
            head.plain.load(Ordering::Acquire),
        ))
    }
}

/// Returned instead of a block number by code that has run to the function's return.
const RETURNED: u32 = u32::MAX;

/// Runs the compiled loop and, if it has no exit to the interpreter, the rest of the function,
/// which then returns from its frame.
///
/// # Safety
/// As for [`count`]; the head's code was compiled for frames of this function.
#[inline(never)]
unsafe extern "sysv64-unwind" fn go_on(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> Onward {
    // SAFETY: the head's code was compiled for frames of this function (the caller's contract).
    unsafe {
        let code = &*frame::lowered(regs);
        let head = head_at(code, ip);
        answer(head);
        let target = head.code.load(Ordering::Acquire);
        let mut out = [0u64; MAX_RESULT];
        let run: unsafe extern "C-unwind" fn(*mut u64, *mut u64, *const AtomicU32) -> u32 =
            std::mem::transmute(target);
        let outer = std::mem::replace(&mut (*cx).away, regs);
        let block = run(regs, out.as_mut_ptr(), &raw const head.better);
        (*thread::current_again()).away = outer;
        if block != RETURNED {
            let ip = code.block(BlockId::from_u32(block));
            return Onward {
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
        Onward {
            ip,
            regs: caller,
            returned: true,
        }
    }
}
