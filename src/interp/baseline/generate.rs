//! From a function's bytecode to machine code: blocks, edges, and what a block begins with.
//!
//! Every block has an inner label. A block that may be entered from several places begins with
//! nothing in registers but its loop's pins; one with a single native predecessor goes on with
//! what that left there. Word 0 of a block's first instruction leads to the inner label, or to a
//! piece that loads the pins first; blocks that inherit registers keep their handlers in word 0.
//! What not: single instructions are in `emit`.

use super::asm::{Alu, Asm, G, Label, RAX, RDI, Rm, X, at, cc};
use super::cache::{Cache, State, Store, home};
use super::flow::{Code, Graph, Inst, NONE, by_handler};
use super::pins::{self, Pin};
use super::table::{Class, Field, Flow, Template, i32_at};
use crate::interp::frame::Lowered;
use crate::interp::isa::HANDLERS;
use crate::interp::watch;

/// Machine code and how it is entered.
#[derive(Debug)]
pub struct Output {
    /// The code.
    pub code: Vec<u8>,
    /// Bytecode offsets whose word 0 leads to these offsets in the code.
    pub entries: Vec<(u32, u32)>,
    /// Native and bytecode offsets, sorted.
    pub positions: Vec<(u32, u32)>,
}

/// What is emitted after the blocks.
enum Cold {
    /// From a block of one loop (or none) to a block of another.
    Edge { label: Label, from: u32, to: u32 },
    /// From word 0 into a block of a loop, past its look at the head's flag.
    Entry {
        label: Label,
        block: u32,
        past: Label,
    },
    /// From a loop's head through word 0.
    Turned { label: Label, block: u32 },
    /// To the instruction's own handler, after storing some operands.
    Bail {
        label: Label,
        at: u32,
        number: u16,
        stores: Vec<Store>,
    },
}

/// What later instructions do with an instruction's operands, by field.
#[derive(Clone, Copy, Default)]
pub struct Uses {
    /// Used again in this block before it is written.
    again: u8,
    /// Not wanted any more; for a destination: never.
    dead: u8,
    /// The next use in this block is as a float.
    float: u8,
}

/// The compiler of one function.
pub struct Gen<'a> {
    /// Registers and code.
    pub c: Cache,
    code: &'a Code<'a>,
    graph: &'a Graph,
    uses: Vec<Uses>,
    pins: Vec<Vec<Pin>>,
    inner: Vec<Label>,
    states: Vec<Option<State>>,
    cold: Vec<Cold>,
    entries: Vec<(u32, Label)>,
    positions: Vec<(u32, u32)>,
    /// The block and instruction being compiled.
    pub block: u32,
    pub(super) i: u32,
}

/// Compiles a function; `None` when it cannot be.
pub fn compile(lowered: &Lowered) -> Option<Output> {
    let code = Code { lowered };
    if code.len() == 0 {
        return None;
    }
    let graph = Graph::new(&code)?;
    let mut asm = Asm::with_capacity(code.len() * 24 + 256);
    let inner = graph.blocks.iter().map(|_| asm.label()).collect();
    let mut g = Gen {
        c: Cache::new(graph.number.len(), asm),
        uses: vec![Uses::default(); code.len()],
        pins: pins::choose(&code, &graph),
        inner,
        states: vec![None; graph.blocks.len()],
        cold: Vec::new(),
        entries: Vec::with_capacity(graph.blocks.len()),
        positions: Vec::with_capacity(code.len()),
        block: 0,
        i: 0,
        code: &code,
        graph: &graph,
    };
    g.look_ahead();
    for b in 0..graph.blocks.len() as u32 {
        g.block(b);
    }
    g.finish_cold();
    let Gen {
        mut c,
        entries,
        positions,
        ..
    } = g;
    c.asm.resolve();
    let entries = entries
        .into_iter()
        .map(|(at, label)| (at, c.asm.place(label)))
        .collect();
    Some(Output {
        code: std::mem::take(&mut c.asm.code),
        entries,
        positions,
    })
}

