//! Threads that compile go from processor to processor of a team that has them all.
//!
//! What: while a team has a thread on every processor, each thread that compiles is moved to the next one every two
//! milliseconds ([`Turns::go_on`], called by the thread that observes). Why: it takes half of a processor from the
//! member there, and the team waits for its slowest member. The kernel leaves it where it is, since no place is better
//! than another; then a static loop takes longer by all that one compilation takes, and so by a part of that which
//! its processors share. Class A of the NAS benchmarks, `is mg cg ft`, empty cache, took .955 so with 16 threads on 16
//! processors and .945 with 8 on 8 (13 to 15 runs); with moves every millisecond .98 and .925, which CG lost by: a
//! cache's content moves along.
//!
//! What not: the members stay, bound or not. Where processors are idle, the kernel knows better. Threads that are
//! nice take what nobody wants, and are not moved.

use crate::support::topology;
use std::time::{Duration, Instant};

/// How long a thread stays.
pub const TURN: Duration = Duration::from_millis(2);

/// The threads at work, and where they are in the round.
#[derive(Debug, Default)]
pub struct Turns {
    /// The kernel's numbers of the threads.
    at_work: Vec<libc::pid_t>,
    /// How many turns there were.
    turns: usize,
    /// When the last one began, if the threads are bound for it.
    since: Option<Instant>,
}

impl Turns {
    /// The calling thread begins to work.
    pub fn enter(&mut self) {
        // SAFETY: asks for a number.
        self.at_work.push(unsafe { libc::gettid() });
    }

    /// It has ended that, and is bound to no turn any more.
    pub fn leave(&mut self) {
        // SAFETY: asks for a number.
        let me = unsafe { libc::gettid() };
        self.at_work.retain(|&thread| thread != me);
        if self.since.is_some() {
            bind(me, topology::allowed_cpus());
        }
    }

    /// Gives each thread at work the next processor if it is time to, while the program occupies them all (`full`), or
    /// any of them once it does not; whether they are bound.
    pub fn go_on(&mut self, now: Instant, full: bool) -> bool {
        let cpus = topology::allowed_cpus();
        if !full {
            if self.since.take().is_some() {
                self.at_work.iter().for_each(|&thread| bind(thread, cpus));
            }
            return false;
        }
        if self.since.is_none_or(|since| now - since >= TURN) {
            self.since = Some(now);
            self.turns += 1;
            for (i, &thread) in self.at_work.iter().enumerate() {
                bind(
                    thread,
                    &[cpus[place(i, self.at_work.len(), self.turns, cpus.len())]],
                );
            }
        }
        !self.at_work.is_empty()
    }
}

/// Which of the processors one of some threads has in a turn: as far from the others as there is room.
fn place(thread: usize, threads: usize, turn: usize, cpus: usize) -> usize {
    (thread * cpus / threads + turn) % cpus
}

/// Binds a thread of this process to processors. One that the kernel does not let go there stays where it is.
fn bind(thread: libc::pid_t, cpus: &[usize]) {
    let mask = topology::mask_of(cpus);
    // SAFETY: `mask` is a live buffer of the size passed. The thread lives: it leaves before it ends.
    unsafe { libc::sched_setaffinity(thread, mask.len() * 8, mask.as_ptr().cast()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_thread_has_a_processor_of_its_own_and_comes_to_all() {
        for (threads, cpus) in [(1, 1), (1, 2), (3, 8), (5, 16), (16, 16)] {
            let at = |turn: usize| (0..threads).map(move |t| place(t, threads, turn, cpus));
            assert!((0..40).all(|turn| at(turn).collect::<HashSet<_>>().len() == threads));
            let first = (0..cpus).map(|turn| place(0, threads, turn, cpus));
            assert_eq!(first.collect::<HashSet<_>>().len(), cpus);
        }
        // More threads than processors share them.
        assert!((0..9).all(|t| place(t, 9, 1, 2) < 2));
    }

    #[test]
    fn who_works_is_bound_for_a_turn_and_free_after_it() {
        let bound = || topology::current_cpus();
        let all = topology::allowed_cpus().to_vec();
        std::thread::spawn(move || {
            let (mut turns, now) = (Turns::default(), Instant::now());
            assert!(!turns.go_on(now, true));
            turns.enter();
            assert!(turns.go_on(now + TURN, true));
            let first = bound();
            assert_eq!(first.len(), 1);
            // It stays for a turn.
            assert!(turns.go_on(now + TURN * 3 / 2, true));
            assert_eq!(bound(), first);
            assert!(turns.go_on(now + TURN * 2, true));
            assert!(all.len() == 1 || bound() != first);
            assert!(!turns.go_on(now + TURN * 2, false));
            assert_eq!(bound(), all);
            assert!(turns.go_on(now + TURN * 3, true));
            turns.leave();
            assert_eq!(bound(), all);
            assert!(!turns.go_on(now + TURN * 4, true));
            assert_eq!(bound(), all);
        })
        .join()
        .expect("the checks");
    }
}
