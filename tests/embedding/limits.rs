//! Calls that a fault on any thread, a handle, a time limit or a lack of fuel ends, after which the
//! host goes on.

use ompvm::api::{
    CancelHandle, Config, Engine, Error, Language, Linker, Module, Process, Source, Tier, Trap,
    TrapKind,
};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const GUEST: &str = r#"
#include <stdlib.h>
void pause_host(void);
volatile long turns;
volatile int *null;

void loop(int n) { for (;;) turns += n; }
void allocate(int n) { for (;;) { free(realloc(malloc(n), 2 * n)); turns += 1; } }
void all_loop(int n) {
  #pragma omp parallel num_threads(3)
  for (volatile long own = 0;; own += n) ;
}
void one_loops(int n) {
  #pragma omp parallel num_threads(3)
  {
    #pragma omp masked filter(2)
    for (;;) turns += n;
    #pragma omp barrier
  }
}
void last_loops(int n) {
  #pragma omp parallel num_threads(3)
  {
    #pragma omp masked filter(1)
    for (;;) turns += n;
  }
}
void tasks(int n) {
  #pragma omp parallel num_threads(3)
  #pragma omp single
  for (int i = 0; i < 8; i++)
  {
    #pragma omp task
    for (;;) turns += n;
  }
}
void nested(int n) {
  #pragma omp parallel num_threads(2)
  {
    #pragma omp parallel num_threads(2)
    for (;;) turns += n;
  }
}
void in_host(int n) { for (;;) pause_host(); }
void faults(int thread) {
  #pragma omp parallel num_threads(3)
  {
    #pragma omp masked filter(thread)
    *null = 1;
    for (;;) turns += 1;
  }
}
int count(int n) {
  int sum = 0;
  #pragma omp parallel num_threads(3) reduction(+: sum)
  {
    #pragma omp barrier
    #pragma omp critical
    sum += n;
  }
  return sum;
}
"#;

const ENDLESS: [&str; 7] = [
    "loop",
    "allocate",
    "all_loop",
    "one_loops",
    "last_loops",
    "tasks",
    "nested",
];

const TIERS: [Tier; 4] = [Tier::Interp, Tier::Baseline, Tier::Opt, Tier::Auto];

fn start(config: Config) -> Process {
    static MODULE: OnceLock<Module> = OnceLock::new();
    let engine = Engine::default();
    let module = MODULE.get_or_init(|| {
        let source = Source::text(Language::C, "guest.c", GUEST);
        Module::from_source(&engine, &source).unwrap()
    });
    let mut linker = Linker::new(&engine);
    let pause = || std::thread::sleep(Duration::from_millis(1));
    linker.func("pause_host", pause).unwrap();
    let config = config.env("OMP_MAX_ACTIVE_LEVELS", "2");
    linker.link(module).unwrap().start(config).unwrap()
}

fn call(process: &Process, name: &str, argument: i32) -> Result<(), Error> {
    // SAFETY: the guest's function has this type.
    let function = unsafe { process.typed_func::<(i32,), ()>(name).unwrap() };
    function.call((argument,))
}

/// Returns the fault of a call.
fn trap(process: &Process, name: &str, argument: i32) -> Trap {
    match call(process, name, argument) {
        Err(Error::Trap(trap)) => trap,
        other => panic!("{name} should not return {other:?}"),
    }
}

/// Checks that a program can use all of its threads.
fn goes_on(process: &Process) {
    // SAFETY: the guest's function has this type.
    let count = unsafe { process.typed_func::<(i32,), i32>("count").unwrap() };
    for _ in 0..3 {
        assert_eq!(count.call((7,)).unwrap(), 21);
    }
}

#[test]
fn calls_are_cancelled_in_each_tier() {
    let _turn = super::one_at_a_time();
    for tier in TIERS {
        let handle = CancelHandle::new();
        let process = start(Config::new().tier(tier).cancelled_by(&handle));
        for name in ENDLESS {
            let ended = std::thread::scope(|scope| {
                let other = handle.clone();
                scope.spawn(move || {
                    std::thread::sleep(Duration::from_millis(30));
                    other.cancel();
                });
                trap(&process, name, 1)
            });
            assert_eq!(ended.kind, TrapKind::Cancelled, "{name} {tier:?}");
            goes_on(&process);
        }
        // A call that begins afterwards is not cancelled.
        handle.cancel();
        goes_on(&process);
    }
}

