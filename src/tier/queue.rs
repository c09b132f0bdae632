//! Holds the compile jobs of one process and runs the threads that work on them.
//!
//! [`Queue`] holds [`Job`]s and takes the hottest first. A recompilation ([`Job::better`]) can
//! wait: before its deadline ([`improve`]) only low-priority threads take it, and only while a
//! processor is idle and expected to stay so. A recompilation that is still unfinished at its
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

use super::closed;
use super::compiler::{Compiler, What};
use super::improve::{self, Better, Idle};
use super::rotation::CpuRotation;
use super::units::{self, SMALL};
use cranelift_entity::EntityRef;
use ompvm_interp::frame::LoweredFunction;
use ompvm_interp::osr;
use ompvm_ir::{BlockId, FuncId};
use ompvm_jit::{Level, LoopEntry, Unit};
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
const PER_INSTRUCTION: [u32; 2] = [12_000, 30_000];
/// Upper bound of the measured cost, in nanoseconds.
const MOST_PER_INSTRUCTION: u32 = 1 << 20;
/// Most instructions that callees add to the unit of their caller.
const ADDED: usize = 200;
/// Niceness of the threads that recompile in idle time.
const NICE: i32 = 19;
/// Most threads of normal priority.
const MOST: usize = 6;
/// Most low-priority threads.
const MOST_NICE: usize = 4;
/// Longest wait of a thread before it looks again at jobs that could not start.
const LOOK: Duration = Duration::from_millis(10);

/// Factor by which the time that a program waits for its compilations may exceed their processor
/// time, for when other processes occupy the processors.
const OTHERS: u32 = 8;

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
    pub better: Option<Better>,
    /// Most threads that may work on eager jobs, which no sample has shown to be hot; 0 for other
    /// jobs.
    pub eager_threads: usize,
    /// True if the program waits for this job ([`Queue::wait`]).
    pub awaited: bool,
}

impl Job {
    /// Returns the first block of the loop to enter.
    fn looping(&self) -> Option<BlockId> {
        self.head
            .and_then(|(code, head)| code.osr_points[head].block)
    }

    /// Returns the function and loop that the job makes code for.
    fn target(&self) -> (FuncId, Option<BlockId>) {
        (self.function, self.looping())
    }

    /// Returns how many threads of the class that takes this job may exist, given the number of
    /// processors that the program leaves and of threads at work on eager jobs.
    fn most_threads(&self, left_over: usize, eager_at_work: usize) -> usize {
        // More threads than free processors would take time from the program or from each other.
        match (self.eager_threads, self.better.is_some(), left_over) {
            (eager @ 1.., ..) => eager,
            (0, true, free) => free.clamp(1, MOST_NICE),
            // Hot functions do not wait for eager jobs.
            (0, false, 0) => MOST + eager_at_work,
            (0, false, free) => free.min(MOST) + eager_at_work,
        }
    }

    /// Returns the rank of the job: awaited jobs first, then functions without compiled code, then
    /// functions that samples have shown to be hot.
    fn urgency(&self) -> impl Ord + use<> {
        (
            self.awaited,
            self.better.is_none(),
            self.eager_threads == 0,
            self.score,
        )
    }

    /// Returns true if a thread takes this job. `nice` tells the class of the thread, `idle` for
    /// how long a processor is expected to stay idle, and `due` that this thread takes jobs that
    /// cannot wait.
    fn is_for(&self, nice: bool, idle: Duration, due: bool, now: Instant) -> bool {
        match self.better {
            Some(better) if !better.is_due() => {
                nice && better.fits(idle) && better.is_worth_idle_time(now)
            }
            _ => due,
        }
    }
}

/// Returns how many processors the announced team leaves, if these are at least half of all.
/// Otherwise returns 0: compilations before the first team starts would lack the other processors.
pub fn left_by_team() -> usize {
    most_left(topology::usable_cpus(), affinity::expected_team())
}

