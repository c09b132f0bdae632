//! Floats, doubles, and pairs of doubles in registers.
//!
//! Products are rounded before they are added. A register that an instruction writes only partly is
//! cleared first or taken from a source, so that slots keep zeros above a float.

use crate::asm::{RAX, RCX, Rm, X, cc, pp};
use crate::flow::Inst;
use crate::generate::Generator;
use crate::table::{FloatComparison, FloatUnary};

pub(super) const ADD: u8 = 0x58;
pub(super) const MUL: u8 = 0x59;
pub(super) const SUB: u8 = 0x5c;

fn scalar(double: bool) -> u8 {
    if double { pp::F2 } else { pp::F3 }
}

impl Generator<'_> {
    /// Clears the bits above a float: a source's slot may hold more than its float.
    fn narrow(&mut self, d: X, double: bool) {
        if !double {
            self.c.asm.v(pp::NONE, 0x57, 1, 1, Rm::Reg(1));
            // vmovss
            self.c.asm.v(pp::F3, 0x10, d, 1, Rm::Reg(d));
        }
    }

    pub(super) fn float(&mut self, inst: &Inst, opcode: u8, double: bool) {
        let a = self.xr(inst, 1, 0);
        let b = self.x(inst, 2);
        let d = self.result_x(inst);
        self.c.asm.v(scalar(double), opcode, d, a, b);
        self.narrow(d, double);
    }

    pub(super) fn mul_add(&mut self, inst: &Inst, double: bool) {
        let a = self.xr(inst, 1, 0);
        let b = self.x(inst, 2);
        self.c.asm.v(scalar(double), MUL, 0, a, b);
        let c = self.x(inst, 3);
        let d = self.result_x(inst);
        self.c.asm.v(scalar(double), ADD, d, 0, c);
        self.narrow(d, double);
    }

    pub(super) fn mul_sub(&mut self, inst: &Inst) {
        let a = self.xr(inst, 1, 0);
        let b = self.x(inst, 2);
        self.c.asm.v(pp::F2, MUL, 0, a, b);
        let c = self.x(inst, 3);
        let d = self.result_x(inst);
        self.c.asm.v(pp::F2, SUB, d, 0, c);
    }

    pub(super) fn neg_mul_add(&mut self, inst: &Inst) {
        let a = self.xr(inst, 1, 0);
        let b = self.x(inst, 2);
        self.c.asm.v(pp::F2, MUL, 0, a, b);
        let c = self.xr(inst, 3, 1);
        let d = self.result_x(inst);
        self.c.asm.v(pp::F2, SUB, d, c, Rm::Reg(0));
    }

    /// Emits `-a * b`.
    pub(super) fn neg_mul(&mut self, inst: &Inst) {
        let a = self.xr(inst, 1, 0);
        self.c.asm.mov_imm(RAX, 1 << 63);
        self.c.asm.vmovq_from_g(1, RAX);
        self.c.asm.v(pp::NONE, 0x57, 1, a, Rm::Reg(1));
        let b = self.x(inst, 2);
        let d = self.result_x(inst);
        self.c.asm.v(pp::F2, MUL, d, 1, b);
    }

    /// Emits a minimum or maximum; if one operand is a NaN, the result is the other.
    pub(super) fn float_extreme(&mut self, inst: &Inst, opcode: u8, double: bool) {
        let a = self.xr(inst, 1, 0);
        let b = self.xr(inst, 2, 1);
        // With a NaN the instruction returns its second operand, a.
        let t = self.c.take_x();
        self.c.asm.v(scalar(double), opcode, t, b, Rm::Reg(a));
        // vcmpunordsd, which selects b for a NaN in a
        self.c.asm.v(scalar(double), 0xc2, 0, a, Rm::Reg(a));
        self.c.asm.imm8(3);
        let d = self.result_x(inst);
        // vblendvpd d, t, b, xmm0
        let blend = if double { 0x4b } else { 0x4a };
        self.c.asm.vex(pp::P66, 3, false, blend, d, t, Rm::Reg(b));
        self.c.asm.imm8(0);
        self.narrow(d, double);
    }

    pub(super) fn float_unary(&mut self, inst: &Inst, what: FloatUnary, double: bool) {
        match what {
            FloatUnary::Neg | FloatUnary::Abs => {
                let a = self.xr(inst, 1, 0);
                let sign = match (what, double) {
                    (FloatUnary::Neg, true) => 1u64 << 63,
                    (FloatUnary::Neg, false) => 1 << 31,
                    (_, true) => u64::MAX >> 1,
                    (_, false) => u64::from(u32::MAX >> 1),
                };
                self.c.asm.mov_imm(RAX, sign);
                self.c.asm.vmovq_from_g(1, RAX);
                let d = self.result_x(inst);
                // vxorps, vandps
                let opcode = if what == FloatUnary::Neg { 0x57 } else { 0x54 };
                self.c.asm.v(pp::NONE, opcode, d, a, Rm::Reg(1));
                self.narrow(d, double);
            }
            FloatUnary::Sqrt => {
                let a = self.xr(inst, 1, 0);
                let d = self.result_x(inst);
                self.c.asm.v(scalar(double), 0x51, d, a, Rm::Reg(a));
                self.narrow(d, double);
            }
            FloatUnary::Round(mode) => {
                let a = self.xr(inst, 1, 0);
                let d = self.result_x(inst);
                let opcode = if double { 0x0b } else { 0x0a };
                self.c.asm.vex(pp::P66, 3, false, opcode, d, a, Rm::Reg(a));
                self.c.asm.imm8(mode);
                self.narrow(d, double);
            }
        }
    }

    pub(super) fn float_compare(&mut self, inst: &Inst, test: FloatComparison, double: bool) {
        let (condition, parity) = self.float_test(inst, 1, 2, test, double, false);
        let d = self.result_g(inst);
        self.c.asm.setcc(condition, RAX);
        if parity {
            let negative = test == FloatComparison::NotEq;
            self.c.asm.setcc(if negative { cc::P } else { cc::NP }, RCX);
            // or, and
            let opcode = if negative { 0x0a } else { 0x22 };
            self.c.asm.op8(opcode, RAX, Rm::Reg(RCX));
        }
        self.c.asm.movzx(8, d, Rm::Reg(RAX));
    }

    pub(super) fn float_to_float(&mut self, inst: &Inst, widen: bool) {
        let a = self.x(inst, 1);
        let d = self.result_x(inst);
        // The rest of the result comes from a cleared register.
        self.c.asm.v(pp::NONE, 0x57, 1, 1, Rm::Reg(1));
        let pp = if widen { pp::F3 } else { pp::F2 };
        self.c.asm.v(pp, 0x5a, d, 1, a);
    }

    pub(super) fn float_to_int(&mut self, inst: &Inst, double: bool, wide: bool, bits: u8) {
        let a = if double {
            self.x(inst, 1)
        } else {
            // Through double, as in the handlers.
            let a = self.x(inst, 1);
            self.c.asm.v(pp::NONE, 0x57, 1, 1, Rm::Reg(1));
            self.c.asm.v(pp::F3, 0x5a, 1, 1, a);
            Rm::Reg(1)
        };
        let d = self.result_g(inst);
        self.c.asm.vex(pp::F2, 1, wide, 0x2c, d, 0, a);
        if bits < 32 {
            self.c.asm.movzx(u32::from(bits), d, Rm::Reg(d));
        } else if bits == 32 && wide {
            self.c.asm.mov32(d, Rm::Reg(d));
        }
    }

    pub(super) fn int_to_float(&mut self, inst: &Inst, double: bool, bits: u8, signed: bool) {
        let mut a = self.g(inst, 1);
        let wide = bits == 64 || !signed;
        if signed && bits < 32 {
            self.c.asm.movsx(u32::from(bits), false, RAX, a);
            a = Rm::Reg(RAX);
        } else if bits == 32 && wide {
            // Bits above the 32 are ignored.
            self.c.asm.mov32(RAX, a);
            a = Rm::Reg(RAX);
        }
        let d = self.result_x(inst);
        self.c.asm.v(pp::NONE, 0x57, 1, 1, Rm::Reg(1));
        self.c.asm.vex(scalar(double), 1, wide, 0x2a, d, 1, a);
    }

    /// Copies two words together.
    pub(super) fn move_wide(&mut self, inst: &Inst) {
        let (dst, src) = (self.slot(inst, 0), self.slot(inst, 1));
        let overlap = dst.abs_diff(src) < 2;
        if dst == src {
            return;
        }
        if overlap {
            let r = self.pr(inst, 1, 0);
            self.c.asm.vmov(0, r);
            self.c.write_back(src, 2);
            self.c.kill_pair(src);
            let d = self.c.def_p(dst, false);
            self.c.asm.vmov(d, 0);
            return;
        }
        let a = self.p(inst, 1);
        self.release(inst);
        let d = self.c.def_p(dst, self.dead(0));
        match a {
            Rm::Reg(r) => self.c.asm.vmov(d, r),
            Rm::Mem(m) => self.c.asm.vload128(d, m),
        }
    }

    pub(super) fn packed(&mut self, inst: &Inst, pp: u8, map: u8, opcode: u8) {
        let a = self.pr(inst, 1, 0);
        let b = self.p(inst, 2);
        let d = self.result_p(inst);
        self.c.asm.vex(pp, map, false, opcode, d, a, b);
    }

    pub(super) fn packed_mul_add(&mut self, inst: &Inst) {
        let a = self.pr(inst, 1, 0);
        let b = self.p(inst, 2);
        self.c.asm.v(pp::P66, MUL, 0, a, b);
        let c = self.p(inst, 3);
        let d = self.result_p(inst);
        self.c.asm.v(pp::P66, ADD, d, 0, c);
    }

    /// Copies one slot to both lanes of `to`.
    pub(super) fn splat(&mut self, inst: &Inst, field: usize, to: X) {
        let a = self.x(inst, field);
        // vmovddup
        self.c.asm.v(pp::F2, 0x12, to, 0, a);
    }

    pub(super) fn scale(&mut self, inst: &Inst, add: bool) {
        self.splat(inst, 1, 0);
        let b = self.p(inst, 2);
        if add {
            self.c.asm.v(pp::P66, MUL, 0, 0, b);
            let c = self.p(inst, 3);
            let d = self.result_p(inst);
            self.c.asm.v(pp::P66, ADD, d, 0, c);
        } else {
            let d = self.result_p(inst);
            self.c.asm.v(pp::P66, MUL, d, 0, b);
        }
    }
}
