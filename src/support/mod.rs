//! Errors, the synchronization facade and small utilities that every layer may use.

#[cfg(feature = "vm")]
pub mod builtins;
pub mod cgroup;
pub mod clock;
#[cfg(feature = "vm")]
mod cpu_features;
#[cfg(feature = "vm")]
pub mod demangle;
pub mod error;
pub mod fault_alloc;
#[cfg(feature = "vm")]
pub mod file_limit;
pub mod fp_env;
pub mod hints;
pub mod limits;
pub mod machine;
pub mod mathematics;
pub mod own_work;
pub mod seen;
pub mod sharing;
pub mod sync;
pub mod topology;
