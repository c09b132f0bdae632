//! Basic blocks of the bytecode, liveness of slots, and innermost loops.
//!
//! A block ends where control may leave it, before a branch target, and after every instruction
//! that its handler runs, since the handler continues through the next instruction's word 0.
//! Liveness is tracked for slots that some block reads before it writes them; all other slots are
//! local to one block.
//!
//! No dominators are computed. Any set of blocks may keep slots in registers together, so a loop is
//! the set of blocks that reach its back edge without passing its head.

use super::table::{ExtraOperands, Flow, LaneTest, Row, Template, i32_at, rows};
use ompvm_interp::frame::LoweredFunction;
use ompvm_interp::isa::{self, Enc};

/// The absence of a number.
pub const NONE: u32 = u32::MAX;
/// The largest loop, in blocks, that keeps slots in registers.
const MAX_LOOP: usize = 64;
/// The most bytes that are moved without the handler.
const MAX_INLINE: u32 = 64;
/// The longest vectors, in words, that are compiled without the handler.
const MAX_WORDS: u16 = 16;
/// The most words of all blocks' liveness sets together; beyond, every slot counts as live
/// everywhere.
const MAX_SETS: usize = 1 << 19;

/// A block: instructions `first..end`.
#[derive(Clone, Debug)]
pub struct Block {
    /// First instruction.
    pub first: u32,
    /// One past the last.
    pub end: u32,
    /// Range of its successors in [`FlowGraph::targets`].
    pub succ: (u32, u32),
    /// Number of edges into it.
    pub preds: u32,
    /// True if it is entered through its first instruction's word 0.
    pub external: bool,
    /// The loop whose slots are in registers here; [`NONE`] outside of loops.
    pub in_loop: u32,
}

/// The control flow and liveness of a function.
#[derive(Debug, Default)]
pub struct FlowGraph {
    /// The blocks, in code order.
    pub blocks: Vec<Block>,
    /// Block of each first instruction.
    pub block_of: Vec<u32>,
    /// Successors of all blocks.
    pub targets: Vec<u32>,
    /// Number of each slot in the liveness sets; [`NONE`] for slots local to one block.
    pub number: Vec<u32>,
    /// Slot of each such number.
    pub slots: Vec<u16>,
    /// Words of one liveness set.
    pub width: usize,
    /// Liveness sets at the entry of each block.
    pub live_in: Vec<u64>,
    /// True if every slot counts as live everywhere.
    pub all_live: bool,
    /// Blocks of the innermost loops.
    pub loops: Vec<Vec<u32>>,
}

/// An instruction: its position and its row.
pub struct Inst {
    /// Its first byte.
    pub ip: *const u64,
    /// Its offset.
    pub at: u32,
    /// Its number.
    pub number: u16,
    /// Its description.
    pub row: &'static Row,
}

/// The instructions of a function.
pub struct Bytecode<'a> {
    /// The function.
    pub lowered: &'a LoweredFunction,
}

impl Bytecode<'_> {
    /// Returns the number of instructions.
    pub fn len(&self) -> usize {
        self.lowered.ops.len()
    }

    /// Returns one instruction.
    #[inline(always)]
    pub fn get(&self, i: u32) -> Inst {
        let (at, number) = self.lowered.ops[i as usize];
        Inst {
            ip: self.lowered.code.as_ptr().wrapping_byte_add(at as usize),
            at,
            number,
            row: &rows()[number as usize],
        }
    }
}

/// Calls `f(byte offset)` for every branch target of an instruction in the function.
fn branch_targets(inst: &Inst, lowered: &LoweredFunction, mut f: impl FnMut(u32)) {
    // SAFETY: the row describes the instruction's fields.
    unsafe {
        let mut to = |off: i32| f(inst.at.wrapping_add(off as u32));
        match inst.row.flow {
            Flow::Branch(then, els) => {
                to(i32_at(inst.ip, then));
                if els != 0 {
                    to(i32_at(inst.ip, els));
                }
            }
            Flow::Table | Flow::Search => {
                let o = &(*inst.ip.cast::<Enc<isa::Switch>>()).ops;
                to(o.default);
                let n = o.n as usize;
                let data = inst.ip.byte_add(size_of::<Enc<isa::Switch>>());
                let offsets = if inst.row.flow == Flow::Table {
                    data.cast::<i32>()
                } else {
                    data.add(n).cast::<i32>()
                };
                for i in 0..n {
                    to(*offsets.add(i));
                }
            }
            Flow::Anywhere => lowered.blocks.iter().for_each(|&b| f(b)),
            Flow::Next | Flow::Stop | Flow::Twice => {}
        }
    }
}

