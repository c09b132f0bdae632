//! Every test, after set-up.
//!
//! The interpreter's handlers reach each other by tail calls in an optimised build and by a loop
//! elsewhere (build.rs). So that both are tested, the development build of the program alone, which
//! takes a loop, runs under the optimised harness: in the ordinary run what the handlers execute
//! (`pass`, `fail`, `diff`), with `--dispatch=loop` everything, in the harness's mixture of tiers.

use crate::dist;
use crate::npb::{self, Class, Form, Name};
use crate::process::{self, root};
use crate::setup::{self, Tools};
use std::path::Path;
use std::process::Command;

/// How the interpreter's handlers reach each other.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Dispatch {
    /// By tail calls.
    Tail,
    /// By returning to a loop.
    Loop,
}

/// Groups of trials that the ordinary run leaves out with a loop: they do not depend on it, or
/// execute what others do, for long.
const NOT_OF_THE_LOOP: [&str; 11] = [
    "archives/",
    "baseline/refused",
    "cache/",
    "cli/",
    "compare/",
    "dropin/",
    "fortran/",
    "images/",
    "npb/",
    "outlined/",
    "tools/",
];

/// The groups of programs for devices that the ordinary run leaves out with a loop: their regions
/// are no bytecode. What fails on a device stays, for the development build checks more.
fn not_of_the_loop_on_devices() -> Result<Vec<String>, String> {
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

/// Finds the tools, and builds what the tests run that is not theirs.
fn prepare() -> Result<Tools, String> {
    let tools = setup::ensure()?;
    setup::for_tests(&tools);
    for name in Name::ALL {
        npb::build(&tools, name, Class::S)?;
    }
    for name in Name::TARGET {
        npb::build_form(&tools, name, Class::S, Form::Target)?;
    }
    Ok(tools)
}

/// Builds what the tests need and runs them; `filter` narrows by name.
pub fn run(filter: Option<&str>, dispatch: Option<Dispatch>) -> Result<(), String> {
    let tools = prepare()?;
    if dispatch == Some(Dispatch::Loop) {
        return with_a_loop(&tools, filter, true);
    }
    let cargo = |args: &[&str]| {
        let mut command = tools.cargo();
        command.current_dir(root()).args(args);
        if let Some(filter) = filter {
            command.arg("--").arg(filter);
        }
        process::run(&mut command)
    };
    // The runtime alone first: it needs no LLVM and fails fastest.
    process::run(tools.cargo().current_dir(root()).args([
        "build",
        "--release",
        "--package",
        "ompvm-libomp",
    ]))?;
    cargo(&[
        "test",
        "--release",
        "--package",
        "ompvm",
        "--package",
        "ompvm-measure",
        "--package",
        "xtask",
    ])?;
    if filter.is_some() {
        return Ok(());
    }
    // The team's protocol under every interleaving; the other configuration has a folder of its own.
    process::run(
        tools
            .cargo()
            .current_dir(root())
            .env("RUSTFLAGS", "--cfg loom")
            .env("CARGO_TARGET_DIR", root().join("target/loom"))
            // Every dependency is compiled once more for it, which takes longer than the models do.
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
            .args([
                "test",
                "--release",
                "--no-default-features",
                "--lib",
                "loom_",
            ]),
    )?;
    if dispatch == Some(Dispatch::Tail) {
        return Ok(());
    }
    with_a_loop(&tools, None, false)
}

/// The harness with another executable than the one it was built with.
fn programs(tools: &Tools, filter: Option<&str>, executable: &Path) -> Command {
    let mut test = tools.cargo();
    test.current_dir(root()).args(["test", "--release"]);
    test.args(["--package", "ompvm", "--test", "harness", "--"])
        .args(filter)
        // The examples, which are not built here, and rules about the sources.
        .args(["--skip", "house/"])
        .env("OMPVM_UNDER_TEST", executable);
    test
}

/// The programs with the executable that is installed and measured: what moved its functions must
/// have moved what describes their frames.
pub fn run_dist(filter: Option<&str>) -> Result<(), String> {
    let tools = prepare()?;
    setup::ensure_bolt(&tools)?;
    let executable = dist::laid_out(&tools)?;
    process::run(&mut programs(&tools, filter, &executable))
}

/// The programs under the development build; `whole` is all of them, in every tier.
fn with_a_loop(tools: &Tools, filter: Option<&str>, whole: bool) -> Result<(), String> {
    let package = ["--package", "ompvm"];
    let mut build = tools.cargo();
    build.current_dir(root()).arg("build").args(package);
    process::run(build.args(["--bin", "ompvm"]))?;
    let mut test = programs(tools, filter, &root().join("target/debug/ompvm"));
    if !whole {
        let devices = not_of_the_loop_on_devices()?;
        let groups = NOT_OF_THE_LOOP
            .into_iter()
            .chain(devices.iter().map(String::as_str));
        test.args(groups.flat_map(|group| ["--skip", group]))
            .env("OMPVM_TEST_TIER", "interp");
    }
    process::run(&mut test)
}
