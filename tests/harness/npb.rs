//! The NAS benchmarks at class S verify with 1, 2 and 4 threads (`cargo xtask npb` builds them),
//! and each refuses a figure that is off by one part in a million.

use crate::compile::llvm_bin;
use crate::run::{End, LIMIT, run};
use crate::{files, ompvm, root};
use libtest_mimic::Trial;
use std::process::Command;
use std::time::Duration;

/// One trial per benchmark and number of threads; in other tiers than the interpreter with two.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (tier, one_in) in crate::tiers() {
        let threads: &[&str] = if one_in == 1 {
            &["1", "2", "4"]
        } else {
            &["2"]
        };
        trials.extend(in_tier(tier.as_deref(), threads));
    }
    for name in ["is", "ep", "mg", "ft", "cg", "lu", "bt", "sp"] {
        trials.push(Trial::test(
            format!("npb/{name}.S/wrong_figure"),
            move || Ok(wrong_figure(name)?),
        ));
    }
    trials
}

fn in_tier(tier: Option<&str>, counts: &[&'static str]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for name in ["is", "ep", "mg", "ft", "cg", "lu", "bt", "sp"] {
        for &threads in counts {
            let title = crate::titled(tier, &format!("npb/{name}.S/{threads}"));
            let tier = tier.map(str::to_owned);
            trials.push(Trial::test(title, move || {
                let bitcode = root().join(format!("npb/bc/{name}.S.bc"));
                if !bitcode.exists() {
                    return Err("not built: run `cargo xtask npb`".into());
                }
                let mut command = Command::new(ompvm());
                command
                    .arg("run")
                    .args(tier.as_deref())
                    .arg(bitcode)
                    .env("OMP_NUM_THREADS", threads);
                let ran = run(&mut command, "", Duration::from_secs(600))?;
                let verified = ran
                    .stdout
                    .lines()
                    .any(|l| l.contains("Verification") && l.trim_end().ends_with(" SUCCESSFUL"));
                if ran.end == End::Exit(0) && verified {
                    Ok(())
                } else {
                    Err(ran.summary().into())
                }
            }));
        }
    }
    trials
}

/// Built with `NPB_PERTURB`, which spoils one figure just before it is verified.
fn wrong_figure(name: &str) -> Result<(), String> {
    let executable = root().join(format!("target/guests/{name}.S.perturbed"));
    std::fs::create_dir_all(root().join("target/guests")).map_err(|e| e.to_string())?;
    let prefix = format!("{name}_");
    let sources = files(&root().join("npb"), &["c"]).into_iter().filter(|f| {
        let stem = f.file_stem().unwrap_or_default().to_string_lossy();
        f.parent().is_some_and(|p| p.ends_with("common"))
            || *stem == *name
            || stem.starts_with(&prefix)
    });
    let mut clang = Command::new(llvm_bin().join("clang"));
    clang.args([
        "-std=c11",
        "-O2",
        "-fopenmp",
        "-DNPB_CLASS=S",
        "-DNPB_PERTURB",
    ]);
    clang.args(sources).arg("-o").arg(&executable).arg("-lm");
    clang.arg(format!(
        "-Wl,-rpath,{}",
        llvm_bin().join("../lib").display()
    ));
    let built = run(&mut clang, "", LIMIT)?;
    if built.end != End::Exit(0) {
        return Err(built.summary());
    }
    let ran = run(
        Command::new(executable).env("OMP_NUM_THREADS", "2"),
        "",
        LIMIT,
    )?;
    let refused = ran
        .stdout
        .lines()
        .any(|l| l.trim_end().ends_with(" UNSUCCESSFUL"));
    if ran.end == End::Exit(1) && refused {
        Ok(())
    } else {
        Err(ran.summary())
    }
}
