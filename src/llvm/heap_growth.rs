//! Preallocation of heap memory for LLVM on a thread.
//!
//! [`extend`] makes glibc grow a secondary thread's heap by some megabytes at once. Otherwise glibc
//! makes the heap accessible page by page, each with a system call that delays the other threads'
//! page faults, and LLVM takes some thousand pages. Blocks just below the size that gets a mapping
//! of its own are allocated and freed: the heap stays accessible but takes no memory, since its
//! free end goes back to the system.
//!
//! There is no allocator of ompvm's own, because the C++ library allocates for LLVM, and LLVM for
//! it.

use super::process::LOCALS;
use std::ffi::c_void;
use std::hint::black_box;

/// Number of bytes that a thread is expected to allocate.
const ROOM: usize = 4 << 20;
/// Block size below the threshold for separate mappings (`M_MMAP_THRESHOLD`, 128 KiB by default).
const BLOCK: usize = 120 << 10;

/// Size of a block that holds LLVM's subtarget tables (490 KiB).
const TABLES: usize = 560 << 10;

/// Extends the calling thread's heap on the first call.
pub(super) fn extend() {
    // SAFETY: both calls have no preconditions.
    let first = unsafe { libc::getpid() == libc::gettid() };
    let again = LOCALS.with(|l| l.heap_extended.replace(true));
    if again || first || !cfg!(target_env = "gnu") {
        return;
    }
    let mut blocks = [std::ptr::null_mut::<c_void>(); ROOM / BLOCK];
    // SAFETY: each block is freed once, and `free` accepts null.
    unsafe {
        for block in &mut blocks {
            // `black_box`, because the compiler removes allocations that nobody uses.
            *block = black_box(libc::malloc(BLOCK));
        }
        // The last block lies at the end, so all are free when the heap is trimmed, once.
        for block in blocks {
            libc::free(block);
        }
    }
}

/// Populates the pages of a block that the calling thread allocates next, if it is no larger than
/// LLVM's subtarget tables. A block of that size at first has a mapping of its own, whose pages are
/// read before they are written, one by one: the system provides each page twice, and interrupts
/// every processor of the process for it.
pub(super) fn populate() {
    /// `MADV_POPULATE_WRITE`, Linux 5.14; earlier kernels refuse it.
    const POPULATE_WRITE: libc::c_int = 23;
    const PAGE: usize = 4096;
    if !cfg!(target_env = "gnu") {
        return;
    }
    // SAFETY: each block is freed once, and `free` accepts null; the populated pages lie within an
    // allocated block, and their contents stay.
    unsafe {
        // Freeing a mapped block raises the threshold, so the heap serves this size from now on.
        libc::free(black_box(libc::malloc(TABLES)));
        let block = black_box(libc::malloc(TABLES));
        let first = block.addr().next_multiple_of(PAGE);
        let end = (block.addr() + TABLES) / PAGE * PAGE;
        if !block.is_null() {
            libc::madvise(first as *mut c_void, end - first, POPULATE_WRITE);
        }
        libc::free(block);
    }
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    /// Runs a test's body in a process of its own: threads of other tests could share a heap with
    /// its thread.
    fn alone(name: &str, body: impl FnOnce()) {
        const MARK: &str = "OMPVM_TEST_ALONE";
        if std::env::var_os(MARK).is_some() {
            return body();
        }
        let (_, module) = module_path!().split_once("::").expect("the crate's name");
        let output = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", &format!("{module}::{name}")])
            .env(MARK, "1")
            .output()
            .expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains(" 1 passed"),
            "{text}"
        );
    }

    /// Returns the number of writable bytes from an address on.
    fn writable(address: usize) -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let range = |line: &str| {
            let (range, rest) = line.split_once(' ')?;
            let (from, to) = range.split_once('-')?;
            let hex = |t| usize::from_str_radix(t, 16).ok();
            let (from, to) = (hex(from)?, hex(to)?);
            (rest.starts_with("rw") && (from..to).contains(&address)).then(|| to - address)
        };
        maps.lines().find_map(range).unwrap_or(0)
    }

    #[test]
    fn populate_provides_the_next_blocks_pages() {
        alone("populate_provides_the_next_blocks_pages", large_block);
    }

    fn large_block() {
        let faults = std::thread::spawn(|| {
            // SAFETY: all-zero is a valid `rusage`.
            let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
            let mut faults = || {
                // SAFETY: the buffer is live, and the calling thread is a valid subject.
                unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
                usage.ru_minflt
            };
            extend();
            populate();
            let before = faults();
            black_box(vec![1u8; TABLES - BLOCK]);
            faults() - before
        });
        assert!(faults.join().unwrap() < 16);
    }

    #[test]
    fn extend_makes_the_heap_accessible_at_once() {
        alone("extend_makes_the_heap_accessible_at_once", room);
    }

    fn room() {
        let room = std::thread::spawn(|| {
            extend();
            let block = black_box(vec![1u8; BLOCK]);
            writable(block.as_ptr() as usize)
        });
        let room = room.join().unwrap();
        assert!(room >= ROOM - 2 * BLOCK, "{room}");
    }
}
