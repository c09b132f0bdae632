//! The assembly of calls on x86-64 (System V): the entry that stubs jump to, and the call of a native
//! function with any registers.
//!
//! Every routine of the boundary has full call-frame information, so native exceptions pass through
//! all of them. `x86_64.rs` decides which value goes to which register, `x86_64_enter.rs` and
//! `x86_64_run.rs` have the frames of activations, and `x86_64_stack.rs` changes stacks.

use crate::func::{FuncRef, HOST_TAG, HostEntry};
use crate::hooks::HOOKS;
use crate::interrupt;
use std::arch::global_asm;

/// The registers and stack of a call from native code into a guest function.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct NativeFrame {
    /// rdi, rsi, rdx, rcx, r8, r9: together with `xmm` the register save area of `va_start`.
    pub gpr: [u64; 6],
    /// xmm0 to xmm7.
    pub xmm: [u128; 8],
    /// The first stack argument.
    pub stack: *mut u8,
    /// rax at the entry; for variadic calls, its low byte bounds the number of vector registers
    /// used.
    pub rax: u64,
    /// r10 at the entry: the static chain.
    pub nest: u64,
    /// rax, rdx and rcx to return.
    pub ret_gpr: [u64; 3],
    /// xmm0 to xmm3 to return.
    pub ret_xmm: [u128; 4],
    /// st0 and st1 to return (ten bytes each).
    pub ret_st: [u128; 2],
    /// Number of `ret_st` values to return.
    pub ret_x87: u64,
    /// The vector registers in full, for a function with vectors of 256 bits; else undefined.
    pub wide: *mut WideRegisters,
}

/// The vector registers of a call that passes or returns vectors of 256 bits.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct WideRegisters {
    /// ymm0 to ymm7.
    pub arguments: [[u64; 4]; 8],
    /// ymm0 to ymm3 to return.
    pub results: [[u64; 4]; 4],
}

/// Runs a guest function called from native code: reads its arguments from the frame (by
/// [`super::CallPlan::read_args`]), runs it, writes its result to the frame.
pub type EntryHook = extern "C-unwind" fn(&FuncRef, &mut NativeFrame);

/// Registers the hook that runs guest functions called from native code.
pub fn set_entry_hook(hook: EntryHook) {
    HOOKS.entry.set(hook);
}

extern "C-unwind" fn dispatch(datum: usize, frame: &mut NativeFrame) {
    if datum & HOST_TAG != 0 {
        // SAFETY: the stub's owner keeps the entry alive; the stub added the tag.
        let host = unsafe { &*((datum & !HOST_TAG) as *const HostEntry) };
        (host.run)(frame);
        return interrupt::leave_after_host();
    }
    // SAFETY: the stub's owner keeps the function alive.
    let func = unsafe { &*(datum as *const FuncRef) };
    let Some(hook) = HOOKS.entry.get() else {
        ompvm_support::bug!("a guest function was called before the interpreter was there");
    };
    hook(func, frame);
}

/// Registers and stack of a call to a native function, filled by a call plan.
#[repr(C, align(16))]
pub(super) struct Outgoing {
    pub gpr: [u64; 6],
    pub xmm: [u128; 8],
    pub stack: *const u64,
    pub stack_words: u64,
    /// Mask that aligns the address of the stack arguments.
    pub stack_mask: u64,
    pub rax: u64,
    pub nest: u64,
    pub ret_gpr: [u64; 3],
    pub ret_x87: u64,
    pub ret_xmm: [u128; 4],
    pub ret_st: [u128; 2],
    /// True if `wide` takes the place of `xmm` and `ret_xmm`.
    pub is_wide: u64,
    pub wide: WideRegisters,
}

unsafe extern "C-unwind" {
    #[link_name = "ompvm_boundary_call"]
    pub(super) fn raw_call(target: usize, out: *mut Outgoing);
    #[link_name = "ompvm_boundary_call_end"]
    fn raw_call_end();
    #[link_name = "ompvm_boundary_entry"]
    fn raw_entry();
    #[link_name = "ompvm_boundary_entry_wide"]
    fn raw_entry_wide();
    #[link_name = "ompvm_boundary_witness"]
    fn raw_witness();
}

/// Returns the address of the code that every stub jumps to.
pub fn entry_address() -> usize {
    raw_entry as *const () as usize
}

/// Returns the address of the code that the stub of a function with vectors of 256 bits jumps to.
pub fn wide_entry_address() -> usize {
    raw_entry_wide as *const () as usize
}

/// Returns the address of the witness stub, which records the call and jumps to a function's
/// compiled code.
pub fn witness_address() -> usize {
    raw_witness as *const () as usize
}

/// Returns true if a native position is in the code that calls native functions.
pub(crate) fn in_call(position: usize) -> bool {
    let end = raw_call_end as *const () as usize;
    (raw_call as *const () as usize..end).contains(&position)
}

