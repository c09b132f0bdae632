//! Slot allocation: decides which values share slots.
//!
//! Slots are shared in two ways. A phi and its incoming values get one slot if their live ranges
//! do not overlap, so that a loop's counter is updated in place and the edge needs no move. Values
//! used only in their own block get slots from a pool and return them when they die, so that long
//! straight-line code stays within the cache.
//!
//! Positions: instruction `i` is at `2 * i`; the moves of a block's outgoing edges are just after
//! its terminator, at `2 * i + 1`. A use counts where code is emitted, so the operands of a
//! postponed value are used at its own use. Functions that call setjmp share nothing: after its
//! second return any earlier value may be read.

use super::materialize::Materialization;
use super::{Lowering, NO_SLOT};
use cranelift_entity::EntityRef;
use hashbrown::HashSet;
use ompvm_ir::{BinOp, Callee, Function, GlobalRef, Inst, Module, Op, Operand, Type};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A phi, or an incoming value of one.
struct Candidate {
    value: u32,
    block: u32,
    /// Position of the definition; phis at their block's start, parameters before everything.
    def: i64,
    phi: bool,
    /// The counter of a sunk value; only the counter is read at the position where the value is
    /// written.
    counter: Option<u32>,
    /// Block and position of each use.
    uses: Vec<(u32, i64)>,
    live_in: Blocks,
    /// True if the value is live in too many blocks to track; it shares nothing.
    wide: bool,
    /// Representative in the union-find structure.
    class: u32,
}

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

/// A set of blocks; small block numbers need no allocation.
#[derive(Default)]
struct Blocks {
    first: u64,
    others: HashSet<u32>,
}

impl Blocks {
    fn insert(&mut self, b: u32) -> bool {
        if b < u64::BITS {
            let fresh = self.first & (1 << b) == 0;
            self.first |= 1 << b;
            fresh
        } else {
            self.others.insert(b)
        }
    }

    fn contains(&self, b: u32) -> bool {
        if b < u64::BITS {
            self.first & (1 << b) != 0
        } else {
            self.others.contains(&b)
        }
    }

    fn len(&self) -> usize {
        self.first.count_ones() as usize + self.others.len()
    }
}

/// An adjacency list: for each block a list of other blocks.
struct Edges {
    start: Vec<u32>,
    list: Vec<u32>,
}

impl Edges {
    /// Builds the lists of `n` blocks from pairs (block, other).
    fn new(n: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Edges {
        let mut start = vec![0u32; n + 2];
        for (b, _) in pairs.clone() {
            start[b as usize + 2] += 1;
        }
        for b in 2..start.len() {
            start[b] += start[b - 1];
        }
        let mut list = vec![0; start[n + 1] as usize];
        for (b, other) in pairs {
            let at = &mut start[b as usize + 1];
            list[*at as usize] = other;
            *at += 1;
        }
        Edges { start, list }
    }

    fn neighbors(&self, b: u32) -> &[u32] {
        let b = b as usize;
        &self.list[self.start[b] as usize..self.start[b + 1] as usize]
    }
}

/// The most pairs of values compared to join two classes.
const MAX_PAIRS: usize = 64;
/// The most blocks in which one value is tracked.
const MAX_BLOCKS: usize = 512;
/// The most block visits per instruction of the function, over all values.
const MAX_WORK: usize = 4;

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
    fn leaves(&self, o: Operand, f: &mut impl FnMut(usize)) {
        let Ok(v) = o.unpack() else { return };
        let v = v.index();
        match self.kind[v] {
            Materialization::AtDefinition | Materialization::Sunk | Materialization::Dead => f(v),
            Materialization::Alias | Materialization::AtUse | Materialization::Rematerialized => {
                self.operand_leaves(v, f)
            }
        }
    }

    /// Calls `f` with the leaves of an instruction's operands.
    fn operand_leaves(&self, v: usize, f: &mut impl FnMut(usize)) {
        let op = &self.body.insts[v - self.nparams].op;
        let gep = matches!(op, Op::Gep { .. });
        op.for_each_operand(&mut |o| {
            let o = if gep {
                self.counter_before_sinking(o, v).unwrap_or(o)
            } else {
                o
            };
            self.leaves(o, f);
        });
    }

