//! Ranges of addresses whose parts lie on several GPUs, by the driver's virtual memory management.
//!
//! A range is reserved once; each GPU's physical memory is mapped into its part, and all of the
//! GPUs get access to all of it, over their links. Parts follow each other in the order of the
//! GPUs, in whole units of the driver's granularity, so a loop over an array that gives each GPU a
//! contiguous share of the iterations finds nearly all of its elements in the GPU's own memory.
//!
//! A range can be moved: new memory is mapped elsewhere first, the contents are copied, and then
//! the new memory takes the place of the old, at the same addresses.
//!
//! Mapping takes milliseconds, so freed ranges are kept for the next allocation of the same size.

use super::driver::{self, Access, Location, Mapping, Physical};
use super::gpu::Gpu;
use crate::device::{Device, Failure, Queue, Result, StripedPart, Stripes};
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
/// Size of a GPU's part below which one GPU alone is as fast: about two microseconds of its
/// memory's rate, less than what a launch on another GPU costs.
const SMALLEST_PART: u64 = 8 << 20;

/// The mapped ranges of a group of GPUs, kept by the group's first one.
#[derive(Debug, Default)]
pub(super) struct StripedMemory(Mutex<Ranges>);

#[derive(Debug, Default)]
struct Ranges {
    /// Ranges in use, and free ones, by their first address.
    used: HashMap<u64, Range>,
    /// Free ranges by size.
    free: HashMap<u64, Vec<Stripes>>,
    /// Total size of the free ranges.
    kept: u64,
}

/// A range of reserved addresses, and the memory that is mapped there.
#[derive(Debug)]
struct Range {
    start: u64,
    size: u64,
    parts: Vec<Part>,
}

/// A mapped part of a range.
#[derive(Clone, Copy, Debug)]
struct Part {
    offset: u64,
    size: usize,
    /// The driver's handle of the memory.
    handle: u64,
}

impl StripedMemory {
    /// Allocates a range over the GPUs, of which `gpu` is the first. Returns `None` if the driver
    /// cannot do so, or if the size is below [`SMALLEST_PART`] per GPU.
    pub(super) fn alloc(
        &self,
        gpu: &Gpu,
        devices: &[&dyn Device],
        size: u64,
    ) -> Result<Option<Stripes>> {
        let (Some(gpus), Some(mapping)) = (gpus(devices), &gpu.driver.mapping) else {
            return Ok(None);
        };
        let mut unit = 0;
        let physical = physical(gpu);
        // SAFETY: both pointers are valid; 0 asks for the minimum.
        let code = unsafe { (mapping.granularity)(&mut unit, &physical, 0) };
        gpu.check(code, "asking for the size of memory units", 0)?;
        let unit = unit as u64;
        let count = gpus.len() as u64;
        if unit == 0 || size < unit.max(SMALLEST_PART) * count {
            return Ok(None);
        }
        let whole = size.next_multiple_of(unit);
        if let Some(free) = self.0.lock().take_free(whole) {
            return Ok(Some(free));
        }
        let units = whole / unit;
        let stripes = Stripes {
            start: 0,
            parts: (1..=count)
                .map(|n| StripedPart {
                    end: units * n / count * unit,
                    member: n as usize - 1,
                })
                .collect(),
            unit,
            worthwhile: SMALLEST_PART * count,
        };
        let make = || Range::new(mapping, gpu, &gpus, &stripes.parts);
        let range = match make() {
            Err(Failure::OutOfMemory { .. }) if self.release_free(mapping) => make()?,
            result => result?,
        };
        let start = range.start;
        self.0.lock().used.insert(start, range);
        Ok(Some(Stripes { start, ..stripes }))
    }

    /// Moves a range's parts; see [`Device::move_striped`].
    pub(super) fn shift(
        &self,
        gpu: &Gpu,
        devices: &[&dyn Device],
        stripes: &Stripes,
        parts: &[StripedPart],
    ) -> Result<bool> {
        let (Some(gpus), Some(mapping)) = (gpus(devices), &gpu.driver.mapping) else {
            return Ok(false);
        };
        let mut ranges = self.0.lock();
        let Some(old) = ranges.used.get_mut(&stripes.start) else {
            return Ok(false);
        };
        // The memory behind the range may be longer than what was asked for.
        let mut parts = parts.to_vec();
        if let Some(last) = parts.last_mut() {
            last.end = old.size;
        }
        let mut new = match Range::new(mapping, gpu, &gpus, &parts) {
            Ok(new) => new,
            Err(Failure::OutOfMemory { .. }) => return Ok(false),
            Err(why) => return Err(why),
        };
        let copied = copy_parts(&gpus, &parts, old.start, new.start);
        new.unmap(mapping);
        if copied.is_err() {
            new.release(mapping);
            return copied.map(|()| false);
        }
        old.unmap(mapping);
        std::mem::swap(&mut old.parts, &mut new.parts);
        new.release(mapping);
        let placed = old.map(mapping, gpu, &gpus);
        placed
            .map(|()| true)
            .map_err(|why| Failure::Lost(format!("moving memory: {why}")))
    }

