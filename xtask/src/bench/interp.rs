//! Compares the interpreter with clang -O2 (one thread, NPB class S, whole process) and with LLVM's
//! interpreter (sequential kernels).

use super::{Options, table::Table};
use crate::dist;
use crate::npb::{self, Class, Name};
use crate::process::{self, capture_ok, measure_ok, median, root};
use crate::setup::{self, Tools};
use ompvm_measure::Run;
use std::path::Path;
use std::process::Command;

/// Runs both parts; the last line is the geometric mean of the slowdown against clang -O2.
pub fn run(options: &Options) -> Result<(), String> {
    let tools = setup::ensure()?;
    let ompvm = dist::for_measurement(&tools)?;
    measure_startup(&tools, &ompvm, options)?;
    against_lli(&tools, &ompvm, options)?;
    against_native(&tools, &ompvm, options)
}

fn interpret(ompvm: &Path, file: &Path) -> Command {
    let mut command = Command::new(ompvm);
    command
        .args(["run", "--tier=interp"])
        .arg(file)
        .env("OMP_NUM_THREADS", "1");
    command
}

/// Returns from `--stats` the number of executed IR instructions and the nanoseconds to lower one.
fn stats(ompvm: &Path, file: &Path) -> Result<(f64, f64), String> {
    let mut command = Command::new(ompvm);
    command
        .args(["run", "--tier=interp", "--stats"])
        .arg(file)
        .env("OMP_NUM_THREADS", "1");
    let output = process::capture(&mut command)?;
    let text = String::from_utf8_lossy(&output.stderr);
    let executed = text
        .lines()
        .find_map(|l| l.strip_prefix("instructions executed: ")?.parse().ok());
    let lowering = text.lines().find_map(|l| {
        let mut numbers = l.strip_prefix("lowered: ")?.split(", ").map(|part| {
            part.split(' ')
                .next()
                .and_then(|n| n.parse::<f64>().ok())
                .unwrap_or(f64::NAN)
        });
        let (_, instructions, ms) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Some(ms * 1e6 / instructions)
    });
    executed
        .zip(lowering)
        .ok_or_else(|| format!("{} printed no counts", process::show(&command)))
}

/// Measures the start-up of a module of about 10,000 instructions whose `main` returns at once.
fn measure_startup(tools: &Tools, ompvm: &Path, options: &Options) -> Result<(), String> {
    let dir = root().join("bench/out");
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut text =
        String::from("int main(int argc, char **argv) { (void)argv; return argc - 1; }\n");
    for i in 0..450 {
        text.push_str(&format!(
            "double f{i}(double *x, long n) {{ double s = {i};\n\
             for (long i = 1; i < n; i++) {{ if (x[i] > s) x[i] -= s * x[i - 1]; else s += x[i] / {}; }}\n\
             return s; }}\n",
            i + 2
        ));
    }
    let (source, bitcode) = (dir.join("start.c"), dir.join("start.bc"));
    std::fs::write(&source, text).map_err(|e| format!("{}: {e}", source.display()))?;
    capture_ok(
        Command::new(tools.llvm("clang"))
            .args(["-O1", "-g", "-fno-unroll-loops", "-c", "-emit-llvm", "-o"])
            .arg(&bitcode)
            .arg(&source),
    )?;
    let listing = capture_ok(Command::new(ompvm).arg("inspect").arg(&bitcode))?;
    let instructions: f64 = listing
        .lines()
        .filter_map(|l| {
            l.split(" instructions")
                .next()?
                .rsplit(' ')
                .next()?
                .parse::<f64>()
                .ok()
        })
        .sum();
    let mut walls = Vec::new();
    for _ in 0..=options.runs {
        walls.push(measure_ok(&mut interpret(ompvm, &bitcode))?.wall);
    }
    println!(
        "start: a module of {instructions} instructions with -g runs main and ends in {:.1} ms (median of {})",
        median(walls[1..].iter().copied()) * 1e3,
        options.runs
    );
    Ok(())
}

fn against_native(tools: &Tools, ompvm: &Path, options: &Options) -> Result<(), String> {
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
        let (count, lowering) = stats(ompvm, &built.bitcode)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for run in 0..=options.runs {
            let a = measure_ok(&mut interpret(ompvm, &built.bitcode))?;
            let b = measure_ok(Command::new(&built.native).env("OMP_NUM_THREADS", "1"))?;
            if run > 0 {
                ours.push(a);
                theirs.push(b);
            }
        }
        let wall = |m: &[Run]| median(m.iter().map(|m| m.wall));
        let cpu = median(ours.iter().map(|m| m.cpu));
        table.row(
            name.lower(),
            &[
                wall(&ours),
                wall(&theirs),
                count / 1e6,
                cpu / count * 1e9,
                lowering,
            ],
            wall(&ours) / wall(&theirs),
        );
    }
    table.finish(false, options.json.as_deref())
}

/// Compares with lli on `bench/kernels/*.c`: sequential programs without instructions that lli's
/// interpreter does not support.
fn against_lli(tools: &Tools, ompvm: &Path, options: &Options) -> Result<(), String> {
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
        let (count, _) = stats(ompvm, &bitcode)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..options.runs.min(3) {
            ours.push(measure_ok(&mut interpret(ompvm, &bitcode))?);
            theirs.push(measure_ok(
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
