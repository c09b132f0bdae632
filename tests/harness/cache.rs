//! The cache of compiled programs from the user's view: a second run equals the first but compiles
//! nothing, and a damaged folder never stops a program.

use crate::compile;
use crate::run::{End, LIMIT, Ran, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A guest with calls through pointers, a threadprivate variable, a region, a library function,
/// standard output.
const GUEST: &str = r#"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static int counter;
#pragma omp threadprivate(counter)
static const int table[] = {3, 1, 4, 1, 5, 9, 2, 6};
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv) {
  int sorted[8], sum = 0;
  for (int i = 0; i < 8; i++) sorted[i] = table[i];
  qsort(sorted, 8, sizeof *sorted, compare);
#pragma omp parallel num_threads(3) reduction(+ : sum) copyin(counter)
  {
    counter += 2;
    sum += counter * sorted[7];
  }
  printf("%d %d %d %.3f %s\n", sorted[0], sorted[7], sum, sqrt(argc + 1.0), argv[argc - 1]);
  return sum == 54 ? 7 : 1;
}
"#;
const SAYS: &str = "1 9 54 1.732 last\n";

/// A guest with a function that calls `setjmp` and so stays interpreted.
const JUMPS: &str = r#"
#include <setjmp.h>
#include <stdio.h>
static jmp_buf place;
static void leave(int n) { longjmp(place, n); }
int main(void) {
  volatile int times = 0;
  int n = setjmp(place);
  times++;
  if (n < 3) leave(n + 1);
  printf("%d %d\n", n, times);
  return 0;
}
"#;

const FAULT: &str = r#"
#include <stdio.h>
static int *volatile nowhere;
__attribute__((noinline)) static int touch(void) { return *nowhere; }
int main(void) {
  puts("before");
  fflush(stdout);
  return touch();
}
"#;

const THROWS: &str = r#"
#include <cstdio>
#include <stdexcept>
struct Loud { ~Loud() { std::puts("unwound"); } };
__attribute__((noinline)) static int deep(int n) {
  Loud loud;
  if (n == 0) throw std::runtime_error("bottom");
  return deep(n - 1) + 1;
}
int main() {
  try { return deep(2); } catch (const std::exception &e) { std::puts(e.what()); }
  return 0;
}
"#;

/// A guest with instructions that have no handler: assembly, x87, half precision, an odd vector, a
/// target intrinsic.
const RARE: &str = r#"
#include <immintrin.h>
#include <stdio.h>
typedef float odd __attribute__((ext_vector_type(3)));
static volatile long word = 0x0102030405060708;
static volatile long double tenth = 0.1L;
static volatile _Float16 half = 1.5;
static volatile float one = 4;
__attribute__((noinline)) static long swapped(long x) {
  __asm__("bswapq %0" : "+r"(x));
  return x;
}
int main(void) {
  odd v = {one, 2, 3};
  volatile odd sum = v * v + v;
  __m128 root = _mm_rsqrt_ps(_mm_set1_ps(one));
  printf("%lx %.3Lf %.2f %.1f %.2f\n", swapped(word), tenth * tenth + 1, (double)(half * half), sum[2], root[0]);
  return 0;
}
"#;
const RARE_SAYS: &str = "807060504030201 1.010 2.25 12.0 0.50\n";

/// Compiles a source to bitcode at `-O1`.
pub fn source(name: &str, text: &str) -> Result<PathBuf, String> {
    let path = compile::source("cache", name, text)?;
    compile::bitcode(&path, &["-O1".to_owned(), "-fopenmp".to_owned()])
}

fn guest() -> Result<PathBuf, String> {
    source("kept.c", GUEST)
}

