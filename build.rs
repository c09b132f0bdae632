//! Compiles the C++ shim over LLVM and the runtime's bitcode, and chooses how the interpreter
//! dispatches and how the executable is linked.
//!
//! At opt-level 3 on x86-64, LLVM turns `return next(..)` in a handler into a jump, so handlers
//! chain directly (`cfg(ompvm_tail_calls)`). That is an optimization, not a promise of the
//! language. At every other level, and when `OMPVM_LOOP_DISPATCH` is set at build time, the same
//! handler bodies return to a loop. With `OMPVM_HISTOGRAM` set at build time that loop counts pairs
//! of instructions and prints the most frequent ones at the end.
//!
//! `runtime-c/` is compiled to bitcode: the inlinable fast paths of the runtime's entries for tier
//! 2, and the device runtime. Without clang 22 both are empty files: nothing of the runtime is
//! inlined, and no region is offloaded.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ompvm_tail_calls)");
    println!("cargo::rustc-check-cfg=cfg(ompvm_histogram)");
    println!("cargo::rerun-if-env-changed=OMPVM_HISTOGRAM");
    println!("cargo::rerun-if-env-changed=OMPVM_LOOP_DISPATCH");
    println!("cargo::rerun-if-changed=build.rs");
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
    println!("cargo::rerun-if-changed=llvm-late.ld");
    if env("CARGO_CFG_TARGET_OS") == "linux" && env("CARGO_CFG_TARGET_ARCH") == "x86_64" {
        // Relocating an executable of this size would take a large part of a short run.
        println!("cargo::rustc-link-arg-bins=-no-pie");
        // LLVM's constructors would, too; src/llvm/late.rs runs them on demand.
        let folder = env("CARGO_MANIFEST_DIR");
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/llvm-late.ld");
        println!("cargo::rustc-link-arg-bins=-Wl,--wrap=__cxa_atexit");
        // LLVM aborts when it runs out of memory; src/llvm/contain.rs intercepts that.
        println!("cargo::rustc-link-arg-bins=-Wl,--wrap=_Znwm");
        if env("OPT_LEVEL") == "3" {
            // `cargo xtask dist` reorders functions and blocks of the linked executable.
            println!("cargo::rustc-link-arg-bins=-Wl,--emit-relocs");
        }
    }
    if !env("CARGO_FEATURE_VM").is_empty() {
        runtime_bitcode();
    }
    #[cfg(feature = "vm")]
    compile_shim();
}

/// Compiles `runtime-c/`: the host runtime's inlinable fast paths, and the device runtime.
fn runtime_bitcode() {
    // No type-based alias information: inlined code sees objects of the program's types.
    let common = [
        "-O2",
        "-Wall",
        "-Wextra",
        "-fno-strict-aliasing",
        "-std=c11",
    ];
    let host = ["-fPIC", "-fno-asynchronous-unwind-tables"];
    if !bitcode(
        "runtime-c",
        "entries.c",
        "entries.bc",
        &[&common[..], &host].concat(),
    ) {
        println!("cargo::warning=no clang 22: compiled programs call the runtime out of line");
    }
    // The oldest supported GPUs: one file serves all and is lowered for the GPU at hand.
    let device = [
        "--target=nvptx64-nvidia-cuda",
        "-march=sm_70",
        "-Xclang",
        "-target-feature",
        "-Xclang",
        "+ptx70",
        "-nogpulib",
        "-ffreestanding",
        "-fvisibility=hidden",
        // All threads must meet at a barrier: no pass may make it depend on a condition.
        "-fconvergent-functions",
    ];
    if !bitcode(
        "runtime-c/device",
        "device.c",
        "device.bc",
        &[&common[..], &device].concat(),
    ) {
        println!("cargo::warning=no clang 22: target regions cannot run on devices");
    }
}

/// Compiles a file of a folder to bitcode in the output folder. On failure writes an empty file and
/// returns false.
fn bitcode(folder: &str, file: &str, output: &str, flags: &[&str]) -> bool {
    const PREFIX: &str = "LLVM_SYS_221_PREFIX";
    println!("cargo::rerun-if-changed={folder}");
    println!("cargo::rerun-if-env-changed={PREFIX}");
    let output = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join(output);
    let mut candidates = vec![PathBuf::from("clang-22")];
    if let Some(prefix) = std::env::var_os(PREFIX) {
        candidates.insert(0, PathBuf::from(prefix).join("bin/clang"));
    }
    let made = candidates.iter().any(|clang| {
        Command::new(clang)
            .args(flags)
            .args(["-c", "-emit-llvm", "-o"])
            .arg(&output)
            .arg(PathBuf::from(folder).join(file))
            .status()
            .is_ok_and(|status| status.success())
    });
    if !made {
        // `include_bytes!` needs the file.
        let _ = std::fs::write(&output, b"");
    }
    made
}

/// Compiles the C++ of `src/llvm` against the headers of the LLVM that `llvm-sys` found.
#[cfg(feature = "vm")]
fn compile_shim() {
    const SOURCES: [&str; 16] = [
        "src/llvm/shim.cpp",
        "src/llvm/carried.cpp",
        "src/llvm/contain.cpp",
        "src/llvm/entry.cpp",
        "src/llvm/speculate.cpp",
        "src/llvm/lines.cpp",
        "src/llvm/loads.cpp",
        "src/llvm/lto.cpp",
        "src/llvm/narrow.cpp",
        "src/llvm/pairs.cpp",
        "src/llvm/passes.cpp",
        "src/llvm/split.cpp",
        "src/llvm/tile.cpp",
        "src/llvm/thread_locals.cpp",
        "src/llvm/unroll.cpp",
        "src/llvm/written.cpp",
    ];
    const HEADERS: [&str; 4] = [
        "src/llvm/analyses.h",
        "src/llvm/interleaved.h",
        "src/llvm/places.h",
        "src/llvm/versions.h",
    ];
    for file in SOURCES.iter().chain(&HEADERS) {
        println!("cargo::rerun-if-changed={file}");
    }
    let Ok(config) = std::env::var("DEP_LLVM_22_CONFIG_PATH") else {
        panic!("llvm-sys does not say where llvm-config is");
    };
    let include = std::process::Command::new(&config)
        .arg("--includedir")
        .output();
    let include = match include {
        Ok(output) if output.status.success() => output.stdout,
        _ => panic!("`{config} --includedir` fails"),
    };
    let include = String::from_utf8_lossy(&include).trim().to_owned();
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .debug(false)
        .define("NDEBUG", None)
        .flag("-fno-exceptions")
        .flag("-isystem")
        .flag(include)
        .files(SOURCES)
        .compile("ompvm-shim");
}
