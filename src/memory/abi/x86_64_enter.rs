//! The frame of an activation without guest frames on x86-64 (System V), and calls with arguments in
//! registers.
//!
//! The frame ends by a return, by a jump, or where an exception lands. Only the frames of
//! activations, here and in `x86_64_run.rs`, have a personality.

use crate::activation::{self, Activation, ArgumentRegisters, RegisterFunction, RegisterUse};
use std::arch::global_asm;
use std::ffi::c_void;

/// The result of `raw_enter`, in rax and rdx.
#[repr(C)]
pub(crate) struct EnterResult {
    pub kind: usize,
    pub value: usize,
}

/// DWARF number of the register that holds `raw_enter`'s frame pointer.
pub(crate) const FRAME_REGISTER: i32 = 6;
/// DWARF number of the register in which the landing code finds the exception.
pub(crate) const RESULT_REGISTER: i32 = 0;
/// Distance from the frame pointer down to the activation's address.
pub(crate) const ACTIVATION_SLOT: usize = 48;
/// Distance from the frame pointer down to [`SavedModes`].
pub(crate) const MODES_SLOT: usize = 64;
/// MXCSR in that place if the modes were not saved. No MXCSR has its reserved bits.
const UNSAVED_MODES: u32 = u32::MAX;

/// The modes of the floating-point unit in an assembly frame.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SavedModes {
    mxcsr: u64,
    x87_control: u64,
}

impl SavedModes {
    pub(crate) fn new(mxcsr: u32, x87_control: u16) -> SavedModes {
        SavedModes {
            mxcsr: mxcsr.into(),
            x87_control: x87_control.into(),
        }
    }
}

/// Bit of [`RegisterUse`] for a result in a vector register. Below it are the numbers of argument
/// registers for integers and pointers and, four bits higher, for numbers.
pub(crate) const VECTOR_RESULT: u32 = 1 << 8;

unsafe extern "C-unwind" {
    #[link_name = "ompvm_boundary_enter"]
    pub(crate) fn raw_enter(
        act: *mut c_void,
        f: unsafe extern "C-unwind" fn(*mut c_void, usize) -> usize,
        a: *mut c_void,
        b: usize,
    ) -> EnterResult;
    #[link_name = "ompvm_boundary_leaf"]
    pub(crate) fn raw_leaf(
        act: *mut c_void,
        function: usize,
        registers: &ArgumentRegisters,
        uses: RegisterUse,
    ) -> EnterResult;
    #[link_name = "ompvm_boundary_registers"]
    pub(crate) fn raw_registers(registers: *mut c_void, function: usize) -> usize;
    #[link_name = "ompvm_boundary_jump"]
    pub(crate) fn raw_jump(act: *const c_void, value: usize, kind: usize) -> !;
    #[link_name = "ompvm_boundary_landing"]
    fn raw_landing();
}

/// Returns the landing address of `raw_enter`'s frame.
pub(crate) fn landing_address() -> usize {
    raw_landing as *const () as usize
}

/// Returns true if a native position is in an activation's assembly frame.
pub(crate) fn in_enter(position: usize) -> bool {
    let start = raw_enter as *const () as usize;
    (start..start + 256).contains(&position) || super::in_run(position)
}

/// Opens the frame of the activation at rdi: keeps the registers that a function preserves, then the
/// activation's address and 16 bytes for [`SavedModes`].
macro_rules! open_frame {
    () => {
        concat!(
            "push rbp\n",
            ".cfi_def_cfa_offset 16\n",
            ".cfi_offset rbp, -16\n",
            "mov rbp, rsp\n",
            ".cfi_def_cfa_register rbp\n",
            "push rbx\n",
            "push r12\n",
            "push r13\n",
            "push r14\n",
            "push r15\n",
            ".cfi_offset rbx, -24\n",
            ".cfi_offset r12, -32\n",
            ".cfi_offset r13, -40\n",
            ".cfi_offset r14, -48\n",
            ".cfi_offset r15, -56\n",
            "push rdi\n",
            "sub rsp, 16\n",
        )
    };
}

/// Restores the registers from the frame at rbp.
macro_rules! restore_registers {
    () => {
        concat!(
            "mov rbx, [rbp - 8]\n",
            "mov r12, [rbp - 16]\n",
            "mov r13, [rbp - 24]\n",
            "mov r14, [rbp - 32]\n",
            "mov r15, [rbp - 40]\n",
        )
    };
}

pub(super) use {open_frame, restore_registers};