/// A separate cache.
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// Makes an empty folder, removed at the end.
    pub fn new() -> Result<Folder, String> {
        tempfile::tempdir().map(Folder).map_err(|e| e.to_string())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("cache")
    }

    /// Returns a command of ompvm with a cache in the folder.
    pub fn command(&self) -> Command {
        let mut command = Command::new(ompvm());
        command.env("OMPVM_CACHE_DIR", self.path());
        command
    }

    /// Runs a guest compiled, with statistics on standard error.
    fn run(&self, guest: &Path) -> Result<Ran, String> {
        let mut command = self.command();
        command.args(["run", "--tier=opt", "--stats"]).arg(guest);
        run(command.arg("last"), "", LIMIT)
    }

    /// Returns the number on a line of `cache stats`.
    fn content(&self, what: &str) -> Result<u64, String> {
        let ran = run(self.command().args(["cache", "stats"]), "", LIMIT)?;
        let line = ran.stdout.lines().find(|l| l.starts_with(what));
        let number = line.and_then(|l| l.split_whitespace().nth(1)?.parse().ok());
        number.ok_or_else(|| format!("no `{what}`: {}", ran.summary()))
    }
}

/// Returns every file below a folder.
pub fn all(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(all(&path)),
            path => found.push(path),
        }
    }
    found.sort();
    found
}

/// Parses the line about the cache: modules and objects loaded, compiled, stored, damaged.
fn did(ran: &Ran) -> Result<[u64; 5], String> {
    let line = ran.stderr.lines().find(|l| l.starts_with("cache: "));
    let numbers: Vec<u64> = line
        .into_iter()
        .flat_map(|l| l.split([' ', ',', ';']))
        .filter_map(|w| w.parse().ok())
        .collect();
    match numbers[..] {
        [a, b, c, d, e, ..] => Ok([a, b, c, d, e]),
        _ => Err(format!("nothing about the cache: {}", ran.summary())),
    }
}

fn says(ran: &Ran, text: &str, end: End) -> Result<(), String> {
    if ran.stdout == text && ran.end == end {
        Ok(())
    } else {
        Err(format!("should print {text:?}: {}", ran.summary()))
    }
}

/// Checks that a run took everything from the cache.
fn is_warm(ran: &Ran) -> Result<(), String> {
    match did(ran)? {
        [1, (1..), 0, 0, 0] => Ok(()),
        _ => Err(format!(
            "should load all and compile nothing: {}",
            ran.summary()
        )),
    }
}

/// Checks that a run compiled and stored its code.
fn is_cold(ran: &Ran) -> Result<(), String> {
    match did(ran)? {
        [0, 0, (1..), (2..), _] => Ok(()),
        _ => Err(format!("should compile and store: {}", ran.summary())),
    }
}

fn second_run() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, guest()?);
    let cold = folder.run(&guest)?;
    says(&cold, SAYS, End::Exit(7))?;
    is_cold(&cold)?;
    for _ in 0..2 {
        let warm = folder.run(&guest)?;
        says(&warm, SAYS, End::Exit(7))?;
        is_warm(&warm)?;
    }
    // Another number of threads makes no other program.
    let mut command = folder.command();
    command.env("OMP_NUM_THREADS", "5");
    command.args(["run", "--tier=auto", "--stats"]).arg(&guest);
    let warm = run(command.arg("last"), "", LIMIT)?;
    says(&warm, SAYS, End::Exit(7))?;
    is_warm(&warm)
}

/// Sources whose parts are linked in each supported form.
const PART: &str = "int part(int x) { return x * 2; }\n";
const CALLER: &str = "int part(int); int via(int x) { return part(x) + 1; }\n";
const USER: &str = "#include <stdio.h>\nint via(int);\nint main(void) { int s = 0;\n\
    #pragma omp parallel for reduction(+ : s)\n\
    for (int i = 0; i < 10; i++) s += via(i);\n\
    printf(\"%d\\n\", s); return 0; }\n";

