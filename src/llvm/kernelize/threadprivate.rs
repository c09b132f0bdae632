//! Privatization of threadprivate variables (`threadprivate`, `thread_local`) in a region.
//!
//! [`survey`] examines the program's threadprivate variables before regions are flattened;
//! [`replace`] replaces them by private variables in regions' functions.
//!
//! The contents of a threadprivate variable outlive a region on each thread. But if every read in
//! the program is preceded, in the same run of a region's function, by writes that cover it, nobody
//! can observe whether they do. A value that is only added to itself is not observed either. All
//! functions of the program are checked: in regions and their callees a read may follow a write; in
//! others no read is allowed, because a region may have run between the two.
//!
//! Native code is assumed not to know the program's internal variables, and not to call functions
//! that only regions call.
//!
//! The memory for each iteration is left to [`super::kernel_text`], and values that iterations
//! accumulate there to [`super::array_reduction`].

use super::flatten::Candidate;
use super::{Refusal, refuse, users};
use crate::nvptx::{called, functions, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use crate::shim::{self, Misuse};
use hashbrown::HashSet;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::prelude::*;

/// Calls that return the address of a thread's copy: of thread-local storage, and without it.
const ADDRESS: &str = "llvm.threadlocal.address.p0";
const CACHED: &str = "__kmpc_threadprivate_cached";

/// A threadprivate variable.
#[derive(Debug)]
pub(super) struct Threadprivate {
    variable: LLVMValueRef,
    name: String,
    size: u64,
    refused: Option<Refusal>,
}

/// Returns the variable whose copy's address a call returns.
fn given(call: LLVMValueRef) -> Option<LLVMValueRef> {
    let index = match &*name_of(called(call)?) {
        ADDRESS => 0,
        CACHED => 2,
        _ => return None,
    };
    Some(llvm!(core::LLVMGetOperand(call, index)))
}

fn owner(instruction: LLVMValueRef) -> LLVMValueRef {
    let block = llvm!(core::LLVMGetInstructionParent(instruction));
    llvm!(core::LLVMGetBasicBlockParent(block))
}

/// Returns the functions that only regions' functions call.
fn inside(candidates: &[Candidate]) -> HashSet<LLVMValueRef> {
    let kept = candidates.iter().filter(|c| c.refused.is_none());
    let regions: HashSet<LLVMValueRef> = kept.clone().map(|c| c.function).collect();
    let mut found: HashSet<LLVMValueRef> = kept.flat_map(|c| c.reached.iter().copied()).collect();
    loop {
        let called_there = |function: LLVMValueRef| {
            users(function).into_iter().all(|user| {
                called(user) == Some(function) && {
                    let from = owner(user);
                    found.contains(&from) || regions.contains(&from)
                }
            })
        };
        let odd: Vec<LLVMValueRef> = found
            .iter()
            .copied()
            .filter(|&f| !regions.contains(&f) && !called_there(f))
            .collect();
        if odd.is_empty() {
            found.extend(regions);
            return found;
        }
        for function in odd {
            found.remove(&function);
        }
    }
}

/// Returns the program's threadprivate variables, each with the reason why regions cannot use it,
/// if there is one.
pub(super) fn survey(module: LLVMModuleRef, candidates: &[Candidate]) -> Vec<Threadprivate> {
    let mut found: Vec<Threadprivate> = Vec::new();
    let mut calls: Vec<(usize, LLVMValueRef)> = Vec::new();
    for function in functions(module) {
        for call in instructions(function) {
            let Some(variable) = given(call) else {
                continue;
            };
            let known = found.iter().position(|o| o.variable == variable);
            let number = known.unwrap_or_else(|| {
                found.push(own(module, variable));
                found.len() - 1
            });
            calls.push((number, call));
        }
    }
    if found.is_empty() {
        return found;
    }
    let inside = inside(candidates);
    for (number, call) in calls {
        let own = &mut found[number];
        if own.refused.is_none() && !inside.contains(&owner(call)) {
            own.check(call, true);
        }
    }
    found
}

fn own(module: LLVMModuleRef, variable: LLVMValueRef) -> Threadprivate {
    let layout = llvm!(target::LLVMGetModuleDataLayout(module));
    let mut own = Threadprivate {
        variable,
        name: name_of(variable).into_string(),
        size: 0,
        refused: None,
    };
    if llvm!(core::LLVMIsAGlobalVariable(variable)).is_null()
        || llvm!(core::LLVMIsDeclaration(variable)) != 0
        || !matches!(
            llvm!(core::LLVMGetLinkage(variable)),
            LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage
        )
    {
        own.refused = Some(own.refusal("may be used by other files", None));
        return own;
    }
    let of = llvm!(core::LLVMGlobalGetValueType(variable));
    own.size = llvm!(target::LLVMABISizeOfType(layout, of));
    if users(variable)
        .into_iter()
        .any(|u| given(u) != Some(variable))
    {
        own.refused = Some(own.refusal("has an address that escapes", None));
    }
    own
}

impl Threadprivate {
    fn refusal(&self, why: &str, at: Option<LLVMValueRef>) -> Refusal {
        refuse(
            format!("the threadprivate variable `{}` {why}", self.name),
            at,
        )
    }

    /// Follows the uses of a copy's address.
    fn check(&mut self, address: LLVMValueRef, outside: bool) {
        if let Err((misuse, at)) = shim::check_initialized(address, self.size, outside) {
            let why = match misuse {
                Misuse::ReadBeforeWrite if outside => {
                    "is read where no region has written it before"
                }
                Misuse::ReadBeforeWrite => "is read before all of it is written",
                Misuse::Escapes => "has an address that escapes",
            };
            self.refused = Some(self.refusal(why, at));
        }
    }
}

/// Replaces threadprivate variables in regions' functions, and refuses regions where that is
/// impossible.
pub(super) fn replace(variables: &mut [Threadprivate], candidates: &mut [Candidate]) {
    let mut used: Vec<(usize, usize)> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        if candidate.refused.is_some() {
            continue;
        }
        for (number, own) in variables.iter_mut().enumerate() {
            let calls: Vec<LLVMValueRef> = instructions(candidate.function)
                .filter(|&i| given(i) == Some(own.variable))
                .collect();
            if calls.is_empty() {
                continue;
            }
            used.push((index, number));
            if own.refused.is_some() {
                continue;
            }
            let copy = own.copy(candidate.function);
            for call in calls {
                llvm!(core::LLVMReplaceAllUsesWith(call, copy));
                llvm!(core::LLVMInstructionEraseFromParent(call));
            }
            // An inner region may change the host's copy.
            let forks = instructions(candidate.function)
                .any(|i| called(i).is_some_and(|f| name_of(f).starts_with("__kmpc_fork")));
            own.check(copy, forks);
        }
    }
    for (index, number) in used {
        let candidate = &mut candidates[index];
        candidate.refused = candidate
            .refused
            .take()
            .or(variables[number].refused.clone());
    }
}

impl Threadprivate {
    /// Creates a private variable of the same type.
    fn copy(&self, function: LLVMValueRef) -> LLVMValueRef {
        let module = llvm!(core::LLVMGetGlobalParent(function));
        let context = llvm!(core::LLVMGetModuleContext(module));
        let builder = llvm!(core::LLVMCreateBuilderInContext(context));
        let entry = llvm!(core::LLVMGetEntryBasicBlock(function));
        let first = llvm!(core::LLVMGetFirstInstruction(entry));
        llvm!(core::LLVMPositionBuilderBefore(builder, first));
        let of = llvm!(core::LLVMGlobalGetValueType(self.variable));
        let copy = llvm!(core::LLVMBuildAlloca(builder, of, c"".as_ptr()));
        let align = llvm!(core::LLVMGetAlignment(self.variable));
        if align > 0 {
            llvm!(core::LLVMSetAlignment(copy, align));
        }
        llvm!(core::LLVMDisposeBuilder(builder));
        copy
    }
}
