//! The functions of the C++ files of this folder: what LLVM's C interface lacks.
//!
//! Why C++ at all: lazy reading of bitcode has no C function. What not: no policy; each does what
//! its name says.

use super::raw::{take_buffer, take_message};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target_machine::LLVMTargetMachineRef;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

/// Where a value of a function is in an interpreter's frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// How it is found.
    pub kind: PlaceKind,
    /// Bytes from the frame's slot 0.
    pub offset: u32,
}

/// How a value is found.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// Not at all: it lives inside one block.
    Nowhere = 0,
    /// Its slot form is at the offset.
    Slot = 1,
    /// It is computed from its operands.
    Derived = 2,
    /// It is the address of the offset.
    Address = 3,
}

unsafe extern "C" {
    fn ompvm_open(
        context: LLVMContextRef,
        bytes: *const c_char,
        size: usize,
        types: c_int,
        error: *mut *mut c_char,
    ) -> LLVMModuleRef;
    fn ompvm_read_modules(
        context: LLVMContextRef,
        bytes: *const c_char,
        size: usize,
        error: *mut *mut c_char,
    ) -> LLVMModuleRef;
    fn ompvm_lower_checked_loads(module: LLVMModuleRef);
    fn ompvm_is_current(bytes: *const c_char, size: usize) -> c_int;
    fn ompvm_read_metadata(module: LLVMModuleRef, error: *mut *mut c_char) -> c_int;
    fn ompvm_read_all(module: LLVMModuleRef, error: *mut *mut c_char) -> c_int;
    fn ompvm_read_function(function: LLVMValueRef, error: *mut *mut c_char) -> c_int;
    fn ompvm_select(
        module: LLVMModuleRef,
        names: *const *const c_char,
        lengths: *const usize,
        count: usize,
        debug: c_int,
        error: *mut *mut c_char,
    ) -> c_int;
    fn ompvm_loop_entry(
        function: LLVMValueRef,
        block: u32,
        name: *const c_char,
        length: usize,
        words: u32,
        places: *const Place,
        count: usize,
        yields: bool,
        error: *mut *mut c_char,
    ) -> LLVMValueRef;
    fn ompvm_written_first(
        address: LLVMValueRef,
        size: u64,
        outside: c_int,
        odd: *mut LLVMValueRef,
    ) -> c_int;
    fn ompvm_trips(block: LLVMBasicBlockRef) -> u64;
    fn ompvm_forget_body(function: LLVMValueRef);
    fn ompvm_resolve_aliases(module: LLVMModuleRef);
    fn ompvm_link_needed(module: LLVMModuleRef, library: LLVMModuleRef) -> c_int;
    fn ompvm_forget_flags(module: LLVMModuleRef);
    fn ompvm_constant_offset(
        module: LLVMModuleRef,
        pointer: LLVMValueRef,
        offset: *mut i64,
    ) -> LLVMValueRef;
    fn ompvm_replace_in(function: LLVMValueRef, variable: LLVMValueRef, instead: LLVMValueRef);
    fn ompvm_replace_function(function: LLVMValueRef, instead: LLVMValueRef);
    fn ompvm_forget_personality(function: LLVMValueRef);
    fn ompvm_forget_parameter(function: LLVMValueRef, index: u32);
    fn ompvm_speculate(module: LLVMModuleRef) -> c_int;
    fn ompvm_expand_thread_locals(module: LLVMModuleRef);
    fn ompvm_has_types(module: LLVMModuleRef) -> c_int;
    fn ompvm_write_with_line_tables(module: LLVMModuleRef) -> LLVMMemoryBufferRef;
    fn ompvm_ask_for_thread_locals(module: LLVMModuleRef);
    fn ompvm_say_how_to_pass(module: LLVMModuleRef);
    fn ompvm_clone(function: LLVMValueRef) -> LLVMValueRef;
    fn ompvm_split_before(instruction: LLVMValueRef) -> LLVMBasicBlockRef;
    fn ompvm_gather(
        to: LLVMBasicBlockRef,
        from: *const LLVMBasicBlockRef,
        count: usize,
    ) -> LLVMBasicBlockRef;
    fn ompvm_extract(blocks: *const LLVMBasicBlockRef, count: usize) -> LLVMValueRef;
    fn ompvm_inline(call: LLVMValueRef) -> c_int;
    fn ompvm_keep_rolled(module: LLVMModuleRef);
    fn ompvm_keep_in_memory(module: LLVMModuleRef) -> c_int;
    fn ompvm_release(module: LLVMModuleRef);
    fn ompvm_lines(module: LLVMModuleRef);
    fn ompvm_loads(module: LLVMModuleRef);
    fn ompvm_split(module: LLVMModuleRef);
    fn ompvm_unroll(module: LLVMModuleRef, machine: LLVMTargetMachineRef) -> c_int;
    fn ompvm_narrow(module: LLVMModuleRef);
    fn ompvm_tile(module: LLVMModuleRef);
    fn ompvm_pairs(module: LLVMModuleRef, machine: LLVMTargetMachineRef);
    fn ompvm_growth(module: LLVMModuleRef) -> *mut c_void;
    fn ompvm_dispose_growth(growth: *mut c_void);
    fn ompvm_grown(
        growth: *mut c_void,
        module: LLVMModuleRef,
        culprit: *mut *mut c_char,
    ) -> *mut c_char;
    fn ompvm_passes(
        module: LLVMModuleRef,
        passes: *const c_char,
        machine: LLVMTargetMachineRef,
        growth: *mut c_void,
        error: *mut *mut c_char,
    ) -> c_int;
}

