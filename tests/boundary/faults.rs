//! Faults in guest code: values if the host catches them, else the end of the process by the same
//! signal as natively, with a report.
//!
//! The second kind ends the process, so it runs in a child. Does not check which line the
//! interpreter names.

use ompvm::memory::activation::{self, Activation, Exit};
use ompvm::memory::{signals, thread};
use ompvm::support::error::{Trap, TrapKind};
use std::ffi::c_void;

extern "C-unwind" fn read_null(_: *mut c_void, address: usize) -> usize {
    unsafe { (address as *const usize).read_volatile() }
}

extern "C-unwind" fn divide(_: *mut c_void, by: usize) -> usize {
    let quotient: usize;
    unsafe {
        std::arch::asm!("div {}", in(reg) by, inout("rax") 1usize => quotient, inout("rdx") 0usize => _);
    }
    quotient
}

extern "C-unwind" fn abort(_: *mut c_void, _: usize) -> usize {
    unsafe { libc::abort() }
}

extern "C-unwind" fn unreachable_trap(_: *mut c_void, _: usize) -> usize {
    signals::raise_trap(TrapKind::Unreachable, MARK.as_ptr())
}

static MARK: [u64; 1] = [0];

fn fault_hooks() {
    signals::install();
    signals::set_hooks(
        |_, _, _| std::ptr::null(),
        |ip, place, function| {
            if ip == MARK.as_ptr() {
                let _ = place.write_str("file.c:14:3");
                let _ = function.write_str("f");
            }
        },
    );
}

fn faulting(
    catch: bool,
    f: extern "C-unwind" fn(*mut c_void, usize) -> usize,
    b: usize,
) -> Option<Trap> {
    let state = thread::current();
    let mut act = Activation::default();
    act.catch_traps = catch;
    unsafe {
        act.push(state);
        act.ip = MARK.as_ptr();
        let exit = activation::call_contained(&mut act, f, std::ptr::null_mut(), b);
        act.pop(state);
        assert_eq!(exit, Exit::Trapped);
    }
    act.trap.map(signals::describe)
}

#[test]
fn faults_come_back_as_values() {
    fault_hooks();
    for _ in 0..3 {
        let t = faulting(true, read_null, 8).unwrap();
        assert_eq!(
            t.to_string(),
            "access through a null pointer (address 0x8) at file.c:14:3 in `f`"
        );
        assert_eq!(
            faulting(true, divide, 0).unwrap().kind,
            TrapKind::IntegerDivision
        );
        assert_eq!(faulting(true, abort, 0).unwrap().kind, TrapKind::Abort);
        assert_eq!(
            faulting(true, unreachable_trap, 0).unwrap().kind,
            TrapKind::Unreachable
        );
    }
}

/// Runs only in the child that the next test starts.
#[test]
fn fault_child() {
    let Ok(kind) = std::env::var("BOUNDARY_FAULT") else {
        return;
    };
    fault_hooks();
    match kind.as_str() {
        "null" => faulting(false, read_null, 0),
        "divide" => faulting(false, divide, 0),
        "abort" => faulting(false, abort, 0),
        _ => faulting(false, unreachable_trap, 0),
    };
}

#[test]
fn faults_end_the_process_as_natively() {
    use std::os::unix::process::ExitStatusExt;
    let cases = [
        (
            "null",
            libc::SIGSEGV,
            "access through a null pointer (address 0x0) at file.c:14:3 in `f`",
        ),
        (
            "divide",
            libc::SIGFPE,
            "integer division by zero or overflow at file.c:14:3 in `f`",
        ),
        (
            "abort",
            libc::SIGABRT,
            "the program called abort at file.c:14:3 in `f`",
        ),
        (
            "unreachable",
            libc::SIGILL,
            "code marked unreachable was reached at file.c:14:3 in `f`",
        ),
    ];
    for (kind, signal, message) in cases {
        let out = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "faults::fault_child",
                "--nocapture",
                "--test-threads=1",
            ])
            .env("BOUNDARY_FAULT", kind)
            .output()
            .unwrap();
        assert_eq!(out.status.signal(), Some(signal), "{kind}: {out:?}");
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!(
            text.trim_end(),
            format!("ompvm: the guest program failed: {message}"),
            "{kind}"
        );
    }
}
