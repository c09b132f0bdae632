//! Translation of a region's code without its loops to a [`HostSchedule`].
//!
//! The input is the function that [`super::partition`] leaves once the loops are functions of their
//! own. Code without a corresponding step is the reason why the region stays on the host. So are
//! effects on memory that every thread would have, such as counting, because the schedule runs once
//! for all threads. [`schedule_instructions`](super::schedule_instructions) has the instructions.

use super::host_schedule::{HostSchedule, KernelLaunch, ScheduleOperand, ScheduleStep};
use super::kernel_sequence::{self, derived_from};
use super::partition::reached;
use super::{Refusal, calls, refuse, refuse_at};
use crate::handles::{Alloca, Block, Call, Function, Module, Type, TypeKind, Value};
use crate::shim;
use hashbrown::{HashMap, HashSet};

type Blocks<'m> = HashSet<Block<'m>>;

/// Largest size of the private variables that the host keeps for the thread, in bytes.
const MOST_PRIVATE_BYTES: u64 = 64 << 10;
/// Most accesses of a sequential loop's block to the program's memory.
const MOST_ACCESSES: u64 = 128;
/// Most steps of a schedule.
const MOST_STEPS: usize = 20_000;

/// A call in the function that becomes a launch.
#[derive(Clone, Debug)]
pub(super) struct LaunchSite<'m> {
    pub call: Call<'m>,
    pub phase: u32,
    pub first: IterationBound<'m>,
    pub last: IterationBound<'m>,
    pub bits: u32,
    pub unsigned: bool,
    /// The kernel's further arguments.
    pub words: Vec<LaunchArgument<'m>>,
}

/// The number of a loop's first or last iteration.
#[derive(Clone, Copy, Debug)]
pub(super) enum IterationBound<'m> {
    Value(Value<'m>),
    /// Stored in this variable.
    In(Value<'m>),
}

/// A word that a kernel gets.
#[derive(Clone, Copy, Debug)]
pub(super) enum LaunchArgument<'m> {
    /// A number.
    Value(Value<'m>),
    /// An address.
    Address(Value<'m>),
    /// Part of a variable, at this byte offset.
    Part(Value<'m>, u64),
}

impl<'m> LaunchSite<'m> {
    /// Iterates over the values that the launch needs.
    pub fn values(&mut self) -> impl Iterator<Item = &mut Value<'m>> {
        let bounds = [&mut self.first, &mut self.last].map(|bound| match bound {
            IterationBound::Value(value) | IterationBound::In(value) => value,
        });
        let words = self.words.iter_mut().map(|word| match word {
            LaunchArgument::Value(value)
            | LaunchArgument::Address(value)
            | LaunchArgument::Part(value, _) => value,
        });
        bounds.into_iter().chain(words)
    }
}

/// Translates a function to a host schedule.
pub(super) fn build<'m>(
    module: Module<'m>,
    function: Function<'m>,
    launched: &[LaunchSite<'m>],
    shared: &HashSet<Alloca<'m>>,
) -> Result<HostSchedule, Refusal> {
    let mut it = ScheduleBuilder {
        module,
        function,
        schedule: HostSchedule::default(),
        operands: HashMap::new(),
        blocks: HashMap::new(),
        pending_jumps: Vec::new(),
    };
    for variable in function.instructions().filter_map(|i| i.as_alloca()) {
        let shares = shared.contains(&variable);
        if !shares && of_loops(variable, launched) {
            continue;
        }
        let at = it.place(variable)?;
        if shares {
            let size = module.layout().size(variable.allocated());
            it.schedule.shared.push((at, size as u32));
        }
    }
    let all: Blocks<'m> = function.blocks().collect();
    let launches: Blocks<'m> = launched.iter().map(|l| l.call.block()).collect();
    let mut idle = Blocks::new();
    idle_loops(&all, &all, &launches, &mut idle);
    for block in function.blocks() {
        if idle.contains(&block) {
            it.idles(block)?;
        }
        it.block(block, launched)?;
    }
    for (step, to) in std::mem::take(&mut it.pending_jumps) {
        let Some(&at) = it.blocks.get(&to) else {
            continue;
        };
        if let Some(ScheduleStep::Jump(target)) = it.schedule.steps.get_mut(step) {
            *target = at;
        }
    }
    if it.schedule.steps.len() > MOST_STEPS {
        return Err(refuse("too much code around its loops"));
    }
    Ok(it.schedule)
}

/// Returns true if only loops use a variable: each of their iterations has its own.
fn of_loops<'m>(variable: Alloca<'m>, launched: &[LaunchSite<'m>]) -> bool {
    let variable = Value::from(variable);
    let limits = |l: &LaunchSite<'m>| {
        [l.first, l.last]
            .iter()
            .any(|l| matches!(l, IterationBound::In(v) if *v == variable))
    };
    let gets = |g: &LaunchArgument<'m>| matches!(g, LaunchArgument::Part(v, _) if *v == variable);
    let idle = |user: Value<'m>| {
        launched.iter().any(|l| user == l.call.into()) || calls(user, "llvm.lifetime.")
    };
    variable.users().all(idle)
        && !launched
            .iter()
            .any(|l| limits(l) || l.words.iter().any(gets))
}

