//! Anonymous memory of an image, in the low gigabyte if it is small enough.
//!
//! Leaves the contents to [`super::data_layout`].

use ompvm_support::error::Error;
use std::ffi::c_void;
use std::ptr;

/// The largest data placed in the low gigabyte, which compiled code shares.
const LARGEST_LOW: usize = 768 << 20;

/// A mapping, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    pub base: usize,
    pub len: usize,
}

impl Mapping {
    pub fn new(len: usize, prot: i32) -> Result<Mapping, Error> {
        if len == 0 {
            return Ok(Mapping { base: 0, len: 0 });
        }
        let map = |low: i32| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | low;
            // SAFETY: a fresh anonymous mapping.
            unsafe { libc::mmap(ptr::null_mut(), len, prot, flags, -1, 0) }
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
        Ok(Mapping {
            base: p as usize,
            len,
        })
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
        if self.len > 0 {
            // SAFETY: this value owns the mapping, and the image that used it is being dropped.
            unsafe { libc::munmap(self.base as *mut c_void, self.len) };
        }
    }
}
