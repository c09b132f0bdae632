//! Coalescing: gives a phi and its incoming values one slot if their live ranges do not overlap, so
//! that a loop's counter is updated in place and the edge needs no move.
//!
//! Live ranges are exact here, as sets of blocks, since a phi and its incoming values overlap in
//! any coarser description. So they are computed for these values only, within a budget. Positions
//! are those of [`super::slots`].

use super::Lowering;
use super::flow::{Edges, Flow};
use super::materialize::Materialization;
use super::slots::Use;
use cranelift_entity::EntityRef;
use hashbrown::HashSet;
use ompvm_ir::{BinOp, Callee, GlobalRef, Op, Type};

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

/// The most pairs of values compared to join two classes.
const MAX_PAIRS: usize = 64;
/// The most blocks in which one value is tracked.
const MAX_BLOCKS: usize = 512;
/// The most block visits per instruction of the function, over all values.
const MAX_WORK: usize = 4;

impl Lowering<'_> {
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

    /// Gives phis and their incoming values one slot where their live ranges do not overlap.
    /// Returns the values that get one slot, class by class. Values for which `apart` is true share
    /// nothing.
    pub(super) fn coalesce(
        &self,
        flow: &Flow,
        uses: &[Use],
        apart: impl Fn(usize) -> bool,
    ) -> Vec<Vec<u32>> {
        let (mut candidates, pairs) = self.candidates(apart);
        if candidates.list.is_empty() {
            return Vec::new();
        }
        for u in uses {
            if let Some(c) = candidates.of_value(u.value as usize) {
                c.uses.push((u.block, u.at));
            }
        }
        let mut candidates = candidates.list;
        let budget = self.body.insts.len() * MAX_WORK + 10_000;
        find_live_blocks(&mut candidates, &flow.preds, budget);
        let classes = merge(&mut candidates, &pairs, &flow.succs).into_iter();
        let value = |m: u32| candidates[m as usize].value;
        classes
            .map(|class| class.into_iter().map(value).collect())
            .collect()
    }

    /// Returns phis and the values that come into them, and the pairs of a phi and such a value
    /// that should share a slot, most important first.
    fn candidates(&self, apart: impl Fn(usize) -> bool) -> (Candidates, Vec<(u32, u32)>) {
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
                    || apart(v)
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
                        && !apart(x.index())
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
