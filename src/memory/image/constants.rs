//! Values of an image's constants, which depend on the addresses of its symbols.
//!
//! Constants are evaluated when an instruction is lowered or a variable is initialized, in the form
//! of slots or of memory.

use super::{Image, is_zero};
use ompvm_ir::{BinOp, CastOp, Const, ConstExpr, ConstId, GlobalId, GlobalRef, Type, TypeId};

impl Image {
    /// Returns the thread_local variable and byte offset that a constant address refers to, if any.
    pub fn tls_constant(&self, id: ConstId) -> Option<(GlobalId, i64)> {
        match &self.module.consts[id] {
            Const::Global(symbol) => match self.resolve_alias(*symbol) {
                GlobalRef::Var(g) if self.module.globals[g].thread_local => Some((g, 0)),
                _ => None,
            },
            Const::Expr(ConstExpr::Gep {
                elem,
                base,
                indices,
            }) => {
                let (g, at) = self.tls_constant(*base)?;
                Some((g, at + self.gep_offset(*elem, indices, 0)))
            }
            Const::Expr(ConstExpr::Cast(_, inner)) => self.tls_constant(*inner),
            _ => None,
        }
    }

    /// Writes a constant in slot form (see the rules in `interp`); `out` has the length of its
    /// slots.
    pub fn const_to_slots(&self, id: ConstId, out: &mut [u64]) {
        out.fill(0);
        let ty = self.module.const_type(id);
        match &self.module.types[ty] {
            Type::Vector { elem, len, .. } => {
                let bits = self.module.types.lane_bits(*elem);
                let stride = bits.div_ceil(8).next_power_of_two();
                let bytes = as_bytes(out);
                for lane in 0..u64::from(*len) {
                    let v = self.lane(id, ty, lane);
                    let at = (lane * stride) as usize;
                    let n = (stride as usize).min(16);
                    bytes[at..at + n].copy_from_slice(&v.to_le_bytes()[..n]);
                }
            }
            Type::Array { .. } | Type::Struct { .. } => {
                let len = self.module.layout(ty).size as usize;
                self.const_to_memory(id, &mut as_bytes(out)[..len]);
            }
            Type::Int(bits) if *bits > 128 => {
                let len = self.module.layout(ty).store as usize;
                self.const_to_memory(id, &mut as_bytes(out)[..len]);
            }
            _ => {
                let v = self.eval(id);
                for (i, slot) in out.iter_mut().take(2).enumerate() {
                    *slot = (v >> (64 * i)) as u64;
                }
            }
        }
    }

    /// Writes a constant in memory form; `out` has at least the constant's store size.
    pub fn const_to_memory(&self, id: ConstId, out: &mut [u8]) {
        let ty = self.module.const_type(id);
        match &self.module.consts[id] {
            Const::Zero | Const::Null | Const::Undef | Const::Poison | Const::Unsupported(_) => {
                out.fill(0);
            }
            Const::Data(bytes) => out[..bytes.len()].copy_from_slice(bytes),
            Const::BigInt(words) => {
                let store = self.module.layout(ty).store as usize;
                for (to, from) in out[..store].chunks_mut(8).zip(words.iter()) {
                    to.copy_from_slice(&from.to_le_bytes()[..to.len()]);
                }
            }
            Const::Aggregate(items) => match &self.module.types[ty] {
                Type::Struct { .. } => {
                    for (i, &item) in items.iter().enumerate() {
                        let at = self.module.types.field_offset(ty, i) as usize;
                        let len = self.module.layout(self.module.const_type(item)).size as usize;
                        self.const_to_memory(item, &mut out[at..at + len]);
                    }
                }
                Type::Array { elem, .. } => {
                    let size = self.module.layout(*elem).size as usize;
                    for (i, &item) in items.iter().enumerate() {
                        if !is_zero(&self.module, item) {
                            self.const_to_memory(item, &mut out[i * size..(i + 1) * size]);
                        }
                    }
                }
                Type::Vector { elem, .. } => {
                    let bits = self.module.types.lane_bits(*elem) as usize;
                    out.fill(0);
                    for (i, &item) in items.iter().enumerate() {
                        put_bits(out, i * bits, bits, self.eval(item));
                    }
                }
                _ => {}
            },
            _ if matches!(self.module.types[ty], Type::Vector { .. }) => {
                if let Type::Vector { elem, len, .. } = &self.module.types[ty] {
                    let bits = self.module.types.lane_bits(*elem) as usize;
                    out.fill(0);
                    for lane in 0..*len as usize {
                        put_bits(out, lane * bits, bits, self.lane(id, ty, lane as u64));
                    }
                }
            }
            _ => {
                let store = (self.module.layout(ty).store as usize).min(16);
                let v = self.eval(id).to_le_bytes();
                out[..store].copy_from_slice(&v[..store]);
            }
        }
    }

