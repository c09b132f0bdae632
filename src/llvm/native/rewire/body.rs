//! The instructions of one function: direct calls, fast paths, thread-local addresses, rounding.
//!
//! Assembly is left to [`super::assembly`], intrinsics for control flow to [`super::control`], and
//! the computation of the thread's block to [`super::thread_block`].

use super::Work;
use super::{instructions, intrinsic, is_call};
use crate::contract::ROUNDING;
use crate::native::fast_paths::FastPaths;
use crate::native::symbol::Symbol;
use crate::raw::llvm;
use crate::reader::name_of;
use hashbrown::HashMap;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTailCallKind};
use std::ptr::null_mut;

impl Work<'_> {
    /// Rewrites a body: direct calls, fast paths of the runtime, thread-local addresses, fused
    /// multiplications.
    pub(super) fn body(
        &mut self,
        function: LLVMValueRef,
        callees: &HashMap<LLVMValueRef, LLVMValueRef>,
        fast_paths: &FastPaths,
        offsets: &HashMap<LLVMValueRef, usize>,
    ) -> Result<(), String> {
        let context = self.parsed.context;
        let builder = llvm!(core::LLVMCreateBuilderInContext(context));
        let mut block: LLVMValueRef = null_mut();
        if llvm!(core::LLVMHasPersonalityFn(function)) != 0 {
            self.out.position_independent = true;
            // LLVM recognizes personalities by name.
            let personality = llvm!(core::LLVMGetPersonalityFn(function));
            if let Some(&named) = callees.get(&personality) {
                llvm!(core::LLVMSetPersonalityFn(function, named));
            }
        }
        for inst in instructions(function) {
            if !llvm!(core::LLVMIsABinaryOperator(inst)).is_null()
                && llvm!(core::LLVMCanValueUseFastMathFlags(inst)) != 0
                && llvm!(core::LLVMGetFastMathFlags(inst)) & ROUNDING != 0
            {
                self.exact(inst, builder);
                continue;
            }
            if !llvm!(core::LLVMIsAAllocaInst(inst)).is_null() {
                on_a_line(self.parsed.module, inst);
                continue;
            }
            if !is_call(inst) {
                continue;
            }
            let callee = llvm!(core::LLVMGetCalledValue(inst));
            if let Some(&direct) = callees.get(&callee) {
                let short = match llvm!(core::LLVMGetInstructionOpcode(inst)) {
                    LLVMOpcode::LLVMCall => fast_paths.replacement(direct),
                    _ => None,
                };
                let last = llvm!(core::LLVMGetNumOperands(inst)) as u32 - 1;
                llvm!(core::LLVMSetOperand(inst, last, short.unwrap_or(direct)));
                if short.is_none() {
                    stay_below(inst, direct);
                }
                continue;
            }
            stay_below(inst, callee);
            if is_threadlocal_address(inst) {
                let variable = llvm!(core::LLVMGetOperand(inst, 0));
                let Some(&offset) = offsets.get(&variable) else {
                    continue;
                };
                if block.is_null() {
                    block = self.thread_block(function, builder)?;
                }
                llvm!(core::LLVMPositionBuilderBefore(builder, inst));
                let byte = llvm!(core::LLVMInt8TypeInContext(context));
                let word = llvm!(core::LLVMInt64TypeInContext(context));
                let mut index = llvm!(core::LLVMConstInt(word, offset as u64, 0));
                let at = llvm!(core::LLVMBuildInBoundsGEP2(
                    builder,
                    byte,
                    block,
                    &mut index,
                    1,
                    c"".as_ptr()
                ));
                llvm!(core::LLVMReplaceAllUsesWith(inst, at));
                llvm!(core::LLVMInstructionEraseFromParent(inst));
                continue;
            }
            if !llvm!(core::LLVMIsAInlineAsm(callee)).is_null() {
                self.assembly(inst, callee, function, builder)?;
                continue;
            }
            if self.control(inst, callee, function, builder)? {
                continue;
            }
            if intrinsic(callee, "llvm.fmuladd") {
                llvm!(core::LLVMPositionBuilderBefore(builder, inst));
                let flags = llvm!(core::LLVMGetFastMathFlags(inst)) & !ROUNDING;
                let operand = |i| llvm!(core::LLVMGetOperand(inst, i));
                let (a, b, c) = (operand(0), operand(1), operand(2));
                let product = llvm!(core::LLVMBuildFMul(builder, a, b, c"".as_ptr()));
                let sum = llvm!(core::LLVMBuildFAdd(builder, product, c, c"".as_ptr()));
                for new in [product, sum] {
                    if !llvm!(core::LLVMIsAInstruction(new)).is_null() {
                        llvm!(core::LLVMSetFastMathFlags(new, flags));
                    }
                }
                llvm!(core::LLVMReplaceAllUsesWith(inst, sum));
                llvm!(core::LLVMInstructionEraseFromParent(inst));
            }
        }
        llvm!(core::LLVMDisposeBuilder(builder));
        Ok(())
    }

    /// Replaces an instruction by the same operation without permission to round differently:
    /// LLVM's C interface can set such flags but not clear them.
    fn exact(&self, inst: LLVMValueRef, builder: LLVMBuilderRef) {
        llvm!(core::LLVMPositionBuilderBefore(builder, inst));
        let flags = llvm!(core::LLVMGetFastMathFlags(inst)) & !ROUNDING;
        let opcode = llvm!(core::LLVMGetInstructionOpcode(inst));
        let a = llvm!(core::LLVMGetOperand(inst, 0));
        let b = llvm!(core::LLVMGetOperand(inst, 1));
        let new = llvm!(core::LLVMBuildBinOp(builder, opcode, a, b, c"".as_ptr()));
        if !llvm!(core::LLVMIsAInstruction(new)).is_null() {
            llvm!(core::LLVMSetFastMathFlags(new, flags));
        }
        llvm!(core::LLVMReplaceAllUsesWith(inst, new));
        llvm!(core::LLVMInstructionEraseFromParent(inst));
    }
}

