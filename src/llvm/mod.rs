//! The only place that calls LLVM.
