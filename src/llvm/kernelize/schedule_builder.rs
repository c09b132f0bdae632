//! Translation of a region's code without its loops to a [`HostSchedule`].
//!
//! The input is the function that [`super::partition`] leaves once the loops are functions of their
//! own. Code without a corresponding step is the reason why the region stays on the host. So are
//! effects on memory that every thread would have, such as counting, because the schedule runs once
//! for all threads.

use super::host_schedule::{
    Conversion, FloatOperation, HostSchedule, KernelLaunch, ScheduleOperand, ScheduleStep,
};
use super::{IntOperation, Refusal, constant, kernel_sequence, loops, partition, refuse, users};
use crate::nvptx::{called, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use crate::shim;
use hashbrown::{HashMap, HashSet};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};

type Blocks = HashSet<LLVMBasicBlockRef>;

/// Largest size of the private variables that the host keeps for the thread, in bytes.
const MOST_PRIVATE_BYTES: u64 = 64 << 10;
/// Most accesses of a sequential loop's block to the program's memory.
const MOST_ACCESSES: u64 = 128;
/// Most steps of a schedule.
const MOST_STEPS: usize = 20_000;

/// A call in the function that becomes a launch.
#[derive(Clone, Debug)]
pub(super) struct LaunchSite {
    pub call: LLVMValueRef,
    pub phase: u32,
    pub first: IterationBound,
    pub last: IterationBound,
    pub bits: u32,
    pub unsigned: bool,
    /// The kernel's further arguments.
    pub words: Vec<LaunchArgument>,
}

/// The number of a loop's first or last iteration.
#[derive(Clone, Copy, Debug)]
pub(super) enum IterationBound {
    Value(LLVMValueRef),
    /// Stored in this variable.
    In(LLVMValueRef),
}

/// A word that a kernel gets.
#[derive(Clone, Copy, Debug)]
pub(super) enum LaunchArgument {
    /// A number.
    Value(LLVMValueRef),
    /// An address.
    Address(LLVMValueRef),
    /// Part of a variable, at this byte offset.
    Part(LLVMValueRef, u64),
}

/// Translates a function to a host schedule.
pub(super) fn build(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    launched: &[LaunchSite],
    shared: &HashSet<LLVMValueRef>,
) -> Result<HostSchedule, Refusal> {
    let mut it = ScheduleBuilder {
        module,
        function,
        schedule: HostSchedule::default(),
        operands: HashMap::new(),
        blocks: HashMap::new(),
        pending_jumps: Vec::new(),
    };
    for variable in instructions(function) {
        if llvm!(core::LLVMIsAAllocaInst(variable)).is_null() {
            continue;
        }
        if shared.contains(&variable) || !of_loops(variable, launched) {
            it.place(variable)?;
        }
        if shared.contains(&variable)
            && let Some(ScheduleOperand::Private(at)) = it.operands.get(&variable)
        {
            let size = it.size(llvm!(core::LLVMGetAllocatedType(variable)));
            it.schedule.shared.push((*at, size as u32));
        }
    }
    let mut block = llvm!(core::LLVMGetFirstBasicBlock(function));
    let mut all = Blocks::new();
    while !block.is_null() {
        all.insert(block);
        block = llvm!(core::LLVMGetNextBasicBlock(block));
    }
    let launches: Blocks = launched.iter().map(|l| loops::block(l.call)).collect();
    let mut idle = Blocks::new();
    idle_loops(&all, &all, &launches, &mut idle);
    let mut block = llvm!(core::LLVMGetFirstBasicBlock(function));
    while !block.is_null() {
        if idle.contains(&block) {
            it.idles(block)?;
        }
        it.block(block, launched)?;
        block = llvm!(core::LLVMGetNextBasicBlock(block));
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
        return Err(refuse("too much code around its loops", None));
    }
    Ok(it.schedule)
}

