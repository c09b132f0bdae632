//! Finds the worksharing loops of a region: where each begins and ends, in execution order.
//!
//! Code around them is left to [`super::accesses`], and code between them to
//! [`super::kernel_sequence`].

use super::runtime_calls::{PREFIX, STATIC_FINI};
use super::{Refusal, callee_name, calls, refuse, refuse_at};
use crate::handles::{Block, Function, Instruction};
use hashbrown::{HashMap, HashSet};

/// A worksharing loop.
#[derive(Debug)]
pub(super) struct Loop<'m> {
    /// The call that begins the loop.
    pub begin: Instruction<'m>,
    /// The loop's number in the region's function.
    pub number: u32,
    /// The calls that end the loop or ask for more iterations.
    ends: Vec<Instruction<'m>>,
    after: HashSet<Block<'m>>,
    before: HashSet<Block<'m>>,
}

/// Returns true if an instruction comes after another one of its block.
fn comes_after<'m>(instruction: Instruction<'m>, other: Instruction<'m>) -> bool {
    other.following().any(|i| i == instruction)
}

impl<'m> Loop<'m> {
    /// Returns true if an instruction is part of the loop.
    pub fn contains(&self, instruction: Instruction<'m>) -> bool {
        let here = instruction.block();
        let ends = |&end: &Instruction<'m>| here == end.block() && comes_after(end, instruction);
        self.leads_to(instruction) && (self.before.contains(&here) || self.ends.iter().any(ends))
    }

    /// Returns true if an instruction can run after the loop began.
    pub fn leads_to(&self, instruction: Instruction<'m>) -> bool {
        let here = instruction.block();
        self.after.contains(&here)
            || here == self.begin.block() && comes_after(instruction, self.begin)
    }
}

/// Returns the calls of entries with these name prefixes.
fn named<'m>(function: Function<'m>, starts: &[&str]) -> Vec<Instruction<'m>> {
    function
        .instructions()
        .filter(|&i| starts.iter().any(|start| calls(i, start)))
        .collect()
}

/// Returns the loops of a region, numbered by the constant in the marker before each.
pub(super) fn find(function: Function<'_>) -> Result<Vec<Loop<'_>>, Refusal> {
    let (divided, fetch) = (format!("{PREFIX}static_"), format!("{PREFIX}fetch_"));
    let begins = named(function, &[&divided, &fetch]);
    let ends = named(function, &[STATIC_FINI, &format!("{PREFIX}fetched_")]);
    let mut loops = Vec::new();
    for begin in begins {
        let after = reached(begin.block());
        if after.contains(&begin.block()) {
            return Err(refuse_at(
                "its loop runs several times in one region",
                begin,
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
    let rank = |at: &Loop<'_>| loops.iter().filter(|l| l.leads_to(at.begin)).count();
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
        at.before = reaching(function, at.ends.iter().map(|e| e.block()).collect());
    }
    let mut numbers: Vec<u32> = loops.iter().map(|l| l.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() < loops.len() {
        return Err(refuse("its loop was duplicated by the compiler"));
    }
    let mut ordered: Vec<(usize, Loop<'_>)> = ranks.into_iter().zip(loops).collect();
    ordered.sort_by_key(|l| l.0);
    Ok(ordered.into_iter().map(|l| l.1).collect())
}

/// Returns the number in the marker right before a loop begins.
fn number(begin: Instruction<'_>) -> u32 {
    let mark = format!("{PREFIX}at");
    let mark = begin
        .preceding()
        .find(|&i| callee_name(i).is_some_and(|n| *n == *mark));
    let number = mark.and_then(|m| m.operand(1).signed());
    number.map_or(u32::MAX, |n| n as u32)
}

/// Returns the blocks reachable from this one by at least one edge.
fn reached(start: Block<'_>) -> HashSet<Block<'_>> {
    let mut found = HashSet::new();
    let mut open = vec![start];
    while let Some(block) = open.pop() {
        open.extend(block.successors().filter(|&n| found.insert(n)));
    }
    found
}

/// Returns the blocks from which one of these is reachable by at least one edge.
pub(super) fn reaching<'m>(function: Function<'m>, goals: Vec<Block<'m>>) -> HashSet<Block<'m>> {
    let mut before: HashMap<Block<'m>, Vec<Block<'m>>> = HashMap::new();
    for block in function.blocks() {
        for next in block.successors() {
            before.entry(next).or_default().push(block);
        }
    }
    let mut found = HashSet::new();
    let mut open = goals;
    while let Some(block) = open.pop() {
        let from = before.get(&block).into_iter().flatten();
        open.extend(from.copied().filter(|&b| found.insert(b)));
    }
    found
}
