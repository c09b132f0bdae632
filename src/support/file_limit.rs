//! Internal writes under a limit of the size of files (`RLIMIT_FSIZE`, `ulimit -f`).
//!
//! The kernel ends a process by SIGXFSZ when it writes beyond the limit. Internal writes are no
//! part of the program, so they must fail without a signal; the program's own writes keep theirs.
//! The kernel sends the signal to the writing thread, so that thread blocks and consumes it.

use std::mem::MaybeUninit;

/// Turns a write of this thread beyond the limit of a file's size (`RLIMIT_FSIZE`) into an error
/// without a signal, while this value lives.
#[derive(Debug)]
pub struct NoSizeSignal {
    before: libc::sigset_t,
}

/// Returns a set of this signal alone.
fn too_large() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the set is filled before it is read.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGXFSZ);
        set.assume_init()
    }
}

impl NoSizeSignal {
    /// Blocks the signal.
    #[must_use]
    pub fn begin() -> NoSizeSignal {
        let set = too_large();
        let mut before = MaybeUninit::uninit();
        // SAFETY: blocks a signal on this thread and fills in the old mask.
        unsafe {
            libc::sigemptyset(before.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, before.as_mut_ptr());
            NoSizeSignal {
                before: before.assume_init(),
            }
        }
    }
}

impl Drop for NoSizeSignal {
    fn drop(&mut self) {
        let set = too_large();
        // SAFETY: consumes a pending signal of this thread without waiting, then restores the mask
        // that the thread had.
        unsafe {
            let mut pending = MaybeUninit::uninit();
            libc::sigemptyset(pending.as_mut_ptr());
            libc::sigpending(pending.as_mut_ptr());
            if libc::sigismember(pending.as_ptr(), libc::SIGXFSZ) == 1 {
                let none = libc::timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                };
                libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const none);
            }
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
    use super::NoSizeSignal;
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
                let _no_signal = NoSizeSignal::begin();
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
}
