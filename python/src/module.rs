//! Modules and processes.

use super::call::{self, Function, Raised};
use super::error::{Error, exception};
use ompvm::api::{self, CancelHandle, Config, Engine, Language, Linker, Signature, Source, Tier};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A running program, held by its process and its functions.
pub(crate) struct Running {
    pub(crate) process: api::Process,
    pub(crate) raised: Arc<Raised>,
}

/// Locks a mutex, also after a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program that has been read. It can be started several times.
#[pyclass(frozen, module = "ompvm")]
pub(crate) struct Module {
    engine: Engine,
    module: api::Module,
}

/// Functions of the host by name: each with its type as in C.
pub(crate) type Callbacks = HashMap<String, (String, Py<PyAny>)>;

#[pymethods]
impl Module {
    /// Reads files of bitcode, textual IR, or objects with bitcode, and links them.
    #[new]
    #[pyo3(signature = (*files, cached = true, contained = false))]
    fn new(py: Python<'_>, files: Vec<PathBuf>, cached: bool, contained: bool) -> PyResult<Module> {
        let engine = engine(cached).contain_reading(contained);
        let read = py.detach(|| api::Module::from_files(&engine, &files));
        let module = read.map_err(|error| exception(py, error))?;
        Ok(Module { engine, module })
    }

    /// Reads bitcode or textual IR from memory; `name` is for messages.
    #[staticmethod]
    #[pyo3(signature = (data, name = "bytes", cached = true, contained = false))]
    fn from_bytes(
        py: Python<'_>,
        data: &[u8],
        name: &str,
        cached: bool,
        contained: bool,
    ) -> PyResult<Module> {
        let engine = engine(cached).contain_reading(contained);
        let read = py.detach(|| api::Module::from_bytes(&engine, name, data));
        let module = read.map_err(|error| exception(py, error))?;
        Ok(Module { engine, module })
    }

    /// Compiles a text with the installed clang or flang; `name` is for messages.
    #[staticmethod]
    #[pyo3(signature = (text, language = "c", *, flags = None, name = "source", cached = true))]
    fn from_source(
        py: Python<'_>,
        text: &str,
        language: &str,
        flags: Option<Vec<String>>,
        name: &str,
        cached: bool,
    ) -> PyResult<Module> {
        let language = match language {
            "c" => Language::C,
            "c++" => Language::Cpp,
            "fortran" => Language::Fortran,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "{language:?} is not a language: c, c++, fortran"
                )));
            }
        };
        let engine = engine(cached);
        let source = Source::text(language, name, text).flags(flags.unwrap_or_default());
        let read = py.detach(|| api::Module::from_source(&engine, &source));
        let module = read.map_err(|error| exception(py, error))?;
        Ok(Module { engine, module })
    }

    /// Starts the program.
    #[pyo3(signature = (*, tier = "auto", args = None, env = None, threads = None,
                        libraries = None, library_paths = None, functions = None,
                        stack_size = 0, devices = None, reports = false, time_limit = None,
                        cancel = None, thread_limit = None, memory_limit = None,
                        fuel = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn start(
        &self,
        py: Python<'_>,
        tier: &str,
        args: Option<Vec<String>>,
        env: Option<HashMap<String, String>>,
        threads: Option<u32>,
        libraries: Option<Vec<String>>,
        library_paths: Option<Vec<PathBuf>>,
        functions: Option<Callbacks>,
        stack_size: usize,
        devices: Option<&str>,
        reports: bool,
        time_limit: Option<f64>,
        cancel: Option<PyRef<'_, Cancel>>,
        thread_limit: Option<u32>,
        memory_limit: Option<usize>,
        fuel: Option<u64>,
    ) -> PyResult<Process> {
        let mut config = Config::new()
            .tier(parse_tier(tier)?)
            .stack_size(stack_size)
            .stats(reports)
            .offload_report(reports)
            .fuel(fuel);
        for argument in args.into_iter().flatten() {
            config = config.arg(argument);
        }
        for (name, value) in env.into_iter().flatten() {
            config = config.env(name, value);
        }
        let config = Options {
            threads,
            libraries,
            library_paths,
            devices,
            time_limit,
            thread_limit,
            memory_limit,
            cancel,
        }
        .configure(config)?;
        let raised = Arc::new(Raised::default());
        let mut linker = Linker::new(&self.engine);
        define(py, &mut linker, functions, &raised)?;
        let started = py.detach(|| linker.link(&self.module)?.start(config));
        let process = started.map_err(|error| exception(py, error))?;
        let running = Running { process, raised };
        running.raised.raise()?;
        Ok(Process {
            running: Mutex::new(Some(Arc::new(running))),
        })
    }
}

