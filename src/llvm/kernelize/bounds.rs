//! Bounds of a region's loop, as expressions over its arguments that the host can evaluate.
//!
//! `offload::auto_offload` evaluates them before a launch: the trip count determines the grid and
//! the expected cost of a trial. A bound that the region computes in another way, or that is deeper
//! than [`DEPTH`], is unknown; the kernel still runs.

use super::runtime_calls::PREFIX;
use super::{Origin, Passing, Root, constant, loops};
use crate::nvptx::called;
use crate::raw::llvm;
use crate::reader::name_of;
use hashbrown::HashMap;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};
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
pub(super) fn bounds(
    roots: &[Root],
    function: LLVMValueRef,
    module: LLVMModuleRef,
    begin: LLVMValueRef,
) -> Option<(Expression, Expression)> {
    let reading = BoundReader {
        module,
        function,
        roots,
    };
    let operand = |index| llvm!(core::LLVMGetOperand(begin, index));
    let name = called(begin).map(name_of)?;
    let entry = name.strip_prefix(PREFIX)?;
    if entry.starts_with("fetch_") {
        let lower = reading.value(operand(1), 0)?;
        return Some((lower, reading.value(operand(2), 0)?));
    }
    let lower = reading.stored(begin, operand(2))?;
    Some((lower, reading.stored(begin, operand(3))?))
}

/// Returns the bounds of each loop that a region executes once, by loop number.
pub(super) fn once(
    roots: &[Root],
    function: LLVMValueRef,
    module: LLVMModuleRef,
) -> HashMap<u32, (Expression, Expression)> {
    let found = loops::find(function).unwrap_or_default();
    let known = found
        .iter()
        .filter_map(|at| Some((at.number, bounds(roots, function, module, at.begin)?)));
    known.collect()
}

struct BoundReader<'a> {
    module: LLVMModuleRef,
    function: LLVMValueRef,
    roots: &'a [Root],
}

impl BoundReader<'_> {
    /// Returns the value stored to a variable before a call in its block.
    fn stored(&self, call: LLVMValueRef, variable: LLVMValueRef) -> Option<Expression> {
        let mut at = llvm!(core::LLVMGetPreviousInstruction(call));
        while !at.is_null() {
            let store = !llvm!(core::LLVMIsAStoreInst(at)).is_null();
            if store && llvm!(core::LLVMGetOperand(at, 1)) == variable {
                return self.value(llvm!(core::LLVMGetOperand(at, 0)), 0);
            }
            at = llvm!(core::LLVMGetPreviousInstruction(at));
        }
        None
    }

    fn value(&self, value: LLVMValueRef, depth: u32) -> Option<Expression> {
        use LLVMOpcode::*;
        if depth > DEPTH {
            return None;
        }
        if let Some(number) = constant(value) {
            return Some(Expression::Constant(number));
        }
        let of = llvm!(core::LLVMTypeOf(value));
        if llvm!(core::LLVMGetTypeKind(of)) != LLVMTypeKind::LLVMIntegerTypeKind {
            return None;
        }
        let bits = llvm!(core::LLVMGetIntTypeWidth(of));
        if bits > 64 {
            return None;
        }
        if !llvm!(core::LLVMIsAArgument(value)).is_null() {
            let origin = super::accesses::origin(self.function, value)?;
            return self.word(&origin, Vec::new(), 0, 8, true);
        }
        if llvm!(core::LLVMIsAInstruction(value)).is_null() {
            return None;
        }
        let operand = |index| llvm!(core::LLVMGetOperand(value, index));
        let made = |operation, count: u32| {
            let parts: Option<Vec<Expression>> = (0..count)
                .map(|i| self.value(operand(i), depth + 1))
                .collect();
            Some(Expression::Operation(operation, bits, parts?))
        };
        let narrow = |operation| {
            let from = llvm!(core::LLVMTypeOf(operand(0)));
            let from = llvm!(core::LLVMGetIntTypeWidth(from));
            let part = self.value(operand(0), depth + 1)?;
            Some(Expression::Operation(operation, from, vec![part]))
        };
        match llvm!(core::LLVMGetInstructionOpcode(value)) {
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
            LLVMPtrToInt if opcode_of(operand(0)) == Some(LLVMLoad) => {
                let address = llvm!(core::LLVMGetOperand(operand(0), 0));
                let (origin, path, offset) =
                    super::accesses::path(self.module, self.function, address)?;
                self.word(&origin, path, offset, 8, false)
            }
            LLVMFreeze => self.value(operand(0), depth + 1),
            LLVMICmp => self.comparison(value, depth),
            LLVMCall => {
                let name = name_of(called(value)?);
                let operation = match name.strip_prefix("llvm.")?.split('.').next()? {
                    "smin" => IntOperation::SMin,
                    "smax" => IntOperation::SMax,
                    "umin" => IntOperation::UMin,
                    "umax" => IntOperation::UMax,
                    _ => return None,
                };
                made(operation, 2)
            }
            LLVMLoad => {
                let (origin, path, offset) =
                    super::accesses::path(self.module, self.function, operand(0))?;
                self.word(&origin, path, offset, bits.div_ceil(8), false)
            }
            _ => None,
        }
    }

    fn comparison(&self, value: LLVMValueRef, depth: u32) -> Option<Expression> {
        use LLVMIntPredicate::*;
        let operand = |index| llvm!(core::LLVMGetOperand(value, index));
        let of = llvm!(core::LLVMTypeOf(operand(0)));
        if llvm!(core::LLVMGetTypeKind(of)) != LLVMTypeKind::LLVMIntegerTypeKind {
            return None;
        }
        let bits = llvm!(core::LLVMGetIntTypeWidth(of));
        let a = self.value(operand(0), depth + 1)?;
        let b = self.value(operand(1), depth + 1)?;
        let (operation, parts) = match llvm!(core::LLVMGetICmpPredicate(value)) {
            LLVMIntEQ => (IntOperation::Equal, vec![a, b]),
            LLVMIntNE => (IntOperation::Unequal, vec![a, b]),
            LLVMIntSLT => (IntOperation::SLess, vec![a, b]),
            LLVMIntSLE => (IntOperation::SLessEqual, vec![a, b]),
            LLVMIntSGT => (IntOperation::SGreater, vec![a, b]),
            LLVMIntSGE => (IntOperation::SGreaterEqual, vec![a, b]),
            LLVMIntULT => (IntOperation::ULess, vec![a, b]),
            LLVMIntULE => (IntOperation::ULessEqual, vec![a, b]),
            LLVMIntUGT => (IntOperation::UGreater, vec![a, b]),
            LLVMIntUGE => (IntOperation::UGreaterEqual, vec![a, b]),
        };
        Some(Expression::Operation(operation, bits, parts))
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

fn opcode_of(value: LLVMValueRef) -> Option<LLVMOpcode> {
    let instruction = !llvm!(core::LLVMIsAInstruction(value)).is_null();
    instruction.then(|| llvm!(core::LLVMGetInstructionOpcode(value)))
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
