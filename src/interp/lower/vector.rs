//! Vector instructions with handlers; the callers fall back to thunks on `false`.
//!
//! Pairs of doubles have forms of their own, since clang makes them of most loops over doubles.
//! Masks and widths without a handler become thunks.

use super::inst::width;
use super::{Lowering, lane_bytes};
use crate::isa::{self, Dabcn, Dabn, Dan, Opcode, op};
use ompvm_ir::{BinOp, CastOp, FastMath, FloatKind, FloatPred, IntPred, Operand, Type, TypeId};

/// The kind of a lane, with its width index among 8, 16, 32, 64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    Int(usize),
    Float(usize),
    Bit,
}

impl Lowering<'_> {
    /// Returns lane kind and count of a vector that has handlers.
    pub(super) fn lanes(&self, ty: TypeId) -> Option<(Lane, u16)> {
        let Type::Vector {
            elem,
            len,
            scalable: false,
        } = self.ty(ty)
        else {
            return None;
        };
        let len = u16::try_from(*len).ok()?;
        let lane = match self.ty(*elem) {
            Type::Int(1) => Lane::Bit,
            Type::Int(bits) => Lane::Int(width(*bits)?),
            Type::Ptr(_) => Lane::Int(3),
            Type::Float(FloatKind::Float) => Lane::Float(2),
            Type::Float(FloatKind::Double) => Lane::Float(3),
            _ => return None,
        };
        Some((lane, len))
    }

    fn two(&mut self, code: Opcode<Dabn>, dst: u16, a: Operand, b: Operand, n: u16) -> bool {
        let (a, b) = (self.operand(a), self.operand(b));
        self.emit(code, Dabn { dst, a, b, n });
        true
    }

    pub(super) fn vector_binary(
        &mut self,
        o: BinOp,
        elem: TypeId,
        len: u32,
        dst: u16,
        a: Operand,
        b: Operand,
    ) -> bool {
        let ty = self.type_of(a);
        let n = self.words(ty);
        let Some((lane, count)) = self.lanes(ty) else {
            return false;
        };
        let _ = elem;
        if let (Some(codes), Lane::Int(w)) = (division(o), lane) {
            return self.two(codes[w], dst, a, b, count);
        }
        let code = match (o, lane) {
            (BinOp::And, _) => op::vand,
            (BinOp::Or, _) => op::vor,
            (BinOp::Xor, _) => op::vxor,
            (BinOp::FAdd, Lane::Float(w)) => [op::vfadd32, op::vfadd64][w - 2],
            (BinOp::FSub, Lane::Float(w)) => [op::vfsub32, op::vfsub64][w - 2],
            (BinOp::FMul, Lane::Float(w)) => [op::vfmul32, op::vfmul64][w - 2],
            (BinOp::FDiv, Lane::Float(w)) => [op::vfdiv32, op::vfdiv64][w - 2],
            (BinOp::Add, Lane::Int(w)) => [op::vadd8, op::vadd16, op::vadd32, op::vadd64][w],
            (BinOp::Sub, Lane::Int(w)) => [op::vsub8, op::vsub16, op::vsub32, op::vsub64][w],
            (BinOp::Mul, Lane::Int(w)) => [op::vmul8, op::vmul16, op::vmul32, op::vmul64][w],
            (BinOp::Shl, Lane::Int(w)) => [op::vshl8, op::vshl16, op::vshl32, op::vshl64][w],
            (BinOp::LShr, Lane::Int(w)) => [op::vlshr8, op::vlshr16, op::vlshr32, op::vlshr64][w],
            (BinOp::AShr, Lane::Int(w)) => [op::vashr8, op::vashr16, op::vashr32, op::vashr64][w],
            _ => return false,
        };
        if n == 2 && len <= 4 {
            let fixed = match (o, lane) {
                (BinOp::FAdd | BinOp::FSub | BinOp::FMul, Lane::Float(3)) => {
                    return self.double_arithmetic(o, true, dst, a, b);
                }
                (BinOp::FDiv, Lane::Float(3)) => Some(op::v2fdiv),
                (BinOp::Add, Lane::Int(3)) => Some(op::v2add64),
                (BinOp::Add, Lane::Int(2)) => Some(op::v4add32),
                _ => None,
            };
            if let Some(code) = fixed {
                let (a, b) = (self.operand(a), self.operand(b));
                self.emit(code, isa::Dab { dst, a, b });
                return true;
            }
        }
        self.two(code, dst, a, b, n)
    }

    pub(super) fn vector_fneg(&mut self, ty: TypeId, dst: u16, a: Operand) -> bool {
        let Some((Lane::Float(w), _)) = self.lanes(ty) else {
            return false;
        };
        let n = self.words(ty);
        let a = self.operand(a);
        self.emit([op::vfneg32, op::vfneg64][w - 2], Dan { dst, a, n });
        true
    }

    pub(super) fn vector_icmp(&mut self, pred: IntPred, dst: u16, a: Operand, b: Operand) -> bool {
        let Some((Lane::Int(w), n)) = self.lanes(self.type_of(a)) else {
            return false;
        };
        let (pred, a, b) = super::int::swap_greater(pred, a, b);
        let code = match pred {
            IntPred::Eq => [op::veq8, op::veq16, op::veq32, op::veq64],
            IntPred::Ne => [op::vne8, op::vne16, op::vne32, op::vne64],
            IntPred::Ult => [op::vult8, op::vult16, op::vult32, op::vult64],
            IntPred::Ule => [op::vule8, op::vule16, op::vule32, op::vule64],
            IntPred::Slt => [op::vslt8, op::vslt16, op::vslt32, op::vslt64],
            _ => [op::vsle8, op::vsle16, op::vsle32, op::vsle64],
        }[w];
        self.two(code, dst, a, b, n)
    }

    pub(super) fn vector_fcmp(
        &mut self,
        pred: FloatPred,
        dst: u16,
        a: Operand,
        b: Operand,
    ) -> bool {
        let Some((Lane::Float(w), n)) = self.lanes(self.type_of(a)) else {
            return false;
        };
        let (pred, a, b) = match pred {
            FloatPred::Ogt => (FloatPred::Olt, b, a),
            FloatPred::Oge => (FloatPred::Ole, b, a),
            FloatPred::Ult => (FloatPred::Ugt, b, a),
            FloatPred::Ule => (FloatPred::Uge, b, a),
            p => (p, a, b),
        };
        let code = match pred {
            FloatPred::Oeq => [op::vfoeq32, op::vfoeq64],
            FloatPred::Olt => [op::vfolt32, op::vfolt64],
            FloatPred::Ole => [op::vfole32, op::vfole64],
            FloatPred::One => [op::vfone32, op::vfone64],
            FloatPred::Ord => [op::vford32, op::vford64],
            FloatPred::Uno => [op::vfuno32, op::vfuno64],
            FloatPred::Ueq => [op::vfueq32, op::vfueq64],
            FloatPred::Une => [op::vfune32, op::vfune64],
            FloatPred::Ugt => [op::vfugt32, op::vfugt64],
            FloatPred::Uge => [op::vfuge32, op::vfuge64],
            _ => return false,
        }[w - 2];
        self.two(code, dst, a, b, n)
    }

    pub(super) fn vector_select(
        &mut self,
        ty: TypeId,
        dst: u16,
        c: Operand,
        a: Operand,
        b: Operand,
    ) -> bool {
        let Some((lane, n)) = self.lanes(ty) else {
            return false;
        };
        let code = match lane {
            Lane::Bit => op::vselect8,
            Lane::Int(w) | Lane::Float(w) => {
                [op::vselect8, op::vselect16, op::vselect32, op::vselect64][w]
            }
        };
        let (c, a, b) = (self.operand(c), self.operand(a), self.operand(b));
        self.emit(
            code,
            Dabcn {
                dst,
                a: c,
                b: a,
                c: b,
                n,
            },
        );
        true
    }

    pub(super) fn vector_cast(
        &mut self,
        o: CastOp,
        from: TypeId,
        to: TypeId,
        dst: u16,
        a: Operand,
    ) -> bool {
        let (Some((f, n)), Some((t, _))) = (self.lanes(from), self.lanes(to)) else {
            return false;
        };
        let code = match (o, f, t) {
            (CastOp::ZExt, Lane::Bit, Lane::Int(t)) => {
                [op::vzext1_8, op::vzext1_16, op::vzext1_32, op::vzext1_64][t]
            }
            (CastOp::SExt, Lane::Bit, Lane::Int(t)) => {
                [op::vsext1_8, op::vsext1_16, op::vsext1_32, op::vsext1_64][t]
            }
            (CastOp::ZExt, Lane::Int(f), Lane::Int(t)) => match (f, t) {
                (0, 1) => op::vzext8_16,
                (0, 2) => op::vzext8_32,
                (0, 3) => op::vzext8_64,
                (1, 2) => op::vzext16_32,
                (1, 3) => op::vzext16_64,
                (2, 3) => op::vzext32_64,
                _ => return false,
            },
            (CastOp::SExt, Lane::Int(f), Lane::Int(t)) => match (f, t) {
                (0, 1) => op::vsext8_16,
                (0, 2) => op::vsext8_32,
                (0, 3) => op::vsext8_64,
                (1, 2) => op::vsext16_32,
                (1, 3) => op::vsext16_64,
                (2, 3) => op::vsext32_64,
                _ => return false,
            },
            (CastOp::Trunc, Lane::Int(f), Lane::Int(t)) => match (f, t) {
                (1, 0) => op::vtrunc16_8,
                (2, 0) => op::vtrunc32_8,
                (3, 0) => op::vtrunc64_8,
                (2, 1) => op::vtrunc32_16,
                (3, 1) => op::vtrunc64_16,
                (3, 2) => op::vtrunc64_32,
                _ => return false,
            },
            (CastOp::SiToFp, Lane::Int(2), Lane::Float(2)) => op::vi32_f32,
            (CastOp::SiToFp, Lane::Int(2), Lane::Float(3)) => op::vi32_f64,
            (CastOp::SiToFp, Lane::Int(3), Lane::Float(2)) => op::vi64_f32,
            (CastOp::SiToFp, Lane::Int(3), Lane::Float(3)) => op::vi64_f64,
            (CastOp::UiToFp, Lane::Int(2), Lane::Float(2)) => op::vu32_f32,
            (CastOp::UiToFp, Lane::Int(2), Lane::Float(3)) => op::vu32_f64,
            (CastOp::UiToFp, Lane::Int(3), Lane::Float(3)) => op::vu64_f64,
            (CastOp::FpExt, Lane::Float(2), Lane::Float(3)) => op::vf32_f64,
            (CastOp::FpTrunc, Lane::Float(3), Lane::Float(2)) => op::vf64_f32,
            (CastOp::FpToSi, Lane::Float(2), Lane::Int(2)) => op::vf32_i32,
            (CastOp::FpToSi, Lane::Float(3), Lane::Int(2)) => op::vf64_i32,
            (CastOp::FpToSi, Lane::Float(2), Lane::Int(3)) => op::vf32_i64,
            (CastOp::FpToSi, Lane::Float(3), Lane::Int(3)) => op::vf64_i64,
            _ => return false,
        };
        let a = self.operand(a);
        self.emit(code, Dan { dst, a, n });
        true
    }

    /// Returns bytes between lanes and number of lanes of a vector whose lanes are whole bytes.
    fn lane_size(&self, ty: TypeId) -> Option<(u32, u32)> {
        let Type::Vector {
            elem,
            len,
            scalable: false,
        } = self.ty(ty)
        else {
            return None;
        };
        match lane_bytes(self.m, *elem) {
            n @ (1 | 2 | 4 | 8) => Some((n as u32, *len)),
            _ => None,
        }
    }

    pub(super) fn extract_element(&mut self, dst: u16, v: Operand, index: Operand) -> bool {
        let Some((size, len)) = self.lane_size(self.type_of(v)) else {
            return false;
        };
        let a = self.operand(v);
        let Some(k) = self.int_const(index) else {
            if self.int_bits(index).is_none_or(|b| b > 64) {
                return false;
            }
            let index = self.operand(index);
            self.emit(
                op::extract_var,
                isa::Lane {
                    dst,
                    a,
                    b: 0,
                    index,
                    size: size as u16,
                    n: len as u16,
                    words: 0,
                },
            );
            return true;
        };
        let at = k as u64 * u64::from(size);
        if k as u64 >= u64::from(len) {
            return true;
        }
        if size == 8 {
            self.mov(dst, a + k as u16, 1);
        } else {
            let off = u32::from(a) * 8 + at as u32;
            let code = match size {
                1 => op::load_lane8,
                2 => op::load_lane16,
                _ => op::load_lane32,
            };
            self.emit(
                code,
                isa::Bytes {
                    to: u32::from(dst),
                    from: off,
                    bytes: size,
                },
            );
        }
        true
    }

    pub(super) fn insert_element(
        &mut self,
        dst: u16,
        v: Operand,
        elem: Operand,
        index: Operand,
    ) -> bool {
        let ty = self.type_of(v);
        let Some((size, len)) = self.lane_size(ty) else {
            return false;
        };
        let n = self.words(ty);
        let undefined = v.unpack().is_err_and(|c| {
            matches!(
                self.m.consts[c],
                ompvm_ir::Const::Undef | ompvm_ir::Const::Poison
            )
        });
        if let Some(k @ 0..=1) = self.int_const(index)
            && size == 8
            && n == 2
        {
            // The other lane comes from the vector, or from a postponed insertion into it.
            let other = 1 - k;
            let rest = match self.postponed(v) {
                Some(ompvm_ir::Op::InsertElement { elem, index, .. })
                    if self.int_const(*index) == Some(other) =>
                {
                    Some(*elem)
                }
                _ => None,
            };
            if let Some(x) = rest {
                let (a, b) = if k == 0 { (elem, x) } else { (x, elem) };
                if self.pair_of_loads(dst, a, b) {
                    return true;
                }
            }
            let e = self.operand(elem);
            let o = match rest {
                Some(x) => self.operand(x),
                None if undefined => e,
                None => self.operand(v) + other as u16,
            };
            let (a, b) = if k == 0 { (e, o) } else { (o, e) };
            self.emit(op::pair64, isa::Dab { dst, a, b });
            return true;
        }
        let e = self.operand(elem);
        let Some(k) = self.int_const(index) else {
            if self.int_bits(index).is_none_or(|b| b > 64) {
                return false;
            }
            let a = self.operand(v);
            let index = self.operand(index);
            self.emit(
                op::insert_var,
                isa::Lane {
                    dst,
                    a,
                    b: e,
                    index,
                    size: size as u16,
                    n: len as u16,
                    words: n,
                },
            );
            return true;
        };
        if !undefined {
            let a = self.operand(v);
            self.mov(dst, a, n);
        }
        if k as u64 >= u64::from(len) {
            return true;
        }
        if size == 8 {
            self.mov(dst + k as u16, e, 1);
        } else {
            let to = u32::from(dst) * 8 + k as u32 * size;
            self.emit(
                op::mov_bytes,
                isa::Bytes {
                    to,
                    from: u32::from(e) * 8,
                    bytes: size,
                },
            );
        }
        true
    }

    pub(super) fn shuffle(&mut self, dst: u16, a: Operand, b: Operand, mask: &[i32]) -> bool {
        let Some((size, len)) = self.lane_size(self.type_of(a)) else {
            return false;
        };
        let second = mask.iter().any(|&m| m >= len as i32);
        let x = self.operand(a);
        let y = if second { self.operand(b) } else { x };
        let per_slot = 8 / size;
        let lane = |m: i32| -> u32 {
            if m < 0 {
                u32::from(x) * per_slot
            } else if (m as u32) < len {
                u32::from(x) * per_slot + m as u32
            } else {
                u32::from(y) * per_slot + (m as u32 - len)
            }
        };
        if size == 8 && mask.len() == 2 {
            let (p, q) = (lane(mask[0]) as u16, lane(mask[1]) as u16);
            self.emit(op::pair64, isa::Dab { dst, a: p, b: q });
            return true;
        }
        if size == 8 && mask.len() == 4 {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| lane(mask[k]) as u16);
            self.emit(op::quad64, isa::Quad { dst, a, b, c, d });
            return true;
        }
        let code = match size {
            1 => op::shuffle8,
            2 => op::shuffle16,
            4 => op::shuffle32,
            _ => op::shuffle64,
        };
        self.emit(
            code,
            isa::Shuffle {
                dst,
                n: mask.len() as u16,
            },
        );
        for two in mask.chunks(2) {
            let low = u64::from(lane(two[0]));
            let high = two.get(1).map_or(0, |&m| u64::from(lane(m)));
            self.code.push(low | (high << 32));
        }
        true
    }

    pub(super) fn vector_intrinsic(
        &mut self,
        base: &str,
        args: &[Operand],
        dst: u16,
        ret: TypeId,
    ) -> bool {
        let Some((lane, _)) = self.lanes(ret) else {
            return false;
        };
        let n = self.words(ret);
        if let Some(code) = unary_handler(base, lane) {
            return self.one(dst, args[0], n, code);
        }
        if let Some(code) = extremum_handler(base, lane) {
            return self.two(code, dst, args[0], args[1], n);
        }
        let code = match (base, lane) {
            ("fmuladd", Lane::Float(3)) if n == 2 => {
                self.multiply_add(true, dst, args[0], args[1], args[2]);
                return true;
            }
            ("fmuladd", Lane::Float(w)) => [op::vmuladd32, op::vmuladd64][w - 2],
            ("fma", Lane::Float(w)) => [op::vfma32, op::vfma64][w - 2],
            _ => return false,
        };
        let (a, b, c) = (
            self.operand(args[0]),
            self.operand(args[1]),
            self.operand(args[2]),
        );
        self.emit(code, Dabcn { dst, a, b, c, n });
        true
    }

    fn one(&mut self, dst: u16, a: Operand, n: u16, code: Opcode<Dan>) -> bool {
        let a = self.operand(a);
        self.emit(code, Dan { dst, a, n });
        true
    }

    /// Emits a reduction of a vector's lanes. Returns false if no handler exists for it.
    pub(super) fn reduce(
        &mut self,
        name: &str,
        args: &[Operand],
        dst: u16,
        fast: FastMath,
    ) -> bool {
        let what = name.split('.').next().unwrap_or(name);
        let vector = args[args.len() - 1];
        let Some((lane, n)) = self.lanes(self.type_of(vector)) else {
            return false;
        };
        let code = match (what, lane) {
            ("add", Lane::Int(w)) => [op::red_add8, op::red_add16, op::red_add32, op::red_add64][w],
            ("mul", Lane::Int(w @ 2..)) => [op::red_mul32, op::red_mul64][w - 2],
            ("and", Lane::Int(w)) => [op::red_and8, op::red_and16, op::red_and32, op::red_and64][w],
            ("or", Lane::Int(w)) => [op::red_or8, op::red_or16, op::red_or32, op::red_or64][w],
            ("xor", Lane::Int(w)) => [op::red_xor8, op::red_xor16, op::red_xor32, op::red_xor64][w],
            ("and", Lane::Bit) => op::red_and8,
            ("or", Lane::Bit) => op::red_or8,
            ("xor", Lane::Bit) => op::red_xor8,
            ("smax", Lane::Int(w)) => [
                op::red_smax8,
                op::red_smax16,
                op::red_smax32,
                op::red_smax64,
            ][w],
            ("smin", Lane::Int(w)) => [
                op::red_smin8,
                op::red_smin16,
                op::red_smin32,
                op::red_smin64,
            ][w],
            ("umax", Lane::Int(w)) => [
                op::red_umax8,
                op::red_umax16,
                op::red_umax32,
                op::red_umax64,
            ][w],
            ("umin", Lane::Int(w)) => [
                op::red_umin8,
                op::red_umin16,
                op::red_umin32,
                op::red_umin64,
            ][w],
            ("fmax", Lane::Float(w)) => [op::red_fmax32, op::red_fmax64][w - 2],
            ("fmin", Lane::Float(w)) => [op::red_fmin32, op::red_fmin64][w - 2],
            ("fadd" | "fmul", Lane::Float(w)) => {
                // LLVM's code for x86 adds halves if any order is permitted.
                let halves = fast.reassociates();
                let codes = match (what, halves) {
                    ("fadd", false) => [op::red_fadd32, op::red_fadd64],
                    ("fadd", true) => [op::red_fadd_halves32, op::red_fadd_halves64],
                    (_, false) => [op::red_fmul32, op::red_fmul64],
                    (_, true) => [op::red_fmul_halves32, op::red_fmul_halves64],
                };
                return self.two(codes[w - 2], dst, args[0], vector, n);
            }
            _ => return false,
        };
        self.one(dst, vector, n, code)
    }
}

