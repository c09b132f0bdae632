//! Instructions, and the kinds of them that have more than operands.

use super::{
    AtomicOperation, Block, Function, IntPredicate, Opcode, Ordering, RealPredicate, Type, Value,
    list, narrower,
};
use crate::raw::{copy_text, llvm};
use inkwell::llvm_sys::LLVMTailCallKind;

narrower! {
    /// An instruction in a block.
    Instruction of Value
}

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

impl<'m> Instruction<'m> {
    /// Returns the opcode.
    pub(crate) fn opcode(self) -> Opcode {
        llvm!(core::LLVMGetInstructionOpcode(self.raw()))
    }

    /// Returns the block that the instruction is in.
    pub(crate) fn block(self) -> Block<'m> {
        // SAFETY: handles are of instructions in blocks; removed ones are moved at once.
        unsafe { Block::from_raw(llvm!(core::LLVMGetInstructionParent(self.raw()))) }
    }

    /// Returns the function that the instruction is in.
    pub(crate) fn function(self) -> Function<'m> {
        self.block().function()
    }

    /// Returns the next instruction of the block.
    pub(crate) fn next(self) -> Option<Instruction<'m>> {
        // SAFETY: LLVM returns a live instruction of the block or null.
        unsafe { Self::from_nullable(llvm!(core::LLVMGetNextInstruction(self.raw()))) }
    }

    /// Returns the previous instruction of the block.
    pub(crate) fn previous(self) -> Option<Instruction<'m>> {
        // SAFETY: LLVM returns a live instruction of the block or null.
        unsafe { Self::from_nullable(llvm!(core::LLVMGetPreviousInstruction(self.raw()))) }
    }

    /// Returns true if the instruction ends its block.
    pub(crate) fn is_terminator(self) -> bool {
        !llvm!(core::LLVMIsATerminatorInst(self.raw())).is_null()
    }

    /// Returns true for conversions from one type to another.
    pub(crate) fn is_cast(self) -> bool {
        !llvm!(core::LLVMIsACastInst(self.raw())).is_null()
    }

    /// Returns the blocks to which a terminator may branch, as often as it names them.
    pub(crate) fn successors(self) -> impl Iterator<Item = Block<'m>> {
        let count = match self.is_terminator() {
            true => llvm!(core::LLVMGetNumSuccessors(self.raw())),
            false => 0,
        };
        // SAFETY: the successor exists.
        (0..count).map(move |index| unsafe {
            Block::from_raw(llvm!(core::LLVMGetSuccessor(self.raw(), index)))
        })
    }

    /// Returns true for volatile accesses of memory.
    pub(crate) fn is_volatile(self) -> bool {
        let access = matches!(
            self.opcode(),
            Opcode::LLVMLoad
                | Opcode::LLVMStore
                | Opcode::LLVMAtomicRMW
                | Opcode::LLVMAtomicCmpXchg
        );
        access && llvm!(core::LLVMGetVolatile(self.raw())) != 0
    }

    /// Returns true for atomic accesses of memory and fences.
    pub(crate) fn is_atomic(self) -> bool {
        llvm!(core::LLVMIsAtomic(self.raw())) != 0
    }

    /// Returns the line of the source, if the module tells it (`file.c:12`).
    pub(crate) fn source_location(self) -> Option<String> {
        let line = llvm!(core::LLVMGetDebugLocLine(self.raw()));
        let mut length = 0;
        let name = llvm!(core::LLVMGetDebugLocFilename(self.raw(), &mut length));
        let file = copy_text(name, length as usize);
        (line != 0 && !file.is_empty()).then(|| format!("{file}:{line}"))
    }

    /// Moves the instruction before another one.
    pub(crate) fn move_before(self, other: Instruction<'m>) {
        if self == other {
            return;
        }
        let builder = other.block().function().module().context().builder();
        llvm!(core::LLVMInstructionRemoveFromParent(self.raw()));
        builder.before(other);
        llvm!(core::LLVMInsertIntoBuilder(builder.raw(), self.raw()));
    }

    /// Takes the instruction out of its block and frees it.
    ///
    /// # Safety
    /// Nothing uses its value, and no handle of it is used afterwards.
    pub(crate) unsafe fn erase(self) {
        llvm!(core::LLVMInstructionEraseFromParent(self.raw()));
    }

    /// Iterates over the instructions behind this one in its block.
    pub(crate) fn following(self) -> impl Iterator<Item = Instruction<'m>> {
        list(self.next(), Instruction::next)
    }

    /// Iterates over the instructions before this one in its block, the nearest first.
    pub(crate) fn preceding(self) -> impl Iterator<Item = Instruction<'m>> {
        list(self.previous(), Instruction::previous)
    }

    /// Returns how an access orders others; for a compare-and-exchange, if it succeeds. `None` for
    /// instructions that access no memory themselves.
    pub(crate) fn ordering(self) -> Option<Ordering> {
        match self.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMFence => {
                Some(llvm!(core::LLVMGetOrdering(self.raw())))
            }
            Opcode::LLVMAtomicCmpXchg => {
                Some(llvm!(core::LLVMGetCmpXchgSuccessOrdering(self.raw())))
            }
            _ => None,
        }
    }

    /// Returns the operation of an atomic update.
    pub(crate) fn update(self) -> Option<AtomicOperation> {
        (self.opcode() == Opcode::LLVMAtomicRMW)
            .then(|| llvm!(core::LLVMGetAtomicRMWBinOp(self.raw())))
    }

    /// Returns the predicate of a comparison of integers or pointers.
    pub(crate) fn int_predicate(self) -> Option<IntPredicate> {
        (self.opcode() == Opcode::LLVMICmp).then(|| llvm!(core::LLVMGetICmpPredicate(self.raw())))
    }

    /// Returns the predicate of a comparison of floating-point numbers.
    pub(crate) fn real_predicate(self) -> Option<RealPredicate> {
        (self.opcode() == Opcode::LLVMFCmp).then(|| llvm!(core::LLVMGetFCmpPredicate(self.raw())))
    }

    /// Iterates over the values and blocks of a switch, without the default; none for others.
    pub(crate) fn cases(self) -> impl Iterator<Item = (Value<'m>, Block<'m>)> {
        let switch = self.opcode() == Opcode::LLVMSwitch;
        let blocks = self.successors().enumerate().skip(1);
        blocks.take_while(move |_| switch).map(move |(n, block)| {
            // SAFETY: each successor but the first has a value.
            let value = unsafe {
                Value::from_raw(llvm!(core::LLVMGetSwitchCaseValue(self.raw(), n as u32)))
            };
            (value, block)
        })
    }

    /// Makes the instruction belong to no line of the source.
    pub(crate) fn clear_location(self) {
        llvm!(debuginfo::LLVMInstructionSetDebugLoc(
            self.raw(),
            std::ptr::null_mut()
        ));
    }

    /// Returns the condition of a branch to one of two blocks.
    pub(crate) fn condition(self) -> Option<Value<'m>> {
        let branch =
            self.opcode() == Opcode::LLVMBr && llvm!(core::LLVMIsConditional(self.raw())) != 0;
        // SAFETY: the branch has a condition.
        branch.then(|| unsafe { Value::from_raw(llvm!(core::LLVMGetCondition(self.raw()))) })
    }

    /// Returns the flags that permit to compute differently; none for other operations than those
    /// on floating-point numbers.
    pub(crate) fn fast_math(self) -> u32 {
        match llvm!(core::LLVMCanValueUseFastMathFlags(self.raw())) {
            0 => 0,
            _ => llvm!(core::LLVMGetFastMathFlags(self.raw())),
        }
    }

    /// Adds flags to those that permit to compute differently. LLVM's C interface cannot clear any.
    ///
    /// # Panics
    /// Panics if the instruction computes no floating-point number.
    pub(crate) fn add_fast_math(self, flags: u32) {
        let can = llvm!(core::LLVMCanValueUseFastMathFlags(self.raw())) != 0;
        assert!(can, "{self:?} has no such flags");
        llvm!(core::LLVMSetFastMathFlags(self.raw(), flags));
    }
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
    pub(crate) fn arguments(self) -> impl DoubleEndedIterator<Item = Value<'m>> {
        (0..self.argument_count()).map(move |index| self.operand(index))
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
        self.opcode() == Opcode::LLVMCall
            && llvm!(core::LLVMGetTailCallKind(self.raw()))
                == LLVMTailCallKind::LLVMTailCallKindMustTail
    }

    /// Forbids that the call reuses its caller's frame.
    ///
    /// # Panics
    /// Panics for invokes, which never do.
    pub(crate) fn forbid_tail(self) {
        assert_eq!(self.opcode(), Opcode::LLVMCall, "{self:?}");
        let kind = LLVMTailCallKind::LLVMTailCallKindNoTail;
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

impl<'m> Load<'m> {
    /// Returns the address.
    pub(crate) fn pointer(self) -> Value<'m> {
        self.operand(0)
    }
}

