//! The last steps before code generation.

use super::{Kernel, called, instructions};
use crate::llvm::raw::llvm;
use crate::llvm::reader::name_of;
use crate::llvm::shim;
use hashbrown::HashSet;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode};

/// Removes refused kernels, and what describes the source: places are known by now.
///
/// # Errors
/// None at present.
pub(super) fn remove(module: LLVMModuleRef, kernels: &[Kernel]) -> Result<(), String> {
    for kernel in kernels.iter().filter(|k| k.refused.is_some()) {
        if let Some(function) = super::function(module, &kernel.name) {
            shim::forget_body(function);
        }
    }
    llvm!(debuginfo::LLVMStripModuleDebugInfo(module));
    Ok(())
}

/// Removes what kernels write to variables of blocks that nothing reads which they call: what the
/// runtime keeps for entries that this kernel does not use.
pub(super) fn unread(module: LLVMModuleRef) {
    let shared: Vec<LLVMValueRef> = super::variables(module)
        .filter(|&v| {
            let pointer = llvm!(core::LLVMTypeOf(v));
            llvm!(core::LLVMGetLinkage(v)) == LLVMLinkage::LLVMInternalLinkage
                && llvm!(core::LLVMGetPointerAddressSpace(pointer)) == super::SHARED
        })
        .collect();
    for kernel in kernels(module) {
        let reached = reached(kernel);
        for &variable in &shared {
            for store in idle_stores(variable, kernel, &reached) {
                llvm!(core::LLVMInstructionEraseFromParent(store));
            }
        }
    }
}

fn kernels(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    super::functions(module)
        .filter(|&f| llvm!(core::LLVMGetFunctionCallConv(f)) == super::environment::KERNEL)
}

/// The functions that a kernel may call, itself included; all when it calls through a pointer.
fn reached(kernel: LLVMValueRef) -> HashSet<LLVMValueRef> {
    let mut found = HashSet::new();
    let mut open = vec![kernel];
    while let Some(function) = open.pop() {
        if !found.insert(function) {
            continue;
        }
        for instruction in instructions(function) {
            let call = !llvm!(core::LLVMIsACallInst(instruction)).is_null();
            match called(instruction) {
                Some(callee) => open.push(callee),
                None if call => {
                    let module = llvm!(core::LLVMGetGlobalParent(kernel));
                    return super::functions(module).collect();
                }
                None => {}
            }
        }
    }
    found
}

/// The kernel's stores to a variable, when nothing that it reaches does anything else with it.
fn idle_stores(
    variable: LLVMValueRef,
    kernel: LLVMValueRef,
    reached: &HashSet<LLVMValueRef>,
) -> Vec<LLVMValueRef> {
    let mut stores = Vec::new();
    let mut open = vec![variable];
    while let Some(pointer) = open.pop() {
        let mut usage = llvm!(core::LLVMGetFirstUse(pointer));
        while !usage.is_null() {
            let user = llvm!(core::LLVMGetUser(usage));
            usage = llvm!(core::LLVMGetNextUse(usage));
            let address = !llvm!(core::LLVMIsACastInst(user)).is_null()
                || !llvm!(core::LLVMIsAGetElementPtrInst(user)).is_null()
                || !llvm!(core::LLVMIsAConstantExpr(user)).is_null();
            if address {
                open.push(user);
                continue;
            }
            if llvm!(core::LLVMIsAInstruction(user)).is_null() {
                return Vec::new();
            }
            let block = llvm!(core::LLVMGetInstructionParent(user));
            let function = llvm!(core::LLVMGetBasicBlockParent(block));
            if !reached.contains(&function) {
                continue;
            }
            let store = !llvm!(core::LLVMIsAStoreInst(user)).is_null()
                && llvm!(core::LLVMGetOperand(user, 1)) == pointer
                && llvm!(core::LLVMGetOperand(user, 0)) != pointer;
            if !store {
                return Vec::new();
            }
            if function == kernel {
                stores.push(user);
            }
        }
    }
    stores
}

/// Removes barriers after which a kernel ends without touching memory: its end is one.
pub(super) fn barriers(module: LLVMModuleRef) {
    for kernel in kernels(module) {
        let idle: Vec<LLVMValueRef> = instructions(kernel)
            .filter(|&i| is_barrier(i) && nothing_follows(i))
            .collect();
        for barrier in idle {
            llvm!(core::LLVMInstructionEraseFromParent(barrier));
        }
    }
}

fn is_barrier(instruction: LLVMValueRef) -> bool {
    called(instruction).is_some_and(|f| {
        matches!(
            &*name_of(f),
            "llvm.nvvm.barrier.cta.sync.aligned.all" | "llvm.nvvm.barrier.cta.sync.all"
        )
    })
}

fn nothing_follows(barrier: LLVMValueRef) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![llvm!(core::LLVMGetNextInstruction(barrier))];
    while let Some(mut at) = open.pop() {
        while !at.is_null() {
            if is_barrier(at) || !touches_memory(at) {
                let count = match llvm!(core::LLVMIsATerminatorInst(at)).is_null() {
                    true => 0,
                    false => llvm!(core::LLVMGetNumSuccessors(at)),
                };
                for index in 0..count {
                    let block = llvm!(core::LLVMGetSuccessor(at, index));
                    if seen.insert(block) {
                        open.push(llvm!(core::LLVMGetFirstInstruction(block)));
                    }
                }
                at = llvm!(core::LLVMGetNextInstruction(at));
            } else {
                return false;
            }
        }
    }
    true
}

fn touches_memory(instruction: LLVMValueRef) -> bool {
    use LLVMOpcode::*;
    match llvm!(core::LLVMGetInstructionOpcode(instruction)) {
        LLVMLoad | LLVMStore | LLVMFence | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMVAArg => true,
        LLVMCall => !called(instruction).is_some_and(|f| {
            let name = name_of(f);
            name.starts_with("llvm.lifetime.")
                || name.starts_with("llvm.assume")
                || name.starts_with("llvm.nvvm.read.ptx.sreg.")
        }),
        _ => false,
    }
}
