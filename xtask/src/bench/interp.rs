//! The interpreter beside clang -O2 (one thread, NPB class S, whole process) and beside LLVM's
//! own interpreter (sequential kernels).

use super::{Options, table::Table};
use crate::npb::{self, Class, Name};
use crate::process::{self, Measured, capture_ok, measure, median, root};
use crate::setup::{self, Tools};
use std::path::Path;
use std::process::Command;

/// Runs both parts; the last line is the geomean slowdown against clang -O2.
pub fn run(options: &Options) -> Result<(), String> {
    let tools = setup::ensure()?;
    process::run(tools.cargo().current_dir(root()).args([
        "build",
        "--release",
        "--package",
        "ompvm",
    ]))?;
    against_lli(&tools, options)?;
    against_native(&tools, options)
}

fn ompvm(file: &Path) -> Command {
    let mut command = Command::new(root().join("target/release/ompvm"));
    command
        .args(["run", "--tier=interp"])
        .arg(file)
        .env("OMP_NUM_THREADS", "1");
    command
}

/// Instructions of the IR that a run executed, from `--stats`.
fn instructions(file: &Path) -> Result<f64, String> {
    let mut command = Command::new(root().join("target/release/ompvm"));
    command
        .args(["run", "--tier=interp", "--stats"])
        .arg(file)
        .env("OMP_NUM_THREADS", "1");
    let output = process::capture(&mut command)?;
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines()
        .find_map(|l| l.strip_prefix("instructions executed: "))
        .and_then(|n| n.replace(',', "").trim().parse().ok())
        .ok_or_else(|| format!("{} printed no instruction count", process::show(&command)))
}

fn checked(command: &mut Command) -> Result<Measured, String> {
    let measured = measure(command)?;
    if measured.success {
        Ok(measured)
    } else {
        Err(format!(
            "{} failed:\n{}",
            process::show(command),
            measured.stdout
        ))
    }
}

fn against_native(tools: &Tools, options: &Options) -> Result<(), String> {
    let mut table = Table::new(
        "NPB class S, one thread, whole process: interpreter against clang -O2",
        &[
            "ompvm, s",
            "native, s",
            "10^6 IR instructions",
            "ns per instruction",
        ],
    );
    for name in Name::ALL {
        let built = npb::build(tools, name, Class::S)?;
        let count = instructions(&built.bitcode)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for run in 0..=options.runs {
            let a = checked(&mut ompvm(&built.bitcode))?;
            let b = checked(Command::new(&built.native).env("OMP_NUM_THREADS", "1"))?;
            if run > 0 {
                ours.push(a);
                theirs.push(b);
            }
        }
        let wall = |m: &[Measured]| median(m.iter().map(|m| m.wall));
        let cpu = median(ours.iter().map(|m| m.cpu));
        table.row(
            name.lower(),
            &[wall(&ours), wall(&theirs), count / 1e6, cpu / count * 1e9],
            wall(&ours) / wall(&theirs),
        );
    }
    table.finish(false, options.json.as_deref())
}

/// `bench/kernels/*.c`: sequential, without OpenMP and without what lli's interpreter aborts on.
fn against_lli(tools: &Tools, options: &Options) -> Result<(), String> {
    let lli = tools.llvm("lli");
    let dir = root().join("bench/out");
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut sources: Vec<_> = std::fs::read_dir(root().join("bench/kernels"))
        .map_err(|e| format!("bench/kernels: {e}"))?
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|x| x == "c"))
        .collect();
    sources.sort();
    let mut table = Table::new(
        "Sequential kernels, whole process: interpreter against lli -force-interpreter",
        &[
            "ompvm, s",
            "lli, s",
            "times faster",
            "10^6 IR instructions",
            "ns per instruction",
        ],
    );
    for source in sources {
        let stem = source
            .file_stem()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        let bitcode = dir.join(format!("{stem}.bc"));
        capture_ok(
            Command::new(tools.llvm("clang"))
                .args([
                    "-O1",
                    "-ffp-contract=off",
                    "-fno-vectorize",
                    "-c",
                    "-emit-llvm",
                    "-o",
                ])
                .arg(&bitcode)
                .arg(&source),
        )?;
        let count = instructions(&bitcode)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..options.runs.min(3) {
            ours.push(checked(&mut ompvm(&bitcode))?);
            theirs.push(checked(
                Command::new(&lli).arg("-force-interpreter").arg(&bitcode),
            )?);
        }
        let (a, b) = (
            median(ours.iter().map(|m| m.wall)),
            median(theirs.iter().map(|m| m.wall)),
        );
        let cpu = median(ours.iter().map(|m| m.cpu));
        table.row(&stem, &[a, b, b / a, count / 1e6, cpu / count * 1e9], a / b);
    }
    table.print();
    println!(
        "\nlli's interpreter is {:.1} times slower (geomean)",
        1.0 / table.geomean()
    );
    Ok(())
}
