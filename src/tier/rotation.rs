//! CPU rotation: moves compile threads over the processors of a team that occupies all of them.
//!
//! While a team has a thread on every processor, [`CpuRotation::advance`], called by the sampling
//! thread, moves each compile thread to the next processor every two milliseconds. A compile thread
//! takes half of a processor from the team member there, and the team waits for its slowest member.
//! The kernel leaves the compile thread in place, because no processor is better than another.
//! Without rotation a static loop takes longer by the whole share that one compilation takes; with
//! it, by that share divided by the number of processors. Shorter turns lose more to cold caches
//! than they gain.
//!
//! The members stay where they are, bound or not. While processors are idle, the kernel places
//! threads better. Low-priority compile threads only take idle time, and are not moved.

use ompvm_support::topology;
use std::time::{Duration, Instant};

/// Time that a thread stays on one processor.
pub const ROTATION_SLICE: Duration = Duration::from_millis(2);

/// The compile threads at work and the state of the rotation.
#[derive(Debug, Default)]
pub struct CpuRotation {
    /// Kernel thread ids.
    at_work: Vec<libc::pid_t>,
    /// Number of turns so far.
    turns: usize,
    /// Start of the current turn; `None` while no thread is bound.
    since: Option<Instant>,
}

impl CpuRotation {
    /// Adds the calling thread to the rotation.
    pub fn enter(&mut self) {
        // SAFETY: `gettid` has no preconditions.
        self.at_work.push(unsafe { libc::gettid() });
    }

    /// Removes the calling thread from the rotation and lifts its binding.
    pub fn leave(&mut self) {
        // SAFETY: `gettid` has no preconditions.
        let me = unsafe { libc::gettid() };
        self.at_work.retain(|&thread| thread != me);
        if self.since.is_some() {
            bind(me, topology::allowed_cpus());
        }
    }

    /// Binds each thread at work to its next processor if the turn is over and the program occupies
    /// all processors (`full`), or lifts the bindings if it does not. Returns true if threads are
    /// bound.
    pub fn advance(&mut self, now: Instant, full: bool) -> bool {
        let cpus = topology::allowed_cpus();
        if !full {
            if self.since.take().is_some() {
                self.at_work.iter().for_each(|&thread| bind(thread, cpus));
            }
            return false;
        }
        if self.since.is_none_or(|since| now - since >= ROTATION_SLICE) {
            self.since = Some(now);
            self.turns += 1;
            for (i, &thread) in self.at_work.iter().enumerate() {
                bind(
                    thread,
                    &[cpus[processor_of(i, self.at_work.len(), self.turns, cpus.len())]],
                );
            }
        }
        !self.at_work.is_empty()
    }
}

/// Returns the index of the processor that a thread has in a turn, with the threads spread evenly.
fn processor_of(thread: usize, threads: usize, turn: usize, cpus: usize) -> usize {
    (thread * cpus / threads + turn) % cpus
}

/// Binds a thread of this process to processors. If the kernel refuses, the thread stays where it
/// is.
fn bind(thread: libc::pid_t, cpus: &[usize]) {
    let mask = topology::mask_of(cpus);
    // SAFETY: `mask` is a live buffer of the size passed. The thread lives, because it calls
    // `leave` before it ends.
    unsafe { libc::sched_setaffinity(thread, mask.len() * 8, mask.as_ptr().cast()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_thread_has_its_own_processor_and_visits_all() {
        for (threads, cpus) in [(1, 1), (1, 2), (3, 8), (5, 16), (16, 16)] {
            let at = |turn: usize| (0..threads).map(move |t| processor_of(t, threads, turn, cpus));
            assert!((0..40).all(|turn| at(turn).collect::<HashSet<_>>().len() == threads));
            let first = (0..cpus).map(|turn| processor_of(0, threads, turn, cpus));
            assert_eq!(first.collect::<HashSet<_>>().len(), cpus);
        }
        // More threads than processors share them.
        assert!((0..9).all(|t| processor_of(t, 9, 1, 2) < 2));
    }

    #[test]
    fn a_thread_at_work_is_bound_for_a_turn_and_free_after_it() {
        let bound = || topology::current_cpus();
        let all = topology::allowed_cpus().to_vec();
        std::thread::spawn(move || {
            let (mut rotation, now) = (CpuRotation::default(), Instant::now());
            assert!(!rotation.advance(now, true));
            rotation.enter();
            assert!(rotation.advance(now + ROTATION_SLICE, true));
            let first = bound();
            assert_eq!(first.len(), 1);
            // The thread stays for a whole turn.
            assert!(rotation.advance(now + ROTATION_SLICE * 3 / 2, true));
            assert_eq!(bound(), first);
            assert!(rotation.advance(now + ROTATION_SLICE * 2, true));
            assert!(all.len() == 1 || bound() != first);
            assert!(!rotation.advance(now + ROTATION_SLICE * 2, false));
            assert_eq!(bound(), all);
            assert!(rotation.advance(now + ROTATION_SLICE * 3, true));
            rotation.leave();
            assert_eq!(bound(), all);
            assert!(!rotation.advance(now + ROTATION_SLICE * 4, true));
            assert_eq!(bound(), all);
        })
        .join()
        .expect("the checks");
    }
}
