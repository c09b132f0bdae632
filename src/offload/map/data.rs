//! Entering, leaving and updating data on a device. OpenMP 5.2, sections 5.8.3, 13.5 to 13.9.
//!
//! Items are entered in the compiler's order and left in reverse order. Pointers are attached after
//! all other items of the construct are mapped. Where the specification leaves a choice, this
//! follows LLVM's runtime, which programs are written against.
//!
//! This file decides what is mapped and copied, and gives references back after a failure.
//! [`transfer`] makes the copies, [`update`] is `target update`, and [`lend`] serves regions that run
//! on the host.

mod lend;
mod transfer;
mod update;

use transfer::SMALL_BYTES;
pub use transfer::StagedItem;

use super::items::MapItem;
use super::map_type;
use super::table::{Lifetime, Lookup, MappedRange, MappingTable};
use crate::device::{Device, Failure, Fault, HostSection, MemoryKind, Queue, Result};
use crate::{host_access, program};

/// Size in bytes from which a device may use host memory in place: copies of less cost little.
const IN_PLACE_BYTES: usize = 64 << 10;
/// Maximum size in bytes of a result in host memory that the device accesses.
const RESULT_BYTES: usize = 1 << 10;

/// Data transfer statistics of a construct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes copied to the device.
    pub to: u64,
    /// Bytes copied from the device.
    pub from: u64,
    /// Duration of the copies in nanoseconds.
    pub time: u64,
}

impl Traffic {
    /// Adds further traffic of the same construct.
    pub fn add(&mut self, more: Traffic) {
        self.to += more.to;
        self.from += more.from;
        self.time += more.time;
    }
}

/// The data operations of one construct on a device.
pub struct DataConstruct<'a> {
    /// The device.
    pub device: &'a dyn Device,
    /// Mapping table of the device, locked.
    pub table: &'a mut MappingTable,
    /// Queue of the copies.
    pub queue: Queue,
    /// Data transferred so far.
    pub traffic: Traffic,
    /// The references that this construct has taken.
    entered: Entered,
    /// Items that were copied to a staging buffer already.
    staged: Vec<StagedItem>,
    /// True if the program waits until the construct has left its items again.
    waits: bool,
    /// Indices of the items that are results of the region's reduction alone.
    results: Vec<usize>,
    /// True if nothing on the device uses the items any more.
    complete: bool,
    /// True if the host may have lost what a region read, since results were copied over it.
    pub overwritten: bool,
}

/// References to mapped ranges that a construct has taken, to give them back if it fails.
#[derive(Debug, Default)]
pub struct Entered {
    /// Start addresses of the ranges that it mapped.
    new_ranges: Vec<usize>,
    /// Start addresses of all ranges that it counted in, and whether by `ompx_hold`.
    counted: Vec<(usize, bool)>,
    /// Start addresses of the ranges that no kernel had changed before.
    first_changed: Vec<usize>,
}

fn mapping_fault<T>(what: String) -> Result<T> {
    Err(Failure::Fault(Box::new(Fault {
        what,
        place: None,
        thread: None,
        help: None,
    })))
}

/// Returns the fault of an item with the `present` modifier that is not mapped.
fn not_mapped<T>(begin: usize, size: usize) -> Result<T> {
    mapping_fault(format!(
        "{size} bytes at {begin:#x} are not mapped, but the `present` modifier asks for that"
    ))
}

