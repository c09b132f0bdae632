//! Runs the tests of a name in the development build, and builds only what they need.
//!
//! The way from an edit to an answer: a release build of the upper crates takes minutes, the
//! development build seconds. The harness lists its own tests; unit tests are found in the sources,
//! because listing them would build each crate's. A test behind a macro is not found so. Tests of the
//! drop-in library run only if they are named. The release build (`--release`) runs all.

use crate::npb::{self, Class, Form, Name};
use crate::process::{self, root};
use crate::setup::{self, Tools};
use std::path::{Path, PathBuf};

/// Runs the unit tests and programs whose names contain `filter`; fails if none does.
pub fn run(filter: &str) -> Result<(), String> {
    let tools = setup::ensure()?;
    let mut found = false;
    for package in packages_with(filter)? {
        found = true;
        // The name of a crate stands for all of its tests.
        let filter = match package == package_named(filter) {
            true => "",
            false => filter,
        };
        let mut test = tools.cargo();
        test.current_dir(root())
            .args(["test", "--lib", "--package", &package, "--", filter]);
        process::run(&mut test)?;
    }
    let listed = harness(&tools, &["--list", filter])
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|e| format!("cargo test: {e}"))?;
    if !listed.status.success() {
        return Err("the harness was not built".into());
    }
    let titles = String::from_utf8_lossy(&listed.stdout);
    let titles: Vec<&str> = titles.lines().filter(|l| l.ends_with(": test")).collect();
    if titles.is_empty() {
        return if found {
            Ok(())
        } else {
            Err(format!("the name of no test contains `{filter}`"))
        };
    }
    setup::install_test_requirements(&tools);
    let any = |part: &str| titles.iter().any(|title| title.contains(part));
    if any("npb/") {
        build_benchmarks(&tools)?;
    }
    if any("house/example/") {
        let mut build = tools.cargo();
        process::run(build.current_dir(root()).args(["build", "--examples"]))?;
    }
    // These need the drop-in library's release build.
    let skipped: &[&str] = match filter.contains("dropin") {
        true => &[],
        false => &["--skip", "dropin/"],
    };
    process::run(&mut harness(&tools, &[&[filter], skipped].concat()))
}

/// Builds the bitcode of the NAS benchmarks that the harness runs.
pub fn build_benchmarks(tools: &Tools) -> Result<(), String> {
    for name in Name::ALL {
        npb::build(tools, name, Class::S)?;
    }
    for name in Name::TARGET {
        npb::build_form(tools, name, Class::S, Form::Target)?;
    }
    Ok(())
}

/// Returns the harness of the development build, with these arguments.
fn harness(tools: &Tools, args: &[&str]) -> std::process::Command {
    let mut test = tools.cargo();
    test.current_dir(root())
        .args(["test", "--package", "ompvm", "--test", "harness", "--"])
        .args(args);
    test
}

/// Returns the name that the package of a crate has; its folder is named like the crate.
fn package_named(name: &str) -> String {
    format!("ompvm-{}", name.replace('_', "-"))
}

/// Returns the crates with a unit test whose path contains `filter`, and the crate of that name.
fn packages_with(filter: &str) -> Result<Vec<String>, String> {
    let source = root().join("src");
    let mut packages = Vec::new();
    for folder in crates_below(&source)? {
        let package = package_in(&folder)?;
        if package == package_named(filter) || has_test(&folder, &folder, filter)? {
            packages.push(package);
        }
    }
    let own = ["api", "cli"].map(|part| source.join(part));
    for part in own {
        if has_test(&source, &part, filter)? {
            packages.push("ompvm".to_owned());
            break;
        }
    }
    Ok(packages)
}

/// Returns the folders of crates below `folder`, those inside of another crate's folder included.
fn crates_below(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut crates = Vec::new();
    for folder in folders(folder)? {
        let inner = crates_below(&folder)?;
        if folder.join("Cargo.toml").exists() {
            crates.push(folder);
        }
        crates.extend(inner);
    }
    Ok(crates)
}

/// Returns the name of the package in a folder.
fn package_in(folder: &Path) -> Result<String, String> {
    let path = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let name = text.lines().find_map(|line| line.strip_prefix("name = "));
    let name = name.ok_or_else(|| format!("{} has no name", path.display()))?;
    Ok(name.trim_matches('"').to_owned())
}

/// Says whether a source below `folder` has a test whose path, counted from `crate_root`, contains
/// `filter`.
fn has_test(crate_root: &Path, folder: &Path, filter: &str) -> Result<bool, String> {
    for path in entries(folder)? {
        if path.is_dir() {
            // A nested crate has tests of its own.
            if !path.join("Cargo.toml").exists() && has_test(crate_root, &path, filter)? {
                return Ok(true);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text =
                std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let module = module_of(crate_root, &path);
            if tests_in(&text).any(|test| format!("{module}::tests::{test}").contains(filter)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the names of the functions marked as tests in a source.
fn tests_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("#[test]").skip(1).filter_map(|after| {
        let name = after.split_once("fn ")?.1;
        name.split_once('(').map(|(name, _)| name)
    })
}

/// Returns the module that a source file of a crate defines, `a::b` of `a/b.rs` and `a/b/mod.rs`.
fn module_of(crate_root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(crate_root).unwrap_or(path);
    let parts = inside.with_extension("");
    let parts: Vec<_> = parts
        .iter()
        .map(|part| part.to_string_lossy())
        .filter(|part| *part != "mod" && *part != "lib" && *part != "tests")
        .collect();
    parts.join("::")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let told = |e: std::io::Error| format!("{}: {e}", folder.display());
    let read = std::fs::read_dir(folder).map_err(told)?;
    read.map(|entry| Ok(entry.map_err(told)?.path())).collect()
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut all = entries(folder)?;
    all.retain(|path| path.is_dir());
    all.sort();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_tests_are_found_by_path_and_name() {
        let with = |filter: &str| packages_with(filter).expect("the sources are read");
        assert_eq!(with("rwlock_that_no_test_has"), Vec::<String>::new());
        assert!(with("an_older_library_gives_the_same_tables").contains(&"ompvm-memory".into()));
        assert_eq!(with("decision::tests"), ["ompvm-auto-offload"]);
        assert!(with("auto_offload").contains(&"ompvm-auto-offload".into()));
        assert_eq!(with("child_of_fork_makes_code"), ["ompvm-baseline"]);
    }

    #[test]
    fn modules_follow_files() {
        let of = |path: &str| module_of(Path::new("src/x"), &Path::new("src/x").join(path));
        assert_eq!(of("a/b.rs"), "a::b");
        assert_eq!(of("a/mod.rs"), "a");
        assert_eq!(of("a/tests.rs"), "a");
        assert_eq!(of("lib.rs"), "");
    }
}
