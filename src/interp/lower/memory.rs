//! Loads, stores, allocas.
//!
//! Allocas of fixed size are part of the frame, where they cost nothing. `address` folds addresses
//! into their uses.

use super::Lowering;
use super::address::Addr;
use super::inst::width;
use crate::isa::{self, Enc, Mem, Memn, Memx, Opcode, op};
use ompvm_ir::{Op, Ordering, Type, TypeId};
use std::mem::offset_of;

/// The least bytes of an array that is allocated outside the frame, aligned to a cache line.
/// Compiled loops that are entered from the interpreter use the array where it is, and vector
/// accesses that cross cache lines are slower.
pub(super) const MIN_CACHE_ALIGNED: u64 = 8 << 10;
/// Bytes of a cache line.
const CACHE_LINE: u32 = 64;

/// The handlers that load or store, by access width index: 1, 2, 4, 8 and 16 bytes.
struct AccessHandlers {
    /// For [`Addr::Base`].
    base: [Opcode<Mem>; 5],
    /// For [`Addr::Index`] with an index of 64 bits.
    index: [Opcode<Memx>; 5],
    /// For [`Addr::Index`] with a sign-extended index.
    signed_index: [Opcode<Memx>; 5],
    /// For [`Addr::Frame`].
    frame: [Opcode<Mem>; 5],
    /// For other sizes.
    bytes: Opcode<Memn>,
}

const LOADS: AccessHandlers = AccessHandlers {
    base: [op::load8, op::load16, op::load32, op::load64, op::load128],
    index: [
        op::load8x,
        op::load16x,
        op::load32x,
        op::load64x,
        op::load128x,
    ],
    signed_index: [
        op::load8s,
        op::load16s,
        op::load32s,
        op::load64s,
        op::load128s,
    ],
    frame: [
        op::load8f,
        op::load16f,
        op::load32f,
        op::load64f,
        op::load128f,
    ],
    bytes: op::load_bytes,
};

const STORES: AccessHandlers = AccessHandlers {
    base: [
        op::store8,
        op::store16,
        op::store32,
        op::store64,
        op::store128,
    ],
    index: [
        op::store8x,
        op::store16x,
        op::store32x,
        op::store64x,
        op::store128x,
    ],
    signed_index: [
        op::store8s,
        op::store16s,
        op::store32s,
        op::store64s,
        op::store128s,
    ],
    frame: [
        op::store8f,
        op::store16f,
        op::store32f,
        op::store64f,
        op::store128f,
    ],
    bytes: op::store_bytes,
};

