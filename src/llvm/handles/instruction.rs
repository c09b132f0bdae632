//! Instructions; [`kinds`](super::kinds) has those that have more than operands.

use super::{
    Alloca, AtomicOperation, Block, Branch, Call, CallBr, CompareExchange, FloatComparison,
    Function, Gep, IndirectBranch, IntComparison, IntPredicate, Invoke, LandingPad, Load, Opcode,
    Ordering, Phi, RealPredicate, Shuffle, Store, Switch, Value, list, narrower,
};
use crate::raw::{copy_text, llvm};

narrower! {
    /// An instruction in a block.
    Instruction of Value
}

/// An instruction as what its opcode says.
pub(crate) enum InstructionKind<'m> {
    Alloca(Alloca<'m>),
    Branch(Branch<'m>),
    Call(Call<'m>),
    CallBr(CallBr<'m>),
    CompareExchange(CompareExchange<'m>),
    FloatComparison(FloatComparison<'m>),
    Gep(Gep<'m>),
    IndirectBranch(IndirectBranch<'m>),
    IntComparison(IntComparison<'m>),
    Invoke(Invoke<'m>),
    LandingPad(LandingPad<'m>),
    Load(Load<'m>),
    Phi(Phi<'m>),
    Shuffle(Shuffle<'m>),
    Store(Store<'m>),
    Switch(Switch<'m>),
    /// An instruction whose kind has no type of its own.
    Other(Opcode),
}

impl<'m> Instruction<'m> {
    /// Returns the opcode.
    pub(crate) fn opcode(self) -> Opcode {
        llvm!(core::LLVMGetInstructionOpcode(self.raw()))
    }

    /// Returns the instruction as what its opcode says, with one question to LLVM.
    #[inline]
    pub(crate) fn by_kind(self) -> InstructionKind<'m> {
        use InstructionKind as Kind;
        let raw = self.raw();
        // SAFETY: the opcode says that the instruction is of that kind.
        unsafe {
            match self.opcode() {
                Opcode::LLVMAlloca => Kind::Alloca(Alloca::from_raw(raw)),
                Opcode::LLVMBr => Kind::Branch(Branch::from_raw(raw)),
                Opcode::LLVMCall => Kind::Call(Call::from_raw(raw)),
                Opcode::LLVMCallBr => Kind::CallBr(CallBr::from_raw(raw)),
                Opcode::LLVMAtomicCmpXchg => Kind::CompareExchange(CompareExchange::from_raw(raw)),
                Opcode::LLVMFCmp => Kind::FloatComparison(FloatComparison::from_raw(raw)),
                Opcode::LLVMGetElementPtr => Kind::Gep(Gep::from_raw(raw)),
                Opcode::LLVMIndirectBr => Kind::IndirectBranch(IndirectBranch::from_raw(raw)),
                Opcode::LLVMICmp => Kind::IntComparison(IntComparison::from_raw(raw)),
                Opcode::LLVMInvoke => Kind::Invoke(Invoke::from_raw(raw)),
                Opcode::LLVMLandingPad => Kind::LandingPad(LandingPad::from_raw(raw)),
                Opcode::LLVMLoad => Kind::Load(Load::from_raw(raw)),
                Opcode::LLVMPHI => Kind::Phi(Phi::from_raw(raw)),
                Opcode::LLVMShuffleVector => Kind::Shuffle(Shuffle::from_raw(raw)),
                Opcode::LLVMStore => Kind::Store(Store::from_raw(raw)),
                Opcode::LLVMSwitch => Kind::Switch(Switch::from_raw(raw)),
                other => Kind::Other(other),
            }
        }
    }

    /// Returns the number of operands. Instructions always have a list of operands, so LLVM is not
    /// asked whether they do, as [`Value::operand_count`] must.
    pub(crate) fn operand_count(self) -> u32 {
        llvm!(core::LLVMGetNumOperands(self.raw())) as u32
    }

    /// Iterates over the operands; a call's last one is what it calls.
    pub(crate) fn operands(self) -> impl DoubleEndedIterator<Item = Value<'m>> {
        // SAFETY: the operand exists.
        (0..self.operand_count()).map(move |index| unsafe { self.operand_of_kind(index) })
    }

    /// Returns the first operands.
    ///
    /// # Panics
    /// Panics if there are fewer.
    pub(crate) fn first_operands<const N: usize>(self) -> [Value<'m>; N] {
        assert!(N <= self.operand_count() as usize, "operands of {self:?}");
        // SAFETY: the operand exists.
        std::array::from_fn(|index| unsafe { self.operand_of_kind(index as u32) })
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
            // SAFETY: the instruction is a terminator.
            true => unsafe { self.successor_count() },
            false => 0,
        };
        // SAFETY: the successor exists.
        (0..count).map(move |index| unsafe { self.successor(index) })
    }

    /// Returns the number of blocks to which a terminator may branch.
    ///
    /// # Safety
    /// The instruction is a terminator.
    pub(super) unsafe fn successor_count(self) -> u32 {
        llvm!(core::LLVMGetNumSuccessors(self.raw()))
    }

    /// Returns a block to which a terminator may branch.
    ///
    /// # Safety
    /// The instruction is a terminator with such a successor.
    pub(super) unsafe fn successor(self, index: u32) -> Block<'m> {
        // SAFETY: the successor exists (the caller's contract).
        unsafe { Block::from_raw(llvm!(core::LLVMGetSuccessor(self.raw(), index))) }
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
        let switch = match self.by_kind() {
            InstructionKind::Switch(switch) => Some(switch),
            _ => None,
        };
        switch.into_iter().flat_map(Switch::cases)
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

    /// Returns true, each, if an operation on integers does not overflow as unsigned (`nuw`) and as
    /// signed (`nsw`) numbers.
    pub(crate) fn no_wrap(self) -> (bool, bool) {
        match self.opcode() {
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl => (
                llvm!(core::LLVMGetNUW(self.raw())) != 0,
                llvm!(core::LLVMGetNSW(self.raw())) != 0,
            ),
            _ => (false, false),
        }
    }

    /// Returns true if a division or shift loses no bits.
    pub(crate) fn is_exact(self) -> bool {
        let can = matches!(
            self.opcode(),
            Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMLShr | Opcode::LLVMAShr
        );
        can && llvm!(core::LLVMGetExact(self.raw())) != 0
    }

    /// Returns LLVM's number of the threads that an atomic access orders; `None` for others.
    pub(crate) fn sync_scope(self) -> Option<u32> {
        self.is_atomic()
            .then(|| llvm!(core::LLVMGetAtomicSyncScopeID(self.raw())))
    }

    /// Returns the indices of an extraction from an aggregate or an insertion; none for others.
    pub(crate) fn aggregate_indices(self) -> Box<[u32]> {
        let has = matches!(
            self.opcode(),
            Opcode::LLVMExtractValue | Opcode::LLVMInsertValue
        );
        if !has {
            return Box::default();
        }
        let count = llvm!(core::LLVMGetNumIndices(self.raw())) as usize;
        let start = llvm!(core::LLVMGetIndices(self.raw()));
        if count == 0 || start.is_null() {
            return Box::default();
        }
        // SAFETY: LLVM keeps `count` indices at that address for the instruction's life.
        unsafe { std::slice::from_raw_parts(start, count) }.into()
    }
}

impl<'m> From<Instruction<'m>> for Value<'m> {
    fn from(instruction: Instruction<'m>) -> Self {
        *instruction
    }
}