/// Returns true if the handler runs the instruction and continues through the next one's word 0.
pub fn by_handler(inst: &Inst) -> bool {
    // SAFETY: instructions with these templates have these shapes.
    unsafe {
        let apart = |d: u16, a: u16, n: u16| d == a || d + n <= a || a + n <= d;
        match inst.row.template {
            Template::Handler | Template::Call(_) | Template::Call1(_) => true,
            Template::MoveBytes => (*inst.ip.cast::<Enc<isa::Bytes>>()).ops.bytes > MAX_INLINE,
            Template::PackedN(..) | Template::ShiftN(..) => {
                let o = &(*inst.ip.cast::<Enc<isa::Dabn>>()).ops;
                o.n > MAX_WORDS || !apart(o.dst, o.a, o.n) || !apart(o.dst, o.b, o.n)
            }
            Template::CompareN(test, wide) => {
                let lanes = (*inst.ip.cast::<Enc<isa::Dabn>>()).ops.n;
                // A word that is half a vector register leaves the other half undefined, which a
                // comparison of floats may trap on.
                let odd =
                    matches!(test, LaneTest::Float(_)) && lanes % if wide { 2 } else { 4 } != 0;
                lanes > if wide { 4 } else { 8 } || odd
            }
            Template::SelectN(wide) => {
                let o = &(*inst.ip.cast::<Enc<isa::Dabcn>>()).ops;
                let words = if wide { o.n } else { o.n.div_ceil(2) };
                let overlaps = !apart(o.dst, o.b, words) || !apart(o.dst, o.c, words);
                let reuses_mask = (o.dst..o.dst + words).contains(&o.a);
                o.n > 8 || overlaps || words > 2 && reuses_mask
            }
            Template::MulAddN(_) => {
                let o = &(*inst.ip.cast::<Enc<isa::Dabcn>>()).ops;
                o.n > MAX_WORDS || [o.a, o.b, o.c].iter().any(|&a| !apart(o.dst, a, o.n))
            }
            Template::UnaryN(..) | Template::MoveWords | Template::ZeroWords => {
                let o = &(*inst.ip.cast::<Enc<isa::Dan>>()).ops;
                let reads = inst.row.template != Template::ZeroWords;
                o.n > MAX_WORDS || reads && !apart(o.dst, o.a, o.n)
            }
            Template::Shuffle => {
                let o = &(*inst.ip.cast::<Enc<isa::Shuffle>>()).ops;
                let lanes = inst
                    .ip
                    .byte_add(size_of::<Enc<isa::Shuffle>>())
                    .cast::<u32>();
                let dst = u32::from(o.dst)..u32::from(o.dst + o.n);
                o.n > MAX_WORDS
                    || o.n % 2 != 0
                    || (0..o.n as usize).any(|i| dst.contains(&*lanes.add(i)))
            }
            Template::Reduce(.., bits) => {
                let n = (*inst.ip.cast::<Enc<isa::Dan>>()).ops.n;
                let lanes = 64 / u16::from(bits);
                n % lanes != 0 || n / lanes > MAX_WORDS
            }
            Template::FillWords => (*inst.ip.cast::<Enc<isa::Memn>>()).ops.bytes > 2 * MAX_INLINE,
            Template::MemcpyFixed => {
                let bytes = (*inst.ip.cast::<Enc<isa::Memn>>()).ops.bytes;
                bytes > MAX_INLINE || bytes % 16 != 0 && bytes % 16 != 8
            }
            Template::LoadWords | Template::StoreWords => {
                let bytes = (*inst.ip.cast::<Enc<isa::Memn>>()).ops.bytes;
                bytes == 0 || bytes % 8 != 0 || bytes > 8 * u32::from(MAX_WORDS)
            }
            Template::IntsToDoubles | Template::DoublesToInts => {
                (*inst.ip.cast::<Enc<isa::Dan>>()).ops.n != 2
            }
            _ => false,
        }
    }
}

