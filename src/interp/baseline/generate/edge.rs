//! Transitions between blocks: the registers that a block begins with, and a loop's pinned slots.
//!
//! A block with a single predecessor in the same loop inherits its registers; other blocks begin
//! with their loop's pins only. Inheriting more would need agreement among all predecessors, a pass
//! that a baseline compiler cannot afford. `pins` selects the pinned slots.

use super::super::asm::{Label, Rm};
use super::super::flow::NONE;
use super::super::pins::Pin;
use super::super::register_cache::home;
use super::Generator;
use super::out_of_line::OutOfLine;

impl Generator<'_> {
    pub(super) fn loop_of(&self, b: u32) -> u32 {
        self.graph.blocks[b as usize].in_loop
    }

    pub(super) fn has_pins(&self, l: u32) -> bool {
        l != NONE && !self.pins[l as usize].is_empty()
    }

    /// Continues with a block from the current one, whose live slots are stored; emits no jump if
    /// that block is next.
    pub fn continue_in(&mut self, to: u32) {
        let from = self.loop_of(self.block);
        self.inherit(to);
        self.cross(from, to);
        if to != self.block + 1 {
            let label = self.inner[to as usize];
            self.c.asm.jmp(label);
        }
    }

    /// Passes the current registers on to a block that only the current one leads to.
    fn inherit(&mut self, to: u32) {
        let t = &self.graph.blocks[to as usize];
        if t.preds == 1
            && !t.external
            && to > self.block
            && t.in_loop == self.loop_of(self.block)
            && !self.c.asm.is_bound(self.inner[to as usize])
        {
            self.states[to as usize] = Some(self.c.state());
        }
    }

    /// Returns the label to jump to for a block.
    pub fn target(&mut self, to: u32) -> Label {
        let from = self.loop_of(self.block);
        self.inherit(to);
        if self.crosses(from, to) {
            let label = self.c.asm.label();
            self.out_of_line.push(OutOfLine::Edge { label, from, to });
            label
        } else {
            self.inner[to as usize]
        }
    }

    fn crosses(&self, from: u32, to: u32) -> bool {
        let into = self.loop_of(to);
        from != into
            && (self.has_pins(into)
                || self.has_pins(from)
                    && self.pins[from as usize]
                        .iter()
                        .any(|p| p.modified && self.pin_live(p, to)))
    }

    fn pin_live(&self, p: &Pin, b: u32) -> bool {
        self.graph.is_live_in(b, p.slot) || p.pair && self.graph.is_live_in(b, p.slot + 1)
    }

    /// Stores one loop's pins and loads another's.
    pub(super) fn cross(&mut self, from: u32, to: u32) {
        let into = self.loop_of(to);
        if from == into {
            return;
        }
        self.store_pins(from, to);
        self.load_pins(into, to);
    }

    /// Stores the pinned slots of a loop that the block `to` reads.
    pub(super) fn store_pins(&mut self, l: u32, to: u32) {
        if l == NONE {
            return;
        }
        for k in 0..self.pins[l as usize].len() {
            let p = self.pins[l as usize][k];
            if p.modified && self.pin_live(&p, to) {
                let m = home(p.slot);
                match (p.vector, p.pair) {
                    (true, true) => self.c.asm.vstore128(m, p.reg),
                    (true, false) => self.c.asm.vstore64(m, p.reg),
                    _ => self.c.asm.store(m, p.reg),
                }
            }
        }
    }

    pub(super) fn load_pins(&mut self, l: u32, to: u32) {
        if l == NONE {
            return;
        }
        for k in 0..self.pins[l as usize].len() {
            let p = self.pins[l as usize][k];
            if self.pin_live(&p, to) {
                let m = home(p.slot);
                match (p.vector, p.pair) {
                    (true, true) => self.c.asm.vload128(p.reg, m),
                    (true, false) => self.c.asm.vload64(p.reg, m),
                    _ => self.c.asm.mov(p.reg, Rm::Mem(m)),
                }
            }
        }
    }
}
