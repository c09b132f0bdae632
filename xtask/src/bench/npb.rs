//! The NAS benchmarks as whole processes: ours against what clang -O2 makes of the same sources
//! with libomp, and against -O3 -march=native as an honest control; all in turn.

use super::{Options, table::Table};
use crate::npb::{self, Class, Name};
use crate::process::{self, Measured, capture_ok, geomean, measure, median, root};
use crate::setup;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of this bench.
#[derive(Args, Clone)]
pub struct NpbOptions {
    #[command(flatten)]
    common: Options,
    /// Problem class
    #[arg(long, value_enum, ignore_case = true, default_value = "W")]
    class: Class,
    /// Passed to ompvm as `--tier`
    #[arg(long, default_value = "opt")]
    tier: String,
    /// Only these benchmarks
    #[arg(long, value_enum)]
    only: Vec<Name>,
}

/// Builds the three sides, runs them in turn, prints the table.
pub fn run(options: &NpbOptions) -> Result<(), String> {
    let tools = setup::ensure()?;
    let common = &options.common;
    let names = if options.only.is_empty() {
        Name::ALL.to_vec()
    } else {
        options.only.clone()
    };
    let title = format!(
        "NPB class {}, {} threads, whole process, --tier={}, median of {}",
        options.class.letter(),
        common.threads,
        options.tier,
        common.runs
    );
    let mut table = Table::new(
        &title,
        &["ompvm, s", "-O2, s", "-O3 -march=native, s", "against -O3"],
    );
    let mut control = Vec::new();
    for name in names {
        let built = npb::build(&tools, name, options.class)?;
        let tuned = tuned(&tools, name, options.class)?;
        let mut ours_command = Command::new(root().join("target/release/ompvm"));
        ours_command
            .args(["run", &format!("--tier={}", options.tier)])
            .arg(&built.bitcode);
        let mut sides = [
            ours_command,
            Command::new(&built.native),
            Command::new(&tuned),
        ];
        let mut walls: [Vec<f64>; 3] = Default::default();
        for run in 0..=common.runs {
            for (side, command) in sides.iter_mut().enumerate() {
                let wall = checked(command, common.threads)?.wall;
                if run > 0 {
                    walls[side].push(wall);
                }
            }
        }
        let [ours, plain, tuned] = walls.map(median);
        control.push(ours / tuned);
        table.row(
            name.lower(),
            &[ours, plain, tuned, ours / tuned],
            ours / plain,
        );
    }
    println!(
        "against -O3 -march=native: {:.3} (geomean)",
        geomean(control)
    );
    table.finish(false, common.json.as_deref())
}

fn checked(command: &mut Command, threads: usize) -> Result<Measured, String> {
    command
        .env("OMP_NUM_THREADS", threads.to_string())
        .env("OMP_PROC_BIND", "close")
        .env("OMP_PLACES", "cores");
    let measured = measure(command)?;
    if measured.success {
        return Ok(measured);
    }
    Err(format!(
        "{} failed:\n{}",
        process::show(command),
        measured.stdout
    ))
}

/// The same program for this processor.
fn tuned(tools: &setup::Tools, name: Name, class: Class) -> Result<PathBuf, String> {
    let executable = root()
        .join("npb/bin")
        .join(format!("{}.{}.O3", name.lower(), class.letter()));
    let modified = |f: &Path| f.metadata().and_then(|m| m.modified()).ok();
    let plain = npb::build(tools, name, class)?.native;
    if modified(&executable) > modified(&plain) {
        return Ok(executable);
    }
    capture_ok(
        npb::clang(tools, class)
            .args(["-O3", "-march=native", "-o"])
            .arg(&executable)
            .args(npb::sources(&root().join("npb"), name)?)
            .arg("-lm")
            .arg(format!("-Wl,-rpath,{}", tools.prefix.join("lib").display())),
    )?;
    Ok(executable)
}