#[test]
fn calls_end_after_their_time() {
    let _turn = super::one_at_a_time();
    for tier in TIERS {
        let limit = Duration::from_millis(30);
        let process = start(Config::new().tier(tier).time_limit(limit));
        for name in ENDLESS.into_iter().chain(["in_host"]) {
            let begun = Instant::now();
            let ended = trap(&process, name, 1);
            assert_eq!(ended.kind, TrapKind::OutOfTime, "{name} {tier:?}");
            assert!(begun.elapsed() >= limit, "{name} {tier:?}");
            goes_on(&process);
        }
    }
}

#[test]
fn a_fault_on_any_thread_returns() {
    let _turn = super::one_at_a_time();
    for tier in TIERS {
        let process = start(Config::new().tier(tier));
        for thread in [0, 1, 2] {
            let ended = trap(&process, "faults", thread);
            assert_eq!(ended.kind, TrapKind::BadAddress(0), "{tier:?}");
            assert_eq!(ended.thread, Some(thread as u32), "{tier:?}");
            assert!(
                ended
                    .place
                    .is_some_and(|place| place.contains("guest.c:49"))
            );
            goes_on(&process);
        }
    }
}

#[test]
fn threads_of_the_host_are_cancelled_together() {
    let _turn = super::one_at_a_time();
    let handle = CancelHandle::new();
    let process = start(Config::new().tier(Tier::Auto).cancelled_by(&handle));
    std::thread::scope(|scope| {
        let calls = ["loop", "one_loops", "in_host"];
        let threads = calls.map(|name| scope.spawn(|| trap(&process, name, 1).kind));
        std::thread::sleep(Duration::from_millis(50));
        handle.cancel();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), TrapKind::Cancelled);
        }
    });
    goes_on(&process);
}

#[test]
fn calls_end_without_fuel() {
    let _turn = super::one_at_a_time();
    let process = start(Config::new().tier(Tier::Interp).fuel(1_000_000));
    for name in ENDLESS.into_iter().chain(["in_host"]) {
        process
            .set_fuel(if name == "in_host" { 50 } else { 200_000 })
            .unwrap();
        let ended = trap(&process, name, 1);
        assert_eq!(ended.kind, TrapKind::OutOfFuel, "{name}");
        assert!(
            ended.place.is_some_and(|place| place.contains("guest.c")),
            "{name}"
        );
        process.set_fuel(1_000_000).unwrap();
        goes_on(&process);
    }
}

#[test]
fn fuel_is_exact_on_one_thread() {
    let _turn = super::one_at_a_time();
    let process = start(Config::new().tier(Tier::Interp).fuel(1_000_000));
    let turns = process.global::<i64>("turns").unwrap();
    let mut made = Vec::new();
    for fuel in [100_000, 100_000, 200_000] {
        // SAFETY: no call runs, and the variable has this type.
        unsafe { turns.write(0) };
        process.set_fuel(fuel).unwrap();
        assert_eq!(trap(&process, "loop", 1).kind, TrapKind::OutOfFuel);
        // SAFETY: as above.
        made.push(unsafe { turns.read() });
        assert!(process.fuel().unwrap() < 10, "less than a block is left");
    }
    assert_eq!(made[0], made[1]);
    assert!((made[2] - 2 * made[0]).abs() <= 2, "{made:?}");
    // A call takes what it executes, on all threads, and gives the rest back.
    let used = |threads: &Process| {
        let before = threads.fuel().unwrap();
        goes_on(threads);
        before - threads.fuel().unwrap()
    };
    process.set_fuel(1_000_000).unwrap();
    let first = used(&process);
    assert!(first > 60 && first < 3_000, "{first}");
    assert_eq!(used(&process), first);
}

#[test]
fn fuel_needs_the_interpreter() {
    let _turn = super::one_at_a_time();
    let engine = Engine::default();
    let source = Source::text(Language::C, "guest.c", "int main(void) { return 0; }");
    let module = Module::from_source(&engine, &source).unwrap();
    let program = Linker::new(&engine).link(&module).unwrap();
    for tier in [Tier::Baseline, Tier::Opt, Tier::Auto] {
        let refused = program.start(Config::new().tier(tier).fuel(100));
        assert!(refused.is_err_and(|e| e.to_string().contains("Tier::Interp")));
    }
    let process = program.start(Config::new()).unwrap();
    assert_eq!(process.fuel(), None);
    assert!(process.set_fuel(5).is_err());
    let process = program.start(Config::new().fuel(100)).unwrap();
    assert_eq!(process.run_main().unwrap().code(), 0);
    assert!(process.fuel().unwrap() < 100);
}
