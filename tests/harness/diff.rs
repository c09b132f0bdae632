//! Differential tests: the same bitcode, run natively and on the virtual machine, must produce the
//! same output and end.

use crate::directives::Directives;
use crate::run::{LIMIT, Ran, run};
use crate::{compile, files, generate, ompvm, root};
use libtest_mimic::{Failed, Trial};
use std::path::Path;
use std::process::Command;

/// Seeds of generated programs in an ordinary run; `OMPVM_SEEDS=FROM..TO` chooses others.
const SEEDS: std::ops::Range<u64> = 0..120;

/// Returns one trial per program, level and tier.
pub fn trials() -> Vec<Trial> {
    let tiers = crate::tiers();
    let tiers = tiers
        .iter()
        .map(|(tier, one_in)| in_tier(tier.as_deref(), *one_in));
    tiers.flatten().chain(in_tier(Some(CHAOS), 13)).collect()
}

/// Returns the trials of a tier: every `one_in`-th program.
fn in_tier(tier: Option<&str>, one_in: usize) -> Vec<Trial> {
    let dir = root().join("tests/diff");
    let mut trials = Vec::new();
    let mut number = 0;
    let mut chosen = move || {
        number += 1;
        number % one_in == 0
    };
    for path in files(&dir, &["c", "cpp", "ll"]) {
        let name = path
            .strip_prefix(&dir)
            .unwrap_or(&path)
            .display()
            .to_string();
        let levels: &[&str] = if name.ends_with(".ll") {
            &["O0"]
        } else {
            &["O0", "O2"]
        };
        match Directives::read(&path, levels) {
            Ok(d) => {
                for level in d.levels.clone().into_iter().filter(|_| chosen()) {
                    let (path, d) = (path.clone(), d.clone());
                    let title = crate::titled(tier, &format!("diff/{name}/{level}"));
                    let tier = tier.map(str::to_owned);
                    trials.push(Trial::test(title, move || {
                        Ok(compare(&path, &level, &d, tier.as_deref())?)
                    }));
                }
            }
            Err(e) => trials.push(Trial::test(format!("diff/{name}"), || Err(Failed::from(e)))),
        }
    }
    for seed in seeds() {
        for level in ["O0", "O2"].into_iter().filter(|_| chosen()) {
            let tier = tier.map(str::to_owned);
            trials.push(Trial::test(
                crate::titled(tier.as_deref(), &format!("diff/generated/{seed}/{level}")),
                move || {
                    let name = format!("seed{seed}.c");
                    let path = compile::source("generated", &name, &generate::program(seed))?;
                    let d = Directives::default();
                    Ok(compare(&path, level, &d, tier.as_deref())?)
                },
            ));
        }
    }
    trials
}

fn seeds() -> std::ops::Range<u64> {
    let parse = |text: String| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    };
    std::env::var("OMPVM_SEEDS")
        .ok()
        .and_then(parse)
        .unwrap_or(SEEDS)
}

/// A pseudo-tier: tiers are switched at random points.
const CHAOS: &str = "chaos";

fn compare(source: &Path, level: &str, d: &Directives, tier: Option<&str>) -> Result<(), String> {
    let mut flags = vec![format!("-{level}"), "-pthread".to_owned()];
    flags.extend(d.flags.iter().cloned());
    let bitcode = compile::bitcode(source, &flags)?;
    let native = compile::native(&bitcode, &flags)?;
    let env = |command: &mut Command| -> Result<Ran, String> {
        command
            .args(&d.args)
            .envs(d.env.iter().map(|(k, v)| (k, v)));
        run(command, &d.stdin, LIMIT)
    };
    let expected = env(&mut Command::new(native))?;
    if let Some(reason) = &d.only_native {
        return Err(format!("the virtual machine does not run this: {reason}"));
    }
    let mut ours = Command::new(ompvm());
    if tier == Some(CHAOS) {
        // The seed depends on the relative path, so it is the same in every checkout.
        let name = source.strip_prefix(root()).unwrap_or(source);
        let seed: u64 = name.display().to_string().bytes().map(u64::from).sum();
        ours.env("OMPVM_CHAOS", seed.to_string());
    }
    let ours = env(ours
        .args(["run"])
        .args(tier.filter(|&t| t != CHAOS && !d.has_tier()))
        .args(&d.options)
        .arg(&bitcode))?;
    if ours.end == expected.end && ours.stdout == expected.stdout {
        return Ok(());
    }
    let at = expected
        .stdout
        .lines()
        .zip(ours.stdout.lines())
        .position(|(a, b)| a != b);
    let first = at.map_or(String::new(), |i| {
        format!(
            "first difference in line {}:\n  native: {}\n  ompvm:  {}\n",
            i + 1,
            expected.stdout.lines().nth(i).unwrap_or_default(),
            ours.stdout.lines().nth(i).unwrap_or_default()
        )
    });
    Err(format!(
        "{}: {first}native ended with {:?}\nompvm: {}",
        bitcode.display(),
        expected.end,
        ours.summary()
    ))
}
