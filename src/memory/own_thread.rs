//! Threads of our own, on which LLVM works.
//!
//! Why: LLVM leaves traces on its thread. It uses `std::call_once`, whose C++ library keeps what
//! is being called in two variables of the thread, so LLVM must not run while the guest is inside
//! its own `call_once`; it computes constants with the thread's rounding mode, sets `errno`, and
//! recurses deeper than the stack that the guest gave its thread. Such a thread also takes no
//! signal that is sent to the process: natively it would not be there, so the guest's own threads
//! get it, or one of them that waits for it.
//!
//! A thread that compiles beside the guest may open files at any time. [`spawn_apart`] gives it descriptors of its own,
//! so the guest gets the numbers that it gets natively, and closes no file of ours when it closes all that it could have.
//!
//! Where every processor is busy, such a thread takes short turns: the guest's thread beside it is kept from a
//! barrier, where all others wait for it, for half a millisecond at a time and not for three.
//!
//! What not: no pool. A thread costs far less than any compilation, and none is left for a child
//! of `fork` to miss.

use crate::support::fp_env::{DefaultHere, FpControl};
use crate::support::{limits, own_work, topology};
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// LLVM recurses deeply; pages are touched only when needed. Where address space is limited, clang's own 8 MiB have
/// to do.
const STACK: usize = 64 << 20;
const LEAST_STACK: usize = 8 << 20;

/// Signals that a fault raises on the thread that commits it.
const FAULTS: [libc::c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGTRAP,
];

/// While it lives, this thread takes no signal but faults; threads made meanwhile never will.
struct Deaf(libc::sigset_t);

impl Deaf {
    fn new() -> Deaf {
        // SAFETY: sets on this thread's stack, filled before they are read.
        unsafe {
            let (mut set, mut old) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            libc::sigfillset(set.as_mut_ptr());
            for signal in FAULTS {
                libc::sigdelset(set.as_mut_ptr(), signal);
            }
            libc::sigemptyset(old.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), old.as_mut_ptr());
            Deaf(old.assume_init())
        }
    }
}

impl Drop for Deaf {
    fn drop(&mut self) {
        // SAFETY: the mask that this thread had.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut())
        };
    }
}

