//! Runs LLVM on a thread that survives LLVM giving up.
//!
//! LLVM ends the process at input that it cannot compile (`report_fatal_error`). It may also crash,
//! run out of stack or memory, or not terminate. [`run`] gives it a coroutine of its own. If LLVM
//! gives up, the thread leaves the coroutine and never resumes it. No frame of LLVM is unwound or
//! jumped over; what LLVM held there stays allocated, once per failure. The caller gets a
//! [`Failure`] with LLVM's reason, the pass and the function.
//!
//! Processor faults arrive from `memory::signals` ([`on_fault`]), or from [`guard`] while its
//! handlers are installed in front of handlers that the program has installed. A timer of the
//! thread's processor time ends work that takes too long.
//!
//! The reaction to missing code is left to [`super::native`]. Containment does not help if LLVM has
//! corrupted memory that others use.

use super::guard;
use super::libc_locks;
use super::process::{LLVM, LOCALS, OWNED};
use super::raw::take_message;
use corosensei::stack::{Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use ompvm_support::clock::thread_time;
use ompvm_support::{fault_alloc, limits};
use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{null, null_mut};
use std::time::Duration;

/// Sizes of a coroutine's stack including its guard, in bytes: LLVM recurses deeply. Only touched
/// pages take memory. The largest that fits in the address space is used.
const STACKS: [usize; 3] = [64 << 20, 16 << 20, 4 << 20];
/// Size of the inaccessible guard at the stack's end, in bytes.
const GUARD: usize = 64 << 10;
/// The timer's signal, which neither Linux nor the C library uses otherwise.
const TIMER: c_int = libc::SIGSTKFLT;
/// Interval of the timer after its first expiry: the thread may be where it cannot be left.
const RETRY: Duration = Duration::from_millis(20);

/// Values of [`Contained::cause`] other than signal numbers.
const FATAL: c_int = -1;
const MEMORY: c_int = -2;

/// Description of how LLVM gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// One sentence without a full stop.
    pub why: String,
    /// LLVM's running passes with their functions, innermost first. May be empty.
    pub passes: String,
    /// True if another attempt may succeed, because memory was short.
    pub transient: bool,
}

unsafe extern "C" {
    fn ompvm_running_passes() -> *const c_void;
    fn ompvm_describe_passes(from: *const c_void, to: *const c_void) -> *mut c_char;
    fn ompvm_restore_passes(to: *const c_void);
    fn ompvm_handle_bad_alloc();
}

/// A stack for coroutines.
pub(crate) struct CoroutineStack {
    start: usize,
    size: usize,
}

impl CoroutineStack {
    fn new() -> Option<CoroutineStack> {
        let most = limits::reserve(STACKS[0], 16, STACKS[STACKS.len() - 1]);
        let fitting = STACKS.into_iter().filter(|&size| size <= most);
        fitting.into_iter().find_map(CoroutineStack::map)
    }

    fn map(size: usize) -> Option<CoroutineStack> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: maps fresh private memory and makes the start of that same memory inaccessible.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let start = libc::mmap(null_mut(), size, access, flags, -1, 0);
            if start == libc::MAP_FAILED {
                return None;
            }
            let area = CoroutineStack {
                start: start as usize,
                size,
            };
            (libc::mprotect(start, GUARD, libc::PROT_NONE) == 0).then_some(area)
        }
    }
}

impl Drop for CoroutineStack {
    fn drop(&mut self) {
        // SAFETY: `map` mapped the memory, and no coroutine runs on it any more.
        unsafe { libc::munmap(self.start as *mut c_void, self.size) };
    }
}

// SAFETY: the memory has this length, is aligned to pages, and begins with a guard.
unsafe impl Stack for CoroutineStack {
    fn base(&self) -> StackPointer {
        NonZeroUsize::new(self.start + self.size).unwrap_or(NonZeroUsize::MAX)
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.start).unwrap_or(NonZeroUsize::MAX)
    }
}

/// State of one run.
pub(crate) struct Contained {
    /// The yielder that leaves the coroutine; null before it begins.
    yielder: Cell<*const Yielder<(), ()>>,
    /// The reason for leaving; 0 while the coroutine runs.
    cause: Cell<c_int>,
    /// LLVM's message.
    reason: RefCell<String>,
    /// LLVM's list of running passes.
    passes: Cell<*const c_void>,
}

/// Sets the run on this thread that may be left.
fn set_current(contained: *const Contained) {
    LOCALS.with(|l| l.contained.set(contained));
}

/// Leaves this thread's coroutine for good. Async-signal-safe.
fn leave(current: &Contained, cause: c_int) -> ! {
    set_current(null());
    current.cause.set(cause);
    // SAFETY: the function only reads a variable of this thread.
    current.passes.set(unsafe { ompvm_running_passes() });
    // SAFETY: `run` set the pointer when the coroutine began on this very thread, and the coroutine
    // has not finished.
    unsafe { (*current.yielder.get()).suspend(()) };
    // Not reached: the coroutine is never resumed.
    std::process::abort()
}

