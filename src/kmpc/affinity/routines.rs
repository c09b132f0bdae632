//! Routines about places (OpenMP 5.2, section 18.3), and libomp's routines about affinity masks.
//!
//! The `omp_` names of routines that take text have Fortran's calling convention, as in libomp: C
//! programs reach the `ompc_` names through their header.

use std::ffi::{CStr, c_char, c_void};

use super::{format, layout, place_assignment};
use crate::thread::{current, current_if_known};
use ompvm_support::topology;

/// Implements `omp_get_num_places`.
pub unsafe extern "C-unwind" fn get_num_places() -> i32 {
    current();
    layout().places.len() as i32
}

fn place(number: i32) -> &'static [usize] {
    let place = usize::try_from(number).ok();
    place
        .and_then(|p| layout().places.get(p))
        .map_or(&[], |p| p)
}

/// Implements `omp_get_place_num_procs`.
pub unsafe extern "C-unwind" fn get_place_num_procs(number: i32) -> i32 {
    current();
    place(number).len() as i32
}

/// Implements `omp_get_place_proc_ids`.
///
/// # Safety
/// `ids` has room for as many numbers as the place has processors.
pub unsafe extern "C-unwind" fn get_place_proc_ids(number: i32, ids: *mut i32) {
    current();
    for (i, &cpu) in place(number).iter().enumerate() {
        // SAFETY: `ids` has room for the place's processors (caller's contract).
        unsafe { *ids.add(i) = cpu as i32 };
    }
}

/// Implements `omp_get_place_num`: returns the place that the thread is bound to. If nothing is
/// bound, all processors form place 0, as in libomp.
pub unsafe extern "C-unwind" fn get_place_num() -> i32 {
    let assignment = place_assignment(current());
    if assignment.count == 0 {
        return -1;
    }
    assignment.place as i32
}

/// Implements `omp_get_partition_num_places`.
pub unsafe extern "C-unwind" fn get_partition_num_places() -> i32 {
    place_assignment(current()).count as i32
}

/// Implements `omp_get_partition_place_nums`.
///
/// # Safety
/// `numbers` has room for as many numbers as the partition has places.
pub unsafe extern "C-unwind" fn get_partition_place_nums(numbers: *mut i32) {
    let assignment = place_assignment(current());
    let places = layout().places.len().max(1) as u32;
    for i in 0..assignment.count {
        // SAFETY: `numbers` has room for the partition's places (caller's contract).
        unsafe { *numbers.add(i as usize) = ((assignment.first + i) % places) as i32 };
    }
}

/// Returns a Fortran text of `length` characters; `None` for null.
///
/// # Safety
/// `text` is null or has `length` characters.
unsafe fn fortran_text(text: *const c_char, length: usize) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, so there are `length` characters (caller's contract).
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// Returns a C text; `None` for null.
///
/// # Safety
/// `text` is null or null-terminated.
unsafe fn c_text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, so null-terminated (caller's contract).
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

/// Copies `text` into a buffer of `size` bytes, with a terminating null; returns its length.
///
/// # Safety
/// `buffer` is null or has `size` bytes.
unsafe fn give_c(text: &str, buffer: *mut c_char, size: usize) -> usize {
    if !buffer.is_null() && size > 0 {
        let copied = text.len().min(size - 1);
        // SAFETY: the buffer has `size` bytes (caller's contract), the text at least `copied`.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), copied);
            *buffer.add(copied) = 0;
        }
    }
    text.len()
}

/// Copies `text` into a buffer of `size` characters, padded with blanks; returns its length.
///
/// # Safety
/// `buffer` is null or has `size` characters.
unsafe fn give_fortran(text: &str, buffer: *mut c_char, size: usize) -> usize {
    if !buffer.is_null() {
        let copied = text.len().min(size);
        // SAFETY: the buffer has `size` bytes (caller's contract), the text at least `copied`.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), copied);
            std::ptr::write_bytes(buffer.add(copied), b' ', size - copied);
        }
    }
    text.len()
}

/// Implements `omp_set_affinity_format` of C.
///
/// # Safety
/// `text` is null or null-terminated.
pub unsafe extern "C-unwind" fn set_format_c(text: *const c_char) {
    current();
    // SAFETY: `text` is null or null-terminated (caller's contract).
    if let Some(text) = unsafe { c_text(text) } {
        format::set(text);
    }
}

