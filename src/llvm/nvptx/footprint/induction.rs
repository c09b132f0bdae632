//! Values of variables that change in each iteration of a loop.

use super::interval::Interval;
use super::{Comparison, LoopEnd, TermId};

/// Returns the values of a variable that changes in each iteration of a loop, by `step` if that is
/// known.
pub(super) fn induction(
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
    if compared.values.is_none() {
        return Some(Interval::NONE);
    }
    let own = (Some(start), step) == (value(end.start), value(end.step));
    match compared.repetitions {
        _ if own => Some(mirrored(compared.values)),
        0 => Some(start),
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
            let high = match self.guarded {
                true => first.high.min(most),
                false => first.high,
            };
            return Some(Compared {
                values: Interval { high, ..first },
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
