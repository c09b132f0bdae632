//! Decides how each value is materialized: in a slot at its definition, or without one at its uses.
//!
//! A value that is produced at its use needs no slot, and slots dominate a register machine's cost.
//! The decisions rest on the counts of [`analyze`](super::analyze); nothing is emitted here. A rule
//! that fits only in part leaves the value in a slot, which is always right.

use super::Lowering;
use Materialization::{Alias, AtDefinition, AtUse, Dead, Rematerialized};
use cranelift_entity::EntityRef;
use ompvm_ir::{
    BinOp, CastOp, Const, FloatKind, Inst, IntPred, Op, Operand, Ordering, Type, TypeId,
};

/// The way in which a value is materialized.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Materialization {
    /// At its definition, in a slot of its own.
    AtDefinition,
    /// None: it is its operand, with the same slot form.
    Alias,
    /// At its only use, later in the same block.
    AtUse,
    /// Again at each use (static alloca, constant-offset gep, a double in both lanes, an index plus
    /// a constant).
    Rematerialized,
    /// At the end of its block, in a slot of its own: a loop's counter plus a constant, which can
    /// then take the counter's slot. Addresses before the block's end use the counter.
    Sunk,
    /// None: it has neither uses nor effects.
    Dead,
}

/// The largest array, in bytes, that is part of a frame with a guard.
const MAX_STATIC_ALLOCA: u64 = 16 << 20;

/// Properties that all uses of a value share.
#[derive(Clone, Copy)]
pub(super) struct Uses(pub(super) u8);

impl Uses {
    /// The use is an address: of a plain load or store, or the base of a gep.
    pub(super) const ADDRESS: u8 = 1;
    /// The use is a factor of a product of pairs.
    pub(super) const SCALE: u8 = 2;
    /// The use is in the value's own block.
    pub(super) const LOCAL: u8 = 4;
    /// The use reads at most 32 bits.
    pub(super) const LOW: u8 = 8;
    /// The use is a condition.
    pub(super) const CONDITION: u8 = 16;
    /// The use is an index of an address.
    pub(super) const INDEX: u8 = 32;

    pub(super) fn have(self, properties: u8) -> bool {
        self.0 & properties == properties
    }
}

/// The most uses for which an address with an index is formed again at each use.
const MAX_REMATERIALIZED_USES: u32 = 2;

/// A value with what is known of its uses.
pub(super) struct Value<'a> {
    inst: &'a Inst,
    /// The instruction's number in the body.
    number: usize,
    /// The number of uses.
    uses: u32,
    /// The only use, if it is in the same block and no phi.
    user: Option<User<'a>>,
    /// Properties that all uses share.
    common: Uses,
    /// The value is no vector.
    scalar: bool,
}

/// The only use of a value.
struct User<'a> {
    op: &'a Op,
    /// Its result has one use, by a branch or a selection in the same block.
    decides: bool,
}

impl<'a> Value<'a> {
    /// Describes instruction `i` by the number of uses and the last user of each value.
    pub(super) fn new(
        lowering: &Lowering<'a>,
        i: usize,
        uses: &[u32],
        last_user: &[u32],
        common: Uses,
    ) -> Value<'a> {
        let (body, nparams) = (lowering.body, lowering.nparams);
        let inst = &body.insts[i];
        let block = lowering.block_of[nparams + i];
        let near = |user: u32| {
            let user = user as usize;
            let inside = user < body.insts.len() && lowering.block_of[nparams + user] == block;
            inside.then(|| &body.insts[user].op)
        };
        let only = (uses[nparams + i] == 1).then_some(last_user[nparams + i]);
        let user = only.and_then(|user| {
            let op = near(user).filter(|op| !matches!(op, Op::Phi { .. }))?;
            let result = nparams + user as usize;
            let decides = uses[result] == 1
                && matches!(
                    near(last_user[result]),
                    Some(Op::CondBr { .. } | Op::Select { .. })
                );
            Some(User { op, decides })
        });
        Value {
            inst,
            number: i,
            uses: uses[nparams + i],
            user,
            common,
            scalar: !matches!(lowering.ty(inst.ty), Type::Vector { .. }),
        }
    }
}

