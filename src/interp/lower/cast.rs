//! Conversions of scalars; the caller falls back to a thunk on `false`.
//!
//! Some conversions emit nothing, since a value that only changes its type keeps its slot. Vectors
//! are in `vector`.

use super::Lowering;
use crate::isa::{self, op};
use ompvm_ir::{CastOp, FloatKind, Operand, Type, TypeId};

impl Lowering<'_> {
    /// Lowers a conversion. Returns false if no instruction does it, for example of widths above
    /// 128 bits.
    pub(super) fn cast(
        &mut self,
        o: CastOp,
        from: TypeId,
        to: TypeId,
        dst: u16,
        a: Operand,
    ) -> bool {
        use Type::{Int, Ptr};
        let (f, t) = (self.ty(from), self.ty(to));
        match (o, f, t) {
            (_, Int(129..), _) => return false,
            (
                CastOp::Trunc | CastOp::PtrToInt | CastOp::PtrToAddr,
                Int(_) | Ptr(_),
                Int(bits @ 1..=63),
            )
            | (CastOp::BitCast, Type::Float(_), Int(bits @ (16 | 32))) => {
                let mask = (1u64 << bits) - 1;
                let a = self.operand(a);
                self.emit(op::mask, isa::Dam { dst, a, mask });
                return true;
            }
            _ => {}
        }
        if let Some(code) = code(o, f, t) {
            self.unary(code, dst, a);
            return true;
        }
        // The remaining widths of sign extension, by the number of bits.
        let (CastOp::SExt, Int(bits @ 1..=63), Int(wide)) = (o, f, t) else {
            return false;
        };
        let (imm, wide) = (*bits as i32, *wide);
        let a = self.operand(a);
        match wide {
            128 => {
                let t = self.temp(1);
                self.emit(op::sext_bits, isa::Dai { dst: t, a, imm });
                self.emit(op::sext128, isa::Da { dst, a: t });
            }
            1..=64 => {
                self.emit(op::sext_bits, isa::Dai { dst, a, imm });
                self.clear_high(dst, to);
            }
            _ => return false,
        }
        true
    }
}

/// Returns the instruction for a conversion that takes one.
fn code(o: CastOp, from: &Type, to: &Type) -> Option<isa::Opcode<isa::Da>> {
    use FloatKind::{Double, Float as Single};
    use Type::{Float, Int};
    Some(match (o, from, to) {
        (CastOp::Trunc, Int(65..=128), Int(64)) => op::mov,
        (CastOp::ZExt | CastOp::IntToPtr, Int(1..=64), Int(65..=128)) => op::zext128,
        (CastOp::SExt, Int(64), Int(128)) => op::sext128,
        (CastOp::SExt, Int(8), Int(16)) => op::sext8_16,
        (CastOp::SExt, Int(8), Int(32)) => op::sext8_32,
        (CastOp::SExt, Int(8), Int(64)) => op::sext8_64,
        (CastOp::SExt, Int(16), Int(32)) => op::sext16_32,
        (CastOp::SExt, Int(16), Int(64)) => op::sext16_64,
        (CastOp::SExt, Int(32), Int(64)) => op::sext32_64,
        (CastOp::FpExt, Float(Single), Float(Double)) => op::f32_f64,
        (CastOp::FpTrunc, Float(Double), Float(Single)) => op::f64_f32,
        (CastOp::FpToSi, Float(Single), Int(8)) => op::f32_i8,
        (CastOp::FpToSi, Float(Single), Int(16)) => op::f32_i16,
        (CastOp::FpToSi, Float(Single), Int(32)) => op::f32_i32,
        (CastOp::FpToSi, Float(Single), Int(64)) => op::f32_i64,
        (CastOp::FpToSi, Float(Double), Int(8)) => op::f64_i8,
        (CastOp::FpToSi, Float(Double), Int(16)) => op::f64_i16,
        (CastOp::FpToSi, Float(Double), Int(32)) => op::f64_i32,
        (CastOp::FpToSi, Float(Double), Int(64)) => op::f64_i64,
        (CastOp::FpToUi, Float(Single), Int(8)) => op::f32_u8,
        (CastOp::FpToUi, Float(Single), Int(16)) => op::f32_u16,
        (CastOp::FpToUi, Float(Single), Int(32)) => op::f32_u32,
        (CastOp::FpToUi, Float(Single), Int(64)) => op::f32_u64,
        (CastOp::FpToUi, Float(Double), Int(8)) => op::f64_u8,
        (CastOp::FpToUi, Float(Double), Int(16)) => op::f64_u16,
        (CastOp::FpToUi, Float(Double), Int(32)) => op::f64_u32,
        (CastOp::FpToUi, Float(Double), Int(64)) => op::f64_u64,
        (CastOp::SiToFp, Int(8), Float(Single)) => op::i8_f32,
        (CastOp::SiToFp, Int(16), Float(Single)) => op::i16_f32,
        (CastOp::SiToFp, Int(32), Float(Single)) => op::i32_f32,
        (CastOp::SiToFp, Int(64), Float(Single)) => op::i64_f32,
        (CastOp::SiToFp, Int(8), Float(Double)) => op::i8_f64,
        (CastOp::SiToFp, Int(16), Float(Double)) => op::i16_f64,
        (CastOp::SiToFp, Int(32), Float(Double)) => op::i32_f64,
        (CastOp::SiToFp, Int(64), Float(Double)) => op::i64_f64,
        // Zero-extended in their slots, hence not negative as the next wider signed integer.
        (CastOp::UiToFp, Int(1..=31), Float(Single)) => op::i32_f32,
        (CastOp::UiToFp, Int(32), Float(Single)) => op::u32_f32,
        (CastOp::UiToFp, Int(33..=63), Float(Single)) => op::i64_f32,
        (CastOp::UiToFp, Int(64), Float(Single)) => op::u64_f32,
        (CastOp::UiToFp, Int(1..=31), Float(Double)) => op::i32_f64,
        (CastOp::UiToFp, Int(32), Float(Double)) => op::u32_f64,
        (CastOp::UiToFp, Int(33..=63), Float(Double)) => op::i64_f64,
        (CastOp::UiToFp, Int(64), Float(Double)) => op::u64_f64,
        _ => return None,
    })
}
