//! Checks that the sources compile with the oldest supported compiler, `rust-version` in Cargo.toml.
//!
//! Skips the check if that compiler is the one in use: every other build then shows the same.

use crate::process::{self, root};
use crate::setup;
use std::process::Command;

/// Checks the workspace with the oldest supported compiler.
pub fn check() -> Result<(), String> {
    let manifest = root().join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).map_err(|e| format!("Cargo.toml: {e}"))?;
    let oldest = field(&text, "rust-version").ok_or("Cargo.toml states no rust-version")?;
    let in_use = process::capture_ok(Command::new("rustc").arg("--version"))?;
    if is_release_of(&in_use, oldest) {
        println!("the compiler in use, Rust {oldest}, is the oldest supported one");
        return Ok(());
    }
    let toolchain = format!("{oldest}.0");
    let known = process::capture_ok(Command::new("rustup").args(["toolchain", "list"]))?;
    if !known.lines().any(|line| line.starts_with(&toolchain)) {
        return Err(format!(
            "Rust {oldest} is not installed: `rustup toolchain install {toolchain} --profile minimal`"
        ));
    }
    let mut check = setup::ensure()?.cargo();
    // Artifacts of another compiler would replace those of the usual one.
    check
        .current_dir(root())
        .env("CARGO_TARGET_DIR", root().join("target/oldest"))
        .env("RUSTUP_TOOLCHAIN", toolchain)
        .args(["check", "--workspace", "--all-targets"]);
    process::run(&mut check)
}

/// Returns the text of a field such as `rust-version = "1.95"`.
fn field<'a>(manifest: &'a str, name: &str) -> Option<&'a str> {
    manifest.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == name).then(|| value.trim().trim_matches('"'))
    })
}

/// Says whether `rustc --version` names a release with this major and minor number.
fn is_release_of(told: &str, version: &str) -> bool {
    let number = told.split_whitespace().nth(1).unwrap_or_default();
    number
        .strip_prefix(version)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert_eq!(
            field("a = 1\nrust-version = \"1.95\"\n", "rust-version"),
            Some("1.95")
        );
        assert!(is_release_of("rustc 1.95.2 (abc 2026-04-14)", "1.95"));
        assert!(!is_release_of("rustc 1.950.0 (abc)", "1.95"));
        assert!(!is_release_of("rustc 1.96.0 (abc)", "1.95"));
    }
}
