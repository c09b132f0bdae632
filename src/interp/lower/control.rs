//! Branches and returns; a comparison used by its branch alone is part of it, and so is the
//! counter's step before that.

use super::int::swap_greater;
use super::{Label, Lower};
use crate::interp::isa::{self, Brab, Brai, Code, Enc, op};
use crate::ir::{FloatKind, FloatPred, IntPred, Op, Operand, Type};
use std::mem::offset_of;

/// A comparison of two slots or of a slot and an immediate.
enum Test {
    Slots(Code<Brab>, u16, u16),
    Imm(Code<Brai>, u16, i32),
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

    pub(super) fn branch(&mut self, i: usize) {
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
            self.labels[next.0 as usize] = self.here();
        }
        self.edge(self.current, fallthrough.as_u32() as usize);
    }

    /// The operands of an `addi` that was emitted just now into `dst`; takes it back.
    fn take_step(&mut self, dst: u16, wide: &[u16]) -> Option<(isa::Dai, bool)> {
        let &(at, number) = self.ops.last()?;
        if at < self.labels[self.current]
            || at as usize + size_of::<Enc<isa::Dai>>() != self.code.len() * 8
        {
            return None;
        }
        let is64 = number == op::addi64.number;
        if (!is64 && number != op::addi32.number) || wide.contains(&u16::from(!is64)) {
            return None;
        }
        // SAFETY: the instruction recorded there has this shape.
        let ops = unsafe {
            (*self
                .code
                .as_ptr()
                .byte_add(at as usize)
                .cast::<Enc<isa::Dai>>())
            .ops
        };
        if ops.dst != dst
            || self.lines.last().is_some_and(|l| l.0 > at) && self.labels[self.current] == at
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
        Some((ops, is64))
    }

    /// Fuses `dst = a + step` into the comparison of `dst` that follows.
    fn step(&mut self, number: u16, x: u16, y: u16, then: Label, els: Label) -> bool {
        let table = [
            (op::br_eq.number, [op::step_eq32, op::step_eq64], &[][..]),
            (op::br_ult.number, [op::step_ult32, op::step_ult64], &[][..]),
            (
                op::br_slt32.number,
                [op::step_slt32, op::step_slt32],
                &[0][..],
            ),
            (
                op::br_slt64.number,
                [op::step_slt64, op::step_slt64],
                &[1][..],
            ),
        ];
        let Some(&(_, codes, not)) = table.iter().find(|t| t.0 == number) else {
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

    fn last_dst(&self) -> Option<u16> {
        let &(at, number) = self.ops.last()?;
        if number != op::addi64.number && number != op::addi32.number {
            return None;
        }
        // SAFETY: the instruction recorded there has this shape.
        Some(unsafe {
            (*self
                .code
                .as_ptr()
                .byte_add(at as usize)
                .cast::<Enc<isa::Dai>>())
            .ops
            .dst
        })
    }

    fn step_imm(&mut self, number: u16, x: u16, imm: i32, then: Label, els: Label) -> bool {
        let table = [
            (op::br_eqi.number, [op::step_eqi32, op::step_eqi64], &[][..]),
            (
                op::br_ulti.number,
                [op::step_ulti32, op::step_ulti64],
                &[][..],
            ),
            (
                op::br_slti32.number,
                [op::step_slti32, op::step_slti32],
                &[0][..],
            ),
            (
                op::br_slti64.number,
                [op::step_slti64, op::step_slti64],
                &[1][..],
            ),
        ];
        let Some(&(_, codes, not)) = table.iter().find(|t| t.0 == number) else {
            return false;
        };
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
            self.labels[next.0 as usize] = self.here();
        }
        self.emit(op::unreachable, isa::Nil);
    }

    /// A fused comparison for a condition that is used only here.
    fn test(&mut self, cond: Operand, then: &mut Label, els: &mut Label) -> Option<Test> {
        match self.late(cond)?.clone() {
            Op::ICmp { pred, a, b } => {
                let bits = self.int_bits(a).filter(|&b| b <= 64)?;
                let (mut pred, a, b) = swap_greater(pred, a, b);
                if pred == IntPred::Ne {
                    pred = IntPred::Eq;
                    std::mem::swap(then, els);
                }
                let small = |imm: i32| bits == 64 || imm >= 0;
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
                        return Some(Test::Imm(code, self.operand(b), imm));
                    }
                }
                let (mut x, mut y) = (self.operand(a), self.operand(b));
                let w = self.compare_width(pred, bits, &mut x, &mut y);
                let code = match pred {
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
