//! Vector handlers: elementwise loops over words of lanes, comparisons, conversions, shuffles,
//! reductions.
//!
//! Elementwise handlers take the number of 8-byte words: lanes of the last word beyond the vector's
//! end are computed and never read. Widths known at compile time (two doubles) have handlers of
//! their own.

#![expect(
    clippy::double_comparisons,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "the forms say what happens with a NaN"
)]

use super::int::{Divisor, regs_of};
use super::{Regs, fault, handler};
use ompvm_support::error::TrapKind;

#[inline(always)]
unsafe fn words<T: Copy, const N: usize>(
    r: Regs,
    dst: u16,
    a: u16,
    b: u16,
    n: u16,
    f: impl Fn(T, T) -> T,
) {
    let (d, a, b) = (r.at(dst), r.at(a), r.at(b));
    let mut i = 0;
    // SAFETY: the three vectors have `n` words each, in slots of the frame.
    unsafe {
        while i + 2 <= n as usize {
            let x = a.add(i).cast::<[[T; N]; 2]>().read_unaligned();
            let y = b.add(i).cast::<[[T; N]; 2]>().read_unaligned();
            let mut z = x;
            for k in 0..2 {
                for l in 0..N {
                    z[k][l] = f(x[k][l], y[k][l]);
                }
            }
            d.add(i).cast::<[[T; N]; 2]>().write_unaligned(z);
            i += 2;
        }
        if i < n as usize {
            let x = a.add(i).cast::<[T; N]>().read_unaligned();
            let y = b.add(i).cast::<[T; N]>().read_unaligned();
            let mut z = x;
            for l in 0..N {
                z[l] = f(x[l], y[l]);
            }
            d.add(i).cast::<[T; N]>().write_unaligned(z);
        }
    }
}
macro_rules! elementwise {
    ($($name:ident: $t:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        handler!($name(o: Dabn, r)
            words::<$t, { 8 / size_of::<$t>() }>(r, o.dst, o.a, o.b, o.n, |$a, $b| $e));
    )* };
}
macro_rules! elementwise_int {
    ($($n8:ident $n16:ident $n32:ident $n64:ident: $t8:ty, $t16:ty, $t32:ty, $t64:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        elementwise! {
            $n8: $t8, |$a, $b| $e; $n16: $t16, |$a, $b| $e;
            $n32: $t32, |$a, $b| $e; $n64: $t64, |$a, $b| $e;
        }
    )* };
}
elementwise_int! {
    vadd8 vadd16 vadd32 vadd64: u8, u16, u32, u64, |a, b| a.wrapping_add(b);
    vsub8 vsub16 vsub32 vsub64: u8, u16, u32, u64, |a, b| a.wrapping_sub(b);
    vmul8 vmul16 vmul32 vmul64: u8, u16, u32, u64, |a, b| a.wrapping_mul(b);
    vshl8 vshl16 vshl32 vshl64: u8, u16, u32, u64, |a, b| a.wrapping_shl(b as u32);
    vlshr8 vlshr16 vlshr32 vlshr64: u8, u16, u32, u64, |a, b| a.wrapping_shr(b as u32);
    vashr8 vashr16 vashr32 vashr64: i8, i16, i32, i64, |a, b| a.wrapping_shr(b as u32);
    vsmin8 vsmin16 vsmin32 vsmin64: i8, i16, i32, i64, |a, b| a.min(b);
    vsmax8 vsmax16 vsmax32 vsmax64: i8, i16, i32, i64, |a, b| a.max(b);
    vumin8 vumin16 vumin32 vumin64: u8, u16, u32, u64, |a, b| a.min(b);
    vumax8 vumax16 vumax32 vumax64: u8, u16, u32, u64, |a, b| a.max(b);
}
elementwise! {
    vfadd32: f32, |a, b| a + b; vfadd64: f64, |a, b| a + b;
    vfsub32: f32, |a, b| a - b; vfsub64: f64, |a, b| a - b;
    vfmul32: f32, |a, b| a * b; vfmul64: f64, |a, b| a * b;
    vfdiv32: f32, |a, b| a / b; vfdiv64: f64, |a, b| a / b;
    vand: u64, |a, b| a & b;
    vor: u64, |a, b| a | b;
    vxor: u64, |a, b| a ^ b;
}
macro_rules! fixed {
    ($($name:ident: $t:ty, $n:literal, |$a:ident, $b:ident| $e:expr;)*) => { $(
        handler!($name(o: Dab, r) {
            let (x, y): ([$t; $n], [$t; $n]) = (r.get_wide(o.a), r.get_wide(o.b));
            let mut z = x;
            for i in 0..$n {
                let ($a, $b) = (x[i], y[i]);
                z[i] = $e;
            }
            r.put_wide(o.dst, z)
        });
    )* };
}
fixed! {
    v2fadd: f64, 2, |a, b| a + b;
    v2fsub: f64, 2, |a, b| a - b;
    v2fmul: f64, 2, |a, b| a * b;
    v2fdiv: f64, 2, |a, b| a / b;
    v2add64: u64, 2, |a, b| a.wrapping_add(b);
    v4add32: u32, 4, |a, b| a.wrapping_add(b);
}
handler!(v2muladd(o: Dabc, r) {
    let (x, y, z): ([f64; 2], [f64; 2], [f64; 2]) =
        (r.get_wide(o.a), r.get_wide(o.b), r.get_wide(o.c));
    r.put_wide(o.dst, [x[0] * y[0] + z[0], x[1] * y[1] + z[1]])
});
/// Processes two words at a time, so that the compiler vectorizes the lanes.
macro_rules! muladd {
    ($($name:ident: $t:ty;)*) => { $(
        handler!($name(o: Dabcn, r) {
            const N: usize = 16 / size_of::<$t>();
            let (d, a, b, c) = (r.at(o.dst), r.at(o.a), r.at(o.b), r.at(o.c));
            let mut i = 0;
            while i + 2 <= o.n as usize {
                let x = a.add(i).cast::<[$t; N]>().read_unaligned();
                let y = b.add(i).cast::<[$t; N]>().read_unaligned();
                let mut z = c.add(i).cast::<[$t; N]>().read_unaligned();
                for l in 0..N {
                    z[l] += x[l] * y[l];
                }
                d.add(i).cast::<[$t; N]>().write_unaligned(z);
                i += 2;
            }
            if i < o.n as usize {
                let x = a.add(i).cast::<[$t; N / 2]>().read_unaligned();
                let y = b.add(i).cast::<[$t; N / 2]>().read_unaligned();
                let mut z = c.add(i).cast::<[$t; N / 2]>().read_unaligned();
                for l in 0..N / 2 {
                    z[l] += x[l] * y[l];
                }
                d.add(i).cast::<[$t; N / 2]>().write_unaligned(z);
            }
        });
    )* };
}
muladd! { vmuladd32: f32; vmuladd64: f64; }
macro_rules! fma {
    ($($name:ident: $t:ty;)*) => { $(
        handler!($name(o: Dabcn, r) {
            let lanes = o.n as usize * (8 / size_of::<$t>());
            let at = |slot| r.at(slot).cast::<$t>();
            let (d, a, b, c) = (at(o.dst), at(o.a), at(o.b), at(o.c));
            for l in 0..lanes {
                let (x, y, z) = (a.add(l).read(), b.add(l).read(), c.add(l).read());
                d.add(l).write(x.mul_add(y, z));
            }
        });
    )* };
}
fma! { vfma32: f32; vfma64: f64; }
macro_rules! unary {
    ($($n32:ident $n64:ident |$a:ident| $e:expr;)*) => { $(
        unary!(@ $n32 f32, |$a| $e; $n64 f64, |$a| $e;);
    )* };
    (@ $($name:ident $t:ty, |$a:ident| $e:expr;)*) => { $(
        handler!($name(o: Dan, r) {
            let lanes = o.n as usize * (8 / size_of::<$t>());
            let (d, a) = (r.at(o.dst).cast::<$t>(), r.at(o.a).cast::<$t>());
            let mut i = 0;
            while i < lanes {
                let $a = a.add(i).read();
                d.add(i).write($e);
                i += 1;
            }
        });
    )* };
}
unary! {
    vfneg32 vfneg64 |a| -a;
    vfabs32 vfabs64 |a| a.abs();
    vsqrt32 vsqrt64 |a| a.sqrt();
}

