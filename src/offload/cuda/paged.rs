//! Arrays for which a GPU has too little memory.
//!
//! They are managed memory of CUDA: the first part is on the GPU, the rest on the host, where kernels
//! access it. To let the driver move pages between the two while a kernel reads an array from its
//! begin to its end was seven times slower on an H200. Threads of the host copy the rest: the
//! driver's copies to and from it were seven and four times slower.

use super::driver;
use super::gpu::Gpu;
use crate::device::{Failure, MemoryKind, Result};
use ompvm_memory::internal_pool;
use ompvm_support::{cgroup, topology};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a GPU's memory that such arrays leave for kernels, stacks and small arrays.
const SPARE_MEMORY: u64 = 512 << 20;
/// Unit in which the driver moves managed memory, in bytes.
const UNIT: u64 = 2 << 20;
/// Most threads that copy, and the bytes that one copies at a time.
const MAX_THREADS: usize = 16;
const PIECE_BYTES: usize = 4 << 20;

/// A block of managed memory.
pub(super) struct Paged {
    /// Its start.
    pub start: u64,
    /// Number of bytes at its start that are on the GPU.
    pub here: u64,
}

/// Allocates managed memory.
///
/// # Errors
/// [`Failure::OutOfMemory`], also if the host has too little memory, or the driver does not move
/// pages while kernels run.
pub(super) fn alloc(gpu: &Gpu, size: u64) -> Result<Paged> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: the result pointers are valid, and this thread has the context.
    let code = unsafe { (gpu.driver.free_memory)(&mut free, &mut total) };
    gpu.check(code, "asking for free memory", 0)?;
    let here = (free as u64).saturating_sub(SPARE_MEMORY).min(size) & !(UNIT - 1);
    let available = cgroup::available_memory().unwrap_or(0);
    if !gpu.pages_managed_memory || !leaves_enough(available, size - here) {
        return Err(Failure::OutOfMemory { size });
    }
    let start = gpu.raw_alloc(size, MemoryKind::Shared)?;
    let advise = |from: u64, to: u64, advice, place| {
        if to > from {
            // SAFETY: the range lies in the memory that was just allocated. A refused advice costs
            // time only.
            unsafe { (gpu.driver.advise)(start + from, (to - from) as usize, advice, place) };
        }
    };
    advise(0, here, driver::PREFER_PLACE, gpu.device);
    advise(here, size, driver::PREFER_PLACE, driver::HOST_PLACE);
    advise(here, size, driver::KEEP_MAPPED, gpu.device);
    Ok(Paged { start, here })
}

/// Returns true if a host with `available` bytes of memory can take `bytes` more, and keeps an
/// eighth for itself.
fn leaves_enough(available: u64, bytes: u64) -> bool {
    bytes <= available - available / 8
}

/// Copies memory of the host on several threads.
///
/// # Safety
/// `len` bytes are readable at `from`, and writable at `to`.
pub(super) unsafe fn copy(to: usize, from: usize, len: usize) {
    let count = len.div_ceil(PIECE_BYTES);
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed) * PIECE_BYTES;
            if at >= len {
                return;
            }
            let bytes = PIECE_BYTES.min(len - at);
            let target: *mut u8 = ptr::with_exposed_provenance_mut(to + at);
            // SAFETY: each piece is copied by one thread; the rest is this function's contract. An
            // array and its copy on the device may be adjacent, but do not overlap.
            unsafe { ptr::copy(ptr::with_exposed_provenance(from + at), target, bytes) };
        }
    };
    let threads = topology::usable_cpus().min(MAX_THREADS).min(count);
    internal_pool::run(threads, &work);
}

#[cfg(test)]
mod tests {
    use super::{PIECE_BYTES, copy, leaves_enough};

    #[test]
    fn the_host_keeps_memory_for_itself() {
        assert!(leaves_enough(80, 0) && leaves_enough(80, 70));
        assert!(!leaves_enough(80, 71) && !leaves_enough(0, 1));
    }

    #[test]
    fn all_pieces_are_copied() {
        for len in [0, 1, PIECE_BYTES, 3 * PIECE_BYTES + 17] {
            let from: Vec<u8> = (0..len).map(|n| (n / 3) as u8).collect();
            let mut to = vec![0; len];
            let (target, source) = (to.as_mut_ptr(), from.as_ptr());
            // SAFETY: both vectors have `len` bytes.
            unsafe { copy(target.expose_provenance(), source.expose_provenance(), len) };
            assert_eq!(from, to);
        }
    }
}
