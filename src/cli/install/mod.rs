//! `ompvm install`: what build systems look for under a prefix.
//!
//! The compilers get names of their own (`bin/ompvm-cc`), because many build systems take one word
//! for a compiler. CMake gets a toolchain file, and pkg-config a file with the flags of the C library
//! and the compilers' paths. The names are links to this executable and to the library beside it,
//! which are not copied.

use super::args::InstallOptions;
use super::message;
use ompvm_support::error::Error;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Names of links in `bin`.
const LINKS: [&str; 4] = ["ompvm", "ompvm-cc", "ompvm-c++", "ompvm-fc"];

/// The C library beside the executable, and the names of its links in `lib`.
const LIBRARY: &str = "libompvm.so";
const LIBRARY_LINKS: [&str; 2] = ["libompvm.so", "libompvm.so.0"];

const HEADER: &str = include_str!("../../../include/ompvm.h");
const CXX_HEADER: &str = include_str!("../../../include/ompvm.hpp");
const TOOLCHAIN: &str = include_str!("toolchain.cmake");
const PACKAGE: &str = include_str!("ompvm.pc");

/// Installs under the prefix.
pub fn run(options: &InstallOptions) -> ExitCode {
    match install(&options.prefix) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => message::failed(&Error::Input {
            file: options.prefix.display().to_string(),
            cause: error.to_string(),
        }),
    }
}

fn install(prefix: &Path) -> io::Result<()> {
    let own = std::env::current_exe()?;
    let bin = prefix.join("bin");
    std::fs::create_dir_all(&bin)?;
    for name in LINKS {
        link(&own, &bin.join(name))?;
    }
    let library = own.with_file_name(LIBRARY);
    if library.exists() {
        let folder = prefix.join("lib");
        std::fs::create_dir_all(&folder)?;
        for name in LIBRARY_LINKS {
            link(&library, &folder.join(name))?;
        }
    } else {
        eprintln!(
            "ompvm: {} does not exist, so the C library is not installed",
            library.display()
        );
    }
    let package = PACKAGE.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    for (folder, file, text) in [
        ("include", "ompvm.h", HEADER),
        ("include", "ompvm.hpp", CXX_HEADER),
        ("share/ompvm", "toolchain.cmake", TOOLCHAIN),
        ("lib/pkgconfig", "ompvm.pc", &package),
    ] {
        let folder = prefix.join(folder);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(file), text)?;
    }
    Ok(())
}

/// Makes or replaces a link.
fn link(target: &Path, link: &Path) -> io::Result<()> {
    // The target itself may be there already.
    if link == target {
        return Ok(());
    }
    match std::fs::remove_file(link) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => std::os::unix::fs::symlink(target, link),
    }
}