/// Checks that a program's second run needs no LLVM, in whatever form its parts are given.
fn every_form_of_input() -> Result<(), String> {
    let folder = Folder::new()?;
    let dir = folder.0.path();
    let tool = |name: &str, args: &[&str]| {
        let mut command = Command::new(compile::llvm_bin().join(name));
        let ran = run(command.current_dir(dir).args(args), "", LIMIT)?;
        match ran.end {
            End::Exit(0) => Ok(()),
            _ => Err(format!("{name} {args:?}: {}", ran.summary())),
        }
    };
    for (name, text) in [("part", PART), ("caller", CALLER), ("user", USER)] {
        let file = format!("{name}.c");
        std::fs::write(dir.join(&file), text).map_err(|e| e.to_string())?;
        let compile = |kind: &[&str], ending: &str| {
            let out = format!("{name}.{ending}");
            let args = ["-O1", "-fopenmp", "-fPIC", "-c", &file, "-o", &out];
            tool("clang", &[&args[..], kind].concat())
        };
        compile(&["-emit-llvm"], "bc")?;
        compile(&["-emit-llvm", "-S"], "ll")?;
        compile(&[], "o")?;
    }
    for (archive, members) in [
        ("libbitcode.a", ["caller.bc", "part.bc"]),
        ("libnative.a", ["caller.o", "part.o"]),
        ("libupper.a", ["caller.bc", "part.o"]),
        ("liblower.a", ["caller.o", "part.bc"]),
    ] {
        tool("llvm-ar", &["rcs", archive, members[0], members[1]])?;
    }
    tool("llvm-ar", &["rcS", "libnoindex.a", "caller.bc", "part.bc"])?;
    for inputs in [
        "--with libbitcode.a user.bc",
        "--with libbitcode.a user.ll",
        "--with libnoindex.a user.bc",
        "--with libnative.a user.bc",
        "--with libupper.a user.ll",
        "--with liblower.a user.bc",
        "--with caller.ll --with part.ll user.ll",
        "--with caller.bc --with part.bc user.bc",
        "--with caller.bc --with libbitcode.a user.bc",
        "--with caller.o --with part.o user.bc",
        "--with caller.o --with libbitcode.a user.bc",
        "-L. -lbitcode user.bc",
    ] {
        let ran = || {
            let mut command = folder.command();
            command
                .current_dir(dir)
                .args(["run", "--tier=opt", "--stats"]);
            run(command.args(inputs.split(' ')), "", LIMIT)
        };
        says(&ran()?, "100\n", End::Exit(0))?;
        let warm = ran()?;
        says(&warm, "100\n", End::Exit(0))?;
        is_warm(&warm)?;
        if !warm.stderr.contains("LLVM not started") {
            return Err(format!("{inputs} should not need LLVM: {}", warm.summary()));
        }
    }
    // If the archive changes, its members are chosen anew.
    let other = "int part(int x) { return x * 3; }\n";
    std::fs::write(dir.join("part.c"), other).map_err(|e| e.to_string())?;
    tool(
        "clang",
        &["-O1", "-c", "-emit-llvm", "part.c", "-o", "part.bc"],
    )?;
    tool("llvm-ar", &["rcs", "libbitcode.a", "caller.bc", "part.bc"])?;
    let mut command = folder.command();
    command
        .current_dir(dir)
        .args(["run", "--tier=opt", "--with", "libbitcode.a", "user.bc"]);
    says(&run(&mut command, "", LIMIT)?, "145\n", End::Exit(0))
}

fn interpreted_rest() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, source("jumps.c", JUMPS)?);
    for _ in 0..2 {
        says(&folder.run(&guest)?, "3 4\n", End::Exit(0))?;
    }
    is_warm(&folder.run(&guest)?)
}

/// Checks that rare instructions compiled by LLVM for the lower tiers are cached too.
fn rare_instructions() -> Result<(), String> {
    let guest = source("rare.c", RARE)?;
    for tier in ["--tier=baseline", "--tier=auto"] {
        let folder = Folder::new()?;
        let ran = || {
            let mut command = folder.command();
            // A slow first run would let `auto` compile the functions in the second one.
            command.env("OMPVM_INTERPRET", "main,swapped");
            run(
                command.args(["run", tier, "--stats"]).arg(&guest),
                "",
                LIMIT,
            )
        };
        says(&ran()?, RARE_SAYS, End::Exit(0))?;
        if !all(&folder.path())
            .iter()
            .any(|p| name_of(p).starts_with("thunk-"))
        {
            return Err(format!("{tier}: no rare instruction was kept"));
        }
        let warm = ran()?;
        says(&warm, RARE_SAYS, End::Exit(0))?;
        if !warm.stderr.contains("LLVM not started") {
            return Err(format!("{tier} should not need LLVM: {}", warm.summary()));
        }
        // A damaged entry is compiled again.
        for path in all(&folder.path()) {
            if name_of(&path).starts_with("thunk-") {
                std::fs::write(&path, "damaged").map_err(|e| e.to_string())?;
            }
        }
        says(&ran()?, RARE_SAYS, End::Exit(0))?;
    }
    Ok(())
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn exceptions() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, source("throws.cpp", THROWS)?);
    let text = "unwound\nunwound\nunwound\nbottom\n";
    for _ in 0..2 {
        says(&folder.run(&guest)?, text, End::Exit(0))?;
    }
    is_warm(&folder.run(&guest)?)
}

