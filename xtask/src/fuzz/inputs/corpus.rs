//! Makes the intact files that inputs are damaged copies of.
//!
//! They come from programs of this repository, small ones: a larger file makes each execution slow.

use super::SURFACES;
use crate::process::{self, root};
use crate::setup::Tools;
use crate::timed::write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sources of the corpus.
const SOURCES: [&str; 8] = [
    "tests/capi/guest.c",
    "tests/limits/hello.c",
    "tests/limits/teams.c",
    "tests/limits/threads.cpp",
    "tests/limits/hot.cpp",
    "tests/pass/single/nowait.c",
    "tests/pass/single/copyprivate.c",
    "npb/ep.c",
];
/// Largest file of the corpus, in bytes: larger ones make each execution slow.
const LARGEST: u64 = 32 << 10;
/// The same for native files.
const LARGEST_NATIVE: u64 = 96 << 10;

/// Makes the corpus, a folder for each surface, unless it is there.
pub(super) fn make(tools: &Tools, dir: &Path) -> Result<PathBuf, String> {
    let corpus = dir.join("corpus");
    if corpus.join("complete").exists() {
        return Ok(corpus);
    }
    let folder = |name: &str| {
        let folder = corpus.join(name);
        let made = std::fs::create_dir_all(&folder);
        made.map(|()| folder.clone())
            .map_err(|e| format!("{}: {e}", folder.display()))
    };
    let (bitcode, text, object) = (folder("bitcode")?, folder("text")?, folder("object")?);
    let (cache, capi, made) = (folder("cache")?, folder("capi")?, folder("made")?);
    let ompvm = root().join("target/release/ompvm");
    for source in SOURCES {
        let stem = Path::new(source)
            .file_stem()
            .unwrap_or_default()
            .display()
            .to_string();
        let source = root().join(source);
        let cpp = source.extension().is_some_and(|e| e == "cpp");
        let clang = tools.llvm(if cpp { "clang++" } else { "clang" });
        for level in ["-O0", "-O2"] {
            let flags = [level, "-g", "-fopenmp", "-emit-llvm", "-I"];
            let compile = |form: &str, to: PathBuf| {
                let mut clang = Command::new(&clang);
                clang
                    .args(flags)
                    .arg(root().join("npb/common"))
                    .arg(form)
                    .arg(&source);
                process::capture_ok(clang.arg("-o").arg(to)).map(drop)
            };
            compile("-c", bitcode.join(format!("{stem}{level}.bc")))?;
            compile("-S", text.join(format!("{stem}{level}.ll")))?;
        }
        let (fat, program) = (object.join(format!("{stem}.o")), made.join(&stem));
        let driver = if cpp { "c++" } else { "cc" };
        let build = |words: &[&str], to: &Path| {
            let mut ompvm = Command::new(&ompvm);
            ompvm
                .arg(driver)
                .args(["-O1", "-fopenmp", "-I"])
                .arg(root().join("npb/common"));
            process::capture_ok(ompvm.args(words).arg(&source).arg("-o").arg(to))
        };
        build(&["-c"], &fat)?;
        // A source that needs more than itself makes no executable.
        if build(&[], &program).is_ok() {
            let _ = std::fs::copy(&program, object.join(&stem));
            let mut run = Command::new(&ompvm);
            run.args(["run", "--tier=opt"])
                .arg(bitcode.join(format!("{stem}-O2.bc")));
            let _ = process::capture(run.env("OMPVM_CACHE_DIR", made.join("cache")));
        }
    }
    for (from, to) in [("tests/passes", &text), ("tests/fuzz/corpus/module", &text)] {
        copy_all(&root().join(from), to, "ll")?;
    }
    for name in ["guest", "hello", "teams"] {
        let file = bitcode.join(format!("{name}-O2.bc"));
        let _ = std::fs::copy(&file, capi.join(name));
        let packed = process::capture(Command::new("gzip").arg("-c").arg(&file))?;
        write(&object.join(format!("{name}.gz")), packed.stdout)?;
        let archive = object.join(format!("{name}.a"));
        let mut ar = Command::new(tools.llvm("llvm-ar"));
        ar.arg("rcs")
            .arg(&archive)
            .arg(&file)
            .arg(object.join(format!("{name}.o")));
        process::capture_ok(&mut ar)?;
    }
    copy_all(&made.join("cache"), &cache, "")?;
    drop_large(&corpus)?;
    write(&corpus.join("complete"), "")?;
    Ok(corpus)
}

/// Copies the files below a folder with an extension (empty: all) under names of their own.
fn copy_all(from: &Path, to: &Path, extension: &str) -> Result<(), String> {
    let mut folders = vec![from.to_owned()];
    let mut number = 0;
    while let Some(folder) = folders.pop() {
        let list = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = list.map(|e| e.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if extension.is_empty() || path.extension().is_some_and(|e| e == extension) {
                let name = path.file_stem().unwrap_or_default().display().to_string();
                let mut bytes = std::fs::read(&path).map_err(|e| e.to_string())?;
                // The checksum would hide what is behind it: a file of the cache goes without its
                // head, which has 40 bytes.
                if extension.is_empty() && name == "module" {
                    write(&to.join(format!("whole-{number}")), &bytes)?;
                    bytes.drain(..40.min(bytes.len()));
                }
                write(&to.join(format!("{name}-{number}")), bytes)?;
                number += 1;
            }
        }
    }
    Ok(())
}

/// Removes the large files of the corpus.
fn drop_large(corpus: &Path) -> Result<(), String> {
    for surface in SURFACES {
        let largest = match surface {
            "object" => LARGEST_NATIVE,
            _ => LARGEST,
        };
        for file in std::fs::read_dir(corpus.join(surface))
            .into_iter()
            .flatten()
            .flatten()
        {
            if file.metadata().is_ok_and(|m| m.len() > largest) {
                std::fs::remove_file(file.path()).map_err(|e| e.to_string())?;
            }
        }
    }
    Ok(())
}
