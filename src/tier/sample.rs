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
//!   time is spent, if they are a small part of it ([`osr_loops`]).
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

use super::compiler::{CachedCode, Compiler, EventKind};
use super::eager::{self, PacedEager};
use super::osr_loops;
use super::queue::{Job, Queue};
use super::recompile::{GAIN_PART, Recompilation};
use super::registry::REGISTRY;
use super::rotation::ROTATION_SLICE;
use super::warm_start::{self, WarmStart};
use crate::units;
use cranelift_entity::EntityRef;
use hashbrown::{HashMap, HashSet};
use ompvm_cache::abandon;
use ompvm_interp::frame::{LoweredFunction, OsrPoint};
use ompvm_interp::osr;
use ompvm_ir::{FuncId, GlobalRef};
use ompvm_jit::Level;
use ompvm_memory::image::Image;
use ompvm_memory::internal_thread::{self, InternalThread};
use ompvm_memory::thread;
use ompvm_support::clock::process_time;
use ompvm_support::log;
use ompvm_support::settings::EagerPolicy;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Initial period of the sampling thread.
const TICK: Duration = Duration::from_micros(500);
/// Longest period, when nothing changes any more.
const MAX_TICK: Duration = Duration::from_millis(8);
/// Factor by which samples must exceed the longest expected cost where every processor is busy: the
/// tier below is about half as fast, so less is not won back.
const FULL_MACHINE_FACTOR: u32 = 2;
/// Divisor: a function with less than this part of all samples is not hot.
const HOT_PART: u32 = 20;
/// Divisor of the expected cost that gives the threshold while a processor is idle.
const IDLE_PART: u32 = 12;
/// Divisor of the expected cost that gives the threshold while no processor is idle, but all that
/// the program leaves are compiling.
const QUEUED_PART: u32 = 3;
/// Divisor: a function that executes for less than this part of its samples waits in a native call.
const WAITING_PART: u32 = 12;
/// Expected cost of a loop at the full level above which it is compiled quickly first. A thread is
/// in the loop, and runs code half as fast until then.
const LOOP_LATENCY: Duration = Duration::from_millis(15);
/// Most loops of one function that are compiled for OSR.
const MAX_LOOPS: usize = 16;
/// Shortest time after its last call for which a function counts as called. It counts as called for
/// max(8 ms, its compile cost, 2 × its call period).
const MIN_CALLED: Duration = Duration::from_millis(8);
/// Longest time for which a function counts as called by its period, and for which its back
/// edges are counted without a sample.
const MAX_COUNTING: Duration = Duration::from_secs(1);
/// Period of the check whether the sampling thread is the last one. The kernel takes as long for an
/// answer as a look takes.
const ALONE_PERIOD: Duration = Duration::from_millis(32);
/// Period over which idle processors are measured.
const IDLE_SPAN: Duration = Duration::from_millis(4);

