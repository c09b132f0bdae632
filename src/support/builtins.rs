//! Functions of the compilers' static runtimes (libgcc, compiler-rt) for which the process has no
//! symbol.
//!
//! [`address`] finds them by name for generated code, thunks and programs that refer to them.
//! libgcc_s, which the process always has, exports the functions of GCC 12 for x86-64; this file
//! provides the rest of compiler-rt and of newer versions of libgcc: bfloat, operations of 32 and
//! 64 bits, `__cpu_features2`. GCC's internals manual specifies their results ("The GCC low-level
//! runtime library").
//!
//! Leaves out names that only GCC's own code refers to (register save routines, split stacks,
//! decimal floating point).

use super::cpu_features;
use std::arch::naked_asm;
use std::arch::x86_64::{__m128i, _mm_storeu_si128};

/// A bfloat or half, passed and returned in the low half of the register of a float.
type Narrow = f32;

/// Returns the address of a function or variable; `None` for an unknown name.
pub fn address(name: &str) -> Option<usize> {
    if name == "__cpu_features2" {
        return Some(cpu_features::second_words());
    }
    if let Some(&(_, other)) = ALIASES.iter().find(|(n, _)| *n == name) {
        // SAFETY: only takes the address.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, other.as_ptr()) };
        return (!found.is_null()).then_some(found as usize);
    }
    let at = TABLE.binary_search_by(|f| f.0.cmp(name)).ok()?;
    Some(TABLE[at].1 as usize)
}

/// Names of functions that libgcc_s has under another name.
const ALIASES: [(&str, &std::ffi::CStr); 3] = [
    ("__cmptf2", c"__letf2"),
    ("__gnu_f2h_ieee", c"__truncsfhf2"),
    ("__gnu_h2f_ieee", c"__extendhfsf2"),
];

macro_rules! functions {
    ($($name:ident)*) => {
        const TABLE: &[(&str, *const ())] = &[$((stringify!($name), $name as *const ())),*];
    };
}

/// Rounds a value to nearest even on bfloat's eight bits of mantissa. `mantissa` holds the value's
/// bits, of which the highest has the value two to the power of `exponent`.
fn round_to_bfloat(negative: bool, exponent: i32, mantissa: u128) -> Narrow {
    let sign = u32::from(negative) << 15;
    let narrow = |bits: u32| f32::from_bits(sign | bits);
    if mantissa == 0 {
        return narrow(0);
    }
    let mantissa = mantissa << mantissa.leading_zeros();
    if exponent < -134 {
        return narrow(0);
    }
    // Number of retained bits; fewer if the result is subnormal.
    let kept = if exponent < -126 { 134 + exponent } else { 8 };
    let dropped = (128 - kept) as u32;
    let (head, rest, half) = match dropped {
        128 => (0, mantissa, 1 << 127),
        n => (
            (mantissa >> n) as u32,
            mantissa & ((1 << n) - 1),
            1u128 << (n - 1),
        ),
    };
    let up = rest > half || rest == half && head & 1 == 1;
    let head = head + u32::from(up);
    // A carry goes into the exponent.
    let bits = match exponent < -126 {
        true => head,
        false => ((exponent + 126) as u32)
            .wrapping_mul(1 << 7)
            .wrapping_add(head),
    };
    narrow(if exponent > 127 {
        0x7f80
    } else {
        bits.min(0x7f80)
    })
}

/// Returns a quiet NaN with the payload's highest bits, or an infinity for no payload.
fn nan_or_infinity(negative: bool, payload: u128) -> Narrow {
    let quiet = if payload == 0 {
        0
    } else {
        0x40 | (payload >> 121) as u32 & 0x3f
    };
    f32::from_bits(u32::from(negative) << 15 | 0x7f80 | quiet)
}

extern "C" fn __truncsfbf2(x: f32) -> Narrow {
    let bits = x.to_bits();
    let upper = if x.is_nan() {
        bits >> 16 | 0x40
    } else {
        bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16
    };
    f32::from_bits(upper)
}

extern "C" fn __truncdfbf2(x: f64) -> Narrow {
    let bits = x.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let negative = bits >> 63 != 0;
    match exponent {
        0x7ff => nan_or_infinity(negative, u128::from(fraction) << 76),
        // Far below the smallest bfloat.
        0 => round_to_bfloat(negative, -1000, u128::from(fraction)),
        _ => round_to_bfloat(negative, exponent - 1023, u128::from(fraction | 1 << 52)),
    }
}

