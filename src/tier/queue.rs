//! Holds the compile jobs of one process and runs the threads that work on them.
//!
//! [`Queue`] holds [`Job`]s and takes the hottest first. A recompilation ([`Job::recompilation`])
//! can wait: before its deadline ([`recompile`]) only low-priority threads take it, and only while
//! a processor is idle and expected to stay so. A recompilation that is still unfinished at its
//! deadline is started a second time by a thread of normal priority. The queue starts a thread when
//! a new job finds all others at work.
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
//! [`super::sample`] decides which functions become jobs.

use super::call_closure;
use super::compiler::{Compiler, EventKind};
use super::recompile::{self, IdlePeriod, Recompilation};
use super::rotation::CpuRotation;
use super::units::{self, SMALL};
use cranelift_entity::EntityRef;
use ompvm_interp::frame::LoweredFunction;
use ompvm_interp::osr;
use ompvm_ir::{BlockId, FuncId};
use ompvm_jit::{Level, OsrEntry, Unit};
use ompvm_kmpc::affinity::{self, ExpectedTeam};
use ompvm_kmpc::thread::workers;
use ompvm_memory::image::Image;
use ompvm_memory::internal_thread::{self, InternalThread};
use ompvm_support::clock::{process_time, thread_time};
use ompvm_support::processor_sharing::{self, Activity};
use ompvm_support::topology;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Expected fixed cost of a compilation.
const PER_UNIT: Duration = Duration::from_millis(2);
/// Expected cost of one unit of [`units::effort`] in nanoseconds, by level, until compilations have
/// been measured.
const PER_EFFORT: [u32; 2] = [12_000, 30_000];
/// Upper bound of the measured cost, in nanoseconds.
const MAX_PER_EFFORT: u32 = 1 << 20;
/// Most instructions that callees add to the unit of their caller.
const MAX_ADDED: usize = 200;
/// Niceness of the threads that recompile in idle time.
const LOW_PRIORITY: i32 = 19;
/// Most threads of normal priority.
const MAX_THREADS: usize = 6;
/// Most low-priority threads.
const MAX_LOW_PRIORITY: usize = 4;
/// Longest wait of a thread before it looks again at jobs that could not start.
const RECHECK: Duration = Duration::from_millis(10);

/// Factor by which the time that a program waits for its compilations may exceed their processor
/// time, for when other processes occupy the processors.
const OTHERS_FACTOR: u32 = 8;

/// A compilation to be done.
#[derive(Clone, Debug)]
pub struct Job {
    /// Time for which samples found the function hot; orders the jobs.
    pub score: Duration,
    /// The function to compile.
    pub function: FuncId,
    /// The OSR point to enter: code and index of its head. `None` compiles the function itself.
    pub head: Option<(&'static LoweredFunction, usize)>,
    /// The level to compile at.
    pub level: Level,
    /// The cost and deadline of a recompilation; `None` for first code.
    pub recompilation: Option<Recompilation>,
    /// Most threads that may work on eager jobs, which no sample has shown to be hot; 0 for other
    /// jobs.
    pub eager_threads: usize,
    /// True if the program waits for this job ([`Queue::wait`]).
    pub awaited: bool,
}

impl Job {
    /// Returns the first block of the loop to enter.
    fn osr_block(&self) -> Option<BlockId> {
        self.head
            .and_then(|(code, head)| code.osr_points[head].block)
    }

    /// Returns the function and loop that the job makes code for.
    fn target(&self) -> (FuncId, Option<BlockId>) {
        (self.function, self.osr_block())
    }

    /// Returns how many threads of the class that takes this job may exist, given the number of
    /// processors that the program leaves and of threads at work on eager jobs.
    fn most_threads(&self, left_over: usize, eager_at_work: usize) -> usize {
        // More threads than free processors would take time from the program or from each other.
        match (self.eager_threads, self.recompilation.is_some(), left_over) {
            (eager @ 1.., ..) => eager,
            (0, true, free) => free.clamp(1, MAX_LOW_PRIORITY),
            // Hot functions do not wait for eager jobs.
            (0, false, 0) => MAX_THREADS + eager_at_work,
            (0, false, free) => free.min(MAX_THREADS) + eager_at_work,
        }
    }

    /// Returns the rank of the job: awaited jobs first, then functions without compiled code, then
    /// functions that samples have shown to be hot.
    fn priority(&self) -> impl Ord + use<> {
        (
            self.awaited,
            self.recompilation.is_none(),
            self.eager_threads == 0,
            self.score,
        )
    }

