//! The guest's view of the alternate signal stack.
//!
//! Every thread has an alternate signal stack installed on which faults are reported. The guest
//! must not see it (`sigaltstack` says "disabled" at first, as natively), and may install its own.
//!
//! Does not place the frames of a guest's handler: they lie on the stack that the handler runs on,
//! as all frames do ([`super::activation`]).

use super::thread;
use libc::{c_int, stack_t};

/// Implements `sigaltstack` (POSIX) for the guest.
///
/// # Safety
/// The contract of the C function.
pub unsafe extern "C" fn sigaltstack(new: *const stack_t, old: *mut stack_t) -> c_int {
    let state = thread::current();
    // SAFETY: the state is this thread's; the pointers are null or valid by the C function's
    // contract.
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
