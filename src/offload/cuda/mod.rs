//! NVIDIA's GPUs through the CUDA driver.
//!
//! What: [`devices`] finds them; [`Gpu`] is one, as the host side of offload sees it. How: code is made by
//! `offload::nvptx` and kept as the driver's machine code ([`image`]); copies from and to memory that
//! is not pinned go through pinned buffers, filled by several threads while others are on their way
//! ([`staging`]); device memory that was given back is kept for the next who asks for that size
//! ([`memory`]). A launch does nothing but fill in its launch environment and call the driver.
//!
//! What not: no CUDA toolkit, no runtime library of CUDA's. Nothing is asked of the driver before
//! the program asks for devices.

mod driver;
mod gpu;
mod image;
mod memory;
mod queue;
mod registers;
mod staging;

pub use gpu::Gpu;

use super::device::Device;
use driver::Driver;
use std::sync::Arc;

/// The GPUs of this machine, in the driver's order, or why there are none though there is a driver.
///
/// # Errors
/// A sentence when the driver does not work.
pub fn devices() -> Result<Vec<Arc<dyn Device>>, String> {
    let Some(driver) = Driver::open()? else {
        return Ok(Vec::new());
    };
    let driver = Arc::new(driver);
    let mut count = 0;
    // SAFETY: the driver was started; the result has its place.
    let code = unsafe { (driver.count)(&mut count) };
    if code != 0 {
        return Err(format!(
            "the CUDA driver tells no devices: {}",
            driver.text(code)
        ));
    }
    let gpus = (0..count).map(|number| Gpu::open(&driver, number).map(|g| Arc::new(g) as _));
    gpus.collect()
}