unary! {
    vfloor32 vfloor64 |a| a.floor();
    vceil32 vceil64 |a| a.ceil();
    vftrunc32 vftrunc64 |a| a.trunc();
    vrint32 vrint64 |a| a.round_ties_even();
}
unary! { @
    vctpop8 u8, |a| a.count_ones() as u8;
    vctpop16 u16, |a| a.count_ones() as u16;
    vctpop32 u32, |a| a.count_ones();
    vctpop64 u64, |a| u64::from(a.count_ones());
    vctlz32 u32, |a| a.leading_zeros();
    vctlz64 u64, |a| u64::from(a.leading_zeros());
    vcttz32 u32, |a| a.trailing_zeros();
    vcttz64 u64, |a| u64::from(a.trailing_zeros());
    vbswap16 u16, |a| a.swap_bytes();
    vbswap32 u32, |a| a.swap_bytes();
    vbswap64 u64, |a| a.swap_bytes();
    vabs8 i8, |a| a.wrapping_abs();
    vabs16 i16, |a| a.wrapping_abs();
    vabs32 i32, |a| a.wrapping_abs();
    vabs64 i64, |a| a.wrapping_abs();
}

// Works lane by lane, since padding is no valid divisor.
macro_rules! divide {
    ($($name:ident: $t:ty, $f:ident;)*) => { $(
        handler!($name(o: Dabn, r, ip, cx) {
            let d = r.at(o.dst).cast::<$t>();
            let (a, b) = (r.at(o.a).cast::<$t>(), r.at(o.b).cast::<$t>());
            let mut i = 0;
            while i < o.n as usize {
                let (a, b) = (a.add(i).read(), b.add(i).read());
                if b.traps(a) {
                    fault(ip, regs_of(r), cx, &TrapKind::IntegerDivision)
                }
                d.add(i).write(a.$f(b));
                i += 1;
            }
        });
    )* };
}
divide! {
    vudiv8: u8, wrapping_div;
    vudiv16: u16, wrapping_div;
    vudiv32: u32, wrapping_div;
    vudiv64: u64, wrapping_div;
    vurem8: u8, wrapping_rem;
    vurem16: u16, wrapping_rem;
    vurem32: u32, wrapping_rem;
    vurem64: u64, wrapping_rem;
    vsdiv8: i8, wrapping_div;
    vsdiv16: i16, wrapping_div;
    vsdiv32: i32, wrapping_div;
    vsdiv64: i64, wrapping_div;
    vsrem8: i8, wrapping_rem;
    vsrem16: i16, wrapping_rem;
    vsrem32: i32, wrapping_rem;
    vsrem64: i64, wrapping_rem;
}

