//! Intrinsics for control flow that work across tiers only as calls of ompvm: jumps of
//! `__builtin_setjmp`, trampolines, and the frame pointer by name.
//!
//! The functions that are called stand in `memory`.

use super::Work;
use super::has_uses;
use crate::native::symbol::Symbol;
use crate::raw::{copy_text, llvm};
use crate::reader::name_of;
use inkwell::llvm_sys::LLVMAttributeFunctionIndex;
use inkwell::llvm_sys::prelude::*;
use ompvm_ir::{JUMP_BUFFER, JUMP_BUFFER_WORD};
use std::ptr::null_mut;

impl Work<'_> {
    /// Replaces intrinsics whose expansion would not work across tiers: jumps of
    /// `__builtin_setjmp`, and trampolines, which LLVM would write into memory that is not
    /// executable. Returns true if it replaced the call.
    pub(super) fn control(
        &mut self,
        inst: LLVMValueRef,
        callee: LLVMValueRef,
        function: LLVMValueRef,
        builder: LLVMBuilderRef,
    ) -> Result<bool, String> {
        let context = self.parsed.context;
        let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
        let nothing = llvm!(core::LLVMVoidTypeInContext(context));
        let int = llvm!(core::LLVMInt32TypeInContext(context));
        if llvm!(core::LLVMIsAFunction(callee)).is_null()
            || llvm!(core::LLVMGetIntrinsicID(callee)) == 0
        {
            return Ok(false);
        }
        let name = name_of(callee);
        let operand = |i| llvm!(core::LLVMGetOperand(inst, i));
        let call = match &*name {
            _ if name.starts_with("llvm.read_") && name.contains("register.i") => {
                // The code generator accepts rbp only in functions with a frame pointer.
                match &*register_name(operand(0)) {
                    "rbp" | "ebp" => self.frame_address(inst, builder),
                    _ => return Ok(false),
                }
            }
            "llvm.init.trampoline" => {
                let parts = [operand(0), operand(1), operand(2)];
                self.outer_call(Symbol::InitTrampoline, nothing, inst, builder, &parts)?
            }
            "llvm.adjust.trampoline" => {
                let parts = [operand(0)];
                self.outer_call(Symbol::AdjustTrampoline, pointer, inst, builder, &parts)?
            }
            "llvm.eh.sjlj.setjmp" => {
                let entry = llvm!(core::LLVMGetEntryBasicBlock(function));
                let first = llvm!(core::LLVMGetFirstInstruction(entry));
                llvm!(core::LLVMPositionBuilderBefore(builder, first));
                let byte = llvm!(core::LLVMInt8TypeInContext(context));
                let ty = llvm!(core::LLVMArrayType2(byte, u64::from(JUMP_BUFFER)));
                let record = llvm!(core::LLVMBuildAlloca(builder, ty, c"".as_ptr()));
                llvm!(core::LLVMSetAlignment(record, 16));
                llvm!(core::LLVMPositionBuilderBefore(builder, inst));
                let place = self.record_place(operand(0), builder);
                llvm!(core::LLVMBuildStore(builder, record, place));
                let call = self.outer_call(Symbol::SetJump, int, inst, builder, &[record])?;
                let kind = "returns_twice";
                let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
                    kind.as_ptr().cast(),
                    kind.len()
                ));
                let twice = llvm!(core::LLVMCreateEnumAttribute(context, kind, 0));
                let on = LLVMAttributeFunctionIndex;
                llvm!(core::LLVMAddCallSiteAttribute(call, on, twice));
                call
            }
            "llvm.eh.sjlj.longjmp" => {
                llvm!(core::LLVMPositionBuilderBefore(builder, inst));
                let place = self.record_place(operand(0), builder);
                let record = llvm!(core::LLVMBuildLoad2(builder, pointer, place, c"".as_ptr()));
                let one = llvm!(core::LLVMConstInt(int, 1, 0));
                self.outer_call(Symbol::LongJump, nothing, inst, builder, &[record, one])?
            }
            _ => return Ok(false),
        };
        if has_uses(inst) {
            llvm!(core::LLVMReplaceAllUsesWith(inst, call));
        }
        llvm!(core::LLVMInstructionEraseFromParent(inst));
        Ok(true)
    }

    /// Computes the frame's address as an integer of the width of `inst`.
    fn frame_address(&self, inst: LLVMValueRef, builder: LLVMBuilderRef) -> LLVMValueRef {
        const NAME: &str = "llvm.frameaddress";
        let module = self.parsed.module;
        let id = llvm!(core::LLVMLookupIntrinsicID(
            NAME.as_ptr().cast(),
            NAME.len()
        ));
        let mut pointer = llvm!(core::LLVMPointerTypeInContext(self.parsed.context, 0));
        let function = llvm!(core::LLVMGetIntrinsicDeclaration(
            module,
            id,
            &mut pointer,
            1
        ));
        let int = llvm!(core::LLVMInt32TypeInContext(self.parsed.context));
        let mut level = llvm!(core::LLVMConstInt(int, 0, 0));
        let ty = llvm!(core::LLVMGlobalGetValueType(function));
        llvm!(core::LLVMPositionBuilderBefore(builder, inst));
        let address = llvm!(core::LLVMBuildCall2(
            builder,
            ty,
            function,
            &mut level,
            1,
            c"".as_ptr()
        ));
        let to = llvm!(core::LLVMTypeOf(inst));
        llvm!(core::LLVMBuildPtrToInt(builder, address, to, c"".as_ptr()))
    }

    /// Computes the address of the word in a `__builtin_setjmp` buffer that holds its jump buffer's
    /// address.
    fn record_place(&self, buffer: LLVMValueRef, builder: LLVMBuilderRef) -> LLVMValueRef {
        let byte = llvm!(core::LLVMInt8TypeInContext(self.parsed.context));
        let word = llvm!(core::LLVMInt64TypeInContext(self.parsed.context));
        let mut at = llvm!(core::LLVMConstInt(word, JUMP_BUFFER_WORD as u64, 0));
        let index = &raw mut at;
        let name = c"".as_ptr();
        llvm!(core::LLVMBuildInBoundsGEP2(
            builder, byte, buffer, index, 1, name
        ))
    }

    /// Calls a function of ompvm before `inst`, at its source location.
    fn outer_call(
        &mut self,
        symbol: Symbol,
        ret: LLVMTypeRef,
        inst: LLVMValueRef,
        builder: LLVMBuilderRef,
        args: &[LLVMValueRef],
    ) -> Result<LLVMValueRef, String> {
        let mut types: Vec<LLVMTypeRef> =
            args.iter().map(|&a| llvm!(core::LLVMTypeOf(a))).collect();
        let count = args.len() as u32;
        let ty = llvm!(core::LLVMFunctionType(ret, types.as_mut_ptr(), count, 0));
        let name = symbol.to_string();
        let known = llvm!(core::LLVMGetNamedFunctionWithLength(
            self.parsed.module,
            name.as_ptr().cast(),
            name.len()
        ));
        let function = match known.is_null() {
            true => self.declare(symbol, ty)?,
            false => known,
        };
        llvm!(core::LLVMPositionBuilderBefore(builder, inst));
        let mut args = args.to_vec();
        let call = llvm!(core::LLVMBuildCall2(
            builder,
            ty,
            function,
            args.as_mut_ptr(),
            count,
            c"".as_ptr()
        ));
        let place = llvm!(debuginfo::LLVMInstructionGetDebugLoc(inst));
        llvm!(debuginfo::LLVMInstructionSetDebugLoc(call, place));
        Ok(call)
    }
}

/// Returns the register that a metadata argument names.
fn register_name(argument: LLVMValueRef) -> Box<str> {
    let count = llvm!(core::LLVMGetMDNodeNumOperands(argument)) as usize;
    let mut operands = vec![null_mut(); count];
    llvm!(core::LLVMGetMDNodeOperands(argument, operands.as_mut_ptr()));
    let mut len = 0;
    match operands.first() {
        Some(&name) if !name.is_null() => {
            let text = llvm!(core::LLVMGetMDString(name, &mut len));
            copy_text(text, len as usize)
        }
        _ => "".into(),
    }
}
