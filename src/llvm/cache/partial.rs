//! Files of the cache that are still being written when the process ends.
//!
//! An entry is written under a temporary name and renamed. A compiling thread may be doing so when
//! the process ends, and on a loaded machine, which seldom schedules that thread, it often is; its
//! partial file is useless. [`write()`] registers the file while it writes; [`abandon`] removes the
//! registered files and lets no new write begin.
//!
//! A process that is killed leaves such files; they are removed when the cache is trimmed. A child
//! of `fork` takes no part: the lock may be held or awaited by threads that only the parent has.

use super::USAGE;
use ompvm_support::write_signal::NoWriteSignal;
use parking_lot::Mutex;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The files that a process is writing.
pub(super) struct UnfinishedFiles {
    files: Mutex<Files>,
    /// The first process that wrote, stored before the lock is taken; 0 if none.
    writer: AtomicU32,
}

impl UnfinishedFiles {
    /// Returns the files of a process that has written none.
    pub(super) const fn new() -> UnfinishedFiles {
        UnfinishedFiles {
            files: Mutex::new(Files {
                open: Vec::new(),
                ended: false,
            }),
            writer: AtomicU32::new(0),
        }
    }
}

/// Bound on the wait at process end for a thread that is opening a file.
const LOCK_TIMEOUT: Duration = Duration::from_millis(100);

struct Files {
    open: Vec<PathBuf>,
    ended: bool,
}

/// Writes a file at `unfinished` and renames it to `place`. Returns false if the process ended
/// first.
///
/// # Errors
/// Returns the system's error for the file.
pub fn write(unfinished: &Path, place: &Path, bytes: &[u8]) -> io::Result<bool> {
    // Fails if a process is already stored, which is as good.
    let UnfinishedFiles { files, writer } = &USAGE.unfinished;
    let _ = writer.compare_exchange(0, std::process::id(), Ordering::AcqRel, Ordering::Relaxed);
    let mut file = {
        let mut files = files.lock();
        if files.ended {
            return Ok(false);
        }
        // Under the lock, so that the process cannot end between creation and registration.
        let file = File::create(unfinished)?;
        files.open.push(unfinished.to_owned());
        file
    };
    let done = {
        let _no_signal = NoWriteSignal::begin();
        file.write_all(bytes)
    };
    let done = done.and_then(|()| fs::rename(unfinished, place));
    let mut files = files.lock();
    files.open.retain(|path| path != unfinished);
    match done {
        Err(_) if files.ended => Ok(false),
        done => done.map(|()| true),
    }
}

/// Removes the unfinished files at the end of the process. It frees no memory, because it may be
/// called in a signal handler. In a child of `fork` it does nothing.
pub fn abandon() {
    if is_inherited() {
        return;
    }
    let Some(mut files) = USAGE.unfinished.files.try_lock_for(LOCK_TIMEOUT) else {
        return;
    };
    files.ended = true;
    for path in &files.open {
        // If it cannot be removed, trimming the cache removes it.
        let _ = fs::remove_file(path);
    }
}

/// Returns true if the list belongs to a process that this one was forked from.
fn is_inherited() -> bool {
    let writer = USAGE.unfinished.writer.load(Ordering::Acquire);
    writer != 0 && writer != std::process::id()
}

#[cfg(test)]
mod tests {
    use super::{LOCK_TIMEOUT, USAGE, abandon, write};
    use std::time::Instant;

    #[test]
    fn child_of_fork_leaves_lock_alone() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("entry");
        assert!(write(&dir.path().join("unfinished"), &place, b"bytes").unwrap());
        assert_eq!(std::fs::read(&place).unwrap(), b"bytes");
        let held = USAGE.unfinished.files.lock();
        // SAFETY: the child only tries a lock, reads the clock and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let start = Instant::now();
            abandon();
            // SAFETY: `_exit` has no preconditions.
            unsafe { libc::_exit(i32::from(start.elapsed() >= LOCK_TIMEOUT)) };
        }
        drop(held);
        let mut status = -1;
        // SAFETY: `status` is a live local.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    }
}
