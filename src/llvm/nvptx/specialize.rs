//! Specialization of the runtime: properties that kernels share become constants of it.
//!
//! Kernels whose threads all begin together (SPMD mode) and kernels whose threads wait for regions
//! (generic mode) need different parts of each entry, and so do kernels with and without nested
//! regions. If a module has several such groups, each is optimized with a copy of the functions
//! that it calls, and the copies are linked together again. Variables exist once. If a variable
//! holds the address of a function, a group could call another group's copy through it, so nothing
//! is specialized then.

use super::division::WRITTEN_BY_HOST;
use super::machine::GpuMachine;
use super::{Kernel, SHARED};
use crate::handles::{Linkage, Module, OwnedModule, Value, Variable, Visibility};
use crate::parse::Parsed;
use hashbrown::HashSet;
use std::ffi::CStr;

/// Properties of a group: SPMD mode, nested regions.
type GroupKey = (bool, bool);

fn key(kernel: &Kernel) -> Option<GroupKey> {
    kernel.environment.map(|e| (e.spmd(), e.nested))
}

/// Optimizes a module by `passes`, group by group. `own` lists the names that stay visible.
pub(super) fn specialize(
    parsed: &Parsed,
    machine: &GpuMachine,
    kernels: &[Kernel],
    own: &[Box<str>],
    passes: &CStr,
) -> Result<(), String> {
    let module = parsed.module();
    let mut keys: Vec<Option<GroupKey>> = Vec::new();
    for kernel in kernels {
        if !keys.contains(&key(kernel)) {
            keys.push(key(kernel));
        }
    }
    let own: HashSet<&str> = own.iter().map(|n| &**n).collect();
    if keys.len() <= 1 || module.variables().any(holds_function) {
        if let [Some(key)] = keys[..] {
            set_mode(module, key);
        }
        let all: HashSet<&str> = kernels.iter().map(|k| &*k.name).collect();
        hide(module, &own, &all);
        return machine.run_passes(module, passes);
    }
    share_variables(module);
    let copies: Vec<_> = keys[1..]
        .iter()
        .map(|_| OwnedModule::copy_of(module))
        .collect();
    let mut failed = None;
    let groups = std::iter::once(module).chain(copies.iter().map(OwnedModule::module));
    for (index, (&of, copy)) in keys.iter().zip(groups).enumerate() {
        let members: HashSet<&str> = kernels
            .iter()
            .filter(|k| key(k) == of)
            .map(|k| &*k.name)
            .collect();
        for kernel in kernels.iter().filter(|k| !members.contains(&*k.name)) {
            if let Some(function) = copy.function(&kernel.name) {
                // SAFETY: no handle of the body outlives a step.
                unsafe { function.drop_body() };
            }
        }
        if let Some(key) = of {
            set_mode(copy, key);
        }
        if index > 0 {
            turn_into_declarations(copy);
        }
        hide(copy, &own, &members);
        failed = failed.or(machine.run_passes(copy, passes).err());
    }
    if let Some(message) = failed {
        return Err(message);
    }
    for copy in copies {
        // SAFETY: no handle of the declarations that linking replaces outlives a step.
        if !unsafe { copy.link_into(module) } {
            return Err(parsed.take_errors());
        }
    }
    hide(module, &own, &kernels.iter().map(|k| &*k.name).collect());
    Ok(())
}

/// Sets the runtime's constants.
fn set_mode(module: Module, (spmd, nested): GroupKey) {
    let mode = if spmd { 2 } else { 1 };
    set_constant(module, "__ompvm_mode", mode);
    set_constant(module, "__ompvm_nested", u64::from(nested));
}

/// Sets a constant of the runtime, if the module has it.
pub(super) fn set_constant(module: Module, name: &str, value: u64) {
    if let Some(variable) = module.variable(name) {
        variable.set_initializer(variable.contents().constant(value));
    }
}

/// Internalizes everything but the images' own variables and the given kernels.
fn hide(module: Module, own: &HashSet<&str>, kernels: &HashSet<&str>) {
    let internal = |value: Value| {
        value.set_visibility(Visibility::LLVMDefaultVisibility);
        value.set_linkage(Linkage::LLVMInternalLinkage);
    };
    for function in module.functions().filter(|f| !f.is_declaration()) {
        function.leave_comdat();
        if kernels.contains(&*function.name()) {
            function.set_visibility(Visibility::LLVMDefaultVisibility);
            function.set_linkage(Linkage::LLVMExternalLinkage);
        } else {
            internal(function.into());
        }
    }
    for variable in module.variables().filter(|v| !v.is_declaration()) {
        let name = variable.name();
        if !own.contains(&*name)
            && !name.starts_with("llvm.")
            && !name.starts_with(SHARED_VARIABLE)
            && variable.linkage() != Linkage::LLVMAvailableExternallyLinkage
        {
            internal(variable.into());
        }
    }
}

/// Prefix of variables that several groups use.
const SHARED_VARIABLE: &str = "ompvm_shared_";

/// Renames the module's internal variables so that other groups can refer to them.
fn share_variables(module: Module) {
    for (index, variable) in module.variables().enumerate() {
        let own = matches!(
            variable.linkage(),
            Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage
        );
        if !own || variable.address_space() == SHARED || variable.is_read_only() {
            continue;
        }
        variable.set_name(&format!("{SHARED_VARIABLE}{index}"));
        variable.set_linkage(Linkage::LLVMExternalLinkage);
    }
}

/// Turns variables into declarations; the first group defines them.
fn turn_into_declarations(module: Module) {
    for variable in module.variables() {
        let name = variable.name();
        let own = matches!(
            variable.linkage(),
            Linkage::LLVMInternalLinkage
                | Linkage::LLVMPrivateLinkage
                | Linkage::LLVMAppendingLinkage
        );
        if own
            || variable.address_space() == SHARED
            || (name.starts_with("__ompvm_") && !WRITTEN_BY_HOST.contains(&&*name))
            || name.ends_with("_environment")
            || variable.is_declaration()
        {
            continue;
        }
        if variable.is_read_only() {
            variable.set_linkage(Linkage::LLVMAvailableExternallyLinkage);
        } else {
            variable.set_linkage(Linkage::LLVMExternalLinkage);
            variable.clear_initializer();
        }
    }
}

/// Returns true if a variable's initializer refers to a function.
fn holds_function(variable: Variable) -> bool {
    if variable.name().starts_with("llvm.") {
        return false;
    }
    let mut open: Vec<Value> = variable.initializer().into_iter().collect();
    let mut seen = HashSet::new();
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        if value.as_function().is_some() {
            return true;
        }
        if value.is_constant() && value.as_variable().is_none() {
            open.extend(value.operands());
        }
    }
    false
}
