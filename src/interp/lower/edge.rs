//! Edges between blocks: the moves that replace phis.
//!
//! A phi has a slot, and each edge into its block moves the incoming value there. The moves of an
//! edge are parallel: they are ordered so that no source is overwritten before it is read, and
//! cycles are broken by a temporary. An edge of a branch with several targets that needs moves gets
//! a stub after the function's blocks.

use super::materialize::Materialization;
use super::{Label, Lowering, NO_SLOT, Stub};
use crate::isa::{self, Enc, op};
use cranelift_entity::EntityRef;
use hashbrown::HashMap;
use ompvm_ir::{Const, Op, Operand};
use std::mem::offset_of;

impl Lowering<'_> {
    /// Returns true if the edge needs moves.
    pub(super) fn has_moves(&self, from: usize, to: usize) -> bool {
        let mut any = false;
        self.each_move(from, to, |_, _, _| any = true);
        any
    }

    /// Returns destination slot, words and source of an edge's moves.
    pub(super) fn moves(&self, from: usize, to: usize) -> Vec<(u16, u16, Operand)> {
        let mut out = Vec::new();
        self.each_move(from, to, |dst, words, source| {
            out.push((dst, words, source))
        });
        out
    }

    fn each_move(&self, from: usize, to: usize, mut f: impl FnMut(u16, u16, Operand)) {
        let block = self.body.blocks[to];
        for i in block.start as usize..block.end as usize {
            let inst = &self.body.insts[i];
            let Op::Phi { incoming } = &inst.op else {
                break;
            };
            let v = self.nparams + i;
            if self.kind[v] != Materialization::AtDefinition || self.slot[v] == NO_SLOT {
                continue;
            }
            let known = self.incoming.get(&(from, to)).map(|&k| k as usize);
            let here = |k: usize| incoming.get(k).filter(|(b, _)| b.as_u32() as usize == from);
            let Some(&(_, source)) = known
                .and_then(here)
                .or_else(|| incoming.iter().find(|(b, _)| b.as_u32() as usize == from))
            else {
                continue;
            };
            let same = match self.origin(source).unpack() {
                Ok(s) => {
                    matches!(
                        self.kind[s.index()],
                        Materialization::AtDefinition | Materialization::Sunk
                    ) && self.slot[s.index()] == self.slot[v]
                }
                Err(c) => matches!(self.m.consts[c], Const::Undef | Const::Poison),
            };
            if !same {
                f(self.slot[v], self.words(inst.ty), source);
            }
        }
    }

    pub(super) fn emit_moves(&mut self, moves: Vec<(u16, u16, Operand)>) {
        // Slots are moved first; constants cannot be overwritten and come last.
        let mut pending: Vec<(u16, u16, u16)> = Vec::new();
        let mut constants = Vec::new();
        for (dst, words, source) in moves {
            match source.unpack() {
                Err(c) => constants.push((dst, c)),
                Ok(_) => {
                    let a = self.operand(source);
                    if a != dst {
                        pending.push((dst, words, a));
                    }
                }
            }
        }
        self.parallel_moves(pending);
        for (dst, c) in constants {
            self.constant_into(dst, c);
        }
    }

    /// Performs moves (destination, words, source) in parallel.
    fn parallel_moves(&mut self, mut moves: Vec<(u16, u16, u16)>) {
        if let [(d, n, a)] = moves[..] {
            self.mov(d, a, n);
            return;
        }
        if moves.is_empty() {
            return;
        }
        // Number of pending moves that read a word, and the move that writes it.
        let mut readers: HashMap<u16, u32> = HashMap::new();
        let mut writer: HashMap<u16, usize> = HashMap::new();
        for (i, &(d, n, a)) in moves.iter().enumerate() {
            for w in 0..n {
                *readers.entry(a + w).or_default() += 1;
                writer.insert(d + w, i);
            }
        }
        let free = |m: (u16, u16, u16), readers: &HashMap<u16, u32>| {
            let (d, n, a) = m;
            (d..d + n).all(|w| {
                let own = u32::from((a..a + n).contains(&w));
                readers.get(&w).is_none_or(|&r| r <= own)
            })
        };
        let mut done = vec![false; moves.len()];
        let mut ready: Vec<usize> = (0..moves.len()).collect();
        let mut first = 0;
        while first < moves.len() {
            let (i, to) = match ready.pop() {
                Some(i) if done[i] || !free(moves[i], &readers) => continue,
                Some(i) => (i, None),
                // Only cycles are left: a temporary holds one value.
                None if done[first] => {
                    first += 1;
                    continue;
                }
                None => (first, Some(self.temp(moves[first].1))),
            };
            let (d, n, a) = moves[i];
            self.mov(to.unwrap_or(d), a, n);
            for w in a..a + n {
                if let Some(r) = readers.get_mut(&w) {
                    *r -= 1;
                }
                ready.extend(writer.get(&w));
            }
            match to {
                Some(t) => moves[i].2 = t,
                None => done[i] = true,
            }
            if to.is_some() {
                for w in 0..n {
                    *readers.entry(moves[i].2 + w).or_default() += 1;
                }
                ready.push(i);
            }
        }
    }

    /// Jumps to a block; the last move emitted since `start` may be fused with the jump.
    pub(super) fn jump(&mut self, start: u32, to: usize) {
        // A loop is counted and entered at its head's own place only.
        if self.is_test(to) && self.loop_heads.binary_search(&to).is_err() {
            let from = std::mem::replace(&mut self.current, to);
            self.branch(self.body.blocks[to].end as usize - 1);
            self.current = from;
            return;
        }
        if let Some(&(at, number)) = self.ops.last()
            && at >= start
            && number == op::mov.number
            && at as usize + size_of::<Enc<isa::Da>>() == self.code.len() * 8
        {
            // SAFETY: the instruction recorded at `at` is a `mov`, whose shape is `Da`.
            let isa::Da { dst, a } = unsafe {
                (*self
                    .code
                    .as_ptr()
                    .byte_add(at as usize)
                    .cast::<Enc<isa::Da>>())
                .ops
            };
            self.ops.pop();
            self.code.truncate(at as usize / 8);
            let at = self.emit(op::mov_jump, isa::DaBr { dst, a, target: 0 });
            self.branch_to(at, offset_of!(Enc<isa::DaBr>, ops.target), Label(to as u32));
            return;
        }
        let at = self.emit(op::jump, isa::Br { target: 0 });
        self.branch_to(at, offset_of!(Enc<isa::Br>, ops.target), Label(to as u32));
    }

    /// Emits the moves of an edge and the jump to its block.
    pub(super) fn edge(&mut self, from: usize, to: usize) {
        let (start, moves) = (self.here(), self.moves(from, to));
        self.emit_moves(moves);
        self.jump(start, to);
    }

    /// Returns the label that a branch from the current block to `to` must use.
    pub(super) fn target(&mut self, to: usize) -> Label {
        let from = self.current;
        if !self.has_moves(from, to) {
            return Label(to as u32);
        }
        if let Some(&label) = self.stub_of.get(&(from, to)) {
            return label;
        }
        let label = self.new_label();
        self.stub_of.insert((from, to), label);
        self.stubs.push(Stub { label, from, to });
        label
    }
}
