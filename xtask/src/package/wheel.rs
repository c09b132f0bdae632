//! Makes a wheel for Python 3.11 and later, checks that its tag is right, and tries it.
//!
//! The tag `manylinux_2_28` promises that the module needs nothing but the listed libraries, in the
//! versions of their symbols that the policy names (PEP 600; the lists are those of `auditwheel`). LLVM
//! is inside, and Python's own symbols come from the interpreter.

use super::{VERSION, fresh, glibc, needs, size};
use crate::process::{self, capture_ok, root};
use crate::setup::Tools;
use std::path::Path;
use std::process::Command;

const TAG: &str = "cp311-abi3-manylinux_2_28_x86_64";

/// Libraries that every system of the tag has.
const LIBRARIES: [&str; 10] = [
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "libstdc++.so.6",
    "libutil.so.1",
    "libz.so.1",
];

/// Returns why a module that needs these libraries and symbols does not deserve the tag.
fn refuse(libraries: &[String], newer: &[String]) -> Option<String> {
    if let Some(other) = libraries.iter().find(|l| !LIBRARIES.contains(&l.as_str())) {
        return Some(format!("needs {other}, which not every system has"));
    }
    let first = newer.first()?;
    Some(format!("needs {first}, which older systems lack"))
}

/// Builds the module, and packs and tries the wheel. Returns lines of the report.
pub fn make(
    tools: &Tools,
    work: &Path,
    link: &[String],
    time: &str,
) -> Result<Vec<String>, String> {
    let mut cargo = tools.cargo();
    cargo.current_dir(root()).args(["rustc", "--release"]);
    cargo.args([
        "--package=ompvm-python",
        "--lib",
        "--features=pyo3/extension-module",
    ]);
    process::run(cargo.arg("--").args(link))?;
    let stage = fresh(&work.join("wheel"))?;
    let module = stage.join("_ompvm.abi3.so");
    let mut strip = Command::new("strip");
    strip.arg("--strip-all").arg("-o").arg(&module);
    let kept = ["__jit_debug_register_code", "__jit_debug_descriptor"];
    strip.args(kept.map(|symbol| format!("--keep-symbol={symbol}")));
    capture_ok(strip.arg(root().join("target/release/lib_ompvm.so")))?;
    let newer = glibc::newer_symbols(&module)?;
    let newer: Vec<String> = newer.into_values().flatten().collect();
    if let Some(why) = refuse(&glibc::libraries(&module)?, &newer) {
        return Err(format!("the Python module {why}: its wheel is not {TAG}"));
    }
    let wheel = work.join(format!("ompvm-{VERSION}-{TAG}.whl"));
    let mut python = Command::new("python3");
    python.arg(root().join("xtask/src/package/wheel.py"));
    python.arg(&wheel).args([TAG, VERSION, time]).arg(&module);
    python.arg(root().join("python/ompvm"));
    capture_ok(python.args(["LICENSE-MIT", "LICENSE-APACHE"].map(|name| root().join(name))))?;
    let tried = trial(&wheel, &stage)?;
    Ok(vec![
        format!("{}: {}, {tried}", super::shown(&wheel), size(&wheel)?),
        format!("Python module: {}", needs(&module)?),
    ])
}

/// Installs the wheel into a folder, and compiles and calls a function from there. Returns what was
/// tried.
fn trial(wheel: &Path, stage: &Path) -> Result<String, String> {
    let site = stage.join("site");
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
    ]);
    if let Err(why) = capture_ok(pip.arg(&site).arg(wheel)) {
        return Ok(format!("not tried, because pip fails: {}", why.trim()));
    }
    let program = "import ompvm\n\
        process = ompvm.compile('long twice(long x) { return 2 * x; }', threads=2)\n\
        print(ompvm.__version__, process['twice'](21))";
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", &site).args(["-c", program]);
    let printed = capture_ok(&mut python)?;
    match printed.trim() == format!("{VERSION} 42") {
        true => Ok("installed by pip and tried".into()),
        false => Err(format!("the wheel's module printed {}", printed.trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_libraries_and_newer_symbols_are_refused() {
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let usual = list(&["libc.so.6", "libstdc++.so.6"]);
        assert_eq!(refuse(&usual, &[]), None);
        assert!(refuse(&usual, &list(&["dlsym"])).is_some_and(|why| why.contains("dlsym")));
        let other = list(&["libc.so.6", "libLLVM.so.22"]);
        assert!(refuse(&other, &[]).is_some_and(|why| why.contains("libLLVM")));
    }
}
