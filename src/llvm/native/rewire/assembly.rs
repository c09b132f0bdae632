//! Inline assembly: its operands in a form that the code generator accepts outside of clang.
//!
//! Templates are changed only where they add to a memory operand. The instructions in them are not
//! looked at.

use super::Work;
use crate::native::symbol::Symbol;
use crate::raw::{copy_text, llvm};
use crate::reader::name_of;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{
    LLVMAttributeFunctionIndex, LLVMInlineAsmDialect, LLVMOpcode, LLVMVisibility,
};
use ompvm_ir::inline_asm::{displaced, inputs, is_immediate};

impl Work<'_> {
    /// Disables the red zone of functions whose assembly pushes, and makes memory operands begin
    /// with a number where the template adds to them (`4+$0`).
    pub(super) fn assembly(
        &self,
        inst: LLVMValueRef,
        callee: LLVMValueRef,
        function: LLVMValueRef,
        builder: LLVMBuilderRef,
    ) -> Result<(), String> {
        let context = self.parsed.context;
        let mut len = 0;
        let text = llvm!(core::LLVMGetInlineAsmAsmString(callee, &mut len));
        let mut template = copy_text(text, len).into_string();
        if template.contains("push") || template.contains("call") {
            let kind = "noredzone";
            let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
                kind.as_ptr().cast(),
                kind.len()
            ));
            let attribute = llvm!(core::LLVMCreateEnumAttribute(context, kind, 0));
            let on = LLVMAttributeFunctionIndex;
            llvm!(core::LLVMAddAttributeAtIndex(function, on, attribute));
        }
        let text = llvm!(core::LLVMGetInlineAsmConstraintString(callee, &mut len));
        let constraints = copy_text(text, len);
        self.function_operands(inst, &constraints)?;
        let dialect = llvm!(core::LLVMGetInlineAsmDialect(callee));
        let opcode = llvm!(core::LLVMGetInstructionOpcode(inst));
        if !template.contains("+$")
            || opcode != LLVMOpcode::LLVMCall
            || !matches!(dialect, LLVMInlineAsmDialect::LLVMInlineAsmDialectATT)
        {
            return Ok(());
        }
        let assembly = |ty: LLVMTypeRef, template: &str, constraints: &str, like: [i32; 3]| {
            llvm!(core::LLVMGetInlineAsm(
                ty,
                template.as_ptr().cast(),
                template.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                like[0],
                like[1],
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                like[2]
            ))
        };
        let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
        let mut pointers = [pointer];
        let ty = llvm!(core::LLVMFunctionType(pointer, pointers.as_mut_ptr(), 1, 0));
        // The origin of the address is hidden, so it is printed as a register alone.
        let hide = assembly(ty, "", "=r,0", [0; 3]);
        llvm!(core::LLVMPositionBuilderBefore(builder, inst));
        for (index, input) in inputs(&constraints).iter().enumerate() {
            let moved = input
                .indirect
                .then(|| displaced(&template, input.number))
                .flatten();
            let Some(moved) = moved else { continue };
            template = moved;
            let mut address = llvm!(core::LLVMGetOperand(inst, index as u32));
            let address = &raw mut address;
            let name = c"".as_ptr();
            let hidden = llvm!(core::LLVMBuildCall2(builder, ty, hide, address, 1, name));
            llvm!(core::LLVMSetOperand(inst, index as u32, hidden));
        }
        let like = [
            llvm!(core::LLVMGetInlineAsmHasSideEffects(callee)),
            llvm!(core::LLVMGetInlineAsmNeedsAlignedStack(callee)),
            llvm!(core::LLVMGetInlineAsmCanUnwind(callee)),
        ];
        let ty = llvm!(core::LLVMGetInlineAsmFunctionType(callee));
        let new = assembly(ty, &template, &constraints, like);
        let last = llvm!(core::LLVMGetNumOperands(inst)) as u32 - 1;
        llvm!(core::LLVMSetOperand(inst, last, new));
        Ok(())
    }

    /// Replaces functions as constant operands of assembly by symbols that a constraint for
    /// constants accepts: the code generator must not look them up in the global offset table.
    fn function_operands(&self, inst: LLVMValueRef, constraints: &str) -> Result<(), String> {
        for (index, input) in inputs(constraints).iter().enumerate() {
            let value = llvm!(core::LLVMGetOperand(inst, index as u32));
            if !is_immediate(input.code) || llvm!(core::LLVMIsAFunction(value)).is_null() {
                continue;
            }
            let number = match Symbol::parse(&name_of(value)) {
                Some(Symbol::Stub(n) | Symbol::External(n)) => n,
                _ => continue,
            };
            let symbol = Symbol::Operand(number);
            let name = symbol.to_string();
            let known = llvm!(core::LLVMGetNamedFunctionWithLength(
                self.parsed.module,
                name.as_ptr().cast(),
                name.len()
            ));
            let own = match known.is_null() {
                true => self.declare(symbol, llvm!(core::LLVMGlobalGetValueType(value)))?,
                false => known,
            };
            let hidden = LLVMVisibility::LLVMHiddenVisibility;
            llvm!(core::LLVMSetVisibility(own, hidden));
            llvm!(core::LLVMSetOperand(inst, index as u32, own));
        }
        Ok(())
    }
}
