//! Moves, constants, branches, switches, function entry and faults.
//!
//! Conditional branches use a processor branch instead of selecting an address; see [`branch`].
//! Calls are in `call`.

#![expect(
    clippy::double_comparisons,
    reason = "the forms say what happens with a NaN"
)]

use super::{HandlerResult, Regs, control_handler, dispatch, fault, handler};
use crate::frame::{self, HEADER_BYTES, LoweredFunction};
use ompvm_memory::fuel::Tank;
use ompvm_memory::image::Image;
use ompvm_memory::thread::ThreadState;
use ompvm_support::error::TrapKind;
use ompvm_support::message::{Kind, Message};

/// Claims the frame that the call has reserved.
///
/// # Safety
/// `cx` is this thread's state, `r` is slot 0 of the frame to claim.
#[inline(always)]
unsafe fn claim(r: Regs, cx: *mut ThreadState) {
    // SAFETY: `cx` is the current thread's state (the caller's contract).
    unsafe { (*cx).sp = r.0.cast::<u8>().sub(HEADER_BYTES) };
}
handler!(enter0(o: Enter, r, ip, cx) claim(r, cx));
handler!(enter(o: Enter, r, ip, cx) {
    claim(r, cx);
    let (values, slots) = (o.pool as *const u64, o.slots as *const u16);
    let mut i = 0;
    while i < o.count as usize {
        r.put(*slots.add(i), *values.add(i));
        i += 1;
    }
});

macro_rules! go {
    ($ip:expr, $off:expr, $r:expr, $cx:expr) => {
        dispatch($ip.byte_offset($off as isize), $r.0, $cx)
    };
}

/// Continues `then` or `els` bytes further, by a branch of the processor.
///
/// A compiler would select one of the two distances. The address of the next instruction, through
/// which it is decoded, would then depend on the guest's comparison, and iterations of a guest loop
/// could not overlap. A branch is predicted.
///
/// # Safety
/// As for [`dispatch`].
#[inline(always)]
pub(super) unsafe fn branch(
    cond: bool,
    ip: *const u64,
    (then, els): (i32, i32),
    r: Regs,
    cx: *mut ThreadState,
) -> HandlerResult {
    #[inline(always)]
    fn apart(mut ip: *const u64) -> *const u64 {
        // SAFETY: the assembly is empty; it only keeps the compiler from merging the two paths.
        unsafe {
            std::arch::asm!(
                "/* {0} */",
                inout(reg) ip,
                options(readonly, nostack, preserves_flags),
            );
        }
        ip
    }
    // SAFETY: the lowering wrote distances to instructions of the same function.
    unsafe {
        let ip = if cond {
            apart(ip.byte_offset(then as isize))
        } else {
            apart(ip.byte_offset(els as isize))
        };
        dispatch(ip, r.0, cx)
    }
}

control_handler!(jump(o: Br, r, ip, cx) go!(ip, o.target, r, cx));
control_handler!(mov_jump(o: DaBr, r, ip, cx) {
    r.put(o.dst, r.get::<u64>(o.a));
    go!(ip, o.target, r, cx)
});
control_handler!(br_if(o: Bra, r, ip, cx) {
    branch(r.get::<u64>(o.a) & 1 != 0, ip, (o.then, o.els), r, cx)
});

