//! Lowers a function's IR to bytecode, in one pass over its body after a short analysis.
//!
//! [`lower`] decides which values need slots (`analyze`), then emits block after block. Values that
//! only rename or address (zero extensions, pointer casts, constant-offset geps, static allocas)
//! and values with a single nearby use are emitted at their use instead of their definition. This
//! folds addresses into loads and comparisons into branches.
//!
//! Apart from that, nothing is optimized across instructions, since LLVM's passes did that.

mod address;
mod aggregate;
mod analyze;
mod atomic;
mod call;
mod cast;
mod coalesce;
mod control;
mod edge;
mod emit;
mod exception;
mod flow;
mod fuse;
mod inst;
mod int;
mod intrinsic;
mod materialize;
mod memory;
mod repeat;
mod slots;
mod stack_protector;
mod step;
mod switch;
mod vector;

pub use slots::too_many_slots;

use super::frame::{LandingPad, LoweredFunction, OsrPoint, SiteData};
use super::isa::{self, Enc, INSTRUCTIONS, op};
use super::process::INTERPRETER;
use cranelift_entity::EntityRef;
use hashbrown::HashMap;
use ompvm_ir::{
    BlockId, Body, ConstId, FuncId, Function, LocId, Module, Operand, Type, TypeId, Value,
};
use ompvm_llvm::native::{LocationKind, ValueLocation};
use ompvm_memory::func::FuncRef;
use ompvm_memory::image::Image;
use ompvm_memory::signal_safe;
use ompvm_support::log;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

/// Options of the lowering.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Insert an instruction per block that counts the executed IR instructions.
    pub count: bool,
    /// Insert an instruction per block that takes its IR instructions from the image's fuel.
    pub charge: bool,
}

impl Options {
    /// Returns the options of an image's functions, set by [`count_instructions`].
    pub fn of_image(image: &Image) -> Self {
        Options {
            count: image.counts_instructions.load(Ordering::Relaxed),
            charge: image.fuel.is_limited(),
        }
    }
}

/// Makes functions of an image that are lowered from now on count the instructions that they
/// execute.
pub fn count_instructions(image: &Image) {
    image.counts_instructions.store(true, Ordering::Relaxed);
    INTERPRETER.counting.store(true, Ordering::Relaxed);
}

/// Returns true if entries of a function are counted. One load without any counting.
#[inline]
pub(super) fn counts(func: &FuncRef) -> bool {
    INTERPRETER.counting.load(Ordering::Relaxed)
        && func.image().counts_instructions.load(Ordering::Relaxed)
}

/// A branch target in the code: blocks first, then edges and landings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Label(u32);

impl Label {
    /// Creates a label by number; a block's label has the block's number.
    pub(super) const fn from_number(number: u32) -> Label {
        Label(number)
    }
}

struct Fixup {
    at: usize,
    field: usize,
    label: Label,
}

/// The code of an edge that needs moves before it reaches its block.
struct Stub {
    label: Label,
    from: usize,
    to: usize,
}

pub(super) struct Lowering<'a> {
    image: &'a Image,
    m: &'a Module,
    f: &'a Function,
    body: &'a Body,
    id: FuncId,
    nparams: usize,
    /// Bytecode.
    code: Vec<u64>,
    /// Slot of each value; `NO_SLOT` while it has none.
    slot: Vec<u16>,
    /// The materialization of each value.
    kind: Vec<materialize::Materialization>,
    /// The block that defines each value.
    block_of: Vec<u32>,
    /// The number of instructions in the innermost loop around each block.
    loop_length: Vec<Option<u32>>,
    /// Blocks that later blocks, or they themselves, branch to.
    loop_heads: Vec<usize>,
    next_slot: u32,
    /// Offset of each static alloca in the alloca area.
    allocas: HashMap<u32, u32>,
    alloca_bytes: u32,
    /// Offset of the guard in the alloca area, in functions that have one.
    guard: Option<u32>,
    /// Slot of the alloca area's address, in functions whose loops may use it.
    area: Option<u16>,
    /// Byte positions of i32 fields to which the alloca area's start must be added.
    frame_fixups: Vec<usize>,
    /// Preloaded constants: slot and value.
    pool: Vec<(u16, u64)>,
    const_words: HashMap<u64, u16>,
    const_wide: HashMap<ConstId, u16>,
    temps: Vec<(u16, u16)>,
    free_temps: slots::FreeSlots,
    fixups: Vec<Fixup>,
    labels: Vec<u32>,
    /// The last position that has a label.
    fence: u32,
    stubs: Vec<Stub>,
    /// The stub of an edge, by its blocks.
    stub_of: HashMap<(usize, usize), Label>,
    /// Index of a block with many predecessors in the phis of its successor.
    incoming: HashMap<(usize, usize), u32>,
    /// Blocks and their values that are produced at the block's end.
    sunk: Vec<(u32, u32)>,
    landings: Vec<exception::Landing>,
    /// Calls whose form depends on the frame's final length.
    calls: Vec<usize>,
    /// True if the frame grows while it runs.
    dynamic: bool,
    /// True if blocks count their instructions.
    count: bool,
    lines: Vec<(u32, Option<LocId>)>,
    /// The address after each instruction, if tools trace calls.
    behind: Option<Vec<usize>>,
    /// End of each call's code, and the address after the call.
    traced_calls: Vec<(u32, usize)>,
    landing_pads: Vec<LandingPad>,
    sites: Vec<SiteData>,
    ops: Vec<(u32, u16)>,
    scratch: u16,
    current: usize,
    inst: usize,
    failed: Option<String>,
}

