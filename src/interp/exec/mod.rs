//! Handlers of all instructions, by concern, and the dispatch from one to the next.
//!
//! A handler is an `extern "sysv64-unwind" fn(ip, regs, cx) -> HandlerResult` that ends in
//! `dispatch(..)`. With `cfg(ompvm_tail_calls)` that is an indirect jump (see build.rs), so the
//! three arguments stay in registers while the guest runs. Otherwise `dispatch` returns the state
//! to the loop of [`ompvm_memory::activation::run_frames`]. A handler must hold nothing with drop
//! glue: exceptions unwind through it, and a destructor would prevent the tail call.
//!
//! Handlers know nothing of LLVM's types; the lowering has chosen the instruction by type.

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

use ompvm_memory::activation::Activation;
use ompvm_memory::thread::ThreadState;
use ompvm_support::error::TrapKind;

/// True if handlers jump to each other, and so can machine code between them. False if they return
/// to a loop, which would not return to machine code.
pub const TAIL_CALLS: bool = cfg!(ompvm_tail_calls);

/// The result of a handler.
#[cfg(ompvm_tail_calls)]
pub type HandlerResult = ();

/// The result of a handler: the next instruction and frame; a null `ip` ends the run.
#[cfg(not(ompvm_tail_calls))]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HandlerResult {
    ip: *const u64,
    regs: *mut u64,
}

