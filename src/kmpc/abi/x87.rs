//! `long double` and its complex numbers: their arithmetic, and entries that take and return them.
//!
//! Rust has no such type. So an entry consists of a few instructions that pass the operand's
//! address (it lies on the stack) to a function in Rust, and load the result that the function
//! stored. The arithmetic is the processor's, in 80 bits, as in compiled programs.
//!
//! The corrections for infinities that C allows in complex products and quotients are not made.

use std::arch::{asm, naked_asm};

use crate::ident::Ident;

/// `long double`: ten bytes, in sixteen.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct Extended([u8; 16]);

/// `long double _Complex`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ExtendedComplex {
    re: Extended,
    im: Extended,
}

macro_rules! arithmetic {
    ($($name:ident $instruction:literal;)*) => {$(
        #[inline]
        fn $name(a: Extended, b: Extended) -> Extended {
            let mut result = Extended::default();
            // SAFETY: reads two values and writes one; the x87 stack is unchanged.
            unsafe {
                asm!(
                    "fld tbyte ptr [{a}]",
                    "fld tbyte ptr [{b}]",
                    $instruction,
                    "fstp tbyte ptr [{r}]",
                    a = in(reg) &raw const a,
                    b = in(reg) &raw const b,
                    r = in(reg) &raw mut result,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    options(nostack),
                );
            }
            result
        }
    )*};
}
arithmetic! {
    add "faddp st(1), st";
    sub "fsubp st(1), st";
    mul "fmulp st(1), st";
    div "fdivp st(1), st";
}

impl Extended {
    /// Returns true if the value is below `other`; false if one is not a number.
    fn below(self, other: Extended) -> bool {
        let above: u8;
        // SAFETY: reads two values; the x87 stack is unchanged.
        unsafe {
            asm!(
                "fld tbyte ptr [{a}]",
                "fld tbyte ptr [{b}]",
                // Compares b with a.
                "fcomip st, st(1)",
                "fstp st(0)",
                "seta {above}",
                a = in(reg) &raw const self,
                b = in(reg) &raw const other,
                above = out(reg_byte) above,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        above != 0
    }
}

/// Operations of both types.
pub trait Number: Copy + Default {
    /// Returns the sum.
    fn add(self, o: Self) -> Self;
    /// Returns the difference.
    fn sub(self, o: Self) -> Self;
    /// Returns the product.
    fn mul(self, o: Self) -> Self;
    /// Returns the quotient.
    fn div(self, o: Self) -> Self;
    /// Copies the bytes that hold the value.
    ///
    /// # Safety
    /// Both pointers are valid.
    unsafe fn copy(to: *mut Self, from: *const Self);
}

impl Number for Extended {
    fn add(self, o: Self) -> Self {
        add(self, o)
    }
    fn sub(self, o: Self) -> Self {
        sub(self, o)
    }
    fn mul(self, o: Self) -> Self {
        mul(self, o)
    }
    fn div(self, o: Self) -> Self {
        div(self, o)
    }
    unsafe fn copy(to: *mut Self, from: *const Self) {
        // SAFETY: both pointers are valid (caller's contract). The six bytes of padding may be
        // anything.
        unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), 10) };
    }
}

impl Number for ExtendedComplex {
    fn add(self, o: Self) -> Self {
        Self {
            re: add(self.re, o.re),
            im: add(self.im, o.im),
        }
    }
    fn sub(self, o: Self) -> Self {
        Self {
            re: sub(self.re, o.re),
            im: sub(self.im, o.im),
        }
    }
    fn mul(self, o: Self) -> Self {
        Self {
            re: sub(mul(self.re, o.re), mul(self.im, o.im)),
            im: add(mul(self.re, o.im), mul(self.im, o.re)),
        }
    }
    fn div(self, o: Self) -> Self {
        let d = add(mul(o.re, o.re), mul(o.im, o.im));
        Self {
            re: div(add(mul(self.re, o.re), mul(self.im, o.im)), d),
            im: div(sub(mul(self.im, o.re), mul(self.re, o.im)), d),
        }
    }
    unsafe fn copy(to: *mut Self, from: *const Self) {
        // SAFETY: both pointers are valid (caller's contract).
        unsafe {
            Number::copy(&raw mut (*to).re, &raw const (*from).re);
            Number::copy(&raw mut (*to).im, &raw const (*from).im);
        }
    }
}

/// Returns the smaller value.
pub fn smaller(a: Extended, b: Extended) -> Extended {
    if b.below(a) { b } else { a }
}

