//! Tier 0: the interpreter.
//!
//! What: lowers a function's IR to direct-threaded bytecode at its first call ([`lower`]) and
//! runs it ([`exec`]). Why: the guest starts at once, and everything no faster tier covers runs
//! here. What not: nothing is optimised that LLVM's own passes would do; rare instructions go
//! to LLVM one at a time ([`thunk`]).
//!
//! How values sit in a frame: every SSA value has consecutive 8-byte slots, little endian.
//! Integers up to 64 bits are zero-extended in one slot, up to 128 in two; float, half and
//! bfloat use the low bytes of a slot; x86_fp80 and fp128 have two. Vector lanes are packed at
//! the next power of two bytes of the lane (an i1 lane is a byte); structs and arrays lie as in
//! memory, padding included.

#[cfg(all(ompvm_tail_calls, target_arch = "x86_64"))]
pub mod baseline;
#[cfg(not(all(ompvm_tail_calls, target_arch = "x86_64")))]
#[path = "baseline/absent.rs"]
pub mod baseline;
mod cancel;
mod check;
mod child;
mod entry;
pub mod exec;
pub mod frame;
#[allow(
    rustdoc::broken_intra_doc_links,
    reason = "effects in the table write [a] for the memory at a"
)]
pub mod isa;
mod lower;
mod native;
mod spill;
pub mod stats;
pub mod thunk;
mod unwind;
pub mod watch;

#[cfg(test)]
mod tests;

pub use cancel::address as cleanup_address;
pub use check::unsupported;
pub use entry::{
    all, behind_call, forget_cache, function_at, init, locate, lower_function, set_lowered_hook,
    use_cache,
};
pub use lower::{Options, count_instructions, disassemble};
pub use native::{enter_compiled, instead};
