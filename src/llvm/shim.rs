//! Rust declarations of the C++ functions in this folder, which add what LLVM's C interface lacks
//! (such as lazy reading of bitcode).
//!
//! Every function here expects live handles of one context, under the contract of
//! [`llvm`](super::raw::llvm), and makes no policy: each does what its name says.

use super::handles::{
    Block, Call, Context, Function, Instruction, Module, OwnedModule, TargetMachine, Value,
    Variable,
};
use super::native::LabelOffset;
use super::raw::{take_buffer, take_message};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target_machine::LLVMTargetMachineRef;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;

/// Location of a function's value in an interpreter frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueLocation {
    /// Method of recovery.
    pub kind: LocationKind,
    /// Offset from the frame's slot 0, in bytes.
    pub offset: u32,
}

/// Ways to recover a value from a frame.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationKind {
    /// It cannot be recovered: the value lives within one block.
    Nowhere = 0,
    /// The value's slot form is at the offset.
    Slot = 1,
    /// The value is recomputed from its operands.
    Derived = 2,
    /// The value is the address of the offset.
    Address = 3,
    /// Nothing uses the value, and it is not computed: its operands are not read either.
    Dead = 4,
}

unsafe extern "C" {
    fn ompvm_open_lazily(
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
    fn ompvm_read_selected(
        module: LLVMModuleRef,
        names: *const *const c_char,
        lengths: *const usize,
        count: usize,
        debug: c_int,
        error: *mut *mut c_char,
    ) -> c_int;
    fn ompvm_extract(
        source: LLVMModuleRef,
        functions: *const LLVMValueRef,
        count: usize,
        found: extern "C" fn(*mut c_void, LLVMValueRef, LLVMValueRef),
        to: *mut c_void,
        error: *mut *mut c_char,
    ) -> LLVMModuleRef;
    fn ompvm_osr_entry(
        function: LLVMValueRef,
        block: u32,
        name: *const c_char,
        length: usize,
        words: u32,
        locations: *const ValueLocation,
        count: usize,
        yields: bool,
        error: *mut *mut c_char,
    ) -> LLVMValueRef;
    fn ompvm_lower_labels(
        function: LLVMValueRef,
        start: LLVMValueRef,
        labels: *const LabelOffset,
        count: usize,
    ) -> LLVMValueRef;
    fn ompvm_check_initialized(
        address: LLVMValueRef,
        size: u64,
        outside: c_int,
        culprit: *mut LLVMValueRef,
    ) -> c_int;
    fn ompvm_max_trips(block: LLVMBasicBlockRef) -> u64;
    fn ompvm_drop_body(function: LLVMValueRef);
    fn ompvm_resolve_aliases(module: LLVMModuleRef);
    fn ompvm_link_needed(module: LLVMModuleRef, library: LLVMModuleRef) -> c_int;
    fn ompvm_drop_module_flags(module: LLVMModuleRef);
    fn ompvm_constant_offset(
        module: LLVMModuleRef,
        pointer: LLVMValueRef,
        offset: *mut i64,
    ) -> LLVMValueRef;
    fn ompvm_replace_in_function(
        function: LLVMValueRef,
        variable: LLVMValueRef,
        instead: LLVMValueRef,
    );
    fn ompvm_replace_function(function: LLVMValueRef, instead: LLVMValueRef);
    fn ompvm_drop_personality(function: LLVMValueRef);
    fn ompvm_drop_parameter_attributes(function: LLVMValueRef, index: u32);
    fn ompvm_version_aliases(module: LLVMModuleRef) -> c_int;
    fn ompvm_uncollapse(module: LLVMModuleRef) -> c_int;
    fn ompvm_switches_stacks(module: LLVMModuleRef) -> bool;
    fn ompvm_expand_thread_locals(module: LLVMModuleRef, switches: bool);
    fn ompvm_has_types(module: LLVMModuleRef) -> c_int;
    fn ompvm_write_with_line_tables(module: LLVMModuleRef, always: bool) -> LLVMMemoryBufferRef;
    fn ompvm_materialize_thread_locals(module: LLVMModuleRef, switches: bool);
    fn ompvm_copy_abi_attributes(module: LLVMModuleRef);
    fn ompvm_clear_swift_parameters(function: LLVMValueRef);
    fn ompvm_clear_swift_arguments(call: LLVMValueRef);
    fn ompvm_clone_function(function: LLVMValueRef) -> LLVMValueRef;
    fn ompvm_split_before(instruction: LLVMValueRef) -> LLVMBasicBlockRef;
    fn ompvm_merge_predecessors(
        to: LLVMBasicBlockRef,
        from: *const LLVMBasicBlockRef,
        count: usize,
    ) -> LLVMBasicBlockRef;
    fn ompvm_outline_blocks(blocks: *const LLVMBasicBlockRef, count: usize) -> LLVMValueRef;
    fn ompvm_inline_call(call: LLVMValueRef) -> c_int;
    fn ompvm_disable_unrolling(module: LLVMModuleRef);
    fn ompvm_gather_constructors(
        module: LLVMModuleRef,
        name: *const c_char,
        divided: c_int,
    ) -> c_int;
    fn ompvm_keep_in_memory(module: LLVMModuleRef) -> c_int;
    fn ompvm_release_arrays(module: LLVMModuleRef);
    fn ompvm_cluster_stores(module: LLVMModuleRef);
    fn ompvm_hoist_indices(module: LLVMModuleRef);
    fn ompvm_new_linker(module: LLVMModuleRef) -> *mut c_void;
    fn ompvm_dispose_linker(linker: *mut c_void);
    fn ompvm_link_next(linker: *mut c_void, module: LLVMModuleRef) -> c_int;
    fn ompvm_order_iterations(module: LLVMModuleRef);
    fn ompvm_watch_code_generation();
    fn ompvm_new_code_pipeline(machine: LLVMTargetMachineRef, quick: bool) -> *mut c_void;
    fn ompvm_generate_object(
        pipeline: *mut c_void,
        module: LLVMModuleRef,
        length: *mut usize,
    ) -> *const u8;
    fn ompvm_may_define_labels(module: LLVMModuleRef) -> bool;
    fn ompvm_dispose_code_pipeline(pipeline: *mut c_void);
    fn ompvm_split_vectors(module: LLVMModuleRef);
    fn ompvm_mark_unroll(module: LLVMModuleRef, machine: LLVMTargetMachineRef) -> c_int;
    fn ompvm_narrow_indices(module: LLVMModuleRef);
    fn ompvm_tile_loops(module: LLVMModuleRef);
    fn ompvm_unroll_reductions(module: LLVMModuleRef);
    fn ompvm_repack_vectors(module: LLVMModuleRef, machine: LLVMTargetMachineRef);
    fn ompvm_record_sizes(module: LLVMModuleRef) -> *mut c_void;
    fn ompvm_dispose_sizes(growth: *mut c_void);
    fn ompvm_exceeded_growth(
        growth: *mut c_void,
        module: LLVMModuleRef,
        culprit: *mut *mut c_char,
    ) -> *mut c_char;
    fn ompvm_run_passes(
        module: LLVMModuleRef,
        passes: *const c_char,
        machine: LLVMTargetMachineRef,
        growth: *mut c_void,
        error: *mut *mut c_char,
    ) -> c_int;
}

/// Opens bitcode without reading its functions. The bytes must outlive the module.
pub(super) fn open_lazily(
    context: Context<'_>,
    bytes: &[u8],
    types: bool,
) -> Result<LLVMModuleRef, String> {
    let mut error = null_mut();
    let (start, size) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: the context is live; pointer and size describe `bytes`.
    let module =
        unsafe { ompvm_open_lazily(context.raw(), start, size, types.into(), &raw mut error) };
    if module.is_null() {
        return Err(take_message(error));
    }
    Ok(module)
}

/// Reads all modules of a bitcode file, linked into one.
pub(super) fn read_modules(context: Context<'_>, bytes: &[u8]) -> Result<LLVMModuleRef, String> {
    let mut error = null_mut();
    let (start, size) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: the context is live; pointer and size describe `bytes`.
    let module = unsafe { ompvm_read_modules(context.raw(), start, size, &raw mut error) };
    if module.is_null() {
        return Err(take_message(error));
    }
    Ok(module)
}

/// Replaces `llvm.type.checked.load` in the functions read so far.
pub(super) fn lower_checked_loads(module: Module<'_>) {
    // SAFETY: the module is live.
    unsafe { ompvm_lower_checked_loads(module.raw()) };
}

/// Returns true if a module has more debug information than line tables.
pub(super) fn has_types(module: Module<'_>) -> bool {
    // SAFETY: the module is live.
    unsafe { ompvm_has_types(module.raw()) != 0 }
}

/// Strips a module's debug information down to line tables and returns its bitcode; `None` if the
/// module has no more than line tables, unless it is to be written in any case.
pub(super) fn write_with_line_tables(module: Module<'_>, always: bool) -> Option<Box<[u8]>> {
    // SAFETY: the module is live.
    let buffer = unsafe { ompvm_write_with_line_tables(module.raw(), always) };
    (!buffer.is_null()).then(|| take_buffer(buffer).into_boxed_slice())
}

/// Returns true if this version of LLVM wrote the bitcode.
pub(super) fn is_current(bytes: &[u8]) -> bool {
    // SAFETY: pointer and size describe `bytes`.
    unsafe { ompvm_is_current(bytes.as_ptr().cast(), bytes.len()) != 0 }
}

/// Reads the metadata of an opened module.
pub(super) fn read_metadata(module: Module<'_>) -> Result<(), String> {
    let mut error = null_mut();
    // SAFETY: the module is live.
    match unsafe { ompvm_read_metadata(module.raw(), &raw mut error) } {
        0 => Ok(()),
        _ => Err(take_message(error)),
    }
}

/// Reads everything of an opened module that is still unread.
pub(super) fn read_all(module: Module<'_>) -> Result<(), String> {
    let mut error = null_mut();
    // SAFETY: the module is live.
    match unsafe { ompvm_read_all(module.raw(), &raw mut error) } {
        0 => Ok(()),
        _ => Err(take_message(error)),
    }
}

/// Reads a function of an opened module.
pub(super) fn read_function(function: Function<'_>) -> Result<(), String> {
    let mut error = null_mut();
    // SAFETY: the function is live.
    match unsafe { ompvm_read_function(function.raw(), &raw mut error) } {
        0 => Ok(()),
        _ => Err(take_message(error)),
    }
}

/// Reads the named functions of an opened module; the others become declarations.
pub(super) fn read_selected(module: Module<'_>, names: &[&str], debug: bool) -> Result<(), String> {
    let starts: Vec<*const c_char> = names.iter().map(|n| n.as_ptr().cast()).collect();
    let lengths: Vec<usize> = names.iter().map(|n| n.len()).collect();
    let mut error = null_mut();
    // SAFETY: the module is live; both lists have `names.len()` elements.
    let failed = unsafe {
        ompvm_read_selected(
            module.raw(),
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

/// Moves functions of an opened module, of which no label's address is taken, into a new module,
/// with declarations of all that they use. Returns it and each symbol with its copy, which lives as
/// long as the new module. See `extract.cpp`. After an error the opened module must not be used.
pub(super) fn extract<'m>(
    source: Module<'m>,
    functions: &[Function<'m>],
) -> Result<(OwnedModule<'m>, Vec<(LLVMValueRef, LLVMValueRef)>), String> {
    extern "C" fn found(to: *mut c_void, from: LLVMValueRef, copy: LLVMValueRef) {
        // SAFETY: `to` is the list below, which nothing else uses meanwhile.
        unsafe { (*to.cast::<Vec<(LLVMValueRef, LLVMValueRef)>>()).push((from, copy)) };
    }
    let list: Vec<LLVMValueRef> = functions.iter().map(|f| f.raw()).collect();
    let mut copies = Vec::new();
    let mut error = null_mut();
    // SAFETY: the module and its functions are live, and `found` gets the list that it expects.
    let module = unsafe {
        ompvm_extract(
            source.raw(),
            list.as_ptr(),
            list.len(),
            found,
            (&raw mut copies).cast(),
            &raw mut error,
        )
    };
    if module.is_null() {
        return Err(take_message(error));
    }
    // SAFETY: the module is new, and its context is that of the source.
    Ok((unsafe { OwnedModule::from_raw(module) }, copies))
}

/// Replaces the addresses of a function's labels by offsets from `start`, and its jumps to them by
/// switches. Returns the variable that it added. See `labels.cpp`.
pub(super) fn lower_labels<'m>(
    function: Function<'m>,
    start: Variable<'m>,
    labels: &[LabelOffset],
) -> Option<Variable<'m>> {
    // SAFETY: the function has a body, and is unchanged since it was read; `labels` is passed with
    // its length. A result is a variable of the same module.
    unsafe {
        let added = ompvm_lower_labels(function.raw(), start.raw(), labels.as_ptr(), labels.len());
        (!added.is_null()).then(|| Variable::from_raw(added))
    }
}

/// Creates a function that continues at the head of another function's loop (OSR entry). With
/// `yields` it leaves at that head once better code exists. See `osr_entry.cpp`.
pub(super) fn osr_entry<'m>(
    function: Function<'m>,
    block: u32,
    name: &str,
    words: u32,
    locations: &[ValueLocation],
    yields: bool,
) -> Result<Function<'m>, String> {
    let mut error = null_mut();
    // SAFETY: the function is live and unchanged since it was read; `name` and `places` are passed
    // with their lengths.
    let fresh = unsafe {
        ompvm_osr_entry(
            function.raw(),
            block,
            name.as_ptr().cast(),
            name.len(),
            words,
            locations.as_ptr(),
            locations.len(),
            yields,
            &raw mut error,
        )
    };
    if fresh.is_null() {
        return Err(take_message(error));
    }
    // SAFETY: the new function is live and of the same module.
    Ok(unsafe { Function::from_raw(fresh) })
}

