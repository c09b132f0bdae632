//! What is compiled before it was seen to be hot.
//!
//! What: where processors are idle when a program starts, the functions that loops are expected to
//! spend their time in are compiled at once, each on a processor of its own. [`expected`] finds
//! them: a loop is taken to run eight times (Ball and Larus, "Branch prediction for free", 1993:
//! loop branches are taken 88 times of 100), also through calls, and whoever names a function in a
//! loop (a parallel region's body) is taken to call it.
//!
//! Why: a team occupies all processors soon, and a compilation beside it slows all of its members.
//! Before the first region there is time on all processors but one. Letting regions wait until
//! the compilations end was no faster. What not: nothing of this where few processors are idle, since
//! there each compilation takes the time of the program itself; what proves hot is found by
//! [`super::sample`], also where this guessed wrong.

use super::compiler::{Compiler, What};
use super::queue::{Job, Queue};
use super::units::{self, SMALL};
use crate::ir::{Body, Callee, Const, ConstId, FuncId, GlobalRef, Module};
use crate::jit::Level;
use crate::kmpc::affinity;
use crate::memory::image::Image;
use crate::support::topology;
use cranelift_entity::EntityRef;
use hashbrown::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Fewer processors have no time for it.
const PROCESSORS: usize = 4;
/// For so long each idle processor is expected to work at most on what is not paid for.
pub const MOST_TIME: Duration = Duration::from_millis(60);
/// Most threads: each takes some megabytes for LLVM.
const MOST_THREADS: usize = 15;
/// What is expected to take longer with all effort is compiled quickly first, while a processor is idle.
pub const LATENCY: Duration = Duration::from_millis(30);

/// Iterations of a loop of unknown trip count, as a power of two.
const TRIPS: u32 = 3;
/// Loops around each other that count.
const DEPTH: u32 = 8;
/// A function without a loop executes at least this part of what the hottest does.
const WITHOUT_LOOP: f64 = 100.0;
/// Functions looked at. Those of a larger program are found when they run.
const MOST: usize = 4000;

/// A function and the instructions it is expected to execute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hot {
    /// The function.
    pub function: FuncId,
    /// Instructions.
    pub executed: f64,
}

/// The functions that are expected to execute loops, or to be called in them, hottest first.
pub fn expected(module: &Module) -> Vec<Hot> {
    let mut around: HashMap<FuncId, u32> = HashMap::new();
    let mut bodies: HashMap<FuncId, Shape> = HashMap::new();
    let mut todo = Vec::new();
    let Some(GlobalRef::Func(main)) = module.symbol("main") else {
        return Vec::new();
    };
    let reach = |f: FuncId, depth: u32, around: &mut HashMap<FuncId, u32>, todo: &mut Vec<_>| {
        let depth = depth.min(DEPTH);
        if module.functions[f].body.is_some() && around.get(&f).is_none_or(|&d| d < depth) {
            around.insert(f, depth);
            todo.push(f);
        }
    };
    reach(main, 0, &mut around, &mut todo);
    while let Some(f) = todo.pop() {
        if bodies.len() >= MOST {
            return Vec::new();
        }
        let Some(body) = &module.functions[f].body else {
            continue;
        };
        let shape = bodies.entry(f).or_insert_with(|| Shape::of(module, body));
        let outer = around[&f];
        for &(callee, depth) in &shape.named {
            reach(callee, outer + depth, &mut around, &mut todo);
        }
    }
    let mut hot: Vec<Hot> = bodies
        .iter()
        .filter(|(f, _)| **f != main)
        .map(|(&function, shape)| Hot {
            function,
            executed: shape.executed(around[&function]),
        })
        .collect();
    let most = hot.iter().map(|h| h.executed).fold(0.0, f64::max);
    hot.retain(|h| bodies[&h.function].deepest() > 0 || h.executed >= most / WITHOUT_LOOP);
    hot.sort_by(|a, b| {
        let by_heat = b.executed.total_cmp(&a.executed);
        by_heat.then(a.function.index().cmp(&b.function.index()))
    });
    hot
}

/// What a body has to say.
struct Shape {
    /// Instructions inside so many loops.
    insts: Vec<usize>,
    /// Functions named inside so many loops.
    named: Vec<(FuncId, u32)>,
}

