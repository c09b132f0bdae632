//! The log: its lines are whole and well-formed, whatever the guest does to standard error, to its
//! threads, processes and signals, and no line comes without a filter.
//!
//! Each guest runs in every tier. Names the events that people look for; leaves the rest to change.

use crate::compile;
use crate::ompvm;
use crate::run::{End, LIMIT, Ran, run};
use libtest_mimic::Trial;
use ompvm_support::log::TARGETS;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tiers, as options.
const TIERS: [&str; 4] = ["interp", "baseline", "opt", "auto"];

/// A filter of every event that is one line.
const ALL: &str = "trace,interp::bytecode=off,llvm::ir=off";

/// Functions that are called for the first time on all threads at once.
const THREADS: &str = r#"#include <omp.h>
#include <stdio.h>
#define F(n) __attribute__((noinline)) static int f##n(int x) { return x * n + 1; }
F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9)
int main(void) {
  int sum = 0;
  for (int k = 0; k < 3; k++) {
#pragma omp parallel num_threads(8) reduction(+ : sum)
    {
      int t = omp_get_thread_num();
      int (*const all[])(int) = {f2, f3, f4, f5, f6, f7, f8, f9};
      for (int i = 0; i < 8; i++) sum += all[(t + i) & 7](k);
    }
  }
  printf("%d\n", sum);
}
"#;

/// Closes standard error, or makes it a pipe without a reader, whose signal would end the process.
const CLOSED: &str = r#"#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int sum = 0, ends[2];
  if (argc > 1 && argv[1][0] == 'c') close(2);
  if (argc > 1 && argv[1][0] == 'p') {
    signal(SIGPIPE, SIG_DFL);
    if (pipe(ends) || dup2(ends[1], 2) != 2) return 1;
    close(ends[0]);
    close(ends[1]);
  }
#pragma omp parallel num_threads(4) reduction(+ : sum)
  sum++;
  printf("%d\n", sum);
}
"#;

/// Forks while a second thread works; parent and child each run a region of their own.
const FORK: &str = r#"#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int region(int n) {
  int sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
  sum++;
  return sum;
}
int main(void) {
  int status = 1, before = region(3);
  pid_t child = fork();
  if (child == 0) _exit(region(4) == 4 ? 0 : 1);
  int after = region(5);
  waitpid(child, &status, 0);
  printf("%d %d %d\n", before, after, status);
}
"#;

/// Runs with unmasked floating-point exceptions, and a signal that
/// arrives all the time.
const HOSTILE: &str = r#"#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
static volatile int ticks;
static void tick(int s) { ticks++; }
__attribute__((noinline)) static int region(int n) {
  int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
  sum += n;
  return sum;
}
__attribute__((noinline)) static int called_late(int n) { return n + ticks * 0; }
int main(void) {
  struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
  int sum = region(1);
  errno = 77;
  sum = called_late(sum);
  int same = errno;
  setitimer(ITIMER_REAL, &never, NULL);
  fedisableexcept(FE_ALL_EXCEPT);
  printf("%d %d\n", sum, same);
}
"#;

/// Installs handlers that never run, in each way that the C library has.
const HANDLERS: &str = r#"#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#define F(name) __attribute__((noinline)) static int name(int n) { return n * 3 + last; }
static volatile int last;
F(direct) F(in_table) F(in_structure) F(behind) F(taken) F(with_action) F(with_sysv) F(unreached)
static int (*const behind_pointer[])(int) = {behind};
static int (*table[])(int) = {in_table, in_table};
static struct { int n; int (*run)(int); int (*const *more)(int); } structure = {1, in_structure, behind_pointer};
__attribute__((noinline)) static int apply(int (*f)(int), int n) { return f(n); }
static void first(int s) {
  last = direct(s) + table[s & 1](s) + structure.run(s) + structure.more[0](s) + apply(taken, s);
}
static void second(int s, siginfo_t *i, void *c) { last = with_action(s); }
static void third(int s) { last = with_sysv(s); }
int main(int argc, char **argv) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = second;
  action.sa_flags = SA_SIGINFO;
  signal(SIGUSR1, first);
  sigaction(SIGUSR2, &action, NULL);
  sysv_signal(SIGALRM, third);
  if (argc > 5) unreached(argc);
  puts("installed");
}
"#;