macro_rules! compare {
    ($($name:ident: $t:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        handler!($name(o: Dabn, r) {
            let d = r.at(o.dst).cast::<u8>();
            let (a, b) = (r.at(o.a).cast::<$t>(), r.at(o.b).cast::<$t>());
            let mut i = 0;
            while i < o.n as usize {
                let ($a, $b) = (a.add(i).read(), b.add(i).read());
                d.add(i).write(u8::from($e));
                i += 1;
            }
        });
    )* };
}
macro_rules! compare_int {
    ($($n8:ident $n16:ident $n32:ident $n64:ident: $t8:ty, $t16:ty, $t32:ty, $t64:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        compare! {
            $n8: $t8, |$a, $b| $e; $n16: $t16, |$a, $b| $e;
            $n32: $t32, |$a, $b| $e; $n64: $t64, |$a, $b| $e;
        }
    )* };
}
compare_int! {
    veq8 veq16 veq32 veq64: u8, u16, u32, u64, |a, b| a == b;
    vne8 vne16 vne32 vne64: u8, u16, u32, u64, |a, b| a != b;
    vult8 vult16 vult32 vult64: u8, u16, u32, u64, |a, b| a < b;
    vule8 vule16 vule32 vule64: u8, u16, u32, u64, |a, b| a <= b;
    vslt8 vslt16 vslt32 vslt64: i8, i16, i32, i64, |a, b| a < b;
    vsle8 vsle16 vsle32 vsle64: i8, i16, i32, i64, |a, b| a <= b;
}
macro_rules! compare_float {
    ($($n32:ident $n64:ident |$a:ident, $b:ident| $e:expr;)*) => { $(
        compare! { $n32: f32, |$a, $b| $e; $n64: f64, |$a, $b| $e; }
    )* };
}
compare_float! {
    vfoeq32 vfoeq64 |a, b| a == b;
    vfolt32 vfolt64 |a, b| a < b;
    vfole32 vfole64 |a, b| a <= b;
    vfone32 vfone64 |a, b| a < b || a > b;
    vford32 vford64 |a, b| !a.is_nan() && !b.is_nan();
    vfune32 vfune64 |a, b| a != b;
    vfuge32 vfuge64 |a, b| !(a < b);
    vfugt32 vfugt64 |a, b| !(a <= b);
    vfueq32 vfueq64 |a, b| !(a < b || a > b);
    vfuno32 vfuno64 |a, b| a.is_nan() || b.is_nan();
}

