//! Replaces system calls that the kernel refuses to a process with several threads, such as
//! creating a user namespace.
//!
//! Natively the guest is single-threaded until its first region or thread. Here our own threads
//! sample and compile, so they end for such a call and start again after it. If the guest has
//! threads itself, the call goes to the kernel at once, which refuses it as it would natively.

use super::sample;
use ompvm_kmpc::thread;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// Longest wait for the kernel to remove a thread that has ended.
const MAX_THREAD_EXIT_WAIT: Duration = Duration::from_millis(200);

/// Makes a call while the process has none of our threads. `errno` is that of the call.
fn call_single_threaded(call: impl FnOnce() -> c_int) -> c_int {
    if thread::workers() > 0 {
        return call();
    }
    sample::without_threads(|| {
        let end = Instant::now() + MAX_THREAD_EXIT_WAIT;
        while thread_count() > 1 && Instant::now() < end {
            std::thread::yield_now();
        }
        let result = call();
        // SAFETY: `__errno_location` returns a valid pointer to this thread's `errno`.
        (result, unsafe { *libc::__errno_location() })
    })
    .map_or_else(
        |call| call().0,
        |(result, errno)| {
            // SAFETY: `__errno_location` returns a valid pointer to this thread's `errno`.
            unsafe { *libc::__errno_location() = errno };
            result
        },
    )
}

/// Returns the number of threads of this process.
fn thread_count() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count)
}

unsafe extern "C" fn guest_unshare(flags: c_int) -> c_int {
    const SINGLE_THREADED_FLAGS: c_int =
        libc::CLONE_NEWUSER | libc::CLONE_THREAD | libc::CLONE_SIGHAND | libc::CLONE_VM;
    // SAFETY: `unshare` takes plain values.
    let call = || unsafe { libc::unshare(flags) };
    if flags & SINGLE_THREADED_FLAGS == 0 {
        call()
    } else {
        call_single_threaded(call)
    }
}

unsafe extern "C" fn guest_setns(namespace: c_int, kind: c_int) -> c_int {
    // SAFETY: `setns` takes plain values.
    call_single_threaded(|| unsafe { libc::setns(namespace, kind) })
}

/// Returns the functions that replace the C library's for a native guest.
pub fn overrides() -> [(&'static str, usize); 2] {
    [
        ("unshare", guest_unshare as *const () as usize),
        ("setns", guest_setns as *const () as usize),
    ]
}
