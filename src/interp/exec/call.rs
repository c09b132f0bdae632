//! Calls and returns: guest to guest, guest to native, thunks, setjmp and longjmp.
//!
//! A guest call writes the arguments into the callee's first slots, in a frame directly below the
//! caller's, and jumps to the callee's code. If the activation has too little space for that frame,
//! the space is extended and the call is made again. Native calls save the position first, since
//! they can call back, throw, or never return, and restore it afterwards
//! ([`SuspendedActivation`](super::SuspendedActivation)).

use super::{
    HandlerResult, Regs, control_handler, dispatch, end_run, extend_stack, fault, handler,
    save_position, suspend,
};
use crate::entry;
use crate::frame::{self, CallSite, HEADER_BYTES, Header, LoweredFunction, ThunkSite};
use crate::isa::{self, Enc, tail_bytes};
use crate::{exec::VaList, unwind};
use ompvm_memory::abi::{ResultRegisters, SAVE_AREA, VariadicArgs};
use ompvm_memory::activation::MARGIN;
use ompvm_memory::func::{self, FuncRef};
use ompvm_memory::thread::{self, ThreadState};
use ompvm_support::error::TrapKind;
use std::sync::atomic::Ordering;

/// Returns slot 0 of a frame for `code` below `sp`; `None` if the activation has no space for it.
///
/// # Safety
/// `cx` is this thread's state, `code` is alive.
#[inline(always)]
unsafe fn frame_below(
    sp: *mut u8,
    code: *const LoweredFunction,
    cx: *mut ThreadState,
) -> Option<*mut u64> {
    // SAFETY: `code` is alive and `cx` is this thread's state (the caller's contract).
    unsafe {
        let new = sp.wrapping_sub((*code).frame as usize);
        (new >= (*cx).limit).then_some(new.cast())
    }
}

/// Returns the lowest byte of a frame that allocates nothing.
#[inline(always)]
fn lowest(r: Regs) -> *mut u8 {
    r.0.cast::<u8>().wrapping_sub(HEADER_BYTES)
}

/// Copies up to four argument words; surplus words are never read.
///
/// # Safety
/// Four slot numbers are readable, and `to` has space for four words.
#[inline(always)]
unsafe fn copy_four_words(slots: *const u16, r: Regs, to: *mut u64) {
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
/// `n` slot numbers, padded to four, are readable, and `to` has space for as many words.
#[inline(always)]
unsafe fn copy_words(n: u16, slots: *const u16, r: Regs, to: *mut u64) {
    let mut i = 0;
    // SAFETY: each step reads four slot numbers and writes four words, which `slots` and `to` have
    // (the caller's contract).
    unsafe {
        while i < n as usize {
            copy_four_words(slots.add(i), r, to.add(i));
            i += 4;
        }
    }
}

#[inline(always)]
fn code_of(func: &FuncRef) -> *const LoweredFunction {
    func.code.load(Ordering::Acquire).cast_const().cast()
}

/// Lowers a function; the caller loads its code again.
///
/// # Safety
/// `func` is the address of a live function reference.
#[cold]
#[inline(never)]
unsafe extern "sysv64-unwind" fn lower_first(func: usize) {
    // SAFETY: `func` is the address of a live function reference (the caller's contract).
    crate::lower_function(unsafe { &*(func as *const FuncRef) });
}

/// Lowers the function that the call at `ip` names, then performs the call. It returns like a
/// handler, so that a handler can end in it without a frame of its own.
///
/// # Safety
/// As for the handler of the call at `ip`.
#[cold]
#[inline(never)]
unsafe extern "sysv64-unwind" fn first_call(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> HandlerResult {
    // SAFETY: the callee is at the same offset in every form of call, as asserted below.
    unsafe {
        lower_first((*ip.cast::<Enc<isa::Call>>()).ops.func);
        dispatch(ip, regs, cx)
    }
}
const _: () =
    assert!(std::mem::offset_of!(isa::Call, func) == std::mem::offset_of!(isa::Call1, func));

/// Enters a guest function's code in the frame at `new`; `sp` is the start of the caller's frame.
///
/// # Safety
/// `code` is alive, and the arguments are in the frame at `new`.
#[inline(always)]
unsafe fn enter_callee(
    code: *const LoweredFunction,
    new: *mut u64,
    (r, sp): (Regs, *mut u8),
    after: *const u64,
    (dst, words): (u16, u16),
    cx: *mut ThreadState,
) -> HandlerResult {
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
                sp,
            },
        );
        dispatch((*code).entry, new, cx)
    }
}

