//! Look-ahead: the later uses of each instruction's operands.
//!
//! One backward pass over each block records which operands are used again, which are dead, and
//! which are next used as floats, since a register is chosen by its next use. Registers of operands
//! that die are released. `flow` computes liveness between blocks.

use super::super::asm::{G, X};
use super::super::flow::{Inst, NONE};
use super::super::table::{OperandClass, OperandField};
use super::Generator;

/// The later uses of an instruction's operands, one bit per field.
#[derive(Clone, Copy, Default)]
pub struct Uses {
    /// The operand is used again in this block before it is written.
    again: u8,
    /// The operand is dead afterwards; a destination is never read.
    dead: u8,
    /// The next use in this block is as a float.
    float: u8,
}

/// The uses later in the block, by slot. A slot's entry holds when it equals the block's number, so
/// entries need not be cleared.
struct LaterUses {
    /// Slots that are read later, in this block or after it.
    live: Vec<u32>,
    /// Slots that are read later in this block.
    again: Vec<u32>,
    /// Slots whose next read in this block is as a float.
    float: Vec<u32>,
    block: u32,
    /// True if every slot is live everywhere.
    all: bool,
}

impl LaterUses {
    /// Returns true if any of the slots is read later.
    fn wanted(&self, slot: u16, words: u16) -> bool {
        self.all
            || (slot..slot.saturating_add(words))
                .any(|s| self.live.get(s as usize) == Some(&self.block))
    }

    /// Records a write: earlier instructions do not see later uses.
    fn record_write(&mut self, slot: u16, words: u16) {
        for s in slot..slot.saturating_add(words) {
            if let Some(l) = self.live.get_mut(s as usize) {
                *l = NONE;
                self.again[s as usize] = NONE;
                self.float[s as usize] = NONE;
            }
        }
    }

    /// Records a read.
    fn record_read(&mut self, slot: u16, words: u16, float: bool) {
        for s in slot..slot.saturating_add(words) {
            if let Some(l) = self.live.get_mut(s as usize) {
                *l = self.block;
                self.again[s as usize] = self.block;
                self.float[s as usize] = if float { self.block } else { NONE };
            }
        }
    }

    /// Adds the later uses of a slot to the uses of field `k`.
    fn add_uses(&self, uses: &mut Uses, k: usize, slot: u16, words: u16) {
        let bit = |set: bool| u8::from(set) << k;
        uses.dead |= bit(!self.wanted(slot, words));
        uses.again |= bit(self.again[slot as usize] == self.block);
        uses.float |= bit(self.float[slot as usize] == self.block);
    }

    /// Steps back over an instruction; returns the uses of its operands.
    fn step_back(&mut self, inst: &Inst) -> Uses {
        let mut uses = Uses::default();
        let fields = || inst.row.fields.iter().enumerate();
        // SAFETY: the row describes this instruction.
        let place = |f: &OperandField| unsafe { (f.slot(inst.ip), f.count(inst.ip)) };
        for (k, f) in fields().filter(|(_, f)| f.def) {
            let (slot, words) = place(f);
            self.add_uses(&mut uses, k, slot, words);
            self.record_write(slot, words);
        }
        // Templates do not use this bit of a result.
        uses.again = 0;
        let result_float = uses.float != 0;
        for (k, f) in fields().filter(|(_, f)| !f.def) {
            let (slot, words) = place(f);
            self.add_uses(&mut uses, k, slot, words);
        }
        // SAFETY: the row describes this instruction.
        unsafe {
            inst.row.extras(
                inst.ip,
                &mut |s, n| self.record_read(s, n, false),
                &mut |_, _| {},
            );
        }
        for (_, f) in fields().filter(|(_, f)| !f.def) {
            let (slot, words) = place(f);
            let float = match f.class {
                OperandClass::X | OperandClass::P | OperandClass::V => true,
                OperandClass::N => result_float,
                _ => false,
            };
            self.record_read(slot, words, float);
        }
        uses
    }
}

