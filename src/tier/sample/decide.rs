//! Decides about hot functions: compiles a function, its loops, or nothing.
//!
//! A function whose samples add up to more than its compilation will take has its back edges and
//! calls counted for a tick. The counts tell functions that are called from functions that loop and
//! from those that wait. Where every processor is busy, the hot functions are judged together.
//!
//! Samples come from [`super::SamplerState`]. Costs and the order of jobs belong to [`queue`](crate::queue),
//! the choice among loops to [`osr_loops`], and the deadline of a second compilation to
//! [`recompile`](crate::recompile).

use super::hot::{HotSample, MIN_CALLED};
use super::{SamplerState, TICK};
use crate::compiler::EventKind;
use crate::queue::Job;
use crate::recompile::Recompilation;
use crate::{osr_loops, units};
use ompvm_interp::frame::{LoweredFunction, OsrPoint};
use ompvm_ir::{FuncId, GlobalRef};
use ompvm_jit::Level;
use ompvm_support::log;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Factor by which samples must exceed the longest expected cost where every processor is busy. The
/// time to come is expected to be as long as the time so far (ski rental), and the tier below takes
/// several times as long as compiled code.
const FULL_MACHINE_FACTOR: u32 = 1;
/// The same factor for some of the hot functions, while the samples do not exceed the cost of all.
const ALONE_FACTOR: u32 = 4;
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
const LOOP_LATENCY: Duration = Duration::from_millis(6);
/// Greatest cost of the full level over that of the quick level, as a fraction, at which a function is
/// compiled at the full level at once. Two compilations would take longer, and the code would come
/// hardly earlier.
const QUICK_PART: (u32, u32) = (3, 2);
/// Divisor: a function that is called again is compiled as a whole once its loops, one by one, have
/// cost this part of it, or its samples exceed its cost. A large step of a program has a dozen hot
/// loops, and a tick of counting sees only one of them.
const LOOPS_PART: u32 = 3;
/// Iterations per call below which no loop of a function is compiled by itself while the function
/// can be compiled for its callers.
const SHORT_LOOPS: u64 = 32;
/// Most loops of one function that are compiled for OSR.
const MAX_LOOPS: usize = 16;
/// Longest time for which a function counts as called by its period, and for which its back
/// edges are counted without a sample.
const MAX_COUNTING: Duration = Duration::from_secs(1);

