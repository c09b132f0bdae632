//! Runs every test, or those of a name, in the release build after set-up.
//!
//! The interpreter's handlers dispatch by tail calls in an optimized build and by a loop otherwise
//! (build.rs). To test both, the development build of the program, which dispatches by a loop, also
//! runs under the optimized harness: by default only the groups that execute handlers (`pass`,
//! `fail`, `diff`), with `--dispatch=loop` all of them, in the harness's mixture of tiers.

use crate::dist;
use crate::named;
use crate::process::{self, root};
use crate::setup::{self, Tools};
use std::path::Path;
use std::process::Command;

/// Dispatch method of the interpreter's handlers.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Dispatch {
    /// By tail calls.
    Tail,
    /// By returning to a loop.
    Loop,
}

/// Test groups that the default run skips with loop dispatch: they do not depend on it, or they
/// take long and execute the same code as others.
const SKIPPED_WITH_LOOP: [&str; 18] = [
    "archives/",
    "baseline/refused",
    "cache/",
    "capi/",
    "cli/",
    "coherence/",
    "compare/",
    "dropin/",
    "fortran/",
    "group/",
    "images/",
    "lto/",
    "npb/",
    "auto_offload/",
    "ptxas/",
    "python/",
    "ranks/",
    "tools/",
];

/// Returns the groups of device tests that the default run skips with loop dispatch, because their
/// regions are not bytecode. Tests of failures remain, since the development build has more checks.
fn device_groups_skipped_with_loop() -> Result<Vec<String>, String> {
    let folder = root().join("tests/offload");
    let told = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut groups = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(told)? {
        let name = entry.map_err(told)?.file_name();
        if name != "fail" {
            groups.push(format!("offload/{}/", name.display()));
        }
    }
    Ok(groups)
}

/// Finds the tools and builds what the tests run.
fn prepare() -> Result<Tools, String> {
    let tools = setup::ensure()?;
    setup::install_test_requirements(&tools);
    named::build_benchmarks(&tools)?;
    Ok(tools)
}

/// Builds and runs the tests; `filter` selects by name.
pub fn run(filter: Option<&str>, dispatch: Option<Dispatch>) -> Result<(), String> {
    let tools = prepare()?;
    if dispatch == Some(Dispatch::Loop) {
        return run_with_loop_dispatch(&tools, filter, true);
    }
    let cargo = |args: &[&str]| {
        let mut command = tools.cargo();
        command.current_dir(root()).args(args);
        if let Some(filter) = filter {
            command.arg("--").arg(filter);
        }
        process::run(&mut command)
    };
    // One command, so that all get the same features of what they share.
    let libraries = ["ompvm-libomp", "ompvm-capi", "ompvm-python"];
    let packages = libraries.iter().flat_map(|name| ["--package", name]);
    process::run(
        tools
            .cargo()
            .current_dir(root())
            .args(["build", "--release"])
            .args(packages),
    )?;
    cargo(&[
        "test",
        "--release",
        "--workspace",
        "--exclude",
        "ompvm-libomp",
        "--exclude",
        "ompvm-capi",
        "--exclude",
        "ompvm-python",
    ])?;
    if filter.is_some() {
        return Ok(());
    }
    // Model-checks the team protocol; this configuration has its own target folder.
    process::run(
        tools
            .cargo()
            .current_dir(root())
            .env("RUSTFLAGS", "--cfg loom")
            .env("CARGO_TARGET_DIR", root().join("target/loom"))
            // Compiling all dependencies again takes longer than checking the models.
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
            .args([
                "test",
                "--release",
                "--package",
                "ompvm-kmpc",
                "--lib",
                "loom_",
            ]),
    )?;
    if dispatch == Some(Dispatch::Tail) {
        return Ok(());
    }
    run_with_loop_dispatch(&tools, None, false)
}

/// Returns the harness command for another executable than the one it was built with.
fn harness_command(tools: &Tools, filter: Option<&str>, executable: &Path) -> Command {
    let mut test = tools.cargo();
    test.current_dir(root()).args(["test", "--release"]);
    test.args(["--package", "ompvm", "--test", "harness", "--"])
        .args(filter)
        // Skips the examples, which are not built here, and the rules about sources.
        .args(["--skip", "house/", "--skip", "book/"])
        .env("OMPVM_UNDER_TEST", executable);
    test
}

/// Runs the programs with the executable laid out by a profile, to test that the unwind information
/// was moved with the code.
pub fn run_dist(filter: Option<&str>) -> Result<(), String> {
    let tools = prepare()?;
    setup::ensure_bolt(&tools)?;
    let executable = dist::with_layout(&tools)?;
    process::run(&mut harness_command(&tools, filter, &executable))
}

/// Runs the programs with the development build; `whole` selects all of them in every tier.
fn run_with_loop_dispatch(tools: &Tools, filter: Option<&str>, whole: bool) -> Result<(), String> {
    let package = ["--package", "ompvm"];
    let mut build = tools.cargo();
    build.current_dir(root()).arg("build").args(package);
    process::run(build.args(["--bin", "ompvm"]))?;
    let mut test = harness_command(tools, filter, &root().join("target/debug/ompvm"));
    if !whole {
        let devices = device_groups_skipped_with_loop()?;
        let groups = SKIPPED_WITH_LOOP
            .into_iter()
            .chain(devices.iter().map(String::as_str));
        test.args(groups.flat_map(|group| ["--skip", group]))
            .env("OMPVM_TEST_TIER", "interp");
    }
    process::run(&mut test)
}
