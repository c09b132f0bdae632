//! The limits on this process's address space (`ulimit -v`, `ulimit -d`), and reservations under
//! them.
//!
//! Reserved ranges cost nothing on a system without a limit, so they are generous there: stacks,
//! the stubs of functions, code. Under a limit each takes a fixed part of it ([`reserve`]), so that
//! the program keeps most.
//!
//! Ignores control groups: they count pages in use, not reservations.

use std::sync::{Once, OnceLock};

const PAGE: usize = 4096;
/// The least limit that counts as none.
const UNLIMITED: usize = 16 << 30;

/// The limits of a process, and what was done about them.
struct Limits {
    /// The limit on address space at the first use; `None` if it is ample.
    address_space: OnceLock<Option<usize>>,
    /// Done once all threads share a heap.
    heap_shared: Once,
}

/// The limits of this process: resource limits and the C library's allocator belong to the process.
static LIMITS: Limits = Limits {
    address_space: OnceLock::new(),
    heap_shared: Once::new(),
};

/// Returns the smaller one of the limits on address space and on data at the first call; `None` if
/// it is ample.
pub fn address_space() -> Option<usize> {
    let limit = &LIMITS.address_space;
    *limit.get_or_init(|| Some(current_limit()).filter(|&limit| limit < UNLIMITED))
}

/// Returns the smaller one of the current limits.
fn current_limit() -> usize {
    let space = soft_limit(libc::RLIMIT_AS).unwrap_or(usize::MAX);
    space.min(soft_limit(libc::RLIMIT_DATA).unwrap_or(usize::MAX))
}

/// Returns the soft limit of a resource; `None` if it is unlimited or unknown.
fn soft_limit(resource: libc::__rlimit_resource_t) -> Option<usize> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: fills the local.
    let known = unsafe { libc::getrlimit(resource, &mut limit) } == 0;
    (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur as usize)
}

/// Returns the bytes to reserve if `wanted` is the best size: under a limit at most one part in
/// `parts` of it, but at least `least`; in whole pages.
pub fn reserve(wanted: usize, parts: usize, least: usize) -> usize {
    within(address_space(), wanted, parts, least)
}

fn within(limit: Option<usize>, wanted: usize, parts: usize, least: usize) -> usize {
    match limit {
        Some(limit) => wanted.min((limit / parts).max(least).next_multiple_of(PAGE)),
        None => wanted,
    }
}

/// Returns true if `bytes` more of address space are available under the current limit. Maps and
/// unmaps such a range to find out.
pub fn has_room(bytes: usize) -> bool {
    if current_limit() == usize::MAX {
        return true;
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh mapping, which is not shared.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0);
        at != libc::MAP_FAILED && libc::munmap(at, bytes) == 0
    }
}

/// Returns the message that the system has no memory for something, with the remedy.
pub fn refusal(what: &str, error: &std::io::Error) -> String {
    format!(
        "the system has no room for {what} ({error}); raise the limit of the shell (`ulimit -v`, \
         `ulimit -d`, `ulimit -u`) or of the container, or run fewer threads"
    )
}

/// Makes the C library's allocator share one heap among all threads if address space is scarce:
/// each heap takes 64 MiB of it. Must be called before threads are created, since a program may
/// limit itself.
pub fn share_malloc_heap() {
    const FEW: usize = 4 << 30;
    let once = &LIMITS.heap_shared;
    if cfg!(target_env = "gnu") && !once.is_completed() && current_limit() < FEW {
        // SAFETY: sets a parameter of the allocator.
        once.call_once(|| unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_is_a_part_of_the_limit() {
        let limit = Some(300 << 20);
        assert_eq!(within(None, 64 << 20, 32, 1 << 20), 64 << 20);
        assert_eq!(within(limit, 64 << 20, 10, 1 << 20), 30 << 20);
        assert_eq!(within(limit, 8 << 20, 10, 1 << 20), 8 << 20);
        assert_eq!(within(limit, 64 << 20, 1000, 1 << 20), 1 << 20);
        assert_eq!(within(Some(1), 64 << 20, 2, 64 << 10), 64 << 10);
    }

    #[test]
    fn an_unlimited_process_has_room() {
        assert!(has_room(1 << 20));
    }
}
