//! The instructions of one function: direct calls, fast paths, thread-local addresses, rounding.
//!
//! Assembly is left to [`super::assembly`], intrinsics for control flow to [`super::control`], and
//! the computation of the thread's block to [`super::thread_block`].

use super::Work;
use crate::contract::ROUNDING;
use crate::handles::{
    Alloca, Builder, Call, Function, Instruction, Module, Opcode, Position, Value, Variable,
};
use crate::native::fast_paths::FastPaths;
use crate::native::symbol::Symbol;
use crate::shim::{clear_swift_arguments, clear_swift_parameters};
use hashbrown::HashMap;
use ompvm_ir::convention;

/// A function whose body is rewritten, and what its calls are replaced by.
pub(super) struct Body<'b, 'm> {
    pub(super) function: Function<'m>,
    pub(super) builder: Builder<'m>,
    callees: &'b HashMap<Function<'m>, Function<'m>>,
    fast_paths: &'b FastPaths<'m>,
    thread_locals: &'b HashMap<Variable<'m>, ThreadLocalPlace<'m>>,
    /// The call that fetches the thread's block, once there is one.
    block: Option<Call<'m>>,
}

/// The place of a thread-local variable.
#[derive(Clone, Copy)]
pub(super) enum ThreadLocalPlace<'m> {
    /// Its offset in the thread's block.
    InBlock(usize),
    /// The record of a library's variable.
    OfLibrary(Variable<'m>),
}