#[expect(
    improper_ctypes_definitions,
    reason = "passed as its vector register is"
)]
extern "C" fn __trunctfbf2(x: __m128i) -> Narrow {
    let mut bits = 0u128;
    // SAFETY: writes the sixteen bytes of a local.
    unsafe { _mm_storeu_si128((&raw mut bits).cast(), x) };
    let (exponent, fraction) = ((bits >> 112 & 0x7fff) as i32, bits & ((1 << 112) - 1));
    let negative = bits >> 127 != 0;
    match exponent {
        0x7fff => nan_or_infinity(negative, fraction << 16),
        0 => round_to_bfloat(negative, -1000, fraction),
        _ => round_to_bfloat(negative, exponent - 16383, fraction | 1 << 112),
    }
}

/// Rounds a long double to bfloat.
///
/// # Safety
/// `x` is the address of a long double.
unsafe extern "C" fn extended_to_bfloat(x: *const u8) -> Narrow {
    // SAFETY: ten bytes are readable by contract.
    let (mantissa, head) = unsafe {
        (
            x.cast::<u64>().read_unaligned(),
            x.add(8).cast::<u16>().read_unaligned(),
        )
    };
    let (exponent, negative) = (i32::from(head & 0x7fff), head >> 15 != 0);
    match exponent {
        0x7fff => nan_or_infinity(negative, u128::from(mantissa << 1) << 64),
        0 => round_to_bfloat(negative, -1000, u128::from(mantissa)),
        _ => round_to_bfloat(negative, exponent - 16383, u128::from(mantissa)),
    }
}

/// Passes the address of the long double, which is an argument on the stack.
#[unsafe(naked)]
extern "C" fn __truncxfbf2() {
    naked_asm!("lea rdi, [rsp + 8]", "jmp {}", sym extended_to_bfloat)
}

extern "C" fn __extendbfsf2(x: Narrow) -> f32 {
    f32::from_bits(x.to_bits() << 16)
}

extern "C" fn __trunchfbf2(x: Narrow) -> Narrow {
    let bits = x.to_bits() & 0xffff;
    let (exponent, fraction) = ((bits >> 10 & 0x1f) as i32, u128::from(bits & 0x3ff));
    let negative = bits >> 15 != 0;
    match exponent {
        0x1f => nan_or_infinity(negative, fraction << 118),
        0 if fraction == 0 => round_to_bfloat(negative, 0, 0),
        // Half's subnormals are normal in bfloat: the highest set bit determines the exponent.
        0 => round_to_bfloat(
            negative,
            127 - fraction.leading_zeros() as i32 - 24,
            fraction,
        ),
        _ => round_to_bfloat(negative, exponent - 15, fraction | 1 << 10),
    }
}

extern "C" fn __floattibf(x: i128) -> Narrow {
    let size = x.unsigned_abs();
    round_to_bfloat(x < 0, 127 - size.leading_zeros() as i32, size)
}

extern "C" fn __floatuntibf(x: u128) -> Narrow {
    round_to_bfloat(false, 127 - x.leading_zeros() as i32, x)
}

