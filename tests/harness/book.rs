//! The documents: their commands run, their links lead somewhere, and the page on the environment
//! has the variables that the code reads, as the code describes them.
//!
//! Each page is one trial. A fence ` ```LANGUAGE file=NAME ` writes a file into the page's scratch
//! folder. A fence ` ```console ` holds commands behind `$ `, which a shell runs there in order,
//! and after each the output that must come: lines are compared exactly, `...` stands for any
//! number of lines, or for any text in a line, and a command without lines may print nothing.
//! ` ```console skip="REASON" ` is not run. Other shell fences are an error, so that no command
//! escapes.
//!
//! Leaves figures in the text to their authors.

use crate::compile::llvm_bin;
use crate::run::{LIMIT, run};
use crate::{files, ompvm, root};
use libtest_mimic::Trial;
use ompvm_support::log::TARGETS;
use ompvm_support::settings::{Section, VARIABLES};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = pages()
        .into_iter()
        .map(|page| {
            let name = page.strip_prefix(root()).unwrap_or(&page).display();
            let name = format!("book/{name}");
            Trial::test(name, move || Ok(commands(&page)?))
        })
        .collect();
    trials.push(Trial::test("book/links", || Ok(links()?)));
    trials.push(Trial::test("book/environment", || Ok(environment()?)));
    trials.push(Trial::test("book/log", || Ok(log()?)));
    trials
}

/// Lists the README, the contributor's page and all pages of the book.
fn pages() -> Vec<PathBuf> {
    let mut pages = files(&root().join("docs/src"), &["md"]);
    pages.extend(["README.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    pages
}

/// One fenced block.
struct Fence<'a> {
    /// The text behind the opening fence.
    info: &'a str,
    /// Number of the first line inside, from 1.
    line: usize,
    body: Vec<&'a str>,
}

fn fences(text: &str) -> Vec<Fence<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Fence> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(info)) => {
                open = Some(Fence {
                    info: info.trim(),
                    line: number + 2,
                    body: Vec::new(),
                });
            }
            (Some(_), Some("")) => found.extend(open.take()),
            (Some(fence), _) => fence.body.push(line),
            (None, None) => {}
        }
    }
    found
}

/// Writes the files of a page and runs its commands.
fn commands(page: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(page).map_err(|e| e.to_string())?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    for fence in fences(&text) {
        let at = format!("{}:{}", page.display(), fence.line);
        if let Some((_, name)) = fence.info.split_once("file=") {
            let contents = fence.body.join("\n") + "\n";
            std::fs::write(scratch.path().join(name), contents).map_err(|e| e.to_string())?;
        }
        match fence.info.split_whitespace().next().unwrap_or_default() {
            "console" if fence.info.contains("skip=\"") => {}
            "console" if fence.info == "console" => {
                let mut lines = fence.body.iter().peekable();
                while let Some(line) = lines.next() {
                    let Some(command) = line.strip_prefix("$ ") else {
                        return Err(format!("{at}: `{line}` follows no command"));
                    };
                    let mut expected = Vec::new();
                    while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                        expected.push(*line);
                    }
                    let printed = shell(command, scratch.path())?;
                    let printed: Vec<_> = printed.lines().collect();
                    if !matches(&expected, &printed) {
                        let (expected, printed) = (expected.join("\n"), printed.join("\n"));
                        return Err(format!(
                            "{at}: `{command}` prints\n{printed}\nand not\n{expected}"
                        ));
                    }
                }
            }
            "sh" | "bash" | "shell" | "console" => {
                return Err(format!("{at}: `{}` is not a fence that runs", fence.info));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Runs a command in the scratch folder with the program under test and LLVM's tools in the path,
/// and a cache of its own; returns both outputs, standard output first.
fn shell(command: &str, scratch: &Path) -> Result<String, String> {
    let tools = ompvm().parent().ok_or("the program has a folder")?;
    let path = std::env::var("PATH").unwrap_or_default();
    let bin = llvm_bin();
    // Distributions install the tools with their version in the name, other installations without.
    let alias = format!(
        "for t in clang clang++ llvm-link; do command -v $t-22 >/dev/null || eval \"$t-22() {{ {}/$t \\\"\\$@\\\"; }}\"; done; {command}",
        bin.display()
    );
    let mut shell = Command::new("bash");
    shell
        .args(["-c", &alias])
        .current_dir(scratch)
        .env(
            "PATH",
            format!("{}:{}:{path}", tools.display(), bin.display()),
        )
        .env("LLVM_SYS_221_PREFIX", bin.join(".."))
        .env("OMPVM_CACHE_DIR", scratch.join(".cache"));
    let ran = run(&mut shell, "", LIMIT)?;
    Ok(ran.stdout + &ran.stderr)
}

/// Compares lines with a pattern in which `...` stands for any number of lines, or for any text in
/// a line.
fn matches(pattern: &[&str], lines: &[&str]) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|n| matches(rest, &lines[n..])),
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, lines)| line_matches(first, line) && matches(rest, lines)),
    }
}

fn line_matches(pattern: &str, line: &str) -> bool {
    match pattern.split_once("...") {
        None => pattern == line,
        Some((begin, rest)) => line.strip_prefix(begin).is_some_and(|line| {
            let mut ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
            ends.any(|at| line_matches(rest, &line[at..]))
        }),
    }
}