fn most_left(usable: usize, team: &ExpectedTeam) -> usize {
    let left = usable.saturating_sub(team.threads.max(team.cpus.len()));
    if left * 2 >= usable { left } else { 0 }
}

#[derive(Debug, Default)]
struct State {
    jobs: Vec<Job>,
    /// Recompilations that were started before their deadline, in idle time.
    improving: Vec<Job>,
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
    idle: Idle,
    stop: bool,
}

impl State {
    /// Returns the number of threads that compile.
    fn compiling(&self) -> usize {
        self.started.iter().sum::<usize>() - self.free.iter().sum::<usize>()
    }

    /// Makes recompilations due that together have earned their cost on a full machine. Duplicates
    /// those already started in idle time. Returns how many became due.
    fn gather(&mut self, now: Instant, processors: usize) -> usize {
        let both = self.jobs.iter().chain(&self.improving).enumerate();
        let (places, waiting): (Vec<usize>, Vec<Better>) =
            both.filter_map(|(i, j)| Some((i, j.better?))).unzip();
        let chosen = improve::together(&waiting, now, processors);
        let begun = self.jobs.len();
        for &i in &chosen {
            let better = Some(waiting[i].due_at(now));
            match places[i].checked_sub(begun) {
                None => self.jobs[places[i]].better = better,
                Some(at) => self.jobs.push(Job {
                    better,
                    ..self.improving[at].clone()
                }),
            }
        }
        let again = &self.jobs[begun..];
        let waits = |j: &Job| !again.iter().any(|a| a.target() == j.target());
        self.improving.retain(waits);
        chosen.len()
    }

    /// Records for each recompilation whether the code that it would replace still runs.
    fn look_for_use(&mut self, image: &Image, now: Instant) {
        for job in self.jobs.iter_mut().chain(&mut self.improving) {
            let Some(better) = job.better.as_mut().filter(|b| !b.is_spare()) else {
                continue;
            };
            let used = match job.head {
                Some((code, head)) => osr::probe_loop(code, head),
                None => image.func_ref(job.function).is_some_and(|f| f.was_called()),
            };
            if used {
                better.use_until(now);
            }
        }
    }

    /// Replaces the speculative recompilation of a function by one with a deadline, because the
    /// function was called.
    fn fall_due(&mut self, function: FuncId, better: Better) {
        let both = self.jobs.iter_mut().chain(&mut self.improving);
        let of_it = both.filter(|j| j.target() == (function, None));
        for waiting in of_it.filter_map(|j| j.better.as_mut()) {
            if waiting.is_spare() {
                *waiting = better;
            }
        }
    }

    /// Turns the recompilation of a target into a first compilation that does not wait, because the
    /// quick compilation failed.
    fn hurry(&mut self, target: (FuncId, Option<BlockId>)) {
        for job in self.jobs.iter_mut().filter(|j| j.target() == target) {
            job.better = None;
        }
    }

    /// Drops queued jobs for functions that another unit has already compiled at this level.
    fn came(&mut self, functions: &[FuncId], level: Level) {
        let other = |j: &Job| {
            j.head.is_some()
                || j.awaited
                || level == Level::Quick && j.level == Level::Full
                || !functions.contains(&j.function)
        };
        self.improving.retain(other);
        self.jobs.retain(other);
    }

    /// Drops every other recompilation of a target, because one of them is done.
    fn improved(&mut self, target: (FuncId, Option<BlockId>)) {
        let other = |j: &Job| j.better.is_none() || j.target() != target;
        self.improving.retain(other);
        self.jobs.retain(other);
    }
}

/// The compile jobs and the threads that work on them.
#[derive(Debug)]
pub struct Queue {
    image: Arc<Image>,
    compiler: Arc<Compiler>,
    state: Mutex<State>,
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
            0 => PER_INSTRUCTION[level],
            cost => cost.min(MOST_PER_INSTRUCTION),
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
            cost if cost == PER_INSTRUCTION[level] => 0,
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
    /// recompilations due (`State::gather`).
    pub fn set_busy(self: &Arc<Queue>, busy: usize) {
        let now = Instant::now();
        self.busy.store(busy, Ordering::Relaxed);
        {
            let mut state = self.state.lock();
            let idle = busy.saturating_sub(state.compiling()) < topology::usable_cpus();
            state.idle.see(idle, now);
            state.look_for_use(&self.image, now);
        }
        if self.idle() == 0 && self.left_over() == 0 {
            self.gather(now);
        }
    }

