//! The demonstration: bitcode of every NAS benchmark runs on ompvm and verifies itself.
//!
//! `bench npb` compares the benchmarks with native executables.

use crate::dist;
use crate::npb::{self, Class, Name};
use crate::setup;
use indicatif::{ProgressBar, ProgressStyle};
use std::process::Command;
use std::time::Duration;

/// Results that a benchmark printed.
struct Report {
    verified: bool,
    seconds: f64,
    mops: f64,
    threads: String,
    wall: f64,
}

/// Builds everything, runs class S of all eight, then IS at class W.
pub fn run() -> Result<(), String> {
    let tools = setup::ensure()?;
    println!("{}", tools.describe());
    let ompvm = dist::release(&tools)?;
    let mut jobs: Vec<(Name, Class)> = Name::ALL.iter().map(|&n| (n, Class::S)).collect();
    jobs.push((Name::Is, Class::W));

    let bar = ProgressBar::new(jobs.len() as u64).with_style(
        ProgressStyle::with_template("{bar:24} {pos}/{len} {msg} {elapsed}")
            .expect("the template is valid"),
    );
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut rows = Vec::new();
    for (name, class) in jobs {
        let label = format!("{}.{}", name.lower(), class.letter());
        bar.set_message(format!("compiling {label}"));
        let built = npb::build(&tools, name, class)?;
        bar.set_message(format!("running {label}"));
        let mut command = Command::new(&ompvm);
        command.arg("run").arg(&built.bitcode);
        let report = report(&mut command)?;
        rows.push((label, report));
        bar.inc(1);
    }
    bar.finish_and_clear();

    println!("\n| benchmark | verification | seconds | Mop/s | threads | whole process, s |");
    println!("|---|---|---|---|---|---|");
    for (label, r) in &rows {
        let verification = if r.verified {
            "SUCCESSFUL"
        } else {
            "UNSUCCESSFUL"
        };
        println!(
            "| {label} | {verification} | {:.3} | {:.1} | {} | {:.3} |",
            r.seconds, r.mops, r.threads, r.wall
        );
    }
    if rows.iter().all(|(_, r)| r.verified) {
        println!("\nAll verified: the programs' bitcode ran on ompvm and its OpenMP runtime.");
        Ok(())
    } else {
        Err("a benchmark did not verify".into())
    }
}

fn report(command: &mut Command) -> Result<Report, String> {
    let measured = ompvm_measure::run(command)?;
    let field = |name: &str| {
        measured
            .stdout
            .lines()
            .find_map(|l| l.trim_start().strip_prefix(name)?.split('=').nth(1))
            .map(|v| v.trim().to_owned())
            .unwrap_or_default()
    };
    Ok(Report {
        verified: measured.success() && field("Verification") == "SUCCESSFUL",
        seconds: field("Time in seconds").parse().unwrap_or(f64::NAN),
        mops: field("Mop/s total").parse().unwrap_or(f64::NAN),
        threads: field("Total threads"),
        wall: measured.wall,
    })
}
