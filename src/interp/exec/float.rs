//! Float and double arithmetic, comparisons, conversions.
//!
//! `muladd` is not fused: it rounds twice, as baseline x86-64 code of `llvm.fmuladd` does. Negated
//! comparisons (`fune`, `fuge`, ...) are true with a NaN. Conversions out of range are poison in
//! the IR; these return what `cvttsd2si` returns, since some programs rely on it.

#![expect(
    clippy::double_comparisons,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "the forms say what happens with a NaN"
)]

use super::handler;

macro_rules! binary {
    ($($name:ident: $t:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        handler!($name(o: Dab, r) {
            let ($a, $b): ($t, $t) = (r.get(o.a), r.get(o.b));
            r.put(o.dst, $e)
        });
    )* };
}
macro_rules! both {
    ($($n32:ident $n64:ident |$a:ident, $b:ident| $e:expr;)*) => { $(
        binary! { $n32: f32, |$a, $b| $e; $n64: f64, |$a, $b| $e; }
    )* };
}
both! {
    fadd32 fadd64 |a, b| a + b;
    fsub32 fsub64 |a, b| a - b;
    fmul32 fmul64 |a, b| a * b;
    fdiv32 fdiv64 |a, b| a / b;
    frem32 frem64 |a, b| a % b;
    foeq32 foeq64 |a, b| a == b;
    folt32 folt64 |a, b| a < b;
    fole32 fole64 |a, b| a <= b;
    fone32 fone64 |a, b| a < b || a > b;
    ford32 ford64 |a, b| !a.is_nan() && !b.is_nan();
    fune32 fune64 |a, b| a != b;
    fuge32 fuge64 |a, b| !(a < b);
    fugt32 fugt64 |a, b| !(a <= b);
    fueq32 fueq64 |a, b| !(a < b || a > b);
    funo32 funo64 |a, b| a.is_nan() || b.is_nan();
    copysign32 copysign64 |a, b| a.copysign(b);
    fmin32 fmin64 |a, b| a.min(b);
    fmax32 fmax64 |a, b| a.max(b);
}

macro_rules! unary {
    ($($n32:ident $n64:ident |$a:ident| $e:expr;)*) => { $(
        handler!($n32(o: Da, r) { let $a: f32 = r.get(o.a); r.put(o.dst, $e) });
        handler!($n64(o: Da, r) { let $a: f64 = r.get(o.a); r.put(o.dst, $e) });
    )* };
}
unary! {
    fneg32 fneg64 |a| -a;
    fabs32 fabs64 |a| a.abs();
    sqrt32 sqrt64 |a| a.sqrt();
    floor32 floor64 |a| a.floor();
    ceil32 ceil64 |a| a.ceil();
    ftrunc32 ftrunc64 |a| a.trunc();
    round32 round64 |a| a.round();
    roundeven32 roundeven64 |a| a.round_ties_even();
}
unsafe extern "C" {
    safe fn rint(x: f64) -> f64;
    safe fn rintf(x: f32) -> f32;
    safe fn __powidf2(x: f64, n: i32) -> f64;
    safe fn __powisf2(x: f32, n: i32) -> f32;
}
handler!(rint32(o: Da, r) { let a: f32 = r.get(o.a); r.put(o.dst, rintf(a)) });
handler!(rint64(o: Da, r) { let a: f64 = r.get(o.a); r.put(o.dst, rint(a)) });
handler!(powi32(o: Dab, r) {
    let (a, b): (f32, i32) = (r.get(o.a), r.get(o.b));
    r.put(o.dst, __powisf2(a, b))
});
handler!(powi64(o: Dab, r) {
    let (a, b): (f64, i32) = (r.get(o.a), r.get(o.b));
    r.put(o.dst, __powidf2(a, b))
});

