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

fn time_of(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to a local. The clocks of the process and of the calling thread always exist.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
