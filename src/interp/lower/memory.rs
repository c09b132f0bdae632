//! Addresses, loads, stores, allocas, atomics.

use super::inst::width;
use super::{Lower, analyse::Kind};
use crate::interp::isa::{self, Enc, Mem, Memn, Memx, op};
use crate::ir::{BinOp, GlobalRef, Op, Operand, Ordering, RmwOp, Type, TypeId};
use cranelift_entity::EntityRef;
use std::mem::offset_of;

/// How an address is formed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Addr {
    /// A slot plus a constant.
    Base(u16, i32),
    /// A place in the alloca area.
    Frame(i32),
    /// A slot plus a scaled index plus a constant; the index is a sign-extended i32 when `true`.
    Index(u16, u16, i32, i32, bool),
}

/// The parts of a gep: constant offset and variable terms.
struct Terms {
    off: i64,
    terms: Vec<(Operand, i64)>,
}

impl Lower<'_> {
    fn terms(&self, elem: TypeId, indices: &[Operand]) -> Terms {
        let mut t = Terms {
            off: 0,
            terms: Vec::new(),
        };
        let mut ty = elem;
        for (n, &index) in indices.iter().enumerate() {
            let stride = if n == 0 {
                self.m.layout(elem).size
            } else {
                match self.ty(ty) {
                    Type::Struct { fields, .. } => {
                        let field = self.int_const(index).unwrap_or(0) as usize;
                        t.off += self.m.types.field_offset(ty, field) as i64;
                        ty = fields[field];
                        continue;
                    }
                    Type::Array { elem, .. } => {
                        ty = *elem;
                        self.m.layout(ty).size
                    }
                    Type::Vector { elem, .. } => {
                        ty = *elem;
                        self.m.types.lane_bits(ty) / 8
                    }
                    _ => 0,
                }
            };
            match self.int_const(index) {
                Some(k) => t.off = t.off.wrapping_add(k.wrapping_mul(stride as i64)),
                None if stride == 0 => {}
                None => match self.late(index) {
                    // A constant added to the index.
                    Some(&Op::Binary {
                        op: BinOp::Add,
                        a,
                        b,
                        ..
                    }) if self.int_const(b).is_some() => {
                        let k = self.int_const(b).unwrap_or(0);
                        t.off = t.off.wrapping_add(k.wrapping_mul(stride as i64));
                        t.terms.push((a, stride as i64));
                    }
                    _ => t.terms.push((index, stride as i64)),
                },
            }
        }
        t
    }

    /// A gep that gives a vector of addresses, lane by lane.
    pub(super) fn vector_gep(&mut self, i: usize, dst: u16) -> bool {
        let Op::Gep {
            elem,
            base,
            indices,
        } = &self.body.insts[i].op
        else {
            return false;
        };
        let Type::Vector { len, .. } = *self.ty(self.body.insts[i].ty) else {
            return false;
        };
        let wide = |this: &Self, o: Operand| match this.ty(this.type_of(o)) {
            Type::Vector { elem, .. } => Some(*elem),
            _ => None,
        };
        // Constant vectors are taken as they come: only scalar constants fold.
        let t = self.terms(*elem, indices);
        let start = self.operand(*base);
        let step = u16::from(wide(self, *base).is_some());
        for lane in 0..len as u16 {
            self.displace_into(dst + lane, start + lane * step, t.off);
        }
        for (index, stride) in t.terms {
            let a = self.operand(index);
            let lane = wide(self, index).unwrap_or_else(|| self.type_of(index));
            let Type::Int(bits) = *self.ty(lane) else {
                return false;
            };
            if !matches!(bits, 8 | 16 | 32 | 64) {
                return false;
            }
            let vector = wide(self, index).is_some();
            let (x, k) = (self.temp(1), self.word(stride as u64));
            for lane in 0..len as u16 {
                let mut from = a;
                if vector {
                    let byte = u32::from(a) * 8 + u32::from(lane) * bits / 8;
                    let bytes = isa::Bytes {
                        to: u32::from(x),
                        from: byte,
                        bytes: bits / 8,
                    };
                    match bits {
                        8 => self.emit(op::load_lane8, bytes),
                        16 => self.emit(op::load_lane16, bytes),
                        32 => self.emit(op::load_lane32, bytes),
                        _ => self.emit(
                            op::mov,
                            isa::Da {
                                dst: x,
                                a: a + lane,
                            },
                        ),
                    };
                    from = x;
                }
                if bits < 64 {
                    self.emit(
                        op::sext_bits,
                        isa::Dai {
                            dst: x,
                            a: from,
                            imm: bits as i32,
                        },
                    );
                    from = x;
                }
                self.emit(
                    op::mul64,
                    isa::Dab {
                        dst: x,
                        a: from,
                        b: k,
                    },
                );
                self.emit(
                    op::add64,
                    isa::Dab {
                        dst: dst + lane,
                        a: dst + lane,
                        b: x,
                    },
                );
            }
        }
        true
    }

    fn displace_into(&mut self, dst: u16, a: u16, by: i64) {
        match i32::try_from(by) {
            Ok(imm) => {
                self.emit(op::addi64, isa::Dai { dst, a, imm });
            }
            Err(_) => {
                let b = self.word(by as u64);
                self.emit(op::add64, isa::Dab { dst, a, b });
            }
        }
    }

    /// The address an operand stands for, folding what is produced at its use.
    pub(super) fn address(&mut self, o: Operand) -> Addr {
        let o = self.origin(o);
        let Ok(v) = o.unpack() else {
            return Addr::Base(self.operand(o), 0);
        };
        if !matches!(self.kind[v.index()], Kind::Late | Kind::Address) {
            return Addr::Base(self.operand(o), 0);
        }
        match &self.body.insts[v.index() - self.nparams].op {
            Op::Alloca { .. } => Addr::Frame(self.allocas[&v.as_u32()] as i32),
            Op::Gep {
                elem,
                base,
                indices,
            } => self.gep_address(*elem, *base, indices),
            _ => Addr::Base(self.operand(o), 0),
        }
    }

    fn gep_address(&mut self, elem: TypeId, base: Operand, indices: &[Operand]) -> Addr {
        let t = self.terms(elem, indices);
        let base = self.address(base);
        let mut addr = self.displaced(base, t.off);
        for (index, scale) in t.terms {
            addr = self.indexed(addr, index, scale);
        }
        addr
    }

    fn displaced(&mut self, addr: Addr, by: i64) -> Addr {
        let add = |off: i32| {
            i64::from(off)
                .checked_add(by)
                .and_then(|v| i32::try_from(v).ok())
        };
        match addr {
            Addr::Base(b, off) => match add(off) {
                Some(off) => Addr::Base(b, off),
                None => {
                    let (k, dst) = (self.word(by as u64), self.temp(1));
                    self.emit(op::add64, isa::Dab { dst, a: b, b: k });
                    Addr::Base(dst, off)
                }
            },
            Addr::Frame(off) => match add(off) {
                Some(off) => Addr::Frame(off),
                None => {
                    let b = self.address_slot(addr);
                    self.displaced(Addr::Base(b, 0), by)
                }
            },
            Addr::Index(b, i, scale, off, signed) => match add(off) {
                Some(off) => Addr::Index(b, i, scale, off, signed),
                None => {
                    let b = self.address_slot(addr);
                    self.displaced(Addr::Base(b, 0), by)
                }
            },
        }
    }

    fn indexed(&mut self, addr: Addr, index: Operand, scale: i64) -> Addr {
        let (base, off) = match addr {
            Addr::Base(b, off) => (b, off),
            other => (self.address_slot(other), 0),
        };
        let (slot, signed) = self.index(index);
        match i32::try_from(scale) {
            Ok(scale) => Addr::Index(base, slot, scale, off, signed),
            Err(_) => {
                let wide = if signed {
                    self.sign_extended(slot, 32)
                } else {
                    slot
                };
                let (k, dst) = (self.word(scale as u64), self.temp(1));
                self.emit(op::mul64, isa::Dab { dst, a: wide, b: k });
                Addr::Index(base, dst, 1, off, false)
            }
        }
    }

    /// The slot of a gep index, and whether it is an i32 still to be sign-extended.
    fn index(&mut self, index: Operand) -> (u16, bool) {
        if let Some(Op::Cast {
            op: crate::ir::CastOp::SExt,
            a,
        }) = self.late(index)
        {
            let a = *a;
            if matches!(self.ty(self.type_of(a)), Type::Int(32)) {
                return (self.operand(a), true);
            }
        }
        let slot = self.operand(index);
        match self.ty(self.type_of(index)) {
            Type::Int(32) => (slot, true),
            Type::Int(bits @ 1..=63) => (self.sign_extended(slot, *bits), false),
            _ => (slot, false),
        }
    }

    /// Writes an address to a slot.
    pub(super) fn put_address(&mut self, addr: Addr, dst: u16) {
        match addr {
            Addr::Base(a, 0) => self.mov(dst, a, 1),
            Addr::Base(a, imm) => {
                self.emit(op::addi64, isa::Dai { dst, a, imm });
            }
            Addr::Frame(off) => {
                let at = self.emit(op::lea, isa::Doff { dst, off });
                self.frame_fixups
                    .push(at + offset_of!(Enc<isa::Doff>, ops.off));
            }
            Addr::Index(base, index, scale, off, signed) => {
                let code = if signed { op::gep_s } else { op::gep };
                self.emit(
                    code,
                    Memx {
                        reg: dst,
                        base,
                        index,
                        scale,
                        off,
                    },
                );
            }
        }
    }

    pub(super) fn address_slot(&mut self, addr: Addr) -> u16 {
        if let Addr::Base(a, 0) = addr {
            return a;
        }
        let dst = self.temp(1);
        self.put_address(addr, dst);
        dst
    }

    pub(super) fn gep(&mut self, i: usize, dst: u16) {
        let Op::Gep {
            elem,
            base,
            indices,
        } = &self.body.insts[i].op
        else {
            return;
        };
        let addr = self.gep_address(*elem, *base, indices);
        self.put_address(addr, dst);
    }

    pub(super) fn alloca(&mut self, i: usize, dst: u16) {
        let Op::Alloca { elem, count, align } = self.body.insts[i].op else {
            return;
        };
        if let Some(&off) = self.allocas.get(&((self.nparams + i) as u32)) {
            self.put_address(Addr::Frame(off as i32), dst);
            return;
        }
        let size = self.m.layout(elem).size;
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

    /// Access width index and whether bits above the type's width must be cleared after a load.
    fn access(&self, ty: TypeId) -> Option<usize> {
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
        let Some(w) = self.access(ty) else {
            let (base, off) = match addr {
                Addr::Base(b, off) => (b, off),
                other => (self.address_slot(other), 0),
            };
            let bytes = self.m.layout(ty).store as u32;
            self.emit(
                op::load_bytes,
                Memn {
                    reg: dst,
                    base,
                    off,
                    bytes,
                },
            );
            self.clear_loaded(dst, ty);
            return;
        };
        match addr {
            Addr::Base(base, off) => {
                self.emit(
                    [op::load8, op::load16, op::load32, op::load64, op::load128][w],
                    Mem {
                        reg: dst,
                        base,
                        off,
                    },
                );
            }
            Addr::Index(base, index, scale, off, signed) => {
                let code = if signed {
                    [
                        op::load8s,
                        op::load16s,
                        op::load32s,
                        op::load64s,
                        op::load128s,
                    ][w]
                } else {
                    [
                        op::load8x,
                        op::load16x,
                        op::load32x,
                        op::load64x,
                        op::load128x,
                    ][w]
                };
                self.emit(
                    code,
                    Memx {
                        reg: dst,
                        base,
                        index,
                        scale,
                        off,
                    },
                );
            }
            Addr::Frame(off) => {
                let at = self.emit(
                    [
                        op::load8f,
                        op::load16f,
                        op::load32f,
                        op::load64f,
                        op::load128f,
                    ][w],
                    Mem {
                        reg: dst,
                        base: 0,
                        off,
                    },
                );
                self.frame_fixups.push(at + offset_of!(Enc<Mem>, ops.off));
            }
        }
        self.clear_loaded(dst, ty);
    }

    fn clear_loaded(&mut self, dst: u16, ty: TypeId) {
        if let Type::Int(bits) = *self.ty(ty) {
            if bits < 64 && width(bits).is_none() {
                self.clear_high(dst, ty);
            } else if bits > 64 && bits < 128 {
                let mask = (1u64 << (bits - 64)) - 1;
                self.emit(
                    op::mask,
                    isa::Dam {
                        dst: dst + 1,
                        a: dst + 1,
                        mask,
                    },
                );
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
        let Some(w) = self.access(ty) else {
            let (base, off) = match addr {
                Addr::Base(b, off) => (b, off),
                other => (self.address_slot(other), 0),
            };
            let bytes = self.m.layout(ty).store as u32;
            self.emit(
                op::store_bytes,
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
                self.emit(
                    [
                        op::store8,
                        op::store16,
                        op::store32,
                        op::store64,
                        op::store128,
                    ][w],
                    Mem { reg, base, off },
                );
            }
            Addr::Index(base, index, scale, off, signed) => {
                let code = if signed {
                    [
                        op::store8s,
                        op::store16s,
                        op::store32s,
                        op::store64s,
                        op::store128s,
                    ][w]
                } else {
                    [
                        op::store8x,
                        op::store16x,
                        op::store32x,
                        op::store64x,
                        op::store128x,
                    ][w]
                };
                self.emit(
                    code,
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
                let at = self.emit(
                    [
                        op::store8f,
                        op::store16f,
                        op::store32f,
                        op::store64f,
                        op::store128f,
                    ][w],
                    Mem { reg, base: 0, off },
                );
                self.frame_fixups.push(at + offset_of!(Enc<Mem>, ops.off));
            }
        }
    }

    /// The thread's address of a thread_local variable.
    pub(super) fn tls(&mut self, dst: u16, global: crate::ir::GlobalId, off: i64) {
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
                let id = self.word(u64::from(global.as_u32()));
                let image = self.word(std::ptr::from_ref(self.image) as u64);
                let at = self.emit(
                    op::native,
                    isa::Native {
                        dst,
                        n: 2,
                        target: foreign_tls as *const () as usize,
                        mask: u64::MAX,
                    },
                );
                let _ = at;
                self.tail(&[image, id]);
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

    pub(super) fn thread_local(&self, o: Operand) -> Option<(crate::ir::GlobalId, i64)> {
        let c = o.unpack().err()?;
        if let crate::ir::Const::Global(GlobalRef::Var(g)) = self.m.consts[c]
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

/// The address of another image's thread_local for the calling thread.
extern "C" fn foreign_tls(image: usize, global: usize) -> usize {
    // SAFETY: the lowering passes its image.
    let image = unsafe { &*(image as *const crate::memory::image::Image) };
    image.tls_address(crate::ir::GlobalId::new(global))
}