/// Returns the number of argument words to copy, at most as many as the frame has space for.
///
/// # Safety
/// `code` is alive.
#[inline(always)]
unsafe fn fitting(n: u16, code: *const LoweredFunction) -> u16 {
    // SAFETY: `code` is alive (the caller's contract).
    u32::from(n).min(unsafe { (*code).frame } / 8) as u16
}

/// Yields the code and the frame of a call, or ends the handler in another way.
macro_rules! callee_frame {
    ($o:ident, $sp:expr, $r:ident, $ip:ident, $cx:ident) => {{
        let code = code_of(&*($o.func as *const FuncRef));
        if code.is_null() {
            return first_call($ip, $r.0, $cx);
        }
        let Some(new) = frame_below($sp, code, $cx) else {
            return extend_stack($ip, $r.0, $cx);
        };
        (code, new)
    }};
}

control_handler!(call(o: Call, r, ip, cx) {
    let sp = (*cx).sp;
    let (code, new) = callee_frame!(o, sp, r, ip, cx);
    let slots = ip.byte_add(size_of::<Enc<isa::Call>>());
    copy_words(o.n, slots.cast(), r, new);
    let after = slots.byte_add(tail_bytes(o.n as usize));
    enter_callee(code, new, (r, sp), after, (o.dst, o.words), cx)
});
control_handler!(call0(o: Call, r, ip, cx) {
    let (code, new) = callee_frame!(o, lowest(r), r, ip, cx);
    let after = ip.byte_add(size_of::<Enc<isa::Call>>());
    enter_callee(code, new, (r, lowest(r)), after, (o.dst, o.words), cx)
});
control_handler!(call1(o: Call1, r, ip, cx) {
    let (code, new) = callee_frame!(o, lowest(r), r, ip, cx);
    new.write(r.get::<u64>(o.a).wrapping_add(o.imm as u64));
    let after = ip.byte_add(size_of::<Enc<isa::Call1>>());
    enter_callee(code, new, (r, lowest(r)), after, (o.dst, o.words), cx)
});
control_handler!(call1_far(o: Call1, r, ip, cx) {
    let sp = (*cx).sp;
    let (code, new) = callee_frame!(o, sp, r, ip, cx);
    new.write(r.get::<u64>(o.a).wrapping_add(o.imm as u64));
    let after = ip.byte_add(size_of::<Enc<isa::Call1>>());
    enter_callee(code, new, (r, sp), after, (o.dst, o.words), cx)
});
control_handler!(call4(o: Call, r, ip, cx) {
    let (code, new) = callee_frame!(o, lowest(r), r, ip, cx);
    let slots = ip.byte_add(size_of::<Enc<isa::Call>>());
    copy_four_words(slots.cast(), r, new);
    enter_callee(code, new, (r, lowest(r)), slots.byte_add(tail_bytes(1)), (o.dst, o.words), cx)
});

/// Puts a frame for `code` in the place of the current one, with the `n` words of the listed slots
/// as its arguments; `None` if the activation has no space for it.
///
/// # Safety
/// `n` slot numbers are readable, and the current frame is no longer needed.
#[inline(always)]
unsafe fn replace_frame(
    code: *const LoweredFunction,
    n: u16,
    slots: *const u64,
    r: Regs,
    cx: *mut ThreadState,
) -> Option<*mut u64> {
    // SAFETY: a frame ends where its code's size says; memory between the limit and the stack
    // pointer is free.
    unsafe {
        let end = r.0.cast::<u8>().add((*frame::code(r.0)).frame as usize);
        let new = end.wrapping_sub((*code).frame as usize);
        let words = usize::from(n).next_multiple_of(4);
        let scratch = new
            .wrapping_sub(HEADER_BYTES)
            .min((*cx).sp)
            .wrapping_sub(words * 8);
        if scratch < (*cx).limit {
            return None;
        }
        let (scratch, new) = (scratch.cast::<u64>(), new.cast::<u64>());
        copy_words(n, slots.cast(), r, scratch);
        let header = Header {
            return_ip: frame::return_ip(r.0),
            caller: frame::caller(r.0),
            code,
            dst: frame::dst(r.0),
            va: frame::va_info(r.0),
            sp: frame::saved_sp(r.0),
        };
        frame::write_header(new, header);
        std::ptr::copy_nonoverlapping(scratch, new, n as usize);
        Some(new)
    }
}
control_handler!(tail_call(o: Call, r, ip, cx) {
    let code = code_of(&*(o.func as *const FuncRef));
    if code.is_null() {
        return first_call(ip, r.0, cx);
    }
    match replace_frame(code, o.n, ip.byte_add(size_of::<Enc<isa::Call>>()), r, cx) {
        Some(new) => dispatch((*code).entry, new, cx),
        None => extend_stack(ip, r.0, cx),
    }
});

