//! Out-of-line code after the blocks: edges between loops, entries from bytecode, exits to
//! handlers.
//!
//! This code is expected to run rarely, so it does not take space in the instruction cache beside
//! the blocks. The register state at each piece was decided in its block.
//!
//! The module is not named `cold`, since llvm-bolt takes `.cold` in a symbol for a compiler's split
//! of a function.

use super::super::asm::{Label, RAX, RDI, Rm, at};
use super::super::flow::Inst;
use super::super::register_cache::DirtySlot;
use super::Generator;
use ompvm_interp::isa::INSTRUCTIONS;

/// A piece of out-of-line code.
pub(super) enum OutOfLine {
    /// An edge from a block of one loop (or none) to a block of another.
    Edge { label: Label, from: u32, to: u32 },
    /// An entry from word 0 into a block of a loop, past the test of the head's flag.
    Entry {
        label: Label,
        block: u32,
        past: Label,
    },
    /// An exit at a loop's head through word 0.
    Patched { label: Label, block: u32 },
    /// An exit to the instruction's own handler, after storing some operands.
    Bail {
        label: Label,
        at: u32,
        number: u16,
        stores: Vec<DirtySlot>,
    },
}

impl Generator<'_> {
    /// Returns the label of an exit that runs the current instruction's handler; all slots that it
    /// needs are in memory.
    pub fn bail(&mut self, inst: &Inst) -> Label {
        self.bail_with(inst, Vec::new())
    }

    /// Returns the label of an exit in the middle of a block. It first stores the slots that are
    /// only in registers; the instructions after this one are run by their handlers until a patched
    /// one.
    pub fn bail_all(&mut self, inst: &Inst) -> Label {
        let stores = self.c.dirty();
        self.bail_with(inst, stores)
    }

    pub(super) fn bail_with(&mut self, inst: &Inst, stores: Vec<DirtySlot>) -> Label {
        let label = self.c.asm.label();
        self.out_of_line.push(OutOfLine::Bail {
            label,
            at: inst.at,
            number: inst.number,
            stores,
        });
        label
    }

    /// Jumps to an instruction's handler; all slots are stored.
    pub fn jump_to_handler(&mut self, at: u32, number: u16) {
        let ip = self
            .code
            .lowered
            .code
            .as_ptr()
            .wrapping_byte_add(at as usize);
        self.c.asm.mov_imm(RDI, ip as u64);
        self.c
            .asm
            .mov_imm(RAX, INSTRUCTIONS.handlers[number as usize] as usize as u64);
        self.c.asm.jmp_rm(Rm::Reg(RAX));
    }

    pub(super) fn finish_out_of_line(&mut self) {
        let mut k = 0;
        while k < self.out_of_line.len() {
            match &self.out_of_line[k] {
                &OutOfLine::Edge { label, from, to } => {
                    let at = self.code.get(self.graph.blocks[to as usize].first).at;
                    self.position(at);
                    self.c.asm.bind(label);
                    self.cross(from, to);
                    let inner = self.inner[to as usize];
                    self.c.asm.jmp(inner);
                }
                &OutOfLine::Entry { label, block, past } => {
                    let at = self.code.get(self.graph.blocks[block as usize].first).at;
                    self.position(at);
                    self.c.asm.bind(label);
                    let l = self.loop_of(block);
                    self.load_pins(l, block);
                    self.c.asm.jmp(past);
                }
                &OutOfLine::Patched { label, block } => {
                    let to = self.code.get(self.graph.blocks[block as usize].first).at;
                    self.position(to);
                    self.c.asm.bind(label);
                    self.store_pins(self.loop_of(block), block);
                    let ip = self.address(to);
                    self.c.asm.mov_imm(RDI, ip);
                    self.c.asm.jmp_rm(Rm::Mem(at(RDI, 0)));
                }
                OutOfLine::Bail {
                    label,
                    at: offset,
                    number,
                    stores,
                } => {
                    let (label, offset, number) = (*label, *offset, *number);
                    let stores = stores.clone();
                    self.position(offset);
                    self.c.asm.bind(label);
                    for s in stores {
                        self.c.store_back(s);
                    }
                    self.jump_to_handler(offset, number);
                }
            }
            k += 1;
        }
    }
}
