//! Failing compilations: the program's output and end do not change, `--explain` reports the
//! failure, and later runs know of it.
//!
//! `OMPVM_FAIL=KIND:NAME` makes the compilation of a function fail in each of LLVM's ways
//! (`src/llvm/native/fault_injection.rs`).

use crate::compile;
use crate::ompvm;
use crate::run::{End, LIMIT, Ran, run};
use libtest_mimic::Trial;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// A guest with a region, a function that cannot be compiled, a caller of it, another function,
/// buffered output.
const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static double doomed(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 0.5 + x[i];
  return sum;
}
__attribute__((noinline)) static double beside(double *x, int n) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 0.25 + i;
  return x[n / 2];
}
__attribute__((noinline)) static double caller(double *x, int n, int times) {
  double sum = 0;
  for (int t = 0; t < times; t++) sum = sum * 0.5 + doomed(x, n) + beside(x, n);
  return sum;
}
int main(int argc, char **argv) {
  double sums[4] = {0};
  int times = argc > 1 ? atoi(argv[1]) : 2000;
  printf("begin\n");
#pragma omp parallel for num_threads(2)
  for (int t = 0; t < 4; t++) {
    double *x = calloc(1000, sizeof *x);
    sums[t] = caller(x, 1000, times) + t;
    free(x);
  }
  printf("%.12g %.12g\n", sums[0], sums[3]);
  return 5;
}
"#;

/// The same in C++: exceptions through the function, and a template.
const CPP: &str = r#"
#include <cstdio>
#include <stdexcept>
#include <vector>
template <class T> [[gnu::noinline]] T doomed(const std::vector<T> &v, int n) {
  T sum = 0;
  for (int i = 0; i < n; i++) {
    if (i >= int(v.size())) throw std::out_of_range("doomed");
    sum += v[i] * T(i % 3);
  }
  return sum;
}
[[gnu::noinline]] static double beside(const std::vector<double> &v) {
  double sum = 0;
  for (double d : v) sum = sum * 0.5 + d;
  return sum;
}
int main() {
  std::vector<double> v(500, 1.5);
  double sum = 0;
  int caught = 0;
  std::printf("begin\n");
  for (int i = 0; i < 4000; i++) {
    try {
      sum += doomed(v, 480 + i % 30) + beside(v);
    } catch (const std::out_of_range &) {
      caught++;
    }
  }
  std::printf("%g %d\n", sum, caught);
  return 5;
}
"#;