macro_rules! float {
    ($t:ty, $add:ident $sub:ident $mul:ident $div:ident $neg:ident, $eq:ident $ne:ident $lt:ident $le:ident
     $cmp:ident $gt:ident $ge:ident $unord:ident, $fixdi:ident $fixsi:ident $fixunssi:ident,
     $floatdi:ident $floatsi:ident $floatundi:ident $floatunsi:ident) => {
        extern "C" fn $add(a: $t, b: $t) -> $t {
            a + b
        }
        extern "C" fn $sub(a: $t, b: $t) -> $t {
            a - b
        }
        extern "C" fn $mul(a: $t, b: $t) -> $t {
            a * b
        }
        extern "C" fn $div(a: $t, b: $t) -> $t {
            a / b
        }
        extern "C" fn $neg(a: $t) -> $t {
            -a
        }
        /// Compares: -1, 0 or 1 for less, equal, greater; 1 if an operand is NaN.
        extern "C" fn $le(a: $t, b: $t) -> i64 {
            a.partial_cmp(&b).map_or(1, |o| o as i64)
        }
        extern "C" fn $cmp(a: $t, b: $t) -> i64 {
            $le(a, b)
        }
        extern "C" fn $eq(a: $t, b: $t) -> i64 {
            $le(a, b)
        }
        extern "C" fn $ne(a: $t, b: $t) -> i64 {
            $le(a, b)
        }
        extern "C" fn $lt(a: $t, b: $t) -> i64 {
            $le(a, b)
        }
        /// Compares as above, but returns -1 if an operand is NaN.
        extern "C" fn $ge(a: $t, b: $t) -> i64 {
            a.partial_cmp(&b).map_or(-1, |o| o as i64)
        }
        extern "C" fn $gt(a: $t, b: $t) -> i64 {
            $ge(a, b)
        }
        extern "C" fn $unord(a: $t, b: $t) -> i64 {
            i64::from(a.is_nan() || b.is_nan())
        }
        extern "C" fn $fixdi(a: $t) -> i64 {
            a as i64
        }
        extern "C" fn $fixsi(a: $t) -> i32 {
            a as i32
        }
        extern "C" fn $fixunssi(a: $t) -> u32 {
            a as u32
        }
        extern "C" fn $floatdi(a: i64) -> $t {
            a as $t
        }
        extern "C" fn $floatsi(a: i32) -> $t {
            a as $t
        }
        extern "C" fn $floatundi(a: u64) -> $t {
            a as $t
        }
        extern "C" fn $floatunsi(a: u32) -> $t {
            a as $t
        }
    };
}
float! { f64, __adddf3 __subdf3 __muldf3 __divdf3 __negdf2, __eqdf2 __nedf2 __ltdf2 __ledf2 __cmpdf2 __gtdf2 __gedf2
__unorddf2, __fixdfdi __fixdfsi __fixunsdfsi, __floatdidf __floatsidf __floatundidf __floatunsidf }
float! { f32, __addsf3 __subsf3 __mulsf3 __divsf3 __negsf2, __eqsf2 __nesf2 __ltsf2 __lesf2 __cmpsf2 __gtsf2 __gesf2
__unordsf2, __fixsfdi __fixsfsi __fixunssfsi, __floatdisf __floatsisf __floatundisf __floatunsisf }

/// Truncates the long double on the stack to an integer.
#[unsafe(naked)]
extern "C" fn __fixxfdi() {
    naked_asm!(
        "fld tbyte ptr [rsp + 8]",
        "fnstcw [rsp - 8]",
        "movzx eax, word ptr [rsp - 8]",
        "or eax, 0xc00",
        "mov [rsp - 6], ax",
        "fldcw [rsp - 6]",
        "fistp qword ptr [rsp - 16]",
        "fldcw [rsp - 8]",
        "mov rax, [rsp - 16]",
        "ret"
    )
}

#[unsafe(naked)]
extern "C" fn __fixunsxfsi() {
    naked_asm!("jmp {}", sym __fixxfdi)
}

#[unsafe(naked)]
extern "C" fn __floatdixf() {
    naked_asm!("mov [rsp - 8], rdi", "fild qword ptr [rsp - 8]", "ret")
}

#[unsafe(naked)]
extern "C" fn __floatundixf() {
    naked_asm!(
        "mov [rsp - 8], rdi",
        "fild qword ptr [rsp - 8]",
        "test rdi, rdi",
        "jns 2f",
        // Two to the power of 64.
        "mov dword ptr [rsp - 8], 0x5f800000",
        "fadd dword ptr [rsp - 8]",
        "2:",
        "ret"
    )
}

