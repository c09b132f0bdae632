//! Finds the worksharing loops of a region: where each begins and ends, in execution order.
//!
//! Code around them is left to [`super::accesses`], and code between them to
//! [`super::kernel_sequence`].

use super::runtime_calls::{PREFIX, STATIC_FINI};
use super::{Refusal, refuse};
use crate::nvptx::{called, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use hashbrown::{HashMap, HashSet};
use inkwell::llvm_sys::prelude::*;

/// A worksharing loop.
#[derive(Debug)]
pub(super) struct Loop {
    /// The call that begins the loop.
    pub begin: LLVMValueRef,
    /// The loop's number in the region's function.
    pub number: u32,
    /// The calls that end the loop or ask for more iterations.
    ends: Vec<LLVMValueRef>,
    after: HashSet<LLVMBasicBlockRef>,
    before: HashSet<LLVMBasicBlockRef>,
}

pub(super) fn block(instruction: LLVMValueRef) -> LLVMBasicBlockRef {
    llvm!(core::LLVMGetInstructionParent(instruction))
}

/// Returns true if an instruction comes after another one of its block.
fn comes_after(instruction: LLVMValueRef, other: LLVMValueRef) -> bool {
    let mut at = llvm!(core::LLVMGetNextInstruction(other));
    while !at.is_null() {
        if at == instruction {
            return true;
        }
        at = llvm!(core::LLVMGetNextInstruction(at));
    }
    false
}

impl Loop {
    /// Returns true if an instruction is part of the loop.
    pub fn contains(&self, instruction: LLVMValueRef) -> bool {
        let here = block(instruction);
        let begun = self.after.contains(&here)
            || here == block(self.begin) && comes_after(instruction, self.begin);
        let ends = |&end: &LLVMValueRef| here == block(end) && comes_after(end, instruction);
        begun && (self.before.contains(&here) || self.ends.iter().any(ends))
    }

    /// Returns true if an instruction can run after the loop began.
    pub fn leads_to(&self, instruction: LLVMValueRef) -> bool {
        let here = block(instruction);
        self.after.contains(&here)
            || here == block(self.begin) && comes_after(instruction, self.begin)
    }
}

/// Returns the calls of entries with these name prefixes.
fn named(function: LLVMValueRef, starts: &[&str]) -> Vec<LLVMValueRef> {
    let wanted = |f| starts.iter().any(|s| name_of(f).starts_with(s));
    instructions(function)
        .filter(|&i| called(i).is_some_and(wanted))
        .collect()
}

/// Returns the loops of a region, numbered by the constant in the marker before each.
pub(super) fn find(function: LLVMValueRef) -> Result<Vec<Loop>, Refusal> {
    let (divided, fetch) = (format!("{PREFIX}static_"), format!("{PREFIX}fetch_"));
    let begins = named(function, &[&divided, &fetch]);
    let ends = named(function, &[STATIC_FINI, &format!("{PREFIX}fetched_")]);
    let mut loops = Vec::new();
    for &begin in &begins {
        let after = reached(&[block(begin)]);
        if after.contains(&block(begin)) {
            return Err(refuse(
                "its loop runs several times in one region",
                Some(begin),
            ));
        }
        loops.push(Loop {
            begin,
            number: number(begin),
            ends: Vec::new(),
            after,
            before: HashSet::new(),
        });
    }
    // No loop runs twice, so earlier ones lead to more of the others.
    let rank = |at: &Loop| loops.iter().filter(|l| l.leads_to(at.begin)).count();
    let ranks: Vec<usize> = loops.iter().map(rank).collect();
    for end in ends {
        let owner = (0..loops.len())
            .filter(|&l| loops[l].leads_to(end))
            .max_by_key(|&l| ranks[l]);
        if let Some(owner) = owner {
            loops[owner].ends.push(end);
        }
    }
    for at in &mut loops {
        let blocks: Vec<_> = at.ends.iter().map(|&e| block(e)).collect();
        at.before = reaching(function, &blocks);
    }
    let mut numbers: Vec<u32> = loops.iter().map(|l| l.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() < loops.len() {
        return Err(refuse("its loop was duplicated by the compiler", None));
    }
    let mut ordered: Vec<(usize, Loop)> = ranks.into_iter().zip(loops).collect();
    ordered.sort_by_key(|l| l.0);
    Ok(ordered.into_iter().map(|l| l.1).collect())
}

/// Returns the number in the marker right before a loop begins.
fn number(begin: LLVMValueRef) -> u32 {
    let mark = format!("{PREFIX}at");
    let mut at = llvm!(core::LLVMGetPreviousInstruction(begin));
    while !at.is_null() {
        if called(at).is_some_and(|f| *name_of(f) == *mark) {
            let number = super::constant(llvm!(core::LLVMGetOperand(at, 1)));
            return number.map_or(u32::MAX, |n| n as u32);
        }
        at = llvm!(core::LLVMGetPreviousInstruction(at));
    }
    u32::MAX
}

pub(super) fn successors(block: LLVMBasicBlockRef) -> Vec<LLVMBasicBlockRef> {
    let end = llvm!(core::LLVMGetBasicBlockTerminator(block));
    (0..llvm!(core::LLVMGetNumSuccessors(end)))
        .map(|index| llvm!(core::LLVMGetSuccessor(end, index)))
        .collect()
}

/// Returns the blocks reachable from these by at least one edge.
fn reached(starts: &[LLVMBasicBlockRef]) -> HashSet<LLVMBasicBlockRef> {
    let mut found = HashSet::new();
    let mut open = starts.to_vec();
    while let Some(block) = open.pop() {
        open.extend(successors(block).into_iter().filter(|&n| found.insert(n)));
    }
    found
}

/// Returns the blocks from which one of these is reachable by at least one edge.
pub(super) fn reaching(
    function: LLVMValueRef,
    goals: &[LLVMBasicBlockRef],
) -> HashSet<LLVMBasicBlockRef> {
    let mut before: HashMap<LLVMBasicBlockRef, Vec<LLVMBasicBlockRef>> = HashMap::new();
    let mut block = llvm!(core::LLVMGetFirstBasicBlock(function));
    while !block.is_null() {
        for next in successors(block) {
            before.entry(next).or_default().push(block);
        }
        block = llvm!(core::LLVMGetNextBasicBlock(block));
    }
    let mut found = HashSet::new();
    let mut open = goals.to_vec();
    while let Some(block) = open.pop() {
        for &from in before.get(&block).into_iter().flatten() {
            if found.insert(from) {
                open.push(from);
            }
        }
    }
    found
}
