//! Processes, and calls of their functions.

use super::{OmpvmError, free, owned, store, text};
use engine::api::{Error, Func, GuestPtr, Process};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// `ompvm_value`: a slot.
#[derive(Clone, Copy)]
#[repr(C)]
pub union OmpvmValue {
    /// Integers, addresses and the bits of numbers.
    pub u64: u64,
}

/// `ompvm_function`. Its lifetime is that of the process that holds it.
type OmpvmFunction = Func<'static>;

/// `ompvm_process`: a process with the functions that were looked up.
#[derive(Debug)]
pub struct OmpvmProcess {
    /// Dropped first. Boxed, since callers have their addresses.
    #[expect(clippy::vec_box, reason = "callers have the addresses")]
    functions: Mutex<Vec<Box<OmpvmFunction>>>,
    /// Boxed, since the functions refer to it.
    process: Box<Process>,
}

impl OmpvmProcess {
    pub(crate) fn new(process: Process) -> OmpvmProcess {
        OmpvmProcess {
            functions: Mutex::default(),
            process: Box::new(process),
        }
    }

    fn function(&self, name: &str, signature: Option<&str>) -> Result<*const OmpvmFunction, Error> {
        let process: *const Process = &raw const *self.process;
        // SAFETY: the process stays in its box until `functions`, which is dropped before it.
        let function = Box::new(unsafe { &*process }.func(name, signature)?);
        let address = &raw const *function;
        let functions = self.functions.lock();
        functions
            .unwrap_or_else(PoisonError::into_inner)
            .push(function);
        Ok(address)
    }
}

/// `ompvm_process_run_main`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_process_run_main(
    process: *mut OmpvmProcess,
    status: *mut c_int,
) -> *mut OmpvmError {
    // SAFETY: the caller passes a process that nothing else uses now, and room for the status. The
    // functions are not used meanwhile.
    unsafe { store(status, || Ok((*process).process.run_main()?.code())) }
}

/// `ompvm_process_function`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_process_function(
    process: *const OmpvmProcess,
    name: *const c_char,
    signature: *const c_char,
    function: *mut *const OmpvmFunction,
) -> *mut OmpvmError {
    // SAFETY: the caller passes a live process, C strings (or no signature) and room for the
    // result.
    unsafe {
        store(function, || {
            let signature = (!signature.is_null())
                .then(|| text(signature))
                .transpose()?;
            (*process).function(text(name)?, signature)
        })
    }
}

/// `ompvm_process_variable`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_process_variable(
    process: *const OmpvmProcess,
    name: *const c_char,
) -> *mut c_void {
    // SAFETY: the caller passes a live process and a C string.
    let variable = unsafe { text(name).map(|name| (*process).process.global::<u8>(name)) };
    let address = variable.ok().flatten().map(GuestPtr::as_ptr);
    address.map_or(ptr::null_mut(), |p| p.cast())
}

/// `ompvm_process_memory_used`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_process_memory_used(process: *const OmpvmProcess) -> usize {
    // SAFETY: the caller passes a live process.
    let used = unsafe { (*process).process.memory_used() };
    used.unwrap_or(usize::MAX)
}

/// `ompvm_process_fuel`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_process_fuel(process: *const OmpvmProcess) -> u64 {
    // SAFETY: the caller passes a live process.
    let fuel = unsafe { (*process).process.fuel() };
    fuel.unwrap_or(u64::MAX)
}

/// `ompvm_process_set_fuel`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_process_set_fuel(
    process: *const OmpvmProcess,
    instructions: u64,
) -> *mut OmpvmError {
    // SAFETY: the caller passes a live process.
    unsafe { store(&mut (), || (*process).process.set_fuel(instructions)) }
}

/// `ompvm_process_statistics`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_process_statistics(process: *const OmpvmProcess) -> *mut c_char {
    // SAFETY: the caller passes a live process.
    owned(unsafe { (*process).process.stats() }.to_string())
}

/// `ompvm_process_free`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_process_free(process: *mut OmpvmProcess) {
    // SAFETY: the caller passes null or a process that it uses no more.
    unsafe { free(process) }
}

/// `ompvm_function_arity`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_function_arity(function: *const OmpvmFunction) -> usize {
    // SAFETY: the caller passes a function of a live process.
    unsafe { (*function).signature().params.len() }
}

/// `ompvm_call`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ompvm_call(
    function: *const OmpvmFunction,
    arguments: *const OmpvmValue,
    result: *mut OmpvmValue,
) -> *mut OmpvmError {
    // SAFETY: the caller passes a function of a live process, as many arguments as it takes, and
    // room for the result or null.
    unsafe {
        let count = (*function).signature().params.len();
        let slots = match count {
            0 => &[][..],
            _ => std::slice::from_raw_parts(arguments.cast::<u64>(), count),
        };
        match (*function).call(slots) {
            Ok(value) => {
                if !result.is_null() {
                    result.write(OmpvmValue { u64: value });
                }
                ptr::null_mut()
            }
            Err(error) => OmpvmError::of(error),
        }
    }
}
