//! Eager compilation: compiles functions that are expected to be hot before samples show it.
//!
//! If processors are idle when a program starts, the functions in which loops are expected to spend
//! their time are compiled at once, each on a processor of its own. [`expected_hot`] finds them: it
//! assumes that a loop runs eight times (Ball and Larus, "Branch prediction for free", 1993: loop
//! branches are taken 88 times of 100), also through calls, and that a function named in a loop (a
//! parallel region's body) is called there.
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
use super::queue::{self, Job, Queue};
use super::units::{self, SMALL};
use cranelift_entity::EntityRef;
use hashbrown::{HashMap, HashSet};
use ompvm_ir::{Body, Callee, Const, ConstId, FuncId, GlobalRef, Module};
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

/// Assumed iterations of a loop, as a power of two.
const LOG2_TRIPS: u32 = 3;
/// Most nested loops that count.
const MAX_DEPTH: u32 = 8;
/// Divisor: a function without a loop must execute at least this part of what the hottest does.
const WITHOUT_LOOP_PART: f64 = 100.0;
/// Most functions examined. In a larger program nothing is compiled eagerly.
const MAX_FUNCTIONS: usize = 4000;

/// A function and the number of instructions that it is expected to execute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedHot {
    /// The function.
    pub function: FuncId,
    /// Expected number of executed instructions.
    pub executed: f64,
}

/// Returns the functions that are expected to execute loops or to be called in them, hottest first.
pub fn expected_hot(module: &Module) -> Vec<ExpectedHot> {
    let mut around: HashMap<FuncId, u32> = HashMap::new();
    let mut bodies: HashMap<FuncId, LoopShape> = HashMap::new();
    let mut todo = Vec::new();
    let Some(GlobalRef::Func(main)) = module.symbol("main") else {
        return Vec::new();
    };
    let reach = |f: FuncId, depth: u32, around: &mut HashMap<FuncId, u32>, todo: &mut Vec<_>| {
        let depth = depth.min(MAX_DEPTH);
        if module.functions[f].body.is_some() && around.get(&f).is_none_or(|&d| d < depth) {
            around.insert(f, depth);
            todo.push(f);
        }
    };
    reach(main, 0, &mut around, &mut todo);
    while let Some(f) = todo.pop() {
        if bodies.len() >= MAX_FUNCTIONS {
            return Vec::new();
        }
        let Some(body) = &module.functions[f].body else {
            continue;
        };
        let shape = bodies
            .entry(f)
            .or_insert_with(|| LoopShape::of_body(module, body));
        let outer = around[&f];
        for &(callee, depth) in &shape.named {
            reach(callee, outer + depth, &mut around, &mut todo);
        }
    }
    let mut hot: Vec<ExpectedHot> = bodies
        .iter()
        .filter(|(f, _)| **f != main)
        .map(|(&function, shape)| ExpectedHot {
            function,
            executed: shape.executed(around[&function]),
        })
        .collect();
    let most = hot.iter().map(|h| h.executed).fold(0.0, f64::max);
    hot.retain(|h| bodies[&h.function].deepest() > 0 || h.executed >= most / WITHOUT_LOOP_PART);
    hot.sort_by(|a, b| {
        let by_heat = b.executed.total_cmp(&a.executed);
        by_heat.then(a.function.index().cmp(&b.function.index()))
    });
    hot
}

/// The instructions and names in a body, by loop depth.
struct LoopShape {
    /// Number of instructions at each loop depth.
    insts: Vec<usize>,
    /// Functions named, each with its loop depth.
    named: Vec<(FuncId, u32)>,
}

impl LoopShape {
    fn of_body(module: &Module, body: &Body) -> LoopShape {
        let depths = depths(body);
        let mut shape = LoopShape {
            insts: Vec::new(),
            named: Vec::new(),
        };
        for (block, &depth) in body.blocks.iter().zip(&depths) {
            let at = depth as usize;
            if shape.insts.len() <= at {
                shape.insts.resize(at + 1, 0);
            }
            shape.insts[at] += (block.end - block.start) as usize;
            for inst in &body.insts[block.start as usize..block.end as usize] {
                let mut named = |symbol: GlobalRef| {
                    if let GlobalRef::Func(f) = symbol {
                        shape.named.push((f, depth));
                    }
                };
                if let Some(call) = inst.op.as_call()
                    && let Callee::Symbol(symbol) = call.callee
                {
                    named(symbol);
                }
                inst.op.for_each_operand(&mut |operand| {
                    if let Err(constant) = operand.unpack()
                        && let Some(symbol) = address(module, constant)
                    {
                        named(symbol);
                    }
                });
            }
        }
        shape
    }

