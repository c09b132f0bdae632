//! From a module to a running process: linking, placing, starting, tiering up and ending.
//!
//! [`link`] finds a definition for every symbol that a module needs, or reports all that are
//! missing at once. [`process`] places the module and runs constructors, main and destructors.
//! [`policy`] decides what is compiled and when. The tiers themselves are `interp` and `jit`.

mod advice;
mod eager;
mod single_thread;
pub mod archive;
mod assembly;
mod atomics;
pub mod builtins;
mod chaos;
mod call_closure;
mod compiler;
mod dlfcn;
pub mod host;
mod recompile;
pub mod interpose;
mod late;
pub mod libraries;
pub mod link;
mod loader;
mod osr_loops;
pub mod policy;
pub mod process;
mod profile;
mod queue;
mod warm_start;
pub mod restart;
pub mod runtime;
mod sample;
#[cfg(test)]
mod tests;
mod thread_exit;
mod rotation;
mod units;
pub mod value;
