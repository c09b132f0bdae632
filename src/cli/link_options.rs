//! Translates options of a compiler's link line to options of ompvm.
//!
//! A build file's link line can be passed unchanged. Options with a meaning here are translated
//! (`-Wl,-rpath,DIR` adds DIR to the library folders), options that only shape an executable file
//! are dropped, and options that would change the program are refused. Only words before the
//! program's file are translated; the others are the guest's.
//!
//! Options of compilation that change code (`-D`, `-mavx2`) are not accepted, because the bitcode
//! exists already.

use clap::error::ErrorKind;
use std::collections::VecDeque;
use std::ffi::OsString;

/// Options without a meaning for bitcode.
const IGNORED: &[&str] = &[
    "-pthread",
    "-pthreads",
    "-pie",
    "-no-pie",
    "-static",
    "-static-pie",
    "-static-libgcc",
    "-static-libstdc++",
    "-static-openmp",
    "-shared-libgcc",
    "-fPIC",
    "-fpic",
    "-fPIE",
    "-fpie",
    "-fno-pie",
    "-g",
    "-s",
    "-w",
    "-pipe",
    "-m64",
    "-fuse-ld=lld",
    "-fuse-ld=bfd",
    "-fuse-ld=gold",
    "-fuse-ld=mold",
    "-stdlib=libstdc++",
    "-flto",
    "-flto=thin",
    "-flto=full",
    "-O",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-Ofast",
    "-Os",
    "-Oz",
    "-Og",
    "-fopenmp",
];

/// Prefixes of linker options that show symbols of the program to libraries. Those that name some
/// symbols show all.
const EXPORTS: &[&str] = &["--export-dynamic", "-export-dynamic"];

/// Prefixes of linker options that only shape the executable file.
const EXECUTABLE_ONLY: &[&str] = &[
    "--as-needed",
    "--no-as-needed",
    "--push-state",
    "--pop-state",
    "-Bstatic",
    "-Bdynamic",
    "-Bsymbolic",
    "-dn",
    "-dy",
    "--start-group",
    "--end-group",
    "-(",
    "-)",
    "--gc-sections",
    "--no-gc-sections",
    "-O",
    "--hash-style",
    "--build-id",
    "--enable-new-dtags",
    "--disable-new-dtags",
    "--no-undefined",
    "-no-undefined",
    "--no-allow-shlib-undefined",
    "--allow-shlib-undefined",
    "--copy-dt-needed-entries",
    "--no-copy-dt-needed-entries",
    "-s",
    "-S",
    "-x",
    "-X",
    "--strip-",
    "--icf",
    "--threads",
    "--no-threads",
    "--warn-",
    "--no-warn",
    "--fatal-warnings",
    "--relax",
    "--no-relax",
    "--sort-",
    "--compress-debug-sections",
    "--eh-frame-hdr",
    "--version-script",
    "--dynamic-list",
    "--stats",
    "--verbose",
    "--demangle",
    "--gdb-index",
    "--no-keep-memory",
    "--reduce-memory-overheads",
    "--print-",
    "--cref",
    "--trace",
    "--color-diagnostics",
];

/// Linker options that only shape the executable file and take a value in the next word.
const EXECUTABLE_ONLY_WITH_VALUE: &[&str] = &[
    "-z",
    "-m",
    "-rpath-link",
    "--rpath-link",
    "-soname",
    "-h",
    "-Map",
    "--dynamic-linker",
    "-I",
];

/// Relation of a word to ompvm's own options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionMatch {
    /// No option of ompvm.
    None,
    /// An option that includes its value, if it has one.
    Whole,
    /// An option whose value is the next word.
    WithNext,
}

