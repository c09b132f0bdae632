//! The block of a thread's variables: `ompvm.block()`, and its call at the start of a function.
//!
//! A cell at a fixed distance from the thread pointer holds the block's address if the process
//! reserved one; otherwise, and the first time, a function of ompvm makes the block.
//!
//! Which variables are at which offset is the request's.

use super::Work;
use super::rename;
use crate::native::symbol::Symbol;
use crate::native::target_attributes;
use crate::raw::llvm;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{
    LLVMAttributeFunctionIndex, LLVMIntPredicate, LLVMLinkage, LLVMVisibility,
};
use std::ptr::null_mut;

/// LLVM's address space for addresses relative to the thread pointer on x86-64.
const THREAD_POINTER: u32 = 257;

impl Work<'_> {
    /// Fetches the thread's block once at the start of a function.
    pub(super) fn thread_block(
        &mut self,
        function: LLVMValueRef,
        builder: LLVMBuilderRef,
    ) -> Result<LLVMValueRef, String> {
        let helper = self.helper()?;
        let entry = llvm!(core::LLVMGetEntryBasicBlock(function));
        let first = llvm!(core::LLVMGetFirstInstruction(entry));
        llvm!(core::LLVMPositionBuilderBefore(builder, first));
        let ty = llvm!(core::LLVMGlobalGetValueType(helper));
        let variables = fixed_allocas(entry);
        let call = llvm!(core::LLVMBuildCall2(
            builder,
            ty,
            helper,
            null_mut(),
            0,
            c"".as_ptr()
        ));
        // Inlining the call splits the block there, and allocas behind it would no longer be part
        // of the fixed frame.
        llvm!(core::LLVMPositionBuilderBefore(builder, call));
        for variable in variables {
            llvm!(core::LLVMInstructionRemoveFromParent(variable));
            llvm!(core::LLVMInsertIntoBuilder(builder, variable));
        }
        // A call that is inlined needs a debug location if its function has a subprogram.
        let scope = llvm!(debuginfo::LLVMGetSubprogram(function));
        if !scope.is_null() {
            let place = llvm!(debuginfo::LLVMDIBuilderCreateDebugLocation(
                self.parsed.context,
                0,
                0,
                scope,
                null_mut()
            ));
            llvm!(debuginfo::LLVMInstructionSetDebugLoc(call, place));
        }
        Ok(call)
    }

    /// Defines `ptr ompvm.block()`, which returns the cell's contents, or creates the block.
    fn helper(&mut self) -> Result<LLVMValueRef, String> {
        let (module, context) = (self.parsed.module, self.parsed.context);
        let known = llvm!(core::LLVMGetNamedFunction(module, c"ompvm.block".as_ptr()));
        if !known.is_null() {
            return Ok(known);
        }
        let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
        let mut params = [pointer];
        let make_type = llvm!(core::LLVMFunctionType(pointer, params.as_mut_ptr(), 1, 0));
        let make = self.declare(Symbol::MakeBlock, make_type)?;
        let ty = llvm!(core::LLVMFunctionType(pointer, null_mut(), 0, 0));
        let helper = llvm!(core::LLVMAddFunction(module, c"ompvm.block".as_ptr(), ty));
        llvm!(core::LLVMSetLinkage(
            helper,
            LLVMLinkage::LLVMInternalLinkage
        ));
        for name in ["alwaysinline", "nounwind"] {
            let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
                name.as_ptr().cast(),
                name.len()
            ));
            let attribute = llvm!(core::LLVMCreateEnumAttribute(context, kind, 0));
            llvm!(core::LLVMAddAttributeAtIndex(
                helper,
                LLVMAttributeFunctionIndex,
                attribute
            ));
        }
        target_attributes::forbid_wide_vectors(helper);
        target_attributes::set(helper);
        self.out.inline = true;
        let cell = match self.request.thread_cell {
            true => Some(self.outside(Symbol::ThreadCell, THREAD_POINTER)?),
            false => None,
        };
        let image = self.outside(Symbol::Image, 0)?;
        let builder = llvm!(core::LLVMCreateBuilderInContext(context));
        let block = |name: &std::ffi::CStr| {
            llvm!(core::LLVMAppendBasicBlockInContext(
                context,
                helper,
                name.as_ptr()
            ))
        };
        let entry = block(c"entry");
        let known = cell.map(|cell| {
            let (found, slow) = (block(c"found"), block(c"slow"));
            llvm!(core::LLVMPositionBuilderAtEnd(builder, entry));
            let value = llvm!(core::LLVMBuildLoad2(builder, pointer, cell, c"".as_ptr()));
            let null = llvm!(core::LLVMConstNull(pointer));
            let none = llvm!(core::LLVMBuildICmp(
                builder,
                LLVMIntPredicate::LLVMIntEQ,
                value,
                null,
                c"".as_ptr()
            ));
            llvm!(core::LLVMBuildCondBr(builder, none, slow, found));
            llvm!(core::LLVMPositionBuilderAtEnd(builder, found));
            llvm!(core::LLVMBuildRet(builder, value));
            slow
        });
        let slow = known.unwrap_or(entry);
        llvm!(core::LLVMPositionBuilderAtEnd(builder, slow));
        let mut argument = image;
        let made = llvm!(core::LLVMBuildCall2(
            builder,
            make_type,
            make,
            &mut argument,
            1,
            c"".as_ptr()
        ));
        llvm!(core::LLVMBuildRet(builder, made));
        llvm!(core::LLVMDisposeBuilder(builder));
        Ok(helper)
    }

    /// Declares a variable for a symbol.
    fn outside(&self, symbol: Symbol, address_space: u32) -> Result<LLVMValueRef, String> {
        let pointer = llvm!(core::LLVMPointerTypeInContext(self.parsed.context, 0));
        let new = llvm!(core::LLVMAddGlobalInAddressSpace(
            self.parsed.module,
            pointer,
            c"".as_ptr(),
            address_space
        ));
        rename(new, symbol)?;
        if address_space == THREAD_POINTER {
            // Resolved at link time like near symbols, without a table of addresses.
            llvm!(core::LLVMSetVisibility(
                new,
                LLVMVisibility::LLVMHiddenVisibility
            ));
        }
        Ok(new)
    }
}

/// Lists the allocas of constant size in a block.
fn fixed_allocas(block: LLVMBasicBlockRef) -> Vec<LLVMValueRef> {
    let mut found = Vec::new();
    let mut inst = llvm!(core::LLVMGetFirstInstruction(block));
    while !inst.is_null() {
        if !llvm!(core::LLVMIsAAllocaInst(inst)).is_null() {
            let count = llvm!(core::LLVMGetOperand(inst, 0));
            if llvm!(core::LLVMIsConstant(count)) != 0 {
                found.push(inst);
            }
        }
        inst = llvm!(core::LLVMGetNextInstruction(inst));
    }
    found
}
