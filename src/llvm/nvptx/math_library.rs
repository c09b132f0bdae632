//! Mathematics libraries for the device, which define functions like `__nv_exp` that compilers call
//! in place of those of `math.h`.
//!
//! NVIDIA's library libdevice defines these very names. The open library libclc defines the same
//! functions under OpenCL's mangled names: `__nv_exp` is `_Z3expd` there. Intrinsics that the code
//! generator does not select (`llvm.exp.f64`) become calls of such functions, too.

use crate::handles::{Function, Module, TypeKind};
use crate::parse::Parsed;
use std::sync::Arc;

/// A library of mathematical functions for the device.
#[derive(Clone, Debug, Default)]
pub enum MathLibrary {
    /// No library: kernels that need one are refused.
    #[default]
    Missing,
    /// NVIDIA's libdevice, as bitcode.
    Libdevice(Arc<[u8]>),
    /// libclc for nvptx64, as bitcode.
    Libclc(Arc<[u8]>),
}

/// Prefix of libdevice's names.
pub(super) const PREFIX: &str = "__nv_";

/// Intrinsics that the code generator does not select, by the name between `llvm.` and the type.
const INTRINSICS: [&str; 23] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2",
    "exp10", "log", "log2", "log10", "pow", "powi", "ldexp", "round", "lround", "llround",
    "sincos",
];

/// libclc's names that differ from libdevice's.
const OTHER_NAMES: [(&str, &str); 3] = [("powi", "pown"), ("fast_exp", "exp"), ("fast_log", "log")];

impl MathLibrary {
    /// Returns true if there is no library.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, MathLibrary::Missing)
    }
}

/// Renames calls of mathematical functions to the library's names.
pub(super) fn name(module: Module, library: &MathLibrary) {
    if library.is_missing() {
        return;
    }
    for function in module.functions().collect::<Vec<_>>() {
        if let Some(name) = intrinsic(function) {
            function.replace_by(module.function_or_declare(&name, function.signature()));
        }
    }
    if let MathLibrary::Libclc(_) = library {
        for function in module.functions().collect::<Vec<_>>() {
            if let Some(plain) = function.name().strip_prefix(PREFIX)
                && function.is_declaration()
                && let Some(mangled) = mangled(function, plain)
            {
                function.set_name(&mangled);
            }
        }
    }
}

/// Links the used parts of the library.
///
/// # Errors
/// Returns LLVM's message if the library is damaged.
pub(super) fn link(parsed: &Parsed, library: &MathLibrary) -> Result<(), String> {
    match library {
        MathLibrary::Missing => return Ok(()),
        MathLibrary::Libdevice(bytes) => super::link(parsed, bytes, "library libdevice")?,
        MathLibrary::Libclc(bytes) => super::link(parsed, bytes, "library libclc")?,
    }
    exact_roots(parsed.module());
    Ok(())
}

/// Tells libdevice to compute square roots exactly, as on the host. LLVM answers its other queries.
fn exact_roots(module: Module) {
    let Some(ask) = module.function("__nvvm_reflect") else {
        return;
    };
    for call in ask.users().filter_map(|user| user.as_call()) {
        if call.direct_callee() != Some(ask) || call.of().int_width().is_none() {
            continue;
        }
        let asked = call.arguments().next().and_then(|of| of.as_variable());
        let text = asked.and_then(|of| of.initializer()?.text());
        if text.is_some_and(|text| text.trim_end_matches('\0') == "__CUDA_PREC_SQRT") {
            call.replace_by(call.of().constant(1));
            // SAFETY: its users have another value. A call that uses the function more than once
            // has it as its argument, which is no variable.
            unsafe { call.erase() };
        }
    }
}

/// Returns the library's name for an intrinsic that the code generator does not select.
fn intrinsic(function: Function) -> Option<String> {
    let name = function.name();
    let mut parts = name.strip_prefix("llvm.")?.split('.');
    let (plain, of) = (parts.next()?, parts.next()?);
    let suffix = match of {
        "f64" => "",
        "f32" => "f",
        _ => return None,
    };
    INTRINSICS
        .contains(&plain)
        .then(|| format!("{PREFIX}{plain}{suffix}"))
}

/// Returns the mangled name: `_Z3powdd` for `pow` on two doubles.
fn mangled(function: Function, plain: &str) -> Option<String> {
    let types: Option<String> = function
        .parameters()
        .map(|parameter| match parameter.of().kind() {
            TypeKind::LLVMFloatTypeKind => Some('f'),
            TypeKind::LLVMDoubleTypeKind => Some('d'),
            TypeKind::LLVMIntegerTypeKind => Some('i'),
            _ => None,
        })
        .collect();
    let types = types?;
    let plain = match types.starts_with('f') {
        true => plain.strip_suffix('f').unwrap_or(plain),
        false => plain,
    };
    let plain = OTHER_NAMES
        .iter()
        .find(|(name, _)| *name == plain)
        .map_or(plain, |(_, other)| other);
    Some(format!("_Z{}{plain}{types}", plain.len()))
}
