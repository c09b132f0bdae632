//! Faults of the system while programs run: no thread, no memory, a full disk, a home that cannot be
//! written to, signals in regions, a writer of the cache that is killed, 200 processes at once.
//!
//! A program's output and status are those of the native run, or one message says what is missing.
//! Nothing hangs: each run has a limit of its own. Compilations that fail are in `failures`, and
//! small limits at the start in `limits`.

use crate::compile;
use crate::ompvm;
use crate::run::{End, Ran, run};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Time limit of one run.
const LIMIT: Duration = Duration::from_secs(30);
const TIERS: [&str; 4] = ["interp", "baseline", "opt", "auto"];

/// Nested regions and tasks in which no thread can be created: the limit is set inside of a region.
const THREADS: &str = r#"
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
int main(void) {
  long sum = 0, tasks = 0, inner = 0;
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2) reduction(+ : sum, inner)
  {
#pragma omp single
    {
      struct rlimit limit = {1, 1};
      setrlimit(RLIMIT_NPROC, &limit);
      if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0)
        _exit(9);
    }
    for (int i = 0; i < 20; i++) {
#pragma omp parallel for num_threads(16) reduction(+ : sum)
      for (int j = 0; j < 1000; j++)
        sum += j;
#pragma omp parallel num_threads(16) reduction(+ : inner)
      {
#pragma omp single
        inner++;
      }
    }
#pragma omp single
    for (int i = 0; i < 100; i++)
#pragma omp task
    {
#pragma omp atomic
      tasks++;
    }
  }
  printf("%ld %ld %ld\n", sum / 499500, inner, tasks);
  return 5;
}
"#;

/// A region that allocates until there is no memory, frees it, and continues.
const MEMORY: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { SIZE = 1 << 20, MOST = 4096 };
int main(void) {
  long sum = 0;
  int short_of = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum, short_of)
  {
    char **blocks = malloc(MOST * sizeof *blocks);
    int count = 0;
    while (blocks && count < MOST && (blocks[count] = malloc(SIZE))) {
      blocks[count][0] = 1;
      count++;
    }
    short_of += count < MOST;
    for (int i = 0; i < count; i++)
      free(blocks[i]);
    free(blocks);
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < 1000; i++)
      sum += i;
  }
  printf("%ld %d\n", sum, short_of > 0);
  return 5;
}
"#;

/// Signals to the process and to each thread, in regions, nested regions, tasks and locks.
const SIGNALS: &str = r#"
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
static volatile long handled;
static void handler(int signal) { __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED); }
int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, 0);
  sigaction(SIGUSR1, &action, 0);
  struct itimerval often = {{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &often, 0);
  omp_set_max_active_levels(2);
  pthread_t threads[3];
  long sum = 0, tasks = 0, locked = 0, rounds = 300;
  omp_lock_t lock;
  omp_init_lock(&lock);
  for (long round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(3) reduction(+ : sum)
    {
      int me = omp_get_thread_num();
      threads[me] = pthread_self();
#pragma omp barrier
      pthread_kill(threads[(me + 1) % 3], SIGUSR1);
#pragma omp for schedule(dynamic, 7)
      for (int i = 0; i < 1000; i++)
        sum += i;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
      for (int i = 0; i < 100; i++)
        sum += i;
      omp_set_lock(&lock);
      locked++;
      omp_unset_lock(&lock);
#pragma omp task
      {
#pragma omp atomic
        tasks++;
      }
      pthread_kill(threads[(me + 2) % 3], SIGUSR1);
    }
  }
  memset(&often, 0, sizeof often);
  setitimer(ITIMER_REAL, &often, 0);
  printf("%ld %ld %ld %d\n", sum / rounds, tasks, locked, handled > rounds);
  return 5;
}
"#;

/// A program whose code is stored in the cache, in several units.
const STORED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#define F(n) __attribute__((noinline)) static double f##n(const double *x, int k) { \
  double s = n; for (int i = 0; i < k; i++) s = s * 0.5 + x[i] * n; return s; }
F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8)
int main(void) {
  double x[1000], sum = 0;
  for (int i = 0; i < 1000; i++) x[i] = i % 17;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
  for (int t = 0; t < 64; t++)
    sum += f1(x, 900) + f2(x, 900) + f3(x, 900) + f4(x, 900) + f5(x, 900) + f6(x, 900) + f7(x, 900) + f8(x, 900);
  printf("%.6f\n", sum);
  return 5;
}
"#;

fn guest(name: &str, text: &str) -> Result<PathBuf, String> {
    let path = compile::source("faults", name, text)?;
    compile::bitcode(&path, &["-O1".to_owned(), "-fopenmp".to_owned()])
}

fn folder() -> Result<tempfile::TempDir, String> {
    tempfile::tempdir().map_err(|e| e.to_string())
}

