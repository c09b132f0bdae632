//! The baseline tier: compiles bytecode to machine code in place.
//!
//! [`compile`] generates machine code for a lowered function that uses the same frames and slots,
//! and overwrites word 0 of instructions (the address of their handler) with the address of their
//! machine code. All control flow goes through word 0, so one aligned store per block switches
//! every thread at its next instruction: in the middle of loops, after calls return, at landing
//! pads and after `longjmp`. An instruction without a template keeps its handler, which ends by
//! jumping through the next instruction's word 0.
//!
//! # Protocol
//!
//! - Registers are the handlers': `rsi` is slot 0 of the frame, `rdx` the thread's state, and `rdi`
//!   the instruction when a handler is jumped to (machine code does not preserve it). All other
//!   registers are free: [`ompvm_memory::activation::run_frames`] enters through a frame that saves
//!   the callee-saved ones.
//! - Word 0 is patched only where every live slot is in memory: at blocks that begin with nothing
//!   in registers, or whose entry loads the loop's pinned slots. All other instructions keep their
//!   handlers, which are always valid: a thread that is in the middle of a block continues with
//!   handlers until the next patched word.
//! - Before machine code jumps to a handler, it stores every live slot. Dead slots may be stale in
//!   memory; only the function itself reads them.
//! - A loop's head may be counted or become an OSR entry while machine code runs the loop
//!   ([`ompvm_interp::osr`]). Each iteration tests the head's flag; if it is set, the code stores
//!   the pinned slots and goes through word 0.
//! - The code is complete and in place before a word that leads to it is stored (with release
//!   ordering; readers depend on the address they load), and nothing is ever unpatched, moved or
//!   freed. Words are aligned, so a reader sees either the handler or the code. Compiling twice
//!   would be harmless; a flag prevents it.
//! - A table from native positions to bytecode attributes faults in machine code ([`code_memory`]);
//!   the unwinder finds one frame description for the whole code area.
//!
//! The compiler calls no native functions (handlers do), pushes no native frames, and needs no
//! deoptimization, since nothing is speculated.
//!
//! # The wall to the interpreter
//!
//! The instructions are those of [`ompvm_interp::isa`]: each row of the table here names an opcode
//! of that table, whose type proves the operands' shape. The compiler reads
//! [`LoweredFunction`]s, jumps to the handlers' addresses, and changes OSR points by
//! [`osr::replace_handler`]. The interpreter reaches the compiler through two hooks only
//! ([`ompvm_interp::set_compile_hook`], [`ompvm_interp::set_bytecode_hook`]), at a function's first
//! call or when it is warm, and for an address in a fault; guest code crosses by jumps through word
//! 0.
//!
//! Where handlers return to a loop ([`ompvm_interp::exec::TAIL_CALLS`]), as in the development
//! build, machine code is generated but never put in place.

mod asm;
mod code_memory;
mod emit;
mod flow;
mod fork;
mod generate;
mod listing;
mod pins;
mod register_cache;
mod table;

#[cfg(test)]
mod tests;

use ompvm_interp::frame::LoweredFunction;
use ompvm_interp::{exec, osr};
use ompvm_memory::image::Image;
use ompvm_support::log;
use once_cell::race::OnceBox;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub use code_memory::bytecode_at;
pub use listing::listing;

/// The baseline tier of a process.
struct Baseline {
    code: code_memory::CodeMemory,
    /// The rows of [`table`], made at the first use.
    rows: OnceBox<Vec<table::Row>>,
}

/// The baseline tier of this process: code of all programs is in one area, in which signal handlers
/// look positions up.
static BASELINE: Baseline = Baseline {
    code: code_memory::CodeMemory::new(),
    rows: OnceBox::new(),
};

/// Checks that machine code can run in this build and on this machine.
///
/// # Errors
/// The reason: the build, the processor, or a system that refuses executable memory.
pub fn available() -> Result<(), String> {
    if !exec::TAIL_CALLS || cfg!(not(target_arch = "x86_64")) {
        return Err("this build has no baseline compiler (x86-64, opt-level 3)".to_owned());
    }
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("avx") {
        return Err("the processor has no AVX".to_owned());
    }
    code_memory::available()
}

/// Executions of a function's entry and loops before it is compiled, unless that is at its first
/// call. Fewer and more made no difference that could be measured.
const WARM: u32 = 64;

/// Compiles each function of an image from now on when it is lowered, at its first call.
///
/// # Errors
/// As for [`available`]; the setting is unchanged then.
pub fn set_compile_at_first_call(image: &Image) -> Result<(), String> {
    set_compile_after(image, 0)
}

/// Compiles each function of an image from now on once its entry and its loops have been executed
/// some times.
///
/// # Errors
/// As for [`available`]; the setting is unchanged then.
pub fn set_compile_when_warm(image: &Image) -> Result<(), String> {
    set_compile_after(image, WARM)
}

fn set_compile_after(image: &Image, executions: u32) -> Result<(), String> {
    available()?;
    ompvm_interp::set_compile_hook(compile);
    image.interpreted_first.store(executions, Ordering::Relaxed);
    Ok(())
}

/// Compiles a function. May be called at any time, on any thread, while others run the function.
/// Returns false if the attempt fails; the function then stays interpreted, and later calls do
/// nothing and return true.
pub fn compile(lowered: &'static LoweredFunction) -> bool {
    if lowered.baseline_attempted.swap(true, Ordering::AcqRel) {
        return true;
    }
    if available().is_err() {
        return false;
    }
    let start = Instant::now();
    let Some(out) = generate::compile(lowered) else {
        return false;
    };
    let Some(base) = code_memory::append(&out.code) else {
        return false;
    };
    code_memory::publish_positions(
        base,
        out.code.len(),
        lowered.code.as_ptr(),
        out.positions.into(),
    );
    for &(at, to) in &out.entries {
        if let Some(head) = osr::point_at(lowered, at) {
            osr::replace_handler(lowered, head, base + to as usize);
            continue;
        }
        let word = lowered
            .code
            .as_ptr()
            .cast_mut()
            .wrapping_byte_add(at as usize);
        // SAFETY: `word` is word 0 of an instruction of code that is never freed. Other threads
        // only read it, whole, and jump to what they find: the handler or its code.
        unsafe { AtomicU64::from_ptr(word) }.store((base + to as usize) as u64, Ordering::Release);
    }
    tracing::trace!(
        target: log::BASELINE,
        function = &*lowered.image().module.functions[lowered.func].name,
        instructions = lowered.ops.len(),
        bytes = out.code.len(),
        address = ?base as *const (),
        ms = %log::ms(start.elapsed()),
        "compiled a function"
    );
    true
}