    /// Returns how many processors this process leaves unused.
    pub fn idle(&self) -> usize {
        topology::usable_cpus().saturating_sub(self.busy.load(Ordering::Relaxed))
    }

    /// Returns for how long the program has left a processor idle, compile threads aside.
    pub fn idle_since(&self, now: Instant) -> Duration {
        self.state.lock().idle.lasted(now)
    }

    /// Returns true if a compilation is under way, or a first compilation waits.
    pub fn is_busy(&self) -> bool {
        let state = self.state.lock();
        state.compiling() > 0 || state.jobs.iter().any(|j| j.better.is_none())
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
    pub fn better(&self, function: FuncId, now: Instant, share: f64) -> Better {
        Better::new(self.expected(function, Level::Full), now, share)
    }

    /// Returns the recompilation of a loop in such a function.
    pub fn better_loop(&self, function: FuncId, head: BlockId, now: Instant, share: f64) -> Better {
        Better::new(self.expected_loop(function, head, Level::Full), now, share)
    }

    /// Gives a deadline to the speculative recompilation of a function.
    pub fn falls_due(&self, function: FuncId, better: Better) {
        self.state.lock().fall_due(function, better);
    }

    /// Returns the number of first compilations that wait.
    pub fn waiting(&self) -> usize {
        let state = self.state.lock();
        state.jobs.iter().filter(|j| j.better.is_none()).count()
    }

    /// Returns the number of compile threads.
    pub fn threads(&self) -> usize {
        self.state.lock().threads.len()
    }

    /// Adds a job.
    pub fn push(self: &Arc<Queue>, job: Job) {
        let nice = job.better.is_some();
        let left_over = self.left_over();
        let mut state = self.state.lock();
        let most = job.most_threads(left_over, state.eager_at_work);
        state.awaited += usize::from(job.awaited);
        state.jobs.push(job);
        if state.free[usize::from(nice)] == 0 {
            self.start(&mut state, nice, most);
        }
        drop(state);
        self.wake.notify_all();
    }

    /// Starts a thread if there are fewer than `most` of its class. Returns true if it did.
    fn start(self: &Arc<Queue>, state: &mut State, nice: bool, most: usize) -> bool {
        let kind = usize::from(nice);
        if state.stop || state.started[kind] >= topology::usable_cpus().min(most) {
            return false;
        }
        let me = self.clone();
        // If no thread can be started, the job waits for the existing ones.
        let Some(thread) =
            internal_thread::spawn_with_own_descriptors(c"ompvm compile", move || me.work(nice))
        else {
            return false;
        };
        state.started[kind] += 1;
        state.threads.push(thread);
        true
    }

    /// Makes recompilations due and starts threads for them.
    fn gather(self: &Arc<Queue>, now: Instant) {
        let mut state = self.state.lock();
        let due = state.gather(now, topology::usable_cpus().min(MOST));
        for _ in state.free[0]..due {
            if !self.start(&mut state, false, MOST) {
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
    pub fn missed(&self, now: Instant) -> Vec<(FuncId, Duration)> {
        let state = self.state.lock();
        let waiting = state.jobs.iter().chain(&state.improving);
        let missed = waiting.filter(|j| j.head.is_none()).filter_map(|j| {
            let saved = j.better?.saved(now);
            (!saved.is_zero()).then_some((j.function, saved))
        });
        missed.collect()
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
            && start.elapsed() < limit * OTHERS
        {
            self.done.wait_for(&mut state, LOOK);
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
    pub fn go_on(self: &Arc<Queue>) {
        let mut state = self.state.lock();
        if !state.jobs.is_empty() {
            self.start(&mut state, false, 1);
        }
    }

    /// Returns the job that this thread takes next, and its expected end if its code is cached.
    /// Waits for a job; returns `None` once the queue is stopped.
    fn next(&self, nice: bool) -> Option<(Job, Option<Instant>)> {
        let mut state = self.state.lock();
        loop {
            if state.stop {
                return None;
            }
            let now = Instant::now();
            let idle = self.idle() > 0;
            let lasts = match self.left_over_beside(state.compiling()) {
                _ if !idle => Duration::ZERO,
                0 => state.idle.lasted(now),
                1.. => Duration::MAX,
            };
            // If all jobs so far were recompilations, no thread of normal priority exists, so a
            // low-priority thread takes the due ones.
            let due = !nice || idle && state.started[0] == 0;
            let mine = |j: &Job| j.is_for(nice, lasts, due, now);
            let best = (0..state.jobs.len())
                .filter(|&i| mine(&state.jobs[i]))
                .max_by_key(|&i| state.jobs[i].urgency());
            if let Some(best) = best {
                let job = state.jobs.swap_remove(best);
                state.eager_at_work += usize::from(job.eager_threads > 0);
                if job.better.is_some_and(|b| !b.is_due()) {
                    state.improving.push(job.clone());
                }
                if job.head.is_none() {
                    let end = now + self.expected(job.function, job.level);
                    state.ends.push(end);
                    return Some((job, Some(end)));
                }
                return Some((job, None));
            }
            state.free[usize::from(nice)] += 1;
            processor_sharing::set_activity(processor_sharing::own_entry(), Activity::Asleep);
            if state.jobs.is_empty() {
                self.wake.wait(&mut state);
            } else {
                self.wake.wait_for(&mut state, LOOK);
            }
            processor_sharing::set_activity(processor_sharing::own_entry(), Activity::Occupying);
            state.free[usize::from(nice)] -= 1;
        }
    }

    fn work(self: Arc<Queue>, nice: bool) {
        let team = &affinity::expected_team().cpus;
        if left_by_team() > 0 && !team.is_empty() {
            topology::bind_current_thread(&topology::others(team));
        }
        if nice {
            // SAFETY: `setpriority` takes plain values and changes only this thread's priority; a
            // failure changes nothing.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as u32, NICE) };
        } else {
            // Compile threads do not migrate by themselves. A low-priority thread does not count,
            // because its processor is as good as free.
            processor_sharing::register();
            processor_sharing::set_activity(processor_sharing::own_entry(), Activity::Occupying);
        }
        let rotates = !nice && left_by_team() == 0;
        while let Some((job, end)) = self.next(nice) {
            if rotates {
                self.rotation.lock().enter();
            }
            let mut none_entered = job.head.is_some();
            let mut came: Vec<FuncId> = Vec::new();
            let mut unit = self.unit(&job);
            let effort = self.effort(&job, &unit);
            let start = thread_time();
            let whole = closed::complete(&self.image, self.compiler.program(), &mut unit);
            match whole.and_then(|()| self.compiler.compile(&self.image, &unit)) {
                Ok(pieces) => {
                    let pieces = || pieces.iter();
                    came.extend(pieces().flat_map(|c| &c.functions).map(|f| f.0));
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
                        self.compiler.took_from_program(took);
                    }
                    self.learn(job.level, took.saturating_sub(PER_UNIT), effort);
                }
                // A function that cannot be compiled stays in its tier.
                Err(why) => {
                    self.compiler.note(job.function, What::Skipped(why));
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
            state.came(&came, job.level);
            if job.better.is_some() {
                state.improved(job.target());
            } else if none_entered && job.level == Level::Quick {
                state.hurry(job.target());
            }
            if let Some(i) = state.ends.iter().position(|&at| Some(at) == end) {
                state.ends.swap_remove(i);
            }
            drop(state);
            self.done.notify_all();
        }
    }

    /// Updates the measured cost per unit of effort by one compilation.
    fn learn(&self, level: Level, took: Duration, effort: usize) {
        let cost = &self.cost[level as usize];
        let per = (took / effort.max(1) as u32)
            .as_nanos()
            .min(u128::from(MOST_PER_INSTRUCTION)) as u32;
        let old = cost.load(Ordering::Relaxed);
        cost.store((old * 3 + per) / 4, Ordering::Relaxed);
    }

    /// Returns the effort of a job's unit.
    fn effort(&self, job: &Job, unit: &Unit) -> usize {
        let of = |f| units::effort(&self.image.module, f);
        let functions = unit.functions.iter().flatten();
        let all: usize = functions.map(|&f| of(FuncId::new(f))).sum();
        all + job
            .looping()
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
        let looping = job.looping();
        let inside = looping.map(|block| units::in_loop(module, job.function, block));
        let own = inside.as_ref().map_or_else(
            || units::size(module, job.function),
            |blocks| units::effort_of(module, job.function, blocks),
        );
        let mut size = inside.as_ref().map_or(0, |_| own);
        let mut functions: Vec<usize> = Vec::new();
        let mut entries = Vec::new();
        let mut todo = Vec::new();
        let mut add = |f: FuncId, todo: &mut Vec<FuncId>| {
            for f in units::together(module, f) {
                if !functions.contains(&f.index()) && self.compiler.program().can_compile(f) {
                    size += units::size(module, f);
                    functions.push(f.index());
                    todo.extend(units::called(module, f));
                }
            }
            size
        };
        if let (Some((code, _)), Some(block), Some(inside)) = (job.head, looping, inside) {
            todo = units::called_from(module, job.function, &inside);
            if let Some((places, words)) = osr::value_locations(code) {
                entries.push(LoopEntry {
                    function: job.function.index(),
                    block: block.as_u32(),
                    words,
                    places,
                });
            }
        } else {
            add(job.function, &mut todo);
        }
        let mut total = own;
        while let Some(f) = todo.pop() {
            if f != job.function && units::size(module, f) <= SMALL && total <= own + ADDED {
                total = add(f, &mut todo);
            }
        }
        Unit {
            functions: Some(functions),
            entries,
            level: job.level,
            plain: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    const SECOND: Duration = Duration::from_secs(1);

    fn job(function: usize, better: Option<Better>) -> Job {
        Job {
            score: SECOND,
            function: FuncId::new(function),
            head: None,
            level: Level::Full,
            better,
            eager_threads: 0,
            awaited: false,
        }
    }

    #[test]
    fn what_is_not_due_waits_for_idle_time() {
        let now = Instant::now();
        let better = Better::new(SECOND, now, 1.0);
        let (worth, late) = (now + SECOND, now + SECOND * 60);
        let waits = job(0, Some(better));
        let spare = job(0, Some(better.spare()));
        let hot = job(0, None);
        let (none, long) = (Duration::ZERO, Duration::MAX);
        assert!(hot.is_for(false, none, true, now) && !hot.is_for(true, long, false, now));
        for job in [&waits, &spare] {
            assert!(!job.is_for(true, long, false, now));
            assert!(job.is_for(true, long, false, worth));
            assert!(!job.is_for(true, none, false, worth));
            assert!(!job.is_for(false, long, true, worth));
            // A recompilation does not start in idle time that is shorter than its cost.
            assert!(!job.is_for(true, SECOND / 2, false, worth));
            assert!(job.is_for(true, SECOND, false, worth));
        }
        // A deadline passes only if the code was in use all the time.
        assert!(!waits.is_for(false, none, true, late));
        let used = |mut job: Job| {
            job.better.iter_mut().for_each(|b| b.use_until(late));
            job
        };
        assert!(used(waits).is_for(false, none, true, late));
        assert!(!used(spare).is_for(false, none, true, late));
    }

    #[test]
    fn a_team_leaves_half_of_the_processors_or_none() {
        let team = |threads, bound: usize| ExpectedTeam {
            threads,
            cpus: (0..bound).collect(),
        };
        assert_eq!(most_left(4, &team(2, 2)), 2);
        assert_eq!(most_left(4, &team(1, 0)), 3);
        // A thread bound to a core of two processors occupies both.
        assert_eq!(most_left(4, &team(1, 2)), 2);
        assert_eq!(most_left(4, &team(3, 3)), 0);
        assert_eq!(most_left(4, &team(8, 4)), 0);
    }

    #[test]
    fn hot_functions_do_not_wait_for_eager_jobs() {
        let eager = Job {
            eager_threads: 14,
            score: SECOND * 60,
            ..job(0, None)
        };
        let hot = job(1, None);
        assert!(hot.urgency() > eager.urgency());
        // All fourteen threads are at work, whether the program leaves a processor or not.
        assert_eq!(eager.most_threads(0, 14), 14);
        assert!(hot.most_threads(0, 14) > 14 && hot.most_threads(1, 14) > 14);
        let better = Better::new(SECOND, Instant::now(), 1.0);
        assert!(job(2, Some(better)).urgency() < eager.urgency());
    }

    #[test]
    fn what_came_with_others_is_not_made_again() {
        let better = Better::new(SECOND, Instant::now(), 1.0);
        let quick = |function| Job {
            level: Level::Quick,
            ..job(function, None)
        };
        let mut state = State {
            jobs: vec![quick(0), job(0, Some(better)), quick(1)],
            improving: vec![job(0, Some(better))],
            ..State::default()
        };
        state.came(&[FuncId::new(0)], Level::Quick);
        assert_eq!((state.jobs.len(), state.improving.len()), (2, 1));
        state.came(&[FuncId::new(0)], Level::Full);
        assert_eq!((state.jobs.len(), state.improving.len()), (1, 0));
        assert_eq!(state.jobs[0].function, FuncId::new(1));
    }

    #[test]
    fn a_call_makes_spare_code_due() {
        let now = Instant::now();
        let better = Better::new(SECOND, now, 1.0);
        let spare = |function| job(function, Some(better.spare()));
        let mut state = State {
            jobs: vec![spare(0), spare(1), job(0, None)],
            improving: vec![spare(2)],
            ..State::default()
        };
        state.fall_due(FuncId::new(0), better.due_at(now));
        assert!(state.jobs[0].is_for(false, Duration::ZERO, true, now));
        assert!(!state.jobs[1].is_for(false, Duration::ZERO, true, now));
        state.fall_due(FuncId::new(0), better);
        assert_eq!(state.jobs[0].better, Some(better.due_at(now)));
        // The same holds for a recompilation that has started.
        state.fall_due(FuncId::new(2), better);
        assert_eq!(state.improving[0].better, Some(better));
    }

    #[test]
    fn what_was_begun_in_idle_time_is_made_again_when_it_is_due() {
        let now = Instant::now();
        let better = Better::new(SECOND, now, 1.0);
        let mut state = State {
            jobs: vec![job(0, None), job(1, Some(better.spare()))],
            improving: vec![job(2, Some(better)), job(3, Some(better.spare()))],
            ..State::default()
        };
        let late = now + SECOND * 60;
        // The code that it would replace was not used.
        assert_eq!(state.gather(late, 1), 0);
        let mut came = |at| {
            state.improving[0]
                .better
                .iter_mut()
                .for_each(|b| b.use_until(at))
        };
        came(now + SECOND);
        came(late);
        assert_eq!(state.gather(late, 1), 1);
        let again = state.jobs.pop().expect("what was begun");
        assert!(
            again.function == FuncId::new(2) && again.is_for(false, Duration::ZERO, true, late)
        );
        assert_eq!(state.improving.len(), 1);
        // The first of the two that ends drops the other.
        state.jobs.push(again);
        state.improved((FuncId::new(2), None));
        state.improved((FuncId::new(0), None));
        assert_eq!((state.jobs.len(), state.improving.len()), (2, 1));
        state.hurry((FuncId::new(1), None));
        assert!(state.jobs.iter().all(|j| j.better.is_none()));
    }
}
