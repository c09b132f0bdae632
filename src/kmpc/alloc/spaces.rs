//! Memory spaces and allocators by the devices that access them. OpenMP 6.0, sections 27.1 and
//! 27.2.
//!
//! The host accesses the predefined spaces. No device has memory that allocators hand out
//! (`omp_target_alloc` does that). So a space is either accessible to the host alone, or null. Each
//! is one resource, as in libomp.

use super::{LAST_PREDEFINED, init};
use crate::hooks;

/// `omp_initial_device`.
const INITIAL: i32 = -1;

/// Returns true for the host's number, as `omp_get_initial_device` returns it or as the constant.
pub fn is_host(device: i32) -> bool {
    device == INITIAL || device == hooks::devices()
}

/// Returns the part of a predefined space that all given devices access; 0 if there is none.
fn common(space: usize, devices: &[i32]) -> usize {
    let predefined = space != 0 && space <= LAST_PREDEFINED;
    match predefined && devices.iter().all(|&d| is_host(d)) {
        true => space,
        false => 0,
    }
}

/// Returns an allocator of a space with the default traits; the null allocator for the null space.
fn allocator(space: usize) -> usize {
    if space == 0 {
        return 0;
    }
    // SAFETY: passes no traits.
    unsafe { init(space, 0, std::ptr::null()) }
}

/// Implements `omp_get_devices_memspace` and `omp_get_devices_and_host_memspace`. As in libomp, an
/// empty list stands for all devices.
///
/// # Safety
/// `devices` has `count` elements, or is null.
pub unsafe extern "C-unwind" fn of_devices(count: i32, devices: *const i32, space: usize) -> usize {
    match usize::try_from(count) {
        // SAFETY: passes no pointers.
        Ok(0) => unsafe { of_all(space) },
        Ok(count) if !devices.is_null() => {
            // SAFETY: not null, so there are `count` elements (caller's contract).
            common(space, unsafe { std::slice::from_raw_parts(devices, count) })
        }
        _ => 0,
    }
}

/// Implements `omp_get_device_memspace` and `omp_get_device_and_host_memspace`.
pub unsafe extern "C-unwind" fn of_device(device: i32, space: usize) -> usize {
    common(space, &[device])
}

/// Implements `omp_get_devices_all_memspace`.
pub unsafe extern "C-unwind" fn of_all(space: usize) -> usize {
    match hooks::devices() {
        0 => common(space, &[]),
        _ => 0,
    }
}

/// Implements `omp_get_devices_allocator` and `omp_get_devices_and_host_allocator`.
///
/// # Safety
/// As for [`of_devices`].
pub unsafe extern "C-unwind" fn allocator_of_devices(
    count: i32,
    devices: *const i32,
    space: usize,
) -> usize {
    // SAFETY: `devices` has `count` elements, or is null (caller's contract).
    allocator(unsafe { of_devices(count, devices, space) })
}

/// Implements `omp_get_device_allocator` and `omp_get_device_and_host_allocator`.
pub unsafe extern "C-unwind" fn allocator_of_device(device: i32, space: usize) -> usize {
    allocator(common(space, &[device]))
}

/// Implements `omp_get_devices_all_allocator`.
pub unsafe extern "C-unwind" fn allocator_of_all(space: usize) -> usize {
    // SAFETY: passes no pointers.
    allocator(unsafe { of_all(space) })
}

/// Implements `omp_get_memspace_num_resources`.
pub unsafe extern "C-unwind" fn resources(space: usize) -> i32 {
    i32::from(common(space, &[]) != 0)
}

/// Implements `omp_get_submemspace`: the only part of one resource is the resource itself.
pub unsafe extern "C-unwind" fn part(space: usize, _count: i32, _resources: *const i32) -> usize {
    common(space, &[])
}
