//! Finds hot functions by sampling and decides how to compile them: the policy of `auto`.
//!
//! A thread wakes once a [`TICK`] and looks up the functions in which the guest's threads are
//! ([`thread::sample_frames`]). It counts calls of a sampled function now and then ([`osr`]).
//! Once the samples of a function add up to more than its compilation will take, the back-edge
//! counters of its loops run for a tick. The counts decide:
//! - A function that is called is compiled at the quick level, and recompiled when that is worth it
//!   or a processor is idle.
//! - For a function that only loops, the outermost executed loop is compiled, and running
//!   activations enter it by OSR. The same holds for the loops of either in which nearly all of its
//!   time is spent, if they are a small part of it ([`super::osr_loops`]).
//! - A function that neither is called nor loops waits in a native call, and is left alone for
//!   longer.
//!
//! Sampling costs the program nothing, weighs loops by time rather than by trips, and does not
//! depend on the tier that runs the frame.
//!
//! On a first run the thread begins with eager compilation ([`eager`]), on a later one with what
//! the persisted profile has paid for ([`warm_start`]). Later the threshold is low while a
//! processor is idle, and somewhat higher while all processors that the program leaves are
//! compiling. Where a team occupies all processors, hot functions are gathered and compiled
//! together.
//!
//! Samples cover frames of the interpreter and the baseline tier only. Compiled code is taken to be
//! as hot as it was before its compilation.
//!
//! This file takes the samples, and starts and ends the thread. [`hot`] is the record of one
//! function, and [`decide`] has the decisions.

mod decide;
pub(crate) mod hot;

use super::compiler::{CachedCode, Compiler};
use super::eager::{self, PacedEager};
use super::lower_ahead::LowerAhead;
use super::queue::{Job, Queue};
use super::recompile::GAIN_PART;
use super::registry::REGISTRY;
use super::rotation::ROTATION_SLICE;
use super::warm_start::{self, WarmStart};
use cranelift_entity::EntityRef;
use hashbrown::{HashMap, HashSet};
use hot::HotSample;
use ompvm_cache::abandon;
use ompvm_interp::frame::LoweredFunction;
use ompvm_interp::osr;
use ompvm_ir::FuncId;
use ompvm_jit::Level;
use ompvm_memory::image::Image;
use ompvm_memory::internal_thread::{self, InternalThread};
use ompvm_memory::thread;
use ompvm_support::clock::process_time;
use ompvm_support::settings::EagerPolicy;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Initial period of the sampling thread.
const TICK: Duration = Duration::from_micros(500);
/// Longest period, when nothing changes any more.
const MAX_TICK: Duration = Duration::from_millis(8);
/// Period of the check whether the sampling thread is the last one. The kernel takes as long for an
/// answer as a look takes.
const ALONE_PERIOD: Duration = Duration::from_millis(32);
/// Period over which idle processors are measured.
const IDLE_SPAN: Duration = Duration::from_millis(4);

/// Handle of the sampling thread.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<SamplerState>,
    thread: Option<InternalThread>,
}

/// Progress of the end of sampling.
#[derive(Debug, Default)]
struct SamplerEnd {
    /// Set when sampling shall end: the time that the program has waited for compilations.
    asked: Option<Duration>,
    /// True while sampling pauses: see [`without_threads`].
    paused: bool,
    /// True once the profile is stored.
    done: bool,
}

#[derive(Debug)]
struct SamplerState {
    image: Arc<Image>,
    compiler: Arc<Compiler>,
    queue: Arc<Queue>,
    ends: Mutex<SamplerEnd>,
    /// Notified when `ends` changes.
    changed: Condvar,
    /// True once a sample has found any function.
    saw: AtomicBool,
    /// Longest expected time of a run, from earlier runs.
    known_time: Option<Duration>,
    /// Recompilations that a run of the known time does not pay for.
    postponed: Mutex<Vec<Job>>,
    /// The persisted profile of earlier runs.
    warm_start: WarmStart,
    /// By function: true if it needs no compilation for its callers.
    cached: Vec<bool>,
    /// True if no earlier run compiled anything of the program.
    first: bool,
    /// Policy of eager compilation.
    policy: EagerPolicy,
    /// Functions chosen for eager compilation.
    eager: Mutex<HashSet<FuncId>>,
    /// Samples taken before a pause.
    left: Mutex<Option<HashMap<usize, HotSample>>>,
}

