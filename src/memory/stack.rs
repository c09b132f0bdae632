//! The native stacks of the process: their sizes and their ends.
//!
//! Frames of guest functions lie on the running native stack ([`super::activation`]), and the
//! interpreter's take more room than compiled ones. So threads get stacks of [`SCALE`] times the
//! size that the program requests, and the first thread's limit is raised.
//!
//! Does not switch stacks; the program may do that as it likes.

use super::abi;
use ompvm_support::limits;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const PAGE: usize = 4096;

/// Factor by which threads get more stack here than natively: the interpreter keeps every value of
/// a function in its frame, while native code has registers, and nested tasks that one thread
/// executes take up to four and a half times the native stack (`tests/pass/task/deep.c`).
pub const SCALE: usize = 6;
/// Factor for the first thread, whose stack takes address space only as it grows: the smallest
/// frames, of 16 bytes natively, take about seven times as much.
const SCALE_FIRST: usize = 8;
/// The size to which the first thread's native stack can certainly grow: the kernel leaves 128 MiB
/// free below it, no matter what the limit was when the program started (mmap_base in
/// arch/x86/mm/mmap.c).
const FIRST_MOST: u64 = 112 << 20;
/// The largest total size of the first thread's stack and its overflow stack.
const FIRST_MOST_EVER: u64 = 16 << 30;

/// The system's sizes of stacks, each found at its first use.
pub(super) struct StackSizes {
    /// The limit of the first thread's native stack before [`grow_first`] raised it; 0 if it was
    /// not raised.
    first_limit: AtomicU64,
    /// Default size of threads' stacks, in bytes, before [`grow_threads`]; 0 if it was not raised.
    default: AtomicUsize,
    /// The number of workers for whose stacks the system has mappings.
    pub(super) most_workers: OnceLock<usize>,
}

/// The sizes of this process: its limits and the C library's default belong to no program.
pub(super) static SIZES: StackSizes = StackSizes {
    first_limit: AtomicU64::new(0),
    default: AtomicUsize::new(0),
    most_workers: OnceLock::new(),
};

/// Raises the soft limit of the first thread's native stack by [`SCALE_FIRST`], as far as the hard
/// limit and the address space allow. The process's children inherit it.
pub fn grow_first() {
    if SIZES.first_limit.load(Ordering::Relaxed) != 0 {
        return;
    }
    let Some(mut limit) = stack_limit() else {
        return;
    };
    let raised = limit.rlim_cur.saturating_mul(SCALE_FIRST as u64);
    let raised = raised.min(FIRST_MOST).min(limit.rlim_max);
    if raised > limit.rlim_cur {
        SIZES.first_limit.store(limit.rlim_cur, Ordering::Relaxed);
        limit.rlim_cur = raised;
        // SAFETY: reads the local; a failure changes nothing.
        unsafe { libc::setrlimit(libc::RLIMIT_STACK, &limit) };
    }
}

/// Returns the limit of the first thread's native stack; `None` if it is unlimited or unknown.
fn stack_limit() -> Option<libc::rlimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: fills the local.
    let got = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) };
    (got == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit)
}

/// Returns the bytes by which the first thread's stack falls short of the guest's needs, if its
/// limit could not be raised far enough; else 0.
pub fn first_lacks() -> usize {
    let before = SIZES.first_limit.load(Ordering::Relaxed);
    let Some(limit) = stack_limit() else { return 0 };
    let native = if before == 0 { limit.rlim_cur } else { before };
    let wanted = native
        .saturating_mul(SCALE_FIRST as u64)
        .min(FIRST_MOST_EVER);
    wanted.saturating_sub(limit.rlim_cur) as usize
}

unsafe extern "C" {
    fn pthread_getattr_default_np(attributes: *mut libc::pthread_attr_t) -> i32;
    fn pthread_setattr_default_np(attributes: *const libc::pthread_attr_t) -> i32;
}

/// The least bytes of a stack that is not enlarged: the system may refuse a multiple of several
/// gigabytes.
const LARGE: usize = 256 << 20;

/// Returns [`SCALE`] times a size, or less if address space is limited.
fn scaled(size: usize) -> usize {
    limits::reserve(size * SCALE, 40, size)
}

