//! Integer arithmetic, comparisons and bit operations on slots, and 128-bit integers.
//!
//! Slots hold integers zero-extended; a handler reads as many low bits as its width and writes the
//! whole slot. Divisions check their operands first, since the processor would fault.

use super::{Regs, fault, handler};
use ompvm_support::error::TrapKind;

macro_rules! binary {
    ($($name:ident: $t:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        handler!($name(o: Dab, r) {
            let $a: $t = r.get(o.a);
            let $b: $t = r.get(o.b);
            r.put(o.dst, $e)
        });
    )* };
}
macro_rules! each_width {
    ($($n8:ident $n16:ident $n32:ident $n64:ident: $t8:ty, $t16:ty, $t32:ty, $t64:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        binary! {
            $n8: $t8, |$a, $b| $e;
            $n16: $t16, |$a, $b| $e;
            $n32: $t32, |$a, $b| $e;
            $n64: $t64, |$a, $b| $e;
        }
    )* };
}
each_width! {
    add8 add16 add32 add64: u8, u16, u32, u64, |a, b| a.wrapping_add(b);
    sub8 sub16 sub32 sub64: u8, u16, u32, u64, |a, b| a.wrapping_sub(b);
    mul8 mul16 mul32 mul64: u8, u16, u32, u64, |a, b| a.wrapping_mul(b);
    shl8 shl16 shl32 shl64: u8, u16, u32, u64, |a, b| a.wrapping_shl(b as u32);
    lshr8 lshr16 lshr32 lshr64: u8, u16, u32, u64, |a, b| a.wrapping_shr(b as u32);
    ashr8 ashr16 ashr32 ashr64: i8, i16, i32, i64, |a, b| a.wrapping_shr(b as u32);
    slt8 slt16 slt32 slt64: i8, i16, i32, i64, |a, b| a < b;
    sle8 sle16 sle32 sle64: i8, i16, i32, i64, |a, b| a <= b;
    smin8 smin16 smin32 smin64: i8, i16, i32, i64, |a, b| a.min(b);
    smax8 smax16 smax32 smax64: i8, i16, i32, i64, |a, b| a.max(b);
    sadd_sat8 sadd_sat16 sadd_sat32 sadd_sat64: i8, i16, i32, i64, |a, b| a.saturating_add(b);
    uadd_sat8 uadd_sat16 uadd_sat32 uadd_sat64: u8, u16, u32, u64, |a, b| a.saturating_add(b);
    ssub_sat8 ssub_sat16 ssub_sat32 ssub_sat64: i8, i16, i32, i64, |a, b| a.saturating_sub(b);
    usub_sat8 usub_sat16 usub_sat32 usub_sat64: u8, u16, u32, u64, |a, b| a.saturating_sub(b);
}
binary! {
    and: u64, |a, b| a & b;
    or: u64, |a, b| a | b;
    xor: u64, |a, b| a ^ b;
    eq: u64, |a, b| a == b;
    ne: u64, |a, b| a != b;
    ult: u64, |a, b| a < b;
    ule: u64, |a, b| a <= b;
    umin: u64, |a, b| a.min(b);
    umax: u64, |a, b| a.max(b);
}

/// An integer type of the division instructions.
pub(super) trait Divisor: Copy {
    /// Returns true if dividing `a` by `self` traps. Integers of 8 and 16 bits are divided as
    /// 32-bit ones.
    fn traps(self, a: Self) -> bool;
}
macro_rules! divisors {
    ($($t:ty: |$a:ident, $b:ident| $traps:expr;)*) => { $(
        impl Divisor for $t {
            #[inline(always)]
            fn traps(self, $a: Self) -> bool {
                let $b = self;
                $traps
            }
        }
    )* };
}
divisors! {
    u8: |_a, b| b == 0; u16: |_a, b| b == 0; u32: |_a, b| b == 0; u64: |_a, b| b == 0;
    i8: |_a, b| b == 0; i16: |_a, b| b == 0;
    i32: |a, b| b == 0 || (a == i32::MIN && b == -1);
    i64: |a, b| b == 0 || (a == i64::MIN && b == -1);
}

macro_rules! divide {
    ($($name:ident: $t:ty, $f:ident;)*) => { $(
        handler!($name(o: Dab, r, ip, cx) {
            let a: $t = r.get(o.a);
            let b: $t = r.get(o.b);
            if b.traps(a) {
                fault(ip, regs_of(r), cx, &TrapKind::IntegerDivision)
            }
            r.put(o.dst, a.$f(b))
        });
    )* };
}
#[inline(always)]
pub(super) fn regs_of(r: Regs) -> *mut u64 {
    r.0
}
divide! {
    udiv8: u8, wrapping_div;
    udiv16: u16, wrapping_div;
    udiv32: u32, wrapping_div;
    udiv64: u64, wrapping_div;
    urem8: u8, wrapping_rem;
    urem16: u16, wrapping_rem;
    urem32: u32, wrapping_rem;
    urem64: u64, wrapping_rem;
    sdiv8: i8, wrapping_div;
    sdiv16: i16, wrapping_div;
    sdiv32: i32, wrapping_div;
    sdiv64: i64, wrapping_div;
    srem8: i8, wrapping_rem;
    srem16: i16, wrapping_rem;
    srem32: i32, wrapping_rem;
    srem64: i64, wrapping_rem;
}

