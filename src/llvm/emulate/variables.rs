//! Addresses of the device's variables.
//!
//! Each variable gets the address that the caller chooses, in place of all its uses. A variable of
//! the global memory keeps its initial contents under its name, for the caller to copy; shared ones
//! have none.

use super::{DeviceEnvironment, INTRINSICS, Refusal};
use crate::handles::{Linkage, Module, Value, Variable, Visibility};

/// The device's address space of memory that the threads of a block share.
const SHARED: u32 = 3;

/// Returns the names of the shared variables.
pub(crate) fn shared_names(device: Module<'_>) -> Vec<String> {
    let shared = device.variables().filter(|v| v.address_space() == SHARED);
    shared.map(|variable| variable.name().into()).collect()
}

/// Returns true if a list of names has a variable's.
pub(crate) fn is_among(names: &[String], variable: Variable<'_>) -> bool {
    let own = variable.name();
    names.iter().any(|name| **name == *own)
}

/// Places the shared variables one after the other, and returns their total size in bytes.
pub(super) fn place_shared(
    module: Module<'_>,
    names: &[String],
    environment: &dyn DeviceEnvironment,
) -> u64 {
    let layout = module.layout();
    let mut at = 0u64;
    // Memory that a launch adds, as variables without a definition, comes after all others.
    for external in [false, true] {
        for variable in module.variables() {
            if !is_among(names, variable) || variable.is_declaration() != external {
                continue;
            }
            let size = layout.size(variable.contents());
            let alignment = u64::from(layout.preferred_alignment(variable)).max(16);
            at = at.next_multiple_of(alignment);
            replace(variable, environment.shared(at));
            // SAFETY: all uses are replaced, and the handle is not used again.
            unsafe { variable.delete() };
            at += size;
        }
    }
    at.next_multiple_of(16)
}

/// Gives each variable a device address; its initial contents stay under its name.
pub(super) fn place(
    module: Module<'_>,
    environment: &dyn DeviceEnvironment,
) -> Result<Vec<super::Variable>, Refusal> {
    let layout = module.layout();
    let mut list = Vec::new();
    for (n, variable) in module.variables().enumerate() {
        let mut name = String::from(variable.name());
        if variable.is_declaration() {
            if variable.is_unused() {
                continue;
            }
            let what = format!("the variable `{name}`, which the device code does not define");
            return Err(Refusal::Unsupported(what, first_use(variable.into())));
        }
        let size = layout.size(variable.contents());
        let alignment = u64::from(layout.preferred_alignment(variable));
        if name.is_empty() {
            name = format!("{INTRINSICS}v{n}");
            variable.set_name(&name);
        }
        let address = environment
            .variable(&name, size, alignment.max(1))
            .map_err(Refusal::Damaged)?;
        replace(variable, address);
        let zero = variable.initializer().is_none_or(|first| first.is_zero());
        if zero {
            // SAFETY: all uses are replaced, and the handle is not used again.
            unsafe { variable.delete() };
        } else {
            variable.set_linkage(Linkage::LLVMExternalLinkage);
            variable.set_visibility(Visibility::LLVMDefaultVisibility);
        }
        list.push(super::Variable {
            name,
            address,
            size,
            // Filled in after compilation.
            contents: (!zero).then_some(0),
        });
    }
    Ok(list)
}

/// Replaces every use of a variable by its address.
fn replace(variable: Variable<'_>, address: u64) {
    variable.replace_by(variable.of().at_address(address));
}

/// Returns the source location of the first use in an instruction that has one (`file.c:12`).
fn first_use(value: Value<'_>) -> Option<String> {
    let mut users = value.users().filter_map(Value::as_instruction);
    let (file, line) = users.find_map(|user| user.source_line())?;
    Some(format!("{file}:{line}"))
}