impl Sampler {
    /// Starts sampling. Functions in `cached` have cached code; of these, only code of the quick
    /// level is recompiled. `policy` is that of eager compilation.
    pub fn start(
        image: Arc<Image>,
        compiler: Arc<Compiler>,
        cached: &CachedCode,
        policy: EagerPolicy,
    ) -> Sampler {
        let functions = image.module.functions.keys();
        let done = functions
            .map(|f| !compiler.program().can_compile(f) || cached.all.contains(&f))
            .collect();
        let warm_start = WarmStart::load(&image, &compiler, cached);
        let known = warm_start.profile().per_instruction;
        let queue = Arc::new(Queue::new(image.clone(), compiler.clone(), known));
        warm_start.compile_planned(&image, &compiler, &queue);
        let now = Instant::now();
        let early = cached.quick.iter().filter(|f| !warm_start.plans(**f));
        let share = 1.0 / early.clone().count().max(1) as f64;
        let improve = |&function: &FuncId| Job {
            score: Duration::ZERO,
            function,
            head: None,
            level: Level::Full,
            eager_threads: 0,
            awaited: false,
            recompilation: Some(queue.recompilation(function, now, share)),
        };
        let known_time = warm_start.profile().known_time();
        let gain = known_time.map(|time| time.mul_f64(share) / GAIN_PART as u32);
        let pays = |job: &Job| gain.is_none_or(|g| g >= queue.expected(job.function, Level::Full));
        let (worthwhile, postponed): (Vec<Job>, Vec<Job>) = early.map(improve).partition(pays);
        for job in worthwhile {
            queue.push(job);
        }
        let shared = Arc::new(SamplerState {
            image,
            compiler,
            queue,
            known_time,
            postponed: Mutex::new(postponed),
            ends: Mutex::default(),
            changed: Condvar::new(),
            saw: AtomicBool::new(false),
            warm_start,
            cached: done,
            first: cached.all.is_empty(),
            policy,
            eager: Mutex::default(),
            left: Mutex::default(),
        });

        let me = shared.clone();
        // The thread shares the guest's descriptors: it ends the process if main has ended, and
        // buffers are written then.
        let thread = internal_thread::spawn(c"ompvm sample", move || me.run());
        Sampler { shared, thread }
    }

    /// Lets the sampler run until the process ends: see [`end_sampling`].
    pub fn detach(self) {
        REGISTRY.samplers.lock().push(self);
    }

    /// Stops the sampler, after the compilations under way.
    pub fn stop(self) {
        self.shared.ask(Duration::ZERO);
        self.thread.into_iter().for_each(InternalThread::join);
        self.shared.queue.stop();
    }
}

/// Ends sampling at process exit. Waits for a compilation that is nearly done, if the profile
/// allows the time, and has the profile stored. Does nothing in a child of `fork`, which has none
/// of these threads.
///
/// May be called anywhere, in a signal handler, too. Therefore another thread does the work, and
/// this function gives up waiting if that thread makes no progress.
pub extern "C" fn end_sampling() {
    let Some(running) = REGISTRY.samplers.try_lock() else {
        return;
    };
    for sampler in running.iter() {
        sampler.shared.end();
    }
    abandon();
}

/// Calls a function while none of our threads samples or compiles. Returns the function uncalled if
/// the samplers are locked, and so cannot be stopped.
pub fn without_threads<T, F: FnOnce() -> T>(call: F) -> Result<T, F> {
    let Some(mut running) = REGISTRY.samplers.try_lock() else {
        return Err(call);
    };
    // A child of `fork` has none of the threads.
    let ours = |s: &&mut Sampler| s.shared.warm_start.is_of_this_process();
    for sampler in running.iter_mut().filter(ours) {
        sampler.shared.ends.lock().paused = true;
        sampler.shared.changed.notify_all();
        sampler
            .thread
            .take()
            .into_iter()
            .for_each(InternalThread::join);
        sampler.shared.queue.pause();
    }
    let result = call();
    for sampler in running.iter_mut().filter(ours) {
        sampler.shared.ends.lock().paused = false;
        let me = sampler.shared.clone();
        sampler.thread = internal_thread::spawn(c"ompvm sample", move || me.run());
        sampler.shared.queue.resume();
    }
    Ok(result)
}

