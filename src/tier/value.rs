//! Values that cross between Rust and the guest: scalars and guest pointers.
//!
//! Structs cannot be passed by value; pass a pointer to them.

use ompvm_ir::{FloatKind, Type};
use std::fmt;
use std::marker::PhantomData;

/// Kind of a scalar as the guest sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// No value (results only).
    Void,
    /// An integer of that many bits.
    Int(u32),
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// A pointer.
    Ptr,
}

impl ValueKind {
    /// Returns the kind of an IR type if it is a scalar that Rust can pass.
    pub fn from_type(ty: &Type) -> Option<ValueKind> {
        Some(match ty {
            Type::Void => ValueKind::Void,
            Type::Int(bits) if *bits <= 64 => ValueKind::Int(*bits),
            Type::Float(FloatKind::Float) => ValueKind::F32,
            Type::Float(FloatKind::Double) => ValueKind::F64,
            Type::Ptr(_) => ValueKind::Ptr,
            _ => return None,
        })
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueKind::Void => f.write_str("void"),
            ValueKind::Int(bits) => write!(f, "i{bits}"),
            ValueKind::F32 => f.write_str("float"),
            ValueKind::F64 => f.write_str("double"),
            ValueKind::Ptr => f.write_str("pointer"),
        }
    }
}

/// Restricts [`GuestValue`] to the types below: calls rely on their constants.
mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A Rust type that is a guest scalar: integers, `bool`, `f32`, `f64`, [`GuestPtr`] and, as a
/// result, `()`.
pub trait GuestValue: Copy + 'static + Sealed {
    /// Kind of the value in the guest.
    const KIND: ValueKind;
    /// True if a C caller sign-extends the value.
    const SIGNED: bool;
    /// Converts to the low bits of a slot, sign-extended if signed.
    fn to_slot(self) -> u64;
    /// Converts from the low bits of a slot; the bits above them are ignored.
    fn from_slot(slot: u64) -> Self;
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Sealed for $t {}
        impl GuestValue for $t {
            const KIND: ValueKind = ValueKind::Int(<$t>::BITS);
            const SIGNED: bool = <$t>::MIN != 0;
            fn to_slot(self) -> u64 {
                self as i64 as u64
            }
            fn from_slot(slot: u64) -> Self {
                slot as $t
            }
        }
    )*};
}
integers!(i8, u8, i16, u16, i32, u32, i64, u64, isize, usize);

impl Sealed for bool {}
impl GuestValue for bool {
    const KIND: ValueKind = ValueKind::Int(1);
    const SIGNED: bool = false;
    fn to_slot(self) -> u64 {
        u64::from(self)
    }
    // Only the lowest bit of a C result is significant.
    fn from_slot(slot: u64) -> Self {
        slot & 1 != 0
    }
}

impl Sealed for f32 {}
impl GuestValue for f32 {
    const KIND: ValueKind = ValueKind::F32;
    const SIGNED: bool = false;
    fn to_slot(self) -> u64 {
        u64::from(self.to_bits())
    }
    fn from_slot(slot: u64) -> Self {
        f32::from_bits(slot as u32)
    }
}

impl Sealed for f64 {}
impl GuestValue for f64 {
    const KIND: ValueKind = ValueKind::F64;
    const SIGNED: bool = false;
    fn to_slot(self) -> u64 {
        self.to_bits()
    }
    fn from_slot(slot: u64) -> Self {
        f64::from_bits(slot)
    }
}

impl Sealed for () {}
impl GuestValue for () {
    const KIND: ValueKind = ValueKind::Void;
    const SIGNED: bool = false;
    fn to_slot(self) -> u64 {
        0
    }
    fn from_slot(_: u64) -> Self {}
}

/// A guest pointer to values of type `T`. Guest pointers are host pointers, so nothing is
/// translated. Reading and writing through it is as unsafe as through any raw pointer.
#[repr(transparent)]
pub struct GuestPtr<T> {
    address: usize,
    marker: PhantomData<*mut T>,
}

