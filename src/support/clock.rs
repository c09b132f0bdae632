//! What threads and processes have had of the processors.

use std::time::Duration;

/// What the calling thread has had of a processor.
pub fn own_time() -> Duration {
    time_of(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// What the process has had of all processors.
pub fn all_time() -> Duration {
    time_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn time_of(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to the value passed. The clocks of the process and its threads are always there.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
