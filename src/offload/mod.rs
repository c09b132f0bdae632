//! Offload: `target` regions on devices.
//!
//! [`device`] is what the host side asks of a device; everything else is written against it. This
//! layer lies between the runtime and the tiers: it may use `kmpc`, `memory` and `llvm`, and knows
//! no tier.

pub mod device;
