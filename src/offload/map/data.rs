//! Entering, leaving and updating data on a device. OpenMP 5.2, sections 5.8.3, 13.5 to 13.9.
//!
//! Items are entered in the compiler's order and left in the opposite one; pointers are attached when
//! everything else of the construct is there. Where the specification leaves a choice this follows
//! what LLVM's runtime does, for that is what programs are written against.

use super::kind;
use super::plan::Item;
use super::table::{Attached, Found, Life, Range, Table};
use crate::offload::device::{Device, FETCHED, Failure, Fault, Memory, Queue, Result};
use crate::offload::{outlined, program};

/// What a construct moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes to the device.
    pub to: u64,
    /// Bytes from it.
    pub from: u64,
    /// Nanoseconds that took.
    pub time: u64,
}

/// One construct's work on a device's table.
pub struct Data<'a> {
    /// The device.
    pub device: &'a dyn Device,
    /// Its table, locked.
    pub table: &'a mut Table,
    /// Where copies go.
    pub queue: Queue,
    /// What was moved.
    pub traffic: Traffic,
    /// Ranges that this construct made.
    fresh: Vec<usize>,
    /// What was copied back already.
    early: Vec<Early>,
}

/// A piece that was copied to a buffer behind the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Early {
    begin: usize,
    size: usize,
    buffer: *const u8,
}

fn wrong<T>(what: String) -> Result<T> {
    Err(Failure::Fault(Box::new(Fault {
        what,
        place: None,
        thread: None,
        help: None,
    })))
}

