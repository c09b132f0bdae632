//! Offload: `target` regions on devices.
//!
//! [`device`] is what the host side asks of a device; everything else is written against it.
//! [`program`] holds what a program brings along (images, the table of what is on both sides),
//! [`devices`] the devices of the process, [`map`] what is mapped on each; [`region`] and [`api`] are
//! the entries that programs call, listed in [`table`]. [`emulated`] is a device without hardware,
//! [`cuda`] NVIDIA's GPUs, for which [`nvptx`] makes code. [`outlined`] runs parallel loops of programs that say
//! nothing of devices.
//!
//! This layer lies between the runtime and the tiers: it uses `kmpc`, `memory` and `llvm`, and knows
//! no tier.

#![expect(
    clippy::missing_safety_doc,
    reason = "the contract of ABI entries is the ABI's"
)]

pub mod api;
pub mod cuda;
pub mod device;
pub mod devices;
pub mod emulated;
pub mod image;
pub mod interop;
pub mod map;
pub mod nvptx;
pub mod outlined;
pub mod program;
pub mod region;
pub mod report;
pub mod table;
