//! Kinds of instructions that have more than operands.
//!
//! An [`Instruction`] becomes one by [`Instruction::by_kind`], or by the methods of [`Value`] that
//! ask for one kind.

use super::{
    Block, Function, Instruction, IntPredicate, Opcode, Ordering, RealPredicate, TailCall, Type,
    Value, narrower,
};
use crate::raw::{copy_text, llvm};

narrower! {
    /// A call, an invoke or a `callbr`.
    Call of Instruction
}

narrower! {
    /// A join of values from the block's predecessors.
    Phi of Instruction
}

narrower! {
    /// A read of memory.
    Load of Instruction
}

narrower! {
    /// A write of memory.
    Store of Instruction
}

narrower! {
    /// A local variable.
    Alloca of Instruction
}

narrower! {
    /// A computation of an element's address.
    Gep of Instruction
}

narrower! {
    /// The place where a call's exception arrives.
    LandingPad of Instruction
}

narrower! {
    /// A call that may leave by an exception.
    Invoke of Call
}

narrower! {
    /// A call of assembly that may branch.
    CallBr of Call
}

narrower! {
    /// A branch to one block, or to one of two.
    Branch of Instruction
}

narrower! {
    /// A branch by an integer.
    Switch of Instruction
}

narrower! {
    /// A branch to an address.
    IndirectBranch of Instruction
}

narrower! {
    /// A comparison of integers or pointers.
    IntComparison of Instruction
}

narrower! {
    /// A comparison of floating-point numbers.
    FloatComparison of Instruction
}

narrower! {
    /// A selection of elements of two vectors.
    Shuffle of Instruction
}

narrower! {
    /// An atomic write of memory that holds an expected value.
    CompareExchange of Instruction
}

impl<'m> Call<'m> {
    /// Returns what is called: a function, a pointer or assembly.
    pub(crate) fn called(self) -> Value<'m> {
        // SAFETY: calls call something.
        unsafe { Value::from_raw(llvm!(core::LLVMGetCalledValue(self.raw()))) }
    }

    /// Returns the function of a direct call.
    pub(crate) fn callee(self) -> Option<Function<'m>> {
        self.called().as_function()
    }

    /// Returns the number of arguments.
    pub(crate) fn argument_count(self) -> u32 {
        llvm!(core::LLVMGetNumArgOperands(self.raw()))
    }

    /// Iterates over the arguments.
    pub(crate) fn arguments(
        self,
    ) -> impl DoubleEndedIterator<Item = Value<'m>> + ExactSizeIterator {
        // SAFETY: a call's first operands are its arguments.
        (0..self.argument_count()).map(move |index| unsafe { self.operand_of_kind(index) })
    }

    /// Returns an argument.
    ///
    /// # Panics
    /// Panics if there is no such argument.
    pub(crate) fn argument(self, index: u32) -> Value<'m> {
        assert!(
            index < self.argument_count(),
            "{self:?} has no argument {index}"
        );
        self.operand(index)
    }

    /// Makes it a call of something else of the same type.
    pub(crate) fn set_called(self, value: impl Into<Value<'m>>) {
        self.set_operand(self.operand_count() - 1, value);
    }

    /// Returns true if the call must reuse its caller's frame (`musttail`).
    pub(crate) fn is_must_tail(self) -> bool {
        self.tail() == TailCall::LLVMTailCallKindMustTail
    }

    /// Returns whether the call may reuse its caller's frame; invokes never do.
    pub(crate) fn tail(self) -> TailCall {
        match self.opcode() {
            Opcode::LLVMCall => llvm!(core::LLVMGetTailCallKind(self.raw())),
            _ => TailCall::LLVMTailCallKindNone,
        }
    }

    /// Returns the type of what is called.
    pub(crate) fn signature(self) -> Type<'m> {
        // SAFETY: calls have a function type.
        unsafe { Type::from_raw(llvm!(core::LLVMGetCalledFunctionType(self.raw()))) }
    }

    /// Returns the number of the calling convention.
    pub(crate) fn convention(self) -> u32 {
        llvm!(core::LLVMGetInstructionCallConv(self.raw()))
    }

    /// Sets the calling convention.
    pub(crate) fn set_convention(self, convention: u32) {
        llvm!(core::LLVMSetInstructionCallConv(self.raw(), convention));
    }

    /// Iterates over the names of the groups of operands that are no arguments (`"deopt"`).
    pub(crate) fn bundle_tags(self) -> impl Iterator<Item = Box<str>> {
        let count = llvm!(core::LLVMGetNumOperandBundles(self.raw()));
        (0..count).map(move |index| {
            let bundle = llvm!(core::LLVMGetOperandBundleAtIndex(self.raw(), index));
            let mut length = 0;
            let tag = llvm!(core::LLVMGetOperandBundleTag(bundle, &mut length));
            let tag = copy_text(tag, length);
            llvm!(core::LLVMDisposeOperandBundle(bundle));
            tag
        })
    }

    /// Forbids that the call reuses its caller's frame.
    ///
    /// # Panics
    /// Panics for invokes, which never do.
    pub(crate) fn forbid_tail(self) {
        assert_eq!(self.opcode(), Opcode::LLVMCall, "{self:?}");
        let kind = TailCall::LLVMTailCallKindNoTail;
        llvm!(core::LLVMSetTailCallKind(self.raw(), kind));
    }
}

