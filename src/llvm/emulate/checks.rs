//! Insertion of checks: addresses, divisors, stack space, and a count of loop iterations.
//!
//! Before each access stands a call that takes the address, the size and the number of the source
//! location, and returns the address to use. Accesses at constant offsets in variables of the
//! function's own frame need none. Every branch to an earlier block counts an iteration; in any
//! order of blocks each loop has such a branch.

use super::{Refusal, SourceLocation};
use crate::handles::{
    Block, Builder, Call, Context, DataLayout, Function, Instruction, IntPredicate, Module, Opcode,
    Type, Value,
};
use hashbrown::HashMap;

/// Takes (address, bytes, location) and returns the address on the host.
pub const CHECK: &str = "ompvm.check";
/// Takes what [`CHECK`] takes, for an access that changes memory.
pub const CHECK_WRITE: &str = "ompvm.check_write";
/// Takes (function, location): a call through a pointer.
pub const CALL: &str = "ompvm.call";
/// Takes (location): a function begins.
pub const ENTER: &str = "ompvm.enter";
/// Called once for each iteration of a loop.
pub const TICK: &str = "ompvm.tick";
/// Takes (location): a division by zero.
pub const DIVISION: &str = "ompvm.division";

struct Checks<'a, 'm> {
    context: Context<'m>,
    builder: Builder<'m>,
    layout: DataLayout<'m>,
    locations: &'a mut Vec<SourceLocation>,
    numbers: HashMap<SourceLocation, u32>,
    read: Function<'m>,
    write: Function<'m>,
    enter: Function<'m>,
    tick: Function<'m>,
    division: Function<'m>,
    call: Function<'m>,
}

/// Inserts checks into every function of a module.
pub(super) fn insert<'m>(
    module: Module<'m>,
    locations: &mut Vec<SourceLocation>,
) -> Result<(), Refusal> {
    let context = module.context();
    let (pointer, word, nothing) = (context.pointer(), context.int(64), context.void());
    let declare = |name, result: Type<'m>, parameters: &[Type<'m>]| {
        module.add_function(name, result.function(parameters))
    };
    locations.push(("".into(), 0));
    let list: Vec<Function> = module.functions().collect();
    let mut checks = Checks {
        context,
        builder: context.builder(),
        layout: module.layout(),
        locations,
        numbers: HashMap::new(),
        read: declare(CHECK, pointer, &[pointer, word, word]),
        write: declare(CHECK_WRITE, pointer, &[pointer, word, word]),
        enter: declare(ENTER, nothing, &[word]),
        tick: declare(TICK, nothing, &[]),
        division: declare(DIVISION, word, &[word]),
        call: declare(CALL, nothing, &[pointer, word]),
    };
    list.into_iter().try_for_each(|f| checks.function(f))
}

/// Describes what in an instruction cannot be emulated; `None` if it can.
pub(super) fn unemulated(instruction: Instruction<'_>) -> Option<String> {
    let called = instruction.as_call()?.called();
    if called.is_inline_asm() {
        return Some("inline assembly".into());
    }
    let name = called.name();
    // Accesses that the checks do not see.
    let unseen = name.starts_with("llvm.masked.") || name.starts_with("llvm.vp.");
    unseen.then(|| format!("`{name}`"))
}

