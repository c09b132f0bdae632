//! Bounds of a region's loop, as expressions over its arguments that the host can evaluate.
//!
//! `ompvm-auto-offload` evaluates them before a launch: the trip count determines the grid and
//! the expected cost of a trial. A bound that the region computes in another way, or that is deeper
//! than [`DEPTH`], is unknown; the kernel still runs.

use super::runtime_calls::PREFIX;
use super::{Origin, Passing, Root, callee_name, loops};
use crate::handles::{Function, Instruction, IntPredicate, Module, Opcode, Value};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// A number computed from the words that a kernel gets. Bits beyond its type's width are
/// unspecified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expression {
    /// A constant.
    Constant(i64),
    /// Bytes of a root's copy, or of its word.
    Word {
        /// Index of the root.
        root: u32,
        /// Offsets of the pointers on the way.
        path: Vec<u32>,
        /// Byte offset.
        offset: u32,
        /// Number of bytes.
        bytes: u32,
    },
    /// An operation on numbers of the given width in bits.
    Operation(IntOperation, u32, Vec<Expression>),
}

/// Reads bytes of a root: its index, the offsets of the pointers on the way, offset, number of
/// bytes.
pub type RootReader<'a> = dyn Fn(u32, &[u32], u32, u32) -> Option<u64> + 'a;

/// An integer operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are named as in the language")]
pub enum IntOperation {
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
    Xor,
    SMin,
    SMax,
    UMin,
    UMax,
    SignExtend,
    ZeroExtend,
    Truncate,
    Select,
    Equal,
    Unequal,
    SLess,
    SLessEqual,
    ULess,
    ULessEqual,
    SGreater,
    SGreaterEqual,
    UGreater,
    UGreaterEqual,
}

/// Largest depth of an expression.
const DEPTH: u32 = 24;

/// Returns the numbers of the first and the last iteration of the loop that a call begins.
pub(super) fn bounds<'m>(
    roots: &[Root],
    function: Function<'m>,
    module: Module<'m>,
    begin: Instruction<'m>,
) -> Option<(Expression, Expression)> {
    let reading = BoundReader {
        module,
        function,
        roots,
    };
    let name = callee_name(begin)?;
    let entry = name.strip_prefix(PREFIX)?;
    if entry.starts_with("fetch_") {
        let lower = reading.value(begin.operand(1), 0)?;
        return Some((lower, reading.value(begin.operand(2), 0)?));
    }
    let lower = reading.stored(begin, begin.operand(2))?;
    Some((lower, reading.stored(begin, begin.operand(3))?))
}

/// Returns the bounds of each loop that a region executes once, by loop number.
pub(super) fn once<'m>(
    roots: &[Root],
    function: Function<'m>,
    module: Module<'m>,
) -> HashMap<u32, (Expression, Expression)> {
    let found = loops::find(function).unwrap_or_default();
    let known = found
        .iter()
        .filter_map(|at| Some((at.number, bounds(roots, function, module, at.begin)?)));
    known.collect()
}

struct BoundReader<'a, 'm> {
    module: Module<'m>,
    function: Function<'m>,
    roots: &'a [Root],
}

