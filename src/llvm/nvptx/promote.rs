//! Promotes variables in shared memory to registers if only one thread uses them or all threads see
//! the same value.
//!
//! The device runtime keeps per-thread state in shared arrays indexed by the thread. Compilers let
//! the block's first thread store captured variables in shared memory, for all threads to load.
//! LLVM keeps neither in registers across a barrier, which it treats as a write of all memory, so
//! each query after a barrier is a load and a branch. Once everything is inlined into a kernel,
//!
//! - an array whose elements are only accessed at the thread's own index becomes a local variable
//!   ([`own_elements`]);
//! - a variable that is stored once, with an argument of the kernel, is replaced by the argument
//!   ([`arguments`]);
//! - a barrier before which the kernel touched no memory is removed ([`leading_barriers`]).
//!
//! This runs before [`super::cleanup::unread`], which removes the remaining stores. Functions that
//! are not inlined are not analyzed: a variable that one of them uses is left alone.

use super::{Kernel, called, function, instructions, variables};
use crate::raw::llvm;
use crate::reader::name_of;
use hashbrown::HashSet;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMTypeKind};

/// Promotes variables of all OpenMP kernels. Returns true if it changed one.
pub(crate) fn variables_of_blocks(module: LLVMModuleRef, kernels: &[Kernel]) -> bool {
    let shared: Vec<LLVMValueRef> = variables(module)
        .filter(|&v| {
            let pointer = llvm!(core::LLVMTypeOf(v));
            llvm!(core::LLVMGetLinkage(v)) == LLVMLinkage::LLVMInternalLinkage
                && llvm!(core::LLVMGetPointerAddressSpace(pointer)) == super::SHARED
        })
        .collect();
    let mut changed = false;
    // Threads of bare kernels may have an index of several dimensions.
    for kernel in kernels
        .iter()
        .filter(|k| k.refused.is_none() && k.environment.is_some_and(|e| e.mode & 3 != 0))
    {
        let Some(kernel) = function(module, &kernel.name) else {
            continue;
        };
        let reached = super::cleanup::reached(kernel);
        for &variable in &shared {
            let Some(accesses) = accesses(variable, kernel, &reached) else {
                continue;
            };
            changed |= own_elements(variable, kernel, &accesses) || arguments(kernel, &accesses);
        }
    }
    changed
}

/// A load or store of a variable.
struct Access {
    instruction: LLVMValueRef,
    /// The computation of an element's address; null for the variable itself.
    element: LLVMValueRef,
}

/// Returns a kernel's accesses to a variable; `None` if the variable is used in another way, or by
/// another function that the kernel may call.
fn accesses(
    variable: LLVMValueRef,
    kernel: LLVMValueRef,
    reached: &HashSet<LLVMValueRef>,
) -> Option<Vec<Access>> {
    let mut found = Vec::new();
    let mut open = vec![(variable, std::ptr::null_mut())];
    while let Some((pointer, element)) = open.pop() {
        let mut usage = llvm!(core::LLVMGetFirstUse(pointer));
        while !usage.is_null() {
            let user = llvm!(core::LLVMGetUser(usage));
            usage = llvm!(core::LLVMGetNextUse(usage));
            if !llvm!(core::LLVMIsAConstantExpr(user)).is_null() {
                let cast = llvm!(core::LLVMGetConstOpcode(user)) == LLVMOpcode::LLVMAddrSpaceCast;
                open.push(cast.then_some((user, element))?);
                continue;
            }
            if llvm!(core::LLVMIsAInstruction(user)).is_null() {
                return None;
            }
            let block = llvm!(core::LLVMGetInstructionParent(user));
            let function = llvm!(core::LLVMGetBasicBlockParent(block));
            if function != kernel {
                if reached.contains(&function) {
                    return None;
                }
                continue;
            }
            let plain =
                || llvm!(core::LLVMGetVolatile(user)) == 0 && llvm!(core::LLVMIsAtomic(user)) == 0;
            let access = Access {
                instruction: user,
                element,
            };
            match llvm!(core::LLVMGetInstructionOpcode(user)) {
                LLVMOpcode::LLVMAddrSpaceCast => open.push((user, element)),
                LLVMOpcode::LLVMGetElementPtr if element.is_null() => open.push((user, user)),
                LLVMOpcode::LLVMLoad if plain() => found.push(access),
                LLVMOpcode::LLVMStore
                    if plain() && llvm!(core::LLVMGetOperand(user, 0)) != pointer =>
                {
                    found.push(access);
                }
                _ => return None,
            }
        }
    }
    Some(found)
}

