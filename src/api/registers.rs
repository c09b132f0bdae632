//! The registers in which scalars are passed to functions and returned (System V ABI, 3.2.3).
//!
//! Calls whose arguments all go in registers set them and continue in assembly; others go through a
//! call plan. Both kinds of functions, [`super::TypedFunc`] and [`super::Func`], use this.

use ompvm_ir::FuncId;
use ompvm_memory::activation::{GENERAL, RegisterFunction, RegisterUse, VECTOR};
use ompvm_tier::process::{Process, RegisterCall};
use ompvm_tier::signature::Scalar;
use ompvm_tier::value::ValueKind;

/// Hands out argument registers in the order of the arguments.
#[derive(Default)]
pub(super) struct NextRegister {
    general: usize,
    vector: usize,
}

impl NextRegister {
    /// Returns the index of the register for the next argument.
    #[inline]
    pub(super) fn take(&mut self, kind: ValueKind) -> usize {
        match is_number(kind) {
            true => {
                self.vector += 1;
                GENERAL + self.vector - 1
            }
            false => {
                self.general += 1;
                self.general - 1
            }
        }
    }

    /// Returns true if there were enough registers for what was taken.
    fn sufficed(&self) -> bool {
        self.general <= GENERAL && self.vector <= VECTOR
    }
}

fn is_number(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::F32 | ValueKind::F64)
}

/// Returns how to call a function with arguments in registers; `None` if they do not all fit, or
/// one has a special attribute.
pub(super) fn register_call(
    process: &Process,
    id: FuncId,
    kinds: &[ValueKind],
    ret: ValueKind,
) -> Option<RegisterCall> {
    let image = process.image();
    let function = &image.module.functions[id];
    let mut params = function.params.iter();
    let plain = params.all(|attributes| attributes.byval.is_none() && !attributes.nest);
    let mut next = NextRegister::default();
    for &kind in kinds {
        next.take(kind);
    }
    let fits = plain && function.params.len() == kinds.len() && next.sufficed();
    let address = image.func_ref(id)?.stub;
    (fits && cfg!(target_arch = "x86_64")).then(|| RegisterCall {
        function: RegisterFunction {
            address,
            uses: RegisterUse::new(next.general, next.vector, is_number(ret)),
        },
        is_leaf: process.is_leaf(id),
    })
}

/// The extension of the low bits of a slot to all 64, as [`Scalar::extend`] does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extension {
    /// Number of bits above those of the value.
    above: u8,
    signed: bool,
}

impl Extension {
    pub(super) fn of(scalar: Scalar) -> Extension {
        let above = match scalar.kind {
            ValueKind::Int(bits @ 1..64) => 64 - bits as u8,
            ValueKind::F32 => 32,
            _ => 0,
        };
        Extension {
            above,
            signed: scalar.signed,
        }
    }

    #[inline]
    pub(super) fn extend(self, slot: u64) -> u64 {
        let above = u32::from(self.above) & 63;
        match self.signed {
            true => ((slot << above) as i64 >> above) as u64,
            false => slot << above >> above,
        }
    }
}

/// An argument of a function whose types are known at run time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Index of its register.
    pub(super) register: u8,
    /// The extension that the function expects.
    pub(super) extension: Extension,
}

/// Returns the places of arguments.
pub(super) fn places(scalars: &[Scalar]) -> Box<[Placed]> {
    let mut next = NextRegister::default();
    let placed = scalars.iter().map(|&scalar| Placed {
        register: next.take(scalar.kind) as u8,
        extension: Extension::of(scalar),
    });
    placed.collect()
}

#[cfg(test)]
mod tests;
