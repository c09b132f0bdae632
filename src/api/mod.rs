//! The public embedding interface: load bitcode, link host functions, run it, call into it.
//!
//! ```no_run
//! use ompvm::api::{Config, Engine, Linker, Module};
//! # fn main() -> Result<(), ompvm::api::Error> {
//! let engine = Engine::default();
//! let module = Module::from_files(&engine, &["program.bc".into()])?;
//! let mut linker = Linker::new(&engine);
//! linker.func("host_log", |value: f64| println!("guest says {value}"))?;
//! let mut process = linker.link(&module)?.start(Config::new().arg("program"))?;
//! let status = process.run_main()?;
//! # let _ = status;
//! # Ok(())
//! # }
//! ```
//!
//! A guest's `exit`, its exit status and its faults come back as values; see [`Config::native`]
//! for the manner of the command line, where the process *is* the program. The guest shares the
//! host's address space: guest pointers are host pointers, and a guest is trusted as a shared
//! library is.
//!
//! # Threads
//!
//! [`Process`] is `Send` and `Sync`, and so is what [`Process::typed_func`] gives: threads of the
//! host may call the same program at once. Each of them is to the program what a thread is that it
//! did not make: it has `thread_local` variables of its own, it is the initial thread of its own
//! contention group in OpenMP, and the regions it meets have teams of their own. Data that two of them
//! use at once is for the program, or for the host, to guard, as in C. What a thread has of a program
//! goes when the thread ends: destructors of `thread_local` objects run then if the program
//! still exists, and when the [`Process`] is dropped for the thread that drops it.
//!
//! # After a trap
//!
//! [`Error::Trap`] comes back from wherever the guest faulted, without running what would have
//! followed, as a signal would have ended it there. A fault inside a native library (`free` of a
//! wild pointer, say) leaves that library as it was at that instruction, with the locks it held. The C library's
//! allocator is one of these, and the host's too: if the fault was in `malloc` or `free`, the
//! host's next allocation may wait without end or find the heap damaged, and nothing here can tell or
//! mend that. So a host that goes on after a trap should run its guests in a child process, or
//! leave by `_exit` once it has reported the trap; what it needs for the report it has in the error, whose texts
//! are made already.
//!
//! # After a fork
//!
//! A child of `fork` keeps what was compiled. The baseline tier goes on compiling there, LLVM does
//! not: its threads stayed in the parent.
//!
//! What not: no isolation, no limits on memory or time.

mod config;
mod device_code;
pub mod inspect;
mod linker;
mod module;
mod process;
mod stats;
#[cfg(test)]
mod tests;
pub mod timeline;
mod typed;

pub use crate::llvm::cache::{Cache, Content as CacheContent, Counts as CacheCounts};
pub use crate::support::error::{Error, FpException, Trap, TrapKind, Unsupported};
pub use crate::tier::archive::fortran_runtime;
pub use crate::tier::host::IntoHost;
pub use crate::tier::value::{GuestPtr, GuestValue, ValueKind};
pub use config::{
    Config, Devices, Engine, Offload, Tier, Tool, archive_of, devices, offload_report,
};
pub use device_code::{DeviceCode, RegionVerdict};
pub use linker::{Linker, Program};
pub use module::{FileKind, Module, kind_of};
pub use process::{ExitStatus, GuestSlice, Process};
pub use stats::{Stats, StatsRow};
/// What was compiled in this process and when: a line per function, or all about the functions whose
/// name contains `explain`.
pub fn tiers(explain: Option<&str>) -> String {
    crate::tier::policy::report(explain)
}

/// How much shorter this process would have been, had its program been compiled into the cache beforehand;
/// `None` where that is less than a fifth of its processor time, or was asked before.
pub fn advice() -> Option<std::time::Duration> {
    crate::tier::policy::advice()
}

pub use typed::{Argument, Arguments, TypedFunc};
