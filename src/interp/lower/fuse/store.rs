//! Stores of a postponed sum, product, or product plus addend.
//!
//! [`Lowering::store_result`] selects the form; `accumulate` handles an addend that is the stored
//! location's old value. Here the result has an address as well, and the order in which addresses
//! are formed is part of the emitted code. Results in slots are in `arithmetic`.

use super::super::Lowering;
use super::super::address::Addr;
use super::{OperandAddress, arithmetic, memory_forms, two_addresses};
use crate::isa::{self, op};
use ompvm_ir::{Op, Operand};

impl Lowering<'_> {
    /// Emits the store of a postponed sum or product; `false` if the value is neither.
    pub(in crate::lower) fn store_result(&mut self, value: Operand, ptr: Operand) -> bool {
        let (x, y, c, forms) = match self.postponed(value) {
            Some(Op::Call(call)) => {
                let forms = memory_forms(op::muladd64_st, op::muladd64_stx);
                (call.args[0], call.args[1], Some(call.args[2]), forms)
            }
            Some(Op::Binary { op, a, b, .. }) => {
                let Some(forms) = arithmetic(*op, false).and_then(|row| row.stored) else {
                    return false;
                };
                (*a, *b, None, forms)
            }
            _ => return false,
        };
        if self.loads(x) || self.loads(y) {
            let loads_target = c.is_some_and(|c| match self.postponed(c) {
                Some(Op::Load { ptr: from, .. }) => *from == ptr,
                _ => false,
            });
            return loads_target && self.accumulate(x, y, ptr);
        }
        if [x, y]
            .into_iter()
            .any(|o| self.negated(o).is_some() || self.postponed_product(o).is_some())
        {
            return false;
        }
        let addr = self.address(ptr);
        let to = self.operand_address(addr);
        if let (Some(c), OperandAddress::Base(base, off)) = (c, to)
            && let Some(loaded) = self.loaded(c)
        {
            let (from, from_off) = self.plain_form(loaded);
            let (a, b) = (self.operand(x), self.operand(y));
            let ops = isa::Fms {
                a,
                b,
                from,
                base,
                from_off,
                off,
            };
            self.emit(op::muladd64_ls, ops);
            return true;
        }
        let (a, b) = (self.operand(x), self.operand(y));
        let c = c.map_or(0, |c| self.operand(c));
        self.emit_memory_form(forms, [b, a, c], to);
        true
    }

    /// Emits `*ptr += x * y` with one loaded factor.
    fn accumulate(&mut self, x: Operand, y: Operand, ptr: Operand) -> bool {
        let (x, y) = if self.loads(y) { (x, y) } else { (y, x) };
        let Some(addr) = self.loaded(y) else {
            return false;
        };
        let factor = self.operand_address(addr);
        let a = self.operand(x);
        let addr = self.address(ptr);
        if let Addr::Index(..) = addr {
            let to = self.operand_address(addr);
            self.emit(op::macc64_xx, two_addresses(0, a, factor, to));
            return true;
        }
        let (to, to_off) = self.plain_form(addr);
        match factor {
            OperandAddress::Base(from, from_off) => {
                let ops = isa::Fms {
                    a,
                    b: 0,
                    from,
                    base: to,
                    from_off,
                    off: to_off,
                };
                self.emit(op::macc64_m, ops);
            }
            OperandAddress::Index(at) => {
                let ops = isa::Fxs {
                    a,
                    base: at.base,
                    index: at.index,
                    to,
                    scale: at.scale,
                    off: at.off,
                    to_off,
                };
                self.emit(op::macc64_x, ops);
            }
        }
        true
    }
}