/// Turns a definition into a declaration.
pub(super) fn drop_body(function: LLVMValueRef) {
    // SAFETY: the function is live.
    unsafe { ompvm_drop_body(function) }
}

/// Replaces aliases by their aliasees, and ifuncs by declarations.
pub(super) fn resolve_aliases(module: Module<'_>) {
    // SAFETY: the module is live, and no caller holds a reference to one of its aliases.
    unsafe { ompvm_resolve_aliases(module.raw()) }
}

/// Links the parts of a library that a module uses, consuming the library. Returns true on success.
pub(super) fn link_needed(module: LLVMModuleRef, library: LLVMModuleRef) -> bool {
    // SAFETY: two live modules of one context; the library is ours and not used again.
    unsafe { ompvm_link_needed(module, library) == 0 }
}

/// Versions loops under the assumption that their arrays do not overlap, see `version_aliases.cpp`.
/// Returns true if there was such a loop.
pub(super) fn version_aliases(module: Module<'_>) -> bool {
    // SAFETY: the module is live, and nobody holds an analysis of it.
    unsafe { ompvm_version_aliases(module.raw()) != 0 }
}

/// Replaces divisions of loop counters by nests of loops, see `uncollapse.cpp`. Returns true if there
/// was such a loop.
pub(super) fn uncollapse(module: Module<'_>) -> bool {
    // SAFETY: the module is live, and nobody holds an analysis of it.
    unsafe { ompvm_uncollapse(module.raw()) != 0 }
}

