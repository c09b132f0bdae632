//! The baseline tier on a system that refuses memory for machine code: the program is interpreted
//! instead, and a line gives the reason. If the system refuses all such memory, nothing runs, and a
//! line gives the remedy.
//!
//! A filter of system calls refuses what a hardened system refuses, for this child process alone.
//! In `auto`, functions that execute a few times only stay in the interpreter. Does not measure speed.

use crate::compile;
use crate::run::{End, LIMIT, Ran, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The operation that the system refuses.
#[derive(Clone, Copy)]
enum Refused {
    /// Files in memory.
    Files,
    /// Shared executable mappings.
    Mappings,
    /// Execution of memory that was written.
    Execution,
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("baseline/refused_execution", || Ok(ends()?)),
        Trial::test("baseline/warm_functions", || Ok(compiles_warm_functions()?)),
    ];
    for (name, refused, call) in [
        ("files", Refused::Files, "memfd_create"),
        ("mappings", Refused::Mappings, "mmap"),
    ] {
        for tier in ["baseline", "auto"] {
            trials.push(Trial::test(
                format!("baseline/refused_{name}/{tier}"),
                move || Ok(goes_on(refused, call, tier)?),
            ));
        }
    }
    trials
}

/// Makes a filter of system calls in the classic Berkeley packet filter (Linux, `seccomp(2)`): the
/// call fails with `EACCES`, all others pass.
fn filter(refused: Refused) -> Vec<libc::sock_filter> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const ANY: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    // Offsets in `struct seccomp_data`: the number, and the low halves of the arguments.
    let load = |offset| step(LOAD, offset, 0, 0);
    let argument = |n: u32| load(16 + 8 * n);
    let refuse = [
        step(RETURN, libc::SECCOMP_RET_ERRNO | libc::EACCES as u32, 0, 0),
        step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let mut all = vec![load(0)];
    match refused {
        Refused::Files => all.push(step(EQUAL, libc::SYS_memfd_create as u32, 0, 1)),
        Refused::Mappings => all.extend([
            step(EQUAL, libc::SYS_mmap as u32, 0, 5),
            argument(2),
            step(ANY, libc::PROT_EXEC as u32, 0, 3),
            argument(3),
            step(ANY, libc::MAP_SHARED as u32, 0, 1),
        ]),
        Refused::Execution => all.extend([
            step(EQUAL, libc::SYS_mprotect as u32, 0, 3),
            argument(2),
            step(ANY, libc::PROT_EXEC as u32, 0, 1),
        ]),
    }
    all.extend(refuse);
    all
}

fn step(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

/// Runs `ompvm` under a filter.
fn filtered(refused: Refused, args: &[&str]) -> Result<Ran, String> {
    let mut command = Command::new(ompvm());
    command.args(args);
    let steps = filter(refused);
    let install = move || {
        let program = libc::sock_fprog {
            len: steps.len() as u16,
            filter: steps.as_ptr().cast_mut(),
        };
        // SAFETY: prctl is async-signal-safe, as required between fork and exec; the filter
        // outlives the call.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                ) == 0
        };
        if done {
            Ok(())
        } else {
            Err(std::io::Error::last_os_error())
        }
    };
    // SAFETY: the closure neither allocates nor locks.
    unsafe { command.pre_exec(install) };
    run(&mut command, "", LIMIT)
}

/// Checks that the program does not start without any memory for machine code.
fn ends() -> Result<(), String> {
    let source = root().join("tests/diff/c/loops_of_one.c");
    let bitcode = compile::bitcode(&source, &["-O2".to_owned()])?;
    let ran = filtered(Refused::Execution, &[&bitcode.to_string_lossy()])?;
    let said = [
        "memory for machine code",
        "ermission denied",
        "MemoryDenyWriteExecute",
    ];
    if ran.end != End::Exit(125) || said.iter().any(|s| !ran.stderr.contains(s)) {
        return Err(format!("should say what to do: {}", ran.summary()));
    }
    Ok(())
}

fn goes_on(refused: Refused, call: &str, tier: &str) -> Result<(), String> {
    let source = root().join("tests/diff/c/loops_of_one.c");
    let flags = ["-O2".to_owned()];
    let bitcode = compile::bitcode(&source, &flags)?;
    let bitcode = bitcode.to_string_lossy();
    let plain = run(
        Command::new(ompvm()).args(["--tier=interp", &bitcode]),
        "",
        LIMIT,
    )?;
    if plain.end != End::Exit(0) || plain.stdout.is_empty() {
        return Err(format!("the interpreter fails: {}", plain.summary()));
    }
    let ran = filtered(
        refused,
        &[&format!("--tier={tier}"), "--no-cache", &bitcode],
    )?;
    if ran.end != End::Exit(0) || ran.stdout != plain.stdout {
        return Err(format!("should run as interpreted: {}", ran.summary()));
    }
    let said = "ompvm: the baseline tier is not used: ";
    let line = ran.stderr.lines().find(|l| l.starts_with(said));
    match (tier, line) {
        // A build whose handlers return to a loop needs no such memory.
        ("baseline", Some(line)) if line.contains("this build has no baseline compiler") => Ok(()),
        ("baseline", Some(line)) if line.contains(call) && line.contains("ermission denied") => {
            Ok(())
        }
        // The tier was not requested by name.
        ("auto", None) => Ok(()),
        _ => Err(format!("should say why, where asked: {}", ran.summary())),
    }
}

/// Checks which functions `auto` and `baseline` compile to machine code without LLVM.
fn compiles_warm_functions() -> Result<(), String> {
    let source = root().join("tests/diff/c/warm_functions.c");
    let bitcode = compile::bitcode(&source, &["-O1".to_owned()])?;
    let compiled = |tier: &str| {
        let ran = run(
            Command::new(ompvm())
                .env("OMPVM_LOG", "baseline=trace")
                .args([&format!("--tier={tier}"), "--no-cache"])
                .arg(&bitcode),
            "",
            LIMIT,
        )?;
        if ran.end != End::Exit(0) {
            return Err(ran.summary());
        }
        let is_compiled = |name: &str| ran.stderr.contains(&format!("function={name} "));
        Ok(["once", "rarely", "often", "loops"].map(is_compiled))
    };
    let (auto, baseline) = (compiled("auto")?, compiled("baseline")?);
    // A build whose handlers return to a loop has no baseline compiler.
    if baseline == [false; 4] && auto == [false; 4] {
        return Ok(());
    }
    match (auto, baseline) {
        ([false, false, true, true], [true, true, true, true]) => Ok(()),
        _ => Err(format!("compiled: auto {auto:?}, baseline {baseline:?}")),
    }
}
