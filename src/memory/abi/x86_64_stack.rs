//! Assembly that changes stacks on x86-64 (System V): the bottom of a stack, calls on another one, and
//! `setjmp`.

use crate::jump;
use std::arch::global_asm;
use std::ffi::c_void;

unsafe extern "C-unwind" {
    #[link_name = "ompvm_boundary_bottom"]
    pub(crate) fn raw_bottom(f: extern "C-unwind" fn(*mut c_void), a: *mut c_void);
    #[link_name = "ompvm_boundary_on"]
    pub(crate) fn raw_on(f: extern "C-unwind" fn(*mut c_void), a: *mut c_void, top: usize);
    #[link_name = "ompvm_boundary_resume"]
    pub(crate) fn resume_jump(registers: *const [u64; 8], value: i32) -> !;
    #[link_name = "ompvm_boundary_setjmp"]
    fn raw_set_jump();
    #[link_name = "ompvm_boundary_sigsetjmp"]
    fn raw_set_jump_signals();
}

/// Returns `setjmp` for compiled code, without and with the argument that selects the signal mask.
pub(crate) fn set_jump_addresses() -> [usize; 2] {
    [
        raw_set_jump as *const () as usize,
        raw_set_jump_signals as *const () as usize,
    ]
}

// The bottom of a stack, as the unwinder sees it: its return address is undefined, as that of a
// thread's first function (DWARF 5, 6.4.4). In: rdi f, rsi a.
global_asm!(
    ".text",
    ".p2align 4",
    ".hidden ompvm_boundary_bottom",
    ".globl ompvm_boundary_bottom",
    ".type ompvm_boundary_bottom,@function",
    "ompvm_boundary_bottom:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "push rbp",
    "mov rbp, rsp",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    "pop rbp",
    "ret",
    ".cfi_endproc",
    ".size ompvm_boundary_bottom, . - ompvm_boundary_bottom",
);

// Calls a function on another stack. In: rdi f, rsi a, rdx the end of the stack, a multiple of 16.
global_asm!(
    ".text",
    ".p2align 4",
    ".hidden ompvm_boundary_on",
    ".globl ompvm_boundary_on",
    ".type ompvm_boundary_on,@function",
    "ompvm_boundary_on:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "mov rsp, rdx",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size ompvm_boundary_on, . - ompvm_boundary_on",
);

// setjmp. In: rdi buffer, esi nonzero to save the signal mask. The registers go behind the first
// word of the buffer; `jump::note` fills the rest and returns to the caller. The resuming routine
// takes the registers in rdi and the value in esi.
global_asm!(
    ".text",
    ".p2align 4",
    ".hidden ompvm_boundary_setjmp",
    ".globl ompvm_boundary_setjmp",
    ".type ompvm_boundary_setjmp,@function",
    ".hidden ompvm_boundary_sigsetjmp",
    ".globl ompvm_boundary_sigsetjmp",
    ".type ompvm_boundary_sigsetjmp,@function",
    ".hidden ompvm_boundary_resume",
    ".globl ompvm_boundary_resume",
    ".type ompvm_boundary_resume,@function",
    "ompvm_boundary_setjmp:",
    ".cfi_startproc",
    "xor esi, esi",
    "ompvm_boundary_sigsetjmp:",
    "mov [rdi + 8], rbx",
    "mov [rdi + 16], rbp",
    "mov [rdi + 24], r12",
    "mov [rdi + 32], r13",
    "mov [rdi + 40], r14",
    "mov [rdi + 48], r15",
    "lea rax, [rsp + 8]",
    "mov [rdi + 56], rax",
    "mov rax, [rsp]",
    "mov [rdi + 64], rax",
    "jmp {note}",
    "ompvm_boundary_resume:",
    "mov eax, esi",
    "mov rbx, [rdi]",
    "mov rbp, [rdi + 8]",
    "mov r12, [rdi + 16]",
    "mov r13, [rdi + 24]",
    "mov r14, [rdi + 32]",
    "mov r15, [rdi + 40]",
    "mov rsp, [rdi + 48]",
    "cld",
    "jmp [rdi + 56]",
    ".cfi_endproc",
    ".size ompvm_boundary_setjmp, . - ompvm_boundary_setjmp",
    note = sym jump::note,
);
