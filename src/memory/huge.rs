//! Large variables on huge pages.
//!
//! [`advise`] asks the system to back large zero-initialized variables by huge pages, where the
//! system gives them only on request. A first touch of 4 KiB costs a fault, and accesses through
//! indices miss the translation buffer less often with huge pages.
//!
//! Does nothing where a virtual machine's host reclaims free memory: it returns huge blocks only,
//! and a reclaimed huge page takes far longer to fault in than 512 small ones.
//!
//! A variable of which little is touched takes more memory on huge pages, so [`advise`] does
//! nothing unless all large variables, touched everywhere, would fit twice. `OMPVM_HUGE_PAGES=0`
//! turns it off. Memory that the program allocates is left to the C library (see the tunable
//! `glibc.malloc.hugetlb`).

use ompvm_support::{cgroup, settings};
use std::ffi::c_void;
use std::fs;

/// The least bytes of a large variable: two huge pages, so that one whole page lies in it wherever
/// it begins.
pub const LARGE: usize = 4 << 20;
const PAGE: usize = 4096;

/// Requests huge pages for ranges (address, bytes) of fresh mappings made by this process.
pub fn advise(ranges: &[(usize, usize)]) {
    let total: usize = ranges.iter().map(|r| r.1).sum();
    let off = !settings::current().huge_pages;
    if ranges.is_empty()
        || off
        || !pays()
        || cgroup::available_memory().is_none_or(|r| total as u64 > r / 2)
    {
        return;
    }
    for &(start, len) in ranges {
        let first = start.next_multiple_of(PAGE);
        let end = (start + len) / PAGE * PAGE;
        if first < end {
            // SAFETY: the advice changes no contents; a refusal changes nothing.
            unsafe { libc::madvise(first as *mut c_void, end - first, libc::MADV_HUGEPAGE) };
        }
    }
}

/// Returns true if the system gives huge pages on request only, and faulting them in is cheap.
fn pays() -> bool {
    let mode = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    // In the other modes all memory gets huge pages, or none does.
    if !mode.is_ok_and(|m| m.contains("[madvise]")) {
        return false;
    }
    let devices = fs::read_dir("/sys/bus/virtio/devices")
        .into_iter()
        .flatten();
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    !devices.flatten().any(|device| {
        let folder = device.path();
        gives_back(&read(folder.join("device")), &read(folder.join("features")))
    })
}

/// Returns true if a virtio device, by its number and its negotiated features, returns free memory
/// to the host (Virtio 1.2, section 5.5: traditional memory balloon,
/// `VIRTIO_BALLOON_F_PAGE_REPORTING`).
fn gives_back(device: &str, features: &str) -> bool {
    device.trim() == "0x0005" && features.as_bytes().get(5) == Some(&b'1')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the `VmFlags` line of the mapping that holds an address.
    fn vm_flags(address: usize) -> String {
        let maps = fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|w| w.split_once('-'));
            let hex = |t: &str| usize::from_str_radix(t, 16).ok();
            if let Some((from, to)) = range.and_then(|(a, b)| Some((hex(a)?, hex(b)?))) {
                inside = (from..to).contains(&address);
            } else if inside && line.starts_with("VmFlags:") {
                return line.to_owned() + " ";
            }
        }
        String::new()
    }

    #[test]
    fn a_balloon_that_reports_pages_is_known() {
        assert!(gives_back("0x0005\n", "0110010100000000\n"));
        assert!(!gives_back("0x0005\n", "0110000100000000\n"));
        assert!(!gives_back("0x0002\n", "0110010100000000\n"));
        assert!(!gives_back("", ""));
    }

    #[test]
    fn large_ranges_are_advised_where_there_is_room() {
        let len = 3 * LARGE;
        // SAFETY: a fresh anonymous mapping, never touched and never unmapped.
        let base = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, flags, -1, 0) as usize
        };
        let asked = |address| vm_flags(address).contains(" hg ");
        advise(&[(base, usize::MAX / 4)]);
        assert!(!asked(base));
        advise(&[(base + 100, LARGE)]);
        assert_eq!(asked(base + LARGE / 2), pays());
        assert!(!asked(base) && !asked(base + 2 * LARGE));
    }
}
