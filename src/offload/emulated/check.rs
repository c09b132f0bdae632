//! Checks that device code calls before each access, and the diagnosis of faults.

use super::arena::{AddressInfo, OFFSET, SHARED_TAG, TAG};
use super::block::{self, Block};
use crate::device::{Failure, Fault};

/// Addresses below this count as an offset from a null pointer.
const NULL_PAGE: u64 = 4096;

/// Checks a read and returns the host address of the bytes.
pub extern "C" fn read(address: u64, size: u64, place: u64) -> *mut u8 {
    access(address, size, place, false)
}

/// Checks a write and returns the host address of the bytes.
pub extern "C" fn write(address: u64, size: u64, place: u64) -> *mut u8 {
    access(address, size, place, true)
}

#[inline]
fn access(address: u64, size: u64, place: u64, write: bool) -> *mut u8 {
    // SAFETY: only device code calls this, on the thread of a block.
    let block = unsafe { block::current() };
    if let Some(host) = block.grid.arena.translate(address, size.max(1)) {
        return host;
    }
    access_slow(block, address, size, place, write)
}

#[cold]
fn access_slow(
    block: &mut Block<'static>,
    address: u64,
    size: u64,
    place: u64,
    write: bool,
) -> *mut u8 {
    if let Some(host) = block.shared_at(address, size) {
        return host;
    }
    let (low, high) = block.stack();
    let at = address as usize;
    if at >= low && at < high && high - at >= size as usize {
        return at as *mut u8;
    }
    let peers = block.grid.peers;
    if let Some(host) = peers.iter().find_map(|p| p.translate(address, size.max(1))) {
        return host;
    }
    let unified = block.grid.unified && address & TAG == 0 && address >= NULL_PAGE;
    if size == 0 || unified || super::is_shared_host_memory(address, size) {
        return at as *mut u8;
    }
    // SAFETY: only device code calls this, on a fiber of the block.
    unsafe { block::fail(access_fault(block, address, size, place, write)) };
    std::ptr::null_mut()
}

/// Checks a pointer that is passed to a built-in function; returns its host address.
///
/// # Safety
/// Must be called by device code.
pub unsafe fn checked_pointer(address: u64, size: u64) -> *mut u8 {
    read(address, size, 0)
}

fn access_fault(
    block: &Block<'static>,
    address: u64,
    size: u64,
    place: u64,
    write: bool,
) -> Failure {
    let how = if write { "a write" } else { "a read" };
    let bytes = if size == 1 { "byte" } else { "bytes" };
    let peers = block.grid.peers.iter().map(|p| &**p);
    let owner = peers.into_iter().find(|p| p.owns(address));
    let arena = owner.unwrap_or(block.grid.arena);
    let (what, help) = if address < NULL_PAGE {
        (format!("through a null pointer ({address:#x})"), None)
    } else if arena.owns(address) {
        match arena.describe(address) {
            AddressInfo::Live(start, len) => {
                let side = if address >= start {
                    format!("{} bytes into", address - start)
                } else {
                    format!("{} bytes before", start - address)
                };
                (
                    format!("at {address:#x}, {side} a block of {len} bytes on the device"),
                    Some("an index out of bounds, or a map clause that maps too little?"),
                )
            }
            AddressInfo::Freed(start, len) => (
                format!(
                    "at {address:#x}, in a block of {len} bytes at {start:#x} that was freed on \
                     the device"
                ),
                Some("a pointer that is used after its mapping ended?"),
            ),
            AddressInfo::Nothing => (
                format!("at {address:#x}, where nothing is allocated on the device"),
                Some("an index far out of bounds?"),
            ),
        }
    } else if address & !OFFSET == TAG | SHARED_TAG {
        (
            format!(
                "at offset {:#x} of a block's shared memory, which has {} bytes",
                address & OFFSET,
                block.grid.shared
            ),
            None,
        )
    } else if address & TAG != 0 && address >> 63 == 0 {
        (
            format!("at {address:#x}, an address of another device"),
            None,
        )
    } else {
        (
            format!("at {address:#x}, an address of the host"),
            Some("a missing map clause, or a pointer in a structure that was not mapped?"),
        )
    };
    fault(
        place,
        format!("{how} of {size} {bytes} {what}"),
        help.map(str::to_owned),
    )
}

/// Returns a fault of the calling thread at the source location with the given index.
pub fn fault(place: u64, what: String, help: Option<String>) -> Failure {
    // SAFETY: only device code calls this, on the thread of a block.
    let block = unsafe { block::current() };
    let place = block
        .grid
        .places
        .get(place as usize)
        .filter(|p| p.1 != 0)
        .map(|(file, line)| format!("{file}:{line}"));
    Failure::Fault(Box::new(Fault {
        what,
        place,
        thread: Some((block.number(), block.thread())),
        help,
    }))
}

/// Checks the target of an indirect call.
pub extern "C" fn call(function: u64, place: u64) {
    // SAFETY: only device code calls this, on the thread of a block.
    let block = unsafe { block::current() };
    if block
        .grid
        .functions
        .binary_search(&(function as usize))
        .is_ok()
    {
        return;
    }
    let help = "a pointer to a function of the host, which is not `declare target indirect`?";
    let failure = fault(
        place,
        format!("a call of {function:#x}, which is no function of the device"),
        Some(help.into()),
    );
    // SAFETY: only device code calls this, on a fiber of the block.
    unsafe { block::fail(failure) };
}

/// Checks a division; `place` is all ones if the divisor is not zero.
pub extern "C" fn division(place: u64) -> u64 {
    if place != u64::MAX {
        // SAFETY: only device code calls this, on a fiber of the block.
        unsafe { block::fail(fault(place, "an integer division by zero".into(), None)) };
    }
    0
}
