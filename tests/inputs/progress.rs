//! The counts of a worker, in a file in memory that the worker and its parent map. The parent,
//! `xtask/src/fuzz/inputs/mod.rs`, includes this file, so that both have one layout.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicU64;

/// The counts.
#[repr(C)]
pub struct WorkerCounts {
    /// Number of the input at work.
    pub at: AtomicU64,
    /// Executions that have ended.
    pub done: AtomicU64,
    /// Inputs that were accepted.
    pub accepted: AtomicU64,
    /// Inputs on which LLVM failed, which the reader contained.
    pub contained: AtomicU64,
}

/// The mapped file; it is unmapped when this ends.
pub struct Progress(NonNull<WorkerCounts>);

impl Progress {
    /// Maps a file that has the size of the counts.
    ///
    /// # Errors
    /// The reason in words.
    pub fn map(path: &Path) -> Result<Progress, String> {
        let told = |e: std::io::Error| format!("{}: {e}", path.display());
        let file = File::options().read(true).write(true).open(path);
        let file = file.map_err(told)?;
        let size = size_of::<WorkerCounts>();
        if file.metadata().map_err(told)?.len() < size as u64 {
            return Err(format!("{} is too short for counts", path.display()));
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping replaces nothing, and the arguments are those of a file.
        let at = unsafe {
            libc::mmap(
                null_mut(),
                size,
                access,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(at.cast()).filter(|_| at != libc::MAP_FAILED) {
            Some(at) => Ok(Progress(at)),
            None => Err(told(std::io::Error::last_os_error())),
        }
    }
}

impl std::ops::Deref for Progress {
    type Target = WorkerCounts;

    fn deref(&self) -> &WorkerCounts {
        // SAFETY: the file has room for the counts, which stay mapped. They are atomic, and any bytes
        // are counts.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // SAFETY: `map` made the mapping, and borrowed counts do not outlive this.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<WorkerCounts>()) };
    }
}

/// Returns the resident memory of a process in bytes.
pub fn resident(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|p| p.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}
