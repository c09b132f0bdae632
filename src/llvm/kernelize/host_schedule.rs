//! Host schedule of a region: the code between its loops, as operations on numbers and kernel
//! launches.
//!
//! A [`HostSchedule`] is the region's code without its loops, for one thread, as steps over
//! numbered words. It is interpreted rather than compiled, because there is little to do between
//! two kernels, and an interpreter can decide at each access whether the memory is on the device or
//! the host.
//!
//! Memory and devices are left to `ompvm_auto_offload::schedule`.

use super::IntOperation;
use serde::{Deserialize, Serialize};

/// The host schedule of a region.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSchedule {
    /// The steps; execution begins with the first.
    pub steps: Vec<ScheduleStep>,
    /// Number of words that the steps compute.
    pub words: u32,
    /// Size of the thread's private variables, in bytes.
    pub private_bytes: u32,
    /// Offset and size of the private variables that loops add to, which the device has, too.
    pub shared: Vec<(u32, u32)>,
    /// The program's variables that operands refer to.
    pub variables: Vec<String>,
}

/// Operand of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScheduleOperand {
    /// The result of a step.
    Word(u32),
    /// A constant, as the bits of a number.
    Constant(u64),
    /// An argument of the region's function, not counting the two that the runtime adds.
    Captured(u32),
    /// A byte offset into a variable of the program.
    Variable(u32, i64),
    /// A byte offset into the thread's private variables.
    Private(u32),
}

/// An operation on floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are named as in the language")]
pub enum FloatOperation {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Negate,
    Absolute,
    SquareRoot,
    Fused,
    Least,
    Most,
    Floor,
    Ceiling,
    Truncate,
    Exponential,
    Logarithm,
    Sine,
    Cosine,
    Power,
    /// A comparison, with the mask of outcomes for which it is true. From bit 0 on: equal, greater,
    /// less, unordered.
    Compare(u8),
}

/// A conversion between types of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are named as in the language")]
pub enum Conversion {
    SignedToReal,
    UnsignedToReal,
    RealToSigned,
    RealToUnsigned,
    RealToReal,
}

/// A step. Words hold integers, addresses, or the bits of floating-point numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScheduleStep {
    /// Assigns words in parallel.
    Move(Vec<(u32, ScheduleOperand)>),
    /// Sets a word to the result of an integer operation of the given width in bits.
    Int(u32, IntOperation, u32, Vec<ScheduleOperand>),
    /// Sets a word to the result of a floating-point operation of 32 or 64 bits.
    Float(u32, FloatOperation, u32, Vec<ScheduleOperand>),
    /// Sets a word to a number converted between the given widths in bits.
    Convert(u32, Conversion, (u32, u32), ScheduleOperand),
    /// Loads up to 8 bytes from an address into a word.
    Load(u32, ScheduleOperand, u32),
    /// Stores to the first operand, an address, the given number of bytes of the second.
    Store(ScheduleOperand, ScheduleOperand, u32),
    /// Fills memory at an address with a byte; the number is the length.
    Fill(ScheduleOperand, ScheduleOperand, u64),
    /// Copies bytes from the second address to the first; the number is the length.
    Copy(ScheduleOperand, ScheduleOperand, u64),
    /// Continues at another step.
    Jump(u32),
    /// Continues at the first step if the operand's lowest bit is set, otherwise at the second.
    Branch(ScheduleOperand, u32, u32),
    /// Runs a loop on the device.
    Launch(KernelLaunch),
    /// Ends the region.
    End,
}

/// A launch of one of the loops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelLaunch {
    /// Index of the plan's phase.
    pub phase: u32,
    /// The first iteration's number.
    pub first: ScheduleOperand,
    /// The last iteration's number.
    pub last: ScheduleOperand,
    /// Width of both, in bits.
    pub bits: u32,
    /// True if both are unsigned.
    pub unsigned: bool,
    /// Kernel arguments after the words of the plan's roots.
    pub words: Vec<ScheduleOperand>,
    /// Indices of the words that are addresses of the program's memory.
    pub addresses: Vec<u32>,
}