fn at_use_if(condition: bool) -> Materialization {
    if condition { AtUse } else { AtDefinition }
}

fn alias_if(condition: bool) -> Materialization {
    if condition { Alias } else { AtDefinition }
}

impl Lowering<'_> {
    /// Decides how a value is materialized; gives a static alloca its place in the frame.
    pub(super) fn classify(&mut self, v: &Value) -> Materialization {
        if v.uses == 0 && is_removable(&v.inst.op) {
            return Dead;
        }
        match &v.inst.op {
            Op::Alloca { elem, count, align } => self.classify_alloca(v, *elem, *count, *align),
            Op::Freeze { .. } => Alias,
            Op::ExtractElement { vector, index } => self.classify_lane(v, *vector, *index),
            Op::ExtractValue { agg, indices } => {
                let (off, member) = self.member(self.type_of(*agg), indices);
                let whole = matches!(
                    self.ty(member),
                    Type::Int(64) | Type::Ptr(_) | Type::Float(FloatKind::Double)
                );
                alias_if(whole && off % 8 == 0)
            }
            Op::InsertElement { vector, index, .. } => self.classify_insertion(v, *vector, *index),
            Op::Gep { indices, .. } => self.classify_address(v, indices),
            Op::ICmp { .. } | Op::FCmp { .. } => at_use_if(v.scalar && v.user.is_some()),
            Op::Cast { op, a } => self.classify_cast(v, *op, *a),
            Op::FNeg { .. } => at_use_if(v.user.as_ref().is_some_and(|user| {
                self.is_double(v.inst.ty) && self.takes_negated(user.op, v.number)
            })),
            Op::Binary { op, b, .. } => self.classify_binary(v, *op, *b),
            _ => AtDefinition,
        }
    }

    /// Classifies an alloca; a static one gets its place in the frame.
    fn classify_alloca(
        &mut self,
        v: &Value,
        elem: TypeId,
        count: Operand,
        align: u32,
    ) -> Materialization {
        let number = self.nparams + v.number;
        if self.block_of[number] != 0 {
            return AtDefinition;
        }
        let Some(n) = self.int_const(count) else {
            return AtDefinition;
        };
        let size = self.m.layout(elem).size.saturating_mul(n as u64);
        // In a frame with a guard, an overrun array must reach the guard.
        let streamed = size >= super::memory::MIN_CACHE_ALIGNED && self.guard.is_none();
        if align > 16 || streamed || size > MAX_STATIC_ALLOCA {
            return AtDefinition;
        }
        let at = self.alloca_bytes.next_multiple_of(align.max(1));
        self.alloca_bytes = at + size as u32;
        self.allocas.insert(number as u32, at);
        Rematerialized
    }

    /// Classifies a lane of a vector: a lane that is a whole slot is an alias of that slot.
    fn classify_lane(&self, v: &Value, vector: Operand, index: Operand) -> Materialization {
        let Type::Vector { elem, len, .. } = self.ty(self.type_of(vector)) else {
            return AtDefinition;
        };
        let whole = self.words(v.inst.ty) == 1 && super::lane_bytes(self.m, *elem) == 8;
        let index = self.int_const(index);
        alias_if(whole && index.is_some_and(|k| (k as u64) < u64::from(*len)))
    }

    /// Classifies the insertion of a lane: one into undef waits for the insertion of the other
    /// lane.
    fn classify_insertion(&self, v: &Value, vector: Operand, index: Operand) -> Materialization {
        let Some(user) = v.user.as_ref().filter(|_| self.words(v.inst.ty) == 2) else {
            return AtDefinition;
        };
        let fresh = vector
            .unpack()
            .is_err_and(|c| matches!(self.m.consts[c], Const::Undef | Const::Poison));
        let own = self.nparams + v.number;
        let pair = matches!(
            (user.op, self.ty(v.inst.ty)),
            (Op::InsertElement { elem, .. }, Type::Vector { len: 2, .. })
                if elem.unpack().ok().is_none_or(|e| e.index() != own)
        );
        at_use_if(fresh && pair && matches!(self.int_const(index), Some(0 | 1)))
    }

    /// Classifies an address: a cheap one is formed again by each load and store.
    fn classify_address(&self, v: &Value, indices: &[Operand]) -> Materialization {
        if !v.scalar {
            return AtDefinition;
        }
        let constant = indices.iter().all(|&i| self.int_const(i).is_some());
        let few = v.common.have(Uses::LOCAL) && v.uses <= MAX_REMATERIALIZED_USES;
        if v.common.have(Uses::ADDRESS)
            && (constant || few && v.user.is_none() && self.one_index(&v.inst.op))
        {
            return Rematerialized;
        }
        at_use_if(v.user.is_some())
    }

    /// Classifies a conversion: one that changes no slot, or only bits that no use reads, is an
    /// alias.
    fn classify_cast(&self, v: &Value, op: CastOp, a: Operand) -> Materialization {
        let from = self.type_of(a);
        if self.same_slots(op, from, v.inst.ty) {
            return Alias;
        }
        match (op, self.ty(from), self.ty(v.inst.ty)) {
            (CastOp::SExt, ..) => at_use_if(v.scalar && v.user.is_some()),
            (CastOp::Trunc, Type::Int(64), Type::Int(32)) => alias_if(v.common.have(Uses::LOW)),
            (CastOp::Trunc, Type::Int(8..=64), Type::Int(1)) => {
                alias_if(v.common.have(Uses::CONDITION))
            }
            _ => AtDefinition,
        }
    }

    /// Classifies an operation on two values: one that its use takes as part of an instruction, and
    /// a sum that each address adds itself.
    fn classify_binary(&self, v: &Value, op: BinOp, b: Operand) -> Materialization {
        let Some(user) = &v.user else {
            return match op {
                BinOp::Add => self.classify_sum(v, b, None),
                _ => AtDefinition,
            };
        };
        match op {
            BinOp::Add => self.classify_sum(v, b, Some(user.op)),
            // A test of bits.
            BinOp::And => {
                let tested = matches!(
                    *user.op,
                    Op::ICmp { pred: IntPred::Eq | IntPred::Ne, b, .. }
                        if self.int_const(b) == Some(0)
                );
                let mask = self.imm(b).is_some_and(|mask| mask >= 0);
                at_use_if(mask && tested && user.decides)
            }
            // A product for a sum with a constant.
            BinOp::Mul | BinOp::Shl => {
                let sum = matches!(
                    *user.op,
                    Op::Binary { op: BinOp::Add, b, .. } if self.imm(b).is_some()
                );
                let narrow = matches!(self.ty(v.inst.ty), Type::Int(32 | 64));
                at_use_if(sum && narrow && self.imm(b).is_some())
            }
            BinOp::FMul => {
                let sum = matches!(
                    user.op,
                    Op::Binary {
                        op: BinOp::FAdd | BinOp::FSub,
                        ..
                    }
                );
                at_use_if(sum && v.scalar)
            }
            // A quotient that may not be wanted: see `Self::quotient_if`.
            BinOp::FDiv => at_use_if(
                matches!(user.op, Op::Select { .. })
                    && matches!(
                        self.ty(v.inst.ty),
                        Type::Float(FloatKind::Double | FloatKind::Float)
                    ),
            ),
            _ => AtDefinition,
        }
    }

    /// Classifies a sum: each address adds a constant itself.
    fn classify_sum(&self, v: &Value, b: Operand, user: Option<&Op>) -> Materialization {
        let constant = matches!(self.ty(v.inst.ty), Type::Int(64)) && self.imm(b).is_some();
        if constant && user.is_some_and(|user| self.passes_sum(user)) {
            AtUse
        } else if constant && v.common.have(Uses::INDEX | Uses::LOCAL) {
            Rematerialized
        } else {
            AtDefinition
        }
    }

    /// Returns true if the address is a slot and one index: as an operand it costs no more than a
    /// slot.
    fn one_index(&self, op: &Op) -> bool {
        let Op::Gep {
            elem,
            base,
            indices,
        } = op
        else {
            return false;
        };
        let variable = |o: &&Operand| self.int_const(**o).is_none();
        let simple = match base.unpack() {
            Ok(v) => matches!(self.kind[v.index()], Materialization::AtDefinition),
            Err(c) => self.image.tls_constant(c).is_none(),
        };
        simple
            && indices.iter().filter(variable).count() == 1
            && self.m.layout(*elem).size < 1 << 31
            && indices.iter().filter(variable).all(|o| {
                matches!(self.ty(self.type_of(*o)), Type::Int(64))
                    && o.unpack().is_ok_and(|v| {
                        matches!(self.kind[v.index()], Materialization::AtDefinition)
                    })
            })
    }

    /// Returns true if a cast leaves the slots unchanged.
    fn same_slots(&self, op: CastOp, from: TypeId, to: TypeId) -> bool {
        let small = |t: TypeId| match self.ty(t) {
            Type::Int(bits) => *bits <= 64,
            Type::Ptr(_) => true,
            _ => false,
        };
        match op {
            CastOp::ZExt => small(from) && small(to),
            CastOp::AddrSpaceCast => small(from),
            CastOp::PtrToInt | CastOp::PtrToAddr => {
                matches!(self.ty(to), Type::Int(64)) && small(from)
            }
            CastOp::IntToPtr => small(from) && small(to),
            CastOp::BitCast => self.same_bits(from, to),
            _ => false,
        }
    }

    fn same_bits(&self, from: TypeId, to: TypeId) -> bool {
        if from == to {
            return true;
        }
        let plain = |t: TypeId| match self.ty(t) {
            Type::Vector { elem, .. } => {
                let bits = self.m.types.lane_bits(*elem);
                bits >= 8 && bits.is_power_of_two()
            }
            Type::Float(FloatKind::X86Fp80) => false,
            _ => true,
        };
        // For an integer narrower than its slot the upper bits must be cleared.
        let clean = match self.ty(to) {
            Type::Int(bits) => bits % 64 == 0 || matches!(self.ty(from), Type::Int(_)),
            _ => true,
        };
        plain(from) && plain(to) && clean && self.words(from) == self.words(to)
    }
}

/// Says whether an operation without uses can be left out. A division that traps must still be
/// performed. LLVM's code generator leaves a load out even at -O0, and clang relies on it: the
/// operand of `__builtin_constant_p` is not evaluated.
fn is_removable(op: &Op) -> bool {
    match op {
        Op::Binary { op, .. } => {
            !matches!(op, BinOp::SDiv | BinOp::SRem | BinOp::UDiv | BinOp::URem)
        }
        Op::FNeg { .. }
        | Op::Cast { .. }
        | Op::ICmp { .. }
        | Op::FCmp { .. }
        | Op::Select { .. }
        | Op::Freeze { .. }
        | Op::Phi { .. }
        | Op::Gep { .. }
        | Op::ExtractElement { .. }
        | Op::InsertElement { .. }
        | Op::ShuffleVector { .. }
        | Op::ExtractValue { .. }
        | Op::InsertValue { .. }
        | Op::Alloca { .. } => true,
        Op::Load {
            volatile, ordering, ..
        } => !volatile && *ordering == Ordering::NotAtomic,
        _ => false,
    }
}
