//! Analysis of kernels: whether results depend on the number of teams, whether threads are
//! interchangeable, whether regions nest.
//!
//! `num_teams` asks for a number of teams, and a program may observe it. A kernel that only divides
//! a loop over the whole grid ([`super::grid`]) computes the same with any number, so the device
//! may choose the grid. Otherwise a program that asks for one team per 256 iterations, as CUDA
//! programs count their blocks, pays for a reduction over each block and one over the grid.
//!
//! The analysis runs after [`super::grid::rewrite`] and before the runtime is linked, while runtime
//! calls still have their names. It is conservative: a kernel that does anything but divide loops
//! and combine their reductions keeps the number of teams that it asks for.

use super::Kernel;
use super::grid::{calls, region_function, replace};
use crate::handles::{Call, Function, Instruction, IntPredicate, Module, Opcode, Value};
use hashbrown::HashSet;

/// Entry that runs a region whose loop is divided over the grid.
const GRID_REGION: &str = "__ompvm_parallel_grid";
/// Entry that combines the teams' results; returns 1 on the one thread that stores the sum.
const TEAMS_REDUCE: &str = "__kmpc_nvptx_teams_reduce_nowait_v2";
/// Entries that a construct over the whole grid calls outside of its region.
const CONSTRUCT: [&str; 8] = [
    GRID_REGION,
    TEAMS_REDUCE,
    "__kmpc_target_init",
    "__kmpc_target_deinit",
    "__kmpc_global_thread_num",
    "__kmpc_get_hardware_num_threads_in_block",
    "__kmpc_reduction_get_fixed_buffer",
    "__kmpc_distribute_static_fini",
];
/// Prefixes of further such entries.
const CONSTRUCT_PREFIXES: [&str; 3] = ["__ompvm_distribute_whole_", "llvm.", "__kmpc_free_shared"];

/// Returns true if no result of the kernel depends on the number of its teams.
pub(super) fn any_grid(module: Module, kernel: &Kernel) -> bool {
    let Some(entry) = module.function(&kernel.name) else {
        return false;
    };
    let mut regions = Vec::new();
    only_divides(entry, &mut regions, &mut HashSet::new())
        && !regions.is_empty()
        && !queries_teams(regions)
}

/// Returns true if a parallel region that a kernel starts may start another.
///
/// A compiler reports this for each kernel that calls a function of another file, including the
/// runtime's. Neither the runtime nor a library starts regions, so a declared function only does so
/// through functions passed to it.
pub(super) fn nests(module: Module, kernel: &str) -> bool {
    const REGION: &str = "__kmpc_parallel_";
    const FUNCTION: usize = 5;
    const WRAPPER: usize = 6;
    let starts = |f: Function| {
        let name = f.name();
        name.starts_with(REGION) || &*name == GRID_REGION
    };
    let Some(kernel) = module.function(kernel) else {
        return true;
    };
    let Some(outside) = reachable_functions(vec![kernel]) else {
        return true;
    };
    let mut regions = Vec::new();
    let all = outside.iter().copied().flat_map(calls);
    for (call, _) in all.filter(|&(_, callee)| starts(callee)) {
        for index in [FUNCTION, WRAPPER] {
            let Some(given) = call.arguments().nth(index) else {
                return true;
            };
            if let Some(function) = given.as_function() {
                regions.push(function);
            } else if !given.is_zero() {
                return true;
            }
        }
    }
    reachable_functions(regions).is_none_or(|inside| inside.into_iter().any(starts))
}

/// Returns the functions that these may call or pass to others, including themselves; `None` if
/// they call through a pointer.
fn reachable_functions<'m>(functions: Vec<Function<'m>>) -> Option<HashSet<Function<'m>>> {
    let mut seen = HashSet::new();
    let mut open = functions;
    while let Some(function) = open.pop() {
        if !seen.insert(function) {
            continue;
        }
        for instruction in function.instructions() {
            if instruction.as_call().is_some() && instruction.direct_callee().is_none() {
                return None;
            }
            open.extend(functions_of(instruction));
        }
    }
    Some(seen)
}

