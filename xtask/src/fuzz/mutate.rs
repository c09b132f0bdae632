//! Mutates bitcode: whatever bits are flipped, ompvm must report an error or run what is still a
//! program, but never crash.
//!
//! A mutation may leave valid bitcode that faults, loops or exits. So only two outcomes count:
//! ompvm's own reports of a crash, and death by a signal in `inspect`, which only reads the file.

use super::case::Case;
use crate::timed::{TimedRun, run, write};
use std::process::Command;
use std::time::Duration;

/// Output that identifies a crash of ompvm. LLVM's crash messages do not count: LLVM runs isolated,
/// and ompvm reports its failures.
const CRASH: [&str; 3] = ["panicked", "stack dump", "defect of ompvm"];

/// Returns true if ompvm crashed.
pub fn crashed(ran: &TimedRun) -> bool {
    let text = String::from_utf8_lossy(&ran.stderr);
    CRASH.iter().any(|w| text.contains(w)) || !matches!(ran.status, 0 | 125) || ran.timed_out
}

/// Flips one to four bits, chosen by the seed.
pub fn flip_bits(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut out = bytes.to_vec();
    for _ in 0..1 + next() % 4 {
        let at = next() % out.len();
        out[at] ^= 1 << (next() % 8);
    }
    out
}

/// Tries `count` mutations of a program's bitcode and returns those on which ompvm crashed.
pub fn find_crashes(
    case: &Case,
    bitcode: &[u8],
    count: u64,
) -> Result<Vec<(u64, Vec<u8>, TimedRun)>, String> {
    let mut found = Vec::new();
    for n in 0..count {
        let seed = case.setting.seed.wrapping_mul(1_000_003).wrapping_add(n);
        let damaged = flip_bits(bitcode, seed);
        let path = case.dir.join("damaged.bc");
        write(&path, &damaged)?;
        let mut command = Command::new(case.ompvm);
        command.arg("inspect").arg(&path);
        let ran = run(&mut command, &case.dir, Duration::from_secs(30))?;
        if crashed(&ran) {
            found.push((seed, damaged, ran));
        }
    }
    Ok(found)
}