impl Lowering<'_> {
    pub(super) fn alloca(&mut self, i: usize, dst: u16) {
        let Op::Alloca { elem, count, align } = self.body.insts[i].op else {
            return;
        };
        if let Some(&off) = self.allocas.get(&((self.nparams + i) as u32)) {
            self.put_address(Addr::Frame(off as i32), dst);
            return;
        }
        self.dynamic = true;
        let size = self.m.layout(elem).size;
        let align = if size >= MIN_CACHE_ALIGNED {
            align.max(CACHE_LINE)
        } else {
            align
        };
        let align = align.max(16);
        let count = self.operand(count);
        let (count, size) = match u32::try_from(size) {
            Ok(size) => (count, size),
            Err(_) => {
                let (k, t) = (self.word(size), self.temp(1));
                self.emit(
                    op::mul64,
                    isa::Dab {
                        dst: t,
                        a: count,
                        b: k,
                    },
                );
                (t, 1)
            }
        };
        if let Some(off) = self.guard {
            let ops = isa::AllocaGuarded {
                dst,
                count,
                size,
                align,
                off: off as i32,
            };
            let at = self.emit(op::alloca_guarded, ops);
            self.frame_fixups
                .push(at + offset_of!(Enc<isa::AllocaGuarded>, ops.off));
            return;
        }
        self.emit(
            op::alloca,
            isa::Alloca {
                dst,
                count,
                size,
                align,
            },
        );
    }

    /// Returns the access width index; `None` if a type has no access of its own.
    pub(super) fn access(&self, ty: TypeId) -> Option<usize> {
        let bytes = match self.ty(ty) {
            Type::Int(bits @ 1..=64) => bits.div_ceil(8),
            Type::Float(_) | Type::Ptr(_) => self.m.layout(ty).store as u32,
            Type::Vector { .. } | Type::Struct { .. } | Type::Array { .. }
                if self.byte_form(ty) =>
            {
                match self.m.layout(ty).store {
                    n @ (1 | 2 | 4 | 8 | 16) => n as u32,
                    _ => return None,
                }
            }
            Type::Int(128) => 16,
            _ => return None,
        };
        match bytes {
            16 => Some(4),
            n => width(n * 8),
        }
    }

    pub(super) fn load(&mut self, i: usize, dst: u16) {
        let inst = &self.body.insts[i];
        let Op::Load { ptr, ordering, .. } = inst.op else {
            return;
        };
        let ty = inst.ty;
        let n = self.words(ty);
        if n == 0 {
            return;
        }
        if ordering != Ordering::NotAtomic {
            let Some(w @ 0..=3) = self.access(ty) else {
                self.thunk(i, dst);
                return;
            };
            let addr = self.address(ptr);
            let base = self.address_slot(addr);
            self.emit(
                [op::aload8, op::aload16, op::aload32, op::aload64][w],
                Mem {
                    reg: dst,
                    base,
                    off: 0,
                },
            );
            self.clear_loaded(dst, ty);
            return;
        }
        if !self.byte_form(ty) {
            self.thunk(i, dst);
            return;
        }
        let addr = self.address(ptr);
        self.transfer(&LOADS, dst, addr, ty);
        self.clear_loaded(dst, ty);
    }

    /// Emits the load or store of a value with a byte form.
    fn transfer(&mut self, handlers: &AccessHandlers, reg: u16, addr: Addr, ty: TypeId) {
        let Some(w) = self.access(ty) else {
            let (base, off) = match addr {
                Addr::Base(b, off) => (b, off),
                other => (self.address_slot(other), 0),
            };
            let bytes = self.m.layout(ty).store as u32;
            self.emit(
                handlers.bytes,
                Memn {
                    reg,
                    base,
                    off,
                    bytes,
                },
            );
            return;
        };
        match addr {
            Addr::Base(base, off) => {
                self.emit(handlers.base[w], Mem { reg, base, off });
            }
            Addr::Index(base, index, scale, off, signed) => {
                let codes = if signed {
                    &handlers.signed_index
                } else {
                    &handlers.index
                };
                self.emit(
                    codes[w],
                    Memx {
                        reg,
                        base,
                        index,
                        scale,
                        off,
                    },
                );
            }
            Addr::Frame(off) => {
                let at = self.emit(handlers.frame[w], Mem { reg, base: 0, off });
                self.frame_fixups.push(at + offset_of!(Enc<Mem>, ops.off));
            }
        }
    }

    fn clear_loaded(&mut self, dst: u16, ty: TypeId) {
        if let Type::Int(bits) = *self.ty(ty) {
            if bits < 64 && width(bits).is_none() {
                self.clear_high(dst, ty);
            } else if bits > 64 && bits % 64 != 0 {
                let mask = (1u64 << (bits % 64)) - 1;
                let dst = dst + self.words(ty) - 1;
                self.emit(op::mask, isa::Dam { dst, a: dst, mask });
            }
        }
    }

    pub(super) fn store(&mut self, i: usize) {
        let Op::Store {
            value,
            ptr,
            ordering,
            ..
        } = self.body.insts[i].op
        else {
            return;
        };
        let ty = self.type_of(value);
        if self.words(ty) == 0 {
            return;
        }
        if ordering != Ordering::NotAtomic {
            let Some(w @ 0..=3) = self.access(ty) else {
                let dst = self.scratch;
                self.thunk(i, dst);
                return;
            };
            let reg = self.operand(value);
            let addr = self.address(ptr);
            let base = self.address_slot(addr);
            let code = if ordering == Ordering::SeqCst {
                [op::sstore8, op::sstore16, op::sstore32, op::sstore64][w]
            } else {
                [op::astore8, op::astore16, op::astore32, op::astore64][w]
            };
            self.emit(code, Mem { reg, base, off: 0 });
            return;
        }
        if !self.byte_form(ty) {
            let dst = self.scratch;
            self.thunk(i, dst);
            return;
        }
        if self.store_result(value, ptr) {
            return;
        }
        let reg = self.operand(value);
        let addr = self.address(ptr);
        self.transfer(&STORES, reg, addr, ty);
    }
}
