//! Finds everything in a module that cannot run, before its first instruction runs.
//!
//! A flat scan visits every instruction of every defined function once. An instruction without a
//! handler must be expressible as a thunk. The scan neither computes reachability nor lowers.

use super::thunk;
use ompvm_ir::{
    Call, Callee, FloatKind, Function, GlobalRef, Inst, Module, Op, Ordering, ParamAttrs, Type,
    TypeId, convention,
};
use ompvm_memory::abi::CallPlan;
use ompvm_support::error::Unsupported;
use rayon::prelude::*;

/// The least number of functions for which threads share the scan; for fewer, starting them costs
/// more.
const MANY_FUNCTIONS: usize = 5_000;

/// Lists everything in defined functions that cannot run, each with its source line.
pub fn find_unsupported(module: &Module) -> Vec<Unsupported> {
    let defined: Vec<&Function> = module
        .functions
        .values()
        .filter(|f| f.body.is_some())
        .collect();
    if defined.len() >= MANY_FUNCTIONS
        && let Ok(pool) = rayon::ThreadPoolBuilder::new().build()
    {
        // A pool of its own, which ends before the guest starts: none of its threads competes with
        // the guest's team.
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

/// Lists everything in one function that cannot run.
fn in_function(module: &Module, function: &Function) -> Vec<Unsupported> {
    let mut found = Vec::new();
    let Some(body) = &function.body else {
        return found;
    };
    if function.attrs.naked {
        found.push(unsupported_at(module, function, None, "a naked function"));
    }
    if super::lower::too_many_slots(module, function) {
        let what = "a function with more values than a frame has slots";
        found.push(unsupported_at(module, function, body.insts.first(), what));
    }
    // A function that this processor cannot execute, or that only LLVM can represent, is reported
    // when it is called.
    let tiles = || function.features.contains("+amx-");
    if !function.features.is_empty() && (tiles() || thunk::lacks_features(function)) {
        return found;
    }
    for inst in &body.insts {
        if let Some(what) = problem(module, function, inst) {
            found.push(unsupported_at(module, function, Some(inst), &what));
        }
    }
    found
}

fn unsupported_at(
    module: &Module,
    function: &Function,
    inst: Option<&Inst>,
    what: &str,
) -> Unsupported {
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
        Op::CallBr { .. } => thunk::check_expressible(module, function, inst).err(),
        Op::Call(call) | Op::Invoke { call, .. } => match &call.callee {
            Callee::Asm(_) => thunk::check_expressible(module, function, inst).err(),
            Callee::Symbol(GlobalRef::Func(id)) => {
                let callee = &module.functions[*id];
                let name = &callee.name;
                let Some(rest) = name.strip_prefix("llvm.") else {
                    return callee
                        .body
                        .is_none()
                        .then(|| native_call_problem(module, function, inst, call))?;
                };
                let odd = [
                    "coro.",
                    "gc.",
                    "experimental.gc",
                    "localescape",
                    "localrecover",
                    "eh.sjlj.callsite",
                    "eh.sjlj.functioncontext",
                    "eh.sjlj.lsda",
                    "eh.sjlj.setup.dispatch",
                    "seh.",
                ];
                if odd.iter().any(|o| rest.starts_with(o)) {
                    return Some(format!("the intrinsic {name}"));
                }
                let base = rest.split('.').next().unwrap_or(rest);
                if matches!(
                    base,
                    "read_register" | "read_volatile_register" | "write_register"
                ) {
                    return register_problem(module, call, base);
                }
                if base == "va_start" && function.calling_convention == convention::WIN64 {
                    return Some("a variadic function with the calling convention `ms_abi`".into());
                }
                let common = COMMON.contains(&base) && !lacks_handlers(module, inst.ty);
                let common = common || rest.starts_with("experimental.noalias");
                let common = common
                    || rest.starts_with("experimental.constrained.")
                        && !rest.contains(".fcmp")
                        && !lacks_handlers(module, inst.ty);
                if common || HANDLED.contains(&base) || HANDLED.contains(&rest) {
                    return None;
                }
                thunk::check_expressible(module, function, inst).err()
            }
            Callee::Pointer(_) => native_call_problem(module, function, inst, call),
            _ => None,
        },
        Op::Switch { cond, .. } => match module.types[function.operand_type(module, *cond)] {
            Type::Int(bits) if bits > 128 => Some(format!("a switch on an integer of {bits} bits")),
            _ => None,
        },
        Op::Load { ordering, .. } => {
            let whole = *ordering == Ordering::NotAtomic && !odd_lanes(module, inst.ty);
            thunk_problem(module, function, inst, (!whole).then_some(inst.ty))
        }
        Op::Store {
            value, ordering, ..
        } => {
            let ty = function.operand_type(module, *value);
            let whole = *ordering == Ordering::NotAtomic && !odd_lanes(module, ty);
            thunk_problem(module, function, inst, (!whole).then_some(ty))
        }
        Op::Binary { a, .. }
        | Op::FNeg { a }
        | Op::ICmp { a, .. }
        | Op::FCmp { a, .. }
        | Op::Cast { a, .. }
        | Op::ShuffleVector { a, .. }
        | Op::ExtractElement { vector: a, .. }
        | Op::InsertElement { vector: a, .. }
        | Op::AtomicRmw { value: a, .. }
        | Op::CmpXchg { expected: a, .. } => {
            let types = [inst.ty, function.operand_type(module, *a)];
            thunk_problem(module, function, inst, types)
        }
        _ => None,
    }
}

/// Returns why a named register cannot be a variable. As in LLVM's code generator only the stack's
/// two registers are reserved; writing them would pull the stack from under the interpreter's
/// frames.
fn register_problem(module: &Module, call: &Call, base: &str) -> Option<String> {
    let name = thunk::metadata_string(module, call.args[0]).unwrap_or_default();
    let known = matches!(&*name, "rsp" | "esp" | "rbp" | "ebp");
    match (known, base) {
        (true, "write_register") => Some(format!("an assignment to the register {name}")),
        (true, _) => None,
        _ => Some(format!("the register {name} as a variable")),
    }
}

/// Returns why an instruction on one of these types cannot be a thunk, if it needs one.
fn thunk_problem(
    module: &Module,
    function: &Function,
    inst: &Inst,
    types: impl IntoIterator<Item = TypeId>,
) -> Option<String> {
    types
        .into_iter()
        .any(|t| lacks_handlers(module, t))
        .then(|| thunk::check_expressible(module, function, inst).err())?
}

/// Intrinsics with handlers for the usual types.
const COMMON: [&str; 14] = [
    "fmuladd", "fma", "fabs", "sqrt", "floor", "ceil", "smax", "smin", "umax", "umin", "abs",
    "ctpop", "fshl", "vector",
];

/// Intrinsics that are never thunks.
const HANDLED: [&str; 39] = [
    "dbg",
    "lifetime",
    "assume",
    "donothing",
    "prefetch",
    "sideeffect",
    "pseudoprobe",
    "var.annotation",
    "invariant",
    "expect",
    "launder",
    "strip",
    "ssa",
    "ptr",
    "ptrmask",
    "threadlocal",
    "memcpy",
    "memmove",
    "memset",
    "stackguard",
    "stackprotector",
    "stacksave",
    "stackrestore",
    "trap",
    "ubsantrap",
    "debugtrap",
    "readcyclecounter",
    "is",
    "objectsize",
    "frameaddress",
    "returnaddress",
    "addressofreturnaddress",
    "get",
    "va_start",
    "va_end",
    "va_copy",
    "eh",
    "init.trampoline",
    "adjust.trampoline",
];

/// Returns true if most handlers do not support values of a type.
fn lacks_handlers(module: &Module, ty: TypeId) -> bool {
    match &module.types[ty] {
        Type::Int(bits) => *bits > 64,
        Type::Float(kind) => !matches!(kind, FloatKind::Float | FloatKind::Double),
        Type::Vector { elem, .. } => lacks_handlers(module, *elem) || odd_lanes(module, ty),
        _ => false,
    }
}

/// Returns true if a vector's lanes are not whole bytes.
fn odd_lanes(module: &Module, ty: TypeId) -> bool {
    match module.types[ty] {
        Type::Vector { elem, .. } => {
            let bits = module.types.lane_bits(elem);
            bits < 8 || !bits.is_power_of_two()
        }
        _ => false,
    }
}

/// Returns why a call that may reach native code cannot be made. Only vectors and wide integers
/// need a close look; all other types can be passed.
fn native_call_problem(
    module: &Module,
    function: &Function,
    inst: &Inst,
    call: &Call,
) -> Option<String> {
    // Through pointers only functions of the program are called in this way.
    if let Callee::Symbol(_) = call.callee
        && let Some(name) = convention::native_name(call.calling_convention)
    {
        return Some(format!(
            "a native function with the calling convention `{name}`"
        ));
    }
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
        Type::Vector { scalable: true, .. } => Some("a scalable vector".into()),
        Type::Amx => Some("an AMX tile".into()),
        Type::Target(name) => Some(format!("the target type {name}")),
        _ => None,
    }
}