/// Removes a module's flags, the compiler's settings for passes and linker.
pub(super) fn drop_module_flags(module: Module<'_>) {
    // SAFETY: the module is live.
    unsafe { ompvm_drop_module_flags(module.raw()) }
}

/// Returns the base that a pointer is derived from by constant offsets, and their sum; other values
/// are their own base.
pub(super) fn constant_offset<'m>(module: Module<'m>, pointer: Value<'m>) -> (Value<'m>, i64) {
    if !pointer.of().is_pointer() {
        return (pointer, 0);
    }
    let mut offset = 0;
    // SAFETY: the module is live, and the base of a pointer is a value of it.
    let base = unsafe {
        let base = ompvm_constant_offset(module.raw(), pointer.raw(), &raw mut offset);
        Value::from_raw(base)
    };
    (base, offset)
}

/// Reason why the uses of a variable do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misuse {
    /// The variable may be read before it is written.
    ReadBeforeWrite,
    /// The variable's address escapes.
    Escapes,
}

/// Returns `Ok` if the variable at `address` (an instruction's result), of `size` bytes, is written
/// before it is read; otherwise the reason and the offending instruction. With `outside`, no read
/// counts as preceded by a write.
pub(super) fn check_initialized(
    address: Instruction<'_>,
    size: u64,
    outside: bool,
) -> Result<(), (Misuse, Option<Value<'_>>)> {
    let (address, mut culprit) = (address.raw(), null_mut());
    // SAFETY: a live instruction of a function with a body.
    let found = unsafe { ompvm_check_initialized(address, size, outside.into(), &raw mut culprit) };
    // SAFETY: the culprit is an instruction of the function.
    let culprit = (!culprit.is_null()).then(|| unsafe { Value::from_raw(culprit) });
    match found {
        0 => Ok(()),
        1 => Err((Misuse::ReadBeforeWrite, culprit)),
        _ => Err((Misuse::Escapes, culprit)),
    }
}

