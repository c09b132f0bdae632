//! The engine, and the configuration of a program's start.
//!
//! Both are builders: settings that are not given have defaults, and further settings can be added
//! without breaking users. `tier::process` applies them.

use super::cancel::CancelHandle;
use ompvm_cache::Cache;
use ompvm_kmpc::waits::watchdog;
use ompvm_llvm::reader_process;
use ompvm_memory::heap_limit::HeapLimit;
use ompvm_support::error::Error;
use ompvm_support::settings::{self, Settings};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The state that programs in this process share: the interpreter with its hooks.
///
/// Cheap to create and to clone; several may exist.
///
/// ```no_run
/// use ompvm::api::Engine;
///
/// // Loads and stores compiled code where the command line does.
/// let engine = Engine::new().user_cache();
/// ```
#[derive(Clone, Debug)]
pub struct Engine {
    pub(super) cache: Option<Cache>,
    pub(super) contract: bool,
    /// True if LLVM reads modules in a process of its own.
    /// The executable that reads modules, if this process does not.
    reader: Option<PathBuf>,
    /// Options of the compilers of sources.
    pub(super) compiler_flags: Vec<OsString>,
    pub(super) settings: &'static Settings,
}

impl Engine {
    /// Creates an engine. Once per process, installs the handlers for faults of guest code, and
    /// reads ompvm's own variables (`OMPVM_*`) from the environment, with a warning on standard
    /// error for each value that is not understood.
    pub fn new() -> Engine {
        ompvm_tier::runtime::install_fault_handlers();
        ompvm_tier::runtime::init();
        Engine {
            cache: None,
            contract: false,
            reader: None,
            compiler_flags: Vec::new(),
            settings: settings::from_environment(),
        }
    }

    /// Returns the settings of the process.
    pub fn settings(&self) -> &'static Settings {
        self.settings
    }

    /// Makes modules that are read from now on round `a * b + c` once wherever their sources allow
    /// it, as `clang -march=native` does (`-ffp-contract=on`) for a processor with such
    /// instructions; has no effect on other processors. Sums that a loop carries stay separate
    /// operations, which is faster. Results are the same in every tier, but differ from those of a
    /// native program for any x86-64. Default: off.
    pub fn contract(mut self, contract: bool) -> Engine {
        self.contract = contract && fuses();
        self
    }

    /// Makes LLVM read the bytes of modules from now on in a process of its own, which can neither
    /// open files nor start programs: whatever the bytes do to LLVM's reader, this process goes on.
    /// For bytes from others that are read but not run, or checked before they are run; a guest that
    /// runs has the rights of this process, and [`super::Module::bitcode`] and listings of device code
    /// use LLVM here. Costs about 8 ms for each module that is not in the cache, more for large ones.
    /// The process executes the `ompvm` that `OMPVM_READER` names, or the one beside the library, in
    /// the folder `bin` beside that, or in `PATH`; it must have this version. Default: off, LLVM's
    /// crashes are contained on a thread.
    pub fn contain_reading(mut self, contain: bool) -> Engine {
        self.reader = contain.then(|| self.named_reader().unwrap_or_else(reader_process::find));
        self
    }

    /// Like [`Engine::contain_reading`], for the command line: this executable reads, whatever its
    /// name is, unless `OMPVM_READER` names another one.
    pub(crate) fn contain_reading_here(mut self) -> Engine {
        self.reader = self.named_reader().or_else(|| std::env::current_exe().ok());
        self
    }

    fn named_reader(&self) -> Option<PathBuf> {
        self.settings.reader.clone()
    }

    /// Returns the executable that reads modules, if this process does not.
    pub(super) fn reader(&self) -> Option<PathBuf> {
        self.reader.clone()
    }

    /// Sets the options, besides `-O2 -g -fopenmp`, with which [`super::Module::from_files`]
    /// compiles sources. Default: none.
    pub fn compiler_flags<T: Into<OsString>>(
        mut self,
        flags: impl IntoIterator<Item = T>,
    ) -> Engine {
        self.compiler_flags = flags.into_iter().map(Into::into).collect();
        self
    }

    /// Stores modules and their compiled code, that for devices included, in a cache, and loads
    /// them from there. Default: no cache.
    pub fn cache(mut self, cache: Option<Cache>) -> Engine {
        self.cache = cache;
        self
    }

    /// Stores modules and their compiled code where the command line does: in the folder that
    /// `OMPVM_CACHE_DIR` names, or in `ompvm` in `$XDG_CACHE_HOME` or `~/.cache`. Uses no cache if
    /// the user has no home folder. See [`Engine::cache`].
    pub fn user_cache(self) -> Engine {
        let cache = Cache::of_user(self.settings);
        self.cache(cache)
    }

    /// Starts a thread that looks for deadlocks of OpenMP in this process: if every thread of the
    /// program waits for another one for as long as `limit`, it writes to standard error who waits
    /// where, and ends the process with status 125. Programs that are linked from now on record who
    /// holds a lock, and their code is neither read from a cache nor stored in one.
    ///
    /// Threads of the host are no threads of OpenMP, and may act at any time, so this is for
    /// processes that *are* the program ([`Config::native`]).
    ///
    /// # Errors
    /// Returns [`Error::Host`] if the system has no thread.
    pub fn watchdog(&self, limit: Duration) -> Result<(), Error> {
        match watchdog::start(limit) {
            true => Ok(()),
            false => Err(Error::Host("there is no thread for the watchdog".into())),
        }
    }

    /// Lets SIGQUIT (Ctrl-\\) write to standard error where each thread of the program is, before the
    /// signal ends the process; an action that the program sets takes precedence.
    pub fn dump_on_quit(&self) {
        ompvm_memory::dump::install();
    }

    /// Reports code that is compiled from now on to a profiler or debugger, in the whole process.
    ///
    /// # Errors
    /// Returns [`Error::Host`] if the system refuses the tool's file or mapping.
    pub fn tool(&self, tool: Tool) -> Result<(), Error> {
        ompvm_jit::tools::enable(tool).map_err(|why| Error::Host(format!("{tool:?}: {why}")))
    }
}

