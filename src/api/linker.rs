//! Links a module against host functions, and starts the resulting program.
//!
//! Linking is a step of its own, so that everything unresolved or unsupported is reported before
//! anything runs. `tier::link` resolves the symbols.

use super::config::{Config, Engine, Tier};
use super::module::Module;
use super::process::Process;
use hashbrown::HashMap;
use ompvm_cache::{Cache, CacheEntry};
use ompvm_ir as ir;
use ompvm_kmpc::waits::watchdog;
use ompvm_memory::heap_limit::HeapLimit;
use ompvm_offload as offload;
use ompvm_offload::options::OffloadOptions;
use ompvm_support::error::Error;
use ompvm_support::settings::Settings;
use ompvm_tier::archive::Archive;
use ompvm_tier::exports::Exports;
use ompvm_tier::host::{HostFunction, IntoHost};
use ompvm_tier::libraries::Libraries;
use ompvm_tier::link::{self, Environment, Linked};
use ompvm_tier::native_policy::NativePolicy;
use ompvm_tier::policy::TierPolicy;
use ompvm_tier::restart::{self, Restart};
use ompvm_tier::{process, runtime};
use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

/// Collects host functions and links modules against them.
///
/// ```no_run
/// # use ompvm::api::{Config, Engine, Error, Linker, Module};
/// # fn main() -> Result<(), Error> {
/// let engine = Engine::default();
/// let module = Module::from_files(&engine, &["solver.bc".into()])?;
/// let mut linker = Linker::new(&engine);
/// linker.func("report", |step: i32, residual: f64| println!("{step}: {residual}"))?;
/// let process = linker.link(&module)?.start(Config::new())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Linker {
    host: HashMap<String, Arc<HostFunction>>,
    /// Addresses in `processes`, by name.
    definitions: HashMap<Box<str>, usize>,
    processes: Vec<Arc<Process>>,
    late: bool,
    deny_native: bool,
    allow_native: Vec<String>,
}

impl Linker {
    /// Creates a linker without host functions.
    pub fn new(_engine: &Engine) -> Linker {
        Linker::default()
    }

    /// Defines a function that the guest calls by `name`: a closure of up to eight arguments of
    /// integer, `bool`, float and [`super::GuestPtr`] types. Several guest threads may call it at
    /// once. The guest's declaration must have the same signature.
    ///
    /// # Errors
    /// Returns [`Error::Host`] if the system has no memory for the function's stub.
    pub fn func<P, R>(
        &mut self,
        name: &str,
        function: impl IntoHost<P, R>,
    ) -> Result<&mut Self, Error> {
        let function = Arc::new(HostFunction::new(function)?);
        self.host.insert(name.to_owned(), function);
        Ok(self)
    }

    /// Defines a function of the host whose types are known at run time. `signature` is its type as
    /// in C, without names: `double (long, const double *)`. The closure gets a slot for each
    /// argument, as [`super::Func::call`] takes them, and returns one. Several threads of the guest
    /// may call it at once.
    ///
    /// # Errors
    /// Returns [`Error::Host`] if the signature is not one, or if there is no memory for the stub.
    pub fn func_of_slots(
        &mut self,
        name: &str,
        signature: &str,
        function: impl Fn(&[u64]) -> u64 + Send + Sync + 'static,
    ) -> Result<&mut Self, Error> {
        let signature = signature.parse().map_err(Error::Host)?;
        let function = Arc::new(HostFunction::of_slots(signature, function)?);
        self.host.insert(name.to_owned(), function);
        Ok(self)
    }

