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
use crate::handles::Function;

/// Attributes with which a compiler describes its target.
const COMPILER_ATTRIBUTES: [&str; 3] = ["target-cpu", FEATURES, "tune-cpu"];
/// Features whose instructions may be selected.
const FEATURES: &str = "target-features";
/// Widest vector that passes create, in bits.
const PREFERRED: &str = "prefer-vector-width";
/// Widest vector that must not be split, in bits.
const LEGAL: &str = "min-legal-vector-width";
/// Vector width in bits that runs fast on every processor with registers for it. A larger legal
/// width than a function needs has no effect.
const WIDTH: u32 = 256;

/// Sets a function's target attributes to this processor.
pub(super) fn set(function: Function<'_>) {
    let features = function.text_attribute(FEATURES);
    let own = features.and_then(|features| host_features_with(&features));
    for key in COMPILER_ATTRIBUTES {
        function.remove_text_attribute(key);
    }
    if let Some(features) = own {
        function.set_text_attribute(FEATURES, &features);
    }
    set_width(function, PREFERRED, WIDTH);
    // Functions with wider vectors keep their width, as they may be called with such vectors.
    if legal_width(function).is_some_and(|width| width <= WIDTH) {
        set_width(function, LEGAL, WIDTH);
    }
}

/// Returns true if the function's compiler knew of registers wider than those of every x86-64. Must
/// be called before [`set`].
pub(super) fn knew_wide(function: Function<'_>) -> bool {
    let features = function.text_attribute(FEATURES);
    features.is_some_and(|features| features.contains("+avx"))
}

/// Declares that a generated function has no wide vectors.
pub(super) fn forbid_wide_vectors(function: Function<'_>) {
    set_width(function, LEGAL, 0);
}

fn set_width(function: Function<'_>, key: &str, width: u32) {
    function.set_text_attribute(key, &width.to_string());
}

fn legal_width(function: Function<'_>) -> Option<u32> {
    function.text_attribute(LEGAL)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handles::Module;
    use crate::native::fast_paths;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;
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
        let owner = context.create_module_from_ir(buffer).unwrap();
        // SAFETY: the owner outlives the handle.
        let module = unsafe { Module::from_raw(owner.as_mut_ptr()) };
        fast_paths::link(module).unwrap();
        let (mut said, mut own) = (HashSet::new(), Vec::new());
        for function in module.functions().filter(|f| !f.is_declaration()) {
            let name = function.name();
            if &*name == "none" {
                forbid_wide_vectors(function);
            }
            if !name.starts_with(fast_paths::PREFIX) {
                set(function);
            }
            let keys = COMPILER_ATTRIBUTES.iter().chain([&PREFERRED, &LEGAL]);
            let one: Vec<Option<Box<str>>> = keys.map(|key| function.text_attribute(key)).collect();
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
                .function("__ompvm_short___kmpc_for_static_fini")
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