/// Finds the loops among a function's blocks that launch nothing.
fn idle_loops<'m>(
    all: &Blocks<'m>,
    among: &Blocks<'m>,
    launches: &Blocks<'m>,
    found: &mut Blocks<'m>,
) {
    let mut left = among.clone();
    while let Some(&block) = left.iter().next() {
        left.remove(&block);
        let outside = |b| !among.contains(&b);
        let ahead = reached(&[block], &outside);
        if !ahead.contains(&block) {
            continue;
        }
        let returns = |b: &&Block<'m>| reached(&[**b], &outside).contains(&block);
        let mut cycle: Blocks<'m> = ahead.iter().filter(returns).copied().collect();
        left.retain(|b| !cycle.contains(b));
        if cycle.is_disjoint(launches) {
            found.extend(cycle);
            continue;
        }
        // Without the block where it is entered, the cycle falls apart into the loops within.
        let enters =
            |b: &&Block<'m>| !cycle.contains(*b) && b.successors().any(|n| cycle.contains(&n));
        let head = match all.iter().find(enters) {
            Some(from) => from.successors().find(|b| cycle.contains(b)),
            None => Some(block),
        };
        if let Some(head) = head {
            cycle.remove(&head);
        }
        idle_loops(all, &cycle, launches, found);
    }
}

pub(super) struct ScheduleBuilder<'m> {
    pub module: Module<'m>,
    function: Function<'m>,
    pub schedule: HostSchedule,
    /// Operands that hold values.
    operands: HashMap<Value<'m>, ScheduleOperand>,
    /// First steps of blocks.
    blocks: HashMap<Block<'m>, u32>,
    /// Jumps to blocks whose first step is not known yet.
    pending_jumps: Vec<(usize, Block<'m>)>,
}

/// Returns the width of a type whose values fit in a word, in bits.
pub(super) fn bits(of: Type<'_>) -> Option<u32> {
    match of.kind() {
        TypeKind::LLVMPointerTypeKind | TypeKind::LLVMDoubleTypeKind => Some(64),
        TypeKind::LLVMFloatTypeKind => Some(32),
        _ => of.int_width().filter(|&bits| bits <= 64),
    }
}

/// Returns the width of a value that fits in a word, in bits.
pub(super) fn bits_of(value: Value<'_>) -> Result<u32, Refusal> {
    bits(value.of()).ok_or_else(|| {
        refuse_at(
            "numbers of types that do not fit in a word are used around its loops",
            value,
        )
    })
}

impl<'m> ScheduleBuilder<'m> {
    /// Allocates a private variable and returns its offset.
    fn place(&mut self, variable: Alloca<'m>) -> Result<u32, Refusal> {
        let count = variable
            .count()
            .signed()
            .and_then(|c| u64::try_from(c).ok());
        let size = self.module.layout().size(variable.allocated());
        let size = count.and_then(|c| c.checked_mul(size));
        let at = self.schedule.private_bytes;
        match size.map(|s| u64::from(at) + s.max(1).next_multiple_of(16)) {
            Some(end) if end <= MOST_PRIVATE_BYTES => {
                self.operands
                    .insert(variable.into(), ScheduleOperand::Private(at));
                self.schedule.private_bytes = end as u32;
                Ok(at)
            }
            _ => Err(refuse_at(
                "a large private variable is used around its loops",
                variable,
            )),
        }
    }

    pub fn push(&mut self, step: ScheduleStep) {
        self.schedule.steps.push(step);
    }

    pub fn fresh(&mut self) -> u32 {
        self.schedule.words += 1;
        self.schedule.words - 1
    }

