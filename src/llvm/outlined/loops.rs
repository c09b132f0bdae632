//! The loops of a region that are divided over threads.
//!
//! What: where each begins and ends, in the order in which threads come by them. What not: what lies around
//! them ([`super::accesses`]), or between several ([`super::phases`]).

use super::entries::{FINI, OURS};
use super::{Refusal, refuse};
use crate::llvm::nvptx::{called, instructions};
use crate::llvm::raw::llvm;
use crate::llvm::reader::name_of;
use hashbrown::{HashMap, HashSet};
use inkwell::llvm_sys::prelude::*;

/// A loop.
#[derive(Debug)]
pub(super) struct Loop {
    /// The call that begins it.
    pub begin: LLVMValueRef,
    /// Its number in the region's function.
    pub number: u32,
    /// The calls that end it, or that ask for more of it.
    ends: Vec<LLVMValueRef>,
    after: HashSet<LLVMBasicBlockRef>,
    before: HashSet<LLVMBasicBlockRef>,
}

pub(super) fn block(instruction: LLVMValueRef) -> LLVMBasicBlockRef {
    llvm!(core::LLVMGetInstructionParent(instruction))
}

/// Whether an instruction comes after another one of its block.
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
    /// Whether an instruction is part of it.
    pub fn contains(&self, instruction: LLVMValueRef) -> bool {
        let here = block(instruction);
        let begun = self.after.contains(&here)
            || here == block(self.begin) && comes_after(instruction, self.begin);
        let ends = |&end: &LLVMValueRef| here == block(end) && comes_after(end, instruction);
        begun && (self.before.contains(&here) || self.ends.iter().any(ends))
    }

    /// Whether an instruction can run after it began.
    pub fn leads_to(&self, instruction: LLVMValueRef) -> bool {
        let here = block(instruction);
        self.after.contains(&here)
            || here == block(self.begin) && comes_after(instruction, self.begin)
    }
}

/// Calls of entries whose names begin so.
fn named(function: LLVMValueRef, starts: &[&str]) -> Vec<LLVMValueRef> {
    let wanted = |f| starts.iter().any(|s| name_of(f).starts_with(s));
    instructions(function)
        .filter(|&i| called(i).is_some_and(wanted))
        .collect()
}

/// The loops of a region; the number of each is the constant that is told before it begins.
pub(super) fn find(function: LLVMValueRef) -> Result<Vec<Loop>, Refusal> {
    let (divided, fetch) = (format!("{OURS}static_"), format!("{OURS}fetch_"));
    let begins = named(function, &[&divided, &fetch]);
    let ends = named(function, &[FINI, &format!("{OURS}fetched_")]);
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
    // Nothing runs twice, so who comes first leads to more of the others.
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
        return Err(refuse("its loop is there several times", None));
    }
    let mut ordered: Vec<(usize, Loop)> = ranks.into_iter().zip(loops).collect();
    ordered.sort_by_key(|l| l.0);
    Ok(ordered.into_iter().map(|l| l.1).collect())
}

/// What is told right before a loop begins.
fn number(begin: LLVMValueRef) -> u32 {
    let mark = format!("{OURS}at");
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

/// Blocks that one of these leads to by at least one jump.
fn reached(starts: &[LLVMBasicBlockRef]) -> HashSet<LLVMBasicBlockRef> {
    let mut found = HashSet::new();
    let mut open = starts.to_vec();
    while let Some(block) = open.pop() {
        open.extend(successors(block).into_iter().filter(|&n| found.insert(n)));
    }
    found
}

/// Blocks from which one of these can be reached by at least one jump.
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
