//! Dumps of threads at SIGQUIT, and a deadlock in Fortran. The deadlocks in C and C++ are programs of
//! `tests/fail/deadlock`.
//!
//! A dump is asked for once the program has written its line and its other threads sleep, so no test
//! depends on time.

use crate::compile;
use crate::run::{End, LIMIT, run};
use crate::{fortran, ompvm, root};
use libtest_mimic::Trial;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Waits at a barrier, in `read`, for a lock, and in a loop. The last call of the region leaves no frame
/// in optimized code.
const GUEST: &str = "#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

omp_lock_t guard;
volatile int passed;
static void *wait_for_input(void *unused) {
  char c;
  (void)!read(0, &c, 1);
  return unused;
}
__attribute__((noinline)) static void turn(void) {
  for (volatile long i = 0;; i++)
    if (i == 1000)
      puts(\"ready\"), fflush(stdout);
}
static void handle(int signal) { _exit(signal + 4); }
int main(int argc, char **argv) {
  if (argc > 1) signal(SIGQUIT, argv[1][0] == 'h' ? handle : SIG_IGN);
  if (argc > 1 && argv[1][0] == 'i') raise(SIGQUIT), exit(5);
  pthread_t other;
  pthread_create(&other, 0, wait_for_input, 0);
  omp_init_lock(&guard), omp_set_lock(&guard);
#pragma omp parallel num_threads(5)
  switch (omp_get_thread_num()) {
  case 0:
    wait_for_input(0), passed++;
    break;
  case 1:
    omp_set_lock(&guard), passed++;
    break;
  case 2:
    turn(), passed++;
    break;
  case 3:
    {
#pragma omp barrier
      passed++;
    }
    break;
  default:
    omp_set_lock(&guard);
  }
}
";

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for tier in ["interp", "baseline", "opt", "auto"] {
        trials.push(Trial::test(format!("deadlocks/dump/{tier}"), move || {
            Ok(dump(tier)?)
        }));
        trials.push(Trial::test(format!("deadlocks/action/{tier}"), move || {
            Ok(action(tier)?)
        }));
    }
    let missing = !compile::llvm_bin().join("flang").exists();
    let title = match missing {
        false => "deadlocks/fortran",
        true => "deadlocks/fortran (needs the package flang-22)",
    };
    trials.push(Trial::test(title, || Ok(in_fortran()?)).with_ignored_flag(missing));
    trials
}

