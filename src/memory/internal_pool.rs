//! Threads for short pieces of internal work, such as large copies.
//!
//! A thread takes about 20 microseconds to start, one after the other on the thread that asks. That
//! is nothing beside a compilation ([`super::internal_thread`]), but much beside a copy of some
//! megabytes on twelve threads. So these threads stay for a while, and the caller works beside
//! them ([`run`]), or waits if the work must not run on its thread ([`run_apart`]).
//!
//! They run on all processors of the process, even if the thread that starts them is bound. A child
//! of `fork` has none of them, and takes threads that end with the work.

use super::internal_thread::{self, CancelDisabled};
use super::thread::UnsampledWait;
use ompvm_support::fp_env::DefaultFpEnv;
use ompvm_support::{internal_work, topology};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time for which an idle thread stays.
const STAY: Duration = Duration::from_secs(1);

/// Work of one caller, and the threads that take part in it.
struct Job {
    number: u64,
    work: SharedWork,
    /// Number of threads that may still join.
    wanted: usize,
    /// Number of threads that take part, without the caller.
    running: usize,
    /// Number of threads that took part.
    done: usize,
    /// True if one of them panicked.
    panicked: bool,
}

/// A caller's work. The caller waits until no thread uses it.
#[derive(Clone, Copy)]
struct SharedWork(*const (dyn Fn() + Sync));

// SAFETY: the work may be called by several threads, and lives until its job is removed.
unsafe impl Send for SharedWork {}

/// Jobs and threads of the process.
struct State {
    jobs: Vec<Job>,
    next: u64,
    /// Number of threads that wait for a job.
    idle: usize,
}

/// The pool of the process.
struct Pool {
    state: Mutex<State>,
    /// Notified when a job wants threads.
    wanted: Condvar,
    /// Notified when the last thread of a job is done.
    done: Condvar,
    /// Number of the process that uses the pool; 0 before its first use.
    process: AtomicU32,
}

static POOL: Pool = Pool {
    state: Mutex::new(State {
        jobs: Vec::new(),
        next: 0,
        idle: 0,
    }),
    wanted: Condvar::new(),
    done: Condvar::new(),
    process: AtomicU32::new(0),
};

/// Calls `work` on this thread and, at the same time, on up to `threads - 1` others, and waits for
/// all calls. The work is to take its pieces from a common counter, since the system may lack
/// threads.
///
/// # Panics
/// If a call panics.
pub fn run(threads: usize, work: &(dyn Fn() + Sync)) {
    if threads < 2 {
        return work();
    }
    if !POOL.is_usable() {
        internal_thread::run_all(vec![work; threads]);
        return;
    }
    let _cancel = CancelDisabled::new();
    let _wait = UnsampledWait::enter();
    let (number, _) = POOL.begin(threads - 1, work);
    let own = catch_unwind(AssertUnwindSafe(|| run_here(work)));
    let panicked = POOL.finish(number, false);
    if let Err(panic) = own {
        resume_unwind(panic);
    }
    assert!(!panicked, "a thread of the pool panicked");
}

/// Calls `work` on up to `threads` threads other than this one, and waits for all calls. If the
/// system has no thread, this thread calls it. The work is to take its pieces from a common counter.
///
/// # Panics
/// If a call panics.
pub fn run_apart(threads: usize, work: &(dyn Fn() + Sync)) {
    if !POOL.is_usable() {
        internal_thread::run_all(vec![work; threads]);
        return;
    }
    let _cancel = CancelDisabled::new();
    let _wait = UnsampledWait::enter();
    let (number, joining) = POOL.begin(threads, work);
    let panicked = POOL.finish(number, joining > 0);
    assert!(!panicked, "a thread of the pool panicked");
    if joining == 0 {
        run_here(work);
    }
}

/// Calls work on the calling thread.
fn run_here(work: &(dyn Fn() + Sync)) {
    let _own = internal_work::enter();
    let _environment = DefaultFpEnv::enter();
    work();
}

