//! `interop` constructs: objects of a foreign runtime for a device. OpenMP 5.2, section 14.1.
//!
//! An object refers to a device and one of its queues. On NVIDIA GPUs the foreign runtime is CUDA
//! and the queue a `CUstream`; a device without a foreign runtime gives `omp_interop_none`, as the
//! specification requires. Constructs wait for their dependences. `use` and `destroy` wait for the
//! program's work in the queue, so that later tasks may rely on it.
//!
//! `kmpc::interop` answers queries of objects. Compilers do not pass the preference of
//! `prefer_type`. Every object has a queue, because compilers mark a construct with `target` and
//! `targetsync` as `target` only.

use super::device::Queue;
use super::devices::DeviceState;
use super::fallback;
use ompvm_kmpc::ident::Ident;
use ompvm_kmpc::interop::Object as Described;
use ompvm_kmpc::task;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// The object behind an `omp_interop_t`; queries read its first field.
#[repr(C)]
#[derive(Debug)]
struct Object {
    described: Described,
    state: &'static DeviceState,
    queue: Queue,
}

/// Waits for the dependences of a construct.
unsafe fn await_all(ident: *const Ident, thread: i32, count: i32, list: *mut c_void) {
    if count > 0 {
        // SAFETY: the compiler passes a list of `count` dependences.
        unsafe { task::depend::taskwait(ident, thread, count, list.cast(), 0, null(), 0) };
    }
}

/// `__tgt_interop_init`.
pub unsafe extern "C-unwind" fn init(
    ident: *const Ident,
    thread: i32,
    object: *mut c_void,
    _kind: i32,
    device: i32,
    count: i32,
    list: *mut c_void,
    _nowait: i32,
) {
    let made = fallback::device_for(device.into()).ok().and_then(|state| {
        let queue = state.device.queue().ok()?;
        match state.device.foreign_handles(queue) {
            Some(foreign) => Some(Box::new(Object {
                described: Described {
                    device: state.number,
                    foreign,
                },
                state,
                queue,
            })),
            None => {
                state.device.release(queue);
                None
            }
        }
    });
    // SAFETY: the compiler passes a list of `count` dependences and the address of a variable.
    unsafe {
        await_all(ident, thread, count, list);
        *object.cast::<*mut Object>() = made.map_or(null_mut(), Box::into_raw);
    }
}

/// `__tgt_interop_use`.
pub unsafe extern "C-unwind" fn use_object(
    ident: *const Ident,
    thread: i32,
    object: *mut c_void,
    _device: i32,
    count: i32,
    list: *mut c_void,
    _nowait: i32,
) {
    // SAFETY: the compiler passes a list of `count` dependences; the variable holds the result of
    // `init`.
    unsafe {
        await_all(ident, thread, count, list);
        if let Some(object) = (*object.cast::<*mut Object>()).as_ref() {
            object.await_queue();
        }
    }
}

/// `__tgt_interop_destroy`.
pub unsafe extern "C-unwind" fn destroy(
    ident: *const Ident,
    thread: i32,
    object: *mut c_void,
    device: i32,
    count: i32,
    list: *mut c_void,
    nowait: i32,
) {
    // SAFETY: the compiler passes the same arguments as to `usage`. The object came from
    // `Box::into_raw` and is freed once, since its variable is set to null.
    unsafe {
        use_object(ident, thread, object, device, count, list, nowait);
        let slot = object.cast::<*mut Object>();
        if !(*slot).is_null() {
            let object = Box::from_raw(*slot);
            object.state.device.release(object.queue);
            *slot = null_mut();
        }
    }
}

impl Object {
    /// Waits for its queue. A failure of the program's work in it ends the program.
    fn await_queue(&self) {
        if let Err(failure) = self.state.device.synchronize(self.queue) {
            fallback::abort_with_failure(&failure, "interop construct");
        }
    }
}
