//! The shape of a launch, and the memory that its threads have for what is too large for their own.
//!
//! What: each thread that runs at once has a slice of one piece of the device's memory. So there are no more
//! threads than slices in [`PART`] of the memory, or in what is free. The piece is kept for the next launch,
//! and given back where the device has no memory left for something else. Iterations that need such slices are long;
//! where they are few, blocks are small, so that all multiprocessors have some.
//!
//! What not: what lies there (`llvm::outlined::kernel`).

use crate::offload::device::{Device, Failure, Kernel, Memory};
use crate::offload::devices::State;
use hashbrown::HashMap;
use parking_lot::Mutex;

/// The part of a device's memory that slices may take.
const PART: u64 = 4;

/// What there is, by device: where, and bytes.
static KEPT: Mutex<Option<HashMap<i32, (u64, u64)>>> = Mutex::new(None);

/// How a kernel is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub blocks: u32,
    pub threads: u32,
    /// Where its slices are.
    pub slices: u64,
}

/// The shape of a launch of so many iterations, whose threads need slices of so many bytes.
pub(super) fn shape(
    state: &State,
    kernel: &Kernel,
    trips: u64,
    slice: u64,
) -> Result<Shape, Failure> {
    let device = &*state.device;
    let (blocks, threads) = device.shape(kernel, 0, 0, trips);
    if slice == 0 {
        return Ok(Shape {
            blocks,
            threads,
            slices: 0,
        });
    }
    let mut most = device.limits().memory / PART / slice;
    loop {
        let limits = device.limits();
        let (blocks, threads) = bounded(limits.warp, limits.usual_blocks, threads, trips, most)
            .ok_or(Failure::OutOfMemory { size: slice })?;
        let count = u64::from(blocks) * u64::from(threads);
        match reserve(state, count * slice) {
            Ok(slices) => {
                return Ok(Shape {
                    blocks,
                    threads,
                    slices,
                });
            }
            Err(Failure::OutOfMemory { .. }) => most = count / 2,
            Err(failure) => return Err(failure),
        }
    }
}

/// Blocks, and threads of each, for so many iterations by at most so many threads at once.
fn bounded(warp: u32, usual: u32, threads: u32, trips: u64, most: u64) -> Option<(u32, u32)> {
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

/// A piece of at least so many bytes.
fn reserve(state: &State, size: u64) -> Result<u64, Failure> {
    let mut kept = KEPT.lock();
    let kept = kept.get_or_insert_default();
    if let Some(&(there, bytes)) = kept.get(&state.number)
        && bytes >= size
    {
        return Ok(there);
    }
    if let Some((there, _)) = kept.remove(&state.number) {
        state.device.free(there, Memory::Device)?;
    }
    let there = state.device.alloc(size, 256, Memory::Device)?;
    kept.insert(state.number, (there, size));
    Ok(there)
}

/// Gives back what is kept on a device; whether there was anything.
pub(super) fn release(number: i32, device: &dyn Device) -> bool {
    let mut kept = KEPT.lock();
    let Some((there, _)) = kept.get_or_insert_default().remove(&number) else {
        return false;
    };
    device.free(there, Memory::Device).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlined_threads_with_slices_are_as_many_as_the_memory_holds() {
        // As many as iterations, spread over all blocks that run at once.
        assert_eq!(bounded(32, 1056, 256, 16384, 1 << 20), Some((512, 32)));
        assert_eq!(bounded(32, 1056, 256, 1 << 20, 1 << 20), Some((4096, 256)));
        // Never more than there are slices, nor less than a warp.
        assert_eq!(bounded(32, 16, 128, 256, 1000), Some((8, 32)));
        assert_eq!(bounded(32, 16, 128, 0, 100), Some((3, 32)));
        assert_eq!(bounded(32, 16, 128, 5, 40), Some((1, 32)));
        assert_eq!(bounded(32, 16, 128, 5, 31), None);
        for most in 32..3000 {
            let (blocks, threads) = bounded(32, 132, 256, 1 << 30, most).unwrap();
            assert!(u64::from(blocks) * u64::from(threads) <= most && blocks > 0);
        }
    }
}
