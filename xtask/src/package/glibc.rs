//! Links for an older glibc than this machine's: stubs of the system's libraries that have only what
//! glibc 2.28 and GCC 8 had.
//!
//! glibc keeps the older versions of its functions, so this machine's libraries say what the older
//! ones had. A stub library defines each function in its newest version that is old enough, and the
//! linker asks for that version. Functions that the older glibc lacks are in `older.c`; those of
//! libstdc++ come out of its static archive. libz and libzstd are linked statically.
//!
//! Sees symbols only, and not what older headers would have chosen. The result is checked ([`newer_symbols`]) and tried (`trial.rs`).

use crate::process::{capture_ok, root};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest version of each kind that packaged files may need: those of Debian 10 and RHEL 8,
/// and the lower ones of `manylinux_2_28`.
pub const OLDEST: [(&str, [u32; 3]); 4] = [
    ("GLIBC_", [2, 28, 0]),
    ("GLIBCXX_", [3, 4, 24]),
    ("CXXABI_", [1, 3, 11]),
    ("GCC_", [7, 0, 0]),
];

/// The stubs: name for the linker's `-l`, and the library.
const STUBS: [(&str, &str); 9] = [
    ("c", "libc.so.6"),
    ("m", "libm.so.6"),
    ("ld", "ld-linux-x86-64.so.2"),
    ("gcc_s", "libgcc_s.so.1"),
    ("stdc++", "libstdc++.so.6"),
    // Since glibc 2.34 these are parts of libc.so.6; the stub of that has their functions. Files that
    // need the older one must load them.
    ("pthread", "libpthread.so.0"),
    ("dl", "libdl.so.2"),
    ("rt", "librt.so.1"),
    ("util", "libutil.so.1"),
];

/// Libraries that LLVM names for parts that are not linked. Their shared forms would need this
/// machine's glibc.
const UNUSED: [&str; 3] = ["z3", "xml2", "ffi"];

/// A defined symbol of a shared library.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Symbol {
    name: String,
    version: String,
    /// `FUNC`, `IFUNC`, `OBJECT` or `TLS`.
    kind: String,
    value: u64,
    size: u64,
}

/// Splits a version such as `GLIBC_2.2.5` into its prefix and numbers. Returns `None` for others, such
/// as `GLIBC_PRIVATE`.
fn version(text: &str) -> Option<(&'static str, [u32; 3])> {
    let (prefix, _) = OLDEST.iter().find(|(prefix, _)| text.starts_with(prefix))?;
    let mut numbers = [0; 3];
    for (place, part) in text[prefix.len()..].split('.').enumerate() {
        *numbers.get_mut(place)? = part.parse().ok()?;
    }
    Some((prefix, numbers))
}

/// Returns true if the oldest supported systems have a version.
fn is_old(text: &str) -> bool {
    version(text).is_some_and(|(kind, numbers)| {
        OLDEST
            .iter()
            .any(|(k, oldest)| *k == kind && numbers <= *oldest)
    })
}

/// Parses the table of `readelf --dyn-syms --wide`: symbols that are defined (or not), with a version.
fn parse(table: &str, defined: bool) -> Vec<Symbol> {
    let lines = table.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, value, size, kind, _, _, section, name, ..] = fields[..] else {
            return None;
        };
        let (name, version) = name.split_once('@')?;
        if (section == "UND") == defined || section == "ABS" {
            return None;
        }
        Some(Symbol {
            name: name.to_owned(),
            version: version.trim_start_matches('@').to_owned(),
            kind: kind.to_owned(),
            value: u64::from_str_radix(value, 16).ok()?,
            size: size.strip_prefix("0x").map_or_else(
                || size.parse().ok(),
                |digits| u64::from_str_radix(digits, 16).ok(),
            )?,
        })
    });
    lines.collect()
}

fn symbols(file: &Path, defined: bool) -> Result<Vec<Symbol>, String> {
    let mut readelf = Command::new("readelf");
    let table = capture_ok(readelf.args(["--dyn-syms", "--wide"]).arg(file))?;
    Ok(parse(&table, defined))
}

/// Returns the symbols that a file needs and that the oldest supported systems lack, by version.
pub fn newer_symbols(file: &Path) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut newer: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for symbol in symbols(file, false)? {
        if !is_old(&symbol.version) && version(&symbol.version).is_some() {
            newer.entry(symbol.version).or_default().push(symbol.name);
        }
    }
    Ok(newer)
}

