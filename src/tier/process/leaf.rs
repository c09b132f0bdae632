//! Calls with arguments in registers, and those of leaf functions among them: functions that run no
//! native function, and so can neither leave the program, nor throw, nor change the modes of the
//! floating-point unit.
//!
//! Calls of leaf functions save less, see "Cost of a call" in `docs/src/embedding.md`. The search
//! for them follows direct calls within the program. Calls through pointers and inline assembly may
//! do anything.

use super::Process;
use super::calls::{End, exit_in_call, outcome};
use ompvm_ir::{Callee, FuncId, GlobalRef, Inst, Linkage, Module, Op};
use ompvm_memory::activation::{self, ArgumentRegisters, Exit, RawTrap, RegisterFunction};
use ompvm_memory::{signal_actions, thread};
use ompvm_support::error::Error;
use std::ptr;

/// A function of the program that takes its arguments in registers, ready to be called.
#[derive(Clone, Copy, Debug)]
pub struct RegisterCall {
    /// The function.
    pub function: RegisterFunction,
    /// True if a call saves nothing that a leaf function leaves alone; see [`Process::is_leaf`].
    pub is_leaf: bool,
}

impl Process {
    /// Returns true if a function is a leaf function of which calls need no limit.
    pub fn is_leaf(&self, function: FuncId) -> bool {
        let limited = self.interrupts.is_some() || self.image.fuel.is_limited();
        let plain = !self.native && self.stack == 0 && !limited;
        plain && is_leaf(&self.image.module, function)
    }

    /// Calls a function with arguments in registers and returns its result, of which only the bits
    /// of its type are defined.
    ///
    /// # Errors
    /// Fails if the guest, in the embedded mode, faults or exits.
    ///
    /// # Safety
    /// The call is that of a function of this program; the registers are set as it expects.
    #[inline]
    pub unsafe fn call_registers(
        &self,
        call: &RegisterCall,
        registers: &ArgumentRegisters,
    ) -> Result<u64, Error> {
        let state = thread::current_or_null();
        // A handler of the guest may run in the middle of the call, and call anything.
        if !call.is_leaf || state.is_null() || signal_actions::guest_handles_signals() {
            // SAFETY: this function's contract is the callee's.
            return unsafe { self.call_any(call, registers) };
        }
        // SAFETY: the state is this thread's, and the rest is this function's contract.
        match unsafe { activation::call_leaf(state, &call.function, registers) } {
            Ok(result) => Ok(result),
            // SAFETY: the activation is popped.
            Err((exit, trap)) => Err(unsafe { end_of_leaf(exit, trap) }),
        }
    }

    /// Calls any function as [`Self::call_registers`] does.
    ///
    /// # Safety
    /// The contract of [`Self::call_registers`].
    #[inline]
    unsafe fn call_any(
        &self,
        call: &RegisterCall,
        registers: &ArgumentRegisters,
    ) -> Result<u64, Error> {
        let (registers, function) = (ptr::from_ref(registers), ptr::from_ref(&call.function));
        // SAFETY: the entry takes these addresses; the rest is this function's contract.
        let end = unsafe {
            let registers = registers.cast_mut().cast();
            self.run(activation::call_registers, registers, function.addr())?
        };
        match end {
            End::Returned(result) => Ok(result as u64),
            End::Exited(status) => Err(exit_in_call(status)),
        }
    }
}

/// Returns the error for the end of a leaf function that did not return.
///
/// # Safety
/// The activation of the call is popped.
#[cold]
#[inline(never)]
unsafe fn end_of_leaf(exit: Exit, mut trap: Option<RawTrap>) -> Error {
    // SAFETY: this function's contract is the callee's.
    match unsafe { outcome(exit, &mut trap) } {
        Err(error) => error,
        Ok(End::Exited(status)) => exit_in_call(status),
        Ok(End::Returned(_)) => ompvm_support::bug!("a call that returned has no error"),
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
