//! Reads memory of the program that may be unmapped.
//!
//! The system copies the bytes, so a bad address is a result and not a fault. A library may have
//! freed a block, and a pointer in memory may be one that the region itself never follows.

/// Returns true if the byte at an address can be read.
pub(super) fn is_readable(address: usize) -> bool {
    try_read(address, &mut [0])
}

/// Reads memory that may be unmapped. Returns false if it is.
pub(super) fn try_read(address: usize, to: &mut [u8]) -> bool {
    let local = libc::iovec {
        iov_base: to.as_mut_ptr().cast(),
        iov_len: to.len(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: to.len(),
    };
    // SAFETY: the kernel writes to the slice and checks the remote range.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    read == to.len() as isize
}
