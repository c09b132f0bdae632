//! Threads of teams, each in one area of address space.
//!
//! A process may have 65,530 mappings (`vm.max_map_count`), so the number of mappings bounds the
//! size of a team. A thread of the standard library takes five: its stack with a guard page, a
//! stack for signals with a guard page, and the stack for signals that [`super::thread`] uses
//! instead. A worker takes two. Its area begins with a guard page; above lie the stack, which grows
//! down towards it, and the stack for signals.
//!
//! The thread that makes a worker reserves all of this. So if memory is short, no worker is made; a
//! running worker never meets the shortage.
//!
//! A worker begins with its signals blocked, until its work says that it can run the program's
//! handlers.
//!
//! Areas are not unmapped: a worker ends with its process. `kmpc::thread` defines the work of a
//! worker.

use super::signal_safe::SignalsBlocked;
use super::stack;
use super::thread::LOCALS;
use ompvm_support::limits;
use std::ffi::{CString, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, null_mut};

const PAGE: usize = 4096;
/// Bytes of the stack for signals.
pub(super) const SIGNAL_STACK: usize = 64 << 10;
/// Number of mappings that a worker takes.
const MAPPINGS: usize = 2;
/// Number of mappings that are left for everything else.
const OTHER_MAPPINGS: usize = 8 << 10;
/// Bytes of address space that are left for everything else, if address space is limited.
const OTHER_SPACE: usize = 32 << 20;

/// Returns the lowest byte of the calling thread's reserved stack for signals; null if it has none.
pub(super) fn signal_stack() -> *mut c_void {
    LOCALS.with(|l| l.worker_signals.get())
}

/// Returns the calling thread's stack if the thread is a worker. Does not allocate.
pub(super) fn own_stack() -> Option<Range<usize>> {
    LOCALS.with(|l| {
        let low = l.worker_stack.get();
        (!low.is_null()).then(|| low as usize..l.worker_signals.get() as usize)
    })
}

/// Fails if one more worker would leave the process too few mappings or too little address space.
fn afford(others: usize) -> Result<(), &'static str> {
    let most = *stack::SIZES.most_workers.get_or_init(|| {
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
    /// The lowest byte of the stack.
    stack: *mut c_void,
    /// The lowest byte of the stack for signals.
    signals: *mut c_void,
    /// The signal mask of the worker's work.
    mask: libc::sigset_t,
    name: CString,
}

/// Starts a worker with a stack of `stack` bytes; `others` is the number of existing workers. The
/// work begins with signals blocked; dropping its argument sets the calling thread's mask.
///
/// # Errors
/// The reason why the system has no thread, or no memory for one.
pub fn spawn<F: FnOnce(SignalsBlocked) + Send + 'static>(
    name: String,
    stack: usize,
    others: usize,
    work: F,
) -> io::Result<()> {
    extern "C" fn go<F: FnOnce(SignalsBlocked)>(start: *mut c_void) -> *mut c_void {
        // SAFETY: `spawn` made the box for this thread alone.
        let start = *unsafe { Box::from_raw(start.cast::<Start<F>>()) };
        LOCALS.with(|l| {
            l.worker_stack.set(start.stack);
            l.worker_signals.set(start.signals);
        });
        // SAFETY: the name is a C string; the system refuses a name that is too long.
        unsafe { libc::pthread_setname_np(libc::pthread_self(), start.name.as_ptr()) };
        // A panic was reported when it happened.
        let work = || (start.work)(SignalsBlocked::inherited(start.mask));
        let _ = catch_unwind(AssertUnwindSafe(work));
        null_mut()
    }
    limits::share_malloc_heap();
    afford(others).map_err(io::Error::other)?;
    let stack = stack.next_multiple_of(PAGE);
    let len = PAGE + stack + SIGNAL_STACK;
    let area =
        reserve(len).map_err(|error| io::Error::other(limits::refusal("its stack", &error)))?;
    let give_back = |error: io::Error| {
        // SAFETY: reserved above; no thread uses it.
        unsafe { libc::munmap(area, len) };
        Err(error)
    };
    let blocked = SignalsBlocked::new();
    let start = Box::into_raw(Box::new(Start {
        work,
        stack: area.wrapping_byte_add(PAGE),
        signals: area.wrapping_byte_add(PAGE + stack),
        mask: blocked.before(),
        name: CString::new(name).unwrap_or_default(),
    }));
    // SAFETY: the attributes are initialized before use; the stack is a part of the area, which
    // only this worker uses.
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
    drop(blocked);
    if failed != 0 {
        // SAFETY: no thread took the box.
        drop(unsafe { Box::from_raw(start) });
        let error = io::Error::from_raw_os_error(failed);
        return give_back(io::Error::other(limits::refusal("another thread", &error)));
    }
    Ok(())
}

/// Reserves an area whose first page is a guard page.
fn reserve(len: usize) -> io::Result<*mut c_void> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    // SAFETY: a fresh mapping, whose first page is protected before anything uses it.
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
            // SAFETY: the buffer has 16 bytes.
            unsafe {
                libc::pthread_getname_np(libc::pthread_self(), name.as_mut_ptr().cast(), 16);
            }
            let here = &raw const name as usize;
            assert!(own_stack().is_some_and(|stack| stack.contains(&here)));
            tell.send((name, signal_stack() as usize, here))
        };
        spawn("omp-7".into(), 1 << 20, 0, move |_| {
            let _ = work();
        })
        .unwrap();
        let (name, signals, here) = told.recv().unwrap();
        assert!(name.starts_with(b"omp-7\0"));
        assert!((signals - (1 << 20)..signals).contains(&here));
    }

    #[test]
    fn a_stack_that_is_too_large_is_an_error() {
        assert!(spawn("omp-8".into(), usize::MAX / 2, 0, |_| ()).is_err());
        assert!(spawn("omp-9".into(), 1 << 20, usize::MAX, |_| ()).is_err());
    }
}
