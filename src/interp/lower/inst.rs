//! Lowers one IR instruction: the dispatch over LLVM's instructions, scalar floating-point
//! arithmetic, thunks.
//!
//! Thunks spare handlers for instructions that no profile shows. Integers are in `int`, fused
//! operands in `fuse`, intrinsics in `intrinsic`.

use super::control::FusedComparison;
use super::{Label, Lowering, NO_SLOT, materialize::Materialization};
use crate::frame::{SiteData, ThunkSite};
use crate::isa::{self, op};
use crate::process::INTERPRETER;
use ompvm_ir::{BinOp, FloatKind, FloatPred, IntPred, Op, Operand, Type, TypeId};

/// Returns the index of a width among 8, 16, 32, 64.
pub(super) fn width(bits: u32) -> Option<usize> {
    match bits {
        8 => Some(0),
        16 => Some(1),
        32 => Some(2),
        64 => Some(3),
        _ => None,
    }
}

impl<'a> Lowering<'a> {
    /// Emits instruction `i` at its definition, unless it is produced at its uses.
    pub(super) fn statement(&mut self, i: usize) {
        let v = self.nparams + i;
        if self.kind[v] == Materialization::AtDefinition {
            let dst = if self.slot[v] == NO_SLOT {
                self.scratch
            } else {
                self.slot[v]
            };
            self.produce(i, dst);
        }
    }

    /// Emits instruction `i` with its result at `dst`.
    pub(super) fn produce(&mut self, i: usize, dst: u16) {
        if !self.handle(i, dst) {
            self.thunk(i, dst);
        }
    }

    /// Emits instruction `i` with its result at `dst`. Returns false if no handlers exist for it.
    fn handle(&mut self, i: usize, dst: u16) -> bool {
        let inst = &self.body.insts[i];
        let ty = inst.ty;
        match &inst.op {
            Op::Phi { .. } | Op::LandingPad { .. } => {}
            Op::Binary { op, a, b, .. } => return self.binary(*op, ty, dst, *a, *b),
            Op::FNeg { a } => return self.fneg(ty, dst, *a),
            Op::ICmp { pred, a, b } if self.is_vector(ty) => {
                return self.vector_icmp(*pred, dst, *a, *b);
            }
            Op::ICmp { pred, a, b } => return self.icmp(*pred, dst, *a, *b),
            Op::FCmp { pred, a, b } if self.is_vector(ty) => {
                return self.vector_fcmp(*pred, dst, *a, *b);
            }
            Op::FCmp { pred, a, b } => return self.fcmp(*pred, dst, *a, *b),
            Op::Cast { op, a } => {
                let from = self.type_of(*a);
                return if self.is_vector(ty) || self.is_vector(from) {
                    self.vector_cast(*op, from, ty, dst, *a)
                } else {
                    self.cast(*op, from, ty, dst, *a)
                };
            }
            Op::Freeze { a } => {
                let a = self.operand(*a);
                let n = self.words(ty);
                self.mov(dst, a, n);
            }
            Op::Select { cond, a, b } if self.is_vector(self.type_of(*cond)) => {
                return self.vector_select(ty, dst, *cond, *a, *b);
            }
            Op::Select { cond, a, b } => self.select(ty, dst, *cond, *a, *b),
            Op::Alloca { .. } => self.alloca(i, dst),
            Op::Load { .. } => self.load(i, dst),
            Op::Store { .. } => self.store(i),
            Op::Gep { .. } if self.is_vector(ty) => {
                if !self.vector_gep(i, dst) {
                    self.unsupported("a vector of addresses with indices of an odd width");
                }
            }
            Op::Gep { .. } => self.gep(i, dst),
            Op::ExtractElement { vector, index } => {
                return self.extract_element(dst, *vector, *index);
            }
            Op::InsertElement {
                vector,
                elem,
                index,
            } => return self.insert_element(dst, *vector, *elem, *index),
            Op::ShuffleVector { a, b, mask } => return self.shuffle(dst, *a, *b, mask),
            Op::ExtractValue { agg, indices } => self.extract_value(dst, *agg, indices, ty),
            Op::InsertValue { agg, elem, indices } => {
                self.insert_value(dst, *agg, *elem, indices, ty);
            }
            Op::Call(call) => self.call(i, call, dst, None),
            Op::Invoke {
                call,
                normal,
                unwind,
            } => self.call(i, call, dst, Some((*normal, *unwind))),
            Op::CallBr {
                fallthrough,
                indirect,
                ..
            } => {
                // The thunk returns the successor's number in word 0, and its result after it.
                let n = self.words(ty);
                let out = self.temp(n + 1);
                self.thunk(i, out);
                self.mov(dst, out + 1, n);
                self.asm_goto(out, *fallthrough, indirect);
            }
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
            Op::CmpXchg { .. } => return self.cmpxchg(i, dst),
            Op::AtomicRmw { .. } => return self.rmw(i, dst),
            Op::VaArg { list } => self.va_arg(ty, dst, *list),
            Op::Unsupported(text) => self.unsupported(text),
        }
        true
    }

