//! Names of map items, which compilers pass with debug information as ";name;file;line;column;;".

use super::items::MapArrays;
use super::map_type;
use crate::report::GroupRun;
use std::ffi::{CStr, c_char, c_void};

/// Adds the names of the map items to the arrays of a region. `names` may be null.
///
/// # Safety
/// `names` is null or points to a string or null for each of the map items, which must be those
/// that the compiler passed.
pub unsafe fn add_names(group: &mut GroupRun, names: *const c_void, items: &MapArrays) {
    let names: *const *const c_char = names.cast();
    if names.is_null() {
        return;
    }
    let passed = (0..items.count).filter(|&n| {
        // SAFETY: by this function's contract, the array has `count` elements.
        (unsafe { *items.map_types.add(n) }) & map_type::TARGET_PARAM != 0
    });
    // The first argument is the launch environment.
    for (argument, item) in (1..).zip(passed) {
        if let Some(array) = group.arrays.iter_mut().find(|a| a.argument == argument) {
            // SAFETY: by this function's contract.
            array.name = unsafe { name(*names.add(item)) };
        }
    }
}

/// Returns the name in a description.
///
/// # Safety
/// The text is null or ends with a null byte.
unsafe fn name(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: by this function's contract.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let name = text.split(';').nth(1)?;
    (!name.is_empty() && name != "unknown").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offload_names_of_map_items_are_read() {
        let of = |text: &CStr| {
            // SAFETY: the string ends with a null byte.
            unsafe { name(text.as_ptr()) }
        };
        assert_eq!(of(c";a[0:n];x.c;12;5;;").as_deref(), Some("a[0:n]"));
        assert_eq!(of(c";unknown;unknown;0;0;;"), None);
        assert_eq!(of(c""), None);
        // SAFETY: null is allowed.
        assert_eq!(unsafe { name(std::ptr::null()) }, None);
    }
}
