//! The assembly of the boundary on x86-64 (System V): the entry that stubs jump to, the call of a
//! native function with any registers, and the frame of an activation.
//!
//! Every routine has full call-frame information, so native exceptions pass through all of them;
//! only the activation's frame has a personality.
//!
//! `x86_64.rs` decides which value goes to which register.

use crate::activation::{self, Activation, ArgumentRegisters, RegisterFunction, RegisterUse};
use crate::func::{FuncRef, HOST_TAG, HostEntry};
use crate::hooks::HOOKS;
use crate::interrupt;
use crate::jump;
use crate::thread::{HEADER, ThreadState};
use std::arch::global_asm;
use std::ffi::c_void;

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
    #[link_name = "ompvm_boundary_call"]
    pub(super) fn raw_call(target: usize, out: *mut Outgoing);
    #[link_name = "ompvm_boundary_call_end"]
    fn raw_call_end();
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
    #[link_name = "ompvm_boundary_run"]
    pub(crate) fn raw_run(act: *mut c_void, bytes: usize) -> EnterResult;
    #[link_name = "ompvm_boundary_run_landing"]
    fn raw_run_landing();
    #[link_name = "ompvm_boundary_jump"]
    pub(crate) fn raw_jump(act: *const c_void, value: usize, kind: usize) -> !;
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
    #[link_name = "ompvm_boundary_landing"]
    fn raw_landing();
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

/// Returns `setjmp` for compiled code, without and with the argument that selects the signal mask.
pub(crate) fn set_jump_addresses() -> [usize; 2] {
    [
        raw_set_jump as *const () as usize,
        raw_set_jump_signals as *const () as usize,
    ]
}

/// Returns true if a native position is in the frame of an activation with guest frames.
pub(crate) fn in_run(position: usize) -> bool {
    let start = raw_run as *const () as usize;
    (start..start + 256).contains(&position)
}

/// Returns true if a native position is in an activation's assembly frame.
pub(crate) fn in_enter(position: usize) -> bool {
    [
        raw_enter as *const () as usize,
        raw_run as *const () as usize,
    ]
    .iter()
    .any(|&start| (start..start + 256).contains(&position))
}

/// Returns true if a native position is in the code that calls native functions.
pub(crate) fn in_call(position: usize) -> bool {
    let end = raw_call_end as *const () as usize;
    (raw_call as *const () as usize..end).contains(&position)
}

/// Returns the landing address of `raw_enter`'s frame.
pub(crate) fn landing_address() -> usize {
    raw_landing as *const () as usize
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
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    ".cfi_offset rbx, -24",
    ".cfi_offset r12, -32",
    ".cfi_offset r13, -40",
    ".cfi_offset r14, -48",
    ".cfi_offset r15, -56",
    "push rdi",
    "sub rsp, 16",
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
    "mov rbx, [rbp - 8]",
    "mov r12, [rbp - 16]",
    "mov r13, [rbp - 24]",
    "mov r14, [rbp - 32]",
    "mov r15, [rbp - 40]",
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
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    ".cfi_offset rbx, -24",
    ".cfi_offset r12, -32",
    ".cfi_offset r13, -40",
    ".cfi_offset r14, -48",
    ".cfi_offset r15, -56",
    "push rdi",
    "sub rsp, 16",
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
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "push rbx",
            "push r12",
            "push r13",
            "push r14",
            "push r15",
            ".cfi_offset rbx, -24",
            ".cfi_offset r12, -32",
            ".cfi_offset r13, -40",
            ".cfi_offset r14, -48",
            ".cfi_offset r15, -56",
            "push rdi",
            "sub rsp, 16",
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
            "mov rbx, [rbp - 8]",
            "mov r12, [rbp - 16]",
            "mov r13, [rbp - 24]",
            "mov r14, [rbp - 32]",
            "mov r15, [rbp - 40]",
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