impl<'m> Work<'m> {
    /// Rewrites a body: direct calls, fast paths of the runtime, thread-local addresses, fused
    /// multiplications.
    pub(super) fn body(
        &mut self,
        function: Function<'m>,
        callees: &HashMap<Function<'m>, Function<'m>>,
        fast_paths: &FastPaths<'m>,
        thread_locals: &HashMap<Variable<'m>, ThreadLocalPlace<'m>>,
    ) -> Result<(), String> {
        clear_swift_parameters(function);
        if let Some(personality) = function.personality() {
            self.out.position_independent = true;
            // LLVM recognizes personalities by name.
            let named = personality.as_function().and_then(|p| callees.get(&p));
            if let Some(&named) = named {
                function.set_personality(named);
            }
        }
        let mut body = Body {
            function,
            builder: self.context.builder(),
            callees,
            fast_paths,
            thread_locals,
            block: None,
        };
        // Listed first: fetching the thread's block moves local variables.
        let instructions: Vec<Instruction> = function.instructions().collect();
        for instruction in instructions {
            match instruction.opcode() {
                Opcode::LLVMFAdd
                | Opcode::LLVMFSub
                | Opcode::LLVMFMul
                | Opcode::LLVMFDiv
                | Opcode::LLVMFRem => exact(instruction, &body.builder),
                Opcode::LLVMAlloca => {
                    if let Some(alloca) = instruction.as_alloca() {
                        on_a_line(self.module, alloca);
                    }
                }
                Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr => {
                    if let Some(call) = instruction.as_call() {
                        self.call(call, &mut body)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn call(&mut self, call: Call<'m>, body: &mut Body<'_, 'm>) -> Result<(), String> {
        let called = call.called();
        let Some(callee) = called.as_function() else {
            return match called.as_inline_asm() {
                Some(assembly) => self.assembly(call, assembly, body),
                None => {
                    unify(call);
                    Ok(())
                }
            };
        };
        let is_native = body
            .callees
            .get(&callee)
            .is_some_and(|f| f.is_declaration());
        if !is_native && !callee.is_intrinsic() {
            unify(call);
        }
        if let Some(&direct) = body.callees.get(&callee) {
            let short = match call.opcode() {
                Opcode::LLVMCall => body.fast_paths.replacement(direct),
                _ => None,
            };
            call.set_called(short.unwrap_or(direct));
            if short.is_none() {
                stay_below(call, direct);
            }
            return Ok(());
        }
        if !callee.is_intrinsic() {
            stay_below(call, callee);
            return Ok(());
        }
        match &*callee.name() {
            name if name.starts_with("llvm.threadlocal.address") => {
                self.thread_local_address(call, body)
            }
            name if name.starts_with("llvm.fmuladd") => {
                split_fmuladd(call, &body.builder);
                Ok(())
            }
            name => self.control(call, name, body),
        }
    }

    /// Replaces the address of a thread-local variable by that of its place in the thread's block,
    /// or by the result of a function for a variable of a library.
    fn thread_local_address(
        &mut self,
        call: Call<'m>,
        body: &mut Body<'_, 'm>,
    ) -> Result<(), String> {
        let variable = call.argument(0).as_variable();
        let Some(&place) = variable.and_then(|v| body.thread_locals.get(&v)) else {
            return Ok(());
        };
        let offset = match place {
            ThreadLocalPlace::InBlock(offset) => offset,
            ThreadLocalPlace::OfLibrary(record) => {
                let pointer = self.context.pointer();
                let of = pointer.function(&[pointer]);
                let instance = self.declare_once(Symbol::LibraryInstance, of)?;
                for name in ["nounwind", "willreturn", "memory"] {
                    instance.add_attribute(Position::Function, name, 0);
                }
                let address = body.builder.before(call).call(instance, &[record.into()]);
                replace(call.into(), address.into());
                return Ok(());
            }
        };
        let block = match body.block {
            _ if self.request.switches_stacks => self.thread_block_at(call, body)?,
            Some(block) => block,
            None => *body.block.insert(self.thread_block(body)?),
        };
        let index = self.context.int(64).constant(offset as u64);
        let builder = body.builder.before(call);
        let at = builder.gep_in_bounds(self.context.int(8), block, &[index]);
        replace(call.into(), at);
        Ok(())
    }
}

/// Replaces an instruction by a value and erases it. Callers do not use its handle again.
pub(super) fn replace<'m>(instruction: Instruction<'m>, value: Value<'m>) {
    instruction.replace_by(value);
    // SAFETY: all uses are replaced, and instructions are listed once, so that the handle is not
    // used again.
    unsafe { instruction.erase() };
}

/// Replaces a floating-point operation that may round differently by the same without permission:
/// LLVM's C interface can set such flags but not clear them.
fn exact<'m>(operation: Instruction<'m>, builder: &Builder<'m>) {
    let flags = operation.fast_math();
    if flags & ROUNDING == 0 {
        return;
    }
    builder.before(operation);
    let (a, b) = (operation.operand(0), operation.operand(1));
    let new = builder.binary(operation.opcode(), a, b);
    permit(new, flags & !ROUNDING);
    replace(operation, new);
}

/// Replaces `llvm.fmuladd` by a multiplication and an addition.
fn split_fmuladd<'m>(call: Call<'m>, builder: &Builder<'m>) {
    let flags = call.fast_math() & !ROUNDING;
    builder.before(call);
    let product = builder.binary(Opcode::LLVMFMul, call.argument(0), call.argument(1));
    let sum = builder.binary(Opcode::LLVMFAdd, product, call.argument(2));
    permit(product, flags);
    permit(sum, flags);
    replace(call.into(), sum);
}

/// Adds fast-math flags to an operation, unless it became a constant.
fn permit(value: Value<'_>, flags: u32) {
    if let Some(operation) = value.as_instruction() {
        operation.add_fast_math(flags);
    }
}

/// Aligns a large local variable to a cache line. Otherwise every other 32-byte access may cross
/// one.
fn on_a_line<'m>(module: Module<'m>, alloca: Alloca<'m>) {
    const LINE: u32 = 64;
    const LARGE: u64 = 256;
    let of = alloca.allocated();
    let large = of.is_sized() && module.layout().size(of) >= LARGE;
    if large && alloca.alignment() < LINE {
        alloca.set_alignment(LINE);
    }
}

/// Gives a call of a function of the program the form that it has in every tier.
fn unify(call: Call<'_>) {
    call.set_convention(convention::between_functions(call.convention()));
    clear_swift_arguments(call);
}

/// Prevents a tail call of native code, so that the function stays on the stack below it: otherwise
/// a fault there (a double `free`, for example) could not be located in the program.
fn stay_below<'m>(call: Call<'m>, callee: Function<'m>) {
    if call.opcode() != Opcode::LLVMCall
        || call.is_must_tail()
        || callee.is_intrinsic()
        || matches!(
            Symbol::parse(&callee.name()),
            Some(Symbol::Function(_) | Symbol::Stub(_))
        )
    {
        return;
    }
    let mut next = after(call.next());
    if let Some(branch) = next
        && branch.opcode() == Opcode::LLVMBr
    {
        let mut blocks = branch.successors();
        if let (Some(only), None) = (blocks.next(), blocks.next()) {
            next = after(only.first());
        }
    }
    if next.is_some_and(|i| i.opcode() == Opcode::LLVMRet) {
        call.forbid_tail();
    }
}

/// Skips to the next instruction that is more than bookkeeping.
fn after(first: Option<Instruction<'_>>) -> Option<Instruction<'_>> {
    let bookkeeping = |i: &Instruction| match i.opcode() {
        Opcode::LLVMPHI => true,
        Opcode::LLVMCall => {
            let callee = i.as_call().and_then(Call::callee);
            callee.is_some_and(Function::is_intrinsic)
        }
        _ => false,
    };
    std::iter::successors(first, |i| i.next()).find(|i| !bookkeeping(i))
}