impl Generator<'_> {
    /// Computes the later uses of all operands.
    pub(super) fn compute_uses(&mut self) {
        let n = self.graph.number.len() + 1;
        let mut later = LaterUses {
            live: vec![NONE; n],
            again: vec![NONE; n],
            float: vec![NONE; n],
            block: 0,
            all: self.graph.all_live,
        };
        for b in 0..self.graph.blocks.len() as u32 {
            later.block = b;
            if !later.all {
                for &t in self.graph.succ(b) {
                    for s in self.graph.live_into(t) {
                        later.live[s as usize] = b;
                    }
                }
            }
            let block = &self.graph.blocks[b as usize];
            for i in (block.first..block.end).rev() {
                self.uses[i as usize] = later.step_back(&self.code.get(i));
            }
        }
    }

    /// Returns true if a field's slot is used again in this block.
    pub fn again(&self, k: usize) -> bool {
        self.uses[self.i as usize].again >> k & 1 != 0
    }

    /// Returns true if a field's slot is dead after this instruction.
    pub fn dead(&self, k: usize) -> bool {
        self.uses[self.i as usize].dead >> k & 1 != 0
    }

    /// Returns true if a field's slot is next used as a float.
    pub fn float_next(&self, k: usize) -> bool {
        self.uses[self.i as usize].float >> k & 1 != 0
    }

    /// Releases operands that die here, so that the destination may take their registers. For
    /// templates whose last machine instruction reads all remaining operands and writes the result.
    pub fn release(&mut self, inst: &Inst) {
        self.end_uses(inst);
        self.c.unlock();
    }

    fn release_slots(&mut self, class: OperandClass, slot: u16, words: u16) {
        match class {
            OperandClass::P => self.c.kill_pair(slot),
            OperandClass::V => {
                for s in (slot..slot + words).step_by(2) {
                    if s + 1 < slot + words {
                        self.c.kill_pair(s);
                    } else {
                        self.c.kill(s);
                    }
                }
            }
            _ => self.c.kill(slot),
        }
    }

    fn end_uses(&mut self, inst: &Inst) {
        let dead = self.uses[self.i as usize].dead;
        if dead == 0 {
            return;
        }
        for (k, f) in inst.row.fields.iter().enumerate() {
            if !f.def && dead >> k & 1 != 0 {
                // SAFETY: the row describes the instruction.
                let (s, n) = unsafe { (f.slot(inst.ip), f.count(inst.ip)) };
                self.release_slots(f.class, s, n);
            }
        }
    }

    /// Ends an instruction: releases the operands that die and do not overlap the destination.
    pub(super) fn end_inst(&mut self, inst: &Inst) {
        let dst = inst
            .row
            .fields
            .iter()
            .find(|f| f.def)
            .map(|f: &OperandField| {
                // SAFETY: the row describes the instruction.
                unsafe { (f.slot(inst.ip), f.count(inst.ip)) }
            });
        let dead = self.uses[self.i as usize].dead;
        if dead != 0 {
            for (k, f) in inst.row.fields.iter().enumerate() {
                if f.def || dead >> k & 1 == 0 {
                    continue;
                }
                // SAFETY: the row describes the instruction.
                let (s, n) = unsafe { (f.slot(inst.ip), f.count(inst.ip)) };
                if dst.is_some_and(|(d, m)| s < d + m && d < s + n) {
                    continue;
                }
                self.release_slots(f.class, s, n);
            }
        }
        self.c.unlock();
    }

    /// Releases operands that die here; returns the general register for the result.
    pub fn result_g(&mut self, inst: &Inst) -> G {
        self.release(inst);
        self.c.def_g(self.slot(inst, 0), self.dead(0))
    }

    /// Releases operands that die here; returns the vector register for a scalar result.
    pub fn result_x(&mut self, inst: &Inst) -> X {
        self.release(inst);
        self.c.def_x(self.slot(inst, 0), self.dead(0))
    }

    /// Releases operands that die here; returns the vector register for a pair.
    pub fn result_p(&mut self, inst: &Inst) -> X {
        self.release(inst);
        self.c.def_p(self.slot(inst, 0), self.dead(0))
    }
}
