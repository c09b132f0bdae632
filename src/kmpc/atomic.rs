//! `__kmpc_atomic_*`: atomic updates that a compiler does not inline.
//!
//! OpenMP 5.2, section 15.8.4.
//!
//! Integers and floats of up to 8 bytes use compare-and-swap on the object itself, so they mix with
//! inlined atomics; complex numbers and larger objects share one lock. Every update is sequentially
//! consistent. Rust has no `long double`; `abi::x87` implements its arithmetic. clang never emits
//! these calls.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use crate::abi::x87::{self, Extended, ExtendedComplex, Number as _};
use crate::ident::Ident;
use crate::lock;
use crate::runtime::RUNTIME;
use crate::waits::Construct;

/// `float _Complex` and `double _Complex`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex<F> {
    /// Real part.
    pub re: F,
    /// Imaginary part.
    pub im: F,
}

/// A type whose objects can be updated atomically.
pub trait Cell: Copy {
    /// Replaces the value by `f(old)`; returns (old, new).
    ///
    /// # Safety
    /// `cell` is valid and only accessed atomically meanwhile.
    unsafe fn replace(cell: *mut Self, f: impl Fn(Self) -> Self) -> (Self, Self);
}

macro_rules! cells {
    ($($t:ty, $atomic:ty, $to:expr, $from:expr;)*) => {$(
        impl Cell for $t {
            #[inline(always)]
            unsafe fn replace(cell: *mut Self, f: impl Fn(Self) -> Self) -> (Self, Self) {
                // SAFETY: valid and only accessed atomically (caller's contract); size and
                // alignment are the same on this machine.
                let atomic = unsafe { &*cell.cast::<$atomic>() };
                let mut seen = atomic.load(Ordering::Relaxed);
                loop {
                    let old: $t = $from(seen);
                    let new = f(old);
                    match atomic.compare_exchange_weak(
                        seen,
                        $to(new),
                        Ordering::SeqCst,
                        Ordering::Relaxed,
                    ) {
                        Ok(_) => return (old, new),
                        Err(now) => seen = now,
                    }
                }
            }
        }
    )*};
}
cells! {
    i8, AtomicU8, |v| v as u8, |v| v as i8;
    u8, AtomicU8, |v| v, |v| v;
    i16, AtomicU16, |v| v as u16, |v| v as i16;
    u16, AtomicU16, |v| v, |v| v;
    i32, AtomicU32, |v| v as u32, |v| v as i32;
    u32, AtomicU32, |v| v, |v| v;
    i64, AtomicU64, |v| v as u64, |v| v as i64;
    u64, AtomicU64, |v| v, |v| v;
    f32, AtomicU32, f32::to_bits, f32::from_bits;
    f64, AtomicU64, f64::to_bits, f64::from_bits;
}

impl<F: Copy> Cell for Complex<F> {
    unsafe fn replace(cell: *mut Self, f: impl Fn(Self) -> Self) -> (Self, Self) {
        lock::acquire(&RUNTIME.atomic_lock, Construct::ATOMIC);
        // SAFETY: valid (caller's contract); all accesses take the lock.
        let result = unsafe {
            let old = *cell;
            let new = f(old);
            *cell = new;
            (old, new)
        };
        lock::release(&RUNTIME.atomic_lock);
        result
    }
}

/// An operation `old op operand`.
pub trait Op<T, R = T> {
    /// Returns the new value.
    fn apply(old: T, operand: R) -> T;
}

