//! `ompvm compare` from the user's view: its output, its files and its exit status. Judges no
//! figure.

use crate::compile::{self, llvm_bin};
use crate::run::{End, LIMIT, Ran, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::Command;

/// A guest that prints a sum, the team's size, and values that no two runs share.
const SUM: &str = "#include <omp.h>\n#include <stdio.h>\n#include <unistd.h>\n\
    int main(int argc, char **argv) { double s = 0; int n = 0; double t = omp_get_wtime();\n\
    #pragma omp parallel for reduction(+:s)\n\
    for (int i = 1; i <= 10000; i++) s += 1.0 / i;\n\
    #pragma omp parallel\n#pragma omp master\nn = omp_get_num_threads();\n\
    printf(\"sum %.15g with %d\\n\", s, n);\n\
    printf(\"process %d took\\n%.6f seconds\\n\", (int)getpid(), omp_get_wtime() - t);\n\
    for (int i = 1; i < argc; i++) puts(argv[i]);\nreturn 0; }\n";

fn scratch() -> Result<PathBuf, String> {
    let dir = root().join("target/guests/compare");
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    Ok(dir)
}

/// Compiles a C text to bitcode.
fn guest(name: &str, text: &str) -> Result<String, String> {
    let source = compile::source("compare", &format!("{name}.c"), text)?;
    let bitcode = compile::bitcode(&source, &["-O1".to_owned(), "-fopenmp".to_owned()])?;
    Ok(bitcode.to_string_lossy().into_owned())
}

fn command(args: &[&str]) -> Result<Command, String> {
    let mut command = Command::new(ompvm());
    command.current_dir(scratch()?);
    command.args(["compare", "--runs=2", "--warmup=1"]);
    command.args(crate::tier()).args(args);
    Ok(command)
}

fn compare(args: &[&str]) -> Result<Ran, String> {
    run(&mut command(args)?, "", LIMIT)
}

fn with_clang(args: &[&str]) -> Result<Ran, String> {
    let clang = llvm_bin().join("clang");
    let mut all = vec!["--clang", clang.to_str().ok_or("a path in UTF-8")?];
    all.extend(args);
    compare(&all)
}

/// Checks for this exit status, and for every one of `words` in the output.
fn says(ran: &Ran, status: i32, words: &[&str]) -> Result<(), String> {
    let text = format!("{}{}", ran.stdout, ran.stderr);
    if ran.end != End::Exit(status) || text.contains("panicked") {
        return Err(format!("should exit with {status}: {}", ran.summary()));
    }
    match words.iter().find(|w| !text.contains(**w)) {
        Some(word) => Err(format!("should say `{word}`: {}", ran.summary())),
        None => Ok(()),
    }
}

fn agrees() -> Result<(), String> {
    let bitcode = guest("sum", SUM)?;
    let dir = scratch()?;
    let args = [
        "--threads=1,2",
        "--csv=sum.csv",
        "--json=sum.json",
        "--plot=sum.svg",
        &bitcode,
        "--",
        "--word",
    ];
    let ran = with_clang(&args)?;
    says(
        &ran,
        0,
        &[
            "clang -O2 -fopenmp",
            "wall, s",
            "cpu, s",
            "peak memory, MB",
            "agree with 1 thread (",
            "agree with 2 threads (",
        ],
    )?;
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).map_err(|e| e.to_string());
    let csv = read("sum.csv")?;
    // Two team sizes, two pairs, two sides.
    if csv.lines().count() != 9 || !csv.starts_with("threads,pair,side,wall_s,cpu_s,peak_bytes") {
        return Err(format!("sum.csv should hold every run:\n{csv}"));
    }
    let json: serde_json::Value =
        serde_json::from_str(&read("sum.json")?).map_err(|e| e.to_string())?;
    let second = &json["series"][1];
    let ratio = second["wall_s"]["ratio"]["median"].as_f64();
    let whole = second["threads"] == 2
        && second["agree"] == true
        && second["pairs"].as_array().is_some_and(|p| p.len() == 2)
        && ratio.is_some_and(|r| r > 0.0);
    if !whole {
        return Err(format!("sum.json should hold the summary:\n{json:#}"));
    }
    let svg = read("sum.svg")?;
    let drawn = [
        "<svg ",
        "threads</text>",
        "prefers-color-scheme:dark",
        "polyline class=\"ours\"",
        "</svg>",
    ];
    match drawn.iter().find(|w| !svg.contains(**w)) {
        Some(word) => Err(format!("sum.svg should contain {word}:\n{svg}")),
        None => Ok(()),
    }
}

/// A guest that runs for seconds, enough for samples at any clock interrupt.
const LONG: &str = "#include <stdio.h>\n\
    __attribute__((noinline)) static double churn(long n) { double s = 0;\n\
    for (long i = 1; i <= n; i++) s = s * 0.999999 + 1.0 / (double)i;\nreturn s; }\n\
    int main(void) { printf(\"%.9g\\n\", churn(60000000)); return 0; }\n";

/// Checks that the picture has a row per compiled function, and that samples are in compiled code.
fn timeline() -> Result<(), String> {
    let bitcode = guest("long", LONG)?;
    let clang = llvm_bin().join("clang");
    let mut command = Command::new(ompvm());
    command.current_dir(scratch()?);
    command.args([
        "compare",
        "--runs=1",
        "--warmup=0",
        "--tier=opt",
        "--cache=empty",
    ]);
    command.arg("--clang").arg(clang);
    command.args(["--plot=long.html", &bitcode]);
    says(&run(&mut command, "", LIMIT)?, 0, &["agree"])?;
    let page = std::fs::read_to_string(scratch()?.join("long.html")).map_err(|e| e.to_string())?;
    for part in [
        "speed-up",
        "share of samples",
        ">churn</text>",
        ">main</text>",
        "<title>churn: ",
        "compiled for its callers",
        "samples in compiled code",
    ] {
        if !page.contains(part) {
            return Err(format!("long.html should contain {part}:\n{page}"));
        }
    }
    Ok(())
}

