//! Attributes of functions and parameters.

use super::value::terminated;
use super::{Call, Function, Type, handle};
use crate::raw::llvm;
use inkwell::llvm_sys::prelude::LLVMAttributeRef;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeReturnIndex};

handle! {
    /// An attribute of a function, a parameter or a result.
    Attribute(LLVMAttributeRef)
}

/// LLVM's number of an attribute that LLVM knows. Releases of LLVM number differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AttributeKind(u32);

/// Part of a function that an attribute describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// The function itself.
    Function,
    /// The parameter with that number.
    Parameter(u32),
    /// The result.
    Result,
}

impl Position {
    /// Returns LLVM's number of the position.
    pub(crate) fn index(self) -> u32 {
        match self {
            Position::Function => LLVMAttributeFunctionIndex,
            Position::Parameter(number) => number + 1,
            Position::Result => LLVMAttributeReturnIndex,
        }
    }
}

impl AttributeKind {
    /// Returns the kind with that name (`noinline`).
    ///
    /// # Panics
    /// Panics if LLVM knows no such attribute.
    pub(crate) fn new(name: &str) -> AttributeKind {
        let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
            name.as_ptr().cast(),
            name.len()
        ));
        assert!(kind != 0, "LLVM knows no attribute {name}");
        AttributeKind(kind)
    }
}

/// Returns LLVM's number of an attribute that LLVM knows.
///
/// # Panics
/// Panics if LLVM knows no such attribute.
fn kind(name: &str) -> u32 {
    AttributeKind::new(name).0
}

impl<'m> Attribute<'m> {
    /// Returns the kind; `None` for text attributes.
    pub(crate) fn kind(self) -> Option<AttributeKind> {
        match llvm!(core::LLVMIsStringAttribute(self.raw())) {
            0 => Some(AttributeKind(llvm!(core::LLVMGetEnumAttributeKind(
                self.raw()
            )))),
            _ => None,
        }
    }

    /// Returns the number that the attribute holds (`align`); 0 for kinds without one.
    pub(crate) fn number(self) -> u64 {
        match llvm!(core::LLVMIsEnumAttribute(self.raw())) {
            0 => 0,
            _ => llvm!(core::LLVMGetEnumAttributeValue(self.raw())),
        }
    }

    /// Returns the type that the attribute holds (`byval`).
    pub(crate) fn held_type(self) -> Option<Type<'m>> {
        if llvm!(core::LLVMIsTypeAttribute(self.raw())) == 0 {
            return None;
        }
        // SAFETY: LLVM returns a type of the context, or null if the attribute holds none.
        unsafe { Type::from_nullable(llvm!(core::LLVMGetTypeAttributeValue(self.raw()))) }
    }
}

/// Fills a list with the attributes that `write` writes.
///
/// # Safety
/// `write` writes `count` attributes that live for `'m`.
unsafe fn fill<'m>(
    list: &mut Vec<Attribute<'m>>,
    count: u32,
    write: impl FnOnce(*mut LLVMAttributeRef),
) {
    list.clear();
    if count > 0 {
        list.reserve(count as usize);
        write(list.as_mut_ptr().cast());
        // SAFETY: `write` has written that many pointers (the caller's contract), and a handle is a
        // pointer.
        unsafe { list.set_len(count as usize) };
    }
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

impl<'m> Function<'m> {
    /// Returns true if a position has an attribute of that kind.
    pub(crate) fn has(self, at: Position, kind: AttributeKind) -> bool {
        !llvm!(core::LLVMGetEnumAttributeAtIndex(
            self.raw(),
            at.index(),
            kind.0
        ))
        .is_null()
    }

    /// Replaces the contents of a list by a position's attributes.
    pub(crate) fn attributes(self, at: Position, list: &mut Vec<Attribute<'m>>) {
        let count = llvm!(core::LLVMGetAttributeCountAtIndex(self.raw(), at.index()));
        // SAFETY: LLVM writes all attributes of the position, which live as long as the context.
        unsafe {
            fill(list, count, |start| {
                llvm!(core::LLVMGetAttributesAtIndex(
                    self.raw(),
                    at.index(),
                    start
                ));
            });
        }
    }
}

impl<'m> Call<'m> {
    /// Replaces the contents of a list by the attributes that the call itself has at a position.
    pub(crate) fn attributes(self, at: Position, list: &mut Vec<Attribute<'m>>) {
        let count = llvm!(core::LLVMGetCallSiteAttributeCount(self.raw(), at.index()));
        // SAFETY: LLVM writes all attributes of the position, which live as long as the context.
        unsafe {
            fill(list, count, |start| {
                llvm!(core::LLVMGetCallSiteAttributes(
                    self.raw(),
                    at.index(),
                    start
                ));
            });
        }
    }
}
