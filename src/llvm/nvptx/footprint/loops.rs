//! Variables of loops: where they begin, how they change, and when the loop ends.

use super::analysis::Analysis;
use super::{Comparison, LoopEnd, Operation, Term, TermId};
use crate::handles::{Block, IntPredicate, Opcode, Phi, Value};

impl<'m> Analysis<'m> {
    pub(super) fn phi(&mut self, value: Value<'m>, bits: u32) -> Option<TermId> {
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
            if let Some((step, bits)) = narrow_addition(next, value) {
                return Some(Variable {
                    start,
                    next,
                    step,
                    subtracted: false,
                    latch,
                    bits,
                });
            }
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

/// Returns the constant that is added to `value` in fewer bits than it has, and how many, if `next`
/// is the sum: `((value << n) + (constant << n)) >> n`, which LLVM makes of a sum that is extended.
fn narrow_addition<'m>(next: Value<'m>, value: Value<'m>) -> Option<(Value<'m>, u32)> {
    let operands = |value: Value<'m>, opcode| {
        let at = value.as_instruction()?;
        (at.opcode() == opcode).then(|| (at.operand(0), at.operand(1)))
    };
    let (sum, count) = operands(next, Opcode::LLVMAShr)?;
    let (shifted, added) = operands(sum, Opcode::LLVMAdd)?;
    let (base, by) = operands(shifted, Opcode::LLVMShl)?;
    let (count, added) = (count.unsigned()?, added.signed()?);
    let width = next.of().int_width()?;
    let same = base == value && by.unsigned() == Some(count) && count < u64::from(width);
    let step = added >> count.min(63);
    let exact = added == step << count.min(63);
    (same && exact).then(|| (next.of().constant(step as u64), width - count as u32))
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
