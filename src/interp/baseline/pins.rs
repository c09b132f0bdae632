//! Selects the slots that a loop keeps in registers.
//!
//! A slot is pinned if it is live into one of the loop's blocks, is used in one class of registers
//! only, and is used more often than handlers in the loop would force it to memory and back. Block
//! frequencies are unknown, so every use counts the same.

use super::flow::{Bytecode, FlowGraph, Inst, by_handler};
use super::register_cache::{GENERAL_REGISTERS, VECTOR_REGISTERS};
use super::table::{ExtraOperands, OperandClass};

/// A slot that a loop keeps in a register.
#[derive(Clone, Copy, Debug)]
pub struct Pin {
    /// The slot.
    pub slot: u16,
    /// Its register.
    pub reg: u8,
    /// True for a vector register.
    pub vector: bool,
    /// True if the register also holds the next slot.
    pub pair: bool,
    /// True if the loop writes the slot.
    pub modified: bool,
}

/// Registers left for other slots.
const RESERVED_GENERAL: usize = 4;
const RESERVED_VECTOR: usize = 5;

#[derive(Clone, Copy, Default)]
struct Count {
    stamp: u32,
    g: u32,
    x: u32,
    pair: u32,
    high: u32,
    neutral: u32,
    mixed: bool,
    modified: bool,
}

/// Chooses the pins of each loop.
pub fn choose(code: &Bytecode, graph: &FlowGraph) -> Vec<Vec<Pin>> {
    if graph.all_live || graph.loops.is_empty() {
        return vec![Vec::new(); graph.loops.len()];
    }
    let mut uses = LoopUses {
        counts: vec![Count::default(); graph.number.len() + 1],
        stamp: 0,
        handlers: 0,
        touched: Vec::new(),
    };
    let mut out = Vec::with_capacity(graph.loops.len());
    for body in &graph.loops {
        uses.start_loop();
        for &b in body {
            let block = &graph.blocks[b as usize];
            for i in block.first..block.end {
                uses.count_instruction(&code.get(i));
            }
        }
        let candidates = uses.candidates(graph, body);
        out.push(uses.assign(candidates));
    }
    out
}

/// Uses of the slots in one loop.
struct LoopUses {
    /// Counts by slot; valid where their stamp is the loop's.
    counts: Vec<Count>,
    /// Number of the loop, from 1.
    stamp: u32,
    /// Number of instructions that handlers run.
    handlers: u32,
    /// Slots that the loop uses.
    touched: Vec<u16>,
}

/// Slots that gain from a register during a loop, with the benefit first, best ones first.
struct Candidates {
    general: Vec<(u32, u16)>,
    /// The last part is true for a pair.
    vector: Vec<(u32, u16, bool)>,
}

impl LoopUses {
    fn start_loop(&mut self) {
        self.stamp += 1;
        self.handlers = 0;
        self.touched.clear();
    }

    /// Returns the count of a slot, or `None` if the slot is outside of the frame's numbered ones.
    fn count(&mut self, slot: u16) -> Option<&mut Count> {
        let c = self.counts.get_mut(slot as usize)?;
        if c.stamp != self.stamp {
            *c = Count {
                stamp: self.stamp,
                ..Count::default()
            };
            self.touched.push(slot);
        }
        Some(c)
    }

    fn count_instruction(&mut self, inst: &Inst) {
        let handler = by_handler(inst);
        self.handlers += u32::from(handler);
        for f in inst.row.fields {
            // SAFETY: the row describes this instruction.
            let (slot, words) = unsafe { (f.slot(inst.ip), f.count(inst.ip)) };
            for w in 0..words {
                let Some(c) = self.count(slot + w) else {
                    continue;
                };
                c.modified |= f.def;
                if handler {
                    continue;
                }
                match f.class {
                    OperandClass::G => c.g += 1,
                    OperandClass::X => c.x += 1,
                    OperandClass::N => c.neutral += 1,
                    OperandClass::P if w == 0 => c.pair += 1,
                    OperandClass::P => c.high += 1,
                    OperandClass::M | OperandClass::V => c.mixed = true,
                }
            }
        }
        if inst.row.extra == ExtraOperands::None {
            return;
        }
        let mut seen: Vec<(u16, bool)> = Vec::new();
        let mut defs: Vec<u16> = Vec::new();
        // SAFETY: the row describes this instruction.
        unsafe {
            inst.row.extras(
                inst.ip,
                &mut |s, n| seen.extend((s..s.saturating_add(n)).map(|s| (s, false))),
                &mut |s, n| defs.extend(s..s.saturating_add(n)),
            );
        }
        seen.extend(defs.iter().map(|&s| (s, true)));
        for (s, def) in seen {
            if let Some(c) = self.count(s) {
                c.modified |= def;
                c.mixed |= !handler;
            }
        }
    }

    /// Selects the slots whose uses save more than loading them, and storing modified ones, around
    /// each handler costs.
    fn candidates(&self, graph: &FlowGraph, body: &[u32]) -> Candidates {
        let live = |s: u16| body.iter().any(|&b| graph.is_live_in(b, s));
        let mut general = Vec::new();
        let mut vector = Vec::new();
        for &s in &self.touched {
            let c = self.counts[s as usize];
            if c.mixed || c.high > 0 || graph.number[s as usize] == super::flow::NONE {
                continue;
            }
            let cost = self.handlers * (1 + u32::from(c.modified));
            if c.pair > 0 {
                let d = self.counts[s as usize + 1];
                let alone = c.g + c.x + c.neutral == 0;
                let other =
                    d.stamp == self.stamp && !d.mixed && d.g + d.x + d.pair + d.neutral == 0;
                if alone && other && c.pair > cost && (live(s) || live(s + 1)) {
                    vector.push((c.pair - cost, s, true));
                }
            } else if c.g > 0 && c.x > 0 {
                continue;
            } else {
                let uses = c.g + c.x + c.neutral;
                if uses > cost && live(s) {
                    if c.x > 0 {
                        vector.push((uses - cost, s, false));
                    } else {
                        general.push((uses - cost, s));
                    }
                }
            }
        }
        general.sort_unstable_by(|a, b| b.cmp(a));
        vector.sort_unstable_by(|a, b| b.cmp(a));
        Candidates { general, vector }
    }

    /// Gives the best candidates registers.
    fn assign(&self, candidates: Candidates) -> Vec<Pin> {
        let modified = |slot: u16| self.counts[slot as usize].modified;
        let mut pins = Vec::new();
        // Low registers are left free, since templates take theirs from the low end.
        let mut regs = (0..16u8).rev().filter(|r| GENERAL_REGISTERS >> r & 1 != 0);
        let most = GENERAL_REGISTERS.count_ones() as usize - RESERVED_GENERAL;
        for (&(_, slot), reg) in candidates.general.iter().take(most).zip(&mut regs) {
            pins.push(Pin {
                slot,
                reg,
                vector: false,
                pair: false,
                modified: modified(slot),
            });
        }
        let mut regs = (0..16u8).rev().filter(|r| VECTOR_REGISTERS >> r & 1 != 0);
        let most = VECTOR_REGISTERS.count_ones() as usize - RESERVED_VECTOR;
        for (&(_, slot, pair), reg) in candidates.vector.iter().take(most).zip(&mut regs) {
            pins.push(Pin {
                slot,
                reg,
                vector: true,
                pair,
                modified: modified(slot) || pair && modified(slot + 1),
            });
        }
        pins
    }
}
