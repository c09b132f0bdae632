//! Calls and returns: guest to guest, guest to native, thunks, setjmp and longjmp.
//!
//! A guest call writes the arguments into the callee's first slots above the caller's stack
//! pointer and jumps to its code; the native stack does not grow. Native calls save the place
//! first, since they can call back, throw, or never return.

use super::{Done, Regs, done, fault, h, hc, next, save};
use crate::interp::frame::{self, CallSite, HEADER, Header, Lowered, ThunkSite};
use crate::interp::isa::{self, Enc, tail_bytes};
use crate::interp::{exec::VaList, unwind};
use crate::memory::func::{self, FuncRef};
use crate::memory::thread::ThreadState;
use crate::support::error::TrapKind;
use std::sync::atomic::Ordering;

/// Slot 0 of a frame that starts at the thread's stack pointer.
///
/// # Safety
/// `cx` is this thread's state.
#[inline(always)]
unsafe fn fresh(cx: *mut ThreadState) -> *mut u64 {
    // SAFETY: cx is the current thread's.
    unsafe { (*cx).sp.cast::<u64>().wrapping_add(HEADER) }
}

/// Copies four argument words at most: what is copied too much is never read.
///
/// # Safety
/// Four slot numbers are readable, and `to` has room for four words.
#[inline(always)]
unsafe fn pass4(slots: *const u16, r: Regs, to: *mut u64) {
    // SAFETY: the slot list is padded to a word; the words above the stack pointer are free.
    unsafe {
        let four = slots.cast::<u64>().read();
        to.write(*r.at(four as u16));
        to.add(1).write(*r.at((four >> 16) as u16));
        to.add(2).write(*r.at((four >> 32) as u16));
        to.add(3).write(*r.at((four >> 48) as u16));
    }
}

/// Copies `n` argument words, four at a time.
///
/// # Safety
/// `n` slot numbers, padded to four, are readable, and `to` has room for as many words.
#[inline(always)]
unsafe fn pass(n: u16, slots: *const u16, r: Regs, to: *mut u64) {
    let mut i = 0;
    // SAFETY: as for `pass4`.
    unsafe {
        while i < n as usize {
            pass4(slots.add(i), r, to.add(i));
            i += 4;
        }
    }
}

#[inline(always)]
fn code_of(func: &FuncRef) -> *const Lowered {
    func.code.load(Ordering::Acquire).cast_const().cast()
}

/// Lowers a function and forgets the result: the caller looks again.
///
/// # Safety
/// `func` is the address of a live function reference.
#[cold]
#[inline(never)]
unsafe extern "sysv64-unwind" fn lower_first(func: usize) {
    // SAFETY: the lowering put a FuncRef there.
    crate::interp::lower_function(unsafe { &*(func as *const FuncRef) });
}

