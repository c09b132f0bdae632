//! Internal writes that raise no signal.
//!
//! The kernel ends a process by SIGXFSZ when it writes beyond the limit of the size of files
//! (`RLIMIT_FSIZE`, `ulimit -f`), and by SIGPIPE when nobody reads a pipe any more. Internal writes
//! are no part of the program, so they must fail without a signal; the program's own writes keep
//! theirs. The kernel sends these signals to the writing thread, so that thread blocks and consumes
//! them.

use std::mem::MaybeUninit;

/// The signals that a write may raise.
const SIGNALS: [libc::c_int; 2] = [libc::SIGXFSZ, libc::SIGPIPE];

/// Turns the signals that a write of this thread would raise into errors, while this value lives.
#[derive(Debug)]
pub struct NoWriteSignal {
    before: libc::sigset_t,
    /// Signals that waited before: they are the program's.
    pending: libc::sigset_t,
}

/// Returns a set of these signals.
fn set_of(signals: impl Iterator<Item = libc::c_int>) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the set is filled before it is read.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Returns the signals that wait for this thread.
fn pending() -> libc::sigset_t {
    let mut set = set_of(std::iter::empty());
    // SAFETY: fills in a live set.
    unsafe { libc::sigpending(&raw mut set) };
    set
}

fn has(set: &libc::sigset_t, signal: libc::c_int) -> bool {
    // SAFETY: reads a live set.
    unsafe { libc::sigismember(&raw const *set, signal) == 1 }
}

impl NoWriteSignal {
    /// Blocks the signals.
    #[must_use]
    pub fn begin() -> NoWriteSignal {
        let set = set_of(SIGNALS.into_iter());
        let mut before = set_of(std::iter::empty());
        // SAFETY: blocks signals on this thread and fills in the old mask.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before) };
        NoWriteSignal {
            before,
            pending: pending(),
        }
    }
}

impl Drop for NoWriteSignal {
    fn drop(&mut self) {
        let now = pending();
        let raised = |&signal: &libc::c_int| has(&now, signal) && !has(&self.pending, signal);
        for signal in SIGNALS.into_iter().filter(raised) {
            let set = set_of(std::iter::once(signal));
            let none = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            // SAFETY: consumes a pending signal of this thread without waiting.
            unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const none) };
        }
        // SAFETY: restores the mask that the thread had.
        unsafe {
            libc::pthread_sigmask(
                libc::SIG_SETMASK,
                &raw const self.before,
                std::ptr::null_mut(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NoWriteSignal;
    use std::io::Write;

    #[test]
    fn a_write_beyond_the_limit_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        // SAFETY: the child, whose limit is its own, opens a file, writes, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let limit = libc::rlimit {
                rlim_cur: 4096,
                rlim_max: 4096,
            };
            // SAFETY: sets a limit of this process.
            unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) };
            let file = std::fs::File::create(dir.path().join("large"));
            let done = file.and_then(|mut file| {
                let _no_signal = NoWriteSignal::begin();
                file.write_all(&[0; 10_000])
            });
            // SAFETY: has no preconditions.
            unsafe { libc::_exit(i32::from(done.is_ok())) };
        }
        let mut status = -1;
        // SAFETY: `status` is a live local.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    }

    #[test]
    fn a_write_to_a_pipe_without_a_reader_is_an_error() {
        let mut ends = [0; 2];
        // SAFETY: the child restores the signal's default action, closes the reader of a pipe of
        // its own, writes twice, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: the calls change the child alone; `ends` has room for two descriptors.
            let written = unsafe {
                libc::signal(libc::SIGPIPE, libc::SIG_DFL);
                libc::pipe(ends.as_mut_ptr());
                libc::close(ends[0]);
                [0; 2].map(|_| {
                    let _no_signal = NoWriteSignal::begin();
                    libc::write(ends[1], c"x".as_ptr().cast(), 1)
                })
            };
            // SAFETY: has no preconditions.
            unsafe { libc::_exit(i32::from(written != [-1, -1])) };
        }
        let mut status = -1;
        // SAFETY: `status` is a live local.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    }
}
