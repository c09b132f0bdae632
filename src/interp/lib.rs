//! Tier 0: the interpreter.
//!
//! [`lower`] turns a function's IR into direct-threaded bytecode at its first call, and [`exec`]
//! runs the bytecode. The guest therefore starts at once, and everything that no faster tier covers
//! runs here. The crate `ompvm-baseline` above this one compiles bytecode to machine code in place;
//! it registers itself by [`set_compile_hook`] and [`set_bytecode_hook`].
//!
//! The interpreter repeats none of LLVM's optimizations. Rare instructions are compiled by LLVM one
//! at a time ([`thunk`]).
//!
//! Layout of values in a frame: every SSA value has consecutive 8-byte slots, little endian.
//! Integers up to 64 bits are zero-extended in one slot, up to 128 bits in two. `float`, `half` and
//! `bfloat` use the low bytes of a slot; `x86_fp80` and `fp128` take two slots. Vector lanes are
//! packed at the next power of two of the lane's bytes (an `i1` lane is a byte). Structs and arrays
//! are laid out as in memory, padding included.

mod check;
mod cleanup;
mod code_index;
mod compiled_calls;
mod entry;
pub mod exec;
mod fork;
pub mod frame;
mod handler_closure;
#[allow(
    rustdoc::broken_intra_doc_links,
    reason = "effects in the table write [a] for the memory at a"
)]
pub mod isa;
mod lower;
pub mod osr;
mod process;
mod stack_overflow;
pub mod stats;
pub mod thunk;
mod unwind;
mod warm_up;

#[cfg(test)]
mod tests;

pub use check::find_unsupported;
pub use cleanup::cleanup_address;
pub use compiled_calls::{library_replacements, redirect_callers};
pub use entry::{
    LoweredAhead, address_after_call, attach_cache, end_program, function_at, install, is_lowered,
    locate, lower_ahead, lower_function, lowered_functions, prepare_interrupts, set_bytecode_hook,
    set_compile_hook, set_lowered_hook, set_machine_code,
};
pub use lower::{Options, count_instructions, disassemble};
