//! Atomic updates, and addresses of thread-local variables.
//!
//! Only common forms have handlers; the others become thunks, which are equally atomic. Atomics of
//! the OpenMP runtime are calls.

use super::Lowering;
use super::inst::width;
use crate::isa::{self, op};
use ompvm_ir::{GlobalRef, Op, Operand, RmwOp, Type};
use ompvm_memory::image::library_variable;

impl Lowering<'_> {
    /// Emits the calling thread's address of a thread-local variable.
    pub(super) fn tls(&mut self, dst: u16, global: ompvm_ir::GlobalId, off: i64) {
        match self.image.tls_offset(global) {
            Some(at) => {
                let image = std::ptr::from_ref(self.image) as usize;
                let off = (at as i64 + off) as u32;
                self.emit(
                    op::tls_address,
                    isa::Tls {
                        dst,
                        off,
                        serial: self.image.serial(),
                        image,
                    },
                );
            }
            None => {
                let variable = self.image.library_variable(global);
                let variable = self.word(variable.map_or(0, |v| std::ptr::from_ref(v) as u64));
                let call = isa::Native {
                    dst,
                    n: 1,
                    target: library_variable as *const () as usize,
                    mask: u64::MAX,
                };
                self.emit(op::native, call);
                self.tail(&[variable]);
                if off != 0 {
                    self.emit(
                        op::addi64,
                        isa::Dai {
                            dst,
                            a: dst,
                            imm: off as i32,
                        },
                    );
                }
            }
        }
    }

    pub(super) fn thread_local(&self, o: Operand) -> Option<(ompvm_ir::GlobalId, i64)> {
        let c = o.unpack().err()?;
        if let ompvm_ir::Const::Global(GlobalRef::Var(g)) = self.m.consts[c]
            && self.m.globals[g].thread_local
        {
            return Some((g, 0));
        }
        self.image.tls_constant(c)
    }

    pub(super) fn rmw(&mut self, i: usize, dst: u16) -> bool {
        let inst = &self.body.insts[i];
        let Op::AtomicRmw {
            op: o, ptr, value, ..
        } = inst.op
        else {
            return false;
        };
        let Some(w @ 0..=3) = self.access(inst.ty) else {
            return false;
        };
        if let Type::Int(bits) = *self.ty(inst.ty)
            && width(bits).is_none()
        {
            return false;
        }
        if matches!(self.ty(inst.ty), Type::Vector { .. }) {
            return false;
        }
        let code = match o {
            RmwOp::Xchg => [op::xchg8, op::xchg16, op::xchg32, op::xchg64][w],
            RmwOp::Add => [op::aadd8, op::aadd16, op::aadd32, op::aadd64][w],
            RmwOp::Sub => [op::asub8, op::asub16, op::asub32, op::asub64][w],
            RmwOp::And => [op::aand8, op::aand16, op::aand32, op::aand64][w],
            RmwOp::Nand => [op::anand8, op::anand16, op::anand32, op::anand64][w],
            RmwOp::Or => [op::aor8, op::aor16, op::aor32, op::aor64][w],
            RmwOp::Xor => [op::axor8, op::axor16, op::axor32, op::axor64][w],
            RmwOp::Max => [op::amax8, op::amax16, op::amax32, op::amax64][w],
            RmwOp::Min => [op::amin8, op::amin16, op::amin32, op::amin64][w],
            RmwOp::UMax => [op::aumax8, op::aumax16, op::aumax32, op::aumax64][w],
            RmwOp::UMin => [op::aumin8, op::aumin16, op::aumin32, op::aumin64][w],
            RmwOp::FAdd if w >= 2 => [op::afadd32, op::afadd64][w - 2],
            RmwOp::FSub if w >= 2 => [op::afsub32, op::afsub64][w - 2],
            RmwOp::FMax if w >= 2 => [op::afmax32, op::afmax64][w - 2],
            RmwOp::FMin if w >= 2 => [op::afmin32, op::afmin64][w - 2],
            _ => return false,
        };
        let value = self.operand(value);
        let ptr = self.operand(ptr);
        self.emit(code, isa::Rmw { dst, ptr, value });
        true
    }

    pub(super) fn cmpxchg(&mut self, i: usize, dst: u16) -> bool {
        let Op::CmpXchg {
            ptr, expected, new, ..
        } = self.body.insts[i].op
        else {
            return false;
        };
        let ty = self.type_of(expected);
        let Some(w @ 0..=3) = self.access(ty) else {
            return false;
        };
        if let Type::Int(bits) = *self.ty(ty)
            && width(bits).is_none()
        {
            return false;
        }
        let flag = self.m.types.field_offset(self.body.insts[i].ty, 1) as u16;
        let (expected, new) = (self.operand(expected), self.operand(new));
        let ptr = self.operand(ptr);
        self.emit(
            [op::cas8, op::cas16, op::cas32, op::cas64][w],
            isa::Cas {
                dst,
                ptr,
                expected,
                new,
                flag,
            },
        );
        true
    }
}
