//! Rules of the project: layers point down, only the edge reads the environment, the examples run,
//! what documents and comments name exists.
//!
//! Rules that no test checks erode. Those that lints check are left to the lints.

use crate::compile::llvm_bin;
use crate::run::{End, LIMIT, run};
use crate::{files, ompvm, root};
use libtest_mimic::Trial;
use std::process::Command;

/// The folders of crates below `src`, and the crates of the workspace that each may use. Cargo holds
/// the walls; this list holds the plan, so that a new arrow is a decision. ARCHITECTURE.md draws it.
const USES: [(&str, &[&str]); 14] = [
    ("abi", &[]),
    // Above all: it uses the package itself.
    ("capi", &[]),
    ("support", &[]),
    ("ir", &["support"]),
    ("llvm", &["abi", "ir", "support"]),
    ("llvm/cache", &["ir", "llvm", "support"]),
    ("memory", &["ir", "support"]),
    ("kmpc", &["abi", "memory", "support"]),
    (
        "offload",
        &["abi", "cache", "kmpc", "llvm", "memory", "support"],
    ),
    (
        "offload/auto_offload",
        &["cache", "kmpc", "llvm", "memory", "offload", "support"],
    ),
    (
        "interp",
        &["cache", "ir", "kmpc", "llvm", "memory", "support"],
    ),
    ("interp/baseline", &["interp", "ir", "memory", "support"]),
    ("jit", &["cache", "ir", "kmpc", "llvm", "memory", "support"]),
    (
        "tier",
        &[
            "auto-offload",
            "baseline",
            "cache",
            "interp",
            "ir",
            "jit",
            "kmpc",
            "llvm",
            "memory",
            "offload",
            "support",
        ],
    ),
];

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("house/layers_point_down", || Ok(layers()?))];
    trials.push(Trial::test("house/environment_at_the_edge", || {
        Ok(environment_at_the_edge()?)
    }));
    trials.push(Trial::test("house/named_paths", || Ok(named_paths()?)));
    trials.push(Trial::test(
        "house/readme_example",
        || Ok(readme_example()?),
    ));
    for name in ["run_main", "call_function", "host_functions", "readme"] {
        trials.push(Trial::test(format!("house/example/{name}"), move || {
            Ok(example(name)?)
        }));
    }
    trials
}

