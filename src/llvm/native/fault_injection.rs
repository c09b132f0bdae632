//! Compilation failures injected by tests.
//!
//! `OMPVM_FAIL=KIND:NAME` makes each compilation of a function whose name contains `NAME` fail in
//! one of the ways in which LLVM fails: `fatal` (it ends the process), `error` (it reports an
//! error), `crash`, `abort`, `overflow` (of the stack), `memory`, `endless`, `grow`; or by a defect of
//! ompvm: `panic`. With `@full` appended to the kind, only code of the full level fails.

use super::{CompileError, CompileRequest, Level, Unit};
use crate::parse::Parsed;
use ompvm_support::settings::{FailureKind, InjectedFailure};
use std::time::Duration;

/// Returns the time limit of an attempt if attempts are to run endlessly.
pub(super) fn limit(injected: Option<&InjectedFailure>) -> Option<Duration> {
    let endless = injected.filter(|i| i.kind == FailureKind::Endless);
    endless.map(|_| Duration::from_millis(200))
}

/// Fails if a failure is injected for the unit.
pub(super) fn fail(
    unit: &Unit,
    request: &CompileRequest,
    effort: Level,
    parsed: &Parsed,
) -> Result<(), CompileError> {
    let Some(injected) = &request.fail else {
        return Ok(());
    };
    let entries = unit.entries.iter().map(|e| e.function);
    let mut all = unit.functions.iter().flatten().copied().chain(entries);
    let meant = all.any(|f| request.names[f].contains(&*injected.name));
    if !meant || injected.full && effort == Level::Quick {
        return Ok(());
    }
    match injected.kind {
        FailureKind::Fatal => {
            // SAFETY: the function ends the process or does not return.
            unsafe { ompvm_fail_fatally() };
            Ok(())
        }
        FailureKind::Error => {
            parsed.report("an injected error");
            Ok(())
        }
        FailureKind::Grow => Err(String::from("its passes grew, as injected").into()),
        FailureKind::Crash => {
            // SAFETY: none: the fault is on purpose, in a process that a test started for it.
            unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) };
            Ok(())
        }
        FailureKind::Panic => ompvm_support::bug!("an injected panic"),
        FailureKind::Abort => std::process::abort(),
        FailureKind::Overflow => {
            deep(u64::MAX);
            Ok(())
        }
        FailureKind::Memory => {
            // SAFETY: the function requests more memory than any process has, and does not return.
            unsafe { ompvm_fail_for_memory() };
            Ok(())
        }
        FailureKind::Endless => loop {
            std::hint::spin_loop();
        },
    }
}

unsafe extern "C" {
    fn ompvm_fail_fatally();
    fn ompvm_fail_for_memory();
}

/// Recurses `n` times.
#[inline(never)]
fn deep(n: u64) -> u64 {
    let here = std::hint::black_box([n; 64]);
    if n == 0 {
        here[1]
    } else {
        deep(n - 1) ^ here[std::hint::black_box(3)]
    }
}
