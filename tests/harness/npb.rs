//! The NAS benchmarks: at class S they verify with 1, 2 and 4 threads (`cargo xtask npb` builds
//! them), and each rejects a result that is off by one part in a million. The versions for devices
//! verify on the emulated device, on the host, and as native programs without a device.

use crate::compile::llvm_bin;
use crate::run::{End, LIMIT, Ran, run};
use crate::{files, ompvm, root};
use libtest_mimic::Trial;
use std::process::Command;
use std::time::Duration;

/// Returns one trial per benchmark and number of threads; tiers other than the interpreter run two
/// threads.
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
            move || Ok(native(&format!("{name}.c"), true)?),
        ));
    }
    for name in ["ep", "cg", "mg", "ft"] {
        for device in ["emulated", "host"] {
            trials.push(Trial::test(
                format!("npb/target/{name}.S/{device}"),
                move || Ok(on_device(name, device)?),
            ));
        }
        for (title, spoiled) in [("native", false), ("wrong_figure", true)] {
            trials.push(Trial::test(
                format!("npb/target/{name}.S/{title}"),
                move || Ok(native(&format!("target/{name}.c"), spoiled)?),
            ));
        }
    }
    trials
}

/// Checks the version for devices; a region on the wrong device is reported.
fn on_device(name: &str, device: &str) -> Result<(), String> {
    let bitcode = root().join(format!("npb/bc/{name}.S.target.bc"));
    if !bitcode.exists() {
        return Err("not built: run `cargo xtask npb`".into());
    }
    let mut command = Command::new(ompvm());
    command.arg("run").args(["--device", device]).arg(bitcode);
    let mandatory = if device == "host" {
        "disabled"
    } else {
        "mandatory"
    };
    command
        .env("OMP_NUM_THREADS", "2")
        .env("OMP_TARGET_OFFLOAD", mandatory);
    let ran = run(&mut command, "", Duration::from_secs(600))?;
    if ran.end == End::Exit(0) && verified(&ran, "SUCCESSFUL") {
        Ok(())
    } else {
        Err(ran.summary())
    }
}

fn verified(ran: &Ran, verdict: &str) -> bool {
    ran.stdout
        .lines()
        .any(|l| l.contains("Verification") && l.trim_end().ends_with(&format!(" {verdict}")))
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
                if ran.end == End::Exit(0) && verified(&ran, "SUCCESSFUL") {
                    Ok(())
                } else {
                    Err(ran.summary().into())
                }
            }));
        }
    }
    trials
}

/// Builds and runs a source of `npb/` as a native program; with `spoiled` it is built with
/// `NPB_PERTURB`, which changes one result just before it is verified.
fn native(source: &str, spoiled: bool) -> Result<(), String> {
    let suffix = if spoiled { ".perturbed" } else { "" };
    let stem = source.trim_end_matches(".c").replace('/', ".");
    let executable = root().join(format!("target/guests/{stem}.S{suffix}"));
    std::fs::create_dir_all(root().join("target/guests")).map_err(|e| e.to_string())?;
    let npb = root().join("npb");
    let mut clang = Command::new(llvm_bin().join("clang"));
    clang.args(["-std=c11", "-O2", "-fopenmp", "-DNPB_CLASS=S"]);
    clang.args(spoiled.then_some("-DNPB_PERTURB"));
    clang
        .arg(npb.join(source))
        .args(files(&npb.join("common"), &["c"]));
    clang.arg("-o").arg(&executable).arg("-lm");
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
    let (end, verdict) = match spoiled {
        true => (1, "UNSUCCESSFUL"),
        false => (0, "SUCCESSFUL"),
    };
    if ran.end == End::Exit(end) && verified(&ran, verdict) {
        Ok(())
    } else {
        Err(ran.summary())
    }
}
