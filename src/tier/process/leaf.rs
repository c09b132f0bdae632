//! Finds leaf functions: those that run no native function, and so can neither leave the program,
//! nor throw, nor change the modes of the floating-point unit.
//!
//! Calls of them save less, see "Cost of a call" in `docs/src/embedding.md`. The search follows
//! direct calls within the program. Calls through pointers and inline assembly may do anything.

use super::Process;
use ompvm_ir::{Callee, FuncId, GlobalRef, Inst, Linkage, Module, Op};

/// State that a call of the program saves for the case that it does not return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// Everything.
    Any,
    /// Nothing that a leaf function leaves alone.
    Leaf,
}

impl Process {
    /// Returns the kind of a call of a function.
    pub fn call_kind(&self, function: FuncId) -> CallKind {
        let limited = self.interrupts.is_some() || self.image.fuel.is_limited();
        let plain = !self.native && self.stack == 0 && !limited;
        match plain && is_leaf(&self.image.module, function) {
            true => CallKind::Leaf,
            false => CallKind::Any,
        }
    }
}

/// Most functions that the search looks at, which bounds the time of a look-up.
const MOST: usize = 32;

/// Returns true if a function and everything that it calls run no native function.
fn is_leaf(module: &Module, function: FuncId) -> bool {
    let mut reached = vec![function];
    let mut next = 0;
    while let Some(&id) = reached.get(next) {
        next += 1;
        let function = &module.functions[id];
        let Some(body) = &function.body else {
            return false;
        };
        if function.linkage == Linkage::AvailableExternally || reached.len() > MOST {
            return false;
        }
        for inst in &body.insts {
            match called(inst) {
                Called::Nothing => {}
                Called::Function(id) if module.functions[id].name.starts_with("llvm.") => {
                    if !is_computation(&module.functions[id].name) {
                        return false;
                    }
                }
                Called::Function(id) if reached.contains(&id) => {}
                Called::Function(id) => reached.push(id),
                Called::Unknown => return false,
            }
        }
    }
    true
}

/// The target of an instruction that may be a call.
enum Called {
    Nothing,
    Function(FuncId),
    Unknown,
}

fn called(inst: &Inst) -> Called {
    match &inst.op {
        Op::Call(call) | Op::Invoke { call, .. } => match call.callee {
            Callee::Symbol(GlobalRef::Func(id)) => Called::Function(id),
            _ => Called::Unknown,
        },
        Op::CallBr { .. } | Op::Unsupported(_) => Called::Unknown,
        _ => Called::Nothing,
    }
}

/// Returns true for intrinsics that only compute or move memory.
fn is_computation(name: &str) -> bool {
    let name = name.strip_prefix("llvm.").unwrap_or(name);
    let base = name.split('.').next().unwrap_or(name);
    matches!(
        base,
        "abs"
            | "assume"
            | "bitreverse"
            | "bswap"
            | "ceil"
            | "copysign"
            | "ctlz"
            | "ctpop"
            | "cttz"
            | "dbg"
            | "donothing"
            | "expect"
            | "fabs"
            | "floor"
            | "fma"
            | "fmuladd"
            | "fshl"
            | "fshr"
            | "lifetime"
            | "maximum"
            | "maxnum"
            | "memcpy"
            | "memmove"
            | "memset"
            | "minimum"
            | "minnum"
            | "prefetch"
            | "rint"
            | "round"
            | "roundeven"
            | "sadd"
            | "sideeffect"
            | "smax"
            | "smin"
            | "smul"
            | "sqrt"
            | "ssub"
            | "trunc"
            | "uadd"
            | "umax"
            | "umin"
            | "umul"
            | "usub"
    ) || name.starts_with("vector.reduce.")
        || name.starts_with("experimental.noalias.scope.decl")
}