/// Returns true if only loops use a variable: each of their iterations has its own.
fn of_loops(variable: LLVMValueRef, launched: &[LaunchSite]) -> bool {
    let limits = |l: &LaunchSite| {
        [l.first, l.last]
            .iter()
            .any(|l| matches!(l, IterationBound::In(v) if *v == variable))
    };
    let gets = |g: &LaunchArgument| matches!(g, LaunchArgument::Part(v, _) if *v == variable);
    let idle = |user: LLVMValueRef| {
        launched.iter().any(|l| l.call == user)
            || called(user).is_some_and(|f| name_of(f).starts_with("llvm.lifetime."))
    };
    users(variable).into_iter().all(idle)
        && !launched
            .iter()
            .any(|l| limits(l) || l.words.iter().any(gets))
}

/// Finds the loops among a function's blocks that launch nothing.
fn idle_loops(all: &Blocks, among: &Blocks, launches: &Blocks, found: &mut Blocks) {
    let mut left = among.clone();
    while let Some(&block) = left.iter().next() {
        left.remove(&block);
        let outside = |b| !among.contains(&b);
        let ahead = partition::reached(&[block], &outside);
        if !ahead.contains(&block) {
            continue;
        }
        let returns =
            |b: &&LLVMBasicBlockRef| partition::reached(&[**b], &outside).contains(&block);
        let mut cycle: Blocks = ahead.iter().filter(returns).copied().collect();
        left.retain(|b| !cycle.contains(b));
        if cycle.is_disjoint(launches) {
            found.extend(cycle);
            continue;
        }
        // Without the block where it is entered, the cycle falls apart into the loops within.
        let enters = |b: &&LLVMBasicBlockRef| {
            let next = loops::successors(**b);
            !cycle.contains(*b) && next.iter().any(|n| cycle.contains(n))
        };
        let from = all.iter().find(enters).copied();
        let head = from.map_or(vec![block], loops::successors);
        if let Some(head) = head.into_iter().find(|b| cycle.contains(b)) {
            cycle.remove(&head);
        }
        idle_loops(all, &cycle, launches, found);
    }
}

struct ScheduleBuilder {
    module: LLVMModuleRef,
    function: LLVMValueRef,
    schedule: HostSchedule,
    /// Operands that hold values.
    operands: HashMap<LLVMValueRef, ScheduleOperand>,
    /// First steps of blocks.
    blocks: HashMap<LLVMBasicBlockRef, u32>,
    /// Jumps to blocks whose first step is not known yet.
    pending_jumps: Vec<(usize, LLVMBasicBlockRef)>,
}

fn operand(value: LLVMValueRef, index: u32) -> LLVMValueRef {
    llvm!(core::LLVMGetOperand(value, index))
}

/// Returns the width of a type whose values fit in a word, in bits.
pub(super) fn bits(of: LLVMTypeRef) -> Option<u32> {
    use LLVMTypeKind::*;
    match llvm!(core::LLVMGetTypeKind(of)) {
        LLVMIntegerTypeKind => Some(llvm!(core::LLVMGetIntTypeWidth(of))).filter(|&b| b <= 64),
        LLVMPointerTypeKind | LLVMDoubleTypeKind => Some(64),
        LLVMFloatTypeKind => Some(32),
        _ => None,
    }
}

fn bits_of(value: LLVMValueRef) -> Result<u32, Refusal> {
    bits(llvm!(core::LLVMTypeOf(value))).ok_or_else(|| {
        refuse(
            "numbers of types that do not fit in a word are used around its loops",
            Some(value),
        )
    })
}

impl ScheduleBuilder {
    fn size(&self, of: LLVMTypeRef) -> u64 {
        let layout = llvm!(target::LLVMGetModuleDataLayout(self.module));
        llvm!(target::LLVMABISizeOfType(layout, of))
    }

    fn stored(&self, value: LLVMValueRef) -> Result<u32, Refusal> {
        bits_of(value)?;
        let layout = llvm!(target::LLVMGetModuleDataLayout(self.module));
        let of = llvm!(core::LLVMTypeOf(value));
        Ok(llvm!(target::LLVMStoreSizeOfType(layout, of)) as u32)
    }