impl SamplerState {
    fn ask(&self, waited: Duration) {
        self.ends.lock().asked = Some(waited);
        self.changed.notify_all();
    }

    fn end(&self) {
        if !self.warm_start.is_of_this_process() {
            return;
        }
        let allowed = self.warm_start.profile().allowance(self.compiler.elapsed());
        let waited = self.queue.finish(allowed);
        if !self.saw.load(Ordering::Relaxed) && self.warm_start.planned().is_empty() {
            return;
        }
        self.ask(waited);
        let end = Instant::now() + warm_start::MAX_STORE_WAIT;
        let mut ends = self.ends.lock();
        while !ends.done && !self.changed.wait_until(&mut ends, end).timed_out() {}
    }

    /// Returns how much longer this run takes if it is like earlier ones; `None` if that is
    /// unknown.
    fn time_left(&self) -> Option<Duration> {
        self.known_time?.checked_sub(self.compiler.elapsed())
    }

    /// Queues the postponed recompilations once the run takes longer than earlier ones.
    fn push_postponed(&self) {
        let mut postponed = self.postponed.lock();
        if !postponed.is_empty() && self.time_left().is_none() {
            for job in postponed.drain(..) {
                self.queue.push(job);
            }
        }
    }

    /// Waits for the next tick, which is at `end`. Returns the time that the program has waited for
    /// compilations if sampling has ended.
    fn wait_until(&self, end: Instant) -> Option<Duration> {
        let mut ends = self.ends.lock();
        if ends.asked.is_none() && !ends.paused {
            self.changed.wait_until(&mut ends, end);
        }
        ends.asked.or(ends.paused.then_some(Duration::ZERO))
    }

    /// Returns true if a function's callers have compiled code of it or soon will.
    fn is_compiled(&self, function: FuncId) -> bool {
        self.cached[function.index()]
            || self.warm_start.plans(function)
            || self.eager.lock().contains(&function)
    }

    /// Samples until the end, then stores the profile.
    fn run(&self) {
        let left = self.left.lock().take();
        let begun = left.is_some();
        let mut seen = left.unwrap_or_default();
        let waited = self.sample_until_end(&mut seen, begun);
        let ends = self.ends.lock();
        if ends.paused && ends.asked.is_none() {
            *self.left.lock() = Some(seen);
            return;
        }
        drop(ends);
        self.queue.end_rotation();
        self.store(&seen, waited);
        self.ends.lock().done = true;
        self.changed.notify_all();
    }

    fn store(&self, seen: &HashMap<usize, HotSample>, waited: Duration) {
        let called = |s: &HotSample| s.called.is_some();
        let seen = seen.values().map(|s| (s.code.func, s.all, called(s)));
        self.warm_start
            .store(&self.image, &self.compiler, &self.queue, seen, waited);
    }

    /// Starts eager compilation on idle processors, or returns what to compile while the program
    /// leaves a processor idle.
    fn start_eager(&self) -> PacedEager {
        if !self.first {
            return PacedEager::none();
        }
        let known = self.warm_start.planned();
        let Some(threads) = eager::threads(self.policy) else {
            return match self.policy {
                EagerPolicy::Idle => {
                    PacedEager::new(&self.image, &self.compiler, &self.queue, known)
                }
                EagerPolicy::Always | EagerPolicy::Never => PacedEager::none(),
            };
        };
        let chosen = eager::compile(&self.image, &self.compiler, &self.queue, threads, known);
        *self.eager.lock() = chosen;
        PacedEager::none()
    }

    /// Continues with eager compilation, if it is time to.
    fn continue_eager(
        &self,
        paced: &mut PacedEager,
        seen: &HashMap<usize, HotSample>,
        now: Instant,
    ) {
        if paced.is_done() || self.queue.is_busy() {
            return;
        }
        // A function with samples is judged by these.
        let known = |f| self.is_compiled(f) || seen.values().any(|s| s.code.func == f);
        if let Some(function) = paced.next(&self.compiler, &self.queue, now, known) {
            self.eager.lock().insert(function);
        }
    }

