//! Sessions: programs in C that grow by cells.

use super::call::Raised;
use super::error::{Error, exception};
use super::module::{self, Callbacks, Cancel};
use ompvm::api::{self, Completeness, Config, Engine};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A program in C that grows by cells.
#[pyclass(frozen, module = "ompvm")]
pub(crate) struct Session {
    /// `None` while a cell runs, and after `close`.
    session: Mutex<Option<api::Session>>,
    raised: Arc<Raised>,
}

/// Result of a cell.
#[pyclass(frozen, get_all, module = "ompvm")]
pub(crate) struct Evaluation {
    /// Value of the last expression as text, or None.
    value: Option<String>,
    /// Warnings of the compiler.
    warnings: String,
    /// Status, if the cell called exit.
    exit: Option<i32>,
}

impl Session {
    /// Takes the session for a cell: the interpreter's lock is released meanwhile, so another thread
    /// may come.
    fn take(&self) -> PyResult<api::Session> {
        let taken = module::lock(&self.session).take();
        taken.ok_or_else(|| Error::new_err("the session is closed, or a cell runs"))
    }
}

#[pymethods]
impl Session {
    /// Starts a session without cells.
    #[new]
    #[pyo3(signature = (*, tier = "auto", flags = None, threads = None, libraries = None,
                        library_paths = None, functions = None, devices = None,
                        time_limit = None, cancel = None, thread_limit = None,
                        memory_limit = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        tier: &str,
        flags: Option<Vec<String>>,
        threads: Option<u32>,
        libraries: Option<Vec<String>>,
        library_paths: Option<Vec<PathBuf>>,
        functions: Option<Callbacks>,
        devices: Option<&str>,
        time_limit: Option<f64>,
        cancel: Option<PyRef<'_, Cancel>>,
        thread_limit: Option<u32>,
        memory_limit: Option<usize>,
    ) -> PyResult<Session> {
        let config = Config::new().tier(module::parse_tier(tier)?).arg("ompvm");
        let config = module::Options {
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
        let engine = Engine::new().compiler_flags(flags.unwrap_or_default());
        let started = api::Session::new(&engine, config);
        let mut session = started.map_err(|error| exception(py, error))?;
        let raised = Arc::new(Raised::default());
        module::define(py, session.linker(), functions, &raised)?;
        Ok(Session {
            session: Mutex::new(Some(session)),
            raised,
        })
    }

    /// Compiles and runs a cell on this thread.
    fn run(&self, py: Python<'_>, cell: &str) -> PyResult<Evaluation> {
        let mut session = self.take()?;
        let result = py.detach(|| session.run(cell));
        *module::lock(&self.session) = Some(session);
        self.raised.raise()?;
        let done = result.map_err(|error| exception(py, error))?;
        Ok(Evaluation {
            value: done.value,
            warnings: done.warnings,
            exit: done.exit.map(api::ExitStatus::code),
        })
    }

    /// Returns how far a text is from a complete cell: "complete", "unfinished" if more may follow,
    /// "open" if more must follow.
    fn completeness(&self, cell: &str) -> PyResult<&'static str> {
        let session = self.take()?;
        let completeness = session.completeness(cell);
        *module::lock(&self.session) = Some(session);
        Ok(match completeness {
            Completeness::Complete => "complete",
            Completeness::Unfinished => "unfinished",
            Completeness::Open => "open",
        })
    }

    /// Ends the processes of the cells, unless a cell runs.
    fn close(&self, py: Python<'_>) {
        let session = module::lock(&self.session).take();
        // Exit handlers may call functions of the host.
        py.detach(|| drop(session));
    }

    fn __enter__(slf: Py<Session>) -> Py<Session> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) {
        self.close(py);
    }
}
