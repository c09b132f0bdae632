//! Static archives: native members and bitcode members become part of the program.
//!
//! Each check compiles an archive with clang and a program that uses it, and runs the program in
//! the interpreter and compiled. Does not cover archives of other compilers.

use crate::compile::llvm_bin;
use crate::run::{End, LIMIT, Ran, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::Command;

/// A separate folder for each check.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Result<Place, String> {
        let dir = root().join("target/guests/archives").join(name);
        std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
        Ok(Place(dir))
    }

    fn tool(&self, program: &str, args: &[&str]) -> Result<(), String> {
        let mut command = Command::new(llvm_bin().join(program));
        let ran = run(command.current_dir(&self.0).args(args), "", LIMIT)?;
        match ran.end {
            End::Exit(0) => Ok(()),
            _ => Err(format!("{program} {args:?}: {}", ran.summary())),
        }
    }

    /// Compiles a text; `file` ends in `.o` or `.bc`.
    fn compile(&self, file: &str, text: &str, flags: &[&str]) -> Result<(), String> {
        let (stem, kind) = file.split_once('.').ok_or("a file without an ending")?;
        let cpp = text.contains("#include <stdexcept>") || text.contains("extern \"C\"");
        let source = format!("{stem}.{}", if cpp { "cpp" } else { "c" });
        std::fs::write(self.0.join(&source), text).map_err(|e| e.to_string())?;
        let mut args = vec!["-w", "-O1", "-c", "-o", file, &source];
        if kind == "bc" {
            args.push("-emit-llvm");
        }
        args.extend(flags);
        self.tool(if cpp { "clang++" } else { "clang" }, &args)
    }

    fn archive(&self, file: &str, members: &[&str]) -> Result<(), String> {
        let _ = std::fs::remove_file(self.0.join(file));
        let mut args = vec!["rcs", file];
        args.extend(members);
        self.tool("llvm-ar", &args)
    }

    fn ran(&self, tier: &str, args: &[&str]) -> Result<Ran, String> {
        let mut command = Command::new(ompvm());
        command.current_dir(&self.0).args(["run", tier]).args(args);
        run(command.env("OMP_NUM_THREADS", "3"), "", LIMIT)
    }

    /// Checks that both tiers print `expected`.
    fn prints(&self, args: &[&str], expected: &str) -> Result<(), String> {
        for tier in ["--tier=interp", "--tier=opt"] {
            let ran = self.ran(tier, args)?;
            if ran.end != End::Exit(0) || ran.stdout != expected {
                return Err(format!(
                    "{tier} should print {expected:?}: {}",
                    ran.summary()
                ));
            }
        }
        Ok(())
    }

    fn refuses(&self, args: &[&str], words: &[&str]) -> Result<(), String> {
        let ran = self.ran("--tier=interp", args)?;
        let all = words.iter().all(|w| ran.stderr.contains(w));
        if ran.end == End::Exit(125) && all {
            return Ok(());
        }
        Err(format!(
            "should be refused with {words:?}: {}",
            ran.summary()
        ))
    }
}

