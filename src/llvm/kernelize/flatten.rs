//! Inlines everything that a region's function calls into it.
//!
//! The analyses of a region look at one function, so whatever it calls must be part of it.
//! Recursive regions are refused, and so are regions of more than [`LARGEST`] instructions: each
//! call site gets a copy. Code that no region reaches is dropped.
//!
//! Calls of the runtime remain; [`super::runtime_calls`] replaces them.

use super::{Refusal, callee_name, refuse};
use crate::handles::{Function, Instruction, Linkage, Module, Position, Value};
use hashbrown::HashSet;

/// Largest region including everything that it calls, in instructions.
const LARGEST: usize = 20_000;

/// A function that `__kmpc_fork_call` or `__kmpc_fork_call_if` runs.
pub(super) struct Candidate<'m> {
    pub function: Function<'m>,
    pub name: String,
    /// Source location of the construct.
    pub place: Option<String>,
    /// Reason why it cannot be offloaded, if so.
    pub refused: Option<Refusal>,
    /// Functions reachable by calls, not including itself unless it is recursive.
    pub reached: HashSet<Function<'m>>,
}

/// Returns the regions of a module in order.
pub(super) fn candidates(module: Module<'_>) -> Vec<Candidate<'_>> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    for call in module.functions().flat_map(Function::instructions) {
        let forks = callee_name(call)
            .is_some_and(|n| matches!(&*n, "__kmpc_fork_call" | "__kmpc_fork_call_if"));
        if !forks {
            continue;
        }
        let function = call.operands().nth(2).and_then(Value::as_function);
        // The runtime passes two thread numbers.
        let defined = function.filter(|f| !f.is_declaration() && f.parameter_count() >= 2);
        if let Some(function) = defined
            && known.insert(function)
        {
            found.push(candidate(function, call));
        }
    }
    found
}

fn candidate<'m>(function: Function<'m>, fork: Instruction<'m>) -> Candidate<'m> {
    let (reached, size) = reached(function);
    let refused = if reached.contains(&function) {
        Some(refuse("it is recursive"))
    } else if size > LARGEST {
        Some(refuse(format!(
            "it has {size} instructions including everything that it calls, more than {LARGEST}"
        )))
    } else {
        None
    };
    Candidate {
        function,
        name: function.name().into(),
        place: fork.source_location(),
        refused,
        reached,
    }
}

/// Returns the functions that are reachable by calls or address, and the number of all
/// instructions.
fn reached(function: Function<'_>) -> (HashSet<Function<'_>>, usize) {
    let mut found = HashSet::new();
    let mut open = vec![function];
    let mut size = 0;
    while let Some(function) = open.pop() {
        for instruction in function.instructions() {
            size += 1;
            for callee in instruction.operands().filter_map(Value::as_function) {
                if !callee.is_declaration() && found.insert(callee) {
                    open.push(callee);
                }
            }
        }
    }
    (found, size)
}

/// Drops functions that no region reaches, and inlines the others into the regions.
///
/// # Safety
/// Of the module's functions and instructions only handles of the regions' functions are used
/// afterwards.
pub(super) unsafe fn flatten(
    module: Module<'_>,
    candidates: &[Candidate<'_>],
) -> Result<(), String> {
    let regions: HashSet<Function<'_>> = candidates.iter().map(|c| c.function).collect();
    let kept: HashSet<Function<'_>> = candidates
        .iter()
        .filter(|c| c.refused.is_none())
        .flat_map(|c| c.reached.iter().copied())
        .collect();
    for table in [
        "llvm.used",
        "llvm.compiler.used",
        "llvm.global_ctors",
        "llvm.global_dtors",
    ] {
        if let Some(table) = module.variable(table) {
            // SAFETY: code cannot refer to LLVM's lists, and the handle ends here.
            unsafe { table.delete() };
        }
    }
    module.drop_inline_asm();
    for function in module.functions().filter(|f| !f.is_declaration()) {
        let region = regions.contains(&function);
        if !region && !kept.contains(&function) {
            // SAFETY: the caller uses no handle of its instructions.
            unsafe { function.drop_body() };
            continue;
        }
        for name in [
            "optnone",
            "noinline",
            "sspstrong",
            "ssp",
            "sanitize_address",
        ] {
            function.remove_attribute(Position::Function, name);
        }
        function.leave_comdat();
        if region {
            function.set_linkage(Linkage::LLVMExternalLinkage);
        } else {
            function.set_linkage(Linkage::LLVMInternalLinkage);
            function.add_attribute(Position::Function, "alwaysinline", 0);
        }
    }
    // SAFETY: passes keep external functions, as the regions' are; the caller uses no others.
    unsafe {
        module.run_passes(
            c"always-inline,function(sroa,early-cse<memssa>,dse,\
              instcombine<no-verify-fixpoint>,simplifycfg,adce)",
        )
    }
}

/// Simplifies a function after its runtime calls have been replaced.
///
/// # Safety
/// No handle of the function's blocks and instructions is used afterwards.
pub(super) unsafe fn simplify(function: Function<'_>) -> Result<(), Refusal> {
    // SAFETY: the caller's promise.
    unsafe {
        function
            .run_passes(c"sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,adce")
    }
    .map_err(refuse)
}