fn guest(name: &str, text: &str, level: &str) -> Result<PathBuf, String> {
    let source = compile::source("log", &format!("{name}.c"), text)?;
    compile::bitcode(&source, &[level.to_owned(), "-fopenmp".to_owned()])
}

/// Runs a guest with a filter in the environment, if any, and a cache of its own.
fn logged(filter: Option<&str>, args: &[&str], cache: &Path) -> Result<Ran, String> {
    let mut command = Command::new(ompvm());
    command.arg("run").args(args);
    command
        .env_remove("OMPVM_LOG")
        .env("OMPVM_CACHE_DIR", cache);
    if let Some(filter) = filter {
        command.env("OMPVM_LOG", filter);
    }
    run(&mut command, "", LIMIT)
}

/// Returns the lines of the log. A build without the baseline compiler says so in a message.
fn lines(ran: &Ran) -> Vec<&str> {
    let message = |line: &&str| !line.starts_with("ompvm: the baseline tier is not used");
    ran.stderr.lines().filter(message).collect()
}

/// Checks one line: `[TIME ms LEVEL TARGET THREAD] text`.
fn is_well_formed(line: &str) -> bool {
    let Some((head, text)) = line.strip_prefix('[').and_then(|l| l.split_once("] ")) else {
        return false;
    };
    let mut words = head.splitn(5, ' ');
    let mut word = || words.next().unwrap_or_default();
    let time = word()
        .split_once('.')
        .is_some_and(|(ms, us)| ms.parse::<u64>().is_ok() && us.len() == 3);
    let unit = word() == "ms";
    let level = ["INFO", "DEBUG", "TRACE"].contains(&word());
    let target = word();
    let target = TARGETS.iter().any(|t| t.name == target);
    time && unit
        && level
        && target
        && !word().is_empty()
        && !text.is_empty()
        && !text.contains(" ms TRACE ")
}

/// Checks output, end, and the form of each line; returns the lines.
fn checked<'r>(ran: &'r Ran, stdout: &str) -> Result<Vec<&'r str>, String> {
    if ran.end != End::Exit(0) || ran.stdout != stdout {
        return Err(format!("should print {stdout:?}: {}", ran.summary()));
    }
    let lines = lines(ran);
    match lines.iter().find(|line| !is_well_formed(line)) {
        Some(line) => Err(format!(
            "not a line of the log: {line:?}\n{}",
            ran.summary()
        )),
        None => Ok(lines),
    }
}

/// Checks that some line has all of these words, in this order.
fn has(lines: &[&str], words: &[&str]) -> Result<(), String> {
    let in_order = |line: &&str| {
        let mut rest = *line;
        words.iter().all(|word| match rest.split_once(word) {
            Some((_, behind)) => {
                rest = behind;
                true
            }
            None => false,
        })
    };
    match lines.iter().any(in_order) {
        true => Ok(()),
        false => Err(format!("no line has {words:?}:\n{}", lines.join("\n"))),
    }
}

/// Calls `check` with each tier and level, and a cache of its own.
fn each(
    name: &str,
    text: &str,
    check: &dyn Fn(&str, &str, &Path) -> Result<(), String>,
) -> Result<(), String> {
    for level in ["-O0", "-O2"] {
        let guest = guest(name, text, level)?;
        for tier in TIERS {
            let cache = tempfile::tempdir().map_err(|e| e.to_string())?;
            let tier = format!("--tier={tier}");
            check(&tier, &guest.to_string_lossy(), cache.path())
                .map_err(|why| format!("{tier} {level}: {why}"))?;
        }
    }
    Ok(())
}

