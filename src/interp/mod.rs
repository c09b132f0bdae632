//! Tier 0: the interpreter.
