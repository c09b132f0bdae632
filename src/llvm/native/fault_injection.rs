//! Compilation failures injected by tests.
//!
//! `OMPVM_FAIL=KIND:NAME` makes each compilation of a function whose name contains `NAME` fail in
//! one of the ways in which LLVM fails: `fatal` (it ends the process), `error` (it reports an
//! error), `crash`, `abort`, `overflow` (of the stack), `memory`, `endless`, `grow`. With `@full`
//! appended to the kind, only code of the full level fails.

use super::{CompileError, Level, Unit};
use crate::parse::Parsed;
use std::sync::OnceLock;
use std::time::Duration;

struct Injected {
    kind: String,
    full: bool,
    name: String,
}

fn injected() -> Option<&'static Injected> {
    static INJECTED: OnceLock<Option<Injected>> = OnceLock::new();
    let read = || {
        let text = std::env::var("OMPVM_FAIL").ok()?;
        let (kind, name) = text.split_once(':')?;
        let full = kind.strip_suffix("@full");
        Some(Injected {
            kind: full.unwrap_or(kind).to_owned(),
            full: full.is_some(),
            name: name.to_owned(),
        })
    };
    INJECTED.get_or_init(read).as_ref()
}

/// Returns the time limit of an attempt if attempts are to run endlessly.
pub(super) fn limit() -> Option<Duration> {
    let endless = injected().filter(|i| i.kind == "endless");
    endless.map(|_| Duration::from_millis(200))
}

/// Fails if a failure is injected for the unit.
pub(super) fn fail(
    unit: &Unit,
    names: &[Box<str>],
    effort: Level,
    parsed: &Parsed,
) -> Result<(), CompileError> {
    let Some(injected) = injected() else {
        return Ok(());
    };
    let entries = unit.entries.iter().map(|e| e.function);
    let mut all = unit.functions.iter().flatten().copied().chain(entries);
    let meant = all.any(|f| names[f].contains(&*injected.name));
    if !meant || injected.full && effort == Level::Quick {
        return Ok(());
    }
    match &*injected.kind {
        "fatal" => {
            // SAFETY: the function ends the process or does not return.
            unsafe { ompvm_fail_fatally() };
            Ok(())
        }
        "error" => {
            parsed.report("an injected error");
            Ok(())
        }
        "grow" => Err(String::from("its passes grew, as injected").into()),
        "crash" => {
            // SAFETY: none: the fault is on purpose, in a process that a test started for it.
            unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) };
            Ok(())
        }
        "abort" => std::process::abort(),
        "overflow" => {
            deep(u64::MAX);
            Ok(())
        }
        "memory" => {
            // SAFETY: the function requests more memory than any process has, and does not return.
            unsafe { ompvm_fail_for_memory() };
            Ok(())
        }
        "endless" => loop {
            std::hint::spin_loop();
        },
        _ => Ok(()),
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
