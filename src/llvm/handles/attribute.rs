//! Attributes of functions and parameters.

use super::value::terminated;
use super::{Call, Function};
use crate::raw::llvm;
use inkwell::llvm_sys::LLVMAttributeFunctionIndex;

/// Part of a function that an attribute describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// The function itself.
    Function,
    /// The parameter with that number.
    Parameter(u32),
}

impl Position {
    /// Returns LLVM's number of the position.
    pub(crate) fn index(self) -> u32 {
        match self {
            Position::Function => LLVMAttributeFunctionIndex,
            Position::Parameter(number) => number + 1,
        }
    }
}

/// Returns LLVM's number of an attribute that LLVM knows (`noinline`).
///
/// # Panics
/// Panics if LLVM knows no such attribute.
fn kind(name: &str) -> u32 {
    let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
        name.as_ptr().cast(),
        name.len()
    ));
    assert!(kind != 0, "LLVM knows no attribute {name}");
    kind
}

impl<'m> Call<'m> {
    /// Adds an attribute that LLVM knows; `value` is 0 for those without one.
    pub(crate) fn add_attribute(self, at: Position, name: &str, value: u64) {
        let context = self.of().context().raw();
        let attribute = llvm!(core::LLVMCreateEnumAttribute(context, kind(name), value));
        llvm!(core::LLVMAddCallSiteAttribute(
            self.raw(),
            at.index(),
            attribute
        ));
    }
}

impl<'m> Function<'m> {
    /// Returns true if a position has an attribute that LLVM knows.
    pub(crate) fn has_attribute(self, at: Position, name: &str) -> bool {
        let kind = kind(name);
        !llvm!(core::LLVMGetEnumAttributeAtIndex(
            self.raw(),
            at.index(),
            kind
        ))
        .is_null()
    }

    /// Removes an attribute that LLVM knows. Returns true if it was there.
    pub(crate) fn remove_attribute(self, at: Position, name: &str) -> bool {
        let there = self.has_attribute(at, name);
        if there {
            let kind = kind(name);
            llvm!(core::LLVMRemoveEnumAttributeAtIndex(
                self.raw(),
                at.index(),
                kind
            ));
        }
        there
    }

    /// Adds an attribute that LLVM knows; `value` is 0 for those without one.
    pub(crate) fn add_attribute(self, at: Position, name: &str, value: u64) {
        let context = self.module().context().raw();
        let attribute = llvm!(core::LLVMCreateEnumAttribute(context, kind(name), value));
        llvm!(core::LLVMAddAttributeAtIndex(
            self.raw(),
            at.index(),
            attribute
        ));
    }

    /// Returns the text of a function's own attribute (`"target-cpu"`), if it has it.
    pub(crate) fn text_attribute(self, name: &str) -> Option<Box<str>> {
        let found = llvm!(core::LLVMGetStringAttributeAtIndex(
            self.raw(),
            LLVMAttributeFunctionIndex,
            name.as_ptr().cast(),
            name.len() as u32
        ));
        if found.is_null() {
            return None;
        }
        let mut length = 0;
        let text = llvm!(core::LLVMGetStringAttributeValue(found, &mut length));
        Some(crate::raw::copy_text(text, length as usize))
    }

    /// Sets a text attribute of the function.
    pub(crate) fn set_text_attribute(self, name: &str, text: &str) {
        let (name, text) = (terminated(name), terminated(text));
        llvm!(core::LLVMAddTargetDependentFunctionAttr(
            self.raw(),
            name.as_ptr(),
            text.as_ptr()
        ));
    }

    /// Removes a text attribute of the function.
    pub(crate) fn remove_text_attribute(self, name: &str) {
        llvm!(core::LLVMRemoveStringAttributeAtIndex(
            self.raw(),
            LLVMAttributeFunctionIndex,
            name.as_ptr().cast(),
            name.len() as u32
        ));
    }

    /// Returns the number in an attribute that LLVM knows (`dereferenceable`), if it is there.
    pub(crate) fn attribute_value(self, at: Position, name: &str) -> Option<u64> {
        let kind = kind(name);
        let found = llvm!(core::LLVMGetEnumAttributeAtIndex(
            self.raw(),
            at.index(),
            kind
        ));
        (!found.is_null()).then(|| llvm!(core::LLVMGetEnumAttributeValue(found)))
    }
}

impl Call<'_> {
    /// Returns the number in a call's own attribute that LLVM knows (`align`), if it is there.
    pub(crate) fn attribute_value(self, at: Position, name: &str) -> Option<u64> {
        let found = llvm!(core::LLVMGetCallSiteEnumAttribute(
            self.raw(),
            at.index(),
            kind(name)
        ));
        (!found.is_null()).then(|| llvm!(core::LLVMGetEnumAttributeValue(found)))
    }
}
