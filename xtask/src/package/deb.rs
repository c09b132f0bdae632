//! Makes the Debian package. `dpkg-shlibdeps` computes what it depends on, and `dpkg-deb` packs it.

use super::{VERSION, copy, fresh, lay_out};
use crate::process::{capture_ok, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's folder of libraries, below the prefix.
const LIBDIR: &str = "lib/x86_64-linux-gnu";

/// Packs the staged files. Returns the package and its dependencies.
pub fn make(stage: &Path, work: &Path, time: &str) -> Result<(PathBuf, String), String> {
    let tree = fresh(&work.join("deb"))?;
    lay_out(stage, &tree.join("usr"), LIBDIR)?;
    let documents = tree.join("usr/share/doc/ompvm");
    for file in ["LICENSE-MIT", "CHANGELOG.md"] {
        copy(&root().join(file), &documents)?;
    }
    let write = |file: PathBuf, text: &str| {
        std::fs::create_dir_all(file.parent().unwrap_or(&tree))
            .and_then(|()| std::fs::write(&file, text))
            .map_err(|e| format!("{}: {e}", file.display()))
    };
    write(documents.join("copyright"), &copyright()?)?;
    // Debian keeps completions for zsh elsewhere.
    let zsh = tree.join("usr/share/zsh");
    std::fs::rename(zsh.join("site-functions"), zsh.join("vendor-completions"))
        .map_err(|e| format!("{}: {e}", zsh.display()))?;
    let manual = tree.join("usr/share/man/man1");
    let pages = std::fs::read_dir(&manual).map_err(|e| format!("{}: {e}", manual.display()))?;
    let pages = pages.flatten().map(|page| page.path());
    capture_ok(Command::new("gzip").args(["-9", "--no-name"]).args(pages))?;
    let depends = depends(&tree, work)?;
    write(tree.join("DEBIAN/control"), &control(&tree, &depends)?)?;
    write(tree.join("DEBIAN/triggers"), "activate-noawait ldconfig\n")?;
    write(
        tree.join("DEBIAN/shlibs"),
        &format!("libompvm 0 ompvm (>= {VERSION})\n"),
    )?;
    let package = work.join(format!("ompvm_{VERSION}_amd64.deb"));
    let mut pack = Command::new("dpkg-deb");
    pack.env("SOURCE_DATE_EPOCH", time);
    pack.args(["--root-owner-group", "-Zxz", "--build"]);
    capture_ok(pack.arg(&tree).arg(&package))?;
    Ok((package, depends))
}

/// Computes the packages that the files need, from the libraries and symbols that they use.
fn depends(tree: &Path, work: &Path) -> Result<String, String> {
    // dpkg-shlibdeps runs only in a source package.
    let source = fresh(&work.join("source"))?;
    let control = source.join("debian/control");
    std::fs::create_dir_all(source.join("debian"))
        .and_then(|()| {
            std::fs::write(
                &control,
                "Source: ompvm\n\nPackage: ompvm\nArchitecture: amd64\n",
            )
        })
        .map_err(|e| format!("{}: {e}", control.display()))?;
    let mut shlibdeps = Command::new("dpkg-shlibdeps");
    shlibdeps.current_dir(&source).arg("-O");
    let usr = tree.join("usr");
    shlibdeps
        .arg(usr.join("bin/ompvm"))
        .arg(usr.join(LIBDIR).join("libompvm.so.0"));
    shlibdeps.arg(usr.join(LIBDIR).join("ompvm/libomp.so.5"));
    let found = capture_ok(&mut shlibdeps)?;
    let depends = found
        .lines()
        .find_map(|line| line.strip_prefix("shlibs:Depends="));
    depends
        .map(str::to_owned)
        .ok_or_else(|| format!("dpkg-shlibdeps said {found}"))
}

/// Returns the package's description of itself.
fn control(tree: &Path, depends: &str) -> Result<String, String> {
    let kilobytes = capture_ok(Command::new("du").arg("-sk").arg(tree.join("usr")))?;
    let kilobytes = kilobytes
        .split_whitespace()
        .next()
        .unwrap_or("0")
        .to_owned();
    Ok(format!(
        "Package: ompvm\n\
         Version: {VERSION}\n\
         Architecture: amd64\n\
         Maintainer: The authors of ompvm <ompvm@localhost>\n\
         Installed-Size: {kilobytes}\n\
         Depends: {depends}\n\
         Recommends: clang-22\n\
         Suggests: flang-22\n\
         Section: devel\n\
         Priority: optional\n\
         Description: OpenMP virtual machine\n \
         Runs the LLVM bitcode that clang -fopenmp and flang emit, compiles it while\n \
         it runs, and is itself the OpenMP runtime. With compilers, a library for C\n \
         and C++, and a drop-in library for libomp in {LIBDIR}/ompvm.\n"
    ))
}

/// Returns the copyright file: the project's licence, and where others' are.
fn copyright() -> Result<String, String> {
    let file = root().join("LICENSE-MIT");
    let license = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let indented = |line: &str| match line.is_empty() {
        true => " .\n".to_owned(),
        false => format!(" {line}\n"),
    };
    let license: String = license.lines().map(indented).collect();
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: ompvm\n\n\
         Files: *\n\
         Copyright: the authors of ompvm\n\
         License: Expat or Apache-2.0\n\
         Comment: The executable and the library contain LLVM (Apache-2.0 with LLVM\n \
         exceptions), zlib, zstd and crates under the licences that deny.toml lists.\n\n\
         License: Expat\n{license}\n\
         License: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n"
    ))
}
