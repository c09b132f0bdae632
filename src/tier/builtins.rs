//! Functions that a native link takes from static parts of the C library and the compiler's
//! runtime, so that the process has no symbol for them: atexit, pthread_atfork, `__dso_handle`,
//! the generic operations of libatomic; and `dlclose`, which must not unmap libgomp's threads.
//!
//! What not: helpers that code generation needs (`__multi3` and the like) are looked up in
//! libgcc_s, and what that lacks in [`crate::support::builtins`].

use super::atomics;
use super::dynamic;
use crate::interp;
use crate::memory::{altstack, stack};
use crate::support::builtins;
use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicUsize;

/// What `__dso_handle` points at: the guest's identity for `__cxa_atexit`.
static DSO: AtomicUsize = AtomicUsize::new(0);

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

/// `atexit` (ISO C, 7.24.4.2). The handler takes no argument; it ignores the null it gets.
unsafe extern "C" fn atexit(f: extern "C-unwind" fn(*mut c_void)) -> c_int {
    // SAFETY: as the guest asks.
    unsafe { __cxa_atexit(f, std::ptr::null_mut(), std::ptr::null_mut()) }
}

unsafe extern "C" fn at_quick_exit(f: extern "C-unwind" fn(*mut c_void)) -> c_int {
    // SAFETY: as the guest asks.
    unsafe { __cxa_at_quick_exit(f, std::ptr::null_mut()) }
}

unsafe extern "C" fn pthread_atfork(
    prepare: *mut c_void,
    parent: *mut c_void,
    child: *mut c_void,
) -> c_int {
    // SAFETY: as the guest asks.
    unsafe { __register_atfork(prepare, parent, child, std::ptr::null_mut()) }
}

unsafe extern "C" fn cxa_thread_atexit(
    f: extern "C-unwind" fn(*mut c_void),
    arg: *mut c_void,
    _dso: *mut c_void,
) -> c_int {
    thread_atexit(f, arg)
}

/// Has the C library call `f` when the calling thread ends.
pub(super) fn thread_atexit(f: extern "C-unwind" fn(*mut c_void), arg: *mut c_void) -> c_int {
    // SAFETY: as the guest asks; the handle names the program itself (null would not do: glibc
    // compares it with a cache that starts as null).
    unsafe { __cxa_thread_atexit_impl(f, arg, (&raw const DSO).cast_mut().cast()) }
}

/// `__cxa_atexit` of the guest: the handle must not name a library, or its handlers would run
/// with that library's.
unsafe extern "C" fn cxa_atexit(
    f: extern "C-unwind" fn(*mut c_void),
    arg: *mut c_void,
    _dso: *mut c_void,
) -> c_int {
    // SAFETY: as the guest asks.
    unsafe { __cxa_atexit(f, arg, std::ptr::null_mut()) }
}

/// `dlclose` of the guest. Threads of libgomp wait in its code, and libgomp does not ask to stay
/// loaded, as libomp does: it is made to stay.
unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    // SAFETY: neither loads nor unloads anything: the handle, if there is one, is given back.
    unsafe {
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
        let gomp = libc::dlopen(c"libgomp.so.1".as_ptr(), flags);
        if gomp.is_null() {
            // That it is not loaded is no error of the guest's.
            libc::dlerror();
        } else {
            libc::dlclose(gomp);
        }
    }
    // SAFETY: as the guest asks.
    unsafe { libc::dlclose(handle) }
}

/// Names that are ours whatever the process has.
pub fn first(name: &str) -> Option<usize> {
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
        "__dso_handle" => &raw const DSO as usize,
        _ => return dynamic::address(name).or_else(|| interp::cleanup_address(name)),
    })
}

/// Names that are ours when neither a library nor the process has them.
pub fn last(name: &str) -> Option<usize> {
    atomics::address(name).or_else(|| builtins::address(name))
}