impl<'a> Gen<'a> {
    /// Notes which operands are used again and which are not.
    fn look_ahead(&mut self) {
        let n = self.graph.number.len() + 1;
        // Stamped with the block: live after here, and used later in the block, as a float.
        let mut live = vec![NONE; n];
        let mut again = vec![NONE; n];
        let mut float = vec![NONE; n];
        let all = self.graph.all_live;
        for b in 0..self.graph.blocks.len() as u32 {
            let block = &self.graph.blocks[b as usize];
            if !all {
                let w = self.graph.width;
                for &t in self.graph.succ(b) {
                    for k in 0..w {
                        let mut bits = self.graph.live_in[t as usize * w + k];
                        while bits != 0 {
                            let k = k * 64 + bits.trailing_zeros() as usize;
                            live[self.graph.slots[k] as usize] = b;
                            bits &= bits - 1;
                        }
                    }
                }
            }
            for i in (block.first..block.end).rev() {
                let inst = self.code.get(i);
                let mut uses = Uses::default();
                // SAFETY: the row describes this instruction.
                unsafe {
                    for (k, f) in inst.row.fields.iter().enumerate().filter(|(_, f)| f.def) {
                        let s = f.slot(inst.ip);
                        let bit = 1 << k;
                        let words = f.count(inst.ip);
                        let wanted = all
                            || (s..s.saturating_add(words))
                                .any(|s| live.get(s as usize) == Some(&b));
                        uses.dead |= if wanted { 0 } else { bit };
                        uses.float |= if float[s as usize] == b { bit } else { 0 };
                        for s in s..s.saturating_add(words) {
                            if let Some(l) = live.get_mut(s as usize) {
                                *l = NONE;
                                again[s as usize] = NONE;
                                float[s as usize] = NONE;
                            }
                        }
                    }
                    let dst_float = uses.float != 0;
                    for (k, f) in inst.row.fields.iter().enumerate().filter(|(_, f)| !f.def) {
                        let s = f.slot(inst.ip);
                        let bit = 1 << k;
                        let words = f.count(inst.ip);
                        let wanted = all
                            || (s..s.saturating_add(words))
                                .any(|s| live.get(s as usize) == Some(&b));
                        uses.dead |= if wanted { 0 } else { bit };
                        uses.again |= if again[s as usize] == b { bit } else { 0 };
                        uses.float |= if float[s as usize] == b { bit } else { 0 };
                    }
                    let mut mark = |s: u16, words: u16, class: Class| {
                        for s in s..s.saturating_add(words) {
                            if let Some(l) = live.get_mut(s as usize) {
                                *l = b;
                                again[s as usize] = b;
                                float[s as usize] = match class {
                                    Class::X | Class::P | Class::V => b,
                                    Class::N if dst_float => b,
                                    _ => NONE,
                                };
                            }
                        }
                    };
                    inst.row
                        .extras(inst.ip, &mut |s, n| mark(s, n, Class::M), &mut |_, _| {});
                    for f in inst.row.fields.iter().filter(|f| !f.def) {
                        mark(f.slot(inst.ip), f.count(inst.ip), f.class);
                    }
                }
                self.uses[i as usize] = uses;
            }
        }
    }

    /// The slot of a field of the current instruction.
    pub fn slot(&self, inst: &Inst, k: usize) -> u16 {
        // SAFETY: the row describes the instruction.
        unsafe { inst.row.fields[k].slot(inst.ip) }
    }

    /// Whether a field's slot is used again in this block.
    pub fn again(&self, k: usize) -> bool {
        self.uses[self.i as usize].again >> k & 1 != 0
    }

    /// Whether a field's slot is not wanted after this instruction.
    pub fn dead(&self, k: usize) -> bool {
        self.uses[self.i as usize].dead >> k & 1 != 0
    }

