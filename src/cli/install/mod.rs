//! `ompvm install`: what build systems, shells and `man` look for under a prefix.
//!
//! The compilers get names of their own (`bin/ompvm-cc`), because many build systems take one word
//! for a compiler. CMake gets a toolchain file, and pkg-config a file with the flags of the C library
//! and the compilers' paths. The executable and the libraries beside it are linked to, or copied with
//! `--copy`. A copied tree has relative links only, so it can be moved; packages are made of it.

use super::args::{InstallOptions, Shell};
use super::completions;
use super::message;
use ompvm_support::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The executable's name, and those of the compilers, which are links to it.
const PROGRAM: &str = "ompvm";
const COMPILERS: [&str; 3] = ["ompvm-cc", "ompvm-c++", "ompvm-fc"];

/// A shared library beside the executable.
struct Library {
    /// Name beside the executable, and for linkers.
    file: &'static str,
    /// Name for loaders.
    soname: &'static str,
    /// Folder below that of libraries.
    folder: &'static str,
    /// Noun phrase for messages.
    what: &'static str,
}

/// The libraries. The drop-in library has a folder of its own, because its name is libomp's.
const LIBRARIES: [Library; 2] = [
    Library {
        file: "libompvm.so",
        soname: "libompvm.so.0",
        folder: "",
        what: "C library",
    },
    Library {
        file: "libomp.so",
        soname: "libomp.so.5",
        folder: "ompvm",
        what: "drop-in library for libomp",
    },
];

const HEADER: &str = include_str!("../../../include/ompvm.h");
const CXX_HEADER: &str = include_str!("../../../include/ompvm.hpp");
const TOOLCHAIN: &str = include_str!("toolchain.cmake");
const PACKAGE: &str = include_str!("ompvm.pc");

/// Installs under the prefix.
pub fn run(options: &InstallOptions) -> ExitCode {
    match install(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => message::failed(&Error::Input {
            file: options.prefix.display().to_string(),
            cause: error.to_string(),
        }),
    }
}

fn install(options: &InstallOptions) -> io::Result<()> {
    let own = std::env::current_exe()?;
    let bin = folder(&options.prefix, "bin")?;
    match options.copy {
        true => copy(&own, &bin.join(PROGRAM))?,
        false => link(&own, &bin.join(PROGRAM))?,
    }
    for name in COMPILERS {
        match options.copy {
            true => link(Path::new(PROGRAM), &bin.join(name))?,
            false => link(&own, &bin.join(name))?,
        }
    }
    let libdir = options.prefix.join(&options.libdir);
    for library in &LIBRARIES {
        let file = own.with_file_name(library.file);
        if !file.exists() {
            let (file, what) = (file.display(), library.what);
            ompvm_support::message!(
                Note,
                "{file} does not exist, so the {what} is not installed"
            );
            continue;
        }
        let folder = folder(&libdir, library.folder)?;
        match options.copy {
            true => {
                copy(&file, &folder.join(library.soname))?;
                link(Path::new(library.soname), &folder.join(library.file))?;
            }
            false => {
                link(&file, &folder.join(library.soname))?;
                link(&file, &folder.join(library.file))?;
            }
        }
    }
    texts(options)?;
    completions::write_manual(&folder(&options.prefix, "share/man/man1")?)
}

/// Writes headers, completions, and the files for build systems.
fn texts(options: &InstallOptions) -> io::Result<()> {
    let libdir = options.libdir.display().to_string();
    // From the folder of the pkg-config file to the prefix.
    let up = "/..".repeat(options.libdir.components().count() + 1);
    let package = PACKAGE
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@UP@", &up)
        .replace("@LIBDIR@", &libdir);
    let shell = completions::completions;
    let (bash, zsh, fish) = (shell(Shell::Bash), shell(Shell::Zsh), shell(Shell::Fish));
    for (below, file, text) in [
        ("include", "ompvm.h", HEADER.as_bytes()),
        ("include", "ompvm.hpp", CXX_HEADER.as_bytes()),
        ("share/ompvm", "toolchain.cmake", TOOLCHAIN.as_bytes()),
        (
            &format!("{libdir}/pkgconfig"),
            "ompvm.pc",
            package.as_bytes(),
        ),
        ("share/bash-completion/completions", "ompvm", &bash),
        ("share/zsh/site-functions", "_ompvm", &zsh),
        ("share/fish/vendor_completions.d", "ompvm.fish", &fish),
    ] {
        fs::write(folder(&options.prefix, below)?.join(file), text)?;
    }
    Ok(())
}

/// Returns a folder below another one, which is made if it is missing.
fn folder(prefix: &Path, below: &str) -> io::Result<PathBuf> {
    let folder = prefix.join(below);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Copies a file, or replaces a copy. A running executable cannot be written, so it is removed first.
fn copy(file: &Path, to: &Path) -> io::Result<()> {
    if same(file, to) {
        return Ok(());
    }
    remove(to)?;
    fs::copy(file, to).map(|_| ())
}

/// Makes or replaces a link. A relative target is relative to the link's folder.
fn link(target: &Path, link: &Path) -> io::Result<()> {
    // The target itself may be there already.
    if link == target {
        return Ok(());
    }
    remove(link)?;
    std::os::unix::fs::symlink(target, link)
}

/// Returns true if two paths lead to one file.
fn same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b && !b.is_symlink())
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}
