//! The assembly through which compiled code throws, on x86-64 (System V).
//!
//! The unwinder must see the frame of the throwing function, so a shim may have no frame of its own
//! and is assembly. It is a file of its own because the OpenMP runtime alone is linked without a
//! C++ library. [`throws`] keeps the record of a thrown exception.

use crate::throws;
use std::arch::global_asm;

unsafe extern "C-unwind" {
    /// Records the throwing position and jumps to the C++ library's `__cxa_throw`. The address of
    /// the [`throws::Shim`] is in r11, everything else as for that function.
    #[link_name = "ompvm_boundary_throw_with"]
    pub(crate) fn raw_throw();
    /// Does the same for `__cxa_rethrow`.
    #[link_name = "ompvm_boundary_rethrow_with"]
    pub(crate) fn raw_rethrow();
    #[link_name = "ompvm_boundary_throw"]
    fn own_throw();
    #[link_name = "ompvm_boundary_rethrow"]
    fn own_rethrow();
}

/// Returns `__cxa_throw` and `__cxa_rethrow` for compiled code that throws with the process's own
/// C++ library.
pub(crate) fn throw_addresses() -> [usize; 2] {
    [
        own_throw as *const () as usize,
        own_rethrow as *const () as usize,
    ]
}

// __cxa_throw and __cxa_rethrow: arguments and return address stay unchanged, so the unwinder sees
// the caller's frame. The second word of a throws::Shim is the library's function.
global_asm!(
    ".text",
    ".p2align 4",
    ".hidden ompvm_boundary_throw",
    ".globl ompvm_boundary_throw",
    ".type ompvm_boundary_throw,@function",
    "ompvm_boundary_throw:",
    "lea r11, [rip + {own}]",
    ".hidden ompvm_boundary_throw_with",
    ".globl ompvm_boundary_throw_with",
    ".type ompvm_boundary_throw_with,@function",
    "ompvm_boundary_throw_with:",
    ".cfi_startproc",
    "push rdi",
    ".cfi_adjust_cfa_offset 8",
    "push rsi",
    ".cfi_adjust_cfa_offset 8",
    "push rdx",
    ".cfi_adjust_cfa_offset 8",
    "push r11",
    ".cfi_adjust_cfa_offset 8",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "mov rsi, [rsp + 40]",
    "call {throw}",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "pop r11",
    ".cfi_adjust_cfa_offset -8",
    "pop rdx",
    ".cfi_adjust_cfa_offset -8",
    "pop rsi",
    ".cfi_adjust_cfa_offset -8",
    "pop rdi",
    ".cfi_adjust_cfa_offset -8",
    "jmp [r11 + 8]",
    ".cfi_endproc",
    ".size ompvm_boundary_throw_with, . - ompvm_boundary_throw_with",
    ".size ompvm_boundary_throw, . - ompvm_boundary_throw",
    ".hidden ompvm_boundary_rethrow",
    ".globl ompvm_boundary_rethrow",
    ".type ompvm_boundary_rethrow,@function",
    "ompvm_boundary_rethrow:",
    "lea r11, [rip + {own} + {shim}]",
    ".hidden ompvm_boundary_rethrow_with",
    ".globl ompvm_boundary_rethrow_with",
    ".type ompvm_boundary_rethrow_with,@function",
    "ompvm_boundary_rethrow_with:",
    ".cfi_startproc",
    "push r11",
    ".cfi_adjust_cfa_offset 8",
    "mov rdi, [rsp + 8]",
    "mov rsi, r11",
    "call {rethrow}",
    "pop r11",
    ".cfi_adjust_cfa_offset -8",
    "jmp [r11 + 8]",
    ".cfi_endproc",
    ".size ompvm_boundary_rethrow_with, . - ompvm_boundary_rethrow_with",
    ".size ompvm_boundary_rethrow, . - ompvm_boundary_rethrow",
    own = sym throws::CPP_LIBRARIES,
    shim = const size_of::<throws::Shim>(),
    throw = sym throws::thrown,
    rethrow = sym throws::rethrown,
);
