//! Finds LLVM 22, clang 22 and their requirements, or installs them.
//!
//! On Debian and its derivatives apt-get installs the packages, if we are root or sudo asks for no
//! password. Elsewhere an error message says what to install.

use crate::process::{capture, root, run};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Debian packages: LLVM to link, clang to compile guests, its runtime and libomp as the native
/// peers.
const PACKAGES: [&str; 10] = [
    "llvm-22-dev",
    "clang-22",
    "libclang-rt-22-dev",
    "libomp-22-dev",
    "libpolly-22-dev",
    "libzstd-dev",
    "zlib1g-dev",
    "libffi-dev",
    "g++",
    "make",
];

/// Debian package of llvm-bolt.
const BOLT: &str = "bolt-22";
/// Programs of that package that are used.
const BOLT_PROGRAMS: [&str; 2] = ["llvm-bolt", "merge-fdata"];
/// Debian package of the Fortran compiler.
const FLANG: &str = "flang-22";
/// Debian packages of LLVM's C++ library, and their files that programs are linked with.
const LIBCPP: [&str; 2] = ["libc++-22-dev", "libc++abi-22-dev"];
const LIBCPP_FILES: [&str; 4] = ["libc++.a", "libc++.so", "libc++abi.a", "libc++abi.so"];

/// Location of the tools.
#[derive(Clone, Debug)]
pub struct Tools {
    /// LLVM's prefix, `/usr/lib/llvm-22` on Debian.
    pub prefix: PathBuf,
}

impl Tools {
    /// Returns the path of an LLVM program.
    pub fn llvm(&self, program: &str) -> PathBuf {
        self.prefix.join("bin").join(program)
    }

    /// Returns a cargo command with the environment that the build needs.
    pub fn cargo(&self) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.env("LLVM_SYS_221_PREFIX", &self.prefix);
        cargo
    }

    /// Describes the tools in one line.
    pub fn describe(&self) -> String {
        format!("LLVM 22 and clang 22 found in {}", self.prefix.display())
    }
}

/// Fetches NVIDIA's assembler from the Python package index. If that fails, the tests of device
/// code that need it are ignored.
fn fetch_ptxas() -> Result<(), String> {
    const PACKAGE: &str = "nvidia-cuda-nvcc-cu12==12.9.86";
    let folder = root().join("target/ptxas");
    if folder.join("ptxas").exists() {
        return Ok(());
    }
    let make = "set -e; mkdir -p \"$1\"; cd \"$1\"; python3 -m pip download -q --no-deps -d . \"$2\"; \
                python3 -m zipfile -e nvidia_cuda_nvcc*.whl .; chmod +x nvidia/cuda_nvcc/bin/ptxas; \
                ln -sf nvidia/cuda_nvcc/bin/ptxas ptxas; rm nvidia_cuda_nvcc*.whl";
    run(Command::new("sh")
        .args(["-c", make, "sh"])
        .arg(&folder)
        .arg(PACKAGE))
}

/// Fetches an MPI with its launcher from the Python package index. If that fails, the tests of
/// devices of other ranks are ignored.
fn fetch_mpi() -> Result<(), String> {
    const PACKAGE: &str = "mpich==5.0.2";
    let folder = root().join("target/mpich");
    if folder.join("bin/mpiexec").exists() {
        return Ok(());
    }
    let make = "set -e; rm -rf \"$1\"; mkdir -p \"$1\"; cd \"$1\"; \
                python3 -m pip download -q --no-deps -d . \"$2\"; \
                python3 -m zipfile -e mpich*.whl wheel; rm mpich*.whl; \
                mv wheel/*.data/data/lib wheel/*.data/data/bin .; rm -r wheel; chmod +x bin/*";
    run(Command::new("sh")
        .args(["-c", make, "sh"])
        .arg(&folder)
        .arg(PACKAGE))
}

