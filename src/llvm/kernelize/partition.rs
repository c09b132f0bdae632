//! Regions whose code around the loops runs on the host, as a schedule between kernels.
//!
//! Each loop, with the reduction at its end, becomes a function of its own. The rest of the region,
//! which becomes the host schedule ([`schedule_builder`]), is what one thread does between the
//! loops: enclosing sequential loops, values that every thread computes alike, parts for one
//! thread, barriers.
//!
//! This is sound because a team of one thread would do the same, and a program may get such a team.
//! So private values must agree between threads: a value that a loop computes is not used after it,
//! and a private variable that a loop writes is not read after it or in the loop's next run. Arrays
//! that loops only add to are an exception ([`super::array_reduction`]), and may be added to memory
//! ([`super::enclosing_sync`]). Values computed earlier are passed to a loop with its launch.
//!
//! A dependence between two loops on one thread without a barrier is satisfied by the order of the
//! kernels. Regions of one loop without code around it need none of this ([`super::kernel_text`]).

use super::host_schedule::HostSchedule;
use super::loops::{block, successors};
use super::runtime_calls::{PREFIX, Reduction, STATIC_FINI};
use super::schedule_builder::{self, IterationBound, LaunchArgument, LaunchSite};
use super::{Refusal, accesses, array_reduction, enclosing_sync, kernel_sequence, refuse, users};
use crate::nvptx::{called, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use crate::shim;
use hashbrown::{HashMap, HashSet};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};

type Blocks = HashSet<LLVMBasicBlockRef>;

/// A loop outlined to a function.
#[derive(Debug)]
pub(super) struct LoopFunction {
    /// The function, with the parameters of the region's function and then words.
    pub function: LLVMValueRef,
    /// The loop's number.
    pub number: u32,
    pub reduction: Option<Reduction>,
}

/// Marker for the start of a `single` or `masked` construct, set by [`super::runtime_calls`].
pub(super) const ONE: &str = "__ompvm_outlined_one";

/// The blocks of a loop.
pub(super) struct LoopSection {
    pub entry: LLVMBasicBlockRef,
    blocks: Blocks,
    /// The block after the loop.
    pub after: LLVMBasicBlockRef,
}

impl LoopSection {
    pub fn contains(&self, instruction: LLVMValueRef) -> bool {
        self.blocks.contains(&block(instruction))
    }

    /// Returns the call that begins the loop's reduction.
    pub fn reduction(&self) -> Option<LLVMValueRef> {
        let begins = format!("{PREFIX}reduce.");
        let function = llvm!(core::LLVMGetBasicBlockParent(self.entry));
        instructions(function)
            .filter(|&i| self.contains(i))
            .find(|&i| called(i).is_some_and(|f| name_of(f).starts_with(&*begins)))
    }
}

/// Splits a region's function into loops and host schedule.
pub(super) fn partition(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    reductions: &mut Vec<Reduction>,
) -> Result<(Vec<LoopFunction>, HostSchedule), Refusal> {
    array_reduction::read_behind(module, function);
    super::flatten::run_function_passes(function, c"adce")?;
    let mut sections = sections_of(function)?;
    for section in &sections {
        values(section)?;
    }
    let placed = array_reduction::place(module, function, &sections, reductions);
    let shared = placed.shared;
    if !shared.is_empty() {
        sections = sections_of(function)?;
        for section in &sections {
            values(section)?;
        }
    }
    enclosing_sync::plain(function, &sections, &shared)?;
    variables(module, function, &sections, &shared)
        .map_err(|refusal| placed.hint.unwrap_or(refusal))?;
    let mut parts = Vec::new();
    let mut launched = Vec::new();
    for section in &sections {
        let mut list: Vec<LLVMBasicBlockRef> = vec![section.entry];
        list.extend(section.blocks.iter().filter(|&&b| b != section.entry));
        let inner = shim::outline_blocks(&list)
            .ok_or_else(|| refuse("its loop cannot be outlined", None))?;
        let phase = parts.len() as u32;
        let (part, launch) = part(module, function, inner, phase, reductions, &shared)?;
        parts.push(part);
        launched.push(launch);
    }
    for mark in marks(function, ONE) {
        let of = llvm!(core::LLVMTypeOf(mark));
        let one = llvm!(core::LLVMConstInt(of, 1, 0));
        llvm!(core::LLVMReplaceAllUsesWith(mark, one));
        llvm!(core::LLVMInstructionEraseFromParent(mark));
    }
    super::flatten::run_function_passes(function, c"scalarizer<load-store>,simplifycfg,adce")?;
    let schedule = schedule_builder::build(module, function, &launched, &shared)?;
    for launch in &launched {
        let used = called(launch.call);
        llvm!(core::LLVMInstructionEraseFromParent(launch.call));
        if let Some(inner) = used {
            shim::drop_body(inner);
        }
    }
    shim::drop_body(function);
    Ok((parts, schedule))
}