impl<'m> Phi<'m> {
    /// Iterates over the values and the blocks that they come from.
    pub(crate) fn incoming(self) -> impl Iterator<Item = (Value<'m>, Block<'m>)> {
        let count = llvm!(core::LLVMCountIncoming(self.raw()));
        (0..count).map(move |index| {
            // SAFETY: the edge exists.
            unsafe {
                (
                    Value::from_raw(llvm!(core::LLVMGetIncomingValue(self.raw(), index))),
                    Block::from_raw(llvm!(core::LLVMGetIncomingBlock(self.raw(), index))),
                )
            }
        })
    }

    /// Adds a value for an edge.
    ///
    /// # Panics
    /// Panics if the value has another type.
    pub(crate) fn add_incoming(self, value: impl Into<Value<'m>>, from: Block<'m>) {
        let value = value.into();
        assert_eq!(self.of(), value.of(), "{self:?}");
        let (mut value, mut from) = (value.raw(), from.raw());
        llvm!(core::LLVMAddIncoming(self.raw(), &mut value, &mut from, 1));
    }
}

/// Defines what accesses of memory and local variables have.
macro_rules! aligned {
    ($($kind:ident)*) => {
        $(
            impl<'m> $kind<'m> {
                /// Returns the alignment in bytes.
                pub(crate) fn alignment(self) -> u32 {
                    llvm!(core::LLVMGetAlignment(self.raw()))
                }

                /// Sets the alignment in bytes.
                #[allow(dead_code)] // Some kinds keep theirs.
                pub(crate) fn set_alignment(self, bytes: u32) {
                    assert!(bytes.is_power_of_two(), "{bytes} is no alignment");
                    llvm!(core::LLVMSetAlignment(self.raw(), bytes));
                }
            }
        )*
    };
}

aligned! { Alloca Load Store }

/// Defines what reads and writes of memory have, without the questions about the opcode that the
/// methods of [`Instruction`] begin with.
macro_rules! access {
    ($($kind:ident at $pointer:literal)*) => {
        $(
            impl<'m> $kind<'m> {
                /// Returns the address.
                pub(crate) fn pointer(self) -> Value<'m> {
                    // SAFETY: this kind has the operand.
                    unsafe { self.operand_of_kind($pointer) }
                }

                /// Returns true if the access must happen as it is written.
                pub(crate) fn is_volatile(self) -> bool {
                    llvm!(core::LLVMGetVolatile(self.raw())) != 0
                }

                /// Returns how the access orders others.
                pub(crate) fn ordering(self) -> Ordering {
                    llvm!(core::LLVMGetOrdering(self.raw()))
                }
            }
        )*
    };
}

access! { Load at 0  Store at 1 }

impl<'m> Store<'m> {
    /// Returns the value that is written.
    pub(crate) fn value(self) -> Value<'m> {
        // SAFETY: writes have a value.
        unsafe { self.operand_of_kind(0) }
    }
}

impl<'m> Alloca<'m> {
    /// Returns the type of one element.
    pub(crate) fn allocated(self) -> Type<'m> {
        // SAFETY: local variables have a type.
        unsafe { Type::from_raw(llvm!(core::LLVMGetAllocatedType(self.raw()))) }
    }

    /// Returns the number of elements.
    pub(crate) fn count(self) -> Value<'m> {
        // SAFETY: local variables have a number of elements.
        unsafe { self.operand_of_kind(0) }
    }
}

impl<'m> CompareExchange<'m> {
    /// Returns how the access orders others if it fails.
    pub(crate) fn failure_ordering(self) -> Ordering {
        llvm!(core::LLVMGetCmpXchgFailureOrdering(self.raw()))
    }

    /// Returns how the access orders others if it succeeds.
    pub(crate) fn success_ordering(self) -> Ordering {
        llvm!(core::LLVMGetCmpXchgSuccessOrdering(self.raw()))
    }

    /// Returns true if the access may fail though the memory holds the expected value.
    pub(crate) fn is_weak(self) -> bool {
        llvm!(core::LLVMGetWeak(self.raw())) != 0
    }
}

impl IntComparison<'_> {
    /// Returns the predicate.
    pub(crate) fn predicate(self) -> IntPredicate {
        llvm!(core::LLVMGetICmpPredicate(self.raw()))
    }
}

impl FloatComparison<'_> {
    /// Returns the predicate.
    pub(crate) fn predicate(self) -> RealPredicate {
        llvm!(core::LLVMGetFCmpPredicate(self.raw()))
    }
}

impl Shuffle<'_> {
    /// Iterates over the numbers of the selected elements, which go through both vectors; negative
    /// for an element without a value.
    pub(crate) fn mask(self) -> impl Iterator<Item = i32> {
        let count = llvm!(core::LLVMGetNumMaskElements(self.raw()));
        (0..count).map(move |index| llvm!(core::LLVMGetMaskValue(self.raw(), index)))
    }
}

