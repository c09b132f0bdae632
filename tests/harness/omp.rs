//! OpenMP programs by construct, guest faults, and constructs that must be reported at load.
//!
//! Directives in the programs say what is expected, so a test is one file. `diff` compares with
//! native runs.

use crate::directives::Directives;
use crate::run::{End, LIMIT, Ran, run};
use crate::{compile, files, ompvm, root};
use libtest_mimic::{Failed, Trial};
use std::path::Path;
use std::process::Command;

/// The expected outcome of a program.
#[derive(Clone, Copy, PartialEq)]
pub enum Outcome {
    /// The program checks itself and ends.
    Pass,
    /// The program faults.
    Fail,
    /// The program is reported at load.
    Unsupported,
    /// The program checks itself, and its regions run on the device.
    OnDevice,
}

/// Returns one trial per program, level and tier.
pub fn trials() -> Vec<Trial> {
    let tiers = crate::tiers();
    let tiers = tiers
        .iter()
        .map(|(tier, one_in)| in_tier(tier.as_deref(), *one_in));
    tiers.flatten().collect()
}

/// Share of the programs that run on a group of devices, too, where all of a tier's run, and on one
/// without common memory.
const GROUP_SHARE: usize = 8;

/// Returns the trials of a tier. All faults are included: they are few and quick, and every tier
/// must report them alike.
fn in_tier(tier: Option<&str>, one_in: usize) -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut number = 0;
    for (folder, outcome) in [
        ("pass", Outcome::Pass),
        ("fail", Outcome::Fail),
        ("unsupported", Outcome::Unsupported),
        ("offload", Outcome::Pass),
        ("auto_offload", Outcome::OnDevice),
    ] {
        let dir = root().join("tests").join(folder);
        for path in files(&dir, &["c", "cpp", "ll"]) {
            let name = path
                .strip_prefix(&dir)
                .unwrap_or(&path)
                .display()
                .to_string();
            let title = crate::titled(tier, &format!("{folder}/{name}"));
            let (levels, outcome): (&[&str], _) = match folder {
                // Without optimization, the code of regions differs.
                "offload" if name.starts_with("fail/") => (&["O0", "O2"], Outcome::Fail),
                "offload" | "auto_offload" => (&["O0", "O2"], outcome),
                _ => (&["O2"], outcome),
            };
            match Directives::read(&path, levels) {
                Ok(mut d) => {
                    if folder == "offload" {
                        on_emulated_device(&mut d);
                    }
                    if outcome == Outcome::OnDevice {
                        let options = ["--device=emulated", "--offload-report"];
                        d.options.extend(options.map(str::to_owned));
                        if !d.options.iter().any(|o| o.starts_with("--offload=")) {
                            d.options.push("--offload=force".into());
                        }
                    }
                    for level in d.levels.clone() {
                        number += 1;
                        if number % one_in != 0 && outcome != Outcome::Fail {
                            continue;
                        }
                        let (path, d) = (path.clone(), d.clone());
                        let tier = tier.map(str::to_owned);
                        let once = tier.as_deref() == Some("--tier=interp");
                        let places = [
                            ("group", Some(0)),
                            ("apart", Some(GROUP_SHARE / 2)),
                            ("helped", Some(GROUP_SHARE / 4)),
                            ("processors", None),
                        ];
                        for (kind, place) in places {
                            let chosen = match place {
                                Some(place) => {
                                    level == "O2" && (one_in > 1 || number % GROUP_SHARE == place)
                                }
                                None => true,
                            };
                            // A trap of the processors is one of the process.
                            let traps = ["helped", "processors"].contains(&kind);
                            let chosen = chosen && !(traps && outcome == Outcome::Fail);
                            let Some(d) = on_group(&d, kind).filter(|_| once && chosen) else {
                                continue;
                            };
                            let (path, level, tier) = (path.clone(), level.clone(), tier.clone());
                            trials
                                .push(Trial::test(format!("{kind}/{title}/{level}"), move || {
                                    Ok(check(&path, &level, &d, outcome, tier.as_deref())?)
                                }));
                        }
                        trials.push(Trial::test(format!("{title}/{level}"), move || {
                            Ok(check(&path, &level, &d, outcome, tier.as_deref())?)
                        }));
                    }
                }
                Err(e) => trials.push(Trial::test(title, || Err(Failed::from(e)))),
            }
        }
    }
    trials
}

/// Adds the flags that compile for a device, and the option for the emulated device.
pub fn on_emulated_device(d: &mut Directives) {
    let flags = ["--offload-arch=sm_90", "-nogpulib", "--cuda-feature=+ptx83"];
    d.flags.extend(flags.map(str::to_owned));
    if !d.options.iter().any(|o| o.starts_with("--device")) {
        d.options.push("--device=emulated".into());
    }
    if !d.env.iter().any(|(key, _)| key == "OMP_NUM_THREADS") {
        d.env.push(("OMP_NUM_THREADS".into(), "4".into()));
    }
}

