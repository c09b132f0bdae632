//! Loads, stores, addresses, allocations and block copies.
//!
//! The signal handler attributes a fault of a load or store to the instruction that the processor's
//! registers name. Guest pointers are host pointers and need not be aligned.

use super::{Regs, control_handler, dispatch, extend_stack, fault, handler};
use crate::isa::{Alloca, Enc};
use ompvm_memory::image::Image;
use ompvm_memory::thread::{self, ALLOCATED, ThreadState};
use ompvm_support::error::TrapKind;

/// Reads the guest's memory at an address.
///
/// # Safety
/// The guest may read there, or faults as natively.
#[inline(always)]
pub(super) unsafe fn load<T: Copy>(address: usize) -> T {
    // SAFETY: the guest's own access: wrong addresses fault as they would natively.
    unsafe { (address as *const T).read_unaligned() }
}

/// Writes a value to the guest's memory.
///
/// # Safety
/// The guest may write there, or faults as natively.
#[inline(always)]
pub(super) unsafe fn store<T: Copy>(address: usize, value: T) {
    // SAFETY: the guest's own access: wrong addresses fault as they would natively.
    unsafe { (address as *mut T).write_unaligned(value) }
}

/// Returns the address in a slot plus a constant.
///
/// # Safety
/// The slot is one of the frame's.
#[inline(always)]
pub(super) unsafe fn base(r: Regs, slot: u16, off: i32) -> usize {
    // SAFETY: the slot belongs to the frame (the caller's contract).
    unsafe { r.get::<u64>(slot) }.wrapping_add(off as u64) as usize
}

/// Returns the address in a slot plus a scaled index and a constant.
///
/// # Safety
/// The slot is one of the frame's.
#[inline(always)]
pub(super) unsafe fn indexed(r: Regs, b: u16, index: u64, scale: i32, off: i32) -> usize {
    // SAFETY: the slot belongs to the frame (the caller's contract).
    unsafe { r.get::<u64>(b) }
        .wrapping_add(index.wrapping_mul(scale as u64))
        .wrapping_add(off as u64) as usize
}

macro_rules! accesses {
    ($($t:ty: $load:ident $loadx:ident $loads:ident $store:ident $storex:ident $stores:ident;)*) => { $(
        handler!($load(o: Mem, r) r.put(o.reg, load::<$t>(base(r, o.base, o.off))));
        handler!($loadx(o: Memx, r)
            r.put(o.reg, load::<$t>(indexed(r, o.base, r.get(o.index), o.scale, o.off))));
        handler!($loads(o: Memx, r) {
            let index = i64::from(r.get::<i32>(o.index)) as u64;
            r.put(o.reg, load::<$t>(indexed(r, o.base, index, o.scale, o.off)))
        });
        handler!($store(o: Mem, r) store::<$t>(base(r, o.base, o.off), r.get(o.reg)));
        handler!($storex(o: Memx, r)
            store::<$t>(indexed(r, o.base, r.get(o.index), o.scale, o.off), r.get(o.reg)));
        handler!($stores(o: Memx, r) {
            let index = i64::from(r.get::<i32>(o.index)) as u64;
            store::<$t>(indexed(r, o.base, index, o.scale, o.off), r.get(o.reg))
        });
    )* };
}
accesses! {
    u8: load8 load8x load8s store8 store8x store8s;
    u16: load16 load16x load16s store16 store16x store16s;
    u32: load32 load32x load32s store32 store32x store32s;
    u64: load64 load64x load64s store64 store64x store64s;
}
handler!(load128(o: Mem, r) r.put_wide(o.reg, load::<[u64; 2]>(base(r, o.base, o.off))));
handler!(load128x(o: Memx, r)
    r.put_wide(o.reg, load::<[u64; 2]>(indexed(r, o.base, r.get(o.index), o.scale, o.off))));
handler!(load128s(o: Memx, r) {
    let index = i64::from(r.get::<i32>(o.index)) as u64;
    r.put_wide(o.reg, load::<[u64; 2]>(indexed(r, o.base, index, o.scale, o.off)))
});
handler!(store128(o: Mem, r) store::<[u64; 2]>(base(r, o.base, o.off), r.get_wide(o.reg)));
handler!(store128x(o: Memx, r)
    store::<[u64; 2]>(indexed(r, o.base, r.get(o.index), o.scale, o.off), r.get_wide(o.reg)));
handler!(store128s(o: Memx, r) {
    let index = i64::from(r.get::<i32>(o.index)) as u64;
    store::<[u64; 2]>(indexed(r, o.base, index, o.scale, o.off), r.get_wide(o.reg))
});

// Addresses are byte offsets from slot 0.
handler!(load8f(o: Mem, r) r.put(o.reg, load::<u8>((r.0 as usize).wrapping_add(o.off as usize))));
handler!(load16f(o: Mem, r) r.put(o.reg, load::<u16>((r.0 as usize).wrapping_add(o.off as usize))));
handler!(load32f(o: Mem, r) r.put(o.reg, load::<u32>((r.0 as usize).wrapping_add(o.off as usize))));
handler!(load64f(o: Mem, r) r.put(o.reg, load::<u64>((r.0 as usize).wrapping_add(o.off as usize))));
handler!(load128f(o: Mem, r)
    r.put_wide(o.reg, load::<[u64; 2]>((r.0 as usize).wrapping_add(o.off as usize))));
handler!(store128f(o: Mem, r)
    store((r.0 as usize).wrapping_add(o.off as usize), r.get_wide::<[u64; 2]>(o.reg)));
handler!(store8f(o: Mem, r) store((r.0 as usize).wrapping_add(o.off as usize), r.get::<u8>(o.reg)));
handler!(store16f(o: Mem, r)
    store((r.0 as usize).wrapping_add(o.off as usize), r.get::<u16>(o.reg)));
