//! Files of the cache that are being written when the process ends.
//!
//! What: an entry is written beside its place and renamed. A thread that compiles may be at it when the
//! process ends, and on a loaded machine, where such a thread is seldom given a processor, it often is:
//! what it has written is of no use to anybody. [`write()`] remembers it while it is at it, [`abandon`]
//! removes what is remembered and lets nothing begin any more. What not: a process that is killed
//! leaves them; they go when the cache is trimmed. Nor does a child of `fork` take part: the lock
//! may be another thread's there, with more of them waiting, whom only the parent has.

use crate::support::file_limit::Quiet;
use parking_lot::Mutex;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The files.
static FILES: Mutex<Files> = Mutex::new(Files {
    open: Vec::new(),
    ended: false,
});

/// The process that wrote first, stored before the lock is taken; 0 for none.
static WRITER: AtomicU32 = AtomicU32::new(0);

/// The end of the process waits no longer than this for who opens a file.
const PATIENCE: Duration = Duration::from_millis(100);

struct Files {
    open: Vec<PathBuf>,
    ended: bool,
}

/// Writes a file at `unfinished` and renames it to `place`; whether the process went on for so long.
///
/// # Errors
///
/// What the system says of the file.
pub fn write(unfinished: &Path, place: &Path, bytes: &[u8]) -> io::Result<bool> {
    // Refused where there is one already.
    let _ = WRITER.compare_exchange(0, std::process::id(), Ordering::AcqRel, Ordering::Relaxed);
    let mut file = {
        let mut files = FILES.lock();
        if files.ended {
            return Ok(false);
        }
        // Under the lock, for the process shall not end between this and the list.
        let file = File::create(unfinished)?;
        files.open.push(unfinished.to_owned());
        file
    };
    let done = {
        let _quiet = Quiet::begin();
        file.write_all(bytes)
    };
    let done = done.and_then(|()| fs::rename(unfinished, place));
    let mut files = FILES.lock();
    files.open.retain(|path| path != unfinished);
    match done {
        Err(_) if files.ended => Ok(false),
        done => done.map(|()| true),
    }
}

/// The process ends: removes what is not finished. Frees no memory, for it may be called in a handler of
/// signals. In a child of `fork` it does nothing.
pub fn abandon() {
    if is_inherited() {
        return;
    }
    let Some(mut files) = FILES.try_lock_for(PATIENCE) else {
        return;
    };
    files.ended = true;
    for path in &files.open {
        // Where it cannot be removed, it goes when the cache is trimmed.
        let _ = fs::remove_file(path);
    }
}

/// Whether the list is that of a process which this one was forked from.
fn is_inherited() -> bool {
    let writer = WRITER.load(Ordering::Acquire);
    writer != 0 && writer != std::process::id()
}

#[cfg(test)]
mod tests {
    use super::{FILES, PATIENCE, abandon, write};
    use std::time::Instant;

    #[test]
    fn a_child_of_fork_leaves_the_lock_alone() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("entry");
        assert!(write(&dir.path().join("unfinished"), &place, b"bytes").unwrap());
        assert_eq!(std::fs::read(&place).unwrap(), b"bytes");
        let held = FILES.lock();
        // SAFETY: the child looks at a lock and the clock, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let start = Instant::now();
            abandon();
            // SAFETY: has no preconditions.
            unsafe { libc::_exit(i32::from(start.elapsed() >= PATIENCE)) };
        }
        drop(held);
        let mut status = -1;
        // SAFETY: `status` is a live local.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    }
}
