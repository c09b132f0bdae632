//! Mathematics libraries for the device, which define functions like `__nv_exp` that compilers call
//! in place of those of `math.h`.
//!
//! NVIDIA's library libdevice defines these very names. The open library libclc defines the same
//! functions under OpenCL's mangled names: `__nv_exp` is `_Z3expd` there. Intrinsics that the code
//! generator does not select (`llvm.exp.f64`) become calls of such functions, too.

use super::functions;
use crate::parse::Parsed;
use crate::raw::{copy_text, llvm};
use crate::reader::{list, name_of};
use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::prelude::*;
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
pub(super) fn name(module: LLVMModuleRef, library: &MathLibrary) {
    if library.is_missing() {
        return;
    }
    for function in functions(module).collect::<Vec<_>>() {
        if let Some(name) = intrinsic(function) {
            replace(module, function, &name);
        }
    }
    if let MathLibrary::Libclc(_) = library {
        for function in functions(module).collect::<Vec<_>>() {
            let name = name_of(function);
            if let Some(plain) = name.strip_prefix(PREFIX)
                && llvm!(core::LLVMIsDeclaration(function)) != 0
                && let Some(mangled) = mangled(function, plain)
            {
                llvm!(core::LLVMSetValueName2(
                    function,
                    mangled.as_ptr().cast(),
                    mangled.len()
                ));
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
    exact_roots(parsed.module);
    Ok(())
}

/// Tells libdevice to compute square roots exactly, as on the host. LLVM answers its other queries.
fn exact_roots(module: LLVMModuleRef) {
    let Some(ask) = super::function(module, "__nvvm_reflect") else {
        return;
    };
    let mut calls = Vec::new();
    let mut usage = llvm!(core::LLVMGetFirstUse(ask));
    while !usage.is_null() {
        calls.push(llvm!(core::LLVMGetUser(usage)));
        usage = llvm!(core::LLVMGetNextUse(usage));
    }
    for call in calls {
        if super::called(call) != Some(ask) {
            continue;
        }
        let asked = llvm!(core::LLVMGetOperand(call, 0));
        if llvm!(core::LLVMIsAGlobalVariable(asked)).is_null()
            || llvm!(core::LLVMIsDeclaration(asked)) != 0
        {
            continue;
        }
        let text = llvm!(core::LLVMGetInitializer(asked));
        if llvm!(core::LLVMIsConstantString(text)) == 0 {
            continue;
        }
        let mut length = 0;
        let text = llvm!(core::LLVMGetAsString(text, &mut length));
        if copy_text(text, length).trim_end_matches('\0') == "__CUDA_PREC_SQRT" {
            let of = llvm!(core::LLVMTypeOf(call));
            let yes = llvm!(core::LLVMConstInt(of, 1, 0));
            llvm!(core::LLVMReplaceAllUsesWith(call, yes));
            llvm!(core::LLVMInstructionEraseFromParent(call));
        }
    }
}

/// Returns the library's name for an intrinsic that the code generator does not select.
fn intrinsic(function: LLVMValueRef) -> Option<String> {
    let name = name_of(function);
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

/// Redirects the calls of an intrinsic to a function of the same type.
fn replace(module: LLVMModuleRef, intrinsic: LLVMValueRef, name: &str) {
    let instead = super::function(module, name).unwrap_or_else(|| {
        let of = llvm!(core::LLVMGlobalGetValueType(intrinsic));
        let name = format!("{name}\0");
        llvm!(core::LLVMAddFunction(module, name.as_ptr().cast(), of))
    });
    llvm!(core::LLVMReplaceAllUsesWith(intrinsic, instead));
}

/// Returns the mangled name: `_Z3powdd` for `pow` on two doubles.
fn mangled(function: LLVMValueRef, plain: &str) -> Option<String> {
    let types: Option<String> = list(llvm!(core::LLVMGetFirstParam(function)), |p| {
        llvm!(core::LLVMGetNextParam(p))
    })
    .map(|p| {
        let of = llvm!(core::LLVMTypeOf(p));
        match llvm!(core::LLVMGetTypeKind(of)) {
            LLVMTypeKind::LLVMFloatTypeKind => Some('f'),
            LLVMTypeKind::LLVMDoubleTypeKind => Some('d'),
            LLVMTypeKind::LLVMIntegerTypeKind => Some('i'),
            _ => None,
        }
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