impl<'m> BoundReader<'_, 'm> {
    /// Returns the value stored to a variable before a call in its block.
    fn stored(&self, call: Instruction<'m>, variable: Value<'m>) -> Option<Expression> {
        let store = call
            .preceding()
            .filter_map(|i| i.as_store())
            .find(|s| s.pointer() == variable)?;
        self.value(store.value(), 0)
    }

    fn value(&self, value: Value<'m>, depth: u32) -> Option<Expression> {
        use Opcode::*;
        if depth > DEPTH {
            return None;
        }
        if let Some(number) = value.signed() {
            return Some(Expression::Constant(number));
        }
        let bits = value.of().int_width().filter(|&bits| bits <= 64)?;
        if value.is_argument() {
            let origin = super::accesses::origin(self.function, value)?;
            return self.word(&origin, Vec::new(), 0, 8, true);
        }
        let instruction = value.as_instruction()?;
        let made = |operation, count: usize| {
            let parts = instruction.operands().take(count);
            let parts: Option<Vec<_>> = parts.map(|p| self.value(p, depth + 1)).collect();
            Some(Expression::Operation(operation, bits, parts?))
        };
        let narrow = |operation| {
            let from = instruction.operand(0);
            let part = self.value(from, depth + 1)?;
            let bits = from.of().int_width()?;
            Some(Expression::Operation(operation, bits, vec![part]))
        };
        match instruction.opcode() {
            LLVMAdd => made(IntOperation::Add, 2),
            LLVMSub => made(IntOperation::Sub, 2),
            LLVMMul => made(IntOperation::Mul, 2),
            LLVMSDiv => made(IntOperation::SDiv, 2),
            LLVMUDiv => made(IntOperation::UDiv, 2),
            LLVMShl => made(IntOperation::Shl, 2),
            LLVMLShr => made(IntOperation::LShr, 2),
            LLVMAShr => made(IntOperation::AShr, 2),
            LLVMAnd => made(IntOperation::And, 2),
            LLVMOr => made(IntOperation::Or, 2),
            LLVMXor => made(IntOperation::Xor, 2),
            LLVMSelect => made(IntOperation::Select, 3),
            LLVMSExt => narrow(IntOperation::SignExtend),
            LLVMZExt => narrow(IntOperation::ZeroExtend),
            LLVMTrunc => narrow(IntOperation::Truncate),
            // The host has both addresses of a difference.
            LLVMPtrToInt => self.loaded(instruction.operand(0), 8),
            LLVMFreeze => self.value(instruction.operand(0), depth + 1),
            LLVMICmp => self.comparison(instruction, depth),
            LLVMCall => {
                let name = callee_name(instruction)?;
                let operation = match name.strip_prefix("llvm.")?.split('.').next()? {
                    "smin" => IntOperation::SMin,
                    "smax" => IntOperation::SMax,
                    "umin" => IntOperation::UMin,
                    "umax" => IntOperation::UMax,
                    _ => return None,
                };
                made(operation, 2)
            }
            LLVMLoad => self.loaded(value, bits.div_ceil(8)),
            _ => None,
        }
    }

    /// Returns bytes that a load reads.
    fn loaded(&self, value: Value<'m>, bytes: u32) -> Option<Expression> {
        let address = value.as_load()?.pointer();
        let (origin, path, offset) = super::accesses::path(self.module, self.function, address)?;
        self.word(&origin, path, offset, bytes, false)
    }

    fn comparison(&self, at: Instruction<'m>, depth: u32) -> Option<Expression> {
        let bits = at.operand(0).of().int_width()?;
        let a = self.value(at.operand(0), depth + 1)?;
        let b = self.value(at.operand(1), depth + 1)?;
        let operation = IntOperation::from(at.int_predicate()?);
        Some(Expression::Operation(operation, bits, vec![a, b]))
    }

    /// Returns bytes of a root that is passed as words, or with `own` of an argument itself.
    fn word(
        &self,
        origin: &Origin,
        path: Vec<u32>,
        offset: u32,
        bytes: u32,
        own: bool,
    ) -> Option<Expression> {
        let root = self.roots.iter().position(|r| r.origin == *origin)?;
        let mut passing = &self.roots[root].passing;
        for step in &path {
            let Passing::Copy { pointers, .. } = passing else {
                return None;
            };
            passing = &pointers.iter().find(|(at, _)| at == step)?.1;
        }
        let fits = match passing {
            Passing::Value => own,
            Passing::Copy { size, .. } => !own && offset + bytes <= *size,
            Passing::Object(_) => false,
        };
        fits.then_some(Expression::Word {
            root: root as u32,
            path,
            offset,
            bytes,
        })
    }
}

impl Expression {
    /// Evaluates the expression; `word` reads bytes of a root.
    pub fn evaluate(&self, word: &RootReader<'_>) -> Option<i64> {
        match self {
            Expression::Constant(number) => Some(*number),
            Expression::Word {
                root,
                path,
                offset,
                bytes,
            } => {
                let raw = word(*root, path, *offset, *bytes)?;
                Some(signed(raw as i64, 8 * bytes))
            }
            Expression::Operation(operation, bits, parts) => {
                let values: Option<Vec<i64>> = parts.iter().map(|p| p.evaluate(word)).collect();
                operation.apply(*bits, &values?)
            }
        }
    }
}

