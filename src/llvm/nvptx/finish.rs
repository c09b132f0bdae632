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

/// Removes variables of blocks that are written and never read, with what writes them: what the
/// runtime keeps for entries that this program does not call.
pub(super) fn unread(module: LLVMModuleRef) {
    for variable in super::variables(module).collect::<Vec<_>>() {
        let pointer = llvm!(core::LLVMTypeOf(variable));
        let own = llvm!(core::LLVMGetLinkage(variable)) == LLVMLinkage::LLVMInternalLinkage;
        if !own || llvm!(core::LLVMGetPointerAddressSpace(pointer)) != super::SHARED {
            continue;
        }
        if let Some(stores) = only_stores(variable) {
            for store in stores {
                llvm!(core::LLVMInstructionEraseFromParent(store));
            }
        }
    }
}

/// All uses of a variable, when each of them stores to it.
fn only_stores(variable: LLVMValueRef) -> Option<Vec<LLVMValueRef>> {
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
            } else if !llvm!(core::LLVMIsAStoreInst(user)).is_null()
                && llvm!(core::LLVMGetOperand(user, 1)) == pointer
                && llvm!(core::LLVMGetOperand(user, 0)) != pointer
            {
                stores.push(user);
            } else {
                return None;
            }
        }
    }
    Some(stores)
}

/// Removes barriers after which a kernel ends without touching memory: its end is one.
pub(super) fn barriers(module: LLVMModuleRef) {
    for kernel in super::functions(module) {
        if llvm!(core::LLVMGetFunctionCallConv(kernel)) != super::environment::KERNEL {
            continue;
        }
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