/// Returns the functions among an instruction's operands.
pub(super) fn functions_of<'m>(instruction: Instruction<'m>) -> impl Iterator<Item = Function<'m>> {
    instruction.operands().filter_map(Value::as_function)
}

/// Returns true if a function and its callees only divide loops over the grid. Adds the functions
/// of their regions.
fn only_divides<'m>(
    function: Function<'m>,
    regions: &mut Vec<Function<'m>>,
    seen: &mut HashSet<Function<'m>>,
) -> bool {
    if !seen.insert(function) {
        return true;
    }
    function
        .instructions()
        .all(|instruction| match instruction.opcode() {
            Opcode::LLVMStore => {
                is_local(instruction.operand(1)) || is_run_by_last_team(instruction)
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg | Opcode::LLVMFence => {
                is_run_by_last_team(instruction)
            }
            Opcode::LLVMInvoke | Opcode::LLVMCallBr => false,
            Opcode::LLVMCall => {
                let (Some(call), Some(callee)) =
                    (instruction.as_call(), instruction.direct_callee())
                else {
                    return false;
                };
                let name = callee.name();
                if &*name == GRID_REGION {
                    let Some(region) = region_function(call) else {
                        return false;
                    };
                    regions.push(region);
                }
                if callee.is_declaration() {
                    !name.contains("ctaid")
                        && (CONSTRUCT.contains(&&*name)
                            || CONSTRUCT_PREFIXES.iter().any(|p| name.starts_with(p)))
                } else {
                    only_divides(callee, regions, seen)
                }
            }
            _ => true,
        })
}

/// Marks the loop of a flang kernel, a call with the body as a function, if its threads are
/// interchangeable.
pub(super) fn mark_static_loop(module: Module, kernel: &Kernel) {
    const REGION: &str = "__kmpc_parallel_60";
    const LOOP: &str = "__kmpc_distribute_for_static_loop_";
    const EVERY_THREAD: u64 = u32::MAX as u64;
    if !kernel.environment.is_some_and(|e| e.spmd()) {
        return;
    }
    let Some(reached) = reached(module, kernel) else {
        return;
    };
    let mut regions = Vec::new();
    let mut loops = Vec::new();
    for (call, callee) in reached.iter().copied().flat_map(calls) {
        let name = callee.name();
        // All threads of a block must run the region.
        if name.contains("num_threads") && !name.contains("get_") {
            return;
        }
        if name.starts_with("__kmpc_parallel_") {
            regions.push((call, callee));
        } else if name.contains("static_loop") || name.contains("static_init") {
            loops.push((call, callee));
        }
    }
    let ([(region, runs)], [(inner, divides)]) = (&regions[..], &loops[..]) else {
        return;
    };
    let constant = |call: &Call, index: usize| call.arguments().nth(index)?.unsigned();
    let whole = &*runs.name() == REGION
        && constant(region, 2) == Some(1)
        && constant(region, 3) == Some(EVERY_THREAD);
    let open = divides.name().starts_with(LOOP)
        && constant(inner, 5) == Some(0)
        && constant(inner, 6) == Some(0);
    if !whole || !open {
        return;
    }
    if region_function(*region) == Some(inner.function()) && !queries_threads(inner.function()) {
        replace(*inner, LOOP, "__ompvm_grid_loop_");
    }
}

/// Returns the functions that a kernel may call, if there is such a kernel and it calls none
/// through a pointer.
fn reached<'m>(module: Module<'m>, kernel: &Kernel) -> Option<HashSet<Function<'m>>> {
    reachable_functions(vec![module.function(&kernel.name)?])
}

