//! Ranges of addresses whose parts lie on several GPUs, by the driver's virtual memory management.
//!
//! A range is reserved once; each GPU's physical memory is mapped into its part, and all of the
//! GPUs get access to all of it, over their links. Parts follow each other in the order of the
//! GPUs, in whole units of the driver's granularity, so a loop over an array that gives each GPU a
//! contiguous share of the iterations finds nearly all of its elements in the GPU's own memory.
//!
//! Mapping takes milliseconds, so freed ranges are kept for the next allocation of the same size.

use super::driver::{self, Access, Location, Mapping, Physical};
use super::gpu::Gpu;
use crate::device::{Device, Failure, Result, Stripes};
use hashbrown::HashMap;
use parking_lot::Mutex;

/// Value of [`Location::kind`]: a device.
const DEVICE: u32 = 1;
/// Value of [`Physical::kind`]: pinned memory.
const PINNED: u32 = 1;
/// Value of [`Access::rights`]: reads and writes.
const READ_WRITE: u32 = 3;
/// Maximum total size of free ranges that are kept.
const MAX_KEPT: u64 = 8 << 30;

/// The mapped ranges of a group of GPUs, kept by the group's first one.
#[derive(Debug, Default)]
pub(super) struct StripedMemory(Mutex<Ranges>);

#[derive(Debug, Default)]
struct Ranges {
    /// Physical memory of each part, by the first address of a range.
    parts: HashMap<u64, Vec<Part>>,
    /// Free ranges by size.
    free: HashMap<u64, Vec<Stripes>>,
    /// Total size of the free ranges.
    kept: u64,
}

/// A mapped part of a range.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: u64,
    size: usize,
    handle: u64,
}

impl StripedMemory {
    /// Allocates a range over the GPUs, of which `gpu` is the first. Returns `None` if the driver
    /// cannot do so, or if the size is below one unit per GPU.
    pub(super) fn alloc(
        &self,
        gpu: &Gpu,
        devices: &[&dyn Device],
        size: u64,
    ) -> Result<Option<Stripes>> {
        let gpus = devices.iter().map(|d| d.as_any().downcast_ref::<Gpu>());
        let (Some(gpus), Some(mapping)) =
            (gpus.collect::<Option<Vec<&Gpu>>>(), &gpu.driver.mapping)
        else {
            return Ok(None);
        };
        let mut unit = 0;
        let physical = physical(gpu);
        // SAFETY: both pointers are valid; 0 asks for the minimum.
        let code = unsafe { (mapping.granularity)(&mut unit, &physical, 0) };
        gpu.check(code, "asking for the size of memory units", 0)?;
        let unit = unit as u64;
        let count = gpus.len() as u64;
        if unit == 0 || size < unit * count {
            return Ok(None);
        }
        let whole = size.next_multiple_of(unit);
        if let Some(free) = self.0.lock().take_free(whole) {
            return Ok(Some(free));
        }
        let units = whole / unit;
        let ends: Vec<u64> = (1..=count).map(|n| units * n / count * unit).collect();
        let made = match map(mapping, gpu, &gpus, &ends) {
            Err(Failure::OutOfMemory { .. }) if self.release_free(mapping) => {
                map(mapping, gpu, &gpus, &ends)?
            }
            result => result?,
        };
        let (start, parts) = made;
        self.0.lock().parts.insert(start, parts);
        Ok(Some(Stripes { start, ends }))
    }

    /// Keeps a range for a later allocation, or returns its memory to the driver if
    /// [`MAX_KEPT`] bytes are kept.
    pub(super) fn free(&self, gpu: &Gpu, stripes: &Stripes) {
        let (Some(&size), Some(mapping)) = (stripes.ends.last(), &gpu.driver.mapping) else {
            return;
        };
        let mut ranges = self.0.lock();
        if ranges.kept + size > MAX_KEPT {
            ranges.release(mapping, stripes);
            return;
        }
        ranges.kept += size;
        ranges.free.entry(size).or_default().push(stripes.clone());
    }

