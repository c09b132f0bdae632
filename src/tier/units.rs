//! Decides which functions are compiled together.
//!
//! [`split`] divides a module's functions into groups of about the same size, at most one per
//! processor that compiles. Small functions stay with one of their callers, because a call into
//! another unit goes through a stub. [`strongly_connected`] finds the functions that must not be in
//! different tiers. [`super::sample`] finds the hot ones.

use cranelift_entity::EntityRef;
use hashbrown::HashMap;
use ompvm_ir::{BlockId, Call, Callee, FuncId, GlobalRef, Lazy, Module, TailKind};

/// Most instructions of a function that is compiled as part of its callers' units.
pub const SMALL: usize = 80;
/// Fewest instructions of a group that are worth a thread.
const MIN_GROUP: usize = 300;

/// Returns the number of instructions of a function.
pub fn size(module: &Module, id: FuncId) -> usize {
    let body = module.functions[id].body.as_ref();
    body.map_or(0, |b| b.size().insts)
}

/// Cost of a block for LLVM beside its instructions, in instructions: passes copy and iterate at
/// loops and branches. Fitted to functions of the NAS benchmarks, whose cost per instruction
/// differs far more without this term.
const PER_BLOCK: usize = 30;

/// Returns the compile effort of a function, in instructions of straight-line code.
pub fn effort(module: &Module, id: FuncId) -> usize {
    let body = module.functions[id].body.as_ref();
    let size = body.map(Lazy::size).unwrap_or_default();
    size.insts + PER_BLOCK * size.blocks
}

/// Returns the blocks of the loop whose first block is `head`: all from which control returns to
/// it. As in the interpreter, only branches from `head` itself or later blocks are back edges.
/// Returns none if there is no back edge or the function has no body.
pub fn in_loop(module: &Module, id: FuncId, head: BlockId) -> Vec<BlockId> {
    let Some(body) = module.functions[id].body.as_ref() else {
        return Vec::new();
    };
    let block = |b: usize| BlockId::from_u32(b as u32);
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); body.blocks.len()];
    for b in 0..body.blocks.len() {
        if let Some(end) = body.block(block(b)).last() {
            end.op
                .for_each_successor(&mut |to| before[to.index()].push(b));
        }
    }
    let head = head.index();
    let mut inside = vec![false; before.len()];
    let mut todo: Vec<usize> = before[head]
        .iter()
        .copied()
        .filter(|&b| b >= head)
        .collect();
    if todo.is_empty() {
        return Vec::new();
    }
    inside[head] = true;
    while let Some(b) = todo.pop() {
        if !std::mem::replace(&mut inside[b], true) {
            todo.extend(&before[b]);
        }
    }
    (0..inside.len())
        .filter(|&b| inside[b])
        .map(block)
        .collect()
}

/// Returns the compile effort of some blocks of a function, like [`effort`].
pub fn effort_of(module: &Module, id: FuncId, blocks: &[BlockId]) -> usize {
    let body = module.functions[id].body.as_ref();
    let of = |&b: &BlockId| PER_BLOCK + body.map_or(0, |body| body.block(b).len());
    blocks.iter().map(of).sum()
}

/// Returns the functions that some blocks of a function call directly, once per call.
pub fn called_from(module: &Module, id: FuncId, blocks: &[BlockId]) -> Vec<FuncId> {
    let body = module.functions[id].body.iter();
    body.flat_map(|body| blocks.iter().flat_map(|&b| body.block(b)))
        .filter_map(|i| i.op.as_call().and_then(by_name))
        .collect()
}

fn by_name(call: &Call) -> Option<FuncId> {
    match call.callee {
        Callee::Symbol(GlobalRef::Func(f)) => Some(f),
        _ => None,
    }
}

/// Divides functions into at most `parts` groups.
pub fn split(module: &Module, functions: &[FuncId], parts: usize) -> Vec<Vec<usize>> {
    let sizes: Vec<usize> = functions.iter().map(|&f| size(module, f)).collect();
    let total: usize = sizes.iter().sum();
    let parts = parts.min(total / MIN_GROUP).max(1);
    if parts == 1 {
        return vec![functions.iter().map(|f| f.index()).collect()];
    }
    // Each small function follows its first caller, which may itself follow another.
    let mut place = vec![usize::MAX; module.functions.len()];
    for (i, f) in functions.iter().enumerate() {
        place[f.index()] = i;
    }
    let mut leader: Vec<usize> = (0..functions.len()).collect();
    for (i, &caller) in functions.iter().enumerate() {
        for f in called(module, caller) {
            let callee = place[f.index()];
            if callee != usize::MAX
                && callee != i
                && sizes[callee] <= SMALL
                && leader[callee] == callee
                && root(&leader, i) != callee
            {
                leader[callee] = i;
            }
        }
    }
    let mut clusters: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new()); functions.len()];
    for (i, f) in functions.iter().enumerate() {
        let r = root(&leader, i);
        clusters[r].0 += sizes[i];
        clusters[r].1.push(f.index());
    }
    clusters.retain(|c| !c.1.is_empty());
    clusters.sort_by_key(|c| std::cmp::Reverse(c.0));
    let mut groups: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new()); parts];
    for (n, members) in clusters {
        if let Some(least) = groups.iter_mut().min_by_key(|g| g.0) {
            least.0 += n;
            least.1.extend(members);
        }
    }
    groups
        .into_iter()
        .map(|g| g.1)
        .filter(|g| !g.is_empty())
        .collect()
}