/// A guest with handlers for the signals that LLVM's crashes raise: they must not be called.
const HANDLES: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void handler(int signal) { write(1, "handler\n", 8); _exit(9); }
__attribute__((noinline)) static long doomed(long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) sum = sum * 3 + (sum >> 7) + i;
  return sum;
}
int main(void) {
  int all[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  for (int i = 0; i < 5; i++) signal(all[i], handler);
  long sum = 0;
  for (int t = 0; t < 3000; t++) sum ^= doomed(10000 + t);
  printf("%lx\n", sum);
  return 5;
}
"#;

/// A guest with a function whose argument cannot come from the interpreter: its caller must not be
/// compiled either.
const WIDE: &str = r#"
#include <stdio.h>
typedef double V __attribute__((vector_size(32)));
__attribute__((noinline, target("avx"))) static V doomed(V x, int n) {
  for (int i = 0; i < n; i++) x = x * 0.5 + (double)i;
  return x;
}
__attribute__((noinline, target("avx"))) static double caller(int n) {
  V x = {1, 2, 3, 4};
  for (int i = 0; i < n; i++) x = doomed(x, 5);
  return x[0] + x[3];
}
int main(void) {
  double sum = 0;
  for (int i = 0; i < 2000; i++) sum += caller(20);
  printf("%.12g\n", sum);
  return 5;
}
"#;

/// Two functions that LLVM itself cannot compile, since they lack the features of their intrinsics:
/// XOP, which only old processors have, and AVX512-BF16. Neither is called.
const CANNOT: &str = r#"target triple = "x86_64-pc-linux-gnu"
@text = private constant [3 x i8] c"ok\00"
declare i32 @puts(ptr)
declare <16 x i8> @llvm.x86.xop.vpperm(<16 x i8>, <16 x i8>, <16 x i8>)
declare <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512(<16 x float>, <32 x bfloat>, <32 x bfloat>)
define void @impossible(ptr %p) {
  %v = load <16 x i8>, ptr %p
  %r = call <16 x i8> @llvm.x86.xop.vpperm(<16 x i8> %v, <16 x i8> %v, <16 x i8> %v)
  store <16 x i8> %r, ptr %p
  ret void
}
define <16 x float> @other(<16 x float> %a, <32 x bfloat> %b) "target-features"="+avx512f" {
  %r = call <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512(<16 x float> %a, <32 x bfloat> %b, <32 x bfloat> %b)
  ret <16 x float> %r
}
define i32 @work(i32 %n) {
  %m = mul i32 %n, %n
  ret i32 %m
}
define i32 @main(i32 %argc, ptr %argv) {
  %c = icmp sgt i32 %argc, 1
  br i1 %c, label %bad, label %good
bad:
  %r0 = call i32 @puts(ptr @text)
  call void @impossible(ptr @text)
  ret i32 1
good:
  %r = call i32 @puts(ptr @text)
  %x = call i32 @work(i32 %argc)
  ret i32 5
}
"#;

const KINDS: [&str; 8] = [
    "fatal", "error", "crash", "abort", "overflow", "memory", "endless", "grow",
];

fn guest(name: &str, text: &str, level: &str) -> Result<PathBuf, String> {
    let path = compile::source("failures", name, text)?;
    compile::bitcode(&path, &[level.to_owned(), "-fopenmp".to_owned()])
}

struct Case {
    bitcode: PathBuf,
    /// The guest's standard output.
    says: String,
    cache: tempfile::TempDir,
}

impl Case {
    fn new(name: &str, text: &str, level: &str) -> Result<Case, String> {
        let bitcode = guest(name, text, level)?;
        let native = compile::native(&bitcode, &["-fopenmp".to_owned()])?;
        let ran = run(&mut Command::new(native), "", LIMIT)?;
        if ran.end != End::Exit(5) {
            return Err(format!("natively: {}", ran.summary()));
        }
        let cache = tempfile::tempdir().map_err(|e| e.to_string())?;
        Ok(Case {
            bitcode,
            says: ran.stdout,
            cache,
        })
    }

    fn command(&self, fail: Option<&str>) -> Command {
        let mut command = Command::new(ompvm());
        command.env("OMPVM_CACHE_DIR", self.cache.path().join("cache"));
        match fail {
            Some(kind) => command.env("OMPVM_FAIL", format!("{kind}:doomed")),
            None => command.env_remove("OMPVM_FAIL"),
        };
        command
    }

    /// Runs the guest, and checks that it behaves as natively.
    fn run(&self, fail: Option<&str>, options: &[&str]) -> Result<Ran, String> {
        let mut command = self.command(fail);
        command.arg("run").args(options).arg(&self.bitcode);
        let ran = run(&mut command, "", LIMIT)?;
        match ran.stdout == self.says && ran.end == End::Exit(5) {
            true => Ok(ran),
            false => Err(format!("should print {:?}: {}", self.says, ran.summary())),
        }
    }
}

fn has(ran: &Ran, text: &str) -> Result<(), String> {
    match ran.stderr.contains(text) {
        true => Ok(()),
        false => Err(format!("should say {text:?}: {}", ran.summary())),
    }
}

const STAYS: &str = "stays interpreted: LLVM cannot compile it";
const EXPLAIN: [&str; 2] = ["--explain", "doomed"];

/// Checks `opt`; the second run knows of the failure, though nothing would fail in it.
fn opt(case: &Case, kind: &str) -> Result<(), String> {
    let options = [&["--tier=opt"], &EXPLAIN[..]].concat();
    let ran = case.run(Some(kind), &options)?;
    has(&ran, STAYS)?;
    if kind != "memory" {
        let again = case.run(None, &options)?;
        has(&again, STAYS)?;
        has(&case.run(None, &["--tier=opt", "--stats"])?, " 0 compiled")?;
    }
    // Only `--explain` and `--stats` report it.
    let quiet = case.run(Some(kind), &["--tier=opt", "--no-cache"])?;
    match quiet.stderr.is_empty() {
        true => Ok(()),
        false => Err(quiet.summary()),
    }
}

/// Checks `auto`, several times, since the time of a compilation is not certain.
fn auto(case: &Case, kind: &str) -> Result<(), String> {
    for options in [&["--no-cache"][..], &[], &[], &["--stats"]] {
        case.run(Some(kind), options)?;
    }
    case.run(None, &[]).map(drop)
}

/// Checks `ompvm compile`: the failure is reported, but is no error.
fn ahead(case: &Case, kind: &str) -> Result<(), String> {
    let mut command = case.command(Some(kind));
    let ran = run(command.arg("compile").arg(&case.bitcode), "", LIMIT)?;
    if ran.end != End::Exit(0) || !ran.stdout.is_empty() {
        return Err(ran.summary());
    }
    has(&ran, "doomed")?;
    has(&ran, "LLVM cannot compile it")?;
    has(&case.run(None, &["--tier=opt", "--stats"])?, "cache: ")
}

/// Checks a failure of full optimization only: quickly compiled code serves instead.
fn full(case: &Case, kind: &str) -> Result<(), String> {
    let kind = format!("{kind}@full");
    for fail in [Some(&*kind), None] {
        let ran = case.run(fail, &[&["--tier=opt"], &EXPLAIN[..]].concat())?;
        has(&ran, "keeps quick code, because at the full level")?;
    }
    auto(case, &kind)
}

/// Checks chaos mode.
fn chaos(case: &Case, kind: &str) -> Result<(), String> {
    for seed in ["1", "2", "3"] {
        let mut command = case.command(Some(kind));
        command.env("OMPVM_CHAOS", seed);
        command.arg("run").arg(&case.bitcode);
        let ran = run(&mut command, "", LIMIT)?;
        if ran.stdout != case.says || ran.end != End::Exit(5) {
            return Err(format!("seed {seed}: {}", ran.summary()));
        }
    }
    Ok(())
}

/// Checks functions that LLVM itself fails on.
fn real() -> Result<(), String> {
    let path = compile::source("failures", "cannot.ll", CANNOT)?;
    let case = Case {
        bitcode: path,
        says: "ok\n".into(),
        cache: tempfile::tempdir().map_err(|e| e.to_string())?,
    };
    for options in [
        ["--tier=interp", "--stats"],
        ["--tier=baseline", "--stats"],
        ["--tier=auto", "--stats"],
    ] {
        case.run(None, &options)?;
    }
    for _ in 0..2 {
        let ran = case.run(None, &["--tier=opt", "--stats"])?;
        has(
            &ran,
            "`impossible` stays interpreted: LLVM cannot compile it: Cannot select: ",
        )?;
        has(
            &ran,
            "`other` stays interpreted: LLVM cannot compile it: Do not know how to split",
        )?;
    }
    has(&case.run(None, &["--tier=opt", "--stats"])?, " 0 compiled")
}

/// Checks a limit of the size of files that no cache entry fits in; if the program itself writes
/// beyond it, it ends as natively.
fn small_files() -> Result<(), String> {
    let case = Case::new("small.c", C, "-O2")?;
    for tier in ["interp", "baseline", "opt", "auto"] {
        let mut command = case.command(None);
        command.args(["run", "--tier", tier]).arg(&case.bitcode);
        let ran = run(limited(&mut command), "", LIMIT)?;
        if ran.stdout != case.says || ran.end != End::Exit(5) {
            return Err(format!("{tier}: {}", ran.summary()));
        }
    }
    let text = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char *block = calloc(1, 1 << 20), name[] = "/tmp/ompvm-large-XXXXXX";
  int file = mkstemp(name);
  unlink(name);
  puts("begin");
  fflush(stdout);
  for (int i = 0; i < 4; i++) printf("%zd\n", write(file, block, 1 << 20));
  return 0;
}
"#;
    let bitcode = guest("large.c", text, "-O1")?;
    let native = compile::native(&bitcode, &["-fopenmp".to_owned()])?;
    let native = run(limited(&mut Command::new(native)), "", LIMIT)?;
    if native.end != End::Signal(libc::SIGXFSZ) {
        return Err(format!("natively: {}", native.summary()));
    }
    for tier in ["interp", "baseline", "opt", "auto"] {
        let mut command = case.command(None);
        command.args(["run", "--tier", tier]).arg(&bitcode);
        let ran = run(limited(&mut command), "", LIMIT)?;
        if ran.stdout != native.stdout || ran.end != native.end {
            return Err(format!("{tier}: {}", ran.summary()));
        }
    }
    Ok(())
}

