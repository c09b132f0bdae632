//! Reads the command line of a compiler: which words are inputs, which options take the next word,
//! and what the command is to do.
//!
//! It knows the options of clang and flang that take a separate value, because the words behind
//! them are no inputs. Every other word that begins with a dash is an option of one word. Leaves
//! the meaning of options to the compiler, apart from those that [`super::compile`] and
//! [`super::link`] change.

use super::language::{Language, language_of_file, language_of_name};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Options whose value is the next word.
const WITH_VALUE: &[&str] = &[
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-J",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-Xassembler",
    "-Xclang",
    "-Xcuda-fatbinary",
    "-Xcuda-ptxas",
    "-Xflang",
    "-Xlinker",
    "-Xoffload-linker",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-cxx-isystem",
    "-dumpbase",
    "-dumpdir",
    "-e",
    "-fintrinsic-modules-path",
    "-framework",
    "-gcc-toolchain",
    "-idirafter",
    "-iframework",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-index-store-path",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-l",
    "-mllvm",
    "-module-dir",
    "-rpath",
    "-serialize-diagnostics",
    "-target",
    "-u",
    "-undefined",
    "-working-directory",
    "-z",
    "--param",
    "--serialize-diagnostics",
    "--sysroot",
    "--include",
    "--include-directory",
];

/// Options that ask for something else than an object or a linked file. The compiler runs as it is.
const OTHER_OUTPUT: &[&str] = &[
    "-E",
    "-S",
    "-M",
    "-MM",
    "-P",
    "-###",
    "-emit-llvm",
    "-emit-ast",
    "-emit-pch",
    "-emit-module",
    "-fsyntax-only",
    "-cc1",
    "-cc1as",
    "-fc1",
    "-help",
    "-dumpmachine",
    "-dumpversion",
    "-dumpspecs",
    "--analyze",
    "--precompile",
    "--help",
    "--help-hidden",
    "--version",
    "--preprocess",
    "--assemble",
    "-module-file-info",
    "-extract-api",
    "-emit-interface-stubs",
    "-ccc-print-phases",
    "-ccc-print-bindings",
    "-fdriver-only",
    "-emit-hlfir",
    "-emit-fir",
    "-emit-mlir",
    "-rewrite-objc",
];

/// Beginnings of such options.
const OTHER_OUTPUT_PREFIX: &[&str] = &[
    "-print-",
    "--print-",
    "--autocomplete",
    "-emit-sycl",
    "-fdebug-dump-",
    "-fdebug-unparse",
    "-fget-definition",
    "-fget-symbols",
];

/// A word of the command line, with its value if that is a word of its own.
#[derive(Clone, Debug)]
pub(super) enum Word {
    /// A source, with its language and with the value of `-x` that applies to it.
    Source(PathBuf, Language, Option<OsString>),
    /// An object, archive, library or linker script.
    Linked(OsString),
    /// An option.
    Option(OsString, Option<OsString>),
}

/// The step at which a command ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// `-c`.
    Object,
    /// A linked file.
    Link,
    /// Something else, which the compiler does alone.
    Other,
}

/// A command line.
#[derive(Clone, Debug)]
pub(super) struct CompilerLine {
    /// Its words in order, without `-c`, `-o` and `-x`.
    pub words: Vec<Word>,
    /// Value of `-o`.
    pub output: Option<PathBuf>,
    /// Step at which it ends.
    pub stage: Stage,
}

impl CompilerLine {
    /// Reads the words after the compiler's name.
    pub(super) fn parse(arguments: &[OsString]) -> CompilerLine {
        let mut line = CompilerLine {
            words: Vec::new(),
            output: None,
            stage: Stage::Link,
        };
        let mut language: Option<OsString> = None;
        let mut files = false;
        let mut words = expand(arguments, 0).into_iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            if files || !text.starts_with('-') || text == "-" {
                let kind = match &language {
                    Some(name) => Some(language_of_name(&name.to_string_lossy())),
                    None => language_of_file(&text),
                };
                line.words.push(match kind {
                    Some(kind) => Word::Source(word.into(), kind, language.clone()),
                    None => Word::Linked(word),
                });
            } else if text == "--" {
                files = true;
            } else if text == "-c" || text == "--compile" {
                if line.stage == Stage::Link {
                    line.stage = Stage::Object;
                }
            } else if let Some(value) = separate_or_joined(&word, "-o", &mut words) {
                line.output = Some(value.into());
            } else if let Some(output) = text.strip_prefix("--output=") {
                line.output = Some(output.into());
            } else if let Some(value) = separate_or_joined(&word, "-x", &mut words) {
                language = Some(value).filter(|name| name != "none");
            } else if WITH_VALUE.contains(&&*text) || text.starts_with("-Xarch_") {
                let value = words.next();
                line.words.push(Word::Option(word, value));
            } else {
                if OTHER_OUTPUT.contains(&&*text)
                    || OTHER_OUTPUT_PREFIX.iter().any(|p| text.starts_with(p))
                {
                    line.stage = Stage::Other;
                }
                line.words.push(Word::Option(word, None));
            }
        }
        let is_input = |word: &Word| match word {
            Word::Option(name, _) => name.as_bytes().starts_with(b"-l"),
            _ => true,
        };
        if !line.words.iter().any(is_input) {
            line.stage = Stage::Other;
        }
        line
    }

    /// Returns the options of one word and the names of the others.
    pub(super) fn options(&self) -> impl DoubleEndedIterator<Item = &OsStr> {
        self.words.iter().filter_map(|word| match word {
            Word::Option(name, _) => Some(name.as_os_str()),
            _ => None,
        })
    }

    /// Returns true if the line has an option.
    pub(super) fn has(&self, option: &str) -> bool {
        self.options().any(|o| o == option)
    }

    /// Returns the options for the linker, in order.
    pub(super) fn linker_options(&self) -> Vec<String> {
        let mut found = Vec::new();
        for word in &self.words {
            let Word::Option(name, value) = word else {
                continue;
            };
            let name = name.to_string_lossy();
            match (name.strip_prefix("-Wl,"), value) {
                (Some(list), _) => found.extend(list.split(',').map(str::to_owned)),
                (None, Some(value)) if name == "-Xlinker" => {
                    found.push(value.to_string_lossy().into_owned());
                }
                (None, _) if name == "-T" || name == "-e" => found.push(name.into_owned()),
                _ => {}
            }
        }
        found
    }
}