// The entry. In: r11 holds the FuncRef. The frame is a NativeFrame (368 bytes) on the stack; that of
// a function with vectors of 256 bits has its WideRegisters behind it.
macro_rules! entry_code {
    ($name:literal, $bytes:expr, [$($save:literal,)*], [$($restore:literal,)*], $($operand:tt)*) => {
        global_asm!(
            ".text",
            ".p2align 4",
            concat!(".hidden ", $name),
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            ".cfi_startproc",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "sub rsp, {size}",
            "mov [rsp], rdi",
            "mov [rsp + 8], rsi",
            "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx",
            "mov [rsp + 32], r8",
            "mov [rsp + 40], r9",
            "movaps [rsp + 48], xmm0",
            "movaps [rsp + 64], xmm1",
            "movaps [rsp + 80], xmm2",
            "movaps [rsp + 96], xmm3",
            "movaps [rsp + 112], xmm4",
            "movaps [rsp + 128], xmm5",
            "movaps [rsp + 144], xmm6",
            "movaps [rsp + 160], xmm7",
            "lea rdx, [rbp + 16]",
            "mov [rsp + {stack}], rdx",
            "mov [rsp + {rax}], rax",
            "mov [rsp + {nest}], r10",
            "mov qword ptr [rsp + {ret_x87}], 0",
            $($save,)*
            "mov rdi, r11",
            "mov rsi, rsp",
            "call {dispatch}",
            "mov rcx, [rsp + {ret_x87}]",
            "test rcx, rcx",
            "je 3f",
            "cmp rcx, 1",
            "je 2f",
            "fld tbyte ptr [rsp + {ret_st} + 16]",
            "2:",
            "fld tbyte ptr [rsp + {ret_st}]",
            "3:",
            "mov rax, [rsp + {ret_gpr}]",
            "mov rdx, [rsp + {ret_gpr} + 8]",
            "mov rcx, [rsp + {ret_gpr} + 16]",
            $($restore,)*
            "leave",
            ".cfi_def_cfa rsp, 8",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            size = const $bytes,
            stack = const std::mem::offset_of!(NativeFrame, stack),
            rax = const std::mem::offset_of!(NativeFrame, rax),
            nest = const std::mem::offset_of!(NativeFrame, nest),
            ret_gpr = const std::mem::offset_of!(NativeFrame, ret_gpr),
            ret_st = const std::mem::offset_of!(NativeFrame, ret_st),
            ret_x87 = const std::mem::offset_of!(NativeFrame, ret_x87),
            dispatch = sym dispatch,
            $($operand)*
        );
    };
}
entry_code!(
    "ompvm_boundary_entry",
    size_of::<NativeFrame>(),
    [],
    [
        "movaps xmm0, [rsp + {ret_xmm}]",
        "movaps xmm1, [rsp + {ret_xmm} + 16]",
        "movaps xmm2, [rsp + {ret_xmm} + 32]",
        "movaps xmm3, [rsp + {ret_xmm} + 48]",
    ],
    ret_xmm = const std::mem::offset_of!(NativeFrame, ret_xmm),
);
entry_code!(
    "ompvm_boundary_entry_wide",
    size_of::<NativeFrame>() + size_of::<WideRegisters>(),
    [
        "lea rdx, [rsp + {wide}]",
        "mov [rsp + {wide_field}], rdx",
        "vmovups [rdx], ymm0",
        "vmovups [rdx + 32], ymm1",
        "vmovups [rdx + 64], ymm2",
        "vmovups [rdx + 96], ymm3",
        "vmovups [rdx + 128], ymm4",
        "vmovups [rdx + 160], ymm5",
        "vmovups [rdx + 192], ymm6",
        "vmovups [rdx + 224], ymm7",
    ],
    [
        "vmovups ymm0, [rsp + {wide_results}]",
        "vmovups ymm1, [rsp + {wide_results} + 32]",
        "vmovups ymm2, [rsp + {wide_results} + 64]",
        "vmovups ymm3, [rsp + {wide_results} + 96]",
    ],
    wide = const size_of::<NativeFrame>(),
    wide_field = const std::mem::offset_of!(NativeFrame, wide),
    wide_results = const size_of::<NativeFrame>() + std::mem::offset_of!(WideRegisters, results),
);

// The entry of a function with compiled code that records calls. In: r11 holds the FuncRef. Its
// cache line is written only once, for the threads of a team read it.
global_asm!(
    ".text",
    ".p2align 4",
    ".hidden ompvm_boundary_witness",
    ".globl ompvm_boundary_witness",
    ".type ompvm_boundary_witness,@function",
    "ompvm_boundary_witness:",
    ".cfi_startproc",
    "cmp byte ptr [r11 + {called}], 0",
    "jne 2f",
    "mov byte ptr [r11 + {called}], 1",
    "2:",
    "jmp qword ptr [r11 + {direct}]",
    ".cfi_endproc",
    ".size ompvm_boundary_witness, . - ompvm_boundary_witness",
    called = const std::mem::offset_of!(FuncRef, called),
    direct = const std::mem::offset_of!(FuncRef, direct),
);

