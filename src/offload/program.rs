//! What a program brings along for devices: images, and the table of what is on both sides.
//!
//! The host's side of a region is found by the address of its entry; on a device by its name. A
//! program is registered when its data is placed in memory and forgotten when it goes.

use super::image::{self, Image};
use crate::support::error::Error;
use hashbrown::HashMap;
use parking_lot::RwLock;
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// One row of the section `llvm_offload_entries`.
#[repr(C)]
struct RawEntry {
    reserved: u64,
    version: u16,
    kind: u16,
    flags: u32,
    address: *const u8,
    name: *const c_char,
    size: u64,
    data: u64,
    aux: *const u8,
}

/// Bits of an entry's flags.
mod flag {
    pub const LINK: u32 = 1;
    pub const INDIRECT: u32 = 8;
    pub const REQUIRES: u32 = 16;
    pub const OPENMP: u16 = 1;
}

/// Bits of `requires`.
pub mod requires {
    /// `reverse_offload`.
    pub const REVERSE_OFFLOAD: u64 = 2;
    /// `unified_shared_memory`.
    pub const UNIFIED_SHARED_MEMORY: u64 = 8;
}

/// What is on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is on the host.
    pub address: usize,
    /// What it is called on devices.
    pub name: String,
    /// Its size; 0 for a kernel.
    pub size: u64,
    /// Whether the device has only a pointer to it (`declare target link`).
    pub link: bool,
    /// Whether it is a function that is called through pointers.
    pub indirect: bool,
}

/// A program's part for devices.
#[derive(Debug)]
pub struct Program {
    /// Tells programs apart.
    pub id: u64,
    /// Its name, for messages.
    pub name: String,
    /// Its images, of all architectures.
    pub images: Vec<Image>,
    /// Its table.
    pub entries: Vec<Entry>,
    /// What it requires of devices.
    pub requires: u64,
    /// Where its kernels are in the source; read when a message needs it.
    places: OnceLock<HashMap<String, String>>,
}

static REQUIRED: AtomicU64 = AtomicU64::new(0);
static PROGRAMS: RwLock<Vec<Arc<Program>>> = RwLock::new(Vec::new());
/// By the address on the host: the program and the entry's number.
type Regions = HashMap<usize, (Arc<Program>, usize)>;

static REGIONS: RwLock<Option<Regions>> = RwLock::new(None);

/// A piece of a section in memory.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Its address.
    pub start: usize,
    /// Its size.
    pub size: usize,
}

/// Keeps a program registered.
#[derive(Debug)]
pub struct Registration(Arc<Program>);

/// Registers what a program brings along; `None` when that is nothing.
///
/// # Safety
/// The pieces are live memory for as long as the registration, and hold what compilers put into the
/// section `llvm_offload_entries`; `images` is the contents of `.llvm.offloading`.
///
/// # Errors
/// [`Error::Input`] for a damaged image.
pub unsafe fn register(
    name: &str,
    entries: &[Piece],
    images: &[Vec<u8>],
) -> Result<Option<Registration>, Error> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    if entries.is_empty() && images.is_empty() {
        return Ok(None);
    }
    let mut program = Program {
        id: NUMBER.fetch_add(1, Ordering::Relaxed),
        name: name.to_owned(),
        images: Vec::new(),
        entries: Vec::new(),
        requires: 0,
        places: OnceLock::new(),
    };
    for bytes in images {
        let read = image::read(bytes).map_err(|cause| Error::Input {
            file: name.to_owned(),
            cause: format!("its device image is damaged: {cause}"),
        })?;
        program.images.extend(read);
    }
    for piece in entries {
        let count = piece.size / size_of::<RawEntry>();
        for n in 0..count {
            // SAFETY: the caller's contract; rows follow each other.
            let row = unsafe { &*(piece.start as *const RawEntry).add(n) };
            if row.kind != flag::OPENMP {
                continue;
            }
            if row.flags & flag::REQUIRES != 0 {
                program.requires |= row.data;
                continue;
            }
            if row.name.is_null() {
                continue;
            }
            program.entries.push(Entry {
                address: row.address as usize,
                // SAFETY: a constant text of the program.
                name: unsafe { CStr::from_ptr(row.name) }
                    .to_string_lossy()
                    .into_owned(),
                size: row.size,
                link: row.flags & flag::LINK != 0,
                indirect: row.flags & flag::INDIRECT != 0,
            });
        }
    }
    let program = Arc::new(program);
    let mut regions = REGIONS.write();
    let regions = regions.get_or_insert_default();
    for (n, entry) in program.entries.iter().enumerate() {
        regions.insert(entry.address, (program.clone(), n));
    }
    REQUIRED.fetch_or(program.requires, Ordering::Relaxed);
    PROGRAMS.write().push(program.clone());
    Ok(Some(Registration(program)))
}

impl Drop for Registration {
    fn drop(&mut self) {
        PROGRAMS.write().retain(|p| p.id != self.0.id);
        if let Some(regions) = &mut *REGIONS.write() {
            regions.retain(|_, (p, _)| p.id != self.0.id);
        }
        super::devices::forget(&self.0);
    }
}

/// What programs have required of devices.
pub fn required() -> u64 {
    REQUIRED.load(Ordering::Relaxed)
}

/// True if a program requires that devices reach all of the host's memory.
pub fn is_unified() -> bool {
    required() & requires::UNIFIED_SHARED_MEMORY != 0
}

/// Returns the place of a region in the source, by the address of its entry on the host: as debug information of
/// the device image tells, else as far as the name tells.
pub fn place(address: usize) -> Option<String> {
    let (program, entry) = find(address)?;
    let name = &program.entries[entry].name;
    let places = program.places.get_or_init(|| {
        let units = program.images.iter().map(|i| i.bytes.as_slice());
        crate::llvm::device::kernel_places(units)
    });
    // `__omp_offloading_<device>_<file>_<function>_l<line>`.
    let rest = name.strip_prefix("__omp_offloading_")?;
    let (function, line) = rest.splitn(3, '_').nth(2)?.rsplit_once("_l")?;
    Some(match places.get(name) {
        Some(place) => format!("{place} ({function})"),
        None => format!("line {line} of `{function}`"),
    })
}

/// All programs.
pub fn all() -> Vec<Arc<Program>> {
    PROGRAMS.read().clone()
}

/// The program of an entry on the host, and the entry's number.
pub fn find(address: usize) -> Option<(Arc<Program>, usize)> {
    REGIONS.read().as_ref()?.get(&address).cloned()
}