type Work<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Starts a thread; gives the work back when the system has none.
///
/// Not with the standard library: what it does at a thread's start allocates through the C
/// library, which may be bound to the guest's functions, and these may be what is compiled here.
///
/// # Safety
/// What the work borrows lives until the thread is joined.
unsafe fn start(name: &CStr, work: Work<'_>) -> Option<libc::pthread_t> {
    extern "C" fn go(work: *mut c_void) -> *mut c_void {
        // What the guest put in the place of library functions is not for this thread, to its end.
        own_work::to_the_end();
        // A new thread has the environment of the one that makes it, which may be the guest's.
        FpControl::DEFAULT.load();
        topology::take_turns_quickly();
        // SAFETY: `start` made the box for this thread alone.
        let work = unsafe { Box::from_raw(work.cast::<Work<'static>>()) };
        // Whoever cares for a panic has caught it further in; the message is out.
        let _ = catch_unwind(AssertUnwindSafe(work));
        std::ptr::null_mut()
    }
    // Made here rather than by whichever thread asks first: a fork while another thread makes it
    // would leave it unfinished in the child for ever.
    topology::usable_cpus();
    limits::save_heaps();
    let work = Box::into_raw(Box::new(work)).cast::<c_void>();
    let _own = own_work::begin();
    let _deaf = Deaf::new();
    // SAFETY: the attributes are initialised before use; the name is short enough or not taken;
    // see the caller's promise for the work.
    unsafe {
        let (mut attributes, mut new) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        libc::pthread_attr_init(attributes.as_mut_ptr());
        let stack = limits::reserve(STACK, 64, LEAST_STACK);
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), stack);
        let failed = libc::pthread_create(new.as_mut_ptr(), attributes.as_ptr(), go, work);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if failed != 0 {
            drop(Box::from_raw(work.cast::<Work<'_>>()));
            return None;
        }
        libc::pthread_setname_np(new.assume_init(), name.as_ptr());
        Some(new.assume_init())
    }
}

/// Waits for the end of a thread of [`start`].
fn join(thread: libc::pthread_t) {
    // SAFETY: the thread was neither joined nor detached.
    unsafe { libc::pthread_join(thread, std::ptr::null_mut()) };
}

/// A thread that runs beside the guest.
#[derive(Debug)]
pub struct OwnThread(libc::pthread_t);

impl OwnThread {
    /// Waits for its end. A panic there was reported when it happened.
    pub fn join(self) {
        join(self.0);
        std::mem::forget(self);
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        // SAFETY: the thread was neither joined nor detached.
        unsafe { libc::pthread_detach(self.0) };
    }
}

/// Starts a thread; `None` when the system has none.
pub fn spawn(name: &CStr, work: impl FnOnce() + Send + 'static) -> Option<OwnThread> {
    // SAFETY: the work borrows nothing.
    unsafe { start(name, Box::new(work)) }.map(OwnThread)
}

/// Starts a thread that shares no descriptor with the guest but the one for errors; `None` when the system has none.
/// It cannot use descriptors of others, nor they its own.
pub fn spawn_apart(name: &CStr, work: impl FnOnce() + Send + 'static) -> Option<OwnThread> {
    spawn(name, move || {
        separate_descriptors();
        work();
    })
}

/// Gives this thread a table of descriptors of its own, in which only the one for errors stays open: a pipe that the
/// guest closes must end for its reader. Does nothing on kernels before Linux 5.9, or where a sandbox forbids it.
fn separate_descriptors() {
    let close = |first: libc::c_uint, last: libc::c_uint| {
        // SAFETY: closes descriptors of a table that is this thread's own from the first successful call on.
        unsafe {
            libc::syscall(
                libc::SYS_close_range,
                first,
                last,
                libc::CLOSE_RANGE_UNSHARE,
            ) == 0
        }
    };
    if close(3, libc::c_uint::MAX) {
        close(0, 1);
    }
}

/// Does a piece of work on a thread of its own and waits for it.
///
/// # Panics
/// When the work panics.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    run_all(vec![work]).pop().expect("there was one")
}

/// Does several pieces of work at once and waits for all. Where the system has no thread they are
/// done here: what they leave behind is seldom seen.
///
/// # Panics
/// When one of them panics.
pub fn run_all<T: Send, F: FnOnce() -> T + Send>(work: Vec<F>) -> Vec<T> {
    let _whole = Whole::new();
    let mut jobs: Vec<(Option<F>, Option<std::thread::Result<T>>)> =
        work.into_iter().map(|w| (Some(w), None)).collect();
    let mut threads = Vec::new();
    for (work, result) in &mut jobs {
        let work = Box::new(move || {
            *result = work.take().map(|w| catch_unwind(AssertUnwindSafe(w)));
        });
        // SAFETY: all are joined before `jobs` is used again.
        threads.extend(unsafe { start(c"ompvm compile", work) });
    }
    threads.into_iter().for_each(join);
    let here = |(work, result): (Option<F>, Option<std::thread::Result<T>>)| match (work, result) {
        (_, Some(Ok(value))) => Some(value),
        (_, Some(Err(panic))) => resume_unwind(panic),
        (work, None) => work.map(|w| {
            let _own = own_work::begin();
            let _environment = DefaultHere::enter();
            w()
        }),
    };
    jobs.into_iter().filter_map(here).collect()
}

/// While it lives, nobody ends this thread by `pthread_cancel`: waiting for another would be a
/// place for it, and our frames cannot be unwound by it.
struct Whole(libc::c_int);

unsafe extern "C" {
    fn pthread_setcancelstate(state: libc::c_int, old: *mut libc::c_int) -> libc::c_int;
}

impl Whole {
    fn new() -> Whole {
        /// `PTHREAD_CANCEL_DISABLE` of Linux.
        const DISABLE: libc::c_int = 1;
        let mut old = 0;
        // SAFETY: the old state goes to a local.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut old) };
        Whole(old)
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        // SAFETY: the state that this thread had.
        unsafe { pthread_setcancelstate(self.0, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_elsewhere_and_without_signals() {
        let blocked = || {
            let mut set = MaybeUninit::uninit();
            // SAFETY: asks for this thread's mask.
            unsafe {
                libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), set.as_mut_ptr());
                let set = set.assume_init();
                [libc::SIGUSR1, libc::SIGINT, libc::SIGSEGV]
                    .map(|s| libc::sigismember(&raw const set, s) == 1)
            }
        };
        let here = std::thread::current().id();
        let before = blocked();
        assert_eq!(run(blocked), [true, true, false]);
        assert!(run(std::thread::current).id() != here);
        assert_eq!(blocked(), before);
        let numbers: Vec<_> = (0..5).map(|i| move || i * i).collect();
        assert_eq!(run_all(numbers), [0, 1, 4, 9, 16]);
    }

    #[test]
    fn a_thread_apart_opens_and_closes_unseen() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (mut reader, writer) = std::io::pipe().unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&reader);
        let work = move || {
            // SAFETY: asks for a descriptor's flags.
            let there = [0, 1, 2, number].map(|d| unsafe { libc::fcntl(d, libc::F_GETFD) } >= 0);
            sender.send(there).unwrap();
            // Until the test is over.
            std::thread::park();
        };
        let thread = spawn_apart(c"apart", work).unwrap();
        assert_eq!(receiver.recv().unwrap(), [false, false, true, false]);
        // The thread holds no copy of the pipe's other end.
        drop(writer);
        assert_eq!(std::io::Read::read(&mut reader, &mut [0]).unwrap(), 0);
        drop(thread);
    }

    #[test]
    fn a_panic_reaches_who_waits() {
        let caught = std::panic::catch_unwind(|| run(|| std::panic::panic_any(7)));
        assert_eq!(caught.unwrap_err().downcast_ref::<i32>(), Some(&7));
    }
}
