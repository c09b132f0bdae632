//! Calls at the end of the first thread's own stack.
//!
//! Interpreter frames are several times larger than native ones. Where the stack limit cannot be
//! raised to match (a hard limit), a call that would come too near the stack's end runs in an
//! activation of its own on an overflow stack, so recursion is at least as deep as natively. A
//! native program would not get there, so a collector that scans the thread's stack misses nothing
//! that it would find natively.
//!
//! Memory that a function allocates stays on the stack that runs.

use super::entry;
use super::exec::{self, HandlerResult, dispatch, extend_stack, suspend};
use super::frame::{self, CallSite, LoweredFunction};
use super::isa::{self, Enc, op, tail_bytes};
use ompvm_memory::activation::{self, Exit};
use ompvm_memory::func::{self, FuncRef};
use ompvm_memory::thread::ThreadState;
use std::sync::atomic::Ordering;

/// A call, decoded from its instruction.
struct DecodedCall {
    code: &'static LoweredFunction,
    words: Vec<u64>,
    after: *const u64,
    dst: u16,
    results: u16,
}

/// Handles a call instruction at `ip` that found the stack used up.
///
/// # Safety
/// As for any [`exec::Handler`].
pub(super) unsafe extern "sysv64-unwind" fn handle_full_stack(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> HandlerResult {
    // SAFETY: the handler's contract; the target is the one that the instruction names.
    unsafe {
        match call_on_further_stack(ip, regs, cx) {
            Some((after, cx)) => dispatch(after, regs, cx),
            None => extend_stack(ip, regs, cx),
        }
    }
}

/// Makes the call on an overflow stack; `None` if that is not possible, in which case the thread's
/// own stack is used to its end.
///
/// # Safety
/// As for [`handle_full_stack`].
#[inline(never)]
unsafe fn call_on_further_stack(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> Option<(*const u64, *mut ThreadState)> {
    // SAFETY: the handler's contract (see [`handle_full_stack`]).
    unsafe {
        let Some(call) = decode(ip, regs) else {
            (*cx).disable_overflow_stack();
            return None;
        };
        let DecodedCall {
            code,
            words,
            after,
            dst,
            results,
        } = call;
        let stack = (*cx).overflow_stack()?;
        let held = suspend(ip, regs, cx);
        let to = std::slice::from_raw_parts_mut(regs.add(dst.into()), results.into());
        let exit = stack.call(|| entry::call_words(code, &words, to));
        drop(words);
        if let Exit::Unwound(exception) = exit {
            activation::resume_unwind(exception)
        }
        Some((after, held.resume()))
    }
}

/// Decodes the call at `ip`; `None` if it is not a plain call of guest code.
///
/// # Safety
/// As for [`handle_full_stack`].
unsafe fn decode(ip: *const u64, regs: *mut u64) -> Option<DecodedCall> {
    // SAFETY: the frame's code contains the instruction, and its opcode number implies its shape.
    unsafe {
        let caller = &*frame::code(regs);
        let off = (ip as usize).checked_sub(caller.code.as_ptr() as usize)? as u32;
        let at = caller.ops.binary_search_by_key(&off, |&(at, _)| at).ok()?;
        let number = caller.ops[at].1;
        let code_of = |func: &FuncRef| -> Option<&'static LoweredFunction> {
            func.code
                .load(Ordering::Acquire)
                .cast::<LoweredFunction>()
                .as_ref()
        };
        let list = |slots: *const u16, n: u16| -> Vec<u64> {
            (0..usize::from(n))
                .map(|i| *regs.add(usize::from(*slots.add(i))))
                .collect()
        };
        if number == op::call1.number || number == op::call1_far.number {
            let o = &(*ip.cast::<Enc<isa::Call1>>()).ops;
            return Some(DecodedCall {
                code: code_of(&*(o.func as *const FuncRef))?,
                words: vec![(*regs.add(o.a.into())).wrapping_add(o.imm as u64)],
                after: ip.byte_add(size_of::<Enc<isa::Call1>>()),
                dst: o.dst,
                results: o.words,
            });
        }
        if [op::call0.number, op::call4.number, op::call.number].contains(&number) {
            let o = &(*ip.cast::<Enc<isa::Call>>()).ops;
            let slots = ip.byte_add(size_of::<Enc<isa::Call>>());
            return Some(DecodedCall {
                code: code_of(&*(o.func as *const FuncRef))?,
                words: list(slots.cast(), o.n),
                after: slots.byte_add(tail_bytes(o.n.into())),
                dst: o.dst,
                results: o.words,
            });
        }
        if number == op::call_ptr.number {
            let o = &(*ip.cast::<Enc<isa::CallPtr>>()).ops;
            let slots = ip.byte_add(size_of::<Enc<isa::CallPtr>>());
            let site = &*(o.site as *const CallSite);
            let func = func::from_address(*regs.add(o.target.into()) as usize)?;
            return site.variadic.is_none().then_some(DecodedCall {
                code: code_of(func)?,
                words: list(slots.cast(), o.n),
                after: slots.byte_add(tail_bytes(o.n.into())),
                dst: o.dst,
                results: o.words,
            });
        }
        None
    }
}

const _: exec::Handler = handle_full_stack;
