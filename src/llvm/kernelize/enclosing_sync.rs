//! Enclosing synchronization: atomic updates and critical regions around a region's loops, for the
//! host schedule.
//!
//! Each thread executes them once, and the schedule does so for all ([`super::partition`]). That is
//! equivalent if the added value is the thread's share of a sum over iterations
//! ([`super::array_reduction`]): the schedule adds the whole sum once. So these operations become
//! plain ones: a load, an addition, a store.
//!
//! Other effects of each thread on memory, such as counting, are refused: the program would observe
//! how many threads there were.

use super::partition::LoopSection;
use super::schedule_builder::is_own;
use super::{Refusal, device_names, kernel_sequence, refuse};
use crate::nvptx::{called, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use hashbrown::HashSet;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicRMWBinOp, LLVMOpcode};

/// Prefix of the entries that begin a critical region; the one with a hint has a longer name.
const CRITICAL: &str = "__kmpc_critical";
const END: &str = "__kmpc_end_critical";

fn operand(value: LLVMValueRef, index: u32) -> LLVMValueRef {
    llvm!(core::LLVMGetOperand(value, index))
}

fn opcode(value: LLVMValueRef) -> Option<LLVMOpcode> {
    let instruction = !llvm!(core::LLVMIsAInstruction(value)).is_null();
    instruction.then(|| llvm!(core::LLVMGetInstructionOpcode(value)))
}

/// Rewrites these operations. Refuses critical regions with other effects.
pub(super) fn plain(
    function: LLVMValueRef,
    sections: &[LoopSection],
    sums: &HashSet<LLVMValueRef>,
) -> Result<(), Refusal> {
    let around = |i: &LLVMValueRef| !sections.iter().any(|s| s.contains(*i));
    for at in instructions(function).collect::<Vec<_>>() {
        if !llvm!(core::LLVMIsAAtomicRMWInst(at)).is_null() && around(&at) {
            update(at, sums);
        }
    }
    let named =
        |i: LLVMValueRef, start: &str| called(i).is_some_and(|f| name_of(f).starts_with(start));
    let calls: Vec<LLVMValueRef> = instructions(function)
        .filter(|&i| named(i, CRITICAL) || named(i, END))
        .collect();
    for &call in calls.iter().filter(|&&c| named(c, CRITICAL)) {
        let odd = || refuse(device_names::reason(CRITICAL), Some(call));
        let mut seen: HashSet<LLVMBasicBlockRef> = HashSet::new();
        let mut open = vec![call];
        while let Some(mut at) = open.pop() {
            while !at.is_null() && !named(at, END) {
                if !around(&at) || !harmless(at, sums) {
                    return Err(odd());
                }
                if !llvm!(core::LLVMIsATerminatorInst(at)).is_null() {
                    let block = llvm!(core::LLVMGetInstructionParent(at));
                    for next in super::loops::successors(block) {
                        if seen.insert(next) {
                            open.push(llvm!(core::LLVMGetFirstInstruction(next)));
                        }
                    }
                }
                at = llvm!(core::LLVMGetNextInstruction(at));
            }
        }
    }
    for call in calls {
        llvm!(core::LLVMInstructionEraseFromParent(call));
    }
    Ok(())
}

/// Returns true if an instruction of a critical region has no effect but adding such a share.
fn harmless(at: LLVMValueRef, sums: &HashSet<LLVMValueRef>) -> bool {
    let written = kernel_sequence::accesses(at)
        .into_iter()
        .filter(|&(address, write)| write && !is_own(address));
    for (address, _) in written {
        if opcode(at) != Some(LLVMOpcode::LLVMStore) {
            return false;
        }
        let value = operand(at, 0);
        let reads = |value: LLVMValueRef| {
            opcode(value) == Some(LLVMOpcode::LLVMLoad) && operand(value, 0) == address
        };
        let sum = matches!(
            opcode(value),
            Some(LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMFAdd)
        );
        let (a, b) = match sum {
            true => (operand(value, 0), operand(value, 1)),
            false => return false,
        };
        if !(reads(a) && share(b, sums) || reads(b) && share(a, sums)) {
            return false;
        }
    }
    true
}

/// Returns true if a value is a thread's share of a sum, or zero.
fn share(value: LLVMValueRef, sums: &HashSet<LLVMValueRef>) -> bool {
    use LLVMOpcode::*;
    match opcode(value) {
        // Zero where the loop did not run.
        Some(LLVMPHI) => {
            let incoming = |i| llvm!(core::LLVMGetIncomingValue(value, i));
            (0..llvm!(core::LLVMCountIncoming(value)))
                .map(incoming)
                .all(|part| {
                    let nothing = opcode(part).is_none() && llvm!(core::LLVMIsNull(part)) != 0;
                    nothing || part != value && opcode(part) != Some(LLVMPHI) && share(part, sums)
                })
        }
        Some(
            LLVMSExt | LLVMZExt | LLVMTrunc | LLVMSIToFP | LLVMUIToFP | LLVMFPExt | LLVMFPToSI
            | LLVMFPToUI,
        ) => share(operand(value, 0), sums),
        Some(LLVMLoad) => {
            let mut address = operand(value, 0);
            while opcode(address) == Some(LLVMGetElementPtr) {
                address = operand(address, 0);
            }
            sums.contains(&address)
        }
        _ => false,
    }
}

/// Turns an atomic addition of such a share into a plain one.
fn update(at: LLVMValueRef, sums: &HashSet<LLVMValueRef>) {
    use LLVMAtomicRMWBinOp::*;
    let operation = llvm!(core::LLVMGetAtomicRMWBinOp(at));
    let used = super::users(at).into_iter().next().is_some();
    let (address, value) = (operand(at, 0), operand(at, 1));
    if used || !share(value, sums) {
        return;
    }
    let of = llvm!(core::LLVMTypeOf(value));
    let context = llvm!(core::LLVMGetTypeContext(of));
    let builder = llvm!(core::LLVMCreateBuilderInContext(context));
    llvm!(core::LLVMPositionBuilderBefore(builder, at));
    let none = c"".as_ptr();
    let load = || llvm!(core::LLVMBuildLoad2(builder, of, address, none));
    let new = match operation {
        LLVMAtomicRMWBinOpAdd => Some(llvm!(core::LLVMBuildAdd(builder, load(), value, none))),
        LLVMAtomicRMWBinOpFAdd => Some(llvm!(core::LLVMBuildFAdd(builder, load(), value, none))),
        _ => None,
    };
    if let Some(new) = new {
        llvm!(core::LLVMBuildStore(builder, new, address));
        llvm!(core::LLVMInstructionEraseFromParent(at));
    }
    llvm!(core::LLVMDisposeBuilder(builder));
}
