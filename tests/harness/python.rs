//! The Python module: `python/tests` and `examples/python`, run by the `python3` of the path.
//!
//! `cargo xtask test` builds the module first. Here it gets the place and the name that an installed
//! module has. NumPy takes part where the set-up has fetched it. Does not cover wheels.

use crate::compile::llvm_bin;
use crate::run::{End, LIMIT, run};
use crate::{ompvm, root};
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("python/calls", || {
            check(
                "tests/capi/guest.c",
                "python/tests/test_calls.py",
                "2 last\n2 last\n",
            )
        }),
        Trial::test("python/example", || {
            check(
                "examples/guest/kernel.c",
                "examples/python/dot.py",
                "32.0\n",
            )
        }),
        Trial::test("python/clauses", || {
            check(
                "examples/guest/kernel.c",
                "examples/python/clauses.py",
                "[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]\n36 26.5\n",
            )
        }),
    ]
}

/// Lays out the module as it is installed, and returns the folder to search.
fn install(folder: &Path) -> std::io::Result<PathBuf> {
    let package = folder.join("site/ompvm");
    std::fs::create_dir_all(&package)?;
    std::fs::copy(
        root().join("python/ompvm/__init__.py"),
        package.join("__init__.py"),
    )?;
    let link = package.join("_ompvm.abi3.so");
    let _ = std::fs::remove_file(&link);
    let built = ompvm().with_file_name("lib_ompvm.so");
    if !built.exists() {
        let message = "build it first: cargo build --release --package ompvm-python";
        return Err(std::io::Error::other(message));
    }
    std::os::unix::fs::symlink(built, link)?;
    Ok(folder.join("site"))
}

/// Checks that the page on embedding shows an example, without its first comment.
fn shown(example: &str) -> Result<(), Failed> {
    let text = std::fs::read_to_string(root().join(example))?;
    let comment = |line: &&str| line.starts_with('#');
    let lines: Vec<_> = text.lines().skip_while(comment).collect();
    let page = std::fs::read_to_string(root().join("docs/src/embedding.md"))?;
    match page.contains(&lines.join("\n")) {
        true => Ok(()),
        false => Err(format!("docs/src/embedding.md does not show {example}").into()),
    }
}

fn check(guest: &str, script: &str, expected: &str) -> Result<(), Failed> {
    if script.starts_with("examples/") {
        shown(script)?;
    }
    let folder = root().join("target/guests/python").join(script);
    std::fs::create_dir_all(&folder)?;
    let site = install(&folder)?;
    let bitcode = folder.join("kernel.bc");
    let mut clang = Command::new(llvm_bin().join("clang"));
    clang
        .args(["-O2", "-g", "-fopenmp", "-c", "-emit-llvm", "-o"])
        .arg(&bitcode)
        .arg(root().join(guest));
    let ran = run(&mut clang, "", LIMIT)?;
    if ran.end != End::Exit(0) {
        return Err(ran.summary().into());
    }
    let path = std::env::join_paths([site, root().join("target/numpy")])?;
    let mut python = Command::new("python3");
    python
        .arg(root().join(script))
        .arg(&bitcode)
        .current_dir(&folder)
        .env("PYTHONPATH", path)
        .env("OMPVM_CACHE_DIR", folder.join("cache"));
    let ran = run(&mut python, "", LIMIT)?;
    match ran.end {
        End::Exit(0) if ran.stdout == expected => Ok(()),
        _ => Err(ran.summary().into()),
    }
}
