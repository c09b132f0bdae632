//! The last steps before code generation: removal of refused kernels, of stores to shared variables
//! that nothing reads, and of barriers before the end; small zeroing copies become stores.
//!
//! Most of it runs after inlining, since only then is a kernel's code in one function.

use super::{Kernel, called, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use crate::shim;
use hashbrown::HashSet;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode};

/// Removes refused kernels and debug information; source locations are known by now.
///
/// # Errors
/// None at present.
pub(super) fn remove(module: LLVMModuleRef, kernels: &[Kernel]) -> Result<(), String> {
    for kernel in kernels.iter().filter(|k| k.refused.is_some()) {
        if let Some(function) = super::function(module, &kernel.name) {
            shim::drop_body(function);
        }
    }
    llvm!(debuginfo::LLVMStripModuleDebugInfo(module));
    Ok(())
}

/// Removes a kernel's stores to shared variables that neither it nor its callees read: state that
/// the runtime keeps for entries that this kernel does not use.
pub(crate) fn unread(module: LLVMModuleRef) {
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
        .filter(|&f| llvm!(core::LLVMGetFunctionCallConv(f)) == super::kernel_environment::KERNEL)
}

/// Returns the functions that a kernel may call, including itself; all functions if it calls
/// through a pointer.
pub(super) fn reached(kernel: LLVMValueRef) -> HashSet<LLVMValueRef> {
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

/// Returns the kernel's stores to a variable if nothing that it reaches uses the variable
/// otherwise.
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

/// Largest memory block that is zeroed by single stores, in bytes.
const ZEROS: u64 = 512;

/// Expands small zeroing `memset` calls to stores of words: the code generator's loop goes by
/// bytes.
pub(crate) fn zeros(module: LLVMModuleRef) {
    let context = llvm!(core::LLVMGetModuleContext(module));
    let builder = llvm!(core::LLVMCreateBuilderInContext(context));
    let byte = llvm!(core::LLVMInt8TypeInContext(context));
    let calls: Vec<LLVMValueRef> = super::functions(module)
        .flat_map(instructions)
        .filter(|&i| called(i).is_some_and(|f| name_of(f).starts_with("llvm.memset.")))
        .collect();
    for call in calls {
        let [to, value, size] = [0, 1, 2].map(|i| llvm!(core::LLVMGetOperand(call, i)));
        if llvm!(core::LLVMIsNull(value)) == 0 || llvm!(core::LLVMIsAConstantInt(size)).is_null() {
            continue;
        }
        let size = llvm!(core::LLVMConstIntGetZExtValue(size));
        let name = c"align";
        let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
            name.as_ptr(),
            name.count_bytes()
        ));
        let known = llvm!(core::LLVMGetCallSiteEnumAttribute(call, 1, kind));
        let align = match known.is_null() {
            true => 1,
            false => llvm!(core::LLVMGetEnumAttributeValue(known)).clamp(1, 8),
        };
        if size > ZEROS * align / 8 || !size.is_multiple_of(align) {
            continue;
        }
        let of = llvm!(core::LLVMIntTypeInContext(context, 8 * align as u32));
        let zero = llvm!(core::LLVMConstNull(of));
        let word = llvm!(core::LLVMInt64TypeInContext(context));
        llvm!(core::LLVMPositionBuilderBefore(builder, call));
        for at in (0..size).step_by(align as usize) {
            let mut index = [llvm!(core::LLVMConstInt(word, at, 0))];
            let place = llvm!(core::LLVMBuildGEP2(
                builder,
                byte,
                to,
                index.as_mut_ptr(),
                1,
                c"".as_ptr()
            ));
            let store = llvm!(core::LLVMBuildStore(builder, zero, place));
            llvm!(core::LLVMSetAlignment(store, align as u32));
        }
        llvm!(core::LLVMInstructionEraseFromParent(call));
    }
    llvm!(core::LLVMDisposeBuilder(builder));
}

/// Removes barriers after which a kernel ends without touching memory: the end is a barrier itself.
pub(crate) fn barriers(module: LLVMModuleRef) {
    for kernel in kernels(module) {
        let idle: Vec<LLVMValueRef> = instructions(kernel)
            .filter(|&i| is_barrier(i) && nothing_follows(i))
            .collect();
        for barrier in idle {
            llvm!(core::LLVMInstructionEraseFromParent(barrier));
        }
    }
}

pub(super) fn is_barrier(instruction: LLVMValueRef) -> bool {
    called(instruction).is_some_and(|f| {
        matches!(
            &*name_of(f),
            "llvm.nvvm.barrier.cta.sync.aligned.all" | "llvm.nvvm.barrier.cta.sync.all"
        )
    })
}

pub(crate) fn nothing_follows(barrier: LLVMValueRef) -> bool {
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

pub(super) fn touches_memory(instruction: LLVMValueRef) -> bool {
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
