//! Native libraries that bring their own OpenMP runtime into the guest's process: libgomp, libomp,
//! or the drop-in library. The programs of `tests/neighbours` run with each of them.
//!
//! Does not replace the guest's own runtime, whose names are always the virtual machine's.

use crate::compile::{self, llvm_bin};
use crate::directives::Directives;
use crate::omp::{Outcome, judge};
use crate::run::{End, LIMIT, run};
use crate::{dropin, files, ompvm, root};
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The runtime that the library brings.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Gomp,
    Omp,
    Ours,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Gomp, Kind::Omp, Kind::Ours];

    fn name(self) -> &'static str {
        match self {
            Kind::Gomp => "gomp",
            Kind::Omp => "omp",
            Kind::Ours => "ours",
        }
    }

    /// Returns the missing prerequisite, if any.
    fn lacks(self) -> Option<&'static str> {
        let lib = llvm_bin().join("../lib/libomp.so.5");
        match self {
            Kind::Gomp => (!has_gomp()).then_some("needs gcc with libgomp"),
            Kind::Omp | Kind::Ours => (!lib.exists()).then_some("needs libomp's shared library"),
        }
    }

    fn compiler(self) -> PathBuf {
        match self {
            Kind::Gomp => "gcc".into(),
            Kind::Omp | Kind::Ours => llvm_bin().join("clang"),
        }
    }
}

fn has_gomp() -> bool {
    let output = Command::new("gcc")
        .arg("-print-file-name=libgomp.so")
        .output();
    // Without the file, gcc prints its bare name.
    output.is_ok_and(|o| o.status.success() && o.stdout.contains(&b'/'))
}

/// Returns the trials: every program with every runtime, in every tier.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let tiers = match crate::tier() {
        Some(tier) => vec![tier],
        None => ["interp", "baseline", "opt", "auto"]
            .map(|t| format!("--tier={t}"))
            .to_vec(),
    };
    let dir = root().join("tests/neighbours");
    for kind in Kind::ALL {
        let lacks = kind.lacks();
        for path in files(&dir, &["c"]) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let mut title = format!("neighbours/{}/{name}", kind.name());
            if let Some(lacks) = lacks {
                title += &format!(" ({lacks})");
            }
            let trial = match Directives::read(&path, &["O2"]) {
                Ok(d) => {
                    let (path, tiers) = (path.clone(), tiers.clone());
                    Trial::test(title, move || Ok(beside(kind, &path, &d, &tiers)?))
                }
                Err(e) => Trial::test(title, || Err(Failed::from(e))),
            };
            trials.push(trial.with_ignored_flag(lacks.is_some()));
        }
    }
    trials
}

/// Builds `tests/neighbours/library.inc` as a shared library `libNAME.so`.
pub fn native(compiler: &Path, name: &str, flags: &[&str]) -> Result<PathBuf, String> {
    let dir = root().join("target/guests/neighbours");
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let out = dir.join(format!("lib{name}.so"));
    // Renamed when complete: concurrent trials may have built and opened it.
    let part = dir.join(format!("{name}-{:?}.part", std::thread::current().id()));
    let source = root().join("tests/neighbours");
    let mut command = Command::new(compiler);
    command
        .args(["-w", "-O2", "-fopenmp", "-fPIC", "-shared"])
        .args(flags)
        .arg("-I")
        .arg(&source)
        .arg("-o")
        .arg(&part)
        .args(["-x", "c"])
        .arg(source.join("library.inc"))
        .args(["-x", "none", "-ldl"]);
    let ran = run(&mut command, "", LIMIT)?;
    if ran.end != End::Exit(0) {
        return Err(format!("{command:?}: {}", ran.summary()));
    }
    std::fs::rename(&part, &out).map_err(|e| format!("{}: {e}", out.display()))?;
    Ok(out)
}

/// Returns true for a program that opens the library itself, by a path in its arguments.
fn opens(source: &Path) -> bool {
    std::fs::read_to_string(source).is_ok_and(|text| text.contains("dlopen("))
}

fn beside(kind: Kind, source: &Path, d: &Directives, tiers: &[String]) -> Result<(), String> {
    let mut flags = vec!["-O2".to_owned(), "-fopenmp".to_owned()];
    flags.extend(d.flags.iter().cloned());
    let bitcode = compile::bitcode(source, &flags)?;
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{}-{stem}", kind.name());
    let alone = opens(source);
    let define: &[&str] = if alone { &["-DALONE"] } else { &[] };
    let library = native(&kind.compiler(), &name, define)?;
    let folder = library.parent().unwrap_or(Path::new("."));
    for tier in tiers {
        let mut command = Command::new(ompvm());
        command.args(["run", tier]);
        if !alone {
            command.arg("-L").arg(folder).arg(format!("-l{name}"));
        }
        command.arg(&bitcode).args(alone.then_some(&library));
        command.envs(d.env.iter().map(|(k, v)| (k, v)));
        if kind == Kind::Ours {
            command.env("LD_LIBRARY_PATH", dropin::library()?);
        }
        let ran = run(&mut command, &d.stdin, LIMIT)?;
        judge(source, d, Outcome::Pass, &ran)
            .map_err(|e| format!("{tier} beside {}: {e}\n{}", kind.name(), ran.summary()))?;
    }
    Ok(())
}
