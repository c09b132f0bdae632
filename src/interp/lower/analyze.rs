//! Analysis before emission: use counts, the materialization of each value (at its definition or at
//! its uses), loops, and slots.
//!
//! A value that is produced at its use needs no slot, and slots dominate a register machine's cost.
//! Nothing is emitted here. `fuse` decides which loads become operands of arithmetic.

use super::{Lowering, NO_SLOT};
use cranelift_entity::EntityRef;
use ompvm_ir::{CastOp, FloatKind, Op, Operand, Type, TypeId, Value};

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

/// A value that is its phi plus a constant, in the source block of the phi's edge.
struct Counter {
    value: usize,
    block: usize,
}

/// Properties that all uses of a value share.
#[derive(Clone, Copy)]
struct Uses(u8);

impl Uses {
    /// The use is an address: of a plain load or store, or the base of a gep.
    const ADDRESS: u8 = 1;
    /// The use is a factor of a product of pairs.
    const SCALE: u8 = 2;
    /// The use is in the value's own block.
    const LOCAL: u8 = 4;
    /// The use reads at most 32 bits.
    const LOW: u8 = 8;
    /// The use is a condition.
    const CONDITION: u8 = 16;
    /// The use is an index of an address.
    const INDEX: u8 = 32;

    fn have(self, properties: u8) -> bool {
        self.0 & properties == properties
    }
}

/// The most uses for which an address with an index is formed again at each use.
const MAX_REMATERIALIZED_USES: u32 = 2;

