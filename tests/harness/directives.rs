//! Directives: comments at the head of a guest program that say how to build it and what it must do
//! (listed in `tests/README.md` and `tests/diff/README.md`).

use std::path::Path;

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
                    d.env.extend(words(value).iter().filter_map(|w| {
                        w.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()))
                    }))
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
