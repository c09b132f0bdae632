//! Loads, stores, addresses, and arithmetic with an operand or the result in memory.
//!
//! An address is a register and a displacement, with an index register if there is one. An index
//! with a scale that the processor does not support is multiplied into rcx. Guest addresses wrap as
//! the processor's do.

use super::float::{ADD, MUL, SUB};
use super::ops;
use crate::asm::{G, Mem, RAX, RCX, RDI, RDX, RSI, Rm, X, at, pp};
use crate::flow::Inst;
use crate::generate::Generator;
use crate::table::{AddressForm, FusedOp};
use ompvm_interp::isa;
use ompvm_memory::thread::ThreadState;
use std::mem::offset_of;

impl Generator<'_> {
    /// Returns `base + off` with the base in field `k`; may use `scratch`.
    fn based(&mut self, inst: &Inst, k: usize, off: i32, scratch: G) -> Mem {
        at(self.gr(inst, k, scratch), off)
    }

    /// Returns `base + index * scale + off`; may use `scratch` and rcx.
    #[expect(clippy::too_many_arguments, reason = "the parts of an address")]
    fn indexed(
        &mut self,
        inst: &Inst,
        base: usize,
        index: usize,
        signed: bool,
        scale: i32,
        off: i32,
        scratch: G,
    ) -> Mem {
        let base = self.gr(inst, base, scratch);
        let shift = match scale {
            1 => Some(0),
            2 => Some(1),
            4 => Some(2),
            8 => Some(3),
            _ => None,
        };
        let value = self.g(inst, index);
        let (index, shift) = match (signed, shift) {
            (false, Some(shift)) => match value {
                Rm::Reg(r) => (r, shift),
                m => {
                    self.c.asm.mov(RCX, m);
                    (RCX, shift)
                }
            },
            (true, Some(shift)) => {
                self.c.asm.movsx(32, true, RCX, value);
                (RCX, shift)
            }
            (false, None) => {
                self.c.asm.imul_imm(true, RCX, value, scale);
                (RCX, 0)
            }
            (true, None) => {
                self.c.asm.movsx(32, true, RCX, value);
                self.c.asm.imul_imm(true, RCX, Rm::Reg(RCX), scale);
                (RCX, 0)
            }
        };
        Mem {
            base,
            index,
            scale: shift,
            disp: off,
        }
    }

    /// Returns the address of a load or store whose value is field 0.
    fn address_of(&mut self, inst: &Inst, index: AddressForm) -> Mem {
        // SAFETY: template and address form imply the shape; see [`Generator::emit`].
        unsafe {
            match index {
                AddressForm::None => {
                    let o: isa::Mem = ops(inst);
                    self.based(inst, 1, o.off, RDI)
                }
                AddressForm::Frame => at(RSI, ops::<isa::Mem>(inst).off),
                AddressForm::Full | AddressForm::Signed => {
                    let o: isa::Memx = ops(inst);
                    let signed = index == AddressForm::Signed;
                    self.indexed(inst, 1, 2, signed, o.scale, o.off, RDI)
                }
            }
        }
    }

    pub(super) fn load(&mut self, inst: &Inst, bits: u8, index: AddressForm) {
        let m = self.address_of(inst, index);
        let dst = self.slot(inst, 0);
        self.release(inst);
        if bits >= 32 && self.goes_to_x(dst, 0) {
            let d = self.c.def_x(dst, self.dead(0));
            if bits == 64 {
                self.c.asm.vload64(d, m);
            } else {
                self.c.asm.vload32(d, m);
            }
        } else {
            let d = self.c.def_g(dst, self.dead(0));
            if bits == 64 {
                self.c.asm.mov(d, Rm::Mem(m));
            } else {
                self.c.asm.movzx(u32::from(bits), d, Rm::Mem(m));
            }
        }
    }

    pub(super) fn store(&mut self, inst: &Inst, bits: u8, index: AddressForm) {
        let m = self.address_of(inst, index);
        let slot = self.slot(inst, 0);
        if bits >= 32
            && !self.c.has_g(slot)
            && let Some(x) = self.c.single_x(slot)
        {
            if bits == 64 {
                self.c.asm.vstore64(m, x);
            } else {
                self.c.asm.vstore32(m, x);
            }
            return;
        }
        let r = self.gr(inst, 0, RAX);
        match bits {
            8 => self.c.asm.op8(0x88, r, Rm::Mem(m)),
            16 => self.c.asm.op16(0x89, r, Rm::Mem(m)),
            _ => self.c.asm.op(bits == 64, 0x89, r, Rm::Mem(m)),
        }
    }

    pub(super) fn load_pair(&mut self, inst: &Inst, index: AddressForm) {
        let m = self.address_of(inst, index);
        let d = self.result_p(inst);
        self.c.asm.vload128(d, m);
    }

    pub(super) fn store_pair(&mut self, inst: &Inst, index: AddressForm) {
        let m = self.address_of(inst, index);
        let r = self.pr(inst, 0, 0);
        self.c.asm.vstore128(m, r);
    }

    pub(super) fn gep(&mut self, inst: &Inst, signed: bool) {
        // SAFETY: instructions of this template have shape `Memx`; see [`Generator::emit`].
        let o: isa::Memx = unsafe { ops(inst) };
        let m = self.indexed(inst, 1, 2, signed, o.scale, o.off, RDI);
        let d = self.result_g(inst);
        self.c.asm.lea(true, d, m);
    }

    pub(super) fn fused(&mut self, inst: &Inst, how: FusedOp, pair: bool, index: AddressForm) {
        let ternary = !matches!(how, FusedOp::Forward(_) | FusedOp::Backward(_));
        // Fields: dst, a, base, then index, then c.
        // SAFETY: template and address form imply the shape; see [`Generator::emit`].
        let m = unsafe {
            match index {
                AddressForm::None | AddressForm::Frame => {
                    let o: isa::Fm = ops(inst);
                    self.based(inst, 2, o.off, RDI)
                }
                AddressForm::Full | AddressForm::Signed => {
                    let signed = index == AddressForm::Signed;
                    let (scale, off) = if ternary {
                        let o: isa::Fcx = ops(inst);
                        (o.scale, o.off)
                    } else {
                        let o: isa::Fx = ops(inst);
                        (o.scale, o.off)
                    };
                    self.indexed(inst, 2, 3, signed, scale, off, RDI)
                }
            }
        };
        let c = if index == AddressForm::None { 3 } else { 4 };
        let pp = if pair { pp::P66 } else { pp::F2 };
        let v = Rm::Mem(m);
        let a = self.either_reg(inst, 1, pair, 0);
        match how {
            FusedOp::Forward(opcode) => {
                self.release(inst);
                let d = self.either_def(inst, pair);
                self.c.asm.v(pp, opcode, d, a, v);
            }
            FusedOp::Backward(opcode) => {
                if pair {
                    self.c.asm.vload128(1, m);
                } else {
                    self.c.asm.vload64(1, m);
                }
                self.release(inst);
                let d = self.either_def(inst, pair);
                self.c.asm.v(pp, opcode, d, 1, Rm::Reg(a));
            }
            FusedOp::FactorLoaded => {
                self.c.asm.v(pp, MUL, 0, a, v);
                let c = self.either(inst, c, pair);
                self.release(inst);
                let d = self.either_def(inst, pair);
                self.c.asm.v(pp, ADD, d, 0, c);
            }
            FusedOp::NegFactorLoaded => {
                self.c.asm.v(pp, MUL, 0, a, v);
                let c = self.either_reg(inst, c, pair, 1);
                self.release(inst);
                let d = self.either_def(inst, pair);
                self.c.asm.v(pp, SUB, d, c, Rm::Reg(0));
            }
            FusedOp::TermLoaded => {
                let c = self.either(inst, c, pair);
                self.c.asm.v(pp, MUL, 0, a, c);
                self.release(inst);
                let d = self.either_def(inst, pair);
                self.c.asm.v(pp, ADD, d, 0, v);
            }
        }
    }

    fn either(&mut self, inst: &Inst, k: usize, pair: bool) -> Rm {
        if pair {
            self.p(inst, k)
        } else {
            self.x(inst, k)
        }
    }

    fn either_reg(&mut self, inst: &Inst, k: usize, pair: bool, scratch: X) -> X {
        if pair {
            self.pr(inst, k, scratch)
        } else {
            self.xr(inst, k, scratch)
        }
    }

    fn either_def(&mut self, inst: &Inst, pair: bool) -> X {
        let (slot, dead) = (self.slot(inst, 0), self.dead(0));
        if pair {
            self.c.def_p(slot, dead)
        } else {
            self.c.def_x(slot, dead)
        }
    }

    pub(super) fn scale_add_loaded(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Fm`; see [`Generator::emit`].
        let o: isa::Fm = unsafe { ops(inst) };
        let m = self.based(inst, 2, o.off, RDI);
        self.splat(inst, 1, 0);
        self.c.asm.v(pp::P66, MUL, 0, 0, Rm::Mem(m));
        let c = self.p(inst, 3);
        self.release(inst);
        let d = self.either_def(inst, true);
        self.c.asm.v(pp::P66, ADD, d, 0, c);
    }

    /// Returns the address of a result: the base is field 2, an index field 3.
    fn result_address(&mut self, inst: &Inst, index: AddressForm) -> Mem {
        // SAFETY: template and address form imply the shape; see [`Generator::emit`].
        unsafe {
            if index == AddressForm::None {
                let o: isa::Fm = ops(inst);
                self.based(inst, 2, o.off, RDI)
            } else {
                let o: isa::Fcx = ops(inst);
                self.indexed(inst, 2, 3, false, o.scale, o.off, RDI)
            }
        }
    }

    /// Emits `[address] = a op dst`.
    pub(super) fn store_result(&mut self, inst: &Inst, opcode: u8, index: AddressForm) {
        let a = self.xr(inst, 1, 0);
        let b = self.x(inst, 0);
        self.c.asm.v(pp::F2, opcode, 0, a, b);
        let m = self.result_address(inst, index);
        self.c.asm.vstore64(m, 0);
    }

    /// Emits `[address] = a * dst + c`.
    pub(super) fn store_mul_add(&mut self, inst: &Inst, index: AddressForm) {
        let a = self.xr(inst, 1, 0);
        let b = self.x(inst, 0);
        self.c.asm.v(pp::F2, MUL, 0, a, b);
        let c = self.x(inst, if index == AddressForm::None { 3 } else { 4 });
        self.c.asm.v(pp::F2, ADD, 0, 0, c);
        let m = self.result_address(inst, index);
        self.c.asm.vstore64(m, 0);
    }

    /// Emits `dst = [first] op [second] (+ c)`.
    pub(super) fn both_loaded(&mut self, inst: &Inst, opcode: u8, add: bool) {
        // SAFETY: instructions of this template have shape `Fxx`; see [`Generator::emit`].
        let o: isa::Fxx = unsafe { ops(inst) };
        let k = if add { 2 } else { 1 };
        let m = self.indexed(inst, k, k + 1, false, o.scale, o.off, RDI);
        self.c.asm.vload64(0, m);
        let m = self.indexed(inst, k + 2, k + 3, false, o.scale2, o.off2, RDI);
        if add {
            self.c.asm.v(pp::F2, opcode, 0, 0, Rm::Mem(m));
            let c = self.x(inst, 1);
            self.release(inst);
            let d = self.either_def(inst, false);
            self.c.asm.v(pp::F2, ADD, d, 0, c);
        } else {
            self.release(inst);
            let d = self.either_def(inst, false);
            self.c.asm.v(pp::F2, opcode, d, 0, Rm::Mem(m));
        }
    }

    /// Emits `[second] += c * [first]`.
    pub(super) fn accumulate_both(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Fxx`; see [`Generator::emit`].
        let o: isa::Fxx = unsafe { ops(inst) };
        let m = self.indexed(inst, 1, 2, false, o.scale, o.off, RDI);
        let c = self.xr(inst, 0, 0);
        self.c.asm.v(pp::F2, MUL, 0, c, Rm::Mem(m));
        let m = self.indexed(inst, 3, 4, false, o.scale2, o.off2, RDI);
        self.c.asm.v(pp::F2, ADD, 0, 0, Rm::Mem(m));
        self.c.asm.vstore64(m, 0);
    }

    /// Emits `dst = [first] * [base3 + [second] * scale3] + c`.
    pub(super) fn gather(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Fg`; see [`Generator::emit`].
        let o: isa::Fg = unsafe { ops(inst) };
        let m = self.indexed(inst, 2, 3, false, o.scale, o.off, RDI);
        self.c.asm.vload64(0, m);
        let m = self.indexed(inst, 4, 3, false, o.scale2, o.off2, RDI);
        self.c.asm.movsx(32, true, RCX, Rm::Mem(m));
        if o.scale3 != 1 {
            self.c.asm.imul_imm(true, RCX, Rm::Reg(RCX), o.scale3);
        }
        let base = self.gr(inst, 5, RDI);
        let m = Mem {
            base,
            index: RCX,
            scale: 0,
            disp: o.off3,
        };
        self.c.asm.v(pp::F2, MUL, 0, 0, Rm::Mem(m));
        let c = self.x(inst, 1);
        self.release(inst);
        let d = self.either_def(inst, false);
        self.c.asm.v(pp::F2, ADD, d, 0, c);
    }

    /// Emits `[base + off] = a * b + [from + from_off]`.
    pub(super) fn store_sum(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Fms`; see [`Generator::emit`].
        let o: isa::Fms = unsafe { ops(inst) };
        let a = self.xr(inst, 0, 0);
        let b = self.x(inst, 1);
        self.c.asm.v(pp::F2, MUL, 0, a, b);
        let from = self.based(inst, 2, o.from_off, RDI);
        self.c.asm.v(pp::F2, ADD, 0, 0, Rm::Mem(from));
        let to = self.based(inst, 3, o.off, RDI);
        self.c.asm.vstore64(to, 0);
    }

    /// Emits `[to] += a * [from]`.
    pub(super) fn accumulate(&mut self, inst: &Inst, indexed: bool) {
        let a = self.xr(inst, 0, 0);
        // SAFETY: template and address form imply the shape; see [`Generator::emit`].
        let (from, to, off) = unsafe {
            if indexed {
                let o: isa::Fxs = ops(inst);
                let from = self.indexed(inst, 1, 2, false, o.scale, o.off, RDI);
                (from, 3, o.to_off)
            } else {
                let o: isa::Fms = ops(inst);
                (self.based(inst, 1, o.from_off, RDI), 2, o.off)
            }
        };
        self.c.asm.v(pp::F2, MUL, 0, a, Rm::Mem(from));
        let to = self.based(inst, to, off, RDI);
        self.c.asm.v(pp::F2, ADD, 0, 0, Rm::Mem(to));
        self.c.asm.vstore64(to, 0);
    }

    pub(super) fn pair_loaded(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Fms`; see [`Generator::emit`].
        let o: isa::Fms = unsafe { ops(inst) };
        let from = self.based(inst, 1, o.from_off, RDI);
        self.c.asm.vload64(0, from);
        let base = self.based(inst, 2, o.off, RDI);
        self.release(inst);
        let d = self.either_def(inst, true);
        // vmovhpd
        self.c.asm.v(pp::P66, 0x16, d, 0, Rm::Mem(base));
    }

    pub(super) fn stack_save(&mut self, inst: &Inst) {
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        let sp = offset_of!(ThreadState, sp) as i32;
        self.c.asm.mov(d, Rm::Mem(at(RDX, sp)));
    }

    pub(super) fn stack_restore(&mut self, inst: &Inst) {
        let a = self.gr(inst, 0, RAX);
        let sp = offset_of!(ThreadState, sp) as i32;
        self.c.asm.store(at(RDX, sp), a);
    }
}
