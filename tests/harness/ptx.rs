//! Device code for GPUs, without a GPU: every offload program is lowered and assembled.
//!
//! The programs of `tests/offload`, `tests/auto_offload` and `tests/ptx` become PTX for several
//! kinds of GPU, which NVIDIA's assembler must accept. Those of `tests/ptx`, and some others, also
//! list in their heads what their PTX must and must not contain. Without `ptxas` (`cargo xtask
//! setup` fetches it) the trials are ignored, not passed. Runs no code.

use crate::directives::Directives;
use crate::run::{End, LIMIT, run};
use crate::{compile, files, ompvm, root};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;

const KINDS: [&str; 3] = ["sm_80", "sm_90", "sm_100"];

/// Returns the assembler: `OMPVM_PTXAS`, the one that setup fetched, or an installed one.
fn assembler() -> Option<PathBuf> {
    let named = std::env::var_os("OMPVM_PTXAS").map(PathBuf::from);
    let fetched = root().join("target/ptxas/ptxas");
    let installed = PathBuf::from("/usr/local/cuda/bin/ptxas");
    let mut known = named.into_iter().chain([fetched, installed]);
    known.find(|p| p.exists())
}

/// Returns one trial per program for the contents of its PTX, and one for the assembler.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let asks = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|t| t.contains("* with: "));
    let auto_offload = files(&root().join("tests/auto_offload"), &["c"]);
    let asking = auto_offload.into_iter().filter(asks);
    for source in files(&root().join("tests/ptx"), &["c"])
        .into_iter()
        .chain(asking)
    {
        let name = source
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        trials.push(Trial::test(format!("ptx/{name}"), move || {
            Ok(properties(&source)?)
        }));
    }
    let assembler = assembler();
    let mut sources = files(&root().join("tests/ptx"), &["c"]);
    sources.extend(files(&root().join("tests/offload"), &["c", "cpp"]));
    sources.extend(files(&root().join("tests/auto_offload"), &["c", "cpp"]));
    for (number, source) in sources.into_iter().enumerate() {
        let name = source.strip_prefix(root().join("tests")).unwrap_or(&source);
        let title = format!("ptxas/{}", name.display());
        let missing = assembler.is_none();
        let assembler = assembler.clone();
        let trial = Trial::test(title, move || {
            let assembler = assembler
                .as_deref()
                .ok_or("there is no ptxas: `cargo xtask setup`")?;
            Ok(assembled(&source, number, assembler)?)
        });
        trials.push(trial.with_ignored_flag(missing));
    }
    trials
}

/// Returns the PTX of a program compiled at this level.
fn ptx(source: &Path, level: &str, kind: &str) -> Result<String, String> {
    let mut flags = vec![level.to_owned(), "-fopenmp".to_owned()];
    flags.extend(Directives::read(source, &[])?.flags);
    let mut command = Command::new(ompvm());
    command.args(["inspect", "--ptx", kind]);
    if source.starts_with(root().join("tests/auto_offload")) {
        command.arg("--offload");
    } else {
        let device = ["--offload-arch=sm_90", "-nogpulib", "--cuda-feature=+ptx83"];
        flags.extend(device.map(str::to_owned));
    }
    command.arg(compile::bitcode(source, &flags)?);
    let ran = run(&mut command, "", LIMIT)?;
    if ran.end != End::Exit(0) {
        return Err(ran.summary());
    }
    Ok(ran.stdout)
}

/// Checks the requirements in the head of the source.
fn properties(source: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(source).map_err(|e| e.to_string())?;
    let words = |key: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|l| l.split_once(key));
        lines
            .flat_map(|(_, rest)| rest.split_whitespace().map(str::to_owned))
            .collect()
    };
    let (with, without) = (words("* with: "), words("* without: "));
    let optimized = words("* with at -O2: ");
    for level in ["-O0", "-O2"] {
        let ptx = ptx(source, level, "sm_90")?;
        let code: Vec<&str> = ptx
            .lines()
            .map(str::trim)
            // Parameters are not memory that the kernel works on.
            .filter(|l| !l.starts_with("//") && !l.starts_with("ld.param"))
            .filter(|l| !l.starts_with('.') || l.starts_with(".pragma"))
            .collect();
        // Without optimization the compiler leaves more than its second pass removes.
        if level == "-O2"
            && let Some(word) = without
                .iter()
                .find(|w| code.iter().any(|l| l.contains(&***w)))
        {
            return Err(format!("{level}: there should be no `{word}`:\n{ptx}"));
        }
        let more = if level == "-O2" { &optimized[..] } else { &[] };
        if let Some(word) = with
            .iter()
            .chain(more)
            .find(|w| !code.iter().any(|l| l.contains(&***w)))
        {
            return Err(format!("{level}: there should be a `{word}`:\n{ptx}"));
        }
        if let [first, second] = &words("* order: ")[..] {
            let last = code.iter().rposition(|l| l.contains(&**first));
            if last > code.iter().position(|l| l.contains(&**second)) {
                return Err(format!(
                    "{level}: `{first}` should be before `{second}`:\n{ptx}"
                ));
            }
        }
    }
    Ok(())
}

fn assembled(source: &Path, number: usize, assembler: &Path) -> Result<(), String> {
    let folder = root().join("target/guests/ptx");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    // Each program covers one kind and one level; over all programs, each kind covers both levels.
    let kind = KINDS[number % KINDS.len()];
    let levels = Directives::read(source, &["O0", "O2"])?.levels;
    let level = &format!("-{}", levels[number / KINDS.len() % levels.len()]);
    let ptx = ptx(source, level, kind)?;
    if !ptx.contains(".entry") {
        return Ok(());
    }
    let file = folder.join(format!("{number}-{kind}.ptx"));
    std::fs::write(&file, &ptx).map_err(|e| e.to_string())?;
    let mut command = Command::new(assembler);
    command
        .arg(format!("-arch={kind}"))
        .arg(&file)
        .args(["-o", "/dev/null"]);
    let ran = run(&mut command, "", LIMIT)?;
    if ran.end != End::Exit(0) {
        let file = file.display();
        return Err(format!("{level} for {kind}: {file}\n{}", ran.summary()));
    }
    Ok(())
}