impl Lowering<'_> {
    pub(super) fn analyze(&mut self) {
        let values = self.slot.len();
        let mut uses = vec![0u32; values];
        let mut last_user = vec![u32::MAX; values];
        let mut common = vec![Uses(u8::MAX); values];
        let mut counters: Vec<Counter> = Vec::new();
        let mut reach = vec![None; self.body.blocks.len()];
        for (b, block) in self.body.blocks.iter().enumerate() {
            if let Some(inst) = self.body.insts.get(block.start as usize)
                && let Op::Phi { incoming } = &inst.op
                && incoming.len() > 8
            {
                let places = incoming.iter().enumerate();
                self.incoming
                    .extend(places.map(|(k, (from, _))| ((from.as_u32() as usize, b), k as u32)));
            }
            for i in block.start as usize..block.end as usize {
                self.block_of[self.nparams + i] = b as u32;
                let op = &self.body.insts[i].op;
                if let Op::Phi { incoming } = op {
                    self.find_counters(i, incoming, &mut counters);
                }
                op.for_each_operand(&mut |o| {
                    if let Ok(v) = o.unpack() {
                        let v = v.index();
                        uses[v] += 1;
                        last_user[v] = i as u32;
                        let all = common[v].0;
                        let mut now = self.as_address(op, o) | self.low_bits(op, o);
                        if all & Uses::SCALE != 0 && self.scales(op, o) {
                            now |= Uses::SCALE;
                        }
                        if self.block_of[v] as usize == b && !matches!(op, Op::Phi { .. }) {
                            now |= Uses::LOCAL;
                        }
                        common[v] = Uses(all & now);
                    }
                });
                op.for_each_successor(&mut |to| {
                    let to = to.index();
                    if to <= b {
                        reach[to] = reach[to].max(Some(b));
                    }
                });
            }
        }
        self.loop_heads = (0..reach.len()).filter(|&b| reach[b].is_some()).collect();
        // A loop extends from its first block to the last block that branches back to it.
        let mut end = None;
        for (b, &to) in reach.iter().enumerate() {
            end = end.max(to);
            self.in_loop[b] = end >= Some(b);
        }
        for i in 0..self.body.insts.len() {
            let v = self.nparams + i;
            self.kind[v] = self.classify(i, &uses, &last_user, common[v]);
        }
        for i in 0..self.body.insts.len() {
            let v = self.nparams + i;
            if self.kind[v] == Materialization::AtDefinition
                && common[v].have(Uses::SCALE)
                && let Some(lane) = self.is_splat(i, &uses)
            {
                self.kind[v] = Materialization::Rematerialized;
                self.kind[lane] = Materialization::AtUse;
            }
        }
        self.fuse(&uses, &last_user);
        self.sink(&counters, &last_user);
        self.assign_slots();
    }

    /// Returns [`Uses::ADDRESS`] if `op` uses `o` only as an address.
    fn as_address(&self, op: &Op, o: Operand) -> u8 {
        let plain = ompvm_ir::Ordering::NotAtomic;
        let address = match op {
            Op::Load { ptr, ordering, .. } => *ptr == o && *ordering == plain,
            Op::Store {
                ptr,
                value,
                ordering,
                ..
            } => *ptr == o && *value != o && *ordering == plain,
            Op::Gep { base, .. } if *base == o => true,
            Op::Gep { .. } => return Uses::INDEX,
            _ => false,
        };
        if address { Uses::ADDRESS } else { 0 }
    }

    /// Returns the bits of `Uses` if the instruction for `op` reads only the low 32 bits of `o`'s
    /// slot, or only its lowest bit.
    fn low_bits(&self, op: &Op, o: Operand) -> u8 {
        use ompvm_ir::BinOp::{Add, Mul, SDiv, SRem, Shl, Sub, UDiv, URem};
        let low = match op {
            Op::Binary { op, .. } => {
                matches!(op, Add | Sub | Mul | UDiv | SDiv | URem | SRem | Shl)
            }
            Op::Cast { op, .. } => {
                matches!(op, CastOp::SExt | CastOp::SiToFp | CastOp::UiToFp)
            }
            Op::Store {
                value,
                ptr,
                ordering,
                ..
            } => *value == o && *ptr != o && *ordering == ompvm_ir::Ordering::NotAtomic,
            Op::ICmp { .. } => true,
            Op::CondBr { .. } => return Uses::CONDITION,
            Op::Select { cond, a, b } if *cond == o && *a != o && *b != o => {
                return Uses::CONDITION;
            }
            _ => false,
        };
        if low { Uses::LOW } else { 0 }
    }

    /// Adds the incoming values of a phi that are the phi plus a constant.
    fn find_counters(
        &self,
        phi: usize,
        incoming: &[(ompvm_ir::BlockId, Operand)],
        counters: &mut Vec<Counter>,
    ) {
        for &(from, o) in incoming {
            let Some(i) = o
                .unpack()
                .ok()
                .and_then(|v| v.index().checked_sub(self.nparams))
            else {
                continue;
            };
            let block = self.body.blocks[from.index()];
            if i < phi || !(block.start as usize..block.end as usize).contains(&i) {
                continue;
            }
            if let Op::Binary {
                op: ompvm_ir::BinOp::Add,
                a,
                b,
                ..
            } = self.body.insts[i].op
                && a.unpack().is_ok_and(|a| a.index() == self.nparams + phi)
                && self.imm(b).is_some()
                && matches!(self.ty(self.body.insts[i].ty), Type::Int(32 | 64))
            {
                counters.push(Counter {
                    value: self.nparams + i,
                    block: from.index(),
                });
            }
        }
    }

    /// Sinks counters to the end of their block if nothing else in the block needs them earlier,
    /// apart from the branch's comparison and addresses that can add the constant themselves.
    fn sink(&mut self, counters: &[Counter], last_user: &[u32]) {
        'counters: for c in counters {
            if self.kind[c.value] != Materialization::AtDefinition {
                continue;
            }
            let block = self.body.blocks[c.block];
            let own = c.value - self.nparams;
            let end = &self.body.insts[block.end as usize - 1].op;
            if !matches!(end, Op::Br { .. } | Op::CondBr { .. }) {
                continue;
            }
            for i in own + 1..block.end as usize {
                let op = &self.body.insts[i].op;
                let mut used = false;
                op.for_each_operand(&mut |o| {
                    used |= o.unpack().is_ok_and(|v| v.index() == c.value);
                });
                if !used {
                    continue;
                }
                let fine = match op {
                    Op::Gep { base, .. } => {
                        base.unpack().ok().is_none_or(|v| v.index() != c.value)
                            && matches!(self.ty(self.value_type_of(c.value)), Type::Int(64))
                            && !matches!(self.ty(self.body.insts[i].ty), Type::Vector { .. })
                    }
                    Op::ICmp { .. } => {
                        self.kind[self.nparams + i] == Materialization::AtUse
                            && last_user[self.nparams + i] == block.end - 1
                    }
                    Op::Phi { .. } => true,
                    _ => false,
                };
                if !fine {
                    continue 'counters;
                }
            }
            self.kind[c.value] = Materialization::Sunk;
            self.sunk.push((c.block as u32, c.value as u32));
        }
        self.sunk.sort_unstable();
        self.sunk.dedup();
    }

    fn value_type_of(&self, v: usize) -> TypeId {
        self.body.insts[v - self.nparams].ty
    }

    fn classify(
        &mut self,
        i: usize,
        all_uses: &[u32],
        last_user: &[u32],
        common: Uses,
    ) -> Materialization {
        let inst = &self.body.insts[i];
        let (uses, user) = (all_uses[self.nparams + i], last_user[self.nparams + i]);
        let only_addresses = common.have(Uses::ADDRESS);
        let pure = matches!(
            inst.op,
            Op::Binary { .. }
                | Op::FNeg { .. }
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
                | Op::Alloca { .. }
        );
        if uses == 0 && pure {
            // A division that traps must still be performed.
            if let Op::Binary { op, .. } = inst.op {
                use ompvm_ir::BinOp::{SDiv, SRem, UDiv, URem};
                if matches!(op, UDiv | SDiv | URem | SRem) {
                    return Materialization::AtDefinition;
                }
            }
            return Materialization::Dead;
        }
        let v = self.nparams + i;
        let same_block = user != u32::MAX
            && uses == 1
            && self.block_of[self.nparams + user as usize] == self.block_of[v]
            && !matches!(self.body.insts[user as usize].op, Op::Phi { .. });
        let scalar = !matches!(self.ty(inst.ty), Type::Vector { .. });
        match &inst.op {
            Op::Alloca { elem, count, align } if self.block_of[v] == 0 => {
                let Some(n) = self.int_const(*count) else {
                    return Materialization::AtDefinition;
                };
                let size = self.m.layout(*elem).size.saturating_mul(n as u64);
                // In a frame with a guard, an overrun array must reach the guard.
                let streamed = size >= super::memory::MIN_CACHE_ALIGNED && self.guard.is_none();
                if *align > 16 || streamed || size > MAX_STATIC_ALLOCA {
                    return Materialization::AtDefinition;
                }
                let align = (*align).max(1);
                let at = self.alloca_bytes.next_multiple_of(align);
                self.alloca_bytes = at + size as u32;
                self.allocas.insert(v as u32, at);
                Materialization::Rematerialized
            }
            Op::Cast { op, a } if self.same_slots(*op, self.type_of(*a), inst.ty) => {
                Materialization::Alias
            }
            Op::Freeze { .. } => Materialization::Alias,
            // A lane that is a whole slot is an alias of that slot.
            Op::ExtractElement { vector, index } if self.words(inst.ty) == 1 => {
                let whole = match self.ty(self.type_of(*vector)) {
                    Type::Vector { elem, len, .. } => {
                        super::lane_bytes(self.m, *elem) == 8
                            && self
                                .int_const(*index)
                                .is_some_and(|k| (k as u64) < u64::from(*len))
                    }
                    _ => false,
                };
                if whole {
                    Materialization::Alias
                } else {
                    Materialization::AtDefinition
                }
            }
            Op::ExtractValue { agg, indices } => {
                let (off, member) = self.member(self.type_of(*agg), indices);
                let whole = matches!(
                    self.ty(member),
                    Type::Int(64) | Type::Ptr(_) | Type::Float(FloatKind::Double)
                );
                if whole && off % 8 == 0 {
                    Materialization::Alias
                } else {
                    Materialization::AtDefinition
                }
            }
            // An insertion into undef, for the insertion of the other lane.
            Op::InsertElement { vector, index, .. } if same_block && self.words(inst.ty) == 2 => {
                let fresh = vector.unpack().is_err_and(|c| {
                    matches!(
                        self.m.consts[c],
                        ompvm_ir::Const::Undef | ompvm_ir::Const::Poison
                    )
                });
                let pair = matches!(
                    (&self.body.insts[user as usize].op, self.ty(inst.ty)),
                    (Op::InsertElement { elem, .. }, Type::Vector { len: 2, .. })
                        if elem.unpack().ok().is_none_or(|e| e.index() != v)
                );
                if fresh && pair && matches!(self.int_const(*index), Some(0 | 1)) {
                    Materialization::AtUse
                } else {
                    Materialization::AtDefinition
                }
            }
            Op::Gep { indices, .. } if scalar => {
                let constant = indices.iter().all(|&i| self.int_const(i).is_some());
                if only_addresses
                    && (constant || common.have(Uses::LOCAL) && uses <= MAX_REMATERIALIZED_USES)
                    && (constant || !same_block)
                    && (constant || self.one_index(&inst.op))
                {
                    Materialization::Rematerialized
                } else if same_block {
                    Materialization::AtUse
                } else {
                    Materialization::AtDefinition
                }
            }
            Op::ICmp { .. } | Op::FCmp { .. } if scalar && same_block => Materialization::AtUse,
            Op::Cast {
                op: CastOp::SExt, ..
            } if scalar && same_block => Materialization::AtUse,
            // All users read only the bits that the truncation keeps.
            Op::Cast {
                op: CastOp::Trunc,
                a,
            } if scalar
                && matches!(
                    (self.ty(self.type_of(*a)), self.ty(inst.ty)),
                    (Type::Int(64), Type::Int(32)) if common.have(Uses::LOW)
                )
                || matches!(
                    (self.ty(self.type_of(*a)), self.ty(inst.ty)),
                    (Type::Int(8..=64), Type::Int(1)) if common.have(Uses::CONDITION)
                ) =>
            {
                Materialization::Alias
            }
            Op::FNeg { .. } if same_block && self.is_double(inst.ty) => {
                if self.takes_negated(&self.body.insts[user as usize].op, i) {
                    Materialization::AtUse
                } else {
                    Materialization::AtDefinition
                }
            }
            Op::Binary {
                op: ompvm_ir::BinOp::And,
                b,
                ..
            } if same_block && self.imm(*b).is_some_and(|m| m >= 0) => {
                let tested = match self.body.insts[user as usize].op {
                    Op::ICmp { pred, b, .. } => {
                        matches!(pred, ompvm_ir::IntPred::Eq | ompvm_ir::IntPred::Ne)
                            && self.int_const(b) == Some(0)
                    }
                    _ => false,
                };
                let decides = all_uses[self.nparams + user as usize] == 1
                    && last_user[self.nparams + user as usize]
                        .try_into()
                        .is_ok_and(|u: usize| {
                            u < self.body.insts.len()
                                && self.block_of[self.nparams + u] == self.block_of[v]
                                && matches!(
                                    self.body.insts[u].op,
                                    Op::CondBr { .. } | Op::Select { .. }
                                )
                        });
                if tested && decides {
                    Materialization::AtUse
                } else {
                    Materialization::AtDefinition
                }
            }
            Op::Binary {
                op: ompvm_ir::BinOp::Add,
                b,
                ..
            } if same_block
                && matches!(self.ty(inst.ty), Type::Int(64))
                && self.imm(*b).is_some()
                && self.passes_sum(&self.body.insts[user as usize].op) =>
            {
                Materialization::AtUse
            }
            // Each address adds the constant itself.
            Op::Binary {
                op: ompvm_ir::BinOp::Add,
                b,
                ..
            } if common.have(Uses::INDEX | Uses::LOCAL)
                && matches!(self.ty(inst.ty), Type::Int(64))
                && self.imm(*b).is_some() =>
            {
                Materialization::Rematerialized
            }
            // A product for a sum with a constant.
            Op::Binary {
                op: ompvm_ir::BinOp::Mul | ompvm_ir::BinOp::Shl,
                b,
                ..
            } if same_block && scalar => {
                let sum = matches!(
                    self.body.insts[user as usize].op,
                    Op::Binary { op: ompvm_ir::BinOp::Add, b, .. }
                        if self.imm(b).is_some()
                ) && matches!(self.ty(inst.ty), Type::Int(32 | 64));
                if sum && self.imm(*b).is_some() {
                    Materialization::AtUse
                } else {
                    Materialization::AtDefinition
                }
            }
            Op::Binary {
                op: ompvm_ir::BinOp::FMul,
                ..
            } if same_block && scalar => match self.body.insts[user as usize].op {
                Op::Binary {
                    op: ompvm_ir::BinOp::FAdd | ompvm_ir::BinOp::FSub,
                    ..
                } => Materialization::AtUse,
                _ => Materialization::AtDefinition,
            },
            _ => Materialization::AtDefinition,
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

    /// Returns the slots of a value, and emits it here if it was postponed.
    pub(super) fn value(&mut self, v: usize) -> u16 {
        match self.kind[v] {
            Materialization::AtDefinition | Materialization::Sunk if self.slot[v] != NO_SLOT => {
                self.slot[v]
            }
            // Undefined (in unreachable code), or without slots.
            Materialization::AtDefinition | Materialization::Sunk | Materialization::Dead => {
                self.scratch
            }
            Materialization::Alias => match &self.body.insts[v - self.nparams].op {
                Op::Cast { a, .. } | Op::Freeze { a } => self.operand(*a),
                Op::ExtractElement { vector, index } => {
                    let k = self.int_const(*index).unwrap_or(0) as u16;
                    self.operand(*vector) + k
                }
                Op::ExtractValue { agg, indices } => {
                    let (off, _) = self.member(self.type_of(*agg), indices);
                    self.operand(*agg) + (off / 8) as u16
                }
                _ => self.scratch,
            },
            Materialization::AtUse | Materialization::Rematerialized => {
                let i = v - self.nparams;
                let dst = self.temp(self.words(self.body.insts[i].ty));
                self.produce(i, dst);
                dst
            }
        }
    }

    /// Returns the instruction of an operand that is produced at its use.
    pub(super) fn postponed(&self, o: Operand) -> Option<&'_ Op> {
        let v: Value = o.unpack().ok()?;
        matches!(
            self.kind[v.index()],
            Materialization::AtUse | Materialization::Rematerialized
        )
        .then(|| &self.body.insts[v.index() - self.nparams].op)
    }

    /// Returns the operand that a value renames, through aliases.
    pub(super) fn origin(&self, mut o: Operand) -> Operand {
        while let Ok(v) = o.unpack() {
            if self.kind[v.index()] != Materialization::Alias {
                break;
            }
            match &self.body.insts[v.index() - self.nparams].op {
                Op::Cast { a, .. } | Op::Freeze { a } => o = *a,
                _ => break,
            }
        }
        o
    }
}
