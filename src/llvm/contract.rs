//! Contraction of `a * b + c` to one rounding, if requested.
//!
//! [`contract`] turns calls of `llvm.fmuladd`, which mark where the source permits contraction
//! (C23, 6.5 paragraph 8), into calls of `llvm.fma`. A sum that a loop carries stays two
//! operations: each of its steps would wait for a whole fused operation (four cycles on Golden Cove
//! and Zen 4) instead of an addition (two to three), while the multiplications of all steps can
//! overlap. CG of the NAS benchmarks, which does little else, is much slower when fused.
//!
//! Contraction happens on LLVM's module before anything else looks at it. So the reader, whose
//! functions are interpreted, and the compiler, which gets the same functions whole, in parts or as
//! the rest of a loop, decide alike, and all tiers round alike.
//!
//! Calls that stay are two operations in every tier (`native::rewire`, the interpreter).

use super::handles::{Call, Function, Instruction, Module, Opcode, Value};
use hashbrown::{HashMap, HashSet};

/// Fast-math flags that let a pass change an operation's result: reassociation, no signed zeros,
/// reciprocals, contraction, approximate functions.
pub(super) const ROUNDING: u32 = inkwell::llvm_sys::LLVMFastMathAllowReassoc
    | inkwell::llvm_sys::LLVMFastMathNoSignedZeros
    | inkwell::llvm_sys::LLVMFastMathAllowContract
    | inkwell::llvm_sys::LLVMFastMathAllowReciprocal
    | inkwell::llvm_sys::LLVMFastMathApproxFunc;

/// Replaces every `llvm.fmuladd` in the functions read so far by `llvm.fma`, except in sums that
/// loops carry. Declares an `llvm.fma` for each type of `llvm.fmuladd`, after all other functions
/// and in their order, whatever has been read: functions are identified by their numbers.
pub(super) fn contract(module: Module) {
    let fmuladds: Vec<_> = module
        .functions()
        .filter(|f| f.name().starts_with("llvm.fmuladd."))
        .collect();
    let mut calls: HashMap<Function, Vec<(Call, Function)>> = HashMap::new();
    for &callee in &fmuladds {
        let once = fused(module, callee);
        for call in callee.users().filter_map(Value::as_call) {
            if call.callee() == Some(callee) {
                let calls = calls.entry(call.function()).or_default();
                calls.push((call, once));
            }
        }
    }
    let fmuladds: HashSet<Value> = fmuladds.into_iter().map(Value::from).collect();
    for (function, calls) in calls {
        let carried = carried(function, &fmuladds);
        for (call, once) in calls {
            if !carried.contains(&Value::from(call)) {
                fuse(call, once);
            }
        }
    }
}

/// Replaces a call by one of `once` without permission to round differently.
fn fuse<'m>(call: Call<'m>, once: Function<'m>) {
    if call.fast_math() & ROUNDING == 0 {
        call.set_called(once);
        return;
    }
    // LLVM's C interface can set such flags but not clear them.
    let builder = once.module().context().builder();
    let arguments: Vec<_> = call.arguments().collect();
    let fused = builder.before(call).call(once, &arguments);
    fused.add_fast_math(call.fast_math() & !ROUNDING);
    let name = call.name();
    call.replace_by(fused);
    // SAFETY: its users have another value, and the list of calls has it once.
    unsafe { call.erase() };
    fused.set_name(&name);
}

/// Declares `llvm.fma` for the type of an `llvm.fmuladd`.
fn fused<'m>(module: Module<'m>, fmuladd: Function<'m>) -> Function<'m> {
    let of: Vec<_> = fmuladd.signature().result().into_iter().collect();
    module.intrinsic("llvm.fma", &of)
}

/// Returns the calls of `fmuladd` in a function whose sum flows back to them: through additions,
/// subtractions, negations, selects and phis, never through a multiplication.
fn carried<'m>(function: Function<'m>, fmuladd: &HashSet<Value<'m>>) -> HashSet<Value<'m>> {
    let sums: Vec<(Value, Vec<Value>)> = function
        .instructions()
        .filter_map(|i| Some((i.into(), summands(i, fmuladd)?)))
        .collect();
    let number: HashMap<Value, usize> =
        sums.iter().enumerate().map(|(n, &(i, _))| (i, n)).collect();
    let edges: Vec<Vec<usize>> = sums
        .iter()
        .map(|(_, of)| of.iter().filter_map(|v| number.get(v).copied()).collect())
        .collect();
    let around = on_cycles(&edges);
    let of_sums = sums.iter().zip(around);
    of_sums
        .filter(|&(_, around)| around)
        .map(|(&(i, _), _)| i)
        .collect()
}

/// Returns the operands that an instruction adds or passes on; `None` for other instructions.
fn summands<'m>(i: Instruction<'m>, fmuladd: &HashSet<Value<'m>>) -> Option<Vec<Value<'m>>> {
    use Opcode::*;
    match i.opcode() {
        LLVMFAdd | LLVMFSub | LLVMFNeg | LLVMPHI => Some(i.operands().collect()),
        LLVMSelect => Some(i.operands().skip(1).collect()),
        LLVMCall if fmuladd.contains(&i.as_call()?.called()) => Some(vec![i.operand(2)]),
        _ => None,
    }
}

/// Marks the nodes of a graph that lie on a cycle: those of its strongly connected components
/// (Tarjan, "Depth-first search and linear graph algorithms", 1972) of more than one node. `edges`
/// lists the successors of each node.
fn on_cycles(edges: &[Vec<usize>]) -> Vec<bool> {
    const UNSEEN: usize = usize::MAX;
    let mut on_cycle = vec![false; edges.len()];
    // The order in which nodes are found, and the lowest number that each leads back to.
    let (mut found, mut low) = (vec![UNSEEN; edges.len()], vec![UNSEEN; edges.len()]);
    let mut is_open = vec![false; edges.len()];
    let (mut open, mut path, mut count) = (Vec::new(), Vec::new(), 0);
    for root in 0..edges.len() {
        if found[root] == UNSEEN {
            path.push((root, 0));
        }
        while let Some(&mut (node, ref mut next)) = path.last_mut() {
            if *next == 0 {
                (found[node], low[node]) = (count, count);
                count += 1;
                open.push(node);
                is_open[node] = true;
            }
            if let Some(&to) = edges[node].get(*next) {
                *next += 1;
                if found[to] == UNSEEN {
                    path.push((to, 0));
                } else if is_open[to] {
                    low[node] = low[node].min(found[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == found[node] {
                let start = open.iter().rposition(|&n| n == node);
                let component = open.split_off(start.unwrap_or(0));
                for &n in &component {
                    is_open[n] = false;
                    on_cycle[n] = component.len() > 1;
                }
            }
        }
    }
    on_cycle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_on_cycles_are_found() {
        // 0 -> 1 -> 2 -> 1, 2 -> 3; 4 <-> 5 -> 3; 6 -> 6 (no sum is its own summand).
        let edges = [
            vec![1],
            vec![2],
            vec![1, 3],
            vec![],
            vec![5],
            vec![4, 3],
            vec![6],
        ];
        let on = on_cycles(&edges);
        assert_eq!(on, [false, true, true, false, true, true, false]);
        // One cycle runs through a node of the other.
        assert_eq!(on_cycles(&[vec![1, 2], vec![0], vec![1]]), [true; 3]);
        // Deep graphs do not need a deep stack.
        let long: Vec<Vec<usize>> = (0..1_000_000).map(|n| vec![(n + 1) % 1_000_000]).collect();
        assert!(on_cycles(&long).iter().all(|&on| on));
    }
}
