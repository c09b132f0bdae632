//! Moves, constants and selections: words that are copied from slot to slot unchanged.
//!
//! A word is moved in the register class where it is or will be needed, since a detour through the
//! other class costs more than the move. Vectors of several words are in `vector`, accesses to the
//! guest's memory in `memory`.

use super::ops;
use crate::asm::{Alu, RAX, RCX, RSI, Rm, at, cc};
use crate::flow::Inst;
use crate::generate::Generator;
use crate::table::{Comparison, FloatComparison};
use ompvm_interp::isa;

impl Generator<'_> {
    /// Copies one word between slots, in the register class where it is or will be needed.
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

    /// Returns true if a one-word destination belongs in a vector register.
    pub(super) fn goes_to_x(&self, dst: u16, field: usize) -> bool {
        self.c.pinned_x(dst) || self.float_next(field) && !self.c.pinned_g(dst)
    }

    /// Ends an instruction whose one-word result is in rax.
    fn rax_to_result(&mut self, inst: &Inst) {
        self.release(inst);
        let dst = self.slot(inst, 0);
        if self.goes_to_x(dst, 0) {
            let d = self.c.def_x(dst, self.dead(0));
            self.c.asm.vmovq_from_g(d, RAX);
        } else {
            let d = self.c.def_g(dst, self.dead(0));
            self.c.asm.mov(d, Rm::Reg(RAX));
        }
    }

    pub(super) fn const_word(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Di`; see [`Generator::emit`].
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
        // SAFETY: instructions of this template have shape `Doff`; see [`Generator::emit`].
        let o: isa::Doff = unsafe { ops(inst) };
        let d = self.c.def_g(o.dst, self.dead(0));
        self.c.asm.lea(true, d, at(RSI, o.off));
    }

    pub(super) fn select(&mut self, inst: &Inst) {
        let (b, c) = (self.g(inst, 2), self.g(inst, 3));
        self.c.asm.mov(RAX, b);
        let a = self.g(inst, 1);
        match a {
            Rm::Reg(r) => self.c.asm.op8(0xf6, 0, Rm::Reg(r)),
            m => self.c.asm.op(false, 0xf6, 0, m),
        }
        self.c.asm.imm8(1);
        self.c.asm.cmov(cc::E, RAX, c);
        self.rax_to_result(inst);
    }

    /// Emits `dst = condition ? first : second` of two fields; `set` sets the flags and may use rcx
    /// and rdi.
    fn choose_by(&mut self, inst: &Inst, first: usize, set: impl FnOnce(&mut Self) -> u8) {
        let a = self.g(inst, first);
        let b = self.g(inst, first + 1);
        let condition = set(self);
        self.c.asm.mov(RAX, b);
        self.c.asm.cmov(condition, RAX, a);
        self.rax_to_result(inst);
    }

    pub(super) fn choose(&mut self, inst: &Inst, test: Comparison) {
        self.choose_by(inst, 3, |this| {
            let x = this.gr(inst, 1, RCX);
            let y = this.g(inst, 2);
            this.c.asm.alu(Alu::Cmp, test.1 == 64, x, y);
            test.0
        });
    }

    pub(super) fn choose_imm(&mut self, inst: &Inst, test: Comparison) {
        // SAFETY: instructions of this template have shape `Seli`; see [`Generator::emit`].
        let o: isa::Seli = unsafe { ops(inst) };
        self.choose_by(inst, 2, |this| {
            let x = this.g(inst, 1);
            this.compare_with(x, test.1 == 64, o.imm);
            test.0
        });
    }

    pub(super) fn choose_test(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Seli`; see [`Generator::emit`].
        let o: isa::Seli = unsafe { ops(inst) };
        self.choose_by(inst, 2, |this| {
            let x = this.g(inst, 1);
            this.c.asm.op(true, 0xf7, 0, x);
            this.c.asm.imm32(o.imm);
            cc::NE
        });
    }

    pub(super) fn choose_float(&mut self, inst: &Inst, test: FloatComparison) {
        self.choose_by(inst, 3, |this| {
            this.float_test(inst, 1, 2, test, true, false).0
        });
    }

    /// Copies part of a slot to the whole of another.
    pub(super) fn load_lane(&mut self, inst: &Inst, bits: u8) {
        // SAFETY: instructions of this template have shape `Bytes`; see [`Generator::emit`].
        let o: isa::Bytes = unsafe { ops(inst) };
        self.c.write_back((o.from / 8) as u16, 1);
        let d = self.c.def_g(o.to as u16, false);
        let m = Rm::Mem(at(RSI, o.from as i32));
        self.c.asm.movzx(u32::from(bits), d, m);
    }

    /// Copies parts of slots, in memory.
    pub(super) fn move_bytes(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Bytes`; see [`Generator::emit`].
        let o: isa::Bytes = unsafe { ops(inst) };
        let words = |at: u32| ((at + o.bytes).div_ceil(8) - at / 8) as u16;
        self.c.write_back((o.from / 8) as u16, words(o.from));
        let (to, n) = ((o.to / 8) as u16, words(o.to));
        self.c.write_back(to, n);
        for s in to..to + n {
            self.c.kill(s);
        }
        // A copy in one piece reads everything before it writes.
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
