//! Files of the cache that are being written when the process ends.
//!
//! What: an entry is written beside its place and renamed. A thread that compiles may be at it when the
//! process ends, and on a loaded machine, where such a thread is seldom given a processor, it often is:
//! what it has written is of no use to anybody. [`write()`] remembers it while it is at it, [`abandon`]
//! removes what is remembered and lets nothing begin any more. What not: a process that is killed
//! leaves them; they go when the cache is trimmed.

use parking_lot::Mutex;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The files, with the process that writes them: a child of `fork` inherits the list, not the work.
static FILES: Mutex<Files> = Mutex::new(Files {
    open: Vec::new(),
    ended: false,
});

/// The end of the process waits no longer than this for who opens a file.
const PATIENCE: Duration = Duration::from_millis(100);

struct Files {
    open: Vec<(u32, PathBuf)>,
    ended: bool,
}

/// Writes a file at `unfinished` and renames it to `place`; whether the process went on for so long.
///
/// # Errors
///
/// What the system says of the file.
pub fn write(unfinished: &Path, place: &Path, bytes: &[u8]) -> io::Result<bool> {
    let me = std::process::id();
    let mut file = {
        let mut files = FILES.lock();
        if files.ended {
            return Ok(false);
        }
        // Under the lock, for the process shall not end between this and the list.
        let file = File::create(unfinished)?;
        files.open.push((me, unfinished.to_owned()));
        file
    };
    let done = file
        .write_all(bytes)
        .and_then(|()| fs::rename(unfinished, place));
    let mut files = FILES.lock();
    files.open.retain(|(_, path)| path != unfinished);
    match done {
        Err(_) if files.ended => Ok(false),
        done => done.map(|()| true),
    }
}

/// The process ends: removes what is not finished. Frees no memory, for it may be called in a handler of
/// signals.
pub fn abandon() {
    let Some(mut files) = FILES.try_lock_for(PATIENCE) else {
        return;
    };
    files.ended = true;
    let me = std::process::id();
    for (_, path) in files.open.iter().filter(|(process, _)| *process == me) {
        // Where it cannot be removed, it goes when the cache is trimmed.
        let _ = fs::remove_file(path);
    }
}