impl<'m> Checks<'_, 'm> {
    fn function(&mut self, function: Function<'m>) -> Result<(), Refusal> {
        let blocks: Vec<Block> = function.blocks().collect();
        let order: HashMap<Block, usize> = blocks.iter().copied().zip(0..).collect();
        for (n, &block) in blocks.iter().enumerate() {
            for instruction in block.instructions() {
                self.instruction(instruction)?;
            }
            let Some(end) = block.terminator() else {
                continue;
            };
            let is_back = |to: Block| order.get(&to).is_some_and(|&at| at <= n);
            if end.successors().any(is_back) {
                self.builder.before(end).call(self.tick, &[]);
            }
        }
        self.begin(function);
        Ok(())
    }

    /// Checks the stack after the variables of a function's frame.
    fn begin(&mut self, function: Function<'m>) {
        let mut all = function.blocks().take(1).flat_map(Block::instructions);
        let Some(first) = all.find(|i| i.as_alloca().is_none()) else {
            return;
        };
        let place = self.number_of(function.source_line());
        self.builder.before(first).call(self.enter, &[place]);
    }

    fn instruction(&mut self, instruction: Instruction<'m>) -> Result<(), Refusal> {
        match instruction.opcode() {
            Opcode::LLVMLoad => self.access(instruction, 0, instruction.of(), false),
            Opcode::LLVMStore => {
                self.access(instruction, 1, instruction.operand(0).of(), true);
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
                self.access(instruction, 0, instruction.operand(1).of(), true);
            }
            Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem => {
                self.divisor(instruction);
            }
            Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr => {
                if let Some(call) = instruction.as_call() {
                    self.called(call)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn called(&mut self, call: Call<'m>) -> Result<(), Refusal> {
        if let Some(what) = unemulated(call.into()) {
            let place = call
                .source_line()
                .map(|(file, line)| format!("{file}:{line}"));
            return Err(Refusal::Unsupported(what, place));
        }
        let Some(callee) = call.callee() else {
            let place = self.number_of(call.source_line());
            self.builder
                .before(call)
                .call(self.call, &[call.called(), place]);
            return Ok(());
        };
        let name = callee.name();
        if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            self.range(call, 0, 2, true);
            self.range(call, 1, 2, false);
        } else if name.starts_with("llvm.memset.") {
            self.range(call, 0, 2, true);
        }
        Ok(())
    }

    /// Returns the number of a source location, 0 if it is unknown.
    fn number_of(&mut self, place: Option<SourceLocation>) -> Value<'m> {
        let Some(place) = place else {
            return self.number(0);
        };
        let next = self.locations.len() as u32;
        let number = *self.numbers.entry(place.clone()).or_insert(next);
        if number == next {
            self.locations.push(place);
        }
        self.number(number.into())
    }

    fn number(&self, value: u64) -> Value<'m> {
        self.context.int(64).constant(value)
    }

    /// Checks an access of a value's size at the address in operand `n`.
    fn access(&mut self, access: Instruction<'m>, n: u32, of: Type<'m>, write: bool) {
        if is_in_frame(access.operand(n)) {
            return;
        }
        let size = self.number(self.layout.stored(of));
        self.checked(access, n, size, write);
    }

    /// Checks a block operation with the address in operand `n` and the size in operand `len`.
    fn range(&mut self, call: Call<'m>, n: u32, len: u32, write: bool) {
        let (size, word) = (call.argument(len), self.context.int(64));
        let size = match size.of() == word {
            true => size,
            false => self.builder.before(call).cast(Opcode::LLVMZExt, size, word),
        };
        self.checked(call.into(), n, size, write);
    }

    fn checked(&mut self, access: Instruction<'m>, n: u32, size: Value<'m>, write: bool) {
        let place = self.number_of(access.source_line());
        let f = if write { self.write } else { self.read };
        let address = access.operand(n);
        let host = self.builder.before(access).call(f, &[address, size, place]);
        access.set_operand(n, host);
    }

    /// Guards a division by zero, which would fault on this processor; on the device it is the
    /// program's error.
    fn divisor(&mut self, division: Instruction<'m>) {
        let divisor = division.operand(1);
        let of = divisor.of();
        if divisor.is_constant() || of.int_width().is_none() {
            return;
        }
        let place = self.number_of(division.source_line());
        let fine = self.number(u64::MAX);
        let builder = self.builder.before(division);
        let zero = builder.compare(IntPredicate::LLVMIntEQ, divisor, of.zero());
        let where_zero = builder.select(zero, place, fine);
        builder.call(self.division, &[where_zero]);
        let safe = builder.select(zero, of.constant(1), divisor);
        division.set_operand(1, safe);
    }
}

/// Returns true if an address is at a constant offset in a variable of the frame.
fn is_in_frame(mut address: Value<'_>) -> bool {
    loop {
        if address.as_alloca().is_some() {
            return true;
        }
        address = match address.as_gep() {
            Some(gep) if gep.indices().all(|index| index.is_constant()) => gep.pointer(),
            None if address.opcode() == Some(Opcode::LLVMBitCast) => address.operand(0),
            _ => return false,
        };
    }
}
