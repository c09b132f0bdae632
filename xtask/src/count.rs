//! Counts what the house rules ask for in one or several revisions of the sources.
//!
//! `cargo xtask count [REVISION...]` prints a column per revision and one for the working tree. The
//! counts are of lines and words, not of syntax: near enough to show a direction, and the same for
//! old revisions, which would not build any more. They are no test; the rules that a change may not
//! break are in `tests/harness/house.rs`.

use crate::process::{self, root};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Layers from the bottom. A source may use those before its own.
const LAYERS: [&str; 15] = [
    "abi",
    "support",
    "ir",
    "llvm",
    "cache",
    "memory",
    "kmpc",
    "offload",
    "auto_offload",
    "interp",
    "baseline",
    "jit",
    "tier",
    "api",
    "cli",
];

/// Folders of layers inside of another layer's folder.
const NESTED: [&str; 3] = ["interp/baseline", "llvm/cache", "offload/auto_offload"];

/// First words of a comment that say neither what a function does nor what a type is.
const WEAK_BEGINNINGS: [&str; 14] = [
    "What ",
    "Who ",
    "Whose ",
    "Whether ",
    "So long ",
    "It was ",
    "It is ",
    "There is ",
    "There are ",
    "Where ",
    "How ",
    "That ",
    "Nothing ",
    "Everything ",
];

/// The columns that a line of Rust, C or C++ has at most.
const COLUMNS: usize = 100;
/// The lines that a function has at most.
const FUNCTION: usize = 100;

/// Counts by the titles of their rows.
#[derive(Default)]
struct Counts(Vec<(String, usize)>);

impl Counts {
    fn add(&mut self, title: &str, n: usize) {
        match self.0.iter_mut().find(|(t, _)| t == title) {
            Some((_, count)) => *count += n,
            None => self.0.push((title.to_owned(), n)),
        }
    }

    fn get(&self, title: &str) -> usize {
        let found = self.0.iter().find(|(t, _)| t == title);
        found.map_or(0, |(_, n)| *n)
    }
}

/// Counts in these revisions and the working tree, and prints a table.
pub fn run(revisions: &[String]) -> Result<(), String> {
    let mut columns = Vec::new();
    for revision in revisions {
        let tree = root().join("target/count").join(revision.replace('/', "_"));
        extract(revision, &tree)?;
        columns.push((revision.as_str(), count(&tree)?));
    }
    columns.push(("working tree", count(&root())?));
    print!("{}", table(&columns));
    Ok(())
}

/// Writes the sources of a revision below `tree`.
fn extract(revision: &str, tree: &Path) -> Result<(), String> {
    std::fs::create_dir_all(tree).map_err(|e| format!("{}: {e}", tree.display()))?;
    let archive = tree.join("sources.tar");
    let mut git = Command::new("git");
    git.current_dir(root()).args(["archive", "--output"]);
    process::run(git.arg(&archive).args([revision, "src", "runtime-c"]))?;
    let mut tar = Command::new("tar");
    process::run(tar.arg("-xf").arg(&archive).arg("-C").arg(tree))
}

/// Counts in the sources below `tree`.
fn count(tree: &Path) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for title in ROWS {
        counts.add(title, 0);
    }
    let source = tree.join("src");
    for path in sources(&source)?
        .into_iter()
        .chain(sources(&tree.join("runtime-c"))?)
    {
        let text =
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let inside = path.strip_prefix(&source).unwrap_or(Path::new("runtime-c"));
        count_file(
            &mut counts,
            &text,
            &layer_of(inside),
            path.extension().is_some_and(|e| e == "rs"),
        );
        if !inside.starts_with("llvm/handles") {
            counts.add(RAW, text.matches("llvm!(").count());
        }
    }
    Ok(counts)
}

/// Returns the layer of a file below `src`: its first folder, or the last one of [`NESTED`].
fn layer_of(file: &Path) -> String {
    let nested = NESTED.iter().find(|folder| file.starts_with(folder));
    let layer = match nested {
        Some(folder) => Path::new(folder).file_name(),
        None => file.iter().next(),
    };
    let layer = layer.unwrap_or_default().to_string_lossy();
    layer.trim_end_matches(".rs").to_owned()
}

const WEAK: &str = "comments with a weak beginning";
const WIDE: &str = "lines over 100 columns";
const STATICS: &str = "statics";
const RAW: &str = "raw LLVM calls outside of handles";
const BORROWED: &str = "SAFETY comments that refer to another contract only";
const UPWARD: &str = "lines that use a layer above";
const LONG: &str = "functions over 100 lines";
const READS: &str = "reads of the environment";
const GIANTS: &str = "files over 900 lines";
/// The rows, in their order; lines per layer follow.
const ROWS: [&str; 9] = [
    WEAK, WIDE, LONG, GIANTS, STATICS, READS, RAW, BORROWED, UPWARD,
];

fn count_file(counts: &mut Counts, text: &str, layer: &str, rust: bool) {
    let lines: Vec<&str> = text.lines().collect();
    counts.add(&format!("lines in {layer}"), lines.len());
    counts.add(GIANTS, usize::from(lines.len() > 900));
    let mut previous = "";
    for line in &lines {
        let line = line.trim_end();
        counts.add(WIDE, usize::from(line.chars().count() > COLUMNS));
        let bare = line.trim_start();
        if let Some(words) = comment(bare) {
            let begins = comment(previous).is_none();
            let weak = WEAK_BEGINNINGS.iter().any(|word| words.starts_with(word));
            counts.add(WEAK, usize::from(begins && weak));
            counts.add(BORROWED, usize::from(is_borrowed(words)));
        } else if rust {
            counts.add(STATICS, usize::from(is_static(bare)));
            counts.add(READS, bare.matches("env::var").count());
            counts.add(UPWARD, usize::from(uses_above(bare, layer)));
        }
        previous = bare;
    }
    if rust {
        counts.add(LONG, long_functions(&lines));
    }
}