/// Returns true if a region or its callees may query the identity of their thread.
fn queries_threads(region: Function) -> bool {
    const IDENTITY_QUERIES: [&str; 13] = [
        "omp_get_thread",
        "omp_get_ancestor",
        "omp_get_team",
        "omp_get_place",
        "omp_get_part",
        "omp_in_",
        "hardware_thread",
        "tid",
        "lane",
        "warp",
        "shuffle",
        "ompx",
        "team_num",
    ];
    let mut seen = HashSet::new();
    let mut open = vec![region];
    while let Some(function) = open.pop() {
        if !seen.insert(function) {
            continue;
        }
        if function.is_declaration() {
            let name = function.name();
            if IDENTITY_QUERIES.iter().any(|t| name.contains(t)) {
                return true;
            }
            continue;
        }
        for instruction in function.instructions() {
            let callee = instruction.direct_callee();
            if instruction.opcode() == Opcode::LLVMCall && callee.is_none() {
                return true;
            }
            // A reduction's callbacks combine lanes independently of which iterations these had.
            if !callee.is_some_and(|f| f.name().contains("_reduce_")) {
                open.extend(functions_of(instruction));
            }
        }
    }
    false
}

/// Marks the loop of a kernel that may have any grid if its threads are interchangeable: the order
/// of its iterations is then free (`tile_loops.cpp`).
///
/// A kernel of several loops keeps its order, since an explicit `dist_schedule` cannot be told from
/// none and promises that a team gets the same iterations of each. So does a kernel that queries
/// its thread number.
pub(super) fn mark_interchangeable(module: Module, kernel: &Kernel) {
    const DISTRIBUTE: &str = "__ompvm_distribute_whole_";
    const LOOP: &str = "__ompvm_for_grid_";
    let Some(reached) = reached(module, kernel) else {
        return;
    };
    let calls_of = |prefix: &str| -> Vec<Call> {
        let all = reached.iter().copied().flat_map(calls);
        all.filter(|(_, callee)| callee.name().starts_with(prefix))
            .map(|(call, _)| call)
            .collect()
    };
    let (distributes, loops, regions) =
        (calls_of(DISTRIBUTE), calls_of(LOOP), calls_of(GRID_REGION));
    let ([distribute], [inner], [region]) = (&distributes[..], &loops[..], &regions[..]) else {
        return;
    };
    if region_function(*region).is_none_or(queries_threads) {
        return;
    }
    replace(*distribute, DISTRIBUTE, "__ompvm_distribute_tiled_");
    replace(*inner, LOOP, "__ompvm_for_tiled_");
}

/// Returns true if a pointer points into a variable of the thread.
fn is_local(mut pointer: Value) -> bool {
    while pointer.as_cast().is_some() || pointer.as_gep().is_some() {
        pointer = pointer.operand(0);
    }
    pointer.as_alloca().is_some()
}

/// Returns true if only the thread that combines the last team's results runs the instruction: its
/// block is entered from the test of what the reduction over the teams returned.
fn is_run_by_last_team(instruction: Instruction) -> bool {
    let block = instruction.block();
    let mut entered = instruction
        .function()
        .blocks()
        .filter(|from| from.successors().any(|to| to == block));
    let (Some(from), None) = (entered.next(), entered.next()) else {
        return false;
    };
    if from.successors().next() != Some(block) {
        return false;
    }
    let test = from.terminator().and_then(Instruction::condition);
    let Some(test) = test.and_then(Value::as_instruction) else {
        return false;
    };
    test.int_predicate() == Some(IntPredicate::LLVMIntEQ)
        && test
            .operand(0)
            .direct_callee()
            .is_some_and(|f| &*f.name() == TEAMS_REDUCE)
        && test.operand(1).unsigned() == Some(1)
}

