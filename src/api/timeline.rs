//! Samples the kind of code in which the program's time goes, for `ompvm compare --plot`.
//!
//! A timer of the process's CPU time interrupts whichever thread runs, and the signal handler
//! records the time and the kind of code the thread was in. A signal is needed, because nothing
//! else knows the position of a running thread, and the tier sampler (`tier::sample`) sees only
//! frames of the interpreter and the baseline tier.
//!
//! Function names are not recorded. A guest that handles `SIGPROF` or sets this timer itself ends
//! the sampling.

use ompvm_jit as jit;
use ompvm_memory::walk;
use std::ffi::{c_int, c_void};
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Sampling period in microseconds of CPU time; the system may round it up.
const PERIOD_US: i64 = 1000;
/// Most samples; later ones are dropped.
const MAX_SAMPLES: usize = 1 << 16;

/// Kind of code that a sample found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeKind {
    /// The interpreter, the OpenMP runtime, or a compiler.
    Ours,
    /// Machine code of the baseline tier.
    Baseline,
    /// Machine code of the optimizing tier.
    Compiled,
    /// Code of libraries.
    Elsewhere,
}

impl CodeKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [CodeKind; 4] = [
        CodeKind::Ours,
        CodeKind::Baseline,
        CodeKind::Compiled,
        CodeKind::Elsewhere,
    ];

    /// Returns a description of the kind.
    pub fn name(self) -> &'static str {
        match self {
            CodeKind::Ours => "interpreter and runtime",
            CodeKind::Baseline => "baseline code",
            CodeKind::Compiled => "compiled code",
            CodeKind::Elsewhere => "libraries",
        }
    }
}

/// The samples of a process.
struct Timeline {
    started: Instant,
    /// Microseconds since the start times four, plus the kind.
    samples: Box<[AtomicU64]>,
    /// Number of samples, of which the first [`MAX_SAMPLES`] are kept.
    taken: AtomicUsize,
}

/// The timeline of this process, which has one timer of its CPU time.
static TIMELINE: OnceLock<Timeline> = OnceLock::new();

fn code_kind(pc: usize) -> CodeKind {
    if ompvm_baseline::bytecode_at(pc).is_some() {
        CodeKind::Baseline
    } else if jit::is_compiled(pc) {
        CodeKind::Compiled
    } else if walk::is_own_code(pc) {
        CodeKind::Ours
    } else {
        CodeKind::Elsewhere
    }
}

/// Records a sample. Neither allocates nor locks.
#[cfg(target_arch = "x86_64")]
extern "C" fn sample(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(timeline) = TIMELINE.get() else {
        return;
    };
    // SAFETY: the kernel passes the thread's registers to a handler with SA_SIGINFO.
    let pc = unsafe {
        (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] as usize
    };
    let at = timeline.started.elapsed().as_micros() as u64;
    let number = timeline.taken.fetch_add(1, Ordering::Relaxed);
    if let Some(place) = timeline.samples.get(number) {
        place.store(at << 2 | code_kind(pc) as u64, Ordering::Relaxed);
    }
}

/// Starts sampling. Times, like those of [`super::compile_report`], count from about the next start
/// of a program.
#[cfg(target_arch = "x86_64")]
pub fn start() {
    let timeline = Timeline {
        started: Instant::now(),
        samples: (0..MAX_SAMPLES).map(|_| AtomicU64::new(0)).collect(),
        taken: AtomicUsize::new(0),
    };
    if TIMELINE.set(timeline).is_err() {
        return;
    }
    // The first call allocates, which the signal handler must not.
    walk::is_own_code(0);
    // SAFETY: the handler has the type that SA_SIGINFO requires and runs on any stack. All-zero is
    // a valid sigaction with an empty mask.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = sample as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGPROF, &action, std::ptr::null_mut());
    }
    set_timer(PERIOD_US);
}

/// Starts no timeline: positions are read on x86-64 only.
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
    // SAFETY: the call reads the local structure.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &timer, std::ptr::null_mut()) };
}

/// Stops sampling. Returns a line for each sample, in the format of [`super::compile_report`].
pub fn finish() -> String {
    set_timer(0);
    let mut text = String::new();
    let Some(timeline) = TIMELINE.get() else {
        return text;
    };
    let taken = timeline.taken.load(Ordering::Relaxed);
    for place in timeline.samples.iter().take(taken) {
        let sample = place.load(Ordering::Relaxed);
        let (at, kind) = (
            (sample >> 2) as f64 * 1e-3,
            CodeKind::ALL[sample as usize & 3],
        );
        let _ = writeln!(text, "ompvm: {at:9.1} ms  in {}", kind.name());
    }
    text
}
