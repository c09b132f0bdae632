//! Fortran forms of the `omp_*` routines: arguments by reference, names with an underscore.
//!
//! Routines without arguments need no form of their own.

use std::ffi::c_void;

use crate::{affinity, alloc, lock, routines};

macro_rules! by_reference {
    ($($name:ident($($arg:ident: $t:ty),*) $(-> $ret:ty)? = $target:path;)*) => {$(
        /// Calls the routine of the same name, with its arguments by reference.
        ///
        /// # Safety
        /// The pointers are valid.
        pub unsafe extern "C-unwind" fn $name($($arg: *const $t),*) $(-> $ret)? {
            // SAFETY: the pointers are valid (caller's contract).
            unsafe { $target($(*$arg),*) }
        }
    )*};
}
by_reference! {
    set_num_threads(threads: i32) = routines::set_num_threads;
    set_dynamic(on: i32) = routines::set_dynamic;
    set_nested(on: i32) = routines::set_nested;
    set_max_active_levels(levels: i32) = routines::set_max_active_levels;
    set_schedule(kind: i32, chunk: i32) = routines::set_schedule;
    get_ancestor_thread_num(level: i32) -> i32 = routines::get_ancestor_thread_num;
    get_team_size(level: i32) -> i32 = routines::get_team_size;
    set_default_device(device: i32) = routines::set_default_device;
    set_num_teams(teams: i32) = routines::set_num_teams;
    set_teams_thread_limit(limit: i32) = routines::set_teams_thread_limit;
    get_place_num_procs(place: i32) -> i32 = affinity::routines::get_place_num_procs;
    display_env(verbose: i32) = routines::display_env;
    pause_resource(kind: i32, device: i32) -> i32 = routines::pause_resource;
    pause_resource_all(kind: i32) -> i32 = routines::pause_resource_all;
    kmp_malloc(size: usize) -> *mut c_void = alloc::plain_malloc;
    kmp_aligned_malloc(size: usize, align: usize) -> *mut c_void = alloc::plain_aligned_malloc;
    kmp_calloc(n: usize, size: usize) -> *mut c_void = alloc::plain_calloc;
    kmp_realloc(block: *mut c_void, size: usize) -> *mut c_void = alloc::plain_realloc;
    kmp_free(block: *mut c_void) = alloc::plain_free;
    space_of_device(device: i32, space: usize) -> usize = alloc::spaces::of_device;
    space_of_all(space: usize) -> usize = alloc::spaces::of_all;
    allocator_of_device(device: i32, space: usize) -> usize = alloc::spaces::allocator_of_device;
    allocator_of_all(space: usize) -> usize = alloc::spaces::allocator_of_all;
    space_resources(space: usize) -> i32 = alloc::spaces::resources;
    ignore_i32(value: i32) = routines::ignore_i32;
    ignore_usize(value: usize) = routines::ignore_usize;
    set_blocktime(ms: i32) = routines::set_blocktime;
}

/// Implements `omp_get_place_proc_ids_`.
///
/// # Safety
/// The pointers are valid.
pub unsafe extern "C-unwind" fn get_place_proc_ids(place: *const i32, ids: *mut i32) {
    // SAFETY: the pointers are valid (caller's contract).
    unsafe { affinity::routines::get_place_proc_ids(*place, ids) }
}

/// Implements `omp_init_lock_with_hint_`.
///
/// # Safety
/// The pointers are valid.
pub unsafe extern "C-unwind" fn init_lock_hint(object: *mut c_void, _hint: *const i32) {
    // SAFETY: the pointers are valid (caller's contract).
    unsafe { lock::init(object) }
}

/// Implements `kmp_set_affinity_mask_proc_`.
///
/// # Safety
/// The pointers are valid.
pub unsafe extern "C-unwind" fn mask_add(proc: *const i32, mask: *mut *mut c_void) -> i32 {
    // SAFETY: the pointers are valid (caller's contract).
    unsafe { affinity::routines::mask_add(*proc, mask) }
}

/// Implements `kmp_unset_affinity_mask_proc_`.
///
/// # Safety
/// The pointers are valid.
pub unsafe extern "C-unwind" fn mask_remove(proc: *const i32, mask: *mut *mut c_void) -> i32 {
    // SAFETY: the pointers are valid (caller's contract).
    unsafe { affinity::routines::mask_remove(*proc, mask) }
}

/// Implements `kmp_get_affinity_mask_proc_`.
///
/// # Safety
/// The pointers are valid.
pub unsafe extern "C-unwind" fn mask_has(proc: *const i32, mask: *mut *mut c_void) -> i32 {
    // SAFETY: the pointers are valid (caller's contract).
    unsafe { affinity::routines::mask_has(*proc, mask) }
}

/// Implements `kmp_set_defaults_`; does nothing.
pub unsafe extern "C-unwind" fn ignore_str(_value: *const std::ffi::c_char, _length: usize) {}

/// Implements `omp_init_allocator_`.
///
/// # Safety
/// The pointers are valid, `traits` has `count` elements.
pub unsafe extern "C-unwind" fn init_allocator(
    space: *const usize,
    count: *const i32,
    traits: *const alloc::Trait,
) -> usize {
    // SAFETY: the pointers are valid, and `traits` has `count` elements (caller's contract).
    unsafe { alloc::init(*space, *count, traits) }
}

/// Implements `omp_get_devices_memspace_` and `omp_get_devices_and_host_memspace_`.
///
/// # Safety
/// The pointers are valid, `devices` has `count` elements.
pub unsafe extern "C-unwind" fn space_of_devices(
    count: *const i32,
    devices: *const i32,
    space: *const usize,
) -> usize {
    // SAFETY: the pointers are valid, and `devices` has `count` elements (caller's contract).
    unsafe { alloc::spaces::of_devices(*count, devices, *space) }
}

/// Implements `omp_get_devices_allocator_` and `omp_get_devices_and_host_allocator_`.
///
/// # Safety
/// As for [`space_of_devices`].
pub unsafe extern "C-unwind" fn allocator_of_devices(
    count: *const i32,
    devices: *const i32,
    space: *const usize,
) -> usize {
    // SAFETY: the pointers are valid, and `devices` has `count` elements (caller's contract).
    unsafe { alloc::spaces::allocator_of_devices(*count, devices, *space) }
}

/// Implements `omp_get_submemspace_`.
///
/// # Safety
/// The pointers are valid.
pub unsafe extern "C-unwind" fn space_part(
    space: *const usize,
    count: *const i32,
    resources: *const i32,
) -> usize {
    // SAFETY: the pointers are valid (caller's contract).
    unsafe { alloc::spaces::part(*space, *count, resources) }
}
