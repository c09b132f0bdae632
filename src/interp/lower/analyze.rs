//! Analysis before emission: use counts, loops, and the order in which values get slots.
//!
//! [`materialize`](super::materialize) classifies each value by what is counted here, and
//! [`fuse`](super::fuse) decides which loads become operands of arithmetic. Nothing is emitted
//! here, except values that were postponed to their uses.

use super::materialize::{Materialization, Uses, Value as Site};
use super::{Lowering, NO_SLOT};
use cranelift_entity::EntityRef;
use ompvm_ir::{Callee, CastOp, GlobalRef, Op, Operand, Type, TypeId, Value};

/// A value that is its phi plus a constant, in the source block of the phi's edge.
struct Counter {
    value: usize,
    block: usize,
}

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
                let unread = self.asks_only(op);
                op.for_each_operand(&mut |o| {
                    if let Ok(v) = o.unpack()
                        && !unread
                    {
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
        self.measure_loops(&reach);
        for i in 0..self.body.insts.len() {
            let v = self.nparams + i;
            self.kind[v] = self.classify(&Site::new(self, i, &uses, &last_user, common[v]));
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

    /// Sets the length of the innermost loop around each block. A loop extends from its first block
    /// to the last one that branches back to it, given by `reach`.
    fn measure_loops(&mut self, reach: &[Option<usize>]) {
        let mut around: Vec<(usize, u32)> = Vec::new();
        for (b, &last) in reach.iter().enumerate() {
            // Computed jumps make each of their targets the head of a loop that ends at the last
            // jump: together these are one loop.
            let own = |last: &usize| around.last().is_none_or(|around| around.0 != *last);
            if let Some(last) = last.filter(own) {
                let (first, last_block) = (self.body.blocks[b], self.body.blocks[last]);
                around.push((last, last_block.end - first.start));
            }
            while around.pop_if(|&mut (last, _)| last < b).is_some() {}
            self.loop_length[b] = around.last().map(|&(_, length)| length);
        }
    }

    /// Returns true for `llvm.is.constant`, whose lowering does not read its operand.
    fn asks_only(&self, op: &Op) -> bool {
        let Op::Call(call) = op else { return false };
        match call.callee {
            Callee::Symbol(GlobalRef::Func(f)) => {
                self.m.functions[f].name.starts_with("llvm.is.constant")
            }
            _ => false,
        }
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
