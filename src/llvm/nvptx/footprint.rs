//! The memory footprint of a kernel: which bytes behind each parameter a launch may read and write.
//!
//! Devices without a common memory need it: before a launch, what a device may read is copied
//! there, and what devices may write is divided among them. Offsets are terms over the launch's
//! words, its shape and the device's share ([`omp_abi::League`]). [`Footprint::ranges`] evaluates
//! them in interval arithmetic, so a range may be too large, but never too small.
//!
//! The analysis of the code is in [`super::footprint_analysis`].

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
}

/// Integers from `low` to `high`, both included; none if `low` is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    low: i128,
    high: i128,
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
        let ranges = self.accesses.iter().filter_map(|access| {
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

    /// Returns true if the kernel may write behind a parameter.
    pub fn writes(&self, parameter: u32) -> bool {
        let mut accesses = self.accesses.iter();
        accesses.any(|a| a.parameter == parameter && a.written)
    }
}

impl Interval {
    /// The values of code that is not executed.
    const NONE: Interval = Interval { low: 1, high: 0 };

    fn is_none(self) -> bool {
        self.low > self.high
    }

    fn of(value: i128) -> Interval {
        Interval {
            low: value,
            high: value,
        }
    }

    /// Returns the least interval that contains both.
    fn hull(self, other: Interval) -> Interval {
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// Returns the interval if numbers of that many bits represent it in one of two ways: as signed
    /// or as unsigned numbers.
    fn fitting(self, bits: u32) -> Option<Interval> {
        let half = 1i128 << (bits - 1);
        let signed = self.low >= -half && self.high < half;
        let unsigned = self.low >= 0 && self.high < 2 * half;
        (signed || unsigned).then_some(self)
    }

    /// Returns the same bits as unsigned numbers.
    fn unsigned(self, bits: u32) -> Option<Interval> {
        match (self.low >= 0, self.high < 0) {
            (true, _) => Some(self),
            (_, true) => Some(self.moved(1 << bits)),
            _ => None,
        }
    }

    /// Returns the same bits as signed numbers.
    fn signed(self, bits: u32) -> Option<Interval> {
        let half = 1i128 << (bits - 1);
        match (self.high < half, self.low >= half) {
            (true, _) => Some(self),
            (_, true) => Some(self.moved(-2 * half)),
            _ => None,
        }
    }

    /// Returns the opposite of a truth value.
    fn negated(self) -> Interval {
        Interval {
            low: 1 - self.high,
            high: 1 - self.low,
        }
    }

    /// Returns the interval of a function that does not decrease.
    fn mapped(self, f: impl Fn(i128) -> i128) -> Option<Interval> {
        Some(match self.is_none() {
            true => Interval::NONE,
            false => Interval {
                low: f(self.low),
                high: f(self.high),
            },
        })
    }

    fn moved(self, by: i128) -> Interval {
        Interval {
            low: self.low + by,
            high: self.high + by,
        }
    }

    /// Returns the interval of a function that is monotone in each operand.
    fn corners(self, other: Interval, f: impl Fn(i128, i128) -> Option<i128>) -> Option<Interval> {
        let ends = [
            f(self.low, other.low)?,
            f(self.low, other.high)?,
            f(self.high, other.low)?,
            f(self.high, other.high)?,
        ];
        Some(Interval {
            low: *ends.iter().min()?,
            high: *ends.iter().max()?,
        })
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
    ((trips - 1) as u128 * u128::from(fraction) >> 64) as i128 + 1
}

/// Returns the values of a variable that changes in each iteration of a loop, by `step` if that is
/// known.
fn induction(
    start: Interval,
    step: Option<Interval>,
    end: Option<&LoopEnd>,
    value: &impl Fn(TermId) -> Option<Interval>,
) -> Option<Interval> {
    if step == Some(Interval::of(0)) {
        return Some(start);
    }
    let end = end?;
    let view = |i: Interval| match end.unsigned {
        true => i.unsigned(end.bits),
        false => i.signed(end.bits),
    };
    let by = value(end.step)?.signed(end.bits)?;
    let (first, bound) = (view(value(end.start)?)?, view(value(end.bound)?)?);
    if first.is_none() || by.is_none() || bound.is_none() {
        return Some(Interval::NONE);
    }
    // Counts up: a falling variable is mirrored.
    let falling = by.high < 0;
    let mirrored = |i: Interval| match falling {
        true => Interval {
            low: -i.high,
            high: -i.low,
        },
        false => i,
    };
    let compared = end.compared(mirrored(first), mirrored(by), mirrored(bound), falling)?;
    match compared.repetitions {
        _ if compared.values.is_none() => Some(Interval::NONE),
        0 => Some(start),
        _ if (start, step?) == (value(end.start)?, value(end.step)?) => {
            Some(mirrored(compared.values))
        }
        count => {
            let way = step?.corners(
                Interval {
                    low: 0,
                    high: count,
                },
                i128::checked_mul,
            )?;
            Some(Interval {
                low: start.low.checked_add(way.low)?,
                high: start.high.checked_add(way.high)?,
            })
        }
    }
}

/// Values of the variable that a loop compares.
struct Compared {
    /// The values; none if the loop is not entered.
    values: Interval,
    /// Maximum number of iterations after the first one.
    repetitions: i128,
}

impl LoopEnd {
    /// Returns the values of the variable, which begins with `first` and grows by `by`.
    fn compared(
        &self,
        first: Interval,
        by: Interval,
        bound: Interval,
        falling: bool,
    ) -> Option<Compared> {
        let (inclusive, unequal) = match (self.comparison, falling) {
            (Comparison::Unequal, _) => (false, true),
            (Comparison::Less, false) | (Comparison::Greater, true) => (false, false),
            (Comparison::LessEqual, false) | (Comparison::GreaterEqual, true) => (true, false),
            _ => return None,
        };
        if by.low <= 0 || falling && self.unsigned {
            return None;
        }
        if unequal && (first.low > bound.high || by.low != by.high) {
            return None;
        }
        // The greatest value with which the loop goes on.
        let most = bound.high.checked_sub(i128::from(!inclusive))?;
        if self.guarded && most < first.low {
            return Some(Compared {
                values: Interval::NONE,
                repetitions: 0,
            });
        }
        let first_compared = first.low + if self.before { 0 } else { by.low };
        if first_compared > most {
            return Some(Compared {
                values: first,
                repetitions: 0,
            });
        }
        let last = match self.before {
            true => most.checked_add(by.high)?,
            false if unequal => bound.high - by.low,
            false => most,
        };
        let last = match self.guarded {
            true => last,
            false => last.max(first.high),
        };
        Some(Compared {
            values: Interval {
                low: first.low,
                high: last,
            },
            repetitions: (last - first.low) / by.low,
        })
    }
}

impl Operation {
    fn apply(self, bits: u32, operands: &[Option<Interval>]) -> Option<Interval> {
        let first = operands.first().copied().flatten();
        let second = operands.get(1).copied().flatten();
        let both = |f: fn(i128, i128) -> Option<i128>| first?.corners(second?, f)?.fitting(bits);
        let signed = |i: Option<Interval>| i?.signed(bits);
        let unsigned = |i: Option<Interval>| i?.unsigned(bits);
        match self {
            Operation::Add => both(i128::checked_add),
            Operation::Sub => both(i128::checked_sub),
            Operation::Mul => both(i128::checked_mul),
            Operation::Shl => {
                let by = second.filter(|s| s.low >= 0 && s.high < 64)?;
                let factor = Interval {
                    low: 1 << by.low,
                    high: 1 << by.high,
                };
                first?.corners(factor, i128::checked_mul)?.fitting(bits)
            }
            Operation::SDiv => {
                let by = signed(second).filter(|s| s.low > 0 || s.high < 0)?;
                signed(first)?.corners(by, i128::checked_div)
            }
            Operation::UDiv => {
                let by = unsigned(second).filter(|s| s.low > 0)?;
                unsigned(first)?.corners(by, i128::checked_div)
            }
            Operation::URem => remainder(unsigned(first), unsigned(second)?),
            Operation::SRem => {
                let by = signed(second).filter(|s| s.low > 0)?;
                match signed(first) {
                    Some(of) if of.low >= 0 => remainder(Some(of), by),
                    _ => Some(Interval {
                        low: 1 - by.high,
                        high: by.high - 1,
                    }),
                }
            }
            Operation::LShr => shifted(unsigned(first)?, second?),
            Operation::AShr => shifted(signed(first)?, second?),
            Operation::And => and(first, second),
            Operation::Or => {
                let (a, b) = (first?, second?);
                let known = a.low >= 0 && b.low >= 0;
                known.then_some(Interval {
                    low: a.low.max(b.low),
                    high: a.high + b.high,
                })
            }
            Operation::SMin => signed(first)?.corners(signed(second)?, |a, b| Some(a.min(b))),
            Operation::SMax => signed(first)?.corners(signed(second)?, |a, b| Some(a.max(b))),
            Operation::UMin => unsigned(first)?.corners(unsigned(second)?, |a, b| Some(a.min(b))),
            Operation::UMax => unsigned(first)?.corners(unsigned(second)?, |a, b| Some(a.max(b))),
            // The width is that of the operand.
            Operation::SignExtend => signed(first),
            Operation::ZeroExtend => match (first, bits) {
                (None, ..=16) => Some(Interval {
                    low: 0,
                    high: (1 << bits) - 1,
                }),
                _ => unsigned(first),
            },
            // The width is that of the result.
            Operation::Truncate => first?.fitting(bits),
            Operation::Equal => equal(signed(first)?, signed(second)?),
            Operation::Unequal => equal(signed(first)?, signed(second)?).map(Interval::negated),
            Operation::SLess => less(signed(first)?, signed(second)?),
            Operation::SLessEqual => less(signed(second)?, signed(first)?).map(Interval::negated),
            Operation::ULess => less(unsigned(first)?, unsigned(second)?),
            Operation::ULessEqual => {
                less(unsigned(second)?, unsigned(first)?).map(Interval::negated)
            }
            Operation::Either | Operation::Select => {
                let mut all = operands.iter().copied();
                let first = all.next()??;
                all.try_fold(first, |sum, next| Some(sum.hull(next?)))
            }
        }
    }
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

/// Returns 1 if numbers are equal, 0 if not, and nothing if that is unknown.
fn equal(a: Interval, b: Interval) -> Option<Interval> {
    if a.high < b.low || b.high < a.low {
        return Some(Interval::of(0));
    }
    (a == b && a.low == a.high).then_some(Interval::of(1))
}

/// Returns 1 if a number is less than another, 0 if not, and nothing if that is unknown.
fn less(a: Interval, b: Interval) -> Option<Interval> {
    if a.high < b.low {
        return Some(Interval::of(1));
    }
    (a.low >= b.high).then_some(Interval::of(0))
}

/// Returns the remainders of a division by positive numbers. All are nonnegative.
fn remainder(of: Option<Interval>, by: Interval) -> Option<Interval> {
    if by.low <= 0 {
        return None;
    }
    let any = Interval {
        low: 0,
        high: by.high - 1,
    };
    let Some(of) = of else {
        return Some(any);
    };
    if of.high < by.low {
        return Some(of);
    }
    let same = by.low == by.high && of.low / by.low == of.high / by.low;
    Some(match same {
        true => Interval {
            low: of.low % by.low,
            high: of.high % by.low,
        },
        false => any,
    })
}

fn shifted(of: Interval, by: Interval) -> Option<Interval> {
    let known = by.low >= 0 && by.high < 64;
    known.then(|| of.corners(by, |a, b| Some(a >> b)))?
}

fn and(a: Option<Interval>, b: Option<Interval>) -> Option<Interval> {
    let constant = |i: Option<Interval>| i.filter(|i| i.low == i.high).map(|i| i.low);
    let (value, mask) = match (constant(a), constant(b)) {
        (_, Some(mask)) => (a, mask),
        (Some(mask), _) => (b, mask),
        _ => return None,
    };
    if mask >= 0 && (mask + 1) & mask == 0 {
        // The sign does not matter, since the modulus divides the number of values.
        return remainder(value.filter(|v| v.low >= 0), Interval::of(mask + 1));
    }
    if mask < 0 && (-mask) & (-mask - 1) == 0 {
        // Rounds down to a multiple.
        let value = value?;
        return Some(Interval {
            low: value.low & mask,
            high: value.high & mask,
        });
    }
    (mask >= 0).then_some(Interval { low: 0, high: mask })
}

#[cfg(test)]
mod tests {
    use super::*;
    use omp_abi::League;

    /// Terms of a loop over the grid with `n` iterations, where `n` is argument 2, on 10 blocks of
    /// 32 threads.
    fn grid() -> (Vec<Term>, TermId) {
        let terms = vec![
            Term::Word(2, 64),
            Term::ShareFirst(0),
            Term::ShareEnd(0),
            Term::Below(Quantity::GridThreads),
            Term::Quantity(Quantity::GridThreads),
            Term::Operation(Operation::Add, 64, vec![1, 3]),
            Term::Induction {
                start: 5,
                step: 4,
                end: Some(LoopEnd {
                    start: 5,
                    step: 4,
                    bound: 2,
                    comparison: Comparison::Less,
                    before: false,
                    unsigned: true,
                    guarded: true,
                    bits: 64,
                }),
                bits: 64,
            },
        ];
        (terms, 6)
    }

    /// Returns the offsets of one access for each of four shares of a loop of `n` iterations.
    fn offsets(terms: Vec<Term>, offset: TermId, n: u64) -> Vec<Option<Range<i64>>> {
        let footprint = Footprint {
            unknown: None,
            terms,
            accesses: vec![Access {
                parameter: 1,
                written: true,
                offset: Some(offset),
                bytes: 8,
            }],
        };
        let quarter = 1 << 62;
        let of = |part: u64| {
            let league = League {
                part: part as u32,
                parts: 4,
                from: quarter * part,
                to: if part == 3 { 0 } else { quarter * (part + 1) },
                first: 0,
                teams: 0,
            };
            let ranges = footprint.ranges(&LaunchShape {
                words: &[0, 4096, n],
                blocks: 10,
                threads: 32,
                league,
            });
            ranges[0].offsets.clone()
        };
        (0..4).map(of).collect()
    }

    #[test]
    fn footprints_of_shares_meet() {
        let (mut terms, i) = grid();
        let bytes = terms.len() as TermId;
        terms.push(Term::Constant(8));
        terms.push(Term::Operation(Operation::Mul, 64, vec![i, bytes]));
        let found = offsets(terms.clone(), bytes + 1, 4000);
        let ranges = [0..8000, 8000..16000, 16000..24000, 24000..32000];
        assert_eq!(found, ranges.map(Some));
        // Of fewer iterations than threads, too.
        let found = offsets(terms, bytes + 1, 400);
        let ranges = [0..800, 800..1600, 1600..2400, 2400..3200];
        assert_eq!(found, ranges.map(Some));
    }

    #[test]
    fn footprints_of_collapsed_loops_cover_whole_rows() {
        // Row i / 100 and column i % 100 of rows of 128 elements.
        let (mut terms, i) = grid();
        let at = terms.len() as TermId;
        terms.push(Term::Constant(100));
        terms.push(Term::Constant(1024));
        terms.push(Term::Constant(8));
        terms.push(Term::Operation(Operation::UDiv, 64, vec![i, at]));
        terms.push(Term::Operation(Operation::URem, 64, vec![i, at]));
        terms.push(Term::Operation(Operation::Mul, 64, vec![at + 3, at + 1]));
        terms.push(Term::Operation(Operation::Mul, 64, vec![at + 4, at + 2]));
        terms.push(Term::Operation(Operation::Add, 64, vec![at + 5, at + 6]));
        let found = offsets(terms, at + 7, 4000);
        assert_eq!(found[0], Some(0..9 * 1024 + 800));
        assert_eq!(found[3], Some(30 * 1024..39 * 1024 + 800));
    }

    #[test]
    fn footprints_keep_to_the_width_of_numbers() {
        let apply = |operation: Operation, bits, values: &[(i128, i128)]| {
            let operands: Vec<_> = values
                .iter()
                .map(|&(low, high)| Some(Interval { low, high }))
                .collect();
            let found = operation.apply(bits, &operands);
            found.map(|i| (i.low, i.high))
        };
        use Operation::*;
        assert_eq!(apply(Add, 32, &[(0, 10), (-1, -1)]), Some((-1, 9)));
        assert_eq!(apply(ZeroExtend, 32, &[(-1, 9)]), None);
        assert_eq!(
            apply(ZeroExtend, 32, &[(-4, -1)]),
            Some(((1 << 32) - 4, (1 << 32) - 1))
        );
        assert_eq!(
            apply(SignExtend, 32, &[((1 << 32) - 4, (1 << 32) - 1)]),
            Some((-4, -1))
        );
        assert_eq!(apply(Mul, 32, &[(0, 1 << 20), (0, 1 << 20)]), None);
        assert_eq!(apply(URem, 32, &[(130, 140), (100, 100)]), Some((30, 40)));
        assert_eq!(apply(URem, 32, &[(90, 140), (100, 100)]), Some((0, 99)));
        assert_eq!(apply(SRem, 32, &[(-5, 5), (3, 3)]), Some((-2, 2)));
        assert_eq!(apply(And, 64, &[(3, 300), (-256, -256)]), Some((0, 256)));
        assert_eq!(apply(Or, 64, &[(0, 6), (1, 1)]), Some((1, 7)));
        assert_eq!(apply(SDiv, 64, &[(-7, 7), (2, 2)]), Some((-3, 3)));
        assert_eq!(apply(LShr, 64, &[(-1, 1), (1, 1)]), None);
    }

    #[test]
    fn footprints_of_falling_loops_are_mirrored() {
        // for (i = 9; i > 2; i -= 1)
        let terms = vec![
            Term::Constant(9),
            Term::Constant(-1),
            Term::Constant(2),
            Term::Induction {
                start: 0,
                step: 1,
                end: Some(LoopEnd {
                    start: 0,
                    step: 1,
                    bound: 2,
                    comparison: Comparison::Greater,
                    before: false,
                    unsigned: false,
                    guarded: false,
                    bits: 32,
                }),
                bits: 32,
            },
        ];
        assert_eq!(offsets(terms, 3, 1)[0], Some(3..17));
    }
}
