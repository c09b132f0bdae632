//! Tier 0: the interpreter.

pub mod thunk;