impl<'a> DataConstruct<'a> {
    /// Creates the data operations of a construct.
    pub fn new(
        device: &'a dyn Device,
        table: &'a mut MappingTable,
        queue: Queue,
    ) -> DataConstruct<'a> {
        DataConstruct {
            device,
            table,
            queue,
            traffic: Traffic::default(),
            entered: Entered::default(),
            staged: Vec::new(),
            waits: false,
            results: Vec::new(),
            complete: false,
            overwritten: false,
        }
    }

    /// Creates those of a region for which the program waits. `results` are the indices of the items
    /// that only the thread which ends the region's reduction accesses.
    pub fn of_region(
        device: &'a dyn Device,
        table: &'a mut MappingTable,
        results: Vec<usize>,
    ) -> DataConstruct<'a> {
        table.count_launch();
        DataConstruct {
            waits: true,
            results,
            ..DataConstruct::new(device, table, Queue::SYNC)
        }
    }

    /// Enters the items of a construct. Writes device addresses back to `bases`, the compiler's
    /// array, for items that request it.
    ///
    /// # Safety
    /// The items must be live host memory; those that are copied must be readable.
    ///
    /// # Errors
    /// Failures of the device; a [`Failure::Fault`] if the specification forbids the mapping.
    pub unsafe fn enter(&mut self, items: &[MapItem], bases: *mut usize) -> Result<()> {
        for (n, item) in items.iter().enumerate() {
            if item.is_private() || item.is(map_type::ATTACH) {
                continue;
            }
            // SAFETY: by this function's contract, the item is live host memory.
            unsafe { self.enter_item(item, items.get(n + 1), n, bases)? };
        }
        for item in items
            .iter()
            .filter(|i| i.is(map_type::ATTACH) && !i.is_private())
        {
            let (slot, pointee) = (item.base, item.begin);
            let is_new = |address| match self.table.find(address, 0) {
                Lookup::Contained(start) => self.entered.new_ranges.contains(&start),
                _ => false,
            };
            if item.is(map_type::ALWAYS) || is_new(slot) || is_new(pointee) {
                // SAFETY: the slot is a pointer variable of the program.
                unsafe { self.attach(slot, pointee)? };
            }
        }
        Ok(())
    }

    unsafe fn enter_item(
        &mut self,
        item: &MapItem,
        next: Option<&MapItem>,
        number: usize,
        bases: *mut usize,
    ) -> Result<()> {
        let mut counts = !item.is_member() && !item.first_of_mapper;
        let mut base = item.base;
        let mut slot = None;
        if item.is(map_type::PTR_AND_OBJ) {
            // SAFETY: `enter`'s contract: the base is the address of a live pointer.
            unsafe { self.map_range(item.base, 8, item, (counts, false), 0)? };
            slot = Some(item.base);
            // SAFETY: the base of a `PTR_AND_OBJ` item is the address of a pointer.
            base = unsafe { *(item.base as *const usize) };
            counts = !item.first_of_mapper;
        }
        let parent =
            next.is_some_and(|n| n.map_type >> 48 == number as u64 + 1) && !item.is_member();
        // The first member of a structure preserves the alignment of the whole structure.
        let padding = if parent {
            item.begin % 64
        } else {
            item.begin % 16
        };
        let size = usize::try_from(item.size).unwrap_or(0);
        // SAFETY: `enter`'s contract: the item is live host memory.
        let device = unsafe { self.map_range(item.begin, size, item, (counts, true), padding)? };
        if item.is(map_type::RETURN_PARAM)
            && let Some(index) = item.index
            && let Some(device) = device
        {
            let delta = item.begin.wrapping_sub(base) as u64;
            // SAFETY: `index` lies within the compiler's array of bases.
            unsafe { *bases.add(index) = device.wrapping_sub(delta) as usize };
        }
        if let Some(slot) = slot
            && device.is_some()
        {
            // SAFETY: the slot is the address of a pointer of the program.
            unsafe { self.attach(slot, item.begin)? };
        }
        Ok(())
    }

    /// Maps a host range and returns its device address. Returns `None` for an empty range that is
    /// not mapped, and for one that the device accesses in host memory.
    ///
    /// # Safety
    /// `size` bytes at `begin` must be readable if the item is copied.
    unsafe fn map_range(
        &mut self,
        begin: usize,
        size: usize,
        item: &MapItem,
        (counts, copies): (bool, bool),
        padding: usize,
    ) -> Result<Option<u64>> {
        let held = item.is(map_type::HOLD);
        let copies = copies && item.is(map_type::TO);
        let start = match self.table.find(begin, size) {
            Lookup::Contained(start) => Some(start),
            Lookup::Partial(start) if item.is(map_type::IMPLICIT) => Some(start),
            Lookup::Partial(start) => {
                let len = self.table.get(start).map_or(0, |r| r.size);
                return mapping_fault(format!(
                    "{size} bytes at {begin:#x} are to be mapped, but {len} bytes at {start:#x}, a \
                     part of them, are mapped already"
                ));
            }
            Lookup::Unmapped => None,
        };
        if let Some(start) = start {
            let Some(range) = self.table.get(start) else {
                return Ok(None);
            };
            if counts {
                range.enter(held);
                self.entered.counted.push((start, held));
            }
            if self.waits && !range.changed {
                range.changed = true;
                self.entered.first_changed.push(start);
            }
            let offset = (begin as u64).wrapping_sub(start as u64);
            let device = range.device.wrapping_add(offset);
            // Members of a structure that this construct allocated are copied one by one.
            let member = item.is_member() && self.entered.new_ranges.contains(&start);
            let memory = range.memory;
            if copies && size > 0 && (item.is(map_type::ALWAYS) || member) {
                // SAFETY: by this function's contract, the range is readable.
                unsafe { self.upload(memory, device, begin, size)? };
                self.reattach(start, begin, size)?;
            }
            let device = Some(device);
            return Ok(device);
        }
        // With unified memory the device uses the host's copy, except for `close` maps.
        if program::is_unified() && !item.is(map_type::CLOSE) {
            return Ok(None);
        }
        if item.is(map_type::PRESENT) {
            return not_mapped(begin, size);
        }
        if size == 0 {
            return Ok(None);
        }
        let memory = match self.is_result(item, size) {
            true => MemoryKind::Host,
            false => MemoryKind::Device,
        };
        let allocation = match memory {
            MemoryKind::Host => self.device.alloc((padding + size) as u64, 64, memory)?,
            _ => self.allocate(begin, size, item, padding)?,
        };
        let device = allocation + padding as u64;
        self.table.insert(
            begin,
            MappedRange {
                allocation: Some(allocation),
                memory,
                count: u64::from(!held),
                held: u64::from(held),
                changed: self.waits,
                ..MappedRange::new(size, device, Lifetime::Counted)
            },
        );
        self.entered.new_ranges.push(begin);
        if self.waits {
            self.entered.first_changed.push(begin);
        }
        self.entered.counted.push((begin, held));
        if copies {
            // Nothing uses a new block yet.
            let complete = std::mem::replace(&mut self.complete, true);
            // SAFETY: by this function's contract, the range is readable.
            let copied = unsafe { self.upload(memory, device, begin, size) };
            self.complete = complete;
            copied?;
        }
        Ok(Some(device))
    }

    /// Returns true if an item is a small result of the region's reduction.
    fn is_result(&self, item: &MapItem, size: usize) -> bool {
        let listed = item
            .index
            .is_some_and(|index| self.results.contains(&index));
        listed && size <= RESULT_BYTES
    }

    /// Allocates device memory for a host range, and returns the start of the padding before it.
    fn allocate(&self, begin: usize, size: usize, item: &MapItem, padding: usize) -> Result<u64> {
        let (padding, bytes) = (padding as u64, size as u64);
        if !self.waits || size < IN_PLACE_BYTES {
            return self.device.alloc_padded(padding, bytes, 64);
        }
        // The device may access the range before it is copied.
        let back = item.is(map_type::FROM);
        let host = HostSection {
            start: begin as u64,
            filled: back && !item.is(map_type::TO),
        };
        host_access::during(begin, size, back, || {
            self.device.alloc_mapped(host, padding, bytes, 64)
        })
    }

    /// Leaves the items of a construct.
    ///
    /// # Safety
    /// As for [`DataConstruct::enter`]; items that are copied back must be writable.
    ///
    /// # Errors
    /// As for [`DataConstruct::enter`].
    pub unsafe fn leave(&mut self, items: &[MapItem]) -> Result<()> {
        let mut ended = Vec::new();
        for item in items.iter().rev() {
            if item.is_private() || item.is(map_type::ATTACH) {
                continue;
            }
            // SAFETY: by this function's contract, the item is live and writable.
            unsafe { self.leave_item(item, &mut ended)? };
        }
        // Pending copies must complete before their device memory is freed. Copies on `SYNC`
        // already have.
        if !ended.is_empty() && self.queue != Queue::SYNC {
            self.device.synchronize(self.queue)?;
        }
        for start in ended {
            if let Some(range) = self.table.remove(start)
                && let Some(allocation) = range.allocation
            {
                match self.device.free(allocation, range.memory) {
                    // The results have been copied. The next operation reports the loss.
                    Err(Failure::Lost(_)) => {}
                    other => other?,
                }
            }
        }
        Ok(())
    }

    /// Leaves one item and appends the start of its range to `ended` if the mapping ends.
    ///
    /// # Safety
    /// As for [`DataConstruct::leave`].
    unsafe fn leave_item(&mut self, item: &MapItem, ended: &mut Vec<usize>) -> Result<()> {
        let size = usize::try_from(item.size).unwrap_or(0);
        let start = match self.table.find(item.begin, size) {
            Lookup::Contained(start) => start,
            Lookup::Partial(start) if item.is(map_type::IMPLICIT) => start,
            _ if item.is(map_type::PRESENT) && !program::is_unified() => {
                return not_mapped(item.begin, size);
            }
            _ => return Ok(()),
        };
        let counts = (!item.is_member() || item.is(map_type::PTR_AND_OBJ)) && !item.first_of_mapper;
        let (held, delete) = (item.is(map_type::HOLD), item.is(map_type::DELETE));
        let Some(range) = self.table.get(start) else {
            return Ok(());
        };
        let last = range.ends_mapping(held, delete);
        if counts && !ended.contains(&start) {
            range.leave(held, delete);
            if last {
                ended.push(start);
            }
        }
        let end = start + range.size;
        if item.is(map_type::FROM) && (last || item.is(map_type::ALWAYS)) && size > 0 {
            let from = item.begin.max(start);
            let to = (item.begin + size).min(end);
            let replaces = !last || item.is(map_type::TO);
            self.overwritten |= replaces && to - from > SMALL_BYTES;
            // SAFETY: by `leave`'s contract, the range is writable.
            unsafe { self.download(start, from, to - from)? };
            self.overwritten |= replaces;
        }
        Ok(())
    }

    /// Gives the references of `entered` back as [`DataConstruct::undo`] does, after a failure by
    /// which a kernel may have been interrupted.
    pub fn undo_interrupted(&mut self, entered: Entered) {
        let used = entered.counted.iter().map(|(start, _)| *start);
        self.table.interrupt(used, &entered.first_changed);
        self.undo(entered);
    }

    /// Gives the references of `entered` back without copying, after a failure before a kernel began.
    /// Ranges that no other construct refers to are unmapped.
    pub fn undo(&mut self, entered: Entered) {
        self.table.forget(&entered.first_changed);
        for (start, held) in entered.counted {
            let Some(range) = self.table.get(start) else {
                continue;
            };
            if !range.ends_mapping(held, false) {
                range.leave(held, false);
                continue;
            }
            if let Some(range) = self.table.remove(start)
                && let Some(allocation) = range.allocation
            {
                // Freeing may fail only on a device that has failed, where nothing can be freed.
                let _ = self.device.free(allocation, range.memory);
            }
        }
    }

    /// Returns the references that this construct has taken.
    pub fn take_entered(&mut self) -> Entered {
        std::mem::take(&mut self.entered)
    }
}
