//! Chooses how the interpreter's handlers reach each other. `src/memory` has the same build script,
//! since its assembly leaves guest frames the way that the handlers entered them.
//!
//! At opt-level 3 on x86-64 LLVM turns `return next(..)` in a handler into a jump, so the
//! handlers chain directly (`cfg(ompvm_tail_calls)`). That is an optimization, not a promise of
//! the language: at every other level, and when `OMPVM_LOOP_DISPATCH` is set at build time, the
//! same handler bodies return to a loop instead. `OMPVM_HISTOGRAM` at build time makes that loop
//! count pairs of instructions and print the most frequent ones at the end.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ompvm_tail_calls)");
    println!("cargo::rustc-check-cfg=cfg(ompvm_histogram)");
    println!("cargo::rerun-if-env-changed=OMPVM_HISTOGRAM");
    println!("cargo::rerun-if-env-changed=OMPVM_LOOP_DISPATCH");
    println!("cargo::rerun-if-changed=../interp/build.rs");
    let env = |name: &str| std::env::var(name).unwrap_or_default();
    let tail = env("OPT_LEVEL") == "3"
        && env("CARGO_CFG_TARGET_ARCH") == "x86_64"
        && env("OMPVM_LOOP_DISPATCH").is_empty();
    let histogram = !env("OMPVM_HISTOGRAM").is_empty();
    if histogram {
        println!("cargo::rustc-cfg=ompvm_histogram");
    }
    if tail && !histogram {
        println!("cargo::rustc-cfg=ompvm_tail_calls");
    }
}