// The call of a native function. In: rdi target, rsi Outgoing.
global_asm!(
    ".text",
    ".p2align 4",
    ".hidden ompvm_boundary_call",
    ".globl ompvm_boundary_call",
    ".type ompvm_boundary_call,@function",
    "ompvm_boundary_call:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push rbx",
    "push rbx",
    ".cfi_offset rbx, -24",
    "mov rbx, rsi",
    "mov r11, rdi",
    "mov rcx, [rbx + {stack_words}]",
    "test rcx, rcx",
    "je 2f",
    "lea rax, [rcx * 8]",
    "sub rsp, rax",
    "and rsp, [rbx + {stack_mask}]",
    "mov rsi, [rbx + {stack}]",
    "mov rdi, rsp",
    "rep movsq",
    "2:",
    "mov rdi, [rbx]",
    "mov rsi, [rbx + 8]",
    "mov rdx, [rbx + 16]",
    "mov rcx, [rbx + 24]",
    "mov r8, [rbx + 32]",
    "mov r9, [rbx + 40]",
    "cmp qword ptr [rbx + {is_wide}], 0",
    "jne 4f",
    "movaps xmm0, [rbx + 48]",
    "movaps xmm1, [rbx + 64]",
    "movaps xmm2, [rbx + 80]",
    "movaps xmm3, [rbx + 96]",
    "movaps xmm4, [rbx + 112]",
    "movaps xmm5, [rbx + 128]",
    "movaps xmm6, [rbx + 144]",
    "movaps xmm7, [rbx + 160]",
    "5:",
    "mov rax, [rbx + {rax}]",
    "mov r10, [rbx + {nest}]",
    "call r11",
    "mov [rbx + {ret_gpr}], rax",
    "mov [rbx + {ret_gpr} + 8], rdx",
    "mov [rbx + {ret_gpr} + 16], rcx",
    "cmp qword ptr [rbx + {is_wide}], 0",
    "jne 6f",
    "movaps [rbx + {ret_xmm}], xmm0",
    "movaps [rbx + {ret_xmm} + 16], xmm1",
    "movaps [rbx + {ret_xmm} + 32], xmm2",
    "movaps [rbx + {ret_xmm} + 48], xmm3",
    "7:",
    "mov rcx, [rbx + {ret_x87}]",
    "test rcx, rcx",
    "je 3f",
    "fstp tbyte ptr [rbx + {ret_st}]",
    "cmp rcx, 1",
    "je 3f",
    "fstp tbyte ptr [rbx + {ret_st} + 16]",
    "3:",
    "mov rbx, [rbp - 8]",
    ".cfi_remember_state",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_restore_state",
    "4:",
    "vmovups ymm0, [rbx + {wide}]",
    "vmovups ymm1, [rbx + {wide} + 32]",
    "vmovups ymm2, [rbx + {wide} + 64]",
    "vmovups ymm3, [rbx + {wide} + 96]",
    "vmovups ymm4, [rbx + {wide} + 128]",
    "vmovups ymm5, [rbx + {wide} + 160]",
    "vmovups ymm6, [rbx + {wide} + 192]",
    "vmovups ymm7, [rbx + {wide} + 224]",
    "jmp 5b",
    "6:",
    "vmovups [rbx + {wide_results}], ymm0",
    "vmovups [rbx + {wide_results} + 32], ymm1",
    "vmovups [rbx + {wide_results} + 64], ymm2",
    "vmovups [rbx + {wide_results} + 96], ymm3",
    "vzeroupper",
    "jmp 7b",
    ".cfi_endproc",
    ".size ompvm_boundary_call, . - ompvm_boundary_call",
    ".hidden ompvm_boundary_call_end",
    ".globl ompvm_boundary_call_end",
    "ompvm_boundary_call_end:",
    stack = const std::mem::offset_of!(Outgoing, stack),
    stack_words = const std::mem::offset_of!(Outgoing, stack_words),
    stack_mask = const std::mem::offset_of!(Outgoing, stack_mask),
    rax = const std::mem::offset_of!(Outgoing, rax),
    nest = const std::mem::offset_of!(Outgoing, nest),
    ret_gpr = const std::mem::offset_of!(Outgoing, ret_gpr),
    ret_xmm = const std::mem::offset_of!(Outgoing, ret_xmm),
    ret_st = const std::mem::offset_of!(Outgoing, ret_st),
    is_wide = const std::mem::offset_of!(Outgoing, is_wide),
    wide = const std::mem::offset_of!(Outgoing, wide),
    wide_results = const std::mem::offset_of!(Outgoing, wide)
        + std::mem::offset_of!(WideRegisters, results),
    ret_x87 = const std::mem::offset_of!(Outgoing, ret_x87),
);
