//! Values that cross between Rust and the guest: scalars and guest pointers.
//!
//! What not: structs by value; pass a pointer to them.

use crate::ir::{FloatKind, Type};
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

/// The guest's view of a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// Nothing (results only).
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
    /// The kind of an IR type, if it is a scalar that Rust can give or take.
    pub fn of(ty: &Type) -> Option<ValueKind> {
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

/// Keeps [`GuestValue`] to the types below: calls rely on what their constants say.
mod sealed {
    pub trait Sealed {}
}
pub(crate) use sealed::Sealed;

/// A Rust type that is a guest scalar: integers, `bool`, `f32`, `f64`, [`GuestPtr`] and, as a
/// result, `()`.
pub trait GuestValue: Copy + 'static + Sealed {
    /// What the guest sees.
    const KIND: ValueKind;
    /// True if a C caller sign-extends it.
    const SIGNED: bool;
    /// How C functions take and return it.
    type Native: Copy;
    /// As a C argument.
    fn to_native(self) -> Self::Native;
    /// From a C result.
    fn from_native(native: Self::Native) -> Self;
    /// As the low bits of a slot, sign-extended when signed.
    fn to_slot(self) -> u64;
    /// From the low bits of a slot; what lies above them is ignored.
    fn from_slot(slot: u64) -> Self;
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Sealed for $t {}
        impl GuestValue for $t {
            const KIND: ValueKind = ValueKind::Int(<$t>::BITS);
            const SIGNED: bool = <$t>::MIN != 0;
            type Native = $t;
            fn to_native(self) -> $t {
                self
            }
            fn from_native(native: $t) -> $t {
                native
            }
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
    // Only the lowest bit of a result counts.
    type Native = u8;
    fn to_native(self) -> u8 {
        u8::from(self)
    }
    fn from_native(native: u8) -> bool {
        native & 1 != 0
    }
    fn to_slot(self) -> u64 {
        u64::from(self)
    }
    fn from_slot(slot: u64) -> Self {
        slot & 1 != 0
    }
}

impl Sealed for f32 {}
impl GuestValue for f32 {
    const KIND: ValueKind = ValueKind::F32;
    const SIGNED: bool = false;
    type Native = f32;
    fn to_native(self) -> f32 {
        self
    }
    fn from_native(native: f32) -> f32 {
        native
    }
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
    type Native = f64;
    fn to_native(self) -> f64 {
        self
    }
    fn from_native(native: f64) -> f64 {
        native
    }
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
    type Native = ();
    fn to_native(self) {}
    fn from_native((): ()) {}
    fn to_slot(self) -> u64 {
        0
    }
    fn from_slot(_: u64) -> Self {}
}

/// A pointer of the guest to values of type `T`. Guest pointers are host pointers, so nothing is
/// translated; reading and writing through it is as unsafe as through any raw pointer.
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

// SAFETY: an address; whoever reads or writes through it promises that no other thread is in the way.
unsafe impl<T> Send for GuestPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for GuestPtr<T> {}

impl<T> Sealed for GuestPtr<T> {}
impl<T: 'static> GuestValue for GuestPtr<T> {
    const KIND: ValueKind = ValueKind::Ptr;
    const SIGNED: bool = false;
    type Native = *mut c_void;
    fn to_native(self) -> *mut c_void {
        self.as_ptr().cast()
    }
    fn from_native(native: *mut c_void) -> Self {
        GuestPtr::from_address(native.expose_provenance())
    }
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

    /// The pointer with that address.
    pub fn from_address(address: usize) -> Self {
        GuestPtr {
            address,
            marker: PhantomData,
        }
    }

    /// The address.
    pub fn address(self) -> usize {
        self.address
    }

    /// Whether it is null.
    pub fn is_null(self) -> bool {
        self.address == 0
    }

    /// As a raw pointer.
    pub fn as_ptr(self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.address)
    }

    /// The pointer `count` values further on.
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
    /// The guest has a valid `T` there and no thread writes it meanwhile.
    pub unsafe fn read(self) -> T
    where
        T: Copy,
    {
        // SAFETY: see the caller's promise; alignment is not asked for.
        unsafe { self.as_ptr().read_unaligned() }
    }

    /// Writes the value.
    ///
    /// # Safety
    /// The guest has room for a `T` there and no thread uses it meanwhile.
    pub unsafe fn write(self, value: T)
    where
        T: Copy,
    {
        // SAFETY: see the caller's promise; alignment is not asked for.
        unsafe { self.as_ptr().write_unaligned(value) }
    }

    /// `len` values as a slice.
    ///
    /// # Safety
    /// The guest has `len` valid values there, aligned, that nobody writes during `'a`.
    pub unsafe fn as_slice<'a>(self, len: usize) -> &'a [T] {
        // SAFETY: see the caller's promise.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), len) }
    }

    /// `len` values as a mutable slice.
    ///
    /// # Safety
    /// The guest has `len` valid values there, aligned, that nobody else uses during `'a`.
    pub unsafe fn as_slice_mut<'a>(self, len: usize) -> &'a mut [T] {
        // SAFETY: see the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), len) }
    }
}

impl GuestPtr<u8> {
    /// The text up to the zero byte (bytes that are not UTF-8 are replaced).
    ///
    /// # Safety
    /// A zero-terminated string lies there.
    pub unsafe fn read_str(self) -> String {
        // SAFETY: see the caller's promise.
        let text = unsafe { std::ffi::CStr::from_ptr(self.as_ptr().cast()) };
        text.to_string_lossy().into_owned()
    }
}