macro_rules! ops {
    ($($(#[$doc:meta])* $op:ident: $($t:ty),* => |$a:ident, $b:ident| $e:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $op;
        $(impl Op<$t> for $op {
            #[inline(always)]
            fn apply($a: $t, $b: $t) -> $t {
                $e
            }
        })*
    )*};
}

/// Arithmetic that is the same for integers (wrapping), floats and complex numbers.
trait Arithmetic: Copy {
    fn add(self, o: Self) -> Self;
    fn sub(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn div(self, o: Self) -> Self;
}
macro_rules! integer_arithmetic {
    ($($t:ty)*) => {$(impl Arithmetic for $t {
        fn add(self, o: Self) -> Self { self.wrapping_add(o) }
        fn sub(self, o: Self) -> Self { self.wrapping_sub(o) }
        fn mul(self, o: Self) -> Self { self.wrapping_mul(o) }
        // Division by zero is the program's error, and must not unwind out of the runtime.
        fn div(self, o: Self) -> Self { if o == 0 { 0 } else { self.wrapping_div(o) } }
    })*};
}
integer_arithmetic!(i8 u8 i16 u16 i32 u32 i64 u64);
macro_rules! float_arithmetic {
    ($($t:ty)*) => {$(
        impl Arithmetic for $t {
            fn add(self, o: Self) -> Self { self + o }
            fn sub(self, o: Self) -> Self { self - o }
            fn mul(self, o: Self) -> Self { self * o }
            fn div(self, o: Self) -> Self { self / o }
        }
        impl Arithmetic for Complex<$t> {
            fn add(self, o: Self) -> Self { Complex { re: self.re + o.re, im: self.im + o.im } }
            fn sub(self, o: Self) -> Self { Complex { re: self.re - o.re, im: self.im - o.im } }
            fn mul(self, o: Self) -> Self {
                Complex {
                    re: self.re * o.re - self.im * o.im,
                    im: self.re * o.im + self.im * o.re,
                }
            }
            fn div(self, o: Self) -> Self {
                let d = o.re * o.re + o.im * o.im;
                Complex {
                    re: (self.re * o.re + self.im * o.im) / d,
                    im: (self.im * o.re - self.re * o.im) / d,
                }
            }
        }
    )*};
}
float_arithmetic!(f32 f64);

ops! {
    /// Addition.
    Add: i8, i16, i32, i64, f32, f64, Complex<f32>, Complex<f64> => |a, b| a.add(b);
    /// Subtraction.
    Sub: i8, i16, i32, i64, f32, f64, Complex<f32>, Complex<f64> => |a, b| a.sub(b);
    /// Multiplication.
    Mul: i8, i16, i32, i64, f32, f64, Complex<f32>, Complex<f64> => |a, b| a.mul(b);
    /// Division.
    Div: i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, Complex<f32>, Complex<f64>
        => |a, b| a.div(b);
    /// Subtraction from the operand.
    SubRev: i8, i16, i32, i64, f32, f64, Complex<f32>, Complex<f64> => |a, b| b.sub(a);
    /// Division of the operand.
    DivRev: i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, Complex<f32>, Complex<f64>
        => |a, b| b.div(a);
    /// Bitwise and.
    And: i8, i16, i32, i64 => |a, b| a & b;
    /// Bitwise or.
    Or: i8, i16, i32, i64 => |a, b| a | b;
    /// Bitwise exclusive or.
    Xor: i8, i16, i32, i64 => |a, b| a ^ b;
    /// Bitwise equivalence.
    Eqv: i8, i16, i32, i64 => |a, b| !(a ^ b);
    /// Shift left.
    Shl: i8, i16, i32, i64 => |a, b| a.wrapping_shl(b as u32);
    /// Shift right, arithmetic for signed types.
    Shr: i8, u8, i16, u16, i32, u32, i64, u64 => |a, b| a.wrapping_shr(b as u32);
    /// Shift of the operand to the left.
    ShlRev: i8, i16, i32, i64 => |a, b| b.wrapping_shl(a as u32);
    /// Shift of the operand to the right.
    ShrRev: i8, u8, i16, u16, i32, u32, i64, u64 => |a, b| b.wrapping_shr(a as u32);
    /// Logical and.
    AndL: i8, i16, i32, i64 => |a, b| (a != 0 && b != 0) as _;
    /// Logical or.
    OrL: i8, i16, i32, i64 => |a, b| (a != 0 || b != 0) as _;
    /// The smaller.
    Min: i8, i16, i32, i64, f32, f64 => |a, b| if b < a { b } else { a };
    /// The larger.
    Max: i8, i16, i32, i64, f32, f64 => |a, b| if b > a { b } else { a };
    /// The operand.
    Set: i8, i16, i32, i64, f32, f64, Complex<f32>, Complex<f64> => |_a, b| b;
}

macro_rules! mixed_ops {
    ($($t:ty)*) => {$(
        impl Op<$t, f64> for Add { fn apply(a: $t, b: f64) -> $t { (a as f64 + b) as $t } }
        impl Op<$t, f64> for Sub { fn apply(a: $t, b: f64) -> $t { (a as f64 - b) as $t } }
        impl Op<$t, f64> for Mul { fn apply(a: $t, b: f64) -> $t { (a as f64 * b) as $t } }
        impl Op<$t, f64> for Div { fn apply(a: $t, b: f64) -> $t { (a as f64 / b) as $t } }
    )*};
}
mixed_ops!(i8 i16 i32 i64 f32);

macro_rules! wide_complex_ops {
    ($($op:ident $f:ident)*) => {$(
        impl Op<Complex<f32>, Complex<f64>> for $op {
            fn apply(a: Complex<f32>, b: Complex<f64>) -> Complex<f32> {
                let r = Complex { re: a.re as f64, im: a.im as f64 }.$f(b);
                Complex { re: r.re as f32, im: r.im as f32 }
            }
        }
    )*};
}
wide_complex_ops!(Add add Sub sub Mul mul Div div);

/// Computes `*cell = *cell op operand`.
///
/// # Safety
/// `cell` is valid and accessed only atomically.
pub unsafe extern "C-unwind" fn update<T: Cell, R: Copy, O: Op<T, R>>(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut T,
    operand: R,
) {
    // SAFETY: `cell` is valid and accessed only atomically (caller's contract).
    unsafe { T::replace(cell, |old| O::apply(old, operand)) };
}

/// Like [`update`]; returns the new value if `after` is not 0, the old one otherwise.
///
/// # Safety
/// As for [`update`].
pub unsafe extern "C-unwind" fn capture<T: Cell, O: Op<T>>(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut T,
    operand: T,
    after: i32,
) -> T {
    // SAFETY: `cell` is valid and accessed only atomically (caller's contract).
    let (old, new) = unsafe { T::replace(cell, |old| O::apply(old, operand)) };
    if after != 0 { new } else { old }
}

/// Like [`capture`], storing the value in `out`.
///
/// # Safety
/// As for [`update`]; `out` is valid.
pub unsafe extern "C-unwind" fn capture_to<T: Cell, O: Op<T>>(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut T,
    operand: T,
    out: *mut T,
    after: i32,
) {
    // SAFETY: `cell` is accessed only atomically, and `out` is valid (caller's contract).
    unsafe {
        let (old, new) = T::replace(cell, |old| O::apply(old, operand));
        *out = if after != 0 { new } else { old };
    }
}

/// Returns `*cell`.
///
/// # Safety
/// As for [`update`].
pub unsafe extern "C-unwind" fn read<T: Cell>(_: *const Ident, _gtid: i32, cell: *mut T) -> T {
    // SAFETY: `cell` is valid and accessed only atomically (caller's contract).
    unsafe { T::replace(cell, |old| old).0 }
}

/// Stores the operand and returns the old value.
///
/// # Safety
/// As for [`update`].
pub unsafe extern "C-unwind" fn swap<T: Cell>(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut T,
    operand: T,
) -> T {
    // SAFETY: `cell` is valid and accessed only atomically (caller's contract).
    unsafe { T::replace(cell, |_| operand).0 }
}

/// Like [`swap`], storing the old value in `out`.
///
/// # Safety
/// As for [`update`]; `out` is valid.
pub unsafe extern "C-unwind" fn swap_to<T: Cell>(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut T,
    operand: T,
    out: *mut T,
) {
    // SAFETY: `cell` is accessed only atomically, and `out` is valid (caller's contract).
    unsafe { *out = T::replace(cell, |_| operand).0 };
}

unsafe fn compare_and_swap<T: Cell + PartialEq>(cell: *mut T, expected: T, desired: T) -> T {
    // SAFETY: callers pass a valid cell that is accessed only atomically.
    unsafe { T::replace(cell, |old| if old == expected { desired } else { old }).0 }
}

/// Stores `desired` if the value is `expected`; returns 1 if it was.
///
/// # Safety
/// As for [`update`].
pub unsafe extern "C-unwind" fn cas<T: Cell + PartialEq>(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut T,
    expected: T,
    desired: T,
) -> i8 {
    // SAFETY: `cell` is valid and accessed only atomically (caller's contract).
    unsafe { (compare_and_swap(cell, expected, desired) == expected) as i8 }
}

/// Like [`cas`]; stores the old value in `out` if it was not `expected`.
///
/// # Safety
/// As for [`update`]; `out` is valid.
pub unsafe extern "C-unwind" fn cas_capture<T: Cell + PartialEq>(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut T,
    expected: T,
    desired: T,
    out: *mut T,
) -> i8 {
    // SAFETY: `cell` is accessed only atomically, and `out` is valid (caller's contract).
    unsafe {
        let old = compare_and_swap(cell, expected, desired);
        if old != expected {
            *out = old;
        }
        (old == expected) as i8
    }
}

/// Like [`cas`]; returns the old value.
///
/// # Safety
/// As for [`update`].
pub unsafe extern "C-unwind" fn cas_value<T: Cell + PartialEq>(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut T,
    expected: T,
    desired: T,
) -> T {
    // SAFETY: `cell` is valid and accessed only atomically (caller's contract).
    unsafe { compare_and_swap(cell, expected, desired) }
}

/// Like [`cas_value`]; stores the new value in `out`.
///
/// # Safety
/// As for [`update`]; `out` is valid.
pub unsafe extern "C-unwind" fn cas_value_capture<T: Cell + PartialEq>(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut T,
    expected: T,
    desired: T,
    out: *mut T,
) -> T {
    // SAFETY: `cell` is accessed only atomically, and `out` is valid (caller's contract).
    unsafe {
        let old = compare_and_swap(cell, expected, desired);
        *out = if old == expected { desired } else { old };
        old
    }
}

/// The compiler's `f(&new, &old, operand)`.
type Combine = Option<unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut c_void)>;

/// Updates an object of `T`'s size with a function of the compiler's.
///
/// # Safety
/// `cell` is valid and accessed only atomically; `combine` takes objects of its type.
pub unsafe extern "C-unwind" fn update_by<T: Cell + Default>(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut c_void,
    operand: *mut c_void,
    combine: Combine,
) {
    let Some(combine) = combine else { return };
    // SAFETY: `cell` and `operand` are objects that `combine` takes (caller's contract).
    unsafe {
        T::replace(cell.cast::<T>(), |mut old| {
            let mut new = T::default();
            combine((&raw mut new).cast(), (&raw mut old).cast(), operand);
            new
        });
    }
}

/// Updates an object of any size with a function of the compiler's, under the lock.
///
/// # Safety
/// `cell` is valid and accessed only under the lock; `combine` takes objects of its type.
pub unsafe extern "C-unwind" fn update_by_locked(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut c_void,
    operand: *mut c_void,
    combine: Combine,
) {
    let Some(combine) = combine else { return };
    lock::acquire(&RUNTIME.atomic_lock, Construct::ATOMIC);
    // SAFETY: `cell` and `operand` are objects that `combine` takes (caller's contract).
    unsafe { combine(cell, cell, operand) };
    lock::release(&RUNTIME.atomic_lock);
}

/// Begins an atomic region that the compiler cannot express otherwise.
pub unsafe extern "C-unwind" fn start() {
    lock::acquire(&RUNTIME.atomic_lock, Construct::ATOMIC);
}

/// Ends the atomic region that [`start`] began.
pub unsafe extern "C-unwind" fn end() {
    lock::release(&RUNTIME.atomic_lock);
}

/// Defines updates of `long double`s and their complex numbers, under the lock.
macro_rules! extended {
    ($($(#[$doc:meta])* $op:ident: $($t:ty),* => |$a:ident, $b:ident| $e:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $op;
        $(impl x87::Atomic<$t> for $op {
            unsafe extern "C" fn apply(
                _ident: *const Ident,
                _gtid: i32,
                cell: *mut $t,
                after: i32,
                operand: *const $t,
                out: *mut $t,
            ) {
                lock::acquire(&RUNTIME.atomic_lock, Construct::ATOMIC);
                // SAFETY: the pointers are valid (the trait's contract); all accesses take the
                // lock.
                unsafe {
                    let mut old = <$t>::default();
                    x87::Number::copy(&raw mut old, cell);
                    let ($a, $b) = (old, operand);
                    let new: $t = $e;
                    x87::Number::copy(cell, &raw const new);
                    if !out.is_null() {
                        let result = if after != 0 { &raw const new } else { &raw const old };
                        x87::Number::copy(out, result);
                    }
                }
                lock::release(&RUNTIME.atomic_lock);
            }
        })*
    )*};
}
extended! {
    /// Addition in `long double`.
    WideAdd: Extended, ExtendedComplex => |a, b| a.add(*b);
    /// Subtraction in `long double`.
    WideSub: Extended, ExtendedComplex => |a, b| a.sub(*b);
    /// Multiplication in `long double`.
    WideMul: Extended, ExtendedComplex => |a, b| a.mul(*b);
    /// Division in `long double`.
    WideDiv: Extended, ExtendedComplex => |a, b| a.div(*b);
    /// Subtraction from the operand in `long double`.
    WideSubRev: Extended, ExtendedComplex => |a, b| (*b).sub(a);
    /// Division of the operand in `long double`.
    WideDivRev: Extended, ExtendedComplex => |a, b| (*b).div(a);
    /// The smaller `long double`.
    WideMin: Extended => |a, b| x87::smaller(a, *b);
    /// The larger `long double`.
    WideMax: Extended => |a, b| x87::larger(a, *b);
    /// The operand; the result of a swap is the old value.
    WideSet: Extended, ExtendedComplex => |_a, b| *b;
    /// The value itself.
    WideKeep: Extended, ExtendedComplex => |a, _b| a;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null;

    #[test]
    fn kmpc_atomic_operations() {
        let mut x = 7i32;
        // SAFETY: only this thread accesses `x`.
        unsafe {
            update::<i32, i32, Add>(null(), 0, &mut x, 5);
            assert_eq!(x, 12);
            update::<i32, i32, SubRev>(null(), 0, &mut x, 5);
            assert_eq!(x, -7);
            assert_eq!(capture::<i32, Max>(null(), 0, &mut x, 3, 0), -7);
            assert_eq!(capture::<i32, Min>(null(), 0, &mut x, 2, 1), 2);
            update::<i32, f64, Mul>(null(), 0, &mut x, 2.5);
            assert_eq!(x, 5);
            assert_eq!(cas(null(), 0, &mut x, 5, 9), 1);
            let mut old = 0;
            assert_eq!(cas_capture(null(), 0, &mut x, 5, 1, &mut old), 0);
            assert_eq!((x, old), (9, 9));
            update::<i32, i32, AndL>(null(), 0, &mut x, 4);
            assert_eq!(x, 1);
        }
        let mut z = Complex {
            re: 1.0f64,
            im: 2.0,
        };
        // SAFETY: only this thread accesses `z`.
        unsafe { update::<_, _, Mul>(null(), 0, &mut z, Complex { re: 3.0, im: -1.0 }) };
        assert_eq!(z, Complex { re: 5.0, im: 5.0 });
    }
}
