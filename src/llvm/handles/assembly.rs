//! Inline assembly, which calls call.

use super::{Type, Value, narrower};
use crate::raw::{copy_text, llvm};
use inkwell::llvm_sys::LLVMInlineAsmDialect::{self, LLVMInlineAsmDialectATT};
use std::ffi::c_int;

narrower! {
    /// A template with constraints of its operands.
    InlineAsm of Value
}

impl<'m> Value<'m> {
    /// Returns the value as [`InlineAsm`], if it is one.
    pub(crate) fn as_inline_asm(self) -> Option<InlineAsm<'m>> {
        // SAFETY: LLVM returns the value itself if it is assembly, and null otherwise.
        unsafe { InlineAsm::from_nullable(llvm!(core::LLVMIsAInlineAsm(self.raw()))) }
    }
}

impl<'m> InlineAsm<'m> {
    /// Returns the text with places for the operands (`mov $1, $0`).
    pub(crate) fn template(self) -> Box<str> {
        let mut length = 0;
        let text = llvm!(core::LLVMGetInlineAsmAsmString(self.raw(), &mut length));
        copy_text(text, length)
    }

    /// Returns the constraints (`=r,r,~{memory}`).
    pub(crate) fn constraints(self) -> Box<str> {
        let mut length = 0;
        let text = llvm!(core::LLVMGetInlineAsmConstraintString(
            self.raw(),
            &mut length
        ));
        copy_text(text, length)
    }

    /// Returns true for the syntax of AT&T, false for Intel's.
    pub(crate) fn is_att(self) -> bool {
        self.dialect() == LLVMInlineAsmDialectATT
    }

    /// Returns true if it does more than compute its results.
    pub(crate) fn has_side_effects(self) -> bool {
        llvm!(core::LLVMGetInlineAsmHasSideEffects(self.raw())) != 0
    }

    /// Returns true if it accesses no memory but through operands, and so calls no function.
    pub(crate) fn keeps_to_operands(self) -> bool {
        !self.constraints().contains("{memory}")
    }

    fn dialect(self) -> LLVMInlineAsmDialect {
        llvm!(core::LLVMGetInlineAsmDialect(self.raw()))
    }

    /// Returns the type with which it is called.
    pub(crate) fn signature(self) -> Type<'m> {
        // SAFETY: assembly has a function type.
        unsafe { Type::from_raw(llvm!(core::LLVMGetInlineAsmFunctionType(self.raw()))) }
    }

    /// Returns the same assembly with another template.
    pub(crate) fn with_template(self, template: &str) -> InlineAsm<'m> {
        let constraints = self.constraints();
        let options = Options {
            side_effects: llvm!(core::LLVMGetInlineAsmHasSideEffects(self.raw())),
            aligned_stack: llvm!(core::LLVMGetInlineAsmNeedsAlignedStack(self.raw())),
            dialect: self.dialect(),
            can_unwind: llvm!(core::LLVMGetInlineAsmCanUnwind(self.raw())),
        };
        make(self.signature(), template, &constraints, options)
    }
}

impl<'m> Type<'m> {
    /// Returns assembly of this function type without side effects, in the syntax of AT&T.
    pub(crate) fn assembly(self, template: &str, constraints: &str) -> InlineAsm<'m> {
        let options = Options {
            side_effects: 0,
            aligned_stack: 0,
            dialect: LLVMInlineAsmDialectATT,
            can_unwind: 0,
        };
        make(self, template, constraints, options)
    }
}

/// Properties of assembly, as LLVM's C interface takes them.
struct Options {
    side_effects: c_int,
    aligned_stack: c_int,
    dialect: LLVMInlineAsmDialect,
    can_unwind: c_int,
}

fn make<'m>(of: Type<'m>, template: &str, constraints: &str, options: Options) -> InlineAsm<'m> {
    assert!(of.is_function(), "assembly's type is a function type");
    // SAFETY: assembly lives as long as its context.
    unsafe {
        InlineAsm::from_raw(llvm!(core::LLVMGetInlineAsm(
            of.raw(),
            template.as_ptr().cast(),
            template.len(),
            constraints.as_ptr().cast(),
            constraints.len(),
            options.side_effects,
            options.aligned_stack,
            options.dialect,
            options.can_unwind
        )))
    }
}

impl<'m> From<InlineAsm<'m>> for Value<'m> {
    fn from(assembly: InlineAsm<'m>) -> Self {
        *assembly
    }
}