    /// Returns the counter whose next value is the index `o` of the gep `user`, if that value is
    /// produced after the gep.
    pub(super) fn counter_before_sinking(&self, o: Operand, user: usize) -> Option<Operand> {
        let v = o.unpack().ok()?.index();
        if self.kind[v] != Materialization::Sunk || self.block_of[v] != self.block_of[user] {
            return None;
        }
        match self.body.insts[v - self.nparams].op {
            Op::Binary { a, .. } => Some(a),
            _ => None,
        }
    }

    /// Returns the position at which instruction `i` of a block that ends at `end` is emitted.
    fn position(&self, i: u32, end: u32) -> i64 {
        if self.kind[self.nparams + i as usize] == Materialization::Sunk {
            i64::from(end) * 2 - 3
        } else {
            i64::from(i) * 2
        }
    }

    /// Calls `f(value, block, position)` for every use, at the position where it is emitted.
    fn each_use(&self, mut f: impl FnMut(usize, u32, i64)) {
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
                        self.leaves(o, &mut |v| f(v, from.as_u32(), end));
                    }
                } else {
                    let at = self.position(i, block.end);
                    self.operand_leaves(v, &mut |v| f(v, b as u32, at));
                }
            }
        }
    }

    fn returns_twice(&self) -> bool {
        self.body.insts.iter().any(|i| {
            let (Op::Call(call) | Op::Invoke { call, .. }) = &i.op else {
                return false;
            };
            match call.callee {
                Callee::Symbol(GlobalRef::Func(f)) => {
                    let f = &self.m.functions[f];
                    f.attrs.returns_twice || f.body.is_none() && f.name.contains("setjmp")
                }
                _ => false,
            }
        })
    }

    /// Returns true if a value of several words may overwrite the slots of one of its operands.
    fn in_place(&self, v: usize) -> bool {
        let Some(i) = v.checked_sub(self.nparams) else {
            return true;
        };
        let inst = &self.body.insts[i];
        if matches!(inst.op, Op::LandingPad { .. }) {
            return false;
        }
        self.words(inst.ty) == 1
            || match &inst.op {
                Op::Phi { .. } | Op::Load { .. } => true,
                Op::Binary { op, .. } => {
                    matches!(self.ty(inst.ty), Type::Vector { .. } | Type::Int(_))
                        && !matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem)
                }
                Op::Call(call) => match call.callee {
                    Callee::Symbol(GlobalRef::Func(f)) => {
                        self.m.functions[f].name.starts_with("llvm.fmuladd.")
                    }
                    _ => false,
                },
                _ => false,
            }
    }

    pub(super) fn assign_slots(&mut self) {
        let (_, params, _) = self.f.signature(self.m);
        for (i, &p) in params.iter().enumerate() {
            self.slot[i] = self.next_slot as u16;
            self.next_slot += u32::from(self.words(p));
        }
        self.scratch = self.fresh(2);
        let share = !self.returns_twice();
        if share {
            self.coalesce();
        }
        self.local_slots(share);
    }

    fn local_slots(&mut self, share: bool) {
        // Last use in the value's own block; -1 if it is used elsewhere.
        let mut last = vec![0i64; self.slot.len()];
        if share {
            self.each_use(|v, b, at| {
                let l = &mut last[v];
                if *l >= 0 {
                    *l = if self.block_of[v] == b && at & 1 == 0 {
                        (*l).max(at)
                    } else {
                        -1
                    };
                }
            });
        }
        let mut pool = FreeSlots::default();
        let mut active: BinaryHeap<Reverse<(i64, u16, u16)>> = BinaryHeap::new();
        for i in 0..self.body.insts.len() {
            let v = self.nparams + i;
            let at = i as i64 * 2;
            let words = self.words(self.body.insts[i].ty);
            let own = matches!(
                self.kind[v],
                Materialization::AtDefinition | Materialization::Sunk
            );
            if own && words > 0 && self.slot[v] == NO_SLOT {
                let local = share
                    && self.kind[v] == Materialization::AtDefinition
                    && last[v] >= 0
                    && !matches!(
                        self.body.insts[i].op,
                        Op::Phi { .. } | Op::LandingPad { .. } | Op::Invoke { .. }
                    );
                if local {
                    let slot = match pool.take(words) {
                        Some(slot) => slot,
                        None => self.fresh(words),
                    };
                    self.slot[v] = slot;
                    active.push(Reverse((last[v].max(at), words, slot)));
                } else {
                    self.slot[v] = self.fresh(words);
                }
            }
            while let Some(&Reverse((end, words, slot))) = active.peek() {
                if end > at {
                    break;
                }
                active.pop();
                pool.give(words, slot);
            }
        }
    }

    /// Gives phis and their incoming values one slot where their live ranges do not overlap.
    fn coalesce(&mut self) {
        let (mut candidates, pairs) = self.candidates();
        if candidates.list.is_empty() {
            return;
        }
        self.each_use(|v, b, at| {
            if let Some(c) = candidates.of_value(v) {
                c.uses.push((b, at));
            }
        });
        let mut candidates = candidates.list;
        let nblocks = self.body.blocks.len();
        let edges = self.edges();
        let succs = Edges::new(nblocks, edges.iter().copied());
        let preds = Edges::new(nblocks, edges.iter().map(|&(b, s)| (s, b)));
        let budget = self.body.insts.len() * MAX_WORK + 10_000;
        find_live_blocks(&mut candidates, &preds, budget);
        for class in merge(&mut candidates, &pairs, &succs) {
            self.share_slot(&candidates, &class);
        }
    }

    /// Returns phis and the values that come into them, and the pairs of a phi and such a value
    /// that should share a slot, most important first.
    fn candidates(&self) -> (Candidates, Vec<(u32, u32)>) {
        let mut candidates = Candidates {
            list: Vec::new(),
            index: vec![u32::MAX; self.slot.len()],
        };
        // Back edges come first.
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut others: Vec<(u32, u32)> = Vec::new();
        for (b, block) in self.body.blocks.iter().enumerate() {
            for i in block.start as usize..block.end as usize {
                let Op::Phi { incoming } = &self.body.insts[i].op else {
                    break;
                };
                let v = self.nparams + i;
                if self.kind[v] != Materialization::AtDefinition
                    || self.words(self.body.insts[i].ty) == 0
                {
                    continue;
                }
                let p = self.candidate(v, &mut candidates);
                for &(_, o) in incoming {
                    if let Ok(x) = o.unpack()
                        && matches!(
                            self.kind[x.index()],
                            Materialization::AtDefinition | Materialization::Sunk
                        )
                        && self.in_place(x.index())
                    {
                        let x = self.candidate(x.index(), &mut candidates);
                        if candidates.list[x as usize].block as usize >= b {
                            pairs.push((p, x));
                        } else {
                            others.push((p, x));
                        }
                    }
                }
            }
        }
        pairs.extend(others);
        (candidates, pairs)
    }

    /// Returns the number of a value's candidate.
    fn candidate(&self, v: usize, candidates: &mut Candidates) -> u32 {
        if candidates.index[v] != u32::MAX {
            return candidates.index[v];
        }
        let n = candidates.list.len() as u32;
        let inst = v.checked_sub(self.nparams);
        let phi = inst.is_some_and(|i| matches!(self.body.insts[i].op, Op::Phi { .. }));
        let block = if inst.is_some() { self.block_of[v] } else { 0 };
        let def = match inst {
            None => -1,
            Some(_) if phi => i64::from(self.body.blocks[block as usize].start) * 2 - 1,
            Some(i) => self.position(i as u32, self.body.blocks[block as usize].end),
        };
        let counter = match inst.map(|i| &self.body.insts[i].op) {
            Some(Op::Binary { a, .. }) if self.kind[v] == Materialization::Sunk => {
                a.unpack().ok().map(|a| a.as_u32())
            }
            _ => None,
        };
        candidates.list.push(Candidate {
            value: v as u32,
            block,
            def,
            phi,
            counter,
            uses: Vec::new(),
            live_in: Blocks::default(),
            wide: false,
            class: n,
        });
        candidates.index[v] = n;
        n
    }

    /// Returns the edges between the function's blocks.
    fn edges(&self) -> Vec<(u32, u32)> {
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for (b, block) in self.body.blocks.iter().enumerate() {
            let Some(last) = self.body.insts[block.start as usize..block.end as usize].last()
            else {
                continue;
            };
            last.op
                .for_each_successor(&mut |s| edges.push((b as u32, s.as_u32())));
        }
        edges
    }

    /// Gives the members of a class one slot; a parameter's, if there is one.
    fn share_slot(&mut self, candidates: &[Candidate], class: &[u32]) {
        let param = class
            .iter()
            .map(|&m| candidates[m as usize].value as usize)
            .find(|&v| v < self.nparams);
        let slot = match param {
            Some(v) => self.slot[v],
            None => {
                let v = candidates[class[0] as usize].value as usize;
                self.fresh(self.words(self.body.insts[v - self.nparams].ty))
            }
        };
        for &m in class {
            self.slot[candidates[m as usize].value as usize] = slot;
        }
    }
}