fn faults() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, source("fault.c", FAULT)?);
    let mut messages = Vec::new();
    for _ in 0..2 {
        let mut command = folder.command();
        let ran = run(command.args(["run", "--tier=opt"]).arg(&guest), "", LIMIT)?;
        says(&ran, "before\n", End::Signal(libc::SIGSEGV))?;
        messages.push(ran.stderr);
    }
    if folder.content("files")? < 2 || !messages[0].contains("touch") {
        return Err(format!("{messages:?}"));
    }
    match messages[0] == messages[1] {
        true => Ok(()),
        false => Err(format!("the second run says something else: {messages:?}")),
    }
}

/// Checks that units of later runs are compiled from bitcode with line tables only, which give the
/// same lines.
fn line_tables() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, source("fault.c", FAULT)?);
    let message = || {
        let mut command = folder.command();
        let ran = run(command.args(["run", "--tier=opt"]).arg(&guest), "", LIMIT)?;
        says(&ran, "before\n", End::Signal(libc::SIGSEGV))?;
        Ok::<_, String>(ran.stderr)
    };
    let named = |wanted: fn(&str) -> bool| {
        let mut entries = all(&folder.path());
        entries.retain(|entry| wanted(&name_of(entry)));
        entries
    };
    let remove = |entries: Vec<PathBuf>| {
        let mut entries = entries.into_iter();
        entries.try_for_each(|entry| std::fs::remove_file(entry).map_err(|e| e.to_string()))
    };
    let is_code = |name: &str| name.starts_with("unit-");
    let is_table = |name: &str| name == "line-tables";
    // They are written concurrently with the first run, which may end earlier.
    let mut first = String::new();
    for _ in 0..20 {
        remove(named(|_| true))?;
        first = message()?;
        if !named(is_table).is_empty() {
            break;
        }
    }
    let [table] = &named(is_table)[..] else {
        return Err("no line tables were kept".into());
    };
    for damaged in [false, true] {
        remove(named(is_code))?;
        if damaged {
            std::fs::write(table, "damaged").map_err(|e| e.to_string())?;
        }
        let again = message()?;
        if again != first {
            return Err(format!("should say {first}, says {again}"));
        }
        if named(is_code).is_empty() {
            return Err("nothing was compiled again".into());
        }
        if std::fs::read(table).is_ok_and(|bytes| bytes == b"damaged") {
            return Err("damaged line tables stayed".into());
        }
    }
    Ok(())
}

fn race() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, guest()?);
    let results: Vec<Result<Ran, String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| folder.run(&guest))).collect();
        let join = |t: std::thread::ScopedJoinHandle<'_, _>| t.join();
        threads
            .into_iter()
            .map(|t| join(t).unwrap_or_else(|_| Err("panicked".into())))
            .collect()
    });
    for ran in results {
        let ran = ran?;
        says(&ran, SAYS, End::Exit(7))?;
        if did(&ran)?[4] != 0 {
            return Err(format!("damaged: {}", ran.summary()));
        }
    }
    is_warm(&folder.run(&guest)?)?;
    match all(&folder.path()).iter().any(|f| is_unfinished(f)) {
        true => Err("an unfinished file is left".into()),
        false => Ok(()),
    }
}

fn is_unfinished(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with('.')
}

