//! Specialization of the runtime: properties that kernels share become constants of it.
//!
//! Kernels whose threads all begin together (SPMD mode) and kernels whose threads wait for regions
//! (generic mode) need different parts of each entry, and so do kernels with and without nested
//! regions. If a module has several such groups, each is optimized with a copy of the functions
//! that it calls, and the copies are linked together again. Variables exist once. If a variable
//! holds the address of a function, a group could call another group's copy through it, so nothing
//! is specialized then.

use super::machine::{FULL, GpuMachine};
use super::{Kernel, SHARED, functions, variables};
use crate::parse::Parsed;
use crate::raw::{copy_cstr, llvm};
use crate::reader::name_of;
use hashbrown::HashSet;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMVisibility};
use std::ffi::CStr;

/// Properties of a group: SPMD mode, nested regions.
type GroupKey = (bool, bool);

fn key(kernel: &Kernel) -> Option<GroupKey> {
    kernel.environment.map(|e| (e.spmd(), e.nested))
}

/// Optimizes a module group by group. `own` lists the names that stay visible.
pub(super) fn specialize(
    parsed: &Parsed,
    machine: &GpuMachine,
    kernels: &[Kernel],
    own: &[Box<str>],
) -> Result<(), String> {
    let module = parsed.module;
    let mut keys: Vec<Option<GroupKey>> = Vec::new();
    for kernel in kernels {
        if !keys.contains(&key(kernel)) {
            keys.push(key(kernel));
        }
    }
    let own: HashSet<&str> = own.iter().map(|n| &**n).collect();
    if keys.len() <= 1 || variables(module).any(holds_function) {
        if let [Some(key)] = keys[..] {
            set_mode(module, key);
        }
        let all: HashSet<&str> = kernels.iter().map(|k| &*k.name).collect();
        hide(module, &own, &all);
        return machine.run_passes(module, FULL);
    }
    share_variables(module);
    let copies: Vec<LLVMModuleRef> = keys[1..]
        .iter()
        .map(|_| llvm!(core::LLVMCloneModule(module)))
        .collect();
    let mut failed = None;
    for (index, (&of, &copy)) in keys.iter().zip([module].iter().chain(&copies)).enumerate() {
        let members: HashSet<&str> = kernels
            .iter()
            .filter(|k| key(k) == of)
            .map(|k| &*k.name)
            .collect();
        for kernel in kernels.iter().filter(|k| !members.contains(&*k.name)) {
            if let Some(function) = super::function(copy, &kernel.name) {
                crate::shim::drop_body(function);
            }
        }
        if let Some(key) = of {
            set_mode(copy, key);
        }
        if index > 0 {
            turn_into_declarations(copy);
        }
        hide(copy, &own, &members);
        failed = failed.or(machine.run_passes(copy, FULL).err());
    }
    for copy in copies {
        if failed.is_some() {
            llvm!(core::LLVMDisposeModule(copy));
        } else if llvm!(linker::LLVMLinkModules2(module, copy)) != 0 {
            failed = Some(parsed.take_errors());
        }
    }
    match failed {
        Some(message) => Err(message),
        None => {
            hide(module, &own, &kernels.iter().map(|k| &*k.name).collect());
            Ok(())
        }
    }
}

/// Sets the runtime's constants.
fn set_mode(module: LLVMModuleRef, (spmd, nested): GroupKey) {
    let mode = if spmd { 2 } else { 1 };
    set_constant(module, c"__ompvm_mode", mode);
    set_constant(module, c"__ompvm_nested", u64::from(nested));
}

/// Sets a constant of the runtime, if the module has it.
pub(super) fn set_constant(module: LLVMModuleRef, name: &CStr, value: u64) {
    let variable = llvm!(core::LLVMGetNamedGlobal(module, name.as_ptr()));
    if !variable.is_null() {
        let of = llvm!(core::LLVMGlobalGetValueType(variable));
        let value = llvm!(core::LLVMConstInt(of, value, 0));
        llvm!(core::LLVMSetInitializer(variable, value));
    }
}

