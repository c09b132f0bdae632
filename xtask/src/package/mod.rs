//! Makes the packages of a release: a tarball that runs where it is unpacked, a Debian package, a
//! wheel for Python, and what `cargo install` makes. Each is tried in a root that has nothing else in it.
//!
//! All of them hold the same files, linked for the oldest supported systems ([`glibc`]) and laid out
//! by `ompvm install --copy`. What cannot be tried on this machine is reported as not tried.

mod cargo;
mod deb;
mod glibc;
mod trial;
mod wheel;

use crate::process::{self, capture_ok, root};
use crate::setup::{self, Tools};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `package`.
#[derive(Args)]
pub struct Options {
    /// Try the tarball on the system below this folder, too: an older one, such as unpacked packages
    /// of another release
    #[arg(long, value_name = "DIR")]
    older_root: Vec<PathBuf>,
    /// Also try `cargo install` with nothing built before, which takes as long as a first build
    #[arg(long)]
    cargo_install: bool,
    /// Make only the wheel
    #[arg(long)]
    wheel: bool,
}

/// Version of the packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The files to package: cargo's options, and the file below target/release.
const FILES: [(&[&str], &str); 3] = [
    (&["--package=ompvm", "--bin=ompvm"], "ompvm"),
    (&["--package=ompvm-capi", "--lib"], "libompvm.so"),
    (&["--package=ompvm-libomp", "--lib"], "libomp.so"),
];

/// Makes and tries all packages.
pub fn run(options: &Options) -> Result<(), String> {
    let tools = setup::ensure()?;
    let work = root().join("target/package");
    let link = glibc::make_stubs(&work.join("stubs"))?;
    let time = time()?;
    let wheel = wheel::make(&tools, &work, &link, &time)?;
    if options.wheel {
        println!("{}", wheel.join("\n"));
        return Ok(());
    }
    let stage = stage(&tools, &work, &link)?;
    let mut report = wheel;
    for (_, name) in FILES {
        let file = stage.join(name);
        report.push(format!("{name}: {}, {}", size(&file)?, needs(&file)?));
    }
    let tarball = tarball(&stage, &work, &time)?;
    report.push(format!("{}: {}", shown(&tarball), size(&tarball)?));
    let (package, depends) = deb::make(&stage, &work, &time)?;
    report.push(format!(
        "{}: {}, depends on {depends}",
        shown(&package),
        size(&package)?
    ));
    report.extend(cargo::check(&tools, &work, options.cargo_install)?);
    report.extend(trial::all(
        &tools,
        &work,
        &tarball,
        &package,
        &options.older_root,
    )?);
    for line in report {
        println!("{line}");
    }
    Ok(())
}

/// Builds the files to package for the oldest supported systems. They are linked anew from the objects
/// of the release build; the next `cargo build --release` links the usual ones.
fn stage(tools: &Tools, work: &Path, link: &[String]) -> Result<PathBuf, String> {
    let stage = fresh(&work.join("stage"))?;
    for (package, name) in FILES {
        let mut cargo = tools.cargo();
        cargo.current_dir(root()).args(["rustc", "--release"]);
        process::run(cargo.args(package).arg("--").args(link))?;
        let file = stage.join(name);
        // Debug information, and the relocations that `dist` reads, stay behind.
        let mut strip = Command::new("strip");
        strip.arg("--strip-all").arg("-o").arg(&file);
        // gdb looks for these by name.
        let kept = ["__jit_debug_register_code", "__jit_debug_descriptor"];
        strip.args(kept.map(|symbol| format!("--keep-symbol={symbol}")));
        capture_ok(strip.arg(root().join("target/release").join(name)))?;
        let newer = glibc::newer_symbols(&file)?;
        if !newer.is_empty() {
            let lines = newer
                .iter()
                .map(|(v, names)| format!("\n  {v}: {}", names.join(", ")));
            return Err(format!(
                "{name} needs a newer system than it should; define these in older.c:{}",
                lines.collect::<String>()
            ));
        }
    }
    Ok(stage)
}

/// Describes what a file needs: the version of glibc, and shared libraries.
fn needs(file: &Path) -> Result<String, String> {
    let glibc = glibc::newest(file, "GLIBC_")?.unwrap_or_default();
    let cpp = match glibc::newest(file, "GLIBCXX_")? {
        Some(version) => format!(", GLIBCXX {version}"),
        None => String::new(),
    };
    Ok(format!(
        "needs glibc {glibc}{cpp} and {}",
        glibc::libraries(file)?.join(" ")
    ))
}

/// Lays the files out below a prefix.
fn lay_out(stage: &Path, prefix: &Path, libdir: &str) -> Result<(), String> {
    let mut install = Command::new(stage.join("ompvm"));
    install.args(["install", "--copy", "--libdir", libdir]);
    capture_ok(install.arg(prefix)).map(|_| ())
}

/// Makes the tarball.
fn tarball(stage: &Path, work: &Path, time: &str) -> Result<PathBuf, String> {
    let name = format!("ompvm-{VERSION}-x86_64-linux");
    let tree = fresh(&work.join("tarball"))?;
    let top = tree.join(&name);
    lay_out(stage, &top, "lib")?;
    for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root().join(license), &top.join("share/doc/ompvm"))?;
    }
    let file = work.join(format!("{name}.tar.xz"));
    let mut tar = Command::new("tar");
    tar.current_dir(&tree)
        .env("XZ_OPT", "-T2")
        .arg("-cJf")
        .arg(&file);
    capture_ok(
        tar.args([
            "--owner=0",
            "--group=0",
            "--sort=name",
            &format!("--mtime=@{time}"),
        ])
        .arg(&name),
    )?;
    Ok(file)
}

/// Returns the time of the commit, in seconds: that of all files in packages.
fn time() -> Result<String, String> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["log", "-1", "--format=%ct"]);
    Ok(capture_ok(&mut git)?.trim().to_owned())
}

/// Copies a file into a folder, which is made if it is missing.
fn copy(file: &Path, folder: &Path) -> Result<(), String> {
    let name = file.file_name().unwrap_or_default();
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::copy(file, folder.join(name)))
        .map(|_| ())
        .map_err(|e| format!("{}: {e}", file.display()))
}

/// Empties or makes a folder.
fn fresh(folder: &Path) -> Result<PathBuf, String> {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder.to_owned())
}

fn size(file: &Path) -> Result<String, String> {
    let bytes = file
        .metadata()
        .map_err(|e| format!("{}: {e}", file.display()))?
        .len();
    Ok(format!("{:.1} MB", bytes as f64 / 1e6))
}

/// Returns a path below the repository's root as people type it.
fn shown(file: &Path) -> String {
    file.strip_prefix(root())
        .unwrap_or(file)
        .display()
        .to_string()
}