/// Fetches NumPy from the Python package index. If that fails, the tests of the Python module use
/// the standard library's arrays only.
fn fetch_numpy() -> Result<(), String> {
    let folder = root().join("target/numpy");
    if folder.join("numpy").exists() {
        return Ok(());
    }
    let make = "set -e; python3 -m pip download -q --no-deps --only-binary :all: -d \"$1\" numpy; \
                cd \"$1\"; python3 -m zipfile -e numpy*.whl .; rm numpy*.whl";
    run(Command::new("sh").args(["-c", make, "sh"]).arg(&folder))
}

/// Returns the required files that a prefix lacks.
fn missing_files(prefix: &Path) -> Vec<&'static str> {
    let mut missing_files = Vec::new();
    for file in [
        "bin/llvm-config",
        "bin/clang",
        "bin/clang++",
        "bin/llvm-link",
        "bin/opt",
        "lib/libLLVMCore.a",
        "lib/clang/22/lib/linux/libclang_rt.builtins-x86_64.a",
    ] {
        if !prefix.join(file).exists() {
            missing_files.push(file);
        }
    }
    if !["lib/libomp.so", "lib/libomp.so.5"]
        .iter()
        .any(|f| prefix.join(f).exists())
    {
        missing_files.push("lib/libomp.so");
    }
    missing_files
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
        let lacks = missing_files(&prefix);
        if lacks.is_empty() {
            cpp_headers(&prefix)?;
            link_libraries()?;
            return Ok(Tools { prefix });
        }
        reason = format!("{} lacks {}", prefix.display(), lacks.join(", "));
    }
    Err(reason)
}

/// Returns the C++ compiler of the build: the crate `cc` reads `CXX`, too.
fn cpp_compiler() -> Command {
    Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()))
}

/// Returns the `#include <...>` lines of a C++ source.
fn includes(source: &str) -> String {
    let lines = source.lines().map(str::trim);
    lines
        .filter(|l| l.starts_with("#include <"))
        .map(|l| format!("{l}\n"))
        .collect()
}

/// Checks that every header of the LLVM shim can be read, with the compiler and options of
/// `build.rs`.
fn cpp_headers(prefix: &Path) -> Result<(), String> {
    let source = root().join("src/llvm/shim.cpp");
    let text =
        std::fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
    let dir = capture(Command::new(prefix.join("bin/llvm-config")).arg("--includedir"))?;
    let dir = String::from_utf8_lossy(&dir.stdout).trim().to_owned();
    let mut child = cpp_compiler()
        .args([
            "-std=c++17",
            "-E",
            "-o",
            "/dev/null",
            "-isystem",
            &dir,
            "-x",
            "c++",
            "-",
        ])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|_| "a C++ compiler is not installed (g++, or clang++ named by CXX)")?;
    if let Some(mut input) = child.stdin.take() {
        // If the compiler exits early, its output says why.
        let _ = input.write_all(includes(&text).as_bytes());
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let first = errors.lines().find(|l| l.contains("error"));
    Err(missing_headers_message(
        &dir,
        first.unwrap_or("it gives no reason"),
    ))
}

/// Returns a message about missing headers: LLVM's or the C++ library's.
fn missing_headers_message(dir: &str, error: &str) -> String {
    let whose = if error.contains("llvm") {
        format!("LLVM's headers are not in {dir} (Debian: llvm-22-dev)")
    } else {
        "the C++ compiler lacks its library's headers (Debian: g++, or libstdc++-dev for clang++)"
            .to_owned()
    };
    format!("{whose}: {error}")
}