/// Returns an upper bound of how often a block runs, as the product of the trip counts of the loops
/// around it, up to a loop in which functions of the module are called. `None` if unknown.
pub(super) fn max_trips(block: Block<'_>) -> Option<u64> {
    // SAFETY: the block is live and in a function.
    let trips = unsafe { ompvm_max_trips(block.raw()) };
    (trips > 0).then_some(trips)
}

/// Replaces a variable by `instead`, which dominates all uses, within one function.
pub(super) fn replace_in_function<'m>(
    function: Function<'m>,
    variable: Value<'m>,
    instead: Value<'m>,
) {
    assert!(variable.is_constant() && variable.of() == instead.of());
    // SAFETY: a live function, a constant, and a value of the function.
    unsafe { ompvm_replace_in_function(function.raw(), variable.raw(), instead.raw()) }
}

/// Replaces all uses of a function by another function, except in block addresses.
pub(super) fn replace_function<'m>(function: Function<'m>, instead: Function<'m>) {
    // SAFETY: live functions of one module.
    unsafe { ompvm_replace_function(function.raw(), instead.raw()) }
}

/// Expands constant expressions over addresses of thread-local variables into instructions, in the
/// functions read so far; see `thread_locals.cpp`. In a program that switches stacks, fetches
/// addresses again behind calls.
pub(super) fn expand_thread_locals(module: Module<'_>, switches: bool) {
    // SAFETY: the module is live, and nobody holds an instruction of it.
    unsafe { ompvm_expand_thread_locals(module.raw(), switches) }
}