    /// Makes the functions and variables of a started program available to modules that are linked
    /// from now on, by their names, as a linker does for object files of one program. Of two
    /// programs with the same name the one given last counts. Types are not compared, and a
    /// `thread_local` variable is not available. The linked programs keep the process alive.
    ///
    /// ```no_run
    /// # use ompvm::api::{Config, Engine, Error, Language, Linker, Module, Source};
    /// # use std::sync::Arc;
    /// # fn main() -> Result<(), Error> {
    /// # let engine = Engine::default();
    /// let mut linker = Linker::new(&engine);
    /// let text = "int n = 5;";
    /// let first = Module::from_source(&engine, &Source::text(Language::C, "first.c", text))?;
    /// let first = Arc::new(linker.link(&first)?.start(Config::new())?);
    /// linker.process(&first);
    /// let text = "extern int n; int twice(void) { return 2 * n; }";
    /// let second = Module::from_source(&engine, &Source::text(Language::C, "second.c", text))?;
    /// let second = linker.link(&second)?.start(Config::new())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn process(&mut self, process: &Arc<Process>) -> &mut Self {
        let definitions = link::definitions(process.image());
        let definitions = definitions.map(|(name, address)| (name.into(), address));
        self.definitions.extend(definitions);
        self.processes.push(process.clone());
        self
    }

    /// Selects whether to link although the module uses constructs that this version does not
    /// support. Reaching one of them then ends the program with the same message and the status
    /// 125. Default: no.
    pub fn late_unsupported(&mut self, late: bool) -> &mut Self {
        self.late = late;
        self
    }

    /// Allows only listed native functions: those that compute in memory, write to the streams that
    /// the process has, and read the time; OpenMP's, and those that [`Linker::func`] defines. A program
    /// that uses another one, a native library, native members or inline assembly is refused when it
    /// starts ([`Error::NotAllowed`]). Default: the setting `OMPVM_DENY_NATIVE`.
    ///
    /// This is no boundary in memory: the guest shares the address space with the host.
    pub fn deny_native(&mut self, deny: bool) -> &mut Self {
        self.deny_native = deny;
        self
    }

    /// Allows a native function by its name, or a group such as `@threads`, where others are denied.
    pub fn allow_native(&mut self, name: &str) -> &mut Self {
        self.allow_native.push(name.to_owned());
        self
    }

    /// Links a module and reports everything that this version does not support. Libraries are
    /// opened, and symbols resolved, when the program starts.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] with everything that is not supported; [`Error::Host`] for a group
    /// of native functions that does not exist.
    pub fn link(&self, module: &Module) -> Result<Program, Error> {
        let unsupported = module.check();
        if !self.late && !unsupported.is_empty() {
            return Err(Error::Unsupported(unsupported));
        }
        let settings = module.settings;
        let allowed = settings.allow_native.iter().chain(&self.allow_native);
        let policy = match self.deny_native || settings.deny_native {
            true => Some(NativePolicy::new(allowed.map(String::as_str))?),
            false => None,
        };
        Ok(Program {
            policy,
            module: module.ir.clone(),
            cache_entry: module.cache_entry.clone(),
            cache: module.cache.clone(),
            archives: module.archives.clone(),
            libraries: module.libraries.clone(),
            exports: module.exports.clone(),
            executable: module.executable,
            host: self.host.clone(),
            definitions: self.definitions.clone(),
            processes: self.processes.clone(),
            late: self.late,
            settings: module.settings,
        })
    }
}

/// A linked program. It can be started several times; each process has its own data.
#[derive(Clone, Debug)]
pub struct Program {
    module: Arc<ir::Module>,
    cache_entry: Option<Arc<CacheEntry>>,
    /// Cache of the module's engine.
    cache: Option<Cache>,
    archives: Vec<Arc<Archive>>,
    libraries: Vec<String>,
    /// The symbols that the program's executable exports.
    exports: Exports,
    /// True if the program was linked before, as an executable.
    executable: bool,
    host: HashMap<String, Arc<HostFunction>>,
    /// Addresses in `processes`, by name.
    definitions: HashMap<Box<str>, usize>,
    processes: Vec<Arc<Process>>,
    /// Native functions that the program may use; `None` allows all.
    policy: Option<NativePolicy>,
    late: bool,
    /// Settings of the module's engine.
    settings: &'static Settings,
}