macro_rules! integers {
    ($($name:ident($($a:ident: $t:ty),*) -> $r:ty $body:block)*) => {
        $(extern "C" fn $name($($a: $t),*) -> $r $body)*
    };
}
integers! {
    __ashldi3(a: i64, n: i32) -> i64 { a.wrapping_shl(n as u32) }
    __ashrdi3(a: i64, n: i32) -> i64 { a.wrapping_shr(n as u32) }
    __lshrdi3(a: u64, n: i32) -> u64 { a.wrapping_shr(n as u32) }
    __clzsi2(a: u32) -> i32 { a.leading_zeros() as i32 }
    __ctzsi2(a: u32) -> i32 { a.trailing_zeros() as i32 }
    __ffssi2(a: u32) -> i32 { if a == 0 { 0 } else { a.trailing_zeros() as i32 + 1 } }
    __paritysi2(a: u32) -> i32 { (a.count_ones() & 1) as i32 }
    __popcountsi2(a: u32) -> i32 { a.count_ones() as i32 }
    __cmpdi2(a: i64, b: i64) -> i32 { a.cmp(&b) as i32 + 1 }
    __ucmpdi2(a: u64, b: u64) -> i32 { a.cmp(&b) as i32 + 1 }
    __muldi3(a: i64, b: i64) -> i64 { a.wrapping_mul(b) }
    __negdi2(a: i64) -> i64 { a.wrapping_neg() }
}

/// Division by the processor's instruction, which raises a signal if there is no quotient.
macro_rules! divisions {
    ($($t:ty, $widen:literal, $divide:literal, $div:ident $mod:ident $both:ident;)*) => { $(
        fn $both(a: $t, b: $t) -> ($t, $t) {
            let (quotient, rest): ($t, $t);
            // SAFETY: changes nothing but the registers named.
            unsafe {
                std::arch::asm!(
                    $widen,
                    $divide,
                    b = in(reg) b,
                    inout("rax") a => quotient,
                    out("rdx") rest,
                    options(nomem, nostack)
                );
            }
            (quotient, rest)
        }
        extern "C" fn $div(a: $t, b: $t) -> $t {
            $both(a, b).0
        }
        extern "C" fn $mod(a: $t, b: $t) -> $t {
            $both(a, b).1
        }
    )* };
}
divisions! {
    i64, "cqo", "idiv {b}", __divdi3 __moddi3 divide_long;
    u64, "xor edx, edx", "div {b}", __udivdi3 __umoddi3 divide_unsigned_long;
    i32, "cdq", "idiv {b:e}", __divsi3 __modsi3 divide_int;
    u32, "xor edx, edx", "div {b:e}", __udivsi3 __umodsi3 divide_unsigned_int;
}

macro_rules! with_rest {
    ($($name:ident $t:ty, $divide:ident;)*) => { $(
        /// Divides and stores the remainder.
        ///
        /// # Safety
        /// `rest` is writable, or null: compiler-rt allows that for unsigned division.
        unsafe extern "C" fn $name(a: $t, b: $t, rest: *mut $t) -> $t {
            let (quotient, left) = $divide(a, b);
            if !rest.is_null() {
                // SAFETY: not null, and therefore writable by contract.
                unsafe { rest.write(left) };
            }
            quotient
        }
    )* };
}
with_rest! {
    __divmoddi4 i64, divide_long;
    __divmodsi4 i32, divide_int;
    __udivmoddi4 u64, divide_unsigned_long;
    __udivmodsi4 u32, divide_unsigned_int;
}

macro_rules! overflowing {
    ($($name:ident $t:ty;)*) => { $(
        /// Multiplies and stores whether the product overflowed.
        ///
        /// # Safety
        /// `overflow` is writable.
        unsafe extern "C" fn $name(a: $t, b: $t, overflow: *mut i32) -> $t {
            let (product, lost) = a.overflowing_mul(b);
            // SAFETY: writable by contract.
            unsafe { overflow.write(i32::from(lost)) };
            product
        }
    )* };
}
overflowing! { __mulosi4 i32; __mulodi4 i64; __muloti4 i128; }

unsafe extern "C" {
    fn dprintf(descriptor: libc::c_int, format: *const libc::c_char, ...) -> libc::c_int;
}

/// Implements GCC's `assert` from before C had one.
///
/// # Safety
/// The contract of `fprintf` with such a format.
unsafe extern "C" fn __eprintf(
    format: *const libc::c_char,
    what: *const libc::c_char,
    line: u32,
    file: *const libc::c_char,
) -> ! {
    // SAFETY: format and arguments match by contract.
    unsafe {
        dprintf(2, format, what, line, file);
        libc::abort()
    }
}

/// Returns the rounding mode by compiler-rt's numbers: to nearest, down, up, to zero.
extern "C" fn __fe_getround() -> i32 {
    let mut word = 0u32;
    // SAFETY: stores the control word in a local.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack)) };
    [0, 1, 2, 3][(word >> 13 & 3) as usize]
}

