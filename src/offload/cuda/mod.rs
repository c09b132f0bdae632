//! NVIDIA GPUs through the CUDA driver.
//!
//! [`devices`] discovers them; [`Gpu`] implements [`Device`] for one. `offload::nvptx` makes the
//! code, which is cached as the driver's machine code ([`image`]). Copies of pageable memory go
//! through pinned buffers, which several threads fill while others are in transit ([`staging`]).
//! Freed device memory is kept for later allocations of the same size ([`memory`]). A launch only
//! fills in its launch environment and calls the driver.
//!
//! Neither the CUDA toolkit nor CUDA's runtime library is used. The driver is not called before the
//! program queries or uses devices.

mod driver;
mod gpu;
mod image;
mod imports;
mod memory;
mod paged;
mod queue;
mod registers;
mod staging;
mod striped;

pub use gpu::Gpu;

use super::device::Device;
use driver::Driver;
use ompvm_support::log;
use ompvm_support::settings::Settings;
use std::sync::Arc;

/// Returns the GPUs of this machine in the driver's order; none if there is no driver. `settings`
/// name the driver.
///
/// # Errors
/// A description of why the driver does not work.
pub fn devices(settings: &Settings) -> Result<Vec<Arc<dyn Device>>, String> {
    let Some(driver) = Driver::open(settings.cuda_driver.as_deref())? else {
        tracing::debug!(target: log::OFFLOAD, driver = ?settings.cuda_driver, "no CUDA driver");
        return Ok(Vec::new());
    };
    let driver = Arc::new(driver);
    let mut count = 0;
    // SAFETY: the driver is initialized, and the result pointer is valid.
    let code = unsafe { (driver.count)(&mut count) };
    if code != 0 {
        return Err(format!(
            "the CUDA driver reports no devices: {}",
            driver.text(code)
        ));
    }
    let gpus = (0..count).map(|number| Gpu::open(&driver, number).map(|g| Arc::new(g) as _));
    gpus.collect()
}