    /// Whether a field's slot is next used as a float.
    pub fn float_next(&self, k: usize) -> bool {
        self.uses[self.i as usize].float >> k & 1 != 0
    }

    /// A field as an integer operand.
    pub fn g(&mut self, inst: &Inst, k: usize) -> Rm {
        self.c.read_g(self.slot(inst, k), self.again(k))
    }

    /// A field in a general register.
    pub fn gr(&mut self, inst: &Inst, k: usize, scratch: G) -> G {
        self.c.reg_g(self.slot(inst, k), self.again(k), scratch)
    }

    /// A field as a scalar float operand.
    pub fn x(&mut self, inst: &Inst, k: usize) -> Rm {
        self.c.read_x(self.slot(inst, k), self.again(k))
    }

    /// A field in a vector register.
    pub fn xr(&mut self, inst: &Inst, k: usize, scratch: X) -> X {
        self.c.reg_x(self.slot(inst, k), self.again(k), scratch)
    }

    /// A field as a packed operand.
    pub fn p(&mut self, inst: &Inst, k: usize) -> Rm {
        self.c.read_p(self.slot(inst, k), self.again(k))
    }

    /// A packed field in a register.
    pub fn pr(&mut self, inst: &Inst, k: usize, scratch: X) -> X {
        self.c.reg_p(self.slot(inst, k), self.again(k), scratch)
    }

    /// Gives up operands that die here, so that their registers may be the destination's. For
    /// templates whose last machine instruction reads all that is left and writes the result.
    pub fn release(&mut self, inst: &Inst) {
        self.end_uses(inst);
        self.c.unlock();
    }

    fn give_up(&mut self, class: Class, slot: u16, words: u16) {
        match class {
            Class::P => self.c.kill_pair(slot),
            Class::V => {
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
                self.give_up(f.class, s, n);
            }
        }
    }

    /// Ends an instruction that wrote `dst` slots: operands that die are given up.
    fn end_inst(&mut self, inst: &Inst) {
        let dst = inst.row.fields.iter().find(|f| f.def).map(|f: &Field| {
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
                self.give_up(f.class, s, n);
            }
        }
        self.c.unlock();
    }

    /// Stores what later blocks want.
    pub fn flush(&mut self, pins: bool) {
        let (graph, block) = (self.graph, self.block);
        self.c.flush(pins, |s| {
            graph.all_live || graph.succ(block).iter().any(|&t| graph.is_live_in(t, s))
        });
    }

    fn loop_of(&self, b: u32) -> u32 {
        self.graph.blocks[b as usize].in_loop
    }

    fn has_pins(&self, l: u32) -> bool {
        l != NONE && !self.pins[l as usize].is_empty()
    }