/// Gives threads that the program creates [`SCALE`] times the default stack size.
pub fn grow_threads() {
    // SAFETY: fills and reads the local; a failure changes nothing.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        let mut size = 0;
        if SIZES.default.load(Ordering::Relaxed) != 0
            || pthread_getattr_default_np(&mut attributes) != 0
        {
            return;
        }
        libc::pthread_attr_getstacksize(&attributes, &mut size);
        SIZES.default.store(size, Ordering::Relaxed);
        if size < LARGE {
            libc::pthread_attr_setstacksize(&mut attributes, scaled(size));
            pthread_setattr_default_np(&attributes);
        }
        libc::pthread_attr_destroy(&mut attributes);
    }
}

/// Implements the guest's `pthread_create`. A stack size that the guest requests is meant for
/// native frames, so the thread gets [`SCALE`] times that.
///
/// # Safety
/// The contract of the C function.
pub unsafe extern "C" fn create_thread(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    run: extern "C" fn(*mut c_void) -> *mut c_void,
    with: *mut c_void,
) -> i32 {
    // SAFETY: the arguments are valid by the C function's contract. The copy of the attributes
    // shares the original's resources, and is not destroyed.
    unsafe {
        if attributes.is_null() {
            return libc::pthread_create(thread, attributes, run, with);
        }
        let (mut low, mut size, mut default) = (std::ptr::null_mut::<c_void>(), 0, 0);
        let mut fresh: libc::pthread_attr_t = std::mem::zeroed();
        libc::pthread_attr_init(&mut fresh);
        libc::pthread_attr_getstacksize(&fresh, &mut default);
        libc::pthread_attr_destroy(&mut fresh);
        libc::pthread_attr_getstack(attributes, &mut low, &mut size);
        // Without an address, the C library returns the difference to address 0.
        let given = (low as usize).wrapping_add(size) != 0;
        if given || size == default || size >= LARGE {
            return libc::pthread_create(thread, attributes, run, with);
        }
        let mut copy = *attributes;
        libc::pthread_attr_setstacksize(&mut copy, scaled(size));
        let mut rc = libc::pthread_create(thread, &copy, run, with);
        if rc == libc::EAGAIN {
            rc = libc::pthread_create(thread, attributes, run, with);
        }
        rc
    }
}

/// Returns the stack that the system made for the calling thread; empty if unknown. Allocates.
pub fn own() -> Range<usize> {
    if super::thread::is_main() {
        // SAFETY: has no preconditions.
        let top = unsafe { libc::getauxval(libc::AT_EXECFN) as usize };
        return native_end()..top.next_multiple_of(PAGE);
    }
    let (mut low, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: fills the locals; the attributes are destroyed after a successful query.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) == 0 {
            libc::pthread_attr_getstack(&attributes, &mut low, &mut bytes);
            libc::pthread_attr_destroy(&mut attributes);
        }
    }
    low as usize..low as usize + bytes
}

/// A stack for internal work that must not depend on the room left on the program's stack.
#[derive(Debug)]
pub struct Stack {
    base: usize,
    mapped: usize,
}

impl Stack {
    /// Maps a stack of at least `size` usable bytes above a guard page.
    ///
    /// # Errors
    /// The system's message if address space is short.
    pub fn new(size: usize) -> Result<Stack, String> {
        let mapped = size.next_multiple_of(PAGE) + PAGE;
        // SAFETY: a fresh anonymous mapping; its first page is made inaccessible.
        unsafe {
            let p = libc::mmap(
                std::ptr::null_mut(),
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            );
            if p == libc::MAP_FAILED {
                return Err(std::io::Error::last_os_error().to_string());
            }
            libc::mprotect(p, PAGE, libc::PROT_NONE);
            Ok(Stack {
                base: p as usize,
                mapped,
            })
        }
    }

    /// Returns true if an address lies in this stack.
    pub fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.base) < self.mapped
    }

    /// Calls `f` on this stack. Nothing else may run on it meanwhile.
    pub fn call<R>(&self, f: impl FnOnce() -> R) -> R {
        extern "C-unwind" fn go<F: FnOnce()>(f: *mut c_void) {
            // SAFETY: `f` is the address of the option below, which outlives the call.
            if let Some(f) = unsafe { (*f.cast::<Option<F>>()).take() } {
                f();
            }
        }
        fn start<F: FnOnce()>(_: &Option<F>) -> extern "C-unwind" fn(*mut c_void) {
            go::<F>
        }
        let mut result = None;
        let mut work = Some(|| result = Some(f()));
        let start = start(&work);
        // SAFETY: `work` outlives the call; the end of the mapping is a multiple of a page.
        unsafe { abi::raw_on(start, (&raw mut work).cast(), self.base + self.mapped) };
        result.unwrap_or_else(|| ompvm_support::bug!("a call on another stack did not happen"))
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no code runs on it any more.
        unsafe { libc::munmap(self.base as *mut c_void, self.mapped) };
    }
}