    /// Keeps a range for a later allocation, or returns its memory to the driver if
    /// [`MAX_KEPT`] bytes are kept.
    pub(super) fn free(&self, gpu: &Gpu, stripes: &Stripes) {
        let Some(mapping) = &gpu.driver.mapping else {
            return;
        };
        let size = stripes.size();
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
        if let Some(range) = self.used.remove(&stripes.start) {
            range.unmap(mapping);
            range.release(mapping);
        }
    }
}

/// Returns the devices as GPUs; `None` if one is something else.
fn gpus<'a>(devices: &[&'a dyn Device]) -> Option<Vec<&'a Gpu>> {
    let gpus = devices.iter().map(|d| d.as_any().downcast_ref::<Gpu>());
    gpus.collect()
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

impl Range {
    /// Reserves addresses, and maps memory of the GPUs there.
    fn new(mapping: &Mapping, gpu: &Gpu, gpus: &[&Gpu], parts: &[StripedPart]) -> Result<Range> {
        let size = parts.last().map_or(0, |part| part.end);
        let mut range = Range {
            start: 0,
            size,
            parts: Vec::new(),
        };
        // SAFETY: the result pointer is valid.
        let code = unsafe { (mapping.reserve)(&mut range.start, size as usize, 0, 0, 0) };
        gpu.check(code, "reserving addresses", size)?;
        let mut offset = 0;
        for part in parts {
            let size = (part.end - offset) as usize;
            let mut handle = 0;
            let physical = physical(gpus[part.member]);
            // SAFETY: the pointers are valid.
            let code = unsafe { (mapping.create)(&mut handle, size, &physical, 0) };
            if code != 0 {
                range.release(mapping);
                return Err(refusal(gpu, code, size as u64));
            }
            range.parts.push(Part {
                offset,
                size,
                handle,
            });
            offset = part.end;
        }
        if let Err(why) = range.map(mapping, gpu, gpus) {
            range.release(mapping);
            return Err(why);
        }
        Ok(range)
    }

    /// Maps the memory, and gives all GPUs access to it. Nothing is mapped if that fails.
    fn map(&self, mapping: &Mapping, gpu: &Gpu, gpus: &[&Gpu]) -> Result<()> {
        let mut code = 0;
        for (n, part) in self.parts.iter().enumerate() {
            // SAFETY: the part lies in the reserved range, where nothing is mapped.
            code = unsafe { (mapping.map)(self.start + part.offset, part.size, 0, part.handle, 0) };
            if code != 0 {
                self.unmap_parts(mapping, &self.parts[..n]);
                return Err(refusal(gpu, code, self.size));
            }
        }
        let access: Vec<Access> = gpus
            .iter()
            .map(|gpu| Access {
                location: location(gpu),
                rights: READ_WRITE,
            })
            .collect();
        let (list, count) = (access.as_ptr(), access.len());
        if code == 0 {
            // SAFETY: the range is mapped as a whole, and the list has the given length.
            code = unsafe { (mapping.set_access)(self.start, self.size as usize, list, count) };
        }
        if code != 0 {
            self.unmap(mapping);
            return Err(refusal(gpu, code, self.size));
        }
        Ok(())
    }

    fn unmap(&self, mapping: &Mapping) {
        self.unmap_parts(mapping, &self.parts);
    }

    fn unmap_parts(&self, mapping: &Mapping, parts: &[Part]) {
        for part in parts {
            // SAFETY: the part is mapped, and nothing uses it.
            unsafe { (mapping.unmap)(self.start + part.offset, part.size) };
        }
    }

    /// Returns the memory, which is not mapped, and the addresses to the driver.
    fn release(self, mapping: &Mapping) {
        for part in &self.parts {
            // SAFETY: the handle is valid, and the memory is mapped nowhere.
            unsafe { (mapping.release)(part.handle) };
        }
        // SAFETY: nothing is mapped in the range.
        unsafe { (mapping.unreserve)(self.start, self.size as usize) };
    }
}

fn refusal(gpu: &Gpu, code: driver::CuResult, size: u64) -> Failure {
    match gpu.check(code, "mapping memory of several GPUs", size) {
        Err(why) if code != driver::code::NO_MEMORY => why,
        _ => Failure::OutOfMemory { size },
    }
}

/// Copies a range to another that has the given parts, each GPU its own at the same time.
fn copy_parts(gpus: &[&Gpu], parts: &[StripedPart], from: u64, to: u64) -> Result<()> {
    let queues: Vec<Queue> = gpus.iter().map(|gpu| gpu.queue()).collect::<Result<_>>()?;
    let mut begin = 0;
    let mut result = Ok(());
    for part in parts {
        let (gpu, queue) = (gpus[part.member], queues[part.member]);
        if result.is_ok() && part.end > begin {
            result = gpu.copy(queue, to + begin, from + begin, part.end - begin);
        }
        begin = part.end;
    }
    for (gpu, queue) in gpus.iter().zip(queues) {
        result = result.and(gpu.synchronize(queue));
        gpu.release(queue);
    }
    result
}