    /// Allocates a private variable.
    fn place(&mut self, variable: LLVMValueRef) -> Result<(), Refusal> {
        let of = llvm!(core::LLVMGetAllocatedType(variable));
        let count = constant(operand(variable, 0)).and_then(|c| u64::try_from(c).ok());
        let size = count.and_then(|c| c.checked_mul(self.size(of)));
        let at = u64::from(self.schedule.private_bytes);
        match size.map(|s| at + s.max(1).next_multiple_of(16)) {
            Some(end) if end <= MOST_PRIVATE_BYTES => {
                self.operands
                    .insert(variable, ScheduleOperand::Private(at as u32));
                self.schedule.private_bytes = end as u32;
                Ok(())
            }
            _ => Err(refuse(
                "a large private variable is used around its loops",
                Some(variable),
            )),
        }
    }

    fn fresh(&mut self) -> u32 {
        self.schedule.words += 1;
        self.schedule.words - 1
    }

    /// Returns the operand that holds a value, now or later.
    fn at(&mut self, value: LLVMValueRef) -> Result<ScheduleOperand, Refusal> {
        if let Some(&known) = self.operands.get(&value) {
            return Ok(known);
        }
        if !llvm!(core::LLVMIsAInstruction(value)).is_null() {
            bits_of(value)?;
            let word = ScheduleOperand::Word(self.fresh());
            self.operands.insert(value, word);
            return Ok(word);
        }
        if let Some(number) = constant(value) {
            bits_of(value)?;
            return Ok(ScheduleOperand::Constant(number as u64));
        }
        let of = llvm!(core::LLVMTypeOf(value));
        if !llvm!(core::LLVMIsAConstantFP(value)).is_null() {
            let mut loses = 0;
            let number = llvm!(core::LLVMConstRealGetDouble(value, &mut loses));
            return match bits_of(value)? {
                32 => Ok(ScheduleOperand::Constant((number as f32).to_bits().into())),
                _ => Ok(ScheduleOperand::Constant(number.to_bits())),
            };
        }
        if llvm!(core::LLVMIsNull(value)) != 0 || llvm!(core::LLVMIsUndef(value)) != 0 {
            bits_of(value)?;
            return Ok(ScheduleOperand::Constant(0));
        }
        if llvm!(core::LLVMGetTypeKind(of)) == LLVMTypeKind::LLVMPointerTypeKind {
            let (base, offset) = shim::constant_offset(self.module, value);
            if !llvm!(core::LLVMIsAGlobalVariable(base)).is_null() {
                let name = name_of(base).into_string();
                let known = self.schedule.variables.iter().position(|v| *v == name);
                let number = known.unwrap_or_else(|| {
                    self.schedule.variables.push(name);
                    self.schedule.variables.len() - 1
                });
                return Ok(ScheduleOperand::Variable(number as u32, offset));
            }
        }
        let count = llvm!(core::LLVMCountParams(self.function));
        let index = (2..count).find(|&i| llvm!(core::LLVMGetParam(self.function, i)) == value);
        match index {
            Some(index) => Ok(ScheduleOperand::Captured(index - 2)),
            None => Err(refuse("an unsupported value around its loops", Some(value))),
        }
    }

    fn result(&mut self, value: LLVMValueRef) -> Result<u32, Refusal> {
        match self.at(value)? {
            ScheduleOperand::Word(word) => Ok(word),
            _ => Err(refuse("an unsupported value around its loops", Some(value))),
        }
    }

    fn parts(&mut self, value: LLVMValueRef, count: u32) -> Result<Vec<ScheduleOperand>, Refusal> {
        (0..count).map(|i| self.at(operand(value, i))).collect()
    }

    fn jump(&mut self, to: LLVMBasicBlockRef) {
        self.pending_jumps.push((self.schedule.steps.len(), to));
        self.schedule.steps.push(ScheduleStep::Jump(0));
    }

    /// Continues from one block to another.
    fn edge(&mut self, from: LLVMBasicBlockRef, to: LLVMBasicBlockRef) -> Result<(), Refusal> {
        let mut moves = Vec::new();
        let mut phi = llvm!(core::LLVMGetFirstInstruction(to));
        while !phi.is_null() && !llvm!(core::LLVMIsAPHINode(phi)).is_null() {
            for index in 0..llvm!(core::LLVMCountIncoming(phi)) {
                if llvm!(core::LLVMGetIncomingBlock(phi, index)) == from {
                    let value = self.at(llvm!(core::LLVMGetIncomingValue(phi, index)))?;
                    moves.push((self.result(phi)?, value));
                    break;
                }
            }
            phi = llvm!(core::LLVMGetNextInstruction(phi));
        }
        if !moves.is_empty() {
            self.schedule.steps.push(ScheduleStep::Move(moves));
        }
        self.jump(to);
        Ok(())
    }