fn damage() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, guest()?);
    says(&folder.run(&guest)?, SAYS, End::Exit(7))?;
    let mut entries = all(&folder.path());
    // Nothing reads these while the code is cached.
    entries.retain(|entry| name_of(entry) != "line-tables");
    for entry in &entries {
        let good = std::fs::read(entry).map_err(|e| e.to_string())?;
        let mut bad: Vec<Vec<u8>> = Vec::new();
        for at in [
            0,
            7,
            8,
            39,
            40,
            41,
            good.len() / 3,
            good.len() / 2,
            good.len() - 1,
        ] {
            let mut flipped = good.clone();
            flipped[at] ^= 0x10;
            bad.push(flipped);
        }
        for len in [0, 1, 8, 40, good.len() / 2, good.len() - 1] {
            bad.push(good[..len].to_vec());
        }
        for bytes in bad {
            std::fs::write(entry, bytes).map_err(|e| e.to_string())?;
            let ran = folder.run(&guest)?;
            says(&ran, SAYS, End::Exit(7))?;
            match did(&ran)? {
                [_, _, _, (1..), 1] => {}
                _ => return Err(format!("should be made again: {}", ran.summary())),
            }
        }
        is_warm(&folder.run(&guest)?)?;
    }
    match entries.len() {
        2.. => Ok(()),
        n => Err(format!("{n} entries")),
    }
}

fn limit() -> Result<(), String> {
    let (folder, first) = (Folder::new()?, guest()?);
    let second = source("jumps.c", JUMPS)?;
    says(&folder.run(&first)?, SAYS, End::Exit(7))?;
    let bytes = folder.content("bytes")?;
    let mut command = folder.command();
    command.env("OMPVM_CACHE_LIMIT", (bytes + 200).to_string());
    command.args(["run", "--tier=opt", "--stats"]).arg(&second);
    says(&run(&mut command, "", LIMIT)?, "3 4\n", End::Exit(0))?;
    if folder.content("programs")? != 1 || folder.content("bytes")? > bytes + 200 {
        return Err("the older program should be gone".into());
    }
    is_warm(&folder.run(&second)?)?;
    is_cold(&folder.run(&first)?)
}

fn clear() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, guest()?);
    folder.run(&guest)?;
    if folder.content("programs")? != 1 || folder.content("files")? < 2 {
        return Err("nothing was kept".into());
    }
    let ran = run(folder.command().args(["cache", "clear"]), "", LIMIT)?;
    says(&ran, "removed 1 programs\n", End::Exit(0))?;
    if folder.content("programs")? + folder.content("bytes")? != 0 {
        return Err("something is left".into());
    }
    is_cold(&folder.run(&guest)?)
}

fn ahead_of_time() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, guest()?);
    let ran = run(folder.command().arg("compile").arg(&guest), "", LIMIT)?;
    says(&ran, "", End::Exit(0))?;
    let warm = folder.run(&guest)?;
    says(&warm, SAYS, End::Exit(7))?;
    is_warm(&warm)
}

/// Checks folders in which nothing can be stored: the run is unchanged, and only statistics mention
/// it.
fn nowhere() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, guest()?);
    std::fs::write(folder.path(), "a file").map_err(|e| e.to_string())?;
    for stats in [false, true] {
        let mut command = folder.command();
        command.args(["run", "--tier=opt"]);
        if stats {
            command.arg("--stats");
        }
        let ran = run(command.arg(&guest).arg("last"), "", LIMIT)?;
        says(&ran, SAYS, End::Exit(7))?;
        if ran.stderr.contains("cannot be written") != stats || !stats && !ran.stderr.is_empty() {
            return Err(ran.summary());
        }
    }
    let mut command = folder.command();
    for name in ["OMPVM_CACHE_DIR", "XDG_CACHE_HOME", "HOME"] {
        command.env_remove(name);
    }
    command.args(["run", "--tier=opt"]).arg(&guest).arg("last");
    let ran = run(&mut command, "", LIMIT)?;
    says(&ran, SAYS, End::Exit(7))?;
    match ran.stderr.is_empty() {
        true => Ok(()),
        false => Err(ran.summary()),
    }
}

fn unwanted() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, guest()?);
    let mut command = folder.command();
    command
        .args(["run", "--tier=opt", "--no-cache"])
        .arg(&guest);
    says(&run(command.arg("last"), "", LIMIT)?, SAYS, End::Exit(7))?;
    let mut command = folder.command();
    command.args(["run", "--tier=interp"]).arg(&guest);
    says(&run(command.arg("last"), "", LIMIT)?, SAYS, End::Exit(7))?;
    match folder.path().exists() {
        true => Err("something was kept".into()),
        false => Ok(()),
    }
}