/// Returns true if the processor multiplies and adds in one instruction.
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

pub use ompvm_jit::tools::Tool;

/// The tier that executes a program.
///
/// The default is the interpreter, unlike that of the command line: it starts no thread, compiles
/// nothing beside the program, and behaves the same each time. A program that runs for longer than
/// a few milliseconds is many times faster with [`Tier::Auto`] or, compiled once at the start and
/// then loaded from the engine's cache, with [`Tier::Opt`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Tier {
    /// Interprets everything.
    #[default]
    Interp,
    /// Compiles each function at its first call, quickly and without optimization. Interprets if
    /// that is not possible (on another processor, or without executable memory).
    Baseline,
    /// Compiles everything before the program starts.
    Opt,
    /// Starts in the baseline tier, or interprets where that is not possible, and compiles hot code
    /// while the program runs.
    Auto,
}

/// Configuration of a program's start: a builder.
///
/// ```
/// use ompvm::api::{Config, Tier};
///
/// let config = Config::new()
///     .tier(Tier::Auto)
///     .arg("solver")
///     .arg("input.dat")
///     .num_threads(4)
///     .schedule("dynamic,4");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub(super) tier: Tier,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) libraries: Vec<String>,
    pub(super) library_paths: Vec<PathBuf>,
    pub(super) export_dynamic: bool,
    pub(super) stack: usize,
    pub(super) native: bool,
    pub(super) stats: bool,
    pub(super) devices: Option<Devices>,
    pub(super) device_group: Option<DeviceGroup>,
    pub(super) offload_report: bool,
    pub(super) offload: Option<Offload>,
    pub(super) flush_denormals: Option<bool>,
    pub(super) restart: Option<(Vec<OsString>, PathBuf)>,
    pub(super) cancel: Option<CancelHandle>,
    pub(super) time_limit: Option<Duration>,
    pub(super) fuel: Option<u64>,
    pub(super) memory_limit: Option<usize>,
    /// The limit of a session, whose cells free each other's memory.
    pub(super) shared_limit: Option<Arc<HeapLimit>>,
}

