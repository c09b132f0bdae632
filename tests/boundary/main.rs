//! The boundary between guest and native code, tested without a reader or an interpreter:
//! modules are built by hand and a small entry hook plays the interpreter.
//!
//! Why so: what fails here is the boundary's own. What not: what guest code does between its
//! entry and its end, which the harness tests.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "test code: every block calls what the test just set up"
)]
#![allow(
    improper_ctypes_definitions,
    reason = "i128 and vectors are what is tested"
)]

mod build;
mod calls;
mod entry;
mod faults;
mod images;
mod unwinding;
