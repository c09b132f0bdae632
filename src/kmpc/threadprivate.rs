//! Threadprivate variables that the compiler does not make thread-local itself
//! (`-fnoopenmp-use-tls`). OpenMP 5.2, section 5.2.
//!
//! The initial thread uses the variable itself. Every other thread gets a copy at its first access:
//! constructed if a constructor is registered, otherwise with the bytes that the variable had when
//! the runtime first saw it.

use std::collections::HashMap;
use std::ffi::c_void;

use crate::ident::Ident;
use crate::runtime::RUNTIME;
use crate::thread::{Thread, by_number};
use ompvm_support::message::{Kind, Message};
use ompvm_support::sync::{self, MutexGuard};

type Ctor = Option<unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void>;
type CopyCtor = Option<unsafe extern "C-unwind" fn(*mut c_void, *mut c_void) -> *mut c_void>;
type Dtor = Option<unsafe extern "C-unwind" fn(*mut c_void)>;

/// Construction and destruction of a variable's copies.
#[derive(Default)]
pub struct Variable {
    ctor: Ctor,
    copy: CopyCtor,
    dtor: Dtor,
    /// Bytes of the variable when first seen.
    image: Option<Box<[u8]>>,
}

/// The registered variables, by address.
pub type Variables = Option<HashMap<usize, Variable>>;

/// Locks the table of variables, for the time in which the process forks.
pub fn lock_variables() -> MutexGuard<'static, Variables> {
    sync::lock(&RUNTIME.threadprivate)
}

fn with_variable<R>(data: *mut c_void, f: impl FnOnce(&mut Variable) -> R) -> R {
    let mut variables = lock_variables();
    f(variables
        .get_or_insert_default()
        .entry(data.addr())
        .or_default())
}

/// Returns true for the initial thread, which uses the variables themselves.
fn is_initial() -> bool {
    // SAFETY: the calls take no arguments and access no memory.
    unsafe { libc::getpid() == libc::syscall(libc::SYS_gettid) as i32 }
}

/// Registers constructors and a destructor of a variable.
pub unsafe extern "C-unwind" fn register(
    _ident: *const Ident,
    data: *mut c_void,
    ctor: Ctor,
    copy: CopyCtor,
    dtor: Dtor,
) {
    with_variable(data, |v| (v.ctor, v.copy, v.dtor) = (ctor, copy, dtor));
}

/// Returns the calling thread's copy of the variable `data` of `size` bytes.
///
/// # Safety
/// `data` is such a variable.
pub unsafe extern "C-unwind" fn address(
    _ident: *const Ident,
    gtid: i32,
    data: *mut c_void,
    size: usize,
) -> *mut c_void {
    let thread = by_number(gtid);
    // SAFETY: the map is the calling thread's own.
    let privates = unsafe { &mut *thread.privates.get() };
    if let Some(&copy) = privates.get(&data.addr()) {
        return copy;
    }
    let (ctor, copy_ctor, image) = with_variable(data, |v| {
        let image = v.image.get_or_insert_with(|| {
            // SAFETY: `size` bytes of a live variable (caller's contract).
            unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) }.into()
        });
        (v.ctor, v.copy, image.as_ptr())
    });
    if is_initial() {
        privates.insert(data.addr(), data);
        return data;
    }
    // SAFETY: an aligned block of the variable's size; the image is never dropped.
    let copy = unsafe {
        let block = libc::aligned_alloc(64, size.max(1).next_multiple_of(64));
        if block.is_null() {
            let text = format_args!("out of memory for a threadprivate variable of {size} bytes");
            Message::new(Kind::GuestResources, &text)
                .signal(libc::SIGABRT)
                .print();
            libc::abort();
        }
        std::ptr::copy_nonoverlapping(image, block.cast::<u8>(), size);
        if let Some(ctor) = ctor {
            ctor(block);
        } else if let Some(copy_ctor) = copy_ctor {
            copy_ctor(block, data);
        }
        block
    };
    privates.insert(data.addr(), copy);
    copy
}

/// Like [`address`]; `cache` is a cell of the compiler's that this runtime does not need.
///
/// # Safety
/// As for [`address`].
pub unsafe extern "C-unwind" fn address_cached(
    ident: *const Ident,
    gtid: i32,
    data: *mut c_void,
    size: usize,
    _cache: *mut c_void,
) -> *mut c_void {
    // SAFETY: `data` is a variable of `size` bytes (caller's contract).
    unsafe { address(ident, gtid, data, size) }
}

/// Destroys a thread's copies when it ends.
pub fn destroy(thread: &Thread) {
    // SAFETY: the map is the calling thread's own, at its end.
    let privates = std::mem::take(unsafe { &mut *thread.privates.get() });
    for (original, copy) in privates {
        if original == copy.addr() {
            continue;
        }
        let dtor = with_variable(std::ptr::with_exposed_provenance_mut(original), |v| v.dtor);
        // SAFETY: `address` created the copy, which only this thread uses.
        unsafe {
            if let Some(dtor) = dtor {
                dtor(copy);
            }
            libc::free(copy);
        }
    }
}
