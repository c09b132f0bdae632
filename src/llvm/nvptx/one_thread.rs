//! Replaces the device's instructions in code whose blocks have one thread, for processors.
//!
//! Such a block is alone on its device: the position of its thread and of the block is 0, barriers
//! wait for nobody, and operations of a warp have one lane. Which part of a launch a block executes
//! is its share in the league (`__ompvm_league`), as for a device of a group. So a loop over the
//! grid becomes a loop over adjacent iterations.
//!
//! Instructions without a row here stay, and the allowlist refuses kernels that use them, unless
//! the processor's device provides a function for them.

use super::math_library::PREFIX;
use crate::handles::{Call, Function, Module, Opcode, TypeKind, Value};
use std::ffi::CStr;

/// Passes over kernels, their functions and the runtime. They unroll no loop that runs often, since
/// the code is optimized for the processor later.
pub(super) const PASSES: &CStr = c"thinlto-pre-link<O3>";

/// Replacement of an instruction.
enum Replacement {
    /// A number.
    Number(u64),
    /// Its argument of this number.
    Argument(u32),
    /// Its argument of this number as 1 or 0.
    Bit(u32),
    /// Nothing.
    Nothing,
}

/// Instructions by the beginning of their names after `llvm.nvvm.`; the first that fits counts.
const ROWS: &[(&str, Replacement)] = &[
    ("read.ptx.sreg.tid.", Replacement::Number(0)),
    ("read.ptx.sreg.ntid.", Replacement::Number(1)),
    ("read.ptx.sreg.ctaid.", Replacement::Number(0)),
    ("read.ptx.sreg.nctaid.", Replacement::Number(1)),
    ("read.ptx.sreg.laneid", Replacement::Number(0)),
    ("read.ptx.sreg.warpid", Replacement::Number(0)),
    ("read.ptx.sreg.warpsize", Replacement::Number(32)),
    ("read.ptx.sreg.lanemask.eq", Replacement::Number(1)),
    ("read.ptx.sreg.lanemask.lt", Replacement::Number(0)),
    ("read.ptx.sreg.lanemask.le", Replacement::Number(1)),
    ("read.ptx.sreg.lanemask.gt", Replacement::Number(!1)),
    ("read.ptx.sreg.lanemask.ge", Replacement::Number(!0)),
    ("activemask", Replacement::Number(1)),
    ("barrier", Replacement::Nothing),
    ("bar.sync", Replacement::Nothing),
    ("bar.warp.sync", Replacement::Nothing),
    // (lanes, value, lane, clamp)
    ("shfl.sync.", Replacement::Argument(1)),
    // (lanes, condition)
    ("vote.any.sync", Replacement::Argument(1)),
    ("vote.all.sync", Replacement::Argument(1)),
    ("vote.uni.sync", Replacement::Number(1)),
    ("vote.ballot.sync", Replacement::Bit(1)),
    ("match.any.sync.i32", Replacement::Number(1)),
    // (value, lanes)
    ("redux.sync.", Replacement::Argument(0)),
];

/// Replaces the instructions of [`ROWS`].
pub(super) fn replace(module: Module) {
    for function in module.functions() {
        let name = function.name();
        let Some(rest) = name.strip_prefix("llvm.nvvm.") else {
            continue;
        };
        let Some((_, by)) = ROWS.iter().find(|(start, _)| rest.starts_with(start)) else {
            continue;
        };
        let calls = function.users().filter_map(|user| user.as_call());
        for call in calls.filter(|call| call.direct_callee() == Some(function)) {
            if let Some(value) = value(call, by) {
                call.replace_by(value);
            }
            // SAFETY: nothing uses the call, and its handle is not used again.
            unsafe { call.erase() };
        }
    }
}

/// Returns the value of a call, if it has one.
fn value<'m>(call: Call<'m>, by: &Replacement) -> Option<Value<'m>> {
    let of = call.of();
    match *by {
        Replacement::Nothing => (!of.is_void()).then(|| of.zero()),
        Replacement::Number(n) => Some(of.constant(n)),
        Replacement::Argument(n) => Some(call.argument(n)),
        Replacement::Bit(n) => {
            let builder = of.context().builder();
            let bit = call.argument(n);
            Some(builder.before(call).cast(Opcode::LLVMZExt, bit, of))
        }
    }
}

/// Mathematical functions that LLVM has as intrinsics, and can move and vectorize as such: names of
/// `math.h` and of the intrinsic.
const INTRINSICS: [(&str, &str); 25] = [
    ("acos", "acos"),
    ("asin", "asin"),
    ("atan", "atan"),
    ("atan2", "atan2"),
    ("ceil", "ceil"),
    ("copysign", "copysign"),
    ("cos", "cos"),
    ("cosh", "cosh"),
    ("exp", "exp"),
    ("exp2", "exp2"),
    ("fabs", "fabs"),
    ("floor", "floor"),
    ("fma", "fma"),
    ("fmax", "maxnum"),
    ("fmin", "minnum"),
    ("log", "log"),
    ("log10", "log10"),
    ("log2", "log2"),
    ("pow", "pow"),
    ("rint", "rint"),
    ("sin", "sin"),
    ("sinh", "sinh"),
    ("sqrt", "sqrt"),
    ("tan", "tan"),
    ("trunc", "trunc"),
];

/// Gives calls of the device's mathematics library the names of LLVM's intrinsics.
pub(super) fn name_functions(module: Module) {
    for function in module.functions().collect::<Vec<_>>() {
        let name = function.name();
        if let Some(plain) = name.strip_prefix(PREFIX)
            && function.is_declaration()
            && let Some(intrinsic) = intrinsic(function, plain)
        {
            function.replace_by(intrinsic);
        }
    }
}

/// Returns the intrinsic for a function of the mathematics library.
fn intrinsic<'m>(function: Function<'m>, plain: &str) -> Option<Function<'m>> {
    let of = function.signature().result()?;
    let plain = match of.kind() {
        TypeKind::LLVMDoubleTypeKind => plain,
        TypeKind::LLVMFloatTypeKind => plain.strip_suffix('f')?,
        _ => return None,
    };
    let (_, name) = INTRINSICS.iter().find(|(known, _)| *known == plain)?;
    let found = function.module().intrinsic(&format!("llvm.{name}"), &[of]);
    (found.signature() == function.signature()).then_some(found)
}
