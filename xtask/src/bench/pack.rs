//! Packs a benchmark for a machine without compilers: the same paths under another root, libraries
//! that may be missing there in `lib`, this program, and a script that starts it.

use super::bench_root::{BenchRoot, PACKED};
use super::epcc;
use super::hello;
use super::npb::NpbOptions;
use crate::npb::Form;
use crate::process::{capture_ok, run};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maximum size of the archive in bytes.
const LARGEST: u64 = 60_000_000;

const SCRIPT: &str = "\
#!/bin/sh
# Takes the tables on this machine; needs nothing but what lies beside it. For example:
#   ./run.sh npb --class A --threads 1,2,4,8,16 --runs 7 --json a.json
#   ./run.sh npb --class B --threads 16 --warmup 0 --row-limit 60 --json b.json
#   ./run.sh hello --json hello.json
#   ./run.sh epcc --threads 16 --runs 3
#   ./run.sh tasks --threads 16 --peer FOLDER_WITH_ANOTHER_LIBOMP
#   ./run.sh steady --class W --threads 16 --json steady.json
here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1
bench=$1
shift
exec \"$here/xtask\" bench \"$bench\" --from \"$here\" \"$@\"
";

/// Fills `dir` and archives it as `DIR.tar.gz`.
pub fn gather(bench_root: &BenchRoot, options: &NpbOptions, dir: &Path) -> Result<(), String> {
    let Some(tools) = &bench_root.tools else {
        return Err("a folder that was packed cannot be packed again".into());
    };
    let ompvm = bench_root.ompvm_path();
    copy(ompvm, &dir.join(PACKED))?;
    let own = std::env::current_exe().map_err(|e| format!("this program: {e}"))?;
    copy(&own, &dir.join("xtask"))?;
    let mut libraries = needed(ompvm)?;
    let forms = [
        Form::Bitcode,
        Form::Native,
        Form::Tuned,
        Form::Sequential,
        Form::SteadyBitcode,
        Form::SteadyNative,
    ];
    for name in options.names() {
        for &class in &options.class {
            for form in forms {
                let from = bench_root.form(name, class, form)?;
                copy(&from, &dir.join(form.path(name, class)))?;
                if form == Form::Native {
                    libraries.extend(needed(&from)?);
                }
            }
        }
    }
    for file in hello::build(bench_root)? {
        let name = file.file_name().expect("a file");
        copy(&file, &dir.join("bench/out").join(name))?;
    }
    let (programs, ours) = epcc::build_all(tools)?;
    for program in programs {
        let name = program.file_name().expect("a file");
        copy(&program, &dir.join("bench/out").join(name))?;
        libraries.extend(needed(&program)?);
    }
    let library = dir.join(epcc::OURS).join("libomp.so.5");
    copy(&ours, &library)?;
    libraries.sort();
    libraries.dedup();
    for library in &libraries {
        let name = library.file_name().expect("a library");
        copy(library, &dir.join("lib").join(name))?;
    }
    for file in [dir.join(PACKED), dir.join("xtask"), library] {
        run(Command::new(tools.llvm("llvm-strip")).arg(file))?;
    }
    let script = dir.join("run.sh");
    std::fs::write(&script, SCRIPT)
        .and_then(|()| std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)))
        .map_err(|e| format!("{}: {e}", script.display()))?;
    archive(dir)
}

fn archive(dir: &Path) -> Result<(), String> {
    let name = dir.file_name().ok_or("--pack needs a folder with a name")?;
    let parent = dir.parent().filter(|p| !p.as_os_str().is_empty());
    let archive = dir.with_file_name(format!("{}.tar.gz", name.to_string_lossy()));
    run(Command::new("tar")
        .arg("-C")
        .arg(parent.unwrap_or(Path::new(".")))
        .arg("-czf")
        .arg(&archive)
        .arg(name))?;
    let size = archive
        .metadata()
        .map_err(|e| format!("{}: {e}", archive.display()))?
        .len();
    println!(
        "{}: {:.1} MB; unpack it there and start {}/run.sh npb --class A --json a.json",
        archive.display(),
        size as f64 / 1e6,
        name.to_string_lossy()
    );
    if size > LARGEST {
        return Err(format!("that is more than {} MB", LARGEST / 1_000_000));
    }
    Ok(())
}

pub(super) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let folder = to.parent().expect("a file in a folder");
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    std::fs::copy(from, to)
        .map(drop)
        .map_err(|e| format!("{} to {}: {e}", from.display(), to.display()))
}

/// Returns the shared libraries that an executable needs, without those of the C library.
pub(super) fn needed(executable: &Path) -> Result<Vec<PathBuf>, String> {
    const EVERYWHERE: [&str; 7] = [
        "linux-vdso",
        "ld-linux",
        "libc.so",
        "libm.so",
        "libdl.so",
        "libpthread.so",
        "librt.so",
    ];
    let listing = capture_ok(Command::new("ldd").arg(executable))?;
    Ok(listing
        .lines()
        .filter(|l| !EVERYWHERE.iter().any(|n| l.contains(n)))
        .filter_map(|l| l.split("=> ").nth(1)?.split(" (").next())
        .map(PathBuf::from)
        .collect())
}
