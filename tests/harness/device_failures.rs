//! Devices and ranks that fail while several work together.
//!
//! A table of kinds of members and steps of their work: each step fails on one member
//! (`OMPVM_FAIL_DEVICE`, and for GPUs the mock driver), in programs whose results tell whether work was
//! lost or repeated (`tests/driver/members.c`). Required is the right result, computed on the host if need
//! be, or status 125 if the member had the only copy of data; at most one message, which names the
//! member; and an end.

use crate::driver;
use crate::ranks;
use crate::run::{End, Ran, run};
use crate::{compile, ompvm, root};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Time limit of a run.
const LIMIT: Duration = Duration::from_secs(60);
/// The steps of a device's work.
const STEPS: [&str; 8] = [
    "open", "load", "alloc", "upload", "launch", "download", "wait", "free",
];
/// The programs: arrays of regions alone, a region that runs for long, a reduction, arrays that one or
/// two regions change.
const MODES: [&str; 5] = ["region", "long", "sum", "resident", "twice"];

/// A kind of member that fails: its name, options and variables of the run, the number of the device
/// that fails in its process, and the name that a message gives it.
#[derive(Clone, Copy)]
struct Member {
    name: &'static str,
    options: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    device: u32,
    named: &'static str,
}

const MEMBERS: [Member; 6] = [
    Member {
        name: "emulated",
        options: &["--device=emulated:2", "--devices=all"],
        environment: &[],
        device: 1,
        named: "emulated device 1: ",
    },
    Member {
        name: "first",
        options: &["--device=emulated:2", "--devices=all"],
        environment: &[],
        device: 0,
        named: "emulated device 0: ",
    },
    Member {
        name: "separate",
        options: &["--device=emulated:2", "--devices=all"],
        environment: &[("OMPVM_EMULATED_LINKS", "off")],
        device: 1,
        named: "emulated device 1: ",
    },
    Member {
        name: "helper",
        options: &["--device=emulated", "--devices=all,cpu"],
        environment: &[],
        device: 1,
        named: "threads of the processors: ",
    },
    Member {
        name: "alone",
        options: &["--device=emulated"],
        environment: &[],
        device: 0,
        named: "emulated device 0: ",
    },
    Member {
        name: "processors",
        options: &["--device=cpu"],
        environment: &[],
        device: 0,
        named: "threads of the processors: ",
    },
];

/// Returns the trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for member in MEMBERS {
        for step in STEPS {
            let title = format!("device_failures/{}/{step}", member.name);
            trials.push(Trial::test(title, move || Ok(fails(&member, step)?)));
        }
    }
    for (name, mock) in [
        ("context", "context=999"),
        ("module", "module=46"),
        ("alloc", "memory=1000"),
        ("upload", "to=46"),
        ("launch", "launch=46"),
        ("wait", "kernel=46"),
    ] {
        let title = format!("device_failures/gpus/{name}");
        trials.push(Trial::test(title, move || Ok(gpus_fail(mock)?)));
    }
    for (device, failing) in [("emulated", 1), ("cpu", 1), ("cpu", 0)] {
        for step in STEPS {
            let title = format!("device_failures/rank{failing}_{device}/{step}");
            ranks::add(&mut trials, title, move |launcher| {
                rank_fails(launcher, device, failing, step)
            });
        }
    }
    for step in [
        "open:0:1",
        "load:0:1",
        "launch:0:1",
        "launch:0:2",
        "wait:0:2",
    ] {
        let title = format!("device_failures/dead/{}", step.replace(':', "_"));
        ranks::add(&mut trials, title, move |l| rank_dies(l, step));
    }
    trials
}

fn program() -> Result<PathBuf, String> {
    let flags = [
        "-O2",
        "-fopenmp",
        "--offload-arch=sm_90",
        "-nogpulib",
        "--cuda-feature=+ptx83",
    ];
    let source = root().join("tests/driver/members.c");
    compile::bitcode(&source, &flags.map(str::to_owned))
}

