//! Fuses the step of a loop's counter with the branch after it.
//!
//! If an addition was emitted just before a branch, it is removed, and the form of the branch that
//! also adds is emitted instead. A *step* adds a constant and a *walk* adds a slot to the compared
//! value; an *increment* adds a constant to another value. Fusion looks back because the last
//! values of a block are known only when its branch is emitted. Other arithmetic is not fused,
//! since no profile shows it.

use super::control::TwoTargets;
use super::{Label, Lowering};
use crate::isa::{
    self, Brinc, Brinci, Brstep, Brstepi, Brwalk, Brwalki, Dab, Dai, Enc, Opcode, op,
};

/// The forms of a comparison that add to the slot it compares.
struct Steps<S: isa::Shape, W: isa::Shape> {
    comparison: u16,
    /// Adds a constant, in 32 and 64 bits.
    step: [Opcode<S>; 2],
    /// Adds a slot, in 32 and 64 bits.
    walk: [Opcode<W>; 2],
    /// The only width of the sum that is correct: 64 bits (true) or 32 bits (false); `None` for
    /// either.
    wide: Option<bool>,
}

/// Builds a table of comparisons with their forms. Forms of a single width are named once.
macro_rules! steps {
    ($($comparison:ident: $($step:ident)+, $($walk:ident)+, $wide:expr;)*) => {
        [$(Steps {
            comparison: op::$comparison.number,
            step: steps!(@ $($step)+),
            walk: steps!(@ $($walk)+),
            wide: $wide,
        },)*]
    };
    (@ $one:ident) => { [op::$one; 2] };
    (@ $of_32:ident $of_64:ident) => { [op::$of_32, op::$of_64] };
}

/// Comparisons with a slot.
const STEPS: [Steps<Brstep, Brwalk>; 4] = steps! {
    br_eq: step_eq32 step_eq64, walk_eq32 walk_eq64, None;
    br_ult: step_ult32 step_ult64, walk_ult32 walk_ult64, None;
    br_slt32: step_slt32, walk_slt32, Some(false);
    br_slt64: step_slt64, walk_slt64, Some(true);
};

/// Comparisons with an immediate.
const STEPS_TO_NUMBER: [Steps<Brstepi, Brwalki>; 4] = steps! {
    br_eqi: step_eqi32 step_eqi64, walk_eqi32 walk_eqi64, None;
    br_ulti: step_ulti32 step_ulti64, walk_ulti32 walk_ulti64, None;
    br_slti32: step_slti32, walk_slti32, Some(false);
    br_slti64: step_slti64, walk_slti64, Some(true);
};

/// Comparisons of slots, with their forms that add to another slot.
const INCREMENTS: [(u16, Opcode<Brinc>); 5] = [
    (op::br_eq.number, op::inc_br_eq),
    (op::br_eq32.number, op::inc_br_eq32),
    (op::br_ult.number, op::inc_br_ult),
    (op::br_slt32.number, op::inc_br_slt32),
    (op::br_slt64.number, op::inc_br_slt64),
];

/// Comparisons with an immediate, with their forms that add to another slot.
const INCREMENTS_TO_NUMBER: [(u16, Opcode<Brinci>); 5] = [
    (op::br_eqi.number, op::inc_br_eqi),
    (op::br_eqi32.number, op::inc_br_eqi32),
    (op::br_ulti.number, op::inc_br_ulti),
    (op::br_slti32.number, op::inc_br_slti32),
    (op::br_slti64.number, op::inc_br_slti64),
];

