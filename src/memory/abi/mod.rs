//! The native calling convention, one file per architecture.
//!
//! Everything that knows registers lives here: call plans for both directions, the common entry
//! that stubs jump to, and the assembly under [`super::activation`].

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
mod x86_64_calls;
#[cfg(target_arch = "x86_64")]
mod x86_64_enter;
#[cfg(target_arch = "x86_64")]
mod x86_64_run;
#[cfg(target_arch = "x86_64")]
mod x86_64_stack;
#[cfg(target_arch = "x86_64")]
mod x86_64_throw;

#[cfg(target_arch = "x86_64")]
pub use x86_64::{
    CallPlan, RegisterCall, ResultRegisters, SAVE_AREA, VaStart, VariadicArgs, Word, fingerprint,
    first_entry,
};
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64_calls::in_call;
#[cfg(target_arch = "x86_64")]
pub use x86_64_calls::{
    EntryHook, NativeFrame, WideRegisters, entry_address, set_entry_hook, wide_entry_address,
    witness_address,
};
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64_enter::{
    ACTIVATION_SLOT, EnterResult, FRAME_REGISTER, MODES_SLOT, RESULT_REGISTER, SavedModes,
    VECTOR_RESULT, in_enter, landing_address, raw_enter, raw_jump, raw_leaf, raw_registers,
};
#[cfg(target_arch = "x86_64")]
pub use x86_64_run::extend;
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64_run::{in_run, raw_run, run_landing_address};
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64_stack::{raw_bottom, raw_on, resume_jump, set_jump_addresses};
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64_throw::{raw_rethrow, raw_throw, throw_addresses};

#[cfg(not(target_arch = "x86_64"))]
compile_error!("ompvm runs on x86-64 so far; a port adds a file beside abi/x86_64.rs");