    fn deepest(&self) -> u32 {
        self.insts.len() as u32 - 1
    }

    fn executed(&self, around: u32) -> f64 {
        let times =
            |depth: usize| f64::from(1u32 << (LOG2_TRIPS * (around + depth as u32).min(MAX_DEPTH)));
        let parts = self.insts.iter().enumerate();
        parts.map(|(depth, &n)| n as f64 * times(depth)).sum()
    }
}

/// Returns the symbol whose address a constant is.
fn address(module: &Module, constant: ConstId) -> Option<GlobalRef> {
    match module.consts[constant] {
        Const::Global(symbol) => Some(symbol),
        _ => None,
    }
}

/// Returns the loop depth of each block. A loop reaches from its head to the last block that
/// branches back to it.
fn depths(body: &Body) -> Vec<u32> {
    let mut last = vec![None; body.blocks.len()];
    for (b, block) in body.blocks.iter().enumerate() {
        if let Some(end) = body.insts[block.start as usize..block.end as usize].last() {
            end.op.for_each_successor(&mut |to| {
                if to.index() <= b {
                    last[to.index()] = Some(b);
                }
            });
        }
    }
    // Number of loops that begin at a block, less those that end before it.
    let mut change = vec![0i32; body.blocks.len() + 1];
    for (head, &last) in last.iter().enumerate() {
        if let Some(last) = last {
            change[head] += 1;
            change[last + 1] -= 1;
        }
    }
    let depth = change.iter().scan(0, |depth, change| {
        *depth += change;
        Some(*depth as u32)
    });
    depth.take(body.blocks.len()).collect()
}

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
    use ompvm_llvm::{Input, read};

    fn module(text: &str) -> Module {
        let bytes = format!("target triple = \"x86_64-unknown-linux-gnu\"\n{text}").into_bytes();
        let name = "test.ll".into();
        read(&[Input { name, bytes }]).unwrap()
    }

    fn names(text: &str) -> Vec<String> {
        let module = module(text);
        let hot = expected_hot(&module).into_iter();
        hot.map(|h| module.functions[h.function].name.to_string())
            .collect()
    }

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

    /// Returns a function with a loop around a call.
    fn looping(name: &str, call: &str) -> String {
        format!(
            "define i32 @{name}() {{
            entry: br label %loop
            loop: %i = phi i32 [ 0, %entry ], [ %n, %loop ]
              {call}
              %n = add i32 %i, 1
              %c = icmp slt i32 %n, 10
              br i1 %c, label %loop, label %end
            end: ret i32 0 }}\n"
        )
    }

    #[test]
    fn loops_around_calls_make_callees_hot() {
        let text = [
            looping("main", "call i32 @outer()"),
            looping("outer", "call i32 @inner()"),
            looping("inner", ""),
            looping("aside", ""),
            looping("unreached", "call i32 @inner()"),
            "define i32 @once() { %x = call i32 @aside() ret i32 %x }".into(),
        ];
        assert_eq!(names(&text.concat()), ["inner", "outer"]);
    }

    #[test]
    fn a_function_named_in_a_loop_counts_as_called() {
        let text = [
            "declare void @fork(ptr)".into(),
            looping("main", "call void @fork(ptr @region)"),
            looping("region", "call void @leaf()"),
            "define void @leaf() { ret void }".into(),
            looping("late", ""),
        ];
        // The leaf executes little compared with the region.
        assert_eq!(names(&text.concat()), ["region", "leaf"]);
    }

    #[test]
    fn loops_in_loops_are_counted() {
        let text = "define i32 @main() { call void @nest(i1 false) ret i32 0 }
            define void @nest(i1 %c) {
            entry: br label %outer
            outer: br label %inner
            inner: br i1 %c, label %inner, label %latch
            latch: br i1 %c, label %outer, label %end
            end: ret void }";
        let module = module(text);
        let Some(GlobalRef::Func(nest)) = module.symbol("nest") else {
            panic!("no nest")
        };
        let body = module.functions[nest].body.as_ref().unwrap();
        assert_eq!(depths(body), [0, 1, 2, 1, 0]);
    }

    #[test]
    fn recursion_ends() {
        let text = [
            looping("main", "call i32 @a()"),
            looping("a", "call i32 @b()"),
            looping("b", "call i32 @a()"),
        ];
        let mut both = names(&text.concat());
        both.sort();
        assert_eq!(both, ["a", "b"]);
    }
}