impl KernelLaunch {
    /// Returns the number of iterations.
    pub fn trips(&self, first: u64, last: u64) -> u64 {
        let away = 64 - self.bits;
        let (first, last) = (first << away, last << away);
        let none = match self.unsigned {
            true => last < first,
            false => (last as i64) < first as i64,
        };
        match none {
            true => 0,
            false => (last.wrapping_sub(first) >> away).saturating_add(1),
        }
    }
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

impl FloatOperation {
    /// Computes the operation on numbers of the given width; `None` if operands are missing.
    pub fn apply(self, bits: u32, values: &[u64]) -> Option<u64> {
        let v = |i: usize| values.get(i).copied();
        if let FloatOperation::Compare(wanted) = self {
            let (a, b) = match bits {
                32 => (single(v(0)?).into(), single(v(1)?).into()),
                _ => (f64::from_bits(v(0)?), f64::from_bits(v(1)?)),
            };
            let found = match a.partial_cmp(&b) {
                Some(std::cmp::Ordering::Equal) => 1,
                Some(std::cmp::Ordering::Greater) => 2,
                Some(std::cmp::Ordering::Less) => 4,
                None => 8,
            };
            return Some((wanted & found != 0).into());
        }
        macro_rules! of {
            ($of:ty, $get:expr) => {{
                let get: fn(u64) -> $of = $get;
                let a = get(v(0)?);
                let b = || v(1).map(get);
                let result: $of = match self {
                    FloatOperation::Add => a + b()?,
                    FloatOperation::Sub => a - b()?,
                    FloatOperation::Mul => a * b()?,
                    FloatOperation::Div => a / b()?,
                    FloatOperation::Rem => a % b()?,
                    FloatOperation::Negate => -a,
                    FloatOperation::Absolute => a.abs(),
                    FloatOperation::SquareRoot => a.sqrt(),
                    FloatOperation::Fused => a.mul_add(b()?, get(v(2)?)),
                    FloatOperation::Least => a.min(b()?),
                    FloatOperation::Most => a.max(b()?),
                    FloatOperation::Floor => a.floor(),
                    FloatOperation::Ceiling => a.ceil(),
                    FloatOperation::Truncate => a.trunc(),
                    FloatOperation::Exponential => a.exp(),
                    FloatOperation::Logarithm => a.ln(),
                    FloatOperation::Sine => a.sin(),
                    FloatOperation::Cosine => a.cos(),
                    FloatOperation::Power => a.powf(b()?),
                    FloatOperation::Compare(_) => return None,
                };
                u64::from(result.to_bits())
            }};
        }
        Some(match bits {
            32 => of!(f32, single),
            _ => of!(f64, f64::from_bits),
        })
    }
}

impl Conversion {
    /// Converts a number between the given widths in bits.
    pub fn apply(self, (from, to): (u32, u32), value: u64) -> u64 {
        let away = 64 - from.clamp(1, 64);
        let real = || match from {
            32 => f64::from(single(value)),
            _ => f64::from_bits(value),
        };
        let made = |wide: f64, narrow: f32| match to {
            32 => u64::from(narrow.to_bits()),
            _ => wide.to_bits(),
        };
        match self {
            Conversion::SignedToReal => {
                let number = (value << away) as i64 >> away;
                made(number as f64, number as f32)
            }
            Conversion::UnsignedToReal => {
                let number = value << away >> away;
                made(number as f64, number as f32)
            }
            Conversion::RealToSigned => real() as i64 as u64,
            Conversion::RealToUnsigned => real() as u64,
            Conversion::RealToReal => made(real(), real() as f32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_compute_in_their_types() {
        let f = |v: f32| u64::from(v.to_bits());
        assert_eq!(
            FloatOperation::Add.apply(32, &[f(1.5), f(2.0)]),
            Some(f(3.5))
        );
        let (a, b) = (2f64.to_bits(), f64::NAN.to_bits());
        assert_eq!(
            FloatOperation::Compare(2).apply(64, &[a, 1f64.to_bits()]),
            Some(1)
        );
        assert_eq!(FloatOperation::Compare(7).apply(64, &[a, b]), Some(0));
        assert_eq!(FloatOperation::Compare(8).apply(64, &[a, b]), Some(1));
        let narrow = Conversion::RealToReal.apply((64, 32), 0.1f64.to_bits());
        assert_eq!(narrow, f(0.1));
        let less = Conversion::SignedToReal.apply((32, 64), 0xffff_ffff);
        assert_eq!(f64::from_bits(less), -1.0);
    }

    #[test]
    fn launches_count_iterations_in_their_types() {
        let mut run = KernelLaunch {
            phase: 0,
            first: ScheduleOperand::Constant(0),
            last: ScheduleOperand::Constant(0),
            bits: 32,
            unsigned: false,
            words: Vec::new(),
            addresses: Vec::new(),
        };
        assert_eq!(run.trips(0, 9), 10);
        assert_eq!(run.trips(0, 0xffff_ffff), 0);
        assert_eq!(run.trips(0xffff_fffe, 1), 4);
        run.unsigned = true;
        assert_eq!(run.trips(0, 0xffff_ffff), 1 << 32);
    }
}
