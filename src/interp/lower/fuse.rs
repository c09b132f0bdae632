//! Loads, sums and splats that are not instructions of their own but operands of their user.
//!
//! What: [`Lower::fuse`] postpones a load of a double (or of two) to the arithmetic that is its
//! only user, arithmetic to the store that is its only user, and a constant added to an index
//! to the address; the methods below then choose an instruction that does both. Why: what a
//! bytecode instruction costs is mostly its dispatch and its way through the frame.
//! A load moves past other instructions only where none of them can write memory or trap.
//! What not: integers, floats and wider vectors: no profile asked for them so far.

use super::Lower;
use super::address::Addr;
use super::analyse::Kind;
use crate::interp::isa::{self, Code, Fcx, Fm, Fx, Fxx, op};
use crate::ir::TypeId;
use crate::ir::{
    BinOp, Call, Callee, CastOp, Const, FloatKind, GlobalRef, Op, Operand, Ordering, Type,
};
use cranelift_entity::EntityRef;

/// The forms of a binary operation with a loaded right operand.
pub(super) struct Loading {
    plain: Code<isa::Dab>,
    base: Code<Fm>,
    index: Code<Fx>,
}

/// Intrinsics, without their prefix, that neither write memory nor go anywhere.
const PURE: [&str; 16] = [
    "fmuladd.",
    "fma.",
    "fabs.",
    "sqrt.",
    "smax.",
    "smin.",
    "umax.",
    "umin.",
    "floor.",
    "ceil.",
    "copysign.",
    "abs.",
    "dbg.",
    "lifetime.",
    "assume",
    "vector.reduce.",
];