/// Implements `omp_set_affinity_format` of Fortran.
///
/// # Safety
/// `text` has `length` characters.
pub unsafe extern "C-unwind" fn set_format(text: *const c_char, length: usize) {
    current();
    // SAFETY: `text` has `length` characters (caller's contract).
    if let Some(text) = unsafe { fortran_text(text, length) } {
        format::set(text);
    }
}

/// Implements `omp_get_affinity_format` of C.
///
/// # Safety
/// `buffer` is null or has `size` bytes.
pub unsafe extern "C-unwind" fn get_format_c(buffer: *mut c_char, size: usize) -> usize {
    current();
    // SAFETY: `buffer` is null or has `size` bytes (caller's contract).
    unsafe { give_c(&format::current(), buffer, size) }
}

/// Implements `omp_get_affinity_format` of Fortran.
///
/// # Safety
/// `buffer` is null or has `size` characters.
pub unsafe extern "C-unwind" fn get_format(buffer: *mut c_char, size: usize) -> usize {
    current();
    // SAFETY: `buffer` is null or has `size` characters (caller's contract).
    unsafe { give_fortran(&format::current(), buffer, size) }
}

/// Implements `omp_display_affinity` of C.
///
/// # Safety
/// `text` is null or null-terminated.
pub unsafe extern "C-unwind" fn display_c(text: *const c_char) {
    // SAFETY: `text` is null or null-terminated (caller's contract).
    format::display(current(), unsafe { c_text(text) }.as_deref());
}

/// Implements `omp_display_affinity` of Fortran.
///
/// # Safety
/// `text` is null or has `length` characters.
pub unsafe extern "C-unwind" fn display(text: *const c_char, length: usize) {
    // SAFETY: `text` is null or has `length` characters (caller's contract).
    format::display(current(), unsafe { fortran_text(text, length) }.as_deref());
}

/// Implements `omp_capture_affinity` of C.
///
/// # Safety
/// `buffer` is null or has `size` bytes; `text` is null or null-terminated.
pub unsafe extern "C-unwind" fn capture_c(
    buffer: *mut c_char,
    size: usize,
    text: *const c_char,
) -> usize {
    // SAFETY: `buffer` is null or has `size` bytes; `text` is null or null-terminated (caller's
    // contract).
    unsafe {
        let captured = format::capture(current(), c_text(text).as_deref());
        give_c(&captured, buffer, size)
    }
}

/// Implements `omp_capture_affinity` of Fortran.
///
/// # Safety
/// `buffer` is null or has `size` characters; `text` is null or has `length`.
pub unsafe extern "C-unwind" fn capture(
    buffer: *mut c_char,
    text: *const c_char,
    size: usize,
    length: usize,
) -> usize {
    // SAFETY: `buffer` is null or has `size` characters; `text` is null or has `length` (caller's
    // contract).
    unsafe {
        let captured = format::capture(current(), fortran_text(text, length).as_deref());
        give_fortran(&captured, buffer, size)
    }
}

/// Object that a `kmp_affinity_mask_t` points to.
type Mask = Vec<u64>;

/// Returns the mask of a handle.
///
/// # Safety
/// `handle` points to a mask made by [`create_mask`], or to null.
unsafe fn mask<'a>(handle: *mut *mut c_void) -> Option<&'a mut Mask> {
    // SAFETY: the handle points to null or to a mask made by `create_mask` (caller's contract).
    unsafe { (*handle.as_ref()?).cast::<Mask>().as_mut() }
}

/// Implements `kmp_create_affinity_mask`.
///
/// # Safety
/// `handle` is valid.
pub unsafe extern "C-unwind" fn create_mask(handle: *mut *mut c_void) {
    current();
    let mask: Box<Mask> = Box::new(topology::mask_of(&[]));
    // SAFETY: `handle` is valid (caller's contract).
    unsafe { *handle = Box::into_raw(mask).cast() };
}

/// Implements `kmp_destroy_affinity_mask`.
///
/// # Safety
/// `handle` points to a mask made by [`create_mask`], or to null.
pub unsafe extern "C-unwind" fn destroy_mask(handle: *mut *mut c_void) {
    // SAFETY: `create_mask` boxed the mask (caller's contract), and the handle is cleared.
    unsafe {
        if mask(handle).is_some() {
            drop(Box::from_raw((*handle).cast::<Mask>()));
            *handle = std::ptr::null_mut();
        }
    }
}

