//! Typed handles of LLVM's modules, functions, blocks, values and types.
//!
//! LLVM's C interface takes one pointer type for all values and does not check that it gets the
//! kind that a call expects. Here each kind has a type of its own: what only calls have is a method
//! of [`Call`], and a [`Value`] becomes one by [`Value::as_call`], which asks LLVM. A handle is one
//! pointer that is copied freely; its lifetime `'m` is the module's, so it cannot outlive the
//! context. Handles are neither `Send` nor `Sync`: a context belongs to one thread.
//!
//! Nearly all methods are safe. What frees memory of the module is not, since any copy of the
//! handle would dangle: [`Instruction::erase`], [`Function::delete`], [`Variable::delete`]. Their
//! callers state why no handle to it is used afterwards. Iterators find the next element before
//! they return one, and users are listed up front, so a loop may erase the element that it has got.
//!
//! Methods panic where LLVM would have undefined behaviour and the caller can know better: an
//! operand that does not exist, operands of different types. There is no wrapper of what the crate
//! does not use, and the C++ passes have their own interface (`shim`).

// `llvm!` stands in arguments of `from_raw`, inside of its unsafe block.
#![allow(unused_unsafe)]

mod alias;
mod assembly;
mod attribute;
mod block;
mod builder;
mod context;
mod debug;
mod instruction;
mod kinds;
pub(crate) mod library;
pub(crate) mod machine;
mod module;
mod owned;
mod ty;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use assembly::InlineAsm;
pub(crate) use attribute::{Attribute, AttributeKind, Position};
pub(crate) use block::Block;
pub(crate) use builder::Builder;
pub(crate) use context::{OwnedContext, error_text};
pub(crate) use debug::{DebugLocation, DebugVariable, Scope, SourceFile};
pub(crate) use inkwell::llvm_sys::{
    LLVMAtomicOrdering as Ordering, LLVMAtomicRMWBinOp as AtomicOperation,
    LLVMIntPredicate as IntPredicate, LLVMLinkage as Linkage, LLVMOpcode as Opcode,
    LLVMRealPredicate as RealPredicate, LLVMTailCallKind as TailCall, LLVMTypeKind as TypeKind,
    LLVMValueKind as ValueKind, LLVMVisibility as Visibility,
};
pub(crate) use instruction::{Instruction, InstructionKind};
pub(crate) use kinds::{Alloca, Call, CallBr, Gep, Invoke, LandingPad, Load, Phi, Store, Switch};
use kinds::{Branch, CompareExchange, FloatComparison, IndirectBranch, IntComparison, Shuffle};
pub(crate) use machine::TargetMachine;
pub(crate) use module::{Context, DataLayout, Module};
pub(crate) use owned::OwnedModule;
pub(crate) use ty::Type;
pub(crate) use value::{Function, Value, Variable};

use std::marker::PhantomData;

/// Ties a handle to the module that owns what it points to.
type Owner<'m> = PhantomData<&'m ()>;

/// Defines a handle: a pointer that is never null, and the owner's lifetime.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident($raw:ident)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub(crate) struct $name<'m>(
            inkwell::llvm_sys::prelude::$raw,
            $crate::handles::Owner<'m>,
        );

        impl<'m> $name<'m> {
            /// Returns a handle of what LLVM returned.
            ///
            /// # Safety
            /// The pointer is not null, points to what the type says, and is live for `'m`.
            #[allow(dead_code)] // Some kinds only come from conversions.
            pub(crate) unsafe fn from_raw(raw: inkwell::llvm_sys::prelude::$raw) -> Self {
                debug_assert!(!raw.is_null());
                $name(raw, std::marker::PhantomData)
            }

            /// Returns a handle of what LLVM returned, and `None` for null.
            ///
            /// # Safety
            /// As for `from_raw`, but the pointer may be null.
            #[allow(dead_code)] // Some kinds are never absent.
            pub(in crate::handles) unsafe fn from_nullable(
                raw: inkwell::llvm_sys::prelude::$raw,
            ) -> Option<Self> {
                (!raw.is_null()).then_some($name(raw, std::marker::PhantomData))
            }

            /// Returns the pointer, for the C interface.
            pub(crate) fn raw(self) -> inkwell::llvm_sys::prelude::$raw {
                self.0
            }
        }
    };
}
use handle;

/// Defines a handle of a narrower kind, which dereferences to the wider one.
macro_rules! narrower {
    ($(#[$doc:meta])* $name:ident of $wider:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) struct $name<'m>($wider<'m>);

        impl<'m> $name<'m> {
            /// Returns a handle of what LLVM returned.
            ///
            /// # Safety
            /// The pointer is not null, points to what the type says, and is live for `'m`.
            #[allow(dead_code)] // Some kinds only come from conversions.
            pub(crate) unsafe fn from_raw(raw: inkwell::llvm_sys::prelude::LLVMValueRef) -> Self {
                // SAFETY: the caller's promise includes that of the wider kind.
                $name(unsafe { $wider::from_raw(raw) })
            }

            /// Returns a handle of what LLVM returned, and `None` for null.
            ///
            /// # Safety
            /// As for `from_raw`, but the pointer may be null.
            #[allow(dead_code)] // Some kinds are never absent.
            pub(in crate::handles) unsafe fn from_nullable(
                raw: inkwell::llvm_sys::prelude::LLVMValueRef,
            ) -> Option<Self> {
                // SAFETY: the caller's promise includes that of the wider kind.
                unsafe { $wider::from_nullable(raw) }.map($name)
            }
        }

        impl<'m> std::ops::Deref for $name<'m> {
            type Target = $wider<'m>;

            fn deref(&self) -> &$wider<'m> {
                &self.0
            }
        }

        impl std::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
use narrower;

/// Iterates over one of LLVM's linked lists. The next element is found before one is returned.
fn list<T: Copy>(first: Option<T>, next: impl Fn(T) -> Option<T>) -> impl Iterator<Item = T> {
    std::iter::successors(first, move |&at| next(at))
}
