//! The output of device code on a rank that serves.
//!
//! Device code prints to the standard output of the process that runs it. The first rank shall
//! print it, in the order of the program, so the standard output of a server is a file in memory.
//! Each answer takes what was written since the last one.
//!
//! Diagnostics go to the standard error of the rank, which launchers forward at once.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use parking_lot::Mutex;

unsafe extern "C" {
    static mut stdout: *mut libc::FILE;
}

/// The captured standard output.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// The descriptor that standard output had before.
    original: File,
    /// Offset of the first byte that was not taken.
    taken: Mutex<u64>,
}

impl Output {
    /// Directs the standard output of this process to a file in memory.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn capture() -> io::Result<Output> {
        let check = |result: i32| match result {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(descriptor),
        };
        // SAFETY: the name is a C string; the new descriptors belong to nobody else.
        unsafe {
            let file = check(libc::memfd_create(
                c"ompvm output".as_ptr(),
                libc::MFD_CLOEXEC,
            ))?;
            let file = OwnedFd::from_raw_fd(file);
            let original = check(libc::fcntl(1, libc::F_DUPFD_CLOEXEC, 3))?;
            let original = OwnedFd::from_raw_fd(original);
            libc::fflush(stdout);
            check(libc::dup2(file.as_raw_fd(), 1))?;
            Ok(Output {
                file: file.into(),
                original: original.into(),
                taken: Mutex::new(0),
            })
        }
    }

    /// Returns what was written since the last call.
    pub fn take(&self) -> Vec<u8> {
        let mut taken = self.taken.lock();
        // SAFETY: `stdout` is the C library's stream.
        unsafe { libc::fflush(stdout) };
        let end = self.file.metadata().map_or(*taken, |m| m.len());
        if end <= *taken {
            return Vec::new();
        }
        let mut bytes = vec![0; (end - *taken) as usize];
        if self.file.read_exact_at(&mut bytes, *taken).is_err() {
            return Vec::new();
        }
        *taken = end;
        let free = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: the descriptor is open. A failure only leaves the memory allocated.
        unsafe { libc::fallocate(self.file.as_raw_fd(), free, 0, end as libc::off_t) };
        bytes
    }

    /// Writes what nobody took to the original standard output.
    pub fn release(&self) {
        let rest = self.take();
        // The reader may be gone.
        let _ = (&self.original).write_all(&rest);
    }
}

/// Writes the output of a server to the standard output of this process, like that of the guest.
pub fn print(bytes: &[u8]) {
    if !bytes.is_empty() {
        // SAFETY: the bytes are readable, and `stdout` is the C library's stream.
        unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stdout) };
    }
}
