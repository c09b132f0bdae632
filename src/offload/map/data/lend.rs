//! Regions that the host runs in place of the device.
//!
//! The host gets the device's contents of what a region uses, and the device gets them back before
//! its next region. A range that the host has is marked in the mapping table, so it is copied once
//! even if several regions follow each other on the host.
//!
//! Which regions run on the host is decided by [`crate::fallback`].

use super::DataConstruct;
use crate::device::{Queue, Result};
use crate::map::items::MapItem;
use crate::map::table::{Lifetime, Lookup};

impl DataConstruct<'_> {
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
}