/// The options that programs and sessions have.
pub(crate) struct Options<'a, 'py> {
    pub(crate) threads: Option<u32>,
    pub(crate) libraries: Option<Vec<String>>,
    pub(crate) library_paths: Option<Vec<PathBuf>>,
    pub(crate) devices: Option<&'a str>,
    /// Seconds.
    pub(crate) time_limit: Option<f64>,
    pub(crate) thread_limit: Option<u32>,
    /// Bytes.
    pub(crate) memory_limit: Option<usize>,
    pub(crate) cancel: Option<PyRef<'py, Cancel>>,
}

impl Options<'_, '_> {
    /// Adds the options to a configuration.
    pub(crate) fn configure(self, mut config: Config) -> PyResult<Config> {
        if let Some(threads) = self.threads {
            config = config.num_threads(threads);
        }
        if let Some(threads) = self.thread_limit {
            config = config.thread_limit(threads);
        }
        for library in self.libraries.into_iter().flatten() {
            config = config.library(library);
        }
        for folder in self.library_paths.into_iter().flatten() {
            config = config.library_path(folder);
        }
        if let Some(text) = self.devices {
            let devices = api::parse_devices(text)
                .ok_or_else(|| PyValueError::new_err(format!("{text:?} selects no devices")))?;
            config = config.devices(devices);
        }
        if let Some(seconds) = self.time_limit {
            let limit = Duration::try_from_secs_f64(seconds)
                .map_err(|error| PyValueError::new_err(format!("{seconds} seconds: {error}")))?;
            config = config.time_limit(limit);
        }
        if let Some(cancel) = self.cancel {
            config = config.cancelled_by(&cancel.0);
        }
        Ok(config.memory_limit(self.memory_limit))
    }
}

/// Defines functions of the host in a linker.
pub(crate) fn define(
    py: Python<'_>,
    linker: &mut Linker,
    functions: Option<Callbacks>,
    raised: &Arc<Raised>,
) -> PyResult<()> {
    for (name, (signature, function)) in functions.into_iter().flatten() {
        let parsed: Signature = signature.parse().map_err(PyValueError::new_err)?;
        let run = call::callback(function, parsed, raised.clone());
        linker
            .func_of_slots(&name, &signature, run)
            .map_err(|error| exception(py, error))?;
    }
    Ok(())
}

/// Ends running calls from another thread.
#[pyclass(frozen, module = "ompvm")]
pub(crate) struct Cancel(CancelHandle);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel(CancelHandle::new())
    }

    /// Ends the calls that run now of the programs that were started with it.
    fn cancel(&self) {
        self.0.cancel();
    }
}

fn engine(cached: bool) -> Engine {
    match cached {
        true => Engine::new().user_cache(),
        false => Engine::new(),
    }
}

/// Parses the name of a tier.
pub(crate) fn parse_tier(text: &str) -> PyResult<Tier> {
    Ok(match text {
        "interp" => Tier::Interp,
        "baseline" => Tier::Baseline,
        "opt" => Tier::Opt,
        "auto" => Tier::Auto,
        _ => {
            return Err(PyValueError::new_err(format!(
                "{text:?} is not a tier: interp, baseline, opt, auto"
            )));
        }
    })
}

