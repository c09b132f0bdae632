//! The address of a thread's state.
//!
//! A thread-local variable that is reached by a descriptor (Oliva and Jonath, "Speeding Up
//! Thread-Local Storage Access in Dynamic Libraries in the ARM platform", 2006; ELF Handling For
//! TLS, x86-64). In an executable the linker makes one load of it. In `libompvm.so` it is an
//! indirect call of two instructions, where a Rust thread-local variable is a call of
//! `__tls_get_addr`, a sixth of an empty call from C.

use super::thread::ThreadState;
use std::arch::{asm, global_asm};

global_asm!(
    ".section .tbss,\"awT\",@nobits",
    ".p2align 3",
    ".hidden ompvm_thread_state",
    ".globl ompvm_thread_state",
    ".type ompvm_thread_state,@object",
    "ompvm_thread_state:",
    ".zero 8",
    ".size ompvm_thread_state, 8",
    ".text",
);

/// Returns the distance of the variable from the thread pointer.
#[inline(always)]
fn distance() -> isize {
    let distance: isize;
    // SAFETY: the sequence that linkers know. The call preserves all registers but rax; in versions
    // of the C library before 2.40 the first one of a thread may change vector registers (bug
    // 31372).
    unsafe {
        asm!(
            "lea rax, [rip + ompvm_thread_state@tlsdesc]",
            "call qword ptr [rax + ompvm_thread_state@tlscall]",
            out("rax") distance,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
        );
    }
    distance
}

/// Returns the state of the thread that runs now; null before the first use. Compilers do not keep
/// the result over calls, which may continue on another thread.
#[inline(always)]
pub(super) fn get() -> *mut ThreadState {
    let state;
    // SAFETY: the variable is at this distance from the thread pointer.
    unsafe {
        asm!("mov {}, fs:[{}]", out(reg) state, in(reg) distance(), options(nostack, preserves_flags));
    }
    state
}

/// Sets the state of this thread.
pub(super) fn set(state: *mut ThreadState) {
    // SAFETY: as in `get`.
    unsafe {
        asm!("mov fs:[{}], {}", in(reg) distance(), in(reg) state, options(nostack, preserves_flags));
    }
}
