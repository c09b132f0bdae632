//! Guesses from the code alone which functions will be hot.
//!
//! A loop is assumed to run eight times (Ball and Larus, "Branch prediction for free", 1993: loop
//! branches are taken 88 times of 100), also through calls, and a function that is named in a loop
//! (a parallel region's body) to be called there. A recursion counts as one loop, however many loops
//! its calls are in: how deep it goes is unknown.

use cranelift_entity::EntityRef;
use hashbrown::HashMap;
use ompvm_ir::{Body, Callee, Const, ConstId, FuncId, GlobalRef, Module};

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
    let Some(GlobalRef::Func(main)) = module.symbol("main") else {
        return Vec::new();
    };
    let Some(reached) = Reached::from(module, main) else {
        return Vec::new();
    };
    let depths = reached.depths();
    let mut hot: Vec<ExpectedHot> = reached
        .functions
        .iter()
        .zip(&reached.shapes)
        .zip(depths)
        .filter(|((f, _), _)| **f != main)
        .map(|((&function, shape), around)| ExpectedHot {
            function,
            executed: shape.executed(around),
        })
        .collect();
    let most = hot.iter().map(|h| h.executed).fold(0.0, f64::max);
    hot.retain(|h| {
        let shape = &reached.shapes[reached.numbers[&h.function]];
        shape.deepest() > 0 || h.executed >= most / WITHOUT_LOOP_PART
    });
    hot.sort_by(|a, b| {
        let by_heat = b.executed.total_cmp(&a.executed);
        by_heat.then(a.function.index().cmp(&b.function.index()))
    });
    hot
}

/// The functions that `main` may reach by the names in bodies, `main` first.
struct Reached {
    functions: Vec<FuncId>,
    shapes: Vec<LoopShape>,
    /// Index of each function.
    numbers: HashMap<FuncId, usize>,
}

impl Reached {
    /// Returns `None` for more than [`MAX_FUNCTIONS`] functions.
    fn from(module: &Module, main: FuncId) -> Option<Reached> {
        let mut reached = Reached {
            functions: vec![main],
            shapes: Vec::new(),
            numbers: HashMap::from([(main, 0)]),
        };
        while let Some(&f) = reached.functions.get(reached.shapes.len()) {
            if reached.functions.len() > MAX_FUNCTIONS {
                return None;
            }
            let body = module.functions[f].body.as_ref();
            let shape = body.map_or_else(LoopShape::default, |b| LoopShape::of_body(module, b));
            for &(callee, _) in &shape.named {
                let next = reached.functions.len();
                if module.functions[callee].body.is_some() {
                    reached.numbers.entry(callee).or_insert_with(|| {
                        reached.functions.push(callee);
                        next
                    });
                }
            }
            reached.shapes.push(shape);
        }
        Some(reached)
    }

    /// Returns the functions that function `n` names, each with its loop depth.
    fn named(&self, n: usize) -> impl Iterator<Item = (usize, u32)> {
        let named = self.shapes[n].named.iter();
        named.filter_map(|(callee, depth)| Some((*self.numbers.get(callee)?, *depth)))
    }

    /// Returns the number of loops around the calls of each function.
    fn depths(&self) -> Vec<u32> {
        let sets = self.recursions();
        let mut set_of = vec![0; self.functions.len()];
        for (n, set) in sets.iter().enumerate() {
            set.iter().for_each(|&f| set_of[f] = n);
        }
        let mut around = vec![0; sets.len()];
        // Callers come last.
        for (n, set) in sets.iter().enumerate().rev() {
            let named = |&f: &usize| self.named(f);
            let recursive = set.iter().flat_map(named).any(|(f, _)| set_of[f] == n);
            around[n] += u32::from(recursive);
            for (callee, depth) in set.iter().flat_map(named) {
                let to = set_of[callee];
                if to != n {
                    around[to] = (around[n] + depth).min(MAX_DEPTH).max(around[to]);
                }
            }
        }
        set_of.into_iter().map(|set| around[set]).collect()
    }

    /// Returns the sets of functions that reach each other, callees before callers (Tarjan,
    /// "Depth-first search and linear graph algorithms", 1972).
    fn recursions(&self) -> Vec<Vec<usize>> {
        let mut sets = Vec::new();
        let mut order = vec![usize::MAX; self.functions.len()];
        let mut lowest = order.clone();
        let mut open = vec![0];
        // Functions whose callees are being visited, each with the number of those begun.
        let mut path = vec![(0, 0)];
        let mut visited = 1;
        (order[0], lowest[0]) = (0, 0);
        let callees: Vec<Vec<usize>> = (0..self.functions.len())
            .map(|n| self.named(n).map(|(f, _)| f).collect())
            .collect();
        while let Some((f, begun)) = path.last_mut() {
            let f = *f;
            if let Some(&callee) = callees[f].get(*begun) {
                *begun += 1;
                if order[callee] == usize::MAX {
                    (order[callee], lowest[callee]) = (visited, visited);
                    visited += 1;
                    open.push(callee);
                    path.push((callee, 0));
                } else {
                    // A closed set has no lower number to offer.
                    lowest[f] = lowest[f].min(lowest[callee]);
                }
                continue;
            }
            path.pop();
            if let Some(&(caller, _)) = path.last() {
                lowest[caller] = lowest[caller].min(lowest[f]);
            }
            if lowest[f] == order[f] {
                let first = open.iter().rposition(|&g| g == f).unwrap_or(0);
                let set = open.split_off(first);
                set.iter().for_each(|&g| lowest[g] = usize::MAX);
                sets.push(set);
            }
        }
        sets
    }
}

/// The instructions and names in a body, by loop depth.
#[derive(Default)]
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
        (self.insts.len() as u32).saturating_sub(1)
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

    #[test]
    fn a_recursion_counts_as_one_loop() {
        let text = [
            looping("main", "call i32 @solve() call i32 @print()"),
            looping("solve", "call i32 @step()"),
            looping("step", "call i32 @inner()"),
            looping("inner", ""),
            // Each calls itself and the other in a loop.
            looping("print", "call i32 @print() call i32 @line()"),
            looping("line", "call i32 @print()"),
        ];
        assert_eq!(names(&text.concat())[..1], ["inner"]);
    }
}
