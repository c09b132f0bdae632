//! Bitcode for link-time optimization, and its special forms: files with several modules, checked
//! loads from virtual tables, relative virtual tables.
//!
//! Each form is compiled with clang at two levels and run in every tier, also as several files.
//! Performs no link-time optimization, so it compares with no native link.

use crate::compile::llvm_bin;
use crate::run::{End, LIMIT, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::path::Path;
use std::process::Command;

/// A program with virtual calls in a region, through a hierarchy, and tables with pure functions
/// and a second base.
const SHAPES: &str = "\
#include <cstdio>
#include <memory>
#include <vector>
struct Shape { virtual double area() const = 0; virtual int id() const { return 0; } virtual ~Shape() {} };
struct Named { virtual const char *name() const { return \"?\"; } virtual ~Named() {} };
namespace {
struct Square : Shape, Named { double a; explicit Square(double a) : a(a) {}
  double area() const override { return a * a; } const char *name() const override { return \"square\"; } };
}
struct Disc : Shape { double r; explicit Disc(double r) : r(r) {}
  double area() const override { return 3 * r * r; } int id() const override { return 2; } };
Shape *other(double);
int main() {
  std::vector<std::unique_ptr<Shape>> all;
  for (int i = 0; i < 30; i++)
    all.emplace_back(i % 3 == 0 ? (Shape *)new Square(i) : i % 3 == 1 ? (Shape *)new Disc(i) : other(i));
  double sum = 0; int ids = 0;
#pragma omp parallel for reduction(+ : sum, ids)
  for (int i = 0; i < 30; i++) { sum += all[i]->area(); ids += all[i]->id(); }
  Square s(2); Named &n = s;
  std::printf(\"%.1f %d %s\\n\", sum, ids, n.name());
}
";

/// Another file of the program, so that both files need the tables.
const OTHER: &str = "\
struct Shape { virtual double area() const = 0; virtual int id() const { return 0; } virtual ~Shape() {} };
struct Line : Shape { double l; explicit Line(double l) : l(l) {}
  double area() const override { return l; } int id() const override { return 5; } };
Shape *other(double l) { return new Line(l); }
";

const SAYS: &str = "11255.0 70 square\n";

/// The forms, with the flags that produce them.
const FORMS: [(&str, &[&str]); 12] = [
    ("thin", &["-flto=thin"]),
    ("full", &["-flto"]),
    ("split", &["-flto=thin", "-fsplit-lto-unit"]),
    ("full_split", &["-flto", "-fsplit-lto-unit"]),
    ("unified", &["-flto=thin", "-funified-lto"]),
    ("unified_full", &["-flto=full", "-funified-lto"]),
    (
        "whole_program",
        &["-flto", "-fwhole-program-vtables", "-fvisibility=hidden"],
    ),
    (
        "thin_whole_program",
        &[
            "-flto=thin",
            "-fwhole-program-vtables",
            "-fvisibility=hidden",
        ],
    ),
    (
        "elimination",
        &[
            "-flto",
            "-fwhole-program-vtables",
            "-fvirtual-function-elimination",
            "-fvisibility=hidden",
        ],
    ),
    (
        "integrity",
        &["-flto", "-fsanitize=cfi", "-fvisibility=hidden"],
    ),
    (
        "thin_integrity",
        &["-flto=thin", "-fsanitize=cfi", "-fvisibility=hidden"],
    ),
    ("fat", &["-flto", "-ffat-lto-objects"]),
];

fn compile(dir: &Path, name: &str, text: &str, flags: &[&str]) -> Result<(), String> {
    std::fs::write(dir.join(format!("{name}.cpp")), text).map_err(|e| e.to_string())?;
    let mut command = Command::new(llvm_bin().join("clang++"));
    command
        .current_dir(dir)
        .args(["-w", "-g", "-fopenmp", "-c", "-o"]);
    command
        .arg(format!("{name}.o"))
        .args(flags)
        .arg(format!("{name}.cpp"));
    let ran = run(&mut command, "", LIMIT)?;
    match ran.end {
        End::Exit(0) => Ok(()),
        _ => Err(format!("clang++ {flags:?}: {}", ran.summary())),
    }
}

fn check(name: &str, flags: &[&str], level: &str) -> Result<(), String> {
    let dir = root()
        .join("target/guests/lto")
        .join(format!("{name}-{level}"));
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let level = format!("-{level}");
    let flags = [flags, &[&level]].concat();
    compile(&dir, "shapes", SHAPES, &flags)?;
    compile(&dir, "other", OTHER, &flags)?;
    for tier in ["interp", "baseline", "opt", "auto"] {
        let mut command = Command::new(ompvm());
        command.current_dir(&dir).env("OMP_NUM_THREADS", "3");
        command.args([
            "run",
            &format!("--tier={tier}"),
            "--no-cache",
            "--with",
            "other.o",
            "shapes.o",
        ]);
        let ran = run(&mut command, "", LIMIT)?;
        if ran.end != End::Exit(0) || ran.stdout != SAYS {
            return Err(format!("{tier} should print {SAYS:?}: {}", ran.summary()));
        }
    }
    Ok(())
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let relative: (&str, &[&str]) = (
        "relative_tables",
        &["-emit-llvm", "-fexperimental-relative-c++-abi-vtables"],
    );
    let mut trials = Vec::new();
    for (name, flags) in FORMS.into_iter().chain([relative]) {
        for level in ["O0", "O2"] {
            let title = format!("lto/{name}/{level}");
            trials.push(Trial::test(title, move || Ok(check(name, flags, level)?)));
        }
    }
    trials
}