macro_rules! selects {
    ($($name:ident: $t:ty;)*) => { $(
        handler!($name(o: Dabcn, r) {
            let (d, c) = (r.at(o.dst).cast::<$t>(), r.at(o.a).cast::<u8>());
            let (a, b) = (r.at(o.b).cast::<$t>(), r.at(o.c).cast::<$t>());
            let mut i = 0;
            while i < o.n as usize {
                let v = if c.add(i).read() & 1 != 0 { a.add(i).read() } else { b.add(i).read() };
                d.add(i).write(v);
                i += 1;
            }
        });
    )* };
}
selects! { vselect8: u8; vselect16: u16; vselect32: u32; vselect64: u64; }

macro_rules! convert {
    ($($name:ident: $from:ty => $to:ty, |$a:ident| $e:expr;)*) => { $(
        handler!($name(o: Dan, r) {
            let (d, a) = (r.at(o.dst).cast::<$to>(), r.at(o.a).cast::<$from>());
            let mut i = 0;
            while i < o.n as usize {
                let $a = a.add(i).read();
                d.add(i).write($e);
                i += 1;
            }
        });
    )* };
}
convert! {
    vzext1_8: u8 => u8, |a| a & 1; vzext1_16: u8 => u16, |a| u16::from(a & 1);
    vzext1_32: u8 => u32, |a| u32::from(a & 1); vzext1_64: u8 => u64, |a| u64::from(a & 1);
    vsext1_8: u8 => u8, |a| (a & 1).wrapping_neg();
    vsext1_16: u8 => u16, |a| u16::from(a & 1).wrapping_neg();
    vsext1_32: u8 => u32, |a| u32::from(a & 1).wrapping_neg();
    vsext1_64: u8 => u64, |a| u64::from(a & 1).wrapping_neg();
    vzext8_16: u8 => u16, |a| u16::from(a); vzext8_32: u8 => u32, |a| u32::from(a);
    vzext8_64: u8 => u64, |a| u64::from(a); vzext16_32: u16 => u32, |a| u32::from(a);
    vzext16_64: u16 => u64, |a| u64::from(a); vzext32_64: u32 => u64, |a| u64::from(a);
    vsext8_16: i8 => i16, |a| i16::from(a); vsext8_32: i8 => i32, |a| i32::from(a);
    vsext8_64: i8 => i64, |a| i64::from(a); vsext16_32: i16 => i32, |a| i32::from(a);
    vsext16_64: i16 => i64, |a| i64::from(a); vsext32_64: i32 => i64, |a| i64::from(a);
    vtrunc16_8: u16 => u8, |a| a as u8; vtrunc32_8: u32 => u8, |a| a as u8;
    vtrunc64_8: u64 => u8, |a| a as u8; vtrunc32_16: u32 => u16, |a| a as u16;
    vtrunc64_16: u64 => u16, |a| a as u16; vtrunc64_32: u64 => u32, |a| a as u32;
    vi32_f32: i32 => f32, |a| a as f32; vi32_f64: i32 => f64, |a| f64::from(a);
    vi64_f32: i64 => f32, |a| a as f32; vi64_f64: i64 => f64, |a| a as f64;
    vu32_f32: u32 => f32, |a| a as f32; vu32_f64: u32 => f64, |a| f64::from(a);
    vu64_f64: u64 => f64, |a| a as f64;
    vf32_i32: f32 => i32, |a| a as i32; vf64_i32: f64 => i32, |a| a as i32;
    vf32_i64: f32 => i64, |a| a as i64; vf64_i64: f64 => i64, |a| a as i64;
    vf32_f64: f32 => f64, |a| f64::from(a); vf64_f32: f64 => f32, |a| a as f32;
}

// Lane numbers count lanes of the element's size from slot 0 of the frame. `n` is even or padded.
macro_rules! shuffles {
    ($($name:ident: $t:ty;)*) => { $(
        super::control_handler!($name(o: Shuffle, r, ip, cx) {
            let d = r.at(o.dst).cast::<$t>();
            let from = r.0.cast::<$t>();
            let lanes = ip
                .byte_add(size_of::<crate::isa::Enc<crate::isa::Shuffle>>())
                .cast::<u32>();
            let n = o.n as usize;
            let mut i = 0;
            while i < n {
                d.add(i).write(from.add(*lanes.add(i) as usize).read());
                i += 1;
            }
            super::dispatch(lanes.add(n.next_multiple_of(2)).cast(), r.0, cx)
        });
    )* };
}
shuffles! { shuffle8: u8; shuffle16: u16; shuffle32: u32; shuffle64: u64; }

