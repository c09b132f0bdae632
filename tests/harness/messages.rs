//! Messages as JSON: each line of standard error is one object with the fields of
//! docs/src/messages.md; and colours, which only a terminal gets.
//!
//! The table of kinds is compared with the page by a unit test of `support::message`.

use crate::compile;
use crate::run::{End, LIMIT, Ran, run};
use crate::{ompvm, root};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use std::process::Command;

/// Divides by zero in a region of one thread or of three, on the thread of the highest number.
const DIVIDE: &str = "#include <omp.h>
volatile int zero;
int quotient[4];
__attribute__((noinline)) static int divide(int n) {
  return 10 / zero + n;
}
int main(int argc, char **argv) {
#pragma omp parallel num_threads(argc == 1 ? 1 : 3)
  {
#pragma omp barrier
    int n = omp_get_thread_num();
    if (n + 1 == omp_get_num_threads())
      quotient[n] = divide(n) + 1;
#pragma omp barrier
  }
  return quotient[0];
}
";

/// Faults on thread 1 of a region in another function than `main`, in one of the ways of the
/// argument.
const FAULTS: &str = "#include <omp.h>
#include <stdlib.h>
volatile int zero;
static void fail(int how) {
  switch (how) {
  case 'a': abort();
  case 'e': throw 7;
  default: *(volatile int *)8 = zero;
  }
}
static void work(int how, int threads) {
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == threads - 1)
      fail(how);
#pragma omp barrier
  }
}
int main(int argc, char **argv) {
  if (argv[1][0] == 'o')
    fail(0);
  work(argv[1][0], argc == 3 ? 1 : 2);
}
";

const DEADLOCK: &str = "#include <omp.h>
omp_lock_t guard;
int main(void) {
  omp_init_lock(&guard);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0)
      omp_set_lock(&guard);
#pragma omp barrier
    if (omp_get_thread_num() == 1)
      omp_set_lock(&guard);
#pragma omp barrier
  }
}
";

const UNRESOLVED: &str = "int missing(void);
int main(void) { return missing(); }
";

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("messages/json/input", || Ok(input()?)),
        Trial::test("messages/json/usage", || Ok(usage()?)),
        Trial::test("messages/json/unresolved", || Ok(unresolved()?)),
        Trial::test("messages/json/limit", || Ok(limit()?)),
        Trial::test("messages/json/deadlock", || Ok(deadlock()?)),
        Trial::test("messages/json/cell", || Ok(cell()?)),
        Trial::test("messages/json/panic", || Ok(panic()?)),
        Trial::test("messages/json/setting", || Ok(setting()?)),
        Trial::test("messages/color/pipe", || Ok(color_on_a_pipe()?)),
        Trial::test("messages/color/terminal", || Ok(color_on_a_terminal()?)),
    ];
    for tier in ["interp", "baseline", "opt"] {
        let name = format!("messages/json/{tier}/regions");
        trials.push(Trial::test(name, move || Ok(regions(tier)?)));
        for arguments in [&[][..], &["more"]] {
            let name = format!("messages/json/{tier}/fault_{}", arguments.len());
            let check = move || -> Result<(), Failed> { Ok(fault(tier, arguments)?) };
            trials.push(Trial::test(name, check));
        }
    }
    trials
}

fn guest(name: &str, text: &str) -> Result<String, String> {
    let source = compile::source("messages", name, text)?;
    let flags = ["-O1", "-g", "-fopenmp"].map(str::to_owned);
    let bitcode = compile::bitcode(&source, &flags)?;
    Ok(bitcode.display().to_string())
}

fn json(words: &[&str]) -> Result<(Ran, Vec<Value>), String> {
    let mut command = Command::new(ompvm());
    command.arg("--message-format=json").args(words);
    parsed(&mut command)
}

/// Runs a command, each of whose lines on standard error must be an object.
fn parsed(command: &mut Command) -> Result<(Ran, Vec<Value>), String> {
    command.current_dir(root());
    let ran = run(command, "", LIMIT)?;
    let lines = ran.stderr.lines().map(|line| {
        let value: Value = serde_json::from_str(line).map_err(|e| format!("{e}: {line}"))?;
        for field in ["level", "kind", "blame", "message", "remedy"] {
            if !value[field].is_string() {
                return Err(format!("no {field}: {line}"));
            }
        }
        Ok(value)
    });
    let lines: Result<Vec<_>, _> = lines.collect();
    Ok((ran, lines?))
}

fn expect(value: &Value, field: &str, wanted: impl Into<Value>) -> Result<(), String> {
    let wanted = wanted.into();
    match value.pointer(field) {
        Some(found) if *found == wanted => Ok(()),
        found => Err(format!("{field} is {found:?} instead of {wanted}: {value}")),
    }
}

