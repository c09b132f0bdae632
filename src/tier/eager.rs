//! Eager compilation: compiles functions that are expected to be hot before samples show it.
//!
//! If processors are idle when a program starts, the functions in which loops are expected to spend
//! their time are compiled at once, each on a processor of its own ([`super::expected_hot`]).
//!
//! A team soon occupies all processors, and a compilation beside it slows all of its members.
//! Before the first region there is time on all processors but one. To let regions wait for the end
//! of the compilations was no faster.
//!
//! On few processors each compilation soon takes the time of the program itself. There nothing is
//! compiled at once. [`PacedEager`] compiles one function at a time: when the program has left a
//! processor idle for as long as the compilation takes, or, once the program has run for longer
//! than most, in a part of its time while nothing else is being compiled. Only the hottest
//! functions are chosen, and not at the start, because both would slow short runs.
//!
//! [`super::sample`] finds what proves hot, also where this guess was wrong.

use super::compiler::{Compiler, EventKind};
use super::expected_hot::{ExpectedHot, expected_hot};
use super::queue::{self, Job, Queue};
use super::units::{self, SMALL};
use hashbrown::HashSet;
use ompvm_ir::FuncId;
use ompvm_jit::Level;
use ompvm_memory::image::Image;
use ompvm_support::settings::EagerPolicy;
use ompvm_support::topology;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Fewest processors for eager compilation at the start.
const MIN_PROCESSORS: usize = 4;
/// Most expected work of each idle processor on code that is not paid for.
pub const MAX_EAGER_TIME: Duration = Duration::from_millis(60);
/// Divisor: on few processors, a function that is expected to execute less than this part of what
/// the hottest does is not compiled eagerly.
const HOT_PART: f64 = 20.0;
/// Run time after which a program is expected to go on.
const LONG_RUN: Duration = Duration::from_millis(150);
/// Divisor: the part of a program's time that goes into eager compilation if it needs every
/// processor.
const PACED_PART: u32 = 4;
/// Most expected work on eager compilation on few processors.
const MAX_PACED_TIME: Duration = Duration::from_millis(300);
/// Most threads. Each takes some megabytes for LLVM.
const MAX_THREADS: usize = 15;
/// Expected cost at the full level above which a function is compiled quickly first, while a
/// processor is idle.
pub const FULL_LATENCY: Duration = Duration::from_millis(30);

/// Returns how many threads compile eagerly: the number of processors that are idle and will be
/// when the first team starts, or that are just idle if the team will take most. Returns `None` if
/// other processes use most of the processors. Policies of tests do not look at processors.
pub fn threads(policy: EagerPolicy) -> Option<usize> {
    let usable = topology::usable_cpus();
    let idle = match policy {
        EagerPolicy::Always => return Some(MAX_THREADS.min(usable)),
        EagerPolicy::Never => return None,
        EagerPolicy::Idle if usable < MIN_PROCESSORS => return None,
        // The program's own thread and this one run, too.
        EagerPolicy::Idle => (usable + 1).saturating_sub(topology::running_threads().max(2)),
    };
    let left = match queue::left_by_team() {
        0 => idle,
        left => idle.min(left),
    };
    (idle >= usable / 2).then_some(left.min(MAX_THREADS))
}

/// Queues the functions that are expected to be hot and are not in `known`. Returns the queued
/// functions.
pub fn compile(
    image: &Image,
    compiler: &Compiler,
    queue: &Arc<Queue>,
    threads: usize,
    known: &HashSet<FuncId>,
) -> HashSet<FuncId> {
    let most = MAX_EAGER_TIME * threads as u32;
    let chosen = choose(image, compiler, queue, known, FULL_LATENCY, most);
    let share = chosen.iter().filter(|c| c.level == Level::Quick).count();
    let share = 1.0 / share.max(1) as f64;
    for one in &chosen {
        one.push(compiler, queue, threads);
    }
    let now = Instant::now();
    for one in &chosen {
        one.push_recompilation(queue, now, share);
    }
    chosen.iter().map(|c| c.hot.function).collect()
}

/// A function chosen for eager compilation.
#[derive(Clone, Copy, Debug)]
struct EagerCompile {
    hot: ExpectedHot,
    level: Level,
    /// Expected processor time of the compilation.
    cost: Duration,
}

impl EagerCompile {
    fn job(&self, threads: usize) -> Job {
        Job {
            score: Duration::from_nanos(self.hot.executed as u64),
            function: self.hot.function,
            head: None,
            level: self.level,
            recompilation: None,
            eager_threads: threads,
            awaited: false,
        }
    }

    fn push(&self, compiler: &Compiler, queue: &Arc<Queue>, threads: usize) {
        let executed = self.hot.executed;
        let text = format!("expected to execute {executed} instructions");
        compiler.note(self.hot.function, EventKind::Queued(text));
        queue.push(self.job(threads));
    }

    /// Queues the recompilation of a function that is compiled quickly.
    fn push_recompilation(&self, queue: &Arc<Queue>, now: Instant, share: f64) {
        if self.level == Level::Quick {
            queue.push(Job {
                level: Level::Full,
                recompilation: Some(queue.recompilation(self.hot.function, now, share)),
                ..self.job(0)
            });
        }
    }
}