control_handler!(call_ptr(o: CallPtr, r, ip, cx) {
    let target = r.get::<u64>(o.target) as usize;
    let slots = ip.byte_add(size_of::<Enc<isa::CallPtr>>());
    let after = slots.byte_add(tail_bytes(o.n as usize));
    let site = &*(o.site as *const CallSite);
    let callee = func::from_address(target);
    // Sides that declare arguments differently meet as machine code does.
    let Some(func) = callee.filter(|func| func.fingerprint == site.fingerprint) else {
        if target < 4096 {
            fault(ip, r.0, cx, &TrapKind::BadCall(target))
        }
        let held = suspend(ip, r.0, cx);
        call_by_plan(site, target, r.0, o.dst, cx);
        return dispatch(after, r.0, held.resume());
    };
    let code = code_of(func);
    if code.is_null() {
        lower_first(std::ptr::from_ref(func) as usize);
        return dispatch(ip, r.0, cx);
    }
    let sp = (*cx).sp;
    let Some(new) = frame_below(sp.wrapping_sub(site.list_bytes()), code, cx) else {
        return extend_stack(ip, r.0, cx);
    };
    let va = match &site.variadic {
        Some(args) => write_variadic(site, args, r, sp),
        None => std::ptr::null(),
    };
    // A call through a pointer of another type may pass more than the callee takes.
    let n = fitting(o.n, code);
    copy_words(n, slots.cast(), r, new);
    frame::write_header(new, Header {
        return_ip: after,
        caller: r.0,
        code,
        dst: u32::from(o.dst) | (u32::from(o.words) << 16),
        va,
        sp,
    });
    dispatch((*code).entry, new, cx)
});
control_handler!(tail_call_ptr(o: CallPtr, r, ip, cx) {
    let target = r.get::<u64>(o.target) as usize;
    let slots = ip.byte_add(size_of::<Enc<isa::CallPtr>>());
    let after = slots.byte_add(tail_bytes(o.n as usize));
    let site = &*(o.site as *const CallSite);
    let callee = func::from_address(target);
    // Sides that declare arguments differently meet as machine code does.
    let Some(func) = callee.filter(|func| func.fingerprint == site.fingerprint) else {
        if target < 4096 {
            fault(ip, r.0, cx, &TrapKind::BadCall(target))
        }
        let held = suspend(ip, r.0, cx);
        call_by_plan(site, target, r.0, o.dst, cx);
        return dispatch(after, r.0, held.resume());
    };
    let code = code_of(func);
    if code.is_null() {
        lower_first(std::ptr::from_ref(func) as usize);
        return dispatch(ip, r.0, cx);
    }
    match replace_frame(code, fitting(o.n, code), slots, r, cx) {
        Some(new) => dispatch((*code).entry, new, cx),
        None => extend_stack(ip, r.0, cx),
    }
});

impl CallSite {
    /// Returns the bytes below the caller's stack pointer for variadic arguments and their list.
    #[inline(always)]
    fn list_bytes(&self) -> usize {
        match &self.variadic {
            // The stack pointer is a multiple of 16 only.
            Some(args) => {
                let stack = args.stack_bytes + args.stack_align - 16;
                LIST + SAVE_AREA + stack.next_multiple_of(16) as usize
            }
            None => 0,
        }
    }
}

/// Bytes of the list, rounded up to align what follows it.
const LIST: usize = size_of::<VaList>().next_multiple_of(16);

