//! Tests of the baseline tier's machine code: textual IR, and the code of a function in it.
//!
//! `tests/machine_code/NAME.ll` says at its top which function is compiled and what its listing must
//! contain:
//!
//! | Directive | Meaning |
//! |---|---|
//! | `; RUN: inspect --baseline FUNCTION` | lists the machine code of a function |
//! | `; CHECK: TEXT` | a line contains `TEXT`, behind the lines of the checks before |
//! | `; CHECK-NEXT: TEXT` | the line after that of the check before contains `TEXT` |
//! | `; CHECK-NOT: TEXT` | no line contains `TEXT` |
//!
//! The whole listing equals `NAME.out`, which `OMPVM_BLESS=1` rewrites. It never changes a check, so
//! code that loses the property for which a file is there fails in any case. The code is not run,
//! so these tests hold in builds whose handlers return to a loop, too. That it computes the right
//! values is left to the differential tests.

use super::directives;
use crate::run::{End, LIMIT, run};
use crate::{files, ompvm, root};
use libtest_mimic::Trial;
use std::path::Path;
use std::process::Command;

/// Returns one trial per file in `tests/machine_code`, and one for damaged heads.
pub fn trials() -> Vec<Trial> {
    let folder = root().join("tests/machine_code");
    let mut trials = vec![Trial::test("machine_code/directives", || {
        Ok(wrong_heads_are_refused()?)
    })];
    for path in files(&folder, &["ll"]) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let title = format!("machine_code/{name}");
        trials.push(Trial::test(title, move || Ok(check(&path)?)));
    }
    trials
}

/// A condition on the lines of a listing.
#[derive(Debug, PartialEq)]
enum Check {
    /// A later line contains the text.
    Later(String),
    /// The next line contains the text.
    Next(String),
    /// No line contains the text.
    Nowhere(String),
}

/// The directives of a file.
#[derive(Debug, PartialEq)]
struct Head {
    function: String,
    checks: Vec<Check>,
}

impl Head {
    /// Reads the directives.
    fn read(text: &str) -> Result<Head, String> {
        let mut function = None;
        let mut checks = Vec::new();
        for (number, key, value) in directives::in_ir(text) {
            let wrong = |what: &str| format!("line {number}: {what}: {key}: {value}");
            let text = || match value {
                "" => Err(wrong("no text")),
                _ => Ok(value.to_owned()),
            };
            match key {
                "RUN" => {
                    let name = value.strip_prefix("inspect --baseline ");
                    let name = name.ok_or_else(|| wrong("unknown command"))?;
                    if function.replace(name.to_owned()).is_some() {
                        return Err(wrong("second command"));
                    }
                }
                "CHECK" => checks.push(Check::Later(text()?)),
                "CHECK-NEXT" if checks.is_empty() => return Err(wrong("no line before")),
                "CHECK-NEXT" => checks.push(Check::Next(text()?)),
                "CHECK-NOT" => checks.push(Check::Nowhere(text()?)),
                _ => return Err(wrong("unknown directive")),
            }
        }
        if !checks.iter().any(|c| matches!(c, Check::Later(_))) {
            return Err("no line `; CHECK: TEXT`".into());
        }
        let function = function.ok_or("no line `; RUN: inspect --baseline FUNCTION`")?;
        Ok(Head { function, checks })
    }

    /// Applies the checks to a listing.
    fn apply(&self, listing: &str) -> Result<(), String> {
        let lines: Vec<&str> = listing.lines().collect();
        let mut next = 0;
        for check in &self.checks {
            match check {
                Check::Later(text) => {
                    let found = lines[next..].iter().position(|line| line.contains(text));
                    let found = found.ok_or_else(|| match next {
                        0 => format!("no line has `{text}`"),
                        _ => format!("no line behind `{}` has `{text}`", lines[next - 1].trim()),
                    })?;
                    next += found + 1;
                }
                Check::Next(text) => {
                    let line = lines.get(next).copied().unwrap_or_default().trim();
                    if !line.contains(text) {
                        return Err(format!("the next line is `{line}`, not `{text}`"));
                    }
                    next += 1;
                }
                Check::Nowhere(text) => {
                    if let Some(line) = lines.iter().find(|line| line.contains(text)) {
                        return Err(format!("`{}` has `{text}`", line.trim()));
                    }
                }
            }
        }
        Ok(())
    }
}

fn check(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let head = Head::read(&text)?;
    let mut command = Command::new(ompvm());
    command.args(["inspect", "--baseline", &head.function]);
    let ran = run(command.arg(file), "", LIMIT)?;
    if ran.end != End::Exit(0) {
        return Err(ran.summary());
    }
    let listing = ran.stdout;
    head.apply(&listing)
        .map_err(|why| format!("{why}\nin:\n{listing}"))?;
    let blessed = file.with_extension("out");
    if std::env::var_os("OMPVM_BLESS").is_some() {
        return std::fs::write(&blessed, listing)
            .map_err(|e| format!("{}: {e}", blessed.display()));
    }
    let wanted = std::fs::read_to_string(&blessed).unwrap_or_default();
    if wanted == listing {
        return Ok(());
    }
    Err(format!(
        "the code changed (OMPVM_BLESS=1 accepts it)\nwas:\n{wanted}\nis:\n{listing}"
    ))
}

/// Checks that a misspelt or missing directive is an error.
fn wrong_heads_are_refused() -> Result<(), String> {
    const RIGHT: &str = "; A file.\n; RUN: inspect --baseline f\n; CHECK: add\n; CHECK-NEXT: mov\n";
    Head::read(RIGHT)?;
    for (from, to) in [
        ("CHECK:", "CHEKC:"),
        ("CHECK:", "check:"),
        ("CHECK-NEXT", "CHECK-SAME"),
        ("RUN: inspect", "RUN: run"),
        ("RUN: inspect --baseline f", "A second sentence."),
        ("; CHECK: add\n", ""),
        (": mov", ":"),
        ("; CHECK: add", "; RUN: inspect --baseline g\n; CHECK: add"),
    ] {
        let wrong = RIGHT.replace(from, to);
        if let Ok(head) = Head::read(&wrong) {
            return Err(format!("accepted as {head:?}:\n{wrong}"));
        }
    }
    let head = Head::read(RIGHT)?;
    head.apply("f:\n    add rax, 1\n    mov rbx, rax\n")?;
    for wrong in ["f:\n    mov rbx, rax\n", "f:\n    add rax, 1\n    ret\n"] {
        if head.apply(wrong).is_ok() {
            return Err(format!("a check missed what is wrong with:\n{wrong}"));
        }
    }
    Ok(())
}