impl SamplerState {
    /// Advances a function whose back edges are counted. Returns true if its state has changed or
    /// soon will.
    pub(super) fn advance_counting(&self, s: &mut HotSample, tick: Duration, now: Instant) -> bool {
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
        s.stop_counting();
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
    /// [`queue`](crate::queue).
    pub(super) fn start_counting<'a>(
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
            s.start_counting(now);
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
        let text = |s: &HotSample| {
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
        tracing::trace!(
            target: log::TIER,
            function = self.compiler.program().name(function),
            inside_ms = %log::ms(inside),
            called,
            counts = ?loops.clone().map(hits).collect::<Vec<_>>(),
            "counted back edges"
        );
        let queued = s.compiled && s.loops.is_empty();
        if called && !queued && (s.loop_costs * LOOPS_PART >= cost || s.all >= cost) {
            let why = text(s);
            if self.push_whole(s, now) {
                self.compiler.note(function, EventKind::Queued(why));
                return true;
            }
        }
        let short_loops = called && s.hits() < s.calls() * SHORT_LOOPS;
        let loops_to_enter = match short_loops {
            false => self.osr_loops(s),
            true => Vec::new(),
        };
        if !loops_to_enter.is_empty() && s.loops.len() + loops_to_enter.len() <= MAX_LOOPS {
            let run = if loops_to_enter.len() == 1 {
                "a loop runs"
            } else {
                "loops run"
            };
            self.compiler
                .note(function, EventKind::Queued(format!("{}; {run}", text(s))));
            for head in loops_to_enter {
                self.push_loop(s, head, now);
            }
            self.push_speculative(s, now);
            return true;
        }
        if called && !s.compiled {
            s.compiled = true;
            if !self.is_compiled(function) {
                self.compiler.note(function, EventKind::Queued(text(s)));
                self.push_levels(s, now);
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
            EventKind::Queued(format!("{}; a loop runs", text(s))),
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
            || s.whole
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
        let quick = |b| self.queue.expected_loop(s.code.func, b, Level::Quick);
        s.loop_costs += block.map_or(Duration::ZERO, quick);
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

    /// Queues a function of which loops are compiled, and that is called again, as a whole. Returns
    /// false if that was done before or cannot be done.
    fn push_whole(&self, s: &mut HotSample, now: Instant) -> bool {
        let function = s.code.func;
        let program = self.compiler.program();
        if s.whole || self.is_compiled(function) || !program.can_compile(function) {
            return false;
        }
        s.whole = true;
        if std::mem::replace(&mut s.compiled, true) {
            self.push(s, None, Level::Quick, None);
        } else {
            self.push_levels(s, now);
        }
        true
    }

    /// Queues a function at both levels, or at the full level alone if the quick code would come
    /// hardly earlier.
    fn push_levels(&self, s: &HotSample, now: Instant) {
        let [quick, full] =
            [Level::Quick, Level::Full].map(|level| self.queue.expected(s.code.func, level));
        if full * QUICK_PART.1 <= quick * QUICK_PART.0 {
            self.push(s, None, Level::Full, None);
        } else {
            self.push(s, None, Level::Quick, None);
            self.push(s, None, Level::Full, Some(self.recompilation(s, now)));
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

    /// Returns the recompilation of a function by its share of the time.
    fn recompilation(&self, s: &HotSample, now: Instant) -> Recompilation {
        self.queue.recompilation(s.code.func, now, s.share(now))
    }

    /// Queues a function, or the loop with that head.
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

    /// Returns true if a function is `main`, which is not called again.
    fn is_main(&self, function: FuncId) -> bool {
        self.image.module.symbol("main") == Some(GlobalRef::Func(function))
    }
}

/// Returns the hot candidates that are worth compiling on a full machine, the cheapest first.
fn worth_compiling(
    mut candidates: Vec<(Duration, &mut HotSample)>,
    cost: impl Fn(&HotSample) -> Duration,
) -> Vec<(Duration, &mut HotSample)> {
    let all: Duration = candidates.iter().map(|c| c.0).sum();
    candidates.retain(|(score, _)| *score >= all / HOT_PART);
    candidates.sort_by_key(|(_, s)| cost(s));
    let pairs = candidates.iter().map(|(score, s)| (*score, cost(s)));
    let worth = number_worth_compiling(&pairs.collect::<Vec<_>>());
    candidates.truncate(worth);
    candidates
}

/// Returns how many of some hot functions, given by samples and cost, the cheapest first, are worth
/// compiling: all if their samples exceed the longest cost, since a caller's loop that is compiled
/// with its callees needs no code of these; else the cheapest ones if their samples exceed their own
/// cost by far, so that a function that takes long does not keep the others waiting.
fn number_worth_compiling(functions: &[(Duration, Duration)]) -> usize {
    let mut sum = Duration::ZERO;
    let mut worth = 0;
    for (i, &(score, cost)) in functions.iter().enumerate() {
        sum += score;
        let factor = if i + 1 == functions.len() {
            FULL_MACHINE_FACTOR
        } else {
            ALONE_FACTOR
        };
        if sum >= cost * factor {
            worth = i + 1;
        }
    }
    worth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_takes_long_does_not_keep_the_others_waiting() {
        let ms = Duration::from_millis;
        let of = |pairs: &[(u64, u64)]| {
            let pairs: Vec<_> = pairs.iter().map(|&(s, c)| (ms(s), ms(c))).collect();
            number_worth_compiling(&pairs)
        };
        assert_eq!(of(&[]), 0);
        // All together have paid for the longest.
        assert_eq!(of(&[(4, 5), (7, 10)]), 2);
        // The long one has not been paid for, and the others not by far.
        assert_eq!(of(&[(4, 5), (7, 10), (60, 200)]), 0);
        // The short ones are compiled by themselves.
        assert_eq!(of(&[(20, 5), (20, 10), (60, 200)]), 2);
        assert_eq!(of(&[(20, 5), (20, 40), (60, 200)]), 1);
    }
}
