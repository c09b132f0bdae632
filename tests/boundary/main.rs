//! Tests of the boundary between guest and native code without a reader or an interpreter: modules
//! are built by hand, and a small entry hook imitates the interpreter.
//!
//! So a failure here is a defect of the boundary itself. The harness tests the guest code between
//! entry and exit.
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
