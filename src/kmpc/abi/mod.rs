//! The machine's calling convention: calls of a microtask with N pointers, and entries that the ABI
//! declares as variadic or with `long double`. A port adds sibling files.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub mod x87;
#[cfg(target_arch = "x86_64")]
pub use x86_64::{
    call_microtask, call_microtask_noting, call_routine_noting, distance_to_frame,
    fork_call_variadic, fork_teams_variadic, traced_fork_call_variadic, traced_fork_teams_variadic,
};

#[cfg(not(target_arch = "x86_64"))]
compile_error!("src/kmpc/abi has no file for this architecture yet");
