//! Every test, after set-up.

use crate::npb::{self, Class, Name};
use crate::process::{self, root};
use crate::setup;

/// Builds what the tests need and runs them; `filter` narrows by name.
pub fn run(filter: Option<&str>) -> Result<(), String> {
    let tools = setup::ensure()?;
    for name in Name::ALL {
        npb::build(&tools, name, Class::S)?;
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
            .args([
                "test",
                "--release",
                "--no-default-features",
                "--lib",
                "loom_",
            ]),
    )
}
