//! The data environment of devices. OpenMP 5.2, section 5.8.
//!
//! [`table`] is what is mapped on one device, [`plan`] turns what compilers pass into a list (mappers
//! are called there), [`data`] enters, leaves and updates. What not: which device, and what a
//! failure means for the program.

pub mod data;
pub mod plan;
pub mod table;

/// What compilers say of one item of a map clause.
pub mod kind {
    /// Copied to the device.
    pub const TO: u64 = 1;
    /// Copied from the device.
    pub const FROM: u64 = 2;
    /// Copied although it was there.
    pub const ALWAYS: u64 = 4;
    /// Its mapping ends whatever its count.
    pub const DELETE: u64 = 8;
    /// The base is a pointer's address: the pointer is made to point to the item.
    pub const PTR_AND_OBJ: u64 = 16;
    /// An argument of the region's kernel.
    pub const TARGET_PARAM: u64 = 32;
    /// The address on the device goes back into the list of bases.
    pub const RETURN_PARAM: u64 = 64;
    /// Each region has its own copy.
    pub const PRIVATE: u64 = 128;
    /// A value that is passed as it is.
    pub const LITERAL: u64 = 256;
    /// No clause of the program's.
    pub const IMPLICIT: u64 = 512;
    /// Near the device, also where that reaches the host's memory.
    pub const CLOSE: u64 = 0x400;
    /// It must be there.
    pub const PRESENT: u64 = 0x1000;
    /// Counted apart from other constructs (`ompx_hold`).
    pub const HOLD: u64 = 0x2000;
    /// A pointer on the device is made to point to what is mapped.
    pub const ATTACH: u64 = 0x4000;
    /// The item is a list of dimensions.
    pub const NON_CONTIGUOUS: u64 = 1 << 44;
    /// The number of the item it is part of, plus one.
    pub const MEMBER_OF: u64 = 0xffff << 48;
}