extern "C" fn __fe_raise_inexact() -> i32 {
    std::hint::black_box(std::hint::black_box(1.0f32) / 3.0);
    0
}

functions! {
    __adddf3 __addsf3 __ashldi3 __ashrdi3 __clzsi2 __cmpdf2 __cmpdi2 __cmpsf2 __ctzsi2 __divdf3
    __divdi3 __divmoddi4 __divmodsi4 __divsf3 __divsi3 __eprintf __eqdf2 __eqsf2 __extendbfsf2
    __fe_getround __fe_raise_inexact __ffssi2 __fixdfdi __fixdfsi __fixsfdi __fixsfsi __fixunsdfsi
    __fixunssfsi __fixunsxfsi __fixxfdi __floatdidf __floatdisf __floatdixf __floatsidf __floatsisf
    __floattibf __floatundidf __floatundisf __floatundixf __floatunsidf __floatunsisf __floatuntibf
    __gedf2 __gesf2 __gtdf2 __gtsf2 __ledf2 __lesf2 __lshrdi3 __ltdf2 __ltsf2 __moddi3 __modsi3
    __muldf3 __muldi3 __mulodi4 __mulosi4 __muloti4 __mulsf3 __nedf2 __negdf2 __negdi2 __negsf2
    __nesf2 __paritysi2 __popcountsi2 __subdf3 __subsf3 __truncdfbf2 __trunchfbf2 __truncsfbf2
    __trunctfbf2 __truncxfbf2 __ucmpdi2 __udivdi3 __udivmoddi4 __udivmodsi4 __udivsi3 __umoddi3
    __umodsi3 __unorddf2 __unordsf2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(TABLE.is_sorted_by(|a, b| a.0 < b.0));
        assert!(address("__truncdfbf2").is_some() && address("__letf2").is_none());
        assert!(address("__cmptf2").is_some());
    }

    fn bits(x: Narrow) -> u32 {
        x.to_bits() & 0xffff
    }

    #[test]
    fn bfloats_are_rounded_once() {
        for (value, expected) in [
            (1.4140625f64, 0x3fb5),
            (-0.0, 0x8000),
            (f64::INFINITY, 0x7f80),
            (3.5e38, 0x7f80),
            (3.39e38, 0x7f7f),
            (1.0 + 1.0 / 256.0, 0x3f80),
            (1.0 + 3.0 / 256.0, 0x3f82),
            // Rounding to float first would make it even.
            (1.0 + 1.0 / 256.0 + 1e-12, 0x3f81),
            (9.2e-41, 0x0001),
            (4.5e-41, 0x0000),
            (1e-38, 0x006d),
            (1e-300, 0x0000),
        ] {
            assert_eq!(bits(__truncdfbf2(value)), expected, "{value}");
        }
        assert!(f32::from_bits(bits(__truncdfbf2(f64::NAN)) << 16).is_nan());
        for x in [0x3c00u32, 0x0001, 0x03ff, 0x7bff, 0xfc00, 0x8000, 0x1234] {
            let wide = half(x);
            let expected = bits(__truncsfbf2(wide));
            assert_eq!(bits(__trunchfbf2(f32::from_bits(x))), expected, "{x:x}");
        }
        for x in [
            0i128,
            1,
            -1,
            255,
            257,
            0x8080,
            -0x8180,
            i128::MAX,
            i128::MIN,
        ] {
            let near = if x.unsigned_abs() < 1 << 53 {
                __truncdfbf2(x as f64)
            } else {
                __floattibf(x)
            };
            assert_eq!(bits(__floattibf(x)), bits(near), "{x}");
        }
        assert_eq!(bits(__floattibf(i128::MIN)), 0xff00);
        assert_eq!(bits(__floatuntibf(u128::MAX)), 0x7f80);
    }

    /// Converts a half to a float.
    fn half(x: u32) -> f32 {
        let size = match x >> 10 & 0x1f {
            0x1f => f32::INFINITY,
            0 => (x & 0x3ff) as f32 / (1 << 24) as f32,
            e => (1024 + (x & 0x3ff)) as f32 * 2f32.powi(e as i32 - 25),
        };
        if x >> 15 != 0 { -size } else { size }
    }
}
