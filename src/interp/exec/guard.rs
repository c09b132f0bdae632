//! Guards above a frame's arrays: a function that overran one ends the program before it returns.
//!
//! A frame's guard is two words above its arrays: the thread's value (from the place where glibc
//! keeps it, as in native code), and the address of the guard of the newest block that the function
//! allocated dynamically. Such a block has two words above it as well: the value, and the guard of
//! the block before it. Each value is thus checked before the word behind it is used.
//!
//! `lower::stack_protector` decides which functions have guards and orders their arrays.

use super::{control_handler, dispatch, extend_stack, fault, handler, save_position};
use crate::isa::{AllocaGuarded, Enc};
use ompvm_memory::thread::ALLOCATED;
use ompvm_support::error::TrapKind;

/// The two words of a guard.
type Words = [u64; 2];

/// Returns the thread's guard value (`stack_guard` in glibc's `tcbhead_t`).
#[inline(always)]
fn value() -> u64 {
    let value: u64;
    // SAFETY: the thread control block has the word on x86-64 Linux.
    unsafe {
        std::arch::asm!(
            "mov {}, fs:[0x28]",
            out(reg) value,
            options(nostack, readonly, preserves_flags),
        );
    }
    value
}

/// Checks a frame's guard and the guards of the blocks below `sp`, which it drops; ends the program
/// if one was overwritten.
///
/// # Safety
/// `guard` is the guard of a live frame, `fail` a function without arguments that does not return.
#[inline(never)]
pub unsafe extern "sysv64-unwind" fn check_guards(guard: *mut u64, sp: usize, fail: usize) {
    // SAFETY: `guard` is live (the caller's contract); a guard whose value is intact links to one
    // that is live.
    unsafe {
        let frame = guard.cast::<Words>();
        let mut good = (*frame)[0] == value();
        while good && (*frame)[1] != 0 && ((*frame)[1] as usize) < sp {
            let block = (*frame)[1] as *const Words;
            good = (*block)[0] == value();
            (*frame)[1] = (*block)[1];
        }
        if !good {
            std::mem::transmute::<usize, unsafe extern "C-unwind" fn()>(fail)();
            // `fail` was the program's own function, and it returned.
            libc::abort();
        }
    }
}

handler!(guard_value(o: D, r) r.put(o.dst, value()));
handler!(guard_set(o: Guard, r) {
    r.0.byte_add(o.off as usize).cast::<Words>().write([value(), 0])
});
handler!(guard_check(o: Guard, r, ip, cx) {
    save_position(ip, r.0, cx);
    check_guards(r.0.byte_add(o.off as usize), usize::MAX, o.fail)
});
handler!(stack_restore_guarded(o: Guard, r, ip, cx) {
    save_position(ip, r.0, cx);
    let sp = r.get::<u64>(o.a) as usize;
    check_guards(r.0.byte_add(o.off as usize), sp, o.fail);
    (*cx).sp = sp as *mut u8;
});
control_handler!(alloca_guarded(o: AllocaGuarded, r, ip, cx) {
    let count: u64 = r.get(o.count);
    let bytes = u128::from(count) * u128::from(o.size);
    if bytes > super::ADDRESS_SPACE_BYTES {
        fault(ip, r.0, cx, &TrapKind::StackOverflow)
    }
    let room = ((bytes as i64 + 7) & -8) + size_of::<Words>() as i64;
    let start = ((*cx).sp as i64 - room) & -i64::from(o.align);
    let sp = start - 16;
    if sp < (*cx).limit as i64 {
        return extend_stack(ip, r.0, cx);
    }
    (*cx).sp = sp as *mut u8;
    (sp as *mut usize).write(r.0 as usize | ALLOCATED);
    let frame = r.0.byte_add(o.off as usize).cast::<Words>();
    // Directly above the block, padded to a word.
    let guard = (start + room - size_of::<Words>() as i64) as *mut Words;
    guard.write([value(), (*frame)[1]]);
    (*frame)[1] = guard as u64;
    r.put(o.dst, start);
    dispatch(ip.byte_add(size_of::<Enc<AllocaGuarded>>()), r.0, cx)
});