macro_rules! immediate {
    ($($name:ident: $t:ty, |$a:ident, $imm:ident| $e:expr;)*) => { $(
        handler!($name(o: Dai, r) {
            let $a: $t = r.get(o.a);
            let $imm = o.imm as $t;
            r.put(o.dst, $e)
        });
    )* };
}
immediate! {
    addi32: u32, |a, i| a.wrapping_add(i);
    addi64: u64, |a, i| a.wrapping_add(i);
    rsubi32: u32, |a, i| i.wrapping_sub(a);
    rsubi64: u64, |a, i| i.wrapping_sub(a);
    muli32: u32, |a, i| a.wrapping_mul(i);
    muli64: u64, |a, i| a.wrapping_mul(i);
    andi: u64, |a, i| a & i;
    ori: u64, |a, i| a | i;
    xori: u64, |a, i| a ^ i;
    shli32: u32, |a, i| a.wrapping_shl(i);
    shli64: u64, |a, i| a.wrapping_shl(i as u32);
    lshri32: u32, |a, i| a.wrapping_shr(i);
    lshri64: u64, |a, i| a.wrapping_shr(i as u32);
    ashri32: i32, |a, i| a.wrapping_shr(i as u32);
    ashri64: i64, |a, i| a.wrapping_shr(i as u32);
    eqi: u64, |a, i| a == i;
    nei: u64, |a, i| a != i;
    ulti: u64, |a, i| a < i;
    ugti: u64, |a, i| a > i;
    slti32: i32, |a, i| a < i;
    slti64: i64, |a, i| a < i;
    sgti32: i32, |a, i| a > i;
    sgti64: i64, |a, i| a > i;
}

handler!(affine32(o: Daii, r) {
    let a: u32 = r.get(o.a);
    r.put(o.dst, a.wrapping_mul(o.factor as u32).wrapping_add(o.imm as u32))
});
handler!(affine64(o: Daii, r) {
    let a: u64 = r.get(o.a);
    r.put(o.dst, a.wrapping_mul(o.factor as u64).wrapping_add(o.imm as u64))
});
handler!(sext_bits(o: Dai, r) {
    let shift = 64 - o.imm as u32;
    let a: i64 = r.get(o.a);
    r.put(o.dst, (a << shift) >> shift)
});
handler!(mask(o: Dam, r) {
    let a: u64 = r.get(o.a);
    r.put(o.dst, a & o.mask)
});

macro_rules! unary {
    ($($name:ident: $t:ty, |$a:ident| $e:expr;)*) => { $(
        handler!($name(o: Da, r) {
            let $a: $t = r.get(o.a);
            r.put(o.dst, $e)
        });
    )* };
}
unary! {
    sext8_16: i8, |a| i16::from(a);
    sext8_32: i8, |a| i32::from(a);
    sext8_64: i8, |a| i64::from(a);
    sext16_32: i16, |a| i32::from(a);
    sext16_64: i16, |a| i64::from(a);
    sext32_64: i32, |a| i64::from(a);
    abs8: i8, |a| a.wrapping_abs();
    abs16: i16, |a| a.wrapping_abs();
    abs32: i32, |a| a.wrapping_abs();
    abs64: i64, |a| a.wrapping_abs();
    ctpop: u64, |a| a.count_ones();
    ctlz8: u8, |a| a.leading_zeros();
    ctlz16: u16, |a| a.leading_zeros();
    ctlz32: u32, |a| a.leading_zeros();
    ctlz64: u64, |a| a.leading_zeros();
    cttz8: u8, |a| a.trailing_zeros();
    cttz16: u16, |a| a.trailing_zeros();
    cttz32: u32, |a| a.trailing_zeros();
    cttz64: u64, |a| a.trailing_zeros();
    bswap16: u16, |a| a.swap_bytes();
    bswap32: u32, |a| a.swap_bytes();
    bswap64: u64, |a| a.swap_bytes();
    bitreverse8: u8, |a| a.reverse_bits();
    bitreverse16: u16, |a| a.reverse_bits();
    bitreverse32: u32, |a| a.reverse_bits();
    bitreverse64: u64, |a| a.reverse_bits();
}