/// Returns true if an opened program has code that switches stacks, as far as declarations show.
pub(super) fn switches_stacks(module: Module<'_>) -> bool {
    // SAFETY: the module is live.
    unsafe { ompvm_switches_stacks(module.raw()) }
}

/// Makes every instruction that uses a thread-local variable fetch its address first; see
/// `thread_locals.cpp`.
pub(super) fn materialize_thread_locals(module: Module<'_>, switches: bool) {
    // SAFETY: the module is live, and nobody holds an instruction of it.
    unsafe { ompvm_materialize_thread_locals(module.raw(), switches) }
}

/// Copies ABI attributes of parameters from a callee's declaration to its direct calls.
pub(super) fn copy_abi_attributes(module: Module<'_>) {
    // SAFETY: the module is live.
    unsafe { ompvm_copy_abi_attributes(module.raw()) }
}

/// Makes the parameters of Swift's conventions plain ones.
pub(super) fn clear_swift_parameters(function: Function<'_>) {
    // SAFETY: a live function.
    unsafe { ompvm_clear_swift_parameters(function.raw()) }
}

/// Makes the arguments for such parameters plain ones.
pub(super) fn clear_swift_arguments(call: Call<'_>) {
    // SAFETY: a live call.
    unsafe { ompvm_clear_swift_arguments(call.raw()) }
}

