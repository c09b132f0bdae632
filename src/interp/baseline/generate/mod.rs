//! Generates machine code for a function's bytecode, block by block.
//!
//! Every block has an inner label. A block with several entries begins with nothing in registers
//! but its loop's pins; a block with a single native predecessor inherits the predecessor's
//! registers. Word 0 of a block's first instruction leads to the inner label, or to code that loads
//! the pins first; blocks that inherit registers keep their handlers in word 0.
//!
//! `edge` emits transitions between blocks, `uses` looks ahead, and `out_of_line` emits the code
//! after the blocks. Single instructions are in `emit`.

mod edge;
mod out_of_line;
mod uses;

use super::asm::{Alu, Asm, G, Label, RAX, Rm, X, at, cc};
use super::flow::{Bytecode, FlowGraph, Inst, by_handler};
use super::pins::{self, Pin};
use super::register_cache::{RegisterCache, RegisterState};
use super::table::{Flow, Template, i32_at};
use ompvm_interp::frame::LoweredFunction;
use ompvm_interp::osr;
use out_of_line::OutOfLine;
use uses::Uses;

/// The machine code of a function, and its entries.
#[derive(Debug)]
pub struct Output {
    /// The code.
    pub code: Vec<u8>,
    /// Pairs of the bytecode offset of a patched word 0 and the code offset that it leads to.
    pub entries: Vec<(u32, u32)>,
    /// Pairs of native and bytecode offsets, sorted.
    pub positions: Vec<(u32, u32)>,
}

/// The code generator of one function.
pub struct Generator<'a> {
    /// The register cache, with the code.
    pub c: RegisterCache,
    code: &'a Bytecode<'a>,
    graph: &'a FlowGraph,
    uses: Vec<Uses>,
    pins: Vec<Vec<Pin>>,
    inner: Vec<Label>,
    states: Vec<Option<RegisterState>>,
    out_of_line: Vec<OutOfLine>,
    entries: Vec<(u32, Label)>,
    positions: Vec<(u32, u32)>,
    /// The block and instruction being compiled.
    pub block: u32,
    pub(super) i: u32,
}

/// Compiles a function; `None` if that is not possible.
pub fn compile(lowered: &LoweredFunction) -> Option<Output> {
    let code = Bytecode { lowered };
    if code.len() == 0 {
        return None;
    }
    let graph = FlowGraph::new(&code)?;
    let mut asm = Asm::with_capacity(code.len() * 24 + 256);
    let inner = graph.blocks.iter().map(|_| asm.label()).collect();
    let mut g = Generator {
        c: RegisterCache::new(graph.number.len(), asm),
        uses: vec![Uses::default(); code.len()],
        pins: pins::choose(&code, &graph),
        inner,
        states: vec![None; graph.blocks.len()],
        out_of_line: Vec::new(),
        entries: Vec::with_capacity(graph.blocks.len()),
        positions: Vec::with_capacity(code.len()),
        block: 0,
        i: 0,
        code: &code,
        graph: &graph,
    };
    g.compute_uses();
    for b in 0..graph.blocks.len() as u32 {
        g.block(b);
    }
    g.finish_out_of_line();
    let Generator {
        mut c,
        entries,
        positions,
        ..
    } = g;
    c.asm.resolve();
    let entries = entries
        .into_iter()
        .map(|(at, label)| (at, c.asm.position(label)))
        .collect();
    Some(Output {
        code: std::mem::take(&mut c.asm.code),
        entries,
        positions,
    })
}

impl<'a> Generator<'a> {
    /// Returns the slot of a field of the current instruction.
    pub fn slot(&self, inst: &Inst, k: usize) -> u16 {
        // SAFETY: the row describes the instruction.
        unsafe { inst.row.fields[k].slot(inst.ip) }
    }

    /// Returns a field as an integer operand.
    pub fn g(&mut self, inst: &Inst, k: usize) -> Rm {
        self.c.read_g(self.slot(inst, k), self.again(k))
    }

    /// Returns a field in a general register.
    pub fn gr(&mut self, inst: &Inst, k: usize, scratch: G) -> G {
        self.c.reg_g(self.slot(inst, k), self.again(k), scratch)
    }

    /// Returns a field as a scalar float operand.
    pub fn x(&mut self, inst: &Inst, k: usize) -> Rm {
        self.c.read_x(self.slot(inst, k), self.again(k))
    }

