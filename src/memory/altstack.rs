//! The guest's view of the alternate signal stack.
//!
//! Faults are reported on a stack of ours, which every thread has installed; the guest must not
//! see it (`sigaltstack` says "disabled" at first, as natively), and may install its own. While a
//! guest's handler runs on the guest's stack, its frames lie there too: it may be there because
//! the ordinary stack is used up.
//!
//! What not: on alternate stacks too small for both kinds of frames, the interpreter's stay on
//! the thread's guest stack, in the reserve beyond its limit.

use super::activation::Activation;
use super::stack::RESERVE;
use super::thread::{self, ThreadState};
use libc::{c_int, stack_t};

/// Alternate stacks of at least this many bytes take the guest's frames.
const ENOUGH: usize = 32 << 10;

/// `sigaltstack` (POSIX) for the guest.
///
/// # Safety
/// As the C function.
pub unsafe extern "C" fn sigaltstack(new: *const stack_t, old: *mut stack_t) -> c_int {
    let state = thread::current();
    // SAFETY: this thread's state; the caller's pointers are null or valid.
    unsafe {
        let (base, len) = (*state).alternate;
        let mut now: stack_t = std::mem::zeroed();
        libc::sigaltstack(std::ptr::null(), &mut now);
        if len == 0 {
            now = std::mem::zeroed();
            now.ss_flags = libc::SS_DISABLE;
        }
        if !new.is_null() {
            let wanted = *new;
            let off = wanted.ss_flags & libc::SS_DISABLE != 0;
            if off && len != 0 && now.ss_flags & libc::SS_ONSTACK == 0 {
                thread::use_signal_stack(state);
                (*state).alternate = (0, 0);
            } else if !off || len != 0 {
                let rc = libc::sigaltstack(&wanted, std::ptr::null_mut());
                if rc != 0 {
                    return rc;
                }
                (*state).alternate = (wanted.ss_sp as usize, wanted.ss_size);
            }
        }
        debug_assert!(len == 0 || base != 0);
        if !old.is_null() {
            *old = now;
        }
        0
    }
}

/// Whether native code at `place` (an address on its stack) runs on the guest's alternate stack
/// while the guest's frames do not lie there yet; then gives `act`, just pushed, a stack of its
/// own there. True when the frames' stack is a fresh one.
///
/// # Safety
/// `state` is this thread's, `act` its innermost activation.
#[inline]
pub unsafe fn follow(state: *mut ThreadState, act: &mut Activation, place: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let (base, len) = (*state).alternate;
        place.wrapping_sub(base) < len && move_there(state, act, place)
    }
}

#[cold]
unsafe fn move_there(state: *mut ThreadState, act: &mut Activation, place: usize) -> bool {
    // SAFETY: `follow`'s caller's promise. The lower part of an alternate stack is free: native
    // frames grow down from its end, and half of what they leave is theirs.
    unsafe {
        let (base, len) = (*state).alternate;
        let fresh = ((*state).limit as usize).wrapping_sub(base) >= len;
        if fresh && len >= ENOUGH {
            (*state).sp = base.next_multiple_of(16) as *mut u8;
            (*state).limit = (base + (place - base) / 2) as *mut u8;
        } else if (*state).limit == (*state).ordinary_limit() {
            (*state).limit = (*state).limit.add(RESERVE);
        }
        act.limit = (*state).limit;
        fresh && len >= ENOUGH
    }
}
