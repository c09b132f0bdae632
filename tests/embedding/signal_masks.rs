//! The host's signal mask after a guest's handler ended by a fault, a limit or `exit`: that before
//! the handler.

use ompvm::api::{Config, Engine, Language, Linker, Module, Source, Tier};
use std::time::Duration;

const GUEST: &str = r#"
#include <signal.h>
#include <stdlib.h>
volatile int zero;
volatile long turns;
static char stack[1 << 16];

static void faults(int number) { *(volatile int *)8 = 1; }
static void divides(int number) { turns = 7 / zero; }
static void exits(int number) { exit(3); }
static void spins(int number) { for (;;) turns++; }
static void raises(int number) { raise(SIGUSR2); }

static void install(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigaddset(&action.sa_mask, SIGWINCH);
  sigaction(number, &action, 0);
}

int fault(int a) { install(SIGUSR1, faults, 0); return raise(SIGUSR1); }
int divide(int a) { install(SIGUSR1, divides, 0); return raise(SIGUSR1); }
int leave(int a) { install(SIGUSR1, exits, 0); return raise(SIGUSR1); }
int spin(int a) { install(SIGUSR1, spins, 0); return raise(SIGUSR1); }
int nested(int a) {
  install(SIGUSR1, raises, 0);
  install(SIGUSR2, faults, 0);
  return raise(SIGUSR1);
}
int elsewhere(int a) {
  stack_t now = {.ss_sp = stack, .ss_size = sizeof stack}, before;
  sigaltstack(&now, &before);
  install(SIGUSR1, faults, SA_ONSTACK);
  return raise(SIGUSR1);
}
int plain(int a) { return *(volatile int *)8; }
"#;

/// Returns the calling thread's mask, as numbers of signals.
fn mask() -> Vec<i32> {
    // SAFETY: reads the mask into an initialized set.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut set);
        let blocked = |&s: &i32| libc::sigismember(&set, s) == 1;
        (1..64).filter(blocked).collect()
    }
}

#[test]
fn mask_is_that_before_the_handler_after_its_fault() {
    let _turn = super::one_at_a_time();
    let change = |how, number| {
        // SAFETY: changes the mask by an initialized set.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&mut set, number);
            libc::pthread_sigmask(how, &set, std::ptr::null_mut());
        }
    };
    change(libc::SIG_BLOCK, libc::SIGHUP);
    let before = mask();
    for tier in [Tier::Interp, Tier::Baseline, Tier::Opt, Tier::Auto] {
        let engine = Engine::default();
        let source = Source::text(Language::C, "guest.c", GUEST).flag("-fno-inline");
        let module = Module::from_source(&engine, &source).unwrap();
        for name in [
            "plain",
            "fault",
            "divide",
            "nested",
            "elsewhere",
            "leave",
            "spin",
        ] {
            let config = match name {
                "spin" => Config::new().time_limit(Duration::from_millis(20)),
                _ => Config::new(),
            };
            let linker = Linker::new(&engine);
            let process = linker
                .link(&module)
                .unwrap()
                .start(config.tier(tier))
                .unwrap();
            // SAFETY: the guest defines the functions with this type.
            let function = unsafe { process.typed_func::<(i32,), i32>(name) }.unwrap();
            for _ in 0..2 {
                // SAFETY: the thread's stack for handlers is installed again, since the guest's is
                // gone after its process.
                unsafe {
                    let mut stack: libc::stack_t = std::mem::zeroed();
                    libc::sigaltstack(std::ptr::null(), &mut stack);
                    assert!(function.call((0,)).is_err(), "{name} {tier:?}");
                    libc::sigaltstack(&stack, std::ptr::null_mut());
                }
                assert_eq!(mask(), before, "{name} {tier:?}");
            }
        }
    }
    change(libc::SIG_UNBLOCK, libc::SIGHUP);
}
