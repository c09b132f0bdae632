//! Analysis of a kernel's code for its memory footprint.
//!
//! Runs after inlining and before loops over the grid are tiled, when calls of the runtime still
//! tell which iterations belong to the device. Addresses are followed to the parameters from which
//! they are computed; integers become terms. A loop's variables are bounded by the comparison at
//! its end.
//!
//! A kernel that follows pointers in memory, stores addresses, or updates memory atomically needs
//! one memory, and so does one that uses variables of the image other than constants: what kernels
//! change exists once.

use super::{Access, Footprint, Operation, Term, TermId};
use crate::handles::{
    Block, Call, DataLayout, Function, Gep, InlineAsm, Instruction, IntPredicate, Module, Opcode,
    Value,
};
use crate::nvptx::cleanup::reached;
use crate::nvptx::division::is_environment;
use crate::nvptx::{CONSTANT, SHARED};
use hashbrown::{HashMap, HashSet};

/// Analyzes a kernel. `only_divides` says that it does nothing but divide loops over the grid and
/// combine their reductions.
pub(crate) fn analyze(module: Module, kernel: &str, only_divides: bool) -> Footprint {
    let mut footprint = Footprint {
        by_iterations: only_divides,
        ..Footprint::default()
    };
    let Some(entry) = module.function(kernel).filter(|f| !f.is_declaration()) else {
        footprint.unknown = Some("it has no code".into());
        return footprint;
    };
    let mut analysis = Analysis {
        layout: module.layout(),
        kernel: entry,
        footprint,
        known: HashMap::new(),
        interned: HashMap::new(),
        open: HashSet::new(),
        combines: false,
        always: reached_before_end(entry),
        ends: false,
        values: 0,
        depth: 0,
    };
    let mut functions: Vec<Function> = reached(entry).into_iter().collect();
    functions.sort_by_key(|f| f.name());
    let unknown = functions
        .into_iter()
        .flat_map(|f| f.instructions())
        .find_map(|instruction| {
            let block = instruction.block();
            analysis.ends = block.function() == entry && !analysis.always.contains(&block);
            analysis.instruction(instruction).err()
        });
    let mut footprint = analysis.footprint;
    footprint.unknown = unknown.map(Into::into).or_else(|| {
        let combined = analysis.combines && !only_divides;
        combined.then(|| "it combines results of teams".into())
    });
    if footprint.unknown.is_some() {
        footprint.terms.clear();
        footprint.accesses.clear();
    }
    footprint
}

/// Origin of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// A parameter of the kernel.
    Parameter(u32),
    /// Memory of the thread or of its block, constants, and what a launch provides.
    Own,
    /// A variable of the image.
    Variable,
    /// Anything else.
    Elsewhere,
}

/// The analysis of one kernel.
pub(super) struct Analysis<'m> {
    pub(super) layout: DataLayout<'m>,
    kernel: Function<'m>,
    pub(super) footprint: Footprint,
    pub(super) known: HashMap<Value<'m>, TermId>,
    pub(super) interned: HashMap<Term, TermId>,
    /// Variables of loops that are being analyzed.
    pub(super) open: HashSet<Value<'m>>,
    /// True if the kernel uses its launch environment.
    combines: bool,
    /// Blocks of the kernel that every device may reach, see [`reached_before_end`].
    always: HashSet<Block<'m>>,
    /// True if only the device that ends a reduction executes the instruction.
    ends: bool,
    /// Number of values that were looked at.
    pub(super) values: usize,
    pub(super) depth: usize,
}

/// Function of the device runtime that tells on which device a reduction ends.
const ENDS_REDUCTION: &str = "__ompvm_ends_reduction";

const POINTERS: &str = "it follows pointers in memory";
const ATOMICS: &str = "it updates memory atomically";
const VARIABLES: &str = "it uses variables of the device";
const CALLS: &str = "it passes addresses to a function";
const STORES: &str = "it stores addresses";

