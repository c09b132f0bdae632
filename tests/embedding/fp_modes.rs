//! The floating-point modes of the host after calls that do not return: those at the call, no
//! matter how it ended and whether the guest changed them.

use ompvm::api::{
    Config, Engine, Error, GuestPtr, Language, Linker, Module, Process, Source, Tier, TrapKind,
};
use std::arch::asm;
use std::sync::Mutex;
use std::time::Duration;

const GUEST: &str = r#"
#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
volatile long turns;
volatile long double wide;
void (*volatile indirect)(void);

int store(int *at) { return *at = 1; }
static __attribute__((noinline)) int inner(int *at, int n) { return n ? inner(at, n - 1) : *at; }
int nested(int *at) { return inner(at, 5) + 1; }
void spin(int *at) { for (;;) turns++; }
/* The conversion to an integer changes the x87 unit's rounding for some instructions. */
void convert(int *at) { for (;;) { wide += 1.5L; turns = wide; } }
void rounds(int *at) { fesetround(FE_DOWNWARD); *at = 1; }
static void down(void) { fesetround(FE_DOWNWARD); }
void rounds_elsewhere(int *at) { indirect = down; indirect(); *at = 1; }
void flushes(int *at) { __builtin_ia32_ldmxcsr(0x9fc0); *at = 1; }
void flushes_by_asm(int *at) { unsigned m = 0x9fc0; __asm__ volatile("ldmxcsr %0" : : "m"(m)); *at = 1; }
void rounds_and_leaves(int *at) { fesetround(FE_DOWNWARD); exit(3); }
static void on_signal(int number) { fesetround(FE_DOWNWARD); *(volatile int *)8 = 1; }
void host_spins(void);
void waits_for_host(int *at) { host_spins(); }
void handle(int *at) { signal(SIGUSR1, on_signal); }
"#;

/// MXCSR and the x87 control word.
type Modes = (u32, u16);

/// Upward, and flushing denormals.
const UPWARD: Modes = (0xdf80, 0x0b7f);

fn modes() -> Modes {
    let (mut mxcsr, mut x87) = (0u32, 0u16);
    // SAFETY: stores to locals.
    unsafe {
        asm!("stmxcsr [{m}]", "fnstcw [{x}]", m = in(reg) &raw mut mxcsr, x = in(reg) &raw mut x87)
    };
    // Without the flags of exceptions.
    (mxcsr & !0x3f, x87)
}

fn set_modes((mxcsr, x87): Modes) {
    // SAFETY: valid control words.
    unsafe {
        asm!("ldmxcsr [{m}]", "fldcw [{x}]", m = in(reg) &raw const mxcsr, x = in(reg) &raw const x87)
    };
}

/// Calls a function with a null pointer under the modes of the test. Returns the error, and the
/// modes after the call.
fn call(process: &Process, name: &str) -> (Error, Modes) {
    // SAFETY: the guest defines the functions with this type.
    let function = unsafe { process.typed_func::<(GuestPtr<i32>,), i32>(name) };
    let erased = process.func(name, None).unwrap();
    let before = modes();
    set_modes(UPWARD);
    let result = match &function {
        Ok(function) => function.call((GuestPtr::from_address(0),)).map(|_| ()),
        // SAFETY: as above.
        Err(_) => unsafe { erased.call(&[0]) }.map(|_| ()),
    };
    let after = modes();
    set_modes(before);
    (result.unwrap_err(), after)
}

/// The process that [`host_spins`] calls, and the modes after the call.
static INNER: Mutex<Option<(Process, Modes)>> = Mutex::new(None);

/// Calls a leaf function in the middle of a call with a limit, which ends the inner call first.
fn host_spins() {
    let mut inner = INNER.lock().unwrap();
    let (process, after) = inner.as_mut().unwrap();
    *after = call(process, "spin").1;
}

fn start(tier: Tier, limit: Option<Duration>) -> Process {
    let engine = Engine::default();
    let source = Source::text(Language::C, "guest.c", GUEST).flag("-fno-inline");
    let module = Module::from_source(&engine, &source).unwrap();
    let config = Config::new().tier(tier);
    let config = match limit {
        Some(limit) => config.time_limit(limit),
        None => config,
    };
    let mut linker = Linker::new(&engine);
    linker.func("host_spins", host_spins).unwrap();
    linker.link(&module).unwrap().start(config).unwrap()
}

#[test]
fn modes_are_those_of_the_host_after_faults_and_exits() {
    let _turn = super::one_at_a_time();
    let tiers = [Tier::Interp, Tier::Baseline, Tier::Opt, Tier::Auto];
    for tier in tiers {
        let process = start(tier, None);
        let faulting = [
            "store",
            "nested",
            "rounds",
            "rounds_elsewhere",
            "flushes",
            "flushes_by_asm",
        ];
        for name in faulting {
            let (error, after) = call(&process, name);
            assert!(matches!(error, Error::Trap(_)), "{name} {tier:?}: {error}");
            assert_eq!(after, UPWARD, "{name} {tier:?}");
        }
        let (error, after) = call(&process, "rounds_and_leaves");
        assert!(matches!(error, Error::Host(_)), "{error}");
        assert_eq!(after, UPWARD, "{tier:?}");

        let process = start(tier, Some(Duration::from_millis(20)));
        for name in ["spin", "convert"].repeat(3) {
            let (error, after) = call(&process, name);
            let out_of_time = matches!(&error, Error::Trap(t) if t.kind == TrapKind::OutOfTime);
            assert!(out_of_time, "{name} {tier:?}: {error}");
            assert_eq!(after, UPWARD, "{name} {tier:?}");
        }
        *INNER.lock().unwrap() = Some((start(tier, None), (0, 0)));
        let (error, after) = call(&process, "waits_for_host");
        assert!(matches!(error, Error::Trap(_)), "{tier:?}: {error}");
        assert_eq!(after, UPWARD, "{tier:?}");
        let inner = INNER.lock().unwrap().take().unwrap();
        assert_eq!(inner.1, UPWARD, "{tier:?}");
    }
    // Last, since from now on no call is that of a leaf function.
    for tier in tiers {
        let process = start(tier, None);
        // SAFETY: the guest defines it with this type.
        let handle = unsafe {
            process
                .typed_func::<(GuestPtr<i32>,), ()>("handle")
                .unwrap()
        };
        handle.call((GuestPtr::from_address(0),)).unwrap();
        // SAFETY: the calls have no preconditions.
        let (host, thread) = unsafe { (libc::getpid(), libc::gettid()) };
        let (error, after) = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                // SAFETY: the thread waits for the call, which the signal ends.
                unsafe { libc::syscall(libc::SYS_tgkill, host, thread, libc::SIGUSR1) };
            });
            call(&process, "spin")
        });
        assert!(matches!(error, Error::Trap(_)), "{tier:?}: {error}");
        assert_eq!(after, UPWARD, "{tier:?}");
        // SAFETY: the default action of a signal.
        unsafe { libc::signal(libc::SIGUSR1, libc::SIG_DFL) };
    }
}