/// Translates the words of a command line up to the program's file. `own` classifies ompvm's
/// options; `more` is true if options may follow a file.
///
/// # Errors
/// Fails for a linker option that is not supported.
pub fn translate(
    words: Vec<OsString>,
    own: &dyn Fn(&str) -> OptionMatch,
    more: bool,
) -> Result<Vec<OsString>, clap::Error> {
    let mut out = Vec::with_capacity(words.len());
    let mut words = VecDeque::from(words);
    while let Some(word) = words.pop_front() {
        let Some(text) = word.to_str().map(str::to_owned) else {
            out.push(word);
            continue;
        };
        if text == "--" || ((!text.starts_with('-') || text == "-") && !more) {
            out.push(word);
            break;
        }
        let known = own(&text);
        if known != OptionMatch::None {
            out.push(word);
            if known == OptionMatch::WithNext {
                out.extend(words.pop_front());
            }
        } else if let Some(list) = text.strip_prefix("-Wl,") {
            linker(list.split(',').map(str::to_owned).collect(), own, &mut out)?;
        } else if text == "-rdynamic" {
            export_dynamic(own, &mut out);
        } else if text == "-Xlinker" {
            // Consecutive `-Xlinker` words form one list; an option and its value are two of them.
            let mut list = VecDeque::new();
            list.extend(words.pop_front().and_then(|w| w.into_string().ok()));
            while words.front().is_some_and(|w| w == "-Xlinker") {
                words.pop_front();
                list.extend(words.pop_front().and_then(|w| w.into_string().ok()));
            }
            linker(list, own, &mut out)?;
        } else if text == "-stdlib=libc++" {
            out.extend(["-l", "c++"].map(OsString::from));
        } else if !IGNORED.contains(&&*text) && !text.starts_with("-fopenmp=") {
            out.push(word);
        }
    }
    out.extend(words);
    Ok(out)
}

/// Adds the option that shows the program's symbols to libraries, for commands that run the program.
fn export_dynamic(own: &dyn Fn(&str) -> OptionMatch, out: &mut Vec<OsString>) {
    const OPTION: &str = "--export-dynamic";
    if own(OPTION) != OptionMatch::None {
        out.push(OPTION.into());
    }
}

/// Translates options of the linker.
fn linker(
    mut list: VecDeque<String>,
    own: &dyn Fn(&str) -> OptionMatch,
    out: &mut Vec<OsString>,
) -> Result<(), clap::Error> {
    while let Some(option) = list.pop_front() {
        let joined = ["-rpath=", "--rpath="]
            .iter()
            .find_map(|p| option.strip_prefix(p));
        if let Some(folder) = joined {
            out.extend(["-L", folder].map(OsString::from));
        } else if matches!(&*option, "-rpath" | "--rpath" | "-R") {
            out.push("-L".into());
            out.extend(list.pop_front().map(OsString::from));
        } else if EXPORTS.iter().any(|e| option.starts_with(e)) || option == "-E" {
            export_dynamic(own, out);
        } else if option.starts_with("-l") || option.starts_with("-L") {
            out.push(option.into());
        } else if EXECUTABLE_ONLY_WITH_VALUE.contains(&&*option) {
            list.pop_front();
        } else if !EXECUTABLE_ONLY.iter().any(|o| option.starts_with(o))
            && !EXECUTABLE_ONLY_WITH_VALUE
                .iter()
                .any(|o| option.starts_with(&format!("{o}=")))
        {
            let why = match &*option {
                "--whole-archive" | "-whole-archive" => {
                    "; name the members that are needed with `--with`"
                }
                _ => "",
            };
            let text = format!("the linker option `{option}` is not supported{why}\n");
            return Err(clap::Error::raw(ErrorKind::UnknownArgument, text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(words: &[&str]) -> Result<Vec<String>, String> {
        let words = words.iter().map(OsString::from).collect();
        let own = |w: &str| match w {
            "-l" | "-L" | "--with" => OptionMatch::WithNext,
            _ if w.starts_with("-l") => OptionMatch::Whole,
            _ => OptionMatch::None,
        };
        let words = translate(words, &own, false).map_err(|e| e.to_string())?;
        Ok(words
            .into_iter()
            .map(|w| w.into_string().unwrap())
            .collect())
    }

    #[test]
    fn a_link_line_is_accepted_unchanged() {
        let line = [
            "-pthread",
            "-rdynamic",
            "-O3",
            "-fopenmp=libomp",
            "-Wl,-rpath,/opt/lib,--as-needed",
            "-Wl,-z,relro,-lfoo",
            "-Xlinker",
            "-rpath=/x",
            "-lm",
            "--with",
            "-pthread",
            "a.bc",
            "-pthread",
            "-Wl,x",
        ];
        let words = [
            "-L", "/opt/lib", "-lfoo", "-L", "/x", "-lm", "--with", "-pthread", "a.bc", "-pthread",
            "-Wl,x",
        ];
        assert_eq!(translated(&line).unwrap(), words);
    }

    #[test]
    fn options_that_would_change_the_program_are_refused() {
        for option in ["--wrap=malloc", "--defsym=a=b", "-T", "--whole-archive"] {
            let refused = translated(&[&format!("-Wl,{option}"), "a.bc"]).unwrap_err();
            assert!(refused.contains(option), "{refused}");
        }
    }

    #[test]
    fn standard_input_is_a_file() {
        assert_eq!(translated(&["-pthread", "-", "-g"]).unwrap(), ["-", "-g"]);
    }
}