/// Copies a function.
pub(super) fn clone_function(function: Function<'_>) -> Function<'_> {
    // SAFETY: a live function; the copy is of the same module.
    unsafe { Function::from_raw(ompvm_clone_function(function.raw())) }
}

/// Splits a block so that a new one begins with the instruction.
pub(super) fn split_before(instruction: Instruction<'_>) -> Block<'_> {
    // SAFETY: a live instruction in a block; the new block is of the same function.
    unsafe { Block::from_raw(ompvm_split_before(instruction.raw())) }
}

/// Creates a block through which the blocks `from` reach their common successor `to`.
pub(super) fn merge_predecessors<'m>(to: Block<'m>, from: &[Block<'m>]) -> Block<'m> {
    let from: Vec<_> = from.iter().map(|b| b.raw()).collect();
    // SAFETY: live blocks of one function, in a list of the given length; so is the new block.
    unsafe {
        Block::from_raw(ompvm_merge_predecessors(
            to.raw(),
            from.as_ptr(),
            from.len(),
        ))
    }
}

/// Outlines single-entry blocks, of which the first is the entry, into a function.
///
/// # Safety
/// No handle of a marker of a variable's lifetime in the blocks is used afterwards: LLVM removes
/// them.
pub(super) unsafe fn outline_blocks<'m>(blocks: &[Block<'m>]) -> Option<Function<'m>> {
    let blocks: Vec<_> = blocks.iter().map(|b| b.raw()).collect();
    // SAFETY: live blocks of one function, in a list of the given length.
    let made = unsafe { ompvm_outline_blocks(blocks.as_ptr(), blocks.len()) };
    // SAFETY: the new function is of the same module.
    (!made.is_null()).then(|| unsafe { Function::from_raw(made) })
}

/// Inlines a call. Returns true on success.
///
/// # Safety
/// No handle of the call is used afterwards.
pub(super) unsafe fn inline_call(call: Call<'_>) -> bool {
    // SAFETY: a live call; LLVM refuses those of functions without a body.
    unsafe { ompvm_inline_call(call.raw()) != 0 }
}

/// Disables unrolling of loops that gain nothing by it and take NVIDIA's assembler long; see
/// `shim.cpp`.
pub(super) fn disable_unrolling(module: Module<'_>) {
    // SAFETY: the module is live.
    unsafe { ompvm_disable_unrolling(module.raw()) }
}

/// Assigns iterations of loops over the grid to blocks as tiles where that helps; see
/// `tile_loops.cpp`.
pub(super) fn tile_loops(module: Module<'_>) {
    // SAFETY: the caller's own module, which nothing else uses now.
    unsafe { ompvm_tile_loops(module.raw()) }
}

/// Versions loops that divide their induction variable with 32-bit indices; see
/// `narrow_indices.cpp`.
pub(super) fn narrow_indices(module: Module<'_>) {
    // SAFETY: the module is live, and nobody holds an analysis of it.
    unsafe { ompvm_narrow_indices(module.raw()) }
}

/// Marks the loops of functions that combine a reduction's values for full unrolling; see
/// `unroll_reductions.cpp`.
pub(super) fn unroll_reductions(module: Module<'_>) {
    // SAFETY: the module is live, and nobody holds an analysis of it.
    unsafe { ompvm_unroll_reductions(module.raw()) }
}

/// Removes a function's personality. Nothing in the function may catch an exception.
pub(super) fn drop_personality(function: Function<'_>) {
    // SAFETY: the function is live.
    unsafe { ompvm_drop_personality(function.raw()) }
}

/// Removes all attributes of a parameter.
pub(super) fn drop_parameter_attributes(function: Function<'_>, index: u32) {
    assert!(index < function.parameter_count(), "no parameter {index}");
    // SAFETY: the function is live and has the parameter.
    unsafe { ompvm_drop_parameter_attributes(function.raw(), index) }
}

/// Hoists the index loads of loops over gathered values; see `hoist_indices.cpp`.
pub(super) fn hoist_indices(module: Module<'_>) {
    // SAFETY: the module is live.
    unsafe { ompvm_hoist_indices(module.raw()) }
}