/// Opens bitcode, which must outlive the module, with its functions unread.
pub(super) fn open(
    context: LLVMContextRef,
    bytes: &[u8],
    types: bool,
) -> Result<LLVMModuleRef, String> {
    let mut error = null_mut();
    let (start, size) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: the context is live; the bytes are as long as said.
    let module = unsafe { ompvm_open(context, start, size, types.into(), &raw mut error) };
    if module.is_null() {
        return Err(take_message(error));
    }
    Ok(module)
}

/// Reads all modules of a bitcode file, linked into one.
pub(super) fn read_modules(context: LLVMContextRef, bytes: &[u8]) -> Result<LLVMModuleRef, String> {
    let mut error = null_mut();
    let (start, size) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: the context is live; the bytes are as long as said.
    let module = unsafe { ompvm_read_modules(context, start, size, &raw mut error) };
    if module.is_null() {
        return Err(take_message(error));
    }
    Ok(module)
}

/// Replaces `llvm.type.checked.load` in the functions that have been read.
pub(super) fn lower_checked_loads(module: LLVMModuleRef) {
    // SAFETY: the module is live.
    unsafe { ompvm_lower_checked_loads(module) };
}

/// Returns true if a module has more debug information than line tables.
pub(super) fn has_types(module: LLVMModuleRef) -> bool {
    // SAFETY: the module is live.
    unsafe { ompvm_has_types(module) != 0 }
}

/// Writes a module as bitcode with line tables as its only debug information, and changes it so; `None` for a module that
/// has no more than line tables.
pub(super) fn write_with_line_tables(module: LLVMModuleRef) -> Option<Box<[u8]>> {
    // SAFETY: the module is live.
    let buffer = unsafe { ompvm_write_with_line_tables(module) };
    (!buffer.is_null()).then(|| take_buffer(buffer).into_boxed_slice())
}

/// Whether bitcode was written by this version of LLVM.
pub(super) fn is_current(bytes: &[u8]) -> bool {
    // SAFETY: the bytes are as long as said.
    unsafe { ompvm_is_current(bytes.as_ptr().cast(), bytes.len()) != 0 }
}

/// Reads the metadata of a module that was opened.
pub(super) fn read_metadata(module: LLVMModuleRef) -> Result<(), String> {
    let mut error = null_mut();
    // SAFETY: the module is live.
    match unsafe { ompvm_read_metadata(module, &raw mut error) } {
        0 => Ok(()),
        _ => Err(take_message(error)),
    }
}

/// Reads all that is left of a module that was opened.
pub(super) fn read_all(module: LLVMModuleRef) -> Result<(), String> {
    let mut error = null_mut();
    // SAFETY: the module is live.
    match unsafe { ompvm_read_all(module, &raw mut error) } {
        0 => Ok(()),
        _ => Err(take_message(error)),
    }
}

