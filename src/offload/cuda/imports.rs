//! Device memory of other processes of the host.
//!
//! A process gives away a handle of an allocation, another one opens it and can then copy from and
//! to it over the links between GPUs, without the host. The driver refuses where processes are
//! isolated from each other; copies then go through the host.

use super::driver::{LINK_LATER, MemoryHandle};
use super::gpu::Gpu;
use hashbrown::HashMap;
use ompvm_support::log;
use parking_lot::Mutex;

/// First bytes of a handle. The driver's handle and the offset in its allocation follow.
const KIND: &[u8] = b"cuda";

/// Memory of other processes that a GPU has opened: the driver's address for each address in use.
#[derive(Debug, Default)]
pub(super) struct Imports(Mutex<HashMap<u64, u64>>);

/// Returns a handle of device memory. `None` if the driver gives none.
pub(super) fn export(gpu: &Gpu, address: u64) -> Option<Vec<u8>> {
    let sharing = gpu.driver.sharing.as_ref()?;
    let start = gpu.pool.allocation(address)?;
    let mut handle = MemoryHandle([0; 64]);
    // SAFETY: the result pointer is valid, and the driver checks the address.
    let code = unsafe { (sharing.export)(&mut handle, start) };
    if code != 0 {
        tracing::debug!(target: log::OFFLOAD, why = gpu.driver.text(code), "gave no handle of memory");
        return None;
    }
    Some([KIND, &handle.0, &(address - start).to_le_bytes()].concat())
}

impl Imports {
    /// Opens memory of another process and returns its address here. `None` if the driver refuses.
    pub(super) fn open(&self, gpu: &Gpu, handle: &[u8]) -> Option<u64> {
        let sharing = gpu.driver.sharing.as_ref()?;
        let (handle, offset) = handle.strip_prefix(KIND)?.split_first_chunk::<64>()?;
        let offset = u64::from_le_bytes(offset.try_into().ok()?);
        let mut start = 0;
        // SAFETY: the result pointer is valid, and the driver checks the handle.
        let code = unsafe { (sharing.import)(&mut start, MemoryHandle(*handle), LINK_LATER) };
        if code != 0 {
            tracing::debug!(
                target: log::OFFLOAD,
                why = gpu.driver.text(code),
                "cannot open memory of another process"
            );
            return None;
        }
        let address = start + offset;
        self.0.lock().insert(address, start);
        Some(address)
    }

    /// Closes memory of another process, if it is open.
    pub(super) fn close(&self, gpu: &Gpu, address: u64) {
        let (Some(sharing), Some(start)) = (&gpu.driver.sharing, self.0.lock().remove(&address))
        else {
            return;
        };
        // SAFETY: the address comes from `open`, and nobody uses it any more.
        let code = unsafe { (sharing.close)(start) };
        if code != 0 {
            tracing::debug!(target: log::OFFLOAD, why = gpu.driver.text(code), "closed no memory");
        }
    }
}
