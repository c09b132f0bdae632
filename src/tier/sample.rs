//! Finding what is hot, and what to do about it: the policy of `auto`.
//!
//! What: a thread wakes once a [`TICK`] and looks in which functions the threads of the guest are
//! ([`thread::look_at_frames`]). A function that was seen for longer than its compilation will take
//! is watched for a tick ([`watch`]): whoever calls it, or comes by at a loop's head, is counted. If it
//! is called, it is compiled; if it only loops, it is compiled from the head of the outermost of these loops
//! on, and running activations go on there; if neither, it waits in a native call, and is left
//! alone for longer. Why sampling: it costs the program nothing, weighs loops by their time rather than by
//! their trips, and does not depend on which tier below runs the frame.
//!
//! Compilations come one after another, hottest first; what it takes to be compiled grows with their
//! queue. The thread that compiles is nice, so that a team gets its processors first.
//!
//! What not: functions seen in frames of the interpreter only; compiled code is never made better.

use super::closed;
use super::compiler::{Compiler, What};
use super::units;
use crate::interp::frame::Lowered;
use crate::interp::watch;
use crate::ir::{Callee, FuncId, GlobalRef};
use crate::jit::{Level, LoopEntry, Unit};
use crate::memory::image::Image;
use crate::memory::own_thread::{self, OwnThread};
use crate::memory::thread;
use cranelift_entity::EntityRef;
use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The thread looks this often at first.
const TICK: Duration = Duration::from_micros(500);
/// And this often when nothing changes any more.
const LONG_TICK: Duration = Duration::from_millis(8);
/// Expected cost of compiling an instruction, until compilations were seen.
const PER_INSTRUCTION: Duration = Duration::from_micros(50);
/// Expected cost of any compilation.
const PER_UNIT: Duration = Duration::from_millis(2);
/// A function is compiled when it was seen for so many times the expected cost: below runs code
/// about half as fast, so less than that is not won back.
const TIMES: u32 = 2;
/// A function that executes for less than this part of the time waits.
const WAITS: u32 = 12;
/// Most loops of one function that are entered.
const MAX_LOOPS: usize = 4;
/// Callees up to this many instructions are compiled with their caller.
const SMALL: usize = 80;

/// One function under observation.
#[derive(Debug)]
struct Seen {
    code: &'static Lowered,
    score: Duration,
    /// Since when it is watched.
    watched: Option<Instant>,
    /// How often it was seen without being executed.
    waits: u32,
    compiled: bool,
    loops: Vec<u32>,
    refused: bool,
}

/// What is to be compiled.
#[derive(Debug)]
struct Job {
    score: Duration,
    function: FuncId,
    /// The code whose head at this index is to be entered.
    head: Option<(&'static Lowered, usize)>,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: Vec<Job>,
    stop: bool,
}

#[derive(Debug)]
struct Shared {
    image: Arc<Image>,
    compiler: Arc<Compiler>,
    queue: Mutex<Queue>,
    wake: Condvar,
    stop: AtomicBool,
    /// Measured cost of an instruction, in nanoseconds.
    cost: AtomicU32,
    /// Functions that are compiled or being compiled.
    taken: Mutex<Vec<bool>>,
}

/// The threads that observe and compile.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<Shared>,
    threads: Vec<OwnThread>,
}

impl Sampler {
    /// Starts them.
    pub fn start(image: Arc<Image>, compiler: Arc<Compiler>, kept: &[FuncId]) -> Sampler {
        let taken = image
            .module
            .functions
            .keys()
            .map(|f| !compiler.program().can_compile(f) || kept.contains(&f))
            .collect();
        let shared = Arc::new(Shared {
            image,
            compiler,
            queue: Mutex::default(),
            wake: Condvar::new(),
            stop: AtomicBool::new(false),
            cost: AtomicU32::new(PER_INSTRUCTION.as_nanos() as u32),
            taken: Mutex::new(taken),
        });
        let (a, b) = (shared.clone(), shared.clone());
        let threads = [
            own_thread::spawn(c"ompvm sample", move || a.observe()),
            own_thread::spawn(c"ompvm compile", move || b.work()),
        ];
        Sampler {
            shared,
            threads: threads.into_iter().flatten().collect(),
        }
    }

    /// Lets them run until the process ends.
    pub fn detach(self) {}

    /// Stops them, after the compilation under way.
    pub fn stop(self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.queue.lock().stop = true;
        self.shared.wake.notify_all();
        for thread in self.threads {
            thread.join();
        }
    }
}