/// Reads a function of a module that was opened.
pub(super) fn read_function(function: LLVMValueRef) -> Result<(), String> {
    let mut error = null_mut();
    // SAFETY: the function is live.
    match unsafe { ompvm_read_function(function, &raw mut error) } {
        0 => Ok(()),
        _ => Err(take_message(error)),
    }
}

/// Reads the named functions of a module that was opened; the others become declarations.
pub(super) fn select(module: LLVMModuleRef, names: &[&str], debug: bool) -> Result<(), String> {
    let starts: Vec<*const c_char> = names.iter().map(|n| n.as_ptr().cast()).collect();
    let lengths: Vec<usize> = names.iter().map(|n| n.len()).collect();
    let mut error = null_mut();
    // SAFETY: the module is live; the lists are as long as said.
    let failed = unsafe {
        ompvm_select(
            module,
            starts.as_ptr(),
            lengths.as_ptr(),
            names.len(),
            debug.into(),
            &raw mut error,
        )
    };
    if failed != 0 {
        return Err(take_message(error));
    }
    Ok(())
}

/// A function that goes on at the head of a loop of another, and `yields` to a better one; see `entry.cpp`.
pub(super) fn loop_entry(
    function: LLVMValueRef,
    block: u32,
    name: &str,
    words: u32,
    places: &[Place],
    yields: bool,
) -> Result<LLVMValueRef, String> {
    let mut error = null_mut();
    // SAFETY: the function is live and as it was read; the lists are as long as said.
    let fresh = unsafe {
        ompvm_loop_entry(
            function,
            block,
            name.as_ptr().cast(),
            name.len(),
            words,
            places.as_ptr(),
            places.len(),
            yields,
            &raw mut error,
        )
    };
    if fresh.is_null() {
        return Err(take_message(error));
    }
    Ok(fresh)
}

/// Turns a definition into a declaration.
pub(super) fn forget_body(function: LLVMValueRef) {
    // SAFETY: a live function.
    unsafe { ompvm_forget_body(function) }
}

/// Replaces aliases by what they name, and functions that a resolver picks by declarations.
pub(super) fn resolve_aliases(module: LLVMModuleRef) {
    // SAFETY: a live module; no reference to one of its aliases is held by the callers.
    unsafe { ompvm_resolve_aliases(module) }
}

/// Links what a module uses of a library, which is consumed; whether that worked.
pub(super) fn link_needed(module: LLVMModuleRef, library: LLVMModuleRef) -> bool {
    // SAFETY: two live modules of one context; the second belongs to us and is not used again.
    unsafe { ompvm_link_needed(module, library) == 0 }
}

/// Gives loops a version that knows their arrays to be apart, see `speculate.cpp`; whether there was one.
pub(super) fn speculate(module: LLVMModuleRef) -> bool {
    // SAFETY: a live module, of which nobody holds an analysis.
    unsafe { ompvm_speculate(module) != 0 }
}

/// Forgets a module's flags: what its compiler told the passes and the linker.
pub(super) fn forget_flags(module: LLVMModuleRef) {
    // SAFETY: a live module.
    unsafe { ompvm_forget_flags(module) }
}

/// What a pointer is derived from by constant offsets, and their sum.
pub(super) fn constant_offset(module: LLVMModuleRef, pointer: LLVMValueRef) -> (LLVMValueRef, i64) {
    let mut offset = 0;
    // SAFETY: a live module and a pointer in it.
    let base = unsafe { ompvm_constant_offset(module, pointer, &raw mut offset) };
    (base, offset)
}

/// What is wrong with the uses of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misuse {
    /// It may be read before it is written.
    Stale,
    /// Its address goes where nobody sees what becomes of it.
    Kept,
}

/// Whether a variable of so many bytes, whose address is an instruction's result, is written before it is read; else
/// where not. `outside`: no read counts as behind a write.
pub(super) fn written_first(
    address: LLVMValueRef,
    size: u64,
    outside: bool,
) -> Result<(), (Misuse, Option<LLVMValueRef>)> {
    let mut odd = null_mut();
    // SAFETY: a live instruction of a function with a body.
    let found = unsafe { ompvm_written_first(address, size, outside.into(), &raw mut odd) };
    let odd = (!odd.is_null()).then_some(odd);
    match found {
        0 => Ok(()),
        1 => Err((Misuse::Stale, odd)),
        _ => Err((Misuse::Kept, odd)),
    }
}