    /// Returns true if a thread takes this job. `low_priority` tells the class of the thread,
    /// `idle` for how long a processor is expected to stay idle, and `due` that this thread takes
    /// jobs that cannot wait.
    fn is_eligible(&self, low_priority: bool, idle: Duration, due: bool, now: Instant) -> bool {
        match self.recompilation {
            Some(recompilation) if !recompilation.is_due() => {
                low_priority && recompilation.fits(idle) && recompilation.is_worth_idle_time(now)
            }
            _ => due,
        }
    }
}

/// Returns how many processors the announced team leaves, if these are at least half of all.
/// Otherwise returns 0: compilations before the first team starts would lack the other processors.
pub fn left_by_team() -> usize {
    processors_left(topology::usable_cpus(), affinity::expected_team())
}

fn processors_left(usable: usize, team: &ExpectedTeam) -> usize {
    let left = usable.saturating_sub(team.threads.max(team.cpus.len()));
    if left * 2 >= usable { left } else { 0 }
}

#[derive(Debug, Default)]
struct QueueState {
    jobs: Vec<Job>,
    /// Recompilations that were started before their deadline, in idle time.
    started_early: Vec<Job>,
    threads: Vec<InternalThread>,
    /// Number of threads, by class: normal and low priority.
    started: [usize; 2],
    /// Number of threads that wait for a job, by class.
    free: [usize; 2],
    /// Number of threads at work on eager jobs.
    eager_at_work: usize,
    /// Number of jobs that the program waits for.
    awaited: usize,
    /// Expected ends of the compilations under way whose code is cached.
    ends: Vec<Instant>,
    /// Functions that LLVM could not compile.
    refused: Vec<FuncId>,
    /// Period in which the program has left a processor idle, compile threads aside.
    idle: IdlePeriod,
    stop: bool,
}

impl QueueState {
    /// Returns the number of threads that compile.
    fn compiling(&self) -> usize {
        self.started.iter().sum::<usize>() - self.free.iter().sum::<usize>()
    }

    /// Makes recompilations due that together have earned their cost on a full machine. Duplicates
    /// those already started in idle time. Returns how many became due.
    fn make_due(&mut self, now: Instant, processors: usize) -> usize {
        let both = self.jobs.iter().chain(&self.started_early).enumerate();
        let (places, waiting): (Vec<usize>, Vec<Recompilation>) = both
            .filter_map(|(i, j)| Some((i, j.recompilation?)))
            .unzip();
        let chosen = recompile::jointly_due(&waiting, now, processors);
        let begun = self.jobs.len();
        for &i in &chosen {
            let recompilation = Some(waiting[i].with_deadline(now));
            match places[i].checked_sub(begun) {
                None => self.jobs[places[i]].recompilation = recompilation,
                Some(at) => self.jobs.push(Job {
                    recompilation,
                    ..self.started_early[at].clone()
                }),
            }
        }
        let again = &self.jobs[begun..];
        let waits = |j: &Job| !again.iter().any(|a| a.target() == j.target());
        self.started_early.retain(waits);
        chosen.len()
    }

    /// Records for each recompilation whether the code that it would replace still runs.
    fn record_use(&mut self, image: &Image, now: Instant) {
        for job in self.jobs.iter_mut().chain(&mut self.started_early) {
            let Some(recompilation) = job.recompilation.as_mut().filter(|b| !b.is_speculative())
            else {
                continue;
            };
            let used = match job.head {
                Some((code, head)) => osr::probe_loop(code, head),
                None => image.func_ref(job.function).is_some_and(|f| f.was_called()),
            };
            if used {
                recompilation.mark_used(now);
            }
        }
    }

    /// Replaces the speculative recompilation of a function by one with a deadline, because the
    /// function was called.
    fn set_deadline(&mut self, function: FuncId, recompilation: Recompilation) {
        let both = self.jobs.iter_mut().chain(&mut self.started_early);
        let of_it = both.filter(|j| j.target() == (function, None));
        for waiting in of_it.filter_map(|j| j.recompilation.as_mut()) {
            if waiting.is_speculative() {
                *waiting = recompilation;
            }
        }
    }