/// Aligns a large local variable to a cache line. Otherwise every other 32-byte access may cross
/// one.
fn on_a_line(module: LLVMModuleRef, alloca: LLVMValueRef) {
    const LINE: u32 = 64;
    const LARGE: u64 = 256;
    let ty = llvm!(core::LLVMGetAllocatedType(alloca));
    let layout = llvm!(target::LLVMGetModuleDataLayout(module));
    let large = llvm!(core::LLVMTypeIsSized(ty)) != 0
        && llvm!(target::LLVMABISizeOfType(layout, ty)) >= LARGE;
    if large && llvm!(core::LLVMGetAlignment(alloca)) < LINE {
        llvm!(core::LLVMSetAlignment(alloca, LINE));
    }
}

fn is_threadlocal_address(inst: LLVMValueRef) -> bool {
    is_call(inst)
        && intrinsic(
            llvm!(core::LLVMGetCalledValue(inst)),
            "llvm.threadlocal.address",
        )
}

/// Prevents a tail call of native code, so that the function stays on the stack below it: otherwise
/// a fault there (a double `free`, for example) could not be located in the program.
fn stay_below(inst: LLVMValueRef, callee: LLVMValueRef) {
    let opcode = |i| llvm!(core::LLVMGetInstructionOpcode(i));
    if opcode(inst) != LLVMOpcode::LLVMCall
        || llvm!(core::LLVMIsAFunction(callee)).is_null()
        || llvm!(core::LLVMGetTailCallKind(inst)) == LLVMTailCallKind::LLVMTailCallKindMustTail
        || llvm!(core::LLVMGetIntrinsicID(callee)) != 0
        || matches!(
            Symbol::parse(&name_of(callee)),
            Some(Symbol::Function(_) | Symbol::Stub(_))
        )
    {
        return;
    }
    // Skips to the next instruction that is more than bookkeeping.
    let after = |mut i: LLVMValueRef| {
        while opcode(i) == LLVMOpcode::LLVMPHI || !llvm!(core::LLVMIsAIntrinsicInst(i)).is_null() {
            i = llvm!(core::LLVMGetNextInstruction(i));
        }
        i
    };
    let mut next = after(llvm!(core::LLVMGetNextInstruction(inst)));
    if opcode(next) == LLVMOpcode::LLVMBr && llvm!(core::LLVMIsConditional(next)) == 0 {
        let block = llvm!(core::LLVMGetSuccessor(next, 0));
        next = after(llvm!(core::LLVMGetFirstInstruction(block)));
    }
    if opcode(next) == LLVMOpcode::LLVMRet {
        let kind = LLVMTailCallKind::LLVMTailCallKindNoTail;
        llvm!(core::LLVMSetTailCallKind(inst, kind));
    }
}