/// Lowers the function that the call at `ip` names, then performs the call. It returns as a
/// handler does, so that a handler can end in it without a frame of its own.
///
/// # Safety
/// As for the handler of the call at `ip`.
#[cold]
#[inline(never)]
unsafe extern "sysv64-unwind" fn first_call(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> Done {
    // SAFETY: every form of call has the function at the same place.
    unsafe {
        lower_first((*ip.cast::<Enc<isa::Call>>()).ops.func);
        next(ip, regs, cx)
    }
}
const _: () =
    assert!(std::mem::offset_of!(isa::Call, func) == std::mem::offset_of!(isa::Call1, func));

/// Begins a guest function's code in the frame at `new`.
///
/// # Safety
/// The function's code is there, and its arguments are in the frame.
#[inline(always)]
unsafe fn begin(
    code: *const Lowered,
    new: *mut u64,
    r: Regs,
    after: *const u64,
    (dst, words): (u16, u16),
    cx: *mut ThreadState,
) -> Done {
    // SAFETY: the words around `new` are free; the code is alive.
    unsafe {
        frame::write_header(
            new,
            Header {
                return_ip: after,
                caller: r.0,
                code,
                dst: u32::from(dst) | (u32::from(words) << 16),
                va: std::ptr::null(),
                sp: new.sub(HEADER).cast(),
            },
        );
        next((*code).entry, new, cx)
    }
}

/// Slot 0 of a frame after one of `up * 16` bytes.
#[inline(always)]
fn above(r: Regs, up: u16) -> *mut u64 {
    r.0.wrapping_byte_add(up as usize * 16 + HEADER * 8)
}

hc!(call(o: Call, r, ip, cx) {
    let code = code_of(&*(o.func as *const FuncRef));
    if code.is_null() {
        return first_call(ip, r.0, cx);
    }
    let new = fresh(cx);
    let slots = ip.byte_add(size_of::<Enc<isa::Call>>());
    pass(o.n, slots.cast(), r, new);
    begin(code, new, r, slots.byte_add(tail_bytes(o.n as usize)), (o.dst, o.words), cx)
});
hc!(call0(o: Call, r, ip, cx) {
    let code = code_of(&*(o.func as *const FuncRef));
    if code.is_null() {
        return first_call(ip, r.0, cx);
    }
    begin(code, above(r, o.up), r, ip.byte_add(size_of::<Enc<isa::Call>>()), (o.dst, o.words), cx)
});
hc!(call1(o: Call1, r, ip, cx) {
    let code = code_of(&*(o.func as *const FuncRef));
    if code.is_null() {
        return first_call(ip, r.0, cx);
    }
    let new = above(r, o.up);
    new.write(r.get::<u64>(o.a).wrapping_add(o.imm as u64));
    begin(code, new, r, ip.byte_add(size_of::<Enc<isa::Call1>>()), (o.dst, o.words), cx)
});
hc!(call1_far(o: Call1, r, ip, cx) {
    let code = code_of(&*(o.func as *const FuncRef));
    if code.is_null() {
        return first_call(ip, r.0, cx);
    }
    let new = fresh(cx);
    new.write(r.get::<u64>(o.a).wrapping_add(o.imm as u64));
    begin(code, new, r, ip.byte_add(size_of::<Enc<isa::Call1>>()), (o.dst, o.words), cx)
});
hc!(call4(o: Call, r, ip, cx) {
    let code = code_of(&*(o.func as *const FuncRef));
    if code.is_null() {
        return first_call(ip, r.0, cx);
    }
    let new = above(r, o.up);
    let slots = ip.byte_add(size_of::<Enc<isa::Call>>());
    pass4(slots.cast(), r, new);
    begin(code, new, r, slots.byte_add(tail_bytes(1)), (o.dst, o.words), cx)
});

/// Moves `n` words from a scratch area over the current frame's parameters.
///
/// # Safety
/// The current frame has `n` words of parameters, and `n` slot numbers are readable.
#[inline(always)]
unsafe fn replace_args(n: u16, slots: *const u64, r: Regs, cx: *mut ThreadState) {
    // SAFETY: the area above the stack pointer is free.
    unsafe {
        let scratch = fresh(cx);
        pass(n, slots.cast(), r, scratch);
        std::ptr::copy(scratch, r.0, n as usize);
    }
}
hc!(tail_call(o: Call, r, ip, cx) {
    let code = code_of(&*(o.func as *const FuncRef));
    if code.is_null() {
        return first_call(ip, r.0, cx);
    }
    replace_args(o.n, ip.byte_add(size_of::<Enc<isa::Call>>()), r, cx);
    r.0.sub(3).write(code as u64);
    next((*code).entry, r.0, cx)
});

hc!(call_ptr(o: CallPtr, r, ip, cx) {
    let target = r.get::<u64>(o.target) as usize;
    let slots = ip.byte_add(size_of::<Enc<isa::CallPtr>>());
    let after = slots.byte_add(tail_bytes(o.n as usize));
    let site = &*(o.site as *const CallSite);
    let Some(func) = func::from_address(target) else {
        if target < 4096 {
            fault(ip, r.0, cx, &TrapKind::BadCall(target))
        }
        save(ip, r.0, cx);
        by_plan(site, target, r.0, o.dst, cx);
        return next(after, r.0, cx);
    };
    let code = code_of(func);
    if code.is_null() {
        lower_first(std::ptr::from_ref(func) as usize);
        return next(ip, r.0, cx);
    }
    let sp = (*cx).sp;
    let va = if site.is_variadic { variadic(site, r, cx) } else { std::ptr::null() };
    let new = fresh(cx);
    pass(o.n, slots.cast(), r, new);
    frame::write_header(new, Header {
        return_ip: after,
        caller: r.0,
        code,
        dst: u32::from(o.dst) | (u32::from(o.words) << 16),
        va,
        sp,
    });
    next((*code).entry, new, cx)
});
hc!(tail_call_ptr(o: CallPtr, r, ip, cx) {
    let target = r.get::<u64>(o.target) as usize;
    let slots = ip.byte_add(size_of::<Enc<isa::CallPtr>>());
    let after = slots.byte_add(tail_bytes(o.n as usize));
    let site = &*(o.site as *const CallSite);
    let Some(func) = func::from_address(target) else {
        if target < 4096 {
            fault(ip, r.0, cx, &TrapKind::BadCall(target))
        }
        save(ip, r.0, cx);
        by_plan(site, target, r.0, o.dst, cx);
        return next(after, r.0, cx);
    };
    let code = code_of(func);
    if code.is_null() {
        lower_first(std::ptr::from_ref(func) as usize);
        return next(ip, r.0, cx);
    }
    replace_args(o.n, slots, r, cx);
    r.0.sub(3).write(code as u64);
    next((*code).entry, r.0, cx)
});

/// Lays the variadic arguments out above the stack pointer, and the list that `va_start` copies.
///
/// # Safety
/// The site is that of the call being performed.
#[inline(never)]
unsafe fn variadic(site: &CallSite, r: Regs, cx: *mut ThreadState) -> *const VaList {
    // SAFETY: the area lies above the stack pointer; it is claimed before the callee's frame.
    unsafe {
        let start = (*cx).sp;
        let list = start.cast::<VaList>();
        let area = start.add(size_of::<VaList>().next_multiple_of(16));
        (*cx).sp = area.add((site.area as usize).next_multiple_of(16));
        for arg in &site.variadic {
            let from = if arg.byval {
                r.get::<u64>(arg.slot) as *const u8
            } else {
                r.at(arg.slot).cast_const().cast()
            };
            std::ptr::copy(from, area.add(arg.offset as usize), arg.bytes as usize);
        }
        list.write(VaList {
            gp_offset: 48,
            fp_offset: 176,
            overflow: area,
            save: std::ptr::null_mut(),
        });
        list
    }
}

hc!(ret0(_o: Nil, r, _ip, cx) {
    (*cx).sp = frame::saved_sp(r.0);
    next(frame::return_ip(r.0), frame::caller(r.0), cx)
});
hc!(ret1(o: A, r, _ip, cx) {
    let value = r.get::<u64>(o.a);
    let caller = frame::caller(r.0);
    (*cx).sp = frame::saved_sp(r.0);
    Regs(caller).put(frame::dst(r.0) as u16, value);
    next(frame::return_ip(r.0), caller, cx)
});
hc!(retn(o: Ret, r, _ip, cx) {
    let caller = frame::caller(r.0);
    let dst = frame::dst(r.0);
    let (ip, sp) = (frame::return_ip(r.0), frame::saved_sp(r.0));
    let n = o.n.min((dst >> 16) as u16);
    std::ptr::copy(r.at(o.a), Regs(caller).at(dst as u16), n as usize);
    (*cx).sp = sp;
    next(ip, caller, cx)
});
hc!(exit(_o: Nil, r, _ip, _cx) {
    #[allow(clippy::unit_arg, reason = "Done is a state without tail calls")]
    done()
});

/// Calls `target` as the site says.
///
/// # Safety
/// `target` is a function that can be called as the site's plan says.
#[inline(never)]
unsafe extern "sysv64-unwind" fn by_plan(
    site: &CallSite,
    target: usize,
    regs: *mut u64,
    dst: u16,
    cx: *mut ThreadState,
) {
    // SAFETY: the pointers are laid out above the stack pointer, within the red zone that
    // signal handlers on the guest stack leave; the plan was made for these arguments.
    unsafe {
        let args = (*cx).sp.cast::<*const u64>();
        for (i, &slot) in site.args.iter().enumerate() {
            args.add(i).write(regs.add(slot as usize));
        }
        let args = std::slice::from_raw_parts(args, site.args.len());
        let outer = std::mem::replace(&mut (*cx).away, regs);
        site.plan.call(target, args, regs.add(dst as usize));
        (*cx).away = outer;
    }
}
h!(native_plan(o: Site, r, ip, cx) {
    save(ip, r.0, cx);
    let site = &*(o.site as *const CallSite);
    by_plan(site, site.target, r.0, o.dst, cx)
});

type W = u64;
/// Calls `target` with integers in registers.
///
/// # Safety
/// `target` is a function of so many integers.
#[inline(never)]
unsafe extern "sysv64-unwind" fn integers(
    target: usize,
    n: u16,
    slots: *const u16,
    regs: *mut u64,
) -> u64 {
    // SAFETY: the target is a function of n integer arguments; further stack words are ignored.
    unsafe {
        let a = |i: usize| *regs.add(*slots.add(i) as usize);
        macro_rules! go {
            ($($t:ident $i:literal),*) => {{
                let f: unsafe extern "C-unwind" fn($($t),*) -> u64 = std::mem::transmute(target);
                f($(a($i)),*)
            }};
        }
        match n {
            0 => go!(),
            1 => go!(W 0),
            2 => go!(W 0, W 1),
            3 => go!(W 0, W 1, W 2),
            4 => go!(W 0, W 1, W 2, W 3),
            5 => go!(W 0, W 1, W 2, W 3, W 4),
            6 => go!(W 0, W 1, W 2, W 3, W 4, W 5),
            7 => go!(W 0, W 1, W 2, W 3, W 4, W 5, W 6),
            8 => go!(W 0, W 1, W 2, W 3, W 4, W 5, W 6, W 7),
            9 => go!(W 0, W 1, W 2, W 3, W 4, W 5, W 6, W 7, W 8),
            10 => go!(W 0, W 1, W 2, W 3, W 4, W 5, W 6, W 7, W 8, W 9),
            11 => go!(W 0, W 1, W 2, W 3, W 4, W 5, W 6, W 7, W 8, W 9, W 10),
            _ => go!(W 0, W 1, W 2, W 3, W 4, W 5, W 6, W 7, W 8, W 9, W 10, W 11),
        }
    }
}
/// Integer arguments that the direct shim takes.
pub const MAX_DIRECT: usize = 12;

hc!(native(o: Native, r, ip, cx) {
    save(ip, r.0, cx);
    let slots = ip.byte_add(size_of::<Enc<isa::Native>>());
    let outer = std::mem::replace(&mut (*cx).away, r.0);
    let value = integers(o.target, o.n, slots.cast(), r.0);
    (*cx).away = outer;
    r.put(o.dst, value & o.mask);
    next(slots.byte_add(tail_bytes(o.n as usize)), r.0, cx)
});
macro_rules! float_calls {
    ($($one:ident $two:ident $t:ty;)*) => { $(
        h!($one(o: NativeF, r, ip, cx) {
            save(ip, r.0, cx);
            let f: unsafe extern "C-unwind" fn($t) -> $t = std::mem::transmute(o.target);
            r.put(o.dst, f(r.get(o.a)))
        });
        h!($two(o: NativeF, r, ip, cx) {
            save(ip, r.0, cx);
            let f: unsafe extern "C-unwind" fn($t, $t) -> $t = std::mem::transmute(o.target);
            r.put(o.dst, f(r.get(o.a), r.get(o.b)))
        });
    )* };
}
float_calls! { native_d native_dd f64; native_f native_ff f32; }

/// Runs a thunk over the frame's slots.
///
/// # Safety
/// The site is that of the instruction being executed.
#[inline(never)]
unsafe extern "sysv64-unwind" fn run_thunk(
    site: &ThunkSite,
    regs: *mut u64,
    dst: u16,
    cx: *mut ThreadState,
) {
    // SAFETY: as for `by_plan`; the thunk was compiled for these operands.
    unsafe {
        let args = (*cx).sp.cast::<*const u64>();
        for (i, &slot) in site.args.iter().enumerate() {
            args.add(i).write(regs.add(slot as usize));
        }
        (site.code)(regs.add(dst as usize), args);
    }
}
h!(thunk(o: Site, r, ip, cx) {
    save(ip, r.0, cx);
    run_thunk(&*(o.site as *const ThunkSite), r.0, o.dst, cx)
});

hc!(setjmp(o: Dabn, r, ip, cx) {
    let after = ip.byte_add(size_of::<Enc<isa::Dabn>>());
    let mask = o.n != 0 && r.get::<u32>(o.b) != 0;
    unwind::set_jump(r.get::<u64>(o.a) as *mut unwind::JumpBuffer, mask, after, r.0, o.dst, cx);
    r.put(o.dst, 0u64);
    next(after, r.0, cx)
});
hc!(longjmp(o: Ab, r, ip, cx) {
    save(ip, r.0, cx);
    let value = r.get::<u32>(o.b).max(u32::from(r.get::<u32>(o.b) == 0));
    let buffer = &*(r.get::<u64>(o.a) as *const unwind::JumpBuffer);
    unwind::long_jump(buffer, value, cx);
    next(buffer.ip, buffer.regs, cx)
});
hc!(resume(o: A, r, ip, cx) {
    save(ip, r.0, cx);
    let exception = r.get::<u64>(o.a) as usize;
    match unwind::land(r.0, exception, cx) {
        Some((ip, regs)) => next(ip, regs, cx),
        None => unwind::leave(exception, cx),
    }
});