/// Checks the events of tiers and cache, in a first and a second run.
fn events() -> Result<(), String> {
    each("threads", THREADS, &|tier, guest, cache| {
        let filter = Some("tier=debug,cache=debug");
        let first = logged(filter, &[tier, guest], cache)?;
        let lines = checked(&first, "1248\n")?;
        has(&lines, &["INFO tier", "starts the program tier="])?;
        if tier == "--tier=opt" {
            has(&lines, &["DEBUG cache", "miss file=module"])?;
            has(
                &lines,
                &[
                    "DEBUG tier",
                    "callers enter compiled code function=main",
                    "ms=",
                ],
            )?;
            has(&lines, &["DEBUG cache", "stored file=unit-"])?;
            let second = logged(filter, &[tier, guest], cache)?;
            let lines = checked(&second, "1248\n")?;
            has(&lines, &["DEBUG cache", "hit file=module"])?;
            has(
                &lines,
                &["DEBUG tier", "has code from the cache function=main"],
            )?;
        }
        if lines
            .iter()
            .any(|l| !l.contains(" tier") && !l.contains(" cache "))
        {
            return Err(format!("other targets appear: {}", first.summary()));
        }
        Ok(())
    })
}

/// Checks that lines of eight threads do not mix, in a file and in a pipe.
fn threads() -> Result<(), String> {
    each("threads", THREADS, &|tier, guest, cache| {
        let ran = logged(Some(ALL), &[tier, guest], cache)?;
        let lines = checked(&ran, "1248\n")?;
        has(&lines, &["DEBUG kmpc thread 0] created a worker gtid=7"])?;
        let mut shell = Command::new("sh");
        let command = format!(
            "'{}' run {tier} '{guest}' 2>&1 >/dev/null | cat",
            ompvm().display()
        );
        shell.args(["-c", &command]);
        shell.env("OMPVM_CACHE_DIR", cache).env("OMPVM_LOG", ALL);
        let piped = run(&mut shell, "", LIMIT)?;
        let message = |l: &&str| !l.starts_with("ompvm: the baseline tier is not used");
        match piped
            .stdout
            .lines()
            .filter(message)
            .find(|l| !is_well_formed(l))
        {
            Some(line) => Err(format!("not a line of the log: {line:?}")),
            None if piped.stdout.is_empty() => Err("nothing came through the pipe".to_owned()),
            None => Ok(()),
        }
    })
}

/// Checks that a guest without standard error runs as without a log.
fn closed() -> Result<(), String> {
    each("closed", CLOSED, &|tier, guest, cache| {
        for argument in ["", "closed", "pipe"] {
            let ran = logged(Some(ALL), &[tier, guest, argument], cache)?;
            checked(&ran, "4\n").map_err(|why| format!("{argument}: {why}"))?;
        }
        let mut shell = Command::new("sh");
        let command = format!("'{}' run {tier} '{guest}' 2>&-", ompvm().display());
        shell.args(["-c", &command]);
        shell.env("OMPVM_CACHE_DIR", cache).env("OMPVM_LOG", ALL);
        let ran = run(&mut shell, "", LIMIT)?;
        checked(&ran, "4\n").map(|_| ())
    })
}

/// Checks that parent and child of a fork both log.
fn fork() -> Result<(), String> {
    each("fork", FORK, &|tier, guest, cache| {
        for _ in 0..3 {
            let ran = logged(Some(ALL), &[tier, guest], cache)?;
            let lines = checked(&ran, "3 5 0\n")?;
            // The child has none of the parent's workers.
            let created = lines.iter().filter(|l| l.contains("created a worker"));
            if created.count() != 2 + 3 + 2 {
                return Err(format!(
                    "seven workers should be created: {}",
                    ran.summary()
                ));
            }
        }
        Ok(())
    })
}

/// Checks that the log keeps `errno`, and works under traps, limits and signals.
fn hostile() -> Result<(), String> {
    each("hostile", HOSTILE, &|tier, guest, cache| {
        let ran = logged(Some(ALL), &[tier, guest], cache)?;
        checked(&ran, "4 77\n").map(|_| ())
    })
}

