//! The native side of a comparison: an executable from the same bitcode, built by clang with
//! libomp.
//!
//! The compiler's driver builds it, because that is how users build. Nothing is tuned; the user
//! chooses the optimization level.

use super::CompareOptions;
use crate::api::{self, Engine, FileKind, Module};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The native executable and its origin.
#[derive(Debug)]
pub struct Native {
    /// Path of the executable.
    pub executable: PathBuf,
    /// Its origin: `clang-22 -O2 -fopenmp`, or the path that was given.
    pub described: String,
}

/// Returns the executable that was named, or builds one in `dir`.
pub fn prepare(options: &CompareOptions, file: &Path, dir: &Path) -> Result<Native, String> {
    if let Some(executable) = &options.native {
        // A relative path is relative to the current folder, not a name to look up in PATH.
        let executable = std::path::absolute(executable)
            .map_err(|e| format!("{}: {e}", executable.display()))?;
        if !executable.is_file() {
            return Err(format!(
                "--native {}: there is no such file; name an executable built from the same \
                 program",
                executable.display()
            ));
        }
        return Ok(Native {
            described: executable.display().to_string(),
            executable,
        });
    }
    let clang = find_clang(options)?;
    let executable = dir.join("native");
    let level = format!("-O{}", options.level);
    let mut words = inputs(options, file, dir)?;
    let mut built = build(&clang, options, &words, &executable, &level);
    // libatomic and flang's runtime are not installed everywhere, so they are linked only if their
    // symbols are missing.
    let misses = |built: &Result<(), String>, name: &str| {
        built.as_ref().is_err_and(|message| message.contains(name))
    };
    if misses(&built, "_Fortran") {
        let Some(runtime) = crate::api::fortran_runtime() else {
            return Err(
                "the program is Fortran, and flang's runtime (libflang_rt.runtime.a) is not \
                 installed; --native EXE takes an executable that is built already"
                    .into(),
            );
        };
        words.push(runtime.into());
        built = build(&clang, options, &words, &executable, &level);
    }
    if misses(&built, "__atomic_") {
        words.push("-latomic".into());
        built = build(&clang, options, &words, &executable, &level);
    }
    built.map_err(|message| {
        format!(
            "{} could not build the native executable from {}; this is for the compiler or its \
             libraries to solve (-l, -L, --clang), not for ompvm; --native EXE takes one that is \
             built already:\n{message}",
            clang.display(),
            file.display()
        )
    })?;
    let name = clang.file_name().unwrap_or_default().to_string_lossy();
    Ok(Native {
        executable,
        described: format!("{name} {level} -fopenmp"),
    })
}

fn find_clang(options: &CompareOptions) -> Result<PathBuf, String> {
    if let Some(named) = &options.clang {
        if named.components().count() > 1 && !named.is_file() {
            return Err(format!(
                "--clang {}: there is no such file",
                named.display()
            ));
        }
        return Ok(named.clone());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    for name in ["clang-22", "clang"] {
        if std::env::split_paths(&path).any(|dir| dir.join(name).is_file()) {
            return Ok(name.into());
        }
    }
    Err(
        "no clang to build the native executable with (looked for clang-22 and clang in PATH): \
         install clang 22 with libomp, name a clang with --clang PATH, or name an executable that \
         is built already with --native EXE"
            .into(),
    )
}

/// Returns the program's files as words for the compiler. Files are classified by their contents,
/// not by their names. If some need a linker for link-time optimization (files of several modules,
/// archives of bitcode), all are linked into one file in `dir` first.
fn inputs(options: &CompareOptions, file: &Path, dir: &Path) -> Result<Vec<OsString>, String> {
    let files: Vec<PathBuf> = [file.to_path_buf()]
        .into_iter()
        .chain(options.with.iter().cloned())
        .collect();
    // Linkers want libraries after the files that need them.
    let (mut words, mut libraries) = (Vec::new(), Vec::new());
    let kinds = files.iter().map(|file| api::file_kind(file));
    let kinds: Vec<FileKind> = kinds.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    let together = kinds.contains(&FileKind::ForLinkTime);
    if together {
        let merged = dir.join("program.bc");
        let module = Module::from_files(&Engine::default(), &files);
        let bitcode = module
            .and_then(|m| m.bitcode())
            .map_err(|e| e.to_string())?;
        std::fs::write(&merged, bitcode).map_err(|e| format!("{}: {e}", merged.display()))?;
        words.extend([
            "-x".into(),
            "ir".into(),
            merged.into(),
            "-x".into(),
            "none".into(),
        ]);
    }
    for (file, kind) in files.iter().zip(kinds) {
        match kind {
            FileKind::Program | FileKind::ForLinkTime if together => {}
            FileKind::Program | FileKind::ForLinkTime => {
                words.extend([
                    "-x".into(),
                    "ir".into(),
                    file.into(),
                    "-x".into(),
                    "none".into(),
                ]);
            }
            FileKind::Native => {
                libraries.push(file.into());
                let folder = std::path::absolute(file).ok();
                if let Some(folder) = folder.as_deref().and_then(Path::parent) {
                    libraries.push(format!("-Wl,-rpath,{}", folder.display()).into());
                }
            }
        }
    }
    words.extend(libraries);
    Ok(words)
}

fn build(
    clang: &Path,
    options: &CompareOptions,
    inputs: &[OsString],
    executable: &Path,
    level: &str,
) -> Result<(), String> {
    let mut command = Command::new(clang);
    // The C++ driver adds libstdc++ for programs that need it; --as-needed drops it from the
    // others.
    command
        .args(["--driver-mode=g++", "-w", level, "-fopenmp", "-pthread"])
        .arg("-Wl,--as-needed")
        .arg("-o")
        .arg(executable)
        .args(inputs);
    for dir in &options.library_paths {
        command.arg("-L").arg(dir);
        if let Ok(dir) = std::path::absolute(dir) {
            command.arg(format!("-Wl,-rpath,{}", dir.display()));
        }
    }
    for name in &options.libraries {
        if name.contains('/') {
            command.arg(name);
        } else {
            command.arg(format!("-l{name}"));
        }
    }
    command.args(["-lm", "-ldl"]);
    if let Some(dir) = openmp_folder(clang) {
        command.arg(format!("-Wl,-rpath,{}", dir.display()));
    }
    let output = command
        .output()
        .map_err(|e| format!("cannot start {}: {e}", clang.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}\n({})", tail(&text, 12), output.status))
}

/// Returns the folder with the libomp of this clang, which need not be on the loader's path.
fn openmp_folder(clang: &Path) -> Option<PathBuf> {
    let output = Command::new(clang)
        .arg("-print-file-name=libomp.so")
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    Some(path.parent()?.canonicalize().ok()?).filter(|_| path.is_absolute())
}

/// Returns the last lines of a text.
pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
