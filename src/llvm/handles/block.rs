//! Basic blocks.

use super::{Context, Function, Instruction, Phi, Value, handle, list};
use crate::raw::llvm;
use std::fmt;

handle! {
    /// A basic block of a function.
    Block(LLVMBasicBlockRef)
}

impl<'m> Block<'m> {
    /// Returns the function that the block belongs to.
    pub(crate) fn function(self) -> Function<'m> {
        // SAFETY: the crate does not take blocks out of their functions.
        unsafe { Function::from_raw(llvm!(core::LLVMGetBasicBlockParent(self.raw()))) }
    }

    /// Returns the first instruction; a block under construction may have none.
    pub(crate) fn first(self) -> Option<Instruction<'m>> {
        // SAFETY: LLVM returns a live instruction of the block or null.
        unsafe { Instruction::from_nullable(llvm!(core::LLVMGetFirstInstruction(self.raw()))) }
    }

    /// Returns the terminator; a block under construction may have none.
    pub(crate) fn terminator(self) -> Option<Instruction<'m>> {
        // SAFETY: LLVM returns a live instruction of the block or null.
        unsafe { Instruction::from_nullable(llvm!(core::LLVMGetBasicBlockTerminator(self.raw()))) }
    }

    /// Iterates over the instructions.
    pub(crate) fn instructions(self) -> impl Iterator<Item = Instruction<'m>> {
        list(self.first(), Instruction::next)
    }

    /// Returns the next block of the function.
    pub(crate) fn next(self) -> Option<Block<'m>> {
        // SAFETY: LLVM returns a live block of the function or null.
        unsafe { Block::from_nullable(llvm!(core::LLVMGetNextBasicBlock(self.raw()))) }
    }

    /// Returns the blocks to which the terminator may branch, as often as it names them.
    pub(crate) fn successors(self) -> impl Iterator<Item = Block<'m>> {
        self.terminator()
            .into_iter()
            .flat_map(Instruction::successors)
    }

    /// Returns the blocks whose terminators name this one, as often as they do.
    pub(crate) fn predecessors(self) -> impl Iterator<Item = Block<'m>> {
        self.label()
            .users()
            .filter_map(Value::as_instruction)
            .filter(|user| user.is_terminator())
            .map(Instruction::block)
    }

    /// Returns the block as an operand of branches.
    pub(crate) fn label(self) -> Value<'m> {
        // SAFETY: a block is a value with the same address.
        unsafe { Value::from_raw(llvm!(core::LLVMBasicBlockAsValue(self.raw()))) }
    }

    /// Appends a block behind this one's function's last.
    pub(crate) fn append(function: Function<'m>, context: Context<'m>) -> Block<'m> {
        // SAFETY: the new block is live and belongs to the function.
        unsafe {
            Block::from_raw(llvm!(core::LLVMAppendBasicBlockInContext(
                context.raw(),
                function.raw(),
                c"".as_ptr()
            )))
        }
    }

    /// Iterates over the joins that the block begins with.
    pub(crate) fn phis(self) -> impl Iterator<Item = Phi<'m>> {
        self.instructions().map_while(|i| i.as_phi())
    }
}

impl fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.label().fmt(f)
    }
}