/// Links a C++ program with the libraries that a static LLVM needs.
fn link_libraries() -> Result<(), String> {
    let dir = std::env::temp_dir().join(format!("ompvm-setup-{}", std::process::id()));
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let source = dir.join("probe.cpp");
    std::fs::write(&source, "#include <vector>\nint main() { return 0; }\n")
        .map_err(|e| e.to_string())?;
    let output = cpp_compiler()
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

/// Installs Debian packages if the system allows it; otherwise returns `advice` as the error.
fn install(reason: &str, packages: &[&str], advice: &str) -> Result<(), String> {
    if !Path::new("/usr/bin/apt-get").exists() {
        return Err(advice.to_owned());
    }
    eprintln!("{reason}: installing {}", packages.join(" "));
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
    install.extend(packages);
    apt(&["update"])
        .and_then(|()| apt(&install))
        .map_err(|e| format!("{e}; {advice}"))
}

/// Installs the requirements of single tests. Reports which tests are ignored without them.
pub fn install_test_requirements(tools: &Tools) {
    if let Err(why) = fetch_ptxas() {
        eprintln!("no ptxas, so the tests of device code for GPUs are ignored: {why}");
    }
    if let Err(why) = fetch_mpi() {
        eprintln!("no MPI, so the tests of devices of other ranks are ignored: {why}");
    }
    if let Err(why) = fetch_numpy() {
        eprintln!("no NumPy, so its arrays are not passed to guests: {why}");
    }
    if let Err(why) = ensure_programs(tools, &["flang"], FLANG) {
        eprintln!("no flang, so the tests in Fortran are ignored: {why}");
    }
    let lib = tools.prefix.join("lib");
    if !LIBCPP_FILES.iter().all(|file| lib.join(file).exists()) {
        let reason = format!("{} lacks libc++", lib.display());
        let packages = LIBCPP.join(" ");
        let advice = format!("{reason}; install it (Debian: apt-get install {packages})");
        if let Err(why) = install(&reason, &LIBCPP, &advice) {
            eprintln!("no libc++, so the tests of programs linked with it fail: {why}");
        }
    }
}

/// Installs the package of missing LLVM programs, if the system allows it.
fn ensure_programs(tools: &Tools, programs: &[&str], package: &str) -> Result<(), String> {
    if has_programs(tools, programs) {
        return Ok(());
    }
    let reason = format!("{} lacks {}", tools.prefix.display(), programs.join(" or "));
    let advice = format!("{reason}; install it (Debian: apt-get install {package})");
    install(&reason, &[package], &advice)?;
    if has_programs(tools, programs) {
        return Ok(());
    }
    Err(format!("{advice}, even after installing the package"))
}

fn has_programs(tools: &Tools, programs: &[&str]) -> bool {
    let there = |program: &&str| tools.llvm(program).exists();
    programs.iter().all(there)
}

/// Returns true if llvm-bolt is installed, which only `cargo xtask dist` needs.
pub fn has_bolt(tools: &Tools) -> bool {
    has_programs(tools, &BOLT_PROGRAMS)
}

/// Installs llvm-bolt if it is missing and the system allows it.
pub fn ensure_bolt(tools: &Tools) -> Result<(), String> {
    ensure_programs(tools, &BOLT_PROGRAMS, BOLT)
}

/// Finds the tools, after installing missing ones if the system allows it.
pub fn ensure() -> Result<Tools, String> {
    let reason = match find() {
        Ok(tools) => return Ok(tools),
        Err(reason) => reason,
    };
    let advice = format!(
        "{reason}; install LLVM 22 with clang and libomp (Debian, Ubuntu: apt-get install {}), or set LLVM_SYS_221_PREFIX to where it is",
        PACKAGES.join(" ")
    );
    install(&reason, &PACKAGES, &advice)?;
    find().map_err(|e| format!("{e}, even after installing the packages"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_from_the_source() {
        let text = "// a\n#include <vector>\n  #include <llvm/IR/Module.h>\n#include \"own.h\"\n";
        assert_eq!(
            includes(text),
            "#include <vector>\n#include <llvm/IR/Module.h>\n"
        );
    }

    #[test]
    fn missing_headers_are_attributed() {
        let told =
            missing_headers_message("/x", "<stdin>:1: error: llvm/IR/Module.h: No such file");
        assert!(
            told.contains("/x") && told.contains("llvm-22-dev"),
            "{told}"
        );
        let told = missing_headers_message("/x", "<stdin>:1: error: vector: No such file");
        assert!(told.contains("g++"), "{told}");
    }
}
