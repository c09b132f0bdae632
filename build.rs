//! Chooses how the executable is linked.
//!
//! Leaves to others: the C++ over LLVM and the bitcode of `runtime-c/` (`src/llvm/build.rs`), and
//! how the interpreter's handlers reach each other (`src/interp/build.rs`).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=llvm-late.ld");
    let env = |name: &str| std::env::var(name).unwrap_or_default();
    if env("CARGO_CFG_TARGET_OS") != "linux" || env("CARGO_CFG_TARGET_ARCH") != "x86_64" {
        return;
    }
    // Relocating a position-independent executable of this size takes a good part of a short run.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // So do LLVM's constructors; src/llvm/deferred_init.rs runs them on demand.
    let folder = env("CARGO_MANIFEST_DIR");
    println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/llvm-late.ld");
    println!("cargo::rustc-link-arg-bins=-Wl,--wrap=__cxa_atexit");
    // LLVM aborts when it runs out of memory; src/llvm/contain.rs intercepts that.
    println!("cargo::rustc-link-arg-bins=-Wl,--wrap=_Znwm");
    if env("OPT_LEVEL") == "3" {
        // `cargo xtask dist` reorders functions and blocks of the linked executable.
        println!("cargo::rustc-link-arg-bins=-Wl,--emit-relocs");
    }
    bind_type_infos();
    start_objects();
}

/// Compiles what `ompvm cc` adds to programs: the start object, and an archive for programs with
/// `target` regions that run natively.
fn start_objects() {
    const FOLDER: &str = "src/cli/driver";
    println!("cargo::rerun-if-changed={FOLDER}/start.c");
    println!("cargo::rerun-if-changed={FOLDER}/host_targets.c");
    let compiler = || {
        let mut build = cc::Build::new();
        build
            .cargo_metadata(false)
            .opt_level(2)
            .debug(false)
            .pic(true);
        build.flag("-w").flag("-fno-stack-protector");
        build
    };
    let start = compiler()
        .flag("-ffreestanding")
        .file(format!("{FOLDER}/start.c"))
        .compile_intermediates();
    println!("cargo::rustc-env=START_OBJECT={}", start[0].display());
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    compiler()
        .file(format!("{FOLDER}/host_targets.c"))
        .compile("ompvm_host_targets");
    println!("cargo::rustc-env=HOST_TARGETS={out}/libompvm_host_targets.a");
}

/// Links the executable with tables for type infos, which the loader need not bind then.
fn bind_type_infos() {
    const SOURCE: &str = "src/llvm/type_infos.cpp";
    println!("cargo::rerun-if-changed={SOURCE}");
    let objects = cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .debug(false)
        .cpp_link_stdlib(None)
        .file(SOURCE)
        .compile_intermediates();
    for object in objects {
        println!("cargo::rustc-link-arg-bins={}", object.display());
    }
}
