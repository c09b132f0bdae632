//! Errors, the synchronization facade and small utilities that every layer may use.

pub mod builtins;
pub mod cgroup;
pub mod clock;
mod cpu_features;
pub mod demangle;
pub mod error;
pub mod fault_alloc;
pub mod fork_lock;
pub mod fp_env;
pub mod hints;
pub mod hook;
pub mod internal_work;
pub mod limits;
pub mod log;
pub mod machine;
pub mod math_functions;
pub mod message;
pub mod output;
pub mod processor_sharing;
pub mod progress;
pub mod registry;
pub mod settings;
pub mod signal_heap;
pub mod sync;
pub mod topology;
pub mod write_signal;