/// Returns the type that a load or store transfers.
fn transferred(access: &Access) -> LLVMTypeRef {
    let instruction = access.instruction;
    let value = match llvm!(core::LLVMIsALoadInst(instruction)).is_null() {
        true => llvm!(core::LLVMGetOperand(instruction, 0)),
        false => instruction,
    };
    llvm!(core::LLVMTypeOf(value))
}

/// Replaces an array by a local variable if the kernel only accesses each thread's own element.
/// Returns true if it did.
fn own_elements(variable: LLVMValueRef, kernel: LLVMValueRef, accesses: &[Access]) -> bool {
    let whole = llvm!(core::LLVMGlobalGetValueType(variable));
    if llvm!(core::LLVMGetTypeKind(whole)) != LLVMTypeKind::LLVMArrayTypeKind || accesses.is_empty()
    {
        return false;
    }
    let of = llvm!(core::LLVMGetElementType(whole));
    let own = |access: &Access| {
        !access.element.is_null()
            && transferred(access) == of
            && is_own_element(access.element, whole, of)
    };
    if !accesses.iter().all(own) {
        return false;
    }
    let context = llvm!(core::LLVMGetTypeContext(of));
    let builder = llvm!(core::LLVMCreateBuilderInContext(context));
    let entry = llvm!(core::LLVMGetEntryBasicBlock(kernel));
    let first = llvm!(core::LLVMGetFirstInstruction(entry));
    llvm!(core::LLVMPositionBuilderBefore(builder, first));
    let local = llvm!(core::LLVMBuildAlloca(builder, of, c"".as_ptr()));
    for access in accesses {
        let old = access.instruction;
        llvm!(core::LLVMPositionBuilderBefore(builder, old));
        if llvm!(core::LLVMIsALoadInst(old)).is_null() {
            let value = llvm!(core::LLVMGetOperand(old, 0));
            llvm!(core::LLVMBuildStore(builder, value, local));
        } else {
            let loaded = llvm!(core::LLVMBuildLoad2(builder, of, local, c"".as_ptr()));
            llvm!(core::LLVMReplaceAllUsesWith(old, loaded));
        }
        llvm!(core::LLVMInstructionEraseFromParent(old));
    }
    llvm!(core::LLVMDisposeBuilder(builder));
    true
}

/// Returns true if an address is that of the array element with the thread's number.
fn is_own_element(gep: LLVMValueRef, whole: LLVMTypeRef, of: LLVMTypeRef) -> bool {
    let source = llvm!(core::LLVMGetGEPSourceElementType(gep));
    let operand = |i: u32| llvm!(core::LLVMGetOperand(gep, i));
    match llvm!(core::LLVMGetNumIndices(gep)) {
        1 if source == of => is_thread(operand(1)),
        1 => scaled(operand(1), source, of),
        2 if source == whole => llvm!(core::LLVMIsNull(operand(1))) != 0 && is_thread(operand(2)),
        _ => false,
    }
}

/// Returns true if an index in units of `source` is the thread's number in units of `of`, as in
/// bytes for larger elements.
fn scaled(index: LLVMValueRef, source: LLVMTypeRef, of: LLVMTypeRef) -> bool {
    let bytes = |t: LLVMTypeRef| match llvm!(core::LLVMGetTypeKind(t)) {
        LLVMTypeKind::LLVMIntegerTypeKind => u64::from(llvm!(core::LLVMGetIntTypeWidth(t))) / 8,
        LLVMTypeKind::LLVMPointerTypeKind => 8,
        _ => 0,
    };
    let index = match llvm!(core::LLVMIsAZExtInst(index)).is_null() {
        true => index,
        false => llvm!(core::LLVMGetOperand(index, 0)),
    };
    if llvm!(core::LLVMIsAInstruction(index)).is_null() || bytes(source) == 0 {
        return false;
    }
    let Some(by) = super::grid::constant(llvm!(core::LLVMGetOperand(index, 1))) else {
        return false;
    };
    let factor = match llvm!(core::LLVMGetInstructionOpcode(index)) {
        LLVMOpcode::LLVMShl => 1u64.checked_shl(by as u32).unwrap_or(0),
        LLVMOpcode::LLVMMul => by,
        _ => return false,
    };
    factor * bytes(source) == bytes(of) && is_thread(llvm!(core::LLVMGetOperand(index, 0)))
}

/// Returns true if a value is the thread's number in its block.
fn is_thread(mut value: LLVMValueRef) -> bool {
    while !llvm!(core::LLVMIsAZExtInst(value)).is_null()
        || !llvm!(core::LLVMIsASExtInst(value)).is_null()
    {
        value = llvm!(core::LLVMGetOperand(value, 0));
    }
    called(value).is_some_and(|f| &*name_of(f) == "llvm.nvvm.read.ptx.sreg.tid.x")
}

