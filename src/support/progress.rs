//! Progress of the compilation before a program starts, for a command line that shows it.
//!
//! The compiler counts its steps here; an upper layer registers an observer, which learns when the
//! compilation begins and ends, and reads the count as often as it likes. A step is one atomic
//! addition: LLVM works on coroutines that may be abandoned at any point, so a step takes no lock.
//!
//! Also records that a line of progress is on the terminal, so that whoever writes to standard error
//! erases it first. Draws nothing.

use crate::hook::Hook;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// An event of the compilation before a program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The compilation of some functions begins.
    Begin {
        /// Number of functions.
        functions: usize,
        /// Number of steps. Repetitions after failures are not counted in it.
        steps: usize,
    },
    /// The compilation has ended. The guest runs only after the observer has returned.
    End,
}

/// The compilation of this process, and its line on the terminal.
struct Progress {
    observer: Hook<fn(Event)>,
    steps: AtomicUsize,
    line_is_drawn: AtomicBool,
}

/// The process has one terminal, and compiles beforehand for one program at a time.
static PROGRESS: Progress = Progress {
    observer: crate::hook!(fn(Event)),
    steps: AtomicUsize::new(0),
    line_is_drawn: AtomicBool::new(false),
};

/// Registers the observer of compilations.
pub fn observe(observer: fn(Event)) {
    PROGRESS.observer.set(observer);
}

/// A compilation of which the observer knows; dropping it ends it.
#[derive(Debug)]
pub struct Compilation(());

impl Compilation {
    /// Tells the observer that the compilation of some functions in some steps begins.
    pub fn begin(functions: usize, steps: usize) -> Compilation {
        PROGRESS.steps.store(0, Ordering::Relaxed);
        tell(Event::Begin { functions, steps });
        Compilation(())
    }
}

impl Drop for Compilation {
    fn drop(&mut self) {
        tell(Event::End);
    }
}

fn tell(event: Event) {
    if let Some(observer) = PROGRESS.observer.get() {
        observer(event);
    }
}

/// Counts a step of a compilation.
pub fn step() {
    PROGRESS.steps.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of steps since the compilation began.
pub fn steps() -> usize {
    PROGRESS.steps.load(Ordering::Relaxed)
}

/// Records that a line of progress is about to be drawn, on the line that the cursor is on.
pub fn line_is_drawn() {
    PROGRESS.line_is_drawn.store(true, Ordering::Release);
}

/// Erases the line of progress, if there is one on the terminal. Async-signal-safe.
pub fn erase_line() {
    if !PROGRESS.line_is_drawn.load(Ordering::Relaxed)
        || !PROGRESS.line_is_drawn.swap(false, Ordering::AcqRel)
    {
        return;
    }
    const ERASE: &[u8] = b"\r\x1b[2K";
    // SAFETY: the bytes are static. A terminal that is gone needs no erasing.
    let _ = unsafe { libc::write(2, ERASE.as_ptr().cast(), ERASE.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static SEEN: Mutex<Vec<(Event, usize)>> = Mutex::new(Vec::new());

    #[test]
    fn an_observer_sees_a_compilation_begin_and_end() {
        observe(|event| SEEN.lock().unwrap().push((event, steps())));
        let compilation = Compilation::begin(3, 12);
        step();
        step();
        drop(compilation);
        let begin = Event::Begin {
            functions: 3,
            steps: 12,
        };
        assert_eq!(*SEEN.lock().unwrap(), [(begin, 0), (Event::End, 2)]);
    }
}
