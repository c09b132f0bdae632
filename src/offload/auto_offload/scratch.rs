//! Launch shapes, and the scratch arena for private arrays that are too large for thread-local
//! memory.
//!
//! Each thread that runs at once has a slice of the arena, so the number of threads is limited by
//! the slices that fit into a fraction (1/[`MEMORY_DIVISOR`]) of the device memory, or into free
//! memory. The arena is kept for the next launch and released when an allocation fails. Iterations
//! that need slices are long; if there are few, blocks are small, so that every multiprocessor gets
//! some.
//!
//! `llvm::kernelize::kernel_text` decides which arrays live there.

use ompvm_offload::device::{Failure, Kernel, MemoryKind};
use ompvm_offload::devices::DeviceState;

/// Divisor of the device memory that gives the maximum size of the arena.
const MEMORY_DIVISOR: u64 = 4;

/// Shape of a kernel launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaunchShape {
    pub blocks: u32,
    pub threads: u32,
    /// Device address of the scratch arena.
    pub arena: u64,
}

/// Returns the shape of a launch for a trip count and a slice size in bytes.
pub(super) fn shape(
    state: &DeviceState,
    kernel: &Kernel,
    trips: u64,
    slice: u64,
) -> Result<LaunchShape, Failure> {
    let device = &*state.device;
    let (blocks, threads) = device.shape(kernel, 0, 0, trips);
    if slice == 0 {
        return Ok(LaunchShape {
            blocks,
            threads,
            arena: 0,
        });
    }
    let mut most = device.limits().memory / MEMORY_DIVISOR / slice;
    loop {
        let limits = device.limits();
        let (blocks, threads) =
            blocks_and_threads(limits.warp, limits.default_blocks, threads, trips, most)
                .ok_or(Failure::OutOfMemory { size: slice })?;
        let count = u64::from(blocks) * u64::from(threads);
        match reserve_arena(state, count * slice) {
            Ok(arena) => {
                return Ok(LaunchShape {
                    blocks,
                    threads,
                    arena,
                });
            }
            Err(Failure::OutOfMemory { .. }) => most = count / 2,
            Err(failure) => return Err(failure),
        }
    }
}

/// Returns the number of blocks and of threads per block, for at most `most` threads.
fn blocks_and_threads(
    warp: u32,
    usual: u32,
    threads: u32,
    trips: u64,
    most: u64,
) -> Option<(u32, u32)> {
    let warp = u64::from(warp.max(1));
    if most < warp {
        return None;
    }
    let wanted = if trips == 0 { u64::MAX } else { trips };
    let at_once = wanted.min(most);
    let spread = at_once.div_ceil(u64::from(usual.max(1)));
    let threads = spread
        .next_multiple_of(warp)
        .min(u64::from(threads).max(warp));
    let threads = threads.min(most / warp * warp);
    let needed = at_once.div_ceil(threads);
    let blocks = needed.min(most / threads).clamp(1, u64::from(u32::MAX));
    Some((blocks as u32, threads as u32))
}

/// Returns an arena of at least `size` bytes.
fn reserve_arena(state: &DeviceState, size: u64) -> Result<u64, Failure> {
    let mut kept = state.scratch_arena.lock();
    if let Some((there, bytes)) = *kept
        && bytes >= size
    {
        return Ok(there);
    }
    if let Some((there, _)) = kept.take() {
        state.device.free(there, MemoryKind::Device)?;
    }
    let there = state.device.alloc(size, 256, MemoryKind::Device)?;
    *kept = Some((there, size));
    Ok(there)
}

/// Releases the arena of a device. Returns true if there was one.
pub(super) fn release(state: &DeviceState) -> bool {
    let mut kept = state.scratch_arena.lock();
    let Some((there, _)) = kept.take() else {
        return false;
    };
    state.device.free(there, MemoryKind::Device).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_offload_scratch_arena_bounds_the_threads() {
        // One thread per iteration, spread over all blocks that run at once.
        assert_eq!(
            blocks_and_threads(32, 1056, 256, 16384, 1 << 20),
            Some((512, 32))
        );
        assert_eq!(
            blocks_and_threads(32, 1056, 256, 1 << 20, 1 << 20),
            Some((4096, 256))
        );
        // At most one thread per slice, and at least one warp.
        assert_eq!(blocks_and_threads(32, 16, 128, 256, 1000), Some((8, 32)));
        assert_eq!(blocks_and_threads(32, 16, 128, 0, 100), Some((3, 32)));
        assert_eq!(blocks_and_threads(32, 16, 128, 5, 40), Some((1, 32)));
        assert_eq!(blocks_and_threads(32, 16, 128, 5, 31), None);
        for most in 32..3000 {
            let (blocks, threads) = blocks_and_threads(32, 132, 256, 1 << 30, most).unwrap();
            assert!(u64::from(blocks) * u64::from(threads) <= most && blocks > 0);
        }
    }
}