/// Replaces loads of a variable that only ever holds one argument of the kernel by the argument.
/// Returns true if it did.
///
/// A load that runs before the store reads uninitialized memory, so any value is correct.
fn arguments(kernel: LLVMValueRef, accesses: &[Access]) -> bool {
    let is_store = |a: &&Access| !llvm!(core::LLVMIsAStoreInst(a.instruction)).is_null();
    let mut stores = accesses.iter().filter(is_store);
    let (Some(store), None) = (stores.next(), stores.next()) else {
        return false;
    };
    let of = transferred(store);
    let whole = |a: &Access| a.element.is_null() && transferred(a) == of;
    if accesses.len() < 2 || !accesses.iter().all(whole) {
        return false;
    }
    let value = llvm!(core::LLVMGetOperand(store.instruction, 0));
    let Some(casts) = casts_of_argument(value) else {
        return false;
    };
    // All threads need the value, so it is computed in the entry block.
    let context = llvm!(core::LLVMGetTypeContext(of));
    let builder = llvm!(core::LLVMCreateBuilderInContext(context));
    let entry = llvm!(core::LLVMGetEntryBasicBlock(kernel));
    let mut after = llvm!(core::LLVMGetFirstInstruction(entry));
    for &cast in &casts {
        if cast == after {
            after = llvm!(core::LLVMGetNextInstruction(after));
            continue;
        }
        llvm!(core::LLVMInstructionRemoveFromParent(cast));
        llvm!(core::LLVMPositionBuilderBefore(builder, after));
        llvm!(core::LLVMInsertIntoBuilder(builder, cast));
    }
    llvm!(core::LLVMDisposeBuilder(builder));
    for load in accesses.iter().filter(|a| !is_store(a)) {
        llvm!(core::LLVMReplaceAllUsesWith(load.instruction, value));
        llvm!(core::LLVMInstructionEraseFromParent(load.instruction));
    }
    true
}

/// Returns the conversions between an argument or constant and a value, innermost first; `None` if
/// it is computed in another way.
fn casts_of_argument(value: LLVMValueRef) -> Option<Vec<LLVMValueRef>> {
    let mut casts = Vec::new();
    let mut at = value;
    while !llvm!(core::LLVMIsACastInst(at)).is_null() {
        casts.push(at);
        at = llvm!(core::LLVMGetOperand(at, 0));
    }
    casts.reverse();
    let known =
        !llvm!(core::LLVMIsAArgument(at)).is_null() || !llvm!(core::LLVMIsAConstant(at)).is_null();
    known.then_some(casts)
}

/// Removes barriers before which a kernel touches no memory.
pub(crate) fn leading_barriers(module: LLVMModuleRef, kernels: &[Kernel]) {
    for kernel in kernels.iter().filter(|k| k.refused.is_none()) {
        let Some(kernel) = function(module, &kernel.name) else {
            continue;
        };
        let idle: Vec<LLVMValueRef> = instructions(kernel)
            .filter(|&i| super::cleanup::is_barrier(i) && nothing_precedes(i))
            .collect();
        for barrier in idle {
            llvm!(core::LLVMInstructionEraseFromParent(barrier));
        }
    }
}

fn nothing_precedes(barrier: LLVMValueRef) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![llvm!(core::LLVMGetPreviousInstruction(barrier))];
    let first = llvm!(core::LLVMGetInstructionParent(barrier));
    let mut blocks = vec![first];
    while let Some(mut at) = open.pop() {
        while !at.is_null() {
            if super::cleanup::touches_memory(at) && !super::cleanup::is_barrier(at) {
                return false;
            }
            at = llvm!(core::LLVMGetPreviousInstruction(at));
        }
        let Some(block) = blocks.pop() else { continue };
        let label = llvm!(core::LLVMBasicBlockAsValue(block));
        let mut usage = llvm!(core::LLVMGetFirstUse(label));
        while !usage.is_null() {
            let user = llvm!(core::LLVMGetUser(usage));
            usage = llvm!(core::LLVMGetNextUse(usage));
            if llvm!(core::LLVMIsATerminatorInst(user)).is_null() {
                continue;
            }
            let from = llvm!(core::LLVMGetInstructionParent(user));
            if seen.insert(from) {
                open.push(llvm!(core::LLVMGetBasicBlockTerminator(from)));
                blocks.push(from);
            }
        }
    }
    true
}
