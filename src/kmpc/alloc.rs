//! Memory allocators. OpenMP 5.2, chapter 6 and section 18.13.
//!
//! Every predefined allocator is ordinary memory here, which the specification allows; traits that
//! change results (alignment, fallback, pool size) are honoured as far as alignment goes. A block
//! carries nothing in front of it, so `free` may take it.

use std::ffi::c_void;

use crate::kmpc::thread::current;

/// `omp_alloctrait_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Trait {
    key: i32,
    value: usize,
}

/// A user's allocator: only its alignment matters.
struct Allocator {
    alignment: usize,
}

const KEY_ALIGNMENT: i32 = 2;
/// Handles up to this are predefined.
const LAST_PREDEFINED: usize = 1024;

fn alignment(handle: usize) -> usize {
    if handle <= LAST_PREDEFINED {
        return 16;
    }
    // SAFETY: a handle made by `init` and not destroyed.
    unsafe { &*std::ptr::with_exposed_provenance::<Allocator>(handle) }.alignment
}

fn allocate(align: usize, size: usize, handle: usize, zero: bool) -> *mut c_void {
    if size == 0 {
        return std::ptr::null_mut();
    }
    let align = align.max(alignment(handle)).max(16).next_power_of_two();
    let mut block = std::ptr::null_mut();
    // SAFETY: a power of two and a multiple of a pointer's size.
    unsafe {
        if align <= 16 {
            return if zero {
                libc::calloc(1, size)
            } else {
                libc::malloc(size)
            };
        }
        if libc::posix_memalign(&mut block, align, size) != 0 {
            return std::ptr::null_mut();
        }
        if zero {
            std::ptr::write_bytes(block.cast::<u8>(), 0, size);
        }
    }
    block
}

/// `omp_alloc`.
pub unsafe extern "C-unwind" fn alloc(size: usize, handle: usize) -> *mut c_void {
    allocate(0, size, handle, false)
}

/// `omp_aligned_alloc`.
pub unsafe extern "C-unwind" fn aligned_alloc(a: usize, size: usize, handle: usize) -> *mut c_void {
    allocate(a, size, handle, false)
}

/// `omp_calloc`.
pub unsafe extern "C-unwind" fn calloc(n: usize, size: usize, handle: usize) -> *mut c_void {
    n.checked_mul(size).map_or(std::ptr::null_mut(), |total| {
        allocate(0, total, handle, true)
    })
}

/// `omp_aligned_calloc`.
pub unsafe extern "C-unwind" fn aligned_calloc(
    a: usize,
    n: usize,
    size: usize,
    handle: usize,
) -> *mut c_void {
    n.checked_mul(size).map_or(std::ptr::null_mut(), |total| {
        allocate(a, total, handle, true)
    })
}

/// `omp_realloc`.
///
/// # Safety
/// `block` is null or a block of one of these functions.
pub unsafe extern "C-unwind" fn realloc(
    block: *mut c_void,
    size: usize,
    handle: usize,
    _old: usize,
) -> *mut c_void {
    if size == 0 {
        // SAFETY: the caller's contract.
        unsafe { libc::free(block) };
        return std::ptr::null_mut();
    }
    let align = alignment(handle);
    // SAFETY: the caller's contract.
    let moved = unsafe { libc::realloc(block, size) };
    if moved.is_null() || moved.addr() % align == 0 {
        return moved;
    }
    let aligned = allocate(align, size, handle, false);
    if !aligned.is_null() {
        // SAFETY: both blocks have `size` bytes.
        unsafe { std::ptr::copy_nonoverlapping(moved.cast::<u8>(), aligned.cast(), size) };
    }
    // SAFETY: not used any more.
    unsafe { libc::free(moved) };
    aligned
}

/// `omp_free`.
///
/// # Safety
/// As for [`realloc`].
pub unsafe extern "C-unwind" fn free(block: *mut c_void, _handle: usize) {
    // SAFETY: the caller's contract.
    unsafe { libc::free(block) };
}

/// `omp_init_allocator`.
///
/// # Safety
/// `traits` has `count` elements.
pub unsafe extern "C-unwind" fn init(_space: usize, count: i32, traits: *const Trait) -> usize {
    let mut alignment = 16;
    for i in 0..count.max(0) as usize {
        // SAFETY: the caller's contract.
        let t = unsafe { *traits.add(i) };
        if t.key == KEY_ALIGNMENT && t.value.is_power_of_two() {
            alignment = alignment.max(t.value);
        }
    }
    Box::into_raw(Box::new(Allocator { alignment })).expose_provenance()
}