/// Links several modules into one.
pub(super) struct Linker<'m> {
    raw: *mut c_void,
    _module: PhantomData<Module<'m>>,
}

impl<'m> Linker<'m> {
    /// Creates a linker of modules into this one.
    pub(super) fn new(module: Module<'m>) -> Linker<'m> {
        Linker {
            // SAFETY: the module is live as long as the linker.
            raw: unsafe { ompvm_new_linker(module.raw()) },
            _module: PhantomData,
        }
    }

    /// Links everything of a module. Returns true on success.
    ///
    /// # Safety
    /// No handle of the first module's functions and variables, which linking may replace, is used
    /// afterwards.
    pub(super) unsafe fn link(&mut self, next: OwnedModule<'m>) -> bool {
        // SAFETY: the linker is live, and LLVM takes the module.
        unsafe { ompvm_link_next(self.raw, next.release()) == 0 }
    }
}

impl Drop for Linker<'_> {
    fn drop(&mut self) {
        // SAFETY: this value owns the linker.
        unsafe { ompvm_dispose_linker(self.raw) }
    }
}

/// Removes wrong marks of independent iterations; see `ordered_iterations.cpp`.
pub(super) fn order_iterations(module: Module<'_>) {
    // SAFETY: the module is valid, and the function changes metadata alone.
    unsafe { ompvm_order_iterations(module.raw()) }
}

/// Prepares the building of [`CodePipeline`]s, once. No thread generates code before this.
pub(super) fn watch_code_generation() {
    // SAFETY: the function registers a callback that lives as long as the process.
    unsafe { ompvm_watch_code_generation() }
}

/// The passes that generate object files, kept between modules; see `code_pipeline.cpp`.
pub(super) struct CodePipeline(*mut c_void);

impl CodePipeline {
    /// Builds a machine's passes, for quick code or all; `None` if it has no object files.
    ///
    /// # Safety
    /// The machine outlives the pipeline.
    pub(super) unsafe fn new(machine: &TargetMachine, quick: bool) -> Option<CodePipeline> {
        // SAFETY: the machine is live.
        let raw = unsafe { ompvm_new_code_pipeline(machine.raw(), quick) };
        (!raw.is_null()).then_some(CodePipeline(raw))
    }

    /// Returns true if no pipeline can be used after it has generated code for the module.
    pub(super) fn is_spent_by(module: Module<'_>) -> bool {
        // SAFETY: the module is live.
        unsafe { ompvm_may_define_labels(module.raw()) }
    }

    /// Generates the object file of a module that has the machine's layout of data.
    ///
    /// # Safety
    /// No handle of the module's functions and instructions, which the code generator rewrites, is
    /// used afterwards.
    pub(super) unsafe fn object(&mut self, module: Module<'_>) -> Vec<u8> {
        let mut length = 0;
        // SAFETY: the module is live, and the machine by the contract of `new`.
        let bytes = unsafe { ompvm_generate_object(self.0, module.raw(), &raw mut length) };
        // SAFETY: the bytes stay until the next module.
        unsafe { std::slice::from_raw_parts(bytes, length) }.to_vec()
    }
}

impl Drop for CodePipeline {
    fn drop(&mut self) {
        // SAFETY: this value owns the pipeline.
        unsafe { ompvm_dispose_code_pipeline(self.0) }
    }
}

/// Splits vectors that span two registers; see `split_vectors.cpp`.
pub(super) fn split_vectors(module: Module<'_>) {
    // SAFETY: the module is live.
    unsafe { ompvm_split_vectors(module.raw()) }
}

/// Result of [`mark_unroll`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Unroll {
    /// True if there are loop nests over small matrices.
    pub nests: bool,
    /// True if there are loops over vectors half as long as the machine's.
    pub vectors: bool,
}

/// Marks loops to be unrolled; see `mark_unroll.cpp`.
pub(super) fn mark_unroll(module: Module<'_>, machine: &TargetMachine) -> Unroll {
    // SAFETY: module and machine are live.
    let found = unsafe { ompvm_mark_unroll(module.raw(), machine.raw()) };
    Unroll {
        nests: found & 1 != 0,
        vectors: found & 2 != 0,
    }
}

