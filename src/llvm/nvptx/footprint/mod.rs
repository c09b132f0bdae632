//! The memory footprint of a kernel: which bytes behind each parameter a launch may read and write.
//!
//! Devices without a common memory need it: before a launch, what a device may read is copied
//! there, and what devices may write is divided among them. Offsets are terms over the launch's
//! words, its shape and the device's share ([`omp_abi::League`]). [`Footprint::ranges`] evaluates
//! them in interval arithmetic, so a range may be too large, but never too small.
//!
//! [`analysis`] makes the accesses of a kernel's code, [`terms`] its integers, and [`loops`] the
//! variables of its loops.

mod analysis;
mod induction;
mod interval;
mod loops;
mod terms;

pub(super) use analysis::{analyze, reached_before_end};
use induction::induction;
use interval::Interval;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Memory that a kernel may access.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// Reason why the kernel may access more than `accesses` says, or needs one memory.
    pub unknown: Option<String>,
    /// The terms. Each refers to earlier ones only.
    pub terms: Vec<Term>,
    /// The accesses.
    pub accesses: Vec<Access>,
    /// True if a device's share of the iterations alone tells what it executes, whatever its numbers
    /// of blocks and threads: else the iterations are divided by teams.
    pub by_iterations: bool,
}

/// Accesses to the memory behind a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Access {
    /// Index of the parameter.
    pub parameter: u32,
    /// True if the access writes.
    pub written: bool,
    /// Term of the offset from the parameter's address in bytes; `None` if it is unknown.
    pub offset: Option<TermId>,
    /// Number of bytes.
    pub bytes: u32,
    /// True if only the launch that ends a reduction accesses them.
    pub ends: bool,
}

/// Index of a term.
pub type TermId = u32;

/// An integer of a kernel's thread. Evaluates to all values that it may have in a launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Term {
    /// A constant.
    Constant(i64),
    /// An argument word, as a signed number of that many bits.
    Word(u32, u32),
    /// Anything.
    Unknown,
    /// A number from 0 up to, but not including, a quantity of the launch.
    Below(Quantity),
    /// A quantity of the launch.
    Quantity(Quantity),
    /// The first of that many iterations that belongs to the device.
    ShareFirst(TermId),
    /// The end of the iterations that belong to the device.
    ShareEnd(TermId),
    /// An operation on integers of that many bits.
    Operation(Operation, u32, Vec<TermId>),
    /// A variable that changes by `step` in each iteration of a loop.
    Induction {
        /// Value in the first iteration.
        start: TermId,
        /// Difference between iterations.
        step: TermId,
        /// When the loop ends.
        end: Option<LoopEnd>,
        /// Width in bits.
        bits: u32,
    },
}

/// When a loop ends: a variable of it reaches a bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LoopEnd {
    /// Value of the variable in the first iteration.
    pub start: TermId,
    /// Difference between iterations.
    pub step: TermId,
    /// The bound.
    pub bound: TermId,
    /// The comparison with the bound by which the loop goes on.
    pub comparison: Comparison,
    /// True if the variable is compared before it changes.
    pub before: bool,
    /// True if the comparison is of unsigned numbers.
    pub unsigned: bool,
    /// True if the loop is entered only if the comparison holds for the first value.
    pub guarded: bool,
    /// Width of the variable in bits.
    pub bits: u32,
}

/// Comparison of a loop's variable with a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are named as in the language")]
pub enum Comparison {
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// A quantity that is the same for all threads of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Quantity {
    /// Threads of a block.
    Threads,
    /// Blocks of the device.
    Blocks,
    /// Threads of the device.
    GridThreads,
    /// A word of [`omp_abi::League`], by its offset in bytes.
    League(u32),
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are named as in the language")]
pub enum Operation {
    Add,
    Sub,
    Mul,
    SDiv,
    UDiv,
    SRem,
    URem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    SMin,
    SMax,
    UMin,
    UMax,
    SignExtend,
    ZeroExtend,
    Truncate,
    /// One of the operands.
    Either,
    /// The second operand if the first one is 1, the third one if it is 0.
    Select,
    Equal,
    Unequal,
    SLess,
    SLessEqual,
    ULess,
    ULessEqual,
}

/// Shape of a launch, and a device's share of it.
#[derive(Clone, Copy, Debug)]
pub struct LaunchShape<'a> {
    /// Argument words.
    pub words: &'a [u64],
    /// Blocks of the device.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// The share.
    pub league: omp_abi::League,
    /// True for the device that ends a reduction.
    pub ends: bool,
}

/// Bytes that a launch may access behind a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessedRange {
    /// Index of the parameter.
    pub parameter: u32,
    /// True if the bytes may be written.
    pub written: bool,
    /// Offsets from the parameter's address; `None` if they are unknown.
    pub offsets: Option<Range<i64>>,
}

