//! Sources in C, C++ and Fortran that `ompvm run`, `inspect` and `compile` compile with clang and
//! flang.
//!
//! Leaves the API to `src/api/tests.rs`.

use crate::compile::llvm_bin;
use crate::compilers::Place;
use crate::ompvm;
use crate::run::{End, LIMIT, run};
use libtest_mimic::Trial;
use std::process::Command;

const MAIN: &str = "\
#include <stdio.h>
int twice(int);
int main(int argc, char **argv) {
  int sum = 0;
#pragma omp parallel for reduction(+: sum)
  for (int i = 0; i < N; i++) sum += i;
  printf(\"%d %d %s\\n\", sum, twice(4), argc > 1 ? argv[1] : \"-\");
}
";

/// Checks programs of several sources, and of sources and bitcode.
fn mixed() -> Result<(), String> {
    let p = Place::new("sources-mixed")?;
    p.write("main.c", MAIN)?;
    p.write(
        "twice.cpp",
        "template <class T> T two(T x) { return 2 * x; }\nextern \"C\" int twice(int x) { return two(x); }\n",
    )?;
    p.prints(
        "ompvm run --cflags=-DN=5 --with twice.cpp main.c x",
        "10 8 x\n",
    )?;
    p.prints(
        "ompvm run --tier=interp --cflags -DN=4 --cflags -O0 --with twice.cpp main.c",
        "6 8 -\n",
    )?;
    p.build("clang -c -emit-llvm twice.cpp")?;
    p.prints("ompvm --cflags=-DN=3 --with twice.bc main.c", "3 8 -\n")?;
    p.build("ompvm compile --cflags=-DN=3 main.c twice.cpp")?;
    let ran = p.ran("ompvm inspect --cflags=-DN=3 main.c", "")?;
    if ran.end != End::Exit(0) || !ran.stdout.contains("main.c:5") {
        return Err(format!("should list the region: {}", ran.summary()));
    }
    Ok(())
}

/// Checks that a Fortran program finds the modules of its other sources, without files left behind.
fn fortran() -> Result<(), String> {
    let p = Place::new("sources-fortran")?;
    p.write("main.f90", "program p\nuse m\nprint *, three(2)\nend\n")?;
    p.write(
        "m.f90",
        "module m\ncontains\ninteger function three(x)\ninteger :: x\nthree = 3*x\nend function\nend module\n",
    )?;
    p.prints("ompvm run --with m.f90 main.f90", " 6\n")?;
    p.prints("ls", "m.f90\nmain.f90\n")
}

/// Checks the messages about sources that cannot be compiled.
fn refused() -> Result<(), String> {
    let p = Place::new("sources-refused")?;
    p.write("bad.c", "int main(void) {\n  return missing;\n}\n")?;
    p.write(
        "null.c",
        "int main(int n, char **v) {\n  int *volatile p = 0;\n  return *p;\n}\n",
    )?;
    p.write(
        "warned.c",
        "#warning look here\nint main(void) { return 0; }\n",
    )?;
    for (line, status, expected) in [
        (
            "ompvm bad.c",
            125,
            "\nbad.c:2:10: error: use of undeclared identifier 'missing'",
        ),
        ("ompvm inspect bad.c", 125, "bad.c:2:10: error"),
        ("ompvm none.c", 125, "none.c: no such file"),
        ("ompvm run warned.c", 0, "warned.c:1:2: warning: look here"),
    ] {
        let ran = p.ran(line, "")?;
        if ran.end != End::Exit(status) || !ran.stderr.contains(expected) {
            return Err(format!("{line} should say {expected:?}: {}", ran.summary()));
        }
    }
    let ran = run(
        Command::new(ompvm())
            .arg("bad.c")
            .current_dir(p.folder())
            .env("OMPVM_CLANG", "/none/clang"),
        "",
        LIMIT,
    )?;
    let expected = "bad.c: cannot start the compiler /none/clang: No such file";
    if ran.end != End::Exit(125) || !ran.stderr.contains(expected) {
        return Err(format!("should say {expected:?}: {}", ran.summary()));
    }
    let ran = p.ran("ompvm null.c", "")?;
    match ran.end == End::Signal(11) && ran.stderr.contains("null.c:3") {
        true => Ok(()),
        false => Err(format!("should name the line: {}", ran.summary())),
    }
}

/// Checks a source with device code.
fn device() -> Result<(), String> {
    let p = Place::new("sources-device")?;
    p.write(
        "main.c",
        "#include <stdio.h>\nint main(void) {\n  int x = 0;\n#pragma omp target map(tofrom: x)\n  x = 42;\n\
         \x20 printf(\"%d\\n\", x);\n}\n",
    )?;
    let line = "ompvm run --device=emulated --offload-report --cflags=--offload-arch=sm_90 main.c";
    let ran = p.ran(line, "")?;
    match ran.stdout == "42\n" && ran.stderr.contains("once on emulated device 0") {
        true => Ok(()),
        false => Err(format!("should run on the device: {}", ran.summary())),
    }
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("sources/mixed", || Ok(mixed()?)),
        Trial::test("sources/refused", || Ok(refused()?)),
        Trial::test("sources/device", || Ok(device()?)),
    ];
    if llvm_bin().join("flang").exists() {
        trials.push(Trial::test("sources/fortran", || Ok(fortran()?)));
    }
    trials
}
