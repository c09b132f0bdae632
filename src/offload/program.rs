//! The device part of a program: images and offload entries.
//!
//! A region is found by the address of its entry on the host and by its name on a device. A program
//! is registered when its data is placed in memory and unregistered when it is dropped.

use super::devices;
use super::image::{self, Image};
use super::options::OffloadOptions;
use hashbrown::HashMap;
use ompvm_support::error::Error;
use parking_lot::RwLock;
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A row of the section `llvm_offload_entries`.
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

/// Flags and kinds of an entry.
mod entry_flag {
    pub const LINK: u32 = 1;
    pub const INDIRECT: u32 = 8;
    pub const REQUIRES: u32 = 16;
    pub const OPENMP: u16 = 1;
}

/// Bits of the `requires` directive.
pub mod requires {
    /// `reverse_offload`.
    pub const REVERSE_OFFLOAD: u64 = 2;
    /// `unified_shared_memory`.
    pub const UNIFIED_SHARED_MEMORY: u64 = 8;
}

/// An offload entry: a kernel, variable or function that exists on the host and on devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Host address.
    pub address: usize,
    /// Symbol name on devices.
    pub name: String,
    /// Size in bytes; 0 for a kernel.
    pub size: u64,
    /// True if the device has only a pointer to it (`declare target link`).
    pub link: bool,
    /// True for a function that is called through pointers.
    pub indirect: bool,
}

/// The device part of a program.
#[derive(Debug)]
pub struct Program {
    /// Unique number of the program.
    pub id: u64,
    /// Name for messages.
    pub name: String,
    /// Device images of all architectures.
    pub images: Vec<Image>,
    /// Offload entries.
    pub entries: Vec<Entry>,
    /// Device features that it requires; see [`requires`].
    pub requires: u64,
    /// Settings of the program.
    pub options: OffloadOptions,
    /// Source locations of kernels, read when a message first needs them.
    places: OnceLock<HashMap<String, String>>,
}

/// Maps an entry's host address to its program and index.
type EntriesByAddress = HashMap<usize, (Arc<Program>, usize)>;

/// The registered programs of a process.
struct Programs {
    list: RwLock<Vec<Arc<Program>>>,
    entries: RwLock<Option<EntriesByAddress>>,
    /// Device features that the programs in the list require.
    required: AtomicU64,
    /// Number of the next program.
    next: AtomicU64,
}

/// The programs of this process: the entries of the runtime know only host addresses, which are
/// unique in the process.
static PROGRAMS: Programs = Programs {
    list: RwLock::new(Vec::new()),
    entries: RwLock::new(None),
    required: AtomicU64::new(0),
    next: AtomicU64::new(0),
};

impl Programs {
    /// Changes the list, and with it the required features.
    fn update(&self, change: impl FnOnce(&mut Vec<Arc<Program>>)) {
        let mut list = self.list.write();
        change(&mut list);
        let required = list.iter().fold(0, |all, program| all | program.requires);
        self.required.store(required, Ordering::Relaxed);
    }
}

/// Part of a section in memory.
#[derive(Clone, Copy, Debug)]
pub struct SectionPiece {
    /// Address.
    pub start: usize,
    /// Size in bytes.
    pub size: usize,
}

/// Keeps a program registered until it is dropped.
#[derive(Debug)]
pub struct Registration(Arc<Program>);

