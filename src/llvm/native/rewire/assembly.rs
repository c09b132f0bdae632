//! Inline assembly: its operands in a form that the code generator accepts outside of clang.
//!
//! Templates are changed only where they add to a memory operand. The instructions in them are not
//! looked at.

use super::Work;
use super::body::Body;
use crate::handles::{Call, InlineAsm, Opcode, Position, Visibility};
use crate::native::symbol::Symbol;
use ompvm_ir::inline_asm::{displaced, inputs, is_immediate};

impl<'m> Work<'m> {
    /// Disables the red zone of functions whose assembly pushes, and makes memory operands begin
    /// with a number where the template adds to them (`4+$0`).
    pub(super) fn assembly(
        &self,
        call: Call<'m>,
        assembly: InlineAsm<'m>,
        body: &Body<'_, 'm>,
    ) -> Result<(), String> {
        let mut template = assembly.template().into_string();
        if template.contains("push") || template.contains("call") {
            let function = body.function;
            function.add_attribute(Position::Function, "noredzone", 0);
        }
        let constraints = assembly.constraints();
        self.function_operands(call, &constraints)?;
        if !template.contains("+$") || call.opcode() != Opcode::LLVMCall || !assembly.is_att() {
            return Ok(());
        }
        body.builder.before(call);
        for (index, input) in (0..call.argument_count()).zip(inputs(&constraints)) {
            let moved = input
                .indirect
                .then(|| displaced(&template, input.number))
                .flatten();
            let Some(moved) = moved else { continue };
            template = moved;
            // The origin of the address is hidden, so it is printed as a register alone.
            let address = call.argument(index);
            let of = address.of().function(&[address.of()]);
            let hide = of.assembly("", "=r,0");
            let hidden = body.builder.call_pointer(of, hide, &[address]);
            call.set_operand(index, hidden);
        }
        call.set_called(assembly.with_template(&template));
        Ok(())
    }

    /// Replaces functions as constant operands of assembly by symbols that a constraint for
    /// constants accepts: the code generator must not look them up in the global offset table.
    fn function_operands(&self, call: Call<'m>, constraints: &str) -> Result<(), String> {
        for (index, input) in (0..call.argument_count()).zip(inputs(constraints)) {
            if !is_immediate(input.code) {
                continue;
            }
            let Some(function) = call.argument(index).as_function() else {
                continue;
            };
            let number = match Symbol::parse(&function.name()) {
                Some(Symbol::Stub(n) | Symbol::External(n)) => n,
                _ => continue,
            };
            let own = self.declare_once(Symbol::Operand(number), function.signature())?;
            own.set_visibility(Visibility::LLVMHiddenVisibility);
            call.set_operand(index, own);
        }
        Ok(())
    }
}