/// Checks that needed members are found, no matter how the archive is named, and that others stay
/// out.
fn naming() -> Result<(), String> {
    let p = Place::new("naming")?;
    p.compile(
        "one.o",
        "int two(void); int one(void) { return two() + 1; }\n",
        &[],
    )?;
    p.compile("two.o", "int two(void) { return 41; }\n", &[])?;
    // Would end the program if it were linked in.
    let never = "#include <stdlib.h>\nint never(void) { return 0; }\n\
        __attribute__((constructor)) static void f(void) { abort(); }\n";
    p.compile("never.o", never, &[])?;
    p.archive("libparts.a", &["never.o", "one.o", "two.o"])?;
    let main = "#include <stdio.h>\nint one(void);\nint main(void) { printf(\"%d\\n\", one()); return 0; }\n";
    p.compile("main.bc", main, &[])?;
    p.refuses(&["main.bc"], &["`one`"])?;
    p.prints(&["-L.", "-lparts", "main.bc"], "42\n")?;
    p.prints(&["-L.", "-l:libparts.a", "main.bc"], "42\n")?;
    p.prints(&["-l", "./libparts.a", "main.bc"], "42\n")?;
    p.prints(&["--with", "libparts.a", "main.bc"], "42\n")?;
    // A shared library of the same name is preferred.
    p.compile("shared.o", "int one(void) { return 7; }\n", &["-fPIC"])?;
    let place = Place::new("naming/both")?;
    let copy = std::fs::copy(p.0.join("libparts.a"), place.0.join("libparts.a"));
    copy.map_err(|e| e.to_string())?;
    p.tool("clang", &["-shared", "-o", "both/libparts.so", "shared.o"])?;
    p.prints(&["-Lboth", "-lparts", "main.bc"], "7\n")
}

/// Checks constructors, destructors, variables, common symbols, and calls in both directions.
fn parts() -> Result<(), String> {
    let p = Place::new("parts")?;
    let member = "#include <stdio.h>\n#include <stdlib.h>\n\
        int tentative[100]; int set = 3; extern int of_guest; int from_guest(int);\n\
        static int (*pointer)(int) = from_guest; const char *const words[] = {\"a\", \"b\"};\n\
        __attribute__((constructor(200))) static void early(void) { set += 10; }\n\
        __attribute__((constructor)) static void late(void) { set *= 2; tentative[99] = of_guest; }\n\
        __attribute__((destructor)) static void end(void) { printf(\"end %d\\n\", set); }\n\
        static void last(void) { printf(\"last\\n\"); }\n\
        static int choose(int x) { return x + 1000; }\n\
        static void *resolver(void) { return choose; }\n\
        int chosen(int) __attribute__((ifunc(\"resolver\")));\n\
        int work(int n) { if (n == 0) atexit(last); fprintf(stderr, \"%s\", words[n & 1]);\n\
        return pointer(n) + tentative[99] + set + chosen(n); }\n";
    p.compile("member.o", member, &["-fcommon"])?;
    p.archive("libparts.a", &["member.o"])?;
    let main = "#include <stdio.h>\nint work(int); extern int set; extern int tentative[100]; int of_guest = 5;\n\
        int chosen(int);\n\
        int from_guest(int x) { return x * 2; }\n\
        __attribute__((constructor)) static void between(void) { set += 100; }\n\
        int main(void) { for (int i = 0; i < 3; i++) printf(\"%d %d\\n\", work(i), chosen(i));\n\
        printf(\"%d %d\\n\", set, tentative[99]); return 0; }\n";
    p.compile("main.bc", main, &[])?;
    // early: 13; the program's own: 113; late: 226.
    let expected = "1231 1000\n1234 1001\n1237 1002\n226 5\nlast\nend 226\n";
    p.prints(&["-L.", "-lparts", "main.bc"], expected)
}