/// The candidates of a function.
struct Candidates {
    list: Vec<Candidate>,
    /// The candidate of each value, or `u32::MAX`.
    index: Vec<u32>,
}

impl Candidates {
    fn of_value(&mut self, v: usize) -> Option<&mut Candidate> {
        self.list.get_mut(self.index[v] as usize)
    }
}

/// Determines the blocks that each candidate is live into, backwards from its uses. When the budget
/// of visited blocks is spent, the remaining candidates share nothing.
fn find_live_blocks(candidates: &mut [Candidate], preds: &Edges, mut budget: usize) {
    let mut work: Vec<u32> = Vec::new();
    for c in candidates {
        work.clear();
        for &(b, at) in &c.uses {
            let local = b == c.block && c.def < at;
            if !local && c.live_in.insert(b) {
                work.push(b);
            }
        }
        while let Some(b) = work.pop() {
            budget = budget.saturating_sub(1);
            for &p in preds.neighbors(b) {
                if p != c.block && c.live_in.insert(p) {
                    work.push(p);
                }
            }
            if budget == 0 || c.live_in.len() > MAX_BLOCKS {
                c.wide = true;
                break;
            }
        }
    }
}

/// Merges the classes of pairs that do not interfere. Returns the classes with several members.
fn merge(candidates: &mut [Candidate], pairs: &[(u32, u32)], succs: &Edges) -> Vec<Vec<u32>> {
    let mut members: Vec<Vec<u32>> = (0..candidates.len() as u32).map(|c| vec![c]).collect();
    for &(p, x) in pairs {
        let (a, b) = (candidates[p as usize].class, candidates[x as usize].class);
        if a == b || candidates[p as usize].wide || candidates[x as usize].wide {
            continue;
        }
        let (ma, mb) = (&members[a as usize], &members[b as usize]);
        if ma.len() * mb.len() > MAX_PAIRS {
            continue;
        }
        let clash = ma.iter().any(|&m| {
            mb.iter()
                .any(|&n| interfere(&candidates[m as usize], &candidates[n as usize], succs))
        });
        if !clash {
            let moved = std::mem::take(&mut members[b as usize]);
            for &m in &moved {
                candidates[m as usize].class = a;
            }
            members[a as usize].extend(moved);
        }
    }
    members.retain(|m| m.len() > 1);
    members
}

