//! Large variables on huge pages.
//!
//! What: [`advise`] asks the system to back a large zero-initialised variable by huge pages, where
//! it backs only those by them that ask. Why: a first touch of 4 KiB costs a fault, half of MG's
//! time outside its timed part; and what is reached through indices (CG's vector) misses the
//! translation buffer less often. Class A of the NAS benchmarks on 16 cores: MG .90, FT .92 of its time
//! at two threads.
//!
//! Not where a virtual machine's host takes free memory back: it gives huge blocks back only, and
//! such a page then takes ten times as long as 512 small ones (MG: 1.0 s of the system's time, not .25).
//!
//! What not: a variable of which little is touched takes more memory so, so nothing is asked for
//! unless all large variables, touched everywhere, would fit twice; `OMPVM_HUGE_PAGES=0` turns it
//! off. Memory that the program allocates is the C library's business (`glibc.malloc.hugetlb` among
//! its tunables).

use crate::support::cgroup;
use std::ffi::c_void;
use std::fs;

/// The least bytes of a large variable: two huge pages, one of which is whole wherever it begins.
pub const LARGE: usize = 4 << 20;
const PAGE: usize = 4096;

/// Asks for huge pages for these ranges (address, bytes) of fresh mappings of ours.
pub fn advise(ranges: &[(usize, usize)]) {
    let total: usize = ranges.iter().map(|r| r.1).sum();
    let off = std::env::var("OMPVM_HUGE_PAGES").is_ok_and(|v| v == "0");
    if ranges.is_empty() || off || !pays() || room().is_none_or(|r| total as u64 > r / 2) {
        return;
    }
    for &(start, len) in ranges {
        let first = start.next_multiple_of(PAGE);
        let end = (start + len) / PAGE * PAGE;
        if first < end {
            // SAFETY: changes no contents; where the system refuses, all stays as it was.
            unsafe { libc::madvise(first as *mut c_void, end - first, libc::MADV_HUGEPAGE) };
        }
    }
}

/// Whether who asks gets huge pages, and at the price of memory.
fn pays() -> bool {
    let mode = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    // In the other modes all get them, or nobody.
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

/// Whether a virtio device, by its number and its agreed features, gives free memory back to the
/// host (Virtio 1.2, section 5.5: traditional memory balloon, `VIRTIO_BALLOON_F_PAGE_REPORTING`).
fn gives_back(device: &str, features: &str) -> bool {
    device.trim() == "0x0005" && features.as_bytes().get(5) == Some(&b'1')
}

/// Bytes of memory that this process can have, as far as the system tells.
fn room() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    let limit = cgroup::memory_limit().unwrap_or(u64::MAX);
    Some(limit.min(kilobytes << 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the system was told of the mapping that holds an address.
    fn told(address: usize) -> String {
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
        let asked = |address| told(address).contains(" hg ");
        advise(&[(base, usize::MAX / 4)]);
        assert!(!asked(base));
        advise(&[(base + 100, LARGE)]);
        assert_eq!(asked(base + LARGE / 2), pays());
        assert!(!asked(base) && !asked(base + 2 * LARGE));
    }
}
