//! Runs work on a thread of its own and survives LLVM giving up there.
//!
//! On some damaged bitcode LLVM ends the process (`report_fatal_error`), runs out of stack or
//! follows a wild pointer. A thread that gets there reports it and sleeps forever; the caller gets
//! an error. No frame of LLVM is unwound or jumped over, so nothing is left half-destroyed: the
//! thread's stack, its LLVM context and any lock it held are leaked, once per such file. The caller
//! also checks periodically whether the work exceeds its bounds of memory or time (a damaged count
//! may ask for gigabytes), and stops it in the same way.
//!
//! Reading stays in this process. Code that installs its own handlers for these signals must not do
//! so during a read (each would take the other for its predecessor), and had better not in the
//! milliseconds after it, in which the thread frees LLVM's module.

use super::contain;
use super::handles::library;
use super::libc_locks;
use super::process::{LLVM, LOCALS, OWNED};
use super::raw::copy_cstr;
use ompvm_support::message::{Kind, Message};
use ompvm_support::{clock, internal_work, limits};
use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::unix::thread::JoinHandleExt;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Size of the thread's stack, in bytes: LLVM recurses on deeply nested types and expressions.
/// Pages are touched only when needed.
const STACK: usize = 64 << 20;
/// Size of the stack for signal handlers after a stack overflow, in bytes.
const SIGNAL_STACK: usize = 64 << 10;
/// Free address space, in bytes, below which a crash is attributed to a lack of memory.
const ROOM: usize = 8 << 20;

/// Signals that a crash inside LLVM raises on its own thread (code that it considers unreachable
/// may contain any trap).
const SIGNALS: [c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGTRAP,
];

const FINISHED: i32 = -1;
const FATAL: i32 = -2;
const MEMORY: i32 = -3;
const TIME: i32 = -4;

/// Multiple of the processor time that the work may take on a loaded machine.
const DELAY: u32 = 20;

/// Interval at which the caller checks the worker.
const TICK: Duration = Duration::from_millis(20);
/// Number of requests to stop after which a worker stops even if it may hold a lock.
const PATIENCE: u32 = 200;
/// Faults of code, which a thread must not block.
const CODE_FAULTS: [c_int; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGTRAP,
];

/// State shared by worker and caller. `outcome` is 0 while the worker runs, then one of the
/// constants above or a signal number; `stop` is the outcome that the caller asks for when it
/// interrupts the worker.
pub(crate) struct Shared {
    done: UnsafeCell<libc::sem_t>,
    outcome: AtomicI32,
    stop: AtomicI32,
    reason: Mutex<String>,
}

// SAFETY: a semaphore may be used by several threads at one address, and this one stays at its
// address inside the `Arc`; the other fields are `Sync` by themselves.
unsafe impl Sync for Shared {}
// SAFETY: for the same reason as `Sync`; no field belongs to one thread.
unsafe impl Send for Shared {}

impl Shared {
    fn new() -> Arc<Self> {
        let shared = Arc::new(Shared {
            // SAFETY: a semaphore is plain data, and is initialized below before its first use.
            done: UnsafeCell::new(unsafe { MaybeUninit::zeroed().assume_init() }),
            outcome: AtomicI32::new(0),
            stop: AtomicI32::new(0),
            reason: Mutex::new(String::new()),
        });
        // SAFETY: the pointer is valid, and no other thread knows the semaphore yet.
        unsafe { libc::sem_init(shared.done.get(), 0, 0) };
        shared
    }

    /// Publishes the outcome. Async-signal-safe.
    fn post(&self, outcome: i32) {
        self.outcome.store(outcome, Ordering::Release);
        // SAFETY: `new` initialized the semaphore.
        unsafe { libc::sem_post(self.done.get()) };
    }

    /// Waits for the outcome, at most one tick.
    fn wait(&self) -> Option<i32> {
        let mut until = MaybeUninit::<libc::timespec>::uninit();
        // SAFETY: `clock_gettime` fills in the time before it is read, and `new` initialized the
        // semaphore.
        let posted = unsafe {
            libc::clock_gettime(libc::CLOCK_REALTIME, until.as_mut_ptr());
            let mut until = until.assume_init();
            until.tv_nsec += TICK.subsec_nanos() as libc::c_long;
            if until.tv_nsec >= 1_000_000_000 {
                until.tv_nsec -= 1_000_000_000;
                until.tv_sec += 1;
            }
            libc::sem_timedwait(self.done.get(), &until) == 0
        };
        posted.then(|| self.outcome.load(Ordering::Acquire))
    }
}