handler!(store32f(o: Mem, r)
    store((r.0 as usize).wrapping_add(o.off as usize), r.get::<u32>(o.reg)));
handler!(store64f(o: Mem, r)
    store((r.0 as usize).wrapping_add(o.off as usize), r.get::<u64>(o.reg)));

/// Copies bytes, the usual small sizes without a call. All bytes are read before any is written.
///
/// # Safety
/// As for `memmove` in the guest.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, n: usize) {
    // SAFETY: the accesses are the guest's own (the caller's contract).
    unsafe {
        match n {
            16 => to
                .cast::<[u64; 2]>()
                .write_unaligned(from.cast::<[u64; 2]>().read_unaligned()),
            32 => to
                .cast::<[u64; 4]>()
                .write_unaligned(from.cast::<[u64; 4]>().read_unaligned()),
            64 => to
                .cast::<[u64; 8]>()
                .write_unaligned(from.cast::<[u64; 8]>().read_unaligned()),
            8 => to
                .cast::<u64>()
                .write_unaligned(from.cast::<u64>().read_unaligned()),
            24 => to
                .cast::<[u64; 3]>()
                .write_unaligned(from.cast::<[u64; 3]>().read_unaligned()),
            40 => to
                .cast::<[u64; 5]>()
                .write_unaligned(from.cast::<[u64; 5]>().read_unaligned()),
            n => std::ptr::copy(from, to, n),
        }
    }
}
handler!(load_bytes(o: Memn, r) {
    let n = o.bytes as usize;
    let from = base(r, o.base, o.off) as *const u8;
    let to = r.at(o.reg);
    if n & 7 != 0 {
        to.add(n / 8).write(0);
    }
    copy(from, to.cast(), n)
});
handler!(store_bytes(o: Memn, r)
    copy(r.at(o.reg).cast::<u8>(), base(r, o.base, o.off) as *mut u8, o.bytes as usize));
handler!(memcpy_fixed(o: Memn, r)
    copy(base(r, o.base, o.off) as *const u8, r.get::<u64>(o.reg) as *mut u8, o.bytes as usize));

handler!(fill_words(o: Memn, r) {
    let (at, word): (_, u64) = (base(r, o.base, o.off), r.get(o.reg));
    let mut i = 0;
    while i < o.bytes as usize {
        // Volatile, since a call of memset would cost more than the usual few words.
        (at.wrapping_add(i) as *mut [u8; 8]).write_volatile(word.to_ne_bytes());
        i += 8;
    }
});

handler!(gep(o: Memx, r) r.put(o.reg, indexed(r, o.base, r.get(o.index), o.scale, o.off) as u64));
handler!(gep_s(o: Memx, r) {
    let index = i64::from(r.get::<i32>(o.index)) as u64;
    r.put(o.reg, indexed(r, o.base, index, o.scale, o.off) as u64)
});
/// An upper bound on the size of an address space.
pub(super) const ADDRESS_SPACE_BYTES: u128 = 1 << 47;
control_handler!(alloca(o: Alloca, r, ip, cx) {
    let count: u64 = r.get(o.count);
    let bytes = u128::from(count) * u128::from(o.size);
    if bytes > ADDRESS_SPACE_BYTES {
        fault(ip, r.0, cx, &TrapKind::StackOverflow)
    }
    let align = i64::from(o.align).max(16);
    let start = ((*cx).sp as i64 - bytes as i64) & -align;
    // An observer of this thread finds the frame through the word at its stack pointer.
    let sp = start - 16;
    if sp < (*cx).limit as i64 {
        return extend_stack(ip, r.0, cx);
    }
    (*cx).sp = sp as *mut u8;
    (sp as *mut usize).write(r.0 as usize | ALLOCATED);
    r.put(o.dst, start);
    dispatch(ip.byte_add(size_of::<Enc<Alloca>>()), r.0, cx)
});
handler!(stack_save(o: D, r, _ip, cx) r.put(o.dst, (*cx).sp as u64));
handler!(stack_restore(o: A, r, _ip, cx) (*cx).sp = r.get::<u64>(o.a) as *mut u8);

// Goes through libc, whose faults the signal handler attributes to the saved position.
handler!(memcpy(o: Abc, r, ip, cx) {
    super::save_position(ip, r.0, cx);
    libc::memmove(r.get::<u64>(o.a) as _, r.get::<u64>(o.b) as _, r.get::<u64>(o.c) as usize)
});
handler!(memmove(o: Abc, r, ip, cx) {
    super::save_position(ip, r.0, cx);
    libc::memmove(r.get::<u64>(o.a) as _, r.get::<u64>(o.b) as _, r.get::<u64>(o.c) as usize)
});
handler!(memset(o: Abc, r, ip, cx) {
    super::save_position(ip, r.0, cx);
    libc::memset(r.get::<u64>(o.a) as _, i32::from(r.get::<u8>(o.b)), r.get::<u64>(o.c) as usize)
});

/// Returns this thread's block of thread-local variables.
///
/// # Safety
/// `cx` is this thread's state, `image` a live image.
#[inline(never)]
unsafe extern "C" fn thread_locals(cx: *mut ThreadState, image: usize) -> u64 {
    // SAFETY: the image outlives its code, and `cx` is this thread's state (the caller's contract).
    unsafe { thread::tls_block(cx, &*(image as *const Image)) as u64 }
}
handler!(tls_address(o: Tls, r, _ip, cx) {
    let at = match (*cx).tls_serial == o.serial {
        true => (*cx).tls as u64,
        false => thread_locals(cx, o.image),
    };
    r.put(o.dst, at.wrapping_add(u64::from(o.off)))
});