fn input() -> Result<(), String> {
    let (_, lines) = json(&["missing.bc"])?;
    expect(&lines[0], "/kind", "input")?;
    expect(&lines[0], "/blame", "caller")?;
    expect(&lines[0], "/place/file", "missing.bc")?;
    expect(&lines[0], "/status", 125)
}

fn usage() -> Result<(), String> {
    let mut command = Command::new(ompvm());
    command
        .env("OMPVM_MESSAGE_FORMAT", "json")
        .arg("--nonsense");
    let (_, lines) = parsed(&mut command)?;
    expect(&lines[0], "/kind", "usage")?;
    expect(&lines[0], "/status", 2)
}

fn unresolved() -> Result<(), String> {
    let file = guest("unresolved.c", UNRESOLVED)?;
    let (_, lines) = json(&["run", &file])?;
    expect(&lines[0], "/kind", "unresolved")?;
    expect(&lines[0], "/status", 125)?;
    let text = lines[0]["message"].as_str().unwrap_or_default();
    match text.contains("missing") {
        true => Ok(()),
        false => Err(text.to_owned()),
    }
}

/// Too little memory for ompvm itself, or for the threads of the guest.
fn limit() -> Result<(), String> {
    let file = guest("divide.c", DIVIDE)?;
    let mut kinds = Vec::new();
    for kilobytes in [76_000, 82_000, 88_000, 112_000, 136_000] {
        // The system's loader and the shell may have messages of their own.
        let script = format!(
            "ulimit -c 0; ulimit -v {kilobytes}; (\"$@\"; :) 2>&1 >/dev/null | grep '^{{' >&2"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).arg(ompvm());
        command.args(["run", "--no-cache", "--message-format=json", &file, "more"]);
        let (_, lines) = parsed(&mut command)?;
        kinds.extend(lines.iter().map(|line| line["kind"].to_string()));
    }
    match kinds.iter().any(|kind| kind != "\"guest-fault\"") {
        true => Ok(()),
        false => Err(format!("{kinds:?}")),
    }
}

fn deadlock() -> Result<(), String> {
    let file = guest("deadlock.c", DEADLOCK)?;
    let (_, lines) = json(&["run", "--watchdog=0.5", &file])?;
    expect(&lines[0], "/kind", "deadlock")?;
    expect(&lines[0], "/status", 125)?;
    let threads: Vec<_> = lines[1..]
        .iter()
        .filter(|l| l["kind"] == "thread")
        .collect();
    if threads.len() != 2 {
        return Err(format!("{} threads", threads.len()));
    }
    for (number, thread) in threads.into_iter().enumerate() {
        let region = thread["region"].as_str().unwrap_or_default();
        if !region.contains("deadlock.c:5 in `main`") || thread["thread"].as_u64() > Some(1) {
            return Err(format!("thread {number}: {thread}"));
        }
        if thread["backtrace"].as_array().is_none_or(Vec::is_empty) {
            return Err(format!("no frames: {thread}"));
        }
    }
    Ok(())
}

/// A fault, an abort and an exception name the region and the thread; outside of regions there is
/// none.
fn regions(tier: &str) -> Result<(), String> {
    let file = guest("faults.cpp", FAULTS)?;
    let tier = format!("--tier={tier}");
    let one = |arguments: &[&str]| -> Result<Value, String> {
        // The C++ library has a line of its own about an exception.
        let script = "(\"$@\"; :) 2>&1 >/dev/null | grep '^{' >&2";
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(ompvm());
        command.args(["--message-format=json", "run", &tier, &file]);
        let (_, mut lines) = parsed(command.args(arguments))?;
        lines.retain(|line| line["kind"] != "note");
        match &lines[..] {
            [line] => Ok(line.clone()),
            _ => Err(format!("{} messages", lines.len())),
        }
    };
    for (how, kind) in [
        ("fault", "guest-fault"),
        ("abort", "guest-fault"),
        ("exception", "uncaught-exception"),
    ] {
        for more in [&[][..], &["alone"]] {
            let line = one(&[&[how], more].concat())?;
            expect(&line, "/kind", kind)?;
            expect(&line, "/thread", if more.is_empty() { 1 } else { 0 })?;
            let region = line["region"].as_str().unwrap_or_default();
            if !region.starts_with("parallel region at ")
                || !region.contains("faults.cpp:12 in `")
                || !region.contains("work")
            {
                return Err(line.to_string());
            }
        }
    }
    let line = one(&["outside"])?;
    match line.get("region") {
        None => Ok(()),
        Some(_) => Err(line.to_string()),
    }
}