    /// Returns the memory of all free ranges to the driver. Returns true if there were any.
    fn release_free(&self, mapping: &Mapping) -> bool {
        let mut ranges = self.0.lock();
        let free: Vec<Stripes> = std::mem::take(&mut ranges.free)
            .into_values()
            .flatten()
            .collect();
        ranges.kept = 0;
        free.iter().for_each(|range| ranges.release(mapping, range));
        !free.is_empty()
    }
}

impl Ranges {
    fn take_free(&mut self, size: u64) -> Option<Stripes> {
        let range = self.free.get_mut(&size)?.pop()?;
        self.kept -= size;
        Some(range)
    }

    /// Returns a range's memory and addresses to the driver.
    fn release(&mut self, mapping: &Mapping, stripes: &Stripes) {
        unmap(
            mapping,
            &self.parts.remove(&stripes.start).unwrap_or_default(),
        );
        let size = stripes.ends.last().copied().unwrap_or(0);
        // SAFETY: nothing is mapped in the range any more.
        unsafe { (mapping.unreserve)(stripes.start, size as usize) };
    }
}

fn physical(gpu: &Gpu) -> Physical {
    Physical {
        kind: PINNED,
        exported: 0,
        location: location(gpu),
        metadata: 0,
        flags: 0,
    }
}

fn location(gpu: &Gpu) -> Location {
    Location {
        kind: DEVICE,
        device: gpu.ordinal(),
    }
}

/// Maps a range whose parts end at `ends`.
fn map(mapping: &Mapping, gpu: &Gpu, gpus: &[&Gpu], ends: &[u64]) -> Result<(u64, Vec<Part>)> {
    let size = ends.last().copied().unwrap_or(0);
    let mut start = 0;
    // SAFETY: the result pointer is valid.
    let code = unsafe { (mapping.reserve)(&mut start, size as usize, 0, 0, 0) };
    gpu.check(code, "reserving addresses", size)?;
    let mut parts = Vec::new();
    let mut code = 0;
    let mut from = 0;
    for (owner, &end) in gpus.iter().zip(ends) {
        let mut part = Part {
            start: start + from,
            size: (end - from) as usize,
            handle: 0,
        };
        from = end;
        let physical = physical(owner);
        // SAFETY: the pointers are valid, and the part lies in the reserved range, where nothing is
        // mapped.
        unsafe {
            code = (mapping.create)(&mut part.handle, part.size, &physical, 0);
            if code != 0 {
                break;
            }
            code = (mapping.map)(part.start, part.size, 0, part.handle, 0);
            if code != 0 {
                (mapping.release)(part.handle);
                break;
            }
        }
        parts.push(part);
    }
    if code == 0 {
        let access: Vec<Access> = gpus
            .iter()
            .map(|gpu| Access {
                location: location(gpu),
                rights: READ_WRITE,
            })
            .collect();
        // SAFETY: the range is mapped as a whole, and the list has the given length.
        code = unsafe { (mapping.set_access)(start, size as usize, access.as_ptr(), access.len()) };
    }
    if code == 0 {
        return Ok((start, parts));
    }
    unmap(mapping, &parts);
    // SAFETY: nothing is mapped in the range any more.
    unsafe { (mapping.unreserve)(start, size as usize) };
    if code == driver::code::NO_MEMORY {
        return Err(Failure::OutOfMemory { size });
    }
    gpu.check(code, "mapping memory of several GPUs", size)?;
    Err(Failure::OutOfMemory { size })
}

fn unmap(mapping: &Mapping, parts: &[Part]) {
    for part in parts {
        // SAFETY: the part is mapped, and nothing uses it.
        unsafe {
            (mapping.unmap)(part.start, part.size);
            (mapping.release)(part.handle);
        }
    }
}