/// Returns the words of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let words = line.strip_prefix("//")?;
    Some(words.trim_start_matches(['/', '!']).trim_start())
}

/// Says whether a safety comment is no more than a reference.
fn is_borrowed(words: &str) -> bool {
    let Some(reason) = words.strip_prefix("SAFETY: ") else {
        return false;
    };
    let reason = reason.trim_end_matches('.').to_lowercase();
    matches!(
        reason.as_str(),
        "as above" | "the caller's contract" | "the callers' contract" | "see above" | "as before"
    )
}

fn is_static(line: &str) -> bool {
    let line = match line.strip_prefix("pub") {
        Some(rest) => rest.trim_start_matches(|c| c != ' ').trim_start(),
        None => line,
    };
    let Some(rest) = line.strip_prefix("static ") else {
        return false;
    };
    let name = rest.strip_prefix("mut ").unwrap_or(rest);
    // `static ref`, closures and names of other languages do not look so.
    name.split_once(':').is_some_and(|(name, _)| {
        name.chars()
            .all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
    }) && line.contains('=')
}

/// Says whether a line names a layer above its own.
fn uses_above(line: &str, layer: &str) -> bool {
    let Some(own) = LAYERS.iter().position(|l| *l == layer) else {
        return false;
    };
    LAYERS[own + 1..].iter().any(|above| {
        line.contains(&format!("crate::{above}::")) || line.contains(&format!("ompvm_{above}::"))
    })
}

/// Counts functions whose bodies end more than [`FUNCTION`] lines below their heads: `rustfmt`
/// closes a body at the head's indentation.
fn long_functions(lines: &[&str]) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let head = |line: &str| {
        let words = line.trim_start();
        let named = words.split_once("fn ").map(|(before, _)| before);
        named.is_some_and(|before| {
            before.split_whitespace().all(|word| {
                word.starts_with("pub")
                    || word.starts_with('"')
                    || ["unsafe", "extern", "const", "async", "in"].contains(&word)
            })
        })
    };
    let mut long = 0;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| head(line)) {
        let ending = lines[at..]
            .iter()
            .find_map(|l| l.trim_end().chars().last().filter(|c| "{};".contains(*c)));
        // A declaration has no body.
        if ending == Some(';') {
            continue;
        }
        let close = format!("{}}}", " ".repeat(indent(line)));
        let end = lines[at + 1..].iter().position(|l| l.trim_end() == close);
        long += usize::from(end.is_some_and(|lines| lines + 2 > FUNCTION));
    }
    long
}

/// Returns the sources below a folder.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let told = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let ends = |ends: &[&str]| {
            path.extension()
                .is_some_and(|e| ends.iter().any(|x| e == *x))
        };
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if ends(&["rs", "cpp", "h", "c"]) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn table(columns: &[(&str, Counts)]) -> String {
    let mut titles: Vec<&str> = ROWS.to_vec();
    let mut layers: Vec<&str> = Vec::new();
    for (_, counts) in columns {
        let of = counts.0.iter().map(|(title, _)| title.as_str());
        layers.extend(of.filter(|title| title.starts_with("lines in ")));
    }
    layers.sort();
    layers.dedup();
    titles.extend(layers);
    let width = titles.iter().map(|t| t.len()).max().unwrap_or(0);
    let mut text = format!("{:width$}", "");
    for (name, _) in columns {
        let _ = write!(text, "  {name:>12}");
    }
    text.push('\n');
    for title in titles {
        let _ = write!(text, "{title:width$}");
        for (_, counts) in columns {
            let _ = write!(text, "  {:>12}", counts.get(title));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, layer: &str) -> Counts {
        let mut counts = Counts::default();
        count_file(&mut counts, text, layer, true);
        counts
    }

    #[test]
    fn each_rule_finds_its_kind() {
        let text = "/// What it does.\n/// Whether more.\npub(crate) static A_1: u8 = 0;\n\
                    // SAFETY: as above.\nuse crate::tier::policy;\n\
                    static LOWER: usize;\nuse crate::support::x;\n";
        let counts = of(text, "kmpc");
        let rows = [(WEAK, 1), (STATICS, 1), (BORROWED, 1), (UPWARD, 1)];
        for (title, n) in rows {
            assert_eq!(counts.get(title), n, "{title}");
        }
        assert_eq!(counts.get("lines in kmpc"), 7);
    }

    #[test]
    fn nested_layers_are_apart() {
        let layer = |file: &str| layer_of(Path::new(file));
        assert_eq!(layer("interp/baseline/emit/int.rs"), "baseline");
        assert_eq!(layer("interp/lower/int.rs"), "interp");
        assert_eq!(layer("main.rs"), "main");
    }

    #[test]
    fn functions_end_at_their_indentation() {
        let body = "        x();\n".repeat(99);
        let long = format!("    pub fn f() {{\n{body}    }}\n");
        let short = format!("    fn f() {{\n{}    }}\n", "        x();\n".repeat(98));
        assert_eq!(of(&long, "ir").get(LONG), 1);
        assert_eq!(of(&short, "ir").get(LONG), 0);
        assert_eq!(of("fn f();\n", "ir").get(LONG), 0);
        let declared = format!("    fn f(\n        a: u8,\n    );\n{body}    }}\n");
        assert_eq!(of(&declared, "ir").get(LONG), 0);
    }
}