/// Returns the value of an option that stands in the same word or in the next one.
fn separate_or_joined(
    word: &OsStr,
    option: &str,
    rest: &mut impl Iterator<Item = OsString>,
) -> Option<OsString> {
    let value = word.as_bytes().strip_prefix(option.as_bytes())?;
    // `-object` and the like are other options.
    if option == "-o" && value.starts_with(b"bj") {
        return None;
    }
    match value.is_empty() {
        true => rest.next(),
        false => Some(OsStr::from_bytes(value).to_owned()),
    }
}

/// Replaces `@file` by the words in the file, as GNU compilers do. A file that cannot be read stays
/// a word.
fn expand(arguments: &[OsString], depth: u32) -> Vec<OsString> {
    let mut out = Vec::new();
    for word in arguments {
        let file = word.as_bytes().strip_prefix(b"@");
        let text = file
            .filter(|_| depth < 16)
            .and_then(|f| std::fs::read(OsStr::from_bytes(f)).ok());
        match text {
            Some(text) => out.extend(expand(&split(&text), depth + 1)),
            None => out.push(word.clone()),
        }
    }
    out
}

/// Divides the text of a response file at white space. Quotes join words, and a backslash takes the
/// next character as it is.
fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => word.get_or_insert_default().extend(bytes.next()),
            _ if quote == Some(byte) => quote = None,
            b'"' | b'\'' if quote.is_none() => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            _ if byte.is_ascii_whitespace() && quote.is_none() => {
                words.extend(word.take().map(OsString::from_vec));
            }
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> CompilerLine {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        CompilerLine::parse(&words)
    }

    #[test]
    fn values_of_options_are_no_inputs() {
        let line = parsed(&[
            "-c", "-I", "x.c", "-MF", "a.d", "a.c", "-oa.o", "-lm", "b.o",
        ]);
        assert_eq!(line.stage, Stage::Object);
        assert_eq!(line.output.as_deref(), Some("a.o".as_ref()));
        let sources = line.words.iter().filter(|w| matches!(w, Word::Source(..)));
        assert_eq!(sources.count(), 1);
        let linked = line.words.iter().filter(|w| matches!(w, Word::Linked(_)));
        assert_eq!(linked.count(), 1);
    }

    #[test]
    fn the_language_applies_to_the_inputs_after_it() {
        let line = parsed(&[
            "-x",
            "c",
            "-",
            "-xnone",
            "a.f90",
            "b.s",
            "-x",
            "assembler",
            "c.c",
        ]);
        let languages: Vec<Language> = line
            .words
            .iter()
            .filter_map(|w| match w {
                Word::Source(_, language, _) => Some(*language),
                _ => None,
            })
            .collect();
        use Language::*;
        assert_eq!(languages, [C, Fortran, Other, Other]);
    }

    #[test]
    fn questions_go_to_the_compiler() {
        for words in [
            &["-v"][..],
            &["-print-file-name=x"],
            &["-E", "a.c"],
            &["-c", "-S", "a.c"],
            &[],
        ] {
            assert_eq!(parsed(words).stage, Stage::Other, "{words:?}");
        }
        assert_eq!(parsed(&["-v", "a.c"]).stage, Stage::Link);
    }

    #[test]
    fn response_files_are_divided_like_command_lines() {
        let words = split(b"-c 'a b.c'\n\"-DX=\\\"1\\\"\" c\\ d.c ''");
        assert_eq!(words, ["-c", "a b.c", "-DX=\"1\"", "c d.c", ""]);
    }

    #[test]
    fn options_for_the_linker_are_found() {
        let line = parsed(&["a.o", "-Wl,--wrap=x,-z,now", "-Xlinker", "-e", "-T", "s.ld"]);
        assert_eq!(line.linker_options(), ["--wrap=x", "-z", "now", "-e", "-T"]);
    }
}
