//! In which kind of code the program's time went, moment by moment: for `ompvm compare --plot`.
//!
//! What: a timer of the process's processor time interrupts whichever thread runs, and the
//! handler notes the moment and what code the thread was in. Why a signal: nothing else knows the
//! position of a running thread, and what looks at frames (`tier::sample`) sees those of the
//! interpreter only. What not: no functions' names; a guest that handles `SIGPROF` or sets
//! this timer itself takes it away, and the samples end there.

use crate::memory::walk;
use crate::{interp, jit};
use std::ffi::{c_int, c_void};
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Between samples, in microseconds of processor time; the system may round it up.
const INTERVAL: i64 = 1000;
/// Most samples; later ones are dropped.
const MOST: usize = 1 << 16;

/// What code a thread was in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// The interpreter, the OpenMP runtime, or compilers.
    Ours,
    /// Machine code of the baseline tier.
    Baseline,
    /// Machine code of the optimising tier.
    Compiled,
    /// Libraries.
    Elsewhere,
}

impl Where {
    /// All of them, as they are numbered.
    pub const ALL: [Where; 4] = [
        Where::Ours,
        Where::Baseline,
        Where::Compiled,
        Where::Elsewhere,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Where::Ours => "interpreter and runtime",
            Where::Baseline => "baseline code",
            Where::Compiled => "compiled code",
            Where::Elsewhere => "libraries",
        }
    }
}

/// Microseconds since the start, four times, plus the kind.
static SAMPLES: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];
static TAKEN: AtomicUsize = AtomicUsize::new(0);
static STARTED: OnceLock<Instant> = OnceLock::new();

fn kind(pc: usize) -> Where {
    if interp::baseline::bytecode_at(pc).is_some() {
        Where::Baseline
    } else if jit::is_compiled(pc) {
        Where::Compiled
    } else if walk::is_ours(pc) {
        Where::Ours
    } else {
        Where::Elsewhere
    }
}

/// Takes a sample. Neither allocates nor locks.
#[cfg(target_arch = "x86_64")]
extern "C" fn sample(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(started) = STARTED.get() else { return };
    // SAFETY: the system hands a handler with SA_SIGINFO the thread's registers.
    let pc = unsafe {
        (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] as usize
    };
    let at = started.elapsed().as_micros() as u64;
    if let Some(place) = SAMPLES.get(TAKEN.fetch_add(1, Ordering::Relaxed)) {
        place.store(at << 2 | kind(pc) as u64, Ordering::Relaxed);
    }
}

/// Begins to take samples; their times, like those of [`super::tiers`], count from about here
/// when a program is started next.
#[cfg(target_arch = "x86_64")]
pub fn start() {
    if STARTED.set(Instant::now()).is_err() {
        return;
    }
    // What a sample must not do: the first question allocates.
    walk::is_ours(0);
    // SAFETY: the handler has the type that SA_SIGINFO asks for and runs on any stack; all-zero is
    // a valid sigaction, whose mask is empty.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = sample as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGPROF, &action, std::ptr::null_mut());
    }
    set_timer(INTERVAL);
}

/// Takes none: positions are read on x86-64 only.
#[cfg(not(target_arch = "x86_64"))]
pub fn start() {}

fn set_timer(microseconds: i64) {
    let every = libc::timeval {
        tv_sec: 0,
        tv_usec: microseconds,
    };
    let timer = libc::itimerval {
        it_interval: every,
        it_value: every,
    };
    // SAFETY: reads the local; ITIMER_PROF exists.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &timer, std::ptr::null_mut()) };
}

/// Stops taking samples; a line for each, as in [`super::tiers`].
pub fn finish() -> String {
    set_timer(0);
    let mut text = String::new();
    for place in SAMPLES.iter().take(TAKEN.load(Ordering::Relaxed)) {
        let sample = place.load(Ordering::Relaxed);
        let (at, kind) = ((sample >> 2) as f64 * 1e-3, Where::ALL[sample as usize & 3]);
        let _ = writeln!(text, "ompvm: {at:9.1} ms  in {}", kind.name());
    }
    text
}
