//! Inquiries of a tool, and the look-up of these functions by name. OpenMP 5.2, section 19.6.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::TOOL;
use super::callbacks::{self, Word};
use super::record::{self, Frame, TaskRecord, flag, state};
use super::start;
use crate::affinity::routines as places;
use crate::routines;
use crate::runtime::LOCALS;

/// `ompt_interface_fn_t`.
type Function = *const c_void;

/// Looks up an inquiry function by name (`ompt_function_lookup_t`).
pub unsafe extern "C-unwind" fn lookup(name: *const c_char) -> Function {
    if name.is_null() {
        return std::ptr::null();
    }
    // SAFETY: the tool passes a null-terminated name.
    match unsafe { CStr::from_ptr(name) }.to_str() {
        Ok("ompt_enumerate_states") => enumerate_states as Function,
        Ok("ompt_enumerate_mutex_impls") => enumerate_mutex_impls as Function,
        Ok("ompt_set_callback") => set_callback as Function,
        Ok("ompt_get_callback") => get_callback as Function,
        Ok("ompt_get_thread_data") => get_thread_data as Function,
        Ok("ompt_get_num_places") => get_num_places as Function,
        Ok("ompt_get_place_proc_ids") => get_place_proc_ids as Function,
        Ok("ompt_get_place_num") => get_place_num as Function,
        Ok("ompt_get_partition_place_nums") => get_partition_place_nums as Function,
        Ok("ompt_get_proc_id") => get_proc_id as Function,
        Ok("ompt_get_state") => get_state as Function,
        Ok("ompt_get_parallel_info") => get_parallel_info as Function,
        Ok("ompt_get_task_info") => get_task_info as Function,
        Ok("ompt_get_task_memory") => get_task_memory as Function,
        Ok("ompt_get_unique_id") => get_unique_id as Function,
        Ok("ompt_get_num_procs") => get_num_procs as Function,
        Ok("ompt_get_num_devices") => get_num_devices as Function,
        Ok("ompt_get_target_info") => get_target_info as Function,
        Ok("ompt_finalize_tool") => finalize_tool as Function,
        _ => std::ptr::null(),
    }
}

