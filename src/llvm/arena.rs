//! Room for what LLVM allocates on a thread.
//!
//! What: [`extend`] has the C library make a heap of some megabytes accessible that a thread other than the
//! first will allocate from. Why: glibc makes such a heap accessible page by page, each with a system call that
//! keeps the other threads' page faults waiting; LLVM takes some thousand pages (a thousand calls and a
//! twentieth of the time of MG's class S, which compiles nothing). How: blocks just below the size that gets a
//! mapping of its own are taken and given back. The heap keeps the access, and no memory: what is free at its
//! end goes back to the system.
//!
//! What not: no allocator of our own. The C++ library allocates for LLVM, and LLVM for it.

use std::cell::Cell;
use std::ffi::c_void;
use std::hint::black_box;

/// Bytes that a thread is expected to take.
const ROOM: usize = 4 << 20;
/// Less than what gets a mapping of its own (`M_MMAP_THRESHOLD`, 128 KiB unless it was set).
const BLOCK: usize = 120 << 10;

/// LLVM's tables of a processor take 490 KiB.
const TABLES: usize = 560 << 10;

thread_local! {
    static DONE: Cell<bool> = const { Cell::new(false) };
}

/// Extends the calling thread's heap, the first time.
pub(super) fn extend() {
    // SAFETY: asks who is calling.
    let first = unsafe { libc::getpid() == libc::gettid() };
    if DONE.replace(true) || first || !cfg!(target_env = "gnu") {
        return;
    }
    let mut blocks = [std::ptr::null_mut::<c_void>(); ROOM / BLOCK];
    // SAFETY: each block is given back once; null may be, too.
    unsafe {
        for block in &mut blocks {
            // The compiler knows what an allocation is, and would leave one out that nobody uses.
            *block = black_box(libc::malloc(BLOCK));
        }
        // The last one lies at the end: all are free when the heap is trimmed, once.
        for block in blocks {
            libc::free(block);
        }
    }
}

/// Provides the pages of a block that the calling thread allocates next, if it is no larger than LLVM's tables
/// of a processor. A block of that size has a mapping of its own at first, whose pages are read
/// before they are written, one by one: so the system provides each twice, and interrupts every processor of the
/// process for it (on two processors two fifths of the time that the tables took).
pub(super) fn provide() {
    /// `MADV_POPULATE_WRITE`, Linux 5.14; refused before.
    const POPULATE_WRITE: libc::c_int = 23;
    const PAGE: usize = 4096;
    if !cfg!(target_env = "gnu") {
        return;
    }
    // SAFETY: blocks are given back once, null may be, too; the pages are within an allocated block, and
    // what is in them stays.
    unsafe {
        // From now on the heap serves what is as large.
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

    /// Runs a test's body in a process of its own: threads of other tests could share a heap with its thread.
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

    /// Bytes that can be written from an address on.
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
    fn the_next_large_block_has_its_pages() {
        alone("the_next_large_block_has_its_pages", large_block);
    }

    fn large_block() {
        let faults = std::thread::spawn(|| {
            // SAFETY: zero is a valid value of what the system fills.
            let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
            let mut faults = || {
                // SAFETY: a live buffer; the calling thread is asked about.
                unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
                usage.ru_minflt
            };
            extend();
            provide();
            let before = faults();
            black_box(vec![1u8; TABLES - BLOCK]);
            faults() - before
        });
        assert!(faults.join().unwrap() < 16);
    }

    #[test]
    fn a_thread_has_room_without_asking_for_each_page() {
        alone("a_thread_has_room_without_asking_for_each_page", room);
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