/// A fault that a session contains names its region, too.
fn cell() -> Result<(), String> {
    let text = "int fail(void) { return *(volatile int *)8; }\n\
                #pragma omp parallel num_threads(2)\nfail();\n";
    let cell = compile::source("messages", "cell.txt", text)?;
    let (_, lines) = json(&["repl", &cell.display().to_string()])?;
    expect(&lines[0], "/kind", "guest-fault")?;
    let region = lines[0]["region"].as_str().unwrap_or_default();
    match region.starts_with("parallel region at ") && region.contains("cell-1:2 in `") {
        true => Ok(()),
        false => Err(lines[0].to_string()),
    }
}

/// A panic of ompvm is one message of its own kind.
fn panic() -> Result<(), String> {
    let file = guest("divide.c", DIVIDE)?;
    let mut command = Command::new(ompvm());
    command.args(["--message-format=json", "run", "--tier=opt", "--no-cache"]);
    command.arg(&file).env("OMPVM_FAIL", "panic:divide");
    let (ran, lines) = parsed(&mut command)?;
    let [line] = &lines[..] else {
        return Err(format!("{} messages: {}", lines.len(), ran.summary()));
    };
    expect(line, "/kind", "defect")?;
    expect(line, "/blame", "ompvm")?;
    expect(line, "/status", 101)?;
    let file = line["place"]["file"].as_str().unwrap_or_default();
    let text = line["message"].as_str().unwrap_or_default();
    match ran.end == End::Exit(101) && text.contains("injected") && file.ends_with(".rs") {
        true => Ok(()),
        false => Err(format!("{line}: {:?}", ran.end)),
    }
}

fn setting() -> Result<(), String> {
    let mut command = Command::new(ompvm());
    command.env("OMPVM_WATCHDOG", "never");
    let (_, lines) = parsed(command.args(["--message-format", "json", "missing.bc"]))?;
    expect(&lines[0], "/level", "warning")?;
    expect(&lines[1], "/level", "error")
}

/// A fault in a region names the line, the frames of the region, and the fork.
fn fault(tier: &str, arguments: &[&str]) -> Result<(), String> {
    let file = guest("divide.c", DIVIDE)?;
    let tier = format!("--tier={tier}");
    let (_, mut lines) = json(&[&["run", &tier, &file], arguments].concat())?;
    // A build may lack the tier, and says so.
    lines.retain(|line| line["kind"] != "note");
    let [line] = &lines[..] else {
        return Err(format!("{} messages", lines.len()));
    };
    expect(line, "/kind", "guest-fault")?;
    expect(line, "/place/line", 5)?;
    expect(line, "/place/function", "divide")?;
    expect(line, "/signal", 8)?;
    expect(line, "/status", 136)?;
    expect(line, "/thread", if arguments.is_empty() { 0 } else { 2 })?;
    let region = line["region"].as_str().unwrap_or_default();
    if !region.contains("divide.c:8 in `main`") {
        return Err(line.to_string());
    }
    let frames = line["backtrace"].as_array().cloned().unwrap_or_default();
    let called = |name: &str, line: u64| {
        let mut frames = frames.iter();
        frames.find(|f| {
            let function = f["function"].as_str().unwrap_or_default();
            function.starts_with(name) && f["line"] == line
        })
    };
    let region = called("main.omp_outlined", 13);
    let fork = called("main", 8);
    match (called("divide", 5), region, fork) {
        (Some(_), Some(_), Some(fork)) => expect(fork, "/forked", true),
        _ => Err(line.to_string()),
    }
}

fn color_on_a_pipe() -> Result<(), String> {
    for (option, colored) in [("--color=auto", false), ("--color=always", true)] {
        let mut command = Command::new(ompvm());
        command.env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
        let ran = run(command.args([option, "missing.bc"]), "", LIMIT)?;
        if ran.stderr.contains("\x1b[1;31mompvm:\x1b[0m ") != colored
            || ran.stderr.contains('\x1b') != colored
        {
            return Err(format!("{option}: {}", ran.summary()));
        }
    }
    Ok(())
}

fn color_on_a_terminal() -> Result<(), String> {
    for (variable, colored) in [("OTHER", true), ("NO_COLOR", false)] {
        let mut command = Command::new("script");
        let line = format!("{} missing.bc", ompvm().display());
        command.args(["-qec", &line, "/dev/null"]);
        command.env_remove("NO_COLOR").env("TERM", "xterm");
        let ran = run(command.env(variable, "1"), "", LIMIT)?;
        if ran.stdout.contains("\x1b[1;31mompvm:\x1b[0m ") != colored {
            return Err(format!("{variable}: {}", ran.summary()));
        }
    }
    Ok(())
}
