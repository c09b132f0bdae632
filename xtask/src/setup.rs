//! Finding LLVM 22, clang 22 and what they need; installing them where the system lets us.
//!
//! On Debian and its kin the packages come through apt-get when we are root or sudo asks no
//! password. Elsewhere one sentence says what to install.

use crate::process::{capture, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's packages: LLVM to link, clang to compile guests, libomp as the native peer.
const PACKAGES: [&str; 9] = [
    "llvm-22-dev",
    "clang-22",
    "libomp-22-dev",
    "libpolly-22-dev",
    "libzstd-dev",
    "zlib1g-dev",
    "libffi-dev",
    "g++",
    "make",
];

/// Where the tools are.
#[derive(Clone, Debug)]
pub struct Tools {
    /// LLVM's prefix, `/usr/lib/llvm-22` on Debian.
    pub prefix: PathBuf,
}

impl Tools {
    /// A program of LLVM.
    pub fn llvm(&self, program: &str) -> PathBuf {
        self.prefix.join("bin").join(program)
    }

    /// Cargo with the environment that the build needs.
    pub fn cargo(&self) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.env("LLVM_SYS_221_PREFIX", &self.prefix);
        cargo
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        format!("LLVM 22 and clang 22 found in {}", self.prefix.display())
    }
}

/// What a prefix lacks, as names of files.
fn missing(prefix: &Path) -> Vec<&'static str> {
    let mut missing = Vec::new();
    for file in [
        "bin/llvm-config",
        "bin/clang",
        "bin/clang++",
        "bin/llvm-link",
        "bin/opt",
        "lib/libLLVMCore.a",
    ] {
        if !prefix.join(file).exists() {
            missing.push(file);
        }
    }
    if !["lib/libomp.so", "lib/libomp.so.5"]
        .iter()
        .any(|f| prefix.join(f).exists())
    {
        missing.push("lib/libomp.so");
    }
    missing
}

fn is_llvm_22(prefix: &Path) -> bool {
    capture(Command::new(prefix.join("bin/llvm-config")).arg("--version"))
        .is_ok_and(|o| o.stdout.starts_with(b"22."))
}

fn candidates() -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(prefix) = std::env::var_os("LLVM_SYS_221_PREFIX") {
        found.push(PathBuf::from(prefix));
    }
    found.push(PathBuf::from("/usr/lib/llvm-22"));
    for config in ["llvm-config-22", "llvm-config"] {
        if let Ok(output) = capture(Command::new(config).arg("--prefix"))
            && output.status.success()
        {
            found.push(PathBuf::from(
                String::from_utf8_lossy(&output.stdout).trim(),
            ));
        }
    }
    found
}

fn find() -> Result<Tools, String> {
    let mut reason = "LLVM 22 is not installed".to_owned();
    for prefix in candidates() {
        if !is_llvm_22(&prefix) {
            continue;
        }
        let lacks = missing(&prefix);
        if lacks.is_empty() {
            link_libraries()?;
            return Ok(Tools { prefix });
        }
        reason = format!("{} lacks {}", prefix.display(), lacks.join(", "));
    }
    Err(reason)
}

/// Tries to link a C++ program with the libraries that a static LLVM needs.
fn link_libraries() -> Result<(), String> {
    let dir = std::env::temp_dir().join(format!("ompvm-setup-{}", std::process::id()));
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let source = dir.join("probe.cpp");
    std::fs::write(&source, "#include <vector>\nint main() { return 0; }\n")
        .map_err(|e| e.to_string())?;
    let output = Command::new("c++")
        .arg(&source)
        .arg("-o")
        .arg(dir.join("probe"))
        .args(["-lz", "-lzstd", "-lffi"])
        .output();
    let _ = std::fs::remove_dir_all(&dir);
    match output {
        Ok(o) if o.status.success() => Ok(()),
        Ok(o) => Err(format!(
            "a C++ compiler with libz, libzstd and libffi is needed: {}",
            String::from_utf8_lossy(&o.stderr)
                .lines()
                .last()
                .unwrap_or_default()
        )),
        Err(_) => Err("a C++ compiler is not installed".into()),
    }
}

/// Finds the tools, after installing them when they are missing and the system allows it.
pub fn ensure() -> Result<Tools, String> {
    let reason = match find() {
        Ok(tools) => return Ok(tools),
        Err(reason) => reason,
    };
    let advice = format!(
        "{reason}; install LLVM 22 with clang and libomp (Debian, Ubuntu: apt-get install {}), or set LLVM_SYS_221_PREFIX to where it is",
        PACKAGES.join(" ")
    );
    if !Path::new("/usr/bin/apt-get").exists() {
        return Err(advice);
    }
    eprintln!("{reason}: installing {}", PACKAGES.join(" "));
    let apt = |args: &[&str]| -> Result<(), String> {
        // SAFETY: geteuid has no preconditions.
        let root = unsafe { libc::geteuid() } == 0;
        let mut command = if root {
            Command::new("apt-get")
        } else {
            let mut sudo = Command::new("sudo");
            sudo.args(["-n", "apt-get"]);
            sudo
        };
        run(command.env("DEBIAN_FRONTEND", "noninteractive").args(args))
    };
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(PACKAGES);
    apt(&["update"])
        .and_then(|()| apt(&install))
        .map_err(|e| format!("{e}; {advice}"))?;
    find().map_err(|e| format!("{e}, even after installing the packages"))
}
