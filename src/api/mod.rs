//! The public embedding interface.