/// Checks thread-local variables in each model: in the initial thread, in OpenMP's threads and in
/// others.
fn thread_locals() -> Result<(), String> {
    let p = Place::new("thread_locals")?;
    let member = "#include <pthread.h>\nstatic __thread int mine = 7; __thread long shared_one = 40;\n\
        static __thread char big[100]; static int word; static __thread int *where = &word;\n\
        int bump(void) { big[99]++; return ++mine + big[99] + (where == &word); }\n\
        long *address(void) { return &shared_one; }\n\
        static void *run(void *p) { *(int *)p = bump() * 100 + (int)shared_one; return 0; }\n\
        int other(void) { int r = 0; pthread_t t; pthread_create(&t, 0, run, &r); pthread_join(t, 0); return r; }\n";
    let main = "#include <stdio.h>\nextern __thread long shared_one; int bump(void); long *address(void); int other(void);\n\
        int main(void) { int sum = 0, same = 0, fresh = 0;\n\
        bump();\n\
        _Pragma(\"omp parallel num_threads(3) reduction(+: sum, same, fresh)\")\n\
        { sum += bump(); same += address() == &shared_one; shared_one++; fresh += (int)shared_one; }\n\
        printf(\"%d %d %d %d %ld\\n\", sum, same, fresh, other(), shared_one); return 0; }\n";
    p.compile("main.bc", main, &["-fopenmp"])?;
    let models = [
        "global-dynamic",
        "local-dynamic",
        "initial-exec",
        "local-exec",
    ];
    for (i, model) in models.iter().enumerate() {
        let flag = format!("-ftls-model={model}");
        let pic = if i < 3 { "-fPIC" } else { "-fPIE" };
        p.compile("member.o", member, &[&flag, pic])?;
        p.archive("libparts.a", &["member.o"])?;
        // The first thread's second call returns 9 + 2 + 1, the others' first 8 + 1 + 1.
        p.prints(&["-L.", "-lparts", "main.bc"], "32 3 123 1040 41\n")
            .map_err(|e| format!("{model}: {e}"))?;
    }
    Ok(())
}

/// Checks exceptions thrown in a member and caught in the program, and the reverse, with cleanups.
fn exceptions() -> Result<(), String> {
    let p = Place::new("exceptions")?;
    let member = "#include <stdexcept>\n#include <string>\n#include <vector>\n#include <cstdio>\n\
        struct Note { const char *w; ~Note() { std::printf(\"note %s\\n\", w); } };\n\
        int call(int (*f)(int), int n) { Note note{\"call\"}; return f(n) + 1; }\n\
        int fail(int n) { Note note{\"fail\"}; if (n > 1) throw std::out_of_range(std::string(n, 'x')); return n; }\n\
        int safe(int (*f)(int)) { std::vector<int> v{1, 2}; try { return f(5) + v.at(1); } catch (int i) { return i + v.at(0); } }\n";
    p.compile("member.o", member, &[])?;
    p.archive("libparts.a", &["member.o"])?;
    let main = "#include <stdexcept>\n#include <cstdio>\n\
        int call(int (*)(int), int); int fail(int); int safe(int (*)(int));\n\
        static int thrower(int n) { if (n > 3) throw n * 10; return n; }\n\
        int main() { std::printf(\"%d\\n\", call(thrower, 2)); try { call(thrower, 4); } catch (int i) { std::printf(\"int %d\\n\", i); }\n\
        try { call(fail, 3); } catch (const std::exception &e) { std::printf(\"%s\\n\", e.what()); }\n\
        std::printf(\"%d\\n\", safe(thrower)); return 0; }\n";
    p.compile("main.bc", main, &[])?;
    let expected = "note call\n3\nnote call\nint 40\nnote fail\nnote call\nxxx\n51\n";
    p.prints(&["-L.", "-lparts", "main.bc"], expected)
}

/// Checks that directives in a member use ompvm's runtime, whose threads are the program's.
fn openmp() -> Result<(), String> {
    let p = Place::new("openmp")?;
    let member = "#include <omp.h>\nint total(int n) { int s = 0;\n\
        #pragma omp parallel for reduction(+: s) schedule(dynamic, 2)\n\
        for (int i = 0; i < n; i++) s += i + 1000 * (omp_get_num_threads() != 3);\nreturn s; }\n\
        int inside(void) { return omp_get_thread_num() * 10 + omp_get_level(); }\n";
    p.compile("member.o", member, &["-fopenmp"])?;
    p.archive("libparts.a", &["member.o"])?;
    let main = "#include <stdio.h>\nint total(int); int inside(void);\nint main(void) { int s = 0;\n\
        #pragma omp parallel num_threads(3) reduction(+: s)\n s += inside();\n\
        printf(\"%d %d\\n\", total(100), s); return 0; }\n";
    p.compile("main.bc", main, &["-fopenmp"])?;
    p.prints(&["-L.", "-lparts", "main.bc"], "4950 33\n")?;
    let update = "void __tgt_interop_get(void);\nvoid update(void) { __tgt_interop_get(); }\n";
    p.compile("update.o", update, &["-fopenmp"])?;
    p.archive("libupdate.a", &["update.o"])?;
    p.compile(
        "updates.bc",
        "void update(void); int main(void) { update(); return 0; }\n",
        &[],
    )?;
    p.refuses(
        &["-L.", "-lupdate", "updates.bc"],
        &["__tgt_interop_get", "libupdate.a(update.o)"],
    )
}