/// Writes the variadic arguments, and the list that `va_start` copies, below the stack pointer.
///
/// # Safety
/// `site`, whose variadic arguments are `args`, belongs to the call being performed, which has
/// reserved their space.
#[inline(never)]
unsafe fn write_variadic(
    site: &CallSite,
    args: &VariadicArgs,
    r: Regs,
    sp: *mut u8,
) -> *const VaList {
    // SAFETY: list and areas lie in the space that the call reserved above the callee's frame.
    unsafe {
        let list = sp.sub(site.list_bytes()).cast::<VaList>();
        let save = list.byte_add(LIST).cast::<u8>();
        let behind = save.add(SAVE_AREA);
        let stack = behind.add(behind.align_offset(args.stack_align as usize));
        args.write(|i| r.at(site.args[i as usize]), save, stack);
        list.write(VaList {
            gp_offset: args.start.gp_offset,
            fp_offset: args.start.fp_offset,
            overflow: stack.add(args.start.overflow as usize),
            save,
        });
        list
    }
}

control_handler!(ret0(_o: Nil, r, _ip, cx) {
    (*cx).sp = frame::saved_sp(r.0);
    dispatch(frame::return_ip(r.0), frame::caller(r.0), cx)
});
control_handler!(ret1(o: A, r, _ip, cx) {
    let value = r.get::<u64>(o.a);
    let caller = frame::caller(r.0);
    (*cx).sp = frame::saved_sp(r.0);
    Regs(caller).put(frame::dst(r.0) as u16, value);
    dispatch(frame::return_ip(r.0), caller, cx)
});
control_handler!(retn(o: Ret, r, _ip, cx) {
    let caller = frame::caller(r.0);
    let dst = frame::dst(r.0);
    let (ip, sp) = (frame::return_ip(r.0), frame::saved_sp(r.0));
    let n = o.n.min((dst >> 16) as u16);
    std::ptr::copy(r.at(o.a), Regs(caller).at(dst as u16), n as usize);
    (*cx).sp = sp;
    dispatch(ip, caller, cx)
});
control_handler!(exit(_o: Nil, r, _ip, cx) {
    entry::read_result(r.0, (*cx).activation);
    #[allow(clippy::unit_arg, reason = "`HandlerResult` is a state without tail calls")]
    end_run()
});

/// The longest list of addresses that lies on the native stack: a signal handler's call must not
/// allocate.
const MANY: usize = 256;

/// Calls `take` with the addresses of at most [`MANY`] listed slots.
#[cold]
#[inline(never)]
fn with_many_addresses(slots: &[u16], regs: *mut u64, take: impl FnOnce(&[*const u64])) {
    let mut args = [std::ptr::null(); MANY];
    for (arg, &slot) in args.iter_mut().zip(slots) {
        *arg = slot_address(regs, slot);
    }
    take(&args[..slots.len()]);
}

/// Calls `take` with the addresses of the listed slots. The array lies below the stack pointer if
/// it fits.
///
/// # Safety
/// `cx` is this thread's state, in an activation.
#[inline(always)]
unsafe fn with_addresses(
    slots: &[u16],
    regs: *mut u64,
    cx: *mut ThreadState,
    take: impl FnOnce(&[*const u64]),
) {
    let n = slots.len();
    // SAFETY: the margin below the stack pointer is used by nobody else. A list on the heap is
    // leaked if the call does not return, as with a longjmp.
    unsafe {
        if n * 8 > MARGIN && n <= MANY {
            return with_many_addresses(slots, regs, take);
        }
        if n * 8 > MARGIN {
            let list: Vec<*const u64> = slots.iter().map(|&s| slot_address(regs, s)).collect();
            let list = std::mem::ManuallyDrop::new(list);
            take(&list);
            drop(std::mem::ManuallyDrop::into_inner(list));
            return;
        }
        let args = (*cx).sp.sub(n * 8).cast::<*const u64>();
        for (i, &slot) in slots.iter().enumerate() {
            args.add(i).write(slot_address(regs, slot));
        }
        take(std::slice::from_raw_parts(args, n));
    }
}

/// Returns the address of a slot.
fn slot_address(regs: *mut u64, slot: u16) -> *const u64 {
    regs.wrapping_add(usize::from(slot)).cast_const()
}

/// Calls `target` by the site's plan.
///
/// # Safety
/// `target` is a function of the signature that the site's plan was made for.
#[inline(never)]
unsafe extern "sysv64-unwind" fn call_by_plan(
    site: &CallSite,
    target: usize,
    regs: *mut u64,
    dst: u16,
    cx: *mut ThreadState,
) {
    // SAFETY: `target` has the plan's signature, and the site lists the slots of its arguments.
    unsafe {
        let outer = std::mem::replace(&mut (*cx).native_call_frame, regs);
        with_addresses(&site.args, regs, cx, |args| {
            site.plan.call(target, args, regs.add(dst as usize));
        });
        (*thread::current_or_null()).native_call_frame = outer;
    }
}
handler!(native_plan(o: Site, r, ip, cx) {
    let held = suspend(ip, r.0, cx);
    let site = &*(o.site as *const CallSite);
    call_by_plan(site, site.target, r.0, o.dst, cx);
    cx = held.resume();
});