/// The samples and state of one function.
#[derive(Debug)]
struct HotSample {
    code: &'static LoweredFunction,
    since: Instant,
    score: Duration,
    /// Sum of all samples; `score` restarts after each decision.
    all: Duration,
    /// Time at which a call was last noticed.
    called: Option<Instant>,
    /// Time between the last two noticed calls.
    period: Duration,
    /// True if calls are being counted and none has come yet.
    awaited: bool,
    /// Start of the counting of back edges, and the value of `all` at that time.
    counting: Option<(Instant, Duration)>,
    /// Number of decisions that found the function waiting instead of executing.
    waits: u32,
    compiled: bool,
    /// True if a speculative recompilation is queued, and the function was not called since.
    speculative: bool,
    loops: Vec<u32>,
    refused: bool,
}

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

    /// Waits for the next tick. Returns the time that the program has waited for compilations if
    /// sampling has ended.
    fn wait_for_tick(&self, tick: Duration) -> Option<Duration> {
        let mut ends = self.ends.lock();
        if ends.asked.is_none() && !ends.paused {
            self.changed.wait_for(&mut ends, tick);
        }
        ends.asked.or(ends.paused.then_some(Duration::ZERO))
    }

    /// Returns true if a function's callers have compiled code of it or soon will.
    fn is_compiled(&self, function: FuncId) -> bool {
        self.cached[function.index()]
            || self.warm_start.plans(function)
            || self.eager.lock().contains(&function)
    }

    /// Returns true if a function is `main`, which is not called again.
    fn is_main(&self, function: FuncId) -> bool {
        self.image.module.symbol("main") == Some(GlobalRef::Func(function))
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
        let mut paced = if begun {
            PacedEager::none()
        } else {
            self.start_eager()
        };
        let mut tick = TICK;
        let mut last = (Instant::now(), process_time());
        let mut used = last;
        let mut asked = last.0;
        let mut threads: u32 = 1;
        let mut inside: Vec<&'static LoweredFunction> = Vec::new();
        loop {
            if let Some(waited) = self.wait_for_tick(tick) {
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

    /// Advances a function whose back edges are counted. Returns true if its state has changed or
    /// soon will.
    fn advance_counting(&self, s: &mut HotSample, tick: Duration, now: Instant) -> bool {
        if s.refused {
            return false;
        }
        s.look_for_calls(now);
        let Some((since, before)) = s.counting else {
            return false;
        };
        if now - since < tick {
            return true;
        }
        // Counting without samples, counts and calls tells nothing: other processes may have had
        // the processors, and a step of the program may be longer than a tick.
        let inside = s.all - before;
        let called = s.called.is_some_and(|at| at >= since);
        if inside.is_zero() && s.hits() == 0 && !called && now - since < MAX_COUNTING {
            return false;
        }
        osr::count_back_edges(s.code, false);
        s.counting = None;
        if self.decide(s, inside, now) {
            s.score = Duration::ZERO;
        }
        true
    }

    /// Starts counting the back edges of functions that may be worth compiling. Returns true if
    /// there are any.
    ///
    /// While a processor is idle, each function is judged by itself. Where none is, all hot
    /// functions are compiled at once, when their samples exceed what that will take: see
    /// [`super::queue`].
    fn start_counting<'a>(
        &self,
        seen: impl Iterator<Item = &'a mut HotSample>,
        now: Instant,
    ) -> bool {
        let mut candidates: Vec<_> = seen
            .filter(|s| !s.refused && s.counting.is_none())
            .map(|s| (s.score / (1 << s.waits.min(8)), s))
            .filter(|(score, _)| *score >= TICK)
            .collect();
        let cost = |s: &HotSample| self.queue.expected(s.code.func, Level::Quick);
        // Code that comes too late for this run is left to the next one, which begins with it.
        if let Some(left) = self.time_left() {
            let elapsed = self.compiler.elapsed().as_secs_f64();
            let share = |s: &HotSample| s.all.as_secs_f64() / elapsed.max(1e-6);
            candidates.retain(|(_, s)| left.mul_f64(share(s)) >= cost(s));
        }
        let part = match (self.queue.idle(), self.queue.left_over()) {
            (1.., _) => IDLE_PART,
            (0, 1..) => QUEUED_PART,
            (0, 0) => 0,
        };
        if part > 0 {
            candidates.retain(|(score, s)| *score >= cost(s) / part);
        } else {
            // A function that is compiled for its callers may still loop, but the others do not
            // wait for it.
            let (known, fresh): (Vec<_>, Vec<_>) =
                candidates.into_iter().partition(|(_, s)| s.compiled);
            candidates = [fresh, known]
                .into_iter()
                .flat_map(|c| worth_compiling(c, cost))
                .collect();
        }
        for (score, s) in &mut candidates {
            tracing::trace!(
                target: log::TIER,
                function = self.compiler.program().name(s.code.func),
                sampled_ms = %log::ms(*score),
                "counts back edges of a function that may be hot"
            );
            osr::count_back_edges(s.code, true);
            s.counting = Some((now, s.all));
        }
        !candidates.is_empty()
    }

    /// Decides about a function whose back edges were counted while its samples grew by `inside`:
    /// compiles it, its loops, or nothing. Returns false if it is too early to tell.
    fn decide(&self, s: &mut HotSample, inside: Duration, now: Instant) -> bool {
        let function = s.code.func;
        let cost = self.queue.expected(function, Level::Quick);
        let expected = cost.max(MIN_CALLED).max((s.period * 2).min(MAX_COUNTING));
        let called = s.called.is_some_and(|at| now - at < expected);
        let hits = |i: usize| s.code.osr_points[i].hits.load(Ordering::Relaxed);
        let free = |h: usize| s.code.osr_points[h].code.load(Ordering::Relaxed) == 0;
        // Lower bound of the time spent in the executed loops. If it is a small part of the
        // samples, the function mostly waits in native calls.
        let loops = 1..s.code.osr_points.len();
        let each = (units::size(&self.image.module, function) / s.code.osr_points.len()).max(8);
        if !called && Duration::from_nanos(s.hits() * each as u64) < inside / WAITING_PART {
            s.waits += 1;
            return true;
        }
        let text = || {
            let calls = if called { "recent" } else { "no recent" };
            format!(
                "sampled for {:.1} ms, {calls} calls",
                s.all.as_secs_f64() * 1e3
            )
        };
        if called && std::mem::take(&mut s.speculative) {
            self.queue
                .set_deadline(function, self.recompilation(s, now));
        }
        let loops_to_enter = self.osr_loops(s);
        if !loops_to_enter.is_empty() && s.loops.len() + loops_to_enter.len() <= MAX_LOOPS {
            let run = if loops_to_enter.len() == 1 {
                "a loop runs"
            } else {
                "loops run"
            };
            self.compiler
                .note(function, EventKind::Queued(format!("{}; {run}", text())));
            for head in loops_to_enter {
                self.push_loop(s, head, now);
            }
            self.push_speculative(s, now);
            return true;
        }
        if called && !s.compiled {
            s.compiled = true;
            if !self.is_compiled(function) {
                self.compiler.note(function, EventKind::Queued(text()));
                self.push(s, None, Level::Quick, None);
                self.push_recompilation(s, now);
                return true;
            }
        }
        let Some(head) = loops.into_iter().find(|&i| hits(i) > 0 && free(i)) else {
            s.waits += 1;
            return true;
        };
        if called && s.all < cost * 4 {
            // The function's next calls will reach the compiled code.
            return true;
        }
        let OsrPoint { at, block, .. } = s.code.osr_points[head];
        let loop_takes =
            |level| block.map_or(cost, |b| self.queue.expected_loop(function, b, level));
        let patience = match self.is_compiled(function) {
            false => loop_takes(Level::Full).min(MIN_CALLED),
            // Code for the next call is under way. The loop's own code is worth it only if this
            // call lasts.
            true => (loop_takes(Level::Quick) / 2).max(MIN_CALLED),
        };
        if !called && now - s.since < patience {
            return false;
        }
        if s.loops.len() >= MAX_LOOPS || s.loops.contains(&at) {
            s.waits += 1;
            return true;
        }
        if !self.compiler.program().can_compile(function) {
            s.refused = true;
            return true;
        }
        self.compiler.note(
            function,
            EventKind::Queued(format!("{}; a loop runs", text())),
        );
        self.push_loop(s, head, now);
        let again = !self.is_main(function);
        if again && self.queue.idle() > 2 && !s.compiled && !self.is_compiled(function) {
            self.push(s, None, Level::Quick, None);
        }
        self.push_speculative(s, now);
        true
    }

    /// Returns the heads of the loops in which the time of a function is spent, by its back-edge
    /// counts. Returns none if they are a large part of the function, if one of them is compiled
    /// already, or if the function was compiled for another reason than its loops.
    fn osr_loops(&self, s: &HotSample) -> Vec<usize> {
        let function = s.code.func;
        if self.is_compiled(function)
            || s.compiled && s.loops.is_empty()
            || !self.compiler.program().can_compile(function)
        {
            return Vec::new();
        }
        let heads = s.code.osr_points.iter().enumerate().skip(1);
        let heads: Vec<_> = heads
            .filter_map(|(i, h)| Some((i, h.block?, h.hits.load(Ordering::Relaxed))))
            .collect();
        let mut found = osr_loops::select(&self.image.module, function, &heads);
        let known = |h: &OsrPoint| h.code.load(Ordering::Relaxed) != 0 || s.loops.contains(&h.at);
        if found.iter().any(|&h| known(&s.code.osr_points[h])) {
            found.clear();
        }
        found
    }

    /// Queues a loop; at the quick level first if the full level takes long.
    fn push_loop(&self, s: &mut HotSample, head: usize, now: Instant) {
        let OsrPoint { at, block, .. } = s.code.osr_points[head];
        s.loops.push(at);
        let place = Some((s.code, head));
        let full = |b| self.queue.expected_loop(s.code.func, b, Level::Full);
        match block {
            Some(block) if full(block) > LOOP_LATENCY => {
                self.push(s, place, Level::Quick, None);
                let (function, share) = (s.code.func, s.share(now));
                let recompilation = self.queue.loop_recompilation(function, block, now, share);
                self.push(s, place, Level::Full, Some(recompilation));
            }
            _ => self.push(s, place, Level::Full, None),
        }
    }

    /// Queues a speculative recompilation of a function of which loops are compiled. It may be
    /// called again, in the next run at least, which is worth idle time but no more.
    fn push_speculative(&self, s: &mut HotSample, now: Instant) {
        if !s.compiled && !self.is_compiled(s.code.func) {
            s.compiled = true;
            s.speculative = true;
            let speculative = self.recompilation(s, now).speculative();
            self.push(s, None, Level::Full, Some(speculative));
        }
    }

    /// Queues the recompilation of a function that was compiled quickly.
    fn push_recompilation(&self, s: &HotSample, now: Instant) {
        self.push(s, None, Level::Full, Some(self.recompilation(s, now)));
    }

    /// Returns the recompilation of a function by its share of the time.
    fn recompilation(&self, s: &HotSample, now: Instant) -> Recompilation {
        self.queue.recompilation(s.code.func, now, s.share(now))
    }

    fn push(
        &self,
        s: &HotSample,
        head: Option<(&'static LoweredFunction, usize)>,
        level: Level,
        recompilation: Option<Recompilation>,
    ) {
        self.queue.push(Job {
            score: s.all,
            function: s.code.func,
            head,
            level,
            recompilation,
            eager_threads: 0,
            awaited: false,
        });
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

impl HotSample {
    fn new(code: &'static LoweredFunction, now: Instant) -> HotSample {
        HotSample {
            code,
            since: now,
            score: Duration::ZERO,
            all: Duration::ZERO,
            called: None,
            period: Duration::ZERO,
            awaited: false,
            counting: None,
            waits: 0,
            compiled: false,
            speculative: false,
            loops: Vec::new(),
            refused: false,
        }
    }

    /// Returns the part of the time since the first sample in which the function executed.
    fn share(&self, now: Instant) -> f64 {
        self.all.as_secs_f64() / (now - self.since).as_secs_f64().max(1e-6)
    }

    /// Returns the sum of the back-edge counts since counting began.
    fn hits(&self) -> u64 {
        let loops = self.code.osr_points.iter().skip(1);
        loops
            .map(|h| u64::from(h.hits.load(Ordering::Relaxed)))
            .sum()
    }

    /// Checks for calls, now and then. The first tick does not count: the other threads of a team
    /// may still be on their way into its region.
    fn look_for_calls(&mut self, now: Instant) {
        if self.awaited {
            if self.code.osr_points[0].hits.load(Ordering::Relaxed) > 0 {
                osr::count_calls(self.code, false);
                self.awaited = false;
                self.period = self.called.map_or(Duration::ZERO, |at| now - at);
                self.called = Some(now);
            }
        } else if now > self.since && self.called.is_none_or(|at| now - at >= MIN_CALLED / 2) {
            osr::count_calls(self.code, true);
            self.awaited = true;
        }
    }
}

/// Returns the hot candidates, if their samples exceed what compiling them will take; else none.
fn worth_compiling(
    mut candidates: Vec<(Duration, &mut HotSample)>,
    cost: impl Fn(&HotSample) -> Duration,
) -> Vec<(Duration, &mut HotSample)> {
    let all: Duration = candidates.iter().map(|c| c.0).sum();
    candidates.retain(|(score, _)| *score >= all / HOT_PART);
    let longest = candidates.iter().map(|(_, s)| cost(s)).max();
    if longest.is_none_or(|longest| all < longest * FULL_MACHINE_FACTOR) {
        candidates.clear();
    }
    candidates
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
