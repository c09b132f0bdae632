//! Copies of device memory for the case that a kernel fails.
//!
//! A failed kernel may have changed part of a block whose current contents only the device has. If
//! the device's memory survives such a failure, the block gets its contents back from a snapshot on
//! the device. Blocks that the host has, too, need none: the device's copy becomes invalid. If the
//! memory does not survive, [`super::launch`] has the host keep a copy before a kernel's first run.

use super::launch_inputs::Resident;
use super::residency::Objects;
use ompvm_offload::device::{Failure, MemoryKind, Queue};
use ompvm_offload::devices::DeviceState;

/// The saved contents of a block.
pub(super) struct Snapshot {
    /// Host address of the block.
    start: usize,
    /// Device address of the copy.
    copy: u64,
    /// Size in bytes.
    size: u64,
}

/// Saves the contents of blocks that a kernel changes and that only the device has, if device
/// memory survives failing kernels.
pub(super) fn save(
    state: &DeviceState,
    residents: &[Resident],
    objects: &mut Objects,
) -> Result<Vec<Snapshot>, Failure> {
    let mut made = Vec::new();
    if !state.device.survives_faults() {
        return Ok(made);
    }
    for resident in residents.iter().filter(|r| r.write) {
        let start = resident.block.start;
        let Some(object) = objects.get(start).filter(|o| !o.on_host) else {
            continue;
        };
        let size = object.size as u64;
        let copy = state.device.alloc(size, 256, MemoryKind::Device);
        let done = copy.and_then(|copy| {
            made.push(Snapshot { start, copy, size });
            state.device.copy(Queue::SYNC, copy, object.device, size)
        });
        if let Err(failure) = done {
            free(state, &made);
            return Err(failure);
        }
    }
    Ok(made)
}

/// Gives the blocks that a failed run may have written their earlier contents: from the snapshot,
/// or from the host's copy.
pub(super) fn restore(
    state: &DeviceState,
    residents: &[Resident],
    snapshots: &[Snapshot],
    objects: &mut Objects,
) {
    for &Snapshot { start, copy, size } in snapshots {
        if let Some(object) = objects.get(start) {
            let _ = state.device.copy(Queue::SYNC, object.device, copy, size);
            object.on_device = true;
        }
    }
    for resident in residents.iter().filter(|r| r.write) {
        let start = resident.block.start;
        if !snapshots.iter().any(|s| s.start == start) {
            objects.invalidate_device_copy(start);
        }
    }
    free(state, snapshots);
}

/// Frees snapshots.
pub(super) fn free(state: &DeviceState, snapshots: &[Snapshot]) {
    for snapshot in snapshots {
        // Freeing may fail only on a device that has failed, where nothing can be freed.
        let _ = state.device.free(snapshot.copy, MemoryKind::Device);
    }
}