/// Returns the resident memory of this process in bytes, or 0 if the system does not say.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|p| p.parse::<u64>().ok());
    // SAFETY: `sysconf` has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.unwrap_or(0) * u64::try_from(page).unwrap_or(0)
}

/// Bounds of the work: far more than any valid module of that size needs.
pub(super) struct ResourceLimits {
    /// Growth of the process's memory, in bytes.
    pub memory: u64,
    /// Processor time of the thread. Other work on the machine may delay it for long.
    pub time: Duration,
}

impl ResourceLimits {
    /// Returns the bounds of compiling this many bytes of input.
    pub(super) fn for_input(bytes: usize) -> Self {
        ResourceLimits::with_least_time(20, bytes)
    }

    /// Returns the bounds of reading this many bytes, which takes milliseconds where optimizing takes
    /// seconds.
    pub(super) fn for_reading(bytes: usize) -> Self {
        ResourceLimits::with_least_time(3, bytes)
    }

    fn with_least_time(seconds: u64, bytes: usize) -> Self {
        let bytes = bytes as u64;
        ResourceLimits {
            memory: (1 << 30) + bytes * 200,
            time: Duration::from_secs(seconds + (bytes >> 20) * 10),
        }
    }
}

/// Returns the state that this thread reports to, if it is a worker; null otherwise.
/// Async-signal-safe.
fn current() -> *const Shared {
    LOCALS.with(|l| l.worker.get())
}

/// Blocks all signals on this thread but `open`, so that others receive the program's, and returns
/// the earlier mask. Async-signal-safe.
fn block_signals_but(open: &[c_int]) -> libc::sigset_t {
    // SAFETY: the calls fill and pass local signal sets.
    unsafe {
        let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::zeroed());
        libc::sigfillset(all.as_mut_ptr());
        for &signal in open {
            libc::sigdelset(all.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
        before.assume_init()
    }
}

/// Unblocks signals on this thread.
fn unblock_signals(open: &[c_int]) {
    // SAFETY: the calls fill and pass a local signal set.
    unsafe {
        let mut set = MaybeUninit::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in open {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), null_mut());
    }
}

/// Stops this thread for good. Async-signal-safe.
fn sleep_forever() -> ! {
    let _ = block_signals_but(&[]);
    loop {
        // SAFETY: `pause` has no preconditions; with every signal blocked it never returns.
        unsafe { libc::pause() };
    }
}

/// Handles LLVM's fatal errors. LLVM ends the process when this returns.
extern "C" fn on_fatal(reason: *const c_char) {
    let reason = copy_cstr(reason);
    contain::on_fatal(&reason);
    let current = current();
    if current.is_null() {
        Message::new(Kind::Llvm, &format_args!("LLVM gave up: {reason}")).print();
        // SAFETY: `_exit` has no preconditions; LLVM is about to end the process as well.
        unsafe { libc::_exit(125) };
    }
    // SAFETY: `run` set the pointer on this very thread to a value that it keeps alive.
    let shared = unsafe { &*current };
    *shared.reason.lock().unwrap_or_else(PoisonError::into_inner) = reason.into();
    shared.post(FATAL);
    sleep_forever();
}

/// The handlers to restore, while `users` is not zero.
struct Replaced {
    users: usize,
    old: [Option<libc::sigaction>; SIGNALS.len()],
}

/// The handlers in front of the program's.
pub(crate) struct SignalHandlers {
    replaced: Mutex<Replaced>,
    /// Copies of the old handlers that `on_signal` may read without the lock.
    old: UnsafeCell<[MaybeUninit<libc::sigaction>; SIGNALS.len()]>,
    /// Address of the fault handler that calls [`contain::on_fault`] first; 0 if there is none.
    fault_handler: AtomicUsize,
}

// SAFETY: `old` is written under the lock of `replaced` before the handler that reads it is
// installed; the other fields are `Sync` by themselves.
unsafe impl Sync for SignalHandlers {}

impl SignalHandlers {
    /// Returns the handlers of a process that has installed none.
    pub(crate) const fn new() -> SignalHandlers {
        SignalHandlers {
            replaced: Mutex::new(Replaced {
                users: 0,
                old: [None; SIGNALS.len()],
            }),
            old: UnsafeCell::new([const { MaybeUninit::uninit() }; SIGNALS.len()]),
            fault_handler: AtomicUsize::new(0),
        }
    }
}

