//! Arithmetic on doubles and pairs of doubles with an operand or the result in memory.
//!
//! Operands are read before anything is written, since the destination may be one of them. Products
//! are rounded before they are added, as in baseline x86-64 code.

use super::memory::{base, indexed, load, store};
use super::{Regs, handler};
use crate::isa::Fg;

type Pair = [f64; 2];

#[inline(always)]
fn each(a: Pair, b: Pair, f: impl Fn(f64, f64) -> f64) -> Pair {
    [f(a[0], b[0]), f(a[1], b[1])]
}

macro_rules! binary {
    ($($m:ident $x:ident: $t:ty, |$a:ident, $v:ident| $e:expr;)*) => { $(
        handler!($m(o: Fm, r) {
            let ($v, $a): ($t, $t) = (load(base(r, o.base, o.off)), r.get_wide(o.a));
            r.put_wide(o.dst, $e)
        });
        handler!($x(o: Fx, r) {
            let at = indexed(r, o.base, r.get(o.index), o.scale, o.off);
            let ($v, $a): ($t, $t) = (load(at), r.get_wide(o.a));
            r.put_wide(o.dst, $e)
        });
    )* };
}
binary! {
    fadd64_m fadd64_x: f64, |a, v| a + v;
    fsub64_m fsub64_x: f64, |a, v| a - v;
    frsub64_m frsub64_x: f64, |a, v| v - a;
    fmul64_m fmul64_x: f64, |a, v| a * v;
    v2fadd_m v2fadd_x: Pair, |a, v| each(a, v, |a, v| a + v);
    v2fsub_m v2fsub_x: Pair, |a, v| each(a, v, |a, v| a - v);
    v2frsub_m v2frsub_x: Pair, |a, v| each(v, a, |v, a| v - a);
    v2fmul_m v2fmul_x: Pair, |a, v| each(a, v, |a, v| a * v);
}

macro_rules! ternary {
    ($($m:ident $x:ident: $t:ty, |$a:ident, $c:ident, $v:ident| $e:expr;)*) => { $(
        handler!($m(o: Fm, r) {
            let $v: $t = load(base(r, o.base, o.off));
            let ($a, $c): ($t, $t) = (r.get_wide(o.a), r.get_wide(o.c));
            r.put_wide(o.dst, $e)
        });
        handler!($x(o: Fcx, r) {
            let $v: $t = load(indexed(r, o.base, r.get(o.index), o.scale, o.off));
            let ($a, $c): ($t, $t) = (r.get_wide(o.a), r.get_wide(o.c));
            r.put_wide(o.dst, $e)
        });
    )* };
}
ternary! {
    muladd64_m muladd64_x: f64, |a, c, v| a * v + c;
    muladd64_am muladd64_ax: f64, |a, c, v| a * c + v;
    v2muladd_m v2muladd_x: Pair, |a, c, v| each(each(a, v, |a, v| a * v), c, |p, c| p + c);
    v2muladd_am v2muladd_ax: Pair, |a, c, v| each(each(a, c, |a, c| a * c), v, |p, v| p + v);
}
handler!(muladd64_s(o: Fcx, r) {
    let index = i64::from(r.get::<i32>(o.index)) as u64;
    let v: f64 = load(indexed(r, o.base, index, o.scale, o.off));
    let (a, c): (f64, f64) = (r.get(o.a), r.get(o.c));
    r.put(o.dst, a * v + c)
});

handler!(negmul64(o: Dab, r) {
    let (a, b): (f64, f64) = (r.get(o.a), r.get(o.b));
    r.put(o.dst, -a * b)
});
handler!(negmuladd64_m(o: Fm, r) {
    let v: f64 = load(base(r, o.base, o.off));
    let (a, c): (f64, f64) = (r.get(o.a), r.get(o.c));
    r.put(o.dst, c - a * v)
});
handler!(negmuladd64_x(o: Fcx, r) {
    let v: f64 = load(indexed(r, o.base, r.get(o.index), o.scale, o.off));
    let (a, c): (f64, f64) = (r.get(o.a), r.get(o.c));
    r.put(o.dst, c - a * v)
});

