//! Vectors of several words, two words at a time; shuffles; blocks of a few words in memory.
//!
//! A destination either is one of its operands or does not overlap them. Operands that overlap
//! otherwise, or are long, are left to handlers (see `flow::by_handler`).

use super::float::{ADD, MUL};
use super::ops;
use crate::asm::{Alu, RAX, RCX, RDI, RDX, Rm, at, cc, pp};
use crate::flow::Inst;
use crate::generate::Generator;
use ompvm_interp::isa::{self, Enc};
use ompvm_memory::thread::ThreadState;
use std::mem::offset_of;

impl Generator<'_> {
    /// Returns the number of words of the destination.
    pub(super) fn length(&self, inst: &Inst) -> u16 {
        // SAFETY: the row describes the instruction, and its first field is the destination.
        unsafe { inst.row.fields[0].count(inst.ip) }
    }

    /// Returns word `i` (and `i + 1` if `two`) of operand `k` in a register.
    pub(super) fn words(&mut self, inst: &Inst, k: usize, i: u16, two: bool, scratch: u8) -> u8 {
        let (slot, again) = (self.slot(inst, k) + i, self.again(k));
        if two {
            self.c.reg_p(slot, again, scratch)
        } else {
            self.c.reg_x(slot, again, scratch)
        }
    }

    /// Returns the register for the destination's words; operands that die are released first.
    fn result(&mut self, inst: &Inst, i: u16, two: bool) -> u8 {
        self.result_of(inst, i, two, 1)
    }

    /// Returns the same if the operands from number `first` on have the destination's words.
    pub(super) fn result_of(&mut self, inst: &Inst, i: u16, two: bool, first: usize) -> u8 {
        for k in first..inst.row.fields.len() {
            if self.dead(k) {
                let slot = self.slot(inst, k) + i;
                if two {
                    self.c.kill_pair(slot);
                } else {
                    self.c.kill(slot);
                }
            }
        }
        self.c.unlock();
        let (slot, dead) = (self.slot(inst, 0) + i, self.dead(0));
        let d = if two {
            self.c.def_p(slot, dead)
        } else {
            self.c.def_x(slot, dead)
        };
        self.c.unlock();
        d
    }

    pub(super) fn packed_n(&mut self, inst: &Inst, (pp, map, wide): (u8, u8, bool), opcode: u8) {
        let n = self.length(inst);
        for i in (0..n).step_by(2) {
            let two = i + 2 <= n;
            let a = self.words(inst, 1, i, two, 0);
            let b = self.words(inst, 2, i, two, 1);
            let d = self.result(inst, i, two);
            self.c.asm.vex(pp, map, wide, opcode, d, a, Rm::Reg(b));
        }
    }

    pub(super) fn mul_add_n(&mut self, inst: &Inst, double: bool) {
        let n = self.length(inst);
        let pp = if double { pp::P66 } else { pp::NONE };
        for i in (0..n).step_by(2) {
            let two = i + 2 <= n;
            let a = self.words(inst, 1, i, two, 0);
            let b = self.words(inst, 2, i, two, 1);
            self.c.asm.v(pp, MUL, 0, a, Rm::Reg(b));
            let c = self.words(inst, 3, i, two, 1);
            let d = self.result(inst, i, two);
            self.c.asm.v(pp, ADD, d, 0, Rm::Reg(c));
        }
    }

    /// Applies a mask to every lane (`vxorps`, `vandps`), or takes the square root.
    pub(super) fn unary_n(&mut self, inst: &Inst, opcode: u8, double: bool) {
        let n = self.length(inst);
        if opcode != 0x51 {
            let bit = if double {
                1u64 << 63
            } else {
                1 << 63 | 1 << 31
            };
            let mask = if opcode == 0x57 { bit } else { !bit };
            self.c.asm.mov_imm(RAX, mask);
            self.c.asm.vmovq_from_g(1, RAX);
            self.c.asm.v(pp::F2, 0x12, 1, 0, Rm::Reg(1));
        }
        let pp = if double { pp::P66 } else { pp::NONE };
        for i in (0..n).step_by(2) {
            let two = i + 2 <= n;
            let a = self.words(inst, 1, i, two, 0);
            let d = self.result(inst, i, two);
            if opcode == 0x51 {
                self.c.asm.v(pp, opcode, d, 0, Rm::Reg(a));
            } else {
                self.c.asm.v(pp::NONE, opcode, d, a, Rm::Reg(1));
            }
        }
    }

    pub(super) fn zero_words(&mut self, inst: &Inst) {
        let n = self.length(inst);
        for i in (0..n).step_by(2) {
            let d = self.result(inst, i, i + 2 <= n);
            self.c.asm.v(pp::NONE, 0x57, d, d, Rm::Reg(d));
        }
    }

    pub(super) fn move_words(&mut self, inst: &Inst) {
        let n = self.length(inst);
        for i in (0..n).step_by(2) {
            let two = i + 2 <= n;
            let a = self.words(inst, 1, i, two, 0);
            let d = self.result(inst, i, two);
            self.c.asm.vmov(d, a);
        }
    }

    pub(super) fn load_words(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Memn`; see [`Generator::emit`].
        let o: isa::Memn = unsafe { ops(inst) };
        let base = self.gr(inst, 1, RDI);
        let n = (o.bytes / 8) as u16;
        for i in (0..n).step_by(2) {
            let m = at(base, o.off + i32::from(i) * 8);
            // Only vector registers are taken, so the base stays where it is.
            if i + 2 <= n {
                let d = self.c.def_p(o.reg + i, self.dead(0));
                self.c.asm.vload128(d, m);
            } else {
                let d = self.c.def_x(o.reg + i, self.dead(0));
                self.c.asm.vload64(d, m);
            }
            self.c.unlock();
        }
    }

    pub(super) fn store_words(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Memn`; see [`Generator::emit`].
        let o: isa::Memn = unsafe { ops(inst) };
        let base = self.gr(inst, 1, RDI);
        let n = (o.bytes / 8) as u16;
        for i in (0..n).step_by(2) {
            let m = at(base, o.off + i32::from(i) * 8);
            let two = i + 2 <= n;
            let r = self.words(inst, 0, i, two, 0);
            if two {
                self.c.asm.vstore128(m, r);
            } else {
                self.c.asm.vstore64(m, r);
            }
            // Each pair may lock three registers; the base stays, since only vector registers are
            // taken here.
            self.c.unlock();
        }
    }

    pub(super) fn ints_to_doubles(&mut self, inst: &Inst) {
        let a = self.x(inst, 1);
        let d = self.result_p(inst);
        self.c.asm.v(pp::F3, 0xe6, d, 0, a);
    }

    pub(super) fn doubles_to_ints(&mut self, inst: &Inst) {
        let a = self.p(inst, 1);
        let d = self.result_x(inst);
        self.c.asm.v(pp::P66, 0xe6, d, 0, a);
    }

    /// Emits `to = {a, b}` of two fields.
    fn join(&mut self, inst: &Inst, a: usize, b: usize, to: u8) {
        let a = self.xr(inst, a, to);
        match self.x(inst, b) {
            Rm::Reg(b) => self.c.asm.v(pp::P66, 0x14, to, a, Rm::Reg(b)),
            m => self.c.asm.v(pp::P66, 0x16, to, a, m),
        }
    }

    pub(super) fn pair(&mut self, inst: &Inst) {
        self.join(inst, 1, 2, 0);
        let d = self.result_p(inst);
        self.c.asm.vmov(d, 0);
    }

    pub(super) fn quad(&mut self, inst: &Inst) {
        self.join(inst, 1, 2, 0);
        self.join(inst, 3, 4, 1);
        self.release(inst);
        let (slot, dead) = (self.slot(inst, 0), self.dead(0));
        let d = self.c.def_p(slot, dead);
        self.c.asm.vmov(d, 0);
        let d = self.c.def_p(slot + 2, dead);
        self.c.asm.vmov(d, 1);
    }

    /// Copies an even number of words from anywhere in the frame.
    pub(super) fn shuffle(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Shuffle` (see [`Generator::emit`]), and
        // the lane numbers follow them.
        let (o, lanes) = unsafe {
            let o: isa::Shuffle = ops(inst);
            let lanes = inst
                .ip
                .byte_add(size_of::<Enc<isa::Shuffle>>())
                .cast::<u32>();
            (o, std::slice::from_raw_parts(lanes, o.n as usize))
        };
        for (i, two) in lanes.chunks_exact(2).enumerate() {
            let (s, t) = (two[0] as u16, two[1] as u16);
            let dst = o.dst + 2 * i as u16;
            if t == s + 1 {
                let a = self.c.read_p(s, true);
                let d = self.c.def_p(dst, false);
                if let Rm::Reg(a) = a {
                    self.c.asm.vmov(d, a);
                }
            } else {
                let (a, high) = self.c.lane(s, 0);
                let (b, above) = self.c.lane(t, 1);
                let d = self.c.def_p(dst, false);
                // vshufpd
                self.c.asm.v(pp::P66, 0xc6, d, a, Rm::Reg(b));
                self.c.asm.imm8(u8::from(high) | u8::from(above) << 1);
            }
            self.c.unlock();
        }
    }

    /// Reduces whole words of lanes to one lane by an operation: pairs of words, then the halves of
    /// the pair, then, if they are `halved`, the halves of the word.
    pub(super) fn reduce(&mut self, inst: &Inst, (pp, map, opcode): (u8, u8, u8), halved: bool) {
        // SAFETY: the row describes the instruction, and its second field is the vector.
        let n = unsafe { inst.row.fields[1].count(inst.ip) };
        let mut total = self.words(inst, 1, 0, n >= 2, 0);
        for i in (2..n.max(1) - 1).step_by(2) {
            let b = self.words(inst, 1, i, true, 1);
            self.c.asm.vex(pp, map, false, opcode, 0, total, Rm::Reg(b));
            self.c.unlock();
            total = 0;
        }
        if n >= 2 {
            total = self.fold(total, 0xee, (pp, map, opcode));
        }
        if n > 2 && n % 2 == 1 {
            let b = self.words(inst, 1, n - 1, false, 1);
            self.c.asm.vex(pp, map, false, opcode, 0, total, Rm::Reg(b));
        }
        if halved {
            total = self.fold(total, 0x55, (pp, map, opcode));
        }
        self.c.asm.vmovq_to_g(RAX, total);
        let d = self.result_g(inst);
        if halved {
            self.c.asm.mov32(d, Rm::Reg(RAX));
        } else {
            self.c.asm.mov(d, Rm::Reg(RAX));
        }
    }

    /// Combines a register with itself shuffled by `order`; returns the register of the result.
    fn fold(&mut self, a: u8, order: u8, (pp, map, opcode): (u8, u8, u8)) -> u8 {
        // vpshufd
        self.c.asm.v(pp::P66, 0x70, 1, 0, Rm::Reg(a));
        self.c.asm.imm8(order);
        self.c.asm.vex(pp, map, false, opcode, 0, a, Rm::Reg(1));
        self.c.unlock();
        0
    }

    pub(super) fn fill_words(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Memn`; see [`Generator::emit`].
        let o: isa::Memn = unsafe { ops(inst) };
        let base = self.gr(inst, 1, RDI);
        let end = o.bytes as i32;
        let mut off = 0;
        if end >= 16 {
            let a = self.x(inst, 0);
            self.c.asm.v(pp::F2, 0x12, 0, 0, a);
            while off + 16 <= end {
                self.c.asm.vstore128(at(base, o.off + off), 0);
                off += 16;
            }
            if off < end {
                self.c.asm.vstore64(at(base, o.off + off), 0);
            }
        } else if end > 0 {
            let r = self.gr(inst, 0, RAX);
            self.c.asm.store(at(base, o.off), r);
        }
    }

    /// Copies a block; everything is read before anything is written.
    pub(super) fn memcpy_fixed(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Memn`; see [`Generator::emit`].
        let o: isa::Memn = unsafe { ops(inst) };
        let from = self.gr(inst, 1, RDI);
        let to = self.gr(inst, 0, RCX);
        let mut pieces = Vec::new();
        let mut off = 0;
        while off + 16 <= o.bytes as i32 {
            let r = match pieces.len() {
                0 => 0,
                1 => 1,
                _ => self.c.take_x(),
            };
            self.c.asm.vload128(r, at(from, o.off + off));
            pieces.push((r, off));
            off += 16;
        }
        let rest = off < o.bytes as i32;
        if rest {
            self.c.asm.mov(RAX, Rm::Mem(at(from, o.off + off)));
        }
        for (r, off) in pieces {
            self.c.asm.vstore128(at(to, off), r);
        }
        if rest {
            self.c.asm.store(at(to, off), RAX);
        }
    }

    /// Uses the thread-local block that the thread used last; the handler finds those of other
    /// images.
    pub(super) fn tls(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Tls`; see [`Generator::emit`].
        let o: isa::Tls = unsafe { ops(inst) };
        let other = self.bail_all(inst);
        self.c.asm.mov_imm(RAX, o.serial);
        let serial = offset_of!(ThreadState, tls_serial) as i32;
        self.c.asm.op(true, 0x3b, RAX, Rm::Mem(at(RDX, serial)));
        self.c.asm.jcc(cc::NE, other);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        let tls = offset_of!(ThreadState, tls) as i32;
        self.c.asm.mov(d, Rm::Mem(at(RDX, tls)));
        if o.off != 0 {
            self.c.asm.alu_imm(Alu::Add, true, Rm::Reg(d), o.off as i32);
        }
    }

    /// Emits `lock xadd`, or `xchg`, which locks implicitly.
    pub(super) fn rmw(&mut self, inst: &Inst, opcode: u8, negate: bool, bits: u8) {
        let p = self.gr(inst, 1, RDI);
        let value = self.g(inst, 2);
        let wide = bits == 64;
        self.c.asm.mov(RAX, value);
        if negate {
            self.c.asm.op(wide, 0xf7, 3, Rm::Reg(RAX));
        }
        let m = Rm::Mem(at(p, 0));
        if opcode == 0x87 {
            self.c.asm.op(wide, opcode, RAX, m);
        } else {
            self.c.asm.imm8(0xf0);
            self.c.asm.op0f(0, wide, opcode, RAX, m);
        }
        let d = self.result_g(inst);
        if wide {
            self.c.asm.mov(d, Rm::Reg(RAX));
        } else {
            self.c.asm.mov32(d, Rm::Reg(RAX));
        }
    }
}