/// `omp_destroy_allocator`.
///
/// # Safety
/// `handle` is a predefined allocator or one of [`init`]'s, not used afterwards.
pub unsafe extern "C-unwind" fn destroy(handle: usize) {
    if handle > LAST_PREDEFINED {
        // SAFETY: the caller's contract.
        drop(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<Allocator>(handle)) });
    }
}

std::thread_local! {
    static DEFAULT: std::cell::Cell<usize> = const { std::cell::Cell::new(1) };
}

/// `omp_set_default_allocator`.
pub unsafe extern "C-unwind" fn set_default(handle: usize) {
    let _ = current();
    DEFAULT.set(handle);
}

/// `omp_get_default_allocator`.
pub unsafe extern "C-unwind" fn get_default() -> usize {
    DEFAULT.get()
}

/// `__kmpc_alloc`.
pub unsafe extern "C-unwind" fn alloc_at(_gtid: i32, size: usize, handle: usize) -> *mut c_void {
    allocate(0, size, handle, false)
}

/// `__kmpc_aligned_alloc`.
pub unsafe extern "C-unwind" fn aligned_alloc_at(
    _gtid: i32,
    align: usize,
    size: usize,
    handle: usize,
) -> *mut c_void {
    allocate(align, size, handle, false)
}

/// `__kmpc_calloc`.
pub unsafe extern "C-unwind" fn calloc_at(
    _gtid: i32,
    n: usize,
    size: usize,
    handle: usize,
) -> *mut c_void {
    // SAFETY: no pointers are passed.
    unsafe { calloc(n, size, handle) }
}

/// `__kmpc_realloc`.
///
/// # Safety
/// As for [`realloc`].
pub unsafe extern "C-unwind" fn realloc_at(
    _gtid: i32,
    block: *mut c_void,
    size: usize,
    handle: usize,
    old: usize,
) -> *mut c_void {
    // SAFETY: the caller's contract.
    unsafe { realloc(block, size, handle, old) }
}

/// `__kmpc_free`.
///
/// # Safety
/// As for [`realloc`].
pub unsafe extern "C-unwind" fn free_at(_gtid: i32, block: *mut c_void, handle: usize) {
    // SAFETY: the caller's contract.
    unsafe { free(block, handle) }
}

/// `__kmpc_init_allocator`.
///
/// # Safety
/// As for [`init`].
pub unsafe extern "C-unwind" fn init_at(
    _gtid: i32,
    space: usize,
    count: i32,
    traits: *const Trait,
) -> usize {
    // SAFETY: the caller's contract.
    unsafe { init(space, count, traits) }
}

/// `__kmpc_destroy_allocator`.
///
/// # Safety
/// As for [`destroy`].
pub unsafe extern "C-unwind" fn destroy_at(_gtid: i32, handle: usize) {
    // SAFETY: the caller's contract.
    unsafe { destroy(handle) }
}

/// `__kmpc_set_default_allocator`.
pub unsafe extern "C-unwind" fn set_default_at(_gtid: i32, handle: usize) {
    DEFAULT.set(handle);
}

/// `__kmpc_get_default_allocator`.
pub unsafe extern "C-unwind" fn get_default_at(_gtid: i32) -> usize {
    DEFAULT.get()
}

/// `kmp_malloc`.
pub unsafe extern "C-unwind" fn plain_malloc(size: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    unsafe { libc::malloc(size) }
}

/// `kmp_aligned_malloc`.
pub unsafe extern "C-unwind" fn plain_aligned_malloc(size: usize, align: usize) -> *mut c_void {
    allocate(align, size, 1, false)
}

/// `kmp_calloc`.
pub unsafe extern "C-unwind" fn plain_calloc(n: usize, size: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    unsafe { libc::calloc(n, size) }
}

/// `kmp_realloc`.
///
/// # Safety
/// As for [`realloc`].
pub unsafe extern "C-unwind" fn plain_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's contract.
    unsafe { libc::realloc(block, size) }
}

/// `kmp_free`.
///
/// # Safety
/// As for [`realloc`].
pub unsafe extern "C-unwind" fn plain_free(block: *mut c_void) {
    // SAFETY: the caller's contract.
    unsafe { libc::free(block) }
}
