//! Conversions of scalars; the caller falls back to a thunk on `false`.
//!
//! Some conversions emit nothing, since a value that only changes its type keeps its slot. Vectors
//! are in `vector`.

use super::Lowering;
use crate::isa::{self, op};
use ompvm_ir::{CastOp, FloatKind, Operand, Type, TypeId};

impl Lowering<'_> {
    pub(super) fn cast(
        &mut self,
        o: CastOp,
        from: TypeId,
        to: TypeId,
        dst: u16,
        a: Operand,
    ) -> bool {
        use FloatKind::{Double, Float};
        use Type::{Int, Ptr};
        let (f, t) = (self.ty(from), self.ty(to));
        let code = match (o, f, t) {
            (
                CastOp::Trunc | CastOp::PtrToInt | CastOp::PtrToAddr,
                Int(_) | Ptr(_),
                Int(bits @ 1..=63),
            ) => {
                if matches!(f, Int(b) if *b > 128) {
                    return false;
                }
                let a = self.operand(a);
                self.emit(
                    op::mask,
                    isa::Dam {
                        dst,
                        a,
                        mask: (1u64 << bits) - 1,
                    },
                );
                return true;
            }
            (CastOp::Trunc, Int(65..=128), Int(64)) => op::mov,
            (CastOp::ZExt | CastOp::IntToPtr, Int(1..=64), Int(65..=128)) => op::zext128,
            (CastOp::SExt, Int(64), Int(128)) => op::sext128,
            (CastOp::SExt, Int(bits @ 1..=63), Int(128)) => {
                let a = self.operand(a);
                let t = self.temp(1);
                self.emit(
                    op::sext_bits,
                    isa::Dai {
                        dst: t,
                        a,
                        imm: *bits as i32,
                    },
                );
                self.emit(op::sext128, isa::Da { dst, a: t });
                return true;
            }
            (CastOp::SExt, Int(f @ 1..=63), Int(t @ 1..=64)) => match (f, t) {
                (8, 16) => op::sext8_16,
                (8, 32) => op::sext8_32,
                (8, 64) => op::sext8_64,
                (16, 32) => op::sext16_32,
                (16, 64) => op::sext16_64,
                (32, 64) => op::sext32_64,
                _ => {
                    let a = self.operand(a);
                    self.emit(
                        op::sext_bits,
                        isa::Dai {
                            dst,
                            a,
                            imm: *f as i32,
                        },
                    );
                    self.clear_high(dst, to);
                    return true;
                }
            },
            (CastOp::FpExt, Type::Float(Float), Type::Float(Double)) => op::f32_f64,
            (CastOp::FpTrunc, Type::Float(Double), Type::Float(Float)) => op::f64_f32,
            (CastOp::FpToSi, Type::Float(k @ (Float | Double)), Int(bits)) => {
                let d = *k == Double;
                match bits {
                    8 => {
                        if d {
                            op::f64_i8
                        } else {
                            op::f32_i8
                        }
                    }
                    16 => {
                        if d {
                            op::f64_i16
                        } else {
                            op::f32_i16
                        }
                    }
                    32 => {
                        if d {
                            op::f64_i32
                        } else {
                            op::f32_i32
                        }
                    }
                    64 => {
                        if d {
                            op::f64_i64
                        } else {
                            op::f32_i64
                        }
                    }
                    _ => return false,
                }
            }
            (CastOp::FpToUi, Type::Float(k @ (Float | Double)), Int(bits)) => {
                let d = *k == Double;
                match bits {
                    8 => {
                        if d {
                            op::f64_u8
                        } else {
                            op::f32_u8
                        }
                    }
                    16 => {
                        if d {
                            op::f64_u16
                        } else {
                            op::f32_u16
                        }
                    }
                    32 => {
                        if d {
                            op::f64_u32
                        } else {
                            op::f32_u32
                        }
                    }
                    64 => {
                        if d {
                            op::f64_u64
                        } else {
                            op::f32_u64
                        }
                    }
                    _ => return false,
                }
            }
            (CastOp::SiToFp, Int(bits), Type::Float(k @ (Float | Double))) => {
                let d = *k == Double;
                match bits {
                    8 => {
                        if d {
                            op::i8_f64
                        } else {
                            op::i8_f32
                        }
                    }
                    16 => {
                        if d {
                            op::i16_f64
                        } else {
                            op::i16_f32
                        }
                    }
                    32 => {
                        if d {
                            op::i32_f64
                        } else {
                            op::i32_f32
                        }
                    }
                    64 => {
                        if d {
                            op::i64_f64
                        } else {
                            op::i64_f32
                        }
                    }
                    _ => return false,
                }
            }
            (CastOp::UiToFp, Int(bits), Type::Float(k @ (Float | Double))) => {
                let d = *k == Double;
                match bits {
                    // Zero-extended, hence not negative as the next wider signed integer.
                    1..=31 => {
                        if d {
                            op::i32_f64
                        } else {
                            op::i32_f32
                        }
                    }
                    32 => {
                        if d {
                            op::u32_f64
                        } else {
                            op::u32_f32
                        }
                    }
                    33..=63 => {
                        if d {
                            op::i64_f64
                        } else {
                            op::i64_f32
                        }
                    }
                    64 => {
                        if d {
                            op::u64_f64
                        } else {
                            op::u64_f32
                        }
                    }
                    _ => return false,
                }
            }
            (CastOp::BitCast, Type::Float(_), Int(bits @ (16 | 32))) => {
                let a = self.operand(a);
                self.emit(
                    op::mask,
                    isa::Dam {
                        dst,
                        a,
                        mask: (1u64 << bits) - 1,
                    },
                );
                return true;
            }
            _ => return false,
        };
        self.unary(code, dst, a);
        true
    }
}
