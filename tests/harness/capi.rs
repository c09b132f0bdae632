//! The C library: programs of `tests/capi`, `examples/c` and `examples/cxx`, linked with it and run.
//!
//! `cargo xtask test` builds the library first. `calls.c` also runs under the address and undefined
//! behaviour sanitizers, which see the library's allocations and its use of the host's memory, but
//! not its own code. Does not cover the Rust interface below, which has tests of its own.

use crate::compile::llvm_bin;
use crate::run::{End, LIMIT, Ran, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that uses the library, and how it is compiled.
struct Client {
    name: &'static str,
    source: &'static str,
    compiler: &'static str,
    flags: &'static [&'static str],
    guest: &'static str,
}

const SANITIZED: &[&str] = &["-std=c11", "-fsanitize=address,undefined"];

const CLIENTS: [Client; 6] = [
    Client {
        name: "calls",
        source: "tests/capi/calls.c",
        compiler: "clang",
        flags: &["-std=c99"],
        guest: "tests/capi/guest.c",
    },
    Client {
        name: "calls/sanitized",
        source: "tests/capi/calls.c",
        compiler: "clang",
        flags: SANITIZED,
        guest: "tests/capi/guest.c",
    },
    Client {
        name: "example",
        source: "examples/c/dot.c",
        compiler: "clang",
        flags: &["-std=c99"],
        guest: "examples/guest/kernel.c",
    },
    Client {
        name: "cxx/example",
        source: "examples/cxx/dot.cpp",
        compiler: "clang++",
        flags: &["-std=c++17"],
        guest: "examples/guest/kernel.c",
    },
    Client {
        name: "cxx",
        source: "tests/capi/calls.cpp",
        compiler: "clang++",
        flags: &["-std=c++17"],
        guest: "tests/capi/guest.c",
    },
    Client {
        name: "cxx/sanitized",
        source: "tests/capi/calls.cpp",
        compiler: "clang++",
        flags: &["-std=c++17", "-fsanitize=address,undefined"],
        guest: "tests/capi/guest.c",
    },
];

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let client = |c: &'static Client| Trial::test(format!("capi/{}", c.name), || Ok(check(c)?));
    let mut trials: Vec<Trial> = CLIENTS.iter().map(client).collect();
    trials.push(Trial::test("capi/exports", || Ok(exports()?)));
    let builds = || Ok(entries_of_builds()?);
    trials.push(Trial::test("capi/entries_of_builds", builds));
    trials
}

/// Runs a command that must succeed.
fn must(command: &mut Command) -> Result<Ran, String> {
    let ran = run(command, "", LIMIT)?;
    match ran.end {
        End::Exit(0) => Ok(ran),
        _ => Err(format!("{command:?}: {}", ran.summary())),
    }
}

/// Returns a folder with the library under the name that programs ask for.
fn library(folder: &Path) -> Result<PathBuf, String> {
    let built = ompvm().with_file_name("libompvm.so");
    if !built.exists() {
        return Err("build it first: cargo build --release --package ompvm-capi".into());
    }
    for name in ["libompvm.so", "libompvm.so.0"] {
        let link = folder.join(name);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&built, &link).map_err(|e| e.to_string())?;
    }
    Ok(folder.to_owned())
}

/// Compares the functions that the library exports with those that its header declares.
fn exports() -> Result<(), String> {
    let built = ompvm().with_file_name("libompvm.so");
    let mut nm = Command::new("nm");
    let table = must(nm.args(["-D", "--defined-only"]).arg(built))?;
    let exported = table.stdout.lines().filter_map(|line| {
        let name = line.rsplit(' ').next()?;
        // LLVM and the C++ library call one internal function by its name.
        let own = name.starts_with("ompvm_") && name != "ompvm_out_of_memory";
        (own && line.contains(" T ")).then(|| name.to_owned())
    });
    let exported: BTreeSet<String> = exported.collect();
    // The record has a line for each declaration of the header.
    let record = root().join("tests/interface/c.txt");
    let record = std::fs::read_to_string(record).map_err(|e| e.to_string())?;
    let functions = record.lines().filter(|line| !line.starts_with("typedef"));
    let declared = functions.filter_map(|line| {
        let name = line.split_once('(')?.0;
        let name = name.rsplit([' ', '*']).next()?;
        name.starts_with("ompvm_").then(|| name.to_owned())
    });
    let declared: BTreeSet<String> = declared.collect();
    let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| format!("{:?}", a.difference(b));
    match exported == declared {
        true => Ok(()),
        false => Err(format!(
            "exported only: {}, declared only: {}",
            only(&exported, &declared),
            only(&declared, &exported)
        )),
    }
}