impl Program {
    /// Starts the program: opens libraries, resolves symbols, places the data and runs
    /// constructors.
    ///
    /// # Errors
    /// Returns [`Error::NotAllowed`] with everything that is denied; [`Error::Unresolved`] with every
    /// symbol without a definition; [`Error::Input`] for a
    /// library that cannot be opened; [`Error::Host`] for a host function whose signature differs,
    /// or for lack of memory; [`Error::Trap`] for a fault in a constructor.
    pub fn start(&self, config: Config) -> Result<Process, Error> {
        if config.fuel.is_some() && (config.tier != Tier::Interp || config.native) {
            return Err(Error::Host(
                "only the interpreter counts instructions: a program with fuel needs Tier::Interp"
                    .into(),
            ));
        }
        if config.native && config.memory_limit.is_some() {
            return Err(Error::Host(
                "only an embedded program has a memory limit; `ulimit` limits a native one".into(),
            ));
        }
        if config.offload_report {
            offload::report::enable();
        }
        let settings = self.settings;
        offload::devices::select(
            config.devices.unwrap_or(settings.devices),
            config.device_group.unwrap_or(settings.group),
            settings,
        );
        let linked = self.symbols(&config)?;
        // With a tool or the watchdog, code is compiled with other runtime entries, and is not worth
        // caching.
        let cache_entry = self
            .cache_entry
            .clone()
            .filter(|_| config.tier != Tier::Interp && !linked.traced() && !watchdog::started());
        if let Some(cache_entry) = &cache_entry {
            self.store_module(&linked, cache_entry);
        }
        let mut args = config.args;
        if args.is_empty() {
            args.push(self.module.name.clone().into());
        }
        let args = args
            .into_iter()
            .map(|a| {
                CString::new(a.into_vec())
                    .map_err(|_| Error::Host("an argument contains a zero byte".into()))
            })
            .collect::<Result<_, _>>()?;
        let options = process::ProcessOptions {
            args,
            env: config.env,
            native: config.native,
            stack: config.stack,
            mode: match config.tier {
                Tier::Interp => TierPolicy::Interp,
                Tier::Baseline => TierPolicy::Baseline,
                Tier::Opt => TierPolicy::Opt,
                Tier::Auto => TierPolicy::Auto,
            },
            cache_entry,
            flush_denormals: config.flush_denormals,
            settings,
            count_instructions: config.stats,
            offload: OffloadOptions {
                cache: self.cache.clone(),
                mode: config.offload.unwrap_or(settings.offload),
                settings,
            },
            interrupts: match (config.cancel, config.time_limit) {
                (Some(handle), _) => Some(handle.interrupts),
                (None, Some(_)) => Some(Arc::default()),
                (None, None) => None,
            },
            time_limit: config.time_limit,
            fuel: config.fuel,
            restart: config.restart.map(|(command, file)| Restart {
                command: command.iter().map(|word| restart::c_string(word)).collect(),
                file: restart::c_string(file.as_os_str()),
            }),
        };
        let started = process::Process::start(linked, options)?;
        Ok(Process::new(started, self.processes.clone()))
    }

    /// Compiles the program into the engine's cache ahead of time, without running any of it.
    /// Returns a sentence for each function that LLVM cannot compile, which the tier below
    /// executes.
    ///
    /// # Errors
    /// As for [`Program::start`]; also [`Error::Host`] if the engine has no cache.
    pub fn compile(&self, config: &Config) -> Result<Vec<String>, Error> {
        let Some(cache_entry) = self.cache_entry.clone() else {
            return Err(Error::Host("there is no cache to compile into".into()));
        };
        let linked = self.symbols(config)?;
        self.store_module(&linked, &cache_entry);
        process::compile(&linked, cache_entry, self.settings)
    }

    /// Returns the machine code that the baseline compiler makes of a function as text, without
    /// running any of the program.
    ///
    /// # Errors
    /// As for [`Program::start`]; also [`Error::Input`] if the program does not define the
    /// function, or if the function stays interpreted in the baseline tier.
    pub fn baseline_code(&self, function: &str) -> Result<String, Error> {
        let linked = self.symbols(&Config::default())?;
        process::baseline_listing(&linked, function)
    }

    /// Resolves every symbol.
    fn symbols(&self, config: &Config) -> Result<Linked, Error> {
        // Libraries are opened first, because one of them may be a tool.
        let names = [&self.libraries[..], &config.libraries].concat();
        if let Some(policy) = &self.policy {
            policy.check_libraries(&names)?;
        }
        let mut libraries = Libraries::open(&names, &config.library_paths)?;
        libraries.loader_path = self.settings.loader_path.clone();
        let own_tool = process::ompt_start_tool(&self.module).is_some();
        let mut environment = Environment {
            runtime: runtime::lookup_for(own_tool),
            exports: match config.export_dynamic {
                true => Exports::Everything,
                false => self.exports.clone(),
            },
            executable: self.executable,
            host: self.host.clone(),
            programs: self.definitions.clone(),
            libraries,
            archives: self.archives.clone(),
            natives: None,
            assembly: None,
            cache_entry: self.cache_entry.clone(),
            policy: self.policy.clone(),
            late: self.late,
            overrides: {
                let mode = config.offload.unwrap_or(self.settings.offload);
                let mut overrides = ompvm_auto_offload::overrides(mode);
                overrides.extend(match config.native {
                    true => process::native_overrides(),
                    false => process::embedded_overrides(),
                });
                overrides
            },
            heap_limit: None,
        };
        environment.limit_memory(match (&config.shared_limit, config.memory_limit) {
            (Some(shared), _) => Some(shared.clone()),
            (None, Some(bytes)) => Some(HeapLimit::new(bytes)?),
            (None, None) => None,
        })?;
        link::link(self.module.clone(), environment)
    }

    /// Stores the module in the cache, unless it is stored already or may contain unsupported
    /// constructs.
    fn store_module(&self, linked: &Linked, cache_entry: &CacheEntry) {
        if self.module.linked_before.is_none() && !self.late {
            cache_entry.put_module(&self.module, linked.uses.clone());
        }
    }
}
