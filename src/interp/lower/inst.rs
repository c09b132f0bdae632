//! One IR instruction to bytecode: the dispatch over LLVM's instructions, and casts, selects,
//! aggregates, thunks.

use super::{Lower, NONE, analyse::Kind};
use crate::interp::entry::THUNKS;
use crate::interp::frame::{Kept, ThunkSite};
use crate::interp::isa::{self, op};
use crate::ir::{BinOp, CastOp, FloatKind, Op, Operand, Type, TypeId};

/// Index of a width among 8, 16, 32, 64.
pub(super) fn width(bits: u32) -> Option<usize> {
    match bits {
        8 => Some(0),
        16 => Some(1),
        32 => Some(2),
        64 => Some(3),
        _ => None,
    }
}

impl<'a> Lower<'a> {
    /// Emits instruction `i` where it stands, unless it is produced at its uses.
    pub(super) fn statement(&mut self, i: usize) {
        let v = self.nparams + i;
        if self.kind[v] == Kind::Plain {
            let dst = if self.slot[v] == NONE {
                self.scratch
            } else {
                self.slot[v]
            };
            self.produce(i, dst);
        }
    }

    /// Emits instruction `i` with its result at `dst`.
    pub(super) fn produce(&mut self, i: usize, dst: u16) {
        let inst = &self.body.insts[i];
        let ty = inst.ty;
        let vector = matches!(self.ty(ty), Type::Vector { .. });
        match &inst.op {
            Op::Phi { .. } => {}
            Op::Binary { op, a, b, .. } => {
                let done = match self.ty(ty) {
                    Type::Int(bits) => self.int_binary(*op, *bits, dst, *a, *b),
                    Type::Float(kind) => self.float_binary(*op, *kind, dst, *a, *b),
                    Type::Vector { elem, len, .. } => {
                        self.vector_binary(*op, *elem, *len, dst, *a, *b)
                    }
                    _ => false,
                };
                if !done {
                    self.thunk(i, dst);
                }
            }
            Op::FNeg { a } => match self.ty(ty) {
                Type::Float(FloatKind::Double) => self.unary(op::fneg64, dst, *a),
                Type::Float(FloatKind::Float) => self.unary(op::fneg32, dst, *a),
                Type::Vector { .. } if self.vector_fneg(ty, dst, *a) => {}
                _ => self.thunk(i, dst),
            },
            Op::ICmp { pred, a, b } => {
                if vector {
                    if !self.vector_icmp(*pred, dst, *a, *b) {
                        self.thunk(i, dst);
                    }
                } else if !self.icmp(*pred, dst, *a, *b) {
                    self.thunk(i, dst);
                }
            }
            Op::FCmp { pred, a, b } => {
                let done = if vector {
                    self.vector_fcmp(*pred, dst, *a, *b)
                } else {
                    self.fcmp(*pred, dst, *a, *b)
                };
                if !done {
                    self.thunk(i, dst);
                }
            }
            Op::Cast { op, a } => {
                let from = self.type_of(*a);
                let done = if vector || matches!(self.ty(from), Type::Vector { .. }) {
                    self.vector_cast(*op, from, ty, dst, *a)
                } else {
                    self.cast(*op, from, ty, dst, *a)
                };
                if !done {
                    self.thunk(i, dst);
                }
            }
            Op::Freeze { a } => {
                let a = self.operand(*a);
                let n = self.words(ty);
                self.mov(dst, a, n);
            }
            Op::Select { cond, a, b } => {
                if matches!(self.ty(self.type_of(*cond)), Type::Vector { .. }) {
                    if !self.vector_select(ty, dst, *cond, *a, *b) {
                        self.thunk(i, dst);
                    }
                } else {
                    let (c, a, b) = (self.operand(*cond), self.operand(*a), self.operand(*b));
                    match self.words(ty) {
                        0 => {}
                        1 => {
                            self.emit(
                                op::select,
                                isa::Dabc {
                                    dst,
                                    a: c,
                                    b: a,
                                    c: b,
                                },
                            );
                        }
                        n => {
                            self.emit(
                                op::select_words,
                                isa::Dabcn {
                                    dst,
                                    a: c,
                                    b: a,
                                    c: b,
                                    n,
                                },
                            );
                        }
                    }
                }
            }
            Op::Alloca { .. } => self.alloca(i, dst),
            Op::Load { .. } => self.load(i, dst),
            Op::Store { .. } => self.store(i),
            Op::Gep { .. } => {
                if vector {
                    if !self.vector_gep(i, dst) {
                        self.unsupported("a vector of addresses with indices of an odd width");
                    }
                } else {
                    self.gep(i, dst);
                }
            }
            Op::ExtractElement { vector, index } => {
                if !self.extract_element(dst, *vector, *index) {
                    self.thunk(i, dst);
                }
            }
            Op::InsertElement {
                vector,
                elem,
                index,
            } => {
                if !self.insert_element(dst, *vector, *elem, *index) {
                    self.thunk(i, dst);
                }
            }
            Op::ShuffleVector { a, b, mask } => {
                if !self.shuffle(dst, *a, *b, mask) {
                    self.thunk(i, dst);
                }
            }
            Op::ExtractValue { agg, indices } => self.extract_value(dst, *agg, indices, ty),
            Op::InsertValue { agg, elem, indices } => {
                self.insert_value(dst, *agg, *elem, indices, ty);
            }
            Op::Call(call) => self.call(i, call, dst, None),
            Op::Invoke {
                call,
                normal,
                unwind,
            } => {
                self.call(i, call, dst, Some((*normal, *unwind)));
            }
            Op::CallBr {
                fallthrough,
                indirect,
                ..
            } => {
                // The thunk tells the successor in word 0, its result follows.
                let n = self.words(ty);
                let out = self.temp(n + 1);
                self.thunk(i, out);
                self.mov(dst, out + 1, n);
                self.goto(out, *fallthrough, indirect);
            }
            Op::LandingPad { .. } => {}
            Op::Resume { value } => {
                let a = self.operand(*value);
                self.emit(op::resume, isa::A { a });
            }
            Op::Ret { value } => self.ret(*value),
            Op::Br { .. } | Op::CondBr { .. } | Op::Switch { .. } | Op::IndirectBr { .. } => {
                self.branch(i)
            }
            Op::Unreachable => {
                self.emit(op::unreachable, isa::Nil);
            }
            Op::Fence { .. } => {
                self.emit(op::fence, isa::Nil);
            }
            Op::CmpXchg { .. } => {
                if !self.cmpxchg(i, dst) {
                    self.thunk(i, dst);
                }
            }
            Op::AtomicRmw { .. } => {
                if !self.rmw(i, dst) {
                    self.thunk(i, dst);
                }
            }
            Op::VaArg { list } => {
                let a = self.operand(*list);
                match self.ty(ty) {
                    Type::Int(1..=64) | Type::Ptr(_) => {
                        self.emit(op::va_arg_int, isa::Da { dst, a });
                        self.clear_high(dst, ty);
                    }
                    Type::Float(FloatKind::Double) => {
                        self.emit(op::va_arg_double, isa::Da { dst, a });
                    }
                    _ => self.unsupported("va_arg of this type"),
                }
            }
            Op::Unsupported(text) => self.unsupported(text),
        }
    }