impl Shared {
    fn observe(&self) {
        let mut seen: HashMap<usize, Seen> = HashMap::new();
        let mut tick = TICK;
        let mut last = Instant::now();
        while !self.stop.load(Ordering::Acquire) {
            std::thread::sleep(tick);
            let now = Instant::now();
            let passed = (now - last).min(tick * 4);
            last = now;
            let image = Arc::as_ptr(&self.image) as usize;
            let mut fresh = false;
            thread::look_at_frames(&mut |word| {
                let Some(code) = watch::code_named(word) else {
                    return;
                };
                if code.image != image || code.heads.is_empty() {
                    return;
                }
                let key = std::ptr::from_ref(code) as usize;
                let s = seen.entry(key).or_insert_with(|| {
                    fresh = true;
                    Seen {
                        code,
                        score: Duration::ZERO,
                        watched: None,
                        waits: 0,
                        compiled: false,
                        loops: Vec::new(),
                        refused: false,
                    }
                });
                s.score += passed;
            });
            let waiting = self.queue.lock().jobs.len() as u32;
            let mut busy = fresh || waiting > 0;
            for s in seen.values_mut() {
                busy |= self.consider(s, waiting, tick, now);
            }
            if !busy && tick == LONG_TICK && is_alone() {
                // SAFETY: what ends a process when its last thread ends.
                unsafe { libc::exit(0) }
            }
            tick = if busy {
                TICK
            } else {
                (tick * 9 / 8).min(LONG_TICK)
            };
        }
    }

    /// What compiling a function is expected to take.
    fn expected(&self, function: FuncId) -> Duration {
        let cost = Duration::from_nanos(u64::from(self.cost.load(Ordering::Relaxed)));
        PER_UNIT + cost * units::size(&self.image.module, function) as u32
    }

    /// Starts or ends watching a function; whether something is going on with it.
    fn consider(&self, s: &mut Seen, waiting: u32, tick: Duration, now: Instant) -> bool {
        if s.refused {
            return false;
        }
        let function = s.code.func;
        if let Some(since) = s.watched {
            if now - since < tick {
                return true;
            }
            watch::watch(s.code, false);
            s.watched = None;
            self.decide(s, now - since);
            s.score = Duration::ZERO;
            return true;
        }
        let limit = self.expected(function) * TIMES * (1 + waiting / 2) * (1 << s.waits.min(8));
        if s.score < limit {
            return false;
        }
        watch::watch(s.code, true);
        s.watched = Some(now);
        true
    }

    /// A function was watched: compiles it, or one of its loops, or nothing.
    fn decide(&self, s: &mut Seen, tick: Duration) {
        let function = s.code.func;
        let hits = |i: usize| s.code.heads[i].hits.load(Ordering::Relaxed);
        let free = |h: usize| s.code.heads[h].code.load(Ordering::Relaxed) == 0;
        let calls = hits(0);
        // What the executed loops and calls take at the very least: less than a part of the tick
        // means that the function mostly waits for others.
        let all: u64 = (0..s.code.heads.len()).map(|i| u64::from(hits(i))).sum();
        let each = (units::size(&self.image.module, function) / s.code.heads.len()).max(8);
        if Duration::from_nanos(all * each as u64) < tick / WAITS {
            s.waits += 1;
            return;
        }
        let head = (1..s.code.heads.len()).find(|&i| hits(i) > 0 && free(i));
        let text = || {
            format!(
                "in it for {:.1} ms, {calls} calls in the last tick",
                s.score.as_secs_f64() * 1e3
            )
        };
        if calls > 0 && !s.compiled {
            s.compiled = true;
            let taken = std::mem::replace(&mut self.taken.lock()[function.index()], true);
            if !taken {
                self.compiler.note(function, What::Queued(text()));
                self.push(Job {
                    score: s.score,
                    function,
                    head: None,
                });
                return;
            }
        }
        let Some(head) = head else {
            s.waits += 1;
            return;
        };
        if calls > 1 && hits(head) < calls * 4 {
            // Its calls will reach the compiled code.
            return;
        }
        let block = s.code.heads[head].at;
        if s.loops.len() >= MAX_LOOPS || s.loops.contains(&block) {
            s.waits += 1;
            return;
        }
        if !self.compiler.program().can_compile(function) {
            s.refused = true;
            return;
        }
        s.loops.push(block);
        self.compiler
            .note(function, What::Queued(format!("{}; a loop runs", text())));
        self.push(Job {
            score: s.score,
            function,
            head: Some((s.code, head)),
        });
        // The next run enters it from the start.
        if self.compiler.program().keeps() && !s.compiled {
            s.compiled = true;
            let taken = std::mem::replace(&mut self.taken.lock()[function.index()], true);
            if !taken {
                self.push(Job {
                    score: Duration::ZERO,
                    function,
                    head: None,
                });
            }
        }
    }