/// The absence of a slot.
pub(super) const NO_SLOT: u16 = u16::MAX;

/// Number of IR instructions from which lowering a function may take longer than a user who ends
/// the process should wait.
const LONG: usize = 10_000;

/// Lowers a function.
pub fn lower(image: &Image, id: FuncId, options: &Options) -> Box<LoweredFunction> {
    let module = &*image.module;
    let f = &module.functions[id];
    let Some(body) = &f.body else {
        ompvm_support::bug!("`{}` has no body to lower", f.name)
    };
    if body.insts.len() > LONG {
        signal_safe::permit_termination();
    }
    let started = Instant::now();
    let mut l = Lowering::new(image, module, f, body, id);
    let near = l.choose_guard();
    l.analyze();
    l.lay_out_guarded(&near);
    let lowered = l.lower_body(options);
    tracing::trace!(
        target: log::INTERP,
        function = &*f.name,
        instructions = body.insts.len(),
        words = lowered.code.len(),
        ms = %log::ms(started.elapsed()),
        "lowered a function"
    );
    tracing::trace!(
        target: log::BYTECODE,
        function = &*f.name,
        text = disassemble(&lowered, &f.name),
        "has bytecode"
    );
    lowered
}

/// Formats the bytecode as text.
pub fn disassemble(code: &LoweredFunction, name: &str) -> String {
    let mut text = format!(
        "{name}: {} words, params {:?}\n",
        code.code.len(),
        code.params
    );
    let mut blocks = code.blocks.iter().enumerate().peekable();
    for (number, &(at, _)) in code.ops.iter().enumerate() {
        while let Some((b, _)) = blocks.next_if(|&(_, &start)| start <= at) {
            let _ = writeln!(text, " bb{b}:");
        }
        let _ = writeln!(text, "  {at:5} {}", code.instruction_text(number));
    }
    text
}

impl<'a> Lowering<'a> {
    fn new(image: &'a Image, m: &'a Module, f: &'a Function, body: &'a Body, id: FuncId) -> Self {
        let nparams = f.signature(m).1.len();
        let values = nparams + body.insts.len();
        Lowering {
            image,
            m,
            f,
            body,
            id,
            nparams,
            code: Vec::with_capacity(body.insts.len() * 3),
            slot: vec![NO_SLOT; values],
            kind: vec![materialize::Materialization::AtDefinition; values],
            block_of: vec![0; values],
            loop_length: vec![None; body.blocks.len()],
            loop_heads: Vec::new(),
            next_slot: 0,
            allocas: HashMap::new(),
            alloca_bytes: 0,
            guard: None,
            area: None,
            frame_fixups: Vec::new(),
            pool: Vec::new(),
            const_words: HashMap::new(),
            const_wide: HashMap::new(),
            temps: Vec::new(),
            free_temps: slots::FreeSlots::default(),
            fixups: Vec::new(),
            labels: vec![u32::MAX; body.blocks.len()],
            fence: 0,
            stubs: Vec::new(),
            stub_of: HashMap::new(),
            incoming: HashMap::new(),
            sunk: Vec::new(),
            landings: Vec::new(),
            calls: Vec::new(),
            dynamic: false,
            count: false,
            lines: Vec::new(),
            behind: image.code_addresses.return_addresses(id, body),
            traced_calls: Vec::new(),
            landing_pads: Vec::new(),
            sites: Vec::new(),
            ops: Vec::new(),
            scratch: 0,
            current: 0,
            inst: 0,
            failed: None,
        }
    }

