//! The NAS benchmarks at class S verify with 1, 2 and 4 threads (`cargo xtask npb` builds them).

use crate::run::{End, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::process::Command;
use std::time::Duration;

/// One trial per benchmark and number of threads.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for name in ["is", "ep", "mg", "ft", "cg", "lu", "bt", "sp"] {
        for threads in ["1", "2", "4"] {
            trials.push(Trial::test(format!("npb/{name}.S/{threads}"), move || {
                let bitcode = root().join(format!("npb/bc/{name}.S.bc"));
                if !bitcode.exists() {
                    return Err("not built: run `cargo xtask npb`".into());
                }
                let mut command = Command::new(ompvm());
                command.arg("run").arg(bitcode).env("OMP_NUM_THREADS", threads);
                let ran = run(&mut command, "", Duration::from_secs(600))?;
                let verified = ran.stdout.lines().any(|l| {
                    l.contains("Verification") && l.trim_end().ends_with(" SUCCESSFUL")
                });
                if ran.end == End::Exit(0) && verified { Ok(()) } else { Err(ran.summary().into()) }
            }));
        }
    }
    trials
}