impl Pool {
    /// Returns false in a child of `fork`, where the threads are missing.
    fn is_usable(&self) -> bool {
        let own = std::process::id();
        let first = self
            .process
            .compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire);
        first.is_ok() || first.is_err_and(|process| process == own)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Offers work to other threads. Returns the number of the job, and how many threads will join
    /// it at least unless it ends before.
    fn begin(&'static self, others: usize, work: &(dyn Fn() + Sync)) -> (u64, usize) {
        let work = std::ptr::from_ref(work);
        // SAFETY: only the lifetime changes. `finish` waits until no thread uses the work.
        let work = unsafe {
            std::mem::transmute::<*const (dyn Fn() + Sync + '_), *const (dyn Fn() + Sync)>(work)
        };
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        // Idle threads that no earlier job waits for.
        let promised: usize = state.jobs.iter().map(|job| job.wanted).sum();
        let free = state.idle.saturating_sub(promised).min(others);
        state.jobs.push(Job {
            number,
            work: SharedWork(work),
            wanted: others,
            running: 0,
            panicked: false,
            done: 0,
        });
        drop(state);
        for _ in 0..free {
            self.wanted.notify_one();
        }
        let mut joining = free;
        for _ in free..others {
            // Without a thread, the others do more.
            let thread = internal_thread::spawn(c"ompvm pool", || {
                topology::bind_current_thread(topology::allowed_cpus());
                self.serve();
            });
            joining += usize::from(thread.is_some());
        }
        (number, joining)
    }

    /// Lets no further thread join a job, and waits for those that have; with `join`, waits until
    /// one has joined. Returns true if one of them panicked.
    fn finish(&self, number: u64, join: bool) -> bool {
        let mut state = self.lock();
        loop {
            let at = state.jobs.iter().position(|job| job.number == number);
            let Some(at) = at else {
                return false;
            };
            let job = &mut state.jobs[at];
            if !join || job.done > 0 {
                job.wanted = 0;
            }
            if job.wanted == 0 && job.running == 0 {
                return state.jobs.swap_remove(at).panicked;
            }
            state = self
                .done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes part in jobs until none has come for a while.
    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.iter_mut().find(|job| job.wanted > 0) {
                job.wanted -= 1;
                job.running += 1;
                let (number, work) = (job.number, job.work);
                drop(state);
                // SAFETY: the caller waits in `finish` as long as the job counts this thread.
                let panicked = catch_unwind(AssertUnwindSafe(|| unsafe { (*work.0)() })).is_err();
                state = self.lock();
                if let Some(job) = state.jobs.iter_mut().find(|job| job.number == number) {
                    job.running -= 1;
                    job.done += 1;
                    job.panicked |= panicked;
                    if job.running == 0 {
                        self.done.notify_all();
                    }
                }
                continue;
            }
            state.idle += 1;
            let (again, waited) = self
                .wanted
                .wait_timeout(state, STAY)
                .unwrap_or_else(PoisonError::into_inner);
            state = again;
            state.idle -= 1;
            if waited.timed_out() && state.jobs.iter().all(|job| job.wanted == 0) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn all_pieces_are_done_once() {
        for threads in [1, 2, 5] {
            for _ in 0..200 {
                let next = AtomicUsize::new(0);
                let pieces: Vec<AtomicUsize> = (0..64).map(|_| AtomicUsize::new(0)).collect();
                run(threads, &|| {
                    while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                        piece.fetch_add(1, Ordering::Relaxed);
                    }
                });
                assert!(pieces.iter().all(|p| p.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn work_apart_runs_on_other_threads_only() {
        let caller = std::thread::current().id();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let here = std::thread::current().id();
                    for threads in [1, 3].repeat(100) {
                        let next = AtomicUsize::new(0);
                        run_apart(threads, &|| {
                            let own = std::thread::current().id();
                            assert!(own != caller && own != here);
                            while next.fetch_add(1, Ordering::Relaxed) < 4 {
                                // Takes threads of the same pool.
                                let inner = AtomicUsize::new(0);
                                run_apart(2, &|| {
                                    inner.fetch_add(1, Ordering::Relaxed);
                                });
                                assert!(inner.into_inner() > 0);
                            }
                        });
                        assert!(next.into_inner() > 4);
                    }
                });
            }
        });
    }

    #[test]
    fn several_callers_and_nested_ones_make_progress() {
        let total = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let next = AtomicUsize::new(0);
                        run(3, &|| {
                            while next.fetch_add(1, Ordering::Relaxed) < 4 {
                                let inner = AtomicUsize::new(0);
                                run(3, &|| {
                                    while inner.fetch_add(1, Ordering::Relaxed) < 4 {
                                        total.fetch_add(1, Ordering::Relaxed);
                                    }
                                });
                            }
                        });
                    }
                });
            }
        });
        assert_eq!(total.into_inner(), 4 * 50 * 16);
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let caller = std::thread::current().id();
        let calls = AtomicUsize::new(0);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            run(2, &|| {
                calls.fetch_add(1, Ordering::SeqCst);
                if std::thread::current().id() != caller {
                    panic!("on purpose");
                }
                // Waits for the other thread, which may be late.
                let since = std::time::Instant::now();
                while calls.load(Ordering::SeqCst) < 2 && since.elapsed() < Duration::from_secs(5) {
                    std::thread::yield_now();
                }
            });
        }));
        assert_eq!(caught.is_err(), calls.into_inner() == 2);
    }
}