/// Implements `kmp_set_affinity`: binds the calling thread. Returns 0, -1 if there is no mask, or
/// the kernel's error.
///
/// # Safety
/// `handle` points to a mask made by [`create_mask`], or to null.
pub unsafe extern "C-unwind" fn set_affinity(handle: *mut *mut c_void) -> i32 {
    let thread = current();
    // SAFETY: `handle` points to a mask or to null (caller's contract).
    let Some(mask) = (unsafe { mask(handle) }) else {
        return -1;
    };
    if layout().places.is_empty() {
        return -1;
    }
    thread.binding.forget();
    if topology::bind_current_thread(&topology::cpus_of(mask)) {
        return 0;
    }
    std::io::Error::last_os_error().raw_os_error().unwrap_or(-1)
}

/// Implements `kmp_get_affinity`: copies the mask of the calling thread.
///
/// # Safety
/// `handle` points to a mask made by [`create_mask`], or to null.
pub unsafe extern "C-unwind" fn get_affinity(handle: *mut *mut c_void) -> i32 {
    current();
    // SAFETY: `handle` points to a mask or to null (caller's contract).
    let Some(mask) = (unsafe { mask(handle) }) else {
        return -1;
    };
    if layout().places.is_empty() {
        return -1;
    }
    *mask = topology::mask_of(&topology::current_cpus());
    0
}

/// Implements `kmp_set_thread_affinity_mask_initial`: lets the calling thread run on every
/// processor that the program had at its first call of the runtime. Only threads that the runtime
/// knows are changed.
pub unsafe extern "C-unwind" fn unbind() -> i32 {
    let Some(thread) = current_if_known().filter(|_| !layout().places.is_empty()) else {
        return -1;
    };
    thread.binding.forget();
    if topology::bind_current_thread(topology::program_cpus()) {
        return 0;
    }
    std::io::Error::last_os_error().raw_os_error().unwrap_or(-1)
}

/// Implements `kmp_get_affinity_max_proc`: returns the number of processors of the machine.
pub unsafe extern "C-unwind" fn max_proc() -> i32 {
    current();
    // SAFETY: takes and returns numbers.
    let configured = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) } as i32;
    let highest = topology::program_cpus().last().map_or(0, |&c| c as i32 + 1);
    configured.max(highest)
}

/// Returns the word and bit of processor `proc`; the error is -1 if the machine has no such
/// processor, -2 if it is not allowed.
fn bit(proc: i32) -> Result<(usize, u64), i32> {
    // SAFETY: takes no arguments.
    if proc < 0 || proc >= unsafe { max_proc() } {
        return Err(-1);
    }
    let cpu = proc as usize;
    if !topology::program_cpus().contains(&cpu) {
        return Err(-2);
    }
    Ok((cpu / 64, 1 << (cpu % 64)))
}

/// Implements `kmp_set_affinity_mask_proc`.
///
/// # Safety
/// As for [`set_affinity`].
pub unsafe extern "C-unwind" fn mask_add(proc: i32, handle: *mut *mut c_void) -> i32 {
    // SAFETY: `handle` points to a mask or to null (caller's contract).
    match (bit(proc), unsafe { mask(handle) }) {
        (Ok((word, bit)), Some(mask)) => {
            if mask.len() <= word {
                mask.resize(word + 1, 0);
            }
            mask[word] |= bit;
            0
        }
        (Err(code), _) => code,
        (_, None) => -1,
    }
}

/// Implements `kmp_unset_affinity_mask_proc`.
///
/// # Safety
/// As for [`set_affinity`].
pub unsafe extern "C-unwind" fn mask_remove(proc: i32, handle: *mut *mut c_void) -> i32 {
    // SAFETY: `handle` points to a mask or to null (caller's contract).
    match (bit(proc), unsafe { mask(handle) }) {
        (Ok((word, bit)), Some(mask)) => {
            if let Some(word) = mask.get_mut(word) {
                *word &= !bit;
            }
            0
        }
        (Err(code), _) => code,
        (_, None) => -1,
    }
}

/// Implements `kmp_get_affinity_mask_proc`: returns 1 if the processor is in the mask.
///
/// # Safety
/// As for [`set_affinity`].
pub unsafe extern "C-unwind" fn mask_has(proc: i32, handle: *mut *mut c_void) -> i32 {
    // SAFETY: `handle` points to a mask or to null (caller's contract).
    match (bit(proc), unsafe { mask(handle) }) {
        (Ok((word, bit)), Some(mask)) => i32::from(mask.get(word).is_some_and(|w| w & bit != 0)),
        (Err(-2), Some(_)) => 0,
        (Err(code), _) => code,
        (_, None) => -1,
    }
}
