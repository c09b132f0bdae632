//! Compiles the C++ shim over LLVM, and `runtime-c/` to bitcode: inline paths of the runtime for
//! compiled code, and the devices' runtime.
//!
//! Without a clang 22 the bitcode is empty: nothing of the runtime is inlined, no region offloaded.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    write_abi_header();
    runtime_bitcode();
    compile_shim();
}

/// Writes `omp_abi.h` for the files of `runtime-c/`.
fn write_abi_header() {
    let header = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("omp_abi.h");
    if let Err(why) = std::fs::write(&header, omp_abi::c_header()) {
        panic!("{}: {why}", header.display());
    }
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
        "../../runtime-c",
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
        "../../runtime-c/device",
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
            .arg("-I")
            .arg(output.parent().unwrap_or(Path::new(".")))
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
fn compile_shim() {
    const SOURCES: [&str; 23] = [
        "shim.cpp",
        "keep_in_memory.cpp",
        "constructors.cpp",
        "contain.cpp",
        "ordered_iterations.cpp",
        "osr_entry.cpp",
        "version_aliases.cpp",
        "cluster_stores.cpp",
        "hoist_indices.cpp",
        "extract.cpp",
        "labels.cpp",
        "lto.cpp",
        "narrow_indices.cpp",
        "repack_vectors.cpp",
        "run_passes.cpp",
        "split_vectors.cpp",
        "tile_loops.cpp",
        "thread_locals.cpp",
        "uncollapse.cpp",
        "unroll_reductions.cpp",
        "mark_unroll.cpp",
        "code_pipeline.cpp",
        "definite_init.cpp",
    ];
    const HEADERS: [&str; 6] = [
        "added.h",
        "analyses.h",
        "interleaved.h",
        "locations.h",
        "loop_versions.h",
        "reciprocal.h",
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
