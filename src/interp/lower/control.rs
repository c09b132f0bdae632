//! Branches and returns; a comparison used by its branch alone is part of it, and so is the
//! counter's step before that.

use super::analyse::Kind;
use super::int::swap_greater;
use super::{Label, Lower};
use crate::interp::isa::{self, Brab, Brai, Code, Enc, op};
use crate::ir::{BinOp, FloatKind, FloatPred, IntPred, Op, Operand, Type};
use std::mem::offset_of;

/// A comparison of two slots or of a slot and an immediate.
pub(super) enum Test {
    Slots(Code<Brab>, u16, u16),
    Imm(Code<Brai>, u16, i32),
}

/// The form of a comparison with a number that reads 32 bits.
fn narrow_imm(code: Code<Brai>) -> Code<Brai> {
    match code.number {
        n if n == op::br_eqi.number => op::br_eqi32,
        n if n == op::br_ulti.number => op::br_ulti32,
        _ => code,
    }
}

impl Lower<'_> {
    pub(super) fn ret(&mut self, value: Option<Operand>) {
        let Some(value) = value else {
            self.emit(op::ret0, isa::Nil);
            return;
        };
        let a = self.operand(value);
        match self.words(self.type_of(value)) {
            0 => self.emit(op::ret0, isa::Nil),
            1 => self.emit(op::ret1, isa::A { a }),
            n => self.emit(op::retn, isa::Ret { a, n }),
        };
    }

    /// Emits what was left for the end of the current block; what its branch compares last.
    fn sunk(&mut self, i: usize) {
        let block = self.current as u32;
        let first = self.sunk.partition_point(|&(b, _)| b < block);
        let n = self.sunk[first..].partition_point(|&(b, _)| b == block);
        if n == 0 {
            return;
        }
        let compared = match &self.body.insts[i].op {
            Op::CondBr { cond, .. } => match self.late(*cond) {
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

    /// Whether a block is a comparison and its branch, or a return, and nothing else: then it is
    /// as well repeated where something would jump to it.
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
                    || !matches!(self.kind[self.nparams + i], Kind::Plain | Kind::Sunk)
            })
    }

    pub(super) fn branch(&mut self, i: usize) {
        self.sunk(i);
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
                match self.test(*cond, &mut then, &mut els) {
                    Some(Test::Slots(code, a, b)) => {
                        if self.step(code.number, a, b, then, els) {
                            self.repeat(then, els);
                            return;
                        }
                        if self.increment(code.number, a, b, then, els) {
                            return;
                        }
                        let at = self.emit(
                            code,
                            Brab {
                                a,
                                b,
                                then: 0,
                                els: 0,
                            },
                        );
                        self.branch_to(at, offset_of!(Enc<Brab>, ops.then), then);
                        self.branch_to(at, offset_of!(Enc<Brab>, ops.els), els);
                    }
                    Some(Test::Imm(code, a, imm)) => {
                        if self.step_imm(code.number, a, imm, then, els) {
                            self.repeat(then, els);
                            return;
                        }
                        if self.increment_imm(code.number, a, imm, then, els) {
                            return;
                        }
                        let at = self.emit(
                            code,
                            Brai {
                                a,
                                imm,
                                then: 0,
                                els: 0,
                            },
                        );
                        self.branch_to(at, offset_of!(Enc<Brai>, ops.then), then);
                        self.branch_to(at, offset_of!(Enc<Brai>, ops.els), els);
                    }
                    None => {
                        let a = self.operand(*cond);
                        let at = self.emit(op::br_if, isa::Bra { a, then: 0, els: 0 });
                        self.branch_to(at, offset_of!(Enc<isa::Bra>, ops.then), then);
                        self.branch_to(at, offset_of!(Enc<isa::Bra>, ops.els), els);
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

    /// The branches of `asm goto`: `a` numbers the successor, 0 is the fallthrough.
    pub(super) fn goto(
        &mut self,
        a: u16,
        fallthrough: crate::ir::BlockId,
        indirect: &[crate::ir::BlockId],
    ) {
        for (k, b) in indirect.iter().enumerate() {
            let (then, next) = (self.target(b.as_u32() as usize), self.new_label());
            let ops = Brai {
                a,
                imm: k as i32 + 1,
                then: 0,
                els: 0,
            };
            let at = self.emit(op::br_eqi, ops);
            self.branch_to(at, offset_of!(Enc<Brai>, ops.then), then);
            self.branch_to(at, offset_of!(Enc<Brai>, ops.els), next);
            self.place(next);
        }
        self.edge(self.current, fallthrough.as_u32() as usize);
    }

    /// The operands of an instruction among `codes` that was emitted just now in this block, if
    /// `wanted`; takes it back. With them, which of the codes it is.
    fn take_last<T: isa::Shape>(
        &mut self,
        codes: [Code<T>; 2],
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
        // SAFETY: the instruction recorded there has this shape.
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

    /// The operands of an `addi` that was emitted just now into `dst`; takes it back. Not one of
    /// the widths (0: 32 bits, 1: 64) in `not`.
    fn take_step(&mut self, dst: u16, not: &[u16]) -> Option<(isa::Dai, bool)> {
        self.take_last([op::addi32, op::addi64], |o, wide| {
            o.dst == dst && !not.contains(&u16::from(wide))
        })
    }

    /// As [`Self::take_step`] for an `add`.
    fn take_walk(&mut self, dst: u16, not: &[u16]) -> Option<(isa::Dab, bool)> {
        self.take_last([op::add32, op::add64], |o, wide| {
            o.dst == dst && !not.contains(&u16::from(wide))
        })
    }

    /// Fuses `dst = a + step` into the comparison of `dst` that follows.
    fn step(&mut self, number: u16, x: u16, y: u16, then: Label, els: Label) -> bool {
        // For each comparison its forms with a step and with a walk of either width, and the
        // width of addition that it does not fit.
        let table = [
            (
                op::br_eq.number,
                [op::step_eq32, op::step_eq64],
                [op::walk_eq32, op::walk_eq64],
                &[][..],
            ),
            (
                op::br_ult.number,
                [op::step_ult32, op::step_ult64],
                [op::walk_ult32, op::walk_ult64],
                &[][..],
            ),
            (
                op::br_slt32.number,
                [op::step_slt32; 2],
                [op::walk_slt32; 2],
                &[1][..],
            ),
            (
                op::br_slt64.number,
                [op::step_slt64; 2],
                [op::walk_slt64; 2],
                &[0][..],
            ),
        ];
        let Some(&(_, codes, walks, not)) = table.iter().find(|t| t.0 == number) else {
            return false;
        };
        // Equality may name the counter second.
        let (x, y) = if number == op::br_eq.number && self.last_dst() == Some(y) {
            (y, x)
        } else {
            (x, y)
        };
        if x == y {
            return false;
        }
        if let Some((o, is64)) = self.take_walk(x, not) {
            let ops = isa::Brwalk {
                dst: o.dst,
                a: o.a,
                s: o.b,
                b: y,
                then: 0,
                els: 0,
            };
            let at = self.emit(walks[usize::from(is64)], ops);
            self.branch_to(at, offset_of!(Enc<isa::Brwalk>, ops.then), then);
            self.branch_to(at, offset_of!(Enc<isa::Brwalk>, ops.els), els);
            return true;
        }
        let Some((o, is64)) = self.take_step(x, not) else {
            return false;
        };
        let ops = isa::Brstep {
            dst: o.dst,
            a: o.a,
            b: y,
            step: o.imm,
            then: 0,
            els: 0,
        };
        let at = self.emit(codes[usize::from(is64)], ops);
        self.branch_to(at, offset_of!(Enc<isa::Brstep>, ops.then), then);
        self.branch_to(at, offset_of!(Enc<isa::Brstep>, ops.els), els);
        true
    }

    /// Where an addition that was emitted just now goes.
    fn last_dst(&self) -> Option<u16> {
        let &(at, number) = self.ops.last()?;
        let adds = [
            op::addi64.number,
            op::addi32.number,
            op::add64.number,
            op::add32.number,
        ];
        // SAFETY: both shapes begin with the destination.
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

    /// Fuses `dst = a + step` into a comparison of other slots.
    fn increment(&mut self, number: u16, x: u16, y: u16, then: Label, els: Label) -> bool {
        let table = [
            (op::br_eq.number, op::inc_br_eq),
            (op::br_eq32.number, op::inc_br_eq32),
            (op::br_ult.number, op::inc_br_ult),
            (op::br_slt32.number, op::inc_br_slt32),
            (op::br_slt64.number, op::inc_br_slt64),
        ];
        let Some(&(_, code)) = table.iter().find(|t| t.0 == number) else {
            return false;
        };
        let Some((o, _)) = self.take_last([op::addi64; 2], |_, _| true) else {
            return false;
        };
        let ops = isa::Brinc {
            dst: o.dst,
            a: o.a,
            x,
            y,
            step: o.imm,
            then: 0,
            els: 0,
        };
        let at = self.emit(code, ops);
        self.branch_to(at, offset_of!(Enc<isa::Brinc>, ops.then), then);
        self.branch_to(at, offset_of!(Enc<isa::Brinc>, ops.els), els);
        true
    }

    /// Fuses `dst = a + step` into a comparison of another slot with a number.
    fn increment_imm(&mut self, number: u16, x: u16, imm: i32, then: Label, els: Label) -> bool {
        let table = [
            (op::br_eqi.number, op::inc_br_eqi),
            (op::br_eqi32.number, op::inc_br_eqi32),
            (op::br_ulti.number, op::inc_br_ulti),
            (op::br_slti32.number, op::inc_br_slti32),
            (op::br_slti64.number, op::inc_br_slti64),
        ];
        let Some(&(_, code)) = table.iter().find(|t| t.0 == number) else {
            return false;
        };
        let Some((o, _)) = self.take_last([op::addi64; 2], |_, _| true) else {
            return false;
        };
        let ops = isa::Brinci {
            dst: o.dst,
            a: o.a,
            x,
            step: o.imm,
            imm,
            then: 0,
            els: 0,
        };
        let at = self.emit(code, ops);
        self.branch_to(at, offset_of!(Enc<isa::Brinci>, ops.then), then);
        self.branch_to(at, offset_of!(Enc<isa::Brinci>, ops.els), els);
        true
    }

    fn step_imm(&mut self, number: u16, x: u16, imm: i32, then: Label, els: Label) -> bool {
        let table = [
            (
                op::br_eqi.number,
                [op::step_eqi32, op::step_eqi64],
                [op::walk_eqi32, op::walk_eqi64],
                &[][..],
            ),
            (
                op::br_ulti.number,
                [op::step_ulti32, op::step_ulti64],
                [op::walk_ulti32, op::walk_ulti64],
                &[][..],
            ),
            (
                op::br_slti32.number,
                [op::step_slti32; 2],
                [op::walk_slti32; 2],
                &[1][..],
            ),
            (
                op::br_slti64.number,
                [op::step_slti64; 2],
                [op::walk_slti64; 2],
                &[0][..],
            ),
        ];
        let Some(&(_, codes, walks, not)) = table.iter().find(|t| t.0 == number) else {
            return false;
        };
        if let Some((o, is64)) = self.take_walk(x, not) {
            let ops = isa::Brwalki {
                dst: o.dst,
                a: o.a,
                s: o.b,
                imm,
                then: 0,
                els: 0,
            };
            let at = self.emit(walks[usize::from(is64)], ops);
            self.branch_to(at, offset_of!(Enc<isa::Brwalki>, ops.then), then);
            self.branch_to(at, offset_of!(Enc<isa::Brwalki>, ops.els), els);
            return true;
        }
        let Some((o, is64)) = self.take_step(x, not) else {
            return false;
        };
        let ops = isa::Brstepi {
            dst: o.dst,
            a: o.a,
            step: o.imm,
            imm,
            then: 0,
            els: 0,
        };
        let at = self.emit(codes[usize::from(is64)], ops);
        self.branch_to(at, offset_of!(Enc<isa::Brstepi>, ops.then), then);
        self.branch_to(at, offset_of!(Enc<isa::Brstepi>, ops.els), els);
        true
    }

    /// Compares the address with each target's, so that each edge has a place for its moves.
    fn indirect_with_moves(&mut self, address: Operand, targets: &[crate::ir::BlockId]) {
        let a = self.operand(address);
        for &t in targets {
            let at = self.image.block_address(self.id, t);
            if at == 0 {
                continue;
            }
            let b = self.word(at as u64);
            let then = self.target(t.as_u32() as usize);
            let next = self.new_label();
            let at = self.emit(
                op::br_eq,
                Brab {
                    a,
                    b,
                    then: 0,
                    els: 0,
                },
            );
            self.branch_to(at, offset_of!(Enc<Brab>, ops.then), then);
            self.branch_to(at, offset_of!(Enc<Brab>, ops.els), next);
            self.place(next);
        }
        self.emit(op::unreachable, isa::Nil);
    }

    /// A fused comparison for a condition that is used only here.
    pub(super) fn test(
        &mut self,
        cond: Operand,
        then: &mut Label,
        els: &mut Label,
    ) -> Option<Test> {
        match self.late(cond)?.clone() {
            Op::ICmp { pred, a, b } => {
                let bits = self.int_bits(a).filter(|&b| b <= 64)?;
                let (mut pred, a, b) = swap_greater(pred, a, b);
                if pred == IntPred::Ne {
                    pred = IntPred::Eq;
                    std::mem::swap(then, els);
                }
                let small = |imm: i32| bits == 64 || imm >= 0;
                if pred == IntPred::Eq
                    && self.int_const(b) == Some(0)
                    && let Some(&Op::Binary {
                        op: BinOp::And,
                        a: x,
                        b: mask,
                        ..
                    }) = self.late(a)
                    && let Some(mask) = self.imm(mask)
                {
                    std::mem::swap(then, els);
                    return Some(Test::Imm(op::br_test, self.operand(x), mask));
                }
                let low = bits == 32 && (self.unclean(a) || self.unclean(b));
                // x pred imm
                if let Some(imm) = self.imm(b) {
                    let code = match pred {
                        IntPred::Eq if small(imm) => Some((op::br_eqi, imm)),
                        IntPred::Ult if imm >= 0 => Some((op::br_ulti, imm)),
                        IntPred::Ule if (0..i32::MAX).contains(&imm) => {
                            Some((op::br_ulti, imm + 1))
                        }
                        IntPred::Slt if bits == 32 => Some((op::br_slti32, imm)),
                        IntPred::Slt if bits == 64 => Some((op::br_slti64, imm)),
                        IntPred::Sle if bits == 32 && imm < i32::MAX => {
                            Some((op::br_slti32, imm + 1))
                        }
                        IntPred::Sle if bits == 64 && imm < i32::MAX => {
                            Some((op::br_slti64, imm + 1))
                        }
                        _ => None,
                    };
                    if let Some((code, imm)) = code {
                        let code = if low { narrow_imm(code) } else { code };
                        return Some(Test::Imm(code, self.operand(a), imm));
                    }
                }
                // imm pred x: not (x < imm + 1), or not (x < imm)
                if let Some(imm) = self.imm(a) {
                    let code = match pred {
                        IntPred::Ult if (0..i32::MAX).contains(&imm) => {
                            Some((op::br_ulti, imm + 1))
                        }
                        IntPred::Ule if imm >= 0 => Some((op::br_ulti, imm)),
                        IntPred::Slt if bits == 32 && imm < i32::MAX => {
                            Some((op::br_slti32, imm + 1))
                        }
                        IntPred::Slt if bits == 64 && imm < i32::MAX => {
                            Some((op::br_slti64, imm + 1))
                        }
                        IntPred::Sle if bits == 32 => Some((op::br_slti32, imm)),
                        IntPred::Sle if bits == 64 => Some((op::br_slti64, imm)),
                        _ => None,
                    };
                    if let Some((code, imm)) = code {
                        std::mem::swap(then, els);
                        let code = if low { narrow_imm(code) } else { code };
                        return Some(Test::Imm(code, self.operand(b), imm));
                    }
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
                Some(Test::Slots(code, x, y))
            }
            Op::FCmp { pred, a, b } => {
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
                Some(Test::Slots(code[d], x, y))
            }
            _ => None,
        }
    }
}