impl Lowering<'_> {
    /// Removes the instruction emitted last if it is in this block, has one of `codes`, and
    /// `wanted` accepts it. Returns its operands, and true for the second of the codes.
    fn take_last<T: isa::Shape>(
        &mut self,
        codes: [Opcode<T>; 2],
        wanted: impl Fn(&T, bool) -> bool,
    ) -> Option<(T, bool)> {
        let &(at, number) = self.ops.last()?;
        if at < self.fence || at as usize + size_of::<Enc<T>>() != self.code.len() * 8 {
            return None;
        }
        let second = number == codes[1].number;
        if !second && number != codes[0].number {
            return None;
        }
        // SAFETY: `number` is one of `codes`, whose shape is `T`.
        let ops = unsafe { (*self.code.as_ptr().byte_add(at as usize).cast::<Enc<T>>()).ops };
        if !wanted(&ops, second) || self.lines.last().is_some_and(|l| l.0 > at) && self.fence == at
        {
            return None;
        }
        self.code.truncate(at as usize / 8);
        self.ops.pop();
        for line in self.lines.iter_mut().rev() {
            if line.0 <= at {
                break;
            }
            line.0 = at;
        }
        Some((ops, second))
    }

    /// Returns the destination of the addition emitted last, if the last instruction is one.
    fn last_dst(&self) -> Option<u16> {
        let &(at, number) = self.ops.last()?;
        let adds = [
            op::addi64.number,
            op::addi32.number,
            op::add64.number,
            op::add32.number,
        ];
        // SAFETY: the shapes of all four instructions begin with the destination.
        adds.contains(&number).then(|| unsafe {
            (*self
                .code
                .as_ptr()
                .byte_add(at as usize)
                .cast::<Enc<isa::D>>())
            .ops
            .dst
        })
    }

    /// Fuses `x = a + step` into the comparison `number` of `x` that follows.
    fn stepped<S: TwoTargets, W: TwoTargets>(
        &mut self,
        (table, number): (&[Steps<S, W>], u16),
        x: u16,
        step: impl Fn(Dai) -> S,
        walk: impl Fn(Dab) -> W,
        (then, els): (Label, Label),
    ) -> bool {
        let Some(row) = table.iter().find(|row| row.comparison == number) else {
            return false;
        };
        let fits = |dst: u16, wide: bool| dst == x && row.wide.is_none_or(|w| w == wide);
        if let Some((o, wide)) = self.take_last([op::add32, op::add64], |o, w| fits(o.dst, w)) {
            self.branch_two(row.walk[usize::from(wide)], walk(o), then, els);
            return true;
        }
        if let Some((o, wide)) = self.take_last([op::addi32, op::addi64], |o, w| fits(o.dst, w)) {
            self.branch_two(row.step[usize::from(wide)], step(o), then, els);
            return true;
        }
        false
    }

    /// Fuses `dst = a + step` into the comparison of `dst` with a slot.
    pub(super) fn step(&mut self, number: u16, x: u16, y: u16, then: Label, els: Label) -> bool {
        // Equality is symmetric, so the counter may be the second operand.
        let (x, y) = if number == op::br_eq.number && self.last_dst() == Some(y) {
            (y, x)
        } else {
            (x, y)
        };
        if x == y {
            return false;
        }
        let step = |o: Dai| Brstep {
            dst: o.dst,
            a: o.a,
            b: y,
            step: o.imm,
            then: 0,
            els: 0,
        };
        let walk = |o: Dab| Brwalk {
            dst: o.dst,
            a: o.a,
            s: o.b,
            b: y,
            then: 0,
            els: 0,
        };
        self.stepped((&STEPS, number), x, step, walk, (then, els))
    }

    /// Fuses `dst = a + step` into the comparison of `dst` with an immediate.
    pub(super) fn step_imm(
        &mut self,
        number: u16,
        x: u16,
        imm: i32,
        then: Label,
        els: Label,
    ) -> bool {
        let step = |o: Dai| Brstepi {
            dst: o.dst,
            a: o.a,
            step: o.imm,
            imm,
            then: 0,
            els: 0,
        };
        let walk = |o: Dab| Brwalki {
            dst: o.dst,
            a: o.a,
            s: o.b,
            imm,
            then: 0,
            els: 0,
        };
        self.stepped((&STEPS_TO_NUMBER, number), x, step, walk, (then, els))
    }

    /// Fuses `dst = a + step` into the comparison `number` of another value that follows.
    fn incremented<T: TwoTargets>(
        &mut self,
        (table, number): (&[(u16, Opcode<T>)], u16),
        ops: impl Fn(Dai) -> T,
        (then, els): (Label, Label),
    ) -> bool {
        let Some(&(_, code)) = table.iter().find(|row| row.0 == number) else {
            return false;
        };
        let Some((o, _)) = self.take_last([op::addi64; 2], |_, _| true) else {
            return false;
        };
        self.branch_two(code, ops(o), then, els);
        true
    }

    /// Fuses `dst = a + step` into a comparison of other slots.
    pub(super) fn increment(
        &mut self,
        number: u16,
        x: u16,
        y: u16,
        then: Label,
        els: Label,
    ) -> bool {
        let ops = |o: Dai| Brinc {
            dst: o.dst,
            a: o.a,
            x,
            y,
            step: o.imm,
            then: 0,
            els: 0,
        };
        self.incremented((&INCREMENTS, number), ops, (then, els))
    }

    /// Fuses `dst = a + step` into a comparison of another slot with an immediate.
    pub(super) fn increment_imm(
        &mut self,
        number: u16,
        x: u16,
        imm: i32,
        then: Label,
        els: Label,
    ) -> bool {
        let ops = |o: Dai| Brinci {
            dst: o.dst,
            a: o.a,
            x,
            step: o.imm,
            imm,
            then: 0,
            els: 0,
        };
        self.incremented((&INCREMENTS_TO_NUMBER, number), ops, (then, els))
    }
}