/// Registers the device part of a program. Returns `None` if the program has none.
///
/// # Safety
/// The pieces must be live memory for as long as the registration, with the contents that compilers
/// put into the section `llvm_offload_entries`. `images` are the contents of `.llvm.offloading`.
///
/// # Errors
/// [`Error::Input`] for a damaged image.
pub unsafe fn register(
    name: &str,
    entries: &[SectionPiece],
    images: &[Vec<u8>],
    options: &OffloadOptions,
) -> Result<Option<Registration>, Error> {
    if entries.is_empty() && images.is_empty() {
        return Ok(None);
    }
    let mut program = Program {
        id: PROGRAMS.next.fetch_add(1, Ordering::Relaxed),
        name: name.to_owned(),
        images: Vec::new(),
        entries: Vec::new(),
        requires: 0,
        options: options.clone(),
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
            // SAFETY: by this function's contract, the piece is an array of rows; `n` is below its
            // length.
            let row = unsafe { &*(piece.start as *const RawEntry).add(n) };
            if row.kind != entry_flag::OPENMP {
                continue;
            }
            if row.flags & entry_flag::REQUIRES != 0 {
                program.requires |= row.data;
                continue;
            }
            if row.name.is_null() {
                continue;
            }
            program.entries.push(Entry {
                address: row.address as usize,
                // SAFETY: a non-null name points to a zero-terminated constant of the program.
                name: unsafe { CStr::from_ptr(row.name) }
                    .to_string_lossy()
                    .into_owned(),
                size: row.size,
                link: row.flags & entry_flag::LINK != 0,
                indirect: row.flags & entry_flag::INDIRECT != 0,
            });
        }
    }
    let program = Arc::new(program);
    let mut regions = PROGRAMS.entries.write();
    let regions = regions.get_or_insert_default();
    for (n, entry) in program.entries.iter().enumerate() {
        regions.insert(entry.address, (program.clone(), n));
    }
    PROGRAMS.update(|list| list.push(program.clone()));
    if !program.images.is_empty() {
        let images = program.images.iter().map(|image| &image.bytes[..]);
        devices::expect(|| program.options.cache_entry(images));
    }
    Ok(Some(Registration(program)))
}

impl Drop for Registration {
    fn drop(&mut self) {
        devices::record_run();
        PROGRAMS.update(|list| list.retain(|p| p.id != self.0.id));
        if let Some(regions) = &mut *PROGRAMS.entries.write() {
            regions.retain(|_, (p, _)| p.id != self.0.id);
        }
        super::devices::unload(&self.0);
    }
}

/// Returns the device features that the programs require.
pub fn required() -> u64 {
    PROGRAMS.required.load(Ordering::Relaxed)
}

/// Returns true if a program requires that devices access all host memory.
pub fn is_unified() -> bool {
    required() & requires::UNIFIED_SHARED_MEMORY != 0
}

/// Returns the source location of a region, by the host address of its entry. Uses the debug
/// information of the device image, or else the line that the entry's name contains.
pub fn source_location(address: usize) -> Option<String> {
    let (program, entry) = find_entry(address)?;
    let name = &program.entries[entry].name;
    let places = program.places.get_or_init(|| {
        let units = program.images.iter().map(|i| i.bytes.as_slice());
        ompvm_llvm::device::kernel_locations(units)
    });
    // `__omp_offloading_<device>_<file>_<function>_l<line>`.
    let rest = name.strip_prefix("__omp_offloading_")?;
    let (function, line) = rest.splitn(3, '_').nth(2)?.rsplit_once("_l")?;
    Some(match places.get(name) {
        Some(place) => format!("{place} ({function})"),
        None => format!("line {line} of `{function}`"),
    })
}

/// Returns all registered programs.
pub fn all_programs() -> Vec<Arc<Program>> {
    PROGRAMS.list.read().clone()
}

/// Returns the program and the index of the entry with the given host address.
pub fn find_entry(address: usize) -> Option<(Arc<Program>, usize)> {
    PROGRAMS.entries.read().as_ref()?.get(&address).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Registers a program with one row for `requires`.
    fn requiring(features: u64) -> (Registration, Box<RawEntry>) {
        let row = Box::new(RawEntry {
            reserved: 0,
            version: 1,
            kind: entry_flag::OPENMP,
            flags: entry_flag::REQUIRES,
            address: std::ptr::null(),
            name: std::ptr::null(),
            size: 0,
            data: features,
            aux: std::ptr::null(),
        });
        let piece = SectionPiece {
            start: std::ptr::from_ref(&*row) as usize,
            size: size_of::<RawEntry>(),
        };
        let options = OffloadOptions::default();
        // SAFETY: the row outlives the registration, beside which it is returned.
        let registration = unsafe { register("test", &[piece], &[], &options) };
        (registration.unwrap().unwrap(), row)
    }

    #[test]
    fn offload_requirements_end_with_their_program() {
        let (shared, reverse) = (requires::UNIFIED_SHARED_MEMORY, requires::REVERSE_OFFLOAD);
        assert_eq!(required(), 0);
        let first = requiring(shared);
        assert!(is_unified());
        let second = requiring(reverse);
        let third = requiring(shared);
        assert_eq!(required(), shared | reverse);
        drop(first);
        assert_eq!(required(), shared | reverse);
        drop(second);
        assert_eq!(required(), shared);
        drop(third);
        assert_eq!(required(), 0);
    }
}