    /// Returns a field in a vector register.
    pub fn xr(&mut self, inst: &Inst, k: usize, scratch: X) -> X {
        self.c.reg_x(self.slot(inst, k), self.again(k), scratch)
    }

    /// Returns a field as a packed operand.
    pub fn p(&mut self, inst: &Inst, k: usize) -> Rm {
        self.c.read_p(self.slot(inst, k), self.again(k))
    }

    /// Returns a packed field in a register.
    pub fn pr(&mut self, inst: &Inst, k: usize, scratch: X) -> X {
        self.c.reg_p(self.slot(inst, k), self.again(k), scratch)
    }

    /// Stores the slots that later blocks read.
    pub fn flush(&mut self, pins: bool) {
        let (graph, block) = (self.graph, self.block);
        self.c.flush(pins, |s| {
            graph.all_live || graph.succ(block).iter().any(|&t| graph.is_live_in(t, s))
        });
    }

    fn block(&mut self, b: u32) {
        let graph = self.graph;
        let block = &graph.blocks[b as usize];
        self.block = b;
        let label = self.inner[b as usize];
        let first = self.code.get(block.first);
        let head = osr::point_at(self.code.lowered, first.at).filter(|h| h.block.is_some());
        let past = match head {
            Some(_) => self.c.asm.label(),
            None => label,
        };
        if let Some(state) = self.states[b as usize].take() {
            self.c.set_state(state);
        } else {
            self.c.clear();
            let l = block.in_loop;
            if self.has_pins(l) {
                for k in 0..self.pins[l as usize].len() {
                    let p = self.pins[l as usize][k];
                    if p.vector {
                        self.c.pin_x(p.reg, p.slot, p.pair, p.modified);
                    } else {
                        self.c.pin_g(p.reg, p.slot, p.modified);
                    }
                }
                self.c.unlock();
                let entry = self.c.asm.label();
                self.out_of_line.push(OutOfLine::Entry {
                    label: entry,
                    block: b,
                    past,
                });
                self.entry(&first, entry);
            } else {
                self.entry(&first, past);
            }
        }
        self.c.asm.bind(label);
        if let Some(head) = head {
            let patched = self.c.asm.label();
            self.out_of_line.push(OutOfLine::Patched {
                label: patched,
                block: b,
            });
            let asm = &mut self.c.asm;
            asm.mov_imm(RAX, head.patched.as_ptr() as u64);
            asm.alu_imm(Alu::Cmp, false, Rm::Mem(at(RAX, 0)), 0);
            asm.jcc(cc::NE, patched);
            asm.bind(past);
        }
        for i in block.first..block.end {
            self.i = i;
            let inst = self.code.get(i);
            self.position(inst.at);
            if i + 1 == block.end && (by_handler(&inst) || inst.row.flow != Flow::Next) {
                self.terminator(&inst);
                return;
            }
            self.emit(&inst);
            self.end_inst(&inst);
        }
        self.flush(false);
        if b as usize + 1 < graph.blocks.len() {
            self.continue_in(b + 1);
        }
    }

    /// Lets word 0 of an instruction lead to a label, unless its handler must stay.
    fn entry(&mut self, inst: &Inst, label: Label) {
        if matches!(inst.row.template, Template::Call(_) | Template::Call1(_)) || !by_handler(inst)
        {
            self.entries.push((inst.at, label));
        }
    }

    fn position(&mut self, at: u32) {
        let here = self.c.asm.here();
        if let Some(last) = self.positions.last_mut()
            && last.0 == here
        {
            last.1 = at;
        } else {
            self.positions.push((here, at));
        }
    }

    /// Returns the block that a branch distance in the current instruction leads to.
    pub fn branch_block(&self, inst: &Inst, field: u8) -> u32 {
        // SAFETY: the row says that the field is at this offset.
        let off = unsafe { i32_at(inst.ip, field) };
        let at = inst.at.wrapping_add(off as u32);
        let ops = &self.code.lowered.ops;
        let i = ops.partition_point(|o| o.0 < at);
        self.graph.block_of[i]
    }

    /// Returns the address of the bytecode at an offset.
    pub fn address(&self, at: u32) -> u64 {
        self.code
            .lowered
            .code
            .as_ptr()
            .wrapping_byte_add(at as usize) as u64
    }
}
