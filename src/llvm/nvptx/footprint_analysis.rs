//! Analysis of a kernel's code for its memory footprint ([`super::footprint`]).
//!
//! Runs after inlining and before loops over the grid are tiled, when calls of the runtime still
//! tell which iterations belong to the device. Addresses are followed to the parameters from which
//! they are computed; integers become terms. A loop's variables are bounded by the comparison at
//! its end.
//!
//! A kernel that follows pointers in memory, stores addresses, or updates memory atomically needs
//! one memory, and so does one that changes variables of the image.

use super::division::{LEAGUE, is_environment};
use super::footprint::{Access, Comparison, Footprint, LoopEnd, Operation, Quantity, Term, TermId};
use super::{CONSTANT, SHARED, cleanup::reached};
use crate::handles::{
    Block, DataLayout, Function, Gep, Instruction, IntPredicate, Module, Opcode, Phi, Value,
};
use hashbrown::{HashMap, HashSet};

/// Maximum number of values that are looked at, and maximum depth: larger kernels are rare.
const MOST_VALUES: usize = 200_000;
const DEPTH: usize = 400;

/// Analyzes a kernel. `only_divides` says that it does nothing but divide loops over the grid and
/// combine their reductions.
pub(super) fn analyze(module: Module, kernel: &str, only_divides: bool) -> Footprint {
    let mut footprint = Footprint::default();
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
        values: 0,
        depth: 0,
    };
    let mut functions: Vec<Function> = reached(entry).into_iter().collect();
    functions.sort_by_key(|f| f.name());
    let unknown = functions
        .into_iter()
        .flat_map(|f| f.instructions())
        .find_map(|instruction| analysis.instruction(instruction).err());
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

/// What an address is computed from.
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

struct Analysis<'m> {
    layout: DataLayout<'m>,
    kernel: Function<'m>,
    footprint: Footprint,
    known: HashMap<Value<'m>, TermId>,
    interned: HashMap<Term, TermId>,
    /// Variables of loops that are being analyzed.
    open: HashSet<Value<'m>>,
    /// True if the kernel uses its launch environment.
    combines: bool,
    /// Number of values that were looked at.
    values: usize,
    depth: usize,
}

