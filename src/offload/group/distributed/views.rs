//! Copies of blocks that members of other processes access directly.
//!
//! A GPU opens the memory of a GPU of another process of the host by a handle, and then copies over
//! the links between them. Opening takes messages and calls of the driver, so it is done for blocks
//! of which much, or often something, is copied.

use crate::device::Device;
use std::sync::Arc;

/// Size in bytes of a transfer for which memory is opened at once.
const LARGE: u64 = 4 << 10;
/// Number of smaller transfers of a block after which memory is opened.
const OFTEN: u32 = 4;

/// The opened copies of a block.
#[derive(Clone, Debug, Default)]
pub(in crate::group) struct Views {
    opened: Vec<View>,
    small: u32,
}

/// A copy of a block as another member sees it.
#[derive(Clone, Copy, Debug)]
struct View {
    /// The member that has the copy.
    of: usize,
    /// The member that accesses it.
    on: usize,
    /// Its address there; `None` if it has none.
    address: Option<u64>,
}

/// A copy of bytes that one member does alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DirectCopy {
    /// The member.
    pub on: usize,
    /// Addresses on that member, and the size in bytes.
    pub to: u64,
    pub from: u64,
    pub len: u64,
}

impl Views {
    /// Returns how one member copies `len` bytes at `offset` of a block whose copies are at
    /// `copies`. `None` if none of the two can.
    pub(super) fn direct(
        &mut self,
        members: &[Arc<dyn Device>],
        copies: &[Option<u64>],
        (from, to): (usize, usize),
        (offset, len): (u64, u64),
    ) -> Option<DirectCopy> {
        if len < LARGE && self.small < OFTEN {
            self.small += 1;
            return None;
        }
        // The first member is of this process, which saves a message.
        let (on, of) = (from.min(to), from.max(to));
        let seen = self.view(members, of, on, copies[of]?)? + offset;
        let own = copies[on]? + offset;
        Some(match on == to {
            true => DirectCopy {
                on,
                to: own,
                from: seen,
                len,
            },
            false => DirectCopy {
                on,
                to: seen,
                from: own,
                len,
            },
        })
    }

    /// Returns the address at which a member accesses the copy of another one.
    fn view(
        &mut self,
        members: &[Arc<dyn Device>],
        of: usize,
        on: usize,
        copy: u64,
    ) -> Option<u64> {
        let known = self.opened.iter().find(|v| v.of == of && v.on == on);
        if let Some(view) = known {
            return view.address;
        }
        let handle = members[of].export(copy);
        let address = handle.and_then(|handle| members[on].import(&handle));
        self.opened.push(View { of, on, address });
        address
    }

    /// Closes what is open, before the copies are freed.
    pub(in crate::group) fn close(&mut self, members: &[Arc<dyn Device>]) {
        for view in self.opened.drain(..) {
            if let Some(address) = view.address {
                members[view.on].close_import(address);
            }
        }
    }
}
