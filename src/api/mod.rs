//! The public embedding interface: load bitcode, link host functions, run it, call into it.
//!
//! ```no_run
//! use ompvm::api::{Config, Engine, Linker, Module};
//! # fn main() -> Result<(), ompvm::api::Error> {
//! let engine = Engine::default();
//! let module = Module::from_files(&engine, &["program.bc".into()])?;
//! let mut linker = Linker::new(&engine);
//! linker.func("host_log", |value: f64| println!("guest says {value}"))?;
//! let process = linker.link(&module)?.start(Config::new().arg("program"))?;
//! let status = process.run_main()?;
//! # let _ = status;
//! # Ok(())
//! # }
//! ```
//!
//! A guest's `exit`, its exit status and its faults come back as values; see [`Config::native`] for
//! the mode of the command line, in which the process *is* the program. The guest shares the host's
//! address space: guest pointers are host pointers, and a guest is trusted like a shared library.
//!
//! # Threads
//!
//! [`Process`] is `Send` and `Sync`, and so is the result of [`Process::typed_func`]: threads of
//! the host may call the same program concurrently. To the program, each of them is like a thread
//! that it did not create: it has `thread_local` variables of its own, it is the initial thread of
//! its own contention group in OpenMP, and its regions have teams of their own. As in C, the
//! program or the host must guard data that two threads use at once. The state that a program has
//! for a thread is dropped when the thread ends. Destructors of `thread_local` objects run then if
//! the program still exists; those of the thread that drops the [`Process`] run at the drop.
//!
//! # After a trap
//!
//! [`Error::Trap`] is returned from wherever the guest faulted, without running the rest of the
//! call, just as a signal would have ended it there. A fault inside a native library (`free` of a
//! wild pointer, say) leaves that library as it was at that instruction, with the locks it held.
//! This includes the C library's allocator, which is also the host's: after a fault in `malloc` or
//! `free`, the host's next allocation may hang or find the heap damaged, which cannot be detected
//! or repaired here. So a host that continues after a trap should run its guests in a child
//! process, or call `_exit` once it has reported the trap. The error's texts are complete, so
//! reporting it needs nothing more from the guest.
//!
//! # After a fork
//!
//! A child of `fork` keeps the compiled code. The baseline tier continues to compile there, but
//! LLVM does not, because its threads stayed in the parent.
//!
//! # Limits
//!
//! [`Config::cancelled_by`] and [`Config::time_limit`] end calls of embedded programs,
//! [`Config::fuel`] limits their instructions, [`Config::memory_limit`] their heap, and
//! [`Config::thread_limit`] their threads. Guests are not isolated.

mod cancel;
pub(crate) mod compilers;
mod config;
mod device_code;
mod func;
mod inputs;
pub mod inspect;
mod linker;
mod module;
mod process;
pub mod ranks;
mod registers;
mod session;
mod source;
mod stats;
#[cfg(test)]
mod tests;
pub mod timeline;
mod typed;

pub use cancel::CancelHandle;
pub use config::{
    Config, DeviceGroup, Devices, Engine, Offload, Tier, Tool, find_archive, offload_report,
    parse_devices,
};
pub use device_code::{DeviceCode, RegionVerdict};
pub use func::Func;
pub use inputs::{NativePart, is_native_only, native_parts};
pub use linker::{Linker, Program};
pub use module::{FileKind, Module, file_kind};
pub use ompvm_cache::{Cache, CacheContent, CacheCounts};
pub use ompvm_support::error::{Error, FpException, Trap, TrapKind, Unsupported};
pub use ompvm_tier::archive::fortran_runtime;
pub use ompvm_tier::host::IntoHost;
pub use ompvm_tier::signature::{Scalar, Signature};
pub use ompvm_tier::value::{GuestPtr, GuestValue, ValueKind};
pub use process::{ExitStatus, GuestSlice, Process};
pub use session::{Completeness, Evaluation, Session};
pub use source::{Language, Source};
pub use stats::{Stats, StatsRow};
/// Returns a report of the compilations in this process: a line per function, or every event of the
/// functions whose name contains `explain`.
pub fn compile_report(explain: Option<&str>) -> String {
    ompvm_tier::policy::report(explain)
}

/// Returns how much shorter this process would have been, had its program been compiled into the
/// cache beforehand. Returns `None` if that is less than a fifth of its processor time, or if it
/// was returned before.
pub fn compile_saving() -> Option<std::time::Duration> {
    ompvm_tier::policy::compile_saving()
}

pub use typed::{Argument, Arguments, TypedFunc};
