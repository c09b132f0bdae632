//! `--deny-native`: which native functions a program may use, and how others are refused.
//!
//! Each refusal must name the function and its place, before anything runs. Does not check that a
//! hostile program is held back: it is not.

use crate::compilers::Place;
use crate::run::{End, Ran};
use libtest_mimic::Trial;

const ALLOWED: &str = "\
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv) {
  char *text = malloc(100);
  double sum = 0;
#pragma omp parallel for reduction(+: sum)
  for (int i = 0; i < argc * 100; i++) sum += pow(i, argc + 1.0);
  snprintf(text, 100, \"%.0f %d\", sum, omp_in_parallel());
  if (time(NULL) == 0 || strlen(text) < 3) abort();
  __asm__ volatile(\"\" ::: \"memory\");
  fprintf(stdout, \"%s\\n\", text);
  free(text);
  exit(0);
}
";

const DENIED: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  puts(\"starts\");
  fflush(stdout);
  if (argc > 1) puts(getenv(\"HOME\"));
  if (argc > 2) system(\"echo ran\");
  int (*open)(const char *) = argc > 3 ? (int (*)(const char *))fopen : 0;
  return open ? open(\"x\") : 0;
}
";

/// Checks for status 125 and a message with every one of `words`; `printed` is the output before it.
fn refused(ran: &Ran, printed: &str, words: &[&str]) -> Result<(), String> {
    let missing = words.iter().find(|word| !ran.stderr.contains(**word));
    match ran.end == End::Exit(125) && ran.stdout == printed && missing.is_none() {
        true => Ok(()),
        false => Err(format!(
            "should be refused with {words:?}: {}",
            ran.summary()
        )),
    }
}

/// Checks a program that needs nothing more, in every tier, from the cache, too.
fn allowed() -> Result<(), String> {
    let p = Place::new("native-allowed")?;
    p.write("main.c", ALLOWED)?;
    p.build("clang -O1 -g -fopenmp -c -emit-llvm main.c")?;
    for tier in ["interp", "baseline", "opt", "auto", "auto"] {
        let line = format!("ompvm run --deny-native --tier={tier} main.bc");
        p.prints(&line, "328350 0\n")?;
    }
    let program = crate::ompvm().display();
    p.prints(
        &format!("env OMPVM_DENY_NATIVE=1 {program} main.bc"),
        "328350 0\n",
    )
}

/// Checks that all uses are reported at once, from the cache, too, and at the call with `--late`.
fn denied() -> Result<(), String> {
    let p = Place::new("native-denied")?;
    p.write("main.c", DENIED)?;
    p.build("clang -O1 -g -c -emit-llvm main.c")?;
    p.prints("ompvm main.bc", "starts\n")?;
    let program = crate::ompvm().display().to_string();
    let all = [
        "main.c:7",
        "`getenv` in function `main`",
        "main.c:8",
        "`system`",
        "`fopen`",
        "--allow-native",
    ];
    refused(&p.ran("ompvm run --deny-native main.bc", "")?, "", &all)?;
    refused(
        &p.ran(&format!("env OMPVM_DENY_NATIVE=on {program} main.bc"), "")?,
        "",
        &all,
    )?;
    let ran = p.ran(
        "ompvm run --deny-native --allow-native=fopen,@environment main.bc",
        "",
    )?;
    refused(&ran, "", &["`system`"])?;
    if ran.stderr.contains("getenv") || ran.stderr.contains("fopen") {
        return Err(format!("these are allowed: {}", ran.summary()));
    }
    p.prints(
        "ompvm run --deny-native --allow-native=fopen,system --allow-native=getenv main.bc",
        "starts\n",
    )?;
    p.prints("ompvm run --deny-native --late main.bc", "starts\n")?;
    let ran = p.ran("ompvm run --deny-native --late main.bc x", "")?;
    refused(&ran, "starts\n", &["not allowed", "main.c:7", "`getenv`"])?;
    let ran = p.ran("ompvm run --deny-native --allow-native=@files main.bc", "")?;
    refused(&ran, "", &["@files", "@threads"])
}

/// Checks code that only its file describes: assembly, libraries and native members.
fn other_code() -> Result<(), String> {
    let p = Place::new("native-code")?;
    p.write(
        "asm.c",
        "int main(void) {\n  long id = 39;\n  __asm__ volatile(\"syscall\" : \"+a\"(id) :: \"rcx\", \"r11\");\n\
           return id < 2;\n}\n",
    )?;
    p.write(
        "top.c",
        "__asm__(\".globl f\\nf: ret\");\nvoid f(void);\nint main(void) { f(); return 0; }\n",
    )?;
    p.write(
        "main.c",
        "int two(void);\nint main(void) { return two() - 2; }\n",
    )?;
    p.write("two.c", "int two(void) { return 2; }\n")?;
    p.write("none.c", "int main(void) { return 0; }\n")?;
    p.build(
        "clang -g -c -emit-llvm asm.c
         clang -g -c -emit-llvm top.c
         clang -g -c -emit-llvm main.c
         clang -c -emit-llvm none.c
         clang -fPIC -c two.c
         clang -shared -o libtwo.so two.o",
    )?;
    let denied = "ompvm run --deny-native";
    refused(
        &p.ran(&format!("{denied} asm.bc"), "")?,
        "",
        &["asm.c:3", "inline assembly"],
    )?;
    refused(
        &p.ran(&format!("{denied} top.bc"), "")?,
        "",
        &["assembly outside of functions"],
    )?;
    p.prints(&format!("{denied} --allow-native=@asm asm.bc"), "")?;
    refused(
        &p.ran(&format!("{denied} --with two.o main.bc"), "")?,
        "",
        &["native code", "main.c:2", "`two`"],
    )?;
    refused(
        &p.ran(&format!("{denied} -L. -ltwo none.bc"), "")?,
        "",
        &["native library", "two"],
    )?;
    for with in ["--with two.o", "-L. -ltwo"] {
        p.prints(
            &format!("{denied} --allow-native=@libraries {with} main.bc"),
            "",
        )?;
    }
    Ok(())
}

/// Checks programs in C++ with the group for it, and that files stay out of reach.
fn cpp() -> Result<(), String> {
    let p = Place::new("native-cpp")?;
    p.write(
        "main.cpp",
        "#include <iostream>\n#include <map>\n#include <stdexcept>\n#include <vector>\n\
         int main() { std::map<int, std::vector<int>> m; m[1].push_back(4);\n\
         try { m[1].at(2); } catch (const std::out_of_range &) { std::cout << \"caught\" << std::endl; } }\n",
    )?;
    p.write(
        "file.cpp",
        "#include <fstream>\nint main() {\n  std::ofstream file(\"written\");\n  file << 1;\n}\n",
    )?;
    p.build(
        "ompvm c++ -O1 -g -c -emit-llvm main.cpp
         ompvm c++ -O1 -g -c -emit-llvm file.cpp",
    )?;
    p.prints(
        "ompvm run --deny-native --allow-native=@c++ main.bc",
        "caught\n",
    )?;
    refused(
        &p.ran("ompvm run --deny-native main.bc", "")?,
        "",
        &["__cxa_begin_catch"],
    )?;
    let ran = p.ran("ompvm run --deny-native --allow-native=@c++ file.bc", "")?;
    refused(&ran, "", &["basic_ofstream", "file.cpp:3"])
}

/// A check of this file.
type Check = fn() -> Result<(), String>;

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let checks: [(&str, Check); 4] = [
        ("allowed", allowed),
        ("denied", denied),
        ("other_code", other_code),
        ("cpp", cpp),
    ];
    let trial = |(name, check): (&str, Check)| {
        Trial::test(format!("native_policy/{name}"), move || Ok(check()?))
    };
    checks.into_iter().map(trial).collect()
}