/// Checks the end of a run in which a step failed. A device that has failed after an earlier region may
/// have had the only copy of resident data, and one that fails in a copy to the host may have
/// replaced a part of what the region read.
fn check(ran: &Ran, step: &str, mode: &str, count: u32, named: &str) -> Result<(), String> {
    let kept = mode == "resident" || mode == "twice";
    let may_lose = step == "download" || kept && (count > 1 || step == "free");
    let messages: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.contains("ompvm: "))
        .collect();
    let names = messages.iter().all(|line| line.contains(named));
    let helps = messages
        .iter()
        .all(|line| line.contains("(") && line.contains("device"));
    let ended = match ran.end {
        End::Exit(0) => ran.stdout == "right\n",
        End::Exit(125) => {
            may_lose
                && messages
                    .iter()
                    .any(|line| line.contains(" is lost with data of the program"))
        }
        _ => false,
    };
    match ended && messages.len() <= 1 && names && helps {
        true => Ok(()),
        false => Err(format!(
            "step {step}, {count}, of `{mode}`: {}",
            ran.summary()
        )),
    }
}

fn fails(member: &Member, step: &str) -> Result<(), String> {
    let program = program()?;
    for mode in MODES {
        // Only processors execute a launch beside the thread that began it.
        if mode == "long" && member.name != "processors" {
            continue;
        }
        for count in [1, 2] {
            let mut command = Command::new(ompvm());
            command.arg("run").args(member.options);
            command.arg(&program).arg(mode).env("OMP_NUM_THREADS", "2");
            command.envs(member.environment.iter().copied());
            let injected = format!("{step}:{}:{count}", member.device);
            command.env("OMPVM_FAIL_DEVICE", injected);
            let ran = run(&mut command, "", LIMIT)?;
            check(&ran, step, mode, count, member.named)?;
        }
    }
    Ok(())
}

/// The second of two GPUs fails in its driver, in a region that nothing has preceded.
fn gpus_fail(mock: &str) -> Result<(), String> {
    let mut command = Command::new(ompvm());
    command.args(["run", "--device=0", "--devices=all"]);
    command.arg(program()?).arg("sum");
    command.env("OMPVM_CUDA_DRIVER", driver::driver()?);
    command.env("MOCK", format!("devices=2 only=1 {mock}"));
    let cache = root().join("target/guests/no-cache").join(mock);
    command.env("OMPVM_CACHE_DIR", cache);
    let ran = run(&mut command, "", LIMIT)?;
    let alone = mock.starts_with("context");
    let messages = ran.stderr.lines().filter(|l| l.contains("ompvm: "));
    // A GPU of the mock driver that works alone computes nothing.
    let right = alone || ran.end == End::Exit(0) && ran.stdout == "right\n";
    match right && messages.count() == 1 && ran.stderr.contains("mock") {
        true => Ok(()),
        false => Err(ran.summary()),
    }
}

fn rank_fails(launcher: &Path, device: &str, failing: u32, step: &str) -> Result<(), String> {
    let program = program()?;
    let named = match failing {
        0 => "threads of the processors: ",
        _ => "rank 1 on ",
    };
    for (mode, count) in [("region", 1), ("sum", 1), ("twice", 1), ("twice", 2)] {
        let mut command = Command::new(launcher);
        for rank in 0..2 {
            command.args([":"].iter().skip(usize::from(rank == 0)));
            command.args(["-n", "1", "env", "OMP_NUM_THREADS=2"]);
            if rank == failing {
                command.arg(format!("OMPVM_FAIL_DEVICE={step}:0:{count}"));
            }
            command.arg(ompvm()).arg("run");
            command.args([&format!("--device={device}"), "--devices=all"]);
            command.arg(&program).arg(mode);
        }
        let ran = run(&mut command, "", LIMIT)?;
        check(&ran, step, mode, count, named)?;
    }
    Ok(())
}

/// Rank 1 ends at a step. The launcher would end rank 0 at once, so it sees a shell that stays.
fn rank_dies(launcher: &Path, step: &str) -> Result<(), String> {
    let program = program()?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let messages = folder.path().join("messages");
    let told = "messages=$1; shift; exec \"$@\" 2> \"$messages\"";
    let stays = "\"$@\"; sleep 60";
    let options = ["run", "--device=emulated", "--devices=all"];
    let mut command = Command::new(launcher);
    command
        .args(["-n", "1", "sh", "-c", told, "sh"])
        .arg(&messages);
    command
        .arg(ompvm())
        .args(options)
        .arg(&program)
        .arg("twice");
    command.args([":", "-n", "1", "env"]);
    command.arg(format!("OMPVM_FAIL_DEVICE={step}:end"));
    command.args(["sh", "-c", stays, "sh"]).arg(ompvm());
    command.args(options).arg(&program).arg("twice");
    ranks::loses_rank_1(&mut command, &messages, LIMIT)
}
