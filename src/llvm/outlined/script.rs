//! What the host does between a region's loops: a few operations on numbers, and the launches.
//!
//! What: a [`Script`] is the region's code without its loops, for one thread, as steps over numbered words.
//! Why not machine code: between two kernels there is next to nothing to do, and what is interpreted can be
//! told at each access where the memory is, on the device or here. What not: memory and devices
//! (`offload::outlined::walk`).

use super::Operation;
use serde::{Deserialize, Serialize};

/// A region's code without its loops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The steps; the first is begun with.
    pub steps: Vec<Step>,
    /// Words that the steps compute.
    pub words: u32,
    /// Bytes of the thread's own variables.
    pub own: u32,
    /// Where in these variables are that loops add to, and their bytes: the device has them, too.
    pub shared: Vec<(u32, u32)>,
    /// The program's variables that operands are about.
    pub variables: Vec<String>,
}

/// What a step uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operand {
    /// What a step computed.
    Word(u32),
    /// A constant: the bits of a number.
    Constant(u64),
    /// An argument of the region's function, counted without the two that the runtime adds.
    Captured(u32),
    /// So far into a variable of the program.
    Variable(u32, i64),
    /// So far into the thread's own variables.
    Own(u32),
}

/// An operation on floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are named as in the language")]
pub enum Real {
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
    /// A comparison: it is true when the numbers are equal, greater, less or unordered, by the bits from
    /// the lowest on.
    Compare(u8),
}

/// From one type of numbers to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are named as in the language")]
pub enum Conversion {
    SignedToReal,
    UnsignedToReal,
    RealToSigned,
    RealToUnsigned,
    RealToReal,
}

/// One step. Words hold whole numbers, addresses, or the bits of floating-point numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Words become others, all at once.
    Move(Vec<(u32, Operand)>),
    /// A word becomes the result of an operation on whole numbers of so many bits.
    Whole(u32, Operation, u32, Vec<Operand>),
    /// The same for floating-point numbers of so many bits, 32 or 64.
    Real(u32, Real, u32, Vec<Operand>),
    /// A number of so many bits becomes one of so many.
    Convert(u32, Conversion, (u32, u32), Operand),
    /// So many bytes, at most 8, of memory at an address.
    Load(u32, Operand, u32),
    /// So many bytes of a value go to an address.
    Store(Operand, Operand, u32),
    /// Memory at an address gets a byte, so many times.
    Fill(Operand, Operand, u64),
    /// So many bytes go from the second address to the first.
    Copy(Operand, Operand, u64),
    /// Goes on at another step.
    Jump(u32),
    /// Goes on at the first when the lowest bit is set, else at the second.
    Branch(Operand, u32, u32),
    /// Runs a loop on the device.
    Launch(Run),
    /// The region ends.
    End,
}

/// A run of one of the loops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Which of the plan's phases.
    pub phase: u32,
    /// The first iteration's number.
    pub first: Operand,
    /// The last's.
    pub last: Operand,
    /// Bits of both.
    pub bits: u32,
    /// They are not signed.
    pub unsigned: bool,
    /// What the kernel gets behind the words of the plan's roots.
    pub words: Vec<Operand>,
    /// Which of these are addresses of the program's memory.
    pub addresses: Vec<u32>,
}

impl Run {
    /// How many iterations it has.
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

impl Real {
    /// The result, on numbers of so many bits; none when numbers are missing.
    pub fn apply(self, bits: u32, values: &[u64]) -> Option<u64> {
        let v = |i: usize| values.get(i).copied();
        if let Real::Compare(wanted) = self {
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
                    Real::Add => a + b()?,
                    Real::Sub => a - b()?,
                    Real::Mul => a * b()?,
                    Real::Div => a / b()?,
                    Real::Rem => a % b()?,
                    Real::Negate => -a,
                    Real::Absolute => a.abs(),
                    Real::SquareRoot => a.sqrt(),
                    Real::Fused => a.mul_add(b()?, get(v(2)?)),
                    Real::Least => a.min(b()?),
                    Real::Most => a.max(b()?),
                    Real::Floor => a.floor(),
                    Real::Ceiling => a.ceil(),
                    Real::Truncate => a.trunc(),
                    Real::Exponential => a.exp(),
                    Real::Logarithm => a.ln(),
                    Real::Sine => a.sin(),
                    Real::Cosine => a.cos(),
                    Real::Power => a.powf(b()?),
                    Real::Compare(_) => return None,
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
    /// A number of so many bits as one of so many.
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
    fn outlined_scripts_compute_in_their_types() {
        let f = |v: f32| u64::from(v.to_bits());
        assert_eq!(Real::Add.apply(32, &[f(1.5), f(2.0)]), Some(f(3.5)));
        let (a, b) = (2f64.to_bits(), f64::NAN.to_bits());
        assert_eq!(Real::Compare(2).apply(64, &[a, 1f64.to_bits()]), Some(1));
        assert_eq!(Real::Compare(7).apply(64, &[a, b]), Some(0));
        assert_eq!(Real::Compare(8).apply(64, &[a, b]), Some(1));
        let narrow = Conversion::RealToReal.apply((64, 32), 0.1f64.to_bits());
        assert_eq!(narrow, f(0.1));
        let less = Conversion::SignedToReal.apply((32, 64), 0xffff_ffff);
        assert_eq!(f64::from_bits(less), -1.0);
    }

    #[test]
    fn outlined_runs_count_iterations_in_their_types() {
        let mut run = Run {
            phase: 0,
            first: Operand::Constant(0),
            last: Operand::Constant(0),
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
