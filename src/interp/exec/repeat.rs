//! Loops of one instruction, such as a fill, a sum or a dot product, with the counter in a
//! register.
//!
//! Each instruction here does its work, then that of the step that follows it, and repeats both
//! while the step branches back; it leaves through the step's other successor. Keeping the counter
//! or the sum in the frame would add a store and a load per iteration, which is most of such a
//! loop. The step keeps its own instruction, from which the loop is read. If another handler than
//! the interpreter's stands there, only the work is done and the step runs as usual. The loop is
//! entered again every [`MAX_ITERATIONS`] iterations, so that a patched step is noticed.
//!
//! The lowering (`lower/repeat.rs`) ensures that the step counts in the instruction's index,
//! branches back to it, and that nothing else in the loop changes.

use super::memory::{load, store};
use super::{Regs, control_handler, dispatch};
use crate::isa::{Brstep, Brstepi, Brwalk, Brwalki, Enc, INSTRUCTIONS, Shape, op};

/// The most iterations before the step is read again.
const MAX_ITERATIONS: u32 = 1 << 14;

/// The comparison that continues a loop.
#[derive(Clone, Copy)]
enum LoopCondition {
    NotEqual,
    Less,
    Below,
}

/// A step's increment and the condition on which it branches back.
struct Loop {
    step: u64,
    bound: u64,
    condition: LoopCondition,
    /// Distance in bytes from the step to its successor outside the loop.
    exit: i32,
}

/// Reads the loop that the step at `ip` forms with the instruction `back` bytes before it.
#[inline(always)]
unsafe fn read_loop(ip: *const u64, back: usize, r: Regs) -> Option<Loop> {
    // SAFETY: the step's handler identifies its shape.
    unsafe {
        let handler = *ip.cast::<usize>();
        let is = |code: u16| handler == INSTRUCTIONS.handlers[code as usize] as usize;
        let eq = |then: i32, out: i32| (LoopCondition::NotEqual, then, out);
        let (step, bound, (condition, exit, to)) = if is(op::step_eqi64.number) {
            let o = &(*ip.cast::<Enc<Brstepi>>()).ops;
            (o.step as u64, o.imm as u64, eq(o.then, o.els))
        } else if is(op::step_eq64.number) {
            let o = &(*ip.cast::<Enc<Brstep>>()).ops;
            (o.step as u64, r.get(o.b), eq(o.then, o.els))
        } else if is(op::step_slt64.number) {
            let o = &(*ip.cast::<Enc<Brstep>>()).ops;
            (
                o.step as u64,
                r.get(o.b),
                (LoopCondition::Less, o.els, o.then),
            )
        } else if is(op::step_slti64.number) {
            let o = &(*ip.cast::<Enc<Brstepi>>()).ops;
            (
                o.step as u64,
                o.imm as u64,
                (LoopCondition::Less, o.els, o.then),
            )
        } else if is(op::step_ult64.number) {
            let o = &(*ip.cast::<Enc<Brstep>>()).ops;
            (
                o.step as u64,
                r.get(o.b),
                (LoopCondition::Below, o.els, o.then),
            )
        } else if is(op::step_ulti64.number) {
            let o = &(*ip.cast::<Enc<Brstepi>>()).ops;
            (
                o.step as u64,
                o.imm as u64,
                (LoopCondition::Below, o.els, o.then),
            )
        } else if is(op::walk_ult64.number) {
            let o = &(*ip.cast::<Enc<Brwalk>>()).ops;
            (
                r.get(o.s),
                r.get(o.b),
                (LoopCondition::Below, o.els, o.then),
            )
        } else if is(op::walk_ulti64.number) {
            let o = &(*ip.cast::<Enc<Brwalki>>()).ops;
            (
                r.get(o.s),
                o.imm as u64,
                (LoopCondition::Below, o.els, o.then),
            )
        } else if is(op::walk_slt64.number) {
            let o = &(*ip.cast::<Enc<Brwalk>>()).ops;
            (r.get(o.s), r.get(o.b), (LoopCondition::Less, o.els, o.then))
        } else if is(op::walk_slti64.number) {
            let o = &(*ip.cast::<Enc<Brwalki>>()).ops;
            (
                r.get(o.s),
                o.imm as u64,
                (LoopCondition::Less, o.els, o.then),
            )
        } else {
            return None;
        };
        (to as isize == -(back as isize)).then_some(Loop {
            step,
            bound,
            condition,
            exit,
        })
    }
}