    /// Returns the operand that holds a value, now or later.
    pub fn at(&mut self, value: Value<'m>) -> Result<ScheduleOperand, Refusal> {
        if let Some(&known) = self.operands.get(&value) {
            return Ok(known);
        }
        if value.as_instruction().is_some() {
            bits_of(value)?;
            let word = ScheduleOperand::Word(self.fresh());
            self.operands.insert(value, word);
            return Ok(word);
        }
        if value.is_constant_int() {
            bits_of(value)?;
        }
        if let Some(number) = value.signed() {
            return Ok(ScheduleOperand::Constant(number as u64));
        }
        if let Some(number) = value.real() {
            return match bits_of(value)? {
                32 => Ok(ScheduleOperand::Constant((number as f32).to_bits().into())),
                _ => Ok(ScheduleOperand::Constant(number.to_bits())),
            };
        }
        if value.is_zero() || value.is_undef() {
            bits_of(value)?;
            return Ok(ScheduleOperand::Constant(0));
        }
        if value.of().is_pointer() {
            let (base, offset) = shim::constant_offset(self.module, value);
            if let Some(variable) = base.as_variable() {
                let name = variable.name().into_string();
                let known = self.schedule.variables.iter().position(|v| *v == name);
                let number = known.unwrap_or_else(|| {
                    self.schedule.variables.push(name);
                    self.schedule.variables.len() - 1
                });
                return Ok(ScheduleOperand::Variable(number as u32, offset));
            }
        }
        let mut captured = self.function.parameters().skip(2);
        match captured.position(|p| p == value) {
            Some(index) => Ok(ScheduleOperand::Captured(index as u32)),
            None => Err(refuse_at("an unsupported value around its loops", value)),
        }
    }

    /// Returns the word that gets an instruction's result.
    pub fn result(&mut self, value: impl Into<Value<'m>>) -> Result<u32, Refusal> {
        let value = value.into();
        match self.at(value)? {
            ScheduleOperand::Word(word) => Ok(word),
            _ => Err(refuse_at("an unsupported value around its loops", value)),
        }
    }

    /// Continues from one block to another.
    pub fn edge(&mut self, from: Block<'m>, to: Block<'m>) -> Result<(), Refusal> {
        let mut moves = Vec::new();
        for phi in to.phis() {
            if let Some((value, _)) = phi.incoming().find(|(_, block)| *block == from) {
                let value = self.at(value)?;
                moves.push((self.result(phi)?, value));
            }
        }
        if !moves.is_empty() {
            self.push(ScheduleStep::Move(moves));
        }
        self.pending_jumps.push((self.schedule.steps.len(), to));
        self.push(ScheduleStep::Jump(0));
        Ok(())
    }

    fn block(&mut self, block: Block<'m>, launched: &[LaunchSite<'m>]) -> Result<(), Refusal> {
        self.blocks.insert(block, self.schedule.steps.len() as u32);
        for at in block.instructions() {
            match launched.iter().find(|l| at == l.call.into()) {
                Some(run) => self.launch(run)?,
                None => self.instruction(block, at)?,
            }
        }
        Ok(())
    }

    /// Refuses a block of a sequential loop that launches nothing and accesses the program's memory
    /// often, which the interpreter does slowly.
    fn idles(&self, block: Block<'m>) -> Result<(), Refusal> {
        let mut looks = Vec::new();
        for at in block.instructions() {
            let accesses = kernel_sequence::accesses(at).into_iter();
            looks.extend(accesses.filter(|a| !is_own(a.0)).map(|_| at));
        }
        let Some(&first) = looks.first() else {
            return Ok(());
        };
        match shim::max_trips(block).map(|n| n.saturating_mul(looks.len() as u64)) {
            Some(count) if count <= MOST_ACCESSES => Ok(()),
            _ => Err(refuse_at(
                "a sequential loop around its loops uses memory",
                first,
            )),
        }
    }

    fn launch(&mut self, run: &LaunchSite<'m>) -> Result<(), Refusal> {
        let mut limit = |limit| match limit {
            IterationBound::Value(value) => self.at(value),
            IterationBound::In(variable) => {
                let from = self.at(variable)?;
                let word = self.fresh();
                self.push(ScheduleStep::Load(word, from, run.bits / 8));
                Ok(ScheduleOperand::Word(word))
            }
        };
        let (first, last) = (limit(run.first)?, limit(run.last)?);
        let (mut words, mut addresses) = (Vec::new(), Vec::new());
        for given in &run.words {
            if let LaunchArgument::Address(_) = given {
                addresses.push(words.len() as u32);
            }
            words.push(match *given {
                LaunchArgument::Value(value) | LaunchArgument::Address(value) => self.at(value)?,
                LaunchArgument::Part(variable, offset) => {
                    let ScheduleOperand::Private(start) = self.at(variable)? else {
                        return Err(refuse("an unknown variable around its loops"));
                    };
                    let word = self.fresh();
                    let from = ScheduleOperand::Private(start + offset as u32);
                    self.push(ScheduleStep::Load(word, from, 8));
                    ScheduleOperand::Word(word)
                }
            });
        }
        self.push(ScheduleStep::Launch(KernelLaunch {
            phase: run.phase,
            first,
            last,
            bits: run.bits,
            unsigned: run.unsigned,
            words,
            addresses,
        }));
        Ok(())
    }
}

/// Returns true if an address points into private variables, however it is computed.
pub(super) fn is_own(address: Value<'_>) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![address];
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        match derived_from(value) {
            Some(pointers) => open.extend(pointers),
            None if value.as_alloca().is_some() => {}
            None => return false,
        }
    }
    true
}
