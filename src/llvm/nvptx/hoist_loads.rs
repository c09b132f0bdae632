//! Hoists loads over instructions that become branches.
//!
//! NVIDIA's assembler schedules within basic blocks, and to it correctly rounded divisions and
//! square roots are branches, to a slow path for rare operands. A load after one waits for it
//! without need, and loads that could overlap run one after the other. So within a block, loads
//! move before the first such instruction, together with their address computations.
//!
//! Nothing moves over an instruction that may write memory, or between blocks. The number of loads
//! is limited, since each holds a register until its use.

use super::{called, functions};
use crate::raw::llvm;
use crate::reader::name_of;
use hashbrown::HashSet;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::prelude::*;

/// Most loads that move in one block.
const MOST_LOADS: usize = 16;
/// Most instructions of one load's address.
const MOST_ADDRESS_INSTRUCTIONS: usize = 8;

/// Hoists the loads of all functions.
pub(crate) fn hoist(module: LLVMModuleRef) {
    for function in functions(module) {
        let mut block = llvm!(core::LLVMGetFirstBasicBlock(function));
        while !block.is_null() {
            hoist_in_block(block);
            block = llvm!(core::LLVMGetNextBasicBlock(block));
        }
    }
}

fn hoist_in_block(block: LLVMBasicBlockRef) {
    let mut branching = None;
    // The instructions that are, and stay, after `branching`.
    let mut behind = HashSet::new();
    let mut moved = 0;
    let mut at = llvm!(core::LLVMGetFirstInstruction(block));
    while !at.is_null() {
        let next = llvm!(core::LLVMGetNextInstruction(at));
        match branching {
            None if becomes_branches(at) => {
                branching = Some(at);
                behind.insert(at);
            }
            None => {}
            Some(first) => {
                behind.insert(at);
                if is_plain_load(at) && moved < MOST_LOADS {
                    if let Some(needed) = needed(at, &behind) {
                        for instruction in needed {
                            put_before(instruction, first);
                            behind.remove(&instruction);
                        }
                        moved += 1;
                    }
                } else if may_write(at) {
                    branching = None;
                    behind.clear();
                    moved = 0;
                }
            }
        }
        at = next;
    }
}

/// Returns the instructions that must move with a load, in order and including it, if all of them
/// can.
fn needed(load: LLVMValueRef, behind: &HashSet<LLVMValueRef>) -> Option<Vec<LLVMValueRef>> {
    let mut order = Vec::new();
    // An instruction comes after its operands.
    let mut open = vec![(load, false)];
    while let Some((instruction, done)) = open.pop() {
        if !behind.contains(&instruction) || order.contains(&instruction) {
            continue;
        }
        if done {
            order.push(instruction);
            continue;
        }
        if (instruction != load && !is_address(instruction))
            || open.len() > MOST_ADDRESS_INSTRUCTIONS
        {
            return None;
        }
        open.push((instruction, true));
        let count = llvm!(core::LLVMGetNumOperands(instruction));
        let operand = |i: i32| llvm!(core::LLVMGetOperand(instruction, i as u32));
        open.extend((0..count).map(|i| (operand(i), false)));
    }
    Some(order)
}

fn put_before(instruction: LLVMValueRef, place: LLVMValueRef) {
    let of = llvm!(core::LLVMTypeOf(instruction));
    let context = llvm!(core::LLVMGetTypeContext(of));
    let builder = llvm!(core::LLVMCreateBuilderInContext(context));
    llvm!(core::LLVMInstructionRemoveFromParent(instruction));
    llvm!(core::LLVMPositionBuilderBefore(builder, place));
    llvm!(core::LLVMInsertIntoBuilder(builder, instruction));
    llvm!(core::LLVMDisposeBuilder(builder));
}

/// Returns true if the assembler turns the instruction into branches.
fn becomes_branches(instruction: LLVMValueRef) -> bool {
    use LLVMOpcode::*;
    match llvm!(core::LLVMGetInstructionOpcode(instruction)) {
        LLVMFDiv | LLVMFRem => true,
        LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem => {
            let of = llvm!(core::LLVMTypeOf(instruction));
            llvm!(core::LLVMGetIntTypeWidth(of)) > 32
        }
        LLVMCall => called(instruction).is_some_and(|f| {
            let name = name_of(f);
            [
                "llvm.sqrt.",
                "llvm.nvvm.sqrt.r",
                "llvm.nvvm.div.r",
                "llvm.nvvm.rcp.r",
            ]
            .iter()
            .any(|begin| name.starts_with(begin))
        }),
        _ => false,
    }
}

fn is_plain_load(instruction: LLVMValueRef) -> bool {
    !llvm!(core::LLVMIsALoadInst(instruction)).is_null()
        && llvm!(core::LLVMGetVolatile(instruction)) == 0
        && llvm!(core::LLVMIsAtomic(instruction)) == 0
}

/// Returns true if the instruction is cheap and independent of its position.
fn is_address(instruction: LLVMValueRef) -> bool {
    use LLVMOpcode::*;
    matches!(
        llvm!(core::LLVMGetInstructionOpcode(instruction)),
        LLVMGetElementPtr
            | LLVMAdd
            | LLVMSub
            | LLVMMul
            | LLVMShl
            | LLVMAnd
            | LLVMOr
            | LLVMXor
            | LLVMLShr
            | LLVMAShr
            | LLVMZExt
            | LLVMSExt
            | LLVMTrunc
            | LLVMBitCast
            | LLVMAddrSpaceCast
    ) || is_plain_load(instruction)
}

/// Returns true if the instruction may write memory, wait, or not terminate.
fn may_write(instruction: LLVMValueRef) -> bool {
    use LLVMOpcode::*;
    match llvm!(core::LLVMGetInstructionOpcode(instruction)) {
        LLVMStore | LLVMFence | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMVAArg | LLVMInvoke => true,
        LLVMLoad => !is_plain_load(instruction),
        LLVMCall => {
            !becomes_branches(instruction)
                && !called(instruction).is_some_and(|f| computes(&name_of(f)))
        }
        _ => false,
    }
}

/// Returns true for intrinsics that compute from their operands alone.
fn computes(name: &str) -> bool {
    const BEGINNINGS: [&str; 16] = [
        "llvm.fma.",
        "llvm.fmuladd.",
        "llvm.fabs.",
        "llvm.floor.",
        "llvm.ceil.",
        "llvm.trunc.",
        "llvm.rint.",
        "llvm.copysign.",
        "llvm.minnum.",
        "llvm.maxnum.",
        "llvm.smin.",
        "llvm.smax.",
        "llvm.umin.",
        "llvm.umax.",
        "llvm.nvvm.f",
        "llvm.nvvm.ex2.",
    ];
    name.starts_with("llvm.nvvm.read.ptx.sreg.")
        || BEGINNINGS.iter().any(|begin| name.starts_with(begin))
}