#[inline(always)]
unsafe fn copy_lane(from: *const u8, to: *mut u8, size: u16) {
    // SAFETY: the caller passes addresses inside the frame.
    unsafe {
        match size {
            1 => to.write(from.read()),
            2 => to.cast::<u16>().write(from.cast::<u16>().read()),
            4 => to.cast::<u32>().write(from.cast::<u32>().read()),
            8 => to.cast::<u64>().write(from.cast::<u64>().read()),
            n => std::ptr::copy(from, to, n as usize),
        }
    }
}
// An index out of range gives poison, so any lane is correct.
handler!(extract_var(o: Lane, r) {
    let index = (r.get::<u64>(o.index) as usize).min(o.n as usize - 1);
    let from = r.at(o.a).cast::<u8>().add(index * o.size as usize);
    if o.size < 8 {
        r.put(o.dst, 0u64);
    }
    copy_lane(from, r.at(o.dst).cast(), o.size)
});
handler!(insert_var(o: Lane, r) {
    let index = (r.get::<u64>(o.index) as usize).min(o.n as usize - 1);
    std::ptr::copy(r.at(o.a), r.at(o.dst), o.words as usize);
    copy_lane(r.at(o.b).cast(), r.at(o.dst).cast::<u8>().add(index * o.size as usize), o.size)
});

macro_rules! reduce {
    ($($name:ident: $t:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        handler!($name(o: Dan, r) {
            let a = r.at(o.a).cast::<$t>();
            let mut total = a.read();
            let mut i = 1;
            while i < o.n as usize {
                let ($a, $b) = (total, a.add(i).read());
                total = $e;
                i += 1;
            }
            r.put(o.dst, total)
        });
    )* };
}
reduce! {
    red_add8: u8, |a, b| a.wrapping_add(b); red_add16: u16, |a, b| a.wrapping_add(b);
    red_add32: u32, |a, b| a.wrapping_add(b); red_add64: u64, |a, b| a.wrapping_add(b);
    red_mul32: u32, |a, b| a.wrapping_mul(b); red_mul64: u64, |a, b| a.wrapping_mul(b);
    red_and8: u8, |a, b| a & b; red_and16: u16, |a, b| a & b;
    red_and32: u32, |a, b| a & b; red_and64: u64, |a, b| a & b;
    red_or8: u8, |a, b| a | b; red_or16: u16, |a, b| a | b;
    red_or32: u32, |a, b| a | b; red_or64: u64, |a, b| a | b;
    red_xor8: u8, |a, b| a ^ b; red_xor16: u16, |a, b| a ^ b;
    red_xor32: u32, |a, b| a ^ b; red_xor64: u64, |a, b| a ^ b;
    red_smax8: i8, |a, b| a.max(b); red_smax16: i16, |a, b| a.max(b);
    red_smax32: i32, |a, b| a.max(b); red_smax64: i64, |a, b| a.max(b);
    red_smin8: i8, |a, b| a.min(b); red_smin16: i16, |a, b| a.min(b);
    red_smin32: i32, |a, b| a.min(b); red_smin64: i64, |a, b| a.min(b);
    red_umax8: u8, |a, b| a.max(b); red_umax16: u16, |a, b| a.max(b);
    red_umax32: u32, |a, b| a.max(b); red_umax64: u64, |a, b| a.max(b);
    red_umin8: u8, |a, b| a.min(b); red_umin16: u16, |a, b| a.min(b);
    red_umin32: u32, |a, b| a.min(b); red_umin64: u64, |a, b| a.min(b);
    red_fmax32: f32, |a, b| a.max(b); red_fmax64: f64, |a, b| a.max(b);
    red_fmin32: f32, |a, b| a.min(b); red_fmin64: f64, |a, b| a.min(b);
}
macro_rules! reduce_from {
    ($($name:ident: $t:ty, $op:tt;)*) => { $(
        handler!($name(o: Dabn, r) {
            let b = r.at(o.b).cast::<$t>();
            let mut total: $t = r.get(o.a);
            let mut i = 0;
            while i < o.n as usize {
                total $op b.add(i).read();
                i += 1;
            }
            r.put(o.dst, total)
        });
    )* };
}
reduce_from! { red_fadd32: f32, +=; red_fadd64: f64, +=; red_fmul32: f32, *=; red_fmul64: f64, *=; }

