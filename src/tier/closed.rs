//! Units whose code calls no interpreted function that native code cannot call.
//!
//! What: the interpreter cannot be entered by a function whose signature has no plan
//! ([`FuncRef::plan`]), such as one that takes a vector of 256 bits, and to it compiled code is
//! native code. [`complete`] adds to a unit what it may call so, and what that calls so.
//! What not: `opt` compiles everything before anything runs and needs none of this; what must
//! switch together for other reasons is told by [`super::units`].
//!
//! [`FuncRef::plan`]: crate::memory::func::FuncRef::plan

use crate::ir::{Call, Callee, FuncId, GlobalRef};
use crate::jit::{Program, Unit};
use crate::memory::image::Image;
use cranelift_entity::EntityRef;
use hashbrown::HashSet;

/// Completes a unit.
///
/// # Errors
/// That a function it needs must stay interpreted.
pub fn complete(image: &Image, program: &Program, unit: &mut Unit) -> Result<(), String> {
    let module = &image.module;
    let Some(chosen) = unit.functions.as_mut() else {
        return Ok(());
    };
    let entered: Vec<usize> = unit.entries.iter().map(|e| e.function).collect();
    let mut todo: Vec<usize> = chosen.iter().chain(&entered).copied().collect();
    while let Some(caller) = todo.pop() {
        let body = module.functions[FuncId::new(caller)].body.iter();
        let calls = body.flat_map(|b| &b.insts).filter_map(|i| i.op.as_call());
        for callee in calls.flat_map(|call| needed(image, call)) {
            let n = callee.index();
            if chosen.contains(&n) {
                continue;
            }
            if entered.contains(&n) || !program.can_compile(callee) {
                let name = &module.functions[callee].name;
                return Err(format!(
                    "it calls `{name}`, which stays interpreted and cannot be called then"
                ));
            }
            chosen.push(n);
            todo.push(n);
        }
    }
    Ok(())
}

/// Why such a function stays in the tier below.
pub const STRANDED: &str =
    "it calls a function that cannot be compiled, and that compiled code cannot call then";

/// Functions that must not be compiled since these are not: they call one that the interpreter cannot be entered
/// for, directly or by way of others of that kind.
pub fn stranded(image: &Image, refused: impl IntoIterator<Item = FuncId>) -> HashSet<FuncId> {
    let module = &image.module;
    let closed = |id: &FuncId| image.func_ref(*id).is_some_and(|f| f.plan().is_err());
    let mut todo: Vec<FuncId> = refused.into_iter().filter(closed).collect();
    let mut found = HashSet::new();
    while let Some(callee) = todo.pop() {
        for (id, function) in &module.functions {
            let body = function.body.iter();
            let mut calls = body.flat_map(|b| &b.insts).filter_map(|i| i.op.as_call());
            if calls.any(|call| needed(image, call).contains(&callee))
                && found.insert(id)
                && closed(&id)
            {
                todo.push(id);
            }
        }
    }
    found
}

/// The guest's functions that a call may reach and that have to be compiled for it.
fn needed(image: &Image, call: &Call) -> Vec<FuncId> {
    let module = &image.module;
    let must = |id: FuncId| {
        let func = image.func_ref(id);
        func.is_some_and(|f| f.plan().is_err())
    };
    match &call.callee {
        Callee::Symbol(GlobalRef::Func(id)) => {
            Some(*id).filter(|&id| must(id)).into_iter().collect()
        }
        Callee::Asm(_) => Vec::new(),
        // Whatever has the type.
        Callee::Symbol(_) | Callee::Pointer(_) => {
            let all = module.functions.iter();
            let fits = all.filter(|(_, f)| f.ty == call.fn_ty).map(|(id, _)| id);
            fits.filter(|&id| must(id)).collect()
        }
    }
}
