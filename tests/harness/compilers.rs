//! `ompvm cc`, `ompvm c++` and `ompvm fc`, and the native files that `ompvm run` accepts.
//!
//! Each check builds a small program in a folder of its own, as a build system would, and runs the
//! result by starting it: under ompvm, natively (`OMPVM_OFF=1`), and as `ompvm run FILE`. Does not
//! cover the build systems themselves.

use crate::compile::llvm_bin;
use crate::run::{End, LIMIT, Ran, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder for one check.
pub struct Place(PathBuf);

impl Place {
    /// Creates an empty folder.
    pub fn new(name: &str) -> Result<Place, String> {
        let dir = root().join("target/guests/compilers").join(name);
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
        Ok(Place(dir))
    }

    /// Returns the path of the folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Writes a file.
    pub fn write(&self, file: &str, text: &str) -> Result<(), String> {
        std::fs::write(self.0.join(file), text).map_err(|e| format!("{file}: {e}"))
    }

    /// Runs a command line; its first word `ompvm` means the program under test.
    pub fn ran(&self, line: &str, input: &str) -> Result<Ran, String> {
        let mut words = line.split_whitespace();
        let program = match words.next().unwrap_or_default() {
            "ompvm" => ompvm().to_owned(),
            tool if tool.starts_with("llvm-") || tool == "clang" => llvm_bin().join(tool),
            other => other.into(),
        };
        let mut command = Command::new(program);
        command.current_dir(&self.0).args(words);
        command.env("OMP_NUM_THREADS", "3");
        run(&mut command, input, LIMIT)
    }

    /// Runs command lines that must succeed.
    pub fn build(&self, lines: &str) -> Result<(), String> {
        for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let ran = self.ran(line, "")?;
            if ran.end != End::Exit(0) {
                return Err(format!("{line}: {}", ran.summary()));
            }
        }
        Ok(())
    }

    /// Checks what a command line prints.
    pub fn prints(&self, line: &str, expected: &str) -> Result<(), String> {
        let ran = self.ran(line, "")?;
        if ran.end == End::Exit(0) && ran.stdout == expected {
            return Ok(());
        }
        Err(format!(
            "{line} should print {expected:?}: {}",
            ran.summary()
        ))
    }

    /// Checks what an executable prints, however it is started. `under` is what it prints under
    /// ompvm in place of `OMPVM?`.
    fn starts(&self, file: &str, expected: &str) -> Result<(), String> {
        let with = |word: &str| expected.replace("OMPVM?", word);
        self.prints(&format!("./{file} x"), &with("ompvm"))?;
        self.prints(&format!("ompvm run ./{file} x"), &with("ompvm"))?;
        self.prints(&format!("env OMPVM_OFF=1 ./{file} x"), &with("native"))
    }
}

