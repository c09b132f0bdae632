//! The only place that calls LLVM: reader, just-in-time compiler.

mod error;
pub mod orc;