/// Starts the guest in a tier, with an argument.
fn start(tier: &str, argument: Option<&str>) -> Result<Child, String> {
    let source = compile::source("deadlocks", "threads.c", GUEST)?;
    let flags = ["-O1", "-g", "-fopenmp", "-pthread"].map(str::to_owned);
    let bitcode = compile::bitcode(&source, &flags)?;
    let mut command = Command::new(ompvm());
    command
        .args(["run", &format!("--tier={tier}")])
        .arg(bitcode)
        .args(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let heed_quit = || {
        // SAFETY: `signal` is async-signal-safe. A command that a shell started in the background ignores
        // the signal, and so would the guest.
        unsafe { libc::signal(libc::SIGQUIT, libc::SIG_DFL) };
        Ok(())
    };
    // SAFETY: the closure neither allocates nor locks, so it may run between fork and exec.
    unsafe { command.pre_exec(heed_quit) };
    command.spawn().map_err(|e| e.to_string())
}

/// Waits until so many threads of a process sleep, not counting those of internal work.
fn await_sleepers(process: u32, wanted: usize) -> std::io::Result<()> {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        let mut asleep = 0;
        for task in std::fs::read_dir(format!("/proc/{process}/task"))?.flatten() {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            asleep += usize::from(stat.contains(") S ") && !stat.contains("(ompvm "));
        }
        if asleep >= wanted {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Err(std::io::ErrorKind::TimedOut.into())
}

/// Waits until the guest is ready and `sleepers` of its threads sleep, if `ready`, and sends it
/// SIGQUIT. Returns its end and what it wrote to standard error.
fn quit(mut child: Child, ready: bool, sleepers: usize) -> Result<(ExitStatus, String), String> {
    let mut line = String::new();
    let mut text = String::new();
    let mut work = || -> std::io::Result<ExitStatus> {
        if ready {
            let out = child.stdout.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
            BufReader::new(out).read_line(&mut line)?;
            await_sleepers(child.id(), sleepers)?;
            // SAFETY: signals a child that was not waited for yet.
            unsafe { libc::kill(child.id() as i32, libc::SIGQUIT) };
        }
        let mut error = child.stderr.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
        error.read_to_string(&mut text)?;
        child.wait()
    };
    let end = work().map_err(|e| e.to_string());
    let _ = child.kill();
    Ok((end?, text))
}

/// Checks that SIGQUIT tells where each thread is, and ends the program as natively.
fn dump(tier: &str) -> Result<(), String> {
    let (end, text) = quit(start(tier, None)?, true, 5)?;
    let text = text.replace("target/guests/deadlocks/", "");
    let lines = [
        "ompvm: SIGQUIT: the program's threads are\n",
        "ompvm: thread 0 runs at threads.c:12:",
        // Not its number: a thread that enters a function at the moment may show it twice.
        " main.omp_outlined_debug__ at threads.c:36:",
        "ompvm: thread 1 waits for lock `guard`, held by a thread that is not recorded, at threads.c:33:",
        "ompvm: thread 2 runs at threads.c:1",
        "\n  #0 turn at threads.c:1",
        "ompvm: thread 3 waits at a barrier at threads.c:40:",
        "\n  arrived: thread 3\n",
        "\n  thread 1 waits for lock `guard`\n",
        "\n  thread 2 has not arrived\n",
        "ompvm: thread 4 waits for lock `guard`, held by a thread that is not recorded",
        "of the system is at threads.c:12:",
        "\n  forked at\n",
        " main at threads.c:27:",
    ];
    let missing: Vec<_> = lines.iter().filter(|line| !text.contains(*line)).collect();
    if end.signal() != Some(libc::SIGQUIT) || !missing.is_empty() {
        return Err(format!("{end}; missing: {missing:#?}\n{text}"));
    }
    Ok(())
}

/// Checks that the program's own action for SIGQUIT takes precedence.
fn action(tier: &str) -> Result<(), String> {
    for (argument, ready, status) in [("handle", true, libc::SIGQUIT + 4), ("ignore", false, 5)] {
        let (end, text) = quit(start(tier, Some(argument))?, ready, 0)?;
        // A build without the baseline compiler says so.
        if end.code() != Some(status) || text.contains("SIGQUIT") {
            return Err(format!("{argument}: {end}\n{text}"));
        }
    }
    Ok(())
}

/// Checks the report of a deadlock in Fortran.
fn in_fortran() -> Result<(), String> {
    let source = root().join("tests/fail/deadlock/criticals.f90");
    let args = ["-c", "-emit-llvm", "-o", "program.bc"];
    let dir = fortran::flang(Path::new(&source), "deadlock", "O1", &args)?;
    for tier in ["interp", "baseline", "opt", "auto"] {
        let mut command = Command::new(ompvm());
        command.args(["run", "--watchdog=.5", &format!("--tier={tier}")]);
        command
            .arg(dir.join("program.bc"))
            .env("OMP_NUM_THREADS", "2");
        let ran = run(&mut command, "", LIMIT)?;
        let lines = [
            "ompvm: deadlock: every thread of the program waits, and none can go on",
            "waits in critical `first`, held by thread",
            "waits in critical `second`, held by thread",
            // flang gives the construct the line of the statement before it.
            "criticals.f90:11",
            "criticals.f90:26",
        ];
        if ran.end != End::Exit(125) || lines.iter().any(|line| !ran.stderr.contains(line)) {
            return Err(ran.summary());
        }
    }
    Ok(())
}