/// Checks bitcode members, with native ones that need them and that they need.
fn bitcode() -> Result<(), String> {
    let p = Place::new("bitcode")?;
    p.compile(
        "low.bc",
        "int high(int); int low(int x) { return x ? high(x - 1) + 1 : 0; }\n",
        &[],
    )?;
    p.compile(
        "high.o",
        "int low(int); int high(int x) { return low(x) + 10; }\n",
        &[],
    )?;
    p.compile(
        "unused.bc",
        "int main(void) { return 9; }\nint unused;\n",
        &[],
    )?;
    p.archive("libparts.a", &["unused.bc", "low.bc", "high.o"])?;
    let main = "#include <stdio.h>\nint low(int); int main(void) { printf(\"%d\\n\", low(3)); return 0; }\n";
    p.compile("main.bc", main, &[])?;
    p.prints(&["-L.", "-lparts", "main.bc"], "33\n")?;
    let mut compile = Command::new(ompvm());
    compile
        .current_dir(&p.0)
        .env("OMPVM_CACHE_DIR", p.0.join("cache"));
    let ran = run(
        compile.args(["compile", "-L.", "-lparts", "main.bc"]),
        "",
        LIMIT,
    )?;
    match ran.end {
        End::Exit(0) => Ok(()),
        _ => Err(format!(
            "compiling with the archive failed: {}",
            ran.summary()
        )),
    }
}

