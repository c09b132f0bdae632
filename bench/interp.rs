//! Criterion benches of the interpreter through the public API: steady state of small kernels,
//! one call's overhead, a parallel region, and reading and starting a program.
//!
//! What not: no comparison with peers; `cargo xtask bench` does that side by side.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ompvm::api::{Config, Engine, Linker, Module, Process, Tier};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the guest functions and returns their bitcode.
fn bitcode() -> Vec<u8> {
    let prefix = std::env::var("LLVM_SYS_221_PREFIX").unwrap_or("/usr/lib/llvm-22".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out: PathBuf = std::env::temp_dir().join(format!("ompvm-bench-{}.bc", std::process::id()));
    let status = Command::new(Path::new(&prefix).join("bin/clang"))
        .args(["-O2", "-fopenmp", "-g", "-c", "-emit-llvm", "-o"])
        .arg(&out)
        .arg(root.join("bench/guest/kernels.c"))
        .status()
        .expect("clang 22 starts");
    assert!(status.success(), "clang compiles the kernels");
    let bytes = std::fs::read(&out).expect("clang wrote the file");
    let _ = std::fs::remove_file(out);
    bytes
}

/// An empty call of compiled code.
fn call_compiled(c: &mut Criterion, bytes: &[u8]) {
    let process = process_in(bytes, Tier::Opt);
    // SAFETY: the guest's functions have these signatures.
    let (nothing, fib) = unsafe {
        (
            process.typed_func::<(), i32>("nothing").unwrap(),
            process.typed_func::<(i64,), i64>("fib").unwrap(),
        )
    };
    let mut group = c.benchmark_group("opt");
    group.bench_function("call from Rust", |b| b.iter(|| nothing.call(()).unwrap()));
    group.bench_function("call from Rust with an argument", |b| {
        b.iter(|| fib.call((black_box(1),)).unwrap());
    });
    group.finish();
}

fn process(bytes: &[u8]) -> Process {
    process_in(bytes, Tier::Interp)
}

fn process_in(bytes: &[u8], tier: Tier) -> Process {
    let engine = Engine::default();
    let module = Module::from_bytes(&engine, "kernels.bc", bytes).expect("valid bitcode");
    let program = Linker::new(&engine)
        .link(&module)
        .expect("everything resolves");
    program
        .start(Config::new().num_threads(2).tier(tier))
        .expect("the program starts")
}

fn kernels(c: &mut Criterion) {
    let bytes = bitcode();
    let process = process(&bytes);
    let (x, y) = (vec![1.5; 100_000], vec![2.0; 100_000]);
    // SAFETY: the guest's functions have these signatures and stay inside the slices.
    let (dot, fib, collatz, fork_join, nothing) = unsafe {
        (
            process
                .typed_func::<(i64, &[f64], &[f64]), f64>("dot")
                .unwrap(),
            process.typed_func::<(i64,), i64>("fib").unwrap(),
            process.typed_func::<(u64,), u64>("collatz").unwrap(),
            process.typed_func::<(i64,), i64>("fork_join").unwrap(),
            process.typed_func::<(), i32>("nothing").unwrap(),
        )
    };
    let mut group = c.benchmark_group("interp");
    group.throughput(Throughput::Elements(100_000));
    group.bench_function("dot", |b| b.iter(|| dot.call((100_000, &x, &y)).unwrap()));
    group.throughput(Throughput::Elements(21_891));
    group.bench_function("fib(20) calls", |b| {
        b.iter(|| fib.call((black_box(20),)).unwrap())
    });
    group.throughput(Throughput::Elements(350));
    group.bench_function("collatz(77031)", |b| {
        b.iter(|| collatz.call((black_box(77_031),)).unwrap());
    });
    group.throughput(Throughput::Elements(100));
    group.bench_function("fork and join", |b| {
        b.iter(|| fork_join.call((100,)).unwrap())
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("call from Rust", |b| b.iter(|| nothing.call(()).unwrap()));
    group.finish();
    call_compiled(c, &bytes);
}

fn start(c: &mut Criterion) {
    let bytes = bitcode();
    let engine = Engine::default();
    c.bench_function("start/read", |b| {
        b.iter(|| Module::from_bytes(&engine, "kernels.bc", &bytes).unwrap());
    });
    let module = Module::from_bytes(&engine, "kernels.bc", &bytes).expect("valid bitcode");
    c.bench_function("start/link and first call", |b| {
        b.iter(|| {
            let program = Linker::new(&engine).link(&module).unwrap();
            let process = program.start(Config::new()).unwrap();
            // SAFETY: the guest's function has this signature.
            let nothing = unsafe { process.typed_func::<(), i32>("nothing") }.unwrap();
            nothing.call(()).unwrap()
        });
    });
}

criterion_group!(benches, kernels, start);
criterion_main!(benches);
