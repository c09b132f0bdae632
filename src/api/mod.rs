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
//! What not: no isolation, no limits on memory or time.

mod config;
pub mod inspect;
mod linker;
mod module;
mod process;
mod stats;
#[cfg(test)]
mod tests;
pub mod timeline;
mod typed;

pub use crate::jit::cache::{Cache, Content as CacheContent, Counts as CacheCounts};
pub use crate::support::error::{Error, Trap, TrapKind, Unsupported};
pub use crate::tier::host::IntoHost;
pub use crate::tier::value::{GuestPtr, GuestValue, ValueKind};
pub use config::{Config, Engine, Tier, Tool, archive_of};
pub use linker::{Linker, Program};
pub use module::Module;
pub use process::{ExitStatus, GuestSlice, Process};
pub use stats::{Stats, StatsRow};
/// What was compiled in this process and when: a line per function, or all about the functions whose
/// name contains `explain`.
pub fn tiers(explain: Option<&str>) -> String {
    crate::tier::policy::report(explain)
}

pub use typed::{Argument, Arguments, TypedFunc};