/// Returns the handlers of this process.
fn handlers() -> &'static SignalHandlers {
    &LLVM.signal_handlers
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    contain::on_fault(signal);
    let current = current();
    if !current.is_null() {
        // SAFETY: `run` set the pointer on this very thread to a value that it keeps alive, and all
        // calls here are async-signal-safe.
        let shared = unsafe { &*current };
        let stop = shared.stop.load(Ordering::Acquire);
        // A lock of the allocator would stay held for ever. The caller asks again.
        // SAFETY: the kernel passes valid pointers to a handler installed with SA_SIGINFO.
        if stop != 0 && unsafe { is_patient_request(info) && libc_locks::may_hold_lock(context) } {
            return;
        }
        shared.post(if stop == 0 { signal } else { stop });
        sleep_forever();
    }
    // Another thread's fault is passed to the handler that was responsible before.
    let Some(index) = SIGNALS.iter().position(|&s| s == signal) else {
        return;
    };
    // SAFETY: this handler is installed only after its entry of `old` was written; the old handler
    // is called with the arguments it was registered for.
    unsafe {
        let old = (*handlers().old.get())[index].assume_init_ref();
        match old.sa_sigaction {
            libc::SIG_IGN => {}
            ours if ours == handlers().fault_handler.load(Ordering::Acquire) => {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(ours);
                handler(signal, info, context);
            }
            // The kernel takes the default action, or calls the program's handler on the stack and
            // with the mask that the program asked for: a garbage collector takes a handler's stack
            // pointer for the thread's. ompvm's handler is installed again when the next
            // compilation begins.
            _ => {
                libc::sigaction(signal, old, null_mut());
                if (*info).si_code <= 0 {
                    // Sent by a process, so no instruction will raise it again.
                    let (process, thread) = (libc::getpid(), libc::gettid());
                    libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info);
                }
            }
        }
    }
}

/// Asks a worker to stop. Unless the caller insists, it may go on to a better point.
fn request_stop(worker: libc::pthread_t, insist: bool) {
    let value = libc::sigval {
        sival_ptr: std::ptr::without_provenance_mut(insist.into()),
    };
    // SAFETY: the thread has not been joined, so its id is valid even if it has just ended. If the
    // queue is full, the next request follows.
    unsafe { libc::pthread_sigqueue(worker, libc::SIGABRT, value) };
}

/// Returns true for a signal of [`request_stop`] whose caller does not insist. Async-signal-safe.
///
/// # Safety
/// `info` is that of a handler installed with SA_SIGINFO.
unsafe fn is_patient_request(info: *mut libc::siginfo_t) -> bool {
    // SAFETY: by this function's contract; a queued signal has a value.
    unsafe { (*info).si_code == libc::SI_QUEUE && (*info).si_value().sival_ptr.is_null() }
}

/// Installs the handler for LLVM's fatal errors.
pub(super) fn install_fatal_handler() {
    LLVM.fatal_handler.call_once(|| {
        library::set_fatal_handler(on_fatal);
    });
}

/// Guard that keeps the signal handlers installed while it lives.
pub(super) struct HandlerGuard;

/// Installs the handlers in front of others if the program has installed its own for faults, or if
/// there are none.
pub(super) fn install_in_front() -> Option<HandlerGuard> {
    let handler = |signal: c_int| {
        let mut now = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a query into a local; what is not filled in stays zero, which is the default
        // action.
        unsafe {
            libc::sigaction(signal, null(), now.as_mut_ptr());
            now.assume_init().sa_sigaction
        }
    };
    let expected = |signal: &c_int| {
        // `on_signal` does not count: it is removed when another thread is done.
        let now = handler(*signal);
        now != 0 && now == handlers().fault_handler.load(Ordering::Acquire)
    };
    (!FAULTS.iter().all(expected)).then(HandlerGuard::start)
}

/// Signals that crashes of LLVM raise and for which ompvm has a handler while the program runs.
const FAULTS: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGABRT];

/// Registers the fault handler that calls [`contain::on_fault`] first.
pub fn register_fault_handler(handler: usize) {
    handlers().fault_handler.store(handler, Ordering::Release);
}