    /// Turns the recompilation of a target into a first compilation that does not wait, because the
    /// quick compilation failed.
    fn promote(&mut self, target: (FuncId, Option<BlockId>)) {
        for job in self.jobs.iter_mut().filter(|j| j.target() == target) {
            job.recompilation = None;
        }
    }

    /// Drops queued jobs for functions that another unit has already compiled at this level.
    fn drop_superseded(&mut self, functions: &[FuncId], level: Level) {
        let other = |j: &Job| {
            j.head.is_some()
                || j.awaited
                || level == Level::Quick && j.level == Level::Full
                || !functions.contains(&j.function)
        };
        self.started_early.retain(other);
        self.jobs.retain(other);
    }

    /// Drops every other recompilation of a target, because one of them is done.
    fn drop_recompilations(&mut self, target: (FuncId, Option<BlockId>)) {
        let other = |j: &Job| j.recompilation.is_none() || j.target() != target;
        self.started_early.retain(other);
        self.jobs.retain(other);
    }
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

    /// Returns the measured cost of one unit of effort in nanoseconds, by level; 0 if nothing was
    /// measured.
    pub fn measured(&self) -> [u32; 2] {
        [0, 1].map(|level| match self.cost[level].load(Ordering::Relaxed) {
            cost if cost == PER_EFFORT[level] => 0,
            cost => cost,
        })
    }

    /// Returns the processor time that compiling a function is expected to take.
    pub fn expected(&self, function: FuncId, level: Level) -> Duration {
        self.expected_for(units::effort(&self.image.module, function), level)
    }

    /// Returns the processor time that compiling a loop of a function is expected to take.
    pub fn expected_loop(&self, function: FuncId, head: BlockId, level: Level) -> Duration {
        self.expected_for(self.effort_of_loop(function, head), level)
    }

    fn expected_for(&self, effort: usize, level: Level) -> Duration {
        let cost = self.cost[level as usize].load(Ordering::Relaxed);
        PER_UNIT + Duration::from_nanos(u64::from(cost)) * effort as u32
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
        state.jobs.push(job);
        if state.free[usize::from(low_priority)] == 0 {
            self.start(&mut state, low_priority, most);
        }
        drop(state);
        self.wake.notify_all();
    }

    /// Starts a thread if there are fewer than `most` of its class. Returns true if it did.
    fn start(self: &Arc<Queue>, state: &mut QueueState, low_priority: bool, most: usize) -> bool {
        let kind = usize::from(low_priority);
        if state.stop || state.started[kind] >= topology::usable_cpus().min(most) {
            return false;
        }
        let me = self.clone();
        // If no thread can be started, the job waits for the existing ones.
        let Some(thread) =
            internal_thread::spawn_with_own_descriptors(c"ompvm compile", move || {
                me.work(low_priority)
            })
        else {
            return false;
        };
        state.started[kind] += 1;
        state.threads.push(thread);
        true
    }