/// Checks that native objects and shared libraries are files of a program as bitcode is; other
/// words of a link line are ignored.
fn objects() -> Result<(), String> {
    let p = Place::new("objects")?;
    let leaf = "int count;\n__attribute__((constructor)) static void first(void) { count = 40; }\n\
        int leaf(void) { int n = 0;\n#pragma omp parallel reduction(+ : n)\nn++;\n\
        return count + (n > 0); }\n";
    p.compile("leaf.o", leaf, &["-fopenmp", "-fPIC"])?;
    p.compile("leaf.bc", leaf, &["-fopenmp"])?;
    p.compile(
        "back.o",
        "int of_guest(int);\nint back(int x) { return of_guest(x) + 1; }\n",
        &["-fPIC"],
    )?;
    // Nothing refers to it: it is linked for its constructor.
    let alone = "#include <stdio.h>\n__attribute__((constructor)) static void f(void) { puts(\"alone\"); }\n";
    p.compile("alone.o", alone, &["-fPIC"])?;
    p.compile("shared.o", "int leaf(void) { return 7; }\n", &["-fPIC"])?;
    p.tool("clang", &["-shared", "-o", "libshared.so", "shared.o"])?;
    let main = "#include <stdio.h>\nint leaf(void); int back(int);\n\
        int of_guest(int x) { return x * 10; }\n\
        int main(void) { printf(\"%d %d\\n\", leaf(), back(3)); return 0; }\n";
    p.compile("main.bc", main, &[])?;
    let back = ["--with", "back.o"];
    let with = |more: &[&'static str]| [&back[..], more, &["main.bc"]].concat();
    p.prints(&with(&["--with", "leaf.o"]), "41 31\n")?;
    p.prints(&with(&["--with", "leaf.bc"]), "41 31\n")?;
    p.prints(&with(&["--with", "libshared.so"]), "7 31\n")?;
    p.prints(
        &with(&["--with", "alone.o", "--with", "leaf.o"]),
        "alone\n41 31\n",
    )?;
    p.archive("libleaf.a", &["leaf.bc"])?;
    p.prints(&with(&["--with", "libleaf.a"]), "41 31\n")?;
    let words = [
        "-pthread",
        "-rdynamic",
        "-O3",
        "-Wl,--as-needed,-z,relro",
        "-Wl,-rpath,.",
        "-lm",
        "-L.",
        "-l:libshared.so",
    ];
    p.prints(&with(&words), "7 31\n")?;
    p.refuses(&["main.bc"], &["`leaf`", "`back`", "--with FILE"])?;
    p.refuses(&["leaf.o"], &["leaf.o", "native ELF file"])?;
    for word in [
        "-Wl,--wrap=malloc",
        "-Wl,--defsym=a=b",
        "-Wl,--whole-archive",
    ] {
        let ran = p.ran("--tier=interp", &[word, "main.bc"])?;
        if ran.end != End::Exit(2) || !ran.stderr.contains("linker option") {
            return Err(format!("{word} should be refused: {}", ran.summary()));
        }
    }
    Ok(())
}

/// Checks programs read from the standard input.
fn standard_input() -> Result<(), String> {
    let p = Place::new("standard_input")?;
    let main = "#include <stdio.h>\nint main(int c, char **v) { printf(\"%d %s\\n\", c, v[c - 1]); return c; }\n";
    p.compile("main.bc", main, &[])?;
    p.tool("llvm-dis", &["main.bc", "-o", "main.ll"])?;
    for file in ["main.bc", "main.ll"] {
        for words in [
            &["run", "-", "x"][..],
            &["-", "x"],
            &["run", "--tier=opt", "-", "--", "x"],
        ] {
            let input = std::fs::File::open(p.0.join(file)).map_err(|e| e.to_string())?;
            let mut command = Command::new(ompvm());
            let output = command.args(words).stdin(input).output();
            let output = output.map_err(|e| e.to_string())?;
            if output.status.code() != Some(2) || output.stdout != b"2 x\n" {
                return Err(format!("{words:?} < {file}: {output:?}"));
            }
        }
    }
    Ok(())
}

/// Checks that a program of libc++ catches by type, no matter how the library is linked:
/// implicitly, by name, from archives, in any order, and with a native library that throws its own
/// classes.
fn libcpp() -> Result<(), String> {
    let p = Place::new("libcpp")?;
    let flags = ["-stdlib=libc++"];
    let main = "#include <stdexcept>\n#include <cstdio>\n#include <string>\n#include <vector>\n#include <exception>\n\
        struct E { int k; }; struct F : std::runtime_error { F() : std::runtime_error(\"f\") {} };\n\
        static char *volatile memory;\n\
        [[gnu::noinline]] static void f(int n) {\n\
        if (n == 0) throw E{3}; if (n == 1) throw F(); if (n == 2) (void)std::stoi(\"x\");\n\
        if (n == 3) std::vector<int>(2).at(n); if (n == 4) throw std::string(\"s\");\n\
        if (n == 5) memory = new char[~0ul / 4 + n]; if (n == 6) throw \"text\"; }\n\
        [[gnu::noinline]] static std::exception_ptr keep(int n) {\n\
        try { f(n); return nullptr; } catch (...) { return std::current_exception(); } }\n\
        int main() { for (int n = 0; n < 8; n++) for (int again = 0; again < 2; again++) try {\n\
        if (!again) f(n); else if (auto e = keep(n)) std::rethrow_exception(e); }\n\
        catch (const E &e) { std::printf(\"E%d \", e.k); }\n\
        catch (const std::invalid_argument &) { std::printf(\"invalid \"); }\n\
        catch (const std::logic_error &) { std::printf(\"logic \"); }\n\
        catch (const std::runtime_error &e) { std::printf(\"%s \", e.what()); }\n\
        catch (const std::bad_alloc &) { std::printf(\"bad_alloc \"); }\n\
        catch (const std::string &s) { std::printf(\"%s \", s.c_str()); }\n\
        catch (const char *s) { std::printf(\"%s \", s); }\n\
        catch (...) { std::printf(\"? \"); } std::puts(\"\"); }\n";
    p.compile("main.bc", main, &flags)?;
    let expected = "E3 E3 f f invalid invalid logic logic s s bad_alloc bad_alloc text text \n";
    let lib = llvm_bin().with_file_name("lib");
    let file = |name: &str| lib.join(name).display().to_string();
    let (folder, cpp, abi) = (file(""), file("libc++.a"), file("libc++abi.a"));
    let ways: [&[&str]; 10] = [
        &["main.bc"],
        &["-lc++", "main.bc"],
        &["-L", &folder, "-l", "c++", "-l", "c++abi", "main.bc"],
        &["-L", &folder, "-l", "c++abi", "-l", "c++", "main.bc"],
        &["-L", &folder, "-l:libc++.a", "main.bc"],
        &["--with", &cpp, "main.bc"],
        &["--with", &cpp, "--with", &abi, "main.bc"],
        &["--with", &abi, "--with", &cpp, "main.bc"],
        &["--with", &cpp, "-lc++abi", "main.bc"],
        &["--with", &abi, "-L", &folder, "-lc++", "main.bc"],
    ];
    for way in ways {
        p.prints(way, expected)
            .map_err(|why| format!("{way:?}: {why}"))?;
    }
    let shared = "#include <stdexcept>\n\
        struct Shared { int k; virtual ~Shared() {} }; struct More : Shared {};\n\
        extern \"C\" void native(void (*f)(int), int n) {\n\
        if (n < 2) { More more; more.k = n; throw more; }\n\
        try { f(n); } catch (const Shared &s) { throw std::range_error(\"native\"); } }\n";
    p.compile("shared.o", shared, &["-stdlib=libc++", "-fPIC"])?;
    p.tool(
        "clang++",
        &[
            "-shared",
            "-stdlib=libc++",
            "-o",
            "libshared.so",
            "shared.o",
        ],
    )?;
    let user = "#include <stdexcept>\n#include <cstdio>\n\
        struct Shared { int k; virtual ~Shared() {} }; struct More : Shared {};\n\
        extern \"C\" void native(void (*f)(int), int n);\n\
        static void back(int n) { if (n == 2) throw More(); if (n == 3) throw n; }\n\
        int main() { for (int n = 0; n < 5; n++) try { native(back, n); std::printf(\"none \"); }\n\
        catch (const Shared &s) { std::printf(\"Shared%d \", s.k); }\n\
        catch (const std::runtime_error &e) { std::printf(\"%s \", e.what()); }\n\
        catch (int n) { std::printf(\"int%d \", n); } std::puts(\"\"); }\n";
    p.compile("user.bc", user, &flags)?;
    let expected = "Shared0 Shared1 native int3 none \n";
    p.prints(&["-L.", "-lshared", "user.bc"], expected)?;
    p.prints(&["-lc++", "-L.", "-lshared", "user.bc"], expected)
}

/// Checks that a later run takes the linked members from the cache without reading the archive, but
/// not if the archive, the libraries or the cached file changed.
fn kept() -> Result<(), String> {
    let p = Place::new("kept")?;
    let _ = std::fs::remove_dir_all(p.0.join("cache"));
    let member = |n: i32| {
        format!(
            "int of_guest(int); static int x = {n}; int *p = &x; static _Thread_local int t = 5;\n\
             __attribute__((constructor)) static void begin(void) {{ x += 1; }}\n\
             int f(int n) {{ t += n; return of_guest(*p) + t; }}\n"
        )
    };
    let main = "#include <stdio.h>\nint f(int); int of_guest(int n) { return n * 100; }\n\
        int main(void) { int s = 0;\n#pragma omp parallel num_threads(2) reduction(+ : s)\ns += f(2);\n\
        printf(\"%d\\n\", s); return 0; }\n";
    p.compile("main.bc", main, &["-fopenmp"])?;
    let make = |n: i32| -> Result<(), String> {
        p.compile("member.o", &member(n), &["-fPIC"])?;
        p.archive("libmember.a", &["member.o"])
    };
    let prints = |tier: &str, expected: &str| -> Result<(), String> {
        let mut command = Command::new(ompvm());
        command
            .current_dir(&p.0)
            .env("OMPVM_CACHE_DIR", "cache")
            .args(["run", tier, "-L.", "-lmember", "main.bc"]);
        let ran = run(&mut command, "", LIMIT)?;
        match ran.end {
            End::Exit(0) if ran.stdout == expected => Ok(()),
            _ => Err(format!("should print {expected:?}: {}", ran.summary())),
        }
    };
    make(1)?;
    for tier in ["--tier=auto", "--tier=auto", "--tier=opt", "--tier=interp"] {
        prints(tier, "414\n")?;
    }
    let folders = std::fs::read_dir(p.0.join("cache")).map_err(|e| e.to_string())?;
    let mut files = folders.flatten().map(|f| f.path().join("members.so"));
    let object = files
        .find(|f| f.exists())
        .ok_or("no members are in the cache")?;
    // The cached object must be the one that is loaded.
    let mut bytes = std::fs::read(&object).map_err(|e| e.to_string())?;
    for at in (0..bytes.len()).step_by(64) {
        bytes[at] ^= 0x55;
    }
    std::fs::write(&object, &bytes).map_err(|e| e.to_string())?;
    prints("--tier=auto", "414\n")?;
    std::fs::write(&object, &bytes[..100]).map_err(|e| e.to_string())?;
    prints("--tier=auto", "414\n")?;
    std::fs::remove_file(&object).map_err(|e| e.to_string())?;
    prints("--tier=auto", "414\n")?;
    // An object and a table of different writers, and an empty table.
    let table = object.with_file_name("members");
    std::fs::copy(&table, &object).map_err(|e| e.to_string())?;
    prints("--tier=auto", "414\n")?;
    std::fs::write(&table, b"").map_err(|e| e.to_string())?;
    prints("--tier=auto", "414\n")?;
    // The same file name is another archive if its members are others.
    make(2)?;
    for tier in ["--tier=auto", "--tier=interp"] {
        prints(tier, "614\n")?;
    }
    let start = |limit: &str| {
        let words = "run -L. -lmember main.bc";
        let script = format!("{limit} exec {} {words}", ompvm().display());
        let mut command = Command::new("sh");
        command.current_dir(&p.0).args(["-c", &script]);
        command.env("OMPVM_CACHE_DIR", "cache");
        command.stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped()).spawn()
    };
    // Many runs at once with an empty cache, then a run that uses their entries but may write no
    // file. Without the entries, that run has no memory for the members.
    let _ = std::fs::remove_dir_all(p.0.join("cache"));
    for limits in [&[""; 6][..], &[""; 6], &["ulimit -f 1;"]] {
        let started: Result<Vec<_>, _> = limits.iter().map(|limit| start(limit)).collect();
        for child in started.map_err(|e| e.to_string())? {
            let output = child.wait_with_output().map_err(|e| e.to_string())?;
            if !output.status.success() || output.stdout != b"614\n" {
                return Err(format!("{limits:?}: {output:?}"));
            }
        }
    }
    let _ = std::fs::remove_dir_all(p.0.join("cache"));
    let child = start("ulimit -f 1;").map_err(|e| e.to_string())?;
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(125) || !stderr.contains("ulimit -f") {
        return Err(format!("should name the limit: {output:?}"));
    }
    Ok(())
}

