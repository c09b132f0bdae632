//! Listings of machine code, for tools and tests: each bytecode instruction with the machine
//! instructions that it became.
//!
//! Nothing is put in place, so a listing needs neither executable memory nor a build with tail
//! calls. Addresses differ from run to run. They appear by name: as an offset in the bytecode, a
//! handler, a function, a variable, or the flag of an OSR point. Branch targets have labels, and
//! `word 0 of N:` marks the code that the bytecode instruction at byte `N` leads to.

use super::generate::{self, Output};
use iced_x86::{
    Code, Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, NumberBase, OpKind,
};
use ompvm_interp::frame::LoweredFunction;
use ompvm_interp::isa::INSTRUCTIONS;
use ompvm_ir::{FuncId, GlobalId};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Formats the machine code of a function as text; `None` if the function stays interpreted.
pub fn listing(lowered: &LoweredFunction) -> Option<String> {
    let output = generate::compile(lowered)?;
    Some(Listing::new(lowered, &output).text())
}

struct Listing<'a> {
    lowered: &'a LoweredFunction,
    output: &'a Output,
    instructions: Vec<Instruction>,
    /// Numbers of the branch targets, by code offset.
    labels: BTreeMap<u64, usize>,
}

impl<'a> Listing<'a> {
    fn new(lowered: &'a LoweredFunction, output: &'a Output) -> Listing<'a> {
        let decoder = Decoder::new(64, &output.code, DecoderOptions::NONE);
        let instructions: Vec<Instruction> = decoder.into_iter().collect();
        let targets = instructions.iter().filter_map(branch_target);
        let mut labels: BTreeMap<u64, usize> = targets.map(|at| (at, 0)).collect();
        for (number, label) in labels.values_mut().enumerate() {
            *label = number;
        }
        Listing {
            lowered,
            output,
            instructions,
            labels,
        }
    }

    fn text(&self) -> String {
        let name = &self.lowered.image().module.functions[self.lowered.func].name;
        let mut text = format!("{name}:\n");
        let mut positions = self.output.positions.iter().peekable();
        for (i, instruction) in self.instructions.iter().enumerate() {
            let here = instruction.ip();
            for (at, _) in self
                .output
                .entries
                .iter()
                .filter(|e| u64::from(e.1) == here)
            {
                let _ = writeln!(text, "word 0 of {at}:");
            }
            if let Some(label) = self.labels.get(&here) {
                let _ = writeln!(text, "L{label}:");
            }
            while let Some((_, at)) = positions.next_if(|p| u64::from(p.0) <= here) {
                let _ = writeln!(text, "  ; {}", self.bytecode(*at));
            }
            let next = self.instructions.get(i + 1);
            let _ = writeln!(text, "    {}", self.machine(instruction, next));
        }
        text
    }

    /// Formats the bytecode instruction at an offset.
    fn bytecode(&self, at: u32) -> String {
        let number = self.lowered.ops.partition_point(|op| op.0 < at);
        format!("{at} {}", self.lowered.instruction_text(number).trim_end())
    }

    /// Formats a machine instruction, which another one may follow.
    fn machine(&self, instruction: &Instruction, next: Option<&Instruction>) -> String {
        let mut formatter = IntelFormatter::new();
        let options = formatter.options_mut();
        options.set_space_after_operand_separator(true);
        // Decimal, as in the bytecode's text.
        options.set_number_base(NumberBase::Decimal);
        options.set_signed_immediate_operands(true);
        let mut text = String::new();
        if let Some(label) = branch_target(instruction).and_then(|at| self.labels.get(&at)) {
            formatter.format_mnemonic(instruction, &mut text);
            let _ = write!(text, " L{label}");
        } else if let Some(symbol) = self.moved_symbol(instruction, next) {
            let mut to = String::new();
            // The encoding, and so the register's width, depends on the address.
            match instruction.op0_kind() {
                OpKind::Register => {
                    to = format!("{:?}", instruction.op0_register().full_register())
                }
                _ => formatter
                    .format_operand(instruction, &mut to, 0)
                    .unwrap_or_else(|e| ompvm_support::bug!("{instruction} has no operand: {e}")),
            }
            let _ = write!(text, "mov {}, {symbol}", to.to_lowercase());
        } else {
            formatter.format(instruction, &mut text);
        }
        text
    }

    /// Returns the name of the address that an instruction moves, if it is one.
    fn moved_symbol(
        &self,
        instruction: &Instruction,
        next: Option<&Instruction>,
    ) -> Option<String> {
        let moves = matches!(
            instruction.code(),
            Code::Mov_r32_imm32 | Code::Mov_r64_imm64 | Code::Mov_rm64_imm32
        );
        if !moves {
            return None;
        }
        let address = instruction.immediate(1);
        // The address of a handler may look like a small number.
        let jumps = next.is_some_and(|next| next.code() == Code::Jmp_rm64);
        let handler = |&handler: &_| handler as usize as u64 == address;
        match INSTRUCTIONS.handlers.iter().position(handler) {
            Some(opcode) if jumps => Some(format!("handler of {}", INSTRUCTIONS.info[opcode].name)),
            _ => self.symbol(address),
        }
    }

    /// Names an address in the bytecode or the image.
    fn symbol(&self, address: u64) -> Option<String> {
        let lowered = self.lowered;
        let start = lowered.code.as_ptr() as u64;
        let offset = address.wrapping_sub(start);
        if offset < lowered.code.len() as u64 * 8 {
            return Some(format!("bytecode+{offset}"));
        }
        let is_flag = |p: &&_| flag_address(p) == address;
        if let Some(point) = lowered.osr_points.iter().find(is_flag) {
            return Some(format!("flag of {}", point.at));
        }
        let image = lowered.image();
        let functions = &image.module.functions;
        for (id, function) in functions {
            let record = image.func_ref(id).map(|f| std::ptr::from_ref(f) as u64);
            if record == Some(address) {
                return Some(format!("function {}", function.name));
            }
        }
        let code = |id: &FuncId| image.func_address(*id) as u64 == address;
        if let Some(id) = functions.keys().find(code) {
            return Some(format!("&{}", functions[id].name));
        }
        let placed = |&(start, len): &(usize, usize)| {
            (start..start + len).contains(&usize::try_from(address).unwrap_or(usize::MAX))
        };
        image.segments().iter().find(|s| placed(s))?;
        let globals = &image.module.globals;
        let before = |id: &GlobalId| image.global_address(*id) as u64 <= address;
        let nearest = |id: &GlobalId| image.global_address(*id);
        let id = globals.keys().filter(before).max_by_key(nearest)?;
        let name = &globals[id].name;
        Some(match address - image.global_address(id) as u64 {
            0 => format!("&{name}"),
            offset => format!("&{name}+{offset}"),
        })
    }
}

/// Returns the address of an OSR point's flag.
fn flag_address(point: &ompvm_interp::frame::OsrPoint) -> u64 {
    point.patched.as_ptr() as u64
}

/// Returns the code offset that a direct branch leads to.
fn branch_target(instruction: &Instruction) -> Option<u64> {
    let near = matches!(instruction.op0_kind(), OpKind::NearBranch64);
    near.then(|| instruction.near_branch64())
}