/// Returns the run that may be left here.
fn current() -> Option<&'static Contained> {
    // SAFETY: `run` set the pointer to a value that outlives it: `run` resets the pointer first.
    unsafe { LOCALS.with(|l| l.contained.get()).as_ref() }
}

/// Leaves LLVM after a fatal error; returns if nothing is contained.
pub(super) fn on_fatal(reason: &str) {
    if let Some(current) = current() {
        let reason = reason.lines().next().unwrap_or_default();
        reason.clone_into(&mut current.reason.borrow_mut());
        leave(current, FATAL);
    }
}

/// Leaves LLVM after a fault on this thread; returns if nothing is contained. Async-signal-safe.
pub fn on_fault(signal: c_int) {
    if let Some(current) = current() {
        leave(current, signal);
    }
}

/// Leaves LLVM when memory runs out; returns if nothing is contained. Called by LLVM and the C++
/// library.
#[unsafe(no_mangle)]
extern "C" fn ompvm_out_of_memory() {
    if let Some(current) = current() {
        leave(current, MEMORY);
    }
}

/// Handles the timer's signal: leaves LLVM unless the thread may hold a lock of the C library, in
/// which case the next expiry tries again.
extern "C" fn on_time(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes valid pointers to a handler installed with SA_SIGINFO.
    let (code, locked) = unsafe { ((*info).si_code, libc_locks::may_hold_lock(context)) };
    if code != libc::SI_TIMER {
        // SAFETY: both calls are async-signal-safe; they restore the default action and repeat the
        // signal for it.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return;
    }
    if let Some(current) = current()
        && !locked
    {
        leave(current, signal);
    }
}

/// A timer of this thread's processor time, with its signal unblocked.
struct Timer {
    id: libc::timer_t,
    mask: libc::sigset_t,
}

impl Timer {
    fn start(limit: Duration) -> Option<Timer> {
        LLVM.timer_handler.call_once(|| {
            libc_locks::find();
            // SAFETY: all-zero is a valid `sigaction`, which is filled in before use; the handler
            // has the type that SA_SIGINFO requires.
            unsafe {
                let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction = on_time as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
                libc::sigemptyset(&mut action.sa_mask);
                libc::sigaction(TIMER, &action, null_mut());
            }
        });
        let time = |d: Duration| libc::timespec {
            tv_sec: d.as_secs() as libc::time_t,
            tv_nsec: d.subsec_nanos().into(),
        };
        // SAFETY: the structures are plain data, filled in before use; `drop` deletes the timer.
        unsafe {
            let mut event: libc::sigevent = MaybeUninit::zeroed().assume_init();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = TIMER;
            event.sigev_notify_thread_id = libc::gettid();
            let mut id = null_mut();
            if libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &mut event, &mut id) != 0 {
                return None;
            }
            let when = libc::itimerspec {
                it_interval: time(RETRY),
                it_value: time(limit.max(Duration::from_millis(1))),
            };
            libc::timer_settime(id, 0, &when, null_mut());
            let (mut set, mut mask) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), TIMER);
            libc::sigemptyset(mask.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), mask.as_mut_ptr());
            Some(Timer {
                id,
                mask: mask.assume_init(),
            })
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: the timer is this value's own. The mask is the thread's former one, and also
        // unblocks signals that an abandoned handler had blocked.
        unsafe {
            libc::timer_delete(self.id);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.mask, null_mut());
        }
    }
}

/// Runs `work` for at most `limit` of this thread's processor time.
///
/// # Errors
/// Returns the reason if LLVM gave up. Values that `work` had created by then are neither dropped
/// nor used again.
///
/// # Panics
/// Panics if `work` panics.
pub(super) fn run<T>(limit: Duration, work: impl FnOnce() -> T) -> Result<T, Failure> {
    run_with_handlers(limit, guard::install_in_front, work)
}

/// Runs work like [`run`] on a reader's thread while a program starts: a handler installed in front
/// of the program's own would intercept its first faults.
///
/// # Errors
/// Fails as [`run`] does. A crash is contained while the handlers of [`guard`] or of
/// `memory::signals` are installed.
///
/// # Panics
/// Panics if `work` panics.
pub(super) fn run_beside_start<T>(limit: Duration, work: impl FnOnce() -> T) -> Result<T, Failure> {
    run_with_handlers(limit, || None, work)
}