    fn is_vector(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), Type::Vector { .. })
    }

    fn binary(&mut self, o: BinOp, ty: TypeId, dst: u16, a: Operand, b: Operand) -> bool {
        match self.ty(ty) {
            Type::Int(bits) => self.int_binary(o, *bits, dst, a, b),
            Type::Float(kind) => self.float_binary(o, *kind, dst, a, b),
            Type::Vector { elem, len, .. } => self.vector_binary(o, *elem, *len, dst, a, b),
            _ => false,
        }
    }

    fn fneg(&mut self, ty: TypeId, dst: u16, a: Operand) -> bool {
        match self.ty(ty) {
            Type::Float(FloatKind::Double) => self.unary(op::fneg64, dst, a),
            Type::Float(FloatKind::Float) => self.unary(op::fneg32, dst, a),
            Type::Vector { .. } => return self.vector_fneg(ty, dst, a),
            _ => return false,
        }
        true
    }

    /// Emits a selection by one condition.
    fn select(&mut self, ty: TypeId, dst: u16, cond: Operand, a: Operand, b: Operand) {
        let n = self.words(ty);
        let quotients = [a, b].map(|o| self.postponed_quotient(o));
        if quotients.iter().any(Option::is_some) {
            let cond = self.operand(cond);
            let [b, c] =
                [(a, true), (b, false)].map(|(o, wanted)| match quotients[usize::from(!wanted)] {
                    Some((x, y)) => self.quotient_if(cond, wanted, ty, x, y),
                    None => self.operand(o),
                });
            self.emit(op::select, isa::Dabc { dst, a: cond, b, c });
            return;
        }
        if n == 1 && self.selection(dst, cond, a, b) {
            return;
        }
        // The handlers read the condition from `a` and the values from `b` and `c`.
        let (a, b, c) = (self.operand(cond), self.operand(a), self.operand(b));
        match n {
            0 => {}
            1 => {
                self.emit(op::select, isa::Dabc { dst, a, b, c });
            }
            n => {
                self.emit(op::select_words, isa::Dabcn { dst, a, b, c, n });
            }
        }
    }

    fn va_arg(&mut self, ty: TypeId, dst: u16, list: Operand) {
        let a = self.operand(list);
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

    /// Emits `dst = x pred y ? a : b` for a comparison used only here.
    fn selection(&mut self, dst: u16, cond: Operand, a: Operand, b: Operand) -> bool {
        let slots = [
            (op::br_eq.number, op::sel_eq),
            (op::br_ult.number, op::sel_ult),
            (op::br_slt32.number, op::sel_slt32),
            (op::br_slt64.number, op::sel_slt64),
            (op::br_folt64.number, op::sel_folt64),
            (op::br_fole64.number, op::sel_fole64),
        ];
        let numbers = [
            (op::br_eqi.number, op::sel_eqi),
            (op::br_ulti.number, op::sel_ulti),
            (op::br_slti32.number, op::sel_slti32),
            (op::br_slti64.number, op::sel_slti64),
            (op::br_test.number, op::sel_test),
        ];
        if !self.selects(cond) {
            return false;
        }
        let (yes, no) = (Label::from_number(0), Label::from_number(1));
        let (mut then, mut els) = (yes, no);
        let test = self.fused_comparison(cond, &mut then, &mut els);
        let (mut a, mut b) = (self.operand(a), self.operand(b));
        if then == no {
            (a, b) = (b, a);
        }
        match test {
            Some(FusedComparison::Slots(code, x, y)) => {
                let Some(&(_, code)) = slots.iter().find(|t| t.0 == code.number) else {
                    ompvm_support::bug!("a selection by {}", code.number)
                };
                self.emit(code, isa::Sel { dst, x, y, a, b });
            }
            Some(FusedComparison::Imm(code, x, imm)) => {
                let Some(&(_, code)) = numbers.iter().find(|t| t.0 == code.number) else {
                    ompvm_support::bug!("a selection by {}", code.number)
                };
                self.emit(code, isa::Seli { dst, x, a, b, imm });
            }
            None => ompvm_support::bug!("a selection by something else"),
        }
        true
    }

    /// Returns true if a condition is a comparison that can be fused into a selection.
    fn selects(&self, cond: Operand) -> bool {
        match self.postponed(cond) {
            Some(&Op::ICmp { pred, a, b }) => {
                let Some(bits) = self.int_bits(a) else {
                    return false;
                };
                let signed = matches!(
                    pred,
                    IntPred::Slt | IntPred::Sle | IntPred::Sgt | IntPred::Sge
                );
                let strict = !matches!(
                    pred,
                    IntPred::Sle | IntPred::Sge | IntPred::Ule | IntPred::Uge
                );
                let number = self.imm(a).or(self.imm(b));
                (bits == 64 || bits == 32 || bits < 32 && !signed)
                    && !self.may_have_high_bits(a)
                    && !self.may_have_high_bits(b)
                    && (strict || number.is_some_and(|n| (0..i32::MAX).contains(&n)))
            }
            Some(&Op::FCmp { pred, a, .. }) => {
                use FloatPred::{Oge, Ogt, Ole, Olt, Uge, Ugt, Ule, Ult};
                matches!(pred, Oge | Ogt | Ole | Olt | Uge | Ugt | Ule | Ult)
                    && matches!(self.ty(self.type_of(a)), Type::Float(FloatKind::Double))
            }
            _ => false,
        }
    }

    pub(super) fn unary(&mut self, code: isa::Opcode<isa::Da>, dst: u16, a: Operand) {
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

    /// Emits the call of a thunk for this instruction.
    pub(super) fn thunk(&mut self, i: usize, dst: u16) {
        match INTERPRETER
            .thunks
            .get(self.m, self.f, &self.body.insts[i], Some(self.image))
        {
            Ok(thunk) => {
                let args: Vec<u16> = thunk.operands.iter().map(|&o| self.operand(o)).collect();
                let site = Box::new(ThunkSite {
                    code: thunk.code,
                    args: args.into(),
                    words: thunk
                        .operands
                        .iter()
                        .map(|&o| self.words(self.type_of(o)))
                        .collect(),
                });
                let at = std::ptr::from_ref(&*site) as usize;
                self.sites.push(SiteData::Thunk(site));
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
        // a * b ± c with a product that is used only here.
        if matches!(o, BinOp::FAdd | BinOp::FSub) {
            if let Some((x, y)) = self.postponed_product(a) {
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
            } else if let Some((x, y)) = self.postponed_product(b) {
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
        if double && self.double_arithmetic(o, false, dst, a, b) {
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

    /// Emits `x / y` for a selection that takes it if `cond` is `wanted`, else `x / 1.0`.
    ///
    /// clang makes a selection of `if (y != 0) r = x / y`, whose division takes place in any case,
    /// and LLVM's code generator makes a branch of that again. Programs test the flags of
    /// floating-point exceptions, and make them trap, so the division must not raise any.
    fn quotient_if(&mut self, cond: u16, wanted: bool, ty: TypeId, x: Operand, y: Operand) -> u16 {
        let double = self.is_double(ty);
        let one = match double {
            true => 1f64.to_bits(),
            false => u64::from(1f32.to_bits()),
        };
        let (y, one) = (self.operand(y), self.word(one));
        let (b, c) = if wanted { (y, one) } else { (one, y) };
        let divisor = self.temp(1);
        self.emit(
            op::select,
            isa::Dabc {
                dst: divisor,
                a: cond,
                b,
                c,
            },
        );
        let (a, dst) = (self.operand(x), self.temp(1));
        let code = if double { op::fdiv64 } else { op::fdiv32 };
        self.emit(code, isa::Dab { dst, a, b: divisor });
        dst
    }

    fn postponed_quotient(&self, o: Operand) -> Option<(Operand, Operand)> {
        match self.postponed(o)? {
            Op::Binary {
                op: BinOp::FDiv,
                a,
                b,
                ..
            } => Some((*a, *b)),
            _ => None,
        }
    }

    pub(super) fn postponed_product(&self, o: Operand) -> Option<(Operand, Operand)> {
        match self.postponed(o)? {
            Op::Binary {
                op: BinOp::FMul,
                a,
                b,
                ..
            } => Some((*a, *b)),
            _ => None,
        }
    }
}
