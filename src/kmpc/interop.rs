//! Routines that query `interop` objects. OpenMP 5.2, section 18.12.
//!
//! An object describes a device and one of its queues in the terms of a foreign runtime. The layer
//! for devices implements the constructs that create objects (`offload::interop`). Without devices
//! each object is `omp_interop_none`, all of whose properties are empty.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;

/// The object of an `omp_interop_t`; its creator may store more behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Number of the device.
    pub device: i32,
    /// Its handles in the foreign runtime.
    pub foreign: Foreign,
}

/// Handles of a foreign runtime: a device, and one of its queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Number of the runtime in the specification's additional definitions.
    pub runtime: isize,
    /// Name of the runtime in the additional definitions.
    pub name: &'static CStr,
    /// Number of the vendor.
    pub vendor: isize,
    /// Name of the vendor.
    pub vendor_name: &'static CStr,
    /// The runtime's number of the device.
    pub device: isize,
    /// The runtime's context.
    pub context: usize,
    /// The runtime's object for the queue.
    pub stream: usize,
}

/// `omp_interop_property_t`.
mod property {
    pub const RUNTIME: i32 = -1;
    pub const RUNTIME_NAME: i32 = -2;
    pub const VENDOR: i32 = -3;
    pub const VENDOR_NAME: i32 = -4;
    pub const DEVICE_NUMBER: i32 = -5;
    pub const PLATFORM: i32 = -6;
    pub const DEVICE: i32 = -7;
    pub const CONTEXT: i32 = -8;
    pub const STREAM: i32 = -9;
}

/// `omp_interop_rc_t`.
mod code {
    pub const NO_VALUE: i32 = 1;
    pub const SUCCESS: i32 = 0;
    pub const EMPTY: i32 = -1;
    pub const OUT_OF_RANGE: i32 = -2;
    pub const IS_INTEGER: i32 = -3;
    pub const IS_POINTER: i32 = -4;
    pub const IS_TEXT: i32 = -5;
    pub const OTHER: i32 = -6;
}

