//! Processor time of threads and of the process.
//!
//! Costs of compilations are measured in it, because wall clock time includes waits for a
//! processor. Wall clock time is `std::time::Instant`.

use std::time::Duration;

/// Returns the processor time of the calling thread.
pub fn thread_time() -> Duration {
    time_of(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Returns the processor time of the process, over all threads.
pub fn process_time() -> Duration {
    time_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the processor time of another thread, which must not have been joined; zero if it has
/// ended.
pub fn time_of_thread(thread: libc::pthread_t) -> Duration {
    let mut clock = 0;
    // SAFETY: the thread's id is valid until it is joined; writes to a local.
    match unsafe { libc::pthread_getcpuclockid(thread, &mut clock) } {
        0 => time_of(clock),
        _ => Duration::ZERO,
    }
}

fn time_of(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to a local, unless there is no such clock, as that of a thread that has ended.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
