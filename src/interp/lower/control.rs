//! Branches and returns. A comparison that only its branch uses is fused into the branch.
//!
//! A branch that compares needs no slot for the outcome. `step` fuses the counter's step before it,
//! `switch` lowers switches, and `edge` emits the moves along an edge.

use super::int::swap_greater;
use super::materialize::Materialization;
use super::{Label, Lowering};
use crate::isa::{self, Bra, Brab, Brai, Enc, Opcode, Shape, op};
use ompvm_ir::{BinOp, FloatKind, FloatPred, IntPred, Op, Operand, Type};
use std::mem::offset_of;

/// The shape of an instruction with two successors.
pub(super) trait TwoTargets: Shape {
    /// Offsets in the instruction of the distances to both successors.
    const TARGETS: [usize; 2];
}

macro_rules! branch_two {
    ($($shape:ident)*) => { $(
        impl TwoTargets for isa::$shape {
            const TARGETS: [usize; 2] = [
                offset_of!(Enc<isa::$shape>, ops.then),
                offset_of!(Enc<isa::$shape>, ops.els),
            ];
        }
    )* };
}
branch_two! { Bra Brab Brai Brstep Brstepi Brwalk Brwalki Brinc Brinci }

/// Builds the operands of a branch on a slot; here and below, the distances are patched later.
pub(super) fn on_slot(a: u16) -> Bra {
    Bra { a, then: 0, els: 0 }
}

/// Builds the operands of a branch on a comparison of two slots.
pub(super) fn on_slots(a: u16, b: u16) -> Brab {
    let (then, els) = (0, 0);
    Brab { a, b, then, els }
}

/// Builds the operands of a branch on a comparison of a slot with an immediate.
pub(super) fn on_number(a: u16, imm: i32) -> Brai {
    let (then, els) = (0, 0);
    Brai { a, imm, then, els }
}

/// A comparison of two slots or of a slot and an immediate.
pub(super) enum FusedComparison {
    Slots(Opcode<Brab>, u16, u16),
    Imm(Opcode<Brai>, u16, i32),
}

/// Returns the form of a comparison with an immediate that reads 32 bits.
fn narrow_imm(code: Opcode<Brai>) -> Opcode<Brai> {
    match code.number {
        n if n == op::br_eqi.number => op::br_eqi32,
        n if n == op::br_ulti.number => op::br_ulti32,
        _ => code,
    }
}

