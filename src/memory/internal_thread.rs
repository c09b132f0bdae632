//! Threads for internal work, on which LLVM runs.
//!
//! LLVM leaves traces on its thread. It uses `std::call_once`, whose C++ library keeps the current
//! callable in two variables of the thread, so LLVM must not run while the guest is inside its own
//! `call_once`. It computes constants with the thread's rounding mode, sets `errno`, and recurses
//! deeper than the stack that the guest gave its thread. A thread for internal work also takes no
//! signal that is sent to the process: natively it would not exist, so one of the guest's own
//! threads gets the signal.
//!
//! A thread that compiles in parallel with the guest may open files at any time.
//! [`spawn_with_own_descriptors`] gives it its own descriptor table, so the guest gets the same
//! descriptor numbers as natively, and cannot close internal files when it closes all descriptors
//! that it could have.
//!
//! If every processor is busy, such a thread takes short time slices: it keeps a guest thread on
//! the same processor from a barrier, where all others wait, for half a millisecond at a time
//! instead of three.
//!
//! There is no pool: a thread costs far less than any compilation, and a child of `fork` misses
//! none. For shorter work there is [`super::internal_pool`].

use super::signal_safe::SignalsBlocked;
use super::thread::UnsampledWait;
use ompvm_support::fp_env::{DefaultFpEnv, FpControl};
use ompvm_support::{internal_work, limits, signal_heap, topology};
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Bytes of a stack. LLVM recurses deeply; pages are touched only when needed. If address space is
/// limited, clang's own 8 MiB must do.
const STACK: usize = 64 << 20;
const LEAST_STACK: usize = 8 << 20;

