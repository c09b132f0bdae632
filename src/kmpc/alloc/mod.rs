//! Memory allocators. OpenMP 5.2, chapter 6 and section 18.13.
//!
//! Every predefined allocator returns ordinary memory, which the specification allows. Its blocks
//! are `malloc`'s without a header, so `free` may take them. Blocks of allocators with a pool, and
//! of pinned or placed memory, are registered in a table instead ([`registered`]), which routines
//! consult only if it is not empty. High-bandwidth memory cannot be distinguished from other
//! memory, so its memory space has no allocator, as in libomp without its helper library.
//!
//! [`traits`] reads the traits of an allocator, from a program or from `OMP_ALLOCATOR`; [`spaces`]
//! determines the memory that several devices share.

pub mod registered;
pub mod spaces;

pub mod traits;

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use crossbeam::utils::CachePadded;

use crate::icv::settings;
use crate::runtime::RUNTIME;
use crate::thread::{by_number, current};
use ompvm_support::sync::{self, Mutex, MutexGuard};
use traits::{Fallback, Traits};

pub use traits::Trait;

/// Largest predefined handle.
const LAST_PREDEFINED: usize = 1024;
/// `omp_default_mem_alloc`.
const DEFAULT_MEM: usize = 1;

/// An allocator created by the program.
#[derive(Debug)]
pub struct Allocator {
    traits: Traits,
    /// Bytes in use of its pool.
    used: registered::Used,
}

/// def-allocator-var: a predefined handle, or one more than the last plus the index in the list of
/// [`lock_defaults`]. Small, since every task has a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultAllocator(u16);

/// The allocators of a process.
pub(crate) struct Allocators {
    /// Handles of the program's allocators that were ever set as default.
    defaults: CachePadded<Mutex<Vec<usize>>>,
    /// The allocator of `OMP_ALLOCATOR`.
    initial: OnceLock<DefaultAllocator>,
    blocks: registered::Blocks,
}

impl Allocators {
    /// Returns the state before the first allocation.
    pub(crate) const fn new() -> Allocators {
        Allocators {
            defaults: CachePadded::new(Mutex::new(Vec::new())),
            initial: OnceLock::new(),
            blocks: registered::Blocks::new(),
        }
    }
}

/// Locks the allocators that were ever set as default, also for the time in which the process
/// forks.
pub fn lock_defaults() -> MutexGuard<'static, Vec<usize>> {
    sync::lock(&RUNTIME.allocators.defaults)
}

impl DefaultAllocator {
    fn from_handle(handle: usize) -> Self {
        if handle <= LAST_PREDEFINED {
            return Self(handle as u16);
        }
        let mut set = lock_defaults();
        let place = set.iter().position(|&h| h == handle).unwrap_or_else(|| {
            set.push(handle);
            set.len() - 1
        });
        u16::try_from(LAST_PREDEFINED + 1 + place).map_or(Self(DEFAULT_MEM as u16), Self)
    }

    fn handle(self) -> usize {
        let number = self.0 as usize;
        if number <= LAST_PREDEFINED {
            return number;
        }
        let set = lock_defaults();
        set[number - LAST_PREDEFINED - 1]
    }

    /// Returns the allocator of `OMP_ALLOCATOR`.
    pub fn initial() -> Self {
        *RUNTIME
            .allocators
            .initial
            .get_or_init(|| match &settings().allocator {
                traits::AllocatorRequest::Predefined(handle) => Self(*handle),
                traits::AllocatorRequest::Made(traits) => Self::from_handle(make(traits.clone())),
            })
    }
}

fn make(traits: Traits) -> usize {
    Arc::into_raw(Arc::new(Allocator {
        traits,
        used: registered::Used::default(),
    }))
    .expose_provenance()
}

/// Returns the program's allocator of a handle, with a count of its own.
fn user_allocator(handle: usize) -> Option<Arc<Allocator>> {
    if handle <= LAST_PREDEFINED {
        return None;
    }
    let allocator = std::ptr::with_exposed_provenance::<Allocator>(handle);
    // SAFETY: `make` returned the handle, which is not destroyed and so holds a count.
    unsafe {
        Arc::increment_strong_count(allocator);
        Some(Arc::from_raw(allocator))
    }
}