impl HandlerGuard {
    fn start() -> Self {
        install_fatal_handler();
        let replaced = &handlers().replaced;
        let mut replaced = replaced.lock().unwrap_or_else(PoisonError::into_inner);
        replaced.users += 1;
        for (index, &signal) in SIGNALS.iter().enumerate() {
            if let Some(old) = install(index, signal) {
                replaced.old[index] = Some(old);
            }
        }
        HandlerGuard
    }
}

fn install(index: usize, signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: `sigaction` is plain data that is filled in before use; `old` is written under the
    // lock, before the handler that reads it can run.
    unsafe {
        let mut old: libc::sigaction = MaybeUninit::zeroed().assume_init();
        if libc::sigaction(signal, null(), &mut old) != 0 {
            return None;
        }
        // The program may have restored a handler that it queried in the meantime.
        if old.sa_sigaction == on_signal as *const () as usize {
            return None;
        }
        (*handlers().old.get())[index].write(old);
        let mut new: libc::sigaction = MaybeUninit::zeroed().assume_init();
        new.sa_sigaction = on_signal as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut new.sa_mask);
        libc::sigaction(signal, &new, null_mut());
        Some(old)
    }
}

impl Drop for HandlerGuard {
    fn drop(&mut self) {
        let replaced = &handlers().replaced;
        let mut replaced = replaced.lock().unwrap_or_else(PoisonError::into_inner);
        replaced.users -= 1;
        if replaced.users > 0 {
            return;
        }
        for (index, &signal) in SIGNALS.iter().enumerate() {
            let Some(old) = replaced.old[index].take() else {
                continue;
            };
            // SAFETY: `sigaction` is plain data; the old action is restored only if `on_signal` is
            // still installed.
            unsafe {
                let mut now: libc::sigaction = MaybeUninit::zeroed().assume_init();
                libc::sigaction(signal, null(), &mut now);
                if now.sa_sigaction == on_signal as *const () as usize {
                    libc::sigaction(signal, &old, null_mut());
                }
            }
        }
    }
}

/// A stack for signal handlers of this thread until its end. The earlier one is not restored: at the
/// end of a thread of Rust's library its memory is unmapped already, and the C library still sends
/// the thread a signal there, on that stack (`setuid` in another thread).
pub(crate) struct SignalStack {
    memory: *mut c_void,
}

impl SignalStack {
    pub(super) fn new() -> Self {
        // SAFETY: the memory is fresh and private, and stays registered for this thread until
        // `drop`.
        unsafe {
            let memory = libc::malloc(SIGNAL_STACK);
            let new = libc::stack_t {
                ss_sp: memory,
                ss_flags: 0,
                ss_size: SIGNAL_STACK,
            };
            if !memory.is_null() {
                libc::sigaltstack(&new, null_mut());
            }
            SignalStack { memory }
        }
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        // SAFETY: the thread is not in a handler. A stack that it has registered since stays.
        unsafe {
            let mut now: libc::stack_t = MaybeUninit::zeroed().assume_init();
            libc::sigaltstack(null(), &mut now);
            if now.ss_sp == self.memory {
                now.ss_flags = libc::SS_DISABLE;
                libc::sigaltstack(&now, null_mut());
            }
            libc::free(self.memory);
        }
    }
}

/// Reports the worker's end to the caller, by return or by panic.
struct ReportFinish(Arc<Shared>);

impl Drop for ReportFinish {
    fn drop(&mut self) {
        LOCALS.with(|l| l.worker.set(null()));
        self.0.post(FINISHED);
    }
}

/// Runs `work` on a thread of its own and waits for it.
///
/// # Errors
/// Returns one sentence if LLVM gave up or crashed, if the work exceeds its bounds, or if no thread
/// can be created.
///
/// # Panics
/// Panics if `work` panics.
pub(super) fn run<T: Send + 'static>(
    limits: &ResourceLimits,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let work = || Some((work(), Box::new(|| ()) as Deferred));
    run_with_deferred(limits, work).map(|done| done.unwrap_or_else(|| unreachable!()))
}

/// Work of the thread of [`run_with_deferred`] that its caller does not wait for. A crash of LLVM in
/// it ends the work alone, and what it had is neither dropped nor used again.
pub(super) type Deferred = Box<dyn FnOnce()>;

