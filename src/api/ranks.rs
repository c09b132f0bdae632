//! Ranks of MPI: under a launcher one process runs the program, and the others serve with their
//! devices.
//!
//! The command line joins the ranks by itself. A host with ranks of its own does not call these
//! functions; its MPI is not touched.
//!
//! ```no_run
//! use ompvm::api::{Config, Engine, Linker, Module, ranks};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new();
//! let module = Module::from_files(&engine, &["program.bc".into()])?;
//! let config = Config::new().native(true).arg("program");
//! if let Some(launched) = ranks::launched(engine.settings())
//!     && !ranks::uses_mpi(&module)
//!     && let ranks::Role::Server(server) = ranks::join(&engine, &launched, None)?
//! {
//!     // SAFETY: this process has no guest.
//!     std::process::exit(server.run(&config));
//! }
//! let status = Linker::new(&engine).link(&module)?.start(config)?.run_main()?;
//! std::process::exit(status.code());
//! # }
//! ```

use super::config::{Config, Engine};
use super::module::Module;
use ompvm_offload as offload;
use ompvm_offload::options::OffloadOptions;
pub use ompvm_offload::ranks::{JoinError, Launched, Launcher};
use ompvm_support::error::Error;
use ompvm_support::settings::Settings;
use ompvm_tier::policy;

/// The part of a process in a run with several ranks.
#[derive(Debug)]
pub enum Role {
    /// Rank 0, which runs the program. Its exit ends the other ranks.
    Program,
    /// Another rank, which serves.
    Server(Server),
}

/// A rank that serves with its devices.
#[derive(Debug)]
pub struct Server {
    rank: u32,
    serving: offload::ranks::Serving,
    options: OffloadOptions,
    settings: &'static Settings,
}

pub use ompvm_offload::ranks::launched;

/// Returns true if a program calls MPI: all ranks must run it.
pub fn uses_mpi(module: &Module) -> bool {
    module.ir.functions.values().any(|function| {
        let name = &*function.name;
        let mpi = ["MPI_", "PMPI_", "mpi_", "pmpi_"];
        function.body.is_none() && mpi.iter().any(|prefix| name.starts_with(prefix))
    })
}

/// Connects the ranks. `problem` says why this rank cannot do its part, such as a missing file; in
/// rank 0 it has to be reported by the caller. Call it at most once.
///
/// # Errors
/// The message if MPI cannot be loaded, or if another rank cannot do its part: names the rank, its
/// host, and a remedy. [`JoinError::Silent`] if another rank reports it.
pub fn join(
    engine: &Engine,
    launched: &Launched,
    problem: Option<&Error>,
) -> Result<Role, JoinError> {
    let problem = problem.map(ToString::to_string);
    // MPICH tells its launcher in an exit handler that the process has not failed.
    policy::leave_quickly();
    let joined = offload::ranks::join(launched, engine.settings, problem.as_deref());
    Ok(match joined? {
        None => Role::Program,
        Some(serving) => Role::Server(Server {
            rank: launched.rank,
            serving,
            options: OffloadOptions {
                cache: engine.cache.clone(),
                mode: engine.settings.offload,
                settings: engine.settings,
            },
            settings: engine.settings,
        }),
    })
}

impl Server {
    /// Serves with the devices of the configuration until rank 0 ends, and returns its exit status.
    /// Ends the process if rank 0 is lost or ends in the middle of its work.
    pub fn run(self, config: &Config) -> i32 {
        offload::devices::select(
            config.devices.unwrap_or(self.settings.devices),
            config.device_group.unwrap_or(self.settings.group),
            self.settings,
        );
        self.serving.run(self.rank, self.options)
    }
}