/// Checks that relative links of all documents lead to files, and that the summary lists each page.
fn links() -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut documents = pages();
    documents.extend(["ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root().join(name)));
    for page in &documents {
        let text = std::fs::read_to_string(page).map_err(|e| e.to_string())?;
        let folder = page.parent().ok_or("a page has a folder")?;
        for part in text.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or_default();
            let target = target.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                wrong.push(format!("{}: no {target}", page.display()));
            }
        }
    }
    let book = root().join("docs/src");
    let summary = std::fs::read_to_string(book.join("SUMMARY.md")).map_err(|e| e.to_string())?;
    for page in files(&book, &["md"]) {
        let name = page
            .strip_prefix(&book)
            .unwrap_or(&page)
            .display()
            .to_string();
        if name != "SUMMARY.md" && !summary.contains(&format!("({name})")) {
            wrong.push(format!("SUMMARY.md does not list {name}"));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// Variables of the build and of the tests, which users do not set.
const INTERNAL: [&str; 5] = [
    "OMPVM_LOOP_DISPATCH",
    "OMPVM_HISTOGRAM",
    "OMPVM_UNDER_TEST",
    "OMPVM_TEST_ALONE",
    "OMPVM_NATIVE",
];

/// Returns the variables of a section as the page's table.
fn table(section: Section) -> String {
    let mut table = "| Variable | Values | Default | Meaning |\n|---|---|---|---|\n".to_owned();
    for v in VARIABLES.iter().filter(|v| v.section == section) {
        let (name, values, default, meaning) = (v.name, v.values, v.default, v.meaning);
        let _ = writeln!(table, "| `{name}` | {values} | {default} | {meaning} |");
    }
    table
}

/// Checks that the page on tools has the table of the log's targets, and that each event in the
/// sources has one of them and each of them an event.
fn log() -> Result<(), String> {
    let page = root().join("docs/src/tools.md");
    let page = std::fs::read_to_string(page).map_err(|e| e.to_string())?;
    let mut table = "| Target | Events |\n|---|---|\n".to_owned();
    for target in TARGETS {
        let _ = writeln!(table, "| `{}` | {} |", target.name, target.events);
    }
    let mut wrong = BTreeSet::new();
    if !page.contains(&format!("\n\n{table}\n")) {
        wrong.insert(format!("tools.md does not have the table\n{table}"));
    }
    let mut used = BTreeSet::new();
    for file in files(&root().join("src"), &["rs"]) {
        // This file defines the targets, and tests events without the sources' constants.
        if file.ends_with("support/log.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
        for call in text.split("tracing::").skip(1).filter(|c| is_event(c)) {
            let target = call
                .split_once('(')
                .map_or("", |(_, call)| call.trim_start());
            match target.strip_prefix("target: log::") {
                Some(name) => {
                    used.extend(name.split(',').next().map(str::to_owned));
                }
                None => {
                    let line = call.lines().next().unwrap_or_default();
                    wrong.insert(format!(
                        "{}: {line} has no target of the log",
                        file.display()
                    ));
                }
            }
        }
    }
    let unused = TARGETS.iter().filter(|t| !used.contains(t.constant));
    wrong.extend(unused.map(|t| format!("no event has the target {}", t.name)));
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.into_iter().collect::<Vec<_>>().join("\n")),
    }
}

/// Returns true for the rest of a path that is one of the macros for events.
fn is_event(rest: &str) -> bool {
    let levels = ["error!", "warn!", "info!", "debug!", "trace!", "event!"];
    levels.iter().any(|level| rest.starts_with(level))
}

/// Checks that the page on the environment has the tables of the code's variables and names every
/// other variable that the sources name, and that the sources and the page name no variable of
/// ompvm's own that is not in the code's table.
fn environment() -> Result<(), String> {
    let page = root().join("docs/src/environment.md");
    let page = std::fs::read_to_string(page).map_err(|e| e.to_string())?;
    let own = |name: &str| VARIABLES.iter().any(|v| v.name == name);
    let mut wrong = BTreeSet::new();
    for section in [Section::Use, Section::Development, Section::Other] {
        let table = table(section);
        if !page.contains(&format!("\n\n{table}\n")) {
            wrong.insert(format!("environment.md does not have the table\n{table}"));
        }
    }
    for name in page.split('`').skip(1).step_by(2) {
        if name.starts_with("OMPVM_") && is_name(name) && !own(name) {
            wrong.insert(format!(
                "support/settings/table.rs does not list {name} of the page"
            ));
        }
    }
    for file in files(&root().join("src"), &["rs"]) {
        let text = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
        for literal in text.split('"').skip(1).step_by(2) {
            let known = ["OMP_", "KMP_", "OMPVM_", "GOMP_CPU"];
            let named = known.iter().any(|p| literal.starts_with(p)) && literal.len() > 6;
            if !named || !is_name(literal) || INTERNAL.contains(&literal) {
                continue;
            }
            if literal.starts_with("OMPVM_") && !own(literal) {
                wrong.insert(format!("support/settings/table.rs does not list {literal}"));
            } else if !page.contains(literal) {
                wrong.insert(format!("environment.md does not name {literal}"));
            }
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.into_iter().collect::<Vec<_>>().join("\n"))
    }
}

/// Returns true if a word can be the name of a variable.
fn is_name(word: &str) -> bool {
    let letter = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    word.bytes().all(letter)
}
