//! Selects the slots that a loop keeps in registers.
//!
//! A slot is pinned if it is live into one of the loop's blocks, is used in one class of registers
//! only, and is used more often than handlers in the loop would force it to memory and back. Block
//! frequencies are unknown, so every use counts the same.

use super::flow::{Bytecode, FlowGraph, by_handler};
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
    let mut counts = vec![Count::default(); graph.number.len() + 1];
    let mut out = Vec::with_capacity(graph.loops.len());
    for (l, body) in graph.loops.iter().enumerate() {
        let stamp = l as u32 + 1;
        let mut handlers = 0;
        let mut touched: Vec<u16> = Vec::new();
        for &b in body {
            let block = &graph.blocks[b as usize];
            for i in block.first..block.end {
                let inst = code.get(i);
                let handler = by_handler(&inst);
                handlers += u32::from(handler);
                let mut count = |slot: u16, f: &mut dyn FnMut(&mut Count)| {
                    let Some(c) = counts.get_mut(slot as usize) else {
                        return;
                    };
                    if c.stamp != stamp {
                        *c = Count {
                            stamp,
                            ..Count::default()
                        };
                        touched.push(slot);
                    }
                    f(c);
                };
                // SAFETY: the row describes this instruction.
                unsafe {
                    for f in inst.row.fields {
                        let (slot, words) = (f.slot(inst.ip), f.count(inst.ip));
                        for w in 0..words {
                            count(slot + w, &mut |c| {
                                c.modified |= f.def;
                                if handler {
                                    return;
                                }
                                match f.class {
                                    OperandClass::G => c.g += 1,
                                    OperandClass::X => c.x += 1,
                                    OperandClass::N => c.neutral += 1,
                                    OperandClass::P if w == 0 => c.pair += 1,
                                    OperandClass::P => c.high += 1,
                                    OperandClass::M | OperandClass::V => c.mixed = true,
                                }
                            });
                        }
                    }
                    if inst.row.extra != ExtraOperands::None {
                        let mut seen: Vec<(u16, bool)> = Vec::new();
                        let mut defs: Vec<u16> = Vec::new();
                        inst.row.extras(
                            inst.ip,
                            &mut |s, n| seen.extend((s..s.saturating_add(n)).map(|s| (s, false))),
                            &mut |s, n| defs.extend(s..s.saturating_add(n)),
                        );
                        seen.extend(defs.iter().map(|&s| (s, true)));
                        for (s, def) in seen {
                            count(s, &mut |c| {
                                c.modified |= def;
                                c.mixed |= !handler;
                            });
                        }
                    }
                }
            }
        }
        let live = |s: u16| body.iter().any(|&b| graph.is_live_in(b, s));
        // Benefit, slot, and true for a pair.
        let mut general: Vec<(u32, u16)> = Vec::new();
        let mut vector: Vec<(u32, u16, bool)> = Vec::new();
        for &s in &touched {
            let c = counts[s as usize];
            if c.mixed || c.high > 0 || graph.number[s as usize] == super::flow::NONE {
                continue;
            }
            let cost = handlers * (1 + u32::from(c.modified));
            if c.pair > 0 {
                let d = counts[s as usize + 1];
                let alone = c.g + c.x + c.neutral == 0;
                let other = d.stamp == stamp && !d.mixed && d.g + d.x + d.pair + d.neutral == 0;
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
        let mut pins = Vec::new();
        // Low registers are left free, since templates take theirs from the low end.
        let mut regs = (0..16u8).rev().filter(|r| GENERAL_REGISTERS >> r & 1 != 0);
        let most = GENERAL_REGISTERS.count_ones() as usize - RESERVED_GENERAL;
        for (&(_, slot), reg) in general.iter().take(most).zip(&mut regs) {
            pins.push(Pin {
                slot,
                reg,
                vector: false,
                pair: false,
                modified: counts[slot as usize].modified,
            });
        }
        let mut regs = (0..16u8).rev().filter(|r| VECTOR_REGISTERS >> r & 1 != 0);
        let most = VECTOR_REGISTERS.count_ones() as usize - RESERVED_VECTOR;
        for (&(_, slot, pair), reg) in vector.iter().take(most).zip(&mut regs) {
            let modified =
                counts[slot as usize].modified || pair && counts[slot as usize + 1].modified;
            pins.push(Pin {
                slot,
                reg,
                vector: true,
                pair,
                modified,
            });
        }
        out.push(pins);
    }
    out
}