/// Chooses functions that are expected to be hot and are not in `known`, while their compilations
/// take at most `most` in all. Each is compiled at the full level if that takes at most `latency`,
/// else quickly.
fn choose(
    image: &Image,
    compiler: &Compiler,
    queue: &Queue,
    known: &HashSet<FuncId>,
    latency: Duration,
    most: Duration,
) -> Vec<EagerCompile> {
    let module = &image.module;
    let mut hot = expected_hot(module);
    hot.retain(|h| compiler.program().can_compile(h.function) && !known.contains(&h.function));
    let called: HashSet<FuncId> = hot
        .iter()
        .flat_map(|h| units::called(module, h.function).filter(move |&f| f != h.function))
        .collect();
    // The others are compiled as part of their callers' units.
    hot.retain(|h| units::size(module, h.function) > SMALL || !called.contains(&h.function));
    let chosen = hot.into_iter().map(|hot| {
        let full = queue.expected(hot.function, Level::Full);
        let quick = queue.expected(hot.function, Level::Quick);
        let (level, cost) = if full <= latency {
            (Level::Full, full)
        } else {
            (Level::Quick, quick)
        };
        EagerCompile { hot, level, cost }
    });
    let mut left = most;
    let fits = |c: &EagerCompile| {
        let rest = left.checked_sub(c.cost);
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    chosen.take_while(fits).collect()
}

/// Eager compilation on few processors: compiles one function at a time, at the quick level; only
/// those that are expected to be among the hottest and have no samples yet.
#[derive(Debug)]
pub struct PacedEager {
    /// The remaining functions, hottest last.
    left: Vec<EagerCompile>,
    /// Assumed share of the program's time of each.
    share: f64,
    /// Start of the last compilation; the program's start before the first.
    last: Instant,
}

impl PacedEager {
    /// Returns one with nothing to compile.
    pub fn none() -> PacedEager {
        PacedEager::from_candidates(Vec::new())
    }

    /// Chooses functions of a program without compiled code, if [`threads`] returns `None` for lack
    /// of processors.
    pub fn new(
        image: &Image,
        compiler: &Compiler,
        queue: &Queue,
        known: &HashSet<FuncId>,
    ) -> PacedEager {
        if topology::usable_cpus() >= MIN_PROCESSORS {
            return PacedEager::none();
        }
        let latency = Duration::ZERO;
        PacedEager::from_candidates(choose(
            image,
            compiler,
            queue,
            known,
            latency,
            MAX_PACED_TIME,
        ))
    }

    fn from_candidates(mut left: Vec<EagerCompile>) -> PacedEager {
        let most = left.first().map_or(0.0, |c| c.hot.executed);
        left.retain(|c| c.hot.executed >= most / HOT_PART);
        left.reverse();
        PacedEager {
            share: 1.0 / left.len().max(1) as f64,
            left,
            last: Instant::now(),
        }
    }

    /// Returns true if nothing is left.
    pub fn is_done(&self) -> bool {
        self.left.is_empty()
    }

    /// Starts the next function if it is time to, skipping those that are `known`. Returns the
    /// function.
    pub fn next(
        &mut self,
        compiler: &Compiler,
        queue: &Arc<Queue>,
        now: Instant,
        known: impl Fn(FuncId) -> bool,
    ) -> Option<FuncId> {
        while self.left.pop_if(|c| known(c.hot.function)).is_some() {}
        let (idle, since) = (queue.idle_since(now), now - self.last);
        let ran = compiler.elapsed();
        let next = self.left.pop_if(|c| is_turn(c.cost, idle, since, ran))?;
        self.last = now;
        next.push(compiler, queue, 1);
        next.push_recompilation(queue, now, self.share);
        Some(next.hot.function)
    }
}

/// Returns true if a compilation of this cost may start. `idle` is how long a processor has been
/// idle, `since` the time since the last start, and `ran` the run time of the program.
fn is_turn(cost: Duration, idle: Duration, since: Duration, ran: Duration) -> bool {
    cost <= idle || ran >= LONG_RUN && cost * PACED_PART <= since
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    #[test]
    fn few_processors_compile_eagerly_for_a_part_of_the_time() {
        let ms = Duration::from_millis;
        // A processor that was idle for long enough costs nothing.
        assert!(is_turn(ms(10), ms(10), ms(0), ms(20)));
        assert!(!is_turn(ms(10), ms(9), ms(30), ms(30)));
        // A short run may end before it reaches the function.
        assert!(!is_turn(ms(10), ms(0), ms(100), ms(100)));
        assert!(is_turn(ms(10), ms(0), ms(200), ms(200)));
        assert!(!is_turn(ms(10), ms(0), ms(39), ms(300)));
    }

    #[test]
    fn few_processors_compile_the_hottest_only() {
        let chosen = |function: usize, executed: f64| EagerCompile {
            hot: ExpectedHot {
                function: FuncId::new(function),
                executed,
            },
            level: Level::Quick,
            cost: Duration::from_millis(10),
        };
        let paced =
            PacedEager::from_candidates(vec![chosen(3, 1e6), chosen(1, 1e5), chosen(2, 1e4)]);
        let left: Vec<_> = paced.left.iter().map(|c| c.hot.function.index()).collect();
        assert_eq!((left, paced.share), (vec![1, 3], 0.5));
        assert!(PacedEager::none().left.is_empty());
    }
}
