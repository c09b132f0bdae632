//! Compiles guests: source to bitcode, and the same bitcode to a native executable.
//!
//! Both sides run the same bitcode, so a difference is ompvm's fault. Compiles nothing twice:
//! results are cached by a hash of all inputs.

use crate::root;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the folder of LLVM's programs.
pub fn llvm_bin() -> PathBuf {
    let prefix = std::env::var("LLVM_SYS_221_PREFIX").unwrap_or("/usr/lib/llvm-22".into());
    Path::new(&prefix).join("bin")
}

/// Returns the folder of compiled guests.
fn store() -> PathBuf {
    root().join("target/guests")
}

/// Writes a program to a folder of `target/guests` and returns its path. Several trials may write
/// and read it at the same time, so it appears as a whole, and stays if it is the same.
pub fn source(folder: &str, name: &str, text: &str) -> Result<PathBuf, String> {
    let folder = store().join(folder);
    let path = folder.join(name);
    if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(path);
    }
    let part = folder.join(format!("{name}.{:?}", std::thread::current().id()));
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&part, text))
        .and_then(|()| std::fs::rename(&part, &path))
        .map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

/// Compiles a source (C, C++ or textual IR) to bitcode; `flags` include the level and `-fopenmp`.
pub fn bitcode(source: &Path, flags: &[String]) -> Result<PathBuf, String> {
    let name = source
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut text = std::fs::read(source).map_err(|e| format!("{}: {e}", source.display()))?;
    // Files that programs of one folder share; headers (`key`) count for all programs.
    for shared in crate::files(source.parent().unwrap_or(source), &["inc"]) {
        text.extend(std::fs::read(shared).unwrap_or_default());
    }
    let out = store().join(format!("{name}-{:016x}.bc", key(&text, flags)));
    if out.exists() {
        return Ok(out);
    }
    let ir = source.extension().is_some_and(|x| x == "ll");
    let cpp = source.extension().is_some_and(|x| x == "cpp");
    let relative = source.strip_prefix(root()).unwrap_or(source);
    build(&out, |out| {
        let mut command = if ir {
            Command::new(llvm_bin().join("llvm-as"))
        } else {
            let mut clang = Command::new(llvm_bin().join(if cpp { "clang++" } else { "clang" }));
            clang.args(["-w", "-g", "-c", "-emit-llvm"]).args(flags);
            clang
        };
        command.current_dir(root()).arg("-o").arg(out).arg(relative);
        command
    })?;
    Ok(out)
}

/// Compiles bitcode to a native executable with libomp.
pub fn native(bitcode: &Path, flags: &[String]) -> Result<PathBuf, String> {
    let out = bitcode.with_extension("exe");
    if out.exists() {
        return Ok(out);
    }
    build(&out, |out| {
        let mut clang = Command::new(llvm_bin().join("clang++"));
        let level = flags.iter().find(|f| f.starts_with("-O"));
        clang
            .arg("-w")
            .args(level)
            .args(["-fopenmp", "-pthread", "-o"])
            .arg(out)
            .arg(bitcode)
            .args(flags.iter().filter(|f| links(f)));
        clang.args(["-lm", "-latomic"]);
        clang.arg(format!(
            "-Wl,-rpath,{}",
            llvm_bin().join("../lib").display()
        ));
        clang
    })?;
    Ok(out)
}

/// Returns true if a flag of the source also matters to the native link.
fn links(flag: &str) -> bool {
    const PREFIXES: [&str; 6] = [
        "-L",
        "-ffast-math",
        "-rdynamic",
        "-stdlib=",
        "--rtlib=",
        "--unwindlib=",
    ];
    PREFIXES.iter().any(|prefix| flag.starts_with(prefix))
}

/// Runs the compiler with a temporary output file and renames it, so that an interrupted run leaves
/// no partial file.
fn build(out: &Path, command: impl FnOnce(&Path) -> Command) -> Result<(), String> {
    std::fs::create_dir_all(store()).map_err(|e| format!("{}: {e}", store().display()))?;
    let part = out.with_extension(format!("part{:?}", std::thread::current().id()));
    let mut command = command(&part);
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if !output.status.success() {
        return Err(format!(
            "{command:?}:\n{}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    std::fs::rename(&part, out).map_err(|e| format!("{}: {e}", out.display()))
}

fn key(text: &[u8], flags: &[String]) -> u64 {
    static SHARED: OnceLock<Vec<u8>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| {
        let mut bytes = Command::new(llvm_bin().join("clang"))
            .arg("--version")
            .output()
            .map(|o| o.stdout)
            .unwrap_or_default();
        for header in crate::files(&root().join("tests"), &["h"]) {
            bytes.extend(std::fs::read(header).unwrap_or_default());
        }
        bytes
    });
    let mut hasher = DefaultHasher::new();
    (text, flags, shared).hash(&mut hasher);
    hasher.finish()
}
