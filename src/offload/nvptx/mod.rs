//! Code for NVIDIA GPUs: compiles a program's images to PTX and caches the result.
//!
//! [`compile`] returns PTX for an architecture, from the cache of compiled programs or from
//! `llvm::nvptx`, linked with the math library found on the machine. The cache holds PTX and the
//! driver's machine code in separate entries, because the PTX is the same for every driver.
//!
//! Nothing here calls the driver; [`cuda`](super::cuda) does.

mod math_library;

use crate::device::{DeviceCode, Failure, Result};
use ompvm_cache::CacheEntry;
use ompvm_llvm::Input;
use ompvm_llvm::nvptx::{Lowered, LoweringRequest, lower};
use ompvm_support::log;
use std::time::Instant;

/// Device code of a program for one GPU architecture.
#[derive(Debug)]
pub struct Compiled {
    /// PTX and kernel metadata.
    pub lowered: Lowered,
    /// Cache entry of the program.
    pub cache_entry: Option<CacheEntry>,
}

/// Returns the PTX version for an architecture: the oldest that supports it, so most drivers accept
/// it.
pub fn ptx_version(architecture: u32) -> u32 {
    match architecture {
        ..=75 => 63,
        80 => 70,
        86 => 71,
        87 => 74,
        81..=90 => 78,
        100 | 101 => 86,
        _ => 87,
    }
}

/// Returns the name of the PTX in a cache entry.
fn ptx_entry(architecture: u32) -> String {
    format!("device-sm_{architecture}")
}

/// Compiles a program's images for `sm_<architecture>`, or loads them from the cache of its engine,
/// whose settings say where the math library is.
///
/// # Errors
/// [`Failure::Image`] for damaged images.
pub fn compile(code: &DeviceCode, architecture: u32) -> Result<Compiled> {
    let options = &code.options;
    let math_library = math_library::find(options.settings);
    let digest = math_library::digest(&math_library);
    let parts = code.units.iter().map(Vec::as_slice);
    let teams = code.teams.to_le_bytes();
    let teams = (code.teams != 0).then_some(&teams[..]);
    let divided = code.divided.then_some(&b"divided"[..]);
    let cache_entry = options.cache_entry(
        parts
            .chain([&b"device"[..], &digest])
            .chain(teams)
            .chain(divided),
    );
    let name = ptx_entry(architecture);
    if let Some(cache_entry) = &cache_entry
        && let Some(bytes) = cache_entry.bytes(&name)
        && let Ok(lowered) = postcard::from_bytes::<Lowered>(&bytes)
    {
        return Ok(Compiled {
            lowered,
            cache_entry: Some(CacheEntry::clone(cache_entry)),
        });
    }
    let units = code
        .units
        .iter()
        .enumerate()
        .map(|(index, bytes)| Input {
            name: format!("device image {index} of {}", code.name),
            bytes: bytes.clone(),
        })
        .collect();
    let since = Instant::now();
    let lowered = lower(&LoweringRequest {
        units,
        architecture,
        version: ptx_version(architecture),
        math_library,
        teams: code.teams,
        divided: code.divided,
    })
    .map_err(Failure::Image)?;
    tracing::debug!(
        target: log::OFFLOAD,
        architecture,
        kernels = lowered.kernels.len(),
        ptx_bytes = lowered.ptx.len(),
        ms = %log::ms(since.elapsed()),
        "compiled an image to PTX"
    );
    if let Some(cache_entry) = &cache_entry
        && let Ok(bytes) = postcard::to_allocvec(&lowered)
    {
        cache_entry.put_bytes(&name, &bytes);
    }
    Ok(Compiled {
        lowered,
        cache_entry,
    })
}