macro_rules! ternary {
    ($($name:ident: $t:ty, |$a:ident, $b:ident, $c:ident| $e:expr;)*) => { $(
        handler!($name(o: Dabc, r) {
            let ($a, $b, $c): ($t, $t, $t) = (r.get(o.a), r.get(o.b), r.get(o.c));
            r.put(o.dst, $e)
        });
    )* };
}
ternary! {
    muladd32: f32, |a, b, c| a * b + c;
    muladd64: f64, |a, b, c| a * b + c;
    mulsub64: f64, |a, b, c| a * b - c;
    negmuladd64: f64, |a, b, c| c - a * b;
    fma32: f32, |a, b, c| a.mul_add(b, c);
    fma64: f64, |a, b, c| a.mul_add(b, c);
}

macro_rules! convert {
    ($($name:ident: $from:ty => $to:ty, |$a:ident| $e:expr;)*) => { $(
        handler!($name(o: Da, r) {
            let $a: $from = r.get(o.a);
            let result: $to = $e;
            r.put(o.dst, result)
        });
    )* };
}

/// Converts like `cvttsd2si`: values out of range give the most negative number.
#[inline(always)]
fn to_i64(a: f64) -> i64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        use std::arch::x86_64::{_mm_cvttsd_si64, _mm_set_sd};
        _mm_cvttsd_si64(_mm_set_sd(a))
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        a as i64
    }
}
#[inline(always)]
fn to_i32(a: f64) -> i32 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        use std::arch::x86_64::{_mm_cvttsd_si32, _mm_set_sd};
        _mm_cvttsd_si32(_mm_set_sd(a))
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        a as i32
    }
}
/// Joins two signed conversions, as clang's code for baseline x86-64 does.
#[inline(always)]
fn to_u64(a: f64) -> u64 {
    let low = to_i64(a);
    let high = to_i64(a - 9223372036854775808.0);
    (low | (high & (low >> 63))) as u64
}
convert! {
    f32_f64: f32 => f64, |a| f64::from(a);
    f64_f32: f64 => f32, |a| a as f32;
    f64_i8: f64 => i8, |a| to_i32(a) as i8;
    f64_i16: f64 => i16, |a| to_i32(a) as i16;
    f64_i32: f64 => i32, |a| to_i32(a);
    f64_i64: f64 => i64, |a| to_i64(a);
    f64_u8: f64 => u8, |a| to_i32(a) as u8;
    f64_u16: f64 => u16, |a| to_i32(a) as u16;
    f64_u32: f64 => u32, |a| to_i64(a) as u32;
    f64_u64: f64 => u64, |a| to_u64(a);
    f32_i8: f32 => i8, |a| to_i32(f64::from(a)) as i8;
    f32_i16: f32 => i16, |a| to_i32(f64::from(a)) as i16;
    f32_i32: f32 => i32, |a| to_i32(f64::from(a));
    f32_i64: f32 => i64, |a| to_i64(f64::from(a));
    f32_u8: f32 => u8, |a| to_i32(f64::from(a)) as u8;
    f32_u16: f32 => u16, |a| to_i32(f64::from(a)) as u16;
    f32_u32: f32 => u32, |a| to_i64(f64::from(a)) as u32;
    f32_u64: f32 => u64, |a| to_u64(f64::from(a));
    i8_f64: i8 => f64, |a| f64::from(a);
    i16_f64: i16 => f64, |a| f64::from(a);
    i32_f64: i32 => f64, |a| f64::from(a);
    i64_f64: i64 => f64, |a| a as f64;
    u32_f64: u32 => f64, |a| f64::from(a);
    u64_f64: u64 => f64, |a| a as f64;
    i8_f32: i8 => f32, |a| f32::from(a);
    i16_f32: i16 => f32, |a| f32::from(a);
    i32_f32: i32 => f32, |a| a as f32;
    i64_f32: i64 => f32, |a| a as f32;
    u32_f32: u32 => f32, |a| a as f32;
    u64_f32: u64 => f32, |a| a as f32;
}
