//! The assembly through which compiled code throws, on x86-64 (System V).
//!
//! Why assembly: the unwinder must see the frame of whoever throws, not one of ours. Apart from
//! the rest because the OpenMP runtime alone is linked without a C++ library.
//!
//! What not: what is noted is `throws`' concern.

use crate::memory::throws;
use std::arch::global_asm;

unsafe extern "C-unwind" {
    #[link_name = "ompvm_boundary_throw"]
    fn raw_throw();
    #[link_name = "ompvm_boundary_rethrow"]
    fn raw_rethrow();
}

/// `__cxa_throw` and `__cxa_rethrow` for compiled code: they note where the exception comes from
/// and go on to the C++ library's.
pub(in crate::memory) fn throw_addresses() -> [usize; 2] {
    [
        raw_throw as *const () as usize,
        raw_rethrow as *const () as usize,
    ]
}

// __cxa_throw and __cxa_rethrow: their arguments and return address stay as they are, so the
// unwinder sees the caller's frame.
global_asm!(
    ".text",
    ".p2align 4",
    ".hidden ompvm_boundary_throw",
    ".globl ompvm_boundary_throw",
    ".type ompvm_boundary_throw,@function",
    "ompvm_boundary_throw:",
    ".cfi_startproc",
    "push rdi",
    ".cfi_adjust_cfa_offset 8",
    "push rsi",
    ".cfi_adjust_cfa_offset 8",
    "push rdx",
    ".cfi_adjust_cfa_offset 8",
    "mov rsi, [rsp + 24]",
    "call {throw}",
    "pop rdx",
    ".cfi_adjust_cfa_offset -8",
    "pop rsi",
    ".cfi_adjust_cfa_offset -8",
    "pop rdi",
    ".cfi_adjust_cfa_offset -8",
    "jmp [rip + __cxa_throw@GOTPCREL]",
    ".cfi_endproc",
    ".size ompvm_boundary_throw, . - ompvm_boundary_throw",
    ".hidden ompvm_boundary_rethrow",
    ".globl ompvm_boundary_rethrow",
    ".type ompvm_boundary_rethrow,@function",
    "ompvm_boundary_rethrow:",
    ".cfi_startproc",
    "mov rdi, [rsp]",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call {rethrow}",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "jmp [rip + __cxa_rethrow@GOTPCREL]",
    ".cfi_endproc",
    ".size ompvm_boundary_rethrow, . - ompvm_boundary_rethrow",
    throw = sym throws::thrown,
    rethrow = sym throws::rethrown,
);