/// Allocates memory with `malloc`.
fn plain(align: usize, size: usize, zero: bool) -> *mut c_void {
    let mut block = std::ptr::null_mut();
    // SAFETY: a power of two and a multiple of a pointer's size; the block has `size` bytes.
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

/// Allocates memory of an allocator; null if there is none, or if `align` is no power of two.
fn allocate(align: usize, size: usize, handle: usize, zero: bool) -> *mut c_void {
    if size == 0 || (align != 0 && !align.is_power_of_two()) {
        return std::ptr::null_mut();
    }
    let mut handle = match handle {
        0 => current().icvs.get().allocator.handle(),
        handle => handle,
    };
    // Limits the length of a chain of fallback allocators, which may be cyclic.
    for _ in 0..64 {
        let Some(allocator) = user_allocator(handle) else {
            return plain(align, size, zero);
        };
        let traits = &allocator.traits;
        let align = align.max(traits.alignment);
        let block = if traits.needs_registration() {
            registered::allocate(&allocator, align, size, zero)
        } else {
            plain(align, size, zero)
        };
        if !block.is_null() {
            return block;
        }
        match traits.fallback {
            Fallback::DefaultMem => return plain(align, size, zero),
            Fallback::Null => return block,
            Fallback::Abort => {
                ompvm_support::eprintln!(
                    "OMP: Error: cannot allocate {size} bytes; the allocator has the fallback \
                     abort_fb"
                );
                // SAFETY: ends the process, by the signal that libomp uses.
                unsafe { libc::abort() }
            }
            Fallback::Allocator(next) => handle = next,
        }
    }
    std::ptr::null_mut()
}

/// Implements `omp_alloc`.
pub unsafe extern "C-unwind" fn alloc(size: usize, handle: usize) -> *mut c_void {
    allocate(0, size, handle, false)
}

/// Implements `omp_aligned_alloc`.
pub unsafe extern "C-unwind" fn aligned_alloc(a: usize, size: usize, handle: usize) -> *mut c_void {
    allocate(a, size, handle, false)
}

/// Implements `omp_calloc`.
pub unsafe extern "C-unwind" fn calloc(n: usize, size: usize, handle: usize) -> *mut c_void {
    n.checked_mul(size).map_or(std::ptr::null_mut(), |total| {
        allocate(0, total, handle, true)
    })
}

/// Implements `omp_aligned_calloc`.
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

/// Implements `omp_realloc`. Without an allocator, a block stays with its own.
///
/// # Safety
/// `block` is null or a block of one of these functions.
pub unsafe extern "C-unwind" fn realloc(
    block: *mut c_void,
    size: usize,
    handle: usize,
    old: usize,
) -> *mut c_void {
    if block.is_null() {
        return allocate(0, size, handle, false);
    }
    if size == 0 {
        // SAFETY: a block of one of these functions (caller's contract).
        unsafe { free(block, old) };
        return std::ptr::null_mut();
    }
    let handle = if handle == 0 { old } else { handle };
    let known = registered::size_of(block);
    let allocator = user_allocator(handle);
    if known.is_none()
        && allocator
            .as_ref()
            .is_none_or(|a| !a.traits.needs_registration())
    {
        let align = allocator.map_or(16, |a| a.traits.alignment);
        // SAFETY: a block of these functions that is not in the table is `malloc`'s.
        let moved = unsafe { libc::realloc(block, size) };
        if moved.is_null() || moved.addr() % align == 0 {
            return moved;
        }
        let aligned = plain(align, size, false);
        if !aligned.is_null() {
            // SAFETY: both blocks have `size` bytes.
            unsafe { std::ptr::copy_nonoverlapping(moved.cast::<u8>(), aligned.cast(), size) };
        }
        // SAFETY: the block is not used any more.
        unsafe { libc::free(moved) };
        return aligned;
    }
    // SAFETY: a block that is not in the table is `malloc`'s.
    let had = known.unwrap_or_else(|| unsafe { libc::malloc_usable_size(block) });
    let moved = allocate(0, size, handle, false);
    if !moved.is_null() {
        // SAFETY: the old block has `had` bytes, the new one `size`.
        unsafe {
            std::ptr::copy_nonoverlapping(block.cast::<u8>(), moved.cast(), had.min(size));
            free(block, old);
        }
    }
    moved
}

/// Implements `omp_free`.
///
/// # Safety
/// As for [`realloc`].
pub unsafe extern "C-unwind" fn free(block: *mut c_void, _handle: usize) {
    // SAFETY: a block that is not in the table is `malloc`'s, or null (caller's contract).
    unsafe {
        if !registered::free(block) {
            libc::free(block);
        }
    }
}

/// Implements `omp_init_allocator`. Returns the null allocator if a trait is invalid or the space
/// has no memory.
///
/// # Safety
/// `traits` has `count` elements.
pub unsafe extern "C-unwind" fn init(space: usize, count: i32, traits: *const Trait) -> usize {
    let given: &[Trait] = if count <= 0 || traits.is_null() {
        &[]
    } else {
        // SAFETY: `traits` has `count` elements (caller's contract).
        unsafe { std::slice::from_raw_parts(traits, count as usize) }
    };
    current();
    match traits::read(space, given) {
        Some(traits) => make(traits),
        None => 0,
    }
}

/// Implements `omp_destroy_allocator`. Its blocks stay usable, and may be freed afterwards.
///
/// # Safety
/// `handle` is a predefined allocator or one of [`init`]'s, not used afterwards.
pub unsafe extern "C-unwind" fn destroy(handle: usize) {
    if handle > LAST_PREDEFINED {
        let allocator = std::ptr::with_exposed_provenance::<Allocator>(handle);
        // SAFETY: the count that `make` gave the handle, which is not used afterwards (caller's
        // contract).
        drop(unsafe { Arc::from_raw(allocator) });
    }
}

fn set_default_of(thread: &crate::thread::Thread, handle: usize) {
    let mut icvs = thread.icvs.get();
    // The null allocator stands for the default, as in libomp.
    icvs.allocator = DefaultAllocator::from_handle(if handle == 0 { DEFAULT_MEM } else { handle });
    thread.icvs.set(icvs);
}

/// Implements `omp_set_default_allocator`.
pub unsafe extern "C-unwind" fn set_default(handle: usize) {
    set_default_of(current(), handle);
}

/// Implements `omp_get_default_allocator`.
pub unsafe extern "C-unwind" fn get_default() -> usize {
    current().icvs.get().allocator.handle()
}

/// Implements `__kmpc_alloc`.
pub unsafe extern "C-unwind" fn alloc_at(_gtid: i32, size: usize, handle: usize) -> *mut c_void {
    allocate(0, size, handle, false)
}

/// Implements `__kmpc_aligned_alloc`.
pub unsafe extern "C-unwind" fn aligned_alloc_at(
    _gtid: i32,
    align: usize,
    size: usize,
    handle: usize,
) -> *mut c_void {
    allocate(align, size, handle, false)
}

/// Implements `__kmpc_calloc`.
pub unsafe extern "C-unwind" fn calloc_at(
    _gtid: i32,
    n: usize,
    size: usize,
    handle: usize,
) -> *mut c_void {
    // SAFETY: passes no pointers.
    unsafe { calloc(n, size, handle) }
}

/// Implements `__kmpc_realloc`.
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
    // SAFETY: `block` is null or a block of these functions (caller's contract).
    unsafe { realloc(block, size, handle, old) }
}