/// Runs a guest with a command of the shell before it.
fn shell(before: &str, words: &[&str], bitcode: &Path) -> Result<Ran, String> {
    let script = format!("ulimit -c 0; {before}; exec \"$@\"");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, "sh"])
        .arg(ompvm())
        .args(words)
        .arg(bitcode);
    run(&mut command, "", LIMIT)
}

fn is(ran: &Ran, stdout: &str) -> Result<(), String> {
    match ran.end == End::Exit(5) && ran.stdout == stdout && !ran.stderr.contains("panicked") {
        true => Ok(()),
        false => Err(format!("should print {stdout:?}: {}", ran.summary())),
    }
}

fn threads() -> Result<(), String> {
    let bitcode = guest("threads.c", THREADS)?;
    for tier in TIERS {
        // The change of users reaches ompvm's own threads at any point of their lives.
        for _ in 0..8 {
            let ran = shell("true", &["run", "--no-cache", "--tier", tier], &bitcode)?;
            is(&ran, "40 40 100\n").map_err(|e| format!("{tier}: {e}"))?;
        }
    }
    Ok(())
}

/// Checks little address space: the program's own allocations fail, and it continues; with less, one
/// message ends the run.
fn memory() -> Result<(), String> {
    let bitcode = guest("memory.c", MEMORY)?;
    for tier in TIERS {
        for kilobytes in [700_000, 400_000, 280_000, 230_000] {
            let limit = format!("ulimit -v {kilobytes}");
            let ran = shell(&limit, &["run", "--no-cache", "--tier", tier], &bitcode)?;
            let told = ran.end == End::Exit(125) && ran.stderr.starts_with("ompvm: ");
            if !told || ran.stderr.contains("panicked") {
                is(&ran, "499500 1\n").map_err(|e| format!("{tier}, {kilobytes} kB: {e}"))?;
            }
        }
    }
    Ok(())
}

fn signals() -> Result<(), String> {
    let bitcode = guest("signals.c", SIGNALS)?;
    for tier in TIERS {
        let ran = shell("true", &["run", "--no-cache", "--tier", tier], &bitcode)?;
        is(&ran, "514350 900 900 1\n").map_err(|e| format!("{tier}: {e}"))?;
    }
    Ok(())
}

/// Checks an output that takes nothing: the program's is lost as natively, and ompvm's own ends with
/// a status and without a panic.
fn full_output() -> Result<(), String> {
    let bitcode = guest("stored.c", STORED)?;
    for tier in TIERS {
        let words = ["run", "--no-cache", "--stats", "--tier", tier];
        let ran = shell("exec >/dev/full 2>/dev/full", &words, &bitcode)?;
        if ran.end != End::Exit(5) {
            return Err(format!("{tier}: {}", ran.summary()));
        }
    }
    // A warning in a region is lost, too.
    let bitcode_of_threads = guest("threads.c", THREADS)?;
    for tier in TIERS {
        let words = ["run", "--no-cache", "--tier", tier];
        let ran = shell("exec 2>/dev/full", &words, &bitcode_of_threads)?;
        is(&ran, "40 40 100\n").map_err(|e| format!("warnings, {tier}: {e}"))?;
    }
    let words: [&[&str]; 4] = [
        &["inspect"],
        &["inspect", "--offload"],
        &["compile"],
        &["run", "--explain=f1"],
    ];
    for words in words {
        for script in ["exec >/dev/full", "exec 2>/dev/full", "exec >&- 2>&-"] {
            let ran = shell(script, words, &bitcode)?;
            let ended = matches!(ran.end, End::Exit(0 | 5 | 125));
            if !ended || ran.stderr.contains("panicked") {
                return Err(format!("{words:?}, {script}: {}", ran.summary()));
            }
        }
    }
    Ok(())
}

