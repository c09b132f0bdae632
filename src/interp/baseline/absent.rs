//! The baseline tier where it is not: other processors, and builds without tail calls.

use super::frame::Lowered;

/// Whether machine code can be made here.
///
/// # Errors
/// Always: why not.
pub fn available() -> Result<(), String> {
    Err("this build has no baseline compiler (x86-64, opt-level 3)".to_owned())
}

/// Would compile each function at its first call.
///
/// # Errors
/// As for [`available`].
pub fn compile_first() -> Result<(), String> {
    available()
}

/// Whether functions are compiled at their first call.
pub fn compiles_first() -> bool {
    false
}

/// Compiles nothing.
pub fn compile(_lowered: &'static Lowered) -> bool {
    false
}

/// No position is machine code.
pub fn bytecode_at(_pc: usize) -> Option<*const u64> {
    None
}