/// Value of a property.
enum Value {
    Integer(isize),
    Pointer(usize),
    Text(&'static CStr),
}

unsafe fn value(object: *const c_void, property: i32) -> Result<Value, i32> {
    // SAFETY: an object of an `interop` construct, or `omp_interop_none`, which is null.
    let Some(object) = (unsafe { object.cast::<Object>().as_ref() }) else {
        return Err(code::EMPTY);
    };
    let foreign = &object.foreign;
    Ok(match property {
        property::RUNTIME => Value::Integer(foreign.runtime),
        property::RUNTIME_NAME => Value::Text(foreign.name),
        property::VENDOR => Value::Integer(foreign.vendor),
        property::VENDOR_NAME => Value::Text(foreign.vendor_name),
        property::DEVICE_NUMBER => Value::Integer(object.device as isize),
        property::DEVICE => Value::Integer(foreign.device),
        property::CONTEXT => Value::Pointer(foreign.context),
        property::STREAM => Value::Pointer(foreign.stream),
        property::PLATFORM => return Err(code::NO_VALUE),
        _ => return Err(code::OUT_OF_RANGE),
    })
}

/// Evaluates a query of one type, and stores the result code in `result` if that is not null.
///
/// # Safety
/// `object` is an interop object or null; `result` is null or valid.
unsafe fn query<T>(
    object: *const c_void,
    property: i32,
    result: *mut c_void,
    take: impl Fn(&Value) -> Option<T>,
) -> Option<T> {
    // SAFETY: an interop object or null (caller's contract).
    let (answer, status) = match unsafe { value(object, property) } {
        Err(status) => (None, status),
        Ok(value) => match take(&value) {
            Some(answer) => (Some(answer), code::SUCCESS),
            None => {
                let is = match value {
                    Value::Integer(_) => code::IS_INTEGER,
                    Value::Pointer(_) => code::IS_POINTER,
                    Value::Text(_) => code::IS_TEXT,
                };
                (None, is)
            }
        },
    };
    // SAFETY: the program's variable, or null (caller's contract).
    if let Some(result) = unsafe { result.cast::<c_int>().as_mut() } {
        *result = status;
    }
    answer
}

/// Implements `omp_get_num_interop_properties`: returns 0, as this implementation defines no
/// properties of its own.
pub unsafe extern "C-unwind" fn own_properties(_object: *const c_void) -> i32 {
    0
}

/// Implements `omp_get_interop_int`.
pub unsafe extern "C-unwind" fn integer(
    object: *const c_void,
    property: i32,
    result: *mut c_void,
) -> i64 {
    let take = |v: &Value| match v {
        Value::Integer(n) => Some(*n),
        _ => None,
    };
    // SAFETY: the program passes an interop object, and a variable or null.
    unsafe { query(object, property, result, take) }.unwrap_or(0) as i64
}

/// Implements `omp_get_interop_ptr`.
pub unsafe extern "C-unwind" fn pointer(
    object: *const c_void,
    property: i32,
    result: *mut c_void,
) -> *mut c_void {
    let take = |v: &Value| match v {
        Value::Pointer(p) => Some(*p),
        _ => None,
    };
    // SAFETY: the program passes an interop object, and a variable or null.
    unsafe { query(object, property, result, take) }.unwrap_or(0) as *mut c_void
}

/// Implements `omp_get_interop_str`.
pub unsafe extern "C-unwind" fn text(
    object: *const c_void,
    property: i32,
    result: *mut c_void,
) -> *const c_void {
    let take = |v: &Value| match v {
        Value::Text(t) => Some(t.as_ptr()),
        _ => None,
    };
    // SAFETY: the program passes an interop object, and a variable or null.
    unsafe { query(object, property, result, take) }
        .unwrap_or(null::<c_char>())
        .cast()
}

/// Implements `omp_get_interop_name`.
pub unsafe extern "C-unwind" fn name(_object: *const c_void, property: i32) -> *const c_void {
    let name = match property {
        property::RUNTIME => c"fr_id",
        property::RUNTIME_NAME => c"fr_name",
        property::VENDOR => c"vendor",
        property::VENDOR_NAME => c"vendor_name",
        property::DEVICE_NUMBER => c"device_num",
        property::PLATFORM => c"platform",
        property::DEVICE => c"device",
        property::CONTEXT => c"device_context",
        property::STREAM => c"targetsync",
        _ => return null(),
    };
    name.as_ptr().cast()
}

/// Implements `omp_get_interop_type_desc`.
pub unsafe extern "C-unwind" fn type_name(object: *const c_void, property: i32) -> *const c_void {
    // SAFETY: the program passes an interop object.
    let name = match unsafe { value(object, property) } {
        Ok(Value::Integer(_)) => c"intptr_t",
        Ok(Value::Pointer(_)) => c"void *",
        Ok(Value::Text(_)) => c"const char *",
        Err(_) => return null(),
    };
    name.as_ptr().cast()
}

/// Implements `omp_get_interop_rc_desc`.
pub unsafe extern "C-unwind" fn code_name(_object: *const c_void, code: i32) -> *const c_void {
    let text = match code {
        code::NO_VALUE => c"the property has no value here",
        code::SUCCESS => c"success",
        code::EMPTY => c"the object is omp_interop_none",
        code::OUT_OF_RANGE => c"there is no such property",
        code::IS_INTEGER => c"the property is an integer",
        code::IS_POINTER => c"the property is a pointer",
        code::IS_TEXT => c"the property is a string",
        code::OTHER => c"another error",
        _ => return null(),
    };
    text.as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn kmpc_interop_none_answers_every_query() {
        let mut status = 7;
        let at = (&raw mut status).cast();
        // SAFETY: passes `omp_interop_none`, and a live variable or null.
        unsafe {
            assert_eq!(integer(null(), property::RUNTIME, at), 0);
            assert_eq!(status, code::EMPTY);
            assert!(pointer(null(), property::STREAM, at).is_null());
            assert!(text(null(), property::VENDOR_NAME, null_mut()).is_null());
            assert!(type_name(null(), property::DEVICE).is_null());
            assert!(!name(null(), property::STREAM).is_null());
            assert!(name(null(), 3).is_null());
            for known in [code::NO_VALUE, code::SUCCESS, code::EMPTY, code::OTHER] {
                assert!(!code_name(null(), known).is_null());
            }
        }
    }

    #[test]
    fn kmpc_interop_objects_have_typed_properties() {
        let object = Object {
            device: 2,
            foreign: Foreign {
                runtime: 1,
                name: c"cuda",
                vendor: 11,
                vendor_name: c"nvidia",
                device: 4,
                context: 0x10,
                stream: 0x20,
            },
        };
        let object = (&raw const object).cast();
        let mut status = 7;
        let at = (&raw mut status).cast();
        // SAFETY: passes the object above.
        unsafe {
            assert_eq!(integer(object, property::DEVICE, at), 4);
            assert_eq!(integer(object, property::DEVICE_NUMBER, at), 2);
            assert_eq!(status, code::SUCCESS);
            assert_eq!(pointer(object, property::STREAM, at) as usize, 0x20);
            assert!(pointer(object, property::DEVICE, at).is_null());
            assert_eq!(status, code::IS_INTEGER);
            integer(object, property::VENDOR_NAME, at);
            assert_eq!(status, code::IS_TEXT);
            integer(object, property::CONTEXT, at);
            assert_eq!(status, code::IS_POINTER);
            integer(object, property::PLATFORM, at);
            assert_eq!(status, code::NO_VALUE);
            integer(object, 5, at);
            assert_eq!(status, code::OUT_OF_RANGE);
        }
    }
}