fn others_may_write() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, guest()?);
    folder.run(&guest)?;
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), open).map_err(|e| e.to_string())?;
    let ran = folder.run(&guest)?;
    says(&ran, SAYS, End::Exit(7))?;
    match did(&ran)? {
        [0, 0, _, 0, 0] if ran.stderr.contains("other users may write") => Ok(()),
        _ => Err(ran.summary()),
    }
}

/// Writes a guest with a function of many instructions, whose time in one run is less than its
/// compile time.
fn short_runs(end: &str) -> Result<PathBuf, String> {
    let step = |i: usize| format!("z = (z ^ n) * {} + (z >> {});\n", 2 * i + 3, 1 + i % 7);
    let steps: String = (0..150).map(step).collect();
    let text = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>
static volatile unsigned long result;
__attribute__((noinline)) static unsigned long work(unsigned long z, unsigned long n) {{
{steps}  return z;
}}
int main(void) {{
  unsigned long n = 0;
  for (; n < 10000; n++) result = work(result, n);
  printf(\"%lu\\n\", n);
  fflush(stdout);
  {end}
}}
"
    );
    let name: String = end.chars().filter(char::is_ascii_alphanumeric).collect();
    source(&format!("short-{name}.c"), &text)
}

impl Folder {
    /// Runs a guest on one processor, so that nothing is compiled on an idle one, with `--explain`
    /// for its function.
    fn short(&self, guest: &Path) -> Result<Ran, String> {
        use std::os::unix::process::CommandExt;
        let mut command = self.command();
        command.env("OMPVM_AHEAD", "never");
        command.args(["run", "--explain", "work"]).arg(guest);
        let bind = || {
            // SAFETY: a set on this stack; 0 is the process itself, which may run on its current
            // processor.
            unsafe {
                let mut one: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(libc::sched_getcpu() as usize, &mut one);
                libc::sched_setaffinity(0, size_of_val(&one), &one);
            }
            Ok(())
        };
        // SAFETY: the closure makes system calls alone.
        unsafe { command.pre_exec(bind) };
        let ran = run(&mut command, "", LIMIT)?;
        says(&ran, "10000\n", End::Exit(0))?;
        Ok(ran)
    }

    /// Returns the profile of the only program.
    fn profile(&self) -> Option<PathBuf> {
        let mut files = all(&self.path()).into_iter();
        files.find(|f| f.ends_with("tier-profile"))
    }
}

/// The most short runs until their hot function has been compiled.
pub const SHORT_RUNS: usize = 100;

fn short_runs_add_up() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, short_runs("return 0;")?);
    let first = folder.short(&guest)?;
    if first.stderr.contains("compiled quickly") {
        return Err(format!("should only observe: {}", first.summary()));
    }
    let mut recalled = false;
    for _ in 0..SHORT_RUNS {
        let ran = folder.short(&guest)?;
        if ran.stderr.contains("loaded from the cache") {
            return match recalled {
                true => Ok(()),
                false => Err(format!("nothing said why: {}", ran.summary())),
            };
        }
        recalled |= ran.stderr.contains("at startup: earlier runs spent");
    }
    Err("never compiled".into())
}

fn every_end_counts() -> Result<(), String> {
    for end in ["exit(0);", "_exit(0);", "quick_exit(0);"] {
        let (folder, guest) = (Folder::new()?, short_runs(end)?);
        // A run that got hardly any processor time may have sampled nothing.
        for _ in 0..SHORT_RUNS {
            folder.short(&guest)?;
            if folder.profile().is_some() {
                break;
            }
        }
        if folder.profile().is_none() {
            return Err(format!("{end} leaves no profile"));
        }
    }
    // A child's end is not the end of the run.
    let child = "if (fork() == 0) _exit(0); abort();";
    let (folder, guest) = (Folder::new()?, short_runs(child)?);
    let mut command = folder.command();
    let ran = run(command.arg("run").arg(&guest), "", LIMIT)?;
    says(&ran, "10000\n", End::Signal(libc::SIGABRT))?;
    match folder.profile() {
        None => Ok(()),
        Some(_) => Err("the child of a fork left a profile".into()),
    }
}

