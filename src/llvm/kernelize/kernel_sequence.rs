//! Kernel sequences: several loops in one region, as kernels one after the other.
//!
//! Each kernel runs the region for the iterations of one of its loops, while the others have none.
//! All kernels run the code around the loops, for each iteration.
//!
//! This is sound because the end of a kernel implies the barrier between two loops, and code
//! outside of the loops may run any number of times. So three things are refused: writing memory
//! outside of the loops, reading memory there that a loop changes, and using a value in one loop
//! that a thread computed in another.

use super::accesses::{AccessAnalysis, Source};
use super::loops::Loop;
use super::runtime_calls::PREFIX;
use super::{Refusal, refuse, users};
use crate::nvptx::{called, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use hashbrown::{HashMap, HashSet};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::prelude::*;

/// An access: its address, and true for a write.
pub(super) type Access = (LLVMValueRef, bool);

/// Refuses regions that kernels one after the other would run differently.
pub(super) fn check(
    look: &AccessAnalysis,
    function: LLVMValueRef,
    loops: &[Loop],
) -> Result<(), Refusal> {
    let owner = |i| loops.iter().position(|l| l.contains(i));
    // Private variables that each loop writes, or that depend on its values.
    let mut written: Vec<HashSet<LLVMValueRef>> = vec![HashSet::new(); loops.len()];
    for instruction in instructions(function) {
        for (address, write) in accesses(instruction) {
            let at = owner(instruction);
            for (source, _) in look.sources(address, instruction)? {
                if source == Source::Private {
                    continue;
                }
                if at.is_none() && write {
                    return Err(refuse(
                        "memory is written around its loops, once for each thread",
                        Some(instruction),
                    ));
                }
                if at.is_none() && look.changes(&source) {
                    return Err(refuse(
                        "memory that a loop changes is read around its loops",
                        Some(instruction),
                    ));
                }
            }
            if let (Some(at), true) = (at, write) {
                written[at].extend(variables(address));
            }
        }
    }
    for (at, written) in written.iter_mut().enumerate() {
        computed(function, &owner, at, written)?;
    }
    for instruction in instructions(function) {
        let Some(at) = owner(instruction) else {
            continue;
        };
        let touched = accesses(instruction);
        for variable in touched.iter().flat_map(|&(address, _)| variables(address)) {
            let elsewhere = |other: usize| other != at && written[other].contains(&variable);
            if (0..loops.len()).any(elsewhere) {
                return Err(between(instruction));
            }
        }
    }
    Ok(())
}

fn between(at: LLVMValueRef) -> Refusal {
    refuse(
        "a loop uses a value that its thread computed in another",
        Some(at),
    )
}

/// Follows the values that a loop computes. Refuses their use in another loop, and adds variables
/// that hold them to `written`.
fn computed(
    function: LLVMValueRef,
    owner: &dyn Fn(LLVMValueRef) -> Option<usize>,
    at: usize,
    written: &mut HashSet<LLVMValueRef>,
) -> Result<(), Refusal> {
    let mut seen: HashSet<LLVMValueRef> = HashSet::new();
    let mut open: Vec<LLVMValueRef> = instructions(function)
        .filter(|&i| owner(i) == Some(at))
        .collect();
    let mut loads: HashMap<LLVMValueRef, Vec<LLVMValueRef>> = HashMap::new();
    for load in instructions(function).filter(|&i| owner(i).is_none()) {
        for (address, write) in accesses(load) {
            for variable in variables(address).into_iter().filter(|_| !write) {
                loads.entry(variable).or_default().push(load);
            }
        }
    }
    let mut known: HashSet<LLVMValueRef> = HashSet::new();
    loop {
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            for user in users(value) {
                match owner(user) {
                    Some(other) if other == at => continue,
                    Some(_) => return Err(between(user)),
                    None => {}
                }
                for (address, write) in accesses(user) {
                    if write {
                        written.extend(variables(address));
                    }
                }
                let chooses = !llvm!(core::LLVMIsATerminatorInst(user)).is_null();
                if chooses {
                    return Err(refuse(
                        "control flow after a loop depends on a value that a thread computed in it",
                        Some(user),
                    ));
                }
                open.push(user);
            }
        }
        // Loads of such variables around the loops.
        for &variable in written.iter() {
            if known.insert(variable) {
                open.extend(loads.get(&variable).into_iter().flatten());
            }
        }
        if open.is_empty() {
            return Ok(());
        }
    }
}

/// Returns the memory accesses of an instruction, except for calls that begin and end loops.
pub(super) fn accesses(instruction: LLVMValueRef) -> Vec<Access> {
    use LLVMOpcode::*;
    let operand = |index| llvm!(core::LLVMGetOperand(instruction, index));
    match llvm!(core::LLVMGetInstructionOpcode(instruction)) {
        LLVMLoad => vec![(operand(0), false)],
        LLVMStore => vec![(operand(1), true)],
        LLVMAtomicRMW | LLVMAtomicCmpXchg => vec![(operand(0), true)],
        LLVMCall => {
            let Some(callee) = called(instruction) else {
                return Vec::new();
            };
            let name = name_of(callee);
            if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
                return vec![(operand(0), true), (operand(1), false)];
            }
            if name.starts_with("llvm.memset.") {
                return vec![(operand(0), true)];
            }
            if name.starts_with("llvm.") || name.starts_with(PREFIX) || name.starts_with("__kmpc_")
            {
                return Vec::new();
            }
            let count = llvm!(core::LLVMGetNumArgOperands(instruction));
            let pointer = |value: &LLVMValueRef| {
                let of = llvm!(core::LLVMTypeOf(*value));
                llvm!(core::LLVMGetTypeKind(of))
                    == inkwell::llvm_sys::LLVMTypeKind::LLVMPointerTypeKind
            };
            (0..count)
                .map(operand)
                .filter(pointer)
                .map(|p| (p, true))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the private variables that an address may point into.
pub(super) fn variables(address: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![address];
    while let Some(value) = open.pop() {
        if !seen.insert(value) || llvm!(core::LLVMIsAInstruction(value)).is_null() {
            continue;
        }
        match llvm!(core::LLVMGetInstructionOpcode(value)) {
            LLVMOpcode::LLVMAlloca => found.push(value),
            LLVMOpcode::LLVMPHI => {
                let count = llvm!(core::LLVMCountIncoming(value));
                open.extend((0..count).map(|i| llvm!(core::LLVMGetIncomingValue(value, i))));
            }
            LLVMOpcode::LLVMSelect => {
                open.extend([1, 2].map(|i| llvm!(core::LLVMGetOperand(value, i))));
            }
            LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMFreeze => {
                open.push(llvm!(core::LLVMGetOperand(value, 0)));
            }
            _ => {}
        }
    }
    found
}