fn run_with_handlers<T>(
    limit: Duration,
    handlers: fn() -> Option<guard::HandlerGuard>,
    work: impl FnOnce() -> T,
) -> Result<T, Failure> {
    LLVM.memory_handlers.call_once(|| {
        guard::install_fatal_handler();
        fault_alloc::on_out_of_memory(ompvm_out_of_memory);
        // SAFETY: the function only registers a callback, and has no preconditions.
        unsafe { ompvm_handle_bad_alloc() };
    });
    let area = OWNED.with(|owned| {
        owned.signal_stack.get_or_init(guard::SignalStack::new);
        owned.spare_stack.take()
    });
    let area = area.or_else(CoroutineStack::new);
    let Some(area) = area else {
        return Err(Failure {
            why: "no memory for LLVM's stack".into(),
            passes: String::new(),
            transient: true,
        });
    };
    let contained = Contained {
        yielder: Cell::new(null()),
        cause: Cell::new(0),
        reason: RefCell::default(),
        passes: Cell::new(null()),
    };
    let started = thread_time();
    // SAFETY: the function only reads a variable of this thread.
    let before = unsafe { ompvm_running_passes() };
    let mut result: Option<std::thread::Result<T>> = None;
    let outer = LOCALS.with(|l| l.contained.get());
    // SAFETY: the values that the coroutine borrows live in this function and outlive the
    // coroutine, which either finishes or is abandoned below.
    let mut coroutine: Coroutine<(), (), (), CoroutineStack> = unsafe {
        let (contained, result) = (&raw const contained, &raw mut result);
        Coroutine::with_stack_unchecked(area, move |yielder, ()| {
            (*contained).yielder.set(yielder);
            set_current(contained);
            let value = catch_unwind(AssertUnwindSafe(work));
            set_current(null());
            *result = Some(value);
        })
    };
    let done = {
        let _handlers = handlers();
        let _timer = Timer::start(limit);
        coroutine.resume(())
    };
    set_current(outer);
    match done {
        CoroutineResult::Return(()) => {
            let stack = coroutine.into_stack();
            OWNED.with(|owned| owned.spare_stack.replace(Some(stack)));
            match result {
                Some(Ok(value)) => return Ok(value),
                Some(Err(panic)) => resume_unwind(panic),
                None => ompvm_support::bug!("a coroutine without a result"),
            }
        }
        // Its frames are never unwound.
        CoroutineResult::Yield(()) => std::mem::forget(coroutine),
    }
    let passes = describe(contained.passes.get(), before);
    let took = thread_time().saturating_sub(started);
    let cause = contained.cause.get();
    let why = match cause {
        FATAL => contained.reason.take(),
        MEMORY => "LLVM ran out of memory".into(),
        TIMER => format!("LLVM did not finish within {:.1} s", took.as_secs_f64()),
        signal => format!("LLVM crashed (signal {signal})"),
    };
    Err(Failure {
        why,
        passes,
        transient: cause == MEMORY,
    })
}

/// Describes the passes that were running when LLVM was left, and removes them from LLVM's list.
fn describe(from: *const c_void, to: *const c_void) -> String {
    if LOCALS.with(|l| l.describing.replace(true)) {
        return String::new();
    }
    // Contained, too, because a crash may have corrupted the entries.
    // SAFETY: the entries lie on an abandoned stack, which stays mapped and unchanged.
    let text = run(Duration::from_secs(1), || unsafe {
        take_message(ompvm_describe_passes(from, to))
    });
    LOCALS.with(|l| l.describing.set(false));
    // SAFETY: `to` was the head of this thread's list before the abandoned coroutine began, and is
    // live.
    unsafe { ompvm_restore_passes(to) };
    text.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(100);

    #[test]
    fn finished_work_returns_its_value() {
        let text = String::from("borrowed");
        assert_eq!(run(LONG, || text.len()), Ok(8));
        assert_eq!(run(LONG, || run(LONG, || 3)), Ok(Ok(3)));
        let panic = catch_unwind(|| run(LONG, || std::panic::panic_any(7)));
        assert_eq!(panic.unwrap_err().downcast_ref::<i32>(), Some(&7));
    }

    #[test]
    fn work_that_gives_up_is_abandoned() {
        let failed = run(LONG, || on_fatal("a reason\nand more")).unwrap_err();
        assert_eq!((&*failed.why, failed.transient), ("a reason", false));
        let failed = run(LONG, || ompvm_out_of_memory()).unwrap_err();
        assert!(failed.transient, "{failed:?}");
        assert_eq!(run(LONG, || 5), Ok(5));
    }

    #[test]
    fn a_crash_is_contained() {
        for _ in 0..3 {
            // SAFETY: raises a signal on this thread, which `run` catches.
            let failed = run(LONG, || unsafe { libc::raise(libc::SIGSEGV) });
            assert_eq!(failed.unwrap_err().why, "LLVM crashed (signal 11)");
        }
    }

    #[test]
    fn a_stack_overflow_is_contained() {
        #[inline(never)]
        fn deep(n: u64) -> u64 {
            let here = std::hint::black_box([n; 64]);
            if n == 0 {
                0
            } else {
                deep(n - 1) ^ here[std::hint::black_box(3)]
            }
        }
        let failed = run(LONG, || deep(u64::MAX)).unwrap_err();
        assert_eq!(failed.why, "LLVM crashed (signal 11)");
    }

    #[test]
    fn work_over_its_time_limit_is_abandoned() {
        let failed = run(Duration::from_millis(30), || {
            loop {
                std::hint::spin_loop();
            }
        });
        let why = failed.unwrap_err().why;
        assert!(why.starts_with("LLVM did not finish within 0."), "{why}");
    }
}