impl FlowGraph {
    /// Analyzes a function; `None` if a branch does not lead to an instruction.
    pub fn new(code: &Bytecode) -> Option<FlowGraph> {
        let lowered = code.lowered;
        let n = code.len();
        let mut index = vec![NONE; lowered.code.len() + 1];
        for (i, &(at, _)) in lowered.ops.iter().enumerate() {
            index[at as usize / 8] = i as u32;
        }
        let place = |at: u32| index.get(at as usize / 8).copied().filter(|&i| i != NONE);
        // Bit 0: a block begins here; bit 1: it is entered through word 0.
        let mut mark = vec![0u8; n + 1];
        mark[0] = 3;
        let mut all_live = false;
        for i in 0..n as u32 {
            let inst = code.get(i);
            let external = by_handler(&inst);
            let mut bad = false;
            branch_targets(&inst, lowered, |at| match place(at) {
                Some(t) => mark[t as usize] |= if external { 3 } else { 1 },
                None => bad = true,
            });
            if bad {
                return None;
            }
            if external || inst.row.flow != Flow::Next {
                mark[i as usize + 1] |= if external { 3 } else { 1 };
            }
            all_live |= !inst.row.known || matches!(inst.row.flow, Flow::Twice | Flow::Anywhere);
        }
        for pad in &lowered.landing_pads {
            mark[place(pad.land)? as usize] |= 3;
        }
        let mut graph = FlowGraph {
            all_live,
            block_of: vec![NONE; n + 1],
            ..FlowGraph::default()
        };
        for (i, &m) in mark[..n].iter().enumerate() {
            if m != 0 {
                graph.block_of[i] = graph.blocks.len() as u32;
                if let Some(last) = graph.blocks.last_mut() {
                    last.end = i as u32;
                }
                graph.blocks.push(Block {
                    first: i as u32,
                    end: n as u32,
                    succ: (0, 0),
                    preds: 0,
                    external: m & 2 != 0,
                    in_loop: NONE,
                });
            }
        }
        let mut lands: Vec<(u32, u32)> = lowered
            .landing_pads
            .iter()
            .filter_map(|p| Some((p.call, place(p.land)?)))
            .collect();
        lands.sort_unstable();
        for b in 0..graph.blocks.len() {
            let start = graph.targets.len();
            let last = code.get(graph.blocks[b].end - 1);
            branch_targets(&last, lowered, |at| {
                if let Some(t) = place(at) {
                    graph.targets.push(graph.block_of[t as usize]);
                }
            });
            if matches!(last.row.flow, Flow::Next | Flow::Twice) && b + 1 < graph.blocks.len() {
                graph.targets.push(b as u32 + 1);
            }
            let first = lands.partition_point(|l| l.0 < last.at);
            for &(_, t) in lands[first..].iter().take_while(|l| l.0 == last.at) {
                graph.targets.push(graph.block_of[t as usize]);
            }
            graph.blocks[b].succ = (start as u32, graph.targets.len() as u32);
            for t in start..graph.targets.len() {
                graph.blocks[graph.targets[t] as usize].preds += 1;
            }
        }
        graph.liveness(code, !lands.is_empty());
        graph.find_loops(code);
        Some(graph)
    }

    /// Returns the successors of a block.
    pub fn succ(&self, b: u32) -> &[u32] {
        let (from, to) = self.blocks[b as usize].succ;
        &self.targets[from as usize..to as usize]
    }