/// Returns the newest version of a kind (`GLIBC_`) that a file needs.
pub fn newest(file: &Path, kind: &str) -> Result<Option<String>, String> {
    let needed = symbols(file, false)?.into_iter();
    let of_kind = needed.filter_map(|s| version(&s.version).filter(|(k, _)| *k == kind));
    let newest = of_kind.map(|(_, numbers)| numbers).max();
    Ok(newest.map(|numbers| {
        let numbers = numbers.map(|n| n.to_string()).join(".");
        numbers.trim_end_matches(".0").to_owned()
    }))
}

/// Returns the shared libraries that a file needs.
pub fn libraries(file: &Path) -> Result<Vec<String>, String> {
    let table = capture_ok(
        Command::new("readelf")
            .args(["--dynamic", "--wide"])
            .arg(file),
    )?;
    let needed = table.lines().filter(|line| line.contains("(NEEDED)"));
    let names = needed.filter_map(|line| line.split(['[', ']']).nth(1).map(str::to_owned));
    Ok(names.collect())
}

/// Returns the assembly and the version script of a stub.
fn stub(all: &[Symbol]) -> (String, String) {
    let mut chosen: BTreeMap<&str, &Symbol> = BTreeMap::new();
    for symbol in all.iter().filter(|s| is_old(&s.version)) {
        let place = chosen.entry(&symbol.name).or_insert(symbol);
        if version(&place.version) < version(&symbol.version) {
            *place = symbol;
        }
    }
    // Symbols of one object share an address: the linker copies them together.
    let mut chosen: Vec<&Symbol> = chosen.into_values().collect();
    chosen.sort_by_key(|s| (s.kind != "OBJECT", s.value));
    let mut text = String::new();
    let mut last = None;
    for (number, symbol) in chosen.iter().enumerate() {
        let label = format!("stub{number}");
        let (name, version) = (&symbol.name, &symbol.version);
        match &*symbol.kind {
            "OBJECT" => {
                let _ = match last.filter(|(value, _)| *value == symbol.value) {
                    Some((_, of)) => writeln!(text, ".globl {label}\n.set {label}, stub{of}"),
                    None => writeln!(
                        text,
                        ".bss\n.balign 16\n.globl {label}\n{label}: .zero {}",
                        symbol.size.max(1)
                    ),
                };
                if last.is_none_or(|(value, _)| value != symbol.value) {
                    last = Some((symbol.value, number));
                }
                let _ = writeln!(
                    text,
                    ".type {label}, @object\n.size {label}, {}",
                    symbol.size
                );
            }
            "FUNC" | "IFUNC" => {
                let _ = writeln!(
                    text,
                    ".text\n.globl {label}\n.type {label}, @function\n{label}: ret"
                );
            }
            // libstdc++'s `std::call_once` has two. Without them the linker would take their functions out of
            // the archive, and guests would find these in place of the library's.
            "TLS" => {
                let _ = writeln!(
                    text,
                    ".section .tbss, \"awT\", @nobits\n.balign 16\n.globl {label}\n.type {label}, @tls_object\n\
                     .size {label}, {0}\n{label}: .zero {0}",
                    symbol.size.max(1)
                );
            }
            _ => continue,
        }
        let _ = writeln!(text, ".symver {label}, {name}@@{version}, remove");
    }
    let versions: std::collections::BTreeSet<&str> = chosen.iter().map(|s| &*s.version).collect();
    let script = versions.iter().map(|v| format!("{v} {{ }};\n")).collect();
    (text, script)
}

/// Returns the path of a library of this machine's compiler.
fn library(name: &str) -> Result<PathBuf, String> {
    let found = capture_ok(Command::new("cc").arg(format!("-print-file-name={name}")))?;
    let path = PathBuf::from(found.trim());
    match path.is_absolute() {
        true => Ok(path.canonicalize().unwrap_or(path)),
        false => Err(format!(
            "the C compiler does not find {name}, which packages are linked with"
        )),
    }
}