    /// Makes recompilations due and starts threads for them.
    fn make_due(self: &Arc<Queue>, now: Instant) {
        let mut state = self.state.lock();
        let due = state.make_due(now, topology::usable_cpus().min(MAX_THREADS));
        for _ in state.free[0]..due {
            if !self.start(&mut state, false, MAX_THREADS) {
                break;
            }
        }
        drop(state);
        if due > 0 {
            self.wake.notify_all();
        }
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

    /// Returns the job that this thread takes next, and its expected end if its code is cached.
    /// Waits for a job; returns `None` once the queue is stopped.
    fn next(&self, low_priority: bool) -> Option<(Job, Option<Instant>)> {
        let mut state = self.state.lock();
        loop {
            if state.stop {
                return None;
            }
            let now = Instant::now();
            let idle = self.idle() > 0;
            let lasts = match self.left_over_beside(state.compiling()) {
                _ if !idle => Duration::ZERO,
                0 => state.idle.length(now),
                1.. => Duration::MAX,
            };
            // If all jobs so far were recompilations, no thread of normal priority exists, so a
            // low-priority thread takes the due ones.
            let due = !low_priority || idle && state.started[0] == 0;
            let mine = |j: &Job| j.is_eligible(low_priority, lasts, due, now);
            let best = (0..state.jobs.len())
                .filter(|&i| mine(&state.jobs[i]))
                .max_by_key(|&i| state.jobs[i].priority());
            if let Some(best) = best {
                let job = state.jobs.swap_remove(best);
                state.eager_at_work += usize::from(job.eager_threads > 0);
                if job.recompilation.is_some_and(|b| !b.is_due()) {
                    state.started_early.push(job.clone());
                }
                if job.head.is_none() {
                    let end = now + self.expected(job.function, job.level);
                    state.ends.push(end);
                    return Some((job, Some(end)));
                }
                return Some((job, None));
            }
            state.free[usize::from(low_priority)] += 1;
            processor_sharing::set_activity(processor_sharing::own_entry(), Activity::Asleep);
            if state.jobs.is_empty() {
                self.wake.wait(&mut state);
            } else {
                self.wake.wait_for(&mut state, RECHECK);
            }
            processor_sharing::set_activity(processor_sharing::own_entry(), Activity::Occupying);
            state.free[usize::from(low_priority)] -= 1;
        }
    }

    fn work(self: Arc<Queue>, low_priority: bool) {
        let team = &affinity::expected_team().cpus;
        if left_by_team() > 0 && !team.is_empty() {
            topology::bind_current_thread(&topology::others(team));
        }
        if low_priority {
            // SAFETY: `setpriority` takes plain values and changes only this thread's priority; a
            // failure changes nothing.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as u32, LOW_PRIORITY) };
        } else {
            // Compile threads do not migrate by themselves. A low-priority thread does not count,
            // because its processor is as good as free.
            processor_sharing::register();
            processor_sharing::set_activity(processor_sharing::own_entry(), Activity::Occupying);
        }
        let rotates = !low_priority && left_by_team() == 0;
        while let Some((job, end)) = self.next(low_priority) {
            if rotates {
                self.rotation.lock().enter();
            }
            let mut none_entered = job.head.is_some();
            let mut compiled: Vec<FuncId> = Vec::new();
            let mut unit = self.unit(&job);
            let effort = self.effort(&job, &unit);
            let start = thread_time();
            let whole = call_closure::complete(&self.image, self.compiler.program(), &mut unit);
            match whole.and_then(|()| self.compiler.compile(&self.image, &unit)) {
                Ok(pieces) => {
                    let pieces = || pieces.iter();
                    compiled.extend(pieces().flat_map(|c| &c.functions).map(|f| f.0));
                    let skipped = pieces().flat_map(|c| &c.skipped).map(|s| s.0);
                    if job.head.is_none() {
                        self.state.lock().refused.extend(skipped);
                    }
                    for &(index, address) in pieces().flat_map(|c| &c.entries) {
                        if let Some((code, head)) = job.head {
                            debug_assert_eq!(index, 0);
                            none_entered = false;
                            let yields = job.level == Level::Quick;
                            osr::install_entry(code, head, address, 0, yields);
                        }
                    }
                    let took = thread_time().saturating_sub(start);
                    if job.awaited || self.idle() == 0 && self.left_over() == 0 {
                        self.compiler.add_compile_time(took);
                    }
                    self.record_cost(job.level, took.saturating_sub(PER_UNIT), effort);
                }
                // A function that cannot be compiled stays in its tier.
                Err(why) => {
                    self.compiler.note(job.function, EventKind::Skipped(why));
                    if job.head.is_none() {
                        self.state.lock().refused.push(job.function);
                    }
                }
            }
            if rotates {
                self.rotation.lock().leave();
            }
            let mut state = self.state.lock();
            state.awaited -= usize::from(job.awaited);
            state.eager_at_work -= usize::from(job.eager_threads > 0);
            state.drop_superseded(&compiled, job.level);
            if job.recompilation.is_some() {
                state.drop_recompilations(job.target());
            } else if none_entered && job.level == Level::Quick {
                state.promote(job.target());
            }
            if let Some(i) = state.ends.iter().position(|&at| Some(at) == end) {
                state.ends.swap_remove(i);
            }
            drop(state);
            self.done.notify_all();
        }
    }

    /// Updates the measured cost per unit of effort by one compilation.
    fn record_cost(&self, level: Level, took: Duration, effort: usize) {
        let cost = &self.cost[level as usize];
        let per = (took / effort.max(1) as u32)
            .as_nanos()
            .min(u128::from(MAX_PER_EFFORT)) as u32;
        let old = cost.load(Ordering::Relaxed);
        cost.store((old * 3 + per) / 4, Ordering::Relaxed);
    }

    /// Returns the effort of a job's unit.
    fn effort(&self, job: &Job, unit: &Unit) -> usize {
        let of = |f| units::effort(&self.image.module, f);
        let functions = unit.functions.iter().flatten();
        let all: usize = functions.map(|&f| of(FuncId::new(f))).sum();
        all + job
            .osr_block()
            .map_or(0, |head| self.effort_of_loop(job.function, head))
    }

    fn effort_of_loop(&self, function: FuncId, head: BlockId) -> usize {
        let module = &self.image.module;
        units::effort_of(module, function, &units::in_loop(module, function, head))
    }

    /// Returns the unit of a job: its function or loop, the small functions called there, and all
    /// members of their strongly connected sets. Callees with compiled code are part of the unit,
    /// too, because only calls within a unit can be inlined.
    fn unit(&self, job: &Job) -> Unit {
        let module = &self.image.module;
        let osr_block = job.osr_block();
        let inside = osr_block.map(|block| units::in_loop(module, job.function, block));
        let own = inside.as_ref().map_or_else(
            || units::size(module, job.function),
            |blocks| units::effort_of(module, job.function, blocks),
        );
        let mut size = inside.as_ref().map_or(0, |_| own);
        let mut functions: Vec<usize> = Vec::new();
        let mut entries = Vec::new();
        let mut todo = Vec::new();
        let mut add = |f: FuncId, todo: &mut Vec<FuncId>| {
            for f in units::strongly_connected(module, f) {
                if !functions.contains(&f.index()) && self.compiler.program().can_compile(f) {
                    size += units::size(module, f);
                    functions.push(f.index());
                    todo.extend(units::called(module, f));
                }
            }
            size
        };
        if let (Some((code, _)), Some(block), Some(inside)) = (job.head, osr_block, inside) {
            todo = units::called_from(module, job.function, &inside);
            if let Some((locations, words)) = osr::value_locations(code) {
                entries.push(OsrEntry {
                    function: job.function.index(),
                    block: block.as_u32(),
                    words,
                    locations,
                });
            }
        } else {
            add(job.function, &mut todo);
        }
        let mut total = own;
        while let Some(f) = todo.pop() {
            if f != job.function && units::size(module, f) <= SMALL && total <= own + MAX_ADDED {
                total = add(f, &mut todo);
            }
        }
        Unit {
            functions: Some(functions),
            entries,
            level: job.level,
            degraded: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    const SECOND: Duration = Duration::from_secs(1);

    fn job(function: usize, recompilation: Option<Recompilation>) -> Job {
        Job {
            score: SECOND,
            function: FuncId::new(function),
            head: None,
            level: Level::Full,
            recompilation,
            eager_threads: 0,
            awaited: false,
        }
    }

    #[test]
    fn a_recompilation_before_its_deadline_waits_for_idle_time() {
        let now = Instant::now();
        let recompilation = Recompilation::new(SECOND, now, 1.0);
        let (worth, late) = (now + SECOND, now + SECOND * 60);
        let waits = job(0, Some(recompilation));
        let speculative = job(0, Some(recompilation.speculative()));
        let hot = job(0, None);
        let (none, long) = (Duration::ZERO, Duration::MAX);
        assert!(
            hot.is_eligible(false, none, true, now) && !hot.is_eligible(true, long, false, now)
        );
        for job in [&waits, &speculative] {
            assert!(!job.is_eligible(true, long, false, now));
            assert!(job.is_eligible(true, long, false, worth));
            assert!(!job.is_eligible(true, none, false, worth));
            assert!(!job.is_eligible(false, long, true, worth));
            // A recompilation does not start in idle time that is shorter than its cost.
            assert!(!job.is_eligible(true, SECOND / 2, false, worth));
            assert!(job.is_eligible(true, SECOND, false, worth));
        }
        // A deadline passes only if the code was in use all the time.
        assert!(!waits.is_eligible(false, none, true, late));
        let used = |mut job: Job| {
            job.recompilation.iter_mut().for_each(|b| b.mark_used(late));
            job
        };
        assert!(used(waits).is_eligible(false, none, true, late));
        assert!(!used(speculative).is_eligible(false, none, true, late));
    }

    #[test]
    fn a_team_leaves_half_of_the_processors_or_none() {
        let team = |threads, bound: usize| ExpectedTeam {
            threads,
            cpus: (0..bound).collect(),
        };
        assert_eq!(processors_left(4, &team(2, 2)), 2);
        assert_eq!(processors_left(4, &team(1, 0)), 3);
        // A thread bound to a core of two processors occupies both.
        assert_eq!(processors_left(4, &team(1, 2)), 2);
        assert_eq!(processors_left(4, &team(3, 3)), 0);
        assert_eq!(processors_left(4, &team(8, 4)), 0);
    }

    #[test]
    fn hot_functions_do_not_wait_for_eager_jobs() {
        let eager = Job {
            eager_threads: 14,
            score: SECOND * 60,
            ..job(0, None)
        };
        let hot = job(1, None);
        assert!(hot.priority() > eager.priority());
        // All fourteen threads are at work, whether the program leaves a processor or not.
        assert_eq!(eager.most_threads(0, 14), 14);
        assert!(hot.most_threads(0, 14) > 14 && hot.most_threads(1, 14) > 14);
        let recompilation = Recompilation::new(SECOND, Instant::now(), 1.0);
        assert!(job(2, Some(recompilation)).priority() < eager.priority());
    }

    #[test]
    fn superseded_jobs_are_dropped() {
        let recompilation = Recompilation::new(SECOND, Instant::now(), 1.0);
        let quick = |function| Job {
            level: Level::Quick,
            ..job(function, None)
        };
        let mut state = QueueState {
            jobs: vec![quick(0), job(0, Some(recompilation)), quick(1)],
            started_early: vec![job(0, Some(recompilation))],
            ..QueueState::default()
        };
        state.drop_superseded(&[FuncId::new(0)], Level::Quick);
        assert_eq!((state.jobs.len(), state.started_early.len()), (2, 1));
        state.drop_superseded(&[FuncId::new(0)], Level::Full);
        assert_eq!((state.jobs.len(), state.started_early.len()), (1, 0));
        assert_eq!(state.jobs[0].function, FuncId::new(1));
    }

    #[test]
    fn a_call_gives_a_speculative_recompilation_its_deadline() {
        let now = Instant::now();
        let recompilation = Recompilation::new(SECOND, now, 1.0);
        let speculative = |function| job(function, Some(recompilation.speculative()));
        let mut state = QueueState {
            jobs: vec![speculative(0), speculative(1), job(0, None)],
            started_early: vec![speculative(2)],
            ..QueueState::default()
        };
        state.set_deadline(FuncId::new(0), recompilation.with_deadline(now));
        assert!(state.jobs[0].is_eligible(false, Duration::ZERO, true, now));
        assert!(!state.jobs[1].is_eligible(false, Duration::ZERO, true, now));
        state.set_deadline(FuncId::new(0), recompilation);
        assert_eq!(
            state.jobs[0].recompilation,
            Some(recompilation.with_deadline(now))
        );
        // The same holds for a recompilation that has started.
        state.set_deadline(FuncId::new(2), recompilation);
        assert_eq!(state.started_early[0].recompilation, Some(recompilation));
    }

    #[test]
    fn a_recompilation_begun_in_idle_time_is_started_again_at_its_deadline() {
        let now = Instant::now();
        let recompilation = Recompilation::new(SECOND, now, 1.0);
        let mut state = QueueState {
            jobs: vec![job(0, None), job(1, Some(recompilation.speculative()))],
            started_early: vec![
                job(2, Some(recompilation)),
                job(3, Some(recompilation.speculative())),
            ],
            ..QueueState::default()
        };
        let late = now + SECOND * 60;
        // The code that it would replace was not used.
        assert_eq!(state.make_due(late, 1), 0);
        let mut mark_used = |at| {
            state.started_early[0]
                .recompilation
                .iter_mut()
                .for_each(|b| b.mark_used(at))
        };
        mark_used(now + SECOND);
        mark_used(late);
        assert_eq!(state.make_due(late, 1), 1);
        let again = state.jobs.pop().expect("what was begun");
        assert!(
            again.function == FuncId::new(2)
                && again.is_eligible(false, Duration::ZERO, true, late)
        );
        assert_eq!(state.started_early.len(), 1);
        // The first of the two that ends drops the other.
        state.jobs.push(again);
        state.drop_recompilations((FuncId::new(2), None));
        state.drop_recompilations((FuncId::new(0), None));
        assert_eq!((state.jobs.len(), state.started_early.len()), (2, 1));
        state.promote((FuncId::new(1), None));
        assert!(state.jobs.iter().all(|j| j.recompilation.is_none()));
    }
}
