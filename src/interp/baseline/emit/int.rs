//! Integers, moves, selections.

use super::ops;
use crate::interp::baseline::asm::{Alu, G, Mem, RAX, RCX, RDI, RDX, RSI, Rm, at, cc};
use crate::interp::baseline::flow::Inst;
use crate::interp::baseline::generate::Gen;
use crate::interp::baseline::table::{FloatTest, Test};
use crate::interp::isa;

impl Gen<'_> {
    /// `d = src`, extended with zeros from `bits`.
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

    pub(super) fn arith(&mut self, inst: &Inst, op: Alu, bits: u8) {
        let wide = bits == 64;
        let (a, b) = (self.g(inst, 1), self.g(inst, 2));
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        match (a, b) {
            (Rm::Reg(x), _) if x == d => self.c.asm.alu(op, wide, d, b),
            (_, Rm::Reg(y)) if y == d => {
                if op == Alu::Sub {
                    self.mov_width(wide, RAX, a);
                    self.c.asm.alu(op, wide, RAX, b);
                    self.mov_width(wide, d, Rm::Reg(RAX));
                } else {
                    self.c.asm.alu(op, wide, d, a);
                }
            }
            (Rm::Reg(x), Rm::Reg(y)) if op == Alu::Add => {
                let m = Mem {
                    base: x,
                    index: y,
                    scale: 0,
                    disp: 0,
                };
                self.c.asm.lea(wide, d, m);
            }
            _ => {
                self.mov_width(wide, d, a);
                self.c.asm.alu(op, wide, d, b);
            }
        }
        self.zero_extend(d, bits);
    }

    pub(super) fn mul(&mut self, inst: &Inst, bits: u8) {
        let wide = bits == 64;
        let (a, b) = (self.g(inst, 1), self.g(inst, 2));
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        let imul = |this: &mut Self, d: G, src: Rm| this.c.asm.op0f(0, wide, 0xaf, d, src);
        match (a, b) {
            (Rm::Reg(x), _) if x == d => imul(self, d, b),
            (_, Rm::Reg(y)) if y == d => imul(self, d, a),
            _ => {
                self.mov_width(wide, d, a);
                imul(self, d, b);
            }
        }
        self.zero_extend(d, bits);
    }

    /// The handler reports what the processor would trap on.
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
            // The most negative number over -1.
            self.mov_width(wide, RDI, Rm::Reg(RAX));
            self.c.asm.op(wide, 0xf7, 3, Rm::Reg(RDI));
            self.c.asm.jcc(cc::O, bad);
            self.c.asm.bind(fine);
        }
        // rdx is ours to keep.
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
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
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
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        self.c.asm.shift_cl(which, wide, RAX);
        self.zero_extend(RAX, bits);
        self.c.asm.mov(d, Rm::Reg(RAX));
    }

    pub(super) fn arith_imm(&mut self, inst: &Inst, op: Alu, bits: u8) {
        // SAFETY: see `emit`.
        let o: isa::Dai = unsafe { ops(inst) };
        let wide = bits == 64;
        let a = self.g(inst, 1);
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
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
        // SAFETY: see `emit`.
        let o: isa::Dai = unsafe { ops(inst) };
        let wide = bits == 64;
        let a = self.g(inst, 1);
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        self.mov_width(wide, d, a);
        // neg
        self.c.asm.op(wide, 0xf7, 3, Rm::Reg(d));
        if o.imm != 0 {
            self.c.asm.alu_imm(Alu::Add, wide, Rm::Reg(d), o.imm);
        }
    }

    pub(super) fn mul_imm(&mut self, inst: &Inst, bits: u8) {
        // SAFETY: see `emit`.
        let o: isa::Dai = unsafe { ops(inst) };
        let a = self.g(inst, 1);
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        self.c.asm.imul_imm(bits == 64, d, a, o.imm);
    }

    pub(super) fn shift_imm(&mut self, inst: &Inst, which: u8, bits: u8) {
        // SAFETY: see `emit`.
        let o: isa::Dai = unsafe { ops(inst) };
        let wide = bits == 64;
        let a = self.g(inst, 1);
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        let by = o.imm as u8 & (bits - 1);
        match a {
            Rm::Reg(r) if which == 4 && by == 1 && r != d => {
                let m = Mem {
                    base: r,
                    index: r,
                    scale: 0,
                    disp: 0,
                };
                self.c.asm.lea(wide, d, m);
            }
            _ => {
                self.mov_width(wide, d, a);
                self.c.asm.shift_imm(which, wide, d, by);
            }
        }
    }

    /// `d = condition`.
    fn flag(&mut self, inst: &Inst, condition: u8) {
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        self.c.asm.setcc(condition, d);
        self.c.asm.movzx(8, d, Rm::Reg(d));
    }

    pub(super) fn compare(&mut self, inst: &Inst, test: Test) {
        let (a, b) = self.sides(inst, 1, 2, test);
        self.c.asm.alu(Alu::Cmp, test.1 == 64, a, b);
        self.flag(inst, test.0);
    }

    pub(super) fn compare_imm(&mut self, inst: &Inst, test: Test) {
        // SAFETY: see `emit`.
        let o: isa::Dai = unsafe { ops(inst) };
        let a = self.g(inst, 1);
        self.compare_with(a, test.1 == 64, o.imm);
        self.flag(inst, test.0);
    }

    pub(super) fn sext(&mut self, inst: &Inst, bits: u8, wide: bool) {
        let a = self.g(inst, 1);
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        self.c.asm.movsx(u32::from(bits), wide, d, a);
    }

    pub(super) fn sext_bits(&mut self, inst: &Inst) {
        // SAFETY: see `emit`.
        let o: isa::Dai = unsafe { ops(inst) };
        let a = self.g(inst, 1);
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        let by = (64 - o.imm) as u8 & 63;
        self.c.asm.mov(d, a);
        self.c.asm.shift_imm(4, true, d, by);
        self.c.asm.shift_imm(7, true, d, by);
    }

    pub(super) fn mask(&mut self, inst: &Inst) {
        // SAFETY: see `emit`.
        let o: isa::Dam = unsafe { ops(inst) };
        let a = self.g(inst, 1);
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
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

    pub(super) fn min_max(&mut self, inst: &Inst, test: Test) {
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
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        // b wins when it is beyond a.
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
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        self.c.asm.op(wide, 0xf7, 3, Rm::Reg(RAX));
        // The negated value, unless that is negative.
        self.c.asm.cmov(8, RAX, Rm::Reg(RCX));
        self.c.asm.mov(d, Rm::Reg(RAX));
    }

    /// Copies one word between slots, in the registers where it is or will be wanted.
    pub(super) fn move_word(&mut self, inst: &Inst) {
        let (dst, src) = (self.slot(inst, 0), self.slot(inst, 1));
        if dst == src {
            return;
        }
        let float = self.goes_to_x(dst, 0) || self.in_x_only(src) && !self.c.pinned_g(dst);
        if float {
            let a = self.x(inst, 1);
            self.release(inst);
            let d = self.c.def_x(dst, self.dead(0));
            match a {
                Rm::Reg(r) => self.c.asm.vmov(d, r),
                Rm::Mem(m) => self.c.asm.vload64(d, m),
            }
        } else {
            let a = self.g(inst, 1);
            self.release(inst);
            let d = self.c.def_g(dst, self.dead(0));
            self.c.asm.mov(d, a);
        }
    }

    fn in_x_only(&self, slot: u16) -> bool {
        self.c.has_x(slot) && !self.c.has_g(slot)
    }

    /// Whether a one-word destination belongs into a vector register.
    pub(super) fn goes_to_x(&self, dst: u16, field: usize) -> bool {
        self.c.pinned_x(dst) || self.float_next(field) && !self.c.pinned_g(dst)
    }

    pub(super) fn const_word(&mut self, inst: &Inst) {
        // SAFETY: see `emit`.
        let o: isa::Di = unsafe { ops(inst) };
        if self.goes_to_x(o.dst, 0) {
            let d = self.c.def_x(o.dst, self.dead(0));
            if o.imm == 0 {
                // vxorps
                self.c.asm.v(0, 0x57, d, d, Rm::Reg(d));
            } else {
                self.c.asm.mov_imm(RAX, o.imm as u64);
                self.c.asm.vmovq_from_g(d, RAX);
            }
        } else {
            let d = self.c.def_g(o.dst, self.dead(0));
            self.c.asm.mov_imm(d, o.imm as u64);
        }
    }

    pub(super) fn lea(&mut self, inst: &Inst) {
        // SAFETY: see `emit`.
        let o: isa::Doff = unsafe { ops(inst) };
        let d = self.c.def_g(o.dst, self.dead(0));
        self.c.asm.lea(true, d, at(RSI, o.off));
    }

    pub(super) fn select(&mut self, inst: &Inst) {
        let dst = self.slot(inst, 0);
        let (b, c) = (self.g(inst, 2), self.g(inst, 3));
        self.c.asm.mov(RAX, b);
        let a = self.g(inst, 1);
        match a {
            Rm::Reg(r) => self.c.asm.op8(0xf6, 0, Rm::Reg(r)),
            m => self.c.asm.op(false, 0xf6, 0, m),
        }
        self.c.asm.imm8(1);
        self.c.asm.cmov(cc::E, RAX, c);
        self.release(inst);
        if self.goes_to_x(dst, 0) {
            let d = self.c.def_x(dst, self.dead(0));
            self.c.asm.vmovq_from_g(d, RAX);
        } else {
            let d = self.c.def_g(dst, self.dead(0));
            self.c.asm.mov(d, Rm::Reg(RAX));
        }
    }

    pub(super) fn affine(&mut self, inst: &Inst, bits: u8) {
        // SAFETY: see `emit`.
        let o: isa::Daii = unsafe { ops(inst) };
        let a = self.g(inst, 1);
        self.release(inst);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        self.c.asm.imul_imm(bits == 64, d, a, o.factor);
        if o.imm != 0 {
            self.c.asm.alu_imm(Alu::Add, bits == 64, Rm::Reg(d), o.imm);
        }
    }

    /// `dst = condition ? first : second` of two fields; the flags are set by `set`, which may use
    /// rcx and rdi.
    fn choose_by(&mut self, inst: &Inst, first: usize, set: impl FnOnce(&mut Self) -> u8) {
        let dst = self.slot(inst, 0);
        let a = self.g(inst, first);
        let b = self.g(inst, first + 1);
        let condition = set(self);
        self.c.asm.mov(RAX, b);
        self.c.asm.cmov(condition, RAX, a);
        self.release(inst);
        if self.goes_to_x(dst, 0) {
            let d = self.c.def_x(dst, self.dead(0));
            self.c.asm.vmovq_from_g(d, RAX);
        } else {
            let d = self.c.def_g(dst, self.dead(0));
            self.c.asm.mov(d, Rm::Reg(RAX));
        }
    }

    pub(super) fn choose(&mut self, inst: &Inst, test: Test) {
        self.choose_by(inst, 3, |this| {
            let x = this.gr(inst, 1, RCX);
            let y = this.g(inst, 2);
            this.c.asm.alu(Alu::Cmp, test.1 == 64, x, y);
            test.0
        });
    }

    pub(super) fn choose_imm(&mut self, inst: &Inst, test: Test) {
        // SAFETY: see `emit`.
        let o: isa::Seli = unsafe { ops(inst) };
        self.choose_by(inst, 2, |this| {
            let x = this.g(inst, 1);
            this.compare_with(x, test.1 == 64, o.imm);
            test.0
        });
    }

    pub(super) fn choose_test(&mut self, inst: &Inst) {
        // SAFETY: see `emit`.
        let o: isa::Seli = unsafe { ops(inst) };
        self.choose_by(inst, 2, |this| {
            let x = this.g(inst, 1);
            this.c.asm.op(true, 0xf7, 0, x);
            this.c.asm.imm32(o.imm);
            cc::NE
        });
    }

    pub(super) fn choose_float(&mut self, inst: &Inst, test: FloatTest) {
        self.choose_by(inst, 3, |this| {
            this.float_test(inst, 1, 2, test, true, false).0
        });
    }

    /// Part of a slot becomes the whole of another.
    pub(super) fn load_lane(&mut self, inst: &Inst, bits: u8) {
        // SAFETY: see `emit`.
        let o: isa::Bytes = unsafe { ops(inst) };
        self.c.write_back((o.from / 8) as u16, 1);
        let d = self.c.def_g(o.to as u16, false);
        let m = Rm::Mem(at(RSI, o.from as i32));
        self.c.asm.movzx(u32::from(bits), d, m);
    }

    /// Parts of slots, in memory.
    pub(super) fn move_bytes(&mut self, inst: &Inst) {
        // SAFETY: see `emit`.
        let o: isa::Bytes = unsafe { ops(inst) };
        let words = |at: u32| ((at + o.bytes).div_ceil(8) - at / 8) as u16;
        self.c.write_back((o.from / 8) as u16, words(o.from));
        let (to, n) = ((o.to / 8) as u16, words(o.to));
        self.c.write_back(to, n);
        for s in to..to + n {
            self.c.kill(s);
        }
        // All is read before any is written, when it is one piece.
        let mut done = 0u32;
        let overlap = o.from < o.to && o.to < o.from + o.bytes;
        let mut pieces = Vec::new();
        while done < o.bytes {
            let size = match o.bytes - done {
                8.. => 8,
                4.. => 4,
                2.. => 2,
                _ => 1,
            };
            pieces.push((done, size));
            done += size;
        }
        if overlap {
            pieces.reverse();
        }
        for (off, size) in pieces {
            let from = Rm::Mem(at(RSI, (o.from + off) as i32));
            let to = Rm::Mem(at(RSI, (o.to + off) as i32));
            match size {
                8 => {
                    self.c.asm.mov(RAX, from);
                    self.c.asm.op(true, 0x89, RAX, to);
                }
                4 => {
                    self.c.asm.mov32(RAX, from);
                    self.c.asm.op(false, 0x89, RAX, to);
                }
                2 => {
                    self.c.asm.movzx(16, RAX, from);
                    self.c.asm.op16(0x89, RAX, to);
                }
                _ => {
                    self.c.asm.movzx(8, RAX, from);
                    self.c.asm.op8(0x88, RAX, to);
                }
            }
        }
    }
}
