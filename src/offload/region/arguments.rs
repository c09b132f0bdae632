//! The argument words of a region's kernel, and what they lead to.
//!
//! A word is a value, the device address of a mapped item, or the address of a private copy, which
//! belongs to one launch. Beside each word stands the section of memory that it leads to, by which a
//! group of devices divides the launch. Items are mapped before, by
//! [`DataConstruct::enter`](crate::map::data::DataConstruct::enter).

use crate::device::{Device, Kernel, MemoryKind, Section};
use crate::devices::DeviceState;
use crate::host_access;
use crate::map::data::DataConstruct;
use crate::map::items::{MapArrays, MapItem};
use crate::map::map_type;

/// The flags of a pointer that a closure captured.
const CAPTURE: u64 = map_type::PTR_AND_OBJ | map_type::LITERAL | map_type::IMPLICIT;

/// Returns the indices of the items that the kernel accesses where its reduction ends, and whose
/// memory no other item leads to.
///
/// # Safety
/// `arrays` must be those of the compiler.
pub(super) unsafe fn results(
    arrays: &MapArrays,
    device: &dyn Device,
    kernel: &Kernel,
    items: &[MapItem],
) -> Vec<usize> {
    if kernel.results == 0 || !device.accesses_host_blocks() {
        return Vec::new();
    }
    // SAFETY: by this function's contract, the arrays have `count` elements.
    let is_parameter =
        |&n: &usize| unsafe { *arrays.map_types.add(n) } & map_type::TARGET_PARAM != 0;
    // The launch environment is the first argument word.
    let parameters = (0..arrays.count).filter(is_parameter).zip(1..64);
    let results = parameters.filter(|(_, word)| kernel.results >> word & 1 != 0);
    let alone = |n: usize| {
        let Some(item) = items.iter().find(|item| item.index == Some(n)) else {
            return false;
        };
        let range = item.begin
            ..item
                .begin
                .saturating_add(usize::try_from(item.size).unwrap_or(0));
        let mut others = items.iter().filter(|other| other.index != Some(n));
        let apart = |other: &MapItem| {
            !range.contains(&other.begin) && !range.contains(&other.base) && !other.is_member()
        };
        let special = map_type::PTR_AND_OBJ | map_type::ATTACH | map_type::CLOSE;
        item.map_type & special == 0
            && item.is(map_type::FROM)
            && !item.is_private()
            && others.all(apart)
    };
    results.map(|(n, _)| n).filter(|&n| alone(n)).collect()
}

/// Appends the kernel's argument words, one for each item that is an argument, and the sections of
/// memory that they lead to, and allocates private copies.
///
/// # Safety
/// `arrays` must be those of the compiler.
pub(super) unsafe fn kernel_words(
    arrays: &MapArrays,
    data: &mut DataConstruct<'_>,
    (words, sections): (&mut Vec<u64>, &mut Vec<Section>),
    private_copies: &mut Vec<u64>,
) -> crate::device::Result<()> {
    // The private copies by the numbers of their items, with the variables' addresses.
    let mut closures: Vec<(usize, u64, usize)> = Vec::new();
    for n in 0..arrays.count {
        // SAFETY: by this function's contract, the arrays have `count` elements.
        let (map_type, mut base, begin, size) = unsafe {
            (
                *arrays.map_types.add(n),
                *arrays.bases.add(n),
                *arrays.begins.add(n),
                usize::try_from(*arrays.sizes.add(n)).unwrap_or(0),
            )
        };
        let is = |bit: u64| map_type & bit != 0;
        if !is(map_type::TARGET_PARAM) {
            let parent = (map_type >> 48).wrapping_sub(1);
            let parent = closures.iter().find(|(n, ..)| *n as u64 == parent);
            if map_type & CAPTURE == CAPTURE
                && let Some(&(_, copy, variable)) = parent
            {
                let slot = copy.wrapping_add((base as u64).wrapping_sub(variable as u64));
                capture(data, slot, begin, size)?;
            }
            continue;
        }
        if is(map_type::LITERAL) {
            words.push(base as u64);
            sections.push(Section {
                start: base as u64,
                size: 0,
            });
            continue;
        }
        if is(map_type::PRIVATE) {
            let copy = data
                .device
                .alloc(size.max(1) as u64, 64, MemoryKind::Device)?;
            private_copies.push(copy);
            closures.push((n, copy, begin));
            if is(map_type::TO) && size > 0 {
                host_access::during(begin, size, false, || {
                    // SAFETY: a private item is a variable of the program with `size` bytes.
                    unsafe {
                        data.device
                            .upload(data.queue, copy, begin as *const u8, size)
                    }
                })?;
                data.traffic.to += size as u64;
            }
            words.push(copy.wrapping_sub((begin as u64).wrapping_sub(base as u64)));
            sections.push(Section {
                start: copy,
                size: size as u64,
            });
            continue;
        }
        if is(map_type::PTR_AND_OBJ) {
            // SAFETY: the base of a `PTR_AND_OBJ` item is the address of a pointer.
            base = unsafe { *(base as *const usize) };
        }
        let delta = (begin as u64).wrapping_sub(base as u64);
        let there = data
            .table
            .translate(begin, if is(map_type::IMPLICIT) { 0 } else { size });
        let there = there.or_else(|| data.table.translate(begin, 0));
        // A variable that the program names in no map clause may begin before the part of it that
        // is mapped.
        let there = there.or_else(|| {
            let implicit = is(map_type::IMPLICIT);
            implicit.then(|| data.table.extrapolate(begin, size))?
        });
        // If the range is not mapped, the pointer keeps its value (OpenMP 5.2, section 5.8.6).
        words.push(there.map_or(base as u64, |device| device.wrapping_sub(delta)));
        sections.push(Section {
            start: there.unwrap_or(base as u64),
            size: size as u64,
        });
    }
    Ok(())
}

/// Makes a pointer that a closure captured, whose private copy has it at `slot`, lead to the
/// device's memory. If nothing is mapped at `begin`, the pointer keeps its value.
fn capture(
    data: &mut DataConstruct<'_>,
    slot: u64,
    begin: usize,
    size: usize,
) -> crate::device::Result<()> {
    let Some(device) = data.table.translate(begin, size) else {
        return Ok(());
    };
    let bytes = device.to_ne_bytes();
    // SAFETY: the bytes are readable until the return, when copies on the synchronous queue of a
    // region are complete.
    unsafe {
        data.device
            .upload(data.queue, slot, bytes.as_ptr(), bytes.len())?
    };
    data.traffic.to += bytes.len() as u64;
    Ok(())
}

/// Frees the private copies of a launch.
pub(super) fn free_private_copies(state: &DeviceState, private_copies: &[u64]) {
    for &address in private_copies {
        // Freeing may fail only on a device that has failed, where nothing can be freed.
        let _ = state.device.free(address, MemoryKind::Device);
    }
}
