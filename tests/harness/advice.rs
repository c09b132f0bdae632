//! The hint, printed once and on a terminal only, about the time that `ompvm compile` would have
//! saved.
//!
//! The guest has many functions that are all hot, and one processor, so compilation can only take
//! the program's own time. `script` of util-linux provides the terminal.

use crate::compile;
use crate::ompvm;
use crate::run::{End, LIMIT, Ran, run};
use libtest_mimic::Trial;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of the guest's functions.
const FUNCTIONS: usize = 120;
/// A text of the hint.
const ADVICE: &str = "ompvm compile";

/// Writes a program whose functions differ, so that each is compiled separately. At its end it
/// forks a child that exits as the parent does.
fn guest() -> Result<PathBuf, String> {
    let mut text = "#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\n".to_owned();
    for f in 0..FUNCTIONS {
        let _ = writeln!(
            text,
            "__attribute__((noinline)) static double f{f}(double *x, int *t, int n) {{
  double r = {f};
  for (int i = 1; i < n - 1; i++) {{
    double d = x[i - 1] - 2 * x[i] + x[i + 1];
    if (d < 0) r -= d; else r += d * {d};
    t[i & {mask}] ^= (int)(r * {m}) >> {s};
  }}
  for (int i = 0; i < n; i++) {{
    x[i] = x[i] * 0.{d} + r;
    if (x[i] > {m}) x[i] -= {m};
  }}
  switch (t[{t}] & 3) {{ case 0: return r; case 1: return r + t[1]; case 2: return -r; default: return {f}; }}
}}",
            d = 3 + f % 7,
            mask = (1 << (1 + f % 5)) - 1,
            m = 11 + f,
            s = f % 9,
            t = f % 32,
        );
    }
    text += "typedef double (*F)(double *, int *, int);\nstatic F volatile all[] = {";
    for f in 0..FUNCTIONS {
        let _ = write!(text, "f{f}, ");
    }
    let _ = write!(
        text,
        "}};
static double x[500];
static int t[32];
int main(void) {{
  double sum = 0;
  for (int i = 0; i < 1500; i++)
    for (int f = 0; f < {FUNCTIONS}; f++) sum = sum * 0.5 + all[f](x, t, 500);
  printf(\"%d\\n\", sum != sum + 1);
  fflush(stdout);
  if (fork() == 0) return 0;
  wait(NULL);
  return 0;
}}
"
    );
    let path = compile::source("advice", "hot.c", &text)?;
    compile::bitcode(&path, &["-O1".to_owned()])
}

/// A separate cache, and the guest.
struct Case {
    cache: tempfile::TempDir,
    guest: PathBuf,
}

impl Case {
    fn new() -> Result<Case, String> {
        Ok(Case {
            cache: tempfile::tempdir().map_err(|e| e.to_string())?,
            guest: guest()?,
        })
    }

    /// Returns the command line that runs the guest on one processor.
    fn line(&self, options: &str) -> String {
        let guest = self.guest.display();
        format!(
            "taskset -c {} {} {options} {guest}",
            first_processor(),
            ompvm().display()
        )
    }

    fn run(&self, command: &mut Command) -> Result<Ran, String> {
        command.env("OMPVM_CACHE_DIR", self.cache.path().join("cache"));
        let ran = run(command, "", LIMIT)?;
        match ran.end {
            End::Exit(0) => Ok(ran),
            _ => Err(ran.summary()),
        }
    }

    /// Runs the guest on a terminal, all of whose output is standard output.
    fn on_terminal(&self, options: &str, variable: Option<(&str, &str)>) -> Result<Ran, String> {
        let mut command = Command::new("script");
        command.args(["-qec", &self.line(options), "/dev/null"]);
        command.envs(variable);
        self.run(&mut command)
    }

    fn compile(&self) -> Result<Ran, String> {
        self.run(Command::new(ompvm()).arg("compile").arg(&self.guest))
    }
}

/// Returns the number of the first usable processor.
fn first_processor() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|l| l.strip_prefix("Cpus_allowed_list:"));
    let digits = line.map(|l| l.trim().split(|c: char| !c.is_ascii_digit()).next());
    digits.flatten().and_then(|d| d.parse().ok()).unwrap_or(0)
}

fn is_told(ran: &Ran, times: usize) -> Result<(), String> {
    match ran.stdout.matches(ADVICE).count() + ran.stderr.matches(ADVICE).count() {
        found if found == times => Ok(()),
        found => Err(format!(
            "told {found} times instead of {times}: {}",
            ran.summary()
        )),
    }
}

fn names(ran: &Ran, guest: &Path) -> Result<(), String> {
    let command = format!("{ADVICE} {}", guest.display());
    match ran.stdout.contains(&command) {
        true => Ok(()),
        false => Err(format!("should name `{command}`: {}", ran.summary())),
    }
}

fn told_once() -> Result<(), String> {
    let case = Case::new()?;
    let ran = case.on_terminal("", None)?;
    is_told(&ran, 1)?;
    names(&ran, &case.guest)?;
    is_told(&case.on_terminal("", None)?, 0)
}

fn never_on_a_pipe() -> Result<(), String> {
    let case = Case::new()?;
    is_told(
        &case.run(Command::new("sh").args(["-c", &case.line("")]))?,
        0,
    )
}

fn off_by_option() -> Result<(), String> {
    let case = Case::new()?;
    is_told(&case.on_terminal("run --no-advice", None)?, 0)
}

fn off_by_variable() -> Result<(), String> {
    let case = Case::new()?;
    is_told(&case.on_terminal("", Some(("OMPVM_ADVICE", "off")))?, 0)
}

fn not_without_a_cache() -> Result<(), String> {
    let case = Case::new()?;
    is_told(&case.on_terminal("--no-cache", None)?, 0)
}

fn not_where_it_was_followed() -> Result<(), String> {
    let case = Case::new()?;
    case.compile()?;
    is_told(&case.on_terminal("", None)?, 0)
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    type Check = fn() -> Result<(), String>;
    let all: [(&str, Check); 6] = [
        ("told_once", told_once),
        ("never_on_a_pipe", never_on_a_pipe),
        ("off_by_option", off_by_option),
        ("off_by_variable", off_by_variable),
        ("not_without_a_cache", not_without_a_cache),
        ("not_where_it_was_followed", not_where_it_was_followed),
    ];
    let trial = |(name, test): (&str, fn() -> Result<(), String>)| {
        Trial::test(format!("advice/{name}"), move || test().map_err(Into::into))
    };
    all.into_iter().map(trial).collect()
}