macro_rules! both_loaded {
    ($($name:ident: |$v:ident, $w:ident| $e:expr;)*) => { $(
        handler!($name(o: Fxx, r) {
            let $v: f64 = load(indexed(r, o.base, r.get(o.index), o.scale, o.off));
            let $w: f64 = load(indexed(r, o.base2, r.get(o.index2), o.scale2, o.off2));
            r.put(o.dst, $e)
        });
    )* };
}
both_loaded! {
    fadd64_xx: |v, w| v + w;
    fsub64_xx: |v, w| v - w;
    fmul64_xx: |v, w| v * w;
}
handler!(muladd64_xx(o: Fxx, r) {
    let v: f64 = load(indexed(r, o.base, r.get(o.index), o.scale, o.off));
    let w: f64 = load(indexed(r, o.base2, r.get(o.index2), o.scale2, o.off2));
    r.put(o.dst, v * w + r.get::<f64>(o.c))
});
/// Returns the product of the two doubles for one value of the index.
///
/// # Safety
/// The slots belong to the frame; the addresses are the guest's.
#[inline(always)]
pub(super) unsafe fn gathered(o: &Fg, r: Regs, i: u64) -> f64 {
    // SAFETY: the slots belong to the frame; the accesses are the guest's own (the caller's
    // contract).
    unsafe {
        let v: f64 = load(indexed(r, o.base, i, o.scale, o.off));
        let k: i32 = load(indexed(r, o.base2, i, o.scale2, o.off2));
        let w: f64 = load(indexed(r, o.base3, i64::from(k) as u64, o.scale3, o.off3));
        v * w
    }
}
handler!(muladd64_gather(o: Fg, r)
    r.put(o.dst, gathered(o, r, r.get(o.index)) + r.get::<f64>(o.c)));

handler!(v2scale(o: Dab, r) {
    let (a, b): (f64, Pair) = (r.get(o.a), r.get_wide(o.b));
    r.put_wide(o.dst, each([a, a], b, |a, b| a * b))
});
handler!(v2scaleadd(o: Dabc, r) {
    let (a, b, c): (f64, Pair, Pair) = (r.get(o.a), r.get_wide(o.b), r.get_wide(o.c));
    r.put_wide(o.dst, each(each([a, a], b, |a, b| a * b), c, |p, c| p + c))
});
handler!(v2scaleadd_m(o: Fm, r) {
    let v: Pair = load(base(r, o.base, o.off));
    let (a, c): (f64, Pair) = (r.get(o.a), r.get_wide(o.c));
    r.put_wide(o.dst, each(each([a, a], v, |a, v| a * v), c, |p, c| p + c))
});

macro_rules! stored {
    ($($m:ident $x:ident: |$a:ident, $b:ident| $e:expr;)*) => { $(
        handler!($m(o: Fm, r) {
            let ($a, $b): (f64, f64) = (r.get(o.a), r.get(o.dst));
            store(base(r, o.base, o.off), $e)
        });
        handler!($x(o: Fcx, r) {
            let ($a, $b): (f64, f64) = (r.get(o.a), r.get(o.dst));
            store(indexed(r, o.base, r.get(o.index), o.scale, o.off), $e)
        });
    )* };
}
stored! {
    fadd64_st fadd64_stx: |a, b| a + b;
    fsub64_st fsub64_stx: |a, b| a - b;
    fmul64_st fmul64_stx: |a, b| a * b;
}
handler!(muladd64_stx(o: Fcx, r) {
    let (a, b, c): (f64, f64, f64) = (r.get(o.a), r.get(o.dst), r.get(o.c));
    store(indexed(r, o.base, r.get(o.index), o.scale, o.off), a * b + c)
});
handler!(muladd64_st(o: Fm, r) {
    let (a, b, c): (f64, f64, f64) = (r.get(o.a), r.get(o.dst), r.get(o.c));
    store(base(r, o.base, o.off), a * b + c)
});
handler!(muladd64_ls(o: Fms, r) {
    let v: f64 = load(base(r, o.from, o.from_off));
    let (a, b): (f64, f64) = (r.get(o.a), r.get(o.b));
    store(base(r, o.base, o.off), a * b + v)
});
handler!(macc64_m(o: Fms, r) {
    let (v, at): (f64, usize) = (load(base(r, o.from, o.from_off)), base(r, o.base, o.off));
    store(at, r.get::<f64>(o.a) * v + load::<f64>(at))
});
handler!(macc64_x(o: Fxs, r) {
    let v: f64 = load(indexed(r, o.base, r.get(o.index), o.scale, o.off));
    let at = base(r, o.to, o.to_off);
    store(at, r.get::<f64>(o.a) * v + load::<f64>(at))
});
handler!(macc64_xx(o: Fxx, r) {
    let v: f64 = load(indexed(r, o.base, r.get(o.index), o.scale, o.off));
    let at = indexed(r, o.base2, r.get(o.index2), o.scale2, o.off2);
    store(at, r.get::<f64>(o.c) * v + load::<f64>(at))
});
handler!(pair64_m(o: Fms, r) {
    let (v, w): (u64, u64) = (load(base(r, o.from, o.from_off)), load(base(r, o.base, o.off)));
    r.put_wide(o.a, [v, w])
});
