//! Members of structure and array values, whose slots have the memory layout.
//!
//! Loads and stores of whole aggregates are in `memory`.

use super::Lowering;
use crate::isa::{self, op};
use ompvm_ir::{Operand, Type, TypeId};

impl Lowering<'_> {
    /// Returns byte offset and type of a member of an aggregate.
    pub(super) fn member(&self, mut ty: TypeId, indices: &[u32]) -> (u32, TypeId) {
        let mut off = 0;
        for &i in indices {
            match self.ty(ty) {
                Type::Struct { fields, .. } => {
                    off += self.m.types.field_offset(ty, i as usize);
                    ty = fields[i as usize];
                }
                Type::Array { elem, .. } => {
                    off += self.m.layout(*elem).size * u64::from(i);
                    ty = *elem;
                }
                _ => {}
            }
        }
        (off as u32, ty)
    }

    /// Returns true if a type has the same bytes in memory and in slots (only the length differs).
    pub(super) fn byte_form(&self, ty: TypeId) -> bool {
        match self.ty(ty) {
            Type::Vector { elem, .. } => {
                let bits = self.m.types.lane_bits(*elem);
                bits >= 8 && bits.is_power_of_two()
            }
            _ => true,
        }
    }

    /// Extracts a member. Members have their memory layout; a member that is a slot of its own is
    /// moved, others are copied bytewise and zero-extended.
    pub(super) fn extract_value(&mut self, dst: u16, agg: Operand, indices: &[u32], ty: TypeId) {
        let (off, _) = self.member(self.type_of(agg), indices);
        let a = self.operand(agg);
        let n = self.words(ty);
        let bytes = self.m.layout(ty).store as u32;
        if !self.byte_form(ty) {
            self.unsupported("a vector of odd lanes inside a structure value");
        } else if off % 8 == 0 && bytes == u32::from(n) * 8 {
            self.mov(dst, a + (off / 8) as u16, n);
        } else {
            // Clears the bytes that the copy does not reach.
            if bytes < u32::from(n) * 8 {
                self.emit(
                    op::zero_words,
                    isa::Dan {
                        dst: dst + n - 1,
                        a: 0,
                        n: 1,
                    },
                );
            }
            self.emit(
                op::mov_bytes,
                isa::Bytes {
                    to: u32::from(dst) * 8,
                    from: u32::from(a) * 8 + off,
                    bytes,
                },
            );
        }
        if matches!(self.ty(ty), Type::Int(1)) {
            self.clear_high(dst, ty);
        }
    }

    pub(super) fn insert_value(
        &mut self,
        dst: u16,
        agg: Operand,
        elem: Operand,
        indices: &[u32],
        ty: TypeId,
    ) {
        let (off, member) = self.member(ty, indices);
        let e = self.operand(elem);
        let n = self.words(ty);
        let undefined = agg.unpack().is_err_and(|c| {
            matches!(
                self.m.consts[c],
                ompvm_ir::Const::Undef | ompvm_ir::Const::Poison
            )
        });
        if !undefined {
            let a = self.operand(agg);
            self.mov(dst, a, n);
        }
        let bytes = self.m.layout(member).store as u32;
        if !self.byte_form(member) {
            self.unsupported("a vector of odd lanes inside a structure value");
        } else if off % 8 == 0 && bytes.is_multiple_of(8) {
            self.mov(dst + (off / 8) as u16, e, (bytes / 8) as u16);
        } else {
            self.emit(
                op::mov_bytes,
                isa::Bytes {
                    to: u32::from(dst) * 8 + off,
                    from: u32::from(e) * 8,
                    bytes,
                },
            );
        }
    }
}
