//! Directives: comments at the head of a guest program that say how to build it and what it must do
//! (listed in `tests/README.md` and `tests/diff/README.md`).
//!
//! A misspelt directive must not pass for prose. So a comment that begins with one word and a colon
//! is a directive: an unknown one is an error in every test file, and so is one after the first line
//! of code, where nobody reads it.

use crate::{files, root};
use libtest_mimic::Trial;
use std::path::Path;

/// Directives that [`Directives::read`] knows, then those of other readers: of
/// `tests/diff/check-native.sh`, and of `ptx.rs` in block comments.
const KNOWN: [&str; 18] = [
    "args",
    "env",
    "exit",
    "flags",
    "levels",
    "native",
    "only-native",
    "not-on",
    "optional",
    "options",
    "signal",
    "stderr-has",
    "stdin",
    "stdout",
    "no-sanitize",
    "order",
    "with",
    "without",
];
/// Further directives of `ptx.rs`, which have blanks.
const KNOWN_WITH_BLANKS: [&str; 1] = ["with at -O2"];

/// The directives of a program.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    /// Additional flags for clang.
    pub flags: Vec<String>,
    /// The guest's arguments.
    pub args: Vec<String>,
    /// Environment of the run.
    pub env: Vec<(String, String)>,
    /// Standard input.
    pub stdin: String,
    /// Expected exit status.
    pub exit: Option<i32>,
    /// Expected signal.
    pub signal: Option<i32>,
    /// Optimization levels.
    pub levels: Vec<String>,
    /// Lines of expected output.
    pub stdout: Vec<String>,
    /// Substrings of the diagnostics.
    pub stderr_has: Vec<String>,
    /// Options of ompvm itself.
    pub options: Vec<String>,
    /// The reason why the program is not checked natively.
    pub native: Option<String>,
    /// The reason why the virtual machine does not run the program.
    pub only_native: Option<String>,
    /// True if a report at load is accepted too: the construct may be unsupported.
    pub optional: bool,
    /// Devices that lack what the program needs: `processors`, whose blocks have one thread and which
    /// neither limit nor check memory.
    pub not_on: Vec<String>,
}

impl Directives {
    /// Returns true if the program selects a tier itself.
    pub fn has_tier(&self) -> bool {
        self.options.iter().any(|o| o.starts_with("--tier"))
    }

    /// Reads the leading comment lines of a file (`// key: value`, in textual IR `; key: value`).
    pub fn read(path: &Path, levels: &[&str]) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut d = Directives::default();
        let words = |v: &str| v.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for line in text.lines() {
            let line = line.trim();
            let Some(comment) = line.strip_prefix("//").or_else(|| line.strip_prefix(';')) else {
                if line.is_empty() || line.starts_with("/*") || line.starts_with('*') {
                    continue;
                }
                break;
            };
            let Some((key, value)) = comment.split_once(':') else {
                continue;
            };
            if let Some(wrong) = unknown(comment) {
                return Err(format!("{}: {wrong}", path.display()));
            }
            let value = value.strip_prefix(' ').unwrap_or(value);
            let number = || {
                value
                    .trim()
                    .parse::<i32>()
                    .map_err(|e| format!("{}: {key}: {e}", path.display()))
            };
            match key.trim() {
                "flags" => d.flags.extend(words(value)),
                "args" => d.args.extend(words(value)),
                "env" => {
                    for pair in words(value) {
                        let (name, value) = pair.split_once('=').ok_or_else(|| {
                            format!("{}: env: `{pair}` has no `=`", path.display())
                        })?;
                        d.env.push((name.to_owned(), value.to_owned()));
                    }
                }
                "stdin" => d
                    .stdin
                    .push_str(&format!("{}\n", value.replace("\\n", "\n"))),
                "exit" => d.exit = Some(number()?),
                "signal" => d.signal = Some(number()?),
                "levels" => d.levels = words(value),
                "stdout" => d.stdout.push(value.to_owned()),
                "stderr-has" => d.stderr_has.push(value.trim().to_owned()),
                "options" => d.options.extend(words(value)),
                "optional" => d.optional = true,
                "not-on" => d.not_on.extend(words(value)),
                "native" => d.native = Some(value.to_owned()),
                "only-native" => d.only_native = Some(value.to_owned()),
                _ => {}
            }
        }
        // Libraries of the native link are also those of the virtual machine.
        let libraries: Vec<String> = d
            .flags
            .iter()
            .filter(|f| f.starts_with("-l"))
            .cloned()
            .collect();
        d.options.extend(libraries);
        if d.levels.is_empty() {
            d.levels = levels.iter().map(|&l| l.to_owned()).collect();
        }
        Ok(d)
    }
}

