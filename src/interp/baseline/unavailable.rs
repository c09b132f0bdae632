//! Stand-in for the baseline tier on other processors and in builds without tail calls.

use super::frame::LoweredFunction;
use ompvm_memory::image::Image;

/// Reports that machine code cannot be generated.
///
/// # Errors
/// Always; the reason.
pub fn available() -> Result<(), String> {
    Err("this build has no baseline compiler (x86-64, opt-level 3)".to_owned())
}

/// Reports that functions cannot be compiled at their first call.
///
/// # Errors
/// As for [`available`].
pub fn set_compile_at_first_call(_image: &Image) -> Result<(), String> {
    available()
}

/// Compiles nothing.
pub fn compile(_lowered: &'static LoweredFunction) -> bool {
    false
}

/// Returns `None`: no position is in machine code.
pub fn bytecode_at(_pc: usize) -> Option<*const u64> {
    None
}