impl<'a> Lower<'a> {
    fn intrinsic_name(&self, call: &Call) -> Option<&'a str> {
        match call.callee {
            Callee::Symbol(GlobalRef::Func(f)) => self.m.functions[f].name.strip_prefix("llvm."),
            _ => None,
        }
    }

    pub(super) fn is_double(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), Type::Float(FloatKind::Double))
    }

    fn is_pair(&self, ty: TypeId) -> bool {
        match self.ty(ty) {
            Type::Vector {
                elem,
                len: 2,
                scalable: false,
            } => self.is_double(*elem),
            _ => false,
        }
    }

    /// Whether loads may not move past the instruction.
    fn is_barrier(&self, op: &Op) -> bool {
        match op {
            Op::Store { .. }
            | Op::AtomicRmw { .. }
            | Op::CmpXchg { .. }
            | Op::Fence { .. }
            | Op::Invoke { .. }
            | Op::CallBr { .. }
            | Op::VaArg { .. }
            | Op::Unsupported(_) => true,
            Op::Load {
                volatile, ordering, ..
            } => *volatile || *ordering != Ordering::NotAtomic,
            Op::Call(call) => !self
                .intrinsic_name(call)
                .is_some_and(|n| PURE.iter().any(|p| n.starts_with(p))),
            Op::Binary { op, .. } => {
                matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem)
            }
            _ => false,
        }
    }

    /// Whether the instruction is arithmetic that takes a loaded operand.
    fn takes_load(&self, op: &Op) -> bool {
        match op {
            Op::Binary { op, .. } => matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul),
            Op::Call(call) => self
                .intrinsic_name(call)
                .is_some_and(|n| n.starts_with("fmuladd.")),
            _ => false,
        }
    }

    /// Whether the instruction multiplies the negated double of instruction `i`, once.
    pub(super) fn takes_negated(&self, op: &Op, i: usize) -> bool {
        let is = |o: Operand| o.unpack().is_ok_and(|v| v.index() == self.nparams + i);
        match op {
            Op::Binary {
                op: BinOp::FMul,
                a,
                b,
                ..
            } => is(*a) != is(*b),
            Op::Call(call) => {
                self.intrinsic_name(call)
                    .is_some_and(|n| n.starts_with("fmuladd."))
                    && !is(call.args[2])
                    && is(call.args[0]) != is(call.args[1])
            }
            _ => false,
        }
    }

    /// What a postponed negation negates.
    fn negated(&self, o: Operand) -> Option<Operand> {
        match self.late(o)? {
            Op::FNeg { a } => Some(*a),
            _ => None,
        }
    }

    /// Whether the instruction puts double `v` into a pair.
    fn pairs(&self, op: &Op, v: usize) -> bool {
        match op {
            Op::InsertElement {
                vector,
                elem,
                index,
            } => {
                self.is_pair(self.type_of(*vector))
                    && self.int_const(*index).is_some()
                    && elem.unpack().is_ok_and(|e| e.index() == v)
            }
            _ => false,
        }
    }

    /// Whether the value of a load is, sign-extended, only the index of a postponed load of a
    /// double that is multiplied by another postponed load.
    fn is_gathered(&self, extension: usize, last_user: &[u32]) -> bool {
        let late = |i: usize| self.kind[self.nparams + i] == Kind::Late;
        let user = |i: usize| {
            (last_user[self.nparams + i] != u32::MAX)
                .then_some(last_user[self.nparams + i] as usize)
        };
        let op = |i: usize| &self.body.insts[i].op;
        if !late(extension)
            || !matches!(
                op(extension),
                Op::Cast {
                    op: CastOp::SExt,
                    ..
                }
            )
        {
            return false;
        }
        let Some(gep) = user(extension).filter(|&g| late(g) && matches!(op(g), Op::Gep { .. }))
        else {
            return false;
        };
        let Some(load) = user(gep).filter(|&l| late(l) && matches!(op(l), Op::Load { .. })) else {
            return false;
        };
        let Some(Op::Call(call)) = user(load).map(op) else {
            return false;
        };
        let v = self.nparams + load;
        let is = |o: Operand| o.unpack().is_ok_and(|o| o.index() == v);
        match call.args[..] {
            [a, b, _] => is(a) != is(b),
            _ => false,
        }
    }

    /// Postpones what its user can do along with its own work.
    pub(super) fn fuse(&mut self, uses: &[u32], last_user: &[u32]) {
        let mut place: Vec<u32> = (0..self.body.insts.len() as u32).collect();
        for (b, block) in self.body.blocks.iter().enumerate() {
            let mut barrier = u32::MAX;
            for i in (block.start..block.end).rev() {
                let (v, inst) = (self.nparams + i as usize, &self.body.insts[i as usize]);
                let user = last_user[v];
                let local = uses[v] == 1
                    && user != u32::MAX
                    && self.block_of[self.nparams + user as usize] as usize == b;
                if local && self.kind[v] == Kind::Plain {
                    let by = &self.body.insts[user as usize].op;
                    let postponed = match &inst.op {
                        Op::Load {
                            volatile: false,
                            ordering: Ordering::NotAtomic,
                            ..
                        } => {
                            let taken = match self.ty(inst.ty) {
                                Type::Int(32) => self.is_gathered(user as usize, last_user),
                                _ => {
                                    (self.is_double(inst.ty) || self.is_pair(inst.ty))
                                        && (self.takes_load(by) || self.pairs(by, v))
                                }
                            };
                            taken && barrier >= place[user as usize]
                        }
                        Op::Binary {
                            op: BinOp::Add, b, ..
                        } => {
                            matches!(by, Op::Gep { base, .. } if base.unpack().ok().is_none_or(|o| o.index() != v))
                                && matches!(self.ty(inst.ty), Type::Int(64))
                                && self.imm(*b).is_some()
                        }
                        o if self.is_double(inst.ty) && self.takes_load(o) => matches!(
                            by,
                            Op::Store {
                                volatile: false,
                                ordering: Ordering::NotAtomic,
                                ..
                            }
                        ),
                        _ => false,
                    };
                    if postponed {
                        self.kind[v] = Kind::Late;
                    }
                }
                if local && self.kind[v] == Kind::Late {
                    place[i as usize] = place[user as usize];
                }
                if self.is_barrier(&inst.op) {
                    barrier = i;
                }
            }
        }
    }

    /// Whether a use of the pair `o` by `op` can take one double for both lanes.
    pub(super) fn scales(&self, op: &Op, o: Operand) -> bool {
        let product = match op {
            Op::Binary {
                op: BinOp::FMul, ..
            } => true,
            Op::Call(call) => self.takes_load(op) && call.args[2] != o,
            _ => false,
        };
        product && self.is_pair(self.type_of(o))
    }

    /// The double in lane 0 of a vector made only for that.
    fn lane_zero(&self, o: Operand) -> Option<(usize, Operand)> {
        let v = o.unpack().ok()?.index();
        let Op::InsertElement {
            vector,
            elem,
            index,
        } = &self.body.insts[v.checked_sub(self.nparams)?].op
        else {
            return None;
        };
        let fresh = vector
            .unpack()
            .is_err_and(|c| matches!(self.m.consts[c], Const::Undef | Const::Poison));
        (fresh && self.int_const(*index) == Some(0)).then_some((v, *elem))
    }

    /// Whether the shuffle is one double in both lanes, from a vector used for nothing else.
    pub(super) fn is_splat(&self, i: usize, uses: &[u32]) -> Option<usize> {
        let inst = &self.body.insts[i];
        let Op::ShuffleVector { a, mask, .. } = &inst.op else {
            return None;
        };
        if !self.is_pair(inst.ty) || !self.is_pair(self.type_of(*a)) || mask[..] != [0, 0] {
            return None;
        }
        let (v, _) = self.lane_zero(*a)?;
        (uses[v] == 1).then_some(v)
    }

    /// The double that a postponed splat has in both lanes.
    fn splat(&self, o: Operand) -> Option<Operand> {
        let Op::ShuffleVector { a, .. } = self.late(o)? else {
            return None;
        };
        self.lane_zero(*a).map(|(_, elem)| elem)
    }

    /// The address of a postponed load, which the caller's instruction then performs; none when
    /// that is in the frame, which few instructions can name.
    fn loaded(&mut self, o: Operand) -> Option<Addr> {
        let Op::Load { ptr, .. } = self.late(o)? else {
            return None;
        };
        let ptr = *ptr;
        let inst = o.unpack().ok()?.index() - self.nparams;
        let addr = self.address(ptr);
        if matches!(addr, Addr::Frame(_)) {
            return None;
        }
        self.note_line(inst);
        Some(addr)
    }

    /// As [`Self::loaded`], with an address in the frame put into a slot.
    fn loaded_anywhere(&mut self, o: Operand) -> Option<Addr> {
        if let Some(addr) = self.loaded(o) {
            return Some(addr);
        }
        let Op::Load { ptr, .. } = self.late(o)? else {
            return None;
        };
        let ptr = *ptr;
        let addr = self.address(ptr);
        let slot = self.address_slot(addr);
        Some(Addr::Base(slot, 0))
    }

    /// An address as a slot and a constant.
    pub(super) fn plain_form(&mut self, addr: Addr) -> (u16, i32) {
        match addr {
            Addr::Base(base, off) => (base, off),
            Addr::Frame(off) if self.area.is_some() => (self.area.unwrap_or(self.scratch), off),
            other => (self.address_slot(other), 0),
        }
    }

    /// Splits an address; a signed index is extended first.
    fn indexed_form(&mut self, addr: Addr) -> Result<(u16, i32), (u16, u16, i32, i32)> {
        match addr {
            Addr::Base(base, off) => Ok((base, off)),
            Addr::Frame(_) => Ok((self.address_slot(addr), 0)),
            Addr::Index(base, index, scale, off, signed) => {
                let index = if signed {
                    self.sign_extended(index, 32)
                } else {
                    index
                };
                Err((base, index, scale, off))
            }
        }
    }

    /// `dst = a op b` on doubles or pairs of them, either operand loaded.
    pub(super) fn double_arithmetic(
        &mut self,
        o: BinOp,
        pair: bool,
        dst: u16,
        a: Operand,
        b: Operand,
    ) {
        let (forward, backward) = self.loading(o, pair);
        if pair && o == BinOp::FMul {
            for (x, y) in [(a, b), (b, a)] {
                if let Some(s) = self.splat(x) {
                    let (a, b) = (self.operand(s), self.operand(y));
                    self.emit(op::v2scale, isa::Dab { dst, a, b });
                    return;
                }
            }
        }
        if !pair && o == BinOp::FMul {
            for (x, y) in [(a, b), (b, a)] {
                if let Some(x) = self.negated(x) {
                    let (a, b) = (self.operand(x), self.operand(y));
                    self.emit(op::negmul64, isa::Dab { dst, a, b });
                    return;
                }
            }
        }
        if !pair
            && self.loads(a)
            && self.loads(b)
            && let Some(code) = match o {
                BinOp::FAdd => Some(op::fadd64_xx),
                BinOp::FSub => Some(op::fsub64_xx),
                BinOp::FMul => Some(op::fmul64_xx),
                _ => None,
            }
            && let Some(ops) = self.two_loaded(dst, 0, a, b)
        {
            self.emit(code, ops);
            return;
        }
        let (codes, a, addr) = if let Some(addr) = self.loaded(b) {
            (forward, a, addr)
        } else if let Some(addr) = self.loaded(a) {
            (backward, b, addr)
        } else {
            let (a, b) = (self.operand(a), self.operand(b));
            self.emit(forward.plain, isa::Dab { dst, a, b });
            return;
        };
        let a = self.operand(a);
        match self.indexed_form(addr) {
            Ok((base, off)) => {
                let (c, code) = (0, codes.base);
                self.emit(
                    code,
                    Fm {
                        dst,
                        a,
                        c,
                        base,
                        off,
                    },
                );
            }
            Err((base, index, scale, off)) => {
                let ops = Fx {
                    dst,
                    a,
                    base,
                    index,
                    scale,
                    off,
                };
                self.emit(codes.index, ops);
            }
        }
    }

    fn loading(&self, o: BinOp, pair: bool) -> (Loading, Loading) {
        let form = |plain, base, index| Loading { plain, base, index };
        let twice = |plain, base, index| (form(plain, base, index), form(plain, base, index));
        match (o, pair) {
            (BinOp::FAdd, false) => twice(op::fadd64, op::fadd64_m, op::fadd64_x),
            (BinOp::FMul, false) => twice(op::fmul64, op::fmul64_m, op::fmul64_x),
            (_, false) => (
                form(op::fsub64, op::fsub64_m, op::fsub64_x),
                form(op::fsub64, op::frsub64_m, op::frsub64_x),
            ),
            (BinOp::FAdd, true) => twice(op::v2fadd, op::v2fadd_m, op::v2fadd_x),
            (BinOp::FMul, true) => twice(op::v2fmul, op::v2fmul_m, op::v2fmul_x),
            (_, true) => (
                form(op::v2fsub, op::v2fsub_m, op::v2fsub_x),
                form(op::v2fsub, op::v2frsub_m, op::v2frsub_x),
            ),
        }
    }

    /// `dst = x * y + c` on doubles or pairs, one operand loaded, a factor splat.
    pub(super) fn multiply_add(
        &mut self,
        pair: bool,
        dst: u16,
        x: Operand,
        y: Operand,
        c: Operand,
    ) {
        if pair {
            for (x, y) in [(x, y), (y, x)] {
                let Some(s) = self.splat(x) else { continue };
                let loaded = self.loaded(y).map(|addr| self.plain_form(addr));
                let (a, c) = (self.operand(s), self.operand(c));
                if let Some((base, off)) = loaded {
                    self.emit(
                        op::v2scaleadd_m,
                        Fm {
                            dst,
                            a,
                            c,
                            base,
                            off,
                        },
                    );
                } else {
                    let b = self.operand(y);
                    self.emit(op::v2scaleadd, isa::Dabc { dst, a, b, c });
                }
                return;
            }
        }
        if !pair {
            for (x, y) in [(x, y), (y, x)] {
                let Some(x) = self.negated(x) else { continue };
                self.subtract_product(dst, x, y, c);
                return;
            }
            if self.gather(dst, x, y, c) || self.gather(dst, y, x, c) {
                return;
            }
            if self.loads(x) && self.loads(y) {
                let slot = self.operand(c);
                if let Some(ops) = self.two_loaded(dst, slot, x, y) {
                    self.emit(op::muladd64_xx, ops);
                    return;
                }
            }
        }
        let factor = match self.loaded(y) {
            Some(addr) => Some((x, addr)),
            None => self.loaded(x).map(|addr| (y, addr)),
        };
        if let Some((x, addr)) = factor {
            let (a, c) = (self.operand(x), self.operand(c));
            if let Addr::Index(base, index, scale, off, true) = addr
                && !pair
            {
                let ops = Fcx {
                    dst,
                    a,
                    c,
                    base,
                    index,
                    scale,
                    off,
                };
                self.emit(op::muladd64_s, ops);
                return;
            }
            match self.indexed_form(addr) {
                Ok((base, off)) => {
                    let code = if pair { op::v2muladd_m } else { op::muladd64_m };
                    self.emit(
                        code,
                        Fm {
                            dst,
                            a,
                            c,
                            base,
                            off,
                        },
                    );
                }
                Err((base, index, scale, off)) => {
                    let ops = Fcx {
                        dst,
                        a,
                        c,
                        base,
                        index,
                        scale,
                        off,
                    };
                    let code = if pair { op::v2muladd_x } else { op::muladd64_x };
                    self.emit(code, ops);
                }
            }
            return;
        }
        if let Some(addr) = self.loaded(c) {
            let (a, b) = (self.operand(x), self.operand(y));
            match self.indexed_form(addr) {
                Ok((base, off)) => {
                    let (c, code) = (
                        b,
                        if pair {
                            op::v2muladd_am
                        } else {
                            op::muladd64_am
                        },
                    );
                    self.emit(
                        code,
                        Fm {
                            dst,
                            a,
                            c,
                            base,
                            off,
                        },
                    );
                }
                Err((base, index, scale, off)) => {
                    let ops = Fcx {
                        dst,
                        a,
                        c: b,
                        base,
                        index,
                        scale,
                        off,
                    };
                    let code = if pair {
                        op::v2muladd_ax
                    } else {
                        op::muladd64_ax
                    };
                    self.emit(code, ops);
                }
            }
            return;
        }
        let (a, b, c) = (self.operand(x), self.operand(y), self.operand(c));
        let code = if pair { op::v2muladd } else { op::muladd64 };
        self.emit(code, isa::Dabc { dst, a, b, c });
    }

    /// `dst = c - x * y` on doubles.
    fn subtract_product(&mut self, dst: u16, x: Operand, y: Operand, c: Operand) {
        let loaded = self.loaded(y).map(|addr| self.indexed_form(addr));
        let (a, c) = (self.operand(x), self.operand(c));
        match loaded {
            None => {
                let b = self.operand(y);
                self.emit(op::negmuladd64, isa::Dabc { dst, a, b, c });
            }
            Some(Ok((base, off))) => {
                let ops = Fm {
                    dst,
                    a,
                    c,
                    base,
                    off,
                };
                self.emit(op::negmuladd64_m, ops);
            }
            Some(Err((base, index, scale, off))) => {
                let ops = Fcx {
                    dst,
                    a,
                    c,
                    base,
                    index,
                    scale,
                    off,
                };
                self.emit(op::negmuladd64_x, ops);
            }
        }
    }

    /// `dst = x * y + c` where both are postponed loads, `y` by an index that is loaded beside `x`.
    fn gather(&mut self, dst: u16, x: Operand, y: Operand, c: Operand) -> bool {
        if !self.loads(x) {
            return false;
        }
        let Some(&Op::Load { ptr, .. }) = self.late(y) else {
            return false;
        };
        let Some(Op::Gep {
            elem,
            base,
            indices,
        }) = self.late(ptr)
        else {
            return false;
        };
        let (elem, base) = (*elem, *base);
        let [index] = indices[..] else { return false };
        let Some(&Op::Cast {
            op: CastOp::SExt,
            a: number,
        }) = self.late(index)
        else {
            return false;
        };
        if !self.loads(number) {
            return false;
        }
        let Ok(scale3) = i32::try_from(self.m.layout(elem).size) else {
            return false;
        };
        let c = self.operand(c);
        let Some(first) = self.loaded_anywhere(x) else {
            return false;
        };
        let Some(second) = self.loaded_anywhere(number) else {
            return false;
        };
        let base = self.address(base);
        let (base3, off3) = self.plain_form(base);
        let whole = |this: &mut Self, addr: Addr| match this.indexed_form(addr) {
            Ok((base, off)) => (base, base, 0, off),
            Err(all) => all,
        };
        let (base, index, scale, off) = whole(self, first);
        let (base2, index2, scale2, off2) = whole(self, second);
        if index != index2 {
            // Two places to look at: the number is loaded first, as any index is.
            let number = self.temp(1);
            self.emit(
                op::load32x,
                isa::Memx {
                    reg: number,
                    base: base2,
                    index: index2,
                    scale: scale2,
                    off: off2,
                },
            );
            let factor = self.temp(1);
            self.emit(
                op::load64x,
                isa::Memx {
                    reg: factor,
                    base,
                    index,
                    scale,
                    off,
                },
            );
            let ops = Fcx {
                dst,
                a: factor,
                c,
                base: base3,
                index: number,
                scale: scale3,
                off: off3,
            };
            self.emit(op::muladd64_s, ops);
            return true;
        }
        let ops = isa::Fg {
            dst,
            c,
            base,
            index,
            base2,
            base3,
            scale,
            off,
            scale2,
            off2,
            scale3,
            off3,
        };
        self.emit(op::muladd64_gather, ops);
        true
    }

    /// The operands of an instruction that loads both of two postponed doubles, at least one of
    /// them by an index.
    fn two_loaded(&mut self, dst: u16, c: u16, x: Operand, y: Operand) -> Option<Fxx> {
        let first = self.loaded(x)?;
        let first = self.indexed_form(first);
        let second = self.loaded(y)?;
        let second = self.indexed_form(second);
        // Without an index: a slot that is there, times nothing.
        let whole = |form: Result<(u16, i32), _>| match form {
            Ok((base, off)) => (base, base, 0, off),
            Err(all) => all,
        };
        let (base, index, scale, off) = whole(first);
        let (base2, index2, scale2, off2) = whole(second);
        Some(Fxx {
            dst,
            c,
            base,
            index,
            base2,
            index2,
            scale,
            off,
            scale2,
            off2,
        })
    }

    /// A store of a postponed sum or product; `false` when it is none.
    pub(super) fn store_result(&mut self, value: Operand, ptr: Operand) -> bool {
        let (x, y, c, code) = match self.late(value) {
            Some(Op::Call(call)) => {
                let codes = (op::muladd64_st, op::muladd64_stx);
                (call.args[0], call.args[1], Some(call.args[2]), codes)
            }
            Some(Op::Binary { op, a, b, .. }) => match op {
                BinOp::FAdd => (*a, *b, None, (op::fadd64_st, op::fadd64_stx)),
                BinOp::FSub => (*a, *b, None, (op::fsub64_st, op::fsub64_stx)),
                BinOp::FMul => (*a, *b, None, (op::fmul64_st, op::fmul64_stx)),
                _ => return false,
            },
            _ => return false,
        };
        if self.loads(x) || self.loads(y) {
            let same =
                |this: &Self, c| matches!(this.late(c), Some(Op::Load { ptr: p, .. }) if *p == ptr);
            return c.is_some_and(|c| same(self, c)) && self.accumulate(x, y, ptr);
        }
        if [x, y]
            .into_iter()
            .any(|o| self.negated(o).is_some() || self.late_product(o).is_some())
        {
            return false;
        }
        let addr = self.address(ptr);
        let to = self.indexed_form(addr);
        if let (Some(c), Ok((base, off))) = (c, to)
            && let Some(loaded) = self.loaded(c)
        {
            let (from, from_off) = self.plain_form(loaded);
            let (a, b) = (self.operand(x), self.operand(y));
            let ops = isa::Fms {
                a,
                b,
                from,
                base,
                from_off,
                off,
            };
            self.emit(op::muladd64_ls, ops);
            return true;
        }
        let (a, dst) = (self.operand(x), self.operand(y));
        let c = c.map_or(0, |c| self.operand(c));
        match to {
            Ok((base, off)) => {
                let ops = Fm {
                    dst,
                    a,
                    c,
                    base,
                    off,
                };
                self.emit(code.0, ops);
            }
            Err((base, index, scale, off)) => {
                let ops = Fcx {
                    dst,
                    a,
                    c,
                    base,
                    index,
                    scale,
                    off,
                };
                self.emit(code.1, ops);
            }
        }
        true
    }

    /// `*ptr += x * y`, one factor loaded.
    fn accumulate(&mut self, x: Operand, y: Operand, ptr: Operand) -> bool {
        let (x, y) = if self.loads(y) { (x, y) } else { (y, x) };
        let Some(addr) = self.loaded(y) else {
            return false;
        };
        let factor = self.indexed_form(addr);
        let a = self.operand(x);
        let addr = self.address(ptr);
        if let Addr::Index(..) = addr
            && let Err((base2, index2, scale2, off2)) = self.indexed_form(addr)
        {
            let (base, index, scale, off) = match factor {
                Ok((base, off)) => (base, base, 0, off),
                Err(all) => all,
            };
            let ops = Fxx {
                dst: 0,
                c: a,
                base,
                index,
                base2,
                index2,
                scale,
                off,
                scale2,
                off2,
            };
            self.emit(op::macc64_xx, ops);
            return true;
        }
        let (to, to_off) = self.plain_form(addr);
        match factor {
            Ok((from, from_off)) => {
                let ops = isa::Fms {
                    a,
                    b: 0,
                    from,
                    base: to,
                    from_off,
                    off: to_off,
                };
                self.emit(op::macc64_m, ops);
            }
            Err((base, index, scale, off)) => {
                let ops = isa::Fxs {
                    a,
                    base,
                    index,
                    to,
                    scale,
                    off,
                    to_off,
                };
                self.emit(op::macc64_x, ops);
            }
        }
        true
    }

    /// `dst = {a, b}` when both are postponed loads.
    pub(super) fn pair_of_loads(&mut self, dst: u16, a: Operand, b: Operand) -> bool {
        if !self.loads(a) || !self.loads(b) {
            return false;
        }
        let Some(first) = self.loaded(a) else {
            return false;
        };
        let (from, from_off) = self.plain_form(first);
        let Some(second) = self.loaded(b) else {
            return false;
        };
        let (base, off) = self.plain_form(second);
        let ops = isa::Fms {
            a: dst,
            b: 0,
            from,
            base,
            from_off,
            off,
        };
        self.emit(op::pair64_m, ops);
        true
    }

    fn loads(&self, o: Operand) -> bool {
        matches!(self.late(o), Some(Op::Load { .. }))
    }
}