/// Makes the stubs in a folder, and returns options of rustc that link with them.
pub fn make_stubs(folder: &Path) -> Result<Vec<String>, String> {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))
    };
    for (_, file) in STUBS {
        let (text, script) = stub(&symbols(&library(file)?, true)?);
        write("stub.s", &text)?;
        write("stub.map", &script)?;
        let mut cc = Command::new("cc");
        cc.current_dir(folder)
            .args(["-shared", "-nostdlib", "stub.s", "-o", file]);
        if !script.is_empty() {
            cc.arg("-Wl,--version-script=stub.map");
        }
        capture_ok(cc.arg(format!("-Wl,-soname,{file}")))?;
    }
    let mut cc = Command::new("cc");
    cc.current_dir(folder)
        .args(["-c", "-O2", "-fPIC", "-fno-builtin", "-o", "older.o"]);
    capture_ok(cc.arg(root().join("xtask/src/package/older.c")))?;
    // Some of the C library is always static: `atexit`, `pthread_atfork`.
    let rest = library("libc_nonshared.a")?;
    let at = |file: &str| folder.join(file).display().to_string();
    let group = |files: &[String]| format!("GROUP ( {} )\n", files.join(" "));
    for (name, file) in STUBS {
        let files = match name {
            "c" => vec![
                at(file),
                at("older.a"),
                rest.display().to_string(),
                format!("AS_NEEDED ( {} )", at("ld-linux-x86-64.so.2")),
            ],
            "stdc++" => vec![at(file), library("libstdc++.a")?.display().to_string()],
            _ => vec![at(file)],
        };
        write(&format!("lib{name}.so"), &group(&files))?;
    }
    for name in ["z", "zstd"] {
        let archive = library(&format!("lib{name}.a"))?;
        write(
            &format!("lib{name}.so"),
            &group(&[archive.display().to_string()]),
        )?;
    }
    for name in UNUSED {
        write(&format!("lib{name}.so"), &group(&[at("older.a")]))?;
    }
    capture_ok(
        Command::new("ar")
            .current_dir(folder)
            .args(["rcs", "older.a", "older.o"]),
    )?;
    let parts = ["libpthread.so.0", "libdl.so.2", "librt.so.1"].map(at);
    let parts = parts.join(",");
    Ok(vec![
        format!("-Lnative={}", folder.display()),
        format!("-Clink-arg=-Wl,--push-state,--no-as-needed,{parts},--pop-state"),
        "-Clink-arg=-Wl,--wrap=__libc_start_main".to_owned(),
        // Hides the archive's functions from guests.
        "-Clink-arg=-Wl,--exclude-libs,libstdc++.a".to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND dlsym@GLIBC_2.34 (2)
     2: 0000000000087e20    12 FUNC    GLOBAL DEFAULT   15 dlopen@@GLIBC_2.34
     3: 0000000000087e30    12 FUNC    GLOBAL DEFAULT   15 dlopen@GLIBC_2.2.5
     4: 00000000001d3000     8 OBJECT  WEAK   DEFAULT   30 environ@@GLIBC_2.2.5
     5: 00000000001d3000     8 OBJECT  GLOBAL DEFAULT   30 __environ@@GLIBC_2.2.5
     6: 0000000000000000     0 OBJECT  GLOBAL DEFAULT  ABS GLIBC_2.2.5
     7: 0000000000087e40    12 FUNC    GLOBAL DEFAULT   15 arc4random@@GLIBC_2.36
     8: 0000000000087e50    12 FUNC    GLOBAL DEFAULT   15 secret@@GLIBC_PRIVATE
     9: 0000000000000010     4 TLS     GLOBAL DEFAULT   16 callable@@GLIBCXX_3.4.11
";

    #[test]
    fn stubs_have_the_newest_version_that_is_old_enough() {
        let (text, script) = stub(&parse(TABLE, true));
        assert!(text.contains("dlopen@@GLIBC_2.2.5"), "{text}");
        assert!(
            !text.contains("2.34") && !text.contains("arc4random"),
            "{text}"
        );
        assert!(!text.contains("secret"), "{text}");
        // One object with two names.
        assert_eq!(text.matches(".zero 8").count(), 1, "{text}");
        assert!(text.contains("@tls_object"), "{text}");
        assert_eq!(script, "GLIBCXX_3.4.11 { };\nGLIBC_2.2.5 { };\n");
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(is_old("GLIBC_2.4") && is_old("GLIBC_2.28") && !is_old("GLIBC_2.29"));
        assert!(is_old("GLIBCXX_3.4.9") && !is_old("GLIBCXX_3.4.25"));
        assert!(!is_old("GLIBC_PRIVATE") && version("GLIBC_PRIVATE").is_none());
        let needed = parse(TABLE, false);
        assert_eq!(needed.len(), 1);
        assert_eq!(needed[0].version, "GLIBC_2.34");
    }
}
