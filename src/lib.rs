//! ompvm: an OpenMP virtual machine.
//!
//! It loads the LLVM bitcode that `clang -fopenmp` emits, runs it at once, compiles hot code while
//! it runs, and is itself the OpenMP runtime. This crate holds the public interface, [`api`], and
//! the command line, [`cli`], a client of it:
//!
//! ```no_run
//! use ompvm::api::{Config, Engine, Error, Linker, Module};
//!
//! fn main() -> Result<(), Error> {
//!     // clang -O2 -fopenmp -c -emit-llvm dot.c, in which the function
//!     // `double dot(long n, const double *a, const double *b)` has a parallel loop.
//!     let engine = Engine::default();
//!     let module = Module::from_files(&engine, &["dot.bc".into()])?;
//!     let program = Linker::new(&engine).link(&module)?;
//!     let process = program.start(Config::new().num_threads(4))?;
//!     // SAFETY: these are the parameters and the result of the C function.
//!     let dot = unsafe { process.typed_func::<(i64, &[f64], &[f64]), f64>("dot")? };
//!     assert_eq!(dot.call((3, &[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]))?, 32.0);
//!     Ok(())
//! }
//! ```
//!
//! The layers below are crates of their own, re-exported here. From the bottom: [`support`],
//! [`ir`], [`llvm`], [`memory`], [`kmpc`], [`mod@offload`], [`interp`] beside [`jit`], and
//! [`tier`]. A layer uses only those below it. ARCHITECTURE.md walks through a run and records the
//! decisions.

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