/// How often a block runs at most for the loops around it together, up to one in which functions of the module are
/// called, where that is known.
pub(super) fn trips(block: LLVMBasicBlockRef) -> Option<u64> {
    // SAFETY: a live block of a function.
    let trips = unsafe { ompvm_trips(block) };
    (trips > 0).then_some(trips)
}

/// Has a function use `instead` where it uses a variable; it dominates all of the uses.
pub(super) fn replace_in(function: LLVMValueRef, variable: LLVMValueRef, instead: LLVMValueRef) {
    // SAFETY: a live function, a variable of its module, a value of the function.
    unsafe { ompvm_replace_in(function, variable, instead) }
}

/// Puts another function in a function's place everywhere but in the addresses of its labels.
pub(super) fn replace_function(function: LLVMValueRef, instead: LLVMValueRef) {
    // SAFETY: live functions of one module.
    unsafe { ompvm_replace_function(function, instead) }
}

/// Makes instructions of constants that are computed from addresses of thread_local variables, in the functions
/// that have been read, see `thread_locals.cpp`.
pub(super) fn expand_thread_locals(module: LLVMModuleRef) {
    // SAFETY: a live module, of which nobody holds an instruction.
    unsafe { ompvm_expand_thread_locals(module) }
}

/// Has every instruction that uses a thread_local variable ask for its address, see `thread_locals.cpp`.
pub(super) fn ask_for_thread_locals(module: LLVMModuleRef) {
    // SAFETY: a live module, of which nobody holds an instruction.
    unsafe { ompvm_ask_for_thread_locals(module) }
}

/// Says at each direct call how its arguments are passed, where only the callee's declaration says so.
pub(super) fn say_how_to_pass(module: LLVMModuleRef) {
    // SAFETY: a live module.
    unsafe { ompvm_say_how_to_pass(module) }
}

/// A copy of a function.
pub(super) fn clone(function: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: a live function with a body.
    unsafe { ompvm_clone(function) }
}

/// Has a block begin with an instruction.
pub(super) fn split_before(instruction: LLVMValueRef) -> LLVMBasicBlockRef {
    // SAFETY: a live instruction in a block.
    unsafe { ompvm_split_before(instruction) }
}

/// A block through which these go to one that they all lead to.
pub(super) fn gather(to: LLVMBasicBlockRef, from: &[LLVMBasicBlockRef]) -> LLVMBasicBlockRef {
    // SAFETY: live blocks of one function; the list is as long as said.
    unsafe { ompvm_gather(to, from.as_ptr(), from.len()) }
}

/// Makes a function of blocks, of which the first alone is entered.
pub(super) fn extract(blocks: &[LLVMBasicBlockRef]) -> Option<LLVMValueRef> {
    // SAFETY: live blocks of one function; the list is as long as said.
    let made = unsafe { ompvm_extract(blocks.as_ptr(), blocks.len()) };
    (!made.is_null()).then_some(made)
}

/// Puts the body of a function in the place of a call.
pub(super) fn inline(call: LLVMValueRef) -> bool {
    // SAFETY: a live call of a function with a body.
    unsafe { ompvm_inline(call) != 0 }
}

/// Has nobody unroll loops that gain nothing by it and take NVIDIA's assembler long; see `shim.cpp`.
pub(super) fn keep_rolled(module: LLVMModuleRef) {
    // SAFETY: a live module.
    unsafe { ompvm_keep_rolled(module) }
}

/// Gives iterations of loops over the grid to blocks as tiles where that helps, see `tile.cpp`.
pub(super) fn tile(module: LLVMModuleRef) {
    // SAFETY: a module of the caller's that nothing else uses now.
    unsafe { ompvm_tile(module) }
}

/// Gives loops that divide what they count a version with 32 bits, see `narrow.cpp`.
pub(super) fn narrow(module: LLVMModuleRef) {
    // SAFETY: a live module, of which nobody holds an analysis.
    unsafe { ompvm_narrow(module) }
}

/// Forgets who handles a function's exceptions, where nothing in it can catch one.
pub(super) fn forget_personality(function: LLVMValueRef) {
    // SAFETY: a live function.
    unsafe { ompvm_forget_personality(function) }
}

/// Takes away all that is said of a parameter.
pub(super) fn forget_parameter(function: LLVMValueRef, index: u32) {
    // SAFETY: a live function, which has the parameter.
    unsafe { ompvm_forget_parameter(function, index) }
}

