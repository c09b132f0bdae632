//! Integers: arithmetic, shifts, comparisons and conversions among their widths.
//!
//! The shortest form for the operands' locations is emitted. 32-bit operations are used wherever
//! they suffice: they zero-extend by themselves, as slots require. Words that are only moved are in
//! `moves`.

use super::ops;
use crate::asm::{Alu, Asm, G, Mem, RAX, RCX, RDI, RDX, Rm, cc};
use crate::flow::Inst;
use crate::generate::Generator;
use crate::table::Comparison;
use ompvm_interp::isa;

/// Returns the memory operand `base + index`.
const fn indexed(base: G, index: G) -> Mem {
    Mem {
        base,
        index,
        scale: 0,
        disp: 0,
    }
}

impl Generator<'_> {
    /// Emits the zero-extension of `d` from `bits`.
    fn zero_extend(&mut self, d: G, bits: u8) {
        if bits < 32 {
            self.c.asm.movzx(u32::from(bits), d, Rm::Reg(d));
        }
    }

    fn mov_width(&mut self, wide: bool, d: G, a: Rm) {
        if wide {
            self.c.asm.mov(d, a);
        } else if a != Rm::Reg(d) {
            self.c.asm.mov32(d, a);
        }
    }

    /// Emits `d = a op b` if `op` is commutative or `d` is not `b`.
    fn combine(&mut self, wide: bool, d: G, (a, b): (Rm, Rm), op: impl Fn(&mut Asm, G, Rm)) {
        if a == Rm::Reg(d) {
            op(&mut self.c.asm, d, b);
        } else if b == Rm::Reg(d) {
            op(&mut self.c.asm, d, a);
        } else {
            self.mov_width(wide, d, a);
            op(&mut self.c.asm, d, b);
        }
    }

    pub(super) fn arith(&mut self, inst: &Inst, op: Alu, bits: u8) {
        let wide = bits == 64;
        let (a, b) = (self.g(inst, 1), self.g(inst, 2));
        let d = self.result_g(inst);
        let here = Rm::Reg(d);
        match (a, b) {
            _ if op == Alu::Sub && b == here && a != here => {
                self.mov_width(wide, RAX, a);
                self.c.asm.alu(op, wide, RAX, b);
                self.mov_width(wide, d, Rm::Reg(RAX));
            }
            (Rm::Reg(x), Rm::Reg(y)) if op == Alu::Add && x != d && y != d => {
                self.c.asm.lea(wide, d, indexed(x, y));
            }
            _ => self.combine(wide, d, (a, b), |asm, d, src| asm.alu(op, wide, d, src)),
        }
        self.zero_extend(d, bits);
    }

    pub(super) fn mul(&mut self, inst: &Inst, bits: u8) {
        let wide = bits == 64;
        let (a, b) = (self.g(inst, 1), self.g(inst, 2));
        let d = self.result_g(inst);
        self.combine(wide, d, (a, b), |asm, d, src| {
            asm.op0f(0, wide, 0xaf, d, src);
        });
        self.zero_extend(d, bits);
    }

    /// Emits a division; the handler reports what the processor would trap on.
    pub(super) fn divide(&mut self, inst: &Inst, bits: u8, signed: bool, rem: bool) {
        let wide = bits == 64;
        let a = self.g(inst, 1);
        let b = self.gr(inst, 2, RCX);
        let bad = self.bail_all(inst);
        self.c.asm.op(wide, 0x85, b, Rm::Reg(b));
        self.c.asm.jcc(cc::E, bad);
        self.mov_width(wide, RAX, a);
        if signed {
            let fine = self.c.asm.label();
            self.c.asm.alu_imm(Alu::Cmp, wide, Rm::Reg(b), -1);
            self.c.asm.jcc(cc::NE, fine);
            // The most negative number divided by -1 overflows.
            self.mov_width(wide, RDI, Rm::Reg(RAX));
            self.c.asm.op(wide, 0xf7, 3, Rm::Reg(RDI));
            self.c.asm.jcc(cc::O, bad);
            self.c.asm.bind(fine);
        }
        // `rdx` holds the thread's state and must be preserved.
        self.c.asm.mov(RDI, Rm::Reg(RDX));
        if signed {
            // cdq, cqo
            if wide {
                self.c.asm.imm8(0x48);
            }
            self.c.asm.imm8(0x99);
            self.c.asm.op(wide, 0xf7, 7, Rm::Reg(b));
        } else {
            self.c.asm.mov_imm(RDX, 0);
            self.c.asm.op(wide, 0xf7, 6, Rm::Reg(b));
        }
        if rem {
            self.c.asm.mov(RAX, Rm::Reg(RDX));
        }
        self.c.asm.mov(RDX, Rm::Reg(RDI));
        let d = self.result_g(inst);
        self.c.asm.mov(d, Rm::Reg(RAX));
    }

    pub(super) fn shift(&mut self, inst: &Inst, which: u8, bits: u8) {
        let wide = bits == 64;
        let (a, b) = (self.g(inst, 1), self.g(inst, 2));
        self.c.asm.mov32(RCX, b);
        if which == 7 && bits < 32 {
            self.c.asm.movsx(u32::from(bits), false, RAX, a);
        } else if which == 5 && bits < 32 {
            self.c.asm.movzx(u32::from(bits), RAX, a);
        } else {
            self.mov_width(wide, RAX, a);
        }
        let d = self.result_g(inst);
        self.c.asm.shift_cl(which, wide, RAX);
        self.zero_extend(RAX, bits);
        self.c.asm.mov(d, Rm::Reg(RAX));
    }

    pub(super) fn arith_imm(&mut self, inst: &Inst, op: Alu, bits: u8) {
        // SAFETY: instructions of this template have shape `Dai`; see [`Generator::emit`].
        let o: isa::Dai = unsafe { ops(inst) };
        let wide = bits == 64;
        let a = self.g(inst, 1);
        let d = self.result_g(inst);
        if op == Alu::Add {
            self.add_imm(wide, d, a, o.imm);
        } else if op == Alu::And && o.imm >= 0 {
            self.mov_width(false, d, a);
            self.c.asm.alu_imm(op, false, Rm::Reg(d), o.imm);
        } else {
            self.mov_width(wide, d, a);
            self.c.asm.alu_imm(op, wide, Rm::Reg(d), o.imm);
        }
    }

    pub(super) fn rsub_imm(&mut self, inst: &Inst, bits: u8) {
        // SAFETY: instructions of this template have shape `Dai`; see [`Generator::emit`].
        let o: isa::Dai = unsafe { ops(inst) };
        let wide = bits == 64;
        let a = self.g(inst, 1);
        let d = self.result_g(inst);
        self.mov_width(wide, d, a);
        // neg
        self.c.asm.op(wide, 0xf7, 3, Rm::Reg(d));
        if o.imm != 0 {
            self.c.asm.alu_imm(Alu::Add, wide, Rm::Reg(d), o.imm);
        }
    }

    pub(super) fn mul_imm(&mut self, inst: &Inst, bits: u8) {
        // SAFETY: instructions of this template have shape `Dai`; see [`Generator::emit`].
        let o: isa::Dai = unsafe { ops(inst) };
        let a = self.g(inst, 1);
        let d = self.result_g(inst);
        self.c.asm.imul_imm(bits == 64, d, a, o.imm);
    }

    pub(super) fn shift_imm(&mut self, inst: &Inst, which: u8, bits: u8) {
        // SAFETY: instructions of this template have shape `Dai`; see [`Generator::emit`].
        let o: isa::Dai = unsafe { ops(inst) };
        let wide = bits == 64;
        let a = self.g(inst, 1);
        let d = self.result_g(inst);
        let by = o.imm as u8 & (bits - 1);
        match a {
            Rm::Reg(r) if which == 4 && by == 1 && r != d => {
                self.c.asm.lea(wide, d, indexed(r, r));
            }
            _ => {
                self.mov_width(wide, d, a);
                self.c.asm.shift_imm(which, wide, d, by);
            }
        }
    }

    /// Emits `d = condition`.
    fn flag(&mut self, inst: &Inst, condition: u8) {
        let d = self.result_g(inst);
        self.c.asm.setcc(condition, d);
        self.c.asm.movzx(8, d, Rm::Reg(d));
    }

    pub(super) fn compare(&mut self, inst: &Inst, test: Comparison) {
        let (a, b) = self.sides(inst, 1, 2, test);
        self.c.asm.alu(Alu::Cmp, test.1 == 64, a, b);
        self.flag(inst, test.0);
    }

    pub(super) fn compare_imm(&mut self, inst: &Inst, test: Comparison) {
        // SAFETY: instructions of this template have shape `Dai`; see [`Generator::emit`].
        let o: isa::Dai = unsafe { ops(inst) };
        let a = self.g(inst, 1);
        self.compare_with(a, test.1 == 64, o.imm);
        self.flag(inst, test.0);
    }

    pub(super) fn sext(&mut self, inst: &Inst, bits: u8, wide: bool) {
        let a = self.g(inst, 1);
        let d = self.result_g(inst);
        self.c.asm.movsx(u32::from(bits), wide, d, a);
    }

    pub(super) fn sext_bits(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Dai`; see [`Generator::emit`].
        let o: isa::Dai = unsafe { ops(inst) };
        let a = self.g(inst, 1);
        let d = self.result_g(inst);
        let by = (64 - o.imm) as u8 & 63;
        self.c.asm.mov(d, a);
        self.c.asm.shift_imm(4, true, d, by);
        self.c.asm.shift_imm(7, true, d, by);
    }

    pub(super) fn mask(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Dam`; see [`Generator::emit`].
        let o: isa::Dam = unsafe { ops(inst) };
        let a = self.g(inst, 1);
        let d = self.result_g(inst);
        match o.mask {
            0xff => self.c.asm.movzx(8, d, a),
            0xffff => self.c.asm.movzx(16, d, a),
            0xffff_ffff => self.c.asm.mov32(d, a),
            mask => {
                if let Ok(imm) = i32::try_from(mask as i64) {
                    self.mov_width(imm < 0, d, a);
                    self.c.asm.alu_imm(Alu::And, imm < 0, Rm::Reg(d), imm);
                } else {
                    self.c.asm.mov_imm(RAX, mask);
                    self.c.asm.alu(Alu::And, true, RAX, a);
                    self.c.asm.mov(d, Rm::Reg(RAX));
                }
            }
        }
    }

    pub(super) fn min_max(&mut self, inst: &Inst, test: Comparison) {
        let bits = u32::from(test.1);
        let (a, b) = (self.g(inst, 1), self.g(inst, 2));
        if test.2 && bits < 32 {
            self.c.asm.movsx(bits, false, RAX, a);
            self.c.asm.movsx(bits, false, RCX, b);
        } else {
            self.mov_width(bits == 64, RAX, a);
            self.mov_width(bits == 64, RCX, b);
        }
        self.c.asm.alu(Alu::Cmp, bits == 64, RCX, Rm::Reg(RAX));
        let d = self.result_g(inst);
        // b is selected if it is beyond a.
        self.c.asm.cmov(test.0, RAX, Rm::Reg(RCX));
        if bits < 32 {
            self.c.asm.movzx(bits, d, Rm::Reg(RAX));
        } else {
            self.c.asm.mov(d, Rm::Reg(RAX));
        }
    }

    pub(super) fn abs(&mut self, inst: &Inst, bits: u8) {
        let wide = bits == 64;
        let a = self.g(inst, 1);
        self.mov_width(wide, RAX, a);
        self.mov_width(wide, RCX, Rm::Reg(RAX));
        let d = self.result_g(inst);
        self.c.asm.op(wide, 0xf7, 3, Rm::Reg(RAX));
        // The negated value, unless it is negative.
        self.c.asm.cmov(8, RAX, Rm::Reg(RCX));
        self.c.asm.mov(d, Rm::Reg(RAX));
    }

    pub(super) fn affine(&mut self, inst: &Inst, bits: u8) {
        // SAFETY: instructions of this template have shape `Daii`; see [`Generator::emit`].
        let o: isa::Daii = unsafe { ops(inst) };
        let a = self.g(inst, 1);
        let d = self.result_g(inst);
        self.c.asm.imul_imm(bits == 64, d, a, o.factor);
        if o.imm != 0 {
            self.c.asm.alu_imm(Alu::Add, bits == 64, Rm::Reg(d), o.imm);
        }
    }
}