    fn sample_until_end(&self, seen: &mut HashMap<usize, HotSample>, begun: bool) -> Duration {
        let (mut paced, mut ahead) = if begun {
            (PacedEager::none(), LowerAhead::default())
        } else {
            let lowered = &self.warm_start.profile().lowered;
            (self.start_eager(), LowerAhead::new(lowered))
        };
        let mut tick = TICK;
        let mut last = (Instant::now(), process_time());
        let mut used = last;
        let mut asked = last.0;
        let mut threads: u32 = 1;
        let mut inside: Vec<&'static LoweredFunction> = Vec::new();
        loop {
            let end = Instant::now() + tick;
            ahead.lower_until(&self.image, end);
            if let Some(waited) = self.wait_until(end) {
                return waited;
            }
            let now = Instant::now();
            let time = process_time();
            // Time that other processes had the processors is not counted: the guest did not run.
            let passed = (now - last.0).min(time.saturating_sub(last.1));
            last = (now, time);
            if now - used.0 >= IDLE_SPAN {
                let busy = processors_used(now - used.0, time.saturating_sub(used.1));
                self.queue.set_busy(busy);
                let had = time.saturating_sub(used.1).as_secs_f64();
                threads = (had / (now - used.0).as_secs_f64()).round() as u32;
                used = (now, time);
            }
            let image = Arc::as_ptr(&self.image) as usize;
            let mut fresh = false;
            inside.clear();
            thread::sample_frames(&mut |word| {
                let code = osr::code_from_header(word);
                inside.extend(code.filter(|c| c.image == image && !c.osr_points.is_empty()));
            });
            // Divides the time of a team among its threads, each of which is in one function.
            let passed = passed / threads.max(inside.len() as u32).max(1);
            self.saw.fetch_or(!inside.is_empty(), Ordering::Relaxed);
            for &code in &inside {
                let key = std::ptr::from_ref(code) as usize;
                let s = seen.entry(key).or_insert_with(|| {
                    fresh = true;
                    HotSample::new(code, now)
                });
                s.score += passed;
                s.all += passed;
            }
            let most_tick = match self.queue.rotate(now) {
                true => ROTATION_SLICE,
                false => MAX_TICK,
            };
            let mut busy = fresh || self.queue.waiting() > 0;
            for s in seen.values_mut() {
                busy |= self.advance_counting(s, tick, now);
            }
            busy |= self.start_counting(seen.values_mut(), now);
            self.continue_eager(&mut paced, seen, now);
            self.push_postponed();
            let asks = !busy && now - asked >= ALONE_PERIOD;
            if asks {
                asked = now;
            }
            if asks && self.only_own_threads_left() {
                self.store(seen, Duration::ZERO);
                self.ends.lock().done = true;
                // SAFETY: only this thread is left. `exit` is what the C library calls when a
                // process's last thread ends.
                unsafe { libc::exit(0) }
            }
            tick = if busy {
                TICK
            } else {
                (tick * 9 / 8).min(most_tick)
            };
        }
    }

    /// Returns true if the main thread has ended and only our own threads are left. Natively the
    /// process would have ended.
    fn only_own_threads_left(&self) -> bool {
        let ended = || {
            // `/proc/self/stat` would add up the times of all threads.
            let stat = format!("/proc/self/task/{}/stat", std::process::id());
            let stat = std::fs::read_to_string(stat).ok()?;
            // The state of the first thread follows the name, which is in parentheses.
            stat.rsplit_once(')')?.1.trim_start().chars().next()
        };
        let threads = || std::fs::read_dir("/proc/self/task").map_or(usize::MAX, Iterator::count);
        ended() == Some('Z') && threads() <= 2 + self.queue.threads()
    }
}

/// Part of a processor that a process may use while it is idle: sampling, and threads that start or
/// end.
const IDLE_NOISE: f64 = 0.125;

/// Returns how many processors a process used that had `used` of processor time in `span`. A
/// processor used in part counts as used.
fn processors_used(span: Duration, used: Duration) -> usize {
    (used.as_secs_f64() / span.as_secs_f64() - IDLE_NOISE).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_used_in_part_is_not_free() {
        let of =
            |used: u64| processors_used(Duration::from_millis(100), Duration::from_millis(used));
        // One thread and the sampling thread use one processor.
        assert_eq!([0, 5, 95, 100, 105].map(of), [0, 0, 1, 1, 1]);
        assert_eq!([130, 150, 200, 205, 230].map(of), [2, 2, 2, 2, 3]);
    }
}