impl<'a> Data<'a> {
    /// Works on a table.
    pub fn new(device: &'a dyn Device, table: &'a mut Table, queue: Queue) -> Data<'a> {
        Data {
            device,
            table,
            queue,
            traffic: Traffic::default(),
            fresh: Vec::new(),
            early: Vec::new(),
        }
    }

    /// Begins to copy back what [`Data::leave`] will want at present, as far as a buffer of [`FETCHED`]
    /// bytes reaches. Nothing is left yet: another thread's constructs may come between.
    ///
    /// # Safety
    /// The buffer is one of [`Device::lend`] and stays until the device has finished and the items were left.
    ///
    /// # Errors
    /// What the device refuses.
    pub unsafe fn fetch(&mut self, items: &[Item], buffer: *mut u8) -> Result<Vec<Early>> {
        let mut early = Vec::new();
        let mut used = 0;
        for item in items.iter().rev() {
            if item.is_private() || item.is(kind::ATTACH) || !item.is(kind::FROM) {
                continue;
            }
            let size = usize::try_from(item.size).unwrap_or(0);
            let Found::Within(start) = self.table.find(item.begin, size) else {
                continue;
            };
            let Some(range) = self.table.get(start) else {
                continue;
            };
            let last = range.is_last(item.is(kind::HOLD), item.is(kind::DELETE));
            let wanted = last || item.is(kind::ALWAYS);
            if !wanted || size == 0 || !range.attached.is_empty() || size > FETCHED - used {
                continue;
            }
            let from = range.device + (item.begin - start) as u64;
            // SAFETY: within the buffer; the caller's contract.
            unsafe {
                let to = buffer.add(used);
                self.device.fetch(to, from, size)?;
                early.push(Early {
                    begin: item.begin,
                    size,
                    buffer: to,
                });
            }
            used += size.next_multiple_of(16).min(FETCHED - used);
        }
        Ok(early)
    }

    /// Has [`Data::leave`] take what was fetched from where it is.
    pub fn with(mut self, early: Vec<Early>) -> Data<'a> {
        self.early = early;
        self
    }

    /// Enters the items of a construct. `bases` are the compiler's, some of which take addresses
    /// on the device back.
    ///
    /// # Safety
    /// The items are as the program gave them: readable where they are copied.
    ///
    /// # Errors
    /// What the device refuses; a fault for what the specification forbids.
    pub unsafe fn enter(&mut self, items: &[Item], bases: *mut usize) -> Result<()> {
        for (n, item) in items.iter().enumerate() {
            if item.is_private() || item.is(kind::ATTACH) {
                continue;
            }
            // SAFETY: the caller's contract.
            unsafe { self.enter_one(item, items.get(n + 1), n, bases)? };
        }
        for item in items
            .iter()
            .filter(|i| i.is(kind::ATTACH) && !i.is_private())
        {
            let (slot, pointee) = (item.base, item.begin);
            let fresh = |address| match self.table.find(address, 0) {
                Found::Within(start) => self.fresh.contains(&start),
                _ => false,
            };
            if item.is(kind::ALWAYS) || fresh(slot) || fresh(pointee) {
                // SAFETY: the slot is a pointer of the program.
                unsafe { self.attach(slot, pointee)? };
            }
        }
        Ok(())
    }

    unsafe fn enter_one(
        &mut self,
        item: &Item,
        next: Option<&Item>,
        number: usize,
        bases: *mut usize,
    ) -> Result<()> {
        let mut counts = !item.is_member() && !item.first_of_mapper;
        let mut base = item.base;
        let mut slot = None;
        if item.is(kind::PTR_AND_OBJ) {
            // SAFETY: the caller's contract.
            unsafe { self.place(item.base, 8, item, (counts, false), 0)? };
            slot = Some(item.base);
            // SAFETY: the base is a pointer's address.
            base = unsafe { *(item.base as *const usize) };
            counts = !item.first_of_mapper;
        }
        let parent = next.is_some_and(|n| n.kind >> 48 == number as u64 + 1) && !item.is_member();
        // A part of a structure keeps the whole one's alignment.
        let padding = if parent {
            item.begin % 64
        } else {
            item.begin % 16
        };
        let size = usize::try_from(item.size).unwrap_or(0);
        // SAFETY: the caller's contract.
        let device = unsafe { self.place(item.begin, size, item, (counts, true), padding)? };
        if item.is(kind::RETURN_PARAM)
            && let Some(index) = item.index
            && let Some(device) = device
        {
            let delta = item.begin.wrapping_sub(base) as u64;
            // SAFETY: the compiler's array.
            unsafe { *bases.add(index) = device.wrapping_sub(delta) as usize };
        }
        if let Some(slot) = slot
            && device.is_some()
        {
            // SAFETY: as above.
            unsafe { self.attach(slot, item.begin)? };
        }
        Ok(())
    }

    /// Makes sure that a range is there; its address on the device, or `None` for no bytes of
    /// nothing.
    unsafe fn place(
        &mut self,
        begin: usize,
        size: usize,
        item: &Item,
        (counts, copies): (bool, bool),
        padding: usize,
    ) -> Result<Option<u64>> {
        let held = item.is(kind::HOLD);
        let copies = copies && item.is(kind::TO);
        let start = match self.table.find(begin, size) {
            Found::Within(start) => Some(start),
            Found::Across(start) if item.is(kind::IMPLICIT) => Some(start),
            Found::Across(start) => {
                let len = self.table.get(start).map_or(0, |r| r.size);
                return wrong(format!(
                    "{size} bytes at {begin:#x} are to be mapped, but {len} bytes at {start:#x}, a \
                     part of them, are mapped already"
                ));
            }
            Found::Nothing => None,
        };
        if let Some(start) = start {
            let Some(range) = self.table.get(start) else {
                return Ok(None);
            };
            if counts {
                range.enter(held);
            }
            let offset = (begin as u64).wrapping_sub(start as u64);
            let device = range.device.wrapping_add(offset);
            // Members of a structure that this construct made room for are copied one by one.
            let member = item.is_member() && self.fresh.contains(&start);
            if copies && size > 0 && (item.is(kind::ALWAYS) || member) {
                // SAFETY: the caller's contract.
                unsafe { self.upload(device, begin, size)? };
                self.reattach(start, begin, size)?;
            }
            let device = Some(device);
            return Ok(device);
        }
        // The device uses what the host has, but where the program wants a copy near the device.
        if program::is_unified() && !item.is(kind::CLOSE) {
            return Ok(None);
        }
        if item.is(kind::PRESENT) {
            return wrong(format!(
                "{size} bytes at {begin:#x} are not mapped, but the `present` modifier asks for that"
            ));
        }
        if size == 0 {
            return Ok(None);
        }
        let allocation = self.device.alloc_behind(padding as u64, size as u64, 64)?;
        let device = allocation + padding as u64;
        self.table.insert(
            begin,
            Range {
                size,
                device,
                allocation: Some(allocation),
                life: Life::Counted,
                count: u64::from(!held),
                held: u64::from(held),
                attached: Vec::new(),
            },
        );
        self.fresh.push(begin);
        if copies {
            // SAFETY: the caller's contract.
            unsafe { self.upload(device, begin, size)? };
        }
        Ok(Some(device))
    }

    /// Makes the device's copy of a pointer point to where its target is there.
    unsafe fn attach(&mut self, slot: usize, pointee: usize) -> Result<()> {
        let Found::Within(start) = self.table.find(slot, 8) else {
            return Ok(());
        };
        let Some(target) = self.table.translate(pointee, 0) else {
            return Ok(());
        };
        // SAFETY: a pointer of the program.
        let host = unsafe { *(slot as *const u64) };
        let value = target.wrapping_sub((pointee as u64).wrapping_sub(host));
        let Some(range) = self.table.get(start) else {
            return Ok(());
        };
        let fresh = Attached {
            slot,
            host,
            device: value,
        };
        let at = range.device + (slot - start) as u64;
        match range.attached.iter_mut().find(|a| a.slot == slot) {
            Some(known) => *known = fresh,
            None => range.attached.push(fresh),
        }
        self.write_word(at, value)
    }

    fn write_word(&mut self, at: u64, value: u64) -> Result<()> {
        let bytes = value.to_ne_bytes();
        // SAFETY: eight bytes that live until the call returns.
        unsafe { self.device.upload(Queue::SYNC, at, bytes.as_ptr(), 8) }
    }

    /// Writes the pointers in a range again that a copy to the device went over.
    fn reattach(&mut self, start: usize, begin: usize, size: usize) -> Result<()> {
        let Some(range) = self.table.get(start) else {
            return Ok(());
        };
        let device = range.device;
        let inside: Vec<Attached> = range
            .attached
            .iter()
            .filter(|a| a.slot >= begin && a.slot + 8 <= begin + size)
            .copied()
            .collect();
        for a in inside {
            self.write_word(device + (a.slot - start) as u64, a.device)?;
        }
        Ok(())
    }

    unsafe fn upload(&mut self, to: u64, from: usize, size: usize) -> Result<()> {
        let since = std::time::Instant::now();
        outlined::touch(from, size, false);
        // SAFETY: the caller's contract.
        unsafe {
            self.device
                .upload(self.queue, to, from as *const u8, size)?
        };
        self.traffic.to += size as u64;
        self.traffic.time += since.elapsed().as_nanos() as u64;
        Ok(())
    }

    /// Copies to the host; pointers that are attached keep the host's values.
    unsafe fn download(&mut self, start: usize, begin: usize, size: usize) -> Result<()> {
        let Some(range) = self.table.get(start) else {
            return Ok(());
        };
        let device = range.device + (begin - start) as u64;
        let inside: Vec<Attached> = range
            .attached
            .iter()
            .filter(|a| a.slot + 8 > begin && a.slot < begin + size)
            .copied()
            .collect();
        let since = std::time::Instant::now();
        outlined::touch(begin, size, true);
        let early = self.early.iter();
        let early = early.copied().find(|e| e.begin == begin && e.size == size);
        if let (Some(early), true) = (early, inside.is_empty()) {
            // SAFETY: the caller's contract; the buffer has as much.
            unsafe { std::ptr::copy_nonoverlapping(early.buffer, begin as *mut u8, size) };
            self.traffic.from += size as u64;
            return Ok(());
        }
        // SAFETY: the caller's contract.
        unsafe {
            self.device
                .download(self.queue, begin as *mut u8, device, size)?;
            if !inside.is_empty() {
                self.device.synchronise(self.queue)?;
                for a in inside {
                    *(a.slot as *mut u64) = a.host;
                }
            }
        }
        self.traffic.from += size as u64;
        self.traffic.time += since.elapsed().as_nanos() as u64;
        Ok(())
    }

    /// Leaves the items of a construct.
    ///
    /// # Safety
    /// As for [`Data::enter`]; writable where they are copied back.
    ///
    /// # Errors
    /// As for [`Data::enter`].
    pub unsafe fn leave(&mut self, items: &[Item]) -> Result<()> {
        let mut over = Vec::new();
        for item in items.iter().rev() {
            if item.is_private() || item.is(kind::ATTACH) {
                continue;
            }
            // SAFETY: the caller's contract.
            unsafe { self.leave_one(item, &mut over)? };
        }
        // What ends here must have arrived before its place is given back; copies that nobody waits for
        // were waited for.
        if !over.is_empty() && self.queue != Queue::SYNC {
            self.device.synchronise(self.queue)?;
        }
        for start in over {
            if let Some(range) = self.table.remove(start)
                && let Some(allocation) = range.allocation
            {
                self.device.free(allocation, Memory::Device)?;
            }
        }
        Ok(())
    }

    unsafe fn leave_one(&mut self, item: &Item, over: &mut Vec<usize>) -> Result<()> {
        let size = usize::try_from(item.size).unwrap_or(0);
        let start = match self.table.find(item.begin, size) {
            Found::Within(start) => start,
            Found::Across(start) if item.is(kind::IMPLICIT) => start,
            _ if item.is(kind::PRESENT) && !program::is_unified() => {
                return wrong(format!(
                    "{size} bytes at {:#x} are not mapped, but the `present` modifier asks for that",
                    item.begin
                ));
            }
            _ => return Ok(()),
        };
        let counts = (!item.is_member() || item.is(kind::PTR_AND_OBJ)) && !item.first_of_mapper;
        let (held, delete) = (item.is(kind::HOLD), item.is(kind::DELETE));
        let Some(range) = self.table.get(start) else {
            return Ok(());
        };
        let last = range.is_last(held, delete);
        if counts && !over.contains(&start) {
            range.leave(held, delete);
            if last {
                over.push(start);
            }
        }
        let end = start + range.size;
        if item.is(kind::FROM) && (last || item.is(kind::ALWAYS)) && size > 0 {
            let from = item.begin.max(start);
            let to = (item.begin + size).min(end);
            // SAFETY: the caller's contract.
            unsafe { self.download(start, from, to - from)? };
        }
        Ok(())
    }

    /// Updates the items of a `target update`.
    ///
    /// # Safety
    /// As for [`Data::leave`].
    ///
    /// # Errors
    /// As for [`Data::enter`].
    pub unsafe fn update(&mut self, items: &[Item]) -> Result<()> {
        for item in items {
            if item.is_private() || item.is(kind::ATTACH) {
                continue;
            }
            // SAFETY: the caller's contract.
            unsafe {
                if item.is(kind::NON_CONTIGUOUS) {
                    // clang 22 passes the bytes instead where they are known at run time only.
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

    unsafe fn update_piece(&mut self, item: &Item, begin: usize, size: usize) -> Result<()> {
        let Found::Within(start) = self.table.find(begin, size) else {
            if item.is(kind::PRESENT) && !program::is_unified() {
                return wrong(format!(
                    "{size} bytes at {begin:#x} are not mapped, but the `present` modifier asks for \
                     that"
                ));
            }
            return Ok(());
        };
        if size == 0 {
            return Ok(());
        }
        // SAFETY: the caller's contract.
        unsafe {
            if item.is(kind::FROM) {
                self.download(start, begin, size)?;
            }
            if item.is(kind::TO)
                && let Some(device) = self.table.translate(begin, size)
            {
                self.upload(device, begin, size)?;
                self.reattach(start, begin, size)?;
            }
        }
        Ok(())
    }

    /// A section with gaps: what lies in one piece is one copy.
    ///
    /// clang gives a dimension's first index, and as its stride the bytes from one element of the
    /// section to the next. Where the section takes every third element, say, the first index counts
    /// elements of the array all the same; how many bytes these have is known of the innermost
    /// dimension, since the one after it is the element itself.
    unsafe fn update_dims(&mut self, item: &Item, dims: &[Dimension], base: usize) -> Result<()> {
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
        // SAFETY: the caller's contract.
        unsafe { self.update_pieces(item, outer, begin, piece as usize) }
    }

    /// A piece of so many bytes for each element of all dimensions.
    unsafe fn update_pieces(
        &mut self,
        item: &Item,
        dims: &[Dimension],
        begin: usize,
        piece: usize,
    ) -> Result<()> {
        // SAFETY: the caller's contract.
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

    /// Undoes what this construct entered, copying nothing: something after it failed.
    pub fn undo(&mut self) {
        for start in std::mem::take(&mut self.fresh) {
            if let Some(range) = self.table.remove(start)
                && let Some(allocation) = range.allocation
            {
                // A device that fails has nothing to give back.
                let _ = self.device.free(allocation, Memory::Device);
            }
        }
    }
}

/// A dimension of a section that does not lie in one piece.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dimension {
    offset: u64,
    count: u64,
    stride: u64,
}