/// Checks that with another program as the native side the first differing line is shown.
fn differs() -> Result<(), String> {
    let text = "#include <stdio.h>\nint main(void) { puts(\"one\"); puts(\"two 2\"); return 0; }\n";
    let bitcode = guest("differs", text)?;
    let other = guest("differs_other", &text.replace("two 2", "two 3"))?;
    let other = compile::native(other.as_ref(), &["-O1".to_owned()])?;
    let other = other.to_string_lossy();
    let ran = compare(&["--native", &other, &bitcode])?;
    let words = [
        "first in line 2",
        "native: two 3",
        "ompvm:  two 2",
        "--ignore",
    ];
    says(&ran, 1, &words)?;
    let ran = compare(&["--native", &other, "--ignore=^two", &bitcode])?;
    says(&ran, 0, &["1 lines left out"])
}

/// Checks that `a * b + c` rounded once differs from the native program's, and that both variants
/// come from the cache that was filled ahead of time.
fn compiled() -> Result<(), String> {
    let text = "#include <stdio.h>\nstatic volatile double one = 1.0 + 0x1p-30;\n\
        int main(void) { double a = one, b = one, c = -(1.0 + 0x1p-29);\n\
        printf(\"%.17g\\n\", a * b + c); return 0; }\n";
    let bitcode = guest("compiled", text)?;
    let other = compile::native(
        scratch()?.join("compiled.c").as_ref(),
        &["-O1".to_owned(), "-ffp-contract=off".to_owned()],
    )?;
    let other = other.to_string_lossy();
    let with =
        |contract: &str| compare(&["--cache=compiled", contract, "--native", &other, &bitcode]);
    says(&with("--fp-contract=off")?, 0, &["cache compiled", "agree"])?;
    let once = std::arch::is_x86_feature_detected!("fma");
    let (status, word) = if once {
        (1, "first in line 1")
    } else {
        (0, "agree")
    };
    says(
        &with("--fp-contract=on")?,
        status,
        &["cache compiled", word],
    )
}

/// Checks messages about unavailable native executables, each with a remedy.
fn no_native() -> Result<(), String> {
    let bitcode = guest("sum", SUM)?;
    let ran = run(command(&[&bitcode])?.env("PATH", ""), "", LIMIT)?;
    says(&ran, 125, &["no clang", "--clang", "--native"])?;
    let ran = compare(&["--native=nowhere", &bitcode])?;
    says(&ran, 125, &["nowhere", "no such file"])?;
    let text = "void nowhere_f(void); int main(int c, char **v) { if (c > 9) nowhere_f(); return v == 0; }\n";
    let lacks = guest("lacks", text)?;
    says(
        &with_clang(&[&lacks])?,
        125,
        &["nowhere_f", "not for ompvm"],
    )
}

/// Checks that sides with different ends are reported.
fn ends() -> Result<(), String> {
    let status = |n: i32| format!("int main(void) {{ return {n}; }}\n");
    let (three, four) = (guest("three", &status(3))?, guest("four", &status(4))?);
    says(&with_clang(&[&three])?, 0, &["agree"])?;
    let native = compile::native(four.as_ref(), &["-O1".to_owned()])?;
    let ran = compare(&["--native", &native.to_string_lossy(), &three])?;
    says(
        &ran,
        125,
        &["end differently", "exit status 3", "exit status 4"],
    )?;
    let ran = compare(&["--native", &native.to_string_lossy(), "/bin/true"])?;
    says(
        &ran,
        125,
        &["ompvm could not run the program", "native ended"],
    )
}

fn usage() -> Result<(), String> {
    let bitcode = guest("sum", SUM)?;
    says(
        &compare(&["--plot=sum.png", &bitcode])?,
        125,
        &[".svg", ".html"],
    )?;
    says(&compare(&["--ignore=(", &bitcode])?, 125, &["--ignore ("])?;
    says(&compare(&["--threads=0", &bitcode])?, 2, &["threads"])?;
    says(
        &compare(&["nowhere.bc"])?,
        125,
        &["nowhere.bc", "no such file"],
    )
}

/// Checks HTML pages, and the cache modes.
fn page() -> Result<(), String> {
    let bitcode = guest("sum", SUM)?;
    for cache in ["--cache=empty", "--cache=off"] {
        let ran = with_clang(&[cache, "--plot=sum.html", &bitcode])?;
        says(&ran, 0, &[&cache.replace("--cache=", "cache "), "agree"])?;
    }
    let html = std::fs::read_to_string(scratch()?.join("sum.html")).map_err(|e| e.to_string())?;
    let words = ["<!doctype html>", "<svg ", "wall, s"];
    match words.iter().find(|w| !html.contains(**w)) {
        Some(word) => Err(format!("sum.html should contain {word}")),
        None => Ok(()),
    }
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    type Check = fn() -> Result<(), String>;
    let checks: [(&str, Check); 8] = [
        ("agrees", agrees),
        ("timeline", timeline),
        ("differs", differs),
        ("compiled", compiled),
        ("no_native", no_native),
        ("ends", ends),
        ("usage", usage),
        ("page", page),
    ];
    checks
        .into_iter()
        .map(|(name, check)| Trial::test(format!("compare/{name}"), move || Ok(check()?)))
        .collect()
}