/// Checks that installing a handler prepares what it may call.
fn handlers() -> Result<(), String> {
    for level in ["-O0", "-O2"] {
        let guest = guest("handlers", HANDLERS, level)?;
        let cache = tempfile::tempdir().map_err(|e| e.to_string())?;
        let args = ["--tier=interp", &guest.to_string_lossy()];
        let ran = logged(
            Some("interp=trace,interp::bytecode=off"),
            &args,
            cache.path(),
        )?;
        let lines = checked(&ran, "installed\n")?;
        let names = [
            "first",
            "second",
            "third",
            "direct",
            "in_table",
            "in_structure",
            "behind",
            "taken",
            "with_action",
            "with_sysv",
        ];
        for name in names {
            let function = format!("function={name} ");
            has(&lines, &["lowered a function", &function])
                .map_err(|why| format!("{level}: {why}"))?;
        }
        if lines.iter().any(|l| l.contains("function=unreached ")) {
            return Err(format!("`unreached` is prepared: {}", ran.summary()));
        }
    }
    Ok(())
}

/// Checks that a run without a filter prints nothing, and that one of no level is without a line.
fn off() -> Result<(), String> {
    each("threads", THREADS, &|tier, guest, cache| {
        for filter in [
            None,
            Some(""),
            Some("off"),
            Some("info/no such word"),
            Some("llvm=error"),
        ] {
            let ran = logged(filter, &[tier, guest], cache)?;
            let lines = checked(&ran, "1248\n")?;
            if !lines.is_empty() {
                return Err(format!(
                    "{filter:?} should print nothing: {}",
                    ran.summary()
                ));
            }
        }
        Ok(())
    })
}

/// Checks the filter's grammar as users meet it.
fn filters() -> Result<(), String> {
    let guest = guest("threads", THREADS, "-O2")?;
    let guest = &*guest.to_string_lossy();
    let cache = tempfile::tempdir().map_err(|e| e.to_string())?;
    let run = |filter, args: &[&str]| logged(filter, args, cache.path());
    for wrong in ["tyre=debug", "tier=loud", "debgu", "tier=debug=info"] {
        let ran = run(Some(wrong), &["--tier=interp", guest])?;
        let warning = format!("ompvm: warning: OMPVM_LOG={wrong:?} is not LEVEL or TARGET=LEVEL");
        let one = ran.stderr.lines().count() == 1 && ran.stderr.starts_with(&warning);
        if !one || ran.stdout != "1248\n" || !ran.stderr.contains("tier::queue") {
            return Err(format!("{wrong} should get one warning: {}", ran.summary()));
        }
        let ran = run(None, &[&format!("--log={wrong}"), guest])?;
        if ran.end != End::Exit(2) || !ran.stderr.contains("invalid value") {
            return Err(format!("--log={wrong} is wrong usage: {}", ran.summary()));
        }
    }
    // The option comes before the variable.
    let ran = run(
        Some("kmpc"),
        &["--log=interp/function=f7", "--tier=interp", guest],
    )?;
    let lines = checked(&ran, "1248\n");
    let lines = match lines {
        // The listing follows the line.
        Err(_) => ran.stderr.lines().filter(|l| l.starts_with('[')).collect(),
        Ok(lines) => lines,
    };
    has(
        &lines,
        &["TRACE interp ", "lowered a function function=f7", "words="],
    )?;
    has(&lines, &["TRACE interp::bytecode ", "function=f7"])?;
    match lines.iter().all(|l| l.contains("function=f7")) && ran.stderr.contains("f7: ") {
        true => Ok(()),
        false => Err(format!("only f7 should appear: {}", ran.summary())),
    }
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let trial = |name: &str, check: fn() -> Result<(), String>| {
        Trial::test(format!("log/{name}"), move || Ok(check()?))
    };
    vec![
        trial("events", events),
        trial("threads", threads),
        trial("closed_stderr", closed),
        trial("fork", fork),
        trial("traps_signals_errno", hostile),
        trial("handlers_are_prepared", handlers),
        trial("off", off),
        trial("filters", filters),
    ]
}
