//! Tests of single passes: textual IR before and after.
//!
//! `tests/passes/PASS/NAME.ll` says at its top which passes run and what must come out:
//!
//! | Directive | Meaning |
//! |---|---|
//! | `; RUN: NAME [OPTION=VALUE]...` | runs a pass; several lines run in turn |
//! | `; EXPECT: changed` | the module changes, and the output equals `NAME.out` |
//! | `; EXPECT: unchanged` | the module stays as it is |
//! | `; EXPECT: report` | the pass prints something in place of the module, which equals `NAME.out` |
//! | `; EXPECT: refused TEXT` | the pass refuses the module, with `TEXT` in the message |
//!
//! `OMPVM_BLESS=1` rewrites `NAME.out`, but never what is expected: a pass that no longer fires
//! fails its tests in any case. The output is verified by LLVM. Every pass that the program knows
//! has tests. That a pass preserves results is left to the differential tests.

use super::directives;
use crate::run::{End, LIMIT, Ran, run};
use crate::{files, ompvm, root};
use libtest_mimic::Trial;
use std::path::Path;
use std::process::Command;

/// Returns one trial per file in `tests/passes`, and one for the passes without files.
pub fn trials() -> Vec<Trial> {
    let folder = root().join("tests/passes");
    let mut trials = vec![Trial::test("passes/all_have_tests", || {
        Ok(all_have_tests()?)
    })];
    for path in files(&folder, &["ll"]) {
        let name = path
            .strip_prefix(&folder)
            .unwrap_or(&path)
            .with_extension("");
        let title = format!("passes/{}", name.display());
        trials.push(Trial::test(title, move || Ok(check(&path)?)));
    }
    trials
}

/// The directives at the head of a file.
#[derive(Default)]
struct Head {
    steps: Vec<String>,
    expectation: Option<Expectation>,
}

#[derive(Clone)]
enum Expectation {
    Changed,
    Unchanged,
    Report,
    Refused(String),
}

impl Head {
    /// Reads the directives.
    fn read(text: &str) -> Result<Head, String> {
        let mut head = Head::default();
        for (number, key, value) in directives::in_ir(text) {
            let wrong = |what: &str| format!("line {number}: {what}: {key}: {value}");
            match key {
                "RUN" => head.steps.push(value.to_owned()),
                "EXPECT" => {
                    let expectation = match value.split_once(' ').unwrap_or((value, "")) {
                        ("changed", "") => Expectation::Changed,
                        ("unchanged", "") => Expectation::Unchanged,
                        ("report", "") => Expectation::Report,
                        ("refused", why) if !why.is_empty() => Expectation::Refused(why.to_owned()),
                        _ => return Err(wrong("unknown expectation")),
                    };
                    if head.expectation.replace(expectation).is_some() {
                        return Err(wrong("second expectation"));
                    }
                }
                _ => return Err(wrong("unknown directive")),
            }
        }
        Ok(head)
    }
}

/// Runs passes on a file.
fn passed(file: &Path, steps: &[String]) -> Result<Ran, String> {
    let mut command = Command::new(ompvm());
    command.arg("inspect");
    command.args(steps.iter().map(|step| format!("--pass={step}")));
    run(command.arg(file), "", LIMIT)
}

fn output(ran: Ran) -> Result<String, String> {
    match ran.end {
        End::Exit(0) => Ok(ran.stdout),
        _ => Err(ran.summary()),
    }
}

fn check(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let head = Head::read(&text)?;
    if head.steps.is_empty() {
        return Err("no line `; RUN: PASS`".into());
    }
    let expectation = head.expectation.ok_or("no line `; EXPECT: ...`")?;
    let ran = passed(file, &head.steps)?;
    if let Expectation::Refused(why) = expectation {
        return match ran.end {
            End::Exit(0) => Err(format!("not refused:\n{}", ran.stdout)),
            _ if ran.stderr.contains(&why) => Ok(()),
            _ => Err(ran.summary()),
        };
    }
    let after = output(ran)?;
    let before = output(passed(file, &["none".to_owned()])?)?;
    let blessed = file.with_extension("out");
    match expectation {
        Expectation::Unchanged if before != after => {
            return Err(format!("the module should not change, but is:\n{after}"));
        }
        Expectation::Unchanged if blessed.exists() => {
            return Err(format!("{} has no purpose", blessed.display()));
        }
        Expectation::Unchanged => return Ok(()),
        Expectation::Changed if before == after => return Err("the module does not change".into()),
        _ => {}
    }
    if std::env::var_os("OMPVM_BLESS").is_some() {
        return std::fs::write(&blessed, after).map_err(|e| format!("{}: {e}", blessed.display()));
    }
    let wanted = std::fs::read_to_string(&blessed).unwrap_or_default();
    if wanted == after {
        return Ok(());
    }
    Err(format!(
        "the output changed (OMPVM_BLESS=1 accepts it)\nwas:\n{wanted}\nis:\n{after}"
    ))
}

/// Checks that each pass has a file that it changes, reports on or refuses, and that no folder is
/// without a pass.
fn all_have_tests() -> Result<(), String> {
    // LLVM's own passes, and no pass at all, only prepare for others.
    const NONE: [&str; 2] = ["llvm", "none"];
    let folder = root().join("tests/passes");
    let ran = passed(Path::new("Cargo.toml"), &["?".to_owned()])?;
    let list = ran.stderr.split_once("there are ");
    let list = list.ok_or_else(|| ran.summary())?.1.trim();
    let mut missing = Vec::new();
    for name in list.split(", ").filter(|n| !NONE.contains(n)) {
        if files(&folder.join(name), &["ll"]).is_empty() {
            missing.push(format!("`{name}` has no file in tests/passes/{name}"));
        }
    }
    match missing.is_empty() {
        true => Ok(()),
        false => Err(missing.join("\n")),
    }
}
