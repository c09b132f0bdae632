//! Programs under the shell's limits (`tests/limits`): little address space, few mappings, few
//! threads, small and unlimited stacks.
//!
//! Teams become smaller, and a limit that is too low for any run is one message; nothing panics,
//! aborts or hangs. Each program runs at -O0 and -O2 in each tier. Does not measure speed.

use crate::compile;
use crate::run::{End, LIMIT, Ran, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::path::Path;
use std::process::Command;

/// A program, the commands that limit its shell, and its output under each.
type Row = (&'static str, &'static [&'static str], &'static str);

const PROGRAMS: &[Row] = &[
    (
        "hello.c",
        &[
            "ulimit -v 300000",
            "ulimit -d 200000",
            "ulimit -v 1000000",
            "ulimit -s 256",
            "ulimit -s unlimited",
        ],
        "4 1\n",
    ),
    (
        "threads.cpp",
        // All threads may live at once, with stacks of 8 MiB.
        &["ulimit -v 400000", "ulimit -d 320000"],
        "66 4\n",
    ),
    (
        "hot.cpp",
        &["ulimit -v 307200", "ulimit -d 307200"],
        "4000000.0 1194000000\n",
    ),
    (
        "exhausted.c",
        &["ulimit -v 307200", "ulimit -v 600000"],
        "1\n1\n",
    ),
    (
        "teams.c",
        &["true", "ulimit -v 400000", "ulimit -v 4000000"],
        "1 1\n1\n100\n",
    ),
    (
        "league.cpp",
        &["true", "ulimit -v 400000", "ulimit -v 2000000"],
        "4999950000 2\n",
    ),
    ("own_limit.c", &["true"], "1 1\n1\n"),
    ("processes.c", &["true"], "1 1\n100\n1\n"),
    ("mappings.c", &["true"], "1500 1\n"),
];

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for tier in ["interp", "baseline", "opt", "auto"] {
        for level in ["-O0", "-O2"] {
            for &(program, limits, wanted) in PROGRAMS {
                let name = format!("limits/{tier}/{program}{level}");
                trials.push(Trial::test(name, move || {
                    let bitcode = guest(program, level)?;
                    for limit in limits {
                        let ran = limited(limit, tier, &bitcode)?;
                        if ran.end != End::Exit(0) || ran.stdout != wanted {
                            return Err(format!("{limit}: {}", ran.summary()).into());
                        }
                    }
                    Ok(())
                }));
            }
        }
        trials.push(Trial::test(
            format!("limits/{tier}/too_little"),
            move || Ok(too_little(tier)?),
        ));
    }
    trials
}

fn guest(program: &str, level: &str) -> Result<std::path::PathBuf, String> {
    let source = root().join("tests/limits").join(program);
    compile::bitcode(&source, &[level.to_owned(), "-fopenmp".to_owned()])
}

fn limited(limit: &str, tier: &str, bitcode: &Path) -> Result<Ran, String> {
    let script = format!("ulimit -c 0; {limit}; exec \"$@\"");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, "sh"])
        .arg(ompvm())
        .args(["run", "--no-cache", &format!("--tier={tier}")])
        .arg(bitcode);
    run(&mut command, "", LIMIT)
}

/// Checks limits between the needs of the system's loader and those of a team.
fn too_little(tier: &str) -> Result<(), String> {
    let hello = guest("hello.c", "-O2")?;
    for kilobytes in (70_000..240_000).step_by(7_919) {
        let ran = limited(&format!("ulimit -v {kilobytes}"), tier, &hello)?;
        let runs = ran.end == End::Exit(0) && ran.stdout.ends_with(" 1\n");
        let tells = ran.end == End::Exit(125) && ran.stderr.contains("ompvm: ");
        // The system's loader exits with this status.
        let never_began = ran.end == End::Exit(127);
        if ran.stderr.contains("panicked") || !(runs || tells || never_began) {
            return Err(format!("{kilobytes} kB: {}", ran.summary()));
        }
    }
    Ok(())
}
