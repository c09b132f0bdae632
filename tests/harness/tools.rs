//! Information about compiled code for profilers and debuggers: the files are read back, gdb is
//! run.
//!
//! Does not check that a profile is true, only that the tools can read it.

use crate::compile::{self, llvm_bin};
use crate::run::{End, LIMIT, Ran, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The line of the division that the tests look for.
const LINE: u32 = 6;
const GUEST: &str = "#include <stdio.h>
#include <unistd.h>
int total;
__attribute__((noinline)) int kernel(int i) {
  total += 1;
  return 1000 / (i + 1);
}
int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
  for (int i = 0; i < 4; i++)
    sum += kernel(i);
  printf(\"%d %d\\n\", (int)getpid(), sum);
  return 0;
}
";

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let gdb = Command::new("gdb").arg("--version").output().is_ok();
    let title = match gdb {
        true => "tools/gdb",
        false => "tools/gdb (skipped: there is no gdb on this machine)",
    };
    vec![
        Trial::test("tools/perf_map", || Ok(perf_map()?)),
        Trial::test("tools/perf_map/interpreted", || Ok(interpreted()?)),
        Trial::test("tools/jitdump", || Ok(jitdump()?)),
        Trial::test(title, || Ok(debugger()?)).with_ignored_flag(!gdb),
    ]
}

/// Returns a test's own folder, and the guest's bitcode.
fn guest(test: &str) -> Result<(PathBuf, PathBuf), String> {
    let dir = root().join("target/guests/tools").join(test);
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let source = dir.join("tools.c");
    std::fs::write(&source, GUEST).map_err(|e| e.to_string())?;
    let bitcode = compile::bitcode(&source, &["-O1".to_owned(), "-fopenmp".to_owned()])?;
    Ok((dir, bitcode))
}

/// Runs the guest with a profile; returns its process number, which it prints.
fn profiled(dir: &Path, bitcode: &Path, format: &str) -> Result<String, String> {
    let mut command = Command::new(ompvm());
    command.args(["run", "--tier=opt"]);
    profiled_as(command, dir, bitcode, format)
}

/// Does the same as [`profiled`] with a prepared command.
fn profiled_as(
    mut command: Command,
    dir: &Path,
    bitcode: &Path,
    format: &str,
) -> Result<String, String> {
    command.arg(format!("--profile={format}")).arg(bitcode);
    let ran: Ran = run(command.current_dir(dir), "", LIMIT)?;
    match ran.stdout.split_once(' ') {
        Some((pid, "2083\n")) if ran.end == End::Exit(0) => Ok(pid.to_owned()),
        _ => Err(ran.summary()),
    }
}

/// Checks that every line is `START SIZE NAME`, that functions do not overlap, and that the guest's
/// are there.
fn perf_map() -> Result<(), String> {
    let (dir, bitcode) = guest("perf_map")?;
    let path = format!("/tmp/perf-{}.map", profiled(&dir, &bitcode, "perfmap")?);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    let _ = std::fs::remove_file(&path);
    let mut rows = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        let [start, size, name] = words[..] else {
            return Err(format!("should be three words: {line}"));
        };
        let number = |w| u64::from_str_radix(w, 16).map_err(|e| format!("{line}: {e}"));
        rows.push((number(start)?, number(size)?, name));
    }
    rows.sort_unstable();
    for name in ["kernel", "main", "main.omp_outlined"] {
        if !rows.iter().any(|r| r.2 == name && r.1 > 0) {
            return Err(format!("should name `{name}`:\n{text}"));
        }
    }
    match rows.windows(2).find(|w| w[0].0 + w[0].1 > w[1].0) {
        Some(w) => Err(format!("functions overlap: {w:x?}")),
        None => Ok(()),
    }
}

/// Checks that the addresses which an OMPT tool may get for calls in interpreted functions are
/// listed too.
fn interpreted() -> Result<(), String> {
    let (dir, bitcode) = guest("interpreted")?;
    let mut command = Command::new(ompvm());
    command
        .args(["run", "--tier=interp"])
        .env("OMP_TOOL_VERBOSE_INIT", "stderr");
    let pid = profiled_as(command, &dir, &bitcode, "perfmap")?;
    let path = format!("/tmp/perf-{pid}.map");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    let _ = std::fs::remove_file(&path);
    for name in ["kernel", "main", "main.omp_outlined"] {
        let end = format!(" {name} (interpreted)");
        if !text.lines().any(|line| line.ends_with(&end)) {
            return Err(format!("should name `{name}`:\n{text}"));
        }
    }
    Ok(())
}

