//! Entering, leaving and updating data on a device. OpenMP 5.2, sections 5.8.3, 13.5 to 13.9.
//!
//! Items are entered in the compiler's order and left in reverse order. Pointers are attached after
//! all other items of the construct are mapped. Where the specification leaves a choice, this
//! follows LLVM's runtime, which programs are written against.

use super::items::MapItem;
use super::map_type;
use super::table::{AttachedPointer, Lifetime, Lookup, MappedRange, MappingTable};
use crate::device::{
    Device, Failure, Fault, HostSection, MemoryKind, Queue, Result, STAGING_BYTES,
};
use crate::{host_access, program};
use ompvm_support::log;

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
}

/// References to mapped ranges that a construct has taken, to give them back if it fails.
#[derive(Debug, Default)]
pub struct Entered {
    /// Start addresses of the ranges that it mapped.
    new_ranges: Vec<usize>,
    /// Start addresses of all ranges that it counted in, and whether by `ompx_hold`.
    counted: Vec<(usize, bool)>,
}

/// An item that was copied to a staging buffer behind the kernel.
#[derive(Clone, Copy, Debug)]
pub struct StagedItem {
    begin: usize,
    size: usize,
    buffer: *const u8,
}

fn mapping_fault<T>(what: String) -> Result<T> {
    Err(Failure::Fault(Box::new(Fault {
        what,
        place: None,
        thread: None,
        help: None,
    })))
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
        }
    }

    /// Creates those of a region for which the program waits. `results` are the indices of the items
    /// that only the thread which ends the region's reduction accesses.
    pub fn of_region(
        device: &'a dyn Device,
        table: &'a mut MappingTable,
        results: Vec<usize>,
    ) -> DataConstruct<'a> {
        DataConstruct {
            waits: true,
            results,
            ..DataConstruct::new(device, table, Queue::SYNC)
        }
    }

    /// Starts copying the items that [`DataConstruct::leave`] would copy back now, as far as they
    /// fit into a buffer of [`STAGING_BYTES`] bytes. Does not leave the items: another thread's
    /// constructs may intervene.
    ///
    /// # Safety
    /// `buffer` must come from [`Device::lend_staging`] and stay lent until the device has
    /// finished and the items are left.
    ///
    /// # Errors
    /// Failures of the device.
    pub unsafe fn fetch(&mut self, items: &[MapItem], buffer: *mut u8) -> Result<Vec<StagedItem>> {
        let mut staged = Vec::new();
        let mut used = 0;
        for item in items.iter().rev() {
            if item.is_private() || item.is(map_type::ATTACH) || !item.is(map_type::FROM) {
                continue;
            }
            let size = usize::try_from(item.size).unwrap_or(0);
            let Lookup::Contained(start) = self.table.find(item.begin, size) else {
                continue;
            };
            let Some(range) = self.table.get(start) else {
                continue;
            };
            let last = range.ends_mapping(item.is(map_type::HOLD), item.is(map_type::DELETE));
            let wanted = last || item.is(map_type::ALWAYS);
            let staged_already = range.memory == MemoryKind::Host;
            if staged_already
                || !wanted
                || size == 0
                || !range.attached.is_empty()
                || size > STAGING_BYTES - used
            {
                continue;
            }
            let from = range.device + (item.begin - start) as u64;
            // SAFETY: `used + size` is at most `STAGING_BYTES`; the buffer is lent by this
            // function's contract.
            unsafe {
                let to = buffer.add(used);
                self.device.fetch_staged(to, from, size)?;
                staged.push(StagedItem {
                    begin: item.begin,
                    size,
                    buffer: to,
                });
            }
            used += size.next_multiple_of(16).min(STAGING_BYTES - used);
        }
        Ok(staged)
    }

    /// Makes [`DataConstruct::leave`] take fetched items from the staging buffer: the region's kernel
    /// is complete.
    pub fn with_staged(mut self, staged: Vec<StagedItem>) -> DataConstruct<'a> {
        self.staged = staged;
        self.complete = true;
        self
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
            return mapping_fault(format!(
                "{size} bytes at {begin:#x} are not mapped, but the `present` modifier asks for \
                 that"
            ));
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
                size,
                device,
                allocation: Some(allocation),
                memory,
                life: Lifetime::Counted,
                count: u64::from(!held),
                held: u64::from(held),
                attached: Vec::new(),
                on_host: false,
            },
        );
        self.entered.new_ranges.push(begin);
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
        host_access::announce(begin, size, back);
        let host = HostSection {
            start: begin as u64,
            filled: back && !item.is(map_type::TO),
        };
        self.device.alloc_mapped(host, padding, bytes, 64)
    }

    /// Points the device's copy of a pointer to the device address of its target.
    ///
    /// # Safety
    /// `slot` must be the address of a pointer of the program.
    unsafe fn attach(&mut self, slot: usize, pointee: usize) -> Result<()> {
        let Lookup::Contained(start) = self.table.find(slot, 8) else {
            return Ok(());
        };
        let Some(target) = self.table.translate(pointee, 0) else {
            return Ok(());
        };
        // SAFETY: by this function's contract, `slot` is the address of a pointer.
        let host = unsafe { *(slot as *const u64) };
        let value = target.wrapping_sub((pointee as u64).wrapping_sub(host));
        let Some(range) = self.table.get(start) else {
            return Ok(());
        };
        let pointer = AttachedPointer {
            slot,
            host,
            device: value,
        };
        let (at, memory) = (range.device + (slot - start) as u64, range.memory);
        match range.attached.iter_mut().find(|a| a.slot == slot) {
            Some(known) => *known = pointer,
            None => range.attached.push(pointer),
        }
        self.write_word(memory, at, value)
    }

    fn write_word(&mut self, memory: MemoryKind, at: u64, value: u64) -> Result<()> {
        let bytes = value.to_ne_bytes();
        // SAFETY: `bytes` has eight bytes, and the copy is synchronous.
        unsafe { self.copy_to(Queue::SYNC, memory, at, bytes.as_ptr(), 8) }
    }

    /// Copies to the device's memory, or to the host's that it accesses.
    ///
    /// # Safety
    /// `size` bytes at `from` must be readable until the copy is complete.
    unsafe fn copy_to(
        &self,
        queue: Queue,
        memory: MemoryKind,
        to: u64,
        from: *const u8,
        size: usize,
    ) -> Result<()> {
        if memory != MemoryKind::Host {
            // SAFETY: by this function's contract.
            return unsafe { self.device.upload(queue, to, from, size) };
        }
        self.await_users()?;
        // SAFETY: by this function's contract; the block of host memory belongs to the range.
        unsafe { std::ptr::copy_nonoverlapping(from, to as *mut u8, size) };
        Ok(())
    }

    /// Copies from the device's memory, or from the host's that it accesses.
    ///
    /// # Safety
    /// `size` bytes at `to` must be writable until the copy is complete.
    unsafe fn copy_from(
        &self,
        queue: Queue,
        memory: MemoryKind,
        to: *mut u8,
        from: u64,
        size: usize,
    ) -> Result<()> {
        if memory != MemoryKind::Host {
            // SAFETY: by this function's contract.
            return unsafe { self.device.download(queue, to, from, size) };
        }
        self.await_users()?;
        // SAFETY: by this function's contract; the block of host memory belongs to the range.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to, size) };
        Ok(())
    }

    /// Waits until kernels have finished with host memory that the processor accesses next.
    fn await_users(&self) -> Result<()> {
        match self.complete {
            true => Ok(()),
            false => self.device.synchronize(self.queue),
        }
    }

    /// Restores the attached pointers that a copy to the device overwrote.
    fn reattach(&mut self, start: usize, begin: usize, size: usize) -> Result<()> {
        let Some(range) = self.table.get(start) else {
            return Ok(());
        };
        let (device, memory) = (range.device, range.memory);
        let inside: Vec<AttachedPointer> = range
            .attached
            .iter()
            .filter(|a| a.slot >= begin && a.slot + 8 <= begin + size)
            .copied()
            .collect();
        for a in inside {
            self.write_word(memory, device + (a.slot - start) as u64, a.device)?;
        }
        Ok(())
    }

    /// Copies to the device and counts the bytes.
    ///
    /// # Safety
    /// `size` bytes at `from` must be readable until the copy is complete.
    unsafe fn upload(
        &mut self,
        memory: MemoryKind,
        to: u64,
        from: usize,
        size: usize,
    ) -> Result<()> {
        let since = std::time::Instant::now();
        host_access::announce(from, size, false);
        // SAFETY: by this function's contract, the range is readable.
        unsafe { self.copy_to(self.queue, memory, to, from as *const u8, size)? };
        self.traffic.to += size as u64;
        self.traffic.time += since.elapsed().as_nanos() as u64;
        tracing::trace!(
            target: log::OFFLOAD,
            from = ?from as *const (),
            bytes = size,
            ms = %log::ms(since.elapsed()),
            "copied to a device"
        );
        Ok(())
    }

    /// Copies to the host. Attached pointers keep their host values.
    ///
    /// # Safety
    /// `size` bytes at `begin` must be writable until the copy is complete.
    unsafe fn download(&mut self, start: usize, begin: usize, size: usize) -> Result<()> {
        let Some(range) = self.table.get(start) else {
            return Ok(());
        };
        let (device, memory) = (range.device + (begin - start) as u64, range.memory);
        let inside: Vec<AttachedPointer> = range
            .attached
            .iter()
            .filter(|a| a.slot + 8 > begin && a.slot < begin + size)
            .copied()
            .collect();
        let since = std::time::Instant::now();
        host_access::announce(begin, size, true);
        let staged = self.staged.iter();
        let staged = staged.copied().find(|e| e.begin == begin && e.size == size);
        if let (Some(staged), true) = (staged, inside.is_empty()) {
            // SAFETY: `begin` is writable by this function's contract; the staged item has `size`
            // bytes.
            unsafe { std::ptr::copy_nonoverlapping(staged.buffer, begin as *mut u8, size) };
            self.traffic.from += size as u64;
            return Ok(());
        }
        // SAFETY: by this function's contract, the range is writable; attached slots lie within it.
        unsafe {
            self.copy_from(self.queue, memory, begin as *mut u8, device, size)?;
            if !inside.is_empty() {
                self.device.synchronize(self.queue)?;
                for a in inside {
                    *(a.slot as *mut u64) = a.host;
                }
            }
        }
        self.traffic.from += size as u64;
        self.traffic.time += since.elapsed().as_nanos() as u64;
        Ok(())
    }

    /// Gives the host the current contents of the items that are mapped already, and of what pointers
    /// in them lead to: it runs their region in place of the device. Returns true if there were any.
    /// [`DataConstruct::take_back`] undoes it.
    ///
    /// # Safety
    /// The items must be live host memory.
    ///
    /// # Errors
    /// Failures of the device.
    pub unsafe fn lend_to_host(&mut self, items: &[MapItem]) -> Result<bool> {
        let mut lent = false;
        let own = items.iter().filter(|item| !item.is_private());
        let mut open: Vec<usize> = own.flat_map(|item| [item.begin, item.base]).collect();
        while let Some(address) = open.pop() {
            let Lookup::Contained(start) = self.table.find(address, 0) else {
                continue;
            };
            let Some(range) = self.table.get(start).filter(|range| !range.on_host) else {
                continue;
            };
            open.extend(range.attached.iter().map(|pointer| pointer.host as usize));
            let (size, is_variable) = (range.size, range.life == Lifetime::Program);
            // A variable may be a constant, which nobody can write.
            // SAFETY: the range is mapped, so it is live host memory.
            unsafe {
                if !is_variable || self.differs(start)? {
                    self.download(start, start, size)?;
                }
            }
            self.set_on_host(start, true);
            lent = true;
        }
        Ok(lent)
    }

    /// Gives the device the contents of ranges that [`DataConstruct::lend_to_host`] lent.
    ///
    /// # Safety
    /// Mapped host memory must be live.
    ///
    /// # Errors
    /// Failures of the device.
    pub unsafe fn take_back(&mut self) -> Result<()> {
        let lent = self.table.iter().filter(|(_, range)| range.on_host);
        let lent: Vec<usize> = lent.map(|(start, _)| start).collect();
        for start in lent {
            let Some(range) = self.table.get(start) else {
                continue;
            };
            let (device, memory, size) = (range.device, range.memory, range.size);
            let is_variable = range.life == Lifetime::Program;
            // SAFETY: by this function's contract, the range is live.
            unsafe {
                if !is_variable || self.differs(start)? {
                    self.upload(memory, device, start, size)?;
                }
            }
            self.reattach(start, start, size)?;
            // Until here a failure of the device leaves the host its contents.
            self.set_on_host(start, false);
        }
        Ok(())
    }

    fn set_on_host(&mut self, start: usize, on_host: bool) {
        if let Some(range) = self.table.get(start) {
            range.on_host = on_host;
        }
    }

    /// Returns true if the device's copy of a range differs from the host's.
    ///
    /// # Safety
    /// The range must be live host memory.
    unsafe fn differs(&mut self, start: usize) -> Result<bool> {
        let Some(range) = self.table.get(start) else {
            return Ok(false);
        };
        let (device, memory, mut there) = (range.device, range.memory, vec![0u8; range.size]);
        // SAFETY: the buffer has room for the range, which is live by this function's contract.
        unsafe {
            let to = there.as_mut_ptr();
            self.copy_from(Queue::SYNC, memory, to, device, there.len())?;
            Ok(std::slice::from_raw_parts(start as *const u8, there.len()) != there)
        }
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
                self.device.free(allocation, range.memory)?;
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
                return mapping_fault(format!(
                    "{size} bytes at {:#x} are not mapped, but the `present` modifier asks for \
                     that",
                    item.begin
                ));
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
            // SAFETY: by `leave`'s contract, the range is writable.
            unsafe { self.download(start, from, to - from)? };
        }
        Ok(())
    }

    /// Updates the items of a `target update`.
    ///
    /// # Safety
    /// As for [`DataConstruct::leave`].
    ///
    /// # Errors
    /// As for [`DataConstruct::enter`].
    pub unsafe fn update(&mut self, items: &[MapItem]) -> Result<()> {
        for item in items {
            if item.is_private() || item.is(map_type::ATTACH) {
                continue;
            }
            // SAFETY: by this function's contract; a non-contiguous item points to `size`
            // dimensions.
            unsafe {
                if item.is(map_type::NON_CONTIGUOUS) {
                    // clang 22 passes the size in bytes instead if it is known at run time only.
                    const MOST: i64 = 32;
                    if !(1..=MOST).contains(&item.size) {
                        return Err(Failure::Unsupported {
                            reason: "an update of a section with gaps whose length the compiler \
                                     does not know: it passes no number of dimensions"
                                .into(),
                            place: None,
                        });
                    }
                    let dims = item.begin as *const Dimension;
                    let dims =
                        std::slice::from_raw_parts(dims, usize::try_from(item.size).unwrap_or(0));
                    self.update_dims(item, dims, item.base)?;
                } else {
                    let size = usize::try_from(item.size).unwrap_or(0);
                    self.update_piece(item, item.begin, size)?;
                }
            }
        }
        Ok(())
    }

    /// Updates one contiguous range.
    ///
    /// # Safety
    /// As for [`DataConstruct::update`].
    unsafe fn update_piece(&mut self, item: &MapItem, begin: usize, size: usize) -> Result<()> {
        let Lookup::Contained(start) = self.table.find(begin, size) else {
            if item.is(map_type::PRESENT) && !program::is_unified() {
                return mapping_fault(format!(
                    "{size} bytes at {begin:#x} are not mapped, but the `present` modifier asks \
                     for that"
                ));
            }
            return Ok(());
        };
        if size == 0 {
            return Ok(());
        }
        // SAFETY: by `update`'s contract, the range is readable and writable.
        unsafe {
            if item.is(map_type::FROM) {
                self.download(start, begin, size)?;
            }
            if item.is(map_type::TO)
                && let Some(device) = self.table.translate(begin, size)
                && let Some(memory) = self.table.get(start).map(|range| range.memory)
            {
                self.upload(memory, device, begin, size)?;
                self.reattach(start, begin, size)?;
            }
        }
        Ok(())
    }

    /// Updates a non-contiguous section with one copy per contiguous piece.
    ///
    /// clang passes a dimension's first index, and as its stride the distance in bytes between
    /// elements of the section. If the section takes, say, every third element, the first index
    /// still counts elements of the array. Their size is known for the innermost dimension only,
    /// from the one after it, which is the element itself.
    ///
    /// # Safety
    /// As for [`DataConstruct::update`].
    unsafe fn update_dims(
        &mut self,
        item: &MapItem,
        dims: &[Dimension],
        base: usize,
    ) -> Result<()> {
        let mut begin = base;
        for (n, dim) in dims.iter().enumerate() {
            let unit = match dims.get(n + 1) {
                Some(element) if n + 2 == dims.len() => element.stride,
                _ => dim.stride,
            };
            begin += (dim.offset * unit) as usize;
        }
        let mut piece = 1;
        let mut outer = dims;
        while let Some((dim, rest)) = outer.split_last()
            && (piece == dim.stride || outer.len() == dims.len())
        {
            piece = dim.count * dim.stride;
            outer = rest;
        }
        // SAFETY: by `update`'s contract, the section is readable and writable.
        unsafe { self.update_pieces(item, outer, begin, piece as usize) }
    }

    /// Updates a piece of `piece` bytes for each index of all dimensions.
    ///
    /// # Safety
    /// As for [`DataConstruct::update`].
    unsafe fn update_pieces(
        &mut self,
        item: &MapItem,
        dims: &[Dimension],
        begin: usize,
        piece: usize,
    ) -> Result<()> {
        // SAFETY: by `update`'s contract, the section is readable and writable.
        unsafe {
            let Some((dim, inner)) = dims.split_first() else {
                return self.update_piece(item, begin, piece);
            };
            for n in 0..dim.count {
                let at = begin + (n * dim.stride) as usize;
                self.update_pieces(item, inner, at, piece)?;
            }
        }
        Ok(())
    }

    /// Gives the references of `entered` back without copying, after a failure. Ranges that no
    /// other construct refers to are unmapped.
    pub fn undo(&mut self, entered: Entered) {
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

/// A dimension of a non-contiguous section.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dimension {
    offset: u64,
    count: u64,
    stride: u64,
}
