//! How native code enters the chain of handlers on x86-64.
//!
//! Handlers keep the registers that a caller owns (System V: rbx, rbp, r12 to r15); machine code
//! of the baseline tier does not, so that it has them for slots. They are saved here, once per
//! entry.

use super::{Handler, ThreadState};
use std::arch::global_asm;

global_asm!(
    ".text",
    ".p2align 4",
    ".hidden ompvm_interp_run",
    ".globl ompvm_interp_run",
    ".type ompvm_interp_run,@function",
    "ompvm_interp_run:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "push rbx",
    ".cfi_def_cfa_offset 24",
    ".cfi_offset rbx, -24",
    "push r12",
    ".cfi_def_cfa_offset 32",
    ".cfi_offset r12, -32",
    "push r13",
    ".cfi_def_cfa_offset 40",
    ".cfi_offset r13, -40",
    "push r14",
    ".cfi_def_cfa_offset 48",
    ".cfi_offset r14, -48",
    "push r15",
    ".cfi_def_cfa_offset 56",
    ".cfi_offset r15, -56",
    "sub rsp, 8",
    ".cfi_def_cfa_offset 64",
    "call rcx",
    "add rsp, 8",
    ".cfi_def_cfa_offset 56",
    "pop r15",
    ".cfi_def_cfa_offset 48",
    "pop r14",
    ".cfi_def_cfa_offset 40",
    "pop r13",
    ".cfi_def_cfa_offset 32",
    "pop r12",
    ".cfi_def_cfa_offset 24",
    "pop rbx",
    ".cfi_def_cfa_offset 16",
    "pop rbp",
    ".cfi_def_cfa_offset 8",
    "ret",
    ".cfi_endproc",
    ".size ompvm_interp_run, . - ompvm_interp_run",
);

unsafe extern "C-unwind" {
    /// Calls `first(ip, regs, cx)`.
    #[link_name = "ompvm_interp_run"]
    #[allow(improper_ctypes, reason = "the thread state is only passed on")]
    pub(super) fn enter_chain(ip: *const u64, regs: *mut u64, cx: *mut ThreadState, first: Handler);
}
