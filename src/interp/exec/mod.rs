//! What each instruction does: handlers, by concern, and how one reaches the next.
//!
//! Why this form: a handler is `extern "sysv64-unwind" fn(ip, regs, cx) -> Done` whose last act
//! is `next(..)`. With `cfg(ompvm_tail_calls)` that is an indirect jump (see build.rs), so the
//! three arguments stay in registers for as long as the guest runs. Otherwise `next` returns the
//! state and the loop of [`crate::memory::activation::run`] goes on. A handler must hold nothing with drop glue: exceptions unwind
//! through it, and a destructor would keep the tail call from being one.
//! What not: no handler knows LLVM's types; the lowering chose it.

mod atomic;
mod call;
mod control;
mod float;
mod fused;
mod guard;
#[cfg(ompvm_histogram)]
pub mod histogram;
mod int;
mod intrinsics;
mod memory;
mod repeat;
mod vector;

pub use atomic::*;
pub use call::*;
pub use control::*;
pub use float::*;
pub use fused::*;
pub use guard::*;
pub use int::*;
pub use intrinsics::*;
pub use memory::*;
pub use repeat::*;
pub use vector::*;

use crate::memory::activation::Activation;
use crate::memory::thread::ThreadState;
use crate::support::error::TrapKind;

/// What a handler returns.
#[cfg(ompvm_tail_calls)]
pub type Done = ();

/// What a handler returns: the next instruction and frame; a null `ip` ends the run.
#[cfg(not(ompvm_tail_calls))]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Done {
    ip: *const u64,
    regs: *mut u64,
}

/// A handler: `ip` is its own instruction, `regs` slot 0 of the frame, `cx` the thread.
pub type Handler =
    unsafe extern "sysv64-unwind" fn(ip: *const u64, regs: *mut u64, cx: *mut ThreadState) -> Done;

/// Goes on with the instruction at `ip`.
///
/// # Safety
/// `ip` must be an instruction of a lowered function whose frame is at `regs`.
#[cfg(ompvm_tail_calls)]
#[inline(always)]
pub unsafe fn next(ip: *const u64, regs: *mut u64, cx: *mut ThreadState) -> Done {
    // SAFETY: word 0 of every instruction is its handler.
    unsafe { (*ip.cast::<Handler>())(ip, regs, cx) }
}

/// Goes on with the instruction at `ip`.
///
/// # Safety
/// `ip` must be an instruction of a lowered function whose frame is at `regs`.
#[cfg(not(ompvm_tail_calls))]
#[inline(always)]
pub unsafe fn next(ip: *const u64, regs: *mut u64, _cx: *mut ThreadState) -> Done {
    Done { ip, regs }
}

/// Ends the run: [`crate::memory::activation::run`] returns.
#[inline(always)]
pub fn done() -> Done {
    #[cfg(not(ompvm_tail_calls))]
    {
        Done {
            ip: std::ptr::null(),
            regs: std::ptr::null_mut(),
        }
    }
}

/// A value that a slot holds.
pub trait Slot: Copy {
    /// Reads it from a slot.
    ///
    /// # Safety
    /// `at` must be readable.
    unsafe fn read(at: *const u64) -> Self;
    /// The whole slot.
    fn bits(self) -> u64;
}

macro_rules! slots {
    ($($t:ty: $bits:expr),*) => {
        $(impl Slot for $t {
            #[inline(always)]
            unsafe fn read(at: *const u64) -> Self {
                // SAFETY: the caller's promise; little endian keeps low bytes first.
                unsafe { at.cast::<$t>().read() }
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                let f: fn($t) -> u64 = $bits;
                f(self)
            }
        })*
    };
}
slots! {
    u8: u64::from, u16: u64::from, u32: u64::from, u64: |v| v,
    i8: |v| u64::from(v as u8), i16: |v| u64::from(v as u16),
    i32: |v| u64::from(v as u32), i64: |v| v as u64,
    f32: |v| u64::from(v.to_bits()), f64: f64::to_bits, bool: u64::from
}

/// The slots of the current frame.
#[derive(Clone, Copy)]
pub struct Regs(pub *mut u64);

impl Regs {
    /// The address of a slot.
    #[inline(always)]
    pub fn at(self, slot: u16) -> *mut u64 {
        self.0.wrapping_add(slot as usize)
    }

    /// Reads a slot.
    ///
    /// # Safety
    /// The slot belongs to the frame.
    #[inline(always)]
    pub unsafe fn get<T: Slot>(self, slot: u16) -> T {
        // SAFETY: the caller's promise.
        unsafe { T::read(self.at(slot)) }
    }

    /// Writes a slot.
    ///
    /// # Safety
    /// The slot belongs to the frame.
    #[inline(always)]
    pub unsafe fn put<T: Slot>(self, slot: u16, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.at(slot).write(value.bits()) }
    }

    /// Reads a value of any size that starts at a slot.
    ///
    /// # Safety
    /// Its slots belong to the frame.
    #[inline(always)]
    pub unsafe fn get_wide<T: Copy>(self, slot: u16) -> T {
        // SAFETY: the caller's promise; slots are 8-aligned only.
        unsafe { self.at(slot).cast::<T>().read_unaligned() }
    }

    /// Writes a value of any size that starts at a slot.
    ///
    /// # Safety
    /// Its slots belong to the frame.
    #[inline(always)]
    pub unsafe fn put_wide<T: Copy>(self, slot: u16, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.at(slot).cast::<T>().write_unaligned(value) }
    }
}