/// Stores the entry of a table after `current`; returns 0 at the end of the table.
///
/// # Safety
/// `number` and `name` are valid.
unsafe fn next(
    table: &[(u32, &'static CStr)],
    first: u32,
    current: i32,
    number: *mut i32,
    name: *mut *const c_char,
) -> i32 {
    let at = if current as u32 == first {
        0
    } else {
        match table.iter().position(|row| row.0 == current as u32) {
            Some(at) => at + 1,
            None => return 0,
        }
    };
    let Some(row) = table.get(at) else { return 0 };
    // SAFETY: the tool's variables (caller's contract).
    unsafe {
        *number = row.0 as i32;
        *name = row.1.as_ptr();
    }
    1
}

const STATES: &[(u32, &CStr)] = &[
    (state::SERIAL, c"ompt_state_work_serial"),
    (state::PARALLEL, c"ompt_state_work_parallel"),
    (state::REDUCTION, c"ompt_state_work_reduction"),
    (
        state::BARRIER_PARALLEL,
        c"ompt_state_wait_barrier_implicit_parallel",
    ),
    (
        state::BARRIER_WORKSHARE,
        c"ompt_state_wait_barrier_implicit_workshare",
    ),
    (state::BARRIER_EXPLICIT, c"ompt_state_wait_barrier_explicit"),
    (
        state::BARRIER_IMPLEMENTATION,
        c"ompt_state_wait_barrier_implementation",
    ),
    (state::TASKWAIT, c"ompt_state_wait_taskwait"),
    (state::TASKGROUP, c"ompt_state_wait_taskgroup"),
    (state::LOCK, c"ompt_state_wait_lock"),
    (state::CRITICAL, c"ompt_state_wait_critical"),
    (state::ORDERED, c"ompt_state_wait_ordered"),
    (state::IDLE, c"ompt_state_idle"),
    (state::OVERHEAD, c"ompt_state_overhead"),
];

unsafe extern "C-unwind" fn enumerate_states(
    current: i32,
    number: *mut i32,
    name: *mut *const c_char,
) -> i32 {
    // SAFETY: the tool passes valid variables.
    unsafe { next(STATES, state::UNDEFINED, current, number, name) }
}

/// Mutex implementations, by the names that tools know from libomp.
const MUTEXES: &[(u32, &CStr)] = &[(1, c"kmp_mutex_impl_spin")];

unsafe extern "C-unwind" fn enumerate_mutex_impls(
    current: i32,
    number: *mut i32,
    name: *mut *const c_char,
) -> i32 {
    // SAFETY: the tool passes valid variables.
    unsafe { next(MUTEXES, 0, current, number, name) }
}

unsafe extern "C-unwind" fn set_callback(number: i32, callback: Function) -> i32 {
    callbacks::set(number as usize, callback.addr())
}

unsafe extern "C-unwind" fn get_callback(number: i32, callback: *mut usize) -> i32 {
    let found = callbacks::get(number as usize);
    if found == 0 {
        return 0;
    }
    // SAFETY: the tool passes a valid variable.
    unsafe { *callback = found };
    1
}

unsafe extern "C-unwind" fn get_thread_data() -> Word {
    record::current_if_known().map_or(null_mut(), |me| me.data())
}

unsafe extern "C-unwind" fn get_num_places() -> i32 {
    // SAFETY: passes no pointers.
    unsafe { places::get_num_places() }
}

unsafe extern "C-unwind" fn get_place_proc_ids(place: i32, size: i32, ids: *mut i32) -> i32 {
    // SAFETY: the tool passes an array of `size` numbers.
    unsafe {
        let count = places::get_place_num_procs(place);
        if !ids.is_null() && count > 0 && size >= count {
            places::get_place_proc_ids(place, ids);
        }
        count
    }
}

unsafe extern "C-unwind" fn get_place_num() -> i32 {
    if record::current_if_known().is_none() {
        return -1;
    }
    // SAFETY: passes no pointers.
    unsafe { places::get_place_num() }
}

unsafe extern "C-unwind" fn get_partition_place_nums(size: i32, numbers: *mut i32) -> i32 {
    if record::current_if_known().is_none() {
        return 0;
    }
    // SAFETY: the tool passes an array of `size` numbers.
    unsafe {
        let count = places::get_partition_num_places();
        if !numbers.is_null() && count > 0 && size >= count {
            places::get_partition_place_nums(numbers);
        }
        count
    }
}

unsafe extern "C-unwind" fn get_proc_id() -> i32 {
    if record::current_if_known().is_none() {
        return -1;
    }
    // SAFETY: the call takes no arguments.
    unsafe { libc::sched_getcpu() }
}

unsafe extern "C-unwind" fn get_state(wait: *mut u64) -> i32 {
    let Some(me) = record::current_if_known() else {
        // As in libomp.
        return 0;
    };
    if !wait.is_null() {
        // SAFETY: the tool passes a valid variable.
        unsafe { *wait = me.wait.get() };
    }
    me.state.get() as i32
}

/// Result of an inquiry about a region or task: the information is available.
const AVAILABLE: i32 = 2;

unsafe extern "C-unwind" fn get_parallel_info(level: i32, data: *mut Word, size: *mut i32) -> i32 {
    let Some(task) = record::current_if_known().and_then(|me| me.task()) else {
        return 0;
    };
    let mut at = Some(&task.parallel);
    for _ in 0..level {
        at = at.and_then(|region| region.outer.as_ref());
    }
    let Some(region) = at else { return 0 };
    // SAFETY: the tool passes valid variables, or null.
    unsafe {
        if !data.is_null() {
            *data = region.data();
        }
        if !size.is_null() {
            *size = region.size.load(Ordering::Relaxed) as i32;
        }
    }
    AVAILABLE
}

/// Returns the task `level` levels out of the current one.
fn task_at(level: i32) -> Option<&'static Arc<TaskRecord>> {
    let mut at = record::current_if_known()?.task()?;
    for _ in 0..level {
        at = at.outer()?;
    }
    Some(at)
}

unsafe extern "C-unwind" fn get_task_info(
    level: i32,
    flags: *mut i32,
    data: *mut Word,
    frame: *mut *mut Frame,
    parallel: *mut Word,
    number: *mut i32,
) -> i32 {
    let task = if level < 0 { None } else { task_at(level) };
    // SAFETY: the tool passes valid variables, or null.
    unsafe {
        let Some(task) = task else {
            if !flags.is_null() {
                *flags = 0;
            }
            if !data.is_null() {
                *data = null_mut();
            }
            if !frame.is_null() {
                *frame = null_mut();
            }
            if !parallel.is_null() {
                *parallel = null_mut();
            }
            return 0;
        };
        if !flags.is_null() {
            *flags = task.flags.get() as i32;
        }
        if !data.is_null() {
            *data = task.data();
        }
        if !frame.is_null() {
            *frame = task.frame();
        }
        if !parallel.is_null() {
            *parallel = task.parallel.data();
        }
        if !number.is_null() {
            *number = task.number.get() as i32;
        }
    }
    AVAILABLE
}

unsafe extern "C-unwind" fn get_task_memory(
    address: *mut *mut c_void,
    size: *mut usize,
    block: i32,
) -> i32 {
    if block == 0
        && let Some(task) = task_at(0)
        && task.flags.get() & flag::EXPLICIT != 0
    {
        // SAFETY: the tool passes valid variables.
        unsafe {
            *address = std::ptr::with_exposed_provenance_mut(task.memory.0);
            *size = task.memory.1;
        }
    }
    0
}

/// Bits of an identifier that count within a thread; those above identify the thread, as in libomp.
const WITHIN_THREAD: u32 = 48;

unsafe extern "C-unwind" fn get_unique_id() -> u64 {
    LOCALS.with(|l| {
        let before = match l.last_unique_id.get() {
            0 => TOOL.next_thread.fetch_add(1, Ordering::Relaxed) << WITHIN_THREAD,
            before => before,
        };
        l.last_unique_id.set(before + 1);
        before + 1
    })
}

unsafe extern "C-unwind" fn get_num_procs() -> i32 {
    // SAFETY: passes no pointers.
    unsafe { routines::get_num_procs() }
}

unsafe extern "C-unwind" fn get_num_devices() -> i32 {
    // SAFETY: passes no pointers.
    unsafe { routines::get_num_devices() }
}

/// Returns 0: target regions are not reported.
unsafe extern "C-unwind" fn get_target_info(_: *mut u64, _: *mut u64, _: *mut u64) -> i32 {
    0
}

unsafe extern "C-unwind" fn finalize_tool() {
    start::finish();
}