/// Returns the forms of an integer division, by width.
fn division(o: BinOp) -> Option<[Opcode<Dabn>; 4]> {
    Some(match o {
        BinOp::UDiv => [op::vudiv8, op::vudiv16, op::vudiv32, op::vudiv64],
        BinOp::SDiv => [op::vsdiv8, op::vsdiv16, op::vsdiv32, op::vsdiv64],
        BinOp::URem => [op::vurem8, op::vurem16, op::vurem32, op::vurem64],
        BinOp::SRem => [op::vsrem8, op::vsrem16, op::vsrem32, op::vsrem64],
        _ => return None,
    })
}

/// Returns the handler of an intrinsic with one operand.
fn unary_handler(base: &str, lane: Lane) -> Option<Opcode<Dan>> {
    Some(match (base, lane) {
        ("fabs", Lane::Float(w)) => [op::vfabs32, op::vfabs64][w - 2],
        ("sqrt", Lane::Float(w)) => [op::vsqrt32, op::vsqrt64][w - 2],
        ("floor", Lane::Float(w)) => [op::vfloor32, op::vfloor64][w - 2],
        ("ceil", Lane::Float(w)) => [op::vceil32, op::vceil64][w - 2],
        ("trunc", Lane::Float(w)) => [op::vftrunc32, op::vftrunc64][w - 2],
        ("rint" | "nearbyint", Lane::Float(w)) => [op::vrint32, op::vrint64][w - 2],
        ("ctpop", Lane::Int(w)) => [op::vctpop8, op::vctpop16, op::vctpop32, op::vctpop64][w],
        ("ctlz", Lane::Int(w @ 2..)) => [op::vctlz32, op::vctlz64][w - 2],
        ("cttz", Lane::Int(w @ 2..)) => [op::vcttz32, op::vcttz64][w - 2],
        ("bswap", Lane::Int(w @ 1..)) => [op::vbswap16, op::vbswap32, op::vbswap64][w - 1],
        ("abs", Lane::Int(w)) => [op::vabs8, op::vabs16, op::vabs32, op::vabs64][w],
        _ => return None,
    })
}

/// Returns the handler of an integer minimum or maximum.
fn extremum_handler(base: &str, lane: Lane) -> Option<Opcode<Dabn>> {
    let Lane::Int(w) = lane else { return None };
    Some(match base {
        "smin" => [op::vsmin8, op::vsmin16, op::vsmin32, op::vsmin64][w],
        "smax" => [op::vsmax8, op::vsmax16, op::vsmax32, op::vsmax64][w],
        "umin" => [op::vumin8, op::vumin16, op::vumin32, op::vumin64][w],
        "umax" => [op::vumax8, op::vumax16, op::vumax32, op::vumax64][w],
        _ => return None,
    })
}
