//! Counts pairs of consecutive instructions, to choose which to fuse.
//!
//! Exists only in builds with `OMPVM_HISTOGRAM` set, which count in the dispatch loop. The thread
//! that ends the process prints its own counts to standard error.

use crate::isa::INSTRUCTIONS;
use crate::process::INTERPRETER;
use hashbrown::HashMap;
use std::cell::RefCell;
use std::mem::ManuallyDrop;

// Never dropped, since it is printed after the destructors of thread-locals.
struct Counts(ManuallyDrop<HashMap<(u64, u64), u64>>);

impl Counts {
    fn new() -> Self {
        INTERPRETER.histogram.call_once(|| {
            // SAFETY: the function takes no arguments and does not unwind.
            unsafe { libc::atexit(print) };
        });
        Counts(ManuallyDrop::new(HashMap::new()))
    }
}

thread_local! {
    /// The counts of this thread.
    static COUNTS: RefCell<Counts> = RefCell::new(Counts::new());
}

/// Counts that the handler at `now` follows the one at `last`; returns `now`.
pub fn step(last: u64, now: u64) -> u64 {
    COUNTS.with_borrow_mut(|c| *c.0.entry((last, now)).or_default() += 1);
    now
}

/// Prints the most frequent instructions and pairs of the calling thread.
extern "C" fn print() {
    let name = |h: u64| {
        INSTRUCTIONS
            .handlers
            .iter()
            .position(|&f| f as usize as u64 == h)
            .map_or("start", |i| INSTRUCTIONS.info[i].name)
    };
    COUNTS.with_borrow(|c| {
        let total: u64 = c.0.values().sum();
        let mut single: HashMap<u64, u64> = HashMap::new();
        for (&(_, now), &n) in c.0.iter() {
            *single.entry(now).or_default() += n;
        }
        let percent = |n: u64| 100.0 * n as f64 / total as f64;
        let mut single: Vec<_> = single.into_iter().collect();
        single.sort_by_key(|s| std::cmp::Reverse(s.1));
        ompvm_support::eprintln!("{total} instructions");
        for (h, n) in single.into_iter().take(40) {
            ompvm_support::eprintln!("{:6.2}% {}", percent(n), name(h));
        }
        let mut pairs: Vec<_> = c.0.iter().map(|(&p, &n)| (p, n)).collect();
        pairs.sort_by_key(|p| std::cmp::Reverse(p.1));
        for ((a, b), n) in pairs.into_iter().take(60) {
            ompvm_support::eprintln!("{:6.2}% {} {}", percent(n), name(a), name(b));
        }
    });
}
