//! Begin and end of a program: the entries that announce them, and those that end it with a
//! message.
//!
//! OpenMP 5.2, section 8.5 (error).

use ompvm_support::message::{Kind, Message};
use std::ffi::{CStr, c_char};

use crate::ident::{self, Ident};

/// Announces the start of the program; does nothing, as the runtime starts at first use.
pub unsafe extern "C-unwind" fn begin(_ident: *const Ident, _flags: i32) {}

/// Announces the end of the program; does nothing.
pub unsafe extern "C-unwind" fn end(_ident: *const Ident) {}

/// Implements the `error` directive: severity 1 warns, 2 ends the program.
///
/// # Safety
/// `ident` is null or live; `message` is null or null-terminated.
pub unsafe extern "C-unwind" fn error(ident: *const Ident, severity: i32, message: *const c_char) {
    // SAFETY: `ident` is null or live (caller's contract).
    let at = unsafe { ident::describe(ident) }.map_or(String::new(), |at| format!("{at}: "));
    let text = if message.is_null() {
        "error directive".into()
    } else {
        // SAFETY: not null, so null-terminated (caller's contract).
        unsafe { CStr::from_ptr(message) }.to_string_lossy()
    };
    if severity == 1 {
        ompvm_support::eprintln!("OMP: Warning: {at}{text}");
    } else {
        ompvm_support::eprintln!("OMP: Error: {at}{text}");
        // SAFETY: ends the process, by the signal that libomp uses.
        unsafe { libc::abort() }
    }
}

/// Reports that a program called an unsupported entry, and ends the program.
///
/// # Safety
/// `name` is null-terminated.
pub unsafe extern "C-unwind" fn unsupported(name: *const c_char) -> ! {
    // SAFETY: `name` is null-terminated (caller's contract).
    let name = unsafe { CStr::from_ptr(name) }
        .to_string_lossy()
        .into_owned();
    let reason = match crate::table::lookup(&name).map(|entry| entry.status) {
        Some(crate::table::Status::Unsupported { reason }) => reason,
        _ => "not part of this runtime",
    };
    let text = format_args!("unsupported: {name}: {reason}");
    Message::new(Kind::Unsupported, &text).print();
    std::process::exit(125);
}
