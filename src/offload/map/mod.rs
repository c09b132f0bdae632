//! The data environment of devices. OpenMP 5.2, section 5.8.
//!
//! [`table`] holds the mapped ranges of one device, [`items`] turns the compiler's arrays into a
//! list of items and calls mappers, and [`data`] enters, leaves and updates items. Device selection
//! and the consequences of failures belong to [`region`](super::region).

pub mod data;
pub mod items;
pub mod table;

/// Map-type flags of an item. Compilers emit them.
pub mod map_type {
    /// Copied to the device.
    pub const TO: u64 = 1;
    /// Copied from the device.
    pub const FROM: u64 = 2;
    /// Copied even if already mapped.
    pub const ALWAYS: u64 = 4;
    /// Unmapped regardless of its reference count.
    pub const DELETE: u64 = 8;
    /// The base is the address of a pointer, which is made to point to the item.
    pub const PTR_AND_OBJ: u64 = 16;
    /// Argument of the kernel.
    pub const TARGET_PARAM: u64 = 32;
    /// The device address is written back into the array of bases.
    pub const RETURN_PARAM: u64 = 64;
    /// Private copy per region.
    pub const PRIVATE: u64 = 128;
    /// Value passed by copy.
    pub const LITERAL: u64 = 256;
    /// Mapped implicitly, without a clause.
    pub const IMPLICIT: u64 = 512;
    /// Allocated on the device even if it can access host memory.
    pub const CLOSE: u64 = 0x400;
    /// Must be mapped already (`present`).
    pub const PRESENT: u64 = 0x1000;
    /// Reference-counted separately (`ompx_hold`).
    pub const HOLD: u64 = 0x2000;
    /// A device pointer is made to point to mapped data.
    pub const ATTACH: u64 = 0x4000;
    /// The item is an array of dimensions.
    pub const NON_CONTIGUOUS: u64 = 1 << 44;
    /// Index plus one of the item that it is a member of.
    pub const MEMBER_OF: u64 = 0xffff << 48;
}