/// Checks caches that cannot be written: a file system that is full from some size on, and homes
/// that are read-only or no folders.
fn no_room_for_cache() -> Result<(), String> {
    let bitcode = guest("stored.c", STORED)?;
    let wanted = shell("true", &["run", "--no-cache"], &bitcode)?.stdout;
    for blocks in [0, 1, 8, 40] {
        let cache = folder()?;
        let script = format!(
            "export OMPVM_CACHE_DIR={}/cache; ulimit -f {blocks}",
            cache.path().display()
        );
        for _ in 0..2 {
            // The harness's files for output are empty, or below the limit.
            let ran = shell(
                &format!("{script}; exec >&2"),
                &["run", "--tier=opt"],
                &bitcode,
            )?;
            let right =
                ran.end == End::Exit(5) || blocks == 0 && ran.end == End::Signal(libc::SIGXFSZ);
            if !right || blocks > 0 && ran.stderr != wanted {
                return Err(format!("{blocks} blocks: {}", ran.summary()));
            }
        }
    }
    // A real file system of 64 kB, where users may make one.
    let tiny = "mount -t tmpfs -o size=64k none /mnt";
    let made = Command::new("unshare")
        .args(["-rm", "sh", "-c", tiny])
        .output();
    if made.is_ok_and(|o| o.status.success()) {
        for tier in TIERS {
            let mut command = Command::new("unshare");
            let script = format!("{tiny} && for i in 1 2; do \"$@\"; done");
            command
                .args(["-rm", "sh", "-c", &script, "sh"])
                .arg(ompvm());
            command.args(["run", "--tier", tier]).arg(&bitcode);
            let ran = run(command.env("OMPVM_CACHE_DIR", "/mnt/cache"), "", LIMIT)?;
            is(&ran, &wanted.repeat(2)).map_err(|e| format!("tmpfs, {tier}: {e}"))?;
        }
    }
    for home in ["/proc", "/dev/null", "/sys", "/nonexistent"] {
        let script = format!("unset OMPVM_CACHE_DIR XDG_CACHE_HOME; export HOME={home}");
        for tier in ["opt", "auto"] {
            let ran = shell(&script, &["run", "--tier", tier], &bitcode)?;
            is(&ran, &wanted).map_err(|e| format!("{home}, {tier}: {e}"))?;
            if !ran.stderr.is_empty() {
                return Err(format!("{home}, {tier}: {}", ran.summary()));
            }
        }
    }
    Ok(())
}

/// Checks that a run which is killed while it fills the cache leaves nothing that later runs stumble
/// over. The times are spread over a run.
fn killed() -> Result<(), String> {
    let bitcode = guest("stored.c", STORED)?;
    let cold = |cache: &Path| {
        let mut command = Command::new(ompvm());
        command
            .args(["run", "--tier=opt"])
            .arg(&bitcode)
            .env("OMPVM_CACHE_DIR", cache);
        command
    };
    let first = folder()?;
    let begin = Instant::now();
    let wanted = run(&mut cold(&first.path().join("cache")), "", LIMIT)?.stdout;
    let whole = begin.elapsed();
    let shared = folder()?;
    for round in 0..24u32 {
        // Half of the rounds go on with what was left behind.
        let fresh = folder()?;
        let cache = [&fresh, &shared][round as usize % 2].path().join("cache");
        let mut command = cold(&cache);
        command.stdout(std::process::Stdio::null());
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        std::thread::sleep(whole * (round + 1) / 24);
        let _ = child.kill();
        let _ = child.wait();
        for _ in 0..2 {
            let ran = run(&mut cold(&cache), "", LIMIT)?;
            is(&ran, &wanted).map_err(|e| format!("round {round}: {e}"))?;
        }
        if round % 2 == 1 {
            // The next round begins with a part of the entry only.
            for file in crate::cache::all(&cache).iter().take(1) {
                let _ = std::fs::remove_file(file);
            }
        }
    }
    Ok(())
}

/// Checks 200 processes at once that fill one cache.
fn two_hundred() -> Result<(), String> {
    let bitcode = guest("stored.c", STORED)?;
    let cache = folder()?;
    let wanted = shell("true", &["run", "--no-cache"], &bitcode)?.stdout;
    let start = |n: usize| {
        let tier = ["opt", "auto"][n % 2];
        let mut command = Command::new(ompvm());
        command.args(["run", "--tier", tier]).arg(&bitcode);
        command.env("OMPVM_CACHE_DIR", cache.path().join("cache"));
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command.spawn().map_err(|e| e.to_string())
    };
    let begin = Instant::now();
    let children: Vec<_> = (0..200).map(start).collect::<Result<_, _>>()?;
    for child in children {
        let output = child.wait_with_output().map_err(|e| e.to_string())?;
        let (out, err) = (&output.stdout, &output.stderr);
        if output.status.code() != Some(5) || *out != *wanted.as_bytes() || !err.is_empty() {
            let texts = [out, err].map(|t| String::from_utf8_lossy(t).into_owned());
            return Err(format!("{}: {texts:?}", output.status));
        }
    }
    match begin.elapsed() < Duration::from_secs(120) {
        true => Ok(()),
        false => Err(format!("200 processes took {:?}", begin.elapsed())),
    }
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    type Test = fn() -> Result<(), String>;
    let trials: [(&str, Test); 7] = [
        ("threads", threads),
        ("memory", memory),
        ("signals", signals),
        ("full-output", full_output),
        ("no-room-for-cache", no_room_for_cache),
        ("killed", killed),
        ("two-hundred", two_hundred),
    ];
    let trial =
        |(name, test): (&str, Test)| Trial::test(format!("faults/{name}"), move || Ok(test()?));
    trials.into_iter().map(trial).collect()
}