impl Lowering<'_> {
    /// Emits a branch with two successors.
    pub(super) fn branch_two<T: TwoTargets>(
        &mut self,
        code: Opcode<T>,
        ops: T,
        then: Label,
        els: Label,
    ) {
        let at = self.emit(code, ops);
        self.branch_to(at, T::TARGETS[0], then);
        self.branch_to(at, T::TARGETS[1], els);
    }

    pub(super) fn ret(&mut self, value: Option<Operand>) {
        let Some(value) = value else {
            self.check_guard();
            self.emit(op::ret0, isa::Nil);
            return;
        };
        let a = self.operand(value);
        self.check_guard();
        match self.words(self.type_of(value)) {
            0 => self.emit(op::ret0, isa::Nil),
            1 => self.emit(op::ret1, isa::A { a }),
            n => self.emit(op::retn, isa::Ret { a, n }),
        };
    }

    /// Emits the sunk values of the current block; the value that its branch compares comes last.
    fn emit_sunk(&mut self, i: usize) {
        let block = self.current as u32;
        let first = self.sunk.partition_point(|&(b, _)| b < block);
        let n = self.sunk[first..].partition_point(|&(b, _)| b == block);
        if n == 0 {
            return;
        }
        let compared = match &self.body.insts[i].op {
            Op::CondBr { cond, .. } => match self.postponed(*cond) {
                Some(&Op::ICmp { a, b, .. }) => [a, b].map(|o| o.unpack().ok().map(|v| v.as_u32())),
                _ => [None; 2],
            },
            _ => [None; 2],
        };
        for last in [false, true] {
            for k in first..first + n {
                let v = self.sunk[k].1;
                if compared.contains(&Some(v)) == last {
                    let (at, dst) = (v as usize - self.nparams, self.slot[v as usize]);
                    self.note_line(at);
                    self.produce(at, dst);
                }
            }
        }
        self.note_line(i);
    }

    /// Returns true if a block contains only a comparison and its branch, or only a return. Such a
    /// block is duplicated instead of jumped to, unless it is the head of a loop.
    pub(super) fn is_test(&self, b: usize) -> bool {
        let block = self.body.blocks[b];
        let (last, all) = (
            block.end as usize - 1,
            block.start as usize..block.end as usize,
        );
        if self.count || block.end == block.start {
            return false;
        }
        matches!(self.body.insts[last].op, Op::CondBr { .. })
            && all.clone().all(|i| {
                i == last
                    || matches!(self.body.insts[i].op, Op::Phi { .. })
                    || !matches!(
                        self.kind[self.nparams + i],
                        Materialization::AtDefinition | Materialization::Sunk
                    )
            })
    }

    pub(super) fn branch(&mut self, i: usize) {
        self.emit_sunk(i);
        match &self.body.insts[i].op {
            Op::Br { target } => {
                let to = target.as_u32() as usize;
                let (start, moves) = (self.here(), self.moves(self.current, to));
                self.emit_moves(moves);
                if to != self.current + 1 {
                    self.jump(start, to);
                }
            }
            Op::CondBr {
                cond,
                then,
                otherwise,
            } => {
                let (then, otherwise) = (then.as_u32() as usize, otherwise.as_u32() as usize);
                if then == otherwise {
                    self.edge(self.current, then);
                    return;
                }
                let (mut then, mut els) = (self.target(then), self.target(otherwise));
                match self.fused_comparison(*cond, &mut then, &mut els) {
                    Some(FusedComparison::Slots(code, a, b)) => {
                        if self.step(code.number, a, b, then, els) {
                            self.repeat(then, els);
                            return;
                        }
                        if self.increment(code.number, a, b, then, els) {
                            return;
                        }
                        self.branch_two(code, on_slots(a, b), then, els);
                    }
                    Some(FusedComparison::Imm(code, a, imm)) => {
                        if self.step_imm(code.number, a, imm, then, els) {
                            self.repeat(then, els);
                            return;
                        }
                        if self.increment_imm(code.number, a, imm, then, els) {
                            return;
                        }
                        self.branch_two(code, on_number(a, imm), then, els);
                    }
                    None => {
                        let a = self.operand(*cond);
                        self.branch_two(op::br_if, on_slot(a), then, els);
                    }
                }
            }
            Op::Switch {
                cond,
                default,
                cases,
            } => self.switch(*cond, default.as_u32() as usize, cases),
            Op::IndirectBr { address, targets } => {
                if targets
                    .iter()
                    .any(|t| self.has_moves(self.current, t.as_u32() as usize))
                {
                    self.indirect_with_moves(*address, targets);
                    return;
                }
                let a = self.operand(*address);
                self.emit(op::indirect, isa::A { a });
            }
            _ => {}
        }
    }

    /// Emits the branches of `asm goto`: `a` holds the number of the successor, 0 for the
    /// fallthrough.
    pub(super) fn asm_goto(
        &mut self,
        a: u16,
        fallthrough: ompvm_ir::BlockId,
        indirect: &[ompvm_ir::BlockId],
    ) {
        for (k, b) in indirect.iter().enumerate() {
            let (then, next) = (self.target(b.as_u32() as usize), self.new_label());
            self.branch_two(op::br_eqi, on_number(a, k as i32 + 1), then, next);
            self.bind(next);
        }
        self.edge(self.current, fallthrough.as_u32() as usize);
    }

    /// Compares the address with each target's, so that each edge has its own moves.
    fn indirect_with_moves(&mut self, address: Operand, targets: &[ompvm_ir::BlockId]) {
        let a = self.operand(address);
        for &t in targets {
            let at = self.image.code_addresses.label(self.id, t);
            if at == 0 {
                continue;
            }
            let b = self.word(at as u64);
            let then = self.target(t.as_u32() as usize);
            let next = self.new_label();
            self.branch_two(op::br_eq, on_slots(a, b), then, next);
            self.bind(next);
        }
        self.emit(op::unreachable, isa::Nil);
    }

    /// Returns the fused comparison of a condition that is used only here.
    pub(super) fn fused_comparison(
        &mut self,
        cond: Operand,
        then: &mut Label,
        els: &mut Label,
    ) -> Option<FusedComparison> {
        match *self.postponed(cond)? {
            Op::ICmp { pred, a, b } => self.fused_icmp(pred, a, b, then, els),
            Op::FCmp { pred, a, b } => self.fused_fcmp(pred, a, b, then, els),
            _ => None,
        }
    }

    fn fused_icmp(
        &mut self,
        pred: IntPred,
        a: Operand,
        b: Operand,
        then: &mut Label,
        els: &mut Label,
    ) -> Option<FusedComparison> {
        let bits = self.int_bits(a).filter(|&b| b <= 64)?;
        let (mut pred, a, b) = swap_greater(pred, a, b);
        if pred == IntPred::Ne {
            pred = IntPred::Eq;
            std::mem::swap(then, els);
        }
        if pred == IntPred::Eq
            && self.int_const(b) == Some(0)
            && let Some(&Op::Binary {
                op: BinOp::And,
                a: x,
                b: mask,
                ..
            }) = self.postponed(a)
            && let Some(mask) = self.imm(mask)
        {
            std::mem::swap(then, els);
            return Some(FusedComparison::Imm(op::br_test, self.operand(x), mask));
        }
        let low = bits == 32 && (self.may_have_high_bits(a) || self.may_have_high_bits(b));
        let narrow = |code| if low { narrow_imm(code) } else { code };
        if let Some(imm) = self.imm(b)
            && let Some((code, imm)) = test_with_number(pred, bits, imm)
        {
            return Some(FusedComparison::Imm(narrow(code), self.operand(a), imm));
        }
        if let Some(imm) = self.imm(a)
            && let Some((code, imm)) = negated_test_of_number(pred, bits, imm)
        {
            std::mem::swap(then, els);
            return Some(FusedComparison::Imm(narrow(code), self.operand(b), imm));
        }
        let (mut x, mut y) = (self.operand(a), self.operand(b));
        let w = self.compare_width(pred, bits, &mut x, &mut y);
        let code = match pred {
            IntPred::Eq if low => op::br_eq32,
            IntPred::Ult if low => op::br_ult32,
            IntPred::Ule if low => op::br_ule32,
            IntPred::Eq => op::br_eq,
            IntPred::Ult => op::br_ult,
            IntPred::Ule => op::br_ule,
            IntPred::Slt => [op::br_slt8, op::br_slt16, op::br_slt32, op::br_slt64][w],
            _ => [op::br_sle8, op::br_sle16, op::br_sle32, op::br_sle64][w],
        };
        Some(FusedComparison::Slots(code, x, y))
    }

    fn fused_fcmp(
        &mut self,
        pred: FloatPred,
        a: Operand,
        b: Operand,
        then: &mut Label,
        els: &mut Label,
    ) -> Option<FusedComparison> {
        let d = match self.ty(self.type_of(a)) {
            Type::Float(FloatKind::Double) => 1,
            Type::Float(FloatKind::Float) => 0,
            _ => return None,
        };
        use FloatPred::*;
        let (code, swap, negate) = match pred {
            Oeq => ([op::br_foeq32, op::br_foeq64], false, false),
            Une => ([op::br_foeq32, op::br_foeq64], false, true),
            Olt => ([op::br_folt32, op::br_folt64], false, false),
            Ogt => ([op::br_folt32, op::br_folt64], true, false),
            Ole => ([op::br_fole32, op::br_fole64], false, false),
            Oge => ([op::br_fole32, op::br_fole64], true, false),
            One => ([op::br_fone32, op::br_fone64], false, false),
            Ueq => ([op::br_fone32, op::br_fone64], false, true),
            Ord => ([op::br_ford32, op::br_ford64], false, false),
            Uno => ([op::br_ford32, op::br_ford64], false, true),
            Uge => ([op::br_folt32, op::br_folt64], false, true),
            Ule => ([op::br_folt32, op::br_folt64], true, true),
            Ugt => ([op::br_fole32, op::br_fole64], false, true),
            Ult => ([op::br_fole32, op::br_fole64], true, true),
            False | True => return None,
        };
        let (x, y) = (self.operand(a), self.operand(b));
        let (x, y) = if swap { (y, x) } else { (x, y) };
        if negate {
            std::mem::swap(then, els);
        }
        Some(FusedComparison::Slots(code[d], x, y))
    }
}