/// Checks that the page on embedding shows an example, without its first comment.
fn shown(example: &str) -> Result<(), String> {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).map_err(|e| e.to_string());
    let text = read(example)?;
    let lines: Vec<_> = text.lines().skip(1).collect();
    match read("docs/src/embedding.md")?.contains(&lines.join("\n")) {
        true => Ok(()),
        false => Err(format!("docs/src/embedding.md does not show {example}")),
    }
}

fn check(client: &Client) -> Result<(), String> {
    if client.source.starts_with("examples/") {
        shown(client.source)?;
    }
    let folder = root().join("target/guests/capi").join(client.name);
    let library = build(client, &folder)?;
    let ran = start(&folder, &library, None)?;
    match ran.stdout.lines().last() {
        Some("ok" | "32") => Ok(()),
        _ => Err(ran.summary()),
    }
}

/// Builds a client and its guest in a folder. Returns the folder of the library.
fn build(client: &Client, folder: &Path) -> Result<PathBuf, String> {
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    let library = library(folder)?;
    let guest = folder.join("kernel.bc");
    must(
        Command::new(llvm_bin().join("clang"))
            .args(["-O2", "-g", "-fopenmp", "-c", "-emit-llvm", "-o"])
            .arg(&guest)
            .arg(root().join(client.guest)),
    )?;
    let program = folder.join("program");
    must(
        Command::new(llvm_bin().join(client.compiler))
            .args(["-g", "-O1", "-Wall", "-Wextra", "-Werror"])
            .args(client.flags)
            .arg("-I")
            .arg(root().join("include"))
            .arg(root().join(client.source))
            .arg("-L")
            .arg(&library)
            .args(["-lompvm", "-lpthread", "-o"])
            .arg(&program),
    )?;
    Ok(library)
}

/// Runs a client with a library, and with a cache of its own if one is given.
fn start(folder: &Path, library: &Path, cache: Option<&Path>) -> Result<Ran, String> {
    let mut command = Command::new(folder.join("program"));
    command
        .arg(folder.join("kernel.bc"))
        .current_dir(folder)
        .env("LD_LIBRARY_PATH", library)
        // The library keeps state for the whole process and frees none of it at the end.
        .env("ASAN_OPTIONS", "detect_leaks=0");
    if let Some(cache) = cache {
        command.env("OMPVM_CACHE_DIR", cache);
    }
    must(&mut command)
}

/// Checks that a program in C that gets another build of the library does not read the cache entries
/// of the first: the program itself stays the same.
fn entries_of_builds() -> Result<(), String> {
    let folder = root().join("target/guests/capi/builds");
    let library = build(&CLIENTS[2], &folder)?;
    let (cache, other) = (folder.join("cache"), folder.join("other"));
    let _ = std::fs::remove_dir_all(&cache);
    std::fs::create_dir_all(&other).map_err(|e| e.to_string())?;
    // A copy has a time of its own.
    let copy = other.join("libompvm.so.0");
    std::fs::copy(library.join("libompvm.so.0"), copy).map_err(|e| e.to_string())?;
    let mut counts = Vec::new();
    for library in [&library, &library, &other] {
        start(&folder, library, Some(&cache))?;
        let entries = std::fs::read_dir(&cache).map_err(|e| e.to_string())?;
        counts.push(entries.count());
    }
    std::fs::remove_dir_all(&other).map_err(|e| e.to_string())?;
    match counts[..] {
        [first, second, other] if first > 0 && second == first && other == 2 * first => Ok(()),
        _ => Err(format!("entries after each run: {counts:?}")),
    }
}