const POINTERS: &str = "it follows pointers in memory";
const ATOMICS: &str = "it updates memory atomically";
const VARIABLES: &str = "it writes variables of the device";
const CALLS: &str = "it passes addresses to a function";
const STORES: &str = "it stores addresses";

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
        let harmless = callee.is_intrinsic() || &*name == "vprintf" || &*name == "__assertfail";
        let pointers = call.arguments().filter(|a| a.of().is_pointer());
        let given: Vec<Base> = pointers.map(|a| self.base(a)).collect();
        match harmless || given.iter().all(|base| *base == Base::Own) {
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
            Base::Variable if !written => Ok(()),
            Base::Variable => Err(VARIABLES),
            Base::Elsewhere => Err(POINTERS),
            Base::Parameter(parameter) => {
                let offset = self.offset(pointer);
                self.record(Access {
                    parameter,
                    written,
                    offset,
                    bytes: bytes as u32,
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
    fn parameter(&self, value: Value<'m>) -> Option<u32> {
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

    fn intern(&mut self, term: Term) -> TermId {
        if let Some(&known) = self.interned.get(&term) {
            return known;
        }
        let id = self.footprint.terms.len() as TermId;
        self.footprint.terms.push(term.clone());
        self.interned.insert(term, id);
        id
    }

    fn operation(&mut self, operation: Operation, bits: u32, operands: Vec<TermId>) -> TermId {
        self.intern(Term::Operation(operation, bits, operands))
    }

    /// Returns the term of an integer.
    fn term(&mut self, value: Value<'m>) -> TermId {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        self.values += 1;
        self.depth += 1;
        let made = match self.values < MOST_VALUES && self.depth < DEPTH {
            true => self.make(value),
            false => None,
        };
        self.depth -= 1;
        let id = match made {
            Some(id) => id,
            None => self.intern(Term::Unknown),
        };
        // While a loop's variable is open, what depends on it is not final.
        if self.open.is_empty() {
            self.known.insert(value, id);
        }
        id
    }

    fn make(&mut self, value: Value<'m>) -> Option<TermId> {
        let bits = value.of().int_width().filter(|&bits| bits <= 64)?;
        if let Some(number) = value.signed() {
            return Some(self.intern(Term::Constant(number)));
        }
        if let Some(index) = self.parameter(value) {
            return Some(self.intern(Term::Word(index, bits)));
        }
        let at = value.as_instruction()?;
        if matches!(at.opcode(), Opcode::LLVMAdd | Opcode::LLVMSub) {
            return Some(self.sum(value, bits));
        }
        let operation = match at.opcode() {
            Opcode::LLVMMul => Operation::Mul,
            Opcode::LLVMSDiv => Operation::SDiv,
            Opcode::LLVMUDiv => Operation::UDiv,
            Opcode::LLVMSRem => Operation::SRem,
            Opcode::LLVMURem => Operation::URem,
            Opcode::LLVMShl => Operation::Shl,
            Opcode::LLVMLShr => Operation::LShr,
            Opcode::LLVMAShr => Operation::AShr,
            Opcode::LLVMAnd => Operation::And,
            Opcode::LLVMOr => Operation::Or,
            Opcode::LLVMSExt => return self.widened(at, Operation::SignExtend),
            Opcode::LLVMZExt => return self.widened(at, Operation::ZeroExtend),
            Opcode::LLVMTrunc => {
                let from = self.term(at.operand(0));
                return Some(self.operation(Operation::Truncate, bits, vec![from]));
            }
            Opcode::LLVMFreeze => return Some(self.term(at.operand(0))),
            Opcode::LLVMSelect => {
                let parts: Vec<TermId> = at.operands().map(|o| self.term(o)).collect();
                return Some(self.operation(Operation::Select, bits, parts));
            }
            Opcode::LLVMICmp => return self.comparison(at),
            Opcode::LLVMPHI => return self.phi(value, bits),
            Opcode::LLVMLoad => return self.loaded(at, bits),
            Opcode::LLVMCall => return self.called(at, bits),
            _ => return None,
        };
        let parts = vec![self.term(at.operand(0)), self.term(at.operand(1))];
        Some(self.operation(operation, bits, parts))
    }

    fn widened(&mut self, at: Instruction<'m>, operation: Operation) -> Option<TermId> {
        let from = at.operand(0);
        let bits = from.of().int_width()?;
        let part = self.term(from);
        Some(self.operation(operation, bits, vec![part]))
    }

    /// Returns the term of a comparison, which is 0 or 1.
    fn comparison(&mut self, at: Instruction<'m>) -> Option<TermId> {
        use IntPredicate::*;
        let bits = at.operand(0).of().int_width().filter(|&bits| bits <= 64)?;
        let (operation, swapped) = match at.int_predicate()? {
            LLVMIntEQ => (Operation::Equal, false),
            LLVMIntNE => (Operation::Unequal, false),
            LLVMIntSLT => (Operation::SLess, false),
            LLVMIntSLE => (Operation::SLessEqual, false),
            LLVMIntSGT => (Operation::SLess, true),
            LLVMIntSGE => (Operation::SLessEqual, true),
            LLVMIntULT => (Operation::ULess, false),
            LLVMIntULE => (Operation::ULessEqual, false),
            LLVMIntUGT => (Operation::ULess, true),
            LLVMIntUGE => (Operation::ULessEqual, true),
        };
        let mut parts = vec![self.term(at.operand(0)), self.term(at.operand(1))];
        if swapped {
            parts.reverse();
        }
        Some(self.operation(operation, bits, parts))
    }

    /// Returns the term of a sum. `x - x / y * y` becomes a remainder, whose range is smaller.
    fn sum(&mut self, value: Value<'m>, bits: u32) -> TermId {
        let mut all = Vec::new();
        addends(value, false, &HashSet::new(), &mut all);
        let dividends: HashSet<Value> = all
            .iter()
            .filter(|(_, negative)| *negative)
            .filter_map(|(addend, _)| Some(multiple(*addend)?.0))
            .collect();
        if !dividends.is_empty() && !dividends.contains(&value) {
            all.clear();
            addends(value, false, &dividends, &mut all);
        }
        let mut parts: Vec<(TermId, bool)> = Vec::new();
        while let Some((addend, negative)) = all.pop() {
            if negative
                && let Some((x, by, operation)) = multiple(addend)
                && let Some(at) = all.iter().position(|a| *a == (x, false))
            {
                all.swap_remove(at);
                let operands = vec![self.term(x), self.term(by)];
                parts.push((self.operation(operation, bits, operands), false));
                continue;
            }
            // The sum itself is not among its addends.
            parts.push((self.term(addend), negative));
        }
        let mut sum = None;
        parts.sort_by_key(|(_, negative)| *negative);
        for (part, negative) in parts {
            sum = Some(match (sum, negative) {
                (None, false) => part,
                (None, true) => {
                    let zero = self.intern(Term::Constant(0));
                    self.operation(Operation::Sub, bits, vec![zero, part])
                }
                (Some(sum), false) => self.operation(Operation::Add, bits, vec![sum, part]),
                (Some(sum), true) => self.operation(Operation::Sub, bits, vec![sum, part]),
            });
        }
        match sum {
            Some(sum) => sum,
            None => self.intern(Term::Constant(0)),
        }
    }

    /// Returns what is known of a loaded number: the device's share is.
    fn loaded(&mut self, at: Instruction<'m>, bits: u32) -> Option<TermId> {
        let (variable, offset) = match at.operand(0).as_variable() {
            Some(variable) => (variable, 0),
            None => {
                let from = at.operand(0);
                let gep = from.as_gep();
                let of = match gep {
                    Some(gep) => gep.source_type(),
                    None => from.constant_gep_type()?,
                };
                let variable = from.operand(0).as_variable()?;
                let last = from.operand(from.operand_count() - 1).unsigned()?;
                let offset = match of.is_struct() {
                    true => self.layout.offset(of, u32::try_from(last).ok()?),
                    false => last * self.layout.size(of),
                };
                (variable, offset)
            }
        };
        if &*variable.name() != LEAGUE {
            return None;
        }
        let word = Quantity::League(u32::try_from(offset).ok()?);
        let word = self.intern(Term::Quantity(word));
        Some(self.operation(Operation::Truncate, bits, vec![word]))
    }

    fn called(&mut self, at: Instruction<'m>, bits: u32) -> Option<TermId> {
        let callee = at.direct_callee()?;
        let name = callee.name();
        let first = |analysis: &mut Self| analysis.term(at.operand(0));
        let term = match &*name {
            "__ompvm_grid_part" => Term::Below(Quantity::GridThreads),
            "__ompvm_grid_parts" => Term::Quantity(Quantity::GridThreads),
            "__ompvm_share_first" => Term::ShareFirst(first(self)),
            "__ompvm_share_end" => Term::ShareEnd(first(self)),
            "llvm.nvvm.read.ptx.sreg.tid.x" => Term::Below(Quantity::Threads),
            "llvm.nvvm.read.ptx.sreg.ntid.x" => Term::Quantity(Quantity::Threads),
            "llvm.nvvm.read.ptx.sreg.ctaid.x" => Term::Below(Quantity::Blocks),
            "llvm.nvvm.read.ptx.sreg.nctaid.x" => Term::Quantity(Quantity::Blocks),
            _ => {
                let operation = match name.strip_prefix("llvm.")?.split('.').next()? {
                    "smin" => Operation::SMin,
                    "smax" => Operation::SMax,
                    "umin" => Operation::UMin,
                    "umax" => Operation::UMax,
                    _ => return None,
                };
                let parts = vec![self.term(at.operand(0)), self.term(at.operand(1))];
                return Some(self.operation(operation, bits, parts));
            }
        };
        Some(self.intern(term))
    }

    fn phi(&mut self, value: Value<'m>, bits: u32) -> Option<TermId> {
        if !self.open.insert(value) {
            return None;
        }
        let result = self.closed_phi(value, bits);
        self.open.remove(&value);
        result
    }

    fn closed_phi(&mut self, value: Value<'m>, bits: u32) -> Option<TermId> {
        let phi = value.as_phi()?;
        let header = Value::from(phi).as_instruction()?.block();
        if let Some(variable) = Variable::of(phi) {
            let start = self.term(variable.start);
            let step = self.step(&variable);
            let end = self.loop_end(header);
            return Some(self.intern(Term::Induction {
                start,
                step,
                end,
                bits: variable.bits,
            }));
        }
        if let Some(variable) = header.phis().find_map(Variable::of) {
            // It changes in another way, but some loops run once.
            let incoming: Vec<_> = phi.incoming().collect();
            let outside = incoming.iter().filter(|(_, from)| *from != variable.latch);
            let [(start, _)] = outside.collect::<Vec<_>>()[..] else {
                return None;
            };
            let start = self.term(*start);
            let step = self.intern(Term::Unknown);
            let end = self.loop_end(header);
            return Some(self.intern(Term::Induction {
                start,
                step,
                end,
                bits,
            }));
        }
        let mut parts = Vec::new();
        for (incoming, _) in phi.incoming().filter(|(v, _)| *v != value && !v.is_undef()) {
            let part = self.term(incoming);
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        Some(self.operation(Operation::Either, bits, parts))
    }

    fn step(&mut self, variable: &Variable<'m>) -> TermId {
        let step = self.term(variable.step);
        match variable.subtracted {
            false => step,
            true => {
                let zero = self.intern(Term::Constant(0));
                self.operation(Operation::Sub, 64, vec![zero, step])
            }
        }
    }

    /// Returns when a loop ends, from the comparison of one of its variables.
    fn loop_end(&mut self, header: Block<'m>) -> Option<LoopEnd> {
        let latch = header.phis().find_map(Variable::of)?.latch;
        let terminator = latch.terminator()?;
        let condition = terminator.condition()?.as_instruction()?;
        let mut predicate = condition.int_predicate()?;
        let [on_true, on_false] = {
            let mut successors = terminator.successors();
            [successors.next()?, successors.next()?]
        };
        match (on_true == header, on_false == header) {
            (true, false) => {}
            (false, true) => predicate = inverse(predicate),
            _ => return None,
        }
        for other in header.phis() {
            let Some(variable) = Variable::of(other) else {
                continue;
            };
            for side in [0, 1] {
                let compared = condition.operand(side);
                let before = without_casts(compared) == Value::from(other);
                let after = without_casts(compared) == without_casts(variable.next);
                if !before && !after {
                    continue;
                }
                let bits = compared.of().int_width().filter(|&bits| bits <= 64)?;
                let predicate = if side == 0 {
                    predicate
                } else {
                    swapped(predicate)
                };
                let (comparison, unsigned) = continuing(predicate)?;
                let bound = condition.operand(1 - side);
                let guarded = self.is_guarded(&variable, header, bound, predicate);
                return Some(LoopEnd {
                    start: self.term(variable.start),
                    step: self.step(&variable),
                    bound: self.term(bound),
                    comparison,
                    before,
                    unsigned,
                    guarded,
                    bits,
                });
            }
        }
        None
    }

    /// Returns true if a loop is entered only if the comparison at its end holds for the first value of
    /// its variable.
    fn is_guarded(
        &mut self,
        variable: &Variable<'m>,
        header: Block<'m>,
        bound: Value<'m>,
        predicate: IntPredicate,
    ) -> bool {
        const STEPS: usize = 8;
        let outside = header.predecessors().filter(|b| *b != variable.latch);
        let Ok([mut from]) = <[Block; 1]>::try_from(outside.collect::<Vec<_>>()) else {
            return false;
        };
        let mut to = header;
        for _ in 0..STEPS {
            let found = from.terminator().and_then(|terminator| {
                let condition = terminator.condition()?.as_instruction()?;
                let mut holds = condition.int_predicate()?;
                let successors: Vec<Block> = terminator.successors().collect();
                match successors[..] {
                    [yes, no] if yes == to && no != to => {}
                    [yes, no] if no == to && yes != to => holds = inverse(holds),
                    _ => return None,
                }
                let sides = (condition.operand(0), condition.operand(1));
                // The same may be computed twice.
                let is_start = self.same(sides.1, variable.start);
                if is_start && self.same(sides.0, bound) {
                    return Some(swapped(holds) == predicate);
                }
                let is_start = self.same(sides.0, variable.start);
                Some(is_start && self.same(sides.1, bound) && holds == predicate)
            });
            if found == Some(true) {
                return true;
            }
            let before: Vec<Block> = from.predecessors().collect();
            let [one] = before[..] else {
                return false;
            };
            (from, to) = (one, from);
        }
        false
    }

    /// Returns true if two integers are the same but for their widths.
    fn same(&mut self, a: Value<'m>, b: Value<'m>) -> bool {
        let (a, b) = (without_casts(a), without_casts(b));
        let unknown = self.intern(Term::Unknown);
        a == b || self.term(a) == self.term(b) && self.term(a) != unknown
    }
}

/// A variable that changes by the same amount in each iteration of a loop.
struct Variable<'m> {
    start: Value<'m>,
    next: Value<'m>,
    step: Value<'m>,
    subtracted: bool,
    latch: Block<'m>,
    /// Width of the narrowest form in bits.
    bits: u32,
}

impl<'m> Variable<'m> {
    fn of(phi: Phi<'m>) -> Option<Variable<'m>> {
        let value = Value::from(phi);
        let incoming: Vec<_> = phi.incoming().collect();
        let [a, b] = incoming[..] else {
            return None;
        };
        let changed = |(next, latch): (Value<'m>, Block<'m>), start| {
            // The variable may be wider than the addition.
            let at = without_casts(next).as_instruction()?;
            let [x, y] = match at.opcode() {
                Opcode::LLVMAdd | Opcode::LLVMSub => [at.operand(0), at.operand(1)],
                _ => return None,
            };
            let subtracted = at.opcode() == Opcode::LLVMSub;
            let is = |side| without_casts(side) == value;
            let step = match (is(x), is(y) && !subtracted) {
                (true, false) => y,
                (false, true) => x,
                _ => return None,
            };
            let width = |value: Value| value.of().int_width();
            Some(Variable {
                start,
                next,
                step,
                subtracted,
                latch,
                bits: width(value)?.min(width(at.into())?),
            })
        };
        changed(a, b.0).or_else(|| changed(b, a.0))
    }
}

/// Maximum number of addends of a sum.
const MOST_ADDENDS: usize = 32;

/// Adds the addends of a sum to a list, each with true if it is subtracted. Sums in `whole` are not
/// taken apart.
fn addends<'m>(
    value: Value<'m>,
    negative: bool,
    whole: &HashSet<Value<'m>>,
    list: &mut Vec<(Value<'m>, bool)>,
) {
    let at = value.as_instruction().filter(|at| {
        let opcode = at.opcode();
        matches!(opcode, Opcode::LLVMAdd | Opcode::LLVMSub)
    });
    match at {
        Some(at) if list.len() < MOST_ADDENDS && !whole.contains(&value) => {
            addends(at.operand(0), negative, whole, list);
            let subtracted = negative != (at.opcode() == Opcode::LLVMSub);
            addends(at.operand(1), subtracted, whole, list);
        }
        _ => list.push((value, negative)),
    }
}

/// Recognizes `x / y * y`. Returns x, y, and the operation that gives what is missing to x.
fn multiple<'m>(value: Value<'m>) -> Option<(Value<'m>, Value<'m>, Operation)> {
    let product = value.as_instruction()?;
    if product.opcode() != Opcode::LLVMMul {
        return None;
    }
    let of = |quotient: Value<'m>, by: Value<'m>| {
        let quotient = quotient.as_instruction()?;
        let operation = match quotient.opcode() {
            Opcode::LLVMUDiv => Operation::URem,
            Opcode::LLVMSDiv => Operation::SRem,
            _ => return None,
        };
        (quotient.operand(1) == by).then_some((quotient.operand(0), by, operation))
    };
    let [a, b] = [product.operand(0), product.operand(1)];
    of(a, b).or_else(|| of(b, a))
}

/// Strips conversions between widths.
fn without_casts(mut value: Value) -> Value {
    while let Some(instruction) = value.as_instruction()
        && matches!(
            instruction.opcode(),
            Opcode::LLVMSExt | Opcode::LLVMZExt | Opcode::LLVMTrunc | Opcode::LLVMFreeze
        )
    {
        value = instruction.operand(0);
    }
    value
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

/// Returns the comparison that is true if the other one is false.
fn inverse(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate::*;
    match predicate {
        LLVMIntEQ => LLVMIntNE,
        LLVMIntNE => LLVMIntEQ,
        LLVMIntSLT => LLVMIntSGE,
        LLVMIntSLE => LLVMIntSGT,
        LLVMIntSGT => LLVMIntSLE,
        LLVMIntSGE => LLVMIntSLT,
        LLVMIntULT => LLVMIntUGE,
        LLVMIntULE => LLVMIntUGT,
        LLVMIntUGT => LLVMIntULE,
        LLVMIntUGE => LLVMIntULT,
    }
}

/// Returns the comparison of the operands in the other order.
fn swapped(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate::*;
    match predicate {
        LLVMIntEQ | LLVMIntNE => predicate,
        LLVMIntSLT => LLVMIntSGT,
        LLVMIntSLE => LLVMIntSGE,
        LLVMIntSGT => LLVMIntSLT,
        LLVMIntSGE => LLVMIntSLE,
        LLVMIntULT => LLVMIntUGT,
        LLVMIntULE => LLVMIntUGE,
        LLVMIntUGT => LLVMIntULT,
        LLVMIntUGE => LLVMIntULE,
    }
}

/// Returns the comparison that lets a loop go on, and whether it is of unsigned numbers.
fn continuing(predicate: IntPredicate) -> Option<(Comparison, bool)> {
    use IntPredicate::*;
    Some(match predicate {
        LLVMIntEQ => return None,
        LLVMIntNE => (Comparison::Unequal, false),
        LLVMIntSLT => (Comparison::Less, false),
        LLVMIntSLE => (Comparison::LessEqual, false),
        LLVMIntSGT => (Comparison::Greater, false),
        LLVMIntSGE => (Comparison::GreaterEqual, false),
        LLVMIntULT => (Comparison::Less, true),
        LLVMIntULE => (Comparison::LessEqual, true),
        LLVMIntUGT => (Comparison::Greater, true),
        LLVMIntUGE => (Comparison::GreaterEqual, true),
    })
}
