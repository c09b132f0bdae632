//! ompvm: an OpenMP virtual machine.
//!
//! It loads the LLVM bitcode that `clang -fopenmp` emits, runs it, and is itself the OpenMP
//! runtime. The layers, from the bottom: [`support`], [`ir`], `llvm`, [`memory`], [`kmpc`],
//! [`mod@offload`], `interp` and `jit`, `tier`, `api`, `cli`; a layer uses only those below it
//! (a test reads the `use crate::` lines). ARCHITECTURE.md tells the whole story.

pub mod ir;
pub mod kmpc;
pub mod memory;
pub mod support;

#[cfg(feature = "vm")]
pub mod api;
#[cfg(feature = "vm")]
pub mod cli;
#[cfg(feature = "vm")]
pub mod interp;
#[cfg(feature = "vm")]
pub mod jit;
#[cfg(feature = "vm")]
pub mod llvm;
#[cfg(feature = "vm")]
pub mod offload;
#[cfg(feature = "vm")]
pub mod tier;
