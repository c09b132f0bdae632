//! Tests of the interpreter on small modules.
