//! Work that a later run does ahead of the program, because the cache says what the run before did.
//!
//! The cache itself is tested in [`crate::cache`].

use crate::cache::{Folder, SHORT_RUNS, source};
use crate::run::{End, LIMIT, run};
use libtest_mimic::Trial;

/// Runs after which a check begins anew with an empty cache.
const RUNS_WITH_A_CACHE: usize = 10;

/// Checks that a later run lowers functions before `main` calls them.
fn lowered_ahead() -> Result<(), String> {
    if std::thread::available_parallelism().map_or(1, |n| n.get()) == 1 {
        return Ok(());
    }
    let functions: String = (0..40)
        .map(|i| {
            format!("__attribute__((noinline)) int f{i}(volatile int *p) {{ return *p += {i}; }}\n")
        })
        .collect();
    let calls: String = (0..40).map(|i| format!("  f{i}(&sum);\n")).collect();
    let text = format!(
        "#include <stdio.h>
{functions}
int main(void) {{
  volatile int sum = 0;
  volatile long n = 0;
  while (n < 3000000) n++;
{calls}  printf(\"%d\\n\", sum);
}}
"
    );
    let (mut folder, guest) = (Folder::new()?, source("called-late.c", &text)?);
    let mut ahead = 0;
    // A run that got hardly any processor time may have sampled nothing. One that took long may have
    // compiled `main` with what it calls, and then nothing is left to be lowered.
    for number in 0..SHORT_RUNS {
        let is_first = number % RUNS_WITH_A_CACHE == 0;
        if is_first {
            folder = Folder::new()?;
        }
        let mut command = folder.command();
        command.env("OMPVM_LOG", "interp=trace,interp::bytecode=off");
        let ran = run(command.arg("run").arg(&guest), "", LIMIT)?;
        if ran.end != End::Exit(0) || ran.stdout != "780\n" {
            return Err(ran.summary());
        }
        let lowered = |l: &&str| l.contains("lowered a function function=f");
        let by_sampling = |l: &&str| l.contains(" ompvm sample] ");
        let functions = ran.stderr.lines().filter(lowered);
        ahead = functions.filter(by_sampling).count();
        if is_first && ahead > 0 {
            return Err(format!("{ahead} without a profile"));
        }
        // The last one may be called before its turn.
        if ahead >= 39 {
            return Ok(());
        }
    }
    Err(format!(
        "the last of many runs lowered {ahead} of 40 functions ahead"
    ))
}

/// Checks that several devices which run plain loops leave a record, and that a later run opens them
/// beside the program.
fn plain_loops_on_devices() -> Result<(), String> {
    let text = "#include <stdio.h>
#include <unistd.h>
static double a[100000];
int main(void) {
  usleep(20000);
#pragma omp parallel for
  for (int i = 0; i < 100000; i++) a[i] = i;
  printf(\"%.0f\\n\", a[99999]);
}
";
    let (folder, guest) = (Folder::new()?, source("plain-loop.c", text)?);
    let with_devices = || {
        let mut command = folder.command();
        command.env("OMPVM_LOG", "offload=debug").arg("run");
        command.args(["--offload=force", "--device=emulated:2", "--devices=all"]);
        let ran = run(command.arg(&guest), "", LIMIT)?;
        let record = "records the run runs=EarlierRuns { alone: None, group: Some(";
        match ran.end == End::Exit(0) && ran.stdout == "99999\n" && ran.stderr.contains(record) {
            true => Ok(ran.stderr.contains(" ompvm devices] found the devices")),
            false => Err(ran.summary()),
        }
    };
    if with_devices()? {
        return Err("the first run opened devices beside the program".into());
    }
    // The thread may get a processor late.
    for _ in 0..SHORT_RUNS {
        if with_devices()? {
            return Ok(());
        }
    }
    Err("no later run opened devices beside the program".into())
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("cache/lowered_ahead", || Ok(lowered_ahead()?)),
        Trial::test("cache/plain_loops_on_devices", || {
            Ok(plain_loops_on_devices()?)
        }),
    ]
}
