//! Translation of a region's code without its loops to a [`Script`].
//!
//! The input is the function that [`super::walk`] leaves once the loops are functions of their own.
//! Code without a corresponding step is the reason why the region stays on the host. So are effects
//! on memory that every thread would have, such as counting, because the schedule runs once for all
//! threads.

use super::script::{Conversion, Operand, Real, Run, Script, Step};
use super::{Operation, Refusal, constant, loops, phases, refuse, users, walk};
use crate::nvptx::{called, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use crate::shim;
use hashbrown::{HashMap, HashSet};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};

type Blocks = HashSet<LLVMBasicBlockRef>;

/// Limit of the private variables that the host keeps for the thread, in bytes.
const OWN: u64 = 64 << 10;
/// Most accesses of a sequential loop's block to the program's memory.
const IDLE: u64 = 128;
/// Most steps of a script.
const STEPS: usize = 20_000;

/// A call in the function that becomes a launch.
#[derive(Clone, Debug)]
pub(super) struct Launched {
    pub call: LLVMValueRef,
    pub phase: u32,
    pub first: Limit,
    pub last: Limit,
    pub bits: u32,
    pub unsigned: bool,
    /// The kernel's further arguments.
    pub words: Vec<Given>,
}

/// The number of a loop's first or last iteration.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    Value(LLVMValueRef),
    /// Stored in this variable.
    In(LLVMValueRef),
}

/// A word that a kernel gets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given {
    /// A number.
    Value(LLVMValueRef),
    /// An address.
    Address(LLVMValueRef),
    /// Part of a variable, at this byte offset.
    Part(LLVMValueRef, u64),
}

/// Translates a function to a script.
pub(super) fn script(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    launched: &[Launched],
    shared: &HashSet<LLVMValueRef>,
) -> Result<Script, Refusal> {
    let mut it = Writing {
        module,
        function,
        script: Script::default(),
        places: HashMap::new(),
        blocks: HashMap::new(),
        open: Vec::new(),
    };
    for variable in instructions(function) {
        if llvm!(core::LLVMIsAAllocaInst(variable)).is_null() {
            continue;
        }
        if shared.contains(&variable) || !of_loops(variable, launched) {
            it.place(variable)?;
        }
        if shared.contains(&variable)
            && let Some(Operand::Own(at)) = it.places.get(&variable)
        {
            let size = it.size(llvm!(core::LLVMGetAllocatedType(variable)));
            it.script.shared.push((*at, size as u32));
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
    for (step, to) in std::mem::take(&mut it.open) {
        let Some(&at) = it.blocks.get(&to) else {
            continue;
        };
        if let Some(Step::Jump(target)) = it.script.steps.get_mut(step) {
            *target = at;
        }
    }
    if it.script.steps.len() > STEPS {
        return Err(refuse("there is too much code around its loops", None));
    }
    Ok(it.script)
}

/// Returns true if only loops use a variable: each of their iterations has its own.
fn of_loops(variable: LLVMValueRef, launched: &[Launched]) -> bool {
    let limits = |l: &Launched| {
        [l.first, l.last]
            .iter()
            .any(|l| matches!(l, Limit::In(v) if *v == variable))
    };
    let gets = |g: &Given| matches!(g, Given::Part(v, _) if *v == variable);
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
        let ahead = walk::reached(&[block], &outside);
        if !ahead.contains(&block) {
            continue;
        }
        let returns = |b: &&LLVMBasicBlockRef| walk::reached(&[**b], &outside).contains(&block);
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

struct Writing {
    module: LLVMModuleRef,
    function: LLVMValueRef,
    script: Script,
    /// Operands that hold values.
    places: HashMap<LLVMValueRef, Operand>,
    /// First steps of blocks.
    blocks: HashMap<LLVMBasicBlockRef, u32>,
    /// Jumps to blocks whose first step is not known yet.
    open: Vec<(usize, LLVMBasicBlockRef)>,
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
            "numbers of other types than a word holds are used around its loops",
            Some(value),
        )
    })
}

