//! The OpenMP runtime.