    pub(super) fn unary(&mut self, code: isa::Code<isa::Da>, dst: u16, a: Operand) {
        let a = self.operand(a);
        self.emit(code, isa::Da { dst, a });
    }

    /// Clears the bits above an integer type's width.
    pub(super) fn clear_high(&mut self, dst: u16, ty: TypeId) {
        if let Type::Int(bits @ 1..=63) = *self.ty(ty) {
            self.emit(
                op::mask,
                isa::Dam {
                    dst,
                    a: dst,
                    mask: (1 << bits) - 1,
                },
            );
        }
    }

    /// Has LLVM compile this one instruction.
    pub(super) fn thunk(&mut self, i: usize, dst: u16) {
        match THUNKS.get(self.m, self.f, &self.body.insts[i]) {
            Ok(thunk) => {
                let args: Vec<u16> = thunk.operands.iter().map(|&o| self.operand(o)).collect();
                let site = Box::new(ThunkSite {
                    code: thunk.code,
                    args: args.into(),
                });
                let at = std::ptr::from_ref(&*site) as usize;
                self.sites.push(Kept::Thunk(site));
                self.emit(
                    op::thunk,
                    isa::Site {
                        dst,
                        n: 0,
                        site: at,
                    },
                );
            }
            Err(why) => self.unsupported(&why),
        }
    }