/// Returns the trial that checks the directives of every test file.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("house/directives", || Ok(all_known()?)),
        Trial::test("house/directives_misspelt", || Ok(misspelt()?)),
    ]
}

/// Returns what is wrong with a comment that looks like a directive but is none.
fn unknown(comment: &str) -> Option<String> {
    let (key, value) = comment.split_once(':')?;
    let key = key.trim();
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let word = key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.chars().all(letter);
    // A path such as `std::sort` is none.
    let ends = value.is_empty() || value.starts_with(char::is_whitespace);
    // Several words are prose, except for those of a directive with other case or punctuation.
    let plain = |key: &str| key.to_lowercase().replace([' ', '_'], "-");
    let close = KNOWN.iter().any(|known| plain(key) == *known) || key.starts_with("with at");
    let known = KNOWN.contains(&key) || KNOWN_WITH_BLANKS.contains(&key);
    (!known && ends && (word || close))
        .then(|| format!("unknown directive `{key}` (in prose, begin with more than one word)"))
}

/// Returns what is wrong with the directives of a file.
fn wrong(text: &str, extension: &str) -> Vec<String> {
    let starts: &[&str] = match extension {
        "ll" => &[";"],
        "f90" | "F90" => &["!"],
        _ => &["//", "/*", "*"],
    };
    let mut head = true;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let Some(start) = starts.iter().find(|s| line.starts_with(**s)) else {
            head &= line.is_empty();
            continue;
        };
        let comment = &line[start.len()..];
        let key = comment.split_once(": ").map_or("", |(key, _)| key.trim());
        let what = match unknown(comment) {
            Some(what) => what,
            None if !head && KNOWN.contains(&key) => {
                format!("the directive `{key}` is behind the first line of code")
            }
            None => continue,
        };
        found.push(format!("{}: {what}", number + 1));
    }
    found
}

/// Returns the directives of textual IR, each with the number of its line: comments that begin with
/// one word and a colon, anywhere in the text, so that a misspelt one is an error.
pub fn in_ir(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    text.lines().enumerate().filter_map(|(number, line)| {
        let comment = line.trim_start().strip_prefix(';')?;
        let (key, value) = comment.split_once(':')?;
        let (key, value) = (key.trim(), value.trim());
        (!key.contains(char::is_whitespace)).then_some((number + 1, key, value))
    })
}

/// Folders whose tests have directives of their own, which their readers check.
const OTHERS: [&str; 2] = ["passes", "machine_code"];

/// Checks every test file, except those in [`OTHERS`].
fn all_known() -> Result<(), String> {
    let tests = root().join("tests");
    let mut found = Vec::new();
    for path in files(&tests, &["c", "cpp", "f90", "F90", "h", "inc", "ll"]) {
        if OTHERS.iter().any(|o| path.starts_with(tests.join(o))) {
            continue;
        }
        let text = std::fs::read(&path).map_err(|e| e.to_string())?;
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        for what in wrong(&String::from_utf8_lossy(&text), &extension) {
            found.push(format!("{}:{what}", path.display()));
        }
    }
    match found.is_empty() {
        true => Ok(()),
        false => Err(found.join("\n")),
    }
}

/// Checks that misspelt and misplaced directives are found.
fn misspelt() -> Result<(), String> {
    for (text, extension, count) in [
        (
            "// A program.\n// exit: 3\nint main(void) { return 3; }\n",
            "c",
            0,
        ),
        (
            "// Three of a kind: a, b and c.\n// std::sort is used.\n",
            "cpp",
            0,
        ),
        ("// exti: 3\n", "c", 1),
        ("// Exit: 3\n", "c", 1),
        ("// stderr has: text\n", "c", 1),
        ("// CHECK: text\n", "c", 1),
        (
            "/* A kernel.\n * with: ld.global\n * with at -O2: fma\n */\n",
            "c",
            0,
        ),
        (
            "/* A kernel.\n * wiht: ld.global\n * with at O2: fma\n */\n",
            "c",
            2,
        ),
        ("#include <stdio.h>\n// exit: 3\n", "c", 1),
        ("; RUN: opt\n; exit: 3\n", "ll", 1),
        ("program p\n! signal: 6\nend\n", "f90", 1),
    ] {
        let found = wrong(text, extension);
        if found.len() != count {
            return Err(format!("{text}should have {count} errors, has {found:?}"));
        }
    }
    Ok(())
}
