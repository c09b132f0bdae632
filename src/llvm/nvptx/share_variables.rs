//! Moves variables that device code writes out of the image, for several devices that share one
//! league.
//!
//! Each device has the variables of its image for itself, but a program has each variable once. So
//! the code gets the addresses of such variables from the host, as pointers in constant memory,
//! which [`share`] lists in [`SharedVariable`]s. Each function loads a pointer at its start.
//!
//! A large variable has one pointer more for each kernel that uses it, so that a kernel that only
//! reads it may get a copy on each device.
//!
//! Left where they are: variables that only the host writes, which are faster to read on each
//! device, unless a kernel writes through pointers that it finds in memory; and variables that occur in the initial contents of others or hold such addresses.

use super::division::{ParameterUse, use_of};
use super::{CONSTANT, SHARED};
use crate::handles::{Function, Linkage, Module, Opcode, Value, Variable, Visibility};
use crate::shim;
use hashbrown::HashSet;
use std::collections::BTreeMap;

/// The address space of global memory.
const GLOBAL: u32 = 1;

/// Minimum size in bytes of variables with a pointer for each kernel.
const LARGE: u64 = 16 << 10;

/// A variable that the code reaches through pointers which the host writes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SharedVariable {
    /// The variable's name in the images.
    pub name: String,
    /// Name of the pointer to the variable. It is null at first.
    pub pointer: String,
    /// Name of a variable with the initial contents; `None` if they are zero.
    pub contents: Option<String>,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Names of the pointers that kernels use in place of `pointer`, by the names of the kernels.
    pub own_pointers: BTreeMap<String, String>,
}

/// The address spaces of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spaces {
    /// That of memory which all threads access.
    pub global: u32,
    /// That of memory which device code does not write.
    pub constant: u32,
}

/// The address spaces of a GPU.
pub(crate) const OF_GPU: Spaces = Spaces {
    global: GLOBAL,
    constant: CONSTANT,
};

/// Moves variables out of a module: those that device code writes by name, or all if it may write
/// others through pointers, except for those for which `excepted` is true. `kernels` are the names
/// of its kernels.
pub(crate) fn share(
    module: Module,
    kernels: &[&str],
    spaces: Spaces,
    all: bool,
    excepted: impl for<'v> Fn(Variable<'v>) -> bool,
) -> Vec<SharedVariable> {
    let written: Vec<Variable> = module
        .variables()
        .filter(|v| !v.is_declaration() && !v.is_read_only() && !v.is_thread_local())
        .filter(|v| !matches!(v.address_space(), SHARED | CONSTANT))
        .filter(|v| !is_internal(&v.name()) && !excepted(*v))
        .filter(|v| all || use_of(Value::from(*v)) == ParameterUse::Written)
        .collect();
    let in_contents = in_contents(module);
    let mut list = Vec::new();
    for variable in written {
        let holds_addresses = variable.initializer().is_some_and(holds_address);
        if !in_contents.contains(&variable) && !holds_addresses {
            list.push(move_out(variable, kernels, spaces, list.len()));
        }
    }
    list
}

/// Returns true for variables of LLVM, of the device runtime and of kernels' descriptions.
fn is_internal(name: &str) -> bool {
    name.starts_with("llvm.") || name.starts_with("__ompvm_") || name.ends_with("_environment")
}

/// Returns the variables whose addresses are in the initial contents of others that code can reach.
/// Compilers keep variables by references that no code uses.
fn in_contents(module: Module) -> HashSet<Variable> {
    let mut found = HashSet::new();
    let used = module
        .variables()
        .filter(|v| !users((*v).into()).is_empty());
    let mut open: Vec<Value> = used.filter_map(|v| v.initializer()).collect();
    let mut seen = HashSet::new();
    while let Some(value) = open.pop() {
        if let Some(variable) = value.as_variable() {
            if found.insert(variable) {
                open.extend(variable.initializer());
            }
        } else if !value.is_zero() && seen.insert(value) {
            open.extend(value.operands());
        }
    }
    found
}

/// Returns true if initial contents hold the address of a function or variable.
fn holds_address(contents: Value) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![contents];
    while let Some(value) = open.pop() {
        if value.as_variable().is_some() || value.as_function().is_some() {
            return true;
        }
        if !value.is_zero() && seen.insert(value) {
            open.extend(value.operands());
        }
    }
    false
}

/// Returns the functions with instructions that use a value, also within constant expressions.
pub(crate) fn users<'m>(value: Value<'m>) -> Vec<Function<'m>> {
    let mut found: Vec<Function> = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        for user in value.users() {
            match user.as_instruction() {
                Some(instruction) if !found.contains(&instruction.function()) => {
                    found.push(instruction.function());
                }
                Some(_) => {}
                None if seen.insert(user) => open.push(user),
                None => {}
            }
        }
    }
    found
}

/// Adds a pointer that the host writes.
fn add_pointer<'m>(module: Module<'m>, name: &str, spaces: Spaces) -> Variable<'m> {
    let of = module.context().pointer_to(spaces.global);
    let pointer = module.add_variable(name, of, spaces.constant);
    pointer.set_initializer(of.zero());
    pointer
}

/// Replaces the uses of a variable by loads of pointers to it. Its number is `index`.
fn move_out(variable: Variable, kernels: &[&str], spaces: Spaces, index: usize) -> SharedVariable {
    let value = Value::from(variable);
    let module = value.module();
    let layout = module.layout();
    let name = String::from(value.name());
    let size = layout.size(variable.contents());
    let align = u64::from(layout.preferred_alignment(variable)).max(1);
    let pointer = format!("__ompvm_at_{index}");
    let shared_pointer = add_pointer(module, &pointer, spaces);
    let mut own_pointers = BTreeMap::new();
    let builder = module.context().builder();
    for function in users(value) {
        let user = function.name();
        let kernel = kernels.iter().position(|k| **k == *user);
        let from = match kernel.filter(|_| size >= LARGE) {
            Some(number) => {
                let own = format!("{pointer}_{number}");
                let from = add_pointer(module, &own, spaces);
                own_pointers.insert(String::from(user), own);
                from
            }
            None => shared_pointer,
        };
        let of = module.context().pointer_to(spaces.global);
        let mut address = Value::from(builder.at_entry(function).load(of, from));
        if address.of() != value.of() {
            address = builder.cast(Opcode::LLVMAddrSpaceCast, address, value.of());
        }
        shim::replace_in_function(function, value, address);
    }
    let first = variable.initializer();
    let zero = first.is_none_or(|first| first.is_zero() || first.is_undef());
    let contents = format!("__ompvm_contents_{index}");
    if zero && variable.is_unused() {
        // SAFETY: nothing uses the variable, and its handle is not used again.
        unsafe { variable.delete() };
    } else {
        variable.set_name(&contents);
        variable.set_linkage(Linkage::LLVMExternalLinkage);
        variable.set_visibility(Visibility::LLVMDefaultVisibility);
    }
    SharedVariable {
        name,
        pointer,
        contents: (!zero).then_some(contents),
        size,
        align,
        own_pointers,
    }
}
