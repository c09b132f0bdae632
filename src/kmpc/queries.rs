//! Entries that compiled code asks for thread numbers and team sizes.
//!
//! [`routines`](super::routines) has those that programs call by name.

use crate::ident::Ident;
use crate::thread::{self, current};

/// Returns the calling thread's global number.
pub unsafe extern "C-unwind" fn global_thread_num(_ident: *const Ident) -> i32 {
    current().gtid
}

/// Returns the number of threads that the runtime knows.
pub unsafe extern "C-unwind" fn global_num_threads(_ident: *const Ident) -> i32 {
    thread::known_threads()
}

/// Returns the calling thread's number in its team.
pub unsafe extern "C-unwind" fn bound_thread_num(_ident: *const Ident) -> i32 {
    current().tid() as i32
}

/// Returns the number of threads of the calling thread's team.
pub unsafe extern "C-unwind" fn bound_num_threads(_ident: *const Ident) -> i32 {
    current().team().size() as i32
}

/// Returns 1 if an active region encloses the caller.
pub unsafe extern "C-unwind" fn in_parallel(_ident: *const Ident) -> i32 {
    (current().team().shape().active_level > 0) as i32
}

/// Returns 1: a fork is always possible.
pub unsafe extern "C-unwind" fn ok_to_fork(_ident: *const Ident) -> i32 {
    1
}
