//! Terms of integers in a kernel.

use super::analysis::Analysis;
use super::{Operation, Quantity, Term, TermId};
use crate::handles::{Instruction, IntPredicate, Opcode, Value};
use crate::nvptx::division::LEAGUE;
use hashbrown::HashSet;

/// Maximum number of values that are looked at, and maximum depth: larger kernels are rare.
const MOST_VALUES: usize = 200_000;
const DEPTH: usize = 400;
/// Maximum number of addends of a sum.
const MOST_ADDENDS: usize = 32;

impl<'m> Analysis<'m> {
    pub(super) fn intern(&mut self, term: Term) -> TermId {
        if let Some(&known) = self.interned.get(&term) {
            return known;
        }
        let id = self.footprint.terms.len() as TermId;
        self.footprint.terms.push(term.clone());
        self.interned.insert(term, id);
        id
    }

    pub(super) fn operation(
        &mut self,
        operation: Operation,
        bits: u32,
        operands: Vec<TermId>,
    ) -> TermId {
        self.intern(Term::Operation(operation, bits, operands))
    }

    /// Returns the term of an integer.
    pub(super) fn term(&mut self, value: Value<'m>) -> TermId {
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
}

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
