//! Time of a call of an empty function from Rust, in nanoseconds of processor time: medians of
//! batches. `bench/calls` has the same for C and Python.

use ompvm::api::{Config, Engine, Language, Linker, Module, Source, Tier};
use std::path::Path;

const BATCHES: usize = 101;
const CALLS: u32 = 200_000;

/// Returns the processor time of this thread in nanoseconds.
fn now() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to a local.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn main() {
    let engine = Engine::default();
    let guest = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/calls/guest.c");
    let guest = std::fs::read_to_string(guest).expect("the guest's source");
    let source = Source::text(Language::C, "guest.c", &guest);
    let module = Module::from_source(&engine, &source).expect("clang compiles the guest");
    for tier in [Tier::Interp, Tier::Opt] {
        let program = Linker::new(&engine).link(&module).expect("a program");
        let process = program.start(Config::new().tier(tier)).expect("a process");
        // SAFETY: the guest's functions have these signatures.
        let (leaf, other) = unsafe {
            (
                process
                    .typed_func::<(), i32>("nothing")
                    .expect("a function"),
                process
                    .typed_func::<(i32,), i32>("calls_library")
                    .expect("a function"),
            )
        };
        let measure = |call: &dyn Fn()| {
            let times = (0..BATCHES).map(|_| {
                let start = now();
                call();
                (now() - start) / f64::from(CALLS)
            });
            let mut times: Vec<f64> = times.collect();
            times.sort_by(f64::total_cmp);
            format!("{:.1} ns, least {:.1}", times[BATCHES / 2], times[0])
        };
        let first = measure(&|| {
            for _ in 0..CALLS {
                std::hint::black_box(leaf.call(())).expect("it returns");
            }
        });
        let second = measure(&|| {
            for _ in 0..CALLS {
                std::hint::black_box(other.call((0,))).expect("it returns");
            }
        });
        println!("Rust {tier:?}: nothing {first}; calls_library {second}");
    }
}
