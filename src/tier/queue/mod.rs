//! Holds the compile jobs of one process and runs the threads that work on them.
//!
//! [`Queue`] holds [`Job`]s and takes the hottest first. A recompilation ([`Job::recompilation`])
//! can wait: before its deadline ([`recompile`](super::recompile)) only low-priority threads take
//! it, and only while a processor is idle and expected to stay so. A recompilation that is still
//! unfinished at its deadline is started a second time by a thread of normal priority. The queue
//! starts a thread when a new job finds all others at work.
//!
//! Several threads compile even where a team occupies every processor. The members of a team wait
//! for each other, so all of them are slow while LLVM takes one of their processors. The duration
//! counts, not the number of processors taken, and therefore these threads run at normal priority.
//! Threads that recompile in idle time have the lowest priority. If a team takes all processors
//! meanwhile, such a thread hardly runs any more, hence the second start. The scheduling class for
//! idle time (`SCHED_IDLE`) is no option: on a loaded machine threads of that class never finished
//! writing their code to the cache and left partial files.
//!
//! Placement depends on the team. Where it has all processors, the compile threads rotate over them
//! ([`super::rotation`]). Where it leaves some, no more threads compile than processors are left.
//! Where it is bound and leaves at least half, the compile threads are bound to the processors that
//! are left: the kernel would otherwise start them on a processor that is idle at that moment, and
//! a member that is bound to it could not move away.
//!
//! The rules for waiting jobs are those of [`state`], the threads those of [`threads`], expected
//! costs those of [`cost`]. [`super::sample`] decides which functions become jobs.

mod cost;
mod job;
mod state;
#[cfg(test)]
mod tests;
mod threads;

pub use job::Job;

use crate::compiler::Compiler;
use crate::recompile::Recompilation;
use crate::rotation::CpuRotation;
use cost::{MAX_PER_EFFORT, PER_EFFORT};
use ompvm_ir::{BlockId, FuncId};
use ompvm_jit::Level;
use ompvm_kmpc::affinity::{self, ExpectedTeam};
use ompvm_kmpc::thread::workers;
use ompvm_memory::image::Image;
use ompvm_memory::internal_thread::InternalThread;
use ompvm_support::clock::process_time;
use ompvm_support::log;
use ompvm_support::topology;
use parking_lot::{Condvar, Mutex};
use state::QueueState;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Longest wait of a thread before it looks again at jobs that could not start.
const RECHECK: Duration = Duration::from_millis(10);

/// Factor by which the time that a program waits for its compilations may exceed their processor
/// time, for when other processes occupy the processors.
const OTHERS_FACTOR: u32 = 8;

/// Returns how many processors the announced team leaves, if these are at least half of all.
/// Otherwise returns 0: compilations before the first team starts would lack the other processors.
pub fn left_by_team() -> usize {
    processors_left(topology::usable_cpus(), affinity::expected_team())
}

fn processors_left(usable: usize, team: &ExpectedTeam) -> usize {
    let left = usable.saturating_sub(team.threads.max(team.cpus.len()));
    if left * 2 >= usable { left } else { 0 }
}

/// The compile jobs and the threads that work on them.
#[derive(Debug)]
pub struct Queue {
    image: Arc<Image>,
    compiler: Arc<Compiler>,
    state: Mutex<QueueState>,
    rotation: Mutex<CpuRotation>,
    wake: Condvar,
    /// Notified when a job is done.
    done: Condvar,
    /// Processors that this process uses, as last measured.
    busy: AtomicUsize,
    /// Measured cost of one unit of effort in nanoseconds, by level.
    cost: [AtomicU32; 2],
}

impl Queue {
    /// Creates a queue without jobs and threads. `known` is the cost per unit of effort that
    /// earlier runs measured, by level, or 0.
    pub fn new(image: Arc<Image>, compiler: Arc<Compiler>, known: [u32; 2]) -> Queue {
        let cost = |level: usize| match known[level] {
            0 => PER_EFFORT[level],
            cost => cost.min(MAX_PER_EFFORT),
        };
        Queue {
            image,
            compiler,
            state: Mutex::default(),
            rotation: Mutex::default(),
            wake: Condvar::new(),
            done: Condvar::new(),
            busy: AtomicUsize::new(usize::MAX),
            cost: [0, 1].map(|level| AtomicU32::new(cost(level))),
        }
    }

    /// Sets the number of processors that this process uses. If it uses all of them, makes
    /// recompilations due (`QueueState::make_due`).
    pub fn set_busy(self: &Arc<Queue>, busy: usize) {
        let now = Instant::now();
        self.busy.store(busy, Ordering::Relaxed);
        {
            let mut state = self.state.lock();
            let idle = busy.saturating_sub(state.compiling()) < topology::usable_cpus();
            state.idle.record(idle, now);
            state.record_use(&self.image, now);
        }
        if self.idle() == 0 && self.left_over() == 0 {
            self.make_due(now);
        }
    }

    /// Returns how many processors this process leaves unused.
    pub fn idle(&self) -> usize {
        topology::usable_cpus().saturating_sub(self.busy.load(Ordering::Relaxed))
    }

    /// Returns for how long the program has left a processor idle, compile threads aside.
    pub fn idle_since(&self, now: Instant) -> Duration {
        self.state.lock().idle.length(now)
    }

    /// Returns true if a compilation is under way, or a first compilation waits.
    pub fn is_busy(&self) -> bool {
        let state = self.state.lock();
        state.compiling() > 0 || state.jobs.iter().any(|j| j.recompilation.is_none())
    }

    /// Returns how many processors the program leaves to compile threads, whether they use them or
    /// not.
    pub fn left_over(&self) -> usize {
        self.left_over_beside(self.state.lock().compiling())
    }

