//! Calls of functions whose arguments go in registers, and activations for leaf functions among
//! them.
//!
//! A leaf function runs no native function, so it neither throws nor changes the modes of the
//! floating-point unit. Most of an empty call are writes, so such a call writes little: each thread
//! has an activation for it ([`ThreadState::leaf_activation`]) whose other fields never change, and
//! the frame does not save the modes. A fault inside takes them from the interrupted code.

use super::{Activation, Exit, RawTrap, abi, exit_of};
use crate::thread::ThreadState;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

/// Number of argument registers for integers and pointers, and for numbers (System V ABI, 3.2.3).
pub const GENERAL: usize = 6;
/// See [`GENERAL`].
pub const VECTOR: usize = 8;

/// The contents of the argument registers: those for integers and pointers, then the low halves of
/// those for numbers. A function ignores the registers that it has no argument for.
#[repr(C)]
#[derive(Debug)]
pub struct ArgumentRegisters {
    /// Two more than there are registers, so that a mask bounds the index.
    words: [MaybeUninit<u64>; 16],
}

impl ArgumentRegisters {
    /// Returns registers with undefined contents.
    #[inline]
    pub fn undefined() -> ArgumentRegisters {
        ArgumentRegisters {
            words: [MaybeUninit::uninit(); 16],
        }
    }

    /// Sets a register: [`GENERAL`] for integers and pointers, then [`VECTOR`] for numbers.
    #[inline]
    pub fn set(&mut self, index: usize, value: u64) {
        self.words[index & 15].write(value);
    }
}

/// The registers that a call uses.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterUse(u32);

impl RegisterUse {
    /// Returns the use by a function with so many arguments in registers for integers and pointers,
    /// and for numbers. `number` is true if the result is a number.
    pub fn new(general: usize, vector: usize, number: bool) -> RegisterUse {
        debug_assert!(general <= GENERAL && vector <= VECTOR);
        let result = u32::from(number) * abi::VECTOR_RESULT;
        RegisterUse(general as u32 | (vector as u32) << 4 | result)
    }
}

/// A function that takes its arguments in registers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RegisterFunction {
    /// Its address.
    pub address: usize,
    /// The registers that it uses.
    pub uses: RegisterUse,
}

/// Calls the [`RegisterFunction`] at an address with the [`ArgumentRegisters`] at another, and
/// returns its result, of which only the bits of its type are defined. Has the signature of what
/// [`call_contained`](super::call_contained) calls.
///
/// # Safety
/// Both are live, and the registers are set as the function expects.
pub unsafe extern "C-unwind" fn call_registers(registers: *mut c_void, function: usize) -> usize {
    // SAFETY: this function's contract; the assembly follows the calling convention.
    unsafe { abi::raw_registers(registers, function) }
}

/// Calls a leaf function with arguments in registers and returns its result, of
/// which only the bits of its type are defined. If an exception, a jump or a fault ends it, returns
/// that end and the fault.
///
/// # Safety
/// The registers are set as the function expects; it runs no native function; `state` is this
/// thread's.
#[inline]
pub unsafe fn call_leaf(
    state: *mut ThreadState,
    function: &RegisterFunction,
    registers: &ArgumentRegisters,
) -> Result<u64, (Exit, Option<RawTrap>)> {
    // SAFETY: the state is this thread's, so nothing else uses its activation; the rest is this
    // function's contract.
    unsafe {
        if !(*state).activation.is_null() {
            return call_inner_leaf(state, function, registers);
        }
        // No activation is live, so this one is unused, and none catches traps.
        let act = &raw mut (*state).leaf_activation;
        let (sp, limit) = ((*state).sp, (*state).limit);
        (*state).activation = act;
        (*state).catcher = act;
        let out = abi::raw_leaf(act.cast(), function.address, registers, function.uses);
        (*state).activation = ptr::null_mut();
        (*state).catcher = ptr::null_mut();
        if out.kind == 0 {
            return Ok(out.value as u64);
        }
        (*state).sp = sp;
        (*state).limit = limit;
        Err(end_of(out, act))
    }
}

/// Calls a leaf function inside another activation, as [`call_leaf`] does.
///
/// # Safety
/// The contract of [`call_leaf`].
#[cold]
#[inline(never)]
unsafe fn call_inner_leaf(
    state: *mut ThreadState,
    function: &RegisterFunction,
    registers: &ArgumentRegisters,
) -> Result<u64, (Exit, Option<RawTrap>)> {
    let mut act = Activation::for_leaf(state);
    // SAFETY: the state is this thread's, the activation outlives the call, and the rest is this
    // function's contract.
    unsafe {
        act.push(state);
        let out = abi::raw_leaf(
            (&raw mut act).cast(),
            function.address,
            registers,
            function.uses,
        );
        act.pop(state);
        match out.kind {
            0 => Ok(out.value as u64),
            _ => Err(end_of(out, &raw mut act)),
        }
    }
}

/// Returns the end of a call that did not return.
///
/// # Safety
/// `act` is the activation of the call.
#[cold]
unsafe fn end_of(out: abi::EnterResult, act: *mut Activation) -> (Exit, Option<RawTrap>) {
    // SAFETY: the contract of the callee; the activation lives.
    unsafe { (exit_of(out, act), (*act).trap.take()) }
}

impl Activation {
    /// Returns an activation for leaf functions.
    pub(crate) fn for_leaf(state: *mut ThreadState) -> Activation {
        Activation {
            state,
            catch_traps: true,
            keeps_modes: true,
            ..Activation::default()
        }
    }
}
