//! Copies between mapped ranges and the host.
//!
//! A copy to a device overwrites the device's values of attached pointers, which are then written
//! anew; a copy to the host leaves the host's values in place. Ranges in host memory that the device
//! accesses are copied by the processor, once the device's kernels have finished with them. Small
//! results are copied to a staging buffer behind the kernel that makes them, so that the thread of
//! the program waits once.
//!
//! The constructs decide what is copied: [`super`], [`super::update`] and [`super::lend`].

use super::{DataConstruct, map_type};
use crate::device::{MemoryKind, Queue, Result, STAGING_BYTES};
use crate::host_access;
use crate::map::items::MapItem;
use crate::map::table::{AttachedPointer, Lookup};
use ompvm_support::log;

/// Maximum size in bytes of a range that keeps its contents if copying to it fails.
pub(super) const SMALL_BYTES: usize = 1 << 10;

/// An item that was copied to a staging buffer behind the kernel.
#[derive(Clone, Copy, Debug)]
pub struct StagedItem {
    begin: usize,
    size: usize,
    buffer: *const u8,
}

impl<'a> DataConstruct<'a> {
    /// Copies to the device and counts the bytes.
    ///
    /// # Safety
    /// `size` bytes at `from` must be readable until the copy is complete.
    pub(super) unsafe fn upload(
        &mut self,
        memory: MemoryKind,
        to: u64,
        from: usize,
        size: usize,
    ) -> Result<()> {
        let since = std::time::Instant::now();
        host_access::during(from, size, false, || {
            // SAFETY: by this function's contract, the range is readable.
            unsafe { self.copy_to(self.queue, memory, to, from as *const u8, size) }
        })?;
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
    pub(super) unsafe fn download(
        &mut self,
        start: usize,
        begin: usize,
        size: usize,
    ) -> Result<()> {
        let Some(range) = self.table.get(start) else {
            return Ok(());
        };
        let (device, memory) = (range.device + (begin - start) as u64, range.memory);
        let is_whole = begin == start && size == range.size;
        let inside: Vec<AttachedPointer> = range
            .attached
            .iter()
            .filter(|a| a.slot + 8 > begin && a.slot < begin + size)
            .copied()
            .collect();
        let since = std::time::Instant::now();
        let staged = self.staged.iter();
        let staged = staged.copied().find(|e| e.begin == begin && e.size == size);
        if let (Some(staged), true) = (staged, inside.is_empty()) {
            host_access::during(begin, size, true, || {
                // SAFETY: `begin` is writable by this function's contract; the staged item has
                // `size` bytes.
                unsafe { std::ptr::copy_nonoverlapping(staged.buffer, begin as *mut u8, size) }
            });
            self.traffic.from += size as u64;
            if is_whole {
                self.table.copied(start);
            }
            return Ok(());
        }
        host_access::during(begin, size, true, || {
            // SAFETY: by this function's contract, the range is writable; attached slots lie within
            // it.
            unsafe {
                let own = begin as *mut u8;
                if size <= SMALL_BYTES && self.queue == Queue::SYNC {
                    let mut copy = [0u8; SMALL_BYTES];
                    self.copy_from(self.queue, memory, copy.as_mut_ptr(), device, size)?;
                    std::ptr::copy_nonoverlapping(copy.as_ptr(), own, size);
                } else {
                    self.copy_from(self.queue, memory, own, device, size)?;
                }
                if !inside.is_empty() {
                    self.device.synchronize(self.queue)?;
                    for a in inside {
                        *(a.slot as *mut u64) = a.host;
                    }
                }
            }
            Ok(())
        })?;
        if is_whole && self.queue == Queue::SYNC {
            self.table.copied(start);
        }
        self.traffic.from += size as u64;
        self.traffic.time += since.elapsed().as_nanos() as u64;
        Ok(())
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
    pub(super) unsafe fn copy_from(
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

    /// Starts copying the items that [`DataConstruct::leave`] would copy back now, as far as they
    /// fit into a buffer of [`STAGING_BYTES`] bytes. Does not leave the items: another thread's
    /// constructs may intervene.
    ///
    /// # Safety
    /// `buffer` must come from [`Device::lend_staging`](crate::device::Device::lend_staging) and stay lent until the device has
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

    /// Points the device's copy of a pointer to the device address of its target.
    ///
    /// # Safety
    /// `slot` must be the address of a pointer of the program.
    pub(super) unsafe fn attach(&mut self, slot: usize, pointee: usize) -> Result<()> {
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

    /// Restores the attached pointers that a copy to the device overwrote.
    pub(super) fn reattach(&mut self, start: usize, begin: usize, size: usize) -> Result<()> {
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

    fn write_word(&mut self, memory: MemoryKind, at: u64, value: u64) -> Result<()> {
        let bytes = value.to_ne_bytes();
        // SAFETY: `bytes` has eight bytes, and the copy is synchronous.
        unsafe { self.copy_to(Queue::SYNC, memory, at, bytes.as_ptr(), 8) }
    }
}
