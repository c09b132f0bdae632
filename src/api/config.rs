//! The engine and how a program is started.
//!
//! Why builders: what is not said has a default, and more can be said later without breaking
//! anybody. What not: what starting does with it (`tier::process`).

use crate::llvm::cache::Cache;
use crate::offload::nvptx;
use crate::support::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;

/// What programs share in this process: the interpreter with its hooks.
///
/// Cheap to make and to clone; several may exist.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(super) cache: Option<Cache>,
    pub(super) contract: bool,
}

impl Engine {
    /// An engine. Installs, once per process, the handlers for faults of guest code.
    pub fn new() -> Engine {
        crate::memory::signals::install();
        crate::tier::runtime::init();
        Engine {
            cache: None,
            contract: false,
        }
    }

    /// Has modules that are read from now on round `a * b + c` once wherever their sources allow it,
    /// as `clang -march=native` does (`-ffp-contract=on`) for a processor with such instructions; on another one this
    /// changes nothing. Sums that a loop carries stay apart, as that is faster. Results are the same in every tier, but not those of a native program for
    /// any x86-64. Default: no.
    pub fn contract(mut self, contract: bool) -> Engine {
        self.contract = contract && fuses();
        self
    }

    /// Keeps modules and their compiled code in a cache, and takes them from there. Default: no.
    /// Code for devices is kept in the cache of the engine that was told last.
    pub fn cache(mut self, cache: Option<Cache>) -> Engine {
        nvptx::keep(cache.clone());
        self.cache = cache;
        self
    }

    /// Tells a profiler or debugger of code that is compiled from now on, in the whole process.
    ///
    /// # Errors
    /// What the system refused.
    pub fn tool(&self, tool: Tool) -> Result<(), Error> {
        crate::jit::tools::enable(tool).map_err(|why| Error::Host(format!("{tool:?}: {why}")))
    }
}

/// Whether the processor multiplies and adds in one instruction.
fn fuses() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

impl Default for Engine {
    fn default() -> Self {
        Engine::new()
    }
}

pub use crate::jit::tools::Tool;

/// How code is run.
///
/// The default is the interpreter, other than for the command line: it starts no thread, compiles
/// nothing beside the program, and takes the same way each time. What runs for longer than a few
/// milliseconds is many times faster with [`Tier::Auto`] or, compiled once at the start and from
/// then on kept in the engine's cache, [`Tier::Opt`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Tier {
    /// Interpreted.
    #[default]
    Interp,
    /// Each function is compiled at its first call, quickly and plainly; where that cannot be
    /// (another processor, no executable memory), interpreted.
    Baseline,
    /// Everything is compiled before the program starts.
    Opt,
    /// Interpreted until compiled code is ready.
    Auto,
}

/// How a program is started: a builder.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub(super) tier: Tier,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) libraries: Vec<String>,
    pub(super) library_paths: Vec<PathBuf>,
    pub(super) stack: usize,
    pub(super) native: bool,
    pub(super) stats: bool,
    pub(super) devices: Option<Devices>,
    pub(super) offload_report: bool,
    pub(super) offload: Option<Offload>,
    pub(super) flush_denormals: Option<bool>,
    pub(super) restart: Option<(Vec<OsString>, PathBuf)>,
}

impl Config {
    /// The defaults: interpreted, no arguments, embedded manner.
    pub fn new() -> Config {
        Config::default()
    }

    /// How code is run.
    pub fn tier(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
    }

    /// All of `argv`; the first is the program's name.
    pub fn args(mut self, args: Vec<OsString>) -> Self {
        self.args = args;
        self
    }