    /// Returns the slots that are live into a block. Must not be called if all slots are live.
    pub fn live_into(&self, b: u32) -> impl Iterator<Item = u16> {
        let sets = &self.live_in[b as usize * self.width..][..self.width];
        sets.iter().enumerate().flat_map(move |(k, &set)| {
            let mut bits = set;
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                Some(self.slots[k * 64 + bit])
            })
        })
    }

    /// Returns true if a slot is live into a block.
    pub fn is_live_in(&self, b: u32, slot: u16) -> bool {
        let k = self.number[slot as usize];
        self.all_live
            || k != NONE
                && self.live_in[b as usize * self.width + k as usize / 64] >> (k % 64) & 1 != 0
    }

    fn liveness(&mut self, code: &Bytecode, landing_pads: bool) {
        let slots = code.lowered.slots as usize + 1;
        self.number = vec![NONE; slots];
        let mut written = vec![NONE; slots];
        let mut reads: Vec<(u32, u16)> = Vec::new();
        let mut writes: Vec<(u32, u16)> = Vec::new();
        for b in 0..self.blocks.len() as u32 {
            let block = &self.blocks[b as usize];
            for i in block.first..block.end {
                let inst = code.get(i);
                let number = &mut self.number;
                let mut read = |slot: u16, words: u16| {
                    for s in slot..slot.saturating_add(words) {
                        if let Some(w) = written.get(s as usize)
                            && *w != b
                        {
                            number[s as usize] = 0;
                            reads.push((b, s));
                        }
                    }
                };
                let mut defs: [(u16, u16); 2] = [(0, 0); 2];
                // SAFETY: the row describes this instruction.
                unsafe {
                    for f in inst.row.fields.iter().filter(|f| !f.def) {
                        read(f.slot(inst.ip), f.count(inst.ip));
                    }
                    if inst.row.extra != ExtraOperands::None {
                        inst.row
                            .extras(inst.ip, &mut read, &mut |s, n| defs[0] = (s, n));
                    }
                    for f in inst.row.fields.iter().filter(|f| f.def) {
                        defs[1] = (f.slot(inst.ip), f.count(inst.ip));
                    }
                }
                // A call that unwinds has not written its result.
                if landing_pads && i + 1 == block.end && by_handler(&inst) {
                    continue;
                }
                for (slot, words) in defs {
                    for s in slot..slot.saturating_add(words) {
                        if let Some(w) = written.get_mut(s as usize)
                            && *w != b
                        {
                            *w = b;
                            writes.push((b, s));
                        }
                    }
                }
            }
        }
        for (s, k) in self.number.iter_mut().enumerate() {
            if *k != NONE {
                *k = self.slots.len() as u32;
                self.slots.push(s as u16);
            }
        }
        self.width = self.slots.len().div_ceil(64);
        if self.width * self.blocks.len() > MAX_SETS {
            self.all_live = true;
        }
        if self.all_live {
            return;
        }
        let w = self.width;
        let mut kill = vec![0u64; w * self.blocks.len()];
        self.live_in = vec![0u64; w * self.blocks.len()];
        let bit = |b: u32, k: u32| (b as usize * w + k as usize / 64, 1u64 << (k % 64));
        for (b, s) in reads {
            let (at, mask) = bit(b, self.number[s as usize]);
            self.live_in[at] |= mask;
        }
        for (b, s) in writes {
            let k = self.number[s as usize];
            if k != NONE {
                let (at, mask) = bit(b, k);
                kill[at] |= mask;
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for b in (0..self.blocks.len()).rev() {
                let (from, to) = self.blocks[b].succ;
                for t in from..to {
                    let t = self.targets[t as usize] as usize;
                    for k in 0..w {
                        let now = self.live_in[b * w + k];
                        let new = now | self.live_in[t * w + k] & !kill[b * w + k];
                        changed |= new != now;
                        self.live_in[b * w + k] = new;
                    }
                }
            }
        }
    }

    fn find_loops(&mut self, code: &Bytecode) {
        let n = self.blocks.len();
        let mut heads: Vec<(u32, u32)> = Vec::new();
        for b in 0..n as u32 {
            for &t in self.succ(b) {
                if t <= b && t != 0 {
                    heads.push((t, b));
                }
            }
        }
        if heads.is_empty() {
            return;
        }
        heads.sort_unstable();
        let mut start = vec![0u32; n + 1];
        for &t in &self.targets {
            start[t as usize + 1] += 1;
        }
        for b in 0..n {
            start[b + 1] += start[b];
        }
        let mut fill = start.clone();
        let mut preds = vec![0u32; self.targets.len()];
        for b in 0..n as u32 {
            let (from, to) = self.blocks[b as usize].succ;
            for t in from..to {
                let t = self.targets[t as usize] as usize;
                preds[fill[t] as usize] = b;
                fill[t] += 1;
            }
        }
        let mut seen = vec![NONE; n];
        let mut found: Vec<Vec<u32>> = Vec::new();
        let mut i = 0;
        while i < heads.len() {
            let head = heads[i].0;
            let mut body = vec![head];
            let stamp = i as u32;
            seen[head as usize] = stamp;
            while i < heads.len() && heads[i].0 == head {
                let latch = heads[i].1;
                if seen[latch as usize] != stamp {
                    seen[latch as usize] = stamp;
                    body.push(latch);
                }
                i += 1;
            }
            let mut at = 1;
            while at < body.len() && body.len() <= MAX_LOOP {
                let b = body[at] as usize;
                for &p in &preds[start[b] as usize..start[b + 1] as usize] {
                    if seen[p as usize] != stamp {
                        seen[p as usize] = stamp;
                        body.push(p);
                    }
                }
                at += 1;
            }
            // A set with the function's entry is not a loop.
            if body.len() <= MAX_LOOP && !body.contains(&0) {
                found.push(body);
            }
        }
        found.sort_by_key(Vec::len);
        for body in found {
            if body
                .iter()
                .all(|&b| self.blocks[b as usize].in_loop == NONE)
            {
                let id = self.loops.len() as u32;
                for &b in &body {
                    self.blocks[b as usize].in_loop = id;
                }
                self.loops.push(body);
            }
        }
        let _ = code;
    }
}