/// Compares the dependencies of each crate with [`USES`], and keeps the API from using the command
/// line.
fn layers() -> Result<(), String> {
    let src = root().join("src");
    let read = |path: &std::path::Path| std::fs::read_to_string(path).map_err(|e| e.to_string());
    let mut wrong = Vec::new();
    for (name, allowed) in USES {
        let text = read(&src.join(name).join("Cargo.toml"))?;
        let text = text
            .split_once("[dependencies]")
            .map_or("", |(_, rest)| rest);
        let section = text.split("\n[").next().unwrap_or_default();
        let used = section
            .lines()
            .filter_map(|line| line.strip_prefix("ompvm-").or(line.strip_prefix("omp-")))
            .filter_map(|line| line.split_once('.').map(|(name, _)| name));
        for used in used.filter(|used| !allowed.contains(used)) {
            wrong.push(format!("{name} uses {used}"));
        }
    }
    for file in files(&src, &["toml"]) {
        let folder = file.parent().and_then(|f| f.strip_prefix(&src).ok());
        let name = folder.unwrap_or(&file).display().to_string();
        if !USES.iter().any(|(known, _)| *known == name) {
            wrong.push(format!(
                "the crate in src/{name} is not in the list of layers"
            ));
        }
    }
    for file in files(&src.join("api"), &["rs"]) {
        if read(&file)?.contains("crate::cli") {
            wrong.push(format!("{} uses cli", file.display()));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// The files that may read the environment.
const EDGE: [&str; 6] = [
    // ompvm's own variables.
    "support/settings/mod.rs",
    // OpenMP's and libomp's, at the guest's start.
    "kmpc/icv.rs",
    "kmpc/env/display.rs",
    "kmpc/ompt/start.rs",
    // The command line: the search for compilers, and the report of a comparison.
    "cli/compare/native.rs",
    "cli/compare/report.rs",
];

/// Checks that only the files of [`EDGE`] read the environment, and that each of them does.
fn environment_at_the_edge() -> Result<(), String> {
    let src = root().join("src");
    let mut wrong = Vec::new();
    let mut readers = Vec::new();
    for file in files(&src, &["rs"]) {
        let name = file
            .strip_prefix(&src)
            .unwrap_or(&file)
            .display()
            .to_string();
        let text = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
        // Build scripts and tests are programs of their own.
        let text = text.split("\nmod tests {").next().unwrap_or_default();
        let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
        let reads = ["env::var", "std::env::{", "getenv("];
        let reads = code.clone().any(|l| reads.iter().any(|r| l.contains(r)));
        if name.ends_with("build.rs") || !reads {
            continue;
        }
        if !EDGE.contains(&&*name) {
            wrong.push(format!(
                "{name} reads the environment: add the variable to support/settings/table.rs and pass \
                 the setting down"
            ));
        }
        readers.push(name);
    }
    let unused = EDGE.iter().filter(|e| !readers.iter().any(|r| r == *e));
    wrong.extend(unused.map(|e| format!("{e} does not read the environment")));
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// Folders whose files documents and comments name by their paths.
const FOLDERS: [&str; 8] = [
    "bench/",
    "docs/",
    "libomp/",
    "measure/",
    "runtime-c/",
    "src/",
    "tests/",
    "xtask/",
];

/// Checks that the files, folders and crates that documents and comments name exist. Names with
/// placeholders (`NAME`, `*`) and files that commands write (`bench/out`) are left out.
fn named_paths() -> Result<(), String> {
    let read = |path: &std::path::Path| std::fs::read_to_string(path).map_err(|e| e.to_string());
    let mut crates = Vec::new();
    let manifest = |folder: &str| root().join(folder).join("Cargo.toml");
    let mut manifests = files(&root().join("src"), &["toml"]);
    manifests.extend(["", "libomp", "measure", "xtask"].map(manifest));
    for manifest in manifests {
        let text = read(&manifest)?;
        let (_, package) = text.split_once("[package]\n").unwrap_or_default();
        let name = package.lines().find_map(|l| l.strip_prefix("name = "));
        crates.extend(name.map(|name| name.trim_matches('"').to_owned()));
    }
    // Names of the command line that are no crates; `+` is no letter here.
    crates.extend(["ompvm-cc", "ompvm-c", "ompvm-fc"].map(str::to_owned));
    let mut wrong = Vec::new();
    let top = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"];
    let mut texts: Vec<_> = top.iter().map(|name| root().join(name)).collect();
    for folder in FOLDERS.iter().filter(|folder| **folder != "bench/") {
        texts.extend(files(&root().join(folder), &["rs", "c", "cpp", "h", "md"]));
    }
    for file in texts {
        let document = file.extension().is_some_and(|e| e == "md");
        for (number, line) in (1..).zip(read(&file)?.lines()) {
            let comment = ["//", "/*", "*"].iter().any(|s| line.trim().starts_with(s));
            if !document && !comment {
                continue;
            }
            let apart = |c: char| !(c.is_ascii_alphanumeric() || "_-./*<>{}".contains(c));
            for word in line.split(apart) {
                let word = word.trim_end_matches(['.', '/', '-']);
                if is_placeholder(word) || word.starts_with("bench/out") {
                    continue;
                }
                let path = FOLDERS.iter().any(|folder| word.starts_with(folder));
                let package = word.starts_with("ompvm-");
                if path && !root().join(word).exists() || package && !is_crate(word, &crates) {
                    wrong.push(format!("{}:{number}: {word}", file.display()));
                }
            }
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("these do not exist:\n{}", wrong.join("\n"))),
    }
}

/// Returns true if a word stands for several names.
fn is_placeholder(word: &str) -> bool {
    let capitals = |part: &str| part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase());
    word.contains(['*', '<', '>', '{', '}']) || word.split(['/', '.', '-']).any(capitals)
}

fn is_crate(word: &str, crates: &[String]) -> bool {
    crates.iter().any(|name| name == word)
}

/// Compares the README's example of embedding with the program that is compiled and run: the
/// program must contain all of its lines, in order.
fn readme_example() -> Result<(), String> {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).map_err(|e| e.to_string());
    let (readme, program) = (read("README.md")?, read("examples/readme.rs")?);
    let block = readme
        .split_once("## Embed it")
        .map_or("", |(_, rest)| rest);
    let block = block.split_once("```rust").map_or("", |(_, rest)| rest);
    let block = block.split_once("```").map_or("", |(text, _)| text);
    // rustfmt decides the line breaks.
    let letters = |text: &str| text.split_whitespace().collect::<String>();
    let program = letters(&program);
    let (mut rest, mut compared) = (&*program, 0);
    // The rest of the fence's line is its language.
    for line in block
        .lines()
        .skip(1)
        .map(str::trim)
        .filter(|l| !l.is_empty())
    {
        compared += 1;
        match rest.split_once(&letters(line)) {
            Some((_, behind)) => rest = behind,
            None => return Err(format!("examples/readme.rs has no line `{line}` there")),
        }
    }
    match compared {
        0..5 => Err("the README has no example".into()),
        _ => Ok(()),
    }
}

/// Runs an example (cargo built it next to the program under test).
fn example(name: &str) -> Result<(), String> {
    let dir = ompvm().parent().ok_or("the program has a folder")?;
    let mut command = Command::new(dir.join("examples").join(name));
    command
        .current_dir(root())
        .env("LLVM_SYS_221_PREFIX", llvm_bin().join(".."));
    let ran = run(&mut command, "", LIMIT)?;
    if ran.end == End::Exit(0) {
        Ok(())
    } else {
        Err(ran.summary())
    }
}
