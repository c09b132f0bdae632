//! ompvm: an OpenMP virtual machine.
//!
//! It loads the LLVM bitcode that `clang -fopenmp` emits, runs it, and is itself the OpenMP
//! runtime. The layers, from the bottom: [`support`], [`ir`], `llvm`, [`memory`], [`kmpc`],
//! [`mod@offload`], `interp` and `jit`, `tier`, `api`, `cli`; a layer uses only those below it
//! (a test reads the `use crate::` lines). ARCHITECTURE.md tells the whole story.

pub mod api;
pub mod cli;

pub use ompvm_interp as interp;
pub use ompvm_ir as ir;
pub use ompvm_jit as jit;
pub use ompvm_kmpc as kmpc;
pub use ompvm_llvm as llvm;
pub use ompvm_memory as memory;
pub use ompvm_offload as offload;
pub use ompvm_support as support;
pub use ompvm_tier as tier;
