//! Finds where a signal interrupted guest frames, for exceptions that its handler throws.
//!
//! Guest code keeps its position in registers and stores it in the activation only where it can
//! leave the interpreter. The kernel saved these registers for the handler, and the stack walker
//! restores them. So a position needs no work before an exception looks for it.

use super::abi;
use super::activation::Activation;
use super::backtrace;
use super::thread;
use super::walk::{self, Registers};

/// An interruption of an activation's guest frames.
#[derive(Clone, Copy, Debug)]
pub struct Interruption {
    /// The registers at the interrupted instruction.
    pub registers: Registers,
    /// The guest's stack pointer there.
    pub sp: *mut u8,
}

/// Returns the interruption of an activation's own code, if the calling thread runs the signal's
/// handler. Returns `None` if the signal interrupted native code that the activation called.
///
/// # Safety
/// The activation is one of the calling thread's on the current stack.
pub unsafe fn of(act: &Activation) -> Option<Interruption> {
    let state = thread::current_or_null();
    if state.is_null() {
        return None;
    }
    // SAFETY: the state is this thread's.
    let mut sp = unsafe { (*state).sp };
    let mut interrupted: Option<Registers> = None;
    let mut found = None;
    let wanted = std::ptr::from_ref(act) as usize;
    walk::walk(Registers::here(), |frame, _| {
        if !abi::in_enter(frame.position()) {
            if frame.is_interrupted() {
                interrupted = Some(*frame);
            } else if abi::in_call(frame.position()) {
                // The activation stored its position before the native call.
                interrupted = None;
            }
            return false;
        }
        let Some(inner) = backtrace::activation_of(frame) else {
            return true;
        };
        if inner == wanted {
            found = interrupted.map(|registers| Interruption { registers, sp });
            return true;
        }
        interrupted = None;
        // SAFETY: the walk found the frame that holds this activation, so both are alive.
        sp = unsafe { (*(inner as *const Activation)).stack_pointer_at_entry() };
        false
    });
    found
}
