//! Interrupts: lets a thread leave the guest code that it runs, as after a fault.
//!
//! A thread of the host sends [`SIGNAL`] to the thread, again and again until it has left. The
//! handler returns unless the thread has a reason to leave (a [`Request`], or its team failed) and is
//! at a place that may be left: in the guest's own code in any tier, or in a wait of the OpenMP
//! runtime for other threads. Then it jumps to the innermost activation that catches traps. In the
//! C library or in a function of the host, which may hold locks, it goes on until it comes back.
//!
//! Leaves it to the runtime to make the other threads of a team leave.

use super::activation::{self, RawTrap};
use super::hooks::HOOKS;
use super::signals;
use super::thread::{self, ThreadState};
use super::walk;
use ompvm_support::error::TrapKind;
use std::ffi::c_void;
use std::mem;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// The signal that interrupts. It is ignored where no handler is installed.
const SIGNAL: i32 = libc::SIGURG;

/// The OpenMP runtime's knowledge of the calling thread. Called in the signal handler.
#[derive(Clone, Copy, Debug)]
pub struct TeamHooks {
    /// Returns true if the thread's team, or one around it, failed.
    pub failed: fn() -> bool,
    /// Returns true if the thread is in a wait that may be left, and ends the wait's record.
    pub leave_wait: fn() -> bool,
}

/// Returns true if code that begins at an address may be left at any instruction.
pub type LeavableHook = fn(start: usize) -> bool;

/// Registers the hooks of the OpenMP runtime.
pub fn set_team_hooks(hooks: TeamHooks) {
    HOOKS.team_failed.set(hooks.failed);
    HOOKS.leave_wait.set(hooks.leave_wait);
}

/// Registers the hook that knows the code of the interpreter and the baseline tier.
pub fn set_leavable_hook(hook: LeavableHook) {
    HOOKS.leavable.set(hook);
}

/// The reason for which a thread is to leave.
#[derive(Debug, Default)]
pub struct Request(AtomicU32);

impl Request {
    /// Asks the thread to leave with this kind of trap: [`TrapKind::Cancelled`] or
    /// [`TrapKind::OutOfTime`].
    pub fn set(&self, kind: TrapKind) {
        let code = if kind == TrapKind::OutOfTime { 2 } else { 1 };
        self.0.store(code, Ordering::Release);
    }

    /// Withdraws the request.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Release);
    }

    fn kind(&self) -> Option<TrapKind> {
        match self.0.load(Ordering::Acquire) {
            0 => None,
            2 => Some(TrapKind::OutOfTime),
            _ => Some(TrapKind::Cancelled),
        }
    }
}

/// Installs the handler, once per process.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: a zeroed sigaction is valid; the handler has the SA_SIGINFO signature.
        unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = on_interrupt as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigaction(SIGNAL, &action, ptr::null_mut());
        }
    });
}

/// Interrupts a thread of this process by its number in the system.
pub fn send(thread: i32) {
    // SAFETY: the call has no preconditions; a thread that has ended makes it fail.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, SIGNAL) };
}

/// Returns the reason for which the calling thread must leave.
fn reason(state: &ThreadState) -> Option<TrapKind> {
    let failed = || HOOKS.team_failed.get().is_some_and(|failed| failed());
    // SAFETY: null, or a request that outlives the run that registered it.
    let request = unsafe { state.request.as_ref() };
    let asked = request.and_then(Request::kind);
    asked.or_else(|| failed().then_some(TrapKind::Cancelled))
}

/// Leaves the guest if there is a reason, after a function of the host that it called has returned.
/// An interrupt may have come while that function ran.
pub(super) fn leave_after_host() {
    let state = thread::current_or_null();
    if state.is_null() {
        return;
    }
    // SAFETY: the state is this thread's. The catcher is a live activation further out, and the
    // host's function has returned, so no frame holds anything.
    unsafe {
        if !(*state).catcher.is_null()
            && let Some(kind) = reason(&*state)
        {
            let trap = RawTrap::plain(kind, (*state).position());
            activation::jump_trapped((*state).catcher, trap);
        }
    }
}

extern "C" fn on_interrupt(_signal: i32, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the address of this thread's `errno`.
    let errno = unsafe { *libc::__errno_location() };
    let state = thread::current_or_null();
    if !state.is_null() {
        // SAFETY: the state is this thread's, and the kernel gives a valid context.
        unsafe { leave(state, &*context.cast()) };
    }
    // SAFETY: the address of this thread's `errno`.
    unsafe { *libc::__errno_location() = errno };
}

/// Leaves the guest code of this thread if there is a reason and the place permits it.
///
/// # Safety
/// Called in the handler; `state` is this thread's, `context` is the interrupted one.
unsafe fn leave(state: *mut ThreadState, context: &libc::ucontext_t) {
    // SAFETY: the state is this thread's by contract.
    let (act, kind) = unsafe { ((*state).catcher, reason(&*state)) };
    let Some(kind) = kind.filter(|_| !act.is_null()) else {
        return;
    };
    let registers: [usize; 16] = std::array::from_fn(|i| context.uc_mcontext.gregs[i] as usize);
    let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    let compiled = signals::is_compiled(pc);
    let below = !compiled
        && HOOKS.leavable.get().is_some_and(|leavable| {
            let start = walk::function_start(pc);
            start.is_some_and(leavable)
        });
    if !compiled && !below && !HOOKS.leave_wait.get().is_some_and(|leave| leave()) {
        return;
    }
    // SAFETY: the state is this thread's, its catcher is a live activation further out, and the
    // code that is left holds nothing that must be dropped.
    unsafe {
        let ip = match HOOKS.position.get().filter(|_| below) {
            _ if compiled => pc as *const u64,
            Some(hook) => hook(&*state, pc, &registers),
            None => ptr::null(),
        };
        let ip = if ip.is_null() {
            (*state).position()
        } else {
            ip
        };
        activation::jump_trapped_from(state, context, act, RawTrap::plain(kind, ip));
    }
}
