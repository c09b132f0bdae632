//! Target attributes of functions.
//!
//! [`set`] gives every function of a unit the same target attributes, whether it comes from the
//! guest, the runtime or ompvm. LLVM builds subtarget tables for each distinct set of attributes, 2
//! ms a time on each compiling thread. A function that asks for features beyond the common set gets
//! a set of its own, because LLVM ends a compilation at an intrinsic that the function's features
//! do not cover.
//!
//! The choice of the processor is left to the code generator (`pipeline`).

use super::pipeline::host_features_with;
use crate::raw::llvm;
use inkwell::llvm_sys::LLVMAttributeFunctionIndex;
use inkwell::llvm_sys::prelude::*;
use std::ffi::CStr;

/// Attributes with which a compiler describes its target.
const COMPILER_ATTRIBUTES: [&CStr; 3] = [c"target-cpu", FEATURES, c"tune-cpu"];
/// Features whose instructions may be selected.
const FEATURES: &CStr = c"target-features";
/// Widest vector that passes create, in bits.
const PREFERRED: &CStr = c"prefer-vector-width";
/// Widest vector that must not be split, in bits.
const LEGAL: &CStr = c"min-legal-vector-width";
/// Vector width in bits that runs fast on every processor with registers for it. A larger legal
/// width than a function needs has no effect.
const WIDTH: u32 = 256;

/// Sets a function's target attributes to this processor.
pub(super) fn set(function: LLVMValueRef) {
    let own = text(function, FEATURES).and_then(host_features_with);
    for key in COMPILER_ATTRIBUTES {
        llvm!(core::LLVMRemoveStringAttributeAtIndex(
            function,
            LLVMAttributeFunctionIndex,
            key.as_ptr(),
            key.count_bytes() as u32
        ));
    }
    if let Some(features) = own {
        llvm!(core::LLVMAddTargetDependentFunctionAttr(
            function,
            FEATURES.as_ptr(),
            features.as_ptr()
        ));
    }
    set_width(function, PREFERRED, WIDTH);
    // Functions with wider vectors keep their width, as they may be called with such vectors.
    if legal_width(function).is_some_and(|width| width <= WIDTH) {
        set_width(function, LEGAL, WIDTH);
    }
}

/// Returns true if the function's compiler knew of registers wider than those of every x86-64. Must
/// be called before [`set`].
pub(super) fn knew_wide(function: LLVMValueRef) -> bool {
    text(function, FEATURES).is_some_and(|features| features.contains("+avx"))
}

/// Declares that a generated function has no wide vectors.
pub(super) fn forbid_wide_vectors(function: LLVMValueRef) {
    set_width(function, LEGAL, 0);
}

fn set_width(function: LLVMValueRef, key: &CStr, width: u32) {
    let width = format!("{width}\0");
    llvm!(core::LLVMAddTargetDependentFunctionAttr(
        function,
        key.as_ptr(),
        width.as_ptr().cast()
    ));
}

fn legal_width(function: LLVMValueRef) -> Option<u32> {
    text(function, LEGAL)?.parse().ok()
}

/// Returns the value of a function's string attribute.
fn text<'a>(function: LLVMValueRef, key: &CStr) -> Option<&'a str> {
    let attribute = llvm!(core::LLVMGetStringAttributeAtIndex(
        function,
        LLVMAttributeFunctionIndex,
        key.as_ptr(),
        key.count_bytes() as u32
    ));
    if attribute.is_null() {
        return None;
    }
    let mut length = 0;
    let text = llvm!(core::LLVMGetStringAttributeValue(attribute, &mut length));
    // SAFETY: LLVM returned pointer and length together, and the text lives with the context,
    // longer than its users here.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length as usize) };
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::fast_paths;
    use inkwell::attributes::AttributeLoc;
    use inkwell::context::{AsContextRef, Context};
    use inkwell::memory_buffer::MemoryBuffer;
    use inkwell::values::AsValueRef;
    use std::collections::HashSet;

    /// A module with functions of each of these attributes, into which the runtime's fast paths are
    /// linked.
    const TEXT: &str = r#"
        define void @none() { ret void }
        define void @clang() "target-cpu"="x86-64" "tune-cpu"="generic" "min-legal-vector-width"="0" { ret void }
        define void @vector() "target-features"="+avx" "min-legal-vector-width"="128" { ret void }
        define void @rare() "target-cpu"="sapphirerapids" "target-features"="+amx-int8,+amx-tile,+x87" { ret void }
        define void @rarer() "target-features"="+amx-tile,+amx-int8,+sse2" { ret void }
        define void @wide() "min-legal-vector-width"="512" { ret void }
        declare void @__kmpc_for_static_fini(ptr, i32)"#;

    #[test]
    fn all_functions_have_equal_attributes() {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(TEXT.as_bytes(), "processor");
        let module = context.create_module_from_ir(buffer).unwrap();
        fast_paths::link(module.as_mut_ptr(), (&context).as_ctx_ref()).unwrap();
        let (mut said, mut own) = (HashSet::new(), Vec::new());
        for function in module
            .get_functions()
            .filter(|f| f.count_basic_blocks() > 0)
        {
            let name = function.get_name().to_str().unwrap().to_owned();
            let value = function.as_value_ref();
            if name == "none" {
                forbid_wide_vectors(value);
            }
            if !name.starts_with("short_") {
                set(value);
            }
            let keys = COMPILER_ATTRIBUTES.iter().chain([&PREFERRED, &LEGAL]);
            let one: Vec<Option<String>> = keys
                .map(|key| {
                    let key = key.to_str().unwrap();
                    let attribute = function.get_string_attribute(AttributeLoc::Function, key);
                    Some(attribute?.get_string_value().to_str().unwrap().into())
                })
                .collect();
            match &*name {
                "rare" | "rarer" => own.push(one),
                "wide" => assert_eq!(one[4].as_deref(), Some("512")),
                _ => {
                    said.insert(one);
                }
            }
        }
        assert!(
            module
                .get_function("short___kmpc_for_static_fini")
                .is_some()
        );
        assert_eq!(said.len(), 1, "{said:?}");
        // A processor with these instructions has them for all functions.
        if host_features_with("+amx-int8").is_some() {
            assert_eq!(own[0], own[1]);
            let features = own[0][1].as_deref().unwrap();
            assert!(features.ends_with(",+amx-int8,+amx-tile"), "{features}");
        }
    }
}