    fn block(&mut self, block: LLVMBasicBlockRef, launched: &[LaunchSite]) -> Result<(), Refusal> {
        self.blocks.insert(block, self.schedule.steps.len() as u32);
        let mut at = llvm!(core::LLVMGetFirstInstruction(block));
        while !at.is_null() {
            match launched.iter().find(|l| l.call == at) {
                Some(run) => self.launch(run)?,
                None => self.instruction(block, at)?,
            }
            at = llvm!(core::LLVMGetNextInstruction(at));
        }
        Ok(())
    }

    /// Refuses a block of a sequential loop that launches nothing and accesses the program's memory
    /// often, which the interpreter does slowly.
    fn idles(&self, block: LLVMBasicBlockRef) -> Result<(), Refusal> {
        let mut looks = Vec::new();
        let mut at = llvm!(core::LLVMGetFirstInstruction(block));
        while !at.is_null() {
            let accesses = kernel_sequence::accesses(at).into_iter();
            looks.extend(accesses.filter(|a| !is_own(a.0)).map(|_| at));
            at = llvm!(core::LLVMGetNextInstruction(at));
        }
        let Some(&first) = looks.first() else {
            return Ok(());
        };
        match shim::max_trips(block).map(|n| n.saturating_mul(looks.len() as u64)) {
            Some(count) if count <= MOST_ACCESSES => Ok(()),
            _ => Err(refuse(
                "a sequential loop around its loops uses memory",
                Some(first),
            )),
        }
    }

