//! The block of a thread's variables: `ompvm.block()`, and its call at the start of a function.
//!
//! A cell at a fixed distance from the thread pointer holds the block's address if the process
//! reserved one; otherwise, and the first time, a function of ompvm makes the block.
//!
//! Which variables are at which offset is the request's.

use super::body::Body;
use super::{Work, rename};
use crate::handles::{
    Alloca, Call, Function, IntPredicate, Linkage, Position, Value, Variable, Visibility,
};
use crate::native::symbol::Symbol;
use crate::native::target_attributes;

/// LLVM's address space for addresses relative to the thread pointer on x86-64.
const THREAD_POINTER: u32 = 257;

/// The function that returns the block's address.
const HELPER: &str = "ompvm.block";

impl<'m> Work<'m> {
    /// Fetches the thread's block once at the start of a function.
    pub(super) fn thread_block(&mut self, body: &Body<'_, 'm>) -> Result<Call<'m>, String> {
        let helper = self.helper()?;
        let variables = fixed_allocas(body.function);
        let call = body.builder.at_entry(body.function).call(helper, &[]);
        // Inlining the call splits the block there, and allocas behind it would no longer be part
        // of the fixed frame.
        for variable in variables {
            variable.move_before(call.into());
        }
        // A call that is inlined needs a debug location if its function has a subprogram.
        if let Some(scope) = body.function.subprogram() {
            call.set_debug_location(Some(self.context.artificial_location(scope)));
        }
        Ok(call)
    }

    /// Fetches the thread's block before an instruction, whose result belongs to the thread that
    /// executes it.
    pub(super) fn thread_block_at(
        &mut self,
        at: Call<'m>,
        body: &Body<'_, 'm>,
    ) -> Result<Call<'m>, String> {
        let helper = self.helper()?;
        let variables = fixed_allocas(body.function);
        let first = body.function.entry().and_then(|b| b.instructions().next());
        // As above, the block may be split before them.
        if let Some(first) = first {
            for variable in variables {
                variable.move_before(first);
            }
        }
        let call = body.builder.before(at).call(helper, &[]);
        let scope = body.function.subprogram();
        let artificial = || scope.map(|scope| self.context.artificial_location(scope));
        call.set_debug_location(at.debug_location().or_else(artificial));
        Ok(call)
    }

    /// Defines `ptr ompvm.block()`, which returns the cell's contents, or creates the block.
    fn helper(&mut self) -> Result<Function<'m>, String> {
        if let Some(known) = self.module.function(HELPER) {
            return Ok(known);
        }
        let pointer = self.context.pointer();
        let make = self.declare(Symbol::MakeBlock, pointer.function(&[pointer]))?;
        let helper = self.module.add_function(HELPER, pointer.function(&[]));
        helper.set_linkage(Linkage::LLVMInternalLinkage);
        for name in ["alwaysinline", "nounwind"] {
            helper.add_attribute(Position::Function, name, 0);
        }
        target_attributes::forbid_wide_vectors(helper);
        target_attributes::set(helper);
        self.out.inline = true;
        let cell = match self.request.thread_cell {
            true => Some(self.outside(Symbol::ThreadCell, THREAD_POINTER)?),
            false => None,
        };
        let image = self.outside(Symbol::Image, 0)?;
        let builder = self.context.builder();
        let block = |name| {
            let block = helper.append_block();
            block.label().set_name(name);
            block
        };
        let entry = block("entry");
        let slow = match cell {
            Some(cell) => {
                let (found, slow) = (block("found"), block("slow"));
                let value: Value = builder.at_end(entry).load(pointer, cell).into();
                let none = builder.compare(IntPredicate::LLVMIntEQ, value, pointer.zero());
                builder.branch_if(none, slow, found);
                builder.at_end(found).ret(Some(value));
                slow
            }
            None => entry,
        };
        let made = builder.at_end(slow).call(make, &[image.into()]);
        builder.ret(Some(made.into()));
        Ok(helper)
    }

    /// Declares a variable for a symbol.
    pub(super) fn outside(&self, symbol: Symbol, space: u32) -> Result<Variable<'m>, String> {
        let pointer = self.context.pointer();
        let new = self.module.add_variable("", pointer, space);
        rename(new, symbol)?;
        if space == THREAD_POINTER {
            // Resolved at link time like near symbols, without a table of addresses.
            new.set_visibility(Visibility::LLVMHiddenVisibility);
        }
        Ok(new)
    }
}

/// Lists the allocas of constant size in a function's first block.
fn fixed_allocas(function: Function<'_>) -> Vec<Alloca<'_>> {
    let first = function.entry().into_iter();
    first
        .flat_map(|block| block.instructions())
        .filter_map(|instruction| instruction.as_alloca())
        .filter(|alloca| alloca.count().is_constant())
        .collect()
}
