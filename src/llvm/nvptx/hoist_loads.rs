//! Hoists loads over instructions that become branches.
//!
//! NVIDIA's assembler schedules within basic blocks, and to it correctly rounded divisions and
//! square roots are branches, to a slow path for rare operands. A load after one waits for it
//! without need, and loads that could overlap run one after the other. So within a block, loads
//! move before the first such instruction, together with their address computations.
//!
//! Nothing moves over an instruction that may write memory, or between blocks. The number of loads
//! is limited, since each holds a register until its use.

use crate::handles::{Block, Instruction, Module, Opcode, Value};
use hashbrown::HashSet;

/// Most loads that move in one block.
const MOST_LOADS: usize = 16;
/// Most instructions of one load's address.
const MOST_ADDRESS_INSTRUCTIONS: usize = 8;

/// Hoists the loads of all functions.
pub(crate) fn hoist(module: Module) {
    for block in module.functions().flat_map(|f| f.blocks()) {
        hoist_in_block(block);
    }
}

fn hoist_in_block(block: Block) {
    let mut branching = None;
    // The instructions that are, and stay, after `branching`.
    let mut behind = HashSet::new();
    let mut moved = 0;
    for at in block.instructions() {
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
                            instruction.move_before(first);
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
    }
}

/// Returns the instructions that must move with a load, in order and including it, if all of them
/// can.
fn needed<'m>(
    load: Instruction<'m>,
    behind: &HashSet<Instruction<'m>>,
) -> Option<Vec<Instruction<'m>>> {
    let mut order = Vec::new();
    // An instruction comes after its operands.
    let mut open = vec![(Value::from(load), false)];
    while let Some((value, done)) = open.pop() {
        let Some(instruction) = value.as_instruction() else {
            continue;
        };
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
        open.push((value, true));
        open.extend(instruction.operands().map(|operand| (operand, false)));
    }
    Some(order)
}

/// Returns true if the assembler turns the instruction into branches.
fn becomes_branches(instruction: Instruction) -> bool {
    use Opcode::*;
    match instruction.opcode() {
        LLVMFDiv | LLVMFRem => true,
        LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem => {
            let of = instruction.of();
            let lane = of.element().unwrap_or(of);
            lane.int_width().is_some_and(|bits| bits > 32)
        }
        LLVMCall => instruction.direct_callee().is_some_and(|f| {
            let name = f.name();
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

fn is_plain_load(instruction: Instruction) -> bool {
    instruction.opcode() == Opcode::LLVMLoad
        && !instruction.is_volatile()
        && !instruction.is_atomic()
}

/// Returns true if the instruction is cheap and independent of its position.
fn is_address(instruction: Instruction) -> bool {
    use Opcode::*;
    matches!(
        instruction.opcode(),
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
fn may_write(instruction: Instruction) -> bool {
    use Opcode::*;
    match instruction.opcode() {
        LLVMStore | LLVMFence | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMVAArg | LLVMInvoke => true,
        LLVMLoad => !is_plain_load(instruction),
        LLVMCall => {
            !becomes_branches(instruction)
                && !instruction
                    .direct_callee()
                    .is_some_and(|f| computes(&f.name()))
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
