//! The Python module `ompvm._ompvm`, over the Rust interface [`ompvm::api`].
//!
//! `python/ompvm/__init__.py` exports it, and `__init__.pyi` documents it for its users. A call
//! converts its arguments, releases the interpreter's lock, and calls the guest on the same thread.
//! Arrays are passed in place: any object with the buffer protocol, such as a NumPy array.
//!
//! [`module`] reads and starts programs, [`call`] calls their functions, [`session`] runs cells,
//! [`argument`] converts values, and [`error`] makes exceptions.

mod argument;
mod call;
mod error;
mod module;
mod session;

use ompvm::api;
use pyo3::prelude::*;

/// Returns the compilations of this process as text; with `function` all events of the functions
/// whose name contains it.
#[pyfunction]
#[pyo3(signature = (function = None))]
fn compile_report(function: Option<&str>) -> String {
    api::compile_report(function)
}

/// Returns the regions that ran on devices as text.
#[pyfunction]
fn offload_report() -> String {
    api::offload_report()
}

#[pymodule]
fn _ompvm(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add("Trap", module.py().get_type::<error::Trap>())?;
    module.add_class::<module::Module>()?;
    module.add_class::<module::Process>()?;
    module.add_class::<module::Cancel>()?;
    module.add_class::<call::Function>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<session::Evaluation>()?;
    module.add_function(wrap_pyfunction!(module::open, module)?)?;
    module.add_function(wrap_pyfunction!(module::compile, module)?)?;
    module.add_function(wrap_pyfunction!(compile_report, module)?)?;
    module.add_function(wrap_pyfunction!(offload_report, module)?)
}
