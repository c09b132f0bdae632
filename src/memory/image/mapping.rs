//! Anonymous memory of an image, in the low gigabyte if it is small enough.
//!
//! A margin lies before and after it: natively a program's variables lie between other sections, so
//! that an access to an element before the first array, though undefined, finds memory.
//!
//! Leaves the contents to [`super::data_layout`].

use ompvm_support::error::Error;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

/// The largest data placed in the low gigabyte, which compiled code shares.
const LARGEST_LOW: usize = 768 << 20;

/// Bytes of each margin, whole pages.
const MARGIN: usize = 4096;

/// Memory that is unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    pub base: usize,
    pub len: usize,
    /// The addresses to unmap, with the margins.
    mapped: Range<usize>,
}

impl Mapping {
    pub fn new(len: usize, prot: i32) -> Result<Mapping, Error> {
        if len == 0 {
            return Ok(Mapping {
                base: 0,
                len: 0,
                mapped: 0..0,
            });
        }
        let bytes = len.next_multiple_of(MARGIN) + 2 * MARGIN;
        let map = |low: i32| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | low;
            // SAFETY: a fresh anonymous mapping.
            unsafe { libc::mmap(ptr::null_mut(), bytes, prot, flags, -1, 0) }
        };
        // Low addresses fit compiled code's 32-bit displacements, as in a native executable.
        let mut p = libc::MAP_FAILED;
        if len <= LARGEST_LOW {
            p = map(libc::MAP_32BIT);
        }
        if p == libc::MAP_FAILED {
            p = map(0);
        }
        if p == libc::MAP_FAILED {
            return Err(Error::Host(format!(
                "no memory for {len} bytes of the program's data: {}",
                std::io::Error::last_os_error()
            )));
        }
        let start = p as usize;
        Ok(Mapping {
            base: start + MARGIN,
            len,
            mapped: start..start + bytes,
        })
    }

    /// Leaves the first bytes to this value, and returns a value for those from `at` on, which are
    /// unmapped with this one.
    pub fn split_off(&mut self, at: usize) -> Mapping {
        let rest = Mapping {
            base: self.base + at,
            len: self.len - at,
            mapped: 0..0,
        };
        self.len = at;
        rest
    }

    /// Lets later writes fault. If the host refuses, the memory stays writable.
    pub fn make_read_only(&self) {
        if self.len > 0 {
            // SAFETY: this value owns the mapping; the memory stays mapped and readable.
            unsafe { libc::mprotect(self.base as *mut c_void, self.len, libc::PROT_READ) };
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let Range { start, end } = self.mapped;
        if start < end {
            // SAFETY: this value owns the mapping, and the image that used it is being dropped.
            unsafe { libc::munmap(start as *mut c_void, end - start) };
        }
    }
}
