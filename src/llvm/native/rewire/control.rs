//! Intrinsics for control flow that work across tiers only as calls of ompvm: jumps of
//! `__builtin_setjmp`, trampolines, and the frame pointer by name.
//!
//! The functions that are called stand in `memory`.

use super::Work;
use super::body::{Body, replace};
use crate::handles::{Builder, Call, Opcode, Position, Type, Value};
use crate::native::symbol::Symbol;
use ompvm_ir::{JUMP_BUFFER, JUMP_BUFFER_WORD};

impl<'m> Work<'m> {
    /// Replaces intrinsics whose expansion would not work across tiers: jumps of
    /// `__builtin_setjmp`, and trampolines, which LLVM would write into memory that is not
    /// executable.
    pub(super) fn control(
        &mut self,
        call: Call<'m>,
        name: &str,
        body: &Body<'_, 'm>,
    ) -> Result<(), String> {
        let context = self.context;
        let (pointer, nothing, int) = (context.pointer(), context.void(), context.int(32));
        let builder = &body.builder;
        let argument = |index| call.argument(index);
        let new = match name {
            _ if name.starts_with("llvm.read_") && name.contains("register.i") => {
                // The code generator accepts rbp only in functions with a frame pointer.
                match &*argument(0).metadata_text() {
                    "rbp" | "ebp" => self.frame_address(call, builder),
                    _ => return Ok(()),
                }
            }
            "llvm.init.trampoline" => {
                let parts = [argument(0), argument(1), argument(2)];
                self.outer_call(Symbol::InitTrampoline, nothing, call, builder, &parts)?
                    .into()
            }
            "llvm.adjust.trampoline" => self
                .outer_call(
                    Symbol::AdjustTrampoline,
                    pointer,
                    call,
                    builder,
                    &[argument(0)],
                )?
                .into(),
            "llvm.eh.sjlj.setjmp" => {
                let of = context.int(8).array(u64::from(JUMP_BUFFER));
                let record = builder.at_entry(body.function).alloca(of);
                record.set_alignment(16);
                builder.before(call);
                let place = self.record_place(argument(0), builder);
                builder.store(record, place);
                let set = self.outer_call(Symbol::SetJump, int, call, builder, &[record.into()])?;
                set.add_attribute(Position::Function, "returns_twice", 0);
                set.into()
            }
            "llvm.eh.sjlj.longjmp" => {
                builder.before(call);
                let place = self.record_place(argument(0), builder);
                let parts = [builder.load(pointer, place).into(), int.constant(1)];
                self.outer_call(Symbol::LongJump, nothing, call, builder, &parts)?
                    .into()
            }
            _ => return Ok(()),
        };
        replace(call.into(), new);
        Ok(())
    }

    /// Computes the frame's address as an integer of the width of the call's result.
    fn frame_address(&self, call: Call<'m>, builder: &Builder<'m>) -> Value<'m> {
        let pointer = self.context.pointer();
        let function = self.module.intrinsic("llvm.frameaddress", &[pointer]);
        let level = self.context.int(32).zero();
        let address = builder.before(call).call(function, &[level]);
        builder.cast(Opcode::LLVMPtrToInt, address, call.of())
    }

    /// Computes the address of the word in a `__builtin_setjmp` buffer that holds its jump buffer's
    /// address.
    fn record_place(&self, buffer: Value<'m>, builder: &Builder<'m>) -> Value<'m> {
        let at = self.context.int(64).constant(JUMP_BUFFER_WORD as u64);
        builder.gep_in_bounds(self.context.int(8), buffer, &[at])
    }

    /// Calls a function of ompvm before another call, at its source location.
    fn outer_call(
        &mut self,
        symbol: Symbol,
        result: Type<'m>,
        before: Call<'m>,
        builder: &Builder<'m>,
        arguments: &[Value<'m>],
    ) -> Result<Call<'m>, String> {
        let types: Vec<Type> = arguments.iter().map(|a| a.of()).collect();
        let of = result.function(&types);
        let function = self.declare_once(symbol, of)?;
        let call = builder.before(before).call_pointer(of, function, arguments);
        call.set_debug_location(before.debug_location());
        Ok(call)
    }
}