/// A reader of little-endian fields.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, n: usize) -> Result<&'a [u8], String> {
        let (head, rest) = self.0.split_at_checked(n).ok_or("the dump is cut short")?;
        self.0 = rest;
        Ok(head)
    }
    fn number(&mut self, n: usize) -> Result<u64, String> {
        let bytes = self.bytes(n)?.iter().rev();
        Ok(bytes.fold(0, |sum, &b| sum << 8 | u64::from(b)))
    }
    fn text(&mut self) -> Result<String, String> {
        let end = self
            .0
            .iter()
            .position(|&b| b == 0)
            .ok_or("no end of text")?;
        let text = String::from_utf8_lossy(self.bytes(end)?).into_owned();
        self.bytes(1)?;
        Ok(text)
    }
}

/// Checks that the records are those of version 1 of the format, and that `kernel` has its lines
/// and its code.
fn jitdump() -> Result<(), String> {
    let (dir, bitcode) = guest("jitdump")?;
    let pid = profiled(&dir, &bitcode, "jitdump")?;
    let path = dir.join(format!("jit-{pid}.dump"));
    let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let _ = std::fs::remove_file(&path);
    let mut dump = Fields(&bytes);
    let head: Vec<u64> = (0..6).map(|_| dump.number(4)).collect::<Result<_, _>>()?;
    let own = pid.parse().map_err(|e| format!("{pid}: {e}"))?;
    if head != [0x4a69_5444, 1, 40, 62, 0, own] {
        return Err(format!("the head is {head:x?}"));
    }
    let (mut time, mut next) = (dump.number(8)?, 0);
    dump.number(8)?;
    let mut lines: Vec<(u64, u64, String)> = Vec::new();
    let mut found = false;
    while !dump.0.is_empty() {
        let (kind, size, when) = (dump.number(4)?, dump.number(4)?, dump.number(8)?);
        if when < time {
            return Err("times go backwards".into());
        }
        time = when;
        let mut record = Fields(dump.bytes(size as usize - 16)?);
        match kind {
            2 => {
                record.number(8)?;
                for _ in 0..record.number(8)? {
                    let (address, line) = (record.number(8)?, record.number(4)?);
                    record.number(4)?;
                    lines.push((address, line, record.text()?));
                }
            }
            0 => {
                let (pid, _thread) = (record.number(4)?, record.number(4)?);
                let (vma, start, size) = (record.number(8)?, record.number(8)?, record.number(8)?);
                let (index, name) = (record.number(8)?, record.text()?);
                if pid != own || vma != start || index != next || record.0.len() as u64 != size {
                    return Err(format!("a wrong record of `{name}`"));
                }
                next += 1;
                let inside = |l: &&(u64, u64, String)| {
                    l.0 >= start && l.0 < start + size && l.2.ends_with("tools.c")
                };
                let own = lines.iter().filter(inside);
                found |= name == "kernel" && own.clone().any(|l| l.1 == u64::from(LINE));
            }
            _ => return Err(format!("a record of kind {kind}")),
        }
        if !record.0.is_empty() && kind == 2 {
            return Err("a record is longer than what it holds".into());
        }
    }
    match found {
        true => Ok(()),
        false => Err("`kernel` should be there with its lines".into()),
    }
}

/// Checks that gdb hits a breakpoint by source line, that the backtrace goes through the region to
/// `main`, and that the parameter has its value.
fn debugger() -> Result<(), String> {
    let (dir, bitcode) = guest("gdb")?;
    let stop = format!("break tools.c:{LINE} if i == 0");
    let mut command = Command::new("gdb");
    command.current_dir(&dir).args(["-nx", "-batch"]);
    for line in [
        "set confirm off",
        "set debuginfod enabled off",
        "set breakpoint pending on",
        &stop,
        "run",
        "print i",
        "backtrace",
        "delete",
        "continue",
    ] {
        command.args(["-ex", line]);
    }
    command.arg("--args").arg(ompvm()).args(["run", "--gdb"]);
    command
        .arg(&bitcode)
        .env("LLVM_SYS_221_PREFIX", llvm_bin().join(".."));
    let ran = run(&mut command, "", LIMIT)?;
    let at = format!("tools.c:{LINE}");
    let words = [
        "hit Breakpoint 1",
        "$1 = 0",
        " kernel (i=0)",
        &at,
        "main.omp_outlined",
        "main () at",
        "exited normally",
    ];
    match words.iter().find(|w| !ran.stdout.contains(**w)) {
        Some(word) => Err(format!(
            "gdb should say `{word}`: {}\n{}",
            ran.stdout, ran.stderr
        )),
        None => Ok(()),
    }
}
