//! The signal mask of code that leaves a guest's signal handler without returning from it.
//!
//! The kernel blocks signals while a handler runs, and unblocks them when the handler returns. A
//! fault or an `exit` in a handler of an embedded guest leaves it by a jump to the host instead.
//! [`restore`] does the kernel's work then: it reads the mask that the handler interrupted from the
//! handler's frame.

use super::abi;
use super::activation::Activation;
use super::backtrace::activation_of;
use super::signal_actions::guest_handles_signals;
use super::walk::{self, Registers, walk};
use std::mem;
use std::ptr;

/// Signals as a set of bits: the first 64, all that Linux has.
type Mask = u64;

/// Returns the calling thread's mask.
fn current() -> Mask {
    // SAFETY: reads the mask into an initialized set, whose first word has all signals.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &mut set);
        (&raw const set).cast::<Mask>().read()
    }
}

/// Sets the calling thread's mask.
fn set(mask: Mask) {
    // SAFETY: the set is initialized, and its first word has all signals.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        (&raw mut set).cast::<Mask>().write(mask);
        libc::pthread_sigmask(libc::SIG_SETMASK, &set, ptr::null_mut());
    }
}

/// Returns the mask of the code that a signal interrupted.
fn interrupted(context: &libc::ucontext_t) -> Mask {
    // SAFETY: the first word of a set has all signals. The kernel fills no more of it.
    unsafe { (&raw const context.uc_sigmask).cast::<Mask>().read() }
}

/// Returns the mask that the outermost handler between a position and an activation interrupted;
/// `None` if no handler runs there.
fn outermost(from: Registers, act: *const Activation) -> Option<Mask> {
    let mut found = None;
    let mut reached = false;
    let mut inside = None;
    walk(from, |frame, _| {
        // The frame inside an interrupted one is the trampoline's, whose stack pointer is the
        // address of the context.
        if let Some(context) = inside.replace(frame.stack())
            && frame.is_interrupted()
        {
            found = walk::read(context + mem::offset_of!(libc::ucontext_t, uc_sigmask));
        }
        reached = abi::in_enter(frame.position()) && activation_of(frame) == Some(act.addr());
        reached
    });
    found.filter(|_| reached).map(|mask| mask as Mask)
}

/// Restores the mask for a jump to an activation. `from` is a position inside the activation,
/// and `context` that of the handler of ompvm that jumps, if one does.
pub fn restore(from: Registers, context: Option<&libc::ucontext_t>, act: *const Activation) {
    let now = current();
    let mut mask = context.map_or(now, interrupted);
    // A handler of the guest has a signal blocked, except for one that permits itself.
    if mask != 0
        && guest_handles_signals()
        && let Some(before) = outermost(from, act)
    {
        mask = before;
    }
    if mask != now {
        set(mask);
    }
}