/// Runs work like [`run`], with a part that the caller does not wait for.
///
/// # Errors
/// Fails as [`run`] does.
///
/// # Panics
/// Panics if `work` panics.
pub(super) fn run_with_deferred<T: Send + 'static>(
    limits: &ResourceLimits,
    work: impl FnOnce() -> Option<(T, Deferred)> + Send + 'static,
) -> Result<Option<T>, String> {
    let _catching = HandlerGuard::start();
    libc_locks::find();
    let shared = Shared::new();
    let of_worker = Arc::clone(&shared);
    let slot = Arc::new(Mutex::new(None));
    let result = Arc::clone(&slot);
    let started = Instant::now();
    let time = limits.time;
    // The worker begins with this mask. A handler of the program on it could interrupt the allocator,
    // and call what allocates.
    let mask = block_signals_but(&SIGNALS);
    let worker = std::thread::Builder::new()
        .name("ompvm-reader".into())
        .stack_size(limits::reserve(STACK, 64, 8 << 20))
        .spawn(move || {
            // The program may have blocked some of them.
            unblock_signals(&SIGNALS);
            // The thread's one: a contained run inside would find a second one freed at its end.
            OWNED.with(|owned| {
                owned.signal_stack.get_or_init(SignalStack::new);
            });
            LOCALS.with(|l| l.worker.set(Arc::as_ptr(&of_worker)));
            let finish = ReportFinish(of_worker);
            internal_work::enter_for_thread_life();
            let (value, later) = work().unzip();
            *result.lock().unwrap_or_else(PoisonError::into_inner) = value;
            // The program may run from here on, and wait for signals that its own threads block. A
            // fault that is blocked would end the process. A late request to stop stays pending.
            let _ = block_signals_but(&CODE_FAULTS);
            // Until the first program starts, no other handler leads to `contain::on_fault`.
            let unhandled = handlers().fault_handler.load(Ordering::Acquire) == 0;
            let _catching = unhandled.then(HandlerGuard::start);
            drop(finish);
            match later {
                // The program waits for the address space that this thread occupies.
                Some(later) if limits::address_space().is_some() => later(),
                Some(later) => drop(contain::run_beside_start(time, later)),
                None => {}
            }
        });
    // SAFETY: restores this thread's mask.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &mask, null_mut()) };
    let worker = worker.map_err(|e| limits::refusal("a thread that reads it", &e))?;
    let mut before = None;
    let mut requests = 0;
    let outcome = loop {
        if let Some(outcome) = shared.wait() {
            break outcome;
        }
        let now = resident();
        let grown = now.saturating_sub(*before.get_or_insert(now));
        let stop = if requests > 0 {
            shared.stop.load(Ordering::Acquire)
        } else if grown > limits.memory {
            MEMORY
        } else if clock::time_of_thread(worker.as_pthread_t()) > limits.time
            || started.elapsed() > limits.time * DELAY
        {
            TIME
        } else {
            continue;
        };
        shared.stop.store(stop, Ordering::Release);
        requests += 1;
        request_stop(worker.as_pthread_t(), requests > PATIENCE);
    };
    match outcome {
        FINISHED => {
            let value = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            // If address space is limited, the program needs what the thread occupies.
            let waits = value.is_none() || limits::address_space().is_some();
            if waits && let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
            Ok(value)
        }
        FATAL => {
            let reason = shared.reason.lock().unwrap_or_else(PoisonError::into_inner);
            let reason = reason.lines().next().unwrap_or("");
            Err(format!("damaged LLVM IR, LLVM gave up on it: {reason}"))
        }
        MEMORY => Err("damaged LLVM IR, reading it takes too much memory".into()),
        TIME => Err("damaged LLVM IR, reading it takes too long".into()),
        // Memory that LLVM has taken stays taken, so the shortage is still visible.
        _ if !limits::has_room(ROOM) => {
            let error = std::io::Error::from_raw_os_error(libc::ENOMEM);
            Err(limits::refusal("reading it", &error))
        }
        signal => Err(format!(
            "damaged LLVM IR, LLVM crashed on it (signal {signal})"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn the_worker_takes_no_signals_of_the_program() {
        let limits = ResourceLimits::for_reading(0);
        // SAFETY: queries a mask into a local.
        let mask = || unsafe {
            let mut now = MaybeUninit::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, null(), now.as_mut_ptr());
            now.assume_init()
        };
        // SAFETY: the set is initialized.
        let blocks = |set: &libc::sigset_t, signal| unsafe { libc::sigismember(set, signal) == 1 };
        let of_worker = run(&limits, mask).unwrap();
        for signal in [libc::SIGALRM, libc::SIGINT, libc::SIGCHLD, libc::SIGRTMIN()] {
            assert!(blocks(&of_worker, signal), "{signal}");
            assert!(!blocks(&mask(), signal), "{signal}");
        }
        assert!(SIGNALS.iter().all(|&signal| !blocks(&of_worker, signal)));
    }

    #[test]
    fn deferred_work_may_crash() {
        let limits = ResourceLimits::for_reading(0);
        for crash in [
            // SAFETY: faults on purpose.
            (|| unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) }) as fn(),
            || std::process::abort(),
        ] {
            let alive = Arc::new(());
            let seen = Arc::downgrade(&alive);
            let entered = Arc::new(AtomicBool::new(false));
            let tell = entered.clone();
            let later = move || {
                tell.store(true, Ordering::Release);
                crash();
                drop(alive);
            };
            let work = move || Some((5, Box::new(later) as Deferred));
            assert_eq!(run_with_deferred(&limits, work), Ok(Some(5)));
            while !entered.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            // Long enough for a process that the crash ends.
            std::thread::sleep(Duration::from_millis(50));
            assert!(seen.upgrade().is_some(), "the work went on");
        }
    }

    #[test]
    fn a_thread_that_is_stopped_holds_no_lock_of_the_allocator() {
        let limits = ResourceLimits {
            memory: u64::MAX,
            time: Duration::from_millis(40),
        };
        for _ in 0..20 {
            let endless = || -> () {
                loop {
                    std::hint::black_box(vec![0_u8; 100]);
                }
            };
            let stopped = run(&limits, endless);
            assert!(stopped.is_err_and(|why| why.contains("too long")));
            // New threads share the allocator's areas with the stopped ones.
            let work = || (0..100).map(|n| vec![n; 50]).collect::<Vec<_>>().len();
            let others: Vec<_> = (0..16).map(|_| std::thread::spawn(work)).collect();
            others
                .into_iter()
                .for_each(|o| assert_eq!(o.join().unwrap(), 100));
        }
    }

    #[test]
    fn filling_and_copying_stop_at_the_bound_of_memory() {
        const SIZE: usize = 1 << 30;
        let limits = ResourceLimits {
            memory: 16 << 20,
            time: Duration::from_secs(60),
        };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: maps fresh private memory.
        let memory = unsafe { libc::mmap(null_mut(), 2 * SIZE, access, flags, -1, 0) };
        assert_ne!(memory, libc::MAP_FAILED);
        let memory = memory as usize;
        let fill = move || {
            let memory = std::ptr::with_exposed_provenance_mut::<c_void>(memory);
            // SAFETY: the memory has twice that size.
            unsafe { libc::memset(memory, 1, SIZE) };
        };
        let copy = move || {
            let memory = std::ptr::with_exposed_provenance_mut::<c_void>(memory);
            // SAFETY: the memory has twice that size.
            unsafe { libc::memcpy(memory.add(SIZE), memory, SIZE) };
        };
        for work in [Box::new(fill) as Box<dyn FnOnce() + Send>, Box::new(copy)] {
            let stopped = run(&limits, work);
            assert!(stopped.is_err_and(|why| why.contains("too much memory")));
        }
        // SAFETY: the threads that used the memory sleep for ever.
        unsafe { libc::munmap(memory as *mut c_void, 2 * SIZE) };
    }

    #[test]
    fn compiling_may_take_longer_than_reading() {
        for bytes in [0, 400 << 10, 30 << 20] {
            let (all, read) = (
                ResourceLimits::for_input(bytes),
                ResourceLimits::for_reading(bytes),
            );
            // The images of a program with thirteen kernels are 400 KiB, and take 2.7 s to lower.
            assert!(all.time >= Duration::from_secs(20) && all.time > read.time);
        }
    }

    #[test]
    fn a_change_of_users_reaches_threads_that_end() {
        let limits = ResourceLimits::for_input(0);
        let work = std::thread::spawn(move || {
            for _ in 0..300 {
                assert_eq!(run(&limits, || 1), Ok(1));
            }
        });
        while !work.is_finished() {
            // SAFETY: changes nothing, and sends a signal to each thread all the same.
            unsafe { libc::setresuid(u32::MAX, u32::MAX, u32::MAX) };
        }
        work.join().unwrap();
    }
}
