//! Checks what cargo needs to install ompvm from its sources.

use crate::process::{self, capture_ok, root};
use crate::setup::Tools;
use std::path::Path;
use std::process::Command;

/// Fields that the manifest must have.
const FIELDS: [&str; 3] = ["description", "license", "rust_version"];

/// Files without which the package does not build.
const NEEDED: [&str; 5] = [
    "build.rs",
    "llvm-late.ld",
    "src/cli/driver/start.c",
    "include/ompvm.h",
    "LICENSE-MIT",
];

/// Checks the manifest and the package's list of files. Tries `cargo install` if `install` is set;
/// otherwise says that it was not tried.
pub fn check(tools: &Tools, work: &Path, install: bool) -> Result<Vec<String>, String> {
    let mut metadata = tools.cargo();
    metadata
        .current_dir(root())
        .args(["metadata", "--no-deps", "--format-version=1"]);
    let metadata: serde_json::Value =
        serde_json::from_str(&capture_ok(&mut metadata)?).map_err(|e| e.to_string())?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let own = packages
        .iter()
        .find(|p| p["name"] == "ompvm")
        .ok_or("cargo metadata lacks ompvm")?;
    if let Some(field) = FIELDS.iter().find(|field| !own[**field].is_string()) {
        return Err(format!("Cargo.toml states no {field}"));
    }
    let paths = own["dependencies"].as_array().cloned().unwrap_or_default();
    let unversioned = paths
        .iter()
        .find(|d| d["path"].is_string() && d["req"] == "*");
    if let Some(dependency) = unversioned {
        return Err(format!(
            "Cargo.toml gives {} a path and no version",
            dependency["name"]
        ));
    }
    let mut list = tools.cargo();
    list.current_dir(root())
        .args(["package", "--package=ompvm", "--list", "--allow-dirty"]);
    let list = capture_ok(&mut list)?;
    let files: Vec<&str> = list.lines().collect();
    if let Some(file) = NEEDED.iter().find(|file| !files.contains(file)) {
        return Err(format!("cargo package leaves out {file}"));
    }
    let mut report = vec![format!("cargo package: {} files", files.len())];
    if !install {
        report.push("cargo install: not tried (--cargo-install tries it)".to_owned());
        return Ok(report);
    }
    let prefix = super::fresh(&work.join("cargo"))?;
    let mut cargo = tools.cargo();
    cargo
        .current_dir(root())
        .args(["install", "--locked", "--path", "."]);
    // Nothing built before is used.
    cargo
        .arg("--target-dir")
        .arg(prefix.join("build"))
        .arg("--root")
        .arg(&prefix);
    process::run(&mut cargo)?;
    let version = capture_ok(Command::new(prefix.join("bin/ompvm")).arg("--version"))?;
    let _ = std::fs::remove_dir_all(prefix.join("build"));
    report.push(format!("cargo install: {}", version.trim()));
    Ok(report)
}
