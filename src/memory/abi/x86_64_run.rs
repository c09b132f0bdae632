//! The frame of an activation with guest frames on x86-64 (System V), in which handlers of the
//! interpreter and code of the baseline tier run.

use super::x86_64_enter::{EnterResult, open_frame, restore_registers};
use crate::activation::{self, Activation};
use crate::thread::{HEADER, ThreadState};
use std::arch::global_asm;
use std::ffi::c_void;

unsafe extern "C-unwind" {
    #[link_name = "ompvm_boundary_run"]
    pub(crate) fn raw_run(act: *mut c_void, bytes: usize) -> EnterResult;
    #[link_name = "ompvm_boundary_run_landing"]
    fn raw_run_landing();
}

/// Returns true if a native position is in the frame of an activation with guest frames.
pub(crate) fn in_run(position: usize) -> bool {
    let start = raw_run as *const () as usize;
    (start..start + 256).contains(&position)
}

/// Returns the landing address of `raw_run`'s frame.
pub(crate) fn run_landing_address() -> usize {
    raw_run_landing as *const () as usize
}

/// The least and the most bytes by which the room for guest frames grows at once; in between it
/// doubles.
const LEAST_STEP: usize = 1 << 10;
const MOST_STEP: usize = 64 << 10;

#[allow(improper_ctypes, reason = "the thread's state is only passed on")]
unsafe extern "sysv64-unwind" {
    /// Moves the native stack pointer of the innermost activation down and continues with the
    /// instruction at `ip`, as a handler does. If the stack has no room, the guest overflows its
    /// stack.
    ///
    /// # Safety
    /// The contract of a handler; the call must be the last action of a handler.
    #[link_name = "ompvm_boundary_extend"]
    pub fn extend(ip: *const u64, regs: *mut u64, state: *mut ThreadState) -> Extended;
}

/// The result of [`extend`], as of handlers.
#[cfg(ompvm_tail_calls)]
pub type Extended = ();
/// The result of [`extend`], as of handlers.
#[cfg(not(ompvm_tail_calls))]
pub type Extended = activation::ResumePoint;