    fn lower_body(mut self, options: &Options) -> Box<LoweredFunction> {
        self.count = options.count;
        let enter = self.emit(
            op::enter,
            isa::Enter {
                count: 0,
                pool: 0,
                slots: 0,
            },
        );
        if self.guard.is_some() {
            self.guard_op(op::guard_set, 0);
        }
        if !self.allocas.is_empty() && !self.loop_heads.is_empty() {
            let dst = self.fresh(1);
            self.put_address(address::Addr::Frame(0), dst);
            self.area = Some(dst);
        }
        for b in 0..self.body.blocks.len() {
            self.current = b;
            self.bind(Label(b as u32));
            let block = self.body.blocks[b];
            let n = u64::from(block.end - block.start);
            if options.count {
                self.emit(op::count, isa::Count { n });
            }
            if options.charge {
                let tank = (&raw const self.image.fuel).expose_provenance();
                self.emit(op::charge, isa::Charge { n, tank });
            }
            for i in block.start as usize..block.end as usize {
                self.inst = i;
                self.note_line(i);
                self.statement(i);
                self.release_temps();
            }
        }
        let mut at = 0;
        while at < self.stubs.len() {
            let (label, from, to) = (self.stubs[at].label, self.stubs[at].from, self.stubs[at].to);
            self.bind(label);
            self.current = from;
            self.edge(from, to);
            self.release_temps();
            at += 1;
        }
        self.finish_landings();
        if self.next_slot >= u32::from(NO_SLOT) {
            self.failed = Some(format!("a function with {} slots", self.next_slot));
        }
        let failed = self.failed.take();
        if let Some(why) = &failed {
            self.code.clear();
            self.ops.clear();
            self.fixups.clear();
            self.frame_fixups.clear();
            self.landing_pads.clear();
            self.calls.clear();
            self.traced_calls.clear();
            self.loop_heads.clear();
            self.emit(
                op::enter,
                isa::Enter {
                    count: 0,
                    pool: 0,
                    slots: 0,
                },
            );
            self.unsupported(why);
        }
        self.finish_function(enter, failed.is_some())
    }

    fn finish_function(mut self, enter: usize, failed: bool) -> Box<LoweredFunction> {
        for fix in std::mem::take(&mut self.fixups) {
            let target = self.labels[fix.label.0 as usize];
            let off = target as i32 - fix.at as i32;
            self.patch32(fix.at + fix.field, off);
        }
        let area = (self.next_slot * 8).next_multiple_of(16);
        for at in std::mem::take(&mut self.frame_fixups) {
            let old = self.read32(at);
            self.patch32(at, old + area as i32);
        }
        self.finish_calls();
        let (ret, params, _) = self.f.signature(self.m);
        let words: u32 = params.iter().map(|&p| u32::from(self.words(p))).sum();
        // A function that cannot be lowered has only its parameters.
        let frame = (area + self.alloca_bytes).max(words * 8).max(1);
        let frame = frame.next_multiple_of(crate::frame::FRAME_ALIGN);
        // The constant pool: values, then their slots packed four to a word.
        let n = self.pool.len();
        let mut pool: Vec<u64> = self.pool.iter().map(|&(_, v)| v).collect();
        for four in self.pool.chunks(4) {
            let mut word = 0u64;
            for (i, &(slot, _)) in four.iter().enumerate() {
                word |= u64::from(slot) << (16 * i);
            }
            pool.push(word);
        }
        let pool = pool.into_boxed_slice();
        if !failed {
            let ops = isa::Enter {
                count: n as u16,
                pool: pool.as_ptr() as usize,
                slots: pool.as_ptr().wrapping_add(n) as usize,
            };
            self.patch(enter, ops);
            if n == 0 {
                self.ops[0].1 = op::enter0.number;
                // SAFETY: the first instruction is an `Enter`, and `enter0` has the same shape.
                unsafe {
                    let first = self
                        .code
                        .as_mut_ptr()
                        .byte_add(enter)
                        .cast::<Enc<isa::Enter>>();
                    (*first).handler = INSTRUCTIONS.handlers[op::enter0.number as usize];
                }
            }
        }
        let mut starts = Vec::with_capacity(params.len() + 1);
        let mut next = 0u16;
        for &p in params {
            starts.push(next);
            next += self.words(p);
        }
        starts.push(next);
        let ret_words = self.words(ret);
        let osr_points = self.osr_points();
        let guard = self.guard.filter(|_| !failed);
        let guard = guard.map(|off| (area + off, self.guard_failure_function()));
        let code = self.code.into_boxed_slice();
        Box::new(LoweredFunction {
            entry: code.as_ptr(),
            frame,
            func: self.id,
            image: std::ptr::from_ref(self.image) as usize,
            code,
            ops: self.ops.into(),
            slots: self.next_slot,
            baseline_attempted: AtomicBool::new(false),
            interpreted: AtomicU32::new(0),
            pool,
            blocks: self.labels[..self.body.blocks.len()].into(),
            params: starts.into(),
            ret_words,
            guard,
            lines: self.lines,
            traced_calls: self.traced_calls.into(),
            landing_pads: self.landing_pads,
            sites: self.sites,
            osr_points,
            layout: FrameLayout {
                slots: self.slot,
                kinds: self.kind,
                allocas: self.allocas,
                area,
            },
        })
    }

