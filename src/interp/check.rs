//! What of a module cannot run, found before its first instruction does.
//!
//! A flat scan: every instruction of every defined function is asked once; what has no handler
//! must be expressible as a thunk. What not: no reachability, no lowering.

use super::thunk;
use crate::ir::{Call, Callee, Function, GlobalRef, Inst, Module, Op, ParamAttrs, Type, TypeId};
use crate::memory::abi::CallPlan;
use crate::support::error::Unsupported;
use rayon::prelude::*;

/// From this many functions on the scan is shared by threads; below, starting them costs more.
const MANY_FUNCTIONS: usize = 5_000;

/// Everything in defined functions that cannot run, each with its source line.
pub fn unsupported(module: &Module) -> Vec<Unsupported> {
    let defined: Vec<&Function> = module
        .functions
        .values()
        .filter(|f| f.body.is_some())
        .collect();
    if defined.len() >= MANY_FUNCTIONS
        && let Ok(pool) = rayon::ThreadPoolBuilder::new().build()
    {
        // A pool of its own, gone before the guest starts: no thread of ours sits beside its team.
        return pool.install(|| {
            defined
                .par_iter()
                .flat_map_iter(|f| in_function(module, f))
                .collect()
        });
    }
    defined
        .iter()
        .flat_map(|f| in_function(module, f))
        .collect()
}

/// What cannot run of one function.
fn in_function(module: &Module, function: &Function) -> Vec<Unsupported> {
    let mut found = Vec::new();
    let Some(body) = &function.body else {
        return found;
    };
    if function.attrs.naked {
        found.push(at(module, function, None, "a naked function"));
    }
    for inst in &body.insts {
        if let Some(what) = problem(module, function, inst) {
            found.push(at(module, function, Some(inst), &what));
        }
    }
    found
}

fn at(module: &Module, function: &Function, inst: Option<&Inst>, what: &str) -> Unsupported {
    Unsupported {
        what: what.to_owned(),
        place: inst.and_then(|i| i.loc).map(|l| module.debug.describe(l)),
        function: Some(function.name.to_string()),
    }
}

fn problem(module: &Module, function: &Function, inst: &Inst) -> Option<String> {
    if let Some(why) = odd_type(module, inst.ty) {
        return Some(why);
    }
    match &inst.op {
        Op::Unsupported(text) => Some(text.to_string()),
        Op::CallBr { .. } => thunk::expressible(module, function, inst).err(),
        Op::Call(call) | Op::Invoke { call, .. } => match &call.callee {
            Callee::Asm(_) => thunk::expressible(module, function, inst).err(),
            Callee::Symbol(GlobalRef::Func(id)) => {
                let callee = &module.functions[*id];
                let name = &callee.name;
                let Some(rest) = name.strip_prefix("llvm.") else {
                    return callee
                        .body
                        .is_none()
                        .then(|| across(module, function, inst, call))?;
                };
                let odd = [
                    "coro.",
                    "gc.",
                    "experimental.gc",
                    "localescape",
                    "localrecover",
                    "eh.sjlj",
                    "seh.",
                ];
                odd.iter()
                    .any(|o| rest.starts_with(o))
                    .then(|| format!("the intrinsic {name}"))
            }
            Callee::Pointer(_) => across(module, function, inst, call),
            _ => None,
        },
        _ => None,
    }
}

/// Why a call that may reach native code cannot. Only vectors and wide integers are looked at
/// closely: everything else travels.
fn across(module: &Module, function: &Function, inst: &Inst, call: &Call) -> Option<String> {
    let odd = |ty: TypeId| match &module.types[ty] {
        Type::Vector { .. } => true,
        Type::Int(bits) => *bits > 128,
        _ => false,
    };
    let types: Vec<TypeId> = call
        .args
        .iter()
        .map(|&a| function.operand_type(module, a))
        .collect();
    if !odd(inst.ty) && !types.iter().any(|&t| odd(t)) {
        return None;
    }
    let args: Vec<_> = types
        .into_iter()
        .map(|t| (t, ParamAttrs::default()))
        .collect();
    let ret = (inst.ty, &call.ret_attrs);
    CallPlan::new(module, call.fn_ty, &args, ret, false)
        .err()
        .map(|why| format!("a call with {why}"))
}

fn odd_type(module: &Module, ty: TypeId) -> Option<String> {
    match &module.types[ty] {
        Type::Int(bits) if *bits > 128 => Some(format!("an integer of {bits} bits")),
        Type::Vector { scalable: true, .. } => Some("a scalable vector".into()),
        Type::Amx => Some("an AMX tile".into()),
        Type::Target(name) => Some(format!("the target type {name}")),
        _ => None,
    }
}
