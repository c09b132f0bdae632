//! Where running bytecode can be seen and left: the entry and the loop heads of a function.
//!
//! What: word 0 of these instructions is changed while others execute them, which costs a
//! program nothing where nobody does it. Watching ([`watch_entry`], [`watch_loops`]) counts who comes by, through a
//! handler that goes on with the instruction's own. Entering ([`enter_loop`]) puts compiled code
//! in a loop's way: the handler hands it the frame, and takes its result as the function's own
//! return. Quick code of a loop leaves at the head when better code is there, or to answer that somebody goes round
//! ([`Head::better`]). Each thread
//! leaves by itself, when it comes by; frames and allocas stay where they are, so exceptions and jumps through
//! the compiled code find everything below as it was.
//!
//! Rule for whatever else changes word 0: the entry and the heads of loops
//! ([`super::frame::Lowered::heads`]) must be reached through it, and changed by [`replace`]. What
//! jumps there directly (machine code of the baseline tier) looks at [`Head::turned`] first, and goes
//! through word 0 when it is set.
//!
//! What not: who is watched and what is compiled is decided in `tier`.

use super::exec::{self, Done, Handler, depart, next};
use super::frame::{self, Head, Lowered};
use super::{child, entry, lower};
use crate::ir::BlockId;
use crate::llvm::native::Place;
use crate::memory::thread::{self, ThreadState};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Most words of a result that a loop's code may hand over.
const MAX_RESULT: usize = 16;

/// Counting ends about there.
const MOST_HITS: u32 = 1 << 13;

/// Of [`Head::better`]: better code is there.
const BETTER: u32 = 1;
/// Of [`Head::better`]: whether anybody goes round is asked.
const ASKED: u32 = 2;

/// Held while word 0 of an instruction is changed.
pub(super) static CHANGES: Mutex<()> = Mutex::new(());

/// Word 0 of the instruction of a head.
fn word(code: &Lowered, head: &Head) -> &'static AtomicUsize {
    // SAFETY: the head lies in the code, which is never freed and whose words 0 are only read by
    // the dispatch, whole.
    unsafe {
        let at = code.code.as_ptr().byte_add(head.at as usize);
        AtomicUsize::from_ptr(at.cast_mut().cast())
    }
}

/// Starts or stops counting calls of a function.
pub fn watch_entry(code: &Lowered, on: bool) {
    watch_heads(code, &code.heads[..code.heads.len().min(1)], on);
}

/// Starts or stops counting who comes by at the heads of a function's loops.
pub fn watch_loops(code: &Lowered, on: bool) {
    watch_heads(code, code.heads.get(1..).unwrap_or_default(), on);
}

/// Counts begin at 0; they stay when counting ends.
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

/// Lets every thread that comes to the head `index` go on in compiled code at `address`, after
/// the next `after` times; also those that are in code which yields. Code that yields itself does not replace any.
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

/// Whether anybody came to a loop's code, or went round in code that yields, since this was asked last; yes at the
/// first question. Who does so first leaves, answers, and is in the code again.
pub fn goes_round(code: &Lowered, index: usize) -> bool {
    let better = &code.heads[index].better;
    better
        .compare_exchange(0, ASKED, Ordering::AcqRel, Ordering::Relaxed)
        .is_ok()
}

