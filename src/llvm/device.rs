//! The devices' runtime (`runtime-c/device/`): bitcode that is linked to a program's device images.

/// Bitcode for `nvptx64-nvidia-cuda`; empty where the build had no clang 22.
pub const RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/device.bc"));