/// Returns the same test on three emulated devices that run its regions together, `apart` without
/// common memory, on one with the processors, or on the processors as a device. `None` if it chooses
/// its devices.
fn on_group(d: &Directives, kind: &str) -> Option<Directives> {
    if d.not_on.iter().any(|other| other == kind) {
        return None;
    }
    let mut grouped = d.clone();
    let device = grouped
        .options
        .iter_mut()
        .find(|o| *o == "--device=emulated")?;
    if kind == "processors" {
        *device = "--device=cpu".into();
        return Some(grouped);
    }
    if kind == "helped" {
        grouped.options.push("--devices=all,cpu".into());
        return Some(grouped);
    }
    *device = "--device=emulated:3".into();
    grouped.options.push("--devices=all".into());
    if kind == "apart" {
        let links = ("OMPVM_EMULATED_LINKS".into(), "off".into());
        grouped.env.push(links);
    }
    Some(grouped)
}

fn check(
    source: &Path,
    level: &str,
    d: &Directives,
    outcome: Outcome,
    tier: Option<&str>,
) -> Result<(), String> {
    let mut flags = vec![format!("-{level}"), "-fopenmp".to_owned()];
    flags.extend(d.flags.iter().cloned());
    let bitcode = compile::bitcode(source, &flags)?;
    if outcome == Outcome::OnDevice && level == "O2" {
        verdicts(source, &bitcode)?;
    }
    let fixed = d.env.iter().any(|(k, _)| k == "OMP_NUM_THREADS");
    let counts: &[Option<&str>] = match outcome {
        Outcome::Pass if !fixed => &[Some("1"), Some("4")],
        _ => &[None],
    };
    for threads in counts {
        let mut command = Command::new(ompvm());
        command
            .arg("run")
            .args(tier.filter(|_| !d.has_tier()))
            .args(&d.options)
            .arg(&bitcode)
            .args(&d.args);
        command.envs(threads.map(|t| ("OMP_NUM_THREADS", t)));
        command.envs(d.env.iter().map(|(k, v)| (k, v)));
        let ran = run(&mut command, &d.stdin, LIMIT)?;
        if d.optional && ran.end == End::Exit(125) && ran.stderr.contains("not supported") {
            return Ok(());
        }
        judge(source, d, outcome, &ran).map_err(|e| {
            format!(
                "{}, OMP_NUM_THREADS {threads:?}: {e}\n{}",
                bitcode.display(),
                ran.summary()
            )
        })?;
    }
    Ok(())
}

/// Compares the output of `inspect --offload` with the file beside the program, if there is one.
fn verdicts(source: &Path, bitcode: &Path) -> Result<(), String> {
    let Ok(expected) = std::fs::read_to_string(source.with_extension("regions")) else {
        return Ok(());
    };
    let mut command = Command::new(ompvm());
    command.args(["inspect", "--offload"]).arg(bitcode);
    let ran = run(&mut command, "", LIMIT)?;
    // The path as the compiler received it.
    let said = ran.stdout.replace(&format!("{}/", root().display()), "");
    let said = said.replace("tests/auto_offload/", "");
    match said == expected {
        true => Ok(()),
        false => Err(format!(
            "says of the regions:\n{said}\ninstead of:\n{expected}"
        )),
    }
}

/// Checks that a run did what the program's head says.
pub fn judge(source: &Path, d: &Directives, outcome: Outcome, ran: &Ran) -> Result<(), String> {
    let expected = match (outcome, d.signal, d.exit) {
        (Outcome::Unsupported, None, None) => End::Exit(125),
        (_, Some(signal), _) => End::Signal(signal),
        (_, None, exit) => End::Exit(exit.unwrap_or(0)),
    };
    if ran.end != expected {
        return Err(format!("should end with {expected:?}"));
    }
    let file = source.with_extension("stdout");
    let expected = match std::fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(_) if d.stdout.is_empty() => None,
        Err(_) => Some(d.stdout.join("\n") + "\n"),
    };
    if let Some(expected) = expected
        && expected.trim_end() != ran.stdout.trim_end()
    {
        return Err(format!("should print:\n{expected}"));
    }
    if outcome == Outcome::Unsupported && !ran.stdout.is_empty() {
        return Err("should be reported before the program starts".into());
    }
    let mut says = d.stderr_has.iter();
    let told = says.any(|s| s.contains("host") || s.contains("parent"))
        || d.options.iter().any(|o| o == "--offload=auto");
    if outcome == Outcome::OnDevice && !told && ran.stderr.contains("on the host") {
        return Err("all of its regions should run on the device".into());
    }
    match d.stderr_has.iter().find(|s| !ran.stderr.contains(*s)) {
        Some(missing) => Err(format!("the diagnostics should name `{missing}`")),
        None => Ok(()),
    }
}