/// Checks that the message about an unlinkable member names it.
fn refused() -> Result<(), String> {
    let p = Place::new("refused")?;
    p.compile(
        "main.bc",
        "int f(int); int main(void) { return f(1); }\n",
        &[],
    )?;
    let fixed = "int t[9]; int f(int x) { return t[x]; }\n";
    p.compile(
        "fixed.o",
        fixed,
        &["-fno-pie", "-fno-pic", "-mcmodel=small"],
    )?;
    p.archive("libfixed.a", &["fixed.o"])?;
    p.refuses(
        &["-L.", "-lfixed", "main.bc"],
        &["libfixed.a(fixed.o)", "-fPIC"],
    )?;
    p.compile(
        "needs.o",
        "int nowhere(int); int f(int x) { return nowhere(x); }\n",
        &[],
    )?;
    p.archive("libneeds.a", &["needs.o"])?;
    p.refuses(
        &["-L.", "-lneeds", "main.bc"],
        &["`nowhere`", "libneeds.a(needs.o)"],
    )?;
    std::fs::write(p.0.join("libbad.a"), b"!<arch>\nrubbish").map_err(|e| e.to_string())?;
    p.refuses(&["-L.", "-lbad", "main.bc"], &["libbad.a", "archive"])
}

/// A file that another process truncates meanwhile is read whole or refused, and no signal comes.
fn truncated() -> Result<(), String> {
    use std::sync::atomic::{AtomicBool, Ordering};
    let p = Place::new("truncated")?;
    p.compile("large.o", "char large[8 << 20] = {1};\n", &[])?;
    let f = "extern char large[]; int f(void) { return large[0] + large[8000000]; }\n";
    p.compile("f.o", f, &["-fPIC"])?;
    p.compile(
        "g.bc",
        "int f(void); int g(void) { return f() + 40; }\n",
        &[],
    )?;
    let main =
        "#include <stdio.h>\nint g(void); int main(void) { printf(\"%d\\n\", g()); return 0; }\n";
    p.compile("main.bc", main, &[])?;
    p.archive("libg.a", &["g.bc", "f.o", "large.o"])?;
    let path = p.0.join("libg.a");
    let whole = std::fs::read(&path).map_err(|e| e.to_string())?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let pause = std::time::Duration::from_millis(3);
            while !stop.load(Ordering::Relaxed) {
                if let Ok(file) = std::fs::File::options().write(true).open(&path) {
                    let _ = file.set_len(200);
                }
                std::thread::sleep(pause);
                let _ = std::fs::write(&path, &whole);
                std::thread::sleep(pause);
            }
        });
        let args = ["--no-cache", "--with", "libg.a", "main.bc"];
        let check = || {
            let ran = p.ran("--tier=interp", &args)?;
            let right = ran.end == End::Exit(0) && ran.stdout == "41\n";
            let said = ran.end == End::Exit(125) && ran.stderr.contains("ompvm: ");
            match right || said {
                true => Ok(()),
                false => Err(format!("should be right or refused: {}", ran.summary())),
            }
        };
        let all = (0..20).try_for_each(|_| check());
        stop.store(true, Ordering::Relaxed);
        all
    })
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    type Check = fn() -> Result<(), String>;
    let checks: [(&str, Check); 12] = [
        ("objects", objects),
        ("standard_input", standard_input),
        ("naming", naming),
        ("parts", parts),
        ("thread_locals", thread_locals),
        ("exceptions", exceptions),
        ("openmp", openmp),
        ("bitcode", bitcode),
        ("libcpp", libcpp),
        ("kept", kept),
        ("refused", refused),
        ("truncated", truncated),
    ];
    checks
        .into_iter()
        .map(|(name, check)| Trial::test(format!("archives/{name}"), move || Ok(check()?)))
        .collect()
}