/// Returns the test of `x pred imm`.
fn test_with_number(pred: IntPred, bits: u32, imm: i32) -> Option<(Opcode<Brai>, i32)> {
    use IntPred::{Eq, Sle, Slt, Ule, Ult};
    Some(match (pred, bits) {
        (Eq, _) if bits == 64 || imm >= 0 => (op::br_eqi, imm),
        (Ult, _) if imm >= 0 => (op::br_ulti, imm),
        (Ule, _) if (0..i32::MAX).contains(&imm) => (op::br_ulti, imm + 1),
        (Slt, 32) => (op::br_slti32, imm),
        (Slt, 64) => (op::br_slti64, imm),
        (Sle, 32) if imm < i32::MAX => (op::br_slti32, imm + 1),
        (Sle, 64) if imm < i32::MAX => (op::br_slti64, imm + 1),
        _ => return None,
    })
}

/// Returns the negation of `imm pred x`: `x < imm + 1` or `x < imm`.
fn negated_test_of_number(pred: IntPred, bits: u32, imm: i32) -> Option<(Opcode<Brai>, i32)> {
    use IntPred::{Sle, Slt, Ule, Ult};
    Some(match (pred, bits) {
        (Ult, _) if (0..i32::MAX).contains(&imm) => (op::br_ulti, imm + 1),
        (Ule, _) if imm >= 0 => (op::br_ulti, imm),
        (Slt, 32) if imm < i32::MAX => (op::br_slti32, imm + 1),
        (Slt, 64) if imm < i32::MAX => (op::br_slti64, imm + 1),
        (Sle, 32) => (op::br_slti32, imm),
        (Sle, 64) => (op::br_slti64, imm),
        _ => return None,
    })
}
