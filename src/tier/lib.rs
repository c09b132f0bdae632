//! From a module to a running process: linking, placing, starting, tiering up and ending.
//!
//! - [`link`] finds a definition for every symbol that a module needs, or reports all that are
//!   missing at once. It searches the runtime ([`runtime`]), functions of the embedder ([`host`]),
//!   [`builtins`], [`libraries`] and [`archive`]; [`fat`] reads bitcode out of native files.
//!   [`native_policy`] refuses what the user does not allow.
//! - [`process`] places the module and runs constructors, main and destructors.
//! - [`policy`] starts the tiers. Under `auto`, [`sample`] decides what is compiled and when, with
//!   [`eager`] and [`warm_start`] before the first sample, [`osr_loops`] for loops and
//!   [`recompile`] for the full level. [`queue`] holds the jobs, [`units`] and [`call_closure`] say
//!   what a job takes along, and [`compiler`] runs it and switches callers. [`profile`] persists
//!   over runs.
//! - [`interpose`], [`dlfcn`], [`restart`], [`single_thread`] and [`thread_exit`] let libraries and
//!   the system see the guest as they would see an executable.
//!
//! The tiers themselves are `interp` and `jit`.

mod advice;
pub mod archive;
mod argument_vector;
mod assembly;
mod atomics;
pub mod builtins;
mod call_closure;
pub mod cancel;
mod chaos;
mod compiler;
mod dlfcn;
mod eager;
mod expected_hot;
pub mod exports;
pub mod fat;
pub mod host;
pub mod interpose;
mod late;
pub mod libraries;
pub mod link;
mod loader;
mod lower_ahead;
mod memory_limit;
pub mod native_policy;
mod osr_loops;
pub mod policy;
pub mod process;
mod profile;
mod queue;
mod recompile;
mod registry;
pub mod restart;
mod rotation;
pub mod runtime;
mod sample;
pub mod signature;
mod single_thread;
#[cfg(test)]
mod tests;
mod thread_exit;
mod units;
pub mod value;
mod warm_start;