/// Combines the upper half of the lanes with the lower half, until one lane is left. `step` is the
/// distance of the lanes at `lane`: 1 for all. The halves are those of a power of two of lanes, of
/// which those above `n` are neutral.
///
/// # Safety
/// `n` lanes are readable at `lanes`, and `lane` is one of them.
unsafe fn combine_halves<T: Copy>(
    lanes: *const T,
    (lane, step): (usize, usize),
    n: usize,
    combine: fn(T, T) -> T,
) -> T {
    // SAFETY: `lane` is one of the lanes by contract, and `lane + step` is checked to be one.
    unsafe {
        if step >= n {
            return lanes.add(lane).read();
        }
        let lower = combine_halves(lanes, (lane, 2 * step), n, combine);
        if lane + step >= n {
            return lower;
        }
        let upper = combine_halves(lanes, (lane + step, 2 * step), n, combine);
        combine(lower, upper)
    }
}

/// Combines lanes as LLVM's code for x86 does: in halves down to one lane for a power of two of
/// lanes, else in halves down to a register of 16 bytes, whose lanes are combined in order.
///
/// # Safety
/// `n` lanes are readable at `lanes`, at least one.
unsafe fn combine_lanes<T: Copy>(lanes: *const T, n: usize, combine: fn(T, T) -> T) -> T {
    let width = match n.is_power_of_two() {
        true => 1,
        false => (16 / size_of::<T>()).min(n),
    };
    // SAFETY: the lanes below `width` are among the `n` lanes.
    unsafe {
        let first = combine_halves(lanes, (0, width), n, combine);
        (1..width).fold(first, |total, lane| {
            combine(total, combine_halves(lanes, (lane, width), n, combine))
        })
    }
}

macro_rules! reduce_halves {
    ($($name:ident: $t:ty, $combine:expr;)*) => { $(
        handler!($name(o: Dabn, r) {
            let lanes = r.at(o.b).cast::<$t>();
            let start: $t = r.get(o.a);
            let total = combine_lanes(lanes, o.n as usize, $combine);
            r.put(o.dst, $combine(start, total))
        });
    )* };
}
reduce_halves! {
    red_fadd_halves32: f32, std::ops::Add::add; red_fadd_halves64: f64, std::ops::Add::add;
    red_fmul_halves32: f32, std::ops::Mul::mul; red_fmul_halves64: f64, std::ops::Mul::mul;
}

macro_rules! lane_loads {
    ($($name:ident: $t:ty;)*) => { $(
        handler!($name(o: Bytes, r) {
            let lane = r.0.cast::<u8>().add(o.from as usize).cast::<$t>().read();
            r.put(o.to as u16, lane)
        });
    )* };
}
lane_loads! { load_lane8: u8; load_lane16: u16; load_lane32: u32; }

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Add;

    /// Sums lanes of the same values in the order of native code.
    fn sum<T: Copy + Add<Output = T>>(lanes: &[T]) -> T {
        // SAFETY: the lanes are readable.
        unsafe { combine_lanes(lanes.as_ptr(), lanes.len(), Add::add) }
    }

    #[test]
    fn lanes_are_combined_in_the_order_of_native_code() {
        let x: Vec<f32> = (0..9).map(|i| 0.1 + 1e4 * (i * i) as f32).collect();
        let y: Vec<f64> = (0..6).map(|i| 0.1 + 1e9 * f64::from(i * i)).collect();
        assert_eq!(sum(&x[..4]), (x[0] + x[2]) + (x[1] + x[3]));
        assert_eq!(sum(&x[..3]), x[0] + x[1] + x[2]);
        assert_eq!(sum(&x[..6]), (x[0] + x[4]) + (x[1] + x[5]) + x[2] + x[3]);
        let pairs = [(0, 4), (1, 5), (2, 6), (3, 7)].map(|(a, b)| x[a] + x[b]);
        let first = x[0] + x[8] + x[4];
        assert_eq!(sum(&x), first + pairs[1] + pairs[2] + pairs[3]);
        assert_eq!(sum(&y), ((y[0] + y[4]) + y[2]) + ((y[1] + y[5]) + y[3]));
    }
}