fn marks(function: LLVMValueRef, name: &str) -> Vec<LLVMValueRef> {
    instructions(function)
        .filter(|&i| called(i).is_some_and(|f| *name_of(f) == *name))
        .collect()
}

/// Finds the loops, and splits blocks so that each loop begins a block and continues at a block of
/// its own.
fn sections_of(function: LLVMValueRef) -> Result<Vec<LoopSection>, Refusal> {
    let begins = marks(function, &format!("{PREFIX}at"));
    let mut numbers: Vec<_> = begins
        .iter()
        .map(|&m| super::constant(llvm!(core::LLVMGetOperand(m, 1))))
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() < begins.len() {
        return Err(refuse("its loop was duplicated by the compiler", None));
    }
    let entries: Vec<_> = begins.iter().map(|&m| shim::split_before(m)).collect();
    for end in marks(function, STATIC_FINI) {
        shim::split_before(llvm!(core::LLVMGetNextInstruction(end)));
    }
    let mut sections = Vec::new();
    for &entry in &entries {
        sections.push(section(function, entry, &entries)?);
    }
    Ok(sections)
}

/// Returns the blocks reachable from these by at least one edge; paths end at `walls`.
pub(super) fn reached(
    from: &[LLVMBasicBlockRef],
    walls: &dyn Fn(LLVMBasicBlockRef) -> bool,
) -> Blocks {
    let mut found = Blocks::new();
    let mut open = from.to_vec();
    while let Some(block) = open.pop() {
        for next in successors(block) {
            if !walls(next) && found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}

fn section(
    function: LLVMValueRef,
    entry: LLVMBasicBlockRef,
    entries: &[LLVMBasicBlockRef],
) -> Result<LoopSection, Refusal> {
    let mut ahead = reached(&[entry], &|b| entries.contains(&b));
    ahead.insert(entry);
    let ends: Vec<LLVMValueRef> = instructions(function)
        .filter(|&i| {
            called(i).is_some_and(|f| {
                let name = name_of(f);
                *name == *STATIC_FINI
                    || name.starts_with(&*format!("{PREFIX}fetched_"))
                    || name.starts_with(&*format!("{PREFIX}reduce."))
            })
        })
        .filter(|&i| ahead.contains(&block(i)))
        .collect();
    let last: Blocks = ends.iter().map(|&e| block(e)).collect();
    let unclear = || {
        refuse(
            "control flow after a loop depends on a value that a thread computed in it",
            ends.first().copied(),
        )
    };
    let after = behind(function, &last)
        .into_iter()
        .find(|&b| reached(&[b], &|n| entries.contains(&n)).is_disjoint(&last))
        .ok_or_else(unclear)?;
    let mut blocks = reached(&[entry], &|b| b == after);
    blocks.insert(entry);
    if entries.iter().any(|&e| e != entry && blocks.contains(&e)) {
        return Err(refuse("nested worksharing loops", ends.first().copied()));
    }
    let leaving: Vec<LLVMBasicBlockRef> = blocks
        .iter()
        .copied()
        .filter(|&b| successors(b).contains(&after))
        .collect();
    let after = shim::merge_predecessors(after, &leaving);
    let mut at = llvm!(core::LLVMGetFirstBasicBlock(function));
    while !at.is_null() {
        // The loop is neither entered elsewhere nor nested in itself.
        let odd = |n: &LLVMBasicBlockRef| match blocks.contains(&at) {
            true => *n == entry,
            false => *n != entry && blocks.contains(n),
        };
        if successors(at).iter().any(odd) {
            return Err(unclear());
        }
        at = llvm!(core::LLVMGetNextBasicBlock(at));
    }
    Ok(LoopSection {
        entry,
        blocks,
        after,
    })
}

/// Returns the blocks that post-dominate all of these, nearest first.
fn behind(function: LLVMValueRef, from: &Blocks) -> Vec<LLVMBasicBlockRef> {
    let mut list = Vec::new();
    let mut at = llvm!(core::LLVMGetFirstBasicBlock(function));
    while !at.is_null() {
        list.push(at);
        at = llvm!(core::LLVMGetNextBasicBlock(at));
    }
    let leaves = |b: &LLVMBasicBlockRef| {
        let end = llvm!(core::LLVMGetBasicBlockTerminator(*b));
        llvm!(core::LLVMGetInstructionOpcode(end)) == LLVMOpcode::LLVMRet
    };
    let starts: Vec<LLVMBasicBlockRef> = from.iter().copied().collect();
    let reachable = reached(&starts, &|_| false);
    let mut found: Vec<(usize, LLVMBasicBlockRef)> = Vec::new();
    for &candidate in list.iter().filter(|b| reachable.contains(*b)) {
        if from.contains(&candidate) {
            continue;
        }
        let without = reached(&starts, &|b| b == candidate);
        if !without.iter().any(&leaves) && !from.iter().any(leaves) {
            found.push((without.len(), candidate));
        }
    }
    found.sort_by_key(|f| f.0);
    found.into_iter().map(|f| f.1).collect()
}

fn between(at: LLVMValueRef) -> Refusal {
    refuse(
        "a loop uses a value that its thread computed in another",
        Some(at),
    )
}

/// Refuses values that a loop computes and the schedule or another loop uses.
fn values(section: &LoopSection) -> Result<(), Refusal> {
    let inside =
        |v| !llvm!(core::LLVMIsAInstruction(v)).is_null() && section.blocks.contains(&block(v));
    let mut phi = llvm!(core::LLVMGetFirstInstruction(section.after));
    while !phi.is_null() && !llvm!(core::LLVMIsAPHINode(phi)).is_null() {
        let next = llvm!(core::LLVMGetNextInstruction(phi));
        let count = llvm!(core::LLVMCountIncoming(phi));
        let incoming: HashSet<LLVMValueRef> = (0..count)
            .map(|i| llvm!(core::LLVMGetIncomingValue(phi, i)))
            .collect();
        match incoming.iter().next() {
            Some(&only) if incoming.len() == 1 && !inside(only) => {
                llvm!(core::LLVMReplaceAllUsesWith(phi, only));
            }
            _ => {
                if let Some(user) = users(phi).into_iter().next() {
                    return Err(between(user));
                }
            }
        }
        llvm!(core::LLVMInstructionEraseFromParent(phi));
        phi = next;
    }
    for &block in &section.blocks {
        let mut at = llvm!(core::LLVMGetFirstInstruction(block));
        while !at.is_null() {
            if called(at).is_some_and(|f| *name_of(f) == *ONE) {
                return Err(refuse(
                    "a `single` or `masked` construct in a loop",
                    Some(at),
                ));
            }
            if let Some(user) = users(at).into_iter().find(|&u| !inside(u)) {
                return Err(between(user));
            }
            at = llvm!(core::LLVMGetNextInstruction(at));
        }
    }
    Ok(())
}

/// An access to a private variable.
struct VariableAccess {
    at: LLVMValueRef,
    read: bool,
    write: bool,
    /// True if the access overwrites all of the variable.
    anew: bool,
    /// True if the access stores an address.
    address: bool,
}

/// Returns all accesses to a private variable; `None` if its address escapes.
fn accesses_to(module: LLVMModuleRef, variable: LLVMValueRef) -> Option<Vec<VariableAccess>> {
    use LLVMOpcode::*;
    let layout = llvm!(target::LLVMGetModuleDataLayout(module));
    let size = |of| llvm!(target::LLVMABISizeOfType(layout, of));
    let whole = size(llvm!(core::LLVMGetAllocatedType(variable)));
    let single = super::constant(llvm!(core::LLVMGetOperand(variable, 0))) == Some(1);
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![variable];
    while let Some(pointer) = open.pop() {
        for at in users(pointer) {
            let operand = |i| llvm!(core::LLVMGetOperand(at, i));
            let mut touch = |read, write, anew, address| {
                found.push(VariableAccess {
                    at,
                    read,
                    write,
                    anew,
                    address,
                });
            };
            match llvm!(core::LLVMGetInstructionOpcode(at)) {
                LLVMGetElementPtr | LLVMPHI | LLVMSelect | LLVMFreeze => {
                    if seen.insert(at) {
                        open.push(at);
                    }
                }
                LLVMLoad => touch(true, false, false, false),
                LLVMStore if operand(0) == pointer => {
                    // An entry in the list of a reduction's copies.
                    let list = shim::constant_offset(module, operand(1)).0;
                    if llvm!(core::LLVMIsAAllocaInst(list)).is_null() {
                        return None;
                    }
                    touch(true, true, false, false);
                }
                LLVMStore => {
                    let of = llvm!(core::LLVMTypeOf(operand(0)));
                    let all = single && pointer == variable && size(of) >= whole;
                    let address = llvm!(core::LLVMGetTypeKind(of));
                    let address = address == LLVMTypeKind::LLVMPointerTypeKind;
                    touch(false, true, all, address);
                }
                LLVMICmp => {}
                LLVMCall => {
                    let name = name_of(called(at)?);
                    if name.starts_with("llvm.lifetime.start") {
                        touch(false, false, true, false);
                    } else if name.starts_with("llvm.lifetime.")
                        || name.starts_with("llvm.assume")
                        || name.starts_with("llvm.dbg.")
                    {
                    } else if name.starts_with("llvm.memset.") {
                        let length = super::constant(operand(2)).map(|n| n as u64);
                        let all = single && pointer == variable && length == Some(whole);
                        touch(false, true, all, false);
                    } else if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.")
                    {
                        touch(operand(1) == pointer, operand(0) == pointer, false, false);
                    } else {
                        touch(true, true, false, false);
                    }
                }
                _ => return None,
            }
        }
    }
    Some(found)
}

/// Returns true if all accesses to a private variable are known.
pub(super) fn is_seen(module: LLVMModuleRef, variable: LLVMValueRef) -> bool {
    accesses_to(module, variable).is_some()
}

/// Returns true if the variable is the list of a reduction's copies, which is filled in before each
/// use.
fn is_list(variable: LLVMValueRef) -> bool {
    users(variable).into_iter().any(|u| {
        called(u).is_some_and(|f| name_of(f).starts_with(&*format!("{PREFIX}reduce.")))
            && llvm!(core::LLVMGetOperand(u, 1)) == variable
    })
}

/// Refuses private variables through which a loop passes values to later code.
fn variables(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    sections: &[LoopSection],
    shared: &HashSet<LLVMValueRef>,
) -> Result<(), Refusal> {
    let owner = |i| sections.iter().position(|s| s.blocks.contains(&block(i)));
    for variable in instructions(function) {
        if llvm!(core::LLVMIsAAllocaInst(variable)).is_null() || shared.contains(&variable) {
            continue;
        }
        let inside = users(variable).into_iter().any(|u| owner(u).is_some());
        let Some(touches) = accesses_to(module, variable) else {
            match inside {
                true => return Err(refuse("the address of a private variable escapes", None)),
                false => continue,
            }
        };
        if let Some(odd) = touches
            .iter()
            .find(|t| t.address && owner(t.at).is_none() && inside)
        {
            return Err(refuse(
                "an address is stored in a private variable",
                Some(odd.at),
            ));
        }
        if is_list(variable) {
            continue;
        }
        let anew: Vec<LLVMValueRef> = touches
            .iter()
            .filter(|t| t.anew && owner(t.at).is_none())
            .map(|t| t.at)
            .collect();
        let renewed: Blocks = anew.iter().map(|&i| block(i)).collect();
        for (number, section) in sections.iter().enumerate() {
            let mine = |t: &&VariableAccess| owner(t.at) == Some(number);
            // A reduction's copy is initialized before each run.
            let copy = touches
                .iter()
                .filter(mine)
                .any(|t| t.read && is_store(t.at));
            if !touches.iter().filter(mine).any(|t| t.write) {
                continue;
            }
            // Execution continues here with what the loop has left.
            let mut open = reached(&[section.after], &|b| renewed.contains(&b));
            if !renewed.contains(&section.after) {
                open.insert(section.after);
            }
            let first = |t: &VariableAccess| !anew.iter().any(|&a| comes_before(a, t.at));
            for touch in touches.iter().filter(|t| t.read) {
                let there = match owner(touch.at) {
                    Some(other) => {
                        let own = touches
                            .iter()
                            .any(|t| t.anew && owner(t.at) == Some(other) && !is_store(t.at));
                        let fresh = own || copy && other == number;
                        !fresh && open.contains(&sections[other].entry)
                    }
                    None => {
                        let here = block(touch.at);
                        let edge = renewed.contains(&here)
                            && (here == section.after
                                || predecessors(here).iter().any(|p| open.contains(p)));
                        open.contains(&here) || edge && first(touch)
                    }
                };
                if there {
                    return Err(between(touch.at));
                }
            }
        }
    }
    Ok(())
}

fn is_store(at: LLVMValueRef) -> bool {
    !llvm!(core::LLVMIsAStoreInst(at)).is_null()
}

/// Returns true if the first instruction precedes the second in their block.
fn comes_before(first: LLVMValueRef, second: LLVMValueRef) -> bool {
    let mut at = first;
    while !at.is_null() {
        if at == second {
            return true;
        }
        at = llvm!(core::LLVMGetNextInstruction(at));
    }
    false
}

pub(super) fn predecessors(of: LLVMBasicBlockRef) -> Vec<LLVMBasicBlockRef> {
    users(llvm!(core::LLVMBasicBlockAsValue(of)))
        .into_iter()
        .filter(|&u| !llvm!(core::LLVMIsATerminatorInst(u)).is_null())
        .map(block)
        .collect()
}

/// Converts a loop's function to one with the parameters of the region's function and then words.
fn part(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    inner: LLVMValueRef,
    phase: u32,
    reductions: &[Reduction],
    shared: &HashSet<LLVMValueRef>,
) -> Result<(LoopFunction, LaunchSite), Refusal> {
    let call = users(inner).into_iter().next();
    let call = call.ok_or_else(|| refuse("its loop is never reached", None))?;
    let count = llvm!(core::LLVMGetNumArgOperands(call));
    let given: Vec<LLVMValueRef> = (0..count)
        .map(|i| llvm!(core::LLVMGetOperand(call, i)))
        .collect();
    let mut launch = launched(inner, &given, call, phase)?;
    let mut it = LoopFunctionBuilder {
        module,
        function,
        shared,
        words: Vec::new(),
        parts: HashMap::new(),
    };
    for &value in &given {
        it.collect(value)?;
    }
    let number = number(inner);
    let own = it.make(inner, &given)?;
    launch.words = it.words;
    let reduces = instructions(own).find_map(|i| {
        let name = called(i).map(name_of)?;
        name.starts_with(&*format!("{PREFIX}reduce."))
            .then_some(name)
    });
    let reduction = reduces.and_then(|n| reductions.iter().find(|r| *r.name == *n).cloned());
    let part = LoopFunction {
        function: own,
        number,
        reduction,
    };
    Ok((part, launch))
}

fn number(inner: LLVMValueRef) -> u32 {
    let mark = marks(inner, &format!("{PREFIX}at")).into_iter().next();
    let number = mark.and_then(|m| super::constant(llvm!(core::LLVMGetOperand(m, 1))));
    number.map_or(u32::MAX, |n| n as u32)
}

/// Collects what the schedule needs to know to launch a loop.
fn launched(
    inner: LLVMValueRef,
    given: &[LLVMValueRef],
    call: LLVMValueRef,
    phase: u32,
) -> Result<LaunchSite, Refusal> {
    let odd = || refuse("the trip count of a loop is unknown", Some(call));
    let (divided, fetch) = (format!("{PREFIX}static_"), format!("{PREFIX}fetch_"));
    let found = instructions(inner).find_map(|i| {
        let name = called(i).map(name_of)?;
        let suffix = name.strip_prefix(&*divided).map(|s| (s, true));
        let (suffix, stored) = suffix.or_else(|| Some((name.strip_prefix(&*fetch)?, false)))?;
        Some((i, suffix.to_owned(), stored))
    });
    let (begin, suffix, stored) = found.ok_or_else(odd)?;
    let outer = |value: LLVMValueRef| {
        let constant = !llvm!(core::LLVMIsAConstant(value)).is_null();
        let index = (0..given.len())
            .find(|&i| llvm!(core::LLVMGetParam(inner, i as u32)) == value)
            .map(|i| given[i]);
        index.or_else(|| constant.then_some(value)).ok_or_else(odd)
    };
    let limit = |index| {
        let value = outer(llvm!(core::LLVMGetOperand(begin, index)))?;
        Ok(match stored {
            true => IterationBound::In(value),
            false => IterationBound::Value(value),
        })
    };
    let (first, last) = match stored {
        true => (2, 3),
        false => (1, 2),
    };
    Ok(LaunchSite {
        call,
        phase,
        first: limit(first)?,
        last: limit(last)?,
        bits: if suffix.starts_with('8') { 64 } else { 32 },
        unsigned: suffix.ends_with('u'),
        words: Vec::new(),
    })
}

struct LoopFunctionBuilder<'a> {
    module: LLVMModuleRef,
    /// The region's function.
    function: LLVMValueRef,
    /// Variables that the device has, too.
    shared: &'a HashSet<LLVMValueRef>,
    words: Vec<LaunchArgument>,
    /// First word of each value and variable.
    parts: HashMap<LLVMValueRef, usize>,
}

fn opcode(value: LLVMValueRef) -> Option<LLVMOpcode> {
    let instruction = !llvm!(core::LLVMIsAInstruction(value)).is_null();
    instruction.then(|| llvm!(core::LLVMGetInstructionOpcode(value)))
}

fn operands(value: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    let count = llvm!(core::LLVMGetNumOperands(value)) as u32;
    (0..count).map(move |i| llvm!(core::LLVMGetOperand(value, i)))
}

impl LoopFunctionBuilder<'_> {
    fn size(&self, variable: LLVMValueRef) -> Option<u64> {
        let layout = llvm!(target::LLVMGetModuleDataLayout(self.module));
        let of = llvm!(core::LLVMGetAllocatedType(variable));
        let count = super::constant(llvm!(core::LLVMGetOperand(variable, 0)))?;
        llvm!(target::LLVMABISizeOfType(layout, of)).checked_mul(u64::try_from(count).ok()?)
    }

    /// Records the words that a value needs.
    fn collect(&mut self, value: LLVMValueRef) -> Result<(), Refusal> {
        use LLVMOpcode::*;
        let Some(opcode) = opcode(value) else {
            return Ok(());
        };
        if self.parts.contains_key(&value) {
            return Ok(());
        }
        if self.shared.contains(&value) {
            self.parts.insert(value, self.words.len());
            self.words.push(LaunchArgument::Address(value));
            return Ok(());
        }
        if opcode == LLVMAlloca {
            let size = self.size(value);
            let size = size.ok_or_else(|| refuse("a private array of variable length", None))?;
            let known = accesses_to(self.module, value).unwrap_or_default();
            // The loops are calls by now.
            let writes = |t: &VariableAccess| t.write && (is_store(t.at) || is_memory(t.at));
            self.parts.insert(value, self.words.len());
            if known.iter().any(writes) {
                let words = size.div_ceil(8);
                if words > u64::from(super::kernel_text::WORDS) {
                    return Err(refuse("a large private variable is passed to a loop", None));
                }
                self.words
                    .extend((0..words).map(|w| LaunchArgument::Part(value, 8 * w)));
            }
            return Ok(());
        }
        let of = llvm!(core::LLVMTypeOf(value));
        let pointer = llvm!(core::LLVMGetTypeKind(of)) == LLVMTypeKind::LLVMPointerTypeKind;
        if !pointer && schedule_builder::bits(of).is_some() {
            self.parts.insert(value, self.words.len());
            self.words.push(LaunchArgument::Value(value));
            return Ok(());
        }
        let fixed = || {
            let address = llvm!(core::LLVMGetOperand(value, 0));
            opcode == LLVMLoad
                && pointer
                && accesses::path(self.module, self.function, address).is_some()
        };
        let computed = matches!(
            opcode,
            LLVMGetElementPtr
                | LLVMSelect
                | LLVMFreeze
                | LLVMBitCast
                | LLVMInsertElement
                | LLVMShuffleVector
        );
        if !computed && !fixed() {
            if !pointer {
                return Err(refuse(
                    "a loop needs a value from around it that is neither a number nor an address",
                    Some(value),
                ));
            }
            if !kernel_sequence::variables(value).is_empty() {
                return Err(refuse(
                    "the address of a private variable is chosen around its loops",
                    Some(value),
                ));
            }
            // A choice between known addresses, such as of alternating buffers.
            self.parts.insert(value, self.words.len());
            self.words.push(LaunchArgument::Address(value));
            return Ok(());
        }
        for part in operands(value) {
            self.collect(part)?;
        }
        Ok(())
    }

    /// Creates the function: it calls the loop's function with all of its arguments, and inlines
    /// it.
    fn make(&self, inner: LLVMValueRef, given: &[LLVMValueRef]) -> Result<LLVMValueRef, Refusal> {
        let context = llvm!(core::LLVMGetModuleContext(self.module));
        let word = llvm!(core::LLVMInt64TypeInContext(context));
        let count = llvm!(core::LLVMCountParams(self.function));
        let region = |i| llvm!(core::LLVMGetParam(self.function, i));
        let parameter = |i| llvm!(core::LLVMTypeOf(region(i)));
        let mut types: Vec<LLVMTypeRef> = (0..count).map(parameter).collect();
        let address = llvm!(core::LLVMPointerTypeInContext(context, 0));
        types.extend(self.words.iter().map(|given| match given {
            LaunchArgument::Address(_) => address,
            _ => word,
        }));
        let nothing = llvm!(core::LLVMVoidTypeInContext(context));
        let of = llvm!(core::LLVMFunctionType(
            nothing,
            types.as_mut_ptr(),
            types.len() as u32,
            0
        ));
        let name = format!("{}.part\0", name_of(inner));
        let made = llvm!(core::LLVMAddFunction(self.module, name.as_ptr().cast(), of));
        let entry = llvm!(core::LLVMAppendBasicBlockInContext(
            context,
            made,
            c"entry".as_ptr()
        ));
        let builder = llvm!(core::LLVMCreateBuilderInContext(context));
        llvm!(core::LLVMPositionBuilderAtEnd(builder, entry));
        let mut known = HashMap::new();
        for index in 0..count {
            let there = llvm!(core::LLVMGetParam(self.function, index));
            known.insert(there, llvm!(core::LLVMGetParam(made, index)));
        }
        let mut body = FunctionBody {
            making: self,
            made,
            builder,
            first: count,
            known,
        };
        let mut arguments: Vec<LLVMValueRef> = given.iter().map(|&v| body.value(v)).collect();
        let called = llvm!(core::LLVMGlobalGetValueType(inner));
        let call = llvm!(core::LLVMBuildCall2(
            builder,
            called,
            inner,
            arguments.as_mut_ptr(),
            arguments.len() as u32,
            c"".as_ptr()
        ));
        llvm!(core::LLVMBuildRetVoid(builder));
        llvm!(core::LLVMDisposeBuilder(builder));
        if !shim::inline_call(call) {
            return Err(refuse("its loop cannot be outlined", None));
        }
        super::flatten::simplify(made)?;
        Ok(made)
    }
}