impl<T> Clone for GuestPtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for GuestPtr<T> {}
impl<T> PartialEq for GuestPtr<T> {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}
impl<T> Eq for GuestPtr<T> {}
impl<T> fmt::Debug for GuestPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GuestPtr({:#x})", self.address)
    }
}

// SAFETY: the value is an address. The contracts of `read`, `write` and the slices exclude data
// races.
unsafe impl<T> Send for GuestPtr<T> {}
// SAFETY: the value is an address. The contracts of `read`, `write` and the slices exclude data
// races.
unsafe impl<T> Sync for GuestPtr<T> {}

impl<T> Sealed for GuestPtr<T> {}
impl<T: 'static> GuestValue for GuestPtr<T> {
    const KIND: ValueKind = ValueKind::Ptr;
    const SIGNED: bool = false;
    fn to_slot(self) -> u64 {
        self.address as u64
    }
    fn from_slot(slot: u64) -> Self {
        GuestPtr::from_address(slot as usize)
    }
}

impl<T> GuestPtr<T> {
    /// The null pointer.
    pub const NULL: GuestPtr<T> = GuestPtr {
        address: 0,
        marker: PhantomData,
    };

    /// Returns the pointer with this address.
    pub fn from_address(address: usize) -> Self {
        GuestPtr {
            address,
            marker: PhantomData,
        }
    }

    /// Returns the address.
    pub fn address(self) -> usize {
        self.address
    }

    /// Returns true for the null pointer.
    pub fn is_null(self) -> bool {
        self.address == 0
    }

    /// Returns the raw pointer.
    pub fn as_ptr(self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.address)
    }

    /// Returns the pointer `count` values further on.
    #[expect(clippy::should_implement_trait, reason = "as pointers have it")]
    pub fn add(self, count: usize) -> Self {
        GuestPtr::from_address(
            self.address
                .wrapping_add(count.wrapping_mul(size_of::<T>())),
        )
    }

    /// Reads the value.
    ///
    /// # Safety
    /// The guest must have a valid `T` at the address, and no thread may write it meanwhile.
    pub unsafe fn read(self) -> T
    where
        T: Copy,
    {
        // SAFETY: the address holds a valid `T` by this function's contract; an unaligned read
        // needs no alignment.
        unsafe { self.as_ptr().read_unaligned() }
    }

    /// Writes the value.
    ///
    /// # Safety
    /// The guest must have room for a `T` at the address, and no thread may use it meanwhile.
    pub unsafe fn write(self, value: T)
    where
        T: Copy,
    {
        // SAFETY: the address has room for a `T` by this function's contract; an unaligned write
        // needs no alignment.
        unsafe { self.as_ptr().write_unaligned(value) }
    }

    /// Returns `len` values as a slice.
    ///
    /// # Safety
    /// The guest must have `len` valid, aligned values at the address, which nobody writes during
    /// `'a`.
    pub unsafe fn as_slice<'a>(self, len: usize) -> &'a [T] {
        // SAFETY: this function's contract is that of `from_raw_parts`.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), len) }
    }

    /// Returns `len` values as a mutable slice.
    ///
    /// # Safety
    /// The guest must have `len` valid, aligned values at the address, which nobody else uses
    /// during `'a`.
    pub unsafe fn as_slice_mut<'a>(self, len: usize) -> &'a mut [T] {
        // SAFETY: this function's contract is that of `from_raw_parts_mut`.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), len) }
    }
}

impl GuestPtr<u8> {
    /// Returns the text up to the zero byte; bytes that are not UTF-8 are replaced.
    ///
    /// # Safety
    /// The address must hold a zero-terminated string.
    pub unsafe fn read_str(self) -> String {
        // SAFETY: the address holds a zero-terminated string by this function's contract.
        let text = unsafe { std::ffi::CStr::from_ptr(self.as_ptr().cast()) };
        text.to_string_lossy().into_owned()
    }
}
