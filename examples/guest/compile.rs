//! Compiles one of the small C programs beside this file to bitcode, with clang of LLVM 22.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The bitcode of `examples/guest/NAME.c`.
pub fn compile(name: &str) -> Vec<u8> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/guest")
        .join(name);
    let clang = match std::env::var_os("LLVM_SYS_221_PREFIX") {
        Some(prefix) => Path::new(&prefix).join("bin/clang"),
        None => PathBuf::from("clang-22"),
    };
    let out = Command::new(&clang)
        .args(["-O2", "-g", "-fopenmp", "-c", "-emit-llvm", "-o", "-"])
        .arg(&source)
        .output()
        .unwrap_or_else(|e| panic!("{} cannot be run: {e}", clang.display()));
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    out.stdout
}
