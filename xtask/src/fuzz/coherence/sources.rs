//! Files of generated sources: the text, a native build, and bitcode for each level.
//!
//! A source is built where it is tested, or all are built into a pack: a folder with the files of
//! each source, the ompvm under test, a launcher of MPI and this program. A pack is tested on
//! machines that have more processors but no compilers.

use super::{Options, generate, launcher};
use crate::process;
use crate::setup::Tools;
use crate::timed::{run, write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Optimization levels. Without optimization, the code of regions differs.
pub const LEVELS: [&str; 2] = ["-O0", "-O2"];
/// Flags that compile for a device.
pub const FLAGS: [&str; 6] = [
    "-g",
    "-w",
    "-fopenmp",
    "--offload-arch=sm_90",
    "-nogpulib",
    "--cuda-feature=+ptx83",
];
/// Time limit of one compilation.
const LIMIT: Duration = Duration::from_secs(300);

/// Returns the name of the bitcode file of a level.
pub fn bitcode(level: &str) -> String {
    format!("program{level}.bc")
}

/// Returns the folder of a source within a pack.
pub fn packed(pack: &Path, seed: u64) -> PathBuf {
    pack.join("sources").join(seed.to_string())
}

/// Writes the text and the native build of a source.
pub fn build_reference(
    tools: &Tools,
    seed: u64,
    without: &[String],
    dir: &Path,
) -> Result<(), String> {
    write(&dir.join("program.c"), generate::program(seed, without))?;
    let flags = ["-O1", "-w", "-pthread", "-o", "reference"];
    compile(tools, dir, &flags)
}

/// Writes the bitcode of a source for one level.
pub fn build_level(tools: &Tools, level: &str, dir: &Path) -> Result<(), String> {
    let output = bitcode(level);
    let mut flags = vec![level, "-c", "-emit-llvm", "-o", output.as_str()];
    flags.extend(FLAGS);
    compile(tools, dir, &flags)
}

fn compile(tools: &Tools, dir: &Path, flags: &[&str]) -> Result<(), String> {
    let mut clang = Command::new(tools.llvm("clang"));
    clang.current_dir(dir).args(flags).arg("program.c");
    let ran = run(&mut clang, dir, LIMIT)?;
    match ran.status {
        0 => Ok(()),
        _ => Err(format!(
            "{clang:?}: {}",
            String::from_utf8_lossy(&ran.stderr)
        )),
    }
}

/// Writes a pack with all sources of a run.
pub fn write_pack(
    pack: &Path,
    tools: &Tools,
    ompvm: &Path,
    options: &Options,
) -> Result<(), String> {
    let count = options.sources();
    let next = AtomicU64::new(0);
    let failed = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return;
                    }
                    if let Err(e) = build_packed(pack, tools, options, options.source_seed(n)) {
                        next.store(count, Ordering::Relaxed);
                        *failed.lock().unwrap_or_else(|e| e.into_inner()) = Some(e);
                    }
                }
            });
        }
    });
    if let Some(e) = failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
        return Err(e);
    }
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    for (from, name) in [(ompvm, "ompvm"), (&this, "runner")] {
        let to = pack.join(name);
        std::fs::copy(from, &to).map_err(|e| format!("{}: {e}", to.display()))?;
        process::run(Command::new("strip").arg(&to))?;
    }
    if let Some(mpi) = launcher(None).parent().and_then(Path::parent)
        && mpi.exists()
    {
        process::run(Command::new("cp").arg("-a").arg(mpi).arg(pack))?;
    }
    println!("{count} sources in {}", pack.display());
    Ok(())
}

fn build_packed(pack: &Path, tools: &Tools, options: &Options, seed: u64) -> Result<(), String> {
    let dir = packed(pack, seed);
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    build_reference(tools, seed, &options.without, &dir)?;
    LEVELS
        .iter()
        .try_for_each(|level| build_level(tools, level, &dir))
}