/// A handler: `ip` is its own instruction, `regs` slot 0 of the frame, `cx` the thread's state.
///
/// # Safety
///
/// `ip` is an instruction of the handler's shape in the code of the frame at `regs`, which is the
/// innermost frame of the activation that runs; `cx` is the current thread's state. The lowering
/// only writes slot numbers that belong to the frame and targets that are alive as long as the
/// code.
pub type Handler = unsafe extern "sysv64-unwind" fn(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> HandlerResult;

/// Continues with the instruction at `ip`.
///
/// # Safety
/// `ip` must be an instruction of a lowered function whose frame is at `regs`.
#[cfg(ompvm_tail_calls)]
#[inline(always)]
pub unsafe fn dispatch(ip: *const u64, regs: *mut u64, cx: *mut ThreadState) -> HandlerResult {
    // SAFETY: word 0 of every instruction is its handler.
    unsafe { (*ip.cast::<Handler>())(ip, regs, cx) }
}

/// Continues with the instruction at `ip`.
///
/// # Safety
/// `ip` must be an instruction of a lowered function whose frame is at `regs`.
#[cfg(not(ompvm_tail_calls))]
#[inline(always)]
pub unsafe fn dispatch(ip: *const u64, regs: *mut u64, _cx: *mut ThreadState) -> HandlerResult {
    HandlerResult { ip, regs }
}

/// Ends the run: [`ompvm_memory::activation::run_frames`] returns.
#[inline(always)]
pub fn end_run() -> HandlerResult {
    #[cfg(not(ompvm_tail_calls))]
    {
        HandlerResult {
            ip: std::ptr::null(),
            regs: std::ptr::null_mut(),
        }
    }
}

/// A value that fits into one slot.
pub trait Slot: Copy {
    /// Reads the value from a slot.
    ///
    /// # Safety
    /// `at` must be readable.
    unsafe fn read(at: *const u64) -> Self;
    /// Returns the whole slot.
    fn bits(self) -> u64;
}

macro_rules! slots {
    ($($t:ty: $bits:expr),*) => {
        $(impl Slot for $t {
            #[inline(always)]
            unsafe fn read(at: *const u64) -> Self {
                // SAFETY: `at` is readable (the caller's contract); low bytes come first in little
                // endian.
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
    /// Returns the address of a slot.
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
        // SAFETY: the slot belongs to the frame (the caller's contract).
        unsafe { T::read(self.at(slot)) }
    }

    /// Writes a slot.
    ///
    /// # Safety
    /// The slot belongs to the frame.
    #[inline(always)]
    pub unsafe fn put<T: Slot>(self, slot: u16, value: T) {
        // SAFETY: the slot belongs to the frame (the caller's contract).
        unsafe { self.at(slot).write(value.bits()) }
    }

    /// Reads a value of any size that starts at a slot.
    ///
    /// # Safety
    /// Its slots belong to the frame.
    #[inline(always)]
    pub unsafe fn get_wide<T: Copy>(self, slot: u16) -> T {
        // SAFETY: the slots belong to the frame (the caller's contract); slots are only 8-aligned.
        unsafe { self.at(slot).cast::<T>().read_unaligned() }
    }

    /// Writes a value of any size that starts at a slot.
    ///
    /// # Safety
    /// Its slots belong to the frame.
    #[inline(always)]
    pub unsafe fn put_wide<T: Copy>(self, slot: u16, value: T) {
        // SAFETY: the slots belong to the frame (the caller's contract); slots are only 8-aligned.
        unsafe { self.at(slot).cast::<T>().write_unaligned(value) }
    }
}

/// Saves the guest's position before anything that can leave the interpreter or inspect it.
///
/// # Safety
/// `cx` is the current thread's state and runs inside an activation.
#[inline(always)]
pub unsafe fn save_position(ip: *const u64, regs: *mut u64, cx: *mut ThreadState) {
    // SAFETY: the thread runs inside an activation (the caller's contract), which is live.
    unsafe {
        let act = (*cx).activation;
        (*act).ip = ip;
        (*act).frame = regs.cast();
    }
}

/// The activation of a handler during a native call: the call may switch stacks, run other frames
/// there, and return on another thread.
#[derive(Clone, Copy)]
pub struct SuspendedActivation(*mut Activation);

/// Saves the guest's position before a native call; see [`SuspendedActivation::resume`].
///
/// # Safety
/// As for [`save_position`].
#[inline(always)]
pub unsafe fn suspend(ip: *const u64, regs: *mut u64, cx: *mut ThreadState) -> SuspendedActivation {
    // SAFETY: the thread runs inside an activation (the caller's contract), which is live.
    unsafe {
        save_position(ip, regs, cx);
        let act = (*cx).activation;
        (*act).sp = (*cx).sp;
        SuspendedActivation(act)
    }
}

impl SuspendedActivation {
    /// Makes the activation current on the thread that runs now, and returns that thread's state.
    ///
    /// # Safety
    /// Once after [`suspend`], in the same handler.
    #[inline(always)]
    pub unsafe fn resume(self) -> *mut ThreadState {
        // SAFETY: the handler that departed runs on the activation's stack, so the activation is
        // live.
        unsafe { Activation::resume(self.0) }
    }
}

/// Moves the native stack pointer down, then continues with the instruction at `ip`.
///
/// # Safety
/// As for [`dispatch`]; the last act of a handler.
#[inline(always)]
pub unsafe fn extend_stack(ip: *const u64, regs: *mut u64, cx: *mut ThreadState) -> HandlerResult {
    use ompvm_memory::abi;
    // SAFETY: `ip`, `regs` and `cx` are a handler's, which ends here (the caller's contract).
    #[cfg(ompvm_tail_calls)]
    unsafe {
        abi::extend(ip, regs, cx)
    }
    // SAFETY: `ip`, `regs` and `cx` are a handler's, which ends here (the caller's contract).
    #[cfg(not(ompvm_tail_calls))]
    unsafe {
        let on = abi::extend(ip, regs, cx);
        HandlerResult {
            ip: on.ip,
            regs: on.regs,
        }
    }
}

/// Ends the guest with a fault at `ip`.
///
/// # Safety
/// As for [`save_position`].
#[cold]
#[inline(never)]
pub unsafe extern "sysv64-unwind" fn fault(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
    kind: &TrapKind,
) -> ! {
    // SAFETY: the thread runs inside an activation (the caller's contract).
    unsafe { save_position(ip, regs, cx) };
    ompvm_memory::signals::raise_trap(*kind, ip)
}

/// Defines a handler whose body falls through to the next instruction. A body that makes a native
/// call assigns `cx` again, since another thread may run it afterwards.
macro_rules! handler {
    ($name:ident($o:ident: $shape:ident, $r:ident) $body:expr) => {
        $crate::exec::handler!($name($o: $shape, $r, _ip, _cx) $body);
    };
    ($name:ident($o:ident: $shape:ident, $r:ident, $ip:ident, $cx:ident) $body:expr) => {
        #[doc = concat!("Handler of `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for `dispatch`.
        pub unsafe extern "sysv64-unwind" fn $name(
            $ip: *const u64,
            regs: *mut u64,
            $cx: *mut ompvm_memory::thread::ThreadState,
        ) -> $crate::exec::HandlerResult {
            // SAFETY: the lowering wrote an instruction of this shape at ip, and its slots
            // belong to the frame at regs.
            unsafe {
                #[allow(unused_variables)]
                let $o = &(*$ip.cast::<$crate::isa::Enc<$crate::isa::$shape>>()).ops;
                #[allow(unused_variables)]
                let $r = $crate::exec::Regs(regs);
                #[allow(unused_mut)]
                let mut $cx = $cx;
                $body;
                $crate::exec::dispatch(
                    $ip.byte_add(size_of::<
                        $crate::isa::Enc<$crate::isa::$shape>,
                    >()),
                    regs,
                    $cx,
                )
            }
        }
    };
}
pub(crate) use handler;

/// Defines a handler whose body determines the next instruction.
macro_rules! control_handler {
    ($name:ident($o:ident: $shape:ident, $r:ident, $ip:ident, $cx:ident) $body:expr) => {
        #[doc = concat!("Handler of `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for `dispatch`.
        pub unsafe extern "sysv64-unwind" fn $name(
            $ip: *const u64,
            regs: *mut u64,
            $cx: *mut ompvm_memory::thread::ThreadState,
        ) -> $crate::exec::HandlerResult {
            // SAFETY: the lowering wrote an instruction of this shape at ip, and its slots
            // belong to the frame at regs.
            unsafe {
                #[allow(unused_variables)]
                let $o = &(*$ip.cast::<$crate::isa::Enc<$crate::isa::$shape>>()).ops;
                #[allow(unused_variables)]
                let $r = $crate::exec::Regs(regs);
                $body
            }
        }
    };
}
pub(crate) use control_handler;
