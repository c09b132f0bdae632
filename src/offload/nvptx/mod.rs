//! Code of devices: compiles a program's images to PTX for NVIDIA GPUs, or for the processors of
//! this machine, and caches the result.
//!
//! [`compile`] returns PTX for an architecture, from the cache of compiled programs or from
//! `llvm::nvptx`, linked with the math library found on the machine. The cache holds PTX and the
//! driver's machine code in separate entries, because the PTX is the same for every driver.
//!
//! Nothing here calls the driver; [`cuda`](super::cuda) does.

mod math_library;

use crate::device::{DeviceCode, ExecutionMode, Failure, Kernel, Result};
use ompvm_cache::CacheEntry;
use ompvm_llvm::Input;
use ompvm_llvm::nvptx::{Kernel as Known, Lowered, LoweringRequest, MathLibrary, lower};
use ompvm_llvm::processors::{self, ProcessorCode};
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

/// Returns a kernel as devices know it. The handle is the device's own.
pub fn kernel(known: &Known, handle: u64) -> Kernel {
    let environment = known.environment;
    Kernel {
        handle,
        mode: match environment.map(|e| e.mode) {
            None => ExecutionMode::Bare,
            Some(1) => ExecutionMode::Generic,
            Some(3) => ExecutionMode::GenericSpmd,
            Some(_) => ExecutionMode::Spmd,
        },
        threads: environment.map_or((0, 0), |e| e.threads),
        teams: environment.map_or((0, 0), |e| e.teams),
        reduction_size: environment.map_or(0, |e| e.reduction_size),
        reduction_length: environment.map_or(0, |e| e.reduction_length),
        any_grid: known.any_grid,
        argument_words: known.parameters,
        results: known.results,
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
    let since = Instant::now();
    let lowered = lower(&LoweringRequest {
        units: units(code),
        architecture,
        version: ptx_version(architecture),
        math_library,
        teams: code.teams,
        divided: code.divided,
        provided: None,
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

fn units(code: &DeviceCode) -> Vec<Input> {
    let units = code.units.iter().enumerate();
    units
        .map(|(index, bytes)| Input {
            name: format!("device image {index} of {}", code.name),
            bytes: bytes.clone(),
        })
        .collect()
}

/// Name of the code for processors in a cache entry.
const PROCESSORS: &str = "device-processors";

/// Architecture of GPUs for which code that processors run is analyzed.
pub(super) const ANALYZED: u32 = 90;

/// Compiles a program's images for the processors of this machine, or loads the code from the
/// cache. `provided` tells the functions that it may call.
///
/// # Errors
/// [`Failure::Image`] for damaged images.
pub fn compile_for_processors(
    code: &DeviceCode,
    provided: fn(&str) -> bool,
) -> Result<ProcessorCode> {
    let parts = code.units.iter().map(Vec::as_slice);
    let teams = code.teams.to_le_bytes();
    let kind = [u8::from(code.divided)];
    let entry = code
        .options
        .cache_entry(parts.chain([PROCESSORS.as_bytes(), &teams, &kind]));
    if let Some(entry) = &entry
        && let Some(bytes) = entry.bytes(PROCESSORS)
        && let Ok(known) = postcard::from_bytes(&bytes)
    {
        return Ok(known);
    }
    let since = Instant::now();
    let compiled = processors::lower(&LoweringRequest {
        units: units(code),
        architecture: ANALYZED,
        version: ptx_version(ANALYZED),
        math_library: MathLibrary::Missing,
        teams: code.teams,
        divided: code.divided,
        provided: Some(provided),
    })
    .map_err(Failure::Image)?;
    tracing::debug!(
        target: log::OFFLOAD,
        kernels = compiled.kernels.len(),
        bytes = compiled.object.len(),
        ms = %log::ms(since.elapsed()),
        "compiled an image for processors"
    );
    if let Some(entry) = &entry
        && let Ok(bytes) = postcard::to_allocvec(&compiled)
    {
        entry.put_bytes(PROCESSORS, &bytes);
    }
    Ok(compiled)
}
