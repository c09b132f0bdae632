//! `ompvm install`: what build systems look for under a prefix.
//!
//! The compilers get names of their own (`bin/ompvm-cc`), because many build systems take one word
//! for a compiler. CMake gets a toolchain file, and pkg-config a file with the compilers' paths.
//! The names are links to this executable, which is not copied.

use super::args::InstallOptions;
use super::message;
use ompvm_support::error::Error;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Names of links in `bin`.
const LINKS: [&str; 4] = ["ompvm", "ompvm-cc", "ompvm-c++", "ompvm-fc"];

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
        let link = bin.join(name);
        // The executable itself may be there already.
        if link == own {
            continue;
        }
        match std::fs::remove_file(&link) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => std::os::unix::fs::symlink(&own, &link)?,
        }
    }
    let package = PACKAGE.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    for (folder, file, text) in [
        ("share/ompvm", "toolchain.cmake", TOOLCHAIN),
        ("lib/pkgconfig", "ompvm.pc", &package),
    ] {
        let folder = prefix.join(folder);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(file), text)?;
    }
    Ok(())
}