    /// Returns the OSR points of the function's entry and loops. Of several empty blocks at one
    /// position the last stands for all: its phis are in their slots when the position is reached.
    fn osr_points(&self) -> Box<[OsrPoint]> {
        let labels = &self.labels[..self.body.blocks.len()];
        let head = |at: u32, block| {
            let plain = self.code[at as usize / 8] as usize;
            OsrPoint::new(at, block, plain)
        };
        let mut heads = vec![head(0, None)];
        let mut starts: Vec<u32> = self.loop_heads.iter().map(|&b| labels[b]).collect();
        starts.sort_unstable();
        starts.dedup();
        for at in starts {
            let last = labels.iter().rposition(|&l| l == at);
            heads.push(head(at, last.map(|b| BlockId::from_u32(b as u32))));
        }
        heads.into()
    }

    fn note_line(&mut self, i: usize) {
        let loc = self.body.insts[i].loc;
        if self.lines.last().is_none_or(|&(_, l)| l != loc) {
            self.lines.push((self.here(), loc));
        }
    }

    /// Returns the number of words (8-byte slots) of a type's slot form.
    pub(super) fn words(&self, ty: TypeId) -> u16 {
        words(self.m, ty)
    }

    pub(super) fn ty(&self, ty: TypeId) -> &'a Type {
        &self.m.types[ty]
    }

    pub(super) fn type_of(&self, operand: Operand) -> TypeId {
        match operand.unpack() {
            Err(c) => self.m.const_type(c),
            Ok(v) => self.value_type(v),
        }
    }

    pub(super) fn value_type(&self, v: Value) -> TypeId {
        let i = v.index();
        if i < self.nparams {
            self.f.signature(self.m).1[i]
        } else {
            self.body.insts[i - self.nparams].ty
        }
    }
}

/// The locations of a function's values in its frame.
#[derive(Debug, Default)]
pub struct FrameLayout {
    slots: Vec<u16>,
    kinds: Vec<materialize::Materialization>,
    /// Offsets of static allocas in the alloca area.
    allocas: HashMap<u32, u32>,
    area: u32,
}

/// Converts [`FrameLayout`] for the compiler: parameters first, then instructions.
pub(crate) fn value_locations(code: &LoweredFunction) -> Arc<[ValueLocation]> {
    let layout = &code.layout;
    let place = |v: usize| {
        let (kind, offset) = match layout.kinds[v] {
            _ if layout.allocas.contains_key(&(v as u32)) => (
                LocationKind::Address,
                layout.area + layout.allocas[&(v as u32)],
            ),
            materialize::Materialization::AtDefinition | materialize::Materialization::Sunk
                if layout.slots[v] != NO_SLOT =>
            {
                (LocationKind::Slot, u32::from(layout.slots[v]) * 8)
            }
            materialize::Materialization::AtDefinition | materialize::Materialization::Sunk => {
                (LocationKind::Nowhere, 0)
            }
            materialize::Materialization::Dead => (LocationKind::Dead, 0),
            materialize::Materialization::Alias
            | materialize::Materialization::AtUse
            | materialize::Materialization::Rematerialized => (LocationKind::Derived, 0),
        };
        ValueLocation { kind, offset }
    };
    (0..layout.kinds.len()).map(place).collect()
}

/// Returns the number of words of a type's slot form.
pub(crate) fn words(m: &Module, ty: TypeId) -> u16 {
    let bytes = match &m.types[ty] {
        Type::Void | Type::Label | Type::Metadata | Type::Token => 0,
        Type::Int(bits) => u64::from(bits.div_ceil(64)) * 8,
        Type::Float(kind) => match kind {
            ompvm_ir::FloatKind::X86Fp80 | ompvm_ir::FloatKind::Fp128 => 16,
            _ => 8,
        },
        Type::Ptr(_) => 8,
        Type::Vector { elem, len, .. } => lane_bytes(m, *elem) * u64::from(*len),
        _ => m.layout(ty).size,
    };
    bytes.div_ceil(8).min(u64::from(u16::MAX)) as u16
}

/// Returns the distance in bytes between vector lanes in slot form.
pub(super) fn lane_bytes(m: &Module, elem: TypeId) -> u64 {
    m.types.lane_bits(elem).div_ceil(8).next_power_of_two()
}
