//! Functions of the guest, and callbacks into Python.

use super::argument::{self, Pointee};
use super::error::exception;
use super::module::Running;
use ompvm::api::{Func, Signature};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception of a callback during the calls of a process, which the next end of a call
/// raises.
#[derive(Default)]
pub(crate) struct Raised {
    first: Mutex<Option<PyErr>>,
    /// True if there is one.
    any: AtomicBool,
}

impl Raised {
    fn record(&self, error: PyErr) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
        self.any.store(true, Ordering::Release);
    }

    /// Raises the exception.
    #[inline]
    pub(crate) fn raise(&self) -> PyResult<()> {
        if !self.any.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        self.any.store(false, Ordering::Release);
        first.take().map_or(Ok(()), Err)
    }
}

/// A function of a running program.
#[pyclass(frozen, module = "ompvm")]
pub(crate) struct Function {
    /// Dropped first; refers to the process.
    function: Func<'static>,
    pointees: Vec<Pointee>,
    process: Arc<Running>,
}

/// Most arguments that are converted without an allocation.
const FEW: usize = 8;

impl Function {
    pub(crate) fn new(
        py: Python<'_>,
        process: Arc<Running>,
        name: &str,
        signature: Option<&str>,
    ) -> PyResult<Function> {
        let running: *const Running = Arc::as_ptr(&process);
        // SAFETY: the process stays in its `Arc`, which this value holds and drops last.
        let running = unsafe { &*running };
        let found = running.process.func(name, signature);
        let function = found.map_err(|error| exception(py, error))?;
        let pointees = Pointee::of_signature(signature, function.signature().params.len());
        Ok(Function {
            function,
            pointees,
            process,
        })
    }
}

#[pymethods]
impl Function {
    /// Calls the function with the interpreter's lock released, unless the function is a few
    /// instructions.
    #[pyo3(signature = (*arguments))]
    fn __call__(&self, py: Python<'_>, arguments: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        let signature = self.function.signature();
        let count = signature.params.len();
        if arguments.len() != count {
            return Err(PyTypeError::new_err(format!(
                "{} takes {count} arguments, and got {}",
                self.function.name(),
                arguments.len()
            )));
        }
        let mut few = [0; FEW];
        let mut many = Vec::new();
        let slots = match count {
            ..=FEW => &mut few[..count],
            _ => {
                many.resize(count, 0);
                &mut many[..]
            }
        };
        let mut locked = Vec::new();
        let types = signature.params.iter().zip(&self.pointees);
        for ((slot, value), (&scalar, &pointee)) in
            slots.iter_mut().zip(arguments.iter()).zip(types)
        {
            *slot = argument::slot(&value, scalar, pointee, &mut locked)?;
        }
        let slots = &*slots;
        // SAFETY: the caller of a guest's function answers for the meaning of the arguments, as the
        // documentation of the module says.
        let call = || unsafe { self.function.call(slots) };
        let result = match self.function.is_brief() {
            true => call(),
            false => py.detach(call),
        };
        drop(locked);
        self.process.raised.raise()?;
        match result {
            Ok(slot) => argument::value(py, slot, signature.ret),
            Err(error) => Err(exception(py, error)),
        }
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.function.name()
    }

    /// The types, as the guest sees them.
    #[getter]
    fn signature(&self) -> String {
        self.function.signature().to_string()
    }

    fn __repr__(&self) -> String {
        format!("<ompvm function {}: {}>", self.name(), self.signature())
    }
}

/// Returns the closure that calls a function of Python.
pub(crate) fn callback(
    function: Py<PyAny>,
    signature: Signature,
    raised: Arc<Raised>,
) -> impl Fn(&[u64]) -> u64 + Send + Sync + 'static {
    move |slots| {
        Python::attach(|py| {
            let types = signature.params.iter();
            let values = slots
                .iter()
                .zip(types)
                .map(|(&slot, &scalar)| argument::value(py, slot, scalar))
                .collect::<PyResult<Vec<_>>>();
            let result = values.and_then(|values| {
                let result = function.call1(py, PyTuple::new(py, values)?)?;
                let mut locked = Vec::new();
                let unknown = Pointee::of_signature(None, 1)[0];
                argument::slot(result.bind(py), signature.ret, unknown, &mut locked)
            });
            result.unwrap_or_else(|error| {
                raised.record(error);
                0
            })
        })
    }
}
