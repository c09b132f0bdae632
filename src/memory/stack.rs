//! Guest stacks: where interpreter frames and `alloca`s live.
//!
//! A stack is one lazily committed mapping that grows upward, with a page at its end that
//! nobody may touch. Why apart from the native stack: a frame's slots stay at one address while
//! native calls come and go, overflow is found by one comparison per call, and unwinding native
//! frames never touches guest data.
//!
//! What not: no switching between stacks; see [`super::thread`] for whose stack it is.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const PAGE: usize = 4096;
/// Space that checks leave above the limit, for handlers that write a little before checking.
const SLACK: usize = 64 << 10;
/// What of that a handler of a stack overflow may use.
pub const RESERVE: usize = 48 << 10;

/// How much more stack guests take here than natively: the interpreter keeps every value of a
/// function in its frame, where native code has registers, and a task within a task takes up to
/// four and a half times the native stack.
pub const SCALE: usize = 4;
/// What the first thread's native stack can grow to for certain: the kernel leaves 128 MiB free
/// below it whatever the limit was when the program started (mmap_base in arch/x86/mm/mmap.c).
const FIRST_MOST: u64 = 112 << 20;
/// The limit of the first thread's native stack before [`grow_first`] raised it; 0 if it has not.
static FIRST_LIMIT: AtomicU64 = AtomicU64::new(0);

/// Raises the soft limit of the first thread's native stack to [`SCALE`] times what it is, as far
/// as the hard limit and the address space allow. The process's children inherit it.
pub fn grow_first() {
    if FIRST_LIMIT.load(Ordering::Relaxed) != 0 {
        return;
    }
    let Some(mut limit) = stack_limit() else {
        return;
    };
    let raised = limit.rlim_cur.saturating_mul(SCALE as u64);
    let raised = raised.min(FIRST_MOST).min(limit.rlim_max);
    if raised > limit.rlim_cur {
        FIRST_LIMIT.store(limit.rlim_cur, Ordering::Relaxed);
        limit.rlim_cur = raised;
        // SAFETY: reads the local. That it fails changes nothing.
        unsafe { libc::setrlimit(libc::RLIMIT_STACK, &limit) };
    }
}

/// The limit of the first thread's native stack; none where there is none.
fn stack_limit() -> Option<libc::rlimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: fills the local.
    let got = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) };
    (got == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit)
}

/// Sizes set by the embedder, in bytes; 0 means by the environment.
static MAIN_SIZE: AtomicUsize = AtomicUsize::new(0);
static OTHER_SIZE: AtomicUsize = AtomicUsize::new(0);

/// Sets the sizes in bytes of stacks made from now on (0: by the environment): of the process's
/// first thread and of all others.
pub fn set_sizes(main: usize, other: usize) {
    MAIN_SIZE.store(main, Ordering::Relaxed);
    OTHER_SIZE.store(other, Ordering::Relaxed);
}

/// The size in bytes of the first thread's guest stack.
///
/// It is [`SCALE`] times what the native limit says and at least 64 MiB.
pub fn main_size() -> usize {
    match MAIN_SIZE.load(Ordering::Relaxed) {
        0 => {
            let limit = match FIRST_LIMIT.load(Ordering::Relaxed) {
                0 => stack_limit().map(|limit| limit.rlim_cur),
                before => Some(before),
            };
            limit.map_or(1 << 30, |limit| {
                (limit as usize)
                    .saturating_mul(SCALE)
                    .clamp(64 << 20, 1 << 30)
            })
        }
        n => n,
    }
}

/// The size in bytes of every other thread's guest stack (`OMP_STACKSIZE`, or 8 MiB, times
/// [`SCALE`]).
pub fn other_size() -> usize {
    match OTHER_SIZE.load(Ordering::Relaxed) {
        0 => {
            let size = std::env::var("OMP_STACKSIZE")
                .ok()
                .and_then(|s| parse_stack_size(&s))
                .unwrap_or(8 << 20);
            size.saturating_mul(SCALE).clamp(1 << 20, 16 << 30)
        }
        n => n,
    }
}

/// The lowest address of the calling thread's native stack; 0 when unknown. For signal handlers: it
/// asks the kernel alone. (`pthread_getattr_np` calls `realloc`, which may be the guest's, with a
/// lock held.)
pub fn native_end() -> usize {
    if !super::thread::is_main() {
        // The C library keeps what it knows of a thread at the top of the thread's stack.
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

/// The mapping that holds an address (proc_pid_maps(5)); async-signal-safe.
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
        // SAFETY: the buffer is as long as said.
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

/// `OMP_STACKSIZE`: a number with an optional unit B, K, M or G; K when none
/// (OpenMP 5.2, 21.2.2).
pub fn parse_stack_size(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text[digits.len()..].trim();
    let shift = match unit.to_ascii_uppercase().as_str() {
        "" | "K" => 10,
        "B" => 0,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    let n: usize = digits.trim().parse().ok()?;
    n.checked_shl(shift).filter(|v| v >> shift == n && n > 0)
}

/// One guest stack.
#[derive(Debug)]
pub struct Stack {
    base: usize,
    mapped: usize,
}

impl Stack {
    /// Maps a stack of at least `size` usable bytes.
    ///
    /// # Errors
    /// The system's message when address space is short.
    pub fn new(size: usize) -> Result<Stack, String> {
        let mapped = size.next_multiple_of(PAGE) + SLACK + PAGE;
        // SAFETY: a fresh anonymous mapping; its last page is made inaccessible.
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
            libc::mprotect(p.byte_add(mapped - PAGE), PAGE, libc::PROT_NONE);
            Ok(Stack {
                base: p as usize,
                mapped,
            })
        }
    }

    /// The first byte.
    pub fn base(&self) -> *mut u8 {
        self.base as *mut u8
    }

    /// One past the last byte that frames may use.
    pub fn limit(&self) -> *mut u8 {
        (self.base + self.mapped - PAGE - SLACK) as *mut u8
    }

    /// Whether the address lies in this stack, its guard page included.
    pub fn contains(&self, addr: usize) -> bool {
        addr.wrapping_sub(self.base) < self.mapped
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nobody runs on it any more.
        unsafe { libc::munmap(self.base as *mut c_void, self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_as_openmp_says() {
        assert_eq!(parse_stack_size("2000"), Some(2000 << 10));
        assert_eq!(parse_stack_size(" 10 M "), Some(10 << 20));
        assert_eq!(parse_stack_size("3g"), Some(3 << 30));
        assert_eq!(parse_stack_size("512b"), Some(512));
        assert_eq!(parse_stack_size("many"), None);
        assert_eq!(parse_stack_size("1 X"), None);
    }

    #[test]
    fn a_stack_can_be_written_up_to_its_limit() {
        let s = Stack::new(1 << 20).unwrap();
        assert_eq!(s.limit() as usize - s.base() as usize, 1 << 20);
        // SAFETY: inside the usable part.
        unsafe {
            *s.base() = 1;
            *s.limit().sub(1) = 2;
        }
        assert!(s.contains(s.limit() as usize));
    }
}