impl Config {
    /// Returns the defaults: interpreted, no arguments, embedded mode.
    pub fn new() -> Config {
        Config::default()
    }

    /// Sets the tier that executes the program.
    pub fn tier(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
    }

    /// Sets `argv`; the first element is the program's name.
    pub fn args(mut self, args: Vec<OsString>) -> Self {
        self.args = args;
        self
    }

    /// Appends an element to `argv`.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Sets an environment variable. It is set in the whole process when the program starts,
    /// because the C library has only one environment. Variables of ompvm itself (`OMPVM_*`) have
    /// no effect here: they were read when the first engine was created.
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }

    /// Sets `OMP_NUM_THREADS`: the size of teams without a `num_threads` clause. The OpenMP runtime
    /// reads its settings once per process, before the first program starts.
    pub fn num_threads(self, threads: u32) -> Self {
        self.env("OMP_NUM_THREADS", threads.to_string())
    }

    /// Sets `OMP_THREAD_LIMIT`: the number of OpenMP threads that exist at once for one thread of the
    /// host, which a call begins on. Teams get fewer threads than they ask for where the limit is
    /// reached. As for [`Config::num_threads`], the first program decides. Threads that the guest
    /// creates itself are not counted.
    pub fn thread_limit(self, threads: u32) -> Self {
        self.env("OMP_THREAD_LIMIT", threads.to_string())
    }

    /// Sets `OMP_SCHEDULE`: the meaning of `schedule(runtime)`, for example `"dynamic,4"`.
    pub fn schedule(self, schedule: &str) -> Self {
        self.env("OMP_SCHEDULE", schedule)
    }

    /// Adds a library, as `-l` does: a shared library, or else a static archive of native objects;
    /// or a path with a slash. An archive with bitcode belongs among the files of
    /// [`super::Module::from_files`]; [`find_archive`] finds it.
    pub fn library(mut self, name: impl Into<String>) -> Self {
        self.libraries.push(name.into());
        self
    }

    /// Adds a directory that is searched for libraries, as `-L` does.
    pub fn library_path(mut self, directory: impl Into<PathBuf>) -> Self {
        self.library_paths.push(directory.into());
        self
    }

    /// Makes functions and variables of the program visible to libraries that it opens with
    /// `dlopen`, as linkers do with `-rdynamic`. Default: those that its executable exports, if
    /// it is one that `ompvm cc` has linked. Only for a process that is the program
    /// ([`Config::native`]).
    pub fn export_dynamic(mut self, all: bool) -> Self {
        self.export_dynamic = all;
        self
    }

    /// Sets the size in bytes of the stack that calls into the program run on (default: the
    /// caller's own stack). Frames of the interpreter take about four times the room of compiled
    /// ones.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack = bytes;
        self
    }

    /// Selects the native mode, in which the process is the guest's, as for the command line:
    /// `exit` ends the process, a fault kills it by its signal after a message, and exit handlers
    /// go to the C library. Default: embedded mode.
    pub fn native(mut self, native: bool) -> Self {
        self.native = native;
        self
    }

    /// Selects the devices that `target` regions run on, in the whole process; fixed once a program
    /// has used devices. Default: the value of `OMPVM_DEVICE` (`emulated`, `emulated:2`, `host`),
    /// else the hardware's devices.
    pub fn devices(mut self, devices: Devices) -> Self {
        self.devices = Some(devices);
        self
    }

    /// Selects devices that run the regions of the default device together, in the whole process;
    /// fixed once a program has used devices. Default: the value of `OMPVM_DEVICES`, else the
    /// default device alone.
    pub fn device_group(mut self, group: DeviceGroup) -> Self {
        self.device_group = Some(group);
        self
    }

    /// Selects whether parallel loops outside of `target` regions run on devices, too. Applies to
    /// programs that are started from now on, in the whole process. Default: the value of
    /// `OMPVM_OFFLOAD` (`off`, `auto`, `force`), else off.
    pub fn offload(mut self, offload: Offload) -> Self {
        self.offload = Some(offload);
        self
    }

    /// Sets whether a program in the native mode ([`Config::native`]) begins with denormals flushed
    /// to zero, as one linked natively with `-ffast-math` does. Default: on if its bitcode was
    /// compiled with that option. An embedded guest has the floating-point environment of its
    /// caller.
    pub fn flush_denormals(mut self, flush: bool) -> Self {
        self.flush_denormals = Some(flush);
        self
    }

    /// Lets a handle end the calls of an embedded program, of its start and of `main`. It costs each
    /// call about 100 nanoseconds. Default: nothing ends a call.
    pub fn cancelled_by(mut self, handle: &CancelHandle) -> Self {
        self.cancel = Some(handle.clone());
        self
    }

    /// Limits the wall time of each call of an embedded program, of its start and of `main`. A call
    /// that takes longer ends with [`super::TrapKind::OutOfTime`], as one that
    /// [`CancelHandle::cancel`] ends. Default: `None`, no limit.
    pub fn time_limit(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.time_limit = limit.into();
        self
    }

    /// Limits the instructions that an embedded program executes, those of its start included, on
    /// all threads together; [`super::Process::set_fuel`] changes what is left. The call that would
    /// exceed it ends with [`super::TrapKind::OutOfFuel`]. An instruction is one of the bitcode's
    /// (LLVM's IR); those of native libraries and of devices are not counted. The same calls on one
    /// thread end at the same instruction in every run; with more threads the program may end
    /// 4,096 instructions early for each other thread. Each cell of a session has its own. Needs
    /// [`Tier::Interp`]. Default: `None`, no limit.
    pub fn fuel(mut self, instructions: impl Into<Option<u64>>) -> Self {
        self.fuel = instructions.into();
        self
    }

    /// Limits the bytes of heap memory that the program holds at once: blocks of `malloc` and its
    /// kind, of C++'s `new` and of `omp_alloc`, each with 16 bytes more. A request beyond it fails
    /// as natively without memory: it returns null, or throws `std::bad_alloc`. Memory that
    /// libraries allocate, `mmap`, stacks and static data are not counted, so this stops mistakes
    /// rather than attacks. The cells of a session share one limit. An allocation and its release
    /// take some 15 nanoseconds longer. Only embedded programs have limits. Default: `None`, no
    /// limit.
    pub fn memory_limit(mut self, bytes: impl Into<Option<usize>>) -> Self {
        self.memory_limit = bytes.into();
        self
    }

    /// Makes a guest in the native mode run again when it executes itself (`execv("/proc/self/exe",
    /// argv)`).
    ///
    /// `command` is a command line of ompvm up to the program's file: its own name, a command,
    /// options. `file` is that file; the guest's new arguments follow it. A `command` of fewer than
    /// two words has no effect. Default: the guest's calls go to the C library.
    pub fn restart(mut self, command: Vec<OsString>, file: PathBuf) -> Self {
        self.restart = Some((command, file)).filter(|(command, _)| command.len() >= 2);
        self
    }

    /// Sets whether to collect the data for [`offload_report`]. Default: no.
    pub fn offload_report(mut self, report: bool) -> Self {
        self.offload_report = report;
        self
    }

    /// Sets whether to count instructions for [`super::Process::stats`]. Default: no.
    pub fn stats(mut self, stats: bool) -> Self {
        self.stats = stats;
        self
    }
}

pub use ompvm_support::settings::DeviceGroup;
pub use ompvm_support::settings::DeviceSelection as Devices;
pub use ompvm_support::settings::OffloadMode as Offload;

/// Parses a device selection such as `emulated`, `emulated:2` or `host`.
pub fn parse_devices(text: &str) -> Option<Devices> {
    Devices::parse(text)
}

/// Returns a report of the regions that ran on devices so far: one line for each region and device,
/// with the bytes moved, the time, and the reason if a region ran on the host. See
/// [`Config::offload_report`].
pub fn offload_report() -> String {
    ompvm_offload::report::render()
}

/// Returns the static archive that `-l name` stands for, if neither the folders of `-L` nor the
/// system's have a shared library of that name.
pub fn find_archive(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    ompvm_tier::libraries::archive(name, folders)
}