impl From<IntPredicate> for IntOperation {
    fn from(predicate: IntPredicate) -> Self {
        use IntPredicate::*;
        match predicate {
            LLVMIntEQ => IntOperation::Equal,
            LLVMIntNE => IntOperation::Unequal,
            LLVMIntSLT => IntOperation::SLess,
            LLVMIntSLE => IntOperation::SLessEqual,
            LLVMIntSGT => IntOperation::SGreater,
            LLVMIntSGE => IntOperation::SGreaterEqual,
            LLVMIntULT => IntOperation::ULess,
            LLVMIntULE => IntOperation::ULessEqual,
            LLVMIntUGT => IntOperation::UGreater,
            LLVMIntUGE => IntOperation::UGreaterEqual,
        }
    }
}

fn signed(value: i64, bits: u32) -> i64 {
    let away = 64 - bits.clamp(1, 64);
    value << away >> away
}

fn unsigned(value: i64, bits: u32) -> u64 {
    let away = 64 - bits.clamp(1, 64);
    (value as u64) << away >> away
}

impl IntOperation {
    /// Computes the operation on numbers of the given width in bits; `None` if it is undefined.
    pub fn apply(self, bits: u32, values: &[i64]) -> Option<i64> {
        use IntOperation::*;
        let s = |i: usize| values.get(i).map(|&v| signed(v, bits));
        let u = |i: usize| values.get(i).map(|&v| unsigned(v, bits));
        let result = match self {
            Add => s(0)?.wrapping_add(s(1)?),
            Sub => s(0)?.wrapping_sub(s(1)?),
            Mul => s(0)?.wrapping_mul(s(1)?),
            SDiv => s(0)?.checked_div(s(1)?)?,
            UDiv => u(0)?.checked_div(u(1)?)? as i64,
            SRem => s(0)?.checked_rem(s(1)?)?,
            URem => u(0)?.checked_rem(u(1)?)? as i64,
            Shl => s(0)?.checked_shl(u32::try_from(u(1)?).ok()?)?,
            LShr => u(0)?.checked_shr(u32::try_from(u(1)?).ok()?)? as i64,
            AShr => s(0)?.checked_shr(u32::try_from(u(1)?).ok()?)?,
            And => s(0)? & s(1)?,
            Or => s(0)? | s(1)?,
            Xor => s(0)? ^ s(1)?,
            SMin => s(0)?.min(s(1)?),
            SMax => s(0)?.max(s(1)?),
            UMin => u(0)?.min(u(1)?) as i64,
            UMax => u(0)?.max(u(1)?) as i64,
            // The width is that of the operand.
            SignExtend => return s(0),
            ZeroExtend => return u(0).map(|v| v as i64),
            Truncate => return s(0),
            Select => {
                let chosen = if values.first()? & 1 != 0 { 1 } else { 2 };
                return values.get(chosen).copied();
            }
            Equal => return Some((u(0)? == u(1)?).into()),
            Unequal => return Some((u(0)? != u(1)?).into()),
            SLess => return Some((s(0)? < s(1)?).into()),
            SLessEqual => return Some((s(0)? <= s(1)?).into()),
            ULess => return Some((u(0)? < u(1)?).into()),
            ULessEqual => return Some((u(0)? <= u(1)?).into()),
            SGreater => return Some((s(0)? > s(1)?).into()),
            SGreaterEqual => return Some((s(0)? >= s(1)?).into()),
            UGreater => return Some((u(0)? > u(1)?).into()),
            UGreaterEqual => return Some((u(0)? >= u(1)?).into()),
        };
        Some(signed(result, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loop_bounds_are_evaluated_in_their_types() {
        let word = |root: u32, _: &[u32], _: u32, _: u32| Some([0xffff_fff0u64, 5][root as usize]);
        let load = |root| Expression::Word {
            root,
            path: Vec::new(),
            offset: 0,
            bytes: 4,
        };
        let of = |operation, parts| Expression::Operation(operation, 32, parts);
        let sum = of(IntOperation::Add, vec![load(0), load(1)]);
        assert_eq!(sum.evaluate(&word), Some(-11));
        let wide = of(IntOperation::ZeroExtend, vec![sum.clone()]);
        assert_eq!(wide.evaluate(&word), Some(0xffff_fff5));
        let least = of(IntOperation::UMin, vec![sum.clone(), load(1)]);
        assert_eq!(least.evaluate(&word), Some(5));
        let none = of(IntOperation::SDiv, vec![sum, Expression::Constant(0)]);
        assert_eq!(none.evaluate(&word), None);
    }
}