macro_rules! funnel {
    ($($l:ident $r:ident: $t:ty;)*) => { $(
        handler!($l(o: Dabc, r) {
            let (a, b, c): ($t, $t, $t) = (r.get(o.a), r.get(o.b), r.get(o.c));
            let c = c as u32 % <$t>::BITS;
            r.put(o.dst, if c == 0 { a } else { (a << c) | (b >> (<$t>::BITS - c)) })
        });
        handler!($r(o: Dabc, r) {
            let (a, b, c): ($t, $t, $t) = (r.get(o.a), r.get(o.b), r.get(o.c));
            let c = c as u32 % <$t>::BITS;
            r.put(o.dst, if c == 0 { b } else { (a << (<$t>::BITS - c)) | (b >> c) })
        });
    )* };
}
funnel! { fshl8 fshr8: u8; fshl16 fshr16: u16; fshl32 fshr32: u32; fshl64 fshr64: u64; }

// `{iN, i1}` is laid out as in memory: the flag follows the integer.
macro_rules! overflow {
    ($($name:ident: $t:ty, $f:ident;)*) => { $(
        handler!($name(o: Dab, r) {
            let (a, b): ($t, $t) = (r.get(o.a), r.get(o.b));
            let (value, over) = a.$f(b);
            let at = r.at(o.dst).cast::<u8>();
            at.cast::<$t>().write(value);
            at.add(size_of::<$t>()).write(u8::from(over));
        });
    )* };
}
overflow! {
    sadd_ov8: i8, overflowing_add; sadd_ov16: i16, overflowing_add;
    sadd_ov32: i32, overflowing_add; sadd_ov64: i64, overflowing_add;
    uadd_ov8: u8, overflowing_add; uadd_ov16: u16, overflowing_add;
    uadd_ov32: u32, overflowing_add; uadd_ov64: u64, overflowing_add;
    ssub_ov8: i8, overflowing_sub; ssub_ov16: i16, overflowing_sub;
    ssub_ov32: i32, overflowing_sub; ssub_ov64: i64, overflowing_sub;
    usub_ov8: u8, overflowing_sub; usub_ov16: u16, overflowing_sub;
    usub_ov32: u32, overflowing_sub; usub_ov64: u64, overflowing_sub;
    smul_ov8: i8, overflowing_mul; smul_ov16: i16, overflowing_mul;
    smul_ov32: i32, overflowing_mul; smul_ov64: i64, overflowing_mul;
    umul_ov8: u8, overflowing_mul; umul_ov16: u16, overflowing_mul;
    umul_ov32: u32, overflowing_mul; umul_ov64: u64, overflowing_mul;
}

macro_rules! wide {
    ($($name:ident: $t:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        handler!($name(o: Dab, r) {
            let ($a, $b): ($t, $t) = (r.get_wide(o.a), r.get_wide(o.b));
            r.put_wide(o.dst, $e)
        });
    )* };
}
wide! {
    add128: u128, |a, b| a.wrapping_add(b);
    sub128: u128, |a, b| a.wrapping_sub(b);
    mul128: u128, |a, b| a.wrapping_mul(b);
    and128: u128, |a, b| a & b;
    or128: u128, |a, b| a | b;
    xor128: u128, |a, b| a ^ b;
    shl128: u128, |a, b| a.wrapping_shl(b as u32);
    lshr128: u128, |a, b| a.wrapping_shr(b as u32);
    ashr128: i128, |a, b| a.wrapping_shr(b as u32);
    eq128: u128, |a, b| u64::from(a == b);
    ne128: u128, |a, b| u64::from(a != b);
    ult128: u128, |a, b| u64::from(a < b);
    ule128: u128, |a, b| u64::from(a <= b);
    slt128: i128, |a, b| u64::from(a < b);
    sle128: i128, |a, b| u64::from(a <= b);
}
macro_rules! wide_divide {
    ($($name:ident: $t:ty, $f:ident;)*) => { $(
        handler!($name(o: Dab, r, ip, cx) {
            let (a, b): ($t, $t) = (r.get_wide(o.a), r.get_wide(o.b));
            if b == 0 {
                fault(ip, regs_of(r), cx, &TrapKind::IntegerDivision)
            }
            r.put_wide(o.dst, a.$f(b))
        });
    )* };
}
wide_divide! {
    udiv128: u128, wrapping_div;
    sdiv128: i128, wrapping_div;
    urem128: u128, wrapping_rem;
    srem128: i128, wrapping_rem;
}
handler!(zext128(o: Da, r) {
    let a: u64 = r.get(o.a);
    r.put_wide(o.dst, u128::from(a))
});
handler!(sext128(o: Da, r) {
    let a: i64 = r.get(o.a);
    r.put_wide(o.dst, i128::from(a))
});