/// Implements `__kmpc_free`.
///
/// # Safety
/// As for [`realloc`].
pub unsafe extern "C-unwind" fn free_at(_gtid: i32, block: *mut c_void, handle: usize) {
    // SAFETY: `block` is null or a block of these functions (caller's contract).
    unsafe { free(block, handle) }
}

/// Implements `__kmpc_init_allocator`.
///
/// # Safety
/// As for [`init`].
pub unsafe extern "C-unwind" fn init_at(
    _gtid: i32,
    space: usize,
    count: i32,
    traits: *const Trait,
) -> usize {
    // SAFETY: `traits` has `count` elements (caller's contract).
    unsafe { init(space, count, traits) }
}

/// Implements `__kmpc_destroy_allocator`.
///
/// # Safety
/// As for [`destroy`].
pub unsafe extern "C-unwind" fn destroy_at(_gtid: i32, handle: usize) {
    // SAFETY: a predefined allocator or one of `init`'s, not used afterwards (caller's contract).
    unsafe { destroy(handle) }
}

/// Implements `__kmpc_set_default_allocator`.
pub unsafe extern "C-unwind" fn set_default_at(gtid: i32, handle: usize) {
    set_default_of(by_number(gtid), handle);
}

/// Implements `__kmpc_get_default_allocator`.
pub unsafe extern "C-unwind" fn get_default_at(gtid: i32) -> usize {
    by_number(gtid).icvs.get().allocator.handle()
}

/// Implements `kmp_malloc`.
pub unsafe extern "C-unwind" fn plain_malloc(size: usize) -> *mut c_void {
    // SAFETY: `malloc` accepts any size.
    unsafe { libc::malloc(size) }
}

/// Implements `kmp_aligned_malloc`.
pub unsafe extern "C-unwind" fn plain_aligned_malloc(size: usize, align: usize) -> *mut c_void {
    allocate(align, size, DEFAULT_MEM, false)
}

/// Implements `kmp_calloc`.
pub unsafe extern "C-unwind" fn plain_calloc(n: usize, size: usize) -> *mut c_void {
    // SAFETY: `calloc` accepts any size.
    unsafe { libc::calloc(n, size) }
}

/// Implements `kmp_realloc`.
///
/// # Safety
/// As for [`realloc`].
pub unsafe extern "C-unwind" fn plain_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: `block` is null or `malloc`'s (caller's contract).
    unsafe { libc::realloc(block, size) }
}

/// Implements `kmp_free`.
///
/// # Safety
/// As for [`realloc`].
pub unsafe extern "C-unwind" fn plain_free(block: *mut c_void) {
    // SAFETY: `block` is null or `malloc`'s (caller's contract).
    unsafe { libc::free(block) }
}
