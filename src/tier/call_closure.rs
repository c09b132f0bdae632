//! Call closures of units: adds to a unit the functions that its code could not call otherwise.
//!
//! The interpreter cannot be entered through a function whose signature has no call plan
//! ([`FuncRef::plan`]), such as one that takes a vector of 512 bits. To the interpreter, compiled
//! code is native code, so it cannot call such a function while that is interpreted. [`complete`]
//! adds the functions without a plan that a unit may call, transitively.
//!
//! `opt` compiles everything before anything runs and needs none of this. [`super::units`] finds
//! functions that must switch together for other reasons.
//!
//! [`FuncRef::plan`]: ompvm_memory::func::FuncRef::plan

use cranelift_entity::EntityRef;
use hashbrown::HashSet;
use ompvm_ir::{Call, Callee, FuncId, GlobalRef};
use ompvm_jit::{Program, Unit};
use ompvm_memory::image::Image;

/// Adds the call closure of a unit to it.
///
/// # Errors
/// Fails if a function in the closure must stay interpreted.
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
                    "it calls `{name}`, which stays interpreted and which compiled code cannot call"
                ));
            }
            chosen.push(n);
            todo.push(n);
        }
    }
    Ok(())
}

/// Reason why a stranded function stays in the tier below.
pub const STRANDED: &str =
    "it calls a function that stays interpreted and that compiled code cannot call";

/// Returns the functions that must not be compiled because those in `refused` are not: they call
/// one for which the interpreter cannot be entered, directly or through others of that kind.
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

/// Returns the guest functions without a call plan that a call may reach.
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
        // An indirect call may reach any function of its type.
        Callee::Symbol(_) | Callee::Pointer(_) => {
            let all = module.functions.iter();
            let fits = all.filter(|(_, f)| f.ty == call.fn_ty).map(|(id, _)| id);
            fits.filter(|&id| must(id)).collect()
        }
    }
}
