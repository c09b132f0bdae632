//! Refusals of a GPU's driver, by a mock driver (`tests/driver/driver.c`).

use crate::run::{End, LIMIT, Ran, run};
use crate::{compile, ompvm, root};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// Returns the mock driver as a shared library, built once.
pub fn driver() -> Result<&'static PathBuf, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let build = || {
        let library = root().join("target/guests/mock-driver.so");
        std::fs::create_dir_all(root().join("target/guests")).map_err(|e| e.to_string())?;
        let mut clang = Command::new(compile::llvm_bin().join("clang"));
        clang.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]);
        clang
            .arg(&library)
            .arg(root().join("tests/driver/driver.c"));
        let built = run(&mut clang, "", LIMIT)?;
        (built.end == End::Exit(0))
            .then_some(library)
            .ok_or_else(|| built.summary())
    };
    BUILT.get_or_init(build).as_ref().map_err(String::clone)
}

/// Runs the program with a driver that behaves as `mock` says.
fn start(mock: &str, policy: &str) -> Result<Ran, String> {
    let flags = [
        "-O2",
        "-fopenmp",
        "-fopenmp-version=60",
        "--offload-arch=sm_90",
        "-nogpulib",
        "--cuda-feature=+ptx83",
    ];
    let source = root().join("tests/driver/region.c");
    let program = compile::bitcode(&source, &flags.map(str::to_owned))?;
    let mut command = Command::new(ompvm());
    command
        .args(["run", "--device=0", "--offload-report"])
        .arg(program);
    command.env("OMPVM_CUDA_DRIVER", driver()?);
    command.env("MOCK", mock).env("OMP_TARGET_OFFLOAD", policy);
    // Code that another setting compiled must not be found.
    command.env(
        "OMPVM_CACHE_DIR",
        root().join("target/guests/no-cache").join(mock),
    );
    run(&mut command, "", LIMIT)
}

/// Returns one trial per refusal.
pub fn trials() -> Vec<Trial> {
    let expect = |name: &str,
                  mock: &'static str,
                  policy: &'static str,
                  status: Option<i32>,
                  out: &'static str,
                  err: &'static str| {
        Trial::test(format!("driver/{name}"), move || {
            let ran = start(mock, policy)?;
            let ended = match status {
                Some(status) => ran.end == End::Exit(status),
                None => ran.end != End::Exit(0),
            };
            if ended && ran.stdout.contains(out) && ran.stderr.contains(err) {
                Ok(())
            } else {
                Err(format!("wanted `{out}` and `{err}`: {}", ran.summary()).into())
            }
        })
    };
    vec![
        expect("launches", "", "DEFAULT", Some(0), "not computed", ""),
        expect(
            "uid",
            "",
            "DEFAULT",
            Some(0),
            "GPU-00112233-4455-6677-8899-aabbccddeeff 0\n",
            "",
        ),
        expect(
            "no_device",
            "init=100",
            "DEFAULT",
            Some(0),
            "computed\n",
            "",
        ),
        expect(
            "does_not_start",
            "init=999",
            "DEFAULT",
            Some(0),
            "computed\n",
            "no GPU: the CUDA driver does not start",
        ),
        expect(
            "no_memory",
            "memory=1000000",
            "DEFAULT",
            Some(0),
            "computed\n",
            "4194304 bytes left",
        ),
        expect(
            "no_memory_mandatory",
            "memory=1000000",
            "MANDATORY",
            None,
            "",
            "4194304 bytes left",
        ),
        expect(
            "more_than_the_memory",
            "memory=1000000 paged=1",
            "MANDATORY",
            Some(0),
            "not computed",
            "arrays beyond a GPU's memory are on the host",
        ),
        expect(
            "refused_code",
            "link=218",
            "DEFAULT",
            Some(0),
            "computed\n",
            "the mock takes no PTX",
        ),
        expect(
            "lost",
            "launch=46",
            "MANDATORY",
            None,
            "",
            "the device is lost",
        ),
        expect(
            "fault",
            "launch=700",
            "DEFAULT",
            None,
            "",
            "accessed an invalid address",
        ),
        expect(
            "fault_while_awaited",
            "kernel=700",
            "DEFAULT",
            None,
            "",
            "accessed an invalid address",
        ),
        expect(
            "lost_while_awaited",
            "kernel=46",
            "DEFAULT",
            Some(0),
            "computed\n",
            "the device is lost",
        ),
    ]
}
