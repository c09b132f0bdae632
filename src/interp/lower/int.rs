//! Integer arithmetic and scalar comparisons.
//!
//! Widths 8, 16, 32 and 64 have handlers. Other widths up to 64 are computed in 64 bits: operands
//! are sign-extended where the sign matters, and overflowed bits are cleared. Width 128 has
//! handlers; 65 to 127 become thunks.

use super::Lowering;
use super::inst::width;
use super::materialize::Materialization;
use crate::isa::{self, Dab, Dai, Opcode, op};
use cranelift_entity::EntityRef;
use ompvm_ir::{BinOp, CastOp, FloatKind, FloatPred, IntPred, Op, Operand, Type};

impl Lowering<'_> {
    pub(super) fn int_binary(
        &mut self,
        o: BinOp,
        bits: u32,
        dst: u16,
        a: Operand,
        b: Operand,
    ) -> bool {
        if bits == 128 {
            let Some(code) = wide_handler(o) else {
                return false;
            };
            let (a, b) = (self.operand(a), self.operand(b));
            self.emit(code, Dab { dst, a, b });
            return true;
        }
        if bits > 64 {
            return false;
        }
        let exact = width(bits);
        let w = exact.unwrap_or(3);
        if exact.is_none_or(|w| w >= 2) && self.int_immediate(o, bits, w, dst, a, b) {
            return true;
        }
        let Some(code) = int_handler(o, w) else {
            return false;
        };
        let (mut x, mut y) = (self.operand(a), self.operand(b));
        if exact.is_none() && matches!(o, BinOp::SDiv | BinOp::SRem | BinOp::AShr) {
            x = self.sign_extended(x, bits);
            if o != BinOp::AShr {
                y = self.sign_extended(y, bits);
            }
        }
        self.emit(code, Dab { dst, a: x, b: y });
        if exact.is_none() && sets_high_bits(o) {
            self.emit(
                op::mask,
                isa::Dam {
                    dst,
                    a: dst,
                    mask: (1 << bits) - 1,
                },
            );
        }
        true
    }

    /// Returns a temporary with the value sign-extended to 64 bits.
    pub(super) fn sign_extended(&mut self, a: u16, bits: u32) -> u16 {
        if bits == 64 {
            return a;
        }
        let dst = self.temp(1);
        self.emit(
            op::sext_bits,
            Dai {
                dst,
                a,
                imm: bits as i32,
            },
        );
        dst
    }

    fn int_immediate(
        &mut self,
        o: BinOp,
        bits: u32,
        w: usize,
        dst: u16,
        a: Operand,
        b: Operand,
    ) -> bool {
        let (mut x, mut imm) = (a, self.imm(b));
        if imm.is_none()
            && matches!(
                o,
                BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor
            )
        {
            (x, imm) = (b, self.imm(a));
        }
        if o == BinOp::Sub
            && let Some(imm) = self.imm(a)
        {
            let b = self.operand(b);
            self.emit(
                if w == 2 { op::rsubi32 } else { op::rsubi64 },
                Dai { dst, a: b, imm },
            );
            self.clear_odd(dst, bits);
            return true;
        }
        let Some(imm) = imm else { return false };
        let narrow = w == 2;
        let exact = width(bits).is_some();
        if o == BinOp::Add && exact && self.affine(narrow, dst, x, imm) {
            return true;
        }
        let (code, imm, clear) = match o {
            BinOp::Add => (if narrow { op::addi32 } else { op::addi64 }, imm, true),
            BinOp::Sub => match imm.checked_neg() {
                Some(n) => (if narrow { op::addi32 } else { op::addi64 }, n, true),
                None => return false,
            },
            BinOp::Mul => (if narrow { op::muli32 } else { op::muli64 }, imm, true),
            BinOp::Shl => (if narrow { op::shli32 } else { op::shli64 }, imm, true),
            BinOp::LShr => (if narrow { op::lshri32 } else { op::lshri64 }, imm, false),
            BinOp::AShr if exact => (if narrow { op::ashri32 } else { op::ashri64 }, imm, false),
            // The immediate is sign-extended, so only non-negative ones keep a slot canonical.
            BinOp::And if imm >= 0 || bits == 64 => (op::andi, imm, false),
            BinOp::Or if imm >= 0 || bits == 64 => (op::ori, imm, false),
            BinOp::Xor if imm >= 0 || bits == 64 => (op::xori, imm, false),
            _ => return false,
        };
        let a = self.operand(x);
        self.emit(code, Dai { dst, a, imm });
        if clear {
            self.clear_odd(dst, bits);
        }
        true
    }

    /// Emits `dst = a * factor + imm` for a postponed product `x`.
    fn affine(&mut self, narrow: bool, dst: u16, x: Operand, imm: i32) -> bool {
        let (a, factor) = match self.postponed(x) {
            Some(&Op::Binary {
                op: BinOp::Mul,
                a,
                b,
                ..
            }) => (a, self.imm(b)),
            Some(&Op::Binary {
                op: BinOp::Shl,
                a,
                b,
                ..
            }) => (
                a,
                self.imm(b)
                    .and_then(|n| 1i32.checked_shl(n as u32))
                    .filter(|&f| f > 0),
            ),
            _ => return false,
        };
        let Some(factor) = factor else { return false };
        let code = if narrow { op::affine32 } else { op::affine64 };
        let a = self.operand(a);
        let ops = isa::Daii {
            dst,
            a,
            factor,
            imm,
        };
        self.emit(code, ops);
        true
    }

    /// Returns true if the operand's slot may hold more bits than its type has: a truncation whose
    /// users read only the low bits.
    pub(super) fn may_have_high_bits(&self, o: Operand) -> bool {
        o.unpack().is_ok_and(|v| {
            self.kind[v.index()] == Materialization::Alias
                && matches!(
                    self.body.insts[v.index() - self.nparams].op,
                    Op::Cast {
                        op: CastOp::Trunc,
                        ..
                    }
                )
        })
    }

    /// Returns the slot of an integer with the bits above its type cleared.
    fn clean(&mut self, o: Operand) -> u16 {
        let a = self.operand(o);
        if !self.may_have_high_bits(o) {
            return a;
        }
        let (dst, mask) = (self.temp(1), u64::from(u32::MAX));
        self.emit(op::mask, isa::Dam { dst, a, mask });
        dst
    }

    fn clear_odd(&mut self, dst: u16, bits: u32) {
        if width(bits).is_none() {
            self.emit(
                op::mask,
                isa::Dam {
                    dst,
                    a: dst,
                    mask: (1 << bits) - 1,
                },
            );
        }
    }

    /// Returns the number of bits of an integer or pointer type.
    pub(super) fn int_bits(&self, o: Operand) -> Option<u32> {
        match self.ty(self.type_of(o)) {
            Type::Int(bits) => Some(*bits),
            Type::Ptr(_) => Some(64),
            _ => None,
        }
    }

    pub(super) fn icmp(&mut self, pred: IntPred, dst: u16, a: Operand, b: Operand) -> bool {
        let Some(bits) = self.int_bits(a) else {
            return false;
        };
        let (pred, a, b) = swap_greater(pred, a, b);
        if bits > 64 {
            if bits != 128 {
                return false;
            }
            let code = match pred {
                IntPred::Eq => op::eq128,
                IntPred::Ne => op::ne128,
                IntPred::Ult => op::ult128,
                IntPred::Ule => op::ule128,
                IntPred::Slt => op::slt128,
                _ => op::sle128,
            };
            let (a, b) = (self.operand(a), self.operand(b));
            self.emit(code, Dab { dst, a, b });
            return true;
        }
        if let Some(code) = match pred {
            IntPred::Eq => Some(op::eqi),
            IntPred::Ne => Some(op::nei),
            IntPred::Ult => Some(op::ulti),
            IntPred::Slt if bits == 64 => Some(op::slti64),
            IntPred::Slt if bits == 32 => Some(op::slti32),
            _ => None,
        } && let Some(imm) = self.imm(b)
            && (bits == 64 || imm >= 0 || pred == IntPred::Slt)
        {
            let a = self.clean(a);
            self.emit(code, Dai { dst, a, imm });
            return true;
        }
        if let Some(code) = match pred {
            IntPred::Ult => Some(op::ugti),
            IntPred::Slt if bits == 64 => Some(op::sgti64),
            IntPred::Slt if bits == 32 => Some(op::sgti32),
            _ => None,
        } && let Some(imm) = self.imm(a)
            && (bits == 64 || imm >= 0 || pred == IntPred::Slt)
        {
            let a = self.clean(b);
            self.emit(code, Dai { dst, a, imm });
            return true;
        }
        let (mut x, mut y) = (self.clean(a), self.clean(b));
        let w = self.compare_width(pred, bits, &mut x, &mut y);
        let code = match pred {
            IntPred::Eq => op::eq,
            IntPred::Ne => op::ne,
            IntPred::Ult => op::ult,
            IntPred::Ule => op::ule,
            IntPred::Slt => [op::slt8, op::slt16, op::slt32, op::slt64][w],
            _ => [op::sle8, op::sle16, op::sle32, op::sle64][w],
        };
        self.emit(code, Dab { dst, a: x, b: y });
        true
    }

    /// Returns the handler width of a comparison; sign-extends odd widths if the sign matters.
    pub(super) fn compare_width(
        &mut self,
        pred: IntPred,
        bits: u32,
        x: &mut u16,
        y: &mut u16,
    ) -> usize {
        match width(bits) {
            Some(w) => w,
            None => {
                if matches!(pred, IntPred::Slt | IntPred::Sle) {
                    *x = self.sign_extended(*x, bits);
                    *y = self.sign_extended(*y, bits);
                }
                3
            }
        }
    }

    pub(super) fn fcmp(&mut self, pred: FloatPred, dst: u16, a: Operand, b: Operand) -> bool {
        let double = match self.ty(self.type_of(a)) {
            Type::Float(FloatKind::Double) => 1,
            Type::Float(FloatKind::Float) => 0,
            _ => return false,
        };
        let (pred, a, b) = match pred {
            FloatPred::Ogt => (FloatPred::Olt, b, a),
            FloatPred::Oge => (FloatPred::Ole, b, a),
            FloatPred::Ult => (FloatPred::Ugt, b, a),
            FloatPred::Ule => (FloatPred::Uge, b, a),
            p => (p, a, b),
        };
        let codes = match pred {
            FloatPred::Oeq => [op::foeq32, op::foeq64],
            FloatPred::Olt => [op::folt32, op::folt64],
            FloatPred::Ole => [op::fole32, op::fole64],
            FloatPred::One => [op::fone32, op::fone64],
            FloatPred::Ord => [op::ford32, op::ford64],
            FloatPred::Uno => [op::funo32, op::funo64],
            FloatPred::Ueq => [op::fueq32, op::fueq64],
            FloatPred::Une => [op::fune32, op::fune64],
            FloatPred::Ugt => [op::fugt32, op::fugt64],
            FloatPred::Uge => [op::fuge32, op::fuge64],
            FloatPred::False | FloatPred::True => {
                let imm = i64::from(pred == FloatPred::True);
                self.emit(op::const_word, isa::Di { dst, imm });
                return true;
            }
            _ => return false,
        };
        let (a, b) = (self.operand(a), self.operand(b));
        self.emit(codes[double], Dab { dst, a, b });
        true
    }
}

