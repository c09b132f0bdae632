//! Inlines everything that a region's function calls into it.
//!
//! The analyses of a region look at one function, so whatever it calls must be part of it.
//! Recursive regions are refused, and so are regions of more than [`LARGEST`] instructions: each
//! call site gets a copy. Code that no region reaches is dropped.
//!
//! Calls of the runtime remain; [`super::runtime_calls`] replaces them.

use super::{Refusal, refuse, source_location};
use crate::error::take_error;
use crate::nvptx::{called, functions, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use hashbrown::{HashMap, HashSet};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage};
use std::ffi::CStr;

/// Largest region including everything that it calls, in instructions.
const LARGEST: usize = 20_000;

/// A function that `__kmpc_fork_call` or `__kmpc_fork_call_if` runs.
pub(super) struct Candidate {
    pub function: LLVMValueRef,
    pub name: String,
    /// Source location of the construct.
    pub place: Option<String>,
    /// Reason why it cannot be offloaded, if so.
    pub refused: Option<Refusal>,
    /// Functions reachable by calls, not including itself unless it is recursive.
    pub reached: HashSet<LLVMValueRef>,
}

/// Returns the regions of a module in order.
pub(super) fn candidates(module: LLVMModuleRef) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut known: HashSet<LLVMValueRef> = HashSet::new();
    for outer in functions(module) {
        for call in instructions(outer) {
            let Some(callee) = called(call) else { continue };
            if !matches!(
                &*name_of(callee),
                "__kmpc_fork_call" | "__kmpc_fork_call_if"
            ) {
                continue;
            }
            let function = llvm!(core::LLVMGetOperand(call, 2));
            let defined = !llvm!(core::LLVMIsAFunction(function)).is_null()
                && llvm!(core::LLVMIsDeclaration(function)) == 0;
            if defined && known.insert(function) {
                found.push(candidate(function, call));
            }
        }
    }
    found
}

fn candidate(function: LLVMValueRef, fork: LLVMValueRef) -> Candidate {
    let (reached, size) = reached(function);
    let refused = if reached.contains(&function) {
        Some(refuse("it is recursive", None))
    } else if size > LARGEST {
        Some(refuse(
            format!(
                "it has {size} instructions including everything that it calls, more than {LARGEST}"
            ),
            None,
        ))
    } else {
        None
    };
    Candidate {
        function,
        name: super::function_name(function),
        place: source_location(fork),
        refused,
        reached,
    }
}

/// Returns the functions that are reachable by calls or address, and the number of all
/// instructions.
fn reached(function: LLVMValueRef) -> (HashSet<LLVMValueRef>, usize) {
    let mut found = HashSet::new();
    let mut open = vec![function];
    let mut size = 0;
    while let Some(function) = open.pop() {
        for instruction in instructions(function) {
            size += 1;
            for index in 0..llvm!(core::LLVMGetNumOperands(instruction)) as u32 {
                let operand = llvm!(core::LLVMGetOperand(instruction, index));
                if operand.is_null() || llvm!(core::LLVMIsAFunction(operand)).is_null() {
                    continue;
                }
                if llvm!(core::LLVMIsDeclaration(operand)) == 0 && found.insert(operand) {
                    open.push(operand);
                }
            }
        }
    }
    (found, size)
}

fn attribute(name: &CStr) -> u32 {
    llvm!(core::LLVMGetEnumAttributeKindForName(
        name.as_ptr(),
        name.count_bytes()
    ))
}

/// Drops functions that no region reaches, and inlines the others into the regions.
pub(super) fn flatten(module: LLVMModuleRef, candidates: &[Candidate]) -> Result<(), String> {
    let regions: HashMap<LLVMValueRef, &Candidate> =
        candidates.iter().map(|c| (c.function, c)).collect();
    let kept: HashSet<LLVMValueRef> = candidates
        .iter()
        .filter(|c| c.refused.is_none())
        .flat_map(|c| c.reached.iter().copied())
        .collect();
    for table in [
        c"llvm.used",
        c"llvm.compiler.used",
        c"llvm.global_ctors",
        c"llvm.global_dtors",
    ] {
        let table = llvm!(core::LLVMGetNamedGlobal(module, table.as_ptr()));
        if !table.is_null() {
            llvm!(core::LLVMDeleteGlobal(table));
        }
    }
    llvm!(core::LLVMSetModuleInlineAsm2(module, c"".as_ptr(), 0));
    let context = llvm!(core::LLVMGetModuleContext(module));
    let always = attribute(c"alwaysinline");
    let always = llvm!(core::LLVMCreateEnumAttribute(context, always, 0));
    let index = LLVMAttributeFunctionIndex;
    for function in functions(module).collect::<Vec<_>>() {
        if llvm!(core::LLVMIsDeclaration(function)) != 0 {
            continue;
        }
        let region = regions.get(&function);
        if region.is_none() && !kept.contains(&function) {
            crate::shim::drop_body(function);
            continue;
        }
        for name in [
            c"optnone",
            c"noinline",
            c"sspstrong",
            c"ssp",
            c"sanitize_address",
        ] {
            llvm!(core::LLVMRemoveEnumAttributeAtIndex(
                function,
                index,
                attribute(name)
            ));
        }
        llvm!(comdat::LLVMSetComdat(function, std::ptr::null_mut()));
        if region.is_some() {
            llvm!(core::LLVMSetLinkage(
                function,
                LLVMLinkage::LLVMExternalLinkage
            ));
        } else {
            llvm!(core::LLVMSetLinkage(
                function,
                LLVMLinkage::LLVMInternalLinkage
            ));
            llvm!(core::LLVMAddAttributeAtIndex(function, index, always));
        }
    }
    run_passes(
        module,
        c"always-inline,function(sroa,early-cse<memssa>,dse,instcombine<no-verify-fixpoint>,simplifycfg,adce)",
    )
}

/// Simplifies a function after its runtime calls have been replaced.
pub(super) fn simplify(function: LLVMValueRef) -> Result<(), Refusal> {
    run_function_passes(
        function,
        c"sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,adce",
    )
}

/// Runs passes over one function, without a target.
pub(super) fn run_function_passes(function: LLVMValueRef, passes: &CStr) -> Result<(), Refusal> {
    let options = llvm!(transforms::pass_builder::LLVMCreatePassBuilderOptions());
    let result = take_error(llvm!(transforms::pass_builder::LLVMRunPassesOnFunction(
        function,
        passes.as_ptr(),
        std::ptr::null_mut(),
        options
    )));
    llvm!(transforms::pass_builder::LLVMDisposePassBuilderOptions(
        options
    ));
    result.map_err(|e| refuse(e, None))
}

/// Runs passes over a module, without a target.
pub(super) fn run_passes(module: LLVMModuleRef, passes: &CStr) -> Result<(), String> {
    let options = llvm!(transforms::pass_builder::LLVMCreatePassBuilderOptions());
    let result = take_error(llvm!(transforms::pass_builder::LLVMRunPasses(
        module,
        passes.as_ptr(),
        std::ptr::null_mut(),
        options
    )));
    llvm!(transforms::pass_builder::LLVMDisposePassBuilderOptions(
        options
    ));
    result
}