fn is_memory(at: LLVMValueRef) -> bool {
    called(at).is_some_and(|f| name_of(f).starts_with("llvm.mem"))
}

struct FunctionBody<'a> {
    making: &'a LoopFunctionBuilder<'a>,
    made: LLVMValueRef,
    builder: LLVMBuilderRef,
    /// Index of the parameter that holds the first word.
    first: u32,
    known: HashMap<LLVMValueRef, LLVMValueRef>,
}

impl FunctionBody<'_> {
    fn word(&self, index: usize) -> LLVMValueRef {
        llvm!(core::LLVMGetParam(self.made, self.first + index as u32))
    }

    fn value(&mut self, value: LLVMValueRef) -> LLVMValueRef {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        let Some(opcode) = opcode(value) else {
            return value;
        };
        let made = match self.making.parts.get(&value) {
            Some(&first)
                if opcode == LLVMOpcode::LLVMAlloca && !self.making.shared.contains(&value) =>
            {
                self.variable(value, first)
            }
            Some(&first) => self.number(value, first),
            None => {
                let parts: Vec<LLVMValueRef> = operands(value).map(|o| self.value(o)).collect();
                let copy = llvm!(core::LLVMInstructionClone(value));
                for (index, part) in parts.into_iter().enumerate() {
                    llvm!(core::LLVMSetOperand(copy, index as u32, part));
                }
                llvm!(debuginfo::LLVMInstructionSetDebugLoc(
                    copy,
                    std::ptr::null_mut()
                ));
                llvm!(core::LLVMInsertIntoBuilder(self.builder, copy));
                copy
            }
        };
        self.known.insert(value, made);
        made
    }

    fn number(&self, value: LLVMValueRef, at: usize) -> LLVMValueRef {
        use LLVMTypeKind::*;
        let word = self.word(at);
        let of = llvm!(core::LLVMTypeOf(value));
        let none = c"".as_ptr();
        let context = llvm!(core::LLVMGetTypeContext(of));
        match llvm!(core::LLVMGetTypeKind(of)) {
            LLVMFloatTypeKind => {
                let half = llvm!(core::LLVMInt32TypeInContext(context));
                let bits = llvm!(core::LLVMBuildTrunc(self.builder, word, half, none));
                llvm!(core::LLVMBuildBitCast(self.builder, bits, of, none))
            }
            LLVMPointerTypeKind => word,
            LLVMDoubleTypeKind => llvm!(core::LLVMBuildBitCast(self.builder, word, of, none)),
            _ if schedule_builder::bits(of) == Some(64) => word,
            _ => llvm!(core::LLVMBuildTrunc(self.builder, word, of, none)),
        }
    }

    /// Recreates a variable with the contents that were passed.
    fn variable(&self, value: LLVMValueRef, first: usize) -> LLVMValueRef {
        let context = llvm!(core::LLVMGetModuleContext(self.making.module));
        let byte = llvm!(core::LLVMInt8TypeInContext(context));
        let word = llvm!(core::LLVMInt64TypeInContext(context));
        let none = c"".as_ptr();
        let given = |at: usize| matches!(self.making.words.get(at), Some(LaunchArgument::Part(v, _)) if *v == value);
        let mut count = 0;
        while given(first + count) {
            count += 1;
        }
        let copy = llvm!(core::LLVMInstructionClone(value));
        llvm!(debuginfo::LLVMInstructionSetDebugLoc(
            copy,
            std::ptr::null_mut()
        ));
        llvm!(core::LLVMInsertIntoBuilder(self.builder, copy));
        let size = self.making.size(value).unwrap_or(0);
        for index in 0..count {
            let at = 8 * index as u64;
            let offset = llvm!(core::LLVMConstInt(word, at, 0));
            let mut place = [offset];
            let there = llvm!(core::LLVMBuildGEP2(
                self.builder,
                byte,
                copy,
                place.as_mut_ptr(),
                1,
                none
            ));
            let bits = 8 * (size - at).min(8) as u32;
            let narrow = llvm!(core::LLVMIntTypeInContext(context, bits));
            let part = self.word(first + index);
            let part = match bits {
                64 => part,
                _ => llvm!(core::LLVMBuildTrunc(self.builder, part, narrow, none)),
            };
            let store = llvm!(core::LLVMBuildStore(self.builder, part, there));
            // Variables are aligned to powers of two.
            let own = llvm!(core::LLVMGetAlignment(copy)).max(1);
            let most = 1 << (bits / 8).trailing_zeros();
            llvm!(core::LLVMSetAlignment(store, own.min(most)));
        }
        copy
    }
}