type Work<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Starts a thread; drops the work and returns `None` if the system has none.
///
/// Does not use the standard library: its thread start allocates through the C library, which may
/// be bound to the guest's functions, and these may be what is compiled here.
///
/// # Safety
/// Everything that the work borrows lives until the thread is joined.
unsafe fn start(name: &CStr, work: Work<'_>) -> Option<libc::pthread_t> {
    extern "C" fn go(work: *mut c_void) -> *mut c_void {
        // This thread never uses the guest's replacements of library functions.
        internal_work::enter_for_thread_life();
        // A new thread inherits the floating-point environment of its creator, which may be the
        // guest's.
        FpControl::DEFAULT.load();
        topology::use_short_time_slices();
        // SAFETY: `start` made the box for this thread alone.
        let work = unsafe { Box::from_raw(work.cast::<Work<'static>>()) };
        // A caller that handles panics has caught them inside the work; the message was printed.
        let _ = catch_unwind(AssertUnwindSafe(work));
        signal_heap::free_deferred();
        std::ptr::null_mut()
    }
    // Initialized here rather than by the first thread that asks: if another thread forked during
    // the initialization, it would stay unfinished in the child for ever.
    topology::usable_cpus();
    limits::share_malloc_heap();
    let work = Box::into_raw(Box::new(work)).cast::<c_void>();
    let _own = internal_work::enter();
    let _signals = SignalsBlocked::new();
    // SAFETY: the attributes are initialized before use; a name that is too long is refused; the
    // work's borrows outlive the thread by contract.
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

/// A thread that runs in parallel with the guest; detached when dropped.
#[derive(Debug)]
pub struct InternalThread(libc::pthread_t);

impl InternalThread {
    /// Waits for the thread's end. A panic in it was reported when it happened.
    pub fn join(self) {
        join(self.0);
        std::mem::forget(self);
    }
}

impl Drop for InternalThread {
    fn drop(&mut self) {
        // SAFETY: the thread was neither joined nor detached.
        unsafe { libc::pthread_detach(self.0) };
    }
}

/// Starts a thread; `None` if the system has none.
pub fn spawn(name: &CStr, work: impl FnOnce() + Send + 'static) -> Option<InternalThread> {
    // SAFETY: the work borrows nothing.
    unsafe { start(name, Box::new(work)) }.map(InternalThread)
}

/// Starts a thread that shares no descriptor with the guest but standard error; `None` if the
/// system has none. It cannot use other threads' descriptors, nor they its own.
pub fn spawn_with_own_descriptors(
    name: &CStr,
    work: impl FnOnce() + Send + 'static,
) -> Option<InternalThread> {
    spawn(name, move || {
        separate_descriptors();
        work();
    })
}

/// Gives this thread its own descriptor table, in which only standard error stays open: a pipe that
/// the guest closes must end for its reader. Does nothing on kernels before Linux 5.9, or if a
/// sandbox forbids it.
fn separate_descriptors() {
    let close = |first: libc::c_uint, last: libc::c_uint| {
        // SAFETY: the first successful call makes the table this thread's own, so no other thread
        // loses a descriptor.
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

/// Runs one piece of work on a separate thread and waits for it.
///
/// # Panics
/// If the work panics.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    run_all(vec![work]).pop().expect("there was one")
}

/// Runs pieces of work concurrently and waits for all. If the system has no thread, they run on the
/// calling thread: the traces that they leave there seldom matter.
///
/// # Panics
/// If one of them panics.
pub fn run_all<T: Send, F: FnOnce() -> T + Send>(work: Vec<F>) -> Vec<T> {
    let _cancel = CancelDisabled::new();
    // The time of this work is not the guest's.
    let _wait = UnsampledWait::enter();
    let mut jobs: Vec<(Option<F>, Option<std::thread::Result<T>>)> =
        work.into_iter().map(|w| (Some(w), None)).collect();
    let mut threads = Vec::new();
    for (work, result) in &mut jobs {
        let work = Box::new(move || {
            *result = work.take().map(|w| catch_unwind(AssertUnwindSafe(w)));
        });
        // SAFETY: all threads are joined before `jobs` is used again.
        threads.extend(unsafe { start(c"ompvm compile", work) });
    }
    threads.into_iter().for_each(join);
    let here = |(work, result): (Option<F>, Option<std::thread::Result<T>>)| match (work, result) {
        (_, Some(Ok(value))) => Some(value),
        (_, Some(Err(panic))) => resume_unwind(panic),
        (work, None) => work.map(|w| {
            let _own = internal_work::enter();
            let _environment = DefaultFpEnv::enter();
            w()
        }),
    };
    jobs.into_iter().filter_map(here).collect()
}

/// Disables `pthread_cancel` for this thread while it lives: waiting for another thread would be a
/// cancellation point, and these frames cannot be unwound by it.
pub(super) struct CancelDisabled(libc::c_int);

unsafe extern "C" {
    fn pthread_setcancelstate(state: libc::c_int, old: *mut libc::c_int) -> libc::c_int;
}

impl CancelDisabled {
    pub(super) fn new() -> CancelDisabled {
        /// `PTHREAD_CANCEL_DISABLE` of Linux.
        const DISABLE: libc::c_int = 1;
        let mut old = 0;
        // SAFETY: writes the old state to a local.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut old) };
        CancelDisabled(old)
    }
}

impl Drop for CancelDisabled {
    fn drop(&mut self) {
        // SAFETY: restores the state that this thread had.
        unsafe { pthread_setcancelstate(self.0, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_on_another_thread_without_signals() {
        let blocked = || {
            let mut set = MaybeUninit::uninit();
            // SAFETY: reads this thread's mask.
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
            // SAFETY: reads a descriptor's flags.
            let there = [0, 1, 2, number].map(|d| unsafe { libc::fcntl(d, libc::F_GETFD) } >= 0);
            sender.send(there).unwrap();
            // Keeps the thread until the test ends.
            std::thread::park();
        };
        let thread = spawn_with_own_descriptors(c"apart", work).unwrap();
        assert_eq!(receiver.recv().unwrap(), [false, false, true, false]);
        // The thread holds no copy of the pipe's other end.
        drop(writer);
        assert_eq!(std::io::Read::read(&mut reader, &mut [0]).unwrap(), 0);
        drop(thread);
    }

    #[test]
    fn a_panic_reaches_the_waiting_thread() {
        let caught = std::panic::catch_unwind(|| run(|| std::panic::panic_any(7)));
        assert_eq!(caught.unwrap_err().downcast_ref::<i32>(), Some(&7));
    }
}