/// Bytes of stack that internal work may take.
const WORK: usize = if cfg!(debug_assertions) {
    512 << 10
} else {
    128 << 10
};

/// Runs internal work: on the current stack if it is the thread's own and has room, else on a stack
/// that the thread keeps for this purpose. The program's own stacks may be small.
pub fn with_room<R>(work: impl FnOnce() -> R) -> R {
    let state = super::thread::current();
    let here = (&raw const state).addr();
    // SAFETY: `current` returns this thread's state.
    match unsafe { (*state).work_stack(here, WORK) } {
        Some(stack) => stack.call(work),
        None => work(),
    }
}

/// Reads a word of memory through the system; `None` for an unmapped address, or if the system
/// refuses.
pub fn read(address: usize) -> Option<usize> {
    let mut word = 0usize;
    let local = libc::iovec {
        iov_base: (&raw mut word).cast(),
        iov_len: size_of::<usize>(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut c_void,
        iov_len: size_of::<usize>(),
    };
    // SAFETY: writes to a local; an unreadable address is an error.
    let n = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    (n == size_of::<usize>() as isize).then_some(word)
}

/// Returns the lowest address of the calling thread's native stack; 0 if unknown. Fit for signal
/// handlers: it asks the kernel alone. (`pthread_getattr_np` calls `realloc`, which may be the
/// guest's, with a lock held.)
pub fn native_end() -> usize {
    if !super::thread::is_main() {
        // The C library keeps a thread's descriptor at the top of the thread's stack.
        // SAFETY: has no preconditions.
        let top = unsafe { libc::pthread_self() } as usize;
        return mapping_of(top).map_or(0, |m| m.start);
    }
    // The file name in the auxiliary vector lies at the very top of the first thread's stack
    // (getauxval(3), AT_EXECFN).
    // SAFETY: has no preconditions.
    let top = unsafe { libc::getauxval(libc::AT_EXECFN) as usize };
    match stack_limit() {
        Some(limit) if top != 0 => top
            .next_multiple_of(PAGE)
            .saturating_sub(limit.rlim_cur as usize),
        _ => 0,
    }
}

/// Returns the mapping that holds an address (proc_pid_maps(5)). Async-signal-safe.
fn mapping_of(address: usize) -> Option<std::ops::Range<usize>> {
    // SAFETY: plain system calls on a local buffer.
    let file = unsafe {
        libc::open(
            c"/proc/self/maps".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        )
    };
    if file < 0 {
        return None;
    }
    // Each line begins with two numbers, `start-end `; the rest is skipped.
    let (mut numbers, mut at) = ([0usize; 2], 0);
    let mut buffer = [0u8; 1024];
    let found = 'all: loop {
        // SAFETY: reads at most the length of the buffer.
        let n = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
        if n <= 0 {
            break None;
        }
        for &byte in &buffer[..n as usize] {
            match (byte, at) {
                (b'\n', _) => (numbers, at) = ([0; 2], 0),
                (b'-', 0) => at = 1,
                (b' ', 1) => {
                    let [start, end] = numbers;
                    if (start..end).contains(&address) {
                        break 'all Some(start..end);
                    }
                    at = 2;
                }
                (digit, 0 | 1) => {
                    let digit = (digit as char).to_digit(16).unwrap_or(0) as usize;
                    numbers[at] = numbers[at] << 4 | digit;
                }
                _ => {}
            }
        }
    };
    // SAFETY: opened above.
    unsafe { libc::close(file) };
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_knows_its_own_stack() {
        let check = || {
            let local = 0u8;
            own().contains(&(&raw const local as usize))
        };
        assert!(std::thread::spawn(check).join().unwrap());
    }

    #[test]
    fn work_runs_on_another_stack() {
        let stack = Stack::new(64 << 10).unwrap();
        let inside = stack.call(|| {
            let local = 0u8;
            stack.contains(&raw const local as usize)
        });
        assert!(inside);
    }

    #[test]
    fn unmapped_memory_is_not_read() {
        let word = 5usize;
        assert_eq!(read(&raw const word as usize), Some(5));
        assert_eq!(read(8), None);
    }
}
