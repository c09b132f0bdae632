//! `ident_t`, the source location that compilers pass to most entries.
//!
//! The layout is that of the published ABI; only the fields that a runtime uses have names.

use std::ffi::{CStr, c_char};

/// A source location and flags of the call.
#[repr(C)]
#[derive(Debug)]
pub struct Ident {
    reserved_1: i32,
    /// Flag bits, see [`omp_abi::ident_flag`].
    pub flags: i32,
    reserved_2: i32,
    /// Length of `psource` in newer compilers, 0 in older ones.
    pub source_len: i32,
    /// ";file;function;line;column;;" or null.
    pub psource: *const c_char,
}

// SAFETY: an ident is a constant of the guest, which no thread writes.
unsafe impl Sync for Ident {}

/// Returns the location as "file:line (function)"; `None` without debug information.
///
/// # Safety
/// `ident` is null or points to a live ident with a null-terminated or null `psource`.
pub unsafe fn describe(ident: *const Ident) -> Option<String> {
    // SAFETY: null or a live ident (caller's contract).
    let psource = unsafe { ident.as_ref() }?.psource;
    if psource.is_null() {
        return None;
    }
    // SAFETY: a null-terminated string (caller's contract).
    let text = unsafe { CStr::from_ptr(psource) }.to_string_lossy();
    let mut parts = text.split(';').skip(1);
    let (file, function, line) = (parts.next()?, parts.next()?, parts.next()?);
    if file == "unknown" {
        return None;
    }
    Some(format!("{file}:{line} ({function})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kmpc_describes_a_location() {
        let text = c";a.c;main;12;5;;";
        let ident = Ident {
            reserved_1: 0,
            flags: 2,
            reserved_2: 0,
            source_len: 0,
            psource: text.as_ptr(),
        };
        // SAFETY: a live ident.
        let text = unsafe { describe(&ident) };
        assert_eq!(text.as_deref(), Some("a.c:12 (main)"));
        // SAFETY: null is allowed.
        assert_eq!(unsafe { describe(std::ptr::null()) }, None);
    }
}
