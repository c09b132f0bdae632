//! Gates: the path into an entry if there is, or may be, a tool.
//!
//! A gate saves everything that may hold an argument, records the entry's return address and the
//! frame, finds the entry's traced form by its name, restores, and jumps there. So gates fit
//! entries of any signature, and the return address is the caller's own.
//!
//! In compiled code, native or a guest's, the address lies behind the call. For an interpreted
//! guest it lies in a shim that calls native functions, and the interpreter maps it to the address
//! that stands for the code behind the call ([`set_callers`]).

use std::arch::naked_asm;
use std::ffi::{CStr, c_char, c_void};

use super::{TOOL, entries, on, record, start};
use crate::runtime::LOCALS;
use crate::{program, table};

/// Jumps to the entry whose name is in `r11`.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn enter() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "sub rsp, 192",
        "mov [rsp], rax",
        "mov [rsp + 8], rdi",
        "mov [rsp + 16], rsi",
        "mov [rsp + 24], rdx",
        "mov [rsp + 32], rcx",
        "mov [rsp + 40], r8",
        "mov [rsp + 48], r9",
        "mov [rsp + 56], r10",
        "movaps [rsp + 64], xmm0",
        "movaps [rsp + 80], xmm1",
        "movaps [rsp + 96], xmm2",
        "movaps [rsp + 112], xmm3",
        "movaps [rsp + 128], xmm4",
        "movaps [rsp + 144], xmm5",
        "movaps [rsp + 160], xmm6",
        "movaps [rsp + 176], xmm7",
        "mov rdi, r11",
        "mov rsi, [rbp + 8]",
        "lea rdx, [rbp + 16]",
        "mov rcx, [rbp]",
        "call {find}",
        "mov r11, rax",
        "mov rax, [rsp]",
        "mov rdi, [rsp + 8]",
        "mov rsi, [rsp + 16]",
        "mov rdx, [rsp + 24]",
        "mov rcx, [rsp + 32]",
        "mov r8, [rsp + 40]",
        "mov r9, [rsp + 48]",
        "mov r10, [rsp + 56]",
        "movaps xmm0, [rsp + 64]",
        "movaps xmm1, [rsp + 80]",
        "movaps xmm2, [rsp + 96]",
        "movaps xmm3, [rsp + 112]",
        "movaps xmm4, [rsp + 128]",
        "movaps xmm5, [rsp + 144]",
        "movaps xmm6, [rsp + 160]",
        "movaps xmm7, [rsp + 176]",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "jmp r11",
        ".cfi_endproc",
        find = sym find,
    )
}

/// Maps a call's return address to the guest address that stands for it, if any.
pub type Callers = fn(returns: usize) -> Option<usize>;

/// Registers the mapping of interpreted guests' return addresses.
pub fn set_callers(callers: Callers) {
    TOOL.callers.set(callers);
}

/// Returns the address that is reported to a tool for a call that returns to `code`.
fn caller(code: usize) -> usize {
    let known = TOOL.callers.get().and_then(|callers| callers(code));
    known.unwrap_or(code)
}

/// Runs code of the tool that starts or ends it.
pub fn without_callbacks<T>(f: impl FnOnce() -> T) -> T {
    let before = LOCALS.with(|l| l.silent.replace(true));
    let result = f();
    LOCALS.with(|l| l.silent.set(before));
    result
}

/// Returns true if the thread is in [`without_callbacks`].
pub fn silent() -> bool {
    LOCALS.with(|l| l.silent.get())
}

/// Returns the frame of the code that calls an entry: its frame pointer, if `register` can be one,
/// else the canonical frame address of the entry.
fn frame_of_caller(cfa: usize, register: usize) -> usize {
    /// Upper bound of the size of a frame in bytes.
    const LARGEST: usize = 16 << 20;
    let inside = register >= cfa && register - cfa < LARGEST && register.is_multiple_of(8);
    if inside { register } else { cfa }
}

/// Returns the code at which the named entry continues, for a call from `code` with the canonical
/// frame address `cfa` and frame pointer register `register`.
unsafe extern "C-unwind" fn find(
    name: *const c_char,
    code: usize,
    cfa: usize,
    register: usize,
) -> *const c_void {
    // SAFETY: the gates pass names of the table, which are null-terminated.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
    if !silent() {
        start::decide();
        if on() {
            let me = record::current();
            let shown = caller(code);
            me.code.set(shown);
            me.cfa.set(cfa);
            // For an interpreted call the register is the interpreter's own.
            me.frame.set(match shown == code {
                true => frame_of_caller(cfa, register),
                false => cfa,
            });
            if let Some(row) = entries::traced(name) {
                return row.address.0;
            }
        }
    }
    match name {
        "__kmpc_fork_call" => crate::abi::fork_call_variadic as *const c_void,
        "__kmpc_fork_teams" => crate::abi::fork_teams_variadic as *const c_void,
        _ => table::lookup(name).map_or(program::unsupported as *const c_void, |e| e.address.0),
    }
}

#[cfg(test)]
mod tests {
    use super::frame_of_caller;

    #[test]
    fn kmpc_ompt_frames_of_callers_lie_above_the_call() {
        let cfa = 0x7fff_0000_1000;
        assert_eq!(frame_of_caller(cfa, cfa + 64), cfa + 64);
        assert_eq!(frame_of_caller(cfa, cfa), cfa);
        for register in [0, 7, cfa - 8, cfa + 12, cfa + (1 << 30), usize::MAX] {
            assert_eq!(frame_of_caller(cfa, register), cfa);
        }
    }
}