macro_rules! branches {
    ($($name:ident: $t:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        control_handler!($name(o: Brab, r, ip, cx) {
            let ($a, $b): ($t, $t) = (r.get(o.a), r.get(o.b));
            branch($e, ip, (o.then, o.els), r, cx)
        });
    )* };
}
branches! {
    br_eq: u64, |a, b| a == b;
    br_eq32: u32, |a, b| a == b;
    br_ult: u64, |a, b| a < b;
    br_ult32: u32, |a, b| a < b;
    br_ule: u64, |a, b| a <= b;
    br_ule32: u32, |a, b| a <= b;
    br_slt8: i8, |a, b| a < b;
    br_slt16: i16, |a, b| a < b;
    br_slt32: i32, |a, b| a < b;
    br_slt64: i64, |a, b| a < b;
    br_sle8: i8, |a, b| a <= b;
    br_sle16: i16, |a, b| a <= b;
    br_sle32: i32, |a, b| a <= b;
    br_sle64: i64, |a, b| a <= b;
    br_foeq32: f32, |a, b| a == b;
    br_folt32: f32, |a, b| a < b;
    br_fole32: f32, |a, b| a <= b;
    br_fone32: f32, |a, b| a < b || a > b;
    br_ford32: f32, |a, b| !a.is_nan() && !b.is_nan();
    br_foeq64: f64, |a, b| a == b;
    br_folt64: f64, |a, b| a < b;
    br_fole64: f64, |a, b| a <= b;
    br_fone64: f64, |a, b| a < b || a > b;
    br_ford64: f64, |a, b| !a.is_nan() && !b.is_nan();
}
macro_rules! branches_imm {
    ($($name:ident: $t:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        control_handler!($name(o: Brai, r, ip, cx) {
            let ($a, $b): ($t, $t) = (r.get(o.a), o.imm as $t);
            branch($e, ip, (o.then, o.els), r, cx)
        });
    )* };
}
branches_imm! {
    br_eqi: u64, |a, b| a == b;
    br_eqi32: u32, |a, b| a == b;
    br_ulti: u64, |a, b| a < b;
    br_ulti32: u32, |a, b| a < b;
    br_slti32: i32, |a, b| a < b;
    br_slti64: i64, |a, b| a < b;
    br_test: u64, |a, b| a & b != 0;
}
macro_rules! steps {
    ($($name:ident $imm:ident $walk:ident $walki:ident: $t:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        control_handler!($name(o: Brstep, r, ip, cx) {
            let $b: $t = r.get(o.b);
            let $a = r.get::<$t>(o.a).wrapping_add(o.step as $t);
            r.put(o.dst, $a);
            branch($e, ip, (o.then, o.els), r, cx)
        });
        control_handler!($imm(o: Brstepi, r, ip, cx) {
            let $b = o.imm as $t;
            let $a = r.get::<$t>(o.a).wrapping_add(o.step as $t);
            r.put(o.dst, $a);
            branch($e, ip, (o.then, o.els), r, cx)
        });
        control_handler!($walk(o: Brwalk, r, ip, cx) {
            let $b: $t = r.get(o.b);
            let $a = r.get::<$t>(o.a).wrapping_add(r.get::<$t>(o.s));
            r.put(o.dst, $a);
            branch($e, ip, (o.then, o.els), r, cx)
        });
        control_handler!($walki(o: Brwalki, r, ip, cx) {
            let $b = o.imm as $t;
            let $a = r.get::<$t>(o.a).wrapping_add(r.get::<$t>(o.s));
            r.put(o.dst, $a);
            branch($e, ip, (o.then, o.els), r, cx)
        });
    )* };
}
steps! {
    step_eq32 step_eqi32 walk_eq32 walk_eqi32: u32, |a, b| a == b;
    step_eq64 step_eqi64 walk_eq64 walk_eqi64: u64, |a, b| a == b;
    step_slt32 step_slti32 walk_slt32 walk_slti32: i32, |a, b| a < b;
    step_slt64 step_slti64 walk_slt64 walk_slti64: i64, |a, b| a < b;
    step_ult32 step_ulti32 walk_ult32 walk_ulti32: u32, |a, b| a < b;
    step_ult64 step_ulti64 walk_ult64 walk_ulti64: u64, |a, b| a < b;
}

