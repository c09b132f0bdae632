//! System calls that are refused to a process with several threads: a new user namespace, above all.
//!
//! Natively the guest is alone until its first region or its first thread. Here threads of ours watch it and compile,
//! so they end for such a call and begin again after it. Where the guest has threads itself the call goes to the
//! system at once, which refuses it as it would natively.

use super::sample;
use crate::kmpc::thread;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// How long the system may take to forget a thread that has ended.
const PATIENCE: Duration = Duration::from_millis(200);

/// Makes a call while the process has no thread of ours. `errno` is the call's.
fn alone(call: impl FnOnce() -> c_int) -> c_int {
    if thread::workers() > 0 {
        return call();
    }
    sample::without_threads(|| {
        let end = Instant::now() + PATIENCE;
        while threads() > 1 && Instant::now() < end {
            std::thread::yield_now();
        }
        let result = call();
        // SAFETY: this thread's variable.
        (result, unsafe { *libc::__errno_location() })
    })
    .map_or_else(
        |call| call().0,
        |(result, errno)| {
            // SAFETY: as above.
            unsafe { *libc::__errno_location() = errno };
            result
        },
    )
}

/// The threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count)
}

unsafe extern "C" fn guest_unshare(flags: c_int) -> c_int {
    const WANTS: c_int =
        libc::CLONE_NEWUSER | libc::CLONE_THREAD | libc::CLONE_SIGHAND | libc::CLONE_VM;
    // SAFETY: as the C function's.
    let call = || unsafe { libc::unshare(flags) };
    if flags & WANTS == 0 {
        call()
    } else {
        alone(call)
    }
}

unsafe extern "C" fn guest_setns(namespace: c_int, kind: c_int) -> c_int {
    // SAFETY: as the C function's.
    alone(|| unsafe { libc::setns(namespace, kind) })
}

/// The functions that a native guest gets instead of the C library's.
pub fn overrides() -> [(&'static str, usize); 2] {
    [
        ("unshare", guest_unshare as *const () as usize),
        ("setns", guest_setns as *const () as usize),
    ]
}