    /// Returns one lane of a vector constant.
    fn lane(&self, id: ConstId, ty: TypeId, lane: u64) -> u128 {
        match &self.module.consts[id] {
            Const::Aggregate(items) => self.eval(items[lane as usize]),
            Const::Data(bytes) => {
                let Type::Vector { elem, .. } = &self.module.types[ty] else {
                    return 0;
                };
                let n = self.module.layout(*elem).store as usize;
                let at = lane as usize * n;
                let mut v = [0u8; 16];
                v[..n].copy_from_slice(&bytes[at..at + n]);
                u128::from_le_bytes(v)
            }
            Const::Int(v) | Const::Float(v) => *v, // a splat
            // A vector of addresses.
            Const::Expr(ConstExpr::Gep {
                elem,
                base,
                indices,
            }) => {
                let base = self.scalar_or_lane(*base, lane) as i64;
                base.wrapping_add(self.gep_offset(*elem, indices, lane)) as u64 as u128
            }
            Const::Expr(ConstExpr::Cast(CastOp::BitCast, inner)) => {
                self.lane_of_bits(*inner, ty, lane)
            }
            Const::Expr(ConstExpr::Cast(
                CastOp::IntToPtr | CastOp::PtrToInt | CastOp::PtrToAddr,
                inner,
            )) => self.scalar_or_lane(*inner, lane),
            _ => 0,
        }
    }

    /// Returns one lane of a constant whose bits are those of a vector of type `ty`. The lanes of
    /// the constant itself may have another width.
    fn lane_of_bits(&self, id: ConstId, ty: TypeId, lane: u64) -> u128 {
        let from = self.module.const_type(id);
        let types = &self.module.types;
        let width = |ty: TypeId| match &types[ty] {
            Type::Vector { elem, .. } => types.lane_bits(*elem),
            _ => types.lane_bits(ty),
        };
        let bits = width(ty);
        if bits == width(from) {
            return self.scalar_or_lane(id, lane);
        }
        let mut bytes = vec![0u8; self.module.layout(from).store as usize];
        self.const_to_memory(id, &mut bytes);
        get_bits(&bytes, (lane * bits) as usize, bits as usize)
    }

    /// Returns a scalar constant, or a lane of a vector constant.
    fn scalar_or_lane(&self, id: ConstId, lane: u64) -> u128 {
        let ty = self.module.const_type(id);
        match &self.module.types[ty] {
            Type::Vector { .. } => self.lane(id, ty, lane),
            _ => self.eval(id),
        }
    }

    /// Returns the value of a scalar constant, zero-extended.
    pub fn eval(&self, id: ConstId) -> u128 {
        let ty = self.module.const_type(id);
        let bits = self.scalar_bits(ty);
        let v = match &self.module.consts[id] {
            Const::Int(v) | Const::Float(v) => *v,
            Const::Global(symbol) => self.symbol_address(*symbol) as u128,
            Const::BlockAddress(f, b) => self.code_addresses.label(*f, *b) as u128,
            Const::Expr(e) => self.eval_expr(e, bits),
            Const::Data(_) | Const::Aggregate(_) => {
                let mut bytes = [0u8; 16];
                if self.module.layout(ty).store <= 16 {
                    self.const_to_memory(id, &mut bytes);
                }
                u128::from_le_bytes(bytes)
            }
            _ => 0,
        };
        mask(v, bits)
    }

    fn eval_expr(&self, e: &ConstExpr, bits: u32) -> u128 {
        match e {
            ConstExpr::Gep {
                elem,
                base,
                indices,
            } => {
                let base = self.eval(*base) as i64;
                base.wrapping_add(self.gep_offset(*elem, indices, 0)) as u64 as u128
            }
            ConstExpr::Cast(op, inner) => {
                let v = self.eval(*inner);
                match op {
                    CastOp::SExt => {
                        let from = self.scalar_bits(self.module.const_type(*inner));
                        sign_extend(v, from) as u128
                    }
                    CastOp::Trunc => self.distance(*inner, bits).unwrap_or(v),
                    _ => v,
                }
            }
            ConstExpr::Binary(op, a, b) => {
                let (x, y) = (self.eval(*a), self.eval(*b));
                let (sx, sy) = (sign_extend(x, bits), sign_extend(y, bits));
                let shift = y.min(127) as u32;
                match op {
                    BinOp::Add => x.wrapping_add(y),
                    BinOp::Sub => x.wrapping_sub(y),
                    BinOp::Mul => x.wrapping_mul(y),
                    BinOp::UDiv => x.checked_div(y).unwrap_or(0),
                    BinOp::URem => x.checked_rem(y).unwrap_or(0),
                    BinOp::SDiv => sx.checked_div(sy).unwrap_or(0) as u128,
                    BinOp::SRem => sx.checked_rem(sy).unwrap_or(0) as u128,
                    BinOp::Shl => x << shift,
                    BinOp::LShr => x >> shift,
                    BinOp::AShr => (sx >> shift) as u128,
                    BinOp::And => x & y,
                    BinOp::Or => x | y,
                    BinOp::Xor => x ^ y,
                    _ => 0,
                }
            }
        }
    }

