//! Decides which instructions are postponed to their user and fused into it.
//!
//! [`Lowering::fuse`] postpones a load of a double (or of two) to the arithmetic that is its only
//! user, arithmetic to the store that is its only user, and a constant added to an index to the
//! address. A load moves past other instructions only if none of them can write memory or trap, up
//! to the last of the places where its user is emitted: a splat is emitted at each of its uses.
//! These decisions depend only on the function's IR and precede all emission; the sibling files
//! emit. Integers, floats and wider vectors are not fused, since no profile shows a need.

use super::super::Lowering;
use super::super::materialize::Materialization;
use cranelift_entity::EntityRef;
use ompvm_ir::{
    BinOp, Call, Callee, CastOp, Const, FloatKind, GlobalRef, Op, Operand, Ordering, Type, TypeId,
};

/// The place of an instruction that may be emitted in another block, or far behind.
const ANYWHERE: u32 = u32::MAX;

/// Most instructions between a splat and its last user for a load that both lanes take.
const MAX_SPLAT_DISTANCE: u32 = 100;

/// Intrinsics, without their prefix, that neither write memory nor transfer control.
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

impl<'a> Lowering<'a> {
    fn intrinsic_name(&self, call: &Call) -> Option<&'a str> {
        match call.callee {
            Callee::Symbol(GlobalRef::Func(f)) => self.m.functions[f].name.strip_prefix("llvm."),
            _ => None,
        }
    }

    pub(in crate::lower) fn is_double(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), Type::Float(FloatKind::Double))
    }

    pub(super) fn is_pair(&self, ty: TypeId) -> bool {
        match self.ty(ty) {
            Type::Vector {
                elem,
                len: 2,
                scalable: false,
            } => self.is_double(*elem),
            _ => false,
        }
    }

    /// Returns true if loads may not move past the instruction.
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

    /// Returns true if the instruction is arithmetic that takes a loaded operand.
    fn takes_load(&self, op: &Op) -> bool {
        match op {
            Op::Binary { op, .. } => matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul),
            Op::Call(call) => self
                .intrinsic_name(call)
                .is_some_and(|n| n.starts_with("fmuladd.")),
            _ => false,
        }
    }

    /// Returns true if the instruction multiplies the negated double of instruction `i` once.
    pub(in crate::lower) fn takes_negated(&self, op: &Op, i: usize) -> bool {
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

    /// Returns true if the instruction inserts double `v` into a pair.
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

    /// Returns true if the sign-extended value of a load is used only as the index of a postponed
    /// load of a double that is multiplied by another postponed load.
    fn is_gathered(&self, extension: usize, last_user: &[u32]) -> bool {
        let postponed = |i: usize| self.kind[self.nparams + i] == Materialization::AtUse;
        let user = |i: usize| {
            (last_user[self.nparams + i] != u32::MAX)
                .then_some(last_user[self.nparams + i] as usize)
        };
        let op = |i: usize| &self.body.insts[i].op;
        if !postponed(extension)
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
        let Some(gep) =
            user(extension).filter(|&g| postponed(g) && matches!(op(g), Op::Gep { .. }))
        else {
            return false;
        };
        let Some(load) = user(gep).filter(|&l| postponed(l) && matches!(op(l), Op::Load { .. }))
        else {
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

    /// Returns the last of the places where the users of splat `i` are emitted, or [`ANYWHERE`].
    fn last_place(&self, i: u32, end: u32, uses: u32, place: &[u32]) -> u32 {
        let v = self.nparams + i as usize;
        let (mut found, mut last) = (0, i);
        for user in i + 1..end.min(i + MAX_SPLAT_DISTANCE) {
            let op = &self.body.insts[user as usize].op;
            let before = found;
            op.for_each_operand(&mut |o| {
                found += u32::from(o.unpack().is_ok_and(|o| o.index() == v));
            });
            if found > before {
                last = last.max(place[user as usize]);
            }
            if found == uses {
                return last;
            }
        }
        ANYWHERE
    }

    /// Postpones instructions that their user can perform.
    pub(in crate::lower) fn fuse(&mut self, uses: &[u32], last_user: &[u32]) {
        // The last place where each instruction is emitted.
        let mut place: Vec<u32> = (0..self.body.insts.len() as u32).collect();
        for (b, block) in self.body.blocks.iter().enumerate() {
            let mut barrier = u32::MAX;
            for i in (block.start..block.end).rev() {
                let (v, inst) = (self.nparams + i as usize, &self.body.insts[i as usize]);
                let user = last_user[v];
                let local = uses[v] == 1
                    && user != u32::MAX
                    && self.block_of[self.nparams + user as usize] as usize == b;
                if local && self.kind[v] == Materialization::AtDefinition {
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
                            let last = place[user as usize];
                            taken && last != ANYWHERE && barrier >= last
                        }
                        Op::Binary {
                            op: BinOp::Add, b, ..
                        } => {
                            let is_index = match by {
                                Op::Gep { base, .. } => {
                                    base.unpack().ok().is_none_or(|o| o.index() != v)
                                }
                                _ => false,
                            };
                            is_index
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
                        self.kind[v] = Materialization::AtUse;
                    }
                }
                place[i as usize] = match (self.kind[v], &inst.op) {
                    (Materialization::AtUse, _) if local => place[user as usize],
                    (Materialization::AtUse, _) => ANYWHERE,
                    (Materialization::Rematerialized, Op::ShuffleVector { .. }) => {
                        self.last_place(i, block.end, uses[v], &place)
                    }
                    _ => i,
                };
                if self.is_barrier(&inst.op) {
                    barrier = i;
                }
            }
        }
    }

    /// Returns true if a use of the pair `o` by `op` can take one double for both lanes.
    pub(in crate::lower) fn scales(&self, op: &Op, o: Operand) -> bool {
        let product = match op {
            Op::Binary {
                op: BinOp::FMul, ..
            } => true,
            Op::Call(call) => self.takes_load(op) && call.args[2] != o,
            _ => false,
        };
        product && self.is_pair(self.type_of(o))
    }

    /// Returns the insertion if the shuffle is one double in both lanes, from a vector with no
    /// other use.
    pub(in crate::lower) fn is_splat(&self, i: usize, uses: &[u32]) -> Option<usize> {
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

    /// Returns the double in lane 0 of a vector that was made only for it.
    pub(super) fn lane_zero(&self, o: Operand) -> Option<(usize, Operand)> {
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
}