// The activation with guest frames. In: rdi activation, rsi bytes. The prologue is that of the
// frame above. Below it lie the guest frames, from rbp - 64 downwards. The lowest word, at rsp,
// holds rbp: machine code of the baseline tier preserves no register, so everything is found
// through that word. The rule for the frame's address is a DWARF expression: breg7 0, deref,
// plus_uconst 16.
//
// With tail calls the first handler returns when the run ends. Otherwise each handler returns here,
// where the stack pointer can be moved between two of them.
macro_rules! run_asm {
    ([$($dispatch:literal),*], [$($extend:literal),*] $(, $requested_bytes:ident)?) => {
        global_asm!(
            ".text",
            ".p2align 4",
            ".hidden ompvm_boundary_run",
            ".globl ompvm_boundary_run",
            ".type ompvm_boundary_run,@function",
            "ompvm_boundary_run:",
            ".cfi_startproc",
            ".cfi_personality 0x1b, {personality}",
            open_frame!(),
            "stmxcsr [rsp]",
            "fnstcw [rsp + 8]",
            "mov [rdi], rbp",
            "mov rdx, rsp",
            "mov rax, rsp",
            "sub rax, rsi",
            // Pages are touched in order, so that an overflow hits the guard page.
            "2:",
            "lea rcx, [rsp - 4096]",
            "cmp rcx, rax",
            "jbe 3f",
            "mov rsp, rcx",
            "or qword ptr [rsp], 0",
            "jmp 2b",
            "3:",
            "lea rsp, [rax - 16]",
            "mov [rsp], rbp",
            ".cfi_remember_state",
            ".cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 16",
            "mov [rdi + {low}], rsp",
            "lea rax, [rsp + {room}]",
            "mov [rdi + {limit}], rax",
            "mov rcx, [rdi + {state}]",
            "mov [rcx + {state_limit}], rax",
            "xor esi, esi",
            "4:",
            "call [rdi + {resume_callback}]",
            "mov rdi, rax",
            "mov rsi, rdx",
            "test rax, rax",
            "je 7f",
            "mov rax, [rsp]",
            "mov rax, [rax - 48]",
            "mov rdx, [rax + {state}]",
            $($dispatch,)*
            "mov rbp, [rsp]",
            "xor eax, eax",
            "jmp 8f",
            "7:",
            "mov rbp, [rsp]",
            "mov eax, 1",
            "8:",
            restore_registers!(),
            ".cfi_restore_state",
            ".cfi_remember_state",
            "leave",
            ".cfi_def_cfa rsp, 8",
            "ret",
            ".cfi_restore_state",
            ".cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 16",
            ".hidden ompvm_boundary_run_landing",
            ".globl ompvm_boundary_run_landing",
            "ompvm_boundary_run_landing:",
            "mov rbp, [rsp]",
            "mov rdi, [rbp - 48]",
            "mov esi, 1",
            "mov rdx, rax",
            "jmp 4b",
            ".hidden ompvm_boundary_run_jump",
            ".globl ompvm_boundary_run_jump",
            "ompvm_boundary_run_jump:",
            "mov rbp, [rdi]",
            "mov rsp, [rdi + {low}]",
            "ldmxcsr [rbp - 64]",
            "fnclex",
            "fldcw [rbp - 56]",
            "cld",
            "mov rdx, rsi",
            "mov esi, 2",
            "jmp 4b",
            ".cfi_endproc",
            ".size ompvm_boundary_run, . - ompvm_boundary_run",
            ".p2align 4",
            ".hidden ompvm_boundary_extend",
            ".globl ompvm_boundary_extend",
            ".type ompvm_boundary_extend,@function",
            "ompvm_boundary_extend:",
            ".cfi_startproc",
            $($extend,)*
            ".cfi_endproc",
            ".size ompvm_boundary_extend, . - ompvm_boundary_extend",
            personality = sym activation::personality_run,
            low = const std::mem::offset_of!(Activation, low),
            limit = const std::mem::offset_of!(Activation, limit),
            resume_callback = const std::mem::offset_of!(Activation, resume_callback),
            state = const std::mem::offset_of!(Activation, state),
            $($requested_bytes = const std::mem::offset_of!(Activation, $requested_bytes),)?
            full_stack_handler = const std::mem::offset_of!(Activation, full_stack_handler),
            overflow_start = const std::mem::offset_of!(ThreadState, overflow_bounds),
            overflow_below = const std::mem::offset_of!(ThreadState, overflow_bounds) + 8,
            overflow_end = const std::mem::offset_of!(ThreadState, overflow_bounds) + 16,
            state_limit = const std::mem::offset_of!(ThreadState, limit),
            state_activation = const std::mem::offset_of!(ThreadState, activation),
            room = const activation::MARGIN + HEADER * 8 + 16,
            most = const MOST_STEP,
            least = const LEAST_STEP,
        );
    };
}
// The first handler returns when the run ends. A handler that needs room jumps to `extend` with the
// return address at rsp and the frame's lowest word above it; both are copied.
#[cfg(ompvm_tail_calls)]
run_asm!(
    ["call [rdi]"],
    [
        "mov rcx, [rdx + {state_activation}]",
        "mov rax, [rsp]",
        "mov r9, [rsp + 8]",
        "lea r11, [rsp + 8]",
        "mov r8, r9",
        "sub r8, r11",
        "mov r10d, {least}",
        "cmp r8, r10",
        "cmovb r8, r10",
        "mov r10d, {most}",
        "cmp r8, r10",
        "cmova r8, r10",
        "mov r10, r11",
        "sub r10, r8",
        "cmp r11, [rdx + {overflow_end}]",
        "jae 2f",
        "cmp r11, [rdx + {overflow_start}]",
        "jb 2f",
        "cmp r10, [rdx + {overflow_below}]",
        "jae 2f",
        "jmp [rcx + {full_stack_handler}]",
        "2:",
        "sub r11, 4096",
        "cmp r11, r10",
        "jbe 3f",
        "or qword ptr [r11], 0",
        "jmp 2b",
        "3:",
        "mov [r10 - 8], rax",
        "mov [r10], r9",
        "lea rsp, [r10 - 8]",
        "mov [rcx + {low}], r10",
        "add r10, {room}",
        "mov [rcx + {limit}], r10",
        "mov [rdx + {state_limit}], r10",
        "jmp [rdi]"
    ]
);
#[cfg(not(ompvm_tail_calls))]
run_asm!(
    [
        "5:",
        "call [rdi]",
        "mov rdi, rax",
        "mov rsi, rdx",
        "test rax, rax",
        "je 6f",
        "mov rax, [rsp]",
        "mov rax, [rax - 48]",
        "mov rdx, [rax + {state}]",
        "mov r8, [rax + {requested_bytes}]",
        "test r8, r8",
        "je 5b",
        "mov qword ptr [rax + {requested_bytes}], 0",
        "mov r9, [rsp]",
        "mov r11, rsp",
        "mov r10, rsp",
        "sub r10, r8",
        "10:",
        "sub r11, 4096",
        "cmp r11, r10",
        "jbe 11f",
        "or qword ptr [r11], 0",
        "jmp 10b",
        "11:",
        "mov [r10], r9",
        "mov rsp, r10",
        "mov [rax + {low}], r10",
        "add r10, {room}",
        "mov [rax + {limit}], r10",
        "mov [rdx + {state_limit}], r10",
        "jmp 5b",
        "6:"
    ],
    [
        "mov rcx, [rdx + {state_activation}]",
        "mov r8, [rcx]",
        "sub r8, [rcx + {low}]",
        "mov r10d, {least}",
        "cmp r8, r10",
        "cmovb r8, r10",
        "mov r10d, {most}",
        "cmp r8, r10",
        "cmova r8, r10",
        "mov r11, [rcx + {low}]",
        "mov r10, r11",
        "sub r10, r8",
        "cmp r11, [rdx + {overflow_end}]",
        "jae 2f",
        "cmp r11, [rdx + {overflow_start}]",
        "jb 2f",
        "cmp r10, [rdx + {overflow_below}]",
        "jae 2f",
        "jmp [rcx + {full_stack_handler}]",
        "2:",
        "mov [rcx + {requested_bytes}], r8",
        "mov rax, rdi",
        "mov rdx, rsi",
        "ret"
    ],
    requested_bytes
);