impl Writing {
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
        let at = u64::from(self.script.own);
        match size.map(|s| at + s.max(1).next_multiple_of(16)) {
            Some(end) if end <= OWN => {
                self.places.insert(variable, Operand::Own(at as u32));
                self.script.own = end as u32;
                Ok(())
            }
            _ => Err(refuse(
                "a large private variable is around its loops",
                Some(variable),
            )),
        }
    }

    fn fresh(&mut self) -> u32 {
        self.script.words += 1;
        self.script.words - 1
    }

    /// Returns the operand that holds a value, now or later.
    fn at(&mut self, value: LLVMValueRef) -> Result<Operand, Refusal> {
        if let Some(&known) = self.places.get(&value) {
            return Ok(known);
        }
        if !llvm!(core::LLVMIsAInstruction(value)).is_null() {
            bits_of(value)?;
            let word = Operand::Word(self.fresh());
            self.places.insert(value, word);
            return Ok(word);
        }
        if let Some(number) = constant(value) {
            bits_of(value)?;
            return Ok(Operand::Constant(number as u64));
        }
        let of = llvm!(core::LLVMTypeOf(value));
        if !llvm!(core::LLVMIsAConstantFP(value)).is_null() {
            let mut loses = 0;
            let number = llvm!(core::LLVMConstRealGetDouble(value, &mut loses));
            return match bits_of(value)? {
                32 => Ok(Operand::Constant((number as f32).to_bits().into())),
                _ => Ok(Operand::Constant(number.to_bits())),
            };
        }
        if llvm!(core::LLVMIsNull(value)) != 0 || llvm!(core::LLVMIsUndef(value)) != 0 {
            bits_of(value)?;
            return Ok(Operand::Constant(0));
        }
        if llvm!(core::LLVMGetTypeKind(of)) == LLVMTypeKind::LLVMPointerTypeKind {
            let (base, offset) = shim::constant_offset(self.module, value);
            if !llvm!(core::LLVMIsAGlobalVariable(base)).is_null() {
                let name = name_of(base).into_string();
                let known = self.script.variables.iter().position(|v| *v == name);
                let number = known.unwrap_or_else(|| {
                    self.script.variables.push(name);
                    self.script.variables.len() - 1
                });
                return Ok(Operand::Variable(number as u32, offset));
            }
        }
        let count = llvm!(core::LLVMCountParams(self.function));
        let index = (2..count).find(|&i| llvm!(core::LLVMGetParam(self.function, i)) == value);
        match index {
            Some(index) => Ok(Operand::Captured(index - 2)),
            None => Err(refuse(
                "a value around its loops is not understood",
                Some(value),
            )),
        }
    }

    fn result(&mut self, value: LLVMValueRef) -> Result<u32, Refusal> {
        match self.at(value)? {
            Operand::Word(word) => Ok(word),
            _ => Err(refuse(
                "a value around its loops is not understood",
                Some(value),
            )),
        }
    }

    fn parts(&mut self, value: LLVMValueRef, count: u32) -> Result<Vec<Operand>, Refusal> {
        (0..count).map(|i| self.at(operand(value, i))).collect()
    }

    fn jump(&mut self, to: LLVMBasicBlockRef) {
        self.open.push((self.script.steps.len(), to));
        self.script.steps.push(Step::Jump(0));
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
            self.script.steps.push(Step::Move(moves));
        }
        self.jump(to);
        Ok(())
    }

    fn block(&mut self, block: LLVMBasicBlockRef, launched: &[Launched]) -> Result<(), Refusal> {
        self.blocks.insert(block, self.script.steps.len() as u32);
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
            let accesses = phases::accesses(at).into_iter();
            looks.extend(accesses.filter(|a| !is_own(a.0)).map(|_| at));
            at = llvm!(core::LLVMGetNextInstruction(at));
        }
        let Some(&first) = looks.first() else {
            return Ok(());
        };
        match shim::max_trips(block).map(|n| n.saturating_mul(looks.len() as u64)) {
            Some(count) if count <= IDLE => Ok(()),
            _ => Err(refuse(
                "a sequential loop around its loops uses memory",
                Some(first),
            )),
        }
    }

    fn launch(&mut self, run: &Launched) -> Result<(), Refusal> {
        let mut limit = |limit: Limit| match limit {
            Limit::Value(value) => self.at(value),
            Limit::In(variable) => {
                let from = self.at(variable)?;
                let word = self.fresh();
                self.script.steps.push(Step::Load(word, from, run.bits / 8));
                Ok(Operand::Word(word))
            }
        };
        let (first, last) = (limit(run.first)?, limit(run.last)?);
        let (mut words, mut addresses) = (Vec::new(), Vec::new());
        for given in &run.words {
            if let Given::Address(_) = given {
                addresses.push(words.len() as u32);
            }
            words.push(match *given {
                Given::Value(value) | Given::Address(value) => self.at(value)?,
                Given::Part(variable, offset) => {
                    let Operand::Own(start) = self.at(variable)? else {
                        return Err(refuse("a variable around its loops is not known", None));
                    };
                    let word = self.fresh();
                    let from = Operand::Own(start + offset as u32);
                    self.script.steps.push(Step::Load(word, from, 8));
                    Operand::Word(word)
                }
            });
        }
        self.script.steps.push(Step::Launch(Run {
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
            LLVMAdd => Some(Operation::Add),
            LLVMSub => Some(Operation::Sub),
            LLVMMul => Some(Operation::Mul),
            LLVMSDiv => Some(Operation::SDiv),
            LLVMUDiv => Some(Operation::UDiv),
            LLVMSRem => Some(Operation::SRem),
            LLVMURem => Some(Operation::URem),
            LLVMShl => Some(Operation::Shl),
            LLVMLShr => Some(Operation::LShr),
            LLVMAShr => Some(Operation::AShr),
            LLVMAnd => Some(Operation::And),
            LLVMOr => Some(Operation::Or),
            LLVMXor => Some(Operation::Xor),
            LLVMICmp => Some(comparison(at)),
            LLVMSExt => Some(Operation::SignExtend),
            LLVMZExt => Some(Operation::ZeroExtend),
            LLVMTrunc => Some(Operation::Truncate),
            _ => None,
        };
        if let Some(operation) = whole {
            let bits = bits_of(operand(at, 0))?;
            let count = llvm!(core::LLVMGetNumOperands(at)) as u32;
            return self.whole(at, operation, bits, count);
        }
        match opcode {
            LLVMFAdd => self.real(at, Real::Add, 2),
            LLVMFSub => self.real(at, Real::Sub, 2),
            LLVMFMul => self.real(at, Real::Mul, 2),
            LLVMFDiv => self.real(at, Real::Div, 2),
            LLVMFRem => self.real(at, Real::Rem, 2),
            LLVMFNeg => self.real(at, Real::Negate, 1),
            LLVMFCmp => {
                // LLVM's predicates are masks of the outcomes for which they are true.
                let wanted = llvm!(core::LLVMGetFCmpPredicate(at)) as u8;
                self.real(at, Real::Compare(wanted), 2)
            }
            LLVMSelect => self.whole(at, Operation::Select, 64, 3),
            LLVMFreeze | LLVMBitCast | LLVMPtrToInt | LLVMIntToPtr => {
                let from = self.parts(at, 1)?[0];
                bits_of(at)?;
                let word = self.result(at)?;
                self.script.steps.push(Step::Move(vec![(word, from)]));
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
                self.script.steps.push(Step::Load(word, from, bytes));
                Ok(())
            }
            LLVMStore => {
                let bytes = self.stored(operand(at, 0))?;
                let parts = self.parts(at, 2)?;
                let store = Step::Store(parts[1], parts[0], bytes);
                self.script.steps.push(store);
                Ok(())
            }
            LLVMGetElementPtr => self.element(at),
            LLVMBr | LLVMSwitch => self.branch(block, at),
            LLVMRet => {
                self.script.steps.push(Step::End);
                Ok(())
            }
            LLVMUnreachable => Err(refuse("the program may end around its loops", Some(at))),
            LLVMAtomicRMW | LLVMAtomicCmpXchg => Err(refuse(
                "an atomic update around its loops, once for each thread",
                Some(at),
            )),
            LLVMCall => self.call(at),
            _ => Err(refuse(
                "what it does around its loops is not understood",
                Some(at),
            )),
        }
    }

    fn whole(
        &mut self,
        at: LLVMValueRef,
        operation: Operation,
        bits: u32,
        count: u32,
    ) -> Result<(), Refusal> {
        let parts = self.parts(at, count)?;
        let word = self.result(at)?;
        let step = Step::Whole(word, operation, bits, parts);
        self.script.steps.push(step);
        Ok(())
    }

    fn real(&mut self, at: LLVMValueRef, operation: Real, count: u32) -> Result<(), Refusal> {
        let bits = bits_of(operand(at, 0))?;
        let parts = self.parts(at, count)?;
        let word = self.result(at)?;
        let step = Step::Real(word, operation, bits, parts);
        self.script.steps.push(step);
        Ok(())
    }

    fn convert(&mut self, at: LLVMValueRef, conversion: Conversion) -> Result<(), Refusal> {
        let sizes = (bits_of(operand(at, 0))?, bits_of(at)?);
        let from = self.at(operand(at, 0))?;
        let word = self.result(at)?;
        let step = Step::Convert(word, conversion, sizes, from);
        self.script.steps.push(step);
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
                let equal = Step::Whole(word, Operation::Equal, bits, parts);
                self.script.steps.push(equal);
                self.either(Operand::Word(word), block, next(case))?;
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
        condition: Operand,
        from: LLVMBasicBlockRef,
        to: LLVMBasicBlockRef,
    ) -> Result<(), Refusal> {
        let here = self.script.steps.len();
        self.script.steps.push(Step::End);
        self.edge(from, to)?;
        let after = self.script.steps.len() as u32;
        self.script.steps[here] = Step::Branch(condition, here as u32 + 1, after);
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
                Operand::Constant(offset)
            } else {
                if index > 1 {
                    of = llvm!(core::LLVMGetElementType(of));
                }
                let size = self.size(of);
                let (bits, number) = (bits_of(number)?, self.at(number)?);
                let (wide, times) = (self.fresh(), self.fresh());
                let extend = Step::Whole(wide, Operation::SignExtend, bits, vec![number]);
                let parts = vec![Operand::Word(wide), Operand::Constant(size)];
                self.script.steps.push(extend);
                let multiply = Step::Whole(times, Operation::Mul, 64, parts);
                self.script.steps.push(multiply);
                Operand::Word(times)
            };
            let word = self.fresh();
            let add = Step::Whole(word, Operation::Add, 64, vec![sum, distance]);
            self.script.steps.push(add);
            sum = Operand::Word(word);
        }
        let word = self.result(at)?;
        self.script.steps.push(Step::Move(vec![(word, sum)]));
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
            Some("smin") => Some(whole(Operation::SMin)),
            Some("smax") => Some(whole(Operation::SMax)),
            Some("umin") => Some(whole(Operation::UMin)),
            Some("umax") => Some(whole(Operation::UMax)),
            _ => None,
        };
        if let Some((operation, count)) = found {
            return self.whole(at, operation, bits_of(at)?, count);
        }
        let size = || constant(operand(at, 2)).and_then(|s| u64::try_from(s).ok());
        let copies = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
        if copies && let Some(size) = size() {
            let parts = self.parts(at, 2)?;
            let copy = Step::Copy(parts[0], parts[1], size);
            self.script.steps.push(copy);
            return Ok(());
        }
        if name.starts_with("llvm.memset.")
            && let Some(size) = size()
        {
            let parts = self.parts(at, 2)?;
            let fill = Step::Fill(parts[0], parts[1], size);
            self.script.steps.push(fill);
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
            "sqrt" => Some((Real::SquareRoot, 1)),
            "fabs" => Some((Real::Absolute, 1)),
            "floor" => Some((Real::Floor, 1)),
            "ceil" => Some((Real::Ceiling, 1)),
            "trunc" => Some((Real::Truncate, 1)),
            "exp" => Some((Real::Exponential, 1)),
            "log" => Some((Real::Logarithm, 1)),
            "sin" => Some((Real::Sine, 1)),
            "cos" => Some((Real::Cosine, 1)),
            "pow" => Some((Real::Power, 2)),
            "fma" => Some((Real::Fused, 3)),
            "minnum" | "fmin" => Some((Real::Least, 2)),
            "maxnum" | "fmax" => Some((Real::Most, 2)),
            "fmod" => Some((Real::Rem, 2)),
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

fn comparison(at: LLVMValueRef) -> Operation {
    use LLVMIntPredicate::*;
    match llvm!(core::LLVMGetICmpPredicate(at)) {
        LLVMIntEQ => Operation::Equal,
        LLVMIntNE => Operation::Unequal,
        LLVMIntSLT => Operation::SLess,
        LLVMIntSLE => Operation::SLessEqual,
        LLVMIntSGT => Operation::SGreater,
        LLVMIntSGE => Operation::SGreaterEqual,
        LLVMIntULT => Operation::ULess,
        LLVMIntULE => Operation::ULessEqual,
        LLVMIntUGT => Operation::UGreater,
        LLVMIntUGE => Operation::UGreaterEqual,
    }
}
