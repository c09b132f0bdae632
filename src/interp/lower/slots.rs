//! Slot allocation: decides which values share slots.
//!
//! A frame lies on the native stack, so a program can recurse as deep as natively only if a slot
//! holds many values one after the other. First [`super::coalesce`] joins phis with their incoming
//! values. Then a linear scan over live intervals (Poletto and Sarkar, TOPLAS 21(5), 1999) gives
//! each class a slot that is free. Floats and vectors do not take the slots of integers, since the
//! baseline tier keeps a loop's slot in one class of registers.
//!
//! Positions: instruction `i` is at `2 * i`; the moves of a block's outgoing edges are just after
//! its terminator, at `2 * i + 1`. A use counts where code is emitted, so the operands of a
//! postponed value are used at its own use. A call that returns twice may continue with any value
//! that is live across it, so such values share nothing.

use super::flow::{Flow, Interval};
use super::materialize::Materialization;
use super::{Lowering, NO_SLOT};
use cranelift_entity::EntityRef;
use ompvm_ir::{Callee, Function, GlobalRef, Inst, Module, Op, Operand, Type, TypeId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Free slots, by number of consecutive slots.
#[derive(Default)]
pub(super) struct FreeSlots(Vec<Vec<u16>>);

impl FreeSlots {
    pub(super) fn take(&mut self, words: u16) -> Option<u16> {
        self.0.get_mut(words as usize)?.pop()
    }

    pub(super) fn give(&mut self, words: u16, slot: u16) {
        let words = words as usize;
        if self.0.len() <= words {
            self.0.resize_with(words + 1, Vec::new);
        }
        self.0[words].push(slot);
    }
}

/// A use of a value, where its code is emitted.
pub(super) struct Use {
    pub(super) value: u32,
    pub(super) block: u32,
    pub(super) at: i64,
}

/// Slots reserved for values that live in one block.
const RESERVED_SLOTS: u64 = 4_000;

/// Returns true if a function has more values that live in several blocks than there are slot
/// numbers. (Values of one block share slots; only thousands of them alive at once could still be
/// too many.)
pub fn too_many_slots(m: &Module, f: &Function) -> bool {
    let Some(body) = &f.body else { return false };
    let limit = u64::from(NO_SLOT) - RESERVED_SLOTS;
    let words = |i: &Inst| u64::from(super::words(m, i.ty));
    if body.insts.iter().map(words).sum::<u64>() <= limit {
        return false;
    }
    let nparams = f.signature(m).1.len();
    let mut block_of = vec![0u32; body.insts.len()];
    for (b, block) in body.blocks.iter().enumerate() {
        block_of[block.start as usize..block.end as usize].fill(b as u32);
    }
    let mut shared = vec![false; body.insts.len()];
    for (user, inst) in body.insts.iter().enumerate() {
        let phi = matches!(inst.op, Op::Phi { .. });
        inst.op.for_each_operand(&mut |o| {
            if let Ok(v) = o.unpack()
                && let Some(i) = v.index().checked_sub(nparams)
            {
                shared[i] |= phi || block_of[i] != block_of[user];
            }
        });
    }
    let all = body.insts.iter().zip(shared);
    all.filter(|(_, s)| *s).map(|(i, _)| words(i)).sum::<u64>() > limit
}

impl Lowering<'_> {
    /// Calls `f` with the values whose slots code for an operand reads in `block`.
    fn leaves(&self, o: Operand, block: u32, f: &mut impl FnMut(usize)) {
        let Ok(v) = o.unpack() else { return };
        let v = v.index();
        match self.kind[v] {
            Materialization::AtDefinition | Materialization::Sunk | Materialization::Dead => f(v),
            Materialization::Alias | Materialization::AtUse | Materialization::Rematerialized => {
                self.operand_leaves(v, block, f)
            }
        }
    }

    /// Calls `f` with the leaves of an instruction's operands, for code in `block`.
    fn operand_leaves(&self, v: usize, block: u32, f: &mut impl FnMut(usize)) {
        let op = &self.body.insts[v - self.nparams].op;
        let gep = matches!(op, Op::Gep { .. });
        op.for_each_operand(&mut |o| {
            let o = if gep {
                self.counter_before_sinking(o, v, block).unwrap_or(o)
            } else {
                o
            };
            self.leaves(o, block, f);
        });
    }

    /// Returns the counter whose next value is the index `o` of the gep `user`, if that value is
    /// produced after the gep. Code for the gep in another block than its own reads the value:
    /// compiled loops leave no more than the values that the IR names.
    pub(super) fn counter_before_sinking(
        &self,
        o: Operand,
        user: usize,
        block: u32,
    ) -> Option<Operand> {
        let v = o.unpack().ok()?.index();
        let own = self.block_of[v];
        if self.kind[v] != Materialization::Sunk || own != self.block_of[user] || own != block {
            return None;
        }
        match self.body.insts[v - self.nparams].op {
            Op::Binary { a, .. } => Some(a),
            _ => None,
        }
    }

    /// Returns the position at which instruction `i` of a block that ends at `end` is emitted.
    pub(super) fn position(&self, i: u32, end: u32) -> i64 {
        if self.kind[self.nparams + i as usize] == Materialization::Sunk {
            i64::from(end) * 2 - 3
        } else {
            i64::from(i) * 2
        }
    }

    /// Returns every use of a leaf, at the position where it is emitted.
    fn uses(&self) -> Vec<Use> {
        let mut uses = Vec::with_capacity(self.body.insts.len() * 2);
        let mut add = |value: usize, block: u32, at: i64| {
            let value = value as u32;
            uses.push(Use { value, block, at });
        };
        for (b, block) in self.body.blocks.iter().enumerate() {
            for i in block.start..block.end {
                let v = self.nparams + i as usize;
                let op = &self.body.insts[i as usize].op;
                if !matches!(
                    self.kind[v],
                    Materialization::AtDefinition | Materialization::Sunk
                ) {
                    continue;
                }
                if let Op::Phi { incoming } = op {
                    for &(from, o) in incoming {
                        let end = i64::from(self.body.blocks[from.as_u32() as usize].end) * 2 - 1;
                        let from = from.as_u32();
                        self.leaves(o, from, &mut |v| add(v, from, end));
                    }
                } else {
                    let at = self.position(i, block.end);
                    self.operand_leaves(v, b as u32, &mut |v| add(v, b as u32, at));
                }
            }
        }
        uses
    }

    /// Returns the positions of calls that return twice.
    fn calls_that_return_twice(&self, flow: &Flow) -> Vec<i64> {
        let twice = |op: &Op| {
            let (Op::Call(call) | Op::Invoke { call, .. }) = op else {
                return false;
            };
            match call.callee {
                Callee::Symbol(GlobalRef::Func(f)) => {
                    let f = &self.m.functions[f];
                    f.attrs.returns_twice || f.body.is_none() && f.name.contains("setjmp")
                }
                _ => false,
            }
        };
        let insts = self.body.insts.iter().enumerate();
        insts
            .filter(|(_, inst)| twice(&inst.op))
            .map(|(i, _)| flow.position(self.block_of[self.nparams + i], i as i64 * 2))
            .collect()
    }

    /// Returns true if a value has slots of its own, apart from a parameter's.
    fn has_slots(&self, v: usize) -> bool {
        matches!(
            self.kind[v],
            Materialization::AtDefinition | Materialization::Sunk
        ) && self.words(self.body.insts[v - self.nparams].ty) > 0
    }

    /// Returns the live interval of each value.
    fn intervals(&self, flow: &Flow, uses: &[Use]) -> Vec<Interval> {
        let mut last = vec![i64::MIN; self.slot.len()];
        for u in uses {
            let last = &mut last[u.value as usize];
            *last = (*last).max(flow.position(u.block, u.at));
        }
        let mut intervals = vec![Interval::EMPTY; last.len()];
        for (v, end) in last.iter().enumerate().take(self.nparams) {
            intervals[v].add(-1);
            intervals[v].add(flow.extended(-1, (*end).max(-1)));
        }
        for (b, block) in self.body.blocks.iter().enumerate() {
            for i in block.start..block.end {
                let v = self.nparams + i as usize;
                if !self.has_slots(v) {
                    continue;
                }
                let def = flow.position(b as u32, self.position(i, block.end));
                intervals[v].add(def);
                // Written on the edges into the block.
                if matches!(
                    self.body.insts[i as usize].op,
                    Op::Phi { .. } | Op::LandingPad { .. }
                ) {
                    for &from in flow.preds.neighbors(b as u32) {
                        let end = i64::from(self.body.blocks[from as usize].end) * 2 - 1;
                        intervals[v].add(flow.position(from, end));
                    }
                }
                intervals[v].add(flow.extended(def, last[v].max(def)));
            }
        }
        intervals
    }

    pub(super) fn assign_slots(&mut self) {
        let (_, params, _) = self.f.signature(self.m);
        for (i, &p) in params.iter().enumerate() {
            self.slot[i] = self.next_slot as u16;
            self.next_slot += u32::from(self.words(p));
        }
        self.scratch = self.fresh(2);
        let flow = Flow::new(self.body);
        let uses = self.uses();
        let mut intervals = self.intervals(&flow, &uses);
        let twice = self.calls_that_return_twice(&flow);
        for i in intervals.iter_mut() {
            if twice.iter().any(|&call| i.start < call && call < i.end) {
                *i = Interval::ALWAYS;
            }
        }
        // Values of a class other than the first get the slot of the first.
        let mut classes = self.coalesce(&flow, &uses, |v| intervals[v] == Interval::ALWAYS);
        let mut follows = vec![false; self.slot.len()];
        for class in &mut classes {
            class.sort_unstable();
            let first = class[0] as usize;
            for &member in &class[1..] {
                follows[member as usize] = true;
                intervals[first] = intervals[first].union(intervals[member as usize]);
            }
        }
        let mut order: Vec<u32> = (self.nparams..self.slot.len())
            .filter(|&v| !follows[v] && intervals[v] != Interval::EMPTY)
            .map(|v| v as u32)
            .collect();
        order.sort_by_key(|&v| intervals[v as usize].start);
        self.scan(&order, &intervals);
        for class in classes {
            for &member in &class[1..] {
                self.slot[member as usize] = self.slot[class[0] as usize];
            }
        }
    }

    /// Gives slots to values, in the order in which their intervals start.
    fn scan(&mut self, order: &[u32], intervals: &[Interval]) {
        let mut free = [FreeSlots::default(), FreeSlots::default()];
        // The kind, the words and the slot are one number, which compares fast.
        let mut active: BinaryHeap<Reverse<(i64, u64)>> = BinaryHeap::new();
        for &v in order {
            let v = v as usize;
            let Interval { start, end } = intervals[v];
            while let Some(&Reverse((before, held))) = active.peek()
                && before < start
            {
                active.pop();
                free[(held >> 32) as usize].give((held >> 16) as u16, held as u16);
            }
            let ty = self.body.insts[v - self.nparams].ty;
            let (kind, words) = (usize::from(self.is_float(ty)), self.words(ty));
            let slot = match free[kind].take(words) {
                Some(slot) => slot,
                None => self.fresh(words),
            };
            self.slot[v] = slot;
            let held = (kind as u64) << 32 | u64::from(words) << 16 | u64::from(slot);
            active.push(Reverse((end, held)));
        }
    }

    /// Returns true if the baseline tier keeps a type's values in vector registers.
    fn is_float(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), Type::Float(_) | Type::Vector { .. })
    }
}
