//! The kernel that prepares a device image's variables; see `constructors.cpp`.

use super::handles::{Function, Module};
use super::shim;
use std::ffi::CString;

/// Name of the kernel. It has no parameters, and the host runs it with one thread when it has
/// loaded the image.
pub const CONSTRUCTORS: &str = "__ompvm_constructors";

/// Makes the kernel, an ordinary function at first; `divided` is true for code for several devices.
/// Returns `None` if there is nothing to prepare.
pub(crate) fn gather(module: Module<'_>, divided: bool) -> Option<Function<'_>> {
    let name = CString::new(CONSTRUCTORS).unwrap_or_default();
    match shim::gather_constructors(module, &name, divided) {
        true => module.function(CONSTRUCTORS),
        false => None,
    }
}