    fn push(&self, job: Job) {
        self.queue.lock().jobs.push(job);
        self.wake.notify_one();
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.queue.lock();
        loop {
            if queue.stop {
                return None;
            }
            let best = (0..queue.jobs.len()).max_by_key(|&i| queue.jobs[i].score);
            if let Some(best) = best {
                return Some(queue.jobs.swap_remove(best));
            }
            self.wake.wait(&mut queue);
        }
    }

    fn work(&self) {
        // SAFETY: makes this thread nicer; a failure changes nothing.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as u32, NICE) };
        while let Some(job) = self.next() {
            let (mut unit, size) = self.unit(&job);
            let start = Instant::now();
            let whole = closed::complete(&self.image, self.compiler.program(), &mut unit);
            match whole.and_then(|()| self.compiler.compile(&self.image, &unit)) {
                Ok(compiled) => {
                    for &(index, address) in &compiled.entries {
                        if let Some((code, head)) = job.head {
                            debug_assert_eq!(index, 0);
                            watch::enter_loop(code, head, address, 0);
                        }
                    }
                    let per = start.elapsed().saturating_sub(PER_UNIT) / size.max(1) as u32;
                    let old = self.cost.load(Ordering::Relaxed);
                    let new = (old * 3 + per.as_nanos().min(1 << 20) as u32) / 4;
                    self.cost.store(new, Ordering::Relaxed);
                }
                // What cannot be compiled goes on in the interpreter.
                Err(why) => self.compiler.note(job.function, What::Skipped(why)),
            }
        }
    }

    /// The unit of a job, and its instructions: the function or the loop, the small functions called
    /// there that nobody has compiled yet, and what must switch together with them.
    fn unit(&self, job: &Job) -> (Unit, usize) {
        let module = &self.image.module;
        let mut size = match job.head {
            Some(_) => units::size(module, job.function),
            None => 0,
        };
        let mut functions = Vec::new();
        let mut entries = Vec::new();
        let mut todo = Vec::new();
        let mut taken = self.taken.lock();
        let mut add = |f: FuncId, taken: &mut [bool], todo: &mut Vec<FuncId>| {
            for f in units::together(module, f) {
                if !std::mem::replace(&mut taken[f.index()], true) {
                    size += units::size(module, f);
                    functions.push(f.index());
                    todo.push(f);
                }
            }
        };
        match job.head {
            None => {
                // It was taken when it was queued.
                taken[job.function.index()] = false;
                add(job.function, &mut taken, &mut todo);
            }
            Some((code, head)) => {
                if let (Some((places, words)), Some(block)) =
                    (watch::places(code), code.heads[head].block)
                {
                    entries.push(LoopEntry {
                        function: job.function.index(),
                        block: block.as_u32(),
                        words,
                        places,
                    });
                }
                todo.push(job.function);
            }
        }
        while let Some(caller) = todo.pop() {
            let body = module.functions[caller].body.iter();
            for inst in body.flat_map(|b| &b.insts) {
                if let Some(Callee::Symbol(GlobalRef::Func(f))) =
                    inst.op.as_call().map(|c| &c.callee)
                    && !taken[f.index()]
                    && units::size(module, *f) <= SMALL
                {
                    add(*f, &mut taken, &mut todo);
                }
            }
        }
        drop(taken);
        let unit = Unit {
            functions: Some(functions),
            entries,
            level: Level::Full,
        };
        (unit, size)
    }
}

/// Whether the main thread has ended and no other is left than the two of a [`Sampler`]: natively
/// the process would have ended.
fn is_alone() -> bool {
    let ended = || {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // After the name, which is in parentheses, stands the state of the first thread.
        stat.rsplit_once(')')?.1.trim_start().chars().next()
    };
    let threads = || std::fs::read_dir("/proc/self/task").map_or(usize::MAX, Iterator::count);
    ended() == Some('Z') && threads() <= 3
}

/// Niceness of the thread that compiles.
const NICE: i32 = 5;