/// Somebody came; where better code has come meanwhile, that stays said.
fn answer(head: &Head) {
    if head.better.load(Ordering::Relaxed) == ASKED {
        let better = &head.better;
        let _ = better.compare_exchange(ASKED, 0, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// Has code that yields leave at the head in every round, only to be entered again: for tests of what it leaves.
pub fn yield_always(code: &Lowered, index: usize) {
    code.heads[index].better.store(BETTER, Ordering::Release);
}

/// Gives a head's instruction another handler of its own.
pub fn replace(code: &Lowered, head: &Head, handler: usize) {
    let _changes = child::lock(&CHANGES);
    let old = head.plain.swap(handler, Ordering::AcqRel);
    let _ = word(code, head).compare_exchange(old, handler, Ordering::AcqRel, Ordering::Relaxed);
}

/// Where a function's parameters and instructions are in its frame, and the words of its result;
/// `None` when its loops cannot be left.
pub fn places(code: &Lowered) -> Option<(Arc<[Place]>, u32)> {
    let fits = usize::from(code.ret_words) <= MAX_RESULT && !code.heads.is_empty();
    fits.then(|| (lower::places(code), u32::from(code.ret_words)))
}

/// The code that the word of a frame's header names, which may be anything.
pub fn code_named(word: usize) -> Option<&'static Lowered> {
    entry::known(word as *const Lowered)
}

impl Head {
    /// For the instruction at byte `at`, the first of a block or (none) the function's entry.
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

/// The head at a byte offset of the code.
pub fn head(code: &Lowered, at: u32) -> Option<&Head> {
    let i = code.heads.binary_search_by_key(&at, |h| h.at).ok()?;
    Some(&code.heads[i])
}

fn head_at(code: &Lowered, ip: *const u64) -> &Head {
    let at = (ip as usize).wrapping_sub(code.code.as_ptr() as usize) as u32;
    match code.heads.binary_search_by_key(&at, |h| h.at) {
        Ok(i) => &code.heads[i],
        Err(_) => crate::bug!("no loop head is there"),
    }
}

/// The handler of a watched instruction.
///
/// # Safety
/// As for any handler: `ip` is a head's instruction, `regs` its frame, `cx` this thread's state.
unsafe extern "sysv64-unwind" fn count(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> Done {
    // SAFETY: as for every handler: the frame's code holds the instruction.
    unsafe {
        let plain = seen(ip, regs);
        plain(ip, regs, cx)
    }
}

/// Counts who comes by at `ip`; the handler to go on with.
///
/// # Safety
/// As for [`count`].
#[inline(never)]
unsafe extern "sysv64-unwind" fn seen(ip: *const u64, regs: *mut u64) -> Handler {
    // SAFETY: as above; only handlers are stored there.
    unsafe {
        let head = head_at(&*frame::lowered(regs), ip);
        // Beyond that nobody asks, and a team would queue for the counter.
        if head.hits.load(Ordering::Relaxed) < MOST_HITS {
            head.hits.fetch_add(1, Ordering::Relaxed);
        } else {
            stop_counting(&*frame::lowered(regs), head);
        }
        std::mem::transmute::<usize, Handler>(head.plain.load(Ordering::Acquire))
    }
}

/// Ends the watch of a head alone, unless somebody changes heads just now: then who comes by next does.
fn stop_counting(code: &Lowered, head: &Head) {
    let Ok(_changes) = CHANGES.try_lock() else {
        return;
    };
    if head.code.load(Ordering::Relaxed) == 0 {
        word(code, head).store(head.plain.load(Ordering::Relaxed), Ordering::Release);
        head.turned.store(0, Ordering::Release);
    }
}

/// The handler of a loop's head whose function has code to go on in.
///
/// # Safety
/// As for [`count`].
unsafe extern "sysv64-unwind" fn leave(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> Done {
    // SAFETY: as for every handler; `go_on` gives a place and its frame.
    unsafe {
        if let Some(plain) = not_yet(ip, regs) {
            return plain(ip, regs, cx);
        }
        // The place of the entry: no call stands there whose landing pad could be meant.
        let held = depart((*frame::lowered(regs)).entry, regs, cx);
        let to = go_on(ip, regs, cx);
        let cx = held.back();
        if to.returned {
            (*cx).sp = frame::saved_sp(regs);
        }
        next(to.ip, to.regs, cx)
    }
}

/// Where the interpreter goes on.
#[repr(C)]
struct Onward {
    ip: *const u64,
    regs: *mut u64,
    /// True if the frame was left.
    returned: bool,
}

/// The handler to go on with while the head is not to be left yet.
///
/// # Safety
/// As for [`count`].
#[inline(never)]
unsafe extern "sysv64-unwind" fn not_yet(ip: *const u64, regs: *mut u64) -> Option<Handler> {
    // SAFETY: as for `seen`.
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

/// Given instead of a block by code that has run to the function's return.
const RETURNED: u32 = u32::MAX;

/// Runs the loop, and where it cannot be left the rest of the function, which returns from its frame.
///
/// # Safety
/// As for [`count`]; the code that the head names was made for this function's frames.
#[inline(never)]
unsafe extern "sysv64-unwind" fn go_on(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> Onward {
    // SAFETY: the code was made for frames of this function at this head.
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
