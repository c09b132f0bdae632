//! From a module to a running process: linking, placing, starting, tiering up and ending.
//!
//! [`link`] finds a definition for every symbol that a module needs, or reports all that are
//! missing at once. [`process`] places the module and runs constructors, main and destructors.
//! [`policy`] decides what is compiled and when. The tiers themselves are `interp` and `jit`.

mod advice;
pub mod archive;
mod assembly;
mod atomics;
pub mod builtins;
mod call_closure;
mod chaos;
mod compiler;
mod dlfcn;
mod eager;
pub mod host;
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
mod recompile;
pub mod restart;
mod rotation;
pub mod runtime;
mod sample;
mod single_thread;
#[cfg(test)]
mod tests;
mod thread_exit;
mod units;
pub mod value;
mod warm_start;
