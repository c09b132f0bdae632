//! Address formation: folds geps and allocas into their uses.
//!
//! Loads and stores take a base, an index and a constant, so most geps need no instruction.
//! `analyze` decides which of them are postponed to their users.

use super::Lowering;
use super::materialize::Materialization;
use crate::isa::{self, Enc, Memx, op};
use cranelift_entity::EntityRef;
use ompvm_ir::{BinOp, Op, Operand, Type, TypeId};
use std::mem::offset_of;

/// The form of an address.
#[derive(Clone, Copy, Debug)]
pub(super) enum Addr {
    /// A slot plus a constant.
    Base(u16, i32),
    /// An offset in the alloca area.
    Frame(i32),
    /// A slot plus a scaled index plus a constant; if true, the index is a sign-extended i32.
    Index(u16, u16, i32, i32, bool),
}

/// The parts of a gep: constant offset and variable terms.
struct Terms {
    off: i64,
    terms: Vec<(Operand, i64)>,
}

impl Lowering<'_> {
    fn terms(&self, user: usize, elem: TypeId, indices: &[Operand]) -> Terms {
        let mut t = Terms {
            off: 0,
            terms: Vec::new(),
        };
        let mut ty = elem;
        for (n, &index) in indices.iter().enumerate() {
            let before = self.counter_before_sinking(index, user, self.current as u32);
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
                None => match self
                    .postponed(index)
                    .or(before.and_then(|_| self.op_of(index)))
                {
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

    /// Emits a gep whose result is a vector of addresses, lane by lane.
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
        // Constant vectors are not folded; only scalar constants are.
        let t = self.terms(self.nparams + i, *elem, indices);
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

    /// Returns the address of an operand, and folds everything that is produced at its use.
    pub(super) fn address(&mut self, o: Operand) -> Addr {
        let o = self.origin(o);
        let Ok(v) = o.unpack() else {
            return Addr::Base(self.operand(o), 0);
        };
        if !matches!(
            self.kind[v.index()],
            Materialization::AtUse | Materialization::Rematerialized
        ) {
            return Addr::Base(self.operand(o), 0);
        }
        match &self.body.insts[v.index() - self.nparams].op {
            Op::Alloca { .. } => Addr::Frame(self.allocas[&v.as_u32()] as i32),
            Op::Gep {
                elem,
                base,
                indices,
            } => self.gep_address(v.index(), *elem, *base, indices),
            _ => Addr::Base(self.operand(o), 0),
        }
    }

    fn op_of(&self, o: Operand) -> Option<&Op> {
        let i = o.unpack().ok()?.index().checked_sub(self.nparams)?;
        Some(&self.body.insts[i].op)
    }

    fn gep_address(
        &mut self,
        user: usize,
        elem: TypeId,
        base: Operand,
        indices: &[Operand],
    ) -> Addr {
        let t = self.terms(user, elem, indices);
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
            other => self.plain_form(other),
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

    /// Returns the slot of a gep index, and true if it is an i32 that is still to be sign-extended.
    fn index(&mut self, index: Operand) -> (u16, bool) {
        if let Some(Op::Cast {
            op: ompvm_ir::CastOp::SExt,
            a,
        }) = self.postponed(index)
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

    /// Returns an address as a slot and a constant.
    pub(super) fn plain_form(&mut self, addr: Addr) -> (u16, i32) {
        match addr {
            Addr::Base(base, off) => (base, off),
            Addr::Frame(off) if self.area.is_some() => (self.area.unwrap_or(self.scratch), off),
            other => (self.address_slot(other), 0),
        }
    }

    /// Returns a slot that holds an address.
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
        let addr = self.gep_address(self.nparams + i, *elem, *base, indices);
        self.put_address(addr, dst);
    }
}