/// Saves where the guest is before anything that can leave the interpreter or look at it.
///
/// # Safety
/// `cx` is the current thread's state and runs inside an activation.
#[inline(always)]
pub unsafe fn save(ip: *const u64, regs: *mut u64, cx: *mut ThreadState) {
    // SAFETY: the caller's promise.
    unsafe {
        let act = (*cx).activation;
        (*act).ip = ip;
        (*act).frame = regs.cast();
    }
}

/// What a handler holds during a native call: the call may switch stacks, run other frames there, and
/// come back on another thread.
#[derive(Clone, Copy)]
pub struct Held(*mut Activation);

/// Saves where the guest is before a native call; see [`Held::back`].
///
/// # Safety
/// As for [`save`].
#[inline(always)]
pub unsafe fn depart(ip: *const u64, regs: *mut u64, cx: *mut ThreadState) -> Held {
    // SAFETY: the caller's promise.
    unsafe {
        save(ip, regs, cx);
        let act = (*cx).activation;
        (*act).sp = (*cx).sp;
        Held(act)
    }
}

impl Held {
    /// Makes the thread that runs now go on in the activation; gives its state.
    ///
    /// # Safety
    /// Once after [`depart`], in the same handler.
    #[inline(always)]
    pub unsafe fn back(self) -> *mut ThreadState {
        // SAFETY: the handler runs on the activation's stack.
        unsafe { Activation::resume(self.0) }
    }
}

/// Moves the native stack pointer down, then goes on with the instruction at `ip`.
///
/// # Safety
/// As for [`next`]; the last act of a handler.
#[inline(always)]
pub unsafe fn extend(ip: *const u64, regs: *mut u64, cx: *mut ThreadState) -> Done {
    use crate::memory::abi;
    // SAFETY: the caller's promise.
    #[cfg(ompvm_tail_calls)]
    unsafe {
        abi::extend(ip, regs, cx)
    }
    // SAFETY: the caller's promise.
    #[cfg(not(ompvm_tail_calls))]
    unsafe {
        let on = abi::extend(ip, regs, cx);
        Done {
            ip: on.ip,
            regs: on.regs,
        }
    }
}

/// Ends the guest with a fault at `ip`.
///
/// # Safety
/// As for [`save`].
#[cold]
#[inline(never)]
pub unsafe extern "sysv64-unwind" fn fault(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
    kind: &TrapKind,
) -> ! {
    // SAFETY: the caller's promise.
    unsafe { save(ip, regs, cx) };
    crate::memory::signals::raise_trap(*kind, ip)
}

/// Defines a handler whose body falls through to the next instruction. A body that makes a native call gives
/// `cx` anew: the thread may be another one.
macro_rules! h {
    ($name:ident($o:ident: $shape:ident, $r:ident) $body:expr) => {
        $crate::interp::exec::h!($name($o: $shape, $r, _ip, _cx) $body);
    };
    ($name:ident($o:ident: $shape:ident, $r:ident, $ip:ident, $cx:ident) $body:expr) => {
        #[doc = concat!("Handler of `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for `next`.
        pub unsafe extern "sysv64-unwind" fn $name(
            $ip: *const u64,
            regs: *mut u64,
            $cx: *mut $crate::memory::thread::ThreadState,
        ) -> $crate::interp::exec::Done {
            // SAFETY: the lowering wrote an instruction of this shape at ip, and its slots
            // belong to the frame at regs.
            unsafe {
                #[allow(unused_variables)]
                let $o = &(*$ip.cast::<$crate::interp::isa::Enc<$crate::interp::isa::$shape>>()).ops;
                #[allow(unused_variables)]
                let $r = $crate::interp::exec::Regs(regs);
                #[allow(unused_mut)]
                let mut $cx = $cx;
                $body;
                $crate::interp::exec::next(
                    $ip.byte_add(size_of::<
                        $crate::interp::isa::Enc<$crate::interp::isa::$shape>,
                    >()),
                    regs,
                    $cx,
                )
            }
        }
    };
}
pub(crate) use h;

/// Defines a handler whose body says what comes next.
macro_rules! hc {
    ($name:ident($o:ident: $shape:ident, $r:ident, $ip:ident, $cx:ident) $body:expr) => {
        #[doc = concat!("Handler of `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for `next`.
        pub unsafe extern "sysv64-unwind" fn $name(
            $ip: *const u64,
            regs: *mut u64,
            $cx: *mut $crate::memory::thread::ThreadState,
        ) -> $crate::interp::exec::Done {
            // SAFETY: the lowering wrote an instruction of this shape at ip, and its slots
            // belong to the frame at regs.
            unsafe {
                #[allow(unused_variables)]
                let $o =
                    &(*$ip.cast::<$crate::interp::isa::Enc<$crate::interp::isa::$shape>>()).ops;
                #[allow(unused_variables)]
                let $r = $crate::interp::exec::Regs(regs);
                $body
            }
        }
    };
}
pub(crate) use hc;