impl<'m> Store<'m> {
    /// Returns the value that is written.
    pub(crate) fn value(self) -> Value<'m> {
        self.operand(0)
    }

    /// Returns the address.
    pub(crate) fn pointer(self) -> Value<'m> {
        self.operand(1)
    }

    /// Sets the alignment in bytes.
    pub(crate) fn set_alignment(self, bytes: u32) {
        assert!(bytes.is_power_of_two(), "{bytes} is no alignment");
        llvm!(core::LLVMSetAlignment(self.raw(), bytes));
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
        self.operand(0)
    }

    /// Returns the alignment in bytes.
    pub(crate) fn alignment(self) -> u32 {
        llvm!(core::LLVMGetAlignment(self.raw()))
    }

    /// Sets the alignment in bytes.
    pub(crate) fn set_alignment(self, bytes: u32) {
        assert!(bytes.is_power_of_two(), "{bytes} is no alignment");
        llvm!(core::LLVMSetAlignment(self.raw(), bytes));
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
        self.operand(0)
    }

    /// Iterates over the indices.
    pub(crate) fn indices(self) -> impl Iterator<Item = Value<'m>> {
        self.operands().skip(1)
    }
}

impl<'m> LandingPad<'m> {
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

impl<'m> From<Instruction<'m>> for Value<'m> {
    fn from(instruction: Instruction<'m>) -> Self {
        *instruction
    }
}