/// Returns the larger value.
pub fn larger(a: Extended, b: Extended) -> Extended {
    if a.below(b) { b } else { a }
}

/// An atomic operation on the value in `cell`, with `operand` if it has one; stores the result in
/// `out` if that is not null.
pub trait Atomic<T> {
    /// Performs the operation; `after` requests the new value instead of the old one.
    ///
    /// # Safety
    /// The pointers are valid, `operand` and `out` if the operation has one.
    unsafe extern "C" fn apply(
        ident: *const Ident,
        gtid: i32,
        cell: *mut T,
        after: i32,
        operand: *const T,
        out: *mut T,
    );
}

/// Implements an entry `void f(ident, gtid, T *cell, T operand)`.
///
/// # Safety
/// `cell` is valid and accessed only atomically.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn update<T, A: Atomic<T>>(
    ident: *const Ident,
    gtid: i32,
    cell: *mut T,
    operand: T,
) {
    naked_asm!(
        ".cfi_startproc",
        "lea r8, [rsp + 8]",
        "xor ecx, ecx",
        "xor r9d, r9d",
        "jmp {apply}",
        ".cfi_endproc",
        apply = sym A::apply,
    )
}

/// Defines an entry that returns a number. `$after` sets the request if no argument does; `$load`
/// loads the part of the result below the number's (real) part.
macro_rules! returning {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $t:ty),*): $after:literal, $load:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `cell` is valid and accessed only atomically.
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn $name<A: Atomic<Wide>, Wide>(
            ident: *const Ident,
            gtid: i32,
            cell: *mut Wide,
            $($arg: $t),*
        ) -> Wide {
            naked_asm!(
                ".cfi_startproc",
                "lea r8, [rsp + 8]",
                $after,
                "sub rsp, 40",
                ".cfi_adjust_cfa_offset 40",
                "mov r9, rsp",
                "call {apply}",
                $load,
                "fld tbyte ptr [rsp]",
                "add rsp, 40",
                ".cfi_adjust_cfa_offset -40",
                "ret",
                ".cfi_endproc",
                apply = sym A::apply,
            )
        }
    )*};
}
returning! {
    /// Implements an entry `long double f(ident, gtid, long double *cell, long double operand, int
    /// after)`.
    capture(operand: Wide, after: i32): "", "";
    /// Like [`capture`] for complex numbers, whose imaginary part is returned below the real one.
    capture_complex(operand: Wide, after: i32): "", "fld tbyte ptr [rsp + 16]";
    /// Implements an entry `long double f(ident, gtid, long double *cell, long double operand)`.
    swap(operand: Wide): "xor ecx, ecx", "";
    /// Like [`swap`] for complex numbers.
    swap_complex(operand: Wide): "xor ecx, ecx", "fld tbyte ptr [rsp + 16]";
    /// Implements an entry `long double f(ident, gtid, long double *cell)`.
    read(): "xor ecx, ecx", "";
    /// Like [`read`] for complex numbers.
    read_complex(): "xor ecx, ecx", "fld tbyte ptr [rsp + 16]";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64) -> Extended {
        let mut wide = Extended::default();
        // SAFETY: converts by one load and one store.
        unsafe {
            asm!("fld qword ptr [{v}]", "fstp tbyte ptr [{w}]", v = in(reg) &raw const value,
                w = in(reg) &raw mut wide, out("st(0)") _, options(nostack));
        }
        wide
    }

    fn back(wide: Extended) -> f64 {
        let mut value = 0.0;
        // SAFETY: converts by one load and one store.
        unsafe {
            asm!("fld tbyte ptr [{w}]", "fstp qword ptr [{v}]", v = in(reg) &raw mut value,
                w = in(reg) &raw const wide, out("st(0)") _, options(nostack));
        }
        value
    }

    #[test]
    fn kmpc_long_double_arithmetic() {
        let (a, b) = (of(7.0), of(2.0));
        let all = [add(a, b), sub(a, b), mul(a, b), div(a, b)];
        assert_eq!(all.map(back), [9.0, 5.0, 14.0, 3.5]);
        assert_eq!(back(smaller(a, b)), 2.0);
        assert_eq!(back(larger(a, b)), 7.0);
        let nan = of(f64::NAN);
        assert!(!a.below(a) && b.below(a) && !nan.below(a) && !a.below(nan));
        // A value that a double cannot hold.
        let fine = sub(add(of(1.0), of(2f64.powi(-60))), of(1.0));
        assert_eq!(back(fine), 2f64.powi(-60));
    }
}
