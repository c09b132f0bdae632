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
use super::{Refusal, callee_name, calls, refuse, refuse_at};
use crate::handles::{Alloca, Function, Instruction, Linkage, Module, Value, Variable};
use crate::shim::{self, Misuse};
use hashbrown::HashSet;

/// Calls that return the address of a thread's copy: of thread-local storage, and without it.
const ADDRESS: &str = "llvm.threadlocal.address.p0";
const CACHED: &str = "__kmpc_threadprivate_cached";

/// A threadprivate variable.
#[derive(Debug)]
pub(super) struct Threadprivate<'m> {
    variable: Value<'m>,
    name: Box<str>,
    size: u64,
    refused: Option<Refusal>,
}

/// Returns the variable whose copy's address a call returns.
fn variable_of<'m>(call: impl Into<Value<'m>>) -> Option<Value<'m>> {
    let call = call.into();
    let index = match &*callee_name(call)? {
        ADDRESS => 0,
        CACHED => 2,
        _ => return None,
    };
    call.operands().nth(index)
}

/// Returns the functions that only regions' functions call.
fn inside<'m>(candidates: &[Candidate<'m>]) -> HashSet<Function<'m>> {
    let kept = candidates.iter().filter(|c| c.refused.is_none());
    let regions: HashSet<Function<'m>> = kept.clone().map(|c| c.function).collect();
    let mut found: HashSet<Function<'m>> = kept.flat_map(|c| c.reached.iter().copied()).collect();
    loop {
        let called_there = |function: Function<'m>| {
            function.users().all(|user| {
                let call = user.as_instruction();
                call.is_some_and(|call| {
                    let from = call.function();
                    call.direct_callee() == Some(function)
                        && (found.contains(&from) || regions.contains(&from))
                })
            })
        };
        let odd: Vec<Function<'m>> = found
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
pub(super) fn survey<'m>(
    module: Module<'m>,
    candidates: &[Candidate<'m>],
) -> Vec<Threadprivate<'m>> {
    let mut found: Vec<Threadprivate<'m>> = Vec::new();
    let mut uses: Vec<(usize, Instruction<'m>)> = Vec::new();
    for call in module.functions().flat_map(Function::instructions) {
        let Some(variable) = variable_of(call) else {
            continue;
        };
        let known = found.iter().position(|o| o.variable == variable);
        let number = known.unwrap_or_else(|| {
            found.push(Threadprivate::of(module, variable));
            found.len() - 1
        });
        uses.push((number, call));
    }
    if found.is_empty() {
        return found;
    }
    let inside = inside(candidates);
    for (number, call) in uses {
        let own = &mut found[number];
        if own.refused.is_none() && !inside.contains(&call.function()) {
            own.check(call, true);
        }
    }
    found
}

impl<'m> Threadprivate<'m> {
    fn of(module: Module<'m>, variable: Value<'m>) -> Threadprivate<'m> {
        let mut own = Threadprivate {
            variable,
            name: variable.name(),
            size: 0,
            refused: None,
        };
        let internal = |v: &Variable<'m>| {
            let linkage = v.linkage();
            !v.is_declaration()
                && matches!(
                    linkage,
                    Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage
                )
        };
        let Some(definition) = variable.as_variable().filter(internal) else {
            own.refused = Some(own.refusal("may be used by other files", None));
            return own;
        };
        own.size = module.layout().size(definition.contents());
        if variable.users().any(|u| variable_of(u) != Some(variable)) {
            own.refused = Some(own.refusal("has an address that escapes", None));
        }
        own
    }

    fn refusal(&self, why: &str, at: Option<Value<'m>>) -> Refusal {
        let reason = format!("the threadprivate variable `{}` {why}", self.name);
        match at {
            Some(at) => refuse_at(reason, at),
            None => refuse(reason),
        }
    }

    /// Follows the uses of a copy's address.
    fn check(&mut self, address: impl Into<Instruction<'m>>, outside: bool) {
        if let Err((misuse, at)) = shim::check_initialized(address.into(), self.size, outside) {
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
pub(super) fn replace<'m>(variables: &mut [Threadprivate<'m>], candidates: &mut [Candidate<'m>]) {
    let mut used: Vec<(usize, usize)> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        if candidate.refused.is_some() {
            continue;
        }
        for (number, own) in variables.iter_mut().enumerate() {
            let calls_of: Vec<Instruction<'m>> = candidate
                .function
                .instructions()
                .filter(|&i| variable_of(i) == Some(own.variable))
                .collect();
            if calls_of.is_empty() {
                continue;
            }
            used.push((index, number));
            let Some(variable) = own.variable.as_variable().filter(|_| own.refused.is_none())
            else {
                continue;
            };
            let copy = copy(variable, candidate.function);
            for call in calls_of {
                call.replace_by(copy);
                // SAFETY: the copy has replaced its value, and the list is not used again.
                unsafe { call.erase() };
            }
            // An inner region may change the host's copy.
            let mut instructions = candidate.function.instructions();
            let forks = instructions.any(|i| calls(i, "__kmpc_fork"));
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

/// Creates a private variable of the same type.
fn copy<'m>(variable: Variable<'m>, function: Function<'m>) -> Alloca<'m> {
    let builder = function.module().context().builder();
    let copy = builder.at_entry(function).alloca(variable.contents());
    if variable.alignment() > 0 {
        copy.set_alignment(variable.alignment());
    }
    copy
}