/// Returns true if one of the functions or their callees may query its team or the number of teams,
/// or divides a loop over teams in another way.
fn queries_teams(regions: Vec<Function>) -> bool {
    const IDENTITY_QUERIES: [&str; 5] = ["team", "distribute", "ctaid", "ompx", "grid_dim"];
    const DIVIDED: [&str; 2] = ["__ompvm_for_grid_", TEAMS_REDUCE];
    let mut seen = HashSet::new();
    let mut open = regions;
    while let Some(function) = open.pop() {
        if !seen.insert(function) {
            continue;
        }
        let name = function.name();
        let divided = DIVIDED.iter().any(|d| name.starts_with(d));
        if function.is_declaration() {
            if !divided && IDENTITY_QUERIES.iter().any(|t| name.contains(t)) {
                return true;
            }
            continue;
        }
        for instruction in function.instructions() {
            let call = instruction.opcode() == Opcode::LLVMCall;
            if call && instruction.direct_callee().is_none() {
                // A call through a pointer, or assembly, which may read the block's number.
                return true;
            }
            open.extend(functions_of(instruction));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// Runs `any_grid` on a kernel and a region with these lines.
    fn may_have_any_grid(kernel: &str, region: &str) -> bool {
        let text = format!(
            "declare void @__ompvm_parallel_grid(ptr, i32, i32, i32, i32, ptr, ptr, ptr, i64, i32)
declare void @__ompvm_distribute_whole_4(ptr, i32, i32, ptr, ptr, ptr, ptr, i32, i32)
declare i32 @__kmpc_nvptx_teams_reduce_nowait_v2()
declare i32 @omp_get_num_teams()
declare void @native()
define void @region(ptr %a) {{
{region}  store i32 1, ptr %a
  ret void
}}
define void @kernel(ptr %env, ptr %sum) {{
  %lower = alloca i32
  store i32 0, ptr %lower
  call void @__ompvm_distribute_whole_4(ptr null, i32 0, i32 91, ptr null, ptr %lower, ptr null, ptr null, i32 1, i32 1)
  call void @__ompvm_parallel_grid(ptr null, i32 0, i32 1, i32 -1, i32 -1, ptr @region, ptr null, ptr null, i64 0, i32 0)
{kernel}  ret void
}}
"
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "shape");
        let module = context.create_module_from_ir(buffer).unwrap();
        let kernel = Kernel {
            name: "kernel".into(),
            environment: None,
            parameters: 2,
            refused: None,
            any_grid: false,
            results: 0,
            division: None,
        };
        // SAFETY: the module outlives the call.
        any_grid(unsafe { Module::from_raw(module.as_mut_ptr()) }, &kernel)
    }

    #[test]
    fn a_loop_over_the_grid_may_have_any_number_of_teams() {
        assert!(may_have_any_grid("", ""));
        // The last team stores the sum once.
        assert!(may_have_any_grid(
            "  %last = call i32 @__kmpc_nvptx_teams_reduce_nowait_v2()
  %is = icmp eq i32 %last, 1
  br i1 %is, label %store, label %end
store:
  store i32 7, ptr %sum
  br label %end
end:
",
            ""
        ));
    }

    #[test]
    fn effects_of_single_teams_fix_their_number() {
        assert!(!may_have_any_grid("  store i32 7, ptr %sum\n", ""));
        assert!(!may_have_any_grid(
            "  %old = atomicrmw add ptr %sum, i32 1 seq_cst\n",
            ""
        ));
        assert!(!may_have_any_grid("  call void @native()\n", ""));
    }

    #[test]
    fn a_query_of_the_team_count_fixes_it() {
        assert!(!may_have_any_grid(
            "",
            "  %n = call i32 @omp_get_num_teams()\n"
        ));
        assert!(!may_have_any_grid(
            "",
            "  %f = load ptr, ptr %a\n  call void %f()\n"
        ));
        assert!(may_have_any_grid("", "  call void @native()\n"));
    }

    /// Returns true if a kernel's loop is marked when the region has these lines.
    fn marked(region: &str, second: bool) -> bool {
        let again = match second {
            true => {
                "  call void @__ompvm_parallel_grid(ptr null, i32 0, i32 1, i32 -1, i32 -1, ptr \
                 @region, ptr null, ptr null, i64 0, i32 0)\n"
            }
            false => "",
        };
        let text = format!(
            "declare void @__ompvm_parallel_grid(ptr, i32, i32, i32, i32, ptr, ptr, ptr, i64, i32)
declare void @__ompvm_distribute_whole_8(ptr, i32, i32, ptr, ptr, ptr, ptr, i64, i64)
declare void @__ompvm_for_grid_8(ptr, i32, i32, ptr, ptr, ptr, ptr, i64, i64)
declare i32 @omp_get_thread_num()
declare i32 @__kmpc_nvptx_parallel_reduce_nowait_v2(ptr)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare double @sin(double)
define void @lanes() {{
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret void
}}
define void @region(ptr %a) {{
  call void @__ompvm_for_grid_8(ptr null, i32 0, i32 33, ptr null, ptr null, ptr null, ptr null, i64 1, i64 1)
{region}  ret void
}}
define void @kernel(ptr %env) {{
  call void @__ompvm_distribute_whole_8(ptr null, i32 0, i32 91, ptr null, ptr null, ptr null, ptr null, i64 1, i64 1)
  call void @__ompvm_parallel_grid(ptr null, i32 0, i32 1, i32 -1, i32 -1, ptr @region, ptr null, ptr null, i64 0, i32 0)
{again}  ret void
}}
"
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "shape");
        let module = context.create_module_from_ir(buffer).unwrap();
        let kernel = Kernel {
            name: "kernel".into(),
            environment: None,
            parameters: 1,
            refused: None,
            any_grid: true,
            results: 0,
            division: None,
        };
        // SAFETY: the module outlives the call.
        mark_interchangeable(unsafe { Module::from_raw(module.as_mut_ptr()) }, &kernel);
        let after = module.print_to_string().to_string();
        let tiled = after.contains("call void @__ompvm_for_tiled_8");
        assert_eq!(
            tiled,
            after.contains("call void @__ompvm_distribute_tiled_8")
        );
        tiled
    }

    #[test]
    fn threads_without_identity_queries_are_interchangeable() {
        assert!(marked("", false));
        assert!(marked("  %s = call double @sin(double 1.0)\n", false));
        // Combining lanes does not reveal which iterations they had.
        assert!(marked(
            "  %r = call i32 @__kmpc_nvptx_parallel_reduce_nowait_v2(ptr @lanes)\n",
            false
        ));
    }

    #[test]
    fn a_query_of_the_thread_number_keeps_the_order() {
        assert!(!marked("  %t = call i32 @omp_get_thread_num()\n", false));
        assert!(!marked("  call void @lanes()\n", false));
        assert!(!marked(
            "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n",
            false
        ));
    }

    #[test]
    fn several_loops_keep_the_order() {
        assert!(!marked("", true));
    }

    /// Runs `nests` on a kernel whose region has these lines.
    fn nesting(region: &str) -> bool {
        let text = format!(
            "declare void @__kmpc_parallel_60(ptr, i32, i32, i32, i32, ptr, ptr, ptr, i64, i32)
declare i32 @omp_get_thread_num()
declare void @elsewhere(ptr)
define void @inner() {{
  ret void
}}
define void @starts() {{
  call void @__kmpc_parallel_60(ptr null, i32 0, i32 1, i32 -1, i32 -1, ptr @inner, ptr null, ptr null, i64 0, i32 0)
  ret void
}}
define void @region(ptr %a) {{
{region}  ret void
}}
define void @kernel(ptr %env) {{
  call void @__kmpc_parallel_60(ptr null, i32 0, i32 1, i32 -1, i32 -1, ptr @region, ptr null, ptr null, i64 0, i32 0)
  ret void
}}
"
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "shape");
        let module = context.create_module_from_ir(buffer).unwrap();
        // SAFETY: the module outlives the call.
        nests(unsafe { Module::from_raw(module.as_mut_ptr()) }, "kernel")
    }

    #[test]
    fn regions_that_may_start_others_nest() {
        assert!(nesting("  call void @starts()\n"));
        assert!(nesting("  call void @elsewhere(ptr @starts)\n"));
        assert!(nesting("  %f = load ptr, ptr %a\n  call void %f()\n"));
        assert!(!nesting("  %t = call i32 @omp_get_thread_num()\n"));
        assert!(!nesting("  call void @inner()\n"));
    }
}