/// Runs `body` for each value of the counter in `index`; returns the next instruction.
#[inline(always)]
unsafe fn repeat<T: Shape>(
    ip: *const u64,
    index: u16,
    r: Regs,
    mut body: impl FnMut(u64),
) -> *const u64 {
    // SAFETY: the lowering wrote the step after this instruction, and `index` is the counter's
    // slot.
    unsafe {
        let back = size_of::<Enc<T>>();
        let after = ip.byte_add(back);
        let mut i: u64 = r.get(index);
        let Some(l) = read_loop(after, back, r) else {
            body(i);
            return after;
        };
        let mut left = MAX_ITERATIONS;
        macro_rules! go {
            ($on:expr) => {
                loop {
                    body(i);
                    i = i.wrapping_add(l.step);
                    if !$on {
                        r.put(index, i);
                        return after.byte_offset(l.exit as isize);
                    }
                    left -= 1;
                    if left == 0 {
                        r.put(index, i);
                        return ip;
                    }
                }
            };
        }
        match l.condition {
            LoopCondition::NotEqual => go!(i != l.bound),
            LoopCondition::Less => go!((i as i64) < l.bound as i64),
            LoopCondition::Below => go!(i < l.bound),
        }
    }
}

macro_rules! fills {
    ($($name:ident: $t:ty;)*) => { $(
        control_handler!($name(o: Memx, r, ip, cx) {
            let value: $t = r.get(o.reg);
            let (base, scale, off) = (r.get::<u64>(o.base), o.scale as u64, o.off as u64);
            let to = repeat::<crate::isa::Memx>(ip, o.index, r, |i| {
                let at = base.wrapping_add(i.wrapping_mul(scale)).wrapping_add(off);
                store::<$t>(at as usize, value)
            });
            dispatch(to, r.0, cx)
        });
    )* };
}
fills! {
    store8x_loop: u8;
    store16x_loop: u16;
    store32x_loop: u32;
    store64x_loop: u64;
}

control_handler!(fadd64_x_loop(o: Fx, r, ip, cx) {
    let mut sum: f64 = r.get(o.a);
    let (base, scale, off) = (r.get::<u64>(o.base), o.scale as u64, o.off as u64);
    let to = repeat::<crate::isa::Fx>(ip, o.index, r, |i| {
        let at = base.wrapping_add(i.wrapping_mul(scale)).wrapping_add(off);
        sum += load::<f64>(at as usize)
    });
    r.put(o.dst, sum);
    dispatch(to, r.0, cx)
});
control_handler!(muladd64_x_loop(o: Fcx, r, ip, cx) {
    let (mut sum, a): (f64, f64) = (r.get(o.c), r.get(o.a));
    let (base, scale, off) = (r.get::<u64>(o.base), o.scale as u64, o.off as u64);
    let to = repeat::<crate::isa::Fcx>(ip, o.index, r, |i| {
        let at = base.wrapping_add(i.wrapping_mul(scale)).wrapping_add(off);
        sum += a * load::<f64>(at as usize)
    });
    r.put(o.dst, sum);
    dispatch(to, r.0, cx)
});
control_handler!(muladd64_xx_loop(o: Fxx, r, ip, cx) {
    let mut sum: f64 = r.get(o.c);
    let (base, scale, off) = (r.get::<u64>(o.base), o.scale as u64, o.off as u64);
    let (base2, scale2, off2) = (r.get::<u64>(o.base2), o.scale2 as u64, o.off2 as u64);
    let to = repeat::<crate::isa::Fxx>(ip, o.index, r, |i| {
        let v = base.wrapping_add(i.wrapping_mul(scale)).wrapping_add(off);
        let w = base2.wrapping_add(i.wrapping_mul(scale2)).wrapping_add(off2);
        sum += load::<f64>(v as usize) * load::<f64>(w as usize)
    });
    r.put(o.dst, sum);
    dispatch(to, r.0, cx)
});
control_handler!(macc64_xx_loop(o: Fxx, r, ip, cx) {
    let a: f64 = r.get(o.c);
    let (base, scale, off) = (r.get::<u64>(o.base), o.scale as u64, o.off as u64);
    let (base2, scale2, off2) = (r.get::<u64>(o.base2), o.scale2 as u64, o.off2 as u64);
    let to = repeat::<crate::isa::Fxx>(ip, o.index, r, |i| {
        let v = base.wrapping_add(i.wrapping_mul(scale)).wrapping_add(off);
        let w = base2.wrapping_add(i.wrapping_mul(scale2)).wrapping_add(off2) as usize;
        let v: f64 = load(v as usize);
        store(w, a * v + load::<f64>(w))
    });
    dispatch(to, r.0, cx)
});
control_handler!(muladd64_gather_loop(o: Fg, r, ip, cx) {
    let mut sum: f64 = r.get(o.c);
    let to = repeat::<crate::isa::Fg>(ip, o.index, r, |i| {
        sum += super::fused::gathered(o, r, i)
    });
    r.put(o.dst, sum);
    dispatch(to, r.0, cx)
});
