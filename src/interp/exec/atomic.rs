//! Atomic accesses up to eight bytes.
//!
//! Read-modify-writes and compare-and-exchange are always sequentially consistent, since x86-64 has
//! one instruction for all orderings. Loads are acquire, which also implements sequentially
//! consistent loads there. Stores come in both orderings.

use super::handler;
use std::sync::atomic::{
    AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

macro_rules! simple {
    ($($t:ident $n:ty: $load:ident $store:ident $sstore:ident $cas:ident;)*) => { $(
        handler!($load(o: Mem, r) {
            let p = r.get::<u64>(o.base).wrapping_add(o.off as u64) as *const $t;
            r.put(o.reg, (*p).load(Acquire))
        });
        handler!($store(o: Mem, r) {
            let p = r.get::<u64>(o.base).wrapping_add(o.off as u64) as *const $t;
            (*p).store(r.get(o.reg), Release)
        });
        handler!($sstore(o: Mem, r) {
            let p = r.get::<u64>(o.base).wrapping_add(o.off as u64) as *const $t;
            (*p).store(r.get(o.reg), SeqCst)
        });
        handler!($cas(o: Cas, r) {
            let p = r.get::<u64>(o.ptr) as *const $t;
            let (old, done) =
                match (*p).compare_exchange(r.get(o.expected), r.get(o.new), SeqCst, SeqCst) {
                    Ok(old) => (old, 1u8),
                    Err(old) => (old, 0u8),
                };
            let out = r.at(o.dst).cast::<u8>();
            out.cast::<$n>().write(old);
            out.add(o.flag as usize).write(done)
        });
    )* };
}
simple! {
    AtomicU8 u8: aload8 astore8 sstore8 cas8;
    AtomicU16 u16: aload16 astore16 sstore16 cas16;
    AtomicU32 u32: aload32 astore32 sstore32 cas32;
    AtomicU64 u64: aload64 astore64 sstore64 cas64;
}

macro_rules! direct {
    ($($f:ident: $n8:ident $n16:ident $n32:ident $n64:ident;)*) => { $(
        direct!(@ $f $n8 AtomicU8; $f $n16 AtomicU16; $f $n32 AtomicU32; $f $n64 AtomicU64;);
    )* };
    (@ $($f:ident $name:ident $t:ident;)*) => { $(
        handler!($name(o: Rmw, r) {
            let p = r.get::<u64>(o.ptr) as *const $t;
            r.put(o.dst, (*p).$f(r.get(o.value), SeqCst))
        });
    )* };
}
direct! {
    swap: xchg8 xchg16 xchg32 xchg64;
    fetch_add: aadd8 aadd16 aadd32 aadd64;
    fetch_sub: asub8 asub16 asub32 asub64;
    fetch_and: aand8 aand16 aand32 aand64;
    fetch_or: aor8 aor16 aor32 aor64;
    fetch_xor: axor8 axor16 axor32 axor64;
}

macro_rules! looped {
    ($($name:ident: $t:ident $n:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        handler!($name(o: Rmw, r) {
            let p = r.get::<u64>(o.ptr) as *const $t;
            let $b: $n = r.get(o.value);
            let mut old = (*p).load(Relaxed);
            loop {
                let $a = old;
                match (*p).compare_exchange_weak(old, $e, SeqCst, Relaxed) {
                    Ok(_) => break,
                    Err(now) => old = now,
                }
            }
            r.put(o.dst, old)
        });
    )* };
}
macro_rules! looped_widths {
    ($($n8:ident $n16:ident $n32:ident $n64:ident: $i8:ty, $i16:ty, $i32:ty, $i64:ty, |$a:ident, $b:ident| $e:expr;)*) => {
        looped! { $(
            $n8: AtomicU8 u8, |x, y| { let ($a, $b) = (x as $i8, y as $i8); ($e) as u8 };
            $n16: AtomicU16 u16, |x, y| { let ($a, $b) = (x as $i16, y as $i16); ($e) as u16 };
            $n32: AtomicU32 u32, |x, y| { let ($a, $b) = (x as $i32, y as $i32); ($e) as u32 };
            $n64: AtomicU64 u64, |x, y| { let ($a, $b) = (x as $i64, y as $i64); ($e) as u64 };
        )* }
    };
}
looped_widths! {
    anand8 anand16 anand32 anand64: u8, u16, u32, u64, |a, b| !(a & b);
    amax8 amax16 amax32 amax64: i8, i16, i32, i64, |a, b| a.max(b);
    amin8 amin16 amin32 amin64: i8, i16, i32, i64, |a, b| a.min(b);
    aumax8 aumax16 aumax32 aumax64: u8, u16, u32, u64, |a, b| a.max(b);
    aumin8 aumin16 aumin32 aumin64: u8, u16, u32, u64, |a, b| a.min(b);
}
looped! {
    afadd32: AtomicU32 u32, |a, b| (f32::from_bits(a) + f32::from_bits(b)).to_bits();
    afsub32: AtomicU32 u32, |a, b| (f32::from_bits(a) - f32::from_bits(b)).to_bits();
    afmax32: AtomicU32 u32, |a, b| f32::from_bits(a).max(f32::from_bits(b)).to_bits();
    afmin32: AtomicU32 u32, |a, b| f32::from_bits(a).min(f32::from_bits(b)).to_bits();
    afadd64: AtomicU64 u64, |a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits();
    afsub64: AtomicU64 u64, |a, b| (f64::from_bits(a) - f64::from_bits(b)).to_bits();
    afmax64: AtomicU64 u64, |a, b| f64::from_bits(a).max(f64::from_bits(b)).to_bits();
    afmin64: AtomicU64 u64, |a, b| f64::from_bits(a).min(f64::from_bits(b)).to_bits();
}
handler!(fence(_o: Nil, r) std::sync::atomic::fence(SeqCst));
