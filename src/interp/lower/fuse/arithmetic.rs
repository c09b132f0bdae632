//! Sums, products and multiply-adds with a loaded, negated or splat operand.
//!
//! The functions select among an operation's forms on doubles or pairs by the kinds of its
//! operands. The most profitable forms come first, and an operand is taken only once the form is
//! certain, since taking it emits code. Stored results are in `store`.

use super::super::Lowering;
use super::super::address::Addr;
use super::{
    Indexed, MULTIPLY_ADD, MULTIPLY_ADD_PAIR, OperandAddress, SUBTRACT_PRODUCT, arithmetic,
    two_addresses,
};
use crate::isa::{self, Dab, Dabc, Fx, Fxx, Memx, op};
use ompvm_ir::{BinOp, CastOp, Op, Operand};

impl Lowering<'_> {
    /// Emits `dst = a op b` on doubles or pairs of them with at most one loaded operand per form;
    /// `false` if the table has no row for the operation.
    pub(in crate::lower) fn double_arithmetic(
        &mut self,
        o: BinOp,
        pair: bool,
        dst: u16,
        a: Operand,
        b: Operand,
    ) -> bool {
        let Some(forms) = arithmetic(o, pair) else {
            return false;
        };
        if o == BinOp::FMul && self.special_product(pair, dst, a, b) {
            return true;
        }
        if let Some(code) = forms.both
            && self.loads(a)
            && self.loads(b)
            && let Some(ops) = self.two_loaded(dst, 0, a, b)
        {
            self.emit(code, ops);
            return true;
        }
        let (forms, a, addr) = if let Some(addr) = self.loaded(b) {
            (forms.right, a, addr)
        } else if let Some(addr) = self.loaded(a) {
            (forms.left, b, addr)
        } else {
            let (a, b) = (self.operand(a), self.operand(b));
            self.emit(forms.plain, Dab { dst, a, b });
            return true;
        };
        let a = self.operand(a);
        match self.operand_address(addr) {
            OperandAddress::Base(base, off) => self.emit_base(forms.base, [dst, a, 0], base, off),
            OperandAddress::Index(Indexed {
                base,
                index,
                scale,
                off,
            }) => {
                let ops = Fx {
                    dst,
                    a,
                    base,
                    index,
                    scale,
                    off,
                };
                self.emit(forms.index, ops);
            }
        }
        true
    }

    /// Emits a product with a splat, or with a negated double.
    fn special_product(&mut self, pair: bool, dst: u16, a: Operand, b: Operand) -> bool {
        for (x, y) in [(a, b), (b, a)] {
            let (code, special) = if pair {
                (op::v2scale, self.splat(x))
            } else {
                (op::negmul64, self.negated(x))
            };
            if let Some(x) = special {
                let (a, b) = (self.operand(x), self.operand(y));
                self.emit(code, Dab { dst, a, b });
                return true;
            }
        }
        false
    }

    /// Emits `dst = x * y + c` on doubles or pairs, with one operand loaded or a splat factor.
    pub(in crate::lower) fn multiply_add(
        &mut self,
        pair: bool,
        dst: u16,
        x: Operand,
        y: Operand,
        c: Operand,
    ) {
        for (x, y) in [(x, y), (y, x)] {
            if pair && let Some(scale) = self.splat(x) {
                self.scale_add(dst, scale, y, c);
                return;
            }
            if !pair && let Some(x) = self.negated(x) {
                self.subtract_product(dst, x, y, c);
                return;
            }
        }
        let forms = if pair {
            &MULTIPLY_ADD_PAIR
        } else {
            if self.gather(dst, x, y, c) || self.gather(dst, y, x, c) {
                return;
            }
            if self.loads(x) && self.loads(y) {
                let slot = self.operand(c);
                if let Some(ops) = self.two_loaded(dst, slot, x, y) {
                    self.emit(op::muladd64_xx, ops);
                    return;
                }
            }
            &MULTIPLY_ADD
        };
        let factor = match self.loaded(y) {
            Some(addr) => Some((x, addr)),
            None => self.loaded(x).map(|addr| (y, addr)),
        };
        if let Some((x, addr)) = factor {
            let (a, c) = (self.operand(x), self.operand(c));
            if let Addr::Index(base, index, scale, off, true) = addr
                && !pair
            {
                let at = Indexed {
                    base,
                    index,
                    scale,
                    off,
                };
                self.emit_indexed(op::muladd64_s, [dst, a, c], at);
                return;
            }
            let address = self.operand_address(addr);
            self.emit_memory_form(forms.factor, [dst, a, c], address);
            return;
        }
        if let Some(summand) = forms.summand
            && let Some(addr) = self.loaded(c)
        {
            let (a, b) = (self.operand(x), self.operand(y));
            let address = self.operand_address(addr);
            self.emit_memory_form(summand, [dst, a, b], address);
            return;
        }
        let [a, b, c] = [x, y, c].map(|o| self.operand(o));
        self.emit(forms.plain, Dabc { dst, a, b, c });
    }

    /// Emits `dst = scale * y + c` on pairs, where `scale` is one double for both lanes.
    fn scale_add(&mut self, dst: u16, scale: Operand, y: Operand, c: Operand) {
        let loaded = self.loaded(y).map(|addr| self.plain_form(addr));
        let (a, c) = (self.operand(scale), self.operand(c));
        if let Some((base, off)) = loaded {
            self.emit_base(op::v2scaleadd_m, [dst, a, c], base, off);
        } else {
            let b = self.operand(y);
            self.emit(op::v2scaleadd, Dabc { dst, a, b, c });
        }
    }

    /// Emits `dst = c - x * y` on doubles.
    fn subtract_product(&mut self, dst: u16, x: Operand, y: Operand, c: Operand) {
        let loaded = self.loaded(y).map(|addr| self.operand_address(addr));
        let (a, c) = (self.operand(x), self.operand(c));
        match loaded {
            Some(address) => self.emit_memory_form(SUBTRACT_PRODUCT.factor, [dst, a, c], address),
            None => {
                let b = self.operand(y);
                self.emit(SUBTRACT_PRODUCT.plain, Dabc { dst, a, b, c });
            }
        }
    }

    /// Emits `dst = x * y + c` if both factors are postponed loads and `y`'s index is loaded beside
    /// `x`.
    fn gather(&mut self, dst: u16, x: Operand, y: Operand, c: Operand) -> bool {
        if !self.loads(x) {
            return false;
        }
        let Some((base, number, scale3)) = self.gathered(y) else {
            return false;
        };
        let c = self.operand(c);
        let Some(first) = self.loaded_anywhere(x) else {
            return false;
        };
        let Some(second) = self.loaded_anywhere(number) else {
            return false;
        };
        let base = self.address(base);
        let (base3, off3) = self.plain_form(base);
        let first = self.operand_address(first).indexed();
        let second = self.operand_address(second).indexed();
        if first.index != second.index {
            // The two loads have different indices: the index value is loaded first, like any
            // index.
            let number = self.temp(1);
            self.emit(op::load32x, second.into_slot(number));
            let factor = self.temp(1);
            self.emit(op::load64x, first.into_slot(factor));
            let at = Indexed {
                base: base3,
                index: number,
                scale: scale3,
                off: off3,
            };
            self.emit_indexed(op::muladd64_s, [dst, factor, c], at);
            return true;
        }
        let ops = isa::Fg {
            dst,
            c,
            base: first.base,
            index: first.index,
            base2: second.base,
            base3,
            scale: first.scale,
            off: first.off,
            scale2: second.scale,
            off2: second.off,
            scale3,
            off3,
        };
        self.emit(op::muladd64_gather, ops);
        true
    }

    /// Returns the base and the index of a postponed load of `base[index]` whose index is a
    /// postponed load itself, and the element's size.
    fn gathered(&self, o: Operand) -> Option<(Operand, Operand, i32)> {
        let &Op::Load { ptr, .. } = self.postponed(o)? else {
            return None;
        };
        let Op::Gep {
            elem,
            base,
            indices,
        } = self.postponed(ptr)?
        else {
            return None;
        };
        let [index] = indices[..] else { return None };
        let &Op::Cast {
            op: CastOp::SExt,
            a: number,
        } = self.postponed(index)?
        else {
            return None;
        };
        let size = i32::try_from(self.m.layout(*elem).size).ok()?;
        self.loads(number).then_some((*base, number, size))
    }

    /// Builds the operands of an instruction that loads both of two postponed doubles.
    fn two_loaded(&mut self, dst: u16, c: u16, x: Operand, y: Operand) -> Option<Fxx> {
        let first = self.loaded(x)?;
        let first = self.operand_address(first);
        let second = self.loaded(y)?;
        let second = self.operand_address(second);
        Some(two_addresses(dst, c, first, second))
    }

    /// Emits `dst = {a, b}` if both are postponed loads.
    pub(in crate::lower) fn pair_of_loads(&mut self, dst: u16, a: Operand, b: Operand) -> bool {
        if !self.loads(a) || !self.loads(b) {
            return false;
        }
        let Some(first) = self.loaded(a) else {
            return false;
        };
        let (from, from_off) = self.plain_form(first);
        let Some(second) = self.loaded(b) else {
            return false;
        };
        let (base, off) = self.plain_form(second);
        let ops = isa::Fms {
            a: dst,
            b: 0,
            from,
            base,
            from_off,
            off,
        };
        self.emit(op::pair64_m, ops);
        true
    }
}

impl Indexed {
    /// Builds the operands of a load from this location.
    fn into_slot(self, reg: u16) -> Memx {
        Memx {
            reg,
            base: self.base,
            index: self.index,
            scale: self.scale,
            off: self.off,
        }
    }
}
