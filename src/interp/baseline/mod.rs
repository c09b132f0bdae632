//! The baseline tier: machine code for bytecode, in place.
//!
//! What: [`compile`] makes machine code for a lowered function over the very same frames and
//! slots, and overwrites word 0 of instructions (the address of their handler) with the address
//! of their machine code. Why in place: word 0 is what everything jumps through, so one aligned
//! store per block switches every thread at its next instruction, in the middle of loops, after
//! calls return, at landing pads and after `longjmp`; and an instruction without a template just
//! stays a handler, which ends by jumping through the next one's word 0.
//!
//! # Protocol
//!
//! - Registers are the handlers': `rsi` slot 0 of the frame, `rdx` the thread's state, `rdi` the
//!   instruction when a handler is jumped to (machine code does not keep it). Everything else is
//!   free: [`crate::memory::activation::run`] enters through a frame that saves what callers own.
//! - Word 0 is patched only where every live slot is in memory: blocks that begin with nothing in
//!   registers, or whose entry loads what their loop keeps there. All other instructions keep
//!   their handlers, which work at any time: a thread that comes by in the middle of a block goes
//!   on with handlers until the next patched word.
//! - Before machine code jumps to a handler, it stores every slot that is read later. Slots that
//!   are not read any more may be stale in memory; nothing but the function itself reads them.
//! - A loop's head may be watched or left while machine code runs it ([`super::watch`]): each
//!   iteration looks at the head's flag, and when it is set stores what the loop keeps in registers
//!   and goes through word 0.
//! - The code is complete and in place before a word that leads to it is stored (release; readers
//!   depend on the address they load), and nothing is ever unpatched, moved or freed. Words are
//!   aligned, so a reader finds the handler or the code. Compiling twice is harmless; a flag keeps
//!   it to once.
//! - A fault in machine code is named by a table from native positions to bytecode
//!   ([`memory`]); the unwinder finds one frame description for the whole area.
//!
//! What not: no calls of native functions here (handlers do that), no frames on the native stack,
//! no deoptimisation: there is nothing to undo.

mod asm;
mod cache;
mod emit;
mod flow;
mod generate;
pub(super) mod memory;
mod pins;
mod table;

#[cfg(test)]
mod tests;

use super::frame::Lowered;
use super::watch;
use once_cell::race::OnceBool;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

pub use memory::bytecode_at;

static FIRST: AtomicBool = AtomicBool::new(false);

/// What was compiled in this process so far.
#[derive(Debug, Default)]
struct Totals {
    functions: AtomicUsize,
    instructions: AtomicUsize,
    bytes: AtomicUsize,
    nanoseconds: AtomicU64,
}

static TOTALS: Totals = Totals {
    functions: AtomicUsize::new(0),
    instructions: AtomicUsize::new(0),
    bytes: AtomicUsize::new(0),
    nanoseconds: AtomicU64::new(0),
};

/// Whether machine code can be made here.
///
/// # Errors
/// Why not: the processor, or a system that refuses executable memory.
pub fn available() -> Result<(), String> {
    if !std::arch::is_x86_feature_detected!("avx") {
        return Err("the processor has no AVX".to_owned());
    }
    memory::available()
}

/// From now on each function is compiled when it is lowered, at its first call.
///
/// # Errors
/// As for [`available`]; nothing is changed then.
pub fn compile_first() -> Result<(), String> {
    available()?;
    FIRST.store(true, Ordering::Relaxed);
    Ok(())
}

/// Whether functions are compiled at their first call.
pub fn compiles_first() -> bool {
    FIRST.load(Ordering::Relaxed)
}

/// Compiles a function, at any time, on any thread, while others run it. Gives whether it is
/// compiled now; without executable memory it just goes on as it is.
pub fn compile(lowered: &'static Lowered) -> bool {
    static TIMES: OnceBool = OnceBool::new();
    if lowered.compiled.swap(true, Ordering::AcqRel) {
        return true;
    }
    if available().is_err() {
        return false;
    }
    let start = TIMES
        .get_or_init(|| std::env::var_os("OMPVM_BASELINE").is_some())
        .then(Instant::now);
    let Some(out) = generate::compile(lowered) else {
        return false;
    };
    let Some(base) = memory::append(&out.code) else {
        return false;
    };
    memory::remember(
        base,
        out.code.len(),
        lowered.code.as_ptr(),
        out.positions.into(),
    );
    for &(at, to) in &out.entries {
        if let Some(head) = watch::head(lowered, at) {
            watch::replace(lowered, head, base + to as usize);
            continue;
        }
        let word = lowered
            .code
            .as_ptr()
            .cast_mut()
            .wrapping_byte_add(at as usize);
        // SAFETY: word 0 of an instruction of code that is never freed. Other threads only read
        // it, whole, and jump to what they find: the handler or its code.
        unsafe { AtomicU64::from_ptr(word) }.store((base + to as usize) as u64, Ordering::Release);
    }
    if let Some(start) = start {
        TOTALS.functions.fetch_add(1, Ordering::Relaxed);
        TOTALS
            .instructions
            .fetch_add(lowered.ops.len(), Ordering::Relaxed);
        TOTALS.bytes.fetch_add(out.code.len(), Ordering::Relaxed);
        let time = start.elapsed().as_nanos() as u64;
        let all = TOTALS.nanoseconds.fetch_add(time, Ordering::Relaxed) + time;
        eprintln!(
            "; baseline: {} instructions, {} bytes at {base:#x}, {time} ns; all {} instructions, {} bytes, {all} ns",
            lowered.ops.len(),
            out.code.len(),
            TOTALS.instructions.load(Ordering::Relaxed),
            TOTALS.bytes.load(Ordering::Relaxed),
        );
    }
    true
}
