//! Memory spaces and allocators by the devices that access them. OpenMP 6.0, sections 27.1 and 27.2.
//!
//! The host accesses the predefined spaces, and no device has memory that is given out by allocators
//! (`omp_target_alloc` does that): so a space is one that the host accesses alone, or there is none.
//! Each is one resource, as in libomp.

use super::{LAST_PREDEFINED, init};
use crate::kmpc::hooks;

/// `omp_initial_device`.
const INITIAL: i32 = -1;

/// Whether this is the host's number, as `omp_get_initial_device` or as the constant.
pub fn is_host(device: i32) -> bool {
    device == INITIAL || device == hooks::devices()
}

/// The part of a predefined space that all of some devices access.
fn common(space: usize, devices: &[i32]) -> usize {
    let predefined = space != 0 && space <= LAST_PREDEFINED;
    match predefined && devices.iter().all(|&d| is_host(d)) {
        true => space,
        false => 0,
    }
}

/// An allocator of a space with the traits by default; the null allocator for the null space.
fn allocator(space: usize) -> usize {
    if space == 0 {
        return 0;
    }
    // SAFETY: no traits.
    unsafe { init(space, 0, std::ptr::null()) }
}

/// `omp_get_devices_memspace`, `omp_get_devices_and_host_memspace`. As in libomp, no devices are all of them.
///
/// # Safety
/// `devices` has `count` elements, or is null.
pub unsafe extern "C-unwind" fn of_devices(count: i32, devices: *const i32, space: usize) -> usize {
    match usize::try_from(count) {
        // SAFETY: no pointers.
        Ok(0) => unsafe { of_all(space) },
        Ok(count) if !devices.is_null() => {
            // SAFETY: the caller's contract.
            common(space, unsafe { std::slice::from_raw_parts(devices, count) })
        }
        _ => 0,
    }
}

/// `omp_get_device_memspace`, `omp_get_device_and_host_memspace`.
pub unsafe extern "C-unwind" fn of_device(device: i32, space: usize) -> usize {
    common(space, &[device])
}

/// `omp_get_devices_all_memspace`.
pub unsafe extern "C-unwind" fn of_all(space: usize) -> usize {
    match hooks::devices() {
        0 => common(space, &[]),
        _ => 0,
    }
}

/// `omp_get_devices_allocator`, `omp_get_devices_and_host_allocator`.
///
/// # Safety
/// As for [`of_devices`].
pub unsafe extern "C-unwind" fn allocator_of_devices(
    count: i32,
    devices: *const i32,
    space: usize,
) -> usize {
    // SAFETY: the caller's contract.
    allocator(unsafe { of_devices(count, devices, space) })
}

/// `omp_get_device_allocator`, `omp_get_device_and_host_allocator`.
pub unsafe extern "C-unwind" fn allocator_of_device(device: i32, space: usize) -> usize {
    allocator(common(space, &[device]))
}

/// `omp_get_devices_all_allocator`.
pub unsafe extern "C-unwind" fn allocator_of_all(space: usize) -> usize {
    // SAFETY: no pointers.
    allocator(unsafe { of_all(space) })
}

/// `omp_get_memspace_num_resources`.
pub unsafe extern "C-unwind" fn resources(space: usize) -> i32 {
    i32::from(common(space, &[]) != 0)
}

/// `omp_get_submemspace`: of one resource there is no other part than itself.
pub unsafe extern "C-unwind" fn part(space: usize, _count: i32, _resources: *const i32) -> usize {
    common(space, &[])
}