/// Puts the loads of loops over gathered values in the order of their need, see `loads.cpp`.
pub(super) fn loads(module: LLVMModuleRef) {
    // SAFETY: the module is live.
    unsafe { ompvm_loads(module) }
}

/// Makes two of vectors that were made for two registers, see `split.cpp`.
pub(super) fn split(module: LLVMModuleRef) {
    // SAFETY: the module is live.
    unsafe { ompvm_split(module) }
}

/// What [`unroll`] found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unroll {
    /// Nests over small matrices.
    pub nests: bool,
    /// Loops over vectors that are half as long as the machine's.
    pub vectors: bool,
}

/// Says of loops that they are to be unrolled, see `unroll.cpp`.
pub(super) fn unroll(module: LLVMModuleRef, machine: LLVMTargetMachineRef) -> Unroll {
    // SAFETY: both are live.
    let found = unsafe { ompvm_unroll(module, machine) };
    Unroll {
        nests: found & 1 != 0,
        vectors: found & 2 != 0,
    }
}

/// Keeps arrays in memory whose elements a loop would carry in registers that do not exist, see `carried.cpp`.
/// Returns true if there was one: then [`release`] must follow.
pub(super) fn keep_in_memory(module: LLVMModuleRef) -> bool {
    // SAFETY: a live module, of which nobody holds an analysis.
    unsafe { ompvm_keep_in_memory(module) != 0 }
}

/// Erases what [`keep_in_memory`] added.
pub(super) fn release(module: LLVMModuleRef) {
    // SAFETY: a live module, of which nobody holds an analysis.
    unsafe { ompvm_release(module) }
}

/// Puts stores to one line of the cache behind each other, see `lines.cpp`.
pub(super) fn lines(module: LLVMModuleRef) {
    // SAFETY: a live module, of which nobody holds an analysis.
    unsafe { ompvm_lines(module) }
}

/// Packs pairs of vectors as far as a register of the machine has room, see `pairs.cpp`.
pub(super) fn pairs(module: LLVMModuleRef, machine: LLVMTargetMachineRef) {
    // SAFETY: a live module, of which nobody holds an analysis, and a live machine.
    unsafe { ompvm_pairs(module, machine) }
}

/// How large a module's functions were, and what passes have made of them; see `passes.cpp`.
pub(super) struct Growth {
    handle: *mut c_void,
    module: LLVMModuleRef,
}

/// Reason of [`Growth::check`] for passes that were not worth it.
#[derive(Debug)]
pub(super) struct Grown {
    /// The function's symbol; empty where it is not one alone.
    pub culprit: String,
    /// One sentence.
    pub what: String,
}

impl Growth {
    /// Counts a module's functions as they are.
    pub(super) fn of(module: LLVMModuleRef) -> Growth {
        // SAFETY: a live module.
        let handle = unsafe { ompvm_growth(module) };
        Growth { handle, module }
    }

    /// Says what has grown out of proportion.
    pub(super) fn check(&self) -> Result<(), Grown> {
        let mut culprit = null_mut();
        // SAFETY: both are live.
        let what = unsafe { ompvm_grown(self.handle, self.module, &raw mut culprit) };
        if what.is_null() {
            return Ok(());
        }
        Err(Grown {
            culprit: take_message(culprit),
            what: take_message(what),
        })
    }
}

impl Drop for Growth {
    fn drop(&mut self) {
        // SAFETY: made by `of`, and not used any more.
        unsafe { ompvm_dispose_growth(self.handle) };
    }
}

/// Runs passes, named as `opt -passes=` does.
///
/// # Errors
/// LLVM's message for a name that is no pass.
pub(super) fn passes(
    module: LLVMModuleRef,
    passes: &CStr,
    machine: LLVMTargetMachineRef,
    growth: Option<&Growth>,
) -> Result<(), String> {
    let growth = growth.map_or(null_mut(), |g| g.handle);
    let mut error = null_mut();
    // SAFETY: all are live; nobody holds an analysis of the module.
    let failed =
        unsafe { ompvm_passes(module, passes.as_ptr(), machine, growth, &raw mut error) } != 0;
    if failed {
        return Err(take_message(error));
    }
    Ok(())
}