impl Shape {
    fn of(module: &Module, body: &Body) -> Shape {
        let depths = depths(body);
        let mut shape = Shape {
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
        let times = |depth: usize| f64::from(1u32 << (TRIPS * (around + depth as u32).min(DEPTH)));
        let parts = self.insts.iter().enumerate();
        parts.map(|(depth, &n)| n as f64 * times(depth)).sum()
    }
}

/// The symbol whose address a constant is.
fn address(module: &Module, constant: ConstId) -> Option<GlobalRef> {
    match module.consts[constant] {
        Const::Global(symbol) => Some(symbol),
        _ => None,
    }
}

/// How many loops each block is in: a loop reaches from a block to the last that branches back to it.
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
    // How many begin at a block and end before it.
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

/// How many threads compile a program's hot functions ahead of time: as many as processors are idle and will be
/// when the first team begins, or just idle where that will take all; none where others use most of them. For
/// tests `OMPVM_AHEAD`, `always` or `never`, decides.
pub fn threads() -> Option<usize> {
    let usable = topology::usable_cpus();
    let idle = match std::env::var("OMPVM_AHEAD").as_deref() {
        Ok("always") => return Some(MOST_THREADS.min(usable)),
        Ok("never") => return None,
        _ if usable < PROCESSORS => return None,
        // The program's own thread and this one run too.
        _ => (usable + 1).saturating_sub(topology::running_threads().max(2)),
    };
    let left = match usable.saturating_sub(affinity::announced().threads) {
        0 => idle,
        left => idle.min(left),
    };
    (idle >= usable / 2).then_some(left.min(MOST_THREADS))
}

/// Starts to compile what is expected to be hot and not among `known`; names the functions.
pub fn compile(
    image: &Image,
    compiler: &Compiler,
    queue: &Arc<Queue>,
    threads: usize,
    known: &HashSet<FuncId>,
) -> HashSet<FuncId> {
    let module = &image.module;
    let mut hot = expected(module);
    hot.retain(|h| compiler.program().can_compile(h.function) && !known.contains(&h.function));
    let called: HashSet<FuncId> = hot
        .iter()
        .flat_map(|h| units::called(module, h.function).filter(move |&f| f != h.function))
        .collect();
    let mut left = MOST_TIME * threads as u32;
    let mut jobs = Vec::new();
    for &Hot { function, executed } in &hot {
        // It comes with its callers.
        if units::size(module, function) <= SMALL && called.contains(&function) {
            continue;
        }
        let full = queue.expected(function, Level::Full);
        let quick = queue.expected(function, Level::Quick);
        let (level, cost) = if full <= LATENCY {
            (Level::Full, full)
        } else {
            (Level::Quick, quick)
        };
        if cost > left {
            break;
        }
        left -= cost;
        compiler.note(
            function,
            What::Queued(format!("expected to execute {executed} instructions")),
        );
        jobs.push(Job {
            score: Duration::from_nanos(executed as u64),
            function,
            head: None,
            level,
            better: None,
            ahead: threads,
            awaited: false,
        });
    }
    let chosen = jobs.iter().map(|j| j.function).collect();
    let now = Instant::now();
    let quick = jobs.iter().filter(|j| j.level == Level::Quick);
    let share = 1.0 / quick.clone().count().max(1) as f64;
    let better: Vec<Job> = quick
        .map(|j| Job {
            level: Level::Full,
            ahead: 0,
            better: Some(queue.better(j.function, now, share)),
            ..*j
        })
        .collect();
    for job in jobs.into_iter().chain(better) {
        queue.push(job);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Input, read};

    fn module(text: &str) -> Module {
        let bytes = format!("target triple = \"x86_64-unknown-linux-gnu\"\n{text}").into_bytes();
        let name = "test.ll".into();
        read(&[Input { name, bytes }]).unwrap()
    }

    fn names(text: &str) -> Vec<String> {
        let module = module(text);
        let hot = expected(&module).into_iter();
        hot.map(|h| module.functions[h.function].name.to_string())
            .collect()
    }

    /// A loop around a call.
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
    fn who_names_a_function_is_taken_to_call_it() {
        let text = [
            "declare void @fork(ptr)".into(),
            looping("main", "call void @fork(ptr @region)"),
            looping("region", "call void @leaf()"),
            "define void @leaf() { ret void }".into(),
            looping("late", ""),
        ];
        // The leaf executes little beside the region.
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
