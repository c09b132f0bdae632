//! Values between Python and the guest.
//!
//! Integers, floats and bools become scalars. A pointer is `None`, an address, or an object with
//! the buffer protocol whose elements lie next to each other; it is locked during the call. Where
//! the signature names the type of the elements, that of the array must have the same size and
//! class, since a wrong one would damage memory.

use ompvm::api::{Scalar, Signature, ValueKind};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

/// Target of a pointer parameter, read from the text of a signature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointee {
    /// Class and bytes of the elements; `None` for `void` and for types that are not known.
    element: Option<(Class, usize)>,
    /// True if the guest does not write.
    constant: bool,
}

/// Class of the elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Integer,
    Float,
}

impl Pointee {
    /// Reads the parameters of a signature; without one nothing is known about them.
    pub(crate) fn of_signature(text: Option<&str>, count: usize) -> Vec<Pointee> {
        let list = text.and_then(|text| text.split_once('(')).map(|(_, l)| l);
        let list = list.map_or("", |list| list.trim_end().trim_end_matches(')'));
        let mut known: Vec<_> = list.split(',').map(Pointee::of_type).collect();
        let unknown = Pointee {
            element: None,
            constant: false,
        };
        known.resize(count, unknown);
        known
    }

    fn of_type(text: &str) -> Pointee {
        let target = text.trim().strip_suffix('*').unwrap_or("");
        let constant = target.split_whitespace().any(|word| word == "const");
        let scalar = format!("{target} ()").parse::<Signature>().map(|s| s.ret);
        let element = match scalar.map(|s| s.kind) {
            // Bytes of anything.
            Ok(ValueKind::Int(..=8)) => None,
            Ok(ValueKind::Int(bits)) => Some((Class::Integer, bits as usize / 8)),
            Ok(ValueKind::F32) => Some((Class::Float, 4)),
            Ok(ValueKind::F64) => Some((Class::Float, 8)),
            _ => None,
        };
        Pointee { element, constant }
    }
}

/// A buffer that is locked until it is dropped, with the interpreter's lock held.
pub(crate) struct Buffer(ffi::Py_buffer);

impl Buffer {
    /// Locks the memory of an object.
    fn of(object: &Bound<'_, PyAny>, pointee: Pointee) -> PyResult<Buffer> {
        let mut flags = ffi::PyBUF_ANY_CONTIGUOUS | ffi::PyBUF_FORMAT;
        if !pointee.constant {
            flags |= ffi::PyBUF_WRITABLE;
        }
        let mut view = MaybeUninit::uninit();
        // SAFETY: the object is live, the interpreter's lock is held, and there is room for the
        // view.
        let failed = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), flags) };
        if failed != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        // SAFETY: the call succeeded, so it filled the view.
        let buffer = Buffer(unsafe { view.assume_init() });
        buffer.check(pointee)?;
        Ok(buffer)
    }

    /// Returns the class of the elements by their format (Python's module `struct`).
    fn class(&self) -> Option<Class> {
        if self.0.format.is_null() {
            return Some(Class::Integer);
        }
        // SAFETY: a C string that lives as long as the view.
        let format = unsafe { CStr::from_ptr(self.0.format) }.to_bytes();
        match format.strip_prefix(b"@").unwrap_or(format) {
            [
                b'b' | b'B' | b'h' | b'H' | b'i' | b'I' | b'l' | b'L' | b'q' | b'Q' | b'n' | b'N'
                | b'?' | b'c',
            ] => Some(Class::Integer),
            [b'f' | b'd'] => Some(Class::Float),
            _ => None,
        }
    }

    fn check(&self, pointee: Pointee) -> PyResult<()> {
        let (Some((class, bytes)), Some(own)) = (pointee.element, self.class()) else {
            return Ok(());
        };
        let name = |class, bytes: usize| match class {
            Class::Integer => format!("integers of {bytes} bytes"),
            Class::Float => format!("floating-point numbers of {bytes} bytes"),
        };
        let size = self.0.itemsize as usize;
        if (own, size) == (class, bytes) {
            return Ok(());
        }
        Err(PyTypeError::new_err(format!(
            "an array of {} is needed, not of {}",
            name(class, bytes),
            name(own, size)
        )))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the view was filled, and is released once. Buffers are dropped with the
        // interpreter's lock held: they are not `Send`.
        unsafe { ffi::PyBuffer_Release(&raw mut self.0) };
    }
}

/// Converts an argument to a slot. A buffer is added to `locked`.
pub(crate) fn slot(
    value: &Bound<'_, PyAny>,
    scalar: Scalar,
    pointee: Pointee,
    locked: &mut Vec<Buffer>,
) -> PyResult<u64> {
    match scalar.kind {
        ValueKind::F64 => Ok(value.extract::<f64>()?.to_bits()),
        ValueKind::F32 => Ok(u64::from((value.extract::<f64>()? as f32).to_bits())),
        ValueKind::Int(1) => Ok(u64::from(value.is_truthy()?)),
        ValueKind::Int(bits) => integer(value, bits, scalar.signed),
        ValueKind::Ptr => address(value, pointee, locked),
        ValueKind::Void => Ok(0),
    }
}

/// Converts an integer, and refuses one that the type cannot hold.
fn integer(value: &Bound<'_, PyAny>, bits: u32, signed: bool) -> PyResult<u64> {
    let wide: i128 = match value.extract::<i64>() {
        Ok(value) => value.into(),
        Err(error) => value.extract::<u64>().map_err(|_| error)?.into(),
    };
    // Without a signature the signedness is not known, so both are allowed.
    let most = 1i128 << bits;
    let least = if signed { -(most / 2) } else { 0 };
    if wide < least || wide >= most {
        let kind = if signed { "a signed" } else { "an unsigned" };
        return Err(PyValueError::new_err(format!(
            "{wide} does not fit {kind} integer of {bits} bits"
        )));
    }
    Ok(wide as u64)
}

/// Converts a pointer.
fn address(value: &Bound<'_, PyAny>, pointee: Pointee, locked: &mut Vec<Buffer>) -> PyResult<u64> {
    if value.is_none() {
        return Ok(0);
    }
    // SAFETY: the object is live, and the interpreter's lock is held.
    let is_buffer: c_int = unsafe { ffi::PyObject_CheckBuffer(value.as_ptr()) };
    if is_buffer != 0 {
        let buffer = Buffer::of(value, pointee)?;
        let address = buffer.0.buf.expose_provenance() as u64;
        locked.push(buffer);
        return Ok(address);
    }
    value.extract::<u64>().map_err(|_| {
        PyTypeError::new_err(format!(
            "a pointer is an array, an address or None, not {}",
            value.get_type()
        ))
    })
}

/// Converts a slot to a value of Python.
pub(crate) fn value(py: Python<'_>, slot: u64, scalar: Scalar) -> PyResult<Py<PyAny>> {
    Ok(match scalar.kind {
        ValueKind::Void => py.None(),
        ValueKind::F64 => f64::from_bits(slot).into_pyobject(py)?.into_any().unbind(),
        ValueKind::F32 => {
            let value = f64::from(f32::from_bits(slot as u32));
            value.into_pyobject(py)?.into_any().unbind()
        }
        ValueKind::Int(1) => (slot & 1 != 0)
            .into_pyobject(py)?
            .to_owned()
            .into_any()
            .unbind(),
        ValueKind::Int(_) if scalar.signed => (slot as i64).into_pyobject(py)?.into_any().unbind(),
        ValueKind::Int(_) | ValueKind::Ptr => slot.into_pyobject(py)?.into_any().unbind(),
    })
}