fn root(leader: &[usize], mut i: usize) -> usize {
    while leader[i] != i {
        i = leader[i];
    }
    i
}

/// Most functions followed in the search for a cycle.
const MAX_FOLLOWED: usize = 256;
/// Most instructions of a cycle that is compiled as one unit.
const MAX_CYCLE: usize = 2000;

/// Returns the functions that must switch tiers together with `function`: its strongly connected
/// set of direct calls, and, if it hands over by tail calls through pointers, all functions that
/// do.
///
/// A call from one tier into another takes far more native stack than a call inside one. A deep
/// recursion between functions of two tiers would exhaust it, and a chain of tail calls, which may
/// be endless, certainly would. Large cycles, and cycles through pointers, are not found.
pub fn strongly_connected(module: &Module, function: FuncId) -> Vec<FuncId> {
    let mut group = cycle(module, function);
    if has_indirect_tail_call(module, function) {
        let others = module.functions.keys();
        group.extend(others.filter(|&f| has_indirect_tail_call(module, f)));
        group.sort_unstable();
        group.dedup();
    }
    group
}

fn calls(module: &Module, function: FuncId) -> impl Iterator<Item = &Call> {
    let body = module.functions[function].body.iter();
    body.flat_map(|b| &b.insts).filter_map(|i| i.op.as_call())
}

/// Returns the functions that a function calls directly, once per call.
pub fn called(module: &Module, function: FuncId) -> impl Iterator<Item = FuncId> {
    calls(module, function).filter_map(by_name)
}

/// Returns true if a function has a `musttail` call through a pointer.
fn has_indirect_tail_call(module: &Module, function: FuncId) -> bool {
    let must = |c: &&Call| c.tail == TailKind::MustTail;
    calls(module, function)
        .filter(must)
        .any(|c| !matches!(c.callee, Callee::Symbol(_)))
}

/// Returns the functions on a cycle of direct calls through `function`, which comes first.
fn cycle(module: &Module, function: FuncId) -> Vec<FuncId> {
    let mut found = vec![function];
    let mut callers: HashMap<FuncId, Vec<FuncId>> = HashMap::new();
    let mut at = 0;
    while let Some(&caller) = found.get(at) {
        at += 1;
        for f in called(module, caller) {
            if module.functions[f].body.is_none() {
                continue;
            }
            if f != function && !callers.contains_key(&f) && found.len() < MAX_FOLLOWED {
                found.push(f);
            }
            callers.entry(f).or_default().push(caller);
        }
    }
    let mut group = vec![function];
    let mut total = size(module, function);
    let mut at = 0;
    while let Some(f) = group.get(at) {
        at += 1;
        for &caller in callers.get(f).into_iter().flatten() {
            if !group.contains(&caller) {
                total += size(module, caller);
                group.push(caller);
            }
        }
        if total > MAX_CYCLE {
            return vec![function];
        }
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;
    use ompvm_llvm::{Input, read};

    fn names(text: &str, of: &str) -> Vec<String> {
        let bytes = format!("target triple = \"x86_64-unknown-linux-gnu\"\n{text}").into_bytes();
        let name = "test.ll".into();
        let module = read(&[Input { name, bytes }]).unwrap();
        let Some(GlobalRef::Func(id)) = module.symbol(of) else {
            panic!("no {of}")
        };
        let mut names: Vec<String> = strongly_connected(&module, id)
            .into_iter()
            .map(|f| module.functions[f].name.to_string())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn cycles_of_calls_switch_together() {
        let text = "declare void @x()
            define void @a() { call void @b() call void @leaf() ret void }
            define void @b() { call void @c() call void @x() ret void }
            define void @c() { call void @a() call void @c() ret void }
            define void @leaf() { ret void }
            define void @top() { call void @a() ret void }";
        for of in ["a", "b", "c"] {
            assert_eq!(names(text, of), ["a", "b", "c"]);
        }
        assert_eq!(names(text, "leaf"), ["leaf"]);
        assert_eq!(names(text, "top"), ["top"]);
    }

    #[test]
    fn chains_of_tail_calls_switch_together() {
        let text = "define void @a(ptr %f) { musttail call void %f(ptr %f) ret void }
            define void @b(ptr %f) { musttail call void %f(ptr %f) ret void }
            define void @c(ptr %f) { musttail call void @a(ptr %f) ret void }
            define void @d(ptr %f) { call void %f(ptr %f) ret void }";
        assert_eq!(names(text, "a"), ["a", "b"]);
        assert_eq!(names(text, "c"), ["c"]);
        assert_eq!(names(text, "d"), ["d"]);
    }
}