type W = u64;
/// Calls `target` with integers in registers.
///
/// # Safety
/// `target` is a function of `n` integers.
#[inline(never)]
unsafe extern "sysv64-unwind" fn call_with_integers(
    target: usize,
    n: u16,
    slots: *const u16,
    regs: *mut u64,
) -> u64 {
    // SAFETY: `target` is a function of `n` integer arguments (the caller's contract); it ignores
    // the words beyond them.
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
/// The most integer arguments that the direct shim takes.
pub const MAX_DIRECT_ARGS: usize = 12;

control_handler!(native(o: Native, r, ip, cx) {
    let held = suspend(ip, r.0, cx);
    let slots = ip.byte_add(size_of::<Enc<isa::Native>>());
    let outer = std::mem::replace(&mut (*cx).native_call_frame, r.0);
    let value = call_with_integers(o.target, o.n, slots.cast(), r.0);
    let cx = held.resume();
    (*cx).native_call_frame = outer;
    r.put(o.dst, value & o.mask);
    dispatch(slots.byte_add(tail_bytes(o.n as usize)), r.0, cx)
});

/// Slots that follow an [`isa::InRegisters`]: for six general and eight vector registers.
pub const REGISTER_SLOTS: usize = 14;

/// The words of a result in rax and rdx, or in another pair of registers of the psABI.
#[repr(C)]
struct Pair<A, B>(A, B);

/// Calls the function of `o` with the listed slots in registers. Returns two words, of which those
/// beyond the result are undefined.
///
/// # Safety
/// The function takes its arguments and returns its result as `o` says, in the order of the slots
/// at `slots`, which belong to the frame at `regs`.
#[inline(always)]
unsafe fn call_in_registers(o: &isa::InRegisters, slots: *const u16, regs: *mut u64) -> (u64, u64) {
    // SAFETY: the function has this form (the caller's contract); it ignores the registers that it
    // has no arguments in.
    unsafe {
        let a = |i: usize| *regs.add(*slots.add(i) as usize);
        let x = |i: usize| f64::from_bits(a(i + 6));
        macro_rules! call {
            ($result:ty: $($t:ident $get:ident $i:literal),*) => {{
                let f: unsafe extern "C-unwind" fn($($t),*) -> $result =
                    std::mem::transmute(o.target);
                f($($get($i)),*)
            }};
            (integers) => { call!(Pair<W, W>: W a 0, W a 1, W a 2, W a 3, W a 4, W a 5) };
            ($first:ident, $second:ident) => {
                call!(Pair<$first, $second>: W a 0, W a 1, W a 2, W a 3, W a 4, W a 5,
                    f64 x 0, f64 x 1, f64 x 2, f64 x 3, f64 x 4, f64 x 5, f64 x 6, f64 x 7)
            };
        }
        if o.result == ResultRegisters::Integers as u16 {
            let Pair(first, second) = match o.floats {
                0 => call!(integers),
                _ => call!(W, W),
            };
            (first, second)
        } else if o.result == ResultRegisters::Floats as u16 {
            let Pair(first, second) = call!(f64, f64);
            (first.to_bits(), second.to_bits())
        } else {
            let Pair(integer, float) = call!(W, f64);
            match o.result == ResultRegisters::IntegerFloat as u16 {
                true => (integer, float.to_bits()),
                false => (float.to_bits(), integer),
            }
        }
    }
}

/// Writes the first `words` words of a result.
///
/// # Safety
/// The slots from `dst` on belong to the frame.
#[inline(always)]
unsafe fn put_result(r: Regs, dst: u16, words: u16, (first, second): (u64, u64), mask: u64) {
    // SAFETY: the slots belong to the frame (the caller's contract).
    unsafe {
        if words > 0 {
            r.put(dst, first & mask);
        }
        if words > 1 {
            r.put(dst + 1, second);
        }
    }
}

/// Calls the function of the instruction at `ip`. Returns two words, as [`call_in_registers`], and the
/// state of the thread that runs now.
///
/// # Safety
/// As for the handlers of [`isa::InRegisters`] at `ip`.
#[inline(always)]
unsafe fn suspended_call(
    o: &isa::InRegisters,
    (ip, r): (*const u64, Regs),
    cx: *mut ThreadState,
) -> ((u64, u64), *mut ThreadState) {
    // SAFETY: the slots follow the instruction, and belong to the frame (the caller's contract).
    unsafe {
        let held = suspend(ip, r.0, cx);
        let slots = ip.byte_add(size_of::<Enc<isa::InRegisters>>());
        let outer = std::mem::replace(&mut (*cx).native_call_frame, r.0);
        let result = call_in_registers(o, slots.cast(), r.0);
        let cx = held.resume();
        (*cx).native_call_frame = outer;
        (result, cx)
    }
}

control_handler!(native_registers(o: InRegisters, r, ip, cx) {
    let (result, cx) = suspended_call(o, (ip, r), cx);
    put_result(r, o.dst, o.words, result, o.mask);
    let after = ip.byte_add(size_of::<Enc<isa::InRegisters>>());
    dispatch(after.byte_add(tail_bytes(REGISTER_SLOTS)), r.0, cx)
});
control_handler!(compiled_registers(o: InRegisters, r, ip, cx) {
    (*cx).sp = lowest(r);
    let (result, cx) = suspended_call(o, (ip, r), cx);
    let (caller, dst) = (frame::caller(r.0), frame::dst(r.0));
    let words = o.words.min((dst >> 16) as u16);
    put_result(Regs(caller), dst as u16, words, result, o.mask);
    (*cx).sp = frame::saved_sp(r.0);
    dispatch(frame::return_ip(r.0), caller, cx)
});
macro_rules! float_calls {
    ($($one:ident $two:ident $t:ty;)*) => { $(
        handler!($one(o: NativeF, r, ip, cx) {
            let held = suspend(ip, r.0, cx);
            let f: unsafe extern "C-unwind" fn($t) -> $t = std::mem::transmute(o.target);
            r.put(o.dst, f(r.get(o.a)));
            cx = held.resume();
        });
        handler!($two(o: NativeF, r, ip, cx) {
            let held = suspend(ip, r.0, cx);
            let f: unsafe extern "C-unwind" fn($t, $t) -> $t = std::mem::transmute(o.target);
            r.put(o.dst, f(r.get(o.a), r.get(o.b)));
            cx = held.resume();
        });
    )* };
}
float_calls! { native_d native_dd f64; native_f native_ff f32; }

/// Runs a thunk over the frame's slots.
///
/// # Safety
/// `site` belongs to the instruction being executed.
#[inline(never)]
unsafe extern "sysv64-unwind" fn run_thunk(
    site: &ThunkSite,
    regs: *mut u64,
    dst: u16,
    cx: *mut ThreadState,
) {
    // SAFETY: the thunk was compiled for these operands, whose slots the site lists.
    unsafe {
        with_addresses(&site.args, regs, cx, |args| {
            (site.code)(regs.add(dst as usize), args.as_ptr());
        });
    }
}
handler!(thunk(o: Site, r, ip, cx) {
    let held = suspend(ip, r.0, cx);
    run_thunk(&*(o.site as *const ThunkSite), r.0, o.dst, cx);
    cx = held.resume();
});

control_handler!(setjmp(o: Dabn, r, ip, cx) {
    let after = ip.byte_add(size_of::<Enc<isa::Dabn>>());
    let mask = o.n != 0 && r.get::<u32>(o.b) != 0;
    unwind::set_jump(r.get::<u64>(o.a) as *mut unwind::JumpBuffer, mask, after, r.0, o.dst, cx);
    r.put(o.dst, 0u64);
    dispatch(after, r.0, cx)
});
control_handler!(longjmp(o: Ab, r, ip, cx) {
    save_position(ip, r.0, cx);
    let value = r.get::<u32>(o.b).max(u32::from(r.get::<u32>(o.b) == 0));
    let buffer = &*(r.get::<u64>(o.a) as *const unwind::JumpBuffer);
    unwind::long_jump(buffer, value, ip, cx);
    dispatch(buffer.ip, buffer.regs, cx)
});
control_handler!(resume(o: A, r, ip, cx) {
    save_position(ip, r.0, cx);
    let exception = r.get::<u64>(o.a) as usize;
    match unwind::land(r.0, exception, cx) {
        Some((ip, regs)) => dispatch(ip, regs, cx),
        None => unwind::leave_activation(exception, cx),
    }
});
