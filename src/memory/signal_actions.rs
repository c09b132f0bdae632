//! The C library's functions that install signal handlers, for the guest and for native libraries.
//!
//! Each first passes a handler that is a guest function to a hook, which prepares what the handler
//! may need. After that the C library's function does the work. A handler that is installed again
//! costs one comparison of addresses and one load. The handler of [`super::dump`], which natively does
//! not exist, is returned as the default action.

use super::dump;
use super::func::{self, FuncRef};
use super::hooks::HOOKS;
use libc::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// Prepares a guest function that becomes a signal handler. May be called in a signal handler.
pub type HandlerHook = fn(&'static FuncRef);

/// Registers the hook that prepares handlers.
pub fn set_handler_hook(hook: HandlerHook) {
    HOOKS.handler.set(hook);
}

/// The signals for which a guest function has become a handler.
static GUEST_HANDLERS: AtomicU64 = AtomicU64::new(0);

/// The signals that an instruction raises.
const FAULTS: u64 = bit(libc::SIGSEGV)
    | bit(libc::SIGBUS)
    | bit(libc::SIGFPE)
    | bit(libc::SIGILL)
    | bit(libc::SIGTRAP);

/// Returns the bit of a signal; any bit for a number that is none.
const fn bit(signal: c_int) -> u64 {
    1 << (signal.wrapping_sub(1).cast_unsigned() & 63)
}

/// Returns true if a guest function may run as a signal handler, in the middle of any code.
#[inline]
pub fn guest_handles_signals() -> bool {
    GUEST_HANDLERS.load(Ordering::Relaxed) != 0
}

/// Returns true if a guest function may run as the handler of a fault.
#[inline]
pub fn guest_handles_faults() -> bool {
    GUEST_HANDLERS.load(Ordering::Relaxed) & FAULTS != 0
}

/// Prepares the function at an address that becomes a handler, if it is the guest's, once.
fn prepare(signal: c_int, handler: usize) {
    let Some(func) = func::from_address(handler) else {
        return;
    };
    GUEST_HANDLERS.fetch_or(bit(signal), Ordering::Relaxed);
    if !func.handles_signals.swap(true, Ordering::Relaxed)
        && let Some(hook) = HOOKS.handler.get()
    {
        hook(func);
    }
}

/// Implements `sigaction`.
///
/// # Safety
/// The contract of the C function.
pub unsafe extern "C" fn sigaction(
    number: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the pointers are null or valid by the C function's contract.
    unsafe {
        if let Some(new) = new.as_ref() {
            prepare(number, new.sa_sigaction);
        }
        let result = libc::sigaction(number, new, old);
        if result == 0
            && let Some(old) = old.as_mut()
            && old.sa_sigaction == dump::handler()
        {
            *old = std::mem::zeroed();
        }
        result
    }
}

/// The C library's functions under names of this module.
mod c {
    use libc::c_int;
    // SAFETY: these are the C library's declarations; a handler is passed as its address.
    unsafe extern "C" {
        pub fn signal(number: c_int, handler: usize) -> usize;
        pub fn ssignal(number: c_int, handler: usize) -> usize;
        pub fn bsd_signal(number: c_int, handler: usize) -> usize;
        pub fn sysv_signal(number: c_int, handler: usize) -> usize;
        pub fn __sysv_signal(number: c_int, handler: usize) -> usize;
        pub fn sigset(number: c_int, disposition: usize) -> usize;
    }
}

macro_rules! signal_functions {
    ($($name:ident)*) => {
        $(
            /// Implements the C function of this name.
            ///
            /// # Safety
            /// The contract of the C function.
            pub unsafe extern "C" fn $name(number: c_int, handler: usize) -> usize {
                prepare(number, handler);
                // SAFETY: passes the caller's call on.
                match unsafe { c::$name(number, handler) } {
                    old if old == dump::handler() => libc::SIG_DFL,
                    old => old,
                }
            }
        )*

        /// The C library's names of the functions of this module.
        pub const NAMES: &[&str] = &["sigaction", "__sigaction", $(stringify!($name)),*];

        /// Returns the function of this module for a name of the C library.
        pub fn address(name: &str) -> Option<usize> {
            Some(match name {
                "sigaction" | "__sigaction" => sigaction as *const () as usize,
                $(stringify!($name) => $name as *const () as usize,)*
                _ => return None,
            })
        }
    };
}
signal_functions! { signal ssignal bsd_signal sysv_signal __sysv_signal sigset }