// The sum is written first, since it may be an operand of the comparison.
macro_rules! increments {
    ($($name:ident $imm:ident: $t:ty, |$a:ident, $b:ident| $e:expr;)*) => { $(
        control_handler!($name(o: Brinc, r, ip, cx) {
            r.put(o.dst, r.get::<u64>(o.a).wrapping_add(o.step as u64));
            let ($a, $b): ($t, $t) = (r.get(o.x), r.get(o.y));
            branch($e, ip, (o.then, o.els), r, cx)
        });
        control_handler!($imm(o: Brinci, r, ip, cx) {
            r.put(o.dst, r.get::<u64>(o.a).wrapping_add(o.step as u64));
            let ($a, $b): ($t, $t) = (r.get(o.x), o.imm as $t);
            branch($e, ip, (o.then, o.els), r, cx)
        });
    )* };
}
increments! {
    inc_br_eq inc_br_eqi: u64, |a, b| a == b;
    inc_br_eq32 inc_br_eqi32: u32, |a, b| a == b;
    inc_br_slt32 inc_br_slti32: i32, |a, b| a < b;
    inc_br_slt64 inc_br_slti64: i64, |a, b| a < b;
    inc_br_ult inc_br_ulti: u64, |a, b| a < b;
}

control_handler!(switch_table(o: Switch, r, ip, cx) {
    let index = r.get::<u64>(o.a).wrapping_sub(o.low);
    let table = ip.byte_add(size_of::<crate::isa::Enc<crate::isa::Switch>>()).cast::<i32>();
    let off = if index < u64::from(o.n) { *table.add(index as usize) } else { o.default };
    go!(ip, off, r, cx)
});
control_handler!(switch_search(o: Switch, r, ip, cx) {
    let key = r.get::<u64>(o.a);
    let keys = ip.byte_add(size_of::<crate::isa::Enc<crate::isa::Switch>>());
    let n = o.n as usize;
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = (low + high) / 2;
        if *keys.add(middle) < key { low = middle + 1 } else { high = middle }
    }
    let off = if low < n && *keys.add(low) == key {
        *keys.add(n).cast::<i32>().add(low)
    } else {
        o.default
    };
    go!(ip, off, r, cx)
});
control_handler!(indirect(o: A, r, ip, cx) {
    let address = r.get::<u64>(o.a) as usize;
    let code = frame::code(r.0);
    match block_at(code, address) {
        Some(off) => dispatch((*code).code.as_ptr().byte_add(off), r.0, cx),
        None => fault(ip, r.0, cx, &TrapKind::BadCall(address)),
    }
});
#[inline(never)]
fn block_at(code: *const LoweredFunction, address: usize) -> Option<usize> {
    // SAFETY: a frame's code and its image are alive while the frame runs.
    let (code, image) = unsafe { (&*code, &*((*code).image as *const Image)) };
    let (func, block) = image.code_addresses.label_at(address)?;
    (func == code.func).then(|| code.blocks[block.as_u32() as usize] as usize)
}