// The activation's frame. In: rdi activation, rsi f, rdx a, rcx b. `jump` and `landing` end in the
// same tail, which finds everything from rbp. The activation's first field keeps rbp. A jump
// restores the x87 and SSE control words, unless the frame holds `UNSAVED_MODES`.
global_asm!(
    ".text",
    ".p2align 4",
    ".hidden ompvm_boundary_enter",
    ".globl ompvm_boundary_enter",
    ".type ompvm_boundary_enter,@function",
    "ompvm_boundary_enter:",
    ".cfi_startproc",
    ".cfi_personality 0x1b, {personality}",
    open_frame!(),
    "stmxcsr [rsp]",
    "fnstcw [rsp + 8]",
    "mov [rdi], rbp",
    "mov rax, rsi",
    "mov rdi, rdx",
    "mov rsi, rcx",
    "call rax",
    "mov rdx, rax",
    "xor eax, eax",
    "2:",
    restore_registers!(),
    ".cfi_remember_state",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_restore_state",
    ".hidden ompvm_boundary_landing",
    ".globl ompvm_boundary_landing",
    "ompvm_boundary_landing:",
    "mov rdx, rax",
    "mov eax, 1",
    "jmp 2b",
    ".hidden ompvm_boundary_jump",
    ".globl ompvm_boundary_jump",
    "ompvm_boundary_jump:",
    "cmp qword ptr [rdi + {low}], 0",
    "jne ompvm_boundary_run_jump",
    "mov rbp, [rdi]",
    "lea rsp, [rbp - 64]",
    "cmp dword ptr [rsp], {unsaved}",
    "je 3f",
    "ldmxcsr [rsp]",
    "fnclex",
    "fldcw [rsp + 8]",
    "3:",
    "cld",
    "mov eax, edx",
    "mov rdx, rsi",
    "jmp 2b",
    ".cfi_endproc",
    ".size ompvm_boundary_enter, . - ompvm_boundary_enter",
    personality = sym activation::personality,
    low = const std::mem::offset_of!(Activation, low),
    unsaved = const UNSAVED_MODES.cast_signed(),
);

/// Loads argument registers from the `ArgumentRegisters` at r10, as many as the `RegisterUse` in rbx
/// says. To load an undefined word may wait for a narrower write to its place.
macro_rules! load_registers {
    () => {
        concat!(
            "mov eax, ebx\n",
            "and eax, 15\n",
            "cmp eax, 1\n",
            "jb 3f\n",
            "mov rdi, [r10]\n",
            "je 3f\n",
            "mov rsi, [r10 + 8]\n",
            "cmp eax, 3\n",
            "jb 3f\n",
            "mov rdx, [r10 + 16]\n",
            "je 3f\n",
            "mov rcx, [r10 + 24]\n",
            "cmp eax, 5\n",
            "jb 3f\n",
            "mov r8, [r10 + 32]\n",
            "je 3f\n",
            "mov r9, [r10 + 40]\n",
            "3:\n",
            "mov eax, ebx\n",
            "and eax, 240\n",
            "je 3f\n",
            "cmp eax, 32\n",
            "movsd xmm0, [r10 + 48]\n",
            "jb 3f\n",
            "movsd xmm1, [r10 + 56]\n",
            "je 3f\n",
            "cmp eax, 64\n",
            "movsd xmm2, [r10 + 64]\n",
            "jb 3f\n",
            "movsd xmm3, [r10 + 72]\n",
            "je 3f\n",
            "cmp eax, 96\n",
            "movsd xmm4, [r10 + 80]\n",
            "jb 3f\n",
            "movsd xmm5, [r10 + 88]\n",
            "je 3f\n",
            "cmp eax, 128\n",
            "movsd xmm6, [r10 + 96]\n",
            "jb 3f\n",
            "movsd xmm7, [r10 + 104]\n",
            "3:",
        )
    };
}

// The activation's frame for a leaf function: that of `enter`, whose tail ends it after a jump or
// an exception, without the modes. In: rdi activation, rsi function, rdx registers, ecx their use.
global_asm!(
    ".text",
    ".p2align 4",
    ".hidden ompvm_boundary_leaf",
    ".globl ompvm_boundary_leaf",
    ".type ompvm_boundary_leaf,@function",
    "ompvm_boundary_leaf:",
    ".cfi_startproc",
    ".cfi_personality 0x1b, {personality}",
    open_frame!(),
    "mov dword ptr [rsp], {unsaved}",
    "mov [rdi], rbp",
    "mov ebx, ecx",
    "mov r10, rdx",
    "mov r11, rsi",
    load_registers!(),
    "call r11",
    "test ebx, {result}",
    "je 4f",
    "movq rax, xmm0",
    "4:",
    "mov rdx, rax",
    "xor eax, eax",
    // The function has preserved the other registers.
    "mov rbx, [rbp - 8]",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size ompvm_boundary_leaf, . - ompvm_boundary_leaf",
    personality = sym activation::personality,
    unsaved = const UNSAVED_MODES.cast_signed(),
    result = const VECTOR_RESULT,
);

// A call with arguments in registers, as `enter` makes it. In: rdi registers, rsi the address of the
// `RegisterFunction`.
global_asm!(
    ".text",
    ".p2align 4",
    ".hidden ompvm_boundary_registers",
    ".globl ompvm_boundary_registers",
    ".type ompvm_boundary_registers,@function",
    "ompvm_boundary_registers:",
    ".cfi_startproc",
    "push rbx",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbx, -16",
    "mov ebx, [rsi + {uses}]",
    "mov r10, rdi",
    "mov r11, [rsi + {address}]",
    load_registers!(),
    "call r11",
    "test ebx, {result}",
    "je 4f",
    "movq rax, xmm0",
    "4:",
    "pop rbx",
    ".cfi_def_cfa_offset 8",
    "ret",
    ".cfi_endproc",
    ".size ompvm_boundary_registers, . - ompvm_boundary_registers",
    uses = const std::mem::offset_of!(RegisterFunction, uses),
    address = const std::mem::offset_of!(RegisterFunction, address),
    result = const VECTOR_RESULT,
);
