//! Interval arithmetic on integers of fixed width.
//!
//! An interval holds values of one of two readings of the bits, as signed or as unsigned numbers,
//! since the code does not say which one is meant. An operation whose results do not fit one
//! of them gives nothing.

use super::Operation;

/// Integers from `low` to `high`, both included; none if `low` is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub low: i128,
    pub high: i128,
}

impl Interval {
    /// The values of code that is not executed.
    pub(super) const NONE: Interval = Interval { low: 1, high: 0 };

    pub(super) fn is_none(self) -> bool {
        self.low > self.high
    }

    pub(super) fn of(value: i128) -> Interval {
        Interval {
            low: value,
            high: value,
        }
    }

    /// Returns the least interval that contains both.
    pub(super) fn hull(self, other: Interval) -> Interval {
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// Returns the interval if numbers of that many bits represent it in one of two ways: as signed
    /// or as unsigned numbers.
    pub(super) fn fitting(self, bits: u32) -> Option<Interval> {
        let half = 1i128 << (bits - 1);
        let signed = self.low >= -half && self.high < half;
        let unsigned = self.low >= 0 && self.high < 2 * half;
        (signed || unsigned).then_some(self)
    }

    /// Returns the same bits as unsigned numbers.
    pub(super) fn unsigned(self, bits: u32) -> Option<Interval> {
        match (self.low >= 0, self.high < 0) {
            (true, _) => Some(self),
            (_, true) => Some(self.moved(1 << bits)),
            _ => None,
        }
    }

    /// Returns the same bits as signed numbers.
    pub(super) fn signed(self, bits: u32) -> Option<Interval> {
        let half = 1i128 << (bits - 1);
        match (self.high < half, self.low >= half) {
            (true, _) => Some(self),
            (_, true) => Some(self.moved(-2 * half)),
            _ => None,
        }
    }

    /// Returns the opposite of a truth value.
    pub(super) fn negated(self) -> Interval {
        Interval {
            low: 1 - self.high,
            high: 1 - self.low,
        }
    }

    /// Returns the interval of a function that does not decrease.
    pub(super) fn mapped(self, f: impl Fn(i128) -> i128) -> Option<Interval> {
        Some(match self.is_none() {
            true => Interval::NONE,
            false => Interval {
                low: f(self.low),
                high: f(self.high),
            },
        })
    }

    pub(super) fn moved(self, by: i128) -> Interval {
        Interval {
            low: self.low + by,
            high: self.high + by,
        }
    }

    /// Returns the interval of a function that is monotone in each operand.
    pub(super) fn corners(
        self,
        other: Interval,
        f: impl Fn(i128, i128) -> Option<i128>,
    ) -> Option<Interval> {
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

impl Operation {
    pub(super) fn apply(self, bits: u32, operands: &[Option<Interval>]) -> Option<Interval> {
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