impl<'m> Branch<'m> {
    /// Returns the condition of a branch to one of two blocks, and both.
    pub(crate) fn conditional(self) -> Option<(Value<'m>, [Block<'m>; 2])> {
        if llvm!(core::LLVMIsConditional(self.raw())) == 0 {
            return None;
        }
        // SAFETY: the branch has a condition and two successors.
        unsafe {
            let condition = Value::from_raw(llvm!(core::LLVMGetCondition(self.raw())));
            Some((condition, [self.successor(0), self.successor(1)]))
        }
    }

    /// Returns the block where the branch leads; with a condition, if that is true.
    pub(crate) fn target(self) -> Block<'m> {
        // SAFETY: branches have a successor.
        unsafe { self.successor(0) }
    }
}

impl<'m> Switch<'m> {
    /// Returns the block for other values than those of the cases.
    pub(crate) fn default(self) -> Block<'m> {
        // SAFETY: switches have a default.
        unsafe { Block::from_raw(llvm!(core::LLVMGetSwitchDefaultDest(self.raw()))) }
    }

    /// Iterates over the values and blocks of the cases.
    pub(crate) fn cases(self) -> impl Iterator<Item = (Value<'m>, Block<'m>)> {
        // SAFETY: switches are terminators.
        let count = unsafe { self.successor_count() };
        // SAFETY: each successor but the first has a value.
        (1..count).map(move |index| unsafe {
            let value = Value::from_raw(llvm!(core::LLVMGetSwitchCaseValue(self.raw(), index)));
            (value, self.successor(index))
        })
    }
}

impl<'m> IndirectBranch<'m> {
    /// Returns the address.
    pub(crate) fn address(self) -> Value<'m> {
        // SAFETY: these branches have an address.
        unsafe { self.operand_of_kind(0) }
    }
}

impl<'m> Invoke<'m> {
    /// Returns the block where the call returns to.
    pub(crate) fn normal(self) -> Block<'m> {
        // SAFETY: invokes have such a block.
        unsafe { Block::from_raw(llvm!(core::LLVMGetNormalDest(self.raw()))) }
    }

    /// Returns the block where the call's exception arrives.
    pub(crate) fn unwind(self) -> Block<'m> {
        // SAFETY: invokes have such a block.
        unsafe { Block::from_raw(llvm!(core::LLVMGetUnwindDest(self.raw()))) }
    }
}

impl<'m> CallBr<'m> {
    /// Returns the block behind the assembly.
    pub(crate) fn fallthrough(self) -> Block<'m> {
        // SAFETY: these calls have such a block.
        unsafe { Block::from_raw(llvm!(core::LLVMGetCallBrDefaultDest(self.raw()))) }
    }

    /// Iterates over the blocks where the assembly may branch to.
    pub(crate) fn targets(self) -> impl Iterator<Item = Block<'m>> {
        let count = llvm!(core::LLVMGetCallBrNumIndirectDests(self.raw()));
        // SAFETY: the target exists.
        (0..count).map(move |index| unsafe {
            Block::from_raw(llvm!(core::LLVMGetCallBrIndirectDest(self.raw(), index)))
        })
    }
}

impl<'m> Gep<'m> {
    /// Returns the type over which the first index steps.
    pub(crate) fn source_type(self) -> Type<'m> {
        // SAFETY: address computations have a source type.
        unsafe { Type::from_raw(llvm!(core::LLVMGetGEPSourceElementType(self.raw()))) }
    }

    /// Returns the address where it starts.
    pub(crate) fn pointer(self) -> Value<'m> {
        // SAFETY: address computations have a start.
        unsafe { self.operand_of_kind(0) }
    }

    /// Iterates over the indices.
    pub(crate) fn indices(self) -> impl Iterator<Item = Value<'m>> {
        self.operands().skip(1)
    }
}

impl<'m> LandingPad<'m> {
    /// Returns true if the block runs also for exceptions that no clause names.
    pub(crate) fn is_cleanup(self) -> bool {
        llvm!(core::LLVMIsCleanup(self.raw())) != 0
    }

    /// Iterates over the clauses: a catch's type info, or a filter's array of them.
    pub(crate) fn clauses(self) -> impl Iterator<Item = Value<'m>> {
        let count = llvm!(core::LLVMGetNumClauses(self.raw()));
        // SAFETY: the clause exists.
        (0..count).map(move |index| unsafe {
            Value::from_raw(llvm!(core::LLVMGetClause(self.raw(), index)))
        })
    }
}

/// Defines conversions to the wider kinds.
macro_rules! widen {
    ($($kind:ident)*) => {
        $(
            impl<'m> From<$kind<'m>> for Value<'m> {
                fn from(narrow: $kind<'m>) -> Self {
                    **narrow
                }
            }

            impl<'m> From<$kind<'m>> for Instruction<'m> {
                fn from(narrow: $kind<'m>) -> Self {
                    *narrow
                }
            }
        )*
    };
}

widen! { Call Phi Load Store Alloca Gep LandingPad }