    /// Returns the same for a given number of threads that compile.
    fn left_over_beside(&self, compiling: usize) -> usize {
        let busy = self.busy.load(Ordering::Relaxed).saturating_sub(compiling);
        let known = 1 + workers() as usize;
        topology::usable_cpus().saturating_sub(busy.max(known))
    }

    /// Moves compile threads to their next processor, if it is time and a team occupies all of
    /// them. Returns true if the threads rotate.
    pub fn rotate(&self, now: Instant) -> bool {
        let usable = topology::usable_cpus();
        let known = self.busy.load(Ordering::Relaxed) != usize::MAX;
        // Under a CPU quota the rotation gains nothing. While a quarter of the processors is idle,
        // the kernel places the threads well by itself.
        let full = usable == topology::allowed_cpus().len() && self.idle() * 4 < usable;
        let full = known && full && self.left_over() == 0;
        self.rotation.lock().advance(now, full)
    }

    /// Ends the rotation.
    pub fn end_rotation(&self) {
        self.rotation.lock().advance(Instant::now(), false);
    }

    /// Returns the recompilation of a function that takes `share` of the program's time.
    pub fn recompilation(&self, function: FuncId, now: Instant, share: f64) -> Recompilation {
        Recompilation::new(self.expected(function, Level::Full), now, share)
    }

    /// Returns the recompilation of a loop in such a function.
    pub fn loop_recompilation(
        &self,
        function: FuncId,
        head: BlockId,
        now: Instant,
        share: f64,
    ) -> Recompilation {
        Recompilation::new(self.expected_loop(function, head, Level::Full), now, share)
    }

    /// Gives a deadline to the speculative recompilation of a function.
    pub fn set_deadline(&self, function: FuncId, recompilation: Recompilation) {
        self.state.lock().set_deadline(function, recompilation);
    }

    /// Returns the number of first compilations that wait.
    pub fn waiting(&self) -> usize {
        let state = self.state.lock();
        state
            .jobs
            .iter()
            .filter(|j| j.recompilation.is_none())
            .count()
    }

    /// Returns the number of compile threads.
    pub fn threads(&self) -> usize {
        self.state.lock().threads.len()
    }

    /// Adds a job.
    pub fn push(self: &Arc<Queue>, job: Job) {
        let low_priority = job.recompilation.is_some();
        let left_over = self.left_over();
        let mut state = self.state.lock();
        let most = job.most_threads(left_over, state.eager_at_work);
        state.awaited += usize::from(job.awaited);
        tracing::trace!(
            target: log::QUEUE,
            function = self.compiler.program().name(job.function),
            level = ?job.level,
            low_priority,
            "adds a job"
        );
        state.jobs.push(job);
        if state.free[usize::from(low_priority)] == 0 && !self.start(&mut state, low_priority, most)
        {
            tracing::debug!(
                target: log::QUEUE,
                jobs = state.jobs.len(),
                threads = state.threads.len(),
                most,
                low_priority,
                "jobs wait for a thread"
            );
        }
        drop(state);
        self.wake.notify_all();
    }

    /// Returns the time that recompilation would have saved so far, for each function that still
    /// waits for it.
    pub fn missed_savings(&self, now: Instant) -> Vec<(FuncId, Duration)> {
        let state = self.state.lock();
        let waiting = state.jobs.iter().chain(&state.started_early);
        let missed_savings = waiting.filter(|j| j.head.is_none()).filter_map(|j| {
            let saved = j.recompilation?.saved(now);
            (!saved.is_zero()).then_some((j.function, saved))
        });
        missed_savings.collect()
    }

    /// Returns the functions that LLVM could not compile.
    pub fn refused(&self) -> Vec<FuncId> {
        self.state.lock().refused.clone()
    }

    /// Waits for the awaited jobs, until all threads of the process have used `limit` of processor
    /// time, or a multiple of it has passed on the clock.
    pub fn wait(&self, limit: Duration) {
        let (start, used) = (Instant::now(), process_time());
        let mut state = self.state.lock();
        while state.awaited > 0
            && process_time().saturating_sub(used) < limit
            && start.elapsed() < limit * OTHERS_FACTOR
        {
            self.done.wait_for(&mut state, RECHECK);
        }
    }

    /// Stops taking jobs and waits for the compilations under way if all are expected to end within
    /// `allowed`. Returns the time spent waiting, at most `allowed`.
    pub fn finish(&self, allowed: Duration) -> Duration {
        let start = Instant::now();
        let end = start + allowed;
        let mut state = self.state.lock();
        state.stop = true;
        self.wake.notify_all();
        if state.ends.is_empty() {
            return Duration::ZERO;
        }
        if state.ends.iter().all(|&at| at <= end) {
            while !state.ends.is_empty() && !self.done.wait_until(&mut state, end).timed_out() {}
        }
        start.elapsed()
    }

    /// Stops the threads, after the compilations under way.
    pub fn stop(&self) {
        let threads = {
            let mut state = self.state.lock();
            state.stop = true;
            std::mem::take(&mut state.threads)
        };
        self.wake.notify_all();
        threads.into_iter().for_each(InternalThread::join);
    }

    /// Ends the threads, after the compilations under way. Threads that start later find the
    /// remaining jobs.
    pub fn pause(&self) {
        self.stop();
        let mut state = self.state.lock();
        state.stop = false;
        state.started = [0; 2];
    }

    /// Resumes work on the jobs that remained at a pause.
    pub fn resume(self: &Arc<Queue>) {
        let mut state = self.state.lock();
        if !state.jobs.is_empty() {
            self.start(&mut state, false, 1);
        }
    }
}