    fn launch(&mut self, run: &LaunchSite) -> Result<(), Refusal> {
        let mut limit = |limit: IterationBound| match limit {
            IterationBound::Value(value) => self.at(value),
            IterationBound::In(variable) => {
                let from = self.at(variable)?;
                let word = self.fresh();
                self.schedule
                    .steps
                    .push(ScheduleStep::Load(word, from, run.bits / 8));
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
                        return Err(refuse("an unknown variable around its loops", None));
                    };
                    let word = self.fresh();
                    let from = ScheduleOperand::Private(start + offset as u32);
                    self.schedule.steps.push(ScheduleStep::Load(word, from, 8));
                    ScheduleOperand::Word(word)
                }
            });
        }
        self.schedule.steps.push(ScheduleStep::Launch(KernelLaunch {
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

    fn instruction(&mut self, block: LLVMBasicBlockRef, at: LLVMValueRef) -> Result<(), Refusal> {
        use LLVMOpcode::*;
        let opcode = llvm!(core::LLVMGetInstructionOpcode(at));
        let whole = match opcode {
            LLVMAdd => Some(IntOperation::Add),
            LLVMSub => Some(IntOperation::Sub),
            LLVMMul => Some(IntOperation::Mul),
            LLVMSDiv => Some(IntOperation::SDiv),
            LLVMUDiv => Some(IntOperation::UDiv),
            LLVMSRem => Some(IntOperation::SRem),
            LLVMURem => Some(IntOperation::URem),
            LLVMShl => Some(IntOperation::Shl),
            LLVMLShr => Some(IntOperation::LShr),
            LLVMAShr => Some(IntOperation::AShr),
            LLVMAnd => Some(IntOperation::And),
            LLVMOr => Some(IntOperation::Or),
            LLVMXor => Some(IntOperation::Xor),
            LLVMICmp => Some(comparison(at)),
            LLVMSExt => Some(IntOperation::SignExtend),
            LLVMZExt => Some(IntOperation::ZeroExtend),
            LLVMTrunc => Some(IntOperation::Truncate),
            _ => None,
        };
        if let Some(operation) = whole {
            let bits = bits_of(operand(at, 0))?;
            let count = llvm!(core::LLVMGetNumOperands(at)) as u32;
            return self.whole(at, operation, bits, count);
        }
        match opcode {
            LLVMFAdd => self.real(at, FloatOperation::Add, 2),
            LLVMFSub => self.real(at, FloatOperation::Sub, 2),
            LLVMFMul => self.real(at, FloatOperation::Mul, 2),
            LLVMFDiv => self.real(at, FloatOperation::Div, 2),
            LLVMFRem => self.real(at, FloatOperation::Rem, 2),
            LLVMFNeg => self.real(at, FloatOperation::Negate, 1),
            LLVMFCmp => {
                // LLVM's predicates are masks of the outcomes for which they are true.
                let wanted = llvm!(core::LLVMGetFCmpPredicate(at)) as u8;
                self.real(at, FloatOperation::Compare(wanted), 2)
            }
            LLVMSelect => self.whole(at, IntOperation::Select, 64, 3),
            LLVMFreeze | LLVMBitCast | LLVMPtrToInt | LLVMIntToPtr => {
                let from = self.parts(at, 1)?[0];
                bits_of(at)?;
                let word = self.result(at)?;
                self.schedule
                    .steps
                    .push(ScheduleStep::Move(vec![(word, from)]));
                Ok(())
            }
            LLVMSIToFP => self.convert(at, Conversion::SignedToReal),
            LLVMUIToFP => self.convert(at, Conversion::UnsignedToReal),
            LLVMFPToSI => self.convert(at, Conversion::RealToSigned),
            LLVMFPToUI => self.convert(at, Conversion::RealToUnsigned),
            LLVMFPExt | LLVMFPTrunc => self.convert(at, Conversion::RealToReal),
            LLVMAlloca | LLVMPHI => Ok(()),
            LLVMLoad | LLVMStore if llvm!(core::LLVMGetVolatile(at)) != 0 => {
                Err(refuse("a volatile variable around its loops", Some(at)))
            }
            LLVMLoad if llvm!(core::LLVMIsAtomic(at)) != 0 => Err(refuse(
                "an atomic read around its loops: it may wait for another thread",
                Some(at),
            )),
            LLVMLoad => {
                let (bytes, from) = (self.stored(at)?, self.at(operand(at, 0))?);
                let word = self.result(at)?;
                self.schedule
                    .steps
                    .push(ScheduleStep::Load(word, from, bytes));
                Ok(())
            }
            LLVMStore => {
                let bytes = self.stored(operand(at, 0))?;
                let parts = self.parts(at, 2)?;
                let store = ScheduleStep::Store(parts[1], parts[0], bytes);
                self.schedule.steps.push(store);
                Ok(())
            }
            LLVMGetElementPtr => self.element(at),
            LLVMBr | LLVMSwitch => self.branch(block, at),
            LLVMRet => {
                self.schedule.steps.push(ScheduleStep::End);
                Ok(())
            }
            LLVMUnreachable => Err(refuse("the program may end around its loops", Some(at))),
            LLVMAtomicRMW | LLVMAtomicCmpXchg => Err(refuse(
                "an atomic update around its loops, once for each thread",
                Some(at),
            )),
            LLVMCall => self.call(at),
            _ => Err(refuse(
                "an unsupported instruction around its loops",
                Some(at),
            )),
        }
    }

    fn whole(
        &mut self,
        at: LLVMValueRef,
        operation: IntOperation,
        bits: u32,
        count: u32,
    ) -> Result<(), Refusal> {
        let parts = self.parts(at, count)?;
        let word = self.result(at)?;
        let step = ScheduleStep::Int(word, operation, bits, parts);
        self.schedule.steps.push(step);
        Ok(())
    }

    fn real(
        &mut self,
        at: LLVMValueRef,
        operation: FloatOperation,
        count: u32,
    ) -> Result<(), Refusal> {
        let bits = bits_of(operand(at, 0))?;
        let parts = self.parts(at, count)?;
        let word = self.result(at)?;
        let step = ScheduleStep::Float(word, operation, bits, parts);
        self.schedule.steps.push(step);
        Ok(())
    }

    fn convert(&mut self, at: LLVMValueRef, conversion: Conversion) -> Result<(), Refusal> {
        let sizes = (bits_of(operand(at, 0))?, bits_of(at)?);
        let from = self.at(operand(at, 0))?;
        let word = self.result(at)?;
        let step = ScheduleStep::Convert(word, conversion, sizes, from);
        self.schedule.steps.push(step);
        Ok(())
    }

    fn branch(&mut self, block: LLVMBasicBlockRef, at: LLVMValueRef) -> Result<(), Refusal> {
        let next = |index| llvm!(core::LLVMGetSuccessor(at, index));
        let count = llvm!(core::LLVMGetNumSuccessors(at));
        if llvm!(core::LLVMGetInstructionOpcode(at)) == LLVMOpcode::LLVMSwitch {
            let value = self.at(operand(at, 0))?;
            let bits = bits_of(operand(at, 0))?;
            for case in 1..count {
                let wanted = self.at(llvm!(core::LLVMGetSwitchCaseValue(at, case)))?;
                let word = self.fresh();
                let parts = vec![value, wanted];
                let equal = ScheduleStep::Int(word, IntOperation::Equal, bits, parts);
                self.schedule.steps.push(equal);
                self.either(ScheduleOperand::Word(word), block, next(case))?;
            }
            return self.edge(block, next(0));
        }
        if count == 2 {
            let condition = self.at(operand(at, 0))?;
            self.either(condition, block, next(0))?;
        }
        self.edge(block, next(count - 1))
    }

    /// Branches to a block under a condition, and otherwise continues.
    fn either(
        &mut self,
        condition: ScheduleOperand,
        from: LLVMBasicBlockRef,
        to: LLVMBasicBlockRef,
    ) -> Result<(), Refusal> {
        let here = self.schedule.steps.len();
        self.schedule.steps.push(ScheduleStep::End);
        self.edge(from, to)?;
        let after = self.schedule.steps.len() as u32;
        self.schedule.steps[here] = ScheduleStep::Branch(condition, here as u32 + 1, after);
        Ok(())
    }

    /// Computes an address in an array or structure.
    fn element(&mut self, at: LLVMValueRef) -> Result<(), Refusal> {
        let layout = llvm!(target::LLVMGetModuleDataLayout(self.module));
        let mut sum = self.at(operand(at, 0))?;
        let mut of = llvm!(core::LLVMGetGEPSourceElementType(at));
        for index in 1..llvm!(core::LLVMGetNumOperands(at)) as u32 {
            let number = operand(at, index);
            let structure = llvm!(core::LLVMGetTypeKind(of)) == LLVMTypeKind::LLVMStructTypeKind;
            let distance = if index > 1 && structure {
                let member = constant(number).unwrap_or(0) as u32;
                let offset = llvm!(target::LLVMOffsetOfElement(layout, of, member));
                of = llvm!(core::LLVMStructGetTypeAtIndex(of, member));
                ScheduleOperand::Constant(offset)
            } else {
                if index > 1 {
                    of = llvm!(core::LLVMGetElementType(of));
                }
                let size = self.size(of);
                let (bits, number) = (bits_of(number)?, self.at(number)?);
                let (wide, times) = (self.fresh(), self.fresh());
                let extend = ScheduleStep::Int(wide, IntOperation::SignExtend, bits, vec![number]);
                let parts = vec![ScheduleOperand::Word(wide), ScheduleOperand::Constant(size)];
                self.schedule.steps.push(extend);
                let multiply = ScheduleStep::Int(times, IntOperation::Mul, 64, parts);
                self.schedule.steps.push(multiply);
                ScheduleOperand::Word(times)
            };
            let word = self.fresh();
            let add = ScheduleStep::Int(word, IntOperation::Add, 64, vec![sum, distance]);
            self.schedule.steps.push(add);
            sum = ScheduleOperand::Word(word);
        }
        let word = self.result(at)?;
        self.schedule
            .steps
            .push(ScheduleStep::Move(vec![(word, sum)]));
        Ok(())
    }

    fn call(&mut self, at: LLVMValueRef) -> Result<(), Refusal> {
        let Some(callee) = called(at) else {
            return Err(refuse("a call through a pointer", Some(at)));
        };
        let name = name_of(callee);
        let nothing = [
            "llvm.lifetime.",
            "llvm.dbg.",
            "llvm.assume",
            "llvm.experimental.noalias",
            "llvm.prefetch",
            "llvm.invariant.",
        ];
        if nothing.iter().any(|n| name.starts_with(n)) {
            return Ok(());
        }
        let whole = |operation| (operation, 2);
        let found = match name.strip_prefix("llvm.").and_then(|n| n.split('.').next()) {
            Some("smin") => Some(whole(IntOperation::SMin)),
            Some("smax") => Some(whole(IntOperation::SMax)),
            Some("umin") => Some(whole(IntOperation::UMin)),
            Some("umax") => Some(whole(IntOperation::UMax)),
            _ => None,
        };
        if let Some((operation, count)) = found {
            return self.whole(at, operation, bits_of(at)?, count);
        }
        let size = || constant(operand(at, 2)).and_then(|s| u64::try_from(s).ok());
        let copies = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
        if copies && let Some(size) = size() {
            let parts = self.parts(at, 2)?;
            let copy = ScheduleStep::Copy(parts[0], parts[1], size);
            self.schedule.steps.push(copy);
            return Ok(());
        }
        if name.starts_with("llvm.memset.")
            && let Some(size) = size()
        {
            let parts = self.parts(at, 2)?;
            let fill = ScheduleStep::Fill(parts[0], parts[1], size);
            self.schedule.steps.push(fill);
            return Ok(());
        }
        let plain = match name.strip_prefix("llvm.") {
            Some(intrinsic) => intrinsic.split('.').next().unwrap_or(""),
            None if bits(llvm!(core::LLVMTypeOf(at))) == Some(32) => {
                name.strip_suffix('f').unwrap_or(&name)
            }
            None => &name,
        };
        let real = match plain {
            "sqrt" => Some((FloatOperation::SquareRoot, 1)),
            "fabs" => Some((FloatOperation::Absolute, 1)),
            "floor" => Some((FloatOperation::Floor, 1)),
            "ceil" => Some((FloatOperation::Ceiling, 1)),
            "trunc" => Some((FloatOperation::Truncate, 1)),
            "exp" => Some((FloatOperation::Exponential, 1)),
            "log" => Some((FloatOperation::Logarithm, 1)),
            "sin" => Some((FloatOperation::Sine, 1)),
            "cos" => Some((FloatOperation::Cosine, 1)),
            "pow" => Some((FloatOperation::Power, 2)),
            "fma" => Some((FloatOperation::Fused, 3)),
            "minnum" | "fmin" => Some((FloatOperation::Least, 2)),
            "maxnum" | "fmax" => Some((FloatOperation::Most, 2)),
            "fmod" => Some((FloatOperation::Rem, 2)),
            _ => None,
        };
        match real {
            Some((operation, count)) => self.real(at, operation, count),
            None => Err(refuse(
                format!("`{name}` is called around its loops"),
                Some(at),
            )),
        }
    }
}

/// Returns true if an address points into private variables, however it is computed.
pub(super) fn is_own(address: LLVMValueRef) -> bool {
    use LLVMOpcode::*;
    let mut seen = HashSet::new();
    let mut open = vec![address];
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        if llvm!(core::LLVMIsAInstruction(value)).is_null() {
            return false;
        }
        match llvm!(core::LLVMGetInstructionOpcode(value)) {
            LLVMAlloca => {}
            LLVMGetElementPtr | LLVMFreeze => open.push(operand(value, 0)),
            LLVMSelect => open.extend([1, 2].map(|i| operand(value, i))),
            LLVMPHI => {
                let count = llvm!(core::LLVMCountIncoming(value));
                open.extend((0..count).map(|i| llvm!(core::LLVMGetIncomingValue(value, i))));
            }
            _ => return false,
        }
    }
    true
}

fn comparison(at: LLVMValueRef) -> IntOperation {
    use LLVMIntPredicate::*;
    match llvm!(core::LLVMGetICmpPredicate(at)) {
        LLVMIntEQ => IntOperation::Equal,
        LLVMIntNE => IntOperation::Unequal,
        LLVMIntSLT => IntOperation::SLess,
        LLVMIntSLE => IntOperation::SLessEqual,
        LLVMIntSGT => IntOperation::SGreater,
        LLVMIntSGE => IntOperation::SGreaterEqual,
        LLVMIntULT => IntOperation::ULess,
        LLVMIntULE => IntOperation::ULessEqual,
        LLVMIntUGT => IntOperation::UGreater,
        LLVMIntUGE => IntOperation::UGreaterEqual,
    }
}
