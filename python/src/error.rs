//! Exceptions: `ompvm.Error`, and `ompvm.Trap` for faults of the guest.

use ompvm::api;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    ompvm,
    Error,
    PyException,
    "A failure: a file that cannot be used, an unresolved symbol, an unsupported feature."
);
create_exception!(
    ompvm,
    Trap,
    Error,
    "A fault of the guest, with the attributes `kind`, `signal`, `address`, `place`, `function`, \
     `thread`, `region` and `detail`."
);

/// Returns the exception for an error.
pub(crate) fn exception(py: Python<'_>, error: api::Error) -> PyErr {
    let text = error.to_string();
    let api::Error::Trap(trap) = error else {
        return Error::new_err(text);
    };
    let exception = Trap::new_err(text);
    match describe(py, &exception, &trap) {
        Ok(()) => exception,
        Err(other) => other,
    }
}

/// Sets the attributes of a fault.
fn describe(py: Python<'_>, exception: &PyErr, trap: &api::Trap) -> PyResult<()> {
    use api::TrapKind::*;
    let (kind, address) = match trap.kind {
        BadAddress(address) => ("bad address", Some(address)),
        RefusedAccess => ("refused access", None),
        IntegerDivision => ("integer division", None),
        FloatingPoint(_) => ("floating point", None),
        StackOverflow => ("stack overflow", None),
        Unreachable => ("unreachable", None),
        BuiltinTrap => ("trap", None),
        BadCall(address) => ("bad call", Some(address)),
        BadJump => ("bad jump", None),
        Abort => ("abort", None),
        Device => ("device", None),
        UncaughtException => ("uncaught exception", None),
        Cancelled => ("cancelled", None),
        OutOfTime => ("out of time", None),
        OutOfFuel => ("out of fuel", None),
    };
    let value = exception.value(py);
    value.setattr("kind", kind)?;
    value.setattr("signal", trap.kind.signal())?;
    value.setattr("address", address)?;
    value.setattr("place", trap.place.as_deref())?;
    value.setattr("function", trap.function.as_deref())?;
    value.setattr("thread", trap.thread)?;
    value.setattr("region", trap.region.as_deref())?;
    value.setattr("detail", trap.detail.as_deref())
}