/// Limits the size of files to a kilobyte.
fn limited(command: &mut Command) -> &mut Command {
    // SAFETY: the child limits itself by a system call.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit {
                rlim_cur: 1024,
                rlim_max: 1024,
            };
            libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
            Ok(())
        })
    }
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    type Check = fn(&Case, &str) -> Result<(), String>;
    let checks: [(&str, Check); 5] = [
        ("opt", opt),
        ("auto", auto),
        ("ahead", ahead),
        ("full", full),
        ("chaos", chaos),
    ];
    let guests = [
        ("c", "doomed.c", C, "-O2"),
        ("cpp", "doomed.cpp", CPP, "-O0"),
    ];
    let mut trials = Vec::new();
    for kind in KINDS {
        for (name, check) in checks {
            for (language, file, text, level) in guests {
                let title = format!("failures/{name}/{kind}/{language}");
                trials.push(Trial::test(title, move || {
                    let case = Case::new(file, text, level)?;
                    Ok(check(&case, kind)?)
                }));
            }
        }
        let title = format!("failures/handlers/{kind}");
        trials.push(Trial::test(title, move || {
            let case = Case::new("handles.c", HANDLES, "-O1")?;
            opt(&case, kind)?;
            Ok(auto(&case, kind)?)
        }));
        let title = format!("failures/closed/{kind}");
        trials.push(Trial::test(title, move || {
            let case = Case::new("wide.c", WIDE, "-O1")?;
            opt(&case, kind)?;
            Ok(auto(&case, kind)?)
        }));
    }
    trials.push(Trial::test("failures/real", || Ok(real()?)));
    trials.push(Trial::test("failures/small-files", || Ok(small_files()?)));
    trials
}