impl Footprint {
    /// Returns what a launch may access. Several ranges may be of one parameter.
    pub fn ranges(&self, launch: &LaunchShape<'_>) -> Vec<AccessedRange> {
        let mut values: Vec<Option<Interval>> = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let value = evaluate(term, &values, launch);
            values.push(value);
        }
        let own = self.accesses.iter().filter(|a| launch.ends || !a.ends);
        let ranges = own.filter_map(|access| {
            let interval = access.offset.and_then(|term| values[term as usize]);
            if interval.is_some_and(Interval::is_none) {
                return None;
            }
            let offsets = interval.and_then(|interval| {
                let first = i64::try_from(interval.low).ok()?;
                let last = i64::try_from(interval.high).ok()?;
                Some(first..last.checked_add(access.bytes.into())?)
            });
            Some(AccessedRange {
                parameter: access.parameter,
                written: access.written,
                offsets,
            })
        });
        ranges.collect()
    }
}

fn evaluate(
    term: &Term,
    values: &[Option<Interval>],
    launch: &LaunchShape<'_>,
) -> Option<Interval> {
    let value = |id: TermId| values[id as usize];
    match term {
        Term::Unknown => None,
        Term::Constant(number) => Some(Interval::of((*number).into())),
        Term::Word(index, bits) => {
            let word = *launch.words.get(*index as usize)? as i64;
            let away = 64 - (*bits).clamp(1, 64);
            Some(Interval::of((word << away >> away).into()))
        }
        Term::Below(quantity) => Some(Interval {
            low: 0,
            high: (quantity_of(*quantity, launch)? - 1).max(0),
        }),
        Term::Quantity(quantity) => quantity_of(*quantity, launch).map(Interval::of),
        Term::ShareFirst(trips) => {
            let first = |trips| edge(trips, launch.league.from);
            value(*trips)?.unsigned(64)?.mapped(first)
        }
        Term::ShareEnd(trips) => {
            let end = |trips| match launch.league.to {
                0 => trips,
                to => edge(trips, to),
            };
            value(*trips)?.unsigned(64)?.mapped(end)
        }
        Term::Operation(operation, bits, operands) => {
            let mut operands: Vec<Option<Interval>> =
                operands.iter().map(|&id| value(id)).collect();
            let none = |i: &Option<Interval>| i.is_some_and(Interval::is_none);
            if *operation == Operation::Either {
                operands.retain(|i| !none(i));
            }
            if *operation == Operation::Select {
                operands = chosen(&operands);
            }
            if operands.is_empty() || operands.iter().any(none) {
                return Some(Interval::NONE);
            }
            operation.apply(*bits, &operands)
        }
        Term::Induction {
            start,
            step,
            end,
            bits,
        } => {
            let start = value(*start)?;
            if start.is_none() {
                return Some(Interval::NONE);
            }
            let found = induction(start, value(*step), end.as_ref(), &value)?;
            match found.is_none() {
                true => Some(found),
                false => found.fitting(*bits),
            }
        }
    }
}

fn quantity_of(quantity: Quantity, launch: &LaunchShape<'_>) -> Option<i128> {
    let league = &launch.league;
    Some(match quantity {
        Quantity::Threads => launch.threads.into(),
        Quantity::Blocks => launch.blocks.into(),
        Quantity::GridThreads => i128::from(launch.threads) * i128::from(launch.blocks),
        Quantity::League(offset) => match offset as usize {
            at if at == std::mem::offset_of!(omp_abi::League, part) => league.part.into(),
            at if at == std::mem::offset_of!(omp_abi::League, parts) => league.parts.into(),
            at if at == std::mem::offset_of!(omp_abi::League, from) => league.from.into(),
            at if at == std::mem::offset_of!(omp_abi::League, to) => league.to.into(),
            at if at == std::mem::offset_of!(omp_abi::League, first) => league.first.into(),
            at if at == std::mem::offset_of!(omp_abi::League, teams) => league.teams.into(),
            _ => return None,
        },
    })
}

/// Returns the place of a fraction of 2^64 among `trips` iterations, as the device runtime computes
/// it.
fn edge(trips: i128, fraction: u64) -> i128 {
    if trips <= 0 || fraction == 0 {
        return 0;
    }
    (((trips - 1) as u128 * u128::from(fraction)) >> 64) as i128 + 1
}

/// Returns the operands that a selection may give.
fn chosen(operands: &[Option<Interval>]) -> Vec<Option<Interval>> {
    let [condition, yes, no] = operands[..] else {
        return vec![None];
    };
    match condition {
        Some(Interval { low: 1, high: 1 }) => vec![yes],
        Some(Interval { low: 0, high: 0 }) => vec![no],
        _ => vec![yes, no],
    }
}

#[cfg(test)]
mod tests;
