//! System V x86-64: microtasks with N pointer arguments, and the variadic fork entries.
//!
//! All frames carry unwind information, so that an exception of the guest passes through.

use std::arch::naked_asm;
use std::ffi::c_void;

use crate::{fork, ompt, task, teams};

/// Calls `microtask(gtid, btid, argv[0], .., argv[argc - 1])`.
///
/// # Safety
/// `microtask` takes two `i32` pointers and `argc` pointers; `argv` has `argc` elements.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn call_microtask(
    microtask: *const c_void,
    gtid: *const i32,
    btid: *const i32,
    argc: u32,
    argv: *const *mut c_void,
) {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov r10, r8",
        "mov r11d, ecx",
        // Arguments beyond the fourth go to the stack, padded to 16 bytes.
        "sub r11d, 4",
        "jle 3f",
        "lea edx, [r11 + 1]",
        "and edx, -2",
        "shl rdx, 3",
        "sub rsp, rdx",
        "xor ecx, ecx",
        "2:",
        "mov rdx, [r10 + rcx*8 + 32]",
        "mov [rsp + rcx*8], rdx",
        "inc ecx",
        "cmp ecx, r11d",
        "jl 2b",
        "3:",
        "cmp r11d, -3",
        "jl 4f",
        "mov rdx, [r10]",
        "je 4f",
        "mov rcx, [r10 + 8]",
        "cmp r11d, -1",
        "jl 4f",
        "mov r8, [r10 + 16]",
        "je 4f",
        "mov r9, [r10 + 24]",
        "4:",
        "call rax",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// Like [`call_microtask`], and stores the frame pointer that the microtask finds in `frame`.
///
/// # Safety
/// As for [`call_microtask`]; `frame` may be written.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn call_microtask_noting(
    microtask: *const c_void,
    gtid: *const i32,
    btid: *const i32,
    argc: u32,
    argv: *const *mut c_void,
    frame: *mut usize,
) {
    naked_asm!(
        // Address at which `call_microtask` saves the caller's frame pointer, and to which its own
        // points.
        "lea rax, [rsp - 8]",
        "mov [r9], rax",
        "jmp {target}",
        target = sym call_microtask,
    )
}

/// Calls a task's routine, and stores the frame pointer that it finds in `frame`.
///
/// # Safety
/// `routine` takes `task`, a live structure of its own; `frame` may be written.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn call_routine_noting(
    gtid: i32,
    task: *mut task::Payload,
    routine: task::Routine,
    frame: *mut usize,
) -> i32 {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov [rcx], rbp",
        "call rdx",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// Returns the distance in bytes from the array that a variadic entry lays out to its frame
/// pointer, for `count` arguments. The entries below subtract the same distance.
pub fn distance_to_frame(count: u32) -> usize {
    ((count.max(4) as usize + 1) & !1) * 8
}

/// Defines `void (ident, i32 argc, microtask, ...)`, which lays out the variable arguments as an
/// array and calls `$target(ident, argc, microtask, array)`.
macro_rules! variadic_entry {
    ($(#[$doc:meta])* $name:ident => $target:path) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// To be called as the ABI's variadic entry with `argc` pointers.
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn $name() {
            naked_asm!(
                ".cfi_startproc",
                "push rbp",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset rbp, -16",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                "mov eax, 4",
                "cmp esi, 4",
                "cmovg eax, esi",
                "inc eax",
                "and eax, -2",
                "shl rax, 3",
                "sub rsp, rax",
                "mov [rsp], rcx",
                "mov [rsp + 8], r8",
                "mov [rsp + 16], r9",
                "mov ecx, 3",
                "2:",
                "cmp ecx, esi",
                "jge 3f",
                "mov rax, [rbp + rcx*8 - 8]",
                "mov [rsp + rcx*8], rax",
                "inc ecx",
                "jmp 2b",
                "3:",
                "mov rcx, rsp",
                "call {target}",
                "leave",
                ".cfi_def_cfa rsp, 8",
                "ret",
                ".cfi_endproc",
                target = sym $target,
            )
        }
    };
}

variadic_entry! {
    /// Implements `__kmpc_fork_call` for native callers.
    fork_call_variadic => fork::parallel
}
variadic_entry! {
    /// Implements `__kmpc_fork_call` for native callers while a tool is attached.
    traced_fork_call_variadic => ompt::fork
}
variadic_entry! {
    /// Implements `__kmpc_fork_teams` for native callers while a tool is attached.
    traced_fork_teams_variadic => ompt::fork_teams
}
variadic_entry! {
    /// Implements `__kmpc_fork_teams` for native callers.
    fork_teams_variadic => teams::fork
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C-unwind" fn seven(
        gtid: *const i32,
        btid: *const i32,
        a: *mut u64,
        b: u64,
        c: u64,
        d: u64,
        e: u64,
        f: u64,
        g: u64,
    ) {
        // SAFETY: the test passes live pointers.
        unsafe {
            *a =
                (*gtid + *btid) as u64 + b + c * 10 + d * 100 + e * 1000 + f * 10_000 + g * 100_000;
        }
    }

    unsafe extern "C-unwind" fn one(_: *const i32, _: *const i32, a: *mut u64) {
        // SAFETY: the test passes a live pointer.
        unsafe { *a += 1 };
    }

    #[test]
    fn kmpc_calls_microtasks_with_register_and_stack_arguments() {
        let mut out = 0u64;
        let p = (&raw mut out).cast::<c_void>();
        let n = |v: usize| std::ptr::without_provenance_mut::<c_void>(v);
        let args = [p, n(1), n(2), n(3), n(4), n(5), n(6)];
        let (g, b) = (1_000_000, 2_000_000);
        // SAFETY: `seven` and `one` take the arguments passed.
        unsafe {
            call_microtask(seven as *const c_void, &g, &b, 7, args.as_ptr());
            assert_eq!(out, 3_654_321);
            call_microtask(one as *const c_void, &g, &b, 1, args.as_ptr());
            assert_eq!(out, 3_654_322);
        }
    }
}
