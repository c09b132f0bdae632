//! Sections of ompvm's work that signal handlers may need at any point: the preparation of a
//! function at its first call, a thread's first use of its state or its thread_locals.
//!
//! Natively none of this exists: a program's functions and thread_locals are ready before a handler
//! runs. Here a handler may call a function that is not lowered yet, after the signal has
//! interrupted the C library's allocator, or ompvm itself, on the same thread. A [`SignalSafe`]
//! section therefore
//! - blocks the thread's signals, so no handler runs while the thread holds a lock of ompvm, and
//! - allocates from [`signal_heap`], so it does not enter the C library's allocator.
//!
//! Locks that are taken in a section must be taken in sections, or at least with signals blocked,
//! everywhere on threads that run guest code.
//!
//! The start of a thread allocates in the C library, also within a section: LLVM prepares a rare
//! instruction on a thread of its own ([`super::internal_thread`]).

use super::thread::LOCALS;
use ompvm_support::signal_heap;
use std::mem::MaybeUninit;
use std::ptr;

/// Signals that a fault raises on the faulting thread.
const FAULTS: [libc::c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGTRAP,
];

/// Signals by which a user ends a process.
const TERMINATION: [libc::c_int; 4] = [libc::SIGTERM, libc::SIGINT, libc::SIGQUIT, libc::SIGHUP];

/// Blocks all signals but faults on this thread while it lives. Threads created meanwhile inherit
/// the mask.
pub struct SignalsBlocked {
    /// The mask that the thread had.
    before: libc::sigset_t,
}

impl SignalsBlocked {
    /// Blocks the signals.
    #[must_use]
    pub fn new() -> SignalsBlocked {
        // SAFETY: sets on this thread's stack, filled before they are read.
        unsafe {
            let (mut set, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            libc::sigfillset(set.as_mut_ptr());
            for signal in FAULTS {
                libc::sigdelset(set.as_mut_ptr(), signal);
            }
            libc::sigemptyset(before.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr());
            SignalsBlocked {
                before: before.assume_init(),
            }
        }
    }

    /// Returns a value for a thread that inherited its creator's blocked signals: dropped, it sets
    /// the mask that the creator had before.
    pub(super) fn inherited(before: libc::sigset_t) -> SignalsBlocked {
        SignalsBlocked { before }
    }

    /// Returns the mask that the thread had.
    pub(super) fn before(&self) -> libc::sigset_t {
        self.before
    }

    /// Keeps the signals blocked until the thread ends.
    pub(super) fn until_thread_end(self) {
        std::mem::forget(self);
    }
}

impl Default for SignalsBlocked {
    fn default() -> Self {
        SignalsBlocked::new()
    }
}

impl std::fmt::Debug for SignalsBlocked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignalsBlocked")
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        // SAFETY: reads a live set.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut())
        };
    }
}

/// A section of the calling thread; sections nest.
#[derive(Debug)]
pub struct SignalSafe {
    // Dropped in this order: a handler may run once the signals are unblocked.
    _heap: signal_heap::Section,
    _outermost: Option<Outermost>,
}

/// The outermost section of a thread.
#[derive(Debug)]
struct Outermost {
    _signals: SignalsBlocked,
}

impl Drop for Outermost {
    fn drop(&mut self) {
        LOCALS.with(|l| l.signals_before_section.set(None));
    }
}

impl SignalSafe {
    /// Begins a section.
    #[must_use]
    pub fn enter() -> SignalSafe {
        let inside = LOCALS.with(|l| l.signals_before_section.get().is_some());
        let outermost = (!inside).then(|| {
            let signals = SignalsBlocked::new();
            LOCALS.with(|l| l.signals_before_section.set(Some(signals.before())));
            Outermost { _signals: signals }
        });
        SignalSafe {
            _heap: signal_heap::Section::begin(),
            _outermost: outermost,
        }
    }
}

/// Lets a user end the process while the section that the calling thread is in takes long. Unblocks
/// those signals whose action is the default one: a handler of the program has to wait, as it may
/// need what the section prepares. Does nothing outside of sections.
pub fn permit_termination() {
    let Some(before) = LOCALS.with(|l| l.signals_before_section.get()) else {
        return;
    };
    // SAFETY: sets and actions on this thread's stack, filled before they are read.
    unsafe {
        let mut set = MaybeUninit::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        for signal in TERMINATION {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigismember(&raw const before, signal) == 0
                && libc::sigaction(signal, ptr::null(), &raw mut action) == 0
                && action.sa_sigaction == libc::SIG_DFL
            {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns which of SIGUSR1, SIGINT and SIGSEGV the thread blocks.
    fn blocked() -> [bool; 3] {
        let mut set = MaybeUninit::uninit();
        // SAFETY: reads this thread's mask.
        unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), set.as_mut_ptr());
            let set = set.assume_init();
            [libc::SIGUSR1, libc::SIGINT, libc::SIGSEGV]
                .map(|s| libc::sigismember(&raw const set, s) == 1)
        }
    }

    #[test]
    fn the_outermost_section_blocks_signals_to_its_end() {
        let before = blocked();
        let outer = SignalSafe::enter();
        assert_eq!(blocked(), [true, true, false]);
        drop(SignalSafe::enter());
        assert_eq!(blocked(), [true, true, false]);
        drop(outer);
        assert_eq!(blocked(), before);
    }

    #[test]
    fn a_user_can_end_a_process_without_handlers_in_a_long_section() {
        // A shell that runs the test in the background ignores the signal.
        // SAFETY: sets the default action of a signal that this process does not get.
        let inherited = unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        permit_termination();
        let before = blocked();
        let section = SignalSafe::enter();
        permit_termination();
        assert_eq!(blocked(), [true, false, false]);
        drop(section);
        assert_eq!(blocked(), before);
        // SAFETY: ignores a signal that this process does not get.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
        let section = SignalSafe::enter();
        permit_termination();
        assert_eq!(blocked(), [true, true, false]);
        drop(section);
        // SAFETY: restores the action.
        unsafe { libc::signal(libc::SIGINT, inherited) };
    }
}
