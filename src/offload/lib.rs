//! Offload: runs `target` regions on devices.
//!
//! [`device`] defines the interface of an accelerator; everything else is written against it.
//! [`program`] holds the device images and offload entries of a program, [`devices`] the devices of
//! the process, and [`map`] the data environment of each device. [`region`], [`data_entries`] and
//! [`api`] implement the entries that programs call, which [`table`] lists; [`fallback`] decides
//! whether a construct runs on a device or on the host. [`emulated`] is a device without hardware,
//! [`cuda`] drives NVIDIA GPUs, and [`nvptx`] lowers code for them. [`group`] joins devices to one,
//! and [`ranks`] gives access to devices of other processes.
//!
//! The crate `ompvm-auto-offload` above this one offloads parallel loops of programs without
//! `target` constructs. It uses the devices here directly; [`host_access`] is the only way back.
//!
//! This layer lies between the runtime and the tiers: it uses `kmpc`, `memory` and `llvm`, and
//! depends on no tier.

#![expect(
    clippy::missing_safety_doc,
    reason = "the contract of ABI entries is the ABI's"
)]

pub mod api;
pub mod cuda;
pub mod data_entries;
pub mod device;
pub mod devices;
mod earlier_runs;
pub mod emulated;
pub mod fallback;
pub mod group;
pub mod host_access;
pub mod image;
pub mod interop;
mod locals;
pub mod map;
pub mod nvptx;
pub mod options;
mod plain_functions;
mod printf;
pub mod processors;
pub mod program;
pub mod ranks;
pub mod region;
pub mod report;
pub mod table;
mod watched;

/// Exit status of ompvm's own failures.
const FAILED: i32 = 125;