/// Returns true if `y` is live after position `at` of `block`.
fn live_after(y: &Candidate, block: u32, at: i64, succs: &Edges) -> bool {
    let defined = (y.block == block && y.def <= at) || y.live_in.contains(block);
    if !defined {
        return false;
    }
    // Inside its own block, a value that is live around the loop is a new value after its
    // definition.
    y.uses
        .iter()
        .any(|&(b, u)| b == block && u > at && !(y.block == block && y.def > at && u > y.def))
        || (!(y.block == block && y.def > at)
            && succs
                .neighbors(block)
                .iter()
                .any(|&s| y.live_in.contains(s)))
}

fn interfere(x: &Candidate, y: &Candidate, succs: &Edges) -> bool {
    if x.phi && y.phi && x.block == y.block {
        return true;
    }
    if x.def < 0 && !x.phi && y.def < 0 && !y.phi {
        return true;
    }
    // Values sunk to the end of a block are written in no particular order.
    let together = |x: &Candidate, y: &Candidate| {
        x.counter.is_some_and(|c| {
            c != y.value && y.uses.iter().any(|&(b, u)| b == x.block && u == x.def)
        })
    };
    if together(x, y) || together(y, x) {
        return true;
    }
    // A phi is written on the edges into its block, so it interferes with everything live into it.
    let clash = |x: &Candidate, y: &Candidate| {
        if x.phi {
            y.live_in.contains(x.block) || live_after(y, x.block, x.def, succs)
        } else {
            live_after(y, x.block, x.def, succs)
        }
    };
    clash(x, y) || clash(y, x)
}