    /// One more of `argv`.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// An environment variable. It is set in the whole process when the program starts, for the
    /// C library knows only one environment.
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }

    /// `OMP_NUM_THREADS`: the size of teams that do not ask for one. The OpenMP runtime reads its
    /// settings once per process, before the first program starts.
    pub fn num_threads(self, threads: u32) -> Self {
        self.env("OMP_NUM_THREADS", threads.to_string())
    }

    /// `OMP_SCHEDULE`: what `schedule(runtime)` means, for example `"dynamic,4"`.
    pub fn schedule(self, schedule: &str) -> Self {
        self.env("OMP_SCHEDULE", schedule)
    }

    /// A library, as after `-l`: a shared one, or else a static archive of native objects; or a
    /// path with a slash. An archive with bitcode belongs among the files of
    /// [`super::Module::from_files`]; [`archive_of`] finds it.
    pub fn library(mut self, name: impl Into<String>) -> Self {
        self.libraries.push(name.into());
        self
    }

    /// A directory searched for libraries, as after `-L`.
    pub fn library_path(mut self, directory: impl Into<PathBuf>) -> Self {
        self.library_paths.push(directory.into());
        self
    }

    /// Size in bytes of the stack that calls into the program run on (default: the caller's own stack).
    /// Frames of the interpreter take about four times the room of compiled ones.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack = bytes;
        self
    }

    /// Whether to behave as if the program ran natively: `exit` ends the process, a fault kills
    /// it by its signal after a message, exit handlers go to the C library. For programs whose
    /// process is the guest's, such as the command line. Default: no.
    pub fn native(mut self, native: bool) -> Self {
        self.native = native;
        self
    }

    /// Which devices `target` regions run on, in the whole process; once a program has asked for
    /// devices it stays. Default: what `OMPVM_DEVICE` says (`emulated`, `emulated:2`, `host`), else
    /// the hardware's.
    pub fn devices(mut self, devices: Devices) -> Self {
        self.devices = Some(devices);
        self
    }

    /// Whether parallel loops outside of `target` regions run on devices, too. In the whole process, for
    /// programs that are started from now on. Default: what `OMPVM_OFFLOAD` says (`off`, `auto`,
    /// `force`), else not.
    pub fn offload(mut self, offload: Offload) -> Self {
        self.offload = Some(offload);
        self
    }

    /// True if a program in the native manner ([`Config::native`]) begins with denormals flushed to zero, as
    /// one that is linked natively with `-ffast-math` does. Default: where its bitcode shows that it was compiled
    /// so. An embedded guest has the floating-point environment of its caller.
    pub fn flush_denormals(mut self, flush: bool) -> Self {
        self.flush_denormals = Some(flush);
        self
    }

    /// Has a guest in the native manner run again when it executes itself (`execv("/proc/self/exe", argv)`).
    ///
    /// `command` is a command line of ompvm up to the program's file: its own name, a command, options. `file` is that
    /// file; the guest's new arguments follow it. Without a command the call has no effect. Default: the guest's calls
    /// go to the C library.
    pub fn restart(mut self, command: Vec<OsString>, file: PathBuf) -> Self {
        self.restart = Some((command, file)).filter(|(command, _)| command.len() >= 2);
        self
    }

    /// Whether to collect what [`offload_report`] tells. Default: no.
    pub fn offload_report(mut self, report: bool) -> Self {
        self.offload_report = report;
        self
    }

    /// Whether to count instructions for [`super::Process::stats`]. Default: no.
    pub fn stats(mut self, stats: bool) -> Self {
        self.stats = stats;
        self
    }
}

pub use crate::offload::devices::Choice as Devices;
pub use crate::offload::outlined::Mode as Offload;

/// What a text such as `emulated`, `emulated:2` or `host` means.
pub fn devices(text: &str) -> Option<Devices> {
    crate::offload::devices::parse(text)
}

/// What was run on devices so far: one line for each region and device, with the bytes that were
/// moved, the time, and why a region ran on the host. See [`Config::offload_report`].
pub fn offload_report() -> String {
    crate::offload::report::text()
}

/// The static archive that `-l name` means, when there is no shared library of that name in the
/// folders of `-L` and the system's.
pub fn archive_of(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    crate::tier::libraries::archive(name, folders)
}
