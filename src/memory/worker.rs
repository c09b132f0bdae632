//! Threads of teams, each in one area of address space.
//!
//! A process may have 65,530 mappings (`vm.max_map_count`), so their number bounds the size of a team. A thread of
//! the standard library takes five: its stack and that one's guard page, a stack for signals and its guard page, and
//! the stack for signals that [`super::thread`] uses instead. A worker takes two. Its area begins with a guard page;
//! above lie the stack, which grows down towards it, and the stack for signals.
//!
//! The thread that makes a worker reserves all of this. So a lack of memory means that no worker is made; a running
//! worker never meets it.
//!
//! Areas are not unmapped: a worker ends with its process. The work of a worker belongs to `kmpc::thread`.

use crate::support::limits;
use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, null_mut};
use std::sync::OnceLock;

const PAGE: usize = 4096;
/// Bytes of the stack for signals.
pub(super) const SIGNAL_STACK: usize = 64 << 10;
/// Mappings that a worker takes.
const MAPPINGS: usize = 2;
/// Mappings that are left for everything else.
const OTHER_MAPPINGS: usize = 8 << 10;
/// Address space that is left for everything else, where it is limited.
const OTHER_SPACE: usize = 32 << 20;

thread_local! {
    static SIGNALS: Cell<*mut c_void> = const { Cell::new(null_mut()) };
}

/// The lowest byte of the stack for signals that was reserved for the calling thread; null if none was.
pub(super) fn signal_stack() -> *mut c_void {
    SIGNALS.get()
}

/// Makes sure that one more worker leaves the process enough mappings and address space.
fn afford(others: usize) -> Result<(), &'static str> {
    static MOST: OnceLock<usize> = OnceLock::new();
    let most = *MOST.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
        let all: usize = text.trim().parse().unwrap_or(65_530);
        all.saturating_sub(OTHER_MAPPINGS.min(all / 2)) / MAPPINGS
    });
    if others >= most {
        return Err("the limit on mappings (vm.max_map_count) is near");
    }
    if !limits::has_room(OTHER_SPACE) {
        return Err("the limit on address space (`ulimit -v`, `ulimit -d`) is near");
    }
    Ok(())
}

struct Start<F> {
    work: F,
    /// The lowest byte of the stack for signals.
    signals: *mut c_void,
    name: CString,
}

/// Starts a worker with a stack of `stack` bytes, of `others` that are there already.
///
/// # Errors
/// Why the system has no thread, or no memory for one.
pub fn spawn<F: FnOnce() + Send + 'static>(
    name: String,
    stack: usize,
    others: usize,
    work: F,
) -> io::Result<()> {
    extern "C" fn go<F: FnOnce()>(start: *mut c_void) -> *mut c_void {
        // SAFETY: `spawn` made the box for this thread alone.
        let start = *unsafe { Box::from_raw(start.cast::<Start<F>>()) };
        SIGNALS.set(start.signals);
        // SAFETY: a name of this thread; one that is too long is refused.
        unsafe { libc::pthread_setname_np(libc::pthread_self(), start.name.as_ptr()) };
        // A panic was told when it happened.
        let _ = catch_unwind(AssertUnwindSafe(start.work));
        null_mut()
    }
    limits::save_heaps();
    afford(others).map_err(io::Error::other)?;
    let stack = stack.next_multiple_of(PAGE);
    let len = PAGE + stack + SIGNAL_STACK;
    let area =
        reserve(len).map_err(|error| io::Error::other(limits::refused("its stack", &error)))?;
    let give_back = |error: io::Error| {
        // SAFETY: reserved above; no thread has it.
        unsafe { libc::munmap(area, len) };
        Err(error)
    };
    let start = Box::into_raw(Box::new(Start {
        work,
        signals: area.wrapping_byte_add(PAGE + stack),
        name: CString::new(name).unwrap_or_default(),
    }));
    // SAFETY: the attributes are initialised before use; the stack is a part of the area that nobody else has.
    let failed = unsafe {
        let (mut attributes, mut new) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let attributes = attributes.as_mut_ptr();
        libc::pthread_attr_init(attributes);
        libc::pthread_attr_setdetachstate(attributes, libc::PTHREAD_CREATE_DETACHED);
        let mut failed = libc::pthread_attr_setstack(attributes, area.byte_add(PAGE), stack);
        if failed == 0 {
            failed = libc::pthread_create(new.as_mut_ptr(), attributes, go::<F>, start.cast());
        }
        libc::pthread_attr_destroy(attributes);
        failed
    };
    if failed != 0 {
        // SAFETY: no thread took the box.
        drop(unsafe { Box::from_raw(start) });
        let error = io::Error::from_raw_os_error(failed);
        return give_back(io::Error::other(limits::refused("another thread", &error)));
    }
    Ok(())
}

/// Reserves an area whose first page nobody may touch.
fn reserve(len: usize) -> io::Result<*mut c_void> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    // SAFETY: a fresh mapping, whose first page is ours to protect.
    unsafe {
        let area = libc::mmap(ptr::null_mut(), len, access, flags, -1, 0);
        if area == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        if libc::mprotect(area, PAGE, libc::PROT_NONE) != 0 {
            let error = io::Error::last_os_error();
            libc::munmap(area, len);
            return Err(error);
        }
        Ok(area)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_worker_has_its_stack_its_signals_and_its_name() {
        let (tell, told) = mpsc::channel();
        let work = move || {
            let mut name = [0u8; 16];
            // SAFETY: the buffer is as long as said.
            unsafe {
                libc::pthread_getname_np(libc::pthread_self(), name.as_mut_ptr().cast(), 16);
            }
            let here = &raw const name as usize;
            tell.send((name, signal_stack() as usize, here))
        };
        spawn("omp-7".into(), 1 << 20, 0, move || {
            let _ = work();
        })
        .unwrap();
        let (name, signals, here) = told.recv().unwrap();
        assert!(name.starts_with(b"omp-7\0"));
        assert!((signals - (1 << 20)..signals).contains(&here));
    }

    #[test]
    fn a_stack_that_is_too_large_is_an_error() {
        assert!(spawn("omp-8".into(), usize::MAX / 2, 0, || ()).is_err());
        assert!(spawn("omp-9".into(), 1 << 20, usize::MAX, || ()).is_err());
    }
}