fn damaged_profile() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, short_runs("return 0;")?);
    // A run that got hardly any processor time may have sampled nothing.
    for _ in 0..SHORT_RUNS {
        folder.short(&guest)?;
        if folder.profile().is_some() {
            break;
        }
    }
    let profile = folder.profile().ok_or("no profile")?;
    let good = std::fs::read(&profile).map_err(|e| e.to_string())?;
    let half = good[..good.len() / 2].to_vec();
    let mut flipped = good.clone();
    *flipped.last_mut().ok_or("empty")? ^= 1;
    for bad in [Vec::new(), half, flipped, b"another program".to_vec()] {
        std::fs::write(&profile, bad).map_err(|e| e.to_string())?;
        let mut command = folder.command();
        let ran = run(command.args(["run", "--stats"]).arg(&guest), "", LIMIT)?;
        says(&ran, "10000\n", End::Exit(0))?;
        if did(&ran)?[4] != 1 {
            return Err(format!("should notice damage: {}", ran.summary()));
        }
    }
    Ok(())
}

fn profiles_race() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, short_runs("return 0;")?);
    for _ in 0..3 {
        let results: Vec<Result<Ran, String>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| folder.short(&guest)))
                .collect();
            let failed = |_| Err("panicked".into());
            threads
                .into_iter()
                .map(|t| t.join().unwrap_or_else(failed))
                .collect()
        });
        results.into_iter().collect::<Result<Vec<_>, _>>()?;
    }
    if all(&folder.path()).iter().any(|f| is_unfinished(f)) {
        return Err("an unfinished file is left".into());
    }
    let mut command = folder.command();
    let ran = run(command.args(["run", "--stats"]).arg(&guest), "", LIMIT)?;
    match did(&ran)?[4] {
        0 => Ok(()),
        _ => Err(format!("damaged: {}", ran.summary())),
    }
}

fn unwanted_profile() -> Result<(), String> {
    let (folder, guest) = (Folder::new()?, short_runs("return 0;")?);
    for options in [&["--no-cache"][..], &["--tier=interp"]] {
        let mut command = folder.command();
        let ran = run(command.arg("run").args(options).arg(&guest), "", LIMIT)?;
        says(&ran, "10000\n", End::Exit(0))?;
    }
    match folder.path().exists() {
        true => Err("something was kept".into()),
        false => Ok(()),
    }
}

/// Checks that a child of `fork` can decode a function's instructions while another thread of its
/// parent was decoding them. In `auto` no run of a small program stores code, so each decodes all
/// functions that it calls.
fn forks() -> Result<(), String> {
    let source = root().join("tests/pass/callbacks/fork_beside_first_calls.c");
    let guest = compile::bitcode(&source, &["-O0".to_owned(), "-pthread".to_owned()])?;
    let folder = Folder::new()?;
    for _ in 0..5 {
        let ran = run(folder.command().arg("run").arg(&guest), "", LIMIT)?;
        says(&ran, "ok\n", End::Exit(0))?;
    }
    Ok(())
}

type Test = fn() -> Result<(), String>;

/// Returns one trial per way to use a cache, or in which it can fail.
pub fn trials() -> Vec<Trial> {
    let all: [(&str, Test); 21] = [
        ("every_form_of_input", every_form_of_input),
        ("rare_instructions", rare_instructions),
        ("second_run", second_run),
        ("interpreted_rest", interpreted_rest),
        ("exceptions", exceptions),
        ("faults", faults),
        ("line_tables", line_tables),
        ("race", race),
        ("damage", damage),
        ("forks", forks),
        ("limit", limit),
        ("clear", clear),
        ("ahead_of_time", ahead_of_time),
        ("nowhere", nowhere),
        ("unwanted", unwanted),
        ("others_may_write", others_may_write),
        ("short_runs_add_up", short_runs_add_up),
        ("every_end_counts", every_end_counts),
        ("damaged_profile", damaged_profile),
        ("profiles_race", profiles_race),
        ("unwanted_profile", unwanted_profile),
    ];
    let trial =
        |(name, test): (&str, Test)| Trial::test(format!("cache/{name}"), move || Ok(test()?));
    all.into_iter().map(trial).collect()
}
