//! Functions that a native link takes from static parts of the C library and the compiler's
//! runtime, so that the process exports no symbol for them: atexit, pthread_atfork, `__dso_handle`,
//! the generic operations of libatomic; and `dlclose`, which must not unmap the code of libgomp's
//! threads.
//!
//! Helpers that code generation needs (`__multi3` and the like) are looked up in libgcc_s, and
//! those that it lacks in [`ompvm_support::builtins`].

use super::atomics;
use super::dlfcn;
use super::registry::REGISTRY;
use ompvm_interp as interp;
use ompvm_memory::{altstack, signal_actions, stack};
use ompvm_support::builtins;
use std::ffi::{c_int, c_void};

unsafe extern "C" {
    fn __cxa_atexit(
        f: extern "C-unwind" fn(*mut c_void),
        arg: *mut c_void,
        dso: *mut c_void,
    ) -> c_int;
    fn __cxa_at_quick_exit(f: extern "C-unwind" fn(*mut c_void), dso: *mut c_void) -> c_int;
    fn __register_atfork(
        prepare: *mut c_void,
        parent: *mut c_void,
        child: *mut c_void,
        dso: *mut c_void,
    ) -> c_int;
    fn __cxa_thread_atexit_impl(
        f: extern "C-unwind" fn(*mut c_void),
        arg: *mut c_void,
        dso: *mut c_void,
    ) -> c_int;
}

/// Implements `atexit` (ISO C, 7.24.4.2). The handler takes no argument; it ignores the null it
/// gets.
unsafe extern "C" fn atexit(f: extern "C-unwind" fn(*mut c_void)) -> c_int {
    // SAFETY: passes the guest's call on to the C library with the same meaning.
    unsafe { __cxa_atexit(f, std::ptr::null_mut(), std::ptr::null_mut()) }
}

unsafe extern "C" fn at_quick_exit(f: extern "C-unwind" fn(*mut c_void)) -> c_int {
    // SAFETY: passes the guest's call on to the C library with the same meaning.
    unsafe { __cxa_at_quick_exit(f, std::ptr::null_mut()) }
}

unsafe extern "C" fn pthread_atfork(
    prepare: *mut c_void,
    parent: *mut c_void,
    child: *mut c_void,
) -> c_int {
    // SAFETY: passes the guest's call on to the C library with the same meaning.
    unsafe { __register_atfork(prepare, parent, child, std::ptr::null_mut()) }
}

unsafe extern "C" fn cxa_thread_atexit(
    f: extern "C-unwind" fn(*mut c_void),
    arg: *mut c_void,
    _dso: *mut c_void,
) -> c_int {
    thread_atexit(f, arg)
}

/// Makes the C library call `f` when the calling thread ends.
pub(super) fn thread_atexit(f: extern "C-unwind" fn(*mut c_void), arg: *mut c_void) -> c_int {
    // SAFETY: passes the guest's call on to the C library. The handle names the program itself;
    // null would not do, because glibc compares it with a cache that starts as null.
    unsafe { __cxa_thread_atexit_impl(f, arg, (&raw const REGISTRY.dso).cast_mut().cast()) }
}

/// Implements the guest's `__cxa_atexit`. The handle must not name a library, or the handlers would
/// run when that library is unloaded.
unsafe extern "C" fn cxa_atexit(
    f: extern "C-unwind" fn(*mut c_void),
    arg: *mut c_void,
    _dso: *mut c_void,
) -> c_int {
    // SAFETY: passes the guest's call on to the C library with the same meaning.
    unsafe { __cxa_atexit(f, arg, std::ptr::null_mut()) }
}

/// Implements the guest's `dlclose`. Threads of libgomp wait in its code, and libgomp, unlike
/// libomp, does not mark itself as undeletable. So it is marked here.
unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    // SAFETY: `dlopen` with `RTLD_NOLOAD` loads nothing. Its handle, if any, is closed again.
    unsafe {
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
        let gomp = libc::dlopen(c"libgomp.so.1".as_ptr(), flags);
        if gomp.is_null() {
            // The guest must not see an error because libgomp is not loaded.
            libc::dlerror();
        } else {
            libc::dlclose(gomp);
        }
    }
    // SAFETY: passes the guest's call on to the C library with the same meaning.
    unsafe { libc::dlclose(handle) }
}

/// Returns our definition of a name that takes precedence over the process's.
pub fn preferred(name: &str) -> Option<usize> {
    Some(match name {
        "dlclose" => dlclose as *const () as usize,
        "atexit" => atexit as *const () as usize,
        "at_quick_exit" => at_quick_exit as *const () as usize,
        "pthread_atfork" => pthread_atfork as *const () as usize,
        "__cxa_atexit" => cxa_atexit as *const () as usize,
        "__cxa_thread_atexit" | "__cxa_thread_atexit_impl" => {
            cxa_thread_atexit as *const () as usize
        }
        "pthread_create" => stack::create_thread as *const () as usize,
        "sigaltstack" => altstack::sigaltstack as *const () as usize,
        "__dso_handle" => &raw const REGISTRY.dso as usize,
        _ => {
            return signal_actions::address(name)
                .or_else(|| dlfcn::address(name))
                .or_else(|| interp::cleanup_address(name));
        }
    })
}

/// Returns our definition of a name that neither a library nor the process defines.
pub fn fallback(name: &str) -> Option<usize> {
    atomics::address(name).or_else(|| builtins::address(name))
}