/// Turns greater-than into less-than with swapped operands.
pub(super) fn swap_greater<T>(pred: IntPred, a: T, b: T) -> (IntPred, T, T) {
    match pred {
        IntPred::Ugt => (IntPred::Ult, b, a),
        IntPred::Uge => (IntPred::Ule, b, a),
        IntPred::Sgt => (IntPred::Slt, b, a),
        IntPred::Sge => (IntPred::Sle, b, a),
        p => (p, a, b),
    }
}

/// Returns the handler of an operation on 128 bits.
fn wide_handler(o: BinOp) -> Option<Opcode<Dab>> {
    Some(match o {
        BinOp::Add => op::add128,
        BinOp::Sub => op::sub128,
        BinOp::Mul => op::mul128,
        BinOp::And => op::and128,
        BinOp::Or => op::or128,
        BinOp::Xor => op::xor128,
        BinOp::Shl => op::shl128,
        BinOp::LShr => op::lshr128,
        BinOp::AShr => op::ashr128,
        BinOp::UDiv => op::udiv128,
        BinOp::SDiv => op::sdiv128,
        BinOp::URem => op::urem128,
        BinOp::SRem => op::srem128,
        _ => return None,
    })
}

/// Returns the handler of an operation, by width index.
fn int_handler(o: BinOp, w: usize) -> Option<Opcode<Dab>> {
    Some(match o {
        BinOp::Add => [op::add8, op::add16, op::add32, op::add64][w],
        BinOp::Sub => [op::sub8, op::sub16, op::sub32, op::sub64][w],
        BinOp::Mul => [op::mul8, op::mul16, op::mul32, op::mul64][w],
        BinOp::UDiv => [op::udiv8, op::udiv16, op::udiv32, op::udiv64][w],
        BinOp::SDiv => [op::sdiv8, op::sdiv16, op::sdiv32, op::sdiv64][w],
        BinOp::URem => [op::urem8, op::urem16, op::urem32, op::urem64][w],
        BinOp::SRem => [op::srem8, op::srem16, op::srem32, op::srem64][w],
        BinOp::Shl => [op::shl8, op::shl16, op::shl32, op::shl64][w],
        BinOp::LShr => [op::lshr8, op::lshr16, op::lshr32, op::lshr64][w],
        BinOp::AShr => [op::ashr8, op::ashr16, op::ashr32, op::ashr64][w],
        BinOp::And => op::and,
        BinOp::Or => op::or,
        BinOp::Xor => op::xor,
        _ => return None,
    })
}

/// Returns true if an operation in 64 bits may set bits above a narrower width.
fn sets_high_bits(o: BinOp) -> bool {
    use BinOp::{AShr, Add, Mul, SDiv, SRem, Shl, Sub};
    matches!(o, Add | Sub | Mul | SDiv | SRem | Shl | AShr)
}
