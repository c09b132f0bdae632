//! Errors of the command line itself: one clear message that names file and cause, status 125 (2
//! for wrong usage), never a crash or a backtrace.

use crate::compile::{self, llvm_bin};
use crate::run::{End, LIMIT, Ran, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;

fn scratch() -> Result<PathBuf, String> {
    let dir = root().join("target/guests/cli");
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    Ok(dir)
}

fn write(name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    let path = scratch()?.join(name);
    std::fs::write(&path, bytes).map_err(|e| e.to_string())?;
    Ok(path)
}

/// Compiles a C text to bitcode.
fn guest(name: &str, text: &str) -> Result<PathBuf, String> {
    let source = write(&format!("{name}.c"), text.as_bytes())?;
    compile::bitcode(&source, &["-O1".to_owned()])
}

fn start(args: &[&str]) -> Result<Ran, String> {
    run(
        Command::new(ompvm()).current_dir(scratch()?).args(args),
        "",
        LIMIT,
    )
}

/// Checks for status 125 and one message that contains every one of `words`.
fn refused(path: &Path, words: &[&str]) -> Result<(), String> {
    let ran = start(&["run", &path.to_string_lossy()])?;
    complains(&ran, 125, words)
}

fn complains(ran: &Ran, status: i32, words: &[&str]) -> Result<(), String> {
    if ran.end != End::Exit(status) {
        return Err(format!("should exit with {status}: {}", ran.summary()));
    }
    let text = ran.stderr.to_lowercase();
    if ["panicked", "backtrace", "stack dump"]
        .iter()
        .any(|w| text.contains(w))
    {
        return Err(format!("should not crash: {}", ran.summary()));
    }
    match words.iter().find(|w| !text.contains(&w.to_lowercase())) {
        Some(word) => Err(format!(
            "the message should say `{word}`: {}",
            ran.summary()
        )),
        None => Ok(()),
    }
}

const HELLO: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";

fn flip_bits() -> Result<(), String> {
    let good = std::fs::read(guest("flip", HELLO)?).map_err(|e| e.to_string())?;
    for step in 0..60 {
        let mut bytes = good.clone();
        let at = 4 + (step * 7919) % (bytes.len() - 4);
        bytes[at] ^= 1 << (step % 8);
        let path = write(&format!("flip{step}.bc"), &bytes)?;
        let ran = start(&["run", &path.to_string_lossy()])?;
        // A flipped bit may leave a valid program, but must not crash ompvm.
        let text = ran.stderr.to_lowercase();
        let crashed = ["panicked", "backtrace", "stack dump", "defect of ompvm"];
        if crashed.iter().any(|w| text.contains(w)) || matches!(ran.end, End::TimedOut) {
            return Err(format!("bit {} of byte {at}: {}", step % 8, ran.summary()));
        }
    }
    Ok(())
}

fn truncated() -> Result<(), String> {
    let good = std::fs::read(guest("truncated", HELLO)?).map_err(|e| e.to_string())?;
    for keep in [4, 5, 17, 64, good.len() / 3, good.len() / 2, good.len() - 9] {
        let path = write(&format!("truncated{keep}.bc"), &good[..keep])?;
        refused(&path, &[&format!("truncated{keep}.bc")])?;
    }
    Ok(())
}

/// Checks the standard output of a run with `args`, which must succeed.
fn prints(args: &[&str], expected: &str) -> Result<(), String> {
    let ran = start(args)?;
    if ran.end == End::Exit(0) && ran.stdout == expected {
        return Ok(());
    }
    Err(format!("should print {expected:?}: {}", ran.summary()))
}

/// Checks that `-l` and `-L` find a shared library; without them its function is undefined.
fn libraries() -> Result<(), String> {
    let source = write("answer.c", b"int the_answer(void) { return 42; }\n")?;
    let mut clang = Command::new(llvm_bin().join("clang"));
    clang.current_dir(scratch()?);
    clang.args(["-shared", "-fPIC", "-o", "libanswer.so"]);
    let ran = run(clang.arg(&source), "", LIMIT)?;
    if ran.end != End::Exit(0) {
        return Err(ran.summary());
    }
    let text = "#include <stdio.h>\nint the_answer(void);\n\
        int main(void) { printf(\"%d\\n\", the_answer()); return 0; }\n";
    let bitcode = guest("asks", text)?;
    let bitcode = &*bitcode.to_string_lossy();
    refused(Path::new(bitcode), &["the_answer"])?;
    prints(&["run", "-L", ".", "-l", "answer", bitcode], "42\n")?;
    prints(&["run", "-L.", "-lanswer", bitcode], "42\n")?;
    prints(&["run", "-l", "./libanswer.so", bitcode], "42\n")?;
    complains(&start(&["run", "-lno_such", bitcode])?, 125, &["-lno_such"])
}

/// Checks that `--with` links a second file in.
fn with() -> Result<(), String> {
    let other = guest("other", "int other(void) { return 7; }\n")?;
    let text = "#include <stdio.h>\nint other(void);\n\
        int main(void) { printf(\"%d\\n\", other()); return 0; }\n";
    let first = guest("first", text)?;
    let (first, other) = (first.to_string_lossy(), other.to_string_lossy());
    refused(Path::new(&*first), &["other"])?;
    prints(&["run", "--with", &other, &first], "7\n")
}

/// Checks that `--late` starts a program with unsupported calls, and fails when it reaches them.
fn late() -> Result<(), String> {
    let text = "#include <stdio.h>\nvoid __tgt_interop_get(void);\nint main(int argc, char **argv) {\n\
        puts(\"started\"); fflush(stdout);\nif (argc > 1)\n__tgt_interop_get();\nreturn argv == 0; }\n";
    let source = write("late.c", text.as_bytes())?;
    let bitcode = compile::bitcode(&source, &["-O1".to_owned(), "-fopenmp".to_owned()])?;
    let bitcode = &*bitcode.to_string_lossy();
    refused(
        Path::new(bitcode),
        &["__tgt_interop_get", "late.c:6", "--late"],
    )?;
    prints(&["run", "--late", bitcode], "started\n")?;
    let ran = start(&["run", "--late", bitcode, "x"])?;
    complains(
        &ran,
        125,
        &["not supported", "__tgt_interop_get", "late.c:6"],
    )?;
    if ran.stdout == "started\n" {
        Ok(())
    } else {
        Err(format!("should have started: {}", ran.summary()))
    }
}

/// Checks that threads whose first calls of functions coincide lower each function once.
fn lowered_once() -> Result<(), String> {
    let mut text = String::from("#include <omp.h>\n#include <stdio.h>\nstatic double out[4];\n");
    let mut calls = String::new();
    for i in 0..12 {
        text.push_str(&format!(
            "__attribute__((noinline)) static double f{i}(double *x, long n) {{ double s = {i};\n\
             for (long k = 1; k < n; k++) {{ if (x[0] > s) s -= x[0] * k; else s += k / {}.0; }}\n\
             return s; }}\n",
            i + 2
        ));
        calls.push_str(&format!("out[t] += f{i}(out + t, 5);\n"));
    }
    text.push_str(&format!(
        "int main(int argc, char **argv) {{ (void)argv;\n\
         #pragma omp parallel num_threads(argc > 1 ? 4 : 1)\n\
         {{ int t = omp_get_thread_num();\n{calls} }}\n\
         printf(\"%g\\n\", out[0]); return 0; }}\n"
    ));
    let source = write("lowered_once.c", text.as_bytes())?;
    let bitcode = compile::bitcode(&source, &["-O1".to_owned(), "-fopenmp".to_owned()])?;
    let bitcode = &*bitcode.to_string_lossy();
    let lowered = |more: &[&str]| -> Result<String, String> {
        let ran = start(&[&["run", "--tier=interp", "--stats", bitcode], more].concat())?;
        let line = ran.stderr.lines().find(|l| l.starts_with("lowered: "));
        let functions = line.and_then(|l| l.split(',').next());
        match (&ran.end, functions) {
            (End::Exit(0), Some(functions)) => Ok(functions.to_owned()),
            _ => Err(format!("should count: {}", ran.summary())),
        }
    };
    let (one, four) = (lowered(&[])?, lowered(&["x"])?);
    if one == four {
        Ok(())
    } else {
        Err(format!("one thread: {one}; four threads: {four}"))
    }
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    type Check = fn() -> Result<(), String>;
    let checks: [(&str, Check); 27] = [
        ("lowered_once", lowered_once),
        ("libraries", libraries),
        ("with", with),
        ("late", late),
        ("empty", || {
            refused(&write("empty.bc", b"")?, &["empty.bc", "empty"])
        }),
        ("text", || {
            refused(&write("text.bc", b"hello, this is text\n")?, &["text.bc"])
        }),
        ("elf", || refused(Path::new("/bin/true"), &["true"])),
        ("truncated", truncated),
        ("bit_flips", flip_bits),
        ("directory", || refused(&scratch()?, &["directory"])),
        ("missing_file", || {
            refused(Path::new("nowhere.bc"), &["nowhere.bc", "no such file"])
        }),
        ("wrong_architecture", || {
            let source = write("arm.c", b"int main(void) { return 0; }\n")?;
            let path = scratch()?.join("arm.bc");
            let mut clang = Command::new(llvm_bin().join("clang"));
            clang.args(["--target=aarch64-linux-gnu", "-c", "-emit-llvm", "-o"]);
            let ran = run(clang.arg(&path).arg(&source), "", LIMIT)?;
            if ran.end != End::Exit(0) {
                return Err(ran.summary());
            }
            refused(&path, &["arm.bc", "aarch64"])
        }),
        ("missing_main", || {
            refused(&guest("nomain", "int f(void) { return 1; }\n")?, &["main"])
        }),
        ("unresolved", || {
            let text = "int nowhere_f(void); int nowhere_g(void);\n\
                        int main(void) { return nowhere_f() + nowhere_g(); }\n";
            refused(&guest("unresolved", text)?, &["nowhere_f", "nowhere_g"])
        }),
        ("unreadable", || {
            let path = write("secret.bc", b"BC")?;
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o0))
                .map_err(|e| e.to_string())?;
            // The superuser may read the file; then it is not bitcode, and the message says so.
            refused(&path, &["secret.bc"])
        }),
        ("usage_unknown_option", || {
            complains(&start(&["run", "--nonsense"])?, 2, &["nonsense"])
        }),
        ("usage_no_file", || {
            complains(&start(&["run"])?, 2, &["usage"])
        }),
        ("help", || {
            let ran = start(&["--help"])?;
            let shown = ran.stdout.contains("Examples") && ran.stdout.contains("inspect");
            if ran.end == End::Exit(0) && shown {
                Ok(())
            } else {
                Err(ran.summary())
            }
        }),
        ("run_is_the_default", || {
            let ran = start(&[&guest("default", HELLO)?.to_string_lossy()])?;
            let good = ran.end == End::Exit(0) && ran.stdout == "hello\n";
            if good { Ok(()) } else { Err(ran.summary()) }
        }),
        ("arguments_stdin_status", || {
            let text = "#include <stdio.h>\n#include <stdlib.h>\n\
                int main(int argc, char **argv) { int c, n = 0; while ((c = getchar()) != EOF) n++;\n\
                printf(\"%d %s %s %d\\n\", argc, argv[1], getenv(\"WORD\"), n); return 41; }\n";
            let bitcode = guest("pass_through", text)?;
            let mut command = Command::new(ompvm());
            command
                .arg("run")
                .arg(&bitcode)
                .args(["--", "-x"])
                .env("WORD", "here");
            command.args(["second"]);
            let ran = run(&mut command, "12345", LIMIT)?;
            let good = ran.end == End::Exit(41) && ran.stdout.ends_with("here 5\n");
            if good { Ok(()) } else { Err(ran.summary()) }
        }),
        ("explain", || {
            // One activation that runs until it continues in compiled code, and ends there: long
            // enough for a busy machine.
            let text = "#include <stdio.h>\nint main(int argc, char **argv) {\n\
                volatile unsigned s = 0, i = 0;\n\
                while (i < 400000000u) { i++; s = s * 1664525u + i * (unsigned)argc; }\n\
                printf(\"%u\\n\", i); return 0; }\n";
            let bitcode = guest("explained", text)?;
            let mut command = Command::new(ompvm());
            command.args(["run", "--tier=auto", "--explain", "main"]);
            let ran = run(command.arg(&bitcode), "", LIMIT)?;
            let told = [
                "queued for compilation",
                "a loop runs",
                "compiled for its loop",
            ];
            if ran.end == End::Exit(0) && told.iter().all(|t| ran.stderr.contains(t)) {
                Ok(())
            } else {
                Err(ran.summary())
            }
        }),
        ("explain-eager", || {
            // The function may end before it is compiled.
            let text = "volatile int x;\n__attribute__((noinline)) void hot(void) {\n\
                for (int i = 0; i < 100; i++) x += i; }\n\
                int main(void) { for (int i = 0; i < 400000; i++) hot(); return 0; }\n";
            let bitcode = guest("expected", text)?;
            for (when, told) in [("always", true), ("never", false)] {
                let mut command = Command::new(ompvm());
                command.args(["run", "--tier=auto", "--no-cache", "--explain", "hot"]);
                command.env("OMPVM_AHEAD", when);
                let ran = run(command.arg(&bitcode), "", LIMIT)?;
                let good = ran.stderr.contains("expected to execute") == told;
                if ran.end != End::Exit(0) || !good {
                    return Err(ran.summary());
                }
            }
            Ok(())
        }),
        ("wrong-settings", || {
            // As for OpenMP's variables, the run continues with the default.
            let text = "#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
                int main(int argc, char **argv) {\n\
                if (fork() == 0) exit(0);\nwait(0);\n\
                if (argc > 1) return 7;\n\
                execv(\"/proc/self/exe\", (char *[]){argv[0], \"again\", 0}); return 1; }\n";
            let bitcode = guest("settings", text)?;
            let mut command = Command::new(ompvm());
            command
                .args(["run", "--no-cache"])
                .env("OMPVM_EMULATED_MEMORY", "64Q")
                .env("OMPVM_TARGET_TIMEOUT", "")
                .env("OMPVM_OFFLOAD", "sometimes");
            let ran = run(command.arg(&bitcode), "", LIMIT)?;
            // Once for each of the two programs that the process executes, not for their children.
            let warnings = "ompvm: warning: OMPVM_OFFLOAD=\"sometimes\" is not off, auto or force; \
                using the default (off)\n\
                ompvm: warning: OMPVM_EMULATED_MEMORY=\"64Q\" is not a size such as 64M; \
                using the default (4G)\n";
            match ran.end == End::Exit(7) && ran.stderr == warnings.repeat(2) {
                true => Ok(()),
                false => Err(ran.summary()),
            }
        }),
        ("stats-of-a-short-run", || {
            // The run probably ends while LLVM compiles a large function.
            let text = "#define A x = x * 3 + (x >> y % 7); if (x % 11 == y % 5) y += x ^ i;\n\
                #define B A A A A A A A A\n#define C B B B B B B B B\n\
                #include <stdlib.h>\nvolatile unsigned out;\n\
                int main(void) { unsigned x = 1, y = 2;\n\
                for (unsigned i = 0; i < 6000; i++) { C C C C }\n\
                out = x + y; exit(3); }\n";
            let bitcode = guest("short", text)?;
            for option in [&["--stats"][..], &["--explain", "main"]] {
                let mut command = Command::new(ompvm());
                command
                    .args(["run", "--tier=auto", "--no-cache"])
                    .args(option);
                let ran = run(command.arg(&bitcode), "", LIMIT)?;
                let told = ran.stderr.contains(if option.len() == 1 {
                    "instructions executed"
                } else {
                    "`main`"
                });
                if ran.end != End::Exit(3) || !told {
                    return Err(ran.summary());
                }
            }
            Ok(())
        }),
        ("reports-of-a-program-that-closes-stderr", || {
            // As gnulib's `close_stdout`; then the number is that of a file of the program's own.
            let text = "#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\n\
                int main(int n, char **words) { if (n == 1) return fclose(stderr);\n\
                close(2); int fd = open(words[1], O_CREAT | O_TRUNC | O_WRONLY, 0644);\n\
                return fd != 2 || write(fd, \"data\\n\", 5) != 5; }\n";
            let bitcode = guest("closes", text)?;
            let own = bitcode.with_extension("own");
            for more in [&[][..], &[own.as_os_str()]] {
                let mut command = Command::new(ompvm());
                command.args(["run", "--tier=interp", "--stats"]);
                let ran = run(command.arg(&bitcode).args(more), "", LIMIT)?;
                if ran.end != End::Exit(0) || !ran.stderr.contains("instructions executed") {
                    return Err(ran.summary());
                }
            }
            let data = std::fs::read(&own).map_err(|e| e.to_string())?;
            match data == b"data\n" {
                true => Ok(()),
                false => Err(format!("the program's file has {} bytes", data.len())),
            }
        }),
        ("inspect", || {
            let text = "int main(void) { int s = 0;\n#pragma omp parallel for reduction(+:s)\n\
                for (int i = 0; i < 9; i++) s += i;\n return s != 36; }\n";
            let source = write("inspected.c", text.as_bytes())?;
            let bitcode = compile::bitcode(&source, &["-O1".to_owned(), "-fopenmp".to_owned()])?;
            let ran = start(&["inspect", &bitcode.to_string_lossy()])?;
            let words = ["main", "__kmpc_fork_call", "inspected.c:2"];
            if let Some(word) = words.iter().find(|w| !ran.stdout.contains(**w)) {
                return Err(format!("should list {word}: {}", ran.summary()));
            }
            // Another process reads, unless code is made of the file.
            for (option, apart) in [(None, true), (Some("--offload"), false)] {
                let mut command = Command::new(ompvm());
                command.arg("inspect").args(option).arg(&bitcode);
                let ran = run(command.env("OMPVM_READER", "/nowhere"), "", LIMIT)?;
                if ran.stderr.contains("a process apart: /nowhere") != apart {
                    return Err(ran.summary());
                }
            }
            Ok(())
        }),
        ("inspect_baseline", || {
            let text = "int twice(int n) { return 2 * n; }\nint other(int);\n\
                int main(int argc, char **argv) { return argc > 9 ? other(argc) : twice(argc); }\n";
            let source = write("listed.c", text.as_bytes())?;
            let bitcode = compile::bitcode(&source, &["-O0".to_owned()])?;
            let bitcode = bitcode.to_string_lossy();
            // Everything is resolved, as when the program starts.
            let rest = write("rest.ll", b"define i32 @other(i32 %n) {\n  ret i32 %n\n}\n")?;
            for (function, files, expected) in [
                (
                    "twice",
                    &[&*bitcode, &*rest.to_string_lossy()][..],
                    "twice:\n",
                ),
                (
                    "thrice",
                    &[&*bitcode, &*rest.to_string_lossy()],
                    "it has no function `thrice`",
                ),
                ("twice", &[&*bitcode], "unresolved symbol: `other`"),
            ] {
                let ran = start(&[&["inspect", "--baseline", function], files].concat())?;
                let lists = expected.ends_with('\n');
                let shown = match lists {
                    true => ran.stdout.starts_with(expected),
                    false => ran.stderr.contains(expected),
                };
                if !shown || (ran.end == End::Exit(0)) != lists {
                    return Err(format!(
                        "should say `{}`: {}",
                        expected.trim(),
                        ran.summary()
                    ));
                }
            }
            Ok(())
        }),
    ];
    checks
        .into_iter()
        .map(|(name, check)| Trial::test(format!("cli/{name}"), move || Ok(check()?)))
        .collect()
}
