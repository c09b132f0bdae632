//! The worker of `cargo xtask fuzz-inputs`: hands damaged inputs to one surface, one after another.
//!
//! Input `n` depends on the surface, the seed, `n` and the corpus only. A file in memory that the
//! parent maps, too, holds the number of the input at work and the counts, so the parent knows on
//! which input a worker died. The worker ends by itself after failures of LLVM that leave threads
//! and memory behind, and the parent starts another one at the next input.
//!
//! Usage: `inputs run SURFACE SEED FIRST CORPUS PROGRESS SECONDS`, or `inputs show SURFACE SEED N
//! CORPUS FILE` to write an input.

mod capi;
mod mutate;
mod progress;
mod surfaces;

use mutate::{Corpus, Random};
use progress::{Progress, resident};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use surfaces::{Outcome, Surface};

/// Failures of LLVM after which a worker ends: each leaves a thread behind.
const MOST_CONTAINED: u64 = 100;
/// Resident memory in bytes above which a worker ends.
const MOST_RESIDENT: u64 = 600 << 20;

fn run(words: &[String]) {
    let [surface, seed, first, corpus, file, seconds] = words else {
        panic!("six words follow `run`");
    };
    let progress = Progress::map(Path::new(file)).expect("the file of counts");
    let corpus = Corpus::load(Path::new(corpus), surface);
    let mut surface = Surface::new(surface, Path::new(file));
    let seed: u64 = seed.parse().expect("a seed");
    let first: u64 = first.parse().expect("a number");
    let own = std::process::id();
    let end = Instant::now() + Duration::from_secs_f64(seconds.parse().expect("seconds"));
    for n in first.. {
        progress.at.store(n, Ordering::Relaxed);
        let mut random = Random::new(seed, n);
        let outcome = surface.try_one(&corpus, &mut random);
        let failed = matches!(outcome, Outcome::Contained(_));
        let count = match outcome {
            Outcome::Refused(count) => count,
            Outcome::Accepted(count) => {
                progress.accepted.fetch_add(count, Ordering::Relaxed);
                count
            }
            Outcome::Contained(count) => {
                progress.contained.fetch_add(1, Ordering::Relaxed);
                count
            }
        };
        progress.done.fetch_add(count, Ordering::Relaxed);
        // One failure of LLVM may leave a gigabyte behind.
        let full = progress.contained.load(Ordering::Relaxed) >= MOST_CONTAINED
            || (failed || n % 256 == 0) && resident(own) > MOST_RESIDENT;
        if full || Instant::now() > end {
            // The parent starts the next worker behind this input.
            progress.at.store(n + 1, Ordering::Relaxed);
            break;
        }
    }
    // SAFETY: `_exit` has no preconditions; threads on which LLVM failed sleep for ever.
    unsafe { libc::_exit(0) }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("run") => run(&words[1..]),
        Some("show") => {
            let [surface, seed, n, corpus, file] = &words[1..] else {
                panic!("five words follow `show`");
            };
            let corpus = Corpus::load(Path::new(corpus), surface);
            let (seed, n) = (seed.parse().expect("a seed"), n.parse().expect("a number"));
            let input = surfaces::input(surface, &corpus, &mut Random::new(seed, n));
            std::fs::write(file, input).expect("the file can be written");
        }
        _ => eprintln!("this is the worker of `cargo xtask fuzz-inputs`"),
    }
}
