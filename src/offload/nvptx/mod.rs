//! Code for NVIDIA's GPUs: what a program's images become, and where that is kept.
//!
//! What: [`compile`] gives PTX for an architecture, from the cache of compiled programs or from
//! `llvm::nvptx`, with the library of mathematics that the machine has. Why the cache holds PTX and, in
//! an entry of its own, the driver's machine code: the first is the same for every driver.
//!
//! What not: nothing calls the driver (`offload::cuda`).

mod library;

use crate::llvm::Input;
use crate::llvm::cache::{Cache, Shelf};
use crate::llvm::nvptx::{Lowered, Request, lower};
use crate::offload::device::{Code, Failure, Result};
use parking_lot::Mutex;

static CACHE: Mutex<Option<Cache>> = Mutex::new(None);

/// Says where compiled device code is kept from now on. Without this, nowhere.
pub fn keep(cache: Option<Cache>) {
    *CACHE.lock() = cache;
}

/// Where something that is made of these pieces is kept, if anywhere.
pub fn shelf<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<Shelf> {
    let cache = CACHE.lock().clone();
    cache.and_then(|c| c.shelf(pieces))
}

/// A program's device code for one kind of GPU.
#[derive(Debug)]
pub struct Compiled {
    /// PTX and what is known of the kernels.
    pub lowered: Lowered,
    /// Where more can be kept.
    pub shelf: Option<Shelf>,
}

/// The version of PTX for an architecture: the oldest that has it, so that most drivers take it.
pub fn version(architecture: u32) -> u32 {
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

/// The name of an entry of the cache.
fn entry(architecture: u32) -> String {
    format!("device-sm_{architecture}")
}

/// Compiles a program's images for `sm_<architecture>`, or takes what was compiled before.
///
/// # Errors
/// [`Failure::Image`] for damaged images.
pub fn compile(code: &Code, architecture: u32) -> Result<Compiled> {
    let mathematics = library::find();
    let digest = library::digest(&mathematics);
    let parts = code.units.iter().map(Vec::as_slice);
    let teams = code.teams.to_le_bytes();
    let teams = (code.teams != 0).then_some(&teams[..]);
    let shelf = shelf(parts.chain([&b"device"[..], &digest]).chain(teams));
    let name = entry(architecture);
    if let Some(shelf) = &shelf
        && let Some(bytes) = shelf.bytes(&name)
        && let Ok(lowered) = postcard::from_bytes::<Lowered>(&bytes)
    {
        return Ok(Compiled {
            lowered,
            shelf: Some(Shelf::clone(shelf)),
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
    let lowered = lower(&Request {
        units,
        architecture,
        version: version(architecture),
        mathematics,
        teams: code.teams,
    })
    .map_err(Failure::Image)?;
    if let Some(shelf) = &shelf
        && let Ok(bytes) = postcard::to_allocvec(&lowered)
    {
        shelf.put_bytes(&name, &bytes);
    }
    Ok(Compiled { lowered, shelf })
}