    /// Returns the distance from an address to a function, as relative virtual tables store it in
    /// `bits` bits, through a nearby jump; `None` if the constant is something else or the direct
    /// distance fits.
    fn distance(&self, difference: ConstId, bits: u32) -> Option<u128> {
        let Const::Expr(ConstExpr::Binary(BinOp::Sub, to, from)) = &self.module.consts[difference]
        else {
            return None;
        };
        let Const::Expr(ConstExpr::Cast(CastOp::PtrToInt, function)) = &self.module.consts[*to]
        else {
            return None;
        };
        let Const::Global(GlobalRef::Func(_)) = self.module.consts[*function] else {
            return None;
        };
        let (to, from) = (self.eval(*to) as i64, self.eval(*from) as i64);
        let fits = |distance: i64| i32::try_from(distance).is_ok();
        if bits != 32 || to == 0 || fits(to.wrapping_sub(from)) {
            return None;
        }
        let nearby_jump = self.nearby_jump(to as usize)? as i64;
        Some(nearby_jump.wrapping_sub(from) as u64 as u128)
    }

    fn scalar_bits(&self, ty: TypeId) -> u32 {
        match &self.module.types[ty] {
            Type::Int(bits) => (*bits).min(128),
            Type::Ptr(_) => 64,
            _ => 128,
        }
    }

    /// Returns the byte offset that constant `getelementptr` indices add.
    fn gep_offset(&self, elem: TypeId, indices: &[ConstId], lane: u64) -> i64 {
        let types = &self.module.types;
        let mut at = 0i64;
        let mut ty = elem;
        for (i, &index) in indices.iter().enumerate() {
            let index_ty = self.module.const_type(index);
            let bits = match &types[index_ty] {
                Type::Vector { elem, .. } => self.scalar_bits(*elem),
                _ => self.scalar_bits(index_ty),
            };
            let n = sign_extend(self.scalar_or_lane(index, lane), bits) as i64;
            if i == 0 {
                at = at.wrapping_add(n.wrapping_mul(types.layout(ty).size as i64));
                continue;
            }
            match &types[ty] {
                Type::Struct { fields, .. } => {
                    at = at.wrapping_add(types.field_offset(ty, n as usize) as i64);
                    ty = fields[n as usize];
                }
                Type::Array { elem, .. } | Type::Vector { elem, .. } => {
                    at = at.wrapping_add(n.wrapping_mul(types.layout(*elem).size as i64));
                    ty = *elem;
                }
                _ => {}
            }
        }
        at
    }
}

fn as_bytes(slots: &mut [u64]) -> &mut [u8] {
    // SAFETY: any bytes are valid u64s, and the lengths agree.
    unsafe { std::slice::from_raw_parts_mut(slots.as_mut_ptr().cast(), slots.len() * 8) }
}

fn mask(v: u128, bits: u32) -> u128 {
    if bits >= 128 {
        v
    } else {
        v & ((1 << bits) - 1)
    }
}

fn sign_extend(v: u128, bits: u32) -> i128 {
    let shift = 128 - bits.clamp(1, 128);
    ((v << shift) as i128) >> shift
}

/// Returns `bits` bits of `from`, of which the first is number `at`.
fn get_bits(from: &[u8], at: usize, bits: usize) -> u128 {
    let bit = |i: usize| from.get(i / 8).map_or(0, |byte| byte >> (i % 8) & 1);
    (0..bits.min(128)).fold(0, |v, i| v | u128::from(bit(at + i)) << i)
}

fn put_bits(out: &mut [u8], at: usize, bits: usize, v: u128) {
    if at.is_multiple_of(8) && bits.is_multiple_of(8) {
        let n = bits / 8;
        out[at / 8..at / 8 + n].copy_from_slice(&v.to_le_bytes()[..n]);
        return;
    }
    for i in 0..bits {
        if v >> i & 1 != 0 {
            out[(at + i) / 8] |= 1 << ((at + i) % 8);
        }
    }
}
