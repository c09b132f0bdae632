//! Calling conventions by LLVM's numbers (`llvm/IR/CallingConv.h`).
//!
//! Functions of a program call each other across tiers, where each call has the form of a C call.
//! So conventions that only choose other registers count as C's between them
//! ([`between_functions`]). A native function keeps its own: compiled code calls it as it asks for,
//! the interpreter only as C ([`native_name`]).

/// The convention of C.
pub const C: u32 = 0;
/// `preserve_most`: the callee saves nearly all registers.
pub const PRESERVE_MOST: u32 = 14;
/// `preserve_all`: the callee saves all registers.
pub const PRESERVE_ALL: u32 = 15;
/// `swiftcall`: that of C, with up to four registers of either kind for results.
pub const SWIFT: u32 = 16;
/// Calls that never take stack, if they are tail calls; the callee removes its arguments.
pub const TAIL: u32 = 18;
/// `swiftasynccall`: as [`TAIL`].
pub const SWIFT_TAIL: u32 = 20;
/// `preserve_none`: the callee saves no registers.
pub const PRESERVE_NONE: u32 = 21;
/// `sysv_abi`: that of C on this system.
pub const SYSV: u32 = 78;
/// `ms_abi`: that of C on Windows.
pub const WIN64: u32 = 79;
/// `vectorcall`: vectors in registers.
pub const VECTORCALL: u32 = 80;
/// `regcall`: as many arguments in registers as possible.
pub const REGCALL: u32 = 92;

/// Returns the convention that calls between functions of a program have instead of the given one.
/// Results of up to four doubles stay in registers.
pub fn between_functions(convention: u32) -> u32 {
    match convention {
        PRESERVE_MOST | PRESERVE_ALL | PRESERVE_NONE | SYSV | WIN64 => C,
        VECTORCALL | REGCALL | TAIL | SWIFT_TAIL => SWIFT,
        other => other,
    }
}

/// Returns the name in C of a convention whose arguments are elsewhere than those of a C call.
pub fn native_name(convention: u32) -> Option<&'static str> {
    match convention {
        PRESERVE_NONE => Some("preserve_none"),
        WIN64 => Some("ms_abi"),
        VECTORCALL => Some("vectorcall"),
        REGCALL => Some("regcall"),
        SWIFT_TAIL => Some("swiftasynccall"),
        _ => None,
    }
}