    pub(super) fn float_binary(
        &mut self,
        o: BinOp,
        kind: FloatKind,
        dst: u16,
        a: Operand,
        b: Operand,
    ) -> bool {
        let double = match kind {
            FloatKind::Double => true,
            FloatKind::Float => false,
            _ => return false,
        };
        // a * b ± c with the product used only here.
        if matches!(o, BinOp::FAdd | BinOp::FSub) {
            if let Some((x, y)) = self.late_product(a) {
                let code = match (o, double) {
                    (BinOp::FAdd, true) => Some(op::muladd64),
                    (BinOp::FAdd, false) => Some(op::muladd32),
                    (_, true) => Some(op::mulsub64),
                    _ => None,
                };
                if code.is_some() && double && o == BinOp::FAdd {
                    self.multiply_add(false, dst, x, y, b);
                    return true;
                }
                if let Some(code) = code {
                    let (x, y, c) = (self.operand(x), self.operand(y), self.operand(b));
                    self.emit(code, isa::Dabc { dst, a: x, b: y, c });
                    return true;
                }
            } else if let Some((x, y)) = self.late_product(b) {
                let code = match (o, double) {
                    (BinOp::FAdd, true) => Some(op::muladd64),
                    (BinOp::FAdd, false) => Some(op::muladd32),
                    (_, true) => Some(op::negmuladd64),
                    _ => None,
                };
                if code.is_some() && double && o == BinOp::FAdd {
                    self.multiply_add(false, dst, x, y, a);
                    return true;
                }
                if let Some(code) = code {
                    let (x, y, c) = (self.operand(x), self.operand(y), self.operand(a));
                    self.emit(code, isa::Dabc { dst, a: x, b: y, c });
                    return true;
                }
            }
        }
        if double && matches!(o, BinOp::FAdd | BinOp::FSub | BinOp::FMul) {
            self.double_arithmetic(o, false, dst, a, b);
            return true;
        }
        let code = match (o, double) {
            (BinOp::FDiv, true) => op::fdiv64,
            (BinOp::FRem, true) => op::frem64,
            (BinOp::FAdd, false) => op::fadd32,
            (BinOp::FSub, false) => op::fsub32,
            (BinOp::FMul, false) => op::fmul32,
            (BinOp::FDiv, false) => op::fdiv32,
            (BinOp::FRem, false) => op::frem32,
            _ => return false,
        };
        let (a, b) = (self.operand(a), self.operand(b));
        self.emit(code, isa::Dab { dst, a, b });
        true
    }

    fn late_product(&self, o: Operand) -> Option<(Operand, Operand)> {
        match self.late(o)? {
            Op::Binary {
                op: BinOp::FMul,
                a,
                b,
                ..
            } => Some((*a, *b)),
            _ => None,
        }
    }

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
                    // Zero-extended: not negative as the next wider signed integer.
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

    /// Byte offset and type of a member of an aggregate.
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

    /// Whether a type's bytes in memory and in slots are the same (only the length differs).
    pub(super) fn byte_form(&self, ty: TypeId) -> bool {
        match self.ty(ty) {
            Type::Vector { elem, .. } => {
                let bits = self.m.types.lane_bits(*elem);
                bits >= 8 && bits.is_power_of_two()
            }
            _ => true,
        }
    }

    /// Members lie in the aggregate as in memory; a member that is a slot of its own is moved,
    /// others are copied bytewise and zero-extended.
    fn extract_value(&mut self, dst: u16, agg: Operand, indices: &[u32], ty: TypeId) {
        let (off, _) = self.member(self.type_of(agg), indices);
        let a = self.operand(agg);
        let n = self.words(ty);
        let bytes = self.m.layout(ty).store as u32;
        if !self.byte_form(ty) {
            self.unsupported("a vector of odd lanes inside a structure value");
        } else if off % 8 == 0 && bytes == u32::from(n) * 8 {
            self.mov(dst, a + (off / 8) as u16, n);
        } else {
            // Clear what the copy does not reach.
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

    fn insert_value(&mut self, dst: u16, agg: Operand, elem: Operand, indices: &[u32], ty: TypeId) {
        let (off, member) = self.member(ty, indices);
        let e = self.operand(elem);
        let n = self.words(ty);
        let undefined = agg.unpack().is_err_and(|c| {
            matches!(
                self.m.consts[c],
                crate::ir::Const::Undef | crate::ir::Const::Poison
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