/// Reads files and starts the program, as the command line does.
#[pyfunction]
#[pyo3(signature = (*files, **options))]
pub(crate) fn open<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let module = Bound::new(py, Module::new(py, files, true, false)?)?;
    module.call_method("start", (), options)
}

/// Compiles a text and starts the program; options as of `Module.start`.
#[pyfunction]
#[pyo3(signature = (text, language = "c", *, flags = None, **options))]
pub(crate) fn compile<'py>(
    py: Python<'py>,
    text: &str,
    language: &str,
    flags: Option<Vec<String>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let module = Module::from_source(py, text, language, flags, "source", true)?;
    Bound::new(py, module)?.call_method("start", (), options)
}

/// A running program.
#[pyclass(frozen, module = "ompvm")]
pub(crate) struct Process {
    /// `None` after `close`.
    running: Mutex<Option<Arc<Running>>>,
}

impl Process {
    fn running(&self) -> PyResult<Arc<Running>> {
        let running = lock(&self.running).clone();
        running.ok_or_else(|| Error::new_err("the process is closed"))
    }
}

#[pymethods]
impl Process {
    /// Looks up a function; `signature` is its type as in C, without names.
    #[pyo3(signature = (name, signature = None))]
    fn function(&self, py: Python<'_>, name: &str, signature: Option<&str>) -> PyResult<Function> {
        Function::new(py, self.running()?, name, signature)
    }

    /// Looks up a function by its name alone.
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Function> {
        self.function(py, name, None)
    }

    /// Returns the address of a variable, or None.
    fn variable(&self, name: &str) -> PyResult<Option<usize>> {
        let variable = self.running()?.process.global::<u8>(name);
        Ok(variable.map(api::GuestPtr::address))
    }

    /// Runs main and the exit handlers, once, and returns the exit status.
    fn run_main(&self, py: Python<'_>) -> PyResult<u8> {
        let running = self.running()?;
        let status = py.detach(|| running.process.run_main());
        running.raised.raise()?;
        status
            .map(|status| status.code() as u8)
            .map_err(|error| exception(py, error))
    }

    /// Bytes of heap memory that the program holds, or None without a limit.
    #[getter]
    fn memory_used(&self) -> PyResult<Option<usize>> {
        Ok(self.running()?.process.memory_used())
    }

    /// Instructions that the program may still execute, or None without a limit.
    #[getter]
    fn fuel(&self) -> PyResult<Option<u64>> {
        Ok(self.running()?.process.fuel())
    }

    /// Sets the number of instructions that the program may execute from now on.
    #[setter]
    fn set_fuel(&self, py: Python<'_>, instructions: u64) -> PyResult<()> {
        let set = self.running()?.process.set_fuel(instructions);
        set.map_err(|error| exception(py, error))
    }

    /// Returns counts as a dictionary, if the process was started with `reports`.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.running()?.process.stats();
        let all = PyDict::new(py);
        all.set_item("instructions", stats.instructions)?;
        all.set_item("lowered_functions", stats.lowered_functions)?;
        all.set_item("lowered_instructions", stats.lowered_instructions)?;
        all.set_item("lowering_seconds", stats.lowering.as_secs_f64())?;
        let rows = stats.rows.iter().map(|row| {
            let entry = PyDict::new(py);
            entry.set_item("function", &row.function)?;
            entry.set_item("place", row.place.as_deref())?;
            entry.set_item("region", row.region)?;
            entry.set_item("thread", row.thread)?;
            entry.set_item("entries", row.entries)?;
            entry.set_item("instructions", row.instructions)?;
            Ok(entry)
        });
        all.set_item("rows", rows.collect::<PyResult<Vec<_>>>()?)?;
        Ok(all)
    }

    /// Ends the process once its functions are gone, too.
    fn close(&self, py: Python<'_>) {
        let running = lock(&self.running).take();
        // Exit handlers may call functions of the host.
        py.detach(|| drop(running));
    }

    fn __enter__(slf: Py<Process>) -> Py<Process> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) {
        self.close(py);
    }
}