handler!(mov(o: Da, r) r.put(o.dst, r.get::<u64>(o.a)));
handler!(mov128(o: Da, r) r.put_wide(o.dst, r.get_wide::<[u64; 2]>(o.a)));
handler!(mov_words(o: Dan, r) {
    let (from, to) = (r.at(o.a), r.at(o.dst));
    let mut i = 0;
    while i < o.n as usize {
        // Volatile, since a call of memmove would cost more than the usual few words.
        to.add(i).write_volatile(from.add(i).read());
        i += 1;
    }
});
handler!(mov_bytes(o: Bytes, r) {
    let at = r.0.cast::<u8>();
    let (from, to) = (at.add(o.from as usize), at.add(o.to as usize));
    match o.bytes {
        1 => to.write(from.read()),
        2 => to.cast::<u16>().write_unaligned(from.cast::<u16>().read_unaligned()),
        4 => to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
        8 => to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
        n => std::ptr::copy(from, to, n as usize),
    }
});
handler!(zero_words(o: Dan, r) std::ptr::write_bytes(r.at(o.dst), 0, o.n as usize));
handler!(const_word(o: Di, r) r.put(o.dst, o.imm));
handler!(lea(o: Doff, r) r.put(o.dst, (r.0 as u64).wrapping_add(o.off as u64)));
handler!(select(o: Dabc, r) {
    let (a, b, c): (u64, u64, u64) = (r.get(o.a), r.get(o.b), r.get(o.c));
    r.put(o.dst, std::hint::select_unpredictable(a & 1 != 0, b, c))
});
macro_rules! selections {
    ($($name:ident: $t:ty, |$x:ident, $y:ident| $e:expr;)*) => { $(
        handler!($name(o: Sel, r) {
            let ($x, $y): ($t, $t) = (r.get(o.x), r.get(o.y));
            let (a, b): (u64, u64) = (r.get(o.a), r.get(o.b));
            r.put(o.dst, std::hint::select_unpredictable($e, a, b))
        });
    )* };
}
selections! {
    sel_eq: u64, |x, y| x == y;
    sel_ult: u64, |x, y| x < y;
    sel_slt32: i32, |x, y| x < y;
    sel_slt64: i64, |x, y| x < y;
    sel_folt64: f64, |x, y| x < y;
    sel_fole64: f64, |x, y| x <= y;
}
macro_rules! selections_imm {
    ($($name:ident: $t:ty, |$x:ident, $y:ident| $e:expr;)*) => { $(
        handler!($name(o: Seli, r) {
            let ($x, $y): ($t, $t) = (r.get(o.x), o.imm as $t);
            let (a, b): (u64, u64) = (r.get(o.a), r.get(o.b));
            r.put(o.dst, std::hint::select_unpredictable($e, a, b))
        });
    )* };
}
selections_imm! {
    sel_eqi: u64, |x, y| x == y;
    sel_ulti: u64, |x, y| x < y;
    sel_slti32: i32, |x, y| x < y;
    sel_slti64: i64, |x, y| x < y;
    sel_test: u64, |x, y| x & y != 0;
}
handler!(select_words(o: Dabcn, r) {
    let from = if r.get::<u64>(o.a) & 1 != 0 { o.b } else { o.c };
    std::ptr::copy(r.at(from), r.at(o.dst), o.n as usize)
});
handler!(quad64(o: Quad, r) {
    let (a, b, c, d): (u64, u64, u64, u64) = (r.get(o.a), r.get(o.b), r.get(o.c), r.get(o.d));
    r.put_wide(o.dst, [a, b, c, d])
});
handler!(pair64(o: Dab, r) {
    let (a, b): (u64, u64) = (r.get(o.a), r.get(o.b));
    r.put_wide(o.dst, [a, b])
});

control_handler!(unreachable(_o: Nil, r, ip, cx) fault(ip, r.0, cx, &TrapKind::Unreachable));
control_handler!(trap(_o: Nil, r, ip, cx) fault(ip, r.0, cx, &TrapKind::BuiltinTrap));
handler!(debugtrap(_o: Nil, r, ip, cx) {
    super::save_position(ip, r.0, cx);
    libc::raise(libc::SIGTRAP)
});
control_handler!(unsupported(o: Site, r, ip, cx) {
    super::save_position(ip, r.0, cx);
    report_unsupported(o.site)
});
#[cold]
#[inline(never)]
fn report_unsupported(text: usize) -> ! {
    // SAFETY: the lowering keeps the text alive with the code.
    let text = unsafe { &*(text as *const String) };
    let text = format_args!("not supported by this version of ompvm:\n  {text}");
    Message::new(Kind::Unsupported, &text).print();
    std::process::exit(125)
}
handler!(count(o: Count, r, _ip, cx) (*cx).interp[0] = (*cx).interp[0].wrapping_add(o.n as usize));
handler!(charge(o: Charge, r, ip, cx) {
    let share = &mut (*cx).fuel;
    share.left = share.left.wrapping_sub_unsigned(o.n);
    if share.left < 0 {
        refuel(o.tank, ip, r.0, cx);
    }
});

/// Takes more fuel from the program's tank. Ends the call if there is too little for the block.
///
/// # Safety
/// As for [`fault`]; `tank` is the address of the image's tank.
#[cold]
#[inline(never)]
unsafe fn refuel(tank: usize, ip: *const u64, regs: *mut u64, cx: *mut ThreadState) {
    // SAFETY: the image outlives its code, and `cx` is this thread's state (the caller's contract).
    unsafe {
        let tank = &*std::ptr::with_exposed_provenance::<Tank>(tank);
        if !(*cx).fuel.refill(tank) {
            fault(ip, regs, cx, &TrapKind::OutOfFuel);
        }
    }
}