/// Internalizes everything but the images' own variables and the given kernels.
fn hide(module: LLVMModuleRef, own: &HashSet<&str>, kernels: &HashSet<&str>) {
    let internal = |value: LLVMValueRef| {
        llvm!(core::LLVMSetVisibility(
            value,
            LLVMVisibility::LLVMDefaultVisibility
        ));
        llvm!(core::LLVMSetLinkage(
            value,
            LLVMLinkage::LLVMInternalLinkage
        ));
    };
    for function in functions(module) {
        if llvm!(core::LLVMIsDeclaration(function)) != 0 {
            continue;
        }
        llvm!(comdat::LLVMSetComdat(function, std::ptr::null_mut()));
        if kernels.contains(&*name_of(function)) {
            llvm!(core::LLVMSetVisibility(
                function,
                LLVMVisibility::LLVMDefaultVisibility
            ));
            llvm!(core::LLVMSetLinkage(
                function,
                LLVMLinkage::LLVMExternalLinkage
            ));
        } else {
            internal(function);
        }
    }
    for variable in variables(module) {
        let name = name_of(variable);
        if llvm!(core::LLVMIsDeclaration(variable)) == 0
            && !own.contains(&*name)
            && !name.starts_with("llvm.")
            && !name.starts_with(SHARED_VARIABLE)
            && llvm!(core::LLVMGetLinkage(variable)) != LLVMLinkage::LLVMAvailableExternallyLinkage
        {
            internal(variable);
        }
    }
}

/// Prefix of variables that several groups use.
const SHARED_VARIABLE: &str = "ompvm_shared_";

fn is_shared(variable: LLVMValueRef) -> bool {
    let pointer = llvm!(core::LLVMTypeOf(variable));
    llvm!(core::LLVMGetPointerAddressSpace(pointer)) == SHARED
}

/// Renames the module's internal variables so that other groups can refer to them.
fn share_variables(module: LLVMModuleRef) {
    for (index, variable) in variables(module).enumerate() {
        let own = matches!(
            llvm!(core::LLVMGetLinkage(variable)),
            LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage
        );
        if !own || is_shared(variable) || llvm!(core::LLVMIsGlobalConstant(variable)) != 0 {
            continue;
        }
        let name = format!("{SHARED_VARIABLE}{index}");
        llvm!(core::LLVMSetValueName2(
            variable,
            name.as_ptr().cast(),
            name.len()
        ));
        llvm!(core::LLVMSetLinkage(
            variable,
            LLVMLinkage::LLVMExternalLinkage
        ));
    }
}

/// Turns variables into declarations; the first group defines them.
fn turn_into_declarations(module: LLVMModuleRef) {
    for variable in variables(module) {
        let name = copy_cstr(llvm!(core::LLVMGetValueName2(variable, &mut 0)));
        let own = matches!(
            llvm!(core::LLVMGetLinkage(variable)),
            LLVMLinkage::LLVMInternalLinkage
                | LLVMLinkage::LLVMPrivateLinkage
                | LLVMLinkage::LLVMAppendingLinkage
        );
        if own
            || is_shared(variable)
            || name.starts_with("__ompvm_")
            || name.ends_with("_environment")
            || llvm!(core::LLVMIsDeclaration(variable)) != 0
        {
            continue;
        }
        if llvm!(core::LLVMIsGlobalConstant(variable)) != 0 {
            llvm!(core::LLVMSetLinkage(
                variable,
                LLVMLinkage::LLVMAvailableExternallyLinkage
            ));
        } else {
            llvm!(core::LLVMSetLinkage(
                variable,
                LLVMLinkage::LLVMExternalLinkage
            ));
            llvm!(core::LLVMSetInitializer(variable, std::ptr::null_mut()));
        }
    }
}

/// Returns true if a variable's initializer refers to a function.
fn holds_function(variable: LLVMValueRef) -> bool {
    if llvm!(core::LLVMIsDeclaration(variable)) != 0 || name_of(variable).starts_with("llvm.") {
        return false;
    }
    let mut open = vec![llvm!(core::LLVMGetInitializer(variable))];
    let mut seen = HashSet::new();
    while let Some(value) = open.pop() {
        if value.is_null() || !seen.insert(value) {
            continue;
        }
        if !llvm!(core::LLVMIsAFunction(value)).is_null() {
            return true;
        }
        if llvm!(core::LLVMIsAConstant(value)).is_null()
            || !llvm!(core::LLVMIsAGlobalVariable(value)).is_null()
            || llvm!(core::LLVMIsAUser(value)).is_null()
        {
            continue;
        }
        let count = llvm!(core::LLVMGetNumOperands(value));
        open.extend((0..count).map(|i| llvm!(core::LLVMGetOperand(value, i as u32))));
    }
    false
}