    fn block(&mut self, b: u32) {
        let graph = self.graph;
        let block = &graph.blocks[b as usize];
        self.block = b;
        let label = self.inner[b as usize];
        let first = self.code.get(block.first);
        let head = watch::head(self.code.lowered, first.at).filter(|h| h.block.is_some());
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
                self.cold.push(Cold::Entry {
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
            let turned = self.c.asm.label();
            self.cold.push(Cold::Turned {
                label: turned,
                block: b,
            });
            let asm = &mut self.c.asm;
            asm.mov_imm(RAX, head.turned.as_ptr() as u64);
            asm.alu_imm(Alu::Cmp, false, Rm::Mem(at(RAX, 0)), 0);
            asm.jcc(cc::NE, turned);
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
            self.go(b + 1);
        }
    }

    /// Word 0 of an instruction leads to a label; where the handler has to stay, it does.
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

    /// Goes to a block from the current one, whose wanted slots are stored: nothing to do when it
    /// is the next.
    pub fn go(&mut self, to: u32) {
        let from = self.loop_of(self.block);
        self.inherit(to);
        self.cross(from, to);
        if to != self.block + 1 {
            let label = self.inner[to as usize];
            self.c.asm.jmp(label);
        }
    }

    /// Lets a block that only the current one leads to go on with its registers.
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

    /// The label to jump to for a block.
    pub fn target(&mut self, to: u32) -> Label {
        let from = self.loop_of(self.block);
        self.inherit(to);
        if self.crosses(from, to) {
            let label = self.c.asm.label();
            self.cold.push(Cold::Edge { label, from, to });
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
    fn cross(&mut self, from: u32, to: u32) {
        let into = self.loop_of(to);
        if from == into {
            return;
        }
        self.store_pins(from, to);
        self.load_pins(into, to);
    }

    /// Stores what a loop keeps in registers and the block `to` wants.
    fn store_pins(&mut self, l: u32, to: u32) {
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

    fn load_pins(&mut self, l: u32, to: u32) {
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

    /// A place after the blocks that runs the current instruction's handler; all it needs is in
    /// memory.
    pub fn bail(&mut self, inst: &Inst) -> Label {
        self.bail_with(inst, Vec::new())
    }

    /// As [`Gen::bail`], in the middle of a block: what is only in registers now is stored first,
    /// and the instructions after this one are run by their handlers until a patched one.
    pub fn bail_all(&mut self, inst: &Inst) -> Label {
        let stores = self.c.dirty();
        self.bail_with(inst, stores)
    }

    fn bail_with(&mut self, inst: &Inst, stores: Vec<Store>) -> Label {
        let label = self.c.asm.label();
        self.cold.push(Cold::Bail {
            label,
            at: inst.at,
            number: inst.number,
            stores,
        });
        label
    }

    /// Goes to an instruction's handler, everything being stored.
    pub fn hand_over(&mut self, at: u32, number: u16) {
        let ip = self
            .code
            .lowered
            .code
            .as_ptr()
            .wrapping_byte_add(at as usize);
        self.c.asm.mov_imm(RDI, ip as u64);
        self.c
            .asm
            .mov_imm(RAX, HANDLERS[number as usize] as usize as u64);
        self.c.asm.jmp_rm(Rm::Reg(RAX));
    }

    /// The block that a distance in the current instruction leads to.
    pub fn branch_block(&self, inst: &Inst, field: u8) -> u32 {
        // SAFETY: the row says that the field is there.
        let off = unsafe { i32_at(inst.ip, field) };
        let at = inst.at.wrapping_add(off as u32);
        let ops = &self.code.lowered.ops;
        let i = ops.partition_point(|o| o.0 < at);
        self.graph.block_of[i]
    }

    /// The address of the bytecode after an instruction of the current block's end.
    pub fn address(&self, at: u32) -> u64 {
        self.code
            .lowered
            .code
            .as_ptr()
            .wrapping_byte_add(at as usize) as u64
    }

    fn finish_cold(&mut self) {
        let mut k = 0;
        while k < self.cold.len() {
            match &self.cold[k] {
                &Cold::Edge { label, from, to } => {
                    let at = self.code.get(self.graph.blocks[to as usize].first).at;
                    self.position(at);
                    self.c.asm.bind(label);
                    self.cross(from, to);
                    let inner = self.inner[to as usize];
                    self.c.asm.jmp(inner);
                }
                &Cold::Entry { label, block, past } => {
                    let at = self.code.get(self.graph.blocks[block as usize].first).at;
                    self.position(at);
                    self.c.asm.bind(label);
                    let l = self.loop_of(block);
                    self.load_pins(l, block);
                    self.c.asm.jmp(past);
                }
                &Cold::Turned { label, block } => {
                    let to = self.code.get(self.graph.blocks[block as usize].first).at;
                    self.position(to);
                    self.c.asm.bind(label);
                    self.store_pins(self.loop_of(block), block);
                    let ip = self.address(to);
                    self.c.asm.mov_imm(RDI, ip);
                    self.c.asm.jmp_rm(Rm::Mem(at(RDI, 0)));
                }
                Cold::Bail {
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
                    self.hand_over(offset, number);
                }
            }
            k += 1;
        }
    }
}