/// Prefixes of intrinsics that access no memory.
const PASSIVE: [&str; 4] = [
    "llvm.lifetime.",
    "llvm.assume",
    "llvm.prefetch",
    "llvm.experimental.noalias",
];
impl<'m> Analysis<'m> {
    /// Records the accesses of an instruction. The error says why they are unknown.
    fn instruction(&mut self, at: Instruction<'m>) -> Result<(), &'static str> {
        let memory = matches!(at.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore);
        if memory && at.is_atomic() {
            let pointer = at.operand(u32::from(at.opcode() == Opcode::LLVMStore));
            if self.base(pointer) != Base::Own {
                return Err(ATOMICS);
            }
        }
        match at.opcode() {
            Opcode::LLVMLoad => {
                let bytes = self.layout.stored(Value::from(at).of());
                self.access(at.operand(0), bytes, false)
            }
            Opcode::LLVMStore => {
                let value = at.operand(0);
                let bytes = self.layout.stored(value.of());
                self.access(at.operand(1), bytes, true)?;
                let environment = self.parameter(value) == Some(0);
                if !value.of().is_pointer() || environment || value.is_constant() {
                    return Ok(());
                }
                match self.base(value) {
                    Base::Own => Ok(()),
                    _ => Err(STORES),
                }
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => match self.base(at.operand(0)) {
                Base::Own => Ok(()),
                _ => Err(ATOMICS),
            },
            Opcode::LLVMPtrToInt => match only_compared(at.into()) {
                true => Ok(()),
                false => Err(STORES),
            },
            Opcode::LLVMCall => self.call(at),
            _ => Ok(()),
        }
    }

    fn call(&mut self, at: Instruction<'m>) -> Result<(), &'static str> {
        let Some(call) = at.as_call() else {
            return Err(CALLS);
        };
        let assembly = call.called().as_inline_asm();
        if assembly.is_some_and(InlineAsm::keeps_to_operands) {
            return self.passed(call);
        }
        let Some(callee) = call.callee() else {
            return Err(CALLS);
        };
        let name = callee.name();
        if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") {
            self.section(call.argument(0), call.argument(2), true)?;
            return self.section(call.argument(1), call.argument(2), false);
        }
        if name.starts_with("llvm.memset") {
            return self.section(call.argument(0), call.argument(2), true);
        }
        // Other intrinsics may access what their arguments point to.
        if PASSIVE.iter().any(|prefix| name.starts_with(prefix)) {
            return Ok(());
        }
        self.passed(call)
    }

    /// Requires that a call gets addresses of the thread's own memory only.
    fn passed(&mut self, call: Call<'m>) -> Result<(), &'static str> {
        let mut pointers = call.arguments().filter(|a| a.of().is_pointer());
        match pointers.all(|a| self.base(a) == Base::Own) {
            true => Ok(()),
            false => Err(CALLS),
        }
    }

    /// Records an access of `bytes` bytes.
    fn access(
        &mut self,
        pointer: Value<'m>,
        bytes: u64,
        written: bool,
    ) -> Result<(), &'static str> {
        match self.base(pointer) {
            Base::Own => Ok(()),
            Base::Variable => Err(VARIABLES),
            Base::Elsewhere => Err(POINTERS),
            Base::Parameter(parameter) => {
                let offset = self.offset(pointer);
                self.record(Access {
                    parameter,
                    written,
                    offset,
                    bytes: bytes as u32,
                    ends: self.ends,
                });
                Ok(())
            }
        }
    }

    /// Records an access to a number of bytes that may vary.
    fn section(
        &mut self,
        pointer: Value<'m>,
        len: Value<'m>,
        written: bool,
    ) -> Result<(), &'static str> {
        match len.unsigned().and_then(|len| u32::try_from(len).ok()) {
            Some(len) => self.access(pointer, len.into(), written),
            None => match self.base(pointer) {
                Base::Parameter(parameter) => {
                    self.record(Access {
                        parameter,
                        written,
                        offset: None,
                        bytes: 0,
                        ends: self.ends,
                    });
                    Ok(())
                }
                _ => self.access(pointer, 0, written),
            },
        }
    }

    fn record(&mut self, access: Access) {
        if !self.footprint.accesses.contains(&access) {
            self.footprint.accesses.push(access);
        }
    }

    /// Returns what an address is computed from.
    fn base(&mut self, pointer: Value<'m>) -> Base {
        let mut found: Option<Base> = None;
        let mut seen = HashSet::new();
        let mut open = vec![pointer];
        while let Some(value) = open.pop() {
            if !seen.insert(value) || value.is_zero() || value.is_undef() {
                continue;
            }
            let base = if let Some(variable) = value.as_variable() {
                match variable.address_space() {
                    SHARED | CONSTANT => Base::Own,
                    _ if variable.is_read_only() => Base::Own,
                    _ => Base::Variable,
                }
            } else if value.is_constant_expression() {
                open.push(value.operand(0));
                continue;
            } else if let Some(instruction) = value.as_instruction() {
                match instruction.opcode() {
                    Opcode::LLVMGetElementPtr
                    | Opcode::LLVMAddrSpaceCast
                    | Opcode::LLVMBitCast
                    | Opcode::LLVMFreeze => {
                        open.push(instruction.operand(0));
                        continue;
                    }
                    Opcode::LLVMSelect => {
                        open.extend([instruction.operand(1), instruction.operand(2)]);
                        continue;
                    }
                    Opcode::LLVMPHI => {
                        open.extend(instruction.operands());
                        continue;
                    }
                    Opcode::LLVMAlloca => Base::Own,
                    Opcode::LLVMLoad if self.leads_to_environment(value) => Base::Own,
                    _ => Base::Elsewhere,
                }
            } else {
                match self.parameter(value) {
                    Some(0) => {
                        self.combines = true;
                        Base::Own
                    }
                    Some(index) => Base::Parameter(index),
                    None => Base::Elsewhere,
                }
            };
            match found {
                None => found = Some(base),
                Some(known) if known == base => {}
                Some(_) => return Base::Elsewhere,
            }
        }
        // An address that is null everywhere is not accessed.
        found.unwrap_or(Base::Own)
    }

    /// Returns true if a pointer comes from the launch environment.
    fn leads_to_environment(&mut self, value: Value<'m>) -> bool {
        let leads = is_environment(value, self.kernel, &mut HashSet::new());
        self.combines |= leads;
        leads
    }

    /// Returns the index of a parameter of the kernel.
    pub(super) fn parameter(&self, value: Value<'m>) -> Option<u32> {
        let position = self.kernel.parameters().position(|p| p == value)?;
        u32::try_from(position).ok()
    }

    /// Returns the offset of an address from its parameter; `None` if it is unknown.
    fn offset(&mut self, pointer: Value<'m>) -> Option<TermId> {
        let mut sum: Option<TermId> = None;
        let mut at = pointer;
        loop {
            if let Some(gep) = at.as_gep() {
                let step = self.gep_offset(gep)?;
                sum = Some(match sum {
                    None => step,
                    Some(sum) => self.operation(Operation::Add, 64, vec![sum, step]),
                });
                at = gep.pointer();
                continue;
            }
            let Some(instruction) = at.as_instruction() else {
                break;
            };
            match instruction.opcode() {
                Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast | Opcode::LLVMFreeze => {
                    at = instruction.operand(0);
                }
                _ => return None,
            }
        }
        self.parameter(at)?;
        Some(match sum {
            Some(sum) => sum,
            None => self.intern(Term::Constant(0)),
        })
    }

    /// Returns the number of bytes that an address computation adds.
    fn gep_offset(&mut self, gep: Gep<'m>) -> Option<TermId> {
        let mut of = gep.source_type();
        let mut fixed: i64 = 0;
        let mut terms = Vec::new();
        for (n, index) in gep.indices().enumerate() {
            if n > 0 && of.is_struct() {
                let field = u32::try_from(index.unsigned()?).ok()?;
                fixed += self.layout.offset(of, field) as i64;
                of = of.field(field)?;
                continue;
            }
            if n > 0 {
                of = of.element()?;
            }
            let size = self.layout.size(of) as i64;
            match index.signed() {
                Some(number) => fixed += number * size,
                None => {
                    let index = self.signed(index);
                    let size = self.intern(Term::Constant(size));
                    terms.push(self.operation(Operation::Mul, 64, vec![index, size]));
                }
            }
        }
        let mut sum = self.intern(Term::Constant(fixed));
        for term in terms {
            sum = self.operation(Operation::Add, 64, vec![sum, term]);
        }
        Some(sum)
    }

    /// Returns an index, which counts as a signed number.
    fn signed(&mut self, index: Value<'m>) -> TermId {
        let bits = index.of().int_width().unwrap_or(64).min(64);
        let term = self.term(index);
        self.operation(Operation::SignExtend, bits, vec![term])
    }
}

/// Returns the blocks of a kernel that a device reaches without the answer of
/// `__ompvm_ends_reduction` that the league's reduction ends there.
pub(crate) fn reached_before_end(kernel: Function) -> HashSet<Block> {
    let mut found = HashSet::new();
    let mut open: Vec<Block> = kernel.blocks().take(1).collect();
    while let Some(block) = open.pop() {
        if !found.insert(block) {
            continue;
        }
        let end = block.terminator().and_then(ending_successor);
        open.extend(block.successors().filter(|next| Some(*next) != end));
    }
    found
}

/// Returns where a branch goes on the device that ends a reduction, if it depends on that.
fn ending_successor(branch: Instruction) -> Option<Block> {
    let condition = branch.condition()?.as_instruction()?;
    let successors: Vec<Block> = branch.successors().collect();
    let &[on_true, on_false] = &successors[..] else {
        return None;
    };
    let call = condition.operand(0).as_instruction()?;
    let callee = call.direct_callee()?;
    let expected = condition.operand(1).unsigned()?;
    if &*callee.name() != ENDS_REDUCTION || on_true == on_false {
        return None;
    }
    // The answer is 0 or 1.
    match (condition.int_predicate()?, expected) {
        (IntPredicate::LLVMIntEQ, 1) | (IntPredicate::LLVMIntNE, 0) => Some(on_true),
        (IntPredicate::LLVMIntEQ, 0) | (IntPredicate::LLVMIntNE, 1) => Some(on_false),
        _ => None,
    }
}

/// Returns true if a number that was an address is only compared.
fn only_compared(number: Value) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![number];
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        for user in value.users() {
            match user.as_instruction().map(Instruction::opcode) {
                Some(Opcode::LLVMICmp) => {}
                Some(
                    Opcode::LLVMAdd
                    | Opcode::LLVMSub
                    | Opcode::LLVMAnd
                    | Opcode::LLVMOr
                    | Opcode::LLVMTrunc
                    | Opcode::LLVMLShr
                    | Opcode::LLVMAShr,
                ) => open.push(user),
                _ => return false,
            }
        }
    }
    true
}
