//! The callbacks that a tool may register, and their invocation. OpenMP 5.2, section 19.5.
//!
//! One table lists number, name and arguments. A callback that is not registered costs one load.

use std::ffi::{c_char, c_void};
use std::sync::atomic::Ordering;

use super::TOOL;

/// `ompt_data_t *`.
pub type Word = *mut u64;

/// The beginning of a scope (`ompt_scope_endpoint_t`).
pub const BEGIN: i32 = 1;
/// The end of a scope.
pub const END: i32 = 2;

/// Upper bound of callback numbers.
pub(super) const NUMBERS: usize = 38;

/// `ompt_set_result_t`: an error.
const ERROR: i32 = 0;
/// `ompt_set_result_t`: the callback is never invoked.
const NEVER: i32 = 1;
/// `ompt_set_result_t`: the callback is invoked at every event.
const ALWAYS: i32 = 5;

macro_rules! callbacks {
    ($($number:literal $name:ident ($($arg:ident: $type:ty),*);)*) => {
        $(
            #[doc = concat!("Calls `ompt_callback_", stringify!($name), "`, if it is registered.")]
            pub fn $name($($arg: $type),*) {
                // Acquire: the tool's writes before the registration are visible.
                let f = TOOL.callbacks[$number].load(Ordering::Acquire);
                if f != 0 {
                    // SAFETY: the tool registered a function of this callback's type, and the
                    // pointers passed are live during the call.
                    unsafe {
                        let f = std::mem::transmute::<
                            usize,
                            unsafe extern "C-unwind" fn($($type),*),
                        >(f);
                        f($($arg),*);
                    }
                }
            }
        )*
        const CALLED: &[usize] = &[$($number),*];
    };
}
callbacks! {
    1 thread_begin(kind: i32, thread: Word);
    2 thread_end(thread: Word);
    3 parallel_begin(
        task: Word, frame: *const super::record::Frame, parallel: Word, requested: u32, flags: u32,
        code: usize
    );
    4 parallel_end(parallel: Word, task: Word, flags: u32, code: usize);
    5 task_create(
        task: Word, frame: *const super::record::Frame, new: Word, flags: u32, dependences: i32,
        code: usize
    );
    6 task_schedule(prior: Word, status: i32, next: Word);
    7 implicit_task(
        endpoint: i32, parallel: Word, task: Word, parallelism: u32, index: u32, flags: u32
    );
    16 sync_region_wait(kind: i32, endpoint: i32, parallel: Word, task: Word, code: usize);
    17 mutex_released(kind: i32, wait: u64, code: usize);
    18 dependences(task: Word, list: *const Dependence, count: i32);
    19 task_dependence(source: Word, sink: Word);
    20 work(kind: i32, endpoint: i32, parallel: Word, task: Word, count: u64, code: usize);
    21 masked(endpoint: i32, parallel: Word, task: Word, code: usize);
    23 sync_region(kind: i32, endpoint: i32, parallel: Word, task: Word, code: usize);
    24 lock_init(kind: i32, hint: u32, implementation: u32, wait: u64, code: usize);
    25 lock_destroy(kind: i32, wait: u64, code: usize);
    26 mutex_acquire(kind: i32, hint: u32, implementation: u32, wait: u64, code: usize);
    27 mutex_acquired(kind: i32, wait: u64, code: usize);
    28 nest_lock(endpoint: i32, wait: u64, code: usize);
    29 flush(thread: Word, code: usize);
    30 cancel(task: Word, flags: u32, code: usize);
    31 reduction(kind: i32, endpoint: i32, parallel: Word, task: Word, code: usize);
    32 dispatch(parallel: Word, task: Word, kind: i32, instance: u64);
    37 error(severity: i32, message: *const c_char, length: usize, code: usize);
}

/// Number of `ompt_callback_control_tool`, the only callback with a result.
const CONTROL_TOOL: usize = 11;

/// Number of `ompt_callback_dispatch`.
const DISPATCH: usize = 32;

/// `ompt_dependence_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dependence {
    /// An address, or an iteration number.
    pub variable: u64,
    /// `ompt_dependence_type_t`.
    pub kind: i32,
}

/// `ompt_dispatch_chunk_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// First value of the loop's variable.
    pub start: u64,
    /// Number of iterations.
    pub iterations: u64,
}

/// Returns true if `ompt_callback_dispatch` is registered.
pub fn dispatches() -> bool {
    TOOL.callbacks[DISPATCH].load(Ordering::Acquire) != 0
}

/// Calls `ompt_callback_control_tool`; returns `None` if it is not registered.
pub fn control_tool(command: u64, modifier: u64, arg: *mut c_void, code: usize) -> Option<i32> {
    let f = TOOL.callbacks[CONTROL_TOOL].load(Ordering::Acquire);
    if f == 0 {
        return None;
    }
    // SAFETY: the tool registered a function of this callback's type.
    unsafe {
        let f = std::mem::transmute::<
            usize,
            unsafe extern "C-unwind" fn(u64, u64, *mut c_void, usize) -> i32,
        >(f);
        Some(f(command, modifier, arg, code))
    }
}

/// Registers a callback, or removes it if it is 0; returns an `ompt_set_result_t`. Callbacks for
/// devices are stored and never invoked.
pub fn set(number: usize, callback: usize) -> i32 {
    match TOOL.callbacks.get(number) {
        Some(cell) if number > 0 => {
            cell.store(callback, Ordering::Release);
            if CALLED.contains(&number) || number == CONTROL_TOOL {
                ALWAYS
            } else {
                NEVER
            }
        }
        _ => ERROR,
    }
}

/// Returns the registered callback; 0 if there is none.
pub fn get(number: usize) -> usize {
    TOOL.callbacks
        .get(number)
        .map_or(0, |cell| cell.load(Ordering::Acquire))
}

/// Removes all callbacks.
pub fn clear() {
    for cell in &TOOL.callbacks {
        cell.store(0, Ordering::Release);
    }
}
