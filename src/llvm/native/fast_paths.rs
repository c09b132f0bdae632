//! Inlinable fast paths of the runtime's entries (`runtime-c/`), linked into a unit.
//!
//! Computing a thread's share of a loop, or testing whether the thread is alone or the primary one,
//! takes a few instructions; a call takes more and hides the loop's bounds from the passes.
//!
//! An entry is not replaced if the program defines it itself or declares it with another type.

use super::target_attributes;
use crate::handles::{Function, Linkage, Module, OwnedModule};
use crate::process::LLVM;
use crate::shim::open_lazily;
use hashbrown::HashMap;
use std::sync::atomic::Ordering;

const BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/entries.bc"));
/// Prefix of their names. Names with two underscores at the start are reserved, so programs define
/// none.
pub(super) const PREFIX: &str = "__ompvm_short_";

/// Disables the fast paths for all further units: a tool is to see every call of the runtime.
pub fn disable() {
    LLVM.no_fast_paths.store(true, Ordering::Relaxed);
}

/// Fast paths that calls may use instead of the runtime's entries.
#[derive(Default)]
pub(super) struct FastPaths<'m> {
    /// The fast path by the entry's declaration.
    replacement: HashMap<Function<'m>, Function<'m>>,
    /// All functions that were linked in.
    linked: Vec<Function<'m>>,
}

/// Links the fast paths of the entries that a module declares into it, and maps each declaration to
/// its replacement in calls. Others are not even read: reading all takes longer than generating code
/// for a small function.
///
/// # Errors
/// Returns a sentence if LLVM refuses the embedded bitcode.
pub(super) fn link(module: Module<'_>) -> Result<FastPaths<'_>, String> {
    let mut paths = FastPaths::default();
    if BITCODE.is_empty() || LLVM.no_fast_paths.load(Ordering::Relaxed) {
        return Ok(paths);
    }
    let declared: Vec<_> = module
        .functions()
        .filter(|f| f.is_declaration() && is_entry(&f.name()))
        .collect();
    if declared.is_empty() {
        return Ok(paths);
    }
    let runtime = open_lazily(module.context(), BITCODE, true)?;
    // SAFETY: the module was just made, in this context, and nothing else has it.
    let runtime = unsafe { OwnedModule::from_raw(runtime) };
    let wanted: Vec<_> = declared
        .into_iter()
        .filter_map(|entry| {
            let name = format!("{PREFIX}{}", entry.name());
            let short = runtime.module().function(&name)?;
            (short.signature() == entry.signature()).then_some((entry, name))
        })
        .collect();
    if wanted.is_empty() {
        return Ok(paths);
    }
    // LLVM links definitions of what the module declares.
    for (entry, name) in &wanted {
        module.add_function(name, entry.signature());
    }
    // SAFETY: the runtime defines names of its own only ([`PREFIX`]), so that linking replaces none
    // of the functions and variables of which there are handles.
    if !unsafe { runtime.link_needed_into(module) } {
        return Err("the runtime's fast paths cannot be linked".into());
    }
    for (entry, name) in wanted {
        let short = module.function(&name);
        let short = short.filter(|short| !short.is_declaration());
        let short = short.ok_or("a fast path of the runtime is missing")?;
        short.set_linkage(Linkage::LLVMInternalLinkage);
        target_attributes::set(short);
        paths.linked.push(short);
        paths.replacement.insert(entry, short);
    }
    Ok(paths)
}

fn is_entry(name: &str) -> bool {
    name.starts_with("__kmpc_") || name.starts_with("omp_")
}

impl<'m> FastPaths<'m> {
    /// Returns the fast path that calls of a declaration may use.
    pub(super) fn replacement(&self, declared: Function<'m>) -> Option<Function<'m>> {
        self.replacement.get(&declared).copied()
    }

    /// Deletes unused fast paths. Returns true if some are left to be inlined.
    pub(super) fn sweep(self) -> bool {
        let mut left = false;
        for short in self.linked {
            if short.is_unused() {
                // SAFETY: it is unused, and both lists of its handles end here.
                unsafe { short.delete() };
            } else {
                left = true;
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handles::OwnedContext;

    #[test]
    fn names_of_a_program_that_resemble_fast_paths_do_not_collide() {
        let context = OwnedContext::new();
        let text = br#"
            @short___kmpc_master = global i32 7
            define void @short___kmpc_barrier(ptr %at, i32 %gtid) { ret void }
            declare void @__kmpc_barrier(ptr, i32)
            declare i32 @__kmpc_master(ptr, i32)
            "#;
        let owner = OwnedModule::parse_ir(context.context(), text, c"names", true).unwrap();
        let module = owner.module();
        let paths = link(module).unwrap();
        for name in ["__kmpc_barrier", "__kmpc_master"] {
            let entry = module.function(name).unwrap();
            let short = paths.replacement(entry).unwrap();
            assert_eq!(&*short.name(), format!("{PREFIX}{name}"));
        }
        let own = module.function("short___kmpc_barrier").unwrap();
        assert!(own.linkage() == Linkage::LLVMExternalLinkage && !own.is_declaration());
    }
}