/// A function that tells whether its code runs in a process of ompvm.
const WHO: &str = "\
#include <stdio.h>
#include <string.h>
const char *who(void) { char line[512]; const char *found = \"native\"; FILE *f = fopen(\"/proc/self/maps\", \"r\");
  while (fgets(line, sizeof line, f)) if (strstr(line, \"/ompvm\\n\")) found = \"ompvm\";
  fclose(f); return found; }
";

/// Checks a build with an archive, an assembler file and a shared library.
fn parts(level: &str) -> Result<(), String> {
    let p = Place::new(&format!("parts-{level}"))?;
    p.write("who.c", WHO)?;
    p.write(
        "unused.c",
        "int missing(void); int unused(void) { return missing(); }\n",
    )?;
    p.write(
        "low.S",
        ".text\n.globl low\nlow: lea 1(%rdi), %eax\nret\n.section .note.GNU-stack,\"\",@progbits\n",
    )?;
    let shared = "static int calls;\n__attribute__((constructor)) static void init(void) { calls = 10; }\n\
        int shared(int n) { int s = 0;\n#pragma omp parallel for reduction(+: s)\n\
        for (int i = 0; i < n; i++) s += i;\nreturn s + calls++; }\n";
    p.write("shared.c", shared)?;
    let main = "#include <stdio.h>\nconst char *who(void); int low(int); int shared(int);\n\
        int main(int argc, char **argv) { int n = 0;\n#pragma omp parallel reduction(+: n)\nn++;\n\
        printf(\"%s %d %d %d %d %s\\n\", who(), n, low(41), shared(4), argc, argv[1]); return 0; }\n";
    p.write("main.c", main)?;
    p.build(&format!(
        "ompvm cc -{level} -fopenmp -MD -c main.c
         ompvm cc -{level} -c who.c -o who.o
         ompvm cc -w -{level} -c unused.c
         ompvm cc -c low.S
         ompvm cc -{level} -fopenmp -fPIC -shared -o libshared.so shared.c
         ar rcs libparts.a who.o unused.o low.o
         ompvm cc -fopenmp main.o -L. -lparts -lshared -Wl,-rpath,$ORIGIN -o program"
    ))?;
    let depends = std::fs::read_to_string(p.0.join("main.d")).map_err(|e| e.to_string())?;
    if !depends.starts_with("main.o: main.c") {
        return Err(format!("the dependency file should name main.o: {depends}"));
    }
    p.starts("program", "OMPVM? 3 42 16 2 x\n")?;
    let inspected = p.ran("ompvm inspect program", "")?;
    if !inspected.stdout.contains("libparts.a(low.o)") {
        return Err(format!(
            "inspect should list low.o: {}",
            inspected.summary()
        ));
    }
    // Symbols are gone, the program is not.
    p.build("strip program")?;
    p.starts("program", "OMPVM? 3 42 16 2 x\n")
}

/// Checks objects that are linked before the final link, and libraries with the program's symbols.
fn merged() -> Result<(), String> {
    let p = Place::new("merged")?;
    p.write("who.c", WHO)?;
    p.write("a.c", "int b(void); int a(void) { return b() + 1; }\n")?;
    p.write("b.c", "int b(void) { return 1; }\n")?;
    p.write(
        "main.c",
        "#include <stdio.h>\nconst char *who(void); int a(void); int b(void);\n\
         int main(void) { printf(\"%s %d %d\\n\", who(), a(), b()); return 0; }\n",
    )?;
    p.write("own.c", "int b(void) { return 20; }\n")?;
    p.build(
        "ompvm cc -O1 -fPIC -c a.c b.c who.c main.c own.c
         ompvm cc -r a.o b.o who.o -o all.o
         ompvm cc main.o all.o -o program
         ompvm cc -shared a.o b.o who.o -o liball.so
         ompvm cc main.o own.o ./liball.so -o interposed",
    )?;
    p.starts("program", "OMPVM? 2 1\n")?;
    let read = format!(
        "env OMPVM_LOG=llvm=debug {} run --no-cache ./program",
        ompvm().display()
    );
    let read = p.ran(&read, "")?;
    if !read.stderr.contains("files=1 ") {
        return Err(format!("one module should be read: {}", read.stderr));
    }
    p.prints(
        "env LD_LIBRARY_PATH=. OMPVM_OFF=1 ./interposed",
        "native 21 20\n",
    )?;
    // One module cannot have both functions, so the library's code is native.
    p.prints("env LD_LIBRARY_PATH=. ./interposed", "ompvm 21 20\n")
}

/// Checks which symbols a program finds that asks for them by name while it runs.
fn queries() -> Result<(), String> {
    let p = Place::new("queries")?;
    p.write("library.c", "int of_library(void) { return 1; }\n")?;
    p.write(
        "main.c",
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n\
         int of_library(void); int own(void) { return 1; }\n\
         static int finds(void *where, const char *name) { return dlsym(where, name) != NULL; }\n\
         int main(void) { void *all = dlopen(NULL, RTLD_NOW);\n\
         printf(\"%d %d %d %d %d\\n\", of_library(), finds(RTLD_DEFAULT, \"own\"), finds(all, \"main\"),\n\
         finds(all, \"of_library\"), finds(RTLD_DEFAULT, \"printf\")); return 0; }\n",
    )?;
    p.build(
        "ompvm cc -O1 -fPIC -shared library.c -o liblibrary.so
         ompvm cc -O1 main.c -L. -llibrary -Wl,-rpath,$ORIGIN -o program
         ompvm cc -O1 -rdynamic main.c -L. -llibrary -Wl,-rpath,$ORIGIN -o exporting",
    )?;
    p.starts("program", "1 0 0 1 1\n")?;
    p.starts("exporting", "1 1 1 1 1\n")
}

/// Checks C++ in two files, compiled and linked by one command.
fn cpp(level: &str) -> Result<(), String> {
    let p = Place::new(&format!("cpp-{level}"))?;
    p.write(
        "main.cpp",
        "#include <cstdio>\n#include <stdexcept>\n#include <vector>\nint sum(const std::vector<int> &);\n\
         int main() { std::vector<int> v{1, 2, 3}; std::printf(\"%d\\n\", sum(v)); v.clear();\n\
         try { sum(v); } catch (const std::exception &e) { std::printf(\"%s\\n\", e.what()); } }\n",
    )?;
    p.write(
        "sum.cpp",
        "#include <stdexcept>\n#include <vector>\nint sum(const std::vector<int> &v) { int s = 0;\n\
         if (v.empty()) throw std::runtime_error(\"empty\");\n#pragma omp parallel for reduction(+: s)\n\
         for (unsigned i = 0; i < v.size(); i++) s += v[i];\nreturn s; }\n",
    )?;
    p.build(&format!(
        "ompvm c++ -{level} -g -fopenmp -flto -Wall -Werror main.cpp sum.cpp -o program"
    ))?;
    p.starts("program", "6\nempty\n")
}

/// Checks a Fortran program with a module, and one with a region for a device.
fn fortran(level: &str) -> Result<(), String> {
    let p = Place::new(&format!("fortran-{level}"))?;
    p.write(
        "sums.f90",
        "module sums\ncontains\ninteger function total(n)\ninteger :: n, i\ntotal = 0\n\
         !$omp parallel do reduction(+:total)\ndo i = 1, n\ntotal = total + i\nend do\n\
         end function\nend module\n",
    )?;
    p.write(
        "main.f90",
        "program p\nuse sums\nprint '(i0)', total(10)\nend program\n",
    )?;
    p.write(
        "region.f90",
        "program p\ninteger :: a(10), i\n!$omp target teams distribute parallel do map(from:a)\n\
         do i = 1, 10\na(i) = i\nend do\nprint '(i0)', sum(a)\nend program\n",
    )?;
    p.build(&format!(
        "ompvm fc -{level} -fopenmp -c sums.f90
         ompvm fc -{level} -fopenmp -c main.f90
         ompvm fc -fopenmp main.o sums.o -o program
         ompvm fc -{level} -fopenmp --offload-arch=sm_90 region.f90 -o region"
    ))?;
    p.starts("program", "55\n")?;
    p.prints("env OMPVM_DEVICE=emulated ./region", "55\n")?;
    p.prints("env OMPVM_OFF=1 ./region", "55\n")
}

/// Checks regions for a device without a CUDA installation, in two files.
fn offload(level: &str) -> Result<(), String> {
    let p = Place::new(&format!("offload-{level}"))?;
    p.write(
        "main.c",
        "#include <omp.h>\n#include <stdio.h>\nint twice(int);\n#pragma omp declare target to(twice)\n\
         int main(void) { int a[10], on = 0, s = 0;\n\
         #pragma omp target teams distribute parallel for map(from: a)\n\
         for (int i = 0; i < 10; i++) a[i] = twice(i);\n\
         #pragma omp target map(from: on)\non = !omp_is_initial_device();\n\
         for (int i = 0; i < 10; i++) s += a[i];\nprintf(\"%d %d\\n\", s, on); return 0; }\n",
    )?;
    p.write(
        "twice.c",
        "#pragma omp begin declare target\nint twice(int x) { return 2 * x; }\n#pragma omp end declare target\n",
    )?;
    let triple = "-fopenmp-targets=nvptx64-nvidia-cuda -Xopenmp-target -march=sm_90";
    p.build(&format!(
        "ompvm cc -{level} -fopenmp --offload-arch=sm_90 -c twice.c
         ompvm cc -{level} -fopenmp --offload-arch=sm_90 -c main.c
         ompvm cc -fopenmp --offload-arch=sm_90 main.o twice.o -o program
         ompvm cc -{level} -fopenmp {triple} main.c twice.c -o targets"
    ))?;
    for program in ["program", "targets"] {
        p.prints(&format!("env OMPVM_DEVICE=emulated ./{program}"), "90 1\n")?;
        p.prints(&format!("env OMPVM_DEVICE=host ./{program}"), "90 0\n")?;
        p.prints(&format!("env OMPVM_OFF=1 ./{program}"), "90 0\n")?;
    }
    Ok(())
}

/// Checks that questions and errors are the compiler's own.
fn probes() -> Result<(), String> {
    let p = Place::new("probes")?;
    p.write("bad.c", "int main(void) { return x; }\n")?;
    p.write("good.c", "int main(void) { return 7; }\n")?;
    for line in [
        "--version",
        "-dumpmachine",
        "-print-prog-name=ld",
        "-E good.c",
        "-fsyntax-only good.c",
        "-S good.c -o -",
    ] {
        let theirs = p.ran(&format!("clang {line}"), "")?;
        p.prints(&format!("ompvm cc {line}"), &theirs.stdout)?;
    }
    for line in [
        "-c bad.c",
        "bad.c -o bad",
        "",
        "-c missing.c",
        "good.c -lmissing",
    ] {
        let theirs = p.ran(&format!("clang {line}"), "")?;
        let ours = p.ran(&format!("ompvm cc {line}"), "")?;
        if ours.end != theirs.end || ours.end == End::Exit(0) {
            return Err(format!(
                "cc {line} should end as clang does: {}",
                ours.summary()
            ));
        }
    }
    let piped = p.ran("ompvm cc -x c - -o piped", "int main(void) { return 7; }\n")?;
    let status = p.ran("./piped", "")?;
    if piped.end != End::Exit(0) || status.end != End::Exit(7) {
        return Err(format!(
            "the exit status should be 7: {} {}",
            piped.summary(),
            status.summary()
        ));
    }
    // Discarded objects, as configure scripts make them.
    p.build("ompvm cc -c good.c -o /dev/null")
}

/// Checks programs that can only run natively: they do, and `inspect` and `run` say why.
fn native_only() -> Result<(), String> {
    let p = Place::new("native_only")?;
    p.write(
        "main.c",
        "#include <stdio.h>\nint main(void) { puts(\"ran\"); return 0; }\n",
    )?;
    p.build(
        "ompvm cc -O1 -fsanitize=undefined -fsanitize-minimal-runtime -c main.c
         ompvm cc -fsanitize=undefined -fsanitize-minimal-runtime main.o -o checked
         clang -c main.c -o plain.o
         ompvm cc plain.o -o plain
         ompvm cc main.c -Wl,--defsym=zero=0 -o defined",
    )?;
    // CMake takes archives that `-v` names for libraries of the compiler.
    let shown = p.ran("ompvm cc -v plain.o -o shown", "")?;
    let words = shown.stderr.split_whitespace();
    let own = |word: &&str| word.contains("ompvm-cc-") && word.ends_with(".a");
    if let Some(archive) = words.into_iter().find(own) {
        return Err(format!("`-v` names {archive}"));
    }
    for program in ["checked", "plain", "defined"] {
        p.prints(&format!("./{program}"), "ran\n")?;
    }
    for (program, why) in [
        ("checked", "main.c: compiled with -fsanitize"),
        ("plain", "without LLVM bitcode"),
        ("defined", "--defsym=zero=0"),
    ] {
        let ran = p.ran(&format!("ompvm run ./{program}"), "")?;
        if ran.end != End::Exit(125) || !ran.stderr.contains(why) {
            return Err(format!("should be refused with {why:?}: {}", ran.summary()));
        }
    }
    Ok(())
}

/// Checks files that other compilers made: fat objects, executables, archives, compressed files.
fn inputs() -> Result<(), String> {
    let p = Place::new("inputs")?;
    p.write("two.c", "int two(int x) { return 2 * x; }\n")?;
    p.write(
        "main.c",
        "#include <stdio.h>\nint two(int);\nint main(void) { printf(\"%d\\n\", two(21)); return 0; }\n",
    )?;
    p.build(
        "clang -O1 -fembed-bitcode main.c two.c -o embedded
         clang -O1 -flto -ffat-lto-objects -c main.c two.c
         llvm-ar rcs libprogram.a two.o main.o
         clang -O1 -emit-llvm -c main.c two.c
         gzip -k main.bc two.o
         cp embedded embedded.cpp",
    )?;
    for line in [
        "embedded",
        "embedded.cpp",
        "libprogram.a",
        "--with two.o main.o",
        "--with two.o.gz main.bc.gz",
    ] {
        p.prints(&format!("ompvm run {line}"), "42\n")?;
    }
    std::fs::write(p.0.join("cut.gz"), b"\x1f\x8b\x08\x00").map_err(|e| e.to_string())?;
    for (file, why) in [
        ("cut.gz", "gzip"),
        (path(&p.0.join("../../../../Cargo.toml")), "textual LLVM IR"),
    ] {
        let ran = p.ran(&format!("ompvm run {file}"), "")?;
        if ran.end != End::Exit(125) || !ran.stderr.contains(why) {
            return Err(format!("should be refused with {why:?}: {}", ran.summary()));
        }
    }
    Ok(())
}

/// Checks a program whose linker removes code that refers to undefined symbols.
fn removed(level: &str) -> Result<(), String> {
    let p = Place::new(&format!("removed-{level}"))?;
    p.write("who.c", WHO)?;
    p.write(
        "main.c",
        "#include <stdio.h>
const char *who(void);
int absent(int); extern int gone; extern _Thread_local int lost; extern const int *const far_away;
const int *const *place = &far_away;
int unused(int x) { return absent(x) + gone + lost + (**place != 0); }
int also_unused(int x) { return unused(x) + 1; }
int (*table[])(int) = {unused, also_unused};
int last(int x) { return table[x & 1](x); }
int main(void) {
  long sum = 0;
  for (long i = 0; i < 3000000; i++) sum += i ^ (sum >> 3);
  printf(\"%s %d\\n\", who(), sum != 0);
}
",
    )?;
    let sections = "-ffunction-sections -fdata-sections -Wl,--gc-sections";
    p.build(&format!(
        "ompvm cc -{level} {sections} main.c who.c -o main"
    ))?;
    p.starts("main", "OMPVM? 1\n")?;
    for tier in ["interp", "baseline", "opt", "auto"] {
        p.prints(&format!("ompvm run --tier={tier} main"), "ompvm 1\n")?;
    }
    // Exported symbols can be reached by libraries, and then the linker refuses the program.
    p.build(&format!(
        "ompvm cc -{level} {sections} -rdynamic -Wl,--unresolved-symbols=ignore-all main.c who.c -o all"
    ))?;
    let ran = p.ran("ompvm run all", "")?;
    if ran.end != End::Exit(125) || !ran.stderr.contains("`absent`") {
        return Err(format!("should miss `absent`: {}", ran.summary()));
    }
    Ok(())
}

/// Checks the files for build systems.
fn installed() -> Result<(), String> {
    let p = Place::new("installed")?;
    p.write(
        "main.c",
        "#include <stdio.h>\nint main(void) { puts(\"ran\"); return 0; }\n",
    )?;
    // Twice: an installation may be repeated.
    p.build(
        "ompvm install prefix
         ompvm install prefix
         prefix/bin/ompvm-cc main.c -o program
         test -f prefix/share/ompvm/toolchain.cmake
         test -f prefix/include/ompvm.h
         test -f prefix/include/ompvm.hpp
         test -f prefix/lib/pkgconfig/ompvm.pc",
    )?;
    // The development build has no library beside it.
    if ompvm().with_file_name("libompvm.so").exists() {
        p.build("test -e prefix/lib/libompvm.so.0")?;
    }
    p.starts("program", "ran\n")
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |name: String, check: Box<dyn FnOnce() -> Result<(), String> + Send>| {
        trials.push(Trial::test(format!("compilers/{name}"), move || {
            Ok(check()?)
        }));
    };
    let flang = llvm_bin().join("flang").exists();
    for level in ["O0", "O2"] {
        add(format!("parts/{level}"), Box::new(move || parts(level)));
        add(format!("removed/{level}"), Box::new(move || removed(level)));
        add(format!("cpp/{level}"), Box::new(move || cpp(level)));
        add(format!("offload/{level}"), Box::new(move || offload(level)));
        if flang {
            add(format!("fortran/{level}"), Box::new(move || fortran(level)));
        }
    }
    add("merged".into(), Box::new(merged));
    add("queries".into(), Box::new(queries));
    add("probes".into(), Box::new(probes));
    add("native_only".into(), Box::new(native_only));
    add("inputs".into(), Box::new(inputs));
    add("installed".into(), Box::new(installed));
    trials
}