/// Makes a function of all that must run before the first kernel of a device image; see
/// `constructors.cpp`. Returns false if there is nothing.
pub(super) fn gather_constructors(module: Module<'_>, name: &CStr, divided: bool) -> bool {
    // SAFETY: a live module and a C string. Variables that the caller may hold keep their identity,
    // except for LLVM's lists.
    unsafe { ompvm_gather_constructors(module.raw(), name.as_ptr(), divided.into()) != 0 }
}

/// Keeps arrays in memory whose elements a loop would carry in more registers than there are; see
/// `keep_in_memory.cpp`. Returns true if there was one; then [`release_arrays`] must follow.
pub(super) fn keep_in_memory(module: Module<'_>) -> bool {
    // SAFETY: the module is live, and nobody holds an analysis of it.
    unsafe { ompvm_keep_in_memory(module.raw()) != 0 }
}

/// Erases the markers that [`keep_in_memory`] added.
pub(super) fn release_arrays(module: Module<'_>) {
    // SAFETY: the module is live, and nobody holds an analysis of it.
    unsafe { ompvm_release_arrays(module.raw()) }
}

/// Clusters stores to one cache line; see `cluster_stores.cpp`.
pub(super) fn cluster_stores(module: Module<'_>) {
    // SAFETY: the module is live, and nobody holds an analysis of it.
    unsafe { ompvm_cluster_stores(module.raw()) }
}

/// Packs pairs of vectors into wider ones where the machine has registers for them; see
/// `repack_vectors.cpp`.
pub(super) fn repack_vectors(module: Module<'_>, machine: &TargetMachine) {
    // SAFETY: module and machine are live, and nobody holds an analysis of the module.
    unsafe { ompvm_repack_vectors(module.raw(), machine.raw()) }
}

/// Sizes of a module's functions before passes run, to bound their growth; see `run_passes.cpp`.
pub(super) struct GrowthGuard<'m> {
    handle: *mut c_void,
    module: Module<'m>,
}

/// Reason of [`GrowthGuard::check`] for giving up on the passes.
#[derive(Debug)]
pub(super) struct GrowthExceeded {
    /// The function's symbol; empty if several functions are to blame.
    pub culprit: String,
    /// One sentence.
    pub what: String,
}

impl<'m> GrowthGuard<'m> {
    /// Records the current sizes of a module's functions.
    pub(super) fn record(module: Module<'m>) -> GrowthGuard<'m> {
        // SAFETY: the module is live.
        let handle = unsafe { ompvm_record_sizes(module.raw()) };
        GrowthGuard { handle, module }
    }

    /// Fails if a function has grown out of proportion.
    pub(super) fn check(&self) -> Result<(), GrowthExceeded> {
        let mut culprit = null_mut();
        let module = self.module.raw();
        // SAFETY: handle and module are live.
        let what = unsafe { ompvm_exceeded_growth(self.handle, module, &raw mut culprit) };
        if what.is_null() {
            return Ok(());
        }
        Err(GrowthExceeded {
            culprit: take_message(culprit),
            what: take_message(what),
        })
    }
}

impl Drop for GrowthGuard<'_> {
    fn drop(&mut self) {
        // SAFETY: `record` made the handle, and nothing uses it after this.
        unsafe { ompvm_dispose_sizes(self.handle) };
    }
}

/// Runs passes, named as for `opt -passes=`.
///
/// # Errors
/// Returns LLVM's message for an unknown pass.
pub(super) fn run_passes(
    module: Module<'_>,
    passes: &CStr,
    machine: &TargetMachine,
    growth: Option<&GrowthGuard<'_>>,
) -> Result<(), String> {
    let growth = growth.map_or(null_mut(), |g| g.handle);
    let mut error = null_mut();
    // SAFETY: module, machine and growth are live, and nobody holds an analysis of the module.
    let failed = unsafe {
        ompvm_run_passes(
            module.raw(),
            passes.as_ptr(),
            machine.raw(),
            growth,
            &raw mut error,
        )
    } != 0;
    if failed {
        return Err(take_message(error));
    }
    Ok(())
}
